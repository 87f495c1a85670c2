/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_index.c - the index holds what its source holds, whatever happens to it.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "index/build.h"
#include "index/index.h"
#include "index/postings.h"
#include "index/view.h"
#include "support/fake_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fake_source source;
static char dir[64];

static int set_up(void **state)
{
    (void)state;
    memset(&source, 0, sizeof(source));
    (void)snprintf(dir, sizeof(dir), "/tmp/clew-index-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static void each_file(void (*fn)(const char *path, void *arg), void *arg)
{
    char folder[128];
    DIR *open_dir;
    struct dirent *entry;

    (void)snprintf(folder, sizeof(folder), "%s/1", dir);
    open_dir = opendir(folder);
    while (open_dir && (entry = readdir(open_dir)) != NULL) {
        char path[512];

        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            fn(path, arg);
        }
    }
    if (open_dir) {
        closedir(open_dir);
    }
}

static void delete_file(const char *path, void *arg)
{
    (void)arg;
    (void)unlink(path);
}

static void empty_folder(void)
{
    each_file(delete_file, NULL);
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    empty_folder();
    (void)snprintf(path, sizeof(path), "%s/1", dir);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/lock", dir);
    (void)unlink(path);
    return rmdir(dir);
}

static bool can_be_bare; /* of the sets opened next */

static struct index_set *open_set(const char *where, const char *model)
{
    struct index_options options = {.dir = where,
                                    .can_be_bare = can_be_bare,
                                    .model = model,
                                    .dim = FAKE_DIM,
                                    .analyser = 1,
                                    .source = fake_source_of(&source)};
    struct index_set *set = NULL;

    assert_int_equal(index_set_open(&options, &set, NULL), CLEW_OK);
    return set;
}

static const struct index_doc *row_of(const struct uuid *id)
{
    for (size_t i = 0; i < source.n_rows; i++) {
        if (uuid_eq(&source.rows[i].doc.id, id)) {
            return &source.rows[i].doc;
        }
    }
    return NULL;
}

static uint32_t tf_in(const struct segment *s, uint32_t doc, uint64_t hash)
{
    struct postings list;
    struct postings_block block;

    if (!segment_find_term(s, hash, &list)) {
        return 0;
    }
    postings_read(&list, postings_seek(&list, doc), &block);
    for (uint32_t i = 0; i < block.count; i++) {
        if (block.docs[i] == doc) {
            return block.tf2[i];
        }
    }
    return 0;
}

static void check_doc(const struct segment *s, uint32_t doc)
{
    const struct index_doc *want = row_of(&s->docs[doc].id);
    const struct segment_chat *chat = segment_chat_of(s, doc);
    const struct index_range *dates = NULL;
    struct user_key key;
    uint32_t found = 0;

    assert_true(want && chat && !want->is_removed);
    key = user_key_of(want->user);
    assert_memory_equal(&s->users[chat->user].key, &key, sizeof(key));
    assert_true(uuid_eq(&chat->id, &want->chat));
    assert_int_equal(s->docs[doc].seq, want->seq);
    assert_int_equal(s->docs[doc].change_seq, want->change_seq);
    assert_int_equal(s->times[doc], want->created_at_ms);
    assert_int_equal(segment_kind_of(s, doc), want->kind);
    assert_true(segment_speaker_of(s, doc) == want->speaker);
    assert_int_equal(segment_dates(s, doc, &dates), want->n_dates);
    assert_true(!want->n_dates || dates->from_ms == want->dates->from_ms);
    for (unsigned word = 0; word < 40; word++) {
        uint32_t tf2 = 0;

        for (size_t i = 0; i < want->n_terms; i++) {
            tf2 = want->terms[i].hash == fake_word(word) ? want->terms[i].tf2
                                                         : tf2;
        }
        assert_int_equal(tf_in(s, doc, fake_word(word)), tf2);
    }
    assert_true(segment_find_id(s, &want->id, &found) && found == doc);
}

/* Every live row is in the index exactly once, and nothing else is. */
static void check_all(struct index_set *set)
{
    struct index_view *view = NULL;
    size_t n_live = 0;
    size_t n = 0;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    for (size_t i = 0; i < view->count; i++) {
        const struct segment *s = view->segments[i];

        assert_int_equal(segment_check(s, NULL), CLEW_OK);
        for (uint32_t doc = 0; doc < s->head->n_docs; doc++) {
            if (!segment_is_removed(s, doc)) {
                check_doc(s, doc);
                n++;
            }
        }
    }
    for (size_t i = 0; i < source.n_rows; i++) {
        n_live += !source.rows[i].doc.is_removed;
    }
    assert_int_equal(n, n_live);
    index_view_close(view);
}

static void add_some(size_t n)
{
    static const char *const users[] = {"ann", "bob", "cy"};

    for (size_t i = 0; i < n; i++) {
        uint64_t at = source.n_rows;

        fake_add(&source, at % 7 == 6 ? INDEX_MEMORY : INDEX_TURN,
                 users[at % 3], at / 9, (int64_t)(at % 9), at);
    }
}

static void postings_come_back_as_they_went_in(void **state)
{
    static struct posting items[5000];
    static uint8_t bytes[5000 * POSTINGS_MAX_BYTES + POSTINGS_PAD];

    (void)state;
    rand_seed(5);
    for (size_t count = 1; count < 5000; count += count < 300 ? 1 : 977) {
        struct postings list = {bytes, 0, (uint32_t)count, 0};
        struct postings_block block;
        uint32_t doc = 0;
        size_t at = 0;

        for (size_t i = 0; i < count; i++) {
            doc += 1 + (uint32_t)rand_below(count % 3 == 0 ? 1 : 100000);
            items[i].doc = doc;
            items[i].tf2 = 1 + (uint32_t)rand_below(count % 2 ? 3 : 255);
        }
        list.n_docs = count % 4 ? doc + 1 : UINT32_MAX / 2;
        list.size = postings_write(bytes, items, count, list.n_docs);
        assert_true(list.size <= count * POSTINGS_MAX_BYTES);
        for (uint32_t b = 0; b < postings_n_blocks(&list); b++) {
            postings_read(&list, b, &block);
            assert_true(block.count > 0);
            for (uint32_t i = 0; i < block.count; i++, at++) {
                assert_int_equal(block.docs[i], items[at].doc);
                assert_int_equal(block.tf2[i], items[at].tf2);
            }
        }
        assert_int_equal(at, count);
        for (int k = 0; k < 5; k++) {
            size_t i = rand_below(count);

            assert_int_equal(postings_rank(&list, items[i].doc), i);
            assert_int_equal(postings_rank(&list, items[i].doc + 1), i + 1);
        }
    }
}

static void what_is_offered_is_there_without_a_read(void **state)
{
    struct index_set *set = open_set(NULL, "m");
    int64_t loads;

    (void)state;
    check_all(set);
    loads = source.n_loads;
    for (int i = 0; i < 100; i++) {
        add_some(1);
        assert_int_equal(index_offer(set, 1, source.change - 1, source.change,
                                     &source.rows[source.n_rows - 1].doc, 1,
                                     NULL),
                         CLEW_OK);
    }
    check_all(set);
    assert_int_equal(source.n_loads, loads);
    index_set_close(set);
}

static void an_offer_with_a_gap_is_read_from_the_source(void **state)
{
    struct index_set *set = open_set(NULL, "m");

    (void)state;
    check_all(set);
    add_some(5);
    assert_int_equal(index_offer(set, 1, 3, 5, &source.rows[3].doc, 2, NULL),
                     CLEW_OK);
    check_all(set);
    index_set_close(set);
}

/* One random step of a store's life. */
static void live(struct index_set *set)
{
    bool more;

    switch (rand_below(10)) {
    case 0:
        if (source.n_rows) {
            size_t row = rand_below(source.n_rows);

            if (!source.rows[row].doc.is_removed) {
                fake_remove(&source, row);
            }
        }
        break;
    case 1:
    case 2:
        if (source.n_rows) {
            size_t row = rand_below(source.n_rows);

            if (!source.rows[row].doc.is_removed) {
                fake_replace(&source, row, rand_below(100000));
            }
        }
        break;
    case 3:
        assert_int_equal(index_flush(set, 1, NULL), CLEW_OK);
        break;
    case 4:
        assert_int_equal(index_maintain(set, 1, &more, NULL), CLEW_OK);
        break;
    case 5:
        if (rand_below(4) == 0) {
            assert_int_equal(index_purge(set, 1, NULL), CLEW_OK);
        }
        break;
    default:
        if (source.n_rows + 20 < FAKE_MAX_ROWS) {
            add_some(1 + rand_below(20));
        }
    }
}

static void a_random_life_ends_with_the_same_documents(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct index_set *set;

        memset(&source, 0, sizeof(source));
        rand_seed(seed);
        set = open_set(dir, "m");
        for (int i = 0; i < 150; i++) {
            live(set);
            if (rand_below(4) == 0) {
                check_all(set);
            }
            if (rand_below(25) == 0) {
                index_set_close(set);
                set = open_set(dir, "m");
            }
        }
        check_all(set);
        index_set_close(set);
        empty_folder();
    }
}

/* Vectors are missing only where somebody else keeps them. */
static void check_vectors(struct index_set *set, int64_t far)
{
    struct index_view *view = NULL;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    assert_true(index_view_bare(view) <= far);
    for (size_t i = 0; i < view->count; i++) {
        const struct segment *s = view->segments[i];

        for (uint32_t doc = 0; doc < s->head->n_docs; doc++) {
            int8_t values[FAKE_DIM];
            struct vec_form form;

            if (segment_is_bare(s)) {
                assert_true(s->docs[doc].change_seq <= far);
            } else if (!segment_is_removed(s, doc)) {
                vec_quantise_about(row_of(&s->docs[doc].id)->vector, NULL,
                                   FAKE_DIM, values, &form);
                assert_memory_equal(s->vectors + doc * FAKE_DIM, values,
                                    FAKE_DIM);
            }
        }
    }
    index_view_close(view);
}

static void vectors_kept_elsewhere_leave_the_files(void **state)
{
    struct index_stats stats;
    size_t n_bare = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct index_set *set;
        int64_t far = 0;

        memset(&source, 0, sizeof(source));
        rand_seed(seed);
        can_be_bare = true;
        set = open_set(dir, "m");
        for (int i = 0; i < 150; i++) {
            live(set);
            if (rand_below(8) == 0) {
                far += (int64_t)rand_below((uint64_t)(source.change - far) + 1);
                index_set_far(set, 1, far);
            }
            if (rand_below(4) == 0) {
                check_all(set);
                check_vectors(set, far);
            }
            if (rand_below(25) == 0) {
                index_set_close(set);
                set = open_set(dir, "m");
            }
        }
        check_all(set);
        check_vectors(set, far);
        assert_int_equal(index_stats_get(set, 1, &stats), CLEW_OK);
        assert_int_equal(stats.n_rebuilds, 0);
        n_bare += stats.n_bare;
        index_set_close(set);
        /* who knows nobody to ask reads them again */
        can_be_bare = false;
        set = open_set(dir, "m");
        check_all(set);
        check_vectors(set, 0);
        index_set_close(set);
        empty_folder();
    }
    assert_true(n_bare > 0);
}

static void a_restart_reads_only_what_is_new(void **state)
{
    struct index_set *set = open_set(dir, "m");
    struct index_stats stats;

    (void)state;
    add_some(500);
    check_all(set);
    index_set_close(set);
    source.n_loads = 0;
    set = open_set(dir, "m");
    check_all(set);
    assert_int_equal(source.n_loads, 0);
    add_some(3);
    check_all(set);
    assert_int_equal(source.n_loads, 1);
    assert_int_equal(index_stats_get(set, 1, &stats), CLEW_OK);
    assert_int_equal(stats.n_docs, 503);
    assert_int_equal(stats.n_rebuilds, 0);
    index_set_close(set);
}

static void another_model_or_an_older_store_rebuilds(void **state)
{
    struct index_set *set = open_set(dir, "m");

    (void)state;
    add_some(50);
    check_all(set);
    index_set_close(set);
    source.n_loads = 0;
    set = open_set(dir, "other");
    check_all(set);
    assert_int_equal(source.n_loads, 1);
    index_set_close(set);
    /* the store comes back from a backup taken earlier */
    memset(&source, 0, sizeof(source));
    add_some(20);
    set = open_set(dir, "other");
    check_all(set);
    index_set_close(set);
}

/* The whole folder as it was at some moment. */
struct picture {
    struct {
        char path[512];
        char *bytes;
        size_t len;
    } files[16];
    size_t count;
};

static void take_file(const char *path, void *arg)
{
    struct picture *p = arg;
    struct stat info;
    int fd = open(path, O_RDONLY);

    assert_true(p->count < 16);
    assert_int_equal(fstat(fd, &info), 0);
    (void)snprintf(p->files[p->count].path, sizeof(p->files[0].path), "%s",
                   path);
    p->files[p->count].len = (size_t)info.st_size;
    p->files[p->count].bytes = malloc((size_t)info.st_size + 1);
    assert_int_equal(read(fd, p->files[p->count].bytes, (size_t)info.st_size),
                     info.st_size);
    close(fd);
    p->count++;
}

/* Put the folder back, file `which` cut at `cut` or with a byte flipped. */
static void restore(const struct picture *p, size_t which, size_t cut,
                    size_t flip)
{
    empty_folder();
    for (size_t i = 0; i < p->count; i++) {
        int fd = open(p->files[i].path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        size_t len =
            i == which && cut < p->files[i].len ? cut : p->files[i].len;

        assert_int_equal(write(fd, p->files[i].bytes, len), len);
        if (i == which && flip < len) {
            char byte = (char)(p->files[i].bytes[flip] ^ 0x41);

            assert_int_equal(pwrite(fd, &byte, 1, (off_t)flip), 1);
        }
        close(fd);
    }
}

static void check_folder(void)
{
    struct index_set *set = open_set(dir, "m");

    check_all(set);
    index_set_close(set);
}

static void any_cut_or_flipped_byte_is_survived(void **state)
{
    struct picture p = {.count = 0};

    (void)state;
    add_some(60);
    check_folder();
    fake_remove(&source, 5);
    fake_replace(&source, 6, 99);
    check_folder();
    each_file(take_file, &p);
    assert_true(p.count >= 3); /* manifest, segments, removals */
    for (size_t f = 0; f < p.count; f++) {
        size_t len = p.files[f].len;

        for (size_t at = 0; at < len; at += 1 + len / 20) {
            restore(&p, f, at, SIZE_MAX);
            check_folder();
            restore(&p, f, SIZE_MAX, at);
            check_folder();
        }
        restore(&p, f, SIZE_MAX, SIZE_MAX);
        (void)unlink(p.files[f].path);
        check_folder();
    }
    for (size_t f = 0; f < p.count; f++) {
        free(p.files[f].bytes);
    }
}

/* Write and drop the index for ever, a byte to `fd` after each step. */
static void write_for_ever(int fd)
{
    struct index_set *set = open_set(dir, "m");

    for (;;) {
        struct index_view *view = NULL;
        bool more;
        bool is_good =
            index_view_open(set, 1, &view, NULL) == CLEW_OK &&
            index_flush(set, 1, NULL) == CLEW_OK && write(fd, "f", 1) == 1 &&
            index_maintain(set, 1, &more, NULL) == CLEW_OK &&
            index_drop(set, 1, NULL) == CLEW_OK && write(fd, "d", 1) == 1;

        index_view_close(view);
        if (!is_good) {
            _exit(1);
        }
    }
}

static void killed_while_writing_it_is_right_afterwards(void **state)
{
    (void)state;
    add_some(400);
    for (int round = 0; round < 50; round++) {
        int ends[2];
        char step;
        pid_t child;

        add_some(20);
        fake_remove(&source, (size_t)round * 3);
        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (child == 0) {
            close(ends[0]);
            write_for_ever(ends[1]);
        }
        close(ends[1]);
        for (int i = 0; i < round % 7; i++) {
            assert_int_equal(read(ends[0], &step, 1), 1);
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(ends[0]);
        check_folder();
    }
}

static void two_processes_share_a_folder(void **state)
{
    struct index_set *writer = open_set(dir, "m");
    struct index_set *reader = open_set(dir, "m");

    (void)state;
    add_some(300);
    check_all(writer);
    check_all(reader);
    assert_int_equal(index_flush(writer, 1, NULL), CLEW_OK);
    assert_int_equal(index_flush(reader, 1, NULL), CLEW_OK);
    fake_remove(&source, 7);
    add_some(10);
    check_all(reader);
    check_all(writer);
    index_set_close(writer);
    /* the writer is gone: the other takes over */
    add_some(10);
    check_all(reader);
    assert_int_equal(index_flush(reader, 1, NULL), CLEW_OK);
    index_set_close(reader);
    source.n_loads = 0;
    reader = open_set(dir, "m");
    check_all(reader);
    assert_int_equal(source.n_loads, 0);
    index_set_close(reader);
}

struct needle {
    const void *bytes;
    size_t len;
    bool is_found;
};

static void search_file(const char *path, void *arg)
{
    struct needle *n = arg;
    struct stat info;
    int fd = open(path, O_RDONLY);
    char *bytes;

    assert_int_equal(fstat(fd, &info), 0);
    bytes = malloc((size_t)info.st_size + 1);
    assert_int_equal(read(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    n->is_found = n->is_found ||
                  memmem(bytes, (size_t)info.st_size, n->bytes, n->len) != NULL;
    free(bytes);
}

static void purged_documents_leave_no_byte_in_the_files(void **state)
{
    struct index_set *set = open_set(dir, "m");
    struct needle id;
    struct needle word;
    uint64_t hash = index_term_hash(STR("secret"));

    (void)state;
    add_some(30);
    source.rows[4].terms[0].hash = hash;
    id = (struct needle){&source.rows[4].doc.id, sizeof(struct uuid), false};
    word = (struct needle){&hash, sizeof(hash), false};
    check_all(set);
    assert_int_equal(index_flush(set, 1, NULL), CLEW_OK);
    each_file(search_file, &id);
    each_file(search_file, &word);
    assert_true(id.is_found && word.is_found);
    fake_remove(&source, 4);
    assert_int_equal(index_purge(set, 1, NULL), CLEW_OK);
    id.is_found = false;
    word.is_found = false;
    each_file(search_file, &id);
    each_file(search_file, &word);
    assert_false(id.is_found);
    assert_false(word.is_found);
    check_all(set);
    index_set_close(set);
}

/* --- many threads ------------------------------------------------------- */

/* What the threads of a test share; rows are made before they start. */
static struct {
    struct index_set *set;
    atomic_llong committed; /* rows that count as committed */
    atomic_bool must_stop;
    atomic_int n_bad;
} shared;

static enum clew_status shared_latest(void *arg, int64_t tenant, int64_t *out,
                                      struct clew_error *err)
{
    (void)arg;
    (void)tenant;
    (void)err;
    *out = atomic_load(&shared.committed);
    return CLEW_OK;
}

static enum clew_status shared_load(void *arg, int64_t tenant, int64_t after,
                                    size_t max, struct arena *arena,
                                    struct index_doc **out_docs,
                                    size_t *out_count, int64_t *out_through,
                                    struct clew_error *err)
{
    int64_t left = atomic_load(&shared.committed) - after;
    size_t n = left < (int64_t)max ? (size_t)left : max;
    struct index_doc *docs = arena_zero(arena, n + 1, sizeof(*docs));

    (void)arg;
    (void)tenant;
    if (!docs) {
        return clew_fail(err, CLEW_NO_MEMORY, "no memory");
    }
    for (size_t i = 0; i < n; i++) {
        docs[i] = source.rows[(size_t)after + i].doc;
    }
    *out_docs = docs;
    *out_count = n;
    *out_through = after + (int64_t)n;
    return CLEW_OK;
}

/* A view holds at least what was committed before it was opened. */
static void *read_for_a_while(void *arg)
{
    (void)arg;
    while (!atomic_load(&shared.must_stop)) {
        int64_t before = atomic_load(&shared.committed);
        struct index_view *view = NULL;
        struct index_count count;

        if (index_view_open(shared.set, 1, &view, NULL) != CLEW_OK) {
            atomic_fetch_add(&shared.n_bad, 1);
            return NULL;
        }
        index_view_count(view, &count);
        atomic_fetch_add(&shared.n_bad,
                         count.through < before ||
                             (int64_t)count.n_docs[INDEX_TURN] < before);
        index_view_close(view);
    }
    return NULL;
}

static void *tidy_for_a_while(void *arg)
{
    (void)arg;
    for (int i = 0; !atomic_load(&shared.must_stop); i++) {
        bool more = false;
        enum clew_status status =
            i % 7 == 6     ? index_purge(shared.set, 1, NULL)
            : i % 5 == 4   ? index_flush(shared.set, 1, NULL)
            : i % 11 == 10 ? index_drop(shared.set, 1, NULL)
                           : index_maintain(shared.set, 1, &more, NULL);

        atomic_fetch_add(&shared.n_bad, status != CLEW_OK);
    }
    return NULL;
}

static void readers_writers_and_tidying_do_not_disturb_each_other(void **state)
{
    enum { ROWS = 1200, STEP = 8 };
    struct index_options options = {
        .dir = dir,
        .model = "m",
        .dim = FAKE_DIM,
        .source = {.latest = shared_latest, .load = shared_load}};
    pthread_t threads[3];

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        (void)fake_add(&source, INDEX_TURN, "u", i / 10, (int64_t)i, i);
    }
    memset(&shared, 0, sizeof(shared));
    assert_int_equal(index_set_open(&options, &shared.set, NULL), CLEW_OK);
    assert_int_equal(pthread_create(&threads[0], NULL, read_for_a_while, NULL),
                     0);
    assert_int_equal(pthread_create(&threads[1], NULL, read_for_a_while, NULL),
                     0);
    assert_int_equal(pthread_create(&threads[2], NULL, tidy_for_a_while, NULL),
                     0);
    for (size_t at = 0; at < ROWS; at += STEP) {
        struct index_doc docs[STEP];

        for (size_t i = 0; i < STEP; i++) {
            docs[i] = source.rows[at + i].doc;
        }
        atomic_store(&shared.committed, (long long)(at + STEP));
        assert_int_equal(index_offer(shared.set, 1, (int64_t)at,
                                     (int64_t)(at + STEP), docs, STEP, NULL),
                         CLEW_OK);
    }
    atomic_store(&shared.must_stop, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&shared.n_bad), 0);
    index_set_close(shared.set);
}

static void memory_stays_below_the_ceiling(void **state)
{
    struct index_options options = {.model = "m",
                                    .dim = FAKE_DIM,
                                    .ram_bytes = 2u << 20,
                                    .source = fake_source_of(&source)};
    struct index_set *set = NULL;
    uint64_t bytes;
    uint64_t tenants;

    (void)state;
    add_some(1000);
    assert_int_equal(index_set_open(&options, &set, NULL), CLEW_OK);
    for (int64_t tenant = 1; tenant <= 30; tenant++) {
        struct index_view *view;

        assert_int_equal(index_view_open(set, tenant, &view, NULL), CLEW_OK);
        index_view_close(view);
        index_set_usage(set, &bytes, &tenants);
        assert_true(bytes <= options.ram_bytes);
        assert_true(tenants >= 1);
    }
    assert_true(tenants < 30);
    check_all(set);
    index_set_close(set);
}

static void merging_gives_the_bytes_of_building_at_once(void **state)
{
    struct segment_kind kind = {.model = 1, .dim = FAKE_DIM, .analyser = 1};
    const struct index_doc *refs[300];
    struct segment *parts[3];
    struct segment *merged = NULL;
    struct segment *whole = NULL;

    (void)state;
    add_some(300);
    for (size_t i = 0; i < 300; i++) {
        refs[i] = &source.rows[i].doc;
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            build_docs(&kind, refs + i * 100, 100, &parts[i], NULL), CLEW_OK);
    }
    assert_int_equal(build_merge(&kind, parts, 3, NULL, &merged, NULL),
                     CLEW_OK);
    assert_int_equal(build_docs(&kind, refs, 300, &whole, NULL), CLEW_OK);
    assert_int_equal(merged->size, whole->size);
    assert_memory_equal(merged->base, whole->base, whole->size);
    for (size_t i = 0; i < 3; i++) {
        segment_unref(parts[i]);
    }
    segment_unref(merged);
    segment_unref(whole);
}

static void running_out_of_memory_leaves_the_index_whole(void **state)
{
    struct index_set *set = open_set(NULL, "m");

    (void)state;
    add_some(40);
    check_all(set);
    for (uint64_t n = 1;; n++) {
        struct index_view *view = NULL;
        enum clew_status status;

        add_some(1);
        alloc_fail_at(n);
        status = index_view_open(set, 1, &view, NULL);
        alloc_fail_at(0);
        index_view_close(view);
        if (status == CLEW_OK && !alloc_fail_fired()) {
            break;
        }
        check_all(set);
        assert_true(n < 1000);
    }
    index_set_close(set);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DISK(postings_come_back_as_they_went_in),
        ON_DISK(what_is_offered_is_there_without_a_read),
        ON_DISK(an_offer_with_a_gap_is_read_from_the_source),
        ON_DISK(merging_gives_the_bytes_of_building_at_once),
        ON_DISK(a_random_life_ends_with_the_same_documents),
        ON_DISK(vectors_kept_elsewhere_leave_the_files),
        ON_DISK(a_restart_reads_only_what_is_new),
        ON_DISK(another_model_or_an_older_store_rebuilds),
        ON_DISK(any_cut_or_flipped_byte_is_survived),
        ON_DISK(killed_while_writing_it_is_right_afterwards),
        ON_DISK(two_processes_share_a_folder),
        ON_DISK(purged_documents_leave_no_byte_in_the_files),
        ON_DISK(readers_writers_and_tidying_do_not_disturb_each_other),
        ON_DISK(memory_stays_below_the_ceiling),
        ON_DISK(running_out_of_memory_leaves_the_index_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
