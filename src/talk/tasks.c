/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - tables of words, and a split at commas. See tasks.h.
 */
#include "talk/tasks.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
/* A part with more words is a story. */
#define MAX_WORDS 12
/* Words before "have to" that say who has to. */
#define MAX_LEAD 4

/* Before a colon: what follows is to be done. */
static const char *const headings[] = {
    "do",      "todo",   "to-do",  "todos",     "left",      "remaining",
    "remains", "still",  "tasks",  "missing",   "need",      "needs",
    "tun",     "offen",  "fehlt",  "fehlen",    "erledigen", "aufgaben",
    "faire",   "reste",  "manque", "tâches",    "hacer",     "pendiente",
    "falta",   "faltan", "tareas", "pendientes"};
/* Behind one of these, without a colon, in pairs: the second may be none. */
static const char *const duties[][2] = {
    {"have", "to"},   {"has", "to"},    {"need", "to"},     {"needs", "to"},
    {"got", "to"},    {"want", "to"},   {"must", NULL},     {"gotta", NULL},
    {"muss", NULL},   {"müssen", NULL}, {"muß", NULL},      {"dois", NULL},
    {"devons", NULL}, {"tengo", "que"}, {"tenemos", "que"}, {"hay", "que"}};
/* A part with one of these says something by itself. */
static const char *const saying[] = {
    "i",   "i've", "i'm",  "it",  "it's", "we",   "they", "he",
    "she", "you",  "is",   "are", "was",  "were", "has",  "isn't",
    "ich", "es",   "er",   "wir", "ist",  "sind", "war",  "je",
    "il",  "elle", "nous", "est", "sont", "yo",   "está", "son"};
static const char *const joints[] = {"and", "und", "et", "y", "e", "&"};
static const char *const wholes[] = {
    "all",   "everything", "both",   "whole", "rest",  "alles",
    "alle",  "beide",      "beides", "tout",  "tous",  "todo",
    "todos", "toda",       "todas",  "tutto", "tutti", "tudo"};

/* The next word of `rest` and what follows; false at its end. */
static bool next_word(struct str *rest, struct str *out)
{
    size_t from = 0;
    size_t to;

    while (from < rest->len && strchr(" \t\n,.;!?\"()", rest->s[from])) {
        from++;
    }
    to = from;
    while (to < rest->len && !strchr(" \t\n,.;!?\"():", rest->s[to])) {
        to++;
    }
    *out = str_sub(*rest, from, to);
    *rest = str_sub(*rest, to, rest->len);
    return out->len > 0;
}

static bool has_word(struct str text, const char *const *list, size_t count)
{
    struct str word;

    while (next_word(&text, &word)) {
        for (size_t i = 0; i < count; i++) {
            if (str_ieq(word, str_of(list[i]))) {
                return true;
            }
        }
    }
    return false;
}

/* Where the things begin, behind what announces them; 0: nothing does. */
static size_t start_of(struct str text, bool *out_headed)
{
    size_t colon = str_find(text, STR(":"), 0);
    struct str rest = text;
    struct str word;

    *out_headed = colon != SIZE_MAX &&
                  has_word(str_sub(text, 0, colon), headings, COUNT(headings));
    if (*out_headed) {
        return colon + 1;
    }
    for (size_t n = 0; n <= MAX_LEAD && next_word(&rest, &word); n++) {
        for (size_t i = 0; i < COUNT(duties); i++) {
            struct str after = rest;
            struct str second;

            if (!str_ieq(word, str_of(duties[i][0]))) {
                continue;
            }
            if (!duties[i][1]) {
                return (size_t)(rest.s - text.s);
            }
            if (next_word(&after, &second) &&
                str_ieq(second, str_of(duties[i][1]))) {
                return (size_t)(after.s - text.s);
            }
        }
    }
    return 0;
}

/* Bytes of the joint that stands at `at`, between spaces; 0: none does. */
static size_t joint_at(struct str text, size_t at)
{
    if (text.s[at] == ',' || text.s[at] == ';') {
        return 1;
    }
    for (size_t i = 0; text.s[at] == ' ' && i < COUNT(joints); i++) {
        size_t len = strlen(joints[i]);

        if (at + len + 2 <= text.len && text.s[at + len + 1] == ' ' &&
            str_ieq(str_sub(text, at + 1, at + 1 + len), str_of(joints[i]))) {
            return len + 1;
        }
    }
    return 0;
}

/* One part of the list; false if it is none. Empty ones are passed over. */
static bool add_part(struct str part, struct str out[TASKS_MAX], size_t *n)
{
    struct str rest = part;
    struct str word;
    size_t words = 0;

    while (next_word(&rest, &word)) {
        words++;
    }
    if (words == 0) {
        return true;
    }
    if (words > MAX_WORDS || *n == TASKS_MAX ||
        has_word(part, saying, COUNT(saying))) {
        return false;
    }
    out[(*n)++] = str_trim(part);
    return true;
}

size_t tasks_of(struct str text, struct str out[TASKS_MAX])
{
    bool is_headed;
    size_t from = start_of(text, &is_headed);
    size_t n = 0;

    if (from == 0) {
        return 0;
    }
    for (size_t at = from; at <= text.len; at++) {
        size_t joint = at < text.len ? joint_at(text, at) : 1;

        if (joint == 0) {
            continue;
        }
        if (!add_part(str_sub(text, from, at), out, &n)) {
            return 0;
        }
        from = at + joint;
        at += joint - 1;
    }
    /* two duties are often one: "pack and send it" */
    return n >= (is_headed ? 2u : 3u) ? n : 0;
}

bool tasks_are_all(struct str text)
{
    return has_word(text, wholes, COUNT(wholes));
}
