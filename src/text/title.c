/* SPDX-License-Identifier: Apache-2.0 */
/*
 * title.c - the first sentence that names something. See title.h.
 */
#include "text/title.h"

#include "base/utf8.h"
#include "text/machine.h"
#include "text/smalltalk.h"
#include "text/token.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text that is looked through for a title. */
#define MAX_BYTES 4000
/* A clause shorter than this is no title. */
#define MIN_CLAUSE 16

/* Where a clause may end: before these. */
static const char *const joints[] = {", ",
                                     "，",
                                     "、",
                                     "；",
                                     "：",
                                     "; ",
                                     ": ",
                                     " - ",
                                     " \xE2\x80\x93 ",
                                     " \xE2\x80\x94 ",
                                     " (",
                                     " because ",
                                     " so that ",
                                     " but ",
                                     " and ",
                                     " when ",
                                     " while ",
                                     " which ",
                                     " since ",
                                     " although ",
                                     " after ",
                                     " before ",
                                     " if ",
                                     " where ",
                                     " und ",
                                     " aber ",
                                     " weil ",
                                     " et ",
                                     " mais ",
                                     " y ",
                                     " pero ",
                                     " porque ",
                                     " e ",
                                     " ma ",
                                     " mas ",
                                     " maar "};
#define N_JOINTS (sizeof(joints) / sizeof(joints[0]))

/* What joins a sentence to one that a title does not show: none that is a word
 * of content, or a name, in one of these tongues. */
static const char leads[] =
    " and also so but oh plus anyway then now btw ok "
    "und auch aber oder ach dann nun naja "
    "y también pero pues entonces et aussi donc alors puis "
    "também então anche allora quindi dunque ook maar dus nou "
    "и И а А но Но также так Так ну Ну ";
/* … if a comma or dots follow: "um" is German for "at", "ben" a name. */
static const char pauses[] =
    " well right um uh uhm er erm hm hmm eh äh ähm euh ben beh "
    "mais mas bon bueno bom bene tja ";

/* The end of the sentence that starts at `from`, within its line; `*next` is
 * the token to look on from. */
static size_t sentence_end(struct str text, size_t from,
                           const struct tokens *tokens, size_t *next)
{
    size_t line = str_find(text, STR("\n"), from);
    size_t end = line == SIZE_MAX ? text.len : line;

    while (*next < tokens->count && tokens->items[*next].from <= from) {
        (*next)++;
    }
    for (; *next < tokens->count && tokens->items[*next].from < end;
         (*next)++) {
        if (tokens->items[*next].flags & TOKEN_BREAK) {
            return tokens->items[*next].from;
        }
    }
    return end;
}

static bool is_of(const char *list, struct str word)
{
    char key[24];
    int len = snprintf(key, sizeof(key), " %.*s ", (int)word.len, word.s);

    if (word.len == 0 || len <= 0 || (size_t)len >= sizeof(key)) {
        return false;
    }
    for (int i = 0; i < len; i++) {
        key[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + ('a' - 'A')
                                                       : key[i]);
    }
    return strstr(list, key) != NULL;
}

/* Behind blanks, commas, full stops and "…". */
static size_t skip_gap(struct str text, size_t at)
{
    while (at < text.len) {
        if (strchr(" \t\n,.", text.s[at])) {
            at++;
        } else if (str_starts(str_sub(text, at, text.len), STR("…"))) {
            at += STR("…").len;
        } else {
            break;
        }
    }
    return at;
}

size_t title_begin(struct str text)
{
    size_t at = smalltalk_skip(text);

    while (at < text.len) {
        size_t end = at;

        while (end < text.len && skip_gap(text, end) == end) {
            end++;
        }
        if (!is_of(leads, str_sub(text, at, end)) &&
            (end == text.len || text.s[end] == ' ' ||
             !is_of(pauses, str_sub(text, at, end)))) {
            return at;
        }
        at = skip_gap(text, end);
    }
    return 0;
}

static struct str without_end(struct str text)
{
    while (text.len > 0 && (strchr(".!:;,\"'`* ", text.s[text.len - 1]) ||
                            str_ends(text, STR("。")))) {
        text.len -= str_ends(text, STR("。")) ? STR("。").len : 1;
    }
    return text;
}

/* Without what opens and ends it but says nothing. */
static struct str bare(struct str text)
{
    text = str_trim(text);
    while (text.len > 0 && strchr("-*>#\"'` ", text.s[0])) {
        text = str_sub(text, 1, text.len);
    }
    return without_end(str_sub(text, title_begin(text), text.len));
}

/* As much as fits, ending where a clause does; the words that fit and a mark
 * that they go on if no clause ends there. */
static enum clew_status cut(struct arena *arena, struct str text,
                            struct str *out)
{
    size_t limit = utf8_cut_chars(text, TITLE_CHARS);
    size_t best = 0;

    if (limit == text.len) {
        *out = text;
        return CLEW_OK;
    }
    for (size_t i = 0; i < N_JOINTS; i++) {
        struct str joint = str_of(joints[i]);

        for (size_t at = str_find(text, joint, MIN_CLAUSE);
             at != SIZE_MAX && at <= limit;
             at = str_find(text, joint, at + 1)) {
            best = at > best ? at : best;
        }
    }
    if (best > 0) {
        *out = without_end(str_sub(text, 0, best));
        return CLEW_OK;
    }
    for (best = limit; best > limit / 2 && text.s[best] != ' '; best--) {
    }
    limit =
        text.s[best] == ' ' ? best : limit; /* not all scripts have blanks */
    *out = str_of(arena_printf(arena, "%.*s\xE2\x80\xA6", (int)limit, text.s));
    return out->s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* Past a block of code that starts at `at`; `at` if none does. */
static size_t skip_code(struct str text, size_t at)
{
    size_t end;

    if (!str_starts(str_sub(text, at, text.len), STR("```"))) {
        return at;
    }
    end = str_find(text, STR("\n```"), at + 3);
    return end == SIZE_MAX ? text.len : end + 4;
}

enum clew_status title_of(struct arena *arena, struct str text, struct str *out)
{
    struct str said;
    struct tokens tokens = {0};
    size_t at = 0;
    size_t next = 0;
    enum clew_status status =
        machine_blank(arena, utf8_head(text, MAX_BYTES), &said);

    *out = (struct str){NULL, 0};
    if (status == CLEW_OK) {
        status = tokens_of(arena, said, &tokens);
    }
    while (status == CLEW_OK && at < said.len) {
        size_t end;
        struct str sentence;

        while (at < said.len && isspace((unsigned char)said.s[at])) {
            at++;
        }
        end = skip_code(said, at);
        if (end > at) {
            at = end;
            continue;
        }
        end = sentence_end(said, at, &tokens, &next);
        sentence = str_trim(str_sub(said, at, end));
        if (sentence.len > 0 && !smalltalk_is_caption(sentence) &&
            !str_starts(sentence, STR("[tool_")) && !smalltalk_is(sentence) &&
            !smalltalk_is(bare(sentence))) {
            return cut(arena, bare(sentence), out);
        }
        at = end > at ? end : at + 1;
    }
    return status;
}
