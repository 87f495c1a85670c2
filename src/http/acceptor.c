/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptor.c - see acceptor.h.
 */
#include "http/acceptor.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Clients that were told and have not closed yet: closing first could take the
 * answer from them. */
#define MAX_LEAVING 64
#define LEAVE_NS 1000000000LL
/* Connections that the library has not begun yet; more wait in the kernel. */
#define MAX_UNBEGUN 32
#define REST_MS 100
/* How long a newcomer waits for another's place: by then those who came before
 * and said nothing are due (watch.c). */
#define ROOM_MS 200
/* … and where one of them was cut: its thread may have to wait for a processor
 * before it gives the place back. */
#define CUT_MS 2000
#define LOG_EVERY_NS (10 * 1000000000LL)

static const char full_text[] =
    "HTTP/1.1 503 Service Unavailable\r\n"
    "Connection: close\r\n"
    "Retry-After: 1\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 95\r\n\r\n"
    "{\"error\":{\"code\":\"BUSY\",\"type\":\"BUSY\",\"message\":"
    "\"too many connections; try again in a moment\"}}";

struct leaving {
    int fd;
    int64_t until_ns;
};

struct acceptor {
    struct acceptor_options options;
    pthread_t thread;
    int wake;  /* eventfd: it is over */
    int spare; /* a descriptor to give up when there are no others */
    struct leaving leaving[MAX_LEAVING];
    size_t n_leaving;
};

bool acceptor_begun(struct acceptor_count *count)
{
    atomic_fetch_add(&count->begun, 1);
    return atomic_fetch_add(&count->n_open, 1) >= count->limit;
}

void acceptor_ended(struct acceptor_count *count)
{
    atomic_fetch_sub(&count->n_open, 1);
}

bool acceptor_is_full(struct acceptor_count *count)
{
    return atomic_load(&count->n_open) >= count->limit;
}

bool acceptor_has_room(struct acceptor_count *count)
{
    return atomic_load(&count->n_open) <= count->limit;
}

void acceptor_refused(struct acceptor_count *count, const char *event,
                      const char *words)
{
    int64_t now_ns = clock_mono_ns();
    int64_t told_ns = atomic_load(&count->told_ns);

    metrics_count(METRICS_REFUSED_LIMIT);
    if ((told_ns == 0 || now_ns - told_ns >= LOG_EVERY_NS) &&
        atomic_compare_exchange_strong(&count->told_ns, &told_ns, now_ns)) {
        log_event(LOG_WARN, "http", event, "open=%d limit=%d reason=\"%s\"",
                  atomic_load(&count->n_open), count->limit, words);
    }
}

/* --- clients that were sent away --- */

static void drop_leaving(struct acceptor *a, size_t i)
{
    (void)close(a->leaving[i].fd); /* nothing of ours is in it */
    a->leaving[i] = a->leaving[--a->n_leaving];
}

/* Read what they still say; close those that have closed or had their time. */
static void see_off(struct acceptor *a)
{
    char rest[4096];
    int64_t now_ns = clock_mono_ns();

    for (size_t i = a->n_leaving; i-- > 0;) {
        ssize_t n;

        do {
            n = recv(a->leaving[i].fd, rest, sizeof(rest), MSG_DONTWAIT);
        } while (n > 0);
        if (n == 0 || (errno != EAGAIN && errno != EINTR) ||
            now_ns >= a->leaving[i].until_ns) {
            drop_leaving(a, i);
        }
    }
}

static void send_away(struct acceptor *a, int fd)
{
    if (!a->options.has_tls) {
        /* a fresh socket has room for it; if not, it is closed all the same */
        ssize_t n = send(fd, full_text, sizeof(full_text) - 1,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        (void)n;
        (void)shutdown(fd, SHUT_WR);
    }
    if (a->n_leaving == MAX_LEAVING || a->spare < 0) {
        (void)close(fd);
        return;
    }
    a->leaving[a->n_leaving++] =
        (struct leaving){fd, clock_mono_ns() + LEAVE_NS};
}

/* --- connections --- */

/* Wait for the end, or for `ms`; true if it is over. */
static bool rest(const struct acceptor *a, int ms)
{
    struct pollfd end = {.fd = a->wake, .events = POLLIN};

    return poll(&end, 1, ms) > 0;
}

/* Let the library begin what it was given. Some it may have dropped. */
static void settle(struct acceptor *a)
{
    struct acceptor_count *count = a->options.count;

    for (int i = 0; i < REST_MS; i++) {
        if (atomic_load(&count->handed) - atomic_load(&count->begun) <=
                MAX_UNBEGUN ||
            rest(a, 1)) {
            return;
        }
    }
    atomic_store(&count->handed, atomic_load(&count->begun));
}

static bool is_full(const struct acceptor *a)
{
    struct acceptor_count *count = a->options.count;
    uint64_t handed = atomic_load(&count->handed);
    uint64_t begun = atomic_load(&count->begun);
    int64_t under_way = handed > begun ? (int64_t)(handed - begun) : 0;

    return atomic_load(&count->n_open) + under_way >=
           count->limit + LIMIT_SPARE_CONNECTIONS;
}

/* Wait a moment for a place: whoever waits for nothing loses it, and closes it
 * itself. Meanwhile others wait in the kernel's queue. */
static bool find_room(struct acceptor *a)
{
    bool has_cut = false;

    for (int ms = 0; is_full(a); ms++) {
        if (!has_cut && a->options.make_room) {
            has_cut = a->options.make_room(a->options.arg);
        }
        if (ms >= (has_cut ? CUT_MS : ROOM_MS) || rest(a, 1)) {
            return false;
        }
    }
    return true;
}

static void hand_over(struct acceptor *a, int fd,
                      const struct sockaddr_storage *addr, socklen_t len)
{
    settle(a);
    if (!find_room(a)) {
        acceptor_refused(a->options.count, "connections",
                         "too many connections");
        send_away(a, fd);
        return;
    }
    atomic_fetch_add(&a->options.count->handed, 1);
    /* closes it on failure */
    if (MHD_add_connection(a->options.daemon, fd, (const struct sockaddr *)addr,
                           len) != MHD_YES) {
        atomic_fetch_sub(&a->options.count->handed, 1);
        acceptor_refused(a->options.count, "connections",
                         "out of memory or threads");
    }
}

/* No descriptor is left: give one up to answer with, then take it back. */
static void without_descriptors(struct acceptor *a, int why)
{
    int fd;

    acceptor_refused(a->options.count, "descriptors", strerror(why));
    while (a->n_leaving > 0) {
        drop_leaving(a, a->n_leaving - 1);
    }
    if (a->spare >= 0) {
        (void)close(a->spare);
        a->spare = -1;
    }
    fd = accept4(a->options.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        send_away(a, fd); /* and closed, as there is no spare one */
    }
    a->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)rest(a, REST_MS);
}

static void take_one(struct acceptor *a)
{
    struct sockaddr_storage addr;
    socklen_t len = sizeof(addr);
    int fd = accept4(a->options.fd, (struct sockaddr *)&addr, &len,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd >= 0) {
        hand_over(a, fd, &addr, len);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
               errno == ENOMEM) {
        without_descriptors(a, errno);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        (void)rest(a, REST_MS); /* a socket that is no good must not spin */
    }
}

static void *run(void *arg)
{
    struct acceptor *a = arg;

    for (;;) {
        struct pollfd ready[] = {{.fd = a->options.fd, .events = POLLIN},
                                 {.fd = a->wake, .events = POLLIN}};
        int n = poll(ready, 2, a->n_leaving > 0 ? REST_MS : -1);

        if (ready[1].revents) {
            break;
        }
        see_off(a);
        if (n > 0 && ready[0].revents) {
            take_one(a);
        }
    }
    while (a->n_leaving > 0) {
        drop_leaving(a, a->n_leaving - 1);
    }
    return NULL;
}

enum clew_status acceptor_open(const struct acceptor_options *options,
                               struct acceptor **out_acceptor,
                               struct clew_error *err)
{
    struct acceptor *a = alloc_zero(1, sizeof(*a));
    int flags = fcntl(options->fd, F_GETFL);

    if (!a) {
        return clew_no_memory(err);
    }
    a->options = *options;
    a->wake = eventfd(0, EFD_CLOEXEC);
    a->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* whoever polled may find that the client has gone again */
    if (a->wake < 0 || a->spare < 0 || flags < 0 ||
        fcntl(options->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        pthread_create(&a->thread, NULL, run, a) != 0) {
        int why = errno;

        (void)close(a->wake); /* -1 does no harm */
        (void)close(a->spare);
        alloc_free(a);
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not take connections: %s", strerror(why));
    }
    (void)pthread_setname_np(a->thread, "clew-accept"); /* only a name */
    *out_acceptor = a;
    return CLEW_OK;
}

void acceptor_close(struct acceptor *acceptor)
{
    uint64_t one = 1;
    ssize_t n;

    if (!acceptor) {
        return;
    }
    n = write(acceptor->wake, &one, sizeof(one));
    (void)n; /* cannot block nor fail */
    (void)pthread_join(acceptor->thread, NULL);
    (void)close(acceptor->wake);
    if (acceptor->spare >= 0) {
        (void)close(acceptor->spare);
    }
    alloc_free(acceptor);
}
