/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_tell.c - what a check found, noted. See doctor.h.
 */
#include "cli/core/cli.h"
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_tell(struct doctor *doctor, const char *part,
                 enum doctor_state state, const char *mend, const char *format,
                 ...)
{
    char text[1024];
    va_list args;
    const char *copy;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    copy = arena_string(&doctor->cli->arena, text);
    if (copy && doctor->n_findings < DOCTOR_MAX_FINDINGS) {
        doctor->findings[doctor->n_findings++] =
            (struct doctor_finding){part, state, copy, mend};
    }
}
