-- Receipts of what was forgotten: counts and a digest of ids, no content.
CREATE TABLE forget_receipts (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    selector {text} NOT NULL,
    counts {text} NOT NULL,
    digest {bytes} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- Scratch space of a running forget; empty outside its transaction.
CREATE TABLE forget_set (
    tenant {int} NOT NULL,
    kind {text} NOT NULL,
    id {id} NOT NULL,
    chat_id {id},
    seq {int},
    PRIMARY KEY (tenant, kind, id)
);
CREATE INDEX forget_set_by_place ON forget_set (tenant, kind, chat_id, seq);
