/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_secrets.c - find secrets that are stored, and star them.
 */
#include "cli/core/cli.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/proof/secrets.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"mask", 'm', NULL, NULL, "star them, and derive the rest again"},
    {NULL, 0, NULL, NULL, NULL},
};

static json_t *report_json(const struct secrets_report *report)
{
    json_t *list = json_array();
    json_t *json;

    for (size_t i = 0; list && i < report->n_shown; i++) {
        const struct secrets_found *found = &report->shown[i];
        json_t *item =
            json_pack("{s:s, s:s, s:s, s:s, s:s?}", "type", found->type,
                      "column", found->column, "key", found->key, "kind",
                      found->kind, "around", found->around);

        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    json = json_pack("{s:I, s:I, s:I, s:o}", "looked_at",
                     (json_int_t)report->n_rows, "found",
                     (json_int_t)report->n_found, "masked",
                     (json_int_t)report->n_masked, "items", list);
    return json;
}

static void show(struct cli *cli, const struct secrets_report *report)
{
    for (size_t i = 0; i < report->n_shown; i++) {
        const struct secrets_found *found = &report->shown[i];

        (void)fprintf(cli->out.file, "%-12s %s %s, %s\n    ", found->kind,
                      found->type, found->column, found->key);
        output_line(&cli->out, OUTPUT_PLAIN,
                    str_of(found->around ? found->around : ""), 0);
        (void)fputc('\n', cli->out.file);
    }
    if (report->n_found > (int64_t)report->n_shown) {
        (void)fprintf(cli->out.file, "and %lld more\n",
                      (long long)(report->n_found - (int64_t)report->n_shown));
    }
    (void)fprintf(cli->out.file, "looked at %lld texts: %lld hold secrets%s\n",
                  (long long)report->n_rows, (long long)report->n_found,
                  report->n_found == 0    ? ""
                  : report->n_masked == 0 ? "; --mask stars them"
                                          : ", starred");
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    struct secrets_report *report = arena_zero(&cli->arena, 1, sizeof(*report));
    struct engine *engine;
    struct scope scope;
    json_t *json;
    enum clew_status status =
        report ? cli_tenant(cli, &engine, &scope, err) : clew_no_memory(err);

    if (status == CLEW_OK) {
        status = secrets_run(engine, &scope, &cli->arena,
                             args_has(&cli->args, "mask"), report, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (!cli->as_json) {
        show(cli, report);
        return CLEW_OK;
    }
    json = report_json(report);
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

const struct command command_secrets = {
    .name = "secrets",
    .operands = "",
    .summary = "list secrets that are stored, and star them with --mask",
    .example = "clew secrets --mask --data /var/lib/clew",
    .options = options,
    .run = run,
};
