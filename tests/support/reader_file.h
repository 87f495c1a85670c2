/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_file.h - a small reader's file on disk, for a test to open or break.
 *
 * One at a time; anything that fails fails the test.
 */
#ifndef SUPPORT_READER_FILE_H
#define SUPPORT_READER_FILE_H

#include "base/buf.h"
#include "support/reader_model.h"

extern char reader_file_folder[64];
extern char reader_file_path[128];
extern struct buf reader_file_bytes; /* as it was made */

/* In a folder of its own. */
void reader_file_make(const struct reader_model *model);
/* Other bytes in its place. */
void reader_file_write(const char *bytes, size_t len);
/* Gone, with its folder; 0, as a teardown tells. */
int reader_file_drop(void);

#endif
