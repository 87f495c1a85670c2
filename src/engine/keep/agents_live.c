/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_live.c - the packages in use. See agents_live.h.
 */
#include "engine/keep/agents_live.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "engine/keep/agents.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

struct agents_live {
    char *folder;
    pthread_mutex_t lock; /* guards `set` */
    struct agents *set;
    pthread_mutex_t loading; /* one reload at a time; guards `seen` */
    unsigned char seen[SHA256_SIZE];
};

/*
 * What the folder looks like: the sum of a digest per file, so that the order
 * of the entries does not matter. A missing folder looks like an empty one.
 */
static void look(const char *folder, unsigned char out[SHA256_SIZE])
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    /* one that may not be read is none that is gone */
    memset(out, !dir && errno != ENOENT ? 1 : 0, SHA256_SIZE);
    while (dir && (entry = readdir(dir)) != NULL) {
        unsigned char digest[SHA256_SIZE];
        struct sha256 hash;
        struct stat st;

        if (entry->d_name[0] == '.') {
            continue;
        }
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) != 0) {
            memset(&st, 0, sizeof(st)); /* a link to nowhere is there, too */
        }
        sha256_init(&hash);
        sha256_add_str(&hash, str_of(entry->d_name));
        sha256_add(&hash, &st.st_size, sizeof(st.st_size));
        sha256_add(&hash, &st.st_mtim, sizeof(st.st_mtim));
        sha256_add(&hash, &st.st_ino, sizeof(st.st_ino));
        sha256_get(&hash, digest);
        for (size_t i = 0; i < SHA256_SIZE; i++) {
            out[i] = (unsigned char)(out[i] + digest[i]);
        }
    }
    if (dir) {
        (void)closedir(dir); /* only read from */
    }
}

enum clew_status agents_live_open(const char *folder,
                                  struct agents_live **out_live,
                                  struct clew_error *err)
{
    struct agents_live *live = alloc_zero(1, sizeof(*live));
    enum clew_status status;

    if (!live) {
        return clew_no_memory(err);
    }
    (void)pthread_mutex_init(&live->lock, NULL);    /* cannot fail on Linux */
    (void)pthread_mutex_init(&live->loading, NULL); /* the same */
    live->folder = alloc_string(folder);
    if (!live->folder) {
        status = clew_no_memory(err);
    } else {
        look(folder, live->seen);
        status = agents_load(folder, NULL, &live->set, err);
    }
    if (status != CLEW_OK) {
        agents_live_close(live);
        return status;
    }
    *out_live = live;
    return CLEW_OK;
}

void agents_live_close(struct agents_live *live)
{
    if (live) {
        agents_unref(live->set);
        alloc_free(live->folder);
        (void)pthread_mutex_destroy(&live->loading); /* nobody holds them */
        (void)pthread_mutex_destroy(&live->lock);
        alloc_free(live);
    }
}

struct agents *agents_live_take(struct agents_live *live)
{
    struct agents *set;

    (void)pthread_mutex_lock(&live->lock);
    set = agents_ref(live->set);
    (void)pthread_mutex_unlock(&live->lock);
    return set;
}

enum clew_status agents_live_reload(struct agents_live *live, bool is_forced,
                                    bool *out_changed, struct clew_error *err)
{
    unsigned char now[SHA256_SIZE];
    struct agents *before = NULL;
    struct agents *set = NULL;
    enum clew_status status = CLEW_OK;

    *out_changed = false;
    (void)pthread_mutex_lock(&live->loading);
    look(live->folder, now);
    if (is_forced || memcmp(now, live->seen, sizeof(now)) != 0) {
        before = agents_live_take(live);
        status = agents_load(live->folder, before, &set, err);
    }
    if (set) {
        struct agents *old;

        (void)pthread_mutex_lock(&live->lock);
        old = live->set;
        live->set = set;
        (void)pthread_mutex_unlock(&live->lock);
        agents_unref(old);
        *out_changed = true;
    }
    /* a folder that cannot be loaded is not tried again until it changes */
    memcpy(live->seen, now, sizeof(now));
    (void)pthread_mutex_unlock(&live->loading);
    agents_unref(before);
    return status;
}
