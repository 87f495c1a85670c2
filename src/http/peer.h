/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - who is at the other end, and whether it may speak for a browser.
 *
 * A page in a browser can send requests to 127.0.0.1: directly, or by making
 * its own name resolve there (DNS rebinding). Both betray themselves: by the
 * Origin header, and by a Host header that is not this machine's.
 * Thread-safety: pure functions.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>

struct sockaddr;

#define PEER_TEXT_SIZE HTTP_PEER_SIZE

/* Numeric address without port; IPv4 inside IPv6 as IPv4; "unix" for a unix
 * socket. Returns the port, 0 if there is none. */
int peer_format(const struct sockaddr *addr, char out[PEER_TEXT_SIZE]);
bool peer_is_loopback(const struct sockaddr *addr);

/* Whom an address counts as where requests are counted: a line of IPv6 has all
 * addresses of its /64, an IPv4 address inside IPv6 is that address, however
 * either is spelled; what is no address is itself. */
void peer_network(const char *address, char out[PEER_TEXT_SIZE]);

/*
 * CLEW_FORBIDDEN if the request may come from a foreign web page: its Host is
 * neither local nor in `allowed` (comma-separated names, may be NULL) while
 * `must_be_local`, or its Origin is another than the host it was sent to.
 */
enum clew_status peer_check_host(const struct http_request *request,
                                 bool must_be_local, const char *allowed,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/*
 * CLEW_FORBIDDEN if a browser says that a page of another site, or of another
 * host of this one, sent it (Sec-Fetch-Site): such a page may send a GET
 * without an Origin. One whose Origin is in `allowed` may; programs that are no
 * browsers do not send that header. For all that is not plainly public.
 */
enum clew_status peer_check_site(const struct http_request *request,
                                 const char *allowed,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/*
 * What is wrong with a list of addresses and networks, separated by commas:
 * "127.0.0.1, 10.0.0.0/8, ::1, unix".
 */
enum clew_status peer_list_check(const char *list,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Did somebody pass this request on? Headers that proxies add say so, whatever
 * is in them. Then it is local only if `request->peer` is one of `trusted` and
 * X-Forwarded-For names this machine: the last address in it that is not
 * trusted itself. That address becomes `request->peer`.
 */
void peer_apply_forwarding(struct http_request *request, const char *trusted);

#endif
