/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bring_name.c - see bring_name.h.
 */
#include "cli/bring/bring_name.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

/* Of a digest, in a name. */
#define DIGEST_CHARS 16

static void name_init(struct bring_name *name, struct str id)
{
    *name = (struct bring_name){.is_users = false};
    (void)snprintf(name->text, sizeof(name->text), "%.*s", (int)id.len, id.s);
}

static void add_digest(struct bring_name *name, struct str of)
{
    size_t len = strlen(name->text);
    char hex[SHA256_HEX_SIZE];

    sha256_hex_of(of, hex);
    (void)snprintf(name->text + len, sizeof(name->text) - len, "~%.*s",
                   DIGEST_CHARS, hex);
}

static void add_user(struct bring_name *name, const struct bring *bring)
{
    name->is_users = true;
    add_digest(name, str_of(bring->user));
}

/* --- asking the store ----------------------------------------------------- */

/* The turn of this name, of `user`, NULL: of anybody. It is borrowed from the
 * answer; NULL: there is none. */
static enum clew_status ask(const struct bring *bring, const char *name,
                            const char *user, json_t **out_answer,
                            const json_t **out_turn, struct clew_error *err)
{
    struct buf path;
    enum clew_status status;

    /* not in the arena, which is emptied when the program ends: who watches a
     * folder asks as often as something is written there */
    buf_init(&path, 1 << 20);
    (void)buf_append_cstr(&path, "/api/v1/turns?external_id=");
    cli_encode(&path, str_of(name));
    if (user) {
        (void)buf_append_cstr(&path, "&user_id=");
        cli_encode(&path, str_of(user));
    }
    status = buf_status(&path);
    status = status == CLEW_OK
                 ? cli_call(bring->cli, "GET", path.data, NULL, out_answer, err)
                 : clew_no_memory(err);
    buf_release(&path);
    *out_turn = json_array_get(json_object_get(*out_answer, "items"), 0);
    return status;
}

static bool is_own(const struct bring *bring, const json_t *turn)
{
    return strcmp(cli_field(turn, "user_id"), bring->user) == 0;
}

/* Where the message of this name is, if it is the user's. */
static enum clew_status look(const struct bring *bring, const char *name,
                             struct import_place *out, struct clew_error *err)
{
    json_t *answer = NULL;
    const json_t *turn = NULL;
    enum clew_status status =
        ask(bring, name, bring->user, &answer, &turn, err);

    if (status == CLEW_OK) {
        out->is_known = turn && is_own(bring, turn);
        out->is_forgotten = !bring->brings_back &&
                            json_is_true(json_object_get(answer, "forgotten"));
    }
    if (status == CLEW_OK && out->is_known) {
        (void)snprintf(out->chat, sizeof(out->chat), "%s",
                       cli_field(turn, "chat_id"));
        out->seq = json_integer_value(json_object_get(turn, "seq"));
    }
    json_decref(answer);
    return status;
}

/* The same under the name that is the user's own. */
static enum clew_status look_own(struct bring *bring, struct str id,
                                 struct bring_name *name,
                                 struct import_place *out,
                                 struct clew_error *err)
{
    enum clew_status status;

    name_init(name, id);
    add_user(name, bring);
    status = look(bring, name->text, out, err);
    bring->has_own = bring->has_own || (status == CLEW_OK &&
                                        (out->is_known || out->is_forgotten));
    return status;
}

enum clew_status bring_name_find(struct bring *bring, struct str id,
                                 struct import_place *out,
                                 struct clew_error *err)
{
    struct bring_name name;
    bool is_forgotten;
    enum clew_status status;

    name_init(&name, id);
    status = look(bring, name.text, out, err);
    is_forgotten = status == CLEW_OK && out->is_forgotten;
    if (status == CLEW_OK && !out->is_known) {
        /* it may have come back while another had the name */
        status = look_own(bring, id, &name, out, err);
        out->is_forgotten =
            !out->is_known && (out->is_forgotten || is_forgotten);
    }
    return status;
}

/* One in so many is looked for where none was met. */
#define SAMPLE 8

/* Is any of them known by a name of the user's own? */
static enum clew_status sample(struct bring *bring,
                               const struct import_message *messages, size_t n,
                               struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n && !bring->has_own && status == CLEW_OK; i++) {
        if (i % SAMPLE == 0 || i + 1 == n) {
            struct import_place place = {0};
            struct bring_name name;

            status = look_own(bring, messages[i].id, &name, &place, err);
        }
    }
    return status;
}

enum clew_status bring_name_choose(struct bring *bring,
                                   const struct import_message *messages,
                                   size_t n, struct bring_name *out_names,
                                   struct clew_error *err)
{
    enum clew_status status = sample(bring, messages, n, err);

    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        struct import_place place = {0};
        struct bring_name own;

        name_init(&out_names[i], messages[i].id);
        if (bring->has_own) {
            status = look_own(bring, messages[i].id, &own, &place, err);
        }
        if (place.is_known || place.is_forgotten) {
            out_names[i] = own;
        }
    }
    return status;
}

/* --- other names ---------------------------------------------------------- */

size_t bring_name_taken(const struct clew_error *err, size_t n)
{
    size_t at = 0;

    if (n == 1 && strcmp(err->field, "external_id") == 0) {
        return 0;
    }
    return sscanf(err->field, "turns[%zu].external_id", &at) == 1 && at < n
               ? at
               : SIZE_MAX;
}

/* Where another user has the name, one of this user's own. */
static enum clew_status leave_to_other(const struct bring *bring,
                                       struct bring_name *name,
                                       struct clew_error *err)
{
    json_t *answer = NULL;
    const json_t *turn = NULL;
    enum clew_status status = CLEW_OK;

    if (!name->is_users && !name->is_words) {
        status = ask(bring, name->text, NULL, &answer, &turn, err);
    }
    if (status == CLEW_OK && turn && !is_own(bring, turn)) {
        add_user(name, bring);
    }
    json_decref(answer);
    return status;
}

static enum clew_status add_words(struct bring_name *name,
                                  const json_t *content, struct clew_error *err)
{
    char *words = json_dumps(content, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!words) {
        return clew_no_memory(err);
    }
    name->is_words = true;
    add_digest(name, str_of(words));
    alloc_free(words); /* jansson allocates through base/alloc.h */
    return CLEW_OK;
}

enum clew_status bring_name_change(const struct bring *bring,
                                   const struct import_message *messages,
                                   size_t n, size_t at,
                                   struct bring_name *names,
                                   struct clew_error *err)
{
    bool was_users = names[at].is_users;
    enum clew_status status = CLEW_OK;

    for (size_t i = at; i < n && status == CLEW_OK; i++) {
        status = leave_to_other(bring, &names[i], err);
    }
    if (status != CLEW_OK || names[at].is_users != was_users) {
        return status;
    }
    /* in plain lines two files may call two messages "1", which are none of
     * one talk: that is for the user to see */
    if (names[at].is_words || str_starts(messages[at].id, STR("jsonl/"))) {
        return CLEW_CONFLICT;
    }
    return add_words(&names[at], messages[at].content, err);
}
