/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c - rows of what a model found. See apply.h.
 */
#include "engine/llmread/apply.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/chat/place.h"
#include "engine/chatlink/chatlink_told.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/effort/effort.h"
#include "engine/effort/effort_told.h"
#include "engine/keep/keep_told.h"
#include "engine/llmread/found.h"
#include "engine/llmread/stretch.h"
#include "engine/memory/lineage.h"
#include "engine/read/reading.h"
#include "engine/understand/observation.h"

#include <ctype.h>

/* A title and a resolution are lines. */
#define TITLE_BYTES 160u
#define ENDING_BYTES 480u
/* What was checked word by word is believed so far: no later guess undoes it,
 * a person can. */
#define SURE 0.95f
/* A note that the reader believes in less is dropped. Chosen on a recording of
 * the dev worlds: below it lay 48 of 85 of a model's notes on turns that are
 * worth none, and 8 of 192 good ones. */
#define LEAST_WORTH 0.2f
/* What an answer makes is numbered from here, by the answer. */
#define FIRST_MADE ((uint64_t)1 << 62)
#define KEY_BYTES 5
#define MADE_BITS 16

struct applying {
    struct batch_work *batch;
    const struct stretch *stretch;
    const struct found *found;
    struct place place;
    struct placement placement;
    struct updates updates;
    uint64_t n_made;
    int64_t now_ms;
    struct uuid *efforts; /* of found->efforts, as they are known here */
    struct uuid *notes;   /* of found->notes, likewise */
    struct uuid *gone;    /* of found->removed */
    struct apply_counts *counts;
    /* the turn at hand */
    struct turn turn;
    struct reading reading;
    struct turn_work work;
};

/* The words on one line. */
static struct str line_of(struct arena *arena, struct str words, size_t max)
{
    char *out = arena_alloc(arena, words.len + 1);
    size_t n = 0;

    if (!out) {
        return (struct str){NULL, 0};
    }
    words = str_trim(words);
    for (size_t i = 0; i < words.len; i++) {
        bool is_space = isspace((unsigned char)words.s[i]);

        if (!is_space || (n > 0 && out[n - 1] != ' ')) {
            out[n++] = is_space ? ' ' : words.s[i];
        }
    }
    out[n] = '\0';
    return (struct str){out, utf8_cut((struct str){out, n}, max)};
}

static struct str words_of(const struct stretch_turn *turn,
                           const struct select_cite *cite)
{
    return str_sub(turn->said, cite->from, cite->to);
}

/* Understand the turn once more, by itself: nothing is kept from turn to turn.
 */
static enum clew_status look_at(struct applying *a,
                                const struct stretch_turn *turn,
                                struct clew_error *err)
{
    struct batch_work *batch = a->batch;
    enum clew_status status;

    a->turn = turn->turn;
    a->reading = (struct reading){0};
    batch->talks = NULL;
    batch->efforts = NULL;
    a->work = (struct turn_work){.batch = batch,
                                 .turn = &a->turn,
                                 .reading = &a->reading,
                                 .placement = &a->placement,
                                 .updates = &a->updates,
                                 .origin = "llm"};
    status =
        reading_of(batch->engine, batch->arena, &a->turn, &a->reading, err);
    if (status == CLEW_OK) {
        status = understand_again(&a->work, err);
    }
    a->work.n_made = a->n_made;
    return status;
}

static enum clew_status close_row(struct applying *a, const struct uuid *id,
                                  struct clew_error *err)
{
    struct effort effort;
    enum clew_status status =
        effort_find(a->batch->tx, a->batch->arena, id, &effort, err);

    if (status != CLEW_OK) {
        return status;
    }
    effort.is_open = false;
    effort.state = EFFORT_COLLAPSED;
    return effort_update(a->batch->tx, &effort, err);
}

static enum clew_status take_back(struct applying *a, const struct uuid *id,
                                  struct clew_error *err)
{
    struct memory memory;
    enum clew_status status =
        memory_find(a->batch->tx, a->batch->arena, id, &memory, err);

    if (status == CLEW_OK && str_eq(memory.type, STR("effort"))) {
        status = close_row(a, id, err);
    }
    if (status == CLEW_OK) {
        status = lineage_take_back(a->batch, &memory, memory.created_at_ms,
                                   a->now_ms, err);
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status; /* forgotten since */
}

static enum clew_status open_effort(struct applying *a, size_t i,
                                    struct clew_error *err)
{
    const struct found_effort *found = &a->found->efforts[i];
    struct str words = line_of(
        a->batch->arena, words_of(found->turn, &found->cite), TITLE_BYTES);
    bool is_new = false;
    enum clew_status status;

    if (!words.s) {
        return clew_no_memory(err);
    }
    status = effort_told_open(a->work.observation, words, found->title, SURE,
                              &a->efforts[i], &is_new, err);
    a->counts->opened += is_new;
    return status;
}

/* Those that were known, by the reader too, get the names the model has for
 * them: the last word, since an end may change them. */
static enum clew_status name_efforts(struct applying *a, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < a->found->n_efforts && status == CLEW_OK; i++) {
        struct str title = a->found->efforts[i].title;
        bool has_changed = false;

        if (title.len == 0 || uuid_is_nil(&a->efforts[i])) {
            continue;
        }
        status = effort_told_name(a->batch, &a->efforts[i], title, &has_changed,
                                  err);
        a->counts->named += has_changed;
        if (status == CLEW_NOT_FOUND) {
            status = CLEW_OK; /* forgotten since */
        }
    }
    return status;
}

static bool do_meet(const struct select_cite *a, uint32_t from, uint32_t to)
{
    return a->from < to && from < a->to;
}

/* That the words are worth keeping, by the reader: of the sentences they stand
 * in, the best. */
static float worth_of(const struct observation *o,
                      const struct select_cite *cite)
{
    float worth = 0;

    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        const struct sentence *s = &o->analysis.sentences[i];
        float keep = 1 - o->read[i].keep[READER_KEEP_NONE];

        if (do_meet(cite, s->span.from, s->span.to)) {
            worth = keep > worth ? keep : worth;
        }
    }
    return worth;
}

/* Are most of its letters those of English? */
static bool is_latin(struct str words)
{
    size_t n_latin = 0;
    size_t n_other = 0;

    for (size_t i = 0; i < words.len; i++) {
        n_latin += isalpha((unsigned char)words.s[i]) != 0;
        n_other += (unsigned char)words.s[i] >= 0x80;
    }
    return n_latin >= n_other;
}

/* May the reader's judgement drop it? Not what a person wants done for good,
 * what takes the place of something, or what the end of an effort rests on; nor
 * where the reader knows little of the language. */
static bool is_doubtful(const struct applying *a, const struct found_note *note)
{
    enum text_language language = a->work.observation->analysis.tokens.language;

    if (!a->batch->engine->reader || note->keep == READER_KEEP_INSTRUCTION ||
        note->n_updates > 0 || note->updates_own > 0 ||
        !is_latin(words_of(note->turn, &note->cite)) ||
        (language != TEXT_ENGLISH && language != TEXT_UNKNOWN)) {
        return false;
    }
    for (size_t i = 0; i < a->found->n_efforts; i++) {
        const struct found_effort *effort = &a->found->efforts[i];

        if (effort->end == note->turn &&
            do_meet(&effort->end_cite, note->cite.from, note->cite.to)) {
            return false;
        }
    }
    return true;
}

/* The notes that it takes the place of, as they are known here. */
static size_t find_replaced(const struct applying *a,
                            const struct found_note *found, struct uuid *out)
{
    size_t n = 0;

    for (; n < found->n_updates; n++) {
        out[n] = found->updates[n]->memory.id;
    }
    if (found->updates_own > 0 &&
        !uuid_is_nil(&a->notes[found->updates_own - 1])) {
        out[n++] = a->notes[found->updates_own - 1];
    }
    return n;
}

/* Words of the same turn that are notes of their own. */
static size_t find_others(const struct applying *a, size_t i,
                          struct select_cite *out)
{
    const struct found *found = a->found;
    size_t n = 0;

    for (size_t k = 0; k < found->n_notes; k++) {
        if (k != i && found->notes[k].turn == found->notes[i].turn) {
            out[n++] = found->notes[k].cite;
        }
    }
    return n;
}

static enum clew_status keep_note(struct applying *a, size_t i,
                                  struct clew_error *err)
{
    const struct found_note *found = &a->found->notes[i];
    struct uuid replaced[FOUND_UPDATES + 1];
    struct select_cite *others =
        arena_zero(a->batch->arena, a->found->n_notes, sizeof(*others));
    struct keep_told told = {.keep = found->keep,
                             .cite = found->cite,
                             .aside = found->about,
                             .is_hedged = found->is_hedged,
                             .confidence = SURE,
                             .updates = replaced,
                             .others = others,
                             .gone = a->gone,
                             .n_gone = a->found->n_removed};
    struct keep_told_row row;
    enum clew_status status;

    if (!others) {
        return clew_no_memory(err);
    }
    if (is_doubtful(a, found) &&
        worth_of(a->work.observation, &found->cite) < LEAST_WORTH) {
        a->counts->worthless++;
        return CLEW_OK;
    }
    told.n_updates = find_replaced(a, found, replaced);
    told.n_others = find_others(a, i, others);
    status = keep_told(a->work.observation, &told, &row, err);
    if (status != CLEW_OK) {
        return status;
    }
    a->notes[i] = row.id;
    a->counts->kept += row.fate == KEEP_NEW;
    a->counts->known += row.fate == KEEP_KNOWN;
    a->counts->refined += row.fate == KEEP_REFINED || row.fate == KEEP_INSTEAD;
    for (size_t k = 0; k < row.n_instead && status == CLEW_OK; k++) {
        status = take_back(a, &row.instead[k], err);
    }
    return status;
}

/* How an effort stands; its end's turn is the turn at hand. */
static enum clew_status stand(struct applying *a, size_t i,
                              struct clew_error *err)
{
    const struct found_effort *found = &a->found->efforts[i];
    struct effort_told told = {.status = found->status, .confidence = SURE};
    bool has_changed = false;
    enum clew_status status;

    if (found->end) {
        told.resolution =
            line_of(a->batch->arena, words_of(found->end, &found->end_cite),
                    ENDING_BYTES);
        if (!told.resolution.s) {
            return clew_no_memory(err);
        }
    }
    status = effort_told_stand(a->work.observation, &a->efforts[i], &told,
                               &has_changed, err);
    a->counts->ended += has_changed;
    return status == CLEW_NOT_FOUND ? CLEW_OK : status; /* forgotten since */
}

/* One that is open after all ended by a guess from these turns. */
static bool is_reopened(const struct applying *a, size_t i)
{
    const struct found_effort *found = &a->found->efforts[i];
    const struct stretch *s = a->stretch;

    return found->known && !found->end &&
           found->known->memory.updated_at_ms >= s->from_ms &&
           found->known->memory.updated_at_ms <= s->until_ms;
}

/* What a stretch says of a turn, in this order: an ending may be of what the
 * same turn opened, and a note may serve it. */
enum step { OPENINGS, NOTES, ENDINGS, STEPS };

static bool is_due(const struct applying *a, enum step step, size_t i,
                   const struct stretch_turn *turn, bool is_last)
{
    const struct found *found = a->found;

    if (step == OPENINGS) {
        return found->efforts[i].turn == turn;
    }
    if (step == NOTES) {
        return found->notes[i].turn == turn;
    }
    return found->efforts[i].end == turn || (is_last && is_reopened(a, i));
}

static enum clew_status apply_item(struct applying *a, enum step step, size_t i,
                                   struct clew_error *err)
{
    enum clew_status status = step == OPENINGS ? open_effort(a, i, err)
                              : step == NOTES  ? keep_note(a, i, err)
                                               : stand(a, i, err);

    a->n_made = a->work.n_made;
    return status;
}

/* What one turn opens, says and ends; it is looked up when it is first
 * needed. */
static enum clew_status apply_turn(struct applying *a,
                                   const struct stretch_turn *turn,
                                   bool is_last, struct clew_error *err)
{
    bool is_seen = false;
    enum clew_status status = CLEW_OK;

    for (enum step step = OPENINGS; step < STEPS; step++) {
        size_t count = step == NOTES ? a->found->n_notes : a->found->n_efforts;

        for (size_t i = 0; i < count && status == CLEW_OK; i++) {
            if (!is_due(a, step, i, turn, is_last)) {
                continue;
            }
            if (!is_seen) {
                status = look_at(a, turn, err);
                is_seen = true;
            }
            if (status == CLEW_OK) {
                status = apply_item(a, step, i, err);
            }
        }
    }
    return status;
}

/* --- what is none ----------------------------------------------------------
 */

static bool is_confirmed(const struct applying *a, const struct uuid *id)
{
    for (size_t i = 0; i < a->found->n_notes; i++) {
        if (uuid_eq(&a->notes[i], id)) {
            return true;
        }
    }
    for (size_t i = 0; i < a->found->n_efforts; i++) {
        if (uuid_eq(&a->efforts[i], id)) {
            return true;
        }
    }
    return false;
}

/* --- earlier chats ---------------------------------------------------------
 */

static const struct found_chat *named(const struct found *found,
                                      const struct stretch_chat *chat)
{
    for (size_t i = 0; i < found->n_chats; i++) {
        if (found->chats[i].chat == chat) {
            return &found->chats[i];
        }
    }
    return NULL;
}

/* What was named is linked; what was shown and not named is not, where the
 * model can be believed so far. */
static enum clew_status link_chats(struct applying *a, struct str model,
                                   struct clew_error *err)
{
    const struct stretch *s = a->stretch;
    struct chatlink_told *items =
        arena_zero(a->batch->arena, s->n_chats + 1, sizeof(*items));
    struct chatlink_telling telling = {.chat_id = s->chat_id,
                                       .items = items,
                                       .model = model,
                                       .confidence = SURE,
                                       .now_ms = a->now_ms};
    struct chatlink_told_counts counts;
    enum clew_status status;

    if (!items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < s->n_chats; i++) {
        const struct found_chat *found = named(a->found, &s->chats[i]);
        struct chatlink_told *told = &items[telling.count];

        if (!found && !a->found->is_every_chat) {
            continue;
        }
        *told = (struct chatlink_told){
            .other_chat_id = s->chats[i].id,
            .is_link = found != NULL,
            .turn =
                found ? &found->turn->turn : &s->turns[s->n_turns - 1].turn};
        if (found) {
            told->quote =
                line_of(a->batch->arena, words_of(found->turn, &found->cite),
                        ENDING_BYTES);
        }
        telling.count++;
    }
    if (telling.count == 0) {
        return CLEW_OK;
    }
    status = chatlink_told(a->batch, &telling, &counts, err);
    a->counts->linked = counts.linked;
    a->counts->parted = counts.parted;
    return status;
}

/* --- the whole -------------------------------------------------------------
 */

static uint64_t first_made(struct str key)
{
    unsigned char bytes[KEY_BYTES] = {0};
    uint64_t n = 0;

    if (key.len < 2 * KEY_BYTES ||
        !hex_parse(str_sub(key, 0, 2 * KEY_BYTES), bytes, sizeof(bytes))) {
        return FIRST_MADE;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        n = n << 8 | bytes[i];
    }
    return FIRST_MADE | n << MADE_BITS;
}

static enum clew_status begin(struct applying *a, struct clew_error *err)
{
    const struct found *found = a->found;
    struct arena *arena = a->batch->arena;
    enum clew_status status;

    a->efforts = arena_zero(arena, found->n_efforts + 1, sizeof(*a->efforts));
    a->notes = arena_zero(arena, found->n_notes + 1, sizeof(*a->notes));
    a->gone = arena_zero(arena, found->n_removed + 1, sizeof(*a->gone));
    if (!a->efforts || !a->notes || !a->gone) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < found->n_removed; i++) {
        a->gone[i] = found->removed[i]->memory.id;
    }
    for (size_t i = 0; i < found->n_efforts; i++) {
        if (found->efforts[i].known) {
            a->efforts[i] = found->efforts[i].known->memory.id;
        }
    }
    status = place_begin(&a->place, a->batch->engine, a->batch->tx, arena,
                         &a->stretch->chat_id, 1, err);
    if (status == CLEW_OK) {
        a->batch->place = &a->place;
        a->placement.rule = PLACE_NAMED;
        a->placement.slot = place_find(&a->place, &a->stretch->chat_id);
    }
    return status;
}

enum clew_status apply_found(struct batch_work *batch,
                             const struct stretch *stretch,
                             const struct found *found, struct str key,
                             struct str model, int64_t now_ms,
                             struct apply_counts *out, struct clew_error *err)
{
    struct applying a = {.batch = batch,
                         .stretch = stretch,
                         .found = found,
                         .n_made = first_made(key),
                         .now_ms = now_ms,
                         .counts = out};
    enum clew_status status = begin(&a, err);

    *out = (struct apply_counts){0};
    for (size_t i = 0; i < stretch->n_turns && status == CLEW_OK; i++) {
        if (stretch->turns[i].is_own) {
            status = apply_turn(&a, &stretch->turns[i],
                                i + 1 == stretch->n_turns, err);
        }
    }
    for (size_t i = 0; i < found->n_removed && status == CLEW_OK; i++) {
        if (!is_confirmed(&a, &a.gone[i])) {
            status = take_back(&a, &a.gone[i], err);
            out->removed += status == CLEW_OK;
        }
    }
    if (status == CLEW_OK) {
        status = name_efforts(&a, err);
    }
    if (status == CLEW_OK) {
        status = place_end(&a.place, err);
    }
    batch->place = NULL; /* it ends with this function */
    return status == CLEW_OK ? link_chats(&a, model, err) : status;
}
