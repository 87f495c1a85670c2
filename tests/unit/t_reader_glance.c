/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader_glance.c - reading in two steps: the promise as the contract says,
 * the same verdict as in one step, and files that are refused.
 */
#include "support/test.h"

#include "base/arena.h"
#include "engine/read/verdicts.h"
#include "model/reader_internal.h"
#include "support/reader_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIM 32
#define ROWS 16
#define LAYERS 3
#define LAYER 2

static const struct reader_model whole = {.dim = DIM,
                                          .inner = 32,
                                          .heads = 2,
                                          .layers = LAYERS,
                                          .read_layer = 1,
                                          .glance = ROWS,
                                          .glance_layer = LAYER,
                                          .n_tokens = 64,
                                          .seed = 11};

static enum clew_status open_model(const struct reader_model *model,
                                   struct reader **out, struct clew_error *err)
{
    char path[] = "/tmp/clew-glance-XXXXXX";
    int fd = mkstemp(path);
    enum clew_status status;
    struct buf bytes;

    assert_true(fd >= 0);
    buf_init(&bytes, 1 << 24);
    assert_true(reader_model_write(model, &bytes));
    assert_int_equal(write(fd, bytes.data, bytes.len), (ssize_t)bytes.len);
    assert_int_equal(close(fd), 0);
    buf_release(&bytes);
    status = reader_open(path, out, err);
    (void)unlink(path);
    return status;
}

#define TEXT(text)                                                             \
    {                                                                          \
        (text), sizeof(text) - 1                                               \
    }
static const struct reader_pair pairs[] = {
    {TEXT("where will the cat ship it"), TEXT("the cat on the ship.")},
    {TEXT("the cat"), TEXT("we will not ship it, we will not, on it")},
    {TEXT(""), TEXT("the cat")},
    {TEXT("the cat"), TEXT("")},
    {TEXT(""), TEXT("")},
};
#define N_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void reading_on_gives_what_reading_at_once_does(void **state)
{
    struct reader *reader;

    (void)state;
    assert_int_equal(open_model(&whole, &reader, NULL), CLEW_OK);
    assert_true(reader_can_glance(reader));
    for (size_t i = 0; i < N_PAIRS; i++) {
        struct reader_glance glance;
        struct reader_verdict at_once;
        struct reader_verdict on;
        struct arena arena;

        arena_init(&arena, 1 << 24);
        assert_int_equal(reader_compare(reader, &arena, READER_ANSWER,
                                        &pairs[i], 1, &at_once, NULL),
                         CLEW_OK);
        assert_int_equal(
            reader_glance(reader, &arena, &pairs[i], &glance, NULL), CLEW_OK);
        assert_true(glance.promise > 0 && glance.promise < 1);
        assert_int_equal(reader_read_on(reader, &glance, &on, NULL), CLEW_OK);
        assert_memory_equal(&on, &at_once, sizeof(on));
        arena_release(&arena);
    }
    reader_close(reader);
}

/* Mean of rows of what the glance kept, in doubles. */
static void mean_of(const struct reader_glance *glance, size_t from, size_t to,
                    double *out)
{
    for (size_t i = 0; i < DIM; i++) {
        out[i] = 0;
        for (size_t r = from; r < to; r++) {
            out[i] += (double)glance->x[r * DIM + i] / (double)(to - from);
        }
    }
}

static double promise_of(const struct reader *reader, const double *in)
{
    const struct reader_promise *p = &reader->promise;
    double sum = (double)p->out_bias[0];

    for (size_t r = 0; r < ROWS; r++) {
        double y = (double)p->in_bias[r];

        for (size_t i = 0; i < (size_t)4 * DIM; i++) {
            y += (double)p->in[r * 4 * DIM + i] * in[i];
        }
        sum += (double)p->out[r] * (y > 0 ? y : 0);
    }
    return 1 / (1 + exp(-sum));
}

static void the_promise_is_as_the_contract_says(void **state)
{
    struct reader *reader;
    struct reader_glance glance;
    struct arena arena;
    double in[4 * DIM];
    size_t n_first = 7; /* [CLS] and the six words before [SEP] */

    (void)state;
    assert_int_equal(open_model(&whole, &reader, NULL), CLEW_OK);
    arena_init(&arena, 1 << 24);
    assert_int_equal(reader_glance(reader, &arena, &pairs[0], &glance, NULL),
                     CLEW_OK);
    mean_of(&glance, 1, n_first, in);
    mean_of(&glance, n_first + 1, glance.n_rows - 1, in + DIM);
    mean_of(&glance, 0, 1, in + (size_t)2 * DIM);
    for (size_t i = 0; i < DIM; i++) {
        in[3 * DIM + i] = in[i] * in[DIM + i];
    }
    assert_true(fabs((double)glance.promise - promise_of(reader, in)) < 1e-5);
    arena_release(&arena);
    reader_close(reader);
}

static void a_file_without_is_read_at_once(void **state)
{
    struct reader_model plain = whole;
    struct reader *reader;

    (void)state;
    plain.glance = 0;
    assert_int_equal(open_model(&plain, &reader, NULL), CLEW_OK);
    assert_false(reader_can_glance(reader));
    reader_close(reader);
}

static void a_glance_that_does_not_fit_is_corrupt(void **state)
{
    static const size_t bad[][2] = {
        /* rows, layer */
        {ROWS, LAYERS + 1},
        {ROWS, 0},
        {ROWS + 1, LAYER},
        {READER_MAX_GLANCE + READER_LANES, LAYER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct reader_model model = whole;
        struct clew_error err = {0};
        struct reader *reader = NULL;

        model.glance = bad[i][0];
        model.glance_layer = bad[i][1];
        assert_int_equal(open_model(&model, &reader, &err), CLEW_CORRUPT);
        assert_non_null(strstr(err.message, "glance"));
    }
}

static void what_was_glanced_at_is_known(void **state)
{
    struct verdicts *verdicts = verdicts_new();
    struct reader *reader;
    struct arena arena;

    (void)state;
    assert_non_null(verdicts);
    assert_int_equal(open_model(&whole, &reader, NULL), CLEW_OK);
    arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < N_PAIRS; i++) {
        struct reader_glance first;
        struct reader_glance again;
        struct reader_verdict on;
        struct reader_verdict later;

        assert_int_equal(
            verdicts_glance(verdicts, reader, &arena, 1, &pairs[i], &first),
            CLEW_OK);
        assert_non_null(first.x);
        assert_int_equal(
            verdicts_glance(verdicts, reader, &arena, 1, &pairs[i], &again),
            CLEW_OK);
        assert_null(again.x);
        assert_true(again.promise == first.promise);
        /* another tenant's is nobody else's */
        assert_int_equal(
            verdicts_glance(verdicts, reader, &arena, 2, &pairs[i], &again),
            CLEW_OK);
        assert_non_null(again.x);
        again.x = NULL;
        assert_int_equal(
            verdicts_read_on(verdicts, reader, 1, &pairs[i], &first, &on),
            CLEW_OK);
        assert_int_equal(
            verdicts_read_on(verdicts, reader, 2, &pairs[i], &again, &later),
            CLEW_OK);
        assert_memory_equal(&on, &later, sizeof(on));
    }
    arena_release(&arena);
    reader_close(reader);
    verdicts_free(verdicts);
}

static void running_out_of_memory_is_an_answer(void **state)
{
    struct reader *reader;
    struct reader_glance glance;
    struct arena arena;

    (void)state;
    assert_int_equal(open_model(&whole, &reader, NULL), CLEW_OK);
    arena_init(&arena, 16);
    assert_int_equal(reader_glance(reader, &arena, &pairs[0], &glance, NULL),
                     CLEW_NO_MEMORY);
    arena_release(&arena);
    reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_on_gives_what_reading_at_once_does),
        cmocka_unit_test(the_promise_is_as_the_contract_says),
        cmocka_unit_test(a_file_without_is_read_at_once),
        cmocka_unit_test(a_glance_that_does_not_fit_is_corrupt),
        cmocka_unit_test(what_was_glanced_at_is_known),
        cmocka_unit_test(running_out_of_memory_is_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
