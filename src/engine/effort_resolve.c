/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_resolve.c - a turn that ends an effort, and what people are told.
 */
#include "engine/effort_board.h"

#include "base/clock.h"
#include "engine/chain.h"

#define RESOLVE_FLOOR 0.39f
/* At least "that fixed it, but one more thing". */
#define RESOLVE_STRONG 0.64f
/* "That fixed it" reaches this far back, in turns of the user. */
#define RESOLVE_REACH 6

/* 1234567 as "1,234,567". */
static const char *grouped(struct arena *arena, int64_t n)
{
    if (n < 1000) {
        return arena_printf(arena, "%lld", (long long)n);
    }
    if (n < 1000000) {
        return arena_printf(arena, "%lld,%03lld", (long long)(n / 1000),
                            (long long)(n % 1000));
    }
    return arena_printf(arena, "%lld,%03lld,%03lld", (long long)(n / 1000000),
                        (long long)(n / 1000 % 1000), (long long)(n % 1000));
}

static enum clew_status tell_resolved(struct observation *o,
                                      const struct memory *memory,
                                      int64_t raw_tokens,
                                      struct clew_error *err)
{
    int64_t kept = memory->token_count;
    int64_t saved = raw_tokens > kept
                        ? 100 - (100 * kept + raw_tokens / 2) / raw_tokens
                        : 0;
    const char *raw = grouped(o->arena, raw_tokens);
    const char *compacted = grouped(o->arena, kept);
    enum clew_status status =
        observe_notice(o, err, "[effort:resolved] %.*s",
                       (int)memory->summary.len, memory->summary.s);

    if (!raw || !compacted) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK && memory->resolution.len > 0) {
        status =
            observe_notice(o, err, "  => %.*s", (int)memory->resolution.len,
                           memory->resolution.s);
    }
    return status == CLEW_OK
               ? observe_notice(
                     o, err,
                     "[Tokens: %s raw → %s compacted | Savings: %lld%%]", raw,
                     compacted, (long long)saved)
               : status;
}

/* "the key was old, that fixed it": how, without the joy about it. */
static struct str without_acceptance(struct str text)
{
    static const char *const tails[] = {
        ", that fixed it", ", that did it",     ", that was it",
        ", fixed now",     ", it works now",    ", and it works now",
        ", all good now",  " and that fixed it"};

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        size_t at = str_ifind(text, str_of(tails[i]), 0);

        if (at != SIZE_MAX && at > 8) {
            text.len = at;
        }
    }
    return text;
}

/* So sure a resolution also settles the topic; a mere "thanks" ends the effort,
 * but the talk about it often goes on. */
#define SETTLED 0.8f

/* What was said about the effort is settled with it. */
static enum clew_status conclude_chains(struct observation *o,
                                        const struct effort *effort,
                                        struct clew_error *err)
{
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t n_refs = 0;
    enum clew_status status = memory_refs(o->tx, o->arena, &effort->memory_id,
                                          1, &owners, &refs, &n_refs, err);

    return status == CLEW_OK ? chain_resolve(o->work, refs, n_refs, err)
                             : status;
}

static enum clew_status resolve(struct observation *o, struct effort *effort,
                                const struct extract_resolution *resolution,
                                struct clew_error *err)
{
    struct memory memory;
    struct effort_change change = {.status = "resolved",
                                   .confidence = resolution->confidence,
                                   .time_ms = o->turn.time_ms};
    enum clew_status status = effort_take_turn(o, effort, err);

    if (resolution->text.len > 0) {
        change.resolution = without_acceptance(resolution->text);
    } else if (resolution->confidence >= RESOLVE_STRONG) {
        change.resolution = effort_attempt_said(o); /* "clear the cache" */
    }
    if (status == CLEW_OK) {
        status = memory_find(o->tx, o->arena, &effort->memory_id, &memory, err);
    }
    if (status == CLEW_OK) {
        status = effort_set_status(o->work->batch, &memory, &change, err);
    }
    if (status == CLEW_OK) {
        status = effort_attempt_end(o, effort, true, change.resolution, err);
    }
    if (status == CLEW_OK) {
        status = observe_told(o, &memory, "resolved", err);
    }
    /* chains have gone on since a turn that is looked at again */
    if (status == CLEW_OK && resolution->confidence >= SETTLED &&
        !o->is_later) {
        status = conclude_chains(o, effort, err);
    }
    effort->is_open = false;
    effort->state = EFFORT_COLLAPSED;
    desk_forget_efforts(o->desk);
    return status == CLEW_OK
               ? tell_resolved(o, &memory, effort->raw_tokens, err)
               : status;
}

/* The effort that an acceptance is about: named, else the last touched. */
static enum clew_status accepted(struct observation *o,
                                 struct effort_board *board,
                                 struct effort **out, struct clew_error *err)
{
    size_t best = 0;

    *out = NULL;
    for (size_t i = 0; i < board->count; i++) {
        struct effort *effort = &board->items[i];
        size_t n = 0;
        enum clew_status status;

        if (!effort->is_open || !uuid_is_nil(&effort->parent_id) ||
            effort_turns_since(o, effort->last_seq) >= RESOLVE_REACH ||
            o->turn.time_ms - effort->last_at_ms > CLOCK_DAY_MS) {
            continue;
        }
        status = effort_shared_with(o, effort->summary, &n, err);
        if (status != CLEW_OK) {
            return status;
        }
        if (!*out || n > best) {
            *out = effort;
            best = n;
        }
    }
    return CLEW_OK;
}

enum clew_status effort_try_resolve(struct observation *o,
                                    struct effort_board *board, bool *out_done,
                                    struct clew_error *err)
{
    struct extract_resolution resolution;
    struct effort *effort = NULL;
    enum clew_status status;

    *out_done = false;
    if (o->intent.act == INTENT_REJECT || o->intent.act == INTENT_GREETING) {
        return CLEW_OK;
    }
    status = accepted(o, board, &effort, err);
    if (status != CLEW_OK || !effort) {
        return status;
    }
    if (extract_resolution(o->arena, &o->input, effort->summary,
                           effort_turns_since(o, effort->last_seq),
                           &resolution) != CLEW_OK) {
        return clew_no_memory(err);
    }
    /* what was put aside needs more than thanks */
    if (resolution.confidence < RESOLVE_FLOOR ||
        (resolution.confidence < RESOLVE_STRONG &&
         effort->state == EFFORT_COLLAPSED)) {
        return CLEW_OK;
    }
    *out_done = true;
    return resolve(o, effort, &resolution, err);
}
