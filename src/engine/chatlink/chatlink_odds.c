/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_odds.c - signs of a link, weighed. See chatlink_odds.h.
 */
#include "engine/chatlink/chatlink_odds.h"

#include <math.h>

#define BASE 0.133
#define MATTER 0.229
#define BEFORE (-0.383)
#define CANDIDATES (-0.127)
#define SHARED 0.705
#define WORDS (-0.512)
/* The reader's certainty counts no further. */
#define LEAST 0.001

double chatlink_odds(const struct chatlink_signs *signs)
{
    double matter = fmin(fmax(signs->matter, LEAST), 1 - LEAST);
    double before =
        (double)(signs->n_before < CHATLINK_MOST_BEFORE ? signs->n_before
                                                        : CHATLINK_MOST_BEFORE);
    double sum = BASE + MATTER * log(matter / (1 - matter)) +
                 BEFORE * fmax(before, 1) +
                 CANDIDATES * log1p((double)signs->n_candidates) +
                 SHARED * log1p(fmax(signs->shared, 0)) +
                 WORDS * log1p((double)signs->n_words);

    return 1 / (1 + exp(-sum));
}
