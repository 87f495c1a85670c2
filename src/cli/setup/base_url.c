/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_url.c - see base_url.h.
 */
#include "cli/setup/base_url.h"

#include "base/json.h"
#include "cli/setup/edit.h"

#include <stdio.h>
#include <string.h>

#define MAX_URL 2048

static const char *const providers[] = {"anthropic", "openai"};
#define N_PROVIDERS (sizeof(providers) / sizeof(*providers))

/* The address as this client wants it, as a JSON string (TOML's are alike). */
static enum clew_status quote(const struct base_url *place, const char *url,
                              struct buf *out)
{
    char whole[MAX_URL];
    json_t *text;
    enum clew_status status;

    (void)snprintf(whole, sizeof(whole), "%s%s", url, place->path);
    text = json_string(whole);
    status = text ? json_write(out, text) : CLEW_NO_MEMORY;
    json_decref(text);
    return status;
}

static bool is_own(const struct base_url *place, const char *url,
                   const char *const *own, size_t n_own)
{
    for (size_t i = 0; i < n_own; i++) {
        char whole[MAX_URL];

        if (own[i]) {
            (void)snprintf(whole, sizeof(whole), "%s%s", own[i], place->path);
            if (strcmp(whole, url) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* --- a key at the top of a TOML file ---------------------------------------
 */

/* Its line, with the end of it; false if there is none before the first table,
 * where keys at the top end. */
static bool find_key(struct str text, const char *name, size_t *out_at,
                     size_t *out_end)
{
    size_t at = 0;

    while (at < text.len) {
        size_t end = str_find(text, STR("\n"), at);
        struct str line;

        end = end == SIZE_MAX ? text.len : end + 1;
        line = str_trim(str_sub(text, at, end));
        if (str_starts(line, STR("["))) {
            return false;
        }
        if (str_starts(line, str_of(name)) &&
            str_starts(str_trim(str_sub(line, strlen(name), line.len)),
                       STR("="))) {
            *out_at = at;
            *out_end = end;
            return true;
        }
        at = end;
    }
    return false;
}

static enum clew_status set_key(const struct base_url *place, struct str text,
                                const char *url, struct buf *out)
{
    size_t at = 0;
    size_t end = 0;
    enum clew_status status;

    (void)find_key(text, place->name, &at, &end); /* else at the top */
    status = buf_append_str(out, str_sub(text, 0, at));
    if (status == CLEW_OK) {
        status = buf_printf(out, "%s = ", place->name);
    }
    if (status == CLEW_OK) {
        status = quote(place, url, out);
    }
    if (status == CLEW_OK) { /* a table stands off from what is before it */
        status = buf_append_cstr(
            out, end < text.len && text.s[end] == '[' ? "\n\n" : "\n");
    }
    return status == CLEW_OK ? buf_append_str(out, str_sub(text, end, text.len))
                             : status;
}

/* --- JSON ------------------------------------------------------------------
 */

static const char *url_of(const json_t *provider)
{
    return json_string_value(
        json_object_get(json_object_get(provider, "options"), "baseURL"));
}

/* Nothing but the address is said of it. */
static bool is_bare(const json_t *provider)
{
    return json_object_size(provider) == 1 && url_of(provider) &&
           json_object_size(json_object_get(provider, "options")) == 1;
}

static enum clew_status set_provider(const struct base_url *place,
                                     const json_t *config, size_t i,
                                     struct str text, const char *url,
                                     struct buf *out, struct clew_error *err)
{
    const json_t *known =
        json_object_get(json_object_get(config, "provider"), providers[i]);
    struct buf value;
    enum clew_status status;

    if (known && !is_bare(known)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "--proxy: \"%s\" has settings of its own: set its "
                         "options.baseURL to %.150s%s there",
                         providers[i], url, place->path);
    }
    buf_init(&value, MAX_URL + 64);
    status = buf_append_cstr(&value, "{\"options\": {\"baseURL\": ");
    if (status == CLEW_OK) {
        status = quote(place, url, &value);
    }
    if (status == CLEW_OK) {
        status = buf_append_cstr(&value, "}}");
    }
    if (status == CLEW_OK) {
        status = edit_json_set(text, "provider", providers[i], buf_str(&value),
                               out, err);
    }
    buf_release(&value);
    return status;
}

/* Each provider in its turn, from one text to the next; `url` NULL: those
 * that are `own` are taken out. */
static enum clew_status edit_providers(const struct base_url *place,
                                       struct str text, const char *url,
                                       const char *const *own, size_t n_own,
                                       struct buf *out, struct clew_error *err)
{
    enum clew_status status = buf_append_str(out, text);
    json_t *config = NULL;

    if (text.len > 0 && json_parse(text, &config, NULL) != CLEW_OK) {
        config = NULL; /* the editor says what is wrong with it */
    }
    for (size_t i = 0; status == CLEW_OK && i < N_PROVIDERS; i++) {
        const json_t *known =
            json_object_get(json_object_get(config, "provider"), providers[i]);
        struct buf next;

        if (!url && (!known || !is_bare(known) ||
                     !is_own(place, url_of(known), own, n_own))) {
            continue;
        }
        buf_init(&next, out->limit);
        status =
            url ? set_provider(place, config, i, buf_str(out), url, &next, err)
                : edit_json_remove(buf_str(out), "provider", providers[i],
                                   &next, err);
        if (status == CLEW_OK) {
            buf_clear(out);
            status = buf_append_str(out, buf_str(&next));
        }
        buf_release(&next);
    }
    json_decref(config);
    return status;
}

/* --- what callers ask ------------------------------------------------------
 */

void base_url_get(const struct base_url *place, struct str text, char *out,
                  size_t cap)
{
    const char *url = NULL;
    json_t *json = NULL;
    size_t at;
    size_t end;

    out[0] = '\0';
    if (place->form == BASE_URL_TOML &&
        find_key(text, place->name, &at, &end)) {
        struct str line = str_sub(text, at, end);
        size_t from = str_find(line, STR("\""), 0);
        size_t to =
            from == SIZE_MAX ? from : str_find(line, STR("\""), from + 1);

        if (to != SIZE_MAX) {
            (void)snprintf(out, cap, "%.*s", (int)(to - from - 1),
                           line.s + from + 1);
        }
        return;
    }
    if (text.len == 0 || json_parse(text, &json, NULL) != CLEW_OK) {
        return;
    }
    if (place->form == BASE_URL_ENV) {
        url = json_string_value(
            json_object_get(json_object_get(json, "env"), place->name));
    }
    for (size_t i = 0;
         place->form == BASE_URL_PROVIDERS && !url && i < N_PROVIDERS; i++) {
        url = url_of(
            json_object_get(json_object_get(json, "provider"), providers[i]));
    }
    (void)snprintf(out, cap, "%s", url ? url : "");
    json_decref(json);
}

enum clew_status base_url_set(const struct base_url *place, struct str text,
                              const char *url, struct buf *out,
                              struct clew_error *err)
{
    struct buf value;
    enum clew_status status;

    if (place->form == BASE_URL_TOML) {
        return set_key(place, text, url, out);
    }
    if (place->form == BASE_URL_PROVIDERS) {
        return edit_providers(place, text, url, NULL, 0, out, err);
    }
    buf_init(&value, 2 * MAX_URL);
    status = quote(place, url, &value);
    if (status == CLEW_OK) {
        status =
            edit_json_set(text, "env", place->name, buf_str(&value), out, err);
    }
    buf_release(&value);
    return status;
}

enum clew_status base_url_remove(const struct base_url *place, struct str text,
                                 const char *const *own, size_t n_own,
                                 struct buf *out, struct clew_error *err)
{
    char url[MAX_URL];
    size_t at = 0;
    size_t end = 0;

    if (place->form == BASE_URL_PROVIDERS) {
        return edit_providers(place, text, NULL, own, n_own, out, err);
    }
    base_url_get(place, text, url, sizeof(url));
    if (!url[0] || !is_own(place, url, own, n_own)) {
        return buf_append_str(out, text);
    }
    if (place->form == BASE_URL_ENV) {
        return edit_json_remove(text, "env", place->name, out, err);
    }
    (void)find_key(text, place->name, &at, &end); /* it is there */
    if (at == 0 && end < text.len && text.s[end] == '\n') {
        end++; /* what it stood off by */
    }
    if (buf_append_str(out, str_sub(text, 0, at)) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    return buf_append_str(out, str_sub(text, end, text.len));
}
