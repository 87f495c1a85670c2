-- What a claim states is what its turn says at its place: it is not kept twice.
CREATE TABLE claims_next (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    position {int} NOT NULL,
    chain_id {id} NOT NULL,
    first_byte {int} NOT NULL,
    end_byte {int} NOT NULL,
    type {text} NOT NULL,
    subject {text} NOT NULL,
    entities {text} NOT NULL,
    keywords {text} NOT NULL,
    confidence {real} NOT NULL,
    valid_from {int},
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, chat_id, seq, position)
);
INSERT INTO claims_next (tenant, chat_id, seq, position, chain_id, first_byte,
    end_byte, type, subject, entities, keywords, confidence, valid_from,
    created_at) SELECT tenant, chat_id, seq, position, chain_id, first_byte,
    end_byte, type, subject, entities, keywords, confidence, valid_from,
    created_at FROM claims ORDER BY tenant, chat_id, seq, position;
DROP TABLE claims;
ALTER TABLE claims_next RENAME TO claims;
CREATE INDEX claims_by_chain ON claims
    (tenant, chain_id, created_at, seq, position);

-- One task a session looks at all its chains, where each chain had its own: the
-- key was check_chain_dormancy:CHAIN/SESSION. One of each session stays.
DELETE FROM tasks WHERE kind = 'check_chain_dormancy' AND finished_at IS NULL
    AND unique_key LIKE '%/%' AND EXISTS (SELECT 1 FROM tasks o WHERE
    o.tenant = tasks.tenant AND o.kind = tasks.kind AND o.finished_at IS NULL
    AND SUBSTR(o.unique_key, 59) = SUBSTR(tasks.unique_key, 59)
    AND o.unique_key < tasks.unique_key);
UPDATE tasks SET unique_key = 'check_chain_dormancy:' || SUBSTR(unique_key, 59),
    payload = '{"session_id":"' || SUBSTR(unique_key, 59) || '"}',
    status = 'pending', lease_until = NULL
    WHERE kind = 'check_chain_dormancy' AND finished_at IS NULL
    AND unique_key LIKE '%/%';

-- Memories of chains and profiles of chats have a smaller form: a task a tenant
-- writes them anew, a page a transaction (engine/proof/renew.h).
--@ only sqlite
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant, randomblob(16),
    'rows.renew', 'rows.renew:all', '{}', 'pending', -10, 0, 0,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM tenants;
--@ only postgres
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant,
    decode(md5(random()::text || tenant::text), 'hex'),
    'rows.renew', 'rows.renew:all', '{}', 'pending', -10, 0, 0,
    (extract(epoch FROM now()) * 1000)::bigint FROM tenants;
--@ only end
