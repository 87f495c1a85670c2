/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_recall.c - the turn that answers is found: in many languages, with
 * neighbours, dates, filters, and the same whatever the segments.
 */
#include "support/doc_list.h"
#include "support/test.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/rand.h"
#include "index/doc.h"
#include "model/embed.h"
#include "recall/recall.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DOCS 8192

struct said {
    const char *speaker; /* NULL = nobody in particular */
    const char *text;
};

/* The store: documents made of sentences. */
static struct arena docs_arena;
static struct index_doc docs[MAX_DOCS];
static const char *texts[MAX_DOCS];
static struct doc_list list = {.docs = docs};
static struct index_set *set;
static struct arena arena;
static char largest[256];
static off_t largest_bytes;

static int set_up(void **state)
{
    static float centre[EMBED_MAX_DIM];
    struct index_options options = {.model = "m",
                                    .dim = embed_static()->dim,
                                    .centre = centre,
                                    .source = doc_list_source(&list)};

    (void)state;
    list.count = 0;
    arena_init(&docs_arena, (size_t)1 << 30);
    arena_init(&arena, (size_t)1 << 30);
    if (!embed_centre(embed_static(), centre)) {
        return -1;
    }
    return index_set_open(&options, &set, NULL) == CLEW_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    index_set_close(set);
    arena_release(&arena);
    arena_release(&docs_arena);
    return 0;
}

static struct uuid id_of(const char *kind, uint64_t n)
{
    struct uuid nil = {{0}};

    return uuid_derive((int64_t)n, &nil, kind, n);
}

static int64_t time_of(const char *text)
{
    int64_t time = 0;

    assert_true(clock_parse(str_of(text), &time));
    return time;
}

/* What the engine does with a longer turn. */
static void add_halves(struct index_doc *doc, const struct analysis *analysis,
                       struct str speaker)
{
    size_t middle = doc_middle(analysis, speaker);
    struct str halves[2] = {
        str_sub(analysis->text, 0, middle),
        str_sub(analysis->text, middle, analysis->text.len)};
    float *vectors =
        arena_zero(&docs_arena, 2 * embed_static()->dim, sizeof(*vectors));

    if (middle > 0) {
        assert_int_equal(embed_run(embed_static(), halves, 2, vectors, NULL),
                         CLEW_OK);
        doc->halves = vectors;
    }
}

static struct index_doc *say(enum index_kind kind, const char *user,
                             uint64_t chat, const char *speaker,
                             const char *text, int64_t time_ms)
{
    struct analysis_options options = {.time_ms = time_ms,
                                       .speaker = str_of(speaker)};
    struct str content = str_of(text);
    struct index_doc *doc = &docs[list.count];
    float *vector =
        arena_zero(&docs_arena, embed_static()->dim, sizeof(*vector));
    struct analysis analysis;

    assert_true(list.count < MAX_DOCS);
    memset(doc, 0, sizeof(*doc));
    assert_int_equal(
        analysis_run(&docs_arena, content, &options, &analysis, NULL), CLEW_OK);
    assert_int_equal(
        doc_fill(&docs_arena, &analysis, options.speaker, doc, NULL), CLEW_OK);
    assert_int_equal(embed_run(embed_static(), &content, 1, vector, NULL),
                     CLEW_OK);
    doc->kind = kind;
    doc->id = id_of("doc", list.count + 1);
    doc->chat = id_of("chat", chat);
    doc->user = str_of(user);
    doc->seq = (int64_t)list.count;
    doc->created_at_ms = time_ms;
    doc->vector = vector;
    add_halves(doc, &analysis, options.speaker);
    texts[list.count] = text;
    doc->change_seq = (int64_t)++list.count;
    return doc;
}

static struct recall_request question(const char *query)
{
    return (struct recall_request){.query = str_of(query),
                                   .user = STR("u"),
                                   .kinds = RECALL_TURN,
                                   .limit = 10,
                                   .since_ms = INT64_MIN,
                                   .until_ms = INT64_MAX,
                                   .at_ms = time_of("2025-06-30T12:00:00Z")};
}

static struct recall_result ask(const struct recall_request *request)
{
    struct recall_result result;
    struct index_view *view = NULL;
    struct clew_error err;

    assert_int_equal(index_view_open(set, 1, &view, &err), CLEW_OK);
    assert_int_equal(
        recall_run(view, embed_static(), &arena, request, &result, &err),
        CLEW_OK);
    index_view_close(view);
    return result;
}

static const struct recall_item *item_of(const struct recall_result *result,
                                         int64_t seq)
{
    for (size_t i = 0; i < result->count; i++) {
        if (result->items[i].seq == seq) {
            return &result->items[i];
        }
    }
    return NULL;
}

static const char *text_of(const struct recall_item *item)
{
    for (size_t i = 0; i < list.count; i++) {
        if (uuid_eq(&docs[i].id, &item->id)) {
            return texts[i];
        }
    }
    return NULL;
}

static void assert_first(const char *query, const char *text)
{
    struct recall_request request = question(query);
    struct recall_result result = ask(&request);

    assert_true(result.count > 0);
    assert_string_equal(text_of(&result.items[0]), text);
}

static void say_all(const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        say(INDEX_TURN, "u", i, NULL, lines[i],
            time_of("2025-01-01T10:00:00Z") + (int64_t)i * 3600000);
    }
}

static void many_scripts_find_their_turns(void **state)
{
    static const char *const lines[] = {
        "我们下周三在上海开产品发布会，请准备演示文稿。",
        "昨天晚上我在家做了红烧肉，味道很好。",
        "来月から大阪の新しいオフィスで働くことになりました。",
        "週末に友達と富士山に登りました。",
        "พรุ่งนี้ฉันจะไปหาหมอฟันที่โรงพยาบาล",
        "เมื่อวานฝนตกหนักมากที่กรุงเทพ",
        "سأسافر إلى القاهرة في الشهر القادم لحضور مؤتمر.",
        "اشتريت سيارة جديدة الأسبوع الماضي.",
        "Die Krankenversicherung hat meine Rechnung endlich bezahlt.",
        "Wir haben am Wochenende den Keller aufgeräumt.",
        "The parser crashes in parse_http_header() when Content-Length is 0.",
        "Rename getUserById to fetchUser in src/api/users.ts please.",
        "We pinned libcurl to 7.88.1 because 8.0 broke the proxy tests.",
        "My sister's wedding is at the lake house in September."};

    (void)state;
    say_all(lines, sizeof(lines) / sizeof(lines[0]));
    assert_first("产品发布会在哪里？", lines[0]);
    assert_first("红烧肉", lines[1]);
    assert_first("大阪のオフィスはいつから？", lines[2]);
    assert_first("富士山", lines[3]);
    assert_first("หมอฟัน", lines[4]);
    assert_first("ฝนตกที่กรุงเทพ", lines[5]);
    assert_first("متى السفر إلى القاهرة؟", lines[6]);
    assert_first("سيارة جديدة", lines[7]);
    assert_first("Was hat die Krankenversicherung bezahlt?", lines[8]);
    assert_first("Keller aufräumen", lines[9]);
    assert_first("parse_http_header", lines[10]);
    assert_first("http header parser crash", lines[10]);
    assert_first("getUserById", lines[11]);
    assert_first("users.ts", lines[11]);
    assert_first("which libcurl version did we pin", lines[12]);
    assert_first("wedding", lines[13]);
}

static void an_answer_is_found_by_the_question_before_it(void **state)
{
    static const struct said talk[] = {
        {"Ann", "Hi Ben, long time no see!"},
        {"Ben", "Hey! I was away for two weeks."},
        {"Ann", "Where did you go camping this time?"},
        {"Ben", "Up in the Yosemite valley, the four of us."},
        {"Ann", "Lovely. My week was all paperwork and meetings."},
        {"Ben", "Sounds dull, let us have lunch soon."}};
    struct recall_request request = question("Where did Ben go camping?");
    struct recall_result result;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        say(INDEX_TURN, "u", 1, talk[i].speaker, talk[i].text,
            time_of("2025-03-01T10:00:00Z") + (int64_t)i * 60000);
    }
    result = ask(&request);
    assert_string_equal(text_of(&result.items[0]), talk[3].text);
    assert_true(result.items[0].parts.neighbour > 0);
}

static void a_date_in_the_question_prefers_what_was_said_then(void **state)
{
    (void)state;
    say(INDEX_TURN, "u", 1, NULL, "We ran the marathon relay with the team.",
        time_of("2025-02-10T10:00:00Z"));
    say(INDEX_TURN, "u", 2, NULL, "We ran the marathon relay with friends.",
        time_of("2025-05-12T10:00:00Z"));
    assert_first("What did we run in May 2025?",
                 "We ran the marathon relay with friends.");
    assert_first("What did we run in February 2025?",
                 "We ran the marathon relay with the team.");
    assert_first("What did we run last month?",
                 "We ran the marathon relay with friends.");
}

static void the_kind_of_answer_asked_for_is_preferred(void **state)
{
    static const char *const lines[] = {
        "We sold the old boat gladly and bought a smaller one.",
        "We sold the old boat yesterday and bought a smaller one.",
        "We sold the old boat to Henrik and bought a smaller one.",
        "The bread needs another hour in the oven.",
        "My shoulder hurts when I swim too far.",
        "The printer is out of paper again.",
        "She reads two novels a week, mostly crime."};

    (void)state;
    say_all(lines, sizeof(lines) / sizeof(lines[0]));
    assert_first("When did we sell the old boat?", lines[1]);
    assert_first("Who did we sell the old boat to?", lines[2]);
}

static void what_follows_a_long_turn_says_less(void **state)
{
    static const char *const loud =
        "Our choir sang the whole requiem in the old harbour church, with an "
        "orchestra from the city, and afterwards everyone came to the house.";
    static const char *const same = "The choir sang so well on that evening.";
    struct recall_request request = question("How did the choir sing?");
    struct recall_result result;

    (void)state;
    say(INDEX_TURN, "u", 1, "Ann", loud, time_of("2025-03-01T10:00:00Z"));
    say(INDEX_TURN, "u", 1, "Ben", same, time_of("2025-03-01T10:01:00Z"));
    say(INDEX_TURN, "u", 2, "Ann", "Fine.", time_of("2025-02-01T10:00:00Z"));
    say(INDEX_TURN, "u", 2, "Ben", same, time_of("2025-02-01T10:01:00Z"));
    result = ask(&request);
    assert_int_equal(result.count, 4);
    assert_true(item_of(&result, 1)->parts.prior <
                item_of(&result, 3)->parts.prior);
}

static void filters_keep_to_user_chat_kind_and_time(void **state)
{
    struct recall_request request = question("blue bicycle");
    struct recall_line line = {id_of("chat", 2), INT64_MAX};
    struct recall_result result;

    (void)state;
    say(INDEX_TURN, "u", 1, NULL, "I bought a blue bicycle.",
        time_of("2025-01-01T00:00:00Z"));
    say(INDEX_TURN, "u", 2, NULL, "The blue bicycle needs a lock.",
        time_of("2025-02-01T00:00:00Z"));
    say(INDEX_TURN, "u", 2, NULL, "Sold the blue bicycle.",
        time_of("2025-03-01T00:00:00Z"));
    say(INDEX_TURN, "other", 3, NULL, "A blue bicycle of someone else.",
        time_of("2025-01-01T00:00:00Z"));
    say(INDEX_MEMORY, "u", 2, NULL, "The user owned a blue bicycle.",
        time_of("2025-02-01T00:00:00Z"));
    assert_int_equal(ask(&request).count, 3);
    request.kinds = RECALL_MEMORY;
    assert_int_equal(ask(&request).count, 1);
    request.kinds = 0;
    assert_int_equal(ask(&request).count, 4);
    request.kinds = RECALL_CHAT;
    result = ask(&request);
    assert_int_equal(result.count, 2);
    assert_int_equal(result.items[0].kind, RECALL_CHAT);
    request.kinds = RECALL_TURN;
    request.user = STR("");
    assert_int_equal(ask(&request).count, 4);
    request.user = STR("u");
    request.at_ms = time_of("2025-02-15T00:00:00Z");
    assert_int_equal(ask(&request).count, 2);
    request.since_ms = time_of("2025-01-15T00:00:00Z");
    assert_int_equal(ask(&request).count, 1);
    request.since_ms = INT64_MIN;
    request.until_ms = time_of("2025-01-15T00:00:00Z");
    assert_int_equal(ask(&request).count, 1);
    request = question("blue bicycle");
    request.lines = &line;
    request.n_lines = 1;
    assert_int_equal(ask(&request).count, 2);
    line.max_seq = 1;
    result = ask(&request);
    assert_int_equal(result.count, 1);
    assert_string_equal(text_of(&result.items[0]),
                        "The blue bicycle needs a lock.");
}

static void odd_queries_still_answer(void **state)
{
    char *huge = arena_zero(&docs_arena, 100001, 1);
    struct recall_request request = question("");

    (void)state;
    say(INDEX_TURN, "u", 1, NULL, "The boiler was repaired.",
        time_of("2025-01-01T00:00:00Z"));
    say(INDEX_TURN, "u", 2, NULL, "Dinner at eight.",
        time_of("2025-02-01T00:00:00Z"));
    assert_int_equal(ask(&request).count, 2);
    request.query = STR("?!… \xff\xfe");
    assert_int_equal(ask(&request).count, 2);
    request.query = STR("который час");
    assert_int_equal(ask(&request).count, 2);
    request.query = STR("what is the");
    assert_int_equal(ask(&request).count, 2);
    for (size_t i = 0; i < 10000; i++) {
        (void)snprintf(huge + i * 10, 11, "word%05zu ", i);
    }
    (void)snprintf(huge + 50, 11, " boiler  ");
    request.query = str_of(huge);
    assert_int_equal(ask(&request).count, 2);
    request.limit = 0;
    {
        struct recall_result result;
        struct index_view *view = NULL;

        assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
        assert_int_equal(
            recall_run(view, embed_static(), &arena, &request, &result, NULL),
            CLEW_INVALID);
        index_view_close(view);
    }
}

/* Sentences that share words, in chats of ten turns, by two speakers. */
static void say_many(enum index_kind kind, size_t n)
{
    static const char *const who[] = {"Ann", "Ben", "Cleo"};
    static const char *const did[] = {"painted", "sold",     "repaired",
                                      "lost",    "borrowed", "photographed",
                                      "cleaned", "found"};
    static const char *const what[] = {
        "the boat",   "a bicycle", "her guitar", "the fence", "a kettle",
        "his camera", "the piano", "a ladder",   "the tent",  "some shelves"};
    static const char *const where[] = {
        "in Lisbon", "by the lake", "at the market", "in the garage",
        "near Oslo", "for charity", "at school"};

    for (size_t i = 0; i < n; i++) {
        char *text =
            arena_printf(&docs_arena, "%s %s %s, number %zu.", did[i * 7 % 8],
                         what[i * 13 % 10], where[i * 5 % 7], i % 97);

        assert_non_null(text);
        say(kind, "u", i / 10, who[i % 3], text,
            time_of("2025-01-01T00:00:00Z") + (int64_t)i * 60000);
    }
}

static void a_longer_turn_is_found_by_either_half(void **state)
{
    static const char *const two =
        "I am looking for recipes with lentils and carrots that can be cooked "
        "ahead on a Sunday, any ideas? By the way, my brother and I repaired "
        "the puncture of the front wheel of his bicycle in the garage.";
    static const char *const about[] = {"a lentil stew with carrots",
                                        "the flat tyre of the bike"};
    struct index_doc *plain;

    (void)state;
    assert_non_null(say(INDEX_TURN, "u", 1, NULL, two, 1000)->halves);
    plain = say(INDEX_TURN, "u", 2, NULL, two, 1000);
    plain->halves = NULL;
    assert_null(say(INDEX_TURN, "u", 3, "Ann", two, 1000)->halves);
    assert_null(say(INDEX_TURN, "u", 4, NULL, "Too short. Yes.", 1)->halves);
    say_many(INDEX_TURN, 100);
    for (size_t i = 0; i < 2; i++) {
        struct recall_request request = question(about[i]);
        struct recall_result result;

        request.limit = 200;
        result = ask(&request);
        assert_true(item_of(&result, 0)->parts.vector >
                    item_of(&result, 1)->parts.vector + 0.02f);
    }
}

/* The same documents again in steps: many segments, other merges. */
static void cut_again(size_t total, size_t longest)
{
    struct index_view *view = NULL;

    list.count = 0;
    assert_int_equal(index_drop(set, 1, NULL), CLEW_OK);
    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    index_view_close(view);
    while (list.count < total) {
        size_t step = (size_t)rand_below(longest) + 1;
        int64_t after = (int64_t)list.count;

        step = step < total - list.count ? step : total - list.count;
        list.count += step;
        assert_int_equal(index_offer(set, 1, after, (int64_t)list.count,
                                     docs + after, step, NULL),
                         CLEW_OK);
    }
}

static void assert_ranking_is_free_of_segments(size_t n)
{
    static const char *const queries[] = {
        "Who repaired the boat in Lisbon?", "What did Ann photograph?",
        "piano near Oslo", "What was lost on 2 January 2025?", "number 42"};
    struct recall_request requests[6];
    struct recall_result whole[6];

    say_many(INDEX_TURN, n);
    for (size_t i = 0; i < 6; i++) {
        requests[i] = question(queries[i % 5]);
        requests[i].lent = i == 5 ? STR("harbour piano") : (struct str){0};
        whole[i] = ask(&requests[i]);
    }
    rand_seed(n);
    for (size_t cut = 0; cut < 2; cut++) {
        cut_again(list.count, cut == 0 ? 7 : 900);
        for (size_t i = 0; i < 6; i++) {
            struct recall_result parts = ask(&requests[i]);

            assert_int_equal(parts.count, whole[i].count);
            for (size_t k = 0; k < parts.count; k++) {
                assert_true(uuid_eq(&parts.items[k].id, &whole[i].items[k].id));
                assert_float_equal(parts.items[k].score,
                                   whole[i].items[k].score, 1e-5);
            }
        }
    }
}

/* The larger store has its sign bits sieved. */
static void the_ranking_does_not_depend_on_segments(void **state)
{
    assert_ranking_is_free_of_segments(1500);
    (void)tear_down(state);
    (void)set_up(state);
    assert_ranking_is_free_of_segments(6000);
}

/* How many documents have a larger cosine with `query` than this one, by more
 * than eight bits can tell. */
static size_t exact_rank(const float *query, const struct uuid *id)
{
    static float cosines[MAX_DOCS];
    float own = -2;
    size_t above = 0;

    for (size_t i = 0; i < list.count; i++) {
        cosines[i] = 0;
        for (size_t d = 0; d < embed_static()->dim; d++) {
            cosines[i] += query[d] * docs[i].vector[d];
        }
        own = uuid_eq(&docs[i].id, id) ? cosines[i] : own;
    }
    for (size_t i = 0; i < list.count; i++) {
        above += cosines[i] > own + 2e-3f;
    }
    return above;
}

static void sieving_finds_the_nearest_vectors(void **state)
{
    /* none of their words is in the store */
    static const char *const queries[] = {
        "mending vessels",     "portuguese capital", "norwegian seaside tools",
        "musical instruments", "camping equipment",  "selling old things"};
    float query[1024];
    size_t n_right = 0;

    (void)state;
    assert_true(embed_static()->dim <= 1024);
    say_many(INDEX_MEMORY, 6000);
    for (size_t i = 0; i < 6; i++) {
        struct recall_request request = question(queries[i]);
        struct recall_result result;
        struct str text = str_of(queries[i]);

        request.kinds = RECALL_MEMORY;
        result = ask(&request);
        assert_int_equal(result.count, 10);
        assert_true(result.n_candidates < list.count / 2);
        assert_int_equal(embed_run(embed_static(), &text, 1, query, NULL),
                         CLEW_OK);
        for (size_t k = 0; k < result.count; k++) {
            assert_true(result.items[k].parts.lexical <= 0);
            n_right += exact_rank(query, &result.items[k].id) < 10;
        }
    }
    assert_true(n_right >= 59); /* of 60 */
}

static void sieving_keeps_to_the_times_asked_for(void **state)
{
    struct recall_request request = question("mending vessels");
    struct recall_result result;

    (void)state;
    say_many(INDEX_MEMORY, 6000);
    request.kinds = RECALL_MEMORY;
    request.since_ms = docs[700].created_at_ms;
    request.until_ms = docs[740].created_at_ms;
    request.limit = 100;
    result = ask(&request);
    assert_int_equal(result.count, 40); /* all that are allowed, no other */
}

static void a_large_store_finds_what_a_small_one_finds(void **state)
{
    struct recall_request request =
        question("Who borrowed the telescope at the observatory?");
    struct recall_result result;
    const char *wanted = "I borrowed the telescope from the observatory.";

    (void)state;
    say_many(INDEX_TURN, 5000); /* sign bits, postings, skipping are used */
    say(INDEX_TURN, "u", 77, "Ben", wanted, time_of("2025-01-01T12:00:00Z"));
    result = ask(&request);
    assert_int_equal(result.count, 10);
    assert_string_equal(text_of(&result.items[0]), wanted);
    assert_true(result.n_candidates < result.n_scanned / 2);
    say(INDEX_TURN, "u", 777, NULL, "The garden needs water.",
        time_of("2025-06-28T12:00:00Z")); /* its time alone finds it */
    assert_first("What did I say two days ago?", "The garden needs water.");
}

static void a_turn_leans_on_the_other_turns_of_its_chat(void **state)
{
    static const char *const about = "The violin teacher moved to Ghent.";
    struct recall_request request = question("violin teacher");

    (void)state;
    /* the older one has company in its chat, out of its neighbours' reach */
    for (uint64_t chat = 1; chat <= 2; chat++) {
        int64_t time = time_of("2025-01-01T10:00:00Z") + (int64_t)chat;

        say(INDEX_TURN, "u", chat, NULL, about, time);
        for (int i = 0; i < 5; i++) {
            say(INDEX_TURN, "u", chat, NULL, "It rained all day.", time);
        }
        say(INDEX_TURN, "u", chat, NULL,
            chat == 1 ? "A new violin teacher came." : "She plays the drums.",
            time);
    }
    struct recall_result result = ask(&request);
    const struct recall_item *both[2] = {NULL, NULL};
    size_t n = 0;

    for (size_t i = 0; i < result.count && n < 2; i++) {
        if (strcmp(text_of(&result.items[i]), about) == 0) {
            both[n++] = &result.items[i];
        }
    }
    assert_int_equal(n, 2);
    assert_true(uuid_eq(&both[0]->chat, &docs[0].chat));
    assert_true(both[0]->parts.chat > both[1]->parts.chat);
}

static double sum_of(const struct recall_parts *parts)
{
    return (double)parts->lexical + (double)parts->neighbour +
           (double)parts->vector + (double)parts->window + (double)parts->time +
           (double)parts->prior + (double)parts->chat;
}

static void scores_lie_between_0_and_1_in_the_order_of_their_parts(void **state)
{
    static const char *const queries[] = {
        "boat", "What did Ann photograph in Lisbon on 2 January 2025?",
        "nothing of the kind was ever mentioned"};

    (void)state;
    say_many(INDEX_TURN, 600);
    for (size_t i = 0; i < 3; i++) {
        struct recall_request request = question(queries[i]);
        struct recall_result result;

        request.limit = 600; /* down to those that do not match at all */
        result = ask(&request);
        assert_int_equal(result.count, 600);
        for (size_t k = 0; k < result.count; k++) {
            assert_true(result.items[k].score > 0);
            assert_true(result.items[k].score < 1);
            if (k > 0) {
                assert_true(result.items[k].score <= result.items[k - 1].score);
                assert_true(sum_of(&result.items[k].parts) <=
                            sum_of(&result.items[k - 1].parts) + 1e-5);
            }
        }
    }
}

static void fewer_items_are_the_first_of_more(void **state)
{
    struct recall_request request = question("Who repaired the boat?");
    struct recall_result all;

    (void)state;
    say_many(INDEX_TURN, 800);
    request.kinds = RECALL_TURN | RECALL_CHAT;
    request.limit = 500;
    all = ask(&request);
    for (size_t limit = 1; limit < 60; limit += 7) {
        struct recall_result some;

        request.limit = limit;
        some = ask(&request);
        assert_int_equal(some.count, limit);
        for (size_t k = 0; k < limit; k++) {
            assert_true(uuid_eq(&some.items[k].id, &all.items[k].id));
        }
    }
}

/* The largest file below a folder: a segment. */
static int keep_largest(const char *path, const struct stat *info, int kind,
                        struct FTW *at)
{
    (void)at;
    if (kind == FTW_F && info->st_size > largest_bytes) {
        largest_bytes = info->st_size;
        (void)snprintf(largest, sizeof(largest), "%s", path);
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void damaged_files_never_stop_a_recall(void **state)
{
    static const char *const queries[] = {"Who repaired the boat in Lisbon?",
                                          "What was lost on 2 January 2025?",
                                          "vessels"};
    char dir[] = "/tmp/clew-recall-XXXXXX";
    struct index_options options = {.dir = mkdtemp(dir),
                                    .model = "m",
                                    .dim = embed_static()->dim,
                                    .source = doc_list_source(&list)};
    int fd;

    (void)state;
    assert_non_null(options.dir);
    say_many(INDEX_TURN, 4500); /* all the ways to find candidates are taken */
    index_set_close(set);
    assert_int_equal(index_set_open(&options, &set, NULL), CLEW_OK);
    (void)ask(&(struct recall_request){.limit = 1, .at_ms = INT64_MAX});
    index_set_close(set);
    set = NULL;
    largest_bytes = 0;
    assert_int_equal(nftw(dir, keep_largest, 8, FTW_PHYS), 0);
    fd = open(largest, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    rand_seed(11);
    for (int i = 0; i < 120; i++) {
        uint8_t was[16];
        uint8_t is[16];
        off_t at = (off_t)rand_below((uint64_t)largest_bytes - 16);

        assert_int_equal(pread(fd, was, sizeof(was), at), sizeof(was));
        if (i % 2) {
            rand_bytes(is, sizeof(is));
        } else {
            memset(is, 0xff, sizeof(is));
        }
        assert_int_equal(pwrite(fd, is, sizeof(is), at), sizeof(is));
        assert_int_equal(index_set_open(&options, &set, NULL), CLEW_OK);
        for (size_t q = 0; q < 3; q++) {
            struct recall_request request = question(queries[q]);

            request.kinds = i % 3 ? RECALL_TURN : RECALL_TURN | RECALL_CHAT;
            assert_true(ask(&request).count <= request.limit);
        }
        index_set_close(set);
        set = NULL;
        /* if it was noticed, the file is a new one: damage that one next */
        close(fd);
        largest_bytes = 0;
        assert_int_equal(nftw(dir, keep_largest, 8, FTW_PHYS), 0);
        fd = open(largest, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        if (largest_bytes > at + 16) {
            assert_int_equal(pwrite(fd, was, sizeof(was), at), sizeof(was));
        }
    }
    close(fd);
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void matches_are_marked_in_the_text(void **state)
{
    struct recall_request request = question("repairing boats");
    struct recall_result result;
    struct recall_span *spans;
    size_t n = 0;
    struct str text = STR("He repaired the boat; boats sink.");

    (void)state;
    say(INDEX_TURN, "u", 1, NULL, text.s, 0);
    result = ask(&request);
    assert_int_equal(recall_highlight(&arena, &result, text, 10, &spans, &n),
                     CLEW_OK);
    assert_int_equal(n, 3);
    assert_int_equal(spans[0].from, 3);
    assert_int_equal(spans[0].to, 11);
    assert_int_equal(spans[2].to - spans[2].from, 5);
}

#define WITH_SET(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SET(many_scripts_find_their_turns),
        WITH_SET(an_answer_is_found_by_the_question_before_it),
        WITH_SET(a_date_in_the_question_prefers_what_was_said_then),
        WITH_SET(the_kind_of_answer_asked_for_is_preferred),
        WITH_SET(what_follows_a_long_turn_says_less),
        WITH_SET(a_longer_turn_is_found_by_either_half),
        WITH_SET(filters_keep_to_user_chat_kind_and_time),
        WITH_SET(odd_queries_still_answer),
        WITH_SET(the_ranking_does_not_depend_on_segments),
        WITH_SET(sieving_finds_the_nearest_vectors),
        WITH_SET(sieving_keeps_to_the_times_asked_for),
        WITH_SET(a_large_store_finds_what_a_small_one_finds),
        WITH_SET(a_turn_leans_on_the_other_turns_of_its_chat),
        WITH_SET(scores_lie_between_0_and_1_in_the_order_of_their_parts),
        WITH_SET(fewer_items_are_the_first_of_more),
        WITH_SET(damaged_files_never_stop_a_recall),
        WITH_SET(matches_are_marked_in_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
