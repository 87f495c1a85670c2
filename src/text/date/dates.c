/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dates.c - walk a text for date expressions. See dates.h.
 */
#include "text/date/dates.h"

#include "text/date/dates_internal.h"
#include "text/date/zone.h"

/* Sentences in which "the 17th" still is of the month said before. */
#define MONTH_REACH 2

static int64_t floor_div(int64_t value, int64_t by)
{
    int64_t quotient = value / by;

    return quotient - (value % by < 0);
}

static struct date_ref ref_of(const struct analysis_options *options)
{
    struct date_ref ref = {.now_utc = options->time_ms,
                           .looks_back = options->looks_back};

    ref.now_local = zone_to_local(options->timezone, ref.now_utc);
    ref.today = floor_div(ref.now_local, CLOCK_DAY_MS);
    ref.weekday = day_weekday(ref.today);
    clock_civil_from_days(ref.today, &ref.year, &ref.month, &ref.day);
    return ref;
}

static bool is_in_range(int64_t ms)
{
    return ms >= CLOCK_MIN_MS && ms <= CLOCK_MAX_MS;
}

/* Its times, in UTC; false where they are beyond the years. */
static bool set_times(const struct analysis_options *options, struct when when,
                      struct date *out)
{
    if (when.is_open) {
        out->said_from_ms = zone_to_utc(options->timezone, when.said_from);
        out->said_to_ms = zone_to_utc(options->timezone, when.said_to);
    }
    if (!when.is_utc) {
        /* the ends of time are not moved by a zone */
        if (when.from > CLOCK_MIN_MS + CLOCK_DAY_MS) {
            when.from = zone_to_utc(options->timezone, when.from);
        }
        if (when.to < CLOCK_MAX_MS - CLOCK_DAY_MS) {
            when.to = zone_to_utc(options->timezone, when.to);
        }
    }
    if (!is_in_range(when.from) || !is_in_range(when.to) ||
        when.from >= when.to) {
        return false;
    }
    out->from_ms = when.from;
    out->to_ms = when.to;
    out->grain = when.grain;
    out->said_grain = when.is_open ? when.said_grain : when.grain;
    if (!when.is_open) {
        out->said_from_ms = when.from;
        out->said_to_ms = when.to;
    }
    out->is_relative = when.is_relative;
    out->is_unsure = when.is_unsure;
    out->begins = when.begins;
    out->again = when.is_weekly   ? DATE_WEEKLY
                 : when.is_yearly ? DATE_YEARLY
                                  : DATE_ONCE;
    return true;
}

static bool to_date(struct str text, const struct tokens *tokens,
                    const struct analysis_options *options,
                    const struct date_item *first, const struct date_item *last,
                    struct when when, struct date *out)
{
    const struct token *from = &tokens->items[first->token];
    size_t end = last->last + 1;

    if (!set_times(options, when, out)) {
        return false;
    }
    while (end < tokens->count && tokens->items[end].flags & TOKEN_PART) {
        end++;
    }
    out->span = (struct span){from->from, tokens->items[last->last].to,
                              first->token, (uint32_t)end};
    out->text = str_sub(text, out->span.from, out->span.to);
    return true;
}

/* What was said holds for "the 17th" and "two weeks after that" a sentence
 * later. */
static void keep_said(struct date_parser *parser, size_t from, size_t to,
                      const struct when *when, size_t sentence)
{
    struct date_ref *ref = &parser->ref;
    int64_t day =
        floor_div(when->is_open ? when->said_from : when->from, CLOCK_DAY_MS);

    if (when->is_utc) {
        return;
    }
    for (size_t i = from; i < to; i++) {
        if (parser->items[i].class == DC_MONTH ||
            parser->items[i].class == DC_HOLIDAY) {
            ref->said_day = day;
            ref->said_reach = sentence + MONTH_REACH;
            ref->has_said = true;
        } else if (parser->items[i].class == DC_ORDINAL && ref->has_said) {
            ref->said_reach = sentence + MONTH_REACH; /* still of that month */
        }
    }
    if (when->grain == DATE_TIME && when->is_unsure) {
        return; /* an hour alone is of no day */
    }
    if (when->grain <= DATE_DAY) {
        ref->has_day = true;
        ref->that_day = day;
        ref->has_anchor = !when->is_unsure;
        ref->anchor = day;
        ref->anchor_reach = sentence + MONTH_REACH;
    }
}

/* Sentences are counted as they begin. */
struct date_walk {
    size_t seen; /* items whose breaks are noted */
    size_t n_sentences;
    size_t first_token; /* of the sentence */
    size_t n_tenses;    /* looked for */
};

/* Verbs are looked for beside so many days and numbers of a text: one that has
 * more is a table. */
#define MAX_TENSES 500

static void walk_to(struct date_walk *walk, struct date_parser *parser,
                    size_t at)
{
    for (; walk->seen <= at; walk->seen++) {
        if (parser->items[walk->seen].breaks || walk->seen == 0) {
            walk->first_token = parser->items[walk->seen].token;
            walk->n_sentences++;
            parser->ref.has_day = false;
        }
    }
    parser->ref.has_said &= walk->n_sentences < parser->ref.said_reach;
    parser->ref.has_anchor &= walk->n_sentences < parser->ref.anchor_reach;
}

/* The language whose day or month was said, else the text's. */
static enum text_language language_of(const struct date_parser *parser,
                                      size_t from, size_t to)
{
    for (size_t i = to; i > from; i--) {
        enum date_class class = parser->items[i - 1].class;

        if (class == DC_WEEKDAY || class == DC_MONTH || class == DC_TODAY) {
            return (enum text_language)parser->items[i - 1].language;
        }
    }
    return (enum text_language)parser->items[from].language;
}

static bool is_list_sign(enum date_class class)
{
    return class == DC_AND || class == DC_COMMA || class == DC_TO;
}

/*
 * The date at `*at`, if there is one. Words that make no date without a tense
 * make none with one, so verbs are looked for only beside dates.
 */
static bool date_at(struct date_parser *parser, const struct tokens *tokens,
                    struct date_walk *walk, size_t *at, struct when *out)
{
    size_t to = *at;
    struct date_place place = {
        .sentence = walk->first_token,
        .at = parser->items[*at].token,
        .is_bare = !date_is_preposition(parser->items[*at].class),
        .has_until = parser->items[*at].class == DC_UNTIL,
        .has_from = date_class_before(parser, *at) == DC_FROM,
        .has_of = date_class_before(parser, *at) == DC_OF};

    if (*at > 1 && is_list_sign(date_class_before(parser, *at)) &&
        parser->items[*at - 2].class == DC_WEEKDAY) {
        place.skip = parser->items[*at - 2].token + 1;
    }
    parser->ref.seen = (struct date_tense_seen){0};
    if (!date_parse(parser, &to, out)) {
        return false;
    }
    if (walk->n_tenses++ >= MAX_TENSES) {
        *at = to;
        return true;
    }
    place.to = to < parser->n ? parser->items[to].token : tokens->count;
    parser->ref.seen =
        date_tense_at(tokens, language_of(parser, *at, to), &place);
    if (parser->ref.looks_back) {
        parser->ref.seen.bound = TENSE_PAST;
    }
    if (!date_parse(parser, at, out)) {
        return false;
    }
    out->begins = parser->ref.seen.begins;
    return true;
}

/* The next date at or behind `*at`, none if the items end. */
static bool next_date(struct date_parser *parser, const struct tokens *tokens,
                      struct date_walk *walk, size_t *at, size_t *out_from,
                      struct when *out)
{
    while (*at < parser->n) {
        size_t from = *at;

        walk_to(walk, parser, from);
        if (parser->items[from].class == DC_OTHER || date_recurs(parser, at)) {
            *at += *at == from;
            continue;
        }
        if (!date_at(parser, tokens, walk, at, out)) {
            *at = from + 1;
            continue;
        }
        if (date_recurs_behind(parser, at, out)) {
            continue;
        }
        keep_said(parser, from, *at, out, walk->n_sentences);
        *out_from = from;
        return true;
    }
    return false;
}

/* What was found so far. */
struct date_list {
    struct arena *arena;
    struct date *items;
    size_t count;
    size_t cap;
};

static struct date *list_next(struct date_list *list)
{
    list->items = arena_grow(list->arena, list->items, list->count, &list->cap,
                             sizeof(*list->items));
    return list->items ? &list->items[list->count] : NULL;
}

/* The dates of words. */
static bool add_worded(struct date_list *list, struct str text,
                       const struct tokens *tokens,
                       const struct analysis_options *options)
{
    struct date_parser parser = {0};
    struct date_walk walk = {0};
    struct when when = {0};
    size_t at = 0;
    size_t from;
    struct date_item *items =
        arena_alloc(list->arena, DATE_ITEMS_MAX(tokens) * sizeof(*items));

    if (!items) {
        return false;
    }
    if (!date_items_read(text, tokens, items, &parser.n)) {
        return true;
    }
    parser.items = items;
    parser.ref = ref_of(options);
    while (next_date(&parser, tokens, &walk, &at, &from, &when)) {
        struct date *date = list_next(list);

        if (!date) {
            return false;
        }
        list->count += to_date(text, tokens, options, &items[from],
                               &items[at - 1], when, date);
    }
    return true;
}

static bool has_spaceless(const struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (tokens->items[i].kind == TOKEN_BIGRAM) {
            return true;
        }
    }
    return false;
}

/* The dates of scripts without spaces. */
static bool add_spaceless(struct date_list *list, struct str text,
                          const struct tokens *tokens,
                          const struct analysis_options *options)
{
    struct date_ref ref;
    struct when when = {0};
    size_t at = 0;
    size_t from;
    size_t token = 0;

    if (!has_spaceless(tokens)) {
        return true;
    }
    ref = ref_of(options);
    while (date_spaceless(text, &ref, &at, &from, &when)) {
        struct date date = {.text = str_sub(text, from, at)};
        size_t end;

        while (token < tokens->count && tokens->items[token].to <= from) {
            token++;
        }
        for (end = token;
             end < tokens->count && tokens->items[end].from < at;) {
            end++;
        }
        if (token == end || tokens->items[token].flags & TOKEN_IN_FENCE ||
            !set_times(options, when, &date)) {
            continue;
        }
        date.span = (struct span){(uint32_t)from, (uint32_t)at, (uint32_t)token,
                                  (uint32_t)end};
        struct date *place = list_next(list);

        if (!place) {
            return false;
        }
        *place = date;
        list->count++;
    }
    return true;
}

/* Both in order, without what overlaps: "2026" of "2026年". */
static bool merge(struct date_list *out, const struct date_list *worded,
                  const struct date_list *spaceless)
{
    size_t at = 0;

    for (size_t i = 0; i <= spaceless->count; i++) {
        const struct date *next =
            i < spaceless->count ? &spaceless->items[i] : NULL;

        for (; at < worded->count &&
               (!next || worded->items[at].span.from < next->span.to);
             at++) {
            const struct date *date = &worded->items[at];
            struct date *place = list_next(out);

            if (!place) {
                return false;
            }
            *place = *date;
            out->count += !next || date->span.to <= next->span.from;
        }
        if (next) {
            struct date *place = list_next(out);

            if (!place) {
                return false;
            }
            *place = *next;
            out->count++;
        }
    }
    return true;
}

bool dates_of(struct arena *arena, struct str text, const struct tokens *tokens,
              const struct analysis_options *options, struct date **out_dates,
              size_t *out_count)
{
    struct date_list worded = {.arena = arena};
    struct date_list spaceless = {.arena = arena};
    struct date_list all = {.arena = arena};

    *out_dates = NULL;
    *out_count = 0;
    if (!add_worded(&worded, text, tokens, options) ||
        !add_spaceless(&spaceless, text, tokens, options)) {
        return false;
    }
    if (spaceless.count == 0) {
        all = worded;
    } else if (!merge(&all, &worded, &spaceless)) {
        return false;
    }
    *out_dates = all.items;
    *out_count = all.count;
    return true;
}
