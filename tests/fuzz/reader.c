/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - fuzz: any bytes as the reader's file; one that is taken can be
 * run, and gives probabilities.
 */
#include "model/reader.h"

#include "base/alloc.h"
#include "model/reader_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const float *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(p[i] >= 0.0f && p[i] <= 1.0f)) {
            abort();
        }
    }
}

static void use(const struct reader *reader)
{
    static const struct reader_said turn = {{"user", 4},
                                            {"We ship it, aab. Zz?", 20}};
    static const struct reader_span spans[] = {{0, 16}, {16, 99}};
    static const struct reader_pair pair = {{"the cat?", 8}, {"a", 1}};
    struct reader_sentence out[2];
    struct reader_verdict verdict;
    struct arena arena;

    arena_init(&arena, 64u * 1024 * 1024);
    if (reader_read(reader, &arena, &turn, &turn, 1, spans, 2, out, NULL) ==
        CLEW_OK) {
        check(out[0].keep, READER_KEEPS);
        check(out[1].flag, READER_FLAGS);
        check(&out[0].goes_on, 1);
    }
    if (reader_compare(reader, &arena, READER_NOTE, &pair, 1, &verdict, NULL) ==
        CLEW_OK) {
        check(verdict.p, READER_NOTES);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* in memory of its own size, so that a read past it is seen */
    char *copy = alloc_copy((const char *)data, len);
    struct reader *reader = alloc_zero(1, sizeof(*reader));

    if (copy && reader) {
        reader->kernels = reader_kernels();
        if (reader_parse(reader, (struct str){copy, len}, NULL) == CLEW_OK) {
            use(reader);
        }
    }
    reader_close(reader);
    alloc_free(copy);
    return 0;
}
