/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.c - see talk.h.
 */
#include "support/talk.h"

#include "model/embed.h"
#include "model/embed_static.h"
#include "model/wordpiece.h"
#include "support/child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_WORDS = 60000, SUBJECT_WORDS = 40, MIN_WORDS = 8, MORE_WORDS = 13 };

static struct str words[N_WORDS];
static uint32_t n_words;
static double cumulative[N_WORDS];

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static double uniform(uint64_t bits)
{
    return (double)(bits >> 11) / 9007199254740992.0;
}

/* The whole words of the shipped embedder's vocabulary, common ones first. */
static void read_words(void)
{
    struct str file = embed_static_file();
    uint32_t at;
    uint32_t len;
    struct str vocabulary;
    size_t n;

    memcpy(&at, file.s + 24, sizeof(at)); /* see models/static.md */
    memcpy(&len, file.s + 28, sizeof(len));
    vocabulary = (struct str){file.s + at, len};
    n = wordpiece_split(vocabulary, words, N_WORDS);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < words[i].len && words[i].s[k] >= 'a' &&
               words[i].s[k] <= 'z') {
            k++;
        }
        if (k == words[i].len && k >= 2) {
            words[n_words++] = words[i];
        }
    }
    if (n_words < 1000) {
        bench_die("the embedder's vocabulary is not where it was");
    }
}

void talk_init(void)
{
    double sum = 0;

    read_words();
    for (int i = 0; i < N_WORDS; i++) {
        sum += 1 / pow(i + 2.7, 1.07); /* Mandelbrot, for English */
        cumulative[i] = sum;
    }
}

/* A word by how common it is. */
static uint32_t draw(uint64_t bits)
{
    double at = uniform(bits) * cumulative[N_WORDS - 1];
    uint32_t low = 0;
    uint32_t high = N_WORDS - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (cumulative[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Word `k` of turn `n`: of its chat's subject, or any. */
static uint32_t word_of(uint64_t n, uint64_t k)
{
    uint64_t bits = mix(n * 64 + k);
    uint64_t chat = n / TALK_CHAT_TURNS;

    if (bits % 5 < 2) {
        return draw(mix(~(chat * SUBJECT_WORDS + bits / 5 % SUBJECT_WORDS)));
    }
    return draw(mix(bits));
}

static uint64_t n_words_of(uint64_t n)
{
    return MIN_WORDS + mix(~n) % MORE_WORDS;
}

/* Past the known words: names like "lease4711". */
static void add_word(struct buf *out, uint32_t word)
{
    struct str known = words[word % n_words];

    (void)buf_append(out, known.s, known.len);
    if (word >= n_words) {
        buf_printf(out, "%u", word);
    }
}

void talk_turn(struct buf *out, uint64_t n)
{
    for (uint64_t k = 0; k < n_words_of(n); k++) {
        buf_append_cstr(out, k ? " " : "");
        add_word(out, word_of(n, k));
    }
}

void talk_question(struct buf *out, uint64_t n, uint64_t n_turns,
                   const char *between)
{
    uint64_t turn = mix(n ^ 0x5bd1e995) % n_turns;

    for (uint64_t k = 0; k < TALK_QUESTION_WORDS; k++) {
        buf_append_cstr(out, k ? between : "");
        add_word(out, word_of(turn, k));
    }
}

static void dump(const char *folder, const char *name, uint64_t count,
                 uint64_t n_turns)
{
    size_t dim = embed_static()->dim;
    float *vector = calloc(dim, sizeof(*vector));
    bool is_question = count != n_turns;
    char path[512];
    FILE *texts;
    FILE *vectors;

    (void)snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
    texts = fopen(path, "w");
    (void)snprintf(path, sizeof(path), "%s/%s.f32", folder, name);
    vectors = fopen(path, "w");
    if (!vector || !texts || !vectors) {
        bench_die("could not write there");
    }
    for (uint64_t i = 0; i < count; i++) {
        struct str text;
        struct buf buf;

        buf_init(&buf, 4096);
        if (is_question) {
            talk_question(&buf, i, n_turns, " ");
        } else {
            talk_turn(&buf, i);
        }
        text = buf_str(&buf);
        if (embed_run(embed_static(), &text, 1, vector, NULL) != CLEW_OK ||
            fprintf(texts, "%.*s\n", (int)text.len, text.s) < 0 ||
            fwrite(vector, sizeof(*vector), dim, vectors) != dim) {
            bench_die("could not write there");
        }
        buf_release(&buf);
    }
    if (fclose(texts) != 0 || fclose(vectors) != 0) {
        bench_die("could not write there");
    }
    free(vector);
}

void talk_dump(const char *folder, uint64_t n_turns, uint64_t n_questions)
{
    dump(folder, "turns", n_turns, n_turns);
    dump(folder, "questions", n_questions, n_turns);
}
