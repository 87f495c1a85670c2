/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sense.c - turns put together for the reader. See sense.h.
 */
#include "engine/read/sense.h"

#include "base/crew.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "talk/rule_reader.h"
#include "text/chars.h"

#include <assert.h>
#include <string.h>

/* Bytes of the turn before that a step shows. */
#define BEFORE_BYTES 240
/* … and of two that may answer. */
#define LATER_BYTES 300
#define EARLIER_BYTES 240
/* What a reader works in. */
#define SCRATCH_BYTES ((size_t)64 << 20)
/* Characters of a script without blanks that are no more than a word. */
#define LONE_CHARACTERS 3

struct str sense_speaker(bool is_assistant, struct str name)
{
    if (is_assistant) {
        return STR("assistant");
    }
    return name.len > 0 ? name : STR("user");
}

struct str sense_name(const struct talk_line *line)
{
    return sense_speaker(line->role == TALK_ASSISTANT && line->speaker.len == 0,
                         line->speaker);
}

/* --- what is known already --- */

struct sense_answer {
    struct uuid key; /* of what was asked */
    struct reader_sentence *read;
    struct reader_gist gist;
    struct reader_verdict verdict;
};

static void add_text(struct sha256 *hash, struct str text)
{
    uint64_t len = text.len; /* "ab","c" is not "a","bc" */

    sha256_add(hash, &len, sizeof(len));
    sha256_add_str(hash, text);
}

static struct uuid key_of(const struct sha256 *hash)
{
    unsigned char full[SHA256_SIZE];
    struct uuid out;

    sha256_get(hash, full);
    memcpy(out.b, full, sizeof(out.b));
    return out;
}

static const struct sense_answer *known(const struct batch_work *batch,
                                        const struct uuid *key)
{
    for (size_t i = 0; batch->memo && i < batch->memo->count; i++) {
        if (uuid_eq(&batch->memo->answers[i].key, key)) {
            return &batch->memo->answers[i];
        }
    }
    return NULL;
}

/* Remember an answer; without memory for it, it is asked again. */
static void remember(struct batch_work *batch,
                     const struct sense_answer *answer)
{
    struct sense_memo *memo = batch->memo;
    struct sense_answer *grown =
        memo ? arena_grow(batch->arena, memo->answers, memo->count, &memo->cap,
                          sizeof(*grown))
             : NULL;

    if (grown) {
        memo->answers = grown;
        memo->answers[memo->count++] = *answer;
    }
}

/* --- a turn --- */

static struct uuid turn_key(const struct sense_turn *turn)
{
    struct sha256 hash;

    sha256_init(&hash);
    add_text(&hash, turn->said.speaker);
    add_text(&hash, turn->said.text);
    for (size_t i = 0; i < turn->n_before; i++) {
        add_text(&hash, turn->before[i].speaker);
        add_text(&hash, turn->before[i].text);
    }
    return key_of(&hash);
}

/* The only word of a text, or its few characters of a script without blanks;
 * empty if it says more. `out_letters`: how many it has. */
static struct str lone_word(struct str text, size_t *out_letters)
{
    size_t from = SIZE_MAX;
    size_t to = 0;
    uint32_t len = 0;

    *out_letters = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t c;
        enum char_class class = char_at(text, at, &c, &len);
        bool is_dense = class == CHAR_HAN || class == CHAR_SEA;

        if (class == CHAR_DIGIT) {
            return STR("");
        }
        if (!is_dense && class != CHAR_HANGUL && !char_is_word(class)) {
            continue;
        }
        *out_letters += class != CHAR_MARK;
        if ((from != SIZE_MAX && at != to) ||
            (is_dense && *out_letters > LONE_CHARACTERS)) {
            return STR("");
        }
        from = from == SIZE_MAX ? at : from;
        to = at + len;
    }
    return from == SIZE_MAX ? STR("") : str_sub(text, from, to);
}

/* Is it so short that nothing but its word could tell what it does, and has the
 * reader no pieces for that, or its letters alone? Then it says the same of
 * every text of that length, of "thanks" as of "help". Of 2,341 turns of a
 * word, or of two or three such characters, in the training data five open
 * anything.
 */
static bool is_unseen(const struct reader *reader, struct str text)
{
    size_t n_letters;
    struct str word = lone_word(text, &n_letters);
    struct reader_pieces pieces;
    uint32_t c;
    uint32_t len;

    if (word.len == 0) {
        return false;
    }
    pieces = reader_pieces_of(reader, word);
    return pieces.n_unknown * 2 > pieces.count ||
           (char_at(word, 0, &c, &len) != CHAR_HAN &&
            pieces.count >= n_letters && n_letters > 1);
}

/* It opens nothing and says nothing to keep; whether it ends something is told
 * by the turns before as well. */
static void take_nothing(struct reader_sentence *read)
{
    read->act[READER_ACT_NONE] += read->act[READER_ACT_OPENS];
    read->act[READER_ACT_OPENS] = 0;
    memset(read->keep, 0, sizeof(read->keep));
    read->keep[READER_KEEP_NONE] = 1.0f;
}

static enum clew_status ask(const struct batch_work *batch,
                            const struct sense_turn *turn,
                            struct sense_answer *out, struct clew_error *err)
{
    size_t n = turn->analysis->n_sentences;
    struct reader_span *spans = arena_zero(batch->arena, n + 1, sizeof(*spans));
    struct arena own; /* a reader needs much, and none of it after */
    enum clew_status status;

    if (!spans) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct span *span = &turn->analysis->sentences[i].span;

        spans[i] = (struct reader_span){span->from, span->to};
    }
    arena_init(&own, SCRATCH_BYTES);
    status =
        reader_read_gist(batch->engine->reader, &own, &turn->said, turn->before,
                         turn->n_before, spans, n, out->read, &out->gist, err);
    arena_release(&own);
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        if (is_unseen(batch->engine->reader,
                      str_sub(turn->said.text, spans[i].from, spans[i].to))) {
            take_nothing(&out->read[i]);
        }
    }
    return status;
}

enum clew_status sense_read(struct batch_work *batch,
                            const struct sense_turn *turn,
                            struct reader_sentence **out,
                            struct reader_gist *out_gist,
                            struct clew_error *err)
{
    struct sense_answer answer = {.key = turn_key(turn)};
    const struct sense_answer *before = known(batch, &answer.key);
    size_t n = turn->analysis->n_sentences;
    enum clew_status status = CLEW_OK;

    /* what is remembered stays as it was said: callers may change theirs */
    *out = arena_zero(batch->arena, n + 1, sizeof(**out));
    if (out_gist) {
        memset(out_gist, 0, sizeof(*out_gist));
    }
    if (!*out) {
        return clew_no_memory(err);
    }
    if (!batch->engine->reader) {
        return rule_read(batch->arena, turn->analysis, turn->intent, *out) ==
                       CLEW_OK
                   ? CLEW_OK
                   : clew_no_memory(err);
    }
    if (!before || !before->read) {
        answer.read = arena_zero(batch->arena, n + 1, sizeof(*answer.read));
        status =
            answer.read ? ask(batch, turn, &answer, err) : clew_no_memory(err);
        if (status != CLEW_OK) {
            return status;
        }
        remember(batch, &answer);
        before = &answer;
    }
    memcpy(*out, before->read, n * sizeof(**out));
    if (out_gist) {
        *out_gist = before->gist;
    }
    return CLEW_OK;
}

/* --- pairs --- */

static struct uuid pair_key(enum reader_pair_kind kind,
                            const struct reader_pair *pair)
{
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, &kind, sizeof(kind));
    add_text(&hash, pair->a);
    add_text(&hash, pair->b);
    return key_of(&hash);
}

/* Pairs that are compared side by side, in as many parts as there are hands. */
struct compared {
    const struct reader *reader;
    enum reader_pair_kind kind;
    const struct reader_pair *pairs;
    size_t n;
    size_t n_parts;
    struct reader_verdict *out;
    enum clew_status status[SENSE_MAX_PAIRS];
};

static void compare_part(void *arg, size_t part)
{
    struct compared *all = arg;
    size_t from = all->n * part / all->n_parts;
    size_t to = all->n * (part + 1) / all->n_parts;
    struct arena own;

    arena_init(&own, SCRATCH_BYTES);
    all->status[part] =
        reader_compare(all->reader, &own, all->kind, all->pairs + from,
                       to - from, all->out + from, NULL);
    arena_release(&own);
}

static enum clew_status compare(const struct engine *engine,
                                enum reader_pair_kind kind,
                                const struct reader_pair *pairs, size_t n,
                                struct reader_verdict *out,
                                struct clew_error *err)
{
    struct crew *crew = engine_crew(engine);
    size_t hands = crew_size(crew);
    struct compared all = {.reader = engine->reader,
                           .kind = kind,
                           .pairs = pairs,
                           .n = n,
                           .n_parts = n < hands ? n : hands,
                           .out = out};

    crew_run(crew, compare_part, &all, all.n_parts);
    for (size_t i = 0; i < all.n_parts; i++) {
        if (all.status[i] != CLEW_OK) {
            return clew_no_memory(err); /* is all that can fail */
        }
    }
    return CLEW_OK;
}

enum clew_status sense_compare(struct batch_work *batch,
                               enum reader_pair_kind kind,
                               const struct reader_pair *pairs, size_t n,
                               struct reader_verdict *out,
                               struct clew_error *err)
{
    struct reader_pair open[SENSE_MAX_PAIRS];
    struct reader_verdict verdicts[SENSE_MAX_PAIRS];
    struct uuid keys[SENSE_MAX_PAIRS];
    size_t places[SENSE_MAX_PAIRS];
    size_t n_open = 0;
    enum clew_status status = CLEW_OK;

    assert(n <= SENSE_MAX_PAIRS);
    for (size_t i = 0; i < n; i++) {
        struct uuid key = pair_key(kind, &pairs[i]);
        const struct sense_answer *before = known(batch, &key);

        if (before) {
            out[i] = before->verdict;
        } else {
            keys[n_open] = key;
            places[n_open] = i;
            open[n_open++] = pairs[i];
        }
    }
    if (n_open > 0) {
        status = compare(batch->engine, kind, open, n_open, verdicts, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n_open; i++) {
        struct sense_answer answer = {.key = keys[i], .verdict = verdicts[i]};

        out[places[i]] = verdicts[i];
        remember(batch, &answer);
    }
    return status;
}

/* --- texts --- */

/* A text that was made, or s == NULL. */
static struct str made(const char *text)
{
    return text ? str_of(text) : (struct str){NULL, 0};
}

struct str sense_said(struct arena *arena, const struct reader_said *said)
{
    return made(arena_printf(arena, "%.*s: %.*s", (int)said->speaker.len,
                             said->speaker.s, (int)said->text.len,
                             said->text.s));
}

struct str sense_two_answers(struct arena *arena,
                             const struct reader_said *earlier,
                             const struct reader_said *later)
{
    struct str now = sense_said(arena, later);
    struct str then = sense_said(arena, earlier);

    if (!now.s || !then.s) {
        return (struct str){0};
    }
    return made(arena_printf(arena, "%.*s || %.*s",
                             (int)utf8_cut(now, LATER_BYTES), now.s,
                             (int)utf8_cut(then, EARLIER_BYTES), then.s));
}

struct str sense_step(struct arena *arena, const struct reader_said *turn,
                      const struct reader_said *before)
{
    struct str head;

    if (!before) {
        return sense_said(arena, turn);
    }
    head = utf8_head(before->text, BEFORE_BYTES);
    return made(arena_printf(
        arena, "%.*s: %.*s || %.*s: %.*s", (int)turn->speaker.len,
        turn->speaker.s, (int)turn->text.len, turn->text.s,
        (int)before->speaker.len, before->speaker.s, (int)head.len, head.s));
}
