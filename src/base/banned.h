/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banned.h - functions that must not be called; included before every file.
 *
 * Each has a safer way: buf.h and snprintf() for strings, str_parse_int() for
 * numbers, clock.h for time, rand.h for randomness. The headers come first
 * because naming a poisoned word afterwards is an error even there.
 * Allocation (alloc.h only) is checked by tools/check-style: many structs
 * rightly have a member called "free".
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat stpcpy strtok
#pragma GCC poison sprintf vsprintf gets
#pragma GCC poison atoi atol atoll atof
#pragma GCC poison gmtime localtime ctime asctime
#pragma GCC poison rand srand random srandom drand48 lrand48
#pragma GCC poison tmpnam mktemp

#endif
