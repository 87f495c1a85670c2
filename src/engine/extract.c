/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c - run the extraction steps over one turn, in order.
 *
 * Who speaks and to whom is settled once; each step adds its candidates; tags
 * and slots are filled for all of them at the end.
 */
#include "engine/extract.h"

#include "base/utf8.h"
#include "engine/extract_internal.h"

#include <string.h>

const char *extract_type_name(enum extract_type type)
{
    static const char *const names[] = {"fact", "event", "decision", "effort"};

    return names[type];
}

struct extract_item *extract_add(struct extraction *x, enum extract_type type,
                                 const char *rule, float confidence)
{
    struct extract_item *items =
        arena_grow(x->arena, x->out->items, x->out->n_items, &x->cap_items,
                   sizeof(*items));
    struct extract_item *item;

    if (!items) {
        return NULL;
    }
    x->out->items = items;
    item = &items[x->out->n_items++];
    *item = (struct extract_item){
        .type = type, .rule = rule, .confidence = confidence};
    return item;
}

void extract_cite_add(struct extract_item *item, size_t back, uint32_t from,
                      uint32_t to)
{
    if (item->n_cites < EXTRACT_MAX_CITES) {
        item->cites[item->n_cites++] =
            (struct extract_cite){.back = back, .from = from, .to = to};
    }
}

static struct str name_of(const struct extract_turn *turn)
{
    if (turn->speaker.len > 0) {
        return turn->speaker;
    }
    return turn->role == EXTRACT_ASSISTANT ? STR("the assistant")
                                           : STR("the user");
}

/* Who is spoken to: the last other speaker, else the opposite role. */
static struct str other_of(const struct extract_input *input)
{
    struct str self = name_of(input->turn);

    for (size_t i = 0; i < input->n_previous; i++) {
        struct str name = name_of(&input->previous[i]);

        if (!str_eq(name, self) && input->previous[i].role != EXTRACT_OTHER) {
            return name;
        }
    }
    return input->turn->role == EXTRACT_ASSISTANT ? STR("the user")
                                                  : STR("the assistant");
}

/* The most telling keywords that are in the cited words. */
static void add_tags(const struct extraction *x, struct extract_item *item)
{
    const struct analysis *a = x->turn->analysis;

    for (size_t i = 0;
         a && i < a->n_keywords && item->n_tags < EXTRACT_MAX_TAGS; i++) {
        if (a->keywords[i].is_noun && a->keywords[i].word.len > 2 &&
            str_ifind(item->summary, a->keywords[i].word, 0) != SIZE_MAX) {
            item->tags[item->n_tags++] = a->keywords[i].word;
        }
    }
}

/* Words are cut at their longest, perhaps inside a character; what came out
 * broken is left out. */
static void drop_broken(struct extract *out)
{
    size_t n = 0;

    for (size_t i = 0; i < out->n_items; i++) {
        if (utf8_is_valid(out->items[i].summary) &&
            utf8_is_valid(out->items[i].detail)) {
            out->items[n++] = out->items[i];
        }
    }
    out->n_items = n;
}

static void finish(const struct extraction *x)
{
    drop_broken(x->out);
    for (size_t i = 0; i < x->out->n_items; i++) {
        struct extract_item *item = &x->out->items[i];
        struct str said;

        add_tags(x, item);
        if (item->n_cites == 0 || item->cites[0].back != 0) {
            continue;
        }
        said = str_sub(x->turn->text, item->cites[0].from, item->cites[0].to);
        item->has_slot = slot_of(x->arena, said, x->self, &item->slot);
    }
}

enum clew_status extract_pieces(struct arena *arena,
                                const struct extract_turn *turn,
                                struct intent_pieces *out)
{
    if (turn->pieces) {
        *out = *turn->pieces;
        return CLEW_OK;
    }
    return intent_split(arena, turn->text, out);
}

static bool is_mined(const struct extract_turn *turn)
{
    return turn->role != EXTRACT_OTHER &&
           turn->intent->level != INTENT_LEVEL_COMMAND &&
           turn->intent->act != INTENT_GREETING;
}

enum clew_status extract_run(struct arena *arena,
                             const struct extract_input *input,
                             struct extract *out)
{
    static enum clew_status (*const steps[])(struct extraction *) = {
        extract_decisions, extract_reminders, extract_efforts, extract_facts,
        extract_answer};
    struct extraction x = {.arena = arena,
                           .input = input,
                           .turn = input->turn,
                           .self = name_of(input->turn),
                           .other = other_of(input),
                           .out = out};
    enum clew_status status;

    *out = (struct extract){0};
    if (!is_mined(input->turn)) {
        return CLEW_OK;
    }
    status = extract_pieces(arena, input->turn, &x.pieces);
    if (status == CLEW_OK) {
        status = clause_find_foreign(&x);
    }
    for (size_t i = 0;
         status == CLEW_OK && i < sizeof(steps) / sizeof(steps[0]); i++) {
        status = steps[i](&x);
    }
    if (status == CLEW_OK) {
        finish(&x);
    }
    return status;
}
