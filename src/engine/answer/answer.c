/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - from a question to an answer. See answer.h.
 */
#include "engine/answer/answer.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/utf8.h"
#include "engine/answer/answer_internal.h"
#include "engine/ask/search_tuning.h"
#include "engine/core/advice.h"
#include "engine/core/engine.h"
#include "talk/effort_words.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What is found for the question, and for a model, which can tell what answers;
 * for each question of the model's. */
#define FIRST_SOURCES 10
#define MODEL_SOURCES 16
#define MORE_SOURCES 2
/* Passages that are an answer by themselves. */
#define PASSAGES 3
/* … unless the first is so much likelier to be one. */
#define FAR_BEHIND 0.5
/* Recall's "maybe": below it nothing answers. */
#define PASSAGE_FLOOR SCORE_MAYBE
#define ANSWER_TOKENS 600
#define MORE_TOKENS 200
#define MAX_LINE_BYTES (32u * 1024)
#define MAX_QUESTION_BYTES 400
/* Answers on their way to a model at once: each holds a thread that waits. */
#define MAX_ASKING 64

static atomic_int n_asking;

/* Somebody waits for a reply, and not for ever. */
struct waiting {
    const struct answer_query *query;
    struct answer_reading *reading; /* NULL: the reply is taken whole */
    int64_t end_ns;
    bool is_late;
    bool is_left;
};

const char *answer_by_name(enum answer_by by)
{
    static const char *const names[] = {"nothing", "passages", "model"};

    return names[by];
}

const char *answer_fault_name(enum answer_fault fault)
{
    static const char *const names[] = {NULL, "uncited", "not_shown",
                                        "not_said"};

    return names[fault];
}

/* --- passages --------------------------------------------------------------
 */

static bool is_there(const struct answer *answer, const struct search_hit *hit)
{
    for (size_t i = 0; i < answer->n_sources; i++) {
        if (uuid_eq(&answer->sources[i].hit->item.id, &hit->item.id)) {
            return true;
        }
    }
    return false;
}

static struct str cut(struct str text)
{
    return utf8_head(text, ANSWER_SOURCE_BYTES);
}

/* Find, and add what is new; at most `limit`. The question asked before is no
 * source; but that it was found says that its words are known here. */
static enum clew_status find(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct answer_query *query,
                             struct str question, size_t limit,
                             struct answer *out, struct clew_error *err)
{
    struct search_query search = query->search;
    struct search_result found = {0};
    enum clew_status status;

    search.query = question;
    search.kinds = RECALL_TURN | RECALL_MEMORY;
    search.limit = limit;
    status = search_run(engine, scope, arena, &search, &found, err);
    if (status != CLEW_OK || found.answered == SEARCH_NO) {
        return status;
    }
    out->was_asked = out->was_asked || found.was_asked;
    if (found.answered > out->answered) {
        out->answered = found.answered;
    }
    for (size_t i = 0; i < found.count && out->n_sources < ANSWER_SOURCES &&
                       status == CLEW_OK;
         i++) {
        if (!found.hits[i].is_asking && !is_there(out, &found.hits[i])) {
            struct answer_source *source = &out->sources[out->n_sources++];

            *source = (struct answer_source){.hit = &found.hits[i],
                                             .text = cut(found.hits[i].text)};
            status = effort_words_meet(arena, question, source->text,
                                       &source->is_spoken_of);
        }
    }
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
}

/* Is the passage an answer by itself? Recall must believe in it, nearly as much
 * as in the best; and where one of those that still holds, or the same question
 * put before, has the question's words, one without any is beside the point,
 * unless recall is sure. What took another's place may well say it in words of
 * its own: "I report to Wilk" now, of my manager. */
static bool is_answer(const struct answer *answer, size_t at)
{
    double least =
        fmax(FAR_BEHIND * answer->sources[0].hit->item.score, PASSAGE_FLOOR);
    bool is_any_spoken_of =
        answer->was_asked && answer->sources[at].hit->item.score < SCORE_YES;

    for (size_t i = 0; i < answer->n_sources && i < PASSAGES; i++) {
        is_any_spoken_of |= answer->sources[i].is_spoken_of &&
                            !answer->sources[i].hit->is_superseded &&
                            answer->sources[i].hit->item.score >= least;
    }
    if (is_any_spoken_of && !answer->sources[at].is_spoken_of) {
        return false;
    }
    return at == 0 || answer->sources[at].hit->item.score >= least;
}

/* The best passages are the answer, each its own witness. */
static void answer_with_passages(const struct answer_query *query,
                                 struct answer *out, const char *reason)
{
    (void)snprintf(out->reason, sizeof(out->reason), "%s", reason);
    out->by = ANSWER_BY_PASSAGES;
    out->n_sentences = 0;
    for (size_t i = 0; i < out->n_sources && i < PASSAGES; i++) {
        struct answer_sentence *s = &out->sentences[out->n_sentences];

        if (!is_answer(out, i)) {
            continue;
        }
        out->n_sentences++;
        *s = (struct answer_sentence){
            .text = out->sources[i].text, .cites = {i}, .n_cites = 1};
        if (query->on_sentence) {
            query->on_sentence(query->arg, out, out->n_sentences - 1);
        }
    }
    if (out->n_sentences == 0) {
        out->by = ANSWER_BY_NOTHING;
        out->answered = SEARCH_NO;
    }
}

/* --- the model -------------------------------------------------------------
 */

static bool is_over(void *arg)
{
    struct waiting *waiting = arg;

    waiting->is_left =
        waiting->query->is_over && waiting->query->is_over(waiting->query->arg);
    waiting->is_late = clock_mono_ns() > waiting->end_ns;
    return waiting->is_left || waiting->is_late;
}

static bool on_piece(void *arg, struct str piece)
{
    struct waiting *waiting = arg;

    return !waiting->reading || answer_read_piece(waiting->reading, piece);
}

static enum clew_status talk(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct waiting *waiting,
                             const char *manual, int max_tokens,
                             const struct answer *answer,
                             struct llm_reply *out_reply,
                             struct clew_error *err)
{
    struct advice_talk asked = {
        .purpose = ANSWER_PURPOSE,
        .system = str_of(manual),
        .prompt = answer_prompt(arena, waiting->query, answer),
        .max_tokens = max_tokens,
        .on_piece = on_piece,
        .is_over = is_over,
        .arg = waiting};
    enum clew_status status;

    if (!asked.prompt.s) {
        return clew_no_memory(err);
    }
    waiting->end_ns = clock_mono_ns() +
                      config_int(engine->config, "llm.timeout_ms") * 1000000;
    status = advice_talk(engine, scope, arena, &asked, out_reply, err);
    if (status == CLEW_OK && waiting->is_late) {
        return clew_fail(err, CLEW_TIMEOUT, "the language model is too slow");
    }
    return status;
}

/* Its own questions, one a line. */
static void take_questions(struct str reply, struct answer *out)
{
    struct str line;

    while (out->n_questions < ANSWER_QUESTIONS &&
           str_split(&reply, '\n', &line)) {
        line = str_trim(line);
        if (line.len > 0 && line.len <= MAX_QUESTION_BYTES &&
            !str_eq(line, STR("NONE"))) {
            out->questions[out->n_questions++] = line;
        }
    }
}

/* One more round; a model that fails here may still answer. */
static enum clew_status find_more(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct answer_query *query,
                                  struct answer *out, struct clew_error *err)
{
    struct waiting waiting = {.query = query};
    struct llm_reply reply;
    enum clew_status status =
        talk(engine, scope, arena, &waiting, answer_more_manual, MORE_TOKENS,
             out, &reply, NULL);

    if (status == CLEW_OK) {
        take_questions(reply.text, out);
    }
    status = status == CLEW_NO_MEMORY ? clew_no_memory(err) : CLEW_OK;
    for (size_t i = 0; i < out->n_questions && status == CLEW_OK; i++) {
        status = find(engine, scope, arena, query, out->questions[i],
                      MORE_SOURCES, out, err);
    }
    return status;
}

/* What came of it, or what to say instead. */
static enum clew_status conclude(const struct answer_query *query,
                                 const struct answer_reading *reading,
                                 enum clew_status status, struct answer *out,
                                 struct clew_error *err)
{
    if (status == CLEW_NO_MEMORY || reading->status == CLEW_NO_MEMORY) {
        return clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        answer_with_passages(
            query, out, err->code[0] ? err->code : clew_status_code(status));
    } else if (reading->is_flood || reading->status != CLEW_OK) {
        answer_with_passages(query, out, clew_status_code(CLEW_UPSTREAM));
    } else if (reading->is_none) {
        out->by = ANSWER_BY_MODEL;
        out->answered = SEARCH_NO;
    } else if (out->n_sentences == 0) {
        answer_with_passages(query, out, "NO_ANSWER");
    } else {
        out->by = ANSWER_BY_MODEL;
    }
    return CLEW_OK;
}

static enum clew_status ask_model(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct answer_query *query,
                                  struct answer *out, struct clew_error *err)
{
    struct answer_reading reading = {
        .arena = arena, .query = query, .answer = out};
    struct waiting waiting = {.query = query, .reading = &reading};
    struct clew_error trouble = {0};
    struct llm_reply reply;
    enum clew_status status;

    buf_init(&reading.line, MAX_LINE_BYTES);
    status = talk(engine, scope, arena, &waiting, answer_manual, ANSWER_TOKENS,
                  out, &reply, &trouble);
    if (status == CLEW_OK && !reading.is_flood) {
        answer_read_end(&reading);
    }
    buf_release(&reading.line);
    if (trouble.status == CLEW_OK) {
        trouble.status = status;
    }
    status = conclude(query, &reading, status, out, &trouble);
    if (status != CLEW_OK && err) {
        *err = trouble;
    }
    return status;
}

/* --- all of it -------------------------------------------------------------
 */

static enum clew_status join(struct arena *arena, struct str question,
                             struct answer *out, struct clew_error *err)
{
    const char *between = out->by == ANSWER_BY_PASSAGES ? "\n" : " ";
    struct buf text;

    if (out->n_sentences == 0) {
        out->text = answer_nothing(arena, question);
        return CLEW_OK;
    }
    buf_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < out->n_sentences; i++) {
        /* the buffer remembers a failure */
        (void)buf_append_cstr(&text, i > 0 ? between : "");
        (void)buf_append_str(&text, out->sentences[i].text);
    }
    out->text = buf_status(&text) == CLEW_OK ? arena_str(arena, buf_str(&text))
                                             : (struct str){NULL, 0};
    buf_release(&text);
    return out->text.s ? CLEW_OK : clew_no_memory(err);
}

/* With passages at hand: by the model, if there is one and it has room. */
static enum clew_status say(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct answer_query *query,
                            struct answer *out, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (query->on_sources) {
        query->on_sources(query->arg, out);
    }
    if (!engine->llm) {
        answer_with_passages(query, out, "NO_MODEL");
    } else {
        status = ask_model(engine, scope, arena, query, out, err);
    }
    return status;
}

static enum clew_status run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct answer_query *query, bool has_room,
                            struct answer *out, struct clew_error *err)
{
    bool is_shown = engine->llm && has_room;
    enum clew_status status =
        find(engine, scope, arena, query, query->search.query,
             is_shown ? MODEL_SOURCES : FIRST_SOURCES, out, err);

    if (status == CLEW_OK && query->is_deep && is_shown) {
        status = find_more(engine, scope, arena, query, out, err);
    }
    if (status == CLEW_OK && out->n_sources > 0 && is_shown) {
        status = answer_look_around(engine, scope, arena, query, out, err);
    }
    if (status != CLEW_OK || out->n_sources == 0) {
        return status;
    }
    if (has_room) {
        return say(engine, scope, arena, query, out, err);
    }
    if (query->on_sources) {
        query->on_sources(query->arg, out);
    }
    answer_with_passages(query, out, clew_status_code(CLEW_BUSY));
    return CLEW_OK;
}

enum clew_status answer_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct answer_query *query,
                            struct answer *out, struct clew_error *err)
{
    bool has_room = atomic_fetch_add(&n_asking, 1) < MAX_ASKING;
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    status = run(engine, scope, arena, query, has_room, out, err);
    (void)atomic_fetch_sub(&n_asking, 1);
    return status == CLEW_OK ? join(arena, query->search.query, out, err)
                             : status;
}
