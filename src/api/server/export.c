/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - GET /api/v1/export and POST /api/v1/import.
 *
 * An export is written to a nameless file first: it then shows one moment,
 * and a slow reader holds up nobody.
 */
#include "api/handlers.h"

#include "base/alloc.h"
#include "engine/core/engine.h"
#include "engine/proof/export.h"
#include "engine/proof/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct spool {
    int fd;
};

static ptrdiff_t read_spool(void *arg, char *out, size_t cap)
{
    const struct spool *spool = arg;
    ssize_t n;

    do {
        n = read(spool->fd, out, cap);
    } while (n < 0 && errno == EINTR);
    return n;
}

static void free_spool(void *arg)
{
    struct spool *spool = arg;

    if (!spool) {
        return;
    }
    if (spool->fd >= 0) {
        (void)close(spool->fd);
    }
    alloc_free(spool);
}

/* A file without a name, beside the data: it holds the same secrets. */
static enum clew_status open_spool(struct engine *engine,
                                   struct spool **out_spool,
                                   struct clew_error *err)
{
    struct spool *spool = alloc_zero(1, sizeof(*spool));
    char path[4096];

    if (!spool) {
        return clew_no_memory(err);
    }
    (void)snprintf(path, sizeof(path), "%s/export-XXXXXX", engine->data_dir);
    spool->fd = mkostemp(path, O_CLOEXEC);
    if (spool->fd < 0) {
        free_spool(spool);
        return clew_fail(err, CLEW_UNAVAILABLE, "could not make a file: %s",
                         strerror(errno));
    }
    (void)unlink(path);
    *out_spool = spool;
    return CLEW_OK;
}

enum clew_status export_get(struct api_call *call, struct clew_error *err)
{
    struct spool *spool = NULL;
    enum clew_status status = open_spool(call->engine, &spool, err);

    if (status == CLEW_OK) {
        status = export_write(call->engine, &call->scope, call->arena,
                              spool->fd, err);
    }
    if (status == CLEW_OK && lseek(spool->fd, 0, SEEK_SET) != 0) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not rewind");
    }
    if (status == CLEW_OK) {
        status = http_response_header(call->request, call->response,
                                      "content-type", "application/x-ndjson");
    }
    if (status != CLEW_OK) {
        free_spool(spool);
        return status;
    }
    call->response->stream =
        (struct http_stream){read_spool, free_spool, spool};
    return CLEW_OK;
}

enum clew_status import_post(struct api_call *call, struct clew_error *err)
{
    struct restore_report report = {0};
    struct restore_input input = {0};
    bool is_given = false; /* it is the same either way */
    enum clew_status status = json_get_array(
        call->body, "rows", JSON_REQUIRED, RESTORE_MAX_ROWS, &input.lines, err);

    if (status == CLEW_OK) {
        status = json_get_bool(call->body, "restore_forgotten", JSON_OPTIONAL,
                               &input.brings_back, err);
    }
    if (status == CLEW_OK) {
        status = api_body_begun(call, &is_given, &input.sent_at_ms, err);
    }
    if (status == CLEW_OK) {
        status = restore_rows(call->engine, &call->scope, call->arena, &input,
                              &report, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    if (!call->out || !json_set_int(call->out, "rows", report.n_rows) ||
        !json_set_int(call->out, "added", report.n_added) ||
        !json_set_int(call->out, "forgotten", report.n_forgotten)) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}
