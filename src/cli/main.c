/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program: set up what is global, run one command.
 */
#include "base/json.h"
#include "base/log.h"
#include "cli/core/cli.h"

#include <curl/curl.h>
#include <signal.h>

int main(int argc, char **argv)
{
    int exit_code;

    json_setup();
    /* A reader that goes away is an error to report, not a reason to die. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return clew_status_exit(CLEW_INTERNAL);
    }
    exit_code = cli_run(argc > 0 ? argc - 1 : 0, argv + 1);
    log_flush();
    curl_global_cleanup();
    return exit_code;
}
