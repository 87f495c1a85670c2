/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_claim.c - statements in a turn, and the pure parts of the chain rules.
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/config.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/read/claim_spans.h"
#include "engine/read/reading.h"
#include "engine/topic/chain_decide.h"
#include "engine/topic/chain_step.h"
#include "talk/said.h"

#include <math.h>

static struct config *config;
static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 26);
    assert_int_equal(config_load(NULL, NULL, 0, &config, NULL), CLEW_OK);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    config_free(config);
    return 0;
}

static struct analysis analyse(const char *text)
{
    struct analysis_options options = {.time_ms = 1771200000000LL};
    struct analysis out;
    struct clew_error err = {0};

    assert_int_equal(analysis_run(&arena, str_of(text), &options, &out, &err),
                     CLEW_OK);
    return out;
}

static struct chain_features features_of(const char *text, bool is_user)
{
    struct analysis a = analyse(text);
    struct chain_features out;

    assert_int_equal(
        chain_features_of(&arena, &a, 0, a.n_sentences, is_user, &out),
        CLEW_OK);
    return out;
}

static size_t claims_of(const char *text, struct claim **out)
{
    struct analysis a = analyse(text);
    struct turn turn = {.created_at_ms = 1771200000000LL};
    struct clew_error err = {0};
    size_t count = 0;

    assert_int_equal(claim_read(&arena, &a, &turn, out, &count, &err), CLEW_OK);
    return count;
}

static void the_type_of_a_claim_follows_its_words(void **state)
{
    static const struct {
        const char *text;
        enum claim_type type;
    } cases[] = {
        {"The server runs on port 80.", CLAIM_FACTUAL},
        {"I think the bridge opens in May.", CLAIM_BELIEF},
        {"I plan to visit Rome.", CLAIM_INTENTION},
        {"The soup is too salty.", CLAIM_ASSESSMENT},
        {"I prefer tea over coffee.", CLAIM_PREFERENCE},
        {"The lamp failed because of the rain.", CLAIM_CAUSAL},
        {"Where is the station?", CLAIM_QUESTION},
        {"We decided to use PostgreSQL.", CLAIM_DECISION},
        {"I am excited about the concert.", CLAIM_EMOTION},
        {"My goal is a marathon.", CLAIM_GOAL},
        {"Honesty is important to me.", CLAIM_VALUE},
        {"My sister lives in Oslo.", CLAIM_RELATIONSHIP},
        {"I am a carpenter.", CLAIM_SELF_PERCEPTION},
        {"I usually run before breakfast.", CLAIM_HABIT},
        {"As I mentioned, the roof leaks.", CLAIM_MEMORY_REFERENCE},
        {"I am worried about the deadline.", CLAIM_CONCERN},
        {"I learned that whales sleep.", CLAIM_LEARNING},
        {"I no longer eat meat.", CLAIM_CHANGE_MARKER},
        {"What if the engine stops?", CLAIM_HYPOTHETICAL},
        {"I will send the report.", CLAIM_COMMITMENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct claim *claims;

        assert_int_equal(claims_of(cases[i].text, &claims), 1);
        if (claims[0].type != cases[i].type) {
            fail_msg("%s: %s", cases[i].text, claim_type_name(claims[0].type));
        }
    }
}

static void every_type_has_a_name_that_reads_back(void **state)
{
    enum claim_type type;

    (void)state;
    for (int i = 0; i < CLAIM_TYPES; i++) {
        assert_true(claim_type_parse(
            str_of(claim_type_name((enum claim_type)i)), &type));
        assert_int_equal(type, i);
    }
    assert_false(claim_type_parse(STR("gossip"), &type));
}

static void doubt_lowers_confidence(void **state)
{
    struct claim *sure;
    struct claim *unsure;

    (void)state;
    (void)claims_of("The train leaves at nine.", &sure);
    (void)claims_of("Maybe the train leaves at nine.", &unsure);
    assert_true(unsure->confidence < sure->confidence);
}

static void a_long_turn_keeps_its_most_telling_sentences(void **state)
{
    static const char part[] =
        "The red lamp in the kitchen flickers at night. Ok. ";
    char text[30 * sizeof(part)] = "";
    struct claim *claims;
    size_t count;

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        memcpy(text + i * (sizeof(part) - 1), part, sizeof(part));
    }
    count = claims_of(text, &claims);
    assert_int_equal(count, CLAIM_MAX_PER_TURN);
    for (size_t i = 1; i < count; i++) {
        assert_true(claims[i].first_byte >= claims[i - 1].end_byte);
    }
}

static void an_empty_turn_claims_nothing(void **state)
{
    struct claim *claims;

    (void)state;
    assert_int_equal(claims_of("", &claims), 0);
    assert_int_equal(claims_of("Thanks!", &claims), 0);
    assert_int_equal(claims_of("...", &claims), 0);
    assert_int_equal(claims_of("ありがとうございます", &claims), 0);
    assert_int_equal(claims_of("你好！", &claims), 0);
    assert_int_equal(claims_of("打印机坏了", &claims), 1);
}

/* --- the rules --------------------------------------------------------------
 */

static void the_tables_of_phrases_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < chain_n_phrases; i++) {
        const char *a = chain_phrases[i - 1].text;
        const char *b = chain_phrases[i].text;
        struct str x = {a, strcspn(a, " ")};
        struct str y = {b, strcspn(b, " ")};

        if (str_cmp(x, y) > 0) {
            fail_msg("\"%s\" before \"%s\"", a, b);
        }
    }
}

static void contractions_read_the_same_however_written(void **state)
{
    (void)state;
    assert_true(features_of("what's it like?", true).cues & CUE_PRONOUN);
    assert_int_equal(
        features_of("I'm looking for a hotel", true).cues,
        features_of("I\xE2\x80\x99m looking for a hotel", true).cues);
    assert_int_equal(features_of("I ' m looking for a hotel", true).cues,
                     features_of("I'm looking for a hotel", true).cues);
}

static void expletives_are_no_pronouns(void **state)
{
    (void)state;
    assert_true(features_of("Can you book it?", true).cues & CUE_PRONOUN);
    assert_false(features_of("Is there a hotel?", true).cues & CUE_PRONOUN);
    assert_false(features_of("Will it rain?", true).cues & CUE_PRONOUN_EARLY &&
                 !(features_of("Will it rain?", true).cues & CUE_EXPLETIVE));
}

static void answers_fit_their_questions(void **state)
{
    (void)state;
    assert_true(features_of("What time do you want to leave?", false).asks &
                SLOT_TIME);
    assert_true(features_of("After 14:15, please.", true).supplies & SLOT_TIME);
    assert_true(features_of("How many people?", false).asks & SLOT_NUMBER);
    assert_true(features_of("It is for 7 people.", true).supplies &
                SLOT_NUMBER);
    assert_true(features_of("Would you like a table?", false).asks &
                SLOT_YES_NO);
    assert_true(features_of("Yes please.", true).supplies & SLOT_YES_NO);
    assert_true(features_of("Where are you?", false).asks & SLOT_PLACE);
}

static void words_of_a_turn_are_capped(void **state)
{
    (void)state;
    assert_int_equal(
        features_of("penguin volcano violin bicycle dentist walnut harbour "
                    "kettle ladder mountain needle orchard parrot quarry",
                    true)
            .n_words,
        CHAIN_TURN_WORDS);
}

static void the_seeds_formula_has_the_seeds_values(void **state)
{
    struct chain_seed_input nothing = {.subject = STR("bananas"),
                                       .topic = STR("weather")};
    struct chain_seed_input name = nothing;
    struct chain_seed_input same = {.subject = STR("the weather"),
                                    .topic = STR("the weather")};

    (void)state;
    name.shared_names = 1;
    name.subject = STR("");
    nothing.subject = STR("");
    assert_true(fabs(chain_seed_distance(&nothing) - 0.80) < 1e-9);
    assert_true(fabs(chain_seed_distance(&name) - 0.50) < 1e-9);
    assert_true(fabs(chain_seed_distance(&same) - 0.50) < 1e-9);
    name.shared_names = 9;
    assert_true(chain_seed_distance(&name) < 1e-9);
    nothing.age_ms = CLOCK_DAY_MS;
    assert_true(fabs(chain_seed_distance(&nothing) - (1 - 0.2 * exp(-1))) <
                1e-9);
}

static void points_map_onto_the_seeds_thresholds(void **state)
{
    (void)state;
    assert_true(chain_distance(1.01f, 1.0f) < 0.55);
    assert_true(chain_distance(0.99f, 1.0f) > 0.55);
    assert_true(chain_distance(-0.99f, 1.0f) < 0.75);
    assert_true(chain_distance(-1.01f, 1.0f) > 0.75);
    assert_true(chain_distance(100, 0) >= 0);
    assert_true(chain_distance(-100, 0) <= 1);
}

static void a_state_survives_packing(void **state)
{
    struct chain_features turn =
        features_of("Is the weather in New York cold on Thursday?", true);
    struct chain_features reply =
        features_of("It will be cold and dry.", false);
    struct chain_vector vector = {{100, -100}};
    struct chain_state a;
    struct chain_state b;
    struct buf bytes;
    struct buf again;

    (void)state;
    chain_state_init(&a);
    chain_state_add(&a, &turn, &vector);
    chain_state_add(&a, &reply, &vector);
    a.n_topic = 1;
    a.topic[0] = 42;
    buf_init(&bytes, 1 << 16);
    assert_int_equal(chain_state_write(&a, &bytes), CLEW_OK);
    assert_true(chain_state_read(buf_str(&bytes), &b));
    /* compared as bytes: between the fields of a struct anything may stand */
    buf_init(&again, 1 << 16);
    assert_int_equal(chain_state_write(&b, &again), CLEW_OK);
    assert_true(str_eq(buf_str(&bytes), buf_str(&again)));
    assert_int_equal(b.n_turns, 2);
    for (size_t i = 0; i < bytes.len; i++) {
        assert_false(chain_state_read((struct str){bytes.data, i}, &b));
    }
    buf_release(&again);
    buf_release(&bytes);
}

static void a_chain_keeps_its_size_however_long_it_grows(void **state)
{
    struct chain_state chain;
    struct buf bytes;

    (void)state;
    chain_state_init(&chain);
    for (int i = 0; i < 500; i++) {
        char text[96];
        struct chain_features turn;

        (void)snprintf(text, sizeof(text),
                       "Zork%dq likes glimp%dx and "
                       "frobar%d in Berlin.",
                       i, i, i);
        turn = features_of(text, true);
        chain_state_add(&chain, &turn, NULL);
    }
    buf_init(&bytes, 1 << 16);
    assert_int_equal(chain_state_write(&chain, &bytes), CLEW_OK);
    assert_true(bytes.len < 1500);
    assert_int_equal(chain.n_turns, 500);
    buf_release(&bytes);
}

/* --- as they are kept -------------------------------------------------------
 */

static void claims_are_read_again_as_they_were(void **state)
{
    static const char text[] =
        "Anna moved to Oslo on 3 May 2026. Maybe the harbour is closed.\n\n"
        "Where does the ferry to Bergen leave? Ok. I will ask Tom.";
    struct engine engine = {.config = config};
    struct turn turn = {.id = {{9}},
                        .role = TURN_USER,
                        .text = STR(text),
                        .created_at_ms = 1767225600000};
    struct clew_error err = {0};
    struct analysis a;
    struct claim *said;
    struct claim *kept;
    size_t n_said = 0;
    size_t n_kept = 0;
    struct buf spans;

    (void)state;
    assert_int_equal(reading_analyse(&arena, &turn, &a, &err), CLEW_OK);
    assert_int_equal(claim_read(&arena, &a, &turn, &said, &n_said, &err),
                     CLEW_OK);
    assert_int_equal(n_said, 4);
    buf_init(&spans, 256);
    assert_int_equal(claim_spans_write(said, n_said, &spans), CLEW_OK);
    assert_string_equal(spans.data, "0+33a34+28A64+37g106+15t");
    assert_int_equal(claim_spans_count(buf_str(&spans)), 4);
    assert_true(claim_spans_read(&arena, buf_str(&spans), &kept, &n_kept));
    buf_release(&spans);
    assert_int_equal(n_kept, n_said);
    assert_int_equal(
        claim_spans_fill(&engine, &arena, &turn, kept, n_kept, &err), CLEW_OK);
    for (size_t i = 0; i < n_said; i++) {
        assert_true(uuid_eq(&kept[i].id, &said[i].id));
        assert_true(uuid_eq(&kept[i].turn_id, &turn.id));
        assert_int_equal(kept[i].position, said[i].position);
        assert_int_equal(kept[i].type, said[i].type);
        assert_true(kept[i].confidence == said[i].confidence);
        assert_true(str_eq(kept[i].statement, said[i].statement));
        assert_true(str_eq(kept[i].subject, said[i].subject));
        assert_true(str_eq(kept[i].entities, said[i].entities));
        assert_true(str_eq(kept[i].keywords, said[i].keywords));
        assert_int_equal(kept[i].valid_from_ms, said[i].valid_from_ms);
        assert_int_equal(kept[i].created_at_ms, said[i].created_at_ms);
    }
    assert_true(said[0].valid_from_ms != 0);
}

static void a_turn_that_is_another_now_has_claims_without_words(void **state)
{
    struct engine engine = {.config = config};
    struct turn turn = {.id = {{9}}, .text = STR("")};
    struct claim *claims;
    size_t count = 0;

    (void)state;
    assert_true(claim_spans_read(&arena, STR("7+20a"), &claims, &count));
    assert_int_equal(
        claim_spans_fill(&engine, &arena, &turn, claims, count, NULL), CLEW_OK);
    assert_int_equal(claims[0].statement.len, 0);
    assert_int_equal(claims[0].subject.len, 0);
    turn.text = STR("Oslo.");
    assert_int_equal(
        claim_spans_fill(&engine, &arena, &turn, claims, count, NULL), CLEW_OK);
    assert_int_equal(claims[0].statement.len, 0);
}

static void what_does_not_read_ends_the_claims(void **state)
{
    static const struct {
        const char *spans;
        size_t count;
    } cases[] = {
        {"", 0},          {"a", 0},         {"0+38a", 1},
        {"0+38", 0},      {"0+a", 0},       {"0+38z", 0},
        {"3:0+38aB", 1},  {"0+38a+4b", 1},  {"0+38a4+4tx", 2},
        {"0:1:2+3a", 0},  {"-1+3a", 0},     {"99999999999999999999+1a", 0},
        {"5+5a:6+1b", 1}, {"5+5a9:6+1b", 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct claim *claims;
        size_t count = 99;

        assert_true(
            claim_spans_read(&arena, str_of(cases[i].spans), &claims, &count));
        if (count != cases[i].count) {
            fail_msg("%s: %zu claims", cases[i].spans, count);
        }
    }
}

static void a_claim_may_stand_out_of_line(void **state)
{
    struct claim *claims;
    size_t count = 0;
    struct buf spans;

    (void)state;
    assert_true(
        claim_spans_read(&arena, STR("0+4a7:9+3B20+5t"), &claims, &count));
    assert_int_equal(count, 3);
    assert_int_equal(claims[1].position, 7);
    assert_int_equal(claims[2].position, 8);
    assert_int_equal(claims[2].end_byte, 25);
    buf_init(&spans, 256);
    assert_int_equal(claim_spans_write(claims, count, &spans), CLEW_OK);
    assert_string_equal(spans.data, "0+4a7:9+3B20+5t");
    buf_release(&spans);
}

static void what_is_told_of_a_step_reads_back(void **state)
{
    static const char *const topics[] = {"", "boats", "a \"b\", which is",
                                         "x\" due to topic shift"};

    (void)state;
    for (int kind = CHAIN_STEP_CREATE; kind <= CHAIN_STEP_RESOLVE; kind++) {
        for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
            struct str told = chain_step_reasoning(
                &arena, (enum chain_step_kind)kind, str_of(topics[i]));
            enum chain_step_kind read;
            struct str said;

            assert_true(chain_step_parse(
                str_of(chain_step_type((enum chain_step_kind)kind)), told,
                &read, &said));
            assert_int_equal(read, kind);
            assert_true(str_eq(said, str_of(topics[i])));
        }
    }
}

static void what_no_step_tells_does_not_read(void **state)
{
    static const char *const cases[][2] = {
        {"extend", "Reopened \"boats\" by hand"},
        {"conclude", "Concluded \"boats\" by hand"},
        {"create", "Continues \"boats\""},
        {"extend", "Continues \""},
        {"extend", ""},
        {"", ""}};
    enum chain_step_kind kind;
    struct str said;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(chain_step_parse(str_of(cases[i][0]), str_of(cases[i][1]),
                                      &kind, &said));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_of_a_claim_follows_its_words),
        cmocka_unit_test(every_type_has_a_name_that_reads_back),
        cmocka_unit_test(doubt_lowers_confidence),
        cmocka_unit_test(a_long_turn_keeps_its_most_telling_sentences),
        cmocka_unit_test(an_empty_turn_claims_nothing),
        cmocka_unit_test(the_tables_of_phrases_are_sorted),
        cmocka_unit_test(contractions_read_the_same_however_written),
        cmocka_unit_test(expletives_are_no_pronouns),
        cmocka_unit_test(answers_fit_their_questions),
        cmocka_unit_test(words_of_a_turn_are_capped),
        cmocka_unit_test(the_seeds_formula_has_the_seeds_values),
        cmocka_unit_test(points_map_onto_the_seeds_thresholds),
        cmocka_unit_test(a_state_survives_packing),
        cmocka_unit_test(a_chain_keeps_its_size_however_long_it_grows),
        cmocka_unit_test(claims_are_read_again_as_they_were),
        cmocka_unit_test(a_turn_that_is_another_now_has_claims_without_words),
        cmocka_unit_test(what_does_not_read_ends_the_claims),
        cmocka_unit_test(a_claim_may_stand_out_of_line),
        cmocka_unit_test(what_is_told_of_a_step_reads_back),
        cmocka_unit_test(what_no_step_tells_does_not_read),
    };

    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
