/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.c - what a turn says that is worth keeping becomes memories.
 *
 * The words are the speaker's own (select.h). The same said again is the same
 * memory with one more line it comes from; what replaces an older note refines
 * it; what may replace one is told, and listed as a conflict, and nothing
 * changes.
 */
#include "engine/keep/keep_internal.h"

#include "base/json.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/keep/keep_key.h"
#include "engine/keep/keep_near.h"
#include "engine/memory/lineage.h"
#include "engine/memory/note.h"
#include "engine/understand/observation.h"

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

/* What is known of a note beside its summary. */
static struct str fields_of(struct observation *o, const struct keep_note *kept)
{
    const struct select_note *note = kept->note;
    json_t *fields = json_object();
    bool is_ok =
        fields &&
        json_set_real(fields, "confidence", (double)note->confidence) &&
        json_set_str(fields, "source", sense_name(&o->turn)) &&
        json_set_str(fields, "statement", kept->words);

    if (is_ok && note->has_time) {
        is_ok = json_set_time(fields, "when", &note->from_ms) &&
                json_set_time(fields, "until", &note->to_ms) &&
                (!note->begins || json_set_bool(fields, "begins", true));
    }
    if (is_ok && note->is_hedged) {
        is_ok = json_set_bool(fields, "hedged", true);
    }
    if (is_ok && kept->has_slot) {
        is_ok = set_slot(fields, &kept->slot);
    }
    if (!is_ok) {
        json_decref(fields);
        return (struct str){0};
    }
    return note_json(o->arena, fields);
}

/* --- one note --------------------------------------------------------------
 */

/* The words it is found by: the rarest of its own. */
static void find_stems(const struct analysis *a, struct keep_note *out)
{
    for (size_t i = 0; i < a->n_keywords && out->n_stems < KEEP_WORDS; i++) {
        if (str_ifind(out->words, a->keywords[i].word, 0) != SIZE_MAX) {
            out->stems[out->n_stems++] = a->keywords[i].stem;
        }
    }
}

static enum clew_status tell(struct observation *o, const struct memory *memory,
                             const struct keep_near *near,
                             struct clew_error *err)
{
    enum clew_status status = note_notice(
        o->work, err, "[%.*s%s] %.*s", (int)memory->type.len, memory->type.s,
        uuid_is_nil(&near->refined) ? "" : ":refined", (int)memory->summary.len,
        memory->summary.s);

    for (size_t i = 0; i < near->n_suspects && status == CLEW_OK; i++) {
        status = note_notice(
            o->work, err, "[suggestion] \"%.*s\" may replace \"%.*s\"",
            (int)memory->summary.len, memory->summary.s,
            (int)near->suspect_texts[i].len, near->suspect_texts[i].s);
    }
    return status;
}

static enum clew_status
add_keys(struct observation *o, const struct keep_note *kept,
         const struct keep_near *near, const struct uuid *statement,
         const struct memory *memory, struct clew_error *err)
{
    struct uuid words[KEEP_WORDS];
    enum clew_status status =
        keep_key_add(o, KEEP_KEY_STATEMENT, statement, 1, &memory->id, err);

    if (status == CLEW_OK && kept->has_slot) {
        struct uuid digest = keep_key_slot(memory->user_id, &kept->slot);

        status = keep_key_add(o, KEEP_KEY_SLOT, &digest, 1, &memory->id, err);
    }
    for (size_t i = 0; i < kept->n_stems; i++) {
        words[i] = keep_key_word(memory->user_id, kept->stems[i]);
    }
    if (status == CLEW_OK) {
        status = keep_key_add(o, KEEP_KEY_WORD, words, kept->n_stems,
                              &memory->id, err);
    }
    return status == CLEW_OK ? keep_key_add(o, KEEP_KEY_SUSPECT, near->suspects,
                                            near->n_suspects, &memory->id, err)
                             : status;
}

enum clew_status keep_insert(struct observation *o,
                             const struct keep_note *kept,
                             const struct keep_near *near, struct uuid *out_id,
                             struct clew_error *err)
{
    const struct select_note *note = kept->note;
    struct memory memory =
        note_memory(o->work, select_note_type(note), "active", note->summary);
    struct uuid statement = keep_key_statement(
        memory.user_id, select_note_type(note), note->summary);
    enum clew_status status;

    *out_id = memory.id;
    memory.tags = note_tags(o->arena, note->tags, note->n_tags);
    memory.fields = fields_of(o, kept);
    if (!memory.tags.s || !memory.fields.s) {
        return clew_no_memory(err);
    }
    if (note->keep == READER_KEEP_EVENT && note->has_time && !kept->has_slot) {
        memory.expires_at_ms = select_expiry_ms(note->from_ms, note->to_ms);
    }
    status =
        note_insert(o->work, &memory, 0, uuid_or_null(&near->refined), err);
    if (status == CLEW_OK && !uuid_is_nil(&near->successor)) {
        status = memory_add_source(o->tx, &near->successor, &memory.id, err);
    }
    if (status == CLEW_OK) {
        status = add_keys(o, kept, near, &statement, &memory, err);
    }
    return status == CLEW_OK ? tell(o, &memory, near, err) : status;
}

/* Said again: one more line it comes from. */
static enum clew_status keep_again(struct observation *o, const struct uuid *id,
                                   struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory_ref ref = {turn->chat_id, turn->seq, turn->seq};

    return memory_add_ref(o->tx, id, &ref, err);
}

struct keep_note keep_note_of(struct observation *o,
                              const struct select_note *note)
{
    struct keep_note kept = {
        .note = note,
        .words = str_sub(o->turn.text, note->cite.from, note->cite.to)};

    kept.has_slot = o->turn.role == TALK_USER &&
                    slot_of(o->arena, kept.words, o->said.speaker, &kept.slot);
    find_stems(&o->analysis, &kept);
    return kept;
}

enum clew_status keep_note(struct observation *o,
                           const struct select_note *note, struct uuid *out_id,
                           bool *out_new, struct clew_error *err)
{
    struct uuid digest = keep_key_statement(
        o->work->turn->user_id, select_note_type(note), note->summary);
    struct keep_note kept = keep_note_of(o, note);
    struct keep_near near;
    struct uuid *known = NULL;
    size_t n_known = 0;
    enum clew_status status =
        keep_key_find(o, KEEP_KEY_STATEMENT, &digest, 1, &known, &n_known, err);

    if (status == CLEW_OK && n_known > 0) {
        struct lineage_mark mark = {.id = known[0]};

        status = lineage_find_seen(o->tx, o->arena, o->sight, &mark, 1,
                                   INT64_MAX, err);
        n_known = mark.is_superseded ? 0 : 1; /* what was so is so again */
    }
    *out_new = false;
    if (status == CLEW_OK && n_known == 0) {
        status = keep_near_find(o, &kept, &near, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (n_known > 0 || !uuid_is_nil(&near.same)) {
        *out_id = n_known > 0 ? known[0] : near.same;
        return keep_again(o, out_id, err);
    }
    *out_new = true;
    return keep_insert(o, &kept, &near, out_id, err);
}

static bool is_same_speaker(const struct talk_line *a,
                            const struct talk_line *b)
{
    return str_eq(sense_name(a), sense_name(b));
}

static enum clew_status notes_of(struct observation *o,
                                 struct select_note **out, size_t *out_count,
                                 struct clew_error *err)
{
    struct select_input input = {.turn = &o->select, .matter = o->matter};

    if (o->n_previous > 0) {
        const struct talk_line *before = &o->previous[0];

        input.before = before->text;
        input.before_by = sense_name(before);
        input.is_before_own = is_same_speaker(before, &o->turn);
        input.is_before_named = before->speaker.len > 0;
    }
    if (o->n_previous > 1) {
        const struct talk_line *earlier = &o->previous[1];

        input.earlier = earlier->text;
        input.is_earlier_own = is_same_speaker(earlier, &o->turn);
        input.is_before_named &=
            input.is_earlier_own || is_same_speaker(earlier, &o->previous[0]);
    }
    return select_notes(o->arena, &input, out, out_count) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status keep_foresee(struct turn_work *work, struct clew_error *err)
{
    struct observation *o = work->observation;
    struct select_note *notes = NULL;
    size_t count = 0;
    enum clew_status status = o ? notes_of(o, &notes, &count, err) : CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct keep_note kept = keep_note_of(o, &notes[i]);
        struct keep_near near;

        status = keep_near_find(o, &kept, &near, err);
    }
    return status;
}

enum clew_status keep_observe(struct turn_work *work, struct clew_error *err)
{
    struct observation *o = work->observation;
    struct select_note *notes = NULL;
    size_t count = 0;
    enum clew_status status = o ? notes_of(o, &notes, &count, err) : CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct uuid id;
        bool is_new;

        status = keep_note(o, &notes[i], &id, &is_new, err);
    }
    return status;
}
