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
     "createTurns: user_id,role,content > 201 CapturedOrBatch", 0},
    {HTTP_GET, "/api/v1/turns", READ, turns_find, NULL,
     FIELDS("external_id", "secrets"),
     "Find the turn with your id", "findTurns: external_id > [Turn]", 0},

    /* --- chats --- */
    {HTTP_POST, "/api/v1/chats", WRITE, chats_post,
     FIELDS("user_id", "channel", "title", "inactivity_minutes"), NULL,
     "Make a chat", "createChat: user_id > 201 Chat", 0},
    {HTTP_GET, "/api/v1/chats", READ, chats_list,
     NULL, FIELDS("user_id", "q", "sort", "since", "until", PAGE),
     "List chats, newest activity first", "listChats: > [Chat]", 0},
    {HTTP_GET, "/api/v1/chats/{id}", READ, chats_get, NULL, NULL,
     "Read a chat", "getChat: > Chat", 0},
    {HTTP_PATCH, "/api/v1/chats/{id}", WRITE, chats_patch,
     FIELDS("title", "inactivity_minutes"), NULL,
     "Rename a chat or set its timeout", "updateChat: > Chat", 0},
    {HTTP_GET, "/api/v1/chats/{id}/turns", READ, chats_turns,
     NULL, FIELDS("after_seq", "before_seq", "secrets", PAGE),
     "Read a chat's turns, oldest first, through its forks",
     "listTurns: > [Turn]", 0},
    {HTTP_GET, "/api/v1/chats/{id}/marks", READ, chats_marks,
     NULL, FIELDS("after_seq", "limit"),
     "Topics, efforts, memories and forks beside a stretch of turns",
     "listMarks: > Marks", 0},
    {HTTP_POST, "/api/v1/chats/{id}/fork", WRITE, chats_fork,
     FIELDS("at_seq", "title", "subtask"), NULL,
     "Fork a chat at any turn; nothing is copied", "forkChat: > 201 Chat", 0},
    {HTTP_GET, "/api/v1/chats/{id}/tree", READ, chats_tree, NULL, NULL,
     "List the tree of forks a chat belongs to", "getChatTree: > ChatTree", 0},
    {HTTP_POST, "/api/v1/chats/{id}/close", WRITE, chats_close, NULL, NULL,
     "Close a chat", "closeChat: > Chat", 0},

    {HTTP_POST, "/api/v1/chats/{id}/context", READ, context_post,
     FIELDS("budget_tokens", "message", "format"), NULL,
     "What the next turn of a chat needs to know, within a budget",
     "getContext: > Context", 0},

    /* --- efforts --- */
    {HTTP_POST, "/api/v1/efforts", WRITE, efforts_post,
     FIELDS("user_id", "goal", "chat_id", "parent_id"), NULL,
     "Spawn an effort with a thread of its own",
     "createEffort: user_id,goal > 201 Effort",
     0},
    {HTTP_GET, "/api/v1/efforts", READ, efforts_list,
     NULL, FIELDS("user_id", "chat_id", "all"),
     "Open efforts of a user or a chat; `all` lists closed ones too",
     "listEfforts: > [Effort]", 0},
    {HTTP_GET, "/api/v1/efforts/{id}", READ, efforts_get, NULL, NULL,
     "Read an effort", "getEffort: > Effort", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/turns", WRITE, efforts_turns,
     FIELDS("user_id", "role", "content", "name", "channel", "created_at",
            "timezone", "external_id"), NULL,
     "Store a turn in an effort's thread",
     "createEffortTurn: role,content > 201 Captured", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/collapse", WRITE, efforts_collapse,
     FIELDS("resolution", "outcome"), NULL,
     "Put an effort's turns out of view; a spawned one ends with its result",
     "collapseEffort: > Effort", 0},
    {HTTP_POST, "/api/v1/efforts/{id}/expand", WRITE, efforts_expand,
     NULL, NULL, "Put an effort's turns in view", "expandEffort: > Effort", 0},
    {HTTP_GET, "/api/v1/efforts/{id}/context", READ, efforts_context,
     NULL, FIELDS("budget_tokens"), "The context to work on an effort in",
     "getEffortContext: > Context", 0},

    {HTTP_POST, "/api/v1/chats/{id}/compact", WRITE, episodes_compact, NULL,
     NULL, "Sum a chat up now", "compactChat: > [Episode]", 0},

    /* --- episodes and links --- */
    {HTTP_GET, "/api/v1/episodes", READ, episodes_list, NULL,
     FIELDS("chat_id", "user_id", PAGE), "List episodes, newest first",
     "listEpisodes: > [Episode]", 0},
    {HTTP_GET, "/api/v1/episodes/{id}", READ, episodes_get, NULL, NULL,
     "Read an episode", "getEpisode: > Episode", 0},
    {HTTP_GET, "/api/v1/links", READ, links_list, NULL,
     FIELDS("chat_id", "user_id", "decision", PAGE),
     "List decisions about links between chats, newest first",
     "listLinks: > [ChatLink]",
     0},
    {HTTP_POST, "/api/v1/links/{id}/feedback", WRITE, links_feedback,
     FIELDS("outcome"), NULL, "Say whether a link decision was right",
     "rateLink: outcome > ChatLink", 0},
    {HTTP_GET, "/api/v1/tuning", READ, tuning_get, NULL, NULL,
     "How linking is tuned, and was", "getTuning: > Tunings", 0},
    {HTTP_POST, "/api/v1/tuning/revert", WRITE, tuning_revert, NULL, NULL,
     "Go back to the tuning before", "revertTuning: > Tuning", 0},

    /* --- tasks and traces --- */
    {HTTP_GET, "/api/v1/tasks", READ, tasks_list, NULL, FIELDS("status", PAGE),
     "List later work, newest first", "listTasks: > [Task]", 0},
    {HTTP_GET, "/api/v1/traces/{id}", READ, traces_get, NULL, NULL,
     "What was decided about a turn or a call, and why",
     "getTrace: > Trace", 0},

    /* --- start --- */
    {HTTP_POST, "/api/v1/start", WRITE, start_post,
     FIELDS("user_id", "intent"), NULL,
     "Begin a conversation: related chats, memories and four ways on",
     "start: user_id,intent > Start", 0},
    {HTTP_POST, "/api/v1/start/{id}/choose", WRITE, start_choose_post,
     FIELDS("answer", "user_id"), NULL,
     "Answer a start (of user_id alone if given): continue, fork, new with "
     "memories that are picked, fresh",
     "chooseStart: answer > Choice", 0},

    /* --- sessions --- */
    {HTTP_GET, "/api/v1/sessions", READ, sessions_list, NULL,
     FIELDS("chat_id", PAGE), "List a chat's sessions with their summaries",
     "listSessions: chat_id > [Session]", 0},
    {HTTP_POST, "/api/v1/sessions/{id}/end", WRITE, sessions_end, NULL, NULL,
     "End a session", "endSession: > Session", 0},

    /* --- chains --- */
    {HTTP_GET, "/api/v1/chains", READ, chains_list, NULL,
     FIELDS("user_id", "state", "chat_id", "session_id", PAGE),
     "List chains of thought, latest extension first",
     "listChains: > [Chain]", 0},
    {HTTP_GET, "/api/v1/chains/{id}", READ, chains_get, NULL, NULL,
     "Read a chain with its claims and updates", "getChain: > ChainDetail", 0},
    {HTTP_POST, "/api/v1/chains/{id}/conclude", WRITE, chains_conclude, NULL,
     NULL, "Conclude a chain", "concludeChain: > Chain", 0},
    {HTTP_POST, "/api/v1/chains/{id}/reopen", WRITE, chains_reopen, NULL, NULL,
     "Open a concluded or dormant chain again", "reopenChain: > Chain", 0},

    /* --- recall --- */
    {HTTP_POST, "/api/v1/recall", READ, recall_post,
     FIELDS("query", "user_id", "chat_id", "kinds", "limit", "since", "until",
            "at", "timezone", "explain", "fast", "min_score", "cursor",
            "asked_in"), NULL,
     "Find what was said", "recall: query > Recalled", 0},

    {HTTP_POST, "/api/v1/ask", READ, ask_post,
     FIELDS("query", "user_id", "chat_id", "since", "until", "at", "timezone",
            "deep", "stream"), NULL,
     "Answer a question in sentences that cite what was said",
     "ask: query > Answer", 0},

    /* --- analyse --- */
    {HTTP_POST, "/api/v1/analyse", READ, analyse_post,
     FIELDS("text", "previous", "created_at", "timezone"), NULL,
     "What a text does, and what is in it", "analyse: text > Analysis", 0},
    {HTTP_POST, "/api/v1/analyse/feedback", WRITE, analyse_feedback,
     FIELDS("text", "previous", "act"), NULL,
     "Set the act of a text right, for the next time",
     "correctAnalysis: text,act > Act", 0},

    /* --- memories --- */
    {HTTP_POST, "/api/v1/memory", READ, thoughts_post,
     FIELDS("prompt", "agent_id", "agent_name", "context", "session_id",
            "refines", "consolidates", "read_only"), NULL,
     "Contribute a thought and retrieve related ones",
     "shareThought: prompt,agent_id,agent_name > Thought", 0},
    {HTTP_GET, "/api/v1/memory", READ, thoughts_get, NULL,
     FIELDS("prompt", "agent_id", "agent_name", "context", "session_id",
            "refines", "consolidates", "read_only"),
     "The related ones alone, asked with a query string; nothing is stored",
     "getThoughts: prompt,agent_id,agent_name > Thought", 0},
    {HTTP_GET, "/api/v1/memories", READ, memories_list, NULL,
     FIELDS("user_id", "type", "status", "tag", "chat_id", "q", "pinned",
            "origin", "agent_id", "retracted", PAGE),
     "List memories, newest first; `retracted` those taken back too",
     "listMemories: > [Memory]", 0},
    {HTTP_POST, "/api/v1/memories", WRITE, memories_post,
     FIELDS("user_id", "type", "summary", "tags", "pinned"), NULL,
     "Write a memory by hand", "createMemory: summary > 201 Memory", 0},
    {HTTP_POST, "/api/v1/memories/undo", API_ROLE_ADMIN, memories_undo,
     FIELDS("from", "since", "dry_run"), NULL,
     "Take back all that an agent or a key contributed since a moment",
     "undoMemories: from,since > Undone", 0},
    {HTTP_GET, "/api/v1/conflicts", READ, conflicts_list, NULL,
     FIELDS("user_id", "limit"),
     "List memories that disagree, with what would settle it",
     "listConflicts: > [Conflict]", 0},
    {HTTP_GET, "/api/v1/memories/{id}", READ, memories_get, NULL, NULL,
     "Read a memory", "getMemory: > Memory", 0},
    {HTTP_PATCH, "/api/v1/memories/{id}", WRITE, memories_patch,
     FIELDS("tags", "type", "pinned", "summary", "expires_at"), NULL,
     "Tag or pin a memory, or correct it: a new summary is a refinement",
     "updateMemory: > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/resolve", WRITE, memories_resolve,
     FIELDS("resolution", "chat_id"), NULL, "Resolve an effort",
     "resolveMemory: > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/outcome", WRITE, memories_outcome,
     FIELDS("worked"), NULL, "Say whether a skill worked when it was used",
     "rateMemory: worked > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/reopen", WRITE, memories_reopen,
     FIELDS("chat_id"), NULL, "Open an effort again",
     "reopenMemory: > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/abandon", WRITE, memories_abandon,
     FIELDS("chat_id"), NULL, "Give an effort up",
     "abandonMemory: > Memory", 0},
    {HTTP_POST, "/api/v1/memories/{id}/retract", WRITE, memories_retract,
     NULL, NULL, "Take a memory back; what it superseded is valid again",
     "retractMemory: > Memory", 0},
    {HTTP_GET, "/api/v1/memories/{id}/lineage", READ, memories_lineage,
     NULL, FIELDS("at"), "Follow a memory's lineage both ways",
     "getLineage: > Lineage", 0},
    {HTTP_GET, "/api/v1/memories/{id}/source", READ, memories_source,
     NULL, FIELDS("secrets"), "The raw turns a memory comes from",
     "getMemorySource: > [Turn]", 0},

    /* --- conversations --- */
    {HTTP_POST, "/api/v1/link", WRITE, link_post,
     FIELDS("messages", "system", "request_id", "created_at", "response",
            "user_id", "chat_id", "model"), NULL,
     "Place a call to an LLM in its conversation and store what is new",
     "linkCall: messages > Link", 0},
    {HTTP_GET, "/api/v1/requests", READ, requests_list, NULL,
     FIELDS("conversation_id", "user_id", "model", "since", "until", "status",
            PAGE),
     "List captured calls, newest first", "listRequests: > [Request]", 0},
    {HTTP_GET, "/api/v1/requests/{id}", READ, requests_get, NULL,
     FIELDS("secrets"),
     "Read a captured call with the turns it brought",
     "getRequest: > RequestDetail", 0},
    {HTTP_POST, "/api/v1/requests/relink", ADMIN, requests_relink, NULL, NULL,
     "Decide again which call continues which; ask again until it is done",
     "relinkRequests: > Relinked", 0},
    {HTTP_GET, "/api/v1/conversations/{id}", READ, conversations_get, NULL,
     NULL, "Read a conversation's tree of calls and branches",
     "getConversation: > Conversation", 0},

    /* --- forget --- */
    {HTTP_POST, "/api/v1/forget", WRITE, forget_post,
     FIELDS("turn_ids", "chat_id", "memory_ids", "user_id", "external_ids",
            "dry_run"), NULL,
     "Remove things and all that was derived from them",
     "forget: > Receipt", 0},

    /* --- agents --- */
    {HTTP_GET, "/api/v1/agents", READ, agents_list, NULL, NULL,
     "List the agent packages in use, and what is wrong with others",
     "listAgents: > Agents", 0},

    /* --- models --- */
    {HTTP_GET, "/api/v1/models", READ, models_list, NULL, NULL,
     "List the embedding models and how far each has come",
     "listModels: > [Model]", 0},

    /* --- the language model --- */
    {HTTP_GET, "/api/v1/usage", READ, usage_list, NULL, FIELDS("days"),
     "List calls to the language model, their tokens and cost, by day",
     "listUsage: > [Usage]", 0},
    {HTTP_POST, "/api/v1/usage", WRITE, usage_post,
     FIELDS("purpose", "model", "input_tokens", "output_tokens", "failed"),
     NULL, "Write down a call to the language model that was made elsewhere",
     "recordUsage: purpose,model > UsageLeft", 0},

    /* --- who calls --- */
    {HTTP_GET, "/api/v1/callers", READ, callers_list, NULL, NULL,
     "List the programs that called, by the name they carry, latest first",
     "listCallers: > [Caller]", 0},

    /* --- what there is, and what happens --- */
    {HTTP_GET, "/api/v1/stats", READ, stats_get, NULL,
     FIELDS("user_id", "since", "until", "utc_offset_minutes"),
     "How much there is, and how much came on which day",
     "getStats: > Stats", 0},
    {HTTP_GET, "/api/v1/users", READ, users_list, NULL, FIELDS(PAGE),
     "List those who speak here, by name", "listUsers: > [User]", 0},
    {HTTP_PATCH, "/api/v1/users/{user_id}", WRITE, users_patch,
     FIELDS("inactivity_minutes"), NULL,
     "Give a user a timeout of their own; null takes it back",
     "updateUser: inactivity_minutes > UserTimeout", 0},
    {HTTP_GET, "/api/v1/ids/{part}", READ, ids_get, NULL, FIELDS("kind"),
     "What has an id that begins so; at least four hex digits",
     "findIds: > [Id]", 0},
    {HTTP_GET, "/api/v1/events", READ, events_get, NULL, FIELDS("after"),
     "What happens, as server-sent events; `Last-Event-ID` resumes",
     "streamEvents: > text/event-stream Event", 0},

    /* --- administration --- */
    {HTTP_GET, "/api/v1/tenant", READ, tenant_show, NULL, NULL,
     "The tenant itself, and what it decided", "getTenant: > Tenant", 0},
    {HTTP_PATCH, "/api/v1/tenant", ADMIN, tenant_patch, FIELDS("llm"), NULL,
     "Forbid that its words are shown to language models, or allow it",
     "updateTenant: llm > Tenant", 0},
    {HTTP_GET, "/api/v1/keys", ADMIN, keys_list, NULL, NULL,
     "List the tenant's keys, without their secrets", "listKeys: > [Key]", 0},
    {HTTP_POST, "/api/v1/keys", ADMIN, keys_post, FIELDS("role", "label"), NULL,
     "Make a key for the tenant; its secret is shown once",
     "createKey: role > 201 NewKey", 0},
    {HTTP_DELETE, "/api/v1/keys/{id}", ADMIN, keys_delete, NULL, NULL,
     "Revoke a key", "revokeKey: > Key", 0},
    {HTTP_GET, "/api/v1/settings", ADMIN, settings_get, NULL, NULL,
     "The settings in force and where each came from, secrets masked",
     "getSettings: > Settings", 0},

    /* --- all of it --- */
    {HTTP_POST, "/api/v1/backup", ADMIN, backup_post, FIELDS("dry_run"), NULL,
     "Copy the store, all tenants, to a file on the server; SQLite only",
     "makeBackup: > Backup", 0},
    {HTTP_GET, "/api/v1/export", ADMIN, export_get, NULL, NULL,
     "Read everything of the tenant, one JSON object a line",
     "exportAll: > application/x-ndjson ExportRow", 0},
    {HTTP_POST, "/api/v1/import", ADMIN, import_post, FIELDS("rows"), NULL,
     "Take lines of an export, all or nothing; twice changes nothing",
     "importRows: rows > Imported", 0},

    /* --- the server itself --- */
    {HTTP_GET, "/", API_ROLE_NONE, meta_index, NULL, NULL,
     "Where things are; browsers get the page", "getIndex: > Index", 0},
    {HTTP_GET, "/healthz", API_ROLE_NONE, meta_health, NULL, NULL,
     "Is the server well?", "getHealth: > Health", 0},
    {HTTP_GET, "/metrics", ADMIN, meta_metrics, NULL, NULL,
     "Prometheus metrics; who may read them says server.metrics",
     "getMetrics: > text/plain",
     API_METRICS},
    {HTTP_GET, "/openapi.json", API_ROLE_NONE, meta_openapi, NULL, NULL,
     "This document", "getOpenapi: > Document", 0},

    {HTTP_OTHER, NULL, API_ROLE_NONE, NULL, NULL, NULL, NULL, NULL, 0},
};
/* clang-format on */
