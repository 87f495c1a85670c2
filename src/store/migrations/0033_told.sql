-- Notes of a language model. Most stores have none: then no question has to
-- look for what they replaced (engine/ask/search_told.c).
CREATE INDEX memories_told ON memories (tenant) WHERE origin = 'llm';
