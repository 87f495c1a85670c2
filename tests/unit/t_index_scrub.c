/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_index_scrub.c - what upkeep does for an index: files that are damaged while
 * they are in use, and documents that were offered before anybody asked.
 */
#include "support/test.h"

#include "index/index.h"
#include "index/view.h"
#include "support/fake_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_ROWS 500

static struct fake_source source;
static char dir[64];
static struct index_set *set;

static void each_file(void (*fn)(const char *path, void *arg), void *arg)
{
    char folder[128];
    DIR *open_dir;
    struct dirent *entry;

    (void)snprintf(folder, sizeof(folder), "%s/1", dir);
    open_dir = opendir(folder);
    assert_non_null(open_dir);
    while ((entry = readdir(open_dir)) != NULL) {
        char path[512];

        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            fn(path, arg);
        }
    }
    closedir(open_dir);
}

static void delete_file(const char *path, void *arg)
{
    (void)arg;
    (void)unlink(path);
}

static int set_up(void **state)
{
    struct index_options options = {.dir = dir,
                                    .model = "m",
                                    .dim = FAKE_DIM,
                                    .analyser = 1,
                                    .source = fake_source_of(&source)};

    (void)state;
    memset(&source, 0, sizeof(source));
    (void)snprintf(dir, sizeof(dir), "/tmp/clew-scrub-XXXXXX");
    if (!mkdtemp(dir)) {
        return -1;
    }
    for (uint64_t i = 0; i < N_ROWS; i++) {
        fake_add(&source, i % 7 == 6 ? INDEX_MEMORY : INDEX_TURN, "ann", i / 9,
                 (int64_t)(i % 9), i);
    }
    return index_set_open(&options, &set, NULL) == CLEW_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    index_set_close(set);
    each_file(delete_file, NULL);
    (void)snprintf(path, sizeof(path), "%s/1", dir);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/lock", dir);
    (void)unlink(path);
    return rmdir(dir);
}

static size_t times_in(const struct index_view *view, const struct uuid *id)
{
    size_t n = 0;

    for (size_t i = 0; i < view->count; i++) {
        uint32_t doc = 0;

        n += segment_find_id(view->segments[i], id, &doc) &&
             !segment_is_removed(view->segments[i], doc);
    }
    return n;
}

/* Every row is there exactly once, in segments that are sound. */
static void check_all(void)
{
    struct index_view *view = NULL;
    size_t n_docs = 0;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    for (size_t i = 0; i < view->count; i++) {
        assert_int_equal(segment_check(view->segments[i], NULL), CLEW_OK);
        n_docs += view->segments[i]->head->n_docs;
    }
    assert_int_equal(n_docs, source.n_rows);
    for (size_t i = 0; i < source.n_rows; i++) {
        assert_int_equal(times_in(view, &source.rows[i].doc.id), 1);
    }
    index_view_close(view);
}

/* Zeros from `*arg` on, in place: whoever has the file mapped sees them. */
static void zero_segment(const char *path, void *arg)
{
    static const char zeros[1 << 20];
    size_t from = *(const size_t *)arg;
    struct stat info;
    int fd;

    if (!strstr(path, ".seg")) {
        return;
    }
    fd = open(path, O_WRONLY);
    assert_int_equal(fstat(fd, &info), 0);
    assert_true((size_t)info.st_size <= sizeof(zeros));
    assert_true((size_t)info.st_size > from);
    assert_int_equal(
        pwrite(fd, zeros, (size_t)info.st_size - from, (off_t)from),
        info.st_size - (off_t)from);
    close(fd);
}

static void a_file_zeroed_while_in_use_is_noticed(void **state)
{
    struct index_stats stats;
    bool is_damaged = false;
    size_t from = sizeof(struct segment_header);

    (void)state;
    check_all();
    assert_int_equal(index_flush(set, 1, NULL), CLEW_OK);
    assert_int_equal(index_scrub(set, 1, true, &is_damaged, NULL), CLEW_OK);
    assert_false(is_damaged);
    each_file(zero_segment, &from);
    assert_int_equal(index_scrub(set, 1, true, &is_damaged, NULL), CLEW_OK);
    assert_true(is_damaged);
    check_all(); /* read from the source again */
    assert_int_equal(index_flush(set, 1, NULL), CLEW_OK);
    from = 0; /* the head with it: the next view sees that */
    each_file(zero_segment, &from);
    check_all();
    assert_int_equal(index_stats_get(set, 1, &stats), CLEW_OK);
    assert_int_equal(stats.n_rebuilds, 2);
}

static void offer(int first, int end)
{
    for (int i = first; i < end; i++) {
        assert_int_equal(
            index_offer(set, 1, i, i + 1, &source.rows[i].doc, 1, NULL),
            CLEW_OK);
    }
}

static void much_that_was_missed_is_read_before_anybody_asks(void **state)
{
    int64_t loads;

    (void)state;
    offer(0, INDEX_MISSED_DOCS - 1);
    assert_int_equal(index_catch_up(set, NULL), CLEW_OK);
    assert_false(index_takes_offers(set, 1)); /* a few wait for who asks */
    offer(INDEX_MISSED_DOCS - 1, INDEX_MISSED_DOCS);
    assert_int_equal(index_catch_up(set, NULL), CLEW_OK);
    assert_true(index_takes_offers(set, 1));
    loads = source.n_loads;
    assert_int_equal(index_catch_up(set, NULL), CLEW_OK); /* once is enough */
    check_all();
    assert_int_equal(source.n_loads, loads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_zeroed_while_in_use_is_noticed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            much_that_was_missed_is_read_before_anybody_asks, set_up,
            tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
