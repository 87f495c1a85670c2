/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget-import.test.mjs - what was forgotten stays forgotten when the export
 * of another program that it came from is imported again.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, client, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let n = 0;
function file(text) {
  const name = path.join(folder, `export-${++n}`);
  fs.writeFileSync(name, typeof text === "string" ? text : JSON.stringify(text));
  return name;
}

/* [id, parent, text]: users and assistants take turns by the first letter. */
const roleOf = (id) => (id.startsWith("a") ? "assistant" : "user");

function chatgpt(id, title, said, current = said.at(-1)[0]) {
  const mapping = { root: { id: "root", parent: null, children: [], message: null } };
  said.forEach(([node, parent, text], i) => {
    mapping[node] = { id: node, parent: parent ?? "root", children: [], message: {
      id: node, author: { role: roleOf(node), metadata: {} }, create_time: 1700000000 + i,
      content: { content_type: "text", parts: [text] }, weight: 1, metadata: {} } };
    mapping[parent ?? "root"].children.push(node);
  });
  return file([{ id, conversation_id: id, title, create_time: 1700000000, update_time: 1700000999,
    current_node: current, mapping }]);
}

function claude(id, title, said) {
  return file([{ uuid: id, name: title, created_at: "2025-01-01T10:00:00Z", updated_at: "2025-01-01T11:00:00Z",
    chat_messages: said.map(([uuid, parent, text], i) => ({ uuid, text, parent_message_uuid: parent ?? null,
      sender: roleOf(uuid) === "user" ? "human" : "assistant", content: [{ type: "text", text }],
      created_at: `2025-01-01T10:00:${String(i).padStart(2, "0")}Z` })) }]);
}

const line = (session, [uuid, parent, text], i) => `${JSON.stringify({ parentUuid: parent ?? null, isSidechain: false,
  userType: "external", cwd: "/home/x", sessionId: session, version: "1.0.0", type: roleOf(uuid), uuid,
  timestamp: `2025-06-01T10:00:${String(i).padStart(2, "0")}.000Z`,
  message: { role: roleOf(uuid), content: [{ type: "text", text }] } })}\n`;
const code = (id, title, said) => file(said.map((one, i) => line(id, one, i)).join(""));

const kinds = { chatgpt, "claude.ai": claude, "Claude Code": code };

const talk = [["q1", null, "Where do I hide the key?"], ["a1", "q1", "Below the zinnia pot."],
  ["q2", "a1", "And the spare one?"], ["a2", "q2", "With the neighbours."]];
const shed = [["q1", null, "Who painted the shed?"], ["a1", "q1", "Ines did, in May."]];
const more = [...talk, ["q3", "a2", "Who lives there?"], ["a3", "q3", "The Hallorans."]];

onEachBackend("forgetting what was imported", (open) => {
  let server;
  before(async () => {
    server = await open();
  });

  async function place(name) {
    const tenant = `${name}-${++n}`;
    const key = await server.key(tenant);
    const api = client(server.url, key);
    const load = async (export_, ...options) =>
      JSON.parse((await server.clew("import", export_, "--tenant", tenant, "--json", ...options)).stdout);
    const chats = async () => isOk(await api.get("/api/v1/chats?limit=100")).items;
    const turns = async (chat) => isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=100`)).items;
    const words = async () => {
      const all = [];
      for (const chat of await chats()) all.push((await turns(chat)).map((turn) => turn.text));
      return all.sort();
    };
    const forget = async (what) => isOk(await api.post("/api/v1/forget", what));
    const turn = async (text) => {
      for (const chat of await chats()) {
        const found = (await turns(chat)).find((one) => one.text === text);
        if (found) return found;
      }
      return null;
    };
    return { tenant, key, api, load, chats, turns, words, forget, turn };
  }

  for (const [kind, make] of Object.entries(kinds)) {
    test(`${kind}: a turn stays forgotten, what is new goes behind the one before`, async () => {
      const at = await place("turn");
      await at.load(make("c1", "Keys", talk));
      await at.forget({ turn_ids: [(await at.turn("With the neighbours.")).id] });
      const again = await at.load(make("c1", "Keys", talk));
      assert.deepEqual([again.added, again.forgotten], [0, 1]);
      const grown = await at.load(make("c1", "Keys", more));
      assert.deepEqual([grown.added, grown.forgotten, grown.forks], [2, 1, 0]);
      assert.deepEqual(await at.words(), [more.filter(([id]) => id !== "a2").map(([, , text]) => text)]);
    });

    test(`${kind}: a whole chat stays forgotten, and its name with it`, async () => {
      const at = await place("chat");
      await at.load(make("c1", "Zinnia pots", talk));
      await at.forget({ chat_id: (await at.chats())[0].id });
      const again = await at.load(make("c1", "Zinnia pots", talk));
      assert.deepEqual([again.added, again.forgotten], [0, 4]);
      assert.deepEqual(await at.chats(), []);
      await at.load(make("c1", "Zinnia pots", more));
      assert.deepEqual(await at.words(), [["Who lives there?", "The Hallorans."]]);
      assert.doesNotMatch((await at.chats())[0].title ?? "", /zinnia/i);
    });
  }

  test("a user's stay forgotten, another's come in; the words say how many", async () => {
    const at = await place("user");
    const name = claude("c1", "Keys", talk);
    await at.load(name, "--user", "ada");
    await at.forget({ user_id: "ada" });
    const dry = await at.load(name, "--user", "ada", "--dry-run");
    assert.deepEqual([dry.added, dry.forgotten], [0, 4]);
    const told = await server.clew("import", name, "--tenant", at.tenant, "--user", "ada");
    assert.match(told.stdout, /^4 forgotten before, left out; --restore-forgotten brings them back$/m);
    assert.deepEqual(await at.words(), []);
    const other = await at.load(name, "--user", "bob");
    assert.deepEqual([other.added, other.forgotten], [4, undefined]);
  });

  test("what is brought back on purpose is there again", async () => {
    const at = await place("back");
    const name = chatgpt("c1", "Keys", talk);
    await at.load(name);
    await at.forget({ turn_ids: [(await at.turn("Below the zinnia pot.")).id] });
    const back = await at.load(name, "--restore-forgotten");
    assert.deepEqual([back.added, back.forgotten], [1, undefined]);
    assert.ok(await at.turn("Below the zinnia pot."));
    assert.deepEqual([(await at.load(name)).added, (await at.load(name)).forgotten], [0, undefined]);
  });

  test("other ways on from what was forgotten go on before it", async () => {
    const at = await place("ways");
    const said = [...talk, ["q9", "a1", "Is it a safe place?"], ["a9", "q9", "Not in winter."]];
    await at.load(chatgpt("c1", "Keys", said));
    const fork = (await at.chats()).find((chat) => chat.parent_id);
    await at.forget({ chat_id: fork.id });
    const again = await at.load(chatgpt("c1", "Keys", said));
    assert.equal(again.added, 0);
    assert.equal(again.forks, 0);
    assert.equal((await at.chats()).length, 1);
    await at.forget({ turn_ids: [(await at.turn("Below the zinnia pot.")).id] });
    const more = await at.load(chatgpt("c1", "Keys", [...said, ["q10", "a1", "And a third?"]], "a9"));
    assert.deepEqual([more.added, more.forks], [1, 1]);
    const [last] = (await at.chats()).filter((chat) => chat.parent_id);
    assert.deepEqual((await at.turns(last)).map((turn) => turn.text), ["Where do I hide the key?", "And a third?"]);
  });

  test("a file that grows while it is watched brings nothing back", async () => {
    const at = await place("watch");
    const watched = fs.mkdtempSync(path.join(folder, "watched-"));
    const name = path.join(watched, "s1.jsonl");
    fs.writeFileSync(name, talk.map((one, i) => line("s1", one, i)).join(""));
    const child = spawn(bin, ["import", "--watch", watched, "--url", server.url, "--key", at.key],
      { env: cleanEnv(folder), stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    try {
      await until("it is there", () => at.turn("With the neighbours."));
      await at.forget({ turn_ids: [(await at.turn("Below the zinnia pot.")).id] });
      fs.appendFileSync(name, line("s1", more[4], 4));
      await until("what is new is there", () => at.turn("Who lives there?"));
      assert.equal(await at.turn("Below the zinnia pot."), null);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

  test("who posts it without saying so means it", async () => {
    const at = await place("post");
    const turn = { user_id: "ada", role: "user", content: "The code is 77.", external_id: "app-1" };
    const next = { ...turn, content: "And it opens the shed.", external_id: "app-2" };
    await at.api.post("/api/v1/turns", turn);
    await at.forget({ external_ids: ["app-1"] });
    const find = async (user) => isOk(await at.api.get(`/api/v1/turns?external_id=app-1&user_id=${user}`)).forgotten;
    assert.deepEqual([await find("ada"), await find("bob")], [true, false]);
    const { body: batch } = await at.api.post("/api/v1/turns", { turns: [turn, next, turn], unless_forgotten: true });
    assert.deepEqual(batch.items.map((item) => item.turn.external_id), ["app-2"]);
    assert.deepEqual(batch.forgotten, ["app-1", "app-1"]);
    assert.equal((await at.api.post("/api/v1/turns", { ...turn, unless_forgotten: true })).status, 400);
    const said = await at.api.post("/api/v1/turns", { ...turn, content: "The code is 78." });
    assert.equal(said.status, 201);
    assert.equal(await find("ada"), false);
  });

  test("it holds in a store made from the export, which names nothing", async () => {
    const at = await place("from");
    const name = claude("c1", "Keys", talk);
    await at.load(name);
    await at.forget({ turn_ids: [(await at.turn("Below the zinnia pot.")).id] });
    const text = (await at.api.get("/api/v1/export")).text;
    assert.doesNotMatch(text, /[^0-9a-f]a1"/, "the name itself is gone"); /* ids may end so */
    const to = await place("to");
    const later = await place("later"); /* has a key of its own */
    const others = chatgpt("c2", "Sheds", shed);
    await later.load(others);
    await later.forget({ turn_ids: [(await later.turn("Ines did, in May.")).id] });
    for (const other of [to, later]) {
      await other.load(file(text));
      const again = await other.load(name);
      assert.equal(again.added, 0);
      assert.equal(await other.turn("Below the zinnia pot."), null);
    }
    assert.equal((await later.load(others)).forgotten, 1);
    for (const one of [at, to, later]) {
      const rebuild = (...options) => server.clew("rebuild", "--tenant", one.tenant, "--json", ...options);
      await rebuild(); /* what a task does ten minutes after a forget */
      assert.equal(JSON.parse((await rebuild("--dry-run")).stdout).differences, 0);
      assert.equal(await one.turn("Below the zinnia pot."), null);
    }
    const verified = JSON.parse((await server.clew("verify", "--json")).stdout);
    assert.deepEqual([verified.ok, verified.faults], [true, []]);
  });

  test("it does not come by way of another store that had imported it", async () => {
    const at = await place("mine");
    const other = await place("theirs");
    const name = code("s1", "Keys", talk);
    await at.load(name);
    await other.load(name);
    const text = (await other.api.get("/api/v1/export")).text;
    await at.forget({ chat_id: (await at.chats())[0].id });
    await at.load(file(text));
    assert.deepEqual((await at.words()).flat(), []);
    await at.load(file(text), "--restore-forgotten");
    assert.deepEqual((await at.words()).flat(), talk.map(([, , said]) => said));
  });

  /* Another store that has an export's turns, where somebody set things right. */
  async function corrected(text) {
    const there = await place("there");
    await there.load(file(text));
    const feedback = async (said) => isOk(await there.api.post("/api/v1/analyse/feedback", { text: said, act: "request" }));
    const edit = async (id, summary) => isOk(await there.api.patch(`/api/v1/memories/${id}`, { summary }), 201);
    return { ...there, feedback, edit, export: async () => (await there.api.get("/api/v1/export")).text };
  }

  test("what was set right elsewhere about words that are forgotten here stays there", async () => {
    const at = await place("words");
    const turn = (content) => at.api.post("/api/v1/turns", { user_id: "ada", role: "user", content });
    const gone = isOk(await turn("The plumber rang about the boiler."), 201).turn;
    isOk(await turn("A parcel came for the neighbours."), 201);
    const there = await corrected((await at.api.get("/api/v1/export")).text);
    for (const said of [gone.text, "A parcel came for the neighbours."]) await there.feedback(said);
    await at.forget({ turn_ids: [gone.id] });
    const text = await there.export();
    await at.load(file(text));
    const rows = (all) => all.split("\n").filter((row) => /"(correction|intent\.correct)"/.test(row)).length;
    assert.equal(rows(text), 4, "each, and in the log");
    assert.equal(rows((await at.api.get("/api/v1/export")).text), 2);
    const act = async (said) => isOk(await at.api.post("/api/v1/analyse", { text: said })).corrected;
    assert.deepEqual([await act(gone.text), await act("A parcel came for the neighbours.")], [false, true]);
    assert.equal((await at.load(file(text))).added, 0);
    await at.load(file(text), "--restore-forgotten");
    assert.equal(await act(gone.text), true);
  });

  test("nor does what was written elsewhere about a note that is forgotten here", async () => {
    const at = await place("notes");
    const note = async (summary) => isOk(await at.api.post("/api/v1/memories", { user_id: "ada", summary }), 201);
    const [gone, kept, survives] = [await note("The boiler is in the cellar."), await note("The bicycle is green."),
      await note("The ladder is in the loft.")];
    const before = (await at.api.get("/api/v1/export")).text;
    const there = await corrected(before);
    const newer = await there.edit(gone.id, "The boiler is behind the cellar door.");
    await there.edit(newer.id, "The boiler is behind the red cellar door.");
    await there.edit(kept.id, "The bicycle is blue.");
    const said = { agent_id: "a", agent_name: "A", prompt: "Boiler and bicycle are both looked after by the same firm." };
    isOk(await there.api.post("/api/v1/memory", { ...said, consolidates: [gone.id, kept.id] }));
    /* what a person wrote here stays when what it corrects is forgotten, and an export changes nothing */
    const own = isOk(await at.api.patch(`/api/v1/memories/${survives.id}`, { summary: "The ladder is in the shed." }), 201);
    const mine = (await at.api.get("/api/v1/export")).text;
    await at.forget({ memory_ids: [gone.id, survives.id] });
    isOk(await at.api.patch(`/api/v1/memories/${own.id}`, { pinned: true }));
    const text = await there.export();
    /* a row at a time, as a program may that is not clew's own */
    for (const rows of text.trim().split("\n").slice(1)) {
      const one = await at.api.post("/api/v1/import", { rows: [JSON.parse(rows)] });
      assert.ok(one.status === 200 || one.status === 400, one.text);
    }
    for (const again of [text, mine]) await at.load(file(again));
    const all = (await at.api.get("/api/v1/export")).text;
    assert.doesNotMatch(all, /boiler|Boiler|loft/);
    assert.match(all, /bicycle is blue/);
    assert.match(all, /ladder is in the shed/);
    await at.load(file(text), "--restore-forgotten");
    assert.match((await at.api.get("/api/v1/export")).text, /red cellar door/);
  });
});
