/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c - queue, thread and spool. See recorder.h.
 *
 * Order matters: a call must be stored before the one that continues it. So
 * there is one thread, and what is in memory is older than any file: as long as
 * anything waits in the spool, what comes in goes behind it, and what has to
 * leave memory goes before it.
 */
#include "proxy/recorder.h"

#include "base/alloc.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/call/call.h"
#include "engine/core/engine.h"
#include "engine/key/caller.h"
#include "proxy/record.h"
#include "proxy/spool.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Records linked in one transaction, their bytes and what they are parsed to:
 * large ones go alone. */
#define BATCH 64
#define BATCH_BYTES (16u * 1024 * 1024)
#define BATCH_TREE_BYTES (2 * BATCH_BYTES)
/* How long the first record of a batch waits for others: one commit costs the
 * calls under way more than this delay costs anyone. */
#define GATHER_MS 10

struct recorder {
    struct engine *engine;
    struct recorder_options options;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    struct record *head;
    struct record *tail;
    size_t n_queued;
    size_t queued_bytes;
    /* taken from memory by the thread, not stored yet; what it took from files
     * is still counted as files */
    size_t n_busy;
    /* these many more go one by one: one of them spoils the others */
    size_t n_careful;
    struct spool spool;
    bool is_closing;
    bool is_store_down;
    struct recorder_stats stats;
};

/* --- with the lock held ----------------------------------------------------
 */

static void lose(struct recorder *r, struct record *record)
{
    r->stats.n_lost++;
    record_free(record);
}

typedef enum clew_status (*spool_fn)(struct spool *spool, struct str bytes,
                                     struct clew_error *err);

/* Write a record to the spool; it is still the caller's. */
static bool write_to_spool(struct recorder *r, const struct record *record,
                           spool_fn add_it)
{
    struct buf bytes;
    bool is_ok;

    buf_init(&bytes, 2 * (size_t)LIMIT_BODY_BYTES);
    is_ok = record_write(record, &bytes) == CLEW_OK &&
            add_it(&r->spool, buf_str(&bytes), NULL) == CLEW_OK;
    r->stats.n_spooled += is_ok;
    buf_release(&bytes);
    return is_ok;
}

static void push(struct recorder *r, struct record *record)
{
    record->next = NULL;
    if (r->tail) {
        r->tail->next = record;
    } else {
        r->head = record;
    }
    r->tail = record;
    r->n_queued++;
    r->queued_bytes += record_size(record);
}

/* Put it back where pop() took it from. */
static void push_back(struct recorder *r, struct record *record)
{
    record->next = r->head;
    r->head = record;
    r->tail = r->tail ? r->tail : record;
    r->n_queued++;
    r->queued_bytes += record_size(record);
}

static struct record *pop(struct recorder *r)
{
    struct record *record = r->head;

    r->head = record->next;
    r->tail = r->head ? r->tail : NULL;
    r->n_queued--;
    r->queued_bytes -= record_size(record);
    return record;
}

static void turn_round(struct recorder *r)
{
    struct record *turned = NULL;

    r->tail = r->head;
    while (r->head) {
        struct record *next = r->head->next;

        r->head->next = turned;
        turned = r->head;
        r->head = next;
    }
    r->head = turned;
}

/* What is in memory goes to files, before those that are there. The newest goes
 * first: what finds no room stays where it is, and is older than any file. */
static void spill(struct recorder *r)
{
    turn_round(r);
    while (r->head && write_to_spool(r, r->head, spool_add_before)) {
        record_free(pop(r));
    }
    turn_round(r);
}

void recorder_take(struct recorder *r, struct record *record)
{
    (void)pthread_mutex_lock(&r->lock);
    if (r->spool.n_files == 0 &&
        r->queued_bytes + record_size(record) <= r->options.queue_bytes) {
        push(r, record);
    } else if (write_to_spool(r, record, spool_add)) {
        record_free(record);
    } else {
        lose(r, record);
    }
    /* while it gathers, the thread need not wake for each */
    if (r->n_queued <= 1 || r->n_queued >= BATCH) {
        (void)pthread_cond_broadcast(&r->changed);
    }
    (void)pthread_mutex_unlock(&r->lock);
}

/* --- the thread ------------------------------------------------------------
 */

/* One batch on its way: records of one tenant, in order. */
struct batch {
    struct record *records[BATCH];
    int64_t numbers[BATCH]; /* of spool files; 0 = from memory */
    size_t count;
    size_t n_read; /* of them; the others go back, unread */
    size_t n_bytes;
    size_t n_tree_bytes;
};

static bool fits(const struct recorder *r, const struct batch *batch,
                 const struct record *record)
{
    size_t limit = r->n_careful > 0 ? 1 : BATCH;

    return batch->count == 0 ||
           (batch->count < limit &&
            record->tenant == batch->records[0]->tenant &&
            batch->n_bytes + record_size(record) <= BATCH_BYTES &&
            batch->n_tree_bytes + record->tree_bytes <= BATCH_TREE_BYTES);
}

static void add(struct batch *batch, struct record *record, int64_t number)
{
    batch->numbers[batch->count] = number;
    batch->records[batch->count++] = record;
    batch->n_bytes += record_size(record);
    batch->n_tree_bytes += record->tree_bytes;
}

/* The oldest file is none that can be stored: the others must not wait for it.
 * Damaged bytes are of no use; what cannot be read may be whole. */
static void pass_over(struct recorder *r, int64_t number,
                      enum clew_status status, bool is_read)
{
    bool is_useless = is_read || status == CLEW_TOO_LARGE;

    if (is_useless) {
        spool_drop(&r->spool, number);
    } else {
        spool_set_aside(&r->spool, number);
    }
    r->stats.n_lost++;
    log_event(LOG_WARN, "proxy", "spool", "number=%lld reason=\"%s\"",
              (long long)number,
              is_useless ? "no record, dropped" : "cannot be read, set aside");
}

/* The oldest files, as long as they fit together. */
static void take_from_spool(struct recorder *r, struct batch *batch)
{
    struct record *record = NULL;
    struct buf bytes;
    struct clew_error err;
    int64_t number = 0;
    bool is_read;
    enum clew_status status;

    buf_init(&bytes, 2 * (size_t)LIMIT_BODY_BYTES);
    for (;;) {
        status = spool_next(&r->spool, number, &bytes, &number, &err);
        is_read = status == CLEW_OK;
        if (is_read) {
            status = record_read(buf_str(&bytes), &record, &err);
        }
        /* of no use: when those before it are stored, it goes */
        if (batch->count == 0 &&
            (status == CLEW_CORRUPT || status == CLEW_TOO_LARGE)) {
            pass_over(r, number, status, is_read);
            continue;
        }
        if (status != CLEW_OK || !fits(r, batch, record)) {
            break;
        }
        add(batch, record, number);
        record = NULL;
    }
    if (status == CLEW_NOT_FOUND && batch->count == 0) {
        /* the folder was meddled with: there is nothing in it */
        r->spool.n_files = 0;
        r->spool.n_bytes = 0;
    }
    record_free(record);
    buf_release(&bytes);
}

static void take_batch(struct recorder *r, struct batch *batch)
{
    batch->count = 0;
    batch->n_bytes = 0;
    batch->n_tree_bytes = 0;
    if (r->head) { /* older than whatever is in the spool */
        while (r->head && fits(r, batch, r->head)) {
            add(batch, pop(r), 0);
        }
    } else if (r->spool.n_files > 0) {
        take_from_spool(r, batch);
    }
    r->n_busy = 0;
    for (size_t i = 0; i < batch->count; i++) {
        r->n_busy += batch->numbers[i] == 0;
    }
}

/* Who called, once for each program: they are mostly one. That it is not noted
 * is no reason to store a call again. */
static void note_callers(const struct recorder *r, const struct scope *scope,
                         const struct batch *batch)
{
    const char *last = "";

    for (size_t i = batch->count; i-- > 0;) {
        const struct record *record = batch->records[i];

        if (record->client[0] && strcmp(record->client, last) != 0) {
            last = record->client;
            clew_ignore(caller_note(r->engine, scope, str_of(last),
                                    CALLER_PROXY, record->created_at_ms, NULL));
        }
    }
}

/* Read records, until their replies are too much at once: what they unpack to
 * and are parsed to shows only then. `*out_n` of them can be linked. */
static void read_batch(struct batch *batch, struct arena *arena,
                       struct record_call calls[BATCH],
                       struct call_input inputs[BATCH], size_t *out_n,
                       struct recorder_stats *gain)
{
    size_t n_bytes = 0;
    size_t n = 0;
    size_t i;

    for (i = 0; i < batch->count && n_bytes < BATCH_TREE_BYTES; i++) {
        if (record_parse(batch->records[i], arena, &calls[i], NULL) ==
            CLEW_OK) {
            inputs[n] = calls[i].input;
            /* from a file it may have been stored before a crash */
            inputs[n++].is_first = batch->numbers[i] == 0;
        } else {
            gain->n_refused++;
        }
        n_bytes += calls[i].reply_bytes;
    }
    batch->n_read = i;
    *out_n = n;
}

/* Read and link a batch without the lock. */
static enum clew_status store(struct recorder *r, struct batch *batch,
                              struct recorder_stats *gain)
{
    struct record_call calls[BATCH];
    struct call_input inputs[BATCH];
    struct call_result results[BATCH];
    enum clew_status statuses[BATCH];
    struct scope scope = {.tenant = batch->records[0]->tenant};
    struct clew_error err = {0};
    struct arena arena;
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    read_batch(batch, &arena, calls, inputs, &n, gain);
    if (n > 0) {
        status = call_link_many(r->engine, &scope, &arena, inputs, n, results,
                                statuses, &err);
    }
    if (status == CLEW_OK) {
        note_callers(r, &scope, batch);
    }
    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        gain->n_refused += statuses[i] != CLEW_OK;
        gain->n_stored += statuses[i] == CLEW_OK;
        gain->n_replayed += statuses[i] == CLEW_OK && !inputs[i].is_first;
        gain->n_linked += statuses[i] == CLEW_OK &&
                          !uuid_is_nil(&results[i].request.parent_id);
    }
    for (size_t i = 0; i < batch->n_read; i++) {
        record_call_release(&calls[i]);
    }
    arena_release(&arena);
    if (status != CLEW_OK) {
        log_event(LOG_WARN, "proxy", "capture",
                  "status=%s records=%zu reason=\"%s\"",
                  clew_status_code(status), batch->n_read, err.message);
    }
    return status;
}

/* The store is away, and will be back. */
static bool is_outage(enum clew_status status)
{
    return status == CLEW_UNAVAILABLE || status == CLEW_BUSY ||
           status == CLEW_TIMEOUT;
}

/* All from the nth on go where they came from. */
static void give_back(struct recorder *r, struct batch *batch, size_t from)
{
    for (size_t i = batch->count; i-- > from;) {
        if (batch->numbers[i]) {
            record_free(batch->records[i]); /* its file is still there */
        } else {
            push_back(r, batch->records[i]);
        }
    }
    batch->count = from;
}

/* One of them was not taken; which, shows when they go one by one. */
static void part(struct recorder *r, struct batch *batch)
{
    r->n_careful = batch->count;
    give_back(r, batch, 0);
}

/* The store did not take it: keep what can be kept, in order. */
static void put_back(struct recorder *r, struct batch *batch,
                     enum clew_status status)
{
    bool is_passing = is_outage(status);

    r->is_store_down = is_passing;
    for (size_t i = batch->count; i-- > 0;) {
        if (!is_passing) {
            /* it will never be taken */
            if (batch->numbers[i]) {
                spool_drop(&r->spool, batch->numbers[i]);
            }
            lose(r, batch->records[i]);
        } else if (batch->numbers[i]) {
            record_free(batch->records[i]); /* its file is still there */
        } else {
            push_back(r, batch->records[i]);
        }
    }
    if (is_passing) {
        spill(r);
    }
}

static void settle(struct recorder *r, struct batch *batch,
                   const struct recorder_stats *gain)
{
    r->is_store_down = false;
    r->stats.n_stored += gain->n_stored;
    r->stats.n_refused += gain->n_refused;
    r->stats.n_replayed += gain->n_replayed;
    r->stats.n_linked += gain->n_linked;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->numbers[i]) {
            spool_drop(&r->spool, batch->numbers[i]);
        }
        record_free(batch->records[i]);
    }
}

static void wait_ms(struct recorder *r, int64_t ms)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&r->changed, &r->lock, &until);
}

/* Let a batch come together. */
static void gather(struct recorder *r)
{
    int64_t until_ns = clock_mono_ns() + GATHER_MS * 1000000;

    while (!r->is_closing && r->n_queued > 0 && r->n_queued < BATCH) {
        int64_t left_ns = until_ns - clock_mono_ns();

        if (left_ns <= 0) {
            return;
        }
        wait_ms(r, left_ns / 1000000 + 1);
    }
}

static bool has_work(const struct recorder *r)
{
    return r->head || r->spool.n_files > 0;
}

static void *run(void *arg)
{
    struct recorder *r = arg;

    background_begin("clew-recorder");
    (void)pthread_mutex_lock(&r->lock);
    for (;;) {
        struct recorder_stats gain = {0};
        struct batch batch;
        enum clew_status status;

        while (!has_work(r) && !r->is_closing) {
            (void)pthread_cond_wait(&r->changed, &r->lock);
        }
        if (!has_work(r) || (r->is_closing && r->is_store_down)) {
            break;
        }
        gather(r);
        take_batch(r, &batch);
        if (batch.count == 0) {
            if (r->spool.n_files > 0) { /* it cannot be read just now */
                if (r->is_closing) {
                    break;
                }
                wait_ms(r, r->options.retry_ms);
            }
            continue;
        }
        (void)pthread_mutex_unlock(&r->lock);
        status = store(r, &batch, &gain);
        (void)pthread_mutex_lock(&r->lock);
        give_back(r, &batch, batch.n_read);
        if (r->n_careful > 0) {
            r->n_careful--;
        }
        if (status == CLEW_OK) {
            settle(r, &batch, &gain);
        } else if (batch.count > 1 && !is_outage(status)) {
            part(r, &batch);
        } else {
            put_back(r, &batch, status);
        }
        r->n_busy = 0;
        (void)pthread_cond_broadcast(&r->changed);
        if (r->is_store_down && !r->is_closing) {
            wait_ms(r, r->options.retry_ms);
        }
    }
    spill(r);
    while (r->head) {
        lose(r, pop(r));
    }
    (void)pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* --- from outside ----------------------------------------------------------
 */

enum clew_status recorder_open(struct engine *engine,
                               const struct recorder_options *options,
                               struct recorder **out_recorder,
                               struct clew_error *err)
{
    struct recorder *r = alloc_zero(1, sizeof(*r));
    pthread_condattr_t attr;
    enum clew_status status;

    if (!r) {
        return clew_no_memory(err);
    }
    r->engine = engine;
    r->options = *options;
    status =
        spool_open(&r->spool, options->spool_dir, options->spool_bytes, err);
    if (status != CLEW_OK) {
        spool_close(&r->spool);
        alloc_free(r);
        return status;
    }
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&r->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (pthread_create(&r->thread, NULL, run, r) != 0) {
        spool_close(&r->spool);
        alloc_free(r);
        return clew_fail(err, CLEW_UNAVAILABLE, "could not start a thread");
    }
    *out_recorder = r;
    return CLEW_OK;
}

void recorder_close(struct recorder *r)
{
    if (!r) {
        return;
    }
    (void)pthread_mutex_lock(&r->lock);
    r->is_closing = true;
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_join(r->thread, NULL);
    spool_close(&r->spool);
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    alloc_free(r);
}

void recorder_miss(struct recorder *r)
{
    (void)pthread_mutex_lock(&r->lock);
    r->stats.n_lost++;
    (void)pthread_mutex_unlock(&r->lock);
    log_event(LOG_WARN, "proxy", "capture",
              "records=1 reason=\"it could not be kept\"");
}

void recorder_stats(struct recorder *r, struct recorder_stats *out)
{
    (void)pthread_mutex_lock(&r->lock);
    *out = r->stats;
    out->n_waiting =
        (int64_t)r->n_queued + (int64_t)r->n_busy + r->spool.n_files;
    out->spool_bytes = r->spool.n_bytes;
    (void)pthread_mutex_unlock(&r->lock);
}

int recorder_drain(struct recorder *r, int64_t timeout_ms)
{
    int64_t until_ns = clock_mono_ns() + timeout_ms * 1000000;
    bool is_empty;

    (void)pthread_mutex_lock(&r->lock);
    while ((has_work(r) || r->n_busy > 0) && clock_mono_ns() < until_ns) {
        wait_ms(r, 50);
    }
    is_empty = !has_work(r) && r->n_busy == 0;
    (void)pthread_mutex_unlock(&r->lock);
    return is_empty;
}
