/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.test.mjs - no stored text drives the terminal, whatever the command.
 *
 * Every text that can be given holds control, C1 and bidi characters; every
 * command that shows something is run, in a pipe and, where `script` is there,
 * on a terminal.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

const evil = "\u001b]0;owned\u0007\u001b[31mred\u009b2J\u202egnp.exe\u2066x"
  + "\u200f\u0085\u0008\u000d";
/* Colours of our own are no text: taken out before looking. */
const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const strip = (text) => text.replace(/\u001b\[(0|1|2|36)m/g, "");

describe("terminal", () => {
  let server;
  let ids;
  before(async () => {
    server = await startServer();
    const api = server.api();
    const said = (text) => `${text} ${evil} here`;
    const first = isOk(await api.post("/api/v1/turns", { user_id: `a${evil}`,
      role: "user", name: `n${evil}`, channel: "sms",
      content: said("I live in Hamburg and my boat leaks, help:") }), 201);
    const chat = first.chat.id;
    isOk(await api.patch(`/api/v1/chats/${chat}`, { title: said("boats") }));
    const effort = isOk(await api.post("/api/v1/efforts", { user_id: `a${evil}`,
      goal: said("mend the boat") }), 201);
    isOk(await api.post("/api/v1/memory", { agent_id: `ag${evil}`,
      agent_name: `A${evil}`,
      prompt: said("The west wing of the house has a long corridor") }));
    const link = isOk(await api.post("/api/v1/link", { user_id: `u${evil}`,
      model: `m${evil}`, system: said("sys"),
      messages: [{ role: "user", content: said("hello there") }],
      response: { role: "assistant", content: said("hi") } }));
    const memories = isOk(await api.get("/api/v1/memories")).items;
    ids = { chat, effort: effort.id, memory: memories[0].id,
      turn: first.turn.id, request: link.request_id };
  });
  after(() => server.stop());

  const commands = () => [["chats"], ["history", ids.chat], ["tree", ids.chat],
    ["history", ids.memory], ["memories"], ["memories", "show", ids.memory],
    ["memories", "source", ids.memory], ["efforts"], ["chains"], ["episodes"],
    ["links"], ["requests"], ["recall", "boat"], ["recall", "boat", "--explain"],
    ["context", ids.chat], ["conflicts"], ["why", ids.turn], ["tasks"],
    ["analyse", evil], ["brain", "query", "corridor"], ["keys", "list"],
    ["brain", "history", ids.memory], ["start", "mend the boat"],
    ["verify"], ["rebuild", "--dry-run"], ["secrets"], ["config"],
    ["conversation", ids.chat], ["why", ids.request], ["agents", "list"], ["forget", "--chat", evil]];

  test("in a pipe", () => {
    let n = 0;
    for (const words of commands()) {
      const run = spawnSync(bin, [...words, "--data", server.data],
        { env: cleanEnv(server.data), encoding: "utf8", input: "" });
      n += run.status === 0 ? 1 : 0;
      for (const text of [run.stdout, run.stderr]) {
        assert.doesNotMatch(text, bad,
          `${words.join(" ")}: ${JSON.stringify(text).slice(0, 400)}`);
      }
    }
    assert.ok(n > 20, `${n} commands ended well`);
  });

  const hasScript = spawnSync("script", ["--version"]).status === 0;
  test("on a terminal, export and JSON included",
    { skip: hasScript ? false : "script is not installed" }, () => {
      for (const words of [["export"], ["memories", "--json"], ["requests"],
        ["history", ids.chat], ["recall", "boat"]]) {
        const line = [bin, ...words, "--data", server.data]
          .map((word) => `'${word}'`).join(" ");
        const run = spawnSync("script", ["-qec", line, "/dev/null"],
          { env: { ...cleanEnv(server.data), TERM: "xterm" },
            encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
        assert.equal(run.status, 0, run.stdout.slice(0, 300));
        assert.match(run.stdout, /boat|red|hello/, words.join(" "));
        /* the terminal itself adds the carriage returns */
        assert.doesNotMatch(strip(run.stdout).replace(/\r+\n/g, "\n"), bad,
          `${words.join(" ")}: ${JSON.stringify(run.stdout).slice(0, 400)}`);
      }
    });

  test("in a remark about a file, which is one line whatever its name", async () => {
    const folder = path.join(tempFolder(), `in${evil.slice(0, 20)}\nclew: all was imported`);
    fs.mkdirSync(folder);
    const file = path.join(folder, `talk${evil.slice(0, 20)}\u2028x\nclew: it went well.jsonl`);
    fs.writeFileSync(file, `{"type":"export","version":1}\n{"type":"${"\\u001b[31m\\u202e\\n"}","x":1}\n`);
    const env = cleanEnv(server.data);
    for (const words of [["import", file], ["import", `${file}2`], ["import", folder],
      ["efforts", "--user", `no${evil}\nclew: none`], ["backup", `${folder}/b\n.db`]]) {
      const { stderr } = spawnSync(bin, [...words, "--data", server.data], { env, encoding: "utf8", input: "" });
      assert.match(stderr, /^[^\n]+\n$/, words.join(" "));
      assert.doesNotMatch(stderr, bad);
    }
    const child = spawn(bin, ["import", "--watch", folder, "--data", server.data], { env, stdio: ["ignore", "ignore", "pipe"] });
    let told = "";
    child.stderr.setEncoding("utf8");
    for await (const part of child.stderr) {
      told += part;
      if (told.includes("\n")) child.kill("SIGTERM");
    }
    assert.match(told, /^watching [^\n]+; Ctrl-C ends it\n/);
    assert.doesNotMatch(told, bad);
  });

  test("an export into a pipe is verbatim", async () => {
    const { stdout } = await server.clew("export", "-");
    assert.ok(stdout.includes("\u202egnp.exe"));
  });
});
