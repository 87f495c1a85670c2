/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tenant.c - what a tenant decided for itself.
 */
#include "base/json.h"
#include "cli/core/cli.h"

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
