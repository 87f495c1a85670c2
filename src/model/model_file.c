/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file.c - the files of a model folder. See model_file.h.
 */
#include "model/model_file.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum clew_status model_file_path(const char *folder, const char *name,
                                 char out[MODEL_PATH_SIZE],
                                 struct clew_error *err)
{
    int len = snprintf(out, MODEL_PATH_SIZE, "%s/%s", folder, name);

    if (len < 0 || len >= MODEL_PATH_SIZE) {
        return clew_fail(err, CLEW_TOO_LARGE, "the path of \"%s\" is too long",
                         name);
    }
    return CLEW_OK;
}

bool model_file_exists(const char *folder, const char *name)
{
    char path[MODEL_PATH_SIZE];
    struct stat info;

    return model_file_path(folder, name, path, NULL) == CLEW_OK &&
           lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static enum clew_status map_open(int fd, const char *name, uint64_t max_bytes,
                                 struct str *out, struct clew_error *err)
{
    struct stat info;
    void *bytes;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return clew_fail(err, CLEW_INVALID, "\"%s\" is not a plain file", name);
    }
    if (info.st_size <= 0) {
        return clew_fail(err, CLEW_CORRUPT, "\"%s\" is empty", name);
    }
    if ((uint64_t)info.st_size > max_bytes) {
        return clew_fail(err, CLEW_TOO_LARGE, "\"%s\" is too large", name);
    }
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not map \"%s\": %s", name,
                         strerror(errno));
    }
    out->s = bytes;
    out->len = (size_t)info.st_size;
    return CLEW_OK;
}

enum clew_status model_file_map(const char *folder, const char *name,
                                uint64_t max_bytes, struct str *out,
                                struct clew_error *err)
{
    char path[MODEL_PATH_SIZE];
    enum clew_status status = model_file_path(folder, name, path, err);
    int fd;

    if (status != CLEW_OK) {
        return status;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return clew_fail(err, errno == ENOENT ? CLEW_NOT_FOUND : CLEW_INVALID,
                         "could not open \"%s\": %s", name, strerror(errno));
    }
    status = map_open(fd, name, max_bytes, out, err);
    (void)close(fd); /* it was only read */
    return status;
}

void model_file_unmap(struct str file)
{
    if (file.s) {
        (void)munmap((void *)(uintptr_t)file.s,
                     file.len); /* ours: cannot fail */
    }
}

enum clew_status model_file_json(const char *folder, const char *name,
                                 json_t **out, struct clew_error *err)
{
    struct str text;
    json_t *json = NULL;
    enum clew_status status =
        model_file_map(folder, name, MODEL_FILE_MAX_TEXT, &text, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = json_parse(text, &json, err);
    model_file_unmap(text);
    if (status == CLEW_OK && !json_is_object(json)) {
        json_decref(json);
        return clew_fail(err, CLEW_INVALID, "\"%s\" is not a JSON object",
                         name);
    }
    if (status == CLEW_OK) {
        *out = json;
    }
    return status;
}

enum clew_status model_file_hash(const char *folder, const char *name,
                                 char out[SHA256_HEX_SIZE],
                                 struct clew_error *err)
{
    struct str file;
    enum clew_status status =
        model_file_map(folder, name, MODEL_FILE_MAX_WEIGHTS, &file, err);

    if (status == CLEW_OK) {
        sha256_hex_of(file, out);
        model_file_unmap(file);
    }
    return status;
}
