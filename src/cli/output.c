/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - tables, colours, times, progress. See output.h.
 */
#include "cli/output.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PROGRESS_EVERY_NS (100LL * 1000 * 1000)

void output_init(struct output *out, FILE *file)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    struct winsize size;

    out->file = file;
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

/* C0 and C1 controls would let stored text drive the terminal. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

static void put_clean(const struct output *out, struct str text, bool one_line)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        char bytes[4];

        if ((c == '\n' || c == '\t') && !one_line) {
            (void)fputc((int)c, out->file); /* ferror() is checked at exit */
        } else if (is_control(c)) {
            (void)fputc(' ', out->file);
        } else {
            (void)fwrite(bytes, 1, utf8_put(c, bytes), out->file);
        }
    }
}

static void begin_style(const struct output *out, enum output_style style)
{
    if (out->has_colour) {
        (void)fputs(code_of(style), out->file);
    }
}

static void end_style(const struct output *out, enum output_style style)
{
    if (out->has_colour && style != OUTPUT_PLAIN) {
        (void)fputs("\033[0m", out->file);
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

void output_json(const struct output *out, const json_t *json)
{
    struct buf text;

    buf_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    if (json_write(&text, json) == CLEW_OK) {
        (void)fwrite(text.data, 1, text.len, out->file);
        (void)fputc('\n', out->file);
    }
    buf_release(&text);
}

void output_time(int64_t time_ms, int64_t now_ms, char text[OUTPUT_TIME_SIZE])
{
    int64_t age = now_ms - time_ms;

    if (age >= 0 && age < CLOCK_MINUTE_MS) {
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
    } else {
        char full[CLOCK_TEXT_SIZE];

        clock_format(time_ms, full);
        (void)snprintf(text, OUTPUT_TIME_SIZE, "%.10s", full);
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
    (void)fprintf(stderr, "\r%s [%.*s%*s] %" PRId64 "/%" PRId64 "\033[K",
                  progress->label, filled, full, BAR - filled, "",
                  progress->done, progress->total);
}

void progress_begin(struct progress *progress, const char *label, int64_t total)
{
    progress->label = label;
    progress->total = total;
    progress->done = 0;
    progress->shown_ns = 0;
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
    if (progress->is_shown) {
        draw(progress);
        (void)fputc('\n', stderr);
    }
}
