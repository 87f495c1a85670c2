/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_key.c - keys of kept notes. See keep_key.h.
 */
#include "engine/keep/keep_key.h"

#include "engine/memory/memory_seen.h"

#include "base/sha256.h"
#include "engine/core/rows.h"
#include "engine/understand/observation.h"
#include "store/db.h"
#include "talk/slots.h"

#include <ctype.h>
#include <string.h>

/* Branches that may have said the same before what is looked for. */
#define BRANCHES 4

DB_SQL(INSERT_KEYS,
       "INSERT INTO memory_keys (tenant, kind, digest, memory_id)"
       " SELECT $1, $2, value, $4 FROM UNNEST($3) AS value WHERE TRUE"
       " ON CONFLICT DO NOTHING");
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

struct uuid keep_key_statement(struct str user_id, const char *type,
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

struct uuid keep_key_slot(struct str user_id, const struct slot *slot)
{
    struct sha256 hash;

    sha256_init(&hash);
    add_part(&hash, user_id);
    add_part(&hash, slot->subject);
    add_part(&hash, slot->attribute);
    return digest_end(&hash);
}

struct uuid keep_key_word(struct str user_id, struct str stem)
{
    struct sha256 hash;

    sha256_init(&hash);
    add_part(&hash, user_id);
    add_part(&hash, stem);
    return digest_end(&hash);
}

/* Leave out what only other branches of the conversation say. */
static enum clew_status drop_unseen(struct observation *o, struct uuid *ids,
                                    size_t *count, struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < *count && status == CLEW_OK; i++) {
        bool is_hidden = false;

        status = memory_is_hidden(o->tx, o->arena, o->sight, &ids[i],
                                  &is_hidden, err);
        if (!is_hidden) {
            ids[n++] = ids[i];
        }
    }
    *count = n;
    return status;
}

enum clew_status keep_key_find(struct observation *o, const char *kind,
                               const struct uuid *digest, int64_t limit,
                               struct uuid **out_ids, size_t *out_count,
                               struct clew_error *err)
{
    struct rows_list list = {
        .arena = o->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(o->tx, &list, &SELECT_KEY,
                 DB_ARGS(db_cstr(kind), db_uuid(digest),
                         db_int(o->sight ? limit * BRANCHES : limit)),
                 err);

    if (status == CLEW_OK && o->sight) {
        status = drop_unseen(o, list.items, &list.count, err);
    }
    if (status == CLEW_OK) {
        *out_ids = list.items;
        *out_count = list.count < (size_t)limit ? list.count : (size_t)limit;
    }
    return status;
}

enum clew_status keep_key_add(struct observation *o, const char *kind,
                              const struct uuid *digests, size_t count,
                              const struct uuid *memory_id,
                              struct clew_error *err)
{
    return count == 0 ? CLEW_OK
                      : db_exec(o->tx, &INSERT_KEYS,
                                DB_ARGS(db_cstr(kind), db_uuids(digests, count),
                                        db_uuid(memory_id)),
                                err);
}
