/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.c - one turn observed. See observe.h.
 */
#include "engine/observe.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/chat.h"
#include "engine/observe_internal.h"
#include "engine/rows.h"
#include "store/db.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a long turn only its head is read again when it is the context of a later
 * one: acts and answers stand there. */
#define HEAD_CHARS 8192
/* A notice is a line. */
#define NOTICE_BYTES 2048

DB_SQL(SELECT_BEFORE,
       "SELECT seq, role, name, SUBSTR(text, 1, CAST($5 AS INTEGER)),"
       " created_at, timezone"
       " FROM turns WHERE tenant = $1 AND chat_id = $2 AND seq < $3"
       " ORDER BY seq DESC LIMIT $4");

struct before {
    int64_t seq;
    struct str role;
    struct str name;
    struct str text;
    int64_t created_at_ms;
    struct str timezone;
};

static bool before_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct before *out = item;

    out->seq = db_get_int(rows, 0);
    out->created_at_ms = db_get_int(rows, 4);
    return rows_text(arena, rows, 1, &out->role) &&
           rows_text(arena, rows, 2, &out->name) &&
           rows_text(arena, rows, 3, &out->text) &&
           rows_text(arena, rows, 5, &out->timezone);
}

static enum extract_role role_of(struct str role)
{
    if (str_eq(role, STR("user"))) {
        return EXTRACT_USER;
    }
    return str_eq(role, STR("assistant")) ? EXTRACT_ASSISTANT : EXTRACT_OTHER;
}

/* The text without the stretches that clew put into it. */
static enum clew_status without_fences(struct arena *arena, struct str text,
                                       struct str *out, struct clew_error *err)
{
    struct buf kept;
    size_t at = 0;
    size_t open = str_find(text, STR(OBSERVE_FENCE_OPEN), 0);

    if (open == SIZE_MAX) {
        *out = text;
        return CLEW_OK;
    }
    buf_init(&kept, text.len + 1);
    while (open != SIZE_MAX) {
        size_t close = str_find(text, STR(OBSERVE_FENCE_CLOSE), open);

        (void)buf_append_str(&kept, str_sub(text, at, open)); /* see below */
        at = close == SIZE_MAX ? text.len
                               : close + sizeof(OBSERVE_FENCE_CLOSE) - 1;
        open = str_find(text, STR(OBSERVE_FENCE_OPEN), at);
    }
    (void)buf_append_str(&kept, str_sub(text, at, text.len));
    *out = str_trim(arena_str(arena, buf_str(&kept)));
    buf_release(&kept);
    return out->s ? CLEW_OK : clew_no_memory(err);
}

/* --- the turns before ------------------------------------------------------
 */

static enum clew_status read_before(struct observation *o,
                                    const struct uuid *chat_id,
                                    int64_t before_seq, struct clew_error *err)
{
    struct rows_list list = {
        .arena = o->arena, .size = sizeof(struct before), .fn = before_of};
    int64_t want = (int64_t)(OBSERVE_PREVIOUS - o->n_previous);
    enum clew_status status =
        rows_add(o->tx, &list, &SELECT_BEFORE,
                 DB_ARGS(db_uuid(chat_id), db_int(before_seq), db_int(want),
                         db_int(HEAD_CHARS)),
                 err);

    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const struct before *row = (const struct before *)list.items + i;
        struct extract_turn *turn = &o->previous[o->n_previous];

        *turn = (struct extract_turn){.speaker = row->name,
                                      .role = role_of(row->role),
                                      .time_ms = row->created_at_ms,
                                      .timezone = row->timezone,
                                      .intent = &o->previous_intent};
        status = without_fences(o->arena, row->text, &turn->text, err);
        if (status == CLEW_OK && turn->role != EXTRACT_OTHER &&
            turn->text.len > 0) {
            o->previous_seq[o->n_previous++] = row->seq;
        }
    }
    return status;
}

/* A fork's first turns answer turns of its parents. */
static enum clew_status load_before(struct observation *o,
                                    struct clew_error *err)
{
    const struct chat *chat = &o->work->placement->slot->chat;
    int64_t seq = o->work->turn->seq;
    struct chat_part *parts = NULL;
    size_t n_parts = 0;
    enum clew_status status = read_before(o, &chat->id, seq, err);

    if (status != CLEW_OK || uuid_is_nil(&chat->parent_id) ||
        o->n_previous == OBSERVE_PREVIOUS) {
        return status;
    }
    status =
        chat_line(o->tx, o->arena, &chat->parent_id, &parts, &n_parts, err);
    for (size_t i = n_parts;
         status == CLEW_OK && i-- > 0 && o->n_previous < OBSERVE_PREVIOUS;) {
        int64_t to =
            parts[i].to_seq < chat->fork_seq ? parts[i].to_seq : chat->fork_seq;

        status = read_before(o, &parts[i].chat_id, to + 1, err);
    }
    return status;
}

static enum clew_status read_intents(struct observation *o,
                                     struct clew_error *err)
{
    struct str before =
        o->n_previous > 1 ? o->previous[1].text : (struct str){0};
    enum clew_status status = CLEW_OK;

    memset(&o->previous_intent, 0, sizeof(o->previous_intent));
    o->previous_intent.act = INTENT_INFORM;
    if (o->n_previous > 0) {
        status = intent_of(o->arena, o->previous[0].text, before,
                           &o->previous_intent);
    }
    if (status == CLEW_OK) {
        status = intent_after(o->arena, o->turn.text,
                              o->n_previous ? &o->previous_intent : NULL,
                              &o->intent);
    }
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
}

/* --- what the steps share --------------------------------------------------
 */

struct memory observe_memory(struct observation *o, const char *type,
                             const char *status, struct str summary)
{
    const struct turn *turn = o->work->turn;

    return (struct memory){
        .id =
            uuid_derive(turn->created_at_ms, &turn->id, "memory", o->n_made++),
        .user_id = turn->user_id,
        .type = str_of(type),
        .status = str_of(status),
        .summary = summary,
        .tags = STR(""),
        .origin = STR("extracted"),
        .chat_id = turn->chat_id,
        .is_instruction = memory_reads_like_instruction(summary),
        .weight = MEMORY_WEIGHT_START,
        .weight_at_ms = turn->created_at_ms,
        .created_at_ms = turn->created_at_ms,
        .updated_at_ms = turn->created_at_ms,
    };
}

/* One reference for each turn cited; the cites of a turn come together. */
static size_t refs_of(const struct observation *o,
                      const struct extract_cite *cites, size_t n_cites,
                      struct memory_ref out[EXTRACT_MAX_CITES])
{
    size_t n = 0;

    for (size_t i = 0; i < n_cites; i++) {
        int64_t seq = cites[i].back == 0 ? o->work->turn->seq
                      : cites[i].back <= o->n_previous
                          ? o->previous_seq[cites[i].back - 1]
                          : 0;
        bool is_known = seq == 0;

        for (size_t k = 0; k < n; k++) {
            is_known = is_known || out[k].first_seq == seq;
        }
        if (!is_known) {
            out[n++] = (struct memory_ref){o->work->turn->chat_id, seq, seq};
        }
    }
    if (n == 0) {
        out[n++] = (struct memory_ref){o->work->turn->chat_id,
                                       o->work->turn->seq, o->work->turn->seq};
    }
    return n;
}

enum clew_status observe_told(struct observation *o,
                              const struct memory *memory, const char *change,
                              struct clew_error *err)
{
    struct memory_update update = {.id = memory->id,
                                   .type = memory->type,
                                   .status = memory->status,
                                   .summary = memory->summary,
                                   .change = change};

    return updates_add_memory(o->work->updates, o->arena, &update) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status observe_insert(struct observation *o, struct memory *memory,
                                const struct extract_cite *cites,
                                size_t n_cites, const struct uuid *refines,
                                struct clew_error *err)
{
    struct memory_ref refs[EXTRACT_MAX_CITES];
    size_t n_refs = refs_of(o, cites, n_cites, refs);
    enum clew_status status;

    memory->lineage = refines ? MEMORY_REFINEMENT : MEMORY_ORIGINAL;
    status = memory_insert(o->work->batch, memory, refs, n_refs, refines,
                           refines ? 1 : 0, err);
    return status == CLEW_OK
               ? observe_told(o, memory, refines ? "refined" : "created", err)
               : status;
}

enum clew_status observe_notice(struct observation *o, struct clew_error *err,
                                const char *fmt, ...)
{
    char line[NOTICE_BYTES];
    struct str kept;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args); /* a long one is cut */
    va_end(args);
    kept = str_of(line);
    kept.len = utf8_cut(kept, sizeof(line) - 8); /* not inside a character */
    kept = arena_str(o->arena, kept);
    if (!kept.s ||
        updates_add_notice(o->work->updates, o->arena, kept) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

struct str observe_tags(struct observation *o, const struct extract_item *item)
{
    struct buf tags;
    struct str out;

    buf_init(&tags, 4096);
    for (size_t i = 0; i < item->n_tags; i++) {
        if (str_find(item->tags[i], STR(","), 0) == SIZE_MAX) {
            (void)buf_append_cstr(&tags, tags.len ? "," : "");
            (void)buf_append_str(&tags, item->tags[i]); /* cut at the limit */
        }
    }
    out = arena_str(o->arena, buf_str(&tags));
    buf_release(&tags);
    return out.s ? out : STR("");
}

struct str observe_json(struct arena *arena, json_t *object)
{
    struct buf text;
    struct str out = {0};

    buf_init(&text, (size_t)1 << 20);
    if (object && json_write(&text, object) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(object);
    return out;
}

/* --- the whole -------------------------------------------------------------
 */

/* What was understood, for the trace. */
static void trace_intent(const struct observation *o)
{
    json_t *entry = o->work->trace ? json_object() : NULL;

    if (entry && json_set_cstr(entry, "act", intent_act_name(o->intent.act)) &&
        json_set_real(entry, "confidence", (double)o->intent.confidence) &&
        json_set_cstr(entry, "level", intent_level_name(o->intent.level)) &&
        json_set_cstr(entry, "rule", o->intent.rule ? o->intent.rule : "") &&
        json_set_int(entry, "candidates", (int64_t)o->extract.n_items)) {
        (void)json_set(o->work->trace, "observe", entry); /* a trace may lack */
    } else {
        json_decref(entry);
    }
}

/* Text, analysis, turns before, intent, candidates. */
static enum clew_status understand(struct observation *o,
                                   struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    enum clew_status status;

    o->turn = (struct extract_turn){
        .speaker = turn->name,
        .role = turn->role == TURN_USER ? EXTRACT_USER : EXTRACT_ASSISTANT,
        .time_ms = turn->created_at_ms,
        .timezone = turn->timezone,
        .intent = &o->intent,
        .analysis = &o->analysis};
    status = without_fences(o->arena, turn->text, &o->turn.text, err);
    if (status == CLEW_OK && o->turn.text.len == turn->text.len) {
        o->analysis = o->work->text->analysis;
    } else if (status == CLEW_OK) {
        struct analysis_options options = {.time_ms = turn->created_at_ms,
                                           .timezone = turn->timezone,
                                           .speaker = turn->name};

        status =
            analysis_run(o->arena, o->turn.text, &options, &o->analysis, err);
    }
    if (status == CLEW_OK) {
        status = load_before(o, err);
    }
    if (status == CLEW_OK) {
        status = read_intents(o, err);
    }
    o->input = (struct extract_input){
        .turn = &o->turn, .previous = o->previous, .n_previous = o->n_previous};
    if (status == CLEW_OK &&
        extract_run(o->arena, &o->input, &o->extract) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    return status;
}

enum clew_status observe_turn(struct turn_work *work, struct clew_error *err)
{
    struct observation *o;
    enum clew_status status;

    if (work->turn->role != TURN_USER && work->turn->role != TURN_ASSISTANT) {
        return CLEW_OK;
    }
    o = arena_zero(work->batch->arena, 1, sizeof(*o));
    if (!o) {
        return clew_no_memory(err);
    }
    o->work = work;
    o->arena = work->batch->arena;
    o->tx = work->batch->tx;
    status = understand(o, err);
    if (status == CLEW_OK) {
        trace_intent(o);
        status = effort_observe(o, err);
    }
    if (status == CLEW_OK) {
        status = observe_keep(o, err);
    }
    return status == CLEW_OK && work->turn->role == TURN_USER
               ? observe_agents(o, err)
               : status;
}
