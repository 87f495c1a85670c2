/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_table.h - vectors in PostgreSQL, found by pgvector's HNSW.
 *
 * The statements that no other database has, for the table graph_vectors: rows
 * of `bytes` (whatever the caller keeps) and a vector to find them by. A model
 * is a number, a kind a small one. Each tenant has a part of its own, behind
 * the same fence as every table. What is in it and when is the caller's
 * business (engine/feed/vector_graph.h), which knows that the table is there
 * before it asks.
 * Thread-safety: as store.h.
 */
#ifndef STORE_VECTOR_TABLE_H
#define STORE_VECTOR_TABLE_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/db.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first pgvector with halves, as version below and in words. */
#define VECTOR_TABLE_VERSION 700
#define VECTOR_TABLE_VERSION_TEXT "0.7"

/* Whether the server has the extension. */
struct vector_table_support {
    bool is_created;       /* it is there */
    bool is_usable;        /* or this role may make it; and it is new enough */
    int version;           /* 800 for 0.8.0; 0: the server has none */
    char version_text[32]; /* "" then */
};
/* A store_fn of the system's; `arg` is a struct vector_table_support. */
enum clew_status vector_table_look(struct store_tx *tx, void *arg,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Make the extension; the tenant's part of the table, with it; and graphs over
 * that, for kinds below `n_kinds`. CLEW_BUSY while another process does. */
enum clew_status vector_table_extend(struct store *store,
                                     struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status vector_table_make(struct store *store, int64_t tenant,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status vector_table_index(struct store *store, int64_t tenant,
                                    int64_t model, size_t dim, int n_kinds,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* A row; in place of one with the same id and model. */
struct vector_row {
    struct uuid id;
    int64_t model;
    int kind;
    struct str user_key;
    struct uuid chat_id;
    int64_t created_at_ms;
    int64_t change_seq;
    struct str bytes;
    struct str vector; /* "[1,-2,...]"; s == NULL: none */
};
enum clew_status vector_table_put(struct store_tx *tx,
                                  const struct vector_row *row,
                                  struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status vector_table_remove(struct store_tx *tx, const struct uuid *id,
                                     int64_t model,
                                     struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status
vector_table_remove_model(struct store_tx *tx, int64_t model,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Those in forget_set. */
enum clew_status
vector_table_remove_forgotten(struct store_tx *tx,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Rows of id, change_seq and bytes; the caller db_end()s them. */
enum clew_status vector_table_read(struct store_tx *tx, int64_t model,
                                   const struct uuid *ids, size_t n_ids,
                                   struct db_rows *out_rows,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* The statements that find what is near, of one dimension. Live as long as the
 * store: their addresses are their identity. */
struct vector_near {
    char graph_text[1024];
    char exact_text[1024];
    struct db_sql by_graph;
    struct db_sql exactly;
};
void vector_near_init(struct vector_near *near, size_t dim);

struct vector_query {
    int64_t model;
    int kind;
    struct str user_key;      /* empty: every user's */
    const struct uuid *chats; /* n_chats == 0: all */
    size_t n_chats;
    int64_t since_ms; /* created at or after, */
    int64_t until_ms; /* before, */
    int64_t at_ms;    /* and at or before */
    struct str vector;
    size_t want;
    size_t n_reach; /* rows that the above leave, of ... */
    size_t n_all;   /* ... all */
};
/*
 * By the graph while what the request leaves is dense enough that a scan of
 * bounded length finds what is wanted; else one by one, which is then little.
 */
enum clew_status vector_table_near(struct store_tx *tx,
                                   const struct vector_near *near, int version,
                                   const struct vector_query *query,
                                   struct db_rows *out_rows,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
