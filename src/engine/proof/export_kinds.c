/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_kinds.c - the table of what is exported. See export_kinds.h.
 */
#include "engine/proof/export_kinds.h"

#include "base/buf.h"
#include "engine/read/gist.h"

#include <string.h>

/* Where a turn stands in the log. */
#define COLUMNS(array) array, sizeof(array) / sizeof((array)[0])

static const struct export_column tenant_setting_columns[] = {
    {"name", EXPORT_TEXT, false, NULL},
    {"value", EXPORT_TEXT, false, NULL},
    {"changed_at", EXPORT_TIME, false, NULL},
};
static const struct export_column user_columns[] = {
    {"user_id", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"inactivity_minutes", EXPORT_INT, true, NULL},
};
static const struct export_column chat_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"conversation_id", EXPORT_ID, false, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"fork_seq", EXPORT_INT, false, NULL},
    {"depth", EXPORT_INT, false, NULL},
    {"branch", EXPORT_TEXT, false, NULL},
    {"title", EXPORT_TEXT, true, NULL},
    {"is_titled_by_user", EXPORT_INT, false, NULL},
    {"summary", EXPORT_TEXT, true, NULL},
    {"is_explicit", EXPORT_INT, false, NULL},
    {"channels", EXPORT_TEXT, false, NULL},
    {"inactivity_minutes", EXPORT_INT, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"last_activity_at", EXPORT_TIME, false, NULL},
    {"closed_at", EXPORT_TIME, true, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
    {"primary_episode_id", EXPORT_ID, true, NULL},
    {"cross_episodes", EXPORT_TEXT, true, NULL},
};
static const struct export_column session_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"started_at", EXPORT_TIME, false, NULL},
    {"last_activity_at", EXPORT_TIME, false, NULL},
    {"ended_at", EXPORT_TIME, true, NULL},
};
static const struct export_column turn_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"session_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"role", EXPORT_TEXT, false, NULL},
    {"name", EXPORT_TEXT, true, NULL},
    {"channel", EXPORT_TEXT, true, NULL},
    {"content", EXPORT_TEXT, true, NULL},
    {"text", EXPORT_TEXT, false, NULL},
    {"token_count", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"stored_at", EXPORT_TIME, false, NULL},
    {"timezone", EXPORT_TEXT, true, NULL},
    {"external_id", EXPORT_TEXT, true, NULL},
    {"log_flags", EXPORT_INT, true, NULL},
    {EXPORT_LOG_SEQ, EXPORT_INT, true, NULL},
};
static const struct export_column action_columns[] = {
    {"seq", EXPORT_INT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"kind", EXPORT_TEXT, false, NULL},
    {"subject", EXPORT_ID, true, NULL},
    {"made", EXPORT_ID, true, NULL},
    {"packed", EXPORT_PACKED, false, "detail"},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column request_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"conversation_id", EXPORT_ID, false, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"origin_id", EXPORT_ID, false, NULL},
    {"parent_origin_id", EXPORT_ID, true, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"branch", EXPORT_TEXT, false, NULL},
    {"strategy", EXPORT_TEXT, false, NULL},
    {"message_count", EXPORT_INT, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
    {"reply_seq", EXPORT_INT, true, NULL},
    {"subtask_number", EXPORT_INT, true, NULL},
    {"hash_key", EXPORT_ID, false, NULL},
    {"reply_key", EXPORT_ID, true, NULL},
    {"response_id", EXPORT_TEXT, true, NULL},
    {"current_hash", EXPORT_BYTES, false, NULL},
    {"parent_hash", EXPORT_BYTES, true, NULL},
    {"system_hash", EXPORT_BYTES, true, NULL},
    {"parent_reply_key", EXPORT_ID, true, NULL},
    {"grandparent_key", EXPORT_ID, true, NULL},
    {"grandparent_reply_key", EXPORT_ID, true, NULL},
    {"prompt_key", EXPORT_ID, true, NULL},
    {"previous_id", EXPORT_TEXT, true, NULL},
    {"is_summarising", EXPORT_INT, false, NULL},
    {"is_compact", EXPORT_INT, false, NULL},
    {"api", EXPORT_TEXT, true, NULL},
    {"model", EXPORT_TEXT, true, NULL},
    {"status", EXPORT_INT, true, NULL},
    {"stop_reason", EXPORT_TEXT, true, NULL},
    {"error", EXPORT_TEXT, true, NULL},
    {"is_complete", EXPORT_INT, false, NULL},
    {"input_tokens", EXPORT_INT, true, NULL},
    {"output_tokens", EXPORT_INT, true, NULL},
    {"duration_ms", EXPORT_INT, true, NULL},
    {"first_byte_ms", EXPORT_INT, true, NULL},
    {"cache_read_tokens", EXPORT_INT, true, NULL},
    {"cache_write_tokens", EXPORT_INT, true, NULL},
    {"cost_micros", EXPORT_INT, true, NULL},
    {"session_hint", EXPORT_TEXT, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"stored_at", EXPORT_TIME, false, NULL},
};
static const struct export_column request_prefix_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"prefix_key", EXPORT_ID, false, NULL},
};
static const struct export_column request_task_columns[] = {
    {"prompt_key", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"request_id", EXPORT_ID, false, NULL},
};
static const struct export_column request_anchor_columns[] = {
    {"hour", EXPORT_INT, false, NULL},
    {"anchor", EXPORT_HASH, false, NULL},
    {"request_id", EXPORT_ID, false, NULL},
};
static const struct export_column memory_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"type", EXPORT_TEXT, false, "memory_type"},
    {"status", EXPORT_TEXT, false, NULL},
    {"summary", EXPORT_TEXT, false, NULL},
    {"resolution", EXPORT_TEXT, true, NULL},
    {"tags", EXPORT_TEXT, false, NULL},
    {"packed", EXPORT_BESIDE, true, "fields"},
    {"origin", EXPORT_TEXT, false, NULL},
    {"lineage", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, true, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"agent_id", EXPORT_TEXT, true, NULL},
    {"agent_name", EXPORT_TEXT, true, NULL},
    {"agent_session", EXPORT_ID, true, NULL},
    {"key_id", EXPORT_TEXT, true, NULL},
    {"context", EXPORT_TEXT, true, NULL},
    {"is_instruction", EXPORT_INT, false, NULL},
    {"token_count", EXPORT_INT, false, NULL},
    {"weight", EXPORT_REAL, false, NULL},
    {"weight_at", EXPORT_TIME, false, NULL},
    {"retrieval_count", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"updated_at", EXPORT_TIME, false, NULL},
    {"expires_at", EXPORT_TIME, true, NULL},
    {"retracted_at", EXPORT_TIME, true, NULL},
    {"pinned_at", EXPORT_TIME, true, NULL},
};
static const struct export_column memory_source_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"source_id", EXPORT_ID, false, NULL},
    {"ordinal", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column memory_ref_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
};
static const struct export_column memory_key_columns[] = {
    {"kind", EXPORT_TEXT, false, NULL},
    {"digest", EXPORT_ID, false, NULL},
    {"memory_id", EXPORT_ID, false, NULL},
};
static const struct export_column unread_columns[] = {
    {"created_at", EXPORT_INT, false, NULL},
    {"turn_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
};
static const struct export_column chat_memory_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"memory_id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column memory_access_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"agent_id", EXPORT_TEXT, false, NULL},
    {"access_count", EXPORT_INT, false, NULL},
};
static const struct export_column effort_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"thread_id", EXPORT_ID, false, NULL},
    {"state", EXPORT_TEXT, false, NULL},
    {"outcome", EXPORT_TEXT, true, NULL},
    {"is_open", EXPORT_INT, false, NULL},
    {"is_spawned", EXPORT_INT, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
    {"last_at", EXPORT_TIME, false, NULL},
    {"raw_tokens", EXPORT_INT, false, NULL},
    {"twin_of", EXPORT_ID, true, NULL},
};
static const struct export_column agent_columns[] = {
    {"agent_id", EXPORT_TEXT, false, NULL},
    {"agent_name", EXPORT_TEXT, false, NULL},
    {"first_seen_at", EXPORT_TIME, false, NULL},
};
static const struct export_column agent_result_columns[] = {
    {"agent_session", EXPORT_ID, false, NULL},
    {"memory_id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"is_credited", EXPORT_INT, false, NULL},
};
static const struct export_column correction_columns[] = {
    {"key", EXPORT_BYTES, false, NULL},
    {"act", EXPORT_TEXT, false, NULL},
    {"was", EXPORT_TEXT, false, NULL},
    {"level", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column chain_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"session_id", EXPORT_ID, false, NULL},
    {"topic", EXPORT_TEXT, false, NULL},
    {"state", EXPORT_TEXT, false, NULL},
    {"started_at", EXPORT_TIME, false, NULL},
    {"last_extended_at", EXPORT_TIME, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
    {"n_claims", EXPORT_INT, false, NULL},
    {"branches_from", EXPORT_ID, true, NULL},
    {"merged_into", EXPORT_ID, true, NULL},
    {"memory", EXPORT_BYTES, false, NULL},
    {"twin_of", EXPORT_ID, true, NULL},
};
static const struct export_column claim_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"position", EXPORT_INT, false, NULL},
    {"chain_id", EXPORT_ID, false, NULL},
    {"first_byte", EXPORT_INT, false, NULL},
    {"end_byte", EXPORT_INT, false, NULL},
    {"type", EXPORT_TEXT, false, "claim_type"},
    {"subject", EXPORT_TEXT, false, NULL},
    {"entities", EXPORT_TEXT, false, NULL},
    {"keywords", EXPORT_TEXT, false, NULL},
    {"confidence", EXPORT_REAL, false, NULL},
    {"valid_from", EXPORT_INT, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column chain_update_columns[] = {
    {"chain_id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"position", EXPORT_INT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"turn_id", EXPORT_ID, true, NULL},
    {"type", EXPORT_TEXT, false, "chain_update_type"},
    {"parent_id", EXPORT_ID, true, NULL},
    {"packed", EXPORT_PACKED, false, "claim_ids"},
    {"distance", EXPORT_REAL, true, NULL},
    {"reasoning", EXPORT_TEXT, false, NULL},
};
static const struct export_column chain_step_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},   {"seq", EXPORT_INT, false, NULL},
    {"position", EXPORT_INT, false, NULL}, {"chain_id", EXPORT_ID, false, NULL},
    {"kind", EXPORT_INT, false, NULL},     {"claims", EXPORT_TEXT, false, NULL},
    {"distance", EXPORT_INT, true, NULL},  {"said", EXPORT_TEXT, false, NULL},
    {"parent_id", EXPORT_ID, true, NULL},  {"moved_to", EXPORT_ID, true, NULL},
};
static const struct export_column chain_block_columns[] = {
    {"chain_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"from_seq", EXPORT_INT, false, NULL},
    {"first_at", EXPORT_INT, true, NULL},
};
static const struct export_column chain_term_columns[] = {
    {"user_id", EXPORT_TEXT, false, NULL},
    {"term", EXPORT_HASH, false, NULL},
    {"chain_id", EXPORT_ID, false, NULL},
};
static const struct export_column session_talk_columns[] = {
    {"session_id", EXPORT_ID, false, NULL},
    {"memory", EXPORT_BYTES, false, NULL},
};
static const struct export_column session_summary_columns[] = {
    {"session_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"packed", EXPORT_BESIDE, false, "summary"},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column chat_profile_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"last_at", EXPORT_TIME, false, NULL},
    {"data", EXPORT_BYTES, false, NULL},
};
static const struct export_column chat_term_columns[] = {
    {"user_id", EXPORT_TEXT, false, NULL},
    {"term", EXPORT_HASH, false, NULL},
    {"started_at", EXPORT_TIME, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
};
static const struct export_column link_decision_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"other_chat_id", EXPORT_ID, false, NULL},
    {"turn_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"algorithmic", EXPORT_REAL, false, NULL},
    {"llm", EXPORT_REAL, true, NULL},
    {"threshold", EXPORT_REAL, false, NULL},
    {"decision", EXPORT_TEXT, false, NULL},
    {"agreement", EXPORT_TEXT, false, NULL},
    {"confidence", EXPORT_TEXT, false, NULL},
    {"packed", EXPORT_PACKED, false, "signals"},
    {"outcome", EXPORT_TEXT, true, NULL},
    {"outcome_by", EXPORT_TEXT, true, NULL},
    {"outcome_at", EXPORT_TIME, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"updated_at", EXPORT_TIME, false, NULL},
};
static const struct export_column link_tuning_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"previous_id", EXPORT_ID, true, NULL},
    {"is_current", EXPORT_INT, false, NULL},
    {"threshold", EXPORT_REAL, false, NULL},
    {"keyword", EXPORT_REAL, false, NULL},
    {"entity", EXPORT_REAL, false, NULL},
    {"topic", EXPORT_REAL, false, NULL},
    {"recency", EXPORT_REAL, false, NULL},
    {"llm_weight", EXPORT_REAL, false, NULL},
    {"prompt_signals", EXPORT_TEXT, false, NULL},
    {"reason", EXPORT_TEXT, false, NULL},
    {"metrics", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column link_counter_columns[] = {
    {"n_outcomes", EXPORT_INT, false, NULL},
};
static const struct export_column episode_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"type", EXPORT_TEXT, false, "episode_type"},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, true, NULL},
    {"ordinal", EXPORT_INT, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, true, NULL},
    {"compacted_seq", EXPORT_INT, false, NULL},
    {"compacted_at", EXPORT_TIME, true, NULL},
    {"cause", EXPORT_TEXT, true, NULL},
    {"micro", EXPORT_TEXT, true, NULL},
    {"meso_packed", EXPORT_BESIDE, true, "meso"},
    {"macro_packed", EXPORT_BESIDE, true, "macro"},
    {"packed", EXPORT_PACKED, true, "citations"},
    {"method", EXPORT_TEXT, true, NULL},
    {"coverage", EXPORT_REAL, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"updated_at", EXPORT_TIME, false, NULL},
};
static const struct export_column episode_chat_columns[] = {
    {"episode_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"link_id", EXPORT_ID, true, NULL},
    {"added_at", EXPORT_TIME, false, NULL},
};
static const struct export_column trace_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"packed", EXPORT_PACKED, true, "data"},
    {"chat_id", EXPORT_ID, true, NULL},
    {"created_at", EXPORT_TIME, true, NULL},
};
static const struct export_column llm_answer_columns[] = {
    {"key", EXPORT_BYTES, false, NULL},
    {"purpose", EXPORT_TEXT, false, NULL},
    {"model", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, true, NULL},
    {"answer", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"first_seq", EXPORT_INT, true, NULL},
    {"last_seq", EXPORT_INT, true, NULL},
    {"input_tokens", EXPORT_INT, true, NULL},
    {"output_tokens", EXPORT_INT, true, NULL},
    {"beside", EXPORT_BYTES, true, NULL},
};
static const struct export_column llm_ledger_columns[] = {
    {"day", EXPORT_INT, false, NULL},
    {"purpose", EXPORT_TEXT, false, NULL},
    {"model", EXPORT_TEXT, false, NULL},
    {"calls", EXPORT_INT, false, NULL},
    {"failures", EXPORT_INT, false, NULL},
    {"input_tokens", EXPORT_INT, false, NULL},
    {"output_tokens", EXPORT_INT, false, NULL},
    {"cost_micros", EXPORT_INT, false, NULL},
};
static const struct export_column gist_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"model", EXPORT_INT, false, NULL},
    {"place", EXPORT_BYTES, false, NULL},
};
static const struct export_column tombstone_columns[] = {
    {"kind", EXPORT_TEXT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column forget_receipt_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"selector", EXPORT_TEXT, false, NULL},
    {"counts", EXPORT_TEXT, false, NULL},
    {"digest", EXPORT_BYTES, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};

const struct export_kind export_kinds[] = {
    /* first: what it forbids holds before the words come */
    {"tenant_setting", "tenant_settings", COLUMNS(tenant_setting_columns), 1,
     false, NULL, EXPORT_ROWS},
    {"user", "users", COLUMNS(user_columns), 1, false, NULL, EXPORT_ROWS},
    {"chat", "chats", COLUMNS(chat_columns), 1, false, "last_seq", EXPORT_ROWS},
    {"session", "sessions", COLUMNS(session_columns), 1, false,
     "last_activity_at", EXPORT_ROWS},
    {"turn", "turns", COLUMNS(turn_columns), 2, true, NULL, EXPORT_ROWS},
    {"unread", "unread", COLUMNS(unread_columns), 2, false, NULL, EXPORT_ROWS},
    {"action", "actions", COLUMNS(action_columns), 2, false, NULL, EXPORT_ROWS},
    {"request", "requests", COLUMNS(request_columns), 1, false, NULL,
     EXPORT_ROWS},
    {"request_prefix", "request_prefixes", COLUMNS(request_prefix_columns), 2,
     false, NULL, EXPORT_ROWS},
    {"request_task", "request_tasks", COLUMNS(request_task_columns), 3, false,
     NULL, EXPORT_ROWS},
    {"request_anchor", "request_anchors", COLUMNS(request_anchor_columns), 3,
     false, NULL, EXPORT_ROWS},
    {"memory", "memories", COLUMNS(memory_columns), 1, true, "updated_at",
     EXPORT_ROWS},
    {"memory_source", "memory_sources", COLUMNS(memory_source_columns), 2,
     false, NULL, EXPORT_ROWS},
    {"memory_ref", "memory_refs", COLUMNS(memory_ref_columns), 3, false, NULL,
     EXPORT_ROWS},
    {"memory_key", "memory_keys", COLUMNS(memory_key_columns), 3, false, NULL,
     EXPORT_ROWS},
    {"chat_memory", "chat_memories", COLUMNS(chat_memory_columns), 2, false,
     NULL, EXPORT_ROWS},
    {"memory_access", "memory_access", COLUMNS(memory_access_columns), 2, false,
     NULL, EXPORT_ROWS},
    {"effort", "efforts", COLUMNS(effort_columns), 1, false, "last_at",
     EXPORT_ROWS},
    {"agent", "agents", COLUMNS(agent_columns), 1, false, NULL, EXPORT_ROWS},
    {"agent_result", "agent_results", COLUMNS(agent_result_columns), 2, false,
     NULL, EXPORT_ROWS},
    {"correction", "corrections", COLUMNS(correction_columns), 1, false, NULL,
     EXPORT_ROWS},
    {"chain", "chains", COLUMNS(chain_columns), 1, false, "last_seq",
     EXPORT_ROWS},
    {"chain_step", "chain_steps", COLUMNS(chain_step_columns), 3, false, NULL,
     EXPORT_INNER},
    {"chain_block", "chain_blocks", COLUMNS(chain_block_columns), 3, false,
     NULL, EXPORT_INNER},
    {"claim", NULL, COLUMNS(claim_columns), 3, false, NULL, EXPORT_LINES},
    /* rows by hand; those of turns are made from steps */
    {"chain_update", "chain_updates", COLUMNS(chain_update_columns), 4, false,
     NULL, EXPORT_ROWS},
    {"chain_term", "chain_terms", COLUMNS(chain_term_columns), 3, false, NULL,
     EXPORT_ROWS},
    {"session_talk", "session_talks", COLUMNS(session_talk_columns), 1, false,
     NULL, EXPORT_ROWS},
    {"session_summary", "session_summaries", COLUMNS(session_summary_columns),
     1, false, NULL, EXPORT_ROWS},
    {"chat_profile", "chat_profiles", COLUMNS(chat_profile_columns), 1, false,
     "last_at", EXPORT_ROWS},
    {"chat_term", "chat_terms", COLUMNS(chat_term_columns), 4, false, NULL,
     EXPORT_ROWS},
    {"link_decision", "link_decisions", COLUMNS(link_decision_columns), 1,
     false, "updated_at", EXPORT_ROWS},
    {"link_tuning", "link_tunings", COLUMNS(link_tuning_columns), 1, false,
     NULL, EXPORT_ROWS},
    {"link_counter", "link_counters", COLUMNS(link_counter_columns), 1, false,
     NULL, EXPORT_ROWS},
    {"episode", "episodes", COLUMNS(episode_columns), 1, true, "updated_at",
     EXPORT_ROWS},
    {"episode_chat", "episode_chats", COLUMNS(episode_chat_columns), 2, false,
     NULL, EXPORT_ROWS},
    {GIST_KIND, "gists", COLUMNS(gist_columns), 1, true, NULL, EXPORT_ROWS},
    {"trace", "traces", COLUMNS(trace_columns), 1, false, NULL, EXPORT_ROWS},
    {"llm_answer", "llm_answers", COLUMNS(llm_answer_columns), 1, false, NULL,
     EXPORT_ROWS},
    {"llm_ledger", "llm_ledger", COLUMNS(llm_ledger_columns), 3, false, NULL,
     EXPORT_ROWS},
    {"tombstone", "tombstones", COLUMNS(tombstone_columns), 3, true, NULL,
     EXPORT_ROWS},
    {"forget_receipt", "forget_receipts", COLUMNS(forget_receipt_columns), 1,
     false, NULL, EXPORT_ROWS},
};
#define N_KINDS (sizeof(export_kinds) / sizeof(export_kinds[0]))
const size_t export_n_kinds = N_KINDS;
_Static_assert(N_KINDS <= EXPORT_MAX_KINDS, "their statements have room");

bool export_kind_find(struct str type, size_t *out_kind)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (str_eq(type, str_of(export_kinds[i].type))) {
            *out_kind = i;
            return true;
        }
    }
    return false;
}

const char *export_field(const struct export_column *column)
{
    return column->field ? column->field : column->name;
}
