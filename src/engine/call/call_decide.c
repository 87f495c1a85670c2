/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_decide.c - the priority order of linking. See call_decide.h.
 *
 * Among requests with equal messages the one whose reply the client sends back
 * is the parent; if no reply tells, the newest. Without that, the children of
 * two conversations that both opened with "hi" could not be told apart.
 */
#include "engine/call/call_decide.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/call/call_compact.h"
#include "engine/call/request_trail.h"
#include "engine/chat/turn.h"

#include <stdio.h>
#include <string.h>

#define SUBTASK_WINDOW_MS CLOCK_DAY_MS
#define COMPACT_WINDOW_MS (7 * CLOCK_DAY_MS)
/* A failed single message that comes again this soon is a retry. */
#define RETRY_WINDOW_MS (10 * CLOCK_MINUTE_MS)
/* Prefixes looked up at once. */
#define PREFIX_CHUNK 400

static const char *const names[CALL_STRATEGIES] = {
    [CALL_NONE] = "none",
    [CALL_EXACT] = "exact",
    [CALL_SUMMARISATION] = "summarisation",
    [CALL_HASH_ONLY] = "hash_only",
    [CALL_GRANDPARENT] = "grandparent",
    [CALL_PREFIX] = "prefix",
    [CALL_COMPACT] = "compact",
    [CALL_SUBTASK] = "subtask",
};

const char *call_strategy_name(enum call_strategy strategy)
{
    return names[strategy];
}

/* What the steps below share. */
struct search {
    struct store_tx *tx;
    struct arena *arena;
    const struct request *request;
    const struct call_sources *sources;
    struct call_decision *out;
    struct clew_error *err;
};

/* A finder's answer: CLEW_NOT_FOUND is no failure. */
static enum clew_status note(struct search *s, enum clew_status found,
                             enum call_strategy strategy, const char *by)
{
    if (s->out->n_steps < CALL_MAX_STEPS) {
        s->out->steps[s->out->n_steps++] =
            (struct call_step){strategy, by, found == CLEW_OK};
    }
    if (found == CLEW_OK) {
        s->out->has_parent = true;
        s->out->strategy = strategy;
    }
    return found == CLEW_NOT_FOUND ? CLEW_OK : found;
}

/* The keys of one ancestor: its messages, and its messages with the reply that
 * the client sends back. */
struct ancestor {
    struct uuid key;
    struct uuid reply_key;
    enum call_strategy same_system;
    enum call_strategy any_system;
};

static enum clew_status look(struct search *s, const struct ancestor *a,
                             bool by_reply, bool is_same_system)
{
    const struct call_digest *system =
        is_same_system && s->request->has_system ? &s->request->system : NULL;
    enum clew_status status;

    if (s->out->has_parent || uuid_is_nil(&a->key) ||
        (by_reply && uuid_is_nil(&a->reply_key))) {
        return CLEW_OK;
    }
    if (by_reply) {
        status = request_find_reply(s->tx, s->arena, s->request, &a->reply_key,
                                    system, &s->out->parent, s->err);
    } else {
        status = request_find_hash(s->tx, s->arena, s->request, &a->key, system,
                                   &s->out->parent, s->err);
    }
    return note(s, status, is_same_system ? a->same_system : a->any_system,
                by_reply
                    ? (system ? "messages, reply and system prompt"
                              : "messages and reply")
                    : (system ? "messages and system prompt" : "messages"));
}

/* A reply that came back is better evidence than an equal system prompt. */
static enum clew_status by_ancestor(struct search *s, const struct ancestor *a)
{
    enum clew_status status = look(s, a, true, true);

    if (status == CLEW_OK && s->request->has_system) {
        status = look(s, a, true, false);
    }
    if (status == CLEW_OK) {
        status = look(s, a, false, true);
    }
    if (status == CLEW_OK && s->request->has_system) {
        status = look(s, a, false, false);
    }
    return status;
}

static enum clew_status by_parent_hash(struct search *s)
{
    const struct request *r = s->request;
    struct ancestor parent = {
        request_key(&r->parent), r->parent_reply_key, CALL_EXACT,
        r->is_summarising ? CALL_SUMMARISATION : CALL_HASH_ONLY};

    return r->has_parent_hash ? by_ancestor(s, &parent) : CLEW_OK;
}

static enum clew_status by_grandparent(struct search *s)
{
    const struct request *r = s->request;
    struct ancestor grandparent = {r->grandparent_key, r->grandparent_reply_key,
                                   CALL_GRANDPARENT, CALL_GRANDPARENT};

    return by_ancestor(s, &grandparent);
}

/* Among those with the found one's messages, the one answered as told here. */
static enum clew_status prefer_reply(struct search *s)
{
    struct call_digest alone;
    struct uuid key;
    struct request better;
    enum clew_status status =
        s->sources->alone(s->sources->arg, s->tx,
                          (size_t)s->out->parent.message_count, &alone, s->err);

    if (status != CLEW_OK) {
        return status;
    }
    key = request_reply_key(&s->out->parent.current, &alone);
    status = request_find_reply(s->tx, s->arena, s->request, &key, NULL,
                                &better, s->err);
    if (status == CLEW_OK) {
        s->out->parent = better;
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

/* The longest prefix, of two messages or more, that was a request itself. */
static enum clew_status by_prefix(struct search *s)
{
    struct uuid *keys;
    size_t count;
    size_t end;
    enum clew_status status;

    if (s->request->message_count < 3) {
        return CLEW_OK;
    }
    status =
        s->sources->prefixes(s->sources->arg, s->tx, &keys, &count, s->err);
    end = count > 0 ? count - 1 : 0; /* all messages are no prefix */
    while (status == CLEW_OK && !s->out->has_parent && end > 1) {
        size_t from = end > PREFIX_CHUNK + 1 ? end - PREFIX_CHUNK : 1;

        status = request_find_longest(s->tx, s->arena, s->request, keys + from,
                                      end - from, &s->out->parent, s->err);
        if (status == CLEW_OK || from == 1) {
            status = note(s, status, CALL_PREFIX, "first messages");
        } else if (status == CLEW_NOT_FOUND) {
            status = CLEW_OK; /* shorter ones are still to be seen */
        }
        end = from;
    }
    if (status == CLEW_OK && s->out->has_parent) {
        status = prefer_reply(s);
    }
    return status;
}

static enum clew_status by_task(struct search *s)
{
    const struct request *r = s->request;

    if (uuid_is_nil(&r->prompt_key)) {
        return CLEW_OK;
    }
    return note(s,
                request_find_task(s->tx, s->arena, r, &r->prompt_key,
                                  r->created_at_ms - SUBTASK_WINDOW_MS,
                                  &s->out->parent, s->err),
                CALL_SUBTASK, "prompt of a sub-agent");
}

/* Read a candidate's reply again, to be sure. */
static enum clew_status holds_needle(struct search *s,
                                     const struct request *candidate,
                                     struct str needle, bool *out_holds)
{
    struct turn *turns;
    size_t count;
    struct buf normal;
    enum clew_status status;

    *out_holds = false;
    if (candidate->reply_seq == 0) {
        return CLEW_OK;
    }
    status =
        turn_list_line(s->tx, s->arena, &candidate->chat_id,
                       candidate->reply_seq - 1, 1, &turns, &count, s->err);
    if (status != CLEW_OK || count == 0) {
        return status;
    }
    buf_init(&normal, LIMIT_BODY_BYTES);
    status = call_compact_normalise(&normal, turns[0].text);
    *out_holds =
        status == CLEW_OK && str_find(buf_str(&normal), needle, 0) != SIZE_MAX;
    buf_release(&normal);
    return status;
}

static enum clew_status by_summary(struct search *s)
{
    const struct request *r = s->request;
    int64_t anchors[CALL_NEEDLE_ANCHORS];
    struct request *found = NULL;
    struct str needle;
    size_t count = 0;
    enum clew_status status;

    if (!r->is_compact) {
        return CLEW_OK;
    }
    status = s->sources->needle(s->sources->arg, s->tx, &needle, s->err);
    if (status == CLEW_OK && needle.s) {
        status = call_compact_lookup(s->arena, needle, anchors, &count);
    }
    if (status != CLEW_OK || count == 0) {
        return status;
    }
    status = request_find_anchors(s->tx, s->arena, r, anchors, count,
                                  r->created_at_ms - COMPACT_WINDOW_MS, &found,
                                  &count, s->err);
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        bool holds;

        status = holds_needle(s, &found[i], needle, &holds);
        if (status == CLEW_OK && holds) {
            s->out->parent = found[i];
            return note(s, CLEW_OK, CALL_COMPACT, "summary in a reply");
        }
    }
    return status == CLEW_OK
               ? note(s, CLEW_NOT_FOUND, CALL_COMPACT, "summary in a reply")
               : status;
}

typedef enum clew_status (*step_fn)(struct search *s);

static enum clew_status find_parent(struct search *s)
{
    static const step_fn single[] = {by_task, by_summary};
    static const step_fn several[] = {by_parent_hash, by_grandparent, by_prefix,
                                      by_summary};
    bool is_single = s->request->message_count == 1;
    const step_fn *steps = is_single ? single : several;
    size_t n_steps = is_single ? 2 : 4;
    struct str previous = s->request->call.previous_id;
    enum clew_status status = CLEW_OK;

    if (previous.len > 0) { /* the client says so itself */
        status = note(s,
                      request_find_response(s->tx, s->arena, s->request,
                                            previous, &s->out->parent, s->err),
                      CALL_EXACT, "previous_response_id");
    }
    for (size_t i = 0; i < n_steps && status == CLEW_OK && !s->out->has_parent;
         i++) {
        status = steps[i](s);
    }
    return status;
}

/* --- the branch ------------------------------------------------------------
 */

/* "branch_20261115023100" or "compact_023100", UTC. */
static struct str stamp(struct arena *arena, const char *kind, int64_t time_ms,
                        bool has_date)
{
    char t[CLOCK_TEXT_SIZE];
    char date[9] = "";

    clock_format(time_ms, t);
    if (has_date) {
        (void)snprintf(date, sizeof(date), "%.4s%.2s%.2s", t, t + 5, t + 8);
    }
    return str_of(arena_printf(arena, "%s_%s%.2s%.2s%.2s", kind, date, t + 11,
                               t + 14, t + 17));
}

static enum clew_status number_subtask(struct search *s)
{
    int64_t earlier = 0;
    enum clew_status status = request_count_subtasks(
        s->tx, s->request, &s->out->parent.conversation_id, &earlier, s->err);

    s->out->branch_why = "a sub-agent of the parent's reply";
    s->out->subtask_number = earlier + 1;
    s->out->branch =
        str_of(arena_printf(s->arena, "subtask_%lld", (long long)earlier + 1));
    return status;
}

static enum clew_status branch_of_child(struct search *s)
{
    struct call_decision *out = s->out;
    const struct uuid *key = &s->request->hash_key;
    enum clew_status status = request_find_child(
        s->tx, s->arena, s->request, &out->parent, NULL, &out->twin, s->err);

    out->branch = out->parent.branch;
    out->branch_why = "the parent's branch";
    if (status != CLEW_OK) { /* most often: it is the first child */
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    if (!uuid_eq(&out->twin.hash_key, key)) {
        status = request_find_child(s->tx, s->arena, s->request, &out->parent,
                                    key, &out->twin, s->err);
    }
    if (status == CLEW_OK) {
        out->has_twin = true;
        out->branch = out->twin.branch;
        out->branch_why = "the same messages again";
        return CLEW_OK;
    }
    if (status == CLEW_NOT_FOUND &&
        !str_starts(out->parent.branch, STR("compact_"))) {
        out->branch =
            stamp(s->arena, "branch", s->request->created_at_ms, true);
        out->branch_why = "the parent has another child";
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

/* Several messages are the same conversation again; a single one only if the
 * first attempt failed just now: "hi" is said every day. */
static bool is_retry_of(const struct request *r, const struct request *earlier)
{
    bool has_failed = earlier->call.status >= 400 ||
                      (earlier->call.status > 0 && !earlier->call.is_complete);

    if (!uuid_is_nil(&earlier->parent_id)) {
        return false;
    }
    return r->message_count > 1 ||
           (has_failed &&
            r->created_at_ms - earlier->created_at_ms <= RETRY_WINDOW_MS);
}

static enum clew_status branch_of_root(struct search *s)
{
    const struct request *r = s->request;
    struct call_decision *out = s->out;
    enum clew_status status = request_find_hash(
        s->tx, s->arena, r, &r->hash_key,
        r->has_system && r->message_count == 1 ? &r->system : NULL, &out->twin,
        s->err);

    out->branch = STR("main");
    out->branch_why = "a new conversation";
    if (status == CLEW_OK && is_retry_of(r, &out->twin)) {
        out->has_twin = true;
        out->branch = out->twin.branch;
        out->branch_why = "the same messages again";
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

static enum clew_status find_branch(struct search *s)
{
    struct call_decision *out = s->out;

    switch (out->strategy) {
    case CALL_NONE:
        return branch_of_root(s);
    case CALL_SUBTASK:
        return number_subtask(s);
    case CALL_COMPACT:
        out->branch =
            stamp(s->arena, "compact", s->request->created_at_ms, false);
        out->branch_why = "a compacted session goes on";
        return CLEW_OK;
    case CALL_EXACT:
    case CALL_SUMMARISATION:
    case CALL_HASH_ONLY:
    case CALL_GRANDPARENT:
    case CALL_PREFIX:
        return branch_of_child(s);
    }
    return CLEW_OK;
}

enum clew_status call_decide(struct store_tx *tx, struct arena *arena,
                             const struct request *request,
                             const struct call_sources *sources,
                             struct call_decision *out, struct clew_error *err)
{
    struct search search = {tx, arena, request, sources, out, err};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    status = find_parent(&search);
    if (status == CLEW_OK) {
        status = find_branch(&search);
    }
    if (status == CLEW_OK && !out->branch.s) {
        return clew_no_memory(err);
    }
    return status;
}

void call_apply(const struct call_decision *decision, struct request *request)
{
    const struct request *parent = &decision->parent;
    const struct request *twin = &decision->twin;

    request->strategy = str_of(call_strategy_name(decision->strategy));
    request->subtask_number = decision->subtask_number;
    request->parent_id = (struct uuid){{0}};
    request->parent_origin_id = (struct uuid){{0}};
    request->origin_id = request->id;
    if (decision->has_parent) {
        request->parent_id = parent->id;
        request->parent_origin_id = parent->origin_id;
        request->conversation_id = parent->conversation_id;
    }
    if (decision->has_twin) {
        request->conversation_id = twin->conversation_id;
        if (uuid_eq(&twin->reply_key, &request->reply_key) ||
            uuid_is_nil(&twin->reply_key) || uuid_is_nil(&request->reply_key)) {
            request->origin_id = twin->origin_id;
        }
    }
    if (decision->has_parent || decision->has_twin) {
        request->branch = decision->branch;
    }
}
