-- Vectors by models other than the shipped one, whose vectors are made again
-- from the text whenever they are needed. `source_change` is the change number
-- of the row whose text was embedded: another one means the text has changed
-- since. `change_seq` is the vector's own, by which indexes catch up. `bytes`
-- holds a little-endian float scale and `dim` int8 values; dim 0 says that the
-- model refuses this text.
CREATE TABLE vectors (
    tenant {int} NOT NULL,
    kind {text} NOT NULL,
    id {id} NOT NULL,
    model {text} NOT NULL,
    source_change {int} NOT NULL,
    change_seq {int} NOT NULL,
    dim {int} NOT NULL,
    bytes {bytes} NOT NULL,
    PRIMARY KEY (tenant, kind, id, model)
);
CREATE UNIQUE INDEX vectors_by_change ON vectors (tenant, model, change_seq);

-- How far a model has come: every row up to `through` has its vector.
-- `ready_at` is when it first had all of them and its index was made.
--@ system vector_models
CREATE TABLE vector_models (
    tenant {int} NOT NULL,
    model {text} NOT NULL,
    dim {int} NOT NULL,
    through {int} NOT NULL,
    ready_at {int},
    PRIMARY KEY (tenant, model)
);
