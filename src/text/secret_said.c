/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_said.c - passwords and keys that are said as such.
 *
 * A label ("password", "mot de passe", "api_key"), a mark or a word for "is",
 * and a value. People also say that a password is wrong, code has fields of
 * that name: the less the mark says, the more the value must look like one.
 */
#include "text/secret_internal.h"

#include <string.h>

#define MAX_VALUE 256
#define MAX_QUOTED 128
/* Between a label and its mark: "password for the guest wifi is …". */
#define MAX_GAP 48
#define MIN_PASSWORD 4
#define MIN_STRONG 6
#define MIN_KEY 12

/* How label and value are joined. */
enum join { JOIN_MARK, JOIN_IS, JOIN_GAP, JOIN_NONE };

struct saying {
    struct str text;
    enum secret_say say;
    enum join join;
    bool is_tight; /* "key=value": ends at & and ; */
    bool is_quoted;
    size_t from; /* of the value */
    size_t to;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_spaces(struct str text, size_t at)
{
    size_t end = at + 4;

    while (at < text.len && at < end && is_space(text.s[at])) {
        at++;
    }
    return at;
}

/* A mark ":" or "=" at `at`, however it is written; bytes, or 0. */
static size_t mark_at(struct str text, size_t at)
{
    if (at >= text.len) {
        return 0;
    }
    if (text.s[at] == ':' || text.s[at] == '=') {
        bool is_two = at + 1 < text.len &&
                      (text.s[at + 1] == '=' || text.s[at + 1] == '>');

        return is_two ? 2 : 1;
    }
    return secret_starts(text, at, "\xEF\xBC\x9A") ? 3 : 0;
}

/* A word for "is" at `at`, spaces around it; bytes, or 0. */
static size_t is_at(struct str text, size_t at)
{
    unsigned char c = at < text.len ? (unsigned char)text.s[at] : 0;

    if (!strchr("iwlejIWLEJ\xC3\xD1", c)) {
        return 0; /* none of them begins so */
    }
    for (size_t i = 0; secret_is[i]; i++) {
        size_t len = strlen(secret_is[i]);

        if (secret_starts(text, at, secret_is[i]) && at + len < text.len &&
            (is_space(text.s[at + len]) || text.s[at + len] == ':')) {
            return len;
        }
    }
    return 0;
}

static size_t spaceless_at(struct str text, size_t at)
{
    for (size_t i = 0; secret_is_spaceless[i]; i++) {
        if (secret_starts(text, at, secret_is_spaceless[i])) {
            return strlen(secret_is_spaceless[i]);
        }
    }
    return 0;
}

/* Find how the label that ends at `at` is joined to a value; where that
 * begins. */
static size_t read_join(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t first;
    size_t len;

    while (at < text.len && strchr("\"'`*)", text.s[at]) && text.s[at]) {
        at++; /* {"password": and **Password**: */
    }
    first = skip_spaces(text, at);
    len = s->say == SAY_SPACELESS ? spaceless_at(text, first)
                                  : mark_at(text, first);
    if (len > 0) {
        s->join = JOIN_MARK;
        s->is_tight = text.s[first] == '=' && first + len < text.len &&
                      !is_space(text.s[first + len]);
        return skip_spaces(text, first + len);
    }
    len = is_at(text, first);
    if (len > 0 && first > at) {
        s->join = JOIN_IS;
        return skip_spaces(text, first + len + mark_at(text, first + len));
    }
    s->join = JOIN_NONE;
    if (s->say != SAY_PASSWORD || first == at) {
        return first;
    }
    for (size_t i = first; i < text.len && i < first + MAX_GAP; i++) {
        if (strchr(".?!\n;\"", text.s[i])) {
            break;
        }
        len = mark_at(text, i);
        if (len == 0 && is_space(text.s[i - 1])) {
            len = is_at(text, i);
        }
        if (len > 0) {
            s->join = JOIN_GAP;
            return skip_spaces(text, i + len);
        }
    }
    return first;
}

static bool ends_value(const struct saying *s, size_t at)
{
    unsigned char c = (unsigned char)s->text.s[at];

    if (s->say == SAY_SPACELESS && c >= 0x80) {
        return true;
    }
    return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' ||
           c == '>' || c == '|' || c == 0x7f ||
           (s->is_tight && (c == '&' || c == ';'));
}

/* Set the value's bytes; false if there are none. */
static bool read_value(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t end = at;

    while (end < text.len && text.s[end] == '*') {
        end++;
    }
    if (end > at + 2) {
        return false; /* masked already */
    }
    at = skip_spaces(text, end); /* **Password:** hunter2 */
    if (at >= text.len) {
        return false;
    }
    s->from = at;
    if (text.s[at] == '"' || text.s[at] == '\'' || text.s[at] == '`') {
        char quote = text.s[at];

        s->from = at + 1;
        end = s->from;
        while (end < text.len && end < s->from + MAX_QUOTED &&
               text.s[end] != quote && text.s[end] != '\n' &&
               text.s[end] != '\r') {
            end++;
        }
        if (end < text.len && text.s[end] == quote) {
            s->is_quoted = true;
            s->to = end;
            return s->to > s->from;
        }
    }
    end = s->from;
    while (end < text.len && end < s->from + MAX_VALUE && !ends_value(s, end)) {
        end++;
    }
    while (end > s->from && strchr(".,;:?)]}*\\", text.s[end - 1])) {
        end--;
    }
    s->to = end;
    return s->to > s->from;
}

struct looks {
    size_t n_digits;
    size_t n_letters;
    size_t n_symbols; /* neither, nor - _ ' . */
    size_t n_capitals_inside;
    bool is_blank;   /* nothing but stars and the like */
    bool is_keylike; /* nothing a key does not hold */
};

static struct looks look_at(struct str value)
{
    struct looks l = {.is_blank = true, .is_keylike = true};

    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.s[i];
        bool is_digit = c >= '0' && c <= '9';

        l.n_digits += is_digit;
        l.n_letters += (secret_is_alnum(c) && !is_digit) || c >= 0x80;
        l.n_symbols += c < 0x80 && !secret_is_alnum(c) && !strchr("-_'.", c);
        l.n_capitals_inside += i > 0 && c >= 'A' && c <= 'Z';
        l.is_blank = l.is_blank && strchr("*x.X_-#", c) && c;
        l.is_keylike =
            l.is_keylike && (secret_is_alnum(c) || (strchr("_+/=.~-", c) && c));
    }
    return l;
}

/* "${VAR}", "<your password>", "os.environ[…]", "input(…)", "self.password". */
static bool is_template(struct str value)
{
    size_t n_dots = 0;

    if (strchr("$<{[(%", value.s[0]) || memchr(value.s, '(', value.len) ||
        memchr(value.s, '[', value.len) ||
        str_find(value, STR("://"), 0) != SIZE_MAX) {
        return true;
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = secret_small((unsigned char)value.s[i]);

        n_dots += c == '.';
        if (c != '.' && c != '_' && !(c >= 'a' && c <= 'z')) {
            return false;
        }
    }
    return n_dots > 0;
}

/* The end of a sentence or a line follows: nothing more is said of it. */
static bool is_last(const struct saying *s)
{
    size_t at = s->to;

    if (at < s->text.len && strchr(".!", s->text.s[at])) {
        return true;
    }
    at = skip_spaces(s->text, at);
    return at >= s->text.len || s->text.s[at] == '\n' || s->text.s[at] == '\r';
}

/* A short word with more words after it: "password: its owner knows". */
static bool is_prose(const struct saying *s, struct str value)
{
    size_t at = skip_spaces(s->text, s->to);

    for (size_t i = 0; i < value.len; i++) {
        if (value.s[i] < 'a' || value.s[i] > 'z') {
            return false;
        }
    }
    return !s->is_quoted && value.len <= MIN_PASSWORD && at > s->to &&
           at < s->text.len && secret_is_alnum((unsigned char)s->text.s[at]);
}

static bool is_participle(struct str value)
{
    return str_ends(value, STR("ing")) || str_ends(value, STR("ed")) ||
           str_ends(value, STR("able")) || str_ends(value, STR("ible"));
}

static bool is_password(const struct saying *s, struct str value,
                        const struct looks *l)
{
    bool is_mixed = l->n_digits > 0 && l->n_letters > 0;
    bool is_strong =
        l->n_digits > 0 || l->n_symbols > 0 || l->n_capitals_inside > 0;

    if (secret_is_plain_word(value) || (!s->is_quoted && is_template(value))) {
        return false;
    }
    switch (s->join) {
    case JOIN_MARK:
        return value.len >= MIN_PASSWORD - 1 && !is_prose(s, value);
    case JOIN_IS:
        return s->is_quoted ||
               (value.len >= MIN_PASSWORD &&
                (is_strong || (is_last(s) && !is_participle(value))));
    case JOIN_GAP:
        return (s->is_quoted && is_strong) ||
               (value.len >= MIN_STRONG &&
                (is_mixed || (l->n_digits > 0 && l->n_symbols > 0)));
    case JOIN_NONE:
        return value.len >= MIN_STRONG && is_mixed && l->is_keylike;
    }
    return false;
}

static bool is_secret(const struct saying *s)
{
    struct str value = str_sub(s->text, s->from, s->to);
    struct looks l = look_at(value);

    if (l.is_blank) {
        return false;
    }
    switch (s->say) {
    case SAY_PASSWORD:
        return is_password(s, value, &l);
    case SAY_PIN:
        return s->join <= JOIN_IS && l.n_digits == value.len &&
               value.len >= 4 && value.len <= 12;
    case SAY_KEY:
        return s->join <= JOIN_IS && l.is_keylike && value.len >= MIN_KEY &&
               l.n_digits > 0 && l.n_letters > 0;
    case SAY_SPACELESS:
        return s->join == JOIN_MARK && value.len >= MIN_PASSWORD &&
               (l.n_digits > 0 || value.len >= MIN_STRONG);
    }
    return false;
}

/* A label ends where its word does. */
static bool ends_label(const struct saying *s, size_t at)
{
    unsigned char c = at < s->text.len ? (unsigned char)s->text.s[at] : ' ';

    return s->say == SAY_SPACELESS || (!secret_is_alnum(c) && c != '_' &&
                                       (c < 0x80 || mark_at(s->text, at)));
}

bool secret_said(struct str text, size_t at, struct secret_span *out)
{
    char first = (char)secret_small((unsigned char)text.s[at]);
    char second =
        (char)(at + 1 < text.len ? secret_small((unsigned char)text.s[at + 1])
                                 : 0);

    for (size_t i = 0; i < secret_n_labels; i++) {
        const struct secret_label *label = &secret_labels[i];
        struct saying s;
        size_t end;

        if (label->text[0] != first || label->text[1] != second ||
            !secret_starts(text, at, label->text)) {
            continue;
        }
        s = (struct saying){.text = text, .say = label->say};
        end = at + strlen(label->text);
        if (!ends_label(&s, end)) {
            continue;
        }
        if (read_value(&s, read_join(&s, end)) && is_secret(&s)) {
            *out = (struct secret_span){s.from, s.to,
                                        s.say == SAY_KEY ? SECRET_API_KEY
                                                         : SECRET_PASSWORD};
            return true;
        }
    }
    return false;
}
