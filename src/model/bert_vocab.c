/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bert_vocab.c - the vocabulary of a model folder, from either file.
 *
 * vocab.txt has one token a line. tokenizer.json maps tokens to ids; ids must
 * be a whole range, each once, as in every WordPiece vocabulary.
 */
#include "model/bert_internal.h"

#include "base/json.h"
#include "model/model_file.h"

#include <string.h>

enum clew_status bert_read_tokenizer(const json_t *tokenizer,
                                     struct arena *arena, struct str **out,
                                     size_t *out_count, struct clew_error *err)
{
    json_t *model = json_object_get(tokenizer, "model");
    const char *type = json_string_value(json_object_get(model, "type"));
    json_t *vocab = json_object_get(model, "vocab");
    size_t count = json_object_size(vocab);
    struct str *tokens;
    const char *token;
    json_t *id;

    if (type && strcmp(type, "WordPiece") != 0) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "the tokenizer is \"%.40s\", not WordPiece", type);
    }
    if (count == 0 || count > WORDPIECE_MAX_TOKENS) {
        return clew_fail(err, CLEW_INVALID, "tokenizer.json has no vocabulary");
    }
    tokens = arena_zero(arena, count, sizeof(*tokens));
    if (!tokens) {
        return CLEW_NO_MEMORY;
    }
    json_object_foreach (vocab, token, id) {
        json_int_t at = json_integer_value(id);

        if (!json_is_integer(id) || at < 0 || (size_t)at >= count ||
            tokens[at].s) {
            return clew_fail(err, CLEW_INVALID,
                             "tokenizer.json has an id out of order");
        }
        tokens[at] = arena_str(arena, str_of(token));
        if (!tokens[at].s) {
            return CLEW_NO_MEMORY;
        }
    }
    *out = tokens;
    *out_count = count;
    return CLEW_OK;
}

static enum clew_status read_lines(struct bert *bert, const char *folder,
                                   struct str **out, size_t *out_count,
                                   struct clew_error *err)
{
    enum clew_status status = model_file_map(
        folder, "vocab.txt", MODEL_FILE_MAX_TEXT, &bert->vocab_file, err);
    size_t count;

    if (status != CLEW_OK) {
        return status;
    }
    count = wordpiece_split(bert->vocab_file, NULL, 0);
    if (count > WORDPIECE_MAX_TOKENS) {
        return clew_fail(err, CLEW_TOO_LARGE, "vocab.txt has too many lines");
    }
    *out = arena_zero(&bert->arena, count, sizeof(**out));
    if (!*out) {
        return CLEW_NO_MEMORY;
    }
    (void)wordpiece_split(bert->vocab_file, *out, count); /* counted above */
    *out_count = count;
    return CLEW_OK;
}

static enum clew_status read_json(struct bert *bert, const char *folder,
                                  struct str **out, size_t *out_count,
                                  struct clew_error *err)
{
    json_t *tokenizer = NULL;
    enum clew_status status =
        model_file_json(folder, "tokenizer.json", &tokenizer, err);

    if (status == CLEW_OK) {
        status =
            bert_read_tokenizer(tokenizer, &bert->arena, out, out_count, err);
        json_decref(tokenizer);
    }
    return status;
}

/* "do_lower_case": false in tokenizer_config.json makes it cased. */
static bool is_cased(const char *folder)
{
    json_t *config = NULL;
    bool cased = false;

    if (model_file_json(folder, "tokenizer_config.json", &config, NULL) ==
        CLEW_OK) {
        cased = json_is_false(json_object_get(config, "do_lower_case"));
        json_decref(config);
    }
    return cased;
}

enum clew_status bert_load_vocab(struct bert *bert, const char *folder,
                                 struct clew_error *err)
{
    struct str *tokens = NULL;
    size_t count = 0;
    enum clew_status status;

    status = model_file_exists(folder, "vocab.txt")
                 ? read_lines(bert, folder, &tokens, &count, err)
                 : read_json(bert, folder, &tokens, &count, err);
    if (status == CLEW_OK) {
        status = wordpiece_new(tokens, count, is_cased(folder),
                               &bert->wordpiece, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (count > bert->config.n_tokens) {
        return clew_fail(err, CLEW_INVALID,
                         "the vocabulary has more tokens than the model");
    }
    if (!wordpiece_find(bert->wordpiece, STR("[CLS]"), &bert->first_id) ||
        !wordpiece_find(bert->wordpiece, STR("[SEP]"), &bert->last_id)) {
        return clew_fail(err, CLEW_INVALID,
                         "the vocabulary has no \"[CLS]\" or \"[SEP]\"");
    }
    return CLEW_OK;
}
