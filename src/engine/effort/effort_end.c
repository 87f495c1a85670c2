/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_end.c - a turn that ends an effort, by whoever says so, in whatever
 * chat; and what people are told.
 */
#include "engine/effort/effort_cache.h"

#include "base/utf8.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/memory/note.h"
#include "engine/topic/chain.h"
#include "text/settled.h"
#include "text/summarise.h"

#include <math.h>
#include <string.h>

/* Longer turns say more than that something did not help. */
#define SAME_TROUBLE_BYTES 160
/* So sure the reader must be; chosen on the dev worlds and the held ones. */
#define END_USER 0.20f
#define END_ASSISTANT 0.28f
/* Giving up is written about more often than it is done: the reader learned it
 * from as many of either. */
#define LEAN 2.0f
#define FAILED 0.60f
#define HALF 0.5f
/* What is accepted in form counts so much; not where the reader is so sure of
 * the contrary. */
#define ACCEPTED 0.45f
#define DENIED 0.95f
/* Of an end before, another turn must be surer by so much. */
#define SURER 0.10f
/* An ending shorter than this says little by itself, in bytes. */
#define THIN_ENDING 48
/* Tokens of the turn before that an ending takes. */
#define BEFORE_ENDING 60

/* 1234567 as "1,234,567". */
static const char *grouped(struct arena *arena, int64_t n)
{
    if (n < 1000) {
        return arena_printf(arena, "%lld", (long long)n);
    }
    if (n < 1000000) {
        return arena_printf(arena, "%lld,%03lld", (long long)(n / 1000),
                            (long long)(n % 1000));
    }
    return arena_printf(arena, "%lld,%03lld,%03lld", (long long)(n / 1000000),
                        (long long)(n / 1000 % 1000), (long long)(n % 1000));
}

static enum clew_status tell_resolved(struct observation *o,
                                      const struct memory *memory,
                                      int64_t raw_tokens,
                                      struct clew_error *err)
{
    int64_t kept = memory->token_count;
    int64_t saved = raw_tokens > kept
                        ? 100 - (100 * kept + raw_tokens / 2) / raw_tokens
                        : 0;
    const char *raw = grouped(o->arena, raw_tokens);
    const char *compacted = grouped(o->arena, kept);
    enum clew_status status =
        note_notice(o->work, err, "[effort:resolved] %.*s",
                    (int)memory->summary.len, memory->summary.s);

    if (!raw || !compacted) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK && memory->resolution.len > 0) {
        status = note_notice(o->work, err, "  => %.*s",
                             (int)memory->resolution.len, memory->resolution.s);
    }
    return status == CLEW_OK
               ? note_notice(
                     o->work, err,
                     "[Tokens: %s raw → %s compacted | Savings: %lld%%]", raw,
                     compacted, (long long)saved)
               : status;
}

/* What was said about the effort is settled with it. */
static enum clew_status conclude_chains(struct observation *o,
                                        const struct effort *effort,
                                        struct clew_error *err)
{
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t n_refs = 0;
    enum clew_status status = memory_refs(o->tx, o->arena, &effort->memory_id,
                                          1, &owners, &refs, &n_refs, err);

    for (size_t i = 0; i < n_refs && status == CLEW_OK; i++) {
        status = chain_resolve(o->work, &refs[i].chat_id, refs[i].first_seq,
                               refs[i].last_seq, err);
    }
    return status;
}

/* How it ended, in the words that hold it: this turn's, and those of the turn
 * before where these say little ("that did it"). */
static enum clew_status ending_text(struct observation *o,
                                    const struct effort *effort,
                                    struct str *out, struct clew_error *err)
{
    struct str own;
    struct str before = STR("");
    struct str all;
    const char *text;

    if (select_ending(o->arena, &o->select, &own) != CLEW_OK) {
        return clew_no_memory(err);
    }
    *out = own;
    if (own.len >= THIN_ENDING || o->n_before == 0 ||
        (own.len > 0 && effort_is_just_opened(o, effort))) {
        return CLEW_OK;
    }
    all = str_trim(o->before[o->n_before - 1].text);
    before = str_trim(summary_cut(all, BEFORE_ENDING));
    if (own.len == 0 && before.len > 0) { /* "ok, thanks": the answer is it */
        *out = before;
        return CLEW_OK;
    }
    if (own.len == 0) {
        own = str_trim(o->turn.text);
        own = summary_cut(own, BEFORE_ENDING);
    }
    text = arena_printf(o->arena, "%.*s [%.*s: %.*s%s]", (int)own.len, own.s,
                        (int)o->before[o->n_before - 1].speaker.len,
                        o->before[o->n_before - 1].speaker.s, (int)before.len,
                        before.s, before.len < all.len ? "…" : "");
    *out = str_of(text);
    return text ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status end_effort(struct observation *o, struct effort *effort,
                                   const char *how, float confidence,
                                   struct clew_error *err)
{
    struct memory memory;
    struct effort_change change = {.status = how,
                                   .confidence = confidence,
                                   .time_ms = o->turn.time_ms,
                                   .chat_id = o->work->turn->chat_id,
                                   .seq = o->work->turn->seq};
    bool is_resolved = how[0] == 'r';
    bool is_here = effort->is_shared ||
                   uuid_eq(&effort->thread_id, &o->work->turn->chat_id);
    enum clew_status status = CLEW_OK;

    if (is_here) {
        status = effort_take_turn(o, effort, err);
    }
    if (status == CLEW_OK) {
        status = ending_text(o, effort, &change.resolution, err);
    }
    if (status == CLEW_OK) {
        status = memory_find(o->tx, o->arena, &effort->memory_id, &memory, err);
    }
    if (status == CLEW_OK) {
        status = effort_set_status(o->work->batch, &memory, &change, err);
    }
    if (status == CLEW_OK && !is_here) {
        struct memory_ref ref = {o->work->turn->chat_id, o->work->turn->seq,
                                 o->work->turn->seq};

        status = memory_add_ref(o->tx, &memory.id, &ref, err);
    }
    if (status == CLEW_OK && is_resolved) {
        status = effort_attempt_end(o, effort, true, change.resolution, err);
    }
    if (status == CLEW_OK) {
        status = note_told(o->work, &memory, how, err);
    }
    /* chains have gone on since a turn that is looked at again */
    if (status == CLEW_OK && confidence >= EFFORT_SETTLED && !o->is_later) {
        status = conclude_chains(o, effort, err);
    }
    effort->is_open = false;
    effort->state = EFFORT_COLLAPSED;
    if (status == CLEW_OK) {
        status = effort_update(o->tx, effort, err);
    }
    effort_cache_forget(o);
    if (status == CLEW_OK && !is_resolved) {
        return note_notice(o->work, err, "[effort:abandoned] %.*s",
                           (int)memory.summary.len, memory.summary.s);
    }
    return status == CLEW_OK
               ? tell_resolved(o, &memory, effort->raw_tokens, err)
               : status;
}

/* "Did that, same problem": what was tried last did not help, however sure a
 * reader is that something ended. */
static bool is_same_trouble(const struct observation *o)
{
    return o->turn.role == TALK_USER &&
           o->turn.text.len <= SAME_TROUBLE_BYTES &&
           settled_is_same_trouble(str_trim(o->turn.text));
}

/* So much the sentence does that does it most. */
static float most(const struct observation *o, enum reader_act act)
{
    float p = 0;

    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        p = fmaxf(p, o->read[i].act[act]);
    }
    return p;
}

/* How sure it is that an attempt failed: what the reader says of the effort, or
 * that together with what it says of the sentence most like it. */
static float failing(const struct observation *o, float verdict)
{
    float act = most(o, READER_ACT_FAILS);

    return act > verdict ? (verdict + act) / 2 : verdict;
}

/* Does it say in so many words that the trouble is still there? */
static bool is_trouble(const struct observation *o)
{
    return o->intent.act == INTENT_REJECT || is_same_trouble(o);
}

/* An end, not a failure? Who says so in so many words is believed ("Solved! It
 * was off at two in the morning" tells the trouble again, and reads like one).
 * Else the comparison and the sentences by themselves are two witnesses: their
 * odds multiply ("that did it" after advice may compare like a failure, or read
 * like one, seldom both). */
static bool is_rather_end(const struct observation *o, bool is_accepted,
                          float sure, float failed)
{
    float ends = 0;
    float fails = 0;

    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        const float *act = o->read[i].act;

        ends += act[READER_ACT_RESOLVES] + act[READER_ACT_ABANDONS];
        fails += act[READER_ACT_FAILS];
    }
    return is_accepted || sure > failed || sure * ends > failed * fails;
}

/* "Great, now it drops every five minutes": is it accepted in form only? By
 * both witnesses. */
static bool is_denied(const struct observation *o, float failed)
{
    return failed >= DENIED && most(o, READER_ACT_FAILS) >= DENIED &&
           most(o, READER_ACT_RESOLVES) < 1 - DENIED;
}

/* What the reader's word on an effort comes to. */
static struct effort_ending ending_of(const struct observation *o,
                                      const struct effort_standing *standing,
                                      size_t i)
{
    const float *p = standing->verdicts[i].p;
    float floor = o->turn.role == TALK_ASSISTANT ? END_ASSISTANT : END_USER;
    float least = i < standing->n_open ? floor : standing->sure[i] + SURER;
    bool is_accepted =
        effort_is_accepted(o) && !is_denied(o, p[READER_ENDING_FAILED]);
    struct effort_ending out = {
        .sure = p[READER_ENDING_RESOLVED] + p[READER_ENDING_ABANDONED],
        .is_resolved =
            p[READER_ENDING_RESOLVED] * LEAN > p[READER_ENDING_ABANDONED],
        .is_reaction = is_accepted,
        .is_accepted = is_accepted && i == 0 && standing->n_open > 0 &&
                       effort_is_here(o, standing->efforts[i])};

    if (out.is_accepted) {
        out.sure = out.sure + ACCEPTED < 1.0f ? out.sure + ACCEPTED : 1.0f;
        out.is_resolved = true;
    }
    out.ends =
        out.sure >= floor && out.sure >= least && effort_may_end(o) &&
        !is_trouble(o) &&
        is_rather_end(o, is_accepted, out.sure, p[READER_ENDING_FAILED]) &&
        out.sure > HALF * p[READER_ENDING_GOES_ON];
    return out;
}

enum clew_status effort_try_end(struct observation *o,
                                struct effort_cache *cache, bool *out_done,
                                struct clew_error *err)
{
    struct effort_ending endings[EFFORT_HELD + EFFORT_ENDED];
    struct effort_standing standing;
    enum clew_status status = effort_stand(o, cache, &standing, err);

    *out_done = false;
    if (status == CLEW_OK && cache->active && cache->active->is_open &&
        is_same_trouble(o)) {
        return effort_attempt_end(o, cache->active, false, (struct str){0},
                                  err);
    }
    for (size_t i = 0; status == CLEW_OK && i < standing.n; i++) {
        endings[i] = ending_of(o, &standing, i);
    }
    if (status == CLEW_OK) {
        status = effort_which(o, &standing, endings, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < standing.n; i++) {
        const float *p = standing.verdicts[i].p;

        if (endings[i].ends) {
            *out_done = true;
            status =
                end_effort(o, standing.efforts[i],
                           endings[i].is_resolved ? "resolved" : "abandoned",
                           endings[i].sure, err);
        } else if (i < standing.n_open &&
                   failing(o, p[READER_ENDING_FAILED]) >= FAILED) {
            status = effort_attempt_end(o, standing.efforts[i], false,
                                        (struct str){0}, err);
        }
    }
    return status;
}
