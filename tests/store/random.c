/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
const struct store_case random_cases[] = {{NULL, NULL, 0}};
