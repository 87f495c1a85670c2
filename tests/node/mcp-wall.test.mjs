/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp-wall.test.mjs - a session for one user sees nothing of another's.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from
  "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from
  "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";

const secret = /zanzibar/i;
const nobody = "01900000-0000-7000-8000-000000000000";

/* Bob's chat, memory and effort, and a chat of Ada's. */
async function seed(api) {
  const say = async (user_id, content, chat_id) => isOk(await api.post(
    "/api/v1/turns", { user_id, role: "user", content, chat_id }), 201);
  const first = await say("bob", "I live in Zanzibar and I like sailing.");
  const chat = first.chat.id;
  await say("bob", "My boat in Zanzibar leaks, how do I mend it?", chat);
  const own = await say("ada", "I live in Hamburg. My boat is fine.");
  const effort = isOk(await api.post("/api/v1/efforts",
    { user_id: "bob", goal: "sell the house in Zanzibar" }), 201);
  const memories = isOk(await api.get("/api/v1/memories?user_id=bob")).items;
  assert.ok(memories.length > 1);
  /* a memory of Ada's that was made out of one of Bob's */
  const mixed = isOk(await api.post("/api/v1/memory", { agent_id: "a",
    agent_name: "A", consolidates: memories.slice(0, 2).map((one) => one.id),
    prompt: "Somebody lives by the sea and has a boat there to look after." }));
  return { chat, own: own.chat.id, effort: effort.id,
    memory: memories.find((one) => one.id !== effort.id).id,
    mixed: mixed.result.thought_id };
}

onEachBackend("mcp for one user", (open) => {
  const ways = {
    stdio: (server, key, folder) => new StdioClientTransport({ command: bin,
      args: ["mcp", "--url", server.url, "--user", "ada"],
      env: cleanEnv(folder, { CLEW_KEY: key }) }),
    http: (server, key) => new StreamableHTTPClientTransport(
      new URL(`${server.url}/mcp`), { requestInit: { headers:
        { authorization: `Bearer ${key}`, "x-clew-user": "ada" } } }),
  };
  for (const [name, way] of Object.entries(ways)) {
    test(`over ${name}`, async (t) => {
      const server = await open();
      const folder = tempFolder();
      const key = await server.key("default");
      const api = server.api(key);
      const bob = await seed(api);
      const client = new Client({ name: "test", version: "1" });
      await client.connect(way(server, key, folder));
      t.after(() => client.close());
      const said = [];
      const call = async (tool, args) => {
        const answer = await client.callTool({ name: tool,
          arguments: { ...args, detail: "full" } }).catch((error) => ({
          content: [{ text: String(error) }], isError: true }));
        said.push(`${tool} ${JSON.stringify(args)} ${JSON.stringify(answer)}`);
        return answer;
      };
      const query = "where is the boat and the house";
      assert.match(JSON.stringify(await call("recall", { query })), /Hamburg/);
      await call("recall", { query: "Zan" + "zibar sailing boat" });
      await call("recall", { query, user_id: "bob" });
      await call("recall", { query, chat_id: bob.chat });
      await call("context", { chat_id: bob.chat, message: query });
      await call("context", { chat_id: bob.own, message: query });
      await call("start", { intent: "mend the boat" });
      await call("start", { intent: "mend the boat", user_id: "bob" });
      /* what Bob was offered is not hers to choose from, whatever she answers */
      const offer = isOk(await api.post("/api/v1/start",
        { user_id: "bob", intent: "mend the boat in Zanzibar" }));
      assert.ok(offer.related_chats.some((one) => one.id === bob.chat));
      const unknown = await call("start", { start_id: nobody, answer: "1" });
      const chats = isOk(await api.get("/api/v1/chats")).items.length;
      for (const answer of ["1", "2", "3", "4", "what?"]) {
        assert.deepEqual(await call("start", { start_id: offer.id, answer }), unknown, answer);
      }
      assert.equal(isOk(await api.get("/api/v1/chats")).items.length, chats);
      const own = /start_id: (\S+)/.exec((await call("start", { intent: "mend the boat" })).content[0].text)[1];
      const chosen = await call("start", { start_id: own, answer: "1" });
      assert.ok(!chosen.isError && chosen.content[0].text.includes("chat_id: "), JSON.stringify(chosen));
      await call("effort", { action: "list" });
      await call("effort", { action: "list", user_id: "bob" });
      /* another's id reads as one that never was */
      for (const [tool, field, id, args] of [["context", "chat_id", bob.chat],
        ["recall", "chat_id", bob.chat, { query }], ["history", "id", bob.memory],
        ["effort", "id", bob.effort, { action: "context" }],
        ["effort", "id", bob.effort, { action: "turn", content: "hello" }],
        ["effort", "parent_id", bob.effort, { action: "open", goal: "look" }],
        ["effort", "chat_id", bob.chat, { action: "open", goal: "look" }]]) {
        assert.deepEqual(await call(tool, { ...args, [field]: id }),
          await call(tool, { ...args, [field]: nobody }), `${tool} ${field}`);
      }
      for (const action of ["resolve", "abandon", "collapse", "context",
        "reopen"]) {
        const answer = await call("effort", { action, id: bob.effort });
        assert.equal(answer.isError, true, action);
      }
      for (const args of [{ parent_id: bob.effort }, { chat_id: bob.chat },
        { user_id: "bob" }]) {
        const answer = await call("effort",
          { action: "open", goal: "look into it", ...args });
        assert.equal(answer.isError, true, JSON.stringify(args));
      }
      await call("history", { id: bob.memory });
      await call("history", { id: bob.mixed });
      const thought = "Someone lives near the sea and owns a boat that leaks.";
      assert.equal((await call("refine", { id: bob.memory, thought })).isError,
        true);
      assert.equal((await call("consolidate",
        { ids: [bob.memory, bob.effort], thought })).isError, true);
      await call("contribute", { thought });
      /* one that is told by what it is like: Bob's is not quoted, a shared one is */
      isOk(await api.post("/api/v1/turns", { user_id: "bob", role: "user", chat_id: bob.chat,
        content: "We decided to sell the Zanzibar boat to Kathrin because the hull is rotten." }), 201);
      const alike = "We decided to sell the boat to Kathrin because the hull is rotten, and the house too.";
      const plain = isOk(await api.post("/api/v1/memory",
        { agent_id: "a", agent_name: "A", prompt: alike, read_only: true })).result;
      assert.match(plain.response, secret, "it is found where there is no wall");
      assert.doesNotMatch((await call("contribute", { thought: alike })).content[0].text, /Similar|Related/);
      assert.match((await call("contribute", { thought: alike })).content[0].text,
        /Similar thought exists[^]*Related:[^]*hull is rotten/);
      for (const uri of [`clew://chat/${bob.chat}`,
        `clew://memory/${bob.memory}`, `clew://memory/${bob.mixed}`]) {
        said.push(`${uri} ` + JSON.stringify(
          await client.readResource({ uri }).catch(String)));
      }
      const { resources } = await client.listResources();
      assert.ok(resources.some((one) => one.uri.endsWith(bob.own)));
      said.push(JSON.stringify(resources));
      for (const line of said) {
        /* what the caller itself said does not count */
        assert.doesNotMatch(line.replace(/Zanzibar sailing boat/g, "")
          .replace(/"terms":\[[^\]]*\]/g, ""), secret);
      }
      /* and nothing of Bob's was touched */
      const effort = isOk(await api.get(`/api/v1/memories/${bob.effort}`));
      assert.equal(effort.status, "open");
    });
  }

  test("a session is of the user it was opened for", async () => {
    const server = await open();
    const api = server.api();
    const bob = await seed(api);
    const rpc = (id, user, method, params = {}) => api.post("/mcp",
      { jsonrpc: "2.0", id: 1, method, params }, {
        accept: "application/json", ...(id && { "mcp-session-id": id }),
        ...(user && { "x-clew-user": user }) });
    const begin = async (user) => {
      const answer = await rpc(undefined, user, "initialize",
        { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } });
      assert.equal(answer.status, 200, answer.text);
      return answer.headers.get("mcp-session-id");
    };
    const users = [undefined, "ada", "bob", "x".repeat(512), `${"x".repeat(511)}y`];
    const ids = [];
    for (const user of users) ids.push(await begin(user));
    assert.equal(new Set(ids.map((id) => id.length)).size, 1, "an id tells nothing of the user");
    for (const [i, id] of ids.entries()) {
      for (const [k, user] of users.entries()) {
        const answer = await rpc(id, user, "resources/read", { uri: `clew://chat/${bob.own}` });
        if (i === k) {
          assert.equal(answer.status, 200, answer.text);
          assert.equal(/Hamburg/.test(answer.text), i < 2);
          continue;
        }
        /* as unknown as any: a client begins anew, with the header it has now */
        assert.equal(answer.status, 404, `${users[i]} as ${user}: ${answer.text}`);
        assert.match(answer.text, /there is no such session: initialize again/);
        assert.equal((await api.call("DELETE", "/mcp", undefined,
          { "mcp-session-id": id, ...(user && { "x-clew-user": user }) })).status, 404);
      }
    }
    for (const [i, id] of ids.entries()) {
      assert.equal((await rpc(id, users[i], "ping")).status, 200, "nobody else could end it");
    }
  });

  test("clew mcp does not start for a user that cannot be read", async () => {
    const server = await open();
    const key = await server.key("default");
    const folder = tempFolder();
    /* a shell, for Node.js passes no byte that is no text */
    for (const user of ["''", '"$UNSET"', '"$(printf %0513d 1)"', `"$(printf 'a\\377')"`]) {
      const command = `exec "$CLEW" mcp --url "$URL" --user ${user}`;
      const ended = spawnSync("sh", ["-c", command], { encoding: "utf8", input: "",
        env: cleanEnv(folder, { CLEW: bin, URL: server.url, CLEW_KEY: key }) });
      assert.equal(ended.status, 2, `${user}: ${ended.stderr}`);
      assert.match(ended.stderr, /--user needs a user's id/);
      assert.equal(ended.stdout, "");
      const setup = spawnSync("sh", ["-c", `exec "$CLEW" setup cursor --yes --user ${user}`],
        { encoding: "utf8", env: cleanEnv(folder, { CLEW: bin }) });
      assert.equal(setup.status, 2, `${user}: ${setup.stderr}`);
    }
    assert.deepEqual(fs.readdirSync(folder), []);
  });

  test("a user that cannot be read is refused", async () => {
    const server = await open();
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const user of ["", "x".repeat(5000)]) {
      const answer = await server.api().post("/mcp", body, {
        accept: "application/json, text/event-stream", "x-clew-user": user });
      assert.equal(answer.status, 400, answer.text);
    }
  });
});
