/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_group.c - the coats of one matter together. See search_internal.h.
 *
 * A turn, the memories drawn from it, the effort it belongs to and the episode
 * around it are one answer: the turn is shown, as it is what was said, and the
 * others stand behind it. What was found of them speaks for it. A memory whose
 * turns were not found brings them in; one that cites none, or whose turns the
 * question may not see, stands for itself.
 */
#include "engine/ask/search_internal.h"

#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/episode/episode.h"
#include "engine/memory/memory.h"
#include "engine/read/doc.h"
#include "engine/read/reading.h"
#include "engine/read/sense.h"

#include <string.h>

static struct matter *add_matter(struct search_work *work)
{
    struct matter *grown = arena_grow(work->arena, work->matters, work->count,
                                      &work->cap, sizeof(*work->matters));
    struct matter *out;

    if (!grown) {
        return NULL;
    }
    work->matters = grown;
    out = &grown[work->count++];
    memset(out, 0, sizeof(*out));
    out->turn = SEARCH_NO_MATCH;
    out->memory = SEARCH_NO_MATCH;
    out->episode = SEARCH_NO_MATCH;
    out->read = -1;
    return out;
}

static bool is_cited(const struct search_hit *memory, const struct uuid *chat,
                     int64_t seq)
{
    for (size_t i = 0; i < memory->n_refs; i++) {
        const struct memory_ref *ref = &memory->refs[i];

        if (seq >= ref->first_seq && seq <= ref->last_seq &&
            uuid_eq(&ref->chat_id, chat)) {
            return true;
        }
    }
    return false;
}

static bool is_around(const struct search_hit *hit, const struct turn *turn)
{
    const struct episode *episode = hit->episode;

    return episode_is_primary(episode) &&
           uuid_eq(&episode->chat_id, &turn->chat_id) &&
           turn->seq >= episode->first_seq &&
           turn->seq <= episode->compacted_seq;
}

static double more(double a, double b)
{
    return a > b ? a : b;
}

bool search_belongs(const struct search_hit *hit, const struct matter *matter)
{
    const struct turn *turn = matter->hit.turn;

    if (!turn) {
        return false;
    }
    return hit->memory ? is_cited(hit, &turn->chat_id, turn->seq)
                       : hit->episode && is_around(hit, turn);
}

/* Let what was found speak for its turns; false if it has none here. */
static bool speak(struct search_work *work, const struct search_hit *hit)
{
    bool has_turn = false;

    for (size_t i = 0; i < work->count; i++) {
        struct matter *matter = &work->matters[i];

        if (!search_belongs(hit, matter)) {
            continue;
        }
        has_turn = true;
        if (hit->memory) {
            matter->memory = more(matter->memory, hit->match);
            matter->time = more(matter->time, (double)hit->item.parts.time);
        } else {
            matter->episode = more(matter->episode, hit->match);
        }
    }
    return has_turn;
}

/* For those who did not ask: the words of a turn that somebody said, where it
 * has any (search_spoken.c). */
static enum clew_status take_spoken(struct search_work *work,
                                    struct matter *matter,
                                    struct clew_error *err)
{
    const struct turn *turn = matter->hit.turn;
    struct str said = {0};
    enum clew_status status;

    if (turn->role != TURN_USER && turn->role != TURN_ASSISTANT) {
        return CLEW_OK;
    }
    status = reading_said(work->arena, turn->text, &said, err);
    if (status == CLEW_OK && str_trim(said).len > 0) {
        matter->hit.is_partly = said.s != turn->text.s;
        matter->searched = said;
        matter->is_spoken = true;
    }
    return status;
}

/* What is looked at of a turn, and who said it. */
static enum clew_status dress(struct search_work *work, struct matter *matter,
                              struct clew_error *err)
{
    struct search_hit *hit = &matter->hit;
    enum clew_status status;

    if (!hit->turn) {
        return CLEW_OK;
    }
    hit->speaker =
        sense_speaker(hit->turn->role == TURN_ASSISTANT, hit->turn->name);
    status = doc_searched(work->engine, work->arena, hit->turn,
                          &matter->searched, err);
    return status == CLEW_OK && work->query->is_floored
               ? take_spoken(work, matter, err)
               : status;
}

static enum clew_status add_hit(struct search_work *work,
                                const struct search_hit *hit,
                                struct clew_error *err)
{
    struct matter *matter = add_matter(work);

    if (!matter) {
        return clew_no_memory(err);
    }
    matter->hit = *hit;
    matter->time = (double)hit->item.parts.time;
    if (hit->memory) {
        matter->memory = hit->match;
    } else if (hit->episode) {
        matter->episode = hit->match;
    } else {
        matter->turn = hit->match;
    }
    return dress(work, matter, err);
}

/* May the answer hold a turn that was not ranked itself? */
static bool is_in_reach(const struct search_work *work, const struct turn *turn)
{
    const struct search_query *query = work->query;
    bool is_in_line = work->rows.n_lines == 0;

    for (size_t i = 0; i < work->rows.n_lines; i++) {
        const struct recall_line *line = &work->rows.lines[i];

        is_in_line = is_in_line || (uuid_eq(&line->chat, &turn->chat_id) &&
                                    turn->seq <= line->max_seq);
    }
    return is_in_line && turn->created_at_ms <= search_sight_ms(query) &&
           turn->created_at_ms >= query->since_ms &&
           turn->created_at_ms < query->until_ms &&
           (query->user_id.len == 0 || str_eq(query->user_id, turn->user_id));
}

enum clew_status search_add_turn(struct search_work *work,
                                 const struct turn *turn,
                                 struct clew_error *err)
{
    struct memory_ref ref = {turn->chat_id, turn->seq, turn->seq};
    struct matter *matter;

    for (size_t i = 0; i < work->count; i++) {
        const struct turn *other = work->matters[i].hit.turn;

        if (other && uuid_eq(&other->id, &turn->id)) {
            return CLEW_OK;
        }
    }
    if (!is_in_reach(work, turn)) {
        return CLEW_OK;
    }
    matter = add_matter(work);
    if (!matter) {
        return clew_no_memory(err);
    }
    matter->hit.item.kind = RECALL_TURN;
    matter->hit.item.id = turn->id;
    matter->hit.item.chat = turn->chat_id;
    matter->hit.item.seq = turn->seq;
    matter->hit.item.created_at_ms = turn->created_at_ms;
    matter->hit.turn = turn;
    matter->hit.text = turn->text;
    matter->hit.source_ref = search_ref(work->arena, &ref);
    return matter->hit.source_ref.s ? dress(work, matter, err)
                                    : clew_no_memory(err);
}

/* Is a memory's thread long, so that citing a turn says little of it? */
static bool is_thread(const struct search_hit *hit)
{
    return str_eq(hit->memory->type, STR("effort"));
}

static bool has_matter(const struct search_work *work,
                       const struct search_hit *hit)
{
    for (size_t i = 0; i < work->count; i++) {
        if (search_belongs(hit, &work->matters[i])) {
            return true;
        }
    }
    return false;
}

/* The turns of memories none of whose turns was found. */
static enum clew_status do_cited(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct search_work *work = arg;
    struct uuid *ids = arena_zero(work->arena, work->rows.count, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct search_hit *hit = &work->rows.hits[i];

        if (hit->memory && !is_thread(hit) && hit->n_refs > 0 &&
            !has_matter(work, hit)) {
            ids[n++] = hit->memory->id;
        }
    }
    work->n_cited = 0;
    return n == 0 ? CLEW_OK
                  : turn_find_cited(tx, work->arena, ids, n, SEARCH_CITED,
                                    &work->cited, &work->n_cited, err);
}

static enum clew_status add_turns(struct search_work *work,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; status == CLEW_OK && i < work->rows.count; i++) {
        const struct search_hit *hit = &work->rows.hits[i];

        if (hit->item.kind & (RECALL_TURN | RECALL_CHAT)) {
            status = add_hit(work, hit, err);
        }
    }
    if (status == CLEW_OK) {
        status = search_tx(work, do_cited, work, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < work->n_cited; i++) {
        status = search_add_turn(work, &work->cited[i], err);
    }
    return status;
}

size_t search_find(const struct search_work *work, const struct uuid *id)
{
    size_t at = 0;

    while (at < work->count && !uuid_eq(&work->matters[at].hit.item.id, id)) {
        at++;
    }
    return at;
}

enum clew_status search_group(struct search_work *work, struct clew_error *err)
{
    uint32_t kinds = work->query->kinds;
    bool has_turns = kinds == 0 || kinds & RECALL_TURN;
    enum clew_status status = has_turns ? add_turns(work, err) : CLEW_OK;

    for (size_t i = 0; status == CLEW_OK && i < work->rows.count; i++) {
        const struct search_hit *hit = &work->rows.hits[i];
        bool is_turn = hit->item.kind & (RECALL_TURN | RECALL_CHAT);

        if (has_turns ? !is_turn && !speak(work, hit) : true) {
            status = add_hit(work, hit, err);
        }
    }
    return status;
}
