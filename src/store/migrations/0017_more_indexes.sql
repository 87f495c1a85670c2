-- What is looked up by one column, and would otherwise be searched for among
-- all rows of the tenant. None of these columns changes after the insert.
CREATE INDEX chains_by_chat ON chains (tenant, chat_id);
CREATE INDEX link_decisions_by_other ON link_decisions
    (tenant, other_chat_id);
CREATE INDEX episodes_by_time ON episodes (tenant, created_at, id);
DROP INDEX episode_chats_by_chat;
CREATE INDEX episode_chats_by_chat ON episode_chats
    (tenant, chat_id, episode_id);
CREATE INDEX episode_chats_by_link ON episode_chats (tenant, link_id);
CREATE INDEX memories_by_parent ON memories (tenant, parent_id)
    WHERE parent_id IS NOT NULL;
CREATE INDEX efforts_open ON efforts (tenant, memory_id) WHERE is_open = 1;
CREATE INDEX tombstones_by_id ON tombstones (tenant, id);
-- memories_by_chat_time begins with the same columns.
DROP INDEX memories_by_chat;
