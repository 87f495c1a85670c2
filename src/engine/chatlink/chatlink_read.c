/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_read.c - one matter in two chats. See chatlink_read.h.
 *
 * A pair takes the reader some ten milliseconds, so few are read: the
 * stretches of earlier chats that share the most telling words with the new
 * chat's beginning. Everything is looked up and read twice, before the writer
 * is taken and inside; the second time the reader's answers are known, as they
 * are when the chat goes on and nothing new is seen of its beginning
 * (verdicts.h).
 */
#include "engine/chatlink/chatlink_read.h"

#include "base/clock.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_near.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/read/sense.h"
#include "engine/read/verdicts.h"

#include <math.h>
#include <string.h>

/* A link is made or stays, is certain: chosen on the dev worlds
 * (docs/quality/reading.md). */
#define LINK_AT 0.95
#define LINK_AT_FIRST 0.955 /* by one turn alone */
#define SURE_AT 0.97
/* Where words are so sure, the reader need not be. */
#define WORDS_SURE 0.93
#define LINK_AT_SURE 0.65
/* Of a beginning with fewer telling words ("and on Thursday?") it says nothing:
 * what words made of how it leans on the talk before stays. */
#define LEAST_WORDS 3
/* Below this a link that words have just made is not even told. */
#define TELL_AT 0.70

/* The beginning of a chat: turns of people among its first. */
#define FIRST_TURNS 8
#define BEGINNING 3
/* Earlier chats that are looked at, and their last turns. */
#define MAX_CHATS 8
#define LAST_TURNS 24
/* A stretch, and how far the next begins behind it. */
#define STRETCH 4
#define STEP 3
#define MAX_STRETCHES (MAX_CHATS * (LAST_TURNS / STEP + 1))
/* Stretches that are read, in all and of one chat. */
#define READ_IN_ALL 6
#define READ_PER_CHAT 2
/* Of 230 stretches of the dev worlds that shared less the reader took none
 * for one matter: they are not read. */
#define LEAST_SHARED 6.0
/* More than any words weigh. */
#define JOINED_WEIGHT 1e6
/* Telling words of a beginning: bits of a mask. */
#define MAX_WORDS 64
/* Bytes of a turn that are shown: more than the reader's tokens hold. */
#define TURN_BYTES 1200
/* What one analysis works in. */
#define SCRATCH_BYTES ((size_t)64 << 20)

struct candidate {
    const struct chat_profile *profile;
    double score;    /* by words */
    double matter;   /* by the reader; < 0 if it was not asked */
    bool is_joined;  /* by words, now or when the chat began */
    bool is_through; /* its talk went on in another that is joined now */
};

struct stretch {
    size_t chat; /* whose, in candidates */
    struct str text;
    double shared; /* weight of the words shared with the beginning */
};

struct work {
    struct engine *engine;
    const struct task *task;
    struct arena *arena;
    int64_t now_ms;
    struct uuid chat_id;
    int64_t tenant;
    struct batch_work batch;
    bool is_of_joined; /* only what words have joined is read */
    /* what was looked up */
    struct chat chat;
    struct chatlink_tuning tuning;
    struct turn *last; /* of the beginning */
    size_t n_said;     /* turns of it */
    struct str beginning;
    struct chatlink_term words[MAX_WORDS];
    size_t n_words;
    struct candidate candidates[MAX_CHATS];
    size_t n_candidates;
    struct stretch stretches[MAX_STRETCHES];
    size_t n_stretches;
};

/* --- looking up --- */

static struct reader_said said_of(const struct turn *turn)
{
    return (struct reader_said){
        sense_speaker(turn->role == TURN_ASSISTANT, turn->name),
        str_sub(turn->text, 0, TURN_BYTES)};
}

/* The telling words of a turn, in `own`. */
static enum clew_status words_of(struct arena *own, const struct turn *turn,
                                 struct chatlink_turn *out,
                                 struct clew_error *err)
{
    struct analysis_options options = {.has_no_keywords = false};
    struct analysis analysis;
    enum clew_status status = analysis_run(
        own, str_sub(turn->text, 0, TURN_BYTES), &options, &analysis, err);

    if (status != CLEW_OK) {
        return status;
    }
    return chatlink_turn_of(own, &analysis, out) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

static void remember_words(struct work *work, const struct chatlink_turn *turn)
{
    for (size_t i = 0; i < turn->n_terms && work->n_words < MAX_WORDS; i++) {
        bool is_known = false;

        for (size_t k = 0; k < work->n_words && !is_known; k++) {
            is_known = work->words[k].hash == turn->terms[i].hash;
        }
        if (!is_known) {
            work->words[work->n_words++] = turn->terms[i];
        }
    }
}

/* Which words of the beginning a turn has. */
static uint64_t shared_with(const struct work *work,
                            const struct chatlink_turn *turn)
{
    uint64_t mask = 0;

    for (size_t k = 0; k < work->n_words; k++) {
        for (size_t i = 0; i < turn->n_terms; i++) {
            if (turn->terms[i].hash == work->words[k].hash) {
                mask |= (uint64_t)1 << k;
            }
        }
    }
    return mask;
}

static double weight_of(const struct work *work, uint64_t mask)
{
    double sum = 0;

    for (size_t k = 0; k < work->n_words; k++) {
        sum += mask & ((uint64_t)1 << k) ? (double)work->words[k].idf : 0;
    }
    return sum;
}

/* "ada: the boiler knocks assistant: since when?" */
static enum clew_status add_said(struct work *work, struct str *text,
                                 const struct turn *turn,
                                 struct clew_error *err)
{
    struct reader_said said = said_of(turn);
    const char *joined = arena_printf(
        work->arena, "%.*s%s%.*s: %.*s", (int)text->len, text->s ? text->s : "",
        text->len ? " " : "", (int)said.speaker.len, said.speaker.s,
        (int)said.text.len, said.text.s);

    if (!joined) {
        return clew_no_memory(err);
    }
    *text = str_of(joined);
    return CLEW_OK;
}

static enum clew_status read_beginning(struct work *work, struct arena *own,
                                       struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status =
        turn_list_line(work->batch.tx, work->arena, &work->chat_id,
                       work->chat.fork_seq, FIRST_TURNS, &turns, &count, err);

    for (size_t i = 0;
         i < count && work->n_said < BEGINNING && status == CLEW_OK; i++) {
        struct chatlink_turn words;

        if (turns[i].role != TURN_USER) {
            continue;
        }
        work->n_said++;
        work->last = &turns[i];
        status = add_said(work, &work->beginning, &turns[i], err);
        if (status == CLEW_OK) {
            status = words_of(own, &turns[i], &words, err);
        }
        if (status == CLEW_OK) {
            remember_words(work, &words);
        }
        arena_clear(own);
    }
    return status;
}

/* The stretches of one earlier chat. */
static enum clew_status read_earlier(struct work *work, struct arena *own,
                                     size_t chat, struct clew_error *err)
{
    struct turn *turns = NULL;
    uint64_t masks[LAST_TURNS] = {0};
    size_t count = 0;
    enum clew_status status = turn_list_last(
        work->batch.tx, work->arena, &work->candidates[chat].profile->chat_id,
        LAST_TURNS, &turns, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct chatlink_turn words;

        status = words_of(own, &turns[i], &words, err);
        if (status == CLEW_OK) {
            masks[i] = shared_with(work, &words);
        }
        arena_clear(own);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i += STEP) {
        struct stretch *stretch = &work->stretches[work->n_stretches++];
        uint64_t mask = 0;

        *stretch = (struct stretch){.chat = chat};
        for (size_t k = i; k < count && k < i + STRETCH && status == CLEW_OK;
             k++) {
            mask |= masks[k];
            status = add_said(work, &stretch->text, &turns[k], err);
        }
        /* what words join already is read before anything else */
        stretch->shared =
            weight_of(work, mask) +
            (work->candidates[chat].is_joined ? JOINED_WEIGHT : 0);
    }
    return status;
}

/* What words have joined stays to be judged, though with all that came since
 * they would not join it any more. */
static enum clew_status mark_joined(struct work *work, struct clew_error *err)
{
    struct chatlink_decision *decisions = NULL;
    size_t count = 0;
    enum clew_status status = chatlink_decision_of_chat(
        work->batch.tx, work->arena, &work->chat_id, &decisions, &count, err);

    for (size_t i = 0; i < work->n_candidates; i++) {
        struct candidate *candidate = &work->candidates[i];

        candidate->is_joined = candidate->score > work->tuning.threshold;
        for (size_t k = 0; k < count; k++) {
            candidate->is_joined |= chatlink_decision_is_link(&decisions[k]) &&
                                    uuid_eq(&decisions[k].other_chat_id,
                                            &candidate->profile->chat_id);
        }
    }
    return status;
}

static enum clew_status find_candidates(struct work *work,
                                        struct clew_error *err)
{
    struct chatlink_near near;
    enum clew_status status = chatlink_near_load(
        work->engine, work->batch.tx, work->arena, &work->chat_id, &near, err);

    /* what a language model said of the chat stands */
    if (status != CLEW_OK || near.profile.state == CHAT_PROFILE_TOLD) {
        return status;
    }
    work->tuning = near.tuning;
    for (size_t i = 0; i < near.scores.count && i < MAX_CHATS; i++) {
        work->candidates[work->n_candidates++] =
            (struct candidate){.profile = near.scores.items[i].profile,
                               .score = near.scores.items[i].score,
                               .matter = -1};
    }
    return mark_joined(work, err);
}

/* --- reading --- */

/* The best stretch that was not taken, or NULL; ties go to the likelier chat.
 */
static struct stretch *next_best(struct work *work, const bool *is_taken,
                                 const size_t *per_chat)
{
    struct stretch *best = NULL;

    for (size_t i = 0; i < work->n_stretches; i++) {
        struct stretch *it = &work->stretches[i];

        if (!is_taken[i] && it->shared >= LEAST_SHARED &&
            per_chat[it->chat] < READ_PER_CHAT &&
            (!best || it->shared > best->shared)) {
            best = it;
        }
    }
    return best;
}

/* The reader's word on one stretch of an earlier chat; where another of the
 * same chat made it certain, this one cannot change anything. */
static enum clew_status read_stretch(struct work *work,
                                     const struct stretch *stretch,
                                     struct clew_error *err)
{
    struct candidate *candidate = &work->candidates[stretch->chat];
    struct reader_pair pair = {work->beginning, stretch->text};
    struct reader_verdict verdict;

    if (candidate->matter >= SURE_AT) {
        return CLEW_OK;
    }
    if (verdicts_compare(work->engine->verdicts, work->engine->reader,
                         work->tenant, READER_MATTER, &pair,
                         &verdict) != CLEW_OK) {
        return clew_no_memory(err);
    }
    candidate->matter = fmax(candidate->matter, (double)verdict.p[0]);
    return CLEW_OK;
}

static enum clew_status read_best(struct work *work, struct clew_error *err)
{
    bool is_taken[MAX_STRETCHES] = {false};
    size_t per_chat[MAX_CHATS] = {0};
    enum clew_status status = CLEW_OK;

    for (size_t n = 0; n < READ_IN_ALL && status == CLEW_OK; n++) {
        struct stretch *best = next_best(work, is_taken, per_chat);

        if (!best || (work->is_of_joined && best->shared < JOINED_WEIGHT)) {
            break;
        }
        is_taken[best - work->stretches] = true;
        per_chat[best->chat]++;
        status = read_stretch(work, best, err);
    }
    return status;
}

/* Everything up to the reader's word, in the transaction of `tx`. */
static enum clew_status look(struct work *work, struct store_tx *tx,
                             struct clew_error *err)
{
    struct arena own;
    enum clew_status status;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    work->last = NULL;
    work->beginning = (struct str){NULL, 0};
    work->n_said = work->n_words = 0;
    work->n_candidates = work->n_stretches = 0;
    status = chat_find(tx, work->arena, &work->chat_id, &work->chat, err);
    if (status == CLEW_OK) {
        status = find_candidates(work, err);
    }
    if (status != CLEW_OK || work->n_candidates == 0) {
        return status;
    }
    arena_init(&own, SCRATCH_BYTES);
    status = read_beginning(work, &own, err);
    for (size_t i = 0;
         i < work->n_candidates && work->last && status == CLEW_OK; i++) {
        status = read_earlier(work, &own, i, err);
    }
    arena_release(&own);
    return status == CLEW_OK && work->last ? read_best(work, err) : status;
}

/* --- what follows --- */

static enum clew_status write_decision(struct work *work,
                                       struct chatlink_decision *decision,
                                       const struct candidate *candidate,
                                       bool was_link, bool is_link,
                                       struct clew_error *err)
{
    struct chatlink_verdict verdict = {
        .is_link = is_link,
        .confidence = !is_link || candidate->matter >= SURE_AT
                          ? CHATLINK_HIGH
                          : CHATLINK_UNCERTAIN};
    enum clew_status status = chatlink_decision_note(
        decision, work->arena, "matter", json_score(candidate->matter), err);

    chatlink_decision_set(decision, &verdict, NULL);
    decision->turn_id = work->last->id;
    decision->seq = work->last->seq;
    decision->updated_at_ms = work->last->created_at_ms;
    if (status == CLEW_OK) {
        status = chatlink_decision_put(work->batch.tx, decision, err);
    }
    if (status == CLEW_OK && is_link != was_link) {
        status = chat_profile_settle(work->batch.tx, work->arena,
                                     &work->chat_id, is_link, err);
    }
    return status == CLEW_OK ? chatlink_apply(&work->batch, decision, was_link,
                                              work->now_ms, err)
                             : status;
}

/* So sure the reader must be that the chats belong together. */
static double least_for(const struct work *work,
                        const struct candidate *candidate, bool was_link)
{
    if (was_link && work->n_words < LEAST_WORDS) {
        return 0;
    }
    if (candidate->score >= WORDS_SURE) {
        return LINK_AT_SURE;
    }
    return work->n_said == 1 && !was_link ? LINK_AT_FIRST : LINK_AT;
}

/*
 * A matter that went from chat to chat is taken up where it stands: the chat
 * before the last is joined with the last already, and reached through it.
 */
static enum clew_status find_through(struct work *work, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->n_candidates && status == CLEW_OK; i++) {
        const struct candidate *last = &work->candidates[i];
        struct chatlink_decision *decisions = NULL;
        size_t count = 0;

        if (last->matter < least_for(work, last, false)) {
            continue;
        }
        status = chatlink_decision_of_chat(work->batch.tx, work->arena,
                                           &last->profile->chat_id, &decisions,
                                           &count, err);
        for (size_t k = 0; k < count && status == CLEW_OK; k++) {
            for (size_t c = 0; c < work->n_candidates; c++) {
                work->candidates[c].is_through |=
                    chatlink_decision_is_link(&decisions[k]) &&
                    uuid_eq(&work->candidates[c].profile->chat_id,
                            &decisions[k].other_chat_id);
            }
        }
    }
    return status;
}

static enum clew_status settle(struct work *work,
                               const struct candidate *candidate,
                               struct clew_error *err)
{
    struct chatlink_decision decision;
    struct uuid id = chatlink_decision_id(
        work->chat.created_at_ms, &work->chat_id, &candidate->profile->chat_id);
    enum clew_status status = chatlink_decision_find(
        work->batch.tx, work->arena, &id, &decision, err);
    bool was_link = status == CLEW_OK && chatlink_decision_is_link(&decision);
    bool is_link = !candidate->is_through &&
                   candidate->matter >= least_for(work, candidate, was_link);

    if (status == CLEW_NOT_FOUND) {
        if (!is_link) {
            return CLEW_OK;
        }
        decision = (struct chatlink_decision){
            .id = id,
            .user_id = work->last->user_id,
            .chat_id = work->chat_id,
            .other_chat_id = candidate->profile->chat_id,
            .algorithmic = candidate->score,
            .threshold = work->tuning.threshold,
            .created_at_ms = work->last->created_at_ms};
        status = CLEW_OK;
    } else if (status == CLEW_OK &&
               (decision.llm >= 0 ||
                str_eq(decision.outcome_by, STR("feedback")))) {
        return CLEW_OK;
    }
    return status == CLEW_OK ? write_decision(work, &decision, candidate,
                                              was_link, is_link, err)
                             : status;
}

/* --- the task --- */

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    return look(arg, tx, err);
}

static enum clew_status do_write(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = look(work, tx, err);

    if (status == CLEW_NOT_FOUND) {
        work->n_candidates = 0; /* forgotten meanwhile */
        status = CLEW_OK;
    }
    if (status == CLEW_OK) {
        status = find_through(work, err);
    }
    for (size_t i = 0; i < work->n_candidates && status == CLEW_OK; i++) {
        if (work->candidates[i].matter >= 0) {
            status = settle(work, &work->candidates[i], err);
        }
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

/* What was told as made by words, if the reader does not see it at all. */
static void doubt(const struct work *work, struct chatlink_update *told)
{
    for (size_t i = 0; i < work->n_candidates; i++) {
        const struct candidate *candidate = &work->candidates[i];
        double least = fmin(TELL_AT, least_for(work, candidate, true));

        if (uuid_eq(&candidate->profile->chat_id, &told->other_chat_id) &&
            candidate->matter >= 0 && candidate->matter < least) {
            told->decision = "no_link";
            told->confidence = "uncertain";
        }
    }
}

static bool is_told(const struct chatlink_update *told)
{
    return strcmp(told->decision, "link") == 0;
}

/* Episodes over several chats come of links alone. */
static void drop_joined(struct updates *updates)
{
    size_t n = 0;

    for (size_t i = 0; i < updates->n_links; i++) {
        if (is_told(&updates->links[i])) {
            return;
        }
    }
    for (size_t i = 0; i < updates->n_episodes; i++) {
        if (strcmp(updates->episodes[i].type, "cross_chat") != 0) {
            updates->episodes[n++] = updates->episodes[i];
        }
    }
    updates->n_episodes = n;
}

enum clew_status chatlink_read_told(struct engine *engine,
                                    const struct scope *scope,
                                    struct arena *arena,
                                    struct updates *updates,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < updates->n_links && status == CLEW_OK; i++) {
        struct chatlink_update *told = &updates->links[i];
        struct work *work;

        if (!engine->reader || !is_told(told)) {
            continue;
        }
        work = arena_zero(arena, 1, sizeof(*work));
        if (!work) {
            return clew_no_memory(err);
        }
        work->engine = engine;
        work->arena = arena;
        work->now_ms = clock_now_ms(engine->clock);
        work->tenant = scope->tenant;
        work->chat_id = told->chat_id;
        work->is_of_joined = true;
        status = store_read(engine->store, scope, do_look, work, err);
        if (status == CLEW_OK) {
            doubt(work, told);
            drop_joined(updates);
        }
    }
    return status;
}

enum clew_status chatlink_read_task(struct engine *engine,
                                    const struct task *task,
                                    struct arena *arena, struct clew_error *err)
{
    struct work *work = arena_zero(arena, 1, sizeof(*work));
    enum clew_status status;

    if (!work) {
        return clew_no_memory(err);
    }
    work->engine = engine;
    work->task = task;
    work->tenant = task->scope.tenant;
    work->arena = arena;
    work->now_ms = clock_now_ms(engine->clock);
    status = task_get_id(task, "chat_id", &work->chat_id, err);
    if (status != CLEW_OK || !engine->reader) {
        return status;
    }
    status = store_read(engine->store, &task->scope, do_look, work, err);
    if (status == CLEW_OK || status == CLEW_NOT_FOUND) {
        status = commit_write(engine, &task->scope, do_write, work,
                              &work->batch, err);
    }
    return status;
}
