/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.test.mjs - no statement walks a tenant to find the rows of one thing.
 *
 * SQLite plans without statistics: it may prefer an index that gives the order
 * asked for, and then reads every row of the tenant to find those of one chat.
 * That is fast in every test and slow after a year. So each statement that
 * stands in the program is planned here, and one that names a row it wants
 * (`chat_id = $2`) must be looked up by more than the tenant.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { bin, startServer } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

/* Statements that read all on purpose: rare, or a window of time. */
const allowed = [
  /forget_set/, /* forgetting looks everywhere */
  /\(agent_id = \$2 OR key_id = \$2\)/, /* an agent's newest, by time */
  /UPDATE tasks|DELETE FROM tasks|FROM tasks WHERE/, /* open ones are few */
  /e\.is_open = 1 AND m\.parent_id IS NULL/, /* and so are open efforts */
  /\(\$\d+ = '' OR (\w\.)?(user_id|agent_id|model) = /, /* filters of a list that is
                                read in its order, and counts of everything */
  /MAX\(change_seq\)|EXISTS \(SELECT 1 FROM corrections/, /* read one row */
];

function statements() {
  const bytes = fs.readFileSync(bin).toString("latin1");
  const found = bytes.match(/(?:SELECT|UPDATE|DELETE|WITH|INSERT) [\x20-\x7e]{20,}/g);
  return [...new Set(found)]
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
  const list = statements();
  const found = plans(path.join(server.data, "clew.db"), list);
  assert.equal(found.length, list.length);
  const planned = found.filter((plan) => plan.includes("QUERY PLAN")).length;
  assert.ok(planned > 250, `only ${planned} statements were planned`);
  const walks = list.filter((sql, i) => {
    const names = /\b\w*_id = \$\d/.test(sql.replace(/.* SET .*? WHERE /, ""));
    const isWalk = / USING (COVERING )?INDEX \S+ \(tenant=\?( AND \w+_at[<>]\?)?\)$/m;
    return names && isWalk.test(found[i]) &&
      !allowed.some((rule) => rule.test(sql));
  });
  assert.deepEqual(walks, []);
});
