/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time, as a value that tests can replace.
 *
 * Wall time is milliseconds since 1970 UTC; monotonic time is for measuring.
 * A struct clock is passed to whatever needs "now"; code that can use a
 * turn's own created_at must do so and not ask the clock.
 * Thread-safety: the system clock is safe; a fake clock is set atomically.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The range of times accepted from outside: years 1 to 9999. */
#define CLOCK_MIN_MS (-62135596800000LL)
#define CLOCK_MAX_MS 253402300799999LL

#define CLOCK_SECOND_MS 1000LL
#define CLOCK_MINUTE_MS (60 * CLOCK_SECOND_MS)
#define CLOCK_HOUR_MS (60 * CLOCK_MINUTE_MS)
#define CLOCK_DAY_MS (24 * CLOCK_HOUR_MS)

struct clock {
    bool is_fake;
    _Atomic int64_t fake_ms; /* used only if is_fake */
};

/* The system's clock; immutable. */
extern struct clock clock_system;

int64_t clock_now_ms(struct clock *clock);
/* A clock that stands at `now_ms` until moved. */
void clock_init_fake(struct clock *clock, int64_t now_ms);
void clock_set_ms(struct clock *clock, int64_t now_ms);
void clock_add_ms(struct clock *clock, int64_t delta_ms);
/* Nanoseconds of a clock that never goes back: for durations and deadlines. */
int64_t clock_mono_ns(void);
/* The same in milliseconds for what is tested with a fake clock, whose it is:
 * only differences mean anything, and setting the wall clock changes none. */
int64_t clock_steady_ms(struct clock *clock);

/* Let the millisecond `ms`, which has begun, go by: what comes after is told
 * from what came before. Gives up where the clock was set back meanwhile. A
 * fake clock is moved on. */
void clock_wait_past(struct clock *clock, int64_t ms);

/* "2026-11-15T02:31:00.123Z"; `out` holds CLOCK_TEXT_SIZE bytes. */
#define CLOCK_TEXT_SIZE 32
void clock_format(int64_t time_ms, char out[CLOCK_TEXT_SIZE]);
/*
 * RFC 3339 with any offset and any number of fraction digits (cut to ms);
 * a date alone means midnight UTC. False on anything else or out of range.
 */
bool clock_parse(struct str text, int64_t *out_ms);

/* Civil date helpers (proleptic Gregorian). Month and day count from 1. */
int64_t clock_days_from_civil(int64_t year, int month, int day);
void clock_civil_from_days(int64_t days, int64_t *out_year, int *out_month,
                           int *out_day);

#endif
