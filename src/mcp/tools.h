/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.h - what a model may do: a table of eight tools.
 *
 * More would confuse a model. A row's fields give the schema that the model
 * sees and the checks its arguments pass. Each tool is one API call, or a
 * choice between a few; nothing here can delete, or leave the key's scope.
 * Thread-safety: the table is immutable; a run belongs to one thread.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "base/buf.h"
#include "mcp/mcp_internal.h"

enum tool_type {
    TOOL_TEXT,
    TOOL_ID,  /* a UUID */
    TOOL_IDS, /* an array of them */
    TOOL_TIME,
    TOOL_INT,
    TOOL_CHOICE, /* one of `choices` */
    TOOL_CHOICES /* an array of them */
};

struct tool_field {
    const char *name; /* NULL ends a list */
    enum tool_type type;
    bool is_required;
    const char *choices; /* "a|b" for the last two types, else NULL */
    const char *help;
};

/* One call of a tool. */
struct tool_run {
    const struct mcp_request *request;
    const json_t *args; /* checked against the fields */
    json_t *answer;     /* of the API; the caller frees it */
    struct buf *text;   /* the compact result, for the model to read */
    bool is_error;      /* `text` tells of a failure */
};

/* Fails with the words for the model; it may try again. */
typedef enum clew_status (*tool_fn)(struct tool_run *run,
                                    struct clew_error *err);

struct tool {
    const char *name;
    const char *title;
    const char *description; /* says when to use it */
    const struct tool_field *fields;
    bool is_read_only;
    bool is_idempotent;
    tool_fn fn;
};

enum clew_status tool_recall(struct tool_run *run, struct clew_error *err);
enum clew_status tool_contribute(struct tool_run *run, struct clew_error *err);
enum clew_status tool_refine(struct tool_run *run, struct clew_error *err);
enum clew_status tool_consolidate(struct tool_run *run, struct clew_error *err);
enum clew_status tool_history(struct tool_run *run, struct clew_error *err);
enum clew_status tool_context(struct tool_run *run, struct clew_error *err);
enum clew_status tool_start(struct tool_run *run, struct clew_error *err);
enum clew_status tool_effort(struct tool_run *run, struct clew_error *err);

#endif
