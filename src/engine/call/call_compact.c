/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_compact.c - summaries, their normal form, their anchors.
 *
 * See call_compact.h. The anchors follow S. Schleimer, D. Wilkerson, A. Aiken,
 * "Winnowing: local algorithms for document fingerprinting": of the hashes of
 * every PIECE bytes, each window of consecutive hashes gives its smallest.
 */
#include "engine/call/call_compact.h"

#include "base/utf8.h"
#include "base/json.h"
#include "engine/call/call_markers.h"
#include "engine/call/call_text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of one anchored piece. */
#define PIECE 32
/* Windows, in hashes. A text of PIECE + window - 1 bytes always has an anchor:
 * 95 for the dense one (the shortest needle has 100), 543 for the sparse. */
#define WINDOW_DENSE 64
#define WINDOW_SPARSE 512

_Static_assert(PIECE + WINDOW_DENSE - 1 <= CALL_SUMMARY_MIN_CHARS,
               "the shortest needle must have an anchor");
_Static_assert(PIECE + WINDOW_SPARSE - 1 <= CALL_SPARSE_NEEDLE,
               "a sparse needle must have an anchor");

/* --- the summary -----------------------------------------------------------
 */

static bool summary_in(struct str text, struct str *out_summary)
{
    const struct call_marker *marker;
    struct str summary;
    size_t at = 0;

    marker = call_marker_find(CALL_CONTINUATION, text, 0, &at);
    if (!marker) {
        return false;
    }
    marker =
        call_marker_find(CALL_SUMMARY_MARK, text, at + marker->text.len, &at);
    if (!marker) {
        return false;
    }
    summary = str_sub(text, at + marker->text.len, text.len);
    if (call_marker_find(CALL_SUMMARY_END, summary, 0, &at)) {
        summary.len = at;
    }
    summary = call_trim(summary);
    while (summary.len > 0 && summary.s[summary.len - 1] == '.') {
        summary = call_trim((struct str){summary.s, summary.len - 1});
    }
    *out_summary = summary;
    return true;
}

bool call_compact_summary(const json_t *message, struct str *out_summary)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *item;
    size_t i;

    if (json_is_string(content)) {
        struct str text = json_text(content);

        return summary_in(text, out_summary);
    }
    json_array_foreach (content, i, item) {
        const json_t *value =
            json_is_string(item) ? item : json_object_get(item, "text");
        struct str text = json_text(value);

        if (text.s && summary_in(text, out_summary)) {
            return true;
        }
    }
    return false;
}

/* --- the normal form -------------------------------------------------------
 */

/* A tag may be this long; longer is text that has a '<' in it. */
#define MAX_TAG 200

/* Length of the tag at the start of `text`, 0 if there is none. */
static size_t tag_len(struct str text)
{
    size_t i = 1;
    char c = text.len > 1 ? text.s[1] : '\0';

    if (c == '/') {
        c = text.len > 2 ? text.s[2] : '\0';
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
        return 0;
    }
    while (i < text.len && i < MAX_TAG && text.s[i] != '>' &&
           text.s[i] != '<') {
        i++;
    }
    return i < text.len && text.s[i] == '>' ? i + 1 : 0;
}

/* The words that the client writes in place of a tag. */
static struct str words_of(struct str tag)
{
    if (str_ieq(tag, STR("<analysis>"))) {
        return STR("analysis:");
    }
    return str_ieq(tag, STR("<summary>")) ? STR("summary:") : STR("");
}

enum clew_status call_compact_normalise(struct buf *out, struct str text)
{
    bool is_space = false; /* a space is due before the next word */
    size_t start = out->len;
    size_t i = 0;

    while (i < text.len && buf_status(out) == CLEW_OK) {
        size_t n = call_space_at(text, i);
        struct str words = {"", 0};
        char c = text.s[i];

        if (n == 0 && c == '<') {
            n = tag_len(str_sub(text, i, text.len));
            words = words_of(str_sub(text, i, i + n));
        }
        if (n > 0 && words.len == 0) {
            is_space = true;
            i += n;
            continue;
        }
        if ((is_space || words.len > 0) && out->len > start) {
            (void)buf_append_char(out, ' '); /* failures stay in `out` */
        }
        is_space = words.len > 0;
        if (words.len > 0) {
            (void)buf_append_str(out, words);
            i += n;
            continue;
        }
        (void)buf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
        i++;
    }
    return buf_status(out);
}

struct str call_compact_needle(struct str normalised)
{
    struct str needle = normalised;

    needle.len = utf8_cut_chars(normalised, CALL_SUMMARY_CHARS);
    if (utf8_cut_chars(needle, CALL_SUMMARY_MIN_CHARS - 1) == needle.len) {
        return (struct str){NULL, 0};
    }
    return needle;
}

/* --- anchors ---------------------------------------------------------------
 */

/* Spread the bits of a rolling sum (the finaliser of MurmurHash3). */
static uint64_t mix(uint64_t x, uint64_t salt)
{
    x ^= salt;
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDULL;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53ULL;
    return x ^ (x >> 33);
}

#define BASE 0x9E3779B97F4A7C15ULL

/* The window's candidates: positions whose hashes only grow. */
struct window {
    uint64_t hash[WINDOW_SPARSE];
    size_t at[WINDOW_SPARSE];
    size_t head;
    size_t count;
};

static void window_add(struct window *w, size_t size, size_t at, uint64_t hash)
{
    while (w->count > 0 && w->at[w->head] + size <= at) {
        w->head = (w->head + 1) % WINDOW_SPARSE;
        w->count--;
    }
    while (w->count > 0 &&
           w->hash[(w->head + w->count - 1) % WINDOW_SPARSE] >= hash) {
        w->count--;
    }
    w->hash[(w->head + w->count) % WINDOW_SPARSE] = hash;
    w->at[(w->head + w->count) % WINDOW_SPARSE] = at;
    w->count++;
}

struct anchors {
    int64_t *items;
    size_t count;
    size_t cap;
};

/* Add the anchors of `text` for one window size. */
static enum clew_status winnow(struct arena *arena, struct str text,
                               size_t size, struct anchors *out)
{
    struct window w = {.head = 0, .count = 0};
    uint64_t sum = 0;
    uint64_t power = 1; /* BASE to the PIECE */
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < PIECE; i++) {
        power *= BASE;
    }
    for (size_t i = 0; i < text.len; i++) {
        size_t at = i + 1 - PIECE; /* start of the piece that ends here */
        int64_t *grown;

        sum = sum * BASE + (unsigned char)text.s[i] + 1;
        if (i >= PIECE) {
            sum -= power * ((unsigned char)text.s[i - PIECE] + 1u);
        }
        if (i + 1 < PIECE) {
            continue;
        }
        window_add(&w, size, at, mix(sum, size));
        if (at + 1 < size || w.at[w.head] == last) {
            continue;
        }
        last = w.at[w.head];
        grown = arena_grow(arena, out->items, out->count, &out->cap,
                           sizeof(*out->items));
        if (!grown) {
            return CLEW_NO_MEMORY;
        }
        out->items = grown;
        out->items[out->count++] = (int64_t)w.hash[w.head];
    }
    return CLEW_OK;
}

static int compare_anchors(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

enum clew_status call_compact_anchors(struct arena *arena, struct str reply,
                                      int64_t **out_anchors, size_t *out_count)
{
    struct anchors all = {NULL, 0, 0};
    struct str dense = str_sub(reply, 0, CALL_DENSE_BYTES + CALL_SPARSE_NEEDLE);
    size_t kept = 0;
    enum clew_status status = winnow(arena, dense, WINDOW_DENSE, &all);

    if (status == CLEW_OK) {
        status = winnow(arena, str_sub(reply, 0, CALL_ANCHORED_BYTES),
                        WINDOW_SPARSE, &all);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (all.count > 0) {
        qsort(all.items, all.count, sizeof(*all.items), compare_anchors);
    }
    for (size_t i = 0; i < all.count; i++) {
        if (i == 0 || all.items[i] != all.items[i - 1]) {
            all.items[kept++] = all.items[i];
        }
    }
    *out_anchors = all.items;
    *out_count = kept;
    return CLEW_OK;
}

enum clew_status call_compact_lookup(struct arena *arena, struct str needle,
                                     int64_t out_anchors[CALL_NEEDLE_ANCHORS],
                                     size_t *out_count)
{
    struct anchors all = {NULL, 0, 0};
    bool is_sparse = needle.len >= CALL_SPARSE_NEEDLE;
    size_t count = 0;
    enum clew_status status =
        winnow(arena, needle, is_sparse ? WINDOW_SPARSE : WINDOW_DENSE, &all);

    if (status != CLEW_OK) {
        return status;
    }
    /* from the end: openings are alike, what was done is not */
    for (size_t i = all.count; i-- > 0 && count < CALL_NEEDLE_ANCHORS;) {
        bool is_new = true;

        for (size_t k = 0; k < count; k++) {
            is_new = is_new && out_anchors[k] != all.items[i];
        }
        if (is_new) {
            out_anchors[count++] = all.items[i];
        }
    }
    *out_count = count;
    return CLEW_OK;
}
