/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_title.c - what an effort is called: the words of who wants it done,
 * without politeness and without what explains it.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_TITLE_WORDS 16

/* What may be taken off the front; the longest first where they overlap. */
static const char *const politeness[] = {
    "i was wondering if you had some ideas on how to",
    "i was wondering if you could",
    "i was wondering if you can",
    "would you be able to",
    "would you mind",
    "is it possible to",
    "do you think you could",
    "can you please",
    "could you please",
    "would you please",
    "will you please",
    "can you",
    "could you",
    "would you",
    "will you",
    "can we",
    "can i",
    "may i",
    "could we",
    "could i",
    "shall we",
    "why don't we",
    "i want you to",
    "i need you to",
    "i would like you to",
    "i'd like you to",
    "i want to",
    "i need to",
    "i have to",
    "i wanna",
    "we want to",
    "we need to",
    "i would like to",
    "i'd like to",
    "we'd like to",
    "i'd love to",
    "i'm trying to",
    "i am trying to",
    "we're trying to",
    "i'm looking to",
    "i'm looking for",
    "i am looking for",
    "i need help with",
    "i need some help with",
    "i need help",
    "i need some",
    "i need a",
    "i need an",
    "i need",
    "i want",
    "i would like",
    "i'd like",
    "help me with",
    "help me to",
    "help me",
    "help us",
    "help with",
    "let's",
    "let us",
    "please",
    "kindly",
    "just",
    "how do i",
    "how do we",
    "how can i",
    "how can we",
    "how should i",
    "how should we",
    "how to",
    "also",
    "now",
    "then",
    "me",
};

/* Wishes and chat that ask nobody for work. */
static const char *const idle[] = {
    "go",
    "be",
    "visit",
    "see",
    "say",
    "talk about it",
    "hear",
    "ride",
    "believe",
    "imagine",
    "know",
    "thank",
    "meet",
    "eat",
    "sleep",
    "die",
    "guess",
    "remember",
    "ask you",
    "have a",
    "enjoy",
    "wait",
    "hold on",
    "come",
    "remind",
    "stop",
    "continue",
    "speak",
    "listen",
    "look at",
    "take a look",
    "check this out",
    "check it out",
    "keep it up",
    "check out this",
    "check out these",
    "check out my",
    "keep up",
    "keep going",
    "keep on",
    "have a look",
};

/* Words of `phrase` that stand at `at`; 0 if they do not. */
size_t words_phrase_at(const struct intent_piece *piece, size_t at,
                       const char *phrase)
{
    size_t n = 0;

    while (*phrase) {
        size_t len = strcspn(phrase, " ");

        if (at + n >= piece->n_words || piece->words[at + n].len != len ||
            memcmp(piece->words[at + n].s, phrase, len) != 0) {
            return 0;
        }
        n++;
        phrase += len;
        phrase += *phrase == ' ';
    }
    return n;
}

size_t title_strip(const struct intent_piece *piece, size_t at)
{
    bool has_more = true;

    while (has_more) {
        has_more = false;
        for (size_t i = 0; i < sizeof(politeness) / sizeof(politeness[0]);
             i++) {
            size_t n = words_phrase_at(piece, at, politeness[i]);

            if (n > 0 && at + n < piece->n_words) {
                at += n;
                has_more = true;
                break;
            }
        }
    }
    return at;
}

/* "That's fine, can you please tell me ...": begin where it asks. */
size_t title_asks_at(const struct intent_piece *piece)
{
    for (size_t i = piece->body + 1; i + 2 < piece->n_words; i++) {
        if (piece->words[i - 1].has_comma &&
            (words_phrase_at(piece, i, "can you") ||
             words_phrase_at(piece, i, "could you") ||
             words_phrase_at(piece, i, "would you") ||
             words_phrase_at(piece, i, "please"))) {
            return i;
        }
    }
    return piece->body;
}

bool title_is_idle(const struct intent_piece *piece, size_t at)
{
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++) {
        if (words_phrase_at(piece, at, idle[i])) {
            return true;
        }
    }
    return false;
}

/* Where a title ends: at a clause that explains, or at its longest. */
size_t title_end(const struct intent_piece *piece, size_t at)
{
    size_t end = piece->n_words;

    for (size_t i = at + 2; i < end; i++) {
        if (word_any(&piece->words[i], "because since so which but") ||
            (piece->words[i - 1].has_comma && i > at + 3) ||
            i == at + MAX_TITLE_WORDS) {
            end = i;
        }
    }
    while (end > at + 1 &&
           word_any(&piece->words[end - 1],
                    "please thanks and to the a an of for with in on me my")) {
        end--;
    }
    return end;
}

/* What joins two words that are one to a reader: O'Brien, R&D, me@home. */
static struct str joint_of(struct str text, const struct intent_word *before,
                           const struct intent_word *word)
{
    static const char *const joints[] = {"'", "\u2019", "&", "@", "+", "_"};
    struct str gap = before->to < word->from
                         ? str_sub(text, before->to, word->from)
                         : STR(" ");

    for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
        if (str_eq(gap, str_of(joints[i]))) {
            return gap;
        }
    }
    return STR(" ");
}

void title_put(const struct extraction *x, const struct intent_piece *piece,
               size_t at, size_t end, struct buf *out)
{
    struct str text = x->turn->text;
    size_t start = out->len;

    for (size_t i = at; i < end; i++) {
        const struct intent_word *word = &piece->words[i];

        if (i > at) {
            (void)buf_append_str(out,
                                 joint_of(text, &piece->words[i - 1],
                                          word)); /* checked by the caller */
        }
        if (word_any(word, "my our your")) {
            (void)buf_append_cstr(out, i + 1 < end && word_is(word + 1, "own")
                                           ? "their"
                                           : "the"); /* the same */
        } else if (i > at && piece->words[i - 1].from == word->from) {
            (void)buf_append_cstr(out, word->s); /* the same */
        } else {
            (void)buf_append(out, text.s + word->from,
                             word->to - word->from); /* the same */
        }
        if (word->has_comma && i + 1 < end) {
            (void)buf_append_char(out, ','); /* the same */
        }
    }
    if (out->len > start) {
        out->data[start] = (char)toupper((unsigned char)out->data[start]);
    }
}

/* "help me with the parser": the thing alone would be no goal. */
void title_put_goal(const struct extraction *x,
                    const struct intent_piece *piece, size_t at, size_t end,
                    struct buf *out)
{
    bool is_thing = words_have(piece->words, piece->body, at, "help") &&
                    at > 0 && word_is(&piece->words[at - 1], "with");
    size_t start;

    if (!is_thing) {
        title_put(x, piece, at, end, out);
        return;
    }
    (void)buf_append_cstr(out, "Help with "); /* checked by the caller */
    start = out->len;
    title_put(x, piece, at, end, out);
    if (start < out->len && !piece->words[at].is_capital) {
        out->data[start] = (char)tolower((unsigned char)out->data[start]);
    }
}

/* A name, or "I", as far as a word at the start of a sentence shows. */
static bool keeps_capital(const struct intent_word *word)
{
    return word_is(word, "i") || strncmp(word->s, "i'", 2) == 0 ||
           (word->is_capital &&
            !word_any(word, "the a an my our your this that these those it "
                            "it's we we're there there's when if after since "
                            "some every all both his her their and so now"));
}

void title_put_said(const struct extraction *x,
                    const struct intent_piece *piece, const char *front,
                    size_t at, struct buf *out)
{
    size_t start;

    (void)buf_append_cstr(out, front); /* the caller checks */
    start = out->len;
    title_put(x, piece, at, title_end(piece, at), out);
    if (start < out->len && !keeps_capital(&piece->words[at])) {
        out->data[start] = (char)tolower((unsigned char)out->data[start]);
    }
}

/*
 * "I'm getting a 401 error" -> "Fix 401 error"; "the app crashes on start"
 * -> "Fix: the app crashes on start".
 */
void title_put_problem(const struct extraction *x,
                       const struct intent_piece *piece, struct buf *out)
{
    static const char *const fronts[] = {"i'm getting",
                                         "i am getting",
                                         "i get",
                                         "i keep getting",
                                         "we're getting",
                                         "we get",
                                         "i'm seeing",
                                         "i see",
                                         "there's",
                                         "there is",
                                         "i've got",
                                         "i have",
                                         "i'm having",
                                         "we have",
                                         "i'm having trouble with",
                                         "we're seeing",
                                         "i'm facing",
                                         "i ran into",
                                         "i'm hitting",
                                         "i'm stuck on",
                                         "i'm stuck with",
                                         "i'm having problems with",
                                         "i have a problem with",
                                         "i'm having issues with"};
    size_t at = piece->body;
    size_t n = 0;
    size_t skip = 0;

    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        size_t found = words_phrase_at(piece, at, fronts[i]);

        /* "I'm also having" */
        if (!found && at + 2 < piece->n_words &&
            word_is_adverb(&piece->words[at + 1]) &&
            word_any(&piece->words[at], "i'm i we're we") &&
            strchr(fronts[i], ' ') &&
            strncmp(fronts[i], piece->words[at].s, piece->words[at].len) == 0 &&
            fronts[i][piece->words[at].len] == ' ' &&
            words_phrase_at(piece, at + 2, strchr(fronts[i], ' ') + 1)) {
            found =
                words_phrase_at(piece, at + 2, strchr(fronts[i], ' ') + 1) + 1;
            skip = 1;
        }
        n = found > n ? found : n;
    }
    at += n + (n ? skip : 0);
    while (n && at + 1 < piece->n_words &&
           word_any(&piece->words[at], "a an the this some")) {
        at++;
    }
    title_put_said(x, piece, n ? "Fix " : "Fix: ", at, out);
}
