/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bring.c - exports of other programs, through the API. See bring.h.
 */
#include "cli/bring/bring.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/bring/bring_name.h"
#include "import/cursor.h"
#include "import/opencode.h"
#include "import/source.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* --- Ctrl-C --------------------------------------------------------------- */

static volatile sig_atomic_t is_stopped;

static void note_stop(int signal_number)
{
    (void)signal_number;
    is_stopped = 1;
}

void bring_catch(void)
{
    struct sigaction action = {.sa_handler = note_stop,
                               .sa_flags = (int)SA_RESETHAND};

    (void)sigaction(SIGINT, &action, NULL); /* else it ends at once */
    (void)sigaction(SIGTERM, &action, NULL);
}

bool bring_is_stopped(void)
{
    return is_stopped != 0;
}

/* --- what the importer asks for, through the API -------------------------- */

static enum clew_status find(void *arg, struct str id, struct import_place *out,
                             struct clew_error *err)
{
    return bring_name_find(arg, id, out, err);
}

static json_t *form_message(const struct bring *bring, const char *chat,
                            const struct import_message *message,
                            const struct bring_name *name)
{
    json_t *out = json_object();

    if (out && json_set_cstr(out, "user_id", bring->user) &&
        json_set_cstr(out, "role", message->role) &&
        json_set_cstr(out, "channel", "chat") &&
        json_set_cstr(out, "external_id", name->text) &&
        json_set_time(out, "created_at", &message->created_at_ms) &&
        (!chat[0] || json_set_cstr(out, "chat_id", chat)) &&
        (!message->name.s || json_set_str(out, "name", message->name)) &&
        json_object_set(out, "content", message->content) == 0) {
        return out;
    }
    json_decref(out);
    return NULL;
}

/* Stop here if the user wants that: between two batches nothing is half. */
static enum clew_status go_on(const struct bring *bring, struct clew_error *err)
{
    if (!bring_is_stopped()) {
        return CLEW_OK;
    }
    if (bring->progress.total == 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "stopped while it was looked at; nothing was kept");
    }
    return clew_fail(err, CLEW_UNAVAILABLE,
                     "stopped after %lld of %lld messages; run the same "
                     "command again and it goes on from there",
                     (long long)bring->progress.done,
                     (long long)bring->progress.total);
}

/* Each message's own item; one that has none was left out. */
static void take_places(const json_t *answer, const struct bring_name *names,
                        size_t n, struct import_place *out)
{
    const json_t *items = json_object_get(answer, "items");
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(items, at);
        const json_t *turn = json_object_get(item, "turn");

        out[i].is_forgotten =
            strcmp(cli_field(turn, "external_id"), names[i].text) != 0;
        if (!out[i].is_forgotten) {
            (void)snprintf(out[i].chat, sizeof(out[i].chat), "%s",
                           cli_field(turn, "chat_id"));
            out[i].seq = json_integer_value(json_object_get(turn, "seq"));
            out[i].is_known = json_is_true(json_object_get(item, "repeated"));
            at++;
        }
    }
}

/* Say of a batch where the chat begins that is made for it. */
static bool set_origin(json_t *body, const struct import_target *target)
{
    if (!target->beside) {
        return true;
    }
    return json_set_cstr(body, "fork_of", target->beside) &&
           (target->agent.s ? json_set_str(body, "subtask", target->agent)
                            : json_set_int(body, "at_seq", target->at_seq));
}

/* Post them by these names. */
static enum clew_status post(const struct bring *bring,
                             const struct import_target *target,
                             const struct import_message *messages,
                             const struct bring_name *names, size_t n,
                             struct import_place *out, struct clew_error *err)
{
    json_t *turns = json_array();
    json_t *answer = NULL;
    json_t *body = json_pack("{s:o, s:b}", "turns", turns, "unless_forgotten",
                             !bring->brings_back);
    enum clew_status status;

    if (body && (!set_origin(body, target) ||
                 (bring->begun_at[0] &&
                  !json_set_cstr(body, "begun_at", bring->begun_at)))) {
        json_decref(body);
        body = NULL;
    }
    for (size_t i = 0; body && i < n; i++) {
        if (json_array_append_new(turns,
                                  form_message(bring, target->chat,
                                               &messages[i], &names[i])) != 0) {
            json_decref(body);
            body = NULL;
        }
    }
    if (!body) {
        return clew_no_memory(err);
    }
    status = cli_call(bring->cli, "POST", "/api/v1/turns", body, &answer, err);
    if (status == CLEW_OK) {
        take_places(answer, names, n, out);
    }
    json_decref(answer);
    return status;
}

static enum clew_status add(void *arg, const struct import_target *target,
                            const struct import_message *messages, size_t n,
                            struct import_place *out, struct clew_error *err)
{
    struct bring *bring = arg;
    struct bring_name *names = alloc_zero(n, sizeof(*names));
    enum clew_status status = names ? go_on(bring, err) : clew_no_memory(err);
    size_t taken = 0;

    if (status == CLEW_OK) {
        status = bring_name_choose(bring, messages, n, names, err);
    }
    while (status == CLEW_OK && taken != SIZE_MAX) {
        taken = SIZE_MAX;
        status = post(bring, target, messages, names, n, out, err);
        if (status == CLEW_CONFLICT) {
            taken = bring_name_taken(err, n);
        }
        if (taken != SIZE_MAX) {
            status = bring_name_change(bring, messages, n, taken, names, err);
        }
    }
    alloc_free(names);
    progress_add(&bring->progress, (int64_t)n);
    return status;
}

static enum clew_status set_title(void *arg, const char *chat, struct str title,
                                  struct clew_error *err)
{
    struct bring *bring = arg;
    struct cli *cli = bring->cli;
    json_t *answer = NULL;
    json_t *body = json_object();
    enum clew_status status;

    if (!body || !json_set_str(body, "title", utf8_head(title, 200))) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status = cli_call(cli, "PATCH", cli_path(cli, "/api/v1/chats", chat, ""),
                      body, &answer, err);
    json_decref(answer);
    return status;
}

static const struct import_ops api_ops = {find, add, set_title};

/* --- a dry run -------------------------------------------------------------
 */

static enum clew_status add_dry(void *arg, const struct import_target *target,
                                const struct import_message *messages, size_t n,
                                struct import_place *out,
                                struct clew_error *err)
{
    struct bring *bring = arg;

    bring->n_fake += !target->chat[0];
    for (size_t i = 0; i < n; i++) {
        enum clew_status status = find(arg, messages[i].id, &out[i], err);

        if (status != CLEW_OK) {
            return status;
        }
        if (!out[i].is_known && !out[i].is_forgotten) {
            (void)snprintf(out[i].chat, sizeof(out[i].chat), "dry-%lld",
                           (long long)bring->n_fake);
            out[i].seq = 1;
        }
    }
    return CLEW_OK;
}

static enum clew_status title_dry(void *arg, const char *chat, struct str title,
                                  struct clew_error *err)
{
    (void)arg;
    (void)chat;
    (void)title;
    (void)err;
    return CLEW_OK;
}

static const struct import_ops dry_ops = {find, add_dry, title_dry};

/* --- a look without the store --------------------------------------------- */

static enum clew_status find_none(void *arg, struct str id,
                                  struct import_place *out,
                                  struct clew_error *err)
{
    (void)arg;
    (void)id;
    (void)err;
    out->is_known = false;
    return CLEW_OK;
}

static enum clew_status add_none(void *arg, const struct import_target *target,
                                 const struct import_message *messages,
                                 size_t n, struct import_place *out,
                                 struct clew_error *err)
{
    struct bring *bring = arg;

    (void)messages;
    bring->n_fake += !target->chat[0];
    progress_add(&bring->progress, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(out[i].chat, sizeof(out[i].chat), "look-%lld",
                       (long long)bring->n_fake);
        out[i].seq = 1;
    }
    return go_on(bring, err);
}

static const struct import_ops look_ops = {find_none, add_none, title_dry};

/* --- one export ----------------------------------------------------------- */

/* One way through an export. */
struct pass {
    struct bring *bring;
    struct importer *importer;
    uint32_t formats; /* a bit for each that was read */
    int64_t n_files;
    int64_t n_unknown; /* files that are no export */
    bool is_own;
};

/* Does a fault name the file that was given? Not what was sent to a server,
 * which lies under a name of its own, nor where who watches says it. */
static bool bring_names(const struct pass *pass)
{
    return pass->bring->cli->args.n_operands > 0 && !pass->bring->is_quiet;
}

static enum clew_status take_file(void *arg, const char *name, FILE *file,
                                  bool is_only, struct clew_error *err)
{
    struct pass *pass = arg;
    enum import_format format = IMPORT_UNKNOWN;
    struct clew_error why;
    enum clew_status status = importer_set_source(pass->importer, name, err);

    /* a database is read where it lies, so not in a zip or a pipe */
    if (status == CLEW_OK && name[0] && fileno(file) >= 0 && cursor_is(file)) {
        bool has_chats = false;

        status = cursor_read(pass->importer, name, &has_chats, err);
        format = has_chats ? IMPORT_CURSOR : IMPORT_UNKNOWN;
        if (status == CLEW_OK && !has_chats) {
            status = opencode_read(pass->importer, name, &has_chats, err);
            format = has_chats ? IMPORT_OPENCODE : IMPORT_UNKNOWN;
        }
        if (status == CLEW_OK && !has_chats) {
            status = clew_fail_code(err, CLEW_INVALID, IMPORT_UNKNOWN_CODE,
                                    "this database is not Cursor's nor "
                                    "OpenCode's");
        }
    } else if (status == CLEW_OK) {
        status = import_read(pass->importer, file, pass->bring->format, &format,
                             err);
    }
    if (status == CLEW_OK && format == IMPORT_CLEW) {
        pass->is_own = is_only;
        pass->n_unknown += !is_only;
        return CLEW_OK;
    }
    if (status == CLEW_INVALID && !is_only &&
        strcmp(err->code, IMPORT_UNKNOWN_CODE) == 0) {
        pass->n_unknown++; /* an export holds other things too */
        return CLEW_OK;
    }
    if (status == CLEW_OK && format == IMPORT_UNKNOWN) {
        pass->n_files += is_only; /* an empty list, which may be anyone's */
        pass->n_unknown += !is_only;
        return CLEW_OK;
    }
    if (status == CLEW_OK) {
        pass->n_files += format != IMPORT_SLACK_USERS;
        pass->formats |= format == IMPORT_SLACK_USERS ? 0 : 1u << format;
        return CLEW_OK;
    }
    if (bring_is_stopped() || !name[0] || (is_only && !bring_names(pass))) {
        return status;
    }
    why = *err;
    return clew_fail_code(err, status, why.code, "%.110s: %.200s", name,
                          why.message);
}

static enum clew_status run_pass(struct pass *pass, const char *path,
                                 const struct import_ops *ops,
                                 struct clew_error *err)
{
    struct source_ops source = {.file = take_file, .arg = pass};
    enum clew_status status =
        importer_new(ops, pass->bring, &pass->importer, err);

    return status == CLEW_OK
               ? source_each(path, &source, &pass->bring->n_other, err)
               : status;
}

/* --- what came of it ------------------------------------------------------ */

static const char *const reason_names[IMPORT_REASONS] = {
    [IMPORT_HIDDEN] = "hidden by the program",
    [IMPORT_PLUMBING] = "notes of the program itself",
    [IMPORT_THINKING] = "a model's reasoning",
    [IMPORT_EMPTY] = "without words"};
static const char *const reason_fields[IMPORT_REASONS] = {
    [IMPORT_HIDDEN] = "hidden",
    [IMPORT_PLUMBING] = "plumbing",
    [IMPORT_THINKING] = "thinking",
    [IMPORT_EMPTY] = "empty"};

/* What was read: "chatgpt", "chatgpt, whatsapp". */
static const char *formats_of(const struct pass *pass)
{
    struct arena *arena = &pass->bring->cli->arena;
    const char *names = "";

    for (int i = 0; i <= IMPORT_JSONL && names; i++) {
        if (pass->formats & 1u << i) {
            names = arena_printf(arena, "%s%s%s", names, names[0] ? ", " : "",
                                 import_format_name((enum import_format)i));
        }
    }
    return names && names[0] ? names : import_format_name(IMPORT_UNKNOWN);
}

static void show_json(const struct bring *bring, const struct pass *pass,
                      const struct import_counts *counts)
{
    json_int_t n_other = pass->n_unknown + bring->n_other;
    json_t *why = json_object();
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:I}", "format",
        formats_of(pass), "conversations", (json_int_t)counts->n_conversations,
        "messages", (json_int_t)counts->n_messages, "added",
        (json_int_t)counts->n_new, "forks", (json_int_t)counts->n_forks,
        "skipped", (json_int_t)counts->n_skipped, "dry_run", bring->is_dry,
        "skipped_because", why, "other_files", n_other);

    if (json && counts->n_forgotten > 0) {
        (void)json_set_int(json, "forgotten", counts->n_forgotten);
    }
    if (json && counts->n_agents > 0) { /* of programs that have them */
        (void)json_set_int(json, "agents", counts->n_agents);
    }
    if (json && counts->n_mended > 0) {
        (void)json_set_int(json, "mended", counts->n_mended);
    }
    for (int i = 0; json && i < IMPORT_REASONS; i++) {
        if (counts->by_reason[i] > 0) {
            (void)json_set_int(why, reason_fields[i], counts->by_reason[i]);
        }
    }
    output_json(&bring->cli->out, json);
    json_decref(json);
}

/* One conversation, two conversations. */
static const char *s_of(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void show_counts(const struct bring *bring, const struct pass *pass)
{
    const struct import_counts *counts = importer_counts(pass->importer);
    FILE *file = bring->cli->out.file;
    long long n_other = pass->n_unknown + bring->n_other;
    const char *between = "";

    if (bring->is_quiet && counts->n_new == 0) {
        return;
    }
    if (bring->cli->as_json) {
        show_json(bring, pass, counts);
        return;
    }
    (void)fprintf(file,
                  "%s: %lld conversation%s, %lld message%s, %lld of them %s, "
                  "%lld fork%s\n",
                  formats_of(pass), (long long)counts->n_conversations,
                  s_of(counts->n_conversations), (long long)counts->n_messages,
                  s_of(counts->n_messages), (long long)counts->n_new,
                  bring->is_dry ? "would be new" : "new",
                  (long long)counts->n_forks, s_of(counts->n_forks));
    if (counts->n_mended > 0) {
        (void)fprintf(file,
                      "%lld had messages that follow each other in a circle: "
                      "the oldest begins\n",
                      (long long)counts->n_mended);
    }
    if (counts->n_agents > 0) {
        (void)fprintf(file, "%lld sub-agent%s beside them\n",
                      (long long)counts->n_agents, s_of(counts->n_agents));
    }
    if (counts->n_forgotten > 0) {
        (void)fprintf(file,
                      "%lld forgotten before, left out; --restore-forgotten "
                      "brings %s back\n",
                      (long long)counts->n_forgotten,
                      counts->n_forgotten == 1 ? "it" : "them");
    }
    if (counts->n_skipped > 0) {
        (void)fprintf(file, "%lld left out: ", (long long)counts->n_skipped);
    }
    for (int i = 0; i < IMPORT_REASONS; i++) {
        if (counts->by_reason[i] > 0) {
            (void)fprintf(file, "%s%s (%lld)", between, reason_names[i],
                          (long long)counts->by_reason[i]);
            between = ", ";
        }
    }
    (void)fputs(counts->n_skipped > 0 ? "\n" : "", file);
    if (n_other > 0) {
        (void)fprintf(file, "%lld other file%s not read\n", n_other,
                      n_other == 1 ? " was" : "s were");
    }
}

/* --- the doors ------------------------------------------------------------ */

void bring_init(struct bring *bring, struct cli *cli)
{
    const char *user = args_str(&cli->args, "user");

    *bring = (struct bring){.cli = cli,
                            .user = user ? user : "me",
                            .is_dry = args_has(&cli->args, "dry-run"),
                            .brings_back =
                                args_has(&cli->args, "restore-forgotten")};
}

enum clew_status bring_begin(struct bring *bring, struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status;

    if (cli_is_here(bring->cli)) { /* no store is made just to ask */
        clock_format(clock_now_ms(&clock_system), bring->begun_at);
        return CLEW_OK;
    }
    status = cli_call(bring->cli, "GET", "/api/v1/tenant", NULL, &answer, err);
    if (status == CLEW_OK) {
        (void)snprintf(bring->begun_at, sizeof(bring->begun_at), "%s",
                       cli_field(answer, "now"));
    }
    json_decref(answer);
    return status;
}

enum clew_status bring_look(struct bring *bring, const char *path,
                            bool *out_is_own, int64_t *out_total,
                            struct clew_error *err)
{
    struct pass pass = {.bring = bring};
    enum clew_status status;

    progress_begin(&bring->progress, "looking at it:", 0);
    bring->progress.is_shown =
        bring->progress.is_shown && !bring->is_quiet && !bring->is_unseen;
    status = run_pass(&pass, path, &look_ops, err);
    progress_end(&bring->progress);
    if (status == CLEW_OK && pass.n_files == 0 && !pass.is_own) {
        status = clew_fail(err, CLEW_INVALID,
                           "there is no export that can be read in \"%.200s\"",
                           path);
    }
    if (status == CLEW_OK && bring->format != IMPORT_UNKNOWN &&
        bring->format != IMPORT_CLEW &&
        importer_counts(pass.importer)->n_messages == 0) {
        status = clew_fail(err, CLEW_INVALID,
                           "there is no message of %s in \"%.200s\"",
                           import_format_name(bring->format), path);
    }
    if (status == CLEW_OK) {
        *out_is_own = pass.is_own;
        *out_total = importer_counts(pass.importer)->n_messages;
    }
    importer_free(pass.importer);
    return status;
}

enum clew_status bring_take(struct bring *bring, const char *path,
                            int64_t total, struct clew_error *err)
{
    struct pass pass = {.bring = bring};
    enum clew_status status;

    bring->n_other = 0;
    progress_begin(&bring->progress, bring->is_dry ? "reading" : "importing",
                   total);
    bring->progress.is_shown =
        bring->progress.is_shown && !bring->is_quiet && !bring->is_unseen;
    status = run_pass(&pass, path, bring->is_dry ? &dry_ops : &api_ops, err);
    progress_end(&bring->progress);
    if (status == CLEW_OK) {
        show_counts(bring, &pass);
    }
    importer_free(pass.importer);
    return status;
}

enum clew_status bring_path(struct bring *bring, const char *path,
                            bool *out_is_own, struct clew_error *err)
{
    int64_t total = 0;
    enum clew_status status = bring_begin(bring, err);

    if (status == CLEW_OK) {
        status = bring_look(bring, path, out_is_own, &total, err);
    }
    return status == CLEW_OK && !*out_is_own
               ? bring_take(bring, path, total, err)
               : status;
}

enum clew_status bring_stream(struct bring *bring, FILE *file,
                              struct clew_error *err)
{
    struct pass pass = {.bring = bring};
    enum clew_status status = importer_new(bring->is_dry ? &dry_ops : &api_ops,
                                           bring, &pass.importer, err);

    progress_begin(&bring->progress, "importing", 0);
    if (status == CLEW_OK) {
        status = take_file(&pass, "", file, true, err);
    }
    progress_end(&bring->progress);
    if (status == CLEW_OK) {
        show_counts(bring, &pass);
    }
    importer_free(pass.importer);
    return status;
}
