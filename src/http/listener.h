/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h - a socket that accepts connections, and where it listens.
 *
 * "HOST:PORT" (a name, an IPv4 address or an IPv6 one in brackets; port 0 picks
 * a free port), "unix:PATH" (mode 0600; a stale socket file is replaced, a
 * living one is not), or sockets inherited from a service manager.
 * Thread-safety: none; open before threads start (the umask is touched).
 */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* Sockets taken over from a service manager at most. */
#define LISTENER_MAX_INHERITED 4

struct listener {
    int fd;
    bool is_unix;
    bool is_loopback;  /* reachable from this machine only */
    char address[256]; /* "127.0.0.1:2539", "[::1]:80", or the unix path */
    bool must_unlink;  /* the socket file is ours */
};

/*
 * Bind and listen. CLEW_INVALID if the text is no address, CLEW_UNAVAILABLE if
 * the address is taken or not ours. The caller listener_close()s it.
 */
enum clew_status listener_open(const char *text, struct listener *out_listener,
                               struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Take over the sockets of LISTEN_FDS if LISTEN_PID is this process; the
 * variables are removed, so that children do not take them for theirs.
 * `out_count` is 0 if there are none.
 */
enum clew_status listener_inherit(struct listener out[LISTENER_MAX_INHERITED],
                                  int *out_count,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Close the socket (unless fd < 0) and remove its file if it is ours. */
void listener_close(struct listener *listener);

#endif
