-- On PostgreSQL an update writes every index of its table again, unless no
-- column that an index names has changed and the page has room for the new row.
-- A task that is claimed, put off or held changes its status, its attempts and
-- its lease: no index names those any more. What failed is told by what was said
-- of it; what is finished is in one index, by tenant, instead of in two.
DROP INDEX tasks_done;
DROP INDEX tasks_failed;
CREATE INDEX tasks_failed ON tasks (tenant, finished_at, id)
    WHERE last_error IS NOT NULL AND finished_at IS NOT NULL;
DROP INDEX tasks_finished;
CREATE INDEX tasks_finished ON tasks (tenant, finished_at)
    WHERE finished_at IS NOT NULL;
--@ only postgres
-- Room on a page for the next form of what is on it.
ALTER TABLE tasks SET (fillfactor = 80);
--@ only end
