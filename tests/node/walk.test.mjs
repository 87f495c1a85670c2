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

const long = "x".repeat(10_240);
const bad = { empty: "", long };
/* What is of no use as a number or a moment. */
const noNumber = ["-1", "99999999999999999999", "0x10", "1e3", "NaN", "Infinity", " 5", "+5", "5\u001b[31m", long];
const noTime = ["NaN", "0x10", "Infinity", "in words", "9999999-12-31", "-1", "99999999999999999999", "\u001b[31m", long];
const kinds = { N: noNumber, TOKENS: noNumber, TIME: noTime };
/* Free words may be none, and what sets a key of the configuration may empty it. */
const mayBeEmpty = /^(TEXT|TITLE|WORDS|HOST:PORT|NAME=URL)$/;
const setsKey = /^tls-/;

/* A command's own options, and a word for each operand it needs. */
function ownOf(help) {
  const own = help.slice(0, help.indexOf("--json"));
  const needed = /^usage: clew [a-z ]+(.*)/m.exec(help)[1].replace(/\[[^\]]*\]/g, "").trim();
  return { options: [...own.matchAll(/^ +(?:-\w, )?--([a-z-]+) ([A-Z][A-Z=:-]*)/gm)],
    operands: needed.split(/ +/).filter(Boolean).map(() => "0199c1d2") };
}

/* The one line that `--json` has for an error, in any terminal's sight clean. */
function isRefused({ status, signal, stdout, stderr }, what) {
  assert.equal(signal, null, what);
  assert.equal(status, 2, `${what}: ${stdout}${stderr}`);
  assert.equal(stdout, "", what);
  assert.match(stderr, /^[^\n]{1,700}\n$/, what);
  assert.doesNotMatch(stderr, /[\0-\t\v-\x1f]/, what);
}

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
    const { options, operands } = ownOf(help);
    const refused = (option, value) => {
      const answer = run(...name.split(" "), ...operands, "--data", data, `--${option}`, value, "--json");
      isRefused(answer, `${option} ${JSON.stringify(value).slice(0, 40)}`);
      const { error } = JSON.parse(answer.stderr);
      assert.equal(error.code, "VALIDATION_ERROR");
      assert.match(`${error.field} ${error.message}`, new RegExp(option), "it says which");
    };
    for (const [, option, kind] of options) {
      if (!mayBeEmpty.test(kind) && !setsKey.test(option)) {
        test(`${name} --${option} chooses nothing by nothing`, () => {
          refused(option, "");
          assert.equal(fs.existsSync(data), false, "nothing was begun");
        });
      }
      if (kinds[kind]) {
        test(`${name} --${option} is a ${kind}`, () => {
          for (const value of kinds[kind]) refused(option, value);
          fs.rmSync(data, { recursive: true, force: true }); /* some ask the store */
        });
      }
    }
  }
});
