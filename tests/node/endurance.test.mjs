/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endurance.test.mjs - a server under mixed load for long: memory, files,
 * threads and times stay what they were.
 *
 * Users come, talk, ask, think, fork and correct, and are forgotten, so that
 * the store has one size after a while. Samples are taken all along;
 * ENDURE_MINUTES says how long (make endurance: 30), ENDURE_FILE where they go
 * as JSON lines. The thirds of the run are compared: the first fills caches.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { tempFolder } from "./lib/server.mjs";
import { randomFrom } from "./lib/writers.mjs";

const minutes = Number(process.env.ENDURE_MINUTES ?? 0.15);
const isLong = minutes >= 5;
const clients = 4;
const stay = isLong ? 120 : 12; /* what a user does before being forgotten */
const rest_ms = isLong ? 40 : 5;

const said = [
  "We decided to fly to Lisbon with Wanda Quill in March.", "My sister Greta lives in Bremen.",
  "I need to fix the login page, it shows a 500 error.", "Clearing the cookies fixed the login page.",
  "What's the weather in New York?", "I prefer tea to coffee in the morning.",
  "The meeting with Omar is on Monday at ten.", "我住在柏林，喜欢喝茶。",
  "Can you plan the repair of the old printer?", "The deadline of Apollo moved to Friday.",
];

/* What the kernel says of a process. */
function look(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]);
  return { rss_mb: number("VmRSS") / 1024, threads: number("Threads"),
    fds: fs.readdirSync(`/proc/${pid}/fd`).length };
}

const sizeOf = (folder) => fs.readdirSync(folder, { recursive: true })
  .map((name) => fs.statSync(path.join(folder, name), { throwIfNoEntry: false }))
  .reduce((sum, stat) => sum + (stat?.isFile() ? stat.size : 0), 0);

const at = (list, share) => [...list].sort((a, b) => a - b)[
  Math.min(list.length - 1, Math.floor(list.length * share))];

/* Times of calls by their kind, since they were last taken. */
class Times {
  all = new Map();
  counts = {};
  failed = [];

  async time(kind, call, ...fine) {
    const begin = performance.now();
    const answer = await call();
    this.all.set(kind, [...(this.all.get(kind) ?? []), performance.now() - begin]);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    if (answer.status >= 300 && !fine.includes(answer.status)) {
      this.failed.push(`${kind}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    return answer;
  }

  take() {
    const out = Object.fromEntries([...this.all].map(([kind, list]) =>
      [kind, { n: list.length, p50: at(list, 0.5), p99: at(list, 0.99) }]));
    this.all.clear();
    return out;
  }
}

/* One user's life, once. */
async function live(api, user, random, times, isOver) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const turn = () => ({ user_id: user, role: random() < 0.7 ? "user" : "assistant",
    channel: pick(["sms", "web"]), content: `${pick(said)} ${Math.floor(random() * 1000)}` });
  let chat = null;
  for (let n = 0; n < stay && !isOver(); n++) {
    const dice = random();
    if (dice < 0.35 || !chat) {
      const { body } = await times.time("turn", () => api.post("/api/v1/turns", turn()));
      chat = { id: body.turn.chat_id, seq: body.turn.seq };
    } else if (dice < 0.4) {
      await times.time("batch", () => api.post("/api/v1/turns", { turns: [...Array(12)].map(turn) }));
    } else if (dice < 0.7) {
      await times.time("recall", () => api.post("/api/v1/recall", { query: pick(said), user_id: user }));
    } else if (dice < 0.8) {
      await times.time("context", () => api.post(`/api/v1/chats/${chat.id}/context`,
        { message: pick(said), budget_tokens: 1000 }));
    } else if (dice < 0.85) {
      await times.time("fork", () => api.post(`/api/v1/chats/${chat.id}/fork`, { at_seq: chat.seq }));
    } else if (dice < 0.9) {
      await times.time("analyse", () => api.post("/api/v1/analyse", { text: pick(said) }));
    } else if (dice < 0.95) {
      await times.time("list", () => api.get(`/api/v1/chats?user_id=${user}`));
    } else {
      await times.time("memories", () => api.get(`/api/v1/memories?user_id=${user}`));
    }
    await pause(rest_ms);
  }
  await times.time("forget", () => api.post("/api/v1/forget", { user_id: user }), 404);
}

/* The middle of a number in a third of the samples. */
const third = (samples, i, of) => {
  const n = Math.floor(samples.length / 3);
  return at(samples.slice(i * n, (i + 1) * n).map(of).filter((x) => x !== undefined), 0.5);
};

onEachBackend("endurance", (open, backend) => {
  test(`${minutes} minutes of mixed load leave no trace`,
    { timeout: 600_000 + minutes * 90000 }, async (t) => {
      const data = tempFolder();
      const server = await open({ data });
      const api = server.api();
      const times = new Times();
      const end = Date.now() + minutes * 60000;
      const isOver = () => Date.now() > end;
      const work = [...Array(clients).keys()].map(async (i) => {
        const random = randomFrom(i);
        for (let n = 0; !isOver(); n++) await live(api, `u${i}-${n}`, random, times, isOver);
      });
      const samples = [];
      const begin = Date.now();
      const step = Math.min(10000, minutes * 60000 / 12);
      while (!isOver()) {
        await pause(step); /* the samples are spread over the run */
        const sample = { second: Math.round((Date.now() - begin) / 1000),
          ...look(server.child.pid), data_mb: sizeOf(data) / 1048576, calls: times.take() };
        samples.push(sample);
        if (process.env.ENDURE_FILE) {
          fs.appendFileSync(process.env.ENDURE_FILE, `${JSON.stringify({ backend, ...sample })}\n`);
        }
      }
      await Promise.all(work);
      const tell = (name, of) => {
        const list = [0, 1, 2].map((i) => third(samples, i, of));
        t.diagnostic(`${name}: ${list.map((x) => x?.toFixed(1)).join(", ")} (thirds),`
          + ` most ${Math.max(...samples.map(of).filter((x) => x !== undefined)).toFixed(1)}`);
        return list;
      };
      t.diagnostic(`calls: ${JSON.stringify(times.counts)}`);
      const rss = tell("rss_mb", (s) => s.rss_mb);
      const fds = tell("fds", (s) => s.fds);
      const threads = tell("threads", (s) => s.threads);
      tell("data_mb", (s) => s.data_mb);
      const slow = ["turn", "recall", "context", "forget"].map((kind) => [kind,
        tell(`${kind} p50 ms`, (s) => s.calls[kind]?.p50), tell(`${kind} p99 ms`, (s) => s.calls[kind]?.p99)]);
      assert.deepEqual(times.failed.slice(0, 5), []);
      assert.ok(fds[2] <= fds[1] + 8, `files: ${fds}`);
      assert.ok(threads[2] <= threads[1] + 2, `threads: ${threads}`);
      if (isLong) {
        assert.ok(rss[2] <= rss[1] * 1.1 + 8, `memory: ${rss}`);
        /* what reads no store tells how busy the machine was otherwise */
        const own = tell("analyse p50 ms", (s) => s.calls.analyse?.p50);
        const busier = Math.max(1, own[2] / own[1]);
        for (const [kind, p50] of slow) {
          assert.ok(p50[2] <= p50[1] * 1.5 * busier + 5, `${kind} takes longer: ${p50}`);
        }
      }
    });
});
