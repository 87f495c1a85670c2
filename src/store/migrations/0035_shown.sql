-- What else was shown for an answer: ids of other chats whose words stood in
-- the question, of turns of theirs and of memories, sixteen bytes each. NULL: nothing, or an
-- answer of before.
ALTER TABLE llm_answers ADD COLUMN beside {bytes};
