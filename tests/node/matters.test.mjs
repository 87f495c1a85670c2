/* SPDX-License-Identifier: Apache-2.0 */
/* matters.test.mjs - one person, many matters: what answers is of the matter
 * that is asked about, and so is what a context tells. */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isPlaced, isRead } from "./lib/check.mjs";

/* A chat each: its day, and what was said ("> " by the assistant). */
const talks = [
  ["2026-02-14", "Milo has been scratching his ear since Thursday and it smells like old bread",
    "> A yeasty smell and scratching point to an ear infection. A vet should take a swab.",
    "he's a cocker spaniel so yes, floppy as it gets. Vet has a slot at 4",
    "vet was Dr Okafor, she says Malassezia, drops twice a day for ten days."],
  ["2026-03-02", "We have a wet patch on the bedroom ceiling again, right under the chimney.",
    "> A patch that comes back under a chimney usually means the flashing has failed.",
    "I went up into the loft, the felt is soaked along the back of the stack. So the roof it is",
    "> Then I'd get a roofer to look at the lead flashing and the back gutter."],
  ["2026-03-11", "Holloway was here for the roof. The flashing is gone and about 40 slates have slipped. Quote is 6,850 including scaffold.",
    "> That is plausible for a stack re-lead with forty slates.",
    "Holloway gives 10 years on the lead flashing, Pritchard only two."],
  ["2026-03-15", "Planning two weeks in Scotland in August with my girlfriend.",
    "> The West Highland Way is 154 km. Which part appeals to you?",
    "My girlfriend Alena thinks we should only do Rannoch Moor to Fort William, four days, and then an island"],
  ["2026-03-18", "restored the backup on a spare VM, took 6 hours, but all 212,000 invoices are there",
    "> Six hours tells you what your downtime would be in the worst case.",
    "there is a cron job at 02:15 that sends the dunning letters, and a samba share the accountants use"],
  ["2026-03-30", "Der Medizinische Dienst war da, 50 Minuten lang. Meine Schwester Kathrin war dabei",
    "> Der Bescheid kommt meist nach zwei bis drei Wochen."],
  ["2026-04-24", "violin teacher Frau Seidl is leaving. Lotte is heartbroken, five years with her",
    "> Perhaps Frau Seidl can recommend someone who teaches in the same way.",
    "trial lesson went well, Lotte laughed the whole time. Tuesdays at half past four from now on"],
  ["2026-04-28", "go-live of the invoicing was planned for 30 May but auditors are in the house, so we do it on 13 June",
    "> I'd freeze changes to the old system a week earlier."],
  ["2026-05-04", "Roof is done but now the gutter at the back drips. Holloway comes back on the 12th.",
    "> Keep the last payment until the gutter is right."],
  ["2026-05-06", "rehearsal moved to Mondays, Kofi has evening classes now",
    "my amp hums. Bought a used Fender Deluxe from a guy in Augsburg for 620",
    "drummer is my brother-in-law Matti, he lends me his van for the gig"],
  ["2026-05-09", "airline moved our flight home to the 23rd, two in the afternoon. Fine with us, one more night in Glasgow",
    "no hotel, Alena's cousin Pavel lives in Partick, we sleep on his couch"],
];

onEachBackend("matters", (open) => {
  let api;
  const ask = async (query) => isOk(await api.post("/api/v1/recall",
    { query, user_id: "u", kinds: ["turn"], at: "2026-05-25T12:00:00Z" }));
  before(async () => {
    api = (await open()).api();
    for (const [day, ...turns] of talks) {
      const chat = isOk(await api.post("/api/v1/chats", { user_id: "u" }), 201);
      for (const [i, text] of turns.entries()) {
        isOk(await api.post("/api/v1/turns", { user_id: "u", chat_id: chat.id,
          role: text.startsWith("> ") ? "assistant" : "user", content: text.replace(/^> /, ""),
          created_at: `${day}T10:0${i}:00Z` }), 201);
      }
    }
    await isRead(api);
    await isPlaced(api);
  });

  test("a later turn of another matter is no update", async () => {
    for (const [query, answer] of [
      ["how long did restoring the backup take?", /took 6 hours/],
      ["at what time do the dunning letters go out?", /02:15/]]) {
      const { items } = await ask(query);
      assert.match(items[0].text, answer, query);
    }
  });

  test("a name beside what somebody is to one tells who that is", async () => {
    for (const [query, answer] of [
      ["what is my girlfriend's name?", /girlfriend Alena/],
      ["What's the name of my girlfriend?", /girlfriend Alena/],
      ["what's my brother-in-law called?", /brother-in-law Matti/],
      ["wie heißt meine Schwester?", /Schwester Kathrin/]]) {
      const { items, answered } = await ask(query);
      assert.match(items[0].text, answer, query);
      assert.equal(answered, "yes", query);
    }
    for (const query of ["what is my brother's name?", "what's my aunt's name?", "wie heißt meine Tante?"]) {
      assert.notEqual((await ask(query)).answered, "yes", query);
    }
  });

  test("a context is of the matter asked about", async () => {
    const { id } = isOk(await api.post("/api/v1/chats", { user_id: "u" }), 201);
    const context = isOk(await api.post(`/api/v1/chats/${id}/context`,
      { message: "where were we with the roof?", budget_tokens: 1200 }));
    assert.match(context.text, /gutter at the back drips/);
    assert.match(context.text, /40 slates/);
    assert.doesNotMatch(context.text, /Malassezia|dunning|Fender|violin/);
    assert.ok(context.left_out.some((one) => one.reason === "other_matter"));
  });
});
