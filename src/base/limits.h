/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - every ceiling, with its reason.
 *
 * Those that an operator may want to move are defaults of a configuration
 * key; the rest are fixed.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* Largest text of one turn (limits.content_bytes): a book, not a disk. */
#define LIMIT_CONTENT_BYTES (16u * 1024 * 1024)
/* Blocks of one message whose tool inputs can be looked for: a file written,
 * not a dump. */
#define LIMIT_TOOL_INPUT_BYTES (256u * 1024)
/* Largest request body (limits.body_bytes): a batch of large turns, or a
 * captured LLM call with its whole history. */
#define LIMIT_BODY_BYTES (64u * 1024 * 1024)
/* Nesting of a JSON document: deeper is an attack, not data. */
#define LIMIT_JSON_DEPTH 64
/* So much less where a document is to stand inside another: what was called
 * with, in a block, in a message, in an answer that lists them. */
#define LIMIT_JSON_DEPTH_AROUND 8
/* Values in one JSON document. */
#define LIMIT_JSON_NODES 2000000u
/* Turns in one batch (spec). */
#define LIMIT_BATCH_TURNS 1000
/* Rows of one page of a list (spec), and the default. */
#define LIMIT_PAGE_MAX 500
#define LIMIT_PAGE_DEFAULT 50
/* How far one may page into a ranking: nobody reads further. */
#define LIMIT_RECALL_DEPTH 2000
/* Bytes of one answer to a question, whatever is stored: what a model or a
 * browser takes at once. A page of what was found ends before; it goes on by
 * its cursor. */
#define LIMIT_ANSWER_BYTES (200u * 1000)
/* Bytes of one text in such an answer, as they are written. */
#define LIMIT_ANSWER_TEXT_BYTES 2048u
/* Pairs of texts whose verdict by the reader is remembered: some hundred
 * questions; 200 KB. */
#define LIMIT_VERDICTS 8192
/* Streams of events at once: each holds a connection and its thread. Of few
 * connections half at most; tenants share them (seats.h). */
#define LIMIT_EVENT_STREAMS 64
/* Identifiers given by callers: user_id, external_id, name, channel. */
#define LIMIT_NAME_BYTES 512
/* Title of a chat. */
#define LIMIT_TITLE_BYTES 1024
/* Words of a recall query that are looked at; the rest is ignored. */
#define LIMIT_QUERY_TERMS 256
/* Query text of a recall. */
#define LIMIT_QUERY_BYTES (1024u * 1024)
/* Question that is to be answered: it goes to a language model. */
#define LIMIT_ASK_BYTES 8192
/* Memory of one request or task: body, parse tree and answer together. */
#define LIMIT_REQUEST_ARENA_BYTES (512u * 1024 * 1024)
/* Depth of forks of forks; each level is one more step in reading history. */
#define LIMIT_FORK_DEPTH 1000

/* One token; longer runs (base64, hashes) are cut into several. */
#define LIMIT_TOKEN_BYTES 256
/* Tokens of one text that are analysed and indexed; the rest of a longer text
 * is kept and shown, but not found by its words. A long novel has 200,000. */
#define LIMIT_TEXT_TOKENS 200000u
/* Pieces of one identifier, path or URL that are tokens of their own. */
#define LIMIT_TOKEN_PARTS 32
/* --- the HTTP server --- */

/* Open connections, each with a thread (server.max_connections). */
#define LIMIT_CONNECTIONS 512
/* Request line and headers together, and their number: browsers send under
 * 8 KB. */
#define LIMIT_HEADER_BYTES (32u * 1024)
#define LIMIT_HEADERS 100
/* Silence on a connection, and time to send the headers
 * (server.request_timeout_seconds). */
#define LIMIT_IDLE_MS (60 * 1000)
/* Time to send a whole body: 64 MB at 2 Mbit/s. */
#define LIMIT_BODY_MS (300 * 1000)
/* Bodies held in memory by all requests together (limits.bodies_bytes). */
#define LIMIT_BODIES_BYTES (1024u * 1024 * 1024)
/* A refused body is read to its end up to here, so that the client reads the
 * answer instead of a broken connection. */
#define LIMIT_DISCARD_BYTES (256u * 1024 * 1024)
/* After an answer that did not wait for the body, what is still on its way is
 * read and dropped for so long. */
#define LIMIT_LINGER_MS 2000
/* An upload that brings less than this a second, for this long, is parked: its
 * place goes to others when places or memory are short. */
#define LIMIT_UPLOAD_BYTES_PER_S (16 * 1024)
#define LIMIT_PARKED_MS 2000
/* Who takes an answer slower than this, and has used up
 * server.request_timeout_seconds beyond it, is cut off; when places are short,
 * whoever takes nothing for LIMIT_PARKED_MS. */
#define LIMIT_ANSWER_BYTES_PER_S (2 * 1024)
/* Connections above the limit that are still listened to, for /healthz; the
 * rest are told that it is full without being listened to. */
#define LIMIT_SPARE_CONNECTIONS 8
/* How long what a key allows is believed without asking the store, where the
 * change was made on another machine; on this one it counts at once. */
#define LIMIT_KEY_CACHE_MS 1000
/* Keys that are known without asking about each, and how long a request waits
 * while they are listed. */
#define LIMIT_KEYS_LISTED 100000
#define LIMIT_KEY_LIST_WAIT_MS 500
/* How long the proxy believes what the store last said of a key while the store
 * cannot be asked: an outage that is being worked on. */
#define LIMIT_KEY_OUTAGE_MS (15 * 60 * 1000)
/* Names of programs that call, of one tenant; each is said by whoever calls. */
#define LIMIT_CALLERS 64
/* Copies of the store that may stand in backup.dir (POST /api/v1/backup). */
#define LIMIT_BACKUPS 20
/* Requests a minute of one address whose key is wrong. */
#define LIMIT_BAD_KEYS_PER_MINUTE 1200

#endif
