/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c - a program with a memory of its own.
 *
 *     cc embed.c $(pkg-config --cflags --libs clew) -o embed
 *     ./embed /tmp/my-memory
 */
#include <clew/clew.h>

#include <stdio.h>

static int fail(const char *what, const struct clew_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    return clew_status_exit(err->status);
}

int main(int argc, char **argv)
{
    struct clew_options options = {0};
    struct clew_turn turn = {0};
    struct clew_query query = {0};
    struct clew_place place;
    struct clew_error err;
    struct clew_hits *hits;
    struct clew *clew;
    char fork_id[CLEW_ID_SIZE];
    size_t i;

    options.data_dir = argc > 1 ? argv[1] : "./memory";
    if (clew_open(&options, &clew, &err) != CLEW_OK) {
        return fail("open", &err);
    }

    turn.user_id = "ada";
    turn.text = "The boiler in the cellar was repaired by Mr. Okafor.";
    if (clew_append(clew, &turn, 1, &place, &err) != CLEW_OK) {
        clew_close(clew);
        return fail("append", &err);
    }
    printf("kept as turn %lld of chat %s\n", (long long)place.seq,
           place.chat_id);

    if (clew_fork(clew, place.chat_id, -1, "what if", fork_id, &err) !=
        CLEW_OK) {
        clew_close(clew);
        return fail("fork", &err);
    }
    printf("forked as %s\n", fork_id);

    query.text = "who repaired the boiler?";
    query.user_id = "ada";
    if (clew_recall(clew, &query, &hits, &err) != CLEW_OK) {
        clew_close(clew);
        return fail("recall", &err);
    }
    for (i = 0; i < clew_hits_count(hits); i++) {
        const struct clew_hit *hit = clew_hits_get(hits, i);

        printf("%.3f %s\n", hit->score, hit->text);
    }
    clew_hits_free(hits);
    clew_close(clew);
    return 0;
}
