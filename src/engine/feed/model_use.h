/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_use.h - which model's vectors serve, and the change from one to
 * another.
 *
 * The shipped model embeds whatever is committed and its index always serves
 * as the floor. Another model may be chosen, in this order: `embed.url` (an
 * HTTP endpoint), `embed.model` (a name), or the file models/current of the
 * data folder, which `clew model use` writes and every process on that folder
 * reads. Its vectors are made in the background (reembed.h). It serves a
 * tenant once it has vectors for all of that tenant, and steps back while it is
 * far behind; until then the model chosen before it serves, or the shipped one.
 *
 * A model that cannot be opened or asked changes nothing but
 * model_use_failure(): no write and no recall fails because of it.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_MODEL_USE_H
#define ENGINE_MODEL_USE_H

#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct embedder;
struct engine;
struct index_set;
struct model_slot;

#define MODEL_USE_TEXT 200
/* Models open at one time: the chosen one and the one before it. */
#define MODEL_USE_SLOTS 2

/* A model's parts, held until model_use_release(). */
struct model_lease {
    struct model_slot *slot; /* NULL: the shipped model */
    struct index_set *indexes;
    const char *id;
    size_t dim;
};

/* Opens nothing yet: the choice is read when it first matters. */
enum clew_status model_use_open(struct engine *engine,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* No lease may be held. */
void model_use_close(struct engine *engine);

/* Read the choice again; for a background worker. */
void model_use_refresh(struct engine *engine);
/* Choose this embedder whatever the configuration says; takes ownership, also
 * on failure. NULL goes back to the shipped one. */
enum clew_status model_use_set(struct engine *engine, struct embedder *embedder,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* What answers a question of this tenant now. Cannot fail. */
void model_use_lease(struct engine *engine, const struct scope *scope,
                     struct model_lease *out);
/* The model that was chosen; false if it is the shipped one or cannot be
 * opened. */
bool model_use_chosen(struct engine *engine, struct model_lease *out);
/* All that are open beside the shipped one; how many. */
size_t model_use_all(struct engine *engine,
                     struct model_lease out[MODEL_USE_SLOTS]);
void model_use_release(struct engine *engine, struct model_lease *lease);

/* The embedder of a lease, opened if it is not yet: for many texts, or with a
 * short wait for one question. Lives as long as the lease. */
enum clew_status model_use_embedder(struct engine *engine,
                                    const struct model_lease *lease,
                                    bool is_question,
                                    struct embedder **out_embedder,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* Why the chosen model does not work, or "" if it does. */
void model_use_failure(struct engine *engine, char out[MODEL_USE_TEXT]);
/* Note what became of using it; NULL: it works. */
void model_use_report(struct engine *engine, const char *failure);
/* Let go of a model nobody is served by any more. */
void model_use_drop_old(struct engine *engine);

/* Take what was forgotten out of the files of every model's index, also of
 * those not in use. */
enum clew_status model_use_purge(struct engine *engine,
                                 const struct scope *scope,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/* Background work is to stop soon; and whether that was said. */
void model_use_stop(struct engine *engine);
bool model_use_is_stopping(struct engine *engine);

#endif
