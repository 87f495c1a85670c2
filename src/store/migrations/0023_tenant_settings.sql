-- What a tenant decided for itself, by name. No row: as the server is set.
CREATE TABLE tenant_settings (
    tenant {int} NOT NULL,
    name {text} NOT NULL,
    value {text} NOT NULL,
    changed_at {int} NOT NULL,
    PRIMARY KEY (tenant, name)
);
