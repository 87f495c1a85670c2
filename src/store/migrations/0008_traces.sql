-- What was decided about a turn, and why: one JSON object a turn.
CREATE TABLE traces (
    tenant {int} NOT NULL,
    id {id} NOT NULL,
    chat_id {id} NOT NULL,
    created_at {int} NOT NULL,
    data {text} NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX traces_by_chat ON traces (tenant, chat_id, created_at);
