/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_markers.h - what clients are known to write, as data.
 *
 * Clients change their wording; linking must not. Every opening, marker and
 * name that linking looks for stands in one table with the client and the
 * version it was seen in, so that a new wording is a new row.
 * Thread-safety: immutable.
 */
#ifndef ENGINE_CALL_MARKERS_H
#define ENGINE_CALL_MARKERS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum call_marker_kind {
    /* A system prompt that starts so counts as this sentence alone. */
    CALL_AGENT_OPENING,
    /* A line a client puts before its agent opening; it decides nothing. */
    CALL_AGENT_IDENTITY,
    /* A system prompt that contains this asks for a summary. */
    CALL_SUMMARISING,
    /* Lines of a system prompt that start so change between sessions. */
    CALL_VOLATILE_LINE,
    /* From here to the next empty line a system prompt tells of the moment. */
    CALL_VOLATILE_SECTION,
    /* A first message that contains this continues a compacted session. */
    CALL_CONTINUATION,
    /* What stands between the continuation's opening and the summary. */
    CALL_SUMMARY_MARK,
    /* What follows the summary. */
    CALL_SUMMARY_END,
    /* A tool whose calls start a sub-agent with the field "prompt". */
    CALL_TASK_TOOL
};

struct call_marker {
    enum call_marker_kind kind;
    struct str text;
    const char *client;
    const char *version; /* first version it was seen in */
};

/* The first marker of that kind that `text` starts with, or NULL. */
const struct call_marker *call_marker_at(enum call_marker_kind kind,
                                         struct str text);
/* The marker of that kind found earliest at or after `from`, or NULL. */
const struct call_marker *call_marker_find(enum call_marker_kind kind,
                                           struct str text, size_t from,
                                           size_t *out_at);
bool call_marker_is(enum call_marker_kind kind, struct str text);

#endif
