/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader.c - the reader on a small model with random weights: against a
 * plain computation of the same model here, against itself on every variant
 * of this processor, on hostile text. t_reader_file.c breaks the file.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "model/reader.h"
#include "model/safetensors.h"
#include "support/reader_file.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define DIM 32
#define INNER 64
#define HEADS 2
#define LAYERS 2
#define READ_LAYER 1
#define TOKENS 64
#define ARENA_BYTES (16u * 1024 * 1024)

static const struct reader_model small = {.dim = DIM,
                                          .inner = INNER,
                                          .heads = HEADS,
                                          .layers = LAYERS,
                                          .read_layer = READ_LAYER,
                                          .n_tokens = TOKENS,
                                          .seed = 11};

static int make_model(void **state)
{
    (void)state;
    reader_file_make(&small);
    return 0;
}

static int drop_model(void **state)
{
    (void)state;
    return reader_file_drop();
}

static struct reader *open_model(void)
{
    struct reader *reader = NULL;
    struct clew_error err = {0};

    if (reader_open(reader_file_path, &reader, &err) != CLEW_OK) {
        print_error("%s\n", err.message);
    }
    assert_non_null(reader);
    return reader;
}

/* --- a plain computation of the model ------------------------------------ */

#define MAX_ROWS 64

static struct safetensors *plain;

static void get(const char *prefix, const char *suffix, size_t from,
                size_t count, float *out)
{
    struct safetensors_tensor tensor;
    char name[64];

    (void)snprintf(name, sizeof(name), "%s%s", prefix, suffix);
    assert_int_equal(safetensors_find(plain, name, &tensor, NULL), CLEW_OK);
    assert_true(from + count <= tensor.count);
    safetensors_read(&tensor, from, count, out);
}

/* Round the input to int8 by its own scale, multiply, scale. */
static void ref_dense(const char *name, size_t n_out, size_t n_in,
                      const double *in, double *out)
{
    double top = 0;

    for (size_t i = 0; i < n_in; i++) {
        top = fmax(top, fabs(in[i]));
    }
    for (size_t o = 0; o < n_out; o++) {
        float weights[INNER];
        float scale;
        float bias;
        double sum = 0;

        get(name, "", o * n_in, n_in, weights);
        get(name, ".scale", o, 1, &scale);
        get(name, ".bias", o, 1, &bias);
        for (size_t i = 0; i < n_in; i++) {
            sum += (double)weights[i] * rint(in[i] * 127 / top);
        }
        out[o] = sum * (top / 127 * (double)scale) + (double)bias;
    }
}

static void ref_norm(const char *name, double *x)
{
    float weight[DIM];
    float bias[DIM];
    double mean = 0;
    double var = 0;

    get(name, ".weight", 0, DIM, weight);
    get(name, ".bias", 0, DIM, bias);
    for (size_t i = 0; i < DIM; i++) {
        mean += x[i] / DIM;
    }
    for (size_t i = 0; i < DIM; i++) {
        var += (x[i] - mean) * (x[i] - mean) / DIM;
    }
    for (size_t i = 0; i < DIM; i++) {
        x[i] = (x[i] - mean) / sqrt(var + 1e-12) * (double)weight[i] +
               (double)bias[i];
    }
}

static void ref_attend(size_t n, double qkv[][3 * DIM], double out[][DIM])
{
    size_t width = DIM / HEADS;

    for (size_t i = 0; i < n; i++) {
        for (size_t at = 0; at < DIM; at += width) {
            double p[MAX_ROWS];
            double sum = 0;

            for (size_t j = 0; j < n; j++) {
                double score = 0;

                for (size_t d = at; d < at + width; d++) {
                    score += qkv[i][d] * qkv[j][DIM + d];
                }
                p[j] = exp(score / sqrt((double)width));
                sum += p[j];
            }
            for (size_t d = at; d < at + width; d++) {
                out[i][d] = 0;
                for (size_t j = 0; j < n; j++) {
                    out[i][d] += p[j] / sum * qkv[j][2 * DIM + d];
                }
            }
        }
    }
}

static void ref_layer(size_t layer, size_t n, double x[][DIM])
{
    static double qkv[MAX_ROWS][3 * DIM];
    static double mixed[MAX_ROWS][DIM];
    char names[6][32];
    static const char *const parts[6] = {"qkv",   "attention", "attention_norm",
                                         "inner", "outer",     "outer_norm"};

    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "layer.%zu.%s", layer,
                       parts[i]);
    }
    for (size_t i = 0; i < n; i++) {
        ref_dense(names[0], 3 * DIM, DIM, x[i], qkv[i]);
    }
    ref_attend(n, qkv, mixed);
    for (size_t i = 0; i < n; i++) {
        double add[DIM];
        double wide[INNER];

        ref_dense(names[1], DIM, DIM, mixed[i], add);
        for (size_t d = 0; d < DIM; d++) {
            x[i][d] += add[d];
        }
        ref_norm(names[2], x[i]);
        ref_dense(names[3], INNER, DIM, x[i], wide);
        for (size_t d = 0; d < INNER; d++) {
            wide[d] *= 0.5 * (1 + erf(wide[d] / sqrt(2.0)));
        }
        ref_dense(names[4], DIM, INNER, wide, add);
        for (size_t d = 0; d < DIM; d++) {
            x[i][d] += add[d];
        }
        ref_norm(names[5], x[i]);
    }
}

/* The token's id by its line in the vocabulary. */
static size_t id_of(struct str token)
{
    struct safetensors_tensor tensor;
    struct str rest;
    struct str line;
    size_t id = 0;

    assert_int_equal(safetensors_find(plain, "vocab", &tensor, NULL), CLEW_OK);
    rest = (struct str){tensor.bytes, tensor.count};
    while (str_split(&rest, '\n', &line)) {
        if (str_eq(line, token)) {
            return id;
        }
        id++;
    }
    fail_msg("no token \"%.*s\"", (int)token.len, token.s);
    return 0;
}

/* Tokens, separated by blanks, through `layers` layers; a type changes after
 * the first [SEP]. Returns their number. */
static size_t ref_run(const char *tokens, size_t layers, double x[][DIM])
{
    struct str rest = str_of(tokens);
    struct str token;
    size_t type = 0;
    size_t n = 0;

    while (str_split(&rest, ' ', &token)) {
        size_t id = id_of(token);
        float words[DIM], position[DIM], types[DIM], scale;

        get("embed.words", "", id * DIM, DIM, words);
        get("embed.words", ".scale", id, 1, &scale);
        get("embed.positions", "", n * DIM, DIM, position);
        get("embed.types", "", type * DIM, DIM, types);
        for (size_t d = 0; d < DIM; d++) {
            x[n][d] = (double)words[d] * (double)scale + (double)position[d] +
                      (double)types[d];
        }
        ref_norm("embed.norm", x[n]);
        type |= str_eq(token, STR("[SEP]"));
        n++;
        assert_true(n < MAX_ROWS);
    }
    for (size_t l = 0; l < layers; l++) {
        ref_layer(l, n, x);
    }
    return n;
}

/* What a head says of the mean of rows [from, to). */
static void check_head(const char *head, size_t n, double x[][DIM], size_t from,
                       size_t to, const float *got)
{
    bool is_choice = n > 1 && strcmp(head, "head.flag") != 0;
    double logits[8];
    double sum = 0;

    for (size_t o = 0; o < n; o++) {
        float weights[DIM];
        float bias;

        get(head, "", o * DIM, DIM, weights);
        get(head, ".bias", o, 1, &bias);
        logits[o] = (double)bias;
        for (size_t d = 0; d < DIM; d++) {
            double mean = 0;

            for (size_t r = from; r < to; r++) {
                mean += x[r][d] / (double)(to - from);
            }
            logits[o] += mean * (double)weights[d];
        }
        sum += exp(logits[o]);
    }
    for (size_t o = 0; o < n; o++) {
        double want =
            is_choice ? exp(logits[o]) / sum : 1 / (1 + exp(-logits[o]));

        assert_true(fabs(want - (double)got[o]) < 1e-4);
    }
}

static void a_turn_is_read_as_the_contract_says(void **state)
{
    static const char text[] = "We will ship it. The cat, aab?";
    static const struct reader_said turn = {{"User", 4},
                                            {text, sizeof(text) - 1}};
    static const struct reader_said before[] = {
        {{"user", 4}, {"Not on Monday?", 14}}, {{"a", 1}, {"s.", 2}}};
    static const struct reader_span spans[] = {{0, 16}, {16, 30}};
    static double x[MAX_ROWS][DIM];
    struct reader *reader = open_model();
    struct reader_sentence out[2];
    struct arena arena;
    size_t n;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(safetensors_new(buf_str(&reader_file_bytes), &plain, NULL),
                     CLEW_OK);
    assert_int_equal(
        reader_read(reader, &arena, &turn, before, 2, spans, 2, out, NULL),
        CLEW_OK);
    n = ref_run("[CLS] user : not on monday ? a : s . [SEP] "
                "user : we will ship it . the cat , a ##a ##b ? [SEP]",
                READ_LAYER, x);
    assert_int_equal(n, 27);
    for (size_t i = 0; i < 2; i++) {
        size_t from = i == 0 ? 14 : 19, to = i == 0 ? 19 : 26;

        check_head("head.keep", 7, x, from, to, out[i].keep);
        check_head("head.flag", 4, x, from, to, out[i].flag);
        check_head("head.about", 4, x, from, to, out[i].about);
        check_head("head.act", 6, x, from, to, out[i].act);
        check_head("head.goes", 1, x, 14, n, &out[i].goes_on);
    }
    safetensors_free(plain);
    arena_release(&arena);
    reader_close(reader);
}

static void pairs_are_compared_as_the_contract_says(void **state)
{
    static const struct {
        const char *head;
        size_t n;
    } kinds[READER_PAIR_KINDS] = {{"head.answer", 1},
                                  {"head.note", 5},
                                  {"head.ending", 5},
                                  {"head.matter", 1},
                                  {"head.newer", 1}};
    static const struct reader_pair pair = {{"the cat?", 8},
                                            {"we ship it on monday.", 21}};
    static double x[MAX_ROWS][DIM];
    struct reader *reader = open_model();
    struct arena arena;
    size_t n;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(safetensors_new(buf_str(&reader_file_bytes), &plain, NULL),
                     CLEW_OK);
    n = ref_run("[CLS] the cat ? [SEP] we ship it on monday . [SEP]", LAYERS,
                x);
    for (size_t k = 0; k < READER_PAIR_KINDS; k++) {
        struct reader_verdict out;

        memset(&out, 0xFF, sizeof(out));
        assert_int_equal(reader_compare(reader, &arena,
                                        (enum reader_pair_kind)k, &pair, 1,
                                        &out, NULL),
                         CLEW_OK);
        check_head(kinds[k].head, kinds[k].n, x, 0, n, out.p);
        for (size_t i = kinds[k].n; i < READER_MAX_OUTCOMES; i++) {
            assert_true(out.p[i] == 0.0f);
        }
    }
    safetensors_free(plain);
    arena_release(&arena);
    reader_close(reader);
}

/* --- the same everywhere ------------------------------------------------- */

/* Words the model knows and some it does not. */
static size_t make_text(char *out, size_t n_words, uint32_t seed)
{
    static const char *const words[] = {"the", "cat", "we.", "ship", "it,",
                                        "aab", "on",  "zz",  "not?", "bs"};
    size_t len = 0;

    for (size_t i = 0; i < n_words; i++) {
        seed = seed * 1664525u + 1013904223u;
        len += (size_t)snprintf(out + len, 8, "%s ", words[(seed >> 20) % 10]);
    }
    return len;
}

#define MANY 40

static void verdicts_do_not_depend_on_the_batch(void **state)
{
    static const char *const cpus[] = {"scalar", "dotprod", "i8mm",
                                       "avx2",   "vnni",    "amx"};
    static char texts[2 * MANY][2048];
    struct reader_pair pairs[MANY];
    struct reader_verdict first[MANY];
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < MANY; i++) {
        pairs[i].a.s = texts[2 * i];
        pairs[i].a.len = make_text(texts[2 * i], i * 7 % 100, (uint32_t)i);
        pairs[i].b.s = texts[2 * i + 1];
        pairs[i].b.len =
            make_text(texts[2 * i + 1], i * 11 % 160, (uint32_t)i + 99);
    }
    for (size_t c = 0; c < sizeof(cpus) / sizeof(cpus[0]); c++) {
        struct reader_verdict all[MANY];
        struct reader *reader;

        assert_int_equal(setenv("CLEW_CPU", cpus[c], 1), 0);
        reader = open_model();
        assert_int_equal(
            reader_compare(reader, &arena, READER_NOTE, pairs, MANY, all, NULL),
            CLEW_OK);
        if (c == 0) {
            memcpy(first, all, sizeof(first));
        }
        assert_memory_equal(all, first, sizeof(all));
        for (size_t i = 0; i < MANY; i++) {
            struct reader_verdict one;

            arena_clear(&arena);
            assert_int_equal(reader_compare(reader, &arena, READER_NOTE,
                                            &pairs[i], 1, &one, NULL),
                             CLEW_OK);
            assert_memory_equal(&one, &first[i], sizeof(one));
        }
        reader_close(reader);
    }
    assert_int_equal(unsetenv("CLEW_CPU"), 0);
    arena_release(&arena);
}

static bool is_chance(const float *p, size_t n, bool is_choice)
{
    float sum = 0.0f;

    for (size_t i = 0; i < n; i++) {
        if (!(p[i] >= 0.0f && p[i] <= 1.0f)) {
            return false;
        }
        sum += p[i];
    }
    return !is_choice || fabsf(sum - 1.0f) < 1e-5f;
}

static void check_sentence(const struct reader_sentence *s)
{
    assert_true(is_chance(s->keep, READER_KEEPS, true));
    assert_true(is_chance(s->flag, READER_FLAGS, false));
    assert_true(is_chance(s->about, READER_ABOUTS, true));
    assert_true(is_chance(s->act, READER_ACTS, true));
}

static bool is_unread(const struct reader_sentence *s)
{
    return s->keep[READER_KEEP_NONE] == 1.0f &&
           s->act[READER_ACT_NONE] == 1.0f &&
           s->about[READER_ABOUT_THING] == 1.0f && s->flag[0] == 0.0f;
}

/* Sentences that fit one pass together are read as in that pass alone. */
static void long_turns_are_read_in_stretches(void **state)
{
    enum { SENTENCES = 60, WORDS = 12, PER_PASS = 14 };
    static char text[SENTENCES * WORDS * 8];
    struct reader_span spans[SENTENCES];
    struct reader_sentence all[SENTENCES];
    struct reader_said turn = {STR("user"), {text, 0}};
    struct reader *reader = open_model();
    struct arena arena;
    size_t n = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < SENTENCES; i++) {
        spans[i].from = (uint32_t)turn.text.len;
        for (size_t w = 0; w < WORDS; w++) { /* 18 tokens */
            turn.text.len += (size_t)snprintf(text + turn.text.len, 8, "%s",
                                              w % 2 ? "cat, " : "we ");
        }
        spans[i].to = (uint32_t)turn.text.len;
    }
    assert_int_equal(reader_read(reader, &arena, &turn, NULL, 0, spans,
                                 SENTENCES, all, NULL),
                     CLEW_OK);
    /* [CLS] [SEP] user : and [SEP] leave room for 13 sentences of 18 */
    while (n < SENTENCES) {
        struct reader_sentence some[PER_PASS];
        size_t count = SENTENCES - n < 13 ? SENTENCES - n : 13;

        arena_clear(&arena);
        assert_int_equal(reader_read(reader, &arena, &turn, NULL, 0, spans + n,
                                     count, some, NULL),
                         CLEW_OK);
        assert_memory_equal(some, all + n, count * sizeof(some[0]));
        n += count;
    }
    arena_release(&arena);
    reader_close(reader);
}

static void only_the_end_of_what_was_said_before_counts(void **state)
{
    static char book[200000];
    struct reader_said turn = {STR("user"), STR("we ship it")};
    struct reader_said before[3] = {
        {STR("user"), STR("not the cat")}, {STR("a"), {book, 0}}, {{0}, {0}}};
    struct reader_span span = {0, 10};
    struct reader_sentence one;
    struct reader_sentence other;
    struct reader *reader = open_model();
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    before[1].text.len = make_text(book, 30000, 5);
    assert_int_equal(
        reader_read(reader, &arena, &turn, before, 3, &span, 1, &one, NULL),
        CLEW_OK);
    before[0].text = STR("monday");
    before[1].text =
        str_sub(before[1].text, before[1].text.len - 1000, before[1].text.len);
    assert_int_equal(
        reader_read(reader, &arena, &turn, before, 3, &span, 1, &other, NULL),
        CLEW_OK);
    assert_memory_equal(&one, &other, sizeof(one));
    assert_int_equal(
        reader_read(reader, &arena, &turn, NULL, 0, &span, 1, &other, NULL),
        CLEW_OK);
    assert_memory_not_equal(&one, &other, sizeof(one));
    arena_release(&arena);
    reader_close(reader);
}

/* --- hostile text -------------------------------------------------------- */

#define HUGE_BYTES (1u << 20)

static void hostile_text_is_bounded(void **state)
{
    static char huge[HUGE_BYTES];
    static const char *const bits[] = {
        "a",
        " ",
        "cat ",
        ".",
        "\xFF",
        "\x00\x01\x02",
        "\xE4\xBD\xA0",
        "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7 ",
        "\xF0\x9F\x98\x80",
        "\xE0\xA4\xA8\xE0\xA4\xAE ",
        "\xCC\x81",
        "[SEP] "};
    struct reader *reader = open_model();
    struct reader_span span = {0, UINT32_MAX};
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
        size_t len = b == 5 ? 3 : strlen(bits[b]);
        struct str text = {huge, HUGE_BYTES};
        struct reader_said turn = {text, text};
        struct reader_said before = {text, text};
        struct reader_pair pair = {text, text};
        struct reader_sentence out;
        struct reader_verdict verdict;

        for (size_t i = 0; i < HUGE_BYTES; i++) {
            huge[i] = bits[b][i % len];
        }
        arena_clear(&arena);
        assert_int_equal(reader_read(reader, &arena, &turn, &before, 1, &span,
                                     1, &out, NULL),
                         CLEW_OK);
        check_sentence(&out);
        assert_int_equal(reader_compare(reader, &arena, READER_ENDING, &pair, 1,
                                        &verdict, NULL),
                         CLEW_OK);
        assert_true(is_chance(verdict.p, READER_ENDINGS, true));
    }
    arena_release(&arena);
    reader_close(reader);
}

static void every_script_and_odd_spans_are_read(void **state)
{
    static char text[4096 * 4];
    struct reader_span spans[] = {{0, 16}, {16, 8},         {5, 5},
                                  {9, 10}, {UINT32_MAX, 0}, {3, UINT32_MAX},
                                  {0, 0},  {0, UINT32_MAX}};
    struct reader_sentence out[8];
    struct reader *reader = open_model();
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (uint32_t page = 0; page < 0x110000; page += 0x1000) {
        struct reader_said turn = {STR("user"), {text, 0}};

        for (uint32_t c = page; c < page + 0x1000; c += 3) {
            if (c < 0xD800 || c > 0xDFFF) {
                char *to = text + turn.text.len;

                to[0] = (char)(0xF0 | c >> 18);
                to[1] = (char)(0x80 | (c >> 12 & 63));
                to[2] = (char)(0x80 | (c >> 6 & 63));
                to[3] = (char)(0x80 | (c & 63));
                turn.text.len += 4;
            }
        }
        arena_clear(&arena);
        assert_int_equal(
            reader_read(reader, &arena, &turn, &turn, 1, spans, 8, out, NULL),
            CLEW_OK);
        for (size_t i = 0; i < 8; i++) {
            check_sentence(&out[i]);
        }
        assert_true(is_unread(&out[1]) && is_unread(&out[2]) &&
                    is_unread(&out[4]) && is_unread(&out[6]));
    }
    arena_release(&arena);
    reader_close(reader);
}

static void a_hundred_thousand_sentences_are_bounded(void **state)
{
    enum { COUNT = 100000 };
    static char text[HUGE_BYTES];
    struct reader_span *spans = alloc_zero(COUNT, sizeof(*spans));
    struct reader_sentence *out = alloc_zero(COUNT, sizeof(*out));
    struct reader_said turn = {STR("user"), {text, HUGE_BYTES}};
    struct reader *reader = open_model();
    struct arena arena;

    (void)state;
    assert_non_null(spans);
    assert_non_null(out);
    for (size_t i = 0; i < HUGE_BYTES; i++) {
        text[i] = "cat. "[i % 5];
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        spans[i] = (struct reader_span){i * 10, i * 10 + 9};
    }
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(
        reader_read(reader, &arena, &turn, NULL, 0, spans, COUNT, out, NULL),
        CLEW_OK);
    assert_false(is_unread(&out[READER_MAX_SENTENCES - 1]));
    for (size_t i = READER_MAX_SENTENCES; i < COUNT; i++) {
        assert_true(is_unread(&out[i]));
    }
    /* each a pass of its own: only so many are made */
    for (uint32_t i = 0; i < COUNT; i++) {
        spans[i] = (struct reader_span){0, HUGE_BYTES};
    }
    assert_int_equal(
        reader_read(reader, &arena, &turn, NULL, 0, spans, COUNT, out, NULL),
        CLEW_OK);
    assert_false(is_unread(&out[READER_MAX_PASSES - 1]));
    assert_true(is_unread(&out[READER_MAX_PASSES]));
    arena_release(&arena);
    reader_close(reader);
    alloc_free(spans);
    alloc_free(out);
}

static void nothing_is_a_text_too(void **state)
{
    struct reader *reader = open_model();
    struct reader_said turn = {{0}, {0}};
    struct reader_pair pair = {{0}, {0}};
    struct reader_span span = {0, 0};
    struct reader_sentence out;
    struct reader_verdict verdict;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(
        reader_read(reader, &arena, &turn, NULL, 0, NULL, 0, NULL, NULL),
        CLEW_OK);
    assert_int_equal(
        reader_read(reader, &arena, &turn, &turn, 1, &span, 1, &out, NULL),
        CLEW_OK);
    assert_true(is_unread(&out));
    assert_int_equal(
        reader_compare(reader, &arena, READER_MATTER, NULL, 0, NULL, NULL),
        CLEW_OK);
    assert_int_equal(
        reader_compare(reader, &arena, READER_MATTER, &pair, 1, &verdict, NULL),
        CLEW_OK);
    assert_true(is_chance(verdict.p, 1, false));
    arena_release(&arena);
    reader_close(reader);
}

static void half_of_the_words_must_be_known(void **state)
{
    struct reader *reader = open_model();

    (void)state;
    assert_true(reader_knows(reader, STR("")));
    assert_true(reader_knows(reader, STR("we ship it")));
    assert_true(reader_knows(reader, STR("ship \xe5\x88\x87")));
    assert_false(reader_knows(reader, STR("ship \xe5\x88\x87\xe7\xac\xa6")));
    reader_close(reader);
}

/* Random weights of any bytes: whatever they are, chances come out. */
static void wild_weights_give_chances(void **state)
{
    struct reader_said turn = {STR("user"), STR("we ship it. aab")};
    struct reader_pair pair = {STR("the cat?"), STR("not on monday")};
    struct reader_span span = {0, 15};
    char *copy = alloc_copy(reader_file_bytes.data, reader_file_bytes.len);
    struct safetensors *tensors = NULL;
    static const char *const names[] = {
        "layer.0.qkv.scale",     "layer.0.inner.scale", "layer.0.outer.scale",
        "layer.1.outer.scale",   "embed.words.scale",   "head.keep",
        "layer.0.attention.bias"};
    static const float wild[] = {1e4f, -1e4f, 0.0f, 1e-38f, -1e-45f};

    (void)state;
    assert_non_null(copy);
    assert_int_equal(safetensors_new((struct str){copy, reader_file_bytes.len},
                                     &tensors, NULL),
                     CLEW_OK);
    for (size_t b = 0; b < sizeof(wild) / sizeof(wild[0]); b++) {
        struct reader_sentence out;
        struct reader_verdict verdict;
        struct reader *reader;
        struct arena arena;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            struct safetensors_tensor tensor;

            assert_int_equal(safetensors_find(tensors, names[i], &tensor, NULL),
                             CLEW_OK);
            for (size_t k = 0; k < tensor.count; k++) {
                memcpy(copy + (tensor.bytes - copy) + k * 4, &wild[b], 4);
            }
        }
        reader_file_write(copy, reader_file_bytes.len);
        reader = open_model();
        arena_init(&arena, ARENA_BYTES);
        assert_int_equal(
            reader_read(reader, &arena, &turn, &turn, 1, &span, 1, &out, NULL),
            CLEW_OK);
        check_sentence(&out);
        assert_int_equal(reader_compare(reader, &arena, READER_NOTE, &pair, 1,
                                        &verdict, NULL),
                         CLEW_OK);
        assert_true(is_chance(verdict.p, READER_NOTES, true));
        arena_release(&arena);
        reader_close(reader);
    }
    safetensors_free(tensors);
    alloc_free(copy);
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

/* --- memory -------------------------------------------------------------- */

static enum clew_status use_once(size_t limit_bytes)
{
    struct reader_said turn = {STR("user"), STR("we ship it. aab")};
    struct reader_pair pair = {STR("the cat?"), STR("not on monday")};
    struct reader_span span = {0, 15};
    struct reader_sentence out;
    struct reader_verdict verdict;
    struct reader *reader = NULL;
    struct arena arena;
    enum clew_status status = reader_open(reader_file_path, &reader, NULL);

    if (status != CLEW_OK) {
        assert_null(reader);
        return status;
    }
    arena_init(&arena, limit_bytes);
    status = reader_read(reader, &arena, &turn, NULL, 0, &span, 1, &out, NULL);
    if (status == CLEW_OK) {
        status = reader_compare(reader, &arena, READER_NOTE, &pair, 1, &verdict,
                                NULL);
    }
    arena_release(&arena);
    reader_close(reader);
    return status;
}

static void running_out_of_memory_is_an_answer(void **state)
{
    int64_t live = alloc_live_count();
    bool fired = true;

    (void)state;
    json_setup();
    for (uint64_t n = 1; fired; n++) {
        enum clew_status status;

        alloc_fail_at(n);
        status = use_once(ARENA_BYTES);
        fired = alloc_fail_fired() != 0;
        alloc_fail_at(0);
        assert_int_equal(alloc_live_count(), live);
        if (!fired) {
            assert_int_equal(status, CLEW_OK);
        } else if (status != CLEW_NO_MEMORY) {
            /* what fails inside the JSON library reads as bad JSON */
            assert_int_equal(status, CLEW_CORRUPT);
        }
    }
    for (size_t limit = 0; limit < 400000; limit += 9973) {
        enum clew_status status = use_once(limit);

        assert_true(status == CLEW_OK || status == CLEW_NO_MEMORY);
        assert_int_equal(alloc_live_count(), live);
    }
}

static void an_id_names_the_file(void **state)
{
    struct reader *reader = open_model();
    char first[64];

    (void)state;
    (void)snprintf(first, sizeof(first), "%s", reader_id(reader));
    assert_memory_equal(first, "clew-reader-1@", 14);
    assert_int_equal(strlen(first), 26);
    reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_read_as_the_contract_says),
        cmocka_unit_test(pairs_are_compared_as_the_contract_says),
        cmocka_unit_test(verdicts_do_not_depend_on_the_batch),
        cmocka_unit_test(long_turns_are_read_in_stretches),
        cmocka_unit_test(only_the_end_of_what_was_said_before_counts),
        cmocka_unit_test(hostile_text_is_bounded),
        cmocka_unit_test(every_script_and_odd_spans_are_read),
        cmocka_unit_test(a_hundred_thousand_sentences_are_bounded),
        cmocka_unit_test(nothing_is_a_text_too),
        cmocka_unit_test(half_of_the_words_must_be_known),
        cmocka_unit_test(wild_weights_give_chances),
        cmocka_unit_test(running_out_of_memory_is_an_answer),
        cmocka_unit_test(an_id_names_the_file),
    };

    return cmocka_run_group_tests(tests, make_model, drop_model);
}
