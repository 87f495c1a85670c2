/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.mjs - what a turn and a question cost PostgreSQL: the numbers that
 * docs/scale.md is made from.
 *
 *     node tests/cluster/constants.mjs FILE.jsonl [TURNS]
 *
 * FILE has a dialogue a line, {"turns": [{"role", "text"}]}. Turns are posted one
 * by one, by one client; rules read them, since what the trained reader costs is
 * clew's own processor (docs/quality/cost.md).
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { isOk } from "../node/lib/check.mjs";
import { startPostgres } from "../node/lib/postgres.mjs";
import { startServer } from "../node/lib/server.mjs";

const [file, wanted = "1000"] = process.argv.slice(2);
const turns = fs.readFileSync(file, "utf8").split("\n").filter(Boolean)
  .flatMap((line, chat) => JSON.parse(line).turns.map(({ role, text }) => ({ chat, role, text })))
  .filter(({ role, text }) => ["user", "assistant"].includes(role) && text).slice(0, Number(wanted));

/* Seconds of processor time so far: of a process, those it began and those that
 * have ended. Time in others' hands does not count, so a busy machine measures
 * about the same. */
function cpuOf(pid) {
  const all = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => {
    try {
      return { name: Number(name), stat: fs.readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1).split(" ") };
    } catch {
      return { stat: [] }; /* it has just ended */
    }
  });
  return all.filter(({ name, stat }) => name === pid || Number(stat[1]) === pid)
    .reduce((sum, { stat }) => sum + [11, 12, 13, 14].reduce((part, i) => part + Number(stat[i]), 0), 0) / 100;
}

function bytesOf(folder) {
  return fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.path, entry.name)).size, 0);
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/* What `work` did to the database, a piece of it. */
async function measure(what, n, { postgres, store, server }, work) {
  const ask = (text) => postgres.sql(text, store).split("|").map(Number);
  const postmaster = Number(fs.readFileSync(path.join(postgres.data, "postmaster.pid"), "utf8").split("\n")[0]);
  const now = () => ask("SELECT COALESCE(SUM(calls), 0), (pg_current_wal_lsn() - '0/0'), pg_snapshot_xmax(pg_current_snapshot())::text::bigint FROM pg_stat_statements s"
    + " JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname = 'clew'");
  const before = now();
  const cpu = [cpuOf(postmaster), cpuOf(server.child.pid)];
  const times = await work();
  const spent = [cpuOf(postmaster) - cpu[0], cpuOf(server.child.pid) - cpu[1]].map((s) => s * 1e6 / n);
  const [calls, wal, xids] = now().map((value, i) => (value - before[i]) / n);
  console.log(`${what.padEnd(42)} ${calls.toFixed(1).padStart(6)} statements ${xids.toFixed(2).padStart(6)} xids `
    + `${wal.toFixed(0).padStart(6)} bytes of WAL  processor: PostgreSQL ${spent[0].toFixed(0).padStart(5)} us, `
    + `clew ${spent[1].toFixed(0).padStart(5)} us  p50 ${median(times).toFixed(2)} ms`);
}

const timed = async (list, call) => {
  const times = [];
  for (const one of list) {
    const from = performance.now();
    const answer = await call(one);
    isOk(answer, answer.status === 201 ? 201 : 200);
    times.push(performance.now() - from);
  }
  return times;
};

async function run(postgres, name, envOf) {
  const store = postgres.database();
  const server = await startServer({ store, env: { CLEW_READER_ON: "false", ...envOf(store) } });
  const at = { postgres, store, server };
  const api = server.api();
  const isBusy = () => postgres.sql("SELECT (SELECT COUNT(*) FROM unread) + (SELECT COUNT(*) FROM tasks WHERE"
    + " finished_at IS NULL AND execute_at < extract(epoch FROM now()) * 1000)", store) !== "0";
  /* seldom: whoever asks makes the server work too */
  const idle = async () => {
    do await pause(2000); while (isBusy());
  };
  postgres.sql("CREATE EXTENSION pg_stat_statements", store);
  console.log(`\n${name}`);
  const post = (body) => api.post("/api/v1/turns", body);
  const bodies = turns.map(({ chat, role, text }, i) => ({ user_id: `user${chat % 10}`, role, content: text, channel: "sms",
    created_at: new Date(Date.UTC(2026, 0, 1) + chat * 7_200_000 + i * 20_000).toISOString() }));
  await measure("a turn, posted alone, and its later work", turns.length, at, async () => {
    const times = await timed(bodies, post);
    await idle();
    return times;
  });
  await measure("the same in batches of 100", turns.length, at, async () => {
    const again = bodies.map((body) => ({ ...body, user_id: `batch-${body.user_id}` }));
    const batches = [...Array(Math.ceil(again.length / 100)).keys()].map((i) => again.slice(i * 100, i * 100 + 100));
    const times = await timed(batches, (batch) => post({ turns: batch }));
    await idle();
    return times;
  });
  const questions = turns.filter(({ text }) => text.length > 30).slice(0, 200);
  for (let i = 0; i < 2; i++) await timed(questions.slice(0, 5), ({ text }) => api.post("/api/v1/recall", { query: text, fast: true }));
  await measure("recall, fast", questions.length, at, () => timed(questions,
    ({ text }) => api.post("/api/v1/recall", { query: text, fast: true })));
  const [chat] = isOk(await api.get("/api/v1/chats?limit=1")).items;
  await measure("turns of a chat", questions.length, at, () => timed(questions,
    () => api.get(`/api/v1/chats/${chat.id}/turns?limit=20`)));
  await measure("nothing, for a second", 10, at, async () => {
    await pause(10_000);
    return [0];
  });
  postgres.sql("CHECKPOINT", store);
  console.log(`database ${(Number(postgres.sql("SELECT pg_database_size(current_database())", store)) - 8e6) / turns.length / 2 | 0} bytes a turn, `
    + `turns alone ${Number(postgres.sql("SELECT pg_total_relation_size('turns')", store)) / turns.length / 2 | 0}, `
    + `index folder ${bytesOf(server.data) / turns.length / 2 | 0}, `
    + `connections ${postgres.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'clew'", store)}, `
    + `text ${turns.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) / turns.length | 0} bytes`);
  await server.stop();
}

const settings = ["shared_preload_libraries = 'pg_stat_statements'"];
const postgres = await startPostgres({ replica: true, settings });
try {
  await run(postgres, "statements kept prepared", () => ({}));
  await run(postgres, "store.pooling: transaction", () => ({ CLEW_STORE_POOLING: "transaction" }));
  await run(postgres, "store.read_url", (store) => ({ CLEW_STORE_READ_URL: postgres.replicaOf(store) }));
} finally {
  await postgres.stop();
}
