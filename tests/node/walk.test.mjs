/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.test.mjs - options with values that mean nothing, on every command that
 * `clew help` names: exit 2 and one clear line, before anything is done.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";

import { bin, tempFolder } from "./lib/server.mjs";

const folder = tempFolder();
const data = path.join(folder, "data");
const run = (...words) => spawnSync(bin, words,
  { encoding: "utf8", input: "", env: { HOME: folder, LANG: "C.UTF-8" }, timeout: 60_000 });

/* "chats title" and all others, with the options each tells of. */
function commands() {
  const lines = run("help").stdout.split("\n");
  const names = lines.map((line) => /^ {2}([a-z]+(?: [a-z]+)*) {2,}\S/.exec(line)?.[1]).filter(Boolean);
  assert.ok(names.length > 50, "the list of commands is read");
  return names.map((name) => ({ name, help: run("help", ...name.split(" ")).stdout }));
}

const bad = { empty: "", long: "x".repeat(10_240) };

describe("every command", () => {
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const { name, help } of commands()) {
    for (const option of ["user", "tenant"].filter((one) => new RegExp(`--${one}[ =][A-Z]`).test(help))) {
      test(`${name} --${option} wants somebody`, () => {
        for (const [what, value] of Object.entries(bad)) {
          const { status, stdout, stderr } = run(...name.split(" "), "--data", data, `--${option}`, value);
          assert.equal(status, 2, `${what}: ${stdout}${stderr}`);
          assert.equal(stdout, "", what);
          assert.match(stderr, new RegExp(`^clew: --${option} needs a [^\n]*: 1 to 512 bytes of UTF-8\n$`), what);
        }
        assert.equal(fs.existsSync(data), false, "nothing was begun");
      });
    }
  }
});
