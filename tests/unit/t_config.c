/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_config.c - sources, precedence, types, and errors that say where.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/json.h"

#include <stdio.h>
#include <unistd.h>

static char dir[] = "/tmp/clew-config-XXXXXX";
static char file[64];

static void write_file(const char *text)
{
    FILE *out = fopen(file, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static struct config *loaded(const char *text)
{
    struct config *config = NULL;
    struct clew_error err = {0};

    write_file(text);
    if (config_load(file, NULL, 0, &config, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return config;
}

static void defaults_hold_without_any_source(void **state)
{
    struct config *config = loaded("");

    (void)state;
    assert_string_equal(config_str(config, "server.listen"), "127.0.0.1:2539");
    assert_int_equal(config_int(config, "chats.inactivity_minutes"), 30);
    assert_int_equal(config_int(config, "limits.content_bytes"), 16777216);
    assert_float_equal(config_real(config, "chains.continue"), 0.55, 1e-9);
    assert_false(config_bool(config, "proxy.inject"));
    assert_string_equal(config_str(config, "channels.sms"), "implicit");
    assert_null(config_str(config, "channels.fax"));
    assert_int_equal(config_int(config, "chats.channel_minutes.sms"), 0);
    assert_string_equal(config_dir(config), dir);
    config_free(config);
}

static void the_stronger_source_wins(void **state)
{
    static const struct config_flag flags[] = {{"llm.model", "from-flag"},
                                               {"chains.branch", "0.9"}};
    struct config *config = NULL;
    struct clew_error err;
    struct buf shown;

    (void)state;
    write_file("# mine\n"
               "llm:\n"
               "  model: from-file\n"
               "  url: http://127.0.0.1:1/v1\n"
               "  daily_tokens: 7\n"
               "chains: {branch: 0.6, continue: 0.5}\n");
    setenv("CLEW_LLM_MODEL", "from-env", 1);
    setenv("CLEW_LLM_DAILY_TOKENS", "8", 1);
    setenv("CLEW_NOT_A_KEY", "ignored", 1);
    assert_int_equal(config_load(file, flags, 2, &config, &err), CLEW_OK);
    unsetenv("CLEW_LLM_MODEL");
    unsetenv("CLEW_LLM_DAILY_TOKENS");
    unsetenv("CLEW_NOT_A_KEY");
    assert_string_equal(config_str(config, "llm.model"), "from-flag");
    assert_int_equal(config_int(config, "llm.daily_tokens"), 8);
    assert_string_equal(config_str(config, "llm.url"), "http://127.0.0.1:1/v1");
    assert_float_equal(config_real(config, "chains.branch"), 0.9, 1e-9);
    buf_init(&shown, 1 << 20);
    assert_int_equal(config_show(config, false, &shown), CLEW_OK);
    assert_non_null(
        strstr(shown.data, "llm.daily_tokens = 8  # CLEW_LLM_DAILY_TOKENS\n"));
    assert_non_null(strstr(shown.data, "llm.model = from-flag  # command"));
    assert_non_null(strstr(shown.data, "clew.yaml:4\n"));
    buf_release(&shown);
    config_free(config);
}

static void a_name_of_ones_own_fits_a_pattern(void **state)
{
    struct config *config;

    (void)state;
    setenv("CLEW_CHANNELS_FAX_ROOM", "implicit", 1);
    config = loaded("channels:\n  pager: explicit\n"
                    "chats:\n  channel_minutes:\n    pager: 90\n");
    unsetenv("CLEW_CHANNELS_FAX_ROOM");
    assert_string_equal(config_str(config, "channels.pager"), "explicit");
    assert_string_equal(config_str(config, "channels.fax_room"), "implicit");
    assert_int_equal(config_int(config, "chats.channel_minutes.pager"), 90);
    config_free(config);
}

static void count_each(void *arg, const char *key, const char *value)
{
    assert_non_null(strstr(key, "channels."));
    assert_true(strcmp(value, "explicit") == 0 ||
                strcmp(value, "implicit") == 0);
    ++*(int *)arg;
}

static void each_visits_a_prefix(void **state)
{
    struct config *config = loaded("channels: {pager: explicit}\n");
    int n = 0;

    (void)state;
    config_each(config, "channels.", count_each, &n);
    assert_int_equal(n, 12);
    config_free(config);
}

static void a_mistake_is_named_with_file_line_and_key(void **state)
{
    static const struct {
        const char *text;
        const char *where; /* part of the message */
        const char *key;
    } cases[] = {
        {"a: 1\n", "clew.yaml:1: unknown key", "a"},
        {"server:\n  listen: x\n  lissten: y\n", ":3: unknown key",
         "server.lissten"},
        {"server: 1\n", ":1: unknown key", "server"},
        {"channels:\n  a:\n    b: explicit\n", ":3: unknown key",
         "channels.a.b"},
        {"\nchats: {inactivity_minutes: soon}\n",
         ":2:", "chats.inactivity_minutes"},
        {"chats: {inactivity_minutes: 0}\n", "1..525600",
         "chats.inactivity_minutes"},
        {"chats: {inactivity_minutes: 1.5}\n", "whole number",
         "chats.inactivity_minutes"},
        {"proxy: {inject: maybe}\n", "true or false", "proxy.inject"},
        {"channels: {sms: odd}\n", "one of explicit|implicit", "channels.sms"},
        {"chains: {branch: 1.01}\n", "in 0..1", "chains.branch"},
        {"chains: {branch: nan}\n", "a number", "chains.branch"},
        {"chains: {branch: 0x1}\n", "a number", "chains.branch"},
        {"llm: {input_price: 0x10}\n", "a number", "llm.input_price"},
        {"llm: {input_price: 1e9999}\n", "a number", "llm.input_price"},
        {"llm: {input_price: 0x1p4}\n", "a number", "llm.input_price"},
        {"llm: {input_price: \"1\\0\"}\n", "a number", "llm.input_price"},
        {"llm: {daily_tokens: 0x10}\n", "a whole number", "llm.daily_tokens"},
        {"limits: {body_bytes: 0x1000}\n", "a size", "limits.body_bytes"},
        {"limits: {body_bytes: 3X}\n", "a size", "limits.body_bytes"},
        {"limits: {body_bytes: 9999999T}\n", "a size", "limits.body_bytes"},
        {"limits: {body_bytes: 512}\n", "1K..2G", "limits.body_bytes"},
        {"llm: {model: a}\nllm: {model: b}\n", "already set", "llm.model"},
        {"llm: [a]\n", ":1: llm: lists", "llm"},
        {"- a\n", "lists", ""},
        {"just words\n", "name: value", ""},
        {"llm: {model: &x a}\n", "anchors", "llm.model"},
        {"llm: *x\n", "anchors", "llm"},
        {"llm: {model: a\n", "not valid YAML", NULL},
        {"llm: {model: a}\n---\nllm: {kind: openai}\n", "one document", ""},
        {"? {a: b}\n: c\n", "cannot be a map", ""},
        {"a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}\n", "too deep", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct config *config = NULL;
        struct clew_error err = {0};

        write_file(cases[i].text);
        assert_int_equal(config_load(file, NULL, 0, &config, &err),
                         CLEW_INVALID);
        assert_null(config);
        if (!strstr(err.message, cases[i].where)) {
            fail_msg("case %zu: \"%s\"", i, err.message);
        }
        if (cases[i].key) {
            assert_string_equal(err.field, cases[i].key);
        }
    }
}

static void mistakes_outside_the_file_are_named_too(void **state)
{
    static const struct config_flag flags[] = {{"llm.modle", "x"}};
    struct config *config = NULL;
    struct clew_error err;

    (void)state;
    write_file("");
    assert_int_equal(config_load(file, flags, 1, &config, &err), CLEW_INVALID);
    assert_non_null(strstr(err.message, "command line: unknown key"));
    setenv("CLEW_LLM_KIND", "odd", 1);
    assert_int_equal(config_load(file, NULL, 0, &config, &err), CLEW_INVALID);
    unsetenv("CLEW_LLM_KIND");
    assert_non_null(strstr(err.message, "CLEW_LLM_KIND: \"llm.kind\""));
    assert_int_equal(config_load("/nowhere/x.yaml", NULL, 0, &config, &err),
                     CLEW_NOT_FOUND);
}

static void secrets_are_never_shown(void **state)
{
    struct config *config;
    struct buf shown;
    json_t *json = NULL;

    (void)state;
    config = loaded("llm: {key: sk-hidden}\n"
                    "store: {url: 'postgres://me:hidden@db/clew'}\n"
                    "proxy: {upstreams: {own: 'http://me:a@hidden@h/v1'}}\n"
                    "embed: {url: 'http://h/?password=hidden'}\n");
    assert_string_equal(config_str(config, "llm.key"), "sk-hidden");
    buf_init(&shown, 1 << 20);
    assert_int_equal(config_show(config, false, &shown), CLEW_OK);
    assert_null(strstr(shown.data, "hidden"));
    assert_non_null(strstr(shown.data, "store.url = postgres://***@db/clew"));
    buf_clear(&shown);
    assert_int_equal(config_show(config, true, &shown), CLEW_OK);
    assert_null(strstr(shown.data, "hidden"));
    assert_int_equal(json_parse(buf_str(&shown), &json, NULL), CLEW_OK);
    assert_int_equal(
        json_integer_value(json_object_get(
            json_object_get(json, "chats.inactivity_minutes"), "value")),
        30);
    json_decref(json);
    buf_release(&shown);
    config_free(config);
}

static void data_goes_where_xdg_says(void **state)
{
    struct config *config;

    (void)state;
    setenv("XDG_DATA_HOME", "/x/share", 1);
    config = loaded("");
    assert_string_equal(config_data_dir(config), "/x/share/clew");
    config_free(config);
    setenv("XDG_DATA_HOME", "", 1);
    setenv("HOME", "/home/u", 1);
    config = loaded("");
    assert_string_equal(config_data_dir(config), "/home/u/.local/share/clew");
    config_free(config);
    config = loaded("data: {dir: /d}\n");
    assert_string_equal(config_data_dir(config), "/d");
    config_free(config);
}

static void running_out_of_memory_is_a_clean_failure(void **state)
{
    int64_t live;
    uint64_t n = 1;

    (void)state;
    write_file("llm: {key: abc}\nchannels: {pager: explicit}\n");
    live = alloc_live_count();
    for (;; n++) {
        struct config *config = NULL;
        enum clew_status status;

        alloc_fail_at(n);
        status = config_load(file, NULL, 0, &config, NULL);
        if (!alloc_fail_fired()) {
            assert_int_equal(status, CLEW_OK);
            config_free(config);
            break;
        }
        assert_int_equal(status, CLEW_NO_MEMORY);
        assert_null(config);
        assert_int_equal(alloc_live_count(), live);
    }
    alloc_fail_at(0);
    assert_true(n > 3);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    (void)snprintf(file, sizeof(file), "%s/clew.yaml", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(file);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_without_any_source),
        cmocka_unit_test(the_stronger_source_wins),
        cmocka_unit_test(a_name_of_ones_own_fits_a_pattern),
        cmocka_unit_test(each_visits_a_prefix),
        cmocka_unit_test(a_mistake_is_named_with_file_line_and_key),
        cmocka_unit_test(mistakes_outside_the_file_are_named_too),
        cmocka_unit_test(secrets_are_never_shown),
        cmocka_unit_test(data_goes_where_xdg_says),
        cmocka_unit_test(running_out_of_memory_is_a_clean_failure),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
