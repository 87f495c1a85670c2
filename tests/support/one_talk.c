/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_talk.c - see one_talk.h.
 */
#include "support/one_talk.h"

struct talk talk;

int open_talk(void **state)
{
    (void)state;
    talk_open(&talk);
    return 0;
}

int close_talk(void **state)
{
    (void)state;
    talk_close(&talk);
    return 0;
}
