/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.h - change one entry of someone else's configuration file.
 *
 * Works on the text: every byte that is not part of the entry stays as it is,
 * so that a person's order, spacing and other entries survive.
 * Thread-safety: pure functions.
 */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

/*
 * JSON: the member `name` of the object that is the top-level member `group`.
 * An empty text counts as "{}". CLEW_UNSUPPORTED for what is no plain JSON
 * object, such as JSON with comments.
 */
enum clew_status edit_json_set(struct str text, const char *group,
                               const char *name, struct str value,
                               struct buf *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Without the entry; the text as it was if there is none. */
enum clew_status edit_json_remove(struct str text, const char *group,
                                  const char *name, struct buf *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* TOML: the table [group.name] with its subtables. `lines` are its contents. */
enum clew_status edit_toml_set(struct str text, const char *group,
                               const char *name, struct str lines,
                               struct buf *out) CLEW_MUST_CHECK;
enum clew_status edit_toml_remove(struct str text, const char *group,
                                  const char *name,
                                  struct buf *out) CLEW_MUST_CHECK;

#endif
