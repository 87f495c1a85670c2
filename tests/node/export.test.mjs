/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.test.mjs - everything out, everything back, byte for byte.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { clew, startServer, tempFolder } from "./lib/server.mjs";

/* Some of everything that an export holds. */
async function live(api) {
  const first = isOk(await api.post("/api/v1/turns", {
    turns: Array.from({ length: 450 }, (_, i) => ({
      user_id: i % 3 ? "ada" : "bob", role: i % 2 ? "assistant" : "user",
      content: `note ${i}: the "blue" pot \u{1FAB4}\n\tand line two`,
      external_id: `e${i}`, created_at: new Date(1.7e12 + i * 1e6).toISOString(),
    })),
  }), 201);
  isOk(await api.post("/api/v1/turns", {
    user_id: "ada", role: "user", name: "Ada", channel: "sms",
    timezone: "Europe/Paris",
    content: [{ type: "text", text: "a block" }, { type: "text", text: "two" }],
  }), 201);
  const chat = first.items[0].chat.id;
  isOk(await api.post(`/api/v1/chats/${chat}/fork`, { at_seq: 1, title: "other" }), 201);
  const say = async (prompt, more) => isOk(await api.post("/api/v1/memory",
    { prompt, agent_id: "test", agent_name: "Test", ...more }));
  const one = await say("The agent monitor must check both the status and the role of every agent pane.");
  assert.ok(one.result.thought_id);
  await say("The agent monitor must check only the role of every agent pane, never the status.",
    { refines: one.result.thought_id });
  isOk(await api.post("/api/v1/link", {
    messages: [{ role: "user", content: "What is the capital of Peru?" }],
    response: { role: "assistant", content: "Lima." }, model: "m",
  }));
  isOk(await api.post("/api/v1/forget", {
    external_ids: ["e7"],
  }));
}

const lines = (text) => text.trimEnd().split("\n").map((line) => JSON.parse(line));

onEachBackend("export", (open, backend) => {
  let server;
  let api;
  let text;
  let folder;

  before(async () => {
    folder = tempFolder();
    server = await open();
    api = server.api();
    await live(api);
    text = (await api.get("/api/v1/export")).text;
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  test("every line is tagged, and the ends are marked", async () => {
    const rows = lines(text);
    assert.deepEqual(rows[0], { type: "export", version: 1 });
    assert.deepEqual(rows.at(-1), { type: "end", rows: rows.length - 2 });
    const types = new Set(rows.map((row) => row.type));
    for (const type of ["user", "chat", "session", "turn", "memory",
      "memory_source", "request", "agent", "tombstone", "forget_receipt"]) {
      assert.ok(types.has(type), type);
    }
    assert.equal(rows.filter((row) => row.type === "turn").length, 452);
    assert.ok(!text.includes('"external_id":"e7"'));
    assert.equal(text, (await api.get("/api/v1/export")).text);
  });

  test("an import into an empty store exports the same bytes", async () => {
    const file = path.join(folder, "out.jsonl");
    await server.clew("export", file);
    assert.equal(fs.readFileSync(file, "utf8"), text);
    const other = await open();
    const first = JSON.parse(
      (await other.clew("import", file, "--json")).stdout);
    assert.equal(first.added, first.rows);
    assert.equal((await other.api().get("/api/v1/export")).text, text);
    await other.clew("verify");
    /* it is found there, too */
    const { items } = isOk(await other.api().post("/api/v1/recall",
      { query: "note 123", user_id: "bob" }));
    assert.ok(JSON.stringify(items).includes("note 123:"));

    const again = JSON.parse(
      (await other.clew("import", file, "--json")).stdout);
    assert.deepEqual(again, { rows: first.rows, added: 0 });
    assert.equal((await other.api().get("/api/v1/export")).text, text);
  });

  test("an import that was cut off is finished by the whole file", async () => {
    const other = await open();
    const file = path.join(folder, "cut.jsonl");
    fs.writeFileSync(file, text.slice(0, text.length * 0.7));
    await assert.rejects(other.clew("import", file));
    fs.writeFileSync(file, text.slice(0, text.lastIndexOf('{"type":"end"')));
    await assert.rejects(other.clew("import", file), /cut off/);
    fs.writeFileSync(file, text);
    await other.clew("import", file);
    assert.equal((await other.api().get("/api/v1/export")).text, text);
  });

  test("a later export of the same store goes on top", async () => {
    const other = await open();
    const file = path.join(folder, "later.jsonl");
    fs.writeFileSync(file, text);
    await other.clew("import", file);
    const { items } = isOk(await api.get("/api/v1/chats?user_id=ada&limit=1"));
    isOk(await api.post("/api/v1/turns", { chat_id: items[0].id,
      user_id: "ada", role: "user", content: "one more" }), 201);
    const later = (await api.get("/api/v1/export")).text;
    fs.writeFileSync(file, later);
    await other.clew("import", file);
    assert.equal((await other.api().get("/api/v1/export")).text, later);
    await other.clew("verify");
  });

  test("what was forgotten here does not come back", async () => {
    const other = await open();
    const file = path.join(folder, "old.jsonl");
    fs.writeFileSync(file, text);
    await other.clew("import", file);
    isOk(await other.api().post("/api/v1/forget", { external_ids: ["e8"] }));
    await other.clew("import", file);
    const now = (await other.api().get("/api/v1/export")).text;
    assert.ok(!now.includes('"external_id":"e8"'));
  });

  test("bad lines are refused whole, with their place", async () => {
    const other = (await open()).api();
    const turn = lines(text).find((row) => row.type === "turn");
    const before = (await other.get("/api/v1/export")).text;
    const bad = [
      [{ ...turn, type: "turnip" }, "rows[1].type"],
      [{ ...turn, seq: "one" }, "rows[1].seq"],
      [{ ...turn, id: "x" }, "rows[1].id"],
      [{ ...turn, created_at: "soon" }, "rows[1].created_at"],
      [{ ...turn, role: "king" }, "rows[1].role"],
      [{ ...turn, text: undefined }, "rows[1].text"],
      [{ ...turn, extra: 1 }, "rows[1].turn"],
    ];
    for (const [row, field] of bad) {
      isError(await other.post("/api/v1/import", { rows: [turn, row] }), 400,
        undefined, field);
    }
    isError(await other.post("/api/v1/import", { rows: [turn,
      { ...turn, id: "0199c1d2-7a00-7000-8000-000000000001" }] }), 409);
    isError(await other.post("/api/v1/import",
      { rows: Array(1001).fill(turn) }), 400, undefined, "rows");
    assert.equal((await other.get("/api/v1/export")).text, before);
  });

  test("only an admin may, and sees the own tenant alone", async () => {
    const third = await open();
    const write = third.api(await third.key("t", "write"));
    const admin = third.api(await third.key("t", "admin"));
    const stranger = third.api(await third.key("u", "admin"));
    isError(await write.get("/api/v1/export"), 403, "FORBIDDEN");
    isError(await write.post("/api/v1/import", { rows: [] }), 403, "FORBIDDEN");
    isOk(await admin.post("/api/v1/turns",
      { user_id: "u", role: "user", content: "mine alone" }), 201);
    assert.ok((await admin.get("/api/v1/export")).text.includes("mine alone"));
    const theirs = (await stranger.get("/api/v1/export")).text;
    assert.equal(lines(theirs).length, 2);
  });
});

test("one backend's export is the other's", async () => {
  const postgres = await startPostgres();
  const folder = tempFolder();
  const server = await startServer();
  try {
    await live(server.api());
    const file = path.join(folder, "x.jsonl");
    await server.clew("export", file);
    const there = postgres.database();
    await clew(folder, there, "import", file);
    const { stdout } = await clew(folder, there, "export");
    assert.equal(stdout, fs.readFileSync(file, "utf8"));
  } finally {
    await server.stop();
    await postgres.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
