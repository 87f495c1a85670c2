/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.test.mjs - what other programs export becomes chats and forks.
 *
 * The files here have the shape of the real ones and invented content.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let n = 0;
function file(text) {
  const name = path.join(folder, `export-${++n}`);
  fs.writeFileSync(name, typeof text === "string" ? text : JSON.stringify(text));
  return name;
}
const lines = (...rows) => file(rows.map((row) => JSON.stringify(row)).join("\n"));

function run(...args) {
  return new Promise((resolve) => {
    execFile(bin, args, { env: cleanEnv(folder) }, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }));
  });
}

/* --- ChatGPT --- */

const second = (i) => 1700000000 + i;
function gpt(id, parent, role, text, extra = {}) {
  return [id, {
    id, parent, children: [],
    message: role && {
      id, author: { role, name: extra.name ?? null, metadata: {} },
      create_time: extra.time === undefined ? second(n++) : extra.time,
      content: extra.content ?? { content_type: "text", parts: [text] },
      weight: 1, metadata: extra.metadata ?? {},
    },
  }];
}
function conversation(id, title, current, nodes) {
  const mapping = Object.fromEntries(nodes);
  for (const node of Object.values(mapping)) {
    if (node.parent) mapping[node.parent].children.push(node.id);
  }
  return { id, conversation_id: id, title, create_time: second(0),
    update_time: second(99), current_node: current, mapping };
}

/* A question that was edited (q1, q2) and an answer that was made again. */
const boat = () => conversation("conv-1", "A boat for two", "a3", [
  gpt("root", null, null),
  gpt("sys", "root", "system", ""),
  gpt("hidden", "sys", "user", "I live in Ghent", {
    metadata: { is_visually_hidden_from_conversation: true },
    content: { content_type: "user_editable_context", user_profile: "x" },
  }),
  gpt("q1", "hidden", "user", "Which canoe suits two people?"),
  gpt("a1", "q1", "assistant", "A tandem canoe of five metres."),
  gpt("q2", "hidden", "user", "Which kayak suits two people?"),
  gpt("a2", "q2", "assistant", "A folding kayak."),
  gpt("a3", "q2", "assistant", "A tandem sea kayak of six metres.",
    { time: null }),
]);

/* --- Claude Code --- */

const at = (i) => `2025-06-01T10:00:${String(i).padStart(2, "0")}.000Z`;
let clock = 0;
function code(uuid, parentUuid, type, content, extra = {}) {
  return { parentUuid, isSidechain: false, userType: "external", cwd: "/home/x",
    sessionId: "s1", version: "1.0.0", type, uuid, timestamp: at(clock++),
    message: { role: type, content }, ...extra };
}
const text = (words) => [{ type: "text", text: words }];

onEachBackend("import", (open) => {
  let server;
  let api;
  before(async () => {
    server = await open();
    api = server.api();
  });

  async function load(name, ...more) {
    const done = await server.clew("import", name, "--json", ...more);
    return JSON.parse(done.stdout);
  }
  const chatsOf = async (user) =>
    isOk(await api.get(`/api/v1/chats?user_id=${user}&limit=100`)).items;
  const turnsOf = async (chat) =>
    isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=100`)).items;
  const words = async (chat) => (await turnsOf(chat)).map((turn) => turn.text);

  test("a folder of several programs' exports tells each of them", async () => {
    const both = path.join(folder, `both-${++n}`);
    fs.mkdirSync(both);
    fs.writeFileSync(path.join(both, "chat.txt"), "01/11/2026, 18:03 - Noor: Who feeds the cat?\n01/11/2026, 18:05 - Jo: I do.\n");
    fs.writeFileSync(path.join(both, "talk.jsonl"), JSON.stringify({ role: "user", content: "The oar is in the shed." }));
    const counts = await load(both, "--user", "lea");
    assert.deepEqual([counts.format, counts.conversations, counts.added], ["whatsapp, jsonl", 2, 3]);
    const { stdout } = await server.clew("import", both, "--user", "lea");
    assert.match(stdout, /^whatsapp, jsonl: 2 conversations, 3 messages, 0 of them new/);
  });

  test("a tree of ChatGPT becomes a chat and its forks", async () => {
    const counts = await load(file([boat()]), "--user", "gia");
    assert.deepEqual(counts, { format: "chatgpt", conversations: 1,
      messages: 5, added: 5, forks: 2, skipped: 1, dry_run: false,
      skipped_because: { hidden: 1 }, other_files: 0 });
    const chats = await chatsOf("gia");
    assert.equal(chats.length, 3);
    assert.equal(new Set(chats.map((chat) => chat.conversation_id)).size, 1);
    const shown = chats.find((chat) => !chat.parent_id); /* shown last */
    assert.equal(shown.title, "A boat for two");
    assert.deepEqual(await words(shown), ["Which kayak suits two people?",
      "A tandem sea kayak of six metres."]);
    const all = (await Promise.all(chats.map(words))).map((list) => list.join(" | "));
    assert.deepEqual(all.sort(), [
      "Which canoe suits two people? | A tandem canoe of five metres.",
      "Which kayak suits two people? | A folding kayak.",
      "Which kayak suits two people? | A tandem sea kayak of six metres.",
    ]);
    const first = (await turnsOf(shown))[0];
    assert.match(first.created_at, /^2023-11-14T22:13:/);
    assert.match(first.external_id, /^chatgpt\/conv-1\//);
  });

  test("what was sent beside words is named as a person would", async () => {
    const parts = ["Which bird is this?", { content_type: "image_asset_pointer", asset_pointer: "file-service://file-1" },
      { content_type: "real_time_user_audio_video_asset_pointer" }, { content_type: "tether_quote" }, {}];
    const seen = conversation("conv-img", "A bird", "q1", [gpt("root", null, null),
      gpt("q1", "root", "user", "", { content: { content_type: "multimodal_text", parts } })]);
    await load(file([seen]), "--user", "iris");
    const [chat] = await chatsOf("iris");
    assert.deepEqual(await words(chat), ["Which bird is this?\n[image]\n[video]\n[tether_quote]\n[other]"]);
  });

  test("the same again adds nothing, and a longer one what is new", async () => {
    const grown = boat();
    const before = (await chatsOf("gia")).length;
    const again = await load(file([grown]), "--user", "gia");
    assert.equal(again.added, 0);
    assert.equal(again.forks, 0);
    const [id, node] = gpt("q3", "a3", "user", "And what does it weigh?");
    grown.mapping[id] = node;
    grown.mapping.a3.children.push(id);
    grown.current_node = id;
    const more = await load(file([grown]), "--user", "gia");
    assert.equal(more.added, 1);
    const chats = await chatsOf("gia");
    assert.equal(chats.length, before);
    const last = chats.find((chat) => chat.last_seq === 3);
    assert.deepEqual((await words(last)).at(-1), "And what does it weigh?");
  });

  test("what was imported is found and made use of", async () => {
    const found = isOk(await api.post("/api/v1/recall",
      { query: "sea kayak", user_id: "gia", kinds: ["turn"] }));
    assert.match(found.items[0].text, /sea kayak/);
    const turn = isOk(await api.get("/api/v1/turns?external_id="
      + encodeURIComponent(found.items[0].external_id)));
    assert.equal(turn.items[0].id, found.items[0].id);
    assert.deepEqual(isOk(await api.get("/api/v1/turns?external_id=x")).items, []);
    assert.equal((await api.get("/api/v1/turns")).status, 400);
  });

  test("Claude.ai: lines, trees and what was attached", async () => {
    const message = (uuid, sender, words, extra = {}) => ({ uuid, sender,
      text: words, content: words ? text(words) : [], created_at:
      "2025-02-03T04:05:06.789012Z", updated_at: "2025-02-03T04:05:06Z",
      attachments: [], files: [], ...extra });
    const counts = await load(file([
      { uuid: "c1", name: "Bread", created_at: "2025-02-03T04:05:00Z",
        account: { uuid: "me" }, chat_messages: [
          message("m1", "human", "How long does rye dough rest?", {
            attachments: [{ file_name: "rye.txt", extracted_content: "600 g rye" }],
          }),
          message("m2", "assistant", "About four hours.")] },
      { uuid: "c2", name: "", created_at: "2025-02-04T00:00:00Z",
        chat_messages: [
          message("n1", "human", "Name a tree.",
            { parent_message_uuid: "00000000-0000-4000-8000-000000000000" }),
          message("n2", "assistant", "Oak.", { parent_message_uuid: "n1" }),
          message("n3", "assistant", "Elm.", { parent_message_uuid: "n1" }),
          message("n4", "human", "", { parent_message_uuid: "n3" }),
          message("n5", "human", "Another one.", { parent_message_uuid: "n4" })] },
    ]), "--user", "cleo");
    assert.deepEqual(counts, { format: "claude-ai", conversations: 2, messages: 6,
      added: 6, forks: 1, skipped: 1, dry_run: false,
      skipped_because: { empty: 1 }, other_files: 0 });
    const chats = await chatsOf("cleo");
    const bread = chats.find((chat) => chat.title === "Bread");
    assert.deepEqual(await words(bread), [
      "How long does rye dough rest?\n\n[rye.txt]\n600 g rye",
      "About four hours."]);
    assert.equal((await turnsOf(bread))[0].created_at, "2025-02-03T04:05:06.789Z");
    const fork = chats.find((chat) => chat.parent_id);
    assert.deepEqual(await words(fork), ["Name a tree.", "Elm.", "Another one."]);
  });

  test("Claude Code: tools, rewinds, compactions, resumed sessions", async () => {
    const session = [
      { type: "summary", summary: "Fix the clock", leafUuid: "u9" },
      { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
      code("u0", null, "user", "<command-name>/clear</command-name>"),
      code("u1", "u0", "user", "The clock is an hour late."),
      code("u2", "u1", "assistant", [{ type: "thinking", thinking: "hm" }]),
      code("u3", "u2", "assistant", [{ type: "tool_use", id: "t1", name: "Read",
        input: { file_path: "clock.c" } }]),
      code("u4", "u3", "user", [{ type: "tool_result", tool_use_id: "t1",
        content: "int zone = 0;" }]),
      code("u5", "u4", "assistant", text("The zone is missing.")),
      code("x1", "u4", "user", "sub-agent prompt", { isSidechain: true }),
      code("u6", "u5", "user", "Then add it."),
      code("u7", "u5", "user", "Then leave it as it is."),
      { type: "system", subtype: "compact_boundary", uuid: "u8", parentUuid: null,
        logicalParentUuid: "u7", sessionId: "s1", timestamp: at(50) },
      code("u9", "u8", "assistant", text("It stays.")),
    ];
    const counts = await load(lines(...session), "--user", "kai");
    assert.equal(counts.format, "claude-code");
    assert.deepEqual([counts.conversations, counts.messages, counts.forks,
      counts.agents, counts.skipped], [1, 8, 1, 1, 3]);
    const chats = await chatsOf("kai");
    assert.equal(chats.length, 3);
    const main = chats.find((chat) => !chat.parent_id);
    const fork = chats.find((chat) => /^branch_/.test(chat.branch));
    assert.equal(main.title, "Fix the clock");
    assert.deepEqual((await turnsOf(main)).map((turn) => turn.role),
      ["user", "assistant", "tool", "assistant", "user"]);
    assert.deepEqual((await words(fork)).slice(3),
      ["The zone is missing.", "Then leave it as it is.", "It stays."]);
    /* resumed: another file goes on where this one ended */
    const resumed = await load(lines(
      code("u9", "u8", "assistant", text("It stays.")),
      code("v1", "u9", "user", "Thank you.", { sessionId: "s2" })), "--user", "kai");
    assert.deepEqual([resumed.added, resumed.forks], [1, 0]);
    assert.equal((await words(fork)).at(-1), "Thank you.");
  });

  test("Claude Code: sub-agents, tool inputs, the words of a slash command", async () => {
    const own = path.join(folder, `project-${++n}`);
    const side = { sessionId: "s7", isSidechain: true, agentId: "a4f0c1" };
    const order = "Always list every suspicious line of the tide table thoroughly.";
    const put = (name, rows) => {
      fs.mkdirSync(path.dirname(path.join(own, name)), { recursive: true });
      fs.writeFileSync(path.join(own, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    };
    const main = (id, parent, role, content, more) => code(id, parent, role, content, { sessionId: "s7", ...more });
    const session = [
      main("p0", null, "user", "<command-message>tide is running</command-message>\n<command-name>/tide</command-name>\n"
        + "<command-args>the tide table for Husum is two hours off, find out why</command-args>"),
      main("p1", "p0", "user", text("You look at tide tables. Never answer in verse."), { isMeta: true }),
      main("p2", "p1", "assistant", [{ type: "tool_use", id: "k1", name: "Task",
        input: { description: "Read the table", prompt: order, subagent_type: "general-purpose" } }]),
      main("p3", "p2", "user", [{ type: "tool_result", tool_use_id: "k1", content: "It is in UTC." }],
        { toolUseResult: { agentId: "a4f0c1" } }),
      main("p4", "p3", "assistant", text("The table is in UTC.")),
      main("p5", "p4", "user", text("Continue from where you left off."), { isMeta: true }),
      { ...main("p6", "p5", "assistant", text("No response requested.")),
        message: { role: "assistant", model: "<synthetic>", content: text("No response requested.") } },
      main("p7", "p6", "user", "That explains it."),
    ];
    const agent = [
      code("q1", null, "user", order, side),
      code("q2", "q1", "assistant", [{ type: "tool_use", id: "k2", name: "Read", input: { file_path: "tides/husum.csv" } }], side),
      code("q3", "q2", "user", [{ type: "tool_result", tool_use_id: "k2", content: "12:04;3.1" }], side),
      code("q4", "q3", "assistant", text("All times are UTC."), side),
    ];
    put("s7.jsonl", session);
    put("s7/subagents/agent-a4f0c1.jsonl", agent);
    const counts = await load(own, "--user", "ola");
    assert.deepEqual([counts.messages, counts.agents, counts.skipped], [9, 1, 3], JSON.stringify(counts));
    const chats = await chatsOf("ola");
    const [talk, beside] = [chats.find((chat) => !chat.parent_id), chats.find((chat) => chat.parent_id)];
    assert.equal(beside.branch, "subtask_a4f0c1");
    assert.equal(beside.parent_id, talk.id);
    assert.match(talk.title, /^the tide table for Husum is two hours off/);
    assert.equal(beside.title, "All times are UTC", "what it answers, not what it is told");
    assert.deepEqual((await turnsOf(beside)).map((turn) => turn.role), ["user", "assistant", "tool", "assistant"]);
    assert.match(JSON.stringify(await turnsOf(beside)), /tides\/husum\.csv/, "the input of a tool");
    assert.deepEqual((await turnsOf(talk)).map((turn) => turn.role), ["user", "assistant", "tool", "assistant", "user"]);
    assert.match(JSON.stringify(await turnsOf(talk)), /general-purpose/);
    await isRead(api);
    const kept = JSON.stringify([isOk(await api.get("/api/v1/memories?user_id=ola")).items, isOk(await api.get("/api/v1/efforts?user_id=ola&all=1")).items]
      .flat().map((item) => [item.summary, item.resolution]));
    assert.doesNotMatch(kept, /thoroughly|verse|command-/, "a model's orders are not the user's");
    const again = await load(own, "--user", "ola");
    assert.deepEqual([again.added, again.agents], [0, undefined]);
    /* one that belongs to no talk is left out */
    put("../lone/agent-b1.jsonl", agent.map((row) => ({ ...row, uuid: `z${row.uuid}`, parentUuid: row.parentUuid && `z${row.parentUuid}`, sessionId: "s8" })));
    const lone = await load(path.join(own, "../lone"), "--user", "ola");
    assert.deepEqual([lone.added, lone.skipped], [0, 4]);
  });

  test("clew's own export is told apart", async () => {
    const name = path.join(folder, `own-${++n}`);
    await server.clew("export", name);
    const counts = JSON.parse((await server.clew("import", name, "--json")).stdout);
    assert.ok(counts.rows > 10);
    assert.equal(counts.added, 0);
    /* a dry run does not say that none of it is new: it has not looked */
    const dry = await server.clew("import", name, "--dry-run");
    assert.equal(dry.stdout, `${counts.rows} rows, none of them imported\n`);
  });
});

describe("importing", () => {
  test("a dry run stores nothing and says what it would", async () => {
    const data = tempFolder();
    const name = file([boat(), { ...boat(), conversation_id: "conv-2" }]);
    const dry = await run("import", name, "--dry-run", "--json", "--data", data);
    assert.equal(dry.status, 0, dry.stderr);
    const counts = JSON.parse(dry.stdout);
    assert.deepEqual([counts.conversations, counts.added, counts.dry_run],
      [2, 10, true]);
    const chats = await run("chats", "--json", "--data", data);
    assert.deepEqual(JSON.parse(chats.stdout).items, []);
    fs.rmSync(data, { recursive: true });
  });

  test("through a server, several files at once", async () => {
    const server = await startServer();
    const done = await run("import", file([boat()]), file("[]"), "--url", server.url);
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /^chatgpt: 1 conversation, 5 messages/m);
    assert.equal(isOk(await server.api().get("/api/v1/chats")).items.length, 3);
    await server.stop();
  });

  test("what a killed server was reading goes when the next one starts", async () => {
    const data = tempFolder();
    let server = await startServer({ data });
    const left = () => fs.readdirSync(data).filter((name) => name.startsWith("upload-")).sort();
    const rows = Array.from({ length: 5000 }, (_, i) =>
      JSON.stringify({ conversation_id: "c", role: "user", content: `line ${i} of a long talk` }));
    const sent = fetch(`${server.url}/api/v1/import/file?name=talk.jsonl`, { method: "POST",
      headers: { "content-type": "application/octet-stream" }, body: rows.join("\n") }).catch(() => null);
    await until("it is being read", () => left().some((name) => fs.existsSync(path.join(data, name, "talk.jsonl"))));
    await server.stop("SIGKILL");
    await sent;
    const [killed] = left();
    /* of another's making, or being read by another process: these stay */
    for (const name of ["upload-mine", "upload-aB3dE6", "upload-old"]) fs.mkdirSync(path.join(data, name));
    fs.writeFileSync(path.join(data, "upload-notdir"), "");
    fs.symlinkSync(folder, path.join(data, "upload-aaaaaa"));
    const holder = spawn("flock", [path.join(data, "upload-aB3dE6"), "sh", "-c", "echo held; read line"]);
    await once(holder.stdout, "data");
    server = await startServer({ data });
    assert.ok(!left().includes(killed), `${killed} is gone`);
    assert.deepEqual(left(), ["upload-aB3dE6", "upload-aaaaaa", "upload-mine", "upload-notdir", "upload-old"]);
    assert.ok(fs.existsSync(folder));
    await server.stop();
    holder.stdin.end("\n");
    await once(holder, "close");
    server = await startServer({ data });
    assert.deepEqual(left(), ["upload-aaaaaa", "upload-mine", "upload-notdir", "upload-old"]);
    await server.stop();
    fs.rmSync(data, { recursive: true, force: true });
  });

  test("a damaged tree of ChatGPT loses nothing and keeps its order", async () => {
    const data = tempFolder();
    const from = (title, current, nodes, mend = () => {}) => {
      const one = conversation(title, title, current, nodes);
      mend(one.mapping);
      return one;
    };
    const said = (name) => [gpt(`${name}1`, null, "user", `${name} one`),
      gpt(`${name}2`, `${name}1`, "assistant", `${name} two`),
      gpt(`${name}3`, `${name}2`, "user", `${name} three`)];
    const all = [
      from("two beginnings, the first shown", "a2", [...said("a"), gpt("z", null, "user", "z one")]),
      from("no current", "gone", [...said("b"), gpt("y", null, "user", "y one")]),
      from("a circle", "c3", said("c"), (m) => { m.c1.parent = "c3"; m.c3.children = ["c1"]; }),
      from("its own parent", "d3", said("d"), (m) => { m.d1.parent = "d1"; }),
      from("no first node", "e3", said("e"), (m) => { delete m.e1; }),
      from("an empty node between", "f3", said("f"), (m) => { m.f2 = null; }),
      from("children that name nothing", "g3", said("g"), (m) => { m.g1.children.unshift("nobody", 7, null); }),
      from("no parents", "h3", said("h"), (m) => { m.h2.parent = null; m.h3.parent = null; }),
      from("a beginning without a message", "i1", [gpt("r", null, null), gpt("i1", "r", "user", "i one")]),
    ];
    const name = file(JSON.stringify(all));
    const once = await run("import", name, "--data", data, "--user", "pia");
    assert.equal(once.status, 0, once.stderr);
    assert.match(once.stdout, /^2 had messages that follow each other in a circle/m);
    const chats = JSON.parse((await run("chats", "--data", data, "--json")).stdout).items;
    const told = new Set();
    for (const chat of chats) {
      const turns = JSON.parse((await run("history", chat.id, "--data", data, "--json")).stdout).items;
      told.add(turns.map((turn) => turn.text).join());
    }
    const line = (letter) => ["one", "two", "three"].map((n) => `${letter} ${n}`).join();
    assert.deepEqual([...told].sort(), [line("a"), "z one", line("b"), "y one", line("c"), line("d"),
      "e two,e three", "f one,f three", line("g"), line("h"), "i one"].sort());
    const again = JSON.parse((await run("import", name, "--data", data, "--user", "pia", "--json")).stdout);
    assert.deepEqual([again.added, again.forks, again.mended], [0, 0, 2]);
    /* the beginning that was shown is the chat, the other its fork */
    const shown = chats.filter((chat) => chat.title === all[0].title).map((chat) => chat.id);
    const parents = await Promise.all(shown.map(async (id) =>
      JSON.parse((await run("tree", id, "--data", data, "--json")).stdout).items.length));
    assert.deepEqual(parents, [2, 2]);
    fs.rmSync(data, { recursive: true });
  });

  test("a fault says where it is, and nothing is half imported", async () => {
    const data = tempFolder();
    const good = JSON.stringify(boat());
    const cases = [
      [file(`[${good},\n{"title":"cut`), /conversation 2 \(byte \d+\) is cut off/],
      [file(`[${good} ${good}]`), /conversation 2 .*comma/],
      [file(`[${good}]x`), /goes on behind its array/],
      [file(`[${good},7]`), /conversation 2 .*no object/],
      [file(`[${good},{"title":"x","mapping":[]}]`),
        /conversation 2 \(byte \d+\): it has no "conversation_id"/],
      [file(`[${good},{"a":tru}]`), /conversation 2 \(byte \d+\): /],
      [file(`[{"some":"thing"}]`), /no export that can be read/],
      [file(`{"some":"thing"}`), /line 1 .*no export that can be read/],
      [file(`${JSON.stringify(code("a", null, "user", "x"))}\n{"type":`),
        /line 2 \(byte \d+\): /],
      [lines(code("b", null, "user", "x", { timestamp: "noon" })), /timestamp/],
    ];
    for (const [name, message] of cases) {
      const done = await run("import", name, "--data", data);
      assert.equal(done.status, 2, done.stderr + done.stdout);
      assert.match(done.stderr, message);
    }
    assert.ok(!fs.existsSync(path.join(data, "clew.db")), "nothing was begun");
    assert.equal((await run("import", "/nowhere", "--data", data)).status, 4);
    assert.equal((await run("import", file("[]"), "--from", "word", "--data", data))
      .status, 2);
    fs.rmSync(data, { recursive: true });
  });
});
