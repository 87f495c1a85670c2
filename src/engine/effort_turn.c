/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_turn.c - how a turn moves the efforts of its chat.
 *
 * In this order: does it resolve one; does it come back to one; does it open
 * one; does it belong to the one at work. A side remark belongs to none. One
 * that has not been referred to for three turns of the user is collapsed.
 */
#include "engine/observe_internal.h"

#include "base/clock.h"
#include "engine/chain.h"
#include "engine/chat.h"
#include "engine/effort_words.h"
#include "engine/place.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

#define RESOLVE_FLOOR 0.39f
/* At least "that fixed it, but one more thing". */
#define RESOLVE_STRONG 0.64f
/* "That fixed it" reaches this far back, in turns of the user. */
#define RESOLVE_REACH 6
/* Turns without a reference that collapse an effort. */
#define IDLE_TURNS 3
/* A reply this short goes on with what was being talked about. */
#define SHORT_TOKENS 8

/* The efforts of the chat and what this turn shares with each. */
struct board {
    struct effort *items;
    size_t count;
    struct effort *active; /* NULL if none is at work */
};

/* Telling words this turn shares with a text. */
static enum clew_status shared_with(struct observation *o, struct str text,
                                    size_t *out, struct clew_error *err)
{
    struct desk_words words;
    enum clew_status status =
        effort_words(o->arena, o->desk, text, &words, err);

    *out = status == CLEW_OK ? effort_words_in(&words, &o->analysis) : 0;
    return status;
}

/* The user's turns after `seq` and before this one. */
static size_t turns_since(const struct observation *o, int64_t seq)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n_previous; i++) {
        n += o->previous_seq[i] > seq && o->previous[i].role == EXTRACT_USER;
    }
    return n;
}

/* Did the turn before this one belong to the effort? */
static bool is_at_work(const struct observation *o, const struct effort *effort)
{
    return effort->state == EFFORT_ACTIVE && effort->is_open &&
           (o->n_previous == 0 || effort->last_seq >= o->previous_seq[0]);
}

static enum clew_status own(struct observation *o, struct effort *effort,
                            struct clew_error *err)
{
    const struct turn *turn = o->work->turn;

    o->is_effort_turn = true;
    return effort_own(o->tx, effort, turn->seq, turn->created_at_ms,
                      turn->token_count, err);
}

/* --- resolving -------------------------------------------------------------
 */

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
    enum clew_status status = own(o, effort, err);

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
    if (status == CLEW_OK && resolution->confidence >= SETTLED) {
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
static enum clew_status accepted(struct observation *o, struct board *board,
                                 struct effort **out, struct clew_error *err)
{
    size_t best = 0;

    *out = NULL;
    for (size_t i = 0; i < board->count; i++) {
        struct effort *effort = &board->items[i];
        size_t n = 0;
        enum clew_status status;

        if (!effort->is_open || !uuid_is_nil(&effort->parent_id) ||
            turns_since(o, effort->last_seq) >= RESOLVE_REACH ||
            o->turn.time_ms - effort->last_at_ms > CLOCK_DAY_MS) {
            continue;
        }
        status = shared_with(o, effort->summary, &n, err);
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

static enum clew_status try_resolve(struct observation *o, struct board *board,
                                    bool *out_done, struct clew_error *err)
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
                           turns_since(o, effort->last_seq),
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

/* --- coming back -----------------------------------------------------------
 */

static enum clew_status collapse_active(struct observation *o,
                                        struct board *board,
                                        const struct effort *but,
                                        struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < board->count && status == CLEW_OK; i++) {
        struct effort *effort = &board->items[i];

        if (effort != but && effort->state == EFFORT_ACTIVE &&
            !effort->is_spawned) {
            effort->state = EFFORT_COLLAPSED;
            status = effort_update(o->tx, effort, err);
        }
    }
    return status;
}

static enum clew_status reactivate(struct observation *o, struct board *board,
                                   struct effort *effort,
                                   struct clew_error *err)
{
    struct memory memory;
    bool was_open = effort->is_open;
    enum clew_status status = collapse_active(o, board, effort, err);

    desk_forget_efforts(o->desk);
    if (status == CLEW_OK) {
        status = memory_find(o->tx, o->arena, &effort->memory_id, &memory, err);
    }
    if (status == CLEW_OK && !was_open) {
        struct effort_change change = {.status = "open",
                                       .time_ms = o->turn.time_ms};

        status = effort_set_status(o->work->batch, &memory, &change, err);
    }
    if (status == CLEW_OK &&
        !uuid_eq(&effort->thread_id, &o->work->turn->chat_id)) {
        /* it goes on here; the turns it owns elsewhere stay its own */
        status = memory_import(o->tx, &o->work->turn->chat_id,
                               &effort->memory_id, o->turn.time_ms, err);
        effort->thread_id = o->work->turn->chat_id;
        effort->first_seq = 0;
        effort->last_seq = 0;
    }
    effort->is_open = true;
    effort->state = EFFORT_ACTIVE;
    if (status == CLEW_OK) {
        status = own(o, effort, err);
    }
    if (status == CLEW_OK) {
        status =
            observe_told(o, &memory, was_open ? "extended" : "reopened", err);
    }
    return status == CLEW_OK
               ? observe_notice(o, err, "[effort:%s] %.*s",
                                was_open ? "active" : "reopened",
                                (int)effort->summary.len, effort->summary.s)
               : status;
}

static enum clew_status ask_which(struct observation *o,
                                  const struct effort *items, size_t count,
                                  struct clew_error *err)
{
    enum clew_status status =
        observe_notice(o, err, "[effort:which] Which one do you mean?");

    for (size_t i = 0; i < count && i < 5 && status == CLEW_OK; i++) {
        status = observe_notice(o, err, "  %zu. %.*s", i + 1,
                                (int)items[i].summary.len, items[i].summary.s);
    }
    return status;
}

/* "that bug": of several efforts the one about trouble is meant. */
static bool is_trouble(struct str text)
{
    static const char *const marks[] = {"bug",   "error", "fix",   "debug",
                                        "issue", "fail",  "crash", "problem"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ifind(text, str_of(marks[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* The ones that fit best; closed efforts only if they are named. */
static enum clew_status fitting(struct observation *o, struct effort *items,
                                size_t count, struct effort *out,
                                size_t *out_count, struct clew_error *err)
{
    bool is_about_trouble = is_trouble(o->turn.text);
    size_t best = 0;

    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        size_t score;
        enum clew_status status = shared_with(o, items[i].summary, &n, err);

        if (status != CLEW_OK) {
            return status;
        }
        score = 4 * n + (items[i].is_open ? 1u : 0u);
        if (items[i].is_open && is_about_trouble &&
            is_trouble(items[i].summary)) {
            score++;
        }
        if ((n == 0 && !items[i].is_open) || score < best ||
            !uuid_is_nil(&items[i].parent_id)) {
            continue;
        }
        *out_count = score > best ? 0 : *out_count;
        best = score;
        out[(*out_count)++] = items[i];
    }
    return CLEW_OK;
}

static enum clew_status come_back(struct observation *o, struct board *board,
                                  bool *out_done, struct clew_error *err)
{
    struct effort *items = NULL;
    struct effort *fit;
    size_t count = 0;
    size_t n_fit = 0;
    enum clew_status status = effort_list(
        o->tx, o->arena, &o->work->turn->chat_id, true, &items, &count, err);

    *out_done = false;
    if (status == CLEW_OK && count == 0) {
        status = effort_list_user(o->tx, o->arena, o->work->turn->user_id,
                                  &items, &count, err);
    }
    fit = arena_zero(o->arena, count + 1, sizeof(*fit));
    if (status == CLEW_OK && !fit) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = fitting(o, items, count, fit, &n_fit, err);
    }
    if (status != CLEW_OK || n_fit == 0) {
        return status; /* nothing to go back to: it may open a new one */
    }
    *out_done = true;
    if (n_fit > 1) {
        return ask_which(o, fit, n_fit, err);
    }
    for (size_t i = 0; i < board->count; i++) {
        if (uuid_eq(&board->items[i].memory_id, &fit[0].memory_id)) {
            return reactivate(o, board, &board->items[i], err);
        }
    }
    return reactivate(o, board, &fit[0], err);
}

/* --- opening ---------------------------------------------------------------
 */

/* The effort's title names the chat, unless a person or an effort did. */
static enum clew_status title_chat(struct observation *o, struct str title,
                                   struct clew_error *err)
{
    struct place_chat *slot = o->work->placement->slot;
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = effort_list(o->tx, o->arena, &slot->chat.id, true,
                                          &efforts, &count, err);

    if (status == CLEW_OK && count == 1 && !slot->chat.is_titled_by_user) {
        slot->chat.title = title;
        slot->is_dirty = true;
    }
    return status;
}

static enum clew_status open_effort(struct observation *o, struct board *board,
                                    const struct extract_item *item,
                                    struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory memory = observe_memory(o, "effort", "open", item->summary);
    struct effort effort = {.memory_id = memory.id,
                            .thread_id = turn->chat_id,
                            .state = EFFORT_ACTIVE,
                            .is_open = true,
                            .first_seq = turn->seq,
                            .last_seq = turn->seq,
                            .last_at_ms = turn->created_at_ms,
                            .raw_tokens = turn->token_count};
    json_t *fields = json_object();
    enum clew_status status = collapse_active(o, board, NULL, err);

    desk_forget_efforts(o->desk);
    o->is_effort_turn = true;
    memory.tags = observe_tags(o, item);
    if (fields && json_set_str(fields, "goal", item->summary) &&
        json_set_real(fields, "confidence", (double)item->confidence)) {
        memory.fields = observe_json(o->arena, fields);
    } else {
        json_decref(fields);
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status =
            observe_insert(o, &memory, item->cites, item->n_cites, NULL, err);
    }
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &effort, err);
    }
    if (status == CLEW_OK) {
        status = title_chat(o, item->summary, err);
    }
    return status == CLEW_OK
               ? observe_notice(o, err, "[effort:open] %.*s",
                                (int)item->summary.len, item->summary.s)
               : status;
}

/* An open effort that the new title is about as well, or NULL. */
static enum clew_status same_effort(struct observation *o, struct board *board,
                                    struct str title, struct effort **out,
                                    struct clew_error *err)
{
    struct desk_words wanted = {0};
    enum clew_status status =
        effort_words(o->arena, o->desk, title, &wanted, err);

    *out = NULL;
    for (size_t i = 0; i < board->count && status == CLEW_OK && !*out; i++) {
        struct desk_words known;

        if (!board->items[i].is_open ||
            !uuid_is_nil(&board->items[i].parent_id)) {
            continue;
        }
        status = effort_words(o->arena, o->desk, board->items[i].summary,
                              &known, err);
        if (status == CLEW_OK && wanted.count > 0 &&
            2 * effort_words_shared(&wanted, &known) >= wanted.count) {
            *out = &board->items[i];
        }
    }
    return status;
}

static enum clew_status try_open(struct observation *o, struct board *board,
                                 bool *out_done, struct clew_error *err)
{
    const struct extract_item *item = NULL;
    struct effort *known = NULL;
    enum clew_status status;

    *out_done = false;
    for (size_t i = 0; i < o->extract.n_items && !item; i++) {
        if (o->extract.items[i].type == EXTRACT_EFFORT) {
            item = &o->extract.items[i];
        }
    }
    if (!item || (o->intent.flags & INTENT_REMINDER)) {
        return CLEW_OK;
    }
    if (board->active &&
        (board->active->is_spawned ||
         (is_at_work(o, board->active) && effort_is_attempt(item->summary)))) {
        return CLEW_OK; /* a step of the one at work */
    }
    status = same_effort(o, board, item->summary, &known, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out_done = true;
    if (!known) {
        return open_effort(o, board, item, err);
    }
    if (known->state != EFFORT_ACTIVE) {
        return reactivate(o, board, known, err);
    }
    return own(o, known, err);
}

/* --- belonging -------------------------------------------------------------
 */

static bool is_side_remark(const struct observation *o)
{
    return (o->intent.flags & INTENT_REMINDER) ||
           o->intent.act == INTENT_GREETING;
}

static bool points_back(const struct observation *o)
{
    static const char *const marks[] = {" it ",   " this ",  " that ",
                                        " it's ", " still ", " same "};
    struct str text = str_sub(o->turn.text, 0, 400);
    const char *padded =
        arena_printf(o->arena, " %.*s ", (int)text.len, text.s);

    for (size_t i = 0; padded && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ifind(str_of(padded), str_of(marks[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* "Put it on hold": the effort at work is set aside, open. */
static enum clew_status set_aside(struct observation *o, struct board *board,
                                  struct clew_error *err)
{
    struct effort *effort = board->active;
    enum clew_status status;

    if (!effort || !is_at_work(o, effort) || effort->is_spawned) {
        return CLEW_OK;
    }
    effort->state = EFFORT_COLLAPSED;
    status = own(o, effort, err);
    return status == CLEW_OK
               ? observe_notice(o, err, "[effort:collapsed] %.*s",
                                (int)effort->summary.len, effort->summary.s)
               : status;
}

/* Does the user go on with the effort? */
static enum clew_status goes_on(struct observation *o,
                                const struct effort *effort, bool *out,
                                struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    *out = false;
    if (is_side_remark(o)) {
        return CLEW_OK;
    }
    status = shared_with(o, effort->summary, &n, err);
    if (status != CLEW_OK || n > 0 || !is_at_work(o, effort)) {
        *out = n > 0;
        return status;
    }
    if (o->intent.act == INTENT_REJECT || o->intent.act == INTENT_ACCEPT ||
        (o->intent.flags & INTENT_PROBLEM) ||
        o->previous_intent.act == INTENT_QUESTION ||
        o->analysis.tokens.count <= SHORT_TOKENS || points_back(o)) {
        *out = true;
        return CLEW_OK;
    }
    for (size_t i = 0; i < o->n_previous && i < 2 && status == CLEW_OK && !n;
         i++) {
        status = shared_with(o, o->previous[i].text, &n, err);
    }
    *out = n > 0;
    return status;
}

static enum clew_status collapse_idle(struct observation *o,
                                      struct board *board,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < board->count && status == CLEW_OK; i++) {
        struct effort *effort = &board->items[i];

        /* this turn counts: it was none of the effort's, or last_seq is its */
        if (effort->state != EFFORT_COLLAPSED && !effort->is_spawned &&
            effort->last_seq < o->work->turn->seq &&
            turns_since(o, effort->last_seq) + 1 >= IDLE_TURNS) {
            effort->state = EFFORT_COLLAPSED;
            status = effort_update(o->tx, effort, err);
            if (status == CLEW_OK) {
                status =
                    observe_notice(o, err, "[effort:collapsed] %.*s",
                                   (int)effort->summary.len, effort->summary.s);
            }
        }
    }
    return status;
}

static enum clew_status belong(struct observation *o, struct board *board,
                               struct clew_error *err)
{
    bool is_on = false;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < board->count && status == CLEW_OK && !is_on; i++) {
        struct effort *effort = &board->items[i];

        if (effort->state == EFFORT_COLLAPSED) {
            continue;
        }
        is_on = effort->is_spawned;
        if (!is_on) {
            status = goes_on(o, effort, &is_on, err);
        }
        if (status == CLEW_OK && is_on) {
            status = own(o, effort, err);
        }
        if (status == CLEW_OK && is_on && effort->is_open &&
            o->intent.act == INTENT_REJECT) {
            status = effort_attempt_end(o, effort, false, (struct str){0}, err);
        }
    }
    return status;
}

/* --- the whole -------------------------------------------------------------
 */

static enum clew_status user_turn(struct observation *o, struct board *board,
                                  struct clew_error *err)
{
    bool is_done = false;
    enum clew_status status = CLEW_OK;

    if (o->intent.flags & INTENT_HOLD) {
        return set_aside(o, board, err);
    }
    if (o->intent.flags & INTENT_RETURN) {
        status = come_back(o, board, &is_done, err);
    }
    if (status == CLEW_OK && !is_done && board->count > 0) {
        status = try_resolve(o, board, &is_done, err);
    }
    if (status == CLEW_OK && !is_done) {
        status = try_open(o, board, &is_done, err);
    }
    if (status == CLEW_OK && !is_done) {
        status = belong(o, board, err);
    }
    return status == CLEW_OK ? collapse_idle(o, board, err) : status;
}

enum clew_status effort_observe(struct observation *o, struct clew_error *err)
{
    struct board board = {0};
    enum clew_status status = desk_efforts(o->work, o->desk, err);

    board.items = o->desk->efforts;
    board.count = o->desk->n_efforts;
    for (size_t i = 0; status == CLEW_OK && i < board.count; i++) {
        if (board.items[i].state == EFFORT_ACTIVE && !board.active) {
            board.active = &board.items[i];
        }
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (o->turn.role == EXTRACT_USER) {
        return user_turn(o, &board, err);
    }
    /* an answer belongs where the turn it answers does */
    if (board.active &&
        (board.active->is_spawned || is_at_work(o, board.active))) {
        return own(o, board.active, err);
    }
    return CLEW_OK;
}
