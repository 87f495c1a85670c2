/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_backup.c - copy the store while it is in use.
 */
#include "cli/core/cli.h"
#include "engine/core/engine.h"
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
        output_note("copied to %s", path);
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
