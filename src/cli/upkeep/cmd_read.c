/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_read.c - let the language model read what it has not read yet.
 *
 * A stretch of a chat is a call and a transaction of its own: broken off at any
 * moment, the next run goes on where this one ended. `--estimate` only says
 * what it would cost, `--requests` writes down what would be asked.
 */
#include "base/buf.h"
#include "base/config.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/llmread/llmread.h"
#include "engine/llmread/stretch.h"
#include "engine/llmread/survey.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MILLION 1e6

static const struct arg_option options[] = {
    {"estimate", 0, NULL, NULL, "only say what it would cost"},
    {"requests", 0, "FILE", NULL,
     "write what would be asked, one JSON object a line, and ask nobody"},
    {"user", 'U', "ID", NULL, "chats of this user only"},
    {"unsure", 0, NULL, NULL, "leave out what the reader is sure of"},
    {NULL, 0, NULL, NULL, NULL},
};

/* --- what it would be ------------------------------------------------------
 */

/* A question as a line that a model can be asked with elsewhere. */
static bool write_request(void *arg, const struct stretch *stretch,
                          const struct llm_request *request)
{
    char id[UUID_TEXT_SIZE];
    json_t *schema = NULL;
    json_t *line;
    struct buf text;
    bool is_ok;

    uuid_format(&stretch->chat_id, id);
    if (json_parse(str_of(request->schema), &schema, NULL) != CLEW_OK) {
        return false;
    }
    line = json_pack("{s:s, s:s, s:I, s:s%, s:s%, s:o}", "stretch",
                     stretch->digest, "chat_id", id, "turns",
                     (json_int_t)stretch->n_own, "system", request->system.s,
                     request->system.len, "prompt", request->prompt.s,
                     request->prompt.len, "schema", schema);
    buf_init(&text, LIMIT_BODY_BYTES);
    is_ok = line && json_write(&text, line) == CLEW_OK;
    json_decref(line);
    if (is_ok) {
        (void)fprintf(arg, "%s\n", text.data); /* ferror() tells */
    }
    buf_release(&text);
    return is_ok && !ferror(arg);
}

static enum clew_status run_survey(struct cli *cli, struct engine *engine,
                                   const struct scope *scope, struct str user,
                                   struct survey *out, struct clew_error *err)
{
    const char *path = args_str(&cli->args, "requests");
    FILE *file = path ? fopen(path, "we") : NULL;
    enum clew_status status;

    if (path && !file) {
        return clew_fail(err, CLEW_INVALID, "could not write \"%s\": %s", path,
                         strerror(errno));
    }
    status = survey_run(engine, scope, user, file ? write_request : NULL, file,
                        out, err);
    if (file) {
        bool is_bad = ferror(file) != 0;

        if ((fclose(file) != 0 || is_bad) && status == CLEW_OK) {
            status =
                clew_fail(err, CLEW_INTERNAL, "could not write \"%s\"", path);
        }
    }
    return status;
}

static void show_survey(struct cli *cli, const struct config *config,
                        const struct survey *s)
{
    double cost =
        ((double)s->input_tokens * config_real(config, "llm.input_price") +
         (double)s->output_tokens_most *
             config_real(config, "llm.output_price")) /
        MILLION;
    json_t *json;

    if (!cli->as_json) {
        (void)fprintf(cli->out.file,
                      "%lld chats, %lld turns: %lld calls, some %lld tokens "
                      "to send, at most %lld in answers, at most %.2f at "
                      "llm.input_price and llm.output_price\n",
                      (long long)s->n_chats, (long long)s->n_turns,
                      (long long)s->n_stretches, (long long)s->input_tokens,
                      (long long)s->output_tokens_most, cost);
        return;
    }
    json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "chats",
                     (json_int_t)s->n_chats, "turns", (json_int_t)s->n_turns,
                     "calls", (json_int_t)s->n_stretches, "input_tokens",
                     (json_int_t)s->input_tokens, "output_tokens_most",
                     (json_int_t)s->output_tokens_most, "cost_most", cost);
    output_json(&cli->out, json);
    json_decref(json);
}

/* --- reading ---------------------------------------------------------------
 */

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

struct reading {
    struct engine *engine;
    struct scope scope;
    bool is_unsure;
    struct progress progress;
    int64_t n_stretches;
    int64_t n_turns;
    int64_t n_refused;
    int64_t n_dropped;
    struct apply_counts sum;
};

static void add(struct reading *r, const struct llmread_report *report)
{
    r->n_stretches++;
    r->n_turns += (int64_t)report->n_turns;
    r->n_refused += report->outcome == LLMREAD_REFUSED;
    for (size_t i = 0; i < FOUND_FAULTS; i++) {
        r->n_dropped += (int64_t)report->faults[i];
    }
    r->sum.kept += report->counts.kept;
    r->sum.known += report->counts.known;
    r->sum.refined += report->counts.refined;
    r->sum.opened += report->counts.opened;
    r->sum.ended += report->counts.ended;
    r->sum.removed += report->counts.removed;
    r->sum.linked += report->counts.linked;
    r->sum.parted += report->counts.parted;
    progress_add(&r->progress, 1);
}

static enum clew_status read_chat(struct reading *r, const struct uuid *chat_id,
                                  struct clew_error *err)
{
    struct llmread_report report = {.has_more = true};
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && report.has_more && !is_interrupted) {
        struct arena arena;

        arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
        status = llmread_next(r->engine, &r->scope, &arena, chat_id,
                              r->is_unsure, &report, err);
        arena_release(&arena);
        if (status == CLEW_OK && report.outcome != LLMREAD_NOTHING) {
            add(r, &report);
        }
    }
    return status;
}

static enum clew_status read_all(struct cli *cli, struct reading *r,
                                 struct str user, struct clew_error *err)
{
    struct survey_place after = {0};
    size_t count = 0;
    enum clew_status status;

    do {
        struct survey_place *places = NULL;

        status = survey_chats(r->engine, &r->scope, &cli->arena, user, &after,
                              &places, &count, err);
        for (size_t i = 0; i < count && status == CLEW_OK && !is_interrupted;
             i++) {
            status = read_chat(r, &places[i].chat_id, err);
            after = places[i];
        }
    } while (status == CLEW_OK && !is_interrupted && count == SURVEY_PAGE);
    return status;
}

static void show_reading(struct cli *cli, const struct reading *r,
                         bool is_whole)
{
    const struct apply_counts *n = &r->sum;
    json_t *json;

    if (!cli->as_json) {
        (void)fprintf(
            cli->out.file,
            "read %lld turns in %lld stretches: %zu notes new, %zu "
            "known, %zu refined, %zu efforts opened, %zu changed, "
            "%zu taken back, %zu chats linked, %zu parted; %lld items "
            "dropped, %lld answers refused%s\n",
            (long long)r->n_turns, (long long)r->n_stretches, n->kept, n->known,
            n->refined, n->opened, n->ended, n->removed, n->linked, n->parted,
            (long long)r->n_dropped, (long long)r->n_refused,
            is_whole ? "" : "; the next `clew read` goes on here");
        return;
    }
    json = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}",
        "turns", (json_int_t)r->n_turns, "stretches",
        (json_int_t)r->n_stretches, "kept", (json_int_t)n->kept, "known",
        (json_int_t)n->known, "refined", (json_int_t)n->refined, "opened",
        (json_int_t)n->opened, "ended", (json_int_t)n->ended, "removed",
        (json_int_t)n->removed, "linked", (json_int_t)n->linked, "parted",
        (json_int_t)n->parted, "dropped", (json_int_t)r->n_dropped, "refused",
        (json_int_t)r->n_refused, "whole", is_whole);
    output_json(&cli->out, json);
    json_decref(json);
}

static enum clew_status run_reading(struct cli *cli, struct reading *r,
                                    struct str user, struct clew_error *err)
{
    struct sigaction ours = {.sa_handler = interrupt};
    struct sigaction before;
    struct survey survey;
    enum clew_status status =
        survey_run(r->engine, &r->scope, user, NULL, NULL, &survey, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)sigaction(SIGINT, &ours, &before); /* SIGINT can be caught */
    progress_begin(&r->progress, "reading", survey.n_stretches);
    status = read_all(cli, r, user, err);
    progress_end(&r->progress);
    (void)sigaction(SIGINT, &before, NULL); /* as above */
    if (status == CLEW_OK || r->n_stretches > 0) {
        show_reading(cli, r, status == CLEW_OK && !is_interrupted);
    }
    return status;
}

static enum clew_status run_read(struct cli *cli, struct clew_error *err)
{
    const char *tenant = args_str(&cli->args, "tenant");
    const char *user = args_str(&cli->args, "user");
    struct reading r = {.is_unsure = args_has(&cli->args, "unsure")};
    struct str user_id = user ? str_of(user) : STR("");
    struct survey survey;
    enum clew_status status = cli_engine(cli, &r.engine, err);

    if (status == CLEW_OK) {
        status =
            engine_tenant(r.engine, tenant ? tenant : "default", &r.scope, err);
    }
    if (status == CLEW_OK && !args_has(&cli->args, "estimate")) {
        status = consent_ask(r.engine, &r.scope, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (!args_has(&cli->args, "estimate") &&
        !args_has(&cli->args, "requests")) {
        return run_reading(cli, &r, user_id, err);
    }
    status = run_survey(cli, r.engine, &r.scope, user_id, &survey, err);
    if (status == CLEW_OK) {
        show_survey(cli, r.engine->config, &survey);
    }
    return status;
}

const struct command command_read = {
    .name = "read",
    .operands = "",
    .summary = "let the language model (llm.url) read what it has not read",
    .example = "clew read --estimate",
    .options = options,
    .run = run_read,
};
