-- Durable pieces of later work. Workers claim across tenants.
--@ system tasks
CREATE TABLE tasks (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    kind {text} NOT NULL,
    unique_key {text} NOT NULL,
    payload {text} NOT NULL,
    status {text} NOT NULL,
    priority {int} NOT NULL,
    execute_at {int} NOT NULL,
    attempts {int} NOT NULL,
    last_error {text},
    lease_until {int},
    created_at {int} NOT NULL,
    finished_at {int},
    PRIMARY KEY (tenant, id)
);
-- one open task per key: asking again for the same work changes nothing
CREATE UNIQUE INDEX tasks_by_key ON tasks (tenant, unique_key)
    WHERE finished_at IS NULL;
CREATE INDEX tasks_due ON tasks (execute_at, priority)
    WHERE finished_at IS NULL;
CREATE INDEX tasks_by_time ON tasks (tenant, created_at, id);
