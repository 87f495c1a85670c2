-- What nobody asks by. Only forgetting looks for the words of a chat, and knows
-- whose they are; that a turn was read or a task done is told by the log's
-- order; and most memories come from no agent.
DROP INDEX chat_terms_by_chat;
DROP INDEX chain_terms_by_chain;
DROP INDEX memory_keys_by_memory;
DROP INDEX actions_by_subject;
DROP INDEX actions_by_made;

-- Rows that are little more than their key. SQLite keeps a table by a number of
-- its own and its key beside it, so such a row stood there twice: these tables
-- are made anew as the key alone. The other database keeps a heap either way.
--@ only sqlite
CREATE TABLE traces_next (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    chat_id {id} NOT NULL,
    created_at {int} NOT NULL,
    data {text} NOT NULL,
    packed {bytes},
    PRIMARY KEY (tenant, id)
) {keyed};
INSERT INTO traces_next (tenant, id, chat_id, created_at, data, packed)
    SELECT tenant, id, chat_id, created_at, data, packed FROM traces
    ORDER BY tenant, id;
DROP TABLE traces;
ALTER TABLE traces_next RENAME TO traces;
CREATE INDEX traces_plain ON traces (tenant, id) WHERE data <> '';

CREATE TABLE memory_keys_next (
    tenant {int} NOT NULL,
    kind {text} NOT NULL,
    digest {id} NOT NULL,
    memory_id {id} NOT NULL,
    PRIMARY KEY (tenant, kind, digest, memory_id)
) {keyed};
INSERT INTO memory_keys_next (tenant, kind, digest, memory_id)
    SELECT tenant, kind, digest, memory_id FROM memory_keys
    ORDER BY tenant, kind, digest, memory_id;
DROP TABLE memory_keys;
ALTER TABLE memory_keys_next RENAME TO memory_keys;

CREATE TABLE chat_terms_next (
    tenant {int} NOT NULL,
    user_id {text} NOT NULL,
    term {int} NOT NULL,
    started_at {int} NOT NULL,
    chat_id {id} NOT NULL,
    PRIMARY KEY (tenant, user_id, term, started_at, chat_id)
) {keyed};
INSERT INTO chat_terms_next (tenant, user_id, term, started_at, chat_id)
    SELECT tenant, user_id, term, started_at, chat_id FROM chat_terms
    ORDER BY tenant, user_id, term, started_at, chat_id;
DROP TABLE chat_terms;
ALTER TABLE chat_terms_next RENAME TO chat_terms;

CREATE TABLE chain_terms_next (
    tenant {int} NOT NULL,
    user_id {text} NOT NULL,
    term {int} NOT NULL,
    chain_id {id} NOT NULL,
    PRIMARY KEY (tenant, user_id, term, chain_id)
) {keyed};
INSERT INTO chain_terms_next (tenant, user_id, term, chain_id)
    SELECT tenant, user_id, term, chain_id FROM chain_terms
    ORDER BY tenant, user_id, term, chain_id;
DROP TABLE chain_terms;
ALTER TABLE chain_terms_next RENAME TO chain_terms;

CREATE TABLE session_talks_next (
    tenant {int} NOT NULL,
    session_id {id} NOT NULL,
    memory {bytes} NOT NULL,
    PRIMARY KEY (tenant, session_id)
) {keyed};
INSERT INTO session_talks_next (tenant, session_id, memory)
    SELECT tenant, session_id, memory FROM session_talks
    ORDER BY tenant, session_id;
DROP TABLE session_talks;
ALTER TABLE session_talks_next RENAME TO session_talks;
--@ only end
CREATE INDEX actions_by_subject ON actions (tenant, subject)
    WHERE subject IS NOT NULL AND kind <> 'turn.read';
CREATE INDEX actions_by_made ON actions (tenant, made)
    WHERE made IS NOT NULL AND kind <> 'task';
DROP INDEX memories_by_agent;
CREATE INDEX memories_by_agent ON memories (tenant, agent_id, created_at)
    WHERE agent_id IS NOT NULL;

-- A claim is found by its place in the talk: its id and its turn's follow from
-- that, and are not kept.
CREATE TABLE claims_next (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    position {int} NOT NULL,
    chain_id {id} NOT NULL,
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
    PRIMARY KEY (tenant, chat_id, seq, position)
);
INSERT INTO claims_next (tenant, chat_id, seq, position, chain_id, first_byte,
    end_byte, type, statement, subject, entities, keywords, confidence,
    valid_from, created_at) SELECT tenant, chat_id, seq, position, chain_id,
    first_byte, end_byte, type, statement, subject, entities, keywords,
    confidence, valid_from, created_at FROM claims
    ORDER BY tenant, chat_id, seq, position ON CONFLICT DO NOTHING;
DROP TABLE claims;
ALTER TABLE claims_next RENAME TO claims;
CREATE INDEX claims_by_chain ON claims
    (tenant, chain_id, created_at, seq, position);

-- The trace of a chain is only read as a whole, in its order. Which claims it
-- names is kept packed, as migration 0024 does with other texts.
CREATE TABLE chain_updates_next (
    tenant {int} NOT NULL,
    chain_id {id} NOT NULL,
    created_at {int} NOT NULL,
    position {int} NOT NULL,
    id {id} NOT NULL,
    turn_id {id},
    type {text} NOT NULL,
    parent_id {id},
    claim_ids {text} NOT NULL,
    packed {bytes},
    distance {real},
    reasoning {text} NOT NULL,
    PRIMARY KEY (tenant, chain_id, created_at, position, id)
) {keyed};
INSERT INTO chain_updates_next (tenant, chain_id, created_at, position, id,
    turn_id, type, parent_id, claim_ids, distance, reasoning) SELECT tenant,
    chain_id, created_at, position, id, turn_id, type, parent_id, claim_ids,
    distance, reasoning FROM chain_updates
    ORDER BY tenant, chain_id, created_at, position, id;
DROP TABLE chain_updates;
ALTER TABLE chain_updates_next RENAME TO chain_updates;
CREATE INDEX chain_updates_plain ON chain_updates (tenant, id)
    WHERE claim_ids <> '';
--@ system chain_updates

-- The efforts of one user that may go on: asked with every turn, and looked for
-- among those of all users until now.
CREATE INDEX memories_unended ON memories (tenant, user_id, created_at, id)
    WHERE type = 'effort' AND parent_id IS NULL AND status <> 'resolved'
    AND status <> 'abandoned';
