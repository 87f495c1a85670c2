-- What a tenant decided for itself, by name. No row: as the server is set.
CREATE TABLE tenant_settings (
    tenant {int} NOT NULL,
    name {text} NOT NULL,
    value {text} NOT NULL,
    changed_at {int} NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- What was sent for an answer: turns of its chat, and what that took. NULL in
-- answers of before.
ALTER TABLE llm_answers ADD COLUMN first_seq {int};
ALTER TABLE llm_answers ADD COLUMN last_seq {int};
ALTER TABLE llm_answers ADD COLUMN input_tokens {int};
ALTER TABLE llm_answers ADD COLUMN output_tokens {int};
