/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - tables, colours, times, progress. See output.h.
 */
#include "cli/core/output.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/one_line.h"
#include "base/utf8.h"
#include "cli/core/fold.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A server's clock may be ahead by so much: that is no time to come. */
#define SKEW_MS 5000
#define PROGRESS_EVERY_NS (100LL * 1000 * 1000)
/* Before that nobody knows how fast it goes. */
#define PROGRESS_SURE_NS (2000LL * 1000 * 1000)

void output_init(struct output *out, FILE *file)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    struct winsize size;

    out->file = file;
    out->raw = file;
    out->filter = NULL;
    out->is_terminal = isatty(fileno(file)) == 1;
    out->has_colour = out->is_terminal && !(no_colour && no_colour[0]) &&
                      !(term && strcmp(term, "dumb") == 0);
    out->width = 80;
    if (out->is_terminal && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= 40) {
        out->width = size.ws_col;
    }
}

static const char *code_of(enum output_style style)
{
    switch (style) {
    case OUTPUT_PLAIN:
        return "";
    case OUTPUT_BOLD:
        return "\033[1m";
    case OUTPUT_DIM:
        return "\033[2m";
    case OUTPUT_NAME:
        return "\033[36m";
    }
    return "";
}

void output_note(const char *fmt, ...)
{
    char text[OUTPUT_NOTE_BYTES];
    struct output out;
    struct buf line;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args); /* cut if it is longer */
    va_end(args);
    buf_init(&line, 2 * sizeof(text));
    one_line_append(&line, str_of(text), SIZE_MAX);
    output_open(&out, stderr); /* folds it on a terminal */
    output_text(&out, OUTPUT_PLAIN, buf_str(&line));
    (void)fputc('\n', out.file);
    output_close(&out);
    buf_release(&line);
}

/* --- the filter ---
 *
 * Controls would let stored text drive the terminal, and marks of direction let
 * it read as something else. */

/* Lines are folded in whole if they come in whole. */
#define FILTER_BYTES (16u * 1024)

struct output_filter {
    struct fold fold;
    char buffer[FILTER_BYTES]; /* of the stream in front */
    char held[4];              /* the beginning of a character that was cut */
    size_t n_held;
};

/* Bytes of the character that begins so. */
static size_t bytes_of(unsigned char c)
{
    return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}

static void filter_put(struct output_filter *f, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);

        /* ferror() is looked at below */
        fold_put(&f->fold,
                 c != '\n' && c != '\t' && one_line_is_control(c) ? ' ' : c);
    }
}

static ssize_t filter_write(void *cookie, const char *bytes, size_t len)
{
    struct output_filter *f = cookie;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (f->n_held > 0 && (c & 0xC0) != 0x80) { /* it was never finished */
            filter_put(f, (struct str){f->held, f->n_held});
            f->n_held = 0;
        }
        f->held[f->n_held++] = (char)c;
        if (f->n_held >= bytes_of((unsigned char)f->held[0])) {
            filter_put(f, (struct str){f->held, f->n_held});
            f->n_held = 0;
        }
    }
    fold_flush(&f->fold);
    return fflush(f->fold.raw) == 0 && !ferror(f->fold.raw) ? (ssize_t)len : 0;
}

static int filter_close(void *cookie)
{
    struct output_filter *f = cookie;

    filter_put(f, (struct str){f->held, f->n_held});
    fold_flush(&f->fold);
    alloc_free(f);
    return 0;
}

void output_open(struct output *out, FILE *file)
{
    static const cookie_io_functions_t functions = {.write = filter_write,
                                                    .close = filter_close};
    struct output_filter *f = alloc_zero(1, sizeof(*f));
    FILE *filtered;

    output_init(out, file);
    if (!f) {
        return;
    }
    f->fold.raw = file;
    filtered = fopencookie(f, "w", functions);
    if (!filtered) {
        alloc_free(f);
        return;
    }
    if (out->is_terminal) {
        f->fold.width = out->width;
        /* works without */
        (void)setvbuf(filtered, f->buffer, _IOLBF, sizeof(f->buffer));
    }
    out->file = filtered;
    out->filter = f;
}

void output_close(struct output *out)
{
    if (out->file != out->raw) {
        (void)fclose(out->file); /* who cares has flushed it before */
        out->file = out->raw;
        out->filter = NULL;
    }
}

FILE *output_verbatim(const struct output *out)
{
    if (out->filter) {
        (void)fflush(out->file);
        out->filter->fold.width = 0;
    }
    return out->is_terminal ? out->file : out->raw;
}

/* --- texts --- */

/* Past the filter, in its place. */
static void put_code(const struct output *out, const char *code)
{
    if (code[0]) {
        (void)fflush(out->file);
        (void)fputs(code, out->raw);
    }
}

static void put_clean(const struct output *out, struct str text, bool one_line)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        char bytes[4];

        if ((c == '\n' || c == '\t') && !one_line) {
            (void)fputc((int)c, out->file); /* ferror() is checked at exit */
        } else if (one_line_is_control(c)) {
            (void)fputc(' ', out->file);
        } else {
            (void)fwrite(bytes, 1, utf8_put(c, bytes), out->file);
        }
    }
}

static void begin_style(const struct output *out, enum output_style style)
{
    if (out->has_colour) {
        put_code(out, code_of(style));
    }
}

static void end_style(const struct output *out, enum output_style style)
{
    if (out->has_colour && style != OUTPUT_PLAIN) {
        put_code(out, "\033[0m");
    }
}

void output_text(const struct output *out, enum output_style style,
                 struct str text)
{
    begin_style(out, style);
    put_clean(out, text, false);
    end_style(out, style);
}

struct str output_fit(struct str text, size_t columns)
{
    size_t used = 0;

    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        size_t width;

        (void)utf8_next(text, &at);
        width = utf8_width(str_sub(text, from, at));
        if (used + width > columns) {
            return str_sub(text, 0, from);
        }
        used += width;
    }
    return text;
}

void output_line(const struct output *out, enum output_style style,
                 struct str text, size_t columns)
{
    begin_style(out, style);
    if (utf8_width(text) <= columns || columns == 0) {
        put_clean(out, text, true);
    } else {
        put_clean(out, output_fit(text, columns - 1), true);
        (void)fputs("…", out->file);
    }
    end_style(out, style);
}

void output_command(const struct output *out, const char *indent,
                    struct str text)
{
    size_t width = 0;

    (void)fflush(out->file); /* what came before is folded */
    if (out->filter) {
        width = out->filter->fold.width;
        out->filter->fold.width = 0;
    }
    (void)fputs(indent, out->file);
    put_clean(out, text, true);
    (void)fputc('\n', out->file);
    (void)fflush(out->file);
    if (out->filter) {
        out->filter->fold.width = width;
    }
}

void output_json(const struct output *out, const json_t *json)
{
    FILE *file = output_verbatim(out);
    struct buf text;

    buf_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    if (json_write(&text, json) == CLEW_OK) {
        (void)fflush(out->file); /* what came before comes before */
        (void)fwrite(text.data, 1, text.len, file);
        (void)fputc('\n', file);
    }
    buf_release(&text);
}

void output_date(int64_t time_ms, bool has_clock, char text[OUTPUT_TIME_SIZE])
{
    time_t seconds = (time_t)(time_ms / CLOCK_SECOND_MS);
    struct tm at = {0};

    text[0] = '\0';
    if (localtime_r(&seconds, &at)) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "%04d-%02d-%02d",
                       at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
    }
    if (has_clock && text[0]) {
        size_t len = strlen(text);

        (void)snprintf(text + len, OUTPUT_TIME_SIZE - len, " %02d:%02d",
                       at.tm_hour, at.tm_min);
    }
}

void output_time(int64_t time_ms, int64_t now_ms, char text[OUTPUT_TIME_SIZE])
{
    int64_t age = now_ms - time_ms;

    if (age > -SKEW_MS && age < CLOCK_MINUTE_MS) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "just now");
    } else if (age >= 0 && age < CLOCK_HOUR_MS) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "%lld min ago",
                       (long long)(age / CLOCK_MINUTE_MS));
    } else if (age >= 0 && age < CLOCK_DAY_MS) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "%lld h ago",
                       (long long)(age / CLOCK_HOUR_MS));
    } else if (age >= 0 && age < 14 * CLOCK_DAY_MS) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "%lld d ago",
                       (long long)(age / CLOCK_DAY_MS));
    } else if (age < 0 && age > -CLOCK_HOUR_MS) {
        (void)snprintf(
            text, OUTPUT_TIME_SIZE, "in %lld min",
            (long long)((CLOCK_MINUTE_MS - 1 - age) / CLOCK_MINUTE_MS));
    } else if (age < 0 && age > -CLOCK_DAY_MS) {
        (void)snprintf(text, OUTPUT_TIME_SIZE, "in %lld h",
                       (long long)((CLOCK_HOUR_MS / 2 - age) / CLOCK_HOUR_MS));
    } else {
        output_date(time_ms, false, text);
    }
}

static void put_spaces(const struct output *out, size_t n)
{
    while (n-- > 0) {
        (void)fputc(' ', out->file);
    }
}

/* Columns of column `i`: its title or its widest cell. */
static size_t width_of(const struct output_column *columns, size_t n_columns,
                       const char *const *cells, size_t n_rows, size_t i)
{
    size_t most = utf8_width(str_of(columns[i].title));

    for (size_t row = 0; row < n_rows; row++) {
        size_t width = utf8_width(str_of(cells[row * n_columns + i]));

        most = width > most ? width : most;
    }
    return most;
}

static void put_row(const struct output *out,
                    const struct output_column *columns, size_t n_columns,
                    const size_t *widths, const char *const *cells,
                    enum output_style style)
{
    size_t used = 0;

    for (size_t i = 0; i < n_columns; i++) {
        struct str cell = str_of(cells[i]);
        size_t width = utf8_width(cell);
        size_t pad = widths[i] > width ? widths[i] - width : 0;

        if (i + 1 == n_columns) {
            size_t left = out->width > used + 8 ? out->width - used : 8;

            output_line(out, style, cell, out->is_terminal ? left : 0);
            break;
        }
        put_spaces(out, columns[i].is_number ? pad : 0);
        output_line(out, style, cell, 0);
        put_spaces(out, (columns[i].is_number ? 0 : pad) + 2);
        used += widths[i] + 2;
    }
    (void)fputc('\n', out->file);
}

void output_table(const struct output *out, const struct output_column *columns,
                  size_t n_columns, const char *const *cells, size_t n_rows)
{
    const char *titles[16];
    size_t widths[16];

    if (n_rows == 0 || n_columns > 16) {
        return;
    }
    for (size_t i = 0; i < n_columns; i++) {
        titles[i] = columns[i].title;
        widths[i] = width_of(columns, n_columns, cells, n_rows, i);
    }
    put_row(out, columns, n_columns, widths, titles, OUTPUT_DIM);
    for (size_t row = 0; row < n_rows; row++) {
        put_row(out, columns, n_columns, widths, cells + row * n_columns,
                OUTPUT_PLAIN);
    }
}

/* About how long it still takes, once that can be told. */
static void draw_left(const struct progress *progress)
{
    int64_t spent = clock_mono_ns() - progress->begun_ns;
    int64_t left;

    if (progress->done <= 0 || progress->done >= progress->total ||
        spent < PROGRESS_SURE_NS) {
        return;
    }
    left = (int64_t)((double)spent / (double)progress->done *
                     (double)(progress->total - progress->done) / 1e9) +
           1;
    if (left < 120) {
        (void)fprintf(stderr, ", %" PRId64 " s left", left);
    } else {
        (void)fprintf(stderr, ", %" PRId64 " min left", left / 60 + 1);
    }
}

static void draw(struct progress *progress)
{
    enum { BAR = 30 };
    static const char full[] = "##############################";
    int filled;

    if (progress->total <= 0) {
        (void)fprintf(stderr, "\r%s %" PRId64 "\033[K", progress->label,
                      progress->done);
        return;
    }
    filled = (int)((double)progress->done / (double)progress->total * BAR);
    filled = filled > BAR ? BAR : filled;
    (void)fprintf(stderr, "\r%s [%.*s%*s] %" PRId64 "/%" PRId64,
                  progress->label, filled, full, BAR - filled, "",
                  progress->done, progress->total);
    draw_left(progress);
    (void)fputs("\033[K", stderr);
}

void progress_begin(struct progress *progress, const char *label, int64_t total)
{
    progress->label = label;
    progress->total = total;
    progress->done = 0;
    progress->shown_ns = 0;
    progress->begun_ns = clock_mono_ns();
    progress->is_shown = isatty(STDERR_FILENO) == 1;
}

void progress_add(struct progress *progress, int64_t more)
{
    int64_t now;

    progress->done += more;
    if (!progress->is_shown) {
        return;
    }
    now = clock_mono_ns();
    if (now - progress->shown_ns >= PROGRESS_EVERY_NS) {
        progress->shown_ns = now;
        draw(progress);
    }
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown && progress->done == 0) {
        (void)fputs("\r\033[K", stderr); /* nothing came of it: what is wrong
                                            is told next */
    } else if (progress->is_shown) {
        draw(progress);
        (void)fputc('\n', stderr);
    }
}
