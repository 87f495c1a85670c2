/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_store.c - the encoders of a data folder. See model_store.h.
 */
#include "model/model_store.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/rand.h"
#include "model/bert.h"
#include "model/embed.h"
#include "model/model_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST "clew-model.json"
#define CURRENT "current"
#define MAX_MODELS 1000

/* All that is ever copied; nothing else of a folder is looked at. */
static const struct {
    const char *name;
    bool is_required;
    uint64_t max_bytes;
} files[] = {
    {"config.json", true, MODEL_FILE_MAX_TEXT},
    {"model.safetensors", true, MODEL_FILE_MAX_WEIGHTS},
    {"vocab.txt", false, MODEL_FILE_MAX_TEXT},
    {"tokenizer.json", false, MODEL_FILE_MAX_TEXT},
    {"tokenizer_config.json", false, MODEL_FILE_MAX_TEXT},
    {"1_Pooling/config.json", false, MODEL_FILE_MAX_TEXT},
};
#define N_FILES (sizeof(files) / sizeof(files[0]))

static enum clew_status failed(struct clew_error *err, const char *doing,
                               const char *name)
{
    int error = errno;

    return clew_fail(err, error == ENOSPC ? CLEW_UNAVAILABLE : CLEW_INTERNAL,
                     "could not %s \"%s\": %s", doing, name, strerror(error));
}

/* --- names and paths ----------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    size_t ok = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");

    return len > 0 && len < MODEL_NAME_SIZE && ok == len && name[0] != '.' &&
           name[0] != '_' && name[0] != '-';
}

static enum clew_status check_name(const char *name, struct clew_error *err)
{
    if (!is_name(name)) {
        return clew_fail_field(err, "name",
                               "a model's name is 1 to %d of a-z 0-9 . _ -",
                               MODEL_NAME_SIZE - 1);
    }
    return CLEW_OK;
}

/* The source folder's own name, lowered. */
static enum clew_status name_of(const char *source, char out[MODEL_NAME_SIZE],
                                struct clew_error *err)
{
    struct str path = str_of(source);
    size_t start;

    while (path.len > 0 && path.s[path.len - 1] == '/') {
        path.len--;
    }
    start = path.len;
    while (start > 0 && path.s[start - 1] != '/') {
        start--;
    }
    path = str_sub(path, start, path.len);
    if (path.len >= MODEL_NAME_SIZE) {
        path.len = MODEL_NAME_SIZE - 1;
    }
    for (size_t i = 0; i < path.len; i++) {
        char c = path.s[i];

        out[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[path.len] = '\0';
    return check_name(out, err);
}

/* DATA/models, both made if needed. */
static enum clew_status models_dir(const char *data_dir,
                                   char out[MODEL_PATH_SIZE],
                                   struct clew_error *err)
{
    enum clew_status status = model_file_path(data_dir, "models", out, err);

    if (status == CLEW_OK) {
        (void)mkdir(data_dir, 0700); /* the next one fails if this did */
        if (mkdir(out, 0700) != 0 && errno != EEXIST) {
            status = failed(err, "make", "models");
        }
    }
    return status;
}

static enum clew_status model_dir(const char *data_dir, const char *name,
                                  char out[MODEL_PATH_SIZE],
                                  struct clew_error *err)
{
    char models[MODEL_PATH_SIZE];
    enum clew_status status = check_name(name, err);

    if (status == CLEW_OK) {
        status = models_dir(data_dir, models, err);
    }
    if (status == CLEW_OK) {
        status = model_file_path(models, name, out, err);
    }
    return status;
}

/* --- writing ------------------------------------------------------------- */

static enum clew_status write_all(const char *path, const char *name,
                                  struct str bytes, struct clew_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum clew_status status = CLEW_OK;

    if (fd < 0) {
        return failed(err, "create", name);
    }
    if (!fd_write_all(fd, bytes) || fsync(fd) != 0) {
        status = failed(err, "write", name);
    }
    if (close(fd) != 0 && status == CLEW_OK) {
        status = failed(err, "write", name);
    }
    return status;
}

/* Copy one file, read the copy back, and note its hash in the manifest. */
static enum clew_status copy_file(const char *source, const char *target,
                                  size_t at, json_t *manifest,
                                  struct clew_error *err)
{
    const char *name = files[at].name;
    char path[MODEL_PATH_SIZE];
    char before[SHA256_HEX_SIZE];
    char after[SHA256_HEX_SIZE];
    struct str bytes;
    enum clew_status status =
        model_file_map(source, name, files[at].max_bytes, &bytes, err);

    if (status == CLEW_NOT_FOUND && !files[at].is_required) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    sha256_hex_of(bytes, before);
    status = model_file_path(target, name, path, err);
    if (status == CLEW_OK) {
        status = write_all(path, name, bytes, err);
    }
    model_file_unmap(bytes);
    if (status == CLEW_OK) {
        status = model_file_hash(target, name, after, err);
    }
    if (status == CLEW_OK && strcmp(before, after) != 0) {
        status =
            clew_fail(err, CLEW_CORRUPT, "the copy of \"%s\" differs", name);
    }
    if (status == CLEW_OK && !json_set_cstr(manifest, name, after)) {
        status = CLEW_NO_MEMORY;
    }
    return status;
}

/* The model's centre as numbers; NULL on failure. */
static json_t *find_centre(struct embedder *embedder, struct clew_error *err)
{
    int16_t *centre = alloc_array(NULL, embedder->dim, sizeof(*centre));
    json_t *list = json_array();
    bool is_ok =
        centre && list && embed_find_centre(embedder, centre, err) == CLEW_OK;

    for (size_t i = 0; i < embedder->dim && is_ok; i++) {
        is_ok = json_array_append_new(list, json_integer(centre[i])) == 0;
    }
    alloc_free(centre);
    if (!is_ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static enum clew_status write_manifest(const char *target, const char *name,
                                       json_t *hashes,
                                       struct embedder *embedder,
                                       struct clew_error *err)
{
    json_t *manifest = json_object();
    char path[MODEL_PATH_SIZE];
    struct buf text;
    enum clew_status status = CLEW_NO_MEMORY;

    buf_init(&text, 1 << 16);
    if (manifest && json_set_cstr(manifest, "name", name) &&
        json_set_cstr(manifest, "id", embedder->id) &&
        json_set_int(manifest, "dim", (int64_t)embedder->dim) &&
        json_set(manifest, "centre", find_centre(embedder, err)) &&
        json_set(manifest, "sha256", json_incref(hashes))) {
        status = json_write(&text, manifest);
    }
    if (status == CLEW_OK) {
        status = model_file_path(target, MANIFEST, path, err);
    }
    if (status == CLEW_OK) {
        status = write_all(path, MANIFEST, buf_str(&text), err);
    }
    buf_release(&text);
    json_decref(manifest);
    return status;
}

/* Remove the files we put there, then the folder; what is not ours stays. */
static void remove_dir(const char *dir)
{
    char path[MODEL_PATH_SIZE];

    for (size_t i = 0; i < N_FILES; i++) {
        if (model_file_path(dir, files[i].name, path, NULL) == CLEW_OK) {
            (void)unlink(path); /* may not be there */
        }
    }
    if (model_file_path(dir, MANIFEST, path, NULL) == CLEW_OK) {
        (void)unlink(path);
    }
    if (model_file_path(dir, "1_Pooling", path, NULL) == CLEW_OK) {
        (void)rmdir(path);
    }
    (void)rmdir(dir);
}

static enum clew_status fill_dir(const char *source, const char *target,
                                 const char *name, struct clew_error *err)
{
    json_t *hashes = json_object();
    struct embedder *embedder = NULL;
    char path[MODEL_PATH_SIZE];
    enum clew_status status = hashes ? CLEW_OK : CLEW_NO_MEMORY;

    if (status == CLEW_OK) {
        status = model_file_path(target, "1_Pooling", path, err);
    }
    if (status == CLEW_OK && mkdir(path, 0700) != 0) {
        status = failed(err, "make", "1_Pooling");
    }
    for (size_t i = 0; i < N_FILES && status == CLEW_OK; i++) {
        status = copy_file(source, target, i, hashes, err);
    }
    if (status == CLEW_OK) {
        status = bert_open(target, name, &embedder, err);
    }
    if (status == CLEW_OK) {
        status = write_manifest(target, name, hashes, embedder, err);
    }
    embed_free(embedder);
    json_decref(hashes);
    return status;
}

enum clew_status model_store_add(const char *data_dir, const char *source,
                                 const char *name,
                                 char out_name[MODEL_NAME_SIZE],
                                 struct clew_error *err)
{
    char own[MODEL_NAME_SIZE];
    char temporary[MODEL_NAME_SIZE + 32];
    char models[MODEL_PATH_SIZE];
    char from[MODEL_PATH_SIZE];
    char to[MODEL_PATH_SIZE];
    struct stat info;
    enum clew_status status = CLEW_OK;

    if (!name) {
        status = name_of(source, own, err);
        name = own;
    }
    if (status == CLEW_OK) {
        status = model_dir(data_dir, name, to, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (strcmp(name, MODEL_NAME_STATIC) == 0 || strcmp(name, CURRENT) == 0 ||
        lstat(to, &info) == 0) {
        return clew_fail(err, CLEW_CONFLICT, "there is a model \"%s\" already",
                         name);
    }
    (void)snprintf(temporary, sizeof(temporary), ".adding-%016llx",
                   (unsigned long long)rand_below(UINT64_MAX));
    status = models_dir(data_dir, models, err);
    if (status == CLEW_OK) {
        status = model_file_path(models, temporary, from, err);
    }
    if (status == CLEW_OK && mkdir(from, 0700) != 0) {
        status = failed(err, "make", name);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = fill_dir(source, from, name, err);
    if (status == CLEW_OK && rename(from, to) != 0) {
        status = failed(err, "name", name);
    }
    if (status != CLEW_OK) {
        remove_dir(from);
        return status;
    }
    (void)snprintf(out_name, MODEL_NAME_SIZE, "%s", name);
    return CLEW_OK;
}

/* --- in use -------------------------------------------------------------- */

static enum clew_status read_current(const char *data_dir,
                                     char out[MODEL_NAME_SIZE],
                                     struct clew_error *err)
{
    char models[MODEL_PATH_SIZE];
    struct str text;
    struct str name;
    enum clew_status status = models_dir(data_dir, models, err);

    (void)snprintf(out, MODEL_NAME_SIZE, "%s", MODEL_NAME_STATIC);
    if (status != CLEW_OK) {
        return status;
    }
    status = model_file_map(models, CURRENT, MODEL_NAME_SIZE, &text, err);
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status == CLEW_OK) {
        name = str_trim(text);
        (void)snprintf(out, MODEL_NAME_SIZE, "%.*s", (int)name.len, name.s);
        model_file_unmap(text);
        status = check_name(out, err);
    }
    return status;
}

static enum clew_status read_manifest(const char *data_dir, const char *name,
                                      char dir[MODEL_PATH_SIZE], json_t **out,
                                      struct clew_error *err)
{
    enum clew_status status = model_dir(data_dir, name, dir, err);

    if (status == CLEW_OK) {
        status = model_file_json(dir, MANIFEST, out, err);
    }
    if (status == CLEW_NOT_FOUND) {
        status =
            clew_fail(err, CLEW_NOT_FOUND, "there is no model \"%s\"", name);
    }
    return status;
}

enum clew_status model_store_use(const char *data_dir, const char *name,
                                 struct clew_error *err)
{
    char dir[MODEL_PATH_SIZE];
    char from[MODEL_PATH_SIZE];
    char to[MODEL_PATH_SIZE];
    json_t *manifest = NULL;
    enum clew_status status = CLEW_OK;

    if (strcmp(name, MODEL_NAME_STATIC) != 0) {
        status = read_manifest(data_dir, name, dir, &manifest, err);
        json_decref(manifest);
    }
    if (status == CLEW_OK) {
        status = models_dir(data_dir, dir, err);
    }
    if (status == CLEW_OK) {
        status = model_file_path(dir, ".current-new", from, err);
    }
    if (status == CLEW_OK) {
        status = model_file_path(dir, CURRENT, to, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    (void)unlink(from); /* left by an interrupted try */
    status = write_all(from, CURRENT, str_of(name), err);
    if (status == CLEW_OK && rename(from, to) != 0) {
        status = failed(err, "write", CURRENT);
    }
    return status;
}

enum clew_status model_store_remove(const char *data_dir, const char *name,
                                    struct clew_error *err)
{
    char current[MODEL_NAME_SIZE];
    char dir[MODEL_PATH_SIZE];
    json_t *manifest = NULL;
    enum clew_status status =
        read_manifest(data_dir, name, dir, &manifest, err);

    json_decref(manifest);
    if (status == CLEW_OK) {
        status = read_current(data_dir, current, err);
    }
    if (status == CLEW_OK && strcmp(current, name) == 0) {
        return clew_fail(err, CLEW_CONFLICT,
                         "the model \"%s\" is in use; use another first", name);
    }
    if (status == CLEW_OK) {
        remove_dir(dir);
    }
    return status;
}

/* --- reading ------------------------------------------------------------- */

static enum clew_status check_hashes(const char *dir, const json_t *manifest,
                                     struct clew_error *err)
{
    const json_t *hashes = json_object_get(manifest, "sha256");
    char now[SHA256_HEX_SIZE];

    for (size_t i = 0; i < N_FILES; i++) {
        const char *want =
            json_string_value(json_object_get(hashes, files[i].name));

        if (!want && !files[i].is_required &&
            !model_file_exists(dir, files[i].name)) {
            continue;
        }
        if (!want ||
            model_file_hash(dir, files[i].name, now, NULL) != CLEW_OK ||
            strcmp(want, now) != 0) {
            return clew_fail(err, CLEW_CORRUPT,
                             "the model's \"%s\" is not what was added",
                             files[i].name);
        }
    }
    return CLEW_OK;
}

enum clew_status model_store_centre(const char *data_dir, const char *name,
                                    size_t dim, int16_t *out,
                                    struct clew_error *err)
{
    char dir[MODEL_PATH_SIZE];
    json_t *manifest = NULL;
    const json_t *list;
    enum clew_status status =
        read_manifest(data_dir, name, dir, &manifest, err);

    if (status != CLEW_OK) {
        return status;
    }
    list = json_object_get(manifest, "centre");
    if (json_array_size(list) != dim) {
        status = clew_fail(err, CLEW_NOT_FOUND,
                           "the model \"%s\" has no centre", name);
    }
    for (size_t i = 0; i < dim && status == CLEW_OK; i++) {
        out[i] = (int16_t)json_integer_value(json_array_get(list, i));
    }
    json_decref(manifest);
    return status;
}

enum clew_status model_store_open(const char *data_dir, const char *name,
                                  struct embedder **out_embedder,
                                  struct clew_error *err)
{
    char current[MODEL_NAME_SIZE];
    char dir[MODEL_PATH_SIZE];
    json_t *manifest = NULL;
    enum clew_status status = CLEW_OK;

    if (!name) {
        status = read_current(data_dir, current, err);
        name = current;
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (strcmp(name, MODEL_NAME_STATIC) == 0) {
        *out_embedder = embed_static();
        return CLEW_OK;
    }
    status = read_manifest(data_dir, name, dir, &manifest, err);
    if (status == CLEW_OK) {
        status = check_hashes(dir, manifest, err);
        json_decref(manifest);
    }
    if (status == CLEW_OK) {
        status = bert_open(dir, name, out_embedder, err);
    }
    return status;
}

static bool add_row(json_t *list, const char *name, const char *id, int64_t dim,
                    const char *current)
{
    json_t *row = json_object();
    bool ok = row && json_set_cstr(row, "name", name) &&
              json_set_cstr(row, "id", id) && json_set_int(row, "dim", dim) &&
              json_set_bool(row, "in_use", strcmp(name, current) == 0);

    if (!ok) {
        json_decref(row);
        return false;
    }
    return json_array_append_new(list, row) == 0;
}

static enum clew_status list_dir(const char *data_dir, const char *name,
                                 const char *current, json_t *list)
{
    char dir[MODEL_PATH_SIZE];
    json_t *manifest = NULL;
    const char *id;
    bool ok;

    if (read_manifest(data_dir, name, dir, &manifest, NULL) != CLEW_OK) {
        return CLEW_OK; /* not one of ours */
    }
    id = json_string_value(json_object_get(manifest, "id"));
    ok = add_row(list, name, id ? id : "",
                 json_integer_value(json_object_get(manifest, "dim")), current);
    json_decref(manifest);
    return ok ? CLEW_OK : CLEW_NO_MEMORY;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names in DATA/models that may be models, sorted; the caller frees. */
static enum clew_status read_names(const char *models,
                                   char (**out)[MODEL_NAME_SIZE],
                                   size_t *out_count, struct clew_error *err)
{
    char(*names)[MODEL_NAME_SIZE] =
        alloc_array(NULL, MAX_MODELS, sizeof(*names));
    DIR *dir = opendir(models);
    size_t count = 0;

    if (!names || !dir) {
        enum clew_status status =
            names ? failed(err, "read", "models") : CLEW_NO_MEMORY;

        if (dir) {
            (void)closedir(dir); /* it was only read */
        }
        alloc_free(names);
        return status;
    }
    for (struct dirent *entry = readdir(dir); entry && count < MAX_MODELS;
         entry = readdir(dir)) {
        if (is_name(entry->d_name)) {
            memcpy(names[count], entry->d_name, strlen(entry->d_name) + 1);
            count++;
        }
    }
    (void)closedir(dir); /* it was only read */
    qsort(names, count, sizeof(*names), compare_names);
    *out = names;
    *out_count = count;
    return CLEW_OK;
}

enum clew_status model_store_list(const char *data_dir, json_t **out,
                                  struct clew_error *err)
{
    char current[MODEL_NAME_SIZE];
    char models[MODEL_PATH_SIZE];
    char(*names)[MODEL_NAME_SIZE] = NULL;
    size_t count = 0;
    json_t *list = json_array();
    enum clew_status status = list ? CLEW_OK : CLEW_NO_MEMORY;

    if (status == CLEW_OK) {
        status = read_current(data_dir, current, err);
    }
    if (status == CLEW_OK &&
        !add_row(list, MODEL_NAME_STATIC, embed_static()->id,
                 (int64_t)embed_static()->dim, current)) {
        status = CLEW_NO_MEMORY;
    }
    if (status == CLEW_OK) {
        status = models_dir(data_dir, models, err);
    }
    if (status == CLEW_OK) {
        status = read_names(models, &names, &count, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = list_dir(data_dir, names[i], current, list);
    }
    alloc_free(names);
    if (status != CLEW_OK) {
        json_decref(list);
        return status;
    }
    *out = list;
    return CLEW_OK;
}
