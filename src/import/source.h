/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - the files of an export: one, those in a folder, those in a .zip.
 *
 * Files come in the order of their names, those of a folder before its
 * folders, so that lists of users come before what they said. Links are not
 * followed.
 * Thread-safety: none.
 */
#ifndef IMPORT_SOURCE_H
#define IMPORT_SOURCE_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Folders in folders, and files of one export. */
#define SOURCE_MAX_DEPTH 24
#define SOURCE_MAX_FILES 1000000

struct source_ops {
    /* Whether to open a file on disk; NULL: all. */
    bool (*wants)(void *arg, const char *path, const struct stat *info);
    /* One file: `name` is its path, of a zip with its path inside behind it.
     * `is_only`: it was named itself and is no zip. `file` can be rewound only
     * then. */
    enum clew_status (*file)(void *arg, const char *name, FILE *file,
                             bool is_only, struct clew_error *err);
    void *arg;
};

/*
 * Hand every file that may be an export to `ops`; files whose names say they
 * are something else are counted in `*out_other` (may be NULL). Stops at the
 * first failure.
 */
enum clew_status source_each(const char *path, const struct source_ops *ops,
                             int64_t *out_other,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
