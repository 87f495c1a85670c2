/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - lay out a segment: rows in order, columns, postings, terms.
 *
 * The two kinds of sources differ only in where a row's columns and a term's
 * postings come from: struct input hides that. Terms are in build_terms.c.
 */
#include "index/build.h"

#include "base/alloc.h"
#include "index/build_internal.h"
#include "vec/vec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order;

    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    order = memcmp(x->user->b, y->user->b, sizeof(x->user->b));
    if (order == 0) {
        order = uuid_cmp(x->chat, y->chat);
    }
    if (order == 0 && x->seq != y->seq) {
        order = x->seq < y->seq ? -1 : 1;
    }
    return order ? order : uuid_cmp(x->id, y->id);
}

static bool same_user(const struct row *x, const struct row *y)
{
    return x->kind == y->kind &&
           memcmp(x->user->b, y->user->b, sizeof(x->user->b)) == 0;
}

static bool same_chat(const struct row *x, const struct row *y)
{
    return same_user(x, y) && uuid_eq(x->chat, y->chat);
}

static size_t n_dates_of(const struct build *b, const struct row *row)
{
    const struct index_range *unused;

    if (b->in.docs) {
        size_t n = b->in.docs[row->doc]->n_dates;

        return n < INDEX_MAX_RANGES ? n : INDEX_MAX_RANGES;
    }
    return segment_dates(b->in.segments[row->source], row->doc, &unused);
}

static bool has_halves(const struct build *b, const struct row *row)
{
    const int8_t *unused;

    if (b->in.docs) {
        const struct index_doc *doc = b->in.docs[row->doc];

        return b->kind->dim && doc->vector && doc->halves;
    }
    return b->kind->dim &&
           segment_half_of(b->in.segments[row->source], row->doc, &unused);
}

/* The gist of a row, if it is one that is kept; or NULL. */
static const int8_t *gist_of(const struct build *b, const struct row *row)
{
    const struct segment *s;

    if (b->in.docs) {
        return b->in.docs[row->doc]->gist;
    }
    s = b->in.segments[row->source];
    return s->head->gists == b->gists ? segment_gist_of(s, row->doc) : NULL;
}

/* Gists of one kind only: the set's or, where it makes none, the first that
 * are there. */
static void choose_gists(struct build *b)
{
    b->gists = b->kind->gists;
    for (size_t i = 0; i < b->in.n_segments && b->gists == 0; i++) {
        b->gists = b->in.segments[i]->head->gists;
    }
}

/*
 * Is this row part of the sample? Its hash, if so: of its words, when it was
 * said and the how manieth it was. A segment has kept the answer.
 */
static bool draws(const struct build *b, const struct row *row,
                  uint32_t *out_hash)
{
    const struct index_doc *doc;
    uint64_t hash;

    if (!b->in.docs) {
        return segment_has_drawn(b->in.segments[row->source], row->doc,
                                 out_hash);
    }
    doc = b->in.docs[row->doc];
    hash = (uint64_t)doc->created_at_ms * 0x9e3779b97f4a7c15ull +
           (uint64_t)doc->seq;
    for (size_t i = 0; i < doc->n_terms; i++) { /* they are in any order */
        hash += doc->terms[i].hash * (2 * (uint64_t)doc->terms[i].tf2 + 1);
    }
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ull;
    *out_hash = (uint32_t)(hash >> 32);
    return hash % SAMPLE_EVERY == 0;
}

static uint64_t speaker_of(const struct build *b, const struct row *row)
{
    return b->in.docs
               ? b->in.docs[row->doc]->speaker
               : segment_speaker_of(b->in.segments[row->source], row->doc);
}

static void count_rows(struct build *b)
{
    uint32_t unused;

    choose_gists(b);
    for (size_t i = 0; i < b->n_rows; i++) {
        const struct row *row = &b->rows[i];

        b->n_users += i == 0 || !same_user(row, row - 1);
        b->n_chats += i == 0 || !same_chat(row, row - 1);
        b->n_dates += (uint32_t)n_dates_of(b, row);
        b->n_halves += has_halves(b, row);
        b->n_gists += gist_of(b, row) != NULL;
        b->n_speakers += speaker_of(b, row) != 0;
        b->n_sample += draws(b, row, &unused);
    }
}

static enum clew_status lay_out(struct build *b, struct clew_error *err)
{
    size_t n = b->n_rows;
    size_t dim = b->kind->dim;
    size_t *sizes = b->sizes;
    enum clew_status status;
    size_t head;

    sizes[PART_USERS] = b->n_users * sizeof(struct segment_user);
    sizes[PART_CHATS] = b->n_chats * sizeof(struct segment_chat);
    sizes[PART_CHAT_IDS] = b->n_chats * sizeof(uint32_t);
    sizes[PART_DOCS] = n * sizeof(struct segment_doc);
    sizes[PART_TIMES] = n * sizeof(int64_t);
    sizes[PART_LENGTHS] = n;
    sizes[PART_FLAGS] = n;
    sizes[PART_DATES] = b->n_dates * sizeof(struct index_range);
    sizes[PART_MARKS] = (n + 63) / 64 * sizeof(struct segment_marks);
    sizes[PART_SPEAKERS] = b->n_speakers * sizeof(uint64_t);
    sizes[PART_IDS] = n * sizeof(uint32_t);
    sizes[PART_VECTORS] = n * dim;
    sizes[PART_FORMS] = dim ? n * sizeof(struct vec_form) : 0;
    sizes[PART_BITS] = dim ? n * VEC_BIT_BYTES(dim) : 0;
    sizes[PART_HALVES] = b->n_halves * sizeof(struct segment_half);
    sizes[PART_FIRSTS] = b->n_halves * dim;
    sizes[PART_GISTS] = (size_t)b->n_gists * INDEX_GIST_DIM;
    sizes[PART_SAMPLE] = b->n_sample * sizeof(struct segment_sample);
    status = region_add(&b->out, sizeof(struct segment_header), &head, err);
    for (int i = 0; i < PART_POSTINGS && status == CLEW_OK; i++) {
        status = region_add(&b->out, sizes[i], &b->offsets[i], err);
    }
    return status;
}

static double dot_of(const float *x, const float *y, size_t dim)
{
    double sum = 0; /* products of floats are exact in doubles */

    for (size_t i = 0; i < dim; i++) {
        sum += (double)x[i] * (double)y[i];
    }
    return sum;
}

/* The first half as it is, the second by the whole and the first: the nearest
 * to it that the two can make. */
void build_half(const struct segment_kind *kind, const struct index_doc *doc,
                struct segment_half *out, int8_t *first)
{
    size_t dim = kind->dim;
    double both = dot_of(doc->vector, doc->halves, dim);
    double whole = dot_of(doc->vector, doc->halves + dim, dim);
    double other = dot_of(doc->halves, doc->halves + dim, dim);
    double rest = 1 - both * both;

    vec_quantise_about(doc->halves, kind->centre, dim, first, &out->form);
    out->whole = 1; /* the first is all there is to it */
    out->first = 0;
    if (rest > 1e-3) {
        out->whole = (float)((whole - both * other) / rest);
        out->first = (float)((both * whole - other) / rest);
    }
}

/* The halves of the row at `at`, which has some, are number `half`. */
static void copy_halves(struct build *b, const struct row *row, uint32_t half)
{
    struct segment_half *out =
        (struct segment_half *)build_part(b, PART_HALVES) + half;
    int8_t *first = (int8_t *)build_part(b, PART_FIRSTS) + half * b->kind->dim;
    const int8_t *from = NULL;

    if (b->in.docs) {
        build_half(b->kind, b->in.docs[row->doc], out, first);
    } else {
        *out = *segment_half_of(b->in.segments[row->source], row->doc, &from);
        memcpy(first, from, b->kind->dim);
    }
}

static void fill_from_doc(struct build *b, uint32_t at, const struct row *row,
                          uint32_t *n_dates)
{
    const struct index_doc *doc = b->in.docs[row->doc];
    struct segment_doc *out =
        (struct segment_doc *)build_part(b, PART_DOCS) + at;
    size_t dim = b->kind->dim;
    size_t n;

    out->length = doc->length;
    out->change_seq = doc->change_seq;
    n = n_dates_of(b, row);
    if (n) {
        memcpy((struct index_range *)build_part(b, PART_DATES) + *n_dates,
               doc->dates, n * sizeof(*doc->dates));
    }
    *n_dates += (uint32_t)n;
    ((int64_t *)build_part(b, PART_TIMES))[at] = doc->created_at_ms;
    ((uint8_t *)build_part(b, PART_FLAGS))[at] = (uint8_t)doc->flags;
    if (dim && doc->vector) {
        int8_t *quantised = (int8_t *)build_part(b, PART_VECTORS) + at * dim;
        uint64_t *bits = (uint64_t *)build_part(b, PART_BITS);
        struct vec_form *forms = (struct vec_form *)build_part(b, PART_FORMS);

        vec_quantise_about(doc->vector, b->kind->centre, dim, quantised,
                           &forms[at]);
        vec_sign_bits(quantised, dim, bits + at * (VEC_BIT_BYTES(dim) / 8));
    }
}

static void fill_from_segment(struct build *b, uint32_t at,
                              const struct row *row, uint32_t *n_dates)
{
    const struct segment *s = b->in.segments[row->source];
    struct segment_doc *out =
        (struct segment_doc *)build_part(b, PART_DOCS) + at;
    const struct segment_doc *doc = &s->docs[row->doc];
    const struct index_range *dates = NULL;
    size_t dim = b->kind->dim;
    size_t n;

    out->length = doc->length;
    out->change_seq = doc->change_seq;
    n = segment_dates(s, row->doc, &dates);
    if (n) {
        memcpy((struct index_range *)build_part(b, PART_DATES) + *n_dates,
               dates, n * sizeof(*dates));
    }
    *n_dates += (uint32_t)n;
    ((int64_t *)build_part(b, PART_TIMES))[at] = s->times[row->doc];
    ((uint8_t *)build_part(b, PART_FLAGS))[at] = s->flags[row->doc];
    if (dim && !segment_is_bare(s)) {
        size_t bit_bytes = VEC_BIT_BYTES(dim);

        ((struct vec_form *)build_part(b, PART_FORMS))[at] = s->forms[row->doc];
        memcpy((int8_t *)build_part(b, PART_VECTORS) + at * dim,
               s->vectors + row->doc * dim, dim);
        memcpy((uint8_t *)build_part(b, PART_BITS) + at * bit_bytes,
               (const uint8_t *)s->bits + row->doc * bit_bytes, bit_bytes);
    }
}

static void open_user(struct build *b, uint32_t user, uint32_t chat,
                      uint32_t doc, const struct row *row)
{
    struct segment_user *out = (struct segment_user *)build_part(b, PART_USERS);

    if (user > 0) {
        out[user - 1].end_doc = doc;
        out[user - 1].end_chat = chat;
    }
    if (row) {
        out[user].key = *row->user;
        out[user].kind = row->kind;
        out[user].first_doc = doc;
        out[user].first_chat = chat;
    }
}

static void open_chat(struct build *b, uint32_t user, uint32_t chat,
                      uint32_t doc, const struct row *row)
{
    struct segment_chat *out = (struct segment_chat *)build_part(b, PART_CHATS);

    if (chat > 0) {
        out[chat - 1].end_doc = doc;
    }
    if (row) {
        out[chat].id = *row->chat;
        out[chat].user = user;
        out[chat].first_doc = doc;
    }
}

/* What few rows have, one after the other. */
static void fill_marked(struct build *b)
{
    struct segment_marks *marks = build_part(b, PART_MARKS);
    uint64_t *speakers = build_part(b, PART_SPEAKERS);
    int8_t *gists = build_part(b, PART_GISTS);
    uint32_t n[N_MARKS] = {0};

    for (uint32_t i = 0; i < b->n_rows; i++) {
        const struct row *row = &b->rows[i];
        struct segment_marks *at = &marks[i / 64];
        const int8_t *gist = gist_of(b, row);
        uint64_t speaker = speaker_of(b, row);
        uint64_t bit = (uint64_t)1 << i % 64;

        if (i % 64 == 0) {
            memcpy(at->before, n, sizeof(n));
        }
        if (has_halves(b, row)) {
            copy_halves(b, row, n[MARK_HALF]++);
            at->have[MARK_HALF] |= bit;
        }
        if (gist) {
            memcpy(gists + (size_t)n[MARK_GIST]++ * INDEX_GIST_DIM, gist,
                   INDEX_GIST_DIM);
            at->have[MARK_GIST] |= bit;
        }
        if (speaker) {
            speakers[n[MARK_SPEAKER]++] = speaker;
            at->have[MARK_SPEAKER] |= bit;
        }
    }
}

static void fill_columns(struct build *b)
{
    struct segment_doc *docs = build_part(b, PART_DOCS);
    struct segment_user *users = build_part(b, PART_USERS);
    struct segment_chat *chats = build_part(b, PART_CHATS);
    struct segment_sample *sample = build_part(b, PART_SAMPLE);
    uint8_t *lengths = build_part(b, PART_LENGTHS);
    uint32_t n_users = 0;
    uint32_t n_chats = 0;
    uint32_t n_dates = 0;

    for (uint32_t i = 0; i < b->n_rows; i++) {
        const struct row *row = &b->rows[i];
        uint32_t hash;

        if (i == 0 || !same_user(row, row - 1)) {
            open_user(b, n_users++, n_chats, i, row);
        }
        if (i == 0 || !same_chat(row, row - 1)) {
            open_chat(b, n_users - 1, n_chats++, i, row);
        }
        docs[i].id = *row->id;
        docs[i].seq = (uint32_t)row->seq;
        docs[i].chat = n_chats - 1;
        docs[i].first_date = n_dates;
        if (b->in.docs) {
            fill_from_doc(b, i, row, &n_dates);
        } else {
            fill_from_segment(b, i, row, &n_dates);
        }
        users[n_users - 1].length_sum += docs[i].length;
        chats[n_chats - 1].length_sum += docs[i].length;
        lengths[i] = length_code(docs[i].length);
        if (draws(b, row, &hash)) {
            *sample++ = (struct segment_sample){i, hash};
        }
    }
    open_user(b, n_users, n_chats, (uint32_t)b->n_rows, NULL);
    open_chat(b, 0, n_chats, (uint32_t)b->n_rows, NULL);
    fill_marked(b);
}

static int compare_doc_ids(const void *a, const void *b, void *arg)
{
    const struct segment_doc *docs = arg;

    return uuid_cmp(&docs[*(const uint32_t *)a].id,
                    &docs[*(const uint32_t *)b].id);
}

static int compare_chat_ids(const void *a, const void *b, void *arg)
{
    const struct segment_chat *chats = arg;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int order = uuid_cmp(&chats[x].id, &chats[y].id);

    return order ? order : (x < y ? -1 : x > y);
}

static void sort_ids(struct build *b)
{
    uint32_t *ids = build_part(b, PART_IDS);
    uint32_t *chats = build_part(b, PART_CHAT_IDS);

    for (uint32_t i = 0; i < b->n_rows; i++) {
        ids[i] = i;
    }
    for (uint32_t i = 0; i < b->n_chats; i++) {
        chats[i] = i;
    }
    qsort_r(ids, b->n_rows, sizeof(*ids), compare_doc_ids,
            build_part(b, PART_DOCS));
    qsort_r(chats, b->n_chats, sizeof(*chats), compare_chat_ids,
            build_part(b, PART_CHATS));
}

static void write_header(struct build *b, uint32_t bucket_bits)
{
    struct segment_header *head = (struct segment_header *)b->out.base;
    const int64_t *times = build_part(b, PART_TIMES);

    memcpy(head->magic, SEGMENT_MAGIC, sizeof(head->magic));
    head->version = SEGMENT_VERSION;
    head->dim = b->kind->dim;
    head->model = b->kind->model;
    head->analyser = b->kind->analyser;
    head->n_docs = (uint32_t)b->n_rows;
    head->n_users = b->n_users;
    head->n_chats = b->n_chats;
    head->n_terms = (uint32_t)b->n_terms;
    head->n_dates = b->n_dates;
    head->n_halves = b->n_halves;
    head->n_gists = b->n_gists;
    head->n_speakers = b->n_speakers;
    head->gists = b->n_gists > 0 ? b->gists : 0;
    head->n_sample = b->n_sample;
    head->bucket_bits = bucket_bits;
    for (size_t i = 0; i < b->n_rows; i++) {
        for (uint32_t k = b->rows[i].kind; k < INDEX_KINDS; k++) {
            head->kind_end[k] = (uint32_t)i + 1;
        }
    }
    head->newest_ms = INT64_MIN;
    for (size_t i = 0; i < b->n_rows; i++) {
        head->newest_ms =
            times[i] > head->newest_ms ? times[i] : head->newest_ms;
    }
    for (int i = 0; i < N_PARTS; i++) {
        head->parts[i].offset = b->offsets[i];
        head->parts[i].size = b->sizes[i];
    }
    head->body_sum =
        checksum(b->out.base + sizeof(*head), b->out.len - sizeof(*head));
    head->header_sum =
        checksum(b->out.base, offsetof(struct segment_header, header_sum));
}

/* Everything after the rows are in order. */
static enum clew_status finish(struct build *b, const char *path,
                               struct segment **out_segment,
                               struct clew_error *err)
{
    const uint8_t *base = NULL;
    uint32_t bucket_bits;
    enum clew_status status = region_open(&b->out, path, err);

    if (status == CLEW_OK) {
        count_rows(b);
        status = lay_out(b, err);
    }
    if (status == CLEW_OK) {
        fill_columns(b);
        sort_ids(b);
        status = build_postings(b, err);
    }
    if (status == CLEW_OK) {
        bucket_bits = build_bucket_bits(b->n_terms);
        status = build_terms(b, bucket_bits, err);
    }
    if (status == CLEW_OK) {
        write_header(b, bucket_bits);
        status = region_take(&b->out, &base, err);
    }
    if (status == CLEW_OK) {
        status = segment_open(base, b->out.len, path != NULL, b->kind,
                              out_segment, err);
        /* cannot be corrupt; on OOM the bytes leak unless given back */
        if (status != CLEW_OK && !path) {
            alloc_free((void *)(uintptr_t)base);
        }
    }
    if (status != CLEW_OK && path) {
        (void)unlink(path); /* nobody knows of it yet */
    }
    return status;
}

static void release(struct build *b)
{
    for (size_t i = 0; b->in.map && i < b->in.n_segments; i++) {
        alloc_free(b->in.map[i]);
    }
    alloc_free((void *)b->in.map);
    alloc_free(b->in.keys);
    alloc_free(b->in.triples);
    alloc_free(b->in.term_at);
    alloc_free(b->in.postings);
    alloc_free(b->in.spare);
    alloc_free(b->rows);
    alloc_free(b->terms);
    region_close(&b->out);
}

/* As a segment has room for it. */
static int64_t seq_of(const struct index_doc *doc)
{
    int64_t seq = doc->seq < SEGMENT_MAX_SEQ ? doc->seq : SEGMENT_MAX_SEQ;

    return seq > 0 ? seq : 0;
}

enum clew_status build_docs(const struct segment_kind *kind,
                            const struct index_doc *const *docs, size_t count,
                            struct segment **out_segment,
                            struct clew_error *err)
{
    struct build b = {.kind = kind, .in.docs = docs, .out.fd = -1};
    enum clew_status status = CLEW_NO_MEMORY;

    if (count == 0) {
        *out_segment = NULL;
        return CLEW_OK;
    }
    b.rows = alloc_zero(count, sizeof(*b.rows));
    b.in.keys = alloc_zero(count, sizeof(*b.in.keys));
    if (!b.rows || !b.in.keys || count > SEGMENT_MAX_DOCS) {
        status = clew_fail(err, CLEW_NO_MEMORY, "could not build a segment");
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_same = i > 0 && str_eq(docs[i]->user, docs[i - 1]->user);

        b.in.keys[i] = is_same ? b.in.keys[i - 1] : user_key_of(docs[i]->user);
        b.rows[i] = (struct row){.user = &b.in.keys[i],
                                 .chat = &docs[i]->chat,
                                 .id = &docs[i]->id,
                                 .seq = seq_of(docs[i]),
                                 .kind = (uint32_t)docs[i]->kind,
                                 .doc = (uint32_t)i};
    }
    b.n_rows = count;
    qsort(b.rows, count, sizeof(*b.rows), compare_rows);
    status = build_triples(&b, err);
    if (status == CLEW_OK) {
        status = finish(&b, NULL, out_segment, err);
    }
out:
    release(&b);
    return status;
}

static struct row row_of(const struct segment *s, uint32_t source, uint32_t doc,
                         const struct segment_chat *chat)
{
    const struct segment_user *user = &s->users[chat->user];

    return (struct row){
        &user->key, &chat->id, &s->docs[doc].id, s->docs[doc].seq, user->kind,
        source,     doc};
}

/* The next live row of a segment at or after *at; false at its end. */
static bool next_row(const struct segment *s, uint32_t source, uint32_t *at,
                     struct row *out)
{
    for (; *at < s->head->n_docs; (*at)++) {
        const struct segment_chat *chat;

        if (segment_is_removed(s, *at)) {
            continue;
        }
        chat = segment_chat_of(s, *at);
        if (chat) {
            *out = row_of(s, source, *at, chat);
            return true;
        }
    }
    return false;
}

/* All live rows of all segments in order; the sources are in order. */
static void merge_rows(struct build *b, struct row *heads, uint32_t *at)
{
    struct input *in = &b->in;

    for (size_t s = 0; s < in->n_segments; s++) {
        if (!next_row(in->segments[s], (uint32_t)s, &at[s], &heads[s])) {
            at[s] = UINT32_MAX;
        }
    }
    for (;;) {
        size_t best = SIZE_MAX;

        for (size_t s = 0; s < in->n_segments; s++) {
            if (at[s] != UINT32_MAX &&
                (best == SIZE_MAX ||
                 compare_rows(&heads[s], &heads[best]) < 0)) {
                best = s;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        in->map[best][at[best]] = (uint32_t)b->n_rows;
        b->rows[b->n_rows++] = heads[best];
        at[best]++;
        if (!next_row(in->segments[best], (uint32_t)best, &at[best],
                      &heads[best])) {
            at[best] = UINT32_MAX;
        }
    }
}

static enum clew_status prepare_merge(struct build *b, struct clew_error *err)
{
    struct input *in = &b->in;
    size_t total = 0;

    in->map = alloc_zero(in->n_segments, sizeof(*in->map));
    in->term_at = alloc_zero(in->n_segments, sizeof(*in->term_at));
    for (size_t s = 0; in->map && s < in->n_segments; s++) {
        size_t n = in->segments[s]->head->n_docs;

        total += n;
        in->map[s] = alloc_array(NULL, n, sizeof(uint32_t));
        if (!in->map[s]) {
            total = SIZE_MAX / 2;
            break;
        }
        memset(in->map[s], 0xff, n * sizeof(uint32_t));
    }
    if (total < SIZE_MAX / 2 && total > SEGMENT_MAX_DOCS) {
        return clew_fail(err, CLEW_TOO_LARGE, "too large for a segment");
    }
    in->cap_postings = total;
    b->rows = alloc_array(NULL, total, sizeof(*b->rows));
    in->postings = alloc_array(NULL, total, sizeof(*in->postings));
    in->spare = alloc_array(NULL, total, sizeof(*in->spare));
    if (!in->map || !in->term_at || !b->rows || !in->postings || !in->spare) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not merge segments");
    }
    return CLEW_OK;
}

enum clew_status build_merge(const struct segment_kind *kind,
                             struct segment *const *segments, size_t count,
                             const char *path, struct segment **out_segment,
                             struct clew_error *err)
{
    struct build b = {.kind = kind,
                      .in.segments = segments,
                      .in.n_segments = count,
                      .out.fd = -1};
    struct row *heads = alloc_zero(count, sizeof(*heads));
    uint32_t *at = alloc_zero(count, sizeof(*at));
    enum clew_status status;

    if (!heads || !at) {
        status = clew_fail(err, CLEW_NO_MEMORY, "could not merge segments");
        goto out;
    }
    status = prepare_merge(&b, err);
    if (status != CLEW_OK) {
        goto out;
    }
    merge_rows(&b, heads, at);
    if (b.n_rows == 0) {
        *out_segment = NULL;
    } else {
        status = finish(&b, path, out_segment, err);
    }
out:
    alloc_free(heads);
    alloc_free(at);
    release(&b);
    return status;
}
