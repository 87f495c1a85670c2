/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_value.c - where a value ends, and whether it looks like a secret.
 *
 * A value ends with its quotes, else at the first blank; some are pass phrases
 * of several words, which end with their line.
 */
#include "base/utf8.h"
#include "text/secret_internal.h"

#include <string.h>

#define MAX_VALUE 256
#define MAX_LINE 160 /* of a pass phrase */
#define MAX_WORDS 24
#define MAX_NAME 24 /* of what is assigned next */
#define MAX_TAG 24
#define MIN_PASSWORD 4
#define MIN_STRONG 6
#define MIN_KEY 12
#define MIN_TIGHT_KEY 8 /* "secret=…" */
#define MIN_BARE 16
#define MAX_BLANKS 32

static const struct quote {
    const char *open;
    const char *close;
    const char *other; /* closes it as well */
} quotes[] = {
    {"\"", "\"", "\""}, {"'", "'", "'"},
    {"`", "`", "`"},    {"“", "”", "”"},
    {"„", "“", "”"},    {"‘", "’", "’"},
    {"‚", "‘", "’"},    {"«", "»", "»"},
    {"»", "«", "«"},    {"‹", "›", "›"},
    {"「", "」", "」"}, {"『", "』", "』"},
    {"”", "”", "”"},    {"&quot;", "&quot;", "&quot;"},
};

static bool at_text(struct str text, size_t at, const char *what)
{
    return str_starts(str_sub(text, at, text.len), str_of(what));
}

size_t secret_skip_blanks(struct str text, size_t at)
{
    size_t end = at + MAX_BLANKS;

    while (at < text.len && at < end) {
        if (text.s[at] == ' ' || text.s[at] == '\t') {
            at++;
        } else if (at_text(text, at, "\xC2\xA0")) {
            at += 2;
        } else if (at_text(text, at, "\xE3\x80\x80")) {
            at += 3;
        } else {
            break;
        }
    }
    return at;
}

struct str secret_word_at(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.len && end < at + MAX_VALUE) {
        unsigned char c = secret_small((unsigned char)text.s[end]);

        if (c < 0x80 && (c < 'a' || c > 'z') && c != '\'') {
            break;
        }
        end++;
    }
    return str_sub(text, at, end);
}

static size_t n_backslashes(struct str text, size_t at)
{
    size_t n = 0;

    while (at + n < text.len && text.s[at + n] == '\\' && n < 15) {
        n++;
    }
    return n;
}

static const struct quote *open_at(struct str text, size_t at, size_t *out_len)
{
    size_t n = n_backslashes(text, at);
    unsigned char c = at + n < text.len ? (unsigned char)text.s[at + n] : 0;

    if (!strchr("\"'`&\xC2\xE2\xE3", c) || !c) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++) {
        if (at_text(text, at + n, quotes[i].open)) {
            *out_len = n + strlen(quotes[i].open);
            return &quotes[i];
        }
    }
    return NULL;
}

size_t secret_quote_at(struct str text, size_t at)
{
    size_t len = 0;

    return open_at(text, at, &len) ? len : 0;
}

size_t secret_line_end_at(struct str text, size_t at)
{
    size_t n;

    if (at >= text.len) {
        return 0;
    }
    if (text.s[at] == '\n' || text.s[at] == '\r') {
        return 1;
    }
    n = n_backslashes(text, at);
    return n > 0 && at + n < text.len &&
                   (text.s[at + n] == 'n' || text.s[at + n] == 'r')
               ? n + 1
               : 0;
}

/*
 * Does the quote at `at` close what one after `depth` backslashes opened? Text
 * that is quoted again has 1, 3, 7 … before each: more of them are part of the
 * value, and an apostrophe inside of a word is.
 */
static bool closes(struct str text, size_t from, size_t at, size_t depth)
{
    size_t n = 0;

    while (at - n > from && text.s[at - n - 1] == '\\') {
        n++;
    }
    if (text.s[at] == '\'' && at + 1 < text.len &&
        secret_is_alnum((unsigned char)text.s[at + 1])) {
        return false;
    }
    return n <= depth || (n - depth) / (depth + 1) % 2 == 0;
}

/* The value between the quote at `at` and the one that closes it. */
static bool read_quoted(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t len = 0;
    const struct quote *quote = open_at(text, at, &len);
    size_t depth = n_backslashes(text, at);
    size_t from = at + len;

    if (!quote) {
        return false;
    }
    for (size_t i = from; i < text.len && i < from + MAX_VALUE; i++) {
        if (text.s[i] == '\n' || text.s[i] == '\r') {
            return false;
        }
        if ((at_text(text, i, quote->close) ||
             at_text(text, i, quote->other)) &&
            closes(text, from, i, depth)) {
            size_t end = i;

            for (size_t n = 0; n < depth && end > from; n++) {
                end -= text.s[end - 1] == '\\';
            }
            s->is_quoted = true;
            s->from = from;
            s->to = end;
            return end > from;
        }
    }
    return false;
}

/* "; name=" begins what is assigned next. */
static bool is_assigned(struct str text, size_t at)
{
    for (size_t i = at; i < text.len && i < at + MAX_NAME; i++) {
        if (text.s[i] == '=') {
            return true;
        }
        if (!secret_is_alnum((unsigned char)text.s[i]) &&
            !strchr(" _.-", text.s[i])) {
            break;
        }
    }
    return at >= text.len || text.s[at] <= ' ';
}

static bool is_tag(struct str text, size_t at)
{
    struct str tag = str_sub(text, at, at + MAX_TAG);

    return tag.len > 1 && (tag.s[1] == '/' || memchr(tag.s, '>', tag.len));
}

static bool is_keylike(unsigned char c)
{
    return secret_is_alnum(c) || (c && strchr("_+/=.~-", c));
}

static bool ends_value(const struct saying *s, size_t at)
{
    struct str text = s->text;
    unsigned char c = (unsigned char)text.s[at];
    unsigned char next = at + 1 < text.len ? (unsigned char)text.s[at + 1] : 0;

    switch (s->say) {
    case SAY_SPACELESS:
        if (c >= 0x80) {
            return true;
        }
        break;
    case SAY_KEY:
    case SAY_AUTH:
    case SAY_BARE:
        return !is_keylike(c);
    case SAY_PASSWORD:
    case SAY_WEAK:
    case SAY_PHRASE:
    case SAY_PIN:
    case SAY_CVV:
    case SAY_PAIR:
    case SAY_LOCK:
    case SAY_ARGS:
        break;
    }
    switch (c) {
    case 0x7f:
        return true;
    case '"':
    case '`':
        return s->is_tight || !secret_is_alnum(next);
    case '\'':
        return !secret_is_alnum(next);
    case '<':
        return is_tag(text, at);
    case '|':
        return next <= ' ';
    case '&':
    case ';':
        return s->is_tight && is_assigned(text, at + 1);
    case ',':
        return s->is_tight && next == '"';
    case '\\':
        return secret_line_end_at(text, at) > 0 ||
               secret_quote_at(text, at) > 0;
    default:
        return c <= ' ' || secret_starts(text, at, "\xE3\x80") ||
               secret_starts(text, at, "\xC2\xA0") ||
               secret_starts(text, at, "\xEF\xBC\x8C");
    }
}

static void read_word(struct saying *s, size_t at)
{
    size_t end = at;

    while (end < s->text.len && end < at + MAX_VALUE && !ends_value(s, end)) {
        end++;
    }
    end = utf8_cut(s->text, end);
    while (end > at && strchr(".,;:?)]}*\\", s->text.s[end - 1])) {
        end--;
    }
    s->from = at;
    s->to = end;
}

size_t secret_value_end(const struct saying *s)
{
    size_t end = s->to;

    /* so long that it was not read to its end */
    while (!s->is_quoted && s->to - s->from > MAX_VALUE - 8 &&
           end < s->text.len && !ends_value(s, end)) {
        end++;
    }
    return end;
}

/* --- looks --- */

struct looks {
    size_t n_digits;
    size_t n_letters;
    size_t n_symbols; /* that no name or path holds, and not last */
    size_t n_capitals_inside;
    size_t n_turns;  /* from a letter to a digit and back */
    size_t n_run;    /* letters and digits, the longest */
    bool is_blank;   /* nothing but stars and the like */
    bool is_keylike; /* nothing a key does not hold */
    bool is_hex;
    bool is_shouted; /* all capitals */
};

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static struct looks look_at(struct str value)
{
    struct looks l = {.is_blank = true,
                      .is_keylike = true,
                      .is_hex = true,
                      .is_shouted = true};
    size_t n_run = 0;

    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.s[i];
        unsigned char last = i > 0 ? (unsigned char)value.s[i - 1] : ' ';
        bool is_letter = secret_is_alnum(c) && !is_digit(c);

        n_run = secret_is_alnum(c) ? n_run + 1 : 0;
        l.n_run = n_run > l.n_run ? n_run : l.n_run;
        l.n_digits += is_digit(c);
        l.n_letters += is_letter || c >= 0x80;
        l.n_symbols += i > 0 && i + 1 < value.len && c &&
                       strchr("!#$&@*^~+=%;,\"'", c) != NULL;
        l.n_capitals_inside += i > 0 && c >= 'A' && c <= 'Z';
        l.n_turns += (is_letter && is_digit(last)) ||
                     (is_digit(c) && secret_is_alnum(last) && !is_digit(last));
        l.is_blank = l.is_blank && strchr("*x.X_-#", c) && c;
        l.is_keylike = l.is_keylike && is_keylike(c);
        l.is_hex =
            l.is_hex && (is_digit(c) || c == '-' ||
                         (secret_small(c) >= 'a' && secret_small(c) <= 'f'));
        l.is_shouted = l.is_shouted && !(c >= 'a' && c <= 'z');
    }
    return l;
}

static bool is_mixed(const struct looks *l)
{
    return l->n_digits > 0 && l->n_letters > 0;
}

/* "$HOME2", "$name" */
static bool is_variable(struct str name)
{
    struct looks l = look_at(name);

    return (l.is_shouted && l.n_letters > 0) ||
           (l.n_digits == 0 && l.is_keylike);
}

/* "{{x}}", "<x>", "$X", "%s": a mark, and what makes it a place for a value. */
static bool is_place(struct str value)
{
    switch (value.s[0]) {
    case '$':
        return value.len < 2 || strchr("{(", value.s[1]) ||
               str_starts(value, STR("$2")) ||
               is_variable(str_sub(value, 1, value.len));
    case '<':
        return memchr(value.s, '>', value.len) != NULL || value.len < 8;
    case '{':
    case '[':
    case '(':
        return true;
    case '%':
        return value.len < 3 || value.s[value.len - 1] == '%' ||
               value.s[1] == '(' || value.s[1] == '{';
    default:
        return false;
    }
}

bool secret_is_template(struct str value)
{
    struct str part = value;
    struct str word;
    bool is_name = true;
    bool is_known = false;

    if (value.len == 0 || is_place(value) || str_starts(value, STR("~/")) ||
        str_starts(value, STR("./")) || str_starts(value, STR("//")) ||
        str_starts(value, STR("../")) ||
        str_find(value, STR("://"), 0) != SIZE_MAX) {
        return true;
    }
    for (size_t i = 0; i < value.len && is_name; i++) {
        unsigned char c = (unsigned char)value.s[i];

        if (c == '(' || c == '[') {
            return i > 0; /* a call */
        }
        is_name = c == '.' || c == '_' || (secret_is_alnum(c) && !is_digit(c));
    }
    if (is_name && look_at(value).is_shouted &&
        memchr(value.s, '_', value.len)) {
        return true; /* a constant */
    }
    if (!is_name || !memchr(value.s, '.', value.len)) {
        return false;
    }
    while (str_split(&part, '.', &word)) {
        is_known = is_known || secret_has_word(LIST_CODE, word) ||
                   secret_has_word(LIST_PLAIN, word);
    }
    return is_known;
}

/* --- pass phrases --- */

/* The end of the line from `at`, blanks and full stops taken off. */
static size_t line_end(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.len && end < at + MAX_LINE &&
           secret_line_end_at(text, end) == 0 && text.s[end] != '"') {
        end++;
    }
    end = utf8_cut(text, end);
    while (end > at && strchr(" \t.", text.s[end - 1])) {
        end--;
    }
    return end;
}

/* What the line says is how a password must be: "minimum eight letters". */
static bool is_rule(struct str line)
{
    static const char *const words[] = {
        "character", "chars",  "letter", "digit",  "minim",
        "at least",  "must",   "should", "please", "contact",
        "ask ",      "symbol", "миним",  "символ", "leave ",
        "zeichen",   "mindes", "caract", "lettre", "characte"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_ifind(line, str_of(words[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

struct line {
    size_t n_words;
    size_t n_small; /* of small letters only */
    size_t n_mixed;
    size_t n_plain;
    bool is_marked; /* as no phrase is: "user: ada, …" */
};

static struct line look_at_line(struct str text)
{
    struct line line = {0};
    struct str word;

    while (str_split(&text, ' ', &word)) {
        struct looks l = look_at(word);

        line.n_words++;
        line.n_small +=
            word.len > 1 && l.n_letters == word.len && !l.n_capitals_inside &&
            secret_small((unsigned char)word.s[0]) == (unsigned char)word.s[0];
        line.n_mixed += word.len >= MIN_PASSWORD &&
                        (is_mixed(&l) || l.n_symbols > 0 ||
                         (l.n_digits > 0 && l.n_digits < word.len));
        line.n_plain += secret_has_word(LIST_PLAIN, word);
        line.is_marked = line.is_marked || word.len == 0 ||
                         strchr(":=,(<{|", word.s[word.len - 1]) ||
                         strchr("(<{|", word.s[0]);
    }
    return line;
}

/* A pass phrase to the line's end, where the rest of it looks like one. */
static void read_phrase(struct saying *s)
{
    struct str text = str_sub(s->text, s->from, line_end(s->text, s->from));
    struct looks first = look_at(str_sub(s->text, s->from, s->to));
    struct line line;
    bool is_phrase;

    if (text.len <= s->to - s->from || text.s[0] == '*') {
        return;
    }
    line = look_at_line(text);
    is_phrase = s->say == SAY_PHRASE
                    ? line.n_words >= 2 && line.n_words <= MAX_WORDS &&
                          line.n_small + line.n_mixed == line.n_words
                    : (line.n_words >= 4 && line.n_words <= 8 &&
                       line.n_small == line.n_words) ||
                          (line.n_words <= 6 && line.n_mixed > 0 &&
                           first.n_digits == 0 && first.n_symbols == 0);
    /* a sentence about passwords has more words that are never one */
    if (is_phrase && !line.is_marked && line.n_plain * 3 <= line.n_words &&
        !is_rule(text)) {
        s->to = s->from + text.len;
        s->is_quoted = true; /* its words are no reason against it */
    }
}

bool secret_read_value(struct saying *s, size_t at)
{
    struct str text = s->text;
    size_t end = at;

    s->is_quoted = false;
    while (end < text.len && text.s[end] == '*') {
        end++;
    }
    if (end > at + 2) {
        return false; /* masked already */
    }
    at = secret_skip_blanks(text, end); /* **Password:** hunter2 */
    if (at >= text.len) {
        return false;
    }
    if (read_quoted(s, at)) {
        return true;
    }
    read_word(s, at + secret_quote_at(text, at));
    if (s->to > s->from && !s->is_tight && !s->is_below &&
        ((s->say == SAY_PASSWORD && s->join == JOIN_MARK) ||
         (s->say == SAY_PHRASE && s->join <= JOIN_FOREIGN))) {
        read_phrase(s);
    }
    return s->to > s->from;
}

/* --- judgement --- */

/* The end of a sentence or a line follows: nothing more is said of it. */
static bool is_last(const struct saying *s)
{
    size_t at = s->to;

    if (at < s->text.len && strchr(".!", s->text.s[at])) {
        return true;
    }
    at = secret_skip_blanks(s->text, at);
    return at >= s->text.len || secret_line_end_at(s->text, at) > 0;
}

/* A word with more words after it: "password: its owner knows". */
static bool is_prose(const struct saying *s, struct str value,
                     const struct looks *l)
{
    size_t at = secret_skip_blanks(s->text, s->to);

    if (s->is_quoted || at == s->to || at >= s->text.len ||
        !secret_is_alnum((unsigned char)s->text.s[at])) {
        return false;
    }
    if (l->n_letters < value.len && l->n_digits + 1 < value.len) {
        return false;
    }
    /* "100k leaked", "8-20 characters" */
    return (value.len <= MIN_PASSWORD &&
            (l->n_digits == 0 || l->n_digits + 1 == value.len)) ||
           is_rule(str_sub(s->text, s->from, line_end(s->text, s->from)));
}

static bool is_participle(struct str value)
{
    return str_ends(value, STR("ing")) || str_ends(value, STR("ed")) ||
           str_ends(value, STR("able")) || str_ends(value, STR("ible"));
}

static bool is_plain(struct str value)
{
    while (value.len > 1 && strchr("!?.,;:", value.s[value.len - 1])) {
        value.len--;
    }
    return secret_has_word(LIST_PLAIN, value);
}

static bool is_strong(const struct looks *l)
{
    return l->n_digits > 0 || l->n_symbols > 0 ||
           (l->n_capitals_inside > 0 && !l->is_shouted);
}

static bool is_hard(struct str value, const struct looks *l)
{
    return value.len >= MIN_STRONG &&
           (is_mixed(l) || (l->n_symbols > 0 && l->n_letters > 0) ||
            (l->n_symbols > 0 && l->n_digits > 0));
}

bool secret_is_hard(struct str value)
{
    struct looks l = look_at(value);

    return is_hard(value, &l);
}

static bool is_password(const struct saying *s, struct str value,
                        const struct looks *l)
{
    unsigned char first = (unsigned char)value.s[0];

    if (is_plain(value) || (!s->is_quoted && secret_is_template(value))) {
        return false;
    }
    switch (s->join) {
    case JOIN_MARK:
        return value.len >= MIN_PASSWORD - 1 && !is_prose(s, value, l) &&
               (!s->is_below || s->is_quoted ||
                (is_strong(l) && is_last(s) && first != '-'));
    case JOIN_IS:
    case JOIN_TOLD:
        return s->is_quoted ||
               (value.len >= MIN_PASSWORD &&
                (is_strong(l) || (is_last(s) && !is_participle(value))));
    case JOIN_FOREIGN:
        return s->is_quoted ||
               (value.len >= MIN_PASSWORD &&
                (is_strong(l) || (is_last(s) && first >= 'A' && first <= 'Z')));
    case JOIN_GAP:
        return (s->is_quoted &&
                (is_strong(l) || memchr(value.s, ' ', value.len))) ||
               is_hard(value, l);
    case JOIN_NONE:
        return value.len >= MIN_STRONG && is_mixed(l) &&
               (l->is_keylike ||
                (s->is_quoted && !memchr(value.s, ' ', value.len)));
    }
    return false;
}

static bool is_key(const struct saying *s, struct str value,
                   const struct looks *l)
{
    bool is_named = s->join == JOIN_MARK && (s->is_tight || s->is_quoted);

    if (secret_is_template(value) || !is_mixed(l)) {
        return false;
    }
    if (s->say == SAY_BARE) {
        /* neither a path nor what is made of an id */
        return l->is_keylike && l->n_run >= MIN_BARE && l->n_turns >= 3 &&
               !l->is_hex && !memchr(value.s, '/', value.len);
    }
    if (is_named && value.len >= MIN_TIGHT_KEY) {
        return !memchr(value.s, ' ', value.len) &&
               (value.len >= MIN_KEY || !memchr(value.s, '.', value.len));
    }
    return s->join <= JOIN_GAP && l->is_keylike && value.len >= MIN_KEY;
}

bool secret_is_value(const struct saying *s)
{
    struct str value = str_sub(s->text, s->from, s->to);
    struct looks l = look_at(value);

    if (l.is_blank) {
        return false;
    }
    switch (s->say) {
    case SAY_PHRASE:
        return (s->join == JOIN_MARK || s->is_quoted || is_strong(&l)) &&
               is_password(s, value, &l);
    case SAY_PASSWORD:
        return is_password(s, value, &l);
    case SAY_WEAK:
        return value.len >= MIN_STRONG && is_strong(&l) &&
               (is_mixed(&l) || l.n_symbols > 0) && is_password(s, value, &l);
    case SAY_PIN:
        return s->join <= JOIN_GAP && l.n_digits == value.len &&
               value.len >= 4 && value.len <= 12;
    case SAY_PAIR:
    case SAY_LOCK:
    case SAY_ARGS:
        break; /* secret_pair.c judges */
    case SAY_CVV:
        return s->join <= JOIN_GAP && l.n_digits == value.len &&
               (value.len == 3 || value.len == 4);
    case SAY_KEY:
    case SAY_AUTH:
    case SAY_BARE:
        return is_key(s, value, &l);
    case SAY_SPACELESS:
        return !is_plain(value) && value.len >= MIN_PASSWORD &&
               (s->join == JOIN_MARK
                    ? l.n_digits > 0 || value.len >= MIN_STRONG
                    : value.len >= MIN_STRONG && l.n_digits > 0) &&
               (l.n_letters > 0 || l.n_symbols > 0 || value.len >= MIN_STRONG);
    }
    return false;
}
