-- What the page asks: how much was said on which day, what was stored or
-- failed since it last looked, and what a person wants kept in view.
CREATE INDEX turns_by_time ON turns (tenant, created_at, user_id);
CREATE INDEX requests_by_stored ON requests (tenant, stored_at, id);
CREATE INDEX tasks_failed ON tasks (tenant, finished_at, id)
    WHERE status = 'failed';
ALTER TABLE memories ADD COLUMN pinned_at {int};
CREATE INDEX memories_pinned ON memories (tenant, created_at, id)
    WHERE pinned_at IS NOT NULL;
