/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_order.c - what reads like an order to a model. See memory.h.
 *
 * By the openings with which stored text tries to steer who reads it. A model
 * reads them across a line end, emphasis and what has no width, so they are
 * looked for as it reads them.
 */
#include "engine/memory/memory.h"

#include "text/chars.h"

#include <string.h>

/* Lower case; a blank, which is never second, stands for all that may stand
 * between two words. */
static const char *const marks[] = {
    "ignore all previous",  "ignore previous instructions",
    "ignore the above",     "disregard all previous",
    "disregard previous",   "forget all previous",
    "you are now ",         "from now on you ",
    "system prompt",        "new instructions:",
    "do not tell the user", "reveal your instructions",
    "act as if ",           "<system>",
    "override your "};

#define N_MARKS (sizeof(marks) / sizeof(marks[0]))

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Go past a character without a width, between words also past a blank, a line
 * end and what emphasises or quotes; false if something else stands there. */
static bool skip_unseen(struct str text, bool is_between, size_t *at)
{
    uint32_t c = 0;
    uint32_t len = 0;
    enum char_class class;

    if (*at == text.len) {
        return false;
    }
    class = char_at(text, *at, &c, &len);
    if (class == CHAR_IGNORE ||
        (is_between && (class == CHAR_SPACE || class == CHAR_NEWLINE ||
                        (c < 0x80 && strchr("*_~`>#", (int)c))))) {
        *at += len;
        return true;
    }
    return false;
}

static bool mark_stands(struct str text, size_t at, const char *mark)
{
    for (; *mark; mark++) {
        bool is_gap = *mark == ' ';
        size_t from = at;

        while (skip_unseen(text, is_gap || *mark == ':', &at)) {
        }
        /* system_prompt is the name of something */
        if (is_gap &&
            (at == from || str_eq(str_sub(text, from, at), STR("_")))) {
            return false;
        }
        if (!is_gap && (at == text.len || lower(text.s[at++]) != *mark)) {
            return false;
        }
    }
    return true;
}

/* Of each character that a mark begins with, in either case, the characters
 * that go on with it: bit c & 31, the same for both cases of a letter. */
static void note_beginnings(uint32_t next_of[256])
{
    for (size_t k = 0; k < N_MARKS; k++) {
        unsigned char first = (unsigned char)marks[k][0];
        uint32_t next = 1u << (marks[k][1] & 31);

        next_of[first] |= next;
        if (first >= 'a' && first <= 'z') {
            next_of[first & ~0x20] |= next;
        }
    }
}

/* Two characters tell nearly every place where no mark can stand, but for what
 * has no width between them: every hit of a recall is looked at. */
static bool may_stand(struct str text, size_t at, const uint32_t next_of[256])
{
    uint32_t wanted = next_of[(unsigned char)text.s[at]];
    unsigned char next;

    if (!wanted || at + 1 == text.len) {
        return false;
    }
    next = (unsigned char)text.s[at + 1];
    return next < 0x20 || next >= 0x7f || wanted >> (next & 31) & 1;
}

bool memory_reads_like_instruction(struct str text)
{
    uint32_t next_of[256] = {0};

    note_beginnings(next_of);
    for (size_t i = 0; i < text.len; i++) { /* one pass for all of them */
        if (!may_stand(text, i, next_of)) {
            continue;
        }
        for (size_t k = 0; k < N_MARKS; k++) {
            if (marks[k][0] == lower(text.s[i]) &&
                mark_stands(text, i, marks[k])) {
                return true;
            }
        }
    }
    return false;
}
