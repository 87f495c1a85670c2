/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_pair.c - passwords that are known by what stands beside them: by a
 * user ("login: ada / …", "net user ada …"), and codes by what they open ("the
 * code of the garage is …"). Each may be something else by itself.
 */
#include "text/secret_internal.h"

#include <string.h>

#define MAX_USER 64
#define MAX_ARGS 6
#define MAX_REACH 48 /* from "code" to what it opens */
#define MIN_CODE 4
#define MAX_CODE 12

/* --- a user and a password --- */

static bool is_user_byte(unsigned char c)
{
    return secret_is_alnum(c) || c >= 0x80 || (c && strchr("._@+-\\", c));
}

/* Past the user at `at`; `at` if there is none. */
static size_t user_end(struct str text, size_t at)
{
    size_t end = at;

    if (at >= text.len || (text.s[at] >= '0' && text.s[at] <= '9')) {
        return at;
    }
    while (end < text.len && end < at + MAX_USER &&
           is_user_byte((unsigned char)text.s[end])) {
        end++;
    }
    return end;
}

/* Where the password begins after the user at `at` and what parts the two;
 * SIZE_MAX if there are none. */
static size_t pair_at(struct str text, size_t at)
{
    size_t quote_len = secret_quote_at(text, at);
    size_t from = at + quote_len;
    size_t end = user_end(text, from);
    size_t mark;
    bool is_apart;

    if (end == from) {
        return SIZE_MAX;
    }
    end += secret_quote_at(text, end);
    mark = secret_skip_blanks(text, end);
    is_apart = mark > end;
    /* ':' after a quote is of code */
    if (mark + 1 >= text.len ||
        !strchr(quote_len > 0 ? "/|," : "/|,:", text.s[mark])) {
        return SIZE_MAX;
    }
    /* "secrets/db2" is a path, "a,b" a list */
    if (!is_apart && (text.s[mark] == '/' || text.s[mark] == '|') &&
        text.s[mark + 1] != ' ') {
        return SIZE_MAX;
    }
    return secret_skip_blanks(text, mark + 1);
}

static bool is_of_pair(const struct saying *s)
{
    struct str value = str_sub(s->text, s->from, s->to);
    size_t at = secret_skip_blanks(s->text, s->to);
    /* "login: Chrome / Firefox120 shows a blank page" */
    bool goes_on = at > s->to && at < s->text.len &&
                   secret_is_alnum((unsigned char)s->text.s[at]);

    return secret_is_hard(value) && !secret_is_template(value) &&
           !secret_has_word(LIST_PLAIN, value) && (s->is_quoted || !goes_on);
}

/* --- commands --- */

/* Past the word at `at` and the blanks after it. */
static size_t next_word(struct str text, size_t at)
{
    while (at < text.len && (unsigned char)text.s[at] > ' ') {
        at++;
    }
    return secret_skip_blanks(text, at);
}

/* "/user:ada", "-n", "Z:", "\\\\nas\\share" */
static bool is_other_arg(struct str text, size_t at, size_t end)
{
    while (end > at && (unsigned char)text.s[end - 1] <= ' ') {
        end--;
    }
    return strchr("/\\-", text.s[at]) || text.s[end - 1] == ':';
}

bool secret_args(struct saying *s, unsigned flags, size_t at)
{
    struct str text = s->text;
    bool has_before = false; /* the user, or the share */
    size_t from = secret_skip_blanks(text, at);

    s->say = SAY_PASSWORD;
    s->join = JOIN_GAP; /* sentences tell of the command, too */
    if (from == at) {
        return false;
    }
    for (size_t i = 0; i < MAX_ARGS && from < text.len; i++) {
        size_t end = next_word(text, from);

        if (end == from || strchr("|&;<>\n", text.s[from])) {
            break;
        }
        if (is_other_arg(text, from, end)) {
            has_before =
                has_before || ((flags & LABEL_SHARE) && text.s[from] == '\\');
        } else if (has_before) {
            return secret_read_value(s, from) && secret_is_value(s);
        } else {
            has_before = !(flags & LABEL_SHARE);
        }
        from = end;
    }
    return false;
}

/* --- what opens by a code --- */

/* The word before `at`, on its line. */
static struct str word_before(struct str text, size_t at)
{
    size_t end = at;
    size_t from;

    while (end > 0 && (text.s[end - 1] == ' ' || text.s[end - 1] == '-')) {
        end--;
    }
    from = end;
    while (from > 0 && end - from < MAX_REACH &&
           (secret_is_alnum((unsigned char)text.s[from - 1]) ||
            (unsigned char)text.s[from - 1] >= 0x80)) {
        from--;
    }
    return str_sub(text, from, end);
}

/* "l'immeuble" is one of those that are named without the article. */
static struct str without_article(struct str word)
{
    const char *mark = memchr(word.s, '\'', word.len);

    return mark ? str_sub(word, (size_t)(mark - word.s) + 1, word.len) : word;
}

bool secret_is_lock(struct str text, size_t label, size_t end)
{
    struct str before = word_before(text, label);

    if (secret_has_word(LIST_LOCK, before)) {
        return true;
    }
    if (secret_has_word(LIST_CODED, before)) {
        return false;
    }
    for (size_t at = end; at < text.len && at < end + MAX_REACH;) {
        struct str word = secret_word_at(text, at);

        if (word.len == 0) {
            if (strchr(".?!;:=\n\"", text.s[at])) {
                break;
            }
            at++;
            continue;
        }
        if (secret_has_word(LIST_LOCK, without_article(word))) {
            return true;
        }
        at += word.len;
    }
    return false;
}

static bool is_lock_code(struct str value)
{
    size_t n_digits = 0;
    size_t n_letters = 0;
    size_t n_marks = 0;

    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.s[i];

        n_digits += c >= '0' && c <= '9';
        n_letters += secret_small(c) >= 'a' && secret_small(c) <= 'd';
        n_marks += c && strchr("-*#", c) != NULL;
    }
    /* "12A45", "4471#", "12-34-56" */
    return value.len >= MIN_CODE && value.len <= MAX_CODE &&
           n_digits + n_letters + n_marks == value.len && n_letters <= 2 &&
           n_digits >= MIN_CODE - (n_letters > 0);
}

bool secret_beside(struct saying *s, size_t at)
{
    while (at < s->text.len && s->text.s[at] == '*') { /* **Login:** */
        at++;
    }
    at = secret_skip_blanks(s->text, at);
    if (s->say == SAY_PAIR) {
        at = pair_at(s->text, at);
        return at != SIZE_MAX && secret_read_value(s, at) && is_of_pair(s);
    }
    return secret_read_value(s, at) &&
           is_lock_code(str_sub(s->text, s->from, s->to));
}
