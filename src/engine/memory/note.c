/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - memories that a turn makes. See note.h.
 */
#include "engine/memory/note.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/work.h"

#include <stdarg.h>
#include <stdio.h>

/* A notice is a line. */
#define NOTICE_BYTES 2048

struct memory note_memory(struct turn_work *work, const char *type,
                          const char *status, struct str summary)
{
    const struct turn *turn = work->turn;

    return (struct memory){
        .id = uuid_derive(turn->created_at_ms, &turn->id, "memory",
                          work->n_made++),
        .user_id = turn->user_id,
        .type = str_of(type),
        .status = str_of(status),
        .summary = summary,
        .tags = STR(""),
        .origin = str_of(work->origin ? work->origin : "extracted"),
        .chat_id = turn->chat_id,
        .is_instruction = memory_reads_like_instruction(summary),
        .weight = MEMORY_WEIGHT_START,
        .weight_at_ms = turn->created_at_ms,
        .created_at_ms = turn->created_at_ms,
        .updated_at_ms = turn->created_at_ms,
    };
}

enum clew_status note_told(struct turn_work *work, const struct memory *memory,
                           const char *change, struct clew_error *err)
{
    struct memory_update update = {.id = memory->id,
                                   .type = memory->type,
                                   .status = memory->status,
                                   .summary = memory->summary,
                                   .change = change};

    return updates_add_memory(work->updates, work->batch->arena, &update) ==
                   CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status note_insert(struct turn_work *work, struct memory *memory,
                             size_t back, const struct uuid *refines,
                             struct clew_error *err)
{
    int64_t seq = back > 0 && back <= work->n_before ? work->before[back - 1]
                                                     : work->turn->seq;
    struct memory_ref ref = {work->turn->chat_id, seq, seq};
    enum clew_status status;

    if (seq <=
        work->placement->slot->chat.fork_seq) { /* a turn of the parent's */
        ref.first_seq = ref.last_seq = work->turn->seq;
    }

    memory->lineage = refines ? MEMORY_REFINEMENT : MEMORY_ORIGINAL;
    status = memory_insert(work->batch, memory, &ref, 1, refines,
                           refines ? 1 : 0, err);
    return status == CLEW_OK
               ? note_told(work, memory, refines ? "refined" : "created", err)
               : status;
}

enum clew_status note_notice(struct turn_work *work, struct clew_error *err,
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
    kept = arena_str(work->batch->arena, kept);
    if (!kept.s || updates_add_notice(work->updates, work->batch->arena,
                                      kept) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

struct str note_tags(struct arena *arena, const struct str *list, size_t count)
{
    struct buf tags;
    struct str out;

    buf_init(&tags, 4096);
    for (size_t i = 0; i < count; i++) {
        if (str_find(list[i], STR(","), 0) == SIZE_MAX) {
            (void)buf_append_cstr(&tags, tags.len ? "," : "");
            (void)buf_append_str(&tags, list[i]); /* cut at the limit */
        }
    }
    out = arena_str(arena, buf_str(&tags));
    if (buf_status(&tags) == CLEW_NO_MEMORY) {
        out = (struct str){NULL, 0};
    }
    buf_release(&tags);
    return out;
}

struct str note_json(struct arena *arena, json_t *object)
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
