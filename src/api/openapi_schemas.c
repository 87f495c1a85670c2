/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_schemas.c - what fields and objects look like. See openapi.h.
 *
 * Data only. A test parses every entry and checks the references.
 */
#include "api/openapi.h"

#define TEXT "{\"type\":\"string\"}"
#define TEXT_OR_NULL "{\"type\":[\"string\",\"null\"]}"
#define ID "{\"type\":\"string\",\"format\":\"uuid\"}"
#define ID_OR_NULL "{\"type\":[\"string\",\"null\"],\"format\":\"uuid\"}"
#define TIME "{\"type\":\"string\",\"format\":\"date-time\"}"
#define TIME_OR_NULL "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}"
#define COUNT "{\"type\":\"integer\",\"minimum\":0}"
#define NUMBER "{\"type\":\"number\"}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define ANY "{\"description\":\"any JSON value\"}"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item "}"
#define OBJECT(properties)                                                     \
    "{\"type\":\"object\",\"properties\":{" properties "}}"
#define P(name, schema) "\"" name "\":" schema

#define ACT                                                                    \
    "{\"enum\":[\"greeting\",\"question\",\"request\",\"inform\","             \
    "\"commit\",\"accept\",\"reject\"]}"

/* clang-format off */
const struct openapi_schema openapi_fields[] = {
    {"act", ACT},
    {"after_seq", COUNT},
    {"agent_id", TEXT},
    {"agent_name", TEXT},
    {"at", TIME},
    {"at_seq", COUNT},
    {"all", TEXT},
    {"answer", TEXT},
    {"budget_tokens",
     "{\"type\":\"integer\",\"minimum\":64,\"maximum\":1000000}"},
    {"channel", TEXT},
    {"chat_id", ID},
    {"consolidates", LIST(ID)},
    {"context", TEXT},
    {"content",
     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\","
     "\"items\":{\"oneOf\":[{\"type\":\"object\"},{\"type\":\"string\"}]}}]}"},
    {"conversation_id", ID},
    {"created_at", TIME},
    {"cursor", TEXT},
    {"days", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":3660}"},
    {"decision", "{\"enum\":[\"link\",\"no_link\"]}"},
    {"dry_run", BOOLEAN},
    {"explain", BOOLEAN},
    {"expires_at", TIME_OR_NULL},
    {"external_id", TEXT},
    {"external_ids", LIST(TEXT)},
    {"failed", BOOLEAN},
    {"format", "{\"enum\":[\"text\",\"openai\",\"anthropic\"]}"},
    {"from", TEXT},
    {"goal", TEXT},
    {"id", ID},
    {"intent", TEXT},
    {"inactivity_minutes",
     "{\"type\":\"integer\",\"minimum\":1,\"maximum\":525600}"},
    {"input_tokens", COUNT},
    {"kinds", LIST("{\"enum\":[\"turn\",\"memory\",\"episode\",\"chat\"]}")},
    {"limit",
     "{\"type\":\"integer\",\"minimum\":1,\"maximum\":500,\"default\":50}"},
    {"memory_ids", LIST(ID)},
    {"message", TEXT},
    {"messages", LIST("{\"type\":\"object\"}")},
    {"model", TEXT},
    {"name", TEXT},
    {"parent_id", ID},
    {"outcome", "{\"enum\":[\"correct\",\"incorrect\"]}"},
    {"output_tokens", COUNT},
    {"previous", TEXT},
    {"prompt", TEXT},
    {"purpose", "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9._-]+$\"}"},
    {"q", TEXT},
    {"query", TEXT},
    {"read_only", BOOLEAN},
    {"refines", ID},
    {"request_id", ID},
    {"resolution", TEXT},
    {"response", ANY},
    {"role", "{\"enum\":[\"user\",\"assistant\",\"system\",\"tool\"]}"},
    {"rows", LIST("{\"type\":\"object\"}")},
    {"session_id", ID},
    {"since", TIME},
    {"state", "{\"enum\":[\"active\",\"dormant\",\"concluded\"]}"},
    {"status", TEXT},
    {"tag", TEXT},
    {"system", ANY},
    {"tags", LIST(TEXT)},
    {"text", TEXT},
    {"timezone", TEXT},
    {"title", TEXT},
    {"turn_ids", LIST(ID)},
    {"turns",
     "{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,"
     "\"items\":{\"type\":\"object\"}}"},
    {"type", TEXT},
    {"until", TIME},
    {"user_id", TEXT},
    {"worked", BOOLEAN},
    {NULL, NULL},
};

#define LINK_FIELDS                                                            \
    P("request_id", ID) "," P("conversation_id", ID) ","                       \
    P("parent_request_id", ID_OR_NULL) "," P("branch_id", TEXT) ","            \
    P("chat_id", ID) "," P("strategy", TEXT) ","                               \
    P("current_message_hash", TEXT) ","                                        \
    P("parent_message_hash", TEXT_OR_NULL) ","                                 \
    P("system_hash", TEXT_OR_NULL) "," P("is_subtask", BOOLEAN) ","            \
    P("message_count", COUNT)

#define CHAIN_FIELDS                                                           \
    P("id", ID)                                                                \
    "," P("user_id", TEXT) "," P("chat_id", ID) "," P("session_id", ID) ","    \
    P("topic", TEXT) "," P("state", TEXT) "," P("started_at", TIME) ","        \
    P("last_extended", TIME) "," P("claim_count", COUNT) ","                   \
    P("branches_from", ID_OR_NULL) "," P("merged_into", ID_OR_NULL)

const struct openapi_schema openapi_objects[] = {
    {"Error",
     OBJECT(P("error", OBJECT(P("code", TEXT) "," P("type", TEXT) ","
                              P("message", TEXT) "," P("field", TEXT) ","
                              P("request_id", TEXT))))},
    {"Agents",
     OBJECT(P("items", LIST(OBJECT(
                           P("name", TEXT) "," P("description", TEXT) ","
                           P("builtin", BOOLEAN) "," P("kept", BOOLEAN) ","
                           P("file", TEXT) "," P("fields", LIST(TEXT))))) ","
            P("problems", LIST(OBJECT(
                              P("file", TEXT) "," P("line", COUNT) ","
                              P("message", TEXT) "," P("kept", BOOLEAN)))))},
    {"Model",
     OBJECT(P("name", TEXT) "," P("id", TEXT) "," P("dim", COUNT) ","
            P("in_use", BOOLEAN) "," P("done", COUNT) "," P("total", COUNT) ","
            P("percent", NUMBER) "," P("tenants", COUNT) "," P("ready", COUNT)
            "," P("error", TEXT_OR_NULL))},
    {"Health",
     OBJECT(P("status", TEXT) "," P("version", TEXT) "," P("store", TEXT))},
    {"Link", OBJECT(LINK_FIELDS)},
    {"Request",
     OBJECT(LINK_FIELDS "," P("model", TEXT_OR_NULL) "," P("status", ANY) ","
            P("input_tokens", ANY) "," P("output_tokens", ANY) ","
            P("duration_ms", ANY) "," P("created_at", TIME))},
    {"Conversation",
     OBJECT(P("id", ID) "," P("requests", LIST(REF("Request"))) ","
            P("branches", LIST(REF("Chat"))))},
    {"Turn",
     OBJECT(P("id", ID) "," P("chat_id", ID) "," P("session_id", ID) ","
            P("seq", COUNT) "," P("user_id", TEXT) "," P("role", TEXT) ","
            P("name", TEXT_OR_NULL) "," P("channel", TEXT_OR_NULL) ","
            P("text", TEXT) "," P("content", LIST(ANY)) ","
            P("token_count", COUNT) "," P("created_at", TIME) ","
            P("stored_at", TIME) "," P("timezone", TEXT_OR_NULL) ","
            P("external_id", TEXT_OR_NULL))},
    {"Chat",
     OBJECT(P("id", ID) "," P("conversation_id", ID) ","
            P("parent_id", ID_OR_NULL) "," P("user_id", TEXT) ","
            P("branch", TEXT) "," P("title", TEXT_OR_NULL) ","
            P("summary", TEXT_OR_NULL) "," P("channels", LIST(TEXT)) ","
            P("is_explicit", BOOLEAN) "," P("fork_seq", COUNT) ","
            P("depth", COUNT) "," P("last_seq", COUNT) ","
            P("inactivity_minutes", "{\"type\":[\"integer\",\"null\"]}") ","
            P("inactivity_timeout_minutes", COUNT) ","
            P("explicit_channel", BOOLEAN) ","
            P("primary_episode_id", ID_OR_NULL) ","
            P("cross_chat_episodes", LIST(ID)) "," P("turn_count", COUNT) ","
            P("created_at", TIME) "," P("last_activity_at", TIME) ","
            P("closed_at", TIME_OR_NULL))},
    {"ChatTree",
     OBJECT(P("conversation_id", ID) "," P("items", LIST(REF("Chat"))) ","
            P("next_cursor", "{\"type\":\"null\"}"))},
    {"Session",
     OBJECT(P("id", ID) "," P("chat_id", ID) "," P("user_id", TEXT) ","
            P("started_at", TIME) "," P("last_activity_at", TIME) ","
            P("ended_at", TIME_OR_NULL))},
    {"Chain", OBJECT(CHAIN_FIELDS)},
    {"ChainDetail",
     OBJECT(CHAIN_FIELDS "," P("claims", LIST(REF("Claim"))) ","
            P("updates", LIST(REF("ChainEvent"))))},
    {"Claim",
     OBJECT(P("id", ID) "," P("chain_id", ID) "," P("turn_id", ID) ","
            P("chat_id", ID) "," P("seq", COUNT) "," P("position", COUNT) ","
            P("first_byte", COUNT) "," P("end_byte", COUNT) ","
            P("type", TEXT) "," P("statement", TEXT) "," P("subject", TEXT) ","
            P("entities", LIST(TEXT)) "," P("keywords", LIST(TEXT)) ","
            P("confidence", NUMBER) "," P("valid_from", TIME_OR_NULL) ","
            P("created_at", TIME))},
    {"ChainEvent",
     OBJECT(P("id", ID) "," P("type", TEXT) "," P("chain_id", ID) ","
            P("turn_id", ID_OR_NULL) "," P("parent_chain_id", ID_OR_NULL) ","
            P("claim_ids", LIST(ID)) "," P("distance", ANY) ","
            P("reasoning", TEXT) "," P("created_at", TIME))},
    {"Updates",
     OBJECT(P("memories", LIST(REF("MemoryUpdate"))) ","
            P("chains", LIST(REF("ChainUpdate"))) ","
            P("links", LIST(REF("LinkUpdate"))) ","
            P("episodes", LIST(REF("EpisodeUpdate"))))},
    {"Receipt",
     OBJECT(P("forgotten", ANY) "," P("receipt_id", ID_OR_NULL) ","
            P("sha256", TEXT) "," P("scrubbed", BOOLEAN) ","
            P("dry_run", BOOLEAN))},
    {"Memory",
     OBJECT(P("id", ID) "," P("user_id", TEXT) "," P("type", TEXT) ","
            P("status", TEXT) "," P("summary", TEXT) ","
            P("resolution", TEXT_OR_NULL) "," P("tags", LIST(TEXT)) ","
            P("fields", ANY) "," P("source_ref", TEXT_OR_NULL) ","
            P("source_refs", LIST(TEXT)) "," P("origin", TEXT) ","
            P("thought_type", TEXT) "," P("chat_id", ID_OR_NULL) ","
            P("parent_id", ID_OR_NULL) "," P("agent_id", TEXT_OR_NULL) ","
            P("agent_name", TEXT_OR_NULL) "," P("is_instruction", BOOLEAN) ","
            P("token_count", COUNT) "," P("weight", NUMBER) ","
            P("superseded", BOOLEAN) "," P("refined_by", ID_OR_NULL) ","
            P("created_at", TIME) "," P("updated_at", TIME) ","
            P("expires_at", TIME_OR_NULL) "," P("retracted_at", TIME_OR_NULL))},
    {"Thought",
     OBJECT(
            P("result", OBJECT(P("response", TEXT) ","
                P("sources", LIST(ANY)) "," P("highways_nearby", LIST(ANY)) ","
                P("disambiguation", ANY) "," P("guidance", TEXT_OR_NULL) ","
                P("onboarding", TEXT_OR_NULL) ","
                P("thought_id", ID_OR_NULL))) "," P("trace", ANY))},
    {"Lineage",
     OBJECT(P("thought_id", ID) "," P("chain", LIST(ANY)) ","
            P("truncated", BOOLEAN))},
    {"Conflict",
     OBJECT(P("user_id", TEXT) "," P("subject", TEXT) ","
            P("attribute", TEXT) "," P("qualifier", TEXT) ","
            P("older", ANY) "," P("newer", ANY) "," P("suggestion", ANY))},
    {"Undone",
     OBJECT(P("retracted", LIST(ID)) "," P("more", BOOLEAN) ","
            P("dry_run", BOOLEAN))},
    {"MemoryUpdate",
     OBJECT(P("id", ID) "," P("type", TEXT) "," P("status", TEXT) ","
            P("summary", TEXT) "," P("change", TEXT))},
    {"ChainUpdate",
     OBJECT(
            P("type", "{\"enum\":[\"extend\",\"create\",\"branch\",\"merge\","
                      "\"conclude\"]}") ","
            P("chain_id", ID) "," P("claim_ids", LIST(ID)) ","
            P("parent_chain_id", ID) "," P("distance", NUMBER) ","
            P("reasoning", TEXT_OR_NULL))},
    {"LinkUpdate",
     OBJECT(P("id", ID) "," P("chat_id", ID) "," P("other_chat_id", ID) ","
            P("decision", "{\"enum\":[\"link\",\"no_link\"]}") ","
            P("algorithmic", NUMBER) ","
            P("llm", "{\"type\":[\"number\",\"null\"]}") ","
            P("confidence", "{\"enum\":[\"high\",\"uncertain\"]}"))},
    {"EpisodeUpdate",
     OBJECT(P("id", ID) "," P("type", TEXT) "," P("change", TEXT))},
    {"Captured",
     OBJECT(P("turn", REF("Turn")) "," P("chat", REF("Chat")) ","
            P("updates", REF("Updates")) "," P("notices", LIST(TEXT)) ","
            P("trace_id", ID_OR_NULL) "," P("repeated", BOOLEAN))},
    {"CapturedOrBatch",
     "{\"oneOf\":[" REF("Captured") ","
     OBJECT(P("items", LIST(REF("Captured")))) "]}"},
    {"RecallItem",
     OBJECT(
            P("kind",
              "{\"enum\":[\"turn\",\"memory\",\"episode\",\"chat\"]}") ","
            P("id", ID) "," P("chat_id", ID_OR_NULL) ","
            P("turn_id", ID_OR_NULL) "," P("external_id", TEXT_OR_NULL) ","
            P("text", TEXT) "," P("score", NUMBER) "," P("created_at", TIME) ","
            P("superseded", BOOLEAN) "," P("refined_by", ID_OR_NULL) ","
            P("is_instruction", BOOLEAN) ","
            P("source_ref", TEXT_OR_NULL) "," P("why", OBJECT("")))},
    {"Recalled",
     OBJECT(P("items", LIST(REF("RecallItem"))) "," P("trace", OBJECT("")))},
    {"Episode",
     OBJECT(P("id", ID) "," P("type", TEXT) "," P("user_id", TEXT) ","
            P("chat_id", ID_OR_NULL) "," P("chat_ids", LIST(ID)) ","
            P("ordinal", COUNT) "," P("first_seq", ANY) ","
            P("last_seq", ANY) "," P("compacted", BOOLEAN) ","
            P("compacted_seq", COUNT) "," P("compacted_at", TIME_OR_NULL) ","
            P("cause", TEXT_OR_NULL) "," P("micro", TEXT_OR_NULL) ","
            P("meso", TEXT_OR_NULL) "," P("macro", TEXT_OR_NULL) ","
            P("citations", ANY) "," P("method", TEXT_OR_NULL) ","
            P("coverage", NUMBER) "," P("created_at", TIME) ","
            P("updated_at", TIME))},
    {"ChatLink",
     OBJECT(P("id", ID) "," P("user_id", TEXT) "," P("chat_id", ID) ","
            P("other_chat_id", ID) "," P("turn_id", ID) ","
            P("decision", "{\"enum\":[\"link\",\"no_link\"]}") ","
            P("algorithmic", NUMBER) ","
            P("llm", "{\"type\":[\"number\",\"null\"]}") ","
            P("threshold", NUMBER) "," P("agreement", TEXT) ","
            P("confidence", TEXT) "," P("signals", ANY) ","
            P("outcome", TEXT_OR_NULL) "," P("outcome_by", TEXT_OR_NULL) ","
            P("outcome_at", TIME_OR_NULL) "," P("created_at", TIME) ","
            P("updated_at", TIME))},
    {"Tuning",
     OBJECT(P("id", ID_OR_NULL) "," P("previous_id", ID_OR_NULL) ","
            P("threshold", NUMBER) "," P("weights", ANY) ","
            P("llm_weight", NUMBER) "," P("prompt_signals", LIST(TEXT)) ","
            P("reason", TEXT) "," P("metrics", ANY) ","
            P("created_at", TIME_OR_NULL))},
    {"Tunings",
     OBJECT(P("current", REF("Tuning")) "," P("history", LIST(REF("Tuning"))))},
    {"Task",
     OBJECT(P("id", ID) "," P("kind", TEXT) "," P("status", TEXT) ","
            P("priority", ANY) "," P("attempts", COUNT) ","
            P("execute_at", TIME) "," P("last_error", TEXT_OR_NULL) ","
            P("created_at", TIME) "," P("finished_at", TIME_OR_NULL))},
    {"Trace",
     OBJECT(P("id", ID) "," P("chat_id", ID) "," P("created_at", TIME) ","
            P("decisions", ANY))},
    {"Usage",
     OBJECT(P("day", "{\"type\":\"string\",\"format\":\"date\"}") ","
            P("purpose", TEXT) "," P("model", TEXT) "," P("calls", COUNT) ","
            P("failures", COUNT) "," P("input_tokens", COUNT) ","
            P("output_tokens", COUNT) "," P("cost", NUMBER))},
    {"UsageLeft",
     OBJECT(P("used_tokens", COUNT) "," P("daily_tokens", COUNT))},
    {"Act", OBJECT(P("act", ACT))},
    {"Analysis",
     OBJECT(P("act", ACT) "," P("confidence", NUMBER) "," P(
         "level", "{\"enum\":[\"command\",\"rule\",\"classifier\",\"llm\"]}")
            "," P("rule", TEXT) "," P("corrected", BOOLEAN) "," P(
                "sentences", LIST(OBJECT(""))) "," P("segments",
                                                     LIST(OBJECT("")))
                "," P("entities", LIST(OBJECT(""))) "," P(
                    "keywords", LIST(OBJECT(""))) "," P("dates",
                                                        LIST(OBJECT(""))))},
    {"Context",
     OBJECT(P("text", TEXT) "," P("messages", LIST(OBJECT(""))) "," P(
         "system", LIST(OBJECT(""))) "," P("tokens", COUNT) "," P(
         "hash", TEXT) "," P("cached", BOOLEAN) "," P(
         "sections",
         LIST(OBJECT(P("name", TEXT) "," P("tokens", COUNT) "," P(
             "sources", LIST(TEXT))))))},
    {"Effort",
     OBJECT(P("id", ID) "," P("goal", TEXT) "," P("summary", TEXT) "," P(
         "status", TEXT) "," P("state", TEXT) "," P(
         "resolution", TEXT_OR_NULL) "," P("outcome", TEXT_OR_NULL) "," P(
         "chat_id", ID) "," P("parent_id", ID_OR_NULL) "," P(
         "user_id", TEXT) "," P("spawned", BOOLEAN) "," P("raw_tokens",
                                                          COUNT))},
    {"Start",
     OBJECT(P("id", ID) "," P("text", TEXT) "," P(
         "related_chats", LIST(OBJECT(""))) "," P(
         "relevant_memories", LIST(OBJECT(""))) "," P("options",
                                                      LIST(OBJECT(""))))},
    {"Choice",
     OBJECT(P("action", TEXT) "," P("chat_id", ID_OR_NULL) "," P(
         "imported", LIST(ID)) "," P("text", TEXT))},
    {NULL, NULL},
};
/* clang-format on */
