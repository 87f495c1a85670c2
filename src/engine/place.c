/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - the boundary rules over one batch. See place.h.
 */
#include "engine/place.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "engine/channel.h"
#include "engine/engine.h"
#include "store/db.h"

#include <string.h>

#define TITLE_CHARS 60

DB_SQL(UPSERT_USER, "INSERT INTO users (tenant, user_id, created_at)"
                    " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
DB_SQL(SELECT_USER, "SELECT inactivity_minutes FROM users WHERE tenant = $1"
                    " AND user_id = $2");

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

/* The user's own timeout, or 0; makes the user's row on first sight. */
static enum clew_status user_minutes(struct place *place, struct str user_id,
                                     int64_t now_ms, int64_t *out_minutes,
                                     struct clew_error *err)
{
    struct db_rows rows;
    bool is_known;
    enum clew_status status;

    if (place->user.s && str_eq(place->user, user_id)) {
        *out_minutes = place->user_minutes;
        return CLEW_OK;
    }
    status = db_query(place->tx, &SELECT_USER, DB_ARGS(db_text(user_id)), &rows,
                      err);
    if (status != CLEW_OK) {
        return status;
    }
    is_known = db_next(&rows);
    place->user_minutes = is_known ? db_get_int(&rows, 0) : 0;
    status = db_end(&rows, err);
    if (status == CLEW_OK && !is_known) {
        status = db_exec(place->tx, &UPSERT_USER,
                         DB_ARGS(db_text(user_id), db_int(now_ms)), err);
    }
    if (status == CLEW_OK) {
        place->user = user_id;
        *out_minutes = place->user_minutes;
    }
    return status;
}

/* The chat's own timeout wins, then the user's, then the channel's. */
static int64_t timeout_of(struct place *place, const struct chat *chat,
                          int64_t user_own, struct str channel)
{
    int64_t minutes = chat ? chat->inactivity_minutes : 0;

    if (minutes == 0) {
        minutes = user_own;
    }
    if (minutes == 0) {
        minutes = channel_inactivity_minutes(place->engine, channel);
    }
    return minutes * CLOCK_MINUTE_MS;
}

/* A chat that starts with this turn. */
static struct place_chat *open_chat(struct place *place,
                                    const struct capture_input *input,
                                    const struct turn *turn, bool is_explicit)
{
    struct chat chat = {.branch = STR("main")};
    struct place_chat *slot;

    chat.id = uuid_derive(turn->created_at_ms, &turn->id, "chat", 0);
    chat.conversation_id = chat.id;
    chat.user_id = input->user_id;
    chat.channels = STR("");
    chat.is_explicit = is_explicit;
    chat.created_at_ms = turn->created_at_ms;
    chat.last_activity_at_ms = turn->created_at_ms;
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

/* Write back the slot's session as it stands. */
static enum clew_status write_session(struct place *place,
                                      struct place_chat *slot,
                                      struct clew_error *err)
{
    bool is_new = slot->is_session_new;

    slot->is_session_new = false;
    slot->is_session_dirty = false;
    return is_new ? session_insert(place->tx, &slot->session, err)
                  : session_update(place->tx, &slot->session, err);
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
static bool is_elsewhere(const struct capture_input *input,
                         const struct turn *turn, const struct place_chat *slot)
{
    struct uuid fresh = uuid_derive(turn->created_at_ms, &turn->id, "chat", 0);

    return input->recorded &&
           !uuid_eq(slot ? &slot->chat.id : &fresh, &input->recorded->chat_id);
}

/* Where it stands, whatever the rules would say. */
static enum clew_status by_record(struct place *place,
                                  const struct capture_input *input,
                                  const struct turn *turn, bool is_explicit,
                                  struct placement *out, struct clew_error *err)
{
    const struct uuid *id = &input->recorded->chat_id;
    struct chat chat;
    enum clew_status status;

    out->rule = PLACE_NAMED;
    out->slot = place_find(place, id);
    if (out->slot) {
        return CLEW_OK;
    }
    if (!is_elsewhere(input, turn, NULL)) { /* it began a chat, and does */
        out->rule = is_explicit ? PLACE_EXPLICIT : PLACE_FIRST;
        out->slot = open_chat(place, input, turn, is_explicit);
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
                                    const struct capture_input *input,
                                    const struct turn *turn,
                                    struct placement *out,
                                    struct clew_error *err)
{
    struct place_chat *slot =
        newest_slot(place, input->user_id, turn->created_at_ms);
    int64_t user_own = 0;
    enum clew_status status = CLEW_OK;

    if (!has_latest(slot)) { /* with the user's row, see find_current() */
        status = chat_ahead_current(place->tx, input->user_id, INT64_MAX, err);
    }
    if (status == CLEW_OK) {
        status = user_minutes(place, input->user_id, turn->created_at_ms,
                              &user_own, err);
    }
    if (status == CLEW_OK) {
        status = find_current(place, input->user_id, turn->created_at_ms, &slot,
                              err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (slot && slot->chat.closed_at_ms == 0) {
        out->timeout_ms =
            timeout_of(place, &slot->chat, user_own, input->channel);
        out->silence_ms = turn->created_at_ms - slot->chat.last_activity_at_ms;
        if (is_elsewhere(input, turn,
                         out->silence_ms <= out->timeout_ms ? slot : NULL)) {
            return by_record(place, input, turn, false, out, err);
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
    } else if (is_elsewhere(input, turn, NULL)) {
        return by_record(place, input, turn, false, out, err);
    } else {
        out->rule = PLACE_FIRST;
    }
    out->slot = open_chat(place, input, turn, false);
    return out->slot ? CLEW_OK : clew_no_memory(err);
}

/* An explicit channel without a chat: a new one, shared by the turns of the
 * same user and channel in this batch. */
static enum clew_status by_channel(struct place *place,
                                   const struct capture_input *input,
                                   const struct turn *turn,
                                   struct placement *out,
                                   struct clew_error *err)
{
    out->rule = PLACE_EXPLICIT;
    for (size_t i = place->n_slots; i-- > 0;) {
        struct place_chat *slot = place->slots[i];

        if (slot->is_new && slot->opened_on.s &&
            str_eq(slot->opened_on, input->channel) &&
            str_eq(slot->chat.user_id, input->user_id)) {
            out->slot = slot;
            return CLEW_OK;
        }
    }
    if (is_elsewhere(input, turn, NULL)) {
        return by_record(place, input, turn, true, out, err);
    }
    out->slot = open_chat(place, input, turn, true);
    if (!out->slot) {
        return clew_no_memory(err);
    }
    out->slot->opened_on = input->channel;
    return CLEW_OK;
}

/* The session of this turn: the open one, unless silence ended it. */
static enum clew_status
enter_session(struct place *place, struct place_chat *slot,
              const struct capture_input *input, const struct turn *turn,
              struct placement *out, struct clew_error *err)
{
    const struct turn *recorded = input->recorded;
    int64_t timeout_ms = timeout_of(place, &slot->chat, 0, input->channel);
    struct session *session = &slot->session;
    bool has_one = !uuid_is_nil(&session->id);
    bool is_over =
        turn->created_at_ms - session->last_activity_at_ms > timeout_ms;

    if (recorded) { /* what made it begin or end may be forgotten */
        is_over = !uuid_eq(&recorded->session_id, &session->id);
    }
    if (has_one && is_over) {
        enum clew_status status = end_session(place, slot, out, err);

        if (status != CLEW_OK) {
            return status;
        }
        has_one = false;
    }
    if (!has_one) {
        session->id = recorded ? recorded->session_id
                               : uuid_derive(turn->created_at_ms, &turn->id,
                                             "session", 0);
        session->chat_id = slot->chat.id;
        session->user_id = slot->chat.user_id;
        session->started_at_ms = turn->created_at_ms;
        session->last_activity_at_ms = turn->created_at_ms;
        session->ended_at_ms = 0;
        slot->is_session_new = true;
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

/* The first line of a message, cut at a word: a title until a better one. */
static struct str title_of(struct arena *arena, struct str text)
{
    struct str line = str_trim(text);
    const char *newline = line.len ? memchr(line.s, '\n', line.len) : NULL;
    size_t cut;

    if (newline) {
        line = str_trim(str_sub(line, 0, (size_t)(newline - line.s)));
    }
    cut = utf8_cut_chars(line, TITLE_CHARS);
    if (cut == line.len) {
        return line;
    }
    while (cut > TITLE_CHARS / 2 && line.s[cut] != ' ') {
        cut--;
    }
    cut = utf8_cut(line, cut);
    return str_of(arena_printf(arena, "%.*s\xE2\x80\xA6", (int)cut, line.s));
}

/* Let the chat know of its new turn. */
static enum clew_status enter_chat(struct place *place, struct place_chat *slot,
                                   const struct capture_input *input,
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
    if (input->recorded) { /* numbers of forgotten turns stay free */
        chat->last_seq = input->recorded->seq - 1;
    }
    turn->seq = ++chat->last_seq;
    turn->chat_id = chat->id;
    turn->session_id = slot->session.id;
    chat->closed_at_ms = 0;
    if (!chat->title.s && input->role == TURN_USER &&
        str_trim(turn->text).len > 0) {
        chat->title = title_of(place->arena, turn->text);
        if (!chat->title.s) {
            return clew_no_memory(err);
        }
    }
    slot->is_dirty = true;
    return add_channel(place->arena, chat, input->channel)
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status place_turn(struct place *place,
                            const struct capture_input *input,
                            struct turn *turn, struct placement *out,
                            struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (!uuid_is_nil(&input->chat_id)) {
        out->rule = PLACE_NAMED;
        out->slot = place_find(place, &input->chat_id);
        if (!out->slot) {
            return clew_fail(err, CLEW_NOT_FOUND, "there is no such chat");
        }
    } else if (input->channel.s &&
               channel_is_explicit(place->engine, input->channel)) {
        status = by_channel(place, input, turn, out, err);
    } else {
        status = by_boundary(place, input, turn, out, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = enter_session(place, out->slot, input, turn, out, err);
    return status == CLEW_OK ? enter_chat(place, out->slot, input, turn, err)
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
