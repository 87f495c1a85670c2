/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - unpack a compressed body, up to a ceiling.
 *
 * Thread-safety: pure function.
 */
#ifndef HTTP_GZIP_H
#define HTTP_GZIP_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

struct room_share;

/*
 * Append the unpacked bytes of one gzip member to `out`. CLEW_TOO_LARGE once
 * they pass the buffer's ceiling, CLEW_INVALID if it is no whole gzip stream.
 * They are taken from `share` (room.h, may be NULL) before they take memory,
 * and are its holder's to give back, also on failure.
 */
enum clew_status gzip_unpack(struct str packed, struct room_share *share,
                             struct buf *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
