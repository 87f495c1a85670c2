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

const booking = `name: table
fields:
  - name: wish
    required: true
  - name: code
    required: true
  - allergies
  - how
triggers: {words: [book, table for, reserve]}
opens: {acts: [request, question, inform]}
concludes: {acts: [accept]}
extract:
  wish: {from: opens, take: sentence}
  code: {from: any, take: sentence, words: [reservation code, code is]}
  allergies: {from: any, by: user, take: sentence, words: [allergic, allergy]}
  how: {from: concludes, take: sentence}
`;

test("a package is followed through a whole chat", () => {
  const file = join(dir, "table.yaml");
  const chat = join(dir, "chat.txt");
  writeFileSync(file, booking);
  writeFileSync(chat, `user: evening! can you reserve us something by the window,
six people, saturday
assistant: Happy to. Shall I send the reservation code to this number?
user: sure
assistant: Done. Your reservation code is KM-4471 for Saturday at eight.
user: great, we're all set, thank you
`);
  const run = clew("agents", "test", file, "--chat", chat, "--json");
  assert.equal(run.status, 0, run.stderr);
  const { turns, artifacts } = JSON.parse(run.stdout);
  assert.deepEqual(turns.map((turn) => turn.step),
    ["opens", "none", "extends", "extends", "concludes"]);
  assert.equal(artifacts.length, 1);
  const [table] = artifacts;
  assert.equal(table.status, "resolved");
  assert.match(table.fields.wish, /window/);
  assert.match(table.fields.code, /KM-4471/);
  assert.deepEqual(table.from.code, { seq: 4, by: "assistant" });
  assert.deepEqual(table.asked_for, ["allergies"]);
  assert.doesNotMatch(table.fields.how, /all set/);
  const told = clew("agents", "test", file, "--chat", chat);
  assert.match(told.stdout, /code \(turn 4, assistant\): .*KM-4471/);
  assert.match(told.stdout, /still asked for: allergies/);

  const lines = [
    ["user", "Could you book the small room for Tuesday?"],
    ["assistant", "Your reservation code is RM-12."],
    ["user", "no, RM-12 was last week's"],
  ].map(([role, content]) => JSON.stringify({ role, content }));
  writeFileSync(chat, lines.join("\n"));
  const refused = JSON.parse(
    clew("agents", "test", file, "--chat", chat, "--json").stdout);
  assert.equal(refused.artifacts[0].status, "open");
  assert.deepEqual(refused.artifacts[0].asked_for,
    ["code", "allergies", "how"]);

  writeFileSync(chat, "what is this\n");
  const bad = clew("agents", "test", file, "--chat", chat);
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /line 1: "user:" or "assistant:" is wanted/);
});
