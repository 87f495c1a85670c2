/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - from another program's messages to chats and forks.
 *
 * A reader calls importer_begin(), importer_add() for each message (parents
 * first) and importer_end() for each conversation. Messages are gathered and
 * handed on in batches. What was forgotten is left out, and what follows it
 * goes behind the one before; a chat that is made after one was left out gets
 * no title, which may tell of it.
 * Thread-safety: none.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define IMPORT_CHAT_ID_SIZE 40

/* Borrowed for the length of a call. */
struct import_message {
    struct str id;     /* external id: names it for ever */
    struct str parent; /* external id of the one before it; s == NULL: none */
    const char *role;  /* user, assistant, system or tool */
    struct str name;   /* the speaker; s == NULL: none */
    json_t *content;   /* a string or content blocks */
    int64_t created_at_ms;
    struct str agent;  /* the sub-agent whose talk it is; s == NULL: none's */
    struct str beside; /* external id of a message of the talk that one is
                          beside; s == NULL: that is not known */
};

/* Where a message is kept. */
struct import_place {
    char chat[IMPORT_CHAT_ID_SIZE];
    int64_t seq;
    bool is_known;     /* it was there before */
    bool is_forgotten; /* it was, is not, and is to stay away */
};

/* Where messages go. */
struct import_target {
    const char *chat;   /* its id; empty: a new one, and there is one message */
    const char *beside; /* the chat a new one leaves; NULL: it leaves none */
    int64_t at_seq;     /* the last that both share */
    struct str agent;   /* s != NULL: a sub-agent's talk, which shares none */
};

/* What the importer asks for; `arg` is the caller's. */
struct import_ops {
    /* Where the message with this id is; neither known nor forgotten: it is
     * new. */
    enum clew_status (*find)(void *arg, struct str id, struct import_place *out,
                             struct clew_error *err);
    /* Keep messages, in order. `out` has a place for each; what was forgotten
     * has no other. A new chat is made only with a message in it: where that is
     * known there is none. CLEW_NOT_FOUND if the chat it is to leave was
     * forgotten meanwhile. */
    enum clew_status (*add)(void *arg, const struct import_target *target,
                            const struct import_message *messages, size_t n,
                            struct import_place *out, struct clew_error *err);
    /* Name a chat that was just made; CLEW_NOT_FOUND if it was forgotten. */
    enum clew_status (*title)(void *arg, const char *chat, struct str title,
                              struct clew_error *err);
};

/* Why messages are left out. */
enum import_reason {
    IMPORT_HIDDEN,   /* not shown to people by the other program */
    IMPORT_PLUMBING, /* what the program notes for itself */
    IMPORT_THINKING, /* a model's reasoning alone */
    IMPORT_EMPTY,    /* no words in it */
    IMPORT_REASONS,
    IMPORT_NO_MESSAGE /* nothing that anybody could miss: not counted */
};

struct import_counts {
    int64_t n_conversations;
    int64_t n_messages; /* kept or known */
    int64_t n_new;
    int64_t n_forks;     /* new ones */
    int64_t n_agents;    /* talks of sub-agents, new ones */
    int64_t n_forgotten; /* kept before, and forgotten: left out */
    int64_t n_skipped;   /* all others that were left out */
    int64_t n_mended;    /* talks whose messages had no beginning */
    int64_t by_reason[IMPORT_REASONS];
};

struct importer;

enum clew_status importer_new(const struct import_ops *ops, void *arg,
                              struct importer **out_importer,
                              struct clew_error *err) CLEW_MUST_CHECK;
void importer_free(struct importer *importer);
const struct import_counts *importer_counts(const struct importer *importer);

/*
 * Where what follows comes from: a path, as people see it. Readers make names
 * of it. The memo is theirs: what they must know from one file of an export in
 * the next; an object, empty at first.
 */
enum clew_status importer_set_source(struct importer *importer,
                                     const char *path,
                                     struct clew_error *err) CLEW_MUST_CHECK;
const char *importer_source(const struct importer *importer);
json_t *importer_memo(struct importer *importer);

/* `title` may be empty. In a tree, messages without a parent are other ways to
 * begin: forks of the first chat before its first turn. */
enum clew_status importer_begin(struct importer *importer, struct str title,
                                bool is_tree,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* A title that is only known later; of chats made from now on. */
enum clew_status importer_title(struct importer *importer, struct str title,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status importer_add(struct importer *importer,
                              const struct import_message *message,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* A message that is left out: what follows it follows its parent. */
enum clew_status importer_skip(struct importer *importer, struct str id,
                               struct str parent, enum import_reason reason,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Messages of this conversation follow each other in a circle, which is cut. */
void importer_mend(struct importer *importer);
/* Hands on what is still gathered. */
enum clew_status importer_end(struct importer *importer,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
