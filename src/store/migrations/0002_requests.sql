-- Captured LLM calls. What was sent and answered stands in the turns of the
-- chat: messages are turns first_seq to last_seq of its line, the reply is turn
-- reply_seq. Keys are the first 16 bytes of a SHA-256.
CREATE TABLE requests (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    conversation_id {id} NOT NULL,
    parent_id {id},
    -- the first of the calls that were this one, answered so (retries)
    origin_id {id} NOT NULL,
    parent_origin_id {id},
    chat_id {id} NOT NULL,
    branch {text} NOT NULL,
    strategy {text} NOT NULL,
    message_count {int} NOT NULL,
    first_seq {int} NOT NULL,
    last_seq {int} NOT NULL,
    reply_seq {int},
    subtask_number {int},
    -- what it is found by
    hash_key {id} NOT NULL,
    reply_key {id},
    response_id {text},
    -- what finds its parent
    current_hash {bytes} NOT NULL,
    parent_hash {bytes},
    system_hash {bytes},
    parent_reply_key {id},
    grandparent_key {id},
    grandparent_reply_key {id},
    prompt_key {id},
    previous_id {text},
    is_summarising {int} NOT NULL,
    is_compact {int} NOT NULL,
    -- what happened
    api {text},
    model {text},
    status {int},
    stop_reason {text},
    error {text},
    is_complete {int} NOT NULL,
    input_tokens {int},
    output_tokens {int},
    duration_ms {int},
    first_byte_ms {int},
    session_hint {text},
    created_at {int} NOT NULL,
    stored_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX requests_by_hash ON requests (tenant, hash_key, created_at, id);
CREATE INDEX requests_by_reply ON requests (tenant, reply_key, created_at, id)
    WHERE reply_key IS NOT NULL;
CREATE INDEX requests_by_response ON requests (tenant, response_id)
    WHERE response_id IS NOT NULL;
CREATE INDEX requests_by_parent ON requests
    (tenant, parent_origin_id, created_at) WHERE parent_origin_id IS NOT NULL;
CREATE INDEX requests_by_conversation ON requests
    (tenant, conversation_id, created_at, id);
CREATE INDEX requests_by_chat ON requests (tenant, chat_id, created_at, id);
CREATE INDEX requests_by_time ON requests (tenant, created_at, id);

-- The digest of all messages of a line up to a turn: what "longest stored
-- prefix" is looked up with when links are rebuilt.
CREATE TABLE request_prefixes (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    prefix_key {id} NOT NULL,
    PRIMARY KEY (tenant, chat_id, seq)
);

-- Sub-agents that a reply started, by their prompt.
CREATE TABLE request_tasks (
    tenant {int} NOT NULL,
    prompt_key {id} NOT NULL,
    created_at {int} NOT NULL,
    request_id {id} NOT NULL,
    PRIMARY KEY (tenant, prompt_key, created_at, request_id)
);

-- Anchors of replies, by the day of the request (engine/link_compact.h).
CREATE TABLE request_anchors (
    tenant {int} NOT NULL,
    day {int} NOT NULL,
    anchor {int} NOT NULL,
    request_id {id} NOT NULL,
    PRIMARY KEY (tenant, day, anchor, request_id)
);

-- How far a rebuild of the links has come; no row when none is under way.
CREATE TABLE link_rebuilds (
    tenant {int} NOT NULL,
    after_at {int} NOT NULL,
    after_id {id},
    report {text} NOT NULL,
    PRIMARY KEY (tenant)
);
