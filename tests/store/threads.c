/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
const struct store_case thread_cases[] = {{NULL, NULL, 0}};
