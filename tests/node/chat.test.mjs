/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat.test.mjs - `clew chat` with a model: replies stream, Ctrl-C ends one,
 * and nothing that was typed or shown is lost. The model is scripted; the
 * terminal is a real one (script(1)).
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";

describe("clew chat with a model", () => {
  let upstream;
  let data;
  before(async () => { upstream = await startUpstream(); });
  after(() => upstream.stop());

  const settings = (kind) => ({
    CLEW_LLM_URL: kind === "openai" ? `${upstream.url}/v1` : upstream.url,
    CLEW_LLM_KIND: kind, CLEW_LLM_MODEL: "scripted", CLEW_LLM_KEY: "k-123",
    NO_COLOR: "1", TERM: "xterm",
  });

  /* Lines into a pipe; resolves with what came out. */
  function chat(kind, lines, extra = {}) {
    const child = spawn(bin, ["chat", "--data", data],
      { env: cleanEnv(data, { ...settings(kind), ...extra }) });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part) => { stdout += part; });
    child.stderr.on("data", (part) => { stderr += part; });
    child.stdin.end(lines.join("\n") + "\n");
    return new Promise((resolve) => {
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    });
  }

  /* Role and text of every turn of the only chat. */
  function kept() {
    const run = (...words) => {
      const done = spawnSync(bin, [...words, "--data", data, "--json"],
        { encoding: "utf8", env: cleanEnv(data) });
      assert.equal(done.status, 0, done.stderr);
      return JSON.parse(done.stdout).items;
    };
    const [{ id }] = run("chats");
    return run("history", id).map((turn) => `${turn.role}: ${turn.text}`);
  }

  function withFolder(name, body) {
    test(name, { timeout: 600_000 }, async () => {
      data = tempFolder();
      try {
        await body();
      } finally {
        fs.rmSync(data, { recursive: true, force: true });
      }
    });
  }

  for (const kind of ["openai", "anthropic"]) {
    withFolder(`streams replies of ${kind} and keeps both sides`, async () => {
      upstream.requests.length = 0;
      const { code, stdout, stderr } = await chat(kind,
        ["I live in Berlin", "where do I live?", "/quit"]);
      assert.equal(code, 0, stderr);
      assert.equal(stderr, "");
      assert.match(stdout, /^\[fact\] .*live in Berlin/m);
      assert.match(stdout, /^echo: I live in Berlin$/m);
      assert.match(stdout, /^echo: where do I live\?$/m);
      assert.deepEqual(kept(), [
        "user: I live in Berlin", "assistant: echo: I live in Berlin",
        "user: where do I live?", "assistant: echo: where do I live?"]);
      const [, { body, headers }] = upstream.requests;
      assert.equal(body.stream, true);
      assert.equal(body.model, "scripted");
      assert.equal(body.messages.at(-1).content, "where do I live?");
      const system = body.system ?? body.messages.filter((one) => one.role === "system");
      assert.match(JSON.stringify(system), /live in Berlin/);
      assert.equal(kind === "openai" ? headers.authorization : headers["x-api-key"],
        kind === "openai" ? "Bearer k-123" : "k-123");
    });
  }

  withFolder("tells an error and goes on; what was typed is kept", async () => {
    const { code, stdout, stderr } = await chat("openai",
      ["error 500", "hello again", "/quit"]);
    assert.equal(code, 0);
    assert.match(stderr, /^clew: the language model answered: scripted$/m);
    assert.match(stdout, /^echo: hello again$/m);
    assert.deepEqual(kept(), ["user: error 500", "user: hello again",
      "assistant: echo: hello again"]);
  });

  withFolder("keeps what had come when the line is cut", async () => {
    const { stderr } = await chat("anthropic", ["break", "/quit"]);
    assert.match(stderr, /^clew: /m);
    const turns = kept();
    assert.equal(turns[0], "user: break");
    assert.match(turns[1], /^assistant: echo/);
  });

  withFolder("keeps what is typed when no model can be reached", async () => {
    const { code, stderr } = await chat("openai", ["I live in Oslo", "/quit"],
      { CLEW_LLM_URL: "http://127.0.0.1:1/v1" });
    assert.equal(code, 0);
    assert.match(stderr, /could not reach the language model/);
    assert.deepEqual(kept(), ["user: I live in Oslo"]);
  });

  withFolder("cannot be made to drive the terminal by a model", async () => {
    const { stdout } = await chat("openai", ["say \u001b[2J\u0007 now", "/quit"]);
    assert.match(stdout, /echo: say /);
    assert.doesNotMatch(stdout, /[\u0007\u001b]/);
  });

  withFolder("counts replies among the day's tokens, and ends at the cap", async () => {
    for (const kind of ["openai", "anthropic"]) {
      const { code, stderr } = await chat(kind, ["I live in Oslo", "error 500", "/quit"]);
      assert.equal(code, 0);
      assert.match(stderr, /answered: scripted/);
    }
    const server = await startServer({ data });
    const { items } = isOk(await server.api().get("/api/v1/usage"));
    await server.stop();
    assert.equal(items.length, 1);
    const [{ purpose, model, calls, failures, input_tokens, output_tokens }] = items;
    assert.deepEqual({ purpose, model, calls, failures, input_tokens, output_tokens }, {
      purpose: "chat", model: "scripted", calls: 4, failures: 2, input_tokens: 22,
      output_tokens: 14 });
    upstream.requests.length = 0;
    const { code, stdout, stderr } = await chat("openai", ["hello again", "/quit"],
      { CLEW_LLM_DAILY_TOKENS: "36" });
    assert.equal(code, 0);
    assert.match(stderr, /the day's tokens for the language model are used/);
    assert.doesNotMatch(stdout, /echo/);
    assert.equal(upstream.requests.length, 0);
  });

  withFolder("ends a reply at Ctrl-C on a terminal and goes on", async () => {
    const words = "and again ".repeat(200);
    const child = spawn("script",
      ["-qfec", `exec ${bin} chat --data ${data}`, "/dev/null"],
      { env: cleanEnv(data, settings("openai")) });
    let screen = "";
    const seen = (what) => new Promise((resolve) => {
      const look = () => {
        if (!what.test(screen)) return;
        child.stdout.off("data", look);
        resolve();
      };
      child.stdout.on("data", look);
      look();
    });
    child.stdout.on("data", (part) => { screen += part; });
    const ended = new Promise((resolve) => { child.on("close", resolve); });
    await seen(/> /);
    child.stdin.write(`slow ${words}\r`);
    await seen(/echo: slow and/);
    child.stdin.write("\u0003");
    await seen(/\[reply ended here\]/);
    child.stdin.write("hi again friend\r");
    await seen(/echo: hi again friend/);
    child.stdin.write("/quit\r");
    assert.equal(await ended, 0);
    const turns = kept();
    assert.equal(turns.length, 4);
    assert.match(turns[1], /^assistant: echo: slow and/);
    assert.ok(turns[1].length < words.length, "the reply was cut short");
    assert.equal(turns[3], "assistant: echo: hi again friend");
    assert.ok(upstream.aborted > 0);
  });

  withFolder("greets at a terminal, and says who answers", () => {
    const greet = (vars) => spawnSync("script", ["-qec",
      `${bin} chat --user ada --data ${data}`, "/dev/null"],
    { env: cleanEnv(data, { NO_COLOR: "1", TERM: "xterm", ...vars }),
      encoding: "utf8", input: "/quit\r" }).stdout;
    assert.match(greet({}), /Hello, ada\..*No model is set \(llm\.url/s);
    assert.match(greet(settings("openai")), /scripted at http.* answers/);
  });

  withFolder("without a model it tells what answers, and nothing beside it", async () => {
    const { code, stdout } = await chat("openai", ["The spare key is under the blue pot.", "My dentist is Dr. Ohlsson.",
      "Who is my dentist?", "What is my blood type?", "/quit"], { CLEW_LLM_URL: "" });
    assert.equal(code, 0);
    assert.deepEqual(stdout.match(/^ {2}~ .*$/gm).map((line) => line.replace(/ {2}\(.*/, "")),
      ["  ~ My dentist is Dr. Ohlsson.", "  ~ nothing fits"]);
  });

  withFolder("says so where there is nothing, and ends with what was not kept", async () => {
    const off = { CLEW_LLM_URL: "" };
    assert.match((await chat("openai", ["/efforts"], off)).stdout, /^no open efforts$/m);
    const some = await chat("openai", ["ok", "/efforts", "/fork here", "fine"], off);
    assert.match(some.stdout, /^no efforts in this chat$/m);
    assert.equal(some.stderr, "clew: /fork takes a turn's number\n");
    assert.equal(some.code, 0);
    assert.deepEqual(kept(), ["user: ok", "user: fine"]);
    fs.writeFileSync(path.join(data, "clew.db"), "no store");
    const lost = await chat("openai", ["one", "two"], off);
    assert.match(lost.stderr, /clew: 2 lines were not kept\n$/);
    assert.notEqual(lost.code, 0);
  });

  withFolder("shows memories, the tree and the why in words", async () => {
    const none = await chat("openai", ["My boat is called Esmeralda and lies in Kiel.",
      "/memories", "/fork 1", "/tree", "/why"], { CLEW_LLM_URL: "" });
    assert.equal(none.code, 0);
    assert.equal(none.stderr, "");
    assert.match(none.stdout, /^MEMORY +WHEN +KIND +TEXT\n\S+ +just now .*Esmeralda/m);
    assert.match(none.stdout, /^└─ \S+ {2}at 1/m);
    assert.match(none.stdout, /^Its chat\n/m);
    assert.doesNotMatch(none.stdout, /[{}]/);
  });
});
