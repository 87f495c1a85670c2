/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clew.h - a memory for AI conversations, embedded in your program.
 *
 *     struct clew *clew;
 *     struct clew_error err;
 *     struct clew_options options = {0};
 *
 *     options.data_dir = "/var/lib/my-bot";
 *     if (clew_open(&options, &clew, &err) != CLEW_OK) ...
 *
 * Ownership: the caller keeps what it passes in; strings are read during the
 * call only. What comes back through `out_` belongs to the caller, who frees
 * it with the matching function. Results in structs of the caller's hold no
 * pointers. On failure nothing is written through `out_`, `err` (which may be
 * NULL) has the words, and nothing was stored.
 *
 * Text is UTF-8 and ends with NUL. Times are milliseconds since 1970 UTC.
 * Fields that are zero or NULL take the default named beside them, so a struct
 * set to zero is a good start and stays one when fields are added.
 *
 * Thread-safety: one struct clew may be used by any number of threads. Any
 * number of processes may open one data folder.
 */
#ifndef CLEW_CLEW_H
#define CLEW_CLEW_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An id as text, with its NUL. */
#define CLEW_ID_SIZE 37

struct clew;
struct clew_hits;

/* The version of the library, e.g. "0.1.0". */
CLEW_API const char *clew_version(void);

struct clew_options {
    const char *data_dir;    /* made if missing; NULL = the configured one */
    const char *store_url;   /* "postgres://…"; NULL = SQLite in data_dir */
    const char *tenant;      /* NULL = "default" */
    const char *config_file; /* NULL = the user's, if there is one */
};

/*
 * Open a store, made or migrated as needed. The caller clew_close()s it.
 * CLEW_NEWER_SCHEMA if a newer clew wrote it, CLEW_UNAVAILABLE if it cannot be
 * reached.
 */
CLEW_API enum clew_status clew_open(const struct clew_options *options,
                                    struct clew **out_clew,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Finishes what is under way. NULL is a no-op. */
CLEW_API void clew_close(struct clew *clew);

/* A message to keep. */
struct clew_turn {
    const char *user_id;  /* required */
    const char *role;     /* "user" (default), "assistant", "system", "tool" */
    const char *text;     /* required */
    const char *name;     /* the speaker, if there are several */
    const char *channel;  /* "web", "sms", …; NULL = none named */
    const char *chat_id;  /* NULL = the rules of the channel decide */
    const char *timezone; /* the speaker's, e.g. "Europe/Berlin" */
    const char *external_id; /* your id: the same again stores nothing */
    int64_t created_at_ms;   /* when it was said; 0 = now */
};

/* Where it was put. */
struct clew_place {
    char turn_id[CLEW_ID_SIZE];
    char chat_id[CLEW_ID_SIZE];
    char session_id[CLEW_ID_SIZE];
    int64_t seq;    /* its number in the chat, from 1 */
    bool is_repeat; /* known by its external_id; nothing was stored */
};

/*
 * Keep `count` (1 to 1000) turns, all or none, durably. `out_places` holds
 * `count` items, or is NULL. CLEW_INVALID names the field, CLEW_NOT_FOUND is
 * an unknown chat_id, CLEW_CONFLICT an external_id with other content.
 */
CLEW_API enum clew_status clew_append(struct clew *clew,
                                      const struct clew_turn *turns,
                                      size_t count,
                                      struct clew_place *out_places,
                                      struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Start a chat that shares the history of `chat_id` up to turn `at_seq`
 * (negative: all of it). Copies nothing. `title` may be NULL.
 */
CLEW_API enum clew_status clew_fork(struct clew *clew, const char *chat_id,
                                    int64_t at_seq, const char *title,
                                    char out_chat_id[CLEW_ID_SIZE],
                                    struct clew_error *err) CLEW_MUST_CHECK;

struct clew_query {
    const char *text;    /* required */
    const char *user_id; /* NULL = every user of the tenant */
    const char *chat_id; /* NULL = every chat */
    size_t limit;        /* 0 = 10; at most 500 */
    int64_t since_ms;    /* 0 = open */
    int64_t until_ms;    /* 0 = open */
    int64_t at_ms;       /* as of this moment; 0 = now */
};

/* One thing found; its strings live as long as the struct clew_hits. */
struct clew_hit {
    const char *kind; /* "turn", "memory", "episode" or "chat" */
    const char *text;
    char id[CLEW_ID_SIZE];
    char chat_id[CLEW_ID_SIZE]; /* "" if it belongs to none */
    double score;               /* higher is better; compares in one answer */
    int64_t created_at_ms;
    bool is_superseded; /* a newer memory refines it */
};

/* Find, best first. The caller clew_hits_free()s the answer. */
CLEW_API enum clew_status clew_recall(struct clew *clew,
                                      const struct clew_query *query,
                                      struct clew_hits **out_hits,
                                      struct clew_error *err) CLEW_MUST_CHECK;
CLEW_API size_t clew_hits_count(const struct clew_hits *hits);
/* The i-th, from 0; NULL past the end. */
CLEW_API const struct clew_hit *clew_hits_get(const struct clew_hits *hits,
                                              size_t i);
CLEW_API void clew_hits_free(struct clew_hits *hits);

#ifdef __cplusplus
}
#endif

#endif
