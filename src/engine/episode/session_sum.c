/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_sum.c - sum a session up. See session_sum.h.
 */
#include "engine/episode/session_sum.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/chat/session.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/memory/memory.h"
#include "engine/read/reading.h"
#include "store/db.h"
#include "text/settled.h"
#include "text/summary_points.h"

#include <string.h>

/* Turns of a session that its summary speaks of, the last ones. */
#define MAX_SUMMED 200
#define MAX_KEPT 40
/* Notes that are looked at, and those told before what was said beside them. */
#define MAX_NOTES 200
#define MAX_NOTES_FIRST 3
#define SUMMARY_BYTES 8000
/* Said of each kind, what was kept and what was said together. */
#define MAX_SAID 5
/* … of each the first words, in columns: those of ideographs say as much. */
#define SAID_COLUMNS 240
/* Turns that are not read yet are, soon; those of an import in hours. */
#define MIN_UNREAD_WAIT_MS 3000LL
#define MAX_UNREAD_WAIT_MS (10 * CLOCK_MINUTE_MS)

/* From the end of the chat backwards: a session that just ended is there. */
DB_SQL(SELECT_LAST_SEQ,
       "SELECT seq FROM turns WHERE tenant = $1 AND chat_id = $2"
       " AND session_id = $3 ORDER BY seq DESC LIMIT 1");
DB_SQL(SELECT_UNREAD, "SELECT 1 FROM unread u JOIN turns t ON t.tenant ="
                      " u.tenant AND t.chat_id = u.chat_id AND t.id = u.turn_id"
                      " WHERE u.tenant = $1 AND u.user_id = $2"
                      " AND t.session_id = $3 AND u.given_up_at IS NULL"
                      " LIMIT 1");
/* What came of an effort later is no part of the session: it was open then. A
 * talk that is imported is summed up when all of it is known. */
DB_SQL(SELECT_KEPT,
       "SELECT m.type, CASE WHEN m.type = 'effort' AND m.updated_at > $6 THEN"
       " 'open' ELSE m.status END, m.summary, m.resolution, r.first_seq"
       " FROM memory_refs r JOIN memories m ON m.tenant = r.tenant"
       " AND m.id = r.memory_id WHERE r.tenant = $1 AND r.chat_id = $2"
       " AND r.first_seq >= $3 AND r.first_seq <= $4"
       " AND m.type IN ('effort', 'decision') AND m.parent_id IS NULL"
       " AND m.retracted_at IS NULL AND m.is_instruction = 0"
       " ORDER BY r.first_seq, m.id LIMIT $5");
/* What else was kept of it, each said in one turn. */
DB_SQL(SELECT_NOTES,
       "SELECT m.id, r.first_seq FROM memory_refs r JOIN memories m ON"
       " m.tenant = r.tenant AND m.id = r.memory_id WHERE r.tenant = $1"
       " AND r.chat_id = $2 AND r.first_seq >= $3 AND r.first_seq <= $4"
       " AND m.type IN ('fact', 'preference', 'event', 'instruction')"
       " AND m.origin = 'extracted' AND m.retracted_at IS NULL"
       " AND m.is_instruction = 0 ORDER BY r.first_seq, m.id LIMIT $5");
DB_SQL(UPSERT_SUMMARY,
       "INSERT INTO session_summaries (tenant, session_id, chat_id, summary,"
       " packed, created_at) VALUES ($1, $2, $3, '', $4, $5)"
       " ON CONFLICT (tenant, session_id)"
       " DO UPDATE SET summary = '', packed = excluded.packed");

struct kept {
    struct str type;
    struct str status;
    struct str summary;
    struct str resolution;
    int64_t seq;
};

struct note {
    struct uuid id;
    int64_t seq;
    struct str text;
    double sure; /* that it is worth keeping */
    bool is_first;
};

/* One thing that is told, and by whom; who.s == NULL if nobody said it so. */
struct told {
    struct str text;
    struct str who;
    bool is_cut; /* it goes on */
};

struct told_list {
    struct told items[MAX_SAID];
    size_t count;
};

struct work {
    struct arena *arena;
    const struct task *task;
    struct uuid session_id;
    int64_t now_ms;
    bool is_replay; /* it was done at this point: nothing is waited for */
    struct session session;
    struct turn *turns; /* of the session, people's */
    size_t n_turns;
    struct note *notes; /* in order */
    size_t n_notes;
    struct told began;
    struct told_list said[SUMMARY_POINT_KINDS];
};

static bool kept_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct kept *out = item;

    out->seq = db_get_int(rows, 4);
    return rows_text(arena, rows, 0, &out->type) &&
           rows_text(arena, rows, 1, &out->status) &&
           rows_text(arena, rows, 2, &out->summary) &&
           rows_text(arena, rows, 3, &out->resolution);
}

/* --- reading ---------------------------------------------------------------
 */

/* The session's last turns of people, in order; of a sub-agent's what it said,
 * not what a model told it. */
static enum clew_status read_turns(struct store_tx *tx, struct work *work,
                                   struct clew_error *err)
{
    const struct session *session = &work->session;
    struct chat chat;
    int64_t last_seq = 0;
    size_t count = 0;
    bool has_users;
    enum clew_status status =
        rows_number(tx, &SELECT_LAST_SEQ,
                    DB_ARGS(db_uuid(&session->chat_id), db_uuid(&session->id)),
                    &last_seq, err);

    if (status == CLEW_OK) {
        status = chat_find(tx, work->arena, &session->chat_id, &chat, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    has_users = !chat_is_subtask(&chat);
    if (last_seq > 0) {
        status =
            turn_list_line(tx, work->arena, &session->chat_id,
                           last_seq > MAX_SUMMED ? last_seq - MAX_SUMMED : 0,
                           MAX_SUMMED, &work->turns, &count, err);
    }
    work->n_turns = 0;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        const struct turn *turn = &work->turns[i];

        if (uuid_eq(&turn->session_id, &session->id) &&
            ((turn->role == TURN_USER && has_users) ||
             turn->role == TURN_ASSISTANT)) {
            work->turns[work->n_turns++] = *turn;
        }
    }
    return status;
}

/* --- collecting ------------------------------------------------------------
 */

static struct str who_said(const struct work *work, const struct turn *turn)
{
    return turn_who(work->arena, turn->name,
                    str_of(turn_role_name(turn->role)));
}

/* Also in other measure. */
static bool is_told(const struct told_list *list, struct str text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_ifind(list->items[i].text, text, 0) != SIZE_MAX ||
            str_ifind(text, list->items[i].text, 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* Its first words, cut between two of them where there are blanks. */
static struct str first_words(struct str text)
{
    size_t most = utf8_cut_width(text, SAID_COLUMNS);
    size_t end = most;

    while (end < text.len && end > most * 3 / 4 && text.s[end] != ' ') {
        end--;
    }
    return str_trim(str_sub(text, 0, text.s[end] == ' ' ? end : most));
}

static void tell(struct work *work, enum summary_point_kind kind,
                 struct str text, struct str who)
{
    struct told_list *list = &work->said[kind];
    struct str all = str_trim(text);

    text = utf8_width(all) > SAID_COLUMNS ? first_words(all) : all;
    if (is_told(list, text) ||
        (kind == SUMMARY_FOUND &&
         (is_told(&work->said[SUMMARY_WANTED], text) ||
          is_told(&work->said[SUMMARY_DECIDED], text)))) {
        return;
    }
    if (text.len > 0 && list->count < MAX_SAID) {
        list->items[list->count++] =
            (struct told){text, who, text.len < all.len};
    }
}

/* Who said what was kept: the turn it cites first. */
static struct str sayer_of(const struct work *work, int64_t seq)
{
    for (size_t i = 0; i < work->n_turns; i++) {
        if (work->turns[i].seq == seq) {
            return who_said(work, &work->turns[i]);
        }
    }
    return (struct str){NULL, 0};
}

/* The last who said it so; nobody did if somebody wrote it by hand. */
static struct str sayer_of_text(const struct work *work, struct str text)
{
    for (size_t i = work->n_turns; text.len > 0 && i-- > 0;) {
        if (str_find(work->turns[i].text, text, 0) != SIZE_MAX) {
            return who_said(work, &work->turns[i]);
        }
    }
    return (struct str){NULL, 0};
}

/* Without the words of others that make it clear: "[which one?] the red". */
static struct str own_words(struct str summary)
{
    while (summary.len > 0 && summary.s[0] == '[') {
        size_t end = str_find(summary, STR("] "), 0);

        if (end == SIZE_MAX) {
            break;
        }
        summary = str_sub(summary, end + 2, summary.len);
    }
    return summary;
}

static void tell_kept(struct work *work, const struct kept *kept)
{
    struct str who = sayer_of(work, kept->seq);

    if (str_eq(kept->type, STR("decision"))) {
        tell(work, SUMMARY_DECIDED, own_words(kept->summary), who);
        return;
    }
    tell(work, SUMMARY_WANTED, kept->summary, who);
    if (str_eq(kept->status, STR("resolved"))) {
        tell(work,
             settled_is_open(kept->resolution) ? SUMMARY_LEFT_OPEN
                                               : SUMMARY_FOUND,
             kept->resolution, sayer_of_text(work, kept->resolution));
    } else if (!str_eq(kept->status, STR("abandoned"))) {
        tell(work, SUMMARY_LEFT_OPEN, kept->summary, who);
    }
}

static enum clew_status collect_kept(struct store_tx *tx, struct work *work,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct kept), .fn = kept_of};
    enum clew_status status = CLEW_OK;

    if (work->n_turns > 0) {
        status = rows_add(tx, &list, &SELECT_KEPT,
                          DB_ARGS(db_uuid(&work->session.chat_id),
                                  db_int(work->turns[0].seq),
                                  db_int(work->turns[work->n_turns - 1].seq),
                                  db_int(MAX_KEPT),
                                  db_int(work->session.last_activity_at_ms)),
                          err);
    }
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        tell_kept(work, (const struct kept *)list.items + i);
    }
    return status;
}

/* What it began with, unless something says already what it was about. */
static void tell_began(struct work *work)
{
    if (work->said[SUMMARY_WANTED].count == 0 &&
        !is_told(&work->said[SUMMARY_FOUND], work->began.text) &&
        !is_told(&work->said[SUMMARY_DECIDED], work->began.text)) {
        tell(work, SUMMARY_BEGAN, work->began.text, work->began.who);
    }
}

static bool note_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct note *out = item;

    (void)arena;
    out->id = db_get_uuid(rows, 0);
    out->seq = db_get_int(rows, 1);
    return true;
}

/* Its words as they were said, and how sure the reader was of it. */
static bool read_note(struct arena *arena, const struct memory *memory,
                      struct note *out)
{
    json_t *fields = NULL;
    const json_t *said;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        return true; /* it has no words of its own */
    }
    said = json_object_get(fields, "statement");
    out->text =
        json_is_string(said) ? arena_str(arena, json_text(said)) : STR("");
    out->sure = json_number_value(json_object_get(fields, "confidence"));
    json_decref(fields);
    return out->text.s != NULL;
}

/* The notes that are told first: the surest, of each turn one. */
static void choose_first(struct work *work)
{
    for (size_t n = 0; n < MAX_NOTES_FIRST; n++) {
        struct note *best = NULL;

        for (size_t i = 0; i < work->n_notes; i++) {
            struct note *note = &work->notes[i];
            bool is_near =
                (i > 0 && note[-1].seq == note->seq && note[-1].is_first) ||
                (i + 1 < work->n_notes && note[1].seq == note->seq &&
                 note[1].is_first);

            if (note->text.len > 0 && !note->is_first && !is_near &&
                (!best || note->sure > best->sure)) {
                best = note;
            }
        }
        if (best) {
            best->is_first = true;
        }
    }
}

static void tell_notes(struct work *work, bool are_first)
{
    for (size_t i = 0; i < work->n_notes; i++) {
        const struct note *note = &work->notes[i];

        if (note->is_first == are_first && note->text.len > 0) {
            tell(work, SUMMARY_FOUND, note->text, sayer_of(work, note->seq));
        }
    }
}

static enum clew_status read_notes(struct store_tx *tx, struct work *work,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct note), .fn = note_of};
    struct memory *memories = NULL;
    struct uuid ids[MAX_NOTES];
    size_t n_memories = 0;
    enum clew_status status = CLEW_OK;

    if (work->n_turns > 0) {
        status = rows_add(tx, &list, &SELECT_NOTES,
                          DB_ARGS(db_uuid(&work->session.chat_id),
                                  db_int(work->turns[0].seq),
                                  db_int(work->turns[work->n_turns - 1].seq),
                                  db_int(MAX_NOTES)),
                          err);
    }
    work->notes = list.items;
    work->n_notes = list.count;
    for (size_t i = 0; i < list.count; i++) {
        ids[i] = work->notes[i].id;
    }
    if (status == CLEW_OK && list.count > 0) {
        status = memory_find_many(tx, work->arena, ids, list.count, &memories,
                                  &n_memories, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        for (size_t k = 0; k < n_memories; k++) {
            if (uuid_eq(&memories[k].id, &work->notes[i].id) &&
                !read_note(work->arena, &memories[k], &work->notes[i])) {
                return clew_no_memory(err);
            }
        }
    }
    choose_first(work);
    return status;
}

static enum clew_status collect_said(struct work *work, struct clew_error *err)
{
    struct summary_turn *turns =
        arena_zero(work->arena, work->n_turns + 1, sizeof(*turns));
    struct analysis *analyses =
        arena_zero(work->arena, work->n_turns + 1, sizeof(*analyses));
    struct summary_points points;
    enum clew_status status = CLEW_OK;

    if (!turns || !analyses) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->n_turns && status == CLEW_OK; i++) {
        const struct turn *turn = &work->turns[i];

        status = reading_analyse(work->arena, turn, &analyses[i], err);
        turns[i].analysis = &analyses[i];
        turns[i].is_user = turn->role == TURN_USER;
    }
    if (status == CLEW_OK &&
        summary_points_of(work->arena, turns, work->n_turns, &points) !=
            CLEW_OK) {
        status = clew_no_memory(err);
    }
    for (size_t k = 0; status == CLEW_OK && k < SUMMARY_POINT_KINDS; k++) {
        for (size_t i = 0; i < points.n[k]; i++) {
            const struct summary_point *point = &points.of[k][i];
            struct str who = who_said(work, &work->turns[point->turn]);

            if (k == SUMMARY_BEGAN) {
                work->began = (struct told){.text = point->text, .who = who};
            } else {
                tell(work, (enum summary_point_kind)k, point->text, who);
            }
        }
    }
    return status;
}

/* --- telling ---------------------------------------------------------------
 */

/* Wanted: "…" (user). Found: "…" (assistant); "…". One kind a line. */
static void format(const struct work *work, struct buf *out)
{
    static const char *const labels[SUMMARY_POINT_KINDS] = {
        [SUMMARY_BEGAN] = "Began with",    [SUMMARY_WANTED] = "Wanted",
        [SUMMARY_FOUND] = "Found",         [SUMMARY_DECIDED] = "Decided",
        [SUMMARY_LEFT_OPEN] = "Left open",
    };

    for (size_t k = 0; k < SUMMARY_POINT_KINDS; k++) {
        const struct told_list *list = &work->said[k];

        for (size_t i = 0; i < list->count; i++) {
            const struct told *said = &list->items[i];

            if (i == 0) {
                buf_printf(out, "%s%s: ", out->len ? "\n" : "", labels[k]);
            }
            buf_printf(out, "%s\"%.*s%s\"", i ? "; " : "", (int)said->text.len,
                       said->text.s, said->is_cut ? "…" : "");
            if (said->who.s) {
                buf_printf(out, " (%.*s)", (int)said->who.len, said->who.s);
            }
        }
        if (list->count > 0) {
            buf_append_char(out, '.');
        }
    }
    if (out->len == 0) {
        buf_append_cstr(out, "Nothing was said beyond greetings.");
    }
}

static enum clew_status write_summary(struct store_tx *tx, struct work *work,
                                      struct clew_error *err)
{
    struct db_value packed;
    struct buf text;
    bool is_ok;

    buf_init(&text, SUMMARY_BYTES);
    format(work, &text);
    /* a line that has no room any more is left out: `text` is as it was */
    is_ok = rows_pack_beside(work->arena, buf_str(&text), STR(""), &packed);
    buf_release(&text);
    return is_ok ? db_exec(tx, &UPSERT_SUMMARY,
                           DB_ARGS(db_uuid(&work->session.id),
                                   db_uuid(&work->session.chat_id), packed,
                                   db_int(work->session.last_activity_at_ms)),
                           err)
                 : clew_no_memory(err);
}

/* Look again in a while: the longer it waits already, the later. */
static enum clew_status wait_for_reading(struct store_tx *tx,
                                         const struct work *work,
                                         struct clew_error *err)
{
    int64_t wait_ms = (work->now_ms - work->task->created_at_ms) / 4;

    wait_ms = wait_ms < MIN_UNREAD_WAIT_MS ? MIN_UNREAD_WAIT_MS : wait_ms;
    wait_ms = wait_ms > MAX_UNREAD_WAIT_MS ? MAX_UNREAD_WAIT_MS : wait_ms;
    return task_put_off(tx, work->task, work->now_ms + wait_ms, err);
}

static enum clew_status do_sum(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;
    int64_t is_unread = 0;
    enum clew_status status =
        session_find(tx, work->arena, &work->session_id, &work->session, err);

    memset(work->said, 0, sizeof(work->said));
    work->began = (struct told){0};
    if (status == CLEW_NOT_FOUND) {
        return task_complete_noted(tx, work->task, NULL, work->now_ms,
                                   err); /* forgotten */
    }
    if (status == CLEW_OK) {
        status = rows_number(
            tx, &SELECT_UNREAD,
            DB_ARGS(db_text(work->session.user_id), db_uuid(&work->session_id)),
            &is_unread, err);
    }
    if (status == CLEW_OK && is_unread && !work->is_replay) {
        return wait_for_reading(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = read_turns(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = collect_kept(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = read_notes(tx, work, err);
    }
    if (status == CLEW_OK) {
        tell_notes(work, true);
        status = collect_said(work, err);
    }
    if (status == CLEW_OK) {
        tell_notes(work, false); /* where there is room */
        tell_began(work);
        status = write_summary(tx, work, err);
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

enum clew_status session_sum_task(struct engine *engine,
                                  const struct task *task, struct arena *arena,
                                  struct clew_error *err)
{
    struct work work = {.arena = arena,
                        .task = task,
                        .now_ms = clock_now_ms(engine->clock),
                        .is_replay = engine->replay != NULL};
    enum clew_status status =
        task_get_id(task, "session_id", &work.session_id, err);

    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_sum, &work, err)
               : status;
}
