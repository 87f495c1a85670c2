#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask-eval.mjs - are questions answered rightly, with right citations, and
 * declined where nothing was said?
 *
 *   bench/ask-eval.mjs --worlds SET.json --tape FILE [--data FOLDER] [--missing FILE] [--show]
 *
 * A hundred questions of a set of worlds (a quarter of them without an answer),
 * always the same, are put to POST /api/v1/ask; what the model answers comes
 * from a tape (tools/llm-tape.mjs), by the very prompt. The worlds are stored
 * first, unless FOLDER holds them (external ids "USER-run/TURN").
 *
 *   right     every group of the gold's words is in the supported sentences, and
 *             one of them cites a turn that the gold names, or one beside it
 *   declined  nothing is claimed: no sentence
 * Where no passage that was shown is such a turn recall is to blame: those
 * count as wrong and are told apart. A prompt that is not on the tape is
 * counted as missed. CLEW_BIN names the program.
 */
import { spawn } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { startPlayer } from "../tools/llm-tape.mjs";

const N_PRESENT = 75;
const N_ABSENT = 25;
const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CLEW_BIN ?? path.join(here, "../build/clew");

function optionsOf(words) {
  const out = { show: false };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--show") out.show = true;
    else if (/^--(worlds|tape|data|missing)$/.test(words[i])) out[words[i].slice(2)] = words[++i];
    else throw new Error(`what is "${words[i]}"?`);
  }
  if (!out.worlds || !out.tape) throw new Error("--worlds and --tape are needed");
  return out;
}

/* By a digest of the question: no order of the file shows in the choice. */
export function choose(worlds) {
  const all = worlds.flatMap((world) => world.gold.questions.map((question) => ({
    world, question, order: crypto.createHash("sha256")
      .update(`${world.id} ${question.q}`).digest("hex") })));
  all.sort((a, b) => (a.order < b.order ? -1 : 1));
  const isAbsent = (one) => one.question.kind === "absent";
  return [...all.filter((one) => !isAbsent(one)).slice(0, N_PRESENT),
    ...all.filter(isAbsent).slice(0, N_ABSENT)];
}

async function startServer(data, settings) {
  const child = spawn(bin, ["serve", "--data", data, "--listen", "127.0.0.1:0"],
    { env: { PATH: process.env.PATH, HOME: data, LANG: "C.UTF-8", ...settings },
      stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (part) => {
      log += part;
      const line = /^listening on (\S+)$/m.exec(log);
      if (line) resolve(line[1]);
    });
    child.once("exit", () => reject(new Error(log)));
  });
  return { url, stop: () => new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill();
  }) };
}

const client = (url) => async (method, target, body) => {
  const answer = await fetch(url + target, { method,
    headers: { "content-type": "application/json" },
    body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const userOf = (world) => `${world.user_id}-run`;

/* Each turn in the order of time, each chat its own. */
async function fill(call, worlds) {
  for (const world of worlds) {
    const chats = new Map();
    const turns = world.chats.flatMap((chat) => chat.turns.map((turn) => ({ chat, turn })));
    turns.sort((a, b) => (a.turn.at < b.turn.at ? -1 : 1));
    for (const { chat, turn } of turns) {
      if (!chats.has(chat.id)) {
        chats.set(chat.id, (await call("POST", "/api/v1/chats",
          { user_id: userOf(world), channel: chat.channel })).id);
      }
      await call("POST", "/api/v1/turns", { user_id: userOf(world), chat_id: chats.get(chat.id),
        channel: chat.channel, role: turn.role, name: turn.name, content: turn.text,
        created_at: turn.at, external_id: `${userOf(world)}/${turn.id}` });
    }
  }
}

/* Ids of the turns that answer, and of those beside them. */
async function goldTurns(call, world, names) {
  const out = new Set();
  for (const chat of world.chats) {
    const ids = chat.turns.map((turn) => turn.id);
    for (const [i, id] of ids.entries()) {
      if (![ids[i - 1], id, ids[i + 1]].some((one) => names.includes(one))) continue;
      const { items } = await call("GET", `/api/v1/turns?external_id=${
        encodeURIComponent(`${userOf(world)}/${id}`)}`);
      for (const item of items) out.add(item.id);
    }
  }
  return out;
}

const holds = (text, groups) => groups.every((group) =>
  group.some((word) => text.toLowerCase().includes(word.toLowerCase())));

async function main() {
  const options = optionsOf(process.argv.slice(2));
  const { worlds } = JSON.parse(fs.readFileSync(options.worlds, "utf8"));
  const player = await startPlayer(options);
  const data = options.data ?? fs.mkdtempSync(path.join(os.tmpdir(), "clew-ask-"));
  const server = await startServer(data, { CLEW_LLM_URL: `${player.url}/v1`,
    CLEW_LLM_MODEL: "tape", CLEW_LLM_INTENT: "false", CLEW_LLM_DAILY_TOKENS: "1000000000",
    /* by the clock nothing would be the same twice */
    CLEW_RECALL_READ_MS: "10000" });
  const call = client(server.url);
  const sum = { present: 0, right: 0, words_only: 0, not_found: 0, absent: 0, declined: 0,
    unsupported: 0, by_model: 0 };
  try {
    if (!options.data) await fill(call, worlds);
    for (const { world, question } of choose(worlds)) {
      const got = await call("POST", "/api/v1/ask",
        { query: question.q, user_id: userOf(world), at: question.at });
      const fair = got.sentences.filter((one) => one.supported);
      sum.by_model += got.by === "model";
      sum.unsupported += got.sentences.length - fair.length;
      let verdict;
      if (question.kind === "absent") {
        sum.absent++;
        verdict = got.sentences.length === 0 ? "declined" : "claimed";
        sum.declined += verdict === "declined";
      } else {
        const gold = await goldTurns(call, world, question.turns);
        const isSaid = holds(fair.map((one) => one.text).join(" "), question.answer);
        const isCited = fair.some((one) => one.cites.some((cite) => gold.has(cite.turn_id)));
        const isShown = got.sources.some((source) => gold.has(source.turn_id));
        sum.present++;
        verdict = isSaid && isCited ? "right" : isShown ? "wrong" : "not found";
        sum.right += verdict === "right";
        sum.words_only += isSaid && !isCited;
        sum.not_found += verdict === "not found";
      }
      if (options.show) {
        process.stdout.write(`${world.id} ${question.kind} ${verdict}: ${question.q}\n    ${
          got.by} ${got.reason ?? ""} ${got.text}\n`);
      }
    }
  } finally {
    await server.stop();
    await player.stop();
    if (!options.data) fs.rmSync(data, { recursive: true, force: true });
  }
  process.stdout.write(`${JSON.stringify({ ...sum, played: player.played, missed: player.missed })}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
