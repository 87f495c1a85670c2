/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_talk.h - the talk of a program that has one, and its fixtures.
 */
#ifndef SUPPORT_ONE_TALK_H
#define SUPPORT_ONE_TALK_H

#include "support/talk.h"

extern struct talk talk;

/* For cmocka_unit_test_setup_teardown(). */
int open_talk(void **state);
int close_talk(void **state);

#endif
