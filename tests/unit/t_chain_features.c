/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_chain_features.c - the cues of a turn, and what a talk remembers of them.
 */
#include "support/test.h"

#include "engine/topic/chain_decide.h"

static struct chain_features read(struct arena *arena, const char *text)
{
    struct analysis_options options = {.time_ms = 1709283600000};
    struct chain_features out;
    struct analysis analysis;
    struct clew_error err = {0};

    assert_int_equal(
        analysis_run(arena, str_of(text), &options, &analysis, &err), CLEW_OK);
    assert_int_equal(chain_features_of(arena, &analysis, 0,
                                       analysis.n_sentences, true, &out),
                     CLEW_OK);
    return out;
}

static void a_question_needs_no_mark(void **state)
{
    static const struct {
        const char *text;
        bool is_question;
        unsigned asks;
    } cases[] = {
        {"what do your friends think", true, 0},
        {"that is nice do you like sports", true, 0},
        {"I need to know where you are leaving from.", true, SLOT_PLACE},
        {"Let me know when you arrive.", true, SLOT_TIME | SLOT_DAY},
        {"I like what you do.", false, 0},
        {"It rained all day.", false, 0},
        {"Where is it?", true, SLOT_PLACE},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct chain_features f = read(&arena, cases[i].text);

        print_message("%s\n", cases[i].text);
        assert_int_equal((f.cues & CUE_QUESTION) != 0, cases[i].is_question);
        assert_int_equal(f.asks & cases[i].asks, cases[i].asks);
    }
    arena_release(&arena);
}

static void i_am_is_no_time_of_day(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    assert_int_equal(
        read(&arena, "I am leaving from Ely.").supplies & SLOT_TIME, 0);
    assert_true(read(&arena, "I leave at 9 am.").supplies & SLOT_TIME);
    assert_true(read(&arena, "At 21:30, please.").supplies & SLOT_TIME);
    arena_release(&arena);
}

static void figures_are_told_from_names(void **state)
{
    struct chain_features f;
    struct arena arena;
    size_t figures = 0;

    (void)state;
    arena_init(&arena, 1 << 24);
    f = read(&arena, "A table for 7 at the Riverside Brasserie.");
    for (size_t i = 0; i < f.n_names; i++) {
        figures += f.names[i].is_figure;
    }
    assert_int_equal(figures, 1);
    assert_true(f.n_names > 1);
    arena_release(&arena);
}

static void a_phrase_of_place_answers_where(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    assert_true(read(&arena, "What is your destination?").asks & SLOT_PLACE);
    assert_true(read(&arena, "Which day suits you?").asks & SLOT_DAY);
    assert_true(read(&arena, "From the old mill.").supplies & SLOT_PLACE);
    assert_true(read(&arena, "to the harbour, please").supplies & SLOT_PLACE);
    assert_false(read(&arena, "In the morning.").supplies & SLOT_PLACE);
    assert_false(read(&arena, "I want to go.").supplies & SLOT_PLACE);
    arena_release(&arena);
}

static void a_reaction_is_told_from_an_opening(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 24);
    assert_true(read(&arena, "Great. What does it cost?").cues & CUE_REACTS);
    assert_true(read(&arena, "I see, and when?").cues & CUE_REACTS);
    assert_false(read(&arena, "What does a great one cost?").cues & CUE_REACTS);
    arena_release(&arena);
}

static void a_talk_survives_packing(void **state)
{
    struct chain_features f = {.cues = CUE_SELF};
    struct chain_talk talk;
    struct chain_talk again;
    struct buf bytes;

    (void)state;
    chain_talk_init(&talk);
    chain_talk_add(&talk, &f);
    buf_init(&bytes, 256);
    assert_int_equal(chain_talk_write(&talk, &bytes), CLEW_OK);
    assert_true(chain_talk_read(buf_str(&bytes), &again));
    assert_true(chain_talk_peer(&again) == chain_talk_peer(&talk));
    assert_int_equal(again.last_cues, CUE_SELF);
    buf_release(&bytes);
}

/* --- vectors ----------------------------------------------------------------
 */

static void a_vector_loses_the_centre_of_its_model(void **state)
{
    int16_t centre[CHAIN_VECTOR] = {5000};
    float a[CHAIN_VECTOR] = {0.5f, 0.5f};
    float b[CHAIN_VECTOR] = {0.5f, 0.0f, 0.5f};
    struct chain_vector x;
    struct chain_vector y;

    (void)state;
    chain_vector_pack(a, NULL, &x);
    chain_vector_pack(b, NULL, &y);
    assert_true(chain_vector_cosine(&x, &y) > 0.4f);
    chain_vector_pack(a, centre, &x);
    chain_vector_pack(b, centre, &y);
    assert_true(chain_vector_cosine(&x, &y) == 0);
    assert_true(chain_vector_cosine(&x, &x) > 0.999f);
}

static void a_vector_of_nothing_is_like_no_other(void **state)
{
    float none[CHAIN_VECTOR] = {0};
    struct chain_vector x;
    struct chain_vector y = {{1}};

    (void)state;
    chain_vector_pack(none, NULL, &x);
    assert_true(chain_vector_cosine(&x, &y) == 0);
}

static void a_sum_of_vectors_forgets_slowly(void **state)
{
    float axes[2][CHAIN_VECTOR] = {{0}};
    struct chain_vector first;
    struct chain_vector other;
    struct chain_vector sum;
    float before;

    (void)state;
    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        axes[i % 2][i] = 1;
    }
    chain_vector_pack(axes[0], NULL, &first);
    chain_vector_pack(axes[1], NULL, &other);
    sum = first;
    chain_vector_fade(&sum, &other);
    before = chain_vector_cosine(&sum, &first);
    assert_true(before > chain_vector_cosine(&sum, &other));
    for (int i = 0; i < 3; i++) {
        chain_vector_fade(&sum, &other);
    }
    assert_true(chain_vector_cosine(&sum, &first) < before);
    assert_true(chain_vector_cosine(&sum, &other) >
                chain_vector_cosine(&sum, &first));
}

/* A blob as it was before the vectors changed. */
static void add_bytes(struct buf *out, uint64_t value, size_t n)
{
    for (; n > 0; n--, value >>= 8) {
        assert_int_equal(buf_append_char(out, (char)value), CLEW_OK);
    }
}

/* A memory of one turn with one word, as earlier versions wrote it: every
 * number in full, `n_vectors` vectors of which the first part is 100. */
static void write_former(struct buf *out, unsigned version, size_t n_vectors)
{
    add_bytes(out, version, 1);
    add_bytes(out, 1, 4); /* turns */
    add_bytes(out, 0, 4); /* cues of the last */
    add_bytes(out, 0, 1); /* what it asks */
    add_bytes(out, 1, 1); /* the user's */
    add_bytes(out, 1, 1);
    add_bytes(out, 7, 4); /* words of the last turn, and of the one before */
    add_bytes(out, 0, 1);
    add_bytes(out, 1, 1);
    add_bytes(out, 7, 4);          /* words counted: which, … */
    add_bytes(out, 0x40400000, 4); /* … its weight, 3, … */
    add_bytes(out, 1, 2);          /* … how often, … */
    add_bytes(out, 1, 1);          /* … a noun */
    add_bytes(out, 0, 1);          /* names */
    add_bytes(out, 0, 1);          /* words of the topic */
    add_bytes(out, 1, 1);          /* has vectors */
    if (version == 2) {
        add_bytes(out, 1, 1); /* of the user's turn */
    }
    for (size_t i = 0; i < n_vectors; i++) {
        add_bytes(out, 100, 1);
        for (size_t k = 1; k < CHAIN_VECTOR; k++) {
            add_bytes(out, 0, 1);
        }
    }
}

static void a_state_of_before_is_read_without_its_vectors(void **state)
{
    struct chain_state again;
    struct buf bytes;

    (void)state;
    buf_init(&bytes, 1 << 12);
    write_former(&bytes, 1, 2);
    assert_true(chain_state_read(buf_str(&bytes), &again));
    assert_false(again.has_vectors);
    assert_non_null(chain_state_word(&again, 7));
    bytes.len--;
    assert_false(chain_state_read(buf_str(&bytes), &again));
    buf_release(&bytes);
}

/* … the next had all of it, in more bytes. */
static void a_state_in_full_is_written_shorter(void **state)
{
    struct chain_state full;
    struct chain_state again;
    struct buf bytes;
    struct buf shorter;

    (void)state;
    buf_init(&bytes, 1 << 12);
    buf_init(&shorter, 1 << 12);
    write_former(&bytes, 2, 3);
    assert_true(chain_state_read(buf_str(&bytes), &full));
    assert_true(full.has_vectors && full.is_vector_user);
    assert_int_equal(full.sum.parts[0], 100);
    assert_int_equal(chain_state_write(&full, &shorter), CLEW_OK);
    assert_true(shorter.len < bytes.len / 3);
    assert_true(chain_state_read(buf_str(&shorter), &again));
    assert_memory_equal(&again, &full, sizeof(full));
    for (size_t len = 0; len < shorter.len; len++) {
        assert_false(chain_state_read((struct str){shorter.data, len}, &again));
    }
    buf_release(&bytes);
    buf_release(&shorter);
}

/* … and then weights alone were in full. */
static void a_state_with_whole_weights_is_read(void **state)
{
    static const unsigned char former[] = {3, 1, 0,    0, /* a turn */
                                           1, 7, 0,    0,    0,
                                           0, 0, 0x20, 0x40, /* 2.5 */
                                           3,                /* a noun */
                                           0, 0, 0,    0,    0};
    struct chain_state again;

    (void)state;
    assert_true(chain_state_read(
        (struct str){(const char *)former, sizeof(former)}, &again));
    assert_int_equal(again.n_words, 1);
    assert_true(again.words[0].weight == 2.5f);
    assert_int_equal(again.words[0].count, 1);
    assert_true(again.words[0].is_noun);
    assert_false(chain_state_read(
        (struct str){(const char *)former, sizeof(former) - 1}, &again));
}

static void weights_are_kept_to_the_last_bit(void **state)
{
    static const float weights[] = {0,
                                    1.0f / 4096,
                                    2.5f,
                                    12.0459337f,
                                    12.0459337f,
                                    4.88891602f,
                                    0.1f,
                                    65533.0f / 4096,
                                    65534.0f / 4096,
                                    65535.0f / 4096,
                                    16.0f,
                                    1e20f,
                                    12.0459337f,
                                    1.0f / 3,
                                    1.0f / 3};
    const size_t n = sizeof(weights) / sizeof(weights[0]);
    struct chain_state full;
    struct chain_state again;
    struct buf bytes;

    (void)state;
    chain_state_init(&full);
    for (size_t i = 0; i < n; i++) {
        full.words[i] = (struct chain_count){
            .hash = (uint32_t)i + 1, .weight = weights[i], .count = 1};
    }
    full.n_words = (uint8_t)n;
    buf_init(&bytes, 1 << 12);
    assert_int_equal(chain_state_write(&full, &bytes), CLEW_OK);
    assert_true(chain_state_read(buf_str(&bytes), &again));
    for (size_t i = 0; i < n; i++) {
        assert_memory_equal(&again.words[i].weight, &weights[i], sizeof(float));
    }
    buf_release(&bytes);
}

static void vectors_are_kept_to_the_last_bit(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 60; round++) {
        /* 0: none of one; 1: extremes; 2: the sum is away from both */
        int form = round % 3;
        struct chain_state full;
        struct chain_state again;
        struct buf bytes;

        chain_state_init(&full);
        full.has_vectors = true;
        for (size_t i = 0; i < CHAIN_VECTOR; i++) {
            int8_t parts[3];

            for (size_t k = 0; k < 3; k++) {
                seed = seed * 1664525 + 1013904223;
                parts[k] = (int8_t)(seed >> 24);
                if (form == 1) {
                    parts[k] = parts[k] < 0 ? -128 : 127;
                }
            }
            full.said[0].parts[i] = parts[0];
            full.said[1].parts[i] = form == 0 ? 0 : parts[1];
            full.sum.parts[i] =
                form == 2 ? parts[2] : (int8_t)((parts[0] + parts[1]) / 2);
        }
        buf_init(&bytes, 1 << 12);
        assert_int_equal(chain_state_write(&full, &bytes), CLEW_OK);
        assert_true(chain_state_read(buf_str(&bytes), &again));
        assert_memory_equal(&again.said, &full.said, sizeof(full.said));
        assert_memory_equal(&again.sum, &full.sum, sizeof(full.sum));
        assert_false(
            chain_state_read((struct str){bytes.data, bytes.len - 1}, &again));
        buf_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_needs_no_mark),
        cmocka_unit_test(i_am_is_no_time_of_day),
        cmocka_unit_test(figures_are_told_from_names),
        cmocka_unit_test(a_phrase_of_place_answers_where),
        cmocka_unit_test(a_reaction_is_told_from_an_opening),
        cmocka_unit_test(a_talk_survives_packing),
        cmocka_unit_test(a_vector_loses_the_centre_of_its_model),
        cmocka_unit_test(a_vector_of_nothing_is_like_no_other),
        cmocka_unit_test(a_sum_of_vectors_forgets_slowly),
        cmocka_unit_test(a_state_of_before_is_read_without_its_vectors),
        cmocka_unit_test(a_state_in_full_is_written_shorter),
        cmocka_unit_test(a_state_with_whole_weights_is_read),
        cmocka_unit_test(weights_are_kept_to_the_last_bit),
        cmocka_unit_test(vectors_are_kept_to_the_last_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
