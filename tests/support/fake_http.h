/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http.h - a server that answers with what the test wrote down.
 *
 * Listens on a free port of the loopback address, or on a unix socket, in a
 * thread of its own. Each request gets the answer that was set last and is
 * kept for the test to look at.
 */
#ifndef SUPPORT_FAKE_HTTP_H
#define SUPPORT_FAKE_HTTP_H

struct fake_http;

/* `socket_path` NULL: TCP. Never NULL; the test fails instead. */
struct fake_http *fake_http_open(const char *socket_path);
void fake_http_close(struct fake_http *fake);
/* "http://127.0.0.1:PORT" or "unix:PATH". */
const char *fake_http_url(const struct fake_http *fake);
/* What every request gets from now on. The strings must live on. A status of
 * 0 closes the connection without an answer. */
void fake_http_answer(struct fake_http *fake, int status, const char *body);
/* Done in the server's thread before the next answer. */
void fake_http_meanwhile(struct fake_http *fake, void (*fn)(void));
/* From now on only requests with these words are kept; all are answered. */
void fake_http_heed(struct fake_http *fake, const char *words);
/* The last request, head and body, as it came. */
const char *fake_http_seen(struct fake_http *fake);

#endif
