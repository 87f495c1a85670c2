/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_lib.c - the public C API, as a program that embeds clew sees it.
 */
#include "support/test.h"

#include "clew/clew.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

static char dir[] = "/tmp/clew-lib-XXXXXX";
static struct clew *clew;

static int open_store(void **state)
{
    struct clew_options options = {0};
    struct clew_error err = {0};

    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    options.data_dir = dir;
    if (clew_open(&options, &clew, &err) != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int close_store(void **state)
{
    (void)state;
    clew_close(clew);
    return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct clew_place kept(const char *user, const char *text,
                              const char *chat_id)
{
    struct clew_turn turn = {.user_id = user, .text = text, .chat_id = chat_id};
    struct clew_place place;
    struct clew_error err;

    assert_int_equal(clew_append(clew, &turn, 1, &place, &err), CLEW_OK);
    return place;
}

static void what_is_kept_is_found(void **state)
{
    struct clew_query query = {.text = "Where is the spare key?",
                               .user_id = "ada"};
    struct clew_hits *hits = NULL;
    struct clew_error err;
    struct clew_place place;
    const struct clew_hit *hit = NULL;
    size_t n = 0;

    (void)state;
    place = kept("ada", "The spare key lies under the blue flower pot.", NULL);
    assert_int_equal(place.seq, 1);
    assert_int_equal(clew_recall(clew, &query, &hits, &err), CLEW_OK);
    /* beside what a reader may have made of it */
    for (size_t i = 0; i < clew_hits_count(hits); i++) {
        if (strcmp(clew_hits_get(hits, i)->kind, "turn") == 0) {
            hit = clew_hits_get(hits, i);
            n++;
        }
    }
    assert_int_equal(n, 1);
    assert_string_equal(hit->id, place.turn_id);
    assert_string_equal(hit->chat_id, place.chat_id);
    assert_string_equal(hit->text,
                        "The spare key lies under the blue flower pot.");
    assert_null(clew_hits_get(hits, clew_hits_count(hits)));
    clew_hits_free(hits);
}

static void a_fork_goes_its_own_way(void **state)
{
    struct clew_place first = kept("ben", "one", NULL);
    char fork_id[CLEW_ID_SIZE];
    struct clew_error err;
    struct clew_place next;

    (void)state;
    (void)kept("ben", "two", first.chat_id);
    assert_int_equal(clew_fork(clew, first.chat_id, 1, "other", fork_id, &err),
                     CLEW_OK);
    assert_string_not_equal(fork_id, first.chat_id);
    next = kept("ben", "another two", fork_id);
    assert_int_equal(next.seq, 2);
    assert_string_equal(next.chat_id, fork_id);
}

static void the_same_external_id_stores_once(void **state)
{
    struct clew_turn turn = {
        .user_id = "cleo", .text = "once", .external_id = "x-1"};
    struct clew_place first;
    struct clew_place again;
    struct clew_error err;

    (void)state;
    assert_int_equal(clew_append(clew, &turn, 1, &first, &err), CLEW_OK);
    assert_int_equal(clew_append(clew, &turn, 1, &again, &err), CLEW_OK);
    assert_false(first.is_repeat);
    assert_true(again.is_repeat);
    assert_string_equal(first.turn_id, again.turn_id);
    turn.text = "other words";
    assert_int_equal(clew_append(clew, &turn, 1, NULL, &err), CLEW_CONFLICT);
}

static void bad_input_is_refused_and_stores_nothing(void **state)
{
    static const struct {
        struct clew_turn turn;
        const char *field;
    } cases[] = {
        {{.text = "x"}, "user_id"},
        {{.user_id = "u"}, "text"},
        {{.user_id = "u", .text = ""}, "text"},
        {{.user_id = "u", .text = "\xFF"}, "text"},
        {{.user_id = "u\xC3", .text = "x"}, "user_id"},
        {{.user_id = "u", .text = "x", .role = "king"}, "role"},
        {{.user_id = "u", .text = "x", .created_at_ms = INT64_MAX},
         "created_at_ms"},
    };
    struct clew_query query = {.text = "x", .user_id = "u"};
    struct clew_hits *hits = NULL;
    struct clew_turn turns[2] = {{.user_id = "u", .text = "x good"},
                                 {.user_id = "u"}};
    struct clew_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(clew_append(clew, &cases[i].turn, 1, NULL, &err),
                         CLEW_INVALID);
        assert_string_equal(err.field, cases[i].field);
    }
    assert_int_equal(clew_append(clew, turns, 2, NULL, &err), CLEW_INVALID);
    assert_int_equal(clew_append(clew, turns, 0, NULL, &err), CLEW_INVALID);
    assert_int_equal(clew_append(clew, turns, 1001, NULL, &err), CLEW_INVALID);
    assert_int_equal(clew_recall(clew, &query, &hits, &err), CLEW_OK);
    assert_int_equal(clew_hits_count(hits), 0);
    clew_hits_free(hits);
    query.limit = 501;
    assert_int_equal(clew_recall(clew, &query, &hits, &err), CLEW_INVALID);
}

static void what_is_unknown_is_not_found(void **state)
{
    char out[CLEW_ID_SIZE] = "unchanged";
    struct clew_turn turn = {.user_id = "u",
                             .text = "x",
                             .chat_id = "0199c1d2-7a00-7000-8000-000000000001"};
    struct clew_error err;

    (void)state;
    assert_int_equal(clew_append(clew, &turn, 1, NULL, &err), CLEW_NOT_FOUND);
    assert_int_equal(clew_fork(clew, "no id", -1, NULL, out, &err),
                     CLEW_NOT_FOUND);
    assert_int_equal(clew_fork(clew, turn.chat_id, -1, NULL, out, &err),
                     CLEW_NOT_FOUND);
    assert_string_equal(out, "unchanged");
}

static void tenants_do_not_see_each_other(void **state)
{
    struct clew_options options = {.data_dir = dir, .tenant = "other"};
    struct clew_query query = {.text = "spare key"};
    struct clew_hits *hits = NULL;
    struct clew *other = NULL;
    struct clew_error err;

    (void)state;
    (void)kept("ada", "The spare key again.", NULL);
    assert_int_equal(clew_open(&options, &other, &err), CLEW_OK);
    assert_int_equal(clew_recall(other, &query, &hits, &err), CLEW_OK);
    assert_int_equal(clew_hits_count(hits), 0);
    clew_hits_free(hits);
    clew_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(a_fork_goes_its_own_way),
        cmocka_unit_test(the_same_external_id_stores_once),
        cmocka_unit_test(bad_input_is_refused_and_stores_nothing),
        cmocka_unit_test(what_is_unknown_is_not_found),
        cmocka_unit_test(tenants_do_not_see_each_other),
    };

    return cmocka_run_group_tests(tests, open_store, close_store);
}
