/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink.c - a turn's step through linking. See chatlink.h.
 */
#include "engine/chatlink.h"

#include "base/buf.h"
#include "engine/chat_profile.h"
#include "engine/chatlink_score.h"
#include "engine/engine.h"
#include "engine/episode.h"
#include "engine/link_decision.h"
#include "engine/link_tuning.h"
#include "engine/task.h"
#include "engine/work.h"
#include "model/embed.h"

#include <string.h>

/* A profile of a chat that a person picked is kept up only this often past its
 * beginning: nothing is decided by it turn by turn. */
#define EXPLICIT_TURNS 30
#define EXPLICIT_EVERY 10
/* Turns after a decision that still tell how it went. */
#define OUTCOME_TURNS 8
/* Candidates and features named in records. */
#define SHOWN 3

static const char *const feature_names[CHATLINK_FEATURES] = {
    "shared words",         "shared nouns",      "its main words",
    "words of its end",     "shared numbers",    "things spoken of as known",
    "answers its question", "both ask",          "leans on something",
    "similar meaning",      "similar to its end"};
static const char *const none_names[CHATLINK_NONE_FEATURES] = {
    "opens a talk",           "greets",
    "asks for something new", "brings in something new",
    "much new matter",        "turns without a link"};

/* --- the profile -----------------------------------------------------------
 */

/* A chat's first own turn makes it. */
static bool may_have_profile(const struct turn_work *work)
{
    return work->turn->seq > work->placement->slot->chat.fork_seq + 1;
}

static enum clew_status load_profile(struct turn_work *work,
                                     struct chat_profile *out,
                                     struct clew_error *err)
{
    const struct chat *chat = &work->placement->slot->chat;
    struct batch_work *batch = work->batch;
    enum clew_status status = CLEW_NOT_FOUND;

    if (may_have_profile(work)) {
        status =
            chat_profile_load(batch->tx, batch->arena, &chat->id, out, err);
    }
    if (status == CLEW_NOT_FOUND) {
        status = chat_profile_init(out, batch->arena, &chat->id, chat->user_id,
                                   work->turn->created_at_ms,
                                   batch->engine->embedder->dim);
        return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
    }
    return status;
}

/* --- records ---------------------------------------------------------------
 */

static bool set_features(json_t *out, const char *field, const double *values,
                         const char *const *names, size_t count)
{
    json_t *list = json_object();
    bool is_ok = list != NULL;

    for (size_t i = 0; is_ok && i < count; i++) {
        is_ok = values[i] == 0 || json_set_score(list, names[i], values[i]);
    }
    return json_set(out, field, list) && is_ok;
}

/* Names of what was seen: a tuning may put them into the LLM's prompt. */
static json_t *seen_of(const struct chatlink_candidate *item)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (size_t i = 0; is_ok && i < CHATLINK_F_VECTOR; i++) {
        is_ok = item->features[i] < 0.3 ||
                json_array_append_new(list, json_string(feature_names[i])) == 0;
    }
    if (!is_ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *signals_of(const struct chatlink_candidate *item)
{
    json_t *out = json_object();

    if (out && json_set_real(out, "keyword", item->signals[0]) &&
        json_set_real(out, "entity", item->signals[1]) &&
        json_set_real(out, "topic", item->signals[2]) &&
        json_set_real(out, "recency", item->signals[3]) &&
        json_set_real(out, "belief", item->belief) &&
        json_set(out, "seen", seen_of(item))) {
        return out;
    }
    json_decref(out);
    return NULL;
}

static struct str text_of(struct arena *arena, json_t *json)
{
    struct str out = {NULL, 0};
    struct buf text;

    buf_init(&text, 1 << 20);
    if (json && json_write(&text, json) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(json);
    return out;
}

static json_t *shown_of(const struct chatlink_candidate *item)
{
    json_t *out = json_object();

    if (out && json_set_uuid(out, "chat_id", &item->profile->chat_id) &&
        json_set_score(out, "score", item->score) &&
        json_set_score(out, "belief", item->belief) &&
        json_set_score(out, "recency", item->signals[3]) &&
        set_features(out, "signals", item->features, feature_names,
                     CHATLINK_FEATURES)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

/* What was considered, for the turn's trace. */
static enum clew_status trace(struct turn_work *work,
                              const struct chatlink_scores *scores,
                              const struct link_tuning *tuning, bool is_link,
                              struct clew_error *err)
{
    json_t *out = json_object();
    json_t *list = json_array();
    bool is_ok = out && list;

    if (!work->trace) {
        json_decref(out);
        json_decref(list);
        return CLEW_OK;
    }
    for (size_t i = 0; is_ok && i < scores->count && i < SHOWN; i++) {
        is_ok = json_array_append_new(list, shown_of(&scores->items[i])) == 0;
    }
    is_ok = json_set(out, "considered", list) && is_ok &&
            json_set_cstr(out, "decision", is_link ? "link" : "no_link") &&
            json_set_score(out, "threshold", tuning->threshold) &&
            json_set_score(out, "none", scores->none_belief) &&
            set_features(out, "against", scores->none, none_names,
                         CHATLINK_NONE_FEATURES);
    return json_set(work->trace, "links", out) && is_ok ? CLEW_OK
                                                        : clew_no_memory(err);
}

/* --- deciding --------------------------------------------------------------
 */

static enum clew_status tell(struct turn_work *work,
                             const struct link_decision *decision)
{
    struct link_update update = {
        .id = decision->id,
        .chat_id = decision->chat_id,
        .other_chat_id = decision->other_chat_id,
        .decision = link_decision_is_link(decision) ? "link" : "no_link",
        .algorithmic = decision->algorithmic,
        .llm = decision->llm,
        .confidence = decision->confidence.s};

    return updates_add_link(work->updates, work->batch->arena, &update);
}

enum clew_status chatlink_apply(struct batch_work *batch,
                                const struct link_decision *decision,
                                bool was_link, int64_t now_ms,
                                struct clew_error *err)
{
    bool is_link = link_decision_is_link(decision);
    struct episode_join join = {.chat_id = decision->chat_id,
                                .other_chat_id = decision->other_chat_id,
                                .link_id = decision->id,
                                .source = decision->turn_id,
                                .time_ms = decision->updated_at_ms};
    struct uuid episode;
    bool is_new;

    if (is_link == was_link) {
        return CLEW_OK;
    }
    return is_link ? episode_join(batch, &join, &episode, &is_new, err)
                   : episode_part(batch, &decision->id, now_ms, err);
}

static enum clew_status join_chats(struct turn_work *work,
                                   const struct link_decision *decision,
                                   struct clew_error *err)
{
    struct episode_join join = {.chat_id = decision->chat_id,
                                .other_chat_id = decision->other_chat_id,
                                .link_id = decision->id,
                                .source = work->turn->id,
                                .time_ms = work->turn->created_at_ms};
    struct episode_update update = {.type = "cross_chat"};
    bool is_new = false;
    enum clew_status status =
        episode_join(work->batch, &join, &update.id, &is_new, err);

    if (status != CLEW_OK) {
        return status;
    }
    update.change = is_new ? "created" : "extended";
    return updates_add_episode(work->updates, work->batch->arena, &update);
}

/* An LLM is configured: ask it too, later. */
static enum clew_status ask_llm(struct turn_work *work,
                                const struct link_decision *decision,
                                struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    struct task_new task = {.kind = "link.assess",
                            .priority = 10,
                            .execute_at_ms = work->turn->stored_at_ms,
                            .now_ms = work->turn->stored_at_ms};
    char id[UUID_TEXT_SIZE];

    if (!batch->engine->llm) {
        return CLEW_OK;
    }
    uuid_format(&decision->id, id);
    task.unique_key = str_of(
        arena_printf(batch->arena, "%s:%lld", id, (long long)decision->seq));
    task.payload =
        str_of(arena_printf(batch->arena, "{\"link_id\":\"%s\"}", id));
    if (!task.unique_key.s || !task.payload.s) {
        return clew_no_memory(err);
    }
    return task_add(batch->tx, batch->arena, &task, err);
}

/* Write down one decision, and carry it out. */
static enum clew_status record(struct turn_work *work,
                               const struct chatlink_candidate *item,
                               const struct link_tuning *tuning, bool is_asked,
                               struct clew_error *err)
{
    const struct turn *turn = work->turn;
    struct batch_work *batch = work->batch;
    struct chatlink_verdict verdict =
        chatlink_decide(item->score, tuning->threshold, NULL, 1);
    struct link_decision decision = {.user_id = turn->user_id,
                                     .chat_id = turn->chat_id,
                                     .other_chat_id = item->profile->chat_id,
                                     .turn_id = turn->id,
                                     .seq = turn->seq,
                                     .algorithmic = item->score,
                                     .threshold = tuning->threshold,
                                     .created_at_ms = turn->created_at_ms,
                                     .updated_at_ms = turn->created_at_ms};
    enum clew_status status;

    /* equal for every turn that decides about this pair */
    decision.id = uuid_derive(
        work->placement->slot->chat.created_at_ms, &turn->chat_id, "link",
        str_hash((struct str){(const char *)item->profile->chat_id.b, 16}));
    link_decision_set(&decision, &verdict, NULL);
    decision.signals = text_of(batch->arena, signals_of(item));
    if (!decision.signals.s) {
        return clew_no_memory(err);
    }
    status = link_decision_put(batch->tx, &decision, err);
    if (status == CLEW_OK && verdict.is_link) {
        status = join_chats(work, &decision, err);
    }
    if (status == CLEW_OK && is_asked) {
        status = ask_llm(work, &decision, err);
    }
    return status == CLEW_OK ? tell(work, &decision) : status;
}

/* --- how it went -----------------------------------------------------------
 */

/* What a turn says of the last decision: -1 nothing, 0 wrong, 1 right. */
static int judgement(const struct chat_profile *profile,
                     const struct chatlink_turn *turn, bool is_user)
{
    bool is_linked = profile->state == CHAT_PROFILE_LINKED;

    if (!is_user) {
        return -1;
    }
    if (is_linked) {
        if (profile->n_turns <= profile->decided_turns) {
            return -1; /* the deciding turn itself */
        }
        return !(turn->cues & (CHATLINK_REJECTS | CHATLINK_SHIFTS));
    }
    if (turn->cues & CHATLINK_RECALLS) {
        return 0;
    }
    return profile->n_turns > CHATLINK_TURNS ? 1 : -1;
}

static enum clew_status infer_outcome(struct turn_work *work,
                                      struct chat_profile *profile,
                                      const struct chatlink_turn *turn,
                                      struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    int word = judgement(profile, turn, work->turn->role == TURN_USER);
    struct link_decision *decisions = NULL;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (word < 0 || profile->state == CHAT_PROFILE_SETTLED ||
        profile->n_turns > CHATLINK_TURNS + OUTCOME_TURNS) {
        return CLEW_OK;
    }
    status = link_decision_of_chat(
        batch->tx, batch->arena, &work->turn->chat_id, &decisions, &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        bool is_set;

        /* a link that was made settles the pairs that were not */
        if (link_decision_is_link(&decisions[i]) ==
            (profile->state == CHAT_PROFILE_LINKED)) {
            status = link_decision_judge(
                batch->tx, batch->arena, &decisions[i], word == 1, "inferred",
                work->turn->created_at_ms, &is_set, err);
        }
    }
    profile->state = CHAT_PROFILE_SETTLED;
    return status;
}

/* --- the step --------------------------------------------------------------
 */

static enum clew_status decide(struct turn_work *work,
                               struct chat_profile *profile,
                               struct clew_error *err)
{
    struct batch_work *batch = work->batch;
    struct chat_profile *earlier = NULL;
    struct chatlink_scores scores;
    struct link_tuning tuning;
    size_t n_earlier = 0;
    bool is_link;
    enum clew_status status = chat_profile_candidates(
        batch->tx, batch->arena, profile, &earlier, &n_earlier, err);

    if (status != CLEW_OK || n_earlier == 0) {
        return status;
    }
    status = link_tuning_current(batch->tx, batch->engine, batch->arena,
                                 &tuning, err);
    if (status != CLEW_OK) {
        return status;
    }
    profile->centre = batch->engine->embedder->centre;
    if (chatlink_score(batch->arena, profile, earlier, n_earlier,
                       &tuning.weights, NULL, &scores) != CLEW_OK) {
        return clew_no_memory(err);
    }
    is_link = scores.items[0].score > tuning.threshold;
    if (is_link) {
        profile->state = CHAT_PROFILE_LINKED;
        profile->decided_turns = profile->n_turns;
    }
    for (size_t i = 0; i < (is_link ? scores.n_group : 1) && status == CLEW_OK;
         i++) {
        status = record(work, &scores.items[i], &tuning,
                        profile->n_turns == 1 || is_link, err);
    }
    return status == CLEW_OK ? trace(work, &scores, &tuning, is_link, err)
                             : status;
}

static bool is_due(const struct chat *chat, const struct turn *turn)
{
    int64_t nth = turn->seq - chat->fork_seq;

    return !chat->is_explicit || nth <= EXPLICIT_TURNS ||
           nth % EXPLICIT_EVERY == 0;
}

/* Is this a turn that the chat is judged by? */
static bool is_looked_at(const struct turn_work *work)
{
    const struct turn *turn = work->turn;

    return (turn->role == TURN_USER || turn->role == TURN_ASSISTANT) &&
           is_due(&work->placement->slot->chat, turn);
}

enum clew_status chatlink_ahead(struct turn_work *work, struct clew_error *err)
{
    return is_looked_at(work) && may_have_profile(work)
               ? chat_profile_ahead(work->batch->tx, &work->turn->chat_id, err)
               : CLEW_OK;
}

enum clew_status chatlink_observe(struct turn_work *work,
                                  struct clew_error *err)
{
    const struct chat *chat = &work->placement->slot->chat;
    const struct turn *turn = work->turn;
    struct batch_work *batch = work->batch;
    struct chat_profile profile;
    struct chatlink_turn seen;
    enum clew_status status;

    if (!is_looked_at(work)) {
        return CLEW_OK;
    }
    status = load_profile(work, &profile, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (chatlink_turn_of(batch->arena, &work->reading->text.analysis, &seen) !=
        CLEW_OK) {
        return clew_no_memory(err);
    }
    chat_profile_add(&profile, &seen,
                     profile.dim == batch->engine->embedder->dim
                         ? work->reading->text.vector
                         : NULL,
                     turn->created_at_ms);
    if (!chat->is_explicit && uuid_is_nil(&chat->parent_id)) {
        status = infer_outcome(work, &profile, &seen, err);
        if (status == CLEW_OK && profile.state == CHAT_PROFILE_OPEN &&
            profile.n_turns <= CHATLINK_TURNS) {
            status = decide(work, &profile, err);
        }
    }
    return status == CLEW_OK
               ? chat_profile_save(batch->tx, batch->arena, &profile, err)
               : status;
}
