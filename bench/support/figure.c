/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure.c - see figure.h.
 */
#include "support/figure.h"

#include "support/child.h"

#include <stdio.h>
#include <stdlib.h>

void figure(const char *name, double value, const char *unit, const char *aim)
{
    const char *path = getenv("BENCH_FIGURES");
    FILE *file;

    if (!path || !*path) {
        return;
    }
    file = fopen(path, "a");
    if (!file || fprintf(file, "%s\t%.6g\t%s\t%s\n", name, value, unit,
                         aim ? aim : "") < 0) {
        bench_die("could not write BENCH_FIGURES");
    }
    (void)fclose(file);
}

void figure_of(const char *name, uint64_t n_turns, double value,
               const char *unit, const char *aim)
{
    unsigned long long thousands = n_turns / 1000;
    char title[96];

    if (thousands >= 1000) {
        (void)snprintf(title, sizeof(title), "%s, %llu,%03llu,%03llu turns",
                       name, thousands / 1000, thousands % 1000,
                       (unsigned long long)n_turns % 1000);
    } else {
        (void)snprintf(title, sizeof(title), "%s, %llu,%03llu turns", name,
                       thousands, (unsigned long long)n_turns % 1000);
    }
    figure(title, value, unit, aim);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

double figure_median(double *times, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(times, count, sizeof(*times), by_value);
    return times[count / 2];
}
