/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - read the slot a plain statement sets, and compare two of them.
 *
 * Every pattern is written out: a statement that does not fit one exactly sets
 * nothing. Better to miss a change than to retire a fact that still holds.
 */
#include "talk/slots.h"

#include "base/buf.h"
#include "talk/word_class.h"

#include <ctype.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const struct intent_word *words;
    size_t n;
    size_t at; /* first word of the predicate */
    struct str subject;
    struct slot *out;
};

/* --- what makes a statement unusable -----------------------------------------
 */

static bool is_month_may(const struct reader *r, size_t i)
{
    return r->words[i].is_capital && i > 0;
}

static bool is_past_year(const struct intent_word *word)
{
    return word->len == 4 && (word->s[0] == '1' || word->s[0] == '2') &&
           isdigit((unsigned char)word->s[1]) &&
           isdigit((unsigned char)word->s[2]) &&
           isdigit((unsigned char)word->s[3]);
}

static bool is_unusable(const struct reader *r, char end)
{
    if (end == '?') {
        return true;
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct intent_word *word = &r->words[i];
        bool is_then = i + 1 < r->n && word_any(word, "used") &&
                       word_is(&r->words[i + 1], "to");

        if (is_then ||
            word_any(word, "if would wouldn't could might should wish maybe "
                           "perhaps probably hope hoping considering thinking "
                           "planning want wanted dream ago previously formerly "
                           "once almost nearly wonder unless whether imagine "
                           "pretend hypothetically supposed unlikely never "
                           "won't didn't don't not i'd we'd isn't wasn't") ||
            (word_is(word, "may") && !is_month_may(r, i)) ||
            (word_is(word, "when") && i + 1 < r->n &&
             word_any(&r->words[i + 1], "i we"))) {
            return true;
        }
        if (is_past_year(word) && i > 0 &&
            word_any(&r->words[i - 1], "in from until till back during")) {
            return true;
        }
    }
    return false;
}

static bool has_change_cue(const struct reader *r)
{
    return words_have(r->words, 0, r->n,
                      "now nowadays since new moved rescheduled pushed changed "
                      "switched longer instead just currently lately recently "
                      "migrated postponed delayed became started") ||
           (words_have(r->words, 0, r->n, "these") &&
            words_have(r->words, 0, r->n, "days")) ||
           (words_have(r->words, 0, r->n, "went") &&
            words_have(r->words, 0, r->n, "up down"));
}

/* --- values
 * -------------------------------------------------------------------- */

#define VALUE_STOPS                                                            \
    "as for since now and but because with while these starting nowadays "     \
    "anymore again already yesterday recently instead finally soon today "     \
    "currently last this after so where which who full full-time part "        \
    "part-time though until when by on from along temporarily too"

/* Words from `at` to the end of the value, joined and folded. */
static struct str value_at(const struct reader *r, size_t at,
                           const char *more_stops)
{
    struct buf text;
    struct str out = {0};

    buf_init(&text, 256);
    if (at < r->n && word_any(&r->words[at], "a an the my our")) {
        at++;
    }
    for (size_t i = at; i < r->n && i < at + 6; i++) {
        if (word_any(&r->words[i], VALUE_STOPS) ||
            word_any(&r->words[i], more_stops)) {
            break;
        }
        if (text.len > 0) {
            (void)buf_append_char(&text, ' '); /* checked below */
        }
        (void)buf_append(&text, r->words[i].s, r->words[i].len);
        if (r->words[i].has_comma) {
            break;
        }
    }
    if (text.len > 0 && buf_status(&text) == CLEW_OK) {
        out = arena_str(r->arena, buf_str(&text));
    }
    buf_release(&text);
    return out;
}

static bool set_slot(struct reader *r, const char *attribute, struct str value,
                     unsigned flags)
{
    if (value.len == 0) {
        return false;
    }
    r->out->subject = r->subject;
    r->out->attribute = str_of(attribute);
    r->out->value = value;
    r->out->flags = flags | (has_change_cue(r) ? (unsigned)SLOT_CHANGE : 0);
    return true;
}

static bool word_at(const struct reader *r, size_t at, const char *list)
{
    return at < r->n && word_any(&r->words[at], list);
}

/* --- patterns about the speaker
 * --------------------------------------------------- */

static unsigned side_flag(const struct reader *r)
{
    return words_have(r->words, 0, r->n,
                      "side second part-time freelance weekends weekend "
                      "volunteer temporarily also sometimes summer holiday "
                      "vacation intern internship")
               ? (unsigned)SLOT_SIDE
               : 0;
}

static bool read_work(struct reader *r)
{
    size_t at = r->at;
    unsigned flags = SLOT_FUNCTIONAL | side_flag(r);

    if (word_at(r, at, "work working") && word_at(r, at + 1, "at for")) {
        return set_slot(r, "work", value_at(r, at + 2, "in out remotely"),
                        flags);
    }
    if (word_at(r, at, "joined") && at + 1 < r->n &&
        r->words[at + 1].is_capital) {
        return set_slot(r, "work", value_at(r, at + 1, "in"), flags);
    }
    if (word_at(r, at, "started") && word_at(r, at + 1, "working") &&
        word_at(r, at + 2, "at for")) {
        return set_slot(r, "work", value_at(r, at + 3, "in"), flags);
    }
    if (word_at(r, at, "started got took accepted") &&
        word_at(r, at + 1, "a my") && word_at(r, at + 2, "new job position") &&
        words_have(r->words, at, r->n, "at with")) {
        for (size_t i = at + 3; i < r->n; i++) {
            if (word_any(&r->words[i], "at with")) {
                return set_slot(r, "work", value_at(r, i + 1, "in"), flags);
            }
        }
    }
    if (word_at(r, at, "left quit") && at + 1 < r->n &&
        r->words[at + 1].is_capital) {
        r->out->replaces = value_at(r, at + 1, "to in");
        return r->out->replaces.len > 0 &&
               set_slot(r, "work", STR("nobody"), flags);
    }
    return false;
}

static bool read_live(struct reader *r)
{
    size_t at = r->at;
    unsigned flags = SLOT_FUNCTIONAL | side_flag(r);

    if (word_at(r, at, "live living") && word_at(r, at + 1, "in")) {
        return set_slot(r, "live", value_at(r, at + 2, ""), flags);
    }
    if (word_at(r, at, "moved relocated") && word_at(r, at + 1, "to") &&
        at + 2 < r->n && r->words[at + 2].is_capital) {
        return set_slot(r, "live", value_at(r, at + 2, "to in"), flags);
    }
    if (word_at(r, at, "moved relocated") && word_at(r, at + 1, "from")) {
        for (size_t i = at + 2; i + 1 < r->n; i++) {
            if (word_is(&r->words[i], "to") && r->words[i + 1].is_capital) {
                return set_slot(r, "live", value_at(r, i + 1, "in"), flags);
            }
        }
    }
    return false;
}

static bool is_number(const struct intent_word *word)
{
    return isdigit((unsigned char)word->s[0]) != 0;
}

static bool read_state(struct reader *r, bool is_am)
{
    size_t at = r->at;

    if (word_at(r, at, "turned turning") && at + 1 < r->n &&
        is_number(&r->words[at + 1]) && r->words[at + 1].len <= 2) {
        return set_slot(r, "age", value_at(r, at + 1, "years year"),
                        SLOT_FUNCTIONAL);
    }
    if (is_am && at < r->n && is_number(&r->words[at]) &&
        r->words[at].len <= 2 &&
        (at + 1 == r->n || word_at(r, at + 1, "years now and"))) {
        return set_slot(r, "age", value_at(r, at, "years"), SLOT_FUNCTIONAL);
    }
    if ((is_am || word_at(r, at, "got")) &&
        word_at(r, is_am ? at : at + 1,
                "married single divorced engaged widowed separated")) {
        return set_slot(
            r, "marital",
            arena_str(r->arena, str_of(r->words[is_am ? at : at + 1].s)),
            SLOT_FUNCTIONAL);
    }
    if (is_am) {
        at += word_at(r, at, "a an");
    } else if (word_at(r, at, "became went turned")) {
        at += 1 + word_at(r, at + 1, "a an");
    } else {
        return false;
    }
    if (word_at(r, at, "vegetarian vegan pescatarian keto omnivore") &&
        (at + 1 == r->n || word_at(r, at + 1, VALUE_STOPS))) {
        return set_slot(r, "diet", arena_str(r->arena, str_of(r->words[at].s)),
                        SLOT_FUNCTIONAL);
    }
    return false;
}

static bool read_study(struct reader *r)
{
    size_t at = r->at;

    if (word_at(r, at, "study studying") && at + 1 < r->n &&
        !word_at(r, at + 1, "for at in with hard")) {
        return set_slot(r, "study", value_at(r, at + 1, "at in every"),
                        SLOT_FUNCTIONAL);
    }
    if (word_at(r, at, "major majoring") && word_at(r, at + 1, "in")) {
        return set_slot(r, "study", value_at(r, at + 2, "at"), SLOT_FUNCTIONAL);
    }
    return false;
}

static bool read_count(struct reader *r)
{
    static const char counted[] =
        "kids kid children child cats cat dogs dog pets pet brothers brother "
        "sisters sister siblings employees cars car monitors";
    size_t at = r->at;
    size_t noun;
    size_t len;

    if (!word_at(r, at, "have") || at + 2 >= r->n) {
        return false;
    }
    noun = at + 2;
    if (!(is_number(&r->words[at + 1]) ||
          word_at(r, at + 1,
                  "one two three four five six seven eight nine "
                  "ten")) ||
        !word_at(r, noun, counted)) {
        return false;
    }
    len = r->words[noun].len;
    if (word_is(&r->words[noun], "children") ||
        word_is(&r->words[noun], "child")) {
        r->out->qualifier = STR("kid");
    } else {
        len -= len > 3 && r->words[noun].s[len - 1] == 's';
        r->out->qualifier =
            arena_str(r->arena, (struct str){r->words[noun].s, len});
    }
    return set_slot(r, "count", arena_str(r->arena, str_of(r->words[at + 1].s)),
                    SLOT_FUNCTIONAL);
}

/* "for deploys" behind a tool: what it is used for. */
static void read_purpose(struct reader *r, size_t from)
{
    for (size_t i = from; i + 1 < r->n; i++) {
        if (word_any(&r->words[i], "for as")) {
            r->out->qualifier = value_at(r, i + 1, "");
            return;
        }
    }
}

static bool read_use(struct reader *r)
{
    size_t at = r->at;

    if (word_at(r, at, "use using drive") && at + 1 < r->n) {
        bool is_drive = word_is(&r->words[at], "drive");

        read_purpose(r, at + 2);
        return set_slot(r, is_drive ? "drive" : "use",
                        value_at(r, at + 1, "to"), 0);
    }
    if (!word_at(r, at, "switched switching migrated changed upgraded")) {
        return false;
    }
    read_purpose(r, at + 2);
    if (word_at(r, at + 1, "from")) {
        r->out->replaces = value_at(r, at + 2, "to");
        for (size_t i = at + 3; i + 1 < r->n; i++) {
            if (word_is(&r->words[i], "to")) {
                return set_slot(r, "use", value_at(r, i + 1, "to"),
                                SLOT_CHANGE);
            }
        }
        return false;
    }
    if (word_at(r, at + 1, "to")) {
        for (size_t i = at + 2; i + 1 < r->n; i++) {
            if (word_is(&r->words[i], "from")) {
                r->out->replaces = value_at(r, i + 1, "to");
            }
        }
        return set_slot(r, "use", value_at(r, at + 2, "from"), SLOT_CHANGE);
    }
    return false;
}

/* --- "my|our|the N is V"
 * ------------------------------------------------------------ */

#define FUNCTIONAL_NOUNS "phone number email address mobile cell zip username"
#define NOUNS                                                                  \
    FUNCTIONAL_NOUNS                                                           \
    " deadline meeting appointment budget rent salary price flight train "     \
    "launch release date birthday party wedding interview exam standup call "  \
    "class office version port server database framework language editor "     \
    "plan goal target weight height schedule shift hours gym doctor dentist "  \
    "bank boss manager team car laptop wifi retro demo review sprint "         \
    "reservation checkup game rehearsal lease subscription bedtime commute "   \
    "mortgage tuition fee fees headcount"

/* The verb that sets the noun: its index, and whether it tells of a change. */
static size_t setting_verb(const struct reader *r, size_t from,
                           size_t *out_value)
{
    for (size_t i = from; i < r->n && i < from + 4; i++) {
        if (word_any(&r->words[i], "is are costs")) {
            size_t at = i + 1;

            while (word_at(r, at,
                           "now currently at on in set to scheduled "
                           "due for still called named moved been "
                           "rescheduled pushed")) {
                at++;
            }
            *out_value = at;
            return i;
        }
        if (word_any(&r->words[i], "moved changed went was has got rescheduled "
                                   "increased dropped")) {
            size_t at = i + 1;

            while (word_at(r, at,
                           "been moved pushed changed rescheduled "
                           "postponed delayed back up down forward "
                           "bumped raised cut")) {
                at++;
            }
            if (!word_at(r, at, "to until")) {
                return SIZE_MAX;
            }
            *out_value = at + 1;
            while (word_at(r, *out_value, "be at on")) {
                (*out_value)++;
            }
            return i;
        }
    }
    return SIZE_MAX;
}

static bool read_noun(struct reader *r, size_t at)
{
    size_t value;
    size_t verb = setting_verb(r, at + 1, &value);
    const struct intent_word *head;
    struct buf text;
    bool is_favourite;
    bool is_ok;

    if (verb == SIZE_MAX || verb <= at + 1) {
        return false;
    }
    head = &r->words[verb - 1];
    is_favourite = word_at(r, at + 1, "favorite favourite");
    if (!word_any(head, NOUNS) && !is_favourite) {
        return false;
    }
    buf_init(&text, 256);
    for (size_t i = at + 1; i + 1 < verb; i++) {
        if (text.len > 0) {
            (void)buf_append_char(&text, ' '); /* checked below */
        }
        (void)buf_append(&text, r->words[i].s, r->words[i].len);
    }
    r->out->qualifier = arena_str(r->arena, buf_str(&text));
    is_ok = buf_status(&text) == CLEW_OK && r->out->qualifier.s;
    buf_release(&text);
    return is_ok &&
           set_slot(r, head->s, value_at(r, value, "instead"),
                    (word_any(head, FUNCTIONAL_NOUNS) ? SLOT_FUNCTIONAL : 0u) |
                        (is_favourite ? (unsigned)SLOT_LOOSE : 0u));
}

/* --- reading and comparing
 * ------------------------------------------------------------ */

static bool read_first_person(struct reader *r)
{
    const struct intent_word *subject = &r->words[r->at];
    bool is_am = word_any(subject, "i'm we're");

    r->at++;
    while (r->at < r->n &&
           (word_is_adverb(&r->words[r->at]) ||
            word_any(&r->words[r->at], "am have are been both"))) {
        if (word_is(&r->words[r->at], "have") && read_count(r)) {
            return true;
        }
        is_am |= word_any(&r->words[r->at], "am are");
        r->at++;
    }
    return r->at < r->n &&
           (read_work(r) || read_live(r) || read_state(r, is_am) ||
            read_study(r) || read_use(r));
}

bool slot_of(struct arena *arena, struct str sentence, struct str speaker,
             struct slot *out_slot)
{
    struct intent_pieces pieces;
    struct reader r = {.arena = arena, .subject = speaker, .out = out_slot};
    const struct intent_piece *piece;

    *out_slot = (struct slot){0};
    if (intent_split(arena, sentence, &pieces) != CLEW_OK ||
        pieces.count != 1) {
        return false;
    }
    piece = &pieces.items[0];
    r.words = piece->words;
    r.n = piece->n_words;
    r.at = piece->body;
    /* "Since last week", "As of today": skip to the subject */
    while (r.at + 2 < r.n && r.at < piece->body + 5 &&
           !word_any(&r.words[r.at], "i i'm i've we we're we've my our the") &&
           word_any(&r.words[r.at],
                    "since last week month year as of today now recently "
                    "update fyi actually so this yesterday currently and "
                    "oh well hey by way btw two few")) {
        r.at++;
    }
    if (r.at + 1 >= r.n || is_unusable(&r, piece->end)) {
        return false;
    }
    if (word_any(&r.words[r.at], "my our the")) {
        return read_noun(&r, r.at);
    }
    return word_any(&r.words[r.at], "i i'm i've we we're we've") &&
           read_first_person(&r);
}

/* Equal, or one within the other as whole words. */
static bool same_value(struct str a, struct str b)
{
    struct str small = a.len < b.len ? a : b;
    struct str big = a.len < b.len ? b : a;
    size_t at = str_ifind(big, small, 0);

    return at != SIZE_MAX && (at == 0 || big.s[at - 1] == ' ') &&
           (at + small.len == big.len || big.s[at + small.len] == ' ');
}

enum slot_verdict slot_compare(const struct slot *older,
                               const struct slot *newer)
{
    bool is_use = str_eq(newer->attribute, STR("use"));

    if (!str_ieq(older->subject, newer->subject) ||
        !str_eq(older->attribute, newer->attribute)) {
        return SLOT_UNRELATED;
    }
    if (newer->replaces.len > 0) {
        return older->value.len > 0 && same_value(older->value, newer->replaces)
                   ? SLOT_SUPERSEDES
                   : SLOT_UNRELATED;
    }
    if (same_value(older->value, newer->value)) {
        return SLOT_UNRELATED;
    }
    if (!str_ieq(older->qualifier, newer->qualifier)) {
        return older->qualifier.len == 0 || newer->qualifier.len == 0
                   ? (is_use ? SLOT_UNRELATED : SLOT_SUGGESTS)
                   : SLOT_UNRELATED;
    }
    if (is_use && newer->qualifier.len == 0) {
        return SLOT_UNRELATED; /* one uses many things */
    }
    if ((older->flags | newer->flags) & (SLOT_SIDE | SLOT_LOOSE)) {
        return SLOT_SUGGESTS;
    }
    if (newer->flags & (SLOT_FUNCTIONAL | SLOT_CHANGE)) {
        return SLOT_SUPERSEDES;
    }
    return SLOT_SUGGESTS;
}
