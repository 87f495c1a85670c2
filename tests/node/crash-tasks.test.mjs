/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash-tasks.test.mjs - the server is killed while its workers sum chats up.
 *
 * Clients tell chats, compact them by hand, end their sessions and close them,
 * so that tasks are claimed, run and settled all the time. After the last kill
 * the tasks are let run to their end. Nothing is lost: every chat that was
 * closed is summed up, every session that was ended has its summary. Nothing is
 * done twice: each task ran once, and `clew verify`, which replays what was
 * written down, finds the same state. CRASH_KILLS says how often (make
 * crash-tasks: 50); CRASH_SEED repeats a run.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { taskUnderWay } from "./lib/check.mjs";
import { client, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const kills = Number(process.env.CRASH_KILLS ?? 3);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100000);
const clients = 8;
/* what a dead worker had claimed comes back after a second */
const env = { CLEW_TASKS_LEASE_SECONDS: "1" };

/* mulberry32: the same seed, the same run */
function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const said = [
  "We decided to fly to Lisbon with Wanda Quill.", "My sister is called Greta.",
  "I need to fix the login page.", "That worked, the login page is fixed now.",
  "What's the weather in New York?", "By the way, who painted The Night Watch?",
];

/* Tell, sum up, end and close chats until the server is gone. */
async function live(api, name, random, done, onTask) {
  for (;;) {
    const turns = [...Array(2 + Math.floor(random() * 5))].map(() => ({
      user_id: name, role: "user", channel: "web",
      content: said[Math.floor(random() * said.length)],
    }));
    try {
      const told = await api.post("/api/v1/turns", { turns });
      if (told.status !== 201) continue;
      const first = told.body.items?.[0] ?? told.body.turns?.[0] ?? told.body;
      const chat = first.chat?.id ?? first.turn?.chat_id ?? first.chat_id;
      const session = first.turn?.session_id ?? first.session_id;
      if (random() < 0.3) await api.post(`/api/v1/chats/${chat}/compact`, {});
      const ended = await api.post(`/api/v1/sessions/${session}/end`, {});
      if (ended.status === 200) done.sessions.push(session);
      const closed = await api.post(`/api/v1/chats/${chat}/close`, {});
      if (closed.status === 200) {
        done.chats.push(chat);
        onTask();
      }
    } catch {
      return; /* the connection broke: the server is dead */
    }
  }
}

/* Wait until no task is running or due: the workers look by themselves. */
async function drain(api) {
  let open;
  await until(() => `no task is due: ${open}`, async () => {
    open = await taskUnderWay(api);
    return !open;
  });
}

onEachBackend("killed while tasks run", (open) => {
  test(`nothing is lost or done twice in ${kills} kills (seed ${seed})`,
    { timeout: 600_000 + kills * 60_000 }, async () => {
      const random = randomFrom(seed);
      const done = { chats: [], sessions: [] };
      const data = tempFolder();
      const first = await open({ data, env });
      let server = first;
      for (let round = 0; round < kills; round++) {
        const api = client(server.url);
        let onTask;
        const worked = new Promise((resolve) => { onTask = resolve; });
        const people = [...Array(clients).keys()].map((i) =>
          live(api, `user${i}`, random, done, onTask));
        await worked; /* a busy machine takes its time */
        await pause(random() * 300); /* the moment is the test */
        server.child.kill("SIGKILL");
        await Promise.all([...people, server.ended]);
        /* opened by the suite, which ends it however this test ends */
        server = await open({ data: first.data, store: first.store, env });
      }
      await drain(client(server.url));
      const failed = await client(server.url).get("/api/v1/tasks?status=failed");
      assert.deepEqual(failed.body.items, []);
      await server.stop();

      const file = path.join(data, "export.jsonl");
      await first.clew("export", file);
      const rows = fs.readFileSync(file, "utf8").split("\n").filter(Boolean)
        .map((line) => JSON.parse(line));
      const of = (type) => rows.filter((row) => row.type === type);
      const summed = new Set(of("episode")
        .filter((row) => row.compacted_at).map((row) => row.chat_id));
      const summaries = new Set(
        of("session_summary").map((row) => row.session_id));
      assert.deepEqual(done.chats.filter((id) => !summed.has(id)), [],
        "every closed chat is summed up");
      assert.deepEqual(done.sessions.filter((id) => !summaries.has(id)), [],
        "every ended session has its summary");
      const ran = of("action").filter((row) => row.kind === "task");
      assert.equal(new Set(ran.map((row) => row.made)).size, ran.length,
        "no task ran twice");
      const keys = ran.map((row) => JSON.parse(row.detail).key)
        .filter((key) => key.startsWith("generate_session_summary"));
      assert.equal(new Set(keys).size, keys.length, "no summary was made twice");
      assert.ok(done.chats.length >= kills, "something was summed up");

      const report = JSON.parse((await first.clew("verify", "--json")).stdout);
      assert.equal(report.ok, true);
      assert.ok(report.replayed > 0);
      fs.rmSync(data, { recursive: true, force: true });
    });
});
