/* SPDX-License-Identifier: Apache-2.0 */
/*
 * everything.mjs - clients that do every kind of write, and what they were
 * promised.
 *
 * Turns alone, in batches (read before the call returns, or later by the task),
 * again, and forgotten; forks; thoughts, refined and consolidated; corrections;
 * chats summed up and closed; files that a process of its own imports. What is
 * done to a key (an external id) is a history (history.mjs). settle() then
 * compares an export of the store with all of it.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";

import { Histories } from "./history.mjs";
import { bin, cleanEnv, client } from "./server.mjs";

const said = [
  "We decided to fly to Lisbon with Wanda Quill.", "My sister is called Greta.",
  "I need to fix the login page.", "That worked, the login page is fixed now.",
  "What's the weather in New York?", "I prefer tea to coffee in the morning.",
];
const acts = ["question", "commit", "accept"];

/* The answer; undefined: nobody knows what happened; null: nothing did. */
async function ask(call) {
  try {
    const answer = await call();
    return answer.status === 503 ? undefined : answer;
  } catch (error) {
    return error.cause?.code === "ECONNREFUSED" ? null : undefined;
  }
}

/* An export of another program with `n` questions and answers. */
function chatgpt(name, n) {
  const nodes = [["root", { id: "root", parent: null, children: [], message: null }]];
  let parent = "root";
  for (let i = 0; i < n; i++) {
    const id = `${name}-${i}`;
    nodes.at(-1)[1].children.push(id);
    nodes.push([id, { id, parent, children: [], message: {
      id, author: { role: i % 2 ? "assistant" : "user", metadata: {} },
      create_time: 1700000000 + i, weight: 1, metadata: {},
      content: { content_type: "text", parts: [`imported ${id}: ${said[i % said.length]}`] } } }]);
    parent = id;
  }
  return [{ id: name, conversation_id: name, title: name, create_time: 1700000000,
    update_time: 1700000099, current_node: parent, mapping: Object.fromEntries(nodes) }];
}

export class Everything {
  histories = new Histories();
  batches = []; /* lists of keys that stand or fall together */
  forks = []; /* {id, parent} */
  thoughts = []; /* {id, sources} */
  corrections = []; /* {text, act} */
  imports = []; /* {name, n, isDone} */
  counts = {};
  refusals = []; /* answers that nobody should get */
  acknowledged = 0;
  isOver = false;
  isResting = false; /* nobody begins anything */

  /* `servers`: the processes, each {url} or null while it is dead. */
  constructor(random, servers, where) {
    this.random = random;
    this.servers = servers;
    this.where = where; /* {data, store} for programs of their own */
    this.contested = 0; /* which keys clients meet at */
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  /* Some process's interface; null if none lives. */
  api() {
    const living = this.servers.filter(Boolean);
    return living.length > 0 ? client(this.pick(living).url) : null;
  }

  /* Count an answer that was a yes; note one that was neither yes nor wait. */
  note(kind, answer, ...fine) {
    if (!answer) return false;
    if (answer.status < 300) {
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
      this.acknowledged++;
      return true;
    }
    if (!fine.includes(answer.status)) {
      this.refusals.push(`${kind}: ${answer.status} ${answer.text}`);
    }
    return false;
  }

  /* The same key, the same words. */
  turnOf(user, key) {
    const sum = [...key].reduce((n, c) => n + c.charCodeAt(0), 0);
    return { user_id: user, role: "user", channel: "sms", external_id: key,
      content: `${key}: ${said[sum % said.length]}` };
  }

  async put(api, user, key) {
    return this.histories.note(key, "put", async () => {
      const begin = performance.now();
      const answer = await ask(() => api.post("/api/v1/turns", this.turnOf(user, key)));
      if (!answer) return answer;
      /* on its way while its key was forgotten: it is not stored */
      const isOvertaken = this.histories.has(key, "forget", begin);
      if (!this.note("turn", answer, ...(isOvertaken ? [409] : []))) return null;
      const { id, chat_id, session_id, seq } = answer.body.turn;
      return { id, isNew: answer.status === 201,
        chat: { id: chat_id, seq, session: session_id } };
    });
  }

  async get(api, key) {
    return this.histories.note(key, "get", async () => {
      const answer = await ask(() => api.get(
        `/api/v1/turns?external_id=${encodeURIComponent(key)}`));
      if (answer?.status !== 200) return null; /* it changes nothing */
      return { id: answer.body.items[0]?.id ?? null };
    });
  }

  async forget(api, key) {
    return this.histories.note(key, "forget", async () => {
      const answer = await ask(() => api.post("/api/v1/forget", { external_ids: [key] }));
      if (!answer) return answer;
      if (answer.status === 404) return { isGone: false };
      return this.note("forget", answer) ? { isGone: true } : null;
    });
  }

  async batch(api, user, name) {
    const keys = [...Array(2 + Math.floor(this.random() * 10)).keys()].map((i) => `${name}/${i}`);
    this.batches.push(keys);
    const answer = await ask(() => api.post("/api/v1/turns",
      { turns: keys.map((key) => this.turnOf(user, key)) }));
    if (!this.note("batch", answer)) return;
    for (const [i, key] of keys.entries()) {
      const { id } = answer.body.items[i].turn;
      await this.histories.note(key, "put", async () => ({ id, isNew: true }));
    }
  }

  async fork(api, chat) {
    const answer = await ask(() => api.post(`/api/v1/chats/${chat.id}/fork`,
      { at_seq: chat.seq }));
    /* the turn it would leave at may be forgotten by now */
    if (this.note("fork", answer, 400, 404)) {
      this.forks.push({ id: answer.body.id, parent: chat.id });
    }
  }

  async think(api, name) {
    const kind = this.thoughts.length < 2 ? "thought"
      : this.pick(["thought", "refine", "consolidate"]);
    const sources = kind === "refine" ? [this.pick(this.thoughts).id]
      : kind === "consolidate" ? [...new Set([this.pick(this.thoughts).id,
        this.pick(this.thoughts).id])] : [];
    if (kind === "consolidate" && sources.length < 2) return;
    const body = { agent_id: "agent", agent_name: "Agent",
      prompt: `The agent monitor ${name} must check both the status and the role of pane ${name}.` };
    if (kind === "refine") [body.refines] = sources;
    if (kind === "consolidate") body.consolidates = sources;
    const answer = await ask(() => api.post("/api/v1/memory", body));
    if (this.note(kind, answer) && answer.body.result.thought_id) {
      this.thoughts.push({ id: answer.body.result.thought_id, sources });
    }
  }

  async correct(api, name) {
    const text = `the boiler ${name} in the cellar, the old one`;
    const act = this.pick(acts);
    const answer = await ask(() => api.post("/api/v1/analyse/feedback", { text, act }));
    if (this.note("feedback", answer)) this.corrections.push({ text, act });
  }

  /* End a session, sum a chat up, or close it. */
  async end(api, chat) {
    const [kind, target] = this.pick([["session", `/api/v1/sessions/${chat.session}/end`],
      ["compact", `/api/v1/chats/${chat.id}/compact`], ["close", `/api/v1/chats/${chat.id}/close`]]);
    this.note(kind, await ask(() => api.post(target, {})), 400, 404, 409);
  }

  /* One thing after another as one user, until it is over. */
  async live(user) {
    const own = []; /* keys */
    let chat = null;
    for (let n = 0; !this.isOver; n++) {
      const name = `${user}/${n}`;
      const dice = this.random();
      const api = this.api();
      if (!api || this.isResting) {
        await new Promise((resolve) => setTimeout(resolve, 5)); /* all are dead */
      } else if (dice < 0.3 || !chat) {
        const told = await this.put(api, user, name);
        own.push(name);
        chat = told?.chat ?? chat;
      } else if (dice < 0.4) await this.batch(api, user, name);
      else if (dice < 0.45) await this.put(api, user, this.pick(own.slice(-5)));
      else if (dice < 0.55) await this.get(api, this.pick(own.slice(-5)));
      else if (dice < 0.555) await this.forget(api, this.pick(own.slice(-5)));
      else if (dice < 0.68) await this.contest(api);
      else if (dice < 0.75) await this.fork(api, chat);
      else if (dice < 0.87) await this.think(api, name);
      else if (dice < 0.93) await this.correct(api, name);
      else await this.end(api, chat);
    }
  }

  /* Several meet at one key. After a dozen times it is left alone. */
  async contest(api) {
    const key = `contested/${Math.floor(this.contested++ / 12)}`;
    const kind = this.pick(["put", "put", "put", "get", "get", "get", "get", "forget"]);
    /* one user's, so that it is one key */
    if (kind === "put") await this.put(api, "everybody", key);
    else await this[kind](api, key);
  }

  /* Import one file after another with a process of its own. */
  async bring(folder) {
    for (let n = 0; !this.isOver; n++) {
      while (this.isResting) await new Promise((resolve) => setTimeout(resolve, 20));
      const entry = { name: `file${n}`, n: 12, isDone: false };
      const file = path.join(folder, entry.name);
      fs.writeFileSync(file, JSON.stringify(chatgpt(entry.name, entry.n)));
      this.imports.push(entry);
      const where = ["--data", this.where.data];
      if (this.where.store) where.push("--store", this.where.store);
      this.importer = spawn(bin, ["import", file, "--user", `reader${n % 4}`, ...where],
        { env: cleanEnv(folder), stdio: ["ignore", "ignore", "pipe"] });
      let words = "";
      this.importer.stderr.on("data", (part) => { words += part; });
      const [code, signal] = await once(this.importer, "exit");
      entry.isDone = code === 0;
      if (entry.isDone) this.counts.import = (this.counts.import ?? 0) + 1;
      /* 11, 13: the store was held up, by the dead for instance */
      else if (!signal && code !== 11 && code !== 13) this.refusals.push(`import: ${code} ${words}`);
      await new Promise((resolve) => setTimeout(resolve, 3000 * this.random()));
    }
  }

  /* Compare what was promised with `rows`, an export of the store. */
  settle(rows) {
    const of = (type) => rows.filter((row) => row.type === type);
    const turns = of("turn");
    const byKey = new Map(turns.filter((row) => row.external_id)
      .map((row) => [row.external_id, row.id]));
    assert.equal(byKey.size, turns.filter((row) => row.external_id).length, "no key is there twice");
    for (const [key, list] of this.histories.keys) {
      list.push({ kind: "get", begin: performance.now(), end: performance.now(),
        answer: { id: byKey.get(key) ?? null } });
    }
    const wrong = this.histories.wrong();
    assert.equal(wrong.length, 0,
      `every key's history can be: ${JSON.stringify(wrong.slice(0, 3))}`);
    for (const keys of this.batches) {
      const there = keys.filter((key) => byKey.has(key)).length;
      assert.ok(there === 0 || there === keys.length, "a batch is whole");
    }
    const parents = new Map(of("chat").map((row) => [row.id, row.parent_id]));
    assert.deepEqual(this.forks.filter((fork) => parents.get(fork.id) !== fork.parent), [],
      "every fork is there, and hangs where it should");
    const memories = new Set(of("memory").map((row) => row.id));
    const edges = new Set(of("memory_source").map((row) => `${row.memory_id} ${row.source_id}`));
    assert.deepEqual(this.thoughts.filter(({ id, sources }) => !memories.has(id)
      || sources.some((source) => !edges.has(`${id} ${source}`))), [],
    "every thought is there, with what it came from");
    const brought = turns.filter((row) => /^imported /.test(row.text));
    for (const entry of this.imports) {
      const mine = brought.filter((row) => row.text.startsWith(`imported ${entry.name}-`));
      assert.equal(new Set(mine.map((row) => row.text)).size, mine.length, "nothing is imported twice");
      if (entry.isDone) assert.equal(mine.length, entry.n, `${entry.name} is there`);
    }
    assert.deepEqual(this.refusals.slice(0, 5), [], "nobody was refused without a reason");
  }

  /* Each correction holds. */
  async settleCorrections(api, most = 200) {
    for (const { text, act } of this.corrections.slice(-most)) {
      const { body } = await api.post("/api/v1/analyse", { text });
      assert.equal(body.act, act, text);
    }
  }
}
