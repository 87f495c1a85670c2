/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - one line per event on stderr. See log.h.
 *
 * A line is built on the stack and leaves with one write(), so lines of
 * several threads or processes never mix. Equal lines are found by hash in a
 * small table; a line that was held back is counted, and the count is written
 * when its second is over.
 */
#include "base/log.h"

#include "base/clock.h"
#include "base/str.h"
#include "base/one_line.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define N_COMPONENTS 16
#define COMPONENT_BYTES 24
#define N_SLOTS 64
#define BURST 10
#define WINDOW_NS (1000LL * 1000 * 1000)

struct levels {
    enum log_level fallback;
    enum log_level most; /* the most talkative of all */
    size_t n_components;
    struct {
        char name[COMPONENT_BYTES];
        enum log_level level;
    } components[N_COMPONENTS];
};

/* A line seen in its current second. */
struct slot {
    uint64_t hash;
    int64_t since_ns;
    unsigned int n_seen;
    char label[64]; /* component and event, for the count */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock: levels, slots. */
static struct levels levels = {LOG_INFO, LOG_INFO, 0, {{{0}, LOG_ERROR}}};
static struct slot slots[N_SLOTS];
/* Copies that are read without it. */
static atomic_int most_level = LOG_INFO;
static atomic_int out_fd = STDERR_FILENO;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static bool parse_level(struct str text, enum log_level *out)
{
    for (size_t i = 0; i < 4; i++) {
        if (str_ieq(text, str_of(level_names[i]))) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

/* One part of the string: "debug" or "http=debug". */
static bool parse_part(struct str part, struct levels *out)
{
    size_t sign = str_find(part, STR("="), 0);
    struct str name = str_trim(str_sub(part, 0, sign));
    enum log_level level;

    if (sign == SIZE_MAX) {
        if (!parse_level(str_trim(part), &level)) {
            return false;
        }
        out->fallback = level;
    } else {
        struct str word = str_trim(str_sub(part, sign + 1, part.len));

        if (!parse_level(word, &level) || name.len == 0 ||
            name.len >= COMPONENT_BYTES || out->n_components == N_COMPONENTS) {
            return false;
        }
        memcpy(out->components[out->n_components].name, name.s, name.len);
        out->components[out->n_components].level = level;
        out->n_components++;
    }
    return true;
}

enum clew_status log_setup(const char *spec, struct clew_error *err)
{
    struct levels parsed = {LOG_INFO, LOG_INFO, 0, {{{0}, LOG_ERROR}}};
    struct str rest = str_of(spec);
    struct str part;

    while (str_split(&rest, ',', &part)) {
        if (!parse_part(part, &parsed)) {
            return clew_fail_field(
                err, "log.level",
                "\"%.*s\" is no log level: error, warn, info, debug, or "
                "component=level",
                (int)(part.len < 80 ? part.len : 80), part.s);
        }
    }
    parsed.most = parsed.fallback;
    for (size_t i = 0; i < parsed.n_components; i++) {
        if (parsed.components[i].level > parsed.most) {
            parsed.most = parsed.components[i].level;
        }
    }
    pthread_mutex_lock(&lock);
    levels = parsed;
    pthread_mutex_unlock(&lock);
    atomic_store(&most_level, (int)parsed.most);
    return CLEW_OK;
}

void log_set_fd(int fd)
{
    atomic_store(&out_fd, fd);
}

bool log_enabled(enum log_level level, const char *component)
{
    enum log_level limit;

    if ((int)level > atomic_load_explicit(&most_level, memory_order_relaxed)) {
        return false;
    }
    pthread_mutex_lock(&lock);
    limit = levels.fallback;
    for (size_t i = 0; i < levels.n_components; i++) {
        if (strcmp(levels.components[i].name, component) == 0) {
            limit = levels.components[i].level;
        }
    }
    pthread_mutex_unlock(&lock);
    return level <= limit;
}

const char *log_words(const char *text, char *out, size_t size)
{
    size_t len = strlen(text);

    len = len < size ? len : utf8_cut(str_of(text), size - 1);
    for (size_t i = 0; i < len; i++) {
        out[i] = text[i] == '"' ? '\'' : text[i];
    }
    out[len] = '\0';
    return out;
}

static void put_line(const char *line, size_t len)
{
    int fd = atomic_load(&out_fd);

    while (len > 0) {
        ssize_t n = write(fd, line, len);

        if (n <= 0) {
            return; /* nobody listens; there is no one to tell */
        }
        line += n;
        len -= (size_t)n;
    }
}

/* Time and level in front, controls and marks of direction out (one_line.h), a
 * newline behind. */
static void write_line(enum log_level level, const char *text)
{
    char line[LINE_BYTES + 64];
    char when[CLOCK_TEXT_SIZE];
    size_t len;
    int n;

    clock_format(clock_now_ms(&clock_system), when);
    n = snprintf(line, sizeof(line) - 1, "%s %s %s", when, level_names[level],
                 text);
    len = n < 0 ? 0 : (size_t)n;
    if (len > sizeof(line) - 2) {
        len = sizeof(line) - 2;
    }
    len = utf8_cut((struct str){line, len + 1}, len);
    for (size_t at = 0; at < len;) {
        size_t from = at;

        if (one_line_is_control(utf8_next((struct str){line, len}, &at))) {
            memset(line + from, ' ', at - from);
        }
    }
    line[len] = '\n';
    put_line(line, len + 1);
}

/* Close a slot's second: what to say about lines held back, or "". */
static void close_slot(struct slot *slot, char *out, size_t cap)
{
    out[0] = '\0';
    if (slot->n_seen > BURST) {
        (void)snprintf(out, cap, "log repeated line=\"%s\" held_back=%u",
                       slot->label, slot->n_seen - BURST);
    }
    slot->n_seen = 0;
    slot->hash = 0;
}

/* The slot of this line, or the one to reuse: free, else the oldest. */
static struct slot *slot_of(uint64_t hash)
{
    struct slot *best = &slots[0];

    for (size_t i = 0; i < N_SLOTS; i++) {
        struct slot *slot = &slots[i];

        if (slot->n_seen > 0 && slot->hash == hash) {
            return slot;
        }
        if (best->n_seen > 0 &&
            (slot->n_seen == 0 || slot->since_ns < best->since_ns)) {
            best = slot;
        }
    }
    return best;
}

/* True if the line may be written. `out_note` may get a count to write first.
 */
static bool admit(const char *label, const char *text, char *out_note,
                  size_t cap)
{
    uint64_t hash = str_hash(str_of(text));
    int64_t now = clock_mono_ns();
    struct slot *slot;
    bool ok;

    out_note[0] = '\0';
    pthread_mutex_lock(&lock);
    slot = slot_of(hash);
    if (slot->n_seen > 0 &&
        (slot->hash != hash || now - slot->since_ns >= WINDOW_NS)) {
        close_slot(slot, out_note, cap);
    }
    if (slot->n_seen == 0) {
        slot->hash = hash;
        slot->since_ns = now;
        (void)snprintf(slot->label, sizeof(slot->label), "%s", label);
    }
    ok = ++slot->n_seen <= BURST;
    pthread_mutex_unlock(&lock);
    return ok;
}

void log_event(enum log_level level, const char *component, const char *event,
               const char *fmt, ...)
{
    char text[LINE_BYTES];
    char label[64];
    char note[160];
    va_list args;
    int len;

    if (!log_enabled(level, component)) {
        return;
    }
    (void)snprintf(label, sizeof(label), "%s %s", component, event);
    len = snprintf(text, sizeof(text), "%s ", label);
    va_start(args, fmt);
    (void)vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, args);
    va_end(args);
    if (admit(label, text, note, sizeof(note))) {
        if (note[0]) {
            write_line(LOG_WARN, note);
        }
        write_line(level, text);
    }
}

void log_flush(void)
{
    for (size_t i = 0; i < N_SLOTS; i++) {
        char note[160] = "";

        pthread_mutex_lock(&lock);
        if (slots[i].n_seen > 0) {
            close_slot(&slots[i], note, sizeof(note));
        }
        pthread_mutex_unlock(&lock);
        if (note[0]) {
            write_line(LOG_WARN, note);
        }
    }
}
