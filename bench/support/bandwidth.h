/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth.h - how fast memory is read here, and by the scans of vectors.
 *
 * Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_BANDWIDTH_H
#define BENCH_SUPPORT_BANDWIDTH_H

/* Print what one thread can read, and what the scans reach of it. */
void bandwidth(void);

#endif
