/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_near.c - notes held against each other. See keep_near.h.
 */
#include "engine/keep/keep_near.h"

#include "base/clock.h"
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
/* Efforts that one turn ends, as far as notes are held against them. */
#define MAX_ENDED 4
/* So sure the reader must be that a note replaces another, which shares so many
 * of its telling words. It takes what came of a plan for a change of it; so it
 * is also asked whether the later holds instead, if one wants to know what the
 * earlier says. Surer where the later reads like the end of the earlier, and
 * where that was of a day that is over. The others are for people to look at,
 * if it may hold instead at all, and recall reads both with the question
 * (docs/quality/reading.md). */
#define UPDATES 0.995f
#define SHARED 2
#define INSTEAD 0.50f
#define INSTEAD_ENDED 0.90f
#define INSTEAD_OVER 0.95f
#define ENDED 0.80f
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

/* When what a note says is so. */
struct told {
    struct reader_said said;
    int64_t at_ms; /* when it was said */
    bool has_time;
    bool begins;      /* … and goes on from then */
    int64_t until_ms; /* with a time: until then */
};

/* A pair for the reader. */
struct held {
    struct memory other;
    struct told earlier;
    struct told later;
    bool is_later; /* the other was said after the new one */
    size_t n_shared;
    float instead; /* so surely the later holds instead; not read: below 0 */
    float ended;   /* … and ends what the earlier tells of */
};

static struct told told_now(const struct observation *o,
                            const struct keep_note *note)
{
    return (struct told){.said = {sense_name(&o->turn), note->words},
                         .at_ms = o->work->turn->created_at_ms,
                         .has_time = note->note->has_time,
                         .begins = note->note->begins,
                         .until_ms = note->note->to_ms};
}

/* A stored note as it was said, by whom and of when. */
static struct told told_then(struct observation *o, const struct memory *memory)
{
    json_t *fields = NULL;
    struct told told = {.said = {STR("user"), memory->summary},
                        .at_ms = memory->created_at_ms};

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        struct str words = text_of(fields, "statement");
        struct str who = text_of(fields, "source");

        if (words.len) {
            told.said.text = arena_str(o->arena, words);
        }
        if (who.len) {
            told.said.speaker = arena_str(o->arena, who);
        }
        told.has_time = clock_parse(text_of(fields, "until"), &told.until_ms);
        told.begins = json_is_true(json_object_get(fields, "begins"));
    }
    json_decref(fields);
    return told;
}

/* Was it of a day that was over when the other was said? What is so "since
 * May" has the time until it was said, and goes on. */
static bool is_over(const struct told *earlier, const struct told *later)
{
    return earlier->has_time && !earlier->begins &&
           earlier->until_ms <= later->at_ms &&
           earlier->until_ms != earlier->at_ms;
}

/* "She comes on Tuesdays", "she can't come this Tuesday": what is said of a
 * day to come leaves what always holds as it is. */
static bool is_exception(const struct told *earlier, const struct told *later)
{
    return (!earlier->has_time || earlier->begins) && later->has_time &&
           !later->begins && later->until_ms > later->at_ms;
}

static bool may_update(const struct held *held, const float *p)
{
    return held->n_shared >= SHARED && p[READER_NOTE_UPDATES] >= UPDATES;
}

static bool is_update(const struct held *held)
{
    const struct told *earlier = &held->earlier;
    const struct told *later = &held->later;

    float least = is_over(earlier, later) ? INSTEAD_OVER
                  : held->ended >= ENDED  ? INSTEAD_ENDED
                                          : INSTEAD;

    return held->instead >= least && !is_exception(earlier, later);
}

/* For people to look at: of what is over only what all but replaces it. */
static bool is_suspect(const struct held *held, const float *p)
{
    bool is_rival = held->instead < 0 ? !is_over(&held->earlier, &held->later)
                                      : held->instead >= INSTEAD;

    return is_rival && !held->is_later &&
           p[READER_NOTE_UPDATES] + p[READER_NOTE_CONTRADICTS] >=
               (held->n_shared >= SHARED ? SUSPECT : SUSPECT_ONE);
}

static enum clew_status load_pairs(struct observation *o,
                                   const struct keep_note *note,
                                   struct held *out, struct reader_pair *pairs,
                                   size_t *out_count, struct clew_error *err)
{
    struct found found[MAX_FOUND];
    struct told now = told_now(o, note);
    size_t n_found = 0;
    size_t n = 0;
    enum clew_status status = find_by_words(o, note, found, &n_found, err);

    for (size_t i = 0; status == CLEW_OK && i < n_found; i++) {
        struct lineage_mark mark = {.id = found[i].id};
        struct held held = {.n_shared = found[i].n_shared, .instead = -1};
        struct told then;

        status = memory_find(o->tx, o->arena, &found[i].id, &held.other, err);
        if (status == CLEW_OK) {
            status = lineage_find_seen(o->tx, o->arena, o->sight, &mark, 1,
                                       INT64_MAX, err);
        }
        if (status != CLEW_OK || mark.is_superseded) {
            continue;
        }
        then = told_then(o, &held.other);
        held.is_later = then.at_ms > now.at_ms;
        held.earlier = held.is_later ? now : then;
        held.later = held.is_later ? then : now;
        pairs[n].a = sense_said(o->arena, &held.earlier.said);
        pairs[n].b = sense_said(o->arena, &held.later.said);
        if (!then.said.text.s || !then.said.speaker.s || !pairs[n].a.s ||
            !pairs[n].b.s) {
            return clew_no_memory(err);
        }
        out[n++] = held;
    }
    *out_count = n;
    return status;
}

/* Of those that may be updates: if one asks for what the earlier says, is the
 * later the answer instead? Or is it how that ended? */
static enum clew_status read_instead(struct observation *o, struct held *held,
                                     const struct reader_pair *pairs,
                                     const struct reader_verdict *verdicts,
                                     size_t n, struct clew_error *err)
{
    struct reader_pair asked[MAX_COMPARED];
    struct reader_pair told[MAX_COMPARED];
    struct reader_verdict instead[MAX_COMPARED];
    struct reader_verdict ends[MAX_COMPARED];
    size_t at[MAX_COMPARED];
    size_t k = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n; i++) {
        if (may_update(&held[i], verdicts[i].p)) {
            at[k] = i;
            told[k] = pairs[i];
            asked[k].a = pairs[i].a;
            asked[k].b = sense_two_answers(o->arena, &held[i].earlier.said,
                                           &held[i].later.said);
            if (!asked[k++].b.s) {
                return clew_no_memory(err);
            }
        }
    }
    if (k > 0) {
        status =
            sense_compare(o->work->batch, READER_NEWER, asked, k, instead, err);
    }
    if (k > 0 && status == CLEW_OK) {
        status =
            sense_compare(o->work->batch, READER_ENDING, told, k, ends, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < k; i++) {
        held[at[i]].instead = instead[i].p[0];
        held[at[i]].ended = ends[i].p[READER_ENDING_RESOLVED];
    }
    return status;
}

/* The one that it replaces: of two that it may replace that which shares more
 * with it, if none holds instead of another more surely; else it is not said
 * which is meant. They come as they share most. */
static const struct held *find_refined(const struct held *held, size_t n)
{
    const struct held *first = NULL;

    for (size_t i = 0; i < n; i++) {
        if (held[i].is_later || !is_update(&held[i])) {
            continue;
        }
        if (first && held[i].instead > first->instead) {
            return NULL;
        }
        first = first ? first : &held[i];
    }
    return first;
}

static bool meet(const struct memory_ref *a, const struct memory_ref *b)
{
    return uuid_eq(&a->chat_id, &b->chat_id) && a->first_seq <= b->last_seq &&
           b->first_seq <= a->last_seq;
}

/* Was it said of what this turn ended? How a thing ended is no rival of how it
 * began: both held, and the effort says both. */
static enum clew_status is_settled(struct observation *o,
                                   const struct memory *other, bool *out,
                                   struct clew_error *err)
{
    const struct updates *updates = o->work->updates;
    struct uuid ids[MAX_ENDED + 1] = {other->id};
    struct memory_ref *refs = NULL;
    struct uuid *owners = NULL;
    size_t n_refs = 0;
    size_t n = 1;
    enum clew_status status;

    *out = false;
    for (size_t i = 0; i < updates->n_memories && n <= MAX_ENDED; i++) {
        const struct memory_update *update = &updates->memories[i];

        if (str_eq(update->type, STR("effort")) &&
            (str_eq(update->status, STR("resolved")) ||
             str_eq(update->status, STR("abandoned")))) {
            ids[n++] = update->id;
        }
    }
    if (n == 1) {
        return CLEW_OK;
    }
    status = memory_refs(o->tx, o->arena, ids, n, &owners, &refs, &n_refs, err);
    for (size_t i = 0; status == CLEW_OK && i < n_refs; i++) {
        for (size_t k = 0; k < n_refs; k++) {
            *out |= uuid_eq(&owners[i], &other->id) &&
                    !uuid_eq(&owners[k], &other->id) &&
                    meet(&refs[i], &refs[k]);
        }
    }
    return status;
}

static enum clew_status suspect(struct observation *o,
                                const struct memory *older,
                                struct keep_near *out, struct clew_error *err)
{
    bool is_done = false;
    enum clew_status status = is_settled(o, older, &is_done, err);

    if (status == CLEW_OK && !is_done) {
        add_suspect(out, older);
    }
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
    const struct held *refined = NULL;
    size_t n = 0;
    enum clew_status status = load_pairs(o, note, held, pairs, &n, err);

    if (status == CLEW_OK && n > 0) {
        status =
            sense_compare(o->work->batch, READER_NOTE, pairs, n, verdicts, err);
    }
    if (status == CLEW_OK) {
        status = read_instead(o, held, pairs, verdicts, n, err);
    }
    if (status == CLEW_OK) {
        refined = find_refined(held, n);
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        const float *p = verdicts[i].p;

        if (p[READER_NOTE_SAME] >= SAME) {
            out->same = held[i].other.id;
        } else if (is_update(&held[i]) && held[i].is_later) {
            out->successor = held[i].other.id;
        } else if (&held[i] == refined) {
            out->refined = held[i].other.id;
        } else if (is_suspect(&held[i], p)) {
            status = suspect(o, &held[i].other, out, err);
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
