/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticket.h - session ids of MCP over HTTP.
 *
 * An id holds what a session needs to know (the revision spoken, the client's
 * name, when it began) under a seal, and fits only the tenant and the user it
 * was made for, or none if it was made for none. So nothing is kept, and every
 * process on the store can read it. Sessions that were ended are remembered by
 * the process that was told; elsewhere they last until they are too old.
 * Thread-safety: internally locked.
 */
#ifndef MCP_TICKET_H
#define MCP_TICKET_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "mcp/mcp.h"
#include "store/store.h"

struct engine;
struct tickets;

/* The caller tickets_free()s it. */
enum clew_status tickets_new(struct engine *engine,
                             struct tickets **out_tickets,
                             struct clew_error *err) CLEW_MUST_CHECK;
void tickets_free(struct tickets *tickets);

/* A fresh id for the peer; s == NULL without memory. */
struct str ticket_make(struct tickets *tickets, struct arena *arena,
                       const struct scope *scope, const struct mcp_peer *peer);
/* Fill version and client from an id; CLEW_NOT_FOUND if it is not valid, or not
 * of `peer->user_id`. */
enum clew_status ticket_read(struct tickets *tickets, struct arena *arena,
                             const struct scope *scope, struct str id,
                             struct mcp_peer *peer,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* From now on this id is not valid. */
void ticket_end(struct tickets *tickets, struct str id);

#endif
