-- What a turn did to a chain: one row for each decision, found by the turn's
-- place, with the claims it put there. The turn has the rest: its words are
-- what is claimed, its id and time give those of claims and updates.
-- `kind` says which sentence of chain_step.c tells it (0: none does, the claims
-- alone are left), `said` is the topic in that sentence, `distance` counts
-- ten-thousandths. `claims` is the text of claim_spans.h. `moved_to` is the
-- chain the claims are in since theirs was merged.
CREATE TABLE chain_steps (
    tenant {int} NOT NULL,
    chat_id {id} NOT NULL,
    seq {int} NOT NULL,
    position {int} NOT NULL,
    chain_id {id} NOT NULL,
    kind {int} NOT NULL,
    claims {text} NOT NULL,
    distance {int},
    said {text} NOT NULL,
    parent_id {id},
    moved_to {id},
    PRIMARY KEY (tenant, chat_id, seq, position)
) {keyed};

-- How the steps of a chain are found: those it has, or has claims of, are among
-- the 64 turns of the chat from `from_seq` on. `first_at` is the time of its
-- first claim there.
CREATE TABLE chain_blocks (
    tenant {int} NOT NULL,
    chain_id {id} NOT NULL,
    chat_id {id} NOT NULL,
    from_seq {int} NOT NULL,
    first_at {int},
    PRIMARY KEY (tenant, chain_id, chat_id, from_seq)
) {keyed};

-- The claims of before, each in a row of its own and without an update yet:
-- positions from 100000 on are theirs.
INSERT INTO chain_steps (tenant, chat_id, seq, position, chain_id, kind, claims,
    said) SELECT tenant, chat_id, seq, 100000 + position, chain_id, 0,
    CASE WHEN position = 0 THEN '' ELSE CAST(position AS TEXT) || ':' END
    || CAST(first_byte AS TEXT) || '+' || CAST(end_byte - first_byte AS
    TEXT) || CASE WHEN confidence < 0.65 THEN UPPER(letter) ELSE letter END,
    '' FROM (SELECT tenant, chat_id, seq, position, chain_id, first_byte,
    end_byte, confidence, CASE type WHEN 'belief' THEN 'b' WHEN 'intention'
    THEN 'c' WHEN 'assessment' THEN 'd' WHEN 'preference' THEN 'e' WHEN 'causal'
    THEN 'f' WHEN 'question' THEN 'g' WHEN 'decision' THEN 'h' WHEN 'emotion'
    THEN 'i' WHEN 'goal' THEN 'j' WHEN 'value' THEN 'k' WHEN 'relationship' THEN
    'l' WHEN 'self_perception' THEN 'm' WHEN 'habit' THEN 'n' WHEN
    'memory_reference' THEN 'o' WHEN 'concern' THEN 'p' WHEN 'learning' THEN 'q'
    WHEN 'change_marker' THEN 'r' WHEN 'hypothetical' THEN 's' WHEN 'commitment'
    THEN 't' ELSE 'a' END AS letter FROM claims) AS lettered
    ORDER BY tenant, chat_id, seq, position;
INSERT INTO chain_blocks (tenant, chain_id, chat_id, from_seq, first_at)
    SELECT c.tenant, c.chain_id, c.chat_id, c.seq - c.seq % 64,
    MIN(c.created_at) FROM claims c
    GROUP BY c.tenant, c.chain_id, c.chat_id, c.seq - c.seq % 64;
DROP TABLE claims;

-- Updates of turns become steps with those claims: a task a tenant does it, a
-- page a transaction (engine/proof/renew.h). Those of hands stay as they are.
--@ only sqlite
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant, randomblob(16),
    'rows.renew', 'rows.renew:all', '{}', 'pending', -10, 0, 0,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM tenants t
    WHERE NOT EXISTS (SELECT 1 FROM tasks k WHERE k.tenant = t.tenant
    AND k.unique_key = 'rows.renew:all' AND k.finished_at IS NULL);
--@ only postgres
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant,
    decode(md5(random()::text || tenant::text), 'hex'),
    'rows.renew', 'rows.renew:all', '{}', 'pending', -10, 0, 0,
    (extract(epoch FROM now()) * 1000)::bigint FROM tenants t
    WHERE NOT EXISTS (SELECT 1 FROM tasks k WHERE k.tenant = t.tenant
    AND k.unique_key = 'rows.renew:all' AND k.finished_at IS NULL);
--@ only end
