/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - break lines between words where a terminal would break them
 * anywhere.
 *
 * A line goes on below its own beginning. What has no place to break, an id or
 * a path, stays whole. Only what people look at is folded: `width` is 0 for
 * files, pipes and text for other programs. Thread-safety: none.
 */
#ifndef CLI_FOLD_H
#define CLI_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of a word that are held back; a longer one is printed in parts. */
#define FOLD_WORD_BYTES 512

struct fold {
    FILE *raw;
    size_t width;    /* columns; 0: nothing is folded */
    size_t column;   /* where the next character goes */
    size_t indent;   /* spaces the line began with */
    bool has_word;   /* on this line */
    size_t n_spaces; /* before the word */
    char word[FOLD_WORD_BYTES];
    size_t word_len;
    size_t word_columns;
};

/* Print one character, which is no control character but '\n' or '\t'. Errors
 * are those of `raw`. */
void fold_put(struct fold *fold, uint32_t c);
/* Print what is held back. */
void fold_flush(struct fold *fold);

#endif
