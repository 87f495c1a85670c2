/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget.test.mjs - what is forgotten is gone: rows, results, and raw bytes.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isLinked, isOk, isRead } from "./lib/check.mjs";
import { filesWith } from "./lib/files.mjs";
import { client, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

onEachBackend("forget", (open, backend) => {
  let server;
  let count = 0;

  before(async () => {
    server = await open();
  });

  async function tenant() {
    return client(server.url, await server.key(`tenant${++count}`));
  }

  async function say(api, user, text, more = {}) {
    const answer = await api.post("/api/v1/turns", {
      user_id: user, role: "user", content: text, channel: "sms", ...more,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  async function finds(api, query) {
    const answer = await api.post("/api/v1/recall", { query, limit: 50 });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.items.map((item) => item.text);
  }

  async function forget(api, body) {
    const answer = await api.post("/api/v1/forget", body);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.body.sha256, /^[0-9a-f]{64}$/);
    return answer.body;
  }

  test("a forgotten turn is found no more and leaves no bytes", async () => {
    const api = await tenant();
    const secret = "zanzibarquartz";
    const kept = await say(api, "ann", "The keys are in the blue drawer.");
    const gone = await say(api, "ann", `My locker code word is ${secret}.`);
    assert.ok((await finds(api, secret)).includes(gone.turn.text));
    const receipt = await forget(api, { turn_ids: [gone.turn.id] });
    assert.equal(receipt.forgotten.turns, 1);
    assert.ok(receipt.receipt_id);
    assert.equal(receipt.scrubbed, true);
    assert.ok(!(await finds(api, secret)).some((t) => t.includes(secret)));
    const turns = await api.get(`/api/v1/chats/${kept.chat.id}/turns`);
    assert.deepEqual(turns.body.items.map((t) => t.id), [kept.turn.id]);
    if (backend === "sqlite") {
      assert.deepEqual(filesWith(server.data, secret), []);
    }
  });

  test("forgetting a chat leaves its forks readable", async () => {
    const api = await tenant();
    const first = await say(api, "ann", "First line of a chat to be forked.");
    await say(api, "ann", "Second line of it.", { chat_id: first.chat.id });
    const fork = await api.post(`/api/v1/chats/${first.chat.id}/fork`, {});
    await say(api, "ann", "Only in the fork.", { chat_id: fork.body.id });
    await forget(api, { chat_id: first.chat.id });
    const turns = await api.get(`/api/v1/chats/${fork.body.id}/turns`);
    assert.deepEqual(turns.body.items.map((t) => t.text), ["Only in the fork."]);
  });

  test("a fork is not called by words of what it left, once these are forgotten", async () => {
    const api = await tenant();
    const fork = async (id, more = {}) => isOk(await api.post(`/api/v1/chats/${id}/fork`, more), 201);
    const titles = async () => isOk(await api.get("/api/v1/chats?limit=100")).items.map((chat) => chat.title);
    for (const named of [(one) => ({ chat_id: one.chat.id }), (one) => ({ turn_ids: [one.turn.id] })]) {
      const one = await say(api, "ann", "My safe opens with Kolkrabe.");
      const { id } = await fork(one.chat.id);
      await fork(id);
      await fork(id, { title: "Mine" });
      assert.equal((await titles()).filter((title) => /Kolkrabe/.test(title)).length, 3);
      await forget(api, named(one));
      assert.deepEqual((await titles()).filter((title) => /Kolkrabe/.test(title)), []);
    }
    assert.equal((await titles()).filter((title) => title === "Mine").length, 2);
  });

  test("forgetting a user takes all of theirs and nothing else", async () => {
    const api = await tenant();
    await say(api, "ann", "Ann grows tomatoes on the balcony.");
    const bob = await say(api, "bob", "Bob grows tomatoes in the garden.");
    await forget(api, { user_id: "ann" });
    assert.deepEqual(
      (await finds(api, "tomatoes")).filter((t) => t.includes("tomatoes")),
      (await finds(api, "tomatoes")).filter((t) => t.includes("Bob")));
    assert.equal(
      (await api.get(`/api/v1/chats/${bob.chat.id}/turns`)).body.items.length, 1);
    const chats = await api.get("/api/v1/chats?user_id=ann");
    assert.deepEqual(chats.body.items, []);
  });

  test("a user's chat goes whole, whoever spoke in it; another's keeps the rest", async () => {
    const api = await tenant();
    const own = await say(api, "ann", "My parrot Zebulon sings at night.");
    const guest = await say(api, "bob", "I gave Zebulon a mirror.", { chat_id: own.chat.id });
    const other = await say(api, "bob", "My canary is called Wilhelmina.");
    await say(api, "ann", "Wilhelmina looks like Zebulon.", { chat_id: other.chat.id });
    assert.equal((await forget(api, { user_id: "ann", dry_run: true })).forgotten.turns, 3);
    await forget(api, { user_id: "ann" });
    const left = (await api.get("/api/v1/export")).text;
    assert.ok(!left.includes("Zebulon"));
    assert.deepEqual(left.split("\n").filter((line) => line.includes(guest.turn.id)).map((line) => JSON.parse(line).type),
      ["tombstone"]);
    const turns = await api.get(`/api/v1/chats/${other.chat.id}/turns`);
    assert.deepEqual(turns.body.items.map((t) => t.id), [other.turn.id]);
  });

  test("what is named twice is forgotten once", async () => {
    const api = await tenant();
    const one = await say(api, "ann", "Said once.", { external_id: "twice-1" });
    const two = await say(api, "ann", "Said after.", { external_id: "twice-2" });
    const ids = [two.turn.id, one.turn.id, two.turn.id];
    assert.equal((await forget(api, { turn_ids: ids, dry_run: true })).forgotten.turns, 2);
    const names = ["twice-2", "twice-1", "twice-2"];
    assert.equal((await forget(api, { external_ids: names })).forgotten.turns, 2);
  });

  test("a dry run says what it would do and does nothing", async () => {
    const api = await tenant();
    const one = await say(api, "ann", "To be looked at only.",
      { external_id: "dry-1" });
    const plan = await forget(api, { external_ids: ["dry-1"], dry_run: true });
    assert.equal(plan.forgotten.turns, 1);
    assert.equal(plan.receipt_id, null);
    assert.equal(
      (await api.get(`/api/v1/chats/${one.chat.id}/turns`)).body.items.length, 1);
  });

  test("an unknown id forgets nothing at all", async () => {
    const api = await tenant();
    const one = await say(api, "ann", "Still here afterwards.");
    const answer = await api.post("/api/v1/forget", {
      turn_ids: [one.turn.id, "01900000-0000-7000-8000-000000000000"],
    });
    assert.equal(answer.status, 404);
    assert.equal(
      (await api.get(`/api/v1/chats/${one.chat.id}/turns`)).body.items.length, 1);
    const none = await api.post("/api/v1/forget", {});
    assert.equal(none.status, 400);
  });

  test("nobody forgets another tenant's turns", async () => {
    const a = await tenant();
    const b = await tenant();
    const one = await say(a, "ann", "Tenant a keeps this.");
    const answer = await b.post("/api/v1/forget", { turn_ids: [one.turn.id] });
    assert.equal(answer.status, 404);
    await b.post("/api/v1/forget", { user_id: "ann" });
    assert.equal(
      (await a.get(`/api/v1/chats/${one.chat.id}/turns`)).body.items.length, 1);
  });

  test("a rebuild goes on where a chat's first turn is gone", { timeout: 600_000 }, async () => {
    const own = await open({ data: tempFolder() });
    const api = own.api();
    await say(api, "kim", "Our cat Pixel threw up again, the vet Adeyemi sees her at noon.");
    /* in one call: the link of the first is looked for when the others are there */
    const later = await api.post("/api/v1/turns", {
      turns: ["The vet Adeyemi weighed our cat Pixel: 3.8 kilos.", "Pixel the cat keeps the ointment, says the vet.",
        "No vomiting of the cat Pixel for two weeks now."].map((content) =>
        ({ user_id: "kim", role: "user", content, channel: "web" })),
    });
    assert.equal(later.status, 201, later.text);
    await isLinked(api);
    await forget(api, { turn_ids: [later.body.turns?.[0].turn.id ?? later.body.items[0].turn.id] });
    await own.stop();
    await own.clew("rebuild");
    const told = JSON.parse((await own.clew("verify", "--json")).stdout);
    assert.equal(told.ok, true, JSON.stringify(told));
  });

  /* Lines of an export, as they are: numbers may be longer than JavaScript's. */
  async function bring(api, text, more = "") {
    const rows = text.trimEnd().split("\n").slice(1, -1);
    const answer = await api.post("/api/v1/import", `{"rows":[${rows}]${more}}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async function exported(api) {
    return (await api.get("/api/v1/export")).text;
  }

  test("an export from before brings nothing of it back, unless that is wished", async () => {
    const api = await tenant();
    const said = [];
    for (const text of ["Our billing job breaks every Sunday, we must repair it.",
      "I moved the wardrobe Tollkirsche into the hall, my notary is Professor Ambrosius in Basel.",
      "The billing job runs again since Oberon was given more memory."]) {
      said.push(await say(api, "ann", text, said.length ? { chat_id: said[0].chat.id } : {}));
    }
    const whole = await say(api, "eve", "Quirinal is where my aunt lives.");
    for (const id of [said[0].chat.id, whole.chat.id]) await api.post(`/api/v1/chats/${id}/close`, {});
    const before = await exported(api);
    await forget(api, { turn_ids: [said[1].turn.id] });
    await forget(api, { chat_id: whole.chat.id });
    const brought = await bring(api, before);
    assert.ok(brought.forgotten > 2, JSON.stringify(brought));
    const left = await exported(api);
    for (const word of ["tollkirsche", "ambrosius", "quirinal", "aunt"]) {
      assert.ok(!left.toLowerCase().includes(word), word);
    }
    assert.ok(left.includes("Oberon"));
    assert.ok(!(await finds(api, "Ambrosius")).some((t) => t.includes("Ambrosius")));
    /* once more changes nothing, whichever was read */
    assert.equal((await bring(api, left)).added, 0);
    const back = await bring(api, before, ',"restore_forgotten":true');
    assert.equal(back.forgotten, 0);
    assert.ok((await finds(api, "Ambrosius")).some((t) => t.includes("Ambrosius")));
    assert.ok((await finds(api, "Quirinal")).some((t) => t.includes("Quirinal")));
    assert.equal((await exported(api)).split("\n")
      .filter((line) => line.includes("tombstone") && line.includes(said[1].turn.id)).length, 0);
  });

  test("the command says what was left out, and how it comes back", async () => {
    const own = await open({ data: tempFolder() });
    const api = own.api();
    const gone = await say(api, "ann", "My parking lot is number Zweiundvierzig.");
    await say(api, "ann", "The weather is fine.", { chat_id: gone.chat.id });
    const file = path.join(tempFolder(), "before.jsonl");
    fs.writeFileSync(file, (await own.clew("export")).stdout);
    await own.clew("forget", "--turn", gone.turn.id, "--yes");
    assert.match((await own.clew("import", file)).stdout,
      /[1-9]\d* rows left out, of what was forgotten here; --restore-forgotten brings it back/);
    assert.ok(!(await own.clew("export")).stdout.includes("Zweiundvierzig"));
    assert.doesNotMatch((await own.clew("import", file, "--restore-forgotten")).stdout, /left out/);
    assert.ok((await own.clew("export")).stdout.includes("Zweiundvierzig"));
  });

  test("what was forgotten elsewhere goes here by its export", async () => {
    const here = await tenant();
    const there = await tenant();
    const gone = await say(there, "ann", "The safe opens with Kaleidoskop.");
    await say(there, "ann", "The plumber comes on Monday.", { chat_id: gone.chat.id });
    await bring(here, await exported(there));
    assert.ok((await exported(here)).includes("Kaleidoskop"));
    await forget(there, { turn_ids: [gone.turn.id] });
    await bring(here, await exported(there));
    const left = await exported(here);
    assert.ok(!left.includes("Kaleidoskop"));
    assert.ok(left.includes("plumber"));
  });

  test("a topic that went on elsewhere does not bring the words back that it began with", async () => {
    const here = await tenant();
    const there = await tenant();
    const chains = async (api) => (await exported(api)).trimEnd().split("\n").map((line) => JSON.parse(line))
      .filter((row) => row.type === "chain");
    const first = await say(there, "ann", "The parrot Tollkirsche sings at night.");
    const more = (text) => say(there, "ann", text, { chat_id: first.chat.id });
    await more("The parrot sings in the kitchen at night.");
    const [chain, ...others] = await chains(there);
    assert.deepEqual(others, []);
    assert.match(chain.topic, /Tollkirsche/);
    await bring(here, await exported(there));
    await forget(here, { turn_ids: [first.turn.id] });
    const left = (await chains(here)).find((row) => row.id === chain.id);
    assert.doesNotMatch(left.topic, /Tollkirsche/);
    await more("The parrot sings at night in the hall, too.");
    const grown = (await chains(there)).find((row) => row.id === chain.id);
    assert.ok(grown.last_extended_at > chain.last_extended_at);
    await bring(here, await exported(there));
    const text = await exported(here);
    assert.ok(text.includes("in the hall, too"));
    assert.doesNotMatch(text, /Tollkirsche/i);
    assert.ok((await chains(here)).every((row) => row.topic !== ""));
  });

  /* An effort over two chats, and an end; what is forgotten of it. */
  const talk = [
    ["mon", "Our payment import is broken: it fails every night with a Zyxoberon timeout error. We need to fix it."],
    ["mon", "I tried raising the Qwertzinator limit of the payment import, but the import still fails."],
    ["tue", "Back to the payment import: it failed again last night with the timeout, also with the Brumbelfix setting."],
    ["tue", "The payment import is fixed now: the Vexillomat had to be set to 30 seconds."],
  ];

  async function sayAll(api, user) {
    const chats = {};
    const said = [];
    for (const [i, [day, text]] of talk.entries()) {
      said.push(await say(api, user, text, {
        created_at: new Date(Date.UTC(2026, 2, day === "mon" ? 2 : 3, 9, i)).toISOString(), channel: day,
        ...(chats[day] && { chat_id: chats[day] }),
      }));
      chats[day] ??= said.at(-1).chat.id;
    }
    return said;
  }

  test("no row names a user who was forgotten", async () => {
    const api = await tenant();
    await sayAll(api, "annegret");
    await until("its chats are one matter", async () => (await exported(api)).includes('"cross_chat"'));
    await api.patch("/api/v1/users/annegret", { inactivity_minutes: 55 });
    await forget(api, { user_id: "annegret" });
    assert.doesNotMatch(await exported(api), /annegret/);
  });

  async function effortAfter(api, word) {
    const said = await sayAll(api, "ann");
    const gone = said[talk.findIndex(([, text]) => text.includes(word))].turn.id;
    await forget(api, { turn_ids: [gone] });
    const left = await exported(api);
    assert.ok(!left.toLowerCase().includes(word.toLowerCase()), word);
    return left.trimEnd().split("\n").map((line) => JSON.parse(line))
      .find((row) => row.type === "memory" && row.memory_type === "effort" && row.summary.includes("Zyxoberon"));
  }

  test("an effort whose opening turn stays loses only what a later one brought", async () => {
    const middle = await effortAfter(await tenant(), "Brumbelfix");
    assert.equal(middle.status, "resolved");
    assert.match(middle.resolution, /Vexillomat/);
    const end = await effortAfter(await tenant(), "Vexillomat");
    assert.equal(end.status, "open");
    assert.equal(end.resolution, undefined);
    assert.equal(await effortAfter(await tenant(), "Zyxoberon"), undefined);
  });

  test("an effort of two turns that lie side by side keeps the first", async () => {
    const api = await tenant();
    const first = await say(api, "ann", "I need to find a new dentist in Ghent before May");
    const second = await say(api, "ann", "the dentist should be near the tram", { chat_id: first.chat.id });
    const effort = async () => isOk(await api.get("/api/v1/memories?user_id=ann&type=effort")).items[0];
    const cited = async ({ id }) => {
      const { items } = isOk(await api.get(`/api/v1/memories/${id}/source`));
      return items.map((turn) => turn.id);
    };
    assert.deepEqual(await cited(await effort()), [first.turn.id, second.turn.id]);
    await forget(api, { turn_ids: [second.turn.id] });
    assert.equal((await effort()).status, "open");
    assert.deepEqual(await cited(await effort()), [first.turn.id]);
  });

  test("another topic does not quote the one it left", async () => {
    const api = await tenant();
    const gone = await say(api, "ann", "My parking lot is number Siebenundneunzig.");
    await say(api, "ann", "The weather is fine.", { chat_id: gone.chat.id });
    assert.match(await exported(api), /Branched from [^\n]*Siebenundneunzig/);
    await forget(api, { turn_ids: [gone.turn.id] });
    assert.doesNotMatch(await exported(api), /Siebenundneunzig/);
  });

  test("what was set right about its words goes with it, unless a turn that stays says the same", async () => {
    const api = await tenant();
    const correct = (body) => api.post("/api/v1/analyse/feedback", body).then(isOk);
    const secret = "Kindly bring the Kolkrabe from the cellar.";
    const shared = "Well, off we go.";
    const gone = await say(api, "ann", secret);
    await say(api, "ann", shared, { chat_id: gone.chat.id });
    await say(api, "bob", shared);
    await correct({ text: secret, act: "reject" });
    await correct({ text: secret, previous: "What do you need?", act: "accept" });
    await correct({ text: shared, act: "commit" });
    const kinds = async () => (await exported(api)).trimEnd().split("\n").map((line) => JSON.parse(line))
      .filter((row) => row.type === "correction" || row.kind === "intent.correct").map((row) => row.type).sort();
    assert.equal((await kinds()).length, 6);
    await forget(api, { user_id: "ann", dry_run: true });
    assert.equal((await kinds()).length, 6);
    await forget(api, { user_id: "ann" });
    assert.deepEqual(await kinds(), ["action", "correction"]);
    assert.equal(isOk(await api.post("/api/v1/analyse", { text: shared })).act, "commit");
    await forget(api, { user_id: "bob" });
    assert.deepEqual(await kinds(), []);
  });

  test("nor does an export from before bring back what was set by hand, unless it was set since", async () => {
    const api = await tenant();
    const made = (answer) => { assert.ok(answer.status < 300, answer.text); return answer.body; };
    const correct = async (act) => made(await api.post("/api/v1/analyse/feedback", { text: "Kindly bring the Kolkrabe.", act }));
    const rows = async (which) => (await exported(api)).trimEnd().split("\n").map((line) => JSON.parse(line))
      .filter((row) => !["tombstone", "end", "export"].includes(row.type) && (!which || which(row)))
      .map((row) => JSON.stringify(row)).sort();
    await say(api, "bob", "I have a boat.");
    const { chat, turn } = await say(api, "ann", "Kindly bring the Kolkrabe.");
    await say(api, "ann", "We decided to paint the Kolkrabe black.", { chat_id: chat.id });
    await isRead(api);
    await correct("reject");
    made(await api.patch("/api/v1/users/ann", { inactivity_minutes: 44 }));
    made(await api.patch(`/api/v1/chats/${chat.id}`, { title: "Kolkrabe" }));
    made(await api.post("/api/v1/memories", { user_id: "ann", summary: "The Kolkrabe eats nuts.", pinned: true }));
    for (const { id } of made(await api.get("/api/v1/memories?user_id=ann")).items) {
      made(await api.patch(`/api/v1/memories/${id}`, { tags: ["kolkrabe"] }));
    }
    for (const { id } of made(await api.get("/api/v1/chains?user_id=ann")).items) {
      made(await api.post(`/api/v1/chains/${id}/conclude`, {}));
    }
    const before = await exported(api);
    await forget(api, { turn_ids: [turn.id] });
    const corrections = (row) => row.type === "correction" || row.kind === "intent.correct";
    const comesBack = async (which) => {
      const left = new Set(await rows(which));
      await bring(api, before);
      return (await rows(which)).filter((row) => !left.has(row));
    };
    assert.deepEqual(await comesBack(corrections), []);
    await correct("accept");
    assert.deepEqual(await comesBack(corrections), [], "nor over what was said since");
    await forget(api, { user_id: "ann" });
    assert.deepEqual(await comesBack(), []);
    await bring(api, before, ',"restore_forgotten":true');
    assert.equal((await rows(corrections)).length, 3);
    assert.equal((await rows((row) => row.type === "user" && row.user_id === "ann")).length, 1);
  });

  test("a topic of which nothing is left does not come back empty", async () => {
    const api = await tenant();
    const { chat } = await say(api, "ann", "The weather is fine in the valley today.");
    const gone = [];
    for (const text of ["We decided to paint the Kolkrabe black.", "Black paint for the Kolkrabe costs a lot."]) {
      gone.push((await say(api, "ann", text, { chat_id: chat.id })).turn.id);
    }
    await isRead(api);
    const before = await exported(api);
    const topics = async () => (await exported(api)).split("\n").filter((line) => /"type":"chain/.test(line)).sort();
    assert.ok((await topics()).length > 0);
    await forget(api, { turn_ids: gone });
    const left = await topics();
    await bring(api, before);
    assert.deepEqual(await topics(), left);
  });

  test("what is forgotten in parts has one tombstone each", async () => {
    const api = await tenant();
    const said = [];
    for (let i = 0; i < 5; i++) {
      said.push(await say(api, "ann", `Line ${i} of the log of the lighthouse.`,
        said.length ? { chat_id: said[0].chat.id } : {}));
    }
    await forget(api, { turn_ids: [said[1].turn.id] });
    await forget(api, { turn_ids: [said[2].turn.id, said[3].turn.id] });
    await forget(api, { chat_id: said[0].chat.id });
    await forget(api, { user_id: "ann" });
    const graves = (await exported(api)).trimEnd().split("\n").map((line) => JSON.parse(line))
      .filter((row) => row.type === "tombstone").map((row) => row.kind + row.id);
    assert.deepEqual(graves, [...new Set(graves)]);
    assert.equal(graves.filter((name) => name.startsWith("turn")).length, 5);
  });

  test("the store still verifies", async () => {
    await server.clew("verify");
  });
});
