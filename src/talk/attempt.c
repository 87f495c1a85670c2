/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.c - the sentence that names what was tried. See attempt.h.
 */
#include "talk/attempt.h"

#include "base/utf8.h"
#include "talk/effort_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* A title, in bytes. */
#define MAX_TITLE 120u

/* Words before a sentence that propose nothing. */
static const char *const fillers[] = {
#include "lexicon/de/attempt_fillers.def"
#include "lexicon/en/attempt_fillers.def"
#include "lexicon/es/attempt_fillers.def"
#include "lexicon/fr/attempt_fillers.def"
};

/* Words before what is to be done. */
static const char *const leads[] = {
#include "lexicon/de/attempt_leads.def"
#include "lexicon/en/attempt_leads.def"
#include "lexicon/es/attempt_leads.def"
#include "lexicon/fr/attempt_leads.def"
};

/* The same before what was done. */
static const char *const tried[] = {
#include "lexicon/de/attempt_tried.def"
#include "lexicon/en/attempt_tried.def"
#include "lexicon/es/attempt_tried.def"
#include "lexicon/fr/attempt_tried.def"
};

/* Words after it that say nothing. */
static const char *const tails[] = {
#include "lexicon/de/attempt_tails.def"
#include "lexicon/en/attempt_tails.def"
#include "lexicon/es/attempt_tails.def"
#include "lexicon/fr/attempt_tails.def"
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The text behind one of the words in the list; as it is without one. */
static struct str behind(struct str text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i]);

        if (str_istarts(text, str_of(list[i])) && text.len > len &&
            text.s[len] == ' ') {
            return str_trim(str_sub(text, len, text.len));
        }
    }
    return text;
}

/* Marks before a sentence; "/etc", "-v" and "$HOME" begin one. */
static struct str without_marks(struct str text)
{
    while (text.len > 0 && ispunct((unsigned char)text.s[0]) &&
           !strchr("/-$<[(", text.s[0])) {
        text = str_trim(str_sub(text, 1, text.len));
    }
    return text;
}

/* Without what leads it in; does that propose something? */
static struct str led(struct str text, bool *out_is_proposal)
{
    size_t before;

    *out_is_proposal = false;
    do {
        struct str rest;

        before = text.len;
        text = without_marks(behind(text, fillers, COUNT(fillers)));
        rest = behind(text, leads, COUNT(leads));
        *out_is_proposal = *out_is_proposal || rest.len < text.len;
        text = without_marks(rest);
    } while (text.len < before);
    return text;
}

static struct str without_tail(struct str text)
{
    for (size_t i = 0; i < COUNT(tails); i++) {
        struct str tail = str_of(tails[i]);

        if (text.len > tail.len + 1 &&
            str_ieq(str_sub(text, text.len - tail.len, text.len), tail) &&
            strchr(" ,", text.s[text.len - tail.len - 1])) {
            text = str_trim(str_sub(text, 0, text.len - tail.len - 1));
        }
    }
    while (text.len > 0 && strchr(".!?,;:", text.s[text.len - 1])) {
        text.len--;
    }
    return text;
}

/* At most MAX_TITLE bytes, cut between words. */
static struct str cut(struct str text)
{
    size_t len;

    if (text.len <= MAX_TITLE) {
        return text;
    }
    len = utf8_cut(text, MAX_TITLE);
    while (len > 0 && text.s[len] != ' ') {
        len--;
    }
    return str_sub(text, 0, len ? len : utf8_cut(text, MAX_TITLE));
}

static enum clew_status titled(struct arena *arena, struct str text,
                               struct str *out)
{
    char *copy;

    text = cut(without_tail(str_trim(text)));
    copy = arena_copy(arena, text.s, text.len);
    if (!copy) {
        return CLEW_NO_MEMORY;
    }
    if (text.len > 0) {
        copy[0] = (char)toupper((unsigned char)copy[0]);
    }
    *out = (struct str){copy, text.len};
    return CLEW_OK;
}

static enum clew_status telling(struct arena *arena, struct str text,
                                size_t *out)
{
    struct effort_words words;
    enum clew_status status = effort_words_of(arena, text, &words);

    *out = status == CLEW_OK ? words.count : 0;
    return status;
}

static struct str sentence(struct str text, const struct intent *intent,
                           size_t i)
{
    return str_trim(
        str_sub(text, intent->segments[i].from, intent->segments[i].to));
}

/* "Shall I draft it?" is not tried before it is answered; "have you tried ...?"
 * is led in. */
static bool is_asked(struct str text, const struct intent_segment *segment)
{
    struct str said = str_sub(text, segment->from, segment->to);
    struct str after = str_sub(text, segment->to, text.len);

    return str_ends(said, STR("?")) || str_ends(said, STR("？")) ||
           str_starts(after, STR("?")) || str_starts(after, STR("？"));
}

enum clew_status attempt_proposed(struct arena *arena, struct str text,
                                  const struct intent *intent,
                                  struct str worked, struct str *out)
{
    struct str last = {NULL, 0};

    *out = last;
    for (size_t i = 0; i < intent->n_segments; i++) {
        const struct intent_segment *seg = &intent->segments[i];
        bool is_led;
        bool is_same = false;
        struct str rest = led(sentence(text, intent, i), &is_led);
        size_t n;
        enum clew_status status = telling(arena, rest, &n);

        if (status == CLEW_OK && worked.s && n > 1) {
            status = effort_words_meet(arena, rest, worked, &is_same);
        }
        if (status != CLEW_OK) {
            return status;
        }
        if (n == 0 ||
            (!is_led && (seg->act == INTENT_QUESTION || is_asked(text, seg)))) {
            continue;
        }
        if (is_led || seg->act == INTENT_REQUEST ||
            (seg->flags & INTENT_ADVICE)) {
            return titled(arena, rest, out);
        }
        last = is_same ? rest : last;
    }
    return last.s ? titled(arena, last, out) : CLEW_OK;
}

enum clew_status attempt_told(struct arena *arena, struct str text,
                              const struct intent *intent, struct str *out)
{
    *out = (struct str){NULL, 0};
    for (size_t i = 0; i < intent->n_segments; i++) {
        bool is_led;
        struct str said = led(sentence(text, intent, i), &is_led);
        struct str rest = behind(said, tried, COUNT(tried));
        size_t end = str_find(rest, STR(","), 0);
        size_t n;
        enum clew_status status;

        if (rest.len == said.len) {
            continue;
        }
        rest = end == SIZE_MAX ? rest : str_sub(rest, 0, end);
        status = telling(arena, rest, &n);
        if (status != CLEW_OK || n > 0) {
            return status == CLEW_OK ? titled(arena, rest, out) : status;
        }
    }
    return CLEW_OK;
}
