/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget.c - collect, count, leave a receipt. See forget.h, and
 * forget_cascade.c for what is deleted.
 *
 * The ids to go are collected in a scratch table, so that everything after is a
 * handful of set operations however much there is to forget.
 */
#include "engine/proof/forget.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/proof/forget_effort.h"
#include "engine/proof/forget_internal.h"
#include "engine/proof/forget_scrub.h"
#include "engine/proof/rebuild_later.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

/* --- collecting
 * ---------------------------------------------------------------- */

#define ADD_TURNS                                                              \
    "INSERT INTO forget_set (tenant, kind, id, chat_id, seq)"                  \
    " SELECT tenant, 'turn', id, chat_id, seq FROM turns WHERE tenant = $1 "   \
    "AND "

DB_SQL(ADD_TURN_IDS, ADD_TURNS "id = ANY($2)");
DB_SQL(ADD_EXTERNAL, ADD_TURNS "external_id = ANY($2)");
DB_SQL(ADD_CHAT_TURNS, ADD_TURNS "chat_id = $2");
DB_SQL(ADD_USER_TURNS, ADD_TURNS "user_id = $2");
/* Others may have spoken in them: what they said goes with the chat. */
DB_SQL(ADD_USER_CHAT_TURNS,
       ADD_TURNS "user_id <> $2 AND chat_id IN (SELECT c.id FROM chats c"
                 " WHERE c.tenant = $1 AND c.user_id = $2)");
DB_SQL(ADD_CHAT, "INSERT INTO forget_set (tenant, kind, id) SELECT tenant,"
                 " 'chat', id FROM chats WHERE tenant = $1 AND id = $2");
DB_SQL(ADD_USER_CHATS,
       "INSERT INTO forget_set (tenant, kind, id) SELECT tenant, 'chat', id"
       " FROM chats WHERE tenant = $1 AND user_id = $2");
DB_SQL(ADD_MEMORY_IDS,
       "INSERT INTO forget_set (tenant, kind, id) SELECT tenant, 'memory', id"
       " FROM memories WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(ADD_USER_MEMORIES,
       "INSERT INTO forget_set (tenant, kind, id) SELECT tenant, 'memory', id"
       " FROM memories WHERE tenant = $1 AND user_id = $2");
/* What was extracted from a turn goes with it. Found by its chat: asked of each
 * row whether it goes, every row of the tenant would be read. The scalar keeps
 * PostgreSQL, to which the scratch table is empty, from comparing each
 * reference with each turn. */
DB_SQL(ADD_DERIVED,
       "INSERT INTO forget_set (tenant, kind, id) SELECT m.tenant, 'memory',"
       " m.id FROM memories m WHERE m.tenant = $1"
       " AND m.origin IN ('extracted', 'llm') AND m.id IN (SELECT r.memory_id"
       " FROM memory_refs r WHERE r.tenant = $1 AND r.chat_id IN (SELECT"
       " chat_id FROM forget_set WHERE tenant = $1 AND kind = 'turn')"
       " AND (SELECT 1 FROM forget_set f WHERE f.tenant = $1"
       " AND f.kind = 'turn' AND f.chat_id = r.chat_id"
       " AND f.seq BETWEEN r.first_seq AND r.last_seq LIMIT 1) = 1)"
       " ON CONFLICT DO NOTHING");
/* What agents merged of the user's notes and others', and what they made of
 * that, is nobody's and tells the user's. */
DB_SQL(ADD_MERGED,
       "INSERT INTO forget_set (tenant, kind, id) WITH RECURSIVE made (id) AS"
       " (SELECT s.memory_id FROM forget_set f CROSS JOIN memory_sources s"
       " WHERE f.tenant = $1 AND f.kind = 'memory' AND s.tenant = $1"
       " AND s.source_id = f.id UNION SELECT s.memory_id FROM made o"
       " CROSS JOIN memory_sources s WHERE s.tenant = $1"
       " AND s.source_id = o.id) SELECT m.tenant, 'memory', m.id FROM made o"
       " CROSS JOIN memories m WHERE m.tenant = $1 AND m.id = o.id"
       " AND m.user_id = '' ON CONFLICT DO NOTHING");
#define OF_TOUCHED                                                             \
    " IN (SELECT COALESCE(chat_id, id) FROM forget_set WHERE tenant = $1 AND"  \
    " kind IN ('turn', 'chat'))"
/* Summaries may quote what goes. */
DB_SQL(ADD_EPISODES,
       "INSERT INTO forget_set (tenant, kind, id) SELECT e.tenant, 'episode',"
       " e.id FROM episodes e WHERE e.tenant = $1 AND e.chat_id" OF_TOUCHED
       " AND (EXISTS (SELECT 1 FROM forget_set c WHERE c.tenant = $1"
       " AND c.kind = 'chat' AND c.id = e.chat_id) OR EXISTS (SELECT 1 FROM"
       " forget_set f WHERE f.tenant = $1 AND f.kind = 'turn'"
       " AND f.chat_id = e.chat_id AND f.seq >= e.first_seq"
       " AND f.seq <= COALESCE(e.last_seq, 9223372036854775807)))"
       " ON CONFLICT DO NOTHING");
DB_SQL(ADD_CROSS,
       "INSERT INTO forget_set (tenant, kind, id) SELECT DISTINCT c.tenant,"
       " 'episode', c.episode_id FROM episode_chats c WHERE c.tenant = $1"
       " AND c.chat_id" OF_TOUCHED " ON CONFLICT DO NOTHING");
DB_SQL(COUNT_KIND,
       "SELECT COUNT(*) FROM forget_set WHERE tenant = $1 AND kind = $2");
DB_SQL(SELECT_SET, "SELECT kind, id FROM forget_set WHERE tenant = $1"
                   " AND kind > $2 OR (tenant = $1 AND kind = $2 AND id > $3)"
                   " ORDER BY kind, id LIMIT 10000");

DB_SQL(CLEAR_SET, "DELETE FROM forget_set WHERE tenant = $1");
DB_SQL(INSERT_RECEIPT,
       "INSERT INTO forget_receipts (tenant, id, selector, counts, digest,"
       " created_at) VALUES ($1, $2, $3, $4, $5, $6)");

/* Run a statement that must find as many rows as were named. */
static enum clew_status collect(struct store_tx *tx, const struct db_sql *sql,
                                struct db_value what, int64_t wanted,
                                struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status =
        db_exec_count(tx, sql, DB_ARGS(what), &count, err);

    if (status == CLEW_OK && wanted >= 0 && count != wanted) {
        return clew_fail(err, CLEW_NOT_FOUND,
                         "something named here does not exist");
    }
    return status;
}

static enum clew_status collect_user(struct store_tx *tx, struct str user_id,
                                     struct clew_error *err)
{
    struct db_value user = db_text(user_id);
    enum clew_status status = collect(tx, &ADD_USER_TURNS, user, -1, err);

    if (status == CLEW_OK) {
        status = collect(tx, &ADD_USER_CHAT_TURNS, user, -1, err);
    }
    if (status == CLEW_OK) {
        status = collect(tx, &ADD_USER_CHATS, user, -1, err);
    }
    return status == CLEW_OK ? collect(tx, &ADD_USER_MEMORIES, user, -1, err)
                             : status;
}

/* Fill the scratch table from the one selector that is set. */
static enum clew_status collect_all(struct forget_work *work,
                                    struct store_tx *tx, struct clew_error *err)
{
    const struct forget_input *in = work->input;
    enum clew_status status;

    if (in->n_turn_ids > 0) {
        work->selector = "turn_ids";
        status =
            collect(tx, &ADD_TURN_IDS, db_uuids(in->turn_ids, in->n_turn_ids),
                    (int64_t)in->n_turn_ids, err);
    } else if (in->n_external_ids > 0) {
        work->selector = "external_ids";
        status = collect(tx, &ADD_EXTERNAL,
                         db_texts(in->external_ids, in->n_external_ids),
                         (int64_t)in->n_external_ids, err);
    } else if (in->n_memory_ids > 0) {
        work->selector = "memory_ids";
        status = collect(tx, &ADD_MEMORY_IDS,
                         db_uuids(in->memory_ids, in->n_memory_ids),
                         (int64_t)in->n_memory_ids, err);
    } else if (!uuid_is_nil(&in->chat_id)) {
        work->selector = "chat_id";
        status = collect(tx, &ADD_CHAT, db_uuid(&in->chat_id), 1, err);
        if (status == CLEW_OK) {
            status =
                collect(tx, &ADD_CHAT_TURNS, db_uuid(&in->chat_id), -1, err);
        }
    } else {
        work->selector = "user_id";
        status = collect_user(tx, in->user_id, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &ADD_DERIVED, DB_NO_ARGS, err);
    }
    if (status == CLEW_OK && in->user_id.s) {
        status = db_exec(tx, &ADD_MERGED, DB_NO_ARGS, err);
    }
    if (status == CLEW_OK && in->n_memory_ids == 0 && !in->user_id.s) {
        status = forget_effort_spare(work, tx, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &ADD_EPISODES, DB_NO_ARGS, err);
    }
    return status == CLEW_OK ? db_exec(tx, &ADD_CROSS, DB_NO_ARGS, err)
                             : status;
}

/* The digest over all kinds and ids, page by page. */
static enum clew_status digest_set(struct forget_work *work,
                                   struct store_tx *tx, struct clew_error *err)
{
    static const struct uuid nil;
    struct sha256 hash;
    char kind[16] = "";
    struct uuid id = nil;
    size_t n;

    sha256_init(&hash);
    do {
        struct db_value after = db_bytes(id.b, 16);
        struct db_rows rows;
        enum clew_status status;

        after.type = DB_UUID; /* the nil id is a value here, not NULL */
        status = db_query(tx, &SELECT_SET, DB_ARGS(db_cstr(kind), after), &rows,
                          err);
        if (status != CLEW_OK) {
            return status;
        }
        for (n = 0; db_next(&rows); n++) {
            struct str name = db_get_text(&rows, 0);

            (void)snprintf(kind, sizeof(kind), "%.*s", (int)name.len, name.s);
            id = db_get_uuid(&rows, 1);
            sha256_add(&hash, kind, strlen(kind) + 1);
            sha256_add(&hash, id.b, sizeof(id.b));
        }
        status = db_end(&rows, err);
        if (status != CLEW_OK) {
            return status;
        }
    } while (n > 0);
    sha256_get(&hash, work->digest);
    hex_format(work->digest, sizeof(work->digest), work->out->sha256);
    return CLEW_OK;
}

/* A dry run counts what is collected. */
static enum clew_status count_set(struct forget_work *work, struct store_tx *tx,
                                  struct clew_error *err)
{
    static const char *const kinds[][2] = {
        {"turn", "turns"}, {"memory", "memories"}, {"chat", "chats"}};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < 3 && status == CLEW_OK; i++) {
        int64_t count = 0;

        status = rows_number(tx, &COUNT_KIND, DB_ARGS(db_cstr(kinds[i][0])),
                             &count, err);
        if (status == CLEW_OK) {
            forget_count_add(work->out, kinds[i][1], count);
        }
    }
    return status;
}

static enum clew_status write_receipt(struct forget_work *work,
                                      struct store_tx *tx,
                                      struct clew_error *err)
{
    struct forget_receipt *out = work->out;
    struct buf counts;
    enum clew_status status;

    out->id = uuid_new(work->now_ms);
    buf_init(&counts, 4096);
    for (size_t i = 0; i < out->n_counts; i++) {
        (void)buf_printf(&counts, "%c\"%s\":%lld", i ? ',' : '{',
                         out->counts[i].name, (long long)out->counts[i].count);
    }
    (void)buf_append_char(&counts, '}');
    status = buf_status(&counts);
    if (status == CLEW_OK) {
        status = db_exec(tx, &INSERT_RECEIPT,
                         DB_ARGS(db_uuid(&out->id), db_cstr(work->selector),
                                 db_text(buf_str(&counts)),
                                 db_bytes(work->digest, SHA256_SIZE),
                                 db_int(work->now_ms)),
                         err);
    }
    buf_release(&counts);
    return status;
}

/*
 * A memory that was extracted would come back when the log is replayed: that it
 * is to be forgotten belongs to the log. Where turns are gone, what later ones
 * were found to mean may still follow from them until all is derived again.
 */
static enum clew_status note_forget(struct forget_work *work,
                                    struct store_tx *tx, struct clew_error *err)
{
    const struct forget_input *in = work->input;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < in->n_memory_ids && status == CLEW_OK; i++) {
        struct action_new action = {.kind = ACTION_MEMORY_FORGET,
                                    .subject = &in->memory_ids[i],
                                    .at_ms = work->now_ms};

        status = action_add(tx, &action, err);
    }
    return status == CLEW_OK && in->n_memory_ids == 0
               ? rebuild_later(work->engine, tx, work->arena, work->now_ms, err)
               : status;
}

static enum clew_status do_forget(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct forget_work *work = arg;
    enum clew_status status;

    memset(work->out, 0, sizeof(*work->out));
    work->n_spared = 0;
    work->now_ms = clock_now_ms(work->engine->clock); /* it may have waited */
    status = collect_all(work, tx, err);
    if (status == CLEW_OK) {
        status = digest_set(work, tx, err);
    }
    if (status == CLEW_OK && work->input->is_dry_run) {
        status = count_set(work, tx, err);
    } else if (status == CLEW_OK) {
        status = forgotten_leave(tx, work->arena, work->now_ms, err);
        if (status == CLEW_OK) {
            status = forget_answers(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = forget_corrections(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = forget_effort_trim(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = forget_cascade(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = note_forget(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = write_receipt(work, tx, err);
        }
        work->end_ms = clock_now_ms(work->engine->clock);
        if (status == CLEW_OK && work->input->user_id.s) {
            status = forgotten_leave_user(tx, work->arena, work->input->user_id,
                                          work->end_ms, err);
        }
        if (status == CLEW_OK && !work->engine->replay) {
            status = forget_scrub_later(tx, work->arena, &work->out->id,
                                        work->now_ms, err);
        }
    }
    return status == CLEW_OK ? db_exec(tx, &CLEAR_SET, DB_NO_ARGS, err)
                             : status;
}

/* What a receipt must not keep quiet about. */
static const char *remains(const struct engine *engine, bool is_scrubbed)
{
    if (strcmp(store_backend(engine->store), "postgres") != 0) {
        return is_scrubbed ? "in backups and exports made before"
                           : "in files of the index or the store until the "
                             "task \"scrub\" has run, and in backups and "
                             "exports made before";
    }
    return is_scrubbed
               ? "in PostgreSQL's write-ahead log until it is recycled, on "
                 "standbys until they have replayed it, and in backups, "
                 "archived logs and exports made before"
               : "in pages of large or busy tables until they are written "
                 "anew (VACUUM FULL), in PostgreSQL's write-ahead log until "
                 "it is recycled, on standbys, and in backups, archived logs "
                 "and exports made before";
}

enum clew_status forget_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct forget_input *input,
                            struct forget_receipt *out, struct clew_error *err)
{
    struct forget_work work = {
        .engine = engine, .arena = arena, .input = input, .out = out};
    int given = (input->n_turn_ids > 0) + (input->n_external_ids > 0) +
                (input->n_memory_ids > 0) + !uuid_is_nil(&input->chat_id) +
                (input->user_id.s != NULL);
    enum clew_status status;

    if (given != 1) {
        return clew_fail(err, CLEW_INVALID,
                         "name exactly one of turn_ids, external_ids, "
                         "memory_ids, chat_id and user_id");
    }
    status = store_write(engine->store, scope, do_forget, &work, err);
    if (status != CLEW_OK || input->is_dry_run || engine->replay) {
        return status;
    }
    clock_wait_past(engine->clock, work.end_ms); /* what is sent now is new */
    status = forget_scrub(engine, scope, &out->id, err);
    out->is_scrubbed = status == CLEW_OK;
    out->remains = remains(engine, out->is_scrubbed);
    return CLEW_OK; /* forgotten is forgotten: the caller gets the receipt */
}
