/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.c - break lines between words. See fold.h.
 */
#include "cli/core/fold.h"

#include "base/utf8.h"

#include <string.h>

#define TAB_COLUMNS 8
/* UTF-8 of one character. */
#define CHAR_BYTES 4

static void put_spaces(struct fold *fold, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)fputc(' ', fold->raw); /* whoever owns `raw` looks at ferror() */
    }
    fold->column += n;
}

static void end_word(struct fold *fold)
{
    size_t end = fold->column + fold->n_spaces + fold->word_columns;

    if (fold->word_len == 0) {
        return;
    }
    if (fold->has_word && end > fold->width) {
        (void)fputc('\n', fold->raw);
        fold->column = 0;
        put_spaces(fold, fold->indent);
    } else {
        put_spaces(fold, fold->n_spaces);
    }
    (void)fwrite(fold->word, 1, fold->word_len, fold->raw);
    fold->column += fold->word_columns;
    fold->n_spaces = 0;
    fold->word_len = 0;
    fold->word_columns = 0;
    fold->has_word = true;
}

static void end_line(struct fold *fold)
{
    end_word(fold);
    (void)fputc('\n', fold->raw);
    fold->column = 0;
    fold->indent = 0;
    fold->n_spaces = 0;
    fold->has_word = false;
}

static void put_space(struct fold *fold)
{
    end_word(fold);
    if (fold->has_word) {
        fold->n_spaces++;
        return;
    }
    put_spaces(fold, 1);
    if (fold->indent < fold->width / 2) {
        fold->indent++;
    }
}

void fold_put(struct fold *fold, uint32_t c)
{
    char bytes[CHAR_BYTES];
    size_t len = utf8_put(c, bytes);
    size_t columns = utf8_width((struct str){bytes, len});

    if (fold->width == 0) {
        (void)fwrite(bytes, 1, len, fold->raw);
    } else if (c == '\n') {
        end_line(fold);
    } else if (c == '\t') {
        end_word(fold);
        (void)fputc('\t', fold->raw);
        fold->column += TAB_COLUMNS - fold->column % TAB_COLUMNS;
    } else if (c == ' ') {
        put_space(fold);
    } else {
        /* scripts of wide characters have no spaces and break anywhere */
        if (columns > 1 || fold->word_len + len > sizeof(fold->word)) {
            end_word(fold);
        }
        memcpy(fold->word + fold->word_len, bytes, len);
        fold->word_len += len;
        fold->word_columns += columns;
        if (columns > 1) {
            end_word(fold);
        }
    }
}

void fold_flush(struct fold *fold)
{
    end_word(fold);
    if (fold->column + fold->n_spaces <= fold->width) {
        put_spaces(fold, fold->n_spaces); /* of a prompt, say */
    }
    fold->n_spaces = 0;
}
