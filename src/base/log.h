/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line per event on stderr: time level component event key=value.
 *
 * Only the edges of the program log (http, api, proxy, mcp, cli, task workers);
 * library code returns a status instead. Never log content or secrets.
 * Levels are set with a string: "info,http=debug". Equal lines are limited to
 * 10 a second, then counted. A line holds at most 1 KiB; control characters
 * become spaces, so that no value can start a line of its own.
 * Thread-safety: internally locked.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Parse "info,http=debug"; CLEW_INVALID names the part that is wrong. */
enum clew_status log_setup(const char *spec,
                           struct clew_error *err) CLEW_MUST_CHECK;
bool log_enabled(enum log_level level, const char *component);
/* `event` is a short fixed word; `fmt` makes "key=value key=value". */
void log_event(enum log_level level, const char *component, const char *event,
               const char *fmt, ...) CLEW_PRINTF(4, 5);
/* `text` for a value in quotes: those in it become single ones, and what does
 * not fit is cut. Returns `out`. */
const char *log_words(const char *text, char *out, size_t size);
/* Write the counts of lines held back; call it before the program ends. */
void log_flush(void);
/* Where lines go instead of stderr. The caller keeps the descriptor. */
void log_set_fd(int fd);

#endif
