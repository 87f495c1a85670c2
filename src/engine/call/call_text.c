/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_text.c - cutting out what is not the speaker's own. See call_text.h.
 */
#include "engine/call/call_text.h"

#include "engine/read/reading.h"

#include <string.h>

/* A block that is cut out. */
struct block_kind {
    struct str open; /* the tag, without '>' where attributes may follow */
    struct str close;
    bool has_attributes;
};

static const struct block_kind kinds[] = {
    {{"<system-reminder>", 17}, {"</system-reminder>", 18}, false},
    {{READING_FENCE_OPEN, sizeof(READING_FENCE_OPEN) - 1},
     {READING_FENCE_CLOSE, sizeof(READING_FENCE_CLOSE) - 1},
     true},
};
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

size_t call_space_at(struct str text, size_t at)
{
    const unsigned char *p = (const unsigned char *)text.s + at;
    size_t left = text.len - at;

    if (left == 0) {
        return 0;
    }
    if (p[0] == ' ' || (p[0] >= '\t' && p[0] <= '\r')) {
        return 1;
    }
    if (p[0] < 0xC2 || left < 2) {
        return 0;
    }
    if (p[0] == 0xC2) {
        return p[1] == 0xA0 ? 2 : 0; /* no-break space */
    }
    if (left < 3) {
        return 0;
    }
    switch ((p[0] << 16) | (p[1] << 8) | p[2]) {
    case 0xE19A80: /* U+1680 */
    case 0xE280A8: /* U+2028, line separator */
    case 0xE280A9: /* U+2029, paragraph separator */
    case 0xE280AF: /* U+202F */
    case 0xE2819F: /* U+205F */
    case 0xE38080: /* U+3000, ideographic space */
    case 0xEFBBBF: /* U+FEFF, byte order mark */
        return 3;
    default:
        return p[0] == 0xE2 && p[1] == 0x80 && p[2] >= 0x80 && p[2] <= 0x8A ? 3
                                                                            : 0;
    }
}

/* Bytes of the white space character that ends at `end`, 0 if none does. */
static size_t space_before(struct str text, size_t end)
{
    for (size_t n = 1; n <= 3 && n <= end; n++) {
        struct str upto = {text.s, end};

        if (call_space_at(upto, end - n) == n) {
            return n;
        }
    }
    return 0;
}

static size_t trim_end(struct str text)
{
    size_t end = text.len;
    size_t n;

    while ((n = space_before(text, end)) > 0) {
        end -= n;
    }
    return end;
}

struct str call_trim(struct str text)
{
    size_t from = 0;
    size_t n;

    text.len = trim_end(text);
    while ((n = call_space_at(text, from)) > 0) {
        from += n;
    }
    return (struct str){text.s ? text.s + from : text.s, text.len - from};
}

static bool opens(const struct block_kind *kind, struct str rest)
{
    char next;

    if (!str_istarts(rest, kind->open)) {
        return false;
    }
    if (!kind->has_attributes) {
        return true;
    }
    next = rest.len > kind->open.len ? rest.s[kind->open.len] : '\0';
    return next == '>' || next == ' ';
}

/*
 * The first whole block at or after `from`: where it starts and where it ends.
 * `is_spent[k]` remembers that no further end tag of kind k exists, so that a
 * text of nothing but opening tags is still read only once.
 */
static bool next_block(struct str text, size_t from, bool is_spent[N_KINDS],
                       size_t *out_from, size_t *out_to)
{
    while (from < text.len) {
        const char *p = memchr(text.s + from, '<', text.len - from);

        if (!p) {
            return false;
        }
        from = (size_t)(p - text.s);
        for (size_t k = 0; k < N_KINDS; k++) {
            struct str rest = str_sub(text, from, text.len);
            size_t end;

            if (is_spent[k] || !opens(&kinds[k], rest)) {
                continue;
            }
            end = str_ifind(text, kinds[k].close, from + kinds[k].open.len);
            if (end == SIZE_MAX) {
                is_spent[k] = true;
                continue;
            }
            *out_from = from;
            *out_to = end + kinds[k].close.len;
            return true;
        }
        from++;
    }
    return false;
}

bool call_has_blocks(struct str text)
{
    bool is_spent[N_KINDS] = {false};
    size_t from;
    size_t to;

    return next_block(text, 0, is_spent, &from, &to);
}

enum clew_status call_strip(struct buf *out, struct str text)
{
    bool is_spent[N_KINDS] = {false};
    size_t done = 0;
    size_t from;
    size_t to;

    while (next_block(text, done, is_spent, &from, &to)) {
        struct str before = str_sub(text, done, from);

        (void)buf_append(out, before.s, trim_end(before)); /* kept in out */
        done = to;
    }
    return buf_append_str(out, str_sub(text, done, text.len));
}

enum clew_status call_stripped(struct buf *scratch, struct str text,
                               struct str *out)
{
    enum clew_status status;

    if (!call_has_blocks(text)) {
        *out = text;
        return CLEW_OK;
    }
    buf_clear(scratch);
    status = call_strip(scratch, text);
    if (status == CLEW_OK) {
        *out = buf_str(scratch);
    }
    return status;
}
