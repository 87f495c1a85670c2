/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clew.c - the public C API over the engine. See clew/clew.h.
 *
 * Checks what an HTTP body would have been checked for, and turns ids and
 * strings into the engine's types and back. No rules of its own.
 */
#include "clew/clew.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "engine/ask/search.h"
#include "engine/capture/capture.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/open.h"

#include <pthread.h>
#include <stdio.h>

#define DEFAULT_LIMIT 10

struct clew {
    struct config *config;
    struct engine *engine;
    struct scope scope;
};

struct clew_hits {
    struct arena arena;
    struct clew_hit *items;
    size_t count;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *clew_version(void)
{
    return CLEW_VERSION;
}

static enum clew_status open_parts(const struct clew_options *options,
                                   struct clew *clew, struct clew_error *err)
{
    struct engine_options engine = {.data_dir = options->data_dir};
    const char *url = options->store_url;
    enum clew_status status =
        config_load(options->config_file, NULL, 0, &clew->config, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (!url && !options->data_dir) {
        url = config_str(clew->config, "store.url");
    }
    engine.config = clew->config;
    engine.store_url = url && url[0] ? url : NULL;
    status = engine_open(&engine, &clew->engine, err);
    if (status != CLEW_OK) {
        return status;
    }
    return engine_tenant(clew->engine,
                         options->tenant ? options->tenant : "default",
                         &clew->scope, err);
}

enum clew_status clew_open(const struct clew_options *options,
                           struct clew **out_clew, struct clew_error *err)
{
    enum clew_status status;
    struct clew *clew;

    (void)pthread_once(&once, json_setup);
    clew = alloc_zero(1, sizeof(*clew));
    if (!clew) {
        return clew_no_memory(err);
    }
    status = open_parts(options, clew, err);
    if (status != CLEW_OK) {
        clew_close(clew);
        return status;
    }
    *out_clew = clew;
    return CLEW_OK;
}

void clew_close(struct clew *clew)
{
    if (!clew) {
        return;
    }
    engine_close(clew->engine);
    config_free(clew->config);
    alloc_free(clew);
}

/* A text from outside: NULL stays s == NULL; checked for UTF-8 and length. */
static enum clew_status text_of(const char *text, const char *field,
                                size_t max_bytes, struct str *out,
                                struct clew_error *err)
{
    struct str slice = {NULL, 0};

    if (text) {
        slice = str_of(text);
    }
    if (slice.len > max_bytes) {
        return clew_fail_field(err, field, "\"%s\" is longer than %zu bytes",
                               field, max_bytes);
    }
    if (!utf8_is_valid(slice)) {
        return clew_fail_field(err, field, "\"%s\" is not valid UTF-8", field);
    }
    *out = slice;
    return CLEW_OK;
}

static enum clew_status required(const char *text, const char *field,
                                 size_t max_bytes, struct str *out,
                                 struct clew_error *err)
{
    if (!text || !text[0]) {
        return clew_fail_field(err, field, "\"%s\" is required", field);
    }
    return text_of(text, field, max_bytes, out, err);
}

/* NULL is the nil id; what is no id names nothing that exists. */
static enum clew_status id_of(const char *text, const char *field,
                              struct uuid *out, struct clew_error *err)
{
    struct uuid id = {{0}};

    if (text && !uuid_parse(str_of(text), &id)) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such %s", field);
    }
    *out = id;
    return CLEW_OK;
}

static enum clew_status read_texts(const struct clew *clew,
                                   const struct clew_turn *turn,
                                   struct capture_input *out,
                                   struct clew_error *err)
{
    size_t limit = (size_t)config_int(clew->config, "limits.content_bytes");
    enum clew_status status;

    status = required(turn->user_id, "user_id", LIMIT_NAME_BYTES, &out->user_id,
                      err);
    if (status == CLEW_OK) {
        status = required(turn->text, "text", limit, &out->content.text, err);
    }
    if (status == CLEW_OK) {
        status = text_of(turn->name, "name", LIMIT_NAME_BYTES, &out->name, err);
    }
    if (status == CLEW_OK) {
        status = text_of(turn->channel, "channel", LIMIT_NAME_BYTES,
                         &out->channel, err);
    }
    if (status == CLEW_OK) {
        status = text_of(turn->timezone, "timezone", LIMIT_NAME_BYTES,
                         &out->timezone, err);
    }
    if (status == CLEW_OK) {
        status = text_of(turn->external_id, "external_id", LIMIT_NAME_BYTES,
                         &out->external_id, err);
    }
    return status;
}

static enum clew_status read_turn(const struct clew *clew,
                                  const struct clew_turn *turn,
                                  struct capture_input *out,
                                  struct clew_error *err)
{
    enum clew_status status = read_texts(clew, turn, out, err);

    if (status == CLEW_OK) {
        status = id_of(turn->chat_id, "chat", &out->chat_id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out->role = TURN_USER;
    if (turn->role && !turn_role_parse(str_of(turn->role), &out->role)) {
        return clew_fail_field(err, "role",
                               "\"role\" must be user, assistant, system or "
                               "tool");
    }
    out->created_at_ms =
        turn->created_at_ms ? turn->created_at_ms : CAPTURE_NOW;
    if (turn->created_at_ms < CLOCK_MIN_MS ||
        turn->created_at_ms > CLOCK_MAX_MS) {
        return clew_fail_field(err, "created_at_ms",
                               "\"created_at_ms\" must be in years 1 to 9999");
    }
    return CLEW_OK;
}

static void write_place(const struct capture_result *result,
                        struct clew_place *out)
{
    uuid_format(&result->turn.id, out->turn_id);
    uuid_format(&result->turn.chat_id, out->chat_id);
    uuid_format(&result->turn.session_id, out->session_id);
    out->seq = result->turn.seq;
    out->is_repeat = result->is_repeat;
}

enum clew_status clew_append(struct clew *clew, const struct clew_turn *turns,
                             size_t count, struct clew_place *out_places,
                             struct clew_error *err)
{
    struct capture_input *inputs;
    struct capture_result *results;
    enum clew_status status = CLEW_OK;
    struct arena arena;

    if (count < 1 || count > LIMIT_BATCH_TURNS) {
        return clew_fail_field(err, "count", "\"count\" must be from 1 to %d",
                               LIMIT_BATCH_TURNS);
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    inputs = arena_zero(&arena, count, sizeof(*inputs));
    results = arena_zero(&arena, count, sizeof(*results));
    if (!inputs || !results) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = read_turn(clew, &turns[i], &inputs[i], err);
    }
    if (status == CLEW_OK) {
        status = capture_turns(clew->engine, &clew->scope, &arena, inputs,
                               count, results, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK && out_places; i++) {
        write_place(&results[i], &out_places[i]);
    }
    arena_release(&arena);
    return status;
}

enum clew_status clew_fork(struct clew *clew, const char *chat_id,
                           int64_t at_seq, const char *title,
                           char out_chat_id[CLEW_ID_SIZE],
                           struct clew_error *err)
{
    struct str name = {NULL, 0};
    enum clew_status status;
    struct arena arena;
    struct uuid id;
    struct chat chat;

    status = id_of(chat_id ? chat_id : "", "chat", &id, err);
    if (status == CLEW_OK) {
        status = text_of(title, "title", LIMIT_TITLE_BYTES, &name, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status = chat_fork_at(clew->engine, &clew->scope, &arena, &id,
                          at_seq < 0 ? -1 : at_seq, name, &chat, err);
    if (status == CLEW_OK) {
        uuid_format(&chat.id, out_chat_id);
    }
    arena_release(&arena);
    return status;
}

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case RECALL_MEMORY:
        return "memory";
    case RECALL_EPISODE:
        return "episode";
    case RECALL_CHAT:
        return "chat";
    default: /* a bit set, no enum */
        return "turn";
    }
}

static bool write_hit(const struct search_hit *hit, struct arena *arena,
                      struct clew_hit *out)
{
    out->kind = kind_name(hit->item.kind);
    out->text = arena_copy(arena, hit->text.s, hit->text.len);
    uuid_format(&hit->item.id, out->id);
    if (uuid_is_nil(&hit->item.chat)) {
        out->chat_id[0] = '\0';
    } else {
        uuid_format(&hit->item.chat, out->chat_id);
    }
    out->score = hit->item.score;
    out->created_at_ms = hit->item.created_at_ms;
    out->is_superseded = hit->is_superseded;
    return out->text != NULL;
}

static enum clew_status read_query(struct clew *clew,
                                   const struct clew_query *query,
                                   struct search_query *out,
                                   struct clew_error *err)
{
    enum clew_status status =
        required(query->text, "text", LIMIT_QUERY_BYTES, &out->query, err);

    if (status == CLEW_OK) {
        status = text_of(query->user_id, "user_id", LIMIT_NAME_BYTES,
                         &out->user_id, err);
    }
    if (status == CLEW_OK) {
        status = id_of(query->chat_id, "chat", &out->chat_id, err);
    }
    if (status == CLEW_OK && query->limit > LIMIT_PAGE_MAX) {
        status = clew_fail_field(err, "limit", "\"limit\" must be at most %d",
                                 LIMIT_PAGE_MAX);
    }
    out->limit = query->limit ? query->limit : DEFAULT_LIMIT;
    out->since_ms = query->since_ms ? query->since_ms : INT64_MIN;
    out->until_ms = query->until_ms ? query->until_ms : INT64_MAX;
    out->at_ms =
        query->at_ms ? query->at_ms : clock_now_ms(clew->engine->clock);
    out->ahead_ms = query->at_ms ? 0 : SEARCH_AHEAD_MS;
    return status;
}

enum clew_status clew_recall(struct clew *clew, const struct clew_query *query,
                             struct clew_hits **out_hits,
                             struct clew_error *err)
{
    struct search_query wanted = {0};
    struct search_result found = {0};
    struct clew_hits *hits = NULL;
    struct arena arena;
    enum clew_status status = read_query(clew, query, &wanted, err);

    if (status != CLEW_OK) {
        return status;
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    status =
        search_run(clew->engine, &clew->scope, &arena, &wanted, &found, err);
    if (status != CLEW_OK) {
        goto out;
    }
    status = CLEW_NO_MEMORY;
    hits = alloc_zero(1, sizeof(*hits));
    if (!hits) {
        goto out;
    }
    arena_init(&hits->arena, LIMIT_REQUEST_ARENA_BYTES);
    hits->items = arena_zero(&hits->arena, found.count, sizeof(*hits->items));
    if (!hits->items) {
        goto out;
    }
    for (; hits->count < found.count; hits->count++) {
        if (!write_hit(&found.hits[hits->count], &hits->arena,
                       &hits->items[hits->count])) {
            goto out;
        }
    }
    *out_hits = hits;
    hits = NULL;
    status = CLEW_OK;
out:
    if (status == CLEW_NO_MEMORY) {
        (void)clew_fail(err, status, "out of memory");
    }
    clew_hits_free(hits);
    arena_release(&arena);
    return status;
}

size_t clew_hits_count(const struct clew_hits *hits)
{
    return hits->count;
}

const struct clew_hit *clew_hits_get(const struct clew_hits *hits, size_t i)
{
    return i < hits->count ? &hits->items[i] : NULL;
}

void clew_hits_free(struct clew_hits *hits)
{
    if (hits) {
        arena_release(&hits->arena);
        alloc_free(hits);
    }
}
