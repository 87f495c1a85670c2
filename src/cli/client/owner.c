/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.c - give up root's rights for those of a folder's owner. See owner.h.
 */
#include "cli/client/owner.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum clew_status owner_become(const char *folder, struct clew_error *err)
{
    const struct passwd *user;
    struct stat info;
    gid_t group;

    if (geteuid() != 0 || stat(folder, &info) != 0 || info.st_uid == 0) {
        return CLEW_OK;
    }
    user = getpwuid(info.st_uid);
    group = user ? user->pw_gid : info.st_gid;
    if ((user ? initgroups(user->pw_name, group) : setgroups(0, NULL)) != 0 ||
        setgid(group) != 0 || setuid(info.st_uid) != 0) {
        return clew_fail(err, CLEW_FORBIDDEN,
                         "could not work as the owner of \"%s\": %s", folder,
                         strerror(errno));
    }
    return CLEW_OK;
}
