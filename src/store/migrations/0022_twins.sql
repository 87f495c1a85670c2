-- What a fork goes on with that the chats above it began is its own from then
-- on: the row says which one it parted from. NULL for what was begun here.
ALTER TABLE efforts ADD COLUMN twin_of {id};
CREATE INDEX efforts_by_twin ON efforts (tenant, twin_of)
    WHERE twin_of IS NOT NULL;
ALTER TABLE chains ADD COLUMN twin_of {id};
CREATE INDEX chains_by_twin ON chains (tenant, twin_of)
    WHERE twin_of IS NOT NULL;
