/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.test.mjs - the scripts that judge: they must not say "well" when they
 * looked at nothing, or when what they ran failed only once.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { tempFolder } from "./lib/server.mjs";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");

function run(tool, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(path.join(root, "tools", tool), args,
    { encoding: "utf8", env: { ...process.env, ...env }, timeout: 600_000 });
  return { status, text: stdout + stderr };
}

function script(folder, name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

describe("run-flaky", () => {
  const env = { FLAKY_RUNS: "3", JOBS: "1" };

  function folderWith(t, command) {
    const folder = tempFolder();
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const file = script(folder, "case", command(folder));
    fs.writeFileSync(path.join(folder, "CTestTestfile.cmake"),
      `add_test(some/case "${file}")\nset_tests_properties(some/case PROPERTIES LABELS unit)\n`);
    return folder;
  }

  test("names a test that fails only now and then", (t) => {
    const folder = folderWith(t, (f) =>
      `echo >> ${f}/count; [ "$(wc -l < ${f}/count)" -ne 2 ]`);
    const { status, text } = run("run-flaky", [`${folder}:unit`], env);
    assert.equal(status, 1, text);
    assert.match(text, /quiet: some\/case/);
  });

  test("is content with one that always passes, and runs it so often", (t) => {
    const folder = folderWith(t, (f) => `echo >> ${f}/count`);
    const { status, text } = run("run-flaky", [`${folder}:unit`], env);
    assert.equal(status, 0, text);
    assert.equal(fs.readFileSync(`${folder}/count`, "utf8").length, 6, "quiet and loaded");
  });

  test("fails where there is nothing to run", (t) => {
    const folder = folderWith(t, () => "true");
    assert.equal(run("run-flaky", [`${folder}:api`], env).status, 1);
  });
});

describe("run-fuzzers", () => {
  function folderWith(t, scripts) {
    const folder = tempFolder();
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.mkdirSync(path.join(folder, "tests"));
    for (const [name, text] of Object.entries(scripts)) {
      script(path.join(folder, "tests"), name, text);
    }
    return folder;
  }
  const fuzz = (folder, env = { FUZZ_SECONDS: "1" }) =>
    run("run-fuzzers", [folder],
      { FUZZ_FOUND: path.join(folder, "found"), ...env });

  test("fails where there is no fuzzer", (t) => {
    const { status, text } = fuzz(folderWith(t, {}));
    assert.equal(status, 1, text);
    assert.match(text, /no fuzz target/);
  });

  test("runs those that are built, and fails when one does", (t) => {
    const note = 'echo "$0 $*" >> "$(dirname "$0")/ran"';
    const good = folderWith(t, { fuzz_a: note, fuzz_b: note });
    const { status, text } = fuzz(good);
    assert.equal(status, 0, text);
    assert.match(text, /^2 fuzz targets ran, 1 s each$/m);
    const lines = fs.readFileSync(path.join(good, "tests/ran"), "utf8").trim().split("\n");
    assert.equal(lines.length, 2);
    for (const line of lines) assert.match(line, /-max_total_time=1 /);
    assert.equal(fuzz(folderWith(t, { fuzz_a: note, fuzz_b: "exit 77" })).status, 1);
  });

  test("shares a time that is given for all, and tells what each reached", (t) => {
    const folder = folderWith(t, Object.fromEntries(["a", "b", "c"].map((name) => [
      `fuzz_${name}`, `echo "$*" >> "$(dirname "$0")/ran"
        echo "#9 NEW cov: 12 ft: 3"; echo "#10 DONE cov: 34 ft: 5"
        echo "stat::number_of_executed_units: 77"`])));
    const { status, text } = fuzz(folder, { FUZZ_TOTAL: "10" });
    assert.equal(status, 0, text);
    const ran = fs.readFileSync(path.join(folder, "tests/ran"), "utf8");
    assert.equal(ran.match(/-max_total_time=3 /g).length, 3, ran);
    assert.match(text, /^b +ok +77 runs +34 edges +0 inputs$/m);
    /* one second each at least: none would be for ever */
    assert.match(fuzz(folder, { FUZZ_TOTAL: "1" }).text, /3 fuzz targets ran, 1 s each/);
  });

  test("keeps a corpus only when it is told to", (t) => {
    const folder = folderWith(t, { fuzz_a: 'echo "$*" >> "$(dirname "$0")/ran"' });
    const corpus = path.join(folder, "kept");
    const ran = () => fs.readFileSync(path.join(folder, "tests/ran"), "utf8");
    fuzz(folder, { FUZZ_SECONDS: "1", FUZZ_CORPUS: corpus });
    assert.doesNotMatch(ran(), /-merge/);
    fuzz(folder, { FUZZ_SECONDS: "1", FUZZ_CORPUS: corpus, FUZZ_KEEP: "yes" });
    assert.match(ran(), new RegExp(`-merge=1 .*${corpus}/a `));
  });
});
