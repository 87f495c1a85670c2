-- What the program writes down about its own decisions is kept packed
-- (base/pack.h), in `packed`. Rows from before have it plain until a task has
-- packed them, some at a time (engine/core/repack.h); then the plain column is
-- empty, or NULL where it may be. Which are plain is told across tenants, and
-- by the plain column, which does not change any more once it is empty: an index
-- that looked at `packed` would be in the way of every update of a row.
--@ system traces
--@ system link_decisions
--@ system actions
--@ system episodes
ALTER TABLE traces ADD COLUMN packed {bytes};
ALTER TABLE link_decisions ADD COLUMN packed {bytes};
ALTER TABLE actions ADD COLUMN packed {bytes};
ALTER TABLE episodes ADD COLUMN packed {bytes};
CREATE INDEX traces_plain ON traces (tenant, id) WHERE data <> '';
CREATE INDEX link_decisions_plain ON link_decisions (tenant, id)
    WHERE signals <> '';
CREATE INDEX actions_plain ON actions (tenant, id) WHERE detail <> '';
CREATE INDEX episodes_plain ON episodes (tenant, id)
    WHERE citations IS NOT NULL;
-- A trace is found by its own id; those of a chat by its turns and calls.
DROP INDEX traces_by_chat;
