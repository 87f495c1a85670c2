/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minute-one.test.mjs - what somebody meets who has just built the program:
 * the demo keeps off their data, reading makes nothing, errors name what was
 * typed, parts of ids and words for times are understood, tables fit.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";

const bin = process.env.CLEW_BIN;
const temp = () => fs.mkdtempSync(path.join(os.tmpdir(), "clew-door-"));
const env = (home, more = {}) => ({ PATH: process.env.PATH, HOME: home,
  NO_COLOR: "1", TZ: "UTC", ...more });

function clew(home, args, { input = "", vars = {} } = {}) {
  return spawnSync(bin, args, { input, encoding: "utf8", env: env(home, vars) });
}

/* On a terminal of 80 columns, its lines without carriage returns. */
function screen(home, args) {
  const line = `stty cols 80 rows 40; ${[bin, ...args]
    .map((word) => `'${word}'`).join(" ")}`;
  const run = spawnSync("script", ["-qec", line, "/dev/null"],
    { encoding: "utf8", env: env(home, { TERM: "xterm" }),
      stdio: ["ignore", "pipe", "pipe"] });
  assert.equal(run.status, 0, run.stdout);
  return run.stdout.replace(/\r/g, "").replace(/\u001b\[[0-9;]*m/g, "");
}

describe("the demo", () => {
  let home;
  before(() => { home = temp(); });
  after(() => fs.rmSync(home, { recursive: true, force: true }));

  test("has a store of its own, says where, and leaves the user's alone", async () => {
    const own = path.join(home, ".local/share/clew");
    const kept = clew(home, ["turn", "my own words"]);
    assert.equal(kept.status, 0, kept.stderr);
    const server = spawn(bin, ["serve", "--demo", "--listen", "127.0.0.1:0"],
      { env: env(home) });
    let said = "";
    await new Promise((resolve, reject) => {
      server.stderr.on("data", (part) => {
        said += part;
        if (/listening on/.test(said)) resolve();
      });
      server.on("exit", () => reject(new Error(said)));
    });
    const url = /listening on (\S+)/.exec(said)[1];
    assert.ok(said.includes(`demo data in ${own}-demo\n`), said);
    const there = await (await fetch(`${url}/api/v1/chats`)).json();
    assert.ok(there.items.length >= 3);
    assert.ok(!there.items.some((chat) => chat.title === "my own words"));
    await new Promise((resolve) => {
      server.on("exit", resolve);
      server.kill("SIGTERM");
    });
    const mine = JSON.parse(clew(home, ["chats", "--json"]).stdout).items;
    assert.deepEqual(mine.map((chat) => chat.title), ["my own words"]);
  });

  /* What it says until it is told to end, once it listens. */
  function demo(settings, ...args) {
    const server = spawn(bin, ["serve", "--demo", ...args, "--listen", "127.0.0.1:0"],
      { env: env(home, settings) });
    let said = "";
    server.stderr.on("data", (part) => {
      said += part;
      if (/listening on/.test(said)) server.kill("SIGTERM");
    });
    return new Promise((resolve) => { server.on("close", () => resolve(said)); });
  }

  test("goes where it is told, and past what the settings say", async () => {
    const elsewhere = path.join(home, "named");
    const run = await demo({}, "--data", elsewhere);
    assert.ok(run.includes(`demo data in ${elsewhere}\n`), run);
    const set = await demo({ CLEW_DATA_DIR: path.join(home, "mine") });
    assert.ok(set.includes(`demo data in ${home}/mine-demo\n`), set);
    assert.ok(!fs.existsSync(path.join(home, "mine")));
  });
});

describe("reading", () => {
  test("makes no store where there is none", () => {
    const home = temp();
    const none = path.join(home, "none");
    for (const words of [["recall", "x"], ["chats"], ["memories"], ["episodes"],
      ["links"], ["requests"], ["efforts"], ["chains"], ["tasks"], ["tuning"],
      ["conflicts"], ["history", "0199c1d2"], ["why", "0199c1d2"],
      ["keys", "list"], ["verify"], ["export"], ["secrets"],
      ["brain", "query", "x"], ["analyse", "x"], ["model", "list"],
      ["forget", "--user", "x"], ["undo", "--from", "a", "--since", "1d"]]) {
      const run = clew(home, [...words, "--data", none]);
      assert.equal(run.status, 4, `${words.join(" ")}: ${run.stderr}${run.stdout}`);
      assert.match(run.stderr, /no store in .*none.*clew turn/s, words.join(" "));
      assert.ok(!fs.existsSync(none), words.join(" "));
    }
    assert.deepEqual(fs.readdirSync(home), []);
    /* … nor a tenant */
    const data = ["--data", path.join(home, "some")];
    assert.equal(clew(home, ["turn", "--user", "ann", "The dog is called Rex", ...data]).status, 0);
    for (let i = 0; i < 2; i++) {
      const run = clew(home, ["recall", "dog", "--tenant", "nobody", ...data]);
      assert.deepEqual([run.status, run.stderr], [4, 'clew: there is no tenant "nobody"\n']);
    }
    fs.rmSync(home, { recursive: true });
  });

  test("goes on where a store is empty", () => {
    const home = temp();
    assert.equal(clew(home, ["keys", "create", "--role", "read"]).status, 0);
    assert.equal(clew(home, ["recall", "x"]).status, 0);
    fs.rmSync(home, { recursive: true });
  });
});

describe("what is typed", () => {
  let home;
  let chat;
  let other;
  const json = (...args) => {
    const run = clew(home, [...args, "--json"]);
    assert.equal(run.status, 0, run.stderr);
    return JSON.parse(run.stdout);
  };
  before(() => {
    home = temp();
    const say = (text, at) => json("turn", "--user", "ada", "--at", at, text);
    chat = say("The boiler in the cellar makes a knocking noise.", "2026-03-02T08:00:00Z").turn.chat_id;
    say("It is the pump bearing, says Mr. Okafor.", "2026-03-02T08:01:00Z");
    other = say("Please find me a lemon cake without nuts.", "2026-03-09T08:00:00Z").turn.chat_id;
  });
  after(() => fs.rmSync(home, { recursive: true, force: true }));

  test("an error names the option, not a field of the API", () => {
    for (const [args, code, words] of [
      [["recall", "x", "--min-score", "7"], 2, /--min-score must be from 0 to 1/],
      [["recall", "x", "--kind", "song"], 2, /--kind may hold/],
      [["recall", "x", "--since", "soonish"], 2, /--since: "soonish" is no time.*yesterday/],
      [["recall", "x", "--chat", "zz"], 2, /--chat: "zz" is no id/],
      [["recall", "x", "--chat", "abcdef"], 4, /--chat: no id begins with "abcdef"/],
      [["recall", "x", "--limit", "0"], 2, /--limit/],
      [["links", "--decision", "perhaps"], 2, /--decision/],
      [["tasks", "--status", "lazy"], 2, /--status/],
      [["turn", "x", "--role", "king"], 2, /--role/],
      [["context", chat, "--format", "poem"], 2, /--format/],
      [["memories", "--limit", "x"], 2, /--limit/],
    ]) {
      const run = clew(home, args);
      assert.equal(run.status, code, `${args.join(" ")}: ${run.stderr}`);
      assert.match(run.stderr, words, args.join(" "));
      assert.doesNotMatch(run.stderr, /"(min_score|kinds|chat_id|user_id)"/);
    }
  });

  test("options of every command may stand before it", () => {
    const folder = path.join(home, ".local/share/clew");
    const before = clew(home, ["--data", folder, "--json", "chats"]);
    assert.equal(before.status, 0, before.stderr);
    assert.equal(JSON.parse(before.stdout).items.length, 2);
    const glued = clew(home, [`--data=${folder}`, "chats", "-j"]);
    assert.equal(glued.stdout, before.stdout);
    const away = clew(home, ["--url", "http://127.0.0.1:1", "chats"]);
    assert.equal(away.status, 11);
    assert.match(clew(home, ["--odd", "chats"]).stderr, /--odd/);
    assert.equal(clew(home, ["--json"]).status, 2);
  });

  test("the beginning of an id is enough, everywhere", () => {
    const part = chat.slice(0, 8);
    assert.equal(json("history", part).items.length, 2);
    assert.equal(json("tree", part).items[0].id, chat);
    assert.equal(json("recall", "knocking", "--chat", part).items[0].chat_id, chat);
    assert.equal(json("turn", "--user", "ada", "--chat", part, "and again").turn.chat_id, chat);
    assert.equal(json("chats", "title", part, "the boiler").title, "the boiler");
    const memory = json("memories", "--chat", other.slice(0, 8)).items[0].id;
    assert.equal(json("memories", "show", memory.slice(0, 18)).id, memory);
    const turn = json("history", chat).items[1].id;
    assert.equal(json("why", `${part}:2`).id, turn);
    assert.equal(json("forget", "--turn", `${part}:2`).forgotten.turns, 1);
    assert.equal(json("history", chat.slice(0, 8).toUpperCase()).items.length, 3);
    const both = clew(home, ["tree", chat.slice(0, 4)]);
    assert.equal(both.status, 2);
    assert.ok(both.stderr.includes(chat) && both.stderr.includes(other), both.stderr);
    assert.equal(clew(home, ["tree", "ffffffff"]).status, 4);
    assert.equal(clew(home, ["tree", "nothing"]).status, 4);
  });

  test("times may be said in words, of the local zone", () => {
    const now = Date.now();
    const ago = (days) => new Date(now - days * 86400e3).toISOString();
    const say = (days, text) => json("turn", "--user", "ben", "--at", ago(days), text);
    /* less than a day: it is since yesterday, even if a day ends meanwhile */
    say(0.9, "The violin lesson went well.");
    say(20, "The violin strings broke.");
    const found = (...args) => json("recall", "violin", "--user", "ben",
      "--kind", "turn", ...args).items.map((item) => item.text);
    assert.equal(found("--since", "yesterday").length, 1);
    assert.equal(found("--since", "3 days ago").length, 1);
    assert.equal(found("--since", "2d").length, 1);
    assert.equal(found("--since", "12w").length, 2);
    assert.equal(found("--until", "2 weeks ago")[0], "The violin strings broke.");
    assert.equal(found("--since", "2026-01-01").length, 2);
    assert.equal(found("--until", ago(0.9).slice(0, 10)).length, 2, "a day is all of it");
  });

  test("a day or a month that is typed without a year is the last one", () => {
    const now = Date.now();
    const said = (at) => Date.parse(json("turn", "--user", "eve", "--at", at, "hm").turn.created_at);
    for (const at of ["5 march", "October 9", "25 dec", "12.03.", "31.12.", "1. August", "march", "May",
      "in June", "september", "Friday", "jueves", "14 juillet"]) {
      const time = said(at);
      assert.ok(time <= now + 1000 && time > now - 367 * 86400e3, `${at}: ${new Date(time).toISOString()}`);
    }
    const day = new Date(said("tomorrow"));
    assert.ok(day > now && day < now + 86400e3 * 1.1, String(day));
  });

  test("tables fit 80 columns and give ids that can be typed", () => {
    const commands = [...clew(home, ["help"]).stdout
      .matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((match) => match[1]);
    assert.ok(commands.length > 50);
    json("turn", "--user", "ada", "--chat", chat, `long ${"words ".repeat(60)}end`);
    for (const words of [["chats"], ["memories"], ["episodes"], ["links"],
      ["requests"], ["efforts", "--user", "ada"], ["chains", "--user", "ada"],
      ["tasks"], ["tree", chat], ["why", `${chat}:1`], ["conflicts"],
      ["memories", "show", json("memories").items[0].id],
      ["episodes", "show", json("episodes").items[0].id],
      ["help"], ["config", "keys"], ...commands.map((name) =>
        [...name.split(" "), "--help"]), ["recall", "boiler"], ["keys", "list"], ["tuning"]]) {
      for (const line of screen(home, words).split("\n")) {
        assert.ok([...line].length <= 80, `${words.join(" ")}: ${line}`);
      }
    }
    const shown = /^(\S+) .*boiler/m.exec(screen(home, ["chats"]))[1];
    assert.ok(shown.length < 20);
    assert.equal(json("tree", shown).items[0].id, chat);
  });

  test("what was decided and made is told in words", () => {
    const why = clew(home, ["why", `${chat.slice(0, 8)}:2`]).stdout;
    assert.match(why, /^Its chat\n {2}silence within the timeout/);
    assert.match(why, /Its topic\n/);
    assert.match(why, /What it does\n {2}\w+, \d+ % sure/);
    assert.doesNotMatch(why, /_ms|considered/);
    const call = path.join(home, "call.json");
    const user = (content) => ({ role: "user", content });
    const calls = [[user("the shed needs paint")],
      [user("the shed needs paint"), { role: "assistant", content: "hi" }, user("more")]];
    for (const messages of calls) {
      fs.writeFileSync(call, JSON.stringify({ messages, model: "gpt" }));
      assert.equal(clew(home, ["link", call]).status, 0);
    }
    const requests = clew(home, ["requests"]).stdout;
    assert.match(requests, /^CALL +WHEN +HOW +MESSAGES +MODEL +SAID\n/);
    assert.match(requests, /goes on +3 +gpt/);
    const id = json("requests").items[0].conversation_id;
    const tree = clew(home, ["conversation", id.slice(0, 18)]).stdout;
    assert.match(tree, /^the shed needs paint\n2 calls in 1 branch\n/);
    assert.doesNotMatch(tree, /message_hash/);
    assert.match(clew(home, ["episodes"]).stdout, /^EPISODE +WHEN +OF +SUMMARY\n/);
    const memory = clew(home, ["memories", "show", json("memories").items[0].id]).stdout;
    assert.match(memory, /^drawn from +\S+:lines-/m);
  });
});
