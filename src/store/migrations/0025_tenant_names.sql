-- A table that belongs to tenants can be spread over servers by tenant only if
-- no key of it spans tenants. Names span them: they move to a table that stands
-- above tenants, and is copied to every server where there are several.
CREATE TABLE tenant_names (
    name {text} NOT NULL PRIMARY KEY,
    tenant_id {int} NOT NULL
);
CREATE UNIQUE INDEX tenant_names_by_id ON tenant_names (tenant_id);
INSERT INTO tenant_names (name, tenant_id) SELECT name, tenant FROM tenants;

-- SQLite cannot drop a constraint, so the table is made anew.
CREATE TABLE tenants_next (
    tenant {int} NOT NULL PRIMARY KEY,
    name {text} NOT NULL,
    created_at {int} NOT NULL,
    change_seq {int} NOT NULL
);
INSERT INTO tenants_next (tenant, name, created_at, change_seq)
    SELECT tenant, name, created_at, change_seq FROM tenants;
DROP TABLE tenants;
ALTER TABLE tenants_next RENAME TO tenants;

-- Ids and times: where sessions are open that nobody looks after is asked once,
-- not tenant by tenant.
--@ system sessions
