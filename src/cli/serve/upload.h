/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - POST /api/v1/import/file: an export of another program, sent
 * whole.
 *
 * What `clew import` does, for whoever has only the page: the body is kept in a
 * file beside the data while it is read, every turn goes through the API with
 * the caller's own key, and the file goes. One at a time; the same again adds
 * only what is new, so one that was broken off is sent again.
 * Thread-safety: internally locked.
 */
#ifndef CLI_SERVE_UPLOAD_H
#define CLI_SERVE_UPLOAD_H

#include "http/http.h"

#include <stdatomic.h>
#include <stdbool.h>

struct api_front;
struct config;
struct engine;

struct upload {
    struct engine *engine;
    struct config *config;
    struct api_front *front;
    atomic_bool is_busy;
};

/* An http_handler and an http_admit; `arg` is a struct upload. */
void upload_handle(void *arg, const struct http_request *request,
                   struct http_response *response);
bool upload_admit(void *arg, const struct http_request *request,
                  struct http_response *response);

#endif
