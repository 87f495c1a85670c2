/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_rebuild.c - prove that what is derived follows from the log, and make it
 * so.
 */
#include "cli/core/cli.h"
#include "cli/show/show.h"
#include "engine/capture/read_task.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/verify.h"

#include <stdio.h>
#include <unistd.h>

#define BAR 40

/* --- progress --------------------------------------------------------------
 */

struct bar {
    bool is_shown; /* on a terminal */
    int drawn;     /* permille; -1 before the first */
};

static bool show_progress(void *arg, const struct rebuild_report *report)
{
    struct bar *bar = arg;
    int64_t total =
        report->n_total > report->n_done ? report->n_total : report->n_done;
    int permille = total ? (int)(report->n_done * 1000 / total) : 1000;
    int filled = permille * BAR / 1000;

    if (bar->is_shown && permille != bar->drawn) {
        bar->drawn = permille;
        (void)fprintf(stderr, "\r[%.*s%*s] %lld of %lld", filled,
                      "########################################", BAR - filled,
                      "", (long long)report->n_done, (long long)total);
    }
    return true;
}

static void end_bar(const struct bar *bar)
{
    if (bar->is_shown && bar->drawn >= 0) {
        (void)fputc('\n', stderr);
    }
}

/* --- what differs ----------------------------------------------------------
 */

static json_t *differences_json(const struct rebuild_difference *items,
                                size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++) {
        json_t *item = json_pack("{s:s, s:s, s:s, s:s?}", "type", items[i].type,
                                 "what", items[i].what, "key", items[i].key,
                                 "column", items[i].column);

        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static void show_differences(struct cli *cli,
                             const struct rebuild_difference *items,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(cli->out.file, "%-8s %-16s %s%s%s\n", items[i].what,
                      items[i].type, items[i].key,
                      items[i].column ? "  column " : "",
                      items[i].column ? items[i].column : "");
    }
}

/* --- clew rebuild ----------------------------------------------------------
 */

static const struct arg_option rebuild_options[] = {
    {"dry-run", 'n', NULL, NULL, "only say what would change"},
    {NULL, 0, NULL, NULL, NULL},
};

static json_t *rebuild_json(const struct rebuild_report *report,
                            const struct read_task_again *again, bool is_dry)
{
    json_t *kinds = json_object();

    for (size_t i = 0; kinds && i < report->n_kinds; i++) {
        const struct rebuild_kind_report *kind = &report->kinds[i];
        json_t *item = json_pack(
            "{s:I, s:I, s:I, s:I}", "rows", (json_int_t)kind->n_rows, "missing",
            (json_int_t)kind->n_missing, "extra", (json_int_t)kind->n_extra,
            "changed", (json_int_t)kind->n_changed);

        if (json_object_set_new(kinds, kind->type, item) != 0) {
            json_decref(kinds);
            return NULL;
        }
    }
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "turns",
        (json_int_t)report->n_turns, "actions", (json_int_t)report->n_actions,
        "skipped", (json_int_t)report->n_skipped, "differences",
        (json_int_t)report->n_differences, "tasks", (json_int_t)report->n_tasks,
        "read_anew", (json_int_t)again->n_read, "unreadable",
        (json_int_t)again->n_left, "dry_run", is_dry, "kinds", kinds, "shown",
        differences_json(report->shown, report->n_shown));
}

static enum clew_status show_rebuild(struct cli *cli,
                                     const struct rebuild_report *report,
                                     const struct read_task_again *again,
                                     bool is_dry, struct clew_error *err)
{
    json_t *json;

    if (cli->as_json) {
        json = rebuild_json(report, again, is_dry);
        if (!json) {
            return clew_no_memory(err);
        }
        output_json(&cli->out, json);
        json_decref(json);
        return CLEW_OK;
    }
    show_differences(cli, report->shown, report->n_shown);
    if (report->n_differences - report->n_tasks > (int64_t)report->n_shown) {
        (void)fprintf(cli->out.file, "and %lld more\n",
                      (long long)(report->n_differences - report->n_tasks -
                                  (int64_t)report->n_shown));
    }
    for (size_t i = 0; i < report->n_kinds; i++) {
        const struct rebuild_kind_report *kind = &report->kinds[i];

        if (kind->n_missing + kind->n_extra + kind->n_changed > 0) {
            (void)fprintf(cli->out.file,
                          "%-16s %lld rows: %lld missing, %lld extra, %lld "
                          "changed\n",
                          kind->type, (long long)kind->n_rows,
                          (long long)kind->n_missing, (long long)kind->n_extra,
                          (long long)kind->n_changed);
        }
    }
    if (report->n_tasks > 0) {
        (void)fprintf(cli->out.file, "tasks            %lld missing\n",
                      (long long)report->n_tasks);
    }
    (void)fprintf(cli->out.file,
                  "replayed %lld turns and %lld actions%s: %lld difference%s"
                  "%s\n",
                  (long long)report->n_turns, (long long)report->n_actions,
                  report->n_skipped ? " (some on what was forgotten)" : "",
                  (long long)report->n_differences,
                  report->n_differences == 1 ? "" : "s",
                  report->n_differences == 0 ? ""
                  : is_dry                   ? ", nothing was written"
                                             : ", mended");
    if (again->n_read + again->n_left > 0) {
        (void)fprintf(cli->out.file,
                      "of turns that had been given up %lld could be read, "
                      "%lld could not\n",
                      (long long)again->n_read, (long long)again->n_left);
    }
    return CLEW_OK;
}

static enum clew_status run_rebuild(struct cli *cli, struct clew_error *err)
{
    struct bar bar = {.is_shown = isatty(STDERR_FILENO) != 0, .drawn = -1};
    struct rebuild_options options = {.is_dry_run =
                                          args_has(&cli->args, "dry-run"),
                                      .progress = show_progress,
                                      .arg = &bar};
    struct rebuild_report report = {0};
    struct read_task_again again = {0};
    struct engine *engine;
    struct scope scope;
    enum clew_status status = cli_tenant(cli, &engine, &scope, err);

    if (status == CLEW_OK) {
        status =
            rebuild_run(engine, &scope, &cli->arena, &options, &report, err);
    }
    end_bar(&bar);
    if (status == CLEW_OK && !options.is_dry_run) {
        status = read_task_anew(engine, &scope, &again, err);
    }
    return status == CLEW_OK
               ? show_rebuild(cli, &report, &again, options.is_dry_run, err)
               : status;
}

const struct command command_rebuild = {
    .name = "rebuild",
    .operands = "",
    .summary = "make everything derived again from turns and actions",
    .example = "clew rebuild --dry-run",
    .options = rebuild_options,
    .run = run_rebuild,
};

/* --- clew verify -----------------------------------------------------------
 */

static const struct arg_option verify_options[] = {
    {"quick", 'q', NULL, NULL, "do not replay the log"},
    {NULL, 0, NULL, NULL, NULL},
};

static json_t *verify_json(const struct verify_report *report)
{
    json_t *json = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:[], s:o}", "ok",
        report->n_faults == 0, "tenants", (json_int_t)report->n_tenants,
        "chats", (json_int_t)report->n_chats, "turns",
        (json_int_t)report->n_turns, "memories", (json_int_t)report->n_memories,
        "replayed", (json_int_t)report->n_replayed, "not_replayed",
        (json_int_t)report->n_unreplayed, "rebuild_due",
        (json_int_t)report->n_due, "faults", "differences",
        differences_json(report->shown, report->n_shown));

    for (size_t i = 0; json && i < report->n_faults; i++) {
        const struct verify_fault *fault = &report->faults[i];
        json_t *item = json_pack(
            "{s:s, s:s, s:I, s:s*, s:s*}", "tenant", fault->tenant, "rule",
            fault->rule, "count", (json_int_t)fault->count, "detail",
            fault->detail, "remedy", fault->is_derived ? "clew rebuild" : NULL);

        if (json_array_append_new(json_object_get(json, "faults"), item) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

static enum clew_status show_verify(struct cli *cli,
                                    const struct verify_report *report,
                                    struct clew_error *err)
{
    bool is_derived = report->n_shown > 0;
    json_t *json;

    if (cli->as_json) {
        json = verify_json(report);
        if (!json) {
            return clew_no_memory(err);
        }
        output_json(&cli->out, json);
        json_decref(json);
        return CLEW_OK;
    }
    for (size_t i = 0; i < report->n_faults; i++) {
        const struct verify_fault *fault = &report->faults[i];

        (void)fprintf(cli->out.file, "tenant %s: not true for %lld: %s%s%s\n",
                      fault->tenant, (long long)fault->count, fault->rule,
                      fault->detail ? ": " : "",
                      fault->detail ? fault->detail : "");
        is_derived = is_derived || fault->is_derived;
    }
    show_differences(cli, report->shown, report->n_shown);
    if (is_derived) {
        (void)fprintf(cli->out.file,
                      "what was said is kept as it was; `clew rebuild` derives "
                      "the rest again, as after an upgrade or another "
                      "setting\n");
    }
    if (report->n_due > 0) {
        (void)fprintf(cli->out.file,
                      "%lld rows wait for the rebuild that a forget or an "
                      "import asked for\n",
                      (long long)report->n_due);
    }
    if (report->n_unreplayed > 0) {
        (void)fprintf(cli->out.file,
                      "%lld tenants have turns from before actions were kept: "
                      "not replayed\n",
                      (long long)report->n_unreplayed);
    }
    (void)fprintf(cli->out.file, "looked at %s, %s, %s, %s: %s\n",
                  show_count(cli, report->n_tenants, "tenants"),
                  show_count(cli, report->n_chats, "chats"),
                  show_count(cli, report->n_turns, "turns"),
                  show_count(cli, report->n_memories, "memories"),
                  report->n_faults ? "not sound" : "sound");
    return CLEW_OK;
}

static enum clew_status run_verify(struct cli *cli, struct clew_error *err)
{
    struct bar bar = {.is_shown = isatty(STDERR_FILENO) != 0, .drawn = -1};
    struct verify_options options = {.is_quick = args_has(&cli->args, "quick"),
                                     .progress = show_progress,
                                     .arg = &bar};
    struct verify_report report = {0};
    struct engine *engine;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = verify_run(engine, &cli->arena, &options, &report, err);
    }
    end_bar(&bar);
    if (status == CLEW_OK) {
        status = show_verify(cli, &report, err);
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
    .options = verify_options,
    .run = run_verify,
};
