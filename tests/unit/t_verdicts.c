/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_verdicts.c - what was read before: the same bits as read anew, within its
 * ceiling, and each tenant's for itself.
 */
#include "support/test.h"

#include "base/arena.h"
#include "base/limits.h"
#include "engine/read/verdicts.h"
#include "support/reader_model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TENANT 1
#define THREADS 4

static struct reader *reader;
static struct verdicts *verdicts;

static int open_reader(void **state)
{
    static const struct reader_model small = {.dim = 16,
                                              .inner = 16,
                                              .heads = 1,
                                              .layers = 1,
                                              .read_layer = 1,
                                              .n_tokens = 64,
                                              .seed = 5};
    char path[] = "/tmp/clew-verdicts-XXXXXX";
    int fd = mkstemp(path);
    struct buf model;

    (void)state;
    assert_true(fd >= 0);
    buf_init(&model, 1 << 24);
    assert_true(reader_model_write(&small, &model));
    assert_int_equal(write(fd, model.data, model.len), (ssize_t)model.len);
    assert_int_equal(close(fd), 0);
    buf_release(&model);
    assert_int_equal(reader_open(path, &reader, NULL), CLEW_OK);
    (void)unlink(path);
    verdicts = verdicts_new();
    assert_non_null(verdicts);
    return 0;
}

static int close_reader(void **state)
{
    (void)state;
    verdicts_free(verdicts);
    reader_close(reader);
    return 0;
}

/* Ask for pair number `n` and see that it is what reading it gives. */
static void check(size_t n, int64_t tenant, enum reader_pair_kind kind)
{
    char a[64];
    char b[64];
    struct reader_verdict got;
    struct reader_verdict read;
    struct reader_pair pair;
    struct arena arena;

    (void)snprintf(a, sizeof(a), "w%zu w%zu", n % 40, n / 40);
    (void)snprintf(b, sizeof(b), "w%zu the cat w%zu", n % 37, n / 37);
    pair = (struct reader_pair){str_of(a), str_of(b)};
    arena_init(&arena, 1 << 24);
    assert_int_equal(
        reader_compare(reader, &arena, kind, &pair, 1, &read, NULL), CLEW_OK);
    arena_release(&arena);
    assert_int_equal(
        verdicts_compare(verdicts, reader, tenant, kind, &pair, &got), CLEW_OK);
    for (size_t i = 0; i < READER_MAX_OUTCOMES; i++) {
        assert_true(got.p[i] == read.p[i]);
    }
}

static void what_is_known_is_what_was_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < 50; i++) {
        check(i, TENANT, READER_ANSWER);
    }
    assert_int_equal(verdicts_known(verdicts), 0);
    for (size_t i = 0; i < 50; i++) {
        check(i, TENANT, READER_ANSWER);
    }
    assert_int_equal(verdicts_known(verdicts), 50);
    for (size_t i = 0; i < 50; i++) {
        check(i, TENANT, READER_NOTE); /* another question of the same */
        check(i, TENANT + 1, READER_ANSWER);
    }
    assert_int_equal(verdicts_known(verdicts), 50);
}

static void more_than_fit_make_room_for_each_other(void **state)
{
    (void)state;
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < (size_t)LIMIT_VERDICTS * 2; i++) {
            check(i, TENANT, READER_ANSWER);
        }
    }
    /* the last ones are there, nearly all */
    uint64_t before = verdicts_known(verdicts);

    for (size_t i = (size_t)LIMIT_VERDICTS * 2; i-- > (size_t)LIMIT_VERDICTS;) {
        check(i, TENANT, READER_ANSWER);
    }
    assert_true(verdicts_known(verdicts) - before > LIMIT_VERDICTS / 2);
}

static void texts_are_told_apart_where_they_meet(void **state)
{
    struct reader_pair one = {STR("the cat"), STR("w1 w2")};
    struct reader_pair other = {STR("the cat w"), STR("1 w2")};
    struct reader_verdict got;

    (void)state;
    assert_int_equal(
        verdicts_compare(verdicts, reader, TENANT, READER_ANSWER, &one, &got),
        CLEW_OK);
    assert_int_equal(
        verdicts_compare(verdicts, reader, TENANT, READER_ANSWER, &other, &got),
        CLEW_OK);
    assert_int_equal(verdicts_known(verdicts), 0);
    assert_int_equal(
        verdicts_compare(NULL, reader, TENANT, READER_ANSWER, &one, &got),
        CLEW_OK);
    verdicts_free(NULL);
}

static void *ask_all(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < 500; i++) {
        check(i, TENANT, READER_ANSWER);
    }
    return NULL;
}

static void many_may_ask_at_once(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    check(7, TENANT, READER_ANSWER);
    assert_true(verdicts_known(verdicts) > 0);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_reader, close_reader)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_known_is_what_was_read),
        TEST(more_than_fit_make_room_for_each_other),
        TEST(texts_are_told_apart_where_they_meet),
        TEST(many_may_ask_at_once),
    };

    return cmocka_run_group_tests_name("verdicts", tests, NULL, NULL);
}
