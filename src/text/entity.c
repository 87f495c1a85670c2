/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity.c - names, files, addresses, amounts and numbers of a text.
 *
 * By shape (capitals inside a sentence, paths, addresses), by the lexicon's
 * names, by the speaker's name and the names the user's history uses. Each
 * name comes once, where it is first met.
 */
#include "text/entity_internal.h"

#include "text/chars.h"

#include <string.h>

/* Words of a name; longer runs of capitals are headings. */
#define NAME_WORDS 6
/* Capital in this share of the background's uses: written so for a reason. */
#define MOSTLY_CAPITAL 140
#define SURELY_CAPITAL 200
/* 16 log2(1 + 4): met more than three times. */
#define MET_OFTEN 37
/* A joined key is built here; longer names are cut. */
#define KEY_BYTES 160

static struct str without_possessive(struct str word)
{
    if (str_ends(word, STR("'s"))) {
        word.len -= 2;
    } else if (str_ends(word, STR("'"))) {
        word.len -= 1;
    }
    return word;
}

/* ---- names ---- */

static bool is_word_token(const struct token *token)
{
    return token->kind == TOKEN_WORD && !(token->flags & TOKEN_PART);
}

/* Lower-case words inside a name: University of Oxford, Ludwig van ... */
static bool is_link(const struct token *token)
{
    static const char *const links[] = {"of",  "de", "da",  "di", "van", "von",
                                        "der", "la", "del", "al", "bin"};

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (str_eq(token->folded, str_of(links[i]))) {
            return token->flags & TOKEN_LOWER_START;
        }
    }
    return false;
}

/* Is the capital of this token a reason to call it a name? */
static bool is_name_word(const struct token *token)
{
    struct lex_word word;
    bool is_found;

    if (!(token->flags & TOKEN_CAPITAL) || token->flags & TOKEN_STOP ||
        token->flags & TOKEN_IN_FENCE ||
        (token->kind != TOKEN_WORD && token->kind != TOKEN_CODE)) {
        return false;
    }
    if (token->kind == TOKEN_CODE) {
        return !memchr(token->folded.s, '/', token->folded.len) &&
               !memchr(token->folded.s, '.', token->folded.len) &&
               !memchr(token->folded.s, '_', token->folded.len) &&
               !memchr(token->folded.s, '@', token->folded.len);
    }
    if (!(token->flags & TOKEN_SENTENCE_START)) {
        return !(token->flags & TOKEN_CHAT);
    }
    if (token->flags & TOKEN_CHAT) {
        return false;
    }
    is_found = lexicon_find(without_possessive(token->folded),
                            str_hash(without_possessive(token->folded)), &word);
    if (!is_found || !(word.flags & LEX_SEEN)) {
        /* an unknown verb form begins a sentence more often than a name */
        return !str_ends(token->folded, STR("ing")) &&
               !str_ends(token->folded, STR("ed"));
    }
    return word.kind != LEX_NO_NAME || word.capital >= MOSTLY_CAPITAL;
}

/* First word of a sentence before a name: "Golden Gate", not "Ask Anna". */
static bool may_lead(const struct token *token)
{
    struct lex_word word;

    return token->flags & TOKEN_CAPITAL &&
           !(token->flags & (TOKEN_STOP | TOKEN_CHAT)) &&
           token->kind == TOKEN_WORD && token_lookup(token, &word) &&
           word.flags & LEX_TAGGED && word.verb < 80 && word.capital >= 40;
}

static bool is_title_word(struct str word)
{
    return str_eq(word, STR("mr")) || str_eq(word, STR("mrs")) ||
           str_eq(word, STR("ms")) || str_eq(word, STR("dr")) ||
           str_eq(word, STR("prof")) || str_eq(word, STR("sir")) ||
           str_eq(word, STR("professor")) || str_eq(word, STR("doctor"));
}

static bool ends_in(struct str word, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (str_eq(word, str_of(list[i]))) {
            return true;
        }
    }
    return false;
}

struct name {
    size_t first; /* tokens */
    size_t end;
    struct str words[NAME_WORDS * 2];
    size_t n_words;
    struct str key;
};

static enum entity_kind kind_by_words(const struct finder *f,
                                      const struct name *name)
{
    static const char *const firms[] = {
        "inc",         "corp",      "ltd",      "gmbh",      "llc",
        "university",  "college",   "bank",     "institute", "foundation",
        "company",     "school",    "hospital", "ministry",  "department",
        "association", "committee", "studio",   "labs",      "club",
        "church",      NULL};
    static const char *const places[] = {
        "city",   "street", "park",     "lake",      "river", "island",
        "beach",  "county", "airport",  "avenue",    "road",  "square",
        "bridge", "valley", "mountain", "mountains", "bay",   "station",
        "museum", "hotel",  "canyon",   "forest",    "falls", NULL};
    static const char *const place_heads[] = {
        "mount", "lake", "port", "fort", "saint", "san", "los", "las", NULL};
    struct str last = name->words[name->n_words - 1];
    const struct token *before =
        name->first > 0 ? &f->items[name->first - 1] : NULL;
    const struct token *after = name->end < f->n ? &f->items[name->end] : NULL;

    if ((before && str_eq(before->folded, STR("project"))) ||
        str_eq(last, STR("project")) ||
        str_eq(name->words[0], STR("project")) ||
        (after && str_eq(after->folded, STR("project")))) {
        return ENTITY_PROJECT;
    }
    if (ends_in(last, firms) ||
        (name->n_words > 2 && ends_in(name->words[0], firms))) {
        return ENTITY_ORGANISATION;
    }
    if (name->n_words > 1 &&
        (ends_in(last, places) || ends_in(name->words[0], place_heads))) {
        return ENTITY_PLACE;
    }
    if (is_title_word(name->words[0])) {
        return ENTITY_PERSON;
    }
    return ENTITY_NAME;
}

static enum entity_kind kind_of_name(const struct finder *f,
                                     const struct name *name)
{
    struct lex_word word;
    enum entity_kind kind;
    const struct token *before =
        name->first > 0 ? &f->items[name->first - 1] : NULL;

    if (str_ieq(f->options->speaker, name->key)) {
        return ENTITY_PERSON;
    }
    if (lexicon_find(name->key, str_hash(name->key), &word) &&
        word.kind != LEX_NO_NAME) {
        return entity_kind_of_lex(word.kind);
    }
    kind = kind_by_words(f, name);
    if (kind != ENTITY_NAME) {
        return kind;
    }
    if (lexicon_find(name->words[0], str_hash(name->words[0]), &word) &&
        word.kind == LEX_PERSON) {
        return ENTITY_PERSON;
    }
    /* "in Xanten": a word nobody knows after a preposition of place */
    if (before && name->n_words == 1 &&
        !(f->items[name->first].flags & (TOKEN_KNOWN | TOKEN_ALL_CAPS)) &&
        f->items[name->first].kind == TOKEN_WORD &&
        (str_eq(before->folded, STR("in")) ||
         str_eq(before->folded, STR("near")))) {
        return ENTITY_PLACE;
    }
    return ENTITY_NAME;
}

static float name_weight(const struct name *name)
{
    float best = 0;

    for (size_t i = 0; i < name->n_words; i++) {
        struct lex_word word;
        float idf = lexicon_max_idf();

        if (lexicon_find(name->words[i], str_hash(name->words[i]), &word)) {
            idf = word.idf;
        }
        best = idf > best ? idf : best;
    }
    return best;
}

/* The words joined by single spaces, in the arena. */
static bool make_key(struct finder *f, struct name *name)
{
    char key[KEY_BYTES];
    size_t len = 0;

    if (name->n_words == 1) {
        name->key = name->words[0];
        return true;
    }
    for (size_t i = 0; i < name->n_words; i++) {
        struct str word = name->words[i];

        if (len + word.len + 1 > sizeof(key)) {
            break;
        }
        if (len > 0) {
            key[len++] = ' ';
        }
        memcpy(key + len, word.s, word.len);
        len += word.len;
    }
    name->key = arena_str(f->arena, (struct str){key, len});
    return name->key.s != NULL;
}

/* May the name go on from token `i` to the next one? */
static bool goes_on(const struct finder *f, size_t i, size_t next)
{
    struct str gap =
        str_sub(f->analysis->text, f->items[i].to, f->items[next].from);

    return gap.len <= 2 && (str_eq(gap, STR(" ")) || str_eq(gap, STR(". "))) &&
           !(f->items[next].flags & (TOKEN_BREAK | TOKEN_AFTER_LINE));
}

static size_t skip_parts(const struct finder *f, size_t i)
{
    i++;
    while (i < f->n && f->items[i].flags & TOKEN_PART) {
        i++;
    }
    return i;
}

/* "Dr." and initials: the full stop is a token between. */
static size_t skip_dot(const struct finder *f, size_t i, size_t next)
{
    const struct token *token = &f->items[i];

    if (next < f->n && f->items[next].kind == TOKEN_PUNCT &&
        str_eq(f->items[next].folded, STR(".")) &&
        (token->folded.len == 1 || is_title_word(token->folded)) &&
        next + 1 < f->n && f->items[next + 1].flags & TOKEN_CAPITAL) {
        return next + 1;
    }
    return next;
}

/* Weekdays and months are dates, also where nothing could be resolved. */
static bool is_calendar_word(const struct token *token)
{
    static const char *const names[] = {
        "monday",  "tuesday", "wednesday", "thursday", "friday",   "saturday",
        "sunday",  "january", "february",  "march",    "april",    "june",
        "july",    "august",  "september", "october",  "november", "december",
        "mondays", "fridays", "saturdays", "sundays",  NULL};

    return ends_in(token->folded, names);
}

static bool begins_name(const struct finder *f, size_t i)
{
    const struct token *token = &f->items[i];
    size_t next = skip_parts(f, i);

    if (token_in_date(f->analysis, i) || is_calendar_word(token)) {
        return false;
    }
    if (is_name_word(token)) {
        return true;
    }
    return may_lead(token) && next < f->n && goes_on(f, i, next) &&
           is_name_word(&f->items[next]);
}

static void read_name(struct finder *f, size_t i, struct name *name)
{
    name->first = i;
    name->n_words = 0;
    for (;;) {
        struct str word = f->items[i].folded;
        bool is_possessive = str_ends(word, STR("'s"));
        size_t next;

        name->words[name->n_words++] = without_possessive(word);
        name->end = skip_parts(f, i);
        next = skip_dot(f, i, name->end);
        if (is_possessive || name->n_words >= NAME_WORDS || next >= f->n ||
            !goes_on(f, i, next) || token_in_date(f->analysis, next)) {
            return;
        }
        if (is_link(&f->items[next])) {
            size_t after = next + 1;

            if (after >= f->n || !is_name_word(&f->items[after]) ||
                !goes_on(f, next, after)) {
                return;
            }
            name->words[name->n_words++] = f->items[next].folded;
            next = after;
        } else if (!is_name_word(&f->items[next]) ||
                   is_calendar_word(&f->items[next])) {
            return;
        }
        i = next;
    }
}

static size_t name_at(struct finder *f, size_t i)
{
    struct name name;
    enum entity_kind kind;

    read_name(f, i, &name);
    if (!make_key(f, &name)) {
        f->is_out_of_memory = true;
        return name.end;
    }
    kind = kind_of_name(f, &name);
    if (name.n_words == 1 && name.key.len < 2 && kind == ENTITY_NAME) {
        return name.end;
    }
    entity_keep(f, kind, name.key, name.first, name.end, name_weight(&name));
    return name.end;
}

/* Does `name` follow from token `i` on, word by word? Its end, or 0. */
static size_t matches_name(const struct finder *f, size_t i, struct str name)
{
    struct str word;

    while (str_split(&name, ' ', &word)) {
        if (i >= f->n ||
            !str_eq(without_possessive(f->items[i].folded), word)) {
            return 0;
        }
        i = skip_parts(f, i);
    }
    return i;
}

/* A name of the user's history or the speaker's own; its end, or 0. */
static size_t known_name_end(const struct finder *f, size_t i, struct str word)
{
    size_t best = 0;

    for (size_t k = 0; k < f->options->n_known_names; k++) {
        struct str name = f->options->known_names[k];

        if (name.len >= word.len && name.s[0] == word.s[0] &&
            memcmp(name.s, word.s, word.len) == 0 &&
            (name.len == word.len || name.s[word.len] == ' ')) {
            size_t end = matches_name(f, i, name);

            best = end > best ? end : best;
        }
    }
    if (best == 0 && str_ieq(f->options->speaker, word)) {
        return i + 1;
    }
    return best;
}

/* A lower-case word that is a name all the same: "london", a known name. */
static size_t lower_name_at(struct finder *f, size_t i)
{
    const struct token *token = &f->items[i];
    struct str word = without_possessive(token->folded);
    struct lex_word entry = {0};
    bool is_found;
    size_t end;

    if (!is_word_token(token) || token->flags & (TOKEN_STOP | TOKEN_CHAT) ||
        word.len < 2) {
        return i + 1;
    }
    is_found = lexicon_find(word, str_hash(word), &entry);
    end = known_name_end(f, i, word);
    if (end) {
        struct name name = {.first = i, .end = end};

        for (size_t t = i; t < end && name.n_words < NAME_WORDS;
             t = skip_parts(f, t)) {
            name.words[name.n_words++] = without_possessive(f->items[t].folded);
        }
        if (!make_key(f, &name)) {
            f->is_out_of_memory = true;
            return end;
        }
        entity_keep(f,
                    str_ieq(f->options->speaker, name.key)
                        ? ENTITY_PERSON
                        : entity_kind_of_lex(entry.kind),
                    name.key, i, end, lexicon_max_idf());
        return end;
    }
    if (is_found && token->flags & TOKEN_KNOWN && !is_calendar_word(token) &&
        entry.capital >= SURELY_CAPITAL && entry.capital_log >= MET_OFTEN) {
        entity_keep(f, entity_kind_of_lex(entry.kind), word, i, i + 1,
                    entry.idf);
    }
    return i + 1;
}

static void keep_dates(struct finder *f)
{
    for (size_t i = 0; i < f->analysis->n_dates; i++) {
        const struct date *date = &f->analysis->dates[i];
        size_t len = date->text.len < KEY_BYTES ? date->text.len : KEY_BYTES;
        char *key = arena_copy(f->arena, date->text.s, len);

        if (!key) {
            f->is_out_of_memory = true;
            return;
        }
        for (size_t k = 0; k < len; k++) {
            key[k] =
                (char)(key[k] >= 'A' && key[k] <= 'Z' ? key[k] | 0x20 : key[k]);
        }
        entity_keep(f, ENTITY_DATE, (struct str){key, len},
                    date->span.first_token, date->span.end_token,
                    CODE_WEIGHT * lexicon_max_idf());
    }
}

static size_t step(struct finder *f, size_t i, size_t *next_date)
{
    const struct analysis *a = f->analysis;
    const struct token *token = &f->items[i];

    while (*next_date < a->n_dates &&
           a->dates[*next_date].span.end_token <= i) {
        (*next_date)++;
    }
    if (*next_date < a->n_dates && i >= a->dates[*next_date].span.first_token) {
        return a->dates[*next_date].span.end_token;
    }
    if (token->flags & TOKEN_PART || token->kind == TOKEN_PUNCT) {
        return i + 1;
    }
    if (token->kind == TOKEN_NUMBER) {
        return entity_number_at(f, i);
    }
    if (token->flags & TOKEN_CAPITAL && begins_name(f, i)) {
        return name_at(f, i);
    }
    if (token->kind == TOKEN_CODE) {
        return entity_code_at(f, i);
    }
    return lower_name_at(f, i);
}

bool entities_of(struct arena *arena, const struct analysis_options *options,
                 struct analysis *analysis)
{
    struct finder f = {.arena = arena,
                       .analysis = analysis,
                       .options = options,
                       .items = analysis->tokens.items,
                       .n = analysis->tokens.count};
    size_t next_date = 0;

    keep_dates(&f);
    for (size_t i = 0; i < f.n && !f.is_out_of_memory;) {
        i = step(&f, i, &next_date);
    }
    return !f.is_out_of_memory;
}
