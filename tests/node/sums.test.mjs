/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.test.mjs - what was said comes before what sums it up, and what holds
 * before what held: of the very thing that is asked about.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";
import { until } from "./lib/wait.mjs";

/* One matter through three chats: they have an episode of their own. */
const chats = [
  ["The telescope on the school roof drifts: Jupiter leaves the field after a minute.",
    "Check the polar alignment and the drive's worm gear.",
    "The worm gear has play, about half a turn.",
    "Then shim it; a brass washer of 0.3 mm does it."],
  ["The telescope on the school roof still drifts, Jupiter is gone after three minutes now.",
    "Better than one. Did you shim the worm gear?",
    "Yes, with a washer of 0.3 mm. Mr Okafor lent me his micrometer.",
    "Then the rest is polar alignment."],
  ["Polar alignment of the telescope on the school roof is done, Jupiter stays for twenty minutes.",
    "Lovely. Write down the azimuth so that you find it again.",
    "Azimuth mark is at 4.5 on the brass ring, and I painted it red."],
];
/* Two things in one breath, of which one changes. */
const told = "We rent fourteen deck chairs for the observing night, and Farid pays the deposit.";
const changed = "Ten chairs will do, the scouts bring blankets.";

onEachBackend("sums and changes", (open) => {
  let api;

  const say = async (day, texts) => {
    const { id } = isOk(await api.post("/api/v1/chats", { user_id: "eva", channel: "app" }), 201);
    for (const [i, content] of texts.entries()) {
      isOk(await api.post("/api/v1/turns", {
        user_id: "eva", chat_id: id, content, role: i % 2 ? "assistant" : "user",
        created_at: new Date(Date.UTC(2026, 2, day, 9, i)).toISOString(),
      }), 201);
    }
  };
  const recall = async (query) =>
    isOk(await api.post("/api/v1/recall", { query, user_id: "eva" })).items;

  before(async () => {
    api = (await open()).api();
    for (const [i, texts] of chats.entries()) await say(2 + 7 * i, texts);
    await say(20, [told]);
    await say(28, [changed]);
    await isRead(api);
  });

  test("the turn that answers comes before the episode that holds it", async () => {
    await until("an episode of all three", async () =>
      isOk(await api.get("/api/v1/episodes?user_id=eva")).items
        .some((one) => one.type === "cross_chat"));
    const items = await recall("How did I deal with the worm gear?");
    assert.equal(items[0].kind, "turn");
    assert.equal(items[0].text, chats[1][2]);
    /* … which is no better for holding it */
    const sum = items.findIndex((one) => one.kind === "episode");
    for (const one of items.slice(0, Math.max(sum, 0))) {
      assert.ok(one.score >= items[sum].score);
    }
  });

  test("what changed is first for who asks about it, and only for them", async () => {
    assert.equal((await recall("How many deck chairs do we rent?"))[0].text, changed);
    assert.equal((await recall("Who pays the deposit for the chairs?"))[0].text, told);
  });
});
