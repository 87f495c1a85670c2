/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients_check.h - which clients are connected, and does it work?
 *
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_CLIENTS_CHECK_H
#define CLI_CLIENTS_CHECK_H

#include "cli/core/cli.h"

/* `clew setup --list`: every client, and what its file says. */
enum clew_status clients_show_all(struct cli *cli,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/*
 * `clew setup CLIENT --check`: start what the client would start, greet it as
 * the client would, and say when a call was last captured. CLEW_CONFLICT if it
 * is not connected or does not answer.
 */
enum clew_status clients_show_check(struct cli *cli,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
