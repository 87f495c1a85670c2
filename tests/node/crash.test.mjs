/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.test.mjs - the server is killed while sixteen clients write.
 *
 * What was acknowledged is there, once; a batch is there whole or not at all;
 * `clew verify` finds nothing. CRASH_KILLS says how often (make crash: 100);
 * CRASH_SEED repeats a run.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { client, tempFolder } from "./lib/server.mjs";

const kills = Number(process.env.CRASH_KILLS ?? 4);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100000);
const clients = 16;

/* mulberry32: the same seed, the same run */
function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/* Write until the server is gone; note what was acknowledged. */
async function write(api, name, round, random, acknowledged, attempted, onAck) {
  for (let n = 0; ; n++) {
    const size = random() < 0.3 ? 2 + Math.floor(random() * 6) : 1;
    const ids = [...Array(size).keys()].map((i) => `${name}/${round}/${n}/${i}`);
    const turns = ids.map((id) => ({
      user_id: name, role: "user", channel: "sms", external_id: id,
      content: `message ${id}: I moved my meeting to Thursday`,
    }));
    attempted.push(ids);
    try {
      const answer = await api.post(
        "/api/v1/turns", size === 1 ? turns[0] : { turns });
      if (answer.status === 201) {
        acknowledged.push(...ids);
        onAck();
      }
    } catch {
      return; /* the connection broke: the server is dead */
    }
  }
}

/* Every external id the store holds, with repeats. */
async function stored(api) {
  const found = [];
  let cursor;
  do {
    const page = await api.get(
      `/api/v1/chats?limit=500${cursor ? `&cursor=${cursor}` : ""}`);
    assert.equal(page.status, 200);
    for (const chat of page.body.items) {
      let after = 0;
      for (;;) {
        const turns = await api.get(
          `/api/v1/chats/${chat.id}/turns?limit=500&after_seq=${after}`);
        assert.equal(turns.status, 200);
        found.push(...turns.body.items.map((turn) => turn.external_id));
        if (turns.body.items.length < 500) break;
        after = turns.body.items.at(-1).seq;
      }
    }
    cursor = page.body.next_cursor;
  } while (cursor);
  return found;
}

onEachBackend("killed while writing", (open) => {
  test(`nothing acknowledged is lost in ${kills} kills (seed ${seed})`,
    { timeout: 60000 + kills * 20000 }, async () => {
      const random = randomFrom(seed);
      const acknowledged = [];
      const attempted = [];
      const data = tempFolder();
      const first = await open({ data });
      let server = first;
      for (let round = 0; round < kills; round++) {
        const api = client(server.url);
        let onAck;
        const written = new Promise((resolve) => { onAck = resolve; });
        const writers = [...Array(clients).keys()].map((i) =>
          write(api, `user${i}`, round, random, acknowledged, attempted,
            onAck));
        await written; /* a busy machine takes its time */
        await pause(random() * 400); /* the moment is the test */
        server.child.kill("SIGKILL");
        await Promise.all([...writers, server.ended]);
        /* opened by the suite, which ends it however this test ends */
        server = await open({ data: first.data, store: first.store });
      }
      const found = await stored(client(server.url));
      const seen = new Set(found);
      assert.equal(seen.size, found.length, "no turn is there twice");
      const lost = acknowledged.filter((id) => !seen.has(id));
      assert.deepEqual(lost, [], "every acknowledged turn is there");
      for (const ids of attempted) {
        const there = ids.filter((id) => seen.has(id)).length;
        assert.ok(there === 0 || there === ids.length, "a batch is whole");
      }
      assert.ok(acknowledged.length > kills, "something was written");
      await server.stop();
      const report = await first.clew("verify");
      assert.match(report.stdout, /./);
      fs.rmSync(data, { recursive: true, force: true });
    });
});
