/* SPDX-License-Identifier: Apache-2.0 */
/* analyse.test.mjs - POST /api/v1/analyse and its feedback. */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";

onEachBackend("analyse", (open) => {
  let api;
  before(async () => {
    api = (await open()).api();
  });
  const post = (body) => api.post("/api/v1/analyse", body);
  const correct = (body) => api.post("/api/v1/analyse/feedback", body);
  async function byRules() {
    const other = (await open({ env: { CLEW_READER_ON: "false" } })).api();
    return { api: other,
      correct: (body) => other.post("/api/v1/analyse/feedback", body) };
  }

  test("a text is told by act, level and contents", async () => {
    const body = isOk(await post({
      text: "Hi! Can you call Ann in Berlin tomorrow?",
      created_at: "2024-03-01T10:00:00Z",
    }));
    assert.equal(body.act, "request");
    assert.equal(body.level, "rule");
    assert.ok(body.confidence >= 0.7 && body.confidence <= 1);
    assert.equal(body.sentences.length, 2);
    assert.deepEqual(body.segments.map((s) => s.act), ["greeting", "request"]);
    assert.ok(body.entities.some((e) => e.text === "Ann"));
    assert.ok(body.keywords.some((k) => k.word === "berlin"));
    assert.equal(body.dates[0].since, "2024-03-02T00:00:00.000Z");
    assert.equal(body.dates[0].until, "2024-03-03T00:00:00.000Z");
  });

  test("dates follow the zone that is given", async () => {
    const body = isOk(await post({
      text: "See you tomorrow.", created_at: "2024-03-01T23:30:00Z",
      timezone: "Europe/Berlin",
    }));
    assert.equal(body.dates[0].since, "2024-03-02T23:00:00.000Z");
  });

  test("the turn before decides what a yes is", async () => {
    const answer = isOk(await post({ text: "Yes.", previous: "Is it raining?" }));
    const grant = isOk(await post({ text: "Sure.", previous: "Can you come?" }));
    assert.equal(answer.act, "inform");
    assert.equal(grant.act, "accept");
  });

  test("unmarked text is the classifier's, commands are certain", async () => {
    const plain = isOk(await post({ text: "I had a weird experience yesterday" }));
    const command = isOk(await post({ text: "/resolve it was the token" }));
    assert.equal(plain.act, "inform");
    assert.equal(command.level, "command");
    assert.equal(command.confidence, 1);
  });

  test("a correction is remembered, whatever the case and marks", async () => {
    const text = "Purple monkey dishwasher.";
    assert.equal(isOk(await post({ text })).corrected, false);
    isOk(await correct({ text, act: "accept" }));
    const again = isOk(await post({ text: "purple monkey dishwasher" }));
    assert.equal(again.act, "accept");
    assert.equal(again.corrected, true);
    isOk(await correct({ text, act: "reject" }));
    assert.equal(isOk(await post({ text })).act, "reject");
    assert.equal(isOk(await post({ text: "Purple monkey." })).corrected, false);
  });

  test("a correction given with the turn before holds only there", async () => {
    const text = "The usual place.";
    isOk(await correct({ text, previous: "Can you come?", act: "accept" }));
    const same = isOk(await post({ text, previous: "Could you help me?" }));
    const other = isOk(await post({ text, previous: "Where is it?" }));
    assert.equal(same.corrected, true);
    assert.equal(other.corrected, false);
    assert.equal(isOk(await post({ text })).corrected, false);
  });

  /* Rules read by the act. The reader does not look at corrections yet. */
  test("a turn is taken as it was corrected, by rules", async () => {
    const { api, correct } = await byRules();
    const say = async (chat, content, role = "user") => {
      const answer = await api.post("/api/v1/turns", {
        user_id: "bob", role, content,
        ...(chat ? { chat_id: chat } : { channel: `c${Math.random()}` }) });
      return isOk(answer, 201);
    };
    const change = (answer) => answer.updates.memories
      .filter((one) => one.type === "effort").map((one) => one.change);
    const talk = async () => {
      const { turn: { chat_id } } = await say(null, "Help me fix the login page");
      await say(chat_id, "Clear the cookies of the browser.", "assistant");
      return chat_id;
    };
    /* an acceptance nobody could know */
    let chat = await talk();
    assert.deepEqual(change(await say(chat, "Bingo bongo")), []);
    isOk(await correct({ text: "bingo bongo!", act: "accept" }));
    chat = await talk();
    const done = await say(chat, "Bingo bongo");
    assert.ok(change(done).includes("resolved"));
    const trace = isOk(await api.get(`/api/v1/traces/${done.trace_id}`));
    assert.match(JSON.stringify(trace), /"rule":"correction"/);
    /* a request that opens, once it is known as one */
    const wish = "the purple one over there";
    assert.deepEqual(change(await say(null, wish)), []);
    isOk(await correct({ text: wish, act: "request" }));
    assert.ok(change(await say(null, wish)).includes("created"));
    /* and one that does not */
    const order = "Open the window in the kitchen";
    assert.ok(change(await say(null, order)).includes("created"));
    isOk(await correct({ text: order, act: "inform" }));
    assert.deepEqual(change(await say(null, order)), []);
  });

  test("a turn is taken as it was corrected, by the reader", { todo: true }, async () => {
    const say = async (chat_id, content) => isOk(await api.post("/api/v1/turns",
      { user_id: "cy", role: "user", content, ...(chat_id && { chat_id }) }), 201);
    const { turn: { chat_id } } = await say(null,
      "I need to fix the login page: users get a 401 error after signing in.");
    isOk(await correct({ text: "Bingo bongo", act: "accept" }));
    const { updates } = await say(chat_id, "Bingo bongo");
    assert.ok(updates.memories.some((one) => one.change === "resolved"));
  });

  test("bad input is named", async () => {
    isError(await post({}), 400, "VALIDATION_ERROR", "text");
    isError(await post({ text: "x", foo: 1 }), 400, "VALIDATION_ERROR", "foo");
    isError(await post({ text: "x", timezone: "Mars/Base" }), 400,
      "VALIDATION_ERROR", "timezone");
    isError(await correct({ text: "x", act: "shout" }), 400,
      "VALIDATION_ERROR", "act");
    isError(await correct({ text: "x" }), 400, "VALIDATION_ERROR", "act");
  });

  test("a blank and ten megabytes are answered", async () => {
    assert.equal(isOk(await post({ text: " " })).act, "inform");
    const text = "lorem ipsum. ".repeat(800_000) + "Could you summarise this?";
    assert.equal(isOk(await post({ text })).act, "request");
  });
});

onEachBackend("texts without spaces or stops", (open) => {
  test("are analysed and kept at any length", async () => {
    const api = (await open()).api();
    const scripts = { chinese: "数据库连接超时了怎么办", japanese: "データベースに接続できない",
      thai: "ฐานข้อมูลเชื่อมต่อไม่ได้", emoji: "🙂🚀", marks: "e\u0301" };
    for (const [name, unit] of Object.entries(scripts)) {
      for (const length of [3, 100, 1300, 2700, 5461, 5462, 20000, 120000]) {
        for (const lead of ["", "a", "ab"]) { /* so that cuts fall anywhere */
          const text = lead + unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
          const answer = await api.post("/api/v1/analyse", { text: text.toWellFormed?.() ?? text });
          assert.equal(answer.status, 200, `${name} ${length}: ${answer.text.slice(0, 200)}`);
          assert.ok(answer.body.segments.length > 0 && answer.body.sentences.length > 0);
        }
      }
      const content = unit.repeat(20000);
      const stored = await api.post("/api/v1/turns", { user_id: name, role: "user", content });
      assert.equal(stored.status, 201);
      assert.equal(stored.body.turn.text, content);
    }
  });
});
