/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packages.test.mjs - an agent package of the user's own makes its artifacts.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { client, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

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

  test("row 4: fields are taken from either side's turns", async () => {
    const config = tempFolder();
    fs.mkdirSync(path.join(config, "clew/agents"), { recursive: true });
    fs.writeFileSync(path.join(config, "clew/agents/repair.yaml"), `name: repair
fields: [device, {name: ticket, required: true}, fix]
triggers: {words: [broken, repair, stopped]}
opens: {acts: [inform, request]}
concludes: {acts: [accept]}
extract:
  device: {from: opens, take: sentence}
  ticket: {from: any, take: sentence, words: [ticket number, ticket is]}
  fix: {from: concludes, take: sentence}
`);
    const server = await open({ env: { XDG_CONFIG_HOME: config } });
    const api = client(server.url);
    const chat = (await api.post("/api/v1/chats",
      { user_id: "kim", channel: "app" })).body.id;
    const say = async (role, content) => {
      const answer = await api.post("/api/v1/turns",
        { user_id: "kim", role, content, chat_id: chat });
      assert.equal(answer.status, 201, answer.text);
    };
    const repair = async () => (await api.get(
      "/api/v1/memories?type=repair")).body.items[0];

    await say("user", "Our coffee grinder stopped halfway through the beans.");
    await say("assistant", "Oh no. Do you have a ticket number already?");
    assert.equal((await repair()).fields.ticket, undefined);
    await say("assistant", "I opened one: the ticket number is 5590.");
    assert.match((await repair()).fields.ticket, /5590/);
    await say("user", "no, 5590 belongs to the kettle");
    assert.equal((await repair()).fields.ticket, undefined);
    await say("assistant", "My mistake, your ticket number is 5612.");
    await say("user", "yep");
    await say("assistant",
      "Lift the burr out and brush the old grounds off the shaft.");
    await say("user", "Perfect, that did it, thank you!");
    const done = await repair();
    assert.equal(done.status, "resolved");
    assert.match(done.fields.ticket, /5612/);
    assert.deepEqual(done.fields._from.ticket.by, "assistant");
    assert.match(done.fields.fix, /burr/);
    assert.match(done.resolution, /burr/);
    fs.rmSync(config, { recursive: true, force: true });
  });

  const untilSo = (api, isSo) => until("the packages are so", async () => {
    const { body } = await api.get("/api/v1/agents");
    return isSo(body) && body;
  });
  const mine = (body) => body.items.filter((one) => !one.builtin);

  test("packages are loaded again without a restart", { timeout: 600_000 },
    async () => {
      const config = tempFolder();
      const file = path.join(config, "clew/agents/idea.yaml");
      const write = (text) => {
        fs.writeFileSync(`${file}.tmp`, text);
        fs.renameSync(`${file}.tmp`, file);
      };
      const rule = (word) => "name: idea\nfields: [text]\n"
        + `opens: {words: [${word}]}\nextract: {text: {from: opens, take: sentence}}\n`;
      const server = await open({ env: { XDG_CONFIG_HOME: config } });
      const api = client(server.url);
      const opens = async (content) => {
        const chat = await api.post("/api/v1/chats", { user_id: "ann" });
        const answer = await api.post("/api/v1/turns", {
          user_id: "ann", role: "user", content, chat_id: chat.body.id });
        assert.equal(answer.status, 201, answer.text);
        return answer.body.notices.some((n) => n.startsWith("[idea:open]"));
      };
      assert.deepEqual(mine((await api.get("/api/v1/agents")).body), []);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      write(rule("eureka"));
      /* seen by itself */
      await untilSo(api, (body) => mine(body).length === 1);
      assert.equal(await opens("Eureka, the tub overflows."), true);
      /* broken: stays as it was, and says so */
      write("name: idea\nfields: [text]\nopens:\n  acts: [shout]\n");
      server.child.kill("SIGHUP");
      const broken = await untilSo(api, (body) => body.problems.length === 1);
      assert.equal(mine(broken)[0].kept, true);
      assert.deepEqual(broken.problems.map(({ line, kept }) => ({ line, kept })),
        [{ line: 4, kept: true }]);
      assert.match(broken.problems[0].message, /^idea\.yaml:4: unknown act/);
      assert.equal(await opens("Eureka, it floats."), true);
      await until("it is said", () => /agent_package .*idea\.yaml:4: unknown act/.test(server.log())
        && /kept="idea"/.test(server.log()));
      const list = await server.clew("agents", "list", "--url", server.url);
      assert.match(list.stdout, /^idea: .*before its file got broken/m);
      assert.match(list.stderr, /^idea\.yaml:4: /m);
      /* broken still, loaded once more: still there */
      server.child.kill("SIGHUP");
      assert.equal(await opens("Eureka, it sinks."), true);
      /* whole again, and another rule */
      write(rule("heureka"));
      server.child.kill("SIGHUP");
      await untilSo(api, (body) => mine(body)[0]?.kept === false);
      assert.equal(await opens("Eureka, nothing."), false);
      assert.equal(await opens("Heureka, the new word."), true);
      /* gone */
      fs.rmSync(file);
      await untilSo(api, (body) => mine(body).length === 0);
      assert.equal(await opens("Heureka, too late."), false);
      fs.rmSync(config, { recursive: true, force: true });
    });

  test("a pipe among the packages keeps no server from starting, reading or ending", { timeout: 600_000 }, async () => {
    const config = tempFolder();
    const folder = path.join(config, "clew/agents");
    fs.mkdirSync(folder, { recursive: true });
    execFileSync("mkfifo", [path.join(folder, "first.yaml")]);
    const server = await open({ env: { XDG_CONFIG_HOME: config } });
    const named = async (names) => untilSo(client(server.url), ({ problems }) =>
      String(problems.map(({ file }) => path.basename(file))) === String(names));
    await named(["first.yaml"]);
    execFileSync("mkfifo", [path.join(folder, "second.yaml")]);
    await named(["first.yaml", "second.yaml"]);
    await until("it is said", () => /agent_package .*second\.yaml/.test(server.log()));
    fs.rmSync(config, { recursive: true, force: true });
  });

  test("without what is required nothing is kept", async () => {
    const config = tempFolder();
    fs.mkdirSync(path.join(config, "clew/agents"), { recursive: true });
    fs.writeFileSync(path.join(config, "clew/agents/recipe.yaml"),
      "name: recipe\nfields: [{name: dish, required: true}]\n"
      + "opens: {words: [cook, cooking]}\n"
      + "extract: {dish: {from: opens, take: sentence, words: [soup, stew]}}\n");
    const server = await open({ env: { XDG_CONFIG_HOME: config } });
    const api = client(server.url);
    const say = async (content) => (await api.post("/api/v1/turns",
      { user_id: "ann", role: "user", content, channel: "app" })).body.notices;
    assert.ok(!(await say("We cook on Sundays."))
      .some((line) => line.startsWith("[recipe")));
    assert.ok((await say("We cook a stew of beans."))
      .some((line) => line.startsWith("[recipe:open] We cook a stew")));
    fs.rmSync(config, { recursive: true, force: true });
  });
});
