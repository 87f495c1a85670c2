/* SPDX-License-Identifier: Apache-2.0 */
/* Notes are the speaker's own words, and what they leave out in brackets. */
#include "support/test.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "talk/select.h"

#include <stdio.h>

#define NOW 1771200000000LL /* 2026-02-16, a Monday */
#define MAX_SENTENCES 2000

static struct arena arena;
static struct analysis analysis;
static struct reader_sentence read[MAX_SENTENCES];
static struct select_turn turn;
static struct select_input input;

/* A turn of which nothing is worth anything yet. */
static void say(const char *text)
{
    struct analysis_options options = {.time_ms = NOW};

    arena_clear(&arena);
    assert_int_equal(analysis_run(&arena, arena_str(&arena, str_of(text)),
                                  &options, &analysis, NULL),
                     CLEW_OK);
    assert_true(analysis.n_sentences <= MAX_SENTENCES);
    memset(read, 0, sizeof(read));
    for (size_t i = 0; i < MAX_SENTENCES; i++) {
        read[i].keep[READER_KEEP_NONE] = 1;
        read[i].act[READER_ACT_NONE] = 1;
        read[i].about[READER_ABOUT_SELF] = 1;
    }
    turn = (struct select_turn){
        .text = analysis.text, .analysis = &analysis, .read = read};
    input = (struct select_input){.turn = &turn};
}

static void keep_as(size_t i, enum reader_keep keep, float p)
{
    read[i].keep[READER_KEEP_NONE] = 1 - p;
    read[i].keep[keep] = p;
}

/* All sentences are facts beyond doubt. */
static void keep_all(void)
{
    for (size_t i = 0; i < MAX_SENTENCES; i++) {
        keep_as(i, READER_KEEP_FACT, 0.99f);
    }
}

static void does(size_t i, enum reader_act act, float p)
{
    read[i].act[READER_ACT_NONE] = 1 - p;
    read[i].act[act] = p;
}

static struct select_note *notes(size_t expected)
{
    struct select_note *out = NULL;
    size_t count = 0;

    assert_int_equal(select_notes(&arena, &input, &out, &count), CLEW_OK);
    if (count != expected) {
        for (size_t i = 0; i < count; i++) {
            print_message("%s\n", out[i].summary.s);
        }
    }
    assert_int_equal(count, expected);
    return out;
}

static int open_arena(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void a_note_is_what_was_said(void **state)
{
    const struct select_note *note;

    (void)state;
    say("Hello there. My  sister Greta is\nallergic to peanuts. Bye!");
    keep_as(1, READER_KEEP_FACT, 0.9f);
    read[1].about[READER_ABOUT_SELF] = 0;
    read[1].about[READER_ABOUT_OTHER] = 1;
    note = notes(1);
    assert_string_equal(note->summary.s,
                        "My sister Greta is allergic to peanuts.");
    assert_int_equal(note->keep, READER_KEEP_FACT);
    assert_int_equal(note->about, READER_ABOUT_OTHER);
    assert_true(note->confidence > 0.89f && note->confidence < 0.91f);
    assert_memory_equal(turn.text.s + note->cite.from, "My  sister", 10);
    assert_int_equal(note->cite.to - note->cite.from, 40);
    assert_false(note->is_hedged || note->is_negated || note->has_time);
}

static void nothing_said_gives_nothing(void **state)
{
    (void)state;
    say("");
    notes(0);
    say("Hello there. How are you?");
    notes(0);
    say("Ok. And so it is."); /* nothing in it that tells anything */
    keep_all();
    notes(0);
}

static void every_type_has_its_name(void **state)
{
    static const char *const names[] = {"fact",     "preference",  "event",
                                        "decision", "instruction", "fact"};

    (void)state;
    for (int i = READER_KEEP_FACT; i < READER_KEEPS; i++) {
        say("The harbour museum opens its archive.");
        keep_as(0, (enum reader_keep)i, 0.95f);
        assert_int_equal(notes(1)->keep, i);
        assert_string_equal(select_type_name((enum reader_keep)i),
                            names[i - 1]);
    }
}

static void neighbours_become_one_note_and_rules_stay_apart(void **state)
{
    const struct select_note *made;

    (void)state;
    say("The archive moved to Bremen. The backup runs at night. Always write "
        "to Wanda first.");
    keep_all();
    keep_as(2, READER_KEEP_INSTRUCTION, 0.9f);
    read[2].keep[READER_KEEP_FACT] = 0;
    made = notes(2);
    assert_string_equal(made[0].summary.s,
                        "The archive moved to Bremen. The backup runs at "
                        "night.");
    assert_string_equal(made[1].summary.s, "Always write to Wanda first.");
    assert_int_equal(made[1].keep, READER_KEEP_INSTRUCTION);
}

static void code_and_what_is_supposed_are_never_kept(void **state)
{
    (void)state;
    say("```\nthe port is 8080\n```");
    keep_all();
    notes(0);
    say("Suppose the archive moved to Bremen.");
    keep_all();
    read[0].flag[READER_SUPPOSED] = 0.99f;
    notes(0);
    say("The archive moved to Bremen.\n```c\nint port = 8080;\n```\n"
        "The backup runs at night.");
    keep_all();
    for (size_t i = 0; i < 2; i++) {
        assert_null(strstr(notes(2)[i].summary.s, "8080"));
    }
}

static void flags_are_told(void **state)
{
    const struct select_note *note;

    (void)state;
    say("I think the archive does not open on Sundays.");
    keep_all();
    read[0].flag[READER_HEDGED] = 0.9f;
    read[0].flag[READER_NEGATED] = 0.9f;
    note = notes(1);
    assert_true(note->is_hedged);
    assert_true(note->is_negated);
}

/* --- brackets --------------------------------------------------------------
 */

static void the_matter_stands_before_words_that_do_not_name_it(void **state)
{
    (void)state;
    say("It was the valve.");
    keep_all();
    input.matter = STR("The boiler loses pressure");
    assert_string_equal(notes(1)->summary.s,
                        "[The boiler loses pressure] It was the valve.");
    say("The valve under the sink was loose and Marek tightened both screws.");
    keep_all();
    assert_string_equal(notes(1)->summary.s,
                        "The valve under the sink was loose and Marek "
                        "tightened both screws."); /* speaks for itself */
    say("The boiler valve under the sink was loose and I tightened it.");
    keep_all();
    input.matter = STR("The boiler loses pressure");
    assert_string_equal(notes(1)->summary.s,
                        "The boiler valve under the sink was loose and I "
                        "tightened it.");
}

static void a_thin_answer_brings_its_question(void **state)
{
    (void)state;
    say("In Bremen.");
    keep_all();
    input.before = STR("That is nice to hear. Where do you live now?");
    assert_string_equal(notes(1)->summary.s,
                        "[Where do you live now?] In Bremen.");
    input.before = STR("\n  Where do you live now?  \n");
    assert_string_equal(notes(1)->summary.s,
                        "[Where do you live now?] In Bremen.");
    input.before = STR("Tell me the town");
    assert_string_equal(notes(1)->summary.s, "[Tell me the town] In Bremen.");
    input.before = STR(""); /* nobody knows what is there */
    notes(0);
    input.before = STR("Ok.");
    notes(0);
    say("The archive of the harbour museum moved to Bremen last winter.");
    keep_all();
    input.before = STR("Where is it now?");
    assert_true(notes(1)->summary.s[0] == 'T'); /* it says enough itself */
}

static void what_does_not_stand_is_no_note(void **state)
{
    (void)state;
    say("Fix it again."); /* what to do always counts */
    keep_as(0, READER_KEEP_INSTRUCTION, 0.98f);
    notes(1);
    say("It costs 40 euros."); /* beyond doubt, with a value of its own */
    keep_as(0, READER_KEEP_FACT, 0.999f);
    notes(1);
    say("The council is content with our menu. She asked for a sheet.");
    keep_as(0, READER_KEEP_FACT, 0.9f);
    keep_as(1, READER_KEEP_FACT, 0.9f);
    assert_string_equal(notes(1)->summary.s,
                        "The council is content with our menu.");
}

static void a_longer_answer_brings_its_question(void **state)
{
    (void)state;
    say("Wednesdays at seven, in the hall of the music school.");
    input.before = STR("When does the choir meet?");
    keep_as(0, READER_KEEP_FACT, 0.9f);
    assert_memory_equal(notes(1)->summary.s, "[When does the choir meet?] W",
                        29);
}

static void what_is_in_brackets_is_short(void **state)
{
    char before[4000];
    const struct select_note *note;

    (void)state;
    memset(before, 'x', sizeof(before) - 1);
    before[sizeof(before) - 1] = '\0';
    say("In Bremen.");
    keep_all();
    input.before = str_of(before);
    note = notes(1);
    assert_true(note->summary.len < 190);
    assert_non_null(strstr(note->summary.s, "…] In Bremen."));
}

/* Sentence `i` is a note, the others are not. */
static const char *note_of(size_t i)
{
    keep_as(i, READER_KEEP_FACT, 0.9f);
    return notes(1)->summary.s;
}

static void a_pointer_brings_the_sentence_that_names_it(void **state)
{
    (void)state;
    say("The loom in the attic has a cracked beam. Honestly. Orla will mend "
        "it on Friday 6 March 2026.");
    assert_string_equal(note_of(2),
                        "[The loom in the attic has a cracked beam.] Orla "
                        "will mend it on Friday 6 March 2026.");
    /* it has named what it means */
    say("The loom in the attic has a cracked beam. The kiln door jams but "
        "Orla can mend it.");
    assert_string_equal(note_of(1), "The kiln door jams but Orla can mend it.");
    /* far from the beginning, and a plural that stands for a noun */
    say("My daughter collects enamel thimbles. Yesterday at the flea market "
        "in Lund we picked up eleven new ones.");
    assert_memory_equal(note_of(1), "[My daughter collects enamel thimbles.] ",
                        40);
}

static void a_person_is_not_a_thing(void **state)
{
    (void)state;
    say("My aunt turns eighty this spring. The bakery has a long queue. I "
        "ordered a plum cake because she is fond of plums.");
    assert_memory_equal(note_of(2), "[My aunt turns eighty this spring.] ", 36);
    say("My aunt turns eighty this spring. I told Ingrid that she gets the "
        "plum cake.");
    assert_true(note_of(1)[0] == 'I'); /* may well be Ingrid */
}

static void what_names_it_may_lean_itself(void **state)
{
    (void)state;
    say("We adopted a greyhound from the shelter. It sleeps on the porch. "
        "That surprised the neighbours a lot.");
    assert_string_equal(note_of(2),
                        "[We adopted a greyhound from the shelter.] [It "
                        "sleeps on the porch.] That surprised the neighbours "
                        "a lot.");
}

static void a_part_brings_what_its_turn_is_about(void **state)
{
    static const char about[] = "I need advice on sails for my dinghy. ";
    char text[200];

    (void)state;
    (void)snprintf(text, sizeof(text), "%sI measured four metres of mast.",
                   about);
    say(text);
    does(0, READER_ACT_OPENS, 0.9f);
    assert_string_equal(note_of(1), "[I need advice on sails for my dinghy.] "
                                    "I measured four metres of mast.");
    /* it names nothing that the note does not */
    say("I need a mast. I measured four metres of mast.");
    does(0, READER_ACT_OPENS, 0.9f);
    assert_true(note_of(1)[0] == 'I');
    /* and not where the speaker says it is something else */
    (void)snprintf(text, sizeof(text),
                   "%sBy the way, Ottilie won the chess cup.", about);
    say(text);
    does(0, READER_ACT_OPENS, 0.9f);
    assert_true(note_of(1)[0] == 'B');
    /* a greeting is about nothing */
    say("Good evening dear neighbours. I measured four metres of mast.");
    assert_true(note_of(1)[0] == 'I');
    /* nor may "he" be taken for somebody in the note */
    say("He painted the regatta posters. Birgit measured four metres of mast.");
    keep_as(0, READER_KEEP_FACT, 0.2f);
    assert_true(note_of(1)[0] == 'B');
    /* what says a little is */
    say("The regatta rehearsal was wild. I measured four metres of mast.");
    keep_as(0, READER_KEEP_FACT, 0.2f);
    assert_memory_equal(note_of(1), "[The regatta rehearsal was wild.] ", 34);
}

static void a_question_that_points_brings_what_it_is_about(void **state)
{
    (void)state;
    say("Just under a fortnight.");
    input.before = STR("The scaffolding looks solid. How long will it stay?");
    input.before_by = STR("Noor");
    assert_string_equal(note_of(0),
                        "[Noor: The scaffolding looks solid.] [How long will "
                        "it stay?] Just under a fortnight.");
    input.before = STR("How long will it stay?");
    input.earlier = STR("They put up a scaffolding in our yard.");
    input.is_earlier_own = true;
    assert_string_equal(note_of(0),
                        "[They put up a scaffolding in our yard.] [How long "
                        "will it stay?] Just under a fortnight.");
    input.is_earlier_own = false; /* a third person may mean anything */
    assert_string_equal(note_of(0),
                        "[How long will it stay?] Just under a fortnight.");
}

static void you_is_the_only_other_person(void **state)
{
    (void)state;
    say("I left the spare key of the cellar under your doormat.");
    input.before = STR("The parcel from the tailor has arrived at last.");
    input.before_by = STR("Noor");
    assert_true(note_of(0)[0] == 'I'); /* "assistant" is nobody's name */
    input.is_before_named = true;
    assert_string_equal(note_of(0),
                        "[to Noor] I left the spare key of the cellar under "
                        "your doormat.");
    say("I left the spare key of the cellar under the doormat.");
    input.before = STR("The parcel from the tailor has arrived at last.");
    input.before_by = STR("Noor");
    input.is_before_named = true;
    assert_true(note_of(0)[0] == 'I');
}

static void relative_dates_are_told_and_others_are_not(void **state)
{
    const struct select_note *note;

    (void)state;
    say("The meeting with Wanda Quill is tomorrow.");
    keep_as(0, READER_KEEP_EVENT, 0.9f);
    note = notes(1);
    assert_string_equal(note->summary.s,
                        "The meeting with Wanda Quill is tomorrow. "
                        "[2026-02-17]");
    assert_true(note->has_time);
    assert_true(note->from_ms == NOW + CLOCK_DAY_MS);
    assert_true(note->to_ms == NOW + 2 * CLOCK_DAY_MS);
    say("The meeting with Wanda Quill is on 3 March 2026.");
    keep_as(0, READER_KEEP_EVENT, 0.9f);
    note = notes(1);
    assert_null(strchr(note->summary.s, '['));
    assert_true(note->has_time);
}

static void the_day_said_is_told_and_an_unsure_one_is_not(void **state)
{
    (void)state; /* a Monday in February */
    say("The lift has been broken since Friday.");
    keep_as(0, READER_KEEP_FACT, 0.9f);
    assert_string_equal(notes(1)->summary.s,
                        "The lift has been broken since Friday. [2026-02-13]");
    say("The landlord wants the form by 20 March.");
    keep_as(0, READER_KEEP_FACT, 0.9f);
    assert_string_equal(
        notes(1)->summary.s,
        "The landlord wants the form by 20 March. [2026-03-20]");
    say("Wanda Quill was born on 9 August.");
    keep_as(0, READER_KEEP_FACT, 0.9f);
    assert_null(strchr(notes(1)->summary.s, '['));
    assert_false(notes(1)->has_time);
}

static void events_expire_after_their_end(void **state)
{
    int64_t day = CLOCK_DAY_MS;

    (void)state;
    assert_true(select_expiry_ms(0, day) == 15 * day);
    assert_true(select_expiry_ms(0, 7 * day) == 67 * day);
    assert_true(select_expiry_ms(0, 100 * day) == 465 * day);
}

/* --- limits ----------------------------------------------------------------
 */

static void the_notes_of_a_turn_are_few(void **state)
{
    char text[20000] = "";
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 60; i++) {
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "The shelf number %d of the archive holds the letters that the "
            "harbour master wrote to his sister in Bremen, the bills of the "
            "winter and many a photograph of ships that were lost. ",
            i);
    }
    say(text);
    keep_all();
    for (size_t i = 0; i < SELECT_MAX_NOTES; i++) {
        const struct select_note *note = &notes(SELECT_MAX_NOTES)[i];

        assert_true(note->summary.len <= 900);
        assert_true(note->n_tags <= SELECT_MAX_TAGS);
    }
}

/* Repeats `part` up to about `size` bytes. */
static const char *repeated(const char *part, size_t size)
{
    static char text[16384];
    size_t n = size / strlen(part);

    memset(text, 0, sizeof(text));
    assert_true(n * strlen(part) < sizeof(text));
    for (size_t i = 0; i < n; i++) {
        memcpy(text + i * strlen(part), part, strlen(part));
    }
    return text;
}

static void hostile_texts_leave_whole_notes(void **state)
{
    static const char *const parts[] = {"漢字仮名",
                                        "tomorrow ",
                                        "next Friday and ",
                                        "é",
                                        "a\xCC\x81",
                                        "🏴‍☠️",
                                        "Bremen ",
                                        "[[[[",
                                        "]] ignore ]",
                                        "%s%n%d ",
                                        "2026-02-17 ",
                                        "Wanda Quill, ",
                                        "x",
                                        ("\xE2\x80\xAE"
                                         "Bremen "),
                                        "last week? ",
                                        "1 2 3 "};

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (size_t size = 90; size < 9000; size += size / 3) {
            struct select_note *made = NULL;
            struct select_opening opening;
            struct str ending;
            size_t count = 0;

            say(repeated(parts[i], size));
            keep_all();
            does(0, READER_ACT_OPENS, 0.9f);
            input.before = turn.text;
            input.matter = turn.text;
            assert_int_equal(select_notes(&arena, &input, &made, &count),
                             CLEW_OK);
            assert_true(count <= SELECT_MAX_NOTES);
            for (size_t k = 0; k < count; k++) {
                assert_true(utf8_is_valid(made[k].summary));
                assert_true(made[k].summary.len < 1500);
            }
            assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
            assert_true(opening.title.len < 200);
            assert_true(utf8_is_valid(opening.title));
            does(0, READER_ACT_RESOLVES, 0.9f);
            assert_int_equal(select_ending(&arena, &turn, &ending), CLEW_OK);
            assert_true(ending.len < 1000);
            assert_true(utf8_is_valid(ending));
        }
    }
}

/* --- efforts ---------------------------------------------------------------
 */

static void the_opening_sentence_is_the_title(void **state)
{
    struct select_opening opening;

    (void)state;
    say("Good morning. My boiler loses pressure and I have to find the leak. "
        "It is an old one.");
    assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
    assert_true(opening.confidence <= 0);
    does(1, READER_ACT_OPENS, 0.9f);
    assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
    assert_true(opening.confidence > 0.8f);
    assert_string_equal(opening.title.s,
                        "My boiler loses pressure and I have to find the "
                        "leak.");
}

static void an_opening_that_names_nothing_takes_its_neighbours(void **state)
{
    struct select_opening opening;

    (void)state;
    say("Can you help? The login page shows a blank screen after the update.");
    does(0, READER_ACT_OPENS, 0.9f);
    assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
    assert_non_null(strstr(opening.title.s, "The login page shows"));
    say("The login page shows a blank screen after the update. Can you help?");
    does(1, READER_ACT_OPENS, 0.9f);
    assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
    assert_non_null(strstr(opening.title.s, "The login page shows"));
}

static void code_and_courtesy_open_nothing(void **state)
{
    const char *said[] = {"```\nfix the login page\n```", "您好，请问在吗"};
    struct select_opening opening;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        say(said[i]);
        does(0, READER_ACT_OPENS, 0.99f);
        assert_int_equal(select_opening(&arena, &turn, &opening), CLEW_OK);
        assert_true(opening.confidence <= 0);
    }
}

static void an_ending_is_what_tells_of_it(void **state)
{
    struct str ending;

    (void)state;
    say("Thanks! The valve under the sink was loose. So it was the nut. "
        "Tightening it stopped the leak. See you.");
    does(0, READER_ACT_RESOLVES, 0.9f);
    does(3, READER_ACT_RESOLVES, 0.9f);
    keep_as(1, READER_KEEP_FACT, 0.9f);
    assert_int_equal(select_ending(&arena, &turn, &ending), CLEW_OK);
    assert_string_equal(ending.s,
                        "The valve under the sink was loose. So it "
                        "was the nut. Tightening it stopped the leak.");
    say("Thanks!");
    does(0, READER_ACT_RESOLVES, 0.9f);
    assert_int_equal(select_ending(&arena, &turn, &ending), CLEW_OK);
    assert_int_equal(ending.len, 0);
}

/* --- memory ----------------------------------------------------------------
 */

static void running_out_of_memory_is_told(void **state)
{
    bool is_done = false;

    (void)state;
    for (uint64_t n = 1; n < 200 && !is_done; n++) {
        struct select_note *made = NULL;
        struct select_opening opening;
        struct str ending;
        size_t count = 0;
        struct arena own;
        int64_t live;
        enum clew_status status;

        say("The archive moved to Bremen yesterday. The valve was loose.");
        keep_all();
        does(0, READER_ACT_OPENS, 0.9f);
        does(1, READER_ACT_RESOLVES, 0.9f);
        live = alloc_live_count();
        arena_init(&own, 1 << 20);
        alloc_fail_at(n);
        status = select_notes(&own, &input, &made, &count);
        if (status == CLEW_OK) {
            status = select_opening(&own, &turn, &opening);
        }
        if (status == CLEW_OK) {
            status = select_ending(&own, &turn, &ending);
        }
        is_done = !alloc_fail_fired();
        alloc_fail_at(0);
        assert_int_equal(status, is_done ? CLEW_OK : CLEW_NO_MEMORY);
        arena_release(&own);
        assert_int_equal(alloc_live_count(), live);
    }
    assert_true(is_done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_is_what_was_said),
        cmocka_unit_test(nothing_said_gives_nothing),
        cmocka_unit_test(every_type_has_its_name),
        cmocka_unit_test(neighbours_become_one_note_and_rules_stay_apart),
        cmocka_unit_test(code_and_what_is_supposed_are_never_kept),
        cmocka_unit_test(flags_are_told),
        cmocka_unit_test(the_matter_stands_before_words_that_do_not_name_it),
        cmocka_unit_test(a_thin_answer_brings_its_question),
        cmocka_unit_test(what_does_not_stand_is_no_note),
        cmocka_unit_test(a_longer_answer_brings_its_question),
        cmocka_unit_test(what_is_in_brackets_is_short),
        cmocka_unit_test(a_pointer_brings_the_sentence_that_names_it),
        cmocka_unit_test(a_person_is_not_a_thing),
        cmocka_unit_test(what_names_it_may_lean_itself),
        cmocka_unit_test(a_part_brings_what_its_turn_is_about),
        cmocka_unit_test(a_question_that_points_brings_what_it_is_about),
        cmocka_unit_test(you_is_the_only_other_person),
        cmocka_unit_test(relative_dates_are_told_and_others_are_not),
        cmocka_unit_test(the_day_said_is_told_and_an_unsure_one_is_not),
        cmocka_unit_test(events_expire_after_their_end),
        cmocka_unit_test(the_notes_of_a_turn_are_few),
        cmocka_unit_test(hostile_texts_leave_whole_notes),
        cmocka_unit_test(the_opening_sentence_is_the_title),
        cmocka_unit_test(an_opening_that_names_nothing_takes_its_neighbours),
        cmocka_unit_test(code_and_courtesy_open_nothing),
        cmocka_unit_test(an_ending_is_what_tells_of_it),
        cmocka_unit_test(running_out_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
