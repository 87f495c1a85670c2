/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_chain.c - claims find their chains, on both stores.
 */
#include "support/talk.h"
#include "support/test.h"

#include "base/config.h"
#include "engine/capture/close.h"
#include "engine/chat/session.h"
#include "engine/core/task.h"
#include "engine/proof/forget.h"
#include "engine/topic/chain.h"
#include "task/worker.h"

#define DAY CLOCK_DAY_MS

/* --- helpers ----------------------------------------------------------------
 */

/* Run the talk under other settings from now on. */
static void configure(struct talk *talk, const char *key, const char *value)
{
    struct config_flag flag = {key, value};
    struct clew_error err = {0};

    config_free(talk->world.config);
    assert_int_equal(config_load(NULL, &flag, 1, &talk->world.config, &err),
                     CLEW_OK);
    talk->world.engine.config = talk->world.config;
}

/* The last chain update of the last turn. */
static const struct chain_update *update(const struct talk *talk)
{
    const struct updates *updates = &talk->last.updates;

    assert_true(updates->n_chains > 0);
    return &updates->chains[updates->n_chains - 1];
}

static bool is_type(const struct chain_update *u, const char *type)
{
    return strcmp(u->type, type) == 0;
}

static size_t list(struct talk *talk, const char *state, struct chain **out)
{
    struct chain_filter filter = {.user_id = STR("ada"), .limit = 500};
    struct clew_error err = {0};
    size_t count = 0;

    if (state) {
        filter.state = str_of(state);
    }
    assert_int_equal(chain_list(&talk->world.engine, &talk->world.scope,
                                &talk->world.arena, &filter, out, &count, &err),
                     CLEW_OK);
    return count;
}

static size_t count_of(struct talk *talk, const char *state)
{
    struct chain *chains = NULL;

    return list(talk, state, &chains);
}

static struct chain_detail get(struct talk *talk, const struct uuid *id)
{
    struct chain_detail detail = {0};
    struct clew_error err = {0};

    assert_int_equal(chain_get(&talk->world.engine, &talk->world.scope,
                               &talk->world.arena, id, &detail, &err),
                     CLEW_OK);
    return detail;
}

static size_t run_tasks(struct talk *talk)
{
    struct clew_error err = {0};
    size_t count = 0;

    assert_int_equal(worker_run_due(&talk->world.engine, 1000, &count, &err),
                     CLEW_OK);
    return count;
}

static void end_session(struct talk *talk)
{
    struct session session;
    struct clew_error err = {0};

    assert_int_equal(session_end(&talk->world.engine, &talk->world.scope,
                                 &talk->world.arena,
                                 &talk->last.turn.session_id, &session, &err),
                     CLEW_OK);
}

/* --- a turn's claims --------------------------------------------------------
 */

static void the_first_claim_creates_a_chain(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    assert_int_equal(talk.last.updates.n_chains, 1);
    assert_true(is_type(update(&talk), "create"));
    assert_int_equal(update(&talk)->n_claim_ids, 1);
    assert_true(update(&talk)->distance < 0);
    assert_true(str_eq(update(&talk)->reasoning,
                       STR("New topic: \"weather in New York\"")));
    talk_close(&talk);
}

static void a_claim_cites_its_words(void **state)
{
    static const char text[] =
        "Hello! I moved to Berlin on 3 March 2026. Is it cold there?";
    struct talk talk;
    struct chain_detail detail;
    const struct claim *claim;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', text);
    detail = get(&talk, &update(&talk)->chain_id);
    assert_int_equal(detail.n_claims, 2);
    claim = &detail.claims[0];
    assert_memory_equal(text + claim->first_byte, claim->statement.s,
                        claim->statement.len);
    assert_true(
        str_eq(claim->statement, STR("I moved to Berlin on 3 March 2026.")));
    assert_true(uuid_eq(&claim->turn_id, &talk.last.turn.id));
    assert_int_equal(claim->type, CLAIM_CHANGE_MARKER);
    assert_true(str_find(claim->entities, STR("Berlin"), 0) != SIZE_MAX);
    assert_true(claim->valid_from_ms == 1772496000000LL);
    assert_int_equal(detail.claims[1].type, CLAIM_QUESTION);
    assert_int_equal(detail.claims[1].position, 1);
    talk_close(&talk);
}

static void thanks_and_greetings_claim_nothing(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "Hi!");
    assert_int_equal(talk.last.updates.n_chains, 0);
    talk_say(&talk, 'u', "What is the weather in New York?");
    talk_say(&talk, 'u', "Thanks!");
    assert_int_equal(talk.last.updates.n_chains, 0);
    assert_int_equal(count_of(&talk, NULL), 1);
    talk_close(&talk);
}

static void system_turns_are_not_observed(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 's', "You are a helpful weather expert in New York.");
    assert_int_equal(talk.last.updates.n_chains, 0);
    assert_int_equal(count_of(&talk, NULL), 0);
    talk_close(&talk);
}

static const char *const long_talk =
    "u:What is the weather in New York?"
    "|a:It is 12 degrees and cloudy in New York."
    "|u:Oh, and what is it on Thursday?|a:It will rain on Thursday."
    "|u:I need a recipe for banana bread. Do you have one with walnuts?"
    "|a:Mash three bananas, add flour and walnuts. Bake for an hour."
    "|u:By the way, my dentist moved to Hamburg. I have to call him."
    "|a:Do you want a reminder to call the dentist?|u:Yes please."
    "|u:How long does the banana bread keep?|a:About four days.|u:Thanks!"
    "|u:Back to the weather: will New York be sunny on Sunday?"
    "|a:Sunday looks sunny.|u:That settles it."
    "|u:I want to learn the violin this year.";

static void every_claim_is_in_exactly_one_chain(void **state)
{
    struct talk talk;
    struct str rest = str_of(long_talk);
    struct str part;
    struct chain *chains = NULL;
    size_t told = 0;
    size_t kept = 0;
    size_t n_chains;
    struct uuid seen[100];

    (void)state;
    talk_open(&talk);
    while (str_split(&rest, '|', &part)) {
        struct str text =
            arena_str(&talk.world.arena, str_sub(part, 2, part.len));

        talk_say(&talk, part.s[0], text.s);
        for (size_t i = 0; i < talk.last.updates.n_chains; i++) {
            told += talk.last.updates.chains[i].n_claim_ids;
        }
    }
    n_chains = list(&talk, NULL, &chains);
    for (size_t i = 0; i < n_chains; i++) {
        struct chain_detail detail = get(&talk, &chains[i].id);

        assert_int_equal(detail.n_claims, chains[i].n_claims);
        for (size_t k = 0; k < detail.n_claims; k++) {
            for (size_t s = 0; s < kept; s++) {
                assert_false(uuid_eq(&seen[s], &detail.claims[k].id));
            }
            seen[kept++] = detail.claims[k].id;
        }
    }
    assert_int_equal(told, kept);
    assert_true(kept > 15);
    talk_close(&talk);
}

static void a_batch_decides_like_single_turns(void **state)
{
    static const char *const texts[] = {
        "What is the weather in New York?", "It is cloudy in New York.",
        "I need a recipe for banana bread.", "Mash three bananas.",
        "Will the weather in New York be better on Sunday?"};
    struct capture_input inputs[5] = {{.user_id = STR("bob")}};
    struct capture_result results[5];
    const char *types[5];
    struct talk talk;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    for (size_t i = 0; i < 5; i++) {
        talk_say(&talk, i % 2 ? 'a' : 'u', texts[i]);
        types[i] = update(&talk)->type;
        inputs[i].user_id = STR("bob");
        inputs[i].role = i % 2 ? TURN_ASSISTANT : TURN_USER;
        inputs[i].content.text = str_of(texts[i]);
        inputs[i].channel = STR("web");
        inputs[i].created_at_ms = talk.at_ms;
    }
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, inputs, 5, results, &err),
                     CLEW_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(results[i].updates.n_chains, 1);
        assert_string_equal(results[i].updates.chains[0].type, types[i]);
    }
    talk_close(&talk);
}

/* --- staying and leaving ----------------------------------------------------
 */

static void pronouns_and_ellipses_stay_with_their_chain(void **state)
{
    static const char *const turns[] = {
        "a:It is 12 degrees and cloudy in New York.",
        "u:Oh, and what is it on Thursday?",
        "a:It will rain on Thursday.",
        "u:What about Friday?",
        "a:Friday will be sunny.",
        "u:And tomorrow?"};
    struct talk talk;
    struct uuid chain;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    chain = update(&talk)->chain_id;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        talk_say(&talk, turns[i][0], turns[i] + 2);
        assert_true(is_type(update(&talk), "extend"));
        assert_true(uuid_eq(&update(&talk)->chain_id, &chain));
        assert_true(update(&talk)->distance < 0.55);
    }
    talk_close(&talk);
}

static void another_topic_leaves_the_chain(void **state)
{
    struct talk talk;
    struct uuid first;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:It is 12 degrees and cloudy in New York.");
    first = update(&talk)->chain_id;
    talk_say(&talk, 'u', "I need a recipe for banana bread with walnuts.");
    assert_false(is_type(update(&talk), "extend"));
    assert_false(uuid_eq(&update(&talk)->chain_id, &first));
    assert_true(update(&talk)->distance >= 0.55);
    talk_close(&talk);
}

static void below_branch_a_new_chain_names_its_parent(void **state)
{
    struct talk talk;
    struct uuid first;
    struct chain_detail detail;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:It is 12 degrees and cloudy in New York.");
    first = update(&talk)->chain_id;
    configure(&talk, "chains.branch", "1");
    talk_say(&talk, 'u', "I need a recipe for banana bread with walnuts.");
    assert_true(is_type(update(&talk), "branch"));
    assert_true(uuid_eq(&update(&talk)->parent_chain_id, &first));
    assert_true(str_eq(
        update(&talk)->reasoning,
        STR("Branched from \"weather in New York\" due to topic shift")));
    detail = get(&talk, &update(&talk)->chain_id);
    assert_true(uuid_eq(&detail.chain.branches_from, &first));
    talk_close(&talk);
}

static void at_branch_and_beyond_the_claim_is_not_lost(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:It is 12 degrees and cloudy in New York.");
    configure(&talk, "chains.branch", "0");
    talk_say(&talk, 'u', "I need a recipe for banana bread with walnuts.");
    assert_true(is_type(update(&talk), "create"));
    assert_true(uuid_is_nil(&update(&talk)->parent_chain_id));
    assert_int_equal(get(&talk, &update(&talk)->chain_id).n_claims, 1);
    talk_close(&talk);
}

static void an_interrupted_topic_comes_back_to_its_chain(void **state)
{
    struct talk talk;
    struct uuid weather;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:It is 12 degrees and cloudy in New York.");
    weather = update(&talk)->chain_id;
    talk_script(&talk, "u:I need a recipe for banana bread with walnuts."
                       "|a:Mash three bananas and bake them with walnuts.");
    talk_say(&talk, 'u', "Back to New York: what is the weather on Sunday?");
    assert_true(is_type(update(&talk), "extend"));
    assert_true(uuid_eq(&update(&talk)->chain_id, &weather));
    assert_true(str_starts(update(&talk)->reasoning, STR("Back to ")));
    talk_close(&talk);
}

static void a_sentence_may_open_a_topic_within_a_turn(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u',
             "I have a recipe for banana bread with walnuts. By the way, the "
             "dentist moved his practice to Hamburg.");
    assert_int_equal(talk.last.updates.n_chains, 2);
    assert_false(uuid_eq(&talk.last.updates.chains[0].chain_id,
                         &talk.last.updates.chains[1].chain_id));
    talk_close(&talk);
}

static void a_chain_made_by_a_turn_is_seen_by_its_next_claim(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    configure(&talk, "chains.distance", "seed");
    talk_say(&talk, 'u',
             "Anna flew to Berlin with Carl. By the way, Anna and "
             "Carl like Berlin.");
    assert_int_equal(talk.last.updates.n_chains, 2);
    assert_true(is_type(&talk.last.updates.chains[0], "create"));
    assert_true(is_type(&talk.last.updates.chains[1], "extend"));
    assert_true(uuid_eq(&talk.last.updates.chains[0].chain_id,
                        &talk.last.updates.chains[1].chain_id));
    talk_close(&talk);
}

static void the_seeds_formula_can_be_chosen(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    configure(&talk, "chains.distance", "seed");
    talk_say(&talk, 'u', "Anna flew to Berlin.");
    /* two shared names and an hour of recency: at least .8 of the score */
    talk_say(&talk, 'u', "Anna likes Berlin.");
    assert_true(is_type(update(&talk), "extend"));
    assert_true(update(&talk)->distance < 0.25);
    /* nothing in common: only recency is left */
    talk_say(&talk, 'u', "Bananas need flour.");
    assert_false(is_type(update(&talk), "extend"));
    assert_true(update(&talk)->distance > 0.7);
    talk_close(&talk);
}

static void vectors_can_be_left_out(void **state)
{
    struct chain *chains = NULL;
    struct talk talk;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "Anna flew to Berlin.");
    assert_int_equal(list(&talk, NULL, &chains), 1);
    assert_true(chains[0].state.has_vectors);
    talk_close(&talk);
    talk_open(&talk);
    configure(&talk, "chains.use_embedding", "false");
    talk_say(&talk, 'u', "Anna flew to Berlin.");
    assert_int_equal(list(&talk, NULL, &chains), 1);
    assert_false(chains[0].state.has_vectors);
    talk_close(&talk);
}

static void topics_are_refined_as_the_chain_grows(void **state)
{
    struct talk talk;
    struct chain_detail detail;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:Something strange happened at work."
                       "|a:What was it?"
                       "|u:The payment integration failed again."
                       "|a:Which part of the payment integration?"
                       "|u:The payment integration rejects every card.");
    detail = get(&talk, &update(&talk)->chain_id);
    assert_true(str_ifind(detail.chain.topic, STR("payment integration"), 0) !=
                SIZE_MAX);
    talk_close(&talk);
}

/* --- merging, concluding ----------------------------------------------------
 */

static void chains_that_meet_become_one(void **state)
{
    struct talk talk;
    struct uuid older;
    struct uuid younger;
    struct chain_detail detail;

    (void)state;
    talk_open(&talk);
    configure(&talk, "chains.continue", "0"); /* each turn its own chain */
    talk_say(&talk, 'u', "Anna flew to Berlin with Carl.");
    older = update(&talk)->chain_id;
    talk_say(&talk, 'u', "Carl met Anna in Berlin.");
    younger = update(&talk)->chain_id;
    assert_false(uuid_eq(&older, &younger));
    configure(&talk, "chains.continue", "0.99");
    talk_say(&talk, 'u', "Anna and Carl like Berlin.");
    assert_int_equal(talk.last.updates.n_chains, 2);
    assert_true(is_type(&talk.last.updates.chains[0], "merge"));
    assert_true(uuid_eq(&talk.last.updates.chains[0].chain_id, &older));
    assert_true(
        uuid_eq(&talk.last.updates.chains[0].parent_chain_id, &younger));
    assert_true(uuid_eq(&update(&talk)->chain_id, &older));
    detail = get(&talk, &older);
    assert_int_equal(detail.n_claims, 3);
    assert_true(detail.claims[0].created_at_ms <=
                detail.claims[1].created_at_ms);
    detail = get(&talk, &younger);
    assert_int_equal(detail.n_claims, 0);
    assert_true(uuid_eq(&detail.chain.merged_into, &older));
    talk_close(&talk);
}

static void chains_far_from_each_other_do_not_merge(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    configure(&talk, "chains.continue", "0");
    talk_script(&talk, "u:Anna flew to Berlin.|u:Bananas need walnuts.");
    configure(&talk, "chains.continue", "1");
    talk_say(&talk, 'u', "Anna bought bananas in Berlin.");
    assert_int_equal(talk.last.updates.n_chains, 1);
    assert_int_equal(count_of(&talk, "active"), 2);
    talk_close(&talk);
}

static void saying_that_it_is_over_concludes_the_chain(void **state)
{
    static const char *const ends[] = {"Great, that settles it.",
                                       "I am done with this weather business.",
                                       "Let's close this topic."};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct talk talk;
        struct uuid chain;

        talk_open(&talk);
        talk_script(&talk, "u:What is the weather in New York?"
                           "|a:It is cloudy in New York.");
        chain = update(&talk)->chain_id;
        talk_say(&talk, 'u', ends[i]);
        assert_true(is_type(update(&talk), "conclude"));
        assert_true(uuid_eq(&update(&talk)->chain_id, &chain));
        assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_CONCLUDED);
        talk_close(&talk);
    }
}

static void a_resolved_effort_concludes_its_chain(void **state)
{
    struct talk talk;
    struct uuid chain;
    bool is_over = false;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "I'm getting a 401 error");
    chain = update(&talk)->chain_id;
    talk_script(&talk, "a:Let's look. Is the token still valid?"
                       "|u:here is the log, it says unauthorized on every call"
                       "|a:The token may have expired; try refreshing it."
                       "|u:Oh! Token was expired, works now!");
    for (size_t i = 0; i < talk.last.updates.n_chains; i++) {
        const struct chain_update *u = &talk.last.updates.chains[i];

        is_over = is_over ||
                  (is_type(u, "conclude") && uuid_eq(&u->chain_id, &chain));
    }
    assert_true(is_over);
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_CONCLUDED);
    /* with the turn that resolved it as its last */
    assert_int_equal(get(&talk, &chain).chain.last_seq, 5);
    talk_close(&talk);
}

static void a_concluded_chain_is_not_revived_but_branched_from(void **state)
{
    struct talk talk;
    struct uuid chain;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:The weather in New York is cloudy."
                       "|u:That settles it.");
    chain = update(&talk)->chain_id;
    talk_say(&talk, 'u', "How is the weather in New York?");
    assert_true(is_type(update(&talk), "branch"));
    assert_true(uuid_eq(&update(&talk)->parent_chain_id, &chain));
    assert_false(uuid_eq(&update(&talk)->chain_id, &chain));
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_CONCLUDED);
    talk_close(&talk);
}

static void a_chain_is_concluded_and_reopened_by_hand(void **state)
{
    struct talk talk;
    struct chain chain;
    struct uuid id;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    id = update(&talk)->chain_id;
    assert_int_equal(chain_conclude(&talk.world.engine, &talk.world.scope,
                                    &talk.world.arena, &id, &chain, &err),
                     CLEW_OK);
    assert_int_equal(chain.phase, CHAIN_CONCLUDED);
    talk_say(&talk, 'u', "Is the weather in New York cold?");
    assert_false(uuid_eq(&update(&talk)->chain_id, &id));
    assert_int_equal(chain_reopen(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &id, &chain, &err),
                     CLEW_OK);
    assert_int_equal(chain.phase, CHAIN_ACTIVE);
    assert_int_equal(get(&talk, &id).n_events, 3);
    assert_int_equal(chain_reopen(&talk.world.engine, &talk.world.other,
                                  &talk.world.arena, &id, &chain, &err),
                     CLEW_NOT_FOUND);
    talk_close(&talk);
}

static void ten_chains_are_active_and_the_oldest_rests(void **state)
{
    static const char *const nouns[] = {
        "violins",  "bananas", "weather", "dentists", "bicycles", "gardens",
        "penguins", "trains",  "novels",  "coffee",   "volcanoes"};
    struct talk talk;
    struct uuid first = {{0}};

    (void)state;
    talk_open(&talk);
    configure(&talk, "chains.continue", "0");
    for (size_t i = 0; i < 11; i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "I wonder about %s.", nouns[i]);
        talk_say(&talk, 'u', text);
        if (i == 0) {
            first = update(&talk)->chain_id;
        }
        assert_int_equal(count_of(&talk, "active"), i < 10 ? i + 1 : 10);
    }
    assert_int_equal(get(&talk, &first).chain.phase, CHAIN_DORMANT);
    talk_close(&talk);
}

/* --- time -------------------------------------------------------------------
 */

static void chains_rest_a_day_after_their_session(void **state)
{
    struct talk talk;
    struct uuid chain;
    int64_t end_ms;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    chain = update(&talk)->chain_id;
    end_ms = talk.at_ms;
    end_session(&talk);
    assert_int_equal(run_tasks(&talk), 2); /* summary and compaction, at once */
    clock_set_ms(&talk.world.clock, end_ms + DAY - 1);
    (void)run_tasks(&talk); /* the clock looks at the session: it is over */
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_ACTIVE);
    clock_set_ms(&talk.world.clock, end_ms + DAY);
    assert_true(run_tasks(&talk) >= 1); /* others may be due too */
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_DORMANT);
    assert_int_equal(run_tasks(&talk), 0);
    talk_close(&talk);
}

static void silence_ends_a_session_too(void **state)
{
    struct talk talk;
    struct task *tasks = NULL;
    struct task_filter filter = {.limit = 50};
    struct clew_error err = {0};
    int64_t end_ms;
    size_t count = 0;
    size_t checks = 0;

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    end_ms = talk.at_ms;
    talk.at_ms += 3 * CLOCK_HOUR_MS;
    talk_say(&talk, 'u', "I need a recipe for banana bread.");
    assert_int_equal(task_list(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &filter, &tasks, &count,
                               &err),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        if (str_eq(tasks[i].kind, STR("check_chain_dormancy"))) {
            checks++;
            assert_true(tasks[i].execute_at_ms == end_ms + DAY);
        }
    }
    assert_int_equal(checks, 1);
    talk_close(&talk);
}

static void a_chain_that_was_extended_since_stays_active(void **state)
{
    struct talk talk;
    struct uuid chain;
    int64_t end_ms;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:What is the weather in New York?"
                       "|a:The weather in New York is cloudy.");
    chain = update(&talk)->chain_id;
    end_ms = talk.at_ms;
    end_session(&talk);
    talk.at_ms += 2 * CLOCK_HOUR_MS;
    talk_say(&talk, 'u', "Back to the weather in New York: is it sunny?");
    assert_true(is_type(update(&talk), "extend"));
    assert_true(uuid_eq(&update(&talk)->chain_id, &chain));
    clock_set_ms(&talk.world.clock, end_ms + DAY);
    assert_true(run_tasks(&talk) > 0);
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_ACTIVE);
    talk_close(&talk);
}

static void a_dormant_chain_is_revived(void **state)
{
    struct talk talk;
    struct uuid chain;

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:We plan a trip to Lisbon with a day in Belem."
                       "|a:Lisbon is lovely, and Belem has a tower.");
    chain = update(&talk)->chain_id;
    end_session(&talk);
    clock_set_ms(&talk.world.clock, talk.at_ms + DAY);
    (void)run_tasks(&talk);
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_DORMANT);
    talk_leave(&talk);
    talk.at_ms += 5 * DAY;
    talk_say(&talk, 'u',
             "Back to the Lisbon trip: is Belem worth a whole day?");
    assert_true(is_type(update(&talk), "extend"));
    assert_true(uuid_eq(&update(&talk)->chain_id, &chain));
    assert_true(
        str_starts(update(&talk)->reasoning, STR("Revived chain about \"")));
    assert_int_equal(get(&talk, &chain).chain.phase, CHAIN_ACTIVE);
    talk_close(&talk);
}

static void another_users_chain_is_never_revived(void **state)
{
    struct talk talk;
    struct capture_input input = {
        .user_id = STR("bob"),
        .role = TURN_USER,
        .content = {.text = STR("Back to the Lisbon trip with Belem.")},
        .channel = STR("web")};
    struct capture_result result;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:We plan a trip to Lisbon with a day in Belem.");
    input.created_at_ms = talk.at_ms + 1;
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &input, 1, &result, &err),
                     CLEW_OK);
    assert_string_equal(result.updates.chains[0].type, "create");
    talk_close(&talk);
}

static void forgetting_a_turn_takes_its_claims_along(void **state)
{
    struct talk talk;
    struct uuid turn;
    struct uuid chain;
    struct forget_input input = {.turn_ids = &turn, .n_turn_ids = 1};
    struct forget_receipt receipt;
    struct chain_detail detail;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    talk_say(&talk, 'u', "What is the weather in New York?");
    chain = update(&talk)->chain_id;
    turn = talk.last.turn.id;
    talk_say(&talk, 'a', "The weather is cloudy.");
    assert_true(uuid_eq(&update(&talk)->chain_id, &chain));
    if (forget_run(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                   &input, &receipt, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    detail = get(&talk, &chain);
    assert_int_equal(detail.n_claims, 1);
    assert_true(str_ifind(detail.chain.topic, STR("York"), 0) == SIZE_MAX);
    turn = talk.last.turn.id;
    if (forget_run(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                   &input, &receipt, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(count_of(&talk, NULL), 0);
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_claim_creates_a_chain),
        cmocka_unit_test(a_claim_cites_its_words),
        cmocka_unit_test(thanks_and_greetings_claim_nothing),
        cmocka_unit_test(system_turns_are_not_observed),
        cmocka_unit_test(every_claim_is_in_exactly_one_chain),
        cmocka_unit_test(a_batch_decides_like_single_turns),
        cmocka_unit_test(pronouns_and_ellipses_stay_with_their_chain),
        cmocka_unit_test(another_topic_leaves_the_chain),
        cmocka_unit_test(below_branch_a_new_chain_names_its_parent),
        cmocka_unit_test(at_branch_and_beyond_the_claim_is_not_lost),
        cmocka_unit_test(an_interrupted_topic_comes_back_to_its_chain),
        cmocka_unit_test(a_sentence_may_open_a_topic_within_a_turn),
        cmocka_unit_test(a_chain_made_by_a_turn_is_seen_by_its_next_claim),
        cmocka_unit_test(the_seeds_formula_can_be_chosen),
        cmocka_unit_test(vectors_can_be_left_out),
        cmocka_unit_test(topics_are_refined_as_the_chain_grows),
        cmocka_unit_test(chains_that_meet_become_one),
        cmocka_unit_test(chains_far_from_each_other_do_not_merge),
        cmocka_unit_test(saying_that_it_is_over_concludes_the_chain),
        cmocka_unit_test(a_resolved_effort_concludes_its_chain),
        cmocka_unit_test(a_concluded_chain_is_not_revived_but_branched_from),
        cmocka_unit_test(a_chain_is_concluded_and_reopened_by_hand),
        cmocka_unit_test(ten_chains_are_active_and_the_oldest_rests),
        cmocka_unit_test(chains_rest_a_day_after_their_session),
        cmocka_unit_test(silence_ends_a_session_too),
        cmocka_unit_test(a_chain_that_was_extended_since_stays_active),
        cmocka_unit_test(a_dormant_chain_is_revived),
        cmocka_unit_test(another_users_chain_is_never_revived),
        cmocka_unit_test(forgetting_a_turn_takes_its_claims_along),
    };
    int failed;

    world_backend = "sqlite";
    failed = cmocka_run_group_tests_name("chains on sqlite", tests, NULL, NULL);
    world_backend = "postgres";
    return failed +
           cmocka_run_group_tests_name("chains on postgres", tests, NULL, NULL);
}
