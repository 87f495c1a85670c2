/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forms.h - the JSON forms of what the engine returns.
 *
 * Each returns a new object, or NULL without memory. Optional values that are
 * not there are null, so that every object has all its fields.
 * Thread-safety: pure functions.
 */
#ifndef API_FORMS_H
#define API_FORMS_H

#include "base/str.h"

#include "base/uuid.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct chat;
struct engine;
struct memory_view;
struct session;

/* The engine knows the timeout where the chat has none of its own. */
json_t *form_chat(const struct engine *engine, const struct chat *chat);
json_t *form_session(const struct session *session);

/* A memory with its references and lineage. */
json_t *form_memory(const struct memory_view *view);

/* Ids as a list of texts. */
json_t *form_ids(const struct uuid *ids, size_t count);

/* Hand out `object` if all its fields were set, else free it. */
json_t *form_finish(json_t *object, bool is_ok);
/* Set a time, or null if `time_ms` is 0 (not there). */
bool form_set_time(json_t *object, const char *field, int64_t time_ms);

#endif
