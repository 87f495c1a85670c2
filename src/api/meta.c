/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.c - what the server says about itself: health, metrics, OpenAPI.
 */
#include "api/handlers.h"

#include "api/openapi.h"
#include "engine/link_stats.h"
#include "engine/engine.h"
#include "engine/model_use.h"
#include "engine/reembed.h"
#include "engine/vector_graph.h"
#include "http/metrics.h"
#include "store/store.h"

enum clew_status meta_health(struct api_call *call, struct clew_error *err)
{
    bool is_healthy = store_is_healthy(call->engine->store);

    call->http_status = is_healthy ? 200 : 503;
    call->out = json_object();
    if (!call->out ||
        !json_set_cstr(call->out, "status",
                       is_healthy ? "ok" : "unavailable") ||
        !json_set_cstr(call->out, "version", CLEW_VERSION) ||
        !json_set_cstr(call->out, "store",
                       store_backend(call->engine->store))) {
        return api_no_memory(err);
    }
    return CLEW_OK;
}

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
    (void)buf_printf(body,
                     "# TYPE clew_embed_changes gauge\n"
                     "clew_embed_changes %lld\n"
                     "# TYPE clew_embed_changes_done gauge\n"
                     "clew_embed_changes_done %lld\n"
                     "# TYPE clew_embed_model_up gauge\n"
                     "clew_embed_model_up %d\n",
                     (long long)all, (long long)done, failure[0] == '\0');
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
    (void)buf_printf(body,
                     "# TYPE clew_pgvector_info gauge\n"
                     "clew_pgvector_info{version=\"%s\"} 1\n"
                     "# TYPE clew_pgvector_graphs gauge\n"
                     "clew_pgvector_graphs %lld\n"
                     "# TYPE clew_pgvector_changes_behind gauge\n"
                     "clew_pgvector_changes_behind %lld\n",
                     version, (long long)counts.n_graphs,
                     (long long)counts.n_behind);
}

/* How captured calls found what they continue. */
static void write_links(struct buf *body)
{
    struct link_stats stats;

    link_stats_get(&stats);
    (void)buf_append_cstr(body, "# HELP clew_links_total Calls linked, by what "
                                "decided.\n"
                                "# TYPE clew_links_total counter\n");
    for (size_t i = 0; i < LINK_STRATEGIES; i++) {
        (void)buf_printf(body, "clew_links_total{strategy=\"%s\"} %lld\n",
                         link_strategy_name((enum link_strategy)i),
                         (long long)stats.n_by[i]);
    }
    (void)buf_printf(body,
                     "# TYPE clew_link_retries_total counter\n"
                     "clew_link_retries_total %lld\n"
                     "# TYPE clew_link_seconds_total counter\n"
                     "clew_link_seconds_total %.6f\n",
                     (long long)stats.n_retries, (double)stats.link_ns / 1e9);
}

enum clew_status meta_metrics(struct api_call *call, struct clew_error *err)
{
    struct buf *body = &call->response->body;
    enum clew_status status =
        http_response_header(call->request, call->response, "content-type",
                             "text/plain; version=0.0.4; charset=utf-8");

    if (status == CLEW_OK) {
        (void)buf_printf(body, "# TYPE clew_store_up gauge\nclew_store_up %d\n",
                         store_is_healthy(call->engine->store));
        write_model(call->engine, body);
        write_graphs(call->engine, body);
        write_links(body);
        status = metrics_write(body);
    }
    return status == CLEW_OK ? CLEW_OK
                             : clew_fail(err, status, "out of memory");
}

enum clew_status meta_openapi(struct api_call *call, struct clew_error *err)
{
    call->out = openapi_document(api_routes);
    return call->out ? CLEW_OK : api_no_memory(err);
}
