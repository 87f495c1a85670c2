/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file.h - the files of a model folder: mapped, read as JSON, hashed.
 *
 * Only plain files are opened, never through a symbolic link at the end of the
 * path. Thread-safety: pure functions.
 */
#ifndef MODEL_MODEL_FILE_H
#define MODEL_MODEL_FILE_H

#include "base/sha256.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>

/* Largest file of weights, and of JSON or vocabulary. */
#define MODEL_FILE_MAX_WEIGHTS (4ULL << 30)
#define MODEL_FILE_MAX_TEXT (32u * 1024 * 1024)

/* "folder/name"; longer than a path may be is CLEW_TOO_LARGE. */
#define MODEL_PATH_SIZE 4096
enum clew_status model_file_path(const char *folder, const char *name,
                                 char out[MODEL_PATH_SIZE],
                                 struct clew_error *err) CLEW_MUST_CHECK;
bool model_file_exists(const char *folder, const char *name);
/* Map a file; model_file_unmap() gives it back. An empty file is CLEW_CORRUPT.
 */
enum clew_status model_file_map(const char *folder, const char *name,
                                uint64_t max_bytes, struct str *out,
                                struct clew_error *err) CLEW_MUST_CHECK;
void model_file_unmap(struct str file);
/* Parse a JSON object; the caller json_decref()s it. */
enum clew_status model_file_json(const char *folder, const char *name,
                                 json_t **out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status model_file_hash(const char *folder, const char *name,
                                 char out[SHA256_HEX_SIZE],
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
