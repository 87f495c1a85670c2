/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure.h - figures that end up in the table of `make bench`.
 *
 * A line of the file that BENCH_FIGURES names: name, value, unit and aim,
 * separated by tabs; the aim is "<= N" or ">= N", or empty. Without that file
 * nothing is written: every bench prints its own text as well.
 * Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_FIGURE_H
#define BENCH_SUPPORT_FIGURE_H

#include <stddef.h>
#include <stdint.h>

/* `aim` may be NULL. A figure that cannot be written ends the bench. */
void figure(const char *name, double value, const char *unit, const char *aim);
/* The same of a number of turns: "NAME, 10,000 turns". */
void figure_of(const char *name, uint64_t n_turns, double value,
               const char *unit, const char *aim);
/* The value that half of `times` are below; sorts them. */
double figure_median(double *times, size_t count);

#endif
