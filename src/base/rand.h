/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.h - random bytes, from the system or from a seed in tests.
 *
 * Thread-safety: rand_bytes() is safe; rand_seed() is for tests before
 * threads start.
 */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

/* Fill with cryptographically strong bytes (seeded: with repeatable ones). */
void rand_bytes(void *out, size_t len);
/* Uniform in [0, n); n must be > 0. */
uint64_t rand_below(uint64_t n);
/* From now on every byte is a function of `seed`; 0 goes back to the system. */
void rand_seed(uint64_t seed);

#endif
