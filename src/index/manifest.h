/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - the files of one tenant's index, and which of them are live.
 *
 * <dir>/manifest names the segments with their checksums, the removed documents
 * of each, and the change number all of it covers. Segments are <id>.seg,
 * removed documents <id>.<generation>.gone. Every file is written under
 * another name, synced and renamed, the manifest last: at any moment the
 * folder holds one whole index, and perhaps files nobody names, which the next
 * save removes.
 * Thread-safety: none; one writer per folder.
 */
#ifndef INDEX_MANIFEST_H
#define INDEX_MANIFEST_H

#include "index/segment.h"

#define MANIFEST_PATH_BYTES 4096
/* More segments than merging ever leaves. */
#define MANIFEST_MAX_SEGMENTS 1024

struct manifest {
    int64_t through;       /* change number covered */
    uint64_t next_file_id; /* never used before */
    uint64_t keep_file_id; /* being written: not to be swept away; 0 = none */
    struct segment **segments;
    size_t count;
};

/*
 * Open all live segments of the folder. CLEW_NOT_FOUND if there is no
 * manifest; CLEW_CORRUPT if anything is missing, damaged or of another kind.
 * The segments, each with a reference, and their list are the caller's.
 */
enum clew_status manifest_load(const char *dir, const struct segment_kind *kind,
                               struct manifest *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Only the change number, to see whether a writer has moved on; 0 if none. */
int64_t manifest_peek(const char *dir, const struct segment_kind *kind);

/*
 * Make `segments` (each with a file) the live ones, save what was removed from
 * them, then delete every other file of the folder.
 */
enum clew_status manifest_save(const char *dir, const struct segment_kind *kind,
                               struct manifest *manifest,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* "<dir>/<id>.seg"; false if it does not fit. */
bool manifest_segment_path(const char *dir, uint64_t file_id,
                           char out[MANIFEST_PATH_BYTES]);
/* Delete the folder's index files; what it holds becomes "nothing". */
void manifest_clear(const char *dir);

#endif
