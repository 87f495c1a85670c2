/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - read, replace and remove small files of the user.
 *
 * Thread-safety: none; others may change the files at any time.
 */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* Append the whole file; one that is not there has no bytes. */
enum clew_status file_read(const char *path, struct buf *out, bool *out_exists,
                           struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Replace it in one step, so that it is never half written: mode and the file
 * a symbolic link names are kept. Missing folders are made; a new file is
 * readable by its owner only. A file that nobody may write, and a link to
 * nothing, are left alone: CLEW_UNAVAILABLE.
 */
enum clew_status file_replace(const char *path, struct str text,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Remove it, and its folder if that is empty then. */
enum clew_status file_remove(const char *path,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
