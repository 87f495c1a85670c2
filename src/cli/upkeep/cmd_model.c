/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_model.c - the encoders of a data folder, and vectors of lines.
 *
 * On the data folder only: models are files beside the store.
 */
#include "base/config.h"
#include "cli/core/cli.h"
#include "engine/feed/model_list.h"
#include "model/embed.h"
#include "model/model_store.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *data_of(const struct cli *cli)
{
    return config_data_dir(cli->config);
}

/* One line for people, or {"name": NAME}. */
static enum clew_status show_name(struct cli *cli, const char *done,
                                  const char *name, struct clew_error *err)
{
    json_t *json;

    if (!cli->as_json) {
        (void)fprintf(cli->out.file, "%s %s\n", done, name);
        return CLEW_OK;
    }
    json = json_pack("{s:s}", "name", name);
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

static const struct arg_option add_options[] = {
    {"name", 'n', "NAME", NULL, "what to call it; default: the folder's name"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status run_add(struct cli *cli, struct clew_error *err)
{
    const char *folder = cli->args.operands[0];
    char name[MODEL_NAME_SIZE];
    struct stat about;
    enum clew_status status;

    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return clew_fail(err, CLEW_NOT_FOUND, "\"%.200s\" is no folder",
                         folder);
    }
    status = model_store_add(data_of(cli), folder, args_str(&cli->args, "name"),
                             name, err);
    return status == CLEW_OK ? show_name(cli, "added", name, err) : status;
}

const struct command command_model_add = {
    .name = "model add",
    .operands = "FOLDER",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "copy a sentence encoder from a Hugging Face folder",
    .example = "clew model add ./all-MiniLM-L6-v2 --name minilm",
    .options = add_options,
    .run = run_add,
    .makes_store = true,
};

/* "1,200 of 3,000 40 %", and what went wrong. */
static void show_row(const struct cli *cli, const json_t *row)
{
    bool is_used = json_is_true(json_object_get(row, "in_use"));
    const char *error = cli_field(row, "error");

    (void)fprintf(cli->out.file, "%s %-24s %5lld  %lld of %lld  %3.0f %%  %s\n",
                  is_used ? "*" : " ", cli_field(row, "name"),
                  (long long)json_integer_value(json_object_get(row, "dim")),
                  (long long)json_integer_value(json_object_get(row, "done")),
                  (long long)json_integer_value(json_object_get(row, "total")),
                  json_real_value(json_object_get(row, "percent")),
                  cli_field(row, "id"));
    if (error[0]) {
        (void)fprintf(cli->out.file, "  does not work: %s\n", error);
    }
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    json_t *list = NULL;
    struct engine *engine;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = model_list(engine, NULL, &cli->arena, &list, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (cli->as_json) {
        output_json(&cli->out, list);
    }
    for (size_t i = 0; !cli->as_json && i < json_array_size(list); i++) {
        show_row(cli, json_array_get(list, i));
    }
    json_decref(list);
    return CLEW_OK;
}

const struct command command_model_list = {
    .name = "model list",
    .operands = "",
    .summary = "list the models and how far each has come; * is in use",
    .example = "clew model list",
    .run = run_list,
};

static enum clew_status run_use(struct cli *cli, struct clew_error *err)
{
    const char *name = cli->args.operands[0];
    struct engine *engine;
    enum clew_status status = cli_engine(cli, &engine, err);

    if (status == CLEW_OK) {
        status = model_choose(engine, name, err);
    }
    return status == CLEW_OK ? show_name(cli, "using", name, err) : status;
}

const struct command command_model_use = {
    .name = "model use",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "embed with this model from now on; static is clew's own",
    .example = "clew model use minilm",
    .run = run_use,
    .makes_store = true,
};

static enum clew_status run_remove(struct cli *cli, struct clew_error *err)
{
    const char *name = cli->args.operands[0];
    struct engine *engine;
    enum clew_status status;

    if (strcmp(name, MODEL_NAME_STATIC) == 0) {
        return clew_fail(err, CLEW_CONFLICT,
                         "\"" MODEL_NAME_STATIC "\" is clew's own and stays");
    }
    status = cli_engine(cli, &engine, err);
    if (status == CLEW_OK) {
        status = model_remove(engine, &cli->arena, name, err);
    }
    return status == CLEW_OK ? show_name(cli, "removed", name, err) : status;
}

const struct command command_model_remove = {
    .name = "model remove",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "remove a model that is not in use",
    .example = "clew model remove minilm",
    .run = run_remove,
};

static const struct arg_option embed_options[] = {
    {"model", 'm', "NAME", NULL, "which model; default: the one in use"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status run_embed(struct cli *cli, struct clew_error *err)
{
    struct embedder *embedder = NULL;
    enum clew_status status = model_store_open(
        data_of(cli), args_str(&cli->args, "model"), &embedder, err);

    if (status == CLEW_OK) {
        status = embed_lines(embedder, stdin, cli->out.file, err);
        embed_free(embedder);
    }
    return status;
}

const struct command command_model_embed = {
    .name = "model embed",
    .operands = "",
    .summary = "read a text a line, print its vector as JSON",
    .example = "clew model embed --model static < lines.txt",
    .options = embed_options,
    .run = run_embed,
};
