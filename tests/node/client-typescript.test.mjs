/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client-typescript.test.mjs - clients/typescript as it is packed, against the
 * program and against what can happen between the two.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";

import { files, python, typescript } from "../../clients/generate.mjs";
import { isOk } from "./lib/check.mjs";
import { startFaults } from "./lib/faults.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { installClient } from "./lib/typescript-client.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { PATIENCE_MS, until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

let client;
let lib;
let server;
let upstream;
before(async () => {
  upstream = await startUpstream();
  server = await startServer({ args: ["--upstream", `openai=${upstream.url}`] });
  client = await installClient();
  lib = await client.load("index");
});
after(async () => {
  client?.remove();
  await server?.stop("SIGKILL"); /* what it would still make of 10,000 turns nobody asks */
  await upstream?.stop();
});

const turn = (content, more = {}) => ({ user_id: "u", role: "user", content, ...more });
const quick = (more = {}) => new lib.Clew({ url: server.url, retries: 3, ...more });
async function texts(clew, chatId) {
  const out = [];
  for await (const one of clew.turns(chatId)) out.push(one.text);
  return out;
}
/* A chat of its own. */
const newChat = async (clew) => (await clew.call("createChat", { body: { user_id: "u" } })).id;

describe("the package", () => {
  test("its types are those of the program", async () => {
    const document = isOk(await server.api().get("/openapi.json"));
    assert.equal(fs.readFileSync(files.typescript, "utf8"), typescript(document),
      "run clients/generate.mjs");
    assert.equal(fs.readFileSync(files.python, "utf8"), python(document), "run clients/generate.mjs");
  });

  test("has what is needed, depends on nothing", async () => {
    for (const entry of ["index", "ai-sdk", "langchain", "openai-agents"]) {
      assert.ok(client.files.includes(`dist/${entry}.js`) && client.files.includes(`dist/${entry}.d.ts`), entry);
    }
    assert.ok(client.files.includes("README.md") && client.files.includes("LICENSE"));
    assert.ok(!client.files.some((name) => name.startsWith("src/")));
    const { dependencies } = JSON.parse(fs.readFileSync(`${client.folder}/node_modules/clew-client/package.json`, "utf8"));
    assert.equal(dependencies, undefined);
    /* a browser has no node: */
    for (const name of client.files.filter((one) => one.endsWith(".js"))) {
      const text = fs.readFileSync(`${client.folder}/node_modules/clew-client/${name}`, "utf8");
      assert.doesNotMatch(text, /from "node:|require\(|process\./, name);
    }
  });

  test("the example remembers", async () => {
    const { stdout } = await client.example("remember.mjs", { CLEW_URL: server.url });
    assert.match(stdout, /Lisbon/);
  });
});

describe("calls", () => {
  test("ask, and hear the answer as it comes", async () => {
    const clew = quick();
    await clew.remember(turn("The ferry leaves at nine."));
    const question = "When does the ferry leave?";
    const answer = await clew.ask(question, { user_id: "u" });
    assert.deepEqual([answer.by, answer.reason], ["passages", "NO_MODEL"]);
    assert.match(answer.sentences[0].text, /nine/);
    const pieces = [];
    for await (const piece of clew.askStream(question, { user_id: "u" })) pieces.push(piece);
    assert.deepEqual([pieces[0].event, pieces[1].event, pieces.at(-1).event], ["sources", "sentence", "answer"]);
    assert.deepEqual(pieces.at(-1).data.sentences,
      pieces.filter((piece) => piece.event === "sentence").map((piece) => piece.data));
    await assert.rejects(clew.askStream("").next(), (error) => error.status === 400);
  });

  test("store, find, read the context", async () => {
    const clew = quick();
    const stored = await clew.remember(turn("The ferry leaves at nine."));
    assert.match(stored.turn.external_id, /^c-[0-9a-f]{32}$/);
    const { items } = await clew.recall("when does the ferry leave", { user_id: "u" });
    assert.match(items[0].text, /nine/);
    const context = await clew.context(stored.chat.id, { budget_tokens: 400, message: "and the ferry?" });
    assert.match(context.text, /ferry/);
    for (const where of [server.url, new URL(server.url)]) { /* its address alone */
      assert.match((await new lib.Clew(where).recall("ferry", { user_id: "u" })).items[0].text, /nine/);
    }
    assert.equal((await clew.call("getChat", { params: { id: stored.chat.id } })).id, stored.chat.id);
  });

  test("an error has status, code, field and id", async () => {
    const clew = quick();
    await assert.rejects(clew.call("getChat", { params: { id: "01900000-0000-7000-8000-000000000000" } }),
      (error) => error instanceof lib.ClewError && error.status === 404 && error.code === "NOT_FOUND"
        && error.requestId.length > 0);
    await assert.rejects(clew.remember(turn("x", { role: "nobody" })),
      (error) => error.status === 400 && error.field === "role");
    await assert.rejects(clew.call("getChat", { params: {} }), /"id" is missing/);
    await clew.remember(turn("one", { external_id: "same" }));
    await assert.rejects(clew.remember(turn("two", { external_id: "same" })), (error) => error.status === 409);
  });

  test("10,000 turns are stored in order and paged through, none lost or doubled", async () => {
    const clew = quick();
    const chat_id = await newChat(clew);
    const said = Array.from({ length: 10_000 }, (_, i) => `n${i}`);
    const done = await clew.rememberAll(said.map((text) => turn(text, { chat_id })));
    assert.equal(done.length, 10_000);
    assert.deepEqual(await texts(clew, chat_id), said);
    const some = [];
    for await (const one of clew.each("listTurns", { params: { id: chat_id }, query: { limit: 7 } })) {
      some.push(one.text);
      if (some.length === 20) break; /* no further page is asked for */
    }
    assert.deepEqual(some, said.slice(0, 20));
  });

  test("an empty list, an empty batch", async () => {
    const clew = quick();
    const none = [];
    for await (const one of clew.memories({ user_id: "nobody at all" })) none.push(one);
    assert.deepEqual(none, []);
    assert.deepEqual(await clew.rememberAll([]), []);
  });
});

describe("faults", () => {
  let faults;
  let clew;
  before(async () => {
    faults = await startFaults(server.url);
    clew = new lib.Clew({ url: faults.url, retries: 3, timeoutMs: PATIENCE_MS });
  });
  after(() => faults.stop());

  /* The first requests meet these faults, in order. */
  const plan = (...list) => {
    faults.seen.length = 0;
    faults.plan = (request, n) => list[n];
  };

  test("429 and 503 are tried again, no sooner than asked", async () => {
    plan({ status: 429, headers: { "retry-after": "1" } }, { status: 503 });
    const from = Date.now();
    const { turn: stored } = await clew.remember(turn("after a while"));
    assert.ok(Date.now() - from >= 990); /* timers are of milliseconds */
    assert.equal(faults.seen.length, 3);
    assert.equal(stored.text, "after a while");
  });

  test("the program's own 429 is waited for", async () => {
    const slow = await startServer({ args: ["--set", "limits.rate_per_minute=60"] });
    try {
      await assert.rejects(async () => {
        const strict = new lib.Clew({ url: slow.url, retries: 0 });
        for (let i = 0; i < 100; i++) await strict.call("getStats", {});
      }, (error) => error.status === 429 && error.retryAfterMs > 0);
      assert.equal((await new lib.Clew({ url: slow.url }).call("getStats", {})).turns, 0);
    } finally {
      await slow.stop();
    }
  });

  test("it gives up after `retries`, and at once if it would wait too long", async () => {
    plan(...Array.from({ length: 9 }, () => ({ status: 503 })));
    await assert.rejects(clew.recall("x"), (error) => error.status === 503);
    assert.equal(faults.seen.length, 4);
    plan({ status: 429, headers: { "retry-after": "3600" } });
    await assert.rejects(clew.recall("x"), (error) => error.status === 429 && error.retryAfterMs === 3_600_000);
    assert.equal(faults.seen.length, 1);
    plan({ status: 500 });
    await assert.rejects(clew.recall("x"), (error) => error.code === "FAULT");
    assert.equal(faults.seen.length, 1);
  });

  test("a turn whose answer was lost, cut or late is stored once", async () => {
    const chat_id = await newChat(quick());
    const hasty = new lib.Clew({ url: faults.url, timeoutMs: 2000, retries: 9 });
    for (const fault of ["lost", "half", "mute"]) {
      plan(fault);
      const { turn: stored } = await (fault === "mute" ? hasty : clew).remember(turn(`said ${fault}`, { chat_id }));
      assert.equal(stored.text, `said ${fault}`);
      assert.ok(faults.seen.length >= 2);
    }
    plan("lost", undefined, "half", { status: 503 });
    await clew.rememberAll(Array.from({ length: 1200 }, (_, i) => turn(`b${i}`, { chat_id })));
    assert.deepEqual(await texts(quick(), chat_id),
      ["said lost", "said half", "said mute", ...Array.from({ length: 1200 }, (_, i) => `b${i}`)]);
  });

  test("what may not be done twice is not sent twice", async () => {
    plan("lost");
    await assert.rejects(clew.call("createChat", { body: { user_id: "once" } }), lib.ClewConnectionError);
    assert.equal(faults.seen.length, 1);
    const chats = [];
    for await (const chat of quick().chats({ user_id: "once" })) chats.push(chat);
    assert.equal(chats.length, 1);
  });

  test("a batch that fails says what is left, and goes on from there", async () => {
    const chat_id = await newChat(quick());
    const all = Array.from({ length: 1100 }, (_, i) => turn(`p${i}`, { chat_id }));
    plan(undefined, "lost", "lost", "lost", "lost");
    const error = await clew.rememberAll(all).then(() => assert.fail("it did not fail"), (one) => one);
    assert.ok(error instanceof lib.ClewBatchError && error.cause instanceof lib.ClewConnectionError);
    assert.equal(error.done.length + error.left.length, 1100);
    plan();
    await clew.rememberAll(error.left);
    assert.deepEqual(await texts(quick(), chat_id), all.map((one) => one.content));
  });

  test("a server that is gone is an error, soon", async () => {
    const gone = await startServer();
    await gone.stop();
    const lonely = new lib.Clew({ url: gone.url, retries: 2 });
    const from = Date.now();
    await assert.rejects(lonely.remember(turn("hello?")),
      (error) => error instanceof lib.ClewConnectionError && error.isUnsent);
    await assert.rejects(async () => { for await (const one of lonely.events()) assert.fail(one); },
      lib.ClewConnectionError);
    assert.ok(Date.now() - from < 30_000); /* waiting for an answer takes 60 */
  });

  test("a server that comes back is found again", async () => {
    const data = tempFolder();
    let back = await startServer({ data });
    const listen = back.url.replace("http://", "");
    await back.stop("SIGKILL");
    const patient = new lib.Clew({ url: back.url, retries: 9 });
    const [stored] = await Promise.all([patient.remember(turn("still there?")),
      startServer({ data, listen }).then((one) => { back = one; })]);
    assert.equal(stored.turn.text, "still there?");
    await back.stop();
    fs.rmSync(data, { recursive: true, force: true });
  });

  test("an abort ends it at once: a request, a pause, a list", async () => {
    const reason = new Error("enough");
    const soon = () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 30);
      return { signal: controller.signal };
    };
    const patient = new lib.Clew({ url: faults.url, timeoutMs: 60_000 });
    const from = Date.now();
    plan("mute");
    await assert.rejects(patient.recall("x", {}, soon()), (error) => error === reason);
    plan({ status: 503, headers: { "retry-after": "25" } });
    await assert.rejects(patient.recall("x", {}, soon()), (error) => error === reason);
    plan("mute");
    await assert.rejects(async () => { for await (const one of patient.chats({}, soon())) void one; },
      (error) => error === reason);
    const gone = AbortSignal.abort(reason);
    plan();
    await assert.rejects(patient.recall("x", {}, { signal: gone }), (error) => error === reason);
    assert.equal(faults.seen.length, 0);
    assert.ok(Date.now() - from < 20_000);
  });
});

describe("streams", () => {
  test("events come, are taken up where they broke, none twice", async () => {
    const faults = await startFaults(server.url);
    const clew = new lib.Clew({ url: faults.url });
    const writer = quick();
    const chat_id = await newChat(writer);
    const controller = new AbortController();
    const heard = [];
    const listening = (async () => {
      for await (const one of clew.events({ signal: controller.signal })) {
        if (one.event !== "turn" || one.chat_id !== chat_id) continue;
        heard.push(one.seq);
        if (heard.length === 9) return;
      }
    })();
    /* an answer begins with the mark to go on from */
    await until("the answer begins", () => faults.begun === 1);
    faults.cut(); /* before the first event: it is not missed */
    for (let i = 1; i <= 3; i++) await writer.remember(turn(`e${i}`, { chat_id }));
    await until("three are heard", () => heard.length === 3);
    faults.cut();
    await writer.rememberAll([4, 5, 6].map((i) => turn(`e${i}`, { chat_id })));
    await until("six are heard", () => heard.length === 6);
    faults.plan = (request, n) => (n % 2 === 0 ? { status: 503 } : undefined);
    faults.cut();
    for (let i = 7; i <= 9; i++) await writer.remember(turn(`e${i}`, { chat_id }));
    await listening;
    assert.deepEqual(heard, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await faults.stop();
  });

  test("an abort ends listening; leaving the loop does, too", async () => {
    const clew = quick();
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(async () => {
      for await (const one of clew.events({ signal: controller.signal })) void one;
    }, (error) => error === reason);
    const stored = await clew.remember(turn("first"));
    const { items } = await clew.call("findTurns", { query: { external_id: stored.turn.external_id } });
    assert.equal(items.length, 1);
    const listening = (async () => {
      for await (const one of clew.events()) return one.event;
      return undefined;
    })();
    /* what is said before it listens it does not hear */
    let isHeard = false;
    listening.then(() => { isHeard = true; }, () => { isHeard = true; });
    await until("it hears", async () => {
      await clew.remember(turn("again"));
      return isHeard;
    });
    assert.match(await listening, /^(turn|effort|memory)/); /* it may come in between */
  });

  test("a key that is refused is no reason to try again", async () => {
    const locked = await startServer();
    const key = await locked.key("t", "read");
    const listen = async (more) => {
      for await (const one of new lib.Clew({ url: locked.url, ...more }).events()) void one;
    };
    await assert.rejects(listen({ key: "nonsense" }), (error) => error.status === 401);
    await assert.rejects(new lib.Clew({ url: locked.url, key }).remember(turn("x")), (error) => error.status === 403);
    await locked.stop();
  });

  test("an answer streams through the proxy; half of one is an error", async () => {
    const clew = quick();
    const ask = (content) => clew.stream("/v1/chat/completions",
      { model: "m", stream: true, messages: [{ role: "user", content }] }, { headers: { authorization: "Bearer x" } });
    let said = "";
    for await (const { data } of ask("good day")) {
      if (data !== "[DONE]") said += JSON.parse(data).choices[0]?.delta?.content ?? "";
    }
    assert.equal(said, "echo: good day");
    await assert.rejects(async () => { for await (const one of ask("break")) void one; }, lib.ClewConnectionError);
    await assert.rejects(async () => { for await (const one of ask("error 429")) void one; },
      (error) => error.status === 429);
  });

  test("a stream that falls silent is an error", async (t) => {
    const faults = await startFaults(server.url, () => "mute");
    t.after(() => faults.stop());
    /* time enough for a busy machine to see each try before it is given up */
    const clew = new lib.Clew({ url: faults.url, idleMs: 700, retries: 1 });
    await assert.rejects(async () => { for await (const one of clew.events()) void one; }, /silent for 700 ms/);
    assert.equal(faults.seen.length, 2);
  });

  test("events are cut out of any pieces", () => {
    const text = "\uFEFF: hi\r\nid: 1\r\n\r\nevent: a\ndata: x\ndata:  y\n\nid\rdata\r\r\ndata: \u{1F9F6}\nid: 2\n\ndata: lost";
    const want = [{ event: "a", data: "x\n y", id: "1" }, { event: "message", data: "", id: "" },
      { event: "message", data: "\u{1F9F6}", id: "2" }];
    for (let size = 1; size <= text.length; size++) {
      const parser = new lib.SseParser();
      const got = [];
      for (let i = 0; i < text.length; i += size) got.push(...parser.push(text.slice(i, i + size)));
      assert.deepEqual(got, want, `pieces of ${size}`);
    }
    const parser = new lib.SseParser();
    assert.throws(() => { for (;;) parser.push("data: ".padEnd(1 << 20, "x")); }, /too large/);
  });
});
