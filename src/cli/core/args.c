/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c - the words after a command. See args.h.
 */
#include "cli/core/args.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/near.h"
#include "base/utf8.h"

#include <string.h>

#define MAX_COUNT_DIGITS 18 /* of an int64_t, whatever they are */

const struct arg_option args_common[] = {
    {"json", 'j', NULL, NULL, "print the answer as JSON"},
    {"url", 'u', "URL", NULL, "talk to this server (CLEW_URL)"},
    {"key", 'k', "KEY", NULL, "with this key (CLEW_KEY)"},
    {"ca-file", 0, "FILE", NULL, "trust this CA of it (SSL_CERT_FILE)"},
    {"data", 'd', "DIR", "data.dir", "work on this data folder"},
    {"store", 0, "URL", "store.url", "work on this PostgreSQL"},
    {"tenant", 't', "NAME", NULL, "act in this tenant of the data folder"},
    {"config", 'c', "FILE", NULL, "read this configuration (CLEW_CONFIG)"},
    {"set", 0, "KEY=VALUE", NULL, "override one setting; may be repeated"},
    {"help", 'h', NULL, NULL, "explain this command"},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct arg_option *find_long(const struct arg_option *list,
                                          struct str name)
{
    for (; list && list->name; list++) {
        if (str_eq(str_of(list->name), name)) {
            return list;
        }
    }
    return NULL;
}

static const struct arg_option *find_short(const struct arg_option *list,
                                           char letter)
{
    for (; list && list->name; list++) {
        if (list->letter == letter) {
            return list;
        }
    }
    return NULL;
}

/* The option a word names; `*out_value` is what is glued to it, or NULL. */
static const struct arg_option *option_of(const struct arg_option *own,
                                          const char *word,
                                          const char **out_value)
{
    const struct arg_option *found;
    const char *sign = strchr(word, '=');

    *out_value = NULL;
    if (word[1] == '-') {
        struct str name = str_of(word + 2);

        if (sign) {
            name.len = (size_t)(sign - word) - 2;
            *out_value = sign + 1;
        }
        found = find_long(own, name);
        return found ? found : find_long(args_common, name);
    }
    if (word[2]) {
        *out_value = word + 2;
    }
    found = find_short(own, word[1]);
    return found ? found : find_short(args_common, word[1]);
}

void args_meant(const struct arg_option *own, const char *word,
                char out[NEAR_TEXT_SIZE])
{
    struct near near;

    out[0] = '\0';
    if (word[1] == '-') {
        struct str name = str_of(word + 2);

        near_init(&near, str_sub(name, 0, str_find(name, STR("="), 0)));
        for (const struct arg_option *at = own; at && at->name; at++) {
            near_offer(&near, str_of(at->name));
        }
        for (const struct arg_option *at = args_common; at->name; at++) {
            near_offer(&near, str_of(at->name));
        }
        near_text(&near, "--", out);
    }
}

static enum clew_status unknown(const struct arg_option *own, const char *word,
                                struct clew_error *err)
{
    char meant[NEAR_TEXT_SIZE];

    args_meant(own, word, meant);
    return clew_fail_field(err, word, "unknown option \"%.80s\"%s", word,
                           meant);
}

/* Paths may hold any bytes; all else goes into JSON or is shown. */
static bool is_path(const struct arg_option *option)
{
    return strcmp(option->value, "FILE") == 0 ||
           strcmp(option->value, "DIR") == 0;
}

/* What names somebody, and what it is called. `--user "$UNSET"` must neither
 * mean everybody nor somebody. */
static const char *called(const struct arg_option *option)
{
    return strcmp(option->name, "user") == 0     ? "user's id"
           : strcmp(option->name, "tenant") == 0 ? "tenant's name"
                                                 : NULL;
}

/* Words of one's own: a context, a title. All else chooses something, and
 * `--status "$UNSET"` must not choose everything; what sets a key of the
 * configuration may empty it. */
static bool may_be_empty(const struct arg_option *option)
{
    return option->key || strcmp(option->value, "TEXT") == 0 ||
           strcmp(option->value, "TITLE") == 0 ||
           strcmp(option->value, "WORDS") == 0;
}

/* A count that is none is told before a store is looked for; how large it may
 * be says who uses it. */
static bool is_count(const struct arg_option *option)
{
    return strcmp(option->value, "N") == 0 ||
           strcmp(option->value, "TOKENS") == 0;
}

static bool is_whole(const char *value)
{
    size_t len = strspn(value, "0123456789");

    return len > 0 && !value[len] && len <= MAX_COUNT_DIGITS;
}

static enum clew_status check_value(const struct arg_option *option,
                                    const char *value, struct clew_error *err)
{
    const char *what = called(option);
    size_t len = strlen(value);
    bool is_text = utf8_is_valid(str_of(value));

    if (what && (!is_text || len == 0 || len > LIMIT_NAME_BYTES)) {
        return clew_fail_field(err, option->name,
                               "--%s needs a %s: 1 to %d bytes of UTF-8",
                               option->name, what, LIMIT_NAME_BYTES);
    }
    if (!is_text && !is_path(option)) {
        return clew_fail_field(err, option->name, "--%s must be valid UTF-8",
                               option->name);
    }
    if (len > 0 && is_count(option) && !is_whole(value)) {
        return clew_fail_field(err, option->name,
                               "--%s must be a whole number, above 0",
                               option->name);
    }
    return len > 0 || may_be_empty(option)
               ? CLEW_OK
               : clew_fail_field(err, option->name, "--%s must not be empty",
                                 option->name);
}

/* One option at argv[*at], which moves to its last word. */
static enum clew_status read_option(const struct arg_option *own, int argc,
                                    char *const *argv, int *at,
                                    struct args *out, struct clew_error *err)
{
    const char *word = argv[*at];
    const char *value;
    const struct arg_option *option = option_of(own, word, &value);

    if (!option) {
        return unknown(own, word, err);
    }
    if (!option->value && value) {
        return clew_fail_field(err, option->name, "--%s takes no value",
                               option->name);
    }
    if (option->value && !value) {
        if (*at + 1 >= argc) {
            return clew_fail_field(err, option->name, "--%s needs a value: %s",
                                   option->name, option->value);
        }
        ++*at;
        value = argv[*at];
    }
    if (value && check_value(option, value, err) != CLEW_OK) {
        return CLEW_INVALID;
    }
    if (out->n_given == ARGS_MAX) {
        return clew_fail(err, CLEW_TOO_LARGE, "too many options");
    }
    out->given[out->n_given].option = option;
    out->given[out->n_given].value = value;
    out->n_given++;
    return CLEW_OK;
}

enum clew_status args_parse(const struct arg_option *own, int argc,
                            char *const *argv, struct args *out,
                            struct clew_error *err)
{
    bool is_open = true; /* options may still come */

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        enum clew_status status = CLEW_OK;

        if (is_open && strcmp(word, "--") == 0) {
            is_open = false;
        } else if (is_open && word[0] == '-' && word[1]) {
            status = read_option(own, argc, argv, &i, out, err);
        } else if (out->n_operands == ARGS_MAX) {
            status = clew_fail(err, CLEW_TOO_LARGE, "too many arguments");
        } else {
            out->operands[out->n_operands++] = word;
        }
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

int args_before(int argc, char *const *argv)
{
    int n = 0;

    while (n < argc && argv[n][0] == '-' && argv[n][1] &&
           strcmp(argv[n], "--") != 0) {
        const char *value = NULL;
        const struct arg_option *option = option_of(NULL, argv[n], &value);

        if (!option) {
            return n;
        }
        n += option->value && !value ? 2 : 1;
    }
    return n > argc ? argc : n;
}

const char *args_nth(const struct args *args, const char *name, size_t i)
{
    for (size_t at = 0; at < args->n_given; at++) {
        if (strcmp(args->given[at].option->name, name) == 0 && i-- == 0) {
            return args->given[at].value;
        }
    }
    return NULL;
}

bool args_has(const struct args *args, const char *name)
{
    for (size_t i = 0; i < args->n_given; i++) {
        if (strcmp(args->given[i].option->name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool args_name_json(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value;
        const struct arg_option *option = argv[i][0] == '-' && argv[i][1]
                                              ? option_of(NULL, argv[i], &value)
                                              : NULL;

        if (option && strcmp(option->name, "json") == 0) {
            return true;
        }
    }
    return false;
}

const char *args_str(const struct args *args, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < args->n_given; i++) {
        if (strcmp(args->given[i].option->name, name) == 0) {
            value = args->given[i].value;
        }
    }
    return value;
}

enum clew_status args_int(const struct args *args, const char *name,
                          int64_t min, int64_t max, int64_t *out,
                          struct clew_error *err)
{
    const char *text = args_str(args, name);
    int64_t value;

    if (!text) {
        return CLEW_OK;
    }
    if (!str_parse_int(str_of(text), &value) || value < min || value > max) {
        return max == INT64_MAX
                   ? clew_fail_field(err, name,
                                     "--%s must be a whole number from %lld on",
                                     name, (long long)min)
                   : clew_fail_field(
                         err, name,
                         "--%s must be a whole number from %lld to %lld", name,
                         (long long)min, (long long)max);
    }
    *out = value;
    return CLEW_OK;
}

/* "NAME=VALUE" cut in two; the key is `prefix` and the name. */
static enum clew_status read_pair(struct arena *arena,
                                  const struct arg_option *option,
                                  struct str prefix, const char *text,
                                  struct config_flag *out,
                                  struct clew_error *err)
{
    const char *sign = strchr(text, '=');

    if (!sign) {
        return clew_fail_field(err, option->name, "--%s needs %s", option->name,
                               option->value);
    }
    out->key = arena_printf(arena, "%.*s%.*s", (int)prefix.len, prefix.s,
                            (int)(sign - text), text);
    out->value = sign + 1;
    return out->key ? CLEW_OK : clew_no_memory(err);
}

/* What one option sets; false if it sets nothing. */
static bool read_flag(struct arena *arena, const struct arg_option *option,
                      const char *value, struct config_flag *out,
                      enum clew_status *out_status, struct clew_error *err)
{
    struct str key = str_of(option->key);

    *out_status = CLEW_OK;
    if (strcmp(option->name, "set") == 0) {
        *out_status = read_pair(arena, option, STR(""), value, out, err);
        return true;
    }
    if (str_ends(key, STR(".*"))) {
        key.len--;
        *out_status = read_pair(arena, option, key, value, out, err);
        return true;
    }
    out->key = option->key;
    out->value = value ? value : "true";
    return key.len > 0;
}

enum clew_status args_config(const struct args *args, struct arena *arena,
                             struct config_flag *out, size_t *out_count,
                             struct clew_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < args->n_given; i++) {
        enum clew_status status;

        if (read_flag(arena, args->given[i].option, args->given[i].value,
                      &out[n], &status, err)) {
            n++;
        }
        if (status != CLEW_OK) {
            return status;
        }
    }
    *out_count = n;
    return CLEW_OK;
}
