/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - the rules that must hold between rows. See verify.h.
 */
#include "engine/proof/verify.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/feed.h"
#include "engine/feed/vector_graph.h"
#include "index/index.h"
#include "store/db.h"

#include <string.h>

DB_SQL_SYSTEM(SELECT_TENANTS,
              "SELECT tenant, name FROM tenants ORDER BY tenant LIMIT 1000000");

/* Each rule counts the rows that break it. */
#define RULE(name, sql) DB_SQL(name, "SELECT COUNT(*) FROM " sql)

RULE(TURN_CHAT, "turns t WHERE t.tenant = $1 AND NOT EXISTS (SELECT 1 FROM"
                " chats c WHERE c.tenant = $1 AND c.id = t.chat_id)");
RULE(TURN_SESSION, "turns t WHERE t.tenant = $1 AND NOT EXISTS (SELECT 1 FROM"
                   " sessions s WHERE s.tenant = $1 AND s.id = t.session_id"
                   " AND s.chat_id = t.chat_id)");
RULE(TURN_RANGE, "turns t JOIN chats c ON c.tenant = t.tenant"
                 " AND c.id = t.chat_id WHERE t.tenant = $1"
                 " AND (t.seq <= c.fork_seq OR t.seq > c.last_seq)");
/* A gap is allowed only where something was forgotten. */
RULE(TURN_GAP,
     "chats c WHERE c.tenant = $1 AND c.last_seq - c.fork_seq <>"
     " (SELECT COUNT(*) FROM turns t WHERE t.tenant = $1 AND t.chat_id = c.id)"
     " AND NOT EXISTS (SELECT 1 FROM tombstones d WHERE d.tenant = $1)");
RULE(CHAT_PARENT,
     "chats c WHERE c.tenant = $1 AND c.parent_id IS NOT NULL AND NOT EXISTS"
     " (SELECT 1 FROM chats p WHERE p.tenant = $1 AND p.id = c.parent_id"
     " AND p.conversation_id = c.conversation_id AND c.fork_seq <= p.last_seq"
     " AND c.depth = p.depth + 1)");
RULE(CHAT_ROOT, "chats c WHERE c.tenant = $1 AND c.parent_id IS NULL"
                " AND (c.id <> c.conversation_id OR c.fork_seq <> 0"
                " OR c.depth <> 0)");
RULE(SESSION_CHAT, "sessions s WHERE s.tenant = $1 AND NOT EXISTS (SELECT 1"
                   " FROM chats c WHERE c.tenant = $1 AND c.id = s.chat_id)");
RULE(SESSION_OPEN, "(SELECT chat_id FROM sessions WHERE tenant = $1"
                   " AND ended_at IS NULL GROUP BY chat_id"
                   " HAVING COUNT(*) > 1) AS twice");
RULE(TURN_CHANGE, "turns t JOIN tenants n ON n.tenant = t.tenant"
                  " WHERE t.tenant = $1 AND t.change_seq > n.change_seq");
RULE(MEMORY_SOURCE,
     "memory_sources s WHERE s.tenant = $1 AND (NOT EXISTS (SELECT 1 FROM"
     " memories m WHERE m.tenant = $1 AND m.id = s.source_id) OR NOT EXISTS"
     " (SELECT 1 FROM memories m WHERE m.tenant = $1 AND m.id = s.memory_id))");
RULE(MEMORY_CITES,
     "memories m WHERE m.tenant = $1 AND m.origin IN ('extracted', 'llm')"
     " AND NOT EXISTS (SELECT 1 FROM memory_refs r WHERE r.tenant = $1"
     " AND r.memory_id = m.id)");
RULE(MEMORY_REF, "memory_refs r WHERE r.tenant = $1 AND NOT EXISTS (SELECT 1"
                 " FROM chats c WHERE c.tenant = $1 AND c.id = r.chat_id)");

/* What names a turn names one that is there. A turn that was forgotten takes
 * most of that with it; where a decision or an update outlives it, its
 * tombstone says that it was there. */
#define NO_TURN(id)                                                            \
    " NOT EXISTS (SELECT 1 FROM turns t WHERE t.tenant = $1 AND t.id = " id    \
    ") AND NOT EXISTS (SELECT 1 FROM tombstones d WHERE d.tenant = $1"         \
    " AND d.id = " id ")"
#define NO_TURN_AT(chat, first, last)                                          \
    " NOT EXISTS (SELECT 1 FROM turns t WHERE t.tenant = $1 AND t.chat_id"     \
    " = " chat " AND t.seq BETWEEN " first " AND " last ")"
RULE(GIST_TURN, "gists g WHERE g.tenant = $1 AND" NO_TURN("g.id"));
RULE(TRACE_TURN, "traces x WHERE x.tenant = $1 AND NOT EXISTS (SELECT 1 FROM"
                 " requests r WHERE r.tenant = $1 AND r.id = x.id)"
                 " AND" NO_TURN("x.id"));
RULE(EFFORT_CHAT, "efforts e WHERE e.tenant = $1 AND (NOT EXISTS (SELECT 1 FROM"
                  " chats c WHERE c.tenant = $1 AND c.id = e.thread_id)"
                  " OR NOT EXISTS (SELECT 1 FROM memories m WHERE"
                  " m.tenant = $1 AND m.id = e.memory_id))");
RULE(LINK_TURN,
     "link_decisions l WHERE l.tenant = $1 AND" NO_TURN("l.turn_id"));
RULE(UPDATE_TURN, "chain_updates u WHERE u.tenant = $1"
                  " AND u.turn_id IS NOT NULL AND" NO_TURN("u.turn_id"));
RULE(STEP_TURN,
     "chain_steps s WHERE s.tenant = $1 AND" NO_TURN_AT("s.chat_id", "s.seq",
                                                        "s.seq"));
/* Numbers up to the fork are of another chat's turns. */
RULE(REF_TURN,
     "memory_refs r JOIN memories m ON m.tenant = r.tenant"
     " AND m.id = r.memory_id JOIN chats c ON c.tenant = r.tenant"
     " AND c.id = r.chat_id WHERE r.tenant = $1"
     " AND m.origin IN ('extracted', 'llm') AND r.first_seq > c.fork_seq"
     " AND" NO_TURN_AT("r.chat_id", "r.first_seq", "r.last_seq"));

RULE(VECTOR_ROW,
     "vectors v WHERE v.tenant = $1 AND NOT EXISTS (SELECT 1 FROM turns t"
     " WHERE t.tenant = $1 AND t.id = v.id AND v.kind = 'turn')"
     " AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = $1"
     " AND m.id = v.id AND v.kind = 'memory')"
     " AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.tenant = $1"
     " AND e.id = v.id AND v.kind = 'episode')");
#define WITHOUT_VECTOR(table, kind, where)                                     \
    "vector_models m JOIN " table " t ON t.tenant = m.tenant"                  \
    " AND t.change_seq <= m.through WHERE m.tenant = $1" where                 \
    " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.tenant = $1"             \
    " AND v.kind = '" kind "' AND v.id = t.id AND v.model = m.model"           \
    " AND v.source_change = t.change_seq)"
RULE(VECTOR_TURN, WITHOUT_VECTOR("turns", "turn", ""));
RULE(VECTOR_MEMORY, WITHOUT_VECTOR("memories", "memory", ""));
RULE(VECTOR_EPISODE,
     WITHOUT_VECTOR("episodes", "episode", " AND t.micro IS NOT NULL"));

static const struct {
    const struct db_sql *sql;
    const char *rule;
    bool is_derived; /* a rebuild makes the rows again */
} rules[] = {
    {&TURN_CHAT, "every turn stands in a chat", false},
    {&TURN_SESSION, "every turn stands in a session of its chat", false},
    {&TURN_RANGE, "a turn's seq lies in its chat's own range", false},
    {&TURN_GAP, "a chat's turns are numbered without gaps", false},
    {&CHAT_PARENT, "a fork leaves its parent at a turn that exists", false},
    {&CHAT_ROOT, "a chat without a parent is its own conversation", false},
    {&SESSION_CHAT, "every session belongs to a chat", false},
    {&SESSION_OPEN, "a chat has at most one open session", true},
    {&TURN_CHANGE, "no change number is ahead of its tenant's", false},
    {&MEMORY_SOURCE, "lineage joins memories that exist", true},
    {&MEMORY_CITES, "every extracted memory cites its turns", true},
    {&MEMORY_REF, "a memory cites chats that exist", true},
    {&REF_TURN, "an extracted memory cites turns that exist", true},
    {&STEP_TURN, "a claim is of a turn that exists", true},
    {&EFFORT_CHAT, "an effort is a memory and has a thread", true},
    {&UPDATE_TURN, "an update of a chain is of a turn that existed", true},
    {&LINK_TURN, "a link was decided at a turn that existed", true},
    {&GIST_TURN, "a gist is of a turn that exists", true},
    {&TRACE_TURN, "a trace is of a turn or a call that exists", true},
    {&VECTOR_ROW, "every vector belongs to a row that exists", false},
    {&VECTOR_TURN, "a model has embedded every turn it says it has", false},
    {&VECTOR_MEMORY, "a model has embedded every memory it says it has", false},
    {&VECTOR_EPISODE, "a model has embedded every episode it says it has",
     false},
};

DB_SQL(COUNT_CHATS, "SELECT COUNT(*) FROM chats WHERE tenant = $1");
DB_SQL(COUNT_TURNS, "SELECT COUNT(*) FROM turns WHERE tenant = $1");
DB_SQL(COUNT_MEMORIES, "SELECT COUNT(*) FROM memories WHERE tenant = $1");

/* Vectors of the rows as they are now; those of texts without a meaning are
 * zero and no index holds them. */
DB_SQL(
    COUNT_VECTORS,
    "SELECT COUNT(*) FROM vectors v WHERE v.tenant = $1 AND v.model = $2"
    " AND v.dim > 0 AND SUBSTR(v.bytes, 1, 4) <> $3 AND (EXISTS"
    " (SELECT 1 FROM turns t WHERE t.tenant = $1 AND t.id = v.id"
    " AND t.change_seq = v.source_change) OR EXISTS (SELECT 1 FROM memories m"
    " WHERE m.tenant = $1 AND m.id = v.id"
    " AND m.change_seq = v.source_change) OR EXISTS (SELECT 1 FROM episodes e"
    " WHERE e.tenant = $1 AND e.id = v.id"
    " AND e.change_seq = v.source_change))");
DB_SQL(SELECT_MODELS, "SELECT model, dim FROM vector_models WHERE tenant = $1"
                      " ORDER BY model LIMIT 100");
DB_SQL(SELECT_LATEST, "SELECT change_seq FROM tenants WHERE tenant = $1");

/* Tries to find the store at the same change number as the index. */
#define TRIES 5

struct tenant {
    int64_t id;
    struct str name;
};

struct model {
    struct str id;
    int64_t dim;
};

struct work {
    struct arena *arena;
    struct rows_list tenants;
    struct rows_list models; /* of one tenant */
    const struct tenant *tenant;
    struct verify_report report; /* of one tenant; added up by the caller */
    size_t cap_faults;
    struct rebuild_empty empty;
};

static bool model_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct model *out = item;

    out->dim = db_get_int(rows, 1);
    return rows_text(arena, rows, 0, &out->id);
}

static bool tenant_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct tenant *out = item;

    out->id = db_get_int(rows, 0);
    return rows_text(arena, rows, 1, &out->name);
}

static enum clew_status do_tenants(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct work *work = arg;

    return rows_add(tx, &work->tenants, &SELECT_TENANTS, DB_NO_ARGS, err);
}

static enum clew_status do_models(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;

    work->models.count = 0;
    return rows_add(tx, &work->models, &SELECT_MODELS, DB_NO_ARGS, err);
}

static enum clew_status count(struct store_tx *tx, const struct db_sql *sql,
                              int64_t *out_count, struct clew_error *err)
{
    return rows_number(tx, sql, DB_NO_ARGS, out_count, err);
}

static enum clew_status add_detail(struct work *work, const char *rule,
                                   int64_t n, const char *detail,
                                   struct clew_error *err)
{
    struct verify_report *report = &work->report;
    struct verify_fault *grown =
        arena_grow(work->arena, report->faults, report->n_faults,
                   &work->cap_faults, sizeof(*grown));

    if (!grown) {
        return clew_no_memory(err);
    }
    report->faults = grown;
    grown[report->n_faults++] =
        (struct verify_fault){.tenant = work->tenant->name.s,
                              .rule = rule,
                              .count = n,
                              .detail = detail};
    return CLEW_OK;
}

static enum clew_status add_fault(struct work *work, const char *rule,
                                  int64_t n, struct clew_error *err)
{
    return add_detail(work, rule, n, NULL, err);
}

static enum clew_status do_rules(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    struct verify_report *report = &work->report;
    int64_t n_chats = 0;
    int64_t n_turns = 0;
    int64_t n_memories = 0;
    enum clew_status status = count(tx, &COUNT_CHATS, &n_chats, err);

    if (status == CLEW_OK) {
        status = count(tx, &COUNT_TURNS, &n_turns, err);
    }
    if (status == CLEW_OK) {
        status = count(tx, &COUNT_MEMORIES, &n_memories, err);
    }
    for (size_t i = 0;
         i < sizeof(rules) / sizeof(rules[0]) && status == CLEW_OK; i++) {
        int64_t broken = 0;

        status = count(tx, rules[i].sql, &broken, err);
        if (status == CLEW_OK && broken > 0) {
            status = add_fault(work, rules[i].rule, broken, err);
        }
        if (status == CLEW_OK && broken > 0) {
            report->faults[report->n_faults - 1].is_derived =
                rules[i].is_derived;
        }
    }
    if (status == CLEW_OK) {
        int64_t broken = 0;

        status = vector_graph_check(tx, &broken, err);
        if (status == CLEW_OK && broken > 0) {
            status =
                add_fault(work, "the vector graph holds what it says it holds",
                          broken, err);
        }
    }
    report->n_chats += n_chats;
    report->n_turns += n_turns;
    report->n_memories += n_memories;
    return status;
}

/* What the tables say an index must hold. */
struct expected {
    const struct model *model; /* NULL: the shipped one, vectors not counted */
    int64_t latest;
    int64_t n_turns;
    int64_t n_memories;
    int64_t n_vectors;
};

static enum clew_status do_expect(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    static const char zero[4];
    struct expected *out = arg;
    enum clew_status status = count(tx, &SELECT_LATEST, &out->latest, err);

    if (status == CLEW_OK) {
        status = count(tx, &COUNT_TURNS, &out->n_turns, err);
    }
    if (status == CLEW_OK) {
        status = count(tx, &COUNT_MEMORIES, &out->n_memories, err);
    }
    if (status != CLEW_OK || !out->model) {
        return status;
    }
    return rows_number(tx, &COUNT_VECTORS,
                       DB_ARGS(db_text(out->model->id), db_bytes(zero, 4)),
                       &out->n_vectors, err);
}

static bool is_as_expected(const struct expected *want,
                           const struct index_count *have)
{
    return have->n_docs[INDEX_TURN] == (uint64_t)want->n_turns &&
           have->n_docs[INDEX_MEMORY] == (uint64_t)want->n_memories &&
           /* those that are elsewhere were checked there */
           (!want->model || have->n_bare > 0 ||
            have->n_vectors == (uint64_t)want->n_vectors);
}

/* One index against the tables. While others write, a difference counts only
 * if both were seen at the same change number. */
static enum clew_status check_set(struct engine *engine, struct work *work,
                                  struct index_set *set,
                                  const struct model *model,
                                  struct clew_error *err)
{
    struct scope scope = {work->tenant->id};
    struct expected want = {.model = model};
    struct index_count have;
    enum clew_status status = CLEW_OK;
    bool is_sound = false;
    int n_same = 0;

    for (int i = 0; i < TRIES && status == CLEW_OK && !is_sound; i++) {
        struct index_view *view = NULL;

        status = index_view_open(set, work->tenant->id, &view, err);
        if (status == CLEW_OK) {
            index_view_count(view, &have);
            status = store_read(engine->store, &scope, do_expect, &want, err);
        }
        index_view_close(view);
        if (status == CLEW_OK) {
            is_sound = is_as_expected(&want, &have);
            n_same += want.latest == have.through;
        }
    }
    if (status == CLEW_OK && !is_sound && n_same == TRIES) {
        status =
            add_fault(work, "the search index holds what is stored", 1, err);
    }
    if (status == CLEW_OK) {
        status = index_verify(set, work->tenant->id, err);
    }
    if (status == CLEW_CORRUPT) {
        return add_fault(work, "the search index is sound", 1, err);
    }
    return status;
}

/* The same for every model that has vectors of the tenant, whether or not it
 * can be run here. */
static enum clew_status check_models(struct engine *engine, struct work *work,
                                     struct clew_error *err)
{
    struct scope scope = {work->tenant->id};
    enum clew_status status;

    work->models = (struct rows_list){
        .arena = work->arena, .size = sizeof(struct model), .fn = model_of};
    status = store_read(engine->store, &scope, do_models, work, err);
    for (size_t i = 0; i < work->models.count && status == CLEW_OK; i++) {
        const struct model *model = &((struct model *)work->models.items)[i];
        struct feed_source source = {
            .engine = engine, .model = model->id.s, .dim = (size_t)model->dim};
        struct index_set *set = NULL;

        status = feed_open_model(&source, &set, err);
        if (status == CLEW_OK) {
            status = check_set(engine, work, set, model, err);
        }
        index_set_close(set);
    }
    return status;
}

static enum clew_status check_index(struct engine *engine, struct work *work,
                                    struct clew_error *err)
{
    enum clew_status status =
        check_set(engine, work, engine->indexes, NULL, err);

    return status == CLEW_OK ? check_models(engine, work, err) : status;
}

/* What is derived against a replay of the log. */
static enum clew_status check_log(struct engine *engine, struct work *work,
                                  const struct verify_options *options,
                                  struct clew_error *err)
{
    struct scope scope = {work->tenant->id};
    struct rebuild_options how = {.is_dry_run = true, .empty = &work->empty};
    struct rebuild_report *found = arena_zero(work->arena, 1, sizeof(*found));
    struct verify_report *report = &work->report;
    enum clew_status status;

    if (!found) {
        return clew_no_memory(err);
    }
    if (options) {
        how.progress = options->progress;
        how.arg = options->arg;
    }
    status = rebuild_run(engine, &scope, work->arena, &how, found, err);
    if (status == CLEW_UNSUPPORTED) {
        report->n_unreplayed++;
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    report->n_replayed += found->n_done;
    for (size_t i = 0;
         i < found->n_shown && report->n_shown < REBUILD_MAX_SHOWN; i++) {
        report->shown[report->n_shown++] = found->shown[i];
    }
    if (found->is_due) { /* something was forgotten or imported: not yet */
        report->n_due += found->n_differences;
        return CLEW_OK;
    }
    return found->n_differences == 0
               ? CLEW_OK
               : add_fault(work, "what is derived follows from the log",
                           found->n_differences, err);
}

/* All looks at one tenant. */
static enum clew_status check_tenant(struct engine *engine, struct work *work,
                                     const struct verify_options *options,
                                     struct clew_error *err)
{
    struct scope scope = {work->tenant->id};
    enum clew_status status =
        store_read(engine->store, &scope, do_rules, work, err);

    if (status == CLEW_OK) {
        status = check_index(engine, work, err);
    }
    if (status == CLEW_OK && !(options && options->is_quick)) {
        status = check_log(engine, work, options, err);
    }
    return status;
}

/* Would every tenant meet the same? */
static bool is_everyones(enum clew_status status)
{
    return status == CLEW_NO_MEMORY || status == CLEW_UNAVAILABLE;
}

enum clew_status verify_run(struct engine *engine, struct arena *arena,
                            const struct verify_options *options,
                            struct verify_report *out, struct clew_error *err)
{
    struct work work = {.arena = arena,
                        .tenants = {.arena = arena,
                                    .size = sizeof(struct tenant),
                                    .fn = tenant_of}};
    const struct tenant *tenants;
    enum clew_status status = store_check(engine->store, err);

    if (status == CLEW_OK) {
        status = store_read_system(engine->store, do_tenants, &work, err);
    }
    rebuild_empty_init(&work.empty);
    tenants = work.tenants.items;
    for (size_t i = 0; i < work.tenants.count && status == CLEW_OK; i++) {
        struct clew_error why = {.status = CLEW_OK};

        work.tenant = &tenants[i];
        status = check_tenant(engine, &work, options, &why);
        if (status != CLEW_OK && !is_everyones(status)) {
            const char *detail = arena_string(arena, why.message);

            /* its trouble is its own; the others are looked at as well */
            status = detail ? add_detail(&work, "everything can be looked at",
                                         1, detail, err)
                            : clew_no_memory(err);
        } else if (status != CLEW_OK && err) {
            *err = why;
        }
        work.report.n_tenants++;
    }
    rebuild_empty_release(&work.empty);
    if (status == CLEW_OK) {
        *out = work.report;
    }
    return status;
}
