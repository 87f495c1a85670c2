/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.test.mjs - the isolation suite sees a predicate that is gone.
 *
 * Runs it on clew-mutant: the program, but for the tenant's predicate of the
 * query that reads a chat by its id. On SQLite nothing else stands between the
 * tenants, so the suite has to fail there.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const here = path.dirname(fileURLToPath(import.meta.url));

function isolationOn(program) {
  const env = { ...process.env, CLEW_BIN: program };
  delete env.NODE_TEST_CONTEXT; /* a run of its own, not a part of this one */
  const run = spawnSync(process.execPath,
    ["--test", "--test-reporter=tap", "auth.test.mjs"],
    { cwd: here, env, encoding: "utf8", timeout: 800_000 });
  return run.stdout;
}

test("without a tenant's predicate the isolation suite fails", () => {
  const mutant = path.join(path.dirname(bin), "tests/clew-mutant");
  const report = isolationOn(mutant);
  assert.match(report, /^ *ok \d+ - keys on sqlite/m, "the rest works");
  assert.match(report, /^ *not ok \d+ - isolation on sqlite/m);
  assert.match(report, /not ok \d+ - tenant B learns nothing by tenant A.s ids/);
});
