/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.mjs - a cluster under load loses its leader and a process. See README.md.
 *
 * CLEW_BIN names the program; CLUSTER_KEEP=1 leaves the folder with all logs.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { bin, client } from "../node/lib/server.mjs";
import { until } from "../node/lib/wait.mjs";
import { Cluster, NODES } from "./parts.mjs";

const MINUTES = 10;
const CLIENTS = 8;

const counts = { acknowledged: 0, readBack: 0, recalled: 0, refused: 0, stale: [], longestSilence: 0 };
const acknowledged = []; /* {chat, id} */
let isOver = false;
let lastWord = Date.now(); /* when anything was last acknowledged */

const say = (text) => console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`);

function noteWord() {
  counts.longestSilence = Math.max(counts.longestSilence, Date.now() - lastWord);
  lastWord = Date.now();
  counts.acknowledged++;
}

/* Until it is answered: a refusal or a broken connection is tried again, as an
 * honest client does; the external id makes that the same turn. */
async function insist(call) {
  for (;;) {
    const answer = await call().catch(() => undefined);
    if (answer && answer.status < 300) return answer.body;
    assert.ok(!answer || [429, 500, 502, 503, 504].includes(answer.status), answer?.text);
    counts.refused++;
    if (isOver) return undefined;
    await pause(100); /* haproxy answers at once while nobody is up */
  }
}

/* One client: a word, then the same word asked for, by anybody who answers. */
async function talk(api, user) {
  for (let n = 0; !isOver; n++) {
    const external_id = `${user}/${n}`;
    const content = `Parcel ${n} of ${user} is on shelf ${(n * 7919) % 1000}.`;
    const said = await insist(() => api.post("/api/v1/turns",
      { user_id: user, role: "user", channel: "sms", external_id, content }));
    if (!said) return;
    const turn = said.turn;
    noteWord();
    acknowledged.push({ chat: turn.chat_id, external_id });
    const list = await insist(() => api.get(`/api/v1/chats/${turn.chat_id}/turns?limit=5&after_seq=${turn.seq - 1}`));
    if (!list) return;
    counts.readBack++;
    if (!list.items.some((item) => item.id === turn.id)) counts.stale.push(external_id);
    if (n % 5 > 0) continue;
    const found = await insist(() => api.post("/api/v1/recall",
      { query: content, user_id: user, fast: true, kinds: ["turn"] }));
    if (!found) return;
    counts.recalled++;
    if (!found.items.some((item) => item.text === content)) counts.stale.push(`${external_id} (recall)`);
  }
}

const more = (n) => {
  const at = counts.acknowledged + n;
  return until(`${n} more turns`, () => counts.acknowledged >= at, 180_000);
};

/* Everything that is there, by external id, asked of one process. */
async function stored(api) {
  const found = new Map();
  for (const chat of new Set(acknowledged.map((one) => one.chat))) {
    for (let after = 0; ;) {
      const { items } = await insist(() => api.get(`/api/v1/chats/${chat}/turns?limit=500&after_seq=${after}`));
      for (const item of items) found.set(item.external_id, (found.get(item.external_id) ?? 0) + 1);
      if (items.length < 500) break;
      after = items.at(-1).seq;
    }
  }
  return found;
}

async function readsByReplica(cluster) {
  const sums = {};
  for (const port of cluster.clewPorts) {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text()).catch(() => "");
    for (const [, by, n] of text.matchAll(/^clew_replica_reads_total\{by="(\w+)"\} (\d+)/gm)) {
      sums[by] = (sums[by] ?? 0) + Number(n);
    }
  }
  return Object.entries(sums).map(([by, n]) => `${by} ${n}`).join(", ");
}

async function build(cluster) {
  await cluster.layOut();
  await cluster.startEtcd();
  for (const name of NODES) {
    cluster.startPatroni(name);
    /* the first makes the database, the others copy it */
    if (name === NODES[0]) await until("there is a leader", () => cluster.leader(), 120_000);
  }
  const isUp = (all) => all.length === 3 && all.filter((one) => ["running", "streaming"].includes(one.state)).length === 3
    && all.some((one) => one.role === "sync_standby");
  await until("three servers run", async () => isUp(await cluster.members()), 120_000);
  const leader = await cluster.leader();
  cluster.sql(leader, "CREATE ROLE clew LOGIN");
  cluster.sql(leader, "CREATE DATABASE clew OWNER clew");
  cluster.startHaproxy();
  cluster.startPooler();
  await until("the pooler answers", async () => {
    try {
      cluster.ports.pool = { sql: cluster.poolPort };
      return cluster.sql("pool", "SELECT 1", "clew");
    } catch {
      return false;
    }
  }, 60_000);
  for (const i of [0, 1, 2]) await cluster.startClew(i, bin);
  await cluster.answers(`${cluster.url}/healthz`);
}

async function story(cluster) {
  await build(cluster);
  say(`3 PostgreSQL (leader: ${await cluster.leader()}), pgbouncer, 3 clew behind haproxy`);
  const api = client(cluster.url);
  const talks = [...Array(CLIENTS).keys()].map((i) => talk(api, `user${i}`));
  await more(500);
  say(`${counts.acknowledged} turns acknowledged, reads: ${await readsByReplica(cluster)}`);

  const old = await cluster.leader();
  await cluster.killNode(old);
  const killedAt = Date.now();
  say(`leader ${old} killed`);
  await until("another leads", async () => {
    const now = await cluster.leader();
    return now && now !== old;
  }, 120_000);
  await more(200);
  say(`${await cluster.leader()} leads; 200 turns more ${((Date.now() - killedAt) / 1000).toFixed(0)} s after the kill`);

  await cluster.startClew(3, bin);
  await more(200);
  say("a fourth clew added under load");
  await cluster.kill("clew0");
  await more(300);
  say("one clew killed under load");
  cluster.startPatroni(old);
  await until("the old leader follows", async () => (await cluster.members())
    .some((one) => one.name === old && ["running", "streaming"].includes(one.state) && one.role !== "leader"), 120_000);
  await more(300);
  say(`${old} is back as a standby`);
  isOver = true;
  await Promise.all(talks);

  const found = await stored(client(`http://127.0.0.1:${cluster.clewPorts[1]}`));
  const lost = acknowledged.filter((one) => !found.has(one.external_id));
  const twice = [...found].filter(([, n]) => n > 1);
  say(`reads: ${await readsByReplica(cluster)} (of the processes that live)`);
  console.log(`
acknowledged ${counts.acknowledged}, of which missing ${lost.length}, there twice ${twice.length}
read back at once ${counts.readBack} + recalled ${counts.recalled}, of which stale ${counts.stale.length}
refused or broken, and tried again ${counts.refused}; longest time without a word ${(counts.longestSilence / 1000).toFixed(1)} s`);
  assert.deepEqual(lost, []);
  assert.deepEqual(twice, []);
  assert.deepEqual(counts.stale, []);
}

const cluster = new Cluster(fs.mkdtempSync(path.join(os.tmpdir(), "clew-cluster-")));
let isStopping;
/* Once, whoever asks first. */
const stop = () => (isStopping ??= (async () => {
  isOver = true;
  await cluster.stop();
  if (process.env.CLUSTER_KEEP) console.log(`kept: ${cluster.folder}`);
  else fs.rmSync(cluster.folder, { recursive: true, force: true });
})());
const tooLong = setTimeout(() => {
  console.error(`not done in ${MINUTES} minutes`);
  stop().finally(() => process.exit(1));
}, MINUTES * 60_000);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop().finally(() => process.exit(1)));
try {
  await story(cluster);
} finally {
  clearTimeout(tooLong);
  await stop();
}
