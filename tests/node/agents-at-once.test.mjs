/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents-at-once.test.mjs - 50 agents on one PostgreSQL through two clew
 * processes: nothing is lost, no cycle appears, weights are exact.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { startPostgres } from "./lib/postgres.mjs";
import { client, startServer } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const AGENTS = 50;
const facts = [
  "The agent monitor must check the role of every agent pane before each run.",
  "The agent monitor must check the status of every agent pane after each run.",
  "The agent monitor must check the memory of every agent pane during each run.",
];

/* Depth first: a thought still open when it is met again closes a cycle. */
function assertNoCycle(sources) {
  const state = new Map();
  const visit = (id) => {
    assert.notEqual(state.get(id), "open", `a cycle through ${id}`);
    if (state.get(id) === "done") return;
    state.set(id, "open");
    for (const source of sources.get(id) ?? []) visit(source);
    state.set(id, "done");
  };
  for (const id of sources.keys()) visit(id);
}

describe("50 agents at once", () => {
  let postgres;
  let servers;
  let count = 0;

  before(async () => {
    postgres = await startPostgres();
    const store = postgres.database();
    servers = [await startServer({ store })];
    servers.push(await startServer({ store }));
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await postgres.stop();
  });

  /* A tenant of its own, spoken to through both processes in turn. */
  async function tenant() {
    const key = await servers[0].key(`tenant${++count}`);
    const apis = servers.map((server) => client(server.url, key));
    return {
      api: apis[0],
      async say(agent, prompt, more = {}) {
        const answer = await apis[agent % 2].post("/api/v1/memory", {
          prompt, agent_id: `agent${agent}`, agent_name: `Agent ${agent}`, ...more,
        });
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      },
    };
  }
  const agents = (fn) => Promise.all(Array.from({ length: AGENTS }, (_, i) => fn(i)));

  test("every refinement and consolidation is there, and there is no cycle", async () => {
    const t = await tenant();
    const bases = [];
    for (const fact of facts) bases.push((await t.say(0, fact)).result.thought_id);
    const made = await agents(async (i) => {
      const refined = await t.say(i, `Refinement ${i}.`, { refines: bases[i % 3] });
      const b = refined.result.thought_id;
      const merged = await t.say(i + 1, `Merged ${i}.`, { consolidates: [b, bases[(i + 1) % 3]] });
      return [b, merged.result.thought_id];
    });
    const ids = new Set(made.flat());
    assert.equal(ids.size, 2 * AGENTS);
    const sources = new Map();
    /* what each base was refined by, as lineage shows it */
    for (const [n, base] of bases.entries()) {
      const lineage = (await t.api.get(`/api/v1/memories/${base}/lineage`)).body;
      const direct = lineage.chain.filter((node) => node.source_ids.includes(base));
      const expected = made.filter((_, i) => i % 3 === n).length +
        made.filter((_, i) => (i + 1) % 3 === n).length;
      assert.equal(direct.length, expected);
      for (const node of lineage.chain) sources.set(node.thought_id, node.source_ids);
      const memory = (await t.api.get(`/api/v1/memories/${base}`)).body;
      assert.equal(memory.superseded, true);
      const newest = direct.map((node) => [node.created_at, node.thought_id]).sort().at(-1)[1];
      assert.equal(memory.refined_by, newest, "the newest refiner is the one shown");
    }
    assert.equal(sources.size, 3 + 2 * AGENTS);
    assertNoCycle(sources);
  });

  test("weights are exact: each retrieval counts once", async () => {
    const t = await tenant();
    const ids = [];
    for (const fact of facts) ids.push((await t.say(0, fact)).result.thought_id);
    const weight = async (id) => (await t.api.get(`/api/v1/memories/${id}`)).body.weight;
    const before = new Map();
    for (const id of ids) before.set(id, await weight(id));
    const seen = new Map(ids.map((id) => [id, 0]));
    const answers = await agents((i) => t.say(i, "What must the agent monitor check in a pane?"));
    for (const { result, trace } of answers) {
      assert.equal(trace.thoughts_retrieved, result.sources.length, "all are shown");
      for (const source of result.sources) seen.set(source.thought_id, seen.get(source.thought_id) + 1);
    }
    assert.equal([...seen.values()].reduce((a, b) => a + b), 3 * AGENTS);
    for (const id of ids) {
      const expected = before.get(id) + 0.05 * seen.get(id);
      assert.ok(Math.abs((await weight(id)) - expected) < 1e-9, `${await weight(id)} ${expected}`);
    }
  });

  test("agents that take back and refine the same thought leave it whole", async () => {
    const t = await tenant();
    const base = (await t.say(0, facts[0])).result.thought_id;
    const kept = await agents(async (i) => {
      const id = (await t.say(i, `Version ${i}.`, { refines: base })).result.thought_id;
      if (i % 2) return id;
      const answer = await t.api.post(`/api/v1/memories/${id}/retract`, {});
      assert.equal(answer.status, 200, answer.text);
      return null;
    });
    const lineage = (await t.api.get(`/api/v1/memories/${base}/lineage`)).body;
    const valid = lineage.chain.filter((node) => node.depth === 1).map((node) => node.thought_id);
    assert.deepEqual(valid.sort(), kept.filter(Boolean).sort());
  });
});
