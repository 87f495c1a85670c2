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

#define MAX_QUOTED_WORDS 8

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
    title_put(x, &x->pieces.items[i], at, end, out);
    put_quoted(x, meant, out);
}

static bool opens_by_request(const struct extraction *x, size_t i)
{
    const struct intent_segment *seg = &x->turn->intent->segments[i];

    return seg->act == INTENT_REQUEST && seg->confidence >= 0.7f &&
           !(seg->flags &
             (INTENT_ADVICE | INTENT_HOLD | INTENT_REMINDER | INTENT_RETURN));
}

/*
 * A life story has problems too; one who works on it says so in few words. What
 * "doesn't work" as the first thing said rejects nothing.
 */
static bool opens_by_problem(const struct extraction *x, size_t i)
{
    const struct intent_segment *seg = &x->turn->intent->segments[i];
    const struct intent_piece *piece = &x->pieces.items[i];

    return (seg->flags & INTENT_PROBLEM) &&
           (seg->act == INTENT_INFORM ||
            (seg->act == INTENT_REJECT && x->input->n_previous == 0)) &&
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
           (words_phrase_at(piece, at, "how do i") ||
            words_phrase_at(piece, at, "how can i") ||
            words_phrase_at(piece, at, "how do we") ||
            words_phrase_at(piece, at, "how should i"));
}

static enum clew_status add_effort(struct extraction *x,
                                   const struct intent_piece *piece,
                                   struct buf *title, const char *rule,
                                   float confidence)
{
    struct extract_item *item;

    if (buf_status(title) != CLEW_OK) {
        return buf_status(title) == CLEW_TOO_LARGE ? CLEW_OK : CLEW_NO_MEMORY;
    }
    item = extract_add(x, EXTRACT_EFFORT, rule, confidence);
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
    size_t at = title_strip(piece, title_asks_at(piece));
    size_t end = title_end(piece, at);
    bool is_problem = opens_by_problem(x, i);
    struct buf title;
    enum clew_status status = CLEW_OK;

    buf_init(&title, 512);
    if (is_problem) {
        if (words_content(piece->words, 0, piece->n_words) >= 2) {
            title_put_problem(x, piece, &title);
        }
    } else if (!title_is_idle(piece, at) && end > at) {
        if (points_only(piece, at, end)) {
            put_pointed(x, i, at, end, &title);
        } else if (is_named(piece, at, end)) {
            title_put_goal(x, piece, at, end, &title);
        }
    }
    if (title.len > 0) {
        status = add_effort(x, piece, &title,
                            is_problem ? "effort-problem" : "effort-request",
                            x->turn->intent->segments[i].confidence);
        *out_opened = true;
    }
    buf_release(&title);
    return status;
}

/* --- what a plea for help is about -----------------------------------------
 */

/* As sure as a request is that says so little. */
#define PLEA_CONFIDENCE 0.75f
#define MAX_MATTER_WORDS 30

/* What the matter does by itself, the plea beside it not heard. */
static enum clew_status read_matter(struct extraction *x,
                                    const struct intent_piece *core,
                                    struct intent_segment *out)
{
    const struct intent_word *last = &core->words[core->n_words - 1];
    struct str text = str_sub(x->turn->text, core->words[0].from, last->to);
    struct intent_reading reading;
    enum clew_status status = intent_read(x->arena, text, &reading);

    *out = (struct intent_segment){.act = INTENT_INFORM};
    if (status == CLEW_OK && reading.by_rules.n_segments > 0) {
        *out = reading.by_rules.segments[0];
    }
    return status;
}

/* "the app freezes on start" beside a plea: something does not do as it
 * should. */
static bool sounds_broken(const struct intent_piece *piece)
{
    return words_have(piece->words, 0, piece->n_words,
                      "freezes freeze freezing hangs hang hanging throws drops "
                      "dropping keeps returns leaks timeout slow wrong lost "
                      "missing not isn't doesn't won't can't don't never");
}

/* The title of what help is asked for with. */
static void put_matter(const struct extraction *x,
                       const struct intent_piece *core,
                       const struct intent_segment *seg, struct buf *out)
{
    size_t at = title_strip(core, core->body);
    size_t end = title_end(core, at);

    if (seg->act == INTENT_REQUEST || at > core->body) {
        if (!title_is_idle(core, at) && end > at &&
            !points_only(core, at, end) && is_named(core, at, end)) {
            title_put_goal(x, core, at, end, out);
        }
    } else if ((seg->flags & INTENT_PROBLEM) || sounds_broken(core)) {
        title_put_problem(x, core, out);
    } else {
        title_put_said(x, core, "Help with: ", core->body, out);
    }
}

/* "it still fails, any ideas?": the matter is an old one. */
static bool goes_on(const struct extraction *x, const struct intent_piece *core,
                    const struct intent_segment *seg)
{
    return x->input->n_previous > 0 &&
           (seg->act == INTENT_REJECT ||
            words_have(core->words, 0, core->n_words, "still same instead"));
}

static enum clew_status open_matter(struct extraction *x,
                                    const struct intent_piece *core,
                                    bool *out_opened)
{
    struct intent_segment seg;
    struct buf title;
    enum clew_status status;

    if (core->n_words < 3 || core->n_words > MAX_MATTER_WORDS ||
        words_content(core->words, core->body, core->n_words) < 2) {
        return CLEW_OK;
    }
    status = read_matter(x, core, &seg);
    if (status != CLEW_OK || seg.act == INTENT_QUESTION ||
        seg.act == INTENT_GREETING || seg.act == INTENT_ACCEPT ||
        (seg.flags & (INTENT_HOLD | INTENT_REMINDER | INTENT_RETURN)) ||
        goes_on(x, core, &seg)) {
        return status;
    }
    buf_init(&title, 512);
    put_matter(x, core, &seg, &title);
    if (title.len > 0) {
        status = add_effort(x, core, &title, "effort-plea", PLEA_CONFIDENCE);
        *out_opened = true;
    }
    buf_release(&title);
    return status;
}

/* A plea that is a sentence of its own: what stands before it, or else what
 * comes behind. */
static enum clew_status open_beside(struct extraction *x, size_t plea,
                                    bool *out_opened)
{
    enum clew_status status = CLEW_OK;

    for (size_t k = 1; k < x->pieces.count && status == CLEW_OK && !*out_opened;
         k++) {
        /* before it, the nearest first, then behind it */
        size_t i = k <= plea ? plea - k : k;
        const struct intent_piece *piece = &x->pieces.items[i];

        if (!piece_is_foreign(x, piece) && piece->end != '?') {
            struct intent_piece core;

            (void)plea_split(piece, &core); /* without its preface */
            status = open_matter(x, &core, out_opened);
        }
    }
    return status;
}

/* One piece that may hold a plea; `*out_plea` is set if it is nothing else. */
static enum clew_status open_piece(struct extraction *x, size_t i,
                                   size_t *out_plea, bool *out_opened)
{
    const struct intent_piece *piece = &x->pieces.items[i];
    struct intent_piece core;
    bool has_plea = plea_split(piece, &core);
    enum clew_status status = CLEW_OK;

    if (has_plea && core.n_words > 0) {
        status = open_matter(x, &core, out_opened);
    }
    if (has_plea && core.n_words == 0) {
        *out_plea = i;
    }
    if (status == CLEW_OK && !*out_opened &&
        (opens_by_request(x, i) || opens_by_problem(x, i) ||
         opens_by_how_to(x, i))) {
        status = open_effort(x, i, out_opened);
    }
    return status;
}

/* A rejection opens nothing, unless there was nothing to reject. */
static bool may_open(const struct extraction *x)
{
    const struct intent *intent = x->turn->intent;

    if (x->turn->role != EXTRACT_USER ||
        (intent->act == INTENT_REJECT && x->input->n_previous > 0)) {
        return false;
    }
    /* two people talking */
    return x->turn->speaker.len == 0 || x->input->n_previous == 0 ||
           x->input->previous[0].speaker.len == 0;
}

enum clew_status extract_efforts(struct extraction *x)
{
    const struct intent *intent = x->turn->intent;
    size_t plea = SIZE_MAX;
    bool opened = false;
    enum clew_status status = CLEW_OK;

    if (!may_open(x)) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < x->pieces.count && i < intent->n_segments &&
                       !opened && status == CLEW_OK;
         i++) {
        if (!piece_is_foreign(x, &x->pieces.items[i])) {
            status = open_piece(x, i, &plea, &opened);
        }
    }
    return status == CLEW_OK && !opened && plea != SIZE_MAX
               ? open_beside(x, plea, &opened)
               : status;
}
