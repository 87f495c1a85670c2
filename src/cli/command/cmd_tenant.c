/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tenant.c - what a tenant decided for itself, and which there are.
 *
 * The list is of the data folder only: a key sees its own tenant and none
 * beside it.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "engine/key/tenant.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"llm", 0, "allowed|forbidden", NULL,
     "may its words be shown to language models?"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_tenant(struct cli *cli, const json_t *answer,
                                    struct clew_error *err)
{
    (void)err;
    output_text(&cli->out, OUTPUT_BOLD, str_of(cli_field(answer, "name")));
    (void)fprintf(cli->out.file, "  language models: %s\n",
                  cli_field(answer, "llm"));
    return CLEW_OK;
}

static enum clew_status run_tenant(struct cli *cli, struct clew_error *err)
{
    const char *llm = args_str(&cli->args, "llm");
    json_t *body;

    if (!llm) {
        return cli_show(cli, "GET", "/api/v1/tenant", NULL, show_tenant, err);
    }
    body = json_object();
    if (!body || !json_set_cstr(body, "llm", llm)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    return cli_show(cli, "PATCH", "/api/v1/tenant", body, show_tenant, err);
}

const struct command command_tenant = {
    .name = "tenant",
    .operands = "",
    .summary = "show what the tenant decided; forbid language models",
    .example = "clew tenant --tenant acme --llm forbidden",
    .options = options,
    .run = run_tenant,
};

static enum clew_status show_tenants(struct cli *cli, const json_t *items,
                                     struct clew_error *err)
{
    static const struct output_column columns[] = {{"TENANT", false},
                                                   {"MADE", false}};
    const char **cells =
        arena_zero(&cli->arena, 2 * json_array_size(items) + 1, sizeof(*cells));
    const json_t *tenant;
    size_t i;

    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, tenant) {
        cells[2 * i] = cli_field(tenant, "name");
        cells[2 * i + 1] = cli_when(cli, tenant, "created_at");
    }
    output_table(&cli->out, columns, 2, cells, json_array_size(items));
    if (json_array_size(items) == 0) {
        (void)fputs("no tenants: nothing was stored yet\n", stderr);
    }
    return CLEW_OK;
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    struct tenant_entry *tenants = NULL;
    struct engine *engine;
    size_t count = 0;
    json_t *answer;
    json_t *items;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = tenant_list(engine, &cli->arena, &tenants, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    answer = json_pack("{s:[], s:n}", "items", "next_cursor");
    items = json_object_get(answer, "items");
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        json_t *item = json_object();

        if (!item || !json_set_str(item, "name", tenants[i].name) ||
            !json_set_time(item, "created_at", &tenants[i].created_at_ms) ||
            json_array_append(items, item) != 0) {
            status = clew_no_memory(err);
        }
        json_decref(item);
    }
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        status = show_tenants(cli, items, err);
    }
    json_decref(answer);
    return status;
}

const struct command command_tenant_list = {
    .name = "tenant list",
    .operands = "",
    .summary = "list the tenants of this store, oldest first",
    .example = "clew tenant list --data /var/lib/clew",
    .run = run_list,
};
