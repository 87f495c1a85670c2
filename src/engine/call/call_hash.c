/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_hash.c - normal form and digests of messages. See call_hash.h.
 *
 * The normal form is never built: its pieces go straight into the running
 * digest. Only texts that hold a block to cut out are copied, one at a time.
 */
#include "engine/call/call_hash.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/call/call_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* One message on its way into a digest. */
struct feed {
    struct sha256 *hash;
    struct buf *scratch;
    size_t n_items; /* items written so far */
    bool is_without_thinking;
};

static struct str text_of(const json_t *string)
{
    return json_is_string(string) ? json_text(string) : (struct str){"", 0};
}

static struct str field(const json_t *object, const char *name)
{
    return text_of(json_object_get(object, name));
}

/* "[3]", after an LF unless it is the first. */
static void feed_index(struct feed *feed)
{
    char head[32];
    int len = snprintf(head, sizeof(head), "%s[%zu]",
                       feed->n_items > 0 ? "\n" : "", feed->n_items);

    sha256_add(feed->hash, head, (size_t)len);
    feed->n_items++;
}

static void feed_str(struct feed *feed, struct str text)
{
    sha256_add_str(feed->hash, text);
}

/* CRLF becomes LF on the way. */
static void feed_lines(struct feed *feed, struct str text)
{
    size_t from = 0;
    size_t at;

    while ((at = str_find(text, STR("\r\n"), from)) != SIZE_MAX) {
        feed_str(feed, str_sub(text, from, at));
        feed_str(feed, STR("\n"));
        from = at + 2;
    }
    feed_str(feed, str_sub(text, from, text.len));
}

/* A text item. Empty ones are dropped from lists, kept as whole content. */
static enum clew_status feed_text(struct feed *feed, struct str text,
                                  bool is_whole)
{
    struct str own;
    enum clew_status status = call_stripped(feed->scratch, text, &own);

    if (status != CLEW_OK) {
        return status;
    }
    own = call_trim(own);
    if (own.len == 0 && !is_whole) {
        return CLEW_OK;
    }
    feed_index(feed);
    feed_str(feed, STR("text:"));
    feed_lines(feed, own);
    return CLEW_OK;
}

static enum clew_status feed_json(struct feed *feed, const json_t *value)
{
    enum clew_status status;

    buf_clear(feed->scratch);
    status = json_write_values(feed->scratch, value);
    if (status == CLEW_OK) {
        feed_str(feed, buf_str(feed->scratch));
    }
    return status;
}

static void feed_image(struct feed *feed, const json_t *item)
{
    const json_t *source = json_object_get(item, "source");
    char hex[SHA256_HEX_SIZE];

    feed_index(feed);
    if (!json_is_object(source)) {
        feed_str(feed, STR("image:no-source"));
        return;
    }
    sha256_hex_of(json_object_get(source, "data") ? field(source, "data")
                                                  : field(source, "url"),
                  hex);
    feed_str(feed, STR("image:"));
    feed_str(feed, field(source, "media_type"));
    feed_str(feed, STR(":"));
    feed_str(feed, str_of(hex));
}

static enum clew_status feed_tool_use(struct feed *feed, struct str name,
                                      struct str id, const json_t *input)
{
    feed_index(feed);
    feed_str(feed, STR("tool_use:"));
    feed_str(feed, name);
    feed_str(feed, STR(":"));
    feed_str(feed, id);
    feed_str(feed, STR(":"));
    if (!input) {
        feed_str(feed, STR("{}"));
        return CLEW_OK;
    }
    return feed_json(feed, input);
}

static enum clew_status feed_tool_result(struct feed *feed, struct str id,
                                         const json_t *content)
{
    struct str own;
    enum clew_status status;

    feed_index(feed);
    feed_str(feed, STR("tool_result:"));
    feed_str(feed, id);
    feed_str(feed, STR(":"));
    if (!content || json_is_null(content)) {
        return CLEW_OK;
    }
    if (!json_is_string(content)) {
        return feed_json(feed, content);
    }
    status = call_stripped(feed->scratch, text_of(content), &own);
    if (status == CLEW_OK) {
        feed_str(feed, own);
    }
    return status;
}

static bool is_thinking(struct str type)
{
    return str_eq(type, STR("thinking")) ||
           str_eq(type, STR("redacted_thinking"));
}

static enum clew_status feed_item(struct feed *feed, const json_t *item)
{
    struct str type = field(item, "type");

    if (json_is_string(item)) {
        return feed_text(feed, text_of(item), false);
    }
    if (str_eq(type, STR("text"))) {
        return feed_text(feed, field(item, "text"), false);
    }
    if (str_eq(type, STR("image"))) {
        feed_image(feed, item);
        return CLEW_OK;
    }
    if (str_eq(type, STR("tool_use"))) {
        return feed_tool_use(feed, field(item, "name"), field(item, "id"),
                             json_object_get(item, "input"));
    }
    if (str_eq(type, STR("tool_result"))) {
        return feed_tool_result(feed, field(item, "tool_use_id"),
                                json_object_get(item, "content"));
    }
    if (feed->is_without_thinking && is_thinking(type)) {
        return CLEW_OK;
    }
    feed_index(feed);
    feed_str(feed, type.len > 0 ? type : STR("unknown"));
    feed_str(feed, STR(":unknown"));
    return CLEW_OK;
}

/* OpenAI's form of a tool call; its arguments are JSON in a string. */
static enum clew_status feed_call(struct feed *feed, const json_t *call)
{
    const json_t *function = json_object_get(call, "function");
    const json_t *arguments = json_object_get(function, "arguments");
    json_t *parsed = NULL;
    enum clew_status status;

    if (json_is_string(arguments) &&
        json_parse_inner(text_of(arguments), &parsed, NULL) == CLEW_OK) {
        arguments = parsed;
    }
    status = feed_tool_use(feed, field(function, "name"), field(call, "id"),
                           arguments);
    json_decref(parsed);
    return status;
}

static enum clew_status feed_content(struct feed *feed, const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *calls = json_object_get(message, "tool_calls");
    const json_t *item;
    size_t i;
    enum clew_status status = CLEW_OK;

    if (str_eq(field(message, "role"), STR("tool"))) {
        return feed_tool_result(feed, field(message, "tool_call_id"), content);
    }
    /* an assistant message that only calls tools may say "" or null */
    if (json_is_string(content) &&
        (json_string_length(content) > 0 || !json_is_array(calls))) {
        status = feed_text(feed, text_of(content), true);
    }
    json_array_foreach (content, i, item) {
        if (status == CLEW_OK) {
            status = feed_item(feed, item);
        }
    }
    json_array_foreach (calls, i, item) {
        if (status == CLEW_OK) {
            status = feed_call(feed, item);
        }
    }
    return status;
}

static enum clew_status feed_message(struct sha256 *hash, struct buf *scratch,
                                     const json_t *message,
                                     bool is_without_thinking)
{
    struct feed feed = {hash, scratch, 0, is_without_thinking};
    enum clew_status status;

    feed_str(&feed, field(message, "role"));
    feed_str(&feed, STR("\n"));
    status = feed_content(&feed, message);
    feed_str(&feed, STR("\n"));
    return status;
}

/* --- which messages count --------------------------------------------------
 */

/* The tool ids seen so far: open addressing, at most half full. */
struct seen {
    struct str *ids;
    char *kinds;
    size_t cap; /* a power of two */
    size_t count;
};

static size_t seen_slot(const struct seen *seen, char kind, struct str id)
{
    size_t at = (size_t)(str_hash(id) * 31 + (unsigned char)kind);

    for (at &= seen->cap - 1;; at = (at + 1) & (seen->cap - 1)) {
        if (!seen->ids[at].s ||
            (seen->kinds[at] == kind && str_eq(seen->ids[at], id))) {
            return at;
        }
    }
}

static bool seen_grow(struct seen *seen, struct arena *arena)
{
    struct seen grown = {NULL, NULL, seen->cap ? seen->cap * 2 : 64, 0};

    grown.ids = arena_zero(arena, grown.cap, sizeof(*grown.ids));
    grown.kinds = arena_zero(arena, grown.cap, 1);
    if (!grown.ids || !grown.kinds) {
        return false;
    }
    for (size_t i = 0; i < seen->cap; i++) {
        if (seen->ids[i].s) {
            size_t at = seen_slot(&grown, seen->kinds[i], seen->ids[i]);

            grown.ids[at] = seen->ids[i];
            grown.kinds[at] = seen->kinds[i];
        }
    }
    grown.count = seen->count;
    *seen = grown;
    return true;
}

/* The tool id of an item: 'u' a call, 'r' a result, 0 neither. */
static char tool_id(const json_t *item, struct str *out_id)
{
    struct str type = field(item, "type");
    char kind = 0;

    if (str_eq(type, STR("tool_use"))) {
        kind = 'u';
        *out_id = field(item, "id");
    } else if (str_eq(type, STR("tool_result"))) {
        kind = 'r';
        *out_id = field(item, "tool_use_id");
    }
    return kind && out_id->len > 0 ? kind : 0;
}

static bool holds_seen_id(const struct seen *seen, const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *item;
    struct str id = {NULL, 0};
    size_t i;

    json_array_foreach (content, i, item) {
        char kind = tool_id(item, &id);

        if (kind && seen->cap > 0 &&
            seen->ids[seen_slot(seen, kind, id)].s != NULL) {
            return true;
        }
    }
    return false;
}

static bool note_ids(struct seen *seen, struct arena *arena,
                     const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *item;
    struct str id = {NULL, 0};
    size_t i;

    json_array_foreach (content, i, item) {
        char kind = tool_id(item, &id);
        size_t at;

        if (!kind) {
            continue;
        }
        if (2 * (seen->count + 1) > seen->cap && !seen_grow(seen, arena)) {
            return false;
        }
        at = seen_slot(seen, kind, id);
        seen->count += seen->ids[at].s == NULL;
        seen->ids[at] = id;
        seen->kinds[at] = kind;
    }
    return true;
}

static enum clew_status check_message(const json_t *message, size_t i,
                                      struct clew_error *err)
{
    const json_t *content = json_object_get(message, "content");
    char place[64];

    if (!json_is_object(message)) {
        (void)snprintf(place, sizeof(place), "messages[%zu]", i);
        return clew_fail_field(err, place, "\"%s\" must be an object", place);
    }
    if (field(message, "role").len == 0) {
        (void)snprintf(place, sizeof(place), "messages[%zu].role", i);
        return clew_fail_field(err, place, "\"%s\" is required", place);
    }
    if (content && !json_is_string(content) && !json_is_array(content) &&
        !json_is_null(content)) {
        (void)snprintf(place, sizeof(place), "messages[%zu].content", i);
        return clew_fail_field(err, place, "\"%s\" must be text or a list",
                               place);
    }
    return CLEW_OK;
}

/* Instructions, not talk: OpenAI calls its newer system role "developer". */
static bool is_system(const json_t *message)
{
    struct str role = field(message, "role");

    return str_eq(role, STR("system")) || str_eq(role, STR("developer"));
}

static enum clew_status pick_messages(struct arena *arena,
                                      const json_t *messages,
                                      struct call_messages *out,
                                      struct clew_error *err)
{
    struct seen seen = {NULL, NULL, 0, 0};
    const json_t *message;
    size_t i;

    json_array_foreach (messages, i, message) {
        enum clew_status status = check_message(message, i, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (is_system(message) || holds_seen_id(&seen, message)) {
            continue;
        }
        if (!note_ids(&seen, arena, message)) {
            return clew_no_memory(err);
        }
        out->items[out->count++] = message;
    }
    if (out->count == 0) {
        return clew_fail_field(err, "messages",
                               "\"messages\" holds no user or assistant "
                               "message");
    }
    return CLEW_OK;
}

enum clew_status call_hash_messages(struct arena *arena, const json_t *messages,
                                    struct call_messages *out,
                                    struct clew_error *err)
{
    struct call_messages list = {0, NULL, NULL};
    struct sha256 hash;
    struct buf scratch;
    size_t n = json_array_size(messages);
    enum clew_status status;

    if (n == 0 || n > CALL_MAX_MESSAGES) {
        return clew_fail_field(err, "messages",
                               "\"messages\" must be a list of 1 to %d",
                               CALL_MAX_MESSAGES);
    }
    list.items = arena_zero(arena, n, sizeof(*list.items));
    list.prefix = arena_zero(arena, n, sizeof(*list.prefix));
    if (!list.items || !list.prefix) {
        return clew_no_memory(err);
    }
    status = pick_messages(arena, messages, &list, err);
    if (status != CLEW_OK) {
        return status;
    }
    sha256_init(&hash);
    buf_init(&scratch, LIMIT_BODY_BYTES);
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = feed_message(&hash, &scratch, list.items[i], false);
        sha256_get(&hash, list.prefix[i].b);
    }
    buf_release(&scratch);
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not hash the messages");
    }
    *out = list;
    return CLEW_OK;
}

enum clew_status call_hash_alone(const json_t *message, struct call_digest *out)
{
    struct sha256 hash;
    struct buf scratch;
    enum clew_status status;

    sha256_init(&hash);
    buf_init(&scratch, LIMIT_BODY_BYTES);
    status = feed_message(&hash, &scratch, message, true);
    buf_release(&scratch);
    sha256_get(&hash, out->b);
    return status;
}

bool call_digest_eq(const struct call_digest *a, const struct call_digest *b)
{
    return memcmp(a->b, b->b, SHA256_SIZE) == 0;
}

/* --- own words -------------------------------------------------------------
 */

/* Append the text items of `content` (string or list), joined by LF. */
static enum clew_status join_texts(struct buf *out, const json_t *content)
{
    const json_t *item;
    size_t i;

    if (json_is_string(content)) {
        return buf_append_str(out, text_of(content));
    }
    json_array_foreach (content, i, item) {
        struct str text =
            json_is_string(item) ? text_of(item) : field(item, "text");

        if (text.len == 0) {
            continue;
        }
        if (out->len > 0) {
            (void)buf_append_char(out, '\n'); /* kept in `out` */
        }
        (void)buf_append_str(out, text);
    }
    return buf_status(out);
}

enum clew_status call_message_text(struct arena *arena, const json_t *message,
                                   struct str *out)
{
    struct buf joined;
    struct buf scratch;
    struct str own = {"", 0};
    enum clew_status status;

    buf_init(&joined, LIMIT_BODY_BYTES);
    buf_init(&scratch, LIMIT_BODY_BYTES);
    status = join_texts(&joined, json_object_get(message, "content"));
    if (status == CLEW_OK) {
        status = call_stripped(&scratch, buf_str(&joined), &own);
    }
    if (status == CLEW_OK) {
        own = arena_str(arena, call_trim(own));
        status = own.s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    buf_release(&joined);
    buf_release(&scratch);
    if (status == CLEW_OK) {
        *out = own;
    }
    return status;
}
