/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_scan.c - fuzz: any bytes; what is found lies in the text and in
 * order, masking keeps length, valid UTF-8 and line breaks, and leaves nothing
 * to mask.
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "text/secret_scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str text = {(const char *)data, len};
    bool is_valid = utf8_is_valid(text);
    struct secret_span span;
    size_t count = 0;
    size_t n_masked;
    char *copy;

    for (size_t at = 0; secret_scan_find(text, at, &span); at = span.to) {
        require(span.from >= at && span.from < span.to && span.to <= len);
        require(secret_kind_name(span.kind)[0] != '\0');
        count++;
    }
    copy = malloc(len + 1);
    require(copy != NULL);
    memcpy(copy, data, len);
    n_masked = secret_scan_mask(copy, len);
    require(n_masked > 0 || memcmp(copy, data, len) == 0);
    require((count > 0) == (n_masked > 0));
    require(!is_valid || utf8_is_valid((struct str){copy, len}));
    for (size_t i = 0; i < len; i++) {
        require(copy[i] == (char)data[i] ||
                (copy[i] == '*' && data[i] != '\n'));
    }
    require(secret_scan_mask(copy, len) == 0);
    free(copy);
    return 0;
}
