/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promises.test.mjs - the sentences of SECURITY.md that no other test holds.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin, clew, tempFolder } from "./lib/server.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

test("every test that SECURITY.md names is there", () => {
  const text = fs.readFileSync(path.join(root, "SECURITY.md"), "utf8");
  const named = [...text.matchAll(/`((?:tests|src)\/[^`]+)`/g)];
  assert.ok(named.length > 10);
  for (const [, name] of named) {
    assert.ok(fs.existsSync(path.join(root, name)), name);
  }
});

test("the data folder is for its owner only", async () => {
  const folder = tempFolder();
  const data = path.join(folder, "data");
  const old = process.umask(0);
  try {
    await clew(data, undefined, "turn", "--user", "ada", "hello there");
    await clew(data, undefined, "recall", "hello");
  } finally {
    process.umask(old);
  }
  assert.equal(fs.statSync(data).mode & 0o077, 0);
  const names = fs.readdirSync(data, { recursive: true });
  assert.ok(names.length > 0);
  for (const name of names) {
    const { mode } = fs.statSync(path.join(data, name));
    assert.equal(mode & 0o077, 0, `${name} ${mode.toString(8)}`);
  }
  fs.rmSync(folder, { recursive: true });
});

const hasReadelf = spawnSync("readelf", ["--version"]).status === 0;
test("the program is hardened",
  { skip: hasReadelf ? false : "readelf is not installed" }, () => {
    const read = (...words) => spawnSync("readelf", ["-W", ...words, bin],
      { encoding: "utf8", maxBuffer: 1 << 26 }).stdout;
    assert.match(read("-h"), /Type:\s+DYN/);
    const segments = read("-l");
    assert.match(segments, /GNU_RELRO/);
    assert.match(segments, /GNU_STACK.*RW /);
    assert.match(read("-d"), /BIND_NOW|Flags:.*NOW/);
    assert.match(read("-s"), /__stack_chk_fail/);
  });

test("the unit runs as a user of its own, fenced in", () => {
  const unit = fs.readFileSync(path.join(root, "packaging/clew.service"),
    "utf8");
  for (const line of [/^User=clew$/m, /^NoNewPrivileges=yes$/m,
    /^ProtectSystem=strict$/m, /^ProtectHome=yes$/m]) {
    assert.match(unit, line);
  }
});
