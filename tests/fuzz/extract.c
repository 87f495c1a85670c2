/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c - fuzz: any two turns through intent, extraction and slots.
 *
 * Cited bytes must lie in the turn they cite, summaries must not be empty.
 */
#include "base/arena.h"
#include "engine/extract.h"
#include "text/dates.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void prepare(struct arena *arena, struct str text,
                    const struct intent *before, struct extract_turn *turn,
                    struct intent *intent, struct analysis *analysis)
{
    struct analysis_options options = {.time_ms = 1700000000000};

    turn->text = text;
    turn->time_ms = options.time_ms;
    turn->intent = intent;
    turn->analysis = analysis;
    analysis->text = text;
    if (intent_after(arena, text, before, intent) != CLEW_OK ||
        tokens_of(arena, text, &analysis->tokens) != CLEW_OK ||
        !dates_of(arena, text, &analysis->tokens, &options, &analysis->dates,
                  &analysis->n_dates)) {
        abort();
    }
}

static void check(const struct extract *got, const struct extract_turn *turns)
{
    for (size_t i = 0; i < got->n_items; i++) {
        const struct extract_item *item = &got->items[i];

        if (item->summary.len == 0 || item->n_cites == 0) {
            abort();
        }
        for (size_t k = 0; k < item->n_cites; k++) {
            const struct extract_cite *cite = &item->cites[k];

            if (cite->back > 1 || cite->from >= cite->to ||
                cite->to > turns[cite->back].text.len) {
                abort();
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str all = {(const char *)data, len};
    size_t cut = str_find(all, STR("\x01"), 0);
    struct extract_turn turns[2] = {{.role = EXTRACT_USER},
                                    {.role = EXTRACT_ASSISTANT}};
    struct intent intents[2];
    struct analysis analyses[2];
    struct extract_input input = {
        .turn = &turns[0], .previous = &turns[1], .n_previous = 1};
    struct extract got;
    struct extract_resolution resolution;
    struct arena arena;

    memset(analyses, 0, sizeof(analyses));
    cut = cut == SIZE_MAX ? len : cut;
    arena_init(&arena, 1u << 28);
    prepare(&arena, str_sub(all, 0, cut), NULL, &turns[1], &intents[1],
            &analyses[1]);
    prepare(&arena, str_sub(all, cut < len ? cut + 1 : cut, len), &intents[1],
            &turns[0], &intents[0], &analyses[0]);
    turns[0].speaker = len % 2 ? STR("Ann") : (struct str){0};
    if (extract_run(&arena, &input, &got) != CLEW_OK ||
        extract_resolution(&arena, &input, STR("Fix 401 error"), 0,
                           &resolution) != CLEW_OK) {
        abort();
    }
    check(&got, turns);
    arena_release(&arena);
    return 0;
}
