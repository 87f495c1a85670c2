/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - the effective settings and where each came from. See config.h.
 *
 * An entry per key that has a value, sorted by name once loaded. Sources are
 * applied from weakest to strongest (default, file, environment, flags), each
 * overwriting the entry. Reading the file is config_file.c.
 */
#include "base/config.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/config_internal.h"
#include "base/json.h"
#include "base/near.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_LIMIT_BYTES (16u * 1024 * 1024)
#define NAME_LIMIT_BYTES 256

static const struct config_key keys[] = {
#define KEY(name, type, fallback, allowed, help)                               \
    {name, CONFIG_##type, fallback, allowed, help},
#include "base/config_keys.def"
#undef KEY
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

struct entry {
    char *name;
    char *value;
    char *from;
    const struct config_key *key;
    struct config_value parsed;
};

struct config {
    struct arena arena;
    struct entry *entries;
    size_t n_entries;
    size_t cap_entries;
    const char *dir;
    const char *data_dir;
};

const struct config_key *config_keys(size_t *out_n)
{
    *out_n = N_KEYS;
    return keys;
}

static bool is_pattern(const struct config_key *key)
{
    return str_ends(str_of(key->name), STR(".*"));
}

/* "channels.*" matches "channels.fax", not "channels.a.b" nor "channels.". */
static bool matches(const struct config_key *key, struct str name)
{
    struct str prefix = str_of(key->name);

    if (!is_pattern(key)) {
        return str_eq(prefix, name);
    }
    prefix.len--;
    return str_starts(name, prefix) && name.len > prefix.len &&
           str_find(name, STR("."), prefix.len) == SIZE_MAX;
}

static const struct config_key *key_of(struct str name)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        if (matches(&keys[i], name)) {
            return &keys[i];
        }
    }
    return NULL;
}

static struct entry *find_entry(const struct config *config, struct str name)
{
    for (size_t i = 0; i < config->n_entries; i++) {
        if (str_eq(str_of(config->entries[i].name), name)) {
            return &config->entries[i];
        }
    }
    return NULL;
}

static struct entry *add_entry(struct config *config, struct str name)
{
    struct entry *entry;
    struct entry *grown;
    char *copy;

    grown = arena_grow(&config->arena, config->entries, config->n_entries,
                       &config->cap_entries, sizeof(*grown));
    copy = arena_copy(&config->arena, name.s, name.len);
    if (grown) {
        config->entries = grown;
    }
    if (!grown || !copy) {
        return NULL;
    }
    entry = &config->entries[config->n_entries++];
    memset(entry, 0, sizeof(*entry));
    entry->name = copy;
    return entry;
}

static void wipe(struct entry *entry)
{
    if (entry->key && entry->key->type == CONFIG_SECRET && entry->value) {
        explicit_bzero(entry->value, strlen(entry->value));
    }
}

/* True if both values were read from the same file: the key stands twice. */
static bool is_twice(const struct entry *entry, const char *from)
{
    const char *a = entry && entry->from ? strrchr(entry->from, ':') : NULL;
    const char *b = strrchr(from, ':');

    return a && b && a - entry->from == b - from &&
           memcmp(entry->from, from, (size_t)(b - from)) == 0;
}

/* There is no such key: tell which was meant. */
static enum clew_status unknown(const char *name, const char *from,
                                struct clew_error *err)
{
    char meant[NEAR_TEXT_SIZE];
    struct near near;

    near_init(&near, str_of(name));
    for (size_t i = 0; i < N_KEYS; i++) {
        if (!is_pattern(&keys[i])) {
            near_offer(&near, str_of(keys[i].name));
        }
    }
    near_text(&near, "", meant);
    return clew_fail_field(err, name, "%s: unknown key \"%s\"%s", from, name,
                           meant[0] ? meant
                                    : "; \"clew config keys\" lists them");
}

/*
 * Set `key` to `value`, checked against the table. `from` names the place for
 * errors and for `clew config`: "clew.yaml:12", "CLEW_SERVER_LISTEN".
 */
static enum clew_status config_set(struct config *config, struct str key,
                                   struct str value, const char *from,
                                   struct clew_error *err)
{
    const struct config_key *row = key_of(key);
    struct entry *entry = find_entry(config, key);
    struct entry parsed = {0};
    char problem[128];
    char name[NAME_LIMIT_BYTES];

    (void)snprintf(name, sizeof(name), "%.*s",
                   (int)(key.len < 200 ? key.len : 200), key.s);
    if (!row) {
        return unknown(name, from, err);
    }
    if (is_twice(entry, from)) {
        return clew_fail_field(err, name, "%s: \"%s\" is already set in %s",
                               from, name, entry->from);
    }
    if (!config_parse(row, value, &parsed.parsed, problem, sizeof(problem))) {
        return clew_fail_field(err, name, "%s: \"%s\" %s", from, name, problem);
    }
    if (!entry) {
        entry = add_entry(config, key);
    }
    if (!entry) {
        return clew_no_memory(err);
    }
    wipe(entry);
    parsed.name = entry->name;
    parsed.key = row;
    parsed.value = arena_copy(&config->arena, value.s, value.len);
    parsed.from = arena_string(&config->arena, from);
    if (!parsed.value || !parsed.from) {
        entry->value = NULL;
        return clew_no_memory(err);
    }
    *entry = parsed;
    return CLEW_OK;
}

static enum clew_status set_defaults(struct config *config,
                                     struct clew_error *err)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        enum clew_status status;

        if (is_pattern(&keys[i])) {
            continue;
        }
        status = config_set(config, str_of(keys[i].name),
                            str_of(keys[i].fallback), "default", err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

/* "server.listen" to "CLEW_SERVER_LISTEN"; false if it does not fit. */
static bool env_name(const char *key, char *out, size_t cap)
{
    size_t len = strlen(key);

    if (len + 6 > cap) {
        return false;
    }
    memcpy(out, "CLEW_", 5);
    for (size_t i = 0; i <= len; i++) {
        char c = key[i];

        out[5 + i] = (char)(c == '.' ? '_' : toupper((unsigned char)c));
    }
    return true;
}

/* The key a variable "CLEW_CHANNELS_FAX" names by a ".*" row, or false. */
static bool key_by_pattern(const struct config_key *row, struct str variable,
                           char *out, size_t cap)
{
    size_t prefix = strlen(row->name) - 1;
    char name[NAME_LIMIT_BYTES];

    if (!is_pattern(row) || !env_name(row->name, name, sizeof(name))) {
        return false;
    }
    name[5 + prefix] = '\0'; /* without the '*' */
    if (!str_starts(variable, str_of(name)) || variable.len == 5 + prefix ||
        variable.len - 5 >= cap) {
        return false;
    }
    memcpy(out, row->name, prefix);
    for (size_t i = prefix; i < variable.len - 5; i++) {
        out[i] = (char)tolower((unsigned char)variable.s[5 + i]);
    }
    out[variable.len - 5] = '\0';
    return true;
}

static bool key_of_variable(struct str variable, char *out, size_t cap)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        char name[NAME_LIMIT_BYTES];

        if (!is_pattern(&keys[i]) &&
            env_name(keys[i].name, name, sizeof(name)) &&
            str_eq(variable, str_of(name))) {
            (void)snprintf(out, cap, "%s", keys[i].name);
            return true;
        }
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        if (key_by_pattern(&keys[i], variable, out, cap)) {
            return true;
        }
    }
    return false;
}

static enum clew_status set_from_environment(struct config *config,
                                             struct clew_error *err)
{
    for (char **at = environ; at && *at; at++) {
        struct str line = str_of(*at);
        size_t sign = str_find(line, STR("="), 0);
        struct str variable = str_sub(line, 0, sign);
        char key[NAME_LIMIT_BYTES];
        char from[NAME_LIMIT_BYTES];
        enum clew_status status;

        if (sign == SIZE_MAX || !str_starts(line, STR("CLEW_")) ||
            !key_of_variable(variable, key, sizeof(key))) {
            continue;
        }
        (void)snprintf(from, sizeof(from), "%.*s", (int)variable.len,
                       variable.s);
        status = config_set(config, str_of(key),
                            str_sub(line, sign + 1, line.len), from, err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

/* "<variable>/tail", else "$HOME/home_tail/tail", else "./tail". */
static char *xdg_path(struct arena *arena, const char *variable,
                      const char *home_tail, const char *tail)
{
    const char *base = getenv(variable);
    const char *home = getenv("HOME");

    if (base && base[0] == '/') {
        return arena_printf(arena, "%s/%s", base, tail);
    }
    if (home && home[0]) {
        return arena_printf(arena, "%s/%s/%s", home, home_tail, tail);
    }
    return arena_printf(arena, "./%s", tail);
}

static char *dir_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash) {
        return arena_string(arena, ".");
    }
    return arena_copy(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static enum clew_status set_from_file(struct config *config, const char *path,
                                      struct clew_error *err)
{
    const char *named = path ? path : getenv("CLEW_CONFIG");
    enum clew_status status;

    if (!named || !named[0]) {
        named = NULL;
        path = xdg_path(&config->arena, "XDG_CONFIG_HOME", ".config",
                        "clew/clew.yaml");
    } else {
        path = named;
    }
    config->dir = path ? dir_of(&config->arena, path) : NULL;
    if (!config->dir) {
        return clew_no_memory(err);
    }
    status = config_read_file(config, path, config_set, err);
    return status == CLEW_NOT_FOUND && !named ? CLEW_OK : status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name,
                  ((const struct entry *)b)->name);
}

static enum clew_status load(struct config *config, const char *path,
                             const struct config_flag *flags, size_t n_flags,
                             struct clew_error *err)
{
    enum clew_status status = set_defaults(config, err);
    const struct entry *data;

    if (status == CLEW_OK) {
        status = set_from_file(config, path, err);
    }
    if (status == CLEW_OK) {
        status = set_from_environment(config, err);
    }
    for (size_t i = 0; i < n_flags && status == CLEW_OK; i++) {
        status = config_set(config, str_of(flags[i].key),
                            str_of(flags[i].value), "command line", err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    qsort(config->entries, config->n_entries, sizeof(struct entry), by_name);
    data = find_entry(config, STR("data.dir"));
    config->data_dir =
        data && data->value[0]
            ? data->value
            : xdg_path(&config->arena, "XDG_DATA_HOME", ".local/share", "clew");
    return config->data_dir ? CLEW_OK : clew_no_memory(err);
}

enum clew_status config_load(const char *path, const struct config_flag *flags,
                             size_t n_flags, struct config **out_config,
                             struct clew_error *err)
{
    struct config *config = alloc_zero(1, sizeof(*config));
    enum clew_status status;

    if (!config) {
        return clew_no_memory(err);
    }
    arena_init(&config->arena, ARENA_LIMIT_BYTES);
    status = load(config, path, flags, n_flags, err);
    if (status == CLEW_OK) {
        *out_config = config;
    } else {
        config_free(config);
    }
    return status;
}

void config_free(struct config *config)
{
    if (!config) {
        return;
    }
    for (size_t i = 0; i < config->n_entries; i++) {
        wipe(&config->entries[i]);
    }
    arena_release(&config->arena);
    alloc_free(config);
}

/* The entry of a key that is in the table; NULL if a ".*" key is not set. */
static const struct entry *get(const struct config *config, const char *key)
{
    struct entry wanted = {.name = (char *)(uintptr_t)key};

    assert(key_of(str_of(key)) && "not in config_keys.def");
    return bsearch(&wanted, config->entries, config->n_entries, sizeof(wanted),
                   by_name);
}

const char *config_str(const struct config *config, const char *key)
{
    const struct entry *entry = get(config, key);

    return entry ? entry->value : NULL;
}

int64_t config_int(const struct config *config, const char *key)
{
    const struct entry *entry = get(config, key);

    return entry ? entry->parsed.number : 0;
}

double config_real(const struct config *config, const char *key)
{
    const struct entry *entry = get(config, key);

    return entry ? entry->parsed.real : 0.0;
}

bool config_bool(const struct config *config, const char *key)
{
    const struct entry *entry = get(config, key);

    return entry && entry->parsed.number != 0;
}

void config_each(const struct config *config, const char *prefix,
                 config_each_fn fn, void *arg)
{
    for (size_t i = 0; i < config->n_entries; i++) {
        const struct entry *entry = &config->entries[i];

        if (str_starts(str_of(entry->name), str_of(prefix))) {
            fn(arg, entry->name, entry->value);
        }
    }
}

const char *config_dir(const struct config *config)
{
    return config->dir;
}

const char *config_data_dir(const struct config *config)
{
    return config->data_dir;
}

/* The value as it may be shown: no secret, no password of an address. */
static void append_shown(struct buf *out, const struct entry *entry)
{
    struct str value = str_of(entry->value);
    size_t host = str_find(value, STR("://"), 0);
    /* the last: a password may hold one */
    const char *at = memrchr(value.s, '@', value.len);

    if (entry->key->type == CONFIG_SECRET) {
        (void)buf_append_cstr(out, value.len ? "***" : "");
    } else if (str_find(value, STR("password="), 0) != SIZE_MAX) {
        (void)buf_append_cstr(out, "***");
    } else if (host != SIZE_MAX && at) {
        (void)buf_append_str(out, str_sub(value, 0, host + 3));
        (void)buf_append_cstr(out, "***");
        (void)buf_append_cstr(out, at);
    } else {
        (void)buf_append_str(out, value); /* failures stay in the buffer */
    }
}

static json_t *json_of(const struct entry *entry, const char *shown)
{
    switch (entry->key->type) {
    case CONFIG_STR:
    case CONFIG_SECRET:
    case CONFIG_CHOICE:
        return json_string(shown);
    case CONFIG_INT:
    case CONFIG_SIZE:
        return json_integer(entry->parsed.number);
    case CONFIG_REAL:
        return json_real(entry->parsed.real);
    case CONFIG_BOOL:
        return json_boolean(entry->parsed.number != 0);
    }
    return NULL;
}

static enum clew_status show_json(const struct config *config, struct buf *out)
{
    enum clew_status status = CLEW_NO_MEMORY;
    json_t *all = json_object();
    struct buf shown;

    buf_init(&shown, ARENA_LIMIT_BYTES);
    for (size_t i = 0; all && i < config->n_entries; i++) {
        const struct entry *entry = &config->entries[i];
        json_t *item = json_object();

        buf_clear(&shown);
        append_shown(&shown, entry);
        if (!json_set(all, entry->name, item) ||
            buf_status(&shown) != CLEW_OK ||
            !json_set(item, "value", json_of(entry, shown.data)) ||
            !json_set_cstr(item, "from", entry->from)) {
            goto out;
        }
    }
    if (all) {
        status = json_write(out, all);
    }
out:
    buf_release(&shown);
    json_decref(all);
    return status;
}

enum clew_status config_show(const struct config *config, bool as_json,
                             struct buf *out)
{
    if (as_json) {
        return show_json(config, out);
    }
    for (size_t i = 0; i < config->n_entries; i++) {
        const struct entry *entry = &config->entries[i];

        (void)buf_printf(out, "%s = ", entry->name); /* checked at the end */
        append_shown(out, entry);
        (void)buf_printf(out, "  # %s\n", entry->from);
    }
    return buf_status(out);
}
