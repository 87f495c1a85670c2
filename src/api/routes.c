/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - the one table: router, roles, field checks and OpenAPI.
 *
 * Rows are grouped by resource. See struct api_route for the columns.
 */
#include "api/api.h"
#include "api/handlers.h"

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PAGE "limit", "cursor"

#define READ API_ROLE_READ
#define WRITE API_ROLE_WRITE
#define ADMIN API_ROLE_ADMIN

/* clang-format off */
const struct api_route api_routes[] = {
    /* --- turns --- */
    {HTTP_POST, "/api/v1/turns", WRITE, turns_post,
     /* "turns" first: the rest are the fields of each turn, see turns.c */
     FIELDS("turns", "user_id", "role", "content", "name", "channel", "chat_id",
            "created_at", "timezone", "external_id"), NULL,
     "Store a turn, or a batch that is all or nothing",
     "> 201 CapturedOrBatch", 0},
    {HTTP_GET, "/api/v1/turns", READ, turns_find, NULL, FIELDS("external_id"),
     "Find the turn with your id", "> [Turn]", 0},

    /* --- chats --- */
    {HTTP_POST, "/api/v1/chats", WRITE, chats_post,
     FIELDS("user_id", "channel", "title", "inactivity_minutes"), NULL,
     "Make a chat", "user_id > 201 Chat", 0},
    {HTTP_GET, "/api/v1/chats", READ, chats_list,
     NULL, FIELDS("user_id", "q", PAGE),
     "List chats, newest activity first", "> [Chat]", 0},
    {HTTP_GET, "/api/v1/chats/{id}", READ, chats_get, NULL, NULL,
     "Read a chat", "> Chat", 0},
    {HTTP_PATCH, "/api/v1/chats/{id}", WRITE, chats_patch,
     FIELDS("title", "inactivity_minutes"), NULL,
     "Rename a chat or set its timeout", "> Chat", 0},
    {HTTP_GET, "/api/v1/chats/{id}/turns", READ, chats_turns,
     NULL, FIELDS("after_seq", PAGE),
     "Read a chat's turns, oldest first, through its forks", "> [Turn]", 0},
    {HTTP_POST, "/api/v1/chats/{id}/fork", WRITE, chats_fork,
     FIELDS("at_seq", "title"), NULL,
     "Fork a chat at any turn; nothing is copied", "> 201 Chat", 0},
    {HTTP_GET, "/api/v1/chats/{id}/tree", READ, chats_tree, NULL, NULL,
     "List the tree of forks a chat belongs to", "> ChatTree", 0},
    {HTTP_POST, "/api/v1/chats/{id}/close", WRITE, chats_close, NULL, NULL,
     "Close a chat", "> Chat", 0},

    {HTTP_POST, "/api/v1/chats/{id}/context", READ, context_post,
     FIELDS("budget_tokens", "message", "format"), NULL,
     "What the next turn of a chat needs to know, within a budget",
     "> Context", 0},

    /* --- efforts --- */
    {HTTP_POST, "/api/v1/efforts", WRITE, efforts_post,
     FIELDS("user_id", "goal", "chat_id", "parent_id"), NULL,
     "Spawn an effort with a thread of its own", "user_id,goal > 201 Effort",
     0},
    {HTTP_GET, "/api/v1/efforts", READ, efforts_list,
     NULL, FIELDS("user_id", "chat_id", "all"),
     "Open efforts of a user or a chat; `all` lists closed ones too",
     "> [Effort]", 0},
    {HTTP_GET, "/api/v1/efforts/{id}", READ, efforts_get, NULL, NULL,
     "Read an effort", "> Effort", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/turns", WRITE, efforts_turns,
     FIELDS("user_id", "role", "content", "name", "channel", "created_at",
            "timezone", "external_id"), NULL,
     "Store a turn in an effort's thread", "role,content > 201 Captured", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/collapse", WRITE, efforts_collapse,
     FIELDS("resolution"), NULL,
     "Put an effort's turns out of view; a spawned one ends with its result",
     "> Effort", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/expand", WRITE, efforts_expand,
     NULL, NULL, "Put an effort's turns in view", "> Effort", 0},
    {HTTP_GET, "/api/v1/efforts/{id}/context", READ, efforts_context,
     NULL, FIELDS("budget_tokens"), "The context to work on an effort in",
     "> Context", 0},

    {HTTP_POST, "/api/v1/chats/{id}/compact", WRITE, episodes_compact, NULL,
     NULL, "Sum a chat up now", "> [Episode]", 0},

    /* --- episodes and links --- */
    {HTTP_GET, "/api/v1/episodes", READ, episodes_list, NULL,
     FIELDS("chat_id", PAGE), "List episodes, newest first", "> [Episode]", 0},
    {HTTP_GET, "/api/v1/episodes/{id}", READ, episodes_get, NULL, NULL,
     "Read an episode", "> Episode", 0},
    {HTTP_GET, "/api/v1/links", READ, links_list, NULL,
     FIELDS("chat_id", "decision", PAGE),
     "List decisions about links between chats, newest first", "> [ChatLink]",
     0},
    {HTTP_POST, "/api/v1/links/{id}/feedback", WRITE, links_feedback,
     FIELDS("outcome"), NULL, "Say whether a link decision was right",
     "outcome > ChatLink", 0},
    {HTTP_GET, "/api/v1/tuning", READ, tuning_get, NULL, NULL,
     "How linking is tuned, and was", "> Tunings", 0},
    {HTTP_POST, "/api/v1/tuning/revert", WRITE, tuning_revert, NULL, NULL,
     "Go back to the tuning before", "> Tuning", 0},

    /* --- tasks and traces --- */
    {HTTP_GET, "/api/v1/tasks", READ, tasks_list, NULL, FIELDS("status", PAGE),
     "List later work, newest first", "> [Task]", 0},
    {HTTP_GET, "/api/v1/traces/{id}", READ, traces_get, NULL, NULL,
     "What was decided about a turn or a call, and why", "> Trace", 0},

    /* --- start --- */
    {HTTP_POST, "/api/v1/start", WRITE, start_post,
     FIELDS("user_id", "intent"), NULL,
     "Begin a conversation: related chats, memories and four ways on",
     "user_id,intent > Start", 0},
    {HTTP_POST, "/api/v1/start/{id}/choose", WRITE, start_choose_post,
     FIELDS("answer"), NULL,
     "Answer a start: continue, fork, new with selected memories, fresh",
     "answer > Choice", 0},

    /* --- sessions --- */
    {HTTP_POST, "/api/v1/sessions/{id}/end", WRITE, sessions_end, NULL, NULL,
     "End a session", "> Session", 0},

    /* --- chains --- */
    {HTTP_GET, "/api/v1/chains", READ, chains_list, NULL,
     FIELDS("user_id", "state", "chat_id", "session_id", PAGE),
     "List chains of thought, latest extension first", "> [Chain]", 0},
    {HTTP_GET, "/api/v1/chains/{id}", READ, chains_get, NULL, NULL,
     "Read a chain with its claims and updates", "> ChainDetail", 0},
    {HTTP_POST, "/api/v1/chains/{id}/conclude", WRITE, chains_conclude, NULL,
     NULL, "Conclude a chain", "> Chain", 0},
    {HTTP_POST, "/api/v1/chains/{id}/reopen", WRITE, chains_reopen, NULL, NULL,
     "Open a concluded or dormant chain again", "> Chain", 0},

    /* --- recall --- */
    {HTTP_POST, "/api/v1/recall", READ, recall_post,
     FIELDS("query", "user_id", "chat_id", "kinds", "limit", "since", "until",
            "at", "timezone", "explain"), NULL,
     "Find what was said", "query > Recalled", 0},

    /* --- analyse --- */
    {HTTP_POST, "/api/v1/analyse", READ, analyse_post,
     FIELDS("text", "previous", "created_at", "timezone"), NULL,
     "What a text does, and what is in it", "text > Analysis", 0},
    {HTTP_POST, "/api/v1/analyse/feedback", WRITE, analyse_feedback,
     FIELDS("text", "previous", "act"), NULL,
     "Set the act of a text right, for the next time", "text,act > Act", 0},

    /* --- memories --- */
    {HTTP_POST, "/api/v1/memory", READ, thoughts_post,
     FIELDS("prompt", "agent_id", "agent_name", "context", "session_id",
            "refines", "consolidates", "read_only"), NULL,
     "Contribute a thought and retrieve related ones",
     "prompt,agent_id,agent_name > Thought", 0},
    {HTTP_GET, "/api/v1/memory", READ, thoughts_get, NULL,
     FIELDS("prompt", "agent_id", "agent_name", "context", "session_id",
            "refines", "consolidates", "read_only"),
     "The same, asked with a query string", "> Thought", 0},
    {HTTP_GET, "/api/v1/memories", READ, memories_list, NULL,
     FIELDS("user_id", "type", "status", "tag", "chat_id", PAGE),
     "List memories, newest first", "> [Memory]", 0},
    {HTTP_POST, "/api/v1/memories/undo", API_ROLE_ADMIN, memories_undo,
     FIELDS("from", "since", "dry_run"), NULL,
     "Take back all that an agent or a key contributed since a moment",
     "from,since > Undone", 0},
    {HTTP_GET, "/api/v1/conflicts", READ, conflicts_list, NULL,
     FIELDS("user_id", "limit"),
     "List memories that disagree, with what would settle it",
     "> [Conflict]", 0},
    {HTTP_GET, "/api/v1/memories/{id}", READ, memories_get, NULL, NULL,
     "Read a memory", "> Memory", 0},
    {HTTP_PATCH, "/api/v1/memories/{id}", WRITE, memories_patch,
     FIELDS("tags", "expires_at"), NULL,
     "Tag a memory or set when it expires", "> Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/resolve", WRITE, memories_resolve,
     FIELDS("resolution"), NULL, "Resolve an effort", "> Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/outcome", WRITE, memories_outcome,
     FIELDS("worked"), NULL, "Say whether a skill worked when it was used",
     "worked > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/reopen", WRITE, memories_reopen,
     NULL, NULL, "Open an effort again", "> Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/abandon", WRITE, memories_abandon,
     NULL, NULL, "Give an effort up", "> Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/retract", WRITE, memories_retract,
     NULL, NULL, "Take a memory back; what it superseded is valid again",
     "> Memory", 0},
    {HTTP_GET, "/api/v1/memories/{id}/lineage", READ, memories_lineage,
     NULL, FIELDS("at"), "Follow a memory's lineage both ways", "> Lineage", 0},
    {HTTP_GET, "/api/v1/memories/{id}/source", READ, memories_source,
     NULL, NULL, "The raw turns a memory comes from", "> [Turn]", 0},

    /* --- conversations --- */
    {HTTP_POST, "/api/v1/link", WRITE, link_post,
     FIELDS("messages", "system", "request_id", "created_at", "response",
            "user_id", "chat_id", "model"), NULL,
     "Place a call to an LLM in its conversation and store what is new",
     "messages > Link", 0},
    {HTTP_GET, "/api/v1/requests", READ, requests_list, NULL,
     FIELDS("conversation_id", PAGE),
     "List captured calls, newest first", "> [Request]", 0},
    {HTTP_GET, "/api/v1/conversations/{id}", READ, conversations_get, NULL,
     NULL, "Read a conversation's tree of calls and branches",
     "> Conversation", 0},

    /* --- forget --- */
    {HTTP_POST, "/api/v1/forget", WRITE, forget_post,
     FIELDS("turn_ids", "chat_id", "memory_ids", "user_id", "external_ids",
            "dry_run"), NULL,
     "Remove things and all that was derived from them", "> Receipt", 0},

    /* --- agents --- */
    {HTTP_GET, "/api/v1/agents", READ, agents_list, NULL, NULL,
     "List the agent packages in use, and what is wrong with others",
     "> Agents", 0},

    /* --- models --- */
    {HTTP_GET, "/api/v1/models", READ, models_list, NULL, NULL,
     "List the embedding models and how far each has come", "> [Model]", 0},

    /* --- the language model --- */
    {HTTP_GET, "/api/v1/usage", READ, usage_list, NULL, FIELDS("days"),
     "List calls to the language model, their tokens and cost, by day",
     "> [Usage]", 0},
    {HTTP_POST, "/api/v1/usage", WRITE, usage_post,
     FIELDS("purpose", "model", "input_tokens", "output_tokens", "failed"),
     NULL, "Write down a call to the language model that was made elsewhere",
     "purpose,model > UsageLeft", 0},

    /* --- all of it --- */
    {HTTP_GET, "/api/v1/export", ADMIN, export_get, NULL, NULL,
     "Read everything of the tenant, one JSON object a line", NULL, 0},
    {HTTP_POST, "/api/v1/import", ADMIN, import_post, FIELDS("rows"), NULL,
     "Take lines of an export, all or nothing; twice changes nothing",
     "rows > 200", 0},

    /* --- the server itself --- */
    {HTTP_GET, "/healthz", API_ROLE_NONE, meta_health, NULL, NULL,
     "Is the server well?", "> Health", 0},
    {HTTP_GET, "/metrics", API_ROLE_NONE, meta_metrics, NULL, NULL,
     "Prometheus metrics", NULL, 0},
    {HTTP_GET, "/openapi.json", API_ROLE_NONE, meta_openapi, NULL, NULL,
     "This document", ">", 0},

    {HTTP_OTHER, NULL, API_ROLE_NONE, NULL, NULL, NULL, NULL, NULL, 0},
};
/* clang-format on */
