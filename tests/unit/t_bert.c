/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_bert.c - a tiny encoder written to disk by the test, run by model/bert and
 * by a plain reference here; then the same folder damaged in many ways.
 *
 * tests/node/bert.test.mjs compares a real model with onnxruntime.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "model/bert.h"
#include "model/embed.h"
#include "model/model_store.h"
#include "model/safetensors.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIM 32
#define HEADS 4
#define INNER 48
#define LAYERS 2
#define POSITIONS 24
#define TOKENS 12
#define MAX_FLOATS 200000

static const char *const vocab[TOKENS] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                          "hello", "world", "a",     "##b",
                                          "c",     ".",     "the",   "cat"};

/* The model as the reference sees it, in the order it is written. */
struct tiny {
    struct buf header;
    struct buf data;
    uint32_t seed;
    float values[MAX_FLOATS];
    size_t n_values;
};

static char folder[256];

static float next_value(struct tiny *tiny)
{
    tiny->seed = tiny->seed * 1664525u + 1013904223u;
    return ((float)(tiny->seed >> 8) / (float)(1 << 24) - 0.5f) * 0.6f;
}

/* Add a tensor; norms' weights lie around 1. Returns where its values are. */
static void add_tensor(struct tiny *tiny, const char *name, size_t rows,
                       size_t cols)
{
    size_t count = rows * (cols ? cols : 1);
    size_t from = tiny->data.len;
    float base = strstr(name, "LayerNorm.weight") ? 1.0f : 0.0f;

    for (size_t i = 0; i < count; i++) {
        float value = base + next_value(tiny);

        tiny->values[tiny->n_values] = value;
        tiny->n_values++;
        (void)buf_append(&tiny->data, &value, 4);
    }
    (void)buf_printf(&tiny->header,
                     "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu",
                     tiny->header.len > 1 ? "," : "", name, rows);
    if (cols) {
        (void)buf_printf(&tiny->header, ",%zu", cols);
    }
    (void)buf_printf(&tiny->header, "],\"data_offsets\":[%zu,%zu]}", from,
                     tiny->data.len);
}

static void add_pair(struct tiny *tiny, const char *prefix, size_t rows,
                     size_t cols)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "%s.weight", prefix);
    add_tensor(tiny, name, rows, cols);
    (void)snprintf(name, sizeof(name), "%s.bias", prefix);
    add_tensor(tiny, name, rows, 0);
}

static void add_layer(struct tiny *tiny, size_t layer)
{
    static const struct {
        const char *name;
        size_t rows;
        size_t cols;
    } parts[] = {{"attention.self.query", DIM, DIM},
                 {"attention.self.key", DIM, DIM},
                 {"attention.self.value", DIM, DIM},
                 {"attention.output.dense", DIM, DIM},
                 {"attention.output.LayerNorm", DIM, 0},
                 {"intermediate.dense", INNER, DIM},
                 {"output.dense", DIM, INNER},
                 {"output.LayerNorm", DIM, 0}};
    char name[128];

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        (void)snprintf(name, sizeof(name), "encoder.layer.%zu.%s", layer,
                       parts[i].name);
        add_pair(tiny, name, parts[i].rows, parts[i].cols);
    }
}

static void write_file(const char *name, const char *bytes, size_t len)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static const char config_text[] =
    "{\"model_type\":\"bert\",\"hidden_size\":32,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":4,\"intermediate_size\":48,"
    "\"max_position_embeddings\":24,\"vocab_size\":12,"
    "\"hidden_act\":\"gelu\",\"layer_norm_eps\":1e-12}";

static void write_weights(const struct tiny *tiny)
{
    uint64_t len = tiny->header.len;
    struct buf file;

    buf_init(&file, 1 << 24);
    (void)buf_append(&file, &len, 8);
    (void)buf_append_str(&file, buf_str(&tiny->header));
    (void)buf_append_str(&file, buf_str(&tiny->data));
    write_file("model.safetensors", file.data, file.len);
    buf_release(&file);
}

static void write_vocab(void)
{
    struct buf text;

    buf_init(&text, 4096);
    for (size_t i = 0; i < TOKENS; i++) {
        (void)buf_printf(&text, "%s\n", vocab[i]);
    }
    write_file("vocab.txt", text.data, text.len);
    buf_release(&text);
}

static int make_model(void **state)
{
    struct tiny *tiny = alloc_zero(1, sizeof(*tiny));

    assert_non_null(tiny);
    (void)snprintf(folder, sizeof(folder), "/tmp/clew-bert-XXXXXX");
    assert_non_null(mkdtemp(folder));
    buf_init(&tiny->header, 1 << 20);
    buf_init(&tiny->data, 1 << 24);
    tiny->seed = 42;
    (void)buf_append_char(&tiny->header, '{');
    add_tensor(tiny, "embeddings.word_embeddings.weight", TOKENS, DIM);
    add_tensor(tiny, "embeddings.position_embeddings.weight", POSITIONS, DIM);
    add_tensor(tiny, "embeddings.token_type_embeddings.weight", 2, DIM);
    add_pair(tiny, "embeddings.LayerNorm", DIM, 0);
    for (size_t i = 0; i < LAYERS; i++) {
        add_layer(tiny, i);
    }
    (void)buf_append_char(&tiny->header, '}');
    write_weights(tiny);
    write_vocab();
    write_file("config.json", config_text, sizeof(config_text) - 1);
    *state = tiny;
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int flag,
                        struct FTW *ftw)
{
    (void)info;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int drop_model(void **state)
{
    struct tiny *tiny = *state;

    buf_release(&tiny->header);
    buf_release(&tiny->data);
    alloc_free(tiny);
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* --- the reference ------------------------------------------------------- */

static void ref_dense(const float *w, size_t n_out, size_t n_in,
                      const double *in, double *out)
{
    for (size_t o = 0; o < n_out; o++) {
        out[o] = (double)w[n_out * n_in + o];
        for (size_t i = 0; i < n_in; i++) {
            out[o] += (double)w[o * n_in + i] * in[i];
        }
    }
}

static void ref_norm(const float *w, double *x)
{
    double mean = 0;
    double var = 0;

    for (size_t i = 0; i < DIM; i++) {
        mean += x[i] / DIM;
    }
    for (size_t i = 0; i < DIM; i++) {
        var += (x[i] - mean) * (x[i] - mean) / DIM;
    }
    for (size_t i = 0; i < DIM; i++) {
        x[i] = (x[i] - mean) / sqrt(var + 1e-12) * (double)w[i] +
               (double)w[DIM + i];
    }
}

static void ref_attend(size_t n, double q[][DIM], double k[][DIM],
                       double v[][DIM], double out[][DIM])
{
    size_t width = DIM / HEADS;

    for (size_t i = 0; i < n; i++) {
        for (size_t h = 0; h < HEADS; h++) {
            double p[POSITIONS];
            double sum = 0;

            for (size_t j = 0; j < n; j++) {
                double score = 0;

                for (size_t d = h * width; d < (h + 1) * width; d++) {
                    score += q[i][d] * k[j][d];
                }
                p[j] = exp(score / sqrt((double)width));
                sum += p[j];
            }
            for (size_t d = h * width; d < (h + 1) * width; d++) {
                out[i][d] = 0;
                for (size_t j = 0; j < n; j++) {
                    out[i][d] += p[j] / sum * v[j][d];
                }
            }
        }
    }
}

static void ref_layer(const float *w, size_t n, double x[][DIM])
{
    static double q[POSITIONS][DIM], k[POSITIONS][DIM], v[POSITIONS][DIM];
    static double mixed[POSITIONS][DIM];
    size_t square = DIM * DIM + DIM;
    const float *norm1 = w + 4 * square;
    const float *inner = norm1 + 2 * DIM;
    const float *outer = inner + INNER * DIM + INNER;
    const float *norm2 = outer + DIM * INNER + DIM;

    for (size_t i = 0; i < n; i++) {
        ref_dense(w, DIM, DIM, x[i], q[i]);
        ref_dense(w + square, DIM, DIM, x[i], k[i]);
        ref_dense(w + 2 * square, DIM, DIM, x[i], v[i]);
    }
    ref_attend(n, q, k, v, mixed);
    for (size_t i = 0; i < n; i++) {
        double tmp[DIM];
        double wide[INNER];

        ref_dense(w + 3 * square, DIM, DIM, mixed[i], tmp);
        for (size_t d = 0; d < DIM; d++) {
            x[i][d] += tmp[d];
        }
        ref_norm(norm1, x[i]);
        ref_dense(inner, INNER, DIM, x[i], wide);
        for (size_t d = 0; d < INNER; d++) {
            wide[d] *= 0.5 * (1 + erf(wide[d] / sqrt(2.0)));
        }
        ref_dense(outer, DIM, INNER, wide, tmp);
        for (size_t d = 0; d < DIM; d++) {
            x[i][d] += tmp[d];
        }
        ref_norm(norm2, x[i]);
    }
}

/* The unit vector of ids with specials; `first` pools the first token. */
static void reference(const struct tiny *tiny, const int *ids, size_t n,
                      int first, double out[DIM])
{
    static double x[POSITIONS][DIM];
    const float *words = tiny->values;
    const float *positions = words + TOKENS * DIM;
    const float *types = positions + POSITIONS * DIM;
    const float *norm = types + 2 * DIM;
    const float *layer = norm + 2 * DIM;
    size_t layer_size = 4 * (DIM * DIM + DIM) + 2 * DIM + INNER * DIM + INNER +
                        DIM * INNER + DIM + 2 * DIM;
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < DIM; d++) {
            x[i][d] = (double)words[(size_t)ids[i] * DIM + d] +
                      (double)positions[i * DIM + d] + (double)types[d];
        }
        ref_norm(norm, x[i]);
    }
    for (size_t l = 0; l < LAYERS; l++) {
        ref_layer(layer + l * layer_size, n, x);
    }
    for (size_t d = 0; d < DIM; d++) {
        out[d] = 0;
        for (size_t i = 0; i < (first ? 1 : n); i++) {
            out[d] += x[i][d];
        }
        squares += out[d] * out[d];
    }
    for (size_t d = 0; d < DIM; d++) {
        out[d] /= sqrt(squares);
    }
}

/* --- tests --------------------------------------------------------------- */

static struct embedder *open_model(void)
{
    struct embedder *embedder = NULL;
    struct clew_error err = {0};

    if (bert_open(folder, "tiny", &embedder, &err) != CLEW_OK) {
        print_error("%s\n", err.message);
    }
    assert_non_null(embedder);
    return embedder;
}

static double cosine(const float *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < DIM; i++) {
        sum += (double)a[i] * b[i];
    }
    return sum;
}

static const struct {
    const char *text;
    int ids[POSITIONS];
    size_t n;
} cases[] = {
    {"hello world", {2, 4, 5, 3}, 4},
    {"", {2, 3}, 2},
    {"The CAT ab c.", {2, 10, 11, 6, 7, 8, 9, 3}, 8},
    {"zebra", {2, 1, 3}, 3},
    /* longer than the model's 24 positions: cut, the end mark stays */
    {"a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
     {2, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 3},
     24},
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void check_against_reference(const struct tiny *tiny, int first)
{
    struct embedder *e = open_model();
    struct str texts[N_CASES];
    float out[N_CASES * DIM];

    assert_int_equal(e->dim, DIM);
    for (size_t i = 0; i < N_CASES; i++) {
        texts[i] = str_of(cases[i].text);
    }
    assert_int_equal(embed_run(e, texts, N_CASES, out, NULL), CLEW_OK);
    for (size_t i = 0; i < N_CASES; i++) {
        double want[DIM];

        reference(tiny, cases[i].ids, cases[i].n, first, want);
        assert_true(cosine(out + i * DIM, want) > 0.999999);
    }
    embed_free(e);
}

static void vectors_agree_with_a_plain_reference(void **state)
{
    check_against_reference(*state, 0);
}

static void pooling_by_first_token_is_honoured(void **state)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/1_Pooling", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file("1_Pooling/config.json", "{\"pooling_mode_cls_token\":true}",
               31);
    check_against_reference(*state, 1);
    (void)snprintf(path, sizeof(path), "%s/1_Pooling/config.json", folder);
    assert_int_equal(unlink(path), 0);
}

static void a_tokenizer_json_serves_as_vocabulary(void **state)
{
    char path[512];
    struct buf text;

    buf_init(&text, 8192);
    (void)buf_append_cstr(&text,
                          "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{");
    for (size_t i = 0; i < TOKENS; i++) {
        (void)buf_printf(&text, "%s\"%s\":%zu", i ? "," : "", vocab[i], i);
    }
    (void)buf_append_cstr(&text, "}}}");
    write_file("tokenizer.json", text.data, text.len);
    (void)snprintf(path, sizeof(path), "%s/vocab.txt", folder);
    assert_int_equal(unlink(path), 0);
    check_against_reference(*state, 0);
    write_file("tokenizer.json", "{\"model\":{\"vocab\":{\"a\":99}}}", 29);
    {
        struct embedder *e = NULL;

        assert_int_equal(bert_open(folder, "t", &e, NULL), CLEW_INVALID);
    }
    (void)snprintf(path, sizeof(path), "%s/tokenizer.json", folder);
    assert_int_equal(unlink(path), 0);
    write_vocab();
    buf_release(&text);
}

static void bad_configurations_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"model_type\":\"roberta\",\"hidden_size\":32,\"num_hidden_layers\":"
        "2,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":24,\"vocab_size\":12}",
        "{\"hidden_size\":33,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":24,\"vocab_size\":12}",
        "{\"hidden_size\":64,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":24,\"vocab_size\":12}",
        "{\"hidden_size\":32,\"num_hidden_layers\":3,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":24,\"vocab_size\":12}",
        "{\"hidden_size\":32,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":25,\"vocab_size\":12}",
        "{\"hidden_size\":1e9,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":4,\"intermediate_size\":48,"
        "\"max_position_embeddings\":24,\"vocab_size\":12}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct embedder *e = NULL;

        write_file("config.json", bad[i], strlen(bad[i]));
        assert_int_not_equal(bert_open(folder, "t", &e, NULL), CLEW_OK);
        assert_null(e);
    }
    write_file("config.json", config_text, sizeof(config_text) - 1);
}

static void hostile_headers_are_refused(void **state)
{
    static const char *const headers[] = {
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,16]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
        "\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,2],"
        "\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}",
        "{\"t\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}",
        "{\"t\":7}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        uint64_t len = strlen(headers[i]);
        struct safetensors *tensors = NULL;
        struct safetensors_tensor tensor;
        struct buf file;

        buf_init(&file, 4096);
        (void)buf_append(&file, &len, 8);
        (void)buf_append(&file, headers[i], len);
        (void)buf_append(&file, "12345678", 8);
        assert_int_equal(safetensors_new(buf_str(&file), &tensors, NULL),
                         CLEW_OK);
        assert_int_not_equal(safetensors_find(tensors, "t", &tensor, NULL),
                             CLEW_OK);
        safetensors_free(tensors);
        len = 1u << 30;
        memcpy(file.data, &len, 8);
        assert_int_equal(safetensors_new(buf_str(&file), &tensors, NULL),
                         CLEW_CORRUPT);
        buf_release(&file);
    }
}

static void halves_read_as_the_floats_they_stand_for(void **state)
{
    static const uint16_t half[] = {0x0000, 0x8000, 0x3C00, 0xC000,
                                    0x0001, 0x03FF, 0x7BFF, 0x3555};
    static const float want[] = {0.0f,     -0.0f,        1.0f,     -2.0f,
                                 0x1p-24f, 0x1.ff8p-15f, 65504.0f, 0x1.554p-2f};
    struct safetensors_tensor tensor = {.type = SAFETENSORS_F16,
                                        .bytes = (const char *)half};
    float got[8];

    (void)state;
    safetensors_read(&tensor, 0, 8, got);
    assert_memory_equal(got, want, sizeof(got));
    tensor.type = SAFETENSORS_BF16;
    safetensors_read(&tensor, 2, 1, got);
    assert_true(got[0] == 0.0078125f);
}

static void models_are_added_used_and_removed(void **state)
{
    char data[300];
    char name[MODEL_NAME_SIZE];
    char path[512];
    struct embedder *e = NULL;
    json_t *list = NULL;

    (void)state;
    (void)snprintf(data, sizeof(data), "%s/data", folder);
    assert_int_equal(mkdir(data, 0700), 0);
    assert_int_equal(model_store_add(data, folder, "tiny-1", name, NULL),
                     CLEW_OK);
    assert_string_equal(name, "tiny-1");
    assert_int_equal(model_store_add(data, folder, "tiny-1", name, NULL),
                     CLEW_CONFLICT);
    assert_int_equal(model_store_open(data, NULL, &e, NULL), CLEW_OK);
    assert_ptr_equal(e, embed_static());
    assert_int_equal(model_store_use(data, "tiny-1", NULL), CLEW_OK);
    assert_int_equal(model_store_open(data, NULL, &e, NULL), CLEW_OK);
    assert_string_equal(e->ops->kind, "bert");
    assert_memory_equal(e->id, "tiny-1@", 7);
    embed_free(e);
    assert_int_equal(model_store_list(data, &list, NULL), CLEW_OK);
    assert_int_equal(json_array_size(list), 2);
    assert_true(
        json_is_true(json_object_get(json_array_get(list, 1), "in_use")));
    json_decref(list);
    assert_int_equal(model_store_remove(data, "tiny-1", NULL), CLEW_CONFLICT);
    /* a changed file is noticed */
    (void)snprintf(path, sizeof(path), "data/models/tiny-1/config.json");
    write_file(path, config_text, sizeof(config_text) - 2);
    assert_int_equal(model_store_open(data, "tiny-1", &e, NULL), CLEW_CORRUPT);
    assert_int_equal(model_store_use(data, "static", NULL), CLEW_OK);
    assert_int_equal(model_store_remove(data, "tiny-1", NULL), CLEW_OK);
    assert_int_equal(model_store_use(data, "tiny-1", NULL), CLEW_NOT_FOUND);
}

static void names_cannot_leave_the_folder(void **state)
{
    static const char *const bad[] = {"..", "../x", "a/b", "/abs", ".hidden",
                                      "",   "A",    "a b", "-x",   "x\ny"};
    char name[MODEL_NAME_SIZE];
    char data[300];
    struct embedder *e = NULL;

    (void)state;
    (void)snprintf(data, sizeof(data), "%s/data", folder);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(model_store_add(data, folder, bad[i], name, NULL),
                         CLEW_INVALID);
        assert_int_equal(model_store_use(data, bad[i], NULL), CLEW_INVALID);
        assert_int_equal(model_store_remove(data, bad[i], NULL), CLEW_INVALID);
        assert_int_equal(model_store_open(data, bad[i], &e, NULL),
                         CLEW_INVALID);
    }
}

static void links_in_a_model_folder_are_not_followed(void **state)
{
    char path[512];
    char name[MODEL_NAME_SIZE];
    char data[300];

    (void)state;
    (void)snprintf(data, sizeof(data), "%s/data", folder);
    (void)snprintf(path, sizeof(path), "%s/tokenizer_config.json", folder);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_equal(model_store_add(data, folder, "linked", name, NULL),
                     CLEW_INVALID);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_agree_with_a_plain_reference),
        cmocka_unit_test(pooling_by_first_token_is_honoured),
        cmocka_unit_test(a_tokenizer_json_serves_as_vocabulary),
        cmocka_unit_test(bad_configurations_are_refused),
        cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(halves_read_as_the_floats_they_stand_for),
        cmocka_unit_test(models_are_added_used_and_removed),
        cmocka_unit_test(names_cannot_leave_the_folder),
        cmocka_unit_test(links_in_a_model_folder_are_not_followed),
    };

    return cmocka_run_group_tests(tests, make_model, drop_model);
}
