/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.h - a mail as words: headers, the part people read, names of the rest.
 *
 * Lenient, as mail must be read: what cannot be decoded is left as it is, and
 * the result is always UTF-8.
 * Thread-safety: none.
 */
#ifndef IMPORT_MIME_H
#define IMPORT_MIME_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

struct mime_message {
    struct buf message_id; /* without < > */
    struct buf parent_id;  /* of the one it answers; may be empty */
    struct buf from;       /* the name, else the address */
    struct buf subject;
    struct buf text;
    int64_t time_ms; /* 0: none that can be read */
};

void mime_init(struct mime_message *mail);
void mime_release(struct mime_message *mail);
/* Read a whole message: headers, an empty line, a body. */
void mime_read(struct mime_message *mail, struct str bytes);

#endif
