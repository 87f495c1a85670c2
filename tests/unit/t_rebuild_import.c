/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are imported while a rebuild runs, into a past it has replayed. */
#include "support/one_talk.h"
#include "support/test.h"

#include "base/json.h"
#include "engine/chat/chat.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/restore.h"

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

struct import {
    int64_t place; /* in the log */
    int64_t after; /* when so many turns are replayed */
    bool is_done;
};

/* Somebody gave the chat a title, in another store where it stood. */
static bool import_title(void *arg, const struct rebuild_report *report)
{
    struct import *import = arg;
    struct uuid id = uuid_new(talk.at_ms);
    char id_text[UUID_TEXT_SIZE];
    char chat_text[UUID_TEXT_SIZE];
    struct restore_report out;
    struct clew_error err = {0};
    json_t *rows;

    if (import->is_done || report->n_turns < import->after) {
        return true;
    }
    import->is_done = true;
    uuid_format(&id, id_text);
    uuid_format(&talk.chat_id, chat_text);
    rows = json_pack("[{s:s, s:I, s:s, s:s, s:s, s:s, s:s}]", "type", "action",
                     "seq", (json_int_t)import->place, "id", id_text, "kind",
                     "chat.patch", "subject", chat_text, "detail",
                     "{\"title\":\"Bread\"}", "created_at",
                     "2026-02-16T00:01:00Z");
    assert_non_null(rows);
    if (restore_rows(ENGINE, SCOPE, ARENA,
                     &(struct restore_input){.lines = rows}, &out,
                     &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(out.n_added, 1);
    json_decref(rows);
    return true;
}

static void an_action_imported_meanwhile_is_done(void **state)
{
    struct import import = {.after = 2};
    struct rebuild_options options = {.progress = import_title, .arg = &import};
    struct rebuild_report report;
    struct clew_error err = {0};
    struct chat chat;

    (void)state;
    talk_say(&talk, 'u', "I want to learn to bake bread.");
    import.place = talk.last.turn.change_seq;
    talk_say(&talk, 'u', "My sister Ana lives in Lisbon.");
    talk_say(&talk, 'u', "The flat costs 900 euros.");
    if (rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(import.is_done);
    assert_int_equal(chat_get(ENGINE, SCOPE, ARENA, &talk.chat_id, &chat, NULL),
                     CLEW_OK);
    assert_true(str_eq(chat.title, STR("Bread")));
    options = (struct rebuild_options){.is_dry_run = true};
    assert_int_equal(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, NULL),
                     CLEW_OK);
    assert_int_equal(report.n_differences, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_action_imported_meanwhile_is_done,
                                        open_talk, close_talk),
    };

    return WORLD_EACH(tests);
}
