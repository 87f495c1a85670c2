/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - see child.h.
 */
#include "support/child.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_BYTES (64u << 20)

_Noreturn void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s (%s)\n", what, strerror(errno));
    exit(1);
}

static void run_server(const char *folder, const char *store, int log_fd)
{
    const char *bin = getenv("CLEW_BIN");
    const char *words[] = {"clew",        "serve", "--data", folder, "--listen",
                           "127.0.0.1:0", NULL,    NULL,     NULL};
    char *args[sizeof(words) / sizeof(words[0])];

    if (store) {
        words[6] = "--store";
        words[7] = store;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        args[i] = words[i] ? strdup(words[i]) : NULL;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* it never outlives the bench */
    (void)dup2(log_fd, 2);
    (void)setenv("CLEW_LOG_LEVEL", "error", 1);
    execv(bin ? bin : "build/clew", args);
    _exit(127);
}

static int port_of(const char *log)
{
    const char *at = strstr(log, "listening on http://127.0.0.1:");

    return at && strchr(at, '\n') ? (int)strtol(at + 30, NULL, 10) : 0;
}

void child_start(struct child *child, const char *folder, const char *store)
{
    char log[4096];
    size_t len = 0;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        bench_die("could not make a pipe");
    }
    child->pid = fork();
    if (child->pid == 0) {
        run_server(folder, store, ends[1]);
    }
    (void)close(ends[1]);
    child->log_fd = ends[0];
    child->port = 0;
    while (child->port == 0) {
        ssize_t n = read(ends[0], log + len, sizeof(log) - 1 - len);

        if (n <= 0) {
            bench_die("the server did not start; is CLEW_BIN right?");
        }
        len += (size_t)n;
        log[len] = '\0';
        child->port = port_of(log);
    }
}

void child_stop(struct child *child)
{
    int status;

    (void)kill(child->pid, SIGTERM);
    if (waitpid(child->pid, &status, 0) != child->pid || status != 0) {
        bench_die("the server did not end well");
    }
    (void)close(child->log_fd);
}

int64_t child_cpu_us(const struct child *child)
{
    char path[64];
    char line[1024];
    long long user = 0;
    long long sys = 0;
    FILE *file;
    const char *at;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child->pid);
    file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file)) {
        bench_die("could not read /proc");
    }
    (void)fclose(file);
    at = strrchr(line, ')');
    if (!at || sscanf(at + 1,
                      " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
                      " %lld %lld",
                      &user, &sys) != 2) {
        bench_die("could not read /proc");
    }
    return (int64_t)(user + sys) * 1000000 / sysconf(_SC_CLK_TCK);
}

/* A line of /proc/PID/status, in kilobytes. */
static int64_t status_kb(const struct child *child, const char *form)
{
    char path[64];
    char line[256];
    long long kb = -1;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)child->pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        size_t len = strlen(form);

        if (strncmp(line, form, len) == 0) {
            kb = strtoll(line + len, NULL, 10);
            break;
        }
    }
    if (!file || kb < 0) {
        bench_die("could not read /proc");
    }
    (void)fclose(file);
    return kb;
}

int64_t child_rss_kb(const struct child *child)
{
    return status_kb(child, "VmRSS:");
}

int64_t child_private_kb(const struct child *child)
{
    return status_kb(child, "RssAnon:");
}

void child_wait_read(const struct child *child)
{
    struct timespec pause = {.tv_nsec = 200000000};
    struct link link;

    link_open(&link, child->port);
    for (;;) {
        link_call(&link, "GET", "/healthz", (struct str){"", 0});
        if (memmem(link.body.s, link.body.len, "\"waiting\":0", 11)) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    link_close(&link);
}

double child_run(const char *const *args)
{
    const char *bin = getenv("CLEW_BIN");
    int64_t start = clock_mono_ns();
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        char *copies[32] = {strdup("clew")};
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        for (size_t i = 0; args[i] && i < 30; i++) {
            copies[i + 1] = strdup(args[i]);
        }
        (void)dup2(null, 1);
        execv(bin ? bin : "build/clew", copies);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        bench_die("the program did not end well");
    }
    return (double)(clock_mono_ns() - start) / 1e6;
}

static int drop_file(const char *path, const struct stat *info, int kind,
                     struct FTW *at)
{
    int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    (void)info;
    (void)at;
    if (fd >= 0) {
        (void)fdatasync(fd);
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        (void)close(fd);
    }
    return 0;
}

void bench_drop_pages(const char *folder)
{
    (void)nftw(folder, drop_file, 16, FTW_PHYS);
}

/* --- the client --- */

void link_open(struct link *link, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int one = 1;

    buf_init(&link->in, ANSWER_BYTES);
    link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->fd < 0 ||
        connect(link->fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
        bench_die("could not connect");
    }
    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

void link_close(struct link *link)
{
    (void)close(link->fd);
    buf_release(&link->in);
}

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0) {
            bench_die("could not send");
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static void read_more(struct link *link)
{
    char bytes[65536];
    ssize_t n = read(link->fd, bytes, sizeof(bytes));

    if (n <= 0) {
        bench_die("the server broke off");
    }
    buf_append(&link->in, bytes, (size_t)n);
    if (buf_status(&link->in) != CLEW_OK) {
        bench_die("the answer is too large");
    }
}

/* Read one answer; its status. */
static int read_answer(struct link *link)
{
    const char *end;
    const char *length;
    size_t head;
    size_t want;

    link->in.len = 0;
    do {
        read_more(link);
        end = memmem(link->in.data, link->in.len, "\r\n\r\n", 4);
    } while (!end);
    head = (size_t)(end - link->in.data) + 4;
    length = strcasestr(link->in.data, "\ncontent-length:");
    want = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    while (link->in.len < head + want) {
        read_more(link);
    }
    link->body = (struct str){link->in.data + head, want};
    return (int)strtol(link->in.data + 9, NULL, 10);
}

void link_call(struct link *link, const char *method, const char *path,
               struct str body)
{
    char head[512];
    int len = snprintf(head, sizeof(head),
                       "%s %s HTTP/1.1\r\nhost: localhost\r\n"
                       "content-type: application/json\r\n"
                       "content-length: %zu\r\n\r\n",
                       method, path, body.len);
    int status;

    send_all(link->fd, head, (size_t)len);
    send_all(link->fd, body.s, body.len);
    status = read_answer(link);
    if (status < 200 || status > 299) {
        fprintf(stderr, "%s %s: %d %.*s\n", method, path, status,
                (int)(link->body.len < 300 ? link->body.len : 300),
                link->body.s);
        bench_die("a call failed");
    }
}
