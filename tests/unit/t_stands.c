/* SPDX-License-Identifier: Apache-2.0 */
/* Which notes say by themselves what they are about. */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "talk/stands.h"

#include <string.h>

static enum stands judge(const char *before, const char *words)
{
    struct arena arena;
    enum stands out = STANDS;

    arena_init(&arena, (size_t)1 << 24);
    assert_int_equal(stands_of(&arena, str_of(before), str_of(words), &out),
                     CLEW_OK);
    arena_release(&arena);
    return out;
}

/* Each of a list that ends with NULL is judged so. */
static void all_are(enum stands expected, const char *const *list)
{
    for (; *list; list++) {
        enum stands is = judge("", *list);

        if (is != expected) {
            fail_msg("%d, not %d: %s", (int)is, (int)expected, *list);
        }
    }
}

static void what_points_away_does_not_stand(void **state)
{
    static const char *const list[] = {
        "it broke again",
        "It arrived on Tuesday.",
        "I usually pair it with light vegetables.",
        "he wants everything in orange",
        "My sister says he is lazy.",
        "We scattered her ashes at Porthcurno.",
        "Zosia made a drawing of him.",
        "They're teetotal, both of them.",
        "That was expensive.",
        "I already bought that.",
        "those two are better",
        "I took the second one",
        "das war teuer",
        "Er wollte nicht kommen.",
        "Sie hat die Stelle bekommen.",
        "Es ist kaputt.",
        "él no quiso venir",
        "Ella vive en Sevilla.",
        "eso fue muy caro",
        "ça coûte 40 euros",
        "Il n'est pas venu.",
        "Elle habite à Lyon.",
        "那个太贵了",
        "她不想来",
        "それは高かった",
        "はい、それにします",
        NULL};

    (void)state;
    all_are(STANDS_POINTS, list);
}

static void a_bare_answer_does_not_stand(void **state)
{
    static const char *const list[] = {
        "about 40",
        "40",
        "yes, on Friday",
        "Wednesdays at seven, in the hall.",
        "The 22nd of February, same day as my nan's.",
        "Nothing serious, just stiff in the mornings.",
        "oui, vendredi",
        NULL};

    (void)state;
    all_are(STANDS_BARE, list);
}

static void what_names_its_matter_stands(void **state)
{
    static const char *const list[] = {
        "",
        "Dentist on Friday at three.",
        "Rent: 850 a month.",
        "The boiler broke and it leaks.",
        "My new glaze keeps crawling, it pulls away from the rim.",
        "The drill stalls and it smokes.",
        "Rent is 780 and it's split with Oyelaran.",
        "The trades have gold in them.",
        "My brother Tom says he will come.",
        "My madam hates vinegar, she can't stand the smell.",
        "Our dog Pip hurt his paw.",
        "She's called Mira and lives in Oslo.",
        "They told us that the branch closes in June.",
        "I finished Small Things Like These in Cork.",
        "Mein Bruder sagt, er kommt im Mai.",
        "Der Zug kommt um acht, er hat Verspätung.",
        "Mon frère dit qu'il viendra en mai.",
        "J'habite à Lyon depuis dix ans.",
        "Mi hermana dice que ella viene en mayo.",
        "La lavadora está rota otra vez.",
        "我妹妹说她五月来",
        "妹は五月に来ると言った",
        "母は彼の車を借りた",
        NULL};

    (void)state;
    all_are(STANDS, list);
}

static void what_only_looks_like_pointing_stands(void **state)
{
    static const char *const list[] = {
        "It rained all week.", "It's Friday.",
        "It is important that the invoice goes out.",
        "It takes two hours to drive to Ghent.",
        "I find it hard to sleep on trains.", "I know that the door is green.",
        "The book that was on the table is gone.",
        "I am flying to Rome this week.", "There is a market on Sundays.",
        "One of us pays the rent.", "This is the channel for the paper fair.",
        "Norrland covers the rescue for those eight days.",
        "im off to Ghana from 3 to 12 april",
        "17 April Sheffield, 18 Newcastle, 20 Glasgow, 22 Leeds, 24 Bristol",
        "Es gibt montags keinen Kurs.", "Es regnet seit Tagen.",
        "Es ist wichtig, dass die Rechnung kommt.", "Das Auto ist kaputt.",
        "Il faut payer le loyer avant le 5.", "Il y a un marché le dimanche.",
        "El tren sale a las ocho.", "这个周末我去北京",
        "それから東京に引っ越した",
        /* no words of these languages are known */
        "Она не хотела прийти.", "Questo non mi piace per niente, lo sai.",
        NULL};

    (void)state;
    all_are(STANDS, list);
}

static void brackets_count_as_part_of_the_note(void **state)
{
    (void)state;
    assert_int_equal(judge("Where was the notebook?", "It was in the drawer."),
                     STANDS);
    assert_int_equal(judge("What happened?", "It was in the drawer."),
                     STANDS_POINTS);
    assert_int_equal(judge("Ada has a brother.\n\nIs he well?",
                           "He's bought a metal detector."),
                     STANDS);
    assert_int_equal(judge("My head's like a sieve.", "She's left the bank."),
                     STANDS_POINTS);
    assert_int_equal(judge("When does the choir meet?", "Wednesdays at seven"),
                     STANDS);
    assert_int_equal(judge("値段は？", "それは高かった"), STANDS);
}

static void a_long_note_is_looked_at_up_to_a_limit(void **state)
{
    static char words[STANDS_BYTES + 64];

    (void)state;
    memset(words, 0, sizeof(words));
    for (size_t i = 0; i < STANDS_BYTES; i += 8) {
        memcpy(words + i, "so well ", 8);
    }
    memcpy(words + STANDS_BYTES - 12, " it broke it", 12);
    assert_int_equal(judge("", words), STANDS_POINTS);
    memcpy(words + STANDS_BYTES - 12, " we did well", 12);
    memcpy(words + STANDS_BYTES, " it broke", 9);
    assert_int_equal(judge("", words), STANDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_points_away_does_not_stand),
        cmocka_unit_test(a_bare_answer_does_not_stand),
        cmocka_unit_test(what_names_its_matter_stands),
        cmocka_unit_test(what_only_looks_like_pointing_stands),
        cmocka_unit_test(brackets_count_as_part_of_the_note),
        cmocka_unit_test(a_long_note_is_looked_at_up_to_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
