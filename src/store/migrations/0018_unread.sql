-- Turns that are stored and can be found, and wait to be read: what they mean
-- (memories, efforts) is derived soon after, in the order of their times.
-- What waits is counted, and taken up at a start, across tenants.
--@ system unread
CREATE TABLE unread (
    tenant {int} NOT NULL,
    created_at {int} NOT NULL,
    turn_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    user_id {text} NOT NULL,
    PRIMARY KEY (tenant, created_at, turn_id)
);
CREATE INDEX unread_by_user ON unread (tenant, user_id, created_at, turn_id);
CREATE INDEX unread_by_turn ON unread (tenant, turn_id);
