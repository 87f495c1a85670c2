/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assert_ok.h - a call that must succeed; else the test fails with the words of
 * the `err` in scope.
 */
#ifndef SUPPORT_ASSERT_OK_H
#define SUPPORT_ASSERT_OK_H

#include "support/test.h"

#define assert_ok(call)                                                        \
    do {                                                                       \
        if ((call) != CLEW_OK) {                                               \
            fail_msg("%s", err.message);                                       \
        }                                                                      \
    } while (0)

#endif
