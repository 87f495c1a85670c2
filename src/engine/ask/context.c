/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - a context from its sections, in order. See context.h.
 */
#include "engine/ask/context.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/utf8.h"
#include "engine/ask/context_internal.h"
#include "engine/ask/search.h"
#include "engine/core/budget.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"
#include "text/token.h"

#include <string.h>

/* The most of the budget each section may take, in per cent, without and with a
 * message at hand: the talk itself comes first. What the others leave, recall
 * may use. */
static const size_t shares[2][CONTEXT_SECTIONS] = {{30, 5, 15, 50, 0},
                                                   {20, 5, 15, 50, 10}};
/* Tokens a recalled line takes at least, for how many to ask for. */
#define RECALL_LINE_TOKENS 24
#define RECALL_MIN 8
#define RECALL_MAX 300
/* A long message asks by its beginning. */
#define RECALL_QUERY_BYTES 8192
/* A recalled turn is an excerpt; the first are shown whole up to so much, for
 * what was asked may stand beside what matched. */
#define RECALL_TURN_TOKENS 160
#define RECALL_WHOLE 2
#define RECALL_WHOLE_TOKENS 320
#define DATE_BYTES 10 /* of an RFC 3339 time */

/* --- recall ----------------------------------------------------------------
 */

static bool is_in_block(const struct builder *b, struct str summary)
{
    const struct context_part *part = &b->out->parts[CONTEXT_MEMORY];

    for (size_t i = 0; i < part->count; i++) {
        if (str_find(part->lines[i].text, summary, 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* Is the turn shown already, or the message itself? */
static bool is_shown(const struct builder *b, const struct search_hit *hit)
{
    if (str_eq(hit->turn->text, b->request->message)) {
        return true;
    }
    for (size_t s = CONTEXT_EFFORT; s <= CONTEXT_RECENT; s++) {
        const struct context_part *part = &b->out->parts[s];

        for (size_t i = 0; i < part->count; i++) {
            if (str_eq(part->lines[i].source, hit->source_ref)) {
                return true;
            }
        }
    }
    return false;
}

/* Its turns, or "memory:<id>" of one that cites none; s == NULL: there was no
 * memory. */
static struct str source_of(struct builder *b, const struct search_hit *hit)
{
    char id[UUID_TEXT_SIZE];

    if (hit->source_ref.s || !hit->memory) {
        return hit->source_ref;
    }
    uuid_format(&hit->memory->id, id);
    return str_of(arena_printf(b->arena, "memory:%s", id));
}

static bool recall_memory(struct builder *b, const struct search_hit *hit,
                          struct context_line *out)
{
    const struct memory *memory = hit->memory;
    size_t colon = str_find(hit->source_ref, STR(":"), 0);
    int64_t first = 0;
    int64_t last = 0;
    struct uuid chat;
    struct str place = hit->source_ref;
    struct str end = memory_end(memory);
    const char *mark = "contributed";
    const char *text;

    /* "<chat id>:lines-15-42" */
    if (place.s && colon != SIZE_MAX &&
        uuid_parse(str_sub(place, 0, colon), &chat)) {
        struct str lines = str_sub(place, colon + 7, place.len);
        struct str part;

        if (str_split(&lines, '-', &part) && str_parse_int(part, &first) &&
            str_split(&lines, '-', &part) && str_parse_int(part, &last)) {
            mark = context_mark(b, &chat, first, last);
        }
    }
    text = arena_printf(b->arena, "- [%.*s] %.*s%s%.*s (%s)",
                        (int)memory->type.len, memory->type.s,
                        (int)memory->summary.len, memory->summary.s,
                        end.len ? " => " : "", (int)end.len, end.s ? end.s : "",
                        mark ? mark : "");
    *out = (struct context_line){
        .text = text ? budget_fit(b->arena, str_of(text), RECALL_TURN_TOKENS)
                     : (struct str){0},
        .source = source_of(b, hit)};
    return out->text.s && out->source.s;
}

static bool recall_turn(struct builder *b, const struct search_hit *hit,
                        bool is_whole, struct context_line *out)
{
    const struct turn *turn = hit->turn;
    struct str who =
        turn_who(b->arena, turn->name, str_of(turn_role_name(turn->role)));
    struct str body =
        is_whole && !hit->has_input && !hit->is_partly &&
                context_tokens(turn->text) <= RECALL_WHOLE_TOKENS
            ? turn->text
            : budget_fit(b->arena, str_trim(hit->text), RECALL_TURN_TOKENS);
    char when[CLOCK_TEXT_SIZE];
    const char *mark = context_mark(b, &turn->chat_id, turn->seq, turn->seq);
    const char *text;

    clock_format(turn->created_at_ms, when);
    text = arena_printf(b->arena, "- %.*s %.*s%s%s: %.*s (%s)", DATE_BYTES,
                        when, (int)who.len, who.s,
                        hit->is_superseded ? " [held before]" : "",
                        search_is_order(hit) ? MEMORY_ORDER_MARK : "",
                        (int)body.len, body.s, mark ? mark : "");
    *out =
        (struct context_line){.text = str_of(text), .source = hit->source_ref};
    return who.s && body.s && mark && text;
}

static void leave_hit(struct builder *b, const struct search_hit *hit,
                      enum context_why why)
{
    struct str source = source_of(b, hit);

    if (source.s) { /* else it is not named */
        context_leave(b->out, &(struct context_left){.section = CONTEXT_RECALL,
                                                     .why = why,
                                                     .source = source,
                                                     .score = hit->item.score});
    }
}

/* May a hit be told? If not, why. */
static bool is_told(const struct builder *b, const struct search_hit *hit,
                    enum context_why *out_why)
{
    bool is_given =
        hit->memory ? is_in_block(b, hit->memory->summary) : is_shown(b, hit);
    bool has_held = hit->memory && hit->is_superseded;
    /* a turn is told with a mark: somebody said it */
    bool is_order = !hit->turn && search_is_order(hit);

    *out_why = has_held   ? CONTEXT_HELD
               : is_order ? CONTEXT_ORDER
                          : CONTEXT_GIVEN;
    return !has_held && !is_order && !is_given;
}

static enum clew_status add_hit(struct builder *b, const struct search_hit *hit,
                                bool is_whole, size_t *left,
                                struct clew_error *err)
{
    struct context_line line = {0};
    enum context_why why;
    size_t tokens;
    bool is_ok;

    if (!is_told(b, hit, &why)) {
        leave_hit(b, hit, why);
        return CLEW_OK;
    }
    is_ok = hit->memory ? recall_memory(b, hit, &line)
                        : recall_turn(b, hit, is_whole, &line);
    if (!is_ok) {
        return clew_no_memory(err);
    }
    tokens = context_tokens(line.text);
    if (tokens > *left) {
        leave_hit(b, hit, CONTEXT_ROOM);
        return CLEW_OK; /* a shorter one may still fit */
    }
    *left -= tokens;
    return context_add(b, CONTEXT_RECALL, &line) ? CLEW_OK
                                                 : clew_no_memory(err);
}

/* "ok", "thanks", "go on" ask for nothing. */
static enum clew_status asks_something(struct builder *b, struct str message,
                                       bool *out_asks, struct clew_error *err)
{
    struct tokens tokens;

    *out_asks = false;
    if (tokens_of(b->arena, message, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < tokens.count && !*out_asks; i++) {
        const struct token *token = &tokens.items[i];

        *out_asks = token->kind != TOKEN_PUNCT && token->kind != TOKEN_SYMBOL &&
                    !(token->flags & (TOKEN_STOP | TOKEN_CHAT));
    }
    return CLEW_OK;
}

static enum clew_status context_recall(struct builder *b,
                                       struct clew_error *err)
{
    struct search_query query = {
        .query = utf8_head(b->request->message, RECALL_QUERY_BYTES),
        .user_id = b->chat.user_id,
        .kinds = RECALL_TURN | RECALL_MEMORY,
        .is_floored = true,
        .has_unread = true,
        .is_one_matter = true,
        .since_ms = INT64_MIN,
        .until_ms = INT64_MAX,
        .at_ms = b->now_ms,
        .ahead_ms = SEARCH_AHEAD_MS,
        .asked_in = b->chat.id,
        .seen_from = b->is_parted ? b->chat.id : (struct uuid){{0}}};
    struct search_result found;
    size_t left = (size_t)b->request->budget_tokens;
    bool asks;
    enum clew_status status = asks_something(b, query.query, &asks, err);

    query.read_ms = config_int(b->engine->config, "context.read_ms");
    query.is_fast = query.read_ms == 0;
    if (status != CLEW_OK || !asks) {
        return status;
    }
    for (size_t i = 0; i < CONTEXT_RECALL; i++) {
        context_sum(&b->out->parts[i]);
        left -= b->out->parts[i].tokens < left ? b->out->parts[i].tokens : left;
    }
    left -= left > 16 ? 16 : left; /* heading */
    query.limit = left / RECALL_LINE_TOKENS;
    query.limit = query.limit < RECALL_MIN   ? RECALL_MIN
                  : query.limit > RECALL_MAX ? RECALL_MAX
                                             : query.limit;
    status = search_run(b->engine, b->scope, b->arena, &query, &found, err);
    /* what holds, and where there is room what held before it */
    for (int was = 0; was < 2; was++) {
        for (size_t i = 0; status == CLEW_OK && i < found.count; i++) {
            if (found.hits[i].is_superseded == (was == 1)) {
                status = add_hit(b, &found.hits[i], i < RECALL_WHOLE && !was,
                                 &left, err);
            }
        }
    }
    for (size_t i = 0; status == CLEW_OK && i < found.n_below; i++) {
        leave_hit(b, found.below[i],
                  found.below[i]->is_unsaid  ? CONTEXT_UNSAID
                  : found.below[i]->is_aside ? CONTEXT_ASIDE
                                             : CONTEXT_FAR);
    }
    return status;
}

/* --- the whole -------------------------------------------------------------
 */

static enum clew_status read_sections(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    struct builder *b = arg;
    enum clew_status status =
        chat_find(tx, b->arena, &b->request->chat_id, &b->chat, err);

    memset(b->out, 0, sizeof(*b->out));
    if (status == CLEW_OK) {
        status =
            chat_line(tx, b->arena, &b->chat.id, &b->line, &b->n_line, err);
    }
    if (status == CLEW_OK) {
        status = sight_open(tx, b->arena, &b->chat, &b->sight, err);
    }
    if (status == CLEW_OK) {
        status = sight_is_parted(tx, &b->chat, &b->is_parted, err);
    }
    if (status == CLEW_OK) {
        status = context_block(tx, b, err);
    }
    if (status == CLEW_OK) {
        status = context_continuity(tx, b, err);
    }
    return status == CLEW_OK ? context_turns(tx, b, err) : status;
}

enum clew_status context_build(struct engine *engine, const struct scope *scope,
                               struct arena *arena,
                               const struct context_request *request,
                               struct context *out, struct clew_error *err)
{
    struct context_request asked = *request;
    struct builder b = {.engine = engine,
                        .scope = scope,
                        .arena = arena,
                        .request = &asked,
                        .out = out,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status;

    if (asked.budget_tokens == 0) {
        asked.budget_tokens =
            config_int(engine->config, "context.budget_tokens");
    }
    if (asked.budget_tokens < CONTEXT_MIN_TOKENS ||
        asked.budget_tokens > CONTEXT_MAX_TOKENS) {
        return clew_fail_field(err, "budget_tokens",
                               "\"budget_tokens\" must be %d to %d",
                               CONTEXT_MIN_TOKENS, CONTEXT_MAX_TOKENS);
    }
    for (size_t i = 0; i < CONTEXT_SECTIONS; i++) {
        b.shares[i] = (size_t)asked.budget_tokens *
                      shares[asked.message.len > 0][i] / 100;
    }
    status = store_read(engine->store, scope, read_sections, &b, err);
    if (status == CLEW_OK && asked.message.len > 0) {
        status = context_recall(&b, err);
    }
    return status == CLEW_OK ? context_assemble(&b, err) : status;
}
