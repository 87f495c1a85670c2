/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intents.test.mjs - what a sentence does, through the program and offline:
 * each row of the two intent tables of the chat model, each sentence of its
 * specification, and what a return to earlier work does.
 *
 * A row says the sentence, after `before` if it needs a talk, and what must
 * come of it: its act and the change of the memories it makes.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";

const login = ["u:Help me debug the login bug", "a:Try refreshing the token."];
const opened = (summary) => ({ type: "effort", change: "created", summary });
const resolved = { type: "effort", change: "resolved" };

/* "Subject doesn't matter, structure does". */
const structure = [
  { say: "hello how are you?", act: "greeting", makes: [] },
  { say: "lets solve a bug", act: "request", makes: [opened("Solve a bug")] },
  { say: "i want to learn about ww2", act: "request",
    makes: [opened("Learn about ww2")] },
  { say: "i got in a bad fight with my gf", act: "inform", no: ["effort"] },
  { say: "what's the capital of France?", act: "question", makes: [],
    then: "a:Paris.",
    gives: { type: "fact", change: "created",
      summary: "The capital of France: Paris." } },
  { before: login, say: "that fixed it, thanks!", act: "accept",
    makes: [resolved] },
  { say: "I'll go with option A", act: "commit",
    makes: [{ type: "decision", change: "created",
      summary: "The user will go with option A." }] },
];

/* "Dialogue acts". */
const acts = [
  { say: "hi", act: "greeting", makes: [] },
  { say: "hello", act: "greeting", makes: [] },
  { say: "what is X?", act: "question", makes: [],
    then: "a:X is a windowing system.",
    gives: { type: "fact", change: "created",
      summary: "X is a windowing system." } },
  { say: "help me with X", act: "request", makes: [opened("Help with X")] },
  { say: "I did X yesterday", act: "inform",
    makes: [{ type: "event", change: "created" }] },
  { say: "I'll do X", act: "commit",
    makes: [{ type: "decision", change: "created",
      summary: "The user will do X." }] },
  { before: login, say: "that works, thanks", act: "accept",
    makes: [resolved] },
  { before: login, say: "no that's not it", act: "reject", stays: "open" },
];

/* Sentences of the cascade and of vectors against classifiers. */
const cascade = [
  { say: "lets debug this auth issue", act: "request", level: "rule",
    makes: [opened("Debug this auth issue")] },
  { say: "I had a weird experience yesterday", act: "inform",
    level: "classifier", no: ["effort", "decision"] },
  { say: "I want to learn about WW2", act: "request",
    makes: [opened("Learn about WW2")] },
  { say: "WW2 started in 1939", act: "inform", no: ["effort", "event"] },
];

/* The specification's own. */
const specified = [
  { before: login, say: "Thanks! That fixed it", act: "accept",
    makes: [resolved], sure: [0.8, 1] },
  { before: login, say: "Thanks! But one more thing...", act: "accept",
    makes: [resolved], sure: [0.3, 0.5] },
  { before: login, say: "Oh great, thanks for nothing", act: "reject",
    stays: "open" },
  { before: login, say: "What about this other approach?", stays: "open" },
  { before: login, say: "I have no idea", act: "inform", stays: "open" },
  { before: login, say: "I'll come back to this later", stays: "open" },
  { before: login, say: "put it on hold", stays: "open" },
  { before: login, say: "also, remind me to call mom later", act: "request",
    makes: [{ type: "event", change: "created", summary: "Call mom later" }],
    stays: "open" },
  { before: [...login, "u:also, remind me to call mom later", "a:Sure."],
    say: "back to that bug", makes: [{ type: "effort", change: "extended" }],
    stays: "open" },
  { say: "/resolve it was the token", act: "accept", level: "command",
    makes: [] },
];

/* The same structures on other subjects. */
const elsewhere = [
  { say: "help me with my taxes", act: "request",
    makes: [opened("Help with the taxes")] },
  { say: "i want to learn knitting", act: "request",
    makes: [opened("Learn knitting")] },
  { say: "who was Ada Lovelace?", act: "question", makes: [],
    then: "a:Ada Lovelace was an English mathematician.",
    gives: { type: "fact", change: "created",
      summary: "Ada Lovelace was an English mathematician." } },
  { before: ["u:Which database?", "a:Option A: Postgres. Option B: SQLite.",
    "u:how fast is B?", "a:Fast enough."],
  say: "I'll go with option B", act: "commit",
  makes: [{ type: "decision", change: "created",
    summary: "The user will go with option B: SQLite." }] },
  { before: ["u:Stripe or PayPal?", "a:Both work. Stripe or PayPal?"],
    say: "let's go with Stripe",
    makes: [{ type: "decision", change: "created",
      summary: "The user decided to go with Stripe." }] },
  /* marks for right to left are no letters */
  { say: "\u202eHelp me fix the login\u202c page \u2066now\u2069",
    act: "request", makes: [opened("Fix the login page now")] },
  { say: "I'll check the logs", act: "commit", makes: [] },
  { say: "I'll do my best", act: "commit", makes: [] },
  { say: "I'll go with it", act: "commit", makes: [] },
];

onEachBackend("an intent", (open) => {
  let api;
  before(async () => {
    api = (await open()).api();
  });

  /* Say lines in a chat of their own; the last answer and the chat. */
  let talks = 0;
  async function talk(lines) {
    const user_id = `ada-${++talks}`;
    let chat;
    let last;
    for (const line of lines) {
      last = isOk(await api.post("/api/v1/turns", {
        user_id, role: line[0] === "u" ? "user" : "assistant",
        content: line.slice(2),
        ...(chat ? { chat_id: chat } : { channel: `web-${talks}` }),
      }), 201);
      chat = last.turn.chat_id;
    }
    return { chat, last, changes: last.updates.memories };
  }

  const efforts = async (chat) => isOk(
    await api.get(`/api/v1/efforts?chat_id=${chat}&all=1`)).items
    .filter((one) => !one.parent_id);

  function holds(changes, wanted) {
    return changes.some((one) =>
      Object.entries(wanted).every(([key, value]) => one[key] === value));
  }

  async function check(row) {
    if (row.act) {
      const previous = row.before?.at(-1).slice(2);
      const said = isOk(await api.post("/api/v1/analyse",
        { text: row.say, ...(previous && { previous }) }));
      assert.equal(said.act, row.act);
      if (row.level) assert.equal(said.level, row.level);
    }
    const lines = [...(row.before ?? []), `u:${row.say}`];
    const { chat, changes } = await talk(lines);
    for (const wanted of row.makes ?? []) {
      assert.ok(holds(changes, wanted),
        `${JSON.stringify(changes)} lacks ${JSON.stringify(wanted)}`);
    }
    if (row.makes?.length === 0) assert.deepEqual(changes, []);
    for (const type of row.no ?? []) {
      assert.ok(!changes.some((one) => one.type === type), type);
    }
    if (row.stays) {
      const [effort] = await efforts(chat);
      assert.equal(effort.status, row.stays);
    }
    if (row.sure) {
      const { id } = changes.find((one) => one.change === "resolved");
      const memory = isOk(await api.get(`/api/v1/memories/${id}`));
      const sure = memory.fields.resolution_confidence;
      assert.ok(sure >= row.sure[0] && sure <= row.sure[1], String(sure));
    }
    if (row.then) {
      const after = await talk([...lines, row.then]);
      assert.ok(holds(after.changes, row.gives),
        JSON.stringify(after.changes));
    }
  }

  for (const [table, rows] of Object.entries(
    { structure, acts, cascade, specified, elsewhere })) {
    for (const row of rows) {
      const after = row.before ? ` (after "${row.before.at(-1).slice(2)}")` : "";
      test(`${table}: "${row.say}"${after}`, () => check(row));
    }
  }

  test("back to one that is named is at work at once", async () => {
    const { last } = await talk([
      "u:Help me fix the login page", "a:ok",
      "u:Help me fix the signup form", "a:ok",
      "u:back to the login page, I cleared the cookies",
    ]);
    assert.ok(last.notices.includes("[effort:active] Fix the login page"));
  });

  test("back to what never was opens a new one", async () => {
    const { last } = await talk(["u:hi", "a:Hello.",
      "u:back to work. Help me write the quarterly report"]);
    assert.ok(last.notices.some((line) => line.startsWith("[effort:open]")));
  });

  test("back to one of two that fit alike asks which", async () => {
    const { last, chat } = await talk([
      "u:Help me fix the login page", "a:ok",
      "u:Help me fix the signup page", "a:ok",
      "u:Tell me a joke", "a:Knock knock.",
      "u:back to that page",
    ]);
    assert.deepEqual(last.notices.slice(0, 1),
      ["[effort:which] Which one do you mean?"]);
    assert.equal(last.notices.length, 3);
    assert.equal((await efforts(chat)).length, 2);
  });

  test("three turns about other things collapse an effort", async () => {
    const { chat, last } = await talk([
      "u:Help me fix the login page", "a:Clear the cookies.",
      "u:My cousin Ben plays the cello in Vienna", "a:Lovely.",
      "u:My aunt bakes sourdough on Sundays", "a:Nice.",
      "u:My uncle keeps forty bees behind his house", "a:Wow.",
    ]);
    assert.ok(last);
    const [effort] = await efforts(chat);
    assert.equal(effort.status, "open");
    assert.equal(effort.state, "collapsed");
  });

  test("an effort closed again tells its earlier end too", async () => {
    const { chat } = await talk([
      "u:I'm getting a 401 error", "a:Try refreshing the token.",
      "u:Token was expired, works now!", "a:Great.",
      "u:back to the 401 error, it is failing again", "a:Check the clock.",
      "u:The clock was off, works now!",
    ]);
    const [effort] = await efforts(chat);
    const memory = isOk(await api.get(`/api/v1/memories/${effort.id}`));
    assert.equal(memory.resolution,
      "The clock was off (before: Token was expired)");
    assert.equal(memory.fields.log.length, 1);
  });
});
