/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c - sentences to notes. See select.h.
 */
#include "talk/select.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "talk/aside.h"
#include "talk/asked.h"
#include "talk/select_dates.h"
#include "talk/stands.h"
#include "talk/telling.h"
#include "text/smalltalk.h"
#include "text/title.h"

#include <string.h>

/* So sure a reader must be that a sentence belongs to what is kept; an
 * assistant says more that does not. Chosen on the dev worlds and the held. */
#define KEEP_USER 0.40f
#define KEEP_ASSISTANT 0.50f
/* … and of the best sentence of a note: of those below .80, judged by hand,
 * fewer than half were worth it; up to here junk was kept on the held worlds
 * (docs/quality/reading.md). */
#define NOTE_SURE 0.85f
/* ... and that it opens something, or may. */
#define OPEN_FLOOR 0.42f
#define OPEN_MAY 0.25f
/* … beside something else, which stands so far off. */
#define OPEN_FURTHER 0.75f
#define SENTENCES_BETWEEN 2
/* … that what does not stand by itself is worth keeping. */
#define KEEP_LEANING 0.995f
/* What is only supposed is not so. */
#define SUPPOSED 0.70f

/* Neighbouring sentences become one note up to here. */
#define NOTE_BYTES 280u
#define SENTENCE_BYTES 480u
#define TITLE_BYTES 160u
#define ENDING_BYTES 320u
#define ASIDE_BYTES 160u
/* Sentences back from a note that may say what it is about. */
#define LEAD_BACK 6u
/* … if a reader finds that much in them: not a greeting. */
#define LEAD_KEPT 0.01f
/* With fewer telling words a sentence does not say what it is about. */
#define THIN_WORDS 4
/* … or hardly anything. */
#define BARE_WORDS 2

const char *select_type_name(enum reader_keep keep)
{
    static const char *const names[READER_KEEPS] = {
        [READER_KEEP_NONE] = "fact",
        [READER_KEEP_FACT] = "fact",
        [READER_KEEP_PREFERENCE] = "preference",
        [READER_KEEP_EVENT] = "event",
        [READER_KEEP_DECISION] = "decision",
        [READER_KEEP_INSTRUCTION] = "instruction",
        [READER_KEEP_REPORT] = "fact"};

    return names[keep];
}

const char *select_note_type(const struct select_note *note)
{
    return note->is_told && note->keep == READER_KEEP_REPORT
               ? "report"
               : select_type_name(note->keep);
}

/* --- words --- */

static size_t telling_words(const struct analysis *a, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = a->sentences[first].span.first_token;
         i < a->sentences[end - 1].span.end_token; i++) {
        n += telling_is(&a->tokens.items[i]);
    }
    return n;
}

static float kept(const struct reader_sentence *read)
{
    return 1.0f - read->keep[READER_KEEP_NONE];
}

static enum reader_keep type_of(const struct reader_sentence *read)
{
    enum reader_keep best = READER_KEEP_FACT;

    for (int i = READER_KEEP_FACT; i < READER_KEEPS; i++) {
        if (read->keep[i] > read->keep[best]) {
            best = (enum reader_keep)i;
        }
    }
    return best;
}

static enum reader_about about_of(const struct reader_sentence *read)
{
    enum reader_about best = READER_ABOUT_SELF;

    for (int i = 0; i < READER_ABOUTS; i++) {
        if (read->about[i] > read->about[best]) {
            best = (enum reader_about)i;
        }
    }
    return best;
}

/* One line: white space folded, cut between words at `max` bytes. */
static bool add_line(struct buf *out, struct str text, size_t max)
{
    bool is_cut = text.len > max;
    bool is_gap = false;

    if (is_cut) {
        size_t most = utf8_cut(text, max);
        size_t end = most;

        while (end > most * 3 / 4 && text.s[end - 1] != ' ') {
            end--;
        }
        /* not all scripts have blanks */
        text.len = text.s[end - 1] == ' ' ? end : most;
    }
    text = str_trim(text);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.s[i];

        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            is_gap = true;
            continue;
        }
        if (is_gap) {
            (void)buf_append_char(out, ' '); /* checked at the end */
            is_gap = false;
        }
        (void)buf_append_char(out, (char)c);
    }
    if (is_cut) {
        (void)buf_append_cstr(out, "…");
    }
    return buf_status(out) == CLEW_OK;
}

static struct str take(struct arena *arena, struct buf *b)
{
    struct str out = buf_status(b) == CLEW_OK ? arena_str(arena, buf_str(b))
                                              : (struct str){0};

    buf_release(b);
    return out;
}

/* --- notes --- */

/* Does sentence `i` say what the speaker is called? */
static bool is_named(const struct select_turn *turn, size_t i)
{
    const struct span *span = &turn->analysis->sentences[i].span;

    return !turn->is_assistant &&
           asked_called(str_sub(turn->text, span->from, span->to),
                        kept(&turn->read[i]) >= KEEP_USER);
}

/* Is it asked in so many words that sentence `i` be kept, and does it say
 * what ("Remember that." only points), or is it the speaker's name? */
static bool is_asked_for(const struct select_turn *turn, size_t i)
{
    const struct analysis *a = turn->analysis;
    const struct span *span = &a->sentences[i].span;
    size_t at = turn->is_assistant
                    ? 0
                    : asked_to_keep(str_sub(turn->text, span->from, span->to));
    size_t n = 0;

    for (size_t k = span->first_token; at > 0 && k < span->end_token; k++) {
        const struct token *token = &a->tokens.items[k];

        n += token->from >= span->from + at && telling_is(token);
    }
    return n >= BARE_WORDS || is_named(turn, i);
}

static bool is_wanted(const struct select_turn *turn, size_t i)
{
    const struct sentence *s = &turn->analysis->sentences[i];
    const struct reader_sentence *read = &turn->read[i];

    return !s->is_code && read->flag[READER_SUPPOSED] < SUPPOSED &&
           (kept(read) >= (turn->is_assistant ? KEEP_ASSISTANT : KEEP_USER) ||
            is_asked_for(turn, i)) &&
           telling_words(turn->analysis, i, i + 1) > 0 &&
           !smalltalk_is(str_sub(turn->text, s->span.from, s->span.to));
}

/* The sentence that says what is told from sentence `first` on: that which
 * opens something, or the last one that says something; or SIZE_MAX. */
static size_t lead_of(const struct select_turn *turn, size_t first)
{
    const struct analysis *a = turn->analysis;
    size_t least = first > LEAD_BACK ? first - LEAD_BACK : 0;
    size_t best = SIZE_MAX;
    float opens = OPEN_FLOOR;
    size_t at = first;

    for (size_t i = least; i < first; i++) {
        if (turn->read[i].act[READER_ACT_OPENS] >= opens &&
            !a->sentences[i].is_code) {
            opens = turn->read[i].act[READER_ACT_OPENS];
            best = i;
        }
    }
    while (at > least && telling_words(a, at - 1, at) < BARE_WORDS) {
        at--;
    }
    if (best == SIZE_MAX && at > least && !a->sentences[at - 1].is_question &&
        !a->sentences[at - 1].is_code && !is_wanted(turn, at - 1) &&
        kept(&turn->read[at - 1]) >= LEAD_KEPT) {
        best = at - 1;
    }
    return best;
}

/* Does the note stand, by itself or with what it quotes? */
static enum clew_status judge(struct arena *arena, struct str words,
                              const struct asides *asides, bool *out)
{
    enum stands verdict = STANDS;
    struct buf quoted;
    struct str before;
    enum clew_status status =
        stands_of(arena, (struct str){NULL, 0}, words, &verdict);

    if (status != CLEW_OK || verdict == STANDS || asides->count == 0) {
        *out = verdict == STANDS;
        return status;
    }
    buf_init(&quoted, 4096);
    for (size_t i = 0; i < asides->count; i++) {
        (void)buf_append_cstr(&quoted, i > 0 ? "\n\n" : "");
        (void)add_line(&quoted, asides->items[i].text,
                       ASIDE_BYTES); /* checked by take() */
    }
    before = take(arena, &quoted);
    status =
        before.s ? stands_of(arena, before, words, &verdict) : CLEW_NO_MEMORY;
    *out = verdict == STANDS;
    return status;
}

/* "[boiler] ": what the words alone do not say; "[ada: shall I call him] ". */
static void add_asides(struct buf *out, const struct asides *asides)
{
    for (size_t i = 0; i < asides->count; i++) {
        const struct aside *aside = &asides->items[i];

        (void)buf_append_char(out, '['); /* checked by take() */
        if (aside->by.len > 0) {
            (void)buf_append(out, aside->by.s, aside->by.len);
            (void)buf_append_cstr(out, ": ");
        }
        (void)add_line(out, aside->text, ASIDE_BYTES);
        (void)buf_append_cstr(out, "] ");
    }
    if (asides->to.len > 0) {
        (void)buf_printf(out, "[to %.*s] ", (int)asides->to.len, asides->to.s);
    }
}

static void add_tags(struct select_note *note, const struct analysis *a)
{
    for (size_t i = 0; i < a->n_entities && note->n_tags < SELECT_MAX_TAGS;
         i++) {
        const struct entity *e = &a->entities[i];
        bool is_known = e->kind == ENTITY_DATE || e->kind == ENTITY_NUMBER ||
                        e->span.from < note->cite.from ||
                        e->span.to > note->cite.to;

        for (size_t k = 0; k < note->n_tags && !is_known; k++) {
            is_known = str_eq(note->tags[k], e->key);
        }
        if (!is_known) {
            note->tags[note->n_tags++] = e->key;
        }
    }
}

/* Sentences [first, end) as one note, and whether it stands. */
static bool make_note(struct arena *arena, const struct select_input *input,
                      size_t first, size_t end, struct select_note *out,
                      bool *out_stands)
{
    const struct select_turn *turn = input->turn;
    const struct analysis *a = turn->analysis;
    const struct reader_sentence *best = &turn->read[first];
    struct asides asides;
    struct buf text;

    memset(out, 0, sizeof(*out));
    for (size_t i = first; i < end; i++) {
        if (kept(&turn->read[i]) > kept(best)) {
            best = &turn->read[i];
        }
        out->is_asked_for |= is_asked_for(turn, i);
        out->is_negated |= turn->read[i].flag[READER_NEGATED] > 0.5f;
    }
    out->keep = type_of(best);
    if (out->keep != READER_KEEP_INSTRUCTION &&
        is_named(turn, (size_t)(best - turn->read))) {
        out->keep = READER_KEEP_FACT;
    }
    out->confidence = kept(best);
    out->about = about_of(best);
    out->is_hedged = best->flag[READER_HEDGED] > 0.5f;
    if (out->keep == READER_KEEP_DECISION &&
        best->flag[READER_HEDGED] + best->flag[READER_SUPPOSED] > 0.5f) {
        out->keep = READER_KEEP_FACT; /* who is not sure has not decided */
    }
    out->cite = (struct select_cite){a->sentences[first].span.from,
                                     a->sentences[end - 1].span.to};
    if (aside_find(arena, input, first, end, lead_of(turn, first), &asides) !=
            CLEW_OK ||
        judge(arena, str_sub(turn->text, out->cite.from, out->cite.to), &asides,
              out_stands) != CLEW_OK) {
        return false;
    }
    buf_init(&text, 4096);
    add_asides(&text, &asides);
    (void)add_line(&text, str_sub(turn->text, out->cite.from, out->cite.to),
                   end - first > 1 ? NOTE_BYTES + SENTENCE_BYTES
                                   : SENTENCE_BYTES); /* checked by take() */
    select_add_dates(&text, turn, &out->cite);
    out->summary = take(arena, &text);
    select_set_time(out, a);
    add_tags(out, a);
    return out->summary.s != NULL;
}

/* Does sentence `i` go on with the note that began at `first`? */
static bool goes_on(const struct select_turn *turn, size_t first, size_t i)
{
    const struct analysis *a = turn->analysis;
    bool is_rule = type_of(&turn->read[i]) == READER_KEEP_INSTRUCTION;

    return is_wanted(turn, i) &&
           a->sentences[i].span.to - a->sentences[first].span.from <=
               NOTE_BYTES &&
           is_rule == (type_of(&turn->read[first]) == READER_KEEP_INSTRUCTION);
}

/* May the note begin a sentence earlier? `least`: where the last one ended. */
static bool may_begin_at(const struct select_turn *turn, size_t least,
                         size_t first, size_t end)
{
    const struct analysis *a = turn->analysis;

    return first > least && !a->sentences[first - 1].is_code &&
           !a->sentences[first - 1].is_question &&
           turn->read[first - 1].flag[READER_SUPPOSED] < SUPPOSED &&
           a->sentences[end - 1].span.to - a->sentences[first - 1].span.from <=
               NOTE_BYTES;
}

/* What does not stand is kept all the same if it says what to do, if that is
 * asked for, or if it is a find and has a value of its own. */
static bool is_kept_anyway(const struct select_turn *turn,
                           const struct select_note *note)
{
    const struct analysis *a = turn->analysis;

    if (note->keep == READER_KEEP_INSTRUCTION || note->is_asked_for) {
        return true;
    }
    for (size_t i = 0; i < a->n_entities && note->confidence >= KEEP_LEANING;
         i++) {
        const struct span *span = &a->entities[i].span;

        if (span->from >= note->cite.from && span->to <= note->cite.to) {
            return true;
        }
    }
    return false;
}

/* The note of sentences [first, *end), or of one more before them where only
 * both together stand; or of the first of them, if those do. If none does the
 * others are looked at without the first one. */
static bool find_note(struct arena *arena, const struct select_input *input,
                      size_t least, size_t first, size_t *end,
                      struct select_note *out, bool *out_wanted)
{
    struct select_note other;
    bool does_stand;

    if (!make_note(arena, input, first, *end, out, &does_stand)) {
        return false;
    }
    *out_wanted = does_stand || is_kept_anyway(input->turn, out);
    if (!does_stand && may_begin_at(input->turn, least, first, *end)) {
        if (!make_note(arena, input, first - 1, *end, &other, &does_stand)) {
            return false;
        }
        if (does_stand) {
            *out = other;
            *out_wanted = true;
        }
    }
    for (size_t to = *end - 1; !*out_wanted && to > first; to--) {
        if (!make_note(arena, input, first, to, &other, &does_stand)) {
            return false;
        }
        if (does_stand) {
            *out = other;
            *out_wanted = true;
            *end = to; /* the others may have what they need in this one */
        }
    }
    *end = *out_wanted ? *end : first + 1;
    return true;
}

/* What one is told to do is not left to chance, nor what one is asked to keep,
 * nor what has a day to come. */
static bool is_sure(const struct select_turn *turn,
                    const struct select_note *note)
{
    return note->confidence >= NOTE_SURE || note->is_asked_for ||
           note->keep == READER_KEEP_INSTRUCTION ||
           (note->keep == READER_KEEP_EVENT && note->has_time &&
            note->from_ms > turn->at_ms);
}

enum clew_status select_notes(struct arena *arena,
                              const struct select_input *input,
                              struct select_note **out_notes, size_t *out_count)
{
    const struct select_turn *turn = input->turn;
    struct select_note *notes =
        arena_zero(arena, SELECT_MAX_NOTES, sizeof(*notes));
    size_t n = 0;
    size_t least = 0;
    size_t end;

    if (!notes) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < turn->analysis->n_sentences && n < SELECT_MAX_NOTES;
         i = end) {
        bool is_kept = false;

        end = i + 1;
        if (!is_wanted(turn, i)) {
            continue;
        }
        while (end < turn->analysis->n_sentences && goes_on(turn, i, end)) {
            end++;
        }
        if (!find_note(arena, input, least, i, &end, &notes[n], &is_kept)) {
            return CLEW_NO_MEMORY;
        }
        least = end;
        n += is_kept && is_sure(turn, &notes[n]);
    }
    *out_notes = notes;
    *out_count = n;
    return CLEW_OK;
}

enum clew_status select_words(struct arena *arena,
                              const struct select_turn *turn,
                              const struct select_cite *cite, struct str aside,
                              struct select_note *out)
{
    struct buf text;

    memset(out, 0, sizeof(*out));
    out->cite = *cite;
    out->about = READER_ABOUT_THING;
    buf_init(&text, 4096);
    if (aside.len > 0) {
        (void)buf_append_char(&text, '['); /* checked by take() */
        (void)add_line(&text, aside, ASIDE_BYTES);
        (void)buf_append_cstr(&text, "] ");
    }
    (void)add_line(&text, str_sub(turn->text, cite->from, cite->to),
                   NOTE_BYTES + SENTENCE_BYTES); /* checked by take() */
    select_add_dates(&text, turn, cite);
    out->summary = take(arena, &text);
    select_set_time(out, turn->analysis);
    add_tags(out, turn->analysis);
    return out->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* --- efforts --- */

/* "I want to be rid of them": the sentence before says of what, if only with it
 * the title stands and both are short enough to be one. */
static enum clew_status begin_named(struct arena *arena,
                                    const struct select_turn *turn,
                                    size_t *first, size_t end)
{
    const struct analysis *a = turn->analysis;
    const struct span *title = &a->sentences[*first].span;
    struct str words =
        str_sub(turn->text, title->from, a->sentences[end - 1].span.to);
    const struct sentence *before =
        *first > 0 ? &a->sentences[*first - 1] : NULL;
    enum stands verdict = STANDS;
    enum clew_status status =
        stands_of(arena, (struct str){NULL, 0}, words, &verdict);

    if (status != CLEW_OK || verdict == STANDS || !before || before->is_code ||
        a->sentences[end - 1].span.to - before->span.from > TITLE_BYTES) {
        return status;
    }
    status = stands_of(arena,
                       str_sub(turn->text, before->span.from, before->span.to),
                       words, &verdict);
    *first -= status == CLEW_OK && verdict == STANDS;
    return status;
}

/* What opens with sentence `first`; `has_lead`: with what that leans on. */
static enum clew_status open_with(struct arena *arena,
                                  const struct select_turn *turn, size_t first,
                                  bool has_lead, struct select_opening *out)
{
    const struct analysis *a = turn->analysis;
    size_t end = first + 1;
    struct str words;
    struct buf text;

    out->confidence = turn->read[first].act[READER_ACT_OPENS];
    /* "Can you help?" names nothing: its neighbours do */
    while (end < a->n_sentences && telling_words(a, first, end) < THIN_WORDS &&
           !a->sentences[end].is_code) {
        end++;
    }
    while (first > 0 && telling_words(a, first, end) < THIN_WORDS) {
        first--;
    }
    if (has_lead && begin_named(arena, turn, &first, end) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    out->cite = (struct select_cite){a->sentences[first].span.from,
                                     a->sentences[end - 1].span.to};
    words = str_sub(turn->text, out->cite.from, out->cite.to);
    buf_init(&text, 4096);
    (void)add_line(&text, str_sub(words, title_begin(words), words.len),
                   TITLE_BYTES); /* checked by take() */
    out->title = take(arena, &text);
    return out->title.s ? CLEW_OK : CLEW_NO_MEMORY;
}

enum clew_status select_opening(struct arena *arena,
                                const struct select_turn *turn,
                                struct select_opening *out)
{
    const struct analysis *a = turn->analysis;
    float best = 0;
    size_t first = 0;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < a->n_sentences; i++) {
        float p = turn->read[i].act[READER_ACT_OPENS];

        if (!a->sentences[i].is_code && p > best) {
            best = p;
            first = i;
        }
    }
    /* "Hello", "many thanks": whatever a reader of few tongues makes of it */
    return best < OPEN_MAY || smalltalk_is(turn->text)
               ? CLEW_OK
               : open_with(arena, turn, first, true, out);
}

/* Whole sentences, or a line's end, between two places? Who tells of one matter
 * says what opens it in more than one sentence, side by side. */
static bool is_apart(const struct select_turn *turn,
                     const struct select_cite *one,
                     const struct select_cite *other)
{
    const struct analysis *a = turn->analysis;
    bool is_first = one->to <= other->from;
    size_t from = is_first ? one->to : other->to;
    size_t to = is_first ? other->from : one->from;
    size_t between = 0;

    if (!is_first && one->from < other->to) {
        return false;
    }
    for (size_t i = 0; i < a->n_sentences; i++) {
        const struct span *span = &a->sentences[i].span;

        between += span->from >= from && span->to <= to;
    }
    return between >= SENTENCES_BETWEEN ||
           memchr(turn->text.s + from, '\n', to - from);
}

enum clew_status select_further(struct arena *arena,
                                const struct select_turn *turn,
                                const struct select_opening *first,
                                struct select_opening out[SELECT_MAX_FURTHER],
                                size_t *out_count)
{
    const struct analysis *a = turn->analysis;

    *out_count = 0;
    for (size_t i = 0; i < a->n_sentences && first->confidence > 0 &&
                       *out_count < SELECT_MAX_FURTHER;
         i++) {
        struct select_opening *item = &out[*out_count];
        bool is_new;

        if (a->sentences[i].is_code ||
            turn->read[i].act[READER_ACT_OPENS] < OPEN_FURTHER) {
            continue;
        }
        memset(item, 0, sizeof(*item));
        if (open_with(arena, turn, i, false, item) != CLEW_OK) {
            return CLEW_NO_MEMORY;
        }
        is_new = is_apart(turn, &item->cite, &first->cite);
        for (size_t k = 0; k < *out_count; k++) {
            is_new = is_new && is_apart(turn, &item->cite, &out[k].cite);
        }
        *out_count += is_new;
    }
    return CLEW_OK;
}

/* Does the sentence say anything about how it ended? */
static bool tells_ending(const struct select_turn *turn, size_t i)
{
    const struct reader_sentence *read = &turn->read[i];

    return !turn->analysis->sentences[i].is_code &&
           telling_words(turn->analysis, i, i + 1) > 1 &&
           read->act[READER_ACT_RESOLVES] + read->act[READER_ACT_ABANDONS] +
                   kept(read) >
               0.4f;
}

/* … or, between two that do, at least a word? There stands the cause ("so it
 * was the fuse"). */
static bool tells_a_word(const struct select_turn *turn, size_t i)
{
    const struct sentence *s = &turn->analysis->sentences[i];

    return !s->is_code && !s->is_question &&
           telling_words(turn->analysis, i, i + 1) > 0;
}

enum clew_status select_ending(struct arena *arena,
                               const struct select_turn *turn, struct str *out)
{
    const struct analysis *a = turn->analysis;
    size_t last = a->n_sentences;
    struct buf text;

    while (last > 0 && !tells_ending(turn, last - 1)) {
        last--;
    }
    buf_init(&text, 4096);
    for (size_t i = 0; i < last && text.len < ENDING_BYTES; i++) {
        if (tells_ending(turn, i) || (text.len > 0 && tells_a_word(turn, i))) {
            (void)buf_append_cstr(&text, text.len ? " " : "");
            (void)add_line(&text,
                           str_sub(turn->text, a->sentences[i].span.from,
                                   a->sentences[i].span.to),
                           ENDING_BYTES); /* checked by take() */
        }
    }
    *out = take(arena, &text);
    return out->s ? CLEW_OK : CLEW_NO_MEMORY;
}
