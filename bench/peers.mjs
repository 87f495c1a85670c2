/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.mjs - the turns and questions of bench_recall in other engines.
 *
 *     bench_recall dump FOLDER 10000
 *     node bench/peers.mjs FOLDER PACKAGES
 *
 * PACKAGES/NAME/node_modules has each (tools/run-benches installs them); what is
 * not there, or does not run here, is named and left out. Each gets the same texts
 * and vectors in batches of 500 and is asked the same 200 questions, ten answers
 * each, the first twenty to warm up. They differ in what they do, which stands beside
 * their names: clew here keeps the log, words and vectors (capture.observe: false)
 * durably and answers over HTTP.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";

import { isOk } from "../tests/node/lib/check.mjs";
import { startServer, tempFolder } from "../tests/node/lib/server.mjs";
import { bytesOf, figure, median } from "./support/figures.mjs";

const BATCH = 500;
const WARM_UP = 20;
/* server-memory reads and writes its whole file with each call */
const MEMORY_TURNS = 1000;
const MAX_MS = 180_000; /* for one engine */

const [folder, packages] = process.argv.slice(2);
const lines = (name) => fs.readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean);
const texts = lines("turns.txt");
const questions = lines("questions.txt");
const floats = (name) => {
  const bytes = fs.readFileSync(path.join(folder, name));
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
};
const vectors = floats("turns.f32");
const asked = floats("questions.f32");
const dim = vectors.length / texts.length;
const vectorOf = (all, i) => all.subarray(i * dim, (i + 1) * dim);
const need = (name) => createRequire(path.join(packages, name, "here.js"));

async function clewItself(place) {
  const server = await startServer({ data: place, env: { CLEW_CAPTURE_OBSERVE: "false" } });
  const api = server.api();
  const chat = isOk(await api.post("/api/v1/chats", { user_id: "ada" }), 201);
  isOk(await api.post("/api/v1/recall", { query: "budget", fast: true })); /* from here on turns are indexed at once */
  return {
    add: async (from, to) => isOk(await api.post("/api/v1/turns", { turns: texts.slice(from, to).map((content) =>
      ({ user_id: "ada", chat_id: chat.id, role: "user", content })) }), 201),
    ask: async (i) => isOk(await api.post("/api/v1/recall", { query: questions[i], user_id: "ada", fast: true, limit: 10 })),
    close: () => server.stop(),
  };
}

function usearch(place) {
  const { Index, MetricKind } = need("usearch")("usearch");
  const index = new Index({ dimensions: dim, metric: MetricKind.Cos });
  return {
    add: (from, to) => index.add(BigUint64Array.from({ length: to - from }, (_, i) => BigInt(from + i)),
      vectors.subarray(from * dim, to * dim), 1),
    ask: (i) => index.search(vectorOf(asked, i), 10, 1),
    close: () => index.save(path.join(place, "index.usearch")),
  };
}

async function lancedb(place) {
  const { connect } = need("lancedb")("@lancedb/lancedb");
  const db = await connect(place);
  let table;
  return {
    async add(from, to) {
      const rows = texts.slice(from, to).map((text, i) => ({ id: from + i, text, vector: [...vectorOf(vectors, from + i)] }));
      if (table) await table.add(rows);
      else table = await db.createTable("turns", rows);
    },
    ask: (i) => table.vectorSearch(vectorOf(asked, i)).distanceType("cosine").limit(10).select(["id", "_distance"]).toArray(),
    close: () => table.close(),
  };
}

async function serverMemory(place) {
  const program = path.join(packages, "server-memory/node_modules/@modelcontextprotocol/server-memory/dist/index.js");
  fs.accessSync(program);
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, MEMORY_FILE_PATH: path.join(place, "memory.jsonl") } });
  const waiting = new Map();
  let last = 0;
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
  });
  const tell = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const call = async (method, params) => {
    const answer = await new Promise((resolve) => {
      waiting.set(++last, resolve);
      tell({ id: last, method, params });
    });
    if (answer.error || answer.result?.isError) throw new Error(JSON.stringify(answer).slice(0, 300));
  };
  await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  tell({ method: "notifications/initialized" });
  const tool = (name, given) => call("tools/call", { name, arguments: given });
  return {
    add: (from, to) => tool("create_entities", { entities: texts.slice(from, to).map((text, i) =>
      ({ name: `turn ${from + i}`, entityType: "turn", observations: [text] })) }),
    /* it looks for the whole text it is given: the longest word */
    ask: (i) => tool("search_nodes", { query: questions[i].split(" ").sort((a, b) => b.length - a.length)[0] }),
    close: () => child.kill(),
  };
}

const engines = [
  ["clew, log alone, over HTTP", clewItself, texts.length],
  ["usearch, vectors alone, in process, saved at the end", usearch, texts.length],
  ["LanceDB, no index, in process", lancedb, texts.length],
  ["server-memory over stdio, a word", serverMemory, Math.min(MEMORY_TURNS, texts.length)],
];

async function measure(name, open, count) {
  const place = tempFolder();
  const engine = await open(place);
  try {
    let spent = 0;
    for (let from = 0; from < count; from += BATCH) {
      const start = performance.now();
      await engine.add(from, Math.min(from + BATCH, count));
      spent += performance.now() - start;
    }
    const times = [];
    for (let i = 0; i < questions.length; i++) {
      const start = performance.now();
      await engine.ask(i);
      if (i >= WARM_UP) times.push(performance.now() - start);
    }
    await engine.close();
    const size = `${count.toLocaleString("en-US")} turns`;
    figure(`${name}: turns a second, ${size}`, count / spent * 1000, "/s");
    figure(`${name}: a question, p50, ${size}`, median(times), "ms");
    figure(`${name}: bytes a turn, ${size}`, bytesOf(place) / count, "bytes");
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

for (const [name, open, count] of engines) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${MAX_MS / 1000} s`)), MAX_MS);
  });
  try {
    await Promise.race([measure(name, open, count), late]);
  } catch (error) {
    console.log(`${name}: left out: ${error.message.split("\n")[0].slice(0, 160)}`);
  }
  clearTimeout(timer);
}
process.exit(0); /* engines may hold threads */
