/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_keep.c - memories, efforts, chains and calls, as they come back.
 * Data only; see openapi.h.
 */
#include "api/openapi/openapi.h"

/* clang-format off */
#define CALL_FIELDS                                                            \
    {"request_id!", "uuid", "The call's id"},                                  \
    {"conversation_id!", "uuid", "The conversation it is in"},                 \
    {"parent_request_id!", "uuid?", "The call it continues"},                  \
    {"branch_id!", "text", "Its branch of the conversation"},                  \
    {"chat_id!", "uuid", "The chat that has its turns"},                       \
    {"strategy!", "text", "How its place was found, e.g. exact"},            \
    {"current_message_hash!", "text", "Stands for all its messages"},          \
    {"parent_message_hash!", "text?", "Stands for those it continues"},        \
    {"system_hash!", "text?", "Stands for its system prompt"},                 \
    {"is_subtask!", "bool", "A sub-agent's call"},                             \
    {"message_count!", "count", "How many messages it has"}

#define REQUEST_FIELDS                                                         \
    CALL_FIELDS,                                                               \
    {"user_id!", "text", "Whose call it is"},                                  \
    {"api!", "text?", "Whose form it has"},                                    \
    {"model!", "text?", "The model that was asked"},                           \
    {"status!", "int?", "The provider's HTTP status"},                         \
    {"stop_reason!", "text?", "Why the answer ended"},                         \
    {"error!", "text?", "What went wrong"},                                    \
    {"is_complete!", "bool", "The answer came to its end"},                    \
    {"input_tokens!", "int?", "Tokens sent"},                                  \
    {"output_tokens!", "int?", "Tokens answered"},                             \
    {"cache_read_tokens!", "int?", "Tokens read from the provider's cache"},   \
    {"cache_write_tokens!", "int?",                                            \
     "Tokens written to it; null: those read are a part of input_tokens"},     \
    {"cost!", "number?", "What it cost; null: no price is known"},             \
    {"cost_from!", "text?", "reply: as the provider says; prices: setting"},   \
    {"duration_ms!", "int?", "How long it took"},                              \
    {"first_byte_ms!", "int?", "How long until the answer began"},             \
    {"first_seq!", "count", "The first turn it brought"},                      \
    {"last_seq!", "count", "The last turn it brought"},                        \
    {"reply_seq!", "int?", "The turn that is its answer"},                     \
    {"created_at!", "time", "When it was made"}

#define CHAIN_FIELDS                                                           \
    {"id!", "uuid", "Its id"},                                                 \
    {"user_id!", "text", "Whose it is"},                                       \
    {"chat_id!", "uuid", "The chat it began in"},                              \
    {"session_id!", "uuid", "The session it began in"},                        \
    {"topic!", "text", "What it is about"},                                    \
    {"state!", "active|dormant|concluded", "Whether it goes on"},              \
    {"started_at!", "time", "When it began"},                                  \
    {"last_extended!", "time", "When it last grew"},                           \
    {"claim_count!", "count", "How many claims it has"},                       \
    {"branches_from!", "uuid?", "The chain it left"},                          \
    {"merged_into!", "uuid?", "The chain it went into"},                       \
    {"twin_of!", "uuid?", "The chain it parted from at a fork"}

#define EFFORT_FIELDS                                                          \
    {"id!", "uuid", "Its id, also as a memory"},                               \
    {"goal!", "text", "What is to be reached"},                                \
    {"summary!", "text", "As goal"},                                           \
    {"status!", "text", "open, resolved or abandoned"},                        \
    {"state!", "text", "Whether its turns are in view"},                       \
    {"resolution!", "text?", "How it ended, in words"},                        \
    {"outcome!", "text?", "found or failed, once it ended"},                   \
    {"chat_id!", "uuid", "The chat that has its turns"},                       \
    {"parent_id!", "uuid?", "The effort it is a part of"},                     \
    {"user_id!", "text", "Whose it is"},                                       \
    {"spawned!", "bool", "It has a thread of its own"},                        \
    {"twin_of!", "uuid?", "The effort it parted from at a fork"},              \
    {"raw_tokens!", "count", "How long its turns are"}

const struct openapi_object openapi_keep[] = {
    {"Memory", "One thing worth keeping", OPENAPI_FIELDS(
        {"id!", "uuid", "Its id"},
        {"user_id!", "text", "Whose it is; empty: shared by the tenant"},
        {"type!", "text", "thought, fact, effort, event, decision, skill …"},
        {"status!", "text", "active; an effort: open, resolved, abandoned"},
        {"summary!", "text", "What it says"},
        {"resolution!", "text?", "How it ended"},
        {"tags!", "[text]", "Words to find it by"},
        {"fields!", "any", "Fields that its type has of its own"},
        {"source_ref!", "text?", "Chat and lines it comes from"},
        {"source_refs!", "[text]", "All chats and lines it comes from"},
        {"origin!", "text", "Who made it: rule, reader, llm, contributed …"},
        {"thought_type!", "text", "original, refinement or consolidation"},
        {"chat_id!", "uuid?", "The chat it was made in"},
        {"parent_id!", "uuid?", "The effort it is an attempt of"},
        {"agent_id!", "text?", "The agent that contributed it"},
        {"agent_name!", "text?", "What that agent is called"},
        {"is_instruction!", "bool", "It reads like an order to a model"},
        {"source_ids!", "[uuid]", "What it refines or consolidates"},
        {"pinned!", "bool", "Kept in view whatever its weight"},
        {"token_count!", "count", "Its length in tokens"},
        {"weight!", "number", "How much it counts now"},
        {"superseded!", "bool", "A newer one replaces it"},
        {"refined_by!", "uuid?", "The one that replaces it"},
        {"created_at!", "time", "When it was made"},
        {"updated_at!", "time", "When it last changed"},
        {"expires_at!", "time?", "When it stops to hold"},
        {"retracted_at!", "time?", "When it was taken back"})},
    {"Thought", "What others thought about a prompt", OPENAPI_FIELDS(
        {"result!", "ThoughtResult", "What there is"},
        {"trace!", "ThoughtTrace", "What was done"})},
    {"ThoughtResult", "Related thoughts", OPENAPI_FIELDS(
        {"response!", "text", "A sentence a model can use as it stands"},
        {"sources!", "[ThoughtSource]", "Related thoughts, best first"},
        {"highways_nearby!", "[ThoughtHighway]", "What many agents use"},
        {"disambiguation!", "ThoughtClusters?", "Topics to choose between"},
        {"guidance!", "text?", "What to do better next time"},
        {"onboarding!", "text?", "For an agent that is new"},
        {"thought_id!", "uuid?", "The thought that was stored"})},
    {"ThoughtSource", "A related thought", OPENAPI_FIELDS(
        {"thought_id!", "uuid", "The thought"},
        {"contributor!", "text?", "Who contributed it"},
        {"score!", "number", "How close it is"},
        {"content_preview!", "text", "How it begins"},
        {"refined_by!", "uuid?", "The one that replaces it"},
        {"superseded!", "bool", "A newer one replaces it"},
        {"type!", "text", "What kind of memory it is"},
        {"thought_type!", "text", "original, refinement or consolidation"},
        {"weight!", "number", "How much it counts now"})},
    {"ThoughtHighway", "A thought that many agents use", OPENAPI_FIELDS(
        {"thought_id!", "uuid", "The thought"},
        {"accesses!", "count", "How often it was used"},
        {"agents!", "count", "By how many agents"},
        {"content_preview!", "text", "How it begins"})},
    {"ThoughtClusters", "Topics that a prompt may mean", OPENAPI_FIELDS(
        {"clusters!", "[ThoughtCluster]", "The topics"})},
    {"ThoughtCluster", "A topic", OPENAPI_FIELDS(
        {"tag!", "text", "What it is called"},
        {"count!", "count", "How many thoughts it has"})},
    {"ThoughtTrace", "What was done with a prompt", OPENAPI_FIELDS(
        {"session_id!", "uuid", "The session, to send with the next one"},
        {"operations!", "[text]", "The steps, in order"},
        {"thoughts_retrieved!", "count", "How many are related"},
        {"thoughts_contributed!", "count", "1 if the prompt was stored"},
        {"contribution_threshold_met!", "bool", "It was worth storing"},
        {"context_used!", "bool", "The context helped to find them"},
        {"retrieval_method!", "text", "How they were found"},
        {"lineage_summary", "LineageSummary", "If it refines another"})},
    {"LineageSummary", "A lineage in short", OPENAPI_FIELDS(
        {"has_lineage!", "bool", "There is one"},
        {"chain_length!", "count", "How many thoughts it has"},
        {"deepest_ancestor!", "uuid", "The first of them"},
        {"latest_refinement!", "uuid", "The last of them"},
        {"truncated!", "bool", "There are more than are told"})},
    {"Lineage", "What a memory came from and became", OPENAPI_FIELDS(
        {"thought_id!", "uuid", "The memory that was asked for"},
        {"chain!", "[LineageNode]", "Oldest first"},
        {"truncated!", "bool", "There are more than are told"})},
    {"LineageNode", "A memory in a lineage", OPENAPI_FIELDS(
        {"id!", "uuid", "The memory"},
        {"thought_id!", "uuid", "As id"},
        {"type!", "text", "As thought_type"},
        {"thought_type!", "text", "original, refinement or consolidation"},
        {"source_ids!", "[uuid]", "What it refines or consolidates"},
        {"content_preview!", "text", "How it begins"},
        {"contributor!", "text?", "Who made it"},
        {"created_at!", "time", "When it was made"},
        {"depth!", "int", "Before (negative) or after the one asked for"},
        {"retracted!", "bool", "It was taken back"})},
    {"Conflict", "Two memories that disagree", OPENAPI_FIELDS(
        {"user_id!", "text", "Whose they are"},
        {"subject!", "text", "What they are about"},
        {"attribute!", "text", "Of which they say something"},
        {"qualifier!", "text?", "Of which kind"},
        {"older!", "ConflictSide", "The older one"},
        {"newer!", "ConflictSide", "The newer one"},
        {"suggestion!", "ConflictSuggestion", "What would settle it"})},
    {"ConflictSide", "One of two memories that disagree", OPENAPI_FIELDS(
        {"id!", "uuid", "The memory"},
        {"summary!", "text", "What it says"},
        {"value!", "text", "The value it gives"},
        {"created_at!", "time", "When it was made"})},
    {"ConflictSuggestion", "A thought to contribute", OPENAPI_FIELDS(
        {"refines!", "uuid", "The memory it would replace"},
        {"prompt!", "text", "What it would say"})},
    {"Undone", "What was taken back", OPENAPI_FIELDS(
        {"retracted!", "[uuid]", "The memories"},
        {"more!", "bool", "There is more: ask again"},
        {"dry_run!", "bool", "Nothing was done"})},
    {"Effort", "Something that is worked on", OPENAPI_FIELDS(EFFORT_FIELDS)},
    {"Chain", "Claims on one topic, in order", OPENAPI_FIELDS(CHAIN_FIELDS)},
    {"ChainDetail", "A chain with all it has", OPENAPI_FIELDS(CHAIN_FIELDS,
        {"claims!", "[Claim]", "Its claims, oldest first"},
        {"updates!", "[ChainEvent]", "What happened to it, oldest first"})},
    {"Claim", "One statement found in a turn", OPENAPI_FIELDS(
        {"id!", "uuid", "Its id"},
        {"chain_id!", "uuid", "The chain it is in"},
        {"turn_id!", "uuid", "The turn it was found in"},
        {"chat_id!", "uuid", "The chat of that turn"},
        {"seq!", "count", "The number of that turn"},
        {"position!", "count", "Its number in the turn"},
        {"first_byte!", "count", "Where it begins in the turn's text"},
        {"end_byte!", "count", "Where it ends"},
        {"type!", "text", "What kind of statement it is"},
        {"statement!", "text", "What it says"},
        {"subject!", "text", "What it is about"},
        {"entities!", "[text]", "Names in it"},
        {"keywords!", "[text]", "Words that tell"},
        {"confidence!", "number", "How sure the reading is"},
        {"valid_from!", "time?", "Since when it holds"},
        {"created_at!", "time", "When it was said"})},
    {"ChainEvent", "What happened to a chain", OPENAPI_FIELDS(
        {"id!", "uuid", "Its id"},
        {"type!", "text", "extend, create, branch, merge, conclude …"},
        {"chain_id!", "uuid", "The chain"},
        {"turn_id!", "uuid?", "The turn that did it"},
        {"parent_chain_id!", "uuid?", "The chain it branched from"},
        {"claim_ids!", "[uuid]", "The claims that were added"},
        {"distance!", "number?", "How far the claim was from the chain"},
        {"reasoning!", "text?", "Why, in words"},
        {"created_at!", "time", "When"})},
    {"Link", "Where a call belongs", OPENAPI_FIELDS(CALL_FIELDS,
        {"is_retry!", "bool", "It was placed before"},
        {"new_turns!", "count", "How many turns it brought"},
        {"note!", "text?", "What was odd about it"})},
    {"Request", "A captured call", OPENAPI_FIELDS(REQUEST_FIELDS,
        {"preview", "text?", "How it begins; in lists"},
        {"children", "[uuid]", "The calls that continue it; in trees"})},
    {"RequestDetail", "A captured call with its turns", OPENAPI_FIELDS(
        REQUEST_FIELDS, {"turns!", "[Turn]", "The turns it brought"})},
    {"Conversation", "A tree of calls", OPENAPI_FIELDS(
        {"id!", "uuid", "The root chat's id"},
        {"requests!", "[Request]", "The calls, oldest first"},
        {"branches!", "[Chat]", "The chats that have their turns"})},
    {"Relinked", "Links that were decided again", OPENAPI_FIELDS(
        {"requests!", "count", "Calls looked at so far"},
        {"total!", "count", "Of so many"},
        {"changed!", "count", "Of which so many are linked otherwise now"},
        {"resumed!", "bool", "An earlier run had been broken off"},
        {"done!", "bool", "There are no more"},
        {"by_strategy!", "{count}", "How many were linked how"})},
    {"Receipt", "What was forgotten", OPENAPI_FIELDS(
        {"forgotten!", "{count}", "How many of each kind"},
        {"receipt_id!", "uuid?", "Its id; null for a dry run"},
        {"sha256!", "text", "Stands for all that was removed"},
        {"scrubbed!", "bool", "No byte of it is left in the store's files"},
        {"remains", "text", "What is left, and why"},
        {"dry_run!", "bool", "Nothing was done"})},
    {NULL, NULL, NULL},
};
/* clang-format on */
