/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - POST /api/v1/recall: find what was said.
 */
#include "api/handlers.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "engine/ask/search.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"

static const struct {
    const char *name;
    uint32_t kind;
} kinds[] = {{"turn", RECALL_TURN},
             {"memory", RECALL_MEMORY},
             {"episode", RECALL_EPISODE},
             {"chat", RECALL_CHAT}};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

#define DEFAULT_LIMIT 10

/* What part of the ranking is answered with. */
struct window {
    size_t skip;
    size_t take;
    double min_score; /* < 0: none */
};

static const char *kind_name(uint32_t kind)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return "turn";
}

static const char *answered_name(enum search_answered answered)
{
    switch (answered) {
    case SEARCH_NO:
        return "no";
    case SEARCH_MAYBE:
        return "maybe";
    case SEARCH_YES:
        return "yes";
    }
    return "no";
}

static uint32_t kind_of(const json_t *value)
{
    struct str name = {json_string_value(value), json_string_length(value)};

    for (size_t i = 0; name.s && i < N_KINDS; i++) {
        if (str_eq(name, str_of(kinds[i].name))) {
            return kinds[i].kind;
        }
    }
    return 0;
}

static enum clew_status read_kinds(const json_t *body, uint32_t *out_kinds,
                                   struct clew_error *err)
{
    const json_t *list = NULL;
    size_t i;
    json_t *value;
    enum clew_status status =
        json_get_array(body, "kinds", JSON_OPTIONAL, N_KINDS, &list, err);

    if (status != CLEW_OK || !list) {
        return status;
    }
    json_array_foreach (list, i, value) {
        uint32_t kind = kind_of(value);

        if (!kind) {
            return clew_fail_field(err, "kinds",
                                   "\"kinds\" may hold turn, memory, episode "
                                   "and chat");
        }
        *out_kinds |= kind;
    }
    return CLEW_OK;
}

static enum clew_status read_times(const json_t *body, struct search_query *out,
                                   struct clew_error *err)
{
    enum clew_status status =
        json_get_time(body, "since", JSON_OPTIONAL, &out->since_ms, err);

    if (status == CLEW_OK) {
        status =
            json_get_time(body, "until", JSON_OPTIONAL, &out->until_ms, err);
    }
    if (status == CLEW_OK) {
        status = json_get_time(body, "at", JSON_OPTIONAL, &out->at_ms, err);
    }
    return status;
}

/* How many were seen already, from the cursor of the page before. */
static enum clew_status read_cursor(struct api_call *call,
                                    struct window *window,
                                    struct clew_error *err)
{
    struct api_page page = {0};
    struct uuid none;
    int64_t skip = 0;
    enum clew_status status = api_cursor_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &skip, &none, err);
    }
    if (status == CLEW_OK && skip > LIMIT_RECALL_DEPTH) {
        skip = LIMIT_RECALL_DEPTH;
    }
    window->skip = (size_t)skip;
    return status;
}

static enum clew_status read_query(struct api_call *call,
                                   struct search_query *out,
                                   struct window *window, bool *out_explain,
                                   struct clew_error *err)
{
    const json_t *body = call->body;
    int64_t limit = DEFAULT_LIMIT;
    enum clew_status status = json_get_str(body, "query", JSON_REQUIRED,
                                           LIMIT_QUERY_BYTES, &out->query, err);

    if (status == CLEW_OK) {
        status = json_get_str(body, "user_id", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &out->user_id, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "chat_id", JSON_OPTIONAL, &out->chat_id, err);
        out->asked_in = out->chat_id;
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(body, "asked_in", JSON_OPTIONAL, &out->asked_in, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(body, "timezone", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = read_kinds(body, &out->kinds, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(body, "limit", JSON_OPTIONAL, 1, LIMIT_PAGE_MAX,
                              &limit, err);
    }
    if (status == CLEW_OK) {
        status = read_times(body, out, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_bool(body, "explain", JSON_OPTIONAL, out_explain, err);
    }
    if (status == CLEW_OK) {
        status = json_get_bool(body, "fast", JSON_OPTIONAL, &out->is_fast, err);
    }
    if (status == CLEW_OK) {
        status = json_get_real(body, "min_score", JSON_OPTIONAL, 0, 1,
                               &out->min_score, err);
    }
    if (status == CLEW_OK) {
        status = read_cursor(call, window, err);
    }
    window->take = (size_t)limit;
    out->limit = window->skip + window->take + 1; /* is there more? */
    return status;
}

/* Where a score comes from. */
static void write_why(struct json_out *out, const struct search_hit *hit)
{
    const struct recall_parts *parts = &hit->item.parts;

    json_out_object(out, "why");
    if (hit->read >= 0) {
        json_out_real(out, "read", (double)hit->read);
    }
    json_out_real(out, "lexical", (double)parts->lexical);
    json_out_real(out, "neighbour", (double)parts->neighbour);
    json_out_real(out, "vector", (double)parts->vector);
    json_out_real(out, "window", (double)parts->window);
    json_out_real(out, "time", (double)parts->time);
    json_out_real(out, "prior", (double)parts->prior);
    json_out_real(out, "chat", (double)parts->chat);
    json_out_end_object(out);
}

static const struct uuid *id_or_null(const struct uuid *id)
{
    return uuid_is_nil(id) ? NULL : id;
}

/* The same answer in another coat. */
static void write_coat(struct json_out *out, const struct search_coat *coat)
{
    json_out_object(out, NULL);
    json_out_str(out, "kind", str_of(kind_name(coat->kind)));
    json_out_uuid(out, "id", &coat->id);
    json_out_str(out, "type", coat->type);
    json_out_str(out, "text", coat->text);
    json_out_bool(out, "superseded", coat->is_superseded);
    json_out_end_object(out);
}

static void write_hit(struct json_out *out, const struct search_hit *hit,
                      bool has_why)
{
    const struct recall_item *item = &hit->item;
    const struct turn *turn = hit->turn;

    json_out_object(out, NULL);
    json_out_str(out, "kind", str_of(kind_name(item->kind)));
    json_out_uuid(out, "id", &item->id);
    json_out_uuid(out, "chat_id", id_or_null(&item->chat));
    json_out_uuid(out, "turn_id", turn ? &turn->id : NULL);
    json_out_str(out, "external_id",
                 turn ? turn->external_id : (struct str){0});
    json_out_str(out, "text", hit->text);
    json_out_real(out, "score", item->score);
    json_out_time(out, "created_at", &item->created_at_ms);
    json_out_bool(out, "superseded", hit->is_superseded);
    json_out_uuid(out, "refined_by", id_or_null(&hit->refined_by));
    json_out_bool(out, "is_instruction",
                  hit->memory
                      ? hit->memory->is_instruction
                      : turn && memory_reads_like_instruction(turn->text));
    json_out_str(out, "source_ref", hit->source_ref);
    json_out_str(out, "speaker", hit->speaker);
    if (turn) {
        json_out_object(out, "passage");
        json_out_int(out, "from", (int64_t)hit->passage_from);
        json_out_int(out, "to", (int64_t)hit->passage_to);
        json_out_bool(out, "tool_input", hit->has_input);
        json_out_end_object(out);
    }
    json_out_array(out, "also");
    for (size_t i = 0; i < hit->n_also; i++) {
        write_coat(out, &hit->also[i]);
    }
    json_out_end_array(out);
    if (has_why) {
        write_why(out, hit);
    }
    json_out_end_object(out);
}

static void write_trace(struct json_out *out,
                        const struct recall_result *ranking)
{
    json_out_object(out, "trace");
    json_out_array(out, "terms");
    for (size_t i = 0; i < ranking->n_terms; i++) {
        json_out_str(out, NULL, ranking->terms[i]);
    }
    json_out_end_array(out);
    json_out_int(out, "scanned", (int64_t)ranking->n_scanned);
    json_out_int(out, "candidates", (int64_t)ranking->n_candidates);
    json_out_end_object(out);
}

/* Written at once: the answer is long and asked for often. */
static void write_answer(struct buf *body, const struct search_result *result,
                         const struct window *window, struct str next,
                         bool has_why)
{
    struct json_out out;
    size_t to = window->skip + window->take;

    json_out_init(&out, body);
    json_out_object(&out, NULL);
    json_out_array(&out, "items");
    for (size_t i = window->skip; i < result->count && i < to; i++) {
        if (result->hits[i].item.score >= window->min_score) {
            write_hit(&out, &result->hits[i], has_why);
        }
    }
    json_out_end_array(&out);
    json_out_str(&out, "answered", str_of(answered_name(result->answered)));
    json_out_str(&out, "did_you_mean", result->did_you_mean);
    json_out_str(&out, "completed_with", result->lent);
    json_out_str(&out, "next_cursor", next);
    write_trace(&out, &result->ranking);
    json_out_end_object(&out);
}

/* Is there another page, and could anything on it be good enough? */
static bool has_more(const struct search_result *result,
                     const struct window *window)
{
    size_t to = window->skip + window->take;

    return result->count > to && to <= LIMIT_RECALL_DEPTH &&
           result->hits[to].item.score >= window->min_score;
}

enum clew_status recall_post(struct api_call *call, struct clew_error *err)
{
    struct search_query query = {.since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = clock_now_ms(call->engine->clock)};
    struct search_result result = {0};
    struct window window = {.min_score = -1};
    struct str next = {0};
    bool has_why = false;
    enum clew_status status = read_query(call, &query, &window, &has_why, err);

    if (status == CLEW_OK) {
        status = search_run(call->engine, &call->scope, call->arena, &query,
                            &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (has_more(&result, &window)) {
        static const struct uuid none = {{0}};

        status = api_cursor_make(
            call, api_mark(call, (int64_t)(window.skip + window.take), &none),
            &next, err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    write_answer(&call->response->body, &result, &window, next, has_why);
    return CLEW_OK; /* a full buffer is found by whoever sends it */
}
