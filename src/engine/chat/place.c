/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - the boundary rules over one batch. See place.h.
 */
#include "engine/chat/place.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/chat/channel.h"
#include "engine/chat/timeout.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "store/db.h"
#include "text/title.h"

#include <assert.h>
#include <string.h>

struct place_chat *place_find(struct place *place, const struct uuid *chat_id)
{
    /* newest first: turns of one chat mostly come together */
    for (size_t i = place->n_slots; i-- > 0;) {
        if (uuid_eq(&place->slots[i]->chat.id, chat_id)) {
            return place->slots[i];
        }
    }
    return NULL;
}

static struct place_chat *add_slot(struct place *place, const struct chat *chat)
{
    struct place_chat **grown =
        arena_grow(place->arena, place->slots, place->n_slots,
                   &place->cap_slots, sizeof(*grown));
    struct place_chat *slot = arena_zero(place->arena, 1, sizeof(*slot));

    if (!grown || !slot) {
        return NULL;
    }
    place->slots = grown;
    slot->chat = *chat;
    place->slots[place->n_slots++] = slot;
    return slot;
}

/* Give the slots their open sessions. */
static enum clew_status load_sessions(struct place *place,
                                      const struct uuid *chat_ids,
                                      size_t n_chat_ids, struct clew_error *err)
{
    struct session *sessions;
    size_t count;
    enum clew_status status = session_find_open(
        place->tx, place->arena, chat_ids, n_chat_ids, &sessions, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct place_chat *slot = place_find(place, &sessions[i].chat_id);

        if (slot) {
            slot->session = sessions[i];
        }
    }
    return status;
}

enum clew_status place_begin(struct place *place, struct engine *engine,
                             struct store_tx *tx, struct arena *arena,
                             const struct uuid *chat_ids, size_t n_chat_ids,
                             struct clew_error *err)
{
    struct chat *chats;
    size_t count;
    enum clew_status status;

    memset(place, 0, sizeof(*place));
    place->engine = engine;
    place->tx = tx;
    place->arena = arena;
    if (n_chat_ids == 0) {
        return CLEW_OK;
    }
    status =
        chat_find_many(tx, arena, chat_ids, n_chat_ids, &chats, &count, err);
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        if (!add_slot(place, &chats[i])) {
            return clew_no_memory(err);
        }
    }
    for (size_t i = 0; i < n_chat_ids; i++) {
        if (!place_find(place, &chat_ids[i])) {
            return clew_fail(err, CLEW_NOT_FOUND, "there is no such chat");
        }
    }
    return load_sessions(place, chat_ids, n_chat_ids, err);
}

/* The user's own timeout; the last one looked up is at hand. */
static enum clew_status find_user(struct place *place, struct str user_id,
                                  struct clew_error *err)
{
    if (place->user.user_id.s && str_eq(place->user.user_id, user_id)) {
        return CLEW_OK;
    }
    return timeout_user_find(place->tx, user_id, &place->user, err);
}

/* The same, and make the user's row on first sight. */
static enum clew_status meet_user(struct place *place, struct str user_id,
                                  int64_t now_ms, struct clew_error *err)
{
    enum clew_status status = find_user(place, user_id, err);

    if (status == CLEW_OK && !place->user.is_known) {
        status = timeout_user_insert(place->tx, user_id, now_ms, err);
        place->user.is_known = status == CLEW_OK;
    }
    return status;
}

/* A chat that starts with this turn. */
static struct place_chat *open_chat(struct place *place,
                                    const struct turn *turn, bool is_explicit)
{
    struct chat chat = {.branch = STR("main")};
    struct place_chat *slot;

    chat.id = uuid_derive(turn->created_at_ms, &turn->id, "chat", 0);
    chat.conversation_id = chat.id;
    chat.user_id = turn->user_id;
    chat.channels = STR("");
    chat.is_explicit = is_explicit;
    chat.created_at_ms = turn->created_at_ms;
    chat.last_activity_at_ms = turn->created_at_ms;
    if (place->user.user_id.s && str_eq(place->user.user_id, turn->user_id)) {
        chat.user_minutes = place->user.minutes;
    }
    slot = add_slot(place, &chat);
    if (slot) {
        slot->is_new = true;
    }
    return slot;
}

/* The user's implicit chat of this batch that began last by `time_ms`. */
static struct place_chat *newest_slot(struct place *place, struct str user_id,
                                      int64_t time_ms)
{
    struct place_chat *best = NULL;

    for (size_t i = 0; i < place->n_slots; i++) {
        struct place_chat *slot = place->slots[i];

        if (!slot->chat.is_explicit && slot->chat.created_at_ms <= time_ms &&
            str_eq(slot->chat.user_id, user_id) &&
            (!best || slot->chat.created_at_ms >= best->chat.created_at_ms)) {
            best = slot;
        }
    }
    return best;
}

/* The stored chat that began last by `time_ms` gets a slot, unless it has one.
 */
static enum clew_status load_current(struct place *place, struct str user_id,
                                     int64_t time_ms,
                                     struct place_chat **out_slot,
                                     struct clew_error *err)
{
    struct chat stored;
    enum clew_status status = chat_find_current(place->tx, place->arena,
                                                user_id, time_ms, &stored, err);

    *out_slot = NULL;
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    *out_slot = place_find(place, &stored.id);
    if (*out_slot) {
        return CLEW_OK;
    }
    *out_slot = add_slot(place, &stored);
    if (!*out_slot) {
        return clew_no_memory(err);
    }
    return load_sessions(place, &stored.id, 1, err);
}

/* Does this batch know the user's newest chat? */
static bool has_latest(const struct place_chat *best)
{
    return best && (best->is_new || best->is_latest);
}

/*
 * The newest implicit chat of the user that began by `time_ms`, in this batch
 * or in the store; NULL if there is none. The store is asked once for the
 * user's newest chat; only turns older than that need a look of their own.
 */
static enum clew_status find_current(struct place *place, struct str user_id,
                                     int64_t time_ms,
                                     struct place_chat **out_slot,
                                     struct clew_error *err)
{
    struct place_chat *best = newest_slot(place, user_id, time_ms);
    struct place_chat *latest;
    enum clew_status status;

    *out_slot = best;
    if (has_latest(best)) {
        return CLEW_OK;
    }
    status = load_current(place, user_id, INT64_MAX, &latest, err);
    if (status == CLEW_OK && latest) {
        latest->is_latest = true;
        if (latest->chat.created_at_ms > time_ms) {
            status = load_current(place, user_id, time_ms, &latest, err);
        }
    }
    if (status == CLEW_OK) {
        *out_slot = newest_slot(place, user_id, time_ms);
    }
    return status;
}

/* Write back the slot's session as it stands. One that opens is watched: its
 * end comes by the clock if no turn brings it (session.h). */
static enum clew_status write_session(struct place *place,
                                      struct place_chat *slot,
                                      struct clew_error *err)
{
    bool is_new = slot->is_session_new;
    bool is_opened = is_new || slot->is_session_reopened;
    enum clew_status status =
        is_new ? session_insert(place->tx, &slot->session, err)
               : session_update(place->tx, &slot->session, err);

    slot->is_session_new = false;
    slot->is_session_reopened = false;
    slot->is_session_dirty = false;
    return status == CLEW_OK && is_opened && slot->session.ended_at_ms == 0
               ? session_watch(place->tx, place->arena, &slot->session,
                               slot->session.last_activity_at_ms +
                                   slot->timeout_ms,
                               clock_now_ms(place->engine->clock), err)
               : status;
}

/* Silence ended the slot's session: its last word was its end. */
static enum clew_status end_session(struct place *place,
                                    struct place_chat *slot,
                                    struct placement *out,
                                    struct clew_error *err)
{
    enum clew_status status;

    slot->session.ended_at_ms = slot->session.last_activity_at_ms;
    status = write_session(place, slot, err);
    out->ended = slot->session;
    memset(&slot->session, 0, sizeof(slot->session));
    return status;
}

/* Would this put the turn elsewhere than it stands? Then something it followed
 * from was forgotten since. */
static bool is_elsewhere(const struct place_wish *wish, const struct turn *turn,
                         const struct place_chat *slot)
{
    struct uuid fresh = uuid_derive(turn->created_at_ms, &turn->id, "chat", 0);

    return wish->recorded &&
           !uuid_eq(slot ? &slot->chat.id : &fresh, &wish->recorded->chat_id);
}

/* Where it stands, whatever the rules would say. */
static enum clew_status by_record(struct place *place,
                                  const struct place_wish *wish,
                                  const struct turn *turn, bool is_explicit,
                                  struct placement *out, struct clew_error *err)
{
    const struct uuid *id = &wish->recorded->chat_id;
    struct chat chat;
    enum clew_status status;

    out->rule = PLACE_NAMED;
    out->slot = place_find(place, id);
    if (out->slot) {
        return CLEW_OK;
    }
    if (!is_elsewhere(wish, turn, NULL)) { /* it began a chat, and does */
        out->rule = is_explicit ? PLACE_EXPLICIT : PLACE_FIRST;
        out->slot = open_chat(place, turn, is_explicit);
        return out->slot ? CLEW_OK : clew_no_memory(err);
    }
    status = chat_find(place->tx, place->arena, id, &chat, err);
    if (status == CLEW_OK) {
        out->slot = add_slot(place, &chat);
        status =
            out->slot ? load_sessions(place, id, 1, err) : clew_no_memory(err);
    }
    return status;
}

/* No chat was named: let the channel and the silence decide. */
static enum clew_status by_boundary(struct place *place,
                                    const struct place_wish *wish,
                                    const struct turn *turn,
                                    struct placement *out,
                                    struct clew_error *err)
{
    struct place_chat *slot =
        newest_slot(place, turn->user_id, turn->created_at_ms);
    enum clew_status status = CLEW_OK;

    if (!has_latest(slot)) { /* with the user's row, see find_current() */
        status = chat_ahead_current(place->tx, turn->user_id, INT64_MAX, err);
    }
    if (status == CLEW_OK) {
        status = meet_user(place, turn->user_id, turn->created_at_ms, err);
    }
    if (status == CLEW_OK) {
        status =
            find_current(place, turn->user_id, turn->created_at_ms, &slot, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (slot && slot->chat.closed_at_ms == 0) {
        out->timeout_ms =
            timeout_of_turn_ms(place->engine, &slot->chat, turn->channel);
        out->silence_ms = turn->created_at_ms - slot->chat.last_activity_at_ms;
        if (is_elsewhere(wish, turn,
                         out->silence_ms <= out->timeout_ms ? slot : NULL)) {
            return by_record(place, wish, turn, false, out, err);
        }
        if (out->silence_ms <= out->timeout_ms) {
            out->rule = PLACE_CONTINUED;
            out->slot = slot;
            return CLEW_OK;
        }
        out->rule = PLACE_SILENCE;
        if (!uuid_is_nil(&slot->session.id)) {
            status = end_session(place, slot, out, err);
        }
        if (status != CLEW_OK) {
            return status;
        }
    } else if (is_elsewhere(wish, turn, NULL)) {
        return by_record(place, wish, turn, false, out, err);
    } else {
        out->rule = PLACE_FIRST;
    }
    out->slot = open_chat(place, turn, false);
    return out->slot ? CLEW_OK : clew_no_memory(err);
}

/* An explicit channel without a chat: a new one, shared by the turns of the
 * same user and channel in this batch. */
static enum clew_status by_channel(struct place *place,
                                   const struct place_wish *wish,
                                   const struct turn *turn,
                                   struct placement *out,
                                   struct clew_error *err)
{
    enum clew_status status;

    out->rule = PLACE_EXPLICIT;
    for (size_t i = place->n_slots; i-- > 0;) {
        struct place_chat *slot = place->slots[i];

        if (slot->is_new && slot->opened_on.s &&
            str_eq(slot->opened_on, turn->channel) &&
            str_eq(slot->chat.user_id, turn->user_id)) {
            out->slot = slot;
            return CLEW_OK;
        }
    }
    if (is_elsewhere(wish, turn, NULL)) {
        return by_record(place, wish, turn, true, out, err);
    }
    status = find_user(place, turn->user_id, err);
    if (status != CLEW_OK) {
        return status;
    }
    out->slot = open_chat(place, turn, true);
    if (!out->slot) {
        return clew_no_memory(err);
    }
    out->slot->opened_on = turn->channel;
    return CLEW_OK;
}

/* The session a turn without an open one goes on with: the chat's last, if only
 * the clock ended it and by the turn's own time it was not over. So it does not
 * matter when a turn of the past is told. */
static enum clew_status find_ended(struct place *place,
                                   const struct place_chat *slot,
                                   const struct place_wish *wish,
                                   const struct turn *turn, struct session *out,
                                   struct clew_error *err)
{
    struct session last;
    enum clew_status status = CLEW_NOT_FOUND;
    bool is_ours = false;

    memset(out, 0, sizeof(*out));
    if (slot->is_new) {
        return CLEW_OK;
    }
    status = wish->recorded
                 ? session_find(place->tx, place->arena,
                                &wish->recorded->session_id, &last, NULL)
                 : session_find_last(place->tx, place->arena, &slot->chat.id,
                                     &last, err);
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (wish->recorded) {
        *out = last;
        return CLEW_OK;
    }
    status = session_is_timed_out(place->tx, &last, &is_ours, err);
    if (status == CLEW_OK && is_ours &&
        turn->created_at_ms - last.last_activity_at_ms <= slot->timeout_ms) {
        *out = last;
    }
    return status;
}

/* Open the slot's session: the one to go on with, or a new one. */
static enum clew_status open_session(struct place *place,
                                     struct place_chat *slot,
                                     const struct place_wish *wish,
                                     const struct turn *turn,
                                     struct clew_error *err)
{
    struct session *session = &slot->session;
    enum clew_status status = find_ended(place, slot, wish, turn, session, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (!uuid_is_nil(&session->id)) {
        session->ended_at_ms = 0;
        slot->is_session_reopened = true;
        return CLEW_OK;
    }
    session->id = wish->recorded ? wish->recorded->session_id
                                 : uuid_derive(turn->created_at_ms, &turn->id,
                                               "session", 0);
    session->chat_id = slot->chat.id;
    session->user_id = slot->chat.user_id;
    session->started_at_ms = turn->created_at_ms;
    session->last_activity_at_ms = turn->created_at_ms;
    slot->is_session_new = true;
    return CLEW_OK;
}

/* The session of this turn: the open one, unless silence ended it. */
static enum clew_status
enter_session(struct place *place, struct place_chat *slot,
              const struct place_wish *wish, const struct turn *turn,
              struct placement *out, struct clew_error *err)
{
    const struct turn *recorded = wish->recorded;
    struct session *session = &slot->session;
    bool has_one = !uuid_is_nil(&session->id);
    bool is_over;
    enum clew_status status = CLEW_OK;

    slot->timeout_ms =
        timeout_of_turn_ms(place->engine, &slot->chat, turn->channel);
    is_over =
        turn->created_at_ms - session->last_activity_at_ms > slot->timeout_ms;
    if (recorded) { /* what made it begin or end may be forgotten */
        is_over = !uuid_eq(&recorded->session_id, &session->id);
    }
    if (has_one && is_over) {
        status = end_session(place, slot, out, err);
        has_one = false;
    }
    if (status == CLEW_OK && !has_one) {
        status = open_session(place, slot, wish, turn, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (turn->created_at_ms > session->last_activity_at_ms) {
        session->last_activity_at_ms = turn->created_at_ms;
    }
    slot->is_session_dirty = true;
    return CLEW_OK;
}

/* Is `name` one of the comma-separated `list`? */
static bool has_channel(struct str list, struct str name)
{
    struct str part;

    while (str_split(&list, ',', &part)) {
        if (str_eq(part, name)) {
            return true;
        }
    }
    return false;
}

static bool add_channel(struct arena *arena, struct chat *chat,
                        struct str channel)
{
    const char *joined;

    if (!channel.s || has_channel(chat->channels, channel)) {
        return true;
    }
    joined = arena_printf(arena, "%.*s%s%.*s", (int)chat->channels.len,
                          chat->channels.s, chat->channels.len ? "," : "",
                          (int)channel.len, channel.s);
    chat->channels = str_of(joined);
    return joined != NULL;
}

/* Let the chat know of its new turn. */
static enum clew_status enter_chat(struct place *place, struct place_chat *slot,
                                   const struct place_wish *wish,
                                   struct turn *turn, struct clew_error *err)
{
    struct chat *chat = &slot->chat;
    bool is_first = chat->last_seq == chat->fork_seq;

    if (is_first && turn->created_at_ms < chat->created_at_ms) {
        chat->created_at_ms = turn->created_at_ms; /* imported history */
    }
    if (is_first || turn->created_at_ms > chat->last_activity_at_ms) {
        chat->last_activity_at_ms = turn->created_at_ms;
    }
    if (wish->recorded) { /* numbers of forgotten turns stay free */
        chat->last_seq = wish->recorded->seq - 1;
    }
    turn->seq = ++chat->last_seq;
    turn->chat_id = chat->id;
    turn->session_id = slot->session.id;
    chat->closed_at_ms = 0;
    if (!chat->title.s &&
        turn->role == (chat_is_subtask(chat) ? TURN_ASSISTANT : TURN_USER) &&
        title_of(place->arena, turn->text, &chat->title) != CLEW_OK) {
        return clew_no_memory(err);
    }
    slot->is_dirty = true;
    return add_channel(place->arena, chat, turn->channel) ? CLEW_OK
                                                          : clew_no_memory(err);
}

enum clew_status place_turn(struct place *place, const struct place_wish *wish,
                            struct turn *turn, struct placement *out,
                            struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (!uuid_is_nil(&wish->chat_id)) {
        out->rule = PLACE_NAMED;
        out->slot = place_find(place, &wish->chat_id);
        if (!out->slot) {
            return clew_fail(err, CLEW_NOT_FOUND, "there is no such chat");
        }
    } else if (turn->channel.s &&
               channel_is_explicit(place->engine, turn->channel)) {
        status = by_channel(place, wish, turn, out, err);
    } else {
        status = by_boundary(place, wish, turn, out, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    assert(out->slot); /* every rule finds a chat, or fails */
    status = enter_session(place, out->slot, wish, turn, out, err);
    return status == CLEW_OK ? enter_chat(place, out->slot, wish, turn, err)
                             : status;
}

static enum clew_status write_slot(struct place *place, struct place_chat *slot,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (slot->is_dirty) {
        status = slot->is_new ? chat_insert(place->tx, &slot->chat, err)
                              : chat_update(place->tx, &slot->chat, err);
    }
    if (status == CLEW_OK && slot->is_session_dirty) {
        status = write_session(place, slot, err);
    }
    return status;
}

enum clew_status place_end(struct place *place, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < place->n_slots && status == CLEW_OK; i++) {
        status = write_slot(place, place->slots[i], err);
    }
    return status;
}

json_t *place_trace(const struct placement *placement)
{
    static const char *const rules[] = {
        [PLACE_NAMED] = "the caller named the chat",
        [PLACE_EXPLICIT] = "an explicit channel starts a chat",
        [PLACE_CONTINUED] = "silence within the timeout continues the chat",
        [PLACE_SILENCE] = "silence longer than the timeout starts a chat",
        [PLACE_FIRST] = "there was no open chat",
    };
    json_t *boundary = json_object();
    bool is_ok = json_set_cstr(boundary, "rule", rules[placement->rule]);

    if (is_ok && placement->timeout_ms > 0) {
        is_ok = json_set_int(boundary, "silence_ms", placement->silence_ms) &&
                json_set_int(boundary, "timeout_ms", placement->timeout_ms);
    }
    if (!is_ok) {
        json_decref(boundary);
        return NULL;
    }
    return boundary;
}
