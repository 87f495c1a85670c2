/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget-after.test.mjs - what comes in after a forget does not bring back what
 * was forgotten: a client that sends its whole history again, calls that waited.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { client, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const user = (content) => ({ role: "user", content });
const said = (content) => ({ role: "assistant", content });
const heard = (i) => `I heard line ${i}.`;

onEachBackend("after a forget", (open) => {
  let server;
  let n = 0;
  before(async () => {
    server = await open();
  });

  async function place() {
    const tenant = `after-${++n}`;
    const api = client(server.url, await server.key(tenant));
    const link = async (messages, reply, more = {}) => isOk(await api.post("/api/v1/link",
      { model: "m", user_id: "ann", messages, response: said(reply), ...more }));
    /* As a client does: each call sends all that was said before it. */
    const talk = async (lines, history = []) => {
      let last;
      for (const line of lines) {
        history.push(user(line));
        last = await link(history, heard(history.length));
        history.push(said(heard(history.length)));
      }
      return { last, history };
    };
    const turns = async () => {
      const all = [];
      for (const chat of isOk(await api.get("/api/v1/chats?limit=100")).items) {
        all.push(...isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=100`)).items);
      }
      /* a fork's list begins with what it shares */
      return [...new Set(all.filter((turn) => turn.role !== "assistant").map((turn) => turn.text))].sort();
    };
    const forget = async (what) => isOk(await api.post("/api/v1/forget", what));
    const verify = async () => {
      await server.clew("rebuild", "--tenant", tenant);
      const again = JSON.parse((await server.clew("rebuild", "--tenant", tenant, "--dry-run", "--json")).stdout);
      assert.equal(again.differences, 0);
      await server.clew("verify");
    };
    return { api, link, talk, turns, forget, verify };
  }

  async function staysOut(named) {
    const at = await place();
    const { last, history } = await at.talk(["My safe opens with Kolkrabe.", "It stands in the cellar.", "Ida has the key."]);
    await at.forget(named(last));
    assert.deepEqual(await at.turns(), []);
    const next = await at.talk(["Who repairs bicycles?"], history);
    assert.deepEqual(await at.turns(), ["Who repairs bicycles?"]);
    const after = await at.talk(["And prams?"], next.history);
    assert.deepEqual(await at.turns(), ["And prams?", "Who repairs bicycles?"]);
    assert.equal(after.last.chat_id, next.last.chat_id);
    await at.verify();
    await at.forget(named(after.last));
    await at.talk(["What is left?"], after.history);
    assert.deepEqual(await at.turns(), ["What is left?"]);
  }

  test("the history of a forgotten chat that is sent again is no news, what follows is", () =>
    staysOut((call) => ({ chat_id: call.chat_id })));

  test("nor is that of a forgotten user", () => staysOut(() => ({ user_id: "ann" })));

  test("nor is a part of it, where it takes another way", async () => {
    const at = await place();
    const { last, history } = await at.talk(["My safe opens with Kolkrabe.", "It stands in the cellar."]);
    await at.forget({ chat_id: last.chat_id });
    await at.talk(["Is the attic dry?"], history.slice(0, 2));
    assert.deepEqual(await at.turns(), ["Is the attic dry?"]);
  });

  test("a fork that was forgotten does not come by way of what it left", async () => {
    const at = await place();
    const { history } = await at.talk(["The hall is blue.", "The door is green."]);
    const { last, history: other } = await at.talk(["My safe opens with Kolkrabe."], history.slice(0, 2));
    const { last: main } = await at.talk(["The roof is red."], [...history]);
    assert.notEqual(last.chat_id, main.chat_id);
    await at.forget({ chat_id: last.chat_id });
    await at.talk(["The stairs are grey."], other);
    assert.deepEqual(await at.turns(), ["The door is green.", "The hall is blue.", "The roof is red.", "The stairs are grey."]);
    await at.verify();
  });

  test("what others say in the same words, and what is said anew, is stored", async () => {
    const at = await place();
    const { last } = await at.talk(["Hello.", "My safe opens with Kolkrabe."]);
    await at.forget({ chat_id: last.chat_id });
    await at.link([user("Hello.")], "Hello again.");
    assert.deepEqual(await at.turns(), ["Hello."]);
    await at.link([user("My safe opens with Kolkrabe."), said("Fine."), user("And the shed?")], "No.", { user_id: "bob" });
    assert.deepEqual(await at.turns(), ["And the shed?", "Hello.", "My safe opens with Kolkrabe."]);
  });

  test("a call from before the forget that comes after it goes with it", async () => {
    const at = await place();
    const before = new Date(Date.now() - 3_600_000).toISOString();
    const { last, history } = await at.talk(["My safe opens with Kolkrabe."]);
    await at.forget({ chat_id: last.chat_id });
    const late = await at.api.post("/api/v1/link", { model: "m", user_id: "ann", created_at: before,
      messages: [...history, user("It stands in the cellar.")], response: said("I see.") });
    assert.equal(late.status, 409, late.text);
    await at.forget({ user_id: "ann" });
    const other = await at.api.post("/api/v1/link", { model: "m", user_id: "ann", created_at: before,
      messages: [user("My boat is called Albatros.")], response: said("I see.") });
    assert.equal(other.status, 409, other.text);
    assert.deepEqual(await at.turns(), []);
    await at.link([user("My boat is called Albatros.")], "I see.");
    assert.deepEqual(await at.turns(), ["My boat is called Albatros."]);
  });
});

test("calls that waited in files while their user was forgotten go with the user", { timeout: 600_000 }, async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const upstream = await startUpstream();
  t.after(() => upstream.stop());
  const store = postgres.database();
  const data = tempFolder();
  const options = { data, store, args: ["--upstream", `anthropic=${upstream.url}`] };
  let server = await startServer(options);
  const ask = async (name, content) => {
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST",
      body: JSON.stringify({ model: "m", messages: [user(content)] }),
      headers: { "content-type": "application/json", "x-clew-user": name } });
    assert.equal(answer.status, 200);
  };
  const waiting = () => fs.readdirSync(path.join(data, "spool")).filter((name) => name.endsWith(".call")).length;
  await ask("bob", "The door is green.");
  await until("it is stored", async () => /The door is green/.test((await server.api().get("/api/v1/export")).text));
  await postgres.stopOrderly();
  await ask("ann", "My safe opens with Kolkrabe.");
  await ask("bob", "The hall is blue.");
  await until("both wait in files", () => waiting() === 2);
  await server.stop("SIGKILL");
  await postgres.start();
  const other = await startServer({ store, data: tempFolder() }); /* has no spool of theirs */
  isOk(await other.api().post("/api/v1/forget", { user_id: "ann" }));
  await other.stop();
  server = await startServer(options);
  t.after(() => server.stop());
  await until("nothing waits", () => waiting() === 0);
  const text = (await server.api().get("/api/v1/export")).text;
  assert.match(text, /The hall is blue/);
  assert.doesNotMatch(text, /Kolkrabe/);
});
