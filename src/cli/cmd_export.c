/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - everything out as lines of JSON.
 */
#include "cli/cli.h"
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_part(void *arg, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, arg) == len;
}

static enum clew_status run_export(struct cli *cli, struct clew_error *err)
{
    const char *path = cli->args.n_operands ? cli->args.operands[0] : NULL;
    FILE *file = cli->out.file;
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (path && strcmp(path, "-") == 0) {
        path = NULL;
    }
    if (path) {
        file = fopen(path, "wxe");
    }
    if (!file) {
        return clew_fail(err, CLEW_CONFLICT, "could not make \"%s\": %s", path,
                         strerror(errno));
    }
    status = client_stream(client, "GET", "/api/v1/export", NULL, write_part,
                           file, err);
    if (path && fclose(file) != 0 && status == CLEW_OK) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not write \"%s\": %s",
                           path, strerror(errno));
    }
    if (path && status != CLEW_OK) {
        (void)remove(path); /* half an export looks like a whole one */
    }
    return status;
}

const struct command command_export = {
    .name = "export",
    .operands = "[FILE]",
    .max_operands = 1,
    .summary =
        "write everything of a tenant, one JSON object a line; \"-\" or no "
        "FILE is the standard output",
    .example = "clew export memory.jsonl",
    .run = run_export,
};
