/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.test.mjs - on a terminal of 80 columns no command prints a longer line:
 * its help, and its answer on a store where texts and names are long.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const hasScript = spawnSync("script", ["--version"]).status === 0;
const long = "The harbour master of the northern basin asked whether the crane could lift the "
  + "old ferry before the spring tide, because the yard has no other place for it until June.";

const awkward = "Our release deadline is Monday, as the harbour's master says: \"no later\", $HOME, `id`, and it's final for the whole northern basin.";

describe("80 columns", { skip: hasScript ? false : "script is not installed" }, () => {
  const data = tempFolder();
  let ids;
  before(async () => {
    const server = await startServer({ data });
    const api = server.api();
    const first = isOk(await api.post("/api/v1/turns", { user_id: "a-user-with-a-rather-long-name", role: "user",
      name: "Somebody With A Long Name", channel: "sms", content: long }), 201);
    isOk(await api.post("/api/v1/turns", { user_id: "a-user-with-a-rather-long-name", role: "user",
      chat_id: first.chat.id, content: `Please mend the crane. ${long} 昨日、鈴木さんと港で会いました。`.repeat(2) }), 201);
    const effort = isOk(await api.post("/api/v1/efforts", { user_id: "a-user-with-a-rather-long-name", goal: long }), 201);
    const agent = { agent_id: "an-agent-with-a-long-name", agent_name: "An agent with a long name" };
    const { result } = isOk(await api.post("/api/v1/memory", { ...agent, prompt: long }));
    isOk(await api.post("/api/v1/memory", { ...agent, prompt: `${long} It was lifted in May.`, refines: result.thought_id }));
    const link = isOk(await api.post("/api/v1/link", { user_id: "u", model: "a-model-with-quite-a-long-name-2026-11-15",
      system: long, messages: [{ role: "user", content: long }], response: { role: "assistant", content: long } }));
    const fork = isOk(await api.post(`/api/v1/chats/${first.chat.id}/fork`, { at_seq: 1, title: long }), 201);
    isOk(await api.post(`/api/v1/chats/${first.chat.id}/compact`, {}));
    for (const content of ["Our deadline is Friday.", awkward]) {
      isOk(await api.post("/api/v1/turns", { user_id: "ada", role: "user", content }), 201);
    }
    await server.key("a-tenant-with-a-long-name-for-columns");
    const list = async (path) => (await api.get(path)).body.items ?? [];
    ids = { chat: first.chat.id, fork: fork.id, memory: result.thought_id, effort: effort.id, turn: first.turn.id,
      request: link.request_id, conversation: link.conversation_id,
      chain: (await list("/api/v1/chains"))[0]?.id, episode: (await list("/api/v1/episodes"))[0]?.id };
    await server.stop();
  });
  after(() => fs.rmSync(data, { recursive: true, force: true }));

  /* What a terminal of 80 columns is shown, colours taken out. */
  function shown(words) {
    const line = [bin, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const run = spawnSync("script", ["-qec", `stty cols 80; ${line} </dev/null`, "/dev/null"],
      { encoding: "utf8", env: cleanEnv(data, { TERM: "xterm", CLEW_DATA_DIR: data }) });
    return run.stdout.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
  }
  /* Columns: wide letters are two. */
  const width = (text) => [...text].reduce((sum, letter) => sum + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u.test(letter) ? 2 : 1), 0);
  const tooLong = (words) => shown(words).split(/\r?\n/).flatMap((line) => {
    const text = line.split("\r").at(-1); /* progress is written over */
    /* an id or a path has no place to break, and a command to paste has none either */
    return width(text) > 80 && !/^ +clew brain refine /.test(text) && text.trim().includes(" ") ? [`clew ${words.join(" ").slice(0, 60)}: ${width(text)}: ${text}`] : [];
  });

  test("help fits", () => {
    const all = shown(["help"]);
    assert.match(all, /usage: clew COMMAND/);
    const commands = [...all.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((one) => one[1]);
    assert.ok(commands.length > 60);
    assert.deepEqual([["help"], ["--help"], ["version"], ...commands.map((name) => ["help", ...name.split(" ")])]
      .flatMap(tooLong), []);
  });

  test("answers fit", () => {
    const lines = [["chats"], ["chats", "--limit", "1"], ["history", ids.chat], ["history", ids.memory], ["tree", ids.chat], ["sessions", ids.chat],
      ["users"], ["memories"], ["memories", "show", ids.memory], ["memories", "source", ids.memory], ["conflicts"],
      ["efforts"], ["chains"], ["episodes"], ["links"], ["tuning"], ["analyse", long], ["why", ids.turn],
      ["why", ids.request], ["requests"], ["conversation", ids.conversation], ["recall", "who asked for the crane?"],
      ["recall", "--explain", "who asked for the crane?"], ["context", ids.chat], ["context", ids.chat, "--explain"],
      ["brain", "query", "what can the crane lift?"], ["brain", "history", ids.memory], ["start", long, "--user", "a-user-with-a-rather-long-name"],
      ["turn", "--user", "x", long], ["fork", ids.chat, "--at", "1"], ["keys", "list"], ["tasks"], ["secrets"],
      ["agents", "list"], ["model", "list"], ["doctor"], ["verify"], ["rebuild", "--dry-run"], ["config"], ["config", "keys"],
      ["forget", "--chat", ids.chat], ["undo", "an-agent-with-a-long-name"], ["health"], ["setup", "--list"],
      ["setup", "claude-code"], ["expand", ids.effort], ["collapse", ids.effort], ["resolve", ids.effort, long], ["reopen", ids.effort],
      ["abandon", ids.effort], ["chats", "close", ids.fork], ["chats", "title", ids.chat, long],
      ...(ids.chain ? [["chains", "show", ids.chain]] : []), ...(ids.episode ? [["episodes", "show", ids.episode]] : []),
      ["chats", "--data", `/nowhere/${"a-long-folder/".repeat(8)}`], ["histroy"], ["recall"], ["chats", "--no-such-option-as-this"]];
    assert.deepEqual(lines.flatMap(tooLong), []);
  });

  test("lists cut ids, and a wrapped item is one item", () => {
    const whole = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
    for (const words of [["sessions", ids.chat], ["conversation", ids.conversation], ["conflicts"], ["chats"], ["memories"],
      ["tree", ids.chat], ["brain", "history", ids.memory], ["history", ids.memory]]) {
      assert.doesNotMatch(shown(words), whole, words.join(" "));
    }
    assert.equal(shown(["brain", "history", ids.memory]).trim().split("\n").length, 2, "a line a thought");
    const items = shown(["analyse", `${long} ${long.replace("harbour", "dock")}`]).split("\n").filter((line) => line.startsWith("  - "));
    assert.ok(items.length >= 2 && items.every((line) => /^ {2}- (The|until June:)/.test(line)), items.join("\n"));
  });

  test("a command that is shown can be pasted", () => {
    const [line, ...rest] = shown(["conflicts", "--user", "ada"]).split(/\r?\n/).filter((one) => /^ +clew /.test(one));
    assert.deepEqual(rest, []);
    const env = cleanEnv(data, { CLEW_DATA_DIR: data });
    const run = spawnSync("sh", ["-c", `clew() { "$BIN" "$@"; }; ${line} --json`], { encoding: "utf8", env: { ...env, BIN: bin } });
    assert.equal(run.status, 0, run.stderr);
    const { result } = JSON.parse(run.stdout);
    const text = (words) => spawnSync(bin, words, { encoding: "utf8", env }).stdout;
    assert.ok(JSON.parse(text(["memories", "show", result.thought_id, "--json"])).summary.startsWith(awkward));
    assert.doesNotMatch(text(["conflicts", "--user", "ada"]), /deadline/);
  });
});
