/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm-read-meanwhile.test.mjs - `clew read` while it is killed, done twice at
 * once, out of tokens or overtaken by a forget, and answers that mean no good.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const note = (turn, quote) => ({ turn, quote, about: "", type: "fact", hedged: false, updates: "" });
const answer = (notes) => JSON.stringify({ notes, efforts: [], wrong: [], not_efforts: [] });
/* The first turn is worth keeping as it is. */
const takes = (prompt) => answer([note(prompt.turns[0].turn, prompt.turns[0].text)]);

/* A model that says what `model.says` makes of the question, which may wait. */
async function startModel() {
  const model = { n: 0, says: takes };
  const server = http.createServer((request, reply) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", async () => {
      model.n++;
      /* asked once more it is told why, after the question */
      const { content: asked } = JSON.parse(body).messages.at(-1);
      const prompt = JSON.parse(asked.slice(0, asked.lastIndexOf("}") + 1));
      const content = await model.says(prompt, model.n);
      reply.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }],
        usage: { prompt_tokens: 3000, completion_tokens: 1000 } }));
    });
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  model.url = `http://127.0.0.1:${server.address().port}/v1`;
  model.stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return model;
}

const animals = ["heron", "badger", "otter", "lynx"];

onEachBackend("a model's reading", (open) => {
  let server;
  let api;
  let model;
  before(async () => {
    model = await startModel();
    server = await open();
    api = server.api();
  });
  after(() => model.stop());

  /* `clew read` of a user's chats; `ended` is its exit code and what it said. */
  function read(user, settings = {}) {
    const where = server.store ? ["--store", server.store] : [];
    const child = spawn(bin, ["read", "--user", user, "--data", server.data, ...where, "--json"],
      { env: cleanEnv(server.data, { CLEW_LLM_URL: model.url, CLEW_LLM_MODEL: "scripted", ...settings }) });
    let said = "";
    child.stdout.on("data", (part) => { said += part; });
    child.stderr.on("data", (part) => { said += part; });
    return { child, ended: once(child, "close").then(([code, signal]) => ({ code, signal, said })) };
  }

  /* So many chats of one turn each. */
  async function tell(user, count) {
    for (const animal of animals.slice(0, count)) {
      const chat = isOk(await api.post("/api/v1/chats", { user_id: user }), 201).id;
      isOk(await api.post("/api/v1/turns", { user_id: user, chat_id: chat, role: "user",
        content: `Once ${user} saw the ${animal} near the old mill` }), 201);
    }
    await until("the reader comes to an end", async () => !isOk(await api.get("/healthz")).reading?.waiting);
    model.n = 0;
    model.says = takes;
  }

  const kept = async (user) => isOk(await api.get(`/api/v1/memories?user_id=${user}&origin=llm&limit=100`)).items
    .map((memory) => memory.summary).sort();
  const all = (user, count = 4) => animals.slice(0, count)
    .map((animal) => `Once ${user} saw the ${animal} near the old mill`).sort();
  const sound = async () => assert.match((await server.clew("verify")).stdout, /: sound/);

  test("one that is killed in the middle goes on where it was", async () => {
    await tell("kim", 4);
    const { child, ended } = read("kim");
    let isHeld = false;
    model.says = (prompt, n) => (n < 3 ? takes(prompt) : new Promise(() => { isHeld = true; }));
    await until("the third is asked", () => isHeld);
    child.kill("SIGKILL");
    assert.equal((await ended).signal, "SIGKILL");
    await sound();
    model.says = takes;
    model.n = 0;
    const { code, said } = await read("kim").ended;
    assert.equal(code, 0, said);
    assert.equal(model.n, 2, "what was read is not asked again");
    assert.deepEqual(await kept("kim"), all("kim"));
    await sound();
  });

  test("two at once keep everything once", async () => {
    await tell("pat", 4);
    let met = 0;
    model.says = async (prompt) => {
      met++; /* both are at it before either has an answer */
      await until("both ask", () => met >= 2);
      return takes(prompt);
    };
    for (const { code, said } of await Promise.all([read("pat").ended, read("pat").ended])) {
      assert.equal(code, 0, said);
    }
    assert.deepEqual(await kept("pat"), all("pat"));
    await sound();
    await server.clew("rebuild");
    assert.deepEqual(await kept("pat"), all("pat"));
  });

  test("one that has no more tokens says so, and the rest waits", async () => {
    await tell("ria", 4);
    const spent = isOk(await api.get("/api/v1/usage")).items.filter((one) => one.purpose === "read")
      .reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
    const { said } = await read("ria", { CLEW_LLM_DAILY_TOKENS: String(spent + 12_000) }).ended;
    assert.ok(model.n > 0 && model.n < 4, `${model.n} calls: ${said}`);
    assert.match(said, /"whole":false|TOKENS_SPENT|daily_tokens|RATE_LIMITED/);
    assert.equal((await kept("ria")).length >= model.n, true);
    await sound();
    assert.equal((await read("ria").ended).code, 0);
    assert.equal(model.n, 4, "each chat was asked about once");
    assert.deepEqual(await kept("ria"), all("ria"));
  });

  test("what is forgotten while a model reads it stays forgotten", async () => {
    await tell("sam", 2);
    let go;
    let isHeld = false;
    model.says = async (prompt) => {
      isHeld = true;
      await new Promise((resolve) => { go = resolve; });
      return takes(prompt);
    };
    const { ended } = read("sam");
    await until("the first is asked", () => isHeld);
    isOk(await api.post("/api/v1/forget", { user_id: "sam" }));
    model.says = takes;
    go();
    const { signal, said } = await ended;
    assert.equal(signal, null, said);
    assert.deepEqual(await kept("sam"), []);
    assert.doesNotMatch((await server.clew("export")).stdout, /sam saw/);
    await sound();
  });

  test("answers that mean no good leave nothing, and the next one is read", async () => {
    const deep = (depth) => "[".repeat(depth) + "]".repeat(depth);
    const lies = [
      () => `{"notes":${deep(5000)},"efforts":[],"wrong":[],"not_efforts":[]}`,
      () => `{"notes":${deep(40)},"efforts":${deep(40)},"wrong":{},"not_efforts":7}`,
      () => answer([note("T1", "Once\u0000tia"), note("T1\u0000", "Once"), note("", ""), note("T1", "")]),
      () => '{"notes":[{"turn":1,"quote":[],"about":{},"type":null,"hedged":"yes","updates":9}],"notes":5}',
      () => answer(Array.from({ length: 5000 }, () => note("T1", "she saw a unicorn"))),
      () => answer([note("T1", "\ud800")]).replace('"\\ud800"', '"\\ud800"'),
      () => `${"{".repeat(100_000)}`,
      () => `${"'".repeat(1_000_001)}{'notes':'`,
      () => "",
    ];
    for (const [i, lie] of lies.entries()) {
      await tell(`tia${i}`, 1);
      model.says = lie;
      const { signal, said } = await read(`tia${i}`).ended;
      assert.equal(signal, null, said);
      assert.ok(model.n > 0, "it was asked");
      assert.deepEqual(await kept(`tia${i}`), [], `${lie}`);
    }
    await sound();
    await tell("una", 1);
    assert.equal((await read("una").ended).code, 0);
    assert.deepEqual(await kept("una"), all("una", 1));
  });
});
