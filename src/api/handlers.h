/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.h - every handler of the route table, by the file it stands in.
 *
 * All have the type api_fn; see api.h for what they may expect.
 */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "api/api.h"

#define API_HANDLER(name)                                                      \
    enum clew_status name(struct api_call *call, struct clew_error *err)

/* server/meta.c, server/meters.c */
API_HANDLER(meta_index);
API_HANDLER(meta_health);
API_HANDLER(meta_metrics);
API_HANDLER(meta_openapi);

/* chat/turns.c */
API_HANDLER(turns_post);
API_HANDLER(turns_find);
/* One turn for a chat that is known. */
enum clew_status turns_post_to(struct api_call *call,
                               const struct uuid *chat_id,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* ask/context.c */
API_HANDLER(context_post);
struct context;
/* The text form; NULL without memory. */
json_t *form_context(const struct context *context);

/* server/agents.c */
API_HANDLER(agents_list);
struct agent;
struct agents;
/* A package; the packages and the problems. NULL without memory. */
json_t *form_agent(const struct agent *agent);
json_t *form_agents(const struct agents *set);

/* memory/efforts.c */
API_HANDLER(efforts_post);
API_HANDLER(efforts_list);
API_HANDLER(efforts_get);
API_HANDLER(efforts_turns);
API_HANDLER(efforts_collapse);
API_HANDLER(efforts_expand);
API_HANDLER(efforts_context);

/* ask/start.c */
API_HANDLER(start_post);
API_HANDLER(start_choose_post);

/* chat/chats.c */
API_HANDLER(chats_post);
API_HANDLER(chats_list);
API_HANDLER(chats_get);
API_HANDLER(chats_patch);
API_HANDLER(chats_turns);
API_HANDLER(chats_fork);
API_HANDLER(chats_tree);
API_HANDLER(chats_close);

/* chat/marks.c */
API_HANDLER(chats_marks);

/* memory/chains.c */
API_HANDLER(chains_list);
API_HANDLER(chains_get);
API_HANDLER(chains_conclude);
API_HANDLER(chains_reopen);

/* memory/episodes.c */
API_HANDLER(episodes_list);
API_HANDLER(episodes_get);
API_HANDLER(episodes_compact);

/* memory/chatlinks.c */
API_HANDLER(links_list);
API_HANDLER(links_get);
API_HANDLER(links_feedback);
API_HANDLER(tuning_get);
API_HANDLER(tuning_revert);

/* server/tasks.c */
API_HANDLER(tasks_list);
API_HANDLER(traces_get);

/* chat/sessions.c */
API_HANDLER(sessions_list);
API_HANDLER(sessions_end);

/* memory/thoughts.c */
API_HANDLER(thoughts_post);
API_HANDLER(thoughts_get);

/* memory/conflicts.c */
API_HANDLER(conflicts_list);
API_HANDLER(memories_undo);

/* memory/memories.c */
API_HANDLER(memories_list);
API_HANDLER(memories_post);
API_HANDLER(memories_get);
API_HANDLER(memories_patch);
API_HANDLER(memories_resolve);
API_HANDLER(memories_outcome);
API_HANDLER(memories_reopen);
API_HANDLER(memories_abandon);
API_HANDLER(memories_retract);
API_HANDLER(memories_lineage);
API_HANDLER(memories_source);

/* server/models.c */
API_HANDLER(models_list);

/* server/callers.c */
API_HANDLER(callers_list);
API_HANDLER(callers_post);

/* server/usage.c */
API_HANDLER(usage_list);
API_HANDLER(usage_post);

/* server/forget.c */
API_HANDLER(forget_post);

/* server/export.c */
API_HANDLER(backup_post);
API_HANDLER(export_get);
API_HANDLER(import_post);

/* chat/calls.c */
API_HANDLER(link_post);
API_HANDLER(requests_list);
API_HANDLER(requests_get);
API_HANDLER(conversations_get);

/* chat/relink.c */
API_HANDLER(requests_relink);

/* server/stats.c */
API_HANDLER(stats_get);
API_HANDLER(users_list);
API_HANDLER(users_patch);

/* server/ids.c */
API_HANDLER(ids_get);

/* server/events.c */
API_HANDLER(events_get);

/* server/admin.c */
API_HANDLER(tenant_show);
API_HANDLER(tenant_patch);
API_HANDLER(keys_list);
API_HANDLER(keys_post);
API_HANDLER(keys_delete);
API_HANDLER(settings_get);

/* ask/analyse.c */
API_HANDLER(analyse_post);
API_HANDLER(analyse_feedback);

/* ask/ask.c */
API_HANDLER(ask_post);

/* ask/recall.c */
API_HANDLER(recall_post);

#endif
