/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bring.h - what other programs exported, brought into the store by the API.
 *
 * An export is read twice: first to the end without keeping anything, so that
 * one that is damaged anywhere leaves nothing behind, and so that it is known
 * how much there is; then for good. Ctrl-C ends it between two batches; the
 * same command goes on where it ended, since what is there is not added twice.
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_BRING_H
#define CLI_BRING_H

#include "base/clock.h"
#include "cli/core/cli.h"
#include "import/import.h"
#include "import/reader.h"

struct bring {
    struct cli *cli;
    const char *user;
    enum import_format format;      /* what it must be; IMPORT_UNKNOWN: look */
    char begun_at[CLOCK_TEXT_SIZE]; /* the server's time; empty: not told */
    bool is_dry;
    bool brings_back; /* also what was forgotten here */
    bool is_quiet;    /* no counts where nothing was new */
    bool is_unseen;   /* no progress: nobody sits at this terminal */
    bool has_own;     /* a name was met that is the user's own (bring_name.h) */
    struct progress progress;
    int64_t n_fake;  /* chats that a dry run made up */
    int64_t n_other; /* files that are something else */
};

/* With what the command line says. */
void bring_init(struct bring *bring, struct cli *cli);
/* What is brought is on its way from now on: where its user, or a chat of it,
 * is forgotten before all of it is there, the rest stays out. */
enum clew_status bring_begin(struct bring *bring,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Read all of a file, a folder or a zip and keep nothing: how much is it, and
 * is it whole? `*out_is_own` is true if it is a file of clew's own.
 */
enum clew_status bring_look(struct bring *bring, const char *path,
                            bool *out_is_own, int64_t *out_total,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Bring what was looked at; `total` is what that found. */
enum clew_status bring_take(struct bring *bring, const char *path,
                            int64_t total,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Both. With a file of clew's own nothing is done. */
enum clew_status bring_path(struct bring *bring, const char *path,
                            bool *out_is_own,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Bring what comes through a pipe: read once, as it comes. */
enum clew_status bring_stream(struct bring *bring, FILE *file,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Bring what is in a folder, and what is written there from now on, until a
 * signal ends it. */
enum clew_status bring_watch(struct bring *bring, const char *folder,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* From here on Ctrl-C is only noted, the second one ends the program. */
void bring_catch(void);
bool bring_is_stopped(void);

#endif
