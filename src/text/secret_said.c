/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_said.c - passwords and keys that are said as such.
 *
 * A label ("password", "mot de passe", "DB_PASS"), a mark or a word for "is",
 * and a value. People also say that a password is wrong, code has fields of
 * that name: the less the mark says, the more the value must look like one
 * (secret_value.c).
 */
#include "text/secret_internal.h"

#include <string.h>

/* Between a label and its mark: "password for the guest wifi is …". */
#define MAX_GAP 64
#define MAX_CLOSERS 16
#define MAX_NAME 32 /* of what follows a label in a name */
#define MAX_PART 16
#define MAX_FILLERS 2
#define MAX_BEFORE 32 /* looked at for "changed", "my card's" */
#define MAX_TAGS 3
#define MAX_TAG 24

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_word_byte(unsigned char c)
{
    return secret_is_alnum(c) || c == '_' || c == '-';
}

/* A mark ":" or "=" at `at`, however it is written; bytes, or 0. */
static size_t mark_at(struct str text, size_t at)
{
    if (at >= text.len) {
        return 0;
    }
    switch (text.s[at]) {
    case ':':
    case '=':
        return at + 1 < text.len &&
                       (text.s[at + 1] == '=' || text.s[at + 1] == '>')
                   ? 2
                   : 1;
    case '%':
        return secret_starts(text, at, "%3a") || secret_starts(text, at, "%3d")
                   ? 3
                   : 0;
    default:
        return secret_starts(text, at, "：") || secret_starts(text, at, "＝")
                   ? 3
                   : 0;
    }
}

/* A word for "is" at `at`; bytes, or 0. */
static size_t is_at(struct str text, size_t at, enum secret_join *out)
{
    char first = (char)secret_small((unsigned char)text.s[at]);

    for (size_t i = 0; secret_is[i].text; i++) {
        const char *word = secret_is[i].text;
        size_t end;

        if (word[0] != first || !secret_starts(text, at, word)) {
            continue;
        }
        end = at + strlen(word);
        if (end < text.len && (is_space(text.s[end]) || text.s[end] == ':' ||
                               secret_line_end_at(text, end) > 0)) {
            *out = secret_is[i].join;
            return end - at;
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

static bool try_value(struct saying *s, enum secret_join join, size_t at)
{
    s->join = join;
    return s->say == SAY_PAIR || s->say == SAY_LOCK
               ? secret_beside(s, at)
               : secret_read_value(s, at) && secret_is_value(s);
}

/* Past what closes a label: {"password": and **Password**: and ["password"] */
static size_t skip_closers(struct str text, size_t at)
{
    size_t end = at + MAX_CLOSERS;

    while (at < text.len && at < end) {
        size_t len = secret_quote_at(text, at);

        if (len == 0 && !strchr("*)]", text.s[at])) {
            break;
        }
        at += len > 0 ? len : 1;
    }
    return at;
}

/* Past tags, stars and blanks: <b>Password:</b> hunter2 */
static size_t skip_tags(struct str text, size_t at)
{
    for (size_t i = 0; i < MAX_TAGS; i++) {
        struct str tag;
        const char *end;

        at = secret_skip_blanks(text, at);
        tag = str_sub(text, at, at + MAX_TAG);
        end =
            tag.len > 3 && tag.s[0] == '<' ? memchr(tag.s, '>', tag.len) : NULL;
        /* "<your password>" is none, nor is "<password>" */
        if (!end || memchr(tag.s, ' ', (size_t)(end - tag.s)) ||
            (tag.s[1] != '/' && end - tag.s > 7)) { /* <string> */
            break;
        }
        at += (size_t)(end - tag.s) + 1;
    }
    return at;
}

/* After a mark: the value, on this line or alone on the next. */
static bool try_marked(struct saying *s, enum secret_join join, size_t at)
{
    struct str text = s->text;
    size_t n_ends = 0;
    size_t value = skip_tags(text, at);

    if (s->say == SAY_AUTH) {
        struct str scheme = secret_word_at(text, value);

        if (is_space(value + scheme.len < text.len ? text.s[value + scheme.len]
                                                   : '.')) {
            value = secret_skip_blanks(text, value + scheme.len);
        }
    }
    for (size_t len = secret_line_end_at(text, value); len > 0 && n_ends < 4;
         n_ends++) {
        value = skip_tags(text, value + len);
        len = secret_line_end_at(text, value);
    }
    s->is_below = n_ends > 0;
    if (try_value(s, join, value)) {
        return true;
    }
    /* const password: string = "…" */
    if (s->to > s->from && s->to < text.len && !s->is_quoted && n_ends == 0) {
        value = secret_skip_blanks(text, s->to);
        return value < text.len && text.s[value] == '=' &&
               mark_at(text, value) == 1 &&
               secret_quote_at(text, secret_skip_blanks(text, value + 1)) > 0 &&
               try_value(s, join, secret_skip_blanks(text, value + 1));
    }
    return false;
}

static bool try_mark(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t mark = secret_skip_blanks(text, skip_closers(text, at));
    size_t len = mark_at(text, mark);
    size_t end = mark + len;

    if (len == 0 ||
        (text.s[mark] == '=' && len == 2 && text.s[mark + 1] == '=' &&
         !secret_quote_at(text, secret_skip_blanks(text, end)))) {
        return false; /* compared with another variable */
    }
    s->is_tight =
        text.s[mark] == '=' && end < text.len && !is_space(text.s[end]);
    return try_marked(s, JOIN_MARK, end);
}

/*
 * The name of a value apart from it: "name: DB_PASSWORD, value: …", whatever
 * stands between; <key>password</key><string>…</string>; <password>…</….
 */
static bool try_pair(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t value = skip_closers(text, at);
    size_t end = value + MAX_TAG;

    if (value < text.len && (text.s[value] == '>' || text.s[value] == '<')) {
        struct saying inner = *s;
        size_t from = skip_tags(text, value + (text.s[value] == '>'));

        inner.is_tight = true;
        if (!try_value(&inner, JOIN_MARK, from) ||
            !secret_starts(text, inner.to, "</")) {
            return false;
        }
        *s = inner;
        return true;
    }
    while (value < text.len && value < end &&
           strchr(" \t\r\n\"'`\\,;/>-{}", text.s[value])) {
        value++;
    }
    if (!secret_starts(text, value, "value") || value == at) {
        /* a line's end as it is written in a string */
        if (value + 1 >= text.len || text.s[value - 1] != '\\') {
            return false;
        }
        value = secret_skip_blanks(text, value + 1);
    }
    return secret_starts(text, value, "value") && try_mark(s, value + 5);
}

/* --password hunter2; ["--password", "hunter2"] */
static bool try_option(struct saying *s, size_t label, size_t at)
{
    struct str text = s->text;
    size_t from = label;
    size_t value = at;

    while (from > 0 && label - from < MAX_NAME &&
           is_word_byte((unsigned char)text.s[from - 1])) {
        from--;
    }
    if (from == label || text.s[from] != '-' ||
        (from > 0 && !strchr(" \t\n\"'[", text.s[from - 1]))) {
        return false;
    }
    while (value < text.len && value < at + MAX_CLOSERS &&
           strchr("\\\"' \t,", text.s[value])) {
        value++;
    }
    while (value > at && text.s[value - 1] != ' ' && text.s[value - 1] != ',') {
        value--; /* the value's own quotes */
    }
    s->is_tight = true;
    return value > at && value < text.len && text.s[value] != '-' &&
           try_value(s, JOIN_GAP, value);
}

/* setPassword("…") */
static bool try_call(struct saying *s, size_t at)
{
    return at < s->text.len && s->text.s[at] == '(' &&
           secret_quote_at(s->text, at + 1) > 0 &&
           try_value(s, JOIN_GAP, at + 1) &&
           !memchr(s->text.s + s->from, ' ', s->to - s->from);
}

/* Past "now" and "still" after a word for "is", and past a mark. */
static size_t after_is(struct str text, size_t at)
{
    for (size_t i = 0; i < MAX_FILLERS; i++) {
        size_t from = secret_skip_blanks(text, at);
        struct str word = secret_word_at(text, from);

        if (!secret_has_word(LIST_FILLER, word)) {
            break;
        }
        at = from + word.len;
    }
    at += mark_at(text, at);
    return secret_skip_blanks(text, at);
}

/* Is something said to be changed here? */
static bool is_changing(struct str text, size_t label, size_t at)
{
    static const char *const verbs[] = {"chang", "set ",  "reset",
                                        "updat", "rotat", "setze"};
    struct str around =
        str_sub(text, label > MAX_BEFORE ? label - MAX_BEFORE : 0, at);

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (str_ifind(around, str_of(verbs[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* "to" and its like; bytes, or 0. */
static size_t to_at(struct str text, size_t at)
{
    static const char *const words[] = {"to ",  "auf ",  "a ",   "à ",    "en ",
                                        "por ", "naar ", "su ",  "na ",   "на ",
                                        "in ",  "para ", "til ", "till ", "as ",
                                        "par ", "on ",   "je ",  "od "};
    char first = (char)secret_small((unsigned char)text.s[at]);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i][0] == first && secret_starts(text, at, words[i])) {
            return strlen(words[i]);
        }
    }
    return 0;
}

/* After "to": what looks like one, or any word where something is changed. */
static bool try_to(struct saying *s, size_t label, size_t at)
{
    enum secret_join join =
        is_changing(s->text, label, at) ? JOIN_IS : JOIN_GAP;

    return try_value(s, join, secret_skip_blanks(s->text, at));
}

/* The words after a label, up to one for "is", a mark, or "to". */
static bool try_gap(struct saying *s, size_t label, size_t first)
{
    struct str text = s->text;
    size_t to = 0;

    for (size_t i = first; i < text.len && i < first + MAX_GAP; i++) {
        enum secret_join join = JOIN_GAP;
        size_t len = mark_at(text, i);

        if (strchr(".?!\n;\"", text.s[i])) {
            break;
        }
        if (len > 0 && secret_starts(text, i, "://")) {
            continue;
        }
        if (len > 0) {
            /* name="pw2" is another attribute, "postal code: A1" another code
             */
            return s->say != SAY_WEAK &&
                   (text.s[i] != '=' ||
                    (len == 1 && is_space(text.s[i - 1]))) &&
                   try_marked(s, JOIN_GAP, i + len);
        }
        if (!is_space(text.s[i - 1])) {
            continue;
        }
        len = is_at(text, i, &join);
        if (len > 0) {
            return try_value(s,
                             i == first          ? join
                             : join == JOIN_TOLD ? JOIN_FOREIGN
                                                 : JOIN_GAP,
                             after_is(text, i + len));
        }
        if (to == 0) {
            len = to_at(text, i);
            to = len > 0 ? i + len : 0;
        }
    }
    return to > 0 && try_to(s, label, to);
}

static bool try_words(struct saying *s, size_t label, size_t at)
{
    struct str text = s->text;
    size_t end = skip_closers(text, at);
    size_t first = secret_skip_blanks(text, end);

    if (first == end || first >= text.len ||
        secret_has_word(LIST_OTHER, secret_word_at(text, first))) {
        return false;
    }
    if (try_gap(s, label, first)) {
        return true;
    }
    if (s->say != SAY_PASSWORD && s->say != SAY_PHRASE && s->say != SAY_LOCK) {
        return false;
    }
    /* Password - hunter2, | password | hunter2 | */
    while (first < text.len && strchr("-|>\xE2\x80\x93\x94", text.s[first])) {
        first++;
    }
    return try_value(s, JOIN_NONE, secret_skip_blanks(text, first));
}

static bool try_spaceless(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t value = secret_skip_blanks(text, skip_closers(text, at));
    enum secret_join join = JOIN_NONE;

    for (size_t i = 0; i < 1 + MAX_FILLERS; i++) {
        size_t len = spaceless_at(text, value);

        if (len == 0) {
            break;
        }
        join = mark_at(text, value) > 0 ? JOIN_MARK : JOIN_IS;
        value = secret_skip_blanks(text, value + len);
    }
    return try_marked(s, join, value);
}

/* --- names in code --- */

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Past the part of a name that begins at `at`: "_KEY", "Old", "2". */
static size_t part_end(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.len && end < at + MAX_PART &&
           secret_is_alnum((unsigned char)text.s[end]) &&
           !(end > at && is_capital(text.s[end]) &&
             !is_capital(text.s[end - 1]))) {
        end++;
    }
    return end;
}

/* A number, or a word that leaves the name what it was. */
static bool is_name_part(struct str part)
{
    size_t n_digits = 0;

    while (n_digits < part.len && part.s[n_digits] >= '0' &&
           part.s[n_digits] <= '9') {
        n_digits++;
    }
    return n_digits == part.len || secret_has_word(LIST_NAME, part);
}

/*
 * The end of the name a label begins: SECRET_KEY_BASE, password1. SIZE_MAX if
 * what follows makes another thing of it: password_policy, tokenCount.
 */
static size_t name_end(struct str text, size_t at)
{
    size_t from = at;

    while (at < text.len && is_word_byte((unsigned char)text.s[at]) &&
           at < from + MAX_NAME) {
        size_t end;

        while (at < text.len && (text.s[at] == '_' || text.s[at] == '-')) {
            at++;
        }
        end = part_end(text, at);
        if (end > at && !is_name_part(str_sub(text, at, end))) {
            return SIZE_MAX;
        }
        if (end == at) {
            break;
        }
        at = end;
    }
    return at;
}

/* Past the letters of an ending: hasła, şifrem. */
static size_t stem_end(struct str text, size_t at)
{
    struct str ending = secret_word_at(text, at);

    return ending.len <= MAX_PART ? at + ending.len : SIZE_MAX;
}

static size_t label_end(const struct secret_label *label, struct str text,
                        size_t at)
{
    unsigned char c;

    if (label->say == SAY_SPACELESS) {
        return at;
    }
    if (label->flags & LABEL_STEM) {
        return stem_end(text, at);
    }
    at = name_end(text, at);
    c = at < text.len ? (unsigned char)text.s[at] : ' ';
    return c < 0x80 || mark_at(text, at) || secret_quote_at(text, at) ||
                   secret_starts(text, at, "\xE2\x80") ||
                   secret_starts(text, at, "\xC2\xA0")
               ? at
               : SIZE_MAX;
}

/* A public or a primary key is no secret. */
static bool is_public(const struct saying *s, size_t label)
{
    static const char *const kinds[] = {
        "public", "primary", "foreign", "cache", "sort", "partition", "object"};
    struct str before =
        str_sub(s->text, label > MAX_PART ? label - MAX_PART : 0, label);

    for (size_t i = 0;
         s->say == SAY_BARE && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (str_ifind(before, str_of(kinds[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* "PIN code: 560001" is an Indian post code, unless somebody's PIN is told. */
static bool is_post_code(const struct saying *s, size_t label)
{
    static const char *const owners[] = {"my ",  "card", "bank",   "sim",
                                         "door", "your", "secret", "phone",
                                         "atm",  "our "};
    struct str before =
        str_sub(s->text, label > MAX_BEFORE ? label - MAX_BEFORE : 0, label);

    if (s->say != SAY_PIN || s->to - s->from != 6 ||
        s->text.s[s->from] == '0' ||
        (!secret_starts(s->text, label, "pin code") &&
         !secret_starts(s->text, label, "pincode"))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        if (str_ifind(before, str_of(owners[i]), 0) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

/* Does no word stand before it? "bus pass" */
static bool is_first(struct str text, size_t at)
{
    while (at > 0 && is_space(text.s[at - 1])) {
        at--;
    }
    return at == 0 || !secret_is_alnum((unsigned char)text.s[at - 1]) ||
           secret_is_escaped(text, at);
}

/* "requirepass hunter2", a line of its own or after "config set". */
static bool try_line(struct saying *s, size_t at, size_t end)
{
    struct str text = s->text;
    size_t from = at;

    while (from > 0 && is_space(text.s[from - 1])) {
        from--;
    }
    if (from > 0 && text.s[from - 1] != '\n' &&
        !secret_is_escaped(text, from) &&
        (from < 3 || !secret_starts(text, from - 3, "set"))) {
        return false;
    }
    if (end >= text.len || !is_space(text.s[end]) ||
        !try_value(s, JOIN_IS, secret_skip_blanks(text, end))) {
        return false;
    }
    from = secret_skip_blanks(text, s->to + s->is_quoted);
    return from >= text.len || secret_line_end_at(text, from) > 0;
}

static bool try_label(struct saying *s, const struct secret_label *label,
                      size_t at, bool is_inside)
{
    size_t plain = at + strlen(label->text);
    size_t end = label_end(label, s->text, plain);

    if (end == SIZE_MAX || (is_inside && !(label->flags & LABEL_ENDS))) {
        return false;
    }
    if (label->say == SAY_SPACELESS) {
        return try_spaceless(s, end) || secret_before(s, at, end);
    }
    if (label->say == SAY_ARGS) {
        return secret_args(s, label->flags, end);
    }
    if (is_public(s, at) ||
        (label->say == SAY_LOCK && !secret_is_lock(s->text, at, end)) ||
        (label->flags & LABEL_FIRST && !is_first(s->text, at))) {
        return false;
    }
    if (try_mark(s, end) || try_pair(s, end) || try_option(s, at, end) ||
        try_call(s, end)) {
        return !is_post_code(s, at);
    }
    if (label->flags & LABEL_LINE && try_line(s, at, end)) {
        return true;
    }
    return (end == plain || (label->flags & LABEL_STEM)) &&
           (try_words(s, at, end) || secret_before(s, at, end)) &&
           !is_post_code(s, at);
}

/* The first label that begins with these two bytes, or one after it. */
static size_t first_label(unsigned char first, unsigned char second)
{
    size_t low = 0;
    size_t high = secret_n_labels;

    while (low < high) {
        size_t mid = (low + high) / 2;
        const unsigned char *text =
            (const unsigned char *)secret_labels[mid].text;

        if (text[0] < first || (text[0] == first && text[1] < second)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

bool secret_said(struct str text, size_t at, struct secret_span *out)
{
    unsigned char first = secret_small((unsigned char)text.s[at]);
    unsigned char second =
        at + 1 < text.len ? secret_small((unsigned char)text.s[at + 1]) : 0;
    bool is_inside = first < 0x80 && at > 0 &&
                     secret_is_alnum((unsigned char)text.s[at - 1]) &&
                     !secret_is_escaped(text, at) &&
                     !(is_capital(text.s[at]) && !is_capital(text.s[at - 1]));
    size_t from = first_label(first, second);
    size_t to = from;

    while (to < secret_n_labels &&
           (unsigned char)secret_labels[to].text[0] == first &&
           (unsigned char)secret_labels[to].text[1] == second) {
        to++;
    }
    while (to > from) { /* longer ones before those they begin with */
        const struct secret_label *label = &secret_labels[--to];
        struct saying s = {.text = text, .say = label->say};

        if (secret_starts(text, at, label->text) &&
            try_label(&s, label, at, is_inside)) {
            *out = (struct secret_span){s.from, s.to,
                                        s.say == SAY_KEY || s.say == SAY_BARE ||
                                                s.say == SAY_AUTH
                                            ? SECRET_API_KEY
                                        : s.say == SAY_CVV ? SECRET_CARD
                                                           : SECRET_PASSWORD};
            return true;
        }
    }
    return false;
}
