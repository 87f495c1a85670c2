/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - see record.h.
 */
#include "proxy/record.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "proxy/reply.h"

#include <string.h>
#include <zlib.h>

static const char magic[8] = "clewrec1";

struct record *record_new(void)
{
    struct record *record = alloc_zero(1, sizeof(*record));

    if (record) {
        buf_init(&record->user_id, LIMIT_NAME_BYTES);
        buf_init(&record->session, LIMIT_NAME_BYTES);
        buf_init(&record->request, LIMIT_BODY_BYTES);
        buf_init(&record->reply, REPLY_MAX_BYTES);
    }
    return record;
}

void record_free(struct record *record)
{
    if (record) {
        buf_release(&record->user_id);
        buf_release(&record->session);
        buf_release(&record->request);
        buf_release(&record->reply);
        alloc_free(record);
    }
}

enum clew_status record_take_request(struct record *record, struct str body)
{
    record->tree_bytes = json_tree_bytes(body);
    return buf_append_str(&record->request, body);
}

size_t record_size(const struct record *record)
{
    return sizeof(*record) + record->user_id.cap + record->session.cap +
           record->request.cap + record->reply.cap;
}

/* --- bytes -----------------------------------------------------------------
 */

/* The fixed part, in this machine's order: a spool does not travel. */
struct head {
    char magic[8];
    int64_t tenant;
    int64_t created_at_ms;
    int64_t duration_ms;
    int64_t first_byte_ms;
    int64_t status;
    int64_t api;
    uint8_t flags[8];
    struct uuid id;
    struct uuid chat_id;
    uint64_t lens[4];
};

enum clew_status record_write(const struct record *record, struct buf *out)
{
    struct head head = {
        .tenant = record->tenant,
        .created_at_ms = record->created_at_ms,
        .duration_ms = record->duration_ms,
        .first_byte_ms = record->first_byte_ms,
        .status = record->status,
        .api = record->api,
        .flags = {record->is_stream, record->is_packed, record->is_whole,
                  record->is_cut},
        .id = record->id,
        .chat_id = record->chat_id,
        .lens = {record->user_id.len, record->session.len, record->request.len,
                 record->reply.len},
    };

    memcpy(head.magic, magic, sizeof(magic));
    (void)buf_append(out, &head, sizeof(head)); /* kept in `out` */
    (void)buf_append_str(out, buf_str(&record->user_id));
    (void)buf_append_str(out, buf_str(&record->session));
    (void)buf_append_str(out, buf_str(&record->request));
    return buf_append_str(out, buf_str(&record->reply));
}

static enum clew_status read_parts(struct record *record, struct str bytes,
                                   const struct head *head)
{
    struct buf *const parts[] = {&record->user_id, &record->session,
                                 &record->request, &record->reply};
    size_t at = sizeof(*head);

    for (size_t i = 0; i < 4; i++) {
        if (head->lens[i] > bytes.len - at) {
            return CLEW_CORRUPT;
        }
        if (buf_append(parts[i], bytes.s + at, head->lens[i]) != CLEW_OK) {
            return buf_status(parts[i]);
        }
        at += head->lens[i];
    }
    return at == bytes.len ? CLEW_OK : CLEW_CORRUPT;
}

enum clew_status record_read(struct str bytes, struct record **out_record,
                             struct clew_error *err)
{
    struct record *record = record_new();
    struct head head;
    enum clew_status status = CLEW_CORRUPT;

    if (!record) {
        return clew_no_memory(err);
    }
    if (bytes.len >= sizeof(head)) {
        memcpy(&head, bytes.s, sizeof(head));
        if (memcmp(head.magic, magic, sizeof(magic)) == 0 && head.api >= 0 &&
            head.api <= CANON_RESPONSES) {
            status = read_parts(record, bytes, &head);
        }
    }
    if (status != CLEW_OK) {
        record_free(record);
        return clew_fail(err, status, "not a whole record");
    }
    record->tenant = head.tenant;
    record->created_at_ms = head.created_at_ms;
    record->duration_ms = head.duration_ms;
    record->first_byte_ms = head.first_byte_ms;
    record->status = head.status;
    record->api = (enum canon_api)head.api;
    record->is_stream = head.flags[0];
    record->is_packed = head.flags[1];
    record->is_whole = head.flags[2];
    record->is_cut = head.flags[3];
    record->tree_bytes = json_tree_bytes(buf_str(&record->request));
    record->id = head.id;
    record->chat_id = head.chat_id;
    *out_record = record;
    return CLEW_OK;
}

/* --- reading ---------------------------------------------------------------
 */

/* Unpack as far as it goes: of a broken stream the beginning is worth having.
 */
static void feed_packed(struct reply *reply, struct str packed)
{
    char plain[16384];
    z_stream stream;
    int code = Z_OK;

    memset(&stream, 0, sizeof(stream));
    if (inflateInit2(&stream, 15 + 32) != Z_OK) {
        return;
    }
    stream.next_in = (Bytef *)(uintptr_t)packed.s;
    stream.avail_in = (uInt)packed.len;
    while (code == Z_OK && reply->n_bytes <= REPLY_MAX_BYTES) {
        stream.next_out = (Bytef *)plain;
        stream.avail_out = sizeof(plain);
        code = inflate(&stream, Z_SYNC_FLUSH);
        reply_feed(reply, plain, sizeof(plain) - stream.avail_out);
    }
    (void)inflateEnd(&stream);
}

/* A short, fixed word for what went wrong; never the provider's text. */
static struct str error_of(const struct record *record,
                           const struct reply *reply, const json_t *response)
{
    const json_t *error =
        reply->error ? reply->error : json_object_get(response, "error");
    struct str type = canon_name_at(error, "type");

    if (!type.s) {
        type = canon_name_at(error, "code");
    }
    if (type.s) {
        return utf8_head(type, 100);
    }
    if (json_is_string(error)) {
        return STR("error");
    }
    if (record->status == 0) {
        return STR("no_answer");
    }
    if (record->status >= 400) {
        return STR("http_error");
    }
    return record->is_whole ? (struct str){NULL, 0} : STR("broken_off");
}

static enum clew_status read_reply(const struct record *record,
                                   struct arena *arena, struct record_call *out,
                                   struct clew_error *err)
{
    struct request_call *call = &out->input.call;
    struct str bytes = buf_str(&record->reply);
    struct reply reply;
    enum clew_status status;

    reply_init(&reply, record->api, record->is_stream);
    if (record->is_packed) {
        feed_packed(&reply, bytes);
    } else {
        reply_feed(&reply, bytes.s, bytes.len);
    }
    out->response = reply_take(&reply);
    out->reply_bytes = reply.n_kept;
    status = canon_reply_of(out->response, &out->reply);
    call->is_complete = record->is_whole && record->status < 400 &&
                        reply.is_complete && !record->is_cut && !reply.is_cut;
    call->error = error_of(record, &reply, out->response);
    if (call->error.s) {
        call->error = arena_str(arena, call->error);
    }
    reply_release(&reply);
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the reply");
    }
    out->input.reply = out->reply.message;
    call->stop_reason = out->reply.stop_reason;
    call->response_id = out->reply.id;
    call->input_tokens = out->reply.input_tokens;
    call->output_tokens = out->reply.output_tokens;
    call->cache_read_tokens = out->reply.cache_read_tokens;
    call->cache_write_tokens = out->reply.cache_write_tokens;
    call->cost_micros = out->reply.cost_micros;
    if (out->reply.model.s) {
        call->model = out->reply.model;
    }
    return CLEW_OK;
}

enum clew_status record_parse(const struct record *record, struct arena *arena,
                              struct record_call *out, struct clew_error *err)
{
    static const char *const names[] = {"messages", "chat", "responses"};
    struct call_input *input = &out->input;
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    status = json_parse(buf_str(&record->request), &out->body, err);
    if (status == CLEW_OK) {
        status = canon_request_of(record->api, out->body, &out->request, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    input->id = record->id;
    input->created_at_ms = record->created_at_ms;
    input->chat_id = record->chat_id;
    input->is_chat_hint = true; /* a capture is not lost for a wrong header */
    input->user_id = buf_str(&record->user_id);
    input->messages = out->request.messages;
    input->system = out->request.system;
    input->call.api = str_of(names[record->api]);
    input->call.model = out->request.model;
    input->call.previous_id = out->request.previous_id;
    input->call.status = record->status;
    input->call.duration_ms = record->duration_ms;
    input->call.first_byte_ms = record->first_byte_ms;
    if (record->session.len > 0) {
        input->call.session_hint = buf_str(&record->session);
    }
    return read_reply(record, arena, out, err);
}

void record_call_release(struct record_call *call)
{
    canon_request_release(&call->request);
    canon_reply_release(&call->reply);
    json_decref(call->body);
    json_decref(call->response);
    memset(call, 0, sizeof(*call));
}
