/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_check.c - is a sentence supported by what it cites?
 *
 * What can be invented and seen without understanding is looked at: numbers,
 * dates and names. Each must stand in a cited passage, or follow from when it
 * was said; a name may also be the question's. Words in other languages are
 * not looked for, so that an answer may be in another language than what was
 * said.
 */
#include "base/clock.h"
#include "engine/answer/answer_internal.h"
#include "engine/chat/turn.h"
#include "engine/llmread/quote.h"
#include "text/analysis.h"
#include "text/digits.h"

#include <ctype.h>
#include <string.h>

/* The longest number that is looked for, as it is compared. */
#define MAX_NUMBER 40
#define MAX_SAID_BYTES (256u * 1024)

/* What a sentence is held against; all of it in plain digits (text/digits.h).
 */
struct said {
    const struct answer *answer;
    const struct answer_sentence *sentence;
    struct str text;  /* of all that it cites, with who said it */
    struct str names; /* … and the question */
    bool is_german;   /* the question is */
};

/* --- numbers ---------------------------------------------------------------
 */

/* So small a number may be a word here and digits there. */
static const struct {
    const char *word;
    const char *digits;
} number_words[] = {
    {"two", "2"},    {"three", "3"},   {"four", "4"},    {"five", "5"},
    {"six", "6"},    {"seven", "7"},   {"eight", "8"},   {"nine", "9"},
    {"ten", "10"},   {"eleven", "11"}, {"twelve", "12"}, {"zwei", "2"},
    {"drei", "3"},   {"vier", "4"},    {"fünf", "5"},    {"sechs", "6"},
    {"sieben", "7"}, {"acht", "8"},    {"neun", "9"},    {"zehn", "10"},
    {"elf", "11"},   {"zwölf", "12"},
};
#define N_NUMBER_WORDS (sizeof(number_words) / sizeof(number_words[0]))

static bool is_digit(struct str text, size_t at)
{
    return at < text.len && isdigit((unsigned char)text.s[at]);
}

/* Does a group of exactly three digits follow the mark at `at`? */
static bool is_thousands(struct str text, size_t at)
{
    return is_digit(text, at + 1) && is_digit(text, at + 2) &&
           is_digit(text, at + 3) && !is_digit(text, at + 4);
}

static bool is_word_byte(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The number that the word at `at` is; NULL if it is none. */
static const char *word_number(struct str word)
{
    for (size_t i = 0; i < N_NUMBER_WORDS; i++) {
        if (str_ieq(word, str_of(number_words[i].word))) {
            return number_words[i].digits;
        }
    }
    return NULL;
}

/* Digits as they are compared: 1,200 and 1.200 are 1200, 3,5 is 3.5. */
static size_t take_digits(struct str text, size_t at, char out[MAX_NUMBER])
{
    size_t len = 0;

    while (is_digit(text, at) && len + 2 < MAX_NUMBER) {
        out[len++] = text.s[at++];
        if (at < text.len && strchr(".,'", text.s[at]) &&
            is_digit(text, at + 1)) {
            if (is_thousands(text, at)) {
                at++;
            } else {
                out[len++] = '.';
                at++;
            }
        } else if (at < text.len && text.s[at] == ':' &&
                   is_digit(text, at + 1)) {
            out[len++] = ':';
            at++;
        }
    }
    out[len] = '\0';
    return at;
}

/* The next number from `*at` on, and where it begins; false: no more. */
static bool next_number(struct str text, size_t *at, size_t *out_from,
                        char out[MAX_NUMBER])
{
    while (*at < text.len) {
        size_t from = *at;

        if (is_digit(text, from)) {
            *out_from = from;
            *at = take_digits(text, from, out);
            return true;
        }
        if (is_word_byte(text.s[from])) {
            const char *digits;

            while (*at < text.len && is_word_byte(text.s[*at])) {
                (*at)++;
            }
            digits = word_number(str_sub(text, from, *at));
            if (digits) {
                *out_from = from;
                memcpy(out, digits, strlen(digits) + 1);
                return true;
            }
        } else {
            (*at)++;
        }
    }
    return false;
}

static bool has_number(struct str text, const char *number)
{
    char other[MAX_NUMBER];
    size_t at = 0;
    size_t from;

    while (next_number(text, &at, &from, other)) {
        if (strcmp(number, other) == 0) {
            return true;
        }
    }
    return false;
}

/* Is every ⑨ and ½ of the sentence said just so? */
static bool has_signs(const struct said *said)
{
    struct str sign;
    size_t at = 0;

    while (digits_next_sign(said->sentence->text, &at, &sign)) {
        if (str_find(said->text, sign, 0) == SIZE_MAX) {
            return false;
        }
    }
    return true;
}

/* The year, month or day of a moment, as digits with or without a nought. */
static bool is_of_day(int64_t time_ms, const char *number)
{
    int64_t days = time_ms / CLOCK_DAY_MS - (time_ms % CLOCK_DAY_MS < 0);
    int64_t parts[3];
    int64_t value;
    int month;
    int day;

    clock_civil_from_days(days, &parts[0], &month, &day);
    parts[1] = month;
    parts[2] = day;
    if (!str_parse_int(
            str_of(number[0] == '0' && number[1] ? number + 1 : number),
            &value)) {
        return false;
    }
    return value == parts[0] || value == parts[1] || value == parts[2];
}

/* --- what follows from the time of a passage -------------------------------
 */

static enum clew_status analyse(struct arena *arena, struct str text,
                                const struct search_hit *hit,
                                struct analysis *out, struct clew_error *err)
{
    struct analysis_options options = {.time_ms = hit->item.created_at_ms,
                                       .has_no_keywords = true};

    return analysis_run(arena, text, &options, out, err);
}

static bool do_meet(const struct date *a, int64_t from_ms, int64_t to_ms)
{
    return a->from_ms < to_ms && from_ms < a->to_ms;
}

/* Does the passage speak of that time, or was it said then? */
static bool speaks_of(const struct analysis *passage,
                      const struct search_hit *hit, const struct date *date)
{
    int64_t at_ms = hit->item.created_at_ms;

    for (size_t i = 0; i < passage->n_dates; i++) {
        if (do_meet(date, passage->dates[i].from_ms, passage->dates[i].to_ms)) {
            return true;
        }
    }
    return do_meet(date, at_ms, at_ms + 1);
}

static bool has_digit(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (isdigit((unsigned char)text.s[i])) {
            return true;
        }
    }
    return false;
}

/* Where a number stands in a date, that date; NULL else. */
static const struct date *date_at(const struct analysis *sentence, size_t at)
{
    for (size_t i = 0; i < sentence->n_dates; i++) {
        if (at >= sentence->dates[i].span.from &&
            at < sentence->dates[i].span.to) {
            return &sentence->dates[i];
        }
    }
    return NULL;
}

/*
 * Does one passage bear the sentence's dates out? Those it has in other words
 * ("tomorrow", said on the 13th) too.
 */
static bool bears_dates(const struct said *said,
                        const struct analysis *sentence,
                        const struct analysis *passage,
                        const struct search_hit *hit)
{
    for (size_t i = 0; i < sentence->n_dates; i++) {
        const struct date *date = &sentence->dates[i];

        if ((has_digit(date->text) || !date->is_relative) &&
            !quote_is_said(said->text, date->text) &&
            !speaks_of(passage, hit, date)) {
            return false;
        }
    }
    return true;
}

/* Is the number said, or a part of a time the passage speaks of? */
static bool bears_number(const struct said *said,
                         const struct analysis *sentence,
                         const struct analysis *passage,
                         const struct search_hit *hit, size_t at,
                         const char *number)
{
    const struct date *date = date_at(sentence, at);

    if (has_number(said->text, number) ||
        (date && speaks_of(passage, hit, date)) ||
        is_of_day(hit->item.created_at_ms, number)) {
        return true;
    }
    for (size_t i = 0; i < passage->n_dates; i++) {
        if (is_of_day(passage->dates[i].from_ms, number)) {
            return true;
        }
    }
    return false;
}

static bool bears_numbers(const struct said *said,
                          const struct analysis *sentence,
                          const struct analysis *passage,
                          const struct search_hit *hit)
{
    char number[MAX_NUMBER];
    size_t at = 0;
    size_t from;

    while (next_number(said->sentence->text, &at, &from, number)) {
        if (!bears_number(said, sentence, passage, hit, from, number)) {
            return false;
        }
    }
    return true;
}

/* --- names -----------------------------------------------------------------
 */

/* Several, and all with a capital; the first word of a sentence tells nothing.
 */
static bool are_capitals(const struct entity *entity)
{
    struct str text = entity->text;
    struct str word;
    size_t count = 0;

    while (str_split(&text, ' ', &word)) {
        if (word.len == 0 || islower((unsigned char)word.s[0])) {
            return false;
        }
        count++;
    }
    return count > (entity->span.from == 0 ? 2 : 1);
}

/* German writes every noun with a capital: one word alone may be no name. */
static bool is_name(const struct entity *entity, bool is_german)
{
    switch (entity->kind) {
    case ENTITY_PERSON:
    case ENTITY_PLACE:
    case ENTITY_ORGANISATION:
    case ENTITY_PRODUCT:
    case ENTITY_PROJECT:
    case ENTITY_FILE:
    case ENTITY_URL:
    case ENTITY_EMAIL:
        return true;
    case ENTITY_NAME:
        return !is_german || are_capitals(entity);
    case ENTITY_NUMBER: /* a code has letters too */
        return isalpha((unsigned char)entity->text.s[0]);
    case ENTITY_DATE:
    case ENTITY_AMOUNT:
        break;
    }
    return false;
}

static bool has_names(const struct said *said, const struct analysis *sentence)
{
    bool is_german =
        said->is_german || sentence->tokens.language == TEXT_GERMAN;

    for (size_t i = 0; i < sentence->n_entities; i++) {
        const struct entity *entity = &sentence->entities[i];

        if (entity->text.len > 0 && is_name(entity, is_german) &&
            !quote_is_said(said->names, entity->text)) {
            return false;
        }
    }
    return true;
}

/* --- all of it -------------------------------------------------------------
 */

/* What a passage was shown with. */
static void add_around(struct buf *text, const struct answer_source *source)
{
    const struct answer_beside *beside[] = {&source->before, &source->after};
    struct str notes[ANSWER_NOTES];
    size_t n = answer_notes(source, notes);

    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        if (beside[i]->text.len > 0) {
            (void)buf_append_str(text, beside[i]->by);
            (void)buf_append_char(text, '\n');
            (void)buf_append_str(text, beside[i]->text);
            (void)buf_append_char(text, '\n');
        }
    }
    for (size_t i = 0; i < n; i++) {
        (void)buf_append_str(text, notes[i]);
        (void)buf_append_char(text, '\n');
    }
    for (size_t i = 0; i < source->n_replaced; i++) {
        (void)buf_append_str(text, source->replaced[i].now);
        (void)buf_append_char(text, '\n');
    }
}

static enum clew_status gather(struct arena *arena, struct str question,
                               struct said *said, struct clew_error *err)
{
    struct buf text;
    size_t own;

    buf_init(&text, MAX_SAID_BYTES + question.len);
    for (size_t i = 0; i < said->sentence->n_cites; i++) {
        const struct answer_source *source =
            &said->answer->sources[said->sentence->cites[i]];

        /* the buffer remembers a failure */
        (void)buf_append_str(&text, source->text);
        (void)buf_append_char(&text, '\n');
        (void)buf_append_str(&text, source->hit->speaker);
        (void)buf_append_char(&text, '\n');
        add_around(&text, source);
    }
    own = text.len;
    (void)buf_append_str(&text, question);
    if (buf_status(&text) == CLEW_OK) {
        struct str all = arena_str(arena, buf_str(&text));

        said->names = all.s ? digits_plain(arena, all) : all;
        said->text = all.s ? digits_plain(arena, str_sub(all, 0, own)) : all;
    }
    buf_release(&text);
    return said->names.s && said->text.s ? CLEW_OK : clew_no_memory(err);
}

enum clew_status answer_check(struct arena *arena, struct str question,
                              const struct answer *answer,
                              struct answer_sentence *sentence,
                              struct clew_error *err)
{
    struct answer_sentence plain = *sentence;
    struct said said = {.answer = answer, .sentence = &plain};
    struct tokens tokens = {0};
    bool has_numbers = false;
    enum clew_status status;

    if (sentence->n_cites == 0) {
        sentence->fault = ANSWER_UNCITED;
        return CLEW_OK;
    }
    sentence->fault = ANSWER_NOT_SAID;
    plain.text = digits_plain(arena, sentence->text);
    status = plain.text.s ? gather(arena, question, &said, err)
                          : clew_no_memory(err);
    if (status == CLEW_OK) {
        status = tokens_of(arena, question, &tokens);
        said.is_german = tokens.language == TEXT_GERMAN;
    }
    if (status == CLEW_OK && !has_signs(&said)) {
        return CLEW_OK;
    }
    for (size_t i = 0; status == CLEW_OK && i < sentence->n_cites; i++) {
        const struct answer_source *source =
            &answer->sources[sentence->cites[i]];
        struct analysis passage = {0};
        struct analysis own = {0};

        status = analyse(arena, source->text, source->hit, &passage, err);
        if (status == CLEW_OK) {
            status = analyse(arena, plain.text, source->hit, &own, err);
        }
        if (status != CLEW_OK) {
            break;
        }
        if (!has_names(&said, &own)) {
            return CLEW_OK;
        }
        has_numbers =
            has_numbers || (bears_numbers(&said, &own, &passage, source->hit) &&
                            bears_dates(&said, &own, &passage, source->hit));
    }
    if (status == CLEW_OK && has_numbers) {
        sentence->fault = ANSWER_SUPPORTED;
    }
    return status;
}
