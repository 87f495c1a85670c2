/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packages.test.mjs - an agent package of the user's own makes its artifacts.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { client, tempFolder } from "./lib/server.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const example = path.join(here, "../../packaging/agents/bug-report.yaml");

onEachBackend("agent packages", (open) => {
  test("a bug report opens, grows and is concluded", async () => {
    const config = tempFolder();
    fs.mkdirSync(path.join(config, "clew/agents"), { recursive: true });
    fs.copyFileSync(example, path.join(config, "clew/agents/bug-report.yaml"));
    fs.writeFileSync(path.join(config, "clew/agents/broken.yaml"), "name: [");
    const server = await open({ env: { XDG_CONFIG_HOME: config } });
    const api = client(server.url);
    const chat = (await api.post("/api/v1/chats",
      { user_id: "ann", channel: "app" })).body.id;
    const say = async (content) => {
      const answer = await api.post("/api/v1/turns",
        { user_id: "ann", role: "user", content, chat_id: chat });
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    };
    const reports = async () => (await api.get(
      "/api/v1/memories?type=bug-report")).body.items;

    const first = await say("The importer crashed with a unicode error.");
    assert.ok(first.notices.some((n) => n.startsWith("[bug-report:open]")));
    await say("It happens every time I load a file with umlauts.");
    let [report] = await reports();
    assert.equal(report.status, "open");
    assert.match(report.fields.error, /unicode error/);
    assert.deepEqual(report.fields.repro_steps,
      ["It happens every time I load a file with umlauts."]);
    await say("Great, that fixed it, thanks!");
    [report] = await reports();
    assert.equal(report.status, "resolved");
    assert.equal(report.source_refs.length, 3);
    fs.rmSync(config, { recursive: true, force: true });
  });
});
