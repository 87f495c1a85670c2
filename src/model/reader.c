/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - lay out tokens, run them, give out the answers. See reader.h.
 *
 *   read     [CLS] BEFORE [SEP] SPEAKER : SENTENCE SENTENCE ... [SEP]
 *   compare  [CLS] A [SEP] B [SEP]
 */
#include "model/reader.h"

#include "base/alloc.h"
#include "model/reader_internal.h"

#include <string.h>

/* Bytes at the end of an earlier turn that are looked at for its last tokens:
 * 48 words of 85 letters. */
#define TAIL_BYTES 4096

/* The sentences of a turn on their way through passes. */
struct reading {
    const struct reader *reader;
    struct reader_batch *batch;
    struct reader_sentence *out;
    size_t n_passes;
    size_t head;    /* tokens before the sentences: [CLS] to the colon */
    size_t n_ids;   /* tokens so far, the head's counted */
    float *means;   /* sums of rows after the gist's layers; NULL: not wanted */
    size_t n_means; /* rows in them */
    size_t n_held;
    struct {
        size_t sentence;
        size_t from; /* its tokens */
        size_t to;
    } held[READER_MAX_TOKENS];
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct str start_of(struct str text)
{
    return str_sub(text, 0, READER_MAX_SENTENCE_BYTES);
}

/* --- reading ------------------------------------------------------------- */

static void write_nothing(struct reader_sentence *out)
{
    memset(out, 0, sizeof(*out));
    out->keep[READER_KEEP_NONE] = 1.0f;
    out->about[READER_ABOUT_THING] = 1.0f;
    out->act[READER_ACT_NONE] = 1.0f;
    out->goes_on = 1.0f;
}

/* "speaker:", at most READER_SPEAKER_TOKENS of it. */
static size_t put_speaker(const struct reader *reader, struct str speaker,
                          uint32_t *ids)
{
    size_t n = wordpiece_run(reader->wordpiece, start_of(speaker), ids,
                             READER_SPEAKER_TOKENS - 1);

    return n + wordpiece_run(reader->wordpiece, STR(":"), ids + n, 1);
}

/* The end of a long text, from the start of a word if there is one. */
static struct str end_of(struct str text)
{
    struct str tail;
    size_t at = 0;

    if (text.len <= TAIL_BYTES) {
        return text;
    }
    tail = str_sub(text, text.len - TAIL_BYTES, text.len);
    while (at < tail.len && tail.s[at] != ' ' && tail.s[at] != '\n') {
        at++;
    }
    return at < tail.len ? str_sub(tail, at, tail.len) : tail;
}

/*
 * The last tokens of what was said before, into ids[0..]; newest turns first
 * until there are enough. `room` holds the tokens of one turn.
 */
static size_t put_before(const struct reader *reader,
                         const struct reader_said *before, size_t n_before,
                         uint32_t *room, uint32_t *ids)
{
    uint32_t last[READER_BEFORE_TOKENS];
    size_t free = READER_BEFORE_TOKENS;

    while (n_before > 0 && free > 0) {
        const struct reader_said *said = &before[n_before - 1];
        size_t n = put_speaker(reader, said->speaker, room);
        size_t take;

        n += wordpiece_run(reader->wordpiece, end_of(said->text), room + n,
                           TAIL_BYTES);
        take = n < free ? n : free;
        free -= take;
        memcpy(last + free, room + n - take, take * sizeof(*ids));
        n_before--;
    }
    memcpy(ids, last + free, (READER_BEFORE_TOKENS - free) * sizeof(*ids));
    return READER_BEFORE_TOKENS - free;
}

/* Rows for a pass over these sentences, of which a token takes a byte or
 * more. */
static size_t rows_of(const struct reader_span *sentences, size_t n)
{
    size_t rows = 3 + READER_BEFORE_TOKENS + READER_SPEAKER_TOKENS;

    for (size_t i = 0; i < n && rows < READER_MAX_TOKENS; i++) {
        rows += sentences[i].to > sentences[i].from
                    ? sentences[i].to - sentences[i].from
                    : 0;
    }
    return least(rows, READER_MAX_TOKENS);
}

/* Sum the rows of the sentences after one of the gist's layers. */
static void add_means(struct reading *reading, size_t layer)
{
    const struct reader_batch *batch = reading->batch;
    size_t dim = reading->reader->dim;
    float *sum = reading->means + layer * dim;

    for (size_t r = reading->head; r < batch->n_rows; r++) {
        for (size_t i = 0; i < dim; i++) {
            sum[i] += batch->x[r * dim + i];
        }
    }
}

/* The layers that read a turn, with what its gist wants of them. */
static void run_layers(struct reading *reading)
{
    const struct reader *reader = reading->reader;
    const struct reader_gist_head *gist = &reader->gist;
    size_t last = reader->read_layer;
    size_t from = 0;

    for (size_t i = 0; reading->means && i < gist->n_layers; i++) {
        size_t to = gist->layers[i];

        reader_run(reader, reader->layers, reading->batch, from, to,
                   to == last ? reading->head : 0);
        add_means(reading, i);
        from = to;
    }
    if (from < last) {
        reader_run(reader, reader->layers, reading->batch, from, last,
                   reading->head);
    }
    reading->n_means += reading->batch->n_rows - reading->head;
}

/* Run the sentences held and write what they say. */
static void end_pass(struct reading *reading)
{
    const struct reader *reader = reading->reader;
    struct reader_batch *batch = reading->batch;
    float mean[READER_MAX_DIM];
    float goes_on;

    if (reading->n_held == 0) {
        return;
    }
    batch->ids[reading->n_ids] = reader->last_id;
    batch->n_rows = reading->n_ids + 1;
    batch->n_texts = 1;
    batch->starts[1] = batch->n_rows;
    run_layers(reading);
    reader_mean(reader, batch, reading->head, batch->n_rows, mean);
    reader_ask(reader, READER_HEAD_GOES, mean, &goes_on);
    for (size_t i = 0; i < reading->n_held; i++) {
        struct reader_sentence *out = &reading->out[reading->held[i].sentence];

        out->goes_on = goes_on;
        reader_mean(reader, batch, reading->held[i].from, reading->held[i].to,
                    mean);
        reader_ask(reader, READER_HEAD_KEEP, mean, out->keep);
        reader_ask(reader, READER_HEAD_FLAG, mean, out->flag);
        reader_ask(reader, READER_HEAD_ABOUT, mean, out->about);
        reader_ask(reader, READER_HEAD_ACT, mean, out->act);
    }
    reading->n_passes++;
    reading->n_ids = reading->head;
    reading->n_held = 0;
}

/* Hold one sentence, after a pass if there is no room for all of it. */
static void add_sentence(struct reading *reading, size_t at, struct str text)
{
    uint32_t ids[READER_MAX_TOKENS];
    size_t end = reading->batch->cap_rows - 1; /* the last is [SEP] */
    size_t n = wordpiece_run(reading->reader->wordpiece, start_of(text), ids,
                             end - reading->head);

    if (n == 0) {
        return;
    }
    if (reading->n_ids + n > end) {
        end_pass(reading);
    }
    if (reading->n_passes == READER_MAX_PASSES) {
        return;
    }
    memcpy(reading->batch->ids + reading->n_ids, ids, n * sizeof(*ids));
    reading->held[reading->n_held].sentence = at;
    reading->held[reading->n_held].from = reading->n_ids;
    reading->n_ids += n;
    reading->held[reading->n_held].to = reading->n_ids;
    reading->n_held++;
}

/* [CLS] BEFORE [SEP] SPEAKER : stay the same in every pass. */
static void put_head(struct reading *reading, const struct reader_said *turn,
                     const struct reader_said *before, size_t n_before,
                     uint32_t *room)
{
    const struct reader *reader = reading->reader;
    uint32_t *ids = reading->batch->ids;
    size_t n = 0;

    ids[n] = reader->first_id;
    n++;
    n += put_before(reader, before, n_before, room, ids + n);
    ids[n] = reader->last_id;
    n++;
    reading->batch->second[0] = n;
    n += put_speaker(reader, turn->speaker, ids + n);
    reading->head = n;
    reading->n_ids = n;
}

/* Room for a turn on its way, with what its gist wants if `has_gist`. */
static struct reading *reading_new(const struct reader *reader,
                                   struct arena *arena, size_t n_rows,
                                   bool has_gist)
{
    struct reading *reading = arena_zero(arena, 1, sizeof(*reading));

    if (reading) {
        reading->reader = reader;
        reading->batch = reader_batch_new(reader, arena, n_rows);
        if (has_gist) {
            reading->means = arena_zero(
                arena, reader->gist.n_layers * reader->dim, sizeof(float));
        }
    }
    return reading && reading->batch && (!has_gist || reading->means) ? reading
                                                                      : NULL;
}

bool reader_can_gist(const struct reader *reader)
{
    return reader->gist.n_layers > 0;
}

enum clew_status
reader_read_gist(const struct reader *reader, struct arena *arena,
                 const struct reader_said *turn,
                 const struct reader_said *before, size_t n_before,
                 const struct reader_span *sentences, size_t n_sentences,
                 struct reader_sentence *out, struct reader_gist *gist,
                 struct clew_error *err)
{
    bool has_gist = gist && reader_can_gist(reader);
    struct reading *reading;
    uint32_t *room;

    if (gist) {
        memset(gist, 0, sizeof(*gist));
    }

    for (size_t i = 0; i < n_sentences; i++) {
        write_nothing(&out[i]);
    }
    if (n_sentences > READER_MAX_SENTENCES) {
        n_sentences = READER_MAX_SENTENCES;
    }
    reading =
        reading_new(reader, arena, rows_of(sentences, n_sentences), has_gist);
    room = arena_alloc(arena,
                       (READER_SPEAKER_TOKENS + TAIL_BYTES) * sizeof(*room));
    if (!reading || !room) {
        return clew_no_memory(err);
    }
    reading->out = out;
    put_head(reading, turn, before, n_before, room);
    for (size_t i = 0; i < n_sentences; i++) {
        add_sentence(reading, i,
                     str_sub(turn->text, sentences[i].from, sentences[i].to));
    }
    if (reading->n_passes < READER_MAX_PASSES) {
        end_pass(reading);
    }
    if (has_gist) {
        reader_place(reader, reader->gist.turn, reader->gist.turn_bias,
                     reading->means, reading->n_means, gist);
    }
    return CLEW_OK;
}

enum clew_status reader_read(const struct reader *reader, struct arena *arena,
                             const struct reader_said *turn,
                             const struct reader_said *before, size_t n_before,
                             const struct reader_span *sentences,
                             size_t n_sentences, struct reader_sentence *out,
                             struct clew_error *err)
{
    return reader_read_gist(reader, arena, turn, before, n_before, sentences,
                            n_sentences, out, NULL, err);
}

/* As a turn that nothing was said before: so it was trained. */
enum clew_status reader_gist_asked(const struct reader *reader,
                                   struct arena *arena, struct str question,
                                   struct reader_gist *out,
                                   struct clew_error *err)
{
    struct reader_said said = {STR("user"), question};
    struct reader_span whole = {0, (uint32_t)start_of(question).len};
    struct reader_sentence unused;
    struct reading *reading;

    memset(out, 0, sizeof(*out));
    if (!reader_can_gist(reader)) {
        return CLEW_OK;
    }
    reading = reading_new(reader, arena, rows_of(&whole, 1), true);
    if (!reading) {
        return clew_no_memory(err);
    }
    reading->out = &unused;
    put_head(reading, &said, NULL, 0, NULL);
    add_sentence(reading, 0, question);
    end_pass(reading);
    reader_place(reader, reader->gist.asked, reader->gist.asked_bias,
                 reading->means, reading->n_means, out);
    return CLEW_OK;
}

/* --- comparing ----------------------------------------------------------- */

size_t reader_put_pair(const struct reader *reader,
                       const struct reader_pair *pair, uint32_t *ids,
                       size_t *out_second)
{
    size_t n = 0;

    ids[n] = reader->first_id;
    n++;
    n += wordpiece_run(reader->wordpiece, start_of(pair->a), ids + n,
                       READER_A_TOKENS);
    ids[n] = reader->last_id;
    n++;
    *out_second = n;
    n += wordpiece_run(reader->wordpiece, start_of(pair->b), ids + n,
                       READER_B_TOKENS);
    ids[n] = reader->last_id;
    return n + 1;
}

/* Rows for all pairs, or for a whole batch of them. */
static size_t rows_of_pairs(const struct reader *reader,
                            const struct reader_pair *pairs, size_t n)
{
    uint32_t ids[READER_PAIR_TOKENS];
    size_t second;
    size_t rows = 0;

    for (size_t i = 0; i < n && rows < READER_BATCH_TOKENS; i++) {
        rows += reader_put_pair(reader, &pairs[i], ids, &second);
    }
    return least(rows, READER_BATCH_TOKENS);
}

/* Run the pairs gathered; their verdicts go to the first of `out`. */
static void end_batch(const struct reader *reader, struct reader_batch *batch,
                      enum reader_pair_kind kind, struct reader_verdict *out)
{
    enum reader_head head = (enum reader_head)(READER_HEAD_ANSWER + (int)kind);
    float mean[READER_MAX_DIM];

    reader_run(reader, reader_layers_of(reader, kind), batch, 0,
               reader->n_layers, 0);
    for (size_t t = 0; t < batch->n_texts; t++) {
        memset(&out[t], 0, sizeof(out[t]));
        reader_mean(reader, batch, batch->starts[t], batch->starts[t + 1],
                    mean);
        reader_ask(reader, head, mean, out[t].p);
    }
    batch->n_texts = 0;
    batch->n_rows = 0;
}

enum clew_status reader_compare(const struct reader *reader,
                                struct arena *arena, enum reader_pair_kind kind,
                                const struct reader_pair *pairs, size_t n,
                                struct reader_verdict *out,
                                struct clew_error *err)
{
    struct reader_batch *batch =
        reader_batch_new(reader, arena, rows_of_pairs(reader, pairs, n));
    size_t done = 0;

    if (!batch) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t ids[READER_PAIR_TOKENS];
        size_t second;
        size_t count = reader_put_pair(reader, &pairs[i], ids, &second);

        if (batch->n_rows + count > batch->cap_rows) {
            end_batch(reader, batch, kind, out + done);
            done = i;
        }
        memcpy(batch->ids + batch->n_rows, ids, count * sizeof(*ids));
        batch->second[batch->n_texts] = batch->n_rows + second;
        batch->n_rows += count;
        batch->n_texts++;
        batch->starts[batch->n_texts] = batch->n_rows;
    }
    if (n > 0) {
        end_batch(reader, batch, kind, out + done);
    }
    return CLEW_OK;
}

/* --- life ---------------------------------------------------------------- */

enum clew_status reader_open(const char *path, struct reader **out_reader,
                             struct clew_error *err)
{
    struct reader *reader = alloc_zero(1, sizeof(*reader));
    enum clew_status status;

    if (!reader) {
        return clew_no_memory(err);
    }
    reader->kernels = reader_kernels();
    status = reader_load(reader, path, err);
    if (status != CLEW_OK) {
        reader_close(reader);
        return status;
    }
    *out_reader = reader;
    return CLEW_OK;
}

void reader_close(struct reader *reader)
{
    if (reader) {
        reader_unload(reader);
        alloc_free(reader);
    }
}

const char *reader_id(const struct reader *reader)
{
    return reader->id;
}

const char *reader_gist_id(const struct reader *reader)
{
    return reader->gist_id;
}

struct reader_pieces reader_pieces_of(const struct reader *reader,
                                      struct str text)
{
    uint32_t ids[READER_A_TOKENS];
    struct reader_pieces out = {0};

    out.count =
        wordpiece_run(reader->wordpiece, start_of(text), ids, READER_A_TOKENS);
    for (size_t i = 0; i < out.count; i++) {
        out.n_unknown += ids[i] == reader->unknown_id;
    }
    return out;
}

bool reader_knows(const struct reader *reader, struct str text)
{
    struct reader_pieces pieces = reader_pieces_of(reader, text);

    return pieces.n_unknown * 2 <= pieces.count;
}
