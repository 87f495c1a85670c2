/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clause.c - find the stretch of a sentence that says who does what.
 *
 * Openers and chatter are skipped, leading time adverbials kept, and the
 * subject must be the speaker: said ("I", "my dog"), implied ("Went to ...")
 * or affected ("The group has made me ..."). Text in brackets, fences and
 * quoted lines is somebody else's.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

/* Longer turns of one paragraph are rarely talk. */
#define PROSE_BYTES 1200u

#define FIRST_PERSON "i i'm i've i'd i'll we we're we've we'd we'll my our"
#define AFFECTED "me my"
#define PRONOUNS                                                               \
    "it it's its that that's this these those they they're he "                \
    "he's she she's there there's here here's what what's who "                \
    "which you you're your you've how why if so not no nothing "               \
    "let's thanks thank glad sorry love happy good great nice "                \
    "sounds looks congrats can't hope hoping looking everyone "                \
    "everything something anything someone yes yeah wow when "                 \
    "all just any each both one some their his her its mostly"

/* No part of a name: the words behind it go on with the sentence. */
#define FUNCTION_WORDS                                                         \
    "and or but to in on at of for with from by as where when while because "  \
    "since that that's who which a an the called named about after before so " \
    "like through during his her their its us me them him be been"

static bool is_bracketed(const struct extraction *x,
                         const struct intent_word *word)
{
    return word->from > 0 && x->turn->text.s[word->from - 1] == '[';
}

/* Where the line of `at` begins, if that of `before` begins at `line`. */
static size_t line_of(struct str text, size_t before, size_t line, size_t at)
{
    const char *end = memrchr(text.s + before, '\n', at - before);

    return end ? (size_t)(end - text.s) + 1 : line;
}

static size_t fence_from(struct str text, size_t at)
{
    while (at + 2 < text.len) {
        const char *tick = memchr(text.s + at, '`', text.len - 2 - at);

        if (!tick) {
            break;
        }
        at = (size_t)(tick - text.s);
        if (tick[1] == '`' && tick[2] == '`') {
            return at;
        }
        at++;
    }
    return SIZE_MAX;
}

enum clew_status clause_find_foreign(struct extraction *x)
{
    struct str text = x->turn->text;
    size_t fence = fence_from(text, 0);
    bool is_inside = false;
    size_t before = 0;
    size_t line = 0;

    x->is_foreign = arena_zero(x->arena, x->pieces.count + 1, sizeof(bool));
    if (!x->is_foreign) {
        return CLEW_NO_MEMORY;
    }
    /* one pass over the text, however many pieces there are */
    for (size_t i = 0; i < x->pieces.count; i++) {
        const struct intent_piece *piece = &x->pieces.items[i];
        size_t at = piece->words[0].from;

        while (fence < at) {
            is_inside = !is_inside;
            fence = fence_from(text, fence + 3);
        }
        line = line_of(text, before, line, at);
        before = at;
        x->is_foreign[i] = is_inside || is_bracketed(x, &piece->words[0]) ||
                           text.s[line] == '>' || text.s[line] == '|';
    }
    return CLEW_OK;
}

bool piece_is_bracketed(const struct extraction *x,
                        const struct intent_piece *piece)
{
    return is_bracketed(x, &piece->words[0]);
}

bool piece_is_foreign(const struct extraction *x,
                      const struct intent_piece *piece)
{
    return x->is_foreign[piece - x->pieces.items];
}

/* "by the way", "to be honest": words to skip, 0 if none. */
static size_t chatter_at(const struct intent_piece *piece, size_t at)
{
    static const char *const phrases[] = {"by the way",
                                          "you know",
                                          "i mean",
                                          "to be honest",
                                          "in fact",
                                          "guess what",
                                          "for me",
                                          "on that note",
                                          "of course",
                                          "at least",
                                          "on a different note",
                                          "good news",
                                          "as you know",
                                          "great news",
                                          "you know what",
                                          "like i said",
                                          "for example",
                                          "best of all",
                                          "on another note",
                                          "some news",
                                          "since we last chatted",
                                          "since we last spoke",
                                          "i must say"};

    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        const char *p = phrases[i];
        size_t n = 0;

        while (*p && at + n < piece->n_words) {
            size_t len = strcspn(p, " ");

            if (piece->words[at + n].len != len ||
                memcmp(piece->words[at + n].s, p, len) != 0) {
                break;
            }
            n++;
            p += len;
            p += *p == ' ';
        }
        if (!*p) {
            return n;
        }
    }
    /* "I think we should", but not "I think about" */
    if (at + 3 < piece->n_words && word_is(&piece->words[at], "i") &&
        word_any(&piece->words[at + 1], "think guess believe") &&
        word_any(&piece->words[at + 2], FIRST_PERSON)) {
        return 2;
    }
    return 0;
}

/* The word behind the next comma, if one comes soon; else 0. */
static size_t skip_to_comma(const struct intent_piece *piece, size_t at)
{
    for (size_t i = at; i < piece->n_words && i < at + 6; i++) {
        if (piece->words[i].has_comma) {
            return i + 1;
        }
    }
    return 0;
}

static size_t skip_openers(const struct intent_piece *piece)
{
    size_t at = piece->body;

    while (at + 2 < piece->n_words) {
        const struct intent_word *word = &piece->words[at];
        size_t n = chatter_at(piece, at);

        if (n > 0) {
            at += n;
        } else if (word_any(word, "and but so also plus anyway though because "
                                  "then man btw besides honestly yup "
                                  "haha lol ha")) {
            at++;
        } else if (word_is(word, "speaking") && skip_to_comma(piece, at)) {
            at = skip_to_comma(piece, at);
        } else if (word->has_comma && word->is_capital && at < 3 &&
                   !word_any(word, FIRST_PERSON " yesterday today recently "
                                                "lately tomorrow")) {
            at++;
        } else {
            break;
        }
    }
    return at;
}

/* "I wanted to tell you I joined ...": what is told, not the telling. */
static size_t skip_announcement(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *words = piece->words;

    for (size_t i = at + 1; i + 4 < piece->n_words && i < at + 9; i++) {
        size_t next = i + 2;

        if (!word_any(&words[i + 1], "you know") ||
            !word_any(&words[i], "tell you")) {
            continue;
        }
        next += word_is(&words[next], "that");
        if (word_any(&words[next], FIRST_PERSON)) {
            return next;
        }
    }
    return at;
}

/*
 * The subject behind a leading adverbial ("Last week I ...", "After the show,
 * we ..."), or `at` itself.
 */
static size_t skip_adverbial(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *words = piece->words;
    bool is_time =
        word_any(&words[at], "last this next yesterday today tomorrow recently "
                             "lately currently nowadays sometimes once two "
                             "three few earlier tonight now");
    bool is_phrase =
        word_any(&words[at], "in on at after before during since when while "
                             "for over with as every every a by to from "
                             "growing until thanks through besides apart "
                             "despite aside given like unlike unfortunately "
                             "luckily fortunately");

    if (!is_time && !is_phrase) {
        return at;
    }
    for (size_t i = at + 1; i < piece->n_words && i < at + 9; i++) {
        if (!word_any(&words[i], FIRST_PERSON)) {
            continue;
        }
        if (words[i - 1].has_comma || (is_time && i <= at + 4) ||
            word_any(&words[i - 1],
                     "ago week weekend month year day night morning summer "
                     "winter spring fall time")) {
            return i;
        }
        if (is_phrase && word_any(&words[at], "when while since as until")) {
            if (i > at + 2 && words_have(words, at + 1, i, FIRST_PERSON)) {
                return i; /* "since I'm tired I'm going home" */
            }
            continue; /* "when I was ten, we moved" */
        }
        return at;
    }
    return at;
}

/* "..., maybe you would like it", "..., so let's do it": no longer about the
 * speaker. */
static bool turns_to_other(const struct intent_word *word,
                           const struct intent_word *end)
{
    for (int i = 0; i < 2 && word + 1 < end &&
                    word_any(word, "maybe so and but perhaps do did have if "
                                   "hope as");
         i++) {
        word++;
    }
    return word_any(word, "you you're you've you'll you'd let's your");
}

static size_t trim_end(const struct extraction *x,
                       const struct intent_piece *piece, size_t from)
{
    size_t end = piece->n_words;

    for (size_t i = from; i < end; i++) {
        if (is_bracketed(x, &piece->words[i])) {
            end = i;
        }
    }
    for (size_t i = from + 3; i + 1 < end; i++) {
        const struct intent_word *word = &piece->words[i];

        if ((word_is(word, "take") && i + 2 < end && word_is(word + 1, "a") &&
             word_is(word + 2, "look")) ||
            (word_is(word, "check") && word_any(word + 1, "it this out")) ||
            (word_is(word, "look") && word_any(word + 1, "at")) ||
            word_is(word, "here's")) {
            end = i; /* "..., take a look" */
        }
    }
    for (size_t i = from + 4; i + 1 < end; i++) {
        if (piece->words[i - 1].has_comma &&
            turns_to_other(&piece->words[i], &piece->words[end])) {
            end = i;
        }
    }
    /* a name called at the end, and words that only close */
    if (end > from + 3 && piece->words[end - 1].is_capital &&
        piece->words[end - 2].has_comma &&
        str_istarts(x->other, str_of(piece->words[end - 1].s))) {
        end--;
    }
    while (end > from + 2 &&
           word_any(&piece->words[end - 1],
                    "right haha lol though too anyway okay yeah ok so and but "
                    "or because btw")) {
        end--;
    }
    return end;
}

static bool ends_in_ing(const struct intent_word *word)
{
    return word->len > 4 && memcmp(word->s + word->len - 3, "ing", 3) == 0;
}

/* A verb with the ending of the third person: studies, goes, runs. */
static bool is_third_person(const struct intent_word *word)
{
    static const char *const endings[] = {"s", "es", "ies"};
    char base[48];

    for (size_t i = 0; i < 3; i++) {
        size_t cut = strlen(endings[i]);
        struct intent_word stem = {.s = base};

        if (word->len <= cut + 1 || word->len >= sizeof(base) ||
            memcmp(word->s + word->len - cut, endings[i], cut) != 0) {
            continue;
        }
        stem.len = (uint16_t)(word->len - cut);
        memcpy(base, word->s, stem.len);
        if (cut == 3) {
            base[stem.len++] = 'y';
        }
        base[stem.len] = '\0';
        if (intent_is_verb(&stem)) {
            return true;
        }
    }
    return false;
}

/* "Researching agencies": no verb of its own, so the speaker is doing it. */
static bool is_bare_progress(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *words = piece->words;

    if (word_any(&words[at], "being having seeing knowing thing nothing "
                             "everything something anything feeling hoping "
                             "looking sounding loving speaking wishing sending "
                             "amazing exciting interesting")) {
        return false;
    }
    for (size_t i = at + 1; i < piece->n_words; i++) {
        size_t len = words[i].len;

        /* "Overcoming challenges builds strength", "Biking sounds great" */
        if (word_any(&words[i], "sounds looks seems") ||
            (is_third_person(&words[i]) && i + 1 < piece->n_words &&
             !words[i - 1].has_comma &&
             !word_any(&words[i - 1],
                       "of the my our some for on with in and a new to from "
                       "about at into more these those"))) {
            return false;
        }
        if (word_any(&words[i], "that's it's sounds that") &&
            words[i - 1].has_comma &&
            !words_have(words, at, i, "my our me us")) {
            return false; /* "Making videos - that's awesome": what you do */
        }
        if (word_any(&words[i], "is are was were has have been can could will "
                                "would makes make does do isn't wasn't aren't "
                                "let lets helps gives keeps brings reminds "
                                "inspires takes feels me must should might "
                                "may needs feel") ||
            (len > 2 && memcmp(words[i].s + len - 2, "'s", 2) == 0 &&
             !words[i].is_capital) ||
            word_is_past(&words[i])) {
            return false; /* "Helping others, for me, is important" */
        }
        if (words[i - 1].has_comma && i > at + 2 &&
            intent_is_subject(&words[i])) {
            break; /* a clause of its own follows */
        }
    }
    return piece->n_words > at + 3;
}

/* "Went to ...", "Researching ...", "Just got ...": the speaker, unsaid. */
static bool is_elided(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *word = &piece->words[at];

    if (word_any(word, "just finally recently also still already currently") &&
        at + 1 < piece->n_words) {
        word++;
        if (ends_in_ing(word) && !word_any(word, "thing something nothing")) {
            return at + 3 < piece->n_words;
        }
    }
    if (word_is(word, "going") && word + 2 < piece->words + piece->n_words &&
        word_is(word + 2, "be")) {
        return false; /* "gonna be a great night": it will be */
    }
    if (ends_in_ing(word)) {
        return !word->has_comma && is_bare_progress(piece, at);
    }
    if (word_any(word, "love enjoy loving enjoying") &&
        at + 2 < piece->n_words && ends_in_ing(word + 1)) {
        return true; /* "Love experimenting with spices" */
    }
    if (strchr(word->s, '-')) {
        return false; /* "a much-needed break" */
    }
    if (word_any(word, "got going have keep") && at + 1 < piece->n_words &&
        word_is(word + 1, "to") && !word_is(word, "going")) {
        return false; /* "gotta keep going": an exhortation */
    }
    if (word_is(word, "been")) {
        return at + 1 < piece->n_words &&
               word + 1 < piece->words + piece->n_words && word[1].len > 4 &&
               (memcmp(word[1].s + word[1].len - 3, "ing", 3) == 0);
    }
    if (word_any(word, "had got gone going") ||
        (word_is_past(word) &&
         !word_any(word, "was were said thought loved need led excited tired "
                         "pleased relieved interested inspired amazed thrilled "
                         "blessed stressed mixed"))) {
        return word - piece->words < (long)piece->n_words - 2;
    }
    return false;
}

/* "Hopefully I can ...", said without the first word, would be a lie. */
static bool is_hedged(const struct intent_piece *piece, size_t first)
{
    return words_have(piece->words, 0, first,
                      "maybe perhaps hopefully if probably unless");
}

/* "We all need ...": an opinion about everybody. */
static bool speaks_for_all(const struct intent_word *subject)
{
    if (word_is(subject, "our") && word_any(subject + 2, "can should must")) {
        return true;
    }
    if (word_is(subject, "we") && word_is(subject + 1, "got") &&
        subject[1].from == subject[2].from) {
        return true; /* "we gotta" */
    }
    return (word_is(subject, "we") &&
            word_any(subject + 1, "all can need should must have could will "
                                  "often never always")) ||
           (word_is(subject, "we'll"));
}

/* "My family, exercise, and friends, for sure": no verb, no statement. */
static bool has_verb(const struct clause *clause)
{
    const struct intent_word *words = clause->piece->words;

    if (!word_any(&words[clause->subject], "my our")) {
        return true;
    }
    for (size_t i = clause->subject + 1; i < clause->end; i++) {
        size_t len = words[i].len;

        if (intent_is_aux(&words[i]) || word_is_past(&words[i]) ||
            (intent_is_verb(&words[i]) && !intent_is_noun_verb(&words[i])) ||
            is_third_person(&words[i]) ||
            word_any(&words[i], "love like want need feel seem been loves "
                                "likes wants means lives needs") ||
            (len > 2 && memcmp(words[i].s + len - 2, "'s", 2) == 0)) {
            return true;
        }
    }
    return false;
}

static bool ends_in_s(const struct intent_word *word)
{
    return word->len > 3 && word->s[word->len - 1] == 's' &&
           word->s[word->len - 2] != 's';
}

/* "The colors make me calm": which colours, only an earlier turn knows. */
static bool is_definite(const struct clause *clause)
{
    const struct intent_word *words = clause->piece->words;
    size_t i = clause->first + 1;
    bool has_names = words_names(words, clause->first, clause->end) > 0;

    if (!word_is(&words[clause->first], "the")) {
        return word_any(&words[clause->first],
                        "this that these those even though although because "
                        "for thanks such another other being") &&
               words_content(words, clause->first, clause->end) < 5;
    }
    while (i + 2 < clause->end && word_is_generic(&words[i]) &&
           !intent_is_aux(&words[i])) {
        i++;
    }
    /* "The book got me thinking", but not "The rainbow mural ..." */
    if (!has_names && i <= clause->first + 2 &&
        (intent_is_aux(&words[i]) || intent_is_aux(&words[i + 1]) ||
         word_is_past(&words[i + 1]) || ends_in_s(&words[i + 1]) ||
         word_is(&words[i + 1], "and"))) {
        return true;
    }
    /* "the people at the shelter": it says which */
    if (word_any(&words[i + 1], "at in of from around on near who that i")) {
        return words_content(words, clause->first, clause->end) < 3;
    }
    /* "The Wolves are my team" */
    return words_content(words, clause->first, clause->end) <
           (has_names && words[clause->first + 1].is_capital ? 2 : 5);
}

/* Short and on one line: talk, not something pasted or a list. */
static bool is_prose(const struct extraction *x)
{
    return x->turn->text.len < PROSE_BYTES &&
           !memchr(x->turn->text.s, '\n', x->turn->text.len);
}

/* "It's been great having people behind me": this "it" points at what follows,
 * and what follows was so. */
static bool is_expletive(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *words = piece->words;
    size_t i = at + 1;

    if (!word_any(&words[at], "it it's")) {
        return false;
    }
    while (i < piece->n_words &&
           (word_is_adverb(&words[i]) ||
            word_any(&words[i], "was is been has will be so such a an quite "
                                "very pretty"))) {
        i++;
    }
    return words_have(words, at, i, "been was") && i + 3 < piece->n_words &&
           word_any(&words[i], "great awesome amazing tough hard fun nice good "
                               "wonderful rewarding important fulfilling "
                               "inspiring exciting special challenging "
                               "difficult lovely blast pleasure joy honor "
                               "relief cool incredible") &&
           (ends_in_ing(&words[i + 1]) || word_is(&words[i + 1], "to")) &&
           words_have(words, i + 2, piece->n_words, "me my i i'm our we");
}

/* "Anthony and I went", "some friends from church and I went" */
static bool is_joined_subject(const struct clause *clause)
{
    const struct intent_word *words = clause->piece->words;
    size_t first = clause->first;

    if (clause->end > first + 3 && words[first].is_capital &&
        word_is(&words[first + 1], "and") &&
        word_any(&words[first + 2], "i my")) {
        return true;
    }
    for (size_t i = first; i + 3 < clause->end && i < first + 6; i++) {
        if (i > first && word_is(&words[i], "and") &&
            word_is(&words[i + 1], "i")) {
            return word_any(&words[first], "some a one two three both");
        }
        if (words[i].has_comma || intent_is_aux(&words[i]) ||
            word_is_past(&words[i])) {
            return false;
        }
    }
    return false;
}

/* "This week has been hard on me" */
static bool is_time(const struct intent_word *word)
{
    return word_any(word, "this these") &&
           word_any(word + 1, "week weekend month year season semester");
}

/* "At the event, I met ...": which event, only an earlier sentence knows. */
static bool is_pointing(const struct clause *clause)
{
    const struct intent_word *words = clause->piece->words;

    return clause->subject > clause->first + 1 &&
           word_any(&words[clause->first], "at in on after during from") &&
           word_any(&words[clause->first + 1], "the that this") &&
           words_content(words, clause->first, clause->subject) < 2 &&
           words_names(words, clause->first, clause->subject) == 0 &&
           !words_have(words, clause->first, clause->subject,
                       "week weekend month year day night morning evening "
                       "afternoon summer winter spring fall past future");
}

static bool clause_from(const struct extraction *x,
                        const struct intent_piece *piece, size_t first,
                        struct clause *out)
{
    const struct intent_word *words = piece->words;

    *out = (struct clause){.piece = piece,
                           .first = first,
                           .subject = skip_adverbial(piece, first),
                           .end = trim_end(x, piece, first)};
    if (is_pointing(out)) {
        out->first = out->subject;
    }
    if (out->subject + 2 >= out->end || out->end - first < 3 ||
        is_hedged(piece, first) || out->end - first > EXTRACT_MAX_WORDS) {
        return false;
    }
    if (word_any(&words[out->subject], FIRST_PERSON)) {
        return !speaks_for_all(&words[out->subject]) && has_verb(out);
    }
    if (is_joined_subject(out)) {
        out->subject = first;
        return true;
    }
    out->subject = first;
    if (is_prose(x) && is_elided(piece, first)) {
        out->is_elided = true;
        return true;
    }
    if (x->turn->speaker.len > 0 && is_expletive(piece, first)) {
        return !words_have(words, first, out->end, "you your you're this");
    }
    return x->turn->speaker.len > 0 &&
           (!word_any(&words[first], PRONOUNS) || is_time(&words[first])) &&
           !word_any(&words[first], "wish wishing going") &&
           !is_third_person(&words[first]) && !is_definite(out) &&
           !words_have(words, first, out->end, "please") &&
           !word_is_past(&words[first]) &&
           words_have(words, first + 1, out->end, AFFECTED) &&
           !words_have(words, first, out->end, "you your you're");
}

/* "Quite a ride - had an audition yesterday": the speaker, unsaid again. */
static bool is_elided_later(const struct extraction *x,
                            const struct intent_piece *piece, size_t at)
{
    const struct intent_word *words = piece->words;

    return is_prose(x) &&
           (word_any(&words[at], "had got been") ||
            (word_is(&words[at], "just") && word_is(&words[at + 1], "been"))) &&
           is_elided(piece, at);
}

bool clause_after(const struct extraction *x, const struct intent_piece *piece,
                  size_t after, struct clause *out)
{
    const struct intent_word *words = piece->words;

    for (size_t i = after + 1; i + 3 < piece->n_words; i++) {
        size_t first = i + word_any(&words[i], "but and so");

        if (words[i - 1].has_comma &&
            (word_any(&words[first], FIRST_PERSON) ||
             is_elided_later(x, piece, first)) &&
            clause_from(x, piece, first, out)) {
            return true;
        }
    }
    return false;
}

bool clause_of(const struct extraction *x, const struct intent_piece *piece,
               struct clause *out)
{
    if (piece->end == '?' || piece->n_words < 3 || piece_is_foreign(x, piece)) {
        return false;
    }
    if (clause_from(x, piece, skip_announcement(piece, skip_openers(piece)),
                    out)) {
        return true;
    }
    /* "That looks great - I've been wanting to go": the second half */
    return clause_after(x, piece, 0, out);
}

/*
 * Does a noun come before `at` that a pronoun there may mean? A clause of its
 * own ("..., it was fun") takes the nearest; inside a clause two are wanted.
 */
static bool has_antecedent(const struct clause *clause, size_t at)
{
    const struct intent_word *words = clause->piece->words;
    bool is_new_clause =
        at > 0 && (words[at - 1].has_comma ||
                   word_any(&words[at - 1], "and but so because when while"));
    size_t n = 0;

    for (size_t i = clause->subject + 1; i < at; i++) {
        n += !word_is_generic(&words[i]);
    }
    return n >= (is_new_clause ? 1u : 2u);
}

/* Do the words from `i` on say which one "this" is? Two that tell, side by
 * side, or one with what it is called, where it is from, what it does. */
static bool is_described(const struct clause *clause, size_t i)
{
    const struct intent_word *words = clause->piece->words;
    size_t n = 0;

    for (; i < clause->end; i++) {
        const struct intent_word *word = &words[i];

        if (!word_is_generic(word) || word_is(word, "thing")) {
            n++;
        } else if (!(n > 0 && word_is(word, "and") && i + 1 < clause->end &&
                     !word_is_generic(word + 1)) &&
                   (intent_is_aux(word) || intent_is_subject(word) ||
                    word_any(word, FUNCTION_WORDS))) {
            break;
        }
        if (word->has_comma) {
            /* "this woman, Jean" */
            return n >= 2 ||
                   (n == 1 && i + 1 < clause->end && words[i + 1].is_capital);
        }
    }
    return n >= 2 || (n == 1 && i + 1 < clause->end &&
                      word_any(&words[i], "called named from of that that's "
                                          "who which"));
}

/* "this apple pie" names it; "this city", "made this" do not. */
static bool points_elsewhere(const struct clause *clause, size_t i)
{
    const struct intent_word *words = clause->piece->words;
    size_t n = 0;

    bool is_object =
        i > 0 &&
        word_any(&words[i - 1], "like of on in at by with from for to into "
                                "near about after");

    if (i + 1 < clause->end &&
        word_any(&words[i + 1], "pic pics photo picture shot")) {
        return true; /* it was shown */
    }
    if (word_is(&words[i], "that") && i > 0 && i + 1 < clause->end &&
        !is_object &&
        (word_is_generic(&words[i + 1]) || words[i + 1].is_capital)) {
        return false; /* a conjunction: "that I", "that was" */
    }
    if (i + 1 >= clause->end) {
        return true;
    }
    if (word_any(&words[i + 1],
                 "week weekend month year summer winter spring fall morning "
                 "afternoon evening season time semester next past coming")) {
        return false;
    }
    if (!word_any(&words[i], "that those")) {
        return !is_described(clause, i + 1);
    }
    /* "that" points harder: its own words must say which, or a name behind
     * them, as in "that trip to England" */
    while (i + 1 + n < clause->end && !word_is_generic(&words[i + 1 + n])) {
        n++;
    }
    if (n == 1 && i + 3 < clause->end &&
        word_any(&words[i + 2], "to of in called named by") &&
        words[i + 3].is_capital) {
        return false;
    }
    return n < 2;
}

/* "made the event a hit": one of many, and nothing says which. */
static bool names_occasion(const struct clause *clause, size_t at)
{
    const struct intent_word *words = clause->piece->words;

    return at + 1 < clause->end &&
           word_any(&words[at + 1],
                    "event events project magazine accident game match book "
                    "movie film painting picture photo bowl tournament "
                    "conference workshop possibilities experience class") &&
           (at + 2 == clause->end || words[at + 1].has_comma ||
            word_is_generic(&words[at + 2])) &&
           (at + 2 == clause->end || words[at + 1].has_comma ||
            !word_any(&words[at + 2],
                      "of in at from for about on that which called named i "
                      "we is was with by to")) &&
           words_names(words, clause->first, clause->end) == 0;
}

bool clause_stands_alone(const struct clause *clause)
{
    const struct intent_word *words = clause->piece->words;

    for (size_t i = clause->first; i < clause->end; i++) {
        bool is_last = i + 1 == clause->end;

        if (word_any(&words[i], "this these those that") &&
            points_elsewhere(clause, i)) {
            return false;
        }
        if (i == clause->first && is_expletive(clause->piece, i)) {
            continue;
        }
        if (word_any(&words[i], "it it's it'll it'd them him her he he's he'll "
                                "he'd she she's she'll she'd they they're "
                                "they've they'll they'd") &&
            !has_antecedent(clause, i)) {
            return false;
        }
        if (word_any(&words[i], "here there") &&
            !(i + 1 < clause->end &&
              word_any(&words[i + 1], "is are was were for to")) &&
            words_names(words, clause->subject, i) == 0) {
            return false;
        }
        if (word_any(&words[i], "ones afterward afterwards") ||
            (word_is(&words[i], "one") && i > clause->subject && !is_last &&
             word_any(&words[i + 1], "because 'cause cause since and but"))) {
            return false;
        }
        if (word_any(&words[i], "one another") && is_last &&
            !has_antecedent(clause, i)) {
            return false;
        }
        if (is_last && i > 1 && word_any(&words[i], "it them") &&
            word_any(&words[i - 1], "about for of with to on") &&
            clause_names_people(clause)) {
            return false; /* "told my friends about it" */
        }
        if (word_is(&words[i], "the") && names_occasion(clause, i)) {
            return false;
        }
        if (word_is(&words[i], "part") && i > 0 &&
            word_any(&words[i - 1], "favorite best") &&
            (is_last || !word_any(&words[i + 1], "of about is was in"))) {
            return false; /* of what */
        }
        if (word_is(&words[i], "something") && !is_last &&
            word_any(&words[i + 1], "similar like else")) {
            return false;
        }
        if (word_is(&words[i], "another") && !is_last &&
            word_any(&words[i + 1], "at in on for from and")) {
            return false;
        }
    }
    return true;
}

void clause_bytes(const struct clause *clause, uint32_t *out_from,
                  uint32_t *out_to)
{
    *out_from = clause->piece->words[clause->first].from;
    *out_to = clause->piece->words[clause->end - 1].to;
}
