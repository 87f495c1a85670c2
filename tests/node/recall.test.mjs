/* SPDX-License-Identifier: Apache-2.0 */
/* recall.test.mjs - POST /api/v1/recall: every script finds its turns, both
 * stores rank alike, and no question is too odd. */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk, isRead, taskUnderWay } from "./lib/check.mjs";
import { until } from "./lib/wait.mjs";

/* What was said, and questions that must find it first. */
const said = [
  ["我们下周三在上海开产品发布会，请准备演示文稿。",
    "产品发布会在哪里？", "上海"],
  ["昨天晚上我在家做了红烧肉，味道很好。", "红烧肉好吃吗", "做了什么菜：红烧肉"],
  ["来月から大阪の新しいオフィスで働くことになりました。",
    "大阪のオフィスはいつから？", "オフィス"],
  ["週末に友達と富士山に登りました。", "富士山に登った", "富士山"],
  ["ｼﾝｶﾝｾﾝの切符はもう買いました。", "シンカンセンの切符", "切符"],
  ["พรุ่งนี้ฉันจะไปหาหมอฟันที่โรงพยาบาล", "หมอฟัน", "ไปโรงพยาบาลเมื่อไหร่"],
  ["เมื่อวานฝนตกหนักมากที่กรุงเทพ", "ฝนตกที่กรุงเทพ", "กรุงเทพ"],
  ["سأسافر إلى القاهرة في الشهر القادم لحضور مؤتمر.",
    "متى السفر إلى القاهرة؟", "القَاهِرَة"],
  ["اشْتَرَيْتُ سَيَّارَةً جَدِيدَةً الأسبوع الماضي.", "سيارة جديدة"],
  ["رأيت كلمة ﻻبتوب مكتوبة بحروف متصلة.", "لابتوب"],
  ["Die Krankenversicherung hat meine Rechnung endlich bezahlt.",
    "Was hat die Krankenversicherung bezahlt?", "Versicherung Rechnung"],
  ["Der Fußballweltmeister wohnt jetzt in der Goethestraße.",
    "FUSSBALLWELTMEISTER", "Goethestrasse"],
  ["The parser crashes in parse_http_header() when Content-Length is 0.",
    "parse_http_header", "http header parser crash"],
  ["Rename getUserById to fetchUser in src/api/users.ts please.",
    "getUserById", "get user by id", "src/api/users.ts", "users.ts"],
  ["We pinned libcurl to 7.88.1 because 8.0 broke the proxy tests.",
    "libcurl 7.88.1"],
  ["npm stops with ERR_MODULE_NOT_FOUND since the update.",
    "ERR_MODULE_NOT_FOUND", "module not found error"],
  ["The deploy failed with SQLSTATE 23505 on the orders table.",
    "SQLSTATE 23505", "23505"],
  ["Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build.",
    "9fceb02d0ae598e95dc970b74767f19372d61af8"],
  ["Happy birthday 🎂🎉 from all of us!", "🎂"],
  ["Ｔｈｅ　ｗａｒｅｈｏｕｓｅ　ｃｏｄｅ　ｉｓ　Ｚ９Ｘ", "warehouse code", "Z9X"],
  ["Je suis allé à l'hôpital à cause de ma cheville.", "hopital cheville"],
  ["My sister's wedding is at the lake house in September.",
    "when is the wedding"],
];

const rankings = {};

/* Whole numbers that are the same in every run. */
function drawer(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state >> 8;
  };
}

onEachBackend("recall", (open, backend) => {
  let server;
  let api;
  before(async () => {
    server = await open();
    api = server.api();
    let minute = 0;
    for (const [text] of said) {
      const chat = isOk(await api.post("/api/v1/chats", { user_id: "u" }), 201);
      isOk(await api.post("/api/v1/turns", {
        user_id: "u", role: "user", content: text, chat_id: chat.id,
        created_at: new Date(Date.UTC(2025, 0, 1, 9, minute++)).toISOString(),
      }), 201);
    }
  });
  const recall = (body) => api.post("/api/v1/recall", body);
  const ask = async (query, more = {}) =>
    isOk(await recall({ query, user_id: "u", kinds: ["turn"], ...more })).items;

  test("every script finds its turn", async () => {
    for (const [text, ...questions] of said) {
      for (const question of questions) {
        const items = await ask(question);
        assert.equal(items[0]?.text, text, question);
      }
    }
  });

  test("both stores rank alike", async () => {
    const ranking = [];
    for (const [, ...questions] of said) {
      for (const question of questions) {
        const items = await ask(question, { limit: 20 });
        ranking.push(items.map((item) => [item.text, item.score]));
      }
    }
    rankings[backend] = ranking;
    if (rankings.sqlite && rankings.postgres) {
      assert.deepEqual(rankings.postgres, rankings.sqlite);
    }
  });

  test("odd questions get an answer", async () => {
    for (const query of ["x", "?", "the of and", "🫠", " ", "''\"",
      "OR AND NOT *", "%_", "what happened on 31 February 2025?",
      "on the 99th of Nevember in the year 99999", "ſ", "\u202Etxet",
      "a".repeat(100_000), "wedding ".repeat(20_000)]) {
      const items = await ask(query, { limit: 500, explain: true });
      assert.ok(items.length <= said.length, query.slice(0, 40));
      for (const item of items) {
        assert.ok(item.score > 0 && item.score < 1);
        assert.equal(typeof item.why.lexical, "number");
      }
    }
    assert.equal((await ask("wedding ".repeat(20_000)))[0].text,
      said.at(-1)[0]);
  });

  test("a tool is not taken for the user", async () => {
    const user_id = "forecast";
    const chat_id = isOk(await api.post("/api/v1/chats", { user_id }), 201).id;
    for (const [role, content] of [["user", "What is the weather in Graz?"],
      ["tool", "Graz: 7 degrees, dense fog until noon"], ["assistant", "Foggy, 7 degrees."]]) {
      isOk(await api.post("/api/v1/turns", { user_id, chat_id, role, content }), 201);
    }
    const { items } = isOk(await recall({ user_id, query: "dense fog in Graz", kinds: ["turn"] }));
    assert.equal(items.find((one) => /until noon/.test(one.text)).speaker, "tool");
    const { sources } = isOk(await api.post("/api/v1/ask", { user_id, query: "dense fog in Graz" }));
    for (const one of sources) assert.notEqual(/until noon/.test(one.text) && one.speaker, "user");
  });

  test("what is out of bounds is refused and harms nothing", async () => {
    isError(await recall({ query: "x".repeat(2 << 20) }), 400);
    isError(await recall({ query: "x".repeat(10 << 20) }), 400);
    isError(await recall({ query: "\u0000" }), 400);
    isError(await recall({ query: 5 }), 400);
    isError(await recall({ query: "x", timezone: "Mars/Olympus" }), 400, "VALIDATION_ERROR", "timezone");
    isError(await recall({}), 400);
    isError(await recall({ query: "x", limit: 0 }), 400);
    isError(await recall({ query: "x", limit: 501 }), 400);
    isError(await recall({ query: "x", since: "yesterday" }), 400);
    isError(await recall({ query: "x", at: "2025-02-31T00:00:00Z" }), 400);
    isError(await recall({ query: "x", kinds: ["dream"] }), 400);
    isError(await recall({ query: "x", chat_id: "nope" }), 400);
    assert.equal((await ask("wedding"))[0].text, said.at(-1)[0]);
  });

  test("before everything there was nothing", async () => {
    assert.deepEqual(await ask("wedding", { at: "1990-01-01T00:00:00Z" }), []);
    assert.deepEqual(await ask("wedding", {
      since: "2030-01-01T00:00:00Z", until: "2020-01-01T00:00:00Z",
    }), []);
    for (const kind of ["turn", "memory", "episode", "chat"]) {
      const items = isOk(await recall({
        query: "wedding", kinds: [kind], at: "1990-01-01T00:00:00Z",
      })).items;
      assert.deepEqual(items, [], kind);
    }
  });

  test("a fork of a fork sees its own line only", async () => {
    const user_id = "forker";
    const say = async (chat_id, content) => isOk(await api.post(
      "/api/v1/turns", { user_id, role: "user", content, chat_id }), 201).turn;
    const fork = async (chat_id, at_seq) => isOk(await api.post(
      `/api/v1/chats/${chat_id}/fork`, { at_seq }), 201).id;
    const found = async (chat_id) => isOk(await recall({
      query: "parrot", user_id, chat_id, kinds: ["turn"],
    })).items.map((item) => item.text).sort();

    const root = isOk(await api.post("/api/v1/chats", { user_id }), 201).id;
    await say(root, "the parrot is green");
    await say(root, "the parrot is loud");
    const child = await fork(root, 1);
    await say(child, "the parrot bit me");
    await say(child, "the parrot escaped");
    const grandchild = await fork(child, 2);
    await say(grandchild, "the parrot came home");
    assert.deepEqual(await found(root),
      ["the parrot is green", "the parrot is loud"]);
    assert.deepEqual(await found(child), ["the parrot bit me",
      "the parrot escaped", "the parrot is green"]);
    assert.deepEqual(await found(grandchild), ["the parrot bit me",
      "the parrot came home", "the parrot is green"]);
  });

  test("what is named to the letter is among the first", async () => {
    /* every name shares its parts with many others; CLEW_NAMED_TURNS=58000
     * asks for one among so many */
    const many = Number(process.env.CLEW_NAMED_TURNS ?? 240);
    const draw = drawer(7);
    const pick = (list) => list[draw() % list.length];
    const words = ["user", "order", "token", "retry", "cache", "sync"];
    const big = (word) => word[0].toUpperCase() + word.slice(1);
    const shapes = [
      () => `${pick(words)}_${pick(words)}_${draw() % 90 + 10}`,
      () => `${pick(words)}${big(pick(words))}${big(pick(words))}${draw() % 90 + 10}`,
      () => `src/${pick(words)}/${pick(words)}_${draw() % 900}.ts`,
      () => `v${draw() % 9}.${draw() % 40}.${draw() % 90}-rc${draw() % 9}`,
      () => `${pick(["OPS", "BILL", "WEB"])}-${draw() % 9000 + 1000}`,
      () => `ERR_${pick(words).toUpperCase()}_${draw() % 900 + 100}`,
    ];
    const talk = [
      (name) => `Still no luck with ${name}, the order of the retries is off.`,
      (name) => `Marta renamed it to ${name} because the old one lied.`,
      (name) => `Before lunch I looked at ${name} and the cache was cold.`,
      (name) => `${name} again, the token of the user ran out over night.`,
    ];
    const user_id = "namer";
    const names = new Set();
    while (names.size < many) names.add(pick(shapes)());
    const turns = [...names].map((name) => (
      { user_id, channel: "app", role: "user", content: pick(talk)(name) }));
    for (let at = 0; at < many; at += 1000) {
      isOk(await api.post("/api/v1/turns", { turns: turns.slice(at, at + 1000) }), 201);
    }
    for (const name of [...names].filter((_, i) => i % (many / 20) < 1)) {
      for (const [query, fast] of [[name, false], [name, true],
        [`what was it with ${name}?`, false], [`who touched ${name}`, true]]) {
        const items = await ask(query, { user_id, fast, limit: 3 });
        assert.ok(items.some(({ text }) => text.includes(name)),
          `${query}: ${items.map(({ text }) => text).join(" | ")}`);
      }
    }
  });

  test("what a tool was given is found, by its passage", async () => {
    const user_id = "toolsmith";
    const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a";
    const { id } = isOk(await api.post("/api/v1/chats", { user_id }), 201);
    const lines = (what) => Array.from({ length: 150 }, (_, i) => `${what}_${i}: ${i * 7}`);
    const file = [...lines("size"), "audit trail: kept for ninety days", ...lines("rate")].join("\n");
    const log = [...lines("poll"), "the lease of shard kappa was held by ostrava", ...lines("idle")].join("\n");
    for (const [role, content] of [
      ["assistant", [{ type: "text", text: "I look." }, { type: "tool_use", id: "a", name: "Bash",
        input: { command: `journalctl --since noon # ${token}`, notes: [{ why: "the pantry alarm" }] } }]],
      ["tool", [{ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: log }] }]],
      ["assistant", [{ type: "tool_use", id: "b", name: "Write", input: { file_path: "/srv/keep.yaml", content: file } }]],
      ["assistant", [{ type: "function_call", name: "deploy", arguments: '{"region":"saarland","replicas":14}' }]],
      ["assistant", [{ type: "tool_use", id: "c", name: "mcp__clew__recall", input: { query: "the zebra crossing" } }]],
    ]) isOk(await api.post("/api/v1/turns", { user_id, role, content, chat_id: id }), 201);
    const first = async (query) => (await ask(query, { user_id, limit: 3 }))[0];
    for (const [query, text, fromTool] of [["how long is the audit trail kept?", /kept for ninety days/, true],
      ["who held the lease of shard kappa?", /held by ostrava/, false],
      ["journalctl", /journalctl --since noon/, true], ["pantry alarm", /why: the pantry alarm/, true],
      ["/srv/keep.yaml", /file_path: \/srv\/keep.yaml/, true], ["saarland", /replicas: 14/, true]]) {
      const item = await first(query);
      assert.match(item.text, text, query);
      assert.ok(item.text.length < 1000, query);
      assert.equal(item.passage.tool_input, fromTool, query);
    }
    /* neither a secret nor what was asked of clew itself */
    for (const { text } of await ask(token, { user_id })) assert.ok(!text.includes(token));
    for (const { text } of await ask("zebra crossing", { user_id })) assert.doesNotMatch(text, /zebra/);
  });

  test("a thing with a number is itself, not its neighbour", async () => {
    const user_id = "counter";
    const names = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"];
    const lockers = [...Array(60).keys()].map((i) => `locker ${10 + i} belongs to ${names[i % 6]}`);
    const vouchers = [...Array(40).keys()].map((i) =>
      `voucher ${4700 + i} was paid ${i % 3 ? "late" : "in time"}`);
    isOk(await api.post("/api/v1/turns", { turns: [...lockers, ...vouchers].map((content) => (
      { user_id, role: "user", channel: "app", content })) }), 201);
    for (const [query, start] of [...Array(10).keys()].flatMap((i) => [
      [`whose is locker ${10 + 6 * i}?`, `locker ${10 + 6 * i} `],
      [`was voucher ${4700 + 4 * i} paid in time?`, `voucher ${4700 + 4 * i} `]])) {
      const { items } = isOk(await api.post("/api/v1/recall", { query, user_id, limit: 3 }));
      assert.ok(items[0].text.startsWith(start), `${query} ${items[0].text}`);
    }
  });

  test("who says that it was so answers whether it was", async () => {
    const user_id = "witness";
    for (const content of ["Marta was there the same day", "Anna is the boss here",
      "Milo won the race", "the kettle is broken"]) {
      isOk(await api.post("/api/v1/turns", { user_id, role: "user", channel: "app", content }), 201);
    }
    for (const [query, text] of [["was Marta there the same day?", "Marta was there the same day"],
      ["is Anna the boss here?", "Anna is the boss here"]]) {
      assert.equal(isOk(await api.post("/api/v1/recall", { query, user_id, limit: 3 })).items[0].text, text);
    }
  });

  test("words in quotes mean just those", async () => {
    const user_id = "quoter";
    const chat = isOk(await api.post("/api/v1/chats", { user_id }), 201);
    for (const content of ["The sign on the gate is wrong, it was painted in a hurry.",
      "Grandpa always said no dogs past the gate when we were small.",
      "On the gate it says dogs may not pass, in red."]) {
      isOk(await api.post("/api/v1/turns",
        { user_id, role: "user", content, chat_id: chat.id }), 201);
    }
    const items = await ask('who said "no dogs past the gate"?', { user_id });
    assert.match(items[0].text, /Grandpa/);
  });

  test("no answer is over 200 KB, and its pages lose nothing", async () => {
    const user_id = "hoarder";
    const most = 200_000;
    const odd = "\u0001".repeat(400); /* six bytes each in JSON */
    const { id: chat_id } = isOk(await api.post("/api/v1/chats", { user_id }), 201);
    const turns = Array.from({ length: 70 }, (_, i) => ({
      user_id, chat_id, role: "user", name: odd, external_id: `${i} ${odd}`,
      content: `I decided that pump ${i} of the cellar is repaired by Marek${i}. ${odd}${odd}${odd}`,
    }));
    turns[7].content += "x".repeat(1 << 20);
    isOk(await api.post("/api/v1/turns", { turns }), 201);
    for (let i = 0; i < 9; i++) {
      isOk(await api.post("/api/v1/memories", { user_id, type: "fact",
        summary: `The cellar has a pump ${i}. ${'"\n'.repeat(60_000)}` }), 201);
    }
    await isRead(api); /* else there are more answers from page to page */
    await until("nothing is under way", async () => !await taskUnderWay(api));
    /* the bytes as they come */
    let session = {};
    const raw = async (path, body) => {
      const reply = await fetch(`${server.url}${path}`, { method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
        body: JSON.stringify(body) });
      const text = await reply.text();
      if (path === "/mcp") session = { "mcp-session-id": reply.headers.get("mcp-session-id") ?? session["mcp-session-id"] };
      assert.ok(reply.status < 300, text.slice(0, 400));
      assert.ok(Buffer.byteLength(text) <= most, `${path} ${JSON.stringify(body)}: ${text.length}`);
      return text;
    };
    const query = "who repairs the pump of the cellar?";
    for (const more of [{ fast: true, explain: true }, { kinds: ["turn"] }, { kinds: ["memory"] },
      { kinds: ["chat"] }]) {
      const seen = new Set();
      let n_pages = 0;
      for (let cursor; cursor !== null && n_pages < 40; n_pages++) {
        const page = JSON.parse(await raw("/api/v1/recall",
          { query, user_id, limit: 500, cursor, ...more }));
        assert.ok(page.items.length > 0);
        for (const { id, text, text_bytes, passage, also } of page.items) {
          assert.ok(!seen.has(id), `${id} twice`);
          seen.add(id);
          assert.ok(text.length <= text_bytes && text.length <= 1000);
          if (passage) assert.equal(passage.to - passage.from, text.length);
          for (const coat of also) assert.ok(coat.text.length <= 2100 && coat.text_bytes > 0);
        }
        cursor = page.next_cursor;
      }
      assert.ok(n_pages < 40);
      if (more.kinds?.[0] === "turn") {
        assert.equal(seen.size, 70);
        assert.ok(n_pages > 1);
      }
    }
    /* the words looked for are told */
    await raw("/api/v1/recall", { user_id,
      query: Array.from({ length: 600 }, (_, i) => `pump${i}${"ü".repeat(120)}`).join(" ") });
    await raw("/api/v1/ask", { query, user_id });
    await raw("/api/v1/start", { user_id, intent: "the pump of the cellar" });
    await raw(`/api/v1/chats/${chat_id}/context`, { message: query });
    await raw("/api/v1/memory", { prompt: query, agent_id: odd.slice(0, 99), agent_name: odd.slice(0, 99) });
    await raw("/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params: {
      protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } });
    for (const detail of ["compact", "full"]) {
      for (const [name, args] of [["recall", { query, limit: 500 }],
        ["start", { intent: "the pump of the cellar", user_id }], ["context", { chat_id, message: query }]]) {
        await raw("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call",
          params: { name, arguments: { ...args, detail } } });
      }
    }
  });

  test("pages show everything once, though a deeper ranking has another order", async () => {
    const user_id = "pager";
    const said = (n) => ({ user_id, role: "user", content: `quarry ${"\u0001".repeat(600)} ${n}` });
    const { items: turns } = isOk(await api.post("/api/v1/turns",
      { turns: Array.from({ length: 150 }, (_, n) => said(n)) }), 201);
    await isRead(api);
    for (const more of [{ limit: 50 }, { limit: 20, kinds: ["turn"] }]) {
      const ids = [];
      for (let cursor; cursor !== null && ids.length < 400;) {
        const page = isOk(await api.post("/api/v1/recall", { query: "quarry", user_id, cursor, ...more }));
        ids.push(...page.items.map(({ id }) => id));
        cursor = page.next_cursor;
        /* what comes in between moves nothing */
        if (ids.length === more.limit) isOk(await api.post("/api/v1/turns", said(ids.length + 1000)), 201);
      }
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(turns.filter(({ turn }) => !ids.includes(turn.id)), []);
    }
  });

  test("what a machine whose clock is ahead has stored is found at once", async () => {
    const user_id = "early";
    const say = async (content, minutes) => isOk(await api.post("/api/v1/turns", { user_id, role: "user",
      content, created_at: new Date(Date.now() + minutes * 60_000).toISOString() }), 201);
    const find = async (more) => isOk(await recall({ query: "where is the parrot?", user_id,
      kinds: ["turn"], ...more })).items.map(({ text }) => text);
    const now = new Date().toISOString();
    await say("The parrot sleeps on the fridge.", 5);
    assert.deepEqual(await find({}), ["The parrot sleeps on the fridge."]);
    assert.deepEqual(await find({ at: now }), [], "a time that was named is kept to");
    await say("The parrot is at the vet.", 3 * 24 * 60);
    assert.deepEqual(await find({}), ["The parrot sleeps on the fridge."]);
  });

  test("as of a moment nothing tells what came later, no sum either", async () => {
    const user_id = "hindsight";
    let chat_id;
    for (const [day, content] of [[5, "The walnut table has to be sanded before it can be oiled."], [6, "I keep the walnut table in the barn."],
      [20, "Actually the walnut table stands in the orangery now."], [21, "That worked, the walnut table is oiled now."]]) {
      chat_id = isOk(await api.post("/api/v1/turns", { user_id, chat_id, role: "user", content,
        created_at: `2025-02-${String(day).padStart(2, "0")}T09:00:00Z` }), 201).turn.chat_id;
    }
    await isRead(api);
    isOk(await api.post(`/api/v1/chats/${chat_id}/compact`, {}));
    const told = async (kinds, at) => (await recall({ query: "where is the walnut table?", user_id, kinds, at })).text;
    for (const kinds of [undefined, ["episode"], ["memory"], ["turn"], ["chat"]]) {
      assert.doesNotMatch(await told(kinds, "2025-02-10T09:00:00Z"), /orangery|is oiled/, `${kinds}`);
    }
    assert.match(await told(["episode"], "2025-02-22T09:00:00Z"), /orangery/);
    assert.match(await told(["episode"]), /orangery/);
  });

  test("what is forgotten is found by no kind", async () => {
    const user_id = "leaver";
    const chat = isOk(await api.post("/api/v1/chats", { user_id }), 201);
    for (const content of ["I decided to move to Reykjavik in June.",
      "My flat in Reykjavik has a blue door.",
      "I prefer tea to coffee."]) {
      isOk(await api.post("/api/v1/turns",
        { user_id, role: "user", content, chat_id: chat.id }), 201);
    }
    const find = async (kind) => isOk(await recall({
      query: "Reykjavik", user_id, kinds: [kind],
    })).items;
    assert.ok((await find("turn")).length > 0);
    assert.ok((await find("chat")).length > 0);
    isOk(await api.post("/api/v1/forget", { user_id }));
    for (const kind of ["turn", "memory", "episode", "chat"]) {
      assert.deepEqual(await find(kind), [], kind);
    }
  });
});
