/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - what every cmocka test includes, in the order cmocka wants.
 */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clew/status.h"

#endif
