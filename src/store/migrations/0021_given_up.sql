-- A turn whose reading fails again and again is given up, so that those after
-- it are read. Tries are counted here, not in the log: a rebuild leaves such a
-- turn as it is unless it is asked to read it.
ALTER TABLE unread ADD COLUMN tries {int} NOT NULL DEFAULT 0;
ALTER TABLE unread ADD COLUMN given_up_at {int};
CREATE INDEX unread_given_up ON unread (tenant, created_at, turn_id)
    WHERE given_up_at IS NOT NULL;
