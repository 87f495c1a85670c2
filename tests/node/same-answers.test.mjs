/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same-answers.test.mjs - the same question on the same turns has the same
 * answers with the same scores: at once, after a start, after the background has
 * merged, with an index made anew or cut otherwise, and on the other store.
 *
 * Enough turns for the sieves of vectors, few sentences: much is equally good.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";
const env = { CLEW_CAPTURE_OBSERVE: "false" };

const N_TURNS = 5000;
const BATCH = 500;
const N_CHATS = 250; /* each has turns from first to last */
const START = Date.UTC(2025, 0, 1);

const did = ["painted", "sold", "repaired", "lost", "borrowed"];
const what = ["the boat", "a kettle", "his camera", "the tent", "a ladder",
  "some shelves", "her guitar"];
const where = ["in Lisbon", "by the lake", "near Oslo", "at the market"];
const said = (n) => `He ${did[n % 5]} ${what[n % 7]} ${where[n % 4]}, ${n % 11}.`;

const questions = [
  "boat", "Who repaired the boat in Lisbon?", "What was sold at the market?",
  "the camera that he lost", "sailing", "portuguese capital", "10 ladders",
  "a guitar near Oslo", "camping", "What was lost on 2 January 2025?",
];

/* The same turns in the same chats, whose ids are others each time. */
async function fill(api, chats, from, to) {
  for (let n = chats.length; n < N_CHATS; n++) {
    chats.push(isOk(await api.post("/api/v1/chats", { user_id: "u" }), 201).id);
  }
  for (let at = from; at < to; at += BATCH) {
    const turns = [];
    for (let n = at; n < at + BATCH; n++) {
      turns.push({
        user_id: "u", chat_id: chats[n % N_CHATS], role: n % 2 ? "assistant" : "user",
        content: said(n * 7919 % 6000), external_id: `turn ${n}`,
        created_at: new Date(START + Math.floor(n / 50) * 60000).toISOString(),
      });
    }
    isOk(await api.post("/api/v1/turns", { turns }), 201);
  }
}

/* Everything an answer says, but for ids. */
async function answers(api) {
  const all = [];
  for (const query of questions) {
    for (const kinds of [["turn"], ["chat"]]) {
      const { items } = isOk(await api.post("/api/v1/recall", {
        query, kinds, user_id: "u", limit: 20, explain: true, fast: true,
        at: "2025-06-01T00:00:00Z",
      }));
      assert.ok(items.length > 0, query);
      all.push(items.map((item) =>
        [item.external_id, item.text, item.created_at, item.score, item.why]));
    }
  }
  return all;
}

/* The folder of the index: its name has the store's on PostgreSQL. */
const indexOf = (data) => path.join(data,
  fs.readdirSync(data).find((name) => name.startsWith("index")));
const segments = (data) => fs.readdirSync(path.join(indexOf(data), "1"))
  .filter((name) => name.endsWith(".seg")).length;

const first = {};

onEachBackend("the same answers", (open, backend) => {
  const data = tempFolder();
  after(() => fs.rmSync(data, { recursive: true, force: true }));
  let store;
  const again = async (body) => {
    const server = await startServer({ data, store, env });
    try {
      return await body(server.api());
    } finally {
      await server.stop();
    }
  };

  test("from a start to the next", async () => {
    const server = await open({ data, env });
    const api = server.api();
    store = server.store;
    const chats = [];
    await fill(api, chats, 0, N_TURNS / 2);
    await answers(api); /* from now on what is written goes into the index */
    await fill(api, chats, N_TURNS / 2, N_TURNS);
    first[backend] = await answers(api);
    assert.deepEqual(await answers(api), first[backend]);
    await server.stop();
    assert.deepEqual(await again(answers), first[backend]);
  });

  test("from an index that is made anew", async () => {
    fs.rmSync(indexOf(data), { recursive: true });
    assert.deepEqual(await again(answers), first[backend]);
  });

  test("from one that was cut and merged", async () => {
    fs.rmSync(indexOf(data), { recursive: true });
    let most = 0;
    for (let n = 0; n < 5; n++) { /* each stop leaves a file, four are merged */
      await again(async (api) => {
        await answers(api);
        isOk(await api.post("/api/v1/turns", {
          user_id: "other", role: "user", content: "Good morning to you all.",
        }), 201);
        assert.deepEqual(await answers(api), first[backend]);
      });
      most = Math.max(most, segments(data));
    }
    await again(async (api) => {
      assert.deepEqual(await answers(api), first[backend]);
      await until("files merged", () => segments(data) < most);
      assert.deepEqual(await answers(api), first[backend]);
    });
  });

  test("on either store", () => {
    if (first.sqlite && first.postgres) {
      assert.deepEqual(first.postgres, first.sqlite);
    }
  });
});
