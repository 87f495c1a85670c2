-- The log: what is true and cannot be derived. Types in braces are filled in
-- per backend: {int} {real} {text} {bytes} {id}. Every table whose first column
-- is "tenant" gets row-level security on PostgreSQL by itself; "--@ system NAME"
-- marks those that system transactions see whole.

--@ system tenants
CREATE TABLE tenants (
    tenant {int} NOT NULL PRIMARY KEY,
    name {text} NOT NULL UNIQUE,
    created_at {int} NOT NULL,
    change_seq {int} NOT NULL
);

-- Looked up before the tenant is known, so it stands above tenants.
CREATE TABLE api_keys (
    key_id {text} NOT NULL PRIMARY KEY,
    tenant_id {int} NOT NULL,
    role {text} NOT NULL,
    secret_hash {bytes} NOT NULL,
    label {text},
    created_at {int} NOT NULL,
    revoked_at {int}
);

CREATE TABLE users (
    tenant {int} NOT NULL,
    user_id {text} NOT NULL,
    created_at {int} NOT NULL,
    inactivity_minutes {int},
    PRIMARY KEY (tenant, user_id)
);

-- A chat is one line of turns. Turns with seq <= fork_seq belong to the parent
-- chat (and its parents); seq goes on from there.
CREATE TABLE chats (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    conversation_id {id} NOT NULL,
    parent_id {id},
    fork_seq {int} NOT NULL,
    depth {int} NOT NULL,
    branch {text} NOT NULL,
    title {text},
    is_titled_by_user {int} NOT NULL,
    summary {text},
    is_explicit {int} NOT NULL,
    channels {text} NOT NULL,
    inactivity_minutes {int},
    created_at {int} NOT NULL,
    last_activity_at {int} NOT NULL,
    closed_at {int},
    last_seq {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX chats_by_user ON chats (tenant, user_id, last_activity_at, id);
CREATE INDEX chats_by_start ON chats
    (tenant, user_id, is_explicit, created_at, id);
CREATE INDEX chats_by_time ON chats (tenant, last_activity_at, id);
CREATE INDEX chats_by_conversation ON chats (tenant, conversation_id);
CREATE INDEX chats_by_parent ON chats (tenant, parent_id);

-- A work period inside a chat.
CREATE TABLE sessions (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    chat_id {id} NOT NULL,
    user_id {text} NOT NULL,
    started_at {int} NOT NULL,
    last_activity_at {int} NOT NULL,
    ended_at {int},
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_by_chat ON sessions (tenant, chat_id, started_at);

-- One message, verbatim. `content` is the JSON as it was sent; NULL when it was
-- a plain string equal to `text`.
CREATE TABLE turns (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    id {id} NOT NULL,
    session_id {id} NOT NULL,
    user_id {text} NOT NULL,
    role {text} NOT NULL,
    name {text},
    channel {text},
    content {text},
    text {text} NOT NULL,
    token_count {int} NOT NULL,
    created_at {int} NOT NULL,
    stored_at {int} NOT NULL,
    timezone {text},
    external_id {text},
    change_seq {int} NOT NULL,
    PRIMARY KEY (tenant, chat_id, seq)
);
CREATE UNIQUE INDEX turns_by_id ON turns (tenant, id);
CREATE UNIQUE INDEX turns_by_external ON turns (tenant, external_id)
    WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX turns_by_change ON turns (tenant, change_seq);

-- What was forgotten: tells indexes and caches to drop an id. Holds no content.
CREATE TABLE tombstones (
    tenant {int} NOT NULL,
    change_seq {int} NOT NULL,
    kind {text} NOT NULL,
    id {id} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, change_seq)
);
