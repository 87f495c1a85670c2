/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon.c - read the table that the build embeds. See lexicon.h.
 */
#include "text/lexicon.h"

#include <string.h>

#define HEADER_BYTES 24
#define RECORD_BYTES 16
#define IDF_SCALE 4096.0f
/* ln(170,405): the background has 170,404 lines. */
#define MAX_IDF 12.045934f

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global clew_lexicon_bytes\n"
        "clew_lexicon_bytes:\n"
        ".incbin \"" CLEW_LEXICON_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");

extern const unsigned char clew_lexicon_bytes[]
    __attribute__((visibility("hidden")));

static uint32_t u32_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static uint16_t u16_at(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static void read_record(const unsigned char *p, struct lex_word *out)
{
    const char *text = (const char *)p + RECORD_BYTES;

    out->word = (struct str){text, p[0]};
    /* a stem that is no prefix of its word follows it */
    out->stem = (struct str){p[2] ? text : text + p[0], p[1]};
    out->noun = p[3];
    out->verb = p[4];
    out->capital = p[5];
    out->capital_log = p[6];
    out->kind = p[7] & 15;
    out->flags = p[7] >> 4;
    out->stop_mask = u16_at(p + 8);
    out->idf = (float)u16_at(p + 10) / IDF_SCALE;
    out->token_max = p[14];
    out->token_sum = p[15];
    out->stem_idf = (float)u16_at(p + 12) / IDF_SCALE;
}

bool lexicon_find(struct str word, uint64_t hash, struct lex_word *out)
{
    const unsigned char *slots = clew_lexicon_bytes + HEADER_BYTES;
    uint32_t n_slots = u32_at(clew_lexicon_bytes + 8);
    const unsigned char *pool = slots + (size_t)n_slots * 4;
    uint32_t tag = (uint32_t)(hash >> 56);
    uint32_t i = (uint32_t)hash & (n_slots - 1);

    for (;;) {
        uint32_t slot = u32_at(slots + (size_t)i * 4);

        if (slot == 0) {
            return false;
        }
        if (slot >> 24 == tag) {
            const unsigned char *p = pool + (slot & 0xffffff) - 1;

            if (p[0] == word.len &&
                memcmp(p + RECORD_BYTES, word.s, word.len) == 0) {
                read_record(p, out);
                return true;
            }
        }
        i = (i + 1) & (n_slots - 1);
    }
}

float lexicon_max_idf(void)
{
    return MAX_IDF;
}
