/* SPDX-License-Identifier: Apache-2.0 */
/*
 * episode_join.c - cross_chat episodes: chats come together and part again.
 *
 * The combined summary is made of what each chat is called and summed up as;
 * it is made anew when a chat joins, leaves or is compacted.
 */
#include "engine/episode/episode.h"

#include "base/buf.h"
#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "store/db.h"
#include "text/analysis.h"
#include "text/summarise.h"

DB_SQL(ADD_CHAT, "INSERT INTO episode_chats (tenant, episode_id, chat_id,"
                 " link_id, added_at) VALUES ($1, $2, $3, $4, $5)"
                 " ON CONFLICT DO NOTHING");
DB_SQL(SELECT_LINKED, "SELECT episode_id, chat_id FROM episode_chats"
                      " WHERE tenant = $1 AND link_id = $2 LIMIT 1");
/* Kept apart, be it by a person's word; that word makes a link sure. */
#define SAID "COALESCE(outcome_by, '') = 'feedback'"
#define APART                                                                  \
    "(decision = 'no_link') <> (" SAID                                         \
    " AND COALESCE(outcome, '') = 'incorrect')"
DB_SQL(SELECT_AGAINST,
       "SELECT 1 FROM episode_chats e JOIN link_decisions d ON d.tenant ="
       " e.tenant AND d.id = e.link_id WHERE e.tenant = $1 AND e.episode_id ="
       " $2 AND d.confidence = 'uncertain' AND NOT (" SAID ")"
       " UNION ALL SELECT 1 FROM link_decisions WHERE tenant = $1"
       " AND chat_id = $3 AND other_chat_id = ANY($4) AND " APART
       " UNION ALL SELECT 1 FROM link_decisions WHERE tenant = $1"
       " AND other_chat_id = $3 AND chat_id = ANY($4) AND " APART " LIMIT 1");
DB_SQL(REMOVE_CHAT, "DELETE FROM episode_chats WHERE tenant = $1"
                    " AND episode_id = $2 AND chat_id = $3");
DB_SQL(REMOVE_CHATS,
       "DELETE FROM episode_chats WHERE tenant = $1 AND episode_id = $2");
DB_SQL(REMOVE, "DELETE FROM episodes WHERE tenant = $1 AND id = $2");
DB_SQL(BURY, "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
             " VALUES ($1, $2, 'episode', $3, $4)");

/* A chat of the batch, or of the store. */
struct member {
    struct place_chat *slot; /* NULL: `own` is a copy to be written back */
    struct chat own;
};

static struct chat *chat_of(struct member *member)
{
    return member->slot ? &member->slot->chat : &member->own;
}

static enum clew_status member_load(struct batch_work *batch,
                                    const struct uuid *chat_id,
                                    struct member *out, struct clew_error *err)
{
    out->slot = batch->place ? place_find(batch->place, chat_id) : NULL;
    return out->slot
               ? CLEW_OK
               : chat_find(batch->tx, batch->arena, chat_id, &out->own, err);
}

static enum clew_status member_save(struct batch_work *batch,
                                    struct member *member,
                                    struct clew_error *err)
{
    if (member->slot) {
        member->slot->is_dirty = true;
        return CLEW_OK;
    }
    return chat_update(batch->tx, &member->own, err);
}

static bool has_id(struct str list, const struct uuid *id)
{
    struct str part;
    struct uuid found;

    while (str_split(&list, ',', &part)) {
        if (uuid_parse(part, &found) && uuid_eq(&found, id)) {
            return true;
        }
    }
    return false;
}

/* Note the episode in the chat's own list. */
static enum clew_status note(struct batch_work *batch, struct member *member,
                             const struct uuid *id, struct clew_error *err)
{
    struct chat *chat = chat_of(member);
    char text[UUID_TEXT_SIZE];

    if (has_id(chat->cross_episodes, id)) {
        return CLEW_OK;
    }
    uuid_format(id, text);
    chat->cross_episodes = str_of(
        arena_printf(batch->arena, "%.*s%s%s", (int)chat->cross_episodes.len,
                     chat->cross_episodes.s ? chat->cross_episodes.s : "",
                     chat->cross_episodes.len ? "," : "", text));
    return chat->cross_episodes.s ? member_save(batch, member, err)
                                  : clew_no_memory(err);
}

static enum clew_status unnote(struct batch_work *batch,
                               const struct uuid *chat_id,
                               const struct uuid *id, struct clew_error *err)
{
    struct member member;
    struct str rest;
    struct str part;
    struct buf kept;
    enum clew_status status = member_load(batch, chat_id, &member, err);

    if (status != CLEW_OK) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    buf_init(&kept, 1 << 20);
    rest = chat_of(&member)->cross_episodes;
    while (str_split(&rest, ',', &part)) {
        if (!has_id(part, id)) {
            buf_printf(&kept, "%s%.*s", kept.len ? "," : "", (int)part.len,
                       part.s);
        }
    }
    chat_of(&member)->cross_episodes =
        kept.len ? arena_str(batch->arena, buf_str(&kept))
                 : (struct str){NULL, 0};
    buf_release(&kept);
    return member_save(batch, &member, err);
}

/* May `comer` belong to all who are there by belonging to one? Not where a link
 * is uncertain, nor where it was held against one of them and kept apart. */
static enum clew_status may_enter(struct batch_work *batch,
                                  const struct uuid *id,
                                  const struct uuid *comer,
                                  const struct uuid *chats, size_t count,
                                  bool *out, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(batch->tx, &SELECT_AGAINST,
                 DB_ARGS(db_uuid(id), db_uuid(comer), db_uuids(chats, count)),
                 &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = !db_next(&rows);
    return db_end(&rows, err);
}

/* The newest cross_chat episode of a chat that has room; nil if none. */
static enum clew_status find_room(struct batch_work *batch,
                                  const struct chat *chat,
                                  const struct uuid *comer, bool is_both,
                                  struct uuid *out, struct clew_error *err)
{
    struct str rest = chat->cross_episodes;
    struct str part;
    enum clew_status status = CLEW_OK;

    *out = (struct uuid){{0}};
    while (status == CLEW_OK && str_split(&rest, ',', &part)) {
        struct uuid *chats;
        struct uuid id;
        size_t count;

        if (!uuid_parse(part, &id)) {
            continue;
        }
        status =
            episode_chats(batch->tx, batch->arena, &id, &chats, &count, err);
        if (status == CLEW_OK && count > 0 && count < EPISODE_MAX_CHATS) {
            bool is_open = is_both;

            if (!is_both) {
                status =
                    may_enter(batch, &id, comer, chats, count, &is_open, err);
            }
            *out = is_open ? id : *out;
        }
    }
    return status;
}

static void add_line(struct buf *out, const char *separator, struct str text)
{
    if (text.len) {
        buf_printf(out, "%s%.*s", out->len ? separator : "", (int)text.len,
                   text.s);
    }
}

/* Titles for the micro summary, what each chat was about for the meso. */
static enum clew_status sum_up(struct batch_work *batch,
                               struct episode *episode, struct clew_error *err)
{
    struct uuid *ids;
    size_t count;
    struct buf micro;
    struct buf meso;
    struct buf cited;
    enum clew_status status =
        episode_chats(batch->tx, batch->arena, &episode->id, &ids, &count, err);

    buf_init(&micro, 1 << 16);
    buf_init(&meso, 1 << 18);
    buf_init(&cited, 1 << 16);
    buf_append_cstr(&cited, "{\"chats\":[");
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct member member;
        char text[UUID_TEXT_SIZE];
        struct chat *chat;

        status = member_load(batch, &ids[i], &member, err);
        if (status != CLEW_OK) {
            break;
        }
        chat = chat_of(&member);
        uuid_format(&ids[i], text);
        buf_printf(&cited, "%s\"%s\"", i ? "," : "", text);
        add_line(&micro, "; ", chat->title);
        add_line(&meso, "\n", chat->summary.s ? chat->summary : chat->title);
    }
    buf_append_cstr(&cited, "]}");
    if (status == CLEW_OK) {
        episode->micro = arena_str(
            batch->arena, summary_cut(buf_str(&micro), SUMMARY_MICRO_TOKENS));
        episode->meso = arena_str(
            batch->arena, summary_cut(buf_str(&meso), SUMMARY_MESO_TOKENS));
        episode->citations = arena_str(batch->arena, buf_str(&cited));
        episode->method = STR("extractive");
        episode->coverage = 1;
        if (!episode->micro.s || !episode->meso.s || !episode->citations.s) {
            status = clew_no_memory(err);
        }
    }
    buf_release(&micro);
    buf_release(&meso);
    buf_release(&cited);
    return status;
}

enum clew_status episode_refresh(struct batch_work *batch,
                                 const struct uuid *id, int64_t now_ms,
                                 struct clew_error *err)
{
    struct episode episode;
    enum clew_status status =
        episode_find(batch->tx, batch->arena, id, &episode, err);

    if (status == CLEW_OK) {
        status = sum_up(batch, &episode, err);
    }
    episode.updated_at_ms = now_ms;
    return status == CLEW_OK ? episode_update(batch, &episode, err) : status;
}

static enum clew_status make(struct batch_work *batch,
                             const struct episode_join *join,
                             const struct chat *chat, struct uuid *out_id,
                             struct clew_error *err)
{
    /* a turn may make two, where chats must not come together */
    bool is_first = join->is_sure && chat->cross_episodes.len == 0;
    struct episode episode = {.type = STR("cross_chat")};

    episode.id =
        is_first ? uuid_derive(join->time_ms, &join->source, "cross_chat", 0)
                 : uuid_derive(join->time_ms, &join->link_id, "cross_chat", 0);
    episode.user_id = chat->user_id;
    episode.created_at_ms = join->time_ms;
    episode.updated_at_ms = join->time_ms;
    *out_id = episode.id;
    return episode_insert(batch->tx, &episode, err);
}

static enum clew_status enter(struct batch_work *batch, const struct uuid *id,
                              struct member *member, const struct uuid *link_id,
                              int64_t time_ms, struct clew_error *err)
{
    enum clew_status status =
        db_exec(batch->tx, &ADD_CHAT,
                DB_ARGS(db_uuid(id), db_uuid(&chat_of(member)->id),
                        db_uuid(link_id), db_int(time_ms)),
                err);

    return status == CLEW_OK ? note(batch, member, id, err) : status;
}

enum clew_status episode_join(struct batch_work *batch,
                              const struct episode_join *join,
                              struct uuid *out_id, bool *out_is_new,
                              struct clew_error *err)
{
    struct uuid none = {{0}};
    struct member chat;
    struct member other;
    struct uuid id;
    bool is_new = false;
    bool is_theirs = false;
    enum clew_status status = member_load(batch, &join->chat_id, &chat, err);

    if (status == CLEW_OK) {
        status = member_load(batch, &join->other_chat_id, &other, err);
    }
    id = none;
    if (status == CLEW_OK && join->is_sure) {
        status = find_room(batch, chat_of(&chat), &join->other_chat_id,
                           join->is_both, &id, err);
    }
    if (status == CLEW_OK && join->is_sure && uuid_is_nil(&id)) {
        status =
            find_room(batch, chat_of(&other), &join->chat_id, false, &id, err);
        is_theirs = !uuid_is_nil(&id);
    }
    if (status == CLEW_OK && uuid_is_nil(&id)) {
        is_new = true;
        status = make(batch, join, chat_of(&chat), &id, err);
    }
    /* the link is kept with the chat that came by it */
    if (status == CLEW_OK) {
        status = enter(batch, &id, &other,
                       is_new || is_theirs ? &none : &join->link_id,
                       join->time_ms - 1, err);
    }
    if (status == CLEW_OK) {
        status = enter(batch, &id, &chat, &join->link_id, join->time_ms, err);
    }
    if (status == CLEW_OK) {
        status = episode_refresh(batch, &id, join->time_ms, err);
    }
    if (status == CLEW_OK) {
        *out_id = id;
        *out_is_new = is_new;
    }
    return status;
}

/* An episode of one chat joins nothing. */
static enum clew_status dissolve(struct batch_work *batch,
                                 const struct uuid *id,
                                 const struct uuid *chat_ids, size_t count,
                                 int64_t now_ms, struct clew_error *err)
{
    struct index_doc doc = {
        .kind = INDEX_EPISODE, .is_removed = true, .id = *id};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = unnote(batch, &chat_ids[i], id, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(batch->tx, &REMOVE_CHATS, DB_ARGS(db_uuid(id)), err);
    }
    if (status == CLEW_OK) {
        status = db_exec(batch->tx, &REMOVE, DB_ARGS(db_uuid(id)), err);
    }
    if (status == CLEW_OK) {
        status = work_take_change(batch, &doc.change_seq, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(
            batch->tx, &BURY,
            DB_ARGS(db_int(doc.change_seq), db_uuid(id), db_int(now_ms)), err);
    }
    return status == CLEW_OK ? work_add_doc(batch, &doc, err) : status;
}

struct pair {
    struct uuid episode_id;
    struct uuid chat_id;
};

static bool pair_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct pair *out = item;

    (void)arena;
    out->episode_id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 1);
    return true;
}

enum clew_status episode_part(struct batch_work *batch,
                              const struct uuid *link_id, int64_t now_ms,
                              struct clew_error *err)
{
    struct uuid *chats;
    size_t count;
    struct pair pair;
    enum clew_status status = rows_one(batch->tx, batch->arena, &SELECT_LINKED,
                                       DB_ARGS(db_uuid(link_id)), pair_of,
                                       &pair, sizeof(pair), "link", err);

    if (status != CLEW_OK) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    status = db_exec(batch->tx, &REMOVE_CHAT,
                     DB_ARGS(db_uuid(&pair.episode_id), db_uuid(&pair.chat_id)),
                     err);
    if (status == CLEW_OK) {
        status = unnote(batch, &pair.chat_id, &pair.episode_id, err);
    }
    if (status == CLEW_OK) {
        status = episode_chats(batch->tx, batch->arena, &pair.episode_id,
                               &chats, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (count < 2) {
        return dissolve(batch, &pair.episode_id, chats, count, now_ms, err);
    }
    return episode_refresh(batch, &pair.episode_id, now_ms, err);
}
