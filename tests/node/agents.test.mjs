/* SPDX-License-Identifier: Apache-2.0 */
/* agents.test.mjs - clew agents list, check and test. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync }
  from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

const shipped = fileURLToPath(
  new URL("../../packaging/agents/bug-report.yaml", import.meta.url));
let dir;
let config;

function clew(...args) {
  return spawnSync(process.env.CLEW_BIN, args, {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: dir, NO_COLOR: "1" },
  });
}

before(() => {
  dir = mkdtempSync(join(tmpdir(), "clew-agents-"));
  config = join(dir, "clew.yaml");
  writeFileSync(config, "");
  mkdirSync(join(dir, "agents"));
  copyFileSync(shipped, join(dir, "agents", "bug-report.yaml"));
  writeFileSync(join(dir, "agents", "broken.yaml"),
    "name: broken\nfields: [a]\nopens:\n  acts: [shout]\n");
});
after(() => rmSync(dir, { recursive: true, force: true }));

test("built-in and own packages are listed, the broken one named", () => {
  const run = clew("agents", "list", "--config", config, "--json");
  assert.equal(run.status, 0, run.stderr);
  const { items, problems } = JSON.parse(run.stdout);
  assert.deepEqual(items.map((item) => item.name),
    ["effort", "fact", "event", "decision", "bug-report"]);
  assert.deepEqual(items[4].fields, ["error", "repro_steps", "fix"]);
  assert.equal(problems.length, 1);
  assert.equal(problems[0].line, 4);
  assert.match(problems[0].message, /broken\.yaml:4: unknown act "shout"/);
});

test("a package is checked, a broken one told by file and line", () => {
  assert.equal(clew("agents", "check", shipped).status, 0);
  const bad = clew("agents", "check", join(dir, "agents", "broken.yaml"));
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /broken\.yaml:4:/);
  assert.equal(clew("agents", "check", join(dir, "none.yaml")).status, 4);
});

test("a package is tried on a sentence", () => {
  const run = clew("agents", "test", shipped, "I'm getting a 401 error",
    "--json");
  assert.equal(run.status, 0, run.stderr);
  const answer = JSON.parse(run.stdout);
  assert.equal(answer.step, "opens");
  assert.equal(answer.values.error, "I'm getting a 401 error");
});
