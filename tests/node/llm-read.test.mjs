/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm-read.test.mjs - a language model reads what is stored: estimated, asked
 * for, answered from a tape, interrupted, and never believed.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { startPlayer } from "../../tools/llm-tape.mjs";
import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

const note = (turn, quote, type = "fact") =>
  ({ turn, quote, about: "", type, hedged: false, updates: "" });
const answer = (notes, efforts = []) => ({ notes, efforts, wrong: [], not_efforts: [] });

/* Run clew on the server's store with these settings. */
async function run(server, settings, ...words) {
  const where = server.store ? ["--store", server.store] : [];
  const { stdout } = await promisify(execFile)(
    bin, [...words, "--data", server.data, ...where, "--json"],
    { env: cleanEnv(server.data, settings) });
  return JSON.parse(stdout);
}

const model = (url, more = {}) =>
  ({ CLEW_LLM_URL: `${url}/v1`, CLEW_LLM_MODEL: "taped", ...more });

onEachBackend("reading by a language model", (open) => {
  const folder = tempFolder();
  let server;
  let api;
  let chat;
  before(async () => {
    server = await open();
    api = server.api();
    chat = isOk(await api.post("/api/v1/chats", { user_id: "ada" }), 201).id;
    const turns = [
      ["user", "Well, Helena took over the sponsoring of the choir there."],
      ["assistant", "Noted."],
      ["user", "And so the venue of the concert moves to the old town hall."],
    ].map(([role, content], i) => ({
      user_id: "ada", chat_id: chat, role, content,
      created_at: `2026-03-0${i + 1}T10:00:00.000Z` }));
    isOk(await api.post("/api/v1/turns", { turns }), 201);
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  const kept = async (origin) => isOk(
    await api.get(`/api/v1/memories?user_id=ada&origin=${origin}`)).items;
  /* What was stored is read by the reader: the model comes after it. */
  const waitForReading = () => until("the reader comes to an end", async () =>
    !isOk(await api.get("/healthz")).reading?.waiting);

  async function estimate() {
    await waitForReading();
    return run(server, {}, "read", "--estimate");
  }

  test("says what it would cost, and what it would ask", async () => {
    const told = await estimate();
    assert.deepEqual([told.chats, told.turns, told.calls], [1, 3, 1]);
    assert.ok(told.input_tokens > 500 && told.output_tokens_most >= 1000);
    const file = path.join(folder, "requests.jsonl");
    await run(server, {}, "read", "--requests", file);
    const [line, rest] = fs.readFileSync(file, "utf8").split("\n");
    assert.equal(rest, "");
    const request = JSON.parse(line);
    assert.match(request.stretch, /^[0-9a-f]{16}$/);
    const prompt = JSON.parse(request.prompt);
    assert.deepEqual(prompt.turns.map((t) => t.turn), ["T1", "T2", "T3"]);
    assert.equal(prompt.stretch, request.stretch);
    assert.equal(request.schema.type, "object");
  });

  test("answers of a file are read as a model's, once, and can be replayed", async () => {
    const { stretch } = JSON.parse(fs.readFileSync(path.join(folder, "requests.jsonl"), "utf8"));
    const tape = path.join(folder, "answers.jsonl");
    fs.writeFileSync(tape, `${JSON.stringify({ stretch, answer: answer(
      [note("T1", "Helena took over the sponsoring of the choir"),
        note("T3", "the venue of the concert moves to the old town hall", "decision"),
        note("T3", "the venue moves to Paris in 2031"),
        note("T2", "Helena took over")],
      [{ effort: "new", turn: "T1", quote: "the choir is bankrupt", status: "open",
        end_turn: "", end_quote: "" }]) })}\n`);
    const player = await startPlayer({ tape });
    const told = await run(server, model(player.url), "read");
    assert.deepEqual([told.turns, told.stretches, told.refused, told.whole], [3, 1, 0, true]);
    assert.equal(told.dropped, 3);
    assert.equal(told.kept + told.known + told.refined, 2);
    const all = [...await kept("llm"), ...await kept("extracted")];
    /* what the model says is what the reader kept already; an effort beside it is none */
    const notes = all.filter((m) => m.type !== "effort");
    for (const words of [/Helena took over the sponsoring/, /old town hall/]) {
      assert.equal(notes.filter((m) => words.test(m.summary)).length, 1, String(words));
    }
    assert.ok(all.every((m) => !/Paris|bankrupt/.test(m.summary)));
    const again = await run(server, model(player.url), "read");
    assert.equal(again.stretches, 0);
    assert.equal(player.played, 1);
    await player.stop();
    /* no model is there any more */
    await server.clew("verify");
    await server.clew("rebuild");
    assert.equal((await kept("llm")).length + (await kept("extracted")).length, all.length);
    const { items } = isOk(await api.get("/api/v1/usage"));
    assert.deepEqual(items.map((u) => [u.purpose, u.calls]), [["read", 1]]);
    assert.match((await server.clew("usage")).stdout, /read +taped +1 /);
    const turns = isOk(await api.get(`/api/v1/chats/${chat}/turns`)).items;
    const last = turns.at(-1);
    /* each turn says to whom it was sent, a memory by the turn it rests on */
    for (const { id } of turns) {
      const [call, ...more] = isOk(await api.get(`/api/v1/traces/${id}`)).decisions.llm_calls;
      assert.deepEqual(more, []);
      assert.deepEqual([call.purpose, call.model, call.first_seq, call.last_seq],
        ["read", "taped", 1, 3]);
      assert.ok(call.input_tokens > 500 && call.output_tokens > 20, JSON.stringify(call));
      assert.ok(Math.abs(Date.now() - Date.parse(call.at)) < 600_000);
    }
    assert.match((await server.clew("why", last.id)).stdout,
      /taped, .*\("read"\): turns 1 to 3, \d+ tokens sent, \d+\s+answered/s);
    const rows = (await server.clew("export")).stdout.split("\n");
    assert.match(rows.find((row) => row.includes('"llm_answer"')), /"last_seq":3/);
    const trace = isOk(await api.get(`/api/v1/traces/${last.id}`)).decisions.llm_read;
    assert.equal(trace.model, "taped");
    assert.deepEqual(trace.dropped, { quote: 3 });
  });

  /* Each by one that answers so, whatever is asked. */
  const whole = (text) => JSON.stringify({
    choices: [{ message: { role: "assistant", content: text } }] });
  const liars = {
    "ten megabytes": (reply) => reply.end(whole("x".repeat(10 << 20))),
    silence: () => {},
    "half a reply": (reply) => {
      reply.writeHead(200, { "content-length": 5000 });
      reply.write('{"choices":[{"mess');
      setTimeout(() => reply.destroy(), 50);
    },
    "half an object": (reply) => reply.end(whole('{"notes":[{"turn":"T1","quo')),
    "too many requests": (reply) => {
      reply.writeHead(429, { "retry-after": "7" });
      reply.end("{}");
    },
    "a page": (reply) => reply.end("<html>It works!</html>"),
    "another's notes": (reply) => reply.end(whole(JSON.stringify({
      notes: [{ ...note("T1", "spare key is under the mat"), updates: "N000000" }],
      efforts: [{ effort: "E000000", turn: "", quote: "", status: "resolved",
        end_turn: "T1", end_quote: "spare key" }],
      wrong: ["N000000", chat], not_efforts: ["E000000"] }))),
  };

  for (const [name, lie] of Object.entries(liars)) {
    test(`nothing false is stored, nothing lost: ${name}`, { timeout: 600_000 }, async (t) => {
      const liar = http.createServer((request, reply) => {
        request.resume();
        request.on("end", () => lie(reply));
      });
      await new Promise((resolve) => { liar.listen(0, "127.0.0.1", resolve); });
      t.after(() => { liar.closeAllConnections(); liar.close(); });
      const settings = model(`http://127.0.0.1:${liar.address().port}`, { CLEW_LLM_TIMEOUT_MS: "500" });
      const own = isOk(await api.post("/api/v1/chats", { user_id: "eve" }), 201).id;
      isOk(await api.post("/api/v1/turns", {
        user_id: "eve", chat_id: own, role: "user", content: `Quite so, ${name}.` }), 201);
      const before = (await kept("llm")).length;
      const told = await run(server, settings, "read", "--user", "eve")
        .catch((error) => JSON.parse(error.stdout || "{}"));
      assert.equal(told.kept ?? 0, 0);
      assert.equal((await kept("llm")).length, before);
      const eves = isOk(await api.get("/api/v1/memories?user_id=eve&origin=llm")).items;
      assert.deepEqual(eves, []);
      await server.clew("verify");
    });
  }

  test("numbers of tokens without measure end no ledger", async (t) => {
    const liar = http.createServer((request, reply) => {
      request.resume();
      request.on("end", () => reply.end(`{"choices":[{"message":{"role":"assistant","content":${
        JSON.stringify(JSON.stringify(answer([note("T1", "the shed is painted blue")])))}}}],
        "usage":{"prompt_tokens":9223372036854775807,"completion_tokens":9000000000000000000}}`));
    });
    await new Promise((resolve) => { liar.listen(0, "127.0.0.1", resolve); });
    t.after(() => { liar.closeAllConnections(); liar.close(); });
    const settings = model(`http://127.0.0.1:${liar.address().port}`,
      { CLEW_LLM_INPUT_PRICE: "15", CLEW_LLM_DAILY_TOKENS: "1000000" });
    for (const name of ["fred", "gina", "hugo"]) { /* one after the other, the day's sum among them */
      const own = isOk(await api.post("/api/v1/chats", { user_id: name }), 201).id;
      isOk(await api.post("/api/v1/turns", { user_id: name, chat_id: own, role: "user",
        content: `Says ${name}: the shed is painted blue since Monday.` }), 201);
      await waitForReading();
      const told = await run(server, settings, "read", "--user", name);
      assert.deepEqual([told.stretches, told.refused], [1, 0], JSON.stringify(told));
    }
    const { items } = isOk(await api.get("/api/v1/usage"));
    for (const row of items) {
      assert.ok(row.input_tokens < 1e5 && row.output_tokens < 1e5 && row.cost < 10, JSON.stringify(row));
    }
    await server.clew("verify");
  });

  /* What a capable model really answered, in the people's own language. */
  test("recorded answers for a whole world are read and replayed", async () => {
    const world = JSON.parse(fs.readFileSync(
      new URL("../fixtures/llm/world-de.json", import.meta.url), "utf8"));
    const posts = [];
    for (const { channel, turns } of world.chats) {
      const { id } = isOk(await api.post("/api/v1/chats", { user_id: "timo", channel }), 201);
      for (const { at, role, name, text } of turns) {
        posts.push({ user_id: "timo", chat_id: id, channel, role, name,
          content: text, created_at: at });
      }
    }
    posts.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
    for (let i = 0; i < posts.length; i += 20) {
      isOk(await api.post("/api/v1/turns", { turns: posts.slice(i, i + 20) }), 201);
    }
    await waitForReading();
    const tape = path.join(folder, "world.jsonl");
    fs.writeFileSync(tape, world.answers.map((a) => `${JSON.stringify(a)}\n`).join(""));
    const player = await startPlayer({ tape });
    const told = await run(server, model(player.url), "read", "--user", "timo");
    await player.stop();
    assert.deepEqual([told.turns, told.stretches, told.refused, told.whole],
      [posts.length, world.answers.length, 0, true]);
    const items = world.answers.reduce(
      (sum, { answer: a }) => sum + a.notes.length + a.efforts.length, 0);
    assert.ok(told.dropped * 10 <= items, `${told.dropped} of ${items} dropped`);
    const memories = async () => isOk(await api.get(
      "/api/v1/memories?user_id=timo&limit=200")).items;
    const found = await memories();
    const effort = (words) => found.filter((m) => m.type === "effort" && words.test(m.summary));
    for (const [words, status, end] of [
      [/berichtsheft/i, "resolved", /unterschrieben/],
      [/FI bei Oma/, "resolved", /gefriertruhe/],
      [/simson/i, "abandoned", /gestorben/],
      [/Kaution 960/, "resolved", /9\.4\. raus/],
      [/ein bett/, "open", /^$/],
    ]) {
      const all = effort(words);
      assert.equal(all.length, 1, String(words));
      assert.equal(all[0].status, status, String(words));
      assert.match(all[0].resolution ?? "", end);
    }
    await server.clew("verify");
    await server.clew("rebuild"); /* nobody is asked */
    assert.deepEqual((await memories()).map((m) => [m.type, m.status, m.summary]).sort(),
      found.map((m) => [m.type, m.status, m.summary]).sort());
  });

  /* Whatever may ask a model, for two tenants side by side; each has a word of
   * its own in all it says, so that what was sent tells whose it is. */
  test("nothing of a tenant that forbids it is sent, for whatever purpose", async (t) => {
    const upstream = await startUpstream({ script: () => [{ text: JSON.stringify({
      act: "inform", confidence: 0.9, related: true, micro: "m", meso: "m", macro: "m",
      ...answer([]), chats: [] }) }] });
    t.after(() => upstream.stop());
    const settings = { ...model(upstream.url), CLEW_RECALL_READ_MS: "5000" };
    const both = await open({ env: settings, args: ["--upstream", `anthropic=${upstream.url}`] });
    const words = { closed: "Brinkmann", open: "Lindqvist" };
    const keys = {};
    for (const name of Object.keys(words)) keys[name] = await both.key(name);
    const calls = (name) => both.api(keys[name]);
    const closed = isOk(await calls("closed").get("/api/v1/tenant"));
    assert.deepEqual([closed.name, closed.llm], ["closed", "allowed"]);
    const told = await run(both, {}, "tenant", "--tenant", "closed", "--llm", "forbidden");
    assert.deepEqual([told.name, told.llm], ["closed", "forbidden"]);
    assert.equal(isOk(await calls("open").get("/api/v1/tenant")).llm, "allowed");
    assert.equal((await calls("open").patch("/api/v1/tenant", { llm: "maybe" })).status, 400);

    const chat = async (name, days, ...texts) => {
      const { items } = isOk(await calls(name).post("/api/v1/turns", { turns: texts.map(
        (content, i) => ({ user_id: "ada", role: "user", channel: "web", content,
          ...(days === null ? {} : { created_at: new Date(
            Date.UTC(2026, 2, 1 + days, 9, i)).toISOString() }) })) }), 201);
      return items[0].turn.chat_id;
    };
    const idle = async (name) => {
      for (const end = Date.now() + 60_000; ;) {
        const { items } = isOk(await calls(name).get("/api/v1/tasks?limit=200"));
        const waiting = items.filter((one) => !one.finished_at
          && ["intent.ask", "link.assess", "episode.compact"].includes(one.kind));
        if (waiting.length === 0) return;
        assert.ok(Date.now() < end, "tasks never end");
        await new Promise((resolve) => { setTimeout(resolve, 50); });
      }
    };
    for (const [name, word] of Object.entries(words)) {
      const first = await chat(name, 1, `The timber floor above the cellar of ${word} needs insulation`,
        `${word} wants cork boards between the joists of the timber floor`);
      await chat(name, 9, `How thick should the layer be for ${word}?`);
      isOk(await calls(name).post("/api/v1/analyse",
        { text: `The ${word} page with a spinner while it loads.` }));
      isOk(await calls(name).post(`/api/v1/chats/${first}/compact`));
      await idle(name);
      const got = isOk(await calls(name).post("/api/v1/ask",
        { query: `What does ${word} want between the joists?`, user_id: "ada" }));
      assert.ok(got.sources.length > 0);
      if (name === "closed") {
        assert.deepEqual([got.by, got.reason], ["passages", "LLM_FORBIDDEN"]);
        assert.match(got.text, /cork boards/);
      }
      /* a call of the caller's own passes, with or without what is known */
      const call = await calls(name).post("/v1/messages", { model: "m", max_tokens: 9,
        messages: [{ role: "user", content: "What is wanted between the joists?" }] },
      { "x-clew-user": "ada", "x-clew-inject": "on", "x-clew-key": keys[name] });
      assert.equal(call.status, 200, call.text);
      assert.equal(JSON.stringify(upstream.requests.at(-1).body).includes("cork boards"),
        name === "open");
    }
    const read = (name, ...more) => run(both, model(upstream.url), "read", "--tenant", name, ...more);
    assert.ok((await read("open")).stretches > 0);
    for (const more of [[], ["--requests", path.join(folder, "none.jsonl")]]) {
      await assert.rejects(read("closed", ...more), (error) => {
        assert.equal(error.code, 3);
        assert.match(error.stdout + error.stderr, /LLM_FORBIDDEN|forbids language models/);
        return true;
      });
    }
    assert.ok(!fs.existsSync(path.join(folder, "none.jsonl")));
    assert.ok((await read("closed", "--estimate")).calls > 0);
    for (const name of Object.keys(words)) {
      const child = execFile(bin, ["chat", "--data", both.data, "--tenant", name,
        ...(both.store ? ["--store", both.store] : [])], { env: cleanEnv(both.data, settings) });
      child.stdin.end(`Good evening from ${words[name]}\n/quit\n`);
      let out = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => { out += part; });
      await new Promise((resolve) => { child.on("close", resolve); });
      assert.equal(/forbids language models/.test(out), name === "closed", out);
    }

    const sent = upstream.requests.map(({ body }) => JSON.stringify(body));
    assert.deepEqual(sent.filter((text) => text.includes(words.closed)), []);
    const purposes = async (name) => isOk(await calls(name).get("/api/v1/usage")).items
      .filter((u) => u.calls > 0).map((u) => u.purpose).sort();
    assert.deepEqual(await purposes("open"), ["ask", "chat", "intent", "link", "read", "summary"]);
    assert.deepEqual(await purposes("closed"), []);
    for (const name of Object.keys(words)) {
      assert.deepEqual(isOk(await calls(name).get("/api/v1/tasks?status=failed")).items, []);
    }

    /* it travels with what was said, and another may change it */
    const rows = (await both.clew("export", "--tenant", "closed")).stdout;
    assert.match(rows.split("\n")[1], /"tenant_setting".*"forbidden"/);
    isOk(await calls("closed").patch("/api/v1/tenant", { llm: "allowed" }));
    assert.ok((await read("closed")).stretches > 0);
    const reader = both.api(await both.key("closed", "write"));
    assert.equal((await reader.patch("/api/v1/tenant", { llm: "forbidden" })).status, 403);
    await both.clew("verify");
  });
});
