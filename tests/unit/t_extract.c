/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_extract.c - what a turn leaves behind, and what it must not.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/extract.h"
#include "text/dates.h"

#include <stdlib.h>
#include <time.h>

/* 2023-05-08 13:56 UTC, a Monday */
#define NOW 1683554160000LL
#define MAX_TURNS 6

struct said {
    const char *speaker; /* NULL = none */
    enum extract_role role;
    const char *text;
};

struct talk {
    struct arena arena;
    struct extract_turn turns[MAX_TURNS]; /* the most recent first */
    struct intent intents[MAX_TURNS];
    struct analysis analyses[MAX_TURNS];
    struct extract_input input;
    struct extract got;
};

/* Turns that bring their words give the same as turns that do not. */
static void run_split(struct talk *t, size_t n)
{
    struct intent_reading readings[MAX_TURNS];
    struct extract again;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(intent_read(&t->arena, t->turns[i].text, &readings[i]),
                         CLEW_OK);
        t->turns[i].pieces = readings[i].pieces;
    }
    assert_int_equal(extract_run(&t->arena, &t->input, &again), CLEW_OK);
    assert_int_equal(again.n_items, t->got.n_items);
    for (size_t i = 0; i < again.n_items; i++) {
        assert_true(str_eq(again.items[i].summary, t->got.items[i].summary));
    }
}

/* Run the last of `n` turns, the others being its history. */
static void run(struct talk *t, const struct said *said, size_t n)
{
    struct analysis_options options = {.time_ms = NOW};

    memset(t, 0, sizeof(*t));
    arena_init(&t->arena, 1 << 22);
    assert_true(n <= MAX_TURNS);
    for (size_t i = 0; i < n; i++) {
        size_t at = n - 1 - i;
        struct extract_turn *turn = &t->turns[at];

        turn->text = str_of(said[i].text);
        turn->speaker = str_of(said[i].speaker);
        turn->role = said[i].role;
        turn->time_ms = NOW;
        turn->intent = &t->intents[at];
        turn->analysis = &t->analyses[at];
        assert_int_equal(intent_after(&t->arena, turn->text,
                                      i > 0 ? &t->intents[at + 1] : NULL,
                                      &t->intents[at]),
                         CLEW_OK);
        t->analyses[at].text = turn->text;
        assert_int_equal(
            tokens_of(&t->arena, turn->text, &t->analyses[at].tokens), CLEW_OK);
        assert_true(dates_of(&t->arena, turn->text, &t->analyses[at].tokens,
                             &options, &t->analyses[at].dates,
                             &t->analyses[at].n_dates));
    }
    t->input.turn = &t->turns[0];
    t->input.previous = t->turns + 1;
    t->input.n_previous = n - 1;
    assert_int_equal(extract_run(&t->arena, &t->input, &t->got), CLEW_OK);
    run_split(t, n);
}

static void expect(struct talk *t, enum extract_type type, const char *summary)
{
    for (size_t i = 0; i < t->got.n_items; i++) {
        if (t->got.items[i].type == type &&
            str_eq(t->got.items[i].summary, str_of(summary))) {
            return;
        }
    }
    print_error("no %s \"%s\"; got:\n", extract_type_name(type), summary);
    for (size_t i = 0; i < t->got.n_items; i++) {
        print_error("  [%s] %.*s\n", extract_type_name(t->got.items[i].type),
                    (int)t->got.items[i].summary.len,
                    t->got.items[i].summary.s);
    }
    fail();
}

static void expect_none(struct talk *t)
{
    for (size_t i = 0; i < t->got.n_items; i++) {
        print_error("  [%s] %.*s\n", extract_type_name(t->got.items[i].type),
                    (int)t->got.items[i].summary.len,
                    t->got.items[i].summary.s);
    }
    assert_int_equal(t->got.n_items, 0);
}

#define SAY(t, ...)                                                            \
    do {                                                                       \
        static const struct said turns_[] = {__VA_ARGS__};                     \
                                                                               \
        run(t, turns_, sizeof(turns_) / sizeof(turns_[0]));                    \
    } while (0)

static void facts_are_told_in_the_third_person(void **state)
{
    static const struct {
        const char *text;
        const char *summary;
    } rows[] = {
        {"I'm allergic to peanuts and shellfish.",
         "Ann is allergic to peanuts and shellfish."},
        {"Unfortunately, I can't have dairy.", "Ann can't have dairy."},
        {"Love experimenting with spices.",
         "Ann loves experimenting with spices."},
        {"I love horses.", "Ann loves horses."},
        {"Yesterday, I tackled something new - I gave a presentation in class.",
         "Ann gave a presentation in class."},
        {"Sure, but I also love a dairy-free chocolate mousse.",
         "Ann also loves a dairy-free chocolate mousse."},
        {"I play the violin and teach chess.",
         "Ann plays the violin and teaches chess."},
        {"I've been married to Tom for five years.",
         "Ann has been married to Tom for five years."},
        {"My daughter Mia studies medicine in Graz.",
         "Ann's daughter Mia studies medicine in Graz."},
        {"Well, actually, I run a small bakery in Ghent.",
         "Ann runs a small bakery in Ghent."},
        {"I don't eat pork or beef.", "Ann doesn't eat pork or beef."},
        {"We adopted two greyhounds from a shelter.",
         "Ann and others adopted two greyhounds from a shelter."},
        {"I was a nurse before I opened my shop.",
         "Ann was a nurse before they opened their shop."},
        {"Researching adoption agencies near Porto.",
         "Ann is researching adoption agencies near Porto."},
        {"I'm drawn to turtles. They're calm and low-maintenance pets.",
         "Ann is drawn to turtles; they're calm and low-maintenance pets."},
        /* what is behind the statement does not hide it */
        {"I baked a rye loaf with caraway, maybe you would like some!",
         "Ann baked a rye loaf with caraway."},
        {"I'm passionate about restoring old bicycles, so let's do it!",
         "Ann is passionate about restoring old bicycles."},
        {"I used to keep bees in Carinthia with that friend.",
         "Ann used to keep bees in Carinthia."},
        {"I repaired the harbour crane! [image: a photo of what is it]",
         "Ann repaired the harbour crane."},
        {"Since I'm colour-blind I'm labelling every cable by hand.",
         "Since Ann is colour-blind they are labelling every cable by hand."},
        {"I'm looking into evening courses in Danish.",
         "Ann is looking into evening courses in Danish."},
        {"Two colleagues from Linz and I play in a brass band.",
         "Two colleagues from Linz and Ann play in a brass band."},
        {"At the meeting, I met someone named Ottokar.",
         "Ann met someone named Ottokar."},
        {"I restore clocks. Last year I repaired a tower clock.",
         "Ann restores clocks; last year they repaired a tower clock (2022)."},
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct said said = {"Ann", EXTRACT_USER, rows[i].text};

        run(&t, &said, 1);
        expect(&t, EXTRACT_FACT, rows[i].summary);
        arena_release(&t.arena);
    }
}

static void we_are_whoever_was_named_last(void **state)
{
    static const struct {
        const char *earlier; /* by Ann */
        const char *asked;   /* by Bob */
        const char *text;
        const char *summary;
        size_t n_cites;
    } rows[] = {
        {NULL, "How was it?",
         "What a weekend with my brothers! We climbed the Hochschwab and "
         "slept in a hut.",
         "Ann and their brothers climbed the Hochschwab and slept in a hut.",
         1},
        {NULL, "Did your kids enjoy the island?",
         "They did! We built a raft and paddled around the lagoon.",
         "Ann and their kids built a raft and paddled around the lagoon.", 2},
        {"My choir is touring with my roommate in Galicia.", "Lovely!",
         "We sang in a cathedral in Lugo.",
         "Ann and their roommate sang in a cathedral in Lugo.", 2},
        /* several: nobody can tell */
        {NULL, "Did your kids and your parents enjoy it?",
         "We built a raft and paddled around the lagoon.",
         "Ann and others built a raft and paddled around the lagoon.", 1},
        /* the two who talk */
        {NULL, "Hi Ann!", "Since we last talked I bought a barge in Trieste.",
         "Since Ann and Bob last talked they bought a barge in Trieste.", 1},
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct said said[] = {
            {"Ann", EXTRACT_USER, rows[i].earlier ? rows[i].earlier : "Hi!"},
            {"Bob", EXTRACT_ASSISTANT, rows[i].asked},
            {"Ann", EXTRACT_USER, rows[i].text}};
        const struct extract_item *item = NULL;

        run(&t, said, 3);
        expect(&t, EXTRACT_FACT, rows[i].summary);
        for (size_t k = 0; k < t.got.n_items; k++) {
            if (str_eq(t.got.items[k].summary, str_of(rows[i].summary))) {
                item = &t.got.items[k];
            }
        }
        assert_non_null(item);
        assert_int_equal(item->n_cites, rows[i].n_cites);
        arena_release(&t.arena);
    }
}

static void small_talk_leaves_nothing(void **state)
{
    static const char *const texts[] = {
        "Hi Bob!",
        "Hello, how are you?",
        "Thanks a lot, that's so sweet of you!",
        "I totally agree with you, Bob.",
        "I hope you have a great day!",
        "I can't wait to see it!",
        "Wow, that looks amazing!",
        "I love it.",
        "I painted it last year.",
        "I'm so glad to hear that.",
        "Sounds good, talk to you tomorrow!",
        "That one is really nice.",
        "What did you do yesterday?",
        "> I live in Paris with my dog Rex.",
        "```\nI live in Paris with my dog Rex.\n```",
        "[image: my dog Rex in Paris with a ball]",
        "/stats",
        "Overcoming challenges builds strength and pushes personal growth.",
        "Biking sounds like a great way to get out in nature.",
        "Making videos and connecting with people about games - that's great!",
        "There's a quote by J.K. Rowling that I really like.",
        "Gonna be a great night with artists and their talents.",
        "I've been one 'cause I lost my job.",
        "Take a look at this. [image: a photo of a person holding a dog]",
        "I'm gonna keep pushing and staying positive.",
        "I've been using that app on my phone to practice.",
        "Creating community, especially for kids, is really important.",
        "Reminds me being kind matters.",
        "We push each other to be better every single match.",
        "We gotta leave our comfort zones and experience new things!",
        "The book got me thinking about a leaner workshop.",
        "I made this bowl in my class.",
        "I'm working hard and pushing forward.",
        "I've been exploring options.",
        "I'm really thankful for this wonderful community - it's great.",
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct said said[] = {{"Bob", EXTRACT_ASSISTANT, "Look at this."},
                                    {"Ann", EXTRACT_USER, texts[i]}};

        run(&t, said, 2);
        expect_none(&t);
        arena_release(&t.arena);
    }
}

static void system_and_tool_text_is_never_mined(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_OTHER,
             "I work at Acme in Berlin. Please fix the login page. We decided "
             "to use Rust."});
    expect_none(&t);
    arena_release(&t.arena);
}

static void an_assistant_says_nothing_about_itself(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_ASSISTANT,
             "I am a language model and I was trained on a large corpus."});
    expect_none(&t);
    arena_release(&t.arena);
}

static void cited_bytes_are_the_words_used(void **state)
{
    struct talk t;
    const struct extract_item *item;

    (void)state;
    SAY(&t, {"Ann", EXTRACT_USER, "Hey! I live in Graz with my dog Rex. Bye!"});
    assert_int_equal(t.got.n_items, 1);
    item = &t.got.items[0];
    assert_int_equal(item->n_cites, 1);
    assert_int_equal(item->cites[0].back, 0);
    assert_int_equal(item->cites[0].from, 5);
    assert_int_equal(item->cites[0].to, 35);
    assert_true(item->has_slot);
    assert_true(str_eq(item->slot.attribute, STR("live")));
    assert_true(str_eq(item->slot.value, STR("graz")));
    arena_release(&t.arena);
}

static void events_carry_their_resolved_date(void **state)
{
    struct talk t;
    const struct extract_item *item;

    (void)state;
    SAY(&t,
        {"Ann", EXTRACT_USER, "I went to a support group in Graz yesterday."});
    expect(&t, EXTRACT_EVENT,
           "Ann went to a support group in Graz yesterday (2023-05-07).");
    item = &t.got.items[0];
    assert_true(item->has_time);
    assert_true(item->from_ms ==
                NOW / CLOCK_DAY_MS * CLOCK_DAY_MS - CLOCK_DAY_MS);
    assert_true(extract_expiry_ms(item) == item->to_ms + CLOCK_DAY_MS);
    arena_release(&t.arena);
    SAY(&t, {"Ann", EXTRACT_USER, "I'm flying to Oslo with Mia next month."});
    expect(&t, EXTRACT_EVENT,
           "Ann is flying to Oslo with Mia next month (2023-06).");
    arena_release(&t.arena);
}

static void remind_me_to_call_mom_is_an_event(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_USER, "I'm getting a weird error in auth"},
        {NULL, EXTRACT_ASSISTANT, "Let's investigate..."},
        {NULL, EXTRACT_USER, "also, remind me to call mom later"});
    assert_int_equal(t.got.n_items, 1);
    expect(&t, EXTRACT_EVENT, "Call mom later");
    arena_release(&t.arena);
}

static void a_decision_names_the_option_and_what_was_not_taken(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t,
        {NULL, EXTRACT_ASSISTANT,
         "There are two ways:\nA) Stripe\nB) PayPal\nWhich one?"},
        {NULL, EXTRACT_USER, "I'll go with option A"});
    expect(&t, EXTRACT_DECISION, "The user will go with option A: Stripe.");
    assert_true(str_eq(t.got.items[0].detail, STR("PayPal")));
    assert_int_equal(t.got.items[0].n_cites, 2);
    assert_int_equal(t.got.items[0].cites[1].back, 1);
    arena_release(&t.arena);
    SAY(&t, {NULL, EXTRACT_ASSISTANT, "Should we use Stripe or PayPal?"},
        {NULL, EXTRACT_USER, "Let's go with the second one."});
    expect(&t, EXTRACT_DECISION,
           "The user decided to go with the second one: PayPal.");
    arena_release(&t.arena);
    SAY(&t, {NULL, EXTRACT_ASSISTANT, "What do you think?"},
        {NULL, EXTRACT_USER, "We decided to use Postgres instead of MySQL."});
    expect(&t, EXTRACT_DECISION,
           "The user and others decided to use Postgres instead of MySQL.");
    assert_true(str_eq(t.got.items[0].detail, STR("MySQL")));
    arena_release(&t.arena);
}

static void a_label_explained_turns_ago_is_known(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t,
        {NULL, EXTRACT_ASSISTANT,
         "Option A: keep Postgres. Option B: move to SQLite."},
        {NULL, EXTRACT_USER, "How fast is the second?"},
        {NULL, EXTRACT_ASSISTANT, "Fast enough."},
        {NULL, EXTRACT_USER, "I'll go with option B."});
    expect(&t, EXTRACT_DECISION,
           "The user will go with option B: move to SQLite.");
    assert_int_equal(t.got.items[0].cites[1].back, 3);
    assert_true(str_eq(t.got.items[0].detail, STR("keep Postgres")));
    arena_release(&t.arena);
    SAY(&t,
        {NULL, EXTRACT_ASSISTANT, "You could (a) wait, or (b) pay the fine."},
        {NULL, EXTRACT_USER, "We'll go with plan b."});
    expect(&t, EXTRACT_DECISION,
           "The user and others will go with plan b: pay the fine.");
    arena_release(&t.arena);
}

static void a_label_nobody_explained_is_a_lesser_decision(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_USER, "I'll go with option A"});
    expect(&t, EXTRACT_DECISION, "The user will go with option A.");
    assert_true(t.got.items[0].confidence < 0.7f);
    arena_release(&t.arena);
}

static void a_promise_to_an_assistant_is_a_decision(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_USER, "I will rewrite the parser in Rust."});
    expect(&t, EXTRACT_DECISION, "The user will rewrite the parser in Rust.");
    arena_release(&t.arena);
    SAY(&t, {"Ben", EXTRACT_ASSISTANT, "The fence fell over."},
        {"Ann", EXTRACT_USER, "I'll paint the fence."});
    for (size_t i = 0; i < t.got.n_items; i++) {
        assert_true(t.got.items[i].type != EXTRACT_DECISION);
    }
    arena_release(&t.arena);
}

static void a_choice_nobody_can_name_is_no_decision(void **state)
{
    static const char *const texts[] = {
        "I'll go with that one.", "I'll take it.",
        "I picked up the kids.",  "Maybe I'll go with Stripe.",
        "I'll do that.",          "I haven't decided yet.",
        "We decided to do it.",   "I'll check the logs.",
        "I'll take the bus.",     "I'll let you know about the price.",
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct said said[] = {
            {NULL, EXTRACT_ASSISTANT, "Here is what I found."},
            {NULL, EXTRACT_USER, texts[i]}};

        run(&t, said, 2);
        for (size_t k = 0; k < t.got.n_items; k++) {
            if (t.got.items[k].type == EXTRACT_DECISION) {
                print_error("%s\n", texts[i]);
            }
            assert_int_not_equal(t.got.items[k].type, EXTRACT_DECISION);
        }
        arena_release(&t.arena);
    }
}

static void an_answered_question_is_a_fact(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_USER, "what's the capital of France?"},
        {NULL, EXTRACT_ASSISTANT, "The capital of France is Paris."});
    expect(&t, EXTRACT_FACT, "The capital of France is Paris.");
    assert_int_equal(t.got.items[0].n_cites, 2);
    arena_release(&t.arena);
    SAY(&t, {NULL, EXTRACT_USER, "what's the capital of France?"},
        {NULL, EXTRACT_ASSISTANT, "Paris."});
    expect(&t, EXTRACT_FACT, "The capital of France: Paris.");
    arena_release(&t.arena);
    SAY(&t, {"Bob", EXTRACT_USER, "How long have you lived in Graz?"},
        {"Ann", EXTRACT_ASSISTANT, "Seven years."});
    expect(&t, EXTRACT_FACT, "How long Ann has lived in Graz: Seven years.");
    arena_release(&t.arena);
    SAY(&t, {NULL, EXTRACT_USER, "what's the capital of France?"},
        {NULL, EXTRACT_ASSISTANT, "Could you tell me why you ask?"});
    expect_none(&t);
    arena_release(&t.arena);
}

static void efforts_are_titled_by_what_is_to_be_done(void **state)
{
    static const struct {
        const char *text;
        const char *title;
    } rows[] = {
        {"I'm getting a 401 error", "Fix 401 error"},
        {"I'm getting a weird error in auth", "Fix weird error in auth"},
        {"Can you please help me write a cover letter for Siemens?",
         "Write a cover letter for Siemens"},
        {"i want to learn about ww2 history", "Learn about ww2 history"},
        {"lets debug this auth issue", "Debug this auth issue"},
        {"I want to work on the payment integration",
         "Work on the payment integration"},
        {"How do I configure nginx as a proxy?", "Configure nginx as a proxy"},
        {"Please refactor my login handler so that it is faster.",
         "Refactor the login handler"},
        {"The app crashes when I open settings.",
         "Fix: the app crashes when I open settings"},
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct said said = {NULL, EXTRACT_USER, rows[i].text};

        run(&t, &said, 1);
        expect(&t, EXTRACT_EFFORT, rows[i].title);
        arena_release(&t.arena);
    }
}

static void talk_between_people_opens_no_effort(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {"Bob", EXTRACT_ASSISTANT, "I made vegan ice cream."},
        {"Ann", EXTRACT_USER, "Can you send me the recipe for coconut ice?"});
    expect_none(&t);
    arena_release(&t.arena);
}

static void refusals_and_advice_open_no_effort(void **state)
{
    static const char *const texts[] = {
        "no that's not it",
        "Didn't work",
        "You should restart the server.",
        "put it on hold",
        "Try again",
        "I want to go home",
        "That's the error.",
        "What is the error about?",
    };
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct said said[] = {
            {NULL, EXTRACT_ASSISTANT, "Try clearing the cache."},
            {NULL, EXTRACT_USER, texts[i]}};

        run(&t, said, 2);
        for (size_t k = 0; k < t.got.n_items; k++) {
            if (t.got.items[k].type == EXTRACT_EFFORT) {
                print_error("%s\n", texts[i]);
            }
            assert_int_not_equal(t.got.items[k].type, EXTRACT_EFFORT);
        }
        arena_release(&t.arena);
    }
}

/* --- resolutions ------------------------------------------------------------
 */

struct ending {
    const char *answer;
    const char *accept;
    size_t turns_since;
    float least; /* confidence at least, and at most */
    float most;
    const char *text; /* NULL = whatever */
};

static void endings_resolve_as_far_as_they_say_so(void **state)
{
    static const struct ending rows[] = {
        {"Try refreshing the token.", "Oh! Token was expired, works now!", 0,
         .8f, 1, "Token was expired"},
        {"You need to refresh the token because it expired.",
         "that fixed it, thanks!", 0, .8f, 1,
         "You need to refresh the token because it expired"},
        {"You need to refresh the token because it expired.",
         "Thanks! That fixed it", 0, .8f, 1, NULL},
        {"Refresh the token.", "Refreshing the token fixed it.", 2, .8f, 1,
         "Refreshing the token fixed it"},
        {"Refresh the token.", "Thanks! But one more thing...", 0, .3f, .5f,
         NULL},
        {"Refresh the auth token.", "Thanks!", 0, .55f, .7f, NULL},
        {"Refresh the auth token.", "Thanks!", 1, .55f, .7f, NULL},
        {"It will rain tomorrow in Oslo.", "Thanks!", 1, 0, 0, NULL},
        {"Refresh the auth token.", "Thanks!", 3, 0, 0, NULL},
        {"Refresh it.", "Oh great, thanks for nothing", 0, 0, 0, NULL},
        {"Refresh it.", "What about this other approach?", 0, 0, 0, NULL},
        {"Refresh it.", "I have no idea", 0, 0, 0, NULL},
        {"Refresh it.", "I'll come back to this later", 0, 0, 0, NULL},
        {"Refresh it.", "put it on hold", 0, 0, 0, NULL},
        {"Refresh it.", "Thanks, but it still doesn't work", 0, 0, 0, NULL},
        {"Here's a script that should fix the 401 error in auth.",
         "that fixed it, thanks!", 0, .8f, 1, ""},
        {"No problem at all.", "that fixed it, thanks!", 0, .8f, 1, ""},
        {"Sure, no problem at all.", "that fixed it, thanks!", 0, .8f, 1, ""},
        {"Which auth error do you need to fix, the 401 error?",
         "that fixed it, thanks!", 0, .8f, 1, ""},
        {"Refresh it.", "/resolve cleared the cache", 5, 1, 1,
         "cleared the cache"},
    };
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct said said[] = {{NULL, EXTRACT_ASSISTANT, rows[i].answer},
                                    {NULL, EXTRACT_USER, rows[i].accept}};
        struct extract_resolution got;
        struct talk t;

        run(&t, said, 2);
        assert_int_equal(extract_resolution(&t.arena, &t.input,
                                            STR("Fix 401 error in auth"),
                                            rows[i].turns_since, &got),
                         CLEW_OK);
        if (got.confidence < rows[i].least || got.confidence > rows[i].most ||
            (rows[i].text && !str_eq(got.text, str_of(rows[i].text)))) {
            print_error("\"%s\": %.2f \"%.*s\"\n", rows[i].accept,
                        (double)got.confidence, (int)got.text.len,
                        got.text.s ? got.text.s : "");
            wrong++;
        }
        arena_release(&t.arena);
    }
    assert_int_equal(wrong, 0);
}

/* Words are cut at 40 bytes; a half character must not get into a memory. */
static void nothing_is_cut_inside_a_character(void **state)
{
    char text[200];
    struct said said = {NULL, EXTRACT_USER, text};
    struct talk t;

    (void)state;
    for (size_t pad = 0; pad < 3; pad++) {
        size_t len =
            (size_t)snprintf(text, sizeof(text), "I %.*s", (int)pad, "aaa");

        for (size_t i = 0; i < 20; i++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "\u5b57");
        }
        (void)snprintf(text + len, sizeof(text) - len, " houses in Oslo.");
        run(&t, &said, 1);
        for (size_t k = 0; k < t.got.n_items; k++) {
            assert_true(utf8_is_valid(t.got.items[k].summary));
        }
        arena_release(&t.arena);
    }
}

/* Ten megabytes are read within a blink, fenced and on one line alike: what
 * takes long here holds the writer. */
static void huge_texts_cost_one_pass(void **state)
{
    static const char *const units[] = {"```\nint f(void);\n", "a b c. "};
    const size_t size = (size_t)10 << 20;
    char *text = malloc(size + 64);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < 2; i++) {
        size_t unit = strlen(units[i]);
        struct intent intent;
        struct extract_turn turn = {.text = {text, 0}, .intent = &intent};
        struct extract_input input = {.turn = &turn};
        struct extract got;
        struct arena arena;
        clock_t before;

        for (size_t at = 0; at + unit <= size; at += unit) {
            memcpy(text + at, units[i], unit);
            turn.text.len = at + unit;
        }
        arena_init(&arena, 1 << 28);
        assert_int_equal(intent_after(&arena, turn.text, NULL, &intent),
                         CLEW_OK);
        before = clock();
        assert_int_equal(extract_run(&arena, &input, &got), CLEW_OK);
        /* some thousand pieces times ten megabytes would be half a minute */
        assert_true(clock() - before < 2 * CLOCKS_PER_SEC);
        arena_release(&arena);
    }
    free(text);
}

static void a_title_keeps_names_together(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_USER, "Help me fix the O'Brien import for R&D"});
    expect(&t, EXTRACT_EFFORT, "Fix the O'Brien import for R&D");
    arena_release(&t.arena);
    SAY(&t,
        {NULL, EXTRACT_USER, "```\nint f(void)\n```\nhelp me refactor this"});
    expect(&t, EXTRACT_EFFORT, "Refactor this: \"int f(void\"");
    arena_release(&t.arena);
}

static void running_out_of_memory_is_reported(void **state)
{
    struct talk t;

    (void)state;
    SAY(&t, {NULL, EXTRACT_ASSISTANT, "A) Stripe\nB) PayPal"},
        {"Ann", EXTRACT_USER,
         "I'll go with option A. I live in Graz with my dog Rex. Remind me to "
         "call mom tomorrow."});
    for (uint64_t n = 1; n < 60; n++) {
        struct arena small;
        struct extract got;
        enum clew_status status;
        int64_t live = alloc_live_count();

        arena_init(&small, 1 << 20);
        alloc_fail_at(n);
        status = extract_run(&small, &t.input, &got);
        alloc_fail_at(0);
        arena_release(&small);
        assert_true(status == CLEW_OK || status == CLEW_NO_MEMORY);
        assert_int_equal(alloc_live_count(), live);
    }
    arena_release(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_told_in_the_third_person),
        cmocka_unit_test(we_are_whoever_was_named_last),
        cmocka_unit_test(small_talk_leaves_nothing),
        cmocka_unit_test(system_and_tool_text_is_never_mined),
        cmocka_unit_test(an_assistant_says_nothing_about_itself),
        cmocka_unit_test(cited_bytes_are_the_words_used),
        cmocka_unit_test(events_carry_their_resolved_date),
        cmocka_unit_test(remind_me_to_call_mom_is_an_event),
        cmocka_unit_test(a_decision_names_the_option_and_what_was_not_taken),
        cmocka_unit_test(a_label_explained_turns_ago_is_known),
        cmocka_unit_test(a_label_nobody_explained_is_a_lesser_decision),
        cmocka_unit_test(a_promise_to_an_assistant_is_a_decision),
        cmocka_unit_test(a_choice_nobody_can_name_is_no_decision),
        cmocka_unit_test(an_answered_question_is_a_fact),
        cmocka_unit_test(efforts_are_titled_by_what_is_to_be_done),
        cmocka_unit_test(talk_between_people_opens_no_effort),
        cmocka_unit_test(refusals_and_advice_open_no_effort),
        cmocka_unit_test(endings_resolve_as_far_as_they_say_so),
        cmocka_unit_test(nothing_is_cut_inside_a_character),
        cmocka_unit_test(huge_texts_cost_one_pass),
        cmocka_unit_test(a_title_keeps_names_together),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
