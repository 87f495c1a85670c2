/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - small things that readers of exports share.
 *
 * Thread-safety: none.
 */
#ifndef IMPORT_SAID_H
#define IMPORT_SAID_H

#include "base/buf.h"
#include "import/import.h"

/* The longest text of one message. */
#define SAID_MAX_BYTES (64u << 20)
#define SAID_ID_SIZE 256

/* "program/a/b", "/b" only if it is there; each part cut to 100 bytes. */
struct str said_id(const char *program, struct str a, struct str b,
                   char out[SAID_ID_SIZE]);
/* The same where the other program gives no ids: of what was said, who said it
 * and when. */
struct str said_hash(const char *program, struct str who, struct str text,
                     int64_t time_ms, int64_t nth, char out[SAID_ID_SIZE]);
/* Append on a line of its own; nothing for an empty text. */
void said_append(struct buf *out, struct str text);
/* "[name]" on a line of its own: something that was attached. */
void said_attach(struct buf *out, struct str name);
/* What a person calls a part of this type that has no text: an image for
 * "image_asset_pointer" and "input_image"; else the type itself. */
struct str said_kind(struct str type);
/*
 * Add a message whose words are in `text`, or count it as left out if it has
 * none. CLEW_TOO_LARGE if the buffer overflowed. Releases `text`.
 */
enum clew_status said_add(struct importer *importer,
                          struct import_message *message, struct buf *text,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* The words in `text` as a JSON string, NULL if there are none; CLEW_TOO_LARGE
 * if the buffer overflowed. Releases `text`. */
json_t *said_take(struct buf *text, enum clew_status *out_status,
                  struct clew_error *err);
/* The last message of a line of talk (a channel, a thread), in the memo. */
struct str said_last(struct importer *importer, struct str line);
enum clew_status said_set_last(struct importer *importer, struct str line,
                               struct str id,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The folder a file of the export is in ("general" of general/day.json), and
 * its name without an ending; empty where there is none. */
struct str import_folder(const struct importer *importer);
struct str import_title(const struct importer *importer);
/* HTML as plain text: tags go, blocks become lines, the common entities are
 * read. */
void said_html(struct buf *out, struct str html);

#endif
