/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip.h - the files in a .zip, read as streams.
 *
 * Nothing is unpacked to disk and no file is held in memory. The archive is
 * somebody else's: counts, names, sizes and the ratio of packing have
 * ceilings, what an entry holds may not be more than its directory says, and
 * its checksum is looked at. Encrypted entries and methods other than store
 * and deflate are refused.
 * Thread-safety: none, in the whole process: directories are read into shared
 * buffers. One entry is open at a time.
 */
#ifndef IMPORT_ZIP_H
#define IMPORT_ZIP_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ZIP_MAX_ENTRIES 200000
#define ZIP_MAX_NAME 1024
#define ZIP_MAX_ENTRY_BYTES (16LL << 30)
/* Texts are rarely packed more than 30 to 1; a bomb is, 1000 to 1. */
#define ZIP_MAX_RATIO 300

struct zip_entry {
    char *name; /* with "/" between folders; never absolute, no ".." */
    int64_t packed_bytes;
    int64_t size_bytes;
    int64_t offset; /* of its local header */
    uint32_t crc;
    int method;
    bool is_encrypted;
};

struct zip {
    FILE *file;                /* borrowed; must be seekable */
    struct zip_entry *entries; /* by name */
    size_t n_entries;
    struct clew_error trouble; /* why a stream failed */
};

/* True if a file begins as an archive does; it stands at its beginning then. */
bool zip_is(FILE *file);
/* Read the directory. CLEW_INVALID for a file that is cut off or no archive,
 * CLEW_TOO_LARGE over a ceiling. The caller zip_close()s it, also on failure.
 */
enum clew_status zip_open(struct zip *zip, FILE *file,
                          struct clew_error *err) CLEW_MUST_CHECK;
void zip_close(struct zip *zip);
/*
 * The contents of an entry; the caller fclose()s it before the next. A fault in
 * the middle is a failed read (ferror()), and `zip->trouble` says which.
 */
enum clew_status zip_read(struct zip *zip, const struct zip_entry *entry,
                          FILE **out_file,
                          struct clew_error *err) CLEW_MUST_CHECK;

#endif
