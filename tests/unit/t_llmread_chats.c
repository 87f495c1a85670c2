/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier chats that a language model sees a chat go on with. */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/core/advice.h"
#include "engine/core/rows.h"
#include "engine/proof/export.h"
#include "engine/proof/forget.h"
#include "engine/proof/restore.h"

#include <stdio.h>

#define DAY CLOCK_DAY_MS
#define MINUTE CLOCK_MINUTE_MS

/* Summaries are asked for too. */
static int open_reading(void **state)
{
    int rc = open_all(state);

    fake_http_heed(fake, "You read a stretch");
    return rc;
}

static const struct capture_result *say(const char *user, int64_t at_ms,
                                        const char *text)
{
    struct world *world = &talk.world;
    struct capture_input input = {.user_id = str_of(user),
                                  .role = TURN_USER,
                                  .content = {.text = str_of(text)},
                                  .channel = STR("sms"),
                                  .created_at_ms = WORLD_NOW + at_ms};

    clock_set_ms(&world->clock, WORLD_NOW + at_ms);
    assert_int_equal(capture_turns(&world->engine, &world->scope, &world->arena,
                                   &input, 1, &talk.last, NULL),
                     CLEW_OK);
    return &talk.last;
}

/* Two chats of ada's on their days; both are read, and nothing is said of
 * them. */
#define BOAT "The mast of our boat needs a new shroud before May"
#define BREAD "My bread comes out flat although the dough rises well"
static void two_chats(const char *user, struct uuid *boat, struct uuid *bread)
{
    answer_chats("");
    *boat = say(user, 0, BOAT)->turn.chat_id;
    pause_talk();
    *bread = say(user, 2 * DAY, BREAD)->turn.chat_id;
    pause_talk();
}

/* The label of the chat that began so, as it was shown last; "" if it was
 * not. */
static const char *label_of_chat(const char *began)
{
    static char label[8];
    const char *chats = strstr(fake_http_seen(fake), "\\\"chats\\\":");
    const char *at = chats ? strstr(chats, began) : NULL;

    label[0] = '\0';
    for (; at && at > chats; at--) {
        if (strncmp(at, "\\\"chat\\\":", 9) == 0) {
            (void)snprintf(label, sizeof(label), "%s", at + 11);
            break;
        }
    }
    return label;
}

static const char *naming(const char *label, const char *quote)
{
    return arena_printf(&talk.world.arena, "{'chat':'%s','quote':'%s'}", label,
                        quote);
}

/* What is on record of two chats; NULL: nothing. */
static const struct chatlink_decision *decision_of(const struct uuid *chat,
                                                   const struct uuid *other)
{
    struct chatlink_filter filter = {
        .chat_id = *chat, .before_time_ms = INT64_MAX, .limit = 50};
    struct chatlink_decision *items = NULL;
    size_t count = 0;

    assert_int_equal(chatlink_decision_list(
                         &talk.world.engine, &talk.world.scope,
                         &talk.world.arena, &filter, &items, &count, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&items[i].other_chat_id, other)) {
            return &items[i];
        }
    }
    return NULL;
}

static bool is_linked(const struct uuid *chat, const struct uuid *other)
{
    const struct chatlink_decision *decision = decision_of(chat, other);

    return decision && chatlink_decision_is_link(decision);
}

/* Ask once to see the label of the chat that begins so; then all begins anew.
 */
static const char *learn_label(void **state, const char *began)
{
    struct uuid boat, bread;
    const char *label;

    two_chats("ada", &boat, &bread);
    (void)say("ada", 4 * DAY, "The rigger called");
    pause_talk();
    label = label_of_chat(began);
    assert_int_equal(strlen(label), 7);
    close_all(state);
    open_reading(state);
    return label;
}

/* --- showing --------------------------------------------------------------
 */

static void a_first_stretch_shows_earlier_chats(void **state)
{
    struct uuid boat, bread;
    const char *seen;

    (void)state;
    two_chats("ada", &boat, &bread);
    (void)say("ada", 4 * DAY, "My password: hunter2-Tr0ub4dor, so much");
    pause_talk();
    (void)say("bob", 5 * DAY, "Bob sings on Fridays");
    pause_talk();
    assert_null(strstr(fake_http_seen(fake), "mast of our boat"));
    (void)say("ada", 6 * DAY, "The rigger called");
    pause_talk();
    seen = fake_http_seen(fake);
    assert_int_equal(strlen(label_of_chat("mast of our boat")), 7);
    assert_int_equal(strlen(label_of_chat("My bread comes")), 7);
    assert_null(strstr(seen, "Bob sings"));
    assert_null(strstr(seen, "hunter2"));
    assert_non_null(strstr(seen, "so much"));
    (void)say("ada", 6 * DAY + 9 * MINUTE, "He has time on Monday");
    pause_talk();
    assert_non_null(strstr(fake_http_seen(fake), "He has time"));
    assert_string_equal(label_of_chat("mast of our boat"), "");
    assert_sound();
}

/* A long turn is cut between characters. */
static void what_is_shown_of_a_chat_is_short(void **state)
{
    char long_text[1200] = "Der Mast ";
    const char *seen;

    (void)state;
    for (size_t n = strlen(long_text); n + 3 < sizeof(long_text); n += 2) {
        memcpy(long_text + n, "\xc3\xbc", 3);
    }
    answer_chats("");
    (void)say("ada", 0, long_text);
    pause_talk();
    (void)say("ada", 2 * DAY, "The rigger called");
    pause_talk();
    seen = strstr(fake_http_seen(fake), "\\\"chats\\\":");
    assert_non_null(seen);
    seen = strstr(strstr(seen, "\\\"turns\\\""), "Der Mast");
    assert_non_null(seen);
    /* as many whole characters as fit into 300 bytes */
    assert_int_equal(strcspn(seen, "\\"), 299);
    assert_sound();
}

/* --- linking --------------------------------------------------------------
 */

static void a_chat_that_is_named_is_linked(void **state)
{
    struct advice_usage *usages = NULL;
    const struct chatlink_decision *decision;
    struct uuid boat, bread, chat;
    const char *label = learn_label(state, "mast of our boat");
    size_t count = 0;

    two_chats("ada", &boat, &bread);
    chat = say("ada", 4 * DAY, "The rigger called, it is done")->turn.chat_id;
    answer_chats(naming(label, "The rigger called"));
    pause_talk();
    decision = decision_of(&chat, &boat);
    assert_non_null(decision);
    assert_true(chatlink_decision_is_link(decision));
    assert_string_equal(decision->confidence.s, "high");
    assert_true(decision->llm > 0.9);
    assert_non_null(strstr(decision->signals.s, "The rigger called"));
    assert_non_null(strstr(decision->signals.s, "\"model\":\"test\""));
    assert_false(is_linked(&chat, &bread));
    assert_non_null(strstr(trace(), "\"linked\":1"));
    assert_sound();
    assert_int_equal(rebuild(false).n_differences, 0);
    assert_true(is_linked(&chat, &boat));
    /* nobody was asked about the pairs */
    assert_int_equal(advice_usage_list(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, 30, &usages, &count,
                                       NULL),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        assert_string_not_equal(usages[i].purpose.s, "link");
    }
}

/* What words join, and what a person says of it. */
static struct uuid join_by_words(struct uuid *weather, bool is_confirmed)
{
    const struct chatlink_decision *decision;
    struct chatlink_decision judged;
    struct uuid chat;

    answer_chats("");
    *weather = say("ada", 0, "What's the weather in New York?")->turn.chat_id;
    pause_talk();
    chat = say("ada", 45 * MINUTE, "What about Boston?")->turn.chat_id;
    decision = decision_of(&chat, weather);
    assert_non_null(decision);
    assert_true(chatlink_decision_is_link(decision));
    if (is_confirmed) {
        assert_int_equal(chatlink_feedback(&talk.world.engine,
                                           &talk.world.scope, &talk.world.arena,
                                           &decision->id, true, &judged, NULL),
                         CLEW_OK);
    }
    return chat;
}

static void a_guess_that_is_not_named_is_undone(void **state)
{
    struct uuid weather, chat;

    (void)state;
    chat = join_by_words(&weather, false);
    pause_talk();
    assert_false(is_linked(&chat, &weather));
    assert_true(decision_of(&chat, &weather)->llm < 0.1);
    assert_non_null(strstr(trace(), "\"parted\":1"));
    assert_sound();
    /* and nobody guesses again */
    (void)say("ada", 50 * MINUTE, "And in Boston tomorrow, the weather?");
    assert_false(is_linked(&chat, &weather));
    assert_sound();
}

static void what_a_person_said_of_a_link_stands(void **state)
{
    struct uuid weather, chat;

    (void)state;
    chat = join_by_words(&weather, true);
    pause_talk();
    assert_true(is_linked(&chat, &weather));
    assert_sound();
}

/* An answer without the list says nothing of them. */
static void an_answer_that_is_silent_undoes_nothing(void **state)
{
    struct uuid weather, chat;

    (void)state;
    chat = join_by_words(&weather, false);
    answer("", "", "", "");
    pause_talk();
    assert_true(was_asked());
    assert_true(is_linked(&chat, &weather));
    assert_sound();
}

/* What was shown is on record also where no answer made sense. */
static void an_answer_that_is_none_undoes_nothing(void **state)
{
    struct uuid weather, chat;

    (void)state;
    chat = join_by_words(&weather, false);
    answer_text("I cannot do that.");
    pause_talk();
    assert_non_null(strstr(trace(), "\"refused\":true"));
    assert_true(is_linked(&chat, &weather));
    assert_sound();
}

/* --- lies -----------------------------------------------------------------
 */

static void lies_about_chats_link_none(void **state)
{
    char boat_label[8], bread_label[8];
    struct uuid boat, bread, chat;

    (void)snprintf(boat_label, sizeof(boat_label), "%s",
                   learn_label(state, "mast of our boat"));
    (void)snprintf(bread_label, sizeof(bread_label), "%s",
                   learn_label(state, "My bread comes"));
    {
        const struct {
            const char *user; /* whose the earlier chats are */
            const char *label;
            const char *quote;
            const char *fault;
        } lies[] = {
            {"ada", "C000000", "The rigger called", "\"label\":1"},
            {"ada", "", "The rigger called", "\"label\":1"},
            {"ada", boat_label, "The mast is done", "\"quote\":1"},
            {"ada", boat_label, "mast of our boat", "\"quote\":1"},
            {"ada", boat_label, "", "\"quote\":1"},
            {"ada", boat_label, "it", "\"words\":1"},
            {"bob", boat_label, "The rigger called", "\"label\":1"},
            {"ada", NULL, "'C1', 7", "\"type\":2"},
        };

        for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
            close_all(state);
            open_reading(state);
            two_chats(lies[i].user, &boat, &bread);
            chat = say("ada", 4 * DAY, "The rigger called, it is done")
                       ->turn.chat_id;
            answer_chats(lies[i].label ? naming(lies[i].label, lies[i].quote)
                                       : lies[i].quote);
            pause_talk();
            assert_false(is_linked(&chat, &boat));
            assert_false(is_linked(&chat, &bread));
            if (!strstr(trace(), lies[i].fault)) {
                fail_msg("%s: %s", lies[i].quote, trace());
            }
            assert_sound();
        }
    }
    /* a chat that names itself */
    close_all(state);
    open_reading(state);
    answer_chats("");
    boat = say("ada", 0, BOAT)->turn.chat_id;
    pause_talk();
    chat = say("ada", 2 * DAY, BREAD)->turn.chat_id;
    answer_chats(naming(bread_label, "My bread comes out flat"));
    pause_talk();
    if (!strstr(trace(), "\"label\":1")) {
        fail_msg("%s", trace());
    }
    assert_false(is_linked(&chat, &chat));
    assert_false(is_linked(&chat, &boat));
    assert_sound();
}

/* --- forgetting -----------------------------------------------------------
 */

static void a_forgotten_chat_is_not_brought_back(void **state)
{
    struct forget_input input = {0};
    struct forget_receipt receipt;
    struct uuid boat, bread, chat;
    const char *label = learn_label(state, "mast of our boat");

    two_chats("ada", &boat, &bread);
    chat = say("ada", 4 * DAY, "The rigger called, it is done")->turn.chat_id;
    answer_chats(naming(label, "The rigger called"));
    pause_talk();
    assert_true(is_linked(&chat, &boat));
    input.chat_id = boat;
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, NULL),
                     CLEW_OK);
    assert_null(decision_of(&chat, &boat));
    (void)rebuild(false);
    assert_null(decision_of(&chat, &boat));
    assert_int_equal(rebuild(true).n_differences, 0);
}

DB_SQL(COUNT_ANSWERS, "SELECT COUNT(*) FROM llm_answers WHERE tenant = $1"
                      " AND purpose = 'read'"
                      " AND answer LIKE '%mast of our boat%'");

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    return rows_number(tx, &COUNT_ANSWERS, DB_NO_ARGS, arg, err);
}

/* Readings on record that quote the boat's first turn (sums are answered the
 * same here, whatever they are of). */
static int64_t n_quoting(void)
{
    int64_t count = -1;

    assert_int_equal(store_read(talk.world.engine.store, &talk.world.scope,
                                do_count, &count, NULL),
                     CLEW_OK);
    return count;
}

static void forget_turn(const struct uuid *turn_id)
{
    struct forget_input input = {.turn_ids = turn_id, .n_turn_ids = 1};
    struct forget_receipt receipt;

    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, NULL),
                     CLEW_OK);
}

static void what_quotes_an_earlier_chat_goes_with_it(void **state)
{
    struct uuid boat, bread, gone;
    const char *label = learn_label(state, "mast of our boat");

    answer_chats("");
    (void)say("ada", 0, BOAT);
    boat = talk.last.turn.chat_id;
    gone = talk.last.turn.id;
    pause_talk();
    bread = say("ada", 2 * DAY, BREAD)->turn.chat_id;
    pause_talk();
    assert_false(uuid_eq(&boat, &bread));
    (void)say("ada", 4 * DAY, "The rigger called, it is done");
    answer_chats(naming(label, "The mast of our boat"));
    pause_talk();
    assert_true(n_quoting() > 0);
    forget_turn(&gone);
    assert_int_equal(n_quoting(), 0);
    (void)rebuild(false);
    assert_int_equal(rebuild(true).n_differences, 0);
}

/* All that is stored, as an export; the caller closes it. */
static FILE *export_all(void)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(export_write(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, fileno(file), NULL),
                     CLEW_OK);
    rewind(file);
    return file;
}

static void import_all(FILE *file)
{
    static char line[1 << 20];
    struct restore_report report;

    while (fgets(line, sizeof(line), file)) {
        json_t *row = json_loads(line, 0, NULL);
        json_t *rows = json_pack("[O]", row);
        struct restore_input input = {.lines = rows};
        const char *type = json_string_value(json_object_get(row, "type"));

        if (strcmp(type, "export") != 0 && strcmp(type, "end") != 0) {
            assert_int_equal(restore_rows(&talk.world.engine, &talk.world.scope,
                                          &talk.world.arena, &input, &report,
                                          NULL),
                             CLEW_OK);
        }
        json_decref(rows);
        json_decref(row);
    }
}

static void no_import_brings_back_what_quotes_it(void **state)
{
    struct uuid gone;
    const char *label = learn_label(state, "mast of our boat");
    FILE *file;

    answer_chats("");
    (void)say("ada", 0, BOAT);
    gone = talk.last.turn.id;
    pause_talk();
    (void)say("ada", 2 * DAY, BREAD);
    pause_talk();
    (void)say("ada", 4 * DAY, "The rigger called, it is done");
    answer_chats(naming(label, "The mast of our boat"));
    pause_talk();
    assert_true(n_quoting() > 0);
    file = export_all();
    import_all(file); /* nothing was forgotten */
    assert_true(n_quoting() > 0);
    forget_turn(&gone);
    rewind(file);
    import_all(file);
    assert_int_equal(n_quoting(), 0);
    (void)fclose(file); /* it was only read */
}

static void what_quotes_a_note_goes_with_its_turn(void **state)
{
    struct uuid gone;
    struct uuid other;

    (void)state;
    (void)say("ada", 0, BOAT);
    gone = talk.last.turn.id;
    answer(NOTE("T1", "mast of our boat needs a new shroud", "fact"), "", "",
           "");
    pause_talk();
    assert_non_null(find("llm", "mast of our boat"));
    (void)say("ada", 2 * DAY, BREAD);
    answer_chats("");
    pause_talk();
    /* a second stretch is shown no earlier chats, but notes */
    other = say("ada", 2 * DAY + 20 * MINUTE,
                "We bought the yeast at the mill, by the way")
                ->turn.chat_id;
    answer(NOTE("T1", "The mast of our boat", "fact"), "", "", "");
    pause_talk();
    assert_true(n_quoting() > 1);
    forget_turn(&gone);
    assert_int_equal(n_quoting(), 0);
    assert_false(uuid_is_nil(&other));
    (void)rebuild(false);
    assert_int_equal(rebuild(true).n_differences, 0);
}

static void other_answers_stay(void **state)
{
    struct uuid boat, bread;
    int64_t count;

    (void)state;
    two_chats("ada", &boat, &bread);
    (void)say("bob", 3 * DAY, "Their mast of our boat song is the best");
    answer(NOTE("T1", "mast of our boat song", "fact"), "", "", "");
    pause_talk();
    count = n_quoting();
    assert_true(count > 0);
    (void)say("ada", 4 * DAY, "The rigger called");
    forget_turn(&talk.last.turn.id);
    assert_int_equal(n_quoting(), count);
}

int main(void)
{
#define CASE(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_reading, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_first_stretch_shows_earlier_chats),
        CASE(what_is_shown_of_a_chat_is_short),
        CASE(a_chat_that_is_named_is_linked),
        CASE(a_guess_that_is_not_named_is_undone),
        CASE(what_a_person_said_of_a_link_stands),
        CASE(an_answer_that_is_silent_undoes_nothing),
        CASE(an_answer_that_is_none_undoes_nothing),
        CASE(lies_about_chats_link_none),
        CASE(a_forgotten_chat_is_not_brought_back),
        CASE(what_quotes_an_earlier_chat_goes_with_it),
        CASE(no_import_brings_back_what_quotes_it),
        CASE(what_quotes_a_note_goes_with_its_turn),
        CASE(other_answers_stay),
    };

    return WORLD_EACH(tests);
}
