/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - a world in which somebody talks: post turns, look at what follows.
 *
 * Turns come a minute apart from WORLD_NOW on. Everything that is returned
 * lives as long as the talk.
 */
#ifndef SUPPORT_TALK_H
#define SUPPORT_TALK_H

#include "engine/capture/capture.h"
#include "engine/memory/memory.h"
#include "support/world.h"

struct talk {
    struct world world;
    char folder[64];     /* of the index; removed at the end */
    struct uuid chat_id; /* nil until the first turn */
    int64_t at_ms;       /* of the last turn */
    struct capture_result last;
};

void talk_open(struct talk *talk);
void talk_close(struct talk *talk);
/* Say something in the talk's chat; 'u' user, 'a' assistant, 's' system. */
void talk_say(struct talk *talk, char role, const char *text);
/* "u:hello|a:hi there|u:bye" */
void talk_script(struct talk *talk, const char *script);
/* Say something by a channel, `at_ms` after WORLD_NOW, as the user "ada"; the
 * boundary rules find the chat. What came of it is in talk->last too. */
const struct capture_result *talk_by(struct talk *talk, const char *channel,
                                     int64_t at_ms, enum turn_role role,
                                     const char *text);
/* Leave the chat: the next turn opens another. */
void talk_leave(struct talk *talk);
/* The notices of the last turn, joined by newlines. */
const char *talk_notices(struct talk *talk);
/* The n-th (from 0, oldest first) memory of a type; NULL if there is none. */
const struct memory *talk_memory(struct talk *talk, const char *type, size_t n);
size_t talk_count(struct talk *talk, const char *type);

#endif
