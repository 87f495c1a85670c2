/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_spans.c - claims written as places, and read again. See claim_spans.h.
 */
#include "engine/read/claim_spans.h"

#include "engine/core/redact.h"
#include "engine/read/reading.h"

#include <ctype.h>

/* A number of more digits is none of ours. */
#define MAX_NUMBER 1000000000000
/* The analysis of one turn. */
#define SCRATCH_BYTES ((size_t)1 << 30)

_Static_assert(CLAIM_TYPES <= 26, "a type is a letter");

enum clew_status claim_spans_write(const struct claim *claims, size_t count,
                                   struct buf *out)
{
    int64_t next = 0;

    for (size_t i = 0; i < count; i++) {
        const struct claim *claim = &claims[i];
        bool is_hedged = claim->confidence < (CLAIM_SURE + CLAIM_HEDGED) / 2;

        if (claim->position != next) {
            (void)buf_printf(out, "%lld:", (long long)claim->position);
        }
        (void)buf_printf(out, "%lld+%lld%c", (long long)claim->first_byte,
                         (long long)(claim->end_byte - claim->first_byte),
                         (is_hedged ? 'A' : 'a') + (int)claim->type);
        next = claim->position + 1;
    }
    return buf_status(out);
}

size_t claim_spans_count(struct str spans)
{
    size_t count = 0;

    for (size_t i = 0; i < spans.len; i++) {
        count += isalpha((unsigned char)spans.s[i]) != 0;
    }
    return count;
}

static bool number_of(struct str text, size_t *at, int64_t *out)
{
    size_t from = *at;

    *out = 0;
    while (*at < text.len && isdigit((unsigned char)text.s[*at]) &&
           *out < MAX_NUMBER) {
        *out = *out * 10 + (text.s[(*at)++] - '0');
    }
    return *at > from;
}

/* The claim at `*at`; false if there is none. */
static bool span_of(struct str text, size_t *at, struct claim *out)
{
    int64_t first = 0;
    int64_t len = 0;
    int type;

    if (!number_of(text, at, &first)) {
        return false;
    }
    if (*at < text.len && text.s[*at] == ':') {
        out->position = first;
        (*at)++;
        if (!number_of(text, at, &first)) {
            return false;
        }
    }
    if (*at >= text.len || text.s[(*at)++] != '+' ||
        !number_of(text, at, &len) || *at >= text.len) {
        return false;
    }
    type = tolower((unsigned char)text.s[*at]) - 'a';
    out->confidence =
        isupper((unsigned char)text.s[*at]) ? CLAIM_HEDGED : CLAIM_SURE;
    out->first_byte = first;
    out->end_byte = first + len;
    (*at)++;
    if (type < 0 || type >= CLAIM_TYPES) {
        return false;
    }
    out->type = (enum claim_type)type;
    return true;
}

bool claim_spans_read(struct arena *arena, struct str spans,
                      struct claim **out_claims, size_t *out_count)
{
    size_t most = claim_spans_count(spans);
    struct claim *claims = arena_zero(arena, most + 1, sizeof(*claims));
    size_t at = 0;
    size_t n = 0;

    if (!claims) {
        return false;
    }
    while (n < most) {
        claims[n].position = n > 0 ? claims[n - 1].position + 1 : 0;
        if (!span_of(spans, &at, &claims[n])) {
            break;
        }
        n++;
    }
    *out_claims = claims;
    *out_count = n;
    return true;
}

/* The sentence that a claim is, or begins in. */
static size_t sentence_at(const struct analysis *a, int64_t byte)
{
    size_t at = 0;

    while (at + 1 < a->n_sentences &&
           (int64_t)a->sentences[at].span.to <= byte) {
        at++;
    }
    return at;
}

/* What the analysis found, for longer than it lives. */
static bool keep(struct arena *arena, struct claim *claim)
{
    claim->subject = arena_str(arena, claim->subject);
    claim->entities = arena_str(arena, claim->entities);
    claim->keywords = arena_str(arena, claim->keywords);
    return claim->subject.s && claim->entities.s && claim->keywords.s;
}

/* `turn` as reading_of() has seen it. */
static enum clew_status fill(struct arena *arena, struct arena *scratch,
                             const struct turn *turn, struct claim *claims,
                             size_t count, struct clew_error *err)
{
    struct analysis analysis;
    enum clew_status status = reading_analyse(scratch, turn, &analysis, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct claim *claim = &claims[i];
        bool is_ok = true;

        claim->subject = STR("");
        claim->entities = STR("");
        claim->keywords = STR("");
        if (analysis.n_sentences > 0) { /* else it is another text by now */
            is_ok =
                claim_details(scratch, &analysis,
                              sentence_at(&analysis, claim->first_byte), claim);
        }
        status = is_ok && keep(arena, claim) ? CLEW_OK : clew_no_memory(err);
    }
    return status;
}

enum clew_status claim_spans_fill(const struct engine *engine,
                                  struct arena *arena, const struct turn *turn,
                                  struct claim *claims, size_t count,
                                  struct clew_error *err)
{
    struct turn seen = *turn;
    struct arena scratch;
    enum clew_status status;

    arena_init(&scratch, SCRATCH_BYTES);
    status = redact_text(engine, &scratch, &seen.text, err);
    if (status == CLEW_OK) {
        status = fill(arena, &scratch, &seen, claims, count, err);
    }
    arena_release(&scratch);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct claim *claim = &claims[i];

        claim->turn_id = turn->id;
        claim->created_at_ms = turn->created_at_ms;
        claim->id = claim_id(turn->created_at_ms, &turn->id, claim->position);
        claim->statement =
            claim_statement(turn->text, claim->first_byte, claim->end_byte);
    }
    return status;
}
