/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.h - JSON written as it is known, without a tree.
 *
 * For answers that are long or asked for often: a tree costs an allocation for
 * each value and each field. The caller opens and ends what it opens; commas
 * are put by themselves. A field is NULL inside an array and at the top. Field
 * names are the program's own and need no escapes. The bytes are those that
 * json_write() gives for the same tree.
 * A failure stays in the buffer: check buf_status() once, at the end.
 * Thread-safety: none; belongs to its buffer's owner.
 */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include "base/buf.h"
#include "base/str.h"
#include "base/uuid.h"

#include <stdbool.h>
#include <stdint.h>

struct json_out {
    struct buf *buf;
    bool has_item;    /* the next value needs a comma before it */
    bool is_by_value; /* trees: numbers as their values, see json.h */
};

/* `buf` is appended to. */
void json_out_init(struct json_out *out, struct buf *buf);

void json_out_object(struct json_out *out, const char *field);
void json_out_end_object(struct json_out *out);
void json_out_array(struct json_out *out, const char *field);
void json_out_end_array(struct json_out *out);

/* A slice without bytes (s == NULL), and a NULL id or time, are null. */
void json_out_str(struct json_out *out, const char *field, struct str value);
void json_out_int(struct json_out *out, const char *field, int64_t value);
void json_out_real(struct json_out *out, const char *field, double value);
void json_out_bool(struct json_out *out, const char *field, bool value);
void json_out_null(struct json_out *out, const char *field);
void json_out_uuid(struct json_out *out, const char *field,
                   const struct uuid *id);
void json_out_time(struct json_out *out, const char *field,
                   const int64_t *time_ms);
/* A text that is cut where it is written in more than `max_bytes` bytes; "…"
 * stands where it was. */
void json_out_cut_str(struct json_out *out, const char *field, struct str value,
                      size_t max_bytes);
/* The longest prefix of a text that cuts no code point and is written in at
 * most `max_bytes` bytes, quotes not counted: a control character takes six. */
size_t json_out_cut(struct str text, size_t max_bytes);
/* A value that is JSON already. */
void json_out_raw(struct json_out *out, const char *field, struct str json);
/* A field whose name comes from elsewhere; its value is written next, with
 * field NULL. */
void json_out_field(struct json_out *out, struct str name);

#endif
