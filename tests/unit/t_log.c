/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_log.c - levels by component, one line per event, repeats held back.
 */
#include "support/test.h"

#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

static int pipe_fds[2];

/* What was logged since the last call, without blocking. */
static const char *logged(void)
{
    static char text[65536];
    ssize_t n = read(pipe_fds[0], text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

static int open_pipe(void **state)
{
    (void)state;
    if (pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC) != 0) {
        return -1;
    }
    log_set_fd(pipe_fds[1]);
    return 0;
}

static int close_pipe(void **state)
{
    (void)state;
    log_set_fd(STDERR_FILENO);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
    return 0;
}

static void a_component_has_a_level_of_its_own(void **state)
{
    struct clew_error err;

    (void)state;
    assert_int_equal(log_setup("warn, http=debug", &err), CLEW_OK);
    assert_true(log_enabled(LOG_WARN, "api"));
    assert_false(log_enabled(LOG_INFO, "api"));
    assert_true(log_enabled(LOG_DEBUG, "http"));
    log_event(LOG_INFO, "api", "quiet", "n=%d", 1);
    log_event(LOG_DEBUG, "http", "request", "path=%s status=%d", "/x", 200);
    assert_non_null(
        strstr(logged(), "Z debug http request path=/x status=200\n"));
}

static void a_wrong_level_is_named_and_changes_nothing(void **state)
{
    struct clew_error err;

    (void)state;
    assert_int_equal(log_setup("debug", &err), CLEW_OK);
    assert_int_equal(log_setup("info,http=loud", &err), CLEW_INVALID);
    assert_non_null(strstr(err.message, "http=loud"));
    assert_true(log_enabled(LOG_DEBUG, "api"));
    assert_int_equal(log_setup("info,=debug", &err), CLEW_INVALID);
    assert_int_equal(log_setup("x", &err), CLEW_INVALID);
}

static void a_value_cannot_forge_a_line(void **state)
{
    struct clew_error err;
    const char *text;

    (void)state;
    assert_int_equal(log_setup("info", &err), CLEW_OK);
    log_event(LOG_INFO, "http", "odd", "path=%s",
              "a\nforged error\r\x1b[0m\u202e\u2028\xc2\x9b"
              "2J\u00e9");
    text = logged();
    assert_int_equal(count_lines(text), 1);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\u202e"));
    assert_null(strstr(text, "\u2028"));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_non_null(strstr(text, "\u00e9"));
}

static void a_long_line_is_cut_between_characters(void **state)
{
    struct clew_error err;
    char value[4096];
    const char *text;

    (void)state;
    assert_int_equal(log_setup("info", &err), CLEW_OK);
    for (size_t i = 0; i + 2 < sizeof(value); i += 2) {
        memcpy(value + i, "\xC3\xA9", 3);
    }
    log_event(LOG_INFO, "http", "long", "v=%s", value);
    text = logged();
    assert_in_range(strlen(text), 1000, 1100);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void equal_lines_are_held_back_and_counted(void **state)
{
    struct clew_error err;
    const char *text;

    (void)state;
    assert_int_equal(log_setup("info", &err), CLEW_OK);
    for (int i = 0; i < 500; i++) {
        log_event(LOG_WARN, "task", "same", "x=1");
        log_event(LOG_WARN, "task", "other", "i=%d", i / 250);
    }
    log_flush();
    text = logged();
    /* a slow machine may cross a second now and then, never 25 times */
    assert_in_range(count_lines(text), 30, 400);
    assert_non_null(strstr(text, "held_back="));
    assert_non_null(strstr(text, "line=\"task same\""));
    log_flush();
    assert_string_equal(logged(), "");
}

static void words_stay_in_their_quotes(void **state)
{
    char out[8];

    (void)state;
    assert_string_equal(log_words("at \"db\"", out, sizeof(out)), "at 'db'");
    assert_string_equal(log_words("abcdef\u00e4", out, sizeof(out)), "abcdef");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_component_has_a_level_of_its_own),
        cmocka_unit_test(a_wrong_level_is_named_and_changes_nothing),
        cmocka_unit_test(a_value_cannot_forge_a_line),
        cmocka_unit_test(a_long_line_is_cut_between_characters),
        cmocka_unit_test(equal_lines_are_held_back_and_counted),
        cmocka_unit_test(words_stay_in_their_quotes),
    };

    return cmocka_run_group_tests(tests, open_pipe, close_pipe);
}
