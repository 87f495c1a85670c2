/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stem.c - one set of libstemmer handles per thread. See stem.h.
 */
#include "text/stem.h"

#include "base/alloc.h"
#include "text/fold.h"

#include <libstemmer.h>
#include <pthread.h>
#include <string.h>

/* Nothing longer is a word of a language: what has no end to strip is not worth
 * the passes over it (a turn of 16 MB without a blank took ten seconds). */
#define LONGEST_WORD 96

struct stemmers {
    struct sb_stemmer *by_language[TEXT_LANGUAGES];
};

static const char *const algorithms[TEXT_LANGUAGES] = {
    [TEXT_ENGLISH] = "english", [TEXT_GERMAN] = "german",
    [TEXT_FRENCH] = "french",   [TEXT_SPANISH] = "spanish",
    [TEXT_ITALIAN] = "italian", [TEXT_PORTUGUESE] = "portuguese",
    [TEXT_DUTCH] = "dutch",     [TEXT_RUSSIAN] = "russian",
    [TEXT_ARABIC] = "arabic",   [TEXT_GREEK] = "greek",
};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void stemmers_free(void *ptr)
{
    struct stemmers *set = ptr;

    if (set) {
        for (size_t i = 0; i < TEXT_LANGUAGES; i++) {
            sb_stemmer_delete(set->by_language[i]);
        }
        alloc_free(set);
    }
}

/* Thread-specific destructors do not run for the main thread at exit. */
__attribute__((destructor)) static void release_at_exit(void)
{
    if (has_key) {
        stemmers_free(pthread_getspecific(key));
        (void)pthread_setspecific(key, NULL); /* nothing to do about it */
    }
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, stemmers_free) == 0;
}

static struct sb_stemmer *stemmer_for(enum text_language language)
{
    struct stemmers *set;

    (void)pthread_once(&key_once, make_key); /* cannot fail with these */
    if (!has_key) {
        return NULL;
    }
    set = pthread_getspecific(key);
    if (!set) {
        set = alloc_zero(1, sizeof(*set));
        if (!set || pthread_setspecific(key, set) != 0) {
            alloc_free(set);
            return NULL;
        }
    }
    if (!set->by_language[language]) {
        set->by_language[language] = sb_stemmer_new(algorithms[language], NULL);
    }
    return set->by_language[language];
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.s[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

bool stem_word(struct arena *arena, struct str word,
               enum text_language language, struct str *out)
{
    struct sb_stemmer *stemmer;
    const sb_symbol *stem;
    struct str result;

    if (language == TEXT_UNKNOWN) {
        language = TEXT_ENGLISH;
    }
    if (word.len > LONGEST_WORD) {
        *out = word;
        return true;
    }
    stemmer = stemmer_for(language);
    if (!stemmer) {
        return false;
    }
    stem = sb_stemmer_stem(stemmer, (const sb_symbol *)word.s, (int)word.len);
    if (!stem) {
        return false;
    }
    result =
        (struct str){(const char *)stem, (size_t)sb_stemmer_length(stemmer)};
    if (result.len == 0) {
        *out = word; /* nothing but a suffix */
        return true;
    }
    if (result.len <= word.len && memcmp(result.s, word.s, result.len) == 0) {
        result.s = word.s;
    } else {
        result = arena_str(arena, result);
        if (!result.s) {
            return false;
        }
    }
    if (is_ascii(result)) {
        *out = result;
        return true;
    }
    return fold_marks(arena, result, out);
}
