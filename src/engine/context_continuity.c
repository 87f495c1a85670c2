/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_continuity.c - what chats linked to this one add to its context.
 *
 * Each linked chat (chatlink.h) gives its title with its summary, and the
 * newest things worth keeping that were found there.
 */
#include "engine/context_internal.h"

#include "engine/rows.h"
#include "store/db.h"

#define MAX_CHATS 3
#define MAX_MEMORIES 4

DB_SQL(SELECT_LINKED,
       "SELECT c.id, c.title, c.summary, c.last_seq FROM link_decisions d"
       " JOIN chats c ON c.tenant = d.tenant AND c.id = d.other_chat_id"
       " WHERE d.tenant = $1 AND d.chat_id = $2 AND d.decision = 'link'"
       " ORDER BY d.created_at DESC, d.id DESC LIMIT $3");
DB_SQL(SELECT_NEWEST,
       "SELECT m.id, m.type, m.summary, m.resolution, m.created_at"
       " FROM memories m WHERE m.tenant = $1 AND m.chat_id = $2"
       " AND m.retracted_at IS NULL AND m.is_instruction = 0"
       " AND m.parent_id IS NULL AND (m.expires_at IS NULL OR m.expires_at >"
       " $3) AND NOT EXISTS (SELECT 1 FROM memory_sources s JOIN memories n"
       " ON n.tenant = s.tenant AND n.id = s.memory_id WHERE s.tenant ="
       " m.tenant AND s.source_id = m.id AND n.retracted_at IS NULL)"
       " ORDER BY m.created_at DESC, m.id DESC LIMIT $4");

struct linked {
    struct uuid id;
    struct str title;
    struct str summary;
    int64_t last_seq;
};

struct kept {
    struct uuid id;
    struct str type;
    struct str summary;
    struct str resolution;
};

static bool linked_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct linked *out = item;

    out->id = db_get_uuid(rows, 0);
    out->last_seq = db_get_int(rows, 3);
    return rows_text(arena, rows, 1, &out->title) &&
           rows_text(arena, rows, 2, &out->summary);
}

static bool kept_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct kept *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->type) &&
           rows_text(arena, rows, 2, &out->summary) &&
           rows_text(arena, rows, 3, &out->resolution);
}

/* Add a line if the share still holds it. */
static enum clew_status add(struct builder *b, const char *text,
                            struct str source, size_t *left,
                            struct clew_error *err)
{
    struct context_line line = {.source = source};
    size_t tokens;

    if (!text || !source.s) {
        return clew_no_memory(err);
    }
    line.text = context_fit(b->arena, str_of(text), *left / 2);
    tokens = context_tokens(line.text);
    if (tokens + 16 > *left) { /* with the heading */
        return CLEW_OK;
    }
    *left -= tokens;
    return context_add(b, CONTEXT_CONTINUITY, &line) ? CLEW_OK
                                                     : clew_no_memory(err);
}

static enum clew_status add_chat(struct store_tx *tx, struct builder *b,
                                 const struct linked *chat, size_t *left,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct kept), .fn = kept_of};
    const char *mark = context_mark(b, &chat->id, 1, chat->last_seq);
    enum clew_status status = add(
        b,
        arena_printf(b->arena, "- \"%.*s\"%s%.*s (%s)", (int)chat->title.len,
                     chat->title.s ? chat->title.s : "",
                     chat->summary.len ? ": " : "", (int)chat->summary.len,
                     chat->summary.s ? chat->summary.s : "", mark ? mark : ""),
        context_source(b->arena, &chat->id, 1, chat->last_seq), left, err);

    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &SELECT_NEWEST,
                          DB_ARGS(db_uuid(&chat->id), db_int(b->now_ms),
                                  db_int(MAX_MEMORIES)),
                          err);
    }
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const struct kept *kept = (const struct kept *)list.items + i;
        char id[UUID_TEXT_SIZE];

        uuid_format(&kept->id, id);
        status = add(
            b,
            arena_printf(b->arena, "  - [%.*s] %.*s%s%.*s", (int)kept->type.len,
                         kept->type.s, (int)kept->summary.len, kept->summary.s,
                         kept->resolution.len ? " => " : "",
                         (int)kept->resolution.len,
                         kept->resolution.s ? kept->resolution.s : ""),
            str_of(arena_printf(b->arena, "memory:%s", id)), left, err);
    }
    return status;
}

enum clew_status context_continuity(struct store_tx *tx, struct builder *b,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct linked), .fn = linked_of};
    size_t left = b->shares[CONTEXT_CONTINUITY];
    enum clew_status status =
        rows_add(tx, &list, &SELECT_LINKED,
                 DB_ARGS(db_uuid(&b->chat.id), db_int(MAX_CHATS)), err);

    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        status =
            add_chat(tx, b, (const struct linked *)list.items + i, &left, err);
    }
    return status;
}
