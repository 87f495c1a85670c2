/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_line.h - lines typed by a person: with an editor, history and completion
 * on a terminal, plain elsewhere.
 * Thread-safety: none; one at a time, in the main thread.
 */
#ifndef CLI_CHAT_LINE_H
#define CLI_CHAT_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct chat_line;

/*
 * `words` (NULL-terminated) are completed at the start of a line. The history
 * is kept in `history_path` (NULL: nowhere). NULL without memory.
 */
struct chat_line *chat_line_open(const char *history_path,
                                 const char *const *words);
void chat_line_close(struct chat_line *line);
/* The next line without its end, valid until the next call; NULL at the end. */
const char *chat_line_read(struct chat_line *line);

#endif
