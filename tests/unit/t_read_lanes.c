/* SPDX-License-Identifier: Apache-2.0 */
/* Turns that wait are read side by side: those of a user and those of a chat in
 * the order of their times all the same. */
#include "support/one_talk.h"
#include "support/assert_ok.h"
#include "support/test.h"

#include "base/config.h"
#include "base/crew.h"
#include "engine/capture/read_task.h"
#include "engine/core/action.h"
#include "engine/core/read_log.h"
#include "engine/proof/rebuild.h"
#include "task/worker.h"

#include <string.h>

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

/* Who speaks where; later ones say it later. */
static const struct {
    const char *user;
    int chat;
} said[] = {{"ada", 0},  {"cleo", 1}, {"bert", 0}, {"dora", 2}, {"ada", 0},
            {"cleo", 3}, {"dora", 2}, {"bert", 0}, {"cleo", 1}, {"emil", 4},
            {"bert", 3}, {"ada", 0},  {"cleo", 3}, {"emil", 4}, {"dora", 5},
            {"cleo", 1}, {"bert", 0}, {"dora", 2}, {"emil", 4}, {"ada", 5}};
#define N_SAID (sizeof(said) / sizeof(said[0]))

static void say_all(struct uuid ids[N_SAID])
{
    struct uuid chats[6] = {0};
    struct clew_error err = {0};

    for (size_t i = 0; i < N_SAID; i++) {
        const char *text =
            arena_printf(ARENA, "Room %zu of the archive is called Zebulon%c.",
                         i, 'a' + (char)i);
        struct uuid *chat = &chats[said[i].chat];
        struct capture_input input = {
            .user_id = str_of(said[i].user),
            .content = {.text = str_of(text)},
            .channel = uuid_is_nil(chat) ? STR("web") : (struct str){0},
            .chat_id = *chat,
            .created_at_ms = WORLD_NOW + (int64_t)i * CLOCK_MINUTE_MS};

        clock_set_ms(&talk.world.clock, input.created_at_ms);
        assert_ok(
            capture_turns(ENGINE, SCOPE, ARENA, &input, 1, &talk.last, &err));
        ids[i] = talk.last.turn.id;
        *chat = talk.last.turn.chat_id;
    }
}

struct read_order {
    struct action *actions;
    size_t count;
};

static enum clew_status do_list_read(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct read_order *order = arg;

    return read_log_list(tx, ARENA, 0, &(struct uuid){{0}}, 100,
                         &order->actions, &order->count, err);
}

/* The place of a turn among those that were read. */
static size_t place_of(const struct read_order *order, const struct uuid *id)
{
    size_t i = 0;

    while (i < order->count && !uuid_eq(&order->actions[i].subject, id)) {
        i++;
    }
    assert_true(i < order->count);
    return i;
}

static int64_t n_waiting(void)
{
    struct read_task_counts counts = {0};
    struct clew_error err = {0};

    assert_ok(read_task_count(ENGINE, &counts, &err));
    return counts.n_waiting;
}

/* Nothing is read before a call returns; helpers are there for the task. */
static int open_with_helpers(void **state)
{
    struct config_flag flag = {"reader.live_turns", "0"};
    struct clew_error err = {0};
    int rc = open_talk(state);

    world_use_reader(&talk.world);
    config_free(talk.world.config);
    assert_ok(config_load(NULL, &flag, 1, &talk.world.config, &err));
    ENGINE->config = talk.world.config;
    ENGINE->later = crew_open(3, "clew-reader");
    assert_non_null(ENGINE->later);
    return rc;
}

static int close_with_helpers(void **state)
{
    crew_close(ENGINE->later);
    ENGINE->later = NULL;
    return close_talk(state);
}

static void each_user_and_each_chat_is_read_in_order(void **state)
{
    struct rebuild_options options = {.is_dry_run = true};
    struct rebuild_report report = {0};
    struct clew_error err = {0};
    struct uuid ids[N_SAID];
    struct read_order order = {0};
    size_t n_run;

    (void)state;
    say_all(ids);
    assert_int_equal(n_waiting(), N_SAID);
    assert_ok(worker_run_due(ENGINE, 1000, &n_run, &err));
    assert_int_equal(n_waiting(), 0);
    assert_ok(store_read(ENGINE->store, SCOPE, do_list_read, &order, &err));
    assert_int_equal(order.count, N_SAID);
    for (size_t i = 0; i < N_SAID; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(said[i].user, said[k].user) == 0 ||
                said[i].chat == said[k].chat) {
                assert_true(place_of(&order, &ids[k]) <
                            place_of(&order, &ids[i]));
            }
        }
    }
    /* read again in that order, they say the same */
    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err));
    assert_int_equal(report.n_differences - report.n_tasks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            each_user_and_each_chat_is_read_in_order, open_with_helpers,
            close_with_helpers),
    };

    return WORLD_EACH(tests);
}
