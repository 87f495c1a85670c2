/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_read.c - the first candidates read together with the question. See
 * search_internal.h.
 *
 * How question and passage are put together is how the reader was trained
 * (models/train/reader_examples.py): change both or neither. How many are read
 * follows from recall.read_ms and the length of the texts, never from a clock,
 * so that the same question has the same answers.
 */
#include "engine/ask/search_internal.h"

#include "base/clock.h"
#include "base/crew.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"
#include "engine/read/sense.h"
#include "engine/read/verdicts.h"
#include "model/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A longer question is cut by the reader anyway. */
#define QUESTION_BYTES 1024

struct reading_work {
    const struct search_work *work;
    struct str question; /* with its day, and what the talk lent it */
    struct str bare;     /* … without that */
    size_t left;         /* tokens that may still be read */
    struct reader_pair *pairs;
    struct reader_verdict *verdicts;
    size_t count;
    size_t order[SEARCH_MAX_READ]; /* in which they are read */
    size_t n_order;
    struct reader_glance glances[SEARCH_MAX_READ];
    struct arena kept[SEARCH_MAX_READ]; /* what each is read on from */
    _Atomic bool has_failed;
};

/* "2 mar 2026" */
static const char *day_of(struct arena *arena, int64_t time_ms)
{
    static const char *const months[] = {"jan", "feb", "mar", "apr",
                                         "may", "jun", "jul", "aug",
                                         "sep", "oct", "nov", "dec"};
    int64_t days = time_ms / CLOCK_DAY_MS - (time_ms % CLOCK_DAY_MS < 0);
    int64_t year;
    int month;
    int day;

    clock_civil_from_days(days, &year, &month, &day);
    return arena_printf(arena, "%d %s %lld", day, months[month - 1],
                        (long long)year);
}

static struct reader_said said_of(const struct turn *turn)
{
    return (struct reader_said){
        sense_speaker(turn->role == TURN_ASSISTANT, turn->name), turn->text};
}

/* "2 mar 2026 ada: it was bob || assistant: who repaired the pump?" */
static struct str passage_text(struct arena *arena, const struct matter *matter)
{
    const struct search_hit *hit = &matter->hit;
    const char *day = day_of(arena, hit->item.created_at_ms);
    struct str step;

    if (hit->turn) {
        struct reader_said said = said_of(hit->turn);
        const struct turn *led =
            matter->opened ? matter->opened : matter->before;
        struct reader_said before;

        said.text = hit->text;
        if (led) {
            before = said_of(led);
            before.text.len = utf8_cut(before.text, PASSAGE_BEFORE_BYTES);
        }
        step = sense_step(arena, &said, led ? &before : NULL);
    } else {
        struct reader_said said = {STR("user"), hit->text};

        step = sense_said(arena, &said);
    }
    if (!day || !step.s) {
        return (struct str){0};
    }
    return str_of(arena_printf(arena, "%s %.*s", day, (int)step.len, step.s));
}

static void read_step(void *arg, size_t step)
{
    struct reading_work *reading = arg;
    const struct search_work *work = reading->work;
    size_t at = reading->order[step];

    if (verdicts_compare(work->engine->verdicts, work->engine->reader,
                         work->scope->tenant, READER_ANSWER,
                         &reading->pairs[at],
                         &reading->verdicts[at]) != CLEW_OK) {
        reading->has_failed = true; /* without memory, nothing else */
    }
}

static void glance_step(void *arg, size_t step)
{
    struct reading_work *reading = arg;
    const struct search_work *work = reading->work;
    size_t at = reading->order[step];

    if (verdicts_glance(work->engine->verdicts, work->engine->reader,
                        &reading->kept[at], work->scope->tenant,
                        &reading->pairs[at],
                        &reading->glances[at]) != CLEW_OK) {
        reading->has_failed = true;
    }
}

static void read_on_step(void *arg, size_t step)
{
    struct reading_work *reading = arg;
    const struct search_work *work = reading->work;
    size_t at = reading->order[step];

    if (verdicts_read_on(work->engine->verdicts, work->engine->reader,
                         work->scope->tenant, &reading->pairs[at],
                         &reading->glances[at],
                         &reading->verdicts[at]) != CLEW_OK) {
        reading->has_failed = true;
    }
}

static enum clew_status do_before(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct search_work *work = arg;
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count && n < SEARCH_MAX_READ; i++) {
        if (work->matters[i].hit.turn && work->matters[i].hit.turn->seq > 1) {
            ids[n++] = work->matters[i].hit.turn->id;
        }
    }
    work->n_before = 0;
    return n == 0 ? CLEW_OK
                  : turn_find_before(tx, work->arena, ids, n, &work->before,
                                     &work->n_before, err);
}

static void set_before(struct search_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct turn *turn = work->matters[i].hit.turn;

        for (size_t k = 0; turn && k < work->n_before; k++) {
            if (work->before[k].seq == turn->seq - 1 &&
                uuid_eq(&work->before[k].chat_id, &turn->chat_id)) {
                work->matters[i].before = &work->before[k];
            }
        }
    }
}

static size_t at_most(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum clew_status search_set_passage(struct search_work *work,
                                    struct matter *matter,
                                    struct clew_error *err)
{
    struct search_hit *hit = &matter->hit;
    struct str text = hit->turn ? matter->searched : hit->text;
    size_t from;
    size_t to;
    enum clew_status status = search_passage(work, text, &from, &to, err);

    if (status == CLEW_OK) {
        size_t said = hit->turn ? hit->turn->text.len : text.len;

        hit->text = str_sub(text, from, to);
        hit->passage_from = at_most(from, said);
        hit->passage_to = at_most(to, said);
        hit->has_input = to > said;
    }
    return status;
}

static size_t cost_of(const struct reader_pair *pair)
{
    size_t a = pair->a.len / SEARCH_TOKEN_BYTES;
    size_t b = pair->b.len / SEARCH_TOKEN_BYTES;

    return SEARCH_PAIR_TOKENS + (a < READER_A_TOKENS ? a : READER_A_TOKENS) +
           (b < READER_B_TOKENS ? b : READER_B_TOKENS);
}

/* Pairs in order of promise, while there are tokens left. An answer among the
 * first is no reason to stop: what replaced it may be said in other words. */
static enum clew_status add_pairs(struct search_work *work,
                                  struct reading_work *reading,
                                  struct clew_error *err)
{
    while (reading->count < work->count && reading->count < SEARCH_MAX_READ) {
        struct reader_pair *pair = &reading->pairs[reading->count];
        struct matter *matter = &work->matters[reading->count];
        enum clew_status status = search_set_passage(work, matter, err);
        size_t cost;

        if (status != CLEW_OK) {
            return status;
        }
        pair->a = matter->is_lender ? reading->bare : reading->question;
        pair->b = passage_text(work->arena, matter);
        if (!pair->b.s) {
            return clew_no_memory(err);
        }
        cost = cost_of(pair);
        if (cost > reading->left) {
            break;
        }
        reading->left -= cost;
        reading->count++;
    }
    return CLEW_OK;
}

static size_t cost_at(const struct reading_work *reading, size_t at)
{
    return cost_of(&reading->pairs[at]);
}

/* The long ones first: nobody reads a long one while the others are done. */
static void put_long_first(struct reading_work *reading)
{
    for (size_t i = 1; i < reading->n_order; i++) {
        size_t at = reading->order[i];
        size_t k = i;

        while (k > 0 &&
               cost_at(reading, reading->order[k - 1]) < cost_at(reading, at)) {
            reading->order[k] = reading->order[k - 1];
            k--;
        }
        reading->order[k] = at;
    }
}

static void order_all(struct reading_work *reading)
{
    reading->n_order = reading->count;
    for (size_t i = 0; i < reading->count; i++) {
        reading->order[i] = i;
    }
    put_long_first(reading);
}

/* Those that stand best after a glance, while there are tokens left. */
static void order_best(struct search_work *work, struct reading_work *reading)
{
    double left =
        SEARCH_READ_ON * (double)search_read_ms(work) * SEARCH_TOKENS_PER_MS;
    double standing[SEARCH_MAX_READ];

    reading->n_order = 0;
    for (size_t i = 0; i < reading->count; i++) {
        standing[i] = search_standing(work, &work->matters[i]);
    }
    while (reading->n_order < reading->count) {
        size_t best = reading->count;

        for (size_t i = 0; i < reading->count; i++) {
            if (work->matters[i].is_glanced &&
                (best == reading->count || standing[i] > standing[best])) {
                best = i;
            }
        }
        left -= (double)cost_at(reading, best);
        if (left < 0 && reading->n_order >= SEARCH_LEAST_READ_ON) {
            break;
        }
        work->matters[best].is_glanced = false;
        reading->order[reading->n_order++] = best;
    }
    put_long_first(reading);
}

/* In two steps: all by the first layers, the best of them by the others. */
static void read_by_glances(struct search_work *work,
                            struct reading_work *reading)
{
    for (size_t i = 0; i < reading->count; i++) {
        arena_init(&reading->kept[i], LIMIT_REQUEST_ARENA_BYTES);
    }
    crew_run(work->engine->crew, glance_step, reading, reading->n_order);
    for (size_t i = 0; i < reading->count; i++) {
        work->matters[i].read = reading->glances[i].promise;
        work->matters[i].is_glanced = true;
    }
    if (!reading->has_failed) {
        order_best(work, reading);
        crew_run(work->engine->crew, read_on_step, reading, reading->n_order);
    }
    for (size_t i = 0; i < reading->count; i++) {
        arena_release(&reading->kept[i]);
    }
}

static enum clew_status read_pairs(struct search_work *work,
                                   struct reading_work *reading,
                                   struct clew_error *err)
{
    enum clew_status status = add_pairs(work, reading, err);

    if (status != CLEW_OK) {
        return status;
    }
    order_all(reading);
    if (reader_can_glance(work->engine->reader)) {
        read_by_glances(work, reading);
    } else {
        crew_run(work->engine->crew, read_step, reading, reading->n_order);
    }
    if (reading->has_failed) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < reading->count; i++) {
        struct matter *matter = &work->matters[i];

        matter->read = matter->is_glanced ? fminf(matter->read, GLANCE_MOST)
                                          : reading->verdicts[i].p[0];
    }
    return search_find_called(work, reading->count, err);
}

/* "2 mar 2026: how much was it? (boiler radiator)": the talk's words behind it,
 * as an aside, were understood better than before it or in place of "it". */
static struct str with_talk(struct arena *arena, struct str bare,
                            struct str lent)
{
    const char *text = arena_printf(arena, "%.*s (%.*s)", (int)bare.len, bare.s,
                                    (int)lent.len, lent.s);

    return text ? str_of(text) : (struct str){0};
}

/* The question with its day; s == NULL without memory. */
static struct str question_of(const struct search_work *work)
{
    struct str query = utf8_head(work->asked.text, QUESTION_BYTES);
    const char *day = day_of(work->arena, work->query->at_ms);
    const char *bare = day ? arena_printf(work->arena, "%s: %.*s", day,
                                          (int)query.len, query.s)
                           : NULL;

    return bare ? str_of(bare) : (struct str){0};
}

struct reader_pair search_note_pair(struct search_work *work, struct str note,
                                    int64_t at_ms)
{
    struct matter matter = {
        .hit = {.item = {.created_at_ms = at_ms}, .text = note}};
    struct reader_pair pair = {.a = question_of(work)};

    if (pair.a.s) {
        pair.b = passage_text(work->arena, &matter);
    }
    return pair;
}

static enum clew_status begin(struct search_work *work,
                              struct reading_work *reading,
                              struct clew_error *err)
{
    reading->pairs =
        arena_zero(work->arena, SEARCH_MAX_READ, sizeof(*reading->pairs));
    reading->verdicts =
        arena_zero(work->arena, SEARCH_MAX_READ, sizeof(*reading->verdicts));
    reading->bare = question_of(work);
    if (!reading->bare.s || !reading->pairs || !reading->verdicts) {
        return clew_no_memory(err);
    }
    reading->question =
        work->asked.lent.len > 0
            ? with_talk(work->arena, reading->bare, work->asked.lent)
            : reading->bare;
    return reading->question.s ? CLEW_OK : clew_no_memory(err);
}

enum clew_status search_place(struct search_work *work, struct clew_error *err)
{
    struct str asked = utf8_head(work->asked.text, QUESTION_BYTES);
    struct arena own; /* a reader needs much, and none of it after */
    enum clew_status status;

    if (!search_reads(work)) {
        return CLEW_OK;
    }
    if (work->asked.lent.len > 0) {
        asked = with_talk(work->arena, asked, work->asked.lent);
    }
    if (!asked.s) {
        return clew_no_memory(err);
    }
    arena_init(&own, LIMIT_REQUEST_ARENA_BYTES);
    status = reader_gist_asked(work->engine->reader, &own, asked,
                               &work->asked.gist, err);
    arena_release(&own);
    return status;
}

enum clew_status search_read(struct search_work *work, struct clew_error *err)
{
    struct reading_work reading = {.work = work,
                                   .left = (size_t)search_read_ms(work) *
                                           SEARCH_TOKENS_PER_MS};
    enum clew_status status;

    if (work->count == 0) {
        return CLEW_OK;
    }
    search_sort_by_promise(work);
    if (!search_reads(work)) {
        return CLEW_OK;
    }
    status = store_read(work->engine->store, work->scope, do_before, work, err);
    if (status == CLEW_OK) {
        set_before(work);
        status = begin(work, &reading, err);
    }
    return status == CLEW_OK ? read_pairs(work, &reading, err) : status;
}
