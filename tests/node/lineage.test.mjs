/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.test.mjs - thoughts, refinements and lineage over HTTP, AC1 to AC10
 * of the thought lineage document by name, and the rules beside them.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { client } from "./lib/server.mjs";

const nobody = "01900000-0000-7000-8000-000000000000";

/* Sentences that share a subject, so that they find each other. */
const facts = {
  monitor: "The agent monitor must check both the status and the role of every agent pane.",
  roleOnly: "The agent monitor must check only the role of every agent pane, never the status.",
};

onEachBackend("lineage", (open) => {
  let server;
  let count = 0;

  before(async () => {
    server = await open();
  });

  /* Each test in a tenant of its own. */
  async function tenant() {
    const api = client(server.url, await server.key(`tenant${++count}`));
    return {
      api,
      async say(prompt, more = {}) {
        const answer = await api.post("/api/v1/memory", {
          prompt, agent_id: "test", agent_name: "Test", ...more,
        });
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      },
      async memory(id) {
        const answer = await api.get(`/api/v1/memories/${id}`);
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      },
      async lineage(id) {
        const answer = await api.get(`/api/v1/memories/${id}/lineage`);
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      },
    };
  }

  /* A chain of `length` thoughts, each refining the one before. */
  async function chain(t, length) {
    const ids = [(await t.say(`${facts.monitor} Version 0.`)).result.thought_id];
    for (let i = 1; i < length; i++) {
      const next = await t.say(`${facts.roleOnly} Version ${i}.`,
        { refines: ids.at(-1) });
      ids.push(next.result.thought_id);
    }
    return ids;
  }

  test("AC1: refinement via /memory", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    const b = await t.say("updated insight", { refines: a.result.thought_id });
    assert.ok(b.trace.operations.includes("contribute"));
    const stored = await t.memory(b.result.thought_id);
    assert.equal(stored.thought_type, "refinement");
    const source = await t.memory(a.result.thought_id);
    assert.equal(stored.weight, Math.max(1, source.weight * 0.5));
    const nodes = (await t.lineage(b.result.thought_id)).chain;
    const own = nodes.find((node) => node.depth === 0);
    assert.deepEqual(own.source_ids, [a.result.thought_id]);
  });

  test("AC2: consolidation via /memory", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    const b = await t.say("Deployments to the staging cluster happen every Tuesday morning at nine.");
    const ids = [a.result.thought_id, b.result.thought_id];
    const c = await t.say("merged insight", { consolidates: ids });
    const stored = await t.memory(c.result.thought_id);
    assert.equal(stored.thought_type, "consolidation");
    assert.equal(stored.weight, 1);
    const own = (await t.lineage(c.result.thought_id)).chain
      .find((node) => node.depth === 0);
    assert.deepEqual(own.source_ids, ids);
  });

  test("AC3: superseded marking in retrieval", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    const b = await t.say(facts.roleOnly, { refines: a.result.thought_id });
    const found = await t.say("What must the agent monitor check in every pane?");
    const old = found.result.sources
      .find((s) => s.thought_id === a.result.thought_id);
    const now = found.result.sources
      .find((s) => s.thought_id === b.result.thought_id);
    assert.equal(old.superseded, true);
    assert.equal(old.refined_by, b.result.thought_id);
    assert.equal(now.superseded, false);
    assert.equal(now.refined_by, null);
  });

  test("AC4: score adjustment", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    const b = await t.say(facts.roleOnly, { refines: a.result.thought_id });
    const found = await t.say("Does the agent monitor check status and role of a pane?");
    const scores = found.result.sources;
    assert.equal(scores[0].thought_id, b.result.thought_id);
    assert.ok(scores[0].score > scores.find(
      (s) => s.thought_id === a.result.thought_id).score);
    assert.ok(scores.every((s) => s.score >= 0 && s.score <= 1));
  });

  test("AC5: lineage query", async () => {
    const t = await tenant();
    const [a, b, c] = await chain(t, 3);
    const depths = async (id) => Object.fromEntries(
      (await t.lineage(id)).chain.map((node) => [node.thought_id, node.depth]));
    assert.deepEqual(await depths(b), { [a]: -1, [b]: 0, [c]: 1 });
    assert.deepEqual(await depths(a), { [a]: 0, [b]: 1, [c]: 2 });
  });

  test("AC6: lineage depth cap", async () => {
    const t = await tenant();
    const ids = await chain(t, 13);
    const whole = await t.lineage(ids[0]);
    assert.equal(whole.chain.length, 10);
    assert.equal(whole.truncated, true);
    const exact = await t.lineage(ids[3]);
    assert.equal(exact.chain.length, 13);
    assert.equal(exact.truncated, false, "ends exactly at the cap");
  });

  test("AC7: refinement suggestion", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    assert.equal(a.result.guidance, null, "never itself");
    const b = await t.say(facts.monitor.replace("must", "should"));
    assert.match(b.result.guidance, /\/brain refine/);
    assert.ok(b.result.guidance.includes(a.result.thought_id));
    const stored = await t.memory(b.result.thought_id);
    assert.equal(stored.thought_type, "original");
  });

  test("AC8: backward compatibility", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    const stored = await t.memory(a.result.thought_id);
    assert.equal(stored.thought_type, "original");
    const own = (await t.lineage(a.result.thought_id)).chain[0];
    assert.deepEqual(own.source_ids, []);
    assert.deepEqual(Object.keys(a.trace).sort(), [
      "context_used", "contribution_threshold_met", "operations",
      "retrieval_method", "session_id", "thoughts_contributed",
      "thoughts_retrieved"]);
    for (const field of ["response", "sources", "highways_nearby",
      "disambiguation", "guidance"]) {
      assert.ok(field in a.result, field);
    }
  });

  test("AC9: validation", async () => {
    const t = await tenant();
    const a = (await t.say(facts.monitor)).result.thought_id;
    const before = (await t.api.get("/api/v1/memories")).body.items.length;
    const ask = async (more) => {
      const answer = await t.api.post("/api/v1/memory", {
        prompt: facts.roleOnly, agent_id: "test", agent_name: "Test", ...more,
      });
      return [answer.status, answer.body.error.code, answer.body.error.type];
    };
    assert.deepEqual(await ask({ refines: nobody }),
      [404, "THOUGHT_NOT_FOUND", "NOT_FOUND"]);
    assert.deepEqual(await ask({ consolidates: [a, nobody] }),
      [404, "THOUGHT_NOT_FOUND", "NOT_FOUND"]);
    assert.deepEqual(await ask({ refines: a, consolidates: [a, nobody] }),
      [400, "MUTUAL_EXCLUSION", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ consolidates: [a] }),
      [400, "MIN_CONSOLIDATION", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ consolidates: [a, a] }),
      [400, "MIN_CONSOLIDATION", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ prompt: "  " }),
      [400, "VALIDATION_ERROR", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ prompt: "x".repeat(10001) }),
      [400, "VALIDATION_ERROR", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ agent_id: "x".repeat(101) }),
      [400, "VALIDATION_ERROR", "VALIDATION_ERROR"]);
    assert.deepEqual(await ask({ refines: "no id" }),
      [400, "VALIDATION_ERROR", "VALIDATION_ERROR"]);
    const after = (await t.api.get("/api/v1/memories")).body.items.length;
    assert.equal(after, before, "nothing is stored on an error");
  });

  test("AC10: brain skill commands", async () => {
    const name = `tenant${++count}`;
    const speaks = ["query", "contribute", "refine", "consolidate"];
    const brain = async (verb, ...words) => (await server.clew("brain", verb,
      ...words, "--tenant", name,
      ...speaks.includes(verb) ? ["--agent", "skill"] : [])).stdout;
    const id = (text) => /^stored (\S+)$/m.exec(text)[1];
    const a = id(await brain("contribute", facts.monitor));
    const b = id(await brain("refine", a, "updated insight"));
    const c = id(await brain("contribute",
      "Deployments to the staging cluster happen every Tuesday morning at nine."));
    const d = id(await brain("consolidate", `${b},${c}`, "merged insight"));
    const tree = await brain("history", b);
    const lines = tree.trimEnd().split("\n");
    assert.equal(lines.length, 3, tree);
    const cut = (one) => `${one.slice(0, 13)}[-0-9a-f]{0,10}`; /* as much as tells them apart */
    assert.match(lines[0], new RegExp(`^${cut(a)} {2}original by skill`));
    assert.match(lines[1], new RegExp(`^└─ ${cut(b)} \\* {2}refinement by skill`));
    assert.match(lines[2], new RegExp(`^ {3}└─ ${cut(d)} {2}consolidation by skill`));
    const merged = await brain("history", d);
    assert.match(merged, new RegExp(`^${cut(c)}  original[^\n]*\n└─ ${cut(d)}  \\(see above\\)$`, "m"));
    const short = (await server.clew("history", a, "--tenant", name)).stdout;
    assert.match(short, new RegExp(`${cut(a)} \\* {2}original`));
    const found = await brain("query", "What must the agent monitor check?");
    assert.match(found, new RegExp(`${cut(a)} .* superseded by ${cut(b)}`));
    const again = await brain("contribute", facts.monitor);
    assert.match(again, /Consider \/brain refine/, "guidance is shown");
    await brain("retract", b);
    const restored = JSON.parse(await brain("history", a, "--json"));
    assert.deepEqual(restored.chain.map((node) => node.thought_id), [a]);
    await assert.rejects(brain("refine", nobody, "x"), { code: 4 });
    await assert.rejects(brain("contribute", "too short"), { code: 2 });
  });

  test("a tree that is deeper than it is drawn goes on below", async () => {
    const t = await tenant();
    const ids = await chain(t, 40);
    const all = (await t.say("The agent monitor checks status and role, as every version of it says.",
      { consolidates: ids })).result.thought_id;
    const lines = (await server.clew("history", all, "--tenant", `tenant${count}`)).stdout.trimEnd().split("\n");
    /* each is told of once, wherever it is named beside that */
    assert.equal(lines.filter((line) => / by Test, /.test(line)).length, 41, lines.join("\n"));
    assert.equal(lines.filter((line) => /\(see below\)/.test(line)).length, 1, lines.join("\n"));
  });

  test("the nil id names nothing, and looking does not excuse a wrong id", async () => {
    const t = await tenant();
    const a = (await t.say(facts.monitor)).result.thought_id;
    const nil = "00000000-0000-0000-0000-000000000000";
    const count = async () => (await t.api.get("/api/v1/memories")).body.items.length;
    const before = await count();
    for (const more of [{ refines: nil }, { consolidates: [a, nil] },
      { refines: nobody, read_only: true }, { consolidates: [a, nobody], read_only: true }]) {
      const answer = await t.api.post("/api/v1/memory",
        { prompt: facts.roleOnly, agent_id: "x", agent_name: "X", ...more });
      assert.equal(answer.status, 404, JSON.stringify(more));
      assert.equal(answer.body.error.code, "THOUGHT_NOT_FOUND");
    }
    const both = await t.api.post("/api/v1/memory", { prompt: facts.roleOnly, agent_id: "x",
      agent_name: "X", refines: nil, consolidates: [a, nobody] });
    assert.equal(both.body.error.code, "MUTUAL_EXCLUSION");
    assert.equal((await t.api.get(`/api/v1/memories/${a}/lineage?at=2020-01-01T00:00:00Z`)).status, 404,
      "it was not known then");
    assert.equal(await count(), before);
  });

  test("another tenant's thoughts do not exist", async () => {
    const a = await tenant();
    const b = await tenant();
    const id = (await a.say(facts.monitor)).result.thought_id;
    const answer = await b.api.post("/api/v1/memory", {
      prompt: facts.roleOnly, agent_id: "x", agent_name: "X", refines: id,
    });
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error.code, "THOUGHT_NOT_FOUND");
    assert.equal((await b.api.get(`/api/v1/memories/${id}`)).status, 404);
    assert.equal((await b.api.get(`/api/v1/memories/${id}/lineage`)).status, 404);
  });

  test("short texts, lone questions and replies are not stored", async () => {
    const t = await tenant();
    for (const prompt of [
      "too short to keep",
      "What must the agent monitor check in every pane, and how often does it do so?",
      "Based on what you told me earlier today I will restart the agent monitor now.",
    ]) {
      const answer = await t.say(prompt);
      assert.equal(answer.result.thought_id, null, prompt);
      assert.equal(answer.trace.contribution_threshold_met, false);
    }
    const kept = await t.say(facts.monitor, { read_only: true });
    assert.equal(kept.result.thought_id, null, "read_only never stores");
  });

  test("a new thought neither finds nor reinforces itself", async () => {
    const t = await tenant();
    const a = await t.say(facts.monitor);
    assert.deepEqual(a.result.sources, []);
    assert.equal((await t.memory(a.result.thought_id)).weight, 1);
  });

  test("retrieval and later contributions add weight, exactly", async () => {
    const t = await tenant();
    const session = nobody.replace(/0$/, "1");
    const a = (await t.say(facts.monitor)).result.thought_id;
    await t.say("What does the agent monitor check?", { session_id: session });
    assert.ok(Math.abs((await t.memory(a)).weight - 1.05) < 1e-9);
    const b = await t.say(
      "Rotating the signing keys of the gateway needs two people and a ticket.",
      { session_id: session });
    assert.ok(b.trace.operations.includes("feedback_implicit"));
    const weight = (await t.memory(a)).weight;
    const again = b.result.sources.some((s) => s.thought_id === a) ? 0.05 : 0;
    assert.ok(Math.abs(weight - (1.07 + again)) < 1e-9, `${weight}`);
  });

  test("retract takes a refinement back and restores its source", async () => {
    const t = await tenant();
    const [a, b] = await chain(t, 2);
    assert.equal((await t.memory(a)).superseded, true);
    const answer = await t.api.post(`/api/v1/memories/${b}/retract`, {});
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await t.memory(a)).superseded, false);
    const found = await t.say("What must the agent monitor check?");
    assert.deepEqual(found.result.sources.map((s) => s.thought_id), [a]);
  });

  test("forgetting a value does not bring back the one before it", async () => {
    const t = await tenant();
    const [a, b, c, d] = await chain(t, 4);
    const answer = await t.api.post("/api/v1/forget", { memory_ids: [b, c] });
    assert.equal(answer.status, 200, answer.text);
    const old = await t.memory(a);
    assert.deepEqual([old.superseded, old.refined_by], [true, d]);
    assert.deepEqual((await t.lineage(d)).chain.map((node) => node.thought_id), [a, d]);
    assert.equal((await t.api.get(`/api/v1/memories/${b}`)).status, 404);
  });

  test("refining what is superseded is allowed and said", async () => {
    const t = await tenant();
    const [a, b] = await chain(t, 2);
    const c = await t.say(`${facts.monitor} Once more.`, { refines: a });
    assert.ok(c.result.guidance.includes(b));
    assert.equal((await t.memory(a)).refined_by, c.result.thought_id);
  });

  test("as-of answers what was known then", async () => {
    const t = await tenant();
    const [a, b] = await chain(t, 2);
    const before = (await t.memory(b)).created_at;
    const at = new Date(Date.parse(before) - 1).toISOString();
    const found = await t.api.post("/api/v1/recall", {
      query: "agent monitor", kinds: ["memory"], at,
    });
    assert.deepEqual(
      found.body.items.map((item) => [item.id, item.superseded]), [[a, false]]);
    const then = await t.api.get(`/api/v1/memories/${a}/lineage?at=${at}`);
    assert.equal(then.body.chain.length, 1);
  });

  test("the query string asks the same", async () => {
    const t = await tenant();
    await t.say(facts.monitor);
    const query = new URLSearchParams({
      prompt: "What does the agent monitor check?",
      agent_id: "q", agent_name: "Q",
    });
    const answer = await t.api.get(`/api/v1/memory?${query}`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.result.sources.length, 1);
  });

  test("an agent is welcomed once", async () => {
    const t = await tenant();
    const first = await t.say(facts.monitor);
    assert.ok(first.trace.operations.includes("onboard"));
    const second = await t.say(facts.roleOnly);
    assert.ok(!second.trace.operations.includes("onboard"));
  });

  test("highways: three accesses by two agents, and not before", async () => {
    const t = await tenant();
    const id = (await t.say(facts.monitor)).result.thought_id;
    const ask = async (agent_id) => (await t.say("What must the agent monitor check?",
      { agent_id, agent_name: agent_id })).result.highways_nearby;
    assert.deepEqual(await ask("one"), []);
    assert.deepEqual(await ask("one"), []);
    assert.deepEqual(await ask("one"), [], "one agent makes no highway");
    assert.deepEqual(await ask("two"), [{ thought_id: id, accesses: 4, agents: 2,
      content_preview: facts.monitor.slice(0, 80) }]);
  });

  test("disambiguation: ten hits over three tags are clustered by tag", async () => {
    const t = await tenant();
    const things = ["lamp", "printer", "window", "garden", "bridge", "ladder",
      "engine", "mirror", "barrel", "compass"];
    const ask = () => t.say("What must the agent monitor check?", { read_only: true });
    for (const [i, thing] of things.entries()) {
      assert.equal((await ask()).result.disambiguation, null, `${i} hits`);
      await t.say(`The agent monitor must check the ${thing} of every workshop before noon.`);
    }
    const { clusters } = (await ask()).result.disambiguation;
    assert.ok(clusters.length >= 3);
    for (const { tag, count } of clusters) {
      assert.ok(tag.length > 0 && count >= 1 && count <= 10, `${tag} ${count}`);
    }
    const told = await t.say("What must the agent monitor check?");
    assert.ok(told.trace.operations.includes("disambiguate"));
  });

  test("undo takes back what an agent or a key contributed, and no more", async () => {
    const t = await tenant();
    const since = new Date(Date.now() - 1000).toISOString();
    const good = (await t.say(facts.monitor)).result.thought_id;
    const bad = (await t.say(facts.roleOnly,
      { refines: good, agent_id: "evil", agent_name: "Evil" })).result.thought_id;
    assert.equal((await t.memory(good)).superseded, true);
    const undo = (more) => t.api.post("/api/v1/memories/undo",
      { from: "evil", since, ...more });
    const dry = await undo({ dry_run: true });
    assert.deepEqual(dry.body, { retracted: [bad], more: false, dry_run: true });
    assert.equal((await t.memory(good)).superseded, true);
    const later = await undo({ since: new Date(Date.now() + 60000).toISOString() });
    assert.deepEqual(later.body.retracted, []);
    assert.deepEqual((await undo()).body.retracted, [bad]);
    assert.deepEqual((await undo()).body.retracted, [], "twice changes nothing");
    assert.equal((await t.memory(good)).superseded, false);
    const found = await t.say("What must the agent monitor check?");
    assert.deepEqual(found.result.sources.map((s) => s.thought_id), [good]);
    const kept = await t.lineage(bad);
    assert.equal(kept.chain.find((node) => node.depth === 0).retracted, true);
  });

  test("undo is for admins and stays in its tenant", async () => {
    const name = `tenant${++count}`;
    const writer = client(server.url, await server.key(name, "write"));
    const body = { from: "test", since: "2020-01-01T00:00:00Z" };
    assert.equal((await writer.post("/api/v1/memories/undo", body)).status, 403);
    const t = await tenant();
    const other = await tenant();
    const a = (await t.say(facts.monitor)).result.thought_id;
    assert.deepEqual((await other.api.post("/api/v1/memories/undo", body)).body.retracted, []);
    assert.equal((await t.memory(a)).retracted_at, null);
    for (const [bad, field] of [[{ since: body.since }, "from"], [{ from: "x" }, "since"],
      [{ ...body, from: "" }, "from"], [{ ...body, since: "soon" }, "since"]]) {
      const answer = await t.api.post("/api/v1/memories/undo", bad);
      assert.equal(answer.status, 400);
      assert.equal(answer.body.error.field, field);
    }
  });

  test("conflicts show what disagrees until it is settled", async () => {
    const t = await tenant();
    const turn = async (content) => {
      const answer = await t.api.post("/api/v1/turns", { user_id: "ada", role: "user", content });
      assert.equal(answer.status, 201, answer.text);
    };
    const list = async (query = "") => (await t.api.get(`/api/v1/conflicts${query}`)).body.items;
    await turn("Our deadline is Friday.");
    assert.deepEqual(await list(), []);
    await turn("Our release deadline is Monday.");
    const [conflict, ...rest] = await list("?user_id=ada");
    assert.deepEqual(rest, []);
    assert.equal(conflict.attribute, "deadline");
    assert.match(conflict.older.summary, /Friday/);
    assert.match(conflict.newer.summary, /Monday/);
    assert.deepEqual(await list("?user_id=bob"), []);
    await t.say(conflict.suggestion.prompt, { refines: conflict.suggestion.refines });
    assert.deepEqual(await list(), [], "the suggestion settles it");
  });

  test("a name in common is no conflict", async () => {
    const t = await tenant();
    const pairs = {
      one: ["Tilda plays violin since last summer and hates every minute of it.",
        "back from Brittany. it was gorgeous, Mme Le Goff made us kouign-amann each morning. Tilda learnt to swim properly"],
      two: ["I have a cold since sunday and the concert is in two weeks",
        "concert got moved anyway: october 31, same church, because of the heating"],
    };
    const count = async (user_id) => (await t.api.get(`/api/v1/conflicts?user_id=${user_id}`)).body.items.length;
    for (const [user_id, pair] of Object.entries(pairs)) for (const content of pair) {
      await t.api.post("/api/v1/turns", { user_id, role: "user", content });
    }
    assert.equal(await count("one"), 0, "swimming does not contradict the violin");
    assert.equal(await count("two"), 1, "a day that moved does");
  });

  test("conflicts are found however much was said in between", async () => {
    const t = await tenant();
    const list = async (query = "") => (await t.api.get(`/api/v1/conflicts${query}`)).body.items;
    const pair = ["The deadline of the Apollo project is Friday, says the steering group.",
      "The deadline for the Apollo project is now Monday, after the last review."];
    const older = (await t.say(pair[0])).result.thought_id;
    for (let i = 0; i < 30; i++) {
      await t.say(`The storage room number ${i} of the annex is painted in shade ${i * 7} since May.`);
    }
    assert.deepEqual(await list(), [], "rooms of their own do not disagree");
    const newer = (await t.say(pair[1])).result.thought_id;
    const [conflict, ...rest] = await list();
    assert.deepEqual(rest, []);
    assert.equal(conflict.subject, "Apollo project");
    assert.equal(conflict.attribute, "deadline");
    assert.deepEqual([conflict.older.id, conflict.newer.id], [older, newer]);
    assert.deepEqual(conflict.suggestion, { refines: older, prompt: pair[1] });
    assert.deepEqual(await list("?user_id=ada"), [], "nobody's own");
    await t.say(conflict.suggestion.prompt, { refines: conflict.suggestion.refines });
    assert.deepEqual(await list(), [], "the suggestion settles it");
  });

  test("what is said of a slot meets all of it, not its neighbour only", async () => {
    const t = await tenant();
    const turn = async (content) => {
      const answer = await t.api.post("/api/v1/turns", { user_id: "ada", role: "user", content });
      assert.equal(answer.status, 201, answer.text);
    };
    await turn("Our release deadline is Friday.");
    await turn("Our tax deadline is Sunday.");
    await turn("Our release deadline is Monday.");
    const memories = (await t.api.get("/api/v1/memories?user_id=ada")).body.items;
    const [friday, sunday, monday] = ["Friday", "Sunday", "Monday"].map((day) =>
      memories.find((one) => one.type !== "effort" && one.summary.includes(day)));
    assert.equal(sunday.superseded, false);
    /* replaced where that is sure, shown as a conflict where it is not */
    const { items } = (await t.api.get("/api/v1/conflicts")).body;
    assert.deepEqual(
      friday.superseded ? [friday.refined_by] : items.map((item) => item.newer.id), [monday.id]);
    assert.ok(items.every((item) => item.older.id === friday.id));
  });

  test("lineage: no answer names what is superseded as what holds", async () => {
    const t = await tenant();
    const old = (await t.say(
      "The cold store is defrosted every Tuesday at six by the night shift.")).result.thought_id;
    const refined = await t.say(
      "The cold store is defrosted every Monday at five by the day shift.", { refines: old });
    const source = refined.result.sources.find((one) => one.thought_id === old);
    assert.deepEqual([source.superseded, source.refined_by],
      [true, refined.result.thought_id]);
    assert.doesNotMatch(refined.result.response, /Tuesday/);
    /* said again as it was: guidance leads to what holds */
    const again = await t.say(
      "The cold store is defrosted every Tuesday at six by the whole night shift.");
    assert.doesNotMatch(again.result.guidance ?? "", new RegExp(old));
    for (const one of again.result.sources) {
      assert.ok(!one.superseded || one.refined_by, one.content_preview);
    }
    const asked = await t.say("When is the cold store defrosted?");
    assert.doesNotMatch(asked.result.response, /Most relevant.*at six by the night/);
  });

  test("lineage: a memory has its sources and its weight as of now", async () => {
    const t = await tenant();
    const a = (await t.say("Pallets from Gdansk arrive on Mondays and go to hall two.")).result;
    const b = (await t.say("Pallets from Gdansk are checked by two people in hall two.")).result;
    const both = (await t.say("Pallets from Gdansk arrive on Mondays and are checked in hall two.",
      { consolidates: [a.thought_id, b.thought_id] })).result;
    const memory = await t.memory(both.thought_id);
    assert.deepEqual([...memory.source_ids].sort(), [a.thought_id, b.thought_id].sort());
    const { sources } = (await t.say("Where do the pallets from Gdansk go?",
      { read_only: true })).result;
    const told = sources.find((one) => one.thought_id === both.thought_id);
    assert.ok(Math.abs((await t.memory(both.thought_id)).weight - told.weight) < 1e-4);
  });

  test("lineage: an unrelated question finds and reinforces nothing", async () => {
    const t = await tenant();
    const { thought_id } = (await t.say(
      "Forklift batteries are swapped at noon in hall three by the early shift.")).result;
    const { weight } = await t.memory(thought_id);
    const { result, trace } = await t.say("What is the best recipe for plum jam?");
    assert.deepEqual(result.sources, []);
    assert.match(result.response, /No related thoughts/);
    assert.ok(!trace.operations.includes("reinforce"));
    assert.ok((await t.memory(thought_id)).weight <= weight);
  });

  test("lineage: a word in common is no answer", async () => {
    const t = await tenant();
    const { result } = await t.say("Staging is deployed on Tuesdays after the stand-up, by whoever is on call.");
    await t.say("Our choir rehearses in the chapel on Wednesdays, sopranos half an hour earlier.");
    const { weight } = await t.memory(result.thought_id);
    assert.deepEqual((await t.say("how do we deploy quantum computers?")).result.sources, []);
    assert.deepEqual((await t.say("how many sopranos are there?")).result.sources, []);
    assert.ok((await t.memory(result.thought_id)).weight <= weight);
    const asked = await t.say("when do we deploy to staging?");
    assert.equal(asked.result.sources[0].thought_id, result.thought_id);
  });

  test("lineage: thoughts that deny or narrow each other conflict", async () => {
    const t = await tenant();
    const pairs = [
      ["The night ferry takes bicycles and charges for them at the ramp.",
        "The night ferry does not take bicycles and charges nothing at the ramp."],
      ["The kiln logs the temperature and the humidity while it cools.",
        "The kiln logs the humidity only while it cools, as far as I can tell."],
    ];
    for (const pair of pairs) for (const said of pair) await t.say(said);
    await t.say("Forklift batteries are swapped at noon in hall three by the early shift.");
    const { items } = (await t.api.get("/api/v1/conflicts")).body;
    assert.deepEqual(items.map((one) => [one.older.summary, one.newer.summary]).sort(),
      [...pairs].sort());
    for (const { older, newer, suggestion } of items) {
      assert.deepEqual(suggestion, { refines: older.id, prompt: newer.summary });
    }
  });

  test("lineage: clusters are about different things", async () => {
    const t = await tenant();
    const one = await tenant();
    for (let i = 0; i < 12; i++) {
      await one.say(`The harbour crane number ${i} lifts containers of grade ${i} in the morning.`);
    }
    /* three words of one matter are no three matters */
    assert.equal((await one.say("What does the harbour crane lift?")).result.disambiguation,
      null);
    for (const what of ["ferry", "tugboat", "lighthouse"]) {
      for (let i = 0; i < 4; i++) {
        await t.say(`The harbour ${what} was inspected ${i} times by team ${i} this winter.`);
      }
    }
    const { result: { disambiguation }, trace } = await t.say("What was inspected in the harbour?");
    const tags = disambiguation.clusters.map(({ tag }) => tag);
    assert.ok(tags.length >= 3 && !tags.includes("harbour"), tags.join(" "));
    assert.ok(disambiguation.clusters.reduce((all, { count: n }) => all + n, 0)
      <= trace.thoughts_retrieved, "each thought is in one cluster");
  });
});
