/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage_tree.h - draw a lineage on the terminal.
 *
 * Sources stand above what refined them. A consolidation hangs below the
 * first of its sources; below the others stands a line that points to it.
 * Thread-safety: none.
 */
#ifndef CLI_LINEAGE_TREE_H
#define CLI_LINEAGE_TREE_H

#include "cli/core/cli.h"

/* `lineage` is the answer of GET /api/v1/memories/{id}/lineage. */
enum clew_status lineage_tree_show(struct cli *cli, const json_t *lineage,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
