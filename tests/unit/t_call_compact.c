/* SPDX-License-Identifier: Apache-2.0 */
/* Continuations of compacted sessions: spec/linking.md. */
#include "support/test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/rand.h"
#include "engine/call/call_compact.h"

#include <stdio.h>

#define OPENING                                                                \
    "This session is being continued from a previous conversation that ran "   \
    "out of context. "

static bool summary_of(const char *text, char *out, size_t cap)
{
    json_t *message = json_pack("{s:s,s:[{s:s,s:s},{s:s,s:s}]}", "role", "user",
                                "content", "type", "text", "text", "first",
                                "type", "text", "text", text);
    struct str summary = {NULL, 0};
    bool found = call_compact_summary(message, &summary);

    if (found) {
        snprintf(out, cap, "%.*s", (int)summary.len, summary.s);
    }
    json_decref(message);
    return found;
}

static void a_summary_is_what_stands_between_marker_and_suffix(void **state)
{
    char out[256];

    (void)state;
    assert_true(summary_of(OPENING "The conversation is summarized below:\n"
                                   "Analysis: we did x.. Please continue the "
                                   "conversation from where we left it off.",
                           out, sizeof(out)));
    assert_string_equal(out, "Analysis: we did x");
    assert_true(summary_of(OPENING "The summary below covers it.\n\nSummary:\n"
                                   "1. x\n\nIf you need specific details from "
                                   "before compaction, read the file.",
                           out, sizeof(out)));
    assert_string_equal(out, "1. x");
    assert_true(summary_of(OPENING "Summary:\n1. x.\nContinue the conversation "
                                   "from where it left off.",
                           out, sizeof(out)));
    assert_string_equal(out, "1. x");
}

static void without_opening_or_marker_there_is_no_continuation(void **state)
{
    char out[64];

    (void)state;
    assert_false(summary_of("Summary: x", out, sizeof(out)));
    assert_false(summary_of(OPENING "and no more", out, sizeof(out)));
    assert_false(summary_of("Summary: x " OPENING, out, sizeof(out)));
}

static void assert_normal(const char *text, const char *expected)
{
    struct buf out;

    buf_init(&out, 4096);
    assert_int_equal(call_compact_normalise(&out, str_of(text)), CLEW_OK);
    assert_string_equal(out.data, expected);
    buf_release(&out);
}

static void both_sides_have_one_normal_form(void **state)
{
    (void)state;
    assert_normal(
        "<analysis>\nLet me SEE</analysis>\n\n<summary>1. A\n</summary>",
        "analysis: let me see summary: 1. a");
    assert_normal("Analysis:\nLet  me see\n\nSummary:\n1. A",
                  "analysis: let me see summary: 1. a");
    assert_normal(" a < b <b>bold</b> 3<4", "a < b bold 3<4");
}

static void a_short_summary_is_refused(void **state)
{
    char text[2101];

    (void)state;
    memset(text, 'x', 2100);
    text[2100] = '\0';
    assert_null(call_compact_needle((struct str){text, 99}).s);
    assert_int_equal(call_compact_needle((struct str){text, 100}).len, 100);
    assert_int_equal(call_compact_needle((struct str){text, 2000}).len, 2000);
    assert_int_equal(call_compact_needle((struct str){text, 2100}).len, 2000);
}

static bool has_anchor(const int64_t *anchors, size_t count, int64_t anchor)
{
    for (size_t i = 0; i < count; i++) {
        if (anchors[i] == anchor) {
            return true;
        }
    }
    return false;
}

/* Whatever part of a reply is looked for, its anchors are the reply's. */
static void every_part_of_a_reply_is_found_by_its_anchors(void **state)
{
    enum { LENGTH = 6000 };
    char *reply = malloc(LENGTH);

    (void)state;
    rand_seed(7);
    for (int i = 0; i < LENGTH; i++) {
        reply[i] = "abcdefgh "[rand_below(i % 700 < 500 ? 9 : 2)];
    }
    for (int round = 0; round < 300; round++) {
        struct arena arena;
        size_t len = 100 + rand_below(1900);
        size_t from = rand_below(LENGTH - len);
        struct str needle = {reply + from, len};
        int64_t wanted[CALL_NEEDLE_ANCHORS];
        int64_t *anchors;
        size_t n_wanted;
        size_t count;

        arena_init(&arena, 1u << 22);
        assert_int_equal(call_compact_anchors(&arena,
                                              (struct str){reply, LENGTH},
                                              &anchors, &count),
                         CLEW_OK);
        assert_int_equal(call_compact_lookup(&arena, needle, wanted, &n_wanted),
                         CLEW_OK);
        assert_true(n_wanted > 0);
        for (size_t i = 0; i < n_wanted; i++) {
            assert_true(has_anchor(anchors, count, wanted[i]));
        }
        arena_release(&arena);
    }
    rand_seed(0);
    free(reply);
}

static void anchors_are_few(void **state)
{
    enum { LENGTH = 1 << 20 };
    size_t bounded;
    char *reply = malloc(LENGTH);
    struct arena arena;
    int64_t *anchors;
    size_t count;

    (void)state;
    rand_seed(9);
    rand_bytes(reply, LENGTH);
    rand_seed(0);
    arena_init(&arena, 1u << 22);
    assert_int_equal(call_compact_anchors(&arena, (struct str){reply, 1000},
                                          &anchors, &count),
                     CLEW_OK);
    assert_in_range(count, 10, 50);
    assert_int_equal(call_compact_anchors(&arena, (struct str){reply, LENGTH},
                                          &anchors, &count),
                     CLEW_OK);
    assert_in_range(count, 2000, 4000);
    bounded = count; /* nothing behind the ceiling leaves an anchor */
    assert_int_equal(
        call_compact_anchors(&arena, (struct str){reply, CALL_ANCHORED_BYTES},
                             &anchors, &count),
        CLEW_OK);
    assert_int_equal(count, bounded);
    assert_int_equal(call_compact_anchors(
                         &arena, (struct str){reply, CALL_ANCHORED_BYTES / 2},
                         &anchors, &count),
                     CLEW_OK);
    assert_true(count < bounded);
    assert_int_equal(
        call_compact_anchors(&arena, (struct str){reply, 0}, &anchors, &count),
        CLEW_OK);
    assert_int_equal(count, 0);
    arena_release(&arena);
    free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_is_what_stands_between_marker_and_suffix),
        cmocka_unit_test(without_opening_or_marker_there_is_no_continuation),
        cmocka_unit_test(both_sides_have_one_normal_form),
        cmocka_unit_test(a_short_summary_is_refused),
        cmocka_unit_test(every_part_of_a_reply_is_found_by_its_anchors),
        cmocka_unit_test(anchors_are_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
