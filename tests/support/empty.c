/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty.c - keeps the support library valid while it has no other file.
 */
typedef int support_is_not_empty;
