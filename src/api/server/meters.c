/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meters.c - /metrics: what whoever runs the server wants to see.
 *
 * Each family has HELP and TYPE; bytes and seconds are in the name, counters
 * end in _total. Counts over all tenants are taken at most once in a while,
 * however often somebody asks. No name of a tenant or a user is in here.
 */
#include "api/handlers.h"

#include "base/clock.h"
#include "engine/call/call_stats.h"
#include "engine/core/engine.h"
#include "engine/feed/model_use.h"
#include "engine/feed/reembed.h"
#include "engine/feed/vector_graph.h"
#include "engine/key/key.h"
#include "engine/view/totals.h"
#include "http/metrics.h"
#include "store/store.h"

#include <pthread.h>

/* Totals are as old as this at most. */
#define TOTALS_AGE_NS (15LL * 1000 * 1000 * 1000)

static void put_head(struct buf *body, const char *name, const char *type,
                     const char *help)
{
    /* failures stay in the buffer */
    (void)buf_printf(body, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                     type);
}

static void put(struct buf *body, const char *name, const char *type,
                const char *help, int64_t value)
{
    put_head(body, name, type, help);
    (void)buf_printf(body, "%s %lld\n", name, (long long)value);
}

/* --- how much there is ---------------------------------------------------- */

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by it. */
static struct totals totals;
static const struct engine *totals_engine; /* whose they are */
static int64_t totals_at_ns;

/* The totals, counted anew if they are old; false if there are none. */
static bool get_totals(struct engine *engine, struct totals *out)
{
    int64_t now = clock_mono_ns();
    bool is_there;

    (void)pthread_mutex_lock(&totals_lock);
    if (totals_engine != engine || now - totals_at_ns > TOTALS_AGE_NS) {
        struct totals fresh;

        if (totals_read(engine, &fresh, NULL) == CLEW_OK) {
            totals = fresh;
            totals_engine = engine;
            totals_at_ns = now;
        }
    }
    is_there = totals_engine == engine;
    *out = totals;
    (void)pthread_mutex_unlock(&totals_lock);
    return is_there;
}

static void write_llm(const struct totals *t, struct buf *body)
{
    put(body, "clew_llm_calls_total", "counter",
        "Calls to the language model, of all days.", t->llm_calls);
    put(body, "clew_llm_failures_total", "counter",
        "Calls to the language model that failed.", t->llm_failures);
    put_head(body, "clew_llm_tokens_total", "counter",
             "Tokens of the language model, by direction.");
    (void)buf_printf(body,
                     "clew_llm_tokens_total{direction=\"input\"} %lld\n"
                     "clew_llm_tokens_total{direction=\"output\"} %lld\n",
                     (long long)t->llm_input_tokens,
                     (long long)t->llm_output_tokens);
    put_head(body, "clew_llm_cost_total", "counter",
             "What they cost, in the currency of llm.input_price.");
    (void)buf_printf(body, "clew_llm_cost_total %.6f\n",
                     (double)t->llm_cost_micros / 1e6);
}

static void write_totals(struct engine *engine, struct buf *body)
{
    static const char *const states[TOTALS_TASK_STATES] = {
        [TOTALS_PENDING] = "pending",
        [TOTALS_RUNNING] = "running",
        [TOTALS_DONE] = "done",
        [TOTALS_FAILED] = "failed"};
    struct totals t;

    if (!get_totals(engine, &t)) {
        return;
    }
    put(body, "clew_tenants", "gauge", "Tenants.", t.n_tenants);
    put(body, "clew_turns", "gauge", "Turns that are kept.", t.n_turns);
    put(body, "clew_memories", "gauge", "Memories that are not taken back.",
        t.n_memories);
    put(body, "clew_reader_backlog_turns", "gauge",
        "Turns that wait to be read.", t.n_waiting);
    put_head(body, "clew_tasks", "gauge", "Later work, by state.");
    for (size_t i = 0; i < TOTALS_TASK_STATES; i++) {
        (void)buf_printf(body, "clew_tasks{state=\"%s\"} %lld\n", states[i],
                         (long long)t.n_tasks[i]);
    }
    if (t.store_bytes >= 0) {
        put(body, "clew_store_bytes", "gauge",
            "The database file and its log; nothing for PostgreSQL.",
            t.store_bytes);
    }
    put(body, "clew_index_bytes", "gauge", "Files of the search index.",
        t.index_bytes);
    write_llm(&t, body);
}

/* --- models, graphs, links ------------------------------------------------ */

/* How far the chosen embedding model has come; nothing about the shipped one,
 * which is never behind. */
static void write_model(struct engine *engine, struct buf *body)
{
    char failure[MODEL_USE_TEXT];
    int64_t all;
    int64_t done;

    if (reembed_changes(engine, &all, &done, NULL) != CLEW_OK || all == 0) {
        return;
    }
    model_use_failure(engine, failure);
    put(body, "clew_embed_changes", "gauge",
        "What the chosen embedding model has to embed.", all);
    put(body, "clew_embed_changes_done", "gauge", "What it has embedded.",
        done);
    put(body, "clew_embed_model_up", "gauge",
        "Whether the chosen embedding model answers.", failure[0] == '\0');
}

/* Vectors that are kept in the database; nothing where none may be. */
static void write_graphs(struct engine *engine, struct buf *body)
{
    struct vector_graph_counts counts;
    const char *version = vector_graph_version(engine);

    if (version[0] == '\0' ||
        vector_graph_count(engine, &counts, NULL) != CLEW_OK) {
        return;
    }
    put_head(body, "clew_pgvector_info", "gauge", "The version of pgvector.");
    (void)buf_printf(body, "clew_pgvector_info{version=\"%s\"} 1\n", version);
    put(body, "clew_pgvector_graphs", "gauge", "Graphs of vectors.",
        counts.n_graphs);
    put(body, "clew_pgvector_changes_behind", "gauge",
        "Changes that are not in their graph yet.", counts.n_behind);
}

/* How captured calls found what they continue. */
static void write_links(struct buf *body)
{
    struct call_stats stats;

    call_stats_get(&stats);
    put_head(body, "clew_links_total", "counter",
             "Calls linked, by what decided.");
    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        (void)buf_printf(body, "clew_links_total{strategy=\"%s\"} %lld\n",
                         call_strategy_name((enum call_strategy)i),
                         (long long)stats.n_by[i]);
    }
    put(body, "clew_link_retries_total", "counter",
        "Calls that were the same again.", stats.n_retries);
    put_head(body, "clew_link_seconds_total", "counter",
             "Time spent on linking calls.");
    (void)buf_printf(body, "clew_link_seconds_total %.6f\n",
                     (double)stats.link_ns / 1e9);
}

/* Who answered reads of tenants; nothing where there is no replica. */
static void write_replica(struct engine *engine, struct buf *body)
{
    struct store_replica replica;

    store_replica_look(engine->store, &replica);
    if (!replica.is_used) {
        return;
    }
    put_head(body, "clew_replica_reads_total", "counter",
             "Reads that may go to the replica, by what became of them.");
    (void)buf_printf(body,
                     "clew_replica_reads_total{by=\"replica\"} %lld\n"
                     "clew_replica_reads_total{by=\"primary_behind\"} %lld\n"
                     "clew_replica_reads_total{by=\"primary_down\"} %lld\n",
                     (long long)replica.n_reads, (long long)replica.n_behind,
                     (long long)replica.n_down);
}

enum clew_status meta_metrics(struct api_call *call, struct clew_error *err)
{
    struct buf *body = &call->response->body;
    bool is_up = store_is_healthy(call->engine->store);
    enum clew_status status =
        http_response_header(call->request, call->response, "content-type",
                             "text/plain; version=0.0.4; charset=utf-8");

    if (status == CLEW_OK) {
        put_head(body, "clew_build_info", "gauge", "The version that runs.");
        (void)buf_printf(body, "clew_build_info{version=\"%s\"} 1\n",
                         CLEW_VERSION);
        put(body, "clew_store_up", "gauge", "Whether the store answers.",
            is_up);
        if (is_up) {
            write_totals(call->engine, body);
        }
        write_model(call->engine, body);
        write_graphs(call->engine, body);
        write_replica(call->engine, body);
        write_links(body);
        put(body, "clew_key_confirmations_total", "counter",
            "Keys looked up in the store.",
            (int64_t)key_confirmations(call->engine));
        status = metrics_write(body);
    }
    return status == CLEW_OK ? CLEW_OK
                             : clew_fail(err, status, "out of memory");
}
