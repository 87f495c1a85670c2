/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_reader_file.c - the reader's file: what is cut off, lies of its sizes,
 * holds wild values or is no file at all is refused with a reason.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "model/reader.h"
#include "model/safetensors.h"
#include "support/reader_file.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const struct reader_model small = {.dim = 32,
                                          .inner = 64,
                                          .heads = 2,
                                          .layers = 2,
                                          .read_layer = 1,
                                          .n_tokens = 64,
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

static void expect_corrupt(const char *bytes, size_t len)
{
    struct reader *reader = NULL;
    struct clew_error err = {0};

    reader_file_write(bytes, len);
    assert_int_equal(reader_open(reader_file_path, &reader, &err),
                     CLEW_CORRUPT);
    assert_true(err.message[0] != '\0');
    assert_null(reader);
}

static void truncated_files_are_corrupt(void **state)
{
    (void)state;
    for (size_t len = 0; len < reader_file_bytes.len;
         len += len < 64 ? 1 : 911) {
        expect_corrupt(reader_file_bytes.data, len);
    }
    expect_corrupt(reader_file_bytes.data, reader_file_bytes.len - 1);
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

/* The file with the first `from` of its header made `to`, which is no longer;
 * blanks fill up. */
static void expect_bad_header(const char *from, const char *to)
{
    struct str file = buf_str(&reader_file_bytes);
    size_t at = str_find(file, str_of(from), 0);
    char *copy = alloc_copy(reader_file_bytes.data, reader_file_bytes.len);

    assert_non_null(copy);
    assert_true(at < reader_file_bytes.len && strlen(to) <= strlen(from));
    memset(copy + at, ' ', strlen(from));
    memcpy(copy + at, to, strlen(to));
    expect_corrupt(copy, reader_file_bytes.len);
    alloc_free(copy);
}

static void lying_headers_are_corrupt(void **state)
{
    static const char *const lies[][2] = {
        {"\"clew-reader-1\"", "\"clew-reader-2\""},
        {"\"heads\":\"2\"", "\"heads\":\"0\""},
        {"\"heads\":\"2\"", "\"heads\":\"3\""},
        {"\"heads\":\"2\"", "\"heads\":\"4\""},
        {"\"heads\":\"2\"", "\"heads\":2"},
        {"\"heads\":\"2\"", "\"heads\":\"x\""},
        {"\"read_layer\":\"1\"", "\"read_layer\":\"3\""},
        {"\"read_layer\":\"1\"", "\"read_layer\":\"-\""},
        {"\"epsilon\":\"1e-12\"", "\"epsilon\":\"nan\""},
        {"\"epsilon\":\"1e-12\"", "\"epsilon\":\"0\""},
        {"\"epsilon\":\"1e-12\"", "\"epsilon\":\"1x\""},
        {"__metadata__", "__metabata__"},
        {"[64,32]", "[32,64]"},
        {"[64,32]", "[2048]"},
        {"[64,32]", "[-4,32]"},
        {"[64,32]", "[6,3.2]"},
        {"\"shape\":[96,32]", "\"shape\":[32,96]"},
        {"\"I8\"", "\"U8\""},
        {"\"F32\"", "\"F64\""},
        {"\"F32\"", "\"I8\""},
        {"embed.words.scale", "embed.words.skale"},
        {"embed.positions", "embed.position"},
        {"embed.types", "embed.type"},
        {"embed.norm.bias", "embed.norm.bia"},
        {"layer.0.qkv\"", "layer.0.qkw\""},
        {"layer.1.qkv\"", "layer.1.qkw\""},
        {"layer.1.outer.scale", "layer.1.outer.skale"},
        {"layer.1.attention_norm.weight", "layer.1.attention_norm.wait"},
        {"head.keep\"", "head.keeq\""},
        {"head.matter.bias", "head.matter.bia"},
        {"\"vocab\"", "\"vocal\""},
        {"\"data_offsets\":[0,2048]", "\"data_offsets\":[0,2047]"},
        {"\"data_offsets\":[0,2048]", "\"data_offsets\":[2048,0]"},
        {"\"data_offsets\":[0,2048]", "\"data_offsets\":[-1,204]"},
        {"\"data_offsets\":[2048,2304]", "\"data_offsets\":[2049,2305]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        expect_bad_header(lies[i][0], lies[i][1]);
    }
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

static void values_out_of_range_are_corrupt(void **state)
{
    static const char *const names[] = {
        "embed.words.scale",      "embed.positions", "layer.0.qkv.scale",
        "layer.1.outer.bias",     "head.note",       "head.keep.bias",
        "layer.1.outer_norm.bias"};
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e5f, -1e5f};
    char *copy = alloc_copy(reader_file_bytes.data, reader_file_bytes.len);
    struct safetensors *tensors = NULL;

    (void)state;
    assert_non_null(copy);
    assert_int_equal(safetensors_new((struct str){copy, reader_file_bytes.len},
                                     &tensors, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
            struct safetensors_tensor tensor;
            char *at;
            float kept;

            assert_int_equal(safetensors_find(tensors, names[i], &tensor, NULL),
                             CLEW_OK);
            at = copy + (tensor.bytes - copy) + (tensor.count - 1) * 4;
            memcpy(&kept, at, sizeof(kept));
            memcpy(at, &bad[b], sizeof(bad[b]));
            expect_corrupt(copy, reader_file_bytes.len);
            memcpy(at, &kept, sizeof(kept));
        }
    }
    safetensors_free(tensors);
    alloc_free(copy);
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

static void vocabularies_must_fit(void **state)
{
    static const char *const words[] = {"[UNK]", "[CLS]", "[SEP]"};
    char *copy = alloc_copy(reader_file_bytes.data, reader_file_bytes.len);
    size_t vocab =
        str_find(buf_str(&reader_file_bytes), STR("[PAD]\n[UNK]\n"), 0);

    (void)state;
    assert_non_null(copy);
    for (size_t i = 0; i < 3; i++) {
        size_t at =
            str_find(buf_str(&reader_file_bytes), str_of(words[i]), vocab);

        copy[at + 1] = 'X';
        expect_corrupt(copy, reader_file_bytes.len);
        memcpy(copy, reader_file_bytes.data, reader_file_bytes.len);
    }
    copy[vocab] = '\n'; /* a line too many */
    expect_corrupt(copy, reader_file_bytes.len);
    alloc_free(copy);
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

static void what_is_no_file_is_not_opened(void **state)
{
    struct reader *reader = NULL;
    struct clew_error err = {0};
    char other[160];
    static char longest[8192];

    (void)state;
    (void)snprintf(other, sizeof(other), "%s/none.bin", reader_file_folder);
    assert_int_equal(reader_open(other, &reader, &err), CLEW_NOT_FOUND);
    assert_int_equal(reader_open("", &reader, &err), CLEW_CORRUPT);
    assert_int_equal(reader_open(reader_file_folder, &reader, &err),
                     CLEW_CORRUPT);
    memset(longest, 'a', sizeof(longest) - 1);
    longest[5000] = '/';
    assert_int_equal(reader_open(longest, &reader, &err), CLEW_NOT_FOUND);
    (void)snprintf(other, sizeof(other), "%s/link.bin", reader_file_folder);
    assert_int_equal(symlink(reader_file_path, other), 0);
    assert_int_equal(reader_open(other, &reader, &err), CLEW_CORRUPT);
    assert_int_equal(unlink(other), 0);
    assert_null(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_files_are_corrupt),
        cmocka_unit_test(lying_headers_are_corrupt),
        cmocka_unit_test(values_out_of_range_are_corrupt),
        cmocka_unit_test(vocabularies_must_fit),
        cmocka_unit_test(what_is_no_file_is_not_opened),
    };

    return cmocka_run_group_tests(tests, make_model, drop_model);
}
