/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_remote.c - calls to a server, with libcurl.
 *
 * No redirects are followed: they would carry the key to another place.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/client/client_internal.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 10000L
#define MAX_NOTE_BYTES (64u * 1024) /* of an answer that nobody reads */

struct remote {
    struct client base;
    CURL *curl;
    struct curl_slist *headers;
    bool has_told;     /* who calls is among them */
    int64_t noted_ms;  /* when a call was made that notes it; 0: none yet */
    char *base_url;    /* "http://host:port", no slash at the end */
    char *socket_path; /* for unix:, else NULL */
    char message[CURL_ERROR_SIZE];
};

/* A piece of an answer, and whose it is. */
struct receiver {
    struct remote *remote;
    struct exchange *exchange;
};

static size_t receive(char *bytes, size_t size, size_t count, void *arg)
{
    struct receiver *receiver = arg;
    long http_status = 0;

    (void)curl_easy_getinfo(receiver->remote->curl, CURLINFO_RESPONSE_CODE,
                            &http_status); /* 0 stays on failure */
    receiver->exchange->http_status = (int)http_status;
    return exchange_take(receiver->exchange, bytes, size * count) ? size * count
                                                                  : 0;
}

static enum clew_status status_of(CURLcode code)
{
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return CLEW_TIMEOUT;
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return CLEW_NO_MEMORY;
    }
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
        return CLEW_INVALID;
    }
    return CLEW_UNAVAILABLE;
}

static enum clew_status perform(struct remote *remote,
                                struct exchange *exchange, const char *url,
                                struct clew_error *err)
{
    struct receiver receiver = {remote, exchange};
    long http_status = 0;
    CURL *curl = remote->curl;
    CURLcode code;

    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->method);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
    if (exchange->body.s) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)exchange->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, exchange->body.s);
    } else {
        curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    }
    remote->message[0] = '\0';
    code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        return clew_fail(
            err, status_of(code), "could not reach %s: %s%s",
            remote->socket_path ? remote->socket_path : remote->base_url,
            remote->message[0] ? remote->message : curl_easy_strerror(code),
            code == CURLE_PEER_FAILED_VERIFICATION
                ? "; --ca-file names an authority to trust"
                : "");
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http_status);
    exchange->http_status = (int)http_status;
    return CLEW_OK;
}

static bool add_header(struct remote *remote, const char *text)
{
    struct curl_slist *grown = curl_slist_append(remote->headers, text);

    if (grown) {
        remote->headers = grown;
    }
    return grown != NULL;
}

/* Say who calls, from the first call on that knows. */
static void tell_caller(struct remote *remote)
{
    char text[sizeof(CALLER_HEADER) + CALLER_NAME_BYTES + 3];

    if (remote->base.caller[0] && !remote->has_told) {
        (void)snprintf(text, sizeof(text), CALLER_HEADER ": %s",
                       remote->base.caller);
        remote->has_told = add_header(remote, text); /* or at the next */
        curl_easy_setopt(remote->curl, CURLOPT_HTTPHEADER, remote->headers);
    }
}

static enum clew_status send_one(struct remote *remote,
                                 struct exchange *exchange,
                                 struct clew_error *err)
{
    enum clew_status status;
    struct buf url;

    buf_init(&url, 1 << 20);
    (void)buf_append_cstr(&url, remote->base_url); /* checked once, below */
    (void)buf_append_cstr(&url, exchange->path);
    status = buf_status(&url);
    if (status == CLEW_OK) {
        status = perform(remote, exchange, url.data, err);
    } else {
        (void)clew_fail(err, status, "the address is too long");
    }
    buf_release(&url);
    return status;
}

/* A server notes nobody by a GET. So that one who only reads is known, too, it
 * is told after one, as often as it keeps it. */
static void note_caller(struct remote *remote, const char *method)
{
    struct exchange note = {
        .method = "POST", .path = "/api/v1/callers", .body = STR("{}")};
    int64_t now_ms = clock_now_ms(&clock_system);

    if (!remote->has_told) {
        return;
    }
    if (strcmp(method, "GET") == 0) {
        if (now_ms - remote->noted_ms < CALLER_APART_MS) {
            return;
        }
        buf_init(&note.answer, MAX_NOTE_BYTES);
        clew_ignore(
            send_one(remote, &note, NULL)); /* the call itself is done */
        buf_release(&note.answer);
    }
    remote->noted_ms = now_ms;
}

static enum clew_status send_remote(struct client *client,
                                    struct exchange *exchange,
                                    struct clew_error *err)
{
    struct remote *remote = (struct remote *)client;
    enum clew_status status;

    tell_caller(remote);
    status = send_one(remote, exchange, err);
    if (status == CLEW_OK && exchange->http_status < 400) {
        note_caller(remote, exchange->method);
    }
    return status;
}

static void close_remote(struct client *client)
{
    struct remote *remote = (struct remote *)client;

    curl_slist_free_all(remote->headers);
    curl_easy_cleanup(remote->curl);
    alloc_free(remote->base_url);
    alloc_free(remote->socket_path);
    alloc_free(remote);
}

static const struct client_ops remote_ops = {send_remote, close_remote};

static bool add_headers(struct remote *remote, const char *key)
{
    struct buf text;
    bool ok;

    /* no "Expect: 100-continue": it costs a round trip and helps nobody here */
    ok = add_header(remote, "Content-Type: application/json") &&
         add_header(remote, "Expect:");
    if (ok && key && key[0]) {
        buf_init(&text, 4096);
        ok = buf_printf(&text, "Authorization: Bearer %s", key) == CLEW_OK &&
             add_header(remote, text.data);
        explicit_bzero(text.data, text.len);
        buf_release(&text);
    }
    return ok;
}

/* Where to connect: an address, or the path of a socket. */
static bool set_address(struct remote *remote, const char *url)
{
    struct str text = str_of(url);

    if (str_starts(text, STR("unix:"))) {
        remote->socket_path = alloc_string(url + 5);
        remote->base_url = alloc_string("http://localhost");
        return remote->socket_path && remote->base_url;
    }
    while (text.len > 0 && text.s[text.len - 1] == '/') {
        text.len--;
    }
    remote->base_url = alloc_copy(text.s, text.len);
    return remote->base_url != NULL;
}

static void set_options(struct remote *remote,
                        const struct client_options *options)
{
    CURL *curl = remote->curl;

    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, remote->message);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, remote->headers);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, options->timeout_ms);
    if (options->ca_file && options->ca_file[0]) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    }
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "clew/" CLEW_VERSION);
    if (remote->socket_path) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, remote->socket_path);
    }
}

enum clew_status client_remote_open(const struct client_options *options,
                                    struct client **out_client,
                                    struct clew_error *err)
{
    struct remote *remote;

    if (strstr(options->url, "://") == NULL &&
        strncmp(options->url, "unix:", 5) != 0) {
        return clew_fail_field(err, "url",
                               "\"%.80s\" is no http, https or unix: address",
                               options->url);
    }
    remote = alloc_zero(1, sizeof(*remote));
    if (!remote) {
        return clew_no_memory(err);
    }
    remote->base.ops = &remote_ops;
    remote->curl = curl_easy_init();
    if (!remote->curl || !set_address(remote, options->url) ||
        !add_headers(remote, options->key)) {
        close_remote(&remote->base);
        return clew_no_memory(err);
    }
    set_options(remote, options);
    *out_client = &remote->base;
    return CLEW_OK;
}
