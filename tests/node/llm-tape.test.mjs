/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm-tape.test.mjs - what a language model answered is recorded, and played
 * back through either API.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { keyOf, readTape, startPlayer, startRecorder } from "../../tools/llm-tape.mjs";
import { client, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";

const folder = tempFolder();
const tape = path.join(folder, "tape.jsonl");
const missing = path.join(folder, "missing.jsonl");
let upstream;

before(async () => {
  upstream = await startUpstream();
});
after(async () => {
  await upstream.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const chatBody = (text, rest = {}) => ({
  model: "m", messages: [{ role: "system", content: "be brief" }, { role: "user", content: text }], ...rest });
const claudeBody = (text, rest = {}) => ({
  model: "c", system: [{ type: "text", text: "be brief" }],
  messages: [{ role: "user", content: text }], ...rest });
const ask = async (url, body, where = "/v1/chat/completions") => {
  const answer = await fetch(url + where, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { status: answer.status, text: await answer.text() };
};

test("a call is one whatever API it goes through", () => {
  assert.equal(keyOf(chatBody("hi")), keyOf(claudeBody("hi", { stream: true })));
  assert.notEqual(keyOf(chatBody("hi")), keyOf(chatBody("ho")));
});

test("what is answered is recorded and plays again", async () => {
  const recorder = await startRecorder({ to: upstream.url, tape });
  const plain = await ask(recorder.url, chatBody("hello"));
  const streamed = await ask(recorder.url, chatBody("a longer text", { stream: true }));
  const refused = await ask(recorder.url, chatBody("error 429"));
  await recorder.stop();
  assert.equal(JSON.parse(plain.text).choices[0].message.content, "echo: hello");
  assert.match(streamed.text, /\[DONE\]/);
  assert.equal(refused.status, 429);
  assert.deepEqual([...readTape(tape).values()].map(([one]) => one.answer),
    ["echo: hello", "echo: a longer text"]);

  const player = await startPlayer({ tape, missing });
  const again = JSON.parse((await ask(player.url, chatBody("hello"))).text);
  assert.equal(again.choices[0].message.content, "echo: hello");
  assert.equal(again.usage.prompt_tokens, 11);
  const other = await ask(player.url, claudeBody("hello"), "/v1/messages");
  assert.equal(JSON.parse(other.text).content[0].text, "echo: hello");
  const events = await ask(player.url, chatBody("a longer text", { stream: true }));
  assert.equal(events.text.split("\n").filter((l) => l.startsWith("data: {"))
    .map((l) => JSON.parse(l.slice(6)).choices[0].delta.content ?? "").join(""),
  "echo: a longer text");
  const unknown = await ask(player.url, chatBody("never asked"));
  assert.equal(unknown.status, 404);
  assert.match(fs.readFileSync(missing, "utf8"), /never asked/);
  assert.deepEqual([player.played, player.missed], [3, 1]);
  await player.stop();
});

test("an answer by hand plays for its stretch", async () => {
  const byHand = path.join(folder, "hand.jsonl");
  fs.writeFileSync(byHand, `${JSON.stringify({ stretch: "00112233aabbccdd", answer: { notes: [] } })}\n`);
  const player = await startPlayer({ tape: byHand });
  const prompt = JSON.stringify({ stretch: "00112233aabbccdd", turns: [] });
  const got = JSON.parse((await ask(player.url, chatBody(prompt))).text);
  assert.equal(got.choices[0].message.content, '{"notes":[]}');
  const tool = JSON.parse((await ask(player.url,
    claudeBody(prompt, { tools: [{ name: "answer" }] }), "/v1/messages")).text);
  assert.deepEqual(tool.content[0].input, { notes: [] });
  await player.stop();
});

test("clew asks the player as it asks a provider", async () => {
  const spoken = path.join(folder, "clew.jsonl");
  const recording = await startUpstream({
    script: () => [{ text: '{"act":"request","confidence":0.8}' }] });
  const recorder = await startRecorder({ to: recording.url, tape: spoken });
  const env = (url) => ({ CLEW_LLM_URL: `${url}/v1`, CLEW_LLM_MODEL: "m" });
  const text = "The login page with a spinner while it loads.";
  const levels = [];
  let server = await startServer({ env: env(recorder.url) });
  levels.push((await client(server.url).post("/api/v1/analyse", { text })).body.level);
  await server.stop();
  await recorder.stop();
  await recording.stop();
  const player = await startPlayer({ tape: spoken });
  server = await startServer({ env: env(player.url) });
  levels.push((await client(server.url).post("/api/v1/analyse", { text })).body.level);
  await server.stop();
  assert.equal(player.played, 1);
  await player.stop();
  assert.deepEqual(levels, ["llm", "llm"]);
});
