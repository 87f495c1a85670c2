/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratelimit.h - at most so many requests a minute for each key.
 *
 * A token bucket per key in a table of fixed size: a flood of made-up keys
 * cannot grow it. When a set of the table is full, the bucket unused for the
 * longest time makes room; forgetting a bucket gives its owner at most one
 * burst more.
 * Thread-safety: internally locked, in stripes.
 */
#ifndef HTTP_RATELIMIT_H
#define HTTP_RATELIMIT_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct ratelimit;

/*
 * `per_minute` requests on average, `burst` at once. per_minute 0 means no
 * limit. The caller frees it with ratelimit_free().
 */
enum clew_status ratelimit_new(int64_t per_minute, int64_t burst,
                               struct ratelimit **out_limit) CLEW_MUST_CHECK;
void ratelimit_free(struct ratelimit *limit);

/*
 * Take one request from `key`'s bucket at `now_ns` (clock_mono_ns()). False if
 * it is empty; then `*out_wait_ms` says when the next one comes. A NULL limit
 * lets everything pass.
 */
bool ratelimit_take(struct ratelimit *limit, struct str key, int64_t now_ns,
                    int64_t *out_wait_ms);

/* Would ratelimit_take() say no? Nothing is taken. */
bool ratelimit_is_empty(struct ratelimit *limit, struct str key, int64_t now_ns,
                        int64_t *out_wait_ms);

#endif
