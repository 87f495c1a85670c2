/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_alike.c - two efforts held against each other. See effort_alike.h.
 */
#include "engine/effort/effort_alike.h"

#include "base/utf8.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/read/sense.h"
#include "model/embed.h"
#include "model/reader.h"
#include "text/date/dates.h"

#include <assert.h>

/* The vectors alone decide at this, the vectors and the reader's word of this
 * weight at that. */
#define ALONE 0.30
#define TOGETHER 0.40
#define WORD 0.20
/* However near the problems are: ways so far apart are two. */
#define SAME_WAY 0.25
/* … and however alike they ended: "all tests pass" ends every bug. */
#define SAME_GOAL 0.25

enum { GOAL, WAY, BOTH, PARTS };

/* As one text: "the problem. How it ended". */
static struct str text_of(struct arena *arena, struct str goal, struct str way)
{
    return str_of(arena_printf(arena, "%.*s. %.*s", (int)goal.len, goal.s,
                               (int)way.len, way.s));
}

/* ます, から: what holds a Japanese sentence together. */
static bool is_hiragana(struct str word)
{
    size_t at = 0;

    while (at < word.len) {
        uint32_t c = utf8_next(word, &at);

        if (c < 0x3041 || c > 0x309f) {
            return false;
        }
    }
    return word.len > 0;
}

enum clew_status effort_alike_make(struct batch_work *batch, struct str goal,
                                   struct str way, struct effort_alike *out,
                                   struct clew_error *err)
{
    struct embedder *embedder = batch->engine->embedder;
    size_t dim = embedder->dim;
    struct str texts[PARTS] = {goal, way.len ? way : STR(""),
                               way.len ? text_of(batch->arena, goal, way)
                                       : goal};
    float *vectors = arena_zero(batch->arena, PARTS * dim, sizeof(*vectors));
    struct tokens tokens;

    *out = (struct effort_alike){goal, way, vectors, dim, {0}, false};
    if (!vectors || !texts[BOTH].s ||
        tokens_of(batch->arena, goal, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < tokens.count; i++) {
        if (date_says_when(tokens.items[i].folded) ||
            is_hiragana(tokens.items[i].folded)) {
            tokens.items[i].flags |= TOKEN_STOP; /* not what it is about */
        }
    }
    if (effort_words_in(batch->arena, &tokens, &out->words) != CLEW_OK) {
        return clew_no_memory(err);
    }
    out->is_foreign = embedder == embed_static() && reading_is_foreign(&tokens);
    return embed_run_centred(embedder, texts, PARTS, vectors, err);
}

/* Can their vectors tell anything? */
static bool may_be_near(const struct effort_alike *a,
                        const struct effort_alike *b)
{
    return (!a->is_foreign && !b->is_foreign) ||
           effort_words_shared(&a->words, &b->words) > 0;
}

static double dot(const struct effort_alike *a, int of_a,
                  const struct effort_alike *b, int of_b)
{
    const float *left = a->vectors + (size_t)of_a * a->dim;
    const float *right = b->vectors + (size_t)of_b * b->dim;
    double sum = 0;

    for (size_t i = 0; i < a->dim; i++) {
        sum += (double)left[i] * (double)right[i];
    }
    return sum;
}

double effort_alike_near(const struct effort_alike *a,
                         const struct effort_alike *b)
{
    if (!may_be_near(a, b)) {
        return 0;
    }
    return (2 * dot(a, BOTH, b, BOTH) + dot(a, GOAL, b, GOAL) +
            dot(a, WAY, b, WAY)) /
           4;
}

double effort_alike_way(const struct effort_alike *a,
                        const struct effort_alike *b)
{
    return dot(a, WAY, b, WAY);
}

double effort_alike_goal(const struct effort_alike *goal,
                         const struct effort_alike *ended, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (may_be_near(goal, &ended[i])) {
            sum += dot(goal, GOAL, &ended[i], GOAL) +
                   dot(goal, GOAL, &ended[i], BOTH);
        }
    }
    return n ? sum / (double)(2 * n) : 0;
}

/* As a stretch of talk: "user: the problem user: how it ended". */
static struct str talk_of(struct arena *arena, const struct effort_alike *it)
{
    return str_of(arena_printf(arena, "user: %.*s user: %.*s",
                               (int)it->goal.len, it->goal.s, (int)it->way.len,
                               it->way.s));
}

/* The mean of what the reader says of one against the others. */
static enum clew_status ask(struct batch_work *batch,
                            const struct effort_alike *one,
                            const struct effort_alike *ended, size_t n,
                            double *out, struct clew_error *err)
{
    struct reader_pair pairs[EFFORT_ALIKE_MAX] = {{{0}, {0}}};
    struct reader_verdict verdicts[EFFORT_ALIKE_MAX] = {{{0}}};
    enum clew_status status;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        pairs[i] = (struct reader_pair){talk_of(batch->arena, &ended[i]),
                                        talk_of(batch->arena, one)};
        if (!pairs[i].a.s || !pairs[i].b.s) {
            return clew_no_memory(err);
        }
    }
    status = sense_compare(batch, READER_MATTER, pairs, n, verdicts, err);
    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        sum += (double)verdicts[i].p[0];
    }
    *out = sum / (double)n;
    return status;
}

enum clew_status effort_alike_is(struct batch_work *batch,
                                 const struct effort_alike *one,
                                 const struct effort_alike *ended, size_t n,
                                 bool *out, struct clew_error *err)
{
    double near = 0;
    double goal = 0;
    double way = 0;
    double word = 0;
    enum clew_status status = CLEW_OK;

    assert(n > 0 && n <= EFFORT_ALIKE_MAX);
    for (size_t i = 0; i < n; i++) {
        near += effort_alike_near(one, &ended[i]) / (double)n;
        goal += dot(one, GOAL, &ended[i], GOAL) / (double)n;
        way += effort_alike_way(one, &ended[i]) / (double)n;
    }
    *out = false;
    if (near < EFFORT_ALIKE_LEAST || goal < SAME_GOAL || way < SAME_WAY) {
        return CLEW_OK;
    }
    if (!batch->engine->reader) {
        *out = near >= ALONE;
        return CLEW_OK;
    }
    if (near < TOGETHER) {
        status = ask(batch, one, ended, n, &word, err);
    }
    *out = near + WORD * word >= TOGETHER;
    return status;
}
