/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - whole texts through a descriptor, whatever interrupts.
 *
 * The caller keeps the descriptor. Thread-safety: one caller per descriptor.
 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* Write all of it; false with errno if that failed, some of it written. */
bool fd_write_all(int fd, struct str bytes) CLEW_MUST_CHECK;
/* Append all that can be read until the end. CLEW_UNAVAILABLE with errno if a
 * read failed, else what the buffer says; what was read before stays in it. */
enum clew_status fd_read_all(int fd, struct buf *out) CLEW_MUST_CHECK;

#endif
