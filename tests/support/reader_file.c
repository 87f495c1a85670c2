/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_file.c - see reader_file.h.
 */
#include "support/reader_file.h"

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

char reader_file_folder[64];
char reader_file_path[128];
struct buf reader_file_bytes;

void reader_file_write(const char *bytes, size_t len)
{
    FILE *file = fopen(reader_file_path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

void reader_file_make(const struct reader_model *model)
{
    (void)snprintf(reader_file_folder, sizeof(reader_file_folder),
                   "/tmp/clew-reader-XXXXXX");
    assert_non_null(mkdtemp(reader_file_folder));
    (void)snprintf(reader_file_path, sizeof(reader_file_path), "%s/reader.bin",
                   reader_file_folder);
    buf_init(&reader_file_bytes, 1 << 24);
    assert_true(reader_model_write(model, &reader_file_bytes));
    reader_file_write(reader_file_bytes.data, reader_file_bytes.len);
}

int reader_file_drop(void)
{
    buf_release(&reader_file_bytes);
    (void)unlink(reader_file_path);
    return rmdir(reader_file_folder);
}
