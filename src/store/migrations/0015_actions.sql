-- What was done on purpose, in order, so that everything derived can be made
-- again: the log is the turns, the requests and this. `seq` is a change number
-- of the store it was first written to, as is a turn's place in the log;
-- `subject` is what was acted on, `made` what the action made.
CREATE TABLE actions (
    tenant {int} NOT NULL,
    seq {int} NOT NULL,
    id {id} NOT NULL,
    kind {text} NOT NULL,
    subject {id},
    made {id},
    detail {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, seq, id)
);
CREATE INDEX actions_by_subject ON actions (tenant, subject)
    WHERE subject IS NOT NULL;
CREATE INDEX actions_by_made ON actions (tenant, made) WHERE made IS NOT NULL;

-- How a turn came: bit 0 set if it began its transaction, bit 1 if the caller
-- named the chat. NULL for turns stored before actions were.
ALTER TABLE turns ADD COLUMN log_flags {int};
-- Its place in the log where that is not its change number: it was imported.
ALTER TABLE turns ADD COLUMN log_seq {int};
CREATE INDEX turns_by_log ON turns (tenant, log_seq, change_seq)
    WHERE log_seq IS NOT NULL;

-- What is due is claimed in this order, and what is finished is dropped by age.
CREATE INDEX tasks_ready ON tasks (priority DESC, execute_at, id)
    WHERE finished_at IS NULL;
CREATE INDEX tasks_finished ON tasks (finished_at)
    WHERE finished_at IS NOT NULL;
