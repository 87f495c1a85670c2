/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.c - open or inherit listening sockets. See listener.h.
 */
#include "http/listener.h"

#include "base/str.h"
#include "http/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections the kernel keeps waiting while all are taken. */
#define BACKLOG 511
/* Where a service manager's sockets begin. */
#define FIRST_INHERITED_FD 3

/* Fill in what can be asked of a bound socket. */
static enum clew_status describe(struct listener *listener,
                                 struct clew_error *err)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof(addr);
    char host[PEER_TEXT_SIZE];
    int port;

    if (getsockname(listener->fd, (struct sockaddr *)&addr, &len) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not use the listening socket: %s",
                         strerror(errno));
    }
    if (addr.ss_family == AF_UNIX) {
        const struct sockaddr_un *un = (const struct sockaddr_un *)&addr;

        listener->is_unix = true;
        listener->is_loopback = true;
        (void)snprintf(listener->address, sizeof(listener->address), "%s",
                       un->sun_path);
        return CLEW_OK;
    }
    port = peer_format((const struct sockaddr *)&addr, host);
    listener->is_loopback = peer_is_loopback((const struct sockaddr *)&addr);
    (void)snprintf(listener->address, sizeof(listener->address),
                   strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
    return CLEW_OK;
}

/* Remove a socket file nobody listens on; leave a living one alone. */
static enum clew_status clear_stale(const struct sockaddr_un *addr,
                                    struct clew_error *err)
{
    struct stat info;
    int fd;
    int rc;

    if (lstat(addr->sun_path, &info) != 0) {
        return CLEW_OK; /* bind() will say what is wrong, if anything */
    }
    if (!S_ISSOCK(info.st_mode)) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "\"%s\" exists and is no socket", addr->sun_path);
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not make a socket: %s",
                         strerror(errno));
    }
    rc = connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
    (void)close(fd); /* it was only a question */
    if (rc == 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "another process listens on \"%s\"", addr->sun_path);
    }
    if (unlink(addr->sun_path) != 0 && errno != ENOENT) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not remove \"%s\": %s",
                         addr->sun_path, strerror(errno));
    }
    return CLEW_OK;
}

static enum clew_status open_unix(const char *path, struct listener *listener,
                                  struct clew_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    enum clew_status status;
    mode_t old_mask;
    int rc;

    if (!*path || strlen(path) >= sizeof(addr.sun_path)) {
        return clew_fail_field(err, "listen",
                               "a unix socket's path has 1 to %zu bytes",
                               sizeof(addr.sun_path) - 1);
    }
    memcpy(addr.sun_path, path, strlen(path) + 1);
    status = clear_stale(&addr, err);
    if (status != CLEW_OK) {
        return status;
    }
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener->fd < 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not make a socket: %s",
                         strerror(errno));
    }
    old_mask = umask(0177);
    rc = bind(listener->fd, (struct sockaddr *)&addr, sizeof(addr));
    (void)umask(old_mask); /* cannot fail */
    if (rc != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not listen on \"%s\": %s", path,
                         strerror(errno));
    }
    listener->must_unlink = true;
    return CLEW_OK;
}

/* Bind to the first of the name's addresses that works. */
static enum clew_status bind_first(const struct addrinfo *list,
                                   struct listener *listener)
{
    int on = 1;

    for (const struct addrinfo *at = list; at; at = at->ai_next) {
        int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0) {
            continue;
        }
        /* A restart must not wait for old connections to time out; an IPv6
         * wildcard must not take IPv4 by surprise. Either may fail. */
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (at->ai_family == AF_INET6) {
            (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
        }
        if (bind(fd, at->ai_addr, at->ai_addrlen) == 0) {
            listener->fd = fd;
            return CLEW_OK;
        }
        int saved = errno;

        (void)close(fd); /* never used */
        errno = saved;
    }
    return CLEW_UNAVAILABLE;
}

static enum clew_status open_tcp(const char *text, struct listener *listener,
                                 struct clew_error *err)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    const char *colon = strrchr(text, ':');
    char host[256];
    struct str name;
    int64_t port = 0;
    enum clew_status status;
    int why;

    if (!colon || !str_parse_int(str_of(colon + 1), &port) || port < 0 ||
        port > 65535 || colon == text ||
        (size_t)(colon - text) >= sizeof(host)) {
        return clew_fail_field(err, "listen",
                               "\"%s\" is not HOST:PORT or unix:PATH", text);
    }
    name = (struct str){text, (size_t)(colon - text)};
    if (name.len > 2 && name.s[0] == '[' && name.s[name.len - 1] == ']') {
        name = str_sub(name, 1, name.len - 1);
    }
    (void)snprintf(host, sizeof(host), "%.*s", (int)name.len, name.s);
    if (getaddrinfo(host, colon + 1, &hints, &list) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "\"%s\" has no address", host);
    }
    status = bind_first(list, listener);
    why = errno;
    freeaddrinfo(list);
    if (status != CLEW_OK && why == EADDRINUSE) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "another process listens on %s; as %.*s:0 a free port "
                         "is picked",
                         text, (int)(colon - text), text);
    }
    if (status != CLEW_OK) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not listen on %s: %s",
                         text, strerror(why));
    }
    return CLEW_OK;
}

enum clew_status listener_open(const char *text, struct listener *out_listener,
                               struct clew_error *err)
{
    struct listener listener = {.fd = -1};
    enum clew_status status;

    if (strncmp(text, "unix:", 5) == 0) {
        status = open_unix(text + 5, &listener, err);
    } else {
        status = open_tcp(text, &listener, err);
    }
    if (status == CLEW_OK && listen(listener.fd, BACKLOG) != 0) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not listen on %s: %s",
                           text, strerror(errno));
    }
    if (status == CLEW_OK) {
        status = describe(&listener, err);
    }
    if (status != CLEW_OK) {
        listener_close(&listener);
        return status;
    }
    *out_listener = listener;
    return CLEW_OK;
}

/* The number of sockets handed to this very process, 0 if none. */
static int inherited_count(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    int64_t pid_number = 0;
    int64_t number = 0;

    if (!pid || !count || !str_parse_int(str_of(pid), &pid_number) ||
        pid_number != (int64_t)getpid() ||
        !str_parse_int(str_of(count), &number) || number < 1) {
        return 0;
    }
    return number > LISTENER_MAX_INHERITED ? LISTENER_MAX_INHERITED
                                           : (int)number;
}

enum clew_status listener_inherit(struct listener out[LISTENER_MAX_INHERITED],
                                  int *out_count, struct clew_error *err)
{
    int count = inherited_count();

    for (int i = 0; i < count; i++) {
        struct listener listener = {.fd = FIRST_INHERITED_FD + i};
        enum clew_status status;

        if (fcntl(listener.fd, F_SETFD, FD_CLOEXEC) != 0) {
            return clew_fail(err, CLEW_UNAVAILABLE,
                             "LISTEN_FDS names a socket that is not there");
        }
        status = describe(&listener, err);
        if (status != CLEW_OK) {
            return status;
        }
        out[i] = listener;
    }
    (void)unsetenv("LISTEN_PID"); /* cannot fail for these names */
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    *out_count = count;
    return CLEW_OK;
}

void listener_close(struct listener *listener)
{
    if (listener->fd >= 0) {
        (void)close(listener->fd); /* nothing is buffered in a listener */
    }
    if (listener->must_unlink) {
        (void)unlink(listener->address); /* a leftover is replaced next time */
    }
    listener->fd = -1;
    listener->must_unlink = false;
}
