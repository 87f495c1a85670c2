/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_backup.c - copy the store while it is in use, and check it.
 */
#include "cli/cli.h"
#include "engine/engine.h"
#include "engine/verify.h"
#include "store/store.h"

#include <stdio.h>
#include <unistd.h>

static enum clew_status run_backup(struct cli *cli, struct clew_error *err)
{
    const char *path = cli->args.operands[0];
    struct engine *engine;
    enum clew_status status;

    if (access(path, F_OK) == 0) {
        return clew_fail(err, CLEW_CONFLICT, "\"%s\" is already there", path);
    }
    status = cli_engine(cli, &engine, err);
    if (status == CLEW_OK) {
        status = store_backup(engine->store, path, err);
    }
    if (status == CLEW_OK && !cli->as_json) {
        (void)fprintf(stderr, "copied to %s\n", path);
    }
    return status;
}

const struct command command_backup = {
    .name = "backup",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "copy the store to a file, consistently and while in use",
    .example = "clew backup /backup/clew-$(date +%F).db",
    .run = run_backup,
};

static json_t *form_of(const struct verify_report *report)
{
    json_t *json = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:[]}", "ok", report->n_faults == 0,
        "tenants", (json_int_t)report->n_tenants, "chats",
        (json_int_t)report->n_chats, "turns", (json_int_t)report->n_turns,
        "memories", (json_int_t)report->n_memories, "faults");

    for (size_t i = 0; json && i < report->n_faults; i++) {
        const struct verify_fault *fault = &report->faults[i];
        json_t *item =
            json_pack("{s:s, s:s, s:I}", "tenant", fault->tenant, "rule",
                      fault->rule, "count", (json_int_t)fault->count);

        if (json_array_append_new(json_object_get(json, "faults"), item) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

static enum clew_status show(struct cli *cli,
                             const struct verify_report *report,
                             struct clew_error *err)
{
    json_t *json;

    if (cli->as_json) {
        json = form_of(report);
        if (!json) {
            return clew_no_memory(err);
        }
        output_json(&cli->out, json);
        json_decref(json);
        return CLEW_OK;
    }
    for (size_t i = 0; i < report->n_faults; i++) {
        (void)fprintf(cli->out.file, "tenant %s: not true for %lld: %s\n",
                      report->faults[i].tenant,
                      (long long)report->faults[i].count,
                      report->faults[i].rule);
    }
    (void)fprintf(cli->out.file,
                  "looked at %lld tenants, %lld chats, %lld turns, %lld "
                  "memories: %s\n",
                  (long long)report->n_tenants, (long long)report->n_chats,
                  (long long)report->n_turns, (long long)report->n_memories,
                  report->n_faults ? "damaged" : "sound");
    return CLEW_OK;
}

static enum clew_status run_verify(struct cli *cli, struct clew_error *err)
{
    struct verify_report report = {0};
    struct engine *engine;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = verify_run(engine, &cli->arena, &report, err);
    }
    if (status == CLEW_OK) {
        status = show(cli, &report, err);
    }
    if (status == CLEW_OK && report.n_faults > 0) {
        status = clew_fail(err, CLEW_CORRUPT, "%zu rules are broken",
                           report.n_faults);
    }
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .operands = "",
    .summary = "prove that what is stored holds together",
    .example = "clew verify --data /var/lib/clew",
    .run = run_verify,
};
