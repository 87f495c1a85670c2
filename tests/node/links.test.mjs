/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.test.mjs - "Link decisions": what speaks for a link, what is kept of it,
 * what follows from it, and how it turned out. By words alone: what the reader
 * adds is looked at in t_chatlink_read.c.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const day = (n, hour = 9) => Date.UTC(2026, 4, n, hour);

/* Say turns a minute apart; the chat they are in. */
async function chat(api, user_id, time, ...turns) {
  let id;
  for (const [i, content] of turns.entries()) {
    id = isOk(await api.post("/api/v1/turns", {
      user_id, channel: "sms", role: i % 2 ? "assistant" : "user", content,
      created_at: new Date(time + i * 60000).toISOString(),
    }), 201).turn.chat_id;
  }
  return id;
}

/* What was decided when the chat was new. */
const decided = async (api, id) => isOk(await api.get(
  `/api/v1/links?chat_id=${id}`)).items.filter((link) => link.chat_id === id);

const floor = ["Which insulation suits a timber floor above a cellar?",
  "Cork boards breathe and carry weight."];
const train = ["When does the night train to Prague leave?",
  "At 22:10 from platform 4."];

onEachBackend("link decisions", (open) => {
  let api;
  let people = 0;
  before(async () => { api = (await open()).api(); });

  /* Two chats, and a week later a third that begins with `text`. */
  async function third(text) {
    const user = `person${++people}`;
    const first = await chat(api, user, day(1), ...floor);
    await chat(api, user, day(2), ...train);
    const id = await chat(api, user, day(9), text);
    return { id, first, user, link: (await decided(api, id))[0] };
  }

  test("a word of an earlier talk speaks for it", async () => {
    for (const [plain, pointing] of [
      ["I need a price for forty square metres",
        "I need a price for forty square metres of the cork we talked about"],
      ["Does it have to be glued?", "Remember the floor? Does it have to be glued?"],
      ["How thick should the layer be?",
        "Last time you suggested cork. How thick should the layer be?"],
    ]) {
      assert.equal((await third(plain)).link.decision, "no_link", plain);
      const { link, first } = await third(pointing);
      assert.equal(link.decision, "link", pointing);
      assert.equal(link.other_chat_id, first);
      assert.ok(link.signals.seen.includes("an earlier talk is named"));
    }
    /* … of a talk that there was: not of any */
    const { link } = await third("As we discussed, the wedding cake has three tiers");
    assert.notEqual(link.decision === "link" && link.confidence, "high");
  });

  test("said later, it still joins what was kept apart", async () => {
    const { id, first, user } = await third("How thick should the layer be?");
    assert.equal((await decided(api, id))[0].decision, "no_link");
    isOk(await api.post("/api/v1/turns", { user_id: user, chat_id: id, role: "user",
      content: "Didn't we talk about cork boards for the cellar floor?",
      created_at: new Date(day(9) + 120000).toISOString() }), 201);
    const link = (await decided(api, id)).find((one) => one.other_chat_id === first);
    assert.equal(link.decision, "link");
  });

  test("what recurs stays linked, however often it does", async () => {
    let last;
    for (let n = 0; n < 9; n++) {
      const id = await chat(api, "piet", day(1 + 3 * n),
        `The label scanner at gate ${n + 2} lost its wifi again`,
        "Restart the scanner and pair it with the access point.", "It is back online");
      const links = (await decided(api, id)).filter((one) => one.decision === "link");
      if (last) assert.ok(links.some((one) => one.confidence === "high"), `the ${n}th`);
      last = id;
    }
  });

  test("four signals are four numbers, each with its weight", async () => {
    const { link } = await third(
      "I need a price for forty square metres of the cork we talked about");
    const { signals } = link;
    const names = ["keyword", "entity", "topic", "recency"];
    assert.deepEqual(signals.weights, { keyword: 0.3, entity: 0.3, topic: 0.2, recency: 0.2 });
    const sum = names.reduce((all, name) => all + signals[name] * signals.weights[name], 0);
    assert.ok(Math.abs(sum - link.algorithmic) < 1e-9);
    assert.ok(new Set(names.map((name) => signals[name].toFixed(3))).size >= 3,
      JSON.stringify(signals));
    for (const name of names) assert.equal(typeof signals.shared[name], "number");
  });

  test("nothing follows from an uncertain link but the link", async () => {
    const { id, first, user, link } = await third(
      "I need a price for forty square metres of the cork we talked about");
    assert.deepEqual([link.decision, link.confidence], ["link", "uncertain"]);
    /* one more that surely goes on with the first */
    const sure = await chat(api, user, day(11),
      "The cork boards for the timber floor above the cellar arrived");
    const links = (await decided(api, sure)).filter((one) => one.decision === "link");
    assert.ok(links.some((one) => one.confidence === "high"));
    const { items } = isOk(await api.get(`/api/v1/episodes?user_id=${user}`));
    const joined = items.filter((one) => one.type === "cross_chat")
      .map((one) => one.chat_ids ?? one.chats);
    assert.ok(joined.some((ids) => ids.includes(id) && ids.includes(first)));
    assert.ok(!joined.some((ids) => ids.includes(id) && ids.includes(sure)),
      JSON.stringify(joined));
  });

  test("a person's word parts and joins at once, and the last one counts", async () => {
    const { id, first, user } = await third("How thick should the layer be?");
    isOk(await api.post("/api/v1/turns", { user_id: user, chat_id: id, role: "user",
      content: "Didn't we talk about cork boards for the cellar floor?",
      created_at: new Date(day(9) + 120000).toISOString() }), 201);
    const links = await decided(api, id);
    const link = links.find((one) => one.other_chat_id === first);
    const train = links.find((one) => one.other_chat_id !== first);
    const say = async (one, outcome) => isOk(await api.post(`/api/v1/links/${one.id}/feedback`, { outcome }));
    const shown = async () => JSON.stringify(isOk(await api.post(`/api/v1/chats/${id}/context`, { budget_tokens: 2000 })));
    const joined = async () => isOk(await api.get(`/api/v1/episodes?user_id=${user}`)).items
      .filter((one) => one.type === "cross_chat").flatMap((one) => one.chat_ids);
    assert.equal(link.decision, "link");
    assert.deepEqual(isOk(await api.get(`/api/v1/links/${link.id}`)), link);
    assert.match(await shown(), /breathe/);
    assert.ok((await joined()).includes(first));
    await say(link, "incorrect");
    assert.doesNotMatch(await shown(), /breathe/);
    assert.deepEqual(await joined(), []);
    /* nothing that is said later decides it anew */
    isOk(await api.post("/api/v1/turns", { user_id: user, chat_id: id, role: "user",
      content: "As we discussed, the cork boards for the timber floor of the cellar",
      created_at: new Date(day(9) + 240000).toISOString() }), 201);
    assert.deepEqual(await joined(), []);
    await say(link, "correct");
    assert.match(await shown(), /breathe/);
    assert.ok((await joined()).includes(first));
    if (train) {
      assert.equal(train.decision, "no_link");
      await say(train, "incorrect");
      assert.ok((await joined()).includes(train.other_chat_id));
    }
  });

  test("outcomes are inferred: left alone, gone on with, left at once", async () => {
    /* kept apart, and left for another chat */
    const apart = await third("What does a wedding cake for sixty people cost?");
    assert.equal(apart.link.decision, "no_link");
    assert.equal(apart.link.outcome, null);
    await chat(api, apart.user, day(12), "My bicycle has a flat tyre");
    const left = (await decided(api, apart.id))[0];
    assert.deepEqual([left.outcome, left.outcome_by], ["correct", "inferred"]);
    /* linked, and gone on with */
    const on = await third("The cork boards for the timber floor arrived");
    const say = async (one, content) => isOk(await api.post("/api/v1/turns", {
      user_id: one.user, chat_id: one.id, role: "user", content,
      created_at: new Date(day(9) + 300000).toISOString() }), 201);
    await say(on, "How do I cut the cork boards?");
    assert.equal((await decided(api, on.id)).find((one) => one.decision === "link").outcome,
      "correct");
    /* linked, and at once something else, which nobody announced */
    const off = await third("The cork boards for the timber floor arrived");
    await say(off, "Book a table for six at the Italian restaurant on Saturday");
    assert.equal((await decided(api, off.id)).find((one) => one.decision === "link").outcome,
      "incorrect");
  });
});

onEachBackend("link decisions with a model", (open) => {
  let upstream;
  let api;
  before(async () => {
    upstream = await startUpstream({ script: () => [{ text: JSON.stringify({
      related: true, confidence: 0.93, key_signals: ["cork", "same floor"],
      reasoning: "The layer can only be that of the cork boards." }) }] });
    api = (await open({ env: { CLEW_LLM_URL: `${upstream.url}/v1`,
      CLEW_LLM_KIND: "openai", CLEW_LLM_MODEL: "scripted" } })).api();
  });
  after(() => upstream.stop());

  test("the model's reasons are on the record", async () => {
    await chat(api, "ola", day(1), ...floor);
    const id = await chat(api, "ola", day(9), "How thick should the layer be?");
    const link = await until("somebody is asked", async () => {
      const [one] = await decided(api, id);
      return one?.signals.llm && one;
    });
    assert.deepEqual(link.signals.llm, { related: true, confidence: 0.93,
      key_signals: ["cork", "same floor"],
      reasoning: "The layer can only be that of the cork boards." });
    assert.equal(link.decision, "link");
    assert.equal(link.confidence, "uncertain");
    assert.equal(typeof link.signals.keyword, "number");
    /* and go with what they were drawn from */
    const { items } = isOk(await api.get(`/api/v1/chats/${id}/turns`));
    isOk(await api.post("/api/v1/forget", { turn_ids: [items[0].id] }));
    assert.doesNotMatch(JSON.stringify(await decided(api, id)), /cork/);
  });
});
