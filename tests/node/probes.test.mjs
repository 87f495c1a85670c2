/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.test.mjs - what is understood of small talks that are in no data the
 * reader was trained or chosen on, through the program; and docs/demo.jsonl.
 *
 * A reader errs, so a share is asserted and every miss is printed. The share
 * is a floor a little below what was measured: raise it, never fit a probe.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { isOk, isRead, taskUnderWay } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const WANTED = 0.75; /* what it should be */
const FLOOR = 0.88; /* measured: 48 of 51, .94 */

/*
 * What follows from a talk ("u:…", "a:…"): `opens`, an effort of this name is
 * there; `ends`, how it stands at last; `keeps`, a note with these words that
 * still holds; `drops`, none such holds; `silent`, no effort is there;
 * `nothing`, neither effort nor note.
 */
const resolved = { ends: "resolved" };
const stays = { ends: "open" };
const broken = {
  fridge: ["u:The fridge in our kitchen stopped cooling last night",
    "a:Is the door seal tight, and is the fan behind it running?"],
  tests: ["u:The build server throws an out of memory error on every merge",
    "a:Raise the heap limit of the runner and try it once more."],
  bike: ["u:My bike's rear brake squeals so loudly that people turn round",
    "a:Clean the rim with alcohol, then toe in the pads."],
  router: ["u:The router in the attic drops the connection every ten minutes",
    "a:Move it to channel 11 and see whether that helps."],
};

const probes = {
  "problems as plain statements": [
    [["u:The tap in the guest bathroom drips all night"], { opens: /tap/ }],
    [["u:Our checkout rejects every card since the release this morning"],
      { opens: /checkout/ }],
    [["u:The car won't start when it is cold"], { opens: /car/ }],
    [["u:I can't log in to the tax portal any more, it says my certificate is invalid"],
      { opens: /tax portal/ }],
    [["u:The nightly export keeps failing with a timeout after two hours"],
      { opens: /export/ }],
    [["u:My tomato plants have yellow leaves with brown spots"],
      { opens: /tomato/ }],
    [["u:I need to find a new flat in Leipzig before September"],
      { opens: /flat/ }],
  ],
  "off-hand resolutions": [
    [[...broken.fridge, "u:it was the fan, full of dust. ice cold again"], resolved],
    [[...broken.tests, "u:4 GB instead of 2, went straight through. cheers"], resolved],
    [[...broken.bike, "u:alcohol did the trick, silent as a cat now"], resolved],
    [[...broken.router, "u:channel 11 it is, not one drop since yesterday"], resolved],
    [[...broken.fridge, "u:we gave up on it and bought a new fridge"],
      { ends: /^(abandoned|resolved)$/ }],
  ],
  "false friends": [
    [[...broken.tests, "u:perfect, another error"], stays],
    [[...broken.router, "u:it worked yesterday"], stays],
    [[...broken.bike, "u:if that works I'll be happy"], stays],
    [[...broken.router, "u:great, now it drops every five minutes"], stays],
    [[...broken.fridge, "u:the fan is fine and the seal is tight, it is still warm inside"],
      stays],
    [[...broken.tests, "u:how will I know that it is fixed?"], stays],
    [[...broken.bike, "u:my neighbour says hers stopped squealing by itself"], stays],
  ],
  "third-person facts": [
    [["u:My brother Tom works as a nurse in Oslo"], { keeps: /Oslo/, silent: true }],
    [["u:Our neighbour Mrs. Lindqvist has a spare key to the house"],
      { keeps: /spare key/, silent: true }],
    [["u:My daughter Mia is allergic to penicillin"],
      { keeps: /penicillin/, silent: true }],
    [["u:Our accountant is called Ferreira and only answers by phone"],
      { keeps: /Ferreira/, silent: true }],
    [["u:My mother's birthday is on the 14th of May"], { keeps: /14th of May/, silent: true }],
  ],
  "facts of one's own": [
    [["u:I am a vegetarian and I don't eat eggs either"], { keeps: /vegetarian/, silent: true }],
    [["u:I moved from Lyon to Antwerp two years ago"], { keeps: /Antwerp/, silent: true }],
    [["u:We decided to use Postgres for the new booking service"],
      { keeps: /Postgres/, silent: true }],
  ],
  "standing instructions": [
    [["u:Always answer me in British English, please"], { keeps: /British English/ }],
    [["u:From now on keep your answers under five sentences"], { keeps: /five sentences/ }],
    [["u:Never suggest restaurants that serve seafood"], { keeps: /seafood/ }],
    [["u:Please use metric units whenever you give me a recipe"], { keeps: /metric/ }],
  ],
  "updates": [
    [["u:I live in Porto", "a:Lovely city.",
      "u:I moved, I live in Bergen now"],
    { keeps: /Bergen/, drops: /live in Porto/ }],
    [["u:My phone number is 0170 555 0101", "a:Noted.",
      "u:My phone number is 0170 555 0202 now"],
    { keeps: /0202/, drops: /0101/ }],
    [["u:The release is planned for the 3rd of June", "a:Noted.",
      "u:The release is planned for the 17th of June now, not the 3rd"],
    { keeps: /17th/, drops: /for the 3rd of June/ }],
  ],
  "denials": [
    [["u:I don't have a car"], { keeps: /don't have a car/, silent: true }],
    [["u:No, we are not going to hire a second designer this year"],
      { keeps: /not going to hire/, silent: true }],
    [["u:My son is not allergic to nuts, the test came back clean"],
      { keeps: /not allergic/ }],
  ],
  "supposed or asked": [
    [["u:What is the tallest mountain in Austria?"], { nothing: true }],
    [["u:How many grams are in an ounce?"], { nothing: true }],
    [["u:What would happen if I lived in Iceland?"], { nothing: true }],
    [["u:Is it normal that cats sleep all day?"], { nothing: true }],
    [["u:Who wrote Middlemarch?"], { nothing: true }],
    [["u:Can you translate \"good evening\" into Finnish?"], { nothing: true }],
  ],
  "small talk": [
    [["u:hi there!"], { nothing: true }],
    [["u:good morning, how are you today?"], { nothing: true }],
    [["u:haha, that's funny"], { nothing: true }],
    [["u:thanks a lot!"], { nothing: true }],
    [["u:ok, sounds good"], { nothing: true }],
    [["u:see you later, good night"], { nothing: true }],
    [["u:hmm, let me think"], { nothing: true }],
    [["u:you're the best"], { nothing: true }],
  ],
};

async function say(api, user, lines) {
  let chat;
  for (const line of lines) {
    const said = isOk(await api.post("/api/v1/turns", {
      user_id: user, role: line[0] === "u" ? "user" : "assistant",
      content: line.slice(2),
      ...(chat ? { chat_id: chat } : { channel: "web" }),
    }), 201);
    chat = said.turn.chat_id;
  }
  const all = isOk(await api.get(`/api/v1/memories?user_id=${user}&limit=100`)).items;
  return {
    efforts: isOk(await api.get(`/api/v1/efforts?chat_id=${chat}&all=1`)).items
      .filter((one) => !one.parent_id),
    notes: all.filter((one) => one.type !== "effort" && one.status === "active" &&
      !one.superseded),
  };
}

function misses(want, { efforts, notes }) {
  const said = [];
  const tells = (one) => one.summary;
  if (want.opens && !efforts.some((one) => want.opens.test(one.summary))) {
    said.push(`opens no ${want.opens}`);
  }
  if (want.ends && (efforts.length === 0 || !efforts.every((one) =>
    want.ends instanceof RegExp ? want.ends.test(one.status) : one.status === want.ends))) {
    said.push(`want ${want.ends}, is ${efforts.map((one) => `${one.status}: ${one.summary}`).join("; ") || "no effort"}`);
  }
  if (want.keeps && !notes.some((one) => want.keeps.test(one.summary))) {
    said.push(`keeps no ${want.keeps}`);
  }
  const held = want.drops && notes.find((one) => want.drops.test(one.summary));
  if (held) said.push(`still holds "${held.summary}"`);
  if ((want.silent || want.nothing) && efforts.length > 0) {
    said.push(`opens ${efforts.map(tells).join("; ")}`);
  }
  if (want.nothing && notes.length > 0) said.push(`keeps ${notes.map(tells).join("; ")}`);
  return said;
}

test("small talks are understood", { timeout: 600_000 }, async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const api = server.api();
  let count = 0;
  let right = 0;
  const kept = [];
  for (const [group, items] of Object.entries(probes)) {
    let here = 0;
    for (const [lines, want] of items) {
      const found = misses(want, await say(api, `probe-${count++}`, lines));
      if (found.length === 0) here++;
      else t.diagnostic(`miss, ${group}: "${lines.at(-1).slice(2)}": ${found.join(", ")}`);
      if (found.length > 0 && group === "small talk") kept.push(lines[0]);
    }
    right += here;
    t.diagnostic(`${group}: ${here} of ${items.length}`);
  }
  t.diagnostic(`${right} of ${count} right (${(100 * right / count).toFixed(1)} %, `
    + `wanted ${100 * WANTED} %)`);
  assert.ok(count >= 40);
  assert.deepEqual(kept, [], "small talk leaves nothing");
  assert.ok(right / count >= FLOOR, `${right} of ${count}`);
});

test("an end stays what it was, and a trace says what was seen", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const api = server.api();
  const said = [];
  for (const [role, content] of [["user", "I can't get into the school portal since Monday"],
    ["assistant", "Clear the cookies of that site and try once more."],
    ["user", "I'm in, cheers"],
    ["user", "Storage unit went up to 81 a month"],
    ["user", "please always answer me in metric units"]]) {
    said.push(isOk(await api.post("/api/v1/turns", { user_id: "kim", role, content }), 201).turn);
  }
  const { items } = isOk(await api.get("/api/v1/memories?user_id=kim"));
  const efforts = items.filter((one) => one.type === "effort" && !one.parent_id);
  assert.deepEqual(efforts.map((one) => one.status), ["resolved"]);
  assert.match(efforts[0].resolution, /cookies/);
  /* who goes on speaking of something else leans on nothing */
  assert.ok(items.some((one) => one.summary === said[4].text), items.map((one) => one.summary).join("\n"));
  const { decisions: { reading } } = isOk(await api.get(`/api/v1/traces/${said[2].id}`));
  assert.match(reading.by, /^clew-reader/);
  assert.equal(reading.sentences[0].act, "resolves");
  assert.ok(reading.sentences[0].act_score > 0.5 && reading.sentences[0].text.startsWith("I'm in"));
  assert.match((await server.clew("why", "--url", server.url, said[2].id)).stdout, /What the reader sees[\s\S]*resolves, \d+ %/);
});

test("people are called by their names, whatever their role", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const api = server.api();
  for (const [role, name, content] of [
    ["user", "Ines", "Our choir sings in the old brewery now. Where did you put the music stands?"],
    ["assistant", "Tomas", "I put your twelve music stands into my garage in Elm Street."]]) {
    isOk(await api.post("/api/v1/turns", { user_id: "choir", role, name, content }), 201);
  }
  const { items } = isOk(await api.get("/api/v1/memories?user_id=choir"));
  const stands = items.find((one) => /Elm Street/.test(one.summary));
  assert.ok(stands, items.map((one) => one.summary).join("\n"));
  assert.equal(stands.fields.source, "Tomas");
  assert.match(stands.summary, /^\[to Ines\] I put your twelve/);
});

test("the demo", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const api = server.api();
  const turns = fs.readFileSync(path.join(here, "../../docs/demo.jsonl"), "utf8")
    .trim().split("\n").map((line) => JSON.parse(line));
  const told = []; /* of links, with the words that were answered so */
  for (const turn of turns) {
    const { updates } = isOk(await api.post("/api/v1/turns", turn), 201);
    told.push(...updates.links.map(({ decision }) => `${decision}: ${turn.content}`));
  }
  await isRead(api);
  await until("nothing is under way", async () => !await taskUnderWay(api)); /* links are read, too */
  const all = isOk(await api.get("/api/v1/memories?user_id=ada&limit=100")).items;
  const boiler = all.find((one) => one.type === "effort" && /boiler/.test(one.summary));

  await t.test("the repair of the boiler is resolved", () => {
    assert.equal(boiler?.status, "resolved");
  });
  await t.test("it was resolved by the pump bearing", () => {
    assert.match(boiler.resolution, /pump bearing/);
  });
  await t.test("the price and the guarantee are kept", () => {
    assert.ok(all.some((one) => one.type === "fact" && one.status === "active"
      && /280 euros/.test(one.summary) && /guarantee/.test(one.summary)));
  });
  await t.test("the planning meeting is not linked to the boiler, its repair is", async () => {
    const chats = isOk(await api.get("/api/v1/chats?user_id=ada")).items;
    const [planning, repaired] = [/planning meeting/, /Okafor was here/].map((words) =>
      chats.find((one) => words.test(one.summary)));
    const links = isOk(await api.get("/api/v1/links?user_id=ada")).items
      .filter((one) => one.decision === "link");
    const isLinked = ({ id }) => links.some((one) => one.chat_id === id || one.other_chat_id === id);
    assert.ok(isLinked(repaired));
    assert.ok(!isLinked(planning));
    /* nor is it told so before the reader has undone what words suggest */
    assert.ok(told.some((line) => /^link: Okafor was here/.test(line)));
    assert.ok(!told.some((line) => /^link: .*planning meeting/.test(line)));
  });
});
