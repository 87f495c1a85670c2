/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_status.c - changes of an effort's status, and what is kept of them:
 * "log" in the memory's fields tells how it was closed before, "changes" what
 * was done to it where. See effort.h.
 */
#include "engine/effort/effort.h"

#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/core/work.h"
#include "engine/effort/effort_skill.h"

#include <string.h>

/* Changes kept of one effort, and ends in its log; of more the oldest are let
 * go. An effort may come back every week. */
#define MAX_CHANGES 64
/* Of how it ended, as a change and the log tell it; and of how it had ended
 * before, as the next end tells it. */
#define TOLD_BYTES 4096
#define BEFORE_BYTES 1000
/* Well above what all of these come to. */
#define FIELDS_BYTES ((size_t)4 << 20)

/* The memory's fields to change; an object whatever was there. */
static json_t *open_fields(const struct memory *memory)
{
    json_t *fields = NULL;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK ||
        !json_is_object(fields)) {
        json_decref(fields);
        fields = json_object();
    }
    return fields;
}

/* Write the fields back, if `is_ok`; lets go of them in any case. */
static enum clew_status close_fields(struct arena *arena, json_t *fields,
                                     bool is_ok, struct memory *memory,
                                     struct clew_error *err)
{
    struct buf text;

    buf_init(&text, FIELDS_BYTES);
    is_ok = is_ok && json_write(&text, fields) == CLEW_OK;
    if (is_ok) {
        memory->fields = arena_str(arena, buf_str(&text));
        is_ok = memory->fields.s != NULL;
    }
    buf_release(&text);
    json_decref(fields);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* Append; takes `entry`. */
static bool add_entry(json_t *list, json_t *entry)
{
    while (json_array_size(list) >= MAX_CHANGES) {
        (void)json_array_remove(list, 0); /* it is there */
    }
    return entry && json_array_append_new(list, entry) == 0;
}

static bool set_resolution(json_t *entry, const struct memory *memory)
{
    return !memory->resolution.s ||
           json_set_str(entry, "resolution",
                        utf8_head(memory->resolution, TOLD_BYTES));
}

/* Add what the memory is now to the log in its fields. */
static enum clew_status add_log(struct arena *arena, struct memory *memory,
                                struct clew_error *err)
{
    json_t *fields = open_fields(memory);
    json_t *entry = json_object();
    json_t *log = json_object_get(fields, "log");
    bool is_ok = true;

    if (!json_is_array(log)) {
        log = json_array();
        is_ok = json_set(fields, "log", log);
    }
    is_ok = is_ok && json_set_str(entry, "status", memory->status) &&
            json_set_time(entry, "at", &memory->updated_at_ms) &&
            set_resolution(entry, memory);
    if (!is_ok) {
        json_decref(entry);
        entry = NULL;
    }
    is_ok = add_entry(log, entry);
    return close_fields(arena, fields, is_ok, memory, err);
}

/* How sure the resolution is; a status set by hand has none. */
static enum clew_status put_confidence(struct arena *arena,
                                       struct memory *memory, float confidence,
                                       struct clew_error *err)
{
    json_t *fields = open_fields(memory);
    bool is_ok = fields != NULL;

    if (is_ok && confidence > 0) {
        is_ok =
            json_set_real(fields, "resolution_confidence", (double)confidence);
    } else if (is_ok) {
        (void)json_object_del(fields, "resolution_confidence"); /* if any */
    }
    return close_fields(arena, fields, is_ok, memory, err);
}

/* An effort closed again tells how it was closed before. */
static bool whole_resolution(struct arena *arena, struct memory *memory,
                             struct str newer)
{
    struct str before;

    if (!memory->resolution.len || str_eq(memory->resolution, newer)) {
        memory->resolution = newer;
        return true;
    }
    before = utf8_head(memory->resolution, BEFORE_BYTES);
    memory->resolution =
        str_of(arena_printf(arena, "%.*s (before: %.*s%s)", (int)newer.len,
                            newer.s, (int)before.len, before.s,
                            before.len < memory->resolution.len ? "…" : ""));
    return memory->resolution.s != NULL;
}

/* Does its end come from what was said, and not from a person's hand? */
static bool is_end_from_talk(const struct memory *memory)
{
    json_t *fields = open_fields(memory);
    const json_t *list = json_object_get(fields, "changes");
    const json_t *last = NULL;
    bool is_from_talk;

    if (json_array_size(list) > 0) {
        last = json_array_get(list, json_array_size(list) - 1);
    }
    is_from_talk = last && !json_is_true(json_object_get(last, "by_hand"));
    json_decref(fields);
    return is_from_talk && !str_eq(memory->status, STR("open"));
}

/* Who sets an end right that was drawn from what was said takes back its words
 * with it, and who gives an effort up what it was resolved with; the log keeps
 * them. */
static void take_back(struct memory *memory, const struct effort_change *change)
{
    bool is_by_hand = uuid_is_nil(&change->chat_id);
    bool is_other =
        change->resolution.s || !str_eq(memory->status, str_of(change->status));

    bool is_given_up = strcmp(change->status, "abandoned") == 0;

    if (is_by_hand && is_other && (is_given_up || is_end_from_talk(memory))) {
        memory->resolution = (struct str){0};
    }
}

/* Where a change by hand is put: the end of the effort's thread. */
static enum clew_status find_end(struct batch_work *batch,
                                 const struct memory *memory,
                                 struct effort_change *change,
                                 struct clew_error *err)
{
    struct effort effort;
    struct chat chat;
    enum clew_status status =
        effort_find(batch->tx, batch->arena, &memory->id, &effort, NULL);

    if (status == CLEW_OK) {
        status =
            chat_find(batch->tx, batch->arena, &effort.thread_id, &chat, NULL);
    }
    if (status == CLEW_OK) {
        change->chat_id = chat.id;
        change->seq = chat.last_seq;
    }
    /* contributed, or its thread is forgotten: it stands nowhere */
    return status == CLEW_OK || status == CLEW_NOT_FOUND
               ? CLEW_OK
               : clew_fail(err, status, "could not read the effort");
}

static json_t *change_entry(const struct memory *memory,
                            const struct effort_change *change, bool is_by_hand)
{
    json_t *entry = json_object();

    if (entry && json_set_cstr(entry, "status", change->status) &&
        json_set_time(entry, "at", &change->time_ms) &&
        (uuid_is_nil(&change->chat_id) ||
         (json_set_uuid(entry, "chat_id", &change->chat_id) &&
          json_set_int(entry, "seq", change->seq))) &&
        (!is_by_hand || json_set_bool(entry, "by_hand", true)) &&
        set_resolution(entry, memory) &&
        (!change->outcome.s ||
         json_set_str(entry, "outcome", change->outcome)) &&
        (change->confidence <= 0 ||
         json_set_real(entry, "confidence", (double)change->confidence))) {
        return entry;
    }
    json_decref(entry);
    return NULL;
}

/* Keep the change with its place: a fork asks what was so at its point. */
static enum clew_status add_change(struct batch_work *batch,
                                   struct memory *memory,
                                   const struct effort_change *change,
                                   struct clew_error *err)
{
    struct effort_change placed = *change;
    bool is_by_hand = uuid_is_nil(&change->chat_id);
    json_t *fields;
    json_t *entry;
    json_t *list;
    bool is_ok = true;
    enum clew_status status =
        is_by_hand ? find_end(batch, memory, &placed, err) : CLEW_OK;

    if (status != CLEW_OK) {
        return status;
    }
    fields = open_fields(memory);
    entry = change_entry(memory, &placed, is_by_hand);
    list = json_object_get(fields, "changes");
    if (!json_is_array(list)) {
        list = json_array();
        is_ok = json_set(fields, "changes", list);
    }
    if (!is_ok) {
        json_decref(entry);
        entry = NULL;
    }
    is_ok = add_entry(list, entry);
    return close_fields(batch->arena, fields, is_ok, memory, err);
}

static enum clew_status sync_row(struct batch_work *batch,
                                 const struct memory *memory,
                                 const struct effort_change *change,
                                 struct clew_error *err)
{
    struct effort effort;
    enum clew_status status =
        effort_find(batch->tx, batch->arena, &memory->id, &effort, NULL);

    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* contributed: it has no turns here */
    }
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the effort");
    }
    effort.is_open = strcmp(change->status, "open") == 0;
    effort.state = effort.is_open ? EFFORT_ACTIVE : EFFORT_COLLAPSED;
    effort.outcome = change->outcome;
    return effort_update(batch->tx, &effort, err);
}

enum clew_status effort_set_status(struct batch_work *batch,
                                   struct memory *memory,
                                   const struct effort_change *change,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (!str_eq(memory->status, STR("open")) &&
        strcmp(change->status, "open") == 0) {
        status = add_log(batch->arena, memory, err);
    }
    if (status == CLEW_OK && (change->confidence > 0 || memory->fields.s)) {
        status = put_confidence(batch->arena, memory, change->confidence, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    take_back(memory, change);
    memory->status = str_of(change->status);
    if (change->resolution.s &&
        !whole_resolution(batch->arena, memory, change->resolution)) {
        return clew_no_memory(err);
    }
    memory->updated_at_ms = change->time_ms;
    status = add_change(batch, memory, change, err);
    if (status == CLEW_OK && uuid_is_nil(&memory->parent_id)) {
        status = effort_skill_end(batch, memory, err);
    }
    if (status == CLEW_OK) {
        status = memory_update(batch, memory, err);
    }
    return status == CLEW_OK ? sync_row(batch, memory, change, err) : status;
}
