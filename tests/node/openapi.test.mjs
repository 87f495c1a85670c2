/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.test.mjs - the document is well formed and true. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";

import { isOk } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/* What somebody would write on top of the generated types. */
const generated = `
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

export async function post(baseUrl: string, key: string): Promise<string[]> {
  const client = createClient<paths>({ baseUrl, headers: { "x-api-key": key } });
  const turns: components["schemas"]["NewTurn"][] = ["one", "two"]
    .map((content, i) => ({ user_id: "u", role: "user", content, external_id: String(i) }));
  const { data, error } = await client.POST("/api/v1/turns", { body: { turns } });
  if (error) throw new Error(error.error.message);
  if (!("items" in data)) throw new Error("a batch answers a list");
  return data.items.map((item) => item.turn.text);
}
`;

/* Does `value` fit `schema`? Knows as much of JSON Schema as we use. */
function misfit(document, schema, value, where = "$") {
  if (schema.$ref) {
    const name = schema.$ref.replace("#/components/schemas/", "");
    assert.ok(document.components.schemas[name], `${schema.$ref} is missing`);
    return misfit(document, document.components.schemas[name], value, where);
  }
  if (schema.oneOf) {
    const bad = schema.oneOf.map((one) => misfit(document, one, value, where));
    return bad.some((one) => !one) ? null : `${where} fits none of oneOf: ${bad.join("; ")}`;
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
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const bad = schema.items && misfit(document, schema.items, item, `${where}[${i}]`);
      if (bad) return bad;
    }
  } else if (value && typeof value === "object") {
    const lacks = (schema.required ?? []).find((name) => !(name in value));
    if (lacks) return `${where}.${lacks} is missing`;
    for (const [name, item] of Object.entries(value)) {
      const part = schema.properties?.[name] ?? schema.additionalProperties;
      if (part === undefined && schema.properties) return `${where}.${name} is not described`;
      const bad = part && part !== true && misfit(document, part, item, `${where}.${name}`);
      if (bad) return bad;
    }
  }
  return null;
}

const methods = ["get", "post", "put", "patch", "delete"];
/* [where, operation] of all there are. */
const operations = (document) => Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => [`${method} ${path}`, operation, path, method]));

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
    const tags = new Set(document.tags.map((tag) => tag.name));
    const used = new Set();
    for (const [where, operation, path, method] of operations(document)) {
      assert.ok(methods.includes(method), where);
      assert.ok(operation.summary, where);
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/, where);
      assert.ok(!ids.has(operation.operationId), where);
      ids.add(operation.operationId);
      assert.equal(operation.tags.length, 1, where);
      assert.ok(tags.has(operation.tags[0]), where);
      used.add(operation.tags[0]);
      assert.ok(operation.responses.default, where);
      assert.ok(Object.keys(operation.responses).some((status) => /^4/.test(status)), where);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
      const declared = operation.parameters.filter((p) => p.in === "path");
      assert.deepEqual(declared.map((p) => p.name), inPath, where);
      assert.ok(declared.every((p) => p.required), where);
      if (method === "get") assert.equal(operation.requestBody, undefined);
      else if (operation.requestBody?.content["application/octet-stream"]) { /* a file as it is */
        assert.equal(path, "/api/v1/import/file");
      } else if (operation.requestBody) {
        assert.match(operation.requestBody.content["application/json"].schema.$ref ?? "",
          /^#\/components\/schemas\/\w+$/, `${where}: the body has a name`);
      }
    }
    assert.deepEqual([...used].sort(), [...tags].sort(), "a tag is used by none");
    assert.ok(ids.has("createTurns"));
    assert.ok(document.servers.length > 0);
    for (const path of ["/mcp", "/v1/messages", "/v1/chat/completions", "/v1/responses"]) {
      assert.ok(document.paths[path].post, path);
    }
  });

  test("redocly has nothing to say", async () => {
    const problems = await lintFromString({ source: JSON.stringify(document),
      absoluteRef: "openapi.json", config: await createConfig({ extends: ["recommended"] }) });
    assert.deepEqual(problems.map((p) => `${p.ruleId} ${p.location[0].pointer}`), []);
  });

  test("every reference leads somewhere", () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      assert.ok(document.components.schemas[name], name);
    }
  });

  test("every property and parameter has a type and a description", () => {
    const isWhole = (schema, where) => {
      if (schema.$ref) return;
      for (const [name, part] of Object.entries(schema.properties ?? {})) {
        assert.ok(part.description, `${where}.${name} is not described`);
        isWhole(part, `${where}.${name}`);
      }
      if (schema.items) isWhole(schema.items, `${where}[]`);
      assert.ok(!(schema.type === "object" && !schema.properties && !schema.additionalProperties),
        `${where} is any object`);
      for (const one of schema.oneOf ?? []) isWhole(one, where);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.ok(schema.description, `${name} is not described`);
      isWhole(schema, name);
    }
    for (const [where, operation] of operations(document)) {
      for (const parameter of operation.parameters) {
        assert.ok(parameter.description && Object.keys(parameter.schema).length > 0,
          `${where}: add "${parameter.name}" to openapi_fields.c`);
      }
    }
  });

  /* One call of every kind that answers JSON and needs nothing but a store. */
  test("answers look as they are described", async () => {
    const seen = new Set();
    const check = async (id, body, { query = "", status, headers, ...params } = {}) => {
      const [where, operation, path, method] = operations(document)
        .find(([, one]) => one.operationId === id);
      const target = path.replace(/\{(\w+)\}/g, (_, name) => params[name]) + query;
      const answer = await api.call(method.toUpperCase(), target,
        method === "get" ? undefined : body ?? {}, headers);
      const said = operation.responses[status ?? Object.keys(operation.responses)[0]];
      isOk(answer, Number(status ?? Object.keys(operation.responses)[0]));
      assert.equal(misfit(document, said.content["application/json"].schema, answer.body), null, where);
      if (body && operation.requestBody) {
        assert.equal(misfit(document,
          operation.requestBody.content["application/json"].schema, body), null, where);
      }
      seen.add(id);
      return answer.body;
    };
    const turn = (content, more = {}) => ({ user_id: "u", role: "user", content, ...more });
    const { chat, turn: first } = await check("createTurns",
      turn([{ type: "text", text: "hi" }], { external_id: "e1" }), { status: "201" });
    await check("createTurns", turn([{ type: "text", text: "hi" }], { external_id: "e1" }),
      { status: "200" });
    const { id } = chat;
    await check("createTurns", { turns: [
      turn("We decided to use PostgreSQL for the shop. The deploy fails with error 500.", { chat_id: id }),
      turn("My sister Anna lives in Berlin.", { chat_id: id }),
      turn("Actually, Anna lives in Hamburg now.", { chat_id: id }),
    ] }, { status: "201" });
    await check("findTurns", null, { query: "?external_id=e1" });
    const made = await check("createChat", { user_id: "u", title: "two" });
    await check("listChats");
    await check("getChat", null, { id });
    await check("updateChat", { title: "one" }, { id });
    await check("listTurns", null, { id });
    await check("listMarks", null, { id });
    await check("forkChat", { at_seq: 1 }, { id });
    await check("getChatTree", null, { id });
    for (const format of ["text", "openai", "anthropic"]) {
      await check("getContext", { budget_tokens: 800, message: "Where does Anna live?", format }, { id });
    }
    await check("compactChat", null, { id });
    await check("closeChat", null, { id: made.id });
    const effort = await check("createEffort", { user_id: "u", goal: "fix the deploy", chat_id: id });
    await api.post("/api/v1/recall", { query: "the deploy" }, { "x-clew-client": "tests" });
    assert.equal((await check("listCallers")).items.length, 1);
    await check("noteCaller", {}, { headers: { "x-clew-client": "reader" } });
    await check("listEfforts", null, { query: "?user_id=u&all=1" });
    await check("getEffort", null, { id: effort.id });
    await check("createEffortTurn", { role: "user", content: "try again" },
      { id: effort.id, status: "201" });
    await check("getEffortContext", null, { id: effort.id });
    await check("collapseEffort", { resolution: "done" }, { id: effort.id });
    await check("expandEffort", null, { id: effort.id });
    const episodes = await check("listEpisodes");
    if (episodes.items[0]) await check("getEpisode", null, { id: episodes.items[0].id });
    await check("listLinks");
    await check("getTuning");
    await check("listTasks");
    await check("getTrace", null, { id: first.id });
    const start = await check("start", { user_id: "u", intent: "the deploy of the shop" });
    await check("chooseStart", { answer: "fresh" }, { id: start.id });
    const sessions = await check("listSessions", null, { query: `?chat_id=${id}` });
    await check("endSession", null, { id: sessions.items[0].id });
    const chains = await check("listChains");
    await check("getChain", null, { id: chains.items[0].id });
    await check("concludeChain", null, { id: chains.items[0].id });
    await check("reopenChain", null, { id: chains.items[0].id });
    await check("recall", { query: "Where does Anna live?", explain: true });
    await check("recall", { query: "Anna", kinds: ["chat"] });
    await check("ask", { query: "Where does Anna live?" });
    await check("analyse", { text: "Anna meets Bob at 5 pm in Berlin on Friday. Why?" });
    await check("correctAnalysis", { text: "Why?", act: "question" });
    const thought = { prompt: "The shop's database is PostgreSQL 16, reached through pgbouncer.",
      agent_id: "agent-1", agent_name: "One" };
    const shared = await check("shareThought", thought);
    const refined = await check("shareThought", { ...thought, refines: shared.result.thought_id,
      prompt: "The shop's database is PostgreSQL 17, reached through pgbouncer." });
    await check("getThoughts", null,
      { query: "?prompt=which+database+has+the+shop&agent_id=a&agent_name=b" });
    await check("getLineage", null, { id: refined.result.thought_id });
    const memory = await check("createMemory", { user_id: "u", summary: "Anna likes tea.", tags: ["tea"] });
    await check("listMemories", null, { query: "?retracted=true" });
    await check("getMemory", null, { id: memory.id });
    await check("updateMemory", { pinned: true, expires_at: null }, { id: memory.id });
    await check("getMemorySource", null, { id: memory.id });
    await check("retractMemory", null, { id: memory.id });
    await check("undoMemories", { from: "agent-1", since: "2020-01-01T00:00:00Z", dry_run: true });
    await check("listConflicts");
    const { request_id: request, conversation_id: conversation } = await check("linkCall", {
      messages: [{ role: "user", content: "hello" }], model: "m" });
    await check("listRequests");
    await check("getRequest", null, { id: request });
    await check("relinkRequests");
    await check("getConversation", null, { id: conversation });
    await check("forget", { external_ids: ["e1"], dry_run: true });
    await check("forget", { external_ids: ["e1"] });
    await check("listAgents");
    await check("listModels");
    await check("recordUsage", { purpose: "test", model: "m", input_tokens: 1 });
    await check("listUsage");
    await check("getStats");
    await check("listUsers");
    await check("updateUser", { inactivity_minutes: 45 }, { user_id: "u" });
    await check("getTenant");
    await check("updateTenant", { llm: "allowed" });
    await check("findIds", null, { part: id.slice(0, 8) });
    await check("getSettings");
    await check("importRows", { rows: [] });
    await check("makeBackup", { dry_run: true });
    await check("getIndex");
    await check("getHealth");
    await check("getOpenapi");
    const key = await check("createKey", { role: "read" });
    api = server.api(await server.key("default"));
    await check("listKeys");
    await check("revokeKey", null, { id: key.id });
    const missing = await api.get(`/api/v1/chats/${first.id}`);
    assert.equal(misfit(document, { $ref: "#/components/schemas/Error" }, missing.body), null);
    const rest = operations(document).map(([, one]) => one)
      .filter((one) => !one["x-clew-mount"] && !seen.has(one.operationId))
      .map((one) => one.operationId);
    assert.deepEqual(rest.sort(), ["abandonMemory", "exportAll", "getLink", "getMetrics", "rateLink", "rateMemory",
      "reopenMemory", "resolveMemory", "revertTuning", "streamEvents"]);
  });

  test("a generated client compiles in strict mode and posts a batch", async () => {
    const folder = fs.mkdtempSync(path.join(here, "node_modules/.generated-"));
    try {
      fs.writeFileSync(path.join(folder, "package.json"), "{\"type\":\"module\"}");
      fs.writeFileSync(path.join(folder, "schema.ts"),
        astToString(await openapiTS(structuredClone(document))));
      fs.writeFileSync(path.join(folder, "post.ts"), generated);
      await promisify(execFile)(path.join(here, "node_modules/.bin/tsc"), ["--strict",
        "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--skipLibCheck",
        "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom",
        "--outDir", folder, path.join(folder, "post.ts")], { cwd: folder })
        .catch((error) => assert.fail(error.stdout));
      const { post } = await import(path.join(folder, "post.js"));
      const key = await server.key("generated");
      assert.deepEqual(await post(server.url, key), ["one", "two"]);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
