/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert.h - run a BERT-class sentence encoder from a Hugging Face folder.
 *
 * The folder holds config.json, vocab.txt or tokenizer.json, and
 * model.safetensors (F32, F16 or BF16): MiniLM, gte-small, bge-small, e5-small
 * and their like. Pooling comes from 1_Pooling/config.json; without one it is
 * the mean, or the first token for the bge family. Vectors agree with
 * onnxruntime to a cosine of .9999. A text is cut at 512 tokens, or where the
 * model's positions end. The prefixes some models want ("query: ") are the
 * caller's. The file is mapped and must not change while the model is open.
 * Thread-safety: immutable once open; runs may go on side by side.
 */
#ifndef MODEL_BERT_H
#define MODEL_BERT_H

#include "clew/attr.h"
#include "clew/status.h"

struct embedder;

#define BERT_MAX_TOKENS 512

/*
 * Open the model in `folder`; `name` goes into its id, "NAME@" and the start
 * of the weights' SHA-256. CLEW_INVALID or CLEW_CORRUPT says what is wrong
 * with the folder. Freed by embed_free().
 */
enum clew_status bert_open(const char *folder, const char *name,
                           struct embedder **out_embedder,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
