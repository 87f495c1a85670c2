/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_keys.c - make, list and revoke API keys.
 *
 * On the data folder only: whoever can read it needs no key, and nobody else
 * should make one.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "engine/core/engine.h"
#include "engine/key/key.h"

#include <stdio.h>
#include <string.h>

static const struct arg_option create_options[] = {
    {"role", 'r', "KEY-ROLE", NULL, "read, write (default) or admin"},
    {"label", 0, "TEXT", NULL, "what it is for"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_new(struct cli *cli, const struct key *key,
                                 const char *text, struct clew_error *err)
{
    json_t *json;

    if (!cli->as_json) {
        (void)fprintf(cli->out.file, "%s\n", text);
        output_note("key %s: tenant %s, role %s. It is not shown again.",
                    key->id, key->tenant, key_role_name(key->role));
        return CLEW_OK;
    }
    json = json_pack("{s:s, s:s, s:s, s:s}", "key", text, "id", key->id,
                     "tenant", key->tenant, "role", key_role_name(key->role));
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

static enum clew_status run_create(struct cli *cli, struct clew_error *err)
{
    const char *role_text = args_str(&cli->args, "role");
    const char *tenant = args_str(&cli->args, "tenant");
    enum key_role role = KEY_WRITE;
    char text[KEY_TEXT_SIZE];
    struct engine *engine;
    enum clew_status status;
    struct key key;

    if (role_text && !key_role_parse(str_of(role_text), &role)) {
        return clew_fail_field(err, "role",
                               "--role must be read, write or admin");
    }
    status = cli_engine(cli, &engine, err);
    if (status != CLEW_OK) {
        return status;
    }
    status = key_create(engine, &cli->arena, tenant ? tenant : "default", role,
                        args_str(&cli->args, "label"), &key, text, err);
    if (status == CLEW_OK) {
        status = show_new(cli, &key, text, err);
        explicit_bzero(text, sizeof(text));
    }
    return status;
}

const struct command command_keys_create = {
    .name = "keys create",
    .operands = "",
    .summary = "make a key and print it, once",
    .example = "clew keys create --tenant acme --role write --label bot",
    .options = create_options,
    .run = run_create,
    .makes_store = true,
};

static json_t *form_of(const struct key *key)
{
    json_t *json = json_object();
    const int64_t *revoked = key->revoked_at_ms ? &key->revoked_at_ms : NULL;

    if (json && json_set_cstr(json, "id", key->id) &&
        json_set_cstr(json, "tenant", key->tenant) &&
        json_set_cstr(json, "role", key_role_name(key->role)) &&
        json_set_cstr(json, "label", key->label) &&
        json_set_time(json, "created_at", &key->created_at_ms) &&
        json_set_time(json, "revoked_at", revoked)) {
        return json;
    }
    json_decref(json);
    return NULL;
}

static enum clew_status show_keys(struct cli *cli, const json_t *items,
                                  struct clew_error *err)
{
    static const struct output_column columns[] = {
        {"KEY", false},     {"TENANT", false},  {"ROLE", false},
        {"CREATED", false}, {"REVOKED", false}, {"LABEL", false}};
    const char **cells =
        arena_zero(&cli->arena, 6 * json_array_size(items) + 1, sizeof(*cells));
    const json_t *key;
    size_t i;

    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, key) {
        cells[6 * i] = cli_field(key, "id");
        cells[6 * i + 1] = cli_field(key, "tenant");
        cells[6 * i + 2] = cli_field(key, "role");
        cells[6 * i + 3] = cli_when(cli, key, "created_at");
        cells[6 * i + 4] = cli_when(cli, key, "revoked_at");
        cells[6 * i + 5] = cli_field(key, "label");
    }
    output_table(&cli->out, columns, 6, cells, json_array_size(items));
    if (json_array_size(items) == 0) {
        (void)fputs("no keys: a server on this store asks for none\n", stderr);
    }
    return CLEW_OK;
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    struct engine *engine;
    struct key *keys = NULL;
    size_t count = 0;
    json_t *answer;
    json_t *items;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = key_list(engine, &cli->arena, &keys, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    answer = json_pack("{s:[], s:n}", "items", "next_cursor");
    items = json_object_get(answer, "items");
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (json_array_append_new(items, form_of(&keys[i])) != 0) {
            status = clew_no_memory(err);
        }
    }
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        status = show_keys(cli, items, err);
    }
    json_decref(answer);
    return status;
}

const struct command command_keys_list = {
    .name = "keys list",
    .operands = "",
    .summary = "list keys, revoked ones too; secrets are not kept",
    .example = "clew keys list",
    .run = run_list,
};

static enum clew_status run_revoke(struct cli *cli, struct clew_error *err)
{
    struct engine *engine;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = key_revoke(engine, str_of(cli->args.operands[0]), err);
    }
    if (status == CLEW_OK && !cli->as_json) {
        output_note("key %s is revoked", cli->args.operands[0]);
    }
    return status;
}

const struct command command_keys_revoke = {
    .name = "keys revoke",
    .operands = "KEY-ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "make a key worthless from now on",
    .example = "clew keys revoke 4f1c2a9be07d5530",
    .run = run_revoke,
};
