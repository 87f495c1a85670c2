/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencode.h - the sessions of OpenCode, from its database.
 *
 * ~/.local/share/opencode/opencode.db is SQLite. It is opened to be read only,
 * also while OpenCode runs. What `opencode export` writes has the same ids: see
 * import_opencode() in reader.h.
 * Thread-safety: none.
 */
#ifndef IMPORT_OPENCODE_H
#define IMPORT_OPENCODE_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct importer;

/* Every session in it. `*out_has` is false if the database is another
 * program's. A fault names the session. */
enum clew_status opencode_read(struct importer *importer, const char *path,
                               bool *out_has,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
