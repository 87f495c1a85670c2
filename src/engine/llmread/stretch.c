/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.c - what a model is shown. See stretch.h.
 */
#include "engine/llmread/stretch.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "engine/llmread/stretch_known.h"
#include "engine/read/reading.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

DB_SQL(SELECT_UNREAD, "SELECT turn_id FROM unread WHERE tenant = $1"
                      " AND turn_id = ANY($2) AND given_up_at IS NULL");

/* --- turns -----------------------------------------------------------------
 */

/* Drop turns from the first on that the reader has not read. */
static enum clew_status cut_unread(struct store_tx *tx, struct arena *arena,
                                   const struct turn *turns, size_t *count,
                                   struct clew_error *err)
{
    struct uuid *ids = arena_zero(arena, *count + 1, sizeof(*ids));
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *found;
    size_t n = *count;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        ids[i] = turns[i].id;
    }
    status =
        rows_add(tx, &list, &SELECT_UNREAD, DB_ARGS(db_uuids(ids, n)), err);
    found = list.items;
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < n; k++) {
            n = uuid_eq(&found[i], &turns[k].id) ? k : n;
        }
    }
    *count = n;
    return status;
}

enum clew_status stretch_say(struct arena *arena, const struct turn *turn,
                             size_t max_bytes, struct stretch_turn *out,
                             struct clew_error *err)
{
    struct str text = turn->text;
    enum clew_status status;

    *out = (struct stretch_turn){.turn = *turn, .said = STR("")};
    if (turn->role != TURN_USER && turn->role != TURN_ASSISTANT) {
        return CLEW_OK;
    }
    status = redact_str(arena, &text, err);
    if (status == CLEW_OK) {
        status = reading_said(arena, text, &out->said, err);
    }
    out->shown = utf8_head(out->said, max_bytes);
    return status;
}

static void label_turns(struct stretch *s)
{
    struct sha256 hash;
    char hex[SHA256_HEX_SIZE];

    sha256_init(&hash);
    for (size_t i = 0; i < s->n_turns; i++) {
        struct stretch_turn *t = &s->turns[i];
        char head[64];

        if (!t->is_own) {
            continue;
        }
        (void)snprintf(t->label, sizeof(t->label), "T%u", (unsigned)++s->n_own);
        (void)snprintf(head, sizeof(head), "%d %lld ", (int)t->turn.role,
                       (long long)t->turn.created_at_ms);
        sha256_add_str(&hash, str_of(head));
        sha256_add_str(&hash, t->turn.name.s ? t->turn.name : STR(""));
        sha256_add(&hash, "", 1);
        sha256_add_str(&hash, t->said);
        sha256_add(&hash, "", 1);
    }
    sha256_get_hex(&hash, hex);
    memcpy(s->digest, hex, STRETCH_DIGEST - 1);
    s->digest[STRETCH_DIGEST - 1] = '\0';
}

/* Take the turns that are read now, and those before them. */
static enum clew_status take_turns(struct arena *arena,
                                   const struct turn *turns, size_t count,
                                   int64_t after_seq, struct stretch *s,
                                   struct clew_error *err)
{
    size_t bytes = 0;
    size_t n_own = 0;
    enum clew_status status = CLEW_OK;

    s->turns = arena_zero(arena, count + 1, sizeof(*s->turns));
    if (!s->turns) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct stretch_turn *t = &s->turns[s->n_turns];

        status = stretch_say(arena, &turns[i], STRETCH_TURN_BYTES, t, err);
        t->is_own =
            turns[i].seq > after_seq && uuid_eq(&turns[i].chat_id, &s->chat_id);
        if (t->is_own && n_own > 0 &&
            (n_own == STRETCH_TURNS || bytes + t->shown.len > STRETCH_BYTES)) {
            s->is_full = true;
            break;
        }
        if (t->is_own) {
            s->from_ms = s->from_seq ? s->from_ms : turns[i].created_at_ms;
            s->until_ms = turns[i].created_at_ms;
            s->from_seq = s->from_seq ? s->from_seq : turns[i].seq;
            s->through_seq = turns[i].seq;
            s->user_id = turns[i].user_id;
        }
        if (t->shown.len > 0) {
            bytes += t->is_own ? t->shown.len : 0;
            n_own += t->is_own;
            s->n_turns++;
        }
    }
    label_turns(s);
    return status;
}

static enum clew_status load_turns(struct engine *engine, struct store_tx *tx,
                                   struct arena *arena, int64_t after_seq,
                                   int64_t through_seq, struct stretch *s,
                                   struct clew_error *err)
{
    int64_t from = after_seq > STRETCH_BEFORE ? after_seq - STRETCH_BEFORE : 0;
    /* tool output between what was said is passed over */
    int64_t limit = STRETCH_BEFORE + 4 * STRETCH_TURNS;
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status = turn_list_line(tx, arena, &s->chat_id, from,
                                             limit, &turns, &count, err);

    if (status == CLEW_OK && !engine->replay) {
        status = cut_unread(tx, arena, turns, &count, err);
    }
    for (size_t i = 0; i < count; i++) {
        s->last_stored_ms = turns[i].stored_at_ms;
        if (through_seq > 0 && turns[i].seq > through_seq) {
            count = i;
        }
    }
    return status == CLEW_OK
               ? take_turns(arena, turns, count, after_seq, s, err)
               : status;
}

/* --- the whole -------------------------------------------------------------
 */

enum clew_status stretch_load(struct engine *engine, struct store_tx *tx,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t after_seq, int64_t through_seq,
                              struct stretch *out, struct clew_error *err)
{
    enum clew_status status;

    *out = (struct stretch){.chat_id = *chat_id};
    status = load_turns(engine, tx, arena, after_seq, through_seq, out, err);
    if (status != CLEW_OK || out->n_own == 0) {
        return status;
    }
    return stretch_load_known(engine, tx, arena, out, err);
}

static bool has_alias(const struct stretch_known *known, struct str label)
{
    for (size_t i = 0; i < known->n_aliases; i++) {
        if (str_eq(str_of(known->aliases[i]), label)) {
            return true;
        }
    }
    return false;
}

const struct stretch_known *stretch_find(const struct stretch_known *list,
                                         size_t count, struct str label)
{
    const struct stretch_known *found = NULL;
    const struct stretch_known *other = NULL;
    size_t n_found = 0;
    size_t n_other = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_eq(str_of(list[i].label), label)) {
            found = &list[i];
            n_found++;
        } else if (has_alias(&list[i], label)) {
            other = &list[i];
            n_other++;
        }
    }
    if (n_found + n_other == 0 || n_found > 1 ||
        (n_found == 0 && n_other > 1)) {
        return NULL; /* there is none, or nobody knows which */
    }
    return n_found == 1 ? found : other;
}

const struct stretch_chat *stretch_chat_of(const struct stretch *stretch,
                                           struct str label)
{
    const struct stretch_chat *found = NULL;

    for (size_t i = 0; i < stretch->n_chats; i++) {
        if (str_eq(str_of(stretch->chats[i].label), label)) {
            if (found) {
                return NULL; /* nobody knows which */
            }
            found = &stretch->chats[i];
        }
    }
    return found;
}

const struct stretch_turn *stretch_turn_of(const struct stretch *stretch,
                                           struct str label)
{
    for (size_t i = 0; i < stretch->n_turns; i++) {
        if (stretch->turns[i].is_own &&
            str_eq(str_of(stretch->turns[i].label), label)) {
            return &stretch->turns[i];
        }
    }
    return NULL;
}
