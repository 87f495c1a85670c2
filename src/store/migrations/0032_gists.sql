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
