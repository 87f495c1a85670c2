/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_near.c - notes held against each other. See keep_near.h.
 */
#include "engine/keep/keep_near.h"

#include "base/json.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/keep/keep_key.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "engine/understand/observation.h"

#include <string.h>

/* Memories compared for one slot, found by one word; newest first. */
#define MAX_SAME_SLOT 20
#define MAX_SAME_WORD 12
/* Notes found by words, and those the reader looks at. */
#define MAX_FOUND 48
#define MAX_COMPARED 6
/* So sure the reader must be that a note replaces another, which shares so many
 * of its telling words: of such pairs that were found in talks it has not seen,
 * 96 % are right (docs/quality/reading.md). The others are for people to look
 * at, and recall reads both with the question. */
#define UPDATES 0.99f
#define SHARED 2
/* ... that it says the same, that somebody should look at the two; surer where
 * they share a single word, which is often no more than a name or a month. */
#define SAME 0.93f
#define SUSPECT 0.60f
#define SUSPECT_ONE 0.90f

static struct str text_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    return json_is_string(value) ? json_text(value) : STR("");
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

/* --- by slot ---------------------------------------------------------------
 */

static void add_suspect(struct keep_near *out, const struct memory *older)
{
    if (out->n_suspects < KEEP_SUSPECTS) {
        out->suspects[out->n_suspects] = older->id;
        out->suspect_texts[out->n_suspects++] = older->summary;
    }
}

/* Compare with one of the same slot; they come newest first. `*out_settled`:
 * the older ones need no further look. */
static enum clew_status compare_slot(struct observation *o,
                                     const struct keep_note *note,
                                     const struct memory *other,
                                     struct keep_near *out, bool *out_settled,
                                     struct clew_error *err)
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
    verdict = slot_compare(&slot, &note->slot);
    if (last_ms <= said_ms && verdict == SLOT_SUPERSEDES) {
        status = memory_last_said(o->tx, &other->id, &last_ms, err);
    }
    if (status == CLEW_OK && last_ms > said_ms) {
        if (slot_compare(&note->slot, &slot) == SLOT_SUPERSEDES) {
            out->successor = other->id;
        }
        return CLEW_OK;
    }
    if (status == CLEW_OK) { /* as it was when this was said */
        status = lineage_find_seen(o->tx, o->arena, o->sight, &mark, 1, said_ms,
                                   err);
    }
    if (status != CLEW_OK || mark.is_superseded || verdict == SLOT_UNRELATED) {
        return status;
    }
    *out_settled = true;
    if (verdict == SLOT_SUPERSEDES) {
        out->refined = other->id;
    } else {
        add_suspect(out, other);
    }
    return CLEW_OK;
}

static enum clew_status near_by_slot(struct observation *o,
                                     const struct keep_note *note,
                                     struct keep_near *out,
                                     struct clew_error *err)
{
    struct uuid digest = keep_key_slot(o->work->turn->user_id, &note->slot);
    struct uuid *ids = NULL;
    size_t count = 0;
    bool is_settled = false;
    enum clew_status status = keep_key_find(o, KEEP_KEY_SLOT, &digest,
                                            MAX_SAME_SLOT, &ids, &count, err);

    for (size_t i = 0; status == CLEW_OK && !is_settled && i < count; i++) {
        struct memory other;

        status = memory_find(o->tx, o->arena, &ids[i], &other, err);
        if (status == CLEW_OK) {
            status = compare_slot(o, note, &other, out, &is_settled, err);
        }
    }
    return status;
}

/* --- by the reader ---------------------------------------------------------
 */

struct found {
    struct uuid id;
    float weight; /* of the words shared */
    size_t n_shared;
};

static void sort_found(struct found *found, size_t n)
{
    for (size_t i = 1; i < n; i++) { /* few: by insertion */
        for (size_t k = i; k > 0 && found[k].weight > found[k - 1].weight;
             k--) {
            struct found held = found[k];

            found[k] = found[k - 1];
            found[k - 1] = held;
        }
    }
}

/* Notes that share words with this one, most first. */
static enum clew_status find_by_words(struct observation *o,
                                      const struct keep_note *note,
                                      struct found out[MAX_FOUND],
                                      size_t *out_count, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    size_t n = 0;

    for (size_t i = 0; i < note->n_stems && status == CLEW_OK; i++) {
        struct uuid digest =
            keep_key_word(o->work->turn->user_id, note->stems[i]);
        struct uuid *ids = NULL;
        size_t count = 0;

        status = keep_key_find(o, KEEP_KEY_WORD, &digest, MAX_SAME_WORD, &ids,
                               &count, err);
        for (size_t k = 0; status == CLEW_OK && k < count; k++) {
            size_t at = 0;

            while (at < n && !uuid_eq(&out[at].id, &ids[k])) {
                at++;
            }
            if (at == n && n < MAX_FOUND) {
                out[n++] = (struct found){.id = ids[k]};
            }
            if (at < n) {
                out[at].weight += text_idf(note->stems[i]);
                out[at].n_shared++;
            }
        }
    }
    sort_found(out, n);
    *out_count = n < MAX_COMPARED ? n : MAX_COMPARED;
    return status;
}

/* A stored note as it was said, and who said it. */
static struct reader_said said_then(struct observation *o,
                                    const struct memory *memory)
{
    json_t *fields = NULL;
    struct reader_said said = {STR("user"), memory->summary};

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        struct str words = text_of(fields, "statement");
        struct str who = text_of(fields, "source");

        said.text = words.len ? arena_str(o->arena, words) : said.text;
        said.speaker = who.len ? arena_str(o->arena, who) : said.speaker;
    }
    json_decref(fields);
    return said;
}

/* A pair for the reader: the one said earlier first. */
struct held {
    struct memory other;
    bool is_later; /* the other was said after the new one */
    size_t n_shared;
};

static bool is_update(const struct held *held, const float *p)
{
    return held->n_shared >= SHARED && p[READER_NOTE_UPDATES] >= UPDATES;
}

static bool is_suspect(const struct held *held, const float *p)
{
    return !held->is_later &&
           p[READER_NOTE_UPDATES] + p[READER_NOTE_CONTRADICTS] >=
               (held->n_shared >= SHARED ? SUSPECT : SUSPECT_ONE);
}

static enum clew_status load_pairs(struct observation *o,
                                   const struct keep_note *note,
                                   struct held *out, struct reader_pair *pairs,
                                   size_t *out_count, struct clew_error *err)
{
    struct found found[MAX_FOUND];
    struct reader_said said = {sense_name(&o->turn), note->words};
    struct str now = sense_said(o->arena, &said);
    size_t n_found = 0;
    size_t n = 0;
    enum clew_status status = find_by_words(o, note, found, &n_found, err);

    for (size_t i = 0; status == CLEW_OK && i < n_found; i++) {
        struct lineage_mark mark = {.id = found[i].id};
        struct held held = {.n_shared = found[i].n_shared};
        struct reader_said other;
        struct str then;

        status = memory_find(o->tx, o->arena, &found[i].id, &held.other, err);
        if (status == CLEW_OK) {
            status = lineage_find_seen(o->tx, o->arena, o->sight, &mark, 1,
                                       INT64_MAX, err);
        }
        if (status != CLEW_OK || mark.is_superseded) {
            continue;
        }
        other = said_then(o, &held.other);
        then = sense_said(o->arena, &other);
        if (!other.text.s || !other.speaker.s || !then.s || !now.s) {
            return clew_no_memory(err);
        }
        held.is_later = held.other.created_at_ms > o->work->turn->created_at_ms;
        pairs[n] = held.is_later ? (struct reader_pair){now, then}
                                 : (struct reader_pair){then, now};
        out[n++] = held;
    }
    *out_count = n;
    return status;
}

static enum clew_status near_by_reader(struct observation *o,
                                       const struct keep_note *note,
                                       struct keep_near *out,
                                       struct clew_error *err)
{
    struct reader_pair pairs[MAX_COMPARED];
    struct reader_verdict verdicts[MAX_COMPARED];
    struct held held[MAX_COMPARED];
    float best = 0;
    size_t n = 0;
    enum clew_status status = load_pairs(o, note, held, pairs, &n, err);

    if (status == CLEW_OK && n > 0) {
        status =
            sense_compare(o->work->batch, READER_NOTE, pairs, n, verdicts, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        const float *p = verdicts[i].p;

        if (p[READER_NOTE_SAME] >= SAME) {
            out->same = held[i].other.id;
        } else if (is_update(&held[i], p) && held[i].is_later) {
            out->successor = held[i].other.id;
        } else if (is_update(&held[i], p) && p[READER_NOTE_UPDATES] > best) {
            best = p[READER_NOTE_UPDATES];
            out->refined = held[i].other.id;
        } else if (is_suspect(&held[i], p)) {
            add_suspect(out, &held[i].other);
        }
    }
    return status;
}

enum clew_status keep_near_find(struct observation *o,
                                const struct keep_note *note,
                                struct keep_near *out, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (note->has_slot) {
        status = near_by_slot(o, note, out, err);
    }
    if (status == CLEW_OK && uuid_is_nil(&out->refined) &&
        uuid_is_nil(&out->successor) && o->work->batch->engine->reader) {
        status = near_by_reader(o, note, out, err);
    }
    return status;
}
