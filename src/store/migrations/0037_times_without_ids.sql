-- As with memories (migration 0031): rows of one moment are few, and sorted when
-- they are read. Their ids were half of each of these indexes.
DROP INDEX chats_by_user;
CREATE INDEX chats_by_user ON chats (tenant, user_id, last_activity_at);
DROP INDEX chats_by_start;
CREATE INDEX chats_by_start ON chats
    (tenant, user_id, is_explicit, created_at);
DROP INDEX chats_by_time;
CREATE INDEX chats_by_time ON chats (tenant, last_activity_at);
DROP INDEX chat_profiles_by_user;
CREATE INDEX chat_profiles_by_user ON chat_profiles
    (tenant, user_id, last_at);
DROP INDEX chains_by_user;
CREATE INDEX chains_by_user ON chains (tenant, user_id, last_extended_at);
DROP INDEX chains_by_time;
CREATE INDEX chains_by_time ON chains (tenant, last_extended_at);
DROP INDEX episodes_by_time;
CREATE INDEX episodes_by_time ON episodes (tenant, created_at);
DROP INDEX link_decisions_by_time;
CREATE INDEX link_decisions_by_time ON link_decisions (tenant, created_at);
DROP INDEX link_decisions_by_outcome;
CREATE INDEX link_decisions_by_outcome ON link_decisions
    (tenant, outcome_at) WHERE outcome IS NOT NULL;
DROP INDEX tasks_by_time;
CREATE INDEX tasks_by_time ON tasks (tenant, created_at);

-- Those of a session are few and sorted, in whatever state they are.
DROP INDEX chains_by_session;
CREATE INDEX chains_by_session ON chains (tenant, session_id);
