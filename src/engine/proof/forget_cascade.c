/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_cascade.c - what goes with what is forgotten. See forget_internal.h.
 *
 * Every table that holds what was said has its line in `cascade`.
 */
#include "engine/core/action.h"
#include "engine/chat/timeout.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/vector_graph.h"
#include "engine/proof/chain_lines.h"
#include "engine/proof/forget_internal.h"
#include "store/db.h"

#include <assert.h>

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
/* One of several chats goes with the last of them. */
DB_SQL(DROP_CROSS,
       "DELETE FROM episodes WHERE tenant = $1 AND chat_id IS NULL"
       " AND id" OF("episode") " AND NOT EXISTS (SELECT 1 FROM episode_chats c"
                               " WHERE c.tenant = $1"
                               " AND c.episode_id = episodes.id)");
DB_SQL(DROP_LINKS,
       "DELETE FROM link_decisions WHERE tenant = $1 AND (chat_id" OF(
           "chat") " OR other_chat_id" OF("chat") ")");
#define OF_TOUCHED                                                             \
    " IN (SELECT COALESCE(chat_id, id) FROM forget_set WHERE tenant = $1 AND"  \
    " kind IN ('turn', 'chat'))"
/* A fork is called as what it left. */
DB_SQL(BLANK_FORKS,
       "UPDATE chats SET summary = NULL, title = NULL WHERE tenant = $1"
       " AND parent_id IS NOT NULL AND is_titled_by_user = 0"
       " AND conversation_id IN (SELECT p.conversation_id FROM chats p"
       " WHERE p.tenant = $1 AND p.id" OF_TOUCHED ")");
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
 * one is named after a claim it keeps (chain_lines_name()); one that lost all
 * goes. What is told of either goes, for it may quote what was said. 64 is
 * CHAIN_BLOCK. */
#define IN_PLACES                                                              \
    " IN (SELECT f.chat_id, f.seq FROM forget_set f WHERE f.tenant = $1"       \
    " AND f.kind = 'turn')"
/* They are looked up once and stand in the scratch table from then on, which
 * has been counted and has left its tombstones by that time. */
DB_SQL(NOTE_LOSING,
       "INSERT INTO forget_set (tenant, kind, id) SELECT DISTINCT l.tenant,"
       " 'losing', COALESCE(l.moved_to, l.chain_id) FROM chain_steps l"
       " WHERE l.tenant = $1 AND l.claims <> ''"
       " AND (l.chat_id, l.seq)" IN_PLACES);
#define LOSING OF("losing")
/* Others that left one, or took one in, say so with its topic. */
DB_SQL(NOTE_QUOTING,
       "INSERT INTO forget_set (tenant, kind, id) SELECT c.tenant, 'quoting',"
       " c.id FROM chains c WHERE c.tenant = $1 AND c.user_id IN"
       " (SELECT o.user_id FROM chains o WHERE o.tenant = $1 AND o.id" LOSING
       ") AND (c.branches_from" LOSING " OR c.twin_of" LOSING
       " OR c.id IN (SELECT m.merged_into FROM chains m WHERE m.tenant = $1"
       " AND m.id" LOSING "))");
#define OTHERS OF("quoting")
/* The blocks of chains, looked at before their steps: next to row-level
 * security PostgreSQL takes a sum for no bound of an index, and would read the
 * rest of the chat for each block. */
#define BLOCKS_OF(chains)                                                      \
    "WITH b AS MATERIALIZED (SELECT chain_id, chat_id, from_seq,"              \
    " from_seq + 64 AS end_seq FROM chain_blocks WHERE tenant = $1"            \
    " AND chain_id" chains ") "
#define IN_BLOCKS                                                              \
    " FROM b CROSS JOIN chain_steps u WHERE u.tenant = $1"                     \
    " AND u.chat_id = b.chat_id AND u.seq >= b.from_seq AND u.seq < b.end_seq"
#define STEPS_OF(chains)                                                       \
    " (chat_id, seq, position) IN (" BLOCKS_OF(                                \
        chains) "SELECT u.chat_id, u.seq, u.position" IN_BLOCKS                \
                " AND u.chain_id = b.chain_id"
#define STEPS_LOSING STEPS_OF(LOSING) ")"
#define STEPS_QUOTING STEPS_OF(OTHERS) " AND u.parent_id" LOSING ")"
/* Each claim has one plus sign (claim_spans.h). */
#define N_CLAIMS                                                               \
    "COALESCE(SUM(LENGTH(u.claims) - LENGTH(REPLACE(u.claims, '+', ''))), 0)"
DB_SQL(BLANK_CHAIN_UPDATES,
       "DELETE FROM chain_updates WHERE tenant = $1 AND chain_id" LOSING);
DB_SQL(RENAME_CHAINS,
       "UPDATE chains SET topic = '', memory = SUBSTR(memory, 1, 1),"
       " n_claims = (" BLOCKS_OF(
           " = chains.id") "SELECT " N_CLAIMS IN_BLOCKS
                           " AND COALESCE(u.moved_to, u.chain_id) = chains.id)"
                           " WHERE tenant = $1 AND (id" LOSING OF_TWINS ")");
#define DROP_EMPTY                                                             \
    "DELETE FROM chain_steps WHERE tenant = $1 AND claims = '' AND"
#define BLANK                                                                  \
    "UPDATE chain_steps SET kind = 0, said = '', distance = NULL,"             \
    " parent_id = NULL WHERE tenant = $1 AND"
DB_SQL(DROP_EMPTY_QUOTES, DROP_EMPTY STEPS_QUOTING);
DB_SQL(BLANK_QUOTES, BLANK STEPS_QUOTING);
DB_SQL(DROP_EMPTY_STEPS, DROP_EMPTY STEPS_LOSING);
DB_SQL(BLANK_STEPS, BLANK STEPS_LOSING);
DB_SQL(DROP_QUOTING_UPDATES,
       "DELETE FROM chain_updates WHERE tenant = $1 AND chain_id" OTHERS
       " AND parent_id" LOSING);
DB_SQL(COUNT_CLAIMS, "SELECT " N_CLAIMS " FROM chain_steps u WHERE"
                     " u.tenant = $1 AND (u.chat_id, u.seq)" IN_PLACES);
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
/* One each, however often something is forgotten. A chat has one also where
 * only turns of it go: what was made of its words until now is not to come back
 * by an import. */
#define GRAVES                                                                 \
    "(SELECT kind, id FROM forget_set WHERE tenant = $1 UNION SELECT 'chat',"  \
    " chat_id FROM forget_set WHERE tenant = $1 AND kind = 'turn')"
DB_SQL(COUNT_GRAVES, "SELECT COUNT(*) FROM " GRAVES " AS g");
DB_SQL(OPEN_GRAVES, "DELETE FROM tombstones WHERE tenant = $1"
                    " AND kind IN ('turn', 'memory', 'episode', 'chat')"
                    " AND id IN (SELECT g.id FROM " GRAVES " AS g)");
DB_SQL(LEAVE_TOMBSTONES,
       "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
       " SELECT $1, $2 - 1 + ROW_NUMBER() OVER (ORDER BY g.kind, g.id), g.kind,"
       " g.id, $3 FROM " GRAVES " AS g");

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
    {&BLANK_FORKS, NULL, NULL},
    {&DROP_EPISODE_CHATS, NULL, NULL},
    {&DROP_EPISODES, NULL, NULL},
    {&DROP_CROSS, NULL, NULL},
    {&WIPE_EPISODES, "episodes", NULL},
    {&DROP_LINKS, "links", NULL},
    {&BLANK_LINKS, NULL, NULL},
    {&DROP_TERMS, NULL, NULL}, /* asks the profiles */
    {&DROP_PROFILES, NULL, NULL},
    {&DROP_TRACES, NULL, NULL},
    {&DROP_GISTS, NULL, NULL},
    {&NOTE_LOSING, NULL, NULL},
    {&NOTE_QUOTING, NULL, NULL},
    {&DROP_STEPS, "claims", &COUNT_CLAIMS}, /* the rest is about others */
    {&BLANK_CHAIN_UPDATES, NULL, NULL},
    {&DROP_QUOTING_UPDATES, NULL, NULL},
    {&DROP_EMPTY_QUOTES, NULL, NULL},
    {&BLANK_QUOTES, NULL, NULL},
    {&RENAME_CHAINS, NULL, NULL},
    {&DROP_EMPTY_STEPS, NULL, NULL},
    {&BLANK_STEPS, NULL, NULL},
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

void forget_count_add(struct forget_receipt *out, const char *name,
                      int64_t count)
{
    assert(out->n_counts < FORGET_MAX_COUNTS); /* one for each table */
    out->counts[out->n_counts].name = name;
    out->counts[out->n_counts++].count = count;
}

static enum clew_status leave_tombstones(struct forget_work *work,
                                         struct store_tx *tx,
                                         struct clew_error *err)
{
    int64_t at_ms = work->input->at_ms > 0 ? work->input->at_ms : work->now_ms;
    int64_t count = 0;
    int64_t first = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_GRAVES, DB_NO_ARGS, &count, err);

    if (status != CLEW_OK || count == 0) {
        return status;
    }
    status = db_take_changes(tx, count, &first, err);
    if (status == CLEW_OK) {
        status = db_exec(tx, &OPEN_GRAVES, DB_NO_ARGS, err);
    }
    return status == CLEW_OK
               ? db_exec(tx, &LEAVE_TOMBSTONES,
                         DB_ARGS(db_int(first), db_int(at_ms)), err)
               : status;
}

enum clew_status forget_cascade(struct forget_work *work, struct store_tx *tx,
                                struct clew_error *err)
{
    enum clew_status status = leave_tombstones(work, tx, err);

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
            forget_count_add(work->out, cascade[i].name,
                             cascade[i].count ? counted : count);
        }
    }
    if (status == CLEW_OK) {
        status = chain_lines_name(work->engine, tx, work->arena, err);
    }
    if (status == CLEW_OK) {
        status = vector_graph_forget(tx, err);
    }
    if (status == CLEW_OK && work->input->user_id.s) {
        status = timeout_user_forget(tx, work->input->user_id, err);
    }
    return status;
}
