-- PostgreSQL keeps whole numbers in as many bytes as their type has: eight in
-- every row and again in every entry of an index. Tenants are counted from one,
-- and so are the turns of a chat, the tokens of a text and the steps of a turn:
-- four bytes hold them. Times and change numbers stay as they are. A program
-- binds eight bytes as before; what does not fit is refused. SQLite takes what
-- a number needs already.
--@ only postgres
-- Policies speak of the column; all of them are made anew after a migration.
DO $do$ DECLARE t record; BEGIN
    FOR t IN SELECT c.oid::regclass AS name FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
        AND a.attname = 'tenant' AND a.atttypid = 'bigint'::regtype
        WHERE c.relnamespace = current_schema()::regnamespace
        AND c.relkind = 'r' AND NOT c.relispartition ORDER BY 1 LOOP
        EXECUTE format('DROP POLICY IF EXISTS clew_tenant ON %s', t.name);
        EXECUTE format('ALTER TABLE %s ALTER tenant TYPE integer%s', t.name,
            CASE t.name::text
            WHEN 'turns' THEN ', ALTER seq TYPE integer,
                ALTER token_count TYPE integer, ALTER log_flags TYPE smallint'
            WHEN 'chain_steps' THEN ', ALTER seq TYPE integer,
                ALTER position TYPE integer, ALTER kind TYPE smallint,
                ALTER distance TYPE integer'
            WHEN 'chain_blocks' THEN ', ALTER from_seq TYPE integer'
            WHEN 'memory_refs' THEN ', ALTER first_seq TYPE integer,
                ALTER last_seq TYPE integer'
            WHEN 'memories' THEN ', ALTER is_instruction TYPE smallint,
                ALTER token_count TYPE integer,
                ALTER retrieval_count TYPE integer'
            WHEN 'efforts' THEN ', ALTER is_open TYPE smallint,
                ALTER is_spawned TYPE smallint, ALTER first_seq TYPE integer,
                ALTER last_seq TYPE integer'
            WHEN 'chains' THEN ', ALTER last_seq TYPE integer,
                ALTER n_claims TYPE integer'
            WHEN 'episodes' THEN ', ALTER ordinal TYPE integer,
                ALTER first_seq TYPE integer, ALTER last_seq TYPE integer,
                ALTER compacted_seq TYPE integer'
            WHEN 'link_decisions' THEN ', ALTER seq TYPE integer'
            WHEN 'tasks' THEN ', ALTER priority TYPE integer,
                ALTER attempts TYPE integer'
            ELSE '' END);
    END LOOP;
END $do$;
--@ only end
