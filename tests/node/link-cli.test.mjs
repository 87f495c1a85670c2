/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured calls from the command line: link, requests, tree, why, rebuild
 * links, on a data folder and on a server.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const user = (content) => ({ role: "user", content });
const said = (content) => ({ role: "assistant", content });
const folder = tempFolder();
const data = path.join(folder, "data");
const env = cleanEnv(folder, { NO_COLOR: "1" });

after(() => fs.rmSync(folder, { recursive: true, force: true }));

function run(words, input) {
  const done = spawnSync(bin, [...words, "--data", data], { input, env, encoding: "utf8" });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

function json(words, input) {
  const done = run([...words, "--json"], input);
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out);
}

let files = 0;
function file(content) {
  const name = path.join(folder, `${++files}.json`);
  fs.writeFileSync(name, typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

describe("clew link, requests, tree and why", () => {
  const opening = { messages: [user("What floats?")], response: said("Wood.") };
  const second = { messages: [user("What floats?"), said("Wood."), user("And sinks?")], response: said("Lead.") };
  const other = { messages: [user("What floats?"), said("Wood."), user("Why?")] };
  let a;
  let b;
  let c;

  test("a file is linked to the one it continues, another makes a branch", () => {
    a = json(["link", file(opening)]);
    b = json(["link", file(second)]);
    c = json(["link", "-"], JSON.stringify(other));
    assert.deepEqual([a.strategy, b.strategy, c.strategy], ["none", "exact", "exact"]);
    assert.deepEqual([b.parent_request_id, c.parent_request_id], [a.request_id, a.request_id]);
    assert.equal(b.branch_id, "main");
    assert.match(c.branch_id, /^branch_\d{14}$/);
    assert.deepEqual([a.new_turns, b.new_turns, c.new_turns], [2, 2, 1]);
  });

  test("people get two lines", () => {
    const { code, out } = run(["link", file(second)]);
    assert.equal(code, 0);
    assert.match(out, /^goes on from an earlier call, 0 new turns\nconversation [0-9a-f-]{18}, branch main, by exact\n$/);
  });

  test("what cannot be linked is named and stores nothing", () => {
    const before = json(["requests"]).items.length;
    for (const [words, input, code, message] of [
      [["link", file("{bad")], "", 2, /not valid JSON at line 1/],
      [["link", file({ messages: [] })], "", 2, /"messages" must be a list/],
      [["link", file({ messages: [user("x")], reply: 1 })], "", 2, /unknown field "reply"/],
      [["link", file({ messages: [{ content: "x" }] })], "", 2, /role/],
      [["link", "-"], "[1, 2]", 2, /./],
      [["link", path.join(folder, "none.json")], "", 4, /could not read ".*none\.json"/],
      [["link", folder], "", 4, /could not read/],
      [["link"], "", 2, /FILE/],
    ]) {
      const done = run(words, input);
      assert.equal(done.code, code, `${words}: ${done.err}`);
      assert.match(done.err, message);
      assert.equal(done.out, "");
    }
    assert.equal(json(["requests"]).items.length, before);
  });

  test("requests lists the newest first, bounded, of one conversation", () => {
    json(["link", file({ messages: [user("something else")] })]);
    const { items } = json(["requests"]);
    assert.equal(items.length, 5);
    assert.equal(items[0].conversation_id !== a.conversation_id, true);
    assert.equal(items.at(-1).request_id, a.request_id);
    assert.equal(json(["requests", "--limit", "2"]).items.length, 2);
    assert.equal(json(["requests", "--conversation", a.conversation_id]).items.length, 4);
    assert.equal(run(["requests"]).out.trim().split("\n").length, 6);
    assert.equal(run(["requests", "--limit", "0"]).code, 2);
    assert.equal(run(["requests", "--conversation", "x"]).code, 2);
  });

  test("tree draws the chats of the conversation", () => {
    const tree = json(["tree", a.chat_id]);
    assert.deepEqual(tree.items.map((chat) => chat.branch), ["main", c.branch_id]);
    assert.equal(tree.items[1].parent_id, a.chat_id);
    assert.match(run(["tree", a.chat_id]).out, /What floats\?/);
    assert.equal(run(["tree", b.request_id]).code, 4);
  });

  test("why says what was looked for and what decided", () => {
    const { decisions } = json(["why", c.request_id]);
    assert.equal(decisions.link.parent_request_id, a.request_id);
    assert.equal(decisions.link.branch_why, "the parent has another child");
    assert.deepEqual(decisions.link.considered, [
      { strategy: "exact", by: "messages and reply", found: true }]);
    assert.match(run(["why", c.request_id]).out, /the parent has\s+another\s+child/);
    assert.equal(run(["why", "01a1dd6e-2cfa-7aba-90d9-82b4d262405b"]).code, 4);
  });
});

describe("clew rebuild links", () => {
  const strategies = ["none", "exact", "summarisation", "hash_only", "grandparent",
    "prefix", "compact", "subtask"];
  const total = 460;
  let server;

  before(async () => { /* through a server: one program start instead of many */
    server = await startServer({ data });
    const api = server.api();
    const known = (await api.get("/api/v1/requests?limit=500")).body.items.length;
    const posts = [];
    for (let i = known; i < total; i += 2) {
      posts.push((async () => {
        const first = [user(`question ${i}`)];
        await api.post("/api/v1/link", { messages: first, response: said(`answer ${i}`) });
        await api.post("/api/v1/link", { messages: [...first, said(`answer ${i}`), user("more")] });
      })());
    }
    await Promise.all(posts);
  });
  after(() => server.stop());

  test("a forgotten chat takes its calls and their traces along", async () => {
    const api = server.api();
    const gone = (await api.post("/api/v1/link", { messages: [user("to be forgotten")] })).body;
    assert.equal((await api.get(`/api/v1/traces/${gone.request_id}`)).status, 200);
    assert.equal((await api.post("/api/v1/forget", { chat_id: gone.chat_id })).status, 200);
    assert.equal((await api.get(`/api/v1/traces/${gone.request_id}`)).status, 404);
    assert.equal((await api.get(`/api/v1/requests/${gone.request_id}`)).status, 404);
    await server.stop();
  });

  const count = () => json(["requests", "--limit", "500"]).items.length;

  test("reports every strategy, and changes nothing that is right", () => {
    const report = json(["rebuild", "links"]);
    assert.equal(report.requests, count());
    assert.equal(report.changed, 0);
    assert.equal(report.resumed, false);
    assert.deepEqual(Object.keys(report.by_strategy), strategies);
    assert.equal(Object.values(report.by_strategy).reduce((x, y) => x + y), report.requests);
    assert.deepEqual(json(["rebuild", "links"]), report);
  });

  test("says so in lines, without a progress bar where nobody sees it", () => {
    const { code, out, err } = run(["rebuild", "links"]);
    assert.equal(code, 0);
    assert.equal(err, "");
    assert.deepEqual(out.split("\n").slice(0, 8).map((line) => line.split(" ")[0]), strategies);
    assert.match(out, /^\d+ requests, 0 changed\n$/m);
  });

  test("works against a server too", async () => {
    const server = await startServer({});
    for (const body of [{ messages: [user("Which way is up?")], response: said("That one.") },
      { messages: [user("Which way is up?"), said("That one."), user("And down?")] }]) {
      assert.equal((await fetch(`${server.url}/api/v1/link`, { method: "POST",
        headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).status, 200);
    }
    const done = spawnSync(bin, ["rebuild", "links", "--json", "--url", server.url], { env, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    const report = JSON.parse(done.stdout);
    assert.deepEqual([report.requests, report.changed, report.done], [2, 0, true]);
    assert.equal(report.by_strategy.exact, 1);
    await server.stop();
  });

  /* Run it on a terminal; `onText` sees what it shows. */
  function onTerminal(onText = () => {}) {
    return new Promise((resolve, reject) => {
      const child = spawn("script", ["-qefc", `'${bin}' rebuild links --data '${data}'`, "/dev/null"],
        { env: { ...env, SHELL: "/bin/sh" } });
      let text = "";
      child.stdout.on("data", (part) => {
        text += part;
        onText(text, child);
      });
      child.on("error", reject);
      child.on("close", () => resolve(text));
    });
  }

  test("shows its progress on a terminal", async () => {
    const text = await onTerminal();
    assert.match(text, /\r\[#+ *\] 100 of \d+/);
    assert.match(text, /\r\[#{40}\] (\d+) of \1\r?\n/);
  });

  test("an interrupted one is taken up where it was", async () => {
    let report;
    for (let i = 0; i < 50; i++) { /* it may be done before it can be stopped */
      await onTerminal((text, child) => {
        if (/100 of/.test(text)) child.kill("SIGKILL"); /* the terminal hangs up */
      });
      report = json(["rebuild", "links"]);
      if (report.resumed) break;
    }
    assert.equal(report.resumed, true);
    assert.equal(report.requests, count());
    assert.equal(report.changed, 0);
    assert.equal(json(["rebuild", "links"]).resumed, false);
  });
});
