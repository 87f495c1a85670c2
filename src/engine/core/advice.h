/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - asking the configured language model, with a cap and a memory.
 *
 * An answer is recorded under the digest of what was asked: asked again (by a
 * rebuild, a retry) the record answers and nothing is called. A day's tokens
 * are capped per tenant; every call stands in a ledger by day and purpose,
 * those too that others make with the same model (advice_note). Secrets in a
 * prompt are starred before it is sent, and nothing is sent of a tenant that
 * forbids it (consent.h): every question of the engine comes by here.
 * Thread-safety: safe; see engine.h. Never call it inside a transaction.
 */
#ifndef ENGINE_ADVICE_H
#define ENGINE_ADVICE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/llm.h"
#include "model/llm_talk.h"
#include "store/store.h"

struct engine;

/* The code of the failure (clew_error.code) when the day's tokens are used. */
#define ADVICE_SPENT "TOKENS_SPENT"

/* Whose words a question holds: turns of a chat, from one to another, and what
 * else is shown beside them: an answer may quote any of it, and goes with it.
 */
struct advice_of {
    struct uuid chat_id;
    int64_t first_seq;
    int64_t last_seq;
    const struct uuid *beside; /* other chats, their turns, memories */
    size_t n_beside;
};
/*
 * Ask. `purpose` is a short name ("link", "summary"); `of` says whose text it
 * holds, so that forgetting and traces find it; NULL: no chat's, the answer is
 * not kept and `*out_key` not written. CLEW_UNAVAILABLE without an LLM,
 * CLEW_FORBIDDEN (CONSENT_NONE) where the tenant forbids it,
 * CLEW_RATE_LIMITED over the day's cap, CLEW_UNAVAILABLE too if something was
 * forgotten meanwhile (the answer is not kept; ask again); else as llm_ask().
 * The caller json_decref()s the answer; `*out_key` names its record, in the
 * arena. While a log is replayed the answer given then comes back, and nothing
 * is asked.
 */
enum clew_status advice_ask(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const char *purpose,
                            const struct advice_of *of,
                            const struct llm_request *request,
                            json_t **out_answer, struct str *out_key,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* A question that is answered in words, piece by piece. */
struct advice_talk {
    const char *purpose;
    struct str system;
    struct str prompt;
    int max_tokens;
    bool (*on_piece)(void *arg, struct str piece); /* as in llm_talk.h */
    bool (*is_over)(void *arg);
    void *arg;
};
/*
 * Ask so. The reply is nobody's record: it is counted and not kept. Fails as
 * advice_ask(); what had come until then is in `out`.
 */
enum clew_status advice_talk(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct advice_talk *talk,
                             struct llm_reply *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* A call that somebody else made with the configured model. */
struct advice_call {
    struct str purpose;
    struct str model;
    int64_t input_tokens;
    int64_t output_tokens;
    bool has_failed;
};
/* Write it down: it costs, and its tokens are of the day's. */
enum clew_status advice_note(struct engine *engine, const struct scope *scope,
                             const struct advice_call *call,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* What one purpose cost on one day, by one model. */
struct advice_usage {
    int64_t day_ms; /* its midnight, UTC */
    struct str purpose;
    struct str model;
    int64_t calls; /* those that failed included */
    int64_t failures;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cost_micros; /* at the prices configured when it was called */
};
/* The last `days` days of the ledger, newest first. */
enum clew_status advice_usage_list(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, int64_t days,
                                   struct advice_usage **out, size_t *out_count,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* A call that a turn was sent with, and whose answer is on record. */
struct advice_sent {
    struct str purpose;
    struct str model;
    int64_t at_ms;
    int64_t first_seq; /* the turns of its chat that were sent */
    int64_t last_seq;
    int64_t input_tokens; /* 0: not known */
    int64_t output_tokens;
};
#define ADVICE_SENT_MOST 50
/* Those calls, the oldest first; none for an id that is no turn's. */
enum clew_status advice_sent_list(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct uuid *turn_id,
                                  struct advice_sent **out, size_t *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* True if somebody may answer: a model, or the record of one in a replay. */
bool advice_is_there(const struct engine *engine);
/* The recorded answer with the key `hex`; s == NULL if there is none. */
enum clew_status advice_find(struct store_tx *tx, struct arena *arena,
                             struct str hex, struct str *out_text,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Forget that answer: what it was made of is gone. */
enum clew_status advice_drop(struct store_tx *tx, struct str hex,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
