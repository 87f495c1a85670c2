/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standing.test.mjs - what can be done to a note, a skill or an effort that no
 * longer holds: every action on every state, through the API, MCP and the
 * command line.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { client } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const agent = { agent_id: "a", agent_name: "A" };
const patch = (body) => (at, id) => at.api.patch(`/api/v1/memories/${id}`, body);
const post = (what, body) => (at, id) => at.api.post(`/api/v1/memories/${id}/${what}`, body);
const onEffort = (what, body) => (at, id) => at.api.post(`/api/v1/efforts/${id}/${what}`, body);

const actions = {
  pin: patch({ pinned: true }), unpin: patch({ pinned: false }), tag: patch({ tags: ["x"] }), name: patch({ type: "note" }),
  expire: patch({ expires_at: "2099-01-01T00:00:00Z" }), "unpin and tag": patch({ pinned: false, tags: ["x"] }),
  correct: patch({ summary: "It is otherwise." }), rate: post("outcome", { worked: true }), resolve: post("resolve", {}),
  reopen: post("reopen", {}), abandon: post("abandon", {}), retract: post("retract", {}),
  collapse: onEffort("collapse", {}), expand: onEffort("expand", {}),
  "part of it": (at, id) => at.api.post("/api/v1/efforts", { user_id: "ada", goal: "A part.", parent_id: id }),
};
const onNotes = ["pin", "unpin", "tag", "name", "expire", "unpin and tag", "correct", "retract"];
const onSkills = [...onNotes, "rate"];
const onEfforts = ["pin", "unpin", "tag", "expire", "unpin and tag", "resolve", "reopen", "abandon", "collapse", "expand", "part of it",
  "retract"];

/* What takes out of view goes always, and to take back twice is to take back. */
const always = new Set(["unpin", "retract"]);
/* What was replaced may be put right otherwise: its lineage forks. */
const isFork = (name, state) => name === "correct" && (state === "refined" || state === "merged");
const rule = { holds: null, retracted: "MEMORY_RETRACTED", refined: "MEMORY_SUPERSEDED", merged: "MEMORY_SUPERSEDED",
  forgotten: "NOT_FOUND" };

onEachBackend("what no longer holds", (open) => {
  let server;
  let n = 0;
  before(async () => {
    server = await open();
  });

  async function place() {
    const tenant = `standing-${++n}`;
    const key = await server.key(tenant);
    const api = client(server.url, key);
    const memory = async (type) => isOk(type === "effort"
      ? await api.post("/api/v1/efforts", { user_id: "ada", goal: `Mend the gate, ${++n}.` })
      : await api.post("/api/v1/memories", { user_id: "ada", type, summary: `The gate creaks, ${++n}.` }), 201);
    const think = async (body) => isOk(await api.post("/api/v1/memory", { ...agent, prompt: "It is said otherwise.", ...body })).result;
    return { tenant, key, api, memory, think };
  }

  const into = {
    holds: async () => null,
    retracted: async (at, id) => isOk(await at.api.post(`/api/v1/memories/${id}/retract`)) && null,
    refined: async (at, id) => (await at.think({ refines: id })).thought_id,
    merged: async (at, id) => (await at.think({ consolidates: [id, (await at.memory("fact")).id] })).thought_id,
    forgotten: async (at, id) => isOk(await at.api.post("/api/v1/forget", { memory_ids: [id] })) && null,
  };

  for (const [type, names, states] of [["fact", onNotes, Object.keys(rule)], ["skill", onSkills, Object.keys(rule)],
    ["effort", onEfforts, ["holds", "retracted", "forgotten"]]]) {
    describe(type, () => {
      for (const state of states) {
        test(`${state}: every action`, async () => {
          const at = await place();
          for (const name of names) {
            const { id } = await at.memory(type);
            const holder = await into[state](at, id);
            const before = (await at.api.get(`/api/v1/memories/${id}`)).body;
            const answer = await actions[name](at, id);
            const isFree = (state !== "forgotten" && always.has(name)) || isFork(name, state);
            const code = isFree ? null : rule[state];
            if (!code) {
              assert.ok(answer.status < 300, `${name}: ${answer.text}`);
              continue;
            }
            assert.equal(answer.status, code === "NOT_FOUND" ? 404 : 409, `${name}: ${answer.text}`);
            assert.equal(answer.body.error.code, code, name);
            if (holder) assert.match(answer.body.error.message, new RegExp(holder), "it says what holds");
            const after = (await at.api.get(`/api/v1/memories/${id}`)).body;
            if (!after.error) assert.deepEqual(after, before, `${name} changed nothing`);
          }
        });
      }
    });
  }

  test("to take back twice changes nothing", async () => {
    const at = await place();
    const { id } = await at.memory("fact");
    const first = isOk(await at.api.post(`/api/v1/memories/${id}/retract`));
    assert.deepEqual(isOk(await at.api.post(`/api/v1/memories/${id}/retract`)), first);
  });

  test("what a taken-back one had replaced holds again", async () => {
    const at = await place();
    const { id } = await at.memory("fact");
    const holder = await into.refined(at, id);
    isOk(await at.api.post(`/api/v1/memories/${holder}/retract`));
    assert.equal(isOk(await actions.pin(at, id)).pinned, true);
  });

  test("the command line and MCP say the same", async () => {
    const at = await place();
    const effort = await at.memory("effort");
    await into.retracted(at, effort.id);
    await assert.rejects(server.clew("resolve", effort.id, "--tenant", at.tenant, "--json"),
      ({ code, stderr }) => code === 5 && JSON.parse(stderr).error.code === "MEMORY_RETRACTED");
    const headers = { authorization: `Bearer ${at.key}`, "content-type": "application/json", accept: "application/json" };
    const ask = (method, params) => fetch(`${server.url}/mcp`,
      { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
    headers["mcp-session-id"] = (await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {},
      clientInfo: { name: "t", version: "1" } })).headers.get("mcp-session-id");
    const call = async (name, args) => (await ask("tools/call", { name, arguments: args })).json();
    const said = JSON.stringify(await call("effort", { action: "resolve", id: effort.id }));
    assert.match(said, /MEMORY_RETRACTED/);
  });
});
