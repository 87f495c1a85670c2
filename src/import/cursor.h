/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - the chats of Cursor, from its database.
 *
 * globalStorage/state.vscdb is SQLite. It is opened to be read only, also
 * while Cursor runs.
 * Thread-safety: none.
 */
#ifndef IMPORT_CURSOR_H
#define IMPORT_CURSOR_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdio.h>

struct importer;

/* True if a file is a database; it stands at its beginning then. */
bool cursor_is(FILE *file);
/* Every chat in it. `*out_has` is false if the database is another program's.
 * A fault names the chat. */
enum clew_status cursor_read(struct importer *importer, const char *path,
                             bool *out_has,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
