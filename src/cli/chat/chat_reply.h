/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_reply.h - the model's part of a talk: context, reply, and keeping it.
 *
 * Needs `llm.url`; without it there is none and a talk only records. The reply
 * is printed as it comes, Ctrl-C ends it, and what was printed is kept as the
 * assistant's turn, whole or not.
 * Thread-safety: none; the main thread talks.
 */
#ifndef CLI_CHAT_REPLY_H
#define CLI_CHAT_REPLY_H

#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>

struct chat_reply;
struct cli;

/* `*out_reply` is NULL where no model is configured. */
enum clew_status chat_reply_open(struct cli *cli, struct chat_reply **out_reply,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* NULL is a no-op. */
void chat_reply_close(struct chat_reply *reply);

/*
 * Let the model answer the last turn of the chat. `*out_answer` is what the API
 * said to the turn that was kept (json_decref() it), NULL if nothing came. A
 * failure of the model comes back after what there is was kept.
 */
enum clew_status chat_reply_run(struct chat_reply *reply, const char *user,
                                const char *chat_id, const char *said,
                                json_t **out_answer,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
