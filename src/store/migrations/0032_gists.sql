-- Where a turn lies among turns, by the reader: a question is looked for near
-- it. Of the turn with this id; by another reader's numbers (model) it says
-- nothing.
CREATE TABLE gists (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    model {int} NOT NULL,
    place {bytes} NOT NULL,
    change_seq {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX gists_by_change ON gists (tenant, change_seq);

-- Turns that were read before get theirs from a task a tenant
-- (engine/understand/gist_later.h).
--@ only sqlite
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant, randomblob(16),
    'turns.gist', 'turns.gist:all', '{}', 'pending', -10, 0, 0,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM tenants;
--@ only postgres
INSERT INTO tasks (tenant, id, kind, unique_key, payload, status, priority,
    execute_at, attempts, created_at) SELECT tenant,
    decode(md5(random()::text || tenant::text), 'hex'),
    'turns.gist', 'turns.gist:all', '{}', 'pending', -10, 0, 0,
    (extract(epoch FROM now()) * 1000)::bigint FROM tenants;
--@ only end
