/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream parser. */
#include "support/test.h"

#include "base/sse.h"

#include <stdio.h>

struct log {
    char text[4096];
    size_t len;
};

static void note(void *arg, struct str name, struct str data)
{
    struct log *log = arg;

    log->len += (size_t)snprintf(log->text + log->len,
                                 sizeof(log->text) - log->len, "(%.*s|%.*s)",
                                 (int)name.len, name.s, (int)data.len, data.s);
}

/* Feed in pieces of `step` bytes; what was read, written out. */
static void assert_events(const char *stream, const char *expected)
{
    for (size_t step = 1; step <= strlen(stream) + 1; step++) {
        struct log log = {"", 0};
        struct sse sse;

        sse_init(&sse, 4096, note, &log);
        for (size_t at = 0; at < strlen(stream); at += step) {
            size_t left = strlen(stream) - at;

            sse_feed(&sse, stream + at, left < step ? left : step);
        }
        assert_string_equal(log.text, expected);
        sse_release(&sse);
    }
}

static void events_are_read_whatever_the_pieces(void **state)
{
    (void)state;
    assert_events("event: a\ndata: 1\n\ndata:2\n\n", "(a|1)(|2)");
}

static void all_three_line_ends_are_known(void **state)
{
    (void)state;
    assert_events("data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", "(|1)(|2)(|3)");
}

static void data_lines_are_joined(void **state)
{
    (void)state;
    assert_events("data: a\ndata\ndata:  b\n\n", "(|a\n\n b)");
}

static void comments_and_unknown_fields_are_skipped(void **state)
{
    (void)state;
    assert_events("\xEF\xBB\xBF: ping\nid: 7\nretry: 3\ndata: x\n\n:\n\n",
                  "(|x)");
}

static void an_event_without_data_is_none(void **state)
{
    (void)state;
    assert_events("event: a\n\ndata: 1\n\n", "(|1)");
}

static void an_event_cut_off_by_the_end_is_dropped(void **state)
{
    (void)state;
    assert_events("data: 1\n\ndata: 2\n", "(|1)");
}

static void an_event_over_the_ceiling_is_dropped_alone(void **state)
{
    struct log log = {"", 0};
    struct sse sse;
    char big[200];

    (void)state;
    memset(big, 'x', sizeof(big));
    sse_init(&sse, 64, note, &log);
    sse_feed(&sse, "data: 1\n\ndata: ", 15);
    sse_feed(&sse, big, sizeof(big));
    sse_feed(&sse, "\ndata: y\n\ndata: 2\n\n", 19);
    assert_string_equal(log.text, "(|1)(|2)");
    assert_int_equal(sse.n_lost, 1);
    sse_release(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_whatever_the_pieces),
        cmocka_unit_test(all_three_line_ends_are_known),
        cmocka_unit_test(data_lines_are_joined),
        cmocka_unit_test(comments_and_unknown_fields_are_skipped),
        cmocka_unit_test(an_event_without_data_is_none),
        cmocka_unit_test(an_event_cut_off_by_the_end_is_dropped),
        cmocka_unit_test(an_event_over_the_ceiling_is_dropped_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
