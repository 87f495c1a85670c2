/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - answers of the API as people read them.
 *
 * Each is a cli_show_fn. Lists are tables whose ids are cut to what tells them
 * apart; what is cut may be typed back (typed.h).
 * Thread-safety: none; the main thread prints.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/core/cli.h"

/* How many columns tell the ids in `field` of the items from one another. */
size_t show_id_columns(const json_t *items, const char *field);
/* So much of an id, in the arena; "" without memory. */
const char *show_id(struct cli *cli, const char *id, size_t columns);
/* A text as one word of a shell, in the arena: a command that is pasted says
 * what was shown, whatever the text holds. */
const char *show_word(struct cli *cli, const char *text);
/* A whole number of the object as text, in the arena; "" if it is not there. */
const char *show_number(struct cli *cli, const json_t *object,
                        const char *field);
/* A paragraph in lines that fit the terminal (at most 80): `indent` before the
 * first, as much room before the others. */
void show_paragraph(struct cli *cli, const char *indent, struct str text);
/* The same where so many columns of the first line are printed already. */
void show_paragraph_after(struct cli *cli, size_t columns, struct str text);
/* Enough of an id to be told apart where no list says how much is. */
#define SHOW_ID_LONG 18
/* How to see more, on stderr, if there is more: for a program that reads it
 * the cursor, which is too long for a person's terminal. */
void show_more(const json_t *answer);

enum clew_status show_memories(struct cli *cli, const json_t *answer,
                               struct clew_error *err);
enum clew_status show_memory(struct cli *cli, const json_t *answer,
                             struct clew_error *err);
enum clew_status show_episodes(struct cli *cli, const json_t *answer,
                               struct clew_error *err);
enum clew_status show_episode(struct cli *cli, const json_t *answer,
                              struct clew_error *err);
enum clew_status show_links(struct cli *cli, const json_t *answer,
                            struct clew_error *err);
enum clew_status show_calls(struct cli *cli, const json_t *answer,
                            struct clew_error *err);
enum clew_status show_conversation(struct cli *cli, const json_t *answer,
                                   struct clew_error *err);
/* The chats of a tree of forks (cmd_fork.c). */
enum clew_status show_chat_tree(struct cli *cli, const json_t *answer,
                                struct clew_error *err);
/* A topic with its claims; what a sentence does; how links are weighed. */
enum clew_status show_chain(struct cli *cli, const json_t *answer,
                            struct clew_error *err);
enum clew_status show_analysis(struct cli *cli, const json_t *answer,
                               struct clew_error *err);
enum clew_status show_tuning(struct cli *cli, const json_t *answer,
                             struct clew_error *err);
/* "1 turn", "3 memories", in the arena: `many` is the plural. */
const char *show_count(struct cli *cli, int64_t n, const char *many);
/* What was done: a chat changed, a session ended, things forgotten, a link
 * rated, an effort moved (cmd_efforts.c). */
enum clew_status show_chat_done(struct cli *cli, const json_t *answer,
                                struct clew_error *err);
enum clew_status show_session_done(struct cli *cli, const json_t *answer,
                                   struct clew_error *err);
enum clew_status show_forgotten(struct cli *cli, const json_t *answer,
                                struct clew_error *err);
enum clew_status show_rated(struct cli *cli, const json_t *answer,
                            struct clew_error *err);
enum clew_status show_effort(struct cli *cli, const json_t *answer,
                             struct clew_error *err);
/* A line of its own above what follows, after an empty one. */
void show_heading(struct cli *cli, const char *text);
/* What the reader saw in a turn: `reading` of a trace's decisions. */
void show_reading(struct cli *cli, const json_t *reading);
/* A trace in sentences. */
enum clew_status show_why(struct cli *cli, const json_t *answer,
                          struct clew_error *err);

#endif
