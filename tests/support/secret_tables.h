/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_tables.h - tables of texts in which «…» marks what must be masked.
 */
#ifndef SUPPORT_SECRET_TABLES_H
#define SUPPORT_SECRET_TABLES_H

#include "support/test.h"

#include "text/secret_scan.h"

#include <stdio.h>
#include <string.h>

#define SECRET_OPEN "\xC2\xAB"
#define SECRET_CLOSE "\xC2\xBB"

/* The text without its marks, and with stars between them. */
static inline void plain_of(const char *marked, char *plain, char *masked)
{
    bool is_inside = false;

    while (*marked) {
        if (strncmp(marked, SECRET_OPEN, 2) == 0 ||
            strncmp(marked, SECRET_CLOSE, 2) == 0) {
            is_inside = strncmp(marked, SECRET_OPEN, 2) == 0;
            marked += 2;
            continue;
        }
        *plain++ = *marked;
        *masked++ = is_inside ? '*' : *marked;
        marked++;
    }
    *plain = '\0';
    *masked = '\0';
}

/* How many of the texts are masked otherwise than they are marked. */
static inline int n_wrong_of(const char *const *texts, size_t count)
{
    int n_wrong = 0;

    for (size_t i = 0; i < count; i++) {
        char plain[512];
        char want[512];

        plain_of(texts[i], plain, want);
        (void)secret_scan_mask(plain, strlen(plain));
        /* a line's end stays */
        for (size_t k = 0; plain[k]; k++) {
            want[k] = plain[k] == '\n' ? '\n' : want[k];
        }
        if (strcmp(plain, want) != 0) {
            print_message("want %s\n  is %s\n", want, plain);
            n_wrong++;
        }
        assert_int_equal(secret_scan_mask(plain, strlen(plain)), 0);
    }
    return n_wrong;
}

/* How many of the texts are not as they were. */
static inline int n_masked_of(const char *const *texts, size_t count)
{
    int n_wrong = 0;

    for (size_t i = 0; i < count; i++) {
        char text[512];

        (void)snprintf(text, sizeof(text), "%s", texts[i]);
        if (secret_scan_mask(text, strlen(text)) != 0) {
            print_message("masked %s\n    of %s\n", text, texts[i]);
            n_wrong++;
        }
    }
    return n_wrong;
}

#endif
