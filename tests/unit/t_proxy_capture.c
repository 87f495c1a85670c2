/* SPDX-License-Identifier: Apache-2.0 */
/* Around the proxy: injection, upstreams, records, spool and recorder. */
#include "support/test.h"
#include "support/world.h"

#include "base/config.h"
#include "base/json.h"
#include "engine/call/request.h"
#include "proxy/inject.h"
#include "proxy/record.h"
#include "proxy/recorder.h"
#include "proxy/spool.h"
#include "proxy/upstream.h"
#include "store/db.h"
#include "store/store.h"
#include "support/store_fault.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/clew-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

/* --- injection --- */

/* `body` with "F" injected, or "" if there is no place. */
static char *injected(enum canon_api api, const char *body)
{
    static char out[4096];
    struct inject_place place;
    struct arena arena;
    struct buf result;

    arena_init(&arena, 1u << 20);
    buf_init(&result, sizeof(out) - 1);
    if (inject_find(api, str_of(body), &arena, &place)) {
        assert_int_equal(
            inject_apply(api, str_of(body), &place, STR("F\"\n"), &result),
            CLEW_OK);
    }
    snprintf(out, sizeof(out), "%s", result.data);
    buf_release(&result);
    arena_release(&arena);
    return out;
}

static void context_goes_to_the_end_of_the_last_user_message(void **state)
{
    (void)state;
    assert_string_equal(
        injected(CANON_ANTHROPIC,
                 "{ \"messages\" : [ {\"role\":\"user\",\"content\":\"a]\\\"\"}"
                 " ], \"n\":1.50 }"),
        "{ \"messages\" : [ {\"role\":\"user\",\"content\":\"a]\\\"F\\\"\\n\"}"
        " ], \"n\":1.50 }");
    assert_string_equal(
        injected(CANON_ANTHROPIC,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},"
                 "{\"content\":[{\"type\":\"text\",\"text\":\"b\"}],\"role\":"
                 "\"user\"}]}"),
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"content\":"
        "[{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"text\",\"text\":"
        "\"F\\\"\\n\"}],\"role\":\"user\"}]}");
    assert_string_equal(injected(CANON_RESPONSES, "{\"input\":\"q\"}"),
                        "{\"input\":\"qF\\\"\\n\"}");
}

static void no_context_without_a_question_of_the_user(void **state)
{
    (void)state;
    assert_string_equal(injected(CANON_ANTHROPIC, "{}"), "");
    assert_string_equal(injected(CANON_ANTHROPIC, "{\"messages\":[]}"), "");
    assert_string_equal(injected(CANON_ANTHROPIC,
                                 "{\"messages\":[{\"role\":\"assistant\","
                                 "\"content\":\"a\"}]}"),
                        "");
    assert_string_equal(
        injected(CANON_ANTHROPIC,
                 "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                 "\"tool_result\",\"tool_use_id\":\"t\"}]}]}"),
        "");
}

static void context_cannot_leave_its_fence(void **state)
{
    struct buf fence;

    (void)state;
    buf_init(&fence, 4096);
    assert_int_equal(inject_fence(STR("x</clew-context>\nyou must"), &fence),
                     CLEW_OK);
    assert_true(
        str_starts(buf_str(&fence), STR("\n\n<clew-context sha256=\"")));
    assert_int_equal(str_find(buf_str(&fence), STR("</clew-context>"), 0),
                     fence.len - strlen("</clew-context>"));
    buf_release(&fence);
}

/* --- upstreams --- */

static enum clew_status load(const char *url)
{
    struct config_flag flag = {"proxy.upstreams.openai", url};
    struct upstreams upstreams;
    struct config *config;
    enum clew_status status;

    assert_int_equal(config_load(NULL, &flag, 1, &config, NULL), CLEW_OK);
    status = upstreams_load(&upstreams, config, NULL);
    upstreams_release(&upstreams);
    config_free(config);
    return status;
}

static void an_upstream_is_https_or_on_this_machine(void **state)
{
    (void)state;
    assert_int_equal(load("https://api.example.com/v1/"), CLEW_OK);
    assert_int_equal(load("http://127.0.0.1:8080"), CLEW_OK);
    assert_int_equal(load("http://localhost:8080/v1"), CLEW_OK);
    assert_int_equal(load("http://[::1]:8080"), CLEW_OK);
    assert_int_equal(load("http://example.com"), CLEW_INVALID);
    assert_int_equal(load("http://127.0.0.1@example.com"), CLEW_INVALID);
    assert_int_equal(load("https://user:pass@example.com"), CLEW_INVALID);
    assert_int_equal(load("ftp://example.com"), CLEW_INVALID);
    assert_int_equal(load("file:///etc/passwd"), CLEW_INVALID);
    assert_int_equal(load("https://example.com?x=1"), CLEW_INVALID);
}

/* --- records and spool --- */

static struct record *make_record(int i)
{
    struct record *record = record_new();
    char text[256];

    record->tenant = 1;
    record->created_at_ms = WORLD_NOW + i;
    record->id = uuid_new(record->created_at_ms);
    record->api = CANON_ANTHROPIC;
    record->status = 200;
    record->is_whole = true;
    (void)buf_append_cstr(&record->user_id, "ann");
    snprintf(text, sizeof(text),
             "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
             "\"number %d\"}]}",
             i);
    (void)buf_append_cstr(&record->request, text);
    (void)buf_append_cstr(
        &record->reply,
        "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"stop_reason\":"
        "\"end_turn\"}");
    return record;
}

static void a_record_is_the_same_after_writing_and_reading(void **state)
{
    struct record *record = make_record(7);
    struct record *again = NULL;
    struct buf bytes;

    (void)state;
    record->is_packed = true;
    buf_init(&bytes, 1 << 20);
    assert_int_equal(record_write(record, &bytes), CLEW_OK);
    assert_int_equal(record_read(buf_str(&bytes), &again, NULL), CLEW_OK);
    assert_true(uuid_eq(&record->id, &again->id));
    assert_string_equal(record->request.data, again->request.data);
    assert_string_equal(record->reply.data, again->reply.data);
    assert_string_equal(again->user_id.data, "ann");
    assert_true(again->is_packed && again->is_whole && !again->is_stream);
    record_free(again);
    for (size_t cut = 0; cut < bytes.len; cut += 13) {
        assert_int_equal(
            record_read((struct str){bytes.data, cut}, &again, NULL),
            CLEW_CORRUPT);
    }
    record_free(record);
    buf_release(&bytes);
}

static void a_spool_is_bounded_and_outlives_its_program(void **state)
{
    struct spool spool;
    struct buf out;
    int64_t number;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(spool_open(&spool, folder, 10, NULL), CLEW_OK);
    assert_int_equal(spool_add(&spool, STR("one"), NULL), CLEW_OK);
    assert_int_equal(spool_add(&spool, STR("two"), NULL), CLEW_OK);
    assert_int_equal(spool_add(&spool, STR("three"), NULL), CLEW_TOO_LARGE);
    spool_close(&spool);
    assert_int_equal(spool_open(&spool, folder, 10, NULL), CLEW_OK);
    assert_int_equal(spool.n_files, 2);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL), CLEW_OK);
    assert_string_equal(out.data, "one");
    spool_drop(&spool, number);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL), CLEW_OK);
    assert_string_equal(out.data, "two");
    spool_drop(&spool, number);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL),
                     CLEW_NOT_FOUND);
    assert_int_equal(spool.n_bytes, 0);
    spool_close(&spool);
    buf_release(&out);
}

/* Two servers on one data folder, each with its own count. */
static void spools_on_one_folder_write_over_nothing(void **state)
{
    struct spool one;
    struct spool other;
    struct spool both;

    (void)state;
    assert_int_equal(spool_open(&one, folder, 100, NULL), CLEW_OK);
    assert_int_equal(spool_open(&other, folder, 100, NULL), CLEW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(spool_add(&one, STR("one"), NULL), CLEW_OK);
        assert_int_equal(spool_add(&other, STR("other"), NULL), CLEW_OK);
        assert_int_equal(spool_add_before(&other, STR("old"), NULL), CLEW_OK);
        assert_int_equal(spool_add_before(&one, STR("old"), NULL), CLEW_OK);
    }
    assert_int_equal(spool_open(&both, folder, 100, NULL), CLEW_OK);
    assert_int_equal(both.n_files, 12);
    spool_close(&one);
    spool_close(&other);
    spool_close(&both);
}

static struct world world;

/* A file of that name, as if an earlier run had left it. */
static void leave(const char *name)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs("left", file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static void a_spool_bears_any_number_a_file_is_named_by(void **state)
{
    struct spool spool;
    struct buf out;
    int64_t number = 0;

    (void)state;
    buf_init(&out, 100);
    leave("00000000000000000001.call");
    leave("04611686018427387903.call");
    leave("09223372036854775807.call");
    leave("-0000000000000000003.call");
    assert_int_equal(spool_open(&spool, folder, 100, NULL), CLEW_OK);
    assert_int_equal(spool.n_files, 2);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL), CLEW_OK);
    assert_int_equal(number, 1);
    /* the gap is not walked number by number */
    assert_int_equal(spool_next(&spool, 1, &out, &number, NULL), CLEW_OK);
    assert_true(number == INT64_MAX / 2);
    assert_int_equal(spool_add(&spool, STR("new"), NULL), CLEW_OK);
    spool_drop(&spool, 1);
    spool_drop(&spool, number);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL), CLEW_OK);
    spool_drop(&spool, number);
    assert_int_equal(spool.n_files, 0);
    assert_int_equal(spool_next(&spool, 0, &out, &number, NULL),
                     CLEW_NOT_FOUND);
    spool_close(&spool);
    buf_release(&out);
}

static void half_a_file_of_one_that_lives_is_left_alone(void **state)
{
    char theirs[64];
    char path[160];
    struct spool spool;

    (void)state;
    snprintf(theirs, sizeof(theirs), "00000000000000000007.%ld.part",
             (long)getppid());
    leave(theirs);
    leave("00000000000000000008.999999999.part");
    leave("00000000000000000009.part");
    assert_int_equal(spool_open(&spool, folder, 100, NULL), CLEW_OK);
    snprintf(path, sizeof(path), "%s/%s", folder, theirs);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/00000000000000000008.999999999.part",
             folder);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/00000000000000000009.part", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    spool_close(&spool);
}

static void record_all(size_t queue_bytes, int64_t spool_bytes, int count,
                       struct recorder_stats *out)
{
    struct recorder_options options = {.spool_dir = folder,
                                       .queue_bytes = queue_bytes,
                                       .spool_bytes = spool_bytes,
                                       .retry_ms = 10};
    struct recorder *recorder;

    world_open(&world);
    assert_int_equal(recorder_open(&world.engine, &options, &recorder, NULL),
                     CLEW_OK);
    for (int i = 0; i < count; i++) {
        recorder_take(recorder, make_record(i));
    }
    assert_true(recorder_drain(recorder, 600000));
    recorder_stats(recorder, out);
    recorder_close(recorder);
    world_close(&world);
}

static void records_are_stored_in_the_background(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_all(1u << 24, 1 << 20, 300, &stats);
    assert_int_equal(stats.n_stored, 300);
    assert_int_equal(stats.n_lost + stats.n_refused + stats.n_spooled, 0);
}

static void what_memory_does_not_hold_goes_by_way_of_the_spool(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_all(1, 1 << 24, 100, &stats);
    assert_int_equal(stats.n_stored, 100);
    assert_int_equal(stats.n_lost, 0);
    assert_true(stats.n_spooled > 0);
}

static void what_fits_nowhere_is_counted_as_lost(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_all(1, 100, 10, &stats);
    assert_int_equal(stats.n_stored, 0);
    assert_int_equal(stats.n_lost, 10);
}

/* A file that is being stored still waits, once. */
static void each_record_is_in_one_count_at_any_moment(void **state)
{
    enum { COUNT = 200 };
    struct recorder_options options = {.spool_dir = folder,
                                       .queue_bytes = 1,
                                       .spool_bytes = 1 << 24,
                                       .retry_ms = 10};
    struct recorder_stats stats = {.n_waiting = 1};
    struct recorder *recorder;

    (void)state;
    world_open(&world);
    assert_int_equal(recorder_open(&world.engine, &options, &recorder, NULL),
                     CLEW_OK);
    for (int i = 0; i < COUNT; i++) {
        recorder_take(recorder, make_record(i));
    }
    while (stats.n_waiting > 0) {
        recorder_stats(recorder, &stats);
        assert_int_equal(stats.n_waiting + stats.n_stored + stats.n_refused +
                             stats.n_lost,
                         COUNT);
    }
    recorder_close(recorder);
    world_close(&world);
}

DB_SQL_SYSTEM(SPOIL, "CREATE UNIQUE INDEX spoil ON requests (tenant, user_id)");

static enum clew_status do_spoil(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &SPOIL, DB_NO_ARGS, err);
}

/* One record that the store never takes: no other is lost for it. */
static void a_spoilt_record_is_lost_alone(void **state)
{
    struct recorder_options options = {.spool_dir = folder,
                                       .queue_bytes = 1u << 24,
                                       .spool_bytes = 1 << 24,
                                       .retry_ms = 10};
    struct recorder_stats stats;
    struct recorder *recorder;
    struct spool spool;

    (void)state;
    world_open(&world);
    assert_int_equal(
        store_write_system(world.engine.store, do_spoil, NULL, NULL), CLEW_OK);
    /* a file that is no record is passed over, too */
    assert_int_equal(spool_open(&spool, folder, 1 << 20, NULL), CLEW_OK);
    assert_int_equal(spool_add(&spool, STR("no record"), NULL), CLEW_OK);
    spool_close(&spool);
    assert_int_equal(recorder_open(&world.engine, &options, &recorder, NULL),
                     CLEW_OK);
    for (int i = 0; i < 40; i++) {
        struct record *record = make_record(i);
        char user[16];

        snprintf(user, sizeof(user), "user %d", i == 7 ? 6 : i);
        buf_clear(&record->user_id);
        assert_int_equal(buf_append_cstr(&record->user_id, user), CLEW_OK);
        recorder_take(recorder, record);
    }
    assert_true(recorder_drain(recorder, 600000));
    recorder_stats(recorder, &stats);
    assert_int_equal(stats.n_stored, 39);
    assert_int_equal(stats.n_lost, 2);
    recorder_close(recorder);
    world_close(&world);
}

/* --- one conversation, and a store that stands in the way --- */

/* The i-th call of a conversation: it continues the one before it. */
static struct record *make_turn(int i)
{
    struct record *record = make_record(i);
    struct buf *body = &record->request;

    buf_clear(body);
    (void)buf_append_cstr(body, "{\"model\":\"m\",\"messages\":[");
    for (int n = 0; n <= i; n++) {
        (void)buf_printf(body, "%s{\"role\":\"user\",\"content\":\"%d\"}",
                         n > 0 ? "," : "", n);
        if (n < i) {
            (void)buf_append_cstr(
                body, ",{\"role\":\"assistant\",\"content\":\"ok\"}");
        }
    }
    (void)buf_append_cstr(body, "]}");
    return record;
}

DB_SQL_SYSTEM(ADD_TENANT,
              "INSERT INTO tenants (tenant, name, created_at, change_seq)"
              " VALUES (1, 'one', 0, 0)");

static enum clew_status do_add_tenant(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &ADD_TENANT, DB_NO_ARGS, err);
}

/* A world whose store can be made to fail. */
static void open_faulty(void)
{
    struct store_options options = {.location = ":memory:"};

    world_open(&world);
    store_close(world.engine.store);
    store_fault_reset();
    assert_int_equal(store_open_driver(store_fault_ops(&sqlite_driver),
                                       &options, &world.engine.store, NULL),
                     CLEW_OK);
    assert_int_equal(
        store_write_system(world.engine.store, do_add_tenant, NULL, NULL),
        CLEW_OK);
}

static struct recorder *busy;
static bool is_down_then;

/* While the first call is being stored the others come: the last of them finds
 * no room in memory. */
static void the_others_come(void)
{
    for (int i = 1; i < 4; i++) {
        recorder_take(busy, make_turn(i));
    }
    if (is_down_then) {
        store_fault_at(1, CLEW_UNAVAILABLE);
    }
}

static void record_talk(int64_t spool_bytes, bool is_down,
                        struct recorder_stats *out)
{
    struct record *third = make_turn(2);
    struct recorder_options options = {.spool_dir = folder,
                                       .queue_bytes = 2 * record_size(third),
                                       .spool_bytes = spool_bytes,
                                       .retry_ms = 10};

    record_free(third);
    open_faulty();
    is_down_then = is_down;
    assert_int_equal(recorder_open(&world.engine, &options, &busy, NULL),
                     CLEW_OK);
    store_fault_hook_at(1, the_others_come);
    recorder_take(busy, make_turn(0));
    assert_true(recorder_drain(busy, 600000));
    recorder_stats(busy, out);
    recorder_close(busy);
    store_fault_reset();
    world_close(&world);
}

static void what_overflows_keeps_its_place(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_talk(1 << 20, false, &stats);
    assert_int_equal(stats.n_stored, 4);
    assert_int_equal(stats.n_spooled, 1);
    assert_int_equal(stats.n_linked, 3);
}

static void what_is_put_back_goes_before_what_came_since(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_talk(1 << 20, true, &stats);
    assert_int_equal(stats.n_stored, 4);
    assert_int_equal(stats.n_replayed, 4);
    assert_int_equal(stats.n_linked, 3);
}

/* The spool takes nothing; memory has room for all but the last. */
static void an_outage_costs_nothing_that_memory_holds(void **state)
{
    struct recorder_stats stats;

    (void)state;
    record_talk(0, true, &stats);
    assert_int_equal(stats.n_stored, 3);
    assert_int_equal(stats.n_linked, 2);
    assert_int_equal(stats.n_lost, 1);
}

/* A file that cannot be read, now or ever, is no reason to store none. */
static void an_unreadable_file_keeps_no_other_waiting(void **state)
{
    char path[128];
    struct recorder_stats stats;
    struct stat stat_buf;

    (void)state;
    /* a folder is what nobody can read as a file, root neither */
    snprintf(path, sizeof(path), "%s/00000000000000000003.call", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    record_all(1u << 24, 1 << 24, 5, &stats);
    assert_int_equal(stats.n_stored, 5);
    assert_int_equal(stats.n_lost, 1);
    snprintf(path, sizeof(path), "%s/00000000000000000003.unread", folder);
    assert_int_equal(stat(path, &stat_buf), 0);
}

#define CASE(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_goes_to_the_end_of_the_last_user_message),
        cmocka_unit_test(no_context_without_a_question_of_the_user),
        cmocka_unit_test(context_cannot_leave_its_fence),
        cmocka_unit_test(an_upstream_is_https_or_on_this_machine),
        cmocka_unit_test(a_record_is_the_same_after_writing_and_reading),
        CASE(a_spool_is_bounded_and_outlives_its_program),
        CASE(a_spool_bears_any_number_a_file_is_named_by),
        CASE(spools_on_one_folder_write_over_nothing),
        CASE(half_a_file_of_one_that_lives_is_left_alone),
        CASE(records_are_stored_in_the_background),
        CASE(what_memory_does_not_hold_goes_by_way_of_the_spool),
        CASE(what_fits_nowhere_is_counted_as_lost),
        CASE(each_record_is_in_one_count_at_any_moment),
        CASE(a_spoilt_record_is_lost_alone),
        CASE(what_overflows_keeps_its_place),
        CASE(what_is_put_back_goes_before_what_came_since),
        CASE(an_outage_costs_nothing_that_memory_holds),
        CASE(an_unreadable_file_keeps_no_other_waiting),
    };

    json_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
