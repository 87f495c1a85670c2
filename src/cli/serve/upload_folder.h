/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_folder.h - where a file that was sent lies while it is read.
 *
 * A folder "upload-XXXXXX" in the data folder, locked (flock) by the process
 * that reads it: what a killed server left behind is not locked any more, and
 * goes when the next one starts; one that another server is reading stays.
 * Thread-safety: safe; a folder belongs to one thread.
 */
#ifndef CLI_SERVE_UPLOAD_FOLDER_H
#define CLI_SERVE_UPLOAD_FOLDER_H

#include "clew/attr.h"
#include "clew/status.h"

struct upload_folder {
    char path[2048];
    int fd; /* holds the lock */
};

enum clew_status upload_folder_open(struct upload_folder *folder,
                                    const char *data_dir,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Takes it away with the files in it. */
void upload_folder_close(struct upload_folder *folder);
/* Take away what killed servers left; how many folders that were. */
int upload_folder_clean(const char *data_dir);

#endif
