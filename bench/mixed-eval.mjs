#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed-eval.mjs - does a context hold what is needed where one person talked
 * about everything?
 *
 *   bench/mixed-eval.mjs --worlds SET.json [--lang en] [--budget 1200] [--show]
 *
 * The talks of all worlds are stored as one user's, in the order of their
 * times; each question is then the message of a new chat.
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
  const out = { lang: "en", budget: "1200", show: false };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--show") out.show = true;
    else if (/^--(worlds|lang|budget)$/.test(words[i])) out[words[i].slice(2)] = words[++i];
    else throw new Error(`what is "${words[i]}"?`);
  }
  if (!out.worlds) throw new Error("--worlds is needed");
  return out;
}

async function startServer(data) {
  const child = spawn(bin, ["serve", "--data", data, "--listen", "127.0.0.1:0"],
    { env: { PATH: process.env.PATH, HOME: data, LANG: "C.UTF-8" }, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for await (const piece of child.stdout) {
    said += piece;
    const found = said.match(/http:\/\/127\.0\.0\.1:\d+/);
    if (found) {
      child.stdout.resume();
      return { child, url: found[0] };
    }
  }
  throw new Error(`it did not start: ${said}`);
}

const options = optionsOf(process.argv.slice(2));
const worlds = JSON.parse(fs.readFileSync(options.worlds, "utf8")).worlds
  .filter((world) => world.lang === options.lang);
const data = fs.mkdtempSync(path.join(os.tmpdir(), "clew-mixed-"));
const { child, url } = await startServer(data);

async function call(method, at, body) {
  const answer = await fetch(`${url}/api/v1/${at}`, { method, body: body && JSON.stringify(body),
    headers: { "content-type": "application/json" } });
  const out = await answer.json();
  if (!answer.ok) throw new Error(`${at}: ${JSON.stringify(out)}`);
  return out;
}

/* Which world a chat is of. */
const worldOf = new Map();

async function tell() {
  const all = worlds.flatMap((world) => world.chats.flatMap((chat) =>
    chat.turns.map((turn, i) => ({ world, chat, turn, i }))));
  all.sort((a, b) => (a.turn.at < b.turn.at ? -1 : a.turn.at > b.turn.at ? 1 : a.i - b.i));
  const chats = new Map();
  for (const { world, chat, turn } of all) {
    const name = `${world.id}/${chat.id}`;
    if (!chats.has(name)) {
      const { id } = await call("POST", "chats", { user_id: USER, channel: chat.channel });
      chats.set(name, id);
      worldOf.set(id, world.id);
    }
    await call("POST", "turns", { user_id: USER, role: turn.role, content: turn.text, created_at: turn.at,
      chat_id: chats.get(name), channel: chat.channel, ...(turn.name ? { name: turn.name } : {}) });
  }
  while ((await (await fetch(`${url}/healthz`)).json()).reading.waiting) await pause(200);
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
  for (const world of worlds) {
    for (const question of world.gold.questions) {
      if (question.kind === "absent" || !question.answer) continue;
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
    }
  }
  console.log(JSON.stringify({ worlds: worlds.length, turns, questions: sum.questions,
    present: Number((sum.present / sum.questions).toFixed(4)),
    unrelated: Number((sum.other / sum.all).toFixed(4)) }));
} finally {
  child.kill("SIGKILL");
  fs.rmSync(data, { recursive: true, force: true });
}
