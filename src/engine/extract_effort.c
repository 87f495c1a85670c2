/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_effort.c - when somebody sets out to get something done.
 *
 * A request, or a problem stated, opens an effort; its title is what is left
 * of the sentence without politeness. Between people who are both named,
 * requests are talk, not work for clew, and open nothing.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_TITLE_WORDS 16
#define MAX_QUOTED_WORDS 8

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
static size_t phrase_at(const struct intent_piece *piece, size_t at,
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

static size_t strip_politeness(const struct intent_piece *piece, size_t at)
{
    bool has_more = true;

    while (has_more) {
        has_more = false;
        for (size_t i = 0; i < sizeof(politeness) / sizeof(politeness[0]);
             i++) {
            size_t n = phrase_at(piece, at, politeness[i]);

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
static size_t asking_clause(const struct intent_piece *piece)
{
    for (size_t i = piece->body + 1; i + 2 < piece->n_words; i++) {
        if (piece->words[i - 1].has_comma &&
            (phrase_at(piece, i, "can you") ||
             phrase_at(piece, i, "could you") ||
             phrase_at(piece, i, "would you") ||
             phrase_at(piece, i, "please"))) {
            return i;
        }
    }
    return piece->body;
}

static bool is_idle(const struct intent_piece *piece, size_t at)
{
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++) {
        if (phrase_at(piece, at, idle[i])) {
            return true;
        }
    }
    return false;
}

/* Where a title ends: at a clause that explains, or at its longest. */
static size_t title_end(const struct intent_piece *piece, size_t at)
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

/* Asked for help with a thing, or to do what any work is called. */
static bool is_explicit(const struct intent_piece *piece, size_t at)
{
    return words_have(piece->words, piece->body, at, "help") ||
           word_any(&piece->words[at], "learn work find make start use");
}

/* Enough words to know the effort by. */
static bool is_named(const struct intent_piece *piece, size_t at, size_t end)
{
    size_t content = words_content(piece->words, at, end);

    return content >= 2 ||
           (content == 1 &&
            (words_names(piece->words, at, end) > 0 || is_explicit(piece, at)));
}

static bool points_only(const struct intent_piece *piece, size_t at, size_t end)
{
    return words_have(piece->words, at, end,
                      "this that it these those following below above") &&
           words_content(piece->words, at, end) < 3;
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

static void put_title(const struct extraction *x,
                      const struct intent_piece *piece, size_t at, size_t end,
                      struct buf *out)
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
static void put_goal(const struct extraction *x,
                     const struct intent_piece *piece, size_t at, size_t end,
                     struct buf *out)
{
    bool is_thing = words_have(piece->words, piece->body, at, "help") &&
                    at > 0 && word_is(&piece->words[at - 1], "with");
    size_t start;

    if (!is_thing) {
        put_title(x, piece, at, end, out);
        return;
    }
    (void)buf_append_cstr(out, "Help with "); /* checked by the caller */
    start = out->len;
    put_title(x, piece, at, end, out);
    if (start < out->len && !piece->words[at].is_capital) {
        out->data[start] = (char)tolower((unsigned char)out->data[start]);
    }
}

/* "fix this" needs to say what: the words that follow, in quotes. */
static void put_quoted(const struct extraction *x, size_t next, struct buf *out)
{
    const struct intent_piece *piece;
    size_t end;

    if (next >= x->pieces.count) {
        return;
    }
    piece = &x->pieces.items[next];
    end = piece->n_words < MAX_QUOTED_WORDS ? piece->n_words : MAX_QUOTED_WORDS;
    (void)buf_append_cstr(out, ": \""); /* checked by the caller */
    (void)buf_append_str(out, str_sub(x->turn->text, piece->words[0].from,
                                      piece->words[end - 1].to));
    (void)buf_append_cstr(out, "\""); /* the same */
}

/* "this" is what follows it, or else what came before: a text, a stretch of
 * code, but not a picture. */
static void put_pointed(const struct extraction *x, size_t i, size_t at,
                        size_t end, struct buf *out)
{
    size_t meant = i + 1 < x->pieces.count ? i + 1 : i - 1;

    if (meant >= x->pieces.count ||
        piece_is_bracketed(x, &x->pieces.items[meant])) {
        return;
    }
    put_title(x, &x->pieces.items[i], at, end, out);
    put_quoted(x, meant, out);
}

/*
 * "I'm getting a 401 error" -> "Fix 401 error"; "the app crashes on start"
 * -> "Fix: the app crashes on start".
 */
static void put_problem(const struct extraction *x,
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
        size_t found = phrase_at(piece, at, fronts[i]);

        /* "I'm also having" */
        if (!found && at + 2 < piece->n_words &&
            word_is_adverb(&piece->words[at + 1]) &&
            word_any(&piece->words[at], "i'm i we're we") &&
            strchr(fronts[i], ' ') &&
            strncmp(fronts[i], piece->words[at].s, piece->words[at].len) == 0 &&
            fronts[i][piece->words[at].len] == ' ' &&
            phrase_at(piece, at + 2, strchr(fronts[i], ' ') + 1)) {
            found = phrase_at(piece, at + 2, strchr(fronts[i], ' ') + 1) + 1;
            skip = 1;
        }
        n = found > n ? found : n;
    }
    at += n + (n ? skip : 0);
    while (n && at + 1 < piece->n_words &&
           word_any(&piece->words[at], "a an the this some")) {
        at++;
    }
    (void)buf_append_cstr(out, n ? "Fix " : "Fix: "); /* caller checks */
    if (n) {
        size_t start = out->len;

        put_title(x, piece, at, title_end(piece, at), out);
        if (start < out->len && at < piece->n_words &&
            !piece->words[at].is_capital) {
            out->data[start] = (char)tolower((unsigned char)out->data[start]);
        }
    } else {
        put_title(x, piece, at, title_end(piece, at), out);
        out->data[5] = (char)(piece->words[at].is_capital && at > 0
                                  ? out->data[5]
                                  : tolower((unsigned char)out->data[5]));
    }
}

static bool opens_by_request(const struct extraction *x, size_t i)
{
    const struct intent_segment *seg = &x->turn->intent->segments[i];

    return seg->act == INTENT_REQUEST && seg->confidence >= 0.7f &&
           !(seg->flags &
             (INTENT_ADVICE | INTENT_HOLD | INTENT_REMINDER | INTENT_RETURN));
}

/* A life story has problems too; one who works on it says so in few words. */
static bool opens_by_problem(const struct extraction *x, size_t i)
{
    const struct intent_segment *seg = &x->turn->intent->segments[i];
    const struct intent_piece *piece = &x->pieces.items[i];

    return (seg->flags & INTENT_PROBLEM) && seg->act == INTENT_INFORM &&
           piece->n_words <= 24 &&
           !words_have(piece->words, 0, piece->n_words,
                       "was were had yesterday ago he she");
}

/* "how do I ..." asks for work as much as for an answer. */
static bool opens_by_how_to(const struct extraction *x, size_t i)
{
    const struct intent_piece *piece = &x->pieces.items[i];
    size_t at = piece->body;

    return x->turn->intent->segments[i].act == INTENT_QUESTION &&
           (phrase_at(piece, at, "how do i") ||
            phrase_at(piece, at, "how can i") ||
            phrase_at(piece, at, "how do we") ||
            phrase_at(piece, at, "how should i"));
}

static enum clew_status add_effort(struct extraction *x, size_t i,
                                   struct buf *title, const char *rule)
{
    const struct intent_piece *piece = &x->pieces.items[i];
    struct extract_item *item;

    if (buf_status(title) != CLEW_OK) {
        return buf_status(title) == CLEW_TOO_LARGE ? CLEW_OK : CLEW_NO_MEMORY;
    }
    item = extract_add(x, EXTRACT_EFFORT, rule,
                       x->turn->intent->segments[i].confidence);
    if (!item) {
        return CLEW_NO_MEMORY;
    }
    item->summary = arena_str(x->arena, buf_str(title));
    extract_cite_add(item, 0, piece->words[0].from,
                     piece->words[piece->n_words - 1].to);
    return item->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

static enum clew_status open_effort(struct extraction *x, size_t i,
                                    bool *out_opened)
{
    const struct intent_piece *piece = &x->pieces.items[i];
    size_t at = strip_politeness(piece, asking_clause(piece));
    size_t end = title_end(piece, at);
    bool is_problem = opens_by_problem(x, i);
    struct buf title;
    enum clew_status status = CLEW_OK;

    buf_init(&title, 512);
    if (is_problem) {
        if (words_content(piece->words, 0, piece->n_words) >= 2) {
            put_problem(x, piece, &title);
        }
    } else if (!is_idle(piece, at) && end > at) {
        if (points_only(piece, at, end)) {
            put_pointed(x, i, at, end, &title);
        } else if (is_named(piece, at, end)) {
            put_goal(x, piece, at, end, &title);
        }
    }
    if (title.len > 0) {
        status = add_effort(x, i, &title,
                            is_problem ? "effort-problem" : "effort-request");
        *out_opened = true;
    }
    buf_release(&title);
    return status;
}

enum clew_status extract_efforts(struct extraction *x)
{
    const struct intent *intent = x->turn->intent;
    bool opened = false;

    if (x->turn->role != EXTRACT_USER || intent->act == INTENT_REJECT) {
        return CLEW_OK;
    }
    if (x->turn->speaker.len > 0 && x->input->n_previous > 0 &&
        x->input->previous[0].speaker.len > 0) {
        return CLEW_OK; /* two people talking */
    }
    for (size_t i = 0; i < x->pieces.count && i < intent->n_segments && !opened;
         i++) {
        if (!piece_is_foreign(x, &x->pieces.items[i]) &&
            (opens_by_request(x, i) || opens_by_problem(x, i) ||
             opens_by_how_to(x, i))) {
            enum clew_status status = open_effort(x, i, &opened);

            if (status != CLEW_OK) {
                return status;
            }
        }
    }
    return CLEW_OK;
}
