-- Spread a clew database over the servers of Citus, by tenant.
--
--     psql -v ON_ERROR_STOP=1 -d clew -f create_distributed_table.sql
--
-- Run it on the coordinator, as a superuser (row-level security would hide the
-- rows that are to be moved from the owner), after clew has made its tables and
-- while no clew runs; and again after an upgrade that brought new tables: what is
-- spread already is left alone. A test holds both lists against the schema.
--
-- The program itself needs one setting, which makes Citus tell its workers which
-- tenant a transaction belongs to (the policy of row-level security asks for it):
--
--     ALTER DATABASE clew SET citus.propagate_set_commands = 'local';

DO $do$
DECLARE
    name text;
    -- few rows, read before a tenant is known: a copy on every server
    copied text[] := ARRAY[
        'api_keys', 'schema_migrations', 'secrets', 'tenant_names'];
    -- rows of one tenant stand together, all tables of it on one server
    spread text[] := ARRAY[
        'tenants',
        'actions', 'agent_results', 'agents', 'callers', 'chain_blocks',
        'chain_steps', 'chain_terms', 'chain_updates', 'chains',
        'chat_memories', 'chat_profiles', 'chat_terms', 'chats',
        'corrections', 'efforts',
        'episode_chats', 'episodes', 'forget_receipts', 'forget_set', 'gists',
        'link_counters', 'link_decisions', 'link_rebuilds',
        'link_tunings', 'llm_answers', 'llm_ledger', 'memories',
        'memory_access', 'memory_keys', 'memory_refs', 'memory_sources',
        'readings', 'request_anchors', 'request_prefixes',
        'request_tasks', 'requests', 'session_summaries', 'session_talks', 'sessions',
        'starts', 'tasks', 'tenant_settings', 'tombstones', 'traces',
        'turns', 'unread', 'users', 'vector_graphs', 'vector_models',
        'vectors'];
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION 'only a superuser sees the rows of all tenants';
    END IF;
    FOREACH name IN ARRAY copied LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_dist_partition
                       WHERE logicalrelid = name::regclass) THEN
            PERFORM create_reference_table(name);
        END IF;
    END LOOP;
    -- pgvector's table is made when a tenant first outgrows memory
    IF to_regclass('graph_vectors') IS NOT NULL THEN
        spread := spread || 'graph_vectors'::text;
    END IF;
    FOREACH name IN ARRAY spread LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_dist_partition
                       WHERE logicalrelid = name::regclass) THEN
            PERFORM create_distributed_table(name, 'tenant', colocate_with =>
                CASE WHEN name = 'tenants' THEN 'none' ELSE 'tenants' END);
        END IF;
    END LOOP;
END $do$;
