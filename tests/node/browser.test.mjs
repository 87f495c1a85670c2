/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.test.mjs - what a web page can make a browser send.
 *
 * A page cannot choose Sec-Fetch-Site and Origin; the browser says where a
 * request comes from. The cases are made from /openapi.json, so that a new
 * route is covered the moment it is in the table.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import http from "node:http";
import { before, describe, after, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk, isLinked } from "./lib/check.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

const id = "01900000-0000-7000-8000-000000000000";

/* fetch() sets headers of this kind itself: a plain client does not. */
function ask(url, method, path, headers = {}, body = undefined) {
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, { method, headers }, (answer) => {
      let text = "";
      if (/event-stream/.test(answer.headers["content-type"] ?? "")) { /* has no end */
        resolve({ status: answer.statusCode, text });
        answer.destroy();
        return;
      }
      answer.on("data", (part) => { text += part; });
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

/* Every route and mount: {path, method, isPublic}. */
async function routesOf(server) {
  const { paths } = isOk(await server.api().get("/openapi.json"));
  const rows = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation["x-clew-mount"]) continue; /* they are below */
      rows.push({ path: path.replaceAll(/\{\w+\}/g, id),
        method: method.toUpperCase(), isPublic: operation["x-clew-role"] === "none" });
    }
  }
  for (const path of ["/mcp", "/api/v1/import/file", "/v1/messages", "/v1/models", "/key/x/v1/messages", "/nowhere"]) {
    for (const method of ["GET", "POST"]) rows.push({ path, method, isPublic: false });
  }
  return rows;
}

describe("pages of others", () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.stop());

  for (const site of ["cross-site", "same-site", "Cross-Site", "anything"]) {
    test(`Sec-Fetch-Site: ${site} is refused on every route that is not public`, async () => {
      const rows = await routesOf(server);
      assert.ok(rows.length > 60);
      for (const { method, path, isPublic } of rows) {
        for (const verb of method === "GET" ? ["GET", "HEAD"] : [method]) {
          const answer = await ask(server.url, verb, path, { "sec-fetch-site": site });
          assert.equal(answer.status === 403, !isPublic, `${verb} ${path}: ${answer.status}`);
          if (!isPublic && verb !== "HEAD") {
            assert.equal(JSON.parse(answer.text).error.code, "ORIGIN_NOT_ALLOWED");
          }
        }
      }
    });
  }

  test("a foreign Origin is refused on every route", async () => {
    for (const origin of ["https://evil.example", "null", "http://localhost:1", "file://"]) {
      for (const { method, path } of await routesOf(server)) {
        const answer = await ask(server.url, method, path, { origin });
        assert.equal(answer.status, 403, `${method} ${path} from ${origin}`);
      }
    }
  });

  test("what the user asked for, and what comes from here, passes", async () => {
    for (const site of ["none", "same-origin"]) {
      const answer = await ask(server.url, "GET", "/api/v1/chats", { "sec-fetch-site": site });
      assert.equal(answer.status, 200);
    }
    const own = await ask(server.url, "GET", "/api/v1/chats",
      { origin: server.url, "sec-fetch-site": "same-origin" });
    assert.equal(own.status, 200);
  });

  test("a page whose host is allowed passes, and only that one", async (t) => {
    const other = await startServer({ args: ["--set", "server.allowed_hosts=app.example"] });
    t.after(() => other.stop());
    const from = (origin, site = "cross-site") => ask(other.url, "GET", "/api/v1/chats",
      { "sec-fetch-site": site, ...(origin ? { origin } : {}) });
    assert.equal((await from("https://app.example")).status, 200);
    assert.equal((await from("https://app.example.evil.example")).status, 403);
    assert.equal((await from(undefined)).status, 403, "nobody says who asks");
  });
});

onEachBackend("GET", (open) => {
  test("leaves nothing behind, on any route", async () => {
    const server = await open();
    const api = server.api();
    const prompt = "the deploy of the payment gateway fails because the token expired";
    isOk(await api.post("/api/v1/memory", { prompt, agent_id: "a", agent_name: "A" }));
    isOk(await api.post("/api/v1/turns", { user_id: "u", role: "user", content: prompt }), 201);
    const all = async () => (await api.get("/api/v1/export")).text;
    await isLinked(api);
    const before = await all();
    const name = { "x-clew-client": "a page" };
    const query = new URLSearchParams({ prompt: `${prompt} again, and was renewed`,
      agent_id: "page", agent_name: "Page" });
    for (const flag of ["", "&read_only=false", "&read_only=0"]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await api.call(method, `/api/v1/memory?${query}${flag}`, undefined, name);
        assert.equal(answer.status, 200, answer.text);
        if (method === "GET") {
          assert.equal(answer.body.result.thought_id, null);
          assert.equal(answer.body.trace.thoughts_contributed, 0);
        }
      }
    }
    const chat = isOk(await api.get("/api/v1/chats")).items[0].id;
    const memory = isOk(await api.get("/api/v1/memories")).items[0].id;
    for (const { method, path } of await routesOf(server)) {
      if (method !== "GET" || path === "/api/v1/events") continue; /* has no end */
      for (const one of [chat, memory]) {
        const target = path.replaceAll(id, one) + (path === "/api/v1/memory" ? `?${query}` : "");
        await api.get(target, name);
        await api.call("HEAD", target, undefined, name);
      }
    }
    assert.equal(await all(), before);
    /* who called is in no export */
    assert.deepEqual(isOk(await api.get("/api/v1/callers")).items, []);
  });

  test("is noted of no program, what MCP reads is: it comes as a POST", async () => {
    const server = await open();
    const api = server.api();
    const called = async () => isOk(await api.get("/api/v1/callers")).items.map((one) => one.name);
    const rpc = (method, params, headers = {}) => api.post("/mcp",
      { jsonrpc: "2.0", id: 1, method, params }, { accept: "application/json", ...headers });
    const begun = await rpc("initialize", { protocolVersion: "2025-11-25", capabilities: {},
      clientInfo: { name: "editor", version: "1" } });
    assert.deepEqual(await called(), []);
    const read = await rpc("tools/call", { name: "effort", arguments: { action: "list" } },
      { "mcp-session-id": begun.headers.get("mcp-session-id") });
    assert.equal(isOk(read).result.isError, false);
    assert.deepEqual(await called(), ["editor"]);
    isOk(await api.post("/api/v1/recall", { query: "tea" }, { "x-clew-client": "script" }));
    assert.deepEqual((await called()).sort(), ["editor", "script"]);
  });

  test("does not hide who only reads: clew mcp --url says so itself", async () => {
    const server = await open();
    const api = server.api();
    const key = await server.key("default", "read");
    const callers = async () => isOk(await api.get("/api/v1/callers", { authorization: `Bearer ${key}` })).items;
    const rpc = (id, method, params) => JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const list = { name: "effort", arguments: { action: "list" } };
    const folder = tempFolder();
    for (const [name, ...more] of [["reader"], ["walled reader", "--user", "ada"]]) {
      const { stdout } = spawnSync(bin, ["mcp", "--url", server.url, ...more], { encoding: "utf8", timeout: 60_000,
        env: cleanEnv(folder, { CLEW_KEY: key }), input: [
          rpc(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } }),
          rpc(2, "tools/call", list), rpc(3, "tools/call", list)].map((line) => `${line}\n`).join("") });
      assert.match(stdout, /No open efforts/, stdout);
      assert.ok((await callers()).some((one) => one.name === name && one.via === "api"), name);
    }
    /* who says no name is nobody */
    for (const name of ["", " ", undefined]) {
      isError(await api.post("/api/v1/callers", {}, { authorization: `Bearer ${key}`,
        ...(name === undefined ? {} : { "x-clew-client": name }) }), 400, "VALIDATION_ERROR", "x-clew-client");
    }
    assert.equal((await callers()).length, 2);
  });
});
