/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.test.mjs - turns that come together are read in the background, and
 * mean what they would have meant one by one: notes, efforts, topics, and which
 * chats belong together.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { until } from "./lib/wait.mjs";

/* Chats of one person over some days; the first and the last are one matter, as
 * are the second and the fourth. */
const talks = [
  ["The espresso machine at the bakery drips from the steam wand, milk foam is hopeless",
    "Most likely the seal of the steam valve. Which model is it?",
    "A Rancilio Classe 5, bought second-hand from Ottilie in 2019",
    "Then order seal kit 69000130, and close the valve with two fingers only.",
    "Ordered it, comes on Friday",
    "Good. Descale it before you put the new seal in."],
  ["My sister Noor moves to Aarhus in August, can you help plan the trip with her piano?",
    "A piano of 220 kilos wants a removal firm with a stair crawler.",
    "She lives on the third floor, no lift",
    "Then ask for a crane as well, and for insurance in transit.",
    "ok, will ask Brandt & Søn"],
  ["What is a good name for a sourdough with walnuts?",
    "Walnut Wake, or simply Nutty Miller.",
    "haha, Nutty Miller it is"],
  ["Brandt & Søn want 1,850 euros for Noor's piano, with the crane",
    "That is fair for a third floor.",
    "We take it. They come on 14 August at eight",
    "Noted. Have the stairs measured before.",
    "done, 96 centimetres",
    "Then it fits."],
  ["the new seal is in the Rancilio, and the steam wand still drips",
    "Did you descale it, and is the valve seat scratched?",
    "Descaled yes. The seat had a groove, so I had it ground at Mendler's",
    "And now?",
    "dry as a bone, foam like in Trieste",
    "Glad to hear it."],
].map((texts, chat) => texts.map((content, i) => ({
  chat, role: i % 2 ? "assistant" : "user", content, external_id: `${chat}/${i}`,
  created_at: new Date(Date.UTC(2026, 4, 3 + 3 * chat, 17, 2 * i)).toISOString(),
}))).flat();

const fields = (...names) => (row) => Object.fromEntries(names.map((name) => [name, row[name]]));

onEachBackend("turns of a batch", (open) => {
  /* What is derived once `size` turns at a time were told. */
  async function told(size) {
    const server = await open();
    const api = server.api();
    const all = async (what) => isOk(await api.get(`/api/v1/${what}?user_id=ada&limit=200`)).items;
    const chats = [];
    for (const turn of talks) {
      chats[turn.chat] ??= isOk(await api.post("/api/v1/chats",
        { user_id: "ada", channel: "app" }), 201).id;
    }
    for (let at = 0; at < talks.length; at += size) {
      const turns = talks.slice(at, at + size).map(({ chat, ...turn }) =>
        ({ user_id: "ada", chat_id: chats[chat], ...turn }));
      isOk(await api.post("/api/v1/turns", { turns }), 201);
      if (size === 1) {
        await until("it is read",
          async () => isOk(await api.get("/healthz")).reading.waiting === 0);
      }
    }
    await until("all is read",
      async () => isOk(await api.get("/healthz")).reading.waiting === 0);
    const sorted = (rows) => rows.map((row) => chats.reduce(
      (text, id, i) => text.replaceAll(id, `chat ${i}`), JSON.stringify(row))).sort();
    await server.clew("verify");
    return {
      memories: sorted((await all("memories")).map(
        fields("type", "status", "summary", "resolution", "fields"))),
      links: sorted((await all("links")).map(fields("chat_id", "other_chat_id", "decision",
        "confidence", "algorithmic", "created_at"))),
      chains: sorted((await all("chains")).map(
        fields("topic", "started_at", "last_extended", "claim_count"))),
    };
  }

  test("mean what they mean one by one", async () => {
    const single = await told(1);
    const linked = single.links.filter((link) => link.includes('"link"'));
    assert.ok(linked.length > 0, "nothing is linked");
    assert.ok(single.memories.length > 3);
    for (const size of [7, talks.length]) {
      const batch = await told(size);
      for (const kind of Object.keys(single)) {
        assert.deepEqual(batch[kind], single[kind], `${kind} of batches of ${size}`);
      }
    }
  });
});
