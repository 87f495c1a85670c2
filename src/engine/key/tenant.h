/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.h - the wall nothing crosses, by name. Thread-safety: as store.h.
 */
#ifndef ENGINE_TENANT_H
#define ENGINE_TENANT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Is there a tenant called `name`? CLEW_NOT_FOUND: there is none, for those
 * who only look. */
enum clew_status engine_tenant_check(struct engine *engine, const char *name,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* The scope of the tenant called `name`, made if it is not there. */
enum clew_status engine_tenant(struct engine *engine, const char *name,
                               struct scope *out_scope,
                               struct clew_error *err) CLEW_MUST_CHECK;

struct tenant {
    struct str name;
    bool forbids_llm; /* see core/consent.h */
};
/* The tenant whose scope it is; its name lives in the arena. */
enum clew_status tenant_get(struct engine *engine, const struct scope *scope,
                            struct arena *arena, struct tenant *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#define TENANT_MAX_LISTED 100000
struct tenant_entry {
    struct str name;
    int64_t created_at_ms;
};
/* The tenants of the store, in the order they were made, at most so many; for
 * whoever may read all of it, never for a key. */
enum clew_status tenant_list(struct engine *engine, struct arena *arena,
                             struct tenant_entry **out_tenants,
                             size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
