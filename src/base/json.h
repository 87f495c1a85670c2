/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - reading and writing JSON over jansson, with limits and field names.
 *
 * Parsing refuses documents over a size, depth or node ceiling before any tree
 * is built. The json_get_* readers name the offending field in the error, so
 * that every endpoint answers bad input alike. Values are borrowed from the
 * tree unless said otherwise.
 * Thread-safety: a tree has one owner at a time.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>

/* Make jansson allocate through base/alloc.h. Call once, before threads. */
void json_setup(void);

/*
 * Parse one document. The caller json_decref()s the tree. CLEW_INVALID for bad
 * syntax or UTF-8 (with line and column), CLEW_TOO_LARGE over a limit. If a
 * whole number does not fit 64 bits, all numbers are read as reals. Numbers
 * keep the digits they were written with (json_digits.h).
 */
enum clew_status json_parse(struct str text, json_t **out_json,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* The same for what is to stand inside another document, which must be read
 * again: it is less deep by LIMIT_JSON_DEPTH_AROUND. */
enum clew_status json_parse_inner(struct str text, json_t **out_json,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* The same where only the values of numbers are of use: vectors. */
enum clew_status json_parse_values(struct str text, json_t **out_json,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* What the tree of `text` takes at most, with those of the strings in it that
 * hold JSON themselves, before it is parsed: a few bytes of text may be a
 * hundred times as many of nodes. */
size_t json_tree_bytes(struct str text);

/*
 * Append the compact form: key order kept, no spaces, numbers in the digits
 * they were parsed from, others as the shortest text that reads back the same
 * (what JSON.stringify gives).
 */
enum clew_status json_write(struct buf *out,
                            const json_t *json) CLEW_MUST_CHECK;
/* The same with every number as the shortest text: equal values, equal bytes,
 * whoever wrote them last. For digests. */
enum clew_status json_write_values(struct buf *out,
                                   const json_t *json) CLEW_MUST_CHECK;
/* json_deep_copy() that keeps digits; NULL without memory. */
json_t *json_copy_tree(const json_t *json);

/* A tree as a value of a writer (json_out.h). */
struct json_out;
void json_out_tree(struct json_out *out, const char *field, const json_t *json);

/* CLEW_INVALID naming the first field of `object` that is not in the
 * NULL-terminated list `known`; also if it is no object. */
enum clew_status json_check_fields(const json_t *object,
                                   const char *const *known,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Readers. A missing or null field leaves `*out` as it was and is an error only
 * if `is_required`. A value of another type, or out of range, is CLEW_INVALID,
 * and so is a string with a NUL: no store keeps one.
 */
enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

enum clew_status json_get_str(const json_t *object, const char *field,
                              enum json_need need, size_t max_bytes,
                              struct str *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status json_get_int(const json_t *object, const char *field,
                              enum json_need need, int64_t min, int64_t max,
                              int64_t *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status json_get_real(const json_t *object, const char *field,
                               enum json_need need, double min, double max,
                               double *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status json_get_bool(const json_t *object, const char *field,
                               enum json_need need, bool *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status json_get_uuid(const json_t *object, const char *field,
                               enum json_need need, struct uuid *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* RFC 3339 to milliseconds. */
enum clew_status json_get_time(const json_t *object, const char *field,
                               enum json_need need, int64_t *out_ms,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status json_get_array(const json_t *object, const char *field,
                                enum json_need need, size_t max_items,
                                const json_t **out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* The text of a string, borrowed from it; s == NULL of anything else, also of
 * NULL. The same of an object's field. */
struct str json_text(const json_t *value);
struct str json_text_at(const json_t *object, const char *field);

/*
 * Builders: set a field and return false on OOM. Each copies its value. A NULL
 * id or time sets null. json_set() takes ownership of `value`, also on failure.
 */
bool json_set(json_t *object, const char *field, json_t *value);
bool json_set_str(json_t *object, const char *field, struct str value);
bool json_set_cstr(json_t *object, const char *field, const char *value);
bool json_set_int(json_t *object, const char *field, int64_t value);
bool json_set_real(json_t *object, const char *field, double value);
/* A score as people read it: four decimals. */
/* A probability, as they are shown: four digits. */
json_t *json_score(double value);
bool json_set_score(json_t *object, const char *field, double value);
bool json_set_bool(json_t *object, const char *field, bool value);
bool json_set_uuid(json_t *object, const char *field, const struct uuid *id);
bool json_set_time(json_t *object, const char *field, const int64_t *time_ms);

#endif
