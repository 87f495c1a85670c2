/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards.mjs - clew's tables as a server that spreads tenants would have them.
 *
 * Every table that belongs to tenants is made again, empty, with its keys and
 * indexes, as two hash partitions by tenant. PostgreSQL refuses that for a
 * unique key without the tenant; and a plan for tenant 1 that reads the other
 * partition is a statement that such a server could not send to one node.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const migrations = fileURLToPath(new URL("../../../src/store/migrations", import.meta.url));

/* Each table of the schema with its columns, and what it has besides. */
export function tablesOf(sql) {
  const rows = sql(`SELECT c.relname, (SELECT string_agg(a.attname, ',' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    ORDER BY c.relname`);
  return rows.split("\n").map((row) => row.split("|"))
    .map(([name, columns]) => ({ name, columns: columns.split(","), isTenants: columns.startsWith("tenant,") }));
}

/* Unique keys without the tenant, foreign keys without it, and sequences. */
export function crossings(sql, tables) {
  const spread = tables.filter((table) => table.isTenants).map((table) => `'${table.name}'`).join(",");
  const tenant = `(SELECT a.attnum FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')`;
  return sql(`SELECT c.relname || ': ' || i.indexrelid::regclass FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid WHERE c.relname IN (${spread}) AND i.indisunique
      AND NOT ${tenant} = ANY(i.indkey[0:i.indnkeyatts - 1])
    UNION ALL SELECT c.relname || ': no primary key' FROM pg_class c WHERE c.relname IN (${spread})
      AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
    UNION ALL SELECT c.relname || ': ' || k.conname FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype = 'f' AND c.relname IN (${spread})
      AND NOT EXISTS (SELECT 1 FROM unnest(k.conkey, k.confkey) AS p (mine, theirs)
        JOIN pg_attribute t ON t.attrelid = k.confrelid AND t.attnum = p.theirs
        WHERE p.mine = ${tenant} AND t.attname = 'tenant')
    UNION ALL SELECT 'sequence ' || relname FROM pg_class WHERE relkind = 'S'
      AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal`);
}

/* The script that makes the tables again in the schema "shard". */
export function spread(tables) {
  return ["CREATE SCHEMA shard;", ...tables.map(({ name, isTenants }) => isTenants
    ? `CREATE TABLE shard.${name} (LIKE public.${name} INCLUDING ALL) PARTITION BY HASH (tenant);
       CREATE TABLE shard.${name}_0 PARTITION OF shard.${name} FOR VALUES WITH (MODULUS 2, REMAINDER 0);
       CREATE TABLE shard.${name}_1 PARTITION OF shard.${name} FOR VALUES WITH (MODULUS 2, REMAINDER 1);`
    : `CREATE TABLE shard.${name} (LIKE public.${name} INCLUDING ALL);`)].join("\n");
}

/* Those of the program that are about these tables, without the migrations'. */
export function ofTables(list, tables) {
  const once = fs.readdirSync(migrations)
    .map((file) => fs.readFileSync(path.join(migrations, file), "utf8")).join("\n");
  const names = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE) (${tables.map((table) => table.name).join("|")})\\b`);
  return list.filter((sql) => names.test(sql) && !once.includes(sql));
}

/* A script that plans each for tenant 1, whatever its other values are. The program
 * names the types of lists; here they follow from the column that takes `value`, or is
 * compared with it. */
export function explain(list) {
  const listed = (sql) => {
    const [, columns, values] = /^INSERT INTO \w+ \((.*?)\) SELECT (.*?) FROM UNNEST\(/.exec(sql) ?? [];
    const column = columns?.split(", ")[values.split(", ").indexOf("value")]
      ?? /(\w+) = value\b/.exec(sql)?.[1];
    return sql.replace(/UNNEST\((\$\d+)\)/g, `UNNEST($1::${/digest|^id$|_id$/.test(column) ? "bytea" : "bigint"}[])`);
  };
  const one = (sql, i) => [`\\echo @${i}`,
    `PREPARE s AS ${listed(sql).replace(/\$1\b/g, "'1'").replace(/\$(\d+)/g, (all, n) => `$${n - 1}`)};`,
    "SELECT 'EXPLAIN (COSTS OFF) EXECUTE s' || CASE WHEN cardinality(parameter_types) > 0 THEN"
    + " '(' || array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ',') || ')'"
    + " ELSE '' END FROM pg_prepared_statements WHERE name = 's' \\gexec",
    "DEALLOCATE s;"].join("\n");
  return ["SET search_path = shard;", "SET plan_cache_mode = force_generic_plan;",
    ...list.map(one)].join("\n");
}

/* Which halves of which tables a plan reads: {chats: ["0"], …}. */
export function readBy(plan) {
  const found = {};
  for (const [, name, half] of plan.matchAll(/ on (\w+?)_([01])(?: |$)/gm)) {
    (found[name] ??= new Set()).add(half);
  }
  return found;
}
