/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_attempt.c - what was tried on the way: sub-efforts with an outcome.
 *
 * An attempt is told by its end: "didn't work" after "Try refreshing the
 * token". What was tried is looked for in the turn itself ("I tried X"), then
 * in the turns before it, newest first: a suggestion of the assistant or what
 * the user set out to do. It is stored compact at once, as a child of the
 * effort.
 */
#include "engine/understand/observation.h"

#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "engine/chat/place.h"
#include "engine/effort/effort_cache.h"
#include "engine/effort/effort_fork.h"
#include "engine/memory/note.h"

#include <ctype.h>
#include <string.h>

#define MAX_ATTEMPT_BYTES 120u
/* The suggestion that failed stands at most this many turns back. */
#define REACH 2

/* First words of things one tries; also what they become in a title. */
static const struct {
    const char *said;
    const char *title; /* NULL: as it was said */
} verbs[] = {
    {"i tried ", "Try "},
    {"i've tried ", "Try "},
    {"i have tried ", "Try "},
    {"we tried ", "Try "},
    {"i'll try ", "Try "},
    {"let me try ", "Try "},
    {"have you tried ", "Try "},
    {"did you try ", "Try "},
    {"you could try ", "Try "},
    {"you can try ", "Try "},
    {"you should try ", "Try "},
    {"let's try ", "Try "},
    {"lets try ", "Try "},
    {"maybe try ", "Try "},
    {"what about ", "Try "},
    {"how about ", "Try "},
    {"try ", NULL},
    {"check ", NULL},
    {"let's check ", "Check "},
    {"let me check ", "Check "},
    {"i checked ", "Check "},
    {"inspect ", NULL},
    {"let's inspect ", "Inspect "},
    {"let me inspect ", "Inspect "},
    {"look at ", NULL},
    {"let's look at ", "Look at "},
    {"look into ", NULL},
    {"test ", NULL},
    {"verify ", NULL},
    {"restart ", NULL},
    {"reinstall ", NULL},
    {"refresh ", NULL},
    {"clear ", NULL},
    {"run ", NULL},
    {"set ", NULL},
    {"update ", NULL},
    {"upgrade ", NULL},
    {"make sure ", NULL},
    {"rotate ", NULL},
    {"disable ", NULL},
    {"enable ", NULL},
    {"increase ", NULL},
    {"renew ", NULL},
    {"replace ", NULL},
    {"measure ", NULL},
    {"delete ", NULL},
    {"remove ", NULL},
    {"reboot ", NULL},
    {"reset ", NULL},
    {"reconnect ", NULL},
    {"unplug ", NULL},
    {"roll back ", NULL},
};

/* "Then try the other cable": what comes before the verb. */
static struct str without_lead(struct str text)
{
    static const char *const leads[] = {"then ", "now ",    "so ",
                                        "and ",  "first ",  "next ",
                                        "also ", "please ", "in that case "};

    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (str_istarts(text, str_of(leads[i]))) {
            return str_trim(str_sub(text, strlen(leads[i]), text.len));
        }
    }
    return text;
}

/* The text from a verb on, or -1. */
static int verb_at(struct str text)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (str_istarts(text, str_of(verbs[i].said))) {
            return (int)i;
        }
    }
    return -1;
}

/* Up to where a clause goes: its end, or what the speaker thinks of it. */
static size_t clause_end(struct str text)
{
    static const char *const ends[] = {
        ".",      "!",     "?",        "\n",       ";",
        ", but",  " but ", ", and it", ", still",  " and it ",
        ", then", " - ",   " to see ", ", didn't", ", no luck"};
    size_t end = text.len;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t at = str_ifind(text, str_of(ends[i]), 1);

        /* "v2.1" and "config.json" are no ends */
        if (at != SIZE_MAX && at < end &&
            (ends[i][0] != '.' || at + 1 >= text.len ||
             isspace((unsigned char)text.s[at + 1]))) {
            end = at;
        }
    }
    return end < MAX_ATTEMPT_BYTES ? end : utf8_cut(text, MAX_ATTEMPT_BYTES);
}

/* "check the headers then": the tail says nothing. */
static struct str without_tail(struct str what)
{
    static const char *const tails[] = {" then",  " first",  " instead",
                                        " again", " please", " now"};

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        if (str_ends(what, str_of(tails[i]))) {
            what.len -= strlen(tails[i]);
        }
    }
    return what;
}

/* Only points at something said before: no title of its own. */
static bool is_pointer(struct str what)
{
    static const char *const pointers[] = {"it",   "that",  "this", "again",
                                           "them", "those", "these"};
    struct str last = what;
    struct str word;

    while (str_split(&last, ' ', &word)) {
        for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
            if (str_ieq(word, str_of(pointers[i])) && last.len == 0) {
                return true;
            }
        }
    }
    return false;
}

/* What a turn says is tried, as a title; s == NULL if it says nothing. */
static struct str attempt_in(struct arena *arena, struct str text)
{
    size_t at = 0;

    text = str_sub(text, 0, utf8_cut(text, 2000));
    while (at < text.len) {
        struct str rest = without_lead(str_trim(str_sub(text, at, text.len)));
        int verb = verb_at(rest);
        size_t next;

        if (verb >= 0) {
            struct str said = str_of(verbs[verb].said);
            struct str what = str_sub(rest, said.len, rest.len);
            const char *title = verbs[verb].title;

            what.len = clause_end(what);
            what = without_tail(str_trim(what));
            if (what.len > 2 && !is_pointer(what)) {
                return title ? str_of(arena_printf(arena, "%s%.*s", title,
                                                   (int)what.len, what.s))
                             : str_of(arena_printf(
                                   arena, "%c%.*s%.*s",
                                   toupper((unsigned char)rest.s[0]),
                                   (int)said.len - 1, rest.s + 1, (int)what.len,
                                   what.s));
            }
        }
        for (next = at + 1; next < text.len; next++) {
            if (strchr(".!?\n,;:-", text.s[next - 1])) {
                break;
            }
        }
        at = next;
    }
    return (struct str){0};
}

/* The turn that says it: 0 this one, 1 the one before; REACH + 1 = none. */
static size_t find_attempt(struct observation *o, struct str *out_title)
{
    *out_title = attempt_in(o->arena, o->turn.text);
    if (out_title->s) {
        return 0;
    }
    for (size_t i = 0; i < REACH && i < o->n_previous; i++) {
        *out_title = attempt_in(o->arena, o->previous[i].text);
        if (out_title->s) {
            return i + 1;
        }
    }
    return REACH + 1;
}

/* Is it on record, and did anything fail before? */
static enum clew_status is_known(struct observation *o,
                                 const struct effort *effort, struct str title,
                                 bool *out, size_t *out_before,
                                 struct clew_error *err)
{
    struct effort *attempts = NULL;
    struct sight sight;
    size_t count = 0;
    enum clew_status status = sight_open(
        o->tx, o->arena, &o->work->placement->slot->chat, &sight, err);

    if (status == CLEW_OK) {
        status = effort_attempts_line(o->tx, o->arena, &sight, effort,
                                      &attempts, &count, err);
    }

    *out = false;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        *out = *out || str_ieq(attempts[i].summary, title);
    }
    *out_before = count;
    return status;
}

enum clew_status effort_attempt_end(struct observation *o,
                                    struct effort *effort, bool is_found,
                                    struct str resolution,
                                    struct clew_error *err)
{
    struct str title;
    size_t back = find_attempt(o, &title);
    struct memory memory;
    struct effort attempt;
    const char *outcome = is_found ? "found" : "failed";
    bool known = false;
    size_t n_before = 0;
    json_t *fields;
    enum clew_status status;

    if (back > REACH) {
        return CLEW_OK;
    }
    status = effort_make_own(o, effort, err);
    if (status == CLEW_OK) {
        status = is_known(o, effort, title, &known, &n_before, err);
    }
    /* what worked at once was no attempt: the effort says it all */
    if (status != CLEW_OK || known || (is_found && n_before == 0)) {
        return status;
    }
    memory = note_memory(o->work, "effort", is_found ? "resolved" : "abandoned",
                         title);
    memory.parent_id = effort->memory_id;
    memory.resolution = is_found ? resolution : (struct str){0};
    fields = json_object();
    if (!fields || !json_set_cstr(fields, "outcome", outcome) ||
        !json_set_str(fields, "goal", title)) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory.fields = note_json(o->arena, fields);
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    attempt = (struct effort){.memory_id = memory.id,
                              .thread_id = o->work->turn->chat_id,
                              .state = EFFORT_COLLAPSED,
                              .outcome = str_of(outcome),
                              .first_seq = o->work->turn->seq,
                              .last_seq = o->work->turn->seq,
                              .last_at_ms = o->turn.time_ms};
    status = note_insert(o->work, &memory, back, NULL, err);
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &attempt, err);
    }
    return status == CLEW_OK ? note_notice(o->work, err, "[attempt:%s] %.*s",
                                           outcome, (int)title.len, title.s)
                             : status;
}
