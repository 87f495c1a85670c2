/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget.c - collect, count, delete, leave tombstones. See forget.h.
 *
 * The ids to go are collected in a scratch table, so that everything after is a
 * handful of set operations however much there is to forget.
 */
#include "engine/proof/forget.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/chat/timeout.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_graph.h"
#include "engine/proof/rebuild_later.h"
#include "engine/topic/chain.h"
#include "index/index.h"
#include "store/db.h"

#include <assert.h>
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
       ADD_TURNS "chat_id IN (SELECT c.id FROM chats c WHERE c.tenant = $1"
                 " AND c.user_id = $2) ON CONFLICT DO NOTHING");
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
/* What was extracted from a turn goes with it. */
DB_SQL(ADD_DERIVED,
       "INSERT INTO forget_set (tenant, kind, id) SELECT m.tenant, 'memory',"
       " m.id FROM memories m WHERE m.tenant = $1"
       " AND m.origin IN ('extracted', 'llm')"
       " AND EXISTS (SELECT 1 FROM memory_refs r JOIN forget_set f"
       " ON f.tenant = r.tenant AND f.kind = 'turn' AND f.chat_id = r.chat_id"
       " AND f.seq BETWEEN r.first_seq AND r.last_seq"
       " WHERE r.tenant = $1 AND r.memory_id = m.id)"
       " ON CONFLICT DO NOTHING");
/* Summaries may quote what goes. */
DB_SQL(ADD_EPISODES,
       "INSERT INTO forget_set (tenant, kind, id) SELECT DISTINCT e.tenant,"
       " 'episode', e.id FROM episodes e JOIN forget_set f"
       " ON f.tenant = e.tenant WHERE e.tenant = $1 AND (f.kind = 'chat'"
       " AND f.id = e.chat_id OR f.kind = 'turn' AND f.chat_id = e.chat_id"
       " AND f.seq >= e.first_seq AND (e.last_seq IS NULL"
       " OR f.seq <= e.last_seq)) ON CONFLICT DO NOTHING");
DB_SQL(ADD_CROSS,
       "INSERT INTO forget_set (tenant, kind, id) SELECT DISTINCT c.tenant,"
       " 'episode', c.episode_id FROM episode_chats c JOIN forget_set f"
       " ON f.tenant = c.tenant WHERE c.tenant = $1 AND (f.kind = 'chat'"
       " AND f.id = c.chat_id OR f.kind = 'turn' AND f.chat_id = c.chat_id)"
       " ON CONFLICT DO NOTHING");
DB_SQL(COUNT_KIND,
       "SELECT COUNT(*) FROM forget_set WHERE tenant = $1 AND kind = $2");
DB_SQL(SELECT_SET, "SELECT kind, id FROM forget_set WHERE tenant = $1"
                   " AND kind > $2 OR (tenant = $1 AND kind = $2 AND id > $3)"
                   " ORDER BY kind, id LIMIT 10000");

/* --- deleting
 * ------------------------------------------------------------------ */

#define OF(kind)                                                               \
    " IN (SELECT id FROM forget_set WHERE tenant = $1 AND kind = '" kind "')"

/* What refined something forgotten refines what that refined: forgetting a
 * value must not bring back the one before it. */
#define FORGOTTEN OF("memory")
DB_SQL(
    CARRY_SOURCES,
    "INSERT INTO memory_sources (tenant, memory_id, source_id, ordinal,"
    " created_at) WITH RECURSIVE up (memory_id, source_id) AS ("
    "SELECT memory_id, source_id FROM memory_sources WHERE tenant = $1"
    " AND source_id" FORGOTTEN " AND NOT memory_id" FORGOTTEN
    " UNION SELECT u.memory_id, s.source_id FROM up u JOIN memory_sources s"
    " ON s.tenant = $1 AND s.memory_id = u.source_id"
    " WHERE u.source_id" FORGOTTEN ") SELECT m.tenant, u.memory_id,"
    " u.source_id, 0, m.created_at FROM up u JOIN memories m"
    " ON m.tenant = $1 AND m.id = u.memory_id WHERE NOT u.source_id" FORGOTTEN
    " AND m.lineage = 'refinement' ON CONFLICT DO NOTHING");
DB_SQL(DROP_SOURCES,
       "DELETE FROM memory_sources WHERE tenant = $1 AND"
       " (memory_id" OF("memory") " OR source_id" OF("memory") ")");
DB_SQL(DROP_REFS, "DELETE FROM memory_refs WHERE tenant = $1 AND"
                  " (memory_id" OF("memory") " OR chat_id" OF("chat") ")");
DB_SQL(
    DROP_ACCESS,
    "DELETE FROM memory_access WHERE tenant = $1 AND memory_id" OF("memory"));
DB_SQL(
    DROP_RESULTS,
    "DELETE FROM agent_results WHERE tenant = $1 AND memory_id" OF("memory"));
DB_SQL(DROP_IMPORTS, "DELETE FROM chat_memories WHERE tenant = $1 AND"
                     " (memory_id" OF("memory") " OR chat_id" OF("chat") ")");
DB_SQL(DROP_KEYS,
       "DELETE FROM memory_keys WHERE tenant = $1 AND (memory_id" OF(
           "memory") " OR (kind = 'suspect' AND digest" OF("memory") "))");
DB_SQL(DROP_UNREAD,
       "DELETE FROM unread WHERE tenant = $1 AND turn_id" OF("turn"));
DB_SQL(DROP_EFFORTS, "DELETE FROM efforts WHERE tenant = $1 AND"
                     " (memory_id" OF("memory") " OR thread_id" OF("chat") ")");
/* Offers live for one answer: all of them go. */
DB_SQL(DROP_STARTS, "DELETE FROM starts WHERE tenant = $1");
DB_SQL(DROP_MEMORIES,
       "DELETE FROM memories WHERE tenant = $1 AND id" OF("memory"));
DB_SQL(DROP_VECTORS,
       "DELETE FROM vectors WHERE tenant = $1 AND EXISTS (SELECT 1 FROM"
       " forget_set f WHERE f.tenant = $1 AND f.kind = vectors.kind"
       " AND f.id = vectors.id)");
/* Titles and summaries may quote what goes. */
DB_SQL(BLANK_CHATS,
       "UPDATE chats SET summary = NULL, title = CASE WHEN"
       " is_titled_by_user = 1 THEN title ELSE NULL END WHERE tenant = $1"
       " AND id IN (SELECT chat_id FROM forget_set WHERE tenant = $1"
       " AND kind = 'turn')");
DB_SQL(DROP_EPISODE_CHATS,
       "DELETE FROM episode_chats WHERE tenant = $1 AND chat_id" OF("chat"));
/* Of a chat that stays, only the summaries go; compaction makes them anew. */
DB_SQL(WIPE_EPISODES,
       "UPDATE episodes SET micro = NULL, meso = NULL, meso_packed = NULL,"
       " macro = NULL, macro_packed = NULL, citations = NULL, packed = NULL,"
       " compacted_seq = 0, compacted_at = NULL"
       " WHERE tenant = $1 AND id" OF("episode"));
DB_SQL(DROP_EPISODES,
       "DELETE FROM episodes WHERE tenant = $1 AND chat_id" OF("chat"));
DB_SQL(DROP_LINKS,
       "DELETE FROM link_decisions WHERE tenant = $1 AND (chat_id" OF(
           "chat") " OR other_chat_id" OF("chat") ")");
#define OF_TOUCHED                                                             \
    " IN (SELECT COALESCE(chat_id, id) FROM forget_set WHERE tenant = $1 AND"  \
    " kind IN ('turn', 'chat'))"
/* A model's reasons may quote what goes. */
DB_SQL(BLANK_LINKS, "UPDATE link_decisions SET signals = '{}',"
                    " packed = NULL WHERE tenant = $1"
                    " AND llm IS NOT NULL AND (chat_id" OF_TOUCHED
                    " OR other_chat_id" OF_TOUCHED ")");
DB_SQL(DROP_PROFILES,
       "DELETE FROM chat_profiles WHERE tenant = $1 AND chat_id" OF_TOUCHED);
/* They stand by whose they are. */
DB_SQL(DROP_TERMS,
       "DELETE FROM chat_terms WHERE tenant = $1 AND chat_id" OF_TOUCHED
       " AND user_id IN (SELECT c.user_id FROM chats c WHERE c.tenant = $1 AND"
       " c.id" OF_TOUCHED " UNION SELECT p.user_id FROM chat_profiles p WHERE"
       " p.tenant = $1 AND p.chat_id" OF_TOUCHED ")");
DB_SQL(DROP_ANSWERS,
       "DELETE FROM llm_answers WHERE tenant = $1 AND chat_id" OF_TOUCHED);
DB_SQL(DROP_TRACES, "DELETE FROM traces WHERE tenant = $1 AND (id" OF(
                        "turn") " OR id IN (SELECT r.id FROM requests r WHERE"
                                " r.tenant = $1 AND r.chat_id" OF("chat") "))");
DB_SQL(DROP_GISTS, "DELETE FROM gists WHERE tenant = $1 AND id" OF("turn"));
/* Twins of forks (chain_fork.h) remember what both sides said. */
#define OF_TWINS                                                               \
    " OR (twin_of IS NOT NULL AND chat_id IN (SELECT c.id FROM chats c WHERE"  \
    " c.tenant = $1 AND c.conversation_id IN (SELECT p.conversation_id FROM"   \
    " chats p JOIN forget_set f ON f.tenant = p.tenant AND f.chat_id = p.id"   \
    " AND f.kind = 'turn' WHERE p.tenant = $1)))"
/* Claims go with their turns, and what was decided there. A chain that loses
 * one is named after a claim it keeps (name_chains()); one that lost all goes.
 * What is told of either goes, for it may quote what was said. 64 is
 * CHAIN_BLOCK. */
#define IN_PLACES                                                              \
    " IN (SELECT f.chat_id, f.seq FROM forget_set f WHERE f.tenant = $1"       \
    " AND f.kind = 'turn')"
#define LOSING                                                                 \
    " IN (SELECT COALESCE(l.moved_to, l.chain_id) FROM chain_steps l"          \
    " WHERE l.tenant = $1 AND l.claims <> ''"                                  \
    " AND (l.chat_id, l.seq)" IN_PLACES ")"
#define STEPS_LOSING                                                           \
    " (chat_id, seq, position) IN (SELECT u.chat_id, u.seq, u.position FROM"   \
    " chain_blocks b CROSS JOIN chain_steps u WHERE b.tenant = $1"             \
    " AND u.tenant = $1 AND u.chat_id = b.chat_id AND u.seq >= b.from_seq"     \
    " AND u.seq < b.from_seq + 64 AND u.chain_id = b.chain_id"                 \
    " AND b.chain_id" LOSING ")"
/* Each claim has one plus sign (claim_spans.h). */
#define N_CLAIMS                                                               \
    "COALESCE(SUM(LENGTH(m.claims) - LENGTH(REPLACE(m.claims, '+', ''))), 0)"
DB_SQL(BLANK_CHAIN_UPDATES,
       "DELETE FROM chain_updates WHERE tenant = $1 AND chain_id" LOSING);
DB_SQL(RENAME_CHAINS,
       "UPDATE chains SET topic = '', memory = SUBSTR(memory, 1, 1),"
       " n_claims = (SELECT " N_CLAIMS " FROM chain_blocks b CROSS JOIN"
       " chain_steps m WHERE b.tenant = $1 AND b.chain_id = chains.id"
       " AND m.tenant = $1 AND m.chat_id = b.chat_id AND m.seq >= b.from_seq"
       " AND m.seq < b.from_seq + 64"
       " AND COALESCE(m.moved_to, m.chain_id) = chains.id"
       " AND (m.chat_id, m.seq) NOT" IN_PLACES
       ") WHERE tenant = $1 AND (id" LOSING OF_TWINS ")");
DB_SQL(SELECT_NAMELESS, "SELECT id FROM chains WHERE tenant = $1"
                        " AND topic = '' AND n_claims > 0");
DB_SQL(NAME_CHAIN,
       "UPDATE chains SET topic = $3 WHERE tenant = $1 AND id = $2");
DB_SQL(DROP_EMPTY_STEPS, "DELETE FROM chain_steps WHERE tenant = $1 AND"
                         " claims = '' AND" STEPS_LOSING);
DB_SQL(BLANK_STEPS,
       "UPDATE chain_steps SET kind = 0, said = '', distance = NULL,"
       " parent_id = NULL WHERE tenant = $1 AND" STEPS_LOSING);
DB_SQL(COUNT_CLAIMS, "SELECT " N_CLAIMS " FROM chain_steps m WHERE"
                     " m.tenant = $1 AND (m.chat_id, m.seq)" IN_PLACES);
DB_SQL(DROP_STEPS, "DELETE FROM chain_steps WHERE tenant = $1"
                   " AND (chat_id, seq)" IN_PLACES);
DB_SQL(DROP_BLOCKS,
       "DELETE FROM chain_blocks WHERE tenant = $1 AND chain_id NOT IN (SELECT"
       " id FROM chains WHERE tenant = $1)");
DB_SQL(DROP_CHAINS, "DELETE FROM chains WHERE tenant = $1 AND n_claims = 0"
                    " AND merged_into IS NULL");
DB_SQL(DROP_MERGED_CHAINS,
       "DELETE FROM chains WHERE tenant = $1 AND merged_into IS NOT NULL AND"
       " merged_into NOT IN (SELECT id FROM chains c WHERE c.tenant = $1)");
DB_SQL(DROP_CHAIN_TERMS,
       "DELETE FROM chain_terms WHERE tenant = $1 AND chain_id NOT IN (SELECT"
       " id FROM chains WHERE tenant = $1)");
DB_SQL(DROP_TALKS,
       "DELETE FROM session_talks WHERE tenant = $1 AND session_id IN (SELECT"
       " id FROM sessions WHERE tenant = $1 AND chat_id" OF("chat") ")");
DB_SQL(DROP_SESSION_SUMMARIES,
       "DELETE FROM session_summaries WHERE tenant = $1 AND (chat_id" OF(
           "chat") " OR chat_id IN (SELECT chat_id FROM forget_set WHERE"
                   " tenant = $1 AND kind = 'turn'))");
/* A fork outlives its parent; what it was called is its own. */
#define OF_GONE(column)                                                        \
    " AND (" column OF("chat") " OR " column OF("memory") ")"
/* As they are indexed (core/action.h). */
DB_SQL(DROP_ACTIONS,
       "DELETE FROM actions WHERE tenant = $1 AND ((kind <> '" ACTION_TASK
       "'" OF_GONE("made") ") OR (kind <> '" ACTION_CHAT_FORK
                           "'" ACTION_BY_SUBJECT OF_GONE("subject") "))");
DB_SQL(DROP_TURNS, "DELETE FROM turns WHERE tenant = $1 AND id" OF("turn"));
DB_SQL(DROP_PREFIXES,
       "DELETE FROM request_prefixes WHERE tenant = $1 AND chat_id" OF("chat"));
DB_SQL(
    DROP_ANCHORS,
    "DELETE FROM request_anchors WHERE tenant = $1 AND hour IN (SELECT"
    " created_at / 3600000 - CASE WHEN created_at % 3600000 < 0 THEN 1 ELSE 0"
    " END FROM requests WHERE tenant = $1 AND chat_id" OF(
        "chat") ") AND request_id IN"
                " (SELECT id FROM requests WHERE tenant = $1 AND chat_id" OF(
                    "chat") ")");
DB_SQL(
    DROP_TASKS_OF_REQUESTS,
    "DELETE FROM request_tasks WHERE tenant = $1 AND request_id IN"
    " (SELECT id FROM requests WHERE tenant = $1 AND chat_id" OF("chat") ")");
DB_SQL(DROP_REQUESTS,
       "DELETE FROM requests WHERE tenant = $1 AND chat_id" OF("chat"));
DB_SQL(DROP_SESSIONS,
       "DELETE FROM sessions WHERE tenant = $1 AND chat_id" OF("chat"));
/* A chat that others fork from stays as an empty husk: their lines run
 * through it. */
DB_SQL(HUSK_CHATS,
       "UPDATE chats SET title = NULL, summary = NULL, is_titled_by_user = 0"
       " WHERE tenant = $1 AND id" OF("chat"));
DB_SQL(DROP_CHATS, "DELETE FROM chats WHERE tenant = $1 AND id" OF(
                       "chat") " AND id NOT IN"
                               " (SELECT parent_id FROM chats WHERE tenant = "
                               "$1 AND parent_id IS NOT"
                               " NULL AND id NOT" OF("chat") ")");
DB_SQL(LEAVE_TOMBSTONES,
       "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
       " SELECT tenant, $2 - 1 + ROW_NUMBER() OVER (ORDER BY kind, id), kind,"
       " id, $3 FROM forget_set WHERE tenant = $1 AND kind <> 'chat'");
DB_SQL(CLEAR_SET, "DELETE FROM forget_set WHERE tenant = $1");
DB_SQL(INSERT_RECEIPT,
       "INSERT INTO forget_receipts (tenant, id, selector, counts, digest,"
       " created_at) VALUES ($1, $2, $3, $4, $5, $6)");

/* In this order: what points at a row goes before the row. */
static const struct {
    const struct db_sql *sql;
    const char *name;           /* in the receipt; NULL: not counted there */
    const struct db_sql *count; /* asked before; NULL: the rows that went */
} cascade[] = {
    {&CARRY_SOURCES, NULL, NULL},
    {&DROP_SOURCES, "lineage_edges", NULL},
    {&DROP_REFS, "references", NULL},
    {&DROP_ACCESS, NULL, NULL},
    {&DROP_RESULTS, NULL, NULL},
    {&DROP_IMPORTS, NULL, NULL},
    {&DROP_VECTORS, NULL, NULL},
    {&DROP_KEYS, NULL, NULL},
    {&DROP_EFFORTS, NULL, NULL},
    {&DROP_STARTS, NULL, NULL},
    {&DROP_MEMORIES, "memories", NULL},
    {&BLANK_CHATS, NULL, NULL},
    {&DROP_EPISODE_CHATS, NULL, NULL},
    {&DROP_EPISODES, NULL, NULL},
    {&WIPE_EPISODES, "episodes", NULL},
    {&DROP_LINKS, "links", NULL},
    {&BLANK_LINKS, NULL, NULL},
    {&DROP_TERMS, NULL, NULL}, /* asks the profiles */
    {&DROP_PROFILES, NULL, NULL},
    {&DROP_ANSWERS, NULL, NULL},
    {&DROP_TRACES, NULL, NULL},
    {&DROP_GISTS, NULL, NULL},
    {&BLANK_CHAIN_UPDATES, NULL, NULL},
    {&RENAME_CHAINS, NULL, NULL},
    {&DROP_EMPTY_STEPS, NULL, NULL},
    {&BLANK_STEPS, NULL, NULL},
    {&DROP_STEPS, "claims", &COUNT_CLAIMS},
    {&DROP_CHAINS, "chains", NULL},
    {&DROP_MERGED_CHAINS, NULL, NULL},
    {&DROP_CHAIN_TERMS, NULL, NULL},
    {&DROP_BLOCKS, NULL, NULL},
    {&DROP_TALKS, NULL, NULL},
    {&DROP_SESSION_SUMMARIES, NULL, NULL},
    {&DROP_ACTIONS, NULL, NULL},
    {&DROP_UNREAD, NULL, NULL},
    {&DROP_TURNS, "turns", NULL},
    {&DROP_PREFIXES, NULL, NULL},
    {&DROP_ANCHORS, NULL, NULL},
    {&DROP_TASKS_OF_REQUESTS, NULL, NULL},
    {&DROP_REQUESTS, "requests", NULL},
    {&DROP_SESSIONS, "sessions", NULL},
    {&HUSK_CHATS, NULL, NULL},
    {&DROP_CHATS, "chats", NULL},
};

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct forget_input *input;
    int64_t now_ms;
    const char *selector;
    unsigned char digest[SHA256_SIZE];
    struct forget_receipt *out;
};

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
static enum clew_status collect_all(struct work *work, struct store_tx *tx,
                                    struct clew_error *err)
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
    if (status == CLEW_OK) {
        status = db_exec(tx, &ADD_EPISODES, DB_NO_ARGS, err);
    }
    return status == CLEW_OK ? db_exec(tx, &ADD_CROSS, DB_NO_ARGS, err)
                             : status;
}

/* The digest over all kinds and ids, page by page. */
static enum clew_status digest_set(struct work *work, struct store_tx *tx,
                                   int64_t *out_docs, struct clew_error *err)
{
    static const struct uuid nil;
    struct sha256 hash;
    char kind[16] = "";
    struct uuid id = nil;
    size_t n;

    sha256_init(&hash);
    *out_docs = 0;
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
            *out_docs += strcmp(kind, "chat") != 0;
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

static void add_count(struct forget_receipt *out, const char *name,
                      int64_t count)
{
    assert(out->n_counts < FORGET_MAX_COUNTS); /* one for each table */
    out->counts[out->n_counts].name = name;
    out->counts[out->n_counts++].count = count;
}

/* A dry run counts what is collected. */
static enum clew_status count_set(struct work *work, struct store_tx *tx,
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
            add_count(work->out, kinds[i][1], count);
        }
    }
    return status;
}

/* Chains that lost the claims they may have been named after. */
static enum clew_status name_chains(struct work *work, struct store_tx *tx,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(tx, &list, &SELECT_NAMELESS, DB_NO_ARGS, err);

    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        const struct uuid *id = (const struct uuid *)list.items + i;
        struct claim *claims = NULL;
        size_t count = 0;

        status = chain_claims(work->engine, tx, work->arena, id, 1, &claims,
                              &count, err);
        if (status == CLEW_OK && count > 0) {
            status =
                db_exec(tx, &NAME_CHAIN,
                        DB_ARGS(db_uuid(id), db_text(claims[0].subject)), err);
        }
    }
    return status;
}

static enum clew_status delete_all(struct work *work, struct store_tx *tx,
                                   int64_t n_docs, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    int64_t first = 0;

    if (n_docs > 0) {
        status = db_take_changes(tx, n_docs, &first, err);
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &LEAVE_TOMBSTONES,
                         DB_ARGS(db_int(first), db_int(work->now_ms)), err);
    }
    for (size_t i = 0;
         i < sizeof(cascade) / sizeof(cascade[0]) && status == CLEW_OK; i++) {
        int64_t count = 0;
        int64_t counted = 0;

        if (cascade[i].count) {
            status =
                rows_number(tx, cascade[i].count, DB_NO_ARGS, &counted, err);
        }
        if (status == CLEW_OK) {
            status = db_exec_count(tx, cascade[i].sql, DB_NO_ARGS, &count, err);
        }
        if (status == CLEW_OK && cascade[i].name) {
            add_count(work->out, cascade[i].name,
                      cascade[i].count ? counted : count);
        }
    }
    if (status == CLEW_OK) {
        status = name_chains(work, tx, err);
    }
    if (status == CLEW_OK) {
        status = vector_graph_forget(tx, err);
    }
    if (status == CLEW_OK && work->input->user_id.s) {
        status = timeout_user_forget(tx, work->input->user_id, err);
    }
    return status;
}

static enum clew_status write_receipt(struct work *work, struct store_tx *tx,
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
static enum clew_status note_forget(struct work *work, struct store_tx *tx,
                                    struct clew_error *err)
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
    struct work *work = arg;
    int64_t n_docs = 0;
    enum clew_status status;

    memset(work->out, 0, sizeof(*work->out));
    status = collect_all(work, tx, err);
    if (status == CLEW_OK) {
        status = digest_set(work, tx, &n_docs, err);
    }
    if (status == CLEW_OK && work->input->is_dry_run) {
        status = count_set(work, tx, err);
    } else if (status == CLEW_OK) {
        status = delete_all(work, tx, n_docs, err);
        if (status == CLEW_OK) {
            status = note_forget(work, tx, err);
        }
        if (status == CLEW_OK) {
            status = write_receipt(work, tx, err);
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
                             "next forget or a restart, and in backups and "
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
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .now_ms = clock_now_ms(engine->clock),
                        .out = out};
    struct index_view *view = NULL;
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
    /* the rows are gone; now their traces in the index's and store's files */
    status = index_view_open(engine->indexes, scope->tenant, &view, err);
    index_view_close(view);
    if (status == CLEW_OK) {
        status = index_purge(engine->indexes, scope->tenant, err);
    }
    if (status == CLEW_OK) {
        status = model_use_purge(engine, scope, err);
    }
    if (status == CLEW_OK) {
        status = store_scrub(engine->store, err);
    }
    out->is_scrubbed = status == CLEW_OK;
    out->remains = remains(engine, out->is_scrubbed);
    return CLEW_OK; /* forgotten is forgotten: the caller gets the receipt */
}
