/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks that something be remembered, and who only speaks of it. */
#include "support/test.h"

#include "talk/asked.h"

static void who_asks_says_what(void **state)
{
    static const char *const asked[][2] = {
        {"Remember that Jonas is allergic to walnuts.",
         "that Jonas is allergic to walnuts."},
        {"Remind me to call the leasing bank before December.",
         "to call the leasing bank before December."},
        {"Can you remind me to water the ferns?", "to water the ferns?"},
        {"Could you please remember my size is 43?", "my size is 43?"},
        {"and please don’t forget that the vet is closed on Fridays",
         "that the vet is closed on Fridays"},
        {"Keep in mind: the lift is out of order.",
         "the lift is out of order."},
        {"Don't let me forget the seedlings.", "the seedlings."},
        {"Merk dir bitte, dass Tante Ilse keinen Fisch isst.",
         "bitte, dass Tante Ilse keinen Fisch isst."},
        {"Vergiss nicht, dass der Zug um 7:12 fährt.",
         "dass der Zug um 7:12 fährt."},
        {"N’oublie pas que Lucie arrive jeudi.", "que Lucie arrive jeudi."},
        {"Recuerda que la llave está debajo de la maceta.",
         "que la llave está debajo de la maceta."},
        {"Vergeet niet dat de markt om acht uur begint.",
         "dat de markt om acht uur begint."}};

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        size_t at = asked_to_keep(str_of(asked[i][0]));

        if (at == 0) {
            fail_msg("does not ask: %s", asked[i][0]);
        }
        assert_string_equal(asked[i][0] + at, asked[i][1]);
    }
}

static void who_speaks_of_it_does_not_ask(void **state)
{
    static const char *const told[] = {"",
                                       "?",
                                       "I remember that the hotel was cold.",
                                       "Remember when we missed the ferry?",
                                       "Remember how the roof leaked.",
                                       "Remind me what we said about the roof.",
                                       "Do you remember the name of the hotel?",
                                       "Remember Ruth from the choir?",
                                       "I can't remember where I put it.",
                                       "She reminds me of my aunt.",
                                       "Please remember.",
                                       "Forget it, we take the bus.",
                                       "The reminder comes at nine."};

    (void)state;
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        if (asked_to_keep(str_of(told[i])) != 0) {
            fail_msg("asks: %s", told[i]);
        }
    }
}

static void what_must_not_be_forgotten_is_not_given_up(void **state)
{
    static const char *const kept[] = {
        "He is allergic to nuts, please don't forget that.",
        "Vergiss das bitte nicht.",
        "Mon fiancé est allergique aux noix, ne l'oublie pas.",
        "Mi novio es alérgico, no lo olvides.",
        "We must never forget the cat.",
        "Não te esqueças do pão.",
        "Vergeet het brood niet!"};
    static const char *const given_up[] = {
        "Forget it, it's not worth the trouble.",
        "Forget the poster. We are not going to print it.",
        "Vergiss es, das klappt nicht.",
        "No, forget it.",
        "I forgot the milk, not the bread.",
        ""};

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (!asked_not_to_forget(str_of(kept[i]))) {
            fail_msg("may be forgotten: %s", kept[i]);
        }
    }
    for (size_t i = 0; i < sizeof(given_up) / sizeof(given_up[0]); i++) {
        if (asked_not_to_forget(str_of(given_up[i]))) {
            fail_msg("must be kept: %s", given_up[i]);
        }
    }
}

static void who_says_his_name(void **state)
{
    static const char *const said[] = {
        "My name is Ines.",
        "Hi there, my name's Ansel Brandt, nice to meet you",
        "call me Jo please",
        "You can call me Al.",
        "Guten Tag, ich heiße Okan",
        "Nennen Sie mich Frau Wirth",
        "Bonjour, je m’appelle Léo",
        "hola, me llamo Rosa",
        "o meu nome é Duarte",
        "Mi chiamo Elsa.",
        "меня зовут Олег",
        "我叫小明",
        "田中と申します"};
    static const char *const not_said[] = {"call me tomorrow",
                                           "Call me Monday",
                                           "call me when you are done",
                                           "What is my name?",
                                           "My name is not long",
                                           "ich heiße euch willkommen",
                                           "She goes by Kit",
                                           "我叫",
                                           ""};

    (void)state;
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        if (!asked_called(str_of(said[i]), false)) {
            fail_msg("%s", said[i]);
        }
    }
    for (size_t i = 0; i < sizeof(not_said) / sizeof(not_said[0]); i++) {
        if (asked_called(str_of(not_said[i]), true)) {
            fail_msg("%s", not_said[i]);
        }
    }
    /* what may be something else hangs on who read it */
    assert_true(asked_called(STR("hi, I'm Nadine"), true));
    assert_false(asked_called(STR("hi, I'm Nadine"), false));
    assert_false(asked_called(STR("I'm tired"), true));
    assert_false(asked_called(STR("I'm OK"), true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_says_what),
        cmocka_unit_test(who_speaks_of_it_does_not_ask),
        cmocka_unit_test(what_must_not_be_forgotten_is_not_given_up),
        cmocka_unit_test(who_says_his_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
