/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticket.c - sealed session ids. See ticket.h.
 */
#include "mcp/ticket.h"

#include "api/answer/cursor.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "engine/core/engine.h"
#include "engine/key/secret.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_AGE_MS (30 * CLOCK_DAY_MS)
/* Ended sessions that are remembered; the oldest is forgotten. */
#define MAX_ENDED 4096
#define NONCE_SIZE 8

struct tickets {
    struct engine *engine;
    unsigned char key[SECRET_SIZE];
    pthread_mutex_t lock;      /* guards the two below */
    uint64_t ended[MAX_ENDED]; /* hashes of ids, a ring */
    size_t n_ended;            /* ever */
};

enum clew_status tickets_new(struct engine *engine,
                             struct tickets **out_tickets,
                             struct clew_error *err)
{
    struct tickets *tickets = alloc_zero(1, sizeof(*tickets));
    enum clew_status status;

    if (!tickets) {
        return clew_no_memory(err);
    }
    tickets->engine = engine;
    (void)pthread_mutex_init(&tickets->lock, NULL);
    status = secret_get(engine, "mcp", tickets->key, err);
    if (status != CLEW_OK) {
        tickets_free(tickets);
        return status;
    }
    *out_tickets = tickets;
    return CLEW_OK;
}

void tickets_free(struct tickets *tickets)
{
    if (tickets) {
        (void)pthread_mutex_destroy(&tickets->lock);
        alloc_free_secret(tickets, sizeof(*tickets));
    }
}

/* The user is no part of an id, it is sealed with it: an id is as long whoever
 * it is for, names nobody to those who log it, and is no id at all for another
 * user or for none. False without memory. */
static bool seal_of(const struct tickets *tickets, const struct scope *scope,
                    struct arena *arena, const char *user_id,
                    struct cursor_scope *out)
{
    *out = (struct cursor_scope){
        .key = tickets->key,
        .tenant = scope->tenant,
        .list = user_id ? arena_printf(arena, "mcp session for %s", user_id)
                        : "mcp session without user"};
    return out->list != NULL;
}

struct str ticket_make(struct tickets *tickets, struct arena *arena,
                       const struct scope *scope, const struct mcp_peer *peer)
{
    struct cursor_scope seal;
    unsigned char nonce[NONCE_SIZE];
    char hex[2 * NONCE_SIZE + 1];
    char *payload;

    if (!seal_of(tickets, scope, arena, peer->user_id, &seal)) {
        return (struct str){0};
    }
    rand_bytes(nonce, sizeof(nonce));
    hex_format(nonce, sizeof(nonce), hex);
    payload = arena_printf(arena, "%s %lld %s %s", hex,
                           (long long)clock_now_ms(tickets->engine->clock),
                           peer->version, peer->client);
    return payload ? cursor_format(&seal, arena, str_of(payload))
                   : (struct str){0};
}

static bool was_ended(struct tickets *tickets, struct str id)
{
    uint64_t hash = str_hash(id);
    bool is_found = false;
    size_t count;

    (void)pthread_mutex_lock(&tickets->lock);
    count = tickets->n_ended < MAX_ENDED ? tickets->n_ended : MAX_ENDED;
    for (size_t i = 0; i < count && !is_found; i++) {
        is_found = tickets->ended[i] == hash;
    }
    (void)pthread_mutex_unlock(&tickets->lock);
    return is_found;
}

/* "<nonce> <time> <revision> <name>". */
static bool read_payload(struct tickets *tickets, struct str payload,
                         struct mcp_peer *peer)
{
    struct str nonce;
    struct str time;
    struct str version;
    int64_t began_ms;

    if (!str_split(&payload, ' ', &nonce) || !str_split(&payload, ' ', &time) ||
        !str_split(&payload, ' ', &version) ||
        !str_parse_int(time, &began_ms) ||
        clock_now_ms(tickets->engine->clock) - began_ms > MAX_AGE_MS ||
        payload.len >= sizeof(peer->client)) {
        return false;
    }
    peer->version = mcp_version_find(version);
    (void)snprintf(peer->client, sizeof(peer->client), "%.*s", (int)payload.len,
                   payload.s ? payload.s : "");
    return peer->version != NULL;
}

enum clew_status ticket_read(struct tickets *tickets, struct arena *arena,
                             const struct scope *scope, struct str id,
                             struct mcp_peer *peer, struct clew_error *err)
{
    struct cursor_scope seal;
    struct str payload;
    enum clew_status status =
        seal_of(tickets, scope, arena, peer->user_id, &seal)
            ? cursor_parse(&seal, arena, id, &payload, NULL)
            : CLEW_NO_MEMORY;

    if (status == CLEW_NO_MEMORY) {
        return clew_fail(err, status, "out of memory");
    }
    if (status != CLEW_OK || !read_payload(tickets, payload, peer) ||
        was_ended(tickets, id)) {
        return clew_fail_code(err, CLEW_NOT_FOUND, "SESSION_NOT_FOUND",
                              "there is no such session: initialize again");
    }
    return CLEW_OK;
}

void ticket_end(struct tickets *tickets, struct str id)
{
    (void)pthread_mutex_lock(&tickets->lock);
    tickets->ended[tickets->n_ended % MAX_ENDED] = str_hash(id);
    tickets->n_ended++;
    (void)pthread_mutex_unlock(&tickets->lock);
}
