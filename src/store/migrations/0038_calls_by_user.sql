-- Captured calls go on with those of their own user, however alike those of
-- others are: "hi" is answered alike for everybody.
DROP INDEX requests_by_hash;
CREATE INDEX requests_by_hash ON requests
    (tenant, user_id, hash_key, created_at, id);
DROP INDEX requests_by_reply;
CREATE INDEX requests_by_reply ON requests
    (tenant, user_id, reply_key, created_at, id) WHERE reply_key IS NOT NULL;
