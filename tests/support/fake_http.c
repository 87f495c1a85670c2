/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http.c - a server that answers as told. See fake_http.h.
 */
#include "support/test.h"

#include "support/fake_http.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fake_http {
    int listener;
    pthread_t thread;
    char url[160];
    pthread_mutex_t lock; /* guards the rest */
    int status;
    const char *body;
    void (*meanwhile)(void);
    const char *heeded; /* NULL: everything */
    char read[1 << 20];
    char seen[1 << 20];
};

static size_t body_len(const char *head)
{
    const char *line = strcasestr(head, "\ncontent-length:");

    return line ? strtoul(line + 16, NULL, 10) : 0;
}

/* Read one whole request into `out`. */
static void read_request(int fd, char *out, size_t cap)
{
    size_t len = 0;

    out[0] = '\0';
    while (len < cap - 1) {
        ssize_t n = read(fd, out + len, cap - 1 - len);
        char *end;

        if (n <= 0) {
            return;
        }
        len += (size_t)n;
        out[len] = '\0';
        end = strstr(out, "\r\n\r\n");
        if (end && len - (size_t)(end + 4 - out) >= body_len(out)) {
            return;
        }
    }
}

static void answer(struct fake_http *fake, int fd)
{
    static char text[1 << 16];
    int len = snprintf(text, sizeof(text),
                       "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                       fake->status, strlen(fake->body), fake->body);

    if (fake->status > 0 && write(fd, text, (size_t)len) != len) {
        perror("fake_http");
    }
}

static void *serve(void *arg)
{
    struct fake_http *fake = arg;

    for (;;) {
        int fd = accept(fake->listener, NULL, NULL);

        if (fd < 0) {
            return NULL; /* shut down */
        }
        pthread_mutex_lock(&fake->lock);
        read_request(fd, fake->read, sizeof(fake->read));
        if (!fake->heeded || strstr(fake->read, fake->heeded)) {
            memcpy(fake->seen, fake->read, sizeof(fake->seen));
        }
        if (fake->meanwhile) {
            fake->meanwhile();
            fake->meanwhile = NULL;
        }
        answer(fake, fd);
        pthread_mutex_unlock(&fake->lock);
        (void)close(fd);
    }
}

static void listen_tcp(struct fake_http *fake)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fake->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(fake->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(
        getsockname(fake->listener, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(fake->url, sizeof(fake->url), "http://127.0.0.1:%d",
                   ntohs(address.sin_port));
}

static void listen_unix(struct fake_http *fake, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path) + 1);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(fake->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    (void)snprintf(fake->url, sizeof(fake->url), "unix:%s", path);
}

struct fake_http *fake_http_open(const char *socket_path)
{
    struct fake_http *fake = calloc(1, sizeof(*fake));

    assert_non_null(fake);
    pthread_mutex_init(&fake->lock, NULL);
    fake->status = 200;
    fake->body = "{}";
    if (socket_path) {
        listen_unix(fake, socket_path);
    } else {
        listen_tcp(fake);
    }
    assert_int_equal(listen(fake->listener, 16), 0);
    assert_int_equal(pthread_create(&fake->thread, NULL, serve, fake), 0);
    return fake;
}

void fake_http_close(struct fake_http *fake)
{
    (void)shutdown(fake->listener, SHUT_RDWR);
    (void)pthread_join(fake->thread, NULL);
    (void)close(fake->listener);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
}

const char *fake_http_url(const struct fake_http *fake)
{
    return fake->url;
}

void fake_http_answer(struct fake_http *fake, int status, const char *body)
{
    pthread_mutex_lock(&fake->lock);
    fake->status = status;
    fake->body = body;
    pthread_mutex_unlock(&fake->lock);
}

void fake_http_meanwhile(struct fake_http *fake, void (*fn)(void))
{
    pthread_mutex_lock(&fake->lock);
    fake->meanwhile = fn;
    pthread_mutex_unlock(&fake->lock);
}

void fake_http_heed(struct fake_http *fake, const char *words)
{
    pthread_mutex_lock(&fake->lock);
    fake->heeded = words;
    pthread_mutex_unlock(&fake->lock);
}

const char *fake_http_seen(struct fake_http *fake)
{
    static char copy[1 << 20];

    pthread_mutex_lock(&fake->lock);
    memcpy(copy, fake->seen, sizeof(copy));
    pthread_mutex_unlock(&fake->lock);
    return copy;
}
