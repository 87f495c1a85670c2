/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client-adapters.test.mjs - the adapters of clients/typescript with the real
 * frameworks and scripted models; their examples as they are printed.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";

import { startFaults } from "./lib/faults.mjs";
import { startServer } from "./lib/server.mjs";
import { installClient } from "./lib/typescript-client.mjs";

const isOld = Number(process.versions.node.split(".")[0]) < 20;
const skip = isOld ? "the frameworks need Node 20 or newer" : false;

let client;
let lib;
let server;
let clew;
before(async () => {
  if (skip) return;
  server = await startServer();
  client = await installClient();
  lib = await client.load("index");
  clew = new lib.Clew({ url: server.url });
});
after(async () => {
  client?.remove();
  await server?.stop();
});

/* role: text of a user's turns, oldest first. */
async function turnsOf(user_id) {
  const out = [];
  for await (const chat of clew.chats({ user_id })) {
    for await (const turn of clew.turns(chat.id)) out.push(turn);
  }
  return out.sort((a, b) => (a.stored_at < b.stored_at ? -1 : 1)).map((turn) => `${turn.role}: ${turn.text}`);
}

describe("Vercel AI SDK", { skip }, () => {
  let ai;
  let MockLanguageModelV3;
  let clewMiddleware;
  before(async () => {
    ai = await import("ai");
    ({ MockLanguageModelV3 } = await import("ai/test"));
    ({ clewMiddleware } = await client.load("ai-sdk"));
  });

  const usage = { inputTokens: {}, outputTokens: {} };
  /* Echoes what the person said last, or does what `answer` says. */
  function scripted(answer) {
    const textOf = ({ prompt }) => prompt.at(-1).content.map((part) => part.text ?? "").join("");
    const say = answer ?? ((params) => [{ type: "text", text: `echo: ${textOf(params)}` }]);
    return new MockLanguageModelV3({
      doGenerate: async (params) => ({ content: say(params), usage, warnings: [], finishReason: { unified: "stop" } }),
      doStream: async (params) => ({ stream: new ReadableStream({
        async start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-start", id: "1" });
          for (const word of say(params)[0].text.split(/(?<= )/)) {
            controller.enqueue({ type: "text-delta", id: "1", delta: word });
            await new Promise((resolve) => setTimeout(resolve, 25));
          }
          controller.enqueue({ type: "text-end", id: "1" });
          controller.enqueue({ type: "finish", usage, finishReason: { unified: "stop" } });
          controller.close();
        } }) }),
    });
  }
  const wrap = (model, more) => ai.wrapLanguageModel({ model, middleware: clewMiddleware({ clew, ...more }) });

  test("recalls before and remembers after", async () => {
    const model = scripted();
    const wrapped = wrap(model, { userId: "ai-1", channel: "web" });
    await ai.generateText({ model: wrapped, prompt: "My cat is called Mitzi and eats only tuna." });
    const { text } = await ai.generateText({ model: wrapped, system: "Be brief.", prompt: "What does my cat eat?" });
    assert.equal(text, "echo: What does my cat eat?");
    const { prompt } = model.doGenerateCalls[1];
    assert.deepEqual(prompt.map((message) => message.role), ["system", "system", "user"]);
    assert.equal(prompt[0].content, "Be brief.");
    assert.match(prompt[1].content, /tuna/);
    /* what was recalled is not said again by anyone */
    assert.deepEqual(await turnsOf("ai-1"), [
      "user: My cat is called Mitzi and eats only tuna.",
      "assistant: echo: My cat is called Mitzi and eats only tuna.",
      "user: What does my cat eat?", "assistant: echo: What does my cat eat?"]);
  });

  test("a stream comes as it is and is stored at its end", async () => {
    const wrapped = wrap(scripted(), { userId: "ai-2" });
    let said = "";
    for await (const part of ai.streamText({ model: wrapped, prompt: "one two three" }).textStream) said += part;
    assert.equal(said, "echo: one two three");
    assert.deepEqual(await turnsOf("ai-2"), ["user: one two three", "assistant: echo: one two three"]);
  });

  test("a stream that is left keeps what was said until then", async () => {
    const wrapped = wrap(scripted(() => [{ type: "text", text: "word ".repeat(400) }]), { userId: "ai-3" });
    const { stream } = await wrapped.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }] });
    const reader = stream.getReader();
    for (let i = 0; i < 5; i++) await reader.read();
    await reader.cancel();
    const [asked, answered] = await turnsOf("ai-3");
    assert.equal(asked, "user: go");
    assert.match(answered, /^assistant: word word/);
    assert.ok(answered.length < 500);
  });

  test("in a loop of tools the person speaks once", async () => {
    let calls = 0;
    const model = scripted(() => (calls++ === 0
      ? [{ type: "tool-call", toolCallId: "c1", toolName: "weather", input: "{}" }]
      : [{ type: "text", text: "Sunny." }]));
    const { text } = await ai.generateText({ model: wrap(model, { userId: "ai-4" }), prompt: "How is the weather?",
      stopWhen: ai.stepCountIs(3),
      tools: { weather: { inputSchema: ai.jsonSchema({ type: "object", properties: {} }), execute: async () => "sun" } } });
    assert.equal(text, "Sunny.");
    assert.deepEqual(await turnsOf("ai-4"), ["user: How is the weather?", "assistant: Sunny."]);
  });

  test("a memory that is gone does not stop the model", async () => {
    const faults = await startFaults(server.url, () => ({ status: 503 }));
    const errors = [];
    const wrapped = ai.wrapLanguageModel({ model: scripted(), middleware: clewMiddleware({
      clew: new lib.Clew({ url: faults.url, retries: 0 }), userId: "ai-5", onError: (error) => errors.push(error.status) }) });
    const { text } = await ai.generateText({ model: wrapped, prompt: "hello" });
    assert.equal(text, "echo: hello");
    assert.deepEqual(errors, [503, 503, 503]);
    await faults.stop();
  });

  test("a model that fails leaves what was asked", async () => {
    const wrapped = wrap(scripted(() => { throw new Error("overloaded"); }), { userId: "ai-6" });
    await assert.rejects(ai.generateText({ model: wrapped, prompt: "are you there?", maxRetries: 0 }), /overloaded/);
    assert.deepEqual(await turnsOf("ai-6"), ["user: are you there?"]);
  });

  test("the example", async () => {
    const { stdout } = await client.example("ai-sdk.mjs", { CLEW_URL: server.url });
    assert.match(stdout, /^Noted\.$/m);
    assert.match(stdout, /Adelheid/);
  });
});

describe("LangChain", { skip }, () => {
  let messages;
  let langchain;
  before(async () => {
    messages = await import("@langchain/core/messages");
    langchain = await client.load("langchain");
  });
  const history = (sessionId, more = {}) => new langchain.ClewChatHistory({ clew, userId: "lc", sessionId, ...more });

  test("messages of every kind come back as they were", async () => {
    const { AIMessage, HumanMessage, SystemMessage, ToolMessage } = messages;
    const all = [new SystemMessage("Be kind."), new HumanMessage({ content: "What is 6 times 7?", name: "ada" }),
      new AIMessage({ content: "", tool_calls: [{ id: "t1", name: "multiply", args: { a: 6, b: 7 }, type: "tool_call" }] }),
      new ToolMessage({ content: "42", tool_call_id: "t1" }),
      new AIMessage({ content: [{ type: "text", text: "It is 42." }], usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } })];
    await history("kinds").addMessages(all.slice(0, 3));
    await history("kinds").addMessages(all.slice(3));
    const back = await history("kinds").getMessages();
    assert.deepEqual(back.map((one) => one.toDict()), all.map((one) => one.toDict()));
    const { items } = await clew.recall("what is 6 times 7", { user_id: "lc" });
    assert.ok(items.some((item) => /42/.test(item.text) || /6 times 7/.test(item.text)));
  });

  test("sessions are apart; clear forgets one and it begins anew", async () => {
    await history("a").addUserMessage("in a");
    await history("b").addUserMessage("in b");
    assert.deepEqual((await history("a").getMessages()).map((one) => one.text), ["in a"]);
    const old = await history("a").chatId();
    await history("a").clear();
    assert.deepEqual(await history("a").getMessages(), []);
    await history("a").clear();
    await history("a").addMessages([new messages.HumanMessage("again"), new messages.AIMessage("yes")]);
    assert.deepEqual((await history("a").getMessages()).map((one) => one.text), ["again", "yes"]);
    assert.notEqual(await history("a").chatId(), old);
    assert.deepEqual((await history("b").getMessages()).map((one) => one.text), ["in b"]);
  });

  test("two who open a session at once are in one chat", async () => {
    await Promise.all(["x", "y", "z"].map((text) => history("race").addUserMessage(text)));
    assert.deepEqual((await history("race").getMessages()).map((one) => one.text).sort(), ["x", "y", "z"]);
  });

  test("answers that are lost store nothing twice", async () => {
    const faults = await startFaults(server.url, (request, n) => (n % 2 === 0 ? "lost" : undefined));
    const shaky = history("shaky", { clew: new lib.Clew({ url: faults.url }) });
    await shaky.addMessages(["1", "2", "3"].map((text) => new messages.HumanMessage(text)));
    await shaky.addMessages([new messages.AIMessage("4")]);
    await faults.stop();
    assert.deepEqual((await history("shaky").getMessages()).map((one) => one.text), ["1", "2", "3", "4"]);
  });

  test("the retriever gives passages with their scores", async () => {
    await history("shop").addUserMessage("The shop opens at seven in winter.");
    const found = await new langchain.ClewRetriever({ clew, recall: { user_id: "lc", limit: 2 } }).invoke("when does the shop open");
    assert.match(found[0].pageContent, /seven/);
    assert.ok(found[0].metadata.score > 0 && found[0].id && found.length <= 2);
  });

  test("the example", async () => {
    const { stdout } = await client.example("langchain.mjs", { CLEW_URL: server.url });
    assert.match(stdout, /^human: The boat is called Adelheid\.\nai: A fine name\.\nhuman: What is the boat called\?\nai: Adelheid\.$/m);
    assert.match(stdout, /^found: .*Adelheid/m);
  });
});

describe("OpenAI Agents SDK", { skip }, () => {
  let agents;
  let ClewAgentSession;
  before(async () => {
    agents = await import("@openai/agents-core");
    agents.setTracingDisabled(true);
    ({ ClewAgentSession } = await client.load("openai-agents"));
  });
  const session = (sessionId) => new ClewAgentSession({ clew, userId: "oa", sessionId });
  const message = (text) => ({ type: "message", role: "assistant", status: "completed",
    content: [{ type: "output_text", text }] });

  test("an agent with a tool goes on where it was", async () => {
    const inputs = [];
    const script = [[{ type: "function_call", callId: "f1", name: "tide", arguments: "{\"port\":\"Faro\"}", status: "completed" }],
      [message("High tide is at 4.")], [message("At 4, as I said.")]];
    const model = { async getResponse({ input }) {
      inputs.push(structuredClone(input));
      return { usage: new agents.Usage(), output: script.shift() };
    } };
    const tide = agents.tool({ name: "tide", description: "when", strict: false,
      parameters: { type: "object", properties: { port: { type: "string" } }, required: [], additionalProperties: true },
      execute: async () => "16:00" });
    const agent = new agents.Agent({ name: "harbour", model, tools: [tide] });
    const runner = new agents.Runner();
    const first = await runner.run(agent, "When is high tide in Faro?", { session: session("s1") });
    assert.equal(first.finalOutput, "High tide is at 4.");
    const second = await runner.run(agent, "When, please?", { session: session("s1") });
    assert.equal(second.finalOutput, "At 4, as I said.");
    /* the second run was given all of the first, as it was */
    assert.deepEqual(inputs[2].map((item) => item.type ?? item.role),
      ["message", "function_call", "function_call_result", "message", "message"]);
    const items = await session("s1").getItems();
    assert.equal(items.length, 6);
    assert.equal(items[1].callId, "f1");
    assert.deepEqual(await session("s1").getItems(2), items.slice(-2));
    const { items: found } = await clew.recall("high tide", { user_id: "oa" });
    assert.ok(found.some((item) => /tide/i.test(item.text)));
  });

  test("popItem takes the last, clearSession all", async () => {
    const one = session("s2");
    assert.equal(await one.popItem(), undefined);
    assert.deepEqual(await one.getItems(), []);
    const items = [{ type: "message", role: "user", content: "a" }, message("b"),
      { type: "reasoning", content: [{ type: "input_text", text: "hm" }] }];
    await one.addItems(items);
    assert.deepEqual(await session("s2").getItems(), items);
    assert.deepEqual(await one.popItem(), items[2]);
    assert.deepEqual(await one.popItem(), items[1]);
    assert.deepEqual(await one.popItem(), items[0]);
    assert.deepEqual(await one.getItems(), []);
    await one.addItems(items);
    await one.clearSession();
    assert.deepEqual(await session("s2").getItems(), []);
    assert.equal(await one.getSessionId(), "s2");
  });

  test("the example", async () => {
    const { stdout } = await client.example("openai-agents.mjs", { CLEW_URL: server.url });
    assert.match(stdout, /given 1 items\.\nI was given 3 items\./);
  });
});

describe("types", { skip }, () => {
  test("the adapters are what the frameworks want, in strict mode", async () => {
    fs.writeFileSync(path.join(client.folder, "use.ts"), `
import type { LanguageModelMiddleware } from "ai";
import type { AgentInputItem, Session } from "@openai/agents-core";
import type { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { Clew, type Captured, type Chat, type Happening } from "clew-client";
import { clewMiddleware } from "clew-client/ai-sdk";
import { ClewChatHistory } from "clew-client/langchain";
import { ClewAgentSession } from "clew-client/openai-agents";

const clew = new Clew();
export const middleware: LanguageModelMiddleware = clewMiddleware({ clew, userId: "u" });
export const session: Session = new ClewAgentSession<AgentInputItem>({ clew, userId: "u", sessionId: "s" });
export const history: BaseListChatMessageHistory = new ClewChatHistory({ clew, userId: "u", sessionId: "s" });
export async function calls(signal: AbortSignal) {
  const stored: Captured = await clew.remember({ user_id: "u", role: "user", content: "hi" }, { signal });
  const chat: Chat = await clew.call("getChat", { params: { id: stored.chat.id } });
  for await (const one of clew.each("listChains", { query: { user_id: "u" } })) one.topic.length;
  for await (const one of clew.events({ signal })) { const it: Happening = one; it.event.length; }
  // @ts-expect-error an id is needed
  await clew.call("getChat", {});
  // @ts-expect-error nobody has that role
  await clew.remember({ user_id: "u", role: "nobody", content: "hi" });
  // @ts-expect-error that is no list
  clew.each("getStats", {});
  return chat;
}
`);
    await promisify(execFile)(path.join(client.folder, "../.bin/tsc"), ["--strict", "--noEmit", "--skipLibCheck",
      "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.asynciterable", "use.ts"],
    { cwd: client.folder }).catch((error) => assert.fail(error.stdout));
  });
});
