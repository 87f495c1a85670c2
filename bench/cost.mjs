/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.mjs - what a short turn takes: bytes in the database and the index, and
 * PostgreSQL's statements.
 *
 *     node bench/cost.mjs [TURNS [STORE]]      2,000 by default; SQLite and PostgreSQL
 *
 * Short talks that people wrote (models/data/sentences), 46 bytes a turn, six
 * turns a talk, of ten users; read by rules, and all that is due afterwards
 * done. What an empty store has is taken off. The first 300 turns are posted one by
 * one, the others in batches of 100; the statements of both are counted,
 * with all that follows from a turn; BENCH_STATEMENTS=1 lists them, BENCH_TABLES=1
 * the bytes of SQLite's tables, each with its indexes.
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { isOk } from "../tests/node/lib/check.mjs";
import { startPostgres } from "../tests/node/lib/postgres.mjs";
import { startServer, tempFolder } from "../tests/node/lib/server.mjs";
import { bytesOf, figure, median } from "./support/figures.mjs";

const ALONE = 300;
const wanted = Number(process.argv[2] ?? 2000);
const stores = process.argv[3] ? [process.argv[3]] : ["SQLite", "PostgreSQL"];

function talks() {
  const folder = new URL("../models/data/sentences/", import.meta.url);
  const first = ["s5", "s6", "s7", "s9"]; /* 6,800 turns; the others for who wants more */
  const others = fs.readdirSync(folder).map((file) => path.basename(file, ".jsonl"))
    .filter((name) => /^s\d+$/.test(name) && !first.includes(name)).sort();
  const lines = [...first, ...(wanted > 6000 ? others : [])].flatMap((name) =>
    fs.readFileSync(new URL(`${name}.jsonl`, folder), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)));
  const chats = [...new Set(lines.map(({ world }) => world))];
  return lines.filter(({ role }) => role === "user" || role === "assistant").slice(0, wanted).map(({ world, role, text }, i) => {
    const chat = chats.indexOf(world);
    return { user_id: `user${chat % 10}`, role, content: text, channel: "sms",
      created_at: new Date(Date.UTC(2026, 0, 1) + chat * 7_200_000 + i * 20_000).toISOString() };
  });
}

/* What is due now or was put off for a moment, and came of it, is done. Seldom asked: that makes the server
 * ask too. */
async function isDone(api) {
  for (let quiet = 0; quiet < 2; quiet++) {
    await pause(1000);
    const { waiting } = isOk(await api.get("/healthz")).reading;
    const { items } = isOk(await api.get("/api/v1/tasks?status=pending&limit=100"));
    if (waiting > 0 || items.some(({ execute_at }) => Date.parse(execute_at) <= Date.now() + 60_000)) quiet = -1;
  }
}

const sizes = {
  SQLite: (server) => bytesOf(path.join(server.data, "clew.db")),
  PostgreSQL: (server, postgres) => Number(postgres.sql("SELECT pg_database_size(current_database())", server.store)),
};

/* Every table with its own indexes, the largest first. */
function listTables(file, turns) {
  console.log(execFileSync("sqlite3", ["-readonly", file, `SELECT printf('%-18s %7.1f', m.tbl_name, SUM(d.pgsize) * 1.0 / ${turns})
    FROM dbstat d JOIN sqlite_master m ON m.name = d.name WHERE d.aggregate = TRUE GROUP BY m.tbl_name
    HAVING SUM(d.pgsize) > 2 * ${turns} ORDER BY SUM(d.pgsize) DESC`], { encoding: "utf8" }));
}

async function run(name, aim, postgres) {
  const data = tempFolder();
  const env = { CLEW_READER_ON: "false" };
  const store = postgres?.database();
  let server = await startServer({ data, store, env });
  const indexOf = () => bytesOf(data) - ["clew.db", "clew.db-wal", "clew.db-shm"].reduce((sum, file) => sum + bytesOf(path.join(data, file)), 0);
  /* what lies in the log of SQLite goes into its file when it is closed */
  const restart = async () => {
    await server.stop();
    server = await startServer({ data, store, env });
  };
  await restart();
  const empty = sizes[name](server, postgres);
  postgres?.sql("CREATE EXTENSION pg_stat_statements", store);
  const spent = () => (postgres?.sql("SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(total_exec_time), 0) FROM pg_stat_statements s"
    + " JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname = 'clew'", store) ?? "").split("|").map(Number);
  const counted = async (what, turns, work) => {
    const before = spent();
    const from = performance.now();
    await work(server.api());
    await isDone(server.api());
    if (process.env.BENCH_TABLES) console.log(`${name}: ${turns.length} turns ${what}, all done: ${((performance.now() - from) / 1000).toFixed(1)} s`);
    if (!postgres) return;
    const [calls, ms] = spent().map((value, i) => (value - before[i]) / turns.length);
    figure(`statements a turn, ${what}, PostgreSQL`, calls, "");
    figure(`  their time, ${what}`, ms, "ms");
  };
  const turns = talks();
  const times = [];
  await counted("posted alone", turns.slice(0, ALONE), async (api) => {
    for (const turn of turns.slice(0, ALONE)) {
      const from = performance.now();
      isOk(await api.post("/api/v1/turns", turn), 201);
      times.push(performance.now() - from);
    }
  });
  console.log(`${name}: a turn posted alone and read at once, p50 ${median(times).toFixed(2)} ms (client in this process)`);
  await counted("in batches of 100", turns.slice(ALONE), async (api) => {
    for (let i = ALONE; i < turns.length; i += 100) {
      isOk(await api.post("/api/v1/turns", { turns: turns.slice(i, i + 100) }), 201);
    }
  });
  if (process.env.BENCH_STATEMENTS && postgres) {
    console.log(postgres.sql("SELECT calls, round(total_exec_time::numeric, 1), left(query, 230) FROM pg_stat_statements s"
      + " JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname = 'clew' ORDER BY calls DESC LIMIT 80", store));
  }
  await restart();
  postgres?.sql("CHECKPOINT", store);
  const text = turns.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const [database, index] = [sizes[name](server, postgres) - empty, indexOf()];
  console.log(`${name}: ${turns.length} turns of ${(text / turns.length).toFixed(0)} bytes; database ${
    (database / turns.length).toFixed(0)} bytes a turn, index ${(index / turns.length).toFixed(0)}`);
  if (process.env.BENCH_TABLES && !postgres) listTables(path.join(data, "clew.db"), turns.length);
  figure(`bytes a short turn, all derived, index included, ${name}`, (database + index) / turns.length, "bytes", aim);
  await server.stop();
  fs.rmSync(data, { recursive: true, force: true });
}

if (stores.includes("SQLite")) await run("SQLite", "<= 1000");
if (stores.includes("PostgreSQL")) {
  const postgres = await startPostgres({ settings: ["shared_preload_libraries = 'pg_stat_statements'"] });
  try {
    await run("PostgreSQL", "<= 1500", postgres);
  } finally {
    await postgres.stop();
  }
}
