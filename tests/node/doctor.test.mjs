/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.test.mjs - `clew doctor` on a sound installation, and with one fault
 * planted at a time.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createServer } from "node:http";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";

const bin = process.env.CLEW_BIN;

/* A home with a store in it; its folder is ours alone. */
function home(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "clew-doctor-"));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const data = path.join(folder, ".local/share/clew");
  const config = path.join(folder, ".config/clew");
  fs.mkdirSync(config, { recursive: true });
  /* a port that nobody has: the one of this machine's user may be in use */
  const env = { PATH: process.env.PATH, HOME: folder, NO_COLOR: "1",
    CLEW_SERVER_LISTEN: "127.0.0.1:1" };
  const made = spawnSync(bin, ["turn", "The boat is blue."], { env, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return { folder, data, config, env, db: path.join(data, "clew.db") };
}

function doctor(at, { args = [], vars = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(bin, ["doctor", "--json", ...args],
      { env: { ...at.env, ...vars } });
    let out = "";
    child.stdout.on("data", (part) => { out += part; });
    child.on("close", (status) => resolve({ status, ...JSON.parse(out) }));
  });
}

/* The one thing that is wrong. */
async function wrong(at, part, words, options) {
  const run = await doctor(at, options);
  const found = run.checks.filter((check) => check.state === "wrong");
  assert.equal(run.status, 5, JSON.stringify(run.checks));
  assert.equal(run.wrong, found.length);
  assert.ok(found.some((check) => check.part === part && words.test(check.found)),
    JSON.stringify(found));
  for (const check of found) assert.ok(check.mend.length > 5, JSON.stringify(check));
}

function server(t, answer) {
  return new Promise((resolve) => {
    const listening = createServer(answer);
    t.after(() => listening.close());
    listening.listen(0, "127.0.0.1", () =>
      resolve(`127.0.0.1:${listening.address().port}`));
  });
}

describe("clew doctor", () => {
  test("finds nothing wrong with a sound installation, and changes nothing", async (t) => {
    const at = home(t);
    const run = await doctor(at);
    assert.equal(run.status, 0, JSON.stringify(run.checks));
    assert.equal(run.wrong, 0);
    assert.ok(run.checks.some((check) => check.part === "store" && /1 turn,/.test(check.found)));
    /* how long a recall reads here; nothing of it where it reads nothing */
    const speed = (checks) => checks.find((check) => check.part === "recall");
    assert.match(speed(run.checks).found, /takes some [1-9]\d* ms on two of these processors/);
    assert.equal(speed((await doctor(at, { vars: { CLEW_RECALL_READ_MS: "0" } })).checks), undefined);
    const shown = spawnSync(bin, ["doctor"], { env: at.env, encoding: "utf8" });
    assert.equal(shown.status, 0, shown.stderr);
    assert.match(shown.stdout, /^ok {4}store {5}sound/m);
  });

  test("finds nothing wrong where there is nothing yet, and makes nothing", async (t) => {
    const at = home(t);
    const empty = path.join(at.folder, "empty");
    fs.mkdirSync(empty);
    const run = await doctor({ env: { ...at.env, HOME: empty } });
    assert.equal(run.status, 0, JSON.stringify(run.checks));
    assert.deepEqual(fs.readdirSync(empty), []);
  });

  test("1: a setting that does not exist", async (t) => {
    const at = home(t);
    fs.writeFileSync(path.join(at.config, "clew.yaml"), "server:\n  lissen: 1\n");
    await wrong(at, "settings", /clew\.yaml.*2.*lissen/);
  });

  test("2: the data folder is a file", async (t) => {
    const at = home(t);
    const file = path.join(at.folder, "file");
    fs.writeFileSync(file, "");
    await wrong(at, "folder", /is no folder/, { vars: { CLEW_DATA_DIR: file } });
  });

  test("3: others may read the store", async (t) => {
    const at = home(t);
    fs.chmodSync(at.db, 0o644);
    await wrong(at, "folder", /others .* may read/);
  });

  test("4: the store is no database", async (t) => {
    const at = home(t);
    fs.writeFileSync(at.db, "not a database, but long enough to be looked at".repeat(100));
    await wrong(at, "store", /./);
  });

  test("5: a page of the store is damaged", async (t) => {
    const at = home(t);
    fs.rmSync(`${at.db}-wal`, { force: true });
    const bytes = fs.readFileSync(at.db);
    for (let i = 4096 * 3; i < bytes.length; i += 4096 * 2) bytes.fill(0xee, i, i + 4096);
    fs.writeFileSync(at.db, bytes);
    await wrong(at, "store", /./);
  });

  test("6: another program has the port", async (t) => {
    const at = home(t);
    const listen = await server(t, (_, answer) => answer.end("<html>hello</html>"));
    await wrong(at, "server", /taken by another program/,
      { vars: { CLEW_SERVER_LISTEN: listen } });
  });

  test("7: a server of another version runs", async (t) => {
    const at = home(t);
    const listen = await server(t, (_, answer) => answer.end(JSON.stringify(
      { status: "ok", version: "0.0.1", store: "sqlite" })));
    await wrong(at, "server", /version 0\.0\.1/, { vars: { CLEW_SERVER_LISTEN: listen } });
  });

  test("8: CLEW_URL names a server that is away", async (t) => {
    await wrong(home(t), "remote", /127\.0\.0\.1:1/, { vars: { CLEW_URL: "http://127.0.0.1:1" } });
  });

  test("9: the server does not take the key", async (t) => {
    const at = home(t);
    const listen = await server(t, (_, answer) => {
      answer.statusCode = 401;
      answer.end(JSON.stringify({ error: { code: "UNAUTHORIZED", message: "no such key" } }));
    });
    await wrong(at, "remote", /does not take our key/,
      { vars: { CLEW_URL: `http://${listen}`, CLEW_KEY: "clew_x" } });
  });

  test("10: a certificate that is not there", async (t) => {
    await wrong(home(t), "settings", /server\.tls_cert names a file/,
      { args: ["--set", "server.tls_cert=/nowhere.pem"] });
  });

  test("11: the language model is away", async (t) => {
    await wrong(home(t), "model", /does not answer/, { vars: {
      CLEW_LLM_URL: "http://127.0.0.1:1/v1", CLEW_LLM_MODEL: "m" } });
  });

  test("12: the reader's model cannot be loaded", async (t) => {
    await wrong(home(t), "reader", /rules read the turns/,
      { vars: { CLEW_READER_FILE: "/nowhere.bin" } });
  });

  test("13: a broken agent package", async (t) => {
    const at = home(t);
    fs.mkdirSync(path.join(at.config, "agents"));
    fs.writeFileSync(path.join(at.config, "agents/bad.yaml"), "name: [\n");
    await wrong(at, "agents", /bad\.yaml/);
  });

  test("14: a client starts a program that is gone", async (t) => {
    const at = home(t);
    fs.mkdirSync(path.join(at.folder, ".cursor"));
    fs.writeFileSync(path.join(at.folder, ".cursor/mcp.json"), JSON.stringify(
      { mcpServers: { clew: { command: "/gone/clew", args: ["mcp"] } } }));
    await wrong(at, "clients", /cursor starts \/gone\/clew/);
  });

  test("15: a key in a file that others may read", async (t) => {
    const at = home(t);
    const file = path.join(at.config, "clew.yaml");
    fs.writeFileSync(file, "llm:\n  key: secret\n");
    fs.chmodSync(file, 0o644);
    await wrong(at, "settings", /others on this machine may read/);
  });
});
