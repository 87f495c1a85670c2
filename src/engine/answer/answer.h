/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - a question answered in a few sentences that cite what was said.
 *
 * Recall finds passages (ask/search.h), a language model answers from them
 * alone, and each of its sentences is held against the passages it cites. One
 * that cites nothing, cites what was not shown, or has numbers, dates or names
 * that what it cites has not, is marked, not hidden. Without a model, and
 * whenever it fails, the best passages are the answer. What recall does not
 * know nobody is asked about.
 * Thread-safety: safe; see engine.h. Never call it inside a transaction.
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/ask/search.h"

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* What the ledger calls it. */
#define ANSWER_PURPOSE "ask"
/* Passages shown; sentences of an answer; questions of its own. */
#define ANSWER_SOURCES 26
#define ANSWER_SENTENCES 12
#define ANSWER_QUESTIONS 3
#define ANSWER_CITES 8
/* Values of one passage that are said to have changed. */
#define ANSWER_REPLACED 3

enum answer_by { ANSWER_BY_NOTHING, ANSWER_BY_PASSAGES, ANSWER_BY_MODEL };

/* What is wrong with a sentence. */
enum answer_fault {
    ANSWER_SUPPORTED,
    ANSWER_UNCITED,   /* it cites nothing */
    ANSWER_NOT_SHOWN, /* it cites what was not shown */
    ANSWER_NOT_SAID   /* a number, date or name is not in what it cites */
};

/* A turn beside a passage; an empty text: there is none to show. */
struct answer_beside {
    struct str by;
    struct str text;
};

/* A note drawn from a passage that does not hold any more, and the one that
 * took its place: the rest of the passage still holds. */
struct answer_replaced {
    struct str was;
    struct str now;
};

/* A passage, as it is shown; to a model with what was said around it. */
struct answer_source {
    const struct search_hit *hit;
    struct str text;
    struct answer_beside before;
    struct answer_beside after;
    struct answer_replaced replaced[ANSWER_REPLACED];
    size_t n_replaced;
    bool is_spoken_of; /* it has a word of the question */
};

struct answer_sentence {
    struct str text;
    size_t cites[ANSWER_CITES]; /* places in `sources` */
    size_t n_cites;
    enum answer_fault fault;
};

struct answer {
    enum answer_by by;
    enum search_answered answered;
    /* Why no model answers, a stable code; "" if one did or none was needed. */
    char reason[40];
    struct str text; /* all sentences, or that nothing is known */
    struct answer_sentence sentences[ANSWER_SENTENCES];
    size_t n_sentences;
    struct answer_source sources[ANSWER_SOURCES];
    size_t n_sources;
    struct str questions[ANSWER_QUESTIONS]; /* the model's own */
    size_t n_questions;
    bool was_asked; /* the same question was found among what was said */
};

struct answer_query {
    struct search_query search; /* kinds and limit are chosen here */
    bool is_deep; /* recall once more, with questions of the model's */
    /* Told as it comes, in this order; may be NULL. What a model said before
     * it failed was told too: the answer in the end is what counts. */
    void (*on_sources)(void *arg, const struct answer *answer);
    void (*on_sentence)(void *arg, const struct answer *answer, size_t i);
    bool (*is_over)(void *arg); /* nobody listens any more */
    void *arg;
};

/* "nothing", "passages", "model" */
const char *answer_by_name(enum answer_by by);
/* "uncited", "not_shown", "not_said"; NULL if it is supported. */
const char *answer_fault_name(enum answer_fault fault);

/* Answer. Fails as search_run(); never because of the model. */
enum clew_status answer_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct answer_query *query,
                            struct answer *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
