/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_config.c - show the effective settings, and which there are.
 */
#include "base/buf.h"
#include "base/config.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>

static enum clew_status run_config(struct cli *cli, struct clew_error *err)
{
    enum clew_status status;
    struct buf text;

    buf_init(&text, 1 << 24);
    status = config_show(cli->config, cli->as_json, &text);
    if (status == CLEW_OK) {
        (void)fwrite(text.data, 1, text.len, cli->out.file);
        (void)fputs(cli->as_json ? "\n" : "", cli->out.file);
    } else {
        (void)clew_fail(err, status, "could not show the settings: %s",
                        clew_status_text(status));
    }
    buf_release(&text);
    return status;
}

const struct command command_config = {
    .name = "config",
    .operands = "",
    .summary = "show the effective settings and where each came from",
    .example = "clew config --set server.listen=127.0.0.1:0",
    .run = run_config,
};

static enum clew_status run_keys(struct cli *cli, struct clew_error *err)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);

    for (size_t i = 0; i < n; i++) {
        const char *text = arena_printf(
            &cli->arena, "%s%s%s%s%s%s", keys[i].help,
            keys[i].allowed[0] ? " (" : "", keys[i].allowed,
            keys[i].allowed[0] ? ")" : "",
            keys[i].fallback[0] ? "; default " : "", keys[i].fallback);

        if (!text) {
            return clew_no_memory(err);
        }
        output_text(&cli->out, OUTPUT_NAME, str_of(keys[i].name));
        (void)fputc('\n', cli->out.file);
        show_paragraph(cli, "    ", str_of(text));
    }
    return CLEW_OK;
}

const struct command command_config_keys = {
    .name = "config keys",
    .operands = "",
    .summary = "list every setting there is and what it does",
    .example = "clew config keys",
    .run = run_keys,
};
