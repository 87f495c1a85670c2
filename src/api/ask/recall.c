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
#include "engine/episode/episode.h"
#include "engine/memory/memory.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t kind;
} kinds[] = {{"turn", RECALL_TURN},
             {"memory", RECALL_MEMORY},
             {"episode", RECALL_EPISODE},
             {"chat", RECALL_CHAT}};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

#define DEFAULT_LIMIT 10
/* Bytes of the words that were looked for, of a name, and around a cursor. */
#define TERMS_BYTES 32000u
#define NAME_BYTES 512u
#define CURSOR_BYTES 512u

/* Bytes of a cursor for each hit that was shown. */
#define SHOWN_BYTES 5u
#define MAX_SHOWN (LIMIT_RECALL_DEPTH + LIMIT_PAGE_MAX)

/* What is answered with: so many of the best that were not shown yet. The next
 * page ranks deeper, and a deeper ranking may have another order; so a cursor
 * names what was shown instead of counting it. */
struct window {
    size_t limit;
    struct str shown; /* SHOWN_BYTES of the hash of each */
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
    struct str name = json_text(value);

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

/* What the pages before have shown: from the cursor of the last. */
static enum clew_status read_cursor(struct api_call *call,
                                    struct window *window,
                                    struct clew_error *err)
{
    struct api_page page = {0};
    enum clew_status status = api_cursor_of(call, &page, err);

    if (status == CLEW_OK && page.cursor.len % SHOWN_BYTES != 0) {
        return clew_fail_field(err, "cursor",
                               "this cursor does not belong here");
    }
    window->shown = page.cursor;
    return status;
}

static size_t n_shown(const struct window *window)
{
    return window->shown.len / SHOWN_BYTES;
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
        status = api_body_zone(body, &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = read_kinds(body, &out->kinds, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(body, "limit", JSON_OPTIONAL, 1, LIMIT_PAGE_MAX,
                              &limit, err);
    }
    if (status == CLEW_OK) {
        status = api_body_times(call, &out->since_ms, &out->until_ms,
                                &out->at_ms, err);
        out->ahead_ms =
            json_is_string(json_object_get(body, "at")) ? 0 : out->ahead_ms;
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
    window->limit = (size_t)limit;
    out->limit = n_shown(window) + window->limit + 1; /* is there more? */
    out->is_last_unshown = n_shown(window) == 0;
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
    json_out_real(out, "gist", (double)parts->gist);
    json_out_real(out, "time", (double)parts->time);
    json_out_real(out, "prior", (double)parts->prior);
    json_out_real(out, "chat", (double)parts->chat);
    json_out_end_object(out);
}

/* How an effort ended is what most ask for who ask about it. */
static void write_end(struct json_out *out, const struct search_end *end)
{
    json_out_str(out, "status", end->status);
    json_out_cut_str(out, "resolution", end->resolution,
                     LIMIT_ANSWER_TEXT_BYTES);
}

/* The same answer in another coat. */
static void write_coat(struct json_out *out, const struct search_coat *coat)
{
    json_out_object(out, NULL);
    json_out_str(out, "kind", str_of(kind_name(coat->kind)));
    json_out_uuid(out, "id", &coat->id);
    json_out_str(out, "type", coat->type);
    write_end(out, &coat->end);
    json_out_cut_str(out, "text", coat->text, LIMIT_ANSWER_TEXT_BYTES);
    json_out_int(out, "text_bytes", (int64_t)coat->text.len);
    json_out_bool(out, "superseded", coat->is_superseded);
    json_out_bool(out, "is_instruction",
                  memory_reads_like_instruction(coat->text) ||
                      memory_reads_like_instruction(coat->end.resolution));
    json_out_end_object(out);
}

/* How long the text is that a passage is of. */
static size_t whole_bytes(const struct search_hit *hit)
{
    return hit->turn      ? hit->turn->text.len
           : hit->memory  ? hit->memory->summary.len
           : hit->episode ? hit->episode->meso.len
                          : hit->text.len;
}

static size_t at_most(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void write_hit(struct json_out *out, const struct search_hit *hit,
                      bool has_why)
{
    const struct recall_item *item = &hit->item;
    const struct turn *turn = hit->turn;
    size_t len = json_out_cut(hit->text, LIMIT_ANSWER_TEXT_BYTES);

    json_out_object(out, NULL);
    json_out_str(out, "kind", str_of(kind_name(item->kind)));
    json_out_uuid(out, "id", &item->id);
    json_out_uuid(out, "chat_id", uuid_or_null(&item->chat));
    json_out_uuid(out, "turn_id", turn ? &turn->id : NULL);
    json_out_str(out, "external_id",
                 turn ? turn->external_id : (struct str){0});
    json_out_str(out, "text", str_sub(hit->text, 0, len));
    json_out_int(out, "text_bytes", (int64_t)whole_bytes(hit));
    json_out_real(out, "score", item->score);
    json_out_time(out, "created_at", &item->created_at_ms);
    json_out_bool(out, "superseded", hit->is_superseded);
    json_out_uuid(out, "refined_by", uuid_or_null(&hit->refined_by));
    json_out_bool(out, "is_instruction", search_is_order(hit));
    json_out_str(out, "source_ref", hit->source_ref);
    json_out_cut_str(out, "speaker", search_speaker(hit), NAME_BYTES);
    json_out_str(out, "type",
                 hit->memory ? hit->memory->type : (struct str){0});
    write_end(out, &hit->end);
    if (turn) {
        json_out_object(out, "passage");
        json_out_int(out, "from", (int64_t)hit->passage_from);
        json_out_int(
            out, "to",
            (int64_t)at_most(hit->passage_to, hit->passage_from + len));
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

/* What is not a hit; after the list of them. */
static void write_rest(struct buf *rest, const struct search_result *result)
{
    const struct recall_result *ranking = &result->ranking;
    struct json_out out;

    json_out_init(&out, rest);
    out.has_item = true; /* the list */
    json_out_str(&out, "answered", str_of(answered_name(result->answered)));
    json_out_cut_str(&out, "did_you_mean", result->did_you_mean,
                     LIMIT_ANSWER_TEXT_BYTES);
    json_out_cut_str(&out, "completed_with", result->lent,
                     LIMIT_ANSWER_TEXT_BYTES);
    json_out_object(&out, "trace");
    json_out_array(&out, "terms");
    for (size_t i = 0; i < ranking->n_terms && rest->len < TERMS_BYTES; i++) {
        json_out_str(&out, NULL, ranking->terms[i]);
    }
    json_out_end_array(&out);
    json_out_int(&out, "scanned", (int64_t)ranking->n_scanned);
    json_out_int(&out, "candidates", (int64_t)ranking->n_candidates);
    json_out_end_object(&out);
}

/* What a cursor remembers of a hit. A chat is the same whichever of its turns
 * speaks for it. */
static void shown_mark(const struct search_hit *hit, char out[SHOWN_BYTES])
{
    const struct uuid *id =
        hit->item.kind == RECALL_CHAT ? &hit->item.chat : &hit->item.id;
    uint64_t hash = str_hash((struct str){(const char *)id, sizeof(*id)});

    for (size_t i = 0; i < SHOWN_BYTES; i++) {
        out[i] = (char)(unsigned char)(hash >> (8 * i));
    }
}

static bool was_shown(const struct window *window, const char mark[SHOWN_BYTES])
{
    for (size_t i = 0; i < window->shown.len; i += SHOWN_BYTES) {
        if (memcmp(window->shown.s + i, mark, SHOWN_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* Hits that were not shown yet, while they fit into `max_bytes`; one always
 * does. `shown` grows by them; true if there are more. */
static bool write_hits(struct json_out *out, const struct search_result *result,
                       const struct window *window, bool has_why,
                       size_t max_bytes, struct buf *shown)
{
    struct json_out one;
    struct buf hit;
    size_t n = 0;
    bool is_more = false;

    buf_init(&hit, LIMIT_ANSWER_BYTES);
    for (size_t i = 0; i < result->count && !is_more; i++) {
        char mark[SHOWN_BYTES];

        shown_mark(&result->hits[i], mark);
        if (was_shown(window, mark)) {
            continue;
        }
        if (n == window->limit) {
            is_more = true;
            break;
        }
        buf_clear(&hit);
        json_out_init(&one, &hit);
        write_hit(&one, &result->hits[i], has_why);
        is_more = out->buf->len + hit.len + 1 > max_bytes;
        if (!is_more) {
            json_out_raw(out, NULL, buf_str(&hit));
            (void)buf_append(shown, mark, SHOWN_BYTES);
            n++;
        }
    }
    if (buf_status(&hit) != CLEW_OK) {
        (void)buf_fail(out->buf, buf_status(&hit));
    }
    buf_release(&hit);
    return is_more;
}

/* Written at once: the answer is long and asked for often. */
static enum clew_status write_answer(struct api_call *call,
                                     const struct search_result *result,
                                     const struct window *window, bool has_why,
                                     struct clew_error *err)
{
    struct buf *body = &call->response->body;
    size_t cursor_bytes =
        CURSOR_BYTES + 2 * (window->shown.len + SHOWN_BYTES * window->limit);
    struct str next = {0};
    struct json_out out;
    struct buf shown;
    struct buf rest;
    enum clew_status status = CLEW_OK;

    buf_init(&shown, (size_t)SHOWN_BYTES * MAX_SHOWN);
    buf_init(&rest, LIMIT_ANSWER_BYTES);
    (void)buf_append_str(&shown, window->shown);
    write_rest(&rest, result);
    json_out_init(&out, body);
    json_out_object(&out, NULL);
    json_out_array(&out, "items");
    if (write_hits(&out, result, window, has_why,
                   LIMIT_ANSWER_BYTES - cursor_bytes - rest.len, &shown) &&
        shown.len <= (size_t)SHOWN_BYTES * LIMIT_RECALL_DEPTH) {
        status = api_cursor_make(call, buf_str(&shown), &next, err);
    }
    json_out_end_array(&out);
    json_out_str(&out, "next_cursor", next);
    (void)buf_append_str(body, buf_str(&rest));
    json_out_end_object(&out);
    if (status == CLEW_OK &&
        (buf_status(&rest) != CLEW_OK || buf_status(&shown) != CLEW_OK)) {
        status = clew_no_memory(err);
    }
    buf_release(&shown);
    buf_release(&rest);
    return status; /* a full body is found by whoever sends it */
}

enum clew_status recall_post(struct api_call *call, struct clew_error *err)
{
    struct search_query query = {.since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = clock_now_ms(call->engine->clock),
                                 .ahead_ms = SEARCH_AHEAD_MS};
    struct search_result result = {0};
    struct window window = {0};
    bool has_why = false;
    enum clew_status status = read_query(call, &query, &window, &has_why, err);

    if (status == CLEW_OK) {
        status = search_run(call->engine, &call->scope, call->arena, &query,
                            &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    return write_answer(call, &result, &window, has_why, err);
}
