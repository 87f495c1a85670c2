-- What an effort has beyond its memory: the chat its turns stand in, whether
-- they are in view (active, expanded, collapsed), and how an attempt ended
-- (failed, found). first_seq to last_seq is the stretch that grows now.
CREATE TABLE efforts (
    tenant {int} NOT NULL,
    memory_id {id} NOT NULL,
    thread_id {id} NOT NULL,
    state {text} NOT NULL,
    outcome {text},
    is_open {int} NOT NULL,
    is_spawned {int} NOT NULL,
    first_seq {int} NOT NULL,
    last_seq {int} NOT NULL,
    last_at {int} NOT NULL,
    raw_tokens {int} NOT NULL,
    PRIMARY KEY (tenant, memory_id)
);
CREATE INDEX efforts_by_thread ON efforts (tenant, thread_id, last_seq);

-- What equal statements and statements on one subject and attribute are found
-- by: the first 16 bytes of a digest. `kind` is statement or slot.
CREATE TABLE memory_keys (
    tenant {int} NOT NULL,
    kind {text} NOT NULL,
    digest {id} NOT NULL,
    memory_id {id} NOT NULL,
    PRIMARY KEY (tenant, kind, digest, memory_id)
);
CREATE INDEX memory_keys_by_memory ON memory_keys (tenant, memory_id);

-- A start that waits for an answer: ids offered and their order.
CREATE TABLE starts (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    offer {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX starts_by_user ON starts (tenant, user_id, created_at);

-- The newest memories of a chat, read in order without sorting.
CREATE INDEX memories_by_chat_time ON memories
    (tenant, chat_id, created_at, id);
