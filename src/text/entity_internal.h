/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_internal.h - what the files of the entity finder share.
 *
 * entity.c walks the tokens and reads names, entity_code.c the rest.
 */
#ifndef TEXT_ENTITY_INTERNAL_H
#define TEXT_ENTITY_INTERNAL_H

#include "text/analysis_internal.h"

/* Numbers and codes weigh less than names (share of the largest idf). */
#define CODE_WEIGHT 0.6f

struct finder {
    struct arena *arena;
    struct analysis *analysis;
    const struct analysis_options *options;
    const struct token *items;
    size_t n;
    size_t cap;
    uint32_t *seen; /* hash table over entities, index + 1 */
    size_t seen_mask;
    bool is_out_of_memory;
};

/* Keep an entity of tokens [first, end) unless its key is there already. */
void entity_keep(struct finder *f, enum entity_kind kind, struct str key,
                 size_t first, size_t end, float weight);
enum entity_kind entity_kind_of_lex(uint8_t kind);
/* The number at `i` with its currency or unit; returns the end. */
size_t entity_number_at(struct finder *f, size_t i);
/* An identifier, file, address at `i`; returns the end. */
size_t entity_code_at(struct finder *f, size_t i);

#endif
