/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - everything out as lines of JSON.
 */
#include "cli/client/client.h"
#include "cli/core/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_part(void *arg, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, arg) == len;
}

/* A new file that nobody else may read: it holds everything. */
static FILE *make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (fd >= 0 && !file) {
        (void)close(fd); /* nothing was written */
    }
    return file;
}

static enum clew_status run_export(struct cli *cli, struct clew_error *err)
{
    const char *path = cli->args.n_operands ? cli->args.operands[0] : NULL;
    FILE *file = output_verbatim(&cli->out);
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (path && strcmp(path, "-") == 0) {
        path = NULL;
    }
    if (path) {
        file = make_file(path);
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
    .summary = "write everything of a tenant, one JSON object a line",
    .example = "clew export memory.jsonl",
    .run = run_export,
};
