/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_action.c - one function per kind of action: do it again.
 *
 * Each calls what was called then; the clock stands at the action's time and
 * engine->replay holds the ids it made. A thought is copied: what an agent
 * contributed stands in its memory alone.
 */
#include "engine/proof/rebuild_internal.h"

#include "engine/capture/close.h"
#include "engine/capture/intent_ask.h"
#include "engine/capture/read_turn.h"
#include "engine/chat/session.h"
#include "engine/chat/timeout.h"
#include "engine/chatlink/chatlink_assess.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/effort/effort_thread.h"
#include "engine/episode/compact.h"
#include "engine/episode/session_sum.h"
#include "engine/llmread/llmread.h"
#include "engine/memory/lineage.h"
#include "engine/proof/forget.h"
#include "engine/thought/memory_view.h"
#include "engine/thought/undo.h"
#include "engine/topic/chain.h"
#include "engine/understand/correction.h"
#include "store/db.h"

#include <string.h>

#define TEXT_BYTES ((size_t)1 << 20)

/* One action on its way. */
struct doing {
    struct rebuild *r;
    struct engine *engine; /* the scratch one */
    const struct scope *scope;
    struct arena *arena;
    const struct rebuild_action *entry;
    const struct action *action;
    const json_t *detail;
    struct task task;
};

typedef enum clew_status (*action_fn)(struct doing *d, struct clew_error *err);

static enum clew_status get_text(const struct doing *d, const char *field,
                                 struct str *out, struct clew_error *err)
{
    return json_get_str(d->detail, field, JSON_OPTIONAL, TEXT_BYTES, out, err);
}

static enum clew_status get_number(const struct doing *d, const char *field,
                                   int64_t *out, struct clew_error *err)
{
    return json_get_int(d->detail, field, JSON_OPTIONAL, INT64_MIN, INT64_MAX,
                        out, err);
}

/* --- chats -----------------------------------------------------------------
 */

static enum clew_status chat_create_again(struct doing *d,
                                          struct clew_error *err)
{
    struct chat_new input = {0};
    struct chat chat;
    enum clew_status status = get_text(d, "user_id", &input.user_id, err);

    if (status == CLEW_OK) {
        status = get_text(d, "channel", &input.channel, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "title", &input.title, err);
    }
    if (status == CLEW_OK) {
        status = get_number(d, "minutes", &input.inactivity_minutes, err);
    }
    return status == CLEW_OK
               ? chat_create(d->engine, d->scope, d->arena, &input, &chat, err)
               : status;
}

static enum clew_status do_link(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct doing *d = arg;
    struct chat_birth birth = {d->action->made, d->action->at_ms};
    struct str user_id = {NULL, 0};
    struct chat chat;
    enum clew_status status = get_text(d, "user_id", &user_id, err);

    return status == CLEW_OK
               ? chat_insert_linked(tx, &birth, user_id, &chat, err)
               : status;
}

static enum clew_status chat_link_again(struct doing *d, struct clew_error *err)
{
    return store_write(d->engine->store, d->scope, do_link, d, err);
}

static enum clew_status do_fork(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct doing *d = arg;
    struct chat_birth birth = {d->action->made, d->action->at_ms};
    struct str title = {NULL, 0};
    struct str branch = {NULL, 0};
    int64_t at_seq = 0;
    struct chat parent;
    struct chat fork;
    enum clew_status status =
        chat_find(tx, d->arena, &d->action->subject, &parent, err);

    if (status == CLEW_NOT_FOUND && !uuid_is_nil(&d->entry->chat.id)) {
        parent = d->entry->chat; /* forgotten but for its fork */
        status = chat_insert(tx, &parent, err);
    }
    if (status == CLEW_OK) {
        status = get_number(d, "at_seq", &at_seq, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "title", &title, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "branch", &branch, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    /* the turns up to there may be forgotten; their numbers stay taken */
    if (parent.last_seq < at_seq) {
        parent.last_seq = at_seq;
        status = chat_update(tx, &parent, err);
    }
    return status == CLEW_OK ? chat_fork(tx, d->arena, &parent, at_seq, title,
                                         branch, &birth, &fork, err)
                             : status;
}

static enum clew_status chat_fork_again(struct doing *d, struct clew_error *err)
{
    return store_write(d->engine->store, d->scope, do_fork, d, err);
}

static enum clew_status chat_patch_again(struct doing *d,
                                         struct clew_error *err)
{
    struct chat_change change = {0};
    struct str title = {NULL, 0};
    int64_t minutes = 0;
    struct chat chat;
    enum clew_status status = get_text(d, "title", &title, err);

    if (status == CLEW_OK) {
        status = get_number(d, "minutes", &minutes, err);
    }
    if (json_object_get(d->detail, "title")) {
        change.title = &title;
    }
    if (json_object_get(d->detail, "minutes")) {
        change.inactivity_minutes = &minutes;
    }
    return status == CLEW_OK
               ? chat_patch(d->engine, d->scope, d->arena, &d->action->subject,
                            &change, &chat, err)
               : status;
}

static enum clew_status chat_close_again(struct doing *d,
                                         struct clew_error *err)
{
    struct chat chat;

    return chat_close(d->engine, d->scope, d->arena, &d->action->subject, &chat,
                      err);
}

static enum clew_status session_end_again(struct doing *d,
                                          struct clew_error *err)
{
    struct session session;

    return session_end(d->engine, d->scope, d->arena, &d->action->subject,
                       &session, err);
}

static enum clew_status user_patch_again(struct doing *d,
                                         struct clew_error *err)
{
    struct str user_id = {NULL, 0};
    int64_t minutes = 0;
    enum clew_status status = get_text(d, "user_id", &user_id, err);

    if (status == CLEW_OK) {
        status = get_number(d, "minutes", &minutes, err);
    }
    return status == CLEW_OK
               ? timeout_user_set(d->engine, d->scope, user_id, minutes, err)
               : status;
}

/* --- chains, links, episodes -----------------------------------------------
 */

static enum clew_status conclude_again(struct doing *d, struct clew_error *err)
{
    struct chain chain;

    return chain_conclude(d->engine, d->scope, d->arena, &d->action->subject,
                          &chain, err);
}

static enum clew_status reopen_again(struct doing *d, struct clew_error *err)
{
    struct chain chain;

    return chain_reopen(d->engine, d->scope, d->arena, &d->action->subject,
                        &chain, err);
}

static enum clew_status feedback_again(struct doing *d, struct clew_error *err)
{
    struct chatlink_decision decision;
    bool is_correct = false;
    enum clew_status status =
        json_get_bool(d->detail, "is_correct", JSON_REQUIRED, &is_correct, err);

    return status == CLEW_OK ? chatlink_feedback(d->engine, d->scope, d->arena,
                                                 &d->action->subject,
                                                 is_correct, &decision, err)
                             : status;
}

static enum clew_status revert_again(struct doing *d, struct clew_error *err)
{
    struct chatlink_tuning tuning;

    return chatlink_tuning_revert(d->engine, d->scope, d->arena, &tuning, err);
}

static enum clew_status compact_again(struct doing *d, struct clew_error *err)
{
    enum clew_status status =
        get_number(d, "through", &d->r->replay.through_seq, err);

    return status == CLEW_OK ? compact_episode(d->engine, d->scope, d->arena,
                                               &d->action->subject, err)
                             : status;
}

static enum clew_status do_correct(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    const struct doing *d = arg;

    return correction_again(tx, d->detail, d->action->at_ms, err);
}

static enum clew_status correct_again(struct doing *d, struct clew_error *err)
{
    return store_write(d->engine->store, d->scope, do_correct, d, err);
}

/* --- memories --------------------------------------------------------------
 */

static enum clew_status spawn_again(struct doing *d, struct clew_error *err)
{
    struct effort_spawn spawn = {0};
    struct effort effort;
    enum clew_status status = get_text(d, "user_id", &spawn.user_id, err);

    if (status == CLEW_OK) {
        status = get_text(d, "goal", &spawn.goal, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(d->detail, "chat_id", JSON_OPTIONAL,
                               &spawn.chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(d->detail, "parent_id", JSON_OPTIONAL,
                               &spawn.parent_id, err);
    }
    return status == CLEW_OK ? effort_spawn(d->engine, d->scope, d->arena,
                                            &spawn, &effort, err)
                             : status;
}

static enum clew_status collapse_again(struct doing *d, struct clew_error *err)
{
    struct effort_ending ending = {0};
    struct effort effort;
    enum clew_status status =
        get_text(d, "resolution", &ending.resolution, err);

    if (status == CLEW_OK) {
        status = get_text(d, "outcome", &ending.outcome, err);
    }
    return status == CLEW_OK
               ? effort_collapse(d->engine, d->scope, d->arena,
                                 &d->action->subject, &ending, &effort, err)
               : status;
}

static enum clew_status expand_again(struct doing *d, struct clew_error *err)
{
    struct effort effort;

    return effort_expand(d->engine, d->scope, d->arena, &d->action->subject,
                         &effort, err);
}

static enum clew_status act_again(struct doing *d, struct clew_error *err)
{
    struct memory_action action = {0};
    struct str status_text = {NULL, 0};
    struct str resolution = {NULL, 0};
    struct str tags = {NULL, 0};
    struct str type = {NULL, 0};
    int64_t expires_at_ms = 0;
    bool has_worked = false;
    bool is_pinned = false;
    struct uuid chat_id = {{0}};
    struct memory_view view;
    enum clew_status status = get_text(d, "status", &status_text, err);

    if (status == CLEW_OK) {
        status = get_text(d, "resolution", &resolution, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "tags", &tags, err);
    }
    if (status == CLEW_OK) {
        status = get_number(d, "expires_at", &expires_at_ms, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "type", &type, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (type.s) {
        action.type = &type;
    }
    if (json_object_get(d->detail, "is_pinned")) {
        is_pinned = json_is_true(json_object_get(d->detail, "is_pinned"));
        action.is_pinned = &is_pinned;
    }
    if (status_text.s) {
        action.status = arena_copy(d->arena, status_text.s, status_text.len);
    }
    if (json_object_get(d->detail, "resolution")) {
        action.resolution = &resolution;
    }
    if (json_object_get(d->detail, "tags")) {
        action.tags = &tags;
    }
    if (json_object_get(d->detail, "expires_at")) {
        action.expires_at_ms = &expires_at_ms;
    }
    if (json_object_get(d->detail, "has_worked")) {
        has_worked = json_is_true(json_object_get(d->detail, "has_worked"));
        action.has_worked = &has_worked;
    }
    if (json_object_get(d->detail, "chat_id")) {
        status =
            json_get_uuid(d->detail, "chat_id", JSON_REQUIRED, &chat_id, err);
        action.chat_id = &chat_id;
    }
    return status == CLEW_OK
               ? memory_view_act(d->engine, d->scope, d->arena,
                                 &d->action->subject, &action, &view, err)
               : status;
}

static enum clew_status forget_again(struct doing *d, struct clew_error *err)
{
    struct forget_input input = {.memory_ids = &d->action->subject,
                                 .n_memory_ids = 1};
    struct forget_receipt receipt;

    return forget_run(d->engine, d->scope, d->arena, &input, &receipt, err);
}

static enum clew_status retract_again(struct doing *d, struct clew_error *err)
{
    struct memory memory;

    return lineage_retract(d->engine, d->scope, d->arena, &d->action->subject,
                           &memory, err);
}

static enum clew_status do_import(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct doing *d = arg;

    return memory_import(tx, &d->action->subject, &d->action->made,
                         d->action->at_ms, err);
}

static enum clew_status import_again(struct doing *d, struct clew_error *err)
{
    return store_write(d->engine->store, d->scope, do_import, d, err);
}

static enum clew_status undo_again(struct doing *d, struct clew_error *err)
{
    struct undo_input input = {0};
    struct uuid *ids;
    size_t count;
    bool has_more;
    enum clew_status status = get_text(d, "from", &input.from, err);

    if (status == CLEW_OK) {
        status = get_number(d, "since", &input.since_ms, err);
    }
    return status == CLEW_OK ? undo_run(d->engine, d->scope, d->arena, &input,
                                        &ids, &count, &has_more, err)
                             : status;
}

static enum clew_status do_thought(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct doing *d = arg;
    struct memory memory = d->entry->memory;
    struct batch_work batch = {
        .engine = d->engine, .tx = tx, .arena = d->arena};

    /* as it was contributed: what was done to it since follows */
    memory.status = STR("active");
    memory.resolution = (struct str){NULL, 0};
    memory.updated_at_ms = memory.created_at_ms;
    memory.expires_at_ms = 0;
    memory.retracted_at_ms = 0;
    memory.pinned_at_ms = 0;
    return memory_insert(&batch, &memory, NULL, 0, d->entry->sources,
                         d->entry->n_sources, err);
}

static enum clew_status thought_again(struct doing *d, struct clew_error *err)
{
    if (uuid_is_nil(&d->entry->memory.id)) {
        return clew_fail(err, CLEW_NOT_FOUND, "the thought is gone");
    }
    return store_write(d->engine->store, d->scope, do_thought, d, err);
}

/* --- reading ---------------------------------------------------------------
 */

static enum clew_status read_again(struct doing *d, struct clew_error *err)
{
    return read_turn(d->engine, d->scope, d->arena, &d->action->subject, NULL,
                     err);
}

static enum clew_status llm_read_again(struct doing *d, struct clew_error *err)
{
    return llmread_again(d->engine, d->scope, d->arena, &d->action->subject,
                         d->detail, err);
}

/* --- tasks -----------------------------------------------------------------
 */

DB_SQL(DROP_TASK, "DELETE FROM tasks WHERE tenant = $1 AND"
                  " (unique_key = $2 OR id = $3)");
DB_SQL(CLAIM_TASK,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, created_at) VALUES ($1, $2, $3, $4,"
       " $5, 'running', 0, $6, 1, $6)");

const struct task_handler rebuild_handlers[] = {
    {CHAIN_REST_TASK, chain_check_dormancy},
    {EPISODE_COMPACT_TASK, compact_task},
    {SESSION_SUM_TASK, session_sum_task},
    {INTENT_ASK_TASK, intent_ask_task},
    {CHATLINK_ASSESS_TASK, chatlink_assess_task},
    {CHATLINK_READ_TASK, chatlink_read_task},
    {CHATLINK_TUNE_TASK, chatlink_tuning_task},
    {SESSION_TIMEOUT_TASK, session_timeout_task},
    {NULL, NULL},
};

static enum clew_status do_drop(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct doing *d = arg;

    return db_exec(tx, &DROP_TASK,
                   DB_ARGS(db_text(d->task.unique_key), db_uuid(&d->task.id)),
                   err);
}

static enum clew_status do_claim(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct doing *d = arg;
    enum clew_status status = do_drop(tx, arg, err);

    return status == CLEW_OK
               ? db_exec(tx, &CLAIM_TASK,
                         DB_ARGS(db_uuid(&d->task.id), db_text(d->task.kind),
                                 db_text(d->task.unique_key),
                                 db_text(d->task.payload),
                                 db_int(d->action->at_ms)),
                         err)
               : status;
}

static enum clew_status task_again(struct doing *d, struct clew_error *err)
{
    struct task *task = &d->task;
    enum clew_status dropped;
    enum clew_status status = get_text(d, "kind", &task->kind, err);

    task->scope = *d->scope;
    task->id = d->action->made;
    task->attempts = 1;
    if (status == CLEW_OK) {
        status = get_text(d, "key", &task->unique_key, err);
    }
    if (status == CLEW_OK) {
        status = get_text(d, "payload", &task->payload, err);
    }
    if (status == CLEW_OK) {
        status = get_number(d, "through", &d->r->replay.through_seq, err);
    }
    if (status == CLEW_OK) {
        status = store_write(d->engine->store, d->scope, do_claim, d, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = clew_fail(err, CLEW_NOT_FOUND, "no task of this kind is known");
    for (const struct task_handler *row = rebuild_handlers; row->kind; row++) {
        if (str_eq(task->kind, str_of(row->kind))) {
            status = row->fn(d->engine, task, d->arena, err);
        }
    }
    dropped = store_write(d->engine->store, d->scope, do_drop, d, NULL);
    return status == CLEW_OK ? dropped : status;
}

/* --- the table -------------------------------------------------------------
 */

static const struct {
    const char *kind;
    action_fn fn;
} kinds[] = {
    {ACTION_CHAT_CREATE, chat_create_again},
    {ACTION_CHAT_LINK, chat_link_again},
    {ACTION_CHAT_PATCH, chat_patch_again},
    {ACTION_CHAT_CLOSE, chat_close_again},
    {ACTION_CHAT_FORK, chat_fork_again},
    {ACTION_CHAIN_CONCLUDE, conclude_again},
    {ACTION_CHAIN_REOPEN, reopen_again},
    {ACTION_COMPACT, compact_again},
    {ACTION_EFFORT_SPAWN, spawn_again},
    {ACTION_EFFORT_COLLAPSE, collapse_again},
    {ACTION_EFFORT_EXPAND, expand_again},
    {ACTION_INTENT_CORRECT, correct_again},
    {ACTION_LINK_FEEDBACK, feedback_again},
    {ACTION_LLM_READ, llm_read_again},
    {ACTION_MEMORY_ACT, act_again},
    {ACTION_MEMORY_FORGET, forget_again},
    {ACTION_MEMORY_IMPORT, import_again},
    {ACTION_MEMORY_RETRACT, retract_again},
    {ACTION_READ, read_again},
    {ACTION_SESSION_END, session_end_again},
    {ACTION_TASK, task_again},
    {ACTION_THOUGHT, thought_again},
    {ACTION_TUNING_REVERT, revert_again},
    {ACTION_UNDO, undo_again},
    {ACTION_USER_PATCH, user_patch_again},
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == ACTION_KINDS,
               "every kind of action can be done again");

enum clew_status rebuild_do_action(struct rebuild *r,
                                   const struct rebuild_action *entry,
                                   struct arena *arena, struct clew_error *err)
{
    struct doing doing = {.r = r,
                          .engine = &r->scratch,
                          .scope = &r->scope,
                          .arena = arena,
                          .entry = entry,
                          .action = &entry->action};
    json_t *detail = NULL;
    enum clew_status status = json_parse(entry->action.detail, &detail, err);

    doing.detail = detail;
    if (status == CLEW_OK) {
        status = clew_fail(err, CLEW_NEWER_SCHEMA,
                           "no action of the kind \"%.*s\" is known",
                           (int)entry->action.kind.len, entry->action.kind.s);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
            if (str_eq(entry->action.kind, str_of(kinds[i].kind))) {
                status = kinds[i].fn(&doing, err);
            }
        }
    }
    json_decref(detail);
    return status;
}
