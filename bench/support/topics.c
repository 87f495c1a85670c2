/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.c - load, build and run talks with known topics. See topics.h.
 */
#include "support/topics.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "model/embed.h"
#include "text/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 1709283600000
#define TREE_TURNS 12
/* One dialogue of so many is plenty. */
#define DAILY_SHARE 3

/* A talk as it was loaded, to build others from. */
struct part {
    const char *turns[TOPICS_MAX_TURNS];
    int topics[TOPICS_MAX_TURNS];
    size_t count;
};

struct parts {
    struct part *items;
    size_t count;
    size_t cap;
};

static void fail(const char *what)
{
    (void)fprintf(stderr, "topics: %s\n", what);
    exit(1);
}

/* Texts and readings live as long as the program. */
static struct arena *lasting(void)
{
    static struct arena arena;
    static bool is_there;

    if (!is_there) {
        arena_init(&arena, (size_t)1 << 31);
        is_there = true;
    }
    return &arena;
}

static void *grow(void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap) {
        return items;
    }
    *cap = *cap ? 2 * *cap : 64;
    items = realloc(items, *cap * size);
    if (!items) {
        fail("out of memory");
    }
    return items;
}

/* --- files ------------------------------------------------------------------
 */

static struct part *add_part(struct parts *parts)
{
    parts->items =
        grow(parts->items, parts->count, &parts->cap, sizeof(struct part));
    memset(&parts->items[parts->count], 0, sizeof(struct part));
    return &parts->items[parts->count++];
}

static void add_text(struct part *part, const char *text, int topic)
{
    if (part->count < TOPICS_MAX_TURNS) {
        part->topics[part->count] = topic;
        part->turns[part->count++] = arena_string(lasting(), text);
    }
}

static json_t *load(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL);

    if (!root) {
        fail(path);
    }
    return root;
}

static void load_labelled(const char *path, struct parts *out)
{
    json_t *root = load(path);
    size_t i;
    json_t *item;

    json_array_foreach (json_object_get(root, "items"), i, item) {
        const json_t *turns = json_object_get(item, "turns");
        const json_t *topics = json_object_get(item, "topic");
        struct part *part = add_part(out);

        for (size_t k = 0; k < json_array_size(turns); k++) {
            add_text(part, json_string_value(json_array_get(turns, k)),
                     (int)json_integer_value(json_array_get(topics, k)));
        }
    }
    json_decref(root);
}

static void load_daily(const char *path, struct parts *out)
{
    json_t *root = load(path);
    size_t i;
    json_t *item;

    json_array_foreach (json_object_get(root, "items"), i, item) {
        const json_t *turns = json_object_get(item, "turns");
        size_t count = json_array_size(turns) & ~(size_t)1;
        struct part *part;

        if (count < 4 || i % DAILY_SHARE != 0) {
            continue;
        }
        part = add_part(out);
        for (size_t k = 0; k < count; k++) {
            add_text(part, json_string_value(json_array_get(turns, k)), 0);
        }
    }
    json_decref(root);
}

/* The first reply, or the first that was replied to. */
static const json_t *next_of(const json_t *at)
{
    const json_t *replies = json_object_get(at, "replies");
    const json_t *next = NULL;
    const json_t *reply;
    size_t i;

    json_array_foreach (replies, i, reply) {
        if (!next || (json_array_size(json_object_get(next, "replies")) == 0 &&
                      json_array_size(json_object_get(reply, "replies")) > 0)) {
            next = reply;
        }
    }
    return next;
}

/* The first thread of each English tree of at least four turns. */
static void load_trees(const char *path, struct parts *out)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;

    if (!file) {
        fail(path);
    }
    while (getline(&line, &cap, file) > 0) {
        json_t *root = json_loads(line, 0, NULL);
        const json_t *at = json_object_get(root, "prompt");
        const char *lang = json_string_value(json_object_get(at, "lang"));

        if (lang && strcmp(lang, "en") == 0) {
            struct part *part = add_part(out);

            for (; at && part->count < TREE_TURNS; at = next_of(at)) {
                add_text(part, json_string_value(json_object_get(at, "text")),
                         0);
            }
            part->count &= ~(size_t)1;
            out->count -= part->count < 4;
        }
        json_decref(root);
    }
    free(line);
    (void)fclose(file);
}

/* --- talks ------------------------------------------------------------------
 */

static struct topic_talk *add_talk(struct topic_talks *talks)
{
    talks->items = grow(talks->items, talks->count, &talks->cap,
                        sizeof(struct topic_talk));
    memset(&talks->items[talks->count], 0, sizeof(struct topic_talk));
    return &talks->items[talks->count++];
}

/* Analyse and embed a turn, spoken as number `i`. */
static const struct topic_turn *read_turn(const char *text, size_t i)
{
    struct analysis_options options = {.time_ms = START_MS +
                                                  (int64_t)i * TOPICS_STEP_MS};
    struct topic_turn *out = arena_zero(lasting(), 1, sizeof(*out));
    struct embedder *embedder = embed_static();
    float vector[CHAIN_VECTOR];
    struct analysis analysis;
    struct clew_error err;
    struct arena arena;

    if (!out) {
        fail("out of memory");
    }
    out->text = str_of(text);
    arena_init(&arena, (size_t)1 << 28);
    if (analysis_run(&arena, out->text, &options, &analysis, &err) != CLEW_OK ||
        chain_features_of(&arena, &analysis, 0, analysis.n_sentences,
                          i % 2 == 0, &out->features) != CLEW_OK ||
        embed_run(embedder, &out->text, 1, vector, &err) != CLEW_OK) {
        fail("analysis");
    }
    chain_vector_pack(vector, embedder->centre, &out->vector);
    out->subject = arena_str(lasting(), analysis_topic(&analysis));
    arena_release(&arena);
    return out;
}

static void add_turn(struct topic_talk *talk, const char *text, int topic)
{
    if (talk->count < TOPICS_MAX_TURNS) {
        talk->topics[talk->count] = topic;
        talk->turns[talk->count] = read_turn(text, talk->count);
        talk->count++;
    }
}

/* Four talks in a row. */
static void concatenate(const struct parts *parts, struct topic_talks *out)
{
    for (size_t i = 0; i + 4 <= parts->count; i += 2) {
        struct topic_talk *talk = add_talk(out);

        for (size_t k = 0; k < 4; k++) {
            const struct part *part = &parts->items[i + k];

            for (size_t t = 0; t < part->count; t++) {
                add_turn(talk, part->turns[t], (int)k);
            }
        }
    }
}

/* Three talks, `piece` turns of one after the other. */
static void interleave(const struct parts *parts, size_t piece,
                       struct topic_talks *out)
{
    for (size_t i = 0; i + 3 <= parts->count; i += 2) {
        struct topic_talk *talk = add_talk(out);
        size_t at[3] = {0};
        bool is_left = true;

        while (is_left) {
            is_left = false;
            for (size_t k = 0; k < 3; k++) {
                const struct part *part = &parts->items[i + k];

                for (size_t t = 0; t < piece && at[k] < part->count; t++) {
                    add_turn(talk, part->turns[at[k]++], (int)k);
                    is_left = true;
                }
            }
        }
    }
}

static struct topic_talks *new_set(struct topic_sets *sets, const char *name,
                                   bool is_check, float weight)
{
    struct topic_set *set = &sets->items[sets->count];

    if (sets->count++ == TOPICS_MAX_SETS) {
        fail("too many sets");
    }
    *set = (struct topic_set){.is_check = is_check, .weight = weight};
    (void)snprintf(set->name, sizeof(set->name), "%s", name);
    return &set->talks;
}

void topics_add_labelled(struct topic_sets *sets, const char *path)
{
    const char *base = strrchr(path, '/');
    struct topic_talks *talks = new_set(sets, base ? base + 1 : path, false, 1);
    struct parts parts = {0};

    load_labelled(path, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        struct topic_talk *talk = add_talk(talks);

        for (size_t t = 0; t < parts.items[i].count; t++) {
            add_turn(talk, parts.items[i].turns[t], parts.items[i].topics[t]);
        }
    }
    free(parts.items);
}

void topics_add_trees(struct topic_sets *sets, const char *path)
{
    struct parts all = {0};
    struct parts half[2] = {{0}, {0}};

    load_trees(path, &all);
    for (size_t i = 0; i < all.count; i++) {
        *add_part(&half[i % 2]) = all.items[i];
    }
    concatenate(&half[0], new_set(sets, "oasst-a row", false, 0.15f));
    interleave(&half[0], 2, new_set(sets, "oasst-a mixed", false, 0.15f));
    concatenate(&half[1], new_set(sets, "oasst-b row", true, 0.15f));
    interleave(&half[1], 2, new_set(sets, "oasst-b mixed", true, 0.15f));
    free(half[0].items);
    free(half[1].items);
    free(all.items);
}

void topics_add_daily(struct topic_sets *sets, const char *path)
{
    struct parts all = {0};

    load_daily(path, &all);
    concatenate(&all, new_set(sets, "daily row", false, 0.25f));
    interleave(&all, 4, new_set(sets, "daily mixed", false, 0.25f));
    free(all.items);
}

/* --- running ----------------------------------------------------------------
 */

void topic_room_init(struct topic_room *room)
{
    room->n_order = 0;
    room->n_chains = 0;
    chain_talk_init(&room->talk);
}

/* The chain moves to the front; the last of too many is closed. */
static void touch(struct topic_room *room, int chain)
{
    size_t at = 0;

    while (at < room->n_order && room->order[at] != chain) {
        at++;
    }
    if (at == room->n_order && room->n_order < CHAIN_MAX_OPEN) {
        room->n_order++;
    } else if (at == room->n_order) {
        at--;
    }
    memmove(room->order + 1, room->order, at * sizeof(room->order[0]));
    room->order[0] = chain;
}

static size_t by_seed(const struct topic_room *room,
                      const struct topic_turn *turn, int64_t now_ms)
{
    double best = 0.55;
    size_t out = CHAIN_NONE;

    for (size_t i = 0; i < room->n_order; i++) {
        int c = room->order[i];
        struct chain_seed_input input = {
            .shared_names =
                chain_shared_names(&turn->features, &room->states[c]),
            .subject = turn->subject,
            .topic = room->topics[c],
            .jaccard = chain_jaccard(&turn->features, &room->states[c]),
            .age_ms = now_ms - room->used_ms[c]};
        double distance = chain_seed_distance(&input);

        if (distance < best) {
            best = distance;
            out = i;
        }
    }
    return out;
}

void topic_room_views(const struct topic_room *room,
                      const struct chain_state **out)
{
    for (size_t i = 0; i < room->n_order; i++) {
        out[i] = &room->states[room->order[i]];
    }
}

static size_t by_points(const struct topic_room *room,
                        const struct topic_rules *rules,
                        const struct topic_turn *turn)
{
    const struct chain_state *chains[CHAIN_MAX_OPEN];
    struct chain_input input = {.turn = &turn->features,
                                .talk = &room->talk,
                                .chains = chains,
                                .n_chains = room->n_order,
                                .vector =
                                    rules->use_embedding ? &turn->vector : NULL,
                                .weights = &rules->weights};
    struct chain_decision decision;

    topic_room_views(room, chains);
    chain_decide(&input, &decision);
    if (decision.nearest == CHAIN_NONE ||
        decision.distance[decision.nearest] >= 0.55) {
        return CHAIN_NONE;
    }
    return decision.nearest;
}

int topic_room_choose(const struct topic_room *room,
                      const struct topic_rules *rules,
                      const struct topic_turn *turn, int64_t now_ms)
{
    size_t choice = rules->is_seed ? by_seed(room, turn, now_ms)
                                   : by_points(room, rules, turn);

    return choice == CHAIN_NONE ? (int)room->n_chains : room->order[choice];
}

void topic_room_put(struct topic_room *room, const struct topic_rules *rules,
                    const struct topic_turn *turn, int chain, int64_t now_ms)
{
    if ((size_t)chain == room->n_chains) {
        chain_state_init(&room->states[chain]);
        room->topics[chain] = turn->subject;
        room->n_chains++;
    }
    chain_state_add(&room->states[chain], &turn->features,
                    rules->use_embedding ? &turn->vector : NULL);
    room->used_ms[chain] = now_ms;
    touch(room, chain);
    chain_talk_add(&room->talk, &turn->features);
}

/* --- figures ----------------------------------------------------------------
 */

static double pairs(double x)
{
    return x * (x - 1) / 2;
}

static void cluster(const int *ref, const int *got, size_t n,
                    struct topic_figures *out)
{
    static int table[TOPICS_MAX_TURNS][TOPICS_MAX_TOPICS];
    double s = 0;
    double a = 0;
    double b = 0;
    double rows[TOPICS_MAX_TURNS] = {0};
    double columns[TOPICS_MAX_TOPICS] = {0};
    double e;
    double most;

    memset(table, 0, sizeof(table));
    for (size_t i = 0; i < n; i++) {
        table[got[i]][ref[i]]++;
        rows[got[i]]++;
        columns[ref[i]]++;
    }
    for (size_t g = 0; g < n; g++) {
        a += pairs(rows[g]);
        for (size_t r = 0; r < TOPICS_MAX_TOPICS; r++) {
            s += pairs(table[g][r]);
        }
    }
    for (size_t r = 0; r < TOPICS_MAX_TOPICS; r++) {
        b += pairs(columns[r]);
    }
    e = a * b / fmax(1, pairs((double)n));
    most = (a + b) / 2;
    out->ari += most != e ? (s - e) / (most - e) : 1;
    out->pair += a + b > 0 ? 2 * s / (a + b) : 1;
}

static double pk_of(const int *ref, const int *got, size_t n)
{
    double cuts = 0;
    double miss = 0;
    size_t k;

    for (size_t i = 1; i < n; i++) {
        cuts += ref[i] != ref[i - 1];
    }
    k = (size_t)nearbyint((double)n / (cuts + 1) / 2);
    k = k < 2 ? 2 : k;
    for (size_t i = 0; i + k < n; i++) {
        bool is_ref_cut = false;
        bool is_got_cut = false;

        for (size_t j = i + 1; j <= i + k; j++) {
            is_ref_cut = is_ref_cut || ref[j] != ref[j - 1];
            is_got_cut = is_got_cut || got[j] != got[j - 1];
        }
        miss += (ref[i] == ref[i + k] && !is_ref_cut) != !is_got_cut;
    }
    return miss / (n > k ? (double)(n - k) : 1);
}

static void show_error(const struct topic_talk *talk, size_t i, size_t last,
                       const char *what)
{
    const char *names[] = {"before: ", "pending:", "turn:   "};
    size_t at[] = {i - 1, last, i};

    printf("--- %s\n", what);
    for (size_t k = 0; k < 3; k++) {
        struct str text = talk->turns[at[k]]->text;

        printf("  %s %.*s\n", names[k], (int)text.len, text.s);
    }
}

/* What became of turns that return to an interrupted topic. */
static void returns(const struct topic_talk *talk, const int *got,
                    struct topic_figures *out, int *errors)
{
    for (size_t i = 1; i < talk->count; i++) {
        size_t last = i - 1;
        int most = -1;

        if (talk->topics[i] == talk->topics[i - 1]) {
            continue;
        }
        while (last > 0 && talk->topics[last] != talk->topics[i]) {
            last--;
        }
        if (talk->topics[last] != talk->topics[i]) {
            continue; /* it is new */
        }
        for (size_t k = 0; k < i; k++) {
            most = got[k] > most ? got[k] : most;
        }
        out->stay += got[i] == got[i - 1];
        out->right += got[i] != got[i - 1] && got[i] == got[last];
        out->fresh += got[i] > most;
        out->wrong +=
            got[i] != got[i - 1] && got[i] != got[last] && got[i] <= most;
        if (errors && *errors > 0 && got[i] != got[last]) {
            --*errors;
            show_error(talk, i, last,
                       got[i] == got[i - 1] ? "stayed"
                       : got[i] > most      ? "new"
                                            : "wrong");
        }
    }
}

static void measure_talk(const struct topic_talk *talk,
                         const struct topic_rules *rules,
                         struct topic_figures *out, int *errors)
{
    static struct topic_room room;
    int got[TOPICS_MAX_TURNS];
    int64_t start = clock_mono_ns();

    topic_room_init(&room);
    for (size_t i = 0; i < talk->count; i++) {
        int64_t now_ms = (int64_t)i * TOPICS_STEP_MS;

        got[i] = topic_room_choose(&room, rules, talk->turns[i], now_ms);
        topic_room_put(&room, rules, talk->turns[i], got[i], now_ms);
        if (i > 0) {
            bool is_ref = talk->topics[i] != talk->topics[i - 1];
            bool is_got = got[i] != got[i - 1];

            out->tp += is_ref && is_got;
            out->fp += !is_ref && is_got;
            out->fn += is_ref && !is_got;
        }
    }
    out->ns += clock_mono_ns() - start;
    out->turns += (int64_t)talk->count;
    out->pk += pk_of(talk->topics, got, talk->count);
    cluster(talk->topics, got, talk->count, out);
    returns(talk, got, out, errors);
    out->n++;
}

void topics_measure(const struct topic_talks *talks, size_t first, size_t end,
                    const struct topic_rules *rules, struct topic_figures *out,
                    int *errors)
{
    for (size_t i = first; i < end; i++) {
        measure_talk(&talks->items[i], rules, out, errors);
    }
}

double topic_figures_f1(const struct topic_figures *f)
{
    return 2 * f->tp / fmax(1, 2 * f->tp + f->fp + f->fn);
}

void topic_figures_print(const char *name, const struct topic_figures *f)
{
    printf("%-23s f1 %.3f (p %.3f r %.3f) pk %.3f ari %.3f pair %.3f n %.0f",
           name, topic_figures_f1(f), f->tp / fmax(1, f->tp + f->fp),
           f->tp / fmax(1, f->tp + f->fn), f->pk / f->n, f->ari / f->n,
           f->pair / f->n, f->n);
    if (f->right + f->wrong + f->fresh + f->stay > 0) {
        printf("  back: right %.0f wrong %.0f new %.0f stay %.0f", f->right,
               f->wrong, f->fresh, f->stay);
    }
    printf("  %.1f us\n", (double)f->ns / 1e3 / (double)f->turns);
}
