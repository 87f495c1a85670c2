/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_keep.c - each entity of a text once. See entity_internal.h.
 */
#include "text/entity_internal.h"

/* Rehash when half full; false on OOM. */
static bool grow_seen(struct finder *f)
{
    size_t size = f->seen ? (f->seen_mask + 1) * 2 : 64;
    uint32_t *table;

    if (f->seen && f->analysis->n_entities * 2 < f->seen_mask) {
        return true;
    }
    table = arena_zero(f->arena, size, sizeof(*table));
    if (!table) {
        return false;
    }
    for (size_t e = 0; e < f->analysis->n_entities; e++) {
        size_t i = str_hash(f->analysis->entities[e].key) & (size - 1);

        while (table[i]) {
            i = (i + 1) & (size - 1);
        }
        table[i] = (uint32_t)e + 1;
    }
    f->seen = table;
    f->seen_mask = size - 1;
    return true;
}

void entity_keep(struct finder *f, enum entity_kind kind, struct str key,
                 size_t first, size_t end, float weight)
{
    struct analysis *a = f->analysis;
    struct entity *entity;
    size_t i;
    uint32_t to = f->items[first].to;

    if (key.len == 0 || f->is_out_of_memory) {
        return;
    }
    if (!grow_seen(f)) {
        f->is_out_of_memory = true;
        return;
    }
    for (i = str_hash(key) & f->seen_mask; f->seen[i];
         i = (i + 1) & f->seen_mask) {
        if (str_eq(a->entities[f->seen[i] - 1].key, key)) {
            return;
        }
    }
    entity = arena_grow(f->arena, a->entities, a->n_entities, &f->cap,
                        sizeof(*a->entities));
    if (!entity) {
        f->is_out_of_memory = true;
        return;
    }
    a->entities = entity;
    entity = &a->entities[a->n_entities++];
    f->seen[i] = (uint32_t)a->n_entities;
    for (size_t t = first; t < end; t++) {
        to = f->items[t].to > to ? f->items[t].to : to;
    }
    *entity = (struct entity){
        .kind = kind,
        .key = key,
        .span = {f->items[first].from, to, (uint32_t)first, (uint32_t)end},
        .weight = weight,
    };
    entity->text = str_sub(a->text, entity->span.from, to);
}
