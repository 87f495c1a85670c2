/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_value.h - what a field of an export's line says, as a column takes
 * it.
 *
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_RESTORE_VALUE_H
#define ENGINE_RESTORE_VALUE_H

#include "base/arena.h"
#include "base/json.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/proof/export_kinds.h"
#include "store/db.h"

struct engine;

/* The most of one text. */
#define RESTORE_VALUE_BYTES (128u << 20)

/* The value of a field that is there and not null; in the arena. A field of
 * another type is CLEW_INVALID. */
enum clew_status restore_value(struct arena *arena, const json_t *json,
                               const struct export_column *column,
                               struct db_value *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* What the rest of the program takes for granted of a line whose fields have
 * the right types. */
enum clew_status restore_check(const struct export_kind *kind,
                               const json_t *json,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* What is imported is read like anything that comes in (redact.h). */
enum clew_status restore_redact(const struct engine *engine,
                                struct arena *arena,
                                const struct export_kind *kind,
                                struct db_value *values,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
