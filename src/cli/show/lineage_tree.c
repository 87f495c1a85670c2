/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage_tree.c - draw a lineage. See lineage_tree.h.
 */
#include "cli/show/lineage_tree.h"

#include <stdio.h>
#include <string.h>

/* Levels drawn; a lineage has 19 at most. */
#define MAX_LEVELS 32

struct tree {
    struct cli *cli;
    const json_t *chain; /* nodes, sources before refiners */
    bool *is_drawn;      /* one for each node */
    bool is_last[MAX_LEVELS];
};

static bool refines(const json_t *node, const char *id)
{
    const json_t *sources = json_object_get(node, "source_ids");
    const json_t *source;
    size_t i;

    json_array_foreach (sources, i, source) {
        if (strcmp(json_string_value(source), id) == 0) {
            return true;
        }
    }
    return false;
}

/* No source of it is in the answer. */
static bool is_root(const struct tree *tree, const json_t *node)
{
    const json_t *other;
    size_t i;

    json_array_foreach (tree->chain, i, other) {
        if (refines(node, cli_field(other, "thought_id"))) {
            return false;
        }
    }
    return true;
}

/* The next node at or after `from` that refines `id`; the count if none. */
static size_t next_refiner(const struct tree *tree, const char *id, size_t from)
{
    size_t count = json_array_size(tree->chain);

    while (from < count && !refines(json_array_get(tree->chain, from), id)) {
        from++;
    }
    return from;
}

static void draw_line(const struct tree *tree, const json_t *node, int level,
                      bool is_again)
{
    struct cli *cli = tree->cli;
    FILE *file = cli->out.file;
    bool is_asked = json_integer_value(json_object_get(node, "depth")) == 0;

    for (int i = 1; i < level; i++) {
        (void)fputs(tree->is_last[i] ? "   " : "│  ", file);
    }
    if (level > 0) {
        (void)fputs(tree->is_last[level] ? "└─ " : "├─ ", file);
    }
    output_text(&cli->out, is_asked ? OUTPUT_BOLD : OUTPUT_NAME,
                str_of(cli_field(node, "thought_id")));
    if (is_again) {
        (void)fputs("  (see above)\n", file);
        return;
    }
    (void)fprintf(file, "%s  %s by ", is_asked ? " *" : "",
                  cli_field(node, "thought_type"));
    output_text(&cli->out, OUTPUT_PLAIN,
                str_of(cli_field(node, "contributor")));
    (void)fprintf(file, ", %s", cli_when(cli, node, "created_at"));
    if (json_is_true(json_object_get(node, "retracted"))) {
        (void)fputs(", retracted", file);
    }
    (void)fputs(": ", file);
    output_line(&cli->out, OUTPUT_PLAIN,
                str_of(cli_field(node, "content_preview")), 80);
    (void)fputc('\n', file);
}

/* Recursion is bounded by MAX_LEVELS. */
static void draw(struct tree *tree, size_t n, int level)
{
    const json_t *node = json_array_get(tree->chain, n);
    const char *id = cli_field(node, "thought_id");
    size_t count = json_array_size(tree->chain);
    size_t child;

    draw_line(tree, node, level, tree->is_drawn[n]);
    if (tree->is_drawn[n] || level + 1 >= MAX_LEVELS) {
        return;
    }
    tree->is_drawn[n] = true;
    child = next_refiner(tree, id, 0);
    while (child < count) {
        size_t after = next_refiner(tree, id, child + 1);

        tree->is_last[level + 1] = after == count;
        draw(tree, child, level + 1);
        child = after;
    }
}

enum clew_status lineage_tree_show(struct cli *cli, const json_t *lineage,
                                   struct clew_error *err)
{
    struct tree tree = {.cli = cli, .chain = json_object_get(lineage, "chain")};
    const json_t *node;
    size_t i;

    tree.is_drawn = arena_zero(&cli->arena, json_array_size(tree.chain) + 1,
                               sizeof(*tree.is_drawn));
    if (!tree.is_drawn) {
        return clew_no_memory(err);
    }
    json_array_foreach (tree.chain, i, node) {
        if (is_root(&tree, node)) {
            draw(&tree, i, 0);
        }
    }
    if (json_is_true(json_object_get(lineage, "truncated"))) {
        (void)fputs("(there is more: ask for one at the edge)\n", stderr);
    }
    return CLEW_OK;
}
