/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_markers.h - what clients are known to write, as data.
 *
 * Clients change their wording; linking must not. Every opening, marker and
 * name that linking looks for stands in one table with the client and the
 * version it was seen in, so that a new wording is a new row.
 * Thread-safety: immutable.
 */
#ifndef ENGINE_LINK_MARKERS_H
#define ENGINE_LINK_MARKERS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum link_marker_kind {
    /* A system prompt that starts so counts as this sentence alone. */
    LINK_AGENT_OPENING,
    /* A line a client puts before its agent opening; it decides nothing. */
    LINK_AGENT_IDENTITY,
    /* A system prompt that contains this asks for a summary. */
    LINK_SUMMARISING,
    /* Lines of a system prompt that start so change between sessions. */
    LINK_VOLATILE_LINE,
    /* From here to the next empty line a system prompt tells of the moment. */
    LINK_VOLATILE_SECTION,
    /* A first message that contains this continues a compacted session. */
    LINK_CONTINUATION,
    /* What stands between the continuation's opening and the summary. */
    LINK_SUMMARY_MARK,
    /* What follows the summary. */
    LINK_SUMMARY_END,
    /* A tool whose calls start a sub-agent with the field "prompt". */
    LINK_TASK_TOOL
};

struct link_marker {
    enum link_marker_kind kind;
    struct str text;
    const char *client;
    const char *version; /* first version it was seen in */
};

extern const struct link_marker link_markers[];
extern const size_t link_marker_count;

/* The first marker of that kind that `text` starts with, or NULL. */
const struct link_marker *link_marker_at(enum link_marker_kind kind,
                                         struct str text);
/* The marker of that kind found earliest at or after `from`, or NULL. */
const struct link_marker *link_marker_find(enum link_marker_kind kind,
                                           struct str text, size_t from,
                                           size_t *out_at);
bool link_marker_is(enum link_marker_kind kind, struct str text);

#endif
