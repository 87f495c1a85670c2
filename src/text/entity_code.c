/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_code.c - files, addresses, amounts and numbers. See
 * entity_internal.h.
 */
#include "text/entity_internal.h"

#include <string.h>

static bool has_extension(struct str name)
{
    static const char *const extensions[] = {
        "c",     "h",    "py",  "js",   "ts",  "tsx",  "jsx",  "java",  "go",
        "rs",    "rb",   "php", "cpp",  "hpp", "cc",   "cs",   "sh",    "md",
        "txt",   "pdf",  "doc", "docx", "xls", "xlsx", "ppt",  "pptx",  "csv",
        "json",  "yaml", "yml", "toml", "xml", "html", "css",  "sql",   "png",
        "jpg",   "jpeg", "gif", "svg",  "zip", "gz",   "tar",  "log",   "conf",
        "cfg",   "ini",  "env", "db",   "mp3", "mp4",  "lock", "swift", "kt",
        "ipynb", "so",   "exe", "bin",  "tex", "vue",  "scss", "lua",   "pl"};
    size_t dot = name.len;

    while (dot > 0 && name.s[dot - 1] != '.') {
        dot--;
    }
    if (dot < 1 || dot == name.len) {
        return false;
    }
    name = str_sub(name, dot, name.len);
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        if (str_eq(name, str_of(extensions[i]))) {
            return true;
        }
    }
    return false;
}

static size_t count_char(struct str text, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        n += text.s[i] == c;
    }
    return n;
}

static bool is_file(struct str name)
{
    bool has_letters = false;

    for (size_t i = 0; i < name.len && !has_letters; i++) {
        has_letters = name.s[i] >= 'a' && name.s[i] <= 'z';
    }
    if (!has_letters) {
        return false;
    }
    return has_extension(name) || name.s[0] == '/' || name.s[0] == '~' ||
           str_starts(name, STR("./")) || str_starts(name, STR("../")) ||
           count_char(name, '/') >= 2 || count_char(name, '\\') >= 1 ||
           (name.s[0] == '.' && name.len > 2);
}

static bool is_digits(struct str text)
{
    bool has_digit = false;

    for (size_t i = 0; i < text.len; i++) {
        bool is_digit = text.s[i] >= '0' && text.s[i] <= '9';

        has_digit |= is_digit;
        if (!is_digit && !strchr(".,:-/", text.s[i])) {
            return false;
        }
    }
    return has_digit;
}

static bool is_unit(struct str word)
{
    static const char *const units[] = {
        "km",      "m",       "cm",      "mm",       "miles",    "mile",
        "kg",      "g",       "lbs",     "pounds",   "grams",    "liters",
        "litres",  "ml",      "l",       "gb",       "mb",       "kb",
        "tb",      "ms",      "percent", "dollars",  "dollar",   "euros",
        "euro",    "bucks",   "usd",     "eur",      "gbp",      "yen",
        "degrees", "mph",     "kmh",     "hz",       "ghz",      "mhz",
        "inches",  "feet",    "ft",      "years",    "days",     "weeks",
        "months",  "hours",   "minutes", "seconds",  "calories", "watts",
        "k",       "million", "billion", "thousand", "px",       "times",
        "people"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (str_eq(word, str_of(units[i]))) {
            return true;
        }
    }
    return false;
}

size_t entity_number_at(struct finder *f, size_t i)
{
    const struct token *token = &f->items[i];
    bool has_sign = i > 0 && f->items[i - 1].kind == TOKEN_SYMBOL &&
                    f->items[i - 1].to == token->from;
    size_t first = has_sign ? i - 1 : i;
    size_t end = i + 1;
    struct str key;
    const struct token *next;
    char *copy;

    while (end < f->n && f->items[end].flags & TOKEN_PART) {
        end++;
    }
    next = end < f->n ? &f->items[end] : NULL;
    if (next && ((next->kind == TOKEN_SYMBOL && next->from == token->to) ||
                 (next->kind == TOKEN_WORD && is_unit(next->folded)))) {
        has_sign = true;
        end++;
    }
    if (!has_sign) {
        entity_keep(f, ENTITY_NUMBER, token->folded, i, end,
                    CODE_WEIGHT * lexicon_max_idf());
        return end;
    }
    key = str_sub(f->analysis->text, f->items[first].from,
                  f->items[end - 1].to > token->to ? f->items[end - 1].to
                                                   : token->to);
    copy = arena_copy(f->arena, key.s, key.len);
    if (!copy) {
        f->is_out_of_memory = true;
        return end;
    }
    for (size_t k = 0; k < key.len; k++) {
        copy[k] =
            (char)(copy[k] >= 'A' && copy[k] <= 'Z' ? copy[k] | 0x20 : copy[k]);
    }
    entity_keep(f, ENTITY_AMOUNT, (struct str){copy, key.len}, first, end,
                CODE_WEIGHT * lexicon_max_idf());
    return end;
}

enum entity_kind entity_kind_of_lex(uint8_t kind)
{
    switch ((enum lex_kind)kind) {
    case LEX_PERSON:
        return ENTITY_PERSON;
    case LEX_PLACE:
        return ENTITY_PLACE;
    case LEX_ORGANISATION:
        return ENTITY_ORGANISATION;
    case LEX_PRODUCT:
        return ENTITY_PRODUCT;
    case LEX_NO_NAME:
        break;
    }
    return ENTITY_NAME;
}

static enum entity_kind code_kind(const struct token *token)
{
    struct str code = token->folded;
    size_t at = str_find(code, STR("@"), 0);
    struct lex_word word;

    if (token_lookup(token, &word) && word.kind != LEX_NO_NAME) {
        return entity_kind_of_lex(word.kind); /* iPhone */
    }
    if (str_find(code, STR("://"), 0) != SIZE_MAX ||
        str_starts(code, STR("www."))) {
        return ENTITY_URL;
    }
    if (at == 0) {
        return ENTITY_PERSON; /* a mention */
    }
    if (at != SIZE_MAX && str_find(code, STR("."), at) != SIZE_MAX) {
        return ENTITY_EMAIL;
    }
    if (is_file(code)) {
        return ENTITY_FILE;
    }
    if (is_digits(code)) {
        return ENTITY_NUMBER;
    }
    return token->flags & TOKEN_CAPITAL ? ENTITY_NAME : ENTITY_NUMBER;
}

size_t entity_code_at(struct finder *f, size_t i)
{
    const struct token *token = &f->items[i];
    enum entity_kind kind = code_kind(token);
    size_t end = i + 1;

    /* 10GB, $5k: an amount written in one */
    if (kind == ENTITY_NUMBER && token->folded.s[0] >= '0' &&
        token->folded.s[0] <= '9' && i + 2 < f->n &&
        f->items[i + 1].flags & TOKEN_PART &&
        f->items[i + 2].flags & TOKEN_PART && is_unit(f->items[i + 2].folded)) {
        kind = ENTITY_AMOUNT;
    }
    while (end < f->n && f->items[end].flags & TOKEN_PART) {
        end++;
    }
    entity_keep(f, kind, token->folded, i, end,
                kind == ENTITY_NUMBER ? CODE_WEIGHT * lexicon_max_idf()
                                      : lexicon_max_idf());
    return end;
}
