/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - save and load the list of live files.
 */
#include "index/manifest.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_MAGIC "CLEWMAN"
#define MANIFEST_VERSION 1u
/* Files up to this size are read whole and checked when opened; larger ones
 * soon afterwards, by index_scrub(), or opening millions of turns would take
 * seconds. */
#define CHECK_BYTES (64u << 20)

struct head {
    char magic[8];
    uint32_t version;
    uint32_t dim;
    uint64_t model;
    uint32_t analyser;
    uint32_t count;
    int64_t through;
    uint64_t next_file_id;
};

struct entry {
    uint64_t file_id;
    uint64_t size;
    uint64_t header_sum; /* stands for the whole: it covers the body's sum */
    uint64_t removed_file;
    uint32_t n_docs;
    uint32_t n_removed;
};

static bool path_of(const char *dir, const char *name,
                    char out[MANIFEST_PATH_BYTES])
{
    int n = snprintf(out, MANIFEST_PATH_BYTES, "%s/%s", dir, name);

    return n > 0 && n < MANIFEST_PATH_BYTES;
}

bool manifest_segment_path(const char *dir, uint64_t file_id,
                           char out[MANIFEST_PATH_BYTES])
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%" PRIu64 ".seg", file_id);
    return path_of(dir, name, out);
}

static bool gone_path(const char *dir, uint64_t file_id, uint64_t generation,
                      char out[MANIFEST_PATH_BYTES])
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%" PRIu64 ".%" PRIu64 ".gone", file_id,
                   generation);
    return path_of(dir, name, out);
}

/* A whole small file with its checksum at the end taken off. */
static enum clew_status read_small(const char *path, struct buf *out)
{
    uint64_t sum;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum clew_status status;

    if (fd < 0) {
        return errno == ENOENT ? CLEW_NOT_FOUND : CLEW_CORRUPT;
    }
    status = fd_read_all(fd, out);
    (void)close(fd);
    if (status != CLEW_OK || out->len < sizeof(sum)) {
        return CLEW_CORRUPT;
    }
    out->len -= sizeof(sum);
    memcpy(&sum, out->data + out->len, sizeof(sum));
    return sum == checksum((const uint8_t *)out->data, out->len) ? CLEW_OK
                                                                 : CLEW_CORRUPT;
}

static void sync_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd); /* the index can be rebuilt; nothing more to do */
        (void)close(fd);
    }
}

/* Write bytes and their checksum under another name, sync, rename. */
static enum clew_status write_small(const char *path, const struct buf *bytes,
                                    struct clew_error *err)
{
    char temporary[MANIFEST_PATH_BYTES + 8];
    uint64_t sum = checksum((const uint8_t *)bytes->data, bytes->len);
    bool is_good;
    int fd;

    (void)snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not write an index file: %s", strerror(errno));
    }
    is_good = fd_write_all(fd, buf_str(bytes)) &&
              fd_write_all(fd, (struct str){(const char *)&sum, sizeof(sum)}) &&
              fsync(fd) == 0;
    is_good = close(fd) == 0 && is_good;
    if (!is_good || rename(temporary, path) != 0) {
        (void)unlink(temporary);
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not write an index file");
    }
    return CLEW_OK;
}

static enum clew_status map_segment(const char *dir, const struct entry *entry,
                                    const struct segment_kind *kind,
                                    struct segment **out_segment,
                                    struct clew_error *err)
{
    char path[MANIFEST_PATH_BYTES];
    struct stat info;
    void *base = MAP_FAILED;
    enum clew_status status;
    int fd = -1;

    if (manifest_segment_path(dir, entry->file_id, path)) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0 && fstat(fd, &info) == 0 &&
        (uint64_t)info.st_size == entry->size && entry->size > 0) {
        base = mmap(NULL, entry->size, PROT_READ, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (base == MAP_FAILED) {
        return clew_fail(err, CLEW_CORRUPT, "index file missing or cut");
    }
    status = segment_open(base, entry->size, true, kind, out_segment, err);
    if (status != CLEW_OK) {
        (void)munmap(base, entry->size);
        return status;
    }
    (*out_segment)->file_id = entry->file_id;
    if ((*out_segment)->head->header_sum != entry->header_sum ||
        (*out_segment)->head->n_docs != entry->n_docs) {
        status = clew_fail(err, CLEW_CORRUPT, "index file is another one");
    } else if (entry->size <= CHECK_BYTES) {
        status = segment_check(*out_segment, err);
        (*out_segment)->is_checked = true;
    }
    if (status != CLEW_OK) {
        segment_unref(*out_segment);
    }
    return status;
}

static enum clew_status load_removed(const char *dir, const struct entry *entry,
                                     struct segment *segment,
                                     struct clew_error *err)
{
    size_t words = (segment->head->n_docs + 63) / 64;
    char path[MANIFEST_PATH_BYTES];
    enum clew_status status;
    struct buf bytes;

    if (entry->removed_file == 0) {
        return CLEW_OK;
    }
    buf_init(&bytes, words * 8 + 8);
    status = gone_path(dir, entry->file_id, entry->removed_file, path)
                 ? read_small(path, &bytes)
                 : CLEW_CORRUPT;
    if (status != CLEW_OK || bytes.len != words * 8) {
        buf_release(&bytes);
        return clew_fail(err, CLEW_CORRUPT, "index file of removals damaged");
    }
    for (uint32_t doc = 0; doc < segment->head->n_docs; doc++) {
        uint64_t word;

        memcpy(&word, bytes.data + doc / 64 * 8, 8);
        if (word >> (doc % 64) & 1) {
            (void)segment_remove(segment, doc);
        }
    }
    segment->n_removed_saved = atomic_load(&segment->n_removed);
    segment->removed_file = entry->removed_file;
    buf_release(&bytes);
    return CLEW_OK;
}

static enum clew_status read_manifest(const char *dir,
                                      const struct segment_kind *kind,
                                      struct buf *bytes, struct head *head)
{
    char path[MANIFEST_PATH_BYTES];
    enum clew_status status;

    if (!path_of(dir, "manifest", path)) {
        return CLEW_CORRUPT;
    }
    status = read_small(path, bytes);
    if (status != CLEW_OK) {
        return status;
    }
    if (bytes->len < sizeof(*head)) {
        return CLEW_CORRUPT;
    }
    memcpy(head, bytes->data, sizeof(*head));
    if (memcmp(head->magic, MANIFEST_MAGIC, sizeof(head->magic)) != 0 ||
        head->version != MANIFEST_VERSION || head->dim != kind->dim ||
        head->model != kind->model || head->analyser != kind->analyser ||
        head->count > MANIFEST_MAX_SEGMENTS ||
        bytes->len != sizeof(*head) + head->count * sizeof(struct entry)) {
        return CLEW_CORRUPT;
    }
    return CLEW_OK;
}

#define MANIFEST_MAX_BYTES                                                     \
    (sizeof(struct head) + MANIFEST_MAX_SEGMENTS * sizeof(struct entry) + 8)

/* Unref the segments and free the list. */
static void manifest_release(struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++) {
        segment_unref(manifest->segments[i]);
    }
    alloc_free((void *)manifest->segments);
    manifest->segments = NULL;
    manifest->count = 0;
}

enum clew_status manifest_load(const char *dir, const struct segment_kind *kind,
                               struct manifest *out, struct clew_error *err)
{
    struct manifest m = {0};
    struct head head;
    struct buf bytes;
    enum clew_status status;

    buf_init(&bytes, MANIFEST_MAX_BYTES);
    status = read_manifest(dir, kind, &bytes, &head);
    if (status != CLEW_OK) {
        buf_release(&bytes);
        return clew_fail(err, status, "no usable index manifest");
    }
    m.through = head.through;
    m.next_file_id = head.next_file_id;
    m.segments = alloc_zero(head.count + 1, sizeof(*m.segments));
    if (!m.segments) {
        status = clew_fail(err, CLEW_NO_MEMORY, "could not load an index");
    }
    for (uint32_t i = 0; i < head.count && status == CLEW_OK; i++) {
        struct entry entry;

        memcpy(&entry, bytes.data + sizeof(head) + i * sizeof(entry),
               sizeof(entry));
        status = map_segment(dir, &entry, kind, &m.segments[i], err);
        if (status == CLEW_OK) {
            m.count++;
            status = load_removed(dir, &entry, m.segments[i], err);
        }
    }
    buf_release(&bytes);
    if (status != CLEW_OK) {
        manifest_release(&m);
        return status;
    }
    *out = m;
    return CLEW_OK;
}

int64_t manifest_peek(const char *dir, const struct segment_kind *kind)
{
    struct head head;
    struct buf bytes;
    int64_t through = 0;

    buf_init(&bytes, MANIFEST_MAX_BYTES);
    if (read_manifest(dir, kind, &bytes, &head) == CLEW_OK) {
        through = head.through;
    }
    buf_release(&bytes);
    return through;
}

/* Save the removed documents of a segment if they have changed. */
static enum clew_status save_removed(const char *dir, struct segment *segment,
                                     struct clew_error *err)
{
    uint32_t n_removed = atomic_load(&segment->n_removed);
    size_t words = (segment->head->n_docs + 63) / 64;
    char path[MANIFEST_PATH_BYTES];
    enum clew_status status;
    struct buf bytes;

    if (n_removed == segment->n_removed_saved) {
        return CLEW_OK;
    }
    buf_init(&bytes, words * 8);
    for (size_t i = 0; i < words; i++) {
        uint64_t word = atomic_load(&segment->removed[i]);

        (void)buf_append(&bytes, &word, sizeof(word));
    }
    status = buf_status(&bytes);
    if (status == CLEW_OK) {
        status =
            gone_path(dir, segment->file_id, segment->removed_file + 1, path)
                ? write_small(path, &bytes, err)
                : CLEW_INTERNAL;
    }
    buf_release(&bytes);
    if (status == CLEW_OK) {
        segment->removed_file++;
        segment->n_removed_saved = n_removed;
    }
    return status;
}

static bool is_live(const struct manifest *manifest, const char *name)
{
    uint64_t id;
    uint64_t generation;
    char end[8];

    if (strcmp(name, "manifest") == 0) {
        return true;
    }
    if (sscanf(name, "%" SCNu64 ".%7s", &id, end) == 2 &&
        id == manifest->keep_file_id && strcmp(end, "seg") == 0) {
        return true;
    }
    for (size_t i = 0; i < manifest->count; i++) {
        const struct segment *s = manifest->segments[i];

        if (sscanf(name, "%" SCNu64 ".%" SCNu64 ".%7s", &id, &generation,
                   end) == 3) {
            if (id == s->file_id && generation == s->removed_file) {
                return true;
            }
        } else if (sscanf(name, "%" SCNu64 ".%7s", &id, end) == 2 &&
                   id == s->file_id && strcmp(end, "seg") == 0) {
            return true;
        }
    }
    return false;
}

static bool is_ours(const char *name)
{
    size_t len = strlen(name);

    return (len > 4 && (strcmp(name + len - 4, ".seg") == 0 ||
                        strcmp(name + len - 4, ".tmp") == 0)) ||
           (len > 5 && strcmp(name + len - 5, ".gone") == 0) ||
           strcmp(name, "manifest") == 0;
}

/* Delete index files that `manifest` (NULL: nothing) does not name. */
static void sweep(const char *dir, const struct manifest *manifest)
{
    char path[MANIFEST_PATH_BYTES];
    struct dirent *entry;
    DIR *folder = opendir(dir);

    while (folder && (entry = readdir(folder)) != NULL) {
        if (is_ours(entry->d_name) &&
            !(manifest && is_live(manifest, entry->d_name)) &&
            path_of(dir, entry->d_name, path)) {
            (void)unlink(path); /* tried again at the next save */
        }
    }
    if (folder) {
        (void)closedir(folder);
    }
}

enum clew_status manifest_save(const char *dir, const struct segment_kind *kind,
                               struct manifest *manifest,
                               struct clew_error *err)
{
    struct head head = {.magic = MANIFEST_MAGIC,
                        .version = MANIFEST_VERSION,
                        .dim = kind->dim,
                        .model = kind->model,
                        .analyser = kind->analyser,
                        .count = (uint32_t)manifest->count,
                        .through = manifest->through,
                        .next_file_id = manifest->next_file_id};
    char path[MANIFEST_PATH_BYTES];
    enum clew_status status = CLEW_OK;
    struct buf bytes;

    if (manifest->count > MANIFEST_MAX_SEGMENTS ||
        !path_of(dir, "manifest", path)) {
        return clew_fail(err, CLEW_INTERNAL, "index manifest too large");
    }
    buf_init(&bytes, MANIFEST_MAX_BYTES);
    (void)buf_append(&bytes, &head, sizeof(head));
    for (size_t i = 0; i < manifest->count && status == CLEW_OK; i++) {
        struct segment *s = manifest->segments[i];
        struct entry entry;

        status = save_removed(dir, s, err);
        memset(&entry, 0, sizeof(entry));
        entry.file_id = s->file_id;
        entry.size = s->size;
        entry.header_sum = s->head->header_sum;
        entry.removed_file = s->removed_file;
        entry.n_docs = s->head->n_docs;
        entry.n_removed = s->n_removed_saved;
        (void)buf_append(&bytes, &entry, sizeof(entry));
    }
    if (status == CLEW_OK) {
        status = buf_status(&bytes);
    }
    if (status == CLEW_OK) {
        status = write_small(path, &bytes, err);
    }
    buf_release(&bytes);
    if (status == CLEW_OK) {
        sync_dir(dir);
        sweep(dir, manifest);
    }
    return status;
}

void manifest_clear(const char *dir)
{
    sweep(dir, NULL);
    sync_dir(dir);
}
