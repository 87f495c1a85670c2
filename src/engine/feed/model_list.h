/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_list.h - the embedding models there are, and how far each has come.
 *
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_MODEL_LIST_H
#define ENGINE_MODEL_LIST_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <jansson.h>

struct engine;

/*
 * [{"name","id","dim","in_use","done","total","percent","tenants","ready",
 * "error"}]: the shipped model first, then those of the data folder by name,
 * then the endpoint. "done" of "total" rows have a vector; "ready" of
 * "tenants" are served by it. Of one tenant, or of all if `scope` is NULL. The
 * caller json_decref()s it.
 */
enum clew_status model_list(struct engine *engine, const struct scope *scope,
                            struct arena *arena, json_t **out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Choose a model of the data folder, in the file models/current there.
 * CLEW_CONFLICT if the configuration names one: that always wins.
 */
enum clew_status model_choose(struct engine *engine, const char *name,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Remove a model with its vectors and its index. CLEW_CONFLICT while it is in
 * use. */
enum clew_status model_remove(struct engine *engine, struct arena *arena,
                              const char *name,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
