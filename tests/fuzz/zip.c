/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an archive: its directory and entries are read or refused. */
#include "import/zip.h"

#include <stdint.h>
#include <stdlib.h>

/* Of one entry: a bomb may go on, the test may not. */
#define MAX_READ (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_entry(struct zip *zip, const struct zip_entry *entry)
{
    struct clew_error err = {0};
    char part[4096];
    size_t n_read = 0;
    size_t n;
    FILE *file = NULL;

    if (zip_read(zip, entry, &file, &err) != CLEW_OK) {
        if (err.message[0] == '\0') {
            abort(); /* a fault without words */
        }
        return;
    }
    do {
        n = fread(part, 1, sizeof(part), file);
        n_read += n;
    } while (n > 0 && n_read < MAX_READ);
    if (ferror(file) && zip->trouble.message[0] == '\0') {
        abort();
    }
    if ((int64_t)n_read > entry->size_bytes + (int64_t)sizeof(part)) {
        abort(); /* more than was announced */
    }
    (void)fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct clew_error err = {0};
    struct zip zip;
    FILE *file;

    if (size == 0) {
        return 0;
    }
    file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!file) {
        return 0;
    }
    if (zip_open(&zip, file, &err) == CLEW_OK) {
        for (size_t i = 0; i < zip.n_entries && i < 64; i++) {
            read_entry(&zip, &zip.entries[i]);
        }
    } else if (err.message[0] == '\0') {
        abort();
    }
    zip_close(&zip);
    (void)fclose(file);
    return 0;
}
