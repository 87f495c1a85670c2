/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - what the text of one turn says, before anything is stored.
 *
 * A pure function of the text, the turn's time and zone: tokens, sentences,
 * keywords, entities, dates, subject. It runs before the writer is taken, in
 * parallel. Everything is in the arena and points into the text or the arena.
 * Thread-safety: pure functions over shipped, immutable tables.
 */
#ifndef TEXT_ANALYSIS_H
#define TEXT_ANALYSIS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/token.h"

#include <stdint.h>

/* A stretch of the source, in bytes and in tokens: [from, to). */
struct span {
    uint32_t from;
    uint32_t to;
    uint32_t first_token;
    uint32_t end_token;
};

struct sentence {
    struct span span;
    bool is_question; /* ends in a question mark of any script */
    bool is_exclaimed;
    bool is_code; /* a fenced block, as one sentence */
};

struct keyword {
    struct str stem;
    struct str word; /* first surface form, folded */
    float idf;       /* ln((N+1)/(df+1)) of the shipped background list */
    uint16_t count;  /* times in this text */
    bool is_noun;    /* by the shipped list, or unknown to it */
};

enum entity_kind {
    ENTITY_PERSON,
    ENTITY_PLACE,
    ENTITY_ORGANISATION,
    ENTITY_PRODUCT,
    ENTITY_PROJECT,
    ENTITY_FILE,
    ENTITY_URL,
    ENTITY_EMAIL,
    ENTITY_DATE,
    ENTITY_AMOUNT, /* number with unit or currency */
    ENTITY_NUMBER, /* number, time, code */
    ENTITY_NAME    /* a name of unknown kind */
};

struct entity {
    enum entity_kind kind;
    struct str text; /* as written */
    struct str key;  /* folded, for comparing */
    struct span span;
    float weight;
};

/* A resolved date expression: the half-open range of time it means. */
enum date_grain {
    DATE_TIME,
    DATE_DAY,
    DATE_WEEK,
    DATE_MONTH,
    DATE_YEAR,
    DATE_RANGE
};

/* What of a date was not said: "Friday", "in March". */
enum date_again { DATE_ONCE, DATE_WEEKLY, DATE_YEARLY };

struct date {
    struct str text;
    struct span span;
    int64_t from_ms;
    int64_t to_ms; /* exclusive */
    enum date_grain grain;
    /* the day itself of "since Sunday", "by May"; else the same as above */
    int64_t said_from_ms;
    int64_t said_to_ms;
    enum date_grain said_grain;
    bool is_relative;      /* depended on the turn's time */
    bool is_unsure;        /* may as well be another day: not to be shown */
    bool begins;           /* "from May": what begins then goes on */
    enum date_again again; /* may be that of another week or year */
};

struct analysis {
    struct str text;
    struct tokens tokens;
    struct sentence *sentences;
    size_t n_sentences;
    struct keyword *keywords; /* by (1 + ln count) * idf, best first */
    size_t n_keywords;        /* all of them; callers cap */
    struct entity *entities;
    size_t n_entities;
    struct date *dates;
    size_t n_dates;
};

struct analysis_options {
    int64_t time_ms;     /* the turn's own time, for relative dates */
    struct str timezone; /* IANA name or "+02:00"; empty = UTC */
    struct str speaker;  /* name of who speaks; empty if unknown */
    /* Names the user's own history uses (people, projects), folded; NULL ok. */
    const struct str *known_names;
    size_t n_known_names;
    bool has_no_keywords; /* leave them out: nobody will look at them */
    /* "Friday", "5 March": the last one, for the text asks for what was. */
    bool looks_back;
};

enum clew_status analysis_run(struct arena *arena, struct str text,
                              const struct analysis_options *options,
                              struct analysis *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

/*
 * The subject of a sentence as a readable noun phrase ("the payment
 * integration"), or the empty slice.
 */
struct str analysis_subject(const struct analysis *analysis,
                            const struct sentence *sentence);
/* The most telling noun phrase of the whole text: a topic to show people. */
struct str analysis_topic(const struct analysis *analysis);

/* idf of a stem in the shipped background list; the maximum if unseen. */
float text_idf(struct str stem);
/* Similarity of two short strings in [0, 1]: token-set and edit distance. */
double text_fuzzy(struct str a, struct str b);

/*
 * Tokens an LLM would count (cl100k/o200k). text_token_estimate() is within 5 %
 * on prose and code; text_token_bound() is never less than the real count.
 */
size_t text_token_estimate(struct str text);
size_t text_token_bound(struct str text);

/*
 * The zone's offset from UTC at a moment, in ms. Empty = UTC. False for a name
 * that is not known.
 */
bool text_zone_offset(struct str timezone, int64_t time_ms, int64_t *out_ms);

#endif
