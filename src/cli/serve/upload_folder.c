/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_folder.c - see upload_folder.h.
 *
 * A folder is made before it is locked. Another process may take it for one
 * that was left behind in between: so whoever has the lock looks whether the
 * folder is still there, and makes another if it is not.
 */
#include "cli/serve/upload_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "upload-"
/* What mkdtemp() makes of the X. */
#define RANDOM_CHARS 6
/* Folders taken away between being made and locked, one after the other. */
#define MAX_TRIES 8

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Is it the folder that has this name? */
static bool is_there(int fd, const char *path)
{
    struct stat held;
    struct stat named;

    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

enum clew_status upload_folder_open(struct upload_folder *folder,
                                    const char *data_dir,
                                    struct clew_error *err)
{
    for (int i = 0; i < MAX_TRIES; i++) {
        (void)snprintf(folder->path, sizeof(folder->path), "%s/" PREFIX "%s",
                       data_dir, "XXXXXX");
        if (!mkdtemp(folder->path)) {
            break;
        }
        folder->fd = open_folder(AT_FDCWD, folder->path);
        if (folder->fd >= 0 && flock(folder->fd, LOCK_EX) == 0 &&
            is_there(folder->fd, folder->path)) {
            return CLEW_OK;
        }
        if (folder->fd >= 0) {
            (void)close(folder->fd);
        }
    }
    return clew_fail(err, CLEW_UNAVAILABLE, "could not make a folder: %s",
                     strerror(errno));
}

/* Plain files only: there is nothing else in it. */
static void remove_files(int fd)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *file;

    if (!files) {
        if (own >= 0) {
            (void)close(own);
        }
        return;
    }
    while ((file = readdir(files))) {
        (void)unlinkat(fd, file->d_name, 0); /* folders, "." too, stay */
    }
    (void)closedir(files);
}

void upload_folder_close(struct upload_folder *folder)
{
    remove_files(folder->fd);
    (void)rmdir(folder->path); /* or at the next start */
    (void)close(folder->fd);
}

static bool is_ours(const char *name)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return false;
    }
    name += strlen(PREFIX);
    for (size_t i = 0; i < RANDOM_CHARS; i++) {
        if (!isalnum((unsigned char)name[i])) {
            return false;
        }
    }
    return name[RANDOM_CHARS] == '\0';
}

/* One that nobody reads, made by this user. */
static bool clean_one(int data, const char *name)
{
    int fd = open_folder(data, name);
    struct stat about;
    bool is_gone = false;

    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_files(fd);
        is_gone = unlinkat(data, name, AT_REMOVEDIR) == 0;
    }
    (void)close(fd);
    return is_gone;
}

int upload_folder_clean(const char *data_dir)
{
    DIR *folder = opendir(data_dir);
    const struct dirent *file;
    int n_gone = 0;

    if (!folder) {
        return 0;
    }
    while ((file = readdir(folder))) {
        if (is_ours(file->d_name)) {
            n_gone += clean_one(dirfd(folder), file->d_name);
        }
    }
    (void)closedir(folder);
    return n_gone;
}
