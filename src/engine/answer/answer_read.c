/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_read.c - a reply, taken apart: lines, sentences, citations.
 *
 * Models put citations before or after the full stop, at the end of each
 * sentence or of a line; all of that is understood. A citation belongs to the
 * sentence it stands in or right behind.
 */
#include "base/one_line.h"
#include "engine/answer/answer_internal.h"
#include "text/analysis.h"

#include <ctype.h>
#include <string.h>

/* A reply that is longer than this is no answer in a few sentences. */
#define MAX_REPLY_BYTES (16u * 1024)

/* The end of the "[1, 3]" that begins at `at`; `at` itself if none does. */
static size_t group_end(struct str text, size_t at)
{
    bool has_digit = false;

    if (at >= text.len || text.s[at] != '[') {
        return at;
    }
    for (size_t i = at + 1; i < text.len; i++) {
        char c = text.s[i];

        if (c == ']') {
            return has_digit ? i + 1 : at;
        }
        if (!isdigit((unsigned char)c) && c != ',' && c != ' ') {
            return at;
        }
        has_digit = has_digit || isdigit((unsigned char)c);
    }
    return at;
}

static bool is_stop(struct str text)
{
    return text.len > 0 && strchr(".!?", text.s[text.len - 1]) != NULL;
}

/* CJK's full stop; three bytes. */
static bool is_wide_stop(struct str text)
{
    return str_ends(text, STR("\xe3\x80\x82"));
}

/* Where the first cited sentence of the line ends, citations included. */
static size_t segment_end(struct str line)
{
    for (size_t i = 0; i < line.len; i++) {
        size_t end = group_end(line, i);
        struct str before = str_trim(str_sub(line, 0, i));

        if (end == i) {
            continue;
        }
        for (size_t next = end; next <= line.len;) {
            while (next < line.len && line.s[next] == ' ') {
                next++;
            }
            if (group_end(line, next) == next) {
                break;
            }
            end = next = group_end(line, next);
        }
        if (end < line.len && is_stop(str_sub(line, end, end + 1))) {
            return end + 1;
        }
        if (end == line.len || is_stop(before) || is_wide_stop(before)) {
            return end;
        }
        i = end - 1;
    }
    return line.len;
}

static void add_cite(struct answer_sentence *sentence,
                     const struct answer *answer, size_t number)
{
    if (number == 0 || number > answer->n_sources) {
        sentence->fault = ANSWER_NOT_SHOWN;
        return;
    }
    for (size_t i = 0; i < sentence->n_cites; i++) {
        if (sentence->cites[i] == number - 1) {
            return;
        }
    }
    if (sentence->n_cites < ANSWER_CITES) {
        sentence->cites[sentence->n_cites++] = number - 1;
    }
}

/* The numbers between two brackets. */
static void take_cites(struct answer_sentence *sentence,
                       const struct answer *answer, struct str group)
{
    size_t number = 0;
    bool is_in = false;

    for (size_t i = 0; i < group.len; i++) {
        if (isdigit((unsigned char)group.s[i])) {
            is_in = true;
            /* what is too large was not shown */
            number = number > ANSWER_SOURCES
                         ? number
                         : number * 10 + (size_t)(group.s[i] - '0');
        } else if (is_in) {
            add_cite(sentence, answer, number);
            number = 0;
            is_in = false;
        }
    }
}

/* The words without citations, in the arena; those are taken on the way. Marks
 * that would show other words than those that are held against what was said
 * (a number from behind) are blanks. */
static struct str bare_of(struct answer_reading *reading, struct str segment,
                          struct answer_sentence *cited)
{
    char *out = arena_alloc(reading->arena, segment.len + 1);
    size_t len = 0;

    if (!out) {
        return (struct str){NULL, 0};
    }
    for (size_t i = 0; i < segment.len;) {
        size_t end = group_end(segment, i);

        if (end > i) {
            take_cites(cited, reading->answer, str_sub(segment, i, end));
            while (len > 0 && out[len - 1] == ' ') {
                len--;
            }
            i = end;
        } else {
            out[len++] = segment.s[i++];
        }
    }
    return str_trim(one_line(reading->arena, (struct str){out, len}, SIZE_MAX));
}

static void add_sentence(struct answer_reading *reading,
                         struct answer_sentence *sentence)
{
    struct answer *answer = reading->answer;

    if (answer->n_sentences == ANSWER_SENTENCES) {
        reading->is_too_long = true;
        return;
    }
    if (sentence->fault == ANSWER_SUPPORTED) {
        reading->status =
            answer_check(reading->arena, reading->query->search.query, answer,
                         sentence, NULL);
    }
    if (reading->status != CLEW_OK) {
        return;
    }
    answer->sentences[answer->n_sentences++] = *sentence;
    if (reading->query->on_sentence) {
        reading->query->on_sentence(reading->query->arg, answer,
                                    answer->n_sentences - 1);
    }
}

/* Of several sentences before a citation only the last has it. */
static void take_segment(struct answer_reading *reading, struct str segment)
{
    struct answer_sentence cited = {.fault = ANSWER_SUPPORTED};
    struct analysis_options options = {.has_no_keywords = true};
    struct analysis said = {0};
    struct str text = bare_of(reading, segment, &cited);

    if (!text.s) {
        reading->status = CLEW_NO_MEMORY;
        return;
    }
    if (text.len == 0) {
        return;
    }
    reading->status = analysis_run(reading->arena, text, &options, &said, NULL);
    for (size_t i = 0; reading->status == CLEW_OK && i < said.n_sentences;
         i++) {
        bool is_last = i + 1 == said.n_sentences;
        struct answer_sentence one = {.fault = ANSWER_SUPPORTED};

        one = is_last ? cited : one;
        one.text = str_trim(
            str_sub(text, said.sentences[i].span.from,
                    is_last ? text.len : said.sentences[i + 1].span.from));
        if (one.text.len > 0) {
            add_sentence(reading, &one);
        }
    }
}

/* Marks of lists are not the sentence's. */
static struct str without_mark(struct str line)
{
    static const char *const marks[] = {"- ", "* ", "\xe2\x80\xa2 "};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_starts(line, str_of(marks[i]))) {
            return str_trim(str_sub(line, str_of(marks[i]).len, line.len));
        }
    }
    return line;
}

static void take_line(struct answer_reading *reading)
{
    struct str line = str_trim(buf_str(&reading->line));

    line = without_mark(line);
    if (reading->answer->n_sentences == 0 &&
        (str_eq(line, STR("NONE")) || str_eq(line, STR("NONE.")))) {
        reading->is_none = true;
        line.len = 0;
    }
    while (line.len > 0 && reading->status == CLEW_OK) {
        size_t end = segment_end(line);

        take_segment(reading, str_sub(line, 0, end));
        line = str_trim(str_sub(line, end, line.len));
    }
    buf_clear(&reading->line);
}

bool answer_read_piece(struct answer_reading *reading, struct str piece)
{
    reading->n_bytes += piece.len;
    if (reading->n_bytes > MAX_REPLY_BYTES) {
        reading->is_flood = true;
        return false;
    }
    for (size_t i = 0; i < piece.len && !reading->is_too_long &&
                       !reading->is_none && reading->status == CLEW_OK;
         i++) {
        if (piece.s[i] == '\n') {
            take_line(reading);
        } else {
            reading->status = buf_append_char(&reading->line, piece.s[i]);
        }
    }
    return reading->status == CLEW_OK && !reading->is_too_long;
}

void answer_read_end(struct answer_reading *reading)
{
    if (reading->status == CLEW_OK && !reading->is_too_long) {
        take_line(reading);
    }
}
