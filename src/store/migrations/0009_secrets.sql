-- Random keys the program makes for itself (sealing cursors), shared by every
-- process on one store. They stand above tenants.

CREATE TABLE secrets (
    name {text} NOT NULL PRIMARY KEY,
    value {bytes} NOT NULL,
    created_at {int} NOT NULL
);
