/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_words.c - cut a text into segments of normalised words.
 *
 * Lower case, one spelling for curly and spaced apostrophes ("don ’ t") and
 * for the usual chat spellings ("dont", "pls", "gonna"). A segment ends at
 * . ! ? ; or a line end, but not inside 3.5 or config.yaml, nor after "Mr".
 * Words keep their byte range, so an act can be shown in the source.
 */
#include "model/intent_words.h"

#include "base/utf8.h"
#include "model/intent_internal.h"

#include <ctype.h>
#include <string.h>

/* Longest word kept; longer ones are cut, they are no cue. */
#define MAX_WORD 40
#define MAX_WORDS 8192

struct spelling {
    const char *from;
    const char *to; /* may be two words */
};

/* Sorted by `from`. */
static const struct spelling spellings[] = {
    {"arent", "aren't"},     {"cannot", "can't"},
    {"cant", "can't"},       {"couldnt", "couldn't"},
    {"didnt", "didn't"},     {"doesnt", "doesn't"},
    {"dont", "don't"},       {"gonna", "going to"},
    {"gotta", "got to"},     {"hadnt", "hadn't"},
    {"hasnt", "hasn't"},     {"havent", "haven't"},
    {"hows", "how's"},       {"im", "i'm"},
    {"isnt", "isn't"},       {"ive", "i've"},
    {"lemme", "let me"},     {"lets", "let's"},
    {"ok", "okay"},          {"pls", "please"},
    {"plz", "please"},       {"shouldnt", "shouldn't"},
    {"thanx", "thanks"},     {"thats", "that's"},
    {"theres", "there's"},   {"theyre", "they're"},
    {"thx", "thanks"},       {"tnx", "thanks"},
    {"ty", "thanks"},        {"u", "you"},
    {"ur", "your"},          {"wanna", "want to"},
    {"wasnt", "wasn't"},     {"werent", "weren't"},
    {"whats", "what's"},     {"wheres", "where's"},
    {"whos", "who's"},       {"wont", "won't"},
    {"wouldnt", "wouldn't"}, {"youre", "you're"},
    {"youve", "you've"},
};

/* A full stop behind these ends no sentence. */
static const char *const titles[] = {"dr", "e.g",  "i.e", "jr", "mr", "mrs",
                                     "ms", "prof", "sr",  "st", "vs"};

struct splitter {
    struct arena *arena;
    struct str text;
    struct intent_word *words;
    size_t n_words;
    struct intent_piece *pieces;
    size_t n_pieces;
    size_t first_word; /* of the segment being read */
    char *store;       /* where normalised bytes go */
    size_t store_len;
    bool has_end;
    bool is_unmarked; /* no . ? or ! in it */
    size_t max_words; /* of the range being read */
    size_t max_pieces;
};

enum mark { MARK_NONE, MARK_QUOTE, MARK_END, MARK_COMMA, MARK_SPACE };

static bool is_word_byte(unsigned char c)
{
    return isalnum(c) || c >= 0x80 || c == '_' || c == '#' || c == '@' ||
           c == '$' || c == '%' || c == '+' || c == '&';
}

/* Marks that only say which way to write, or nothing: U+200B, U+200E, U+200F,
 * U+202A-202E, U+2060, U+2066-2069, U+FEFF. Joiners are part of their words. */
static bool is_invisible(const unsigned char *p)
{
    if (p[0] == 0xEF) {
        return p[1] == 0xBB && p[2] == 0xBF;
    }
    if (p[0] != 0xE2) {
        return false;
    }
    return (p[1] == 0x80 && (p[2] == 0x8B || p[2] == 0x8E || p[2] == 0x8F ||
                             (p[2] >= 0xAA && p[2] <= 0xAE))) ||
           (p[1] == 0x81 && (p[2] == 0xA0 || (p[2] >= 0xA6 && p[2] <= 0xA9)));
}

/* The punctuation at `at`, how many bytes it has and what end it stands for. */
static enum mark mark_at(struct str text, size_t at, size_t *out_len,
                         char *out_end)
{
    const unsigned char *p = (const unsigned char *)text.s + at;
    size_t left = text.len - at;

    *out_len = 1;
    *out_end = 0;
    if (left >= 3 && is_invisible(p)) {
        *out_len = 3;
        return MARK_SPACE;
    }
    if (left >= 3 && p[0] == 0xE2 && p[1] == 0x80) {
        *out_len = 3;
        switch (p[2]) {
        case 0x98:
        case 0x99:
            return MARK_QUOTE;
        case 0x93:
        case 0x94:
            return MARK_COMMA;
        case 0x9C:
        case 0x9D:
            return MARK_SPACE;
        case 0xA6:
            *out_end = '.';
            return MARK_END;
        default:
            *out_len = 1;
            return MARK_NONE;
        }
    }
    if (left >= 3 &&
        ((p[0] == 0xEF && p[1] == 0xBC && (p[2] == 0x9F || p[2] == 0x81)) ||
         (p[0] == 0xE3 && p[1] == 0x80 && p[2] == 0x82))) {
        *out_len = 3;
        *out_end = p[0] == 0xE3 ? '.' : p[2] == 0x9F ? '?' : '!';
        return MARK_END;
    }
    if (p[0] == '\'' || p[0] == '`') {
        return MARK_QUOTE;
    }
    if (p[0] == '.' || p[0] == '!' || p[0] == '?' || p[0] == ';' ||
        p[0] == '\n') {
        *out_end = p[0] == ';' ? '.' : p[0] == '\n' ? 0 : (char)p[0];
        return MARK_END;
    }
    if (p[0] == ',' || p[0] == ':' || p[0] == '(') {
        return MARK_COMMA;
    }
    return is_word_byte(p[0]) ? MARK_NONE : MARK_SPACE;
}

static bool is_title(const char *word)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (strcmp(titles[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static const char *spelled(const char *word)
{
    size_t low = 0;
    size_t high = sizeof(spellings) / sizeof(spellings[0]);

    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(word, spellings[mid].from);

        if (order == 0) {
            return spellings[mid].to;
        }
        if (order < 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return NULL;
}

uint64_t intent_mask(const char *word, size_t len)
{
    return 1ull << ((((unsigned char)word[0] & 31u) * 5u + len * 11u) & 63u);
}

static void put_word(struct splitter *sp, const char *s, size_t len,
                     size_t from, size_t to)
{
    struct intent_word *word;
    char *copy = sp->store + sp->store_len;

    if (sp->n_words == sp->max_words || len == 0) {
        return;
    }
    memcpy(copy, s, len);
    copy[len] = '\0';
    sp->store_len += len + 1;
    word = &sp->words[sp->n_words];
    word->s = copy;
    word->len = (uint16_t)len;
    word->has_comma = 0;
    word->mask = intent_mask(copy, len);
    word->from = (uint32_t)from;
    word->to = (uint32_t)to;
    word->is_capital = isupper((unsigned char)sp->text.s[from]) != 0;
    sp->n_words++;
}

/* Add a word as it is commonly spelled; one spelling may give two words. */
static void add_word(struct splitter *sp, char *word, size_t len, size_t from,
                     size_t to)
{
    const char *better = NULL;
    const char *space = NULL;

    while (len > 0 && word[len - 1] == '\'') {
        len--;
    }
    word[len] = '\0';
    better = spelled(word);
    if (!better) {
        put_word(sp, word, len, from, to);
        return;
    }
    space = strchr(better, ' ');
    if (!space) {
        put_word(sp, better, strlen(better), from, to);
        return;
    }
    put_word(sp, better, (size_t)(space - better), from, to);
    put_word(sp, space + 1, strlen(space + 1), from, to);
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && text.s[at] == ' ') {
        at++;
    }
    return at;
}

/*
 * The end of "'s", "'ll" ... behind an apostrophe at `at`, blanks between
 * allowed; 0 if no such ending is there.
 */
static size_t ending_at(struct str text, size_t at, size_t quote_len)
{
    static const char *const endings[] = {"s", "t", "re", "ve", "ll", "d", "m"};
    size_t next = skip_blanks(text, at + quote_len);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t len = strlen(endings[i]);

        if (next + len <= text.len &&
            strncasecmp(text.s + next, endings[i], len) == 0 &&
            (next + len == text.len ||
             !isalnum((unsigned char)text.s[next + len]))) {
            return next + len;
        }
    }
    return 0;
}

/* True if the byte at `at` joins two halves of one word: 3.5, re-do, a.b */
static bool joins(struct str text, size_t at)
{
    unsigned char before = (unsigned char)text.s[at - 1];
    unsigned char after =
        at + 1 < text.len ? (unsigned char)text.s[at + 1] : ' ';
    char c = text.s[at];

    if (c == '-' || c == '/') {
        return isalnum(before) && isalnum(after);
    }
    if (c == ',' || c == ':') {
        return isdigit(before) && isdigit(after);
    }
    if (c == '.') {
        return (isdigit(before) && isdigit(after)) ||
               (isalnum(before) && islower(after)) ||
               (isupper(before) && isupper(after));
    }
    return false;
}

/* Read the word at `at`; returns the offset behind it. */
static size_t read_word(struct splitter *sp, size_t at)
{
    char word[MAX_WORD + 4];
    size_t len = 0;
    size_t from = at;
    size_t to = at;

    while (at < sp->text.len) {
        size_t mark_len;
        char end;
        unsigned char c = (unsigned char)sp->text.s[at];
        size_t stop;

        if (is_word_byte(c) &&
            mark_at(sp->text, at, &mark_len, &end) == MARK_NONE) {
            if (len < MAX_WORD) {
                word[len++] = (char)tolower(c);
            }
            to = ++at;
            continue;
        }
        if (at > from && joins(sp->text, at)) {
            if (len < MAX_WORD) {
                word[len++] = (char)c;
            }
            at++;
            continue;
        }
        stop = skip_blanks(sp->text, at);
        if (stop >= sp->text.len ||
            mark_at(sp->text, stop, &mark_len, &end) != MARK_QUOTE) {
            break;
        }
        stop = ending_at(sp->text, stop, mark_len);
        if (!stop) {
            break;
        }
        if (len < MAX_WORD) {
            word[len++] = '\'';
        }
        for (size_t i = at; i < stop && len < MAX_WORD; i++) {
            if (isalpha((unsigned char)sp->text.s[i])) {
                word[len++] = (char)tolower((unsigned char)sp->text.s[i]);
            }
        }
        to = at = stop;
        break;
    }
    add_word(sp, word, len, from, to);
    return at;
}

static void end_piece(struct splitter *sp, char end)
{
    struct intent_piece *piece;

    if (end) {
        sp->has_end = sp->n_words > 0;
    }
    if (sp->n_words == sp->first_word) {
        /* "?!" and ". . .": the strongest mark of a run counts */
        if (sp->n_pieces > 0 && end == '?') {
            sp->pieces[sp->n_pieces - 1].end = '?';
        }
        return;
    }
    if (sp->n_pieces == sp->max_pieces) {
        sp->n_words = sp->first_word;
        return;
    }
    piece = &sp->pieces[sp->n_pieces++];
    piece->words = sp->words + sp->first_word;
    piece->n_words = sp->n_words - sp->first_word;
    piece->body = 0;
    piece->end = end;
    piece->mask = 0;
    for (size_t i = 0; i < piece->n_words; i++) {
        piece->mask |= piece->words[i].mask;
    }
    sp->first_word = sp->n_words;
}

/*
 * Where the marks are left out, a capital in the middle still often shows a
 * new sentence: "Good morning sir Is there a bank".
 */
static bool starts_sentence(const struct splitter *sp, size_t at)
{
    static const char *const starts[] = {
        "Are", "But",  "Can",  "Could", "Did",    "Do",     "Does",  "Have",
        "How", "Is",   "It's", "Let's", "No",     "Please", "Shall", "That's",
        "The", "This", "Well", "What",  "What's", "When",   "Where", "Which",
        "Who", "Why",  "Will", "Would", "Yes",    "You",    "May",   "It",
        "We",  "They", "He",   "She"};

    if (!sp->is_unmarked || sp->n_words == sp->first_word ||
        !isupper((unsigned char)sp->text.s[at]) ||
        sp->words[sp->n_words - 1].has_comma ||
        (sp->words[sp->n_words - 1].is_capital &&
         strcmp(sp->words[sp->n_words - 1].s, "i") != 0)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        size_t len = strlen(starts[i]);

        if (at + len <= sp->text.len &&
            memcmp(sp->text.s + at, starts[i], len) == 0 &&
            (at + len == sp->text.len || sp->text.s[at + len] == ' ')) {
            return true;
        }
    }
    return false;
}

/* "J.K." or "U.S.", as they stand in the text. */
static bool is_initials(const struct splitter *sp,
                        const struct intent_word *word)
{
    for (size_t i = word->from; i < word->to; i++) {
        char c = sp->text.s[i];

        if ((i - word->from) % 2 ? c != '.' : !isupper((unsigned char)c)) {
            return false;
        }
    }
    return word->to - word->from >= 3;
}

/* The full stop of "Mr.", "J.K." or of "8 a.m. today" ends nothing. */
static bool is_abbreviation(const struct splitter *sp, size_t at)
{
    const struct intent_word *word;
    size_t next;

    if (sp->n_words == sp->first_word) {
        return false;
    }
    word = &sp->words[sp->n_words - 1];
    next = skip_blanks(sp->text, at + 1);
    if (is_title(word->s) || (is_initials(sp, word) && next < sp->text.len &&
                              isalpha((unsigned char)sp->text.s[next]))) {
        return true;
    }
    return word->len == 1 && isalpha((unsigned char)word->s[0]) &&
           next < sp->text.len && islower((unsigned char)sp->text.s[next]);
}

static void split_range(struct splitter *sp, size_t from, size_t to)
{
    struct str whole = sp->text;
    size_t at = from;

    sp->text.len = to;
    sp->is_unmarked = !memchr(sp->text.s + from, '.', to - from) &&
                      !memchr(sp->text.s + from, '?', to - from) &&
                      !memchr(sp->text.s + from, '!', to - from);
    /* half of the room for each of the two ends */
    sp->max_words = sp->n_words + MAX_WORDS / 2;
    sp->max_pieces = sp->n_pieces + INTENT_MAX_SEGMENTS / 2;
    while (at < to && sp->n_words < sp->max_words) {
        size_t len;
        char end;

        switch (mark_at(sp->text, at, &len, &end)) {
        case MARK_NONE:
            if (starts_sentence(sp, at)) {
                end_piece(sp, 0);
            }
            at = read_word(sp, at);
            continue;
        case MARK_END:
            if (end != '.' || !is_abbreviation(sp, at)) {
                end_piece(sp, end);
            }
            break;
        case MARK_COMMA:
            if (sp->n_words > sp->first_word) {
                sp->words[sp->n_words - 1].has_comma = 1;
            }
            break;
        case MARK_SPACE:
            if (sp->text.s[at] == '-' && sp->n_words > sp->first_word) {
                sp->words[sp->n_words - 1].has_comma = 1;
            }
            break;
        case MARK_QUOTE:
            break;
        }
        at += len;
    }
    end_piece(sp, 0);
    sp->text = whole;
}

static int order_of(const char *word, const char *const *list, size_t count)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(word, list[mid]);

        if (order == 0) {
            return 1;
        }
        if (order < 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return 0;
}

bool intent_is_verb(const struct intent_word *word)
{
    return order_of(word->s, intent_verbs, intent_n_verbs) != 0;
}

bool intent_is_noun_verb(const struct intent_word *word)
{
    return order_of(word->s, intent_noun_verbs, intent_n_noun_verbs) != 0;
}

/* "Yesterday, I ...": a capital and a comma, but nobody's name. */
static bool is_time_word(const char *word)
{
    static const char *const words[] = {"yesterday", "today",        "tomorrow",
                                        "recently",  "currently",    "tonight",
                                        "lately",    "unfortunately"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Skip "well", "ok", "yes" ... and a name with a comma behind it. */
static void find_body(struct intent_piece *piece)
{
    size_t i = 0;

    while (i + 1 < piece->n_words) {
        const struct intent_word *word = &piece->words[i];

        if (order_of(word->s, intent_openers, intent_n_openers)) {
            i++;
            /* "thanks for ...", "thank you very much for ...": one opener */
            continue;
        }
        if (word->has_comma && word->is_capital && i <= 1 && word->len > 1 &&
            piece->n_words > i + 2 && !is_time_word(word->s)) {
            i++;
            continue;
        }
        break;
    }
    piece->body = i;
}

/* Where the last window begins: at a word, if one begins soon, and in any case
 * at a character. */
static size_t tail_start(struct str text)
{
    size_t start = text.len - INTENT_WINDOW_BYTES;

    for (size_t i = start; i < start + MAX_WORD && i < text.len; i++) {
        if (isspace((unsigned char)text.s[i])) {
            return i + 1;
        }
    }
    while (start < text.len && ((unsigned char)text.s[start] & 0xc0) == 0x80) {
        start++;
    }
    return start;
}

enum clew_status intent_split(struct arena *arena, struct str text,
                              struct intent_pieces *out)
{
    size_t window = text.len;
    struct splitter sp = {.arena = arena, .text = text};
    size_t n_words;

    if (window > 2 * (size_t)INTENT_WINDOW_BYTES) {
        window = 2 * (size_t)INTENT_WINDOW_BYTES;
    }
    n_words = window / 2 + 4; /* a word, and what parts it from the next */
    if (n_words > MAX_WORDS) {
        n_words = MAX_WORDS;
    }
    /* a spelling may double a word's length ("u" -> "you"), and a NUL each */
    sp.store = arena_alloc(arena, 4 * window + 64);
    sp.words = arena_alloc(arena, (n_words + 1) * sizeof(*sp.words));
    sp.pieces =
        arena_alloc(arena, (INTENT_MAX_SEGMENTS < n_words ? INTENT_MAX_SEGMENTS
                                                          : n_words + 1) *
                               sizeof(*sp.pieces));
    if (!sp.store || !sp.words || !sp.pieces) {
        return CLEW_NO_MEMORY;
    }
    if (text.len <= window) {
        split_range(&sp, 0, text.len);
    } else {
        /* up to a whole character: what is cut goes out as text */
        split_range(&sp, 0, utf8_cut(text, INTENT_WINDOW_BYTES));
        split_range(&sp, tail_start(text), text.len);
    }
    for (size_t i = 0; i < sp.n_pieces; i++) {
        find_body(&sp.pieces[i]);
    }
    out->items = sp.pieces;
    out->count = sp.n_pieces;
    out->has_end =
        sp.has_end && sp.n_pieces > 0 && sp.pieces[sp.n_pieces - 1].end != 0;
    return CLEW_OK;
}
