/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one line of a talk: who said what, when. Slices are borrowed.
 */
#ifndef TALK_LINE_H
#define TALK_LINE_H

#include "base/str.h"

#include <stdint.h>

enum talk_role {
    TALK_USER,
    TALK_ASSISTANT,
    TALK_OTHER /* system, tool: not part of the talk, never mined */
};

struct talk_line {
    struct str text;
    struct str speaker; /* a person's name; empty if the turn carries none */
    enum talk_role role;
    int64_t time_ms;
    struct str timezone; /* for writing resolved dates; empty = UTC */
};

#endif
