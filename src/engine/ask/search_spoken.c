/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_spoken.c - for those who did not ask, what somebody said. See
 * search_internal.h.
 *
 * A session of a coding agent is for the most part calls of tools and what they
 * printed. They hold the words of every question about the session, and a
 * context full of them tells the next one little: who did what and why stands
 * in what was said around them. So they are told where they answer or hold
 * what is named to the letter, and else left out. What a client wrote in a
 * person's name (the tale of a compacted talk, reminders) nobody said at all.
 * Who asks by recall finds all of it.
 */
#include "engine/ask/search_internal.h"

/* What a bare call of a tool is kept as (chat/content.h). */
#define TOOL_CALL STR("[tool_use")

/* May what nobody said be told? */
static bool is_telling(const struct matter *matter)
{
    const struct turn *turn = matter->hit.turn;

    return (turn->role == TURN_TOOL ||
            (turn->role == TURN_ASSISTANT &&
             str_starts(str_trim(turn->text), TOOL_CALL))) &&
           (matter->n_named > 0 ||
            (!matter->is_glanced && matter->read >= UNSAID_READ));
}

enum clew_status search_keep_spoken(struct search_work *work,
                                    struct search_result *out,
                                    struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct matter matter = work->matters[i];

        if (!matter.hit.turn || matter.is_spoken || is_telling(&matter)) {
            work->matters[n++] = matter;
        } else {
            matter.hit.is_unsaid = true;
            status = search_leave_below(work, &matter.hit, out, err);
        }
    }
    work->count = n;
    return status;
}
