/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_smalltalk.c - what is said by way of talking, and what is settled.
 */
#include "support/test.h"

#include "text/settled.h"
#include "text/smalltalk.h"

static void are_small_talk(const char *const *texts, size_t count, bool wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (smalltalk_is(str_of(texts[i])) != wanted) {
            fail_msg("%ssmall talk: %s", wanted ? "not " : "", texts[i]);
        }
    }
}

static void greetings_and_reactions_are_small_talk(void **state)
{
    static const char *const yes[] = {"hi",
                                      "Hey there!",
                                      "good evening :)",
                                      "Thanks a lot!!",
                                      "ok",
                                      "",
                                      "Yes, sounds good",
                                      "How are you doing today?",
                                      "Great idea.",
                                      "I'm glad it works",
                                      "\xF0\x9F\x91\x8D",
                                      "Hello! How can I help you?"};
    static const char *const no[] = {
        "hi Marta",
        "good tyres",
        "thanks for the invoice",
        "error 500",
        "deploy",
        "Hello world prints twice",
        "Guten Morgen, Kubernetes",
        "\xE4\xBD\xA0\xE5\xA5\xBD\xE6\x9C\x8D\xE5\x8A\xA1\xE5\x99\xA8"};

    (void)state;
    are_small_talk(yes, sizeof(yes) / sizeof(yes[0]), true);
    are_small_talk(no, sizeof(no) / sizeof(no[0]), false);
}

/* Other tongues, also those that put no blanks between words. */
static void other_tongues_greet_and_thank(void **state)
{
    static const char *const yes[] = {"你好",
                                      "您好，请问在吗？",
                                      "谢谢你的帮助",
                                      "好的，明白了",
                                      "太好了！",
                                      "没问题",
                                      "辛苦了，再见",
                                      "早上好",
                                      "こんにちは",
                                      "お疲れ様です",
                                      "ありがとうございました",
                                      "承知しました。",
                                      "了解です",
                                      "よろしくお願いします",
                                      "안녕하세요!",
                                      "네 감사합니다",
                                      "고마워요 ㅎㅎ",
                                      "Здравствуйте",
                                      "Спасибо большое!",
                                      "ПРИВЕТ",
                                      "Buenos días",
                                      "¡Muchas gracias!",
                                      "D'accord, merci !",
                                      "s’il vous plaît",
                                      "Oi, tudo bem?",
                                      "Grazie mille, a presto",
                                      "Guten Abend",
                                      "Vielen Dank und bis später"};
    static const char *const no[] = {"打印机坏了",
                                     "漏水了",
                                     "你好，打印机坏了",
                                     "头疼",
                                     "水が漏れた",
                                     "お湯が出ない",
                                     "프린터가 고장났어요",
                                     "Принтер сломался",
                                     "Drucker kaputt",
                                     "Impresora rota",
                                     "danke für die Rechnung",
                                     "merci Paul",
                                     "好的，3点"};

    (void)state;
    are_small_talk(yes, sizeof(yes) / sizeof(yes[0]), true);
    are_small_talk(no, sizeof(no) / sizeof(no[0]), false);
}

static void what_is_said_begins_after_them(void **state)
{
    static const struct {
        const char *text;
        const char *rest;
    } cases[] = {
        {"Hi there, the printer jams", "the printer jams"},
        {"ok. thanks! Now the second floor", "Now the second floor"},
        {"Good morning! Can you look at invoice 12?",
         "Can you look at invoice 12?"},
        {"the printer jams, hi", "the printer jams, hi"},
        {"hello", ""},
        {"你好，打印机坏了", "打印机坏了"},
        {"お疲れ様です。お湯が出ない", "お湯が出ない"},
        {"Привет! Принтер сломался", "Принтер сломался"},
        {"¡Hola! ¿Cuánto cuesta?", "¿Cuánto cuesta?"},
        {"", ""},
        {"Gut, dass ihr früh losfahrt.", "Gut, dass ihr früh losfahrt."},
        {"Super, das Auto läuft.", "das Auto läuft."},
        {"\"Hello Ms Reed, is the barn free in May?\"",
         "\"Hello Ms Reed, is the barn free in May?\""},
        {"« Bonjour Luc, la grange est libre. »",
         "« Bonjour Luc, la grange est libre. »"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str text = str_of(cases[i].text);
        size_t at = smalltalk_skip(text);

        assert_true(at <= text.len);
        if (!str_eq(str_sub(text, at, text.len), str_of(cases[i].rest))) {
            fail_msg("%s: from %zu", cases[i].text, at);
        }
    }
}

static void captions_announce(void **state)
{
    (void)state;
    assert_true(smalltalk_is_caption(STR("Here are the steps:")));
    assert_true(smalltalk_is_caption(STR("## Results")));
    assert_true(smalltalk_is_caption(STR("**Next**")));
    assert_true(smalltalk_is_caption(STR("  ")));
    assert_false(smalltalk_is_caption(STR("The steps are done.")));
    assert_false(smalltalk_is_caption(STR("**Never** restart it")));
}

static void decided_means_decided(void **state)
{
    static const char *const yes[] = {
        "We decided to rent the van", "ok, let's take the blue tiles",
        "I'll go with the later ferry", "Marta and I agreed on Thursday",
        "We settled on a fixed price"};
    static const char *const no[] = {"We haven't decided about the van",
                                     "I might go with the blue tiles",
                                     "Should we have decided earlier?",
                                     "If we'll use Redis it gets hard",
                                     "The undecided part is the price",
                                     "Maybe let's take the train",
                                     "The weather is fine"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (!settled_is(str_of(yes[i]))) {
            fail_msg("not decided: %s", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (settled_is(str_of(no[i]))) {
            fail_msg("decided: %s", no[i]);
        }
    }
    assert_true(settled_is_open(STR("I still need the measures")));
    assert_false(settled_is_open(STR("The measures are here")));
}

static void the_same_trouble_settles_nothing(void **state)
{
    static const char *const yes[] = {
        "did that, same problem", "not it",
        "Tried it. No luck.",     "nope, still getting the timeout",
        "that didn't help",       "hab ich gemacht, leider immer noch E5",
        "ça n'a rien changé",     "nada, sigue igual"};
    static const char *const no[] = {"the same problem is gone",
                                     "it is no longer the same error",
                                     "Is it the same problem?",
                                     "that did it",
                                     "",
                                     "knot it tightly",
                                     "still water runs deep"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (!settled_is_same_trouble(str_of(yes[i]))) {
            fail_msg("not the same: %s", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (settled_is_same_trouble(str_of(no[i]))) {
            fail_msg("the same: %s", no[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greetings_and_reactions_are_small_talk),
        cmocka_unit_test(other_tongues_greet_and_thank),
        cmocka_unit_test(what_is_said_begins_after_them),
        cmocka_unit_test(captions_announce),
        cmocka_unit_test(decided_means_decided),
        cmocka_unit_test(the_same_trouble_settles_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
