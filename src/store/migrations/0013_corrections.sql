-- What people said a text does, where clew was wrong. The text itself is not
-- kept: the key is a digest of its words, and of the act it answered.
CREATE TABLE corrections (
    tenant {int} NOT NULL,
    key {bytes} NOT NULL,
    act {text} NOT NULL,
    was {text} NOT NULL,
    level {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, key)
);
