-- That turns were read: a few letters each, 64 places of the log a row
-- (engine/core/read_log.h). Readings stood among the actions, one row a turn;
-- a task moves them (engine/proof/renew.h), and until then both are read.
CREATE TABLE readings (
    tenant {int} NOT NULL,
    stretch {int} NOT NULL,
    reader {text} NOT NULL,
    entries {text} NOT NULL,
    PRIMARY KEY (tenant, stretch, reader)
) {keyed};

-- Of a tenant's tasks that are done only the newest stay listed
-- (engine/core/task_prune.c).
CREATE INDEX tasks_done ON tasks (tenant, finished_at, id)
    WHERE status = 'done';

-- The fields of a memory repeat what its summary says: they are packed beside it
-- (base/pack_beside.h), and NULL then.
ALTER TABLE memories ADD COLUMN packed {bytes};

-- The longer summaries of an episode repeat the shortest; those of sessions are
-- of the same words. The plain columns are NULL, or empty where they must be.
ALTER TABLE episodes ADD COLUMN meso_packed {bytes};
ALTER TABLE episodes ADD COLUMN macro_packed {bytes};
ALTER TABLE session_summaries ADD COLUMN packed {bytes};

-- Whose a trace is and of when, its turn or call says.
CREATE TABLE traces_next (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    data {text},
    packed {bytes},
    PRIMARY KEY (tenant, id)
) {keyed};
INSERT INTO traces_next (tenant, id, data, packed) SELECT tenant, id,
    CASE WHEN data = '' THEN NULL ELSE data END, packed FROM traces
    ORDER BY tenant, id;
DROP TABLE traces;
ALTER TABLE traces_next RENAME TO traces;
CREATE INDEX traces_plain ON traces (tenant, id) WHERE data <> '';
--@ system traces

-- Memories of one moment are few, and sorted when they are read: the indexes by
-- time do without ids, which were half of them.
DROP INDEX memories_by_user;
CREATE INDEX memories_by_user ON memories (tenant, user_id, created_at);
DROP INDEX memories_by_time;
CREATE INDEX memories_by_time ON memories (tenant, created_at);
DROP INDEX memories_by_chat_time;
CREATE INDEX memories_by_chat_time ON memories (tenant, chat_id, created_at);
DROP INDEX memories_unended;
CREATE INDEX memories_unended ON memories (tenant, user_id, created_at)
    WHERE type = 'effort' AND parent_id IS NULL AND status <> 'resolved'
    AND status <> 'abandoned';

-- One task a tenant writes anew what has a smaller form now, a page a
-- transaction; one that is there already begins anew.
DELETE FROM tasks WHERE kind = 'rows.renew' AND finished_at IS NULL;
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
