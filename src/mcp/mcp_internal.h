/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_internal.h - what the parts of the protocol share.
 */
#ifndef MCP_MCP_INTERNAL_H
#define MCP_MCP_INTERNAL_H

#include "base/arena.h"
#include "mcp/mcp.h"

/* What http/router.h says of an address that is not there: a thin client may
 * speak to an older server. */
#define MCP_NO_ROUTE "no such address"

/* One request under way. */
struct mcp_request {
    struct mcp_peer *peer;
    struct arena *arena;
    const json_t *id;
    const json_t *params; /* an object; NULL if there was none */
    json_t *result;       /* what the method makes; the caller frees it */
    enum mcp_code code;   /* with a failure */
};

/*
 * A method. On failure `code` and `err` say why; `result` is then ignored.
 */
typedef enum clew_status (*mcp_method)(struct mcp_request *request,
                                       struct clew_error *err);

enum clew_status mcp_tools_list(struct mcp_request *request,
                                struct clew_error *err);
enum clew_status mcp_tools_call(struct mcp_request *request,
                                struct clew_error *err);
enum clew_status mcp_resources_list(struct mcp_request *request,
                                    struct clew_error *err);
enum clew_status mcp_resources_templates(struct mcp_request *request,
                                         struct clew_error *err);
enum clew_status mcp_resources_read(struct mcp_request *request,
                                    struct clew_error *err);
enum clew_status mcp_prompts_list(struct mcp_request *request,
                                  struct clew_error *err);
enum clew_status mcp_prompts_get(struct mcp_request *request,
                                 struct clew_error *err);

/* Fail with a code and words, for a method to return. */
enum clew_status mcp_fail(struct mcp_request *request, enum mcp_code code,
                          struct clew_error *err, const char *fmt, ...)
    CLEW_PRINTF(4, 5);
/* Lists that fit one page give no cursor, so none can be right. */
enum clew_status mcp_no_cursor(struct mcp_request *request,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Percent-encoded for a query string; NULL without memory. */
const char *mcp_encode(struct arena *arena, const char *text);
/* A string member of an object, or "". */
const char *mcp_text(const json_t *object, const char *field);

#endif
