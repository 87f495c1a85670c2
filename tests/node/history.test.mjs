/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.test.mjs - bringing one's history along: every format as its program
 * writes it (invented content), zips as they are handed out, folders, the same
 * again, Ctrl-C, a folder that is watched, and bad input to each.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { startPostgres } from "./lib/postgres.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";
import { zip } from "./lib/zip.mjs";

/* What is made of the turns is not looked at here. */
const quick = { CLEW_READER_ON: "false", CLEW_CAPTURE_OBSERVE: "false" };
const here = path.dirname(fileURLToPath(import.meta.url));
const corpus = path.join(here, "../fuzz/corpus/import");
const fixture = (name) => fs.readFileSync(path.join(corpus, name), "utf8");

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));
let n = 0;
function write(name, bytes) {
  const file = path.join(folder, `${++n}`, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
  return file;
}

let data;
let postgres; /* while formats are tried on it */
let store;
const clew = (...args) => spawnSync(bin, [...args, "--data", data, ...(store ? ["--store", store] : [])],
  { encoding: "utf8", env: cleanEnv(folder, quick) });
function json(...args) {
  const run = clew(...args, "--json");
  assert.equal(run.status, 0, run.stderr);
  return JSON.parse(run.stdout);
}
/* Chats with their turns, oldest first: [title, ["name: text", …]]. */
function kept() {
  return json("chats", "--limit", "100").items.reverse().map((chat) => [chat.title,
    json("history", chat.id, "--limit", "200").items
      .map((turn) => `${turn.name ?? turn.role}: ${turn.text}`)]);
}
/* Import, look, and import again: nothing is added. */
function bring(file, format, messages) {
  data = tempFolder();
  store = postgres?.database();
  const first = json("import", file);
  assert.equal(first.format, format);
  assert.equal(first.added, messages, JSON.stringify(first));
  const chats = kept();
  const again = json("import", file);
  assert.equal(again.added, 0);
  assert.equal(again.messages, messages);
  assert.deepEqual(kept(), chats);
  return chats;
}

function formats() {
  test("Codex: talk and tools, without what the program adds", () => {
    const [[, turns]] = bring(write("rollout-2025-12-08T00-37-46-x.jsonl",
      fixture("codex.jsonl")), "codex", 4);
    assert.deepEqual(turns, ["user: Why does the build fail?",
      'assistant: [shell] {"command":["make"]}',
      "tool: make: *** No rule to make target",
      "assistant: The Makefile has no such target."]);
  });

  test("Gemini: each activity a question and its answer", () => {
    const chats = bring(write("My Activity.json", fixture("gemini.json")), "gemini", 4);
    assert.deepEqual(chats.map(([title]) => title).sort(),
      ["how deep is Lake Geneva?", "name three rivers"]);
    const [, turns] = chats.find(([title]) => title.startsWith("how"));
    assert.deepEqual(turns, ["user: how deep is Lake Geneva?\n[map.png]",
      "assistant: About 310 metres.\nIts deepest point is off Évian & Ouchy."]);
  });

  test("OpenCode: what `opencode export` writes", () => {
    const [[title, turns]] = bring(write("session.json", fixture("opencode.json")),
      "opencode", 2);
    assert.equal(title, "Fix the login");
    assert.deepEqual(turns, ["user: The login fails.",
      "assistant: Looking.\n[bash]\n401 Unauthorized"]);
  });

  test("OpenCode: its database, with a sub-agent beside; the export adds nothing to it", () => {
    const file = write("opencode.db", "");
    const q = (value) => `'${(typeof value === "string" ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
    const rows = ["CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT NOT NULL, time_created INTEGER NOT NULL);",
      "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);",
      "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, data TEXT NOT NULL);",
      "INSERT INTO session VALUES ('ses_1', NULL, 'Fix the login', 1), ('ses_2', 'ses_1', 'Count (@explore)', 2);"];
    const exported = JSON.parse(fixture("opencode.json"));
    const agent = [{ info: { id: "msg_a", role: "user", time: { created: 1760000001500 } }, parts: [{ type: "text", text: "Count the refusals." }] },
      { info: { id: "msg_b", role: "assistant", time: { created: 1760000001600 } }, parts: [{ type: "text", text: "Fourteen." }] }];
    let k = 0;
    for (const [session, messages] of [["ses_1", exported.messages], ["ses_2", agent]]) {
      for (const { info: { id, ...info }, parts } of messages) {
        rows.push(`INSERT INTO message VALUES (${q(id)}, ${q(session)}, ${info.time.created}, ${q(info)});`);
        for (const part of parts) rows.push(`INSERT INTO part VALUES ('p${String(++k).padStart(3, "0")}', ${q(id)}, ${q(part)});`);
      }
    }
    const sql = (text) => assert.equal(spawnSync("sqlite3", [file], { input: text }).status, 0);
    sql(rows.join("\n"));
    const chats = bring(path.dirname(file), "opencode", 4);
    assert.deepEqual(chats.find(([title]) => title === "Fix the login")[1],
      ["user: The login fails.", "assistant: Looking.\n[bash]\n401 Unauthorized"]);
    assert.ok(chats.some(([, turns]) => turns.join() === "user: Count the refusals.,assistant: Fourteen."), JSON.stringify(chats));
    assert.equal(json("import", write("session.json", fixture("opencode.json"))).added, 0);
    sql("UPDATE message SET data = '{' WHERE id = 'msg_b';");
    data = path.join(folder, `none-${++n}`);
    store = undefined;
    assert.match(clew("import", file).stderr, /session 2: /);
    assert.ok(!fs.existsSync(data));
  });

  test("Gemini CLI: what came again, tools, and what was gone back on as a fork", () => {
    const chats = bring(write("session-1.jsonl", fixture("gemini_cli.jsonl")), "gemini-cli", 6);
    const begin = ["user: Which sail is torn?", "assistant: The jib.\n[read_file]\njib: torn"];
    assert.deepEqual(chats.map(([, turns]) => turns), [
      [...begin, "user: Buy a new one.", "assistant: Ordered."],
      [...begin, "user: Have it mended.", "assistant: The sailmaker has it."]]);
    const [[, old]] = bring(write("session-0.json", fixture("gemini_cli_whole.json")), "gemini-cli", 2);
    assert.deepEqual(old, ["user: An older one?", "assistant: One object."]);
  });

  test("Qwen Code: parts and tools, without its bookkeeping", () => {
    const file = write("s1.jsonl", fixture("qwen.jsonl"));
    fs.writeFileSync(path.join(path.dirname(file), "extract-cursor.json"), JSON.stringify({ sessionId: "s1", processedOffset: 4 }));
    const [[, turns], ...rest] = bring(path.dirname(file), "qwen", 4);
    assert.deepEqual(rest, []);
    assert.deepEqual(turns, ["user: Where does the shed key hang?", "assistant: I look.\n[read_file]",
      "tool: by the green door", "assistant: By the green door."]);
  });

  test("Continue: a session without times; one that has grown adds what is new", () => {
    const file = write("91abb610.json", fixture("continue.json"));
    const [[title, turns]] = bring(file, "continue", 4);
    assert.equal(title, "The boiler");
    assert.deepEqual(turns, ["user: How old is the boiler?", "assistant: I look.\n[read_file]",
      "tool: built 1998", "assistant: It is from 1998."]);
    const grown = JSON.parse(fixture("continue.json"));
    grown.history.push({ message: { role: "user", content: "Replace it." }, contextItems: [] });
    fs.writeFileSync(file, JSON.stringify(grown, null, 2));
    assert.equal(json("import", file).added, 1);
    assert.equal(kept().length, 1);
  });

  test("Cursor: chats of its database, which another program's is not", () => {
    const file = write("state.vscdb", "");
    const put = (key, value) => `INSERT INTO cursorDiskKV VALUES ('${key}', '${
      JSON.stringify(value).replaceAll("'", "''")}');`;
    const sql = (to, text) => assert.equal(spawnSync("sqlite3", [to],
      { input: text }).status, 0);
    sql(file, ["CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);",
      "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
      put("composerData:c1", { composerId: "c1", name: "Paint the mast", createdAt: 1760000000000,
        fullConversationHeadersOnly: [{ bubbleId: "b1", type: 1 }, { bubbleId: "b2", type: 2 },
          { bubbleId: "gone", type: 2 }, { bubbleId: "b3", type: 2 }] }),
      put("bubbleId:c1:b1", { type: 1, text: "Which paint?" }),
      put("bubbleId:c1:b2", { type: 2, text: "", toolFormerData: { name: "grep", result: "two hits" } }),
      put("bubbleId:c1:b3", { type: 2, text: "A marine varnish." }),
      put("composerData:c2", { composerId: "c2", createdAt: 1760000100000,
        conversation: [{ bubbleId: "o1", type: 1, text: "an older chat" }] }),
      put("composerData:c3", { composerId: "c3" })].join("\n"));
    const chats = bring(file, "cursor", 4);
    assert.deepEqual(chats.find(([title]) => title === "Paint the mast")[1],
      ["user: Which paint?", "assistant: [grep]\ntwo hits", "assistant: A marine varnish."]);
    const other = write("other.vscdb", "");
    sql(other, "CREATE TABLE x (y);");
    data = path.join(folder, `none-${++n}`);
    store = undefined; /* nothing is kept where nothing is yet */
    assert.match(clew("import", other).stderr, /not Cursor's/);
    sql(file, "INSERT INTO cursorDiskKV VALUES ('composerData:c4', '{\"a\":');");
    const bad = clew("import", file);
    assert.equal(bad.status, 2);
    assert.match(bad.stderr, /chat 4: /);
    sql(file, put("composerData:c4", { composerId: "c4", createdAt: 2 ** 62, conversation: [{ bubbleId: "x", type: 1, text: "late" }] }));
    assert.match(clew("import", file).stderr, /chat 4: .*"createdAt" is no time/);
    const cut = path.join(folder, "cut.vscdb");
    fs.writeFileSync(cut, fs.readFileSync(file).subarray(0, 5000));
    assert.match(clew("import", cut).stderr, /database cannot be read|not Cursor's/);
    assert.ok(!fs.existsSync(data));
  });

  test("Slack: channels over days, threads as forks, people by name", () => {
    const users = JSON.stringify([{ id: "U1", team_id: "T", name: "ada",
      real_name: "Ada Byron", profile: {} }]);
    const day = (...rows) => JSON.stringify(rows.map((row) => ({ type: "message", ...row })));
    const chats = bring(write("Slack export.zip", zip({
      "channels.json": JSON.stringify([{ id: "C1", name: "general", members: [] }]),
      "users.json": users,
      "general/2024-01-01.json": day(
        { user: "U1", ts: "1704103200.000100", text: "Shall we order lunch?" },
        { user: "U2", ts: "1704103260.000100", text: "Yes, pizza.",
          user_profile: { real_name: "Ben" } },
        { user: "U3", subtype: "channel_join", ts: "1704103270.000100", text: "joined" },
        { user: "U2", ts: "1704103300.000100", thread_ts: "1704103200.000100",
          text: "For how many?", files: [{ name: "menu.pdf" }] }),
      "general/2024-01-02.json": day(
        { user: "U1", ts: "1704189600.000100", text: "The pizza was good." }),
    })), "slack", 4);
    assert.equal(chats.length, 2);
    const [main] = chats.filter(([, turns]) => turns.length === 3);
    assert.deepEqual(main, ["general", ["Ada Byron: Shall we order lunch?",
      "Ben: Yes, pizza.", "Ada Byron: The pizza was good."]]);
    const [thread] = chats.filter(([, turns]) => turns.length === 2);
    assert.deepEqual(thread[1], ["Ada Byron: Shall we order lunch?",
      "U2: For how many?\n[menu.pdf]"]);
  });

  test("Discord: the exporter's channel, and Discord's own package", () => {
    const [[title, turns]] = bring(write("channel.json", fixture("discord.json")),
      "discord", 2);
    assert.equal(title, "boats");
    assert.deepEqual(turns, ["Captain: Who has the keys?", "ben: I do.\n[keys.jpg]"]);
    const own = bring(write("package.zip", zip({
      "messages/c123/channel.json": "{\"id\":\"123\",\"type\":0}",
      "messages/c123/messages.json": JSON.stringify([
        { ID: 1001, Timestamp: "2024-01-02 10:00:00", Contents: "hello harbour", Attachments: "" },
        { ID: 1002, Timestamp: "2024-01-02 10:01:00", Contents: "", Attachments: "https://x/y.png" },
      ]),
    })), "discord-package", 2);
    assert.deepEqual(own[0][1], ["user: hello harbour", "user: [https://x/y.png]"]);
  });

  test("Telegram: one chat, and all of them", () => {
    const [[title, turns]] = bring(write("result.json", fixture("telegram.json")),
      "telegram", 3);
    assert.equal(title, "Ada");
    assert.deepEqual(turns, ["Ada: Look at this link", "Me: [voice_message]",
      "Ada: Good."]);
    const one = JSON.parse(fixture("telegram.json"));
    const all = { about: "x", chats: { about: "y", list: [one, { ...one, id: 8, name: "Ben" }] } };
    assert.equal(bring(write("result.json", JSON.stringify(all, null, 1)),
      "telegram", 6).length, 2);
  });

  test("WhatsApp: Android and iOS, lines that go on, repeats", () => {
    const [[title, turns]] = bring(write("WhatsApp Chat with Ada.txt",
      fixture("whatsapp.txt")), "whatsapp", 4);
    assert.equal(title, "WhatsApp Chat with Ada");
    assert.deepEqual(turns, ["Ada: Are you coming?", "Ben: Yes\nat nine.",
      "Ben: ok", "Ben: ok"]);
    const ios = "[12/31/23, 11:58:01 PM] Ada: Happy new year\n" +
      "[1/1/24, 12:00:02 AM] Ben: You too: all the best\n";
    const chats = bring(write("WhatsApp Chat - Ada.zip", zip({ "_chat.txt": ios })),
      "whatsapp", 2);
    assert.deepEqual(chats[0][1], ["Ada: Happy new year", "Ben: You too: all the best"]);
    const [first, second] = json("history", json("chats").items[0].id).items;
    assert.equal(first.created_at, "2023-12-31T23:58:01.000Z");
    assert.equal(second.created_at, "2024-01-01T00:00:02.000Z");
  });

  test("mail: an mbox and a Maildir, threads as chats", () => {
    const chats = bring(write("inbox.mbox", fixture("mail.mbox")), "mail", 3);
    const [thread] = chats.filter(([, turns]) => turns.length === 2);
    assert.deepEqual(thread, ["Café on Tuesday?", [
      "Ada Byron: Café on Tuesday?\nShall we meet at ten?\nFrom here it is near.",
      "ben@example.org: Tuesday is fine — see you.\n[plan.pdf]"]]);
    const [html] = chats.filter(([, turns]) => turns.length === 1);
    assert.deepEqual(html[1], ["Shop: Your order\nThank you!\nIt ships today."]);
    const one = fixture("mail.mbox").split("\n\nFrom ")[0].replace(/^From .*\n/, "");
    const file = write("Maildir/cur/1700000000.M1.host:2,S", one);
    assert.equal(bring(path.dirname(path.dirname(file)), "mail", 1).length, 1);
  });

  test("plain JSON lines; a file that has grown adds what is new", () => {
    const file = write("talk.jsonl", fixture("plain.jsonl"));
    const [[title, turns]] = bring(file, "jsonl", 3);
    assert.equal(title, "talk");
    assert.deepEqual(turns, ["user: hi", "assistant: hello", "user: hi"]);
    fs.appendFileSync(file, `${JSON.stringify({ role: "assistant", content: "again" })}\n`);
    assert.equal(json("import", file).added, 1);
    assert.equal(kept()[0][1].length, 4);
  });
}
describe("formats", formats);
describe("formats, on PostgreSQL", () => {
  before(async () => { postgres = await startPostgres(); });
  after(async () => {
    await postgres.stop();
    postgres = undefined;
    store = undefined;
  });
  formats();
});

describe("as it is handed out", () => {
  const conversations = () => fixture("chatgpt.json");

  test("a ChatGPT zip: what is no conversation is counted", () => {
    const file = write("export.zip", zip({ "conversations.json": conversations(),
      "user.json": "{\"id\":\"u\"}", "message_feedback.json": "[]", "chat.html": "<html>",
      "images/file-1.png": "png" }));
    data = tempFolder();
    const plain = clew("import", file);
    assert.equal(plain.status, 0, plain.stderr);
    assert.match(plain.stdout, /^chatgpt: \d+ conversations?, \d+ messages/);
    assert.match(plain.stdout, /^\d+ other files were not read$/m);
    assert.equal(json("import", file).added, 0);
    const stored = write("stored.zip", zip({ "conversations.json": conversations() },
      { store: true }));
    assert.equal(json("import", stored).added, 0);
  });

  test("a folder, through its folders", () => {
    const root = path.join(folder, "sessions");
    fs.mkdirSync(path.join(root, "2025/12/08"), { recursive: true });
    fs.writeFileSync(path.join(root, "2025/12/08/rollout-a.jsonl"), fixture("codex.jsonl"));
    fs.writeFileSync(path.join(root, "2025/12/rollout-b.jsonl"),
      fixture("codex.jsonl").replaceAll("session-1", "session-2"));
    fs.writeFileSync(path.join(root, "README.txt"), "notes of mine\n");
    fs.writeFileSync(path.join(root, "photo.png"), "x");
    data = tempFolder();
    const counts = json("import", root);
    assert.deepEqual([counts.conversations, counts.added, counts.other_files], [2, 8, 2]);
    const empty = path.join(folder, "empty");
    fs.mkdirSync(empty);
    assert.match(clew("import", empty).stderr, /no export that can be read/);
  });

  test("a bad zip is refused with its name, and nothing is kept", () => {
    const good = zip({ "conversations.json": conversations() });
    const bomb = zip({ "conversations.json": `[${" ".repeat(80 << 20)}]` });
    for (const [bytes, code, words] of [
      [good.subarray(0, good.length - 30), 2, /damaged.*cut off/],
      [good.subarray(0, 40), 2, /damaged/],
      [zip({ "conversations.json": conversations() }, { crc: 7 }), 2, /conversations\.json.*checksum/],
      [zip({ "conversations.json": conversations() }, { size: 10 }), 2, /longer than its directory/],
      [zip({ "conversations.json": conversations() }, { flags: 1 }), 2, /encrypted/],
      [zip({ "conversations.json": conversations() }, { method: 99 }), 2, /unknown way/],
      [zip({ "../../etc/passwd.json": "[]" }), 2, /directory is wrong/],
      [zip({ "conversations.json": `${conversations().slice(0, -2)}` }), 2,
        /conversations\.json: conversation \d+ .*cut off/],
      [bomb, 6, /would unpack to 80 MB/],
      [zip({}), 2, /no export that can be read/],
    ]) {
      data = path.join(folder, `none-${++n}`);
      const run = clew("import", write("bad.zip", bytes));
      assert.equal(run.status, code, run.stderr + run.stdout);
      assert.match(run.stderr, words);
      assert.ok(!fs.existsSync(data), "nothing was begun");
    }
  });

  test("bad input to each: file and place, and nothing is kept", () => {
    const lines = (name) => fixture(name).trim().split("\n");
    for (const [name, text, words] of [
      ["a.jsonl", lines("codex.jsonl").slice(1).join("\n"), /line 1 .*session_meta/],
      ["b.jsonl", `${fixture("codex.jsonl")}{"timestamp":"x`, /line \d+ \(byte \d+\)/],
      ["c.json", fixture("gemini.json").replaceAll(/"time":"[^"]*"/g, '"time":"noon"'), /conversation 1 .*"time"/],
      ["d.json", fixture("telegram.json").replace('"id": 3', '"id": "x"'), /line 1 .*message has no "id"/],
      ["e.json", fixture("discord.json").replace("2024-", "20x4-"), /timestamp/],
      ["f.json", fixture("opencode.json").replace('"role":"user"', '"role":"queen"'), /message 1 /],
      ["g.txt", "45/45/2024, 10:00 - Ada: hi\n", /line \d+ .*date does not exist/],
      ["h.jsonl", '{"role":"user","content":"x"}\n{"role":"king","content":"y"}\n', /line 2 .*"role"/],
      ["i.json", '[{"type":"message","ts":"soon","text":"x"}]', /conversation 1 .*"ts"/],
      ["j.txt", "just words", /not valid JSON|no export/],
      ["l.jsonl", fixture("gemini_cli.jsonl").replaceAll("2026-01-12T07:56:02", "noon"), /message "m4" has no "timestamp"/],
      ["m.jsonl", fixture("qwen.jsonl").replace('"timestamp":"2026-01-12T07:54:01', '"timestamp":"noon'), /line 3 .*"timestamp"/],
      ["n.json", fixture("continue.json").replace('"sessionId"', '"session"'), /no "sessionId"/],
      ["o.jsonl", `${fixture("gemini_cli.jsonl")}{"id":`, /line \d+ /],
      ["k.json", '{"a": 1,\n "b": [', /line 1 /],
      /* a needed field of another type loses no message in silence */
      ["p.json", fixture("opencode.json").replace('"messages"', '"messages":7,"other"'), /line 1 .*"messages" is no list/],
      ["q.json", fixture("discord.json").replace('"messages"', '"messages":{},"other"'), /line 1 .*"messages" is no list/],
      ["r.json", fixture("telegram.json").replace('"messages"', '"messages":"x","other"'), /line 1 .*"messages" is no list/],
      ["s.json", fixture("continue.json").replace('"history"', '"history":7,"other"'), /line 1 .*"history" is no list/],
      ["t.jsonl", fixture("claude_code.jsonl").replace(/"uuid":"[^"]*"/, '"uuid":7'), /line \d+ .*no "uuid"/],
      ["u.jsonl", fixture("qwen.jsonl").replace(/"uuid":"[^"]*"/, '"uuid":{}'), /line \d+ .*no "uuid"/],
      ["v.jsonl", fixture("gemini_cli.jsonl").replace('"id":"m4"', '"id":4'), /line \d+ .*no "id"/],
      ["x.json", "\u0000\u0001\u0002 nothing of ours", /no export that can be read/],
      ["y.json", "", /there is nothing in it/],
      ["z.jsonl", " \n\n", /there is nothing in it/],
    ]) {
      data = path.join(folder, `none-${++n}`);
      const run = clew("import", write(name, text));
      assert.equal(run.status, 2, `${name}: ${run.stderr}${run.stdout}`);
      assert.match(run.stderr, words, name);
      assert.ok(run.stderr.includes(`/${name}: `), `${run.stderr} names the file`);
      assert.ok(!fs.existsSync(data), name);
    }
  });

  test("empty, cut off, of another program: each format that is named refuses it", () => {
    const garbage = Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 7919 + (i >> 3)) & 255));
    for (const [format, name] of Object.entries({ chatgpt: "chatgpt.json", "claude-ai": "claude_ai.json",
      gemini: "gemini.json", "claude-code": "claude_code.jsonl", codex: "codex.jsonl", opencode: "opencode.json",
      "gemini-cli": "gemini_cli.jsonl", qwen: "qwen.jsonl", continue: "continue.json", slack: "slack.json",
      discord: "discord.json", "discord-package": "discord_package.json", telegram: "telegram.json",
      whatsapp: "whatsapp.txt", mail: "mail.mbox", jsonl: "plain.jsonl" })) {
      data = path.join(folder, `none-${++n}`);
      const isText = ["whatsapp", "mail"].includes(format); /* these have no end that could be missed */
      const other = fixture(format === "telegram" ? "gemini.json" : "telegram.json");
      for (const bytes of ["", garbage, other, ...(isText ? [] : [fixture(name).slice(0, -3)])]) {
        const file = write(name, bytes);
        const run = clew("import", file, "--from", format);
        assert.equal(run.status, 2, `${format}: ${run.stderr}${run.stdout}`);
        assert.ok(run.stderr.includes(file), run.stderr);
        assert.ok(!fs.existsSync(data), format);
      }
    }
  });

  test("of several files none is kept where one is bad, and a pipe is read once", () => {
    const good = write("conversations.json", conversations());
    for (const bad of [write("cut.json", "[{"), write("empty.zip", ""), "/nowhere"]) {
      data = path.join(folder, `none-${++n}`);
      const run = clew("import", good, bad);
      assert.ok(run.status > 0, run.stdout);
      assert.ok(run.stderr.includes(bad), run.stderr);
      assert.ok(!fs.existsSync(data));
    }
    data = tempFolder();
    const piped = spawnSync("bash", ["-c", `"$BIN" import <(cat "$FILE") --json --data "$DATA"`],
      { encoding: "utf8", env: { ...cleanEnv(folder, quick), BIN: bin, FILE: good, DATA: data } });
    assert.equal(piped.status, 0, piped.stderr);
    assert.ok(JSON.parse(piped.stdout).added > 0);
  });

  test("an export of clew itself that is cut off leaves nothing", () => {
    data = tempFolder();
    json("turn", "--user", "ada", "The shed key hangs by the green door.");
    const whole = clew("export").stdout;
    const lines = whole.trim().split("\n");
    for (const [text, words] of [[lines.slice(0, -1).join("\n"), /cut off behind line \d+/],
      [whole.slice(0, -20), /line \d+ is not JSON/], [`${lines[0]}\nnonsense\n${lines.slice(1).join("\n")}`, /line 2 is not JSON/]]) {
      data = path.join(folder, `none-${++n}`);
      const file = write("all.jsonl", text);
      const run = clew("import", file);
      assert.equal(run.status, 2, run.stdout);
      assert.match(run.stderr, words);
      assert.ok(run.stderr.includes(file), run.stderr);
      assert.ok(!fs.existsSync(data));
    }
    data = tempFolder();
    assert.ok(json("import", write("all.jsonl", whole)).added > 0);
  });
});

describe("long imports", () => {
  /* `count` conversations of two messages. */
  const many = (count) => JSON.stringify(Array.from({ length: count }, (_, i) => ({
    uuid: `c${i}`, name: `talk ${i}`, created_at: "2024-01-01T00:00:00Z",
    chat_messages: [0, 1].map((k) => ({ uuid: `m${i}-${k}`, sender: k ? "assistant" : "human",
      text: `words ${i} ${k}`, created_at: "2024-01-01T00:00:00Z" })) })));

  test("Ctrl-C says how to go on, and the same command does", async () => {
    data = tempFolder();
    const file = write("conversations.zip", zip({ "conversations.json": many(400) }));
    const child = spawn(bin, ["import", file, "--data", data], { env: cleanEnv(folder, quick) });
    let stderr = "";
    child.stderr.on("data", (part) => { stderr += part; });
    const ended = new Promise((resolve) => { child.on("close", resolve); });
    while (!fs.existsSync(path.join(data, "clew.db"))) {
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    child.kill("SIGINT");
    assert.equal(await ended, 11);
    assert.match(stderr, /stopped after \d+ of 800 messages; run the same command again/);
    const rest = json("import", file);
    assert.equal(rest.messages, 800);
    assert.equal(json("import", file, "--dry-run").added, 0);
  });

  test("progress tells the total on a terminal", () => {
    data = tempFolder();
    const file = write("conversations.json", many(20));
    const run = spawnSync("script", ["-qec", `${bin} import ${file} --data ${data}`,
      "/dev/null"], { encoding: "utf8", env: cleanEnv(folder, { ...quick, TERM: "xterm" }) });
    assert.match(run.stdout, /importing \[#+ *\] \d+\/40/);
  });

  test("a watched folder is imported as it is written", async () => {
    data = tempFolder();
    const root = path.join(folder, "watched");
    fs.mkdirSync(root);
    const file = path.join(root, "rollout-a.jsonl");
    const all = fixture("codex.jsonl").trim().split("\n");
    fs.writeFileSync(file, `${all.slice(0, 3).join("\n")}\n`);
    const child = spawn(bin, ["import", "--watch", root, "--data", data, "--json"],
      { env: cleanEnv(folder, quick) });
    let out = "";
    let stderr = "";
    child.stderr.on("data", (part) => { stderr += part; });
    child.stdout.on("data", (part) => { out += part; });
    const seen = (count) => new Promise((resolve, reject) => {
      const look = () => {
        const added = out.split("\n").slice(0, -1)
          .reduce((sum, line) => sum + JSON.parse(line).added, 0);
        if (added === count) resolve();
      };
      child.stdout.on("data", look);
      child.on("close", () => reject(new Error(stderr)));
    });
    await seen(1);
    /* half a line is no fault that ends it */
    fs.appendFileSync(file, all[3].slice(0, 20));
    fs.appendFileSync(file, `${all[3].slice(20)}\n${all.slice(4).join("\n")}\n`);
    await seen(4);
    const ended = new Promise((resolve) => { child.on("close", resolve); });
    child.kill("SIGINT");
    assert.equal(await ended, 0, stderr);
    assert.equal(kept()[0][1].length, 4);
  });

  test("a server that is away for a while is waited for", async () => {
    data = tempFolder();
    const root = path.join(folder, "outlived");
    fs.mkdirSync(root);
    const file = path.join(root, "rollout-a.jsonl");
    const all = fixture("codex.jsonl").trim().split("\n");
    fs.writeFileSync(file, `${all.slice(0, 3).join("\n")}\n`);
    let server = await startServer({ data });
    const { port } = new URL(server.url);
    const child = spawn(bin, ["import", "--watch", root, "--url", server.url, "--json"],
      { env: cleanEnv(folder, quick) });
    let out = "";
    let stderr = "";
    child.stderr.on("data", (part) => { stderr += part; });
    child.stdout.on("data", (part) => { out += part; });
    const ended = new Promise((resolve) => { child.on("close", resolve); });
    const added = () => out.split("\n").slice(0, -1).reduce((sum, line) => sum + JSON.parse(line).added, 0);
    await until("the first is there", () => added() === 1);
    await server.stop();
    fs.appendFileSync(file, `${all.slice(3).join("\n")}\n`);
    await until("it waits", () => /could not reach .*; waiting for it\n/.test(stderr) || child.exitCode !== null);
    server = await startServer({ data, listen: `127.0.0.1:${port}` });
    await until("the rest is there", () => added() === 4 || child.exitCode !== null);
    child.kill("SIGINT");
    assert.equal(await ended, 0, stderr);
    assert.equal(stderr.match(/waiting for it/g).length, 1);
    await server.stop();
    assert.equal(kept()[0][1].length, 4);
  });
});
