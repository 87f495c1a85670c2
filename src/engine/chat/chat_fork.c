/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_fork.c - a chat leaves another at a turn: whose turn that is, what the
 * fork is called. See chat.h.
 */
#include "engine/chat/chat.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"
#include "text/title.h"

#include <string.h>

/* What named a chat up to a turn. */
DB_SQL(SELECT_NAMING_EFFORT,
       "SELECT m.summary FROM memories m JOIN memory_refs r"
       " ON r.tenant = m.tenant AND r.memory_id = m.id AND r.chat_id ="
       " m.chat_id WHERE m.tenant = $1 AND m.chat_id = $2 AND m.type ="
       " 'effort' AND m.origin = 'extracted' AND m.parent_id IS NULL"
       " AND r.first_seq <= $3 ORDER BY r.first_seq LIMIT 1");
DB_SQL(SELECT_NAMING_TURNS,
       "SELECT text FROM turns WHERE tenant = $1 AND chat_id = $2 AND seq <= $3"
       " AND role = 'user' ORDER BY seq LIMIT 8");
DB_SQL(SELECT_BRANCHES,
       "SELECT branch FROM chats WHERE tenant = $1 AND conversation_id = $2"
       " AND SUBSTR(branch, 1, CAST($4 AS INTEGER)) = $3");

static bool text_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    return rows_text(arena, rows, 0, item);
}

/* "branch_20261115023100" in UTC, as spec/linking.md names forks; those of one
 * conversation differ, whenever they are made. */
static enum clew_status branch_name(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *conversation_id,
                                    int64_t now_ms, struct str *out,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct str), .fn = text_of};
    char t[CLOCK_TEXT_SIZE];
    const struct str *taken;
    enum clew_status status;
    size_t n = 1;

    clock_format(now_ms, t);
    *out = str_of(arena_printf(arena, "branch_%.4s%.2s%.2s%.2s%.2s%.2s", t,
                               t + 5, t + 8, t + 11, t + 14, t + 17));
    if (!out->s) {
        return clew_no_memory(err);
    }
    status = rows_add(tx, &list, &SELECT_BRANCHES,
                      DB_ARGS(db_uuid(conversation_id), db_text(*out),
                              db_int((int64_t)out->len)),
                      err);
    taken = list.items;
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const char *other;

        if (!str_eq(taken[i], *out)) {
            continue;
        }
        other = arena_printf(arena, "%.*s_%zu", (int)strlen("branch_") + 14,
                             out->s, ++n);
        if (!other) {
            return clew_no_memory(err);
        }
        *out = str_of(other);
        i = SIZE_MAX; /* from the start: the next one may be taken too */
    }
    return status;
}

/* Find the chat of `parent`'s line that holds turn `at_seq`. */
static enum clew_status owner_of(struct store_tx *tx, struct arena *arena,
                                 const struct chat *parent, int64_t at_seq,
                                 struct chat *out_owner, struct clew_error *err)
{
    struct chat_part *parts;
    size_t count;
    enum clew_status status;

    *out_owner = *parent;
    if (at_seq > parent->fork_seq || uuid_is_nil(&parent->parent_id)) {
        return CLEW_OK;
    }
    status = chat_line(tx, arena, &parent->id, &parts, &count, err);
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = count; i-- > 0;) {
        if (at_seq > parts[i].after_seq || i == 0) {
            return chat_find(tx, arena, &parts[i].chat_id, out_owner, err);
        }
    }
    return CLEW_OK;
}

static enum clew_status note_fork(struct store_tx *tx,
                                  const struct chat *parent, int64_t at_seq,
                                  struct str title, const struct chat *fork,
                                  struct clew_error *err)
{
    struct action_new action = {.kind = ACTION_CHAT_FORK,
                                .subject = &parent->id,
                                .made = &fork->id,
                                .detail = json_object(),
                                .at_ms = fork->created_at_ms};

    if (!json_set_int(action.detail, "at_seq", at_seq) ||
        !json_set_str(action.detail, "title", title) ||
        !json_set_str(action.detail, "branch", fork->branch)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

/* The title of `owner` at a turn: its first effort names it, or else what was
 * said first. A person's own title holds for all of it. */
static enum clew_status title_then(struct store_tx *tx, struct arena *arena,
                                   const struct chat *parent,
                                   const struct chat *owner, int64_t at_seq,
                                   struct str *out, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct str), .fn = text_of};
    const struct str *texts;
    enum clew_status status;

    *out = parent->title;
    if (parent->is_titled_by_user || at_seq == parent->last_seq) {
        return CLEW_OK;
    }
    status = rows_add(tx, &list, &SELECT_NAMING_EFFORT,
                      DB_ARGS(db_uuid(&owner->id), db_int(at_seq)), err);
    if (status == CLEW_OK && list.count == 0) {
        status = rows_add(tx, &list, &SELECT_NAMING_TURNS,
                          DB_ARGS(db_uuid(&owner->id), db_int(at_seq)), err);
    }
    texts = list.items;
    *out = (struct str){NULL, 0};
    for (size_t i = 0; status == CLEW_OK && i < list.count && !out->s; i++) {
        if (title_of(arena, texts[i], out) != CLEW_OK) {
            return clew_no_memory(err);
        }
    }
    if (status == CLEW_OK && !out->s && !uuid_is_nil(&owner->parent_id)) {
        *out = owner->title; /* it began with that of the chat above */
    }
    return status;
}

enum clew_status chat_fork(struct store_tx *tx, struct arena *arena,
                           const struct chat *parent, int64_t at_seq,
                           struct str title, struct str branch,
                           const struct chat_birth *birth,
                           struct chat *out_chat, struct clew_error *err)
{
    int64_t now_ms = birth->at_ms;
    struct chat owner;
    struct chat fork;
    enum clew_status status;

    if (at_seq < 0 || at_seq > parent->last_seq) {
        return clew_fail_field(err, "at_seq",
                               "\"at_seq\" must be from 0 to %lld",
                               (long long)parent->last_seq);
    }
    status = owner_of(tx, arena, parent, at_seq, &owner, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (owner.depth >= LIMIT_FORK_DEPTH) {
        return clew_fail(err, CLEW_TOO_LARGE, "forks are more than %d deep",
                         LIMIT_FORK_DEPTH);
    }
    fork = owner;
    fork.id = birth->id;
    fork.parent_id = owner.id;
    fork.depth = owner.depth + 1;
    fork.fork_seq = at_seq;
    fork.last_seq = at_seq;
    fork.branch = branch;
    fork.title = title;
    fork.is_titled_by_user = title.s != NULL;
    fork.summary = (struct str){NULL, 0};
    fork.primary_episode_id = (struct uuid){{0}};
    fork.cross_episodes = (struct str){NULL, 0};
    fork.is_explicit = true;
    fork.created_at_ms = now_ms;
    fork.last_activity_at_ms = now_ms;
    fork.closed_at_ms = 0;
    if (!branch.s) {
        status = branch_name(tx, arena, &owner.conversation_id, now_ms,
                             &fork.branch, err);
    }
    /* a sub-agent's talk is named by what it answers (place.c) */
    if (status == CLEW_OK && !title.s && !chat_is_subtask(&fork)) {
        status =
            title_then(tx, arena, parent, &owner, at_seq, &fork.title, err);
    }
    if (status == CLEW_OK) {
        status = chat_insert(tx, &fork, err);
    }
    if (status == CLEW_OK) {
        status = note_fork(tx, parent, at_seq, title, &fork, err);
    }
    if (status == CLEW_OK) {
        *out_chat = fork;
    }
    return status;
}

struct fork_work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    int64_t at_seq; /* < 0: at the end */
    struct str title;
    struct str branch; /* s == NULL: made up */
    int64_t now_ms;
    struct chat *out;
};

static enum clew_status do_fork(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct fork_work *work = arg;
    struct chat_birth birth = {action_new_id(work->engine, work->now_ms),
                               work->now_ms};
    struct chat parent;
    enum clew_status status =
        chat_find(tx, work->arena, work->id, &parent, err);

    return status == CLEW_OK
               ? chat_fork(tx, work->arena, &parent,
                           work->at_seq < 0 ? parent.last_seq : work->at_seq,
                           work->title, work->branch, &birth, work->out, err)
               : status;
}

/* What a sub-agent's fork is called; s == NULL on OOM. */
static struct str subtask_branch(struct arena *arena, struct str name)
{
    return str_of(arena_printf(arena, "subtask_%.*s", (int)name.len, name.s));
}

enum clew_status chat_fork_from(struct engine *engine, struct store_tx *tx,
                                struct arena *arena,
                                const struct chat_origin *origin,
                                struct chat *out_chat, struct clew_error *err)
{
    struct fork_work work = {.engine = engine,
                             .arena = arena,
                             .id = &origin->chat_id,
                             .at_seq = origin->at_seq,
                             .now_ms = clock_now_ms(engine->clock),
                             .out = out_chat};

    if (origin->subtask.s) {
        work.branch = subtask_branch(arena, origin->subtask);
        if (!work.branch.s) {
            return clew_no_memory(err);
        }
    }
    return do_fork(tx, &work, err);
}

enum clew_status chat_fork_at(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              int64_t at_seq, struct str title,
                              struct chat *out_chat, struct clew_error *err)
{
    struct chat fork;
    struct fork_work work = {.engine = engine,
                             .arena = arena,
                             .id = id,
                             .at_seq = at_seq,
                             .title = title,
                             .now_ms = clock_now_ms(engine->clock),
                             .out = &fork};
    enum clew_status status =
        store_write(engine->store, scope, do_fork, &work, err);

    if (status == CLEW_OK) {
        *out_chat = fork;
    }
    return status;
}

enum clew_status chat_fork_subtask(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, const struct uuid *id,
                                   struct str name, struct chat *out_chat,
                                   struct clew_error *err)
{
    struct chat fork;
    struct fork_work work = {.engine = engine,
                             .arena = arena,
                             .id = id,
                             .branch = subtask_branch(arena, name),
                             .now_ms = clock_now_ms(engine->clock),
                             .out = &fork};
    enum clew_status status;

    if (!work.branch.s) {
        return clew_no_memory(err);
    }
    status = store_write(engine->store, scope, do_fork, &work, err);
    if (status == CLEW_OK) {
        *out_chat = fork;
    }
    return status;
}
