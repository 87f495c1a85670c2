/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget-during.test.mjs - what was on its way when its user or its chat was
 * forgotten does not arrive: imports, uploads and turns that were under way.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { client, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let n = 0;
function file(text) {
  const name = path.join(folder, `export-${++n}.json`);
  fs.writeFileSync(name, text);
  return name;
}

/* Conversations as ChatGPT hands them out: [id, [texts], [texts of a second way on]]. */
function chatgpt(...chats) {
  return JSON.stringify(chats.map(([id, texts, others = []]) => {
    const mapping = { root: { id: "root", parent: null, children: [], message: null } };
    const add = (node, parent, text, i) => {
      mapping[node] = { id: node, parent, children: [], message: { id: node, create_time: 1700000000 + i, weight: 1,
        author: { role: "user", metadata: {} }, content: { content_type: "text", parts: [text] }, metadata: {} } };
      mapping[parent].children.push(node);
      return node;
    };
    const name = (way, i) => `${id}-${way}${i}`;
    texts.reduce((at, text, i) => add(name("m", i), at, text, i), "root");
    others.reduce((at, text, i) => add(name("o", i), at, text, 500 + i), name("m", 0));
    return { id, conversation_id: id, title: `Talk ${id}`, create_time: 1700000000, update_time: 1700000999,
      current_node: name("m", texts.length - 1), mapping };
  }));
}

const lines = (word, count) => Array.from({ length: count }, (_, i) => `${word} ${i}.`);

/*
 * A server between: `act` is called once, before the request for which `when`
 * holds is passed on.
 */
async function between(server, when, act) {
  let is_done = false;
  const door = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    if (!is_done && when(request, body.toString())) {
      is_done = true;
      await act();
    }
    const { host, connection, "content-length": length, ...headers } = request.headers;
    const answer = await fetch(server.url + request.url,
      { method: request.method, headers, body: request.method === "GET" ? undefined : body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(bytes);
  });
  await new Promise((done) => door.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${door.address().port}`,
    acted: () => is_done,
    stop: () => new Promise((done) => { door.close(done); door.closeAllConnections(); }),
  };
}

/* Send a request of which the body comes after `act`. */
async function slowly(server, key, where, body, headers, act) {
  const bytes = Buffer.from(body);
  const request = http.request(server.url + where, { method: "POST", headers:
    { authorization: `Bearer ${key}`, "content-length": bytes.length, expect: "100-continue", ...headers } });
  const answered = new Promise((done, fail) => {
    request.on("error", fail);
    request.on("response", async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      done({ status: response.statusCode, text: Buffer.concat(parts).toString() });
    });
  });
  const seen = new Promise((done) => request.on("continue", done)); /* the server has the headers */
  request.flushHeaders();
  await Promise.race([seen, answered]);
  await act();
  request.end(bytes);
  return answered;
}

onEachBackend("forgetting while it comes in", (open) => {
  let server;
  before(async () => {
    server = await open();
  });

  async function place(name) {
    const tenant = `${name}-${++n}`;
    const key = await server.key(tenant);
    const api = client(server.url, key);
    const forget = async (what) => isOk(await api.post("/api/v1/forget", what));
    const chats = async () => isOk(await api.get("/api/v1/chats?limit=100")).items;
    const all = async () => (await api.get("/api/v1/export")).text;
    /* `clew import`, with `act` before the request that `when` finds */
    const load = async (name, when, act, ...options) => {
      const door = await between(server, when, act);
      try {
        const run = await server.clew("import", name, "--url", door.url, "--key", key, "--json", ...options);
        assert.ok(door.acted());
        return JSON.parse(run.stdout);
      } finally {
        await door.stop();
      }
    };
    return { tenant, key, api, forget, chats, all, load };
  }

  const brings = (text) => (request, body) => request.url === "/api/v1/turns" && body.includes(text);

  test("of an import of the user's nothing is there at its end", async () => {
    const at = await place("import");
    const name = file(chatgpt(["c1", lines("Kolkrabe", 150)], ["c2", lines("Albatros", 20), lines("Eisvogel", 3)]));
    const done = await at.load(name, brings("Kolkrabe 120"), () => at.forget({ user_id: "anna" }), "--user", "anna");
    assert.deepEqual(await at.chats(), []);
    assert.doesNotMatch(await at.all(), /Kolkrabe|Albatros|Eisvogel|Talk c/);
    assert.deepEqual([done.added, done.forgotten], [100, 73]);
    const again = JSON.parse((await server.clew("import", name, "--tenant", at.tenant, "--user", "anna", "--json")).stdout);
    assert.deepEqual([again.added, again.forgotten], [0, 173], "it goes as what was there before does");
  });

  test("so it is where what was forgotten before is brought back", async () => {
    const at = await place("back");
    const name = file(chatgpt(["c1", lines("Kolkrabe", 150)]));
    await at.load(name, brings("Kolkrabe 120"), () => at.forget({ user_id: "anna" }), "--user", "anna", "--restore-forgotten");
    assert.doesNotMatch(await at.all(), /Kolkrabe/);
  });

  test("of a chat the rest stays out, what is of others comes in", async () => {
    const at = await place("chat");
    const name = file(chatgpt(["c1", lines("Kolkrabe", 150), lines("Eisvogel", 3)], ["c2", lines("Albatros", 20)]));
    const done = await at.load(name, brings("Kolkrabe 120"),
      async () => at.forget({ chat_id: (await at.chats())[0].id }), "--user", "anna");
    const text = await at.all();
    assert.doesNotMatch(text, /Kolkrabe|Eisvogel|Talk c1/);
    assert.match(text, /Albatros 19/);
    assert.deepEqual([done.added, done.forgotten], [120, 53]);
    assert.equal((await at.chats()).length, 1);
  });

  test("of another user all comes in", async () => {
    const at = await place("other");
    const name = file(chatgpt(["c1", lines("Kolkrabe", 150)]));
    const done = await at.load(name, brings("Kolkrabe 120"), () => at.forget({ user_id: "bea" }), "--user", "anna");
    assert.deepEqual([done.added, done.forgotten], [150, undefined]);
  });

  test("of clew's own export the user's rows stay out, others' come in", async () => {
    const from = await place("from");
    for (const user of ["anna", "bea"]) {
      const first = isOk(await from.api.post("/api/v1/turns", { user_id: user, role: "user", content: `Kolkrabe of ${user}.` }), 201);
      isOk(await from.api.post("/api/v1/memories", { user_id: user, summary: `Elster of ${user}.` }), 201);
      isOk(await from.api.post(`/api/v1/chats/${first.turn.chat_id}/fork`, { at_seq: 1, title: `Dohle of ${user}` }), 201);
      isOk(await from.api.post("/api/v1/turns", { user_id: "carl", role: "assistant", content: `Eisvogel of ${user}.`,
        chat_id: first.turn.chat_id }), 201);
    }
    const at = await place("own");
    await at.load(file(await from.all()), (request) => request.url === "/api/v1/import", () => at.forget({ user_id: "anna" }));
    const text = await at.all();
    assert.doesNotMatch(text, /of anna/);
    for (const word of ["Kolkrabe", "Elster", "Dohle", "Eisvogel"]) assert.match(text, new RegExp(`${word} of bea`));
  });

  test("of a file that is sent up while its user is forgotten nothing is stored", async () => {
    const at = await place("upload");
    const answer = await slowly(server, at.key, "/api/v1/import/file", chatgpt(["c1", lines("Kolkrabe", 150)]),
      { "content-type": "application/octet-stream", "x-clew-user": "anna" }, () => at.forget({ user_id: "anna" }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([JSON.parse(answer.text).added, JSON.parse(answer.text).forgotten], [0, 150]);
    assert.doesNotMatch(await at.all(), /Kolkrabe/);
  });

  test("turns that come in pieces meanwhile are refused, later ones are stored", async () => {
    const at = await place("turns");
    const turn = (content) => ({ user_id: "anna", role: "user", content, external_id: content });
    const json = { "content-type": "application/json" };
    const send = (body, act) => slowly(server, at.key, "/api/v1/turns", JSON.stringify(body), json, act);
    const forget = () => at.forget({ user_id: "anna" });
    assert.equal((await send(turn("Kolkrabe."), forget)).status, 409);
    const batch = { turns: [turn("Kolkrabe."), { ...turn("Dohle."), user_id: "bea" }] };
    assert.equal((await send(batch, forget)).status, 409);
    assert.doesNotMatch(await at.all(), /Kolkrabe|Dohle/);
    const part = await send({ ...batch, unless_forgotten: true }, forget);
    assert.equal(part.status, 201, part.text);
    assert.deepEqual(JSON.parse(part.text).forgotten, ["Kolkrabe."]);
    assert.equal((await at.api.post("/api/v1/turns", turn("Kolkrabe."))).status, 201);
  });

  /* The clock tells milliseconds, and all of this takes less: the answer comes when the forget's own is over. */
  test("however fast it goes, what comes before a forget is told from what comes after", async () => {
    const at = await place("fast");
    const note = (text) => ({ user_id: "anna", summary: text });
    for (let round = 0; round < 10; round++) {
      const late = await slowly(server, at.key, "/api/v1/memories", JSON.stringify(note("Kolkrabe.")),
        { "content-type": "application/json" }, () => at.forget({ user_id: "anna" }));
      assert.equal(late.status, 409, late.text);
      assert.equal((await at.api.post("/api/v1/memories", note(`Dohle ${round}.`))).status, 201);
    }
    const text = await at.all();
    assert.doesNotMatch(text, /Kolkrabe|Dohle 8/);
    assert.match(text, /Dohle 9/);
  });

  test("so it is with what is written by hand", async () => {
    const at = await place("hand");
    const posts = { "/api/v1/memories": { user_id: "anna", summary: "Kolkrabe." },
      "/api/v1/chats": { user_id: "anna", title: "Kolkrabe." }, "/api/v1/efforts": { user_id: "anna", goal: "Kolkrabe." } };
    for (const [where, body] of Object.entries(posts)) {
      const late = await slowly(server, at.key, where, JSON.stringify(body),
        { "content-type": "application/json" }, () => at.forget({ user_id: "anna" }));
      assert.equal(late.status, 409, where + late.text);
    }
    assert.doesNotMatch(await at.all(), /Kolkrabe/);
    for (const [where, body] of Object.entries(posts)) assert.equal((await at.api.post(where, body)).status, 201, where);
  });

  /* What agents say of notes. */
  const agent = { agent_id: "a", agent_name: "A", prompt: "Kolkrabe and Elster have been seen beside the same river." };

  test("so it is with what agents make of notes that go", async () => {
    const at = await place("thought");
    const note = async (user) => isOk(await at.api.post("/api/v1/memories", { user_id: user, summary: `Elster of ${user}.` }), 201).id;
    for (const [what, forget] of [["user", { user_id: "anna" }], ["note", null]]) {
      for (const of of [(id) => ({ refines: id }), (id, other) => ({ consolidates: [id, other] })]) {
        const [id, other] = [await note("anna"), await note("bea")];
        const late = await slowly(server, at.key, "/api/v1/memory", JSON.stringify({ ...agent, ...of(id, other) }),
          { "content-type": "application/json" }, () => at.forget(forget ?? { memory_ids: [id] }));
        assert.equal(late.status, 404, `${what}: ${late.text}`);
        assert.equal(JSON.parse(late.text).error.code, "THOUGHT_NOT_FOUND");
      }
    }
    assert.doesNotMatch(await at.all(), /Kolkrabe|of anna/);
  });

  test("what agents merged of several users' notes goes with each of them", async () => {
    const at = await place("merged");
    const note = async (user, summary) => isOk(await at.api.post("/api/v1/memories", { user_id: user, summary }), 201).id;
    const think = async (body) => isOk(await at.api.post("/api/v1/memory", { ...agent, ...body })).result.thought_id;
    const shared = await think({ prompt: "Dohlen are counted on the first day of each month in the park." });
    const [anna, bea] = [await note("anna", "Albatros of anna."), await note("bea", "Eisvogel of bea.")];
    const merged = await think({ consolidates: [anna, bea, shared] });
    await think({ refines: merged, prompt: "Kolkrabe and Elster were seen beside another river." });
    const before = file(await at.all());
    const dry = await at.forget({ user_id: "anna", dry_run: true });
    assert.equal(dry.forgotten.memories, 3);
    assert.equal((await at.forget({ user_id: "anna" })).forgotten.memories, 3);
    const left = await at.all();
    assert.doesNotMatch(left, /Kolkrabe|Albatros/);
    assert.match(left, /Eisvogel/);
    assert.match(left, /Dohlen/);
    assert.equal(isOk(await at.api.get(`/api/v1/memories/${bea}`)).superseded, false, "what was merged holds again");
    await server.clew("import", before, "--tenant", at.tenant);
    assert.doesNotMatch(await at.all(), /Kolkrabe|Albatros/);
    /* of one's own refined notes nothing stays either */
    const hers = await note("carl", "Albatros of carl.");
    await think({ refines: hers });
    assert.equal((await at.forget({ user_id: "carl" })).forgotten.memories, 2);
  });

  test("of clew's own export, what was merged of a user's notes stays out, too", async () => {
    const from = await place("from");
    const note = async (user) => isOk(await from.api.post("/api/v1/memories", { user_id: user, summary: `Elster of ${user}.` }), 201).id;
    isOk(await from.api.post("/api/v1/memory", { ...agent, consolidates: [await note("anna"), await note("bea")] }));
    const at = await place("own");
    await at.load(file(await from.all()), (request) => request.url === "/api/v1/import", () => at.forget({ user_id: "anna" }));
    const text = await at.all();
    assert.doesNotMatch(text, /Kolkrabe|of anna/);
    assert.match(text, /Elster of bea/);
  });

  test("so it is with a call", async () => {
    const at = await place("call");
    const call = { model: "m", user_id: "anna", messages: [{ role: "user", content: "Kolkrabe." }],
      response: { role: "assistant", content: "Yes." } };
    const late = await slowly(server, at.key, "/api/v1/link", JSON.stringify(call),
      { "content-type": "application/json" }, () => at.forget({ user_id: "anna" }));
    assert.equal(late.status, 409, late.text);
    assert.doesNotMatch(await at.all(), /Kolkrabe/);
    assert.equal((await at.api.post("/api/v1/link", call)).status, 200);
  });
});
