/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - work on a folder as its owner.
 *
 * Root may open anybody's data folder, but what root makes in it the owner
 * could not read: "sudo clew keys create" would lock the service out. So root
 * becomes the owner for good before anything is opened.
 * Thread-safety: call it while there is one thread.
 */
#ifndef CLI_OWNER_H
#define CLI_OWNER_H

#include "clew/attr.h"
#include "clew/status.h"

/* Nothing happens unless this is root and the folder is another user's. */
enum clew_status owner_become(const char *folder,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
