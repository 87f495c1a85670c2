/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gists.test.mjs - what the reader made of a turn helps to find it: live, read
 * later, after an import; it goes with its turn, and a replay makes the same.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";
import { tempFolder } from "./lib/server.mjs";

const live = ["The harbour master says berth nine is free until October.",
  "Good, shall I write to him?",
  "Yes, and ask about the crane, ours weighs eleven tonnes."];
const later = ["My godson collects beetles, the shinier the better.",
  "Then a magnifier would please him.",
  "He has one. A case with a glass lid is what he is after."];
const question = "what gift would make the boy happy";

onEachBackend("gists", (open) => {
  let server;
  let api;
  let chat;

  const chatOf = async () =>
    isOk(await api.post("/api/v1/chats", { user_id: "ines", channel: "app" }), 201).id;
  const turnsOf = (texts, chat_id, day) => texts.map((content, i) => ({
    user_id: "ines", chat_id, content, role: i % 2 ? "assistant" : "user",
    created_at: new Date(Date.UTC(2026, 4, day, 9, i)).toISOString() }));
  const ask = async (more = {}, where = api) => isOk(await where.post("/api/v1/recall",
    { query: question, user_id: "ines", kinds: ["turn"], explain: true, at: "2026-06-01T00:00:00Z", ...more })).items;
  const gists = async (from = server) => (await from.clew("export")).stdout.split("\n")
    .filter((line) => line.startsWith('{"type":"gist"')).map((line) => JSON.parse(line));

  before(async () => {
    server = await open();
    api = server.api();
    for (const turn of turnsOf(live, await chatOf(), 3)) {
      /* whoever asked has the index as it is: it is told of the next turn, its memories and its gist together, and does
       * not look for them again */
      await ask();
      isOk(await api.post("/api/v1/turns", turn), 201);
    }
    chat = await chatOf();
    isOk(await api.post("/api/v1/turns", { turns: turnsOf(later, chat, 4) }), 201);
    await isRead(api);
  });

  test("every turn that was read has one, and it is part of why it is found", async () => {
    const items = await ask({ limit: 20 });
    assert.equal(items.length, live.length + later.length);
    for (const { why, text } of items) assert.notEqual(why.gist, 0, text);
    const best = items.reduce((a, b) => (a.why.gist > b.why.gist ? a : b));
    assert.ok(later.includes(best.text), best.text);
    const all = await gists();
    assert.deepEqual(all.map(({ id }) => id).sort(), items.map(({ id }) => id).sort());
    assert.equal(new Set(all.map(({ model }) => model)).size, 1);
    assert.ok(all.every(({ place }) => /^[0-9a-f]{128}$/.test(place)));
  });

  test("what is asked for fast does without", async () => {
    for (const { why } of await ask({ fast: true })) assert.equal(why.gist, 0);
  });

  test("an import finds as its source does", async () => {
    const file = path.join(tempFolder(), "all.jsonl");
    fs.writeFileSync(file, (await server.clew("export")).stdout);
    const copy = await open();
    await copy.clew("import", file);
    fs.rmSync(path.dirname(file), { recursive: true });
    const bare = (items) => items.map(({ id, score, why }) => ({ id, score, gist: why.gist }));
    assert.deepEqual(bare(await ask({}, copy.api())), bare(await ask()));
    assert.deepEqual(await gists(copy), await gists());
  });

  test("a file that has everything twice is imported once, and a broken gist not at all", async () => {
    const folder = tempFolder();
    const file = path.join(folder, "twice.jsonl");
    const rows = (await server.clew("export")).stdout.trim().split("\n");
    const body = rows.slice(1, -1);
    fs.writeFileSync(file, [rows[0], ...body, ...body, JSON.stringify({ type: "end", rows: 2 * body.length })].join("\n"));
    const copy = await open();
    await copy.clew("import", file);
    assert.deepEqual(await gists(copy), await gists());
    for (const place of ["00", "zz".repeat(64), "00".repeat(65)]) {
      fs.writeFileSync(file, rows.join("\n").replace(/"place":"[0-9a-f]*"/, `"place":"${place}"`));
      await assert.rejects((await open()).clew("import", file), /"place" must/);
    }
    fs.rmSync(folder, { recursive: true });
  });

  test("a replay makes the same", async () => {
    const report = JSON.parse((await server.clew("verify", "--json")).stdout);
    assert.equal(report.sound ?? report.is_sound ?? true, true);
    const before = await gists();
    await server.clew("rebuild");
    assert.deepEqual(await gists(), before);
  });

  test("it is forgotten with its turn", async () => {
    isOk(await api.post("/api/v1/forget", { chat_id: chat }));
    assert.equal((await gists()).length, live.length);
    for (const { text } of await ask()) assert.ok(live.includes(text), text);
  });
});
