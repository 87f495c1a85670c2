-- Memories: one thing worth keeping, found in talk or contributed by an agent.
-- `summary` is the standalone sentence; `fields` is a JSON object with what the
-- type's schema adds. Nothing is overwritten: a newer memory refines an older.
CREATE TABLE memories (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    type {text} NOT NULL,
    status {text} NOT NULL,
    summary {text} NOT NULL,
    resolution {text},
    tags {text} NOT NULL,
    fields {text},
    origin {text} NOT NULL,
    lineage {text} NOT NULL,
    chat_id {id},
    parent_id {id},
    agent_id {text},
    agent_name {text},
    agent_session {id},
    key_id {text},
    context {text},
    is_instruction {int} NOT NULL,
    token_count {int} NOT NULL,
    weight {real} NOT NULL,
    weight_at {int} NOT NULL,
    retrieval_count {int} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    expires_at {int},
    retracted_at {int},
    change_seq {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX memories_by_user ON memories (tenant, user_id, created_at, id);
CREATE INDEX memories_by_time ON memories (tenant, created_at, id);
CREATE INDEX memories_by_chat ON memories (tenant, chat_id, created_at);
CREATE INDEX memories_by_agent ON memories (tenant, agent_id, created_at);
CREATE UNIQUE INDEX memories_by_change ON memories (tenant, change_seq);

-- Lineage: `memory_id` refines or consolidates `source_id`.
CREATE TABLE memory_sources (
    tenant {int} NOT NULL,
    memory_id {id} NOT NULL,
    source_id {id} NOT NULL,
    ordinal {int} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, memory_id, source_id)
);
CREATE INDEX memory_sources_by_source ON memory_sources
    (tenant, source_id, memory_id);

-- Where a memory comes from: lines first_seq to last_seq of a chat.
CREATE TABLE memory_refs (
    tenant {int} NOT NULL,
    memory_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    first_seq {int} NOT NULL,
    last_seq {int} NOT NULL,
    PRIMARY KEY (tenant, memory_id, chat_id, first_seq)
);
CREATE INDEX memory_refs_by_chat ON memory_refs (tenant, chat_id, first_seq);

-- A chat uses a memory made elsewhere.
CREATE TABLE chat_memories (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    memory_id {id} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, chat_id, memory_id)
);

-- Which agent was given which memory how often: what makes a highway.
CREATE TABLE memory_access (
    tenant {int} NOT NULL,
    memory_id {id} NOT NULL,
    agent_id {text} NOT NULL,
    access_count {int} NOT NULL,
    PRIMARY KEY (tenant, memory_id, agent_id)
);

-- Agents seen, and what a session of theirs was given (for feedback).
CREATE TABLE agents (
    tenant {int} NOT NULL,
    agent_id {text} NOT NULL,
    agent_name {text} NOT NULL,
    first_seen_at {int} NOT NULL,
    PRIMARY KEY (tenant, agent_id)
);
CREATE TABLE agent_results (
    tenant {int} NOT NULL,
    agent_session {id} NOT NULL,
    memory_id {id} NOT NULL,
    created_at {int} NOT NULL,
    is_credited {int} NOT NULL,
    PRIMARY KEY (tenant, agent_session, memory_id)
);
