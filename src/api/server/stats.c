/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - how much there is, by day; who speaks here.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/clock.h"
#include "base/limits.h"
#include "engine/chat/timeout.h"
#include "engine/core/engine.h"
#include "engine/view/stats.h"

#include <stdio.h>
#include <sys/stat.h>

#define DEFAULT_DAYS 30
/* Clocks differ by at most this from UTC. */
#define MAX_OFFSET_MINUTES (14 * 60)

static const char *const role_names[] = {"none", "read", "write", "admin"};

static json_t *form_groups(const struct stats_groups *groups)
{
    json_t *out = json_object();
    bool is_ok = out != NULL;

    for (size_t i = 0; is_ok && i < groups->count; i++) {
        const struct stats_group *group = &groups->items[i];

        is_ok =
            json_object_setn_new_nocheck(out, group->name.s, group->name.len,
                                         json_integer(group->count)) == 0;
    }
    return form_finish(out, is_ok);
}

/* Names that are not ours are values, not fields. */
static json_t *form_named(const struct stats_groups *groups, const char *name,
                          const char *more)
{
    json_t *out = json_array();
    bool is_ok = out != NULL;

    for (size_t i = 0; is_ok && i < groups->count; i++) {
        json_t *item = json_object();

        is_ok = json_set_str(item, name, groups->items[i].name) &&
                (!more || json_set_str(item, more, groups->items[i].more)) &&
                json_set_int(item, "memories", groups->items[i].count);
        is_ok = json_array_append_new(out, item) == 0 && is_ok;
    }
    return form_finish(out, is_ok);
}

static json_t *form_memories(const struct stats *stats)
{
    json_t *out = json_object();
    bool is_ok =
        out &&
        json_set_int(out, "holding", stats->n_memories - stats->n_superseded) &&
        json_set_int(out, "superseded", stats->n_superseded) &&
        json_set_int(out, "retracted", stats->n_retracted) &&
        json_set_int(out, "pinned", stats->n_pinned) &&
        json_set(out, "by_type", form_groups(&stats->by_type)) &&
        json_set(out, "efforts", form_groups(&stats->by_effort)) &&
        json_set(out, "by_user",
                 form_named(&stats->by_user, "user_id", NULL)) &&
        json_set(out, "by_agent",
                 form_named(&stats->by_agent, "agent_id", "agent_name"));

    return form_finish(out, is_ok);
}

static json_t *form_days(const struct stats *stats)
{
    json_t *out = json_array();
    bool is_ok = out != NULL;

    for (size_t i = 0; is_ok && i < stats->n_days; i++) {
        const struct stats_day *day = &stats->days[i];
        json_t *item = json_object();
        char date[CLOCK_TEXT_SIZE];

        clock_format((stats->first_day + (int64_t)i) * CLOCK_DAY_MS, date);
        date[10] = '\0'; /* the date alone */
        is_ok = json_set_cstr(item, "date", date) &&
                json_set_int(item, "turns", day->turns) &&
                json_set_int(item, "memories", day->memories) &&
                json_set_int(item, "calls", day->calls);
        is_ok = json_array_append_new(out, item) == 0 && is_ok;
    }
    return form_finish(out, is_ok);
}

/* The bytes of the store's file; null where a database server has them. */
static json_t *form_store(const struct engine *engine)
{
    static const char *const files[] = {"clew.db", "clew.db-wal"};
    json_t *out = json_object();
    int64_t bytes = 0;
    bool is_file = false;

    for (size_t i = 0; engine->data_dir && i < 2; i++) {
        char path[4096];
        struct stat info;

        (void)snprintf(path, sizeof(path), "%s/%s", engine->data_dir, files[i]);
        if (stat(path, &info) == 0) {
            bytes += info.st_size;
            is_file = true;
        }
    }
    is_file =
        is_file && str_eq(str_of(store_backend(engine->store)), STR("sqlite"));
    return form_finish(
        out, out &&
                 json_set_cstr(out, "backend", store_backend(engine->store)) &&
                 json_set(out, "bytes",
                          is_file ? json_integer(bytes) : json_null()));
}

static enum clew_status read_query(const struct api_call *call,
                                   struct stats_query *query,
                                   struct clew_error *err)
{
    int64_t minutes = 0;
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &query->user_id, err);

    query->until_ms = clock_now_ms(call->engine->clock);
    query->since_ms = query->until_ms - (DEFAULT_DAYS - 1) * CLOCK_DAY_MS;
    if (status == CLEW_OK) {
        status = api_query_time(call, "since", &query->since_ms, err);
    }
    if (status == CLEW_OK) {
        status = api_query_time(call, "until", &query->until_ms, err);
    }
    if (status == CLEW_OK) {
        status = api_query_int(call, "utc_offset_minutes", -MAX_OFFSET_MINUTES,
                               MAX_OFFSET_MINUTES, &minutes, err);
    }
    query->offset_ms = minutes * CLOCK_MINUTE_MS;
    return status;
}

enum clew_status stats_get(struct api_call *call, struct clew_error *err)
{
    struct stats_query query = {0};
    struct stats stats;
    enum clew_status status = read_query(call, &query, err);
    json_t *out;

    if (status == CLEW_OK) {
        status = stats_read(call->engine, &call->scope, call->arena, &query,
                            &stats, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out = json_object();
    call->out = out;
    return out && json_set_cstr(out, "role", role_names[call->role]) &&
                   json_set_str(out, "key_id",
                                call->key_id[0] ? str_of(call->key_id)
                                                : (struct str){0}) &&
                   json_set_int(out, "chats", stats.n_chats) &&
                   json_set_int(out, "turns", stats.n_turns) &&
                   json_set_int(out, "calls", stats.n_calls) &&
                   json_set_int(out, "episodes", stats.n_episodes) &&
                   json_set_int(out, "chains", stats.n_chains) &&
                   json_set_int(out, "failed_tasks", stats.n_failed_tasks) &&
                   json_set(out, "memories", form_memories(&stats)) &&
                   json_set(out, "store", form_store(call->engine)) &&
                   json_set(out, "days", form_days(&stats))
               ? CLEW_OK
               : clew_no_memory(err);
}

/* --- users -----------------------------------------------------------------
 */

static bool set_minutes(json_t *out, int64_t minutes)
{
    return minutes ? json_set_int(out, "inactivity_minutes", minutes)
                   : json_set(out, "inactivity_minutes", json_null());
}

static json_t *form_user(const struct api_call *call, const void *row)
{
    const struct stats_user *user = row;
    json_t *out = json_object();

    (void)call;
    return form_finish(
        out, out && json_set_str(out, "user_id", user->user_id) &&
                 json_set_int(out, "chats", user->n_chats) &&
                 json_set_int(out, "turns", user->n_turns) &&
                 form_set_time(out, "last_activity_at", user->last_at_ms) &&
                 set_minutes(out, user->inactivity_minutes));
}

static struct str mark_user(struct api_call *call, const void *row)
{
    const struct stats_user *user = row;

    (void)call;
    return user->user_id;
}

enum clew_status users_list(struct api_call *call, struct clew_error *err)
{
    struct stats_user *users = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = stats_users(call->engine, &call->scope, call->arena,
                             page.cursor, page.limit + 1, &users, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(users, count, form_user, mark_user),
                                 err)
               : status;
}

enum clew_status users_patch(struct api_call *call, struct clew_error *err)
{
    struct str user_id = call->params[0];
    const json_t *given = json_object_get(call->body, "inactivity_minutes");
    int64_t minutes = 0;
    json_t *out;
    enum clew_status status = CLEW_OK;

    if (user_id.len == 0 || user_id.len > LIMIT_NAME_BYTES) {
        return clew_fail_field(err, "user_id",
                               "\"user_id\" must have 1 to %d"
                               " bytes",
                               LIMIT_NAME_BYTES);
    }
    if (!json_is_null(given)) { /* null takes it back */
        status = json_get_int(call->body, "inactivity_minutes", JSON_REQUIRED,
                              1, TIMEOUT_MAX_MINUTES, &minutes, err);
    }
    if (status == CLEW_OK) {
        status =
            timeout_user_set(call->engine, &call->scope, user_id, minutes, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out = json_object();
    return api_answer(
        call,
        form_finish(out, out && json_set_str(out, "user_id", user_id) &&
                             set_minutes(out, minutes)),
        err);
}
