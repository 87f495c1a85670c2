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
#include "engine/chatlink/chatlink_later.h"
#include "engine/chatlink/chatlink_read.h"

#include "base/clock.h"
#include "base/crew.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_assess.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_near.h"
#include "engine/chatlink/chatlink_odds.h"
#include "engine/chatlink/shared_words.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/read/sense.h"
#include "engine/read/verdicts.h"
#include "store/db.h"

#include <math.h>
#include <string.h>

DB_SQL(SELECT_CHANGE, "SELECT change_seq FROM turns WHERE tenant = $1"
                      " AND chat_id = $2 AND seq <= $3"
                      " ORDER BY seq DESC LIMIT 1");
DB_SQL(SELECT_SEQ, "SELECT seq FROM turns WHERE tenant = $1 AND chat_id = $2"
                   " AND change_seq <= $3 ORDER BY seq DESC LIMIT 1");

/* So likely (chatlink_odds.h) a link is made or stays, and is certain: of the
 * latter four in five are right (docs/quality/reading.md). */
#define LINK_AT 0.57
#define LINK_AT_FIRST 0.60 /* by one turn alone */
#define LINK_SURE 0.60
/* So sure the reader is of one matter that it need not look on. */
#define SURE_AT 0.97
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
/* Bytes of a turn that are shown: more than the reader's tokens hold. */
#define TURN_BYTES 1200
/* What one analysis works in. */
#define SCRATCH_BYTES ((size_t)64 << 20)

struct candidate {
    const struct chat_profile *profile;
    double score;    /* by words */
    double matter;   /* by the reader; < 0 if it was not asked */
    double shared;   /* of its best stretch */
    size_t n_before; /* 1: the chat before this one; see chatlink_odds.h */
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
    bool has_decided;  /* something is on record of the chat */
    bool is_of_joined; /* only what words have joined is read */
    int64_t wait_ms;   /* until it may be looked; 0: it may */
    int64_t to_seq;    /* the turn that asked; later ones are not seen */
    int64_t to_change; /* … by its place among all */
    /* what was looked up */
    struct chat chat;
    struct chatlink_tuning tuning;
    struct turn *last; /* of the beginning */
    size_t n_said;     /* turns of it */
    struct str beginning;
    struct shared_words words; /* of the beginning */
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

    for (size_t i = 0; i < count && turns[i].seq <= work->to_seq &&
                       work->n_said < BEGINNING && status == CLEW_OK;
         i++) {
        struct chatlink_turn words;

        if (turns[i].role != TURN_USER) {
            continue;
        }
        work->n_said++;
        work->last = &turns[i];
        status = add_said(work, &work->beginning, &turns[i], err);
        if (status == CLEW_OK) {
            status = shared_words_of(own, said_of(&turns[i]).text, &words, err);
        }
        if (status == CLEW_OK) {
            shared_words_add(&work->words, &words);
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
    const struct uuid *id = &work->candidates[chat].profile->chat_id;
    int64_t to_seq = INT64_MAX;
    enum clew_status status = CLEW_OK;

    if (work->to_change < INT64_MAX) {
        status = rows_number(work->batch.tx, &SELECT_SEQ,
                             DB_ARGS(db_uuid(id), db_int(work->to_change)),
                             &to_seq, err);
    }
    if (status == CLEW_OK) {
        status = turn_list_until(work->batch.tx, work->arena, id, to_seq,
                                 LAST_TURNS, &turns, &count, err);
    }

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct chatlink_turn words;

        status = shared_words_of(own, said_of(&turns[i]).text, &words, err);
        if (status == CLEW_OK) {
            masks[i] = shared_words_in(&work->words, &words);
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
        stretch->shared = shared_words_weight(&work->words, mask);
        work->candidates[chat].shared =
            fmax(work->candidates[chat].shared, stretch->shared);
        /* what words join already is read before anything else */
        stretch->shared += work->candidates[chat].is_joined ? JOINED_WEIGHT : 0;
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

    work->has_decided = count > 0;
    for (size_t i = 0; i < work->n_candidates; i++) {
        struct candidate *candidate = &work->candidates[i];

        candidate->is_joined = candidate->score > work->tuning.threshold;
        for (size_t k = 0; k < count; k++) {
            candidate->is_joined |= chatlink_decision_is_link(&decisions[k]) &&
                                    decisions[k].seq <= work->to_seq &&
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
    enum clew_status status =
        chatlink_near_load(work->engine, work->batch.tx, work->arena,
                           &work->chat_id, work->to_seq, &near, err);

    /* what a language model said of the chat stands */
    if (status != CLEW_OK || near.profile.state == CHAT_PROFILE_TOLD) {
        return status;
    }
    work->tuning = near.tuning;
    for (size_t i = 0; i < near.scores.count && i < MAX_CHATS; i++) {
        work->candidates[work->n_candidates++] =
            (struct candidate){.profile = near.scores.items[i].profile,
                               .score = near.scores.items[i].score,
                               .n_before = chatlink_near_place(&near, i),
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

/* Stretches that are read side by side. */
struct taken {
    struct work *work;
    const struct stretch *items[READ_IN_ALL];
    struct reader_verdict verdicts[READ_IN_ALL];
    enum clew_status status[READ_IN_ALL];
    size_t count;
};

static void read_stretch(void *arg, size_t step)
{
    struct taken *taken = arg;
    struct work *work = taken->work;
    struct reader_pair pair = {work->beginning, taken->items[step]->text};

    taken->status[step] = verdicts_compare(
        work->engine->verdicts, work->engine->reader, work->tenant,
        READER_MATTER, &pair, &taken->verdicts[step]);
}

static enum clew_status read_taken(struct taken *taken, struct clew_error *err)
{
    struct work *work = taken->work;

    crew_run(engine_crew(work->engine), read_stretch, taken, taken->count);
    for (size_t i = 0; i < taken->count; i++) {
        struct candidate *candidate = &work->candidates[taken->items[i]->chat];

        if (taken->status[i] != CLEW_OK) {
            return clew_no_memory(err);
        }
        candidate->matter =
            fmax(candidate->matter, (double)taken->verdicts[i].p[0]);
    }
    return CLEW_OK;
}

/* The reader's word on the best stretches: the best of each chat, and then the
 * next of those that it did not make certain. */
static enum clew_status read_best(struct work *work, struct clew_error *err)
{
    bool is_taken[MAX_STRETCHES] = {false};
    size_t per_chat[MAX_CHATS] = {0};
    struct taken first = {.work = work};
    struct taken second = {.work = work};
    struct taken rest = {.work = work};
    enum clew_status status;

    for (size_t n = 0; n < READ_IN_ALL; n++) {
        struct stretch *best = next_best(work, is_taken, per_chat);
        struct taken *to;

        if (!best || (work->is_of_joined && best->shared < JOINED_WEIGHT)) {
            break;
        }
        is_taken[best - work->stretches] = true;
        to = per_chat[best->chat]++ == 0 ? &first : &second;
        to->items[to->count++] = best;
    }
    status = read_taken(&first, err);
    for (size_t i = 0; i < second.count; i++) {
        if (work->candidates[second.items[i]->chat].matter < SURE_AT) {
            rest.items[rest.count++] = second.items[i];
        }
    }
    return status == CLEW_OK ? read_taken(&rest, err) : status;
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
    work->n_said = work->words.count = 0;
    work->n_candidates = work->n_stretches = 0;
    status = chat_find(tx, work->arena, &work->chat_id, &work->chat, err);
    if (status == CLEW_OK && work->to_seq < INT64_MAX) {
        status =
            rows_number(tx, &SELECT_CHANGE,
                        DB_ARGS(db_uuid(&work->chat_id), db_int(work->to_seq)),
                        &work->to_change, err);
    }
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
    if (!work->last) {
        work->n_candidates = 0; /* nobody said anything, or it is forgotten */
    }
    return status == CLEW_OK && work->last ? read_best(work, err) : status;
}

/* --- what follows --- */

/* How likely the chats belong together; < 0 if the reader was not asked. */
static double odds_of(const struct work *work,
                      const struct candidate *candidate)
{
    struct chatlink_signs signs = {.matter = candidate->matter,
                                   .shared = candidate->shared,
                                   .n_words = work->words.count,
                                   .n_candidates = work->n_candidates,
                                   .n_before = candidate->n_before};

    return candidate->matter < 0 ? -1 : chatlink_odds(&signs);
}

static bool belongs(const struct work *work, const struct candidate *candidate,
                    bool was_link)
{
    double odds = odds_of(work, candidate);

    if (was_link && work->words.count < LEAST_WORDS) {
        return odds >= 0;
    }
    return odds >= (work->n_said == 1 && !was_link ? LINK_AT_FIRST : LINK_AT);
}

static enum clew_status write_decision(struct work *work,
                                       struct chatlink_decision *decision,
                                       const struct candidate *candidate,
                                       bool was_link, bool is_link,
                                       struct clew_error *err)
{
    double matter = candidate->matter;
    double odds = odds_of(work, candidate);
    bool is_sure = is_link ? odds >= LINK_SURE : odds >= 0;
    struct chatlink_verdict verdict = {
        .is_link = is_link,
        .confidence = is_sure ? CHATLINK_HIGH : CHATLINK_UNCERTAIN};
    enum clew_status status = chatlink_decision_note(
        decision, work->arena, "matter",
        matter < 0 ? json_null() : json_score(matter), err);

    if (status == CLEW_OK) {
        status = chatlink_decision_note(
            decision, work->arena, "odds",
            odds < 0 ? json_null() : json_score(odds), err);
    }
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

        if (!belongs(work, last, false)) {
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

/* By the reader, or by words where it read none: of a chat of which nothing is
 * on record yet this one is, also where nothing comes of it. */
static const struct candidate *likeliest(const struct work *work)
{
    const struct candidate *best = work->candidates;

    for (size_t i = 1; i < work->n_candidates; i++) {
        if (work->candidates[i].matter > best->matter) {
            best = &work->candidates[i];
        }
    }
    return best;
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
    bool is_new = status == CLEW_NOT_FOUND;
    bool was_link = status == CLEW_OK && chatlink_decision_is_link(&decision);
    bool is_link = !candidate->is_through && belongs(work, candidate, was_link);

    if (is_new) {
        if (!is_link && (work->has_decided || candidate != likeliest(work))) {
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
               (candidate->matter < 0 || decision.llm >= 0 ||
                (was_link && decision.seq > work->to_seq) ||
                chatlink_decision_is_said(&decision))) {
        return CLEW_OK; /* a later turn's link is for its own task */
    }
    if (status == CLEW_OK) {
        status =
            write_decision(work, &decision, candidate, was_link, is_link, err);
    }
    return status == CLEW_OK && is_new && (is_link || work->n_said == 1)
               ? chatlink_assess_later(&work->batch, &id, work->last->seq,
                                       work->now_ms, err)
               : status;
}

/* --- the task --- */

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    return look(arg, tx, err);
}

static enum clew_status do_put_off(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    const struct work *work = arg;

    return task_put_off(tx, work->task, work->now_ms + work->wait_ms, err);
}

/* Look, unless it is too early; a log is replayed as it was. */
static enum clew_status do_look_if_due(struct store_tx *tx, void *arg,
                                       struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = CLEW_OK;

    if (!work->engine->replay) {
        status =
            chatlink_read_wait(tx, work->arena, &work->chat_id, work->to_seq,
                               work->now_ms, &work->wait_ms, err);
    }
    return status == CLEW_OK && work->wait_ms == 0 ? look(work, tx, err)
                                                   : status;
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
        status = settle(work, &work->candidates[i], err);
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
        double least = work->words.count < LEAST_WORDS ? 0 : TELL_AT;

        if (uuid_eq(&candidate->profile->chat_id, &told->other_chat_id) &&
            candidate->matter >= 0 && candidate->matter < least) {
            told->decision = "no_link";
            told->confidence = "uncertain";
        }
    }
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

        if (!engine->reader || !chatlink_is_told(told)) {
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
        work->to_seq = work->to_change = INT64_MAX;
        work->is_of_joined = true;
        status = store_read(engine->store, scope, do_look, work, err);
        if (status == CLEW_OK) {
            doubt(work, told);
            chatlink_untell_joined(updates);
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
    work->to_seq = task_key_seq(task->unique_key);
    work->to_change = INT64_MAX;
    status = task_get_id(task, "chat_id", &work->chat_id, err);
    if (status != CLEW_OK || !engine->reader) {
        return status;
    }
    status = store_read(engine->store, &task->scope, do_look_if_due, work, err);
    if (work->wait_ms > 0) {
        return store_write(engine->store, &task->scope, do_put_off, work, err);
    }
    if (status == CLEW_OK || status == CLEW_NOT_FOUND) {
        status = commit_write(engine, &task->scope, do_write, work,
                              &work->batch, err);
    }
    return status;
}
