/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.h - a question's life up to the ranked list: candidates, score.
 *
 * Pure ranking over a view of the index: no rows are read, but vectors that are
 * kept elsewhere (struct recall_far). Candidates come from
 * terms, vectors and time; each is scored by its own words and those of its
 * neighbours, by vector, by time and by priors that depend on the kind of
 * talk. Rows, lineage (superseded) and packing are the caller's next steps; who
 * filters rows further (type, tag, status) asks for more than it needs.
 * The answer depends only on the documents, the request and the model: not on
 * segments, backend or wall clock.
 * Thread-safety: pure functions on a view owned by the caller.
 */
#ifndef ENGINE_RECALL_H
#define ENGINE_RECALL_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"
#include "vec/vec.h"

struct embedder;
struct segment_half;

enum recall_kinds {
    RECALL_TURN = 1 << 0,
    RECALL_MEMORY = 1 << 1,
    RECALL_EPISODE = 1 << 2,
    RECALL_CHAT = 1 << 3 /* whole chats, ranked by their turns */
};

/* A fork's line of history: the chat itself up to INT64_MAX, its parent up to
 * the fork, and so on. */
struct recall_line {
    struct uuid chat;
    int64_t max_seq; /* inclusive */
};

/* What is looked for among vectors that are not in the view. */
struct recall_far_query {
    enum index_kind kind;
    const float *vector; /* the question's, dim floats */
    size_t dim;
    size_t want;
    struct str user;                 /* as in struct recall_request */
    const struct recall_line *lines; /* chats; max_seq may be left to recall */
    size_t n_lines;
    int64_t since_ms;
    int64_t until_ms;
    int64_t at_ms;
    size_t n_reach; /* documents these leave, about */
    size_t n_all;   /* documents of the kind */
};

/* A document in one of its states. */
struct recall_far_key {
    struct uuid id;
    int64_t change_seq;
};

/* A document's vector as the index would hold it. */
struct recall_far_vector {
    struct uuid id;
    int64_t change_seq; /* of the state it stands for */
    const int8_t *values;
    size_t dim; /* that of the query */
    struct vec_form form;
    const struct segment_half *half; /* of a longer text, or NULL */
    const int8_t *first;             /* the first half's values */
};

/*
 * Where the vectors of documents are that the view has none of (see
 * index_set_far). Answers are in the arena; documents without a vector are
 * missing in them. `find` may be approximate, and may answer with less than
 * was wanted or with documents out of reach.
 */
struct recall_far {
    void *arg;
    enum clew_status (*find)(void *arg, struct arena *arena,
                             const struct recall_far_query *query,
                             struct recall_far_vector **out_vectors,
                             size_t *out_count, struct clew_error *err);
    enum clew_status (*read)(void *arg, struct arena *arena,
                             const struct recall_far_key *keys, size_t count,
                             struct recall_far_vector **out_vectors,
                             size_t *out_count, struct clew_error *err);
};

struct recall_request {
    struct str query;                /* cut to LIMIT_QUERY_TERMS terms */
    struct str user;                 /* empty = all users of the tenant */
    struct str timezone;             /* of the one who asks; empty = UTC */
    const struct recall_line *lines; /* only these chats; n_lines 0 = all */
    size_t n_lines;
    uint32_t kinds; /* enum recall_kinds, or 0 for turns, memories, episodes */
    size_t limit;   /* 1 to RECALL_MAX_LIMIT */
    size_t spare;   /* so many more come back, for those who leave some out */
    int64_t since_ms; /* created_at >= since; INT64_MIN = open */
    int64_t until_ms; /* created_at < until; INT64_MAX = open */
    /* As of: only documents with created_at <= at + ahead. `at` is also "now"
     * for relative dates. */
    int64_t at_ms;
    int64_t ahead_ms;
    /* For vectors that are not in the view; NULL: such documents are found by
     * their words alone. */
    const struct recall_far *far;
    /* Words of the question that were written otherwise (recall_mend), folded:
     * they weigh less than the others. */
    const struct str *mended;
    size_t n_mended;
    /* What was said before, for a question that leans on it: looked for with
     * it, at less weight. Empty = nothing. */
    struct str lent;
    /* Where the question lies among turns (INDEX_GIST_DIM values by what makes
     * the view's gists); NULL = not known. */
    const int8_t *gist;
};
#define RECALL_MAX_LIMIT 5000

/* Where a score comes from. Their sum orders the items; `score` is that sum
 * bent into 0 to 1. A chat has those of its best turn. */
struct recall_parts {
    float lexical;   /* own words */
    float neighbour; /* words of the turns around it */
    float vector;    /* own vector */
    float window;    /* vectors of the turns around it */
    float gist;      /* what it says in its talk, by the reader */
    float time;      /* the dates asked for */
    float prior;     /* length, question, answer, speaker */
    float chat;      /* the best turns of its chat */
};

struct recall_item {
    uint32_t kind;    /* one of enum recall_kinds */
    struct uuid id;   /* of the chat for RECALL_CHAT */
    struct uuid chat; /* nil if it has none */
    int64_t seq;
    int64_t created_at_ms; /* for a chat: of its best turn */
    struct uuid best_turn; /* RECALL_CHAT: the turn that speaks for it */
    double score;          /* above 0, below 1, higher is better */
    struct recall_parts parts;
};

struct recall_result {
    struct recall_item *items; /* best first; ties by newest, then id */
    size_t count;
    size_t n_scanned;    /* documents in reach */
    size_t n_candidates; /* documents scored in full */
    struct str *terms;   /* what was searched by, for highlights */
    bool *is_known;      /* of each term: something in reach has it */
    size_t n_terms;
    size_t n_named; /* words of the question that tell something, without its
                       dates */
};

/* `embedder` may be NULL (no vectors) and must be the model of the index. */
enum clew_status recall_run(struct index_view *view, struct embedder *embedder,
                            struct arena *arena,
                            const struct recall_request *request,
                            struct recall_result *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* Words written otherwise in one question. */
#define RECALL_MENDS 3

/* A question whose slips of the hand were put right. */
struct recall_mended {
    struct str query; /* s == NULL: there is nothing to mend */
    struct str words[RECALL_MENDS];
    size_t count;
};

/*
 * After a recall whose result has terms that nothing in reach knows: what the
 * question reads like if those that are no words of the shipped lexicon are
 * slips of words that are known in reach. Identifiers, numbers and what the
 * lexicon knows stay as they are, and so does a long text.
 */
enum clew_status recall_mend(const struct index_view *view, struct arena *arena,
                             const struct recall_request *request,
                             const struct recall_result *result,
                             struct recall_mended *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* A stretch of a text that matched, in bytes. */
struct recall_span {
    uint32_t from;
    uint32_t to;
};
/* Where `text` holds one of the result's terms, in order, at most `max`. */
enum clew_status recall_highlight(struct arena *arena,
                                  const struct recall_result *result,
                                  struct str text, size_t max,
                                  struct recall_span **out_spans,
                                  size_t *out_count) CLEW_MUST_CHECK;

#endif
