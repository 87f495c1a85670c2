/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_store.h - the encoders of a data folder: add, list, use, remove.
 *
 * A model lives in DATA/models/NAME with a manifest of its files' SHA-256.
 * Adding copies the known files of a Hugging Face folder, checks the copy,
 * opens it once as a proof, and only then gives it its name; an interrupted
 * add leaves nothing that counts. DATA/models/current names the one in use;
 * without it the shipped model serves.
 * Thread-safety: none; the command line calls it, one process at a time.
 */
#ifndef MODEL_MODEL_STORE_H
#define MODEL_MODEL_STORE_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>

struct embedder;

/* Names are lower-case letters, digits, '.', '_' and '-', and begin with a
 * letter or digit. "static" is the shipped model's. */
#define MODEL_NAME_SIZE 65
#define MODEL_NAME_STATIC "static"

/*
 * Copy the model in `source` into the data folder. With `name` NULL it is the
 * source folder's own name. CLEW_CONFLICT if the name is taken, CLEW_INVALID
 * or CLEW_CORRUPT if the folder is no encoder that runs.
 */
enum clew_status model_store_add(const char *data_dir, const char *source,
                                 const char *name,
                                 char out_name[MODEL_NAME_SIZE],
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* [{"name","id","dim","in_use"}], the shipped model first, then by
 * name. The caller json_decref()s it. */
enum clew_status model_store_list(const char *data_dir, json_t **out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Which model serves from now on; "static" goes back to the shipped one. */
enum clew_status model_store_use(const char *data_dir, const char *name,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_CONFLICT while it is in use. */
enum clew_status model_store_remove(const char *data_dir, const char *name,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The centre of a model (embed.h), found when it was added: dim values.
 * CLEW_NOT_FOUND for one that was added without. */
enum clew_status model_store_centre(const char *data_dir, const char *name,
                                    size_t dim, int16_t *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Open a model by name after checking its files against the manifest
 * (CLEW_CORRUPT if one changed); NULL opens the one in use. Freed by
 * embed_free().
 */
enum clew_status model_store_open(const char *data_dir, const char *name,
                                  struct embedder **out_embedder,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
