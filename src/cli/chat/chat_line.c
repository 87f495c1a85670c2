/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_line.c - libedit where there is a terminal. See chat_line.h.
 */
#include "cli/chat/chat_line.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"

#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HISTORY_LINES 1000

struct chat_line {
    EditLine *editor; /* NULL without a terminal */
    History *history;
    HistEvent event;
    const char *const *words;
    char *path;
    struct buf text; /* the last line */
};

static char *prompt(EditLine *editor)
{
    static char text[] = "> ";

    (void)editor;
    return text;
}

/* Complete the word at the start of the line. */
static unsigned char complete(EditLine *editor, int key)
{
    const LineInfo *info = el_line(editor);
    size_t len = (size_t)(info->cursor - info->buffer);
    struct chat_line *line = NULL;
    const char *found = NULL;
    char rest[64];

    (void)key;
    el_get(editor, EL_CLIENTDATA, &line);
    for (size_t i = 0; line && line->words[i]; i++) {
        if (len > 0 && strncmp(line->words[i], info->buffer, len) == 0) {
            if (found) {
                return CC_ERROR; /* more than one */
            }
            found = line->words[i];
        }
    }
    if (!found) {
        return CC_ERROR;
    }
    (void)snprintf(rest, sizeof(rest), "%s ", found + len);
    return el_insertstr(editor, rest) == 0 ? CC_REFRESH : CC_ERROR;
}

static void open_editor(struct chat_line *line)
{
    line->editor = el_init("clew", stdin, stdout, stderr);
    line->history = history_init();
    if (!line->editor || !line->history) {
        return;
    }
    (void)history(line->history, &line->event, H_SETSIZE, HISTORY_LINES);
    if (line->path) {
        (void)history(line->history, &line->event, H_LOAD, line->path);
    }
    el_set(line->editor, EL_CLIENTDATA, line);
    el_set(line->editor, EL_PROMPT, prompt);
    el_set(line->editor, EL_EDITOR, "emacs");
    el_set(line->editor, EL_HIST, history, line->history);
    el_set(line->editor, EL_ADDFN, "clew-complete", "Complete a command",
           complete);
    el_set(line->editor, EL_BIND, "^I", "clew-complete", NULL);
    el_source(line->editor, NULL);
}

struct chat_line *chat_line_open(const char *history_path,
                                 const char *const *words)
{
    struct chat_line *line = alloc_zero(1, sizeof(*line));

    if (!line) {
        return NULL;
    }
    line->words = words;
    buf_init(&line->text, LIMIT_CONTENT_BYTES);
    line->path = history_path ? alloc_string(history_path) : NULL;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        open_editor(line);
    }
    return line;
}

void chat_line_close(struct chat_line *line)
{
    if (!line) {
        return;
    }
    if (line->history) {
        history_end(line->history);
    }
    if (line->editor) {
        el_end(line->editor);
    }
    alloc_free(line->path);
    buf_release(&line->text);
    alloc_free(line);
}

static const char *read_edited(struct chat_line *line)
{
    int count = 0;
    const char *text = el_gets(line->editor, &count);

    if (!text || count <= 0) {
        return NULL;
    }
    if (line->history && count > 1) {
        (void)history(line->history, &line->event, H_ENTER, text);
        if (line->path) {
            (void)history(line->history, &line->event, H_SAVE, line->path);
        }
    }
    buf_clear(&line->text);
    return buf_append(&line->text, text, (size_t)count) == CLEW_OK
               ? line->text.data
               : NULL;
}

/* A line of the standard input, up to the longest turn there may be. */
static const char *read_plain(struct chat_line *line)
{
    int c = getc(stdin);

    buf_clear(&line->text);
    if (c == EOF) {
        return NULL;
    }
    for (; c != EOF && c != '\n'; c = getc(stdin)) {
        if (buf_append_char(&line->text, (char)c) != CLEW_OK) {
            return NULL;
        }
    }
    /* an empty line is a line too */
    return buf_append(&line->text, "", 0) == CLEW_OK ? line->text.data : NULL;
}

const char *chat_line_read(struct chat_line *line)
{
    if (line->editor) {
        if (!read_edited(line)) {
            return NULL;
        }
    } else if (!read_plain(line)) {
        return NULL;
    }
    line->text.data[strcspn(line->text.data, "\r\n")] = '\0';
    return line->text.data;
}
