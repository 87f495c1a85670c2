/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - what people see: tables, colours, times, progress.
 *
 * Colour and progress bars appear only on a terminal, and no colour where
 * NO_COLOR is set. Whatever is written to `file` loses its control, C1 and
 * bidi characters on the way, however it was formatted, so that no stored
 * message can drive the terminal; only colours and what is meant for other
 * programs (JSON, exports; not on a terminal) go to `raw`.
 * Thread-safety: none; the main thread prints.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum output_style { OUTPUT_PLAIN, OUTPUT_BOLD, OUTPUT_DIM, OUTPUT_NAME };

struct output_filter;

struct output {
    FILE *file; /* filtered, after output_open(); else `raw` */
    FILE *raw;
    struct output_filter *filter; /* NULL: none */
    bool has_colour;
    bool is_terminal;
    size_t width; /* columns of the terminal, 80 elsewhere */
};

/* Print to `file` through output_text() and its like only; no filter. */
void output_init(struct output *out, FILE *file);
/* Filter all that is printed, and fold it on a terminal. output_close() it,
 * which does not close `file`. Without memory it is as output_init(). */
void output_open(struct output *out, FILE *file);
void output_close(struct output *out);
/* Where text for other programs goes: as it is, but not to a terminal. From
 * then on nothing is folded. */
FILE *output_verbatim(const struct output *out);
/* Print a slice without control characters (tabs and newlines stay). */
void output_text(const struct output *out, enum output_style style,
                 struct str text);
/* The same on one line, cut to `columns` with "…" at the end. */
void output_line(const struct output *out, enum output_style style,
                 struct str text, size_t columns);
/* A command to paste, on a line of its own that is never folded: a break inside
 * a quoted word would become part of it. */
void output_command(const struct output *out, const char *indent,
                    struct str text);
/* The longest prefix of a text that takes at most `columns`. */
struct str output_fit(struct str text, size_t columns);
void output_json(const struct output *out, const json_t *json);
/* A remark on stderr, for people: one line, whatever names of files, users or
 * servers are in it. Without the "\n". */
#define OUTPUT_NOTE_BYTES 4096
void output_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "just now", "5 min ago", "3 h ago", "2 d ago", "in 5 min", "in 3 h", else the
 * date. Dates are of the local zone; output_date() gives the minute, too. */
#define OUTPUT_TIME_SIZE 32
void output_date(int64_t time_ms, bool has_clock, char text[OUTPUT_TIME_SIZE]);
void output_time(int64_t time_ms, int64_t now_ms, char text[OUTPUT_TIME_SIZE]);

/*
 * A table: rows are arrays of `n_columns` strings. Columns are as wide as they
 * need, the last is cut to the terminal. No header for no rows.
 */
struct output_column {
    const char *title;
    bool is_number; /* right-aligned */
};
void output_table(const struct output *out, const struct output_column *columns,
                  size_t n_columns, const char *const *cells, size_t n_rows);

/* Progress on stderr; silent unless that is a terminal. */
struct progress {
    const char *label;
    int64_t total; /* 0 if it is not known */
    int64_t done;
    int64_t shown_ns;
    int64_t begun_ns;
    bool is_shown;
};
void progress_begin(struct progress *progress, const char *label,
                    int64_t total);
void progress_add(struct progress *progress, int64_t more);
void progress_end(struct progress *progress);

#endif
