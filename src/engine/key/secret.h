/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - random keys the program makes for itself and keeps in the store.
 *
 * Every process on one store sees the same ones, and none ever changes: what
 * was read is remembered. They never leave the program.
 * Thread-safety: safe.
 */
#ifndef ENGINE_SECRET_H
#define ENGINE_SECRET_H

#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct secret_memo;

#define SECRET_SIZE 32

/* What was read so far. NULL without memory: they are read each time then. */
struct secret_memo *secret_memo_new(void);
void secret_memo_free(struct secret_memo *memo);

/* The secret called `name`, a literal, made on first use. */
enum clew_status secret_get(struct engine *engine, const char *name,
                            unsigned char out[SECRET_SIZE],
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
