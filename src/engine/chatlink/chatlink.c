/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink.c - a turn's step through linking. See chatlink.h.
 */
#include "engine/chatlink/chatlink.h"

#include "base/buf.h"
#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/chatlink/chatlink_assess.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_later.h"
#include "engine/chatlink/chatlink_outcome.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/chatlink/chatlink_score.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/episode/episode.h"
#include "engine/read/reading.h"
#include "model/embed.h"

#include <string.h>

/* A profile of a chat that a person picked is kept up only this often past its
 * beginning: nothing is decided by it turn by turn. */
#define EXPLICIT_TURNS 30
#define EXPLICIT_EVERY 10
/* Turns of a chat when the reader compares its beginning a second time. */
#define READ_TURNS 5
/* Candidates and features named in records. */
#define SHOWN 3

static const char *const feature_names[CHATLINK_FEATURES] = {
    "shared words",         "shared nouns",
    "its main words",       "words of its end",
    "shared numbers",       "things spoken of as known",
    "answers its question", "both ask",
    "leans on something",   "an earlier talk is named",
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

/* A chat's profile from turn to turn of a batch: a row that every turn changes
 * is written once. */
struct kept_profile {
    struct work_cache cache; /* by chat */
    struct chat_profile profile;
    bool is_loaded;
    bool is_changed;
};

static struct kept_profile *kept_of(struct batch_work *batch,
                                    const struct uuid *chat_id)
{
    return work_cache_get(batch->arena, &batch->profiles, chat_id,
                          sizeof(struct kept_profile));
}

enum clew_status chatlink_finish(struct batch_work *batch,
                                 struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (struct work_cache *at = batch->profiles; at && status == CLEW_OK;
         at = at->next) {
        struct kept_profile *kept = (struct kept_profile *)at;

        if (kept->is_changed) {
            status =
                chat_profile_save(batch->tx, batch->arena, &kept->profile, err);
            kept->is_changed = false;
        }
    }
    return status;
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

/* Four numbers by their names. */
static json_t *four_of(const double values[4])
{
    json_t *out = json_object();

    if (out && json_set_real(out, "keyword", values[0]) &&
        json_set_real(out, "entity", values[1]) &&
        json_set_real(out, "topic", values[2]) &&
        json_set_real(out, "recency", values[3])) {
        return out;
    }
    json_decref(out);
    return NULL;
}

static json_t *signals_of(const struct chatlink_candidate *item,
                          const struct chatlink_weights *weights)
{
    const double weighed[4] = {weights->keyword, weights->entity,
                               weights->topic, weights->recency};
    const double shared[4] = {item->evidence[0], item->evidence[1],
                              item->evidence[2], item->signals[3]};
    json_t *out = four_of(item->signals);

    if (out && json_set(out, "weights", four_of(weighed)) &&
        json_set(out, "shared", four_of(shared)) &&
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
                              const struct chatlink_tuning *tuning,
                              bool is_link, struct clew_error *err)
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
                             const struct chatlink_decision *decision)
{
    struct chatlink_update update = {
        .id = decision->id,
        .chat_id = decision->chat_id,
        .other_chat_id = decision->other_chat_id,
        .decision = chatlink_decision_is_link(decision) ? "link" : "no_link",
        .algorithmic = decision->algorithmic,
        .llm = decision->llm,
        .confidence = decision->confidence.s};

    return updates_add_link(work->updates, work->batch->arena, &update);
}

/* Nothing follows from a link that may be wrong but the link. */
static bool is_sure(const struct chatlink_decision *decision)
{
    return str_eq(decision->confidence, STR("high")) ||
           chatlink_decision_is_said(decision);
}

enum clew_status chatlink_apply(struct batch_work *batch,
                                const struct chatlink_decision *decision,
                                bool was_link, int64_t now_ms,
                                struct clew_error *err)
{
    bool is_link = chatlink_decision_stands(decision);
    struct episode_join join = {.chat_id = decision->chat_id,
                                .other_chat_id = decision->other_chat_id,
                                .link_id = decision->id,
                                .source = decision->turn_id,
                                .time_ms = decision->updated_at_ms,
                                .is_sure = is_sure(decision)};
    struct uuid episode;
    bool is_new;

    if (is_link == was_link) {
        return CLEW_OK;
    }
    return is_link ? episode_join(batch, &join, &episode, &is_new, err)
                   : episode_part(batch, &decision->id, now_ms, err);
}

static enum clew_status join_chats(struct turn_work *work,
                                   const struct chatlink_decision *decision,
                                   bool is_both, struct clew_error *err)
{
    struct episode_join join = {.chat_id = decision->chat_id,
                                .other_chat_id = decision->other_chat_id,
                                .link_id = decision->id,
                                .source = work->turn->id,
                                .time_ms = work->turn->created_at_ms,
                                .is_sure = is_sure(decision),
                                .is_both = is_both};
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

/* A chat that its caller keeps apart, or names, is not given the other's talk,
 * so nobody waits for the link: the reader, who is right more often, makes it,
 * and words say nothing. */
static bool is_left_to_reader(const struct turn_work *work)
{
    const struct placement *placement = work->placement;

    return (placement->slot->chat.is_explicit ||
            placement->rule == PLACE_NAMED) &&
           work->batch->engine->reader;
}

/* Did a person say already how it is with this pair? */
static enum clew_status is_said(struct turn_work *work, const struct uuid *id,
                                bool *out, struct clew_error *err)
{
    struct chatlink_decision known;
    enum clew_status status = chatlink_decision_find(
        work->batch->tx, work->batch->arena, id, &known, err);

    *out = status == CLEW_OK && chatlink_decision_is_said(&known);
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

/* Write down one decision, and carry it out. */
static enum clew_status record(struct turn_work *work,
                               const struct chatlink_candidate *item,
                               const struct chatlink_tuning *tuning,
                               bool is_asked, bool is_both,
                               struct clew_error *err)
{
    const struct turn *turn = work->turn;
    struct batch_work *batch = work->batch;
    struct chatlink_verdict verdict =
        chatlink_decide(item->score, tuning->threshold, NULL, 1);
    struct chatlink_decision decision = {.user_id = turn->user_id,
                                         .chat_id = turn->chat_id,
                                         .other_chat_id =
                                             item->profile->chat_id,
                                         .turn_id = turn->id,
                                         .seq = turn->seq,
                                         .algorithmic = item->score,
                                         .threshold = tuning->threshold,
                                         .created_at_ms = turn->created_at_ms,
                                         .updated_at_ms = turn->created_at_ms};
    bool has_word = false;
    enum clew_status status = CLEW_OK;

    decision.id =
        chatlink_decision_id(work->placement->slot->chat.created_at_ms,
                             &turn->chat_id, &item->profile->chat_id);
    if (turn->seq > 1) {
        status = is_said(work, &decision.id, &has_word, err);
    }
    if (status != CLEW_OK || has_word) {
        return status;
    }
    chatlink_decision_set(&decision, &verdict, NULL);
    decision.signals =
        text_of(batch->arena, signals_of(item, &tuning->weights));
    if (!decision.signals.s) {
        return clew_no_memory(err);
    }
    status = chatlink_decision_put(batch->tx, &decision, err);
    if (status == CLEW_OK && verdict.is_link) {
        status = join_chats(work, &decision, is_both, err);
    }
    if (status == CLEW_OK && is_asked) {
        status = chatlink_assess_later(batch, &decision.id, turn->seq,
                                       turn->stored_at_ms, err);
    }
    return status == CLEW_OK ? tell(work, &decision) : status;
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
    struct chatlink_tuning tuning;
    size_t n_earlier = 0;
    bool is_link;
    /* those of the same batch are among them as they stand now */
    enum clew_status status = chatlink_finish(batch, err);

    if (status == CLEW_OK) {
        status = chat_profile_candidates(batch->tx, batch->arena, profile,
                                         &earlier, &n_earlier, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_decision_group(batch->tx, batch->arena, earlier,
                                         n_earlier, err);
    }
    if (status != CLEW_OK || n_earlier == 0) {
        return status;
    }
    status = chatlink_tuning_current(batch->tx, batch->engine, batch->arena,
                                     &tuning, err);
    if (status != CLEW_OK) {
        return status;
    }
    profile->centre = batch->engine->embedder->centre;
    if (chatlink_score(batch->arena, profile, earlier, n_earlier,
                       &tuning.weights, &scores) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (profile->n_turns == 1) {
        status = chatlink_outcome_of_left(work, earlier, n_earlier, err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    is_link = scores.items[0].score > tuning.threshold;
    if (is_link) {
        profile->state = CHAT_PROFILE_LINKED;
        profile->decided_turns = profile->n_turns;
    }
    for (size_t i = 0; i < (is_link ? scores.n_group : 1) && status == CLEW_OK;
         i++) {
        status = record(work, &scores.items[i], &tuning,
                        profile->n_turns == 1 || is_link,
                        is_link && scores.n_group > 1, err);
    }
    return status == CLEW_OK ? trace(work, &scores, &tuning, is_link, err)
                             : status;
}

/* "Didn't we talk about this?" in a chat that was kept apart: it may be joined
 * now; only if nothing is found was it wrong to the end. */
static enum clew_status reconsider(struct turn_work *work,
                                   struct chat_profile *profile,
                                   const struct chatlink_turn *turn,
                                   struct clew_error *err)
{
    return (turn->cues & CHATLINK_RECALLS) && profile->n_turns > 1 &&
                   profile->n_turns <= CHATLINK_TURNS &&
                   profile->state == CHAT_PROFILE_OPEN
               ? decide(work, profile, err)
               : CLEW_OK;
}

bool chatlink_is_looked_at(const struct chat *chat, const struct turn *turn)
{
    int64_t nth = turn->seq - chat->fork_seq;
    bool is_due = !chat->is_explicit || nth <= EXPLICIT_TURNS ||
                  nth % EXPLICIT_EVERY == 0;

    return (turn->role == TURN_USER || turn->role == TURN_ASSISTANT) && is_due;
}

/* Is this a turn that the chat is judged by? */
static bool is_looked_at(const struct turn_work *work)
{
    return chatlink_is_looked_at(&work->placement->slot->chat, work->turn);
}

enum clew_status chatlink_grow(const struct engine *engine, struct arena *arena,
                               const struct turn *turn,
                               const struct reading *reading,
                               struct chat_profile *profile,
                               struct chatlink_turn *out_seen,
                               struct clew_error *err)
{
    if (chatlink_turn_of(arena, &reading->text.analysis, out_seen) != CLEW_OK) {
        return clew_no_memory(err);
    }
    chat_profile_add(
        profile, out_seen,
        profile->dim == engine->embedder->dim ? reading->text.vector : NULL,
        turn->created_at_ms);
    if (out_seen->cues & CHATLINK_REFERS) {
        profile->first_cues |= CHATLINK_REFERS; /* whenever it is said */
    }
    return CLEW_OK;
}

/* The first turn tells something, a few turns more; and what words have just
 * joined is looked at. */
static bool is_read_now(const struct turn_work *work,
                        const struct chat_profile *profile)
{
    uint32_t n = profile->n_turns;
    bool is_due = work->turn->role == TURN_USER &&
                  (n == 1 || n == READ_TURNS - 1 || n == READ_TURNS);
    bool is_joined =
        profile->state == CHAT_PROFILE_LINKED && profile->decided_turns == n;

    return work->batch->engine->reader && (is_due || is_joined);
}

/* What words say of the chat, and of what they said of it before. */
static enum clew_status judge(struct turn_work *work,
                              struct chat_profile *profile,
                              const struct chatlink_turn *seen,
                              struct clew_error *err)
{
    enum clew_status status = reconsider(work, profile, seen, err);

    if (status == CLEW_OK) {
        status = chatlink_outcome_infer(work, profile, seen, err);
    }
    if (status == CLEW_OK && profile->state == CHAT_PROFILE_OPEN &&
        profile->n_turns <= CHATLINK_TURNS) {
        status = decide(work, profile, err);
    }
    return status;
}

enum clew_status chatlink_ahead(struct turn_work *work, struct clew_error *err)
{
    const struct kept_profile *kept;

    if (!is_looked_at(work) || !may_have_profile(work)) {
        return CLEW_OK;
    }
    kept = kept_of(work->batch, &work->turn->chat_id);
    if (!kept) {
        return clew_no_memory(err);
    }
    return kept->is_loaded
               ? CLEW_OK
               : chat_profile_ahead(work->batch->tx, &work->turn->chat_id, err);
}

enum clew_status chatlink_observe(struct turn_work *work,
                                  struct clew_error *err)
{
    const struct chat *chat = &work->placement->slot->chat;
    const struct turn *turn = work->turn;
    struct batch_work *batch = work->batch;
    struct kept_profile *kept;
    struct chat_profile *profile;
    struct chatlink_turn seen;
    enum clew_status status = CLEW_OK;

    if (!is_looked_at(work)) {
        return CLEW_OK;
    }
    kept = kept_of(batch, &turn->chat_id);
    if (!kept) {
        return clew_no_memory(err);
    }
    profile = &kept->profile;
    if (!kept->is_loaded) {
        status = load_profile(work, profile, err);
        kept->is_loaded = status == CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = chatlink_grow(batch->engine, batch->arena, turn, work->reading,
                           profile, &seen, err);
    if (status == CLEW_OK && uuid_is_nil(&chat->parent_id)) {
        if (!is_left_to_reader(work)) {
            status = judge(work, profile, &seen, err);
        }
        if (status == CLEW_OK && is_read_now(work, profile)) {
            status = chatlink_read_later(batch, &chat->id, turn->seq,
                                         turn->stored_at_ms, err);
        }
    }
    profile->centre = NULL; /* not stored: as if it had been loaded */
    kept->is_changed = true;
    return status;
}

bool chatlink_is_told(const struct chatlink_update *told)
{
    return strcmp(told->decision, "link") == 0;
}

void chatlink_untell_joined(struct updates *updates)
{
    size_t n = 0;

    for (size_t i = 0; i < updates->n_links; i++) {
        if (chatlink_is_told(&updates->links[i])) {
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
