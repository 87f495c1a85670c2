/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of talk that is known under the same ids: of a group that two users
 * are in, and of one in which something was edited since.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let n = 0;
function file(content) {
  const name = path.join(folder, `export-${++n}`);
  fs.writeFileSync(name, typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

/* A group of Telegram; of each message the id and the words. */
const group = (id, ...messages) => file({ name: "Rowing club", type: "private_group", id,
  messages: messages.map(([number, text]) => ({ id: number, type: "message", from: "Nils",
    date_unixtime: String(1700000000 + 60 * number), text })) });
const mail = (id, from, text, more = "") => `From x\nMessage-ID: <${id}>\nFrom: ${from}\nSubject: The boat\n`
  + `Date: Tue, 14 Nov 2023 22:13:20 +0000\n${more}\n${text}\n\n`;

onEachBackend("an import of what is known", (open) => {
  let server;
  let api;
  before(async () => {
    server = await open();
    api = server.api();
  });

  const bring = (user, name) => new Promise((resolve) => {
    execFile(bin, ["import", "--url", server.url, "--user", user, "--json", name], { env: cleanEnv(folder) },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stderr, ...(stdout && JSON.parse(stdout)) }));
  });
  async function brings(user, name, added) {
    const told = await bring(user, name);
    assert.deepEqual([told.code, told.added], [0, added], JSON.stringify(told));
  }
  /* The user's chats, each as the words of its turns, all said to be the user's. */
  async function talkOf(user) {
    const { items } = isOk(await api.get(`/api/v1/chats?user_id=${user}&limit=100`));
    return Promise.all(items.map(async (chat) => {
      const turns = isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=500`)).items;
      assert.deepEqual([...new Set(turns.map((turn) => turn.user_id))], [user]);
      return turns.map((turn) => turn.text);
    }));
  }

  async function* every(user) {
    let cursor = "";
    do {
      const page = isOk(await api.get(`/api/v1/chats?user_id=${user}&limit=100${cursor}`));
      yield* page.items;
      cursor = page.next_cursor && `&cursor=${encodeURIComponent(page.next_cursor)}`;
    } while (cursor);
  }

  test("of another user's group is the user's own, and goes on as such", async () => {
    const many = Array.from({ length: 130 }, (_, i) => [i + 1, `Stroke ${i}`]);
    const words = many.map(([, text]) => text);
    await brings("ann", group(71, ...many), 130);
    await brings("bob", group(71, ...many), 130);
    for (const user of ["ann", "bob"]) assert.deepEqual(await talkOf(user), [words]);
    for (const user of ["ann", "bob"]) await brings(user, group(71, ...many), 0);
    await brings("bob", group(71, ...many, [131, "Only Bob has seen this"]), 1);
    /* and where the export begins later than what is known */
    await brings("bob", group(71, ...many.slice(120), [131, "Only Bob has seen this"], [132, "And this"]), 1);
    assert.deepEqual(await talkOf("ann"), [words]);
    assert.deepEqual(await talkOf("bob"), [[...words, "Only Bob has seen this", "And this"]]);
  });

  test("of an answer to another user's mail is not put into that one's talk", async () => {
    await brings("cleo", file(mail("m1@club", "cleo@club", "Shall we paint it?")), 1);
    const answer = mail("m2@club", "dora@club", "In red, and I pay for it.", "In-Reply-To: <m1@club>\n");
    await brings("dora", file(answer), 1);
    await brings("dora", file(mail("m1@club", "cleo@club", "Shall we paint it?") + answer), 1);
    assert.deepEqual(await talkOf("cleo"), [["The boat\nShall we paint it?"]]);
    assert.deepEqual((await talkOf("dora")).flat().sort(), ["In red, and I pay for it.", "The boat\nShall we paint it?"]);
  });

  test("in which words were edited keeps both, and all that follows", async () => {
    await brings("eve", group(72, [1, "At six"], [2, "Bring oars"]), 2);
    const edited = () => group(72, [1, "At seven"], [2, "Bring oars"], [3, "And a rope"]);
    await brings("eve", edited(), 2);
    await brings("eve", edited(), 0);
    await brings("eve", group(72, [1, "At eight"], [2, "Bring oars"], [3, "And a rope"], [4, "Done"]), 2);
    assert.deepEqual((await talkOf("eve")).flat().sort(),
      ["And a rope", "At eight", "At seven", "At six", "Bring oars", "Done"]);
    await brings("fay", edited(), 3);
    assert.deepEqual(await talkOf("fay"), [["At seven", "Bring oars", "And a rope"]]);
  });

  test("stays out for who forgot it, and only then", async () => {
    const talk = () => group(73, [1, "The cox is Ida"], [2, "She weighs little"]);
    await brings("gus", talk(), 2);
    await brings("hal", talk(), 2);
    isOk(await api.post("/api/v1/forget", { user_id: "hal" }));
    await brings("hal", talk(), 0);
    assert.deepEqual(await talkOf("hal"), []);
    assert.deepEqual(await talkOf("gus"), [["The cox is Ida", "She weighs little"]]);
    await brings("gus", talk(), 0);
  });

  /* A talk of ChatGPT that was begun twice and answered anew in the middle, thrice. */
  const forked = (id, n) => {
    const mapping = { root: { id: "root", parent: null, children: [] } };
    const say = (name, parent, role, at) => {
      mapping[name] = { id: name, parent, children: [], message: { author: { role }, create_time: 1700000000 + at,
        content: { content_type: "text", parts: [`${name} of ${id}`] } } };
      mapping[parent].children.push(name);
      return name;
    };
    for (const start of ["a", "b"]) {
      let last = "root";
      for (let i = 0; i < n; i++) {
        const said = say(`${start}${i}`, last, i % 2 ? "assistant" : "user", 10 * i);
        for (let k = 0; i % 4 === 3 && k < 2; k++) say(`${said}again${k}`, last, "assistant", 10 * i + k + 1);
        last = said;
      }
    }
    return { title: `Talk ${id}`, create_time: 1700000000, conversation_id: id, mapping };
  };

  test("stays the second one's own when the first one is forgotten, and the second one's own no", async () => {
    const many = Array.from({ length: 130 }, (_, i) => [i + 10, `Catch ${i}`]);
    const words = many.map(([, text]) => text);
    for (const user of ["quin", "rhea", "saul"]) await brings(user, group(74, ...many), 130);
    isOk(await api.post("/api/v1/forget", { user_id: "saul" }));
    isOk(await api.post("/api/v1/forget", { user_id: "quin" }));
    await brings("rhea", group(74, ...many), 0);
    /* one that begins earlier and one that goes on; and of one known in the middle */
    await brings("rhea", group(74, [1, "Before all"], [2, "And after that"], ...many, [200, "After all"]), 3);
    await brings("rhea", group(74, [5, "Hoist"], ...many.slice(40, 60), [199, "Lower"]), 2);
    assert.deepEqual((await talkOf("rhea")).flat().sort(),
      ["Before all", "And after that", "Hoist", "Lower", "After all", ...words].sort());
    for (const user of ["quin", "saul"]) await brings(user, group(74, ...many), 0);
    for (const user of ["quin", "saul"]) assert.deepEqual(await talkOf(user), []);
  });

  test("by processes at the same time leaves no chat without a turn, and no turn twice", async () => {
    const talks = Array.from({ length: 12 }, (_, i) => forked(`talk-${i}`, 12));
    const n = talks.reduce((sum, talk) => sum + Object.keys(talk.mapping).length - 1, 0);
    const name = file(talks);
    const told = await Promise.all(Array.from({ length: 3 }, () => bring("pia", name)));
    for (const one of told) assert.equal(one.code, 0, one.stderr);
    assert.equal(told.reduce((sum, one) => sum + one.added, 0), n);
    const chats = [];
    for await (const chat of every("pia")) chats.push(chat);
    assert.equal(told.reduce((sum, one) => sum + one.forks, 0), chats.filter((chat) => chat.parent_id).length);
    const texts = [];
    for (const chat of chats) {
      const turns = isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=500`)).items;
      const own = turns.filter((turn) => turn.chat_id === chat.id);
      assert.ok(own.length > 0, `nothing is said in ${chat.branch} of "${chat.title}"`);
      texts.push(...own.map((turn) => turn.text));
    }
    assert.deepEqual([texts.length, new Set(texts).size], [n, n]);
    await brings("pia", name, 0);
  });

  test("in plain lines, which begin to count again, loses none of them", async () => {
    const line = (id, content) => JSON.stringify({ role: "user", id, content });
    const twice = () => file([line("1", "One talk"), line("2", "More of it"), line("1", "Another talk"),
      line("2", "More of it"), line("1", "One talk"), ""].join("\n"));
    await brings("kai", twice(), 3);
    await brings("kai", twice(), 0);
    assert.deepEqual(await talkOf("kai"), [["One talk", "More of it", "Another talk"]]);
  });

  test("in plain lines, where two files use one id for different words, is refused", async () => {
    const line = (text) => file(`${JSON.stringify({ role: "user", id: "1", content: text })}\n`);
    await brings("ida", line("A talk"), 1);
    const told = await bring("ida", line("Another talk"));
    assert.equal(told.code, 5, JSON.stringify(told));
    assert.match(told.stderr, /CONFLICT.*known with other content/);
    assert.deepEqual(await talkOf("ida"), [["A talk"]]);
  });

  test("has ids of any length in any script", async () => {
    const long = (id) => [{ title: "Long", create_time: 1700000000, conversation_id: id, mapping: { m: { id: "m",
      parent: null, children: [], message: { author: { role: "user" }, create_time: 1700000001,
        content: { content_type: "text", parts: [`Said under ${id.length}`] } } } } }];
    for (let length = 97; length < 104; length++) {
      const id = `${"x".repeat(length % 4)}${"漢".repeat(length)}`;
      await brings("lea", file(long(id)), 1);
      await brings("lea", file(long(id)), 0);
    }
  });

  test("has times in seconds and their thousandths, millionths, and none that are none", async () => {
    const said = { s: 1700000000, ms: 1700000000000, us: 1700000000000000, ns: 1700000000000000000 };
    const lines = (entries) => file(entries.map(([content, timestamp]) =>
      `{"role":"user","content":${JSON.stringify(content)},"timestamp":${timestamp}}\n`).join(""));
    await brings("mia", lines(Object.entries(said)), 4);
    const [chat] = isOk(await api.get("/api/v1/chats?user_id=mia")).items;
    for (const turn of isOk(await api.get(`/api/v1/chats/${chat.id}/turns`)).items) {
      assert.equal(turn.created_at, "2023-11-14T22:13:20.000Z", turn.text);
    }
    const before = new Date(Date.now() + 86400e3).toISOString();
    await brings("noa", lines([["too late", "1e300"], ["before all", "-1e300"]]), 2);
    const [other] = isOk(await api.get("/api/v1/chats?user_id=noa")).items;
    for (const turn of isOk(await api.get(`/api/v1/chats/${other.id}/turns`)).items) {
      assert.ok(turn.created_at < before, turn.created_at);
    }
  });
});
