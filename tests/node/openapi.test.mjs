/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.test.mjs - the document is well formed and true. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";

/* Does `value` fit `schema`? Knows as much of JSON Schema as we use. */
function misfit(document, schema, value, where = "$") {
  if (schema.$ref) {
    const name = schema.$ref.replace("#/components/schemas/", "");
    assert.ok(document.components.schemas[name], `${schema.$ref} is missing`);
    return misfit(document, document.components.schemas[name], value, where);
  }
  if (schema.oneOf) {
    return schema.oneOf.some((one) => !misfit(document, one, value, where))
      ? null : `${where} fits none of oneOf`;
  }
  if (schema.enum && !schema.enum.includes(value)) return `${where} not in enum`;
  if (schema.type) {
    const type = value === null ? "null" : Array.isArray(value) ? "array"
      : Number.isInteger(value) ? "integer" : typeof value;
    const types = [schema.type].flat();
    if (!types.includes(type) && !(type === "integer" && types.includes("number"))) {
      return `${where} is ${type}, not ${types}`;
    }
  }
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (value && typeof value === "object" && name in value) {
      const bad = misfit(document, part, value[name], `${where}.${name}`);
      if (bad) return bad;
    }
  }
  if (value && schema.properties && !Array.isArray(value)
      && Object.keys(schema.properties).length > 0) {
    for (const name of Object.keys(value)) {
      if (!(name in schema.properties)) return `${where}.${name} is not described`;
    }
  }
  if (Array.isArray(value) && schema.items) {
    for (const [i, item] of value.entries()) {
      const bad = misfit(document, schema.items, item, `${where}[${i}]`);
      if (bad) return bad;
    }
  }
  return null;
}

describe("openapi.json", () => {
  let server;
  let api;
  let document;
  before(async () => {
    server = await startServer();
    api = server.api();
    document = isOk(await api.get("/openapi.json"));
  });
  after(() => server.stop());

  test("every operation is whole", () => {
    const ids = new Set();
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method} ${path}`;
        assert.ok(["get", "post", "put", "patch", "delete"].includes(method), where);
        assert.ok(operation.summary, where);
        assert.ok(!ids.has(operation.operationId), where);
        ids.add(operation.operationId);
        assert.ok(Object.keys(operation.responses).length >= 2, where);
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
        const declared = operation.parameters.filter((p) => p.in === "path");
        assert.deepEqual(declared.map((p) => p.name), inPath, where);
        assert.ok(declared.every((p) => p.required), where);
        if (method === "get") assert.equal(operation.requestBody, undefined);
      }
    }
  });

  test("every reference leads somewhere", () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      assert.ok(document.components.schemas[name], name);
    }
  });

  test("every field and parameter has a type", () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const schema = operation.requestBody
          ?.content["application/json"].schema;
        for (const [name, field] of Object.entries(schema?.properties ?? {})) {
          assert.ok(Object.keys(field).length > 0,
            `${method} ${path}: add "${name}" to openapi_schemas.c`);
        }
        for (const parameter of operation.parameters) {
          assert.ok(Object.keys(parameter.schema).length > 0,
            `${method} ${path}: add "${parameter.name}" to openapi_schemas.c`);
        }
      }
    }
  });

  test("answers look as they are described", async () => {
    const answerOf = (path, method, status) => document.paths[path][method]
      .responses[status].content["application/json"].schema;
    const check = (path, method, status, answer) => {
      isOk(answer, status);
      assert.equal(misfit(document, answerOf(path, method, status), answer.body),
        null);
    };
    const turn = await api.post("/api/v1/turns",
      { user_id: "u", role: "user", content: [{ type: "text", text: "hi" }] });
    check("/api/v1/turns", "post", 201, turn);
    const { id } = turn.body.chat;
    check("/api/v1/chats", "post", 201,
      await api.post("/api/v1/chats", { user_id: "u" }));
    check("/api/v1/chats", "get", 200, await api.get("/api/v1/chats"));
    check("/api/v1/chats/{id}", "get", 200, await api.get(`/api/v1/chats/${id}`));
    check("/api/v1/chats/{id}/turns", "get", 200,
      await api.get(`/api/v1/chats/${id}/turns`));
    check("/api/v1/chats/{id}/tree", "get", 200,
      await api.get(`/api/v1/chats/${id}/tree`));
    check("/api/v1/recall", "post", 200,
      await api.post("/api/v1/recall", { query: "hi", explain: true }));
    check("/healthz", "get", 200, await api.get("/healthz"));
    const missing = await api.get(`/api/v1/chats/${turn.body.turn.id}`);
    assert.equal(misfit(document, { $ref: "#/components/schemas/Error" },
      missing.body), null);
  });
});
