/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlier.c - earlier chats beside a first stretch. See earlier.h.
 */
#include "engine/llmread/earlier.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink_told.h"
#include "engine/core/redact.h"
#include "engine/llmread/stretch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where its first and its last turns are looked for. */
#define FIRST_TURNS 8
#define LAST_TURNS 24
#define TITLE_BYTES 160u
#define HASH_BYTES 3

_Static_assert(STRETCH_LABEL >= 2 + 2 * HASH_BYTES, "a label holds its hash");

/* --- one chat --------------------------------------------------------------
 */

static void label(struct stretch_chat *chat)
{
    const struct stretch_turn *first = &chat->turns[0];
    unsigned char full[SHA256_SIZE];
    struct sha256 hash;
    char head[64];

    (void)snprintf(head, sizeof(head), "%lld ",
                   (long long)first->turn.created_at_ms);
    sha256_init(&hash);
    sha256_add_str(&hash, str_of(head));
    sha256_add_str(&hash, first->said);
    sha256_get(&hash, full);
    chat->label[0] = 'C';
    hex_format(full, HASH_BYTES, chat->label + 1);
}

/* A turn as it is shown; `*out_said`: there is something in it. */
static enum clew_status show(struct arena *arena, const struct turn *turn,
                             struct stretch_turn *out, bool *out_said,
                             struct clew_error *err)
{
    enum clew_status status = stretch_say(arena, turn, SIZE_MAX, out, err);

    out->shown = str_trim(out->said);
    out->shown = utf8_head(out->shown, STRETCH_CHAT_BYTES);
    *out_said = out->shown.len > 0;
    return status;
}

/* How it began: the first turn of a person. n_turns stays 0 if none speaks. */
static enum clew_status load_first(struct store_tx *tx, struct arena *arena,
                                   const struct chat *row,
                                   struct stretch_chat *out,
                                   struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status = turn_list_line(tx, arena, &row->id, row->fork_seq,
                                             FIRST_TURNS, &turns, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK && out->n_turns == 0;
         i++) {
        bool is_said = false;

        if (turns[i].role == TURN_USER) {
            status = show(arena, &turns[i], &out->turns[0], &is_said, err);
            out->n_turns = is_said;
        }
    }
    if (status == CLEW_OK && out->n_turns > 0) {
        out->began_ms = out->turns[0].turn.created_at_ms;
        out->ended_ms = out->began_ms;
        label(out);
    }
    return status;
}

/* Its last turns, as far as they were said before `until_ms`. */
static enum clew_status load_last(struct store_tx *tx, struct arena *arena,
                                  int64_t until_ms, struct stretch_chat *out,
                                  struct clew_error *err)
{
    struct stretch_turn last[STRETCH_CHAT_TURNS - 1];
    struct turn *turns = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status =
        turn_list_last(tx, arena, &out->id, LAST_TURNS, &turns, &count, err);

    for (size_t i = count;
         i > 0 && n < STRETCH_CHAT_TURNS - 1 && status == CLEW_OK; i--) {
        const struct turn *turn = &turns[i - 1];
        bool is_said = false;

        if (turn->seq <= out->turns[0].turn.seq) {
            break;
        }
        if (turn->created_at_ms <= until_ms) {
            status = show(arena, turn, &last[n], &is_said, err);
            n += is_said;
        }
    }
    for (; n > 0; n--) {
        out->turns[out->n_turns++] = last[n - 1];
        out->ended_ms = last[n - 1].turn.created_at_ms;
    }
    return status;
}

/* One of the stretch's user; `*out_ok`: it can be shown. */
static enum clew_status load_one(struct store_tx *tx, struct arena *arena,
                                 const struct stretch *s, const struct uuid *id,
                                 struct stretch_chat *out, bool *out_ok,
                                 struct clew_error *err)
{
    struct chat row;
    enum clew_status status = chat_find(tx, arena, id, &row, err);

    *out_ok = false;
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* forgotten */
    }
    if (status != CLEW_OK || uuid_eq(id, &s->chat_id) ||
        !str_eq(row.user_id, s->user_id)) {
        return status;
    }
    *out = (struct stretch_chat){.id = row.id, .title = row.title};
    status = load_first(tx, arena, &row, out, err);
    *out_ok = status == CLEW_OK && out->n_turns > 0;
    if (*out_ok && out->title.s) {
        status = redact_str(arena, &out->title, err);
        out->title = utf8_head(out->title, TITLE_BYTES);
    }
    return status;
}

/* --- all of them -----------------------------------------------------------
 */

static int oldest_first(const void *a, const void *b)
{
    const struct stretch_chat *left = a;
    const struct stretch_chat *right = b;

    if (left->ended_ms != right->ended_ms) {
        return left->ended_ms < right->ended_ms ? -1 : 1;
    }
    return strcmp(left->label, right->label);
}

static bool make_room(struct arena *arena, struct stretch *s)
{
    s->n_chats = 0;
    s->chats = arena_zero(arena, CHATLINK_TOLD_CHATS, sizeof(*s->chats));
    return s->chats != NULL;
}

enum clew_status earlier_load(struct engine *engine, struct store_tx *tx,
                              struct arena *arena, int64_t after_seq,
                              struct stretch *stretch, struct clew_error *err)
{
    struct uuid ids[CHATLINK_TOLD_CHATS];
    size_t count = 0;
    int64_t until_ms;
    enum clew_status status;

    if (after_seq > 0 || stretch->n_own == 0) {
        return CLEW_OK;
    }
    if (!make_room(arena, stretch)) {
        return clew_no_memory(err);
    }
    status = chatlink_told_near(engine, tx, arena, &stretch->chat_id, ids,
                                &count, err);
    until_ms =
        stretch->turns[stretch->n_turns - stretch->n_own].turn.created_at_ms;
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct stretch_chat *out = &stretch->chats[stretch->n_chats];
        bool is_ok = false;

        status = load_one(tx, arena, stretch, &ids[i], out, &is_ok, err);
        if (status == CLEW_OK && is_ok) {
            status = load_last(tx, arena, until_ms, out, err);
            stretch->n_chats++;
        }
    }
    if (stretch->n_chats > 1) {
        qsort(stretch->chats, stretch->n_chats, sizeof(*stretch->chats),
              oldest_first);
    }
    return status;
}

static enum clew_status stands(struct store_tx *tx, struct arena *arena,
                               const struct stretch_chat *chat, bool *out,
                               struct clew_error *err)
{
    struct turn turns[STRETCH_CHAT_TURNS];

    for (size_t i = 0; i < chat->n_turns; i++) {
        turns[i] = chat->turns[i].turn;
    }
    return turn_still_stand(tx, arena, turns, chat->n_turns, out, err);
}

enum clew_status earlier_stand(struct store_tx *tx, struct arena *arena,
                               const struct stretch_chat *shown, size_t count,
                               struct stretch *stretch, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (count > 0 && !make_room(arena, stretch)) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        bool is_ok = false;

        status = stands(tx, arena, &shown[i], &is_ok, err);
        if (status == CLEW_OK && is_ok) {
            stretch->chats[stretch->n_chats++] = shown[i];
        }
    }
    return status;
}

enum clew_status earlier_again(struct store_tx *tx, struct arena *arena,
                               const json_t *ids, struct stretch *stretch,
                               struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (json_array_size(ids) > 0 && !make_room(arena, stretch)) {
        return clew_no_memory(err);
    }
    for (size_t i = 0;
         i < json_array_size(ids) && stretch->n_chats < CHATLINK_TOLD_CHATS &&
         status == CLEW_OK;
         i++) {
        const json_t *value = json_array_get(ids, i);
        bool is_ok = false;
        struct uuid id;

        if (json_is_string(value) &&
            uuid_parse(str_of(json_string_value(value)), &id)) {
            status = load_one(tx, arena, stretch, &id,
                              &stretch->chats[stretch->n_chats], &is_ok, err);
            stretch->n_chats += is_ok;
        }
    }
    return status;
}

json_t *earlier_ids(const struct stretch *stretch)
{
    json_t *out = json_array();
    char text[UUID_TEXT_SIZE];

    for (size_t i = 0; out && i < stretch->n_chats; i++) {
        uuid_format(&stretch->chats[i].id, text);
        if (json_array_append_new(out, json_string(text)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}
