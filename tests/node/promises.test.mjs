/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promises.test.mjs - the sentences of SECURITY.md that no other test holds.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin, clew, tempFolder } from "./lib/server.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const read = (name) => fs.readFileSync(path.join(root, name), "utf8");

/* The rows "| what | `file` | case |" of a document. */
function rowsOf(text) {
  return [...text.matchAll(/^\| (.*?) \| `(tests\/[^`]+)` \| ([^|]*) \|$/gm)]
    .map(([, what, file, name]) => ({ what, file, name }));
}

/* Whether a file has a case of that name, and runs it. */
function hasCase(file, name) {
  if (!fs.existsSync(path.join(root, file))) return false;
  const text = read(file);
  if (file.endsWith(".c")) {
    return new RegExp(`^static void ${name}\\(`, "m").test(text)
      && text.match(new RegExp(`\\b${name}\\b`, "g")).length > 1;
  }
  return ["\"", "'", "`"].some((quote) => text.includes(`test(${quote}${name}${quote},`));
}

test("every promise of SECURITY.md has a case, and every case it names is there", () => {
  const text = read("SECURITY.md");
  const named = [...text.matchAll(/`((?:tests|src)\/[^`]+)`/g)];
  for (const [, name] of named) {
    assert.ok(fs.existsSync(path.join(root, name)), name);
  }
  const rows = rowsOf(text);
  assert.deepEqual(rows.filter(({ file, name }) => !hasCase(file, name)), []);
  const guards = text.slice(text.indexOf("## What clew guards"), text.indexOf("## What it does not"));
  const promises = [...guards.matchAll(/^- \*\*(.*?)\.?\*\*/gm)].map(([, name]) => name);
  assert.ok(promises.length > 10);
  promises.push("It does not judge the text", "How it is built");
  assert.deepEqual([...new Set(rows.map(({ what }) => what))].sort(), promises.sort());
  for (const name of promises) assert.ok(text.slice(0, text.indexOf("## Which")).includes(name), name);
});

test("every finding in docs/quality has its case", () => {
  const rows = rowsOf(read("docs/quality/reliability.md"));
  assert.deepEqual(rows.filter(({ file, name }) => !hasCase(file, name)), []);
  for (let n = 1; n <= 13; n++) {
    assert.ok(rows.some(({ what }) => new RegExp(`^${n}\\b`).test(what)), `finding ${n}`);
  }
});

test("a case that is gone, or was never run, is noticed", () => {
  assert.ok(hasCase("tests/unit/t_ratelimit.c", "zero_means_no_limit"));
  assert.ok(!hasCase("tests/unit/t_ratelimit.c", "zero_means_no"));
  assert.ok(!hasCase("tests/unit/t_none.c", "zero_means_no_limit"));
  assert.ok(!hasCase("tests/node/promises.test.mjs", "a case that is gone"));
  assert.deepEqual(rowsOf("| a | b |\n| x | `tests/y.c` | z |\n"),
    [{ what: "x", file: "tests/y.c", name: "z" }]);
});

test("a key is shown once, and its hash alone is stored", async (t) => {
  const data = tempFolder();
  const make = async () => JSON.parse((await clew(data, undefined, "keys", "create",
    "--tenant", "t", "--json")).stdout).key;
  const keys = [await make(), await make()];
  const secrets = keys.map((key) => key.split("_")[2]);
  for (const secret of secrets) assert.match(secret, /^[0-9a-f]{64}$/); /* 256 bits */
  assert.notEqual(...secrets);
  const listed = (await clew(data, undefined, "keys", "list", "--json")).stdout;
  const stored = Buffer.concat(fs.readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.path, entry.name))));
  for (const [i, secret] of secrets.entries()) {
    assert.ok(listed.includes(keys[i].split("_")[1]));
    assert.ok(!listed.includes(secret));
    assert.ok(!stored.includes(secret) && !stored.includes(Buffer.from(secret, "hex")));
    assert.ok(stored.includes(createHash("sha256").update(secret).digest()));
  }
});

/* Time tells nothing on a busy machine: what is called does. */
test("keys, seals and cursors are compared in constant time", () => {
  assert.match(read("src/base/sha256.c"), /sha256_equal\([^}]*return CRYPTO_memcmp\(/);
  for (const name of ["src/engine/key/key.c", "src/engine/key/key_memory.c",
    "src/api/answer/cursor.c"]) {
    assert.match(read(name), /\bsha256_equal\(/, name);
    assert.doesNotMatch(read(name), /\bmemcmp\(/, name);
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
    const elf = (...words) => spawnSync("readelf", ["-W", ...words, bin],
      { encoding: "utf8", maxBuffer: 1 << 26 }).stdout;
    assert.match(elf("-h"), /Type:\s+DYN/);
    const segments = elf("-l");
    assert.match(segments, /GNU_RELRO/);
    assert.match(segments, /GNU_STACK.*RW /);
    assert.match(elf("-d"), /BIND_NOW|Flags:.*NOW/);
    assert.match(elf("-s"), /__stack_chk_fail/);
  });

test("the unit runs as a user of its own, fenced in", () => {
  const unit = fs.readFileSync(path.join(root, "packaging/clew.service"),
    "utf8");
  for (const line of [/^User=clew$/m, /^NoNewPrivileges=yes$/m,
    /^ProtectSystem=strict$/m, /^ProtectHome=yes$/m]) {
    assert.match(unit, line);
  }
});
