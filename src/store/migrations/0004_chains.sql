-- Chains of thought: claims on one topic in order. `memory` is what the chain
-- remembers of its turns (hashes and counts, no text).
CREATE TABLE chains (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    user_id {text} NOT NULL,
    chat_id {id} NOT NULL,
    session_id {id} NOT NULL,
    topic {text} NOT NULL,
    state {text} NOT NULL,
    started_at {int} NOT NULL,
    last_extended_at {int} NOT NULL,
    last_seq {int} NOT NULL,
    n_claims {int} NOT NULL,
    branches_from {id},
    merged_into {id},
    memory {bytes} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX chains_by_session ON chains
    (tenant, session_id, state, last_extended_at);
CREATE INDEX chains_by_user ON chains (tenant, user_id, last_extended_at, id);
CREATE INDEX chains_by_time ON chains (tenant, last_extended_at, id);

-- One statement found in a turn: bytes first_byte to end_byte of its text.
CREATE TABLE claims (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    chain_id {id} NOT NULL,
    turn_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    position {int} NOT NULL,
    first_byte {int} NOT NULL,
    end_byte {int} NOT NULL,
    type {text} NOT NULL,
    statement {text} NOT NULL,
    subject {text} NOT NULL,
    entities {text} NOT NULL,
    keywords {text} NOT NULL,
    confidence {real} NOT NULL,
    valid_from {int},
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX claims_by_chain ON claims
    (tenant, chain_id, created_at, seq, position);
CREATE INDEX claims_by_turn ON claims (tenant, chat_id, seq);

-- What was decided, in order: the trace of a chain.
CREATE TABLE chain_updates (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    chain_id {id} NOT NULL,
    turn_id {id},
    position {int} NOT NULL,
    type {text} NOT NULL,
    parent_id {id},
    claim_ids {text} NOT NULL,
    distance {real},
    reasoning {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX chain_updates_by_chain ON chain_updates
    (tenant, chain_id, created_at, position);

-- The heaviest words of chains that rest, by hash: how one is found again.
CREATE TABLE chain_terms (
    tenant {int} NOT NULL,
    user_id {text} NOT NULL,
    term {int} NOT NULL,
    chain_id {id} NOT NULL,
    PRIMARY KEY (tenant, user_id, term, chain_id)
);
CREATE INDEX chain_terms_by_chain ON chain_terms (tenant, chain_id);

-- How people talk in a session.
CREATE TABLE session_talks (
    tenant {int} NOT NULL,
    session_id {id} NOT NULL,
    memory {bytes} NOT NULL,
    PRIMARY KEY (tenant, session_id)
);

-- What a session was about, written when it ended.
CREATE TABLE session_summaries (
    tenant {int} NOT NULL,
    session_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    summary {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, session_id)
);
CREATE INDEX session_summaries_by_chat ON session_summaries (tenant, chat_id);
