/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_http.c - ask an endpoint for vectors. See embed_http.h.
 */
#include "model/embed_http.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "model/breaker.h"
#include "model/embed.h"
#include "model/url_check.h"

#include <curl/curl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TIMEOUT_MS 30000
#define CONNECT_TIMEOUT_MS 5000
#define DEFAULT_BATCH 64
#define MAX_BATCH 2048
#define FAILURES_TO_OPEN 5
#define OPEN_MS 10000
#define MAX_REQUEST_BYTES (64u * 1024 * 1024)
/* Text of one number in an answer, with its comma. */
#define NUMBER_BYTES 32
#define ANSWER_SLACK (64u * 1024)

struct http_embedder {
    struct embedder base;
    struct breaker breaker;
    char *url;
    char *model;
    char *authorization; /* the whole header line, or NULL */
    bool is_local;
    long timeout_ms;
    size_t batch_texts;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT); /* easy_init fails later */
}

/* --- the answer ---------------------------------------------------------- */

static enum clew_status bad_answer(struct clew_error *err, const char *why)
{
    return clew_fail(err, CLEW_UPSTREAM, "the embeddings endpoint %s", why);
}

static bool read_vector(const json_t *numbers, size_t dim, float *out)
{
    double squares = 0.0;

    for (size_t i = 0; i < dim; i++) {
        const json_t *number = json_array_get(numbers, i);
        double value = json_number_value(number);

        if (!json_is_number(number) || !isfinite(value)) {
            return false;
        }
        squares += value * value;
        out[i] = (float)value;
    }
    if (!isfinite(squares)) {
        return false;
    }
    for (size_t i = 0; i < dim && squares > 0.0; i++) {
        out[i] = (float)((double)out[i] / sqrt(squares));
    }
    return true;
}

/* Which text an entry belongs to: its "index", else its place. */
static bool read_index(const json_t *entry, size_t place, size_t count,
                       size_t *out)
{
    const json_t *index = json_object_get(entry, "index");
    json_int_t value = index ? json_integer_value(index) : (json_int_t)place;

    *out = (size_t)value;
    return (!index || json_is_integer(index)) && value >= 0 &&
           (size_t)value < count;
}

/*
 * The vectors of one answer. With `*dim` 0 the first vector decides; `out` may
 * then be NULL to learn just that.
 */
static enum clew_status read_answer(const json_t *answer, size_t count,
                                    size_t *dim, float *out,
                                    struct clew_error *err)
{
    const json_t *data = json_object_get(answer, "data");
    bool seen[MAX_BATCH] = {false};

    if (json_array_size(data) != count) {
        return bad_answer(err, "gave another number of vectors");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(data, i);
        const json_t *numbers = json_object_get(entry, "embedding");
        size_t index = 0;

        if (!read_index(entry, i, count, &index) || seen[index]) {
            return bad_answer(err, "gave vectors out of order");
        }
        seen[index] = true;
        *dim = *dim ? *dim : json_array_size(numbers);
        if (*dim == 0 || *dim > EMBED_MAX_DIM ||
            json_array_size(numbers) != *dim) {
            return bad_answer(err, "gave a vector of another dimension");
        }
        if (out && !read_vector(numbers, *dim, out + index * *dim)) {
            return bad_answer(err, "gave a vector that is not numbers");
        }
    }
    return CLEW_OK;
}

/* --- the request --------------------------------------------------------- */

static enum clew_status write_request(const struct http_embedder *model,
                                      const struct str *texts, size_t count,
                                      struct buf *out)
{
    json_t *body = json_object();
    json_t *input = json_array();
    bool ok = body && input && json_set_cstr(body, "model", model->model);
    enum clew_status status = CLEW_NO_MEMORY;

    for (size_t i = 0; i < count && ok; i++) {
        /* some servers refuse an empty text */
        struct str text = texts[i].len ? texts[i] : STR(" ");

        ok = json_array_append_new(input, json_stringn(text.s, text.len)) == 0;
    }
    if (ok) {
        ok = json_set(body, "input", input);
        input = NULL;
    }
    ok = ok && json_set_cstr(body, "encoding_format", "float");
    if (ok) {
        status = json_write(out, body);
    }
    json_decref(input);
    json_decref(body);
    return status;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *arg)
{
    /* a short count makes curl stop: the answer is over its bound */
    return buf_append(arg, bytes, size * count) == CLEW_OK ? size * count : 0;
}

static enum clew_status status_of(CURL *curl, CURLcode code,
                                  struct clew_error *err)
{
    long http = 0;

    if (code == CURLE_OPERATION_TIMEDOUT) {
        return clew_fail(err, CLEW_TIMEOUT,
                         "the embeddings endpoint took too long");
    }
    if (code == CURLE_WRITE_ERROR) {
        return bad_answer(err, "sent too much");
    }
    if (code != CURLE_OK) {
        return clew_fail(err, CLEW_UPSTREAM,
                         "could not reach the embeddings endpoint: %s",
                         curl_easy_strerror(code));
    }
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http);
    if (http == 429) {
        return clew_fail(err, CLEW_RATE_LIMITED,
                         "the embeddings endpoint asks to slow down");
    }
    if (http != 200) {
        return clew_fail(err, CLEW_UPSTREAM,
                         "the embeddings endpoint answered %ld", http);
    }
    return CLEW_OK;
}

static bool set_options(const struct http_embedder *model, CURL *curl,
                        struct curl_slist *headers, const struct buf *request,
                        struct buf *answer)
{
    bool ok = curl_easy_setopt(curl, CURLOPT_URL, model->url) == CURLE_OK;

    ok &=
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, model->timeout_ms) ==
          CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)CONNECT_TIMEOUT_MS) == CURLE_OK;
    /* what is for this machine must not leave through a proxy */
    ok &= !model->is_local ||
          curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->data) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                           (curl_off_t)request->len) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK;
    return ok;
}

static struct curl_slist *make_headers(const struct http_embedder *model)
{
    struct curl_slist *list =
        curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *longer = list;

    if (list && model->authorization) {
        longer = curl_slist_append(list, model->authorization);
    }
    if (!longer) {
        curl_slist_free_all(list);
    }
    return longer;
}

static enum clew_status post(const struct http_embedder *model, CURL *curl,
                             const struct buf *request, struct buf *answer,
                             struct clew_error *err)
{
    struct curl_slist *headers = make_headers(model);
    enum clew_status status = CLEW_NO_MEMORY;

    if (headers && set_options(model, curl, headers, request, answer)) {
        status = status_of(curl, curl_easy_perform(curl), err);
    }
    curl_slist_free_all(headers);
    return status;
}

/* One batch through an open connection. */
static enum clew_status ask(const struct http_embedder *model, CURL *curl,
                            const struct str *texts, size_t count, size_t *dim,
                            float *out, struct clew_error *err)
{
    size_t widest = *dim ? *dim : EMBED_MAX_DIM;
    json_t *json = NULL;
    struct buf request;
    struct buf answer;
    enum clew_status status;

    buf_init(&request, MAX_REQUEST_BYTES);
    buf_init(&answer, count * widest * NUMBER_BYTES + ANSWER_SLACK);
    status = write_request(model, texts, count, &request);
    if (status == CLEW_OK) {
        status = post(model, curl, &request, &answer, err);
    }
    if (status == CLEW_OK &&
        json_parse_values(buf_str(&answer), &json, NULL) != CLEW_OK) {
        status = bad_answer(err, "did not answer in JSON");
    }
    if (status == CLEW_OK) {
        status = read_answer(json, count, dim, out, err);
        json_decref(json);
    }
    buf_release(&request);
    buf_release(&answer);
    return status;
}

/* Failures of the endpoint count; failures of our own do not. */
static bool is_upstream_failure(enum clew_status status)
{
    return status == CLEW_UPSTREAM || status == CLEW_TIMEOUT ||
           status == CLEW_RATE_LIMITED;
}

static enum clew_status ask_guarded(struct http_embedder *model, CURL *curl,
                                    const struct str *texts, size_t count,
                                    size_t *dim, float *out,
                                    struct clew_error *err)
{
    enum clew_status status;

    if (!breaker_allow(&model->breaker)) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "the embeddings endpoint keeps failing; waiting");
    }
    status = ask(model, curl, texts, count, dim, out, err);
    breaker_report(&model->breaker, !is_upstream_failure(status));
    return status;
}

static enum clew_status run(struct embedder *embedder, const struct str *texts,
                            size_t count, float *out, struct clew_error *err)
{
    struct http_embedder *model = (struct http_embedder *)embedder;
    CURL *curl = curl_easy_init();
    enum clew_status status = curl ? CLEW_OK : CLEW_NO_MEMORY;
    size_t done = 0;

    while (done < count && status == CLEW_OK) {
        size_t left = count - done;
        size_t n = left < model->batch_texts ? left : model->batch_texts;
        size_t dim = embedder->dim;

        status = ask_guarded(model, curl, texts + done, n, &dim,
                             out + done * embedder->dim, err);
        done += n;
    }
    curl_easy_cleanup(curl);
    return status;
}

/* --- life ---------------------------------------------------------------- */

static void free_http(struct embedder *embedder)
{
    struct http_embedder *model = (struct http_embedder *)embedder;

    breaker_release(&model->breaker);
    alloc_free(model->url);
    alloc_free(model->model);
    alloc_free_secret(model->authorization,
                      model->authorization ? strlen(model->authorization) : 0);
    alloc_free(model);
}

static const struct embedder_ops ops = {"http", run, free_http, NULL};

/* The endpoint itself: "/embeddings" is added to a base address. */
static char *make_url(const char *url)
{
    struct str text = str_of(url);
    struct buf out;
    size_t len;

    while (text.len > 0 && text.s[text.len - 1] == '/') {
        text.len--;
    }
    buf_init(&out, 4096);
    (void)buf_append_str(&out, text);
    if (!str_ends(text, STR("/embeddings"))) {
        (void)buf_append_cstr(&out, "/embeddings");
    }
    if (buf_status(&out) != CLEW_OK) {
        buf_release(&out);
        return NULL;
    }
    return buf_take(&out, &len);
}

static bool copy_options(struct http_embedder *model,
                         const struct embed_http_options *options)
{
    struct buf line;
    size_t len;

    model->url = make_url(options->url);
    model->model = alloc_string(options->model);
    if (options->key && options->key[0]) {
        buf_init(&line, 16384);
        (void)buf_printf(&line, "Authorization: Bearer %s", options->key);
        if (buf_status(&line) == CLEW_OK) {
            model->authorization = buf_take(&line, &len);
        }
        buf_release(&line);
        if (!model->authorization) {
            return false;
        }
    }
    return model->url && model->model;
}

/* Learn the dimension with one short text. */
static enum clew_status learn_dim(struct http_embedder *model,
                                  struct clew_error *err)
{
    struct str text = STR("dimension");
    CURL *curl = curl_easy_init();
    enum clew_status status = CLEW_NO_MEMORY;

    if (curl) {
        status =
            ask_guarded(model, curl, &text, 1, &model->base.dim, NULL, err);
    }
    curl_easy_cleanup(curl);
    return status;
}

static enum clew_status check_options(const struct embed_http_options *options,
                                      bool *out_is_local,
                                      struct clew_error *err)
{
    if (!options->model || !options->model[0]) {
        return clew_fail_field(err, "embed.model", "a model must be named");
    }
    if (options->dim > EMBED_MAX_DIM) {
        return clew_fail_field(err, "embed.dim", "at most %d", EMBED_MAX_DIM);
    }
    if (options->key && strpbrk(options->key, "\r\n")) {
        return clew_fail_field(err, "embed.key", "a key is one line");
    }
    return url_check(options->url, "embed.url", out_is_local, err);
}

static size_t batch_of(const struct embed_http_options *options)
{
    size_t batch = options->batch_texts ? options->batch_texts : DEFAULT_BATCH;

    return batch < MAX_BATCH ? batch : MAX_BATCH;
}

enum clew_status embed_http_open(const struct embed_http_options *options,
                                 struct embedder **out_embedder,
                                 struct clew_error *err)
{
    struct http_embedder *model;
    bool is_local = false;
    enum clew_status status = check_options(options, &is_local, err);

    if (status != CLEW_OK) {
        return status;
    }
    (void)pthread_once(&curl_once, start_curl); /* cannot fail */
    model = alloc_zero(1, sizeof(*model));
    if (!model) {
        return CLEW_NO_MEMORY;
    }
    model->base.ops = &ops;
    model->base.dim = options->dim;
    model->is_local = is_local;
    model->timeout_ms =
        (long)(options->timeout_ms ? options->timeout_ms : DEFAULT_TIMEOUT_MS);
    model->batch_texts = batch_of(options);
    breaker_init(&model->breaker,
                 options->clock ? options->clock : &clock_system,
                 FAILURES_TO_OPEN, OPEN_MS);
    status = copy_options(model, options) ? CLEW_OK : CLEW_NO_MEMORY;
    if (status == CLEW_OK && model->base.dim == 0) {
        status = learn_dim(model, err);
    }
    if (status != CLEW_OK) {
        free_http(&model->base);
        return status;
    }
    (void)snprintf(model->base.id, sizeof(model->base.id), "http:%.72s:%zu",
                   options->model, model->base.dim);
    *out_embedder = &model->base;
    return CLEW_OK;
}
