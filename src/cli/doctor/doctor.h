/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - looks at one part of an installation each.
 *
 * A check finds out, says what it found and, if something is wrong, how to
 * mend it. It changes nothing and makes nothing. A check that cannot be made
 * because another failed says nothing.
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/core/cli.h"

enum doctor_state { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_WRONG };

struct doctor_finding {
    const char *part; /* "settings", "store" … */
    enum doctor_state state;
    const char *found; /* in the arena */
    const char *mend;  /* "" if there is nothing to do */
};

#define DOCTOR_MAX_FINDINGS 64

struct doctor {
    struct cli *cli;
    struct engine *engine; /* set by the check of the store */
    struct doctor_finding findings[DOCTOR_MAX_FINDINGS];
    size_t n_findings;
};

/* Note a finding; `mend` "" for none. More than there is room for is dropped.
 */
void doctor_tell(struct doctor *doctor, const char *part,
                 enum doctor_state state, const char *mend, const char *format,
                 ...) CLEW_PRINTF(5, 6);

/* doctor.c: settings, files, servers, clients */
void doctor_settings(struct doctor *doctor);
void doctor_server(struct doctor *doctor);
void doctor_remote(struct doctor *doctor);
void doctor_model(struct doctor *doctor);
void doctor_clients(struct doctor *doctor);

/* doctor_store.c: the data folder and what is in it */
void doctor_folder(struct doctor *doctor);
void doctor_store(struct doctor *doctor);
void doctor_reading(struct doctor *doctor);
void doctor_agents(struct doctor *doctor);
void doctor_tasks(struct doctor *doctor);

/* doctor_speed.c: what recall.read_ms comes to here */
void doctor_speed(struct doctor *doctor);

#endif
