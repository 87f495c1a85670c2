/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.c - lines in, lines out. See stdio.h.
 */
#include "mcp/stdio.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES (64u * 1024)
/* Messages that wait; with more, nothing is read and the client waits. */
#define MAX_WAITING 4096

struct stdio {
    const struct stdio_options *options;
    struct mcp_host host;
    struct mcp_peer peer;
    struct buf line;       /* what has come of the next line */
    bool is_skipping;      /* it is too long: the rest is dropped */
    bool is_at_end;        /* of the input */
    bool is_broken;        /* nobody reads the output any more */
    json_t *waiting;       /* array of messages, oldest first */
    const json_t *current; /* the request under way, or NULL */
    bool is_cancelled;     /* that one was */
};

/* --- out -------------------------------------------------------------------
 */

static void send(struct stdio *io, const json_t *message)
{
    struct buf text;

    buf_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    if (!io->is_broken && message && json_write(&text, message) == CLEW_OK &&
        buf_append_char(&text, '\n') == CLEW_OK) {
        io->is_broken |= !fd_write_all(io->options->out_fd, buf_str(&text));
    }
    buf_release(&text);
}

static void send_error(struct stdio *io, enum mcp_code code, const char *words)
{
    json_t *message = mcp_error(NULL, code, words);

    send(io, message);
    json_decref(message);
}

/* --- in --------------------------------------------------------------------
 */

/* Drop the request that is named, wherever it is. */
static void cancel(struct stdio *io, const json_t *id)
{
    json_t *message;
    size_t i;

    if (io->current && mcp_same_id(json_object_get(io->current, "id"), id)) {
        io->is_cancelled = true;
        return;
    }
    json_array_foreach (io->waiting, i, message) {
        if (mcp_same_id(json_object_get(message, "id"), id)) {
            (void)json_array_remove(io->waiting, i); /* it is there */
            return;
        }
    }
}

static void take_line(struct stdio *io)
{
    struct str text = str_trim(buf_str(&io->line));
    const json_t *cancelled;
    json_t *message = NULL;

    if (io->is_skipping) {
        send_error(io, MCP_INVALID_REQUEST, "the message is too long");
    } else if (text.len == 0) {
        return;
    } else if (json_parse(text, &message, NULL) != CLEW_OK) {
        send_error(io, MCP_PARSE_ERROR, "this is no JSON");
    } else {
        cancelled = mcp_cancelled_id(message);
        if (cancelled) {
            cancel(io, cancelled);
        } else if (json_array_append(io->waiting, message) != 0) {
            send_error(io, MCP_INTERNAL, "out of memory");
        }
    }
    json_decref(message);
}

/* Take in what was read: whole lines, and the beginning of the next. */
static void take_bytes(struct stdio *io, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t part = end ? (size_t)(end - bytes) : len;

        if (!io->is_skipping && buf_append(&io->line, bytes, part) != CLEW_OK) {
            io->is_skipping = true;
        }
        if (!end) {
            return;
        }
        take_line(io);
        buf_clear(&io->line);
        io->is_skipping = false;
        bytes += part + 1;
        len -= part + 1;
    }
}

/* Read what is there; wait for something if `timeout_ms` is -1. */
static void take_input(struct stdio *io, int timeout_ms)
{
    struct pollfd poller = {.fd = io->options->in_fd, .events = POLLIN};
    char bytes[READ_BYTES];
    ssize_t n;

    while (!io->is_at_end && json_array_size(io->waiting) < MAX_WAITING &&
           poll(&poller, 1, timeout_ms) > 0) {
        n = read(io->options->in_fd, bytes, sizeof(bytes));
        if (n > 0) {
            take_bytes(io, bytes, (size_t)n);
            timeout_ms = 0;
        } else if (n == 0 || errno != EINTR) {
            io->is_at_end = true;
            take_line(io); /* the last one need not have an end */
        }
    }
}

/* --- the host --------------------------------------------------------------
 */

static enum clew_status call(void *arg, const char *method, const char *path,
                             const json_t *body, json_t **out_json,
                             struct clew_error *err)
{
    struct stdio *io = arg;

    if (io->options->name) {
        io->options->name(io->options->arg, io->peer.client);
    }
    return io->options->api(io->options->arg, method, path, body, out_json,
                            err);
}

static void notify(void *arg, const json_t *message)
{
    send(arg, message);
}

static bool is_cancelled(void *arg, const json_t *id)
{
    struct stdio *io = arg;

    take_input(io, 0);
    return io->is_cancelled &&
           mcp_same_id(json_object_get(io->current, "id"), id);
}

static void handle_next(struct stdio *io)
{
    json_t *message = json_incref(json_array_get(io->waiting, 0));
    json_t *reply = NULL;

    (void)json_array_remove(io->waiting, 0); /* it is there */
    io->current = message;
    io->is_cancelled = false;
    mcp_handle(&io->peer, message, &reply);
    io->current = NULL;
    if (reply) {
        send(io, reply);
    }
    json_decref(reply);
    json_decref(message);
}

enum clew_status stdio_serve(const struct stdio_options *options,
                             struct clew_error *err)
{
    struct stdio io = {.options = options,
                       .host = {call, notify, is_cancelled, NULL},
                       .waiting = json_array()};

    if (!io.waiting) {
        return clew_no_memory(err);
    }
    io.host.arg = &io;
    io.peer.host = &io.host;
    io.peer.user_id = options->user_id;
    buf_init(&io.line, MCP_MAX_MESSAGE_BYTES);
    while (!io.is_broken) {
        take_input(&io, json_array_size(io.waiting) > 0 ? 0 : -1);
        if (json_array_size(io.waiting) > 0) {
            handle_next(&io);
        } else if (io.is_at_end) {
            break;
        }
    }
    buf_release(&io.line);
    json_decref(io.waiting);
    return CLEW_OK;
}
