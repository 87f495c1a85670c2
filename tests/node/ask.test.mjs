/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.test.mjs - questions answered in sentences that cite: what is supported,
 * what is marked, what nobody is asked about, and models that fail.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import process from "node:process";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { bin } from "./lib/server.mjs";

const piece = (content) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

/* A text as /v1/messages streams it. */
function anthropic(reply, text) {
  reply.writeHead(200, { "content-type": "text/event-stream" });
  reply.write(event("message_start", { message: { usage: { input_tokens: 321, output_tokens: 1 } } }));
  reply.write(event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }));
  for (const part of text.match(/[\s\S]{1,7}/gu) ?? []) {
    reply.write(event("content_block_delta", { index: 0, delta: { type: "text_delta", text: part } }));
  }
  reply.write(event("content_block_stop", { index: 0 }));
  reply.write(event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 45 } }));
  reply.end(event("message_stop", {}));
}

/* A model that says what `script` tells it: lines, or a function of the reply. */
async function startModel() {
  const model = { asked: [], script: [], connections: new Set() };
  const server = http.createServer((request, reply) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      const said = JSON.parse(body);
      /* what turns do, whether chats belong together: others ask too */
      if (!said.stream) {
        return reply.end(JSON.stringify({ choices: [{ message: { content: "{}" } }] }));
      }
      const prompt = JSON.parse(said.messages.at(-1).content);
      model.asked.push({ body, prompt, system: said.system ?? said.messages[0].content,
        path: request.url, headers: request.headers });
      const next = model.script.shift();
      assert.ok(next !== undefined, "asked once too often");
      if (typeof next === "function" && next.length === 2) return next(reply, prompt);
      const text = typeof next === "function" ? next(prompt) : next;
      reply.writeHead(200, { "content-type": "text/event-stream" });
      for (const part of text.match(/[\s\S]{1,7}/gu) ?? []) reply.write(piece(part));
      return reply.end("data: [DONE]\n\n");
    });
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  };
  return model;
}

/* The number under which a passage with these words was shown. */
const number = (prompt, words) => {
  const found = prompt.passages.find((p) => words.test(p.text));
  assert.ok(found, `${words} was not shown`);
  return found.number;
};

const said = [
  ["ada", "My rent in Ulm is 900 euros a month since the landlord Mr Hoffmann raised it."],
  ["ada", "The dentist appointment with Dr Okafor is tomorrow at 15:30."],
  ["ada", "We decided to call the new sailing boat Heron."],
  ["ada", "Die Waschmaschine im Keller hat 449 Euro gekostet, gekauft bei Brinkmann."],
  ["bob", "My rent in Hamburg is 1350 euros a month, which is far too much."],
  ["eve", "The password for the cellar server is hunter2-Quokka-99 and the api key is sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCD."],
];
const RENT = "How much is my rent?";

onEachBackend("asking", (open) => {
  let model;
  let server;
  let api;
  let turns;
  before(async () => {
    model = await startModel();
    server = await open({ env: { CLEW_LLM_URL: `${model.url}/v1`, CLEW_LLM_MODEL: "scripted",
      CLEW_RECALL_READ_MS: "5000", CLEW_LLM_TIMEOUT_MS: "600000" } });
    api = server.api();
    turns = {};
    for (const [i, [user_id, content]] of said.entries()) {
      const { items: [{ turn }] } = isOk(await api.post("/api/v1/turns", { turns: [{
        user_id, role: "user", content, created_at: `2026-03-1${i}T10:00:00.000Z` }] }), 201);
      turns[i] = turn;
    }
  });
  after(() => model.stop());

  const ask = async (query, more = {}) => isOk(await api.post("/api/v1/ask",
    { query, user_id: "ada", at: "2026-03-20T09:00:00Z", ...more }));
  const usage = async () => isOk(await api.get("/api/v1/usage")).items
    .filter((u) => u.purpose === "ask");

  test("cites the turn that says it, whatever the form of the citation", async () => {
    for (const form of [(n) => `Your rent in Ulm is 900 euros a month. [${n}]`,
      (n) => `- Your rent in Ulm is 900 euros a month [${n}].`,
      (n) => `Your rent in Ulm is 900 euros a month [${n}, ${n}]`]) {
      model.script = [(prompt) => form(number(prompt, /900 euros/))];
      const got = await ask(RENT);
      assert.equal(got.by, "model");
      assert.equal(got.reason, null);
      assert.equal(got.sentences.length, 1);
      const [sentence] = got.sentences;
      assert.deepEqual([sentence.supported, sentence.fault], [true, null]);
      assert.match(sentence.text, /^Your rent in Ulm is 900 euros a month\.?$/);
      assert.equal(sentence.cites.length, 1);
      assert.equal(sentence.cites[0].turn_id, turns[0].id);
      assert.equal(got.sources[sentence.cites[0].number - 1].turn_id, turns[0].id);
    }
    const [{ calls, failures, input_tokens: tokens }] = await usage();
    assert.deepEqual([calls, failures], [3, 0]);
    assert.ok(tokens > 100);
  });

  test("marks what is not supported", async () => {
    const lies = {
      "Your rent is 950 euros. [N]": "not_said",
      "Your rent is 900 euros.": "uncited",
      "Your rent is 900 euros. [99]": "not_shown",
      "Your rent is 900 euros. [N][99]": "not_shown",
      "Your landlord Mr Hoffmann lives in Stuttgart. [N]": "not_said",
      "Your landlord is called Ferdinand Krause. [N]": "not_said",
      "Your rent is 900 euros since 3 June 2019. [N]": "not_said",
      "Your rent was raised by seven euros. [N]": "not_said",
    };
    for (const [lie, fault] of Object.entries(lies)) {
      model.script = [(prompt) => lie.replace("N", number(prompt, /900 euros/))];
      const { sentences, by } = await ask(RENT);
      assert.equal(by, "model");
      assert.deepEqual(sentences.map((s) => [s.supported, s.fault]), [[false, fault]], lie);
    }
    model.script = [(prompt) => `Your rent is 900 euros. You live on Mars. [${
      number(prompt, /900 euros/)}] It was raised by Mr Hoffmann. [${number(prompt, /900 euros/)}]`];
    const { sentences } = await ask(RENT);
    assert.deepEqual(sentences.map((s) => s.fault), ["uncited", "not_said", null]);
  });

  test("digits of any script are numbers", async () => {
    const lies = ["９５０", "٩٥٠", "९५०", "\u{1d7d7}\u{1d7d3}\u{1d7ce}", "⑨⑤⓪", "Ⅸ", "9\u202e0", "900½"];
    for (const lie of lies) {
      model.script = [(prompt) => `Your rent is ${lie} euros. [${number(prompt, /900 euros/)}]`];
      assert.deepEqual((await ask(RENT)).sentences.map((s) => s.fault), ["not_said"], lie);
    }
    for (const truth of ["９００", "٩٠٠", "९००", "\u{1d7d7}\u{1d7ce}\u{1d7ce}"]) {
      model.script = [(prompt) => `Your rent is ${truth} euros. [${number(prompt, /900 euros/)}]`];
      assert.deepEqual((await ask(RENT)).sentences.map((s) => [s.fault, s.text]),
        [[null, `Your rent is ${truth} euros.`]], truth);
    }
  });

  test("what is shown is what was held against the passages: no marks that turn it around", async () => {
    model.script = [(prompt) => `Your \u2066rent\u2069 is \u202e900\u202c\u0000 euros\u001b[31m.\u2028 [${number(prompt, /900 euros/)}]`];
    const { sentences, text } = await ask(RENT);
    assert.match(sentences[0].text, /^Your  rent  is  900 +euros /);
    for (const one of [sentences[0].text, text]) {
      assert.doesNotMatch(one, /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/u);
    }
  });

  test("what follows from when it was said is supported", async () => {
    for (const [line, supported] of [["Dr Okafor sees you on 12 March 2026 at 15:30.", true],
      ["Dr Okafor sees you on 14 April 2026 at 15:30.", false],
      ["Dr Okafor sees you on 12 March 2026 at 16:45.", false]]) {
      model.script = [(prompt) => `${line} [${number(prompt, /Okafor/)}]`];
      const { sentences } = await ask("When is my dentist appointment?");
      assert.deepEqual(sentences.map((s) => s.supported), [supported], line);
    }
  });

  test("what stands beside a passage is shown and cited with it", async () => {
    const chat_id = isOk(await api.post("/api/v1/chats", { user_id: "kim" }), 201).id;
    isOk(await api.post("/api/v1/turns", { turns: [
      "The orchid house is watered by Ludmila from 3 to 7 May.", "Then Barnabas, up to the 12th.",
    ].map((content, i) => ({ user_id: "kim", chat_id, role: "user", content,
      created_at: `2026-03-16T10:0${i}:00.000Z` })) }), 201);
    for (const [line, supported] of [["Ludmila waters it from 3 to 7 May, then Barnabas.", true],
      ["Ludmila waters it from 3 to 7 May, then Cornelius.", false]]) {
      model.script = [(prompt) => {
        const found = prompt.passages.find((p) => /Ludmila/.test(p.text));
        assert.match(found.after.text, /Barnabas/);
        assert.equal(found.day, "Monday");
        return `${line} [${found.number}]`;
      }];
      const { sentences } = await ask("Who waters the orchid house from 3 to 7 May?",
        { user_id: "kim" });
      assert.deepEqual(sentences.map((s) => s.supported), [supported], line);
    }
  });

  test("what is not known is said without a call", async () => {
    model.script = [];
    const before = model.asked.length;
    for (const [query, words] of [
      ["What is the airspeed velocity of an unladen swallow?", "Nothing is known about that."],
      ["Wie heißt der Präsident der Mongolei und wann wurde er gewählt?", "Darüber ist nichts bekannt."]]) {
      const recalled = isOk(await api.post("/api/v1/recall",
        { query, user_id: "bob", kinds: ["turn", "memory"] }));
      assert.equal(recalled.answered, "no");
      const got = await ask(query, { user_id: "bob" });
      assert.deepEqual([got.by, got.answered, got.text, got.sentences, got.sources],
        ["nothing", "no", words, [], []]);
    }
    assert.equal(model.asked.length, before);
  });

  test("a model may say that the passages do not answer", async () => {
    model.script = ["NONE"];
    const got = await ask(RENT);
    assert.deepEqual([got.by, got.answered, got.text, got.sentences],
      ["model", "no", "Nothing is known about that.", []]);
    assert.ok(got.sources.length > 0);
  });

  test("a German question is asked and answered in German", async () => {
    model.script = [(prompt) => `Die Waschmaschine hat 449 Euro gekostet. [${
      number(prompt, /449/)}]\nDas Gerät kostete 549 Euro. [${number(prompt, /449/)}]`];
    const query = "Was hat die Waschmaschine gekostet?";
    const got = await ask(query);
    assert.deepEqual(got.sentences.map((s) => s.supported), [true, false]);
    assert.equal(got.sentences[0].cites[0].turn_id, turns[3].id);
    assert.equal(model.asked.at(-1).prompt.question, query);
    assert.match(model.asked.at(-1).system, /in the language of the question/);
    /* in another language than what was said */
    model.script = [(prompt) => `Deine Miete in Ulm beträgt 900 Euro im Monat. [${
      number(prompt, /900 euros/)}]`];
    assert.deepEqual((await ask("Wie hoch ist meine Miete in Ulm im Monat, und was sagt Mr Hoffmann?")).sentences.map((s) => s.supported), [true]);
  });

  test("another user's turns are never shown", async () => {
    for (const stream of [false, true]) {
      model.script = [(prompt) => `Your rent is 900 euros. [${number(prompt, /900 euros/)}]`];
      const answer = await api.post("/api/v1/ask", { query: RENT, user_id: "ada", stream });
      assert.equal(answer.status, 200);
      assert.doesNotMatch(model.asked.at(-1).body, /Hamburg|1350 euros/);
      assert.doesNotMatch(JSON.stringify(answer.body ?? answer.text), /Hamburg|1350 euros/);
    }
    isError(await api.post("/api/v1/ask", { query: RENT,
      chat_id: "01900000-0000-7000-8000-000000000000" }), 404);
  });

  test("secrets are starred before anything is sent", async () => {
    model.script = ["NONE"];
    await ask("What is the api key of the cellar server?", { user_id: "eve" });
    assert.doesNotMatch(model.asked.at(-1).body, /abcdefghijklmnopqrstuvwx1234567890ABCD/);
    model.script = ["NONE"];
    await ask("My rent is paid with the key sk-proj-zzzdefghijklmnopqrstuvwx1234567890ABCD: how much is my rent?");
    assert.doesNotMatch(model.asked.at(-1).body, /zzzdefghijklmnopqrstuvwx/);
  });

  test("deep: the model asks on, once, three questions at most", async () => {
    model.script = [
      "What is the sailing boat called?\nWhat does the dentist charge?\nWhat did the washing machine cost?\nWho is Bob?",
      (prompt) => `The boat is called Heron [${number(prompt, /Heron/)}].`];
    const before = model.asked.length;
    const got = await ask(RENT, { deep: true });
    assert.equal(model.asked.length, before + 2);
    assert.equal(got.questions.length, 3);
    assert.deepEqual(got.sentences.map((s) => [s.supported, s.cites[0].turn_id]), [[true, turns[2].id]]);
  });

  /* The events of a streamed answer, as [event, data]. */
  async function streamed(body, onEvent = () => {}) {
    const reply = await fetch(`${server.url}/api/v1/ask`, { method: "POST",
      headers: { "content-type": "application/json" }, body: JSON.stringify({ ...body, stream: true }) });
    assert.equal(reply.headers.get("content-type"), "text/event-stream");
    const events = [];
    let text = "";
    for await (const part of reply.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const found = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end));
        if (!found) continue;
        events.push([found[1], JSON.parse(found[2])]);
        onEvent(...events.at(-1));
      }
    }
    return events;
  }

  test("streams sources, each sentence as it is done, and the whole", async () => {
    /* the second sentence is written when the first has arrived */
    let goOn;
    const first = new Promise((resolve) => { goOn = resolve; });
    model.script = [async (reply, prompt) => {
      const n = number(prompt, /900 euros/);
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(piece(`Your rent is 900 euros. [${n}]\n`));
      await first;
      reply.write(piece("It is cheap."));
      reply.end("data: [DONE]\n\n");
    }];
    const events = await streamed({ query: RENT, user_id: "ada" },
      (event) => { if (event === "sentence") goOn(); });
    assert.deepEqual(events.map(([event]) => event), ["sources", "sentence", "sentence", "answer"]);
    assert.ok(events[0][1].sources.length > 0);
    const whole = events[3][1];
    assert.deepEqual(whole.sentences, [events[1][1], events[2][1]]);
    assert.deepEqual(whole.sentences.map((s) => s.fault), [null, "uncited"]);
    assert.deepEqual(whole.sources, events[0][1].sources);
  });

  test("on the command line sentences are shown as they come", { timeout: 600_000 }, async () => {
    let goOn;
    const first = new Promise((resolve) => { goOn = resolve; });
    model.script = [async (reply, prompt) => {
      const n = number(prompt, /900 euros/);
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(piece(`Your rent is 900 euros. [${n}]\n`));
      await first;
      reply.write(piece("It is cheap."));
      reply.end("data: [DONE]\n\n");
    }];
    const child = spawn(bin, ["ask", RENT, "--user", "ada", "--url", server.url],
      { env: { PATH: process.env.PATH, HOME: server.data }, stdio: ["ignore", "pipe", "pipe"] });
    let shown = "";
    child.stdout.on("data", (part) => {
      shown += part;
      /* the model goes on only when the first sentence is on the screen */
      if (/900 euros/.test(shown)) goOn();
    });
    const [code] = await once(child, "close");
    assert.equal(code, 0);
    assert.match(shown, /^Your rent is 900 euros\. \[\d\]\nIt is cheap\. \(not supported\)\n\n\[\d\] user/);
  });

  for (const stream of [false, true]) {
    test(`who leaves ${stream ? "a stream" : "before the answer"} ends the call`, { timeout: 600_000 }, async () => {
      let begun;
      const begins = new Promise((resolve) => { begun = resolve; });
      const ended = new Promise((resolve) => {
        model.script = [(reply, _prompt) => {
          reply.on("close", resolve); /* it says nothing until then */
          begun();
        }];
      });
      const body = JSON.stringify({ query: RENT, user_id: "ada", at: "2026-03-20T09:00:00Z", stream });
      const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.write(`POST /api/v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
        + `Content-Length: ${body.length}\r\n\r\n${body}`);
      await begins;
      socket.resetAndDestroy();
      await ended;
    });
  }

  test("a stream that breaks off ends in passages", async () => {
    model.script = [(reply, prompt) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(piece(`Your rent is 900 euros. [${number(prompt, /900 euros/)}]\nAnd th`));
      setTimeout(() => reply.destroy(), 50);
    }];
    const events = await streamed({ query: RENT, user_id: "ada" });
    const [event, whole] = events.at(-1);
    assert.deepEqual([event, whole.by, whole.answered !== "no"], ["answer", "passages", true]);
    assert.equal(whole.reason, "UPSTREAM_ERROR");
  });

  const failures = {
    "ten megabytes": [(reply, _prompt) => reply.end(JSON.stringify({ choices: [
      { message: { content: "x".repeat(10 << 20) } }] })), /^UPSTREAM_ERROR$/],
    "ten streamed megabytes": [(reply, _prompt) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      for (let i = 0; i < 10; i++) reply.write(piece("x".repeat(1 << 20)));
      reply.end();
    }, /^UPSTREAM_ERROR$/],
    "events without end": [(reply, _prompt) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      const next = () => reply.destroyed || reply.write(event("ping", { fill: "x".repeat(500_000) }), next);
      next();
    }, /^UPSTREAM_ERROR$/],
    "an answer with a hole": [(reply, prompt) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(piece("Your rent in Ulm is not "));
      reply.write(`data: ${JSON.stringify({ fill: "x".repeat(1 << 20), choices: [{ delta: { content: "1350 but " } }] })}\n\n`);
      reply.end(`${piece(`900 euros a month. [${number(prompt, /900 euros/)}]`)}data: [DONE]\n\n`);
    }, /^UPSTREAM_ERROR$/],
    "half an answer": [(reply, _prompt) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(piece("Your rent is"));
      setTimeout(() => reply.destroy(), 50);
    }, /^UPSTREAM_ERROR$/],
    silence: [(_reply, _prompt) => {}, /^TIMEOUT/],
    "an empty answer": ["", /^NO_ANSWER/],
    "five hundred": [(reply, _prompt) => { reply.writeHead(500); reply.end("{}"); }, /^UPSTREAM_ERROR$/],
  };
  for (const [name, [lie, reason]] of Object.entries(failures)) {
    test(`passages instead: ${name}`, { timeout: 600_000 }, async () => {
      /* a server of its own: failures open the breaker */
      const own = await open({ env: { CLEW_LLM_URL: `${model.url}/v1`, CLEW_LLM_MODEL: "scripted",
        CLEW_LLM_TIMEOUT_MS: name === "silence" ? "1000" : "30000", CLEW_RECALL_READ_MS: "5000" } });
      isOk(await own.api().post("/api/v1/turns",
        { user_id: "ada", role: "user", content: said[0][1] }), 201);
      model.script = [lie];
      const got = isOk(await own.api().post("/api/v1/ask", { query: RENT, user_id: "ada" }));
      assert.equal(got.by, "passages");
      assert.match(got.reason, reason);
      assert.match(got.text, /900 euros/);
      assert.ok(got.sentences.every((s) => s.supported && s.cites.length === 1));
      const ledger = isOk(await own.api().get("/api/v1/usage")).items;
      assert.equal(ledger.find((u) => u.purpose === "ask").calls, 1);
      await own.clew("verify");
    });
  }

  test("a model that asks for time gets it, and the day's tokens end", async () => {
    const own = await open({ env: { CLEW_LLM_URL: `${model.url}/v1`, CLEW_LLM_MODEL: "scripted",
      CLEW_RECALL_READ_MS: "5000" } });
    isOk(await own.api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content: said[0][1] }), 201);
    model.script = [(reply, _prompt) => { reply.writeHead(429, { "retry-after": "60" }); reply.end("{}"); }];
    for (let i = 0; i < 2; i++) { /* the second time nobody is asked */
      const got = isOk(await own.api().post("/api/v1/ask", { query: RENT, user_id: "ada" }));
      assert.deepEqual([got.by, got.reason], ["passages", "RATE_LIMITED"]);
    }
    const poor = await open({ env: { CLEW_LLM_URL: `${model.url}/v1`, CLEW_LLM_MODEL: "scripted",
      CLEW_LLM_DAILY_TOKENS: "100", CLEW_RECALL_READ_MS: "5000" } });
    isOk(await poor.api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content: said[0][1] }), 201);
    const got = isOk(await poor.api().post("/api/v1/ask", { query: RENT, user_id: "ada" }));
    assert.deepEqual([got.by, got.reason], ["passages", "TOKENS_SPENT"]);
  });

  test("sixteen ask at once, and each gets its own answer", { timeout: 600_000 }, async () => {
    const things = [[RENT, /900 euros/, "Your rent is 900 euros."],
      ["What is the new sailing boat called?", /Heron/, "The boat is called Heron."]];
    model.script = Array.from({ length: 16 }, () => (prompt) => {
      const [, words, text] = things.find(([query]) => query === prompt.question);
      return `${text} [${number(prompt, words)}]`;
    });
    const got = await Promise.all(Array.from({ length: 16 }, (_, i) => ask(things[i % 2][0])));
    for (const [i, answer] of got.entries()) {
      assert.equal(answer.by, "model", answer.reason);
      assert.equal(answer.sentences.length, 1);
      assert.equal(answer.sentences[0].text, things[i % 2][2]);
      assert.equal(answer.sentences[0].supported, true);
      assert.equal(answer.sentences[0].cites[0].turn_id, turns[i % 2 === 0 ? 0 : 2].id);
    }
    assert.deepEqual(model.script, []);
  });

  test("by the Anthropic API: asked in its form, streamed, counted", async () => {
    const own = await open({ env: { CLEW_LLM_URL: model.url, CLEW_LLM_MODEL: "other",
      CLEW_LLM_KIND: "anthropic", CLEW_LLM_KEY: "sk-ant-test", CLEW_RECALL_READ_MS: "5000" } });
    isOk(await own.api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content: said[0][1] }), 201);
    model.script = [(reply, prompt) => anthropic(reply,
      `Your rent in Ulm is 900 euros a month. [${number(prompt, /900 euros/)}]\nIt is 950 euros. [1]`)];
    const got = isOk(await own.api().post("/api/v1/ask", { query: RENT, user_id: "ada" }));
    assert.deepEqual([got.by, got.reason], ["model", null]);
    assert.deepEqual(got.sentences.map((s) => s.supported), [true, false]);
    const asked = model.asked.at(-1);
    assert.equal(asked.path, "/v1/messages");
    assert.equal(asked.headers["x-api-key"], "sk-ant-test");
    assert.match(JSON.stringify(asked.system), /passages/);
    const [used] = isOk(await own.api().get("/api/v1/usage")).items.filter((u) => u.purpose === "ask");
    assert.deepEqual([used.calls, used.input_tokens, used.output_tokens], [1, 321, 45]);
  });

  test("without a model: the passages, in the same shape; on the command line", async () => {
    const own = await open({ env: { CLEW_RECALL_READ_MS: "5000" } });
    isOk(await own.api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content: said[0][1] }), 201);
    const got = isOk(await own.api().post("/api/v1/ask", { query: RENT, user_id: "ada" }));
    assert.deepEqual([got.by, got.reason], ["passages", "NO_MODEL"]);
    model.script = ["Nothing like it."];
    assert.deepEqual(Object.keys(got), Object.keys(await ask(RENT)));
    assert.equal(got.sentences[0].cites[0].turn_id, got.sources[0].turn_id);
    const told = await own.clew("ask", RENT, "--user", "ada");
    assert.match(told.stdout, /900 euros.* \[1\]/);
    assert.match(told.stderr, /no language model is set \(llm\.url\)/);
    /* a second turn that has nothing to do with it is no second answer */
    for (const content of ["The spare key for the shed hangs behind the blue flowerpot.",
      "Our train tickets to Porto are in the drawer, seat 41 in coach 7."]) {
      isOk(await own.api().post("/api/v1/turns", { user_id: "eve", role: "user", content }), 201);
    }
    for (const [query, words] of [["Where is the spare key for the shed?", /flowerpot/],
      ["Which coach is our seat in?", /coach 7/]]) {
      const { sentences } = isOk(await own.api().post("/api/v1/ask", { query, user_id: "eve" }));
      assert.equal(sentences.length, 1, query);
      assert.match(sentences[0].text, words);
    }
    /* who asks again is not told the own question, nor anything else for it */
    for (const content of ["Who borrowed the torque wrench?", "When does the ferry to Texel leave?",
      "The ferry to Texel leaves at ten past every hour."]) {
      isOk(await own.api().post("/api/v1/turns", { user_id: "eve", role: "user", content }), 201);
    }
    const again = isOk(await own.api().post("/api/v1/ask", { query: "Who borrowed the torque wrench?", user_id: "eve" }));
    assert.deepEqual([again.answered, again.by, again.sentences.length], ["no", "nothing", 0]);
    const known = isOk(await own.api().post("/api/v1/ask", { query: "When does the ferry to Texel leave?", user_id: "eve" }));
    assert.deepEqual(known.sentences.map(({ text }) => text), ["The ferry to Texel leaves at ten past every hour."]);
    const none = await own.clew("ask", "Who won the chess olympiad in Budapest?", "--user", "ada");
    assert.match(none.stdout, /^Nothing is known about that\./);
    /* what held before pushes out nothing that took its place, and is marked */
    for (const [content, created_at] of [
      ["I'm a backend developer in the routing team. My manager is Ingrid Solheim.", "2026-10-18T08:00:00Z"],
      ["Ingrid Solheim left the company. Since Monday I report to Tomasz Wilk.", "2026-11-05T08:00:00Z"]]) {
      isOk(await own.api().post("/api/v1/turns", { user_id: "jo", role: "user", content, created_at }), 201);
    }
    const manager = await own.clew("ask", "Who is my manager?", "--user", "jo");
    assert.match(manager.stdout, /^Ingrid Solheim left .*Wilk\. \[1\]\nI'm a .*Solheim\. \[2\]\n\n\[1\].*[^s]\n\[2\].*, no longer holds\n$/);
    isError(await own.api().post("/api/v1/ask", {}), 400, undefined, "query");
    isError(await own.api().post("/api/v1/ask", { query: "x".repeat(9000) }), 400, undefined, "query");
  });
});
