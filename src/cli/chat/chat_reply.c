/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_reply.c - a model's reply in a talk. See chat_reply.h.
 */
#include "cli/chat/chat_reply.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "engine/core/consent.h"
#include "model/llm_talk.h"
#include "text/analysis.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* What the model is told; the reply comes on top. */
#define CONTEXT_TOKENS 8000

struct chat_reply {
    struct cli *cli;
    struct llm *llm;
    struct arena arena; /* of one reply */
    bool has_printed;
    bool is_at_line_start;
};

/* Set by Ctrl-C while a reply comes; there is one main thread. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

enum clew_status chat_reply_open(struct cli *cli, struct chat_reply **out_reply,
                                 struct clew_error *err)
{
    const struct config *config = cli->config;
    struct llm_options options = {.url = config_str(config, "llm.url"),
                                  .kind = config_str(config, "llm.kind"),
                                  .model = config_str(config, "llm.model"),
                                  .key = config_str(config, "llm.key"),
                                  .timeout_ms =
                                      config_int(config, "llm.timeout_ms")};
    struct chat_reply *reply;
    enum clew_status status;

    *out_reply = NULL;
    if (!options.url || !options.url[0]) {
        return CLEW_OK;
    }
    reply = alloc_zero(1, sizeof(*reply));
    if (!reply) {
        return clew_no_memory(err);
    }
    reply->cli = cli;
    arena_init(&reply->arena, LIMIT_REQUEST_ARENA_BYTES);
    options.clock = &clock_system;
    status = llm_open(&options, &reply->llm, err);
    if (status != CLEW_OK) {
        chat_reply_close(reply);
        return status;
    }
    *out_reply = reply;
    return CLEW_OK;
}

void chat_reply_close(struct chat_reply *reply)
{
    if (reply) {
        llm_close(reply->llm);
        arena_release(&reply->arena);
        alloc_free(reply);
    }
}

/* --- what the model is told ------------------------------------------------
 */

static enum clew_status context_of(struct chat_reply *reply,
                                   const char *chat_id, const char *said,
                                   json_t **out_context, struct clew_error *err)
{
    json_t *body = json_object();

    if (!body || !json_set_int(body, "budget_tokens", CONTEXT_TOKENS) ||
        !json_set_cstr(body, "format", llm_kind(reply->llm)) ||
        !json_set_cstr(body, "message", said)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    return cli_call(reply->cli, "POST",
                    cli_path(reply->cli, "/api/v1/chats", chat_id, "/context"),
                    body, out_context, err);
}

/* What recall adds stands at the end of a context; what was said comes last. */
static void put_last(json_t *messages, const char *said)
{
    for (size_t i = json_array_size(messages); i-- > 0;) {
        json_t *message = json_array_get(messages, i);

        if (strcmp(cli_field(message, "role"), "user") == 0 &&
            strcmp(cli_field(message, "content"), said) == 0) {
            json_incref(message);
            (void)json_array_remove(messages, i); /* it is there */
            /* keeps its place at worst */
            (void)json_array_append_new(messages, message);
            return;
        }
    }
}

/* --- what it costs ---------------------------------------------------------
 */

/* Tokens that were used today, as the ledger has it. */
static enum clew_status used_today(struct chat_reply *reply, int64_t *out,
                                   struct clew_error *err)
{
    json_t *answer = NULL;
    const json_t *usage;
    size_t i;
    enum clew_status status =
        cli_call(reply->cli, "GET", "/api/v1/usage?days=1", NULL, &answer, err);

    *out = 0;
    json_array_foreach (json_object_get(answer, "items"), i, usage) {
        *out += json_integer_value(json_object_get(usage, "input_tokens")) +
                json_integer_value(json_object_get(usage, "output_tokens"));
    }
    json_decref(answer);
    return status;
}

/* A tenant may forbid that its words are shown to a model. */
static enum clew_status check_consent(struct chat_reply *reply,
                                      struct clew_error *err)
{
    json_t *tenant = NULL;
    enum clew_status status =
        cli_call(reply->cli, "GET", "/api/v1/tenant", NULL, &tenant, err);

    if (status == CLEW_OK &&
        strcmp(cli_field(tenant, "llm"), "forbidden") == 0) {
        status = clew_fail_code(err, CLEW_FORBIDDEN, CONSENT_NONE,
                                "this tenant forbids language models: nobody "
                                "answers");
    }
    json_decref(tenant);
    return status;
}

/* What is told to the model, in tokens. */
static int64_t told_tokens(const json_t *context)
{
    return json_integer_value(json_object_get(context, "tokens"));
}

/* Is there room for one more reply under the day's cap? */
static enum clew_status check_cap(struct chat_reply *reply,
                                  const json_t *context, struct clew_error *err)
{
    int64_t used = 0;
    enum clew_status status = used_today(reply, &used, err);

    if (status == CLEW_OK &&
        used + told_tokens(context) >
            config_int(reply->cli->config, "llm.daily_tokens")) {
        return clew_fail(err, CLEW_RATE_LIMITED,
                         "the day's tokens for the language model are used "
                         "(llm.daily_tokens)");
    }
    return status;
}

/* Write the call into the ledger. */
static enum clew_status note(struct chat_reply *reply, const json_t *context,
                             const struct llm_reply *got, bool has_failed,
                             struct clew_error *err)
{
    bool is_told = got->input_tokens > 0;
    bool is_answered = got->text.len > 0 || !has_failed;
    int64_t input = is_told ? got->input_tokens : told_tokens(context);
    int64_t output = got->output_tokens > 0
                         ? got->output_tokens
                         : (int64_t)text_token_estimate(got->text);
    json_t *answer = NULL;
    json_t *body = json_object();
    enum clew_status status;

    if (!body || !json_set_cstr(body, "purpose", "chat") ||
        !json_set_cstr(body, "model", llm_model(reply->llm)) ||
        !json_set_int(body, "input_tokens",
                      is_told || is_answered ? input : 0) ||
        !json_set_int(body, "output_tokens", output) ||
        !json_set_bool(body, "failed", has_failed)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status = cli_call(reply->cli, "POST", "/api/v1/usage", body, &answer, err);
    json_decref(answer);
    return status;
}

/* --- while it comes --------------------------------------------------------
 */

static bool print_piece(void *arg, struct str piece)
{
    struct chat_reply *reply = arg;
    FILE *file = reply->cli->out.file;

    output_text(&reply->cli->out, OUTPUT_PLAIN, piece);
    reply->has_printed = true;
    reply->is_at_line_start = piece.s[piece.len - 1] == '\n';
    return fflush(file) == 0;
}

static bool is_over(void *arg)
{
    (void)arg;
    return is_interrupted != 0;
}

static enum clew_status talk(struct chat_reply *reply, const json_t *context,
                             struct llm_reply *out, struct clew_error *err)
{
    struct llm_talk talk = {.messages = json_object_get(context, "messages"),
                            .system = json_object_get(context, "system"),
                            .on_piece = print_piece,
                            .is_over = is_over,
                            .arg = reply};
    struct sigaction ours = {.sa_handler = interrupt};
    struct sigaction before;
    enum clew_status status;

    reply->has_printed = false;
    is_interrupted = 0;
    (void)sigaction(SIGINT, &ours, &before); /* SIGINT can be caught */
    arena_clear(&reply->arena);
    status = llm_talk(reply->llm, &reply->arena, &talk, out, err);
    (void)sigaction(SIGINT, &before, NULL);
    if (reply->has_printed && !reply->is_at_line_start) {
        (void)fputc('\n', reply->cli->out.file);
    }
    if (status == CLEW_OK && !out->is_whole) {
        (void)fputs("[reply ended here]\n", reply->cli->out.file);
    }
    (void)fflush(reply->cli->out.file);
    return status;
}

/* --- keeping it ------------------------------------------------------------
 */

static enum clew_status keep(struct chat_reply *reply, const char *user,
                             const char *chat_id, struct str text,
                             json_t **out_answer, struct clew_error *err)
{
    json_t *body = json_object();

    if (!body || !json_set_cstr(body, "user_id", user) ||
        !json_set_cstr(body, "role", "assistant") ||
        !json_set_str(body, "content", text) ||
        !json_set_cstr(body, "chat_id", chat_id)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    return cli_call(reply->cli, "POST", "/api/v1/turns", body, out_answer, err);
}

enum clew_status chat_reply_run(struct chat_reply *reply, const char *user,
                                const char *chat_id, const char *said,
                                json_t **out_answer, struct clew_error *err)
{
    struct llm_reply got = {.text = STR("")};
    struct clew_error unkept = {0};
    json_t *context = NULL;
    enum clew_status kept = CLEW_OK;
    enum clew_status status = check_consent(reply, err);

    *out_answer = NULL;
    if (status == CLEW_OK) {
        status = context_of(reply, chat_id, said, &context, err);
    }
    if (status == CLEW_OK) {
        status = check_cap(reply, context, err);
    }
    if (status == CLEW_OK) {
        put_last(json_object_get(context, "messages"), said);
        status = talk(reply, context, &got, err);
        kept = note(reply, context, &got, status != CLEW_OK, &unkept);
    }
    json_decref(context);
    if (kept != CLEW_OK && status == CLEW_OK) {
        status = clew_fail(err, kept, "could not count the reply: %s",
                           unkept.message);
    }
    kept = CLEW_OK;
    if (str_trim(got.text).len > 0) {
        kept = keep(reply, user, chat_id, got.text, out_answer, &unkept);
    }
    if (kept != CLEW_OK) { /* worse than a reply that did not come */
        return clew_fail(err, kept, "could not keep the reply: %s",
                         unkept.message);
    }
    return status;
}
