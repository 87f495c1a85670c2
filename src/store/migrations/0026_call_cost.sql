-- What a captured call used beside its plain tokens, and what the provider
-- says it cost, where it says so.
ALTER TABLE requests ADD COLUMN cache_read_tokens {int};
ALTER TABLE requests ADD COLUMN cache_write_tokens {int};
ALTER TABLE requests ADD COLUMN cost_micros {int};
