/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_return.c - coming back to an effort: named at once, several that fit
 * are asked about, none is left to whoever opens a new one. That a question was
 * asked stands in no row: it follows from the user's turn before.
 */
#include "engine/effort/effort_cache.h"

#include "engine/read/reading.h"

#include "engine/effort/effort_fork.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/memory/note.h"
#include "model/intent_words.h"

#include <string.h>

/* Efforts that are listed when it is asked which one is meant. */
#define MAX_SHOWN 5

enum clew_status effort_reactivate(struct observation *o,
                                   struct effort_cache *cache,
                                   struct effort *effort,
                                   struct clew_error *err)
{
    struct memory memory;
    bool was_open = effort->is_open;
    enum clew_status status = effort_collapse_active(o, cache, effort, err);

    effort_cache_forget(o);
    if (status == CLEW_OK) {
        status = effort_make_own(o, effort, err);
    }
    if (status == CLEW_OK) {
        status = memory_find(o->tx, o->arena, &effort->memory_id, &memory, err);
    }
    if (status == CLEW_OK && !was_open) {
        struct effort_change change = {.status = "open",
                                       .time_ms = o->turn.time_ms,
                                       .chat_id = o->work->turn->chat_id,
                                       .seq = o->work->turn->seq};

        status = effort_set_status(o->work->batch, &memory, &change, err);
    }
    if (status == CLEW_OK &&
        !uuid_eq(&effort->thread_id, &o->work->turn->chat_id)) {
        /* it goes on here; the turns it owns elsewhere stay its own */
        status = memory_import(o->tx, &o->work->turn->chat_id,
                               &effort->memory_id, o->turn.time_ms, err);
        effort->thread_id = o->work->turn->chat_id;
        effort->first_seq = 0;
        effort->last_seq = 0;
    }
    effort->is_open = true;
    effort->state = EFFORT_ACTIVE;
    if (status == CLEW_OK) {
        status = effort_take_turn(o, effort, err);
    }
    if (status == CLEW_OK) {
        status = note_told(o->work, &memory, was_open ? "extended" : "reopened",
                           err);
    }
    return status == CLEW_OK
               ? note_notice(o->work, err, "[effort:%s] %.*s",
                             was_open ? "active" : "reopened",
                             (int)effort->summary.len, effort->summary.s)
               : status;
}

static enum clew_status ask_which(struct observation *o,
                                  const struct effort *items, size_t count,
                                  struct clew_error *err)
{
    enum clew_status status =
        note_notice(o->work, err, "[effort:which] Which one do you mean?");

    for (size_t i = 0; i < count && i < MAX_SHOWN && status == CLEW_OK; i++) {
        status = note_notice(o->work, err, "  %zu. %.*s", i + 1,
                             (int)items[i].summary.len, items[i].summary.s);
    }
    return status;
}

/* "that bug": of several efforts the one about trouble is meant. */
static bool is_trouble(struct str text)
{
    static const char *const marks[] = {"bug",   "error", "fix",   "debug",
                                        "issue", "fail",  "crash", "problem"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ifind(text, str_of(marks[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* What somebody wants to come back to, as told by one turn. */
struct wanted {
    struct str text;
    struct effort_words words;
    struct effort *fit; /* the efforts that fit best */
    size_t n_fit;
};

/* The ones that fit best; closed efforts only if they are named. */
static enum clew_status fitting(struct observation *o, struct effort *items,
                                size_t count, struct wanted *wanted,
                                struct clew_error *err)
{
    bool is_about_trouble = is_trouble(wanted->text);
    size_t best = 0;

    wanted->n_fit = 0;
    for (size_t i = 0; i < count; i++) {
        struct effort_words words;
        size_t score;
        size_t n;
        enum clew_status status =
            effort_cache_words(o, items[i].summary, &words, err);

        if (status != CLEW_OK) {
            return status;
        }
        n = effort_words_shared(&words, &wanted->words);
        score = 4 * n + (items[i].is_open ? 1u : 0u);
        if (items[i].is_open && is_about_trouble &&
            is_trouble(items[i].summary)) {
            score++;
        }
        if ((n == 0 && !items[i].is_open) || score < best ||
            !uuid_is_nil(&items[i].parent_id)) {
            continue;
        }
        wanted->n_fit = score > best ? 0 : wanted->n_fit;
        best = score;
        wanted->fit[wanted->n_fit++] = items[i];
    }
    return CLEW_OK;
}

/* Efforts of this line of chats, or else of the user, that `text` may mean. */
static enum clew_status find_wanted(struct observation *o, struct str text,
                                    struct wanted *out, struct clew_error *err)
{
    struct effort *items = NULL;
    size_t count = 0;
    enum clew_status status =
        effort_list_line(o->tx, o->arena, &o->work->placement->slot->chat,
                         o->work->turn->seq, true, &items, &count, err);

    if (status == CLEW_OK && count == 0) {
        status = effort_list_user(o->tx, o->arena, o->work->turn->user_id,
                                  false, &items, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    *out = (struct wanted){
        .text = text, .fit = arena_zero(o->arena, count + 1, sizeof(*items))};
    if (!out->fit) {
        return clew_no_memory(err);
    }
    status = effort_cache_words(o, text, &out->words, err);
    return status == CLEW_OK ? fitting(o, items, count, out, err) : status;
}

static enum clew_status take_up(struct observation *o,
                                struct effort_cache *cache,
                                struct effort *effort, struct clew_error *err)
{
    for (size_t i = 0; i < cache->count; i++) {
        if (uuid_eq(&cache->items[i].memory_id, &effort->memory_id)) {
            return effort_reactivate(o, cache, &cache->items[i], err);
        }
    }
    return effort_reactivate(o, cache, effort, err);
}

enum clew_status effort_come_back(struct observation *o,
                                  struct effort_cache *cache, bool *out_done,
                                  struct clew_error *err)
{
    struct wanted wanted;
    enum clew_status status = find_wanted(o, o->turn.text, &wanted, err);

    *out_done = false;
    if (status != CLEW_OK || wanted.n_fit == 0) {
        return status; /* nothing to go back to: it may open a new one */
    }
    *out_done = true;
    return wanted.n_fit > 1 ? ask_which(o, wanted.fit, wanted.n_fit, err)
                            : take_up(o, cache, &wanted.fit[0], err);
}

/* --- the answer to "Which one do you mean?" --------------------------------
 */

/* An answer is short; a longer turn says something of its own. */
#define MAX_ANSWER_WORDS 12
#define MAX_BARE_WORDS 5

/* The number that a word says: 1 for "first", "1st", "1"; 0 if it is none. */
static size_t number_of(const struct intent_word *word, size_t count)
{
    static const char *const words[][MAX_SHOWN] = {
        {"1", "2", "3", "4", "5"},
        {"first", "second", "third", "fourth", "fifth"},
        {"1st", "2nd", "3rd", "4th", "5th"},
        {"one", "two", "three", "four", "five"}};

    for (size_t form = 0; form < sizeof(words) / sizeof(words[0]); form++) {
        for (size_t i = 0; i < count && i < MAX_SHOWN; i++) {
            if (strcmp(word->s, words[form][i]) == 0) {
                return i + 1;
            }
        }
    }
    if (strcmp(word->s, "last") == 0 || strcmp(word->s, "latter") == 0) {
        return count < MAX_SHOWN ? count : MAX_SHOWN;
    }
    return strcmp(word->s, "former") == 0 ? 1 : 0;
}

/* May stand beside a number in an answer. */
static bool is_filler(const struct intent_word *word)
{
    static const char *const fillers[] = {
        "the",   "one",    "number", "no",   "option", "please", "i",
        "i'd",   "mean",   "meant",  "it's", "it",     "that's", "that",
        "let's", "do",     "take",   "go",   "with",   "to",     "back",
        "say",   "would",  "was",    "is",   "of",     "them",   "uh",
        "um",    "sorry",  "okay",   "ok",   "oh",     "yes",    "for",
        "pick",  "choose", "thanks", "hmm",  "well",   "guess",  "think"};

    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
        if (strcmp(word->s, fillers[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* "the second one", "2": its place among `count`, from 1; 0 if it names none.
 */
static size_t place_said(const struct intent_piece *piece, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < piece->n_words; i++) {
        const struct intent_word *word = &piece->words[i];
        size_t number = number_of(word, count);

        /* in "the second one", one is no number */
        if (strcmp(word->s, "one") == 0 && (found > 0 || piece->n_words > 1)) {
            continue;
        }
        if (number > 0) {
            if (found > 0 && found != number) {
                return 0;
            }
            found = number;
        } else if (!is_filler(word)) {
            return 0;
        }
    }
    return found;
}

/* The one whose words the turn has more of than of any other; NULL if none. */
static enum clew_status named(struct observation *o,
                              const struct wanted *wanted, struct effort **out,
                              struct clew_error *err)
{
    size_t best = 0;

    *out = NULL;
    for (size_t i = 0; i < wanted->n_fit; i++) {
        size_t n = 0;
        enum clew_status status =
            effort_shared_with(o, wanted->fit[i].summary, &n, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (n > 0 && n >= best) {
            *out = n > best ? &wanted->fit[i] : NULL;
            best = n;
        }
    }
    return CLEW_OK;
}

/* Bare words, "the login one", or a statement: not a matter of its own. */
static bool may_answer(const struct observation *o,
                       const struct intent_piece *piece)
{
    bool is_asking = o->intent.act == INTENT_QUESTION ||
                     o->intent.act == INTENT_REQUEST ||
                     (o->intent.flags & INTENT_REMINDER);

    if (piece->n_words <= MAX_BARE_WORDS && piece->end != '?') {
        return true;
    }
    for (size_t i = 0; i < piece->n_words; i++) {
        if (strcmp(piece->words[i].s, "one") == 0) {
            return true;
        }
    }
    return !is_asking;
}

/* Where the assistant listed them itself, its order is the one that counts. */
static void order_as_shown(const struct observation *o, struct wanted *wanted)
{
    size_t at[MAX_SHOWN] = {0};

    if (o->previous[0].role != TALK_ASSISTANT || wanted->n_fit > MAX_SHOWN) {
        return;
    }
    for (size_t i = 0; i < wanted->n_fit; i++) {
        at[i] = str_ifind(o->previous[0].text, wanted->fit[i].summary, 0);
        if (at[i] == SIZE_MAX) {
            return;
        }
    }
    for (size_t i = 1; i < wanted->n_fit; i++) {
        for (size_t k = i; k > 0 && at[k] < at[k - 1]; k--) {
            struct effort effort = wanted->fit[k];
            size_t place = at[k];

            wanted->fit[k] = wanted->fit[k - 1];
            wanted->fit[k - 1] = effort;
            at[k] = at[k - 1];
            at[k - 1] = place;
        }
    }
}

/* The user's last turn, if it asked to come back and found several. */
static enum clew_status find_asked(struct observation *o, struct wanted *out,
                                   bool *out_asked, struct clew_error *err)
{
    const struct intent_reading *reading = NULL;
    size_t at = 0;
    enum clew_status status;

    *out_asked = false;
    while (at < o->n_previous && at < 2 && o->previous[at].role != TALK_USER) {
        at++;
    }
    if (at >= o->n_previous || o->previous[at].role != TALK_USER) {
        return CLEW_OK;
    }
    status = talk_cache_intent(o->arena, o->previous_turns[at], &reading, err);
    if (status != CLEW_OK || !(reading->by_rules.flags & INTENT_RETURN)) {
        return status;
    }
    status = find_wanted(o, o->previous[at].text, out, err);
    if (status != CLEW_OK || out->n_fit < 2) {
        return status;
    }
    *out_asked = true;
    for (size_t i = 0; i < out->n_fit; i++) {
        /* it went somewhere after all */
        if (out->fit[i].last_seq >= o->previous_seq[at] &&
            uuid_eq(&out->fit[i].thread_id, &o->work->turn->chat_id)) {
            *out_asked = false;
        }
    }
    return CLEW_OK;
}

enum clew_status effort_answer_which(struct observation *o,
                                     struct effort_cache *cache, bool *out_done,
                                     struct clew_error *err)
{
    const struct intent_pieces *pieces = o->work->reading->intent.pieces;
    struct effort *effort = NULL;
    struct wanted wanted;
    bool was_asked = false;
    size_t place;
    enum clew_status status;

    *out_done = false;
    if (!pieces || pieces->count != 1 ||
        pieces->items[0].n_words > MAX_ANSWER_WORDS ||
        !may_answer(o, &pieces->items[0])) {
        return CLEW_OK;
    }
    status = find_asked(o, &wanted, &was_asked, err);
    if (status != CLEW_OK || !was_asked) {
        return status;
    }
    order_as_shown(o, &wanted);
    place = place_said(&pieces->items[0], wanted.n_fit);
    if (place > 0) {
        effort = &wanted.fit[place - 1];
    } else {
        status = named(o, &wanted, &effort, err);
    }
    if (status != CLEW_OK || !effort) {
        return status;
    }
    *out_done = true;
    return take_up(o, cache, effort, err);
}
