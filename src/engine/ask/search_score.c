/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_score.c - one score from all that is known, and the order. See
 * search_internal.h.
 *
 * What the reader says of a passage weighs most; how well its words and its
 * meaning match, what memories say of it and how new it is among its like tell
 * those apart that the reader likes equally. The sum is bent into the
 * probability that the passage answers. Then what holds is put before what
 * held: by the lineage of the memories drawn from two turns, or because the
 * reader says that the later one updates the earlier.
 */
#include "engine/ask/search_internal.h"

#include "base/config.h"
#include "base/crew.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"
#include "engine/read/sense.h"
#include "engine/read/verdicts.h"
#include "model/reader.h"
#include "talk/effort_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static double logit(double p)
{
    p = clip(p, 1e-4, 1 - 1e-4);
    return log(p / (1 - p));
}

static double likely(double x)
{
    return 1 / (1 + exp(-clip(x, -30, 30)));
}

static double above_zero(double match)
{
    return match > 0 ? match : 0;
}

/* What matched is the turn; or what stands for none. */
static double own_match(const struct matter *matter)
{
    double own = matter->hit.memory    ? matter->memory
                 : matter->hit.episode ? matter->episode
                                       : matter->turn;

    own = above_zero(own);
    return matter->is_lender ? PROMISE_LENDER * own : fmax(own, matter->lent);
}

static double drawn_match(const struct matter *matter)
{
    return matter->hit.turn ? above_zero(matter->memory) : 0;
}

double search_promise(const struct matter *matter)
{
    double promise = own_match(matter) + PROMISE_MEMORY * drawn_match(matter) +
                     (matter->n_named > 0 ? PROMISE_NAMED : 0);

    return matter->hit.is_asking ? PROMISE_ASKING * promise : promise;
}

/* For qsort(): by the sum; equals by time, place and text, so that their order
 * does not hang on ids. */
static int search_compare(const void *a, const void *b)
{
    const struct matter *left = a;
    const struct matter *right = b;
    const struct recall_item *x = &left->hit.item;
    const struct recall_item *y = &right->hit.item;

    if (left->sum != right->sum) {
        return left->sum > right->sum ? -1 : 1;
    }
    if (x->created_at_ms != y->created_at_ms) {
        return x->created_at_ms > y->created_at_ms ? -1 : 1;
    }
    if (x->seq != y->seq) {
        return x->seq > y->seq ? -1 : 1;
    }
    return search_tell_apart(&left->hit, &right->hit);
}

void search_sort_by_promise(struct search_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        work->matters[i].sum = search_promise(&work->matters[i]);
    }
    qsort(work->matters, work->count, sizeof(*work->matters), search_compare);
}

/* --- the sum --- */

/* Of its letters, more in scripts from `low` to `high` (lead bytes) than Latin
 * ones? */
static bool is_written_in(struct str text, unsigned low, unsigned high)
{
    size_t n_latin = 0;
    size_t n_other = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.s[i];

        n_other += c >= low && c <= high;
        n_latin += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    return n_other > n_latin;
}

/* Scripts the reader has seen little of: words count more. */
static bool is_foreign(struct str text)
{
    return is_written_in(text, 0xe3, 0xed); /* from U+3000: CJK, Hangul */
}

/* Scripts it has never seen: Greek to Arabic, Indic to Thai. */
static bool search_is_readable(struct str text)
{
    return !is_written_in(text, 0xcd, 0xe1); /* U+0340 to U+1FFF */
}

static double fuse_time(const struct search_work *work)
{
    return is_foreign(work->query->query) ? FUSE_TIME_FOREIGN : FUSE_TIME;
}

/* The reader's word, as a logit. */
static double word_of(const struct matter *matter)
{
    return matter->read < 0 ? FUSE_UNREAD : logit((double)matter->read);
}

/* What speaks for it; `read` is the reader's word. */
static double fused(const struct matter *matter, double read, double own,
                    double time)
{
    /* the match holds the time already */
    double match = above_zero(own_match(matter) - matter->time);

    return read + own * match + FUSE_MEMORY * drawn_match(matter) +
           time * matter->time + (matter->n_named > 0 ? FUSE_NAMED : 0);
}

/* The reader knows what an answer looks like better than what it is about:
 * "half past four" answers whatever asks for an hour. So its word counts less
 * for what matches far less than the best does. */
static double far_cost(const struct search_work *work,
                       const struct matter *matter)
{
    return FAR_COST *
           above_zero(FAR_SHARE * work->best_match - own_match(matter));
}

/* What it is ordered by: a no of the reader, and what only asks the same, count
 * as not read (ORDER_LEAST). */
static double ordered(const struct search_work *work,
                      const struct matter *matter, double time)
{
    double read = ORDER_LEAST;
    double crowd = (double)work->rows.ranking.n_scanned / ORDER_CROWD_FROM;
    double own = ORDER_OWN + ORDER_CROWD * log(fmax(crowd, 1));

    if (matter->hit.is_asking) {
        own *= PROMISE_ASKING;
    } else if (matter->read >= 0) {
        read = fmax(read, logit((double)matter->read) - far_cost(work, matter));
    }
    return fused(matter, read, own, time);
}

double search_nearness(const struct search_work *work,
                       const struct matter *matter)
{
    return ordered(work, matter, fuse_time(work)) +
           (MATTER_OWN - ORDER_OWN) *
               above_zero(own_match(matter) - matter->time);
}

double search_standing(const struct search_work *work,
                       const struct matter *matter)
{
    double time = fuse_time(work);

    return is_foreign(work->query->query)
               ? fused(matter, word_of(matter), FUSE_OWN_FOREIGN, time)
               : ordered(work, matter, time);
}

/* A word or two, nothing but identifiers, or "http header parser crash" without
 * one word that joins them, asks for where they stand: that is no question the
 * reader knows. */
static bool asks_by_words(struct arena *arena, struct str query)
{
    struct tokens tokens;
    size_t n_words = 0;
    size_t n_codes = 0;
    size_t n_joined = 0; /* by little words, or by no blanks */

    if (query.len > KEYWORD_BYTES || memchr(query.s, '?', query.len) ||
        tokens_of(arena, query, &tokens) != CLEW_OK) {
        return false;
    }
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.items[i];

        if (token->kind != TOKEN_PUNCT && !(token->flags & TOKEN_PART)) {
            n_words++;
            n_codes += token->kind == TOKEN_CODE;
            n_joined +=
                token->kind == TOKEN_BIGRAM || (token->flags & TOKEN_STOP);
        }
    }
    return n_words > 0 && (n_words <= KEYWORD_MAX || n_words == n_codes ||
                           (n_words <= KEYWORD_LOOSE && n_joined == 0));
}

/* How much of the words looked for anything has. A match is of those alone:
 * what has the one common word of three has all of it. */
static double known_share(const struct search_work *work)
{
    const struct recall_result *ranking = &work->rows.ranking;
    size_t n_known = 0;

    for (size_t i = 0; i < ranking->n_terms; i++) {
        n_known += ranking->is_known[i];
    }
    return ranking->n_terms > 0 ? (double)n_known / (double)ranking->n_terms
                                : 0;
}

static double by_words(const struct search_work *work,
                       const struct matter *matter)
{
    return KEYWORD_BASE + KEYWORD_SLOPE * known_share(work) *
                              (double)matter->hit.item.parts.lexical;
}

/* Where words are looked for and something has most of them, what has none of
 * them stands behind it, whatever the reader says. */
static void put_strangers_behind(struct search_work *work)
{
    double best = 0;

    for (size_t i = 0; i < work->count; i++) {
        best = fmax(best, by_words(work, &work->matters[i]));
    }
    for (size_t i = 0; i < work->count && best > 0; i++) {
        struct matter *matter = &work->matters[i];

        if (matter->hit.item.parts.lexical <= 0) {
            matter->sum = fmin(matter->sum, best - KEYWORD_STRANGER);
            matter->evidence = fmin(matter->evidence, matter->sum);
        }
    }
}

bool search_is_outside(const struct matter *later, const struct matter *earlier)
{
    return later->time < earlier->time;
}

static bool is_newer(const struct matter *later, const struct matter *earlier)
{
    return later->hit.item.created_at_ms > earlier->hit.item.created_at_ms &&
           !search_is_outside(later, earlier);
}

/* Are they of the same matter, as far as the question tells? The later of two
 * dates is an update of the other only if both are dates of one thing. */
static bool is_as_near(const struct matter *later, const struct matter *earlier)
{
    return own_match(later) >= UPDATE_SHARE * own_match(earlier);
}

static bool may_answer(const struct matter *matter)
{
    return !matter->is_glanced && (double)matter->read >= UPDATE_MIN_READ;
}

/* Of those that promise an answer the newer ones, by steps. */
static void prefer_new(struct search_work *work)
{
    size_t n =
        work->count < ORDER_NEWER_AMONG ? work->count : ORDER_NEWER_AMONG;
    size_t most = 0;

    for (size_t i = n; i-- > 0;) {
        most += may_answer(&work->matters[i]);
        work->matters[i].newer = 0;
        for (size_t k = 0; k < n; k++) {
            work->matters[i].newer +=
                is_newer(&work->matters[k], &work->matters[i]) &&
                is_as_near(&work->matters[k], &work->matters[i]) &&
                may_answer(&work->matters[k]);
        }
    }
    for (size_t i = 0; i < work->count; i++) {
        work->matters[i].sum -=
            ORDER_NEWER * (double)(i < n ? work->matters[i].newer : most);
    }
}

/* --- what holds before what held --- */

void search_overtake(struct search_work *work, size_t earlier, size_t later,
                     bool is_sure)
{
    struct matter *list = work->matters;

    list[earlier].hit.is_superseded |= is_sure;
    if (later > earlier) {
        struct matter moved = list[later];

        moved.sum = list[earlier].sum;
        moved.evidence = fmax(moved.evidence, list[earlier].evidence);
        memmove(&list[earlier + 1], &list[earlier],
                (later - earlier) * sizeof(*list));
        list[earlier] = moved;
    }
}

/* The best match among the memories of a turn; NULL if it has none. */
static const struct search_hit *memory_of(const struct search_work *work,
                                          const struct matter *matter)
{
    const struct search_hit *best = NULL;

    for (size_t i = 0; i < work->rows.count; i++) {
        const struct search_hit *hit = &work->rows.hits[i];

        if (hit->memory && search_belongs(hit, matter) &&
            (!best || hit->match > best->match ||
             (hit->match == best->match && best->is_superseded))) {
            best = hit;
        }
    }
    return best;
}

/* Where a memory, or the first turn that it cites, stands. */
static size_t place_of(const struct search_work *work, const struct uuid *id)
{
    const struct search_hit *hit = NULL;

    for (size_t i = 0; i < work->rows.count; i++) {
        if (work->rows.hits[i].memory &&
            uuid_eq(&work->rows.hits[i].item.id, id)) {
            hit = &work->rows.hits[i];
        }
    }
    for (size_t i = 0; hit && i < work->count; i++) {
        if (work->matters[i].hit.memory
                ? uuid_eq(&work->matters[i].hit.item.id, id)
                : search_belongs(hit, &work->matters[i])) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Does a memory stand behind what replaced it at place i, or a turn behind the
 * turn of what replaced its memory? That goes first; false if nothing moved. */
static bool replace_at(struct search_work *work, size_t i)
{
    const struct search_hit *memory = work->matters[i].hit.memory
                                          ? &work->matters[i].hit
                                          : memory_of(work, &work->matters[i]);
    size_t later;

    if (!memory || !memory->is_superseded) {
        return false;
    }
    later = place_of(work, &memory->refined_by);
    if (later == SIZE_MAX || later == i ||
        search_is_outside(&work->matters[later], &work->matters[i]) ||
        work->matters[later].hit.item.created_at_ms <
            work->matters[i].hit.item.created_at_ms) {
        return false; /* said again later, or in the same breath */
    }
    work->matters[i].hit.refined_by = memory->refined_by;
    search_overtake(work, i, later, true);
    return later > i;
}

/* By the lineage of memories. What went first may have been replaced itself:
 * a line of values ends with the one that holds. */
static void settle_lineage(struct search_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        for (size_t n = 0; n < LINEAGE_AT_ONCE && replace_at(work, i); n++) {
        }
    }
}

/* Two turns, of which the later may update the earlier. */
struct update {
    size_t earlier;
    size_t later;
    double least; /* so sure the reader must be */
};

struct updates {
    const struct search_work *work;
    struct update items[UPDATE_MAX_PAIRS];
    struct reader_pair pairs[UPDATE_MAX_PAIRS];
    struct reader_verdict verdicts[UPDATE_MAX_PAIRS];
    size_t count;
    bool is_strict; /* the question is none that the reader knows */
    _Atomic bool has_failed;
};

static void read_update(void *arg, size_t step)
{
    struct updates *updates = arg;
    const struct search_work *work = updates->work;

    if (verdicts_compare(work->engine->verdicts, work->engine->reader,
                         work->scope->tenant, READER_NEWER,
                         &updates->pairs[step],
                         &updates->verdicts[step]) != CLEW_OK) {
        updates->has_failed = true;
    }
}

/* How a matter ended updates what was said of it, but is no newer answer to
 * whatever was asked about it. */
static bool is_answer(const struct matter *matter)
{
    return matter->hit.turn && !matter->hit.is_asking && !matter->opened &&
           may_answer(matter);
}

/* What the reader hardly takes for an answer is not the answer of today. */
static bool rivals(const struct matter *later, const struct matter *earlier)
{
    return is_answer(earlier) && is_answer(later) && is_newer(later, earlier) &&
           logit((double)later->read) >=
               logit((double)earlier->read) - UPDATE_GAP;
}

/* What the question has neither a word nor a sense in common with must hold
 * instead for sure: the reader takes some strangers for an answer. So must
 * whatever words find by themselves, or a script that it hardly knows: it
 * learned from questions; and what is said after a tool printed something, or
 * the other way round: it learned from talk. */
static double least_for(const struct updates *updates,
                        const struct matter *later,
                        const struct matter *earlier)
{
    const struct recall_parts *parts = &later->hit.item.parts;

    if (updates->is_strict || later->hit.turn->role == TURN_TOOL ||
        earlier->hit.turn->role == TURN_TOOL ||
        (parts->lexical <= 0 && parts->vector < UPDATE_STRANGER)) {
        return UPDATE_SURE;
    }
    return is_as_near(later, earlier) ? UPDATE_LIKELY : UPDATE_FAR;
}

/* … or, where it does not tell, as far as they do: "ten chairs will do" after
 * "we rent fourteen deck chairs". */
static bool is_same_matter(struct updates *updates, const struct matter *later,
                           const struct matter *earlier)
{
    bool is_met = is_as_near(later, earlier);

    if (!is_met && effort_words_meet(updates->work->arena, later->hit.text,
                                     earlier->hit.text, &is_met) != CLEW_OK) {
        updates->has_failed = true;
    }
    return is_met;
}

/* Pairs among the first whose order an update would turn round. */
static void find_updates(const struct search_work *work,
                         struct updates *updates)
{
    size_t n = work->count < UPDATE_AMONG ? work->count : UPDATE_AMONG;

    for (size_t i = 0; i < n; i++) {
        const struct matter *earlier = &work->matters[i];

        for (size_t k = i + 1; k < n && updates->count < UPDATE_MAX_PAIRS;
             k++) {
            const struct matter *later = &work->matters[k];

            if (rivals(later, earlier) &&
                is_same_matter(updates, later, earlier)) {
                updates->items[updates->count++] =
                    (struct update){i, k, least_for(updates, later, earlier)};
            }
        }
    }
}

/* As the reader is asked; b.s == NULL without memory. */
static struct reader_pair pair_of(const struct search_work *work,
                                  const struct matter *earlier,
                                  const struct matter *later)
{
    struct reader_said then = {earlier->hit.speaker, earlier->hit.text};
    struct reader_said now = {later->hit.speaker, later->hit.text};

    return (struct reader_pair){work->asked.text,
                                sense_two_answers(work->arena, &then, &now)};
}

/* A sum of several chats holds what was said in them, and may read better than
 * any of it. What was said is the answer: turns that may be one as well stand
 * before it, and it has no better a score. */
static void put_sums_behind(struct search_work *work)
{
    size_t n = work->count < SUMS_AMONG ? work->count : SUMS_AMONG;

    for (size_t i = 0; i < n; i++) {
        struct matter *sum = &work->matters[i];
        size_t k = i + 1;

        if (!sum->hit.episode) {
            continue;
        }
        while (k < n &&
               !(is_answer(&work->matters[k]) &&
                 work->matters[k].evidence >= sum->evidence - SUMS_GAP)) {
            k++;
        }
        if (k < n) {
            sum->evidence = fmin(sum->evidence, work->matters[k].evidence);
            search_overtake(work, i, k, false);
        }
    }
}

/* By the reader: does the later turn hold instead of the earlier? */
static enum clew_status settle_updates(struct search_work *work, bool is_strict,
                                       struct clew_error *err)
{
    struct updates *updates = arena_zero(work->arena, 1, sizeof(*updates));
    struct uuid held[UPDATE_MAX_PAIRS][2];

    if (!updates) {
        return clew_no_memory(err);
    }
    updates->work = work;
    updates->is_strict = is_strict;
    find_updates(work, updates);
    for (size_t i = 0; i < updates->count; i++) {
        const struct matter *earlier =
            &work->matters[updates->items[i].earlier];
        const struct matter *later = &work->matters[updates->items[i].later];

        held[i][0] = earlier->hit.item.id;
        held[i][1] = later->hit.item.id;
        updates->pairs[i] = pair_of(work, earlier, later);
        if (!updates->pairs[i].b.s) {
            return clew_no_memory(err);
        }
    }
    crew_run(work->engine->crew, read_update, updates, updates->count);
    if (updates->has_failed) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < updates->count; i++) {
        double sure = (double)updates->verdicts[i].p[0];

        if (sure >= updates->items[i].least) {
            search_overtake(work, search_find(work, &held[i][0]),
                            search_find(work, &held[i][1]),
                            sure >= UPDATE_SURE);
        }
    }
    return CLEW_OK;
}

/* --- the whole --- */

/* What a matter's time orders it by, and is no part of its score: whatever was
 * said in June is not about everything that is asked about June. The more the
 * question names beside its dates, the less its time alone says. */
static double time_aside(const struct search_work *work,
                         const struct matter *matter)
{
    size_t n = work->rows.ranking.n_named;

    return search_reads(work) && n > 1
               ? fuse_time(work) * matter->time * (1 - 1 / (double)n)
               : 0;
}

void search_set_scores(struct search_work *work)
{
    double at_least = 0;
    double trust = work->asked.mended.count > 0 ? SCORE_MENDED : 1;

    for (size_t i = work->count; i-- > 0;) {
        struct matter *matter = &work->matters[i];
        double sum = matter->evidence - time_aside(work, matter);
        double score = matter->read < 0
                           ? likely(UNREAD_BASE + UNREAD_SLOPE * sum)
                           : likely(SCORE_BASE + SCORE_SLOPE * sum);

        score *= trust;
        if (matter->hit.is_superseded) {
            score *= SCORE_SUPERSEDED;
        }
        at_least = fmax(at_least, score);
        matter->hit.item.score = at_least; /* in the order of the list */
        matter->hit.read = matter->read;
    }
}

static void set_best_match(struct search_work *work)
{
    work->best_match = 0;
    for (size_t i = 0; i < work->count; i++) {
        work->best_match = fmax(work->best_match, own_match(&work->matters[i]));
    }
}

enum clew_status search_order(struct search_work *work, struct clew_error *err)
{
    bool is_read = search_reads(work);
    enum clew_status status = CLEW_OK;

    if (work->count == 0) {
        return CLEW_OK;
    }
    bool is_far = is_foreign(work->query->query);
    double own = is_far ? FUSE_OWN_FOREIGN : FUSE_OWN;
    double time = fuse_time(work);
    bool is_by_words =
        is_read && asks_by_words(work->arena, work->query->query);

    set_best_match(work);
    for (size_t i = 0; i < work->count; i++) {
        struct matter *matter = &work->matters[i];

        matter->evidence =
            is_read ? fused(matter, word_of(matter) - far_cost(work, matter),
                            own, time)
                    : search_promise(matter);
        if (is_by_words) {
            matter->evidence = fmax(matter->evidence, by_words(work, matter));
        }
        if (matter->hit.is_asking) {
            matter->evidence = fmin(matter->evidence, ASKING_MOST);
        }
        matter->sum = is_read && !is_by_words && !is_far
                          ? ordered(work, matter, time)
                          : matter->evidence;
    }
    if (is_by_words) {
        put_strangers_behind(work);
    }
    qsort(work->matters, work->count, sizeof(*work->matters), search_compare);
    if (is_read) {
        prefer_new(work);
        qsort(work->matters, work->count, sizeof(*work->matters),
              search_compare);
        put_sums_behind(work);
        status = settle_updates(work, is_by_words || is_far, err);
    }
    if (status == CLEW_OK) {
        search_put_named_first(work);
        settle_lineage(work);
    }
    return status;
}

bool search_may_read(const struct search_work *work)
{
    return work->engine->reader && !work->query->is_fast &&
           search_read_ms(work) > 0;
}

bool search_reads(const struct search_work *work)
{
    return search_may_read(work) && search_is_readable(work->query->query) &&
           reader_knows(work->engine->reader, work->query->query);
}

int64_t search_read_ms(const struct search_work *work)
{
    return work->query->read_ms
               ? work->query->read_ms
               : config_int(work->engine->config, "recall.read_ms");
}
