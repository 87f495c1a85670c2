/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.c - an answer held against the words. See found.h.
 */
#include "engine/llmread/found.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/llmread/quote.h"
#include "engine/llmread/stretch.h"
#include "talk/effort_words.h"

#include <string.h>

/* Text of a label or of `about` that is looked at. */
#define LABEL_BYTES 64u
#define ABOUT_BYTES 160u
#define TITLE_BYTES 160u
#define FIELD_BYTES (64u * 1024)
/* All that was said and shown, for words beside quotes. */
#define SAID_BYTES (256u * 1024)
/* A few stars in a row: somebody's secret was there. */
#define MASKED "****"

struct check {
    struct arena *arena;
    const struct stretch *stretch;
    struct found *out;
    struct str said; /* all that was said or is known */
    size_t n_items;  /* of the list at hand, so far */
};

const char *found_fault_name(enum found_fault fault)
{
    static const char *const names[] = {"turn",  "quote", "words", "machine",
                                        "type",  "label", "about", "update",
                                        "trust", "worth"};

    _Static_assert(sizeof(names) / sizeof(names[0]) == FOUND_FAULTS,
                   "every fault has a name");
    return names[fault];
}

static void blame(struct check *r, enum found_fault fault)
{
    r->out->faults[fault]++;
}

/* A text of an item; "" if it is absent or something else. */
static struct str text_of(const json_t *item, const char *field, size_t max)
{
    struct str out = json_text_at(item, field);

    return out.s && out.len <= max ? str_trim(out) : STR("");
}

/* --- words -----------------------------------------------------------------
 */

/* The turn and the words of it that an item cites. */
struct cited {
    const struct stretch_turn *turn;
    struct select_cite cite;
};

/* A program's words, or a masked secret? */
static bool is_machine(const struct stretch_turn *turn,
                       const struct select_cite *cite)
{
    struct str words = str_sub(turn->said, cite->from, cite->to);

    return str_find(words, STR(MASKED), 0) != SIZE_MAX ||
           quote_is_code(turn->said, cite->from);
}

static enum clew_status cite(struct check *r, const json_t *item,
                             const char *turn_field, const char *quote_field,
                             struct cited *out, bool *out_ok)
{
    struct str quote = text_of(item, quote_field, FIELD_BYTES);
    bool is_found = false;
    enum clew_status status;

    *out_ok = false;
    out->turn =
        stretch_turn_of(r->stretch, text_of(item, turn_field, LABEL_BYTES));
    if (!out->turn) {
        blame(r, FOUND_NO_TURN);
        return CLEW_OK;
    }
    status =
        quote_find(r->arena, out->turn->said, quote, &is_found, &out->cite);
    if (status != CLEW_OK || !is_found) {
        if (status == CLEW_OK) {
            blame(r, FOUND_NO_QUOTE);
        }
        return status;
    }
    if (is_machine(out->turn, &out->cite)) {
        blame(r, FOUND_MACHINE);
        return CLEW_OK;
    }
    *out_ok = true;
    return CLEW_OK;
}

/* Do the words say anything, by themselves ("take it") or with what they are
 * about, and not a whole letter? */
static enum clew_status tells(struct arena *arena, struct str words,
                              struct str about, bool *out)
{
    struct effort_words of;
    enum clew_status status = effort_words_of(arena, words, &of);

    *out = words.len <= FOUND_QUOTE_BYTES;
    if (status == CLEW_OK && of.count == 0) {
        status = effort_words_of(arena, about, &of);
    }
    *out = *out && status == CLEW_OK && of.count > 0;
    return status;
}

/* --- notes -----------------------------------------------------------------
 */

static bool keep_of(struct str type, enum reader_keep *out)
{
    for (int i = READER_KEEP_FACT; i < READER_KEEPS; i++) {
        static const char *const names[] = {"none",  "fact",     "preference",
                                            "event", "decision", "instruction",
                                            "report"};

        if (str_eq(type, str_of(names[i]))) {
            *out = (enum reader_keep)i;
            return true;
        }
    }
    return false;
}

/* The note of the same answer that a label names: "#2" is the second. Its place
 * among those that are believed, from 1 on; 0: it is none of them. */
static size_t own_of(const struct check *r, struct str label)
{
    int64_t number = 0;

    if (label.len < 2 || label.s[0] != '#' ||
        !str_parse_int(str_sub(label, 1, label.len), &number)) {
        return 0;
    }
    for (size_t i = 0; i < r->out->n_notes; i++) {
        if (r->out->notes[i].item == (size_t)number) {
            return i + 1;
        }
    }
    return 0;
}

/* Does the note speak of what the other says, and after it? */
static enum clew_status may_replace(struct check *r, struct str words,
                                    const struct found_note *note,
                                    const struct stretch_known *known,
                                    bool *out)
{
    const char *all = arena_printf(r->arena, "%.*s %.*s", (int)note->about.len,
                                   note->about.s, (int)words.len, words.s);
    enum clew_status status =
        all ? effort_words_meet(r->arena, str_of(all), known->memory.summary,
                                out)
            : CLEW_NO_MEMORY;

    if (status == CLEW_OK && !*out) { /* stems of two languages do not meet */
        status = quote_meet(r->arena, str_of(all), known->memory.summary, out);
    }
    *out =
        *out && known->memory.created_at_ms <= note->turn->turn.created_at_ms;
    return status;
}

/* One that it replaces, if it may. */
static enum clew_status find_update(struct check *r, struct str label,
                                    struct str words, struct found_note *note)
{
    const struct stretch_known *known =
        stretch_find(r->stretch->notes, r->stretch->n_notes, label);
    bool is_ok = false;
    enum clew_status status;

    if (label.len == 0) {
        return CLEW_OK;
    }
    if (!known) {
        note->updates_own = own_of(r, label);
        if (note->updates_own == 0) {
            blame(r, FOUND_NO_LABEL);
        }
        return CLEW_OK;
    }
    status = may_replace(r, words, note, known, &is_ok);
    if (status == CLEW_OK && !is_ok) {
        blame(r, FOUND_NO_UPDATE);
    } else if (note->n_updates < FOUND_UPDATES) {
        note->updates[note->n_updates++] = known;
    }
    return status;
}

/* All of them: a label, or a list of such. */
static enum clew_status find_updates(struct check *r, const json_t *item,
                                     struct str words, struct found_note *note)
{
    const json_t *list = json_object_get(item, "updates");
    enum clew_status status = CLEW_OK;

    if (!json_is_array(list)) {
        return find_update(r, text_of(item, "updates", LABEL_BYTES), words,
                           note);
    }
    for (size_t i = 0;
         i < json_array_size(list) && i < FOUND_UPDATES && status == CLEW_OK;
         i++) {
        const json_t *value = json_array_get(list, i);
        struct str label = json_text(value);

        status = find_update(
            r, label.s && label.len <= LABEL_BYTES ? str_trim(label) : STR(""),
            words, note);
    }
    return status;
}

/* What the words are about, as far as somebody said so. */
static enum clew_status read_about(struct check *r, const json_t *item,
                                   struct str words, struct str *out)
{
    enum clew_status status = CLEW_OK;

    *out = text_of(item, "about", ABOUT_BYTES);
    if (!quote_is_said(r->said, *out)) {
        blame(r, FOUND_NOT_SAID);
        status = quote_keep_said(r->arena, r->said, *out, out);
    }
    if (status == CLEW_OK && quote_is_said(words, *out)) {
        *out = STR(""); /* the words say it themselves */
    }
    return status;
}

static enum clew_status read_note(struct check *r, const json_t *item)
{
    struct found_note *note = &r->out->notes[r->out->n_notes];
    struct cited cited;
    struct str words;
    bool is_ok = false;
    enum clew_status status = cite(r, item, "turn", "quote", &cited, &is_ok);

    if (status != CLEW_OK || !is_ok) {
        return status;
    }
    *note = (struct found_note){
        .turn = cited.turn, .cite = cited.cite, .item = r->n_items};
    words = str_sub(cited.turn->said, cited.cite.from, cited.cite.to);
    status = read_about(r, item, words, &note->about);
    if (status == CLEW_OK) {
        status = tells(r->arena, words, note->about, &is_ok);
    }
    if (status != CLEW_OK || !is_ok) {
        blame(r, FOUND_NO_WORDS);
        return status;
    }
    if (!keep_of(text_of(item, "type", LABEL_BYTES), &note->keep)) {
        blame(r, FOUND_NO_TYPE);
        return CLEW_OK;
    }
    note->is_hedged = json_is_true(json_object_get(item, "hedged"));
    status = find_updates(r, item, words, note);
    r->out->n_notes += status == CLEW_OK;
    return status;
}

/* --- efforts ---------------------------------------------------------------
 */

static const char *status_of(struct str text)
{
    static const char *const all[] = {"open", "resolved", "abandoned"};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (str_eq(text, str_of(all[i]))) {
            return all[i];
        }
    }
    return NULL;
}

/* What opens a new one: a person's words that name something. */
static enum clew_status read_opening(struct check *r, const json_t *item,
                                     struct found_effort *effort, bool *out_ok)
{
    struct cited cited;
    enum clew_status status = cite(r, item, "turn", "quote", &cited, out_ok);

    if (status != CLEW_OK || !*out_ok) {
        return status;
    }
    effort->turn = cited.turn;
    effort->cite = cited.cite;
    if (cited.turn->turn.role != TURN_USER) {
        blame(r, FOUND_NO_TURN);
        *out_ok = false;
        return CLEW_OK;
    }
    status = tells(r->arena,
                   str_sub(cited.turn->said, cited.cite.from, cited.cite.to),
                   STR(""), out_ok);
    if (status == CLEW_OK && !*out_ok) {
        blame(r, FOUND_NO_WORDS);
    }
    return status;
}

/* What ends one. People say it in words the beginning does not have: that both
 * are one matter is what the model is asked for. */
static enum clew_status read_ending(struct check *r, const json_t *item,
                                    struct found_effort *effort, bool *out_ok)
{
    struct cited cited;
    enum clew_status status =
        cite(r, item, "end_turn", "end_quote", &cited, out_ok);

    if (status != CLEW_OK || !*out_ok) {
        return status;
    }
    effort->end = cited.turn;
    effort->end_cite = cited.cite;
    if ((effort->turn && effort->turn->turn.seq > cited.turn->turn.seq) ||
        (effort->known && effort->known->memory.created_at_ms >
                              cited.turn->turn.created_at_ms)) {
        blame(r, FOUND_NO_TURN);
        *out_ok = false;
    }
    return status;
}

/* A name of the model's own, if somebody said every word of it and it names
 * something; of those that are known only what a reader named here. */
static enum clew_status read_title(struct check *r, const json_t *item,
                                   struct found_effort *effort)
{
    struct str title = text_of(item, "title", TITLE_BYTES);
    bool is_ok = false;
    enum clew_status status = tells(r->arena, title, STR(""), &is_ok);

    if (status != CLEW_OK || title.len == 0 ||
        (effort->known && !effort->known->is_here)) {
        return status;
    }
    if (is_ok && quote_is_said(r->said, title) &&
        str_find(title, STR(MASKED), 0) == SIZE_MAX) {
        effort->title = title;
    } else {
        blame(r, FOUND_NOT_SAID);
    }
    return CLEW_OK;
}

static enum clew_status read_effort(struct check *r, const json_t *item)
{
    struct found_effort *effort = &r->out->efforts[r->out->n_efforts];
    struct str label = text_of(item, "effort", LABEL_BYTES);
    bool is_new = str_eq(label, STR("new"));
    bool is_ok = true;
    enum clew_status status = CLEW_OK;

    *effort = (struct found_effort){
        .known = is_new ? NULL
                        : stretch_find(r->stretch->efforts,
                                       r->stretch->n_efforts, label),
        .status = status_of(text_of(item, "status", LABEL_BYTES))};
    if (!effort->status || (!is_new && !effort->known)) {
        blame(r, effort->status ? FOUND_NO_LABEL : FOUND_NO_TYPE);
        return CLEW_OK;
    }
    if (is_new) {
        status = read_opening(r, item, effort, &is_ok);
    }
    if (status == CLEW_OK && is_ok && effort->status[0] != 'o') {
        status = read_ending(r, item, effort, &is_ok);
        if (status == CLEW_OK && !is_ok && is_new) {
            effort->status = "open"; /* it was opened; how it ended is not so */
            effort->end = NULL;
            is_ok = true;
        }
    }
    if (status == CLEW_OK && is_ok) {
        status = read_title(r, item, effort);
    }
    r->out->n_efforts += status == CLEW_OK && is_ok;
    return status;
}

/* --- earlier chats ---------------------------------------------------------
 */

/* The words may stand in any of the turns. */
static enum clew_status find_words(struct check *r, struct str quote,
                                   struct found_chat *out, bool *out_found)
{
    const struct stretch *s = r->stretch;
    enum clew_status status = CLEW_OK;

    *out_found = false;
    for (size_t i = 0; i < s->n_turns && status == CLEW_OK && !*out_found;
         i++) {
        if (s->turns[i].is_own) {
            out->turn = &s->turns[i];
            status = quote_find(r->arena, s->turns[i].said, quote, out_found,
                                &out->cite);
        }
    }
    return status;
}

static bool is_named(const struct found *found, const struct stretch_chat *chat)
{
    for (size_t i = 0; i < found->n_chats; i++) {
        if (found->chats[i].chat == chat) {
            return true;
        }
    }
    return false;
}

/* What is wrong with the words that are to show it; FOUND_FAULTS: nothing. */
static enum clew_status judge_words(struct check *r, struct str quote,
                                    struct found_chat *chat,
                                    enum found_fault *out)
{
    bool is_ok = false;
    enum clew_status status = find_words(r, quote, chat, &is_ok);

    *out = FOUND_NO_QUOTE;
    if (status != CLEW_OK || !is_ok) {
        return status;
    }
    status = tells(r->arena,
                   str_sub(chat->turn->said, chat->cite.from, chat->cite.to),
                   STR(""), &is_ok);
    *out = is_machine(chat->turn, &chat->cite) ? FOUND_MACHINE
           : !is_ok                            ? FOUND_NO_WORDS
                                               : FOUND_FAULTS;
    return status;
}

static enum clew_status read_chat(struct check *r, const json_t *item)
{
    struct found_chat *out = &r->out->chats[r->out->n_chats];
    enum found_fault fault = FOUND_NO_LABEL;
    enum clew_status status = CLEW_OK;

    *out = (struct found_chat){
        .chat =
            stretch_chat_of(r->stretch, text_of(item, "chat", LABEL_BYTES))};
    if (out->chat) {
        status =
            judge_words(r, text_of(item, "quote", FIELD_BYTES), out, &fault);
    }
    if (status == CLEW_OK && fault != FOUND_FAULTS) {
        blame(r, fault);
        r->out->is_every_chat = false; /* one of those shown was meant, maybe */
    } else if (status == CLEW_OK && !is_named(r->out, out->chat)) {
        r->out->n_chats++;
    }
    return status;
}

/* --- what is none ----------------------------------------------------------
 */

/* Only what was read in these turns, by nobody but a reader. */
static bool may_remove(const struct stretch *s, const struct stretch_known *k)
{
    return k->is_here && str_eq(k->memory.origin, STR("extracted")) &&
           k->memory.pinned_at_ms == 0 && s->n_own > 0 &&
           uuid_eq(&k->memory.chat_id, &s->chat_id);
}

static void read_removed(struct check *r, const json_t *list,
                         const struct stretch_known *known, size_t count)
{
    for (size_t i = 0; i < json_array_size(list) && i < FOUND_NOTES; i++) {
        const json_t *value = json_array_get(list, i);
        const struct stretch_known *one =
            json_is_string(value)
                ? stretch_find(known, count, str_of(json_string_value(value)))
                : NULL;

        if (!one || !may_remove(r->stretch, one)) {
            blame(r, FOUND_NO_LABEL);
        } else {
            r->out->removed[r->out->n_removed++] = one;
        }
    }
}

/* One who was mostly wrong takes nothing away. */
static void check_trust(struct found *out)
{
    size_t n_wrong = out->faults[FOUND_NO_TURN] + out->faults[FOUND_NO_QUOTE] +
                     out->faults[FOUND_MACHINE] + out->faults[FOUND_NO_LABEL];

    if (n_wrong > out->n_notes + out->n_efforts + out->n_chats) {
        out->is_every_chat = false;
        out->faults[FOUND_NO_TRUST] += out->n_removed;
        out->n_removed = 0;
        for (size_t i = 0; i < out->n_efforts; i++) {
            out->efforts[i].title = STR("");
        }
    }
}

/* --- the whole -------------------------------------------------------------
 */

/* Everything that may be named beside a quote. */
static bool gather(struct check *r)
{
    const struct stretch *s = r->stretch;
    struct buf all;

    buf_init(&all, SAID_BYTES);
    for (size_t i = 0; i < s->n_turns; i++) {
        buf_append_str(&all, s->turns[i].turn.name.s ? s->turns[i].turn.name
                                                     : STR(""));
        buf_append_char(&all, ' ');
        buf_append_str(&all, s->turns[i].said);
        buf_append_char(&all, '\n');
    }
    for (size_t i = 0; i < s->n_efforts; i++) {
        buf_append_str(&all, s->efforts[i].memory.summary);
        buf_append_char(&all, '\n');
    }
    for (size_t i = 0; i < s->n_notes; i++) {
        buf_append_str(&all, s->notes[i].memory.summary);
        buf_append_char(&all, '\n');
    }
    for (size_t i = 0; i < s->n_chats; i++) {
        const struct stretch_chat *c = &s->chats[i];

        buf_append_str(&all, c->title.s ? c->title : STR(""));
        buf_append_char(&all, '\n');
        for (size_t k = 0; k < c->n_turns; k++) {
            buf_append_str(&all, c->turns[k].shown);
            buf_append_char(&all, '\n');
        }
    }
    /* a longer talk is seen by its beginning */
    if (buf_status(&all) != CLEW_NO_MEMORY) {
        r->said = arena_str(r->arena, (struct str){all.data, all.len});
    }
    buf_release(&all);
    return r->said.s != NULL;
}

static enum clew_status
read_items(struct check *r, const json_t *list, size_t most,
           enum clew_status (*fn)(struct check *, const json_t *))
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < json_array_size(list) && status == CLEW_OK; i++) {
        const json_t *item = json_array_get(list, i);

        r->n_items = i + 1;
        if (i >= most || !json_is_object(item)) {
            blame(r, FOUND_NO_TYPE);
        } else {
            status = fn(r, item);
        }
    }
    return status;
}

enum clew_status found_read(struct arena *arena, const struct stretch *stretch,
                            const json_t *answer, struct found *out,
                            struct clew_error *err)
{
    static const char *const lists[] = {"notes", "wrong", "efforts",
                                        "not_efforts", "continues"};
    struct check r = {.arena = arena, .stretch = stretch, .out = out};
    enum clew_status status;

    *out = (struct found){0};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const json_t *list = json_object_get(answer, lists[i]);

        if (!json_is_array(list) && (list || i == 0 || i == 2)) {
            return clew_fail(err, CLEW_INVALID, "\"%s\" is no list", lists[i]);
        }
    }
    out->notes = arena_zero(arena, FOUND_NOTES, sizeof(*out->notes));
    out->efforts = arena_zero(arena, FOUND_EFFORTS, sizeof(*out->efforts));
    out->removed = arena_zero(arena, 2 * FOUND_NOTES, sizeof(*out->removed));
    out->chats = arena_zero(arena, FOUND_CHATS, sizeof(*out->chats));
    out->is_every_chat = json_object_get(answer, "continues") != NULL;
    if (!out->notes || !out->efforts || !out->removed || !out->chats ||
        !gather(&r)) {
        return clew_no_memory(err);
    }
    status = read_items(&r, json_object_get(answer, "notes"), FOUND_NOTES,
                        read_note);
    if (status == CLEW_OK) {
        status = read_items(&r, json_object_get(answer, "efforts"),
                            FOUND_EFFORTS, read_effort);
    }
    if (status == CLEW_OK) {
        status = read_items(&r, json_object_get(answer, "continues"),
                            FOUND_CHATS, read_chat);
    }
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    read_removed(&r, json_object_get(answer, "wrong"), stretch->notes,
                 stretch->n_notes);
    read_removed(&r, json_object_get(answer, "not_efforts"), stretch->efforts,
                 stretch->n_efforts);
    check_trust(out);
    return CLEW_OK;
}
