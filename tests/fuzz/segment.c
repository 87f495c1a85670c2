/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.c - any bytes as a segment: everything in it can be read.
 *
 * The checksum of the header is put right first, or nothing would get past it.
 */
#include "base/alloc.h"
#include "index/segment.h"

#include <string.h>

static volatile uint64_t sink;

static void read_all(const struct segment *s)
{
    struct postings_block block;
    struct postings list;
    const struct index_range *dates;
    const struct segment_sample *first;
    const struct segment_sample *end;
    const int8_t *values;
    uint32_t doc;

    for (uint32_t t = 0; t < s->head->n_terms && t < 64; t++) {
        if (segment_find_term(s, s->terms[t].hash, &list)) {
            for (uint32_t b = 0; b < postings_n_blocks(&list) && b < 64; b++) {
                postings_read(&list, b, &block);
                for (uint32_t i = 0; i < block.count; i++) {
                    sink += s->lengths[block.docs[i]] + block.tf2[i];
                }
            }
            sink += postings_rank(&list, s->head->n_docs / 2);
        }
    }
    segment_find_sample(s, 0, s->head->n_docs, &first, &end);
    sink += first <= end;
    for (uint32_t i = 0; i < s->head->n_docs && i < 256; i++) {
        const struct segment_chat *chat = segment_chat_of(s, i);

        sink += segment_find_id(s, &s->docs[i].id, &doc);
        sink += segment_dates(s, i, &dates);
        sink += segment_half_of(s, i, &values) != NULL;
        sink += segment_gist_of(s, i) != NULL;
        sink += segment_speaker_of(s, i);
        if (chat) {
            sink += segment_find_chat(s, INDEX_TURN, NULL, &chat->id) != NULL;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct segment_header *head;
    struct segment_kind kind;
    struct segment *s;
    uint8_t *bytes;

    if (size < sizeof(*head)) {
        return 0;
    }
    bytes = alloc_bytes(size);
    if (!bytes) {
        return 0;
    }
    memcpy(bytes, data, size);
    head = (struct segment_header *)bytes;
    memcpy(head->magic, SEGMENT_MAGIC, sizeof(head->magic));
    head->version = SEGMENT_VERSION;
    head->header_sum =
        checksum(bytes, offsetof(struct segment_header, header_sum));
    kind = (struct segment_kind){
        .model = head->model, .dim = head->dim, .analyser = head->analyser};
    if (segment_open(bytes, size, false, &kind, &s, NULL) == CLEW_OK) {
        read_all(s);
        segment_unref(s);
    } else {
        alloc_free(bytes);
    }
    return 0;
}
