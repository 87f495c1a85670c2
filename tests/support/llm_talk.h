/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_talk.h - the talk of a program (one_talk.h) with a language model that
 * reads it and answers what the test wrote down.
 */
#ifndef SUPPORT_LLM_TALK_H
#define SUPPORT_LLM_TALK_H

#include "engine/proof/rebuild.h"
#include "engine/thought/memory_view.h"

#include <stdbool.h>
#include <stddef.h>

extern struct fake_http *fake;

/* For cmocka_unit_test_setup_teardown(): llm.read is "all", or `mode`. */
int open_all(void **state);
int open_as(const char *mode);
int close_all(void **state);
/* Ask through this API from now on. */
void open_model(const char *kind);

#define NOTE(turn, quote, type)                                                \
    "{'turn':'" turn "','quote':'" quote "','about':'','type':'" type          \
    "','hedged':false,'updates':''}"
#define EFFORT(effort, turn, quote, status, end, end_quote)                    \
    "{'effort':'" effort "','turn':'" turn "','quote':'" quote                 \
    "','status':'" status "','end_turn':'" end "','end_quote':'" end_quote     \
    "'}"

/* The model writes `text` (any text). */
void answer_text(const char *text);
/* An answer of the four lists; "'" stands for a quotation mark. */
void answer(const char *notes, const char *efforts, const char *wrong,
            const char *not_efforts);
/* An answer that says of earlier chats alone. */
void answer_chats(const char *continues);
void run_tasks(void);
/* Nothing is said for a while. */
void pause_talk(void);
/* Was the last question one of these? Summaries are asked for too. */
bool was_asked(void);
size_t list_of(const char *origin, struct memory_view **out);
size_t count_origin(const char *origin);
/* The note with these words, of this origin; NULL if there is none. */
const struct memory_view *find(const char *origin, const char *words);
/* The trace of the last turn. */
const char *trace(void);
struct rebuild_report rebuild(bool is_dry_run);
/* All that is derived follows from the log, and nobody is asked. */
void assert_sound(void);
/* The label the model was shown for a note or an effort that says this. */
const char *label_of(const char *kind, const char *says);

#endif
