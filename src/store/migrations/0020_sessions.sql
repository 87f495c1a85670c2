-- Open sessions end by the clock. A server that finds some nobody looks after
-- (stored before there was a task for each) takes them up when it starts.
CREATE INDEX sessions_open ON sessions (tenant, last_activity_at)
    WHERE ended_at IS NULL;
