/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an export: read to the end or refused, messages in order. */
#include "import_sink.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct importer *importer = NULL;
    struct clew_error err = {0};
    enum import_format format;
    FILE *file;

    if (size == 0) {
        return 0;
    }
    file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!file) {
        return 0;
    }
    if (importer_new(&import_sink, NULL, &importer, &err) == CLEW_OK &&
        import_read(importer, file, IMPORT_UNKNOWN, &format, &err) != CLEW_OK &&
        err.message[0] == '\0') {
        abort(); /* a fault without words */
    }
    importer_free(importer);
    (void)fclose(file);
    return 0;
}
