/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intents.test.mjs - what a sentence does, through the program and offline:
 * the act of each sentence of the two intent tables of the chat model and of
 * its specification, what turns do to efforts, and what a return to earlier
 * work does.
 *
 * A row says the sentence, after `before` if it needs a talk, and what must
 * come of it: its act, or the change of the memories it makes.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";

const token = "a:Try refreshing the token.";
const login = ["u:I need to fix the login page: users get a 401 error after signing in.",
  token];
const trip = "u:I want to plan a trip to Lisbon in May. Can you help me plan it?";
const opened = (summary) => ({ type: "effort", change: "created", summary });
const resolved = { type: "effort", change: "resolved" };

/* "Subject doesn't matter, structure does". */
const structure = [
  { say: "hello how are you?", act: "greeting", makes: [] },
  { say: "lets solve a bug", act: "request" },
  { say: "i want to learn about ww2", act: "request" },
  { say: "i got in a bad fight with my gf", act: "inform", no: ["effort"], todo: true },
  { say: "what's the capital of France?", act: "question", makes: [] },
  { before: [token], say: "that fixed it, thanks!", act: "accept" },
  { say: "I'll go with option A", act: "commit" },
];

/* "Dialogue acts". */
const acts = [
  { say: "hi", act: "greeting", makes: [] },
  { say: "hello", act: "greeting", makes: [] },
  { say: "what is X?", act: "question", makes: [] },
  { say: "help me with X", act: "request" },
  { say: "I did X yesterday", act: "inform" },
  { say: "I'll do X", act: "commit" },
  { before: [token], say: "that works, thanks", act: "accept" },
  { before: [token], say: "no that's not it", act: "reject" },
];

/* Sentences of the cascade and of vectors against classifiers. */
const cascade = [
  { say: "lets debug this auth issue", act: "request", level: "rule" },
  { say: "I had a weird experience yesterday", act: "inform",
    level: "classifier", no: ["effort", "decision"] },
  { say: "I want to learn about WW2", act: "request" },
  { say: "WW2 started in 1939", act: "inform", no: ["effort", "event"] },
  /* the classifier has learned English: of other words it knows nothing */
  { say: "院子的水泵抽不上水", act: "inform", level: "rule" },
  { say: "Markt letzten Samstag: 412 Euro, Hartkäse war um elf weg", act: "inform", level: "rule" },
  { say: "le mien s'appelle Voltaire, il a 9 ans", act: "inform", level: "rule" },
];

/* The specification's own. */
const specified = [
  { before: [token], say: "Thanks! That fixed it", act: "accept" },
  { before: [token], say: "Thanks! But one more thing...", act: "accept" },
  { before: [token], say: "Oh great, thanks for nothing", act: "reject" },
  { before: [token], say: "I have no idea", act: "inform" },
  { before: [token], say: "also, remind me to call mom later", act: "request" },
  { say: "/resolve it was the token", act: "accept", level: "command",
    makes: [] },
];

/* The same structures on other subjects. */
const elsewhere = [
  { say: "help me with my taxes", act: "request" },
  { say: "i want to learn knitting", act: "request" },
  { say: "who was Ada Lovelace?", act: "question", makes: [] },
  { before: ["a:Fast enough."], say: "I'll go with option B", act: "commit" },
  { say: "\u202eHelp me fix the login\u202c page \u2066now\u2069",
    act: "request" },
  { say: "I'll check the logs", act: "commit", makes: [] },
  { say: "I'll do my best", act: "commit", makes: [] },
  { say: "I'll go with it", act: "commit", makes: [] },
];

/* What a talk does to its effort. */
const efforts_of = [
  { say: login[0].slice(2), makes: [opened(/login page.*401 error/)] },
  { say: trip.slice(2), makes: [opened(/trip to Lisbon/)] },
  { before: ["u:hi", "a:Hello."],
    say: "Back to work. I need to write the quarterly report for the board by Friday.",
    makes: [opened(/quarterly report/)] },
  { before: login, say: "that fixed it, thanks!", makes: [resolved],
    sure: [0.3, 1] },
  { before: login,
    say: "Refreshing the token fixed it, the login page works now, thanks!",
    makes: [resolved], sure: [0.3, 1] },
  { before: [trip, "a:Sure, when do you fly?"],
    say: "Thanks, it's all booked now, the trip is planned.",
    makes: [resolved], sure: [0.3, 1] },
  { before: login, say: "I give up on the login page, I'm dropping it.",
    makes: [{ type: "effort", change: "abandoned" }], stays: "abandoned" },
  { before: login, say: "Oh great, thanks for nothing", stays: "open" },
  { before: login, say: "Thanks! But one more thing...", stays: "open" },
  { before: login, say: "What about this other approach?", stays: "open" },
  { before: login, say: "I have no idea", stays: "open" },
  { before: login, say: "I'll come back to this later", stays: "open" },
  { before: login, say: "put it on hold", stays: "open" },
  { before: login, say: "also, remind me to call mom on Friday", stays: "open" },
  /* the reader takes these for an end, see models/reader.md on endings */
  { before: login, say: "no that's not it", stays: "open", todo: true },
  { before: login, say: "That didn't work.", stays: "open", todo: true },
  { before: login, say: "It still fails with the same 401 error.",
    stays: "open", todo: true },
  /* and these for an opening */
  { say: "My sister Mia lives in Hamburg and works as a nurse.",
    makes: [{ type: "fact", change: "created", summary: /Mia.*Hamburg/ }],
    no: ["effort"], todo: true },
  { say: "I have a dentist appointment on Friday at 3pm.",
    makes: [{ type: "event", change: "created", summary: /dentist/ }],
    no: ["effort"], todo: true },
];

onEachBackend("an intent", (open) => {
  let api;
  let rules;
  before(async () => {
    rules = (await open({ env: { CLEW_READER_ON: "false" } })).api();
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
      Object.entries(wanted).every(([key, value]) => (value instanceof RegExp
        ? value.test(one[key]) : one[key] === value)));
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
        `${JSON.stringify(changes)} lacks ${wanted.change} ${wanted.summary}`);
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
  }

  for (const [table, rows] of Object.entries(
    { structure, acts, cascade, specified, elsewhere, efforts: efforts_of })) {
    for (const row of rows) {
      const after = row.before ? ` (after "${row.before.at(-1).slice(2)}")` : "";
      test(`${table}: "${row.say}"${after}`, { todo: row.todo }, () => check(row));
    }
  }

  test("back to one that is named is at work at once", async () => {
    const { last } = await talk([
      trip, "a:Sure.",
      "u:What is the capital of France?", "a:Paris.",
      "u:Back to the trip to Lisbon: which hotel is near the river?",
    ]);
    assert.ok(last.notices.some((line) =>
      /^\[effort:active\].*trip to Lisbon/.test(line)), String(last.notices));
  });

  test("an effort closed again tells its earlier end too", async () => {
    const { chat } = await talk([
      ...login,
      "u:The token was expired, I renewed it and the login page works now!", "a:Great.",
      "u:Back to the login page: users get the 401 error again.", "a:Check the clock.",
      "u:The clock was off, I set it and the login page works now!",
    ]);
    const effort = (await efforts(chat)).find((one) => /login/.test(one.summary));
    const memory = isOk(await api.get(`/api/v1/memories/${effort.id}`));
    assert.match(memory.resolution, /^The clock was off.*\(before: The token was expired/);
    assert.equal(memory.fields.log.length, 1);
  });

  /* Which efforts there are is no question here: rules read. */
  test("back to one of two that fit alike asks which", async () => {
    api = rules;
    const { last, chat } = await talk([
      "u:Help me fix the login page", "a:ok",
      "u:Help me fix the signup page", "a:ok",
      "u:What is the capital of France?", "a:Paris.",
      "u:back to that page",
    ]);
    assert.deepEqual(last.notices.slice(0, 1),
      ["[effort:which] Which one do you mean?"]);
    assert.equal(last.notices.length, 3);
    assert.equal((await efforts(chat)).length, 2);
  });

  test("three turns about other things collapse an effort", async () => {
    api = rules;
    const { chat } = await talk([
      "u:Help me fix the login page", "a:Clear the cookies.",
      "u:My cousin Ben plays the cello in Vienna", "a:Lovely.",
      "u:My aunt bakes sourdough on Sundays", "a:Nice.",
      "u:My uncle keeps forty bees behind his house", "a:Wow.",
    ]);
    const [effort] = await efforts(chat);
    assert.equal(effort.status, "open");
    assert.equal(effort.state, "collapsed");
  });

  test("rules leave an effort open that is rejected", async () => {
    api = rules;
    const { chat } = await talk(["u:Help me fix the login page", token,
      "u:no that's not it"]);
    assert.equal((await efforts(chat))[0].status, "open");
  });
});
