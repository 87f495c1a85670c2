/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_sink.h - where fuzzed imports go: nothing is kept, and what no
 * importer may ask for ends the program.
 */
#ifndef FUZZ_IMPORT_SINK_H
#define FUZZ_IMPORT_SINK_H

#include "import/import.h"
#include "import/reader.h"

#include <stdio.h>
#include <stdlib.h>

static enum clew_status find(void *arg, struct str id, struct import_place *out,
                             struct clew_error *err)
{
    (void)arg;
    (void)err;
    out->is_known = id.len % 5 == 0; /* some were there before */
    out->is_forgotten = id.len % 5 == 1;
    out->seq = 1;
    (void)snprintf(out->chat, sizeof(out->chat), "known");
    return CLEW_OK;
}

static enum clew_status add(void *arg, const struct import_target *target,
                            const struct import_message *messages, size_t n,
                            struct import_place *out, struct clew_error *err)
{
    const char *chat = target->chat;

    if (n == 0 || (!chat[0] && n != 1) || target->at_seq < 0 ||
        (target->beside && (chat[0] || !target->beside[0])) ||
        (target->agent.s && (!target->beside || target->agent.len == 0))) {
        abort();
    }
    (void)arg;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (!messages[i].id.s || !messages[i].role || !messages[i].content) {
            abort();
        }
        if (messages[i].id.len % 5 == 1 && i % 2 == 1) { /* just now */
            out[i].is_forgotten = true;
            continue;
        }
        out[i].seq = 1;
        (void)snprintf(out[i].chat, sizeof(out[i].chat), "%s",
                       chat[0]          ? chat
                       : target->beside ? "fork"
                                        : "new");
    }
    return CLEW_OK;
}

static enum clew_status title(void *arg, const char *chat, struct str text,
                              struct clew_error *err)
{
    (void)arg;
    (void)text;
    (void)err;
    if (!chat[0]) {
        abort();
    }
    return CLEW_OK;
}

static const struct import_ops import_sink = {find, add, title};

#endif
