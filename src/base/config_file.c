/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.c - the YAML configuration file, flattened to dotted keys.
 *
 * Only maps and scalars: a setting is a path and a value. Lists, anchors,
 * tags, a second document and a key given twice are refused, each with its
 * line, so that a file means what it looks like.
 */
#include "base/config_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* A configuration is pages, not megabytes. */
#define FILE_LIMIT_BYTES (1024u * 1024)
#define PATH_LIMIT_BYTES 256
#define DEPTH_LIMIT 8

struct reader {
    struct config *config;
    config_set_fn set;
    const char *path;
    yaml_parser_t yaml;
    struct buf key;              /* dotted path of where we are */
    size_t key_len[DEPTH_LIMIT]; /* its length outside each open map */
    size_t depth;                /* open maps */
    bool has_name;               /* the name is read, its value comes */
    bool is_done;
};

static enum clew_status fail_at(const struct reader *reader,
                                const yaml_mark_t *mark, const char *what,
                                struct clew_error *err)
{
    return clew_fail_field(err, reader->key.data, "%s:%zu: %s%s%s",
                           reader->path, mark->line + 1,
                           reader->key.len ? reader->key.data : "",
                           reader->key.len ? ": " : "", what);
}

static enum clew_status begin_map(struct reader *reader,
                                  const yaml_event_t *event,
                                  struct clew_error *err)
{
    if (reader->depth > 0 && !reader->has_name) {
        return fail_at(reader, &event->start_mark, "a name cannot be a map",
                       err);
    }
    if (reader->depth == DEPTH_LIMIT) {
        return fail_at(reader, &event->start_mark, "nested too deep", err);
    }
    reader->depth++;
    reader->has_name = false;
    return CLEW_OK;
}

/* Back to the path outside the value just read. */
static void leave_value(struct reader *reader)
{
    reader->has_name = false;
    if (reader->depth > 0) {
        reader->key.len = reader->key_len[reader->depth - 1];
        reader->key.data[reader->key.len] = '\0';
    }
}

static enum clew_status add_name(struct reader *reader,
                                 const yaml_event_t *event,
                                 struct clew_error *err)
{
    enum clew_status status;

    reader->key_len[reader->depth - 1] = reader->key.len;
    if (reader->key.len > 0) {
        (void)buf_append_char(&reader->key, '.'); /* checked below */
    }
    (void)buf_append(&reader->key, event->data.scalar.value,
                     event->data.scalar.length);
    status = buf_status(&reader->key);
    if (status == CLEW_TOO_LARGE) {
        return fail_at(reader, &event->start_mark, "the name is too long", err);
    }
    reader->has_name = true;
    return status;
}

static bool is_null(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;

    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static enum clew_status read_scalar(struct reader *reader,
                                    const yaml_event_t *event,
                                    struct clew_error *err)
{
    struct str value = {(const char *)event->data.scalar.value,
                        event->data.scalar.length};
    enum clew_status status;
    char from[512];

    if (event->data.scalar.anchor) {
        return fail_at(reader, &event->start_mark, "anchors are not used here",
                       err);
    }
    if (reader->depth == 0) {
        /* an empty document is a scalar to the parser */
        return value.len == 0 || is_null(event)
                   ? CLEW_OK
                   : fail_at(reader, &event->start_mark,
                             "expected \"name: value\"", err);
    }
    if (!reader->has_name) {
        return add_name(reader, event, err);
    }
    if (is_null(event)) {
        value.len = 0;
    }
    (void)snprintf(from, sizeof(from), "%s:%zu", reader->path,
                   event->start_mark.line + 1);
    status =
        reader->set(reader->config, buf_str(&reader->key), value, from, err);
    leave_value(reader);
    return status;
}

static enum clew_status read_event(struct reader *reader,
                                   const yaml_event_t *event, int *n_documents,
                                   struct clew_error *err)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return ++*n_documents > 1 ? fail_at(reader, &event->start_mark,
                                            "one document only", err)
                                  : CLEW_OK;
    case YAML_MAPPING_START_EVENT:
        return begin_map(reader, event, err);
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        leave_value(reader);
        return CLEW_OK;
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return fail_at(reader, &event->start_mark, "lists are not used here",
                       err);
    case YAML_ALIAS_EVENT:
        return fail_at(reader, &event->start_mark, "anchors are not used here",
                       err);
    case YAML_STREAM_END_EVENT:
        reader->is_done = true;
        return CLEW_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        break;
    }
    return CLEW_OK;
}

static enum clew_status read_events(struct reader *reader,
                                    struct clew_error *err)
{
    int n_documents = 0;

    while (!reader->is_done) {
        enum clew_status status;
        yaml_event_t event;

        if (!yaml_parser_parse(&reader->yaml, &event)) {
            return clew_fail(err, CLEW_INVALID, "%s:%zu: not valid YAML: %s",
                             reader->path, reader->yaml.problem_mark.line + 1,
                             reader->yaml.problem ? reader->yaml.problem
                                                  : "unreadable");
        }
        status = read_event(reader, &event, &n_documents, err);
        yaml_event_delete(&event);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

static enum clew_status read_bytes(const char *path, struct buf *out,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    char part[4096];
    size_t n;
    FILE *file = fopen(path, "re");

    if (!file) {
        return clew_fail(err,
                         errno == ENOENT || errno == ENOTDIR ? CLEW_NOT_FOUND
                                                             : CLEW_INVALID,
                         "could not read \"%s\": %s", path, strerror(errno));
    }
    do {
        n = fread(part, 1, sizeof(part), file);
        status = buf_append(out, part, n);
    } while (n > 0 && status == CLEW_OK);
    if (status == CLEW_OK && ferror(file)) {
        status = clew_fail(err, CLEW_INVALID, "could not read \"%s\"", path);
    } else if (status != CLEW_OK) {
        (void)clew_fail(err, status, "could not read \"%s\": %s", path,
                        clew_status_text(status));
    }
    (void)fclose(file); /* only read from */
    return status;
}

enum clew_status config_read_file(struct config *config, const char *path,
                                  config_set_fn set, struct clew_error *err)
{
    struct reader reader = {.config = config, .set = set, .path = path};
    enum clew_status status;
    struct buf text;

    buf_init(&text, FILE_LIMIT_BYTES);
    buf_init(&reader.key, PATH_LIMIT_BYTES);
    status = read_bytes(path, &text, err);
    if (status == CLEW_OK && !yaml_parser_initialize(&reader.yaml)) {
        status = clew_no_memory(err);
    } else if (status == CLEW_OK) {
        yaml_parser_set_input_string(
            &reader.yaml, (const unsigned char *)text.data, text.len);
        status = read_events(&reader, err);
        yaml_parser_delete(&reader.yaml);
    }
    buf_release(&reader.key);
    buf_release(&text);
    return status;
}
