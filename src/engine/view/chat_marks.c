/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_marks.c - what was worked out about a stretch of a chat. See
 * chat_marks.h.
 */
#include "engine/view/chat_marks.h"

#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

/* All: $2 the chat, turns ($3, $4]. */
DB_SQL(TOPICS,
       "SELECT DISTINCT c.seq, h.id, h.topic, h.state FROM chain_steps c"
       " JOIN chains h ON h.tenant = $1 AND h.id = COALESCE(c.moved_to,"
       " c.chain_id) WHERE c.tenant = $1 AND c.chat_id = $2 AND c.seq > $3"
       " AND c.seq <= $4 AND c.claims <> '' ORDER BY c.seq LIMIT 4000");
#define REFINED                                                                \
    "(SELECT COUNT(*) FROM memory_sources s JOIN memories n"                   \
    " ON n.tenant = s.tenant AND n.id = s.memory_id"                           \
    " AND n.retracted_at IS NULL"                                              \
    " WHERE s.tenant = $1 AND s.source_id = m.id)"
DB_SQL(MEMORIES,
       "SELECT m.id, m.type, m.status, m.summary, m.resolution, r.first_seq,"
       " r.last_seq, m.retracted_at, " REFINED
       " FROM memory_refs r JOIN memories m ON m.tenant = r.tenant"
       " AND m.id = r.memory_id WHERE r.tenant = $1 AND r.chat_id = $2"
       " AND r.first_seq > $3 AND r.first_seq <= $4 AND m.type <> 'effort'"
       " ORDER BY r.first_seq, m.id LIMIT 2000");
/* Those that reach into the stretch from outside as well. */
DB_SQL(EFFORTS,
       "SELECT m.id, MAX(m.type), MAX(m.status), MAX(m.summary),"
       " MAX(m.resolution), MIN(r.first_seq), MAX(r.last_seq),"
       " MAX(m.retracted_at), 0"
       " FROM memories m JOIN memory_refs r ON r.tenant = m.tenant"
       " AND r.memory_id = m.id AND r.chat_id = $2 WHERE m.tenant = $1"
       " AND m.chat_id = $2 AND m.type = 'effort' AND m.retracted_at IS NULL"
       " GROUP BY m.id HAVING MIN(r.first_seq) <= $4"
       " AND MAX(r.last_seq) > $3 ORDER BY MIN(r.first_seq), m.id LIMIT 500");
DB_SQL(FORKS,
       "SELECT id, fork_seq, branch, title, last_seq - fork_seq FROM chats"
       " WHERE tenant = $1 AND parent_id = $2 AND fork_seq > $3"
       " AND fork_seq <= $4 ORDER BY fork_seq, id LIMIT 500");
DB_SQL(EPISODES,
       "SELECT id, first_seq, COALESCE(last_seq, compacted_seq), compacted_at"
       " FROM episodes WHERE tenant = $1 AND chat_id = $2"
       " AND type = 'primary' AND COALESCE(last_seq, compacted_seq) > $3"
       " AND first_seq <= $4 ORDER BY first_seq LIMIT 500");

static bool topic_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct chat_mark_topic *out = item;

    out->seq = db_get_int(rows, 0);
    out->chain_id = db_get_uuid(rows, 1);
    return rows_text(arena, rows, 2, &out->topic) &&
           rows_text(arena, rows, 3, &out->state);
}

static bool memory_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct chat_mark_memory *out = item;

    out->id = db_get_uuid(rows, 0);
    out->first_seq = db_get_int(rows, 5);
    out->last_seq = db_get_int(rows, 6);
    out->is_retracted = !db_is_null(rows, 7);
    out->is_superseded = db_get_int(rows, 8) > 0;
    return rows_text(arena, rows, 1, &out->type) &&
           rows_text(arena, rows, 2, &out->status) &&
           rows_text(arena, rows, 3, &out->summary) &&
           rows_text(arena, rows, 4, &out->resolution);
}

static bool fork_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chat_mark_fork *out = item;

    out->chat_id = db_get_uuid(rows, 0);
    out->seq = db_get_int(rows, 1);
    out->n_turns = db_get_int(rows, 4);
    return rows_text(arena, rows, 2, &out->branch) &&
           rows_text(arena, rows, 3, &out->title);
}

static bool episode_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct chat_mark_episode *out = item;

    (void)arena;
    out->id = db_get_uuid(rows, 0);
    out->first_seq = db_get_int(rows, 1);
    out->last_seq = db_get_int(rows, 2);
    out->is_compacted = !db_is_null(rows, 3);
    return true;
}

struct work {
    struct arena *arena;
    const struct uuid *chat_id;
    int64_t after_seq;
    int64_t to_seq;
    struct chat_marks *out;
};

struct lists {
    struct rows_list topics;
    struct rows_list memories;
    struct rows_list efforts;
    struct rows_list forks;
    struct rows_list episodes;
};

/* What stands in one chat of the line. */
static enum clew_status read_part(struct store_tx *tx, const struct work *work,
                                  const struct chat_part *part,
                                  struct lists *lists, struct clew_error *err)
{
    int64_t after =
        part->after_seq > work->after_seq ? part->after_seq : work->after_seq;
    int64_t to = part->to_seq < work->to_seq ? part->to_seq : work->to_seq;
    const struct {
        struct rows_list *list;
        const struct db_sql *sql;
    } steps[] = {
        {&lists->topics, &TOPICS},     {&lists->memories, &MEMORIES},
        {&lists->efforts, &EFFORTS},   {&lists->forks, &FORKS},
        {&lists->episodes, &EPISODES},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && to > after &&
                       status == CLEW_OK;
         i++) {
        status = rows_add(
            tx, steps[i].list, steps[i].sql,
            DB_ARGS(db_uuid(&part->chat_id), db_int(after), db_int(to)), err);
    }
    return status;
}

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct arena *arena = work->arena;
    struct lists lists = {
        {.arena = arena,
         .size = sizeof(struct chat_mark_topic),
         .fn = topic_of},
        {.arena = arena,
         .size = sizeof(struct chat_mark_memory),
         .fn = memory_of},
        {.arena = arena,
         .size = sizeof(struct chat_mark_memory),
         .fn = memory_of},
        {.arena = arena, .size = sizeof(struct chat_mark_fork), .fn = fork_of},
        {.arena = arena,
         .size = sizeof(struct chat_mark_episode),
         .fn = episode_of}};
    struct chat_part *parts;
    size_t n_parts;
    enum clew_status status =
        chat_line(tx, arena, work->chat_id, &parts, &n_parts, err);

    for (size_t i = 0; status == CLEW_OK && i < n_parts; i++) {
        status = read_part(tx, work, &parts[i], &lists, err);
    }
    if (status == CLEW_OK) {
        *work->out = (struct chat_marks){
            lists.topics.items,   lists.topics.count,  lists.memories.items,
            lists.memories.count, lists.efforts.items, lists.efforts.count,
            lists.forks.items,    lists.forks.count,   lists.episodes.items,
            lists.episodes.count};
    }
    return status;
}

enum clew_status chat_marks_read(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *chat_id, int64_t after_seq,
                                 int64_t to_seq, struct chat_marks *out,
                                 struct clew_error *err)
{
    struct work work = {arena, chat_id, after_seq, to_seq, out};

    return store_read(engine->store, scope, do_read, &work, err);
}
