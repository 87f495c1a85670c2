/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget-open.test.mjs - what was begun before a forget does not tell of it
 * after: sessions, streams, pages half read, what is kept to answer faster.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";
import { client } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const SECRET = /kolkrabe/i; /* asked for by other words: answers may repeat the question */

onEachBackend("open while it is forgotten", (open, backend) => {
  let servers;
  before(async () => {
    servers = [await open()];
    /* another process on the same store, which is told nothing */
    if (backend === "postgres") servers.push(await open({ store: servers[0].store, data: undefined }));
  });

  /* A session of MCP for ann, as a client keeps it. */
  async function session(server, key) {
    const call = async (body, id) => fetch(`${server.url}/mcp`, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-clew-user": "ann",
        accept: "application/json, text/event-stream", ...(id ? { "mcp-session-id": id } : {}) } });
    const hello = await call({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {},
      clientInfo: { name: "test", version: "1" } } });
    assert.equal(hello.status, 200);
    const id = hello.headers.get("mcp-session-id");
    await call({ method: "notifications/initialized" }, id);
    let n = 1;
    return async (method, params = {}) => (await call({ id: ++n, method, params }, id)).text();
  }

  /* What an event stream says, as it comes. */
  async function stream(server, key) {
    const stop = new AbortController();
    const answer = await fetch(`${server.url}/api/v1/events`, { headers: { authorization: `Bearer ${key}` }, signal: stop.signal });
    const said = { text: "", stop: () => stop.abort() };
    (async () => {
      const decoder = new TextDecoder();
      for await (const part of answer.body) said.text += decoder.decode(part, { stream: true });
    })().catch(() => {}); /* it is broken off at the end */
    return said;
  }

  test("nothing that was open tells of it", async () => {
    const key = await servers[0].key("open");
    const apis = servers.map((server) => client(server.url, key));
    const [api] = apis;
    const say = async (content, more = {}) => isOk(await api.post("/api/v1/turns",
      { user_id: "ann", role: "user", content, channel: "web", ...more }), 201);
    const first = await say("My dentist is Doctor Weber in Bremen.", { channel: "sms" });
    const { chat } = await say("I need to mend the Kolkrabe in the attic.");
    for (let i = 0; i < 6; i++) await say(`We decided to keep Kolkrabe number ${i} below the flower pot.`, { chat_id: chat.id });
    const note = isOk(await api.post("/api/v1/memories", { user_id: "ann", summary: "The Kolkrabe eats nuts.", pinned: true }), 201);
    for (const one of apis) await isRead(one);

    /* begin all of it on each server */
    const ask = (one, more) => one.post("/api/v1/recall", { query: "what did we decide to keep below the flower pot", user_id: "ann", limit: 2, ...more });
    const lists = ["/api/v1/memories?user_id=ann", `/api/v1/chats/${chat.id}/turns?`, "/api/v1/chats?user_id=ann",
      "/api/v1/chains?user_id=ann", "/api/v1/episodes?user_id=ann", `/api/v1/sessions?chat_id=${chat.id}`];
    const context = (one, id) => one.post(`/api/v1/chats/${id}/context`, { budget_tokens: 2000, message: "What did we decide to keep?" });
    const tools = [["recall", { query: "what to keep below the flower pot" }], ["context", { chat_id: first.chat.id, message: "What is below the flower pot?" }]];
    const opened = [];
    for (const [i, one] of apis.entries()) {
      await until("it is found", async () => SECRET.test((await ask(one)).text));
      const page = isOk(await ask(one));
      const cursors = [];
      for (const path of lists) {
        const { next_cursor: cursor } = isOk(await one.get(`${path}&limit=1`));
        if (cursor) cursors.push(`${path}&limit=50&cursor=${encodeURIComponent(cursor)}`);
      }
      assert.match((await context(one, first.chat.id)).text, SECRET);
      const start = isOk(await one.post("/api/v1/start", { user_id: "ann", intent: "mend something in the attic, keep it below the flower pot" }));
      const mcp = await session(servers[i], key);
      const listed = JSON.parse(await mcp("tools/list")).result.tools.map((tool) => tool.name);
      const known = tools.filter(([name]) => listed.includes(name));
      for (const [name, args] of known) await mcp("tools/call", { name, arguments: args });
      const resources = JSON.parse(await mcp("resources/list")).result?.resources ?? [];
      opened.push({ one, page, cursors, start, mcp, known, resources, events: await stream(servers[i], key) });
    }
    const none = (text, what) => assert.doesNotMatch(text, SECRET, what);
    async function goOn({ one, page, cursors, start, mcp, known, resources }) {
      for (let i = 0; i < 3; i++) {
        none((await ask(one)).text, "recall");
        none((await ask(one, { fast: true })).text, "fast recall");
      }
      if (page.next_cursor) none((await ask(one, { cursor: page.next_cursor })).text, "its next page");
      for (const path of [...cursors, ...lists]) none((await one.get(path)).text, path);
      for (const id of [first.chat.id, chat.id]) none((await context(one, id)).text, "context");
      for (const answer of ["1", "2", "3", "4", "continue", "fork", "new", "fresh"]) {
        none((await one.post(`/api/v1/start/${start.start_id ?? start.id}/choose`, { answer, user_id: "ann" })).text, "start");
      }
      none((await one.post("/api/v1/ask", { query: "what is below the flower pot?", user_id: "ann" })).text, "ask");
      none((await one.get("/api/v1/export")).text, "export");
      for (const [name, args] of known) none(await mcp("tools/call", { name, arguments: args }), name);
      for (const { uri } of resources) none(await mcp("resources/read", { uri }), uri);
    }
    isOk(await api.post("/api/v1/forget", { chat_id: chat.id }));
    isOk(await api.post("/api/v1/forget", { memory_ids: [note.id] }));
    for (const one of opened) await goOn(one);
    isOk(await context(api, first.chat.id));
    isOk(await api.post("/api/v1/forget", { user_id: "ann" }));
    for (const one of opened) await goOn(one);
    for (const { events } of opened) {
      await until("the streams say that it is gone", () => /event: forgotten/.test(events.text));
      none(events.text, "events");
      events.stop();
    }
  });
});
