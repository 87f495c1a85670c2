/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spell.c - see spell.h.
 */
#include "text/spell.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Room for two letters more. */
#define CAP (SPELL_MAX_LETTERS + 2)
#define MAX_LETTER_BYTES 2

struct letters {
    uint32_t items[CAP];
    size_t count;
};

struct alphabet {
    uint32_t first;
    uint32_t last;
    const uint32_t *vowels;
    size_t n_vowels;
};

static const uint32_t latin_vowels[] = {'a', 'e', 'i', 'o', 'u', 'y'};
static const uint32_t greek_vowels[] = {0x3b1, 0x3b5, 0x3b7, 0x3b9,
                                        0x3bf, 0x3c5, 0x3c9};
static const uint32_t cyrillic_vowels[] = {0x430, 0x435, 0x438, 0x43e, 0x443,
                                           0x44b, 0x44d, 0x44e, 0x44f};
#define N(list) (sizeof(list) / sizeof((list)[0]))

static const struct alphabet alphabets[] = {
    {'a', 'z', latin_vowels, N(latin_vowels)},
    {0x3b1, 0x3c9, greek_vowels, N(greek_vowels)},
    {0x430, 0x44f, cyrillic_vowels, N(cyrillic_vowels)}};

/* What is offered, and what has been done to the word so far. */
struct speller {
    const struct alphabet *alphabet;
    spell_fn fn;
    void *arg;
    /* what is done with each word made */
    void (*take)(const struct speller *s, const struct letters *word,
                 enum spell_step step);
    size_t n_letters;   /* of the word as it was written */
    bool is_slip_only;  /* letters are swapped, doubled, dropped, no more … */
    bool is_adding_any; /* … or one is added */
    bool is_second;     /* one edit was made before */
};

static const struct alphabet *read_word(struct str word, struct letters *out)
{
    const struct alphabet *alphabet = NULL;
    size_t at = 0;

    out->count = 0;
    while (at < word.len) {
        uint32_t c = utf8_next(word, &at);

        for (size_t i = 0; !alphabet && i < N(alphabets); i++) {
            if (c >= alphabets[i].first && c <= alphabets[i].last) {
                alphabet = &alphabets[i];
            }
        }
        if (!alphabet || c < alphabet->first || c > alphabet->last ||
            out->count == SPELL_MAX_LETTERS) {
            return NULL;
        }
        out->items[out->count++] = c;
    }
    return out->count >= SPELL_MIN_LETTERS ? alphabet : NULL;
}

size_t spell_letters(struct str word)
{
    struct letters letters;

    return read_word(word, &letters) ? letters.count : 0;
}

static bool is_vowel(const struct alphabet *alphabet, uint32_t c)
{
    for (size_t i = 0; i < alphabet->n_vowels; i++) {
        if (alphabet->vowels[i] == c) {
            return true;
        }
    }
    return false;
}

static void offer(const struct speller *s, const struct letters *word,
                  enum spell_step step)
{
    char bytes[CAP * MAX_LETTER_BYTES];
    size_t len = 0;

    for (size_t i = 0; i < word->count; i++) {
        len += utf8_put(word->items[i], bytes + len);
    }
    s->fn(s->arg, (struct str){bytes, len}, s->is_second ? SPELL_TWO : step);
}

static void swap_letters(const struct speller *s, const struct letters *word)
{
    for (size_t i = 0; i + 1 < word->count; i++) {
        struct letters made = *word;

        if (word->items[i] != word->items[i + 1]) {
            made.items[i] = word->items[i + 1];
            made.items[i + 1] = word->items[i];
            s->take(s, &made, SPELL_SLIP);
        }
    }
}

static void drop_letters(const struct speller *s, const struct letters *word)
{
    for (size_t i = 0; i < word->count && word->count > 2; i++) {
        struct letters made = *word;
        bool is_double = i > 0 && word->items[i] == word->items[i - 1];

        memmove(made.items + i, made.items + i + 1,
                (word->count - i - 1) * sizeof(*made.items));
        made.count--;
        if (i > 0) {
            s->take(s, &made, is_double ? SPELL_SLIP : SPELL_EDIT);
        }
    }
}

static void change_letters(const struct speller *s, const struct letters *word)
{
    for (size_t i = 1; i < word->count; i++) {
        bool was_vowel = is_vowel(s->alphabet, word->items[i]);

        for (uint32_t c = s->alphabet->first; c <= s->alphabet->last; c++) {
            bool is_slip = was_vowel && is_vowel(s->alphabet, c);
            struct letters made = *word;

            if (c != word->items[i] && (is_slip || !s->is_slip_only)) {
                made.items[i] = c;
                s->take(s, &made, is_slip ? SPELL_SLIP : SPELL_EDIT);
            }
        }
    }
}

static void add_letters(const struct speller *s, const struct letters *word)
{
    for (size_t i = 1; i <= word->count && word->count < CAP; i++) {
        for (uint32_t c = s->alphabet->first; c <= s->alphabet->last; c++) {
            bool is_slip = c == word->items[i - 1];
            struct letters made = *word;

            if (!is_slip && s->is_slip_only && !s->is_adding_any) {
                continue;
            }
            memmove(made.items + i + 1, made.items + i,
                    (word->count - i) * sizeof(*made.items));
            made.items[i] = c;
            made.count++;
            s->take(s, &made, is_slip ? SPELL_SLIP : SPELL_EDIT);
        }
    }
}

static void edit(const struct speller *s, const struct letters *word)
{
    swap_letters(s, word);
    drop_letters(s, word);
    change_letters(s, word);
    add_letters(s, word);
}

/*
 * A word on the way to those that are two edits away. Two slips, or a letter at
 * the wrong place: any two edits would be a hundred times as many words, and
 * few of them what somebody meant.
 */
static void edit_again(const struct speller *s, const struct letters *word,
                       enum spell_step step)
{
    struct speller second = *s;

    (void)step;
    second.take = offer;
    second.is_adding_any = word->count < s->n_letters;
    second.is_second = true;
    edit(&second, word);
}

void spell_one(struct str word, spell_fn fn, void *arg)
{
    struct speller s = {.fn = fn, .arg = arg, .take = offer};
    struct letters letters;

    s.alphabet = read_word(word, &letters);
    s.n_letters = letters.count;
    if (s.alphabet) {
        edit(&s, &letters);
    }
}

void spell_two(struct str word, spell_fn fn, void *arg)
{
    struct speller s = {
        .fn = fn, .arg = arg, .take = edit_again, .is_slip_only = true};
    struct letters letters;

    s.alphabet = read_word(word, &letters);
    s.n_letters = letters.count;
    if (s.alphabet) {
        edit(&s, &letters);
    }
}
