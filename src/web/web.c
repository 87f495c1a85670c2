/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.c - the page: static files from the program itself. See web.h.
 */
#include "web/web.h"

#include "http/gzip.h"

#include <string.h>

#define START "index.html"
#define PREFIX "/assets/"

/* No inline script or style, nothing from elsewhere, no frame around it; and
 * text can only ever become text: no string is turned into markup or code. */
#define POLICY                                                                 \
    "default-src 'self'; base-uri 'none'; form-action 'none'; "                \
    "frame-ancestors 'none'; object-src 'none'; "                              \
    "require-trusted-types-for 'script'; trusted-types 'none'"

struct web_file {
    const char *name;
    const unsigned char *packed;
    size_t n_packed;
};

/* Made when built: WEB_HASH, and `files`, each packed by gzip. */
#include "web/files.inc"

#define N_FILES (sizeof(files) / sizeof(files[0]))

static const struct {
    const char *ending;
    const char *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

bool web_part_at(size_t i, struct web_part *out)
{
    if (i >= N_FILES) {
        return false;
    }
    *out = (struct web_part){files[i].name, files[i].packed, files[i].n_packed};
    return true;
}

static const struct web_file *find(struct str name)
{
    for (size_t i = 0; i < N_FILES; i++) {
        if (str_eq(name, str_of(files[i].name))) {
            return &files[i];
        }
    }
    return NULL;
}

static const char *type_of(const struct web_file *file)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (str_ends(str_of(file->name), str_of(types[i].ending))) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

static bool has_word(const struct http_request *request, const char *header,
                     const char *word)
{
    return str_ifind(http_header_of(request, header), str_of(word), 0) !=
           SIZE_MAX;
}

/* The file a request is for; NULL if it is none of ours. */
static const struct web_file *wanted(const struct http_request *request)
{
    struct str path = request->path;
    struct str prefix = STR(PREFIX WEB_HASH "/");

    if (request->method != HTTP_GET && request->method != HTTP_HEAD) {
        return NULL;
    }
    if (str_eq(path, STR("/"))) {
        return has_word(request, "accept", "text/html") ? find(STR(START))
                                                        : NULL;
    }
    if (!str_starts(path, prefix)) {
        return NULL;
    }
    path = str_sub(path, prefix.len, path.len);
    return str_eq(path, STR(START)) ? NULL : find(path);
}

static enum clew_status add_body(const struct http_request *request,
                                 struct http_response *response,
                                 const struct web_file *file,
                                 struct clew_error *err)
{
    struct str packed = {(const char *)file->packed, file->n_packed};
    enum clew_status status;

    if (!has_word(request, "accept-encoding", "gzip")) {
        return gzip_unpack(packed, NULL, &response->body, err);
    }
    status =
        http_response_header(request, response, "content-encoding", "gzip");
    return status == CLEW_OK ? buf_append_str(&response->body, packed) : status;
}

static enum clew_status answer(const struct http_request *request,
                               struct http_response *response,
                               const struct web_file *file,
                               struct clew_error *err)
{
    bool is_start = strcmp(file->name, START) == 0;
    /* the start page names the hash: it is asked for again each time */
    const struct {
        const char *name;
        const char *value;
    } headers[] = {
        {"content-type", type_of(file)},
        {"content-security-policy", POLICY},
        {"cache-control",
         is_start ? "no-cache" : "public, max-age=31536000, immutable"},
        {"etag", "\"" WEB_HASH "\""},
        {"vary", "accept, accept-encoding"},
        {"cross-origin-opener-policy", "same-origin"},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(headers) / sizeof(headers[0]) && status == CLEW_OK; i++) {
        status = http_response_header(request, response, headers[i].name,
                                      headers[i].value);
    }
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (has_word(request, "if-none-match", "\"" WEB_HASH "\"")) {
        response->status = 304;
        return CLEW_OK;
    }
    response->status = 200;
    return add_body(request, response, file, err);
}

void web_handle(void *arg, const struct http_request *request,
                struct http_response *response)
{
    const struct web *web = arg;
    const struct web_file *file = wanted(request);
    struct clew_error err = {0};
    enum clew_status status;

    if (!file) {
        web->next(web->next_arg, request, response);
        return;
    }
    response->route = str_eq(request->path, STR("/")) ? "/" : "/assets";
    status = answer(request, response, file, &err);
    if (status != CLEW_OK) {
        http_response_error(request, response, status, &err);
    }
}

bool web_admit(void *arg, const struct http_request *request,
               struct http_response *response)
{
    const struct web *web = arg;

    return wanted(request) || !web->next_admit ||
           web->next_admit(web->next_arg, request, response);
}
