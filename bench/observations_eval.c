/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observations_eval.c - how much of what others noted do artifacts cover?
 *
 * usage: observations_eval RECALL.json OBSERVATIONS.json [--print N SEED |
 *        --missed]
 * Covered: an artifact that cites the evidence turn holds at least 40 % of
 * the observation's content stems. Matching: an artifact shares two stems and
 * 30 % of its own with an observation of a turn it cites.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/extract.h"
#include "text/dates.h"

#include <ctype.h>
#include <libstemmer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEMS 128
#define MAX_ITEMS 200000

struct stems {
    char *items[MAX_STEMS];
    size_t n;
};

struct artifact {
    char *text;
    char *turn;
    const char *user;
    size_t ordinal; /* within its turn */
    const char *rule;
    enum extract_type type;
    struct stems stems;
    const char *cited[EXTRACT_MAX_CITES];
    size_t n_cited;
    bool is_matching;
};

static struct sb_stemmer *stemmer;
static const char stop_words[] =
    " a about after again all also am an and any are as at be because been "
    "before being but by can could did do does doing down during each few for "
    "from further had has have having he her here hers herself him himself his "
    "how i if in into is it its itself just me more most my myself no nor not "
    "now of off on once only or other our ours out over own same she should so "
    "some such than that the their theirs them themself themselves then there "
    "these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your yours "
    "yourself others s t re ve ll d m ";

static void stems_of(const char *text, struct stems *out)
{
    char word[64];
    size_t len = 0;

    out->n = 0;
    for (const char *p = text;; p++) {
        if (isalnum((unsigned char)*p) && len < 60) {
            word[len++] = (char)tolower((unsigned char)*p);
            continue;
        }
        if (len > 0) {
            char probe[70];

            word[len] = '\0';
            snprintf(probe, sizeof(probe), " %s ", word);
            if (!strstr(stop_words, probe) && out->n < MAX_STEMS) {
                const sb_symbol *stem =
                    sb_stemmer_stem(stemmer, (const sb_symbol *)word, (int)len);
                bool is_new = true;

                for (size_t i = 0; i < out->n; i++) {
                    is_new &= strcmp(out->items[i], (const char *)stem) != 0;
                }
                if (is_new) {
                    out->items[out->n++] = strdup((const char *)stem);
                }
            }
            len = 0;
        }
        if (!*p) {
            break;
        }
    }
}

static size_t shared(const struct stems *a, const struct stems *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < b->n; k++) {
            if (strcmp(a->items[i], b->items[k]) == 0) {
                n++;
                break;
            }
        }
    }
    return n;
}

static struct artifact *artifacts;
static size_t n_artifacts;

static void keep(const struct extract_item *item, const json_t *turns,
                 size_t at, const char *user, size_t ordinal)
{
    struct artifact *a = &artifacts[n_artifacts++];
    char text[8192];

    if (n_artifacts == MAX_ITEMS) {
        exit(1);
    }
    snprintf(text, sizeof(text), "%.*s", (int)item->summary.len,
             item->summary.s);
    a->text = strdup(text);
    a->rule = item->rule;
    a->user = user;
    a->ordinal = ordinal;
    a->type = item->type;
    a->turn = strdup(
        json_string_value(json_object_get(json_array_get(turns, at), "text")));
    stems_of(text, &a->stems);
    for (size_t i = 0; i < item->n_cites; i++) {
        a->cited[a->n_cited++] = json_string_value(json_object_get(
            json_array_get(turns, at - item->cites[i].back), "external_id"));
    }
}

/* All turns of a store, chat by chat, with up to eight turns of history. */
static void extract_store(struct arena *arena, const json_t *turns,
                          const char *user)
{
    size_t n = json_array_size(turns);
    struct extract_turn *all = calloc(n, sizeof(*all));
    struct intent *intents = calloc(n, sizeof(*intents));
    struct analysis *analyses = calloc(n, sizeof(*analyses));

    for (size_t i = 0; i < n; i++) {
        const json_t *turn = json_array_get(turns, i);
        const char *chat = json_string_value(json_object_get(turn, "chat"));
        struct extract_turn previous[8];
        struct intent_reading reading;
        size_t n_previous = 0;
        struct extract got;
        struct extract_input input;
        struct analysis_options options = {0};

        all[i].text = str_of(json_string_value(json_object_get(turn, "text")));
        all[i].speaker =
            str_of(json_string_value(json_object_get(turn, "name")));
        all[i].role = strcmp(json_string_value(json_object_get(turn, "role")),
                             "user") == 0
                          ? EXTRACT_USER
                          : EXTRACT_ASSISTANT;
        if (!clock_parse(
                str_of(json_string_value(json_object_get(turn, "created_at"))),
                &all[i].time_ms)) {
            exit(1);
        }
        options.time_ms = all[i].time_ms;
        options.speaker = all[i].speaker;
        analyses[i].text = all[i].text;
        if (tokens_of(arena, all[i].text, &analyses[i].tokens) != CLEW_OK ||
            !dates_of(arena, all[i].text, &analyses[i].tokens, &options,
                      &analyses[i].dates, &analyses[i].n_dates)) {
            exit(1);
        }
        for (size_t k = i; k > 0 && n_previous < 8; k--) {
            if (strcmp(chat, json_string_value(json_object_get(
                                 json_array_get(turns, k - 1), "chat"))) != 0) {
                break;
            }
            previous[n_previous++] = all[k - 1];
        }
        if (intent_read(arena, all[i].text, &reading) != CLEW_OK ||
            intent_decide(arena, &reading, n_previous ? &intents[i - 1] : NULL,
                          &intents[i]) != CLEW_OK) {
            exit(1);
        }
        all[i].pieces = reading.pieces;
        all[i].intent = &intents[i];
        all[i].analysis = &analyses[i];
        input = (struct extract_input){
            .turn = &all[i], .previous = previous, .n_previous = n_previous};
        if (extract_run(arena, &input, &got) != CLEW_OK) {
            exit(1);
        }
        for (size_t k = 0; k < got.n_items; k++) {
            keep(&got.items[k], turns, i, user, k);
        }
    }
    free(all);
    free(intents);
    free(analyses);
}

static bool cites(const struct artifact *a, const json_t *evidence)
{
    size_t i;
    json_t *id;

    json_array_foreach (evidence, i, id) {
        for (size_t k = 0; k < a->n_cited; k++) {
            if (strcmp(a->cited[k], json_string_value(id)) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool score_one(const json_t *obs, size_t from, bool show)
{
    const json_t *evidence = json_object_get(obs, "evidence");
    const char *text = json_string_value(json_object_get(obs, "text"));
    struct stems want;
    bool is_covered = false;

    stems_of(text, &want);
    for (size_t i = from; i < n_artifacts; i++) {
        struct artifact *a = &artifacts[i];
        size_t n;

        if (!cites(a, evidence)) {
            continue;
        }
        n = shared(&want, &a->stems);
        is_covered |= n * 10 >= want.n * 4;
        a->is_matching |= n >= 2 && n * 10 >= a->stems.n * 3;
    }
    if (show && !is_covered) {
        printf("MISSED %s %s\n", json_string_value(json_array_get(evidence, 0)),
               text);
        for (size_t i = from; i < n_artifacts; i++) {
            if (cites(&artifacts[i], evidence)) {
                printf("   HAS %s\n", artifacts[i].text);
            }
        }
    }
    return is_covered;
}

static void print_rules(void)
{
    const char *names[64];
    size_t counts[64][2] = {{0}};
    size_t n = 0;

    for (size_t i = 0; i < n_artifacts; i++) {
        size_t k = 0;

        while (k < n && strcmp(names[k], artifacts[i].rule) != 0) {
            k++;
        }
        if (k == n && n < 64) {
            names[n++] = artifacts[i].rule;
        }
        counts[k][0]++;
        counts[k][1] += artifacts[i].is_matching;
    }
    for (size_t k = 0; k < n; k++) {
        printf("  %-18s %5zu matching %.3f\n", names[k], counts[k][0],
               (double)counts[k][1] / (double)counts[k][0]);
    }
}

/* A sample without repeats, the same for the same seed. */
static bool print_sample(const char *count_text, const char *seed_text)
{
    static bool is_taken[MAX_ITEMS];
    int64_t count = 0;
    int64_t seed = 0;

    if (!str_parse_int(str_of(count_text), &count) ||
        !str_parse_int(str_of(seed_text), &seed) ||
        count > (int64_t)n_artifacts) {
        return false;
    }
    while (count > 0) {
        size_t at;
        const struct artifact *a;

        seed = (seed * 1103515245 + 12345) & 0x7fffffff;
        at = (size_t)(seed >> 4) % n_artifacts;
        a = &artifacts[at];
        if (is_taken[at]) {
            continue;
        }
        is_taken[at] = true;
        count--;
        printf("%s/%s/%zu [%s] %s %s\n     <- %s\n", a->user, a->cited[0],
               a->ordinal, a->rule, a->is_matching ? "m" : "-", a->text,
               a->turn);
    }
    return true;
}

int main(int argc, char **argv)
{
    json_t *recall = argc > 2 ? json_load_file(argv[1], 0, NULL) : NULL;
    json_t *notes = argc > 2 ? json_load_file(argv[2], 0, NULL) : NULL;
    bool show_missed = argc > 3 && strcmp(argv[3], "--missed") == 0;
    const json_t *stores = json_object_get(recall, "stores");
    const json_t *items = json_object_get(notes, "items");
    size_t n_turns = 0;
    size_t n_covered = 0;
    size_t n_notes = 0;
    size_t n_matching = 0;
    struct arena arena;
    size_t i;
    json_t *store;
    int64_t start = clock_mono_ns();
    int64_t spent = 0;

    if (!recall || !notes) {
        fprintf(stderr, "usage: observations_eval RECALL.json NOTES.json\n");
        return argc > 1 ? 2 : 0;
    }
    stemmer = sb_stemmer_new("english", NULL);
    artifacts = calloc(MAX_ITEMS, sizeof(*artifacts));
    arena_init(&arena, 1u << 30);
    json_array_foreach (stores, i, store) {
        const json_t *turns = json_object_get(store, "turns");
        const char *user = json_string_value(json_object_get(store, "user_id"));
        size_t from = n_artifacts;
        size_t k;
        json_t *obs;

        start = clock_mono_ns();
        extract_store(&arena, turns, user);
        spent += clock_mono_ns() - start;
        n_turns += json_array_size(turns);
        json_array_foreach (items, k, obs) {
            if (strcmp(json_string_value(json_object_get(obs, "user_id")),
                       user) == 0) {
                n_notes++;
                n_covered += score_one(obs, from, show_missed);
            }
        }
    }
    for (i = 0; i < n_artifacts; i++) {
        n_matching += artifacts[i].is_matching;
    }
    if (argc > 5 && strcmp(argv[3], "--print") == 0 &&
        !print_sample(argv[4], argv[5])) {
        return 2;
    }
    printf("covered %.3f matching %.3f artifacts %zu per 100 turns %.1f "
           "(%.1f us a turn)\n",
           (double)n_covered / (double)n_notes,
           (double)n_matching / (double)n_artifacts, n_artifacts,
           100.0 * (double)n_artifacts / (double)n_turns,
           (double)spent / 1e3 / (double)n_turns);
    print_rules();
    return 0;
}
