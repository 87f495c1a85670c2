/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_mcp.c - serve the Model Context Protocol on stdin and stdout.
 *
 * On a server with --url, else on the data folder. The store is opened with
 * the first call that needs it, so that the handshake is quick. Nothing but
 * the protocol reaches stdout: it is moved to a descriptor of its own, and
 * whatever a library might print goes to stderr.
 */
#include "base/limits.h"
#include "cli/client/client.h"
#include "cli/core/cli.h"
#include "mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static enum clew_status call_api(void *arg, const char *method,
                                 const char *path, const json_t *body,
                                 json_t **out_json, struct clew_error *err)
{
    struct cli *cli = arg;
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    return status == CLEW_OK
               ? client_call(client, method, path, body, out_json, err)
               : status;
}

static void name_caller(void *arg, const char *name)
{
    struct cli *cli = arg;
    struct client *client;
    struct clew_error ignored = {0};

    /* a store that cannot be opened is told of by the call that follows */
    if (cli_client(cli, &client, &ignored) == CLEW_OK) {
        client_set_caller(client, name);
    }
}

/* The real stdout; descriptor 1 is stderr from here on. */
static enum clew_status take_stdout(int *out_fd, struct clew_error *err)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not move stdout: %s",
                         strerror(errno));
    }
    *out_fd = fd;
    return CLEW_OK;
}

/* --user "$UNSET" in a client's configuration must not become a session that
 * sees everybody. */
static enum clew_status check_user(const char *user, struct clew_error *err)
{
    return !user || mcp_user_is_valid(str_of(user))
               ? CLEW_OK
               : clew_fail_field(err, "user",
                                 "--user needs a user's id: 1 to %d bytes of "
                                 "UTF-8; leave it out to see the whole tenant",
                                 LIMIT_NAME_BYTES);
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    struct stdio_options options = {.in_fd = STDIN_FILENO,
                                    .out_fd = -1,
                                    .api = call_api,
                                    .name = name_caller,
                                    .arg = cli,
                                    .user_id = args_str(&cli->args, "user")};
    enum clew_status status = check_user(options.user_id, err);

    if (status == CLEW_OK) {
        status = take_stdout(&options.out_fd, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a client that left is no crash */
    status = stdio_serve(&options, err);
    (void)close(options.out_fd); /* everything was written */
    return status;
}

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "whom the session is for: it sees no other's"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_mcp = {
    .name = "mcp",
    .operands = "",
    .summary = "serve MCP on stdin and stdout, for an agent to start",
    .example = "clew mcp --url http://127.0.0.1:2539",
    .options = options,
    .run = run,
    .makes_store = true,
};
