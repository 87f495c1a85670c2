/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspector.test.mjs - the MCP inspector's command line lists what there is and
 * calls every tool, each call a process of its own, over stdin and over HTTP.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { bin, cleanEnv, clew, client, startServer, tempFolder } from "./lib/server.mjs";

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), "node_modules");
const thoughts = [
  "The agent monitor must check both the status and the role of every agent pane.",
  "Deployments to the staging cluster happen every Tuesday morning at nine o'clock.",
];

/* The inspector's command line expects to lie in the inspector's own folder,
 * of which it reads the name only: lay it out like that, without the rest. */
function layOut() {
  const folder = tempFolder();
  const from = path.join(modules, "@modelcontextprotocol/inspector-cli");
  fs.copyFileSync(path.join(from, "package.json"), path.join(folder, "package.json"));
  fs.cpSync(from, path.join(folder, "cli"), { recursive: true });
  fs.symlinkSync(modules, path.join(folder, "node_modules"));
  return folder;
}

let inspector;
let server;
const stdio = tempFolder();

/* How the inspector reaches clew; `tell` puts a turn there, and answers it. */
const targets = {
  "stdin and stdout": async () => ({
    words: [bin, "mcp", "--data", stdio],
    tell: async (content) => JSON.parse((await clew(stdio, undefined, "turn", content,
      "--user", "ada", "--json")).stdout),
  }),
  HTTP: async () => {
    const key = await server.key("inspected");
    return {
      words: [`${server.url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${key}`],
      tell: async (content) => (await client(server.url, key).post("/api/v1/turns",
        { user_id: "ada", role: "user", content })).body,
    };
  },
};

before(async () => {
  inspector = layOut();
  server = await startServer();
});
after(async () => {
  await server.stop();
  fs.rmSync(inspector, { recursive: true, force: true });
  fs.rmSync(stdio, { recursive: true, force: true });
});

for (const [name, target] of Object.entries(targets)) {
  describe(`the inspector over ${name}`, () => {
    let to;

    async function inspect(method, ...words) {
      const { stdout } = await promisify(execFile)(process.execPath,
        [path.join(inspector, "cli/build/cli.js"), "--cli", ...to.words, "--method", method, ...words],
        { env: cleanEnv(inspector), maxBuffer: 1 << 24 });
      return JSON.parse(stdout);
    }
    async function call(tool, args) {
      const words = Object.entries(args).flatMap(([key, value]) => [
        "--tool-arg", `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`]);
      const result = await inspect("tools/call", "--tool-name", tool, ...words);
      assert.notEqual(result.isError, true, JSON.stringify(result));
      return result.content[0].text;
    }
    before(async () => { to = await target(); });

    test("lists the tools, resources and prompts", async () => {
      const { tools } = await inspect("tools/list");
      assert.deepEqual(tools.map((tool) => tool.name), ["recall", "contribute",
        "refine", "consolidate", "history", "context", "start", "effort"]);
      assert.ok(Array.isArray((await inspect("resources/list")).resources));
      assert.ok((await inspect("resources/templates/list")).resourceTemplates.length > 0);
      const { prompts } = await inspect("prompts/list");
      assert.ok(prompts.length > 0);
    });

    test("calls every tool", async () => {
      const stored = /Stored as ([0-9a-f-]{36})\./;
      const a = stored.exec(await call("contribute", { thought: thoughts[0] }))[1];
      const b = stored.exec(await call("contribute", { thought: thoughts[1], agent: "ops" }))[1];
      const c = stored.exec(await call("refine", { id: a, thought: "It checks the role only." }))[1];
      const d = stored.exec(await call("consolidate", { ids: [b, c], thought: "Roles, and Tuesdays." }))[1];
      const history = await call("history", { id: a });
      for (const id of [a, c, d]) assert.ok(history.includes(id), history);
      const found = await call("recall", { query: "What must the agent monitor check?", limit: 5 });
      assert.ok(found.includes(d), found);
      const { turn } = await to.tell("The printer in the hall is broken again.");
      assert.match(await call("context", { chat_id: turn.chat_id, budget_tokens: 500 }), /printer/);
      assert.match(await call("start", { intent: "fix the printer in the hall", user_id: "ada" }), /start_id/i);
      const opened = await call("effort", { action: "open", goal: "Repair the printer in the hall", user_id: "ada" });
      assert.match(opened, /[0-9a-f-]{36}/);
      assert.match(await call("effort", { action: "list", user_id: "ada" }), /printer/);
    });

    test("a wrong call is told what to do", async () => {
      const result = await inspect("tools/call", "--tool-name", "history",
        "--tool-arg", "id=not-an-id");
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /id/);
    });
  });
}
