/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_chat.h - try an agent package on a whole chat.
 *
 * The chat is a file: a line of JSON a turn ({"role", "content"}), or lines
 * that begin with "user:" and "assistant:". What each turn does to the
 * package's artifact is told, and what each field became, from which turn, and
 * what is still asked for. Nothing is stored.
 * Thread-safety: as cli.h.
 */
#ifndef CLI_AGENTS_CHAT_H
#define CLI_AGENTS_CHAT_H

#include "clew/attr.h"
#include "clew/status.h"

struct agent;
struct cli;

enum clew_status agents_chat(struct cli *cli, const struct agent *agent,
                             const char *path,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
