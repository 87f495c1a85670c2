/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.c - open a segment, look things up in it.
 */
#include "index/segment.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "vec/vec.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define EXACT_LENGTHS 64
/* Codes above EXACT_LENGTHS: 24 steps a doubling reach 16,000 tokens. */
#define STEPS_PER_DOUBLING 24.0f

struct user_key user_key_of(struct str user)
{
    unsigned char digest[SHA256_SIZE];
    struct user_key key;

    sha256_of(user, digest);
    memcpy(key.b, digest, sizeof(key.b));
    return key;
}

uint8_t length_code(uint32_t length)
{
    float steps;

    if (length < EXACT_LENGTHS) {
        return (uint8_t)length;
    }
    steps = log2f((float)length / EXACT_LENGTHS) * STEPS_PER_DOUBLING;
    return (uint8_t)(steps > 191 ? 255 : EXACT_LENGTHS + (int)steps);
}

/* What the codes stand for; immutable once filled. */
static float lengths[256];

static void fill_lengths(void)
{
    for (int code = 0; code < 256; code++) {
        float steps = (float)(code - EXACT_LENGTHS) / STEPS_PER_DOUBLING;

        lengths[code] =
            code < EXACT_LENGTHS ? (float)code : EXACT_LENGTHS * exp2f(steps);
    }
}

const float *length_table(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fill_lengths); /* cannot fail */
    return lengths;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t checksum(const uint8_t *bytes, size_t len)
{
    static const uint64_t key[4] = {
        0xa0761d6478bd642full, 0xe7037ed1a0b428dbull, 0x8ebc6af09c88c6e3ull,
        0x589965cc75374cc3ull};
    uint64_t lane[4] = {len, 1, 2, 3};
    uint64_t word;
    size_t i = 0;

    for (; i + 32 <= len; i += 32) {
        for (size_t k = 0; k < 4; k++) {
            memcpy(&word, bytes + i + 8 * k, 8);
            lane[k] = mix(lane[k] ^ word ^ key[k], key[k] | 1);
        }
    }
    for (; i < len; i += 8) {
        size_t left = len - i < 8 ? len - i : 8;

        word = 0;
        memcpy(&word, bytes + i, left);
        lane[0] = mix(lane[0] ^ word ^ key[0], key[1]);
    }
    return mix(lane[0] ^ key[0], lane[1] ^ key[1]) ^
           mix(lane[2] ^ key[2], lane[3] ^ key[3]);
}

/* The size each part must have; PART_POSTINGS is free. */
static void sizes_of(const struct segment_header *head, uint64_t sizes[N_PARTS])
{
    uint64_t n = head->n_docs;

    sizes[PART_USERS] = (uint64_t)head->n_users * sizeof(struct segment_user);
    sizes[PART_CHATS] = (uint64_t)head->n_chats * sizeof(struct segment_chat);
    sizes[PART_CHAT_IDS] = (uint64_t)head->n_chats * sizeof(uint32_t);
    sizes[PART_DOCS] = n * sizeof(struct segment_doc);
    sizes[PART_TIMES] = n * sizeof(int64_t);
    sizes[PART_LENGTHS] = n;
    sizes[PART_FLAGS] = n;
    sizes[PART_DATES] = (uint64_t)head->n_dates * sizeof(struct index_range);
    sizes[PART_MARKS] = (n + 63) / 64 * sizeof(struct segment_marks);
    sizes[PART_SPEAKERS] = (uint64_t)head->n_speakers * sizeof(uint64_t);
    sizes[PART_IDS] = n * sizeof(uint32_t);
    sizes[PART_VECTORS] = n * head->dim;
    sizes[PART_FORMS] = head->dim ? n * sizeof(struct vec_form) : 0;
    sizes[PART_BITS] = head->dim ? n * VEC_BIT_BYTES(head->dim) : 0;
    sizes[PART_HALVES] = (uint64_t)head->n_halves * sizeof(struct segment_half);
    sizes[PART_FIRSTS] = (uint64_t)head->n_halves * head->dim;
    sizes[PART_GISTS] = (uint64_t)head->n_gists * INDEX_GIST_DIM;
    sizes[PART_SAMPLE] =
        (uint64_t)head->n_sample * sizeof(struct segment_sample);
    sizes[PART_POSTINGS] = head->parts[PART_POSTINGS].size;
    sizes[PART_TERMS] = (uint64_t)head->n_terms * sizeof(struct segment_term);
    sizes[PART_BUCKETS] =
        (((uint64_t)1 << head->bucket_bits) + 1) * sizeof(uint32_t);
}

static bool header_is_good(const uint8_t *base, size_t size,
                           const struct segment_kind *kind)
{
    const struct segment_header *head = (const struct segment_header *)base;
    uint64_t sizes[N_PARTS];

    if (size < sizeof(*head) ||
        memcmp(head->magic, SEGMENT_MAGIC, sizeof(head->magic)) != 0 ||
        head->version != SEGMENT_VERSION ||
        head->header_sum !=
            checksum(base, offsetof(struct segment_header, header_sum)) ||
        head->model != kind->model ||
        (head->dim != kind->dim && !(kind->can_be_bare && head->dim == 0)) ||
        head->analyser != kind->analyser || head->dim > VEC_MAX_DIM ||
        head->bucket_bits > 24 || head->n_docs == 0) {
        return false;
    }
    sizes_of(head, sizes);
    for (int i = 0; i < N_PARTS; i++) {
        uint64_t offset = head->parts[i].offset;

        if (head->parts[i].size != sizes[i] || offset % 8 != 0 ||
            offset > size || size - offset < sizes[i]) {
            return false;
        }
    }
    return head->parts[PART_POSTINGS].size >= POSTINGS_PAD &&
           head->kind_end[0] <= head->kind_end[1] &&
           head->kind_end[1] <= head->kind_end[2] &&
           head->kind_end[2] == head->n_docs;
}

/* Users and chats must cover the documents in order, without a gap. */
static bool tables_are_good(const struct segment *s)
{
    uint32_t doc = 0;
    uint32_t chat = 0;

    for (uint32_t u = 0; u < s->head->n_users; u++) {
        const struct segment_user *user = &s->users[u];

        if (user->kind >= INDEX_KINDS || user->first_doc != doc ||
            user->first_chat != chat || user->end_chat < chat ||
            user->end_chat > s->head->n_chats) {
            return false;
        }
        for (; chat < user->end_chat; chat++) {
            if (s->chats[chat].user != u || s->chats[chat].first_doc != doc ||
                s->chats[chat].end_doc <= doc ||
                s->chats[chat].end_doc > s->head->n_docs) {
                return false;
            }
            doc = s->chats[chat].end_doc;
        }
        if (user->end_doc != doc) {
            return false;
        }
    }
    return doc == s->head->n_docs && chat == s->head->n_chats;
}

static void set_parts(struct segment *s)
{
    const uint8_t *part[N_PARTS];

    for (int i = 0; i < N_PARTS; i++) {
        part[i] = s->base + s->head->parts[i].offset;
    }
    s->users = (const struct segment_user *)part[PART_USERS];
    s->chats = (const struct segment_chat *)part[PART_CHATS];
    s->chat_ids = (const uint32_t *)part[PART_CHAT_IDS];
    s->docs = (const struct segment_doc *)part[PART_DOCS];
    s->times = (const int64_t *)part[PART_TIMES];
    s->lengths = part[PART_LENGTHS];
    s->flags = part[PART_FLAGS];
    s->dates = (const struct index_range *)part[PART_DATES];
    s->marks = (const struct segment_marks *)part[PART_MARKS];
    s->speakers = (const uint64_t *)part[PART_SPEAKERS];
    s->ids = (const uint32_t *)part[PART_IDS];
    s->vectors = (const int8_t *)part[PART_VECTORS];
    s->forms = (const struct vec_form *)part[PART_FORMS];
    s->bits = (const uint64_t *)part[PART_BITS];
    s->halves = (const struct segment_half *)part[PART_HALVES];
    s->firsts = (const int8_t *)part[PART_FIRSTS];
    s->gists = (const int8_t *)part[PART_GISTS];
    s->sample = (const struct segment_sample *)part[PART_SAMPLE];
    s->postings = part[PART_POSTINGS];
    s->terms = (const struct segment_term *)part[PART_TERMS];
    s->buckets = (const uint32_t *)part[PART_BUCKETS];
}

enum clew_status segment_open(const uint8_t *base, size_t size, bool is_mapped,
                              const struct segment_kind *kind,
                              struct segment **out_segment,
                              struct clew_error *err)
{
    struct segment *s;

    if (!header_is_good(base, size, kind)) {
        return clew_fail(err, CLEW_CORRUPT, "not a usable index segment");
    }
    s = alloc_zero(1, sizeof(*s));
    if (!s) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open a segment");
    }
    memcpy(&s->own_head, base, sizeof(s->own_head));
    s->head = &s->own_head;
    s->base = base;
    s->size = size;
    s->is_mapped = is_mapped;
    set_parts(s);
    if (!tables_are_good(s)) {
        alloc_free(s);
        return clew_fail(err, CLEW_CORRUPT, "index segment out of order");
    }
    s->removed = alloc_zero((s->head->n_docs + 63) / 64, sizeof(uint64_t));
    if (!s->removed) {
        alloc_free(s);
        return clew_fail(err, CLEW_NO_MEMORY, "could not open a segment");
    }
    atomic_init(&s->refs, 1);
    atomic_init(&s->newest_change, -1);
    *out_segment = s;
    return CLEW_OK;
}

struct segment *segment_ref(struct segment *segment)
{
    atomic_fetch_add(&segment->refs, 1);
    return segment;
}

void segment_unref(struct segment *segment)
{
    if (!segment || atomic_fetch_sub(&segment->refs, 1) != 1) {
        return;
    }
    if (segment->is_mapped) {
        (void)munmap((void *)(uintptr_t)segment->base, segment->size);
    } else {
        alloc_free((void *)(uintptr_t)segment->base);
    }
    alloc_free((void *)(uintptr_t)segment->removed);
    alloc_free(segment);
}

enum clew_status segment_check(const struct segment *segment,
                               struct clew_error *err)
{
    uint64_t sum = checksum(segment->base + sizeof(*segment->head),
                            segment->size - sizeof(*segment->head));

    if (sum != segment->head->body_sum) {
        return clew_fail(err, CLEW_CORRUPT, "index segment damaged");
    }
    return CLEW_OK;
}

bool segment_has_head(const struct segment *segment)
{
    return memcmp(segment->base, segment->head, sizeof(*segment->head)) == 0;
}

int64_t segment_newest_change(struct segment *segment)
{
    int64_t newest = atomic_load(&segment->newest_change);

    if (newest < 0) {
        newest = 0;
        for (uint32_t doc = 0; doc < segment->head->n_docs; doc++) {
            int64_t change = segment->docs[doc].change_seq;

            newest = change > newest ? change : newest;
        }
        atomic_store(&segment->newest_change, newest);
    }
    return newest;
}

bool segment_remove(struct segment *segment, uint32_t doc)
{
    uint64_t bit = (uint64_t)1 << (doc % 64);

    if (atomic_fetch_or(&segment->removed[doc / 64], bit) & bit) {
        return false;
    }
    atomic_fetch_add(&segment->n_removed, 1);
    return true;
}

/* The document the i-th entry of the id table names; 0 if it is damaged. */
static uint32_t doc_by_id(const struct segment *s, uint32_t i)
{
    return s->ids[i] < s->head->n_docs ? s->ids[i] : 0;
}

bool segment_find_id(const struct segment *segment, const struct uuid *id,
                     uint32_t *out_doc)
{
    uint32_t low = 0;
    uint32_t high = segment->head->n_docs;

    /* most ids looked for are newer than all there is */
    if (uuid_cmp(&segment->docs[doc_by_id(segment, high - 1)].id, id) < 0) {
        return false;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t doc = doc_by_id(segment, middle);
        int order = uuid_cmp(&segment->docs[doc].id, id);

        if (order == 0) {
            *out_doc = doc;
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* The first of the sample from `doc` on. */
static const struct segment_sample *sample_from(const struct segment *s,
                                                uint32_t doc)
{
    uint32_t low = 0;
    uint32_t high = s->head->n_sample;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->sample[middle].doc < doc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return s->sample + low;
}

void segment_find_sample(const struct segment *segment, uint32_t first,
                         uint32_t end, const struct segment_sample **out_first,
                         const struct segment_sample **out_end)
{
    *out_first = sample_from(segment, first);
    *out_end = sample_from(segment, end);
}

bool segment_has_drawn(const struct segment *segment, uint32_t doc,
                       uint32_t *out_hash)
{
    const struct segment_sample *at = sample_from(segment, doc);

    if (at == segment->sample + segment->head->n_sample || at->doc != doc) {
        return false;
    }
    *out_hash = at->hash;
    return true;
}

bool segment_find_term(const struct segment *segment, uint64_t hash,
                       struct postings *out_list)
{
    const struct segment_header *head = segment->head;
    uint64_t bucket = head->bucket_bits ? hash >> (64 - head->bucket_bits) : 0;
    uint32_t i = segment->buckets[bucket];
    uint32_t end = segment->buckets[bucket + 1];
    uint64_t limit = head->parts[PART_POSTINGS].size - POSTINGS_PAD;

    for (; i < end && i < head->n_terms; i++) {
        const struct segment_term *term = &segment->terms[i];

        if (term->hash == hash && term->offset < limit && term->count > 0 &&
            term->count <= head->n_docs) {
            out_list->list = segment->postings + term->offset;
            out_list->size = limit - term->offset;
            out_list->count = term->count;
            out_list->n_docs = head->n_docs;
            return true;
        }
    }
    return false;
}

const struct segment_user *segment_find_user(const struct segment *segment,
                                             enum index_kind kind,
                                             const struct user_key *key)
{
    uint32_t low = 0;
    uint32_t high = segment->head->n_users;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct segment_user *user = &segment->users[middle];
        int order = user->kind != (uint32_t)kind
                        ? (user->kind < (uint32_t)kind ? -1 : 1)
                        : memcmp(user->key.b, key->b, sizeof(key->b));

        if (order == 0) {
            return user;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static const struct segment_chat *chat_of_user(const struct segment *segment,
                                               const struct segment_user *user,
                                               const struct uuid *id)
{
    uint32_t low = user->first_chat;
    uint32_t high = user->end_chat;

    /* ids grow with time: most chats are not in most segments */
    if (low == high || uuid_cmp(&segment->chats[high - 1].id, id) < 0 ||
        uuid_cmp(&segment->chats[low].id, id) > 0) {
        return NULL;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = uuid_cmp(&segment->chats[middle].id, id);

        if (order == 0) {
            return &segment->chats[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const struct segment_chat *segment_find_chat(const struct segment *segment,
                                             enum index_kind kind,
                                             const struct segment_user *user,
                                             const struct uuid *id)
{
    uint32_t low = 0;
    uint32_t high = segment->head->n_chats;

    if (user) {
        return chat_of_user(segment, user, id);
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t chat = segment->chat_ids[middle];

        if (chat >= segment->head->n_chats) {
            return NULL;
        }
        if (uuid_cmp(&segment->chats[chat].id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < segment->head->n_chats; low++) {
        const struct segment_chat *chat;

        if (segment->chat_ids[low] >= segment->head->n_chats) {
            return NULL;
        }
        chat = &segment->chats[segment->chat_ids[low]];
        if (!uuid_eq(&chat->id, id)) {
            return NULL;
        }
        if (segment->users[chat->user].kind == (uint32_t)kind) {
            return chat;
        }
    }
    return NULL;
}

const struct segment_chat *segment_chat_of(const struct segment *segment,
                                           uint32_t doc)
{
    uint32_t chat = segment->docs[doc].chat;

    if (chat >= segment->head->n_chats ||
        doc < segment->chats[chat].first_doc ||
        doc >= segment->chats[chat].end_doc) {
        return NULL;
    }
    return &segment->chats[chat];
}

uint32_t segment_kind_first(const struct segment *segment, enum index_kind kind)
{
    return kind == INDEX_TURN ? 0 : segment->head->kind_end[kind - 1];
}

uint32_t segment_kind_end(const struct segment *segment, enum index_kind kind)
{
    return segment->head->kind_end[kind];
}

enum index_kind segment_kind_of(const struct segment *segment, uint32_t doc)
{
    return doc < segment->head->kind_end[INDEX_TURN]     ? INDEX_TURN
           : doc < segment->head->kind_end[INDEX_MEMORY] ? INDEX_MEMORY
                                                         : INDEX_EPISODE;
}

size_t segment_dates(const struct segment *segment, uint32_t doc,
                     const struct index_range **out_dates)
{
    const struct segment_header *head = segment->head;
    uint32_t first = segment->docs[doc].first_date;
    uint32_t end = doc + 1 < head->n_docs ? segment->docs[doc + 1].first_date
                                          : head->n_dates;

    if (first > end || end > head->n_dates || end - first > INDEX_MAX_RANGES) {
        return 0;
    }
    *out_dates = segment->dates + first;
    return end - first;
}

/* The number of what a document has, or `count`: none, or damaged. */
static uint32_t marked(const struct segment *segment, uint32_t doc,
                       enum segment_mark which, uint32_t count)
{
    const struct segment_marks *marks = &segment->marks[doc / 64];
    uint64_t bit = (uint64_t)1 << doc % 64;
    uint32_t number =
        marks->before[which] +
        (uint32_t)__builtin_popcountll(marks->have[which] & (bit - 1));

    return marks->have[which] & bit && number < count ? number : count;
}

const struct segment_half *segment_half_of(const struct segment *segment,
                                           uint32_t doc,
                                           const int8_t **out_first)
{
    uint32_t n_halves = segment->head->n_halves;
    uint32_t half = marked(segment, doc, MARK_HALF, n_halves);

    if (half == n_halves) {
        return NULL;
    }
    *out_first = segment->firsts + (size_t)half * segment->head->dim;
    return &segment->halves[half];
}

const int8_t *segment_gist_of(const struct segment *segment, uint32_t doc)
{
    uint32_t n_gists = segment->head->n_gists;
    uint32_t gist = marked(segment, doc, MARK_GIST, n_gists);

    return gist < n_gists ? segment->gists + (size_t)gist * INDEX_GIST_DIM
                          : NULL;
}

uint64_t segment_speaker_of(const struct segment *segment, uint32_t doc)
{
    uint32_t n_speakers = segment->head->n_speakers;
    uint32_t number = marked(segment, doc, MARK_SPEAKER, n_speakers);

    return number < n_speakers ? segment->speakers[number] : 0;
}
