/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.test.mjs - no statement walks a tenant to find the rows of one thing.
 *
 * SQLite plans without statistics: it may prefer an index that gives the order
 * asked for, and then reads every row of the tenant to find those of one chat.
 * That is fast in every test and slow after a year. So each statement that
 * stands in the program is planned here, and one that names a row it wants
 * (`chat_id = $2`) must be looked up by more than the tenant.
 *
 * And none crosses tenants, nor does any key, so that tenants can be spread over
 * servers (packaging/citus). Nor does a turn ask the same twice.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { startServer } from "./lib/server.mjs";
import { crossings, explain, ofTables, readBy, spread, tablesOf } from "./lib/shards.mjs";
import { statements } from "./lib/statements.mjs";

process.env.CLEW_TEST_READS = "no";

/* Statements that read all on purpose: rare, or a window of time. */
const allowed = [
  /forget_set/, /* forgetting looks everywhere */
  /\(agent_id = \$2 OR key_id = \$2\)/, /* an agent's newest, by time */
  /UPDATE tasks|DELETE FROM tasks|FROM tasks WHERE/, /* open ones are few */
  /e\.is_open = 1 AND m\.parent_id IS NULL ORDER/, /* and so are open efforts */
  /\(\$\d+ = '' OR (\w\.)?(user_id|agent_id|model) = /, /* filters of a list that is
                                read in its order, and counts of everything */
  /MAX\(change_seq\)|EXISTS \(SELECT 1 FROM (corrections|tombstones d WHERE d\.tenant = \$1 AND d\.kind)/, /* read one row */
  /origin = 'llm' LIMIT 1\) AS told/, /* so does this, of an index of those alone */
];

/* What both databases run, with the tenant as $1. */
function common() {
  return statements()
    .filter((sql) => /\$1\b/.test(sql) && !sql.includes("%"))
    .filter((sql) => !/\bFOR UPDATE|set_config|::/.test(sql)); /* PostgreSQL's */
}

/* What SQLite would do for each, in order; null for what it cannot read. */
function plans(database, list) {
  const script = list.map((sql, i) => `.print @${i}\nEXPLAIN QUERY PLAN ${
    sql.replace(/= ANY\((\$\d+)\)/g, "IN (SELECT value FROM json_each($1))")};`);
  const run = spawnSync("sqlite3", ["-readonly", database],
    { input: script.join("\n"), encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(run.error, undefined, "sqlite3 is not installed");
  return run.stdout.split(/^@\d+\n/m).slice(1);
}

test("rows of one thing are found by an index", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const list = common();
  const found = plans(path.join(server.data, "clew.db"), list);
  assert.equal(found.length, list.length);
  const planned = found.filter((plan) => plan.includes("QUERY PLAN")).length;
  assert.ok(planned > 250, `only ${planned} statements were planned`);
  const walks = list.filter((sql, i) => {
    const names = /\b(\w*_id|\w\.id|subject|made) = (ANY\()?\$\d/.test(sql.replace(/.* SET .*? WHERE /, ""));
    const isWalk = / USING ((COVERING )?INDEX \S+|PRIMARY KEY) \(tenant=\?( AND \w+_at[<>]\?)?\)$/m;
    return names && isWalk.test(found[i]) &&
      !allowed.some((rule) => rule.test(sql));
  });
  assert.deepEqual(walks, []);
});

test("what goes with forgotten turns is found by their chats", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const list = common().filter((sql) => /^INSERT INTO forget_set .*(FROM|JOIN) forget_set/.test(sql));
  assert.ok(list.length >= 3, `only ${list.length} statements were found`);
  const found = plans(path.join(server.data, "clew.db"), list);
  /* asked of every row of the tenant whether it is of one of many turns, each would be compared with each */
  const walks = list.filter((sql, i) => / (e|m|c|r|l) USING (COVERING )?INDEX \S+ \(tenant=\?\)$/m.test(found[i]));
  assert.deepEqual(walks.filter((sql) => !/FROM chains/.test(sql)), []);
});

/*
 * PostgreSQL believes the scratch table and the first tombstones to be empty, and
 * next to row-level security takes no sum for the bound of an index.
 */
test("what goes with them is looked up on PostgreSQL, too", async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const store = postgres.database();
  await (await startServer({ store })).stop();
  const list = [/^INSERT INTO forget_set .*FROM memory_refs r/, /^SELECT value FROM UNNEST.*tombstones/, /^(UPDATE|DELETE FROM) chain_steps .*WITH b/]
    .flatMap((rule) => statements().filter((sql) => rule.test(sql)));
  assert.equal(list.length, 6);
  const script = explain(list).replace("SET search_path = shard;", "SET enable_seqscan = off;");
  const { out, errors } = postgres.script(store, script);
  assert.equal(errors, "");
  const walks = out.split(/^@\d+\n/m).slice(1)
    .filter((plan) => !/chain_steps/.test(plan) ? !/SubPlan/.test(plan) : !/Index Cond: .*seq < b\.end_seq/.test(plan));
  assert.deepEqual(walks, []);
});

/* What may look over all tenants: reads only, without a lock, of the program's
 * own later work. Each node answers for its part. */
const acrossTenants = [
  [/FROM tasks WHERE finished_at IS NULL/, "what is due of all"],
  [/^SELECT k\.tenant, k\.id FROM tenants t JOIN tasks k/, "what was done long ago, of all"],
  [/FROM tasks GROUP BY status|FROM unread WHERE/, "counts for metrics and health"],
  [/^SELECT tenant(, name)? FROM tenants (WHERE change_seq > 0 )?ORDER BY tenant/, "each in its turn"],
  [/^SELECT name, created_at FROM tenants ORDER BY tenant/, "the list of them, for whoever has the store"],
  [/^SELECT t\.tenant FROM tenants t WHERE/, "where work waits that no task will come for, and where some was done"],
  [/FROM tenants n LEFT JOIN vector_models v/, "whose vectors are behind, and by how much"],
  [/FROM vector_graphs g JOIN tenants n/, "how far the graphs are, for health"],
];

/* The names in one of the script's two lists. */
function namesIn(list) {
  const script = fs.readFileSync(fileURLToPath(
    new URL("../../packaging/citus/create_distributed_table.sql", import.meta.url)), "utf8");
  return /ARRAY\[([^\]]*)\]/.exec(script.slice(script.indexOf(list)))[1].match(/\w+/g).sort();
}

test("no key, sequence or statement crosses tenants", async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const store = postgres.database();
  const server = await startServer({ store });
  await server.stop();
  const sql = (text) => postgres.sql(text, store);
  const tables = tablesOf(sql);
  assert.equal(crossings(sql, tables), "");
  const above = tables.filter((table) => !table.isTenants).map((table) => table.name);
  assert.deepEqual(above, ["api_keys", "schema_migrations", "secrets", "tenant_names"]);

  assert.deepEqual(namesIn("copied text[]"), above);
  assert.deepEqual(namesIn("spread text[]"),
    tables.filter((table) => table.isTenants).map((table) => table.name));

  /* what changes with every claim of a task stands in no index: such an update is in place */
  assert.equal(sql("SELECT string_agg(indexdef, E'\n') FROM pg_indexes WHERE tablename = 'tasks'"
    + " AND indexdef ~ 'status|attempts|lease_until'"), "");

  sql(spread(tables)); /* refused where a unique key lacks the tenant */
  const list = ofTables(statements().filter((text) => !/%[sz]|graph_vectors/.test(text)), tables);
  const { out, errors } = postgres.script(store, explain(list));
  assert.ok(list.length > 350, `only ${list.length} statements were found`);
  const plans = out.split(/^@\d+\n/m).slice(1);
  assert.equal(plans.length, list.length);
  assert.equal(errors, "", "every statement can be planned");
  const half = Object.values(readBy(plans[list.findIndex((text) =>
    /^SELECT change_seq FROM tenants WHERE tenant = \$1$/.test(text))]))[0];
  assert.equal(half.size, 1);
  const isConfined = (plan) => Object.values(readBy(plan)).every((read) =>
    read.size === 1 && [...read][0] === [...half][0]);
  const wide = list.filter((text, i) => !isConfined(plans[i]) || /Subplans Removed/.test(plans[i]));
  assert.deepEqual(wide.filter((text) => !acrossTenants.some(([rule]) => rule.test(text))), []);
  for (const [rule, why] of acrossTenants) {
    assert.ok(wide.some((text) => rule.test(text)), `nothing needs the exception: ${why}`);
  }
  assert.deepEqual(wide.filter((text) => !/^SELECT /.test(text) || /FOR UPDATE/.test(text)), []);
  /* An INSERT has no part to read: it names whose row it is, first. */
  const own = new RegExp(`^INSERT INTO (${tables.filter((table) => table.isTenants)
    .map((table) => table.name).join("|")}) `);
  assert.deepEqual(list.filter((text) => own.test(text) &&
    !/^INSERT INTO \w+ \(tenant\b.*?\) (VALUES \(\$1|SELECT (DISTINCT )?(\$1|(\w\.)?tenant)),/.test(text)), []);
});

/* Each is posted alone and read at once, by rules. */
const said = ["My boiler in Leeds is broken, please help me repair the pump before Friday.",
  "I live in Hamburg and my sister Ines moved to Lisbon in March.",
  "Remember that the garage code of the cabin is kept by Tobias.",
  "We decided to use the copper pipes, not the plastic ones.",
  "The pump works again, thank you!", "My dentist is Dr. Osei and the next visit is on 4 June."];

test("a turn asks PostgreSQL for each thing once", async (t) => {
  const postgres = await startPostgres({ settings: ["shared_preload_libraries = 'pg_stat_statements'"] });
  t.after(() => postgres.stop());
  const store = postgres.database();
  const server = await startServer({ store });
  t.after(() => server.stop());
  postgres.sql("CREATE EXTENSION pg_stat_statements", store);
  const { id } = isOk(await server.api().post("/api/v1/chats", { user_id: "ada" }), 201);
  postgres.sql("SELECT pg_stat_statements_reset()", store);
  for (const content of said) {
    isOk(await server.api().post("/api/v1/turns", { user_id: "ada", chat_id: id, role: "user", content }), 201);
  }
  /* calls of what is done in the course of a turn, a turn */
  const counts = JSON.parse(postgres.sql("SELECT json_object_agg(query, calls) FROM pg_stat_statements s"
    + " JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname = 'clew' AND query ~ '[$]1'", store));
  const callsOf = (part) => Object.entries(counts).filter(([query]) => part.test(query))
    .reduce((sum, [, calls]) => sum + calls, 0) / said.length;
  assert.ok(callsOf(/INSERT INTO turns /) === 1, "the turns were not counted");
  for (const part of [/FROM unread w /, /FROM session_talks /, /^SELECT seq, role, name, SUBSTR/,
    /INSERT INTO chat_terms /, /INSERT INTO chain_terms /, /FROM turns WHERE tenant = \$1 AND id = ANY/]) {
    const calls = callsOf(part);
    assert.ok(calls > 0 && calls <= 1, `${part}: ${calls} a turn`);
  }
  const memories = callsOf(/^INSERT INTO memories /);
  assert.ok(memories > 0 && callsOf(/INSERT INTO memory_keys /) <= 4 * memories, "keys one by one");

  /* of many open efforts only those are read that share a word with the turn */
  const things = ["printer", "bicycle", "fence", "gutter", "laptop", "radiator", "door", "chimney", "fridge", "lamp",
    "socket", "heater", "piano", "kayak", "tent", "saddle", "clock", "mirror", "shelf", "carpet", "curtain"];
  const say = async (n, content) => isOk(await server.api().post("/api/v1/turns", { user_id: "bob", role: "user", channel: "sms",
    created_at: new Date(Date.UTC(2026, 0, 1) + n * 7_200_000).toISOString(), content }), 201);
  for (const [i, thing] of things.entries()) await say(i, `I need to repair the ${thing}.`);
  postgres.sql("SELECT pg_stat_statements_reset()", store);
  const { notices } = await say(things.length, "The kayak is fixed now, it works again!");
  assert.match(notices.join(), /resolved.*kayak/);
  const read = Number(postgres.sql("SELECT SUM(rows) FROM pg_stat_statements WHERE query LIKE 'SELECT e.memory_id, e.thread_id%'", store));
  assert.ok(read > 0 && read <= 4, `${read} efforts were read`);
});
