/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_centre.c - the middle of a model's vectors.
 *
 * Vectors of talk lean one way: what they share can be most of their length
 * and tells nothing apart. The middle of a few dozen everyday sentences is near
 * enough for a model that is added; the shipped one has that of a whole corpus
 * (models/static_centre.inc).
 */
#include "model/embed.h"

#include "base/alloc.h"

#include <math.h>

static const char *const sentences[] = {
    "Good morning! How did you sleep?",
    "I went to the market with my sister on Saturday.",
    "What did you think of the film last night?",
    "That sounds great, let me know when you are free.",
    "We moved to a new flat near the river two years ago.",
    "Could you send me the report before the meeting?",
    "My brother plays the guitar in a small band.",
    "I'm not sure yet, it depends on the weather.",
    "The children have a school trip to the museum on Friday.",
    "She has been learning to cook Italian food lately.",
    "Thanks so much for your help, I really appreciate it.",
    "He said the doctor wants to see him again in May.",
    "I've started running in the mornings to get fit.",
    "Where should we go for dinner on her birthday?",
    "The test fails because the file is not closed.",
    "Please add a function that reads the settings from a file.",
    "We decided to release the new version next week.",
    "I prefer tea without sugar, and no meat please.",
    "It was a hard year for the whole family.",
    "Do you remember the name of that little restaurant?",
    "Here are three ideas for a weekend in the mountains.",
    "The train was late, so I missed the first hour.",
    "My cat loves to sit by the window and watch the birds.",
    "Can you explain how this works, step by step?",
    "I bought a used car from a colleague for a good price.",
    "They painted the kitchen yellow and put up new shelves.",
    "You're right, I should talk to my boss about it.",
    "The book is about a woman who sails around the world.",
    "I have to take my medicine twice a day.",
    "Our flight leaves at six, so we need to get up early.",
    "Wow, congratulations on the new job!",
    "To sum up, there are costs and benefits on both sides.",
};
#define N_SENTENCES (sizeof(sentences) / sizeof(sentences[0]))

bool embed_centre(const struct embedder *embedder, float *out)
{
    for (size_t i = 0; i < embedder->dim; i++) {
        out[i] = embedder->centre ? (float)embedder->centre[i] * 1e-4f : 0;
    }
    return embedder->centre != NULL;
}

enum clew_status embed_run_centred(struct embedder *embedder,
                                   const struct str *texts, size_t count,
                                   float *out, struct clew_error *err)
{
    float centre[EMBED_MAX_DIM];
    size_t dim = embedder->dim;
    enum clew_status status = embed_run(embedder, texts, count, out, err);

    (void)embed_centre(embedder, centre); /* zeros if it has none */
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        float *vector = out + i * dim;
        double sum = 0;

        for (size_t d = 0; d < dim; d++) {
            vector[d] -= centre[d];
            sum += (double)vector[d] * (double)vector[d];
        }
        for (size_t d = 0; d < dim && sum > 0; d++) {
            vector[d] = (float)((double)vector[d] / sqrt(sum));
        }
    }
    return status;
}

enum clew_status embed_find_centre(struct embedder *embedder, int16_t *out,
                                   struct clew_error *err)
{
    size_t dim = embedder->dim;
    struct str texts[N_SENTENCES];
    float *vectors = alloc_array(NULL, N_SENTENCES * dim, sizeof(*vectors));
    enum clew_status status;

    if (!vectors) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < N_SENTENCES; i++) {
        texts[i] = str_of(sentences[i]);
    }
    status = embed_run(embedder, texts, N_SENTENCES, vectors, err);
    for (size_t d = 0; d < dim && status == CLEW_OK; d++) {
        double sum = 0;

        for (size_t i = 0; i < N_SENTENCES; i++) {
            sum += (double)vectors[i * dim + d];
        }
        out[d] = (int16_t)lrint(sum * 10000 / (double)N_SENTENCES); /* NOLINT */
    }
    alloc_free(vectors);
    return status;
}
