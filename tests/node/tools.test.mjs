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

/* What the test itself was started with is no word on what it starts. */
const plain = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !/^(FLAKY|FUZZ)_/.test(key)));

function run(tool, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(path.join(root, "tools", tool), args,
    { encoding: "utf8", env: { ...plain, ...env }, timeout: 600_000 });
  return { status, text: stdout + stderr };
}

function script(folder, name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

/* A build folder with one test, a command. */
function folderWith(command) {
  const folder = tempFolder();
  const file = script(folder, "case", command(folder));
  fs.writeFileSync(path.join(folder, "CTestTestfile.cmake"),
    `add_test(some/case "${file}")\nset_tests_properties(some/case PROPERTIES LABELS unit)\n`);
  return folder;
}

describe("run-tests", () => {
  test("counts what passed and what failed", () => {
    const good = folderWith(() => "true");
    const bad = folderWith(() => "false");
    const { status, text } = run("run-tests", [`${good}:unit`, `${bad}:unit`]);
    assert.equal(status, 1, text);
    assert.match(text, /^1 passed, 1 failed$/m);
    assert.equal(run("run-tests", [`${good}:unit`]).status, 0);
  });

  test("gives tests a database folder to copy", () => {
    const folder = folderWith((f) =>
      `echo "$CLEW_TEST_PG_TEMPLATE" > ${f}/seen; [ -f "$CLEW_TEST_PG_TEMPLATE/PG_VERSION" ]`);
    const { status, text } = run("run-tests", [`${folder}:unit`]);
    assert.equal(status, 0, text);
    const seen = fs.readFileSync(`${folder}/seen`, "utf8").trim();
    assert.equal(fs.existsSync(seen), false, "it is gone afterwards");
  });

  test("fails where a part has no test, whatever the others say", () => {
    const folder = folderWith(() => "true");
    const { status, text } = run("run-tests", [`${folder}:unit`, `${folder}:fuzz`]);
    assert.equal(status, 1, text);
    assert.match(text, /:fuzz: no test was run/);
    assert.match(text, /^1 passed, 1 failed$/m);
  });
});

describe("run-flaky", () => {
  const env = { FLAKY_RUNS: "3", JOBS: "1" };

  test("names a test that fails only now and then", () => {
    const folder = folderWith((f) =>
      `echo >> ${f}/count; [ "$(wc -l < ${f}/count)" -ne 2 ]`);
    const { status, text } = run("run-flaky", [`${folder}:unit`], env);
    assert.equal(status, 1, text);
    assert.match(text, /quiet: some\/case/);
  });

  test("is content with one that always passes, and runs it so often", () => {
    const folder = folderWith((f) => `echo >> ${f}/count`);
    const { status, text } = run("run-flaky", [`${folder}:unit`], env);
    assert.equal(status, 0, text);
    assert.equal(fs.readFileSync(`${folder}/count`, "utf8").length, 6, "quiet and loaded");
  });

  test("runs under load alone when it is told to", () => {
    const folder = folderWith((f) => `echo >> ${f}/count`);
    const { status, text } = run("run-flaky", [`${folder}:unit`], { ...env, FLAKY_KINDS: "loaded" });
    assert.equal(status, 0, text);
    assert.match(text, /^loaded /m);
    assert.equal(fs.readFileSync(`${folder}/count`, "utf8").length, 3);
  });

  test("goes on where a call that ran out of time ended", () => {
    const folder = folderWith((f) => `echo >> ${f}/count`);
    const flaky = (more) => run("run-flaky", [`${folder}:unit`],
      { ...env, FLAKY_KINDS: "quiet", ...more });
    const short = flaky({ FLAKY_MINUTES: "0" });
    assert.equal(short.status, 1, short.text);
    assert.match(short.text, /^1 are left$/m);
    assert.ok(!fs.existsSync(`${folder}/count`));
    for (const again of [1, 2]) {
      assert.equal(flaky({}).status, 0, `call ${again}`);
      assert.equal(fs.readFileSync(`${folder}/count`, "utf8").length, 3, "once is enough");
    }
  });

  test("fails where there is nothing to run", () => {
    const folder = folderWith(() => "true");
    assert.equal(run("run-flaky", [`${folder}:api`], env).status, 1);
  });
});

describe("run-fuzzers", () => {
  function folderOf(scripts) {
    const folder = tempFolder();
    fs.mkdirSync(path.join(folder, "tests"));
    for (const [name, text] of Object.entries(scripts)) {
      script(path.join(folder, "tests"), name, text);
    }
    return folder;
  }
  const TRIED = 'echo "stat::number_of_executed_units: 77"';
  const fuzz = (folder, env = { FUZZ_SECONDS: "1" }) =>
    run("run-fuzzers", [folder],
      { FUZZ_FOUND: path.join(folder, "found"), ...env });

  test("fails where there is no fuzzer", () => {
    const { status, text } = fuzz(folderOf({}));
    assert.equal(status, 1, text);
    assert.match(text, /no fuzz target/);
  });

  test("runs those that are built, and fails when one does", () => {
    const note = `echo "$0 $*" >> "$(dirname "$0")/ran"\n${TRIED}`;
    const good = folderOf({ fuzz_a: note, fuzz_b: note });
    const { status, text } = fuzz(good);
    assert.equal(status, 0, text);
    assert.match(text, /^2 fuzz targets ran, 1 s each$/m);
    const lines = fs.readFileSync(path.join(good, "tests/ran"), "utf8").trim().split("\n");
    assert.equal(lines.length, 2);
    for (const line of lines) assert.match(line, /-max_total_time=1 /);
    assert.equal(fuzz(folderOf({ fuzz_a: note, fuzz_b: "exit 77" })).status, 1);
  });

  test("fails when one tried nothing but what it was given", () => {
    const folder = folderOf({ fuzz_a: TRIED.replace("77", "2"), fuzz_b: "true" });
    fs.mkdirSync(path.join(folder, "kept/a"), { recursive: true });
    for (const name of ["1", "2"]) fs.writeFileSync(path.join(folder, "kept/a", name), name);
    const env = { FUZZ_SECONDS: "1", FUZZ_CORPUS: path.join(folder, "kept") };
    const { status, text } = fuzz(folder, env);
    assert.equal(status, 1, text);
    assert.match(text, /^a tried no new input/m);
    assert.match(text, /^b tried no new input/m);
    fs.rmSync(path.join(folder, "kept/a/2"));
    assert.equal(fuzz(folder, { ...env, FUZZ_TARGETS: "_a$" }).status, 0);
  });

  test("starts afresh and leaves nothing when it is told to", () => {
    const folder = folderOf({ fuzz_a: `echo "$1" > "$(dirname "$0")/new"
      echo > "$1/reached"\n${TRIED}` });
    const { status, text } = fuzz(folder, { FUZZ_SECONDS: "1", FUZZ_FRESH: "yes" });
    assert.equal(status, 0, text);
    assert.match(text, /^a +ok +77 runs .* 1 inputs$/m);
    const used = fs.readFileSync(path.join(folder, "tests/new"), "utf8").trim();
    assert.equal(fs.existsSync(used), false, used);
    assert.equal(fs.existsSync(path.join(folder, "corpus")), false);
  });

  test("shares a time that is given for all, and tells what each reached", () => {
    const folder = folderOf(Object.fromEntries(["a", "b", "c"].map((name) => [
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

  test("keeps a corpus only when it is told to", () => {
    const folder = folderOf({ fuzz_a: `echo "$*" >> "$(dirname "$0")/ran"\n${TRIED}` });
    const corpus = path.join(folder, "kept");
    const ran = () => fs.readFileSync(path.join(folder, "tests/ran"), "utf8");
    fuzz(folder, { FUZZ_SECONDS: "1", FUZZ_CORPUS: corpus });
    assert.doesNotMatch(ran(), /-merge/);
    fuzz(folder, { FUZZ_SECONDS: "1", FUZZ_CORPUS: corpus, FUZZ_KEEP: "yes" });
    assert.match(ran(), new RegExp(`-merge=1 .*${corpus}/a `));
  });
});
