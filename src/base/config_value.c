/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_value.c - the types of settings: what a text must look like.
 */
#include "base/config_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A whole number with an optional K, M, G or T (powers of 1024). */
static bool parse_size(struct str text, int64_t *out)
{
    static const char units[] = "KMGT";
    const char *unit = NULL;
    int shift = 0;

    if (text.len > 1) {
        unit = strchr(units, toupper((unsigned char)text.s[text.len - 1]));
    }
    if (unit && *unit) {
        shift = 10 * (int)(unit - units + 1);
        text.len--;
    }
    return str_parse_int(text, out) && *out >= 0 &&
           !__builtin_mul_overflow(*out, (int64_t)1 << shift, out);
}

static bool parse_bool(struct str text, int64_t *out)
{
    static const char *const words[] = {"false", "no",  "off", "0",
                                        "true",  "yes", "on",  "1"};

    for (size_t i = 0; i < 8; i++) {
        if (str_ieq(text, str_of(words[i]))) {
            *out = i >= 4;
            return true;
        }
    }
    return false;
}

static bool is_choice(const char *allowed, struct str value)
{
    struct str rest = str_of(allowed);
    struct str word;

    while (str_split(&rest, '|', &word)) {
        if (str_eq(word, value)) {
            return true;
        }
    }
    return false;
}

/* "low..high" as numbers of the key's own type. */
static bool in_range(const struct config_key *key,
                     const struct config_value *value)
{
    struct str text = str_of(key->allowed);
    size_t dots = str_find(text, STR(".."), 0);
    struct str low = str_sub(text, 0, dots);
    struct str high =
        str_sub(text, dots == SIZE_MAX ? dots : dots + 2, text.len);
    int64_t from = 0;
    int64_t to = 0;
    double real_from = 0;
    double real_to = 0;

    if (text.len == 0) {
        return true;
    }
    if (key->type == CONFIG_REAL) {
        return str_parse_real(low, &real_from) &&
               str_parse_real(high, &real_to) && value->real >= real_from &&
               value->real <= real_to;
    }
    return parse_size(low, &from) && parse_size(high, &to) &&
           value->number >= from && value->number <= to;
}

/* What is wrong with the text, or NULL. "" stands for what `allowed` says. */
static const char *problem_of(const struct config_key *key, struct str text,
                              struct config_value *value)
{
    switch (key->type) {
    case CONFIG_STR:
    case CONFIG_SECRET:
        return text.len && memchr(text.s, '\0', text.len) ? "must be text"
                                                          : NULL;
    case CONFIG_CHOICE:
        return is_choice(key->allowed, text) ? NULL : "";
    case CONFIG_BOOL:
        return parse_bool(text, &value->number) ? NULL
                                                : "must be true or false";
    case CONFIG_INT:
        if (!str_parse_int(text, &value->number)) {
            return "must be a whole number";
        }
        return in_range(key, value) ? NULL : "";
    case CONFIG_SIZE:
        if (!parse_size(text, &value->number)) {
            return "must be a size such as 64M";
        }
        return in_range(key, value) ? NULL : "";
    case CONFIG_REAL:
        if (!str_parse_real(text, &value->real)) {
            return "must be a number";
        }
        return in_range(key, value) ? NULL : "";
    }
    return NULL;
}

bool config_parse(const struct config_key *key, struct str text,
                  struct config_value *out_value, char *out_problem, size_t cap)
{
    struct config_value value = {0, 0.0};
    const char *problem = problem_of(key, text, &value);

    if (!problem) {
        *out_value = value;
        return true;
    }
    if (problem[0]) {
        (void)snprintf(out_problem, cap, "%s", problem);
    } else {
        (void)snprintf(out_problem, cap, "must be %s %s",
                       key->type == CONFIG_CHOICE ? "one of" : "in",
                       key->allowed);
    }
    return false;
}
