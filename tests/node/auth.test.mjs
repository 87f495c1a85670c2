/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.test.mjs - keys, roles, and the wall between tenants.
 *
 * The isolation cases are made from /openapi.json: a new route is covered the
 * moment it is in the table.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { schemaOf } from "./lib/openapi.mjs";

onEachBackend("keys", (open) => {
  let server;
  before(async () => {
    server = await open();
  });

  test("without any key, the loopback address is enough", async () => {
    isOk(await server.api().get("/api/v1/chats"));
    isOk(await server.api("whatever").get("/api/v1/chats"));
  });

  test("once a key was made, a valid one is needed", async () => {
    const key = await server.key("t", "admin");
    assert.match(key, /^clew_[0-9a-f]{16}_[0-9a-f]{64}$/);
    const answer = await server.api().get("/api/v1/chats");
    isError(answer, 401, "UNAUTHORIZED");
    assert.match(answer.headers.get("www-authenticate"), /^Bearer/);
    const flip = (text) => text.slice(0, -1) + (text.at(-1) === "0" ? "1" : "0");
    for (const bad of ["x", "clew_", flip(key), key + "0", key.slice(0, -1),
      `clew_${"0".repeat(16)}_${"0".repeat(64)}`, key.toUpperCase()]) {
      isError(await server.api(bad).get("/api/v1/chats"), 401, "UNAUTHORIZED");
    }
    isOk(await server.api(key).get("/api/v1/chats"));
    isOk(await server.api().get("/api/v1/chats", { "x-api-key": key }));
    isOk(await server.api().get("/healthz"));
  });

  test("roles permit what they say", async () => {
    const chat = { user_id: "u" };
    const read = server.api(await server.key("t", "read"));
    const write = server.api(await server.key("t", "write"));
    isOk(await read.get("/api/v1/chats"));
    isError(await read.post("/api/v1/chats", chat), 403, "FORBIDDEN");
    isOk(await write.get("/api/v1/chats"));
    isOk(await write.post("/api/v1/chats", chat), 201);
  });

  test("a revoked key is no key", async () => {
    const key = await server.key("t", "read");
    isOk(await server.api(key).get("/api/v1/chats"));
    await server.clew("keys", "revoke", key.split("_")[1]);
    isError(await server.api(key).get("/api/v1/chats"), 401, "UNAUTHORIZED");
  });

  test("no header or field moves a call to another tenant", async () => {
    const a = server.api(await server.key("a"));
    const b = server.api(await server.key("b"));
    isOk(await a.post("/api/v1/chats", { user_id: "u" }), 201);
    const { items } = isOk(await b.get("/api/v1/chats", {
      "x-clew-tenant": "a", "x-tenant": "a", tenant: "a",
    }));
    assert.deepEqual(items, []);
    isError(await b.get("/api/v1/chats?tenant=a"), 400, undefined, "tenant");
    isError(await b.post("/api/v1/chats", { user_id: "u", tenant: "a" }), 400,
      undefined, "tenant");
  });
});

onEachBackend("isolation", (open) => {
  let server;
  let a;
  let b;
  let chatOfA;
  const ids = []; /* everything of tenant A that has an id */
  const secret = "the-walrus-is-paul";

  before(async () => {
    server = await open();
    a = server.api(await server.key("tenant-a"));
    b = server.api(await server.key("tenant-b"));
    const { items } = isOk(await a.post("/api/v1/turns", {
      turns: Array.from({ length: 3 }, (_, i) => ({
        user_id: "victim", role: i % 2 ? "assistant" : "user",
        content: `${secret} ${i}`, external_id: `${secret}-${i}`,
      })),
    }), 201);
    const chat = items[0].chat.id;
    chatOfA = chat;
    const fork = isOk(await a.post(`/api/v1/chats/${chat}/fork`,
      { title: secret }), 201);
    const gather = (value) => {
      if (typeof value === "string"
        && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value)) ids.push(value);
      else if (value && typeof value === "object") {
        Object.values(value).forEach(gather);
      }
    };
    gather(items);
    gather(fork);
  });

  /* A body that gets as far as possible: every field, with A's ids. */
  function bodyFor(schema, id) {
    const body = {};
    for (const [name, field] of Object.entries(schema?.properties ?? {})) {
      if (!(schema.required ?? []).includes(name) && name !== "chat_id") continue;
      if (name.endsWith("_ids")) body[name] = [id];
      else if (field.format === "uuid") body[name] = id;
      else if (field.enum) [body[name]] = field.enum;
      else if (field.type === "integer") body[name] = 1;
      else if (field.type === "array") body[name] = [];
      else if (field.type === "boolean") body[name] = false;
      else body[name] = name === "user_id" ? "victim" : "walrus";
    }
    return body;
  }

  test("tenant B learns nothing by tenant A's ids, on any route", async () => {
    const document = isOk(await a.get("/openapi.json"));
    let tried = 0;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation["x-clew-role"] === "none") continue;
        if (!path.startsWith("/api/")) continue;
        if (path === "/api/v1/events") continue; /* has no end: page-api */
        const schema = schemaOf(document, operation.requestBody
          ?.content["application/json"]?.schema); /* a file is no JSON: refused as such */
        for (const id of new Set(ids)) {
          const target = path.replaceAll("{id}", id);
          const body = method === "get" || method === "delete"
            ? undefined : bodyFor(schema, id);
          const answer = await b.call(method.toUpperCase(), target, body);
          tried++;
          assert.ok(!answer.text.includes(secret),
            `${method} ${target} shows what is A's: ${answer.text}`);
          if (path.includes("{id}")) {
            isError(answer, answer.status);
            assert.equal(answer.status, 404,
              `${method} ${target}: ${answer.text}`);
          } else if (body?.chat_id) {
            assert.ok(answer.status >= 400, `${method} ${target}`);
          }
        }
      }
    }
    assert.ok(tried > 50);
  });

  test("unknown ids answer exactly as foreign ones do", async () => {
    const own = new Set(ids);
    const unknown = "01900000-0000-7000-8000-000000000000";
    for (const tail of ["", "/turns", "/tree"]) {
      for (const id of own) {
        const foreign = await b.get(`/api/v1/chats/${id}${tail}`,
          { "x-request-id": "same" });
        const nothing = await b.get(`/api/v1/chats/${unknown}${tail}`,
          { "x-request-id": "same" });
        assert.equal(foreign.text, nothing.text);
        assert.equal(foreign.status, nothing.status);
      }
    }
  });

  test("a newcomer's lists and searches are empty", async () => {
    const c = server.api(await server.key("tenant-c"));
    const document = isOk(await c.get("/openapi.json"));
    let tried = 0;
    for (const [path, methods] of Object.entries(document.paths)) {
      const schema = schemaOf(document, methods.get?.responses[200]
        ?.content?.["application/json"]?.schema);
      if (!schema?.properties?.next_cursor || path.includes("{")) continue;
      if (path === "/api/v1/models") continue; /* the server's, not a tenant's */
      if (path === "/api/v1/keys") continue; /* it has its own: page-api */
      const known = methods.get.parameters.map((p) => p.name);
      /* two lists want to know what to look for: something of tenant A's */
      const query = { "/api/v1/turns": `?external_id=${secret}-0`,
        "/api/v1/sessions": `?chat_id=${chatOfA}` }[path] ?? "";
      assert.deepEqual(isOk(await c.get(path + query)).items, [], path);
      tried++;
      if (known.includes("user_id")) {
        assert.deepEqual(isOk(await c.get(`${path}${query ? `${query}&` : "?"}user_id=victim`)).items, []);
      }
    }
    assert.ok(tried > 10);
    assert.deepEqual(isOk(await c.get("/api/v1/chats?q=walrus")).items, []);
    for (const kinds of [undefined, ["chat"], ["turn"], ["memory"], ["episode"]]) {
      assert.deepEqual(isOk(await c.post("/api/v1/recall",
        { query: `${secret} walrus`, kinds })).items, []);
    }
  });

  test("the same external id is another turn in another tenant", async () => {
    const answer = await b.post("/api/v1/turns", {
      user_id: "victim", role: "user", content: "mine",
      external_id: `${secret}-0`,
    });
    assert.equal(isOk(answer, 201).turn.text, "mine");
    assert.ok(!ids.includes(answer.body.chat.id));
  });

  test("A's cursor is worth nothing to B", async () => {
    const { next_cursor: cursor } = isOk(await a.get("/api/v1/chats?limit=1"));
    assert.ok(cursor);
    isError(await b.get(`/api/v1/chats?limit=1&cursor=${cursor}`), 400,
      "VALIDATION_ERROR", "cursor");
  });

  test("A still has all of it, unchanged", async () => {
    const chats = isOk(await a.get("/api/v1/chats")).items;
    assert.equal(chats.length, 2);
    const root = chats.find((chat) => !chat.parent_id);
    const { items } = isOk(await a.get(`/api/v1/chats/${root.id}/turns`));
    assert.deepEqual(items.map((turn) => turn.text),
      [0, 1, 2].map((i) => `${secret} ${i}`));
    assert.equal(root.closed_at, null);
  });
});
