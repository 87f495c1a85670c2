/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wordpiece.h - BERT's WordPiece: text to token ids.
 *
 * Cleans (control characters out, white space to blanks), sets CJK characters
 * apart, strips accents and lowers case unless the vocabulary is cased, splits
 * at white space and punctuation, then takes the longest piece known again and
 * again. The ids equal those of Hugging Face's tokenizers, with one exception:
 * "[CLS]" and its like in a text are plain characters, never special tokens.
 * Allocates only when made. Invalid UTF-8 is left out, like U+FFFD.
 * Thread-safety: immutable after wordpiece_new(); share freely.
 */
#ifndef MODEL_WORDPIECE_H
#define MODEL_WORDPIECE_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tokens of the largest vocabulary; ids take 20 bits of a hash slot. */
#define WORDPIECE_MAX_TOKENS ((1u << 20) - 2)
/* Bytes of the longest token that is ever matched. */
#define WORDPIECE_MAX_TOKEN_BYTES 400
/* A longer word, in characters, is one unknown token. */
#define WORDPIECE_MAX_WORD_CHARS 100

struct wordpiece;

/*
 * A tokeniser over `tokens`, whose index is their id. The array and its bytes
 * are borrowed and must outlive it. Needs "[UNK]"; a token given twice keeps
 * its last id. CLEW_INVALID for a vocabulary that is empty, too large or has
 * no "[UNK]".
 */
enum clew_status wordpiece_new(const struct str *tokens, size_t n_tokens,
                               bool is_cased, struct wordpiece **out,
                               struct clew_error *err) CLEW_MUST_CHECK;
void wordpiece_free(struct wordpiece *wordpiece);

/* Write the ids of `text` without special tokens; stops at `cap` ids. Returns
 * how many were written. */
size_t wordpiece_run(const struct wordpiece *wordpiece, struct str text,
                     uint32_t *out_ids, size_t cap);
/* Is the byte a character behind which a word always ends? A text cut there
 * has the tokens of its parts. */
bool wordpiece_ends_word(char byte);
/* The id of exactly this token; false if there is none. */
bool wordpiece_find(const struct wordpiece *wordpiece, struct str token,
                    uint32_t *out_id);

/*
 * Cut a vocabulary of one token per line into `out` (n_tokens slices of
 * `text`); with `out` NULL only counts. A trailing newline ends the last line.
 */
size_t wordpiece_split(struct str text, struct str *out, size_t cap);

#endif
