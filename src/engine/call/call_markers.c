/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_markers.c - the table of known wordings. See call_markers.h.
 */
#include "engine/call/call_markers.h"

#define ROW(kind, text, client, version)                                       \
    {                                                                          \
        CALL_##kind, {text, sizeof(text) - 1}, client, version                 \
    }

static const struct call_marker markers[] = {
    ROW(AGENT_OPENING,
        "You are an interactive CLI tool that helps users with software "
        "engineering tasks",
        "claude-code", "1.0"),
    ROW(AGENT_OPENING,
        "You are an interactive agent that helps users with software "
        "engineering tasks",
        "claude-code", "2.1"),
    ROW(AGENT_OPENING, "You are an agent for Claude Code, Anthropic's official",
        "claude-code", "1.0"),
    ROW(AGENT_OPENING, "You are a coding agent running in the Codex CLI",
        "codex", "0.20"),
    ROW(AGENT_OPENING, "You are Codex, based on GPT-5", "codex", "0.40"),
    ROW(AGENT_IDENTITY,
        "You are Claude Code, Anthropic's official CLI for Claude",
        "claude-code", "1.0"),
    ROW(AGENT_IDENTITY, "You are a Claude agent, built on Anthropic's Claude",
        "claude-code", "2.1"),
    ROW(SUMMARISING,
        "You are a helpful AI assistant tasked with summarizing conversations",
        "claude-code", "1.0"),
    ROW(VOLATILE_LINE, "x-anthropic-billing-header:", "claude-code", "2.1.197"),
    ROW(VOLATILE_LINE, "Current branch:", "claude-code", "1.0"),
    ROW(VOLATILE_LINE, "Main branch", "claude-code", "1.0"),
    ROW(VOLATILE_SECTION, "gitStatus:", "claude-code", "1.0"),
    ROW(VOLATILE_SECTION, "Status:", "claude-code", "1.0"),
    ROW(VOLATILE_SECTION, "Recent commits:", "claude-code", "1.0"),
    ROW(CONTINUATION,
        "This session is being continued from a previous conversation that "
        "ran out of context",
        "claude-code", "1.0"),
    ROW(SUMMARY_MARK, "The conversation is summarized below:", "claude-code",
        "1.0"),
    ROW(SUMMARY_MARK, "Summary:", "claude-code", "2.1"),
    ROW(SUMMARY_END, "Please continue the conversation", "claude-code", "1.0"),
    ROW(SUMMARY_END, "If you need specific details from before compaction",
        "claude-code", "2.1"),
    ROW(SUMMARY_END, "Continue the conversation from where it left off",
        "claude-code", "2.1"),
    ROW(TASK_TOOL, "Task", "claude-code", "1.0"),
    ROW(TASK_TOOL, "Agent", "claude-code", "2.1"),
};

#define N_MARKERS (sizeof(markers) / sizeof(*markers))

const struct call_marker *call_marker_at(enum call_marker_kind kind,
                                         struct str text)
{
    for (size_t i = 0; i < N_MARKERS; i++) {
        if (markers[i].kind == kind && str_starts(text, markers[i].text)) {
            return &markers[i];
        }
    }
    return NULL;
}

const struct call_marker *call_marker_find(enum call_marker_kind kind,
                                           struct str text, size_t from,
                                           size_t *out_at)
{
    const struct call_marker *found = NULL;
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < N_MARKERS; i++) {
        size_t at;

        if (markers[i].kind != kind) {
            continue;
        }
        at = str_find(text, markers[i].text, from);
        if (at < best) {
            best = at;
            found = &markers[i];
        }
    }
    if (found) {
        *out_at = best;
    }
    return found;
}

bool call_marker_is(enum call_marker_kind kind, struct str text)
{
    const struct call_marker *marker = call_marker_at(kind, text);

    return marker && marker->text.len == text.len;
}
