-- Which programs call, by the name their calls carry, and when each last did:
-- what `clew setup --check` tells. Not part of the log, and not exported.
CREATE TABLE callers (
    tenant {int} NOT NULL,
    name {text} NOT NULL,
    via {text} NOT NULL,
    last_at {int} NOT NULL,
    PRIMARY KEY (tenant, name, via)
);
