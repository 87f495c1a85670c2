/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - how far a name is from what was typed. See near.h.
 */
#include "base/near.h"

#include <stdio.h>
#include <string.h>

/* Edits that can be typing, however long the name is. */
#define MAX_EDITS 3
/* Letters of a beginning that names the whole, and of one whose last letter is
 * another. */
#define LEAST_START 3
#define LEAST_STEM 5

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from one to the other; two letters changed about are one. Both are at
 * most NEAR_MAX_BYTES long. */
static size_t count_edits(struct str a, struct str b)
{
    size_t rows[3][NEAR_MAX_BYTES + 1];
    size_t *before = rows[0]; /* the row before the last */
    size_t *last = rows[1];
    size_t *row = rows[2];

    for (size_t j = 0; j <= b.len; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = lower(a.s[i - 1]);
            char y = lower(b.s[j - 1]);

            row[j] =
                least(least(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b.s[j - 2]) &&
                y == lower(a.s[i - 2])) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b.len];
}

static bool begins(struct str word, struct str name)
{
    if (word.len >= LEAST_STEM) {
        word.len--;
    }
    return word.len >= LEAST_START && str_istarts(name, word);
}

bool near_edits(struct str word, struct str name, size_t *out_edits)
{
    size_t longer = name.len > word.len ? name.len : word.len;
    size_t n_edits;

    if (longer > NEAR_MAX_BYTES) {
        return false;
    }
    n_edits = count_edits(word, name);
    if (begins(word, name)) {
        n_edits = least(n_edits, MAX_EDITS);
    } else if (n_edits > MAX_EDITS || n_edits * 3 > longer) {
        return false;
    }
    *out_edits = n_edits;
    return true;
}

void near_init(struct near *near, struct str word)
{
    *near = (struct near){.word = word};
}

void near_offer(struct near *near, struct str name)
{
    size_t n_edits;

    if (!str_eq(name, near->word) && near_edits(near->word, name, &n_edits) &&
        (near->name.len == 0 || n_edits < near->n_edits)) {
        near->name = name;
        near->n_edits = n_edits;
    }
}

void near_text(const struct near *near, const char *sign,
               char out[NEAR_TEXT_SIZE])
{
    out[0] = '\0';
    if (near->name.len > 0) {
        (void)snprintf(out, NEAR_TEXT_SIZE, "; did you mean \"%s%.*s\"?", sign,
                       (int)near->name.len, near->name.s);
    }
}
