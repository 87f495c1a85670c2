-- Answers of an LLM, by the digest of what was asked: a rebuild asks again
-- here, not there. And what the calls cost, by day and purpose.
CREATE TABLE llm_answers (
    tenant {int} NOT NULL,
    key {bytes} NOT NULL,
    purpose {text} NOT NULL,
    model {text} NOT NULL,
    chat_id {id},
    answer {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX llm_answers_by_chat ON llm_answers (tenant, chat_id);

CREATE TABLE llm_ledger (
    tenant {int} NOT NULL,
    day {int} NOT NULL,
    purpose {text} NOT NULL,
    model {text} NOT NULL,
    calls {int} NOT NULL,
    failures {int} NOT NULL,
    input_tokens {int} NOT NULL,
    output_tokens {int} NOT NULL,
    cost_micros {int} NOT NULL,
    PRIMARY KEY (tenant, day, purpose, model)
);
