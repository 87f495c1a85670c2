/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_named.c - what a question names to the letter comes first. See
 * search_internal.h.
 *
 * An identifier (getUserById, src/api/users.ts, ERR_CONN, v2.4.1, a hash), a
 * numbered thing (invoice 4711, room 214) or words in quotes mean just that.
 * Matching in parts, by stem or by sense is for what people say in their own
 * words; whoever names a thing so that few passages hold it wants those,
 * whatever the reader makes of the question.
 */
#include "engine/ask/search_internal.h"

#include "base/utf8.h"
#include "text/date/dates.h"

#include <math.h>
#include <string.h>

/* Names looked for in one question, and their length in bytes. */
#define MAX_NAMES 8
#define MIN_NAME_BYTES 4
#define MAX_NAME_BYTES 256
/* A question longer than this is a text; it names nothing. */
#define MAX_QUESTION_BYTES 4096

struct names {
    struct str items[MAX_NAMES];
    size_t count;
};

static bool is_ascii_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Does a letter or digit go on at this side? */
static bool is_inside_word(char c)
{
    return is_ascii_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

static void add_name(struct names *names, struct str text)
{
    if (names->count < MAX_NAMES && text.len >= MIN_NAME_BYTES &&
        text.len <= MAX_NAME_BYTES) {
        names->items[names->count++] = text;
    }
}

/* Not "3pm", "iPhone" or "1990s", which are words of every day. */
static bool is_identifier(struct str text)
{
    size_t n_joints = 0;
    size_t n_digits = 0;
    size_t n_humps = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        n_joints += i > 0 && i + 1 < text.len && strchr("_./\\@#:-", c) != NULL;
        n_digits += is_digit(c);
        n_humps += i > 1 && c >= 'A' && c <= 'Z' && text.s[i - 1] >= 'a' &&
                   text.s[i - 1] <= 'z';
    }
    return n_joints > 0 || n_humps > 1 || (n_digits > 1 && text.len >= 6);
}

/* Words between quotes: "…", `…`, “…”, «…», „…“. */
static void find_quoted(struct names *names, struct str text)
{
    static const char *const quotes[][2] = {{"\"", "\""}, {"`", "`"},
                                            {"“", "”"},   {"«", "»"},
                                            {"„", "“"},   {"「", "」"}};

    for (size_t q = 0; q < sizeof(quotes) / sizeof(quotes[0]); q++) {
        struct str open = str_of(quotes[q][0]);
        struct str close = str_of(quotes[q][1]);
        size_t from = str_find(text, open, 0);

        while (from != SIZE_MAX && names->count < MAX_NAMES) {
            size_t inner = from + open.len;
            size_t to = str_find(text, close, inner);

            if (to == SIZE_MAX) {
                break;
            }
            add_name(names, str_trim(str_sub(text, inner, to)));
            from = str_find(text, open, to + close.len);
        }
    }
}

/* "room 214": a word that tells something and its number, a blank apart. "June
 * 14" may be told in other words. */
static bool is_numbered(const struct token *word, const struct token *number)
{
    return number->kind == TOKEN_NUMBER && word->kind == TOKEN_WORD &&
           word->to + 1 == number->from &&
           !((word->flags | number->flags) & (TOKEN_STOP | TOKEN_PART)) &&
           !date_has_word(word->folded);
}

static enum clew_status find_names(struct arena *arena, struct str text,
                                   struct names *names, struct clew_error *err)
{
    struct tokens tokens;

    names->count = 0;
    if (text.len > MAX_QUESTION_BYTES) {
        return CLEW_OK;
    }
    if (tokens_of(arena, text, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.items[i];
        struct str word = str_sub(text, token->from, token->to);

        if (token->kind == TOKEN_CODE &&
            !(token->flags & (TOKEN_PART | TOKEN_KNOWN)) &&
            is_identifier(word)) {
            add_name(names, word);
        }
        if (i > 0 && is_numbered(token - 1, token)) {
            add_name(names, str_sub(text, (token - 1)->from, token->to));
        }
    }
    find_quoted(names, text);
    return CLEW_OK;
}

/* Does a text hold a name, with nothing of a word on either side? */
static bool holds(struct str text, struct str name)
{
    bool is_open_left = !is_inside_word(name.s[0]);
    bool is_open_right = !is_inside_word(name.s[name.len - 1]);
    size_t at = str_ifind(text, name, 0);

    while (at != SIZE_MAX) {
        size_t end = at + name.len;

        if ((is_open_left || at == 0 || !is_inside_word(text.s[at - 1])) &&
            (is_open_right || end == text.len ||
             !is_inside_word(text.s[end]))) {
            return true;
        }
        at = str_ifind(text, name, at + 1);
    }
    return false;
}

enum clew_status search_find_named(struct search_work *work,
                                   struct clew_error *err)
{
    struct names names;
    enum clew_status status =
        find_names(work->arena, work->query->query, &names, err);

    for (size_t i = 0; status == CLEW_OK && i < work->count; i++) {
        struct matter *matter = &work->matters[i];
        struct str text =
            matter->hit.turn ? matter->searched : matter->hit.text;

        matter->n_named = 0;
        for (size_t k = 0; k < names.count; k++) {
            matter->n_named += holds(text, names.items[k]);
        }
    }
    return status;
}

void search_put_named_first(struct search_work *work)
{
    size_t most = 0;
    size_t n_holders = 0;
    size_t place = 0;

    for (size_t i = 0; i < work->count; i++) {
        size_t n = work->matters[i].n_named;

        n_holders = n > most ? 1 : n_holders + (n == most);
        most = n > most ? n : most;
    }
    if (most == 0 || n_holders > NAMED_FEW) {
        return;
    }
    for (size_t i = 0; i < work->count; i++) {
        struct matter named = work->matters[i];

        if (named.n_named != most) {
            continue;
        }
        named.sum = fmax(named.sum, work->matters[place].sum);
        memmove(&work->matters[place + 1], &work->matters[place],
                (i - place) * sizeof(named));
        work->matters[place++] = named;
    }
}
