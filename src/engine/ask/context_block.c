/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_block.c - the stable block: memories of a chat's line. And its cache.
 *
 * Memories stand in the order they were made, so that a new one is added at the
 * end and all bytes before stay. When they no longer fit, the block begins
 * later; it can only begin at a memory whose id says so (about one in PAGE), so
 * that many memories are added between two such moves, and every process picks
 * the same beginning without keeping any state.
 *
 * The cache holds finished blocks by chat and size, valid while no memory of
 * the tenant has changed.
 */
#include "engine/ask/context_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/core/budget.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/effort/effort_fork.h"
#include "engine/memory/lineage.h"
#include "store/db.h"
#include "text/analysis.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The newest memories that are looked at: more do not fit any sane budget. */
#define MAX_MEMORIES 512
#define TOKENS_PER_MEMORY 12
#define PAGE 16
/* A memory takes a quarter of the block at most, but where the block is small
 * rather few are told whole than all of them cut to a word or two. */
#define LINE_SHARE 4
#define LINE_TOKENS 64
#define CACHE_BLOCKS 256

/* The ways a memory belongs to a chat: made on its line, imported, pinned. */
DB_SQL(SELECT_MADE,
       "SELECT m.id, m.type, m.status, m.summary, m.resolution, m.created_at,"
       " m.expires_at, m.chat_id, m.parent_id, (SELECT MIN(r.first_seq) FROM"
       " memory_refs r WHERE r.tenant = $1 AND r.memory_id = m.id AND"
       " r.chat_id = m.chat_id), (SELECT MAX(r.last_seq) FROM memory_refs r"
       " WHERE r.tenant = $1 AND r.memory_id = m.id AND r.chat_id ="
       " m.chat_id) FROM memories m WHERE m.tenant = $1 AND m.chat_id = $2"
       " AND m.retracted_at IS NULL AND m.is_instruction = 0"
       " ORDER BY m.created_at DESC, m.id DESC LIMIT $3");
DB_SQL(SELECT_IMPORTED,
       "SELECT m.id, m.type, m.status, m.summary, m.resolution, m.created_at,"
       " m.expires_at, m.chat_id, m.parent_id, (SELECT MIN(r.first_seq) FROM"
       " memory_refs r WHERE r.tenant = $1 AND r.memory_id = m.id AND"
       " r.chat_id = m.chat_id), (SELECT MAX(r.last_seq) FROM memory_refs r"
       " WHERE r.tenant = $1 AND r.memory_id = m.id AND r.chat_id ="
       " m.chat_id) FROM chat_memories c JOIN memories m"
       " ON m.tenant = c.tenant AND m.id = c.memory_id"
       " WHERE c.tenant = $1 AND c.chat_id = $2"
       " AND m.retracted_at IS NULL AND m.is_instruction = 0"
       " ORDER BY c.created_at DESC, m.id DESC LIMIT $3");
/* What a person pinned belongs to every chat of theirs. */
DB_SQL(SELECT_PINNED,
       "SELECT m.id, m.type, m.status, m.summary, m.resolution, m.created_at,"
       " m.expires_at, m.chat_id, m.parent_id, (SELECT MIN(r.first_seq) FROM"
       " memory_refs r WHERE r.tenant = $1 AND r.memory_id = m.id AND"
       " r.chat_id = m.chat_id), (SELECT MAX(r.last_seq) FROM memory_refs r"
       " WHERE r.tenant = $1 AND r.memory_id = m.id AND r.chat_id ="
       " m.chat_id) FROM memories m WHERE m.tenant = $1"
       " AND m.pinned_at IS NOT NULL AND m.user_id IN ($2, '')"
       " AND m.retracted_at IS NULL AND m.is_instruction = 0"
       " ORDER BY m.created_at DESC, m.id DESC LIMIT $3");
/* Changes of any memory, of what was forgotten, and of imports here. */
DB_SQL(SELECT_VERSION,
       "SELECT COALESCE((SELECT MAX(change_seq) FROM memories WHERE tenant ="
       " $1), 0), COALESCE((SELECT MAX(change_seq) FROM tombstones WHERE"
       " tenant = $1), 0), (SELECT COUNT(*) FROM chat_memories WHERE tenant ="
       " $1 AND chat_id = $2)");

struct entry {
    struct uuid id;
    struct str type;
    struct str status;
    struct str summary;
    struct str resolution;
    int64_t created_at_ms;
    int64_t expires_at_ms;
    struct uuid chat_id;
    struct uuid parent_id;
    int64_t first_seq;
    int64_t last_seq;
};

struct entries {
    struct entry *items;
    size_t count;
    bool is_cut; /* there are older ones that were not read */
};

/* --- the cache -------------------------------------------------------------
 */

struct block_key {
    int64_t tenant;
    struct uuid chat_id;
    size_t max_tokens;
};

struct cached {
    struct block_key key;
    int64_t version[3];
    int64_t valid_until_ms; /* when the first of its memories expires */
    uint64_t used;          /* 0: free */
    struct arena arena;
    struct context_line *lines;
    size_t count;
    char hash[SHA256_HEX_SIZE];
};

struct context_cache {
    pthread_mutex_t lock; /* guards all below */
    uint64_t clock;
    struct cached blocks[CACHE_BLOCKS];
};

struct context_cache *context_cache_new(void)
{
    struct context_cache *cache = alloc_zero(1, sizeof(*cache));

    if (cache && pthread_mutex_init(&cache->lock, NULL) != 0) {
        alloc_free(cache);
        return NULL;
    }
    return cache;
}

void context_cache_free(struct context_cache *cache)
{
    if (!cache) {
        return;
    }
    for (size_t i = 0; i < CACHE_BLOCKS; i++) {
        if (cache->blocks[i].used) {
            arena_release(&cache->blocks[i].arena);
        }
    }
    (void)pthread_mutex_destroy(&cache->lock); /* nobody holds it */
    alloc_free(cache);
}

static bool same_key(const struct block_key *a, const struct block_key *b)
{
    return a->tenant == b->tenant && a->max_tokens == b->max_tokens &&
           uuid_eq(&a->chat_id, &b->chat_id);
}

/* Copy lines into an arena; false without memory. */
static bool copy_lines(struct arena *arena, const struct context_line *lines,
                       size_t count, struct context_line **out)
{
    struct context_line *copy = arena_zero(arena, count + 1, sizeof(*copy));

    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = lines[i];
        copy[i].text = arena_str(arena, lines[i].text);
        copy[i].source = arena_str(arena, lines[i].source);
        copy[i].body = (struct str){0};
        if (!copy[i].text.s || !copy[i].source.s) {
            return false;
        }
    }
    *out = copy;
    return copy != NULL;
}

/* Fill the section from the cache if the block there is still true. */
static bool cache_get(struct builder *b, const struct block_key *key,
                      const int64_t version[3])
{
    struct context_cache *cache = b->engine->contexts;
    struct context_part *part = &b->out->parts[CONTEXT_MEMORY];
    bool is_found = false;

    if (!cache) {
        return false;
    }
    (void)pthread_mutex_lock(&cache->lock); /* cannot fail: plain mutex */
    for (size_t i = 0; i < CACHE_BLOCKS && !is_found; i++) {
        struct cached *block = &cache->blocks[i];

        if (block->used && same_key(&block->key, key) &&
            memcmp(block->version, version, sizeof(block->version)) == 0 &&
            b->now_ms < block->valid_until_ms) {
            is_found =
                copy_lines(b->arena, block->lines, block->count, &part->lines);
            part->count = block->count;
            part->cap = block->count;
            memcpy(b->out->hash, block->hash, sizeof(block->hash));
            block->used = ++cache->clock;
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return is_found;
}

static void cache_put(struct builder *b, const struct block_key *key,
                      const int64_t version[3], int64_t valid_until_ms)
{
    struct context_cache *cache = b->engine->contexts;
    const struct context_part *part = &b->out->parts[CONTEXT_MEMORY];
    struct cached *victim;

    if (!cache) {
        return;
    }
    (void)pthread_mutex_lock(&cache->lock);
    victim = &cache->blocks[0];
    for (size_t i = 0; i < CACHE_BLOCKS; i++) {
        struct cached *block = &cache->blocks[i];

        if (block->used && same_key(&block->key, key)) {
            victim = block;
            break;
        }
        victim = block->used < victim->used ? block : victim;
    }
    if (victim->used) {
        arena_release(&victim->arena);
        victim->used = 0;
    }
    arena_init(&victim->arena, (size_t)64 << 20);
    if (copy_lines(&victim->arena, part->lines, part->count, &victim->lines)) {
        victim->key = *key;
        memcpy(victim->version, version, sizeof(victim->version));
        victim->valid_until_ms = valid_until_ms;
        victim->count = part->count;
        memcpy(victim->hash, b->out->hash, sizeof(victim->hash));
        victim->used = ++cache->clock;
    } else {
        arena_release(&victim->arena);
    }
    (void)pthread_mutex_unlock(&cache->lock);
}

/* --- reading ---------------------------------------------------------------
 */

static bool entry_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct entry *out = item;

    out->id = db_get_uuid(rows, 0);
    out->created_at_ms = db_get_int(rows, 5);
    out->expires_at_ms = db_get_int(rows, 6);
    out->chat_id = db_get_uuid(rows, 7);
    out->parent_id = db_get_uuid(rows, 8);
    out->first_seq = db_get_int(rows, 9);
    out->last_seq = db_get_int(rows, 10);
    return rows_text(arena, rows, 1, &out->type) &&
           rows_text(arena, rows, 2, &out->status) &&
           rows_text(arena, rows, 3, &out->summary) &&
           rows_text(arena, rows, 4, &out->resolution);
}

static enum clew_status read_version(struct store_tx *tx, struct builder *b,
                                     int64_t out[3], struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, &SELECT_VERSION, DB_ARGS(db_uuid(&b->chat.id)), &rows, err);

    if (status == CLEW_OK && db_next(&rows)) {
        for (int i = 0; i < 3; i++) {
            out[i] = db_get_int(&rows, i);
        }
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/* On the line, what was made after the fork belongs to the parent alone. */
static void drop_after_fork(struct entries *entries, size_t from,
                            int64_t to_seq)
{
    size_t n = from;

    for (size_t i = from; i < entries->count; i++) {
        if (entries->items[i].first_seq <= to_seq) {
            entries->items[n++] = entries->items[i];
        }
    }
    entries->count = n;
}

static int by_time(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;

    if (a->created_at_ms != b->created_at_ms) {
        return a->created_at_ms < b->created_at_ms ? -1 : 1;
    }
    return uuid_cmp(&a->id, &b->id);
}

/* What was pinned where it was made came twice; sorted, they are neighbours. */
static void drop_doubles(struct entries *entries)
{
    size_t n = 1;

    for (size_t i = 1; i < entries->count; i++) {
        if (!uuid_eq(&entries->items[i].id, &entries->items[n - 1].id)) {
            entries->items[n++] = entries->items[i];
        }
    }
    entries->count = n;
}

static enum clew_status read_entries(struct store_tx *tx, struct builder *b,
                                     int64_t limit, struct entries *out,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct entry), .fn = entry_of};
    enum clew_status status = CLEW_OK;

    for (size_t i = b->n_line; i-- > 0 && status == CLEW_OK;) {
        size_t from = list.count;

        status =
            rows_add(tx, &list, &SELECT_MADE,
                     DB_ARGS(db_uuid(&b->line[i].chat_id), db_int(limit)), err);
        out->is_cut = out->is_cut || list.count - from == (size_t)limit;
        if (status == CLEW_OK && i + 1 < b->n_line) {
            struct entries part = {.items = list.items, .count = list.count};

            drop_after_fork(&part, from, b->line[i].to_seq);
            list.count = part.count;
        }
        if (status == CLEW_OK) {
            status = rows_add(
                tx, &list, &SELECT_IMPORTED,
                DB_ARGS(db_uuid(&b->line[i].chat_id), db_int(limit)), err);
        }
    }
    if (status == CLEW_OK) {
        status =
            rows_add(tx, &list, &SELECT_PINNED,
                     DB_ARGS(db_text(b->chat.user_id), db_int(limit)), err);
    }
    out->items = list.items;
    out->count = list.count;
    if (status == CLEW_OK && out->count > 1) {
        qsort(out->items, out->count, sizeof(*out->items), by_time);
        drop_doubles(out);
    }
    return status;
}

static bool is_effort(const struct entry *entry)
{
    return str_eq(entry->type, STR("effort"));
}

/* Efforts of the chats above as they were at the fork point; those that a twin
 * tells are left out. */
static enum clew_status see_efforts(struct store_tx *tx, struct builder *b,
                                    struct entries *entries,
                                    struct clew_error *err)
{
    struct effort *efforts = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status = effort_list_line(
        tx, b->arena, &b->chat, b->chat.last_seq, true, &efforts, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < entries->count; i++) {
        struct entry entry = entries->items[i];
        bool is_here = !is_effort(&entry) ||
                       uuid_eq(&entry.chat_id, &b->chat.id) ||
                       !sight_has(&b->sight, &entry.chat_id, 0);

        for (size_t k = 0; k < count && !is_here; k++) {
            if (uuid_eq(&efforts[k].memory_id, &entry.id)) {
                entry.status = efforts[k].status;
                entry.resolution = efforts[k].resolution;
                entry.last_seq = efforts[k].last_seq;
                is_here = true;
            }
        }
        if (is_here) {
            entries->items[n++] = entry;
        }
    }
    entries->count = n;
    return status;
}

/* Leave out what is superseded, expired, or told by its parent. */
static enum clew_status drop_stale(struct store_tx *tx, struct builder *b,
                                   struct entries *entries,
                                   int64_t *out_valid_until_ms,
                                   struct clew_error *err)
{
    struct lineage_mark *marks =
        arena_zero(b->arena, entries->count + 1, sizeof(*marks));
    size_t n = 0;
    enum clew_status status;

    *out_valid_until_ms = INT64_MAX;
    if (!marks) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < entries->count; i++) {
        marks[i].id = entries->items[i].id;
    }
    status = lineage_find_seen(tx, b->arena, b->is_parted ? &b->sight : NULL,
                               marks, entries->count, INT64_MAX, err);
    for (size_t i = 0; status == CLEW_OK && i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        bool is_twice = n > 0 && uuid_eq(&entries->items[n - 1].id, &entry->id);

        if (marks[i].is_superseded || is_twice ||
            !uuid_is_nil(&entry->parent_id) ||
            (entry->expires_at_ms && entry->expires_at_ms <= b->now_ms)) {
            continue;
        }
        if (entry->expires_at_ms &&
            entry->expires_at_ms < *out_valid_until_ms) {
            *out_valid_until_ms = entry->expires_at_ms;
        }
        entries->items[n++] = *entry;
    }
    entries->count = n;
    return status;
}

/* --- lines -----------------------------------------------------------------
 */

/* "- [effort:resolved] Title => Resolution (#15-42)"; empty where so little of
 * it has room that it would say nothing. */
static bool line_of(struct builder *b, const struct entry *entry,
                    size_t max_tokens, struct context_line *out)
{
    char id[UUID_TEXT_SIZE];
    bool has_place = entry->first_seq > 0 && !uuid_is_nil(&entry->chat_id);
    /* an open effort grows with every turn; its line must not */
    bool is_open = str_eq(entry->status, STR("open"));
    int64_t last_seq = is_open ? entry->first_seq : entry->last_seq;
    struct str how = is_open ? STR("") : entry->resolution;
    const char *mark =
        has_place ? context_mark(b, &entry->chat_id, entry->first_seq, last_seq)
                  : "contributed";
    const char *text = arena_printf(
        b->arena, "- [%.*s%s%.*s] %.*s%s%.*s (%s)", (int)entry->type.len,
        entry->type.s, is_effort(entry) ? ":" : "",
        is_effort(entry) ? (int)entry->status.len : 0, entry->status.s,
        (int)entry->summary.len, entry->summary.s, how.len ? " => " : "",
        (int)how.len, how.s ? how.s : "", mark ? mark : "");

    uuid_format(&entry->id, id);
    if (!text || !mark) {
        return false;
    }
    *out = (struct context_line){
        .text = context_clip(b->arena, str_of(text), max_tokens),
        .source = has_place ? context_source(b->arena, &entry->chat_id,
                                             entry->first_seq, last_seq)
                            : str_of(arena_printf(b->arena, "memory:%s", id))};
    return out->text.s && out->source.s;
}

static bool is_page_start(const struct uuid *id)
{
    return id->b[15] % PAGE == 0;
}

/* Where the block begins so that all that follows fits: a page start. */
static size_t beginning(const struct entries *entries,
                        const struct context_line *lines, size_t max_tokens)
{
    size_t sum = 0;
    size_t page = entries->count; /* the earliest page start that fits */
    size_t any = entries->count;

    for (size_t i = entries->count; i-- > 0;) {
        sum += context_tokens(lines[i].text);
        if (sum > max_tokens) {
            break;
        }
        any = i;
        if ((i == 0 && !entries->is_cut) ||
            is_page_start(&entries->items[i].id)) {
            page = i;
        }
    }
    /* no page start in reach: better an odd beginning than nothing */
    return page < entries->count ? page : any;
}

static void hash_block(struct context *out)
{
    struct sha256 hash;
    const struct context_part *part = &out->parts[CONTEXT_MEMORY];

    sha256_init(&hash);
    for (size_t i = 0; i < part->count; i++) {
        sha256_add_str(&hash, part->lines[i].text);
        sha256_add(&hash, "\n", 1);
    }
    sha256_get_hex(&hash, out->hash);
}

static enum clew_status fill(struct builder *b, const struct entries *entries,
                             size_t max_tokens, struct clew_error *err)
{
    struct context_line *lines =
        arena_zero(b->arena, entries->count + 1, sizeof(*lines));
    size_t least = max_tokens < LINE_TOKENS ? max_tokens : LINE_TOKENS;
    size_t most = max_tokens / LINE_SHARE;
    bool is_ok = lines != NULL;

    most = most < least ? least : most;
    for (size_t i = 0; is_ok && i < entries->count; i++) {
        is_ok = line_of(b, &entries->items[i], most, &lines[i]);
    }
    for (size_t i = is_ok ? beginning(entries, lines, max_tokens) : 0;
         is_ok && i < entries->count; i++) {
        if (lines[i].text.len > 0) {
            is_ok = context_add(b, CONTEXT_MEMORY, &lines[i]);
        }
    }
    hash_block(b->out);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

enum clew_status context_block(struct store_tx *tx, struct builder *b,
                               struct clew_error *err)
{
    size_t max_tokens = b->shares[CONTEXT_MEMORY];
    struct block_key key = {b->scope->tenant, b->chat.id, max_tokens};
    int64_t version[3] = {0};
    int64_t valid_until_ms = INT64_MAX;
    int64_t limit = (int64_t)(max_tokens / TOKENS_PER_MEMORY) + PAGE;
    struct entries entries = {0};
    enum clew_status status = read_version(tx, b, version, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (cache_get(b, &key, version)) {
        b->out->is_cached = true;
        return CLEW_OK;
    }
    status = read_entries(tx, b, limit < MAX_MEMORIES ? limit : MAX_MEMORIES,
                          &entries, err);
    if (status == CLEW_OK && b->n_line > 1) {
        status = see_efforts(tx, b, &entries, err);
    }
    if (status == CLEW_OK) {
        status = drop_stale(tx, b, &entries, &valid_until_ms, err);
    }
    if (status == CLEW_OK) {
        status = fill(b, &entries, max_tokens, err);
    }
    if (status == CLEW_OK) {
        cache_put(b, &key, version, valid_until_ms);
    }
    return status;
}
