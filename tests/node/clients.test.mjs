/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claude Code and Codex themselves, through the proxy to a scripted provider:
 * what docs/proxy.md tells people to set, and nothing else.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { install, runClient } from "./lib/clients.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

/* What the client sent, without what it adds on its own. */
const own = (text) => text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "").trim();
const called = (id, name, input) => [{ text: `Using ${name}.` }, { id, name, input }];

/* A session of its own: a provider, a server, a home and a project folder. */
async function openSession(script) {
  const upstream = await startUpstream({ script });
  const server = await startServer({ args: [
    "--upstream", `anthropic=${upstream.url}`, "--upstream", `openai=${upstream.url}`] });
  const home = tempFolder();
  const cwd = path.join(home, "project");
  fs.mkdirSync(cwd);
  fs.writeFileSync(path.join(cwd, "notes.txt"), "the boat is called Adelheid\n");
  return {
    upstream, server, home, cwd, api: server.api(),
    /* All captured calls, oldest first, once there are `count`. */
    captured(count) {
      return until(`${count} calls are captured`, async () => {
        const { body } = await this.api.get("/api/v1/requests?limit=500");
        return body.items.length >= count && body.items.reverse();
      });
    },
    async texts(request) {
      const { body } = await this.api.get(`/api/v1/chats/${request.chat_id}/turns?limit=500`);
      return body.items.map((turn) => `${turn.role}: ${turn.text}`);
    },
    async close() {
      await server.stop();
      await upstream.stop();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

describe("Claude Code", () => {
  const version = "2.1.325";
  const found = install("@anthropic-ai/claude-code", version, "claude");
  const skip = found.reason ?? false;
  let session;

  before(async () => {
    if (skip) return;
    session = await openSession((text) => {
      const said = own(text);
      if (said === "read my notes") {
        return called("toolu_read", "Read", { file_path: path.join(session.cwd, "notes.txt") });
      }
      if (said === "ask a helper") {
        return called("toolu_agent", "Agent", { description: "count", subagent_type: "general-purpose",
          prompt: "Count the letters of Adelheid." });
      }
      return [{ text: `echo: ${said}` }];
    });
  });
  after(() => session?.close());

  const claude = (...args) => runClient(found.program, [
    ...args, "--model", "claude-sonnet-4-5", "--allowedTools", "Read,Agent,Task"], {
    cwd: session.cwd, home: session.home,
    env: {
      ANTHROPIC_BASE_URL: session.server.url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  });

  test("three turns with -c are one conversation with the right parents", { skip }, async () => {
    assert.match((await claude("-p", "hello one")).stdout, /^echo: hello one$/m);
    assert.match((await claude("-c", "-p", "hello two")).stdout, /^echo: hello two$/m);
    assert.match((await claude("-c", "-p", "hello three")).stdout, /^echo: hello three$/m);
    const [a, b, c, ...rest] = await session.captured(3);
    assert.deepEqual(rest, []);
    assert.deepEqual([a, b, c].map((r) => r.message_count), [1, 3, 5]);
    assert.deepEqual([a, b, c].map((r) => r.strategy), ["none", "exact", "exact"]);
    assert.deepEqual([b.parent_request_id, c.parent_request_id], [a.request_id, b.request_id]);
    assert.deepEqual([b.conversation_id, c.conversation_id], [a.conversation_id, a.conversation_id]);
    assert.deepEqual([a, b, c].map((r) => r.branch_id), ["main", "main", "main"]);
    assert.deepEqual(await session.texts(c), [
      "user: hello one", "assistant: echo: hello one", "user: hello two",
      "assistant: echo: hello two", "user: hello three", "assistant: echo: hello three"]);
    assert.ok(!session.server.log().includes("sk-ant-test-0123456789"));
  });

  test("a tool's result continues the call that asked for it", { skip }, async () => {
    const before = (await session.captured(3)).length;
    await claude("-c", "-p", "read my notes");
    const [asked, answered] = (await session.captured(before + 2)).slice(before);
    assert.equal(answered.parent_request_id, asked.request_id);
    assert.equal(answered.conversation_id, (await session.captured(3))[0].conversation_id);
    assert.equal(answered.message_count, asked.message_count + 2);
    const { body } = await session.api.post("/api/v1/recall", { query: "Adelheid" });
    assert.ok(body.items.some((item) => /Adelheid/.test(item.text)), "what the tool read can be found");
  });

  test("a sub-agent hangs on the call that started it", { skip }, async () => {
    const before = (await session.captured(3)).length;
    await claude("-c", "-p", "ask a helper");
    const fresh = (await session.captured(before + 3)).slice(before);
    const asked = fresh.find((r) => r.stop_reason === "tool_use");
    const helper = fresh.find((r) => r.is_subtask);
    assert.ok(helper, JSON.stringify(fresh.map((r) => [r.strategy, r.message_count])));
    assert.equal(helper.strategy, "subtask");
    assert.equal(helper.parent_request_id, asked.request_id);
    assert.equal(helper.branch_id, "subtask_1");
    assert.equal(helper.conversation_id, asked.conversation_id);
    const answered = fresh.find((r) => r.message_count === asked.message_count + 2);
    assert.equal(answered.parent_request_id, asked.request_id);
    assert.equal(answered.branch_id, asked.branch_id);
  });

  test("deciding all links again changes nothing", { skip }, async () => {
    const { stdout } = await session.server.clew("rebuild", "links", "--json");
    assert.equal(JSON.parse(stdout).changed, 0);
  });
});

describe("Codex", () => {
  const version = "0.166.0";
  const found = install("@openai/codex", version, "codex");
  const skip = found.reason ?? false;
  let session;

  before(async () => {
    if (!skip) session = await openSession();
  });
  after(() => session?.close());

  const codex = (...args) => runClient(found.program, [
    "-c", `openai_base_url="${session.server.url}/v1"`, "exec", "--skip-git-repo-check", ...args], {
    cwd: session.cwd, home: session.home, env: { CODEX_API_KEY: "sk-test-0123456789" },
  });

  test("a session taken up twice is one conversation with the right parents", { skip }, async () => {
    assert.match((await codex("hello one")).stdout, /^echo: hello one$/m);
    assert.match((await codex("resume", "--last", "hello two")).stdout, /^echo: hello two$/m);
    assert.match((await codex("resume", "--last", "hello three")).stdout, /^echo: hello three$/m);
    const [a, b, c, ...rest] = await session.captured(3);
    assert.deepEqual(rest, []);
    assert.deepEqual([a, b, c].map((r) => r.strategy), ["none", "exact", "exact"]);
    assert.deepEqual([b.parent_request_id, c.parent_request_id], [a.request_id, b.request_id]);
    assert.deepEqual([b.conversation_id, c.conversation_id], [a.conversation_id, a.conversation_id]);
    assert.deepEqual((await session.texts(c)).filter((text) => /hello/.test(text)), [
      "user: hello one", "assistant: echo: hello one", "user: hello two",
      "assistant: echo: hello two", "user: hello three", "assistant: echo: hello three"]);
    assert.ok(!session.server.log().includes("sk-test-0123456789"));
  });

  test("no WebSocket is tried twice", { skip }, () => {
    assert.deepEqual(session.upstream.requests.filter((r) => r.method === "GET" && /responses/.test(r.url)), []);
  });
});
