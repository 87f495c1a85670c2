/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage_tree.c - draw a lineage. See lineage_tree.h.
 */
#include "cli/show/lineage_tree.h"

#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

/* Levels side by side. What was built one upon another and then consolidated
 * as one has more: the rest is drawn below, from the left again. */
#define MAX_LEVELS 32
/* Columns of a contributor's name; of a line's text at the least. */
#define MAX_NAME 20
#define MIN_TEXT 30

struct tree {
    struct cli *cli;
    const json_t *chain; /* nodes, sources before refiners */
    bool *is_drawn;      /* one for each node */
    bool is_last[MAX_LEVELS];
    size_t id_columns;
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

/* What it is, whose, since when, and how it begins. */
static const char *about_of(struct cli *cli, const json_t *node, bool is_asked)
{
    struct str who =
        output_fit(str_of(cli_field(node, "contributor")), MAX_NAME);
    const char *text = arena_printf(
        &cli->arena, "%s  %s by %.*s, %s%s: %s", is_asked ? " *" : "",
        cli_field(node, "thought_type"), (int)who.len, who.s,
        cli_when(cli, node, "created_at"),
        json_is_true(json_object_get(node, "retracted")) ? ", retracted" : "",
        cli_field(node, "content_preview"));

    return text ? text : "";
}

/* `see`: where the node is told of, if not here. */
static void draw_line(const struct tree *tree, const json_t *node, int level,
                      const char *see)
{
    struct cli *cli = tree->cli;
    FILE *file = cli->out.file;
    bool is_asked = json_integer_value(json_object_get(node, "depth")) == 0;
    const char *about;
    size_t used;
    size_t left;

    for (int i = 1; i < level; i++) {
        (void)fputs(tree->is_last[i] ? "   " : "│  ", file);
    }
    if (level > 0) {
        (void)fputs(tree->is_last[level] ? "└─ " : "├─ ", file);
    }
    output_text(
        &cli->out, is_asked ? OUTPUT_BOLD : OUTPUT_NAME,
        str_of(show_id(cli, cli_field(node, "thought_id"), tree->id_columns)));
    if (see) {
        (void)fprintf(file, "  (see %s)\n", see);
        return;
    }
    about = about_of(cli, node, is_asked);
    used = 3 * (size_t)level + tree->id_columns;
    left = used + MIN_TEXT < cli->out.width ? cli->out.width - used : MIN_TEXT;
    output_line(&cli->out, OUTPUT_PLAIN, str_of(about), left);
    (void)fputc('\n', file);
}

/* Recursion is bounded by MAX_LEVELS. */
static void draw(struct tree *tree, size_t n, int level)
{
    const json_t *node = json_array_get(tree->chain, n);
    const char *id = cli_field(node, "thought_id");
    size_t count = json_array_size(tree->chain);
    size_t child = next_refiner(tree, id, 0);
    const char *see = NULL;

    if (tree->is_drawn[n]) {
        see = "above";
    } else if (level + 1 == MAX_LEVELS && child < count) {
        see = "below";
    }
    draw_line(tree, node, level, see);
    if (see) {
        return;
    }
    tree->is_drawn[n] = true;
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
    tree.id_columns = show_id_columns(tree.chain, "thought_id");
    if (!tree.is_drawn) {
        return clew_no_memory(err);
    }
    json_array_foreach (tree.chain, i, node) {
        if (is_root(&tree, node)) {
            draw(&tree, i, 0);
        }
    }
    for (i = 0; i < json_array_size(tree.chain); i++) {
        if (!tree.is_drawn[i]) {
            draw(&tree, i, 0);
        }
    }
    if (json_is_true(json_object_get(lineage, "truncated"))) {
        (void)fputs("(there is more: ask for one at the edge)\n", stderr);
    }
    return CLEW_OK;
}
