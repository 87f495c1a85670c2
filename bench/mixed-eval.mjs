#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed-eval.mjs - does a context hold what is needed where one person talked
 * about everything?
 *
 *   bench/mixed-eval.mjs --worlds SET.json [--lang en] [--budget 1200]
 *     [--keep FOLDER] [--questions N] [--seed S] [--show]
 *
 * The talks of all worlds are stored as one user's, in the order of their
 * times; each question is then the message of a new chat. Reading the turns
 * takes most of the time: with --keep the folder is filled once (and gone on
 * with if the filling was stopped) and asked again later. --questions asks so
 * many, drawn by the seed.
 *
 *   present    share of the contexts that hold a word of each group of the
 *              question's `answer`
 *   unrelated  share of the tokens that come from turns of another world; a
 *              section's tokens are dealt out among its sources alike
 * CLEW_BIN names the program.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CLEW_BIN ?? path.join(here, "../build/clew");
const USER = "everybody";

function optionsOf(words) {
  const out = { lang: "en", budget: "1200", seed: "1", show: false };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--show") out.show = true;
    else if (/^--(worlds|lang|budget|keep|questions|seed)$/.test(words[i])) out[words[i].slice(2)] = words[++i];
    else throw new Error(`what is "${words[i]}"?`);
  }
  if (!out.worlds) throw new Error("--worlds is needed");
  return out;
}

/* The same questions for the same seed: a small generator, and its draws. */
function drawn(list, count, seed) {
  let state = Number(seed) >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const left = [...list];
  const out = [];
  while (left.length && out.length < count) out.push(...left.splice(Math.floor(next() * left.length), 1));
  return out;
}

/* It says on standard error where it listens. */
async function startServer(data) {
  const child = spawn(bin, ["serve", "--data", data, "--listen", "127.0.0.1:0"],
    { env: { PATH: process.env.PATH, HOME: data, LANG: "C.UTF-8" }, stdio: ["ignore", "ignore", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (piece) => {
      const found = (said += piece).match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) resolve(found[0]);
    });
    child.once("exit", () => reject(new Error(`it did not start: ${said}`)));
  });
  return { child, url };
}

const options = optionsOf(process.argv.slice(2));
const worlds = JSON.parse(fs.readFileSync(options.worlds, "utf8")).worlds
  .filter((world) => world.lang === options.lang);
const data = options.keep ?? fs.mkdtempSync(path.join(os.tmpdir(), "clew-mixed-"));
fs.mkdirSync(data, { recursive: true });
const chatsFile = path.join(data, "mixed-chats.json");
const { child, url } = await startServer(data);

async function call(method, at, body) {
  const answer = await fetch(`${url}/api/v1/${at}`, { method, body: body && JSON.stringify(body),
    headers: { "content-type": "application/json" } });
  const out = await answer.json();
  if (!answer.ok) throw new Error(`${at}: ${JSON.stringify(out)}`);
  return out;
}

/* Which chat stands for which of a world, and which world a chat is of. */
const chats = new Map();
const worldOf = new Map();
const BATCH = 50;

function know(name, id) {
  chats.set(name, id);
  worldOf.set(id, name.split("/")[0]);
}

const say = (text) => process.stderr.write(`${text}\n`);

async function untilRead() {
  for (;;) {
    const { waiting } = (await (await fetch(`${url}/healthz`)).json()).reading;
    if (!waiting) return;
    say(`${waiting} turns to be read`);
    await pause(5000);
  }
}

async function tell() {
  const all = worlds.flatMap((world) => world.chats.flatMap((chat) =>
    chat.turns.map((turn, i) => ({ world, chat, turn, i }))));
  all.sort((a, b) => (a.turn.at < b.turn.at ? -1 : a.turn.at > b.turn.at ? 1 : a.i - b.i));
  const told = fs.existsSync(chatsFile);
  if (told) {
    for (const [name, id] of JSON.parse(fs.readFileSync(chatsFile, "utf8"))) know(name, id);
  }
  for (let at = 0; !told && at < all.length; at += BATCH) {
    const turns = [];
    for (const { world, chat, turn } of all.slice(at, at + BATCH)) {
      const name = `${world.id}/${chat.id}`;
      if (!chats.has(name)) know(name, (await call("POST", "chats", { user_id: USER, channel: chat.channel })).id);
      turns.push({ user_id: USER, role: turn.role, content: turn.text, created_at: turn.at,
        chat_id: chats.get(name), channel: chat.channel, ...(turn.name ? { name: turn.name } : {}) });
    }
    await call("POST", "turns", { turns });
  }
  if (!told) fs.writeFileSync(chatsFile, JSON.stringify([...chats]));
  await untilRead();
  return all.length;
}

const holds = (text, groups) => groups.every((group) =>
  group.some((word) => text.toLowerCase().includes(word.toLowerCase())));

/* Tokens of sources of another world, and of all that have a place. */
function dealt(context, world) {
  let other = 0;
  let all = 0;
  for (const section of context.sections) {
    for (const source of section.sources) {
      const from = worldOf.get(source.split(":")[0]);
      const tokens = section.tokens / section.sources.length;
      all += tokens;
      if (from && from !== world) other += tokens;
    }
  }
  return { other, all };
}

try {
  const turns = await tell();
  const sum = { questions: 0, present: 0, other: 0, all: 0 };
  const every = worlds.flatMap((world) => world.gold.questions
    .filter((question) => question.kind !== "absent" && question.answer)
    .map((question) => ({ world, question })));
  for (const { world, question } of drawn(every, Number(options.questions ?? every.length), options.seed)) {
    const { id } = await call("POST", "chats", { user_id: USER });
    const context = await call("POST", `chats/${id}/context`,
      { budget_tokens: Number(options.budget), message: question.q });
    const isThere = holds(context.text, question.answer);
    const { other, all } = dealt(context, world.id);
    sum.questions++;
    sum.present += isThere;
    sum.other += other;
    sum.all += all;
    if (options.show && !isThere) console.log(`${world.id} ${question.kind}: ${question.q}`);
    if (sum.questions % 20 === 0) say(`${sum.questions} asked, ${sum.present} present`);
  }
  console.log(JSON.stringify({ worlds: worlds.length, turns, questions: sum.questions,
    present: Number((sum.present / sum.questions).toFixed(4)),
    unrelated: Number((sum.other / sum.all).toFixed(4)) }));
} finally {
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
  if (!options.keep) fs.rmSync(data, { recursive: true, force: true });
}
