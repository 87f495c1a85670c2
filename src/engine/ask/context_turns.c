/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_turns.c - the turns of a context: recent ones, and those of the
 * effort at work that are older.
 *
 * The recent window starts at a multiple of STEP, so that successive contexts
 * share all turns but the newest. Turns of an effort that is collapsed are left
 * out: its summary stands in the block. An effort whose older turns take more
 * than 70 % of its share is put short from its oldest exchanges on (a
 * checkpoint); over 90 % turn by turn until it fits.
 */
#include "engine/ask/context_internal.h"

#include "base/utf8.h"
#include "engine/core/budget.h"
#include "engine/core/rows.h"
#include "engine/effort/effort_fork.h"
#include "engine/effort/effort_skill.h"
#include "store/db.h"
#include "text/machine.h"

#include <ctype.h>
#include <string.h>

#define RECENT_TURNS 10
#define STEP 20
/* These stay in view whatever they belong to: the talk itself. */
#define ALWAYS_TURNS 2
#define MAX_EFFORT_TURNS 200
#define MAX_RANGES 64
/* Of a huge turn only its ends are read. */
#define HEAD_CHARS 32768
#define TAIL_CHARS 4096
#define CHECKPOINT_TOKENS 24
/* An exchange is put short as a whole. */
#define EXCHANGE 2
/* What an effort came to, as its parent is told. */
#define RESULT_TOKENS 100
/* What worked before, as the one who works on it is told. */
#define SKILL_TOKENS 160
/* Efforts above one that are told. */
#define MAX_GOALS 8

DB_SQL(SELECT_SPAWNED, "SELECT memory_id FROM efforts WHERE tenant = $1"
                       " AND thread_id = $2 AND is_spawned = 1 LIMIT 1");
DB_SQL(SELECT_TURNS,
       "SELECT seq, role, name, SUBSTR(text, 1, CAST($6 AS INTEGER)), CASE"
       " WHEN LENGTH(text) > $6 THEN SUBSTR(text, LENGTH(text) -"
       " CAST($7 AS INTEGER) + 1) ELSE NULL END"
       " FROM turns WHERE tenant = $1 AND chat_id = $2 AND seq > $3 AND seq <="
       " $4 AND role IN ('user', 'assistant') ORDER BY seq DESC LIMIT $5");
/* What collapsed efforts own in the stretch that is shown; one that was
 * resolved and says not how has only its turns to tell it. */
DB_SQL(SELECT_HIDDEN,
       "SELECT r.first_seq, r.last_seq FROM efforts e JOIN memories m"
       " ON m.tenant = e.tenant AND m.id = e.memory_id JOIN memory_refs r"
       " ON r.tenant = e.tenant AND r.memory_id = e.memory_id AND r.chat_id ="
       " e.thread_id WHERE e.tenant = $1 AND e.thread_id = $2 AND"
       " e.last_seq >= $3 AND e.state = 'collapsed' AND m.parent_id IS NULL"
       " AND m.retracted_at IS NULL AND r.last_seq >= $3 AND NOT"
       " (m.status = 'resolved' AND coalesce(m.resolution, '') = '') LIMIT $4");
struct said {
    int64_t seq;
    struct str role;
    struct str name;
    struct str text;
    struct uuid chat_id;
};

struct range {
    int64_t first_seq;
    int64_t last_seq;
};

static bool said_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct said *out = item;
    struct str head = db_get_text(rows, 3);

    out->seq = db_get_int(rows, 0);
    if (!rows_text(arena, rows, 1, &out->role) ||
        !rows_text(arena, rows, 2, &out->name)) {
        return false;
    }
    if (db_is_null(rows, 4)) {
        return rows_text(arena, rows, 3, &out->text);
    }
    out->text = str_of(arena_printf(arena, "%.*s […] %.*s", (int)head.len,
                                    head.s, (int)db_get_text(rows, 4).len,
                                    db_get_text(rows, 4).s));
    return out->text.s != NULL;
}

static bool range_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct range *out = item;

    (void)arena;
    out->first_seq = db_get_int(rows, 0);
    out->last_seq = db_get_int(rows, 1);
    return true;
}

/* One blank or line break in place of each run of them. */
static struct str squeezed(char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        bool is_blank = isspace((unsigned char)text[i]) != 0;

        if (is_blank && n > 0 && isspace((unsigned char)text[n - 1])) {
            text[n - 1] = text[i] == '\n' ? '\n' : text[n - 1];
        } else {
            text[n++] = text[i];
        }
    }
    return str_trim((struct str){text, n});
}

/* What clients wrote in a person's name, and tales of a compacted talk, are no
 * part of it: turns without them, those that were nothing else left out. */
static enum clew_status without_machine(struct arena *arena,
                                        struct rows_list *list, size_t from)
{
    struct said *items = list->items;
    size_t n = from;

    for (size_t i = from; i < list->count; i++) {
        struct said said = items[i];
        bool is_user = str_eq(said.role, STR("user"));
        struct str text = said.text;

        if (is_user && machine_blank(arena, said.text, &text) != CLEW_OK) {
            return CLEW_NO_MEMORY;
        }
        if (text.s != said.text.s) {
            char *copy = arena_copy(arena, text.s, text.len);

            if (!copy) {
                return CLEW_NO_MEMORY;
            }
            said.text = squeezed(copy, text.len);
        }
        if (said.text.len > 0 && (is_user || !machine_is_tale(said.text))) {
            items[n++] = said;
        }
    }
    list->count = n;
    return CLEW_OK;
}

/* Turns (after, to] of the chat's line, the newest first. */
static enum clew_status read_said(struct store_tx *tx, struct builder *b,
                                  int64_t after_seq, int64_t to_seq,
                                  int64_t limit, struct rows_list *list,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = b->n_line; i-- > 0 && status == CLEW_OK;) {
        const struct chat_part *part = &b->line[i];
        int64_t after =
            part->after_seq > after_seq ? part->after_seq : after_seq;
        int64_t to =
            i + 1 < b->n_line && part->to_seq < to_seq ? part->to_seq : to_seq;
        size_t from = list->count;

        if (after >= to || (int64_t)from >= limit) {
            continue;
        }
        status = rows_add(tx, list, &SELECT_TURNS,
                          DB_ARGS(db_uuid(&part->chat_id), db_int(after),
                                  db_int(to), db_int(limit - (int64_t)from),
                                  db_int(HEAD_CHARS), db_int(TAIL_CHARS)),
                          err);
        for (size_t k = from; status == CLEW_OK && k < list->count; k++) {
            ((struct said *)list->items)[k].chat_id = part->chat_id;
        }
        if (status == CLEW_OK &&
            without_machine(b->arena, list, from) != CLEW_OK) {
            status = clew_no_memory(err);
        }
    }
    return status;
}

/* "user #12: text", cut to a size that depends on nothing but the budget. */
static bool turn_line(struct builder *b, const struct said *said,
                      size_t max_tokens, struct context_line *out)
{
    struct str who = turn_who(b->arena, said->name, said->role);
    struct str body = budget_fit(b->arena, said->text, max_tokens);
    struct str shown = context_inset(b->arena, body);
    const char *text = arena_printf(
        b->arena, "%.*s #%lld%s: %.*s", (int)who.len, who.s,
        (long long)said->seq,
        memory_reads_like_instruction(said->name) ? MEMORY_ORDER_MARK : "",
        (int)shown.len, shown.s);

    *out = (struct context_line){
        .text = str_of(text),
        .body = body,
        .role = str_eq(said->role, STR("user")) ? TURN_USER : TURN_ASSISTANT,
        .is_turn = true,
        .source =
            context_source(b->arena, &said->chat_id, said->seq, said->seq)};
    return body.s && shown.s && who.s && out->source.s && text;
}

/* --- recent ----------------------------------------------------------------
 */

static bool is_hidden(const struct range *ranges, size_t count, int64_t seq)
{
    for (size_t i = 0; i < count; i++) {
        if (seq >= ranges[i].first_seq && seq <= ranges[i].last_seq) {
            return true;
        }
    }
    return false;
}

/* Counted once. */
static size_t line_tokens(struct context_line *line)
{
    if (line->tokens == 0) {
        line->tokens = context_tokens(line->text);
    }
    return line->tokens;
}

/* How many of the newest lines fit; at a step if one is in reach. */
static size_t fitting(struct context_line *lines, const struct said *said,
                      size_t count, size_t max_tokens)
{
    size_t sum = 0;
    size_t fit = 0;
    size_t at_step = 0;

    for (size_t i = 0; i < count; i++) { /* the newest first */
        sum += line_tokens(&lines[i]) + 8;
        if (sum > max_tokens) {
            return at_step > 0 ? at_step : fit;
        }
        fit = i + 1;
        at_step = said[i].seq % (STEP / 2) == 1 ? fit : at_step;
    }
    return count;
}

/* What collapsed efforts own of the chats above a fork, as it sees them. */
static enum clew_status hidden_above(struct store_tx *tx, struct builder *b,
                                     struct range **out, size_t *out_count,
                                     struct clew_error *err)
{
    struct effort *efforts = NULL;
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    struct uuid *ids;
    size_t count = 0;
    size_t n_refs = 0;
    size_t n = 0;
    enum clew_status status = effort_list_line(
        tx, b->arena, &b->chat, b->chat.last_seq, true, &efforts, &count, err);

    ids = arena_zero(b->arena, count + 1, sizeof(*ids));
    if (status == CLEW_OK && !ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        bool is_untold = str_eq(efforts[i].status, STR("resolved")) &&
                         efforts[i].resolution.len == 0;

        if (efforts[i].state == EFFORT_COLLAPSED && !is_untold &&
            uuid_is_nil(&efforts[i].parent_id) && !efforts[i].is_spawned) {
            ids[n++] = efforts[i].memory_id;
        }
    }
    if (status == CLEW_OK) {
        status =
            memory_refs(tx, b->arena, ids, n, &owners, &refs, &n_refs, err);
    }
    *out = arena_zero(b->arena, n_refs + 1, sizeof(**out));
    if (status == CLEW_OK && !*out) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n_refs; i++) {
        struct memory_ref ref = refs[i];

        if (effort_clip(&b->sight, &ref)) {
            (*out)[(*out_count)++] =
                (struct range){ref.first_seq, ref.last_seq};
        }
    }
    return status;
}

static enum clew_status recent(struct store_tx *tx, struct builder *b,
                               struct clew_error *err)
{
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct said), .fn = said_of};
    struct rows_list hidden = {
        .arena = b->arena, .size = sizeof(struct range), .fn = range_of};
    int64_t last = b->chat.last_seq;
    int64_t from =
        last > RECENT_TURNS ? (last - RECENT_TURNS) / STEP * STEP + 1 : 1;
    size_t share = b->shares[CONTEXT_RECENT];
    struct range *above = NULL;
    size_t n_above = 0;
    struct context_line *lines;
    const struct said *said;
    size_t n = 0;
    size_t fit;
    bool is_ok;
    enum clew_status status =
        read_said(tx, b, from - 1, last, RECENT_TURNS + STEP, &list, err);

    if (status == CLEW_OK) {
        status = rows_add(
            tx, &hidden, &SELECT_HIDDEN,
            DB_ARGS(db_uuid(&b->chat.id), db_int(from), db_int(MAX_RANGES)),
            err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&b->chat.parent_id)) {
        status = hidden_above(tx, b, &above, &n_above, err);
    }
    lines = arena_zero(b->arena, list.count + 1, sizeof(*lines));
    if (status != CLEW_OK || !lines) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    said = list.items;
    is_ok = true;
    for (size_t i = 0; is_ok && i < list.count; i++) {
        if (i >= ALWAYS_TURNS &&
            (is_hidden(hidden.items, hidden.count, said[i].seq) ||
             is_hidden(above, n_above, said[i].seq))) {
            continue;
        }
        ((struct said *)list.items)[n] = said[i];
        is_ok = turn_line(b, &said[i], share / 3, &lines[n++]);
    }
    fit = is_ok ? fitting(lines, said, n, share) : 0;
    b->recent_from = fit > 0 ? said[fit - 1].seq : last + 1;
    for (size_t i = fit; is_ok && i-- > 0;) {
        is_ok = context_add(b, CONTEXT_RECENT, &lines[i]);
    }
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* --- the effort at work ----------------------------------------------------
 */

/* The first sentence that says something, cut short. */
static struct str gist(struct arena *arena, struct str text)
{
    struct str part = str_trim(utf8_head(text, 2000));
    size_t end = part.len;

    for (size_t i = 20; i < part.len; i++) {
        if (strchr(".!?\n", part.s[i]) &&
            (i + 1 == part.len || part.s[i + 1] == ' ' || part.s[i] == '\n')) {
            end = i;
            break;
        }
    }
    return budget_fit(arena, str_sub(part, 0, end), CHECKPOINT_TOKENS);
}

static bool checkpoint_line(struct builder *b, const struct said *said,
                            struct context_line *out)
{
    struct str text = gist(b->arena, said->text);
    const char *line = arena_printf(
        b->arena, "- [checkpoint] %.*s: %.*s (#%lld)", (int)said->role.len,
        said->role.s, (int)text.len, text.s, (long long)said->seq);

    *out =
        (struct context_line){.text = str_of(line),
                              .source = context_source(b->arena, &said->chat_id,
                                                       said->seq, said->seq)};
    return line && text.s && out->source.s;
}

/* Turns of the effort before the recent ones, the newest first. */
static enum clew_status effort_turns(struct store_tx *tx, struct builder *b,
                                     const struct effort *effort,
                                     struct rows_list *list,
                                     struct clew_error *err)
{
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t count = 0;
    enum clew_status status = memory_refs(tx, b->arena, &effort->memory_id, 1,
                                          &owners, &refs, &count, err);

    for (size_t i = count;
         status == CLEW_OK && i-- > 0 && list->count < MAX_EFFORT_TURNS;) {
        struct memory_ref ref = refs[i];
        bool is_here = effort_clip(&b->sight, &ref);
        int64_t to =
            ref.last_seq < b->recent_from ? ref.last_seq : b->recent_from - 1;

        if (is_here && to >= ref.first_seq) {
            status = read_said(tx, b, ref.first_seq - 1, to, MAX_EFFORT_TURNS,
                               list, err);
        }
    }
    return status;
}

/* How it ended, for its parent. */
static struct str outcome_of(const struct effort *effort)
{
    if (effort->outcome.s) {
        return effort->outcome;
    }
    return str_eq(effort->status, STR("abandoned")) ? STR("given_up")
                                                    : effort->status;
}

/* What it came to, in about a hundred tokens; empty if it is not said. */
static struct str result_of(struct builder *b, const struct effort *effort)
{
    struct str flat = effort->resolution.len
                          ? context_flat(b->arena, effort->resolution)
                          : STR("");

    return flat.len ? budget_fit(b->arena, flat, RESULT_TOKENS) : STR("");
}

static enum clew_status add_attempts(struct store_tx *tx, struct builder *b,
                                     const struct effort *effort,
                                     struct clew_error *err)
{
    struct effort *attempts = NULL;
    size_t count = 0;
    bool is_ok = true;
    enum clew_status status = effort_attempts_line(
        tx, b->arena, &b->sight, effort, &attempts, &count, err);

    for (size_t i = 0; status == CLEW_OK && is_ok && i < count; i++) {
        const struct effort *attempt = &attempts[i];
        struct str outcome = outcome_of(attempt);
        struct str result = result_of(b, attempt);
        const char *text = arena_printf(
            b->arena, "- [attempt:%.*s] %.*s%s%.*s (#%lld)", (int)outcome.len,
            outcome.s, (int)attempt->summary.len, attempt->summary.s,
            result.len ? " => " : "", (int)result.len, result.s,
            (long long)attempt->first_seq);
        struct context_line line = {
            .text = str_of(text),
            .source = context_source(b->arena, &attempt->thread_id,
                                     attempt->first_seq, attempt->last_seq)};

        is_ok = text && line.source.s && context_add(b, CONTEXT_EFFORT, &line);
    }
    return status == CLEW_OK && !is_ok ? clew_no_memory(err) : status;
}

/* What worked for such efforts before. */
static enum clew_status add_skill(struct store_tx *tx, struct builder *b,
                                  const struct effort *effort,
                                  struct clew_error *err)
{
    struct context_line line = {0};
    struct memory skill;
    struct str problem;
    struct str steps;
    char id[UUID_TEXT_SIZE];
    enum clew_status status =
        effort_skill_of(tx, b->arena, &effort->memory_id, &skill, NULL);

    if (status == CLEW_NOT_FOUND || !effort->is_open) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the skill");
    }
    problem = context_flat(b->arena, skill.summary);
    steps = context_flat(b->arena, skill.resolution);
    steps = steps.len ? budget_fit(b->arena, steps, SKILL_TOKENS) : steps;
    uuid_format(&skill.id, id);
    line.text = str_of(arena_printf(
        b->arena, "- [skill] What worked before for \"%.*s\": %.*s",
        (int)problem.len, problem.s, (int)steps.len, steps.s));
    line.source = str_of(arena_printf(b->arena, "memory:%s", id));
    return problem.s && steps.s && line.text.s && line.source.s &&
                   context_add(b, CONTEXT_EFFORT, &line)
               ? CLEW_OK
               : clew_no_memory(err);
}

/* Turns as they were said, from the newest on, while they keep within 70 % of
 * the share; before those, checkpoints. */
static enum clew_status add_effort_turns(struct builder *b,
                                         const struct said *said, size_t count,
                                         size_t share, struct clew_error *err)
{
    struct context_line *lines =
        arena_zero(b->arena, count + 1, sizeof(*lines));
    size_t sum = 0;
    size_t n_whole = 0;
    size_t n_lines = 0;
    bool is_ok = lines != NULL;

    for (size_t i = 0; is_ok && i < count; i++) {
        is_ok = turn_line(b, &said[i], share / 3, &lines[i]);
        sum += is_ok ? line_tokens(&lines[i]) + 8 : 0;
        if (sum > share * 7 / 10) {
            break;
        }
        n_whole = i + 1;
    }
    if (n_whole < count) {
        n_whole -= n_whole % EXCHANGE;
    }
    sum = 0;
    for (size_t i = 0; is_ok && i < n_whole; i++) {
        sum += line_tokens(&lines[i]) + 8;
    }
    n_lines = n_whole;
    for (size_t i = n_whole; is_ok && i < count; i++) {
        is_ok = checkpoint_line(b, &said[i], &lines[i]);
        sum += is_ok ? line_tokens(&lines[i]) : 0;
        if (sum > share * 9 / 10) {
            break; /* forced: what is older stays in the log only */
        }
        n_lines = i + 1;
    }
    for (size_t i = n_lines; is_ok && i-- > 0;) {
        is_ok = context_add(b, CONTEXT_EFFORT, &lines[i]);
    }
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* The effort whose thread this chat is; id nil if it is none's. */
static enum clew_status find_spawned(struct store_tx *tx, struct builder *b,
                                     struct effort *out, struct clew_error *err)
{
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    if (!str_eq(b->chat.branch, STR("effort"))) {
        return CLEW_OK;
    }
    status = rows_add(tx, &list, &SELECT_SPAWNED, DB_ARGS(db_uuid(&b->chat.id)),
                      err);
    return status == CLEW_OK && list.count > 0
               ? effort_find(tx, b->arena, list.items, out, err)
               : status;
}

/* One who works in an effort's own thread knows what for: its goal, and those
 * it is part of, and how it ended if it did. */
static enum clew_status add_goals(struct store_tx *tx, struct builder *b,
                                  const struct effort *spawned,
                                  struct clew_error *err)
{
    struct effort at = *spawned;
    enum clew_status status = CLEW_OK;

    for (int depth = 0; status == CLEW_OK && depth < MAX_GOALS; depth++) {
        struct str goal = context_flat(b->arena, at.summary);
        struct str result =
            depth == 0 && !at.is_open ? result_of(b, &at) : STR("");
        char id[UUID_TEXT_SIZE];
        struct context_line line = {0};

        goal = goal.len ? budget_fit(b->arena, goal, RESULT_TOKENS) : goal;
        uuid_format(&at.memory_id, id);
        line.text = str_of(
            arena_printf(b->arena, "- [%s] %.*s%s%.*s",
                         depth == 0 ? "goal" : "part of", (int)goal.len, goal.s,
                         result.len ? " => " : "", (int)result.len, result.s));
        line.source = str_of(arena_printf(b->arena, "memory:%s", id));
        line.tokens = 0;
        if (!goal.s || !line.text.s || !line.source.s ||
            !context_add(b, CONTEXT_EFFORT, &line)) {
            return clew_no_memory(err);
        }
        if (uuid_is_nil(&at.parent_id)) {
            break;
        }
        status = effort_find(tx, b->arena, &at.parent_id, &at, NULL);
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status; /* forgotten above */
}

static enum clew_status effort(struct store_tx *tx, struct builder *b,
                               struct clew_error *err)
{
    struct effort spawned;
    struct rows_list list = {
        .arena = b->arena, .size = sizeof(struct said), .fn = said_of};
    struct effort *efforts = NULL;
    const struct effort *active = NULL;
    struct str title;
    size_t count = 0;
    enum clew_status status = effort_list_line(
        tx, b->arena, &b->chat, b->chat.last_seq, false, &efforts, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < count && !active; i++) {
        active = efforts[i].state != EFFORT_COLLAPSED ? &efforts[i] : NULL;
    }
    if (status == CLEW_OK) {
        status = find_spawned(tx, b, &spawned, err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&spawned.memory_id)) {
        active = &spawned;
        status = add_goals(tx, b, &spawned, err);
    }
    if (status != CLEW_OK || !active) {
        return status;
    }
    title = context_flat(b->arena, active->summary);
    b->out->parts[CONTEXT_EFFORT].head = str_of(arena_printf(
        b->arena, "## Working on: %.*s%s", (int)title.len, title.s,
        memory_reads_like_instruction(title) ? MEMORY_ORDER_MARK : ""));
    if (!title.s || !b->out->parts[CONTEXT_EFFORT].head.s) {
        return clew_no_memory(err);
    }
    status = add_skill(tx, b, active, err);
    if (status == CLEW_OK) {
        status = effort_turns(tx, b, active, &list, err);
    }
    if (status == CLEW_OK) {
        status = add_effort_turns(b, list.items, list.count,
                                  b->shares[CONTEXT_EFFORT], err);
    }
    return status == CLEW_OK ? add_attempts(tx, b, active, err) : status;
}

enum clew_status context_turns(struct store_tx *tx, struct builder *b,
                               struct clew_error *err)
{
    enum clew_status status = recent(tx, b, err);

    return status == CLEW_OK ? effort(tx, b, err) : status;
}
