/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe_keep.c - facts, events and decisions of a turn become memories.
 *
 * The same statement again is the same memory. A statement that sets a slot
 * another memory has set refines it where slots.h is certain; where it is not,
 * a notice suggests it and nothing changes. What counts is when a turn was
 * said, not when it arrived: an older statement that comes later is refined by
 * the first that was said after it.
 */
#include "engine/observe_internal.h"

#include "base/sha256.h"
#include "engine/lineage.h"
#include "engine/rows.h"
#include "store/db.h"

#include <ctype.h>
#include <string.h>

/* Memories compared for one slot; newest first. */
#define MAX_SAME_SLOT 20

DB_SQL(INSERT_KEY, "INSERT INTO memory_keys (tenant, kind, digest, memory_id)"
                   " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING");
/* The plus keeps SQLite from walking all memories by time instead. */
DB_SQL(SELECT_KEY, "SELECT k.memory_id FROM memory_keys k JOIN memories m"
                   " ON m.tenant = k.tenant AND m.id = k.memory_id"
                   " WHERE k.tenant = $1 AND k.kind = $2 AND k.digest = $3"
                   " AND m.retracted_at IS NULL"
                   " ORDER BY +m.created_at DESC, m.id DESC LIMIT $4");

static struct uuid digest_end(const struct sha256 *hash)
{
    unsigned char full[SHA256_SIZE];
    struct uuid out;

    sha256_get(hash, full);
    memcpy(out.b, full, sizeof(out.b));
    return out;
}

static void add_part(struct sha256 *hash, struct str part)
{
    sha256_add_str(hash, part);
    sha256_add(hash, "", 1); /* "ab","c" is not "a","bc" */
}

/* Equal but for case, spaces and punctuation. */
static struct uuid statement_digest(struct str user_id, const char *type,
                                    struct str summary)
{
    struct sha256 hash;
    bool is_gap = false;

    sha256_init(&hash);
    add_part(&hash, user_id);
    add_part(&hash, str_of(type));
    for (size_t i = 0; i < summary.len; i++) {
        unsigned char c = (unsigned char)summary.s[i];
        char folded = (char)tolower(c);

        if (c < 0x80 && !isalnum(c)) {
            is_gap = true;
            continue;
        }
        if (is_gap) {
            sha256_add(&hash, " ", 1);
            is_gap = false;
        }
        sha256_add(&hash, c < 0x80 ? &folded : &summary.s[i], 1);
    }
    return digest_end(&hash);
}

static struct uuid slot_digest(struct str user_id, const struct slot *slot)
{
    struct sha256 hash;

    sha256_init(&hash);
    add_part(&hash, user_id);
    add_part(&hash, slot->subject);
    add_part(&hash, slot->attribute);
    return digest_end(&hash);
}

static bool id_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    (void)arena;
    *(struct uuid *)item = db_get_uuid(rows, 0);
    return true;
}

static enum clew_status find_key(struct observation *o, const char *kind,
                                 const struct uuid *digest, int64_t limit,
                                 struct uuid **out_ids, size_t *out_count,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = o->arena, .size = sizeof(struct uuid), .fn = id_of};
    enum clew_status status =
        rows_add(o->tx, &list, &SELECT_KEY,
                 DB_ARGS(db_cstr(kind), db_uuid(digest), db_int(limit)), err);

    if (status == CLEW_OK) {
        *out_ids = list.items;
        *out_count = list.count;
    }
    return status;
}

static enum clew_status add_key(struct observation *o, const char *kind,
                                const struct uuid *digest,
                                const struct uuid *memory_id,
                                struct clew_error *err)
{
    return db_exec(o->tx, &INSERT_KEY,
                   DB_ARGS(db_cstr(kind), db_uuid(digest), db_uuid(memory_id)),
                   err);
}

/* --- fields ----------------------------------------------------------------
 */

static bool set_slot(json_t *fields, const struct slot *slot)
{
    json_t *object = json_object();

    if (object && json_set_str(object, "subject", slot->subject) &&
        json_set_str(object, "attribute", slot->attribute) &&
        json_set_str(object, "qualifier", slot->qualifier) &&
        json_set_str(object, "value", slot->value) &&
        json_set_int(object, "flags", slot->flags)) {
        return json_set(fields, "slot", object);
    }
    json_decref(object);
    return false;
}

static struct str text_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    return json_is_string(value) ? (struct str){json_string_value(value),
                                                json_string_length(value)}
                                 : STR("");
}

/* The slot a stored memory sets, read from its fields. */
static bool stored_slot(struct arena *arena, const struct memory *memory,
                        struct slot *out)
{
    json_t *fields = NULL;
    const json_t *slot;
    bool is_ok;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        return false;
    }
    slot = json_object_get(fields, "slot");
    is_ok = json_is_object(slot);
    *out = (struct slot){
        .subject = arena_str(arena, text_of(slot, "subject")),
        .attribute = arena_str(arena, text_of(slot, "attribute")),
        .qualifier = arena_str(arena, text_of(slot, "qualifier")),
        .value = arena_str(arena, text_of(slot, "value")),
        .flags = (unsigned)json_integer_value(json_object_get(slot, "flags"))};
    json_decref(fields);
    return is_ok && out->value.s;
}

/* What the type's schema adds to a memory. */
static struct str fields_of(struct observation *o,
                            const struct extract_item *item)
{
    json_t *fields = json_object();
    const struct turn *turn = o->work->turn;
    struct str who = turn->name.s ? turn->name : STR("");
    bool is_ok =
        fields &&
        json_set_real(fields, "confidence", (double)item->confidence) &&
        json_set_cstr(fields, "rule", item->rule ? item->rule : "");

    if (is_ok && item->type == EXTRACT_FACT) {
        is_ok =
            json_set_str(fields, "statement", item->summary) &&
            json_set_str(fields, "source",
                         who.len ? who : str_of(turn_role_name(turn->role)));
    }
    if (is_ok && item->type == EXTRACT_DECISION) {
        is_ok = json_set_str(fields, "choice", item->summary) &&
                json_set_str(fields, "alternatives",
                             item->detail.s ? item->detail : STR(""));
    }
    if (is_ok && item->has_time) {
        is_ok = json_set_time(fields, "when", &item->from_ms) &&
                json_set_time(fields, "until", &item->to_ms);
    }
    if (is_ok && item->has_slot) {
        is_ok = set_slot(fields, &item->slot);
    }
    if (!is_ok) {
        json_decref(fields);
        return (struct str){0};
    }
    return observe_json(o->arena, fields);
}

/* --- supersession ----------------------------------------------------------
 */

static enum clew_status suggest(struct observation *o,
                                const struct extract_item *item,
                                const struct memory *older,
                                struct clew_error *err)
{
    json_t *entry = o->work->trace ? json_object() : NULL;

    if (entry && json_set_uuid(entry, "older", &older->id) &&
        json_set_str(entry, "newer", item->summary)) {
        (void)json_set(o->work->trace, "suggestion", entry); /* may lack */
    } else {
        json_decref(entry);
    }
    return observe_notice(o, err, "[suggestion] \"%.*s\" may replace \"%.*s\"",
                          (int)item->summary.len, item->summary.s,
                          (int)older->summary.len, older->summary.s);
}

/* Where a statement stands among those that set its slot. */
struct neighbours {
    struct uuid refined;   /* surely replaced by it; nil if none */
    struct uuid successor; /* surely replaces it, said later; nil if none */
    bool is_settled;       /* the older ones need no further look */
};

/* Compare with one of the same slot; they come newest first. */
static enum clew_status compare(struct observation *o,
                                const struct extract_item *item,
                                const struct memory *other,
                                struct neighbours *out, struct clew_error *err)
{
    int64_t said_ms = o->work->turn->created_at_ms;
    int64_t last_ms = other->created_at_ms;
    struct lineage_mark mark = {.id = other->id};
    enum slot_verdict verdict;
    enum clew_status status = CLEW_OK;
    struct slot slot;

    if (!stored_slot(o->arena, other, &slot)) {
        return CLEW_OK;
    }
    verdict = slot_compare(&slot, &item->slot);
    if (last_ms <= said_ms && verdict == SLOT_SUPERSEDES) {
        status = memory_last_said(o->tx, &other->id, &last_ms, err);
    }
    if (status == CLEW_OK && last_ms > said_ms) {
        if (slot_compare(&item->slot, &slot) == SLOT_SUPERSEDES) {
            out->successor = other->id;
        }
        return CLEW_OK;
    }
    if (status == CLEW_OK) { /* as it was when this was said */
        status = lineage_find_refiners(o->tx, o->arena, &mark, 1, said_ms, err);
    }
    if (status != CLEW_OK || mark.is_superseded || verdict == SLOT_UNRELATED) {
        return status;
    }
    out->is_settled = true;
    if (verdict == SLOT_SUPERSEDES) {
        out->refined = other->id;
        return CLEW_OK;
    }
    return suggest(o, item, other, err);
}

static enum clew_status find_neighbours(struct observation *o,
                                        const struct extract_item *item,
                                        struct neighbours *out,
                                        struct clew_error *err)
{
    struct uuid digest = slot_digest(o->work->turn->user_id, &item->slot);
    struct uuid *ids = NULL;
    struct memory *others = NULL;
    size_t count = 0;
    size_t n_others = 0;
    enum clew_status status =
        find_key(o, "slot", &digest, MAX_SAME_SLOT, &ids, &count, err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_OK && count > 0) {
        status = memory_find_many(o->tx, o->arena, ids, count, &others,
                                  &n_others, err);
    }
    for (size_t i = 0; status == CLEW_OK && !out->is_settled && i < count;
         i++) {
        for (size_t k = 0; k < n_others && status == CLEW_OK; k++) {
            if (uuid_eq(&others[k].id, &ids[i])) {
                status = compare(o, item, &others[k], out, err);
                break;
            }
        }
    }
    return status;
}

/* --- one candidate ---------------------------------------------------------
 */

static enum clew_status tell(struct observation *o, const struct memory *memory,
                             bool is_refined, struct clew_error *err)
{
    return observe_notice(o, err, "[%.*s%s] %.*s", (int)memory->type.len,
                          memory->type.s, is_refined ? ":refined" : "",
                          (int)memory->summary.len, memory->summary.s);
}

static enum clew_status keep_new(struct observation *o,
                                 const struct extract_item *item,
                                 const struct uuid *statement,
                                 struct clew_error *err)
{
    struct memory memory = observe_memory(o, extract_type_name(item->type),
                                          "active", item->summary);
    struct neighbours near = {.is_settled = false};
    const struct uuid *refined = NULL;
    enum clew_status status = CLEW_OK;

    memory.tags = observe_tags(o, item);
    memory.fields = fields_of(o, item);
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    /* "moved to Hamburg in May" stays true when May is over */
    if (item->type == EXTRACT_EVENT && item->has_time && !item->has_slot) {
        memory.expires_at_ms = extract_expiry_ms(item);
    }
    if (item->has_slot) {
        status = find_neighbours(o, item, &near, err);
        refined = uuid_is_nil(&near.refined) ? NULL : &near.refined;
    }
    if (status == CLEW_OK) {
        status = observe_insert(o, &memory, item->cites, item->n_cites, refined,
                                err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&near.successor)) {
        status = memory_add_source(o->tx, &near.successor, &memory.id, err);
    }
    if (status == CLEW_OK) {
        status = add_key(o, "statement", statement, &memory.id, err);
    }
    if (status == CLEW_OK && item->has_slot) {
        struct uuid digest = slot_digest(memory.user_id, &item->slot);

        status = add_key(o, "slot", &digest, &memory.id, err);
    }
    return status == CLEW_OK ? tell(o, &memory, refined != NULL, err) : status;
}

static enum clew_status keep(struct observation *o,
                             const struct extract_item *item,
                             struct clew_error *err)
{
    struct uuid digest = statement_digest(
        o->work->turn->user_id, extract_type_name(item->type), item->summary);
    struct uuid *known = NULL;
    size_t n_known = 0;
    enum clew_status status =
        find_key(o, "statement", &digest, 1, &known, &n_known, err);

    if (status == CLEW_OK && n_known > 0) {
        struct lineage_mark mark = {.id = known[0]};

        status =
            lineage_find_refiners(o->tx, o->arena, &mark, 1, INT64_MAX, err);
        n_known = mark.is_superseded ? 0 : 1; /* what was so is so again */
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (n_known > 0) { /* said again: one more line it comes from */
        struct memory_ref ref = {o->work->turn->chat_id, o->work->turn->seq,
                                 o->work->turn->seq};

        return memory_add_ref(o->tx, &known[0], &ref, err);
    }
    return keep_new(o, item, &digest, err);
}

/* What an effort of this turn says already: its trouble, what was tried. */
static bool is_part_of_effort(const struct observation *o,
                              const struct extract_item *item)
{
    return item->type == EXTRACT_FACT && !item->has_slot && o->is_effort_turn &&
           ((o->intent.flags & INTENT_PROBLEM) ||
            str_ifind(item->summary, STR(" tried "), 0) != SIZE_MAX ||
            str_ifind(item->summary, STR(" trying "), 0) != SIZE_MAX);
}

enum clew_status observe_keep(struct observation *o, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < o->extract.n_items && status == CLEW_OK; i++) {
        const struct extract_item *item = &o->extract.items[i];

        if (item->type != EXTRACT_EFFORT && item->summary.len > 0 &&
            !is_part_of_effort(o, item)) {
            status = keep(o, item, err);
        }
    }
    return status;
}
