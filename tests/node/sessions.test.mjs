/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.test.mjs - sessions end by the clock, and what follows from it.
 *
 * Nobody speaks after the turns that are stored here: what happens, happens on
 * an idle server. Turns are told with times of the past, so that their silence
 * is over without anybody having to wait for it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { until } from "./lib/wait.mjs";

const minutes = (n) => new Date(Date.now() - n * 60_000).toISOString();

const say = async (api, at, content, extra = {}) => isOk(await api.post("/api/v1/turns", {
  user_id: "noor", role: "user", channel: "sms", created_at: minutes(at), content, ...extra,
}), 201);
const sessionsOf = async (api, chat) =>
  isOk(await api.get(`/api/v1/sessions?chat_id=${chat}`)).items;
const ended = (api, chat) => until("the session ends", async () => {
  const list = await sessionsOf(api, chat);
  return list.length > 0 && list.every((s) => s.ended_at && s.summary) && list;
});

onEachBackend("row 5, sessions end by the clock", (open) => {
  test("an idle server ends a session, sums it up and compacts its chat", async () => {
    const server = await open();
    const api = server.api(await server.key("row5"));
    const first = await say(api, 95, "Our greenhouse heater trips the breaker every night around two");
    const chat = first.chat.id;
    await say(api, 94, "The heater draws 16 amps and the breaker is rated for ten", { });
    const [session] = await ended(api, chat);
    assert.equal(session.ended_at, session.last_activity_at);
    assert.match(session.summary, /heater|breaker/);
    await until("the chat is compacted", async () => {
      const { items } = isOk(await api.get(`/api/v1/episodes?chat_id=${chat}`));
      return items.some((e) => e.cause === "end" && e.micro);
    });
    const { items } = isOk(await api.get("/api/v1/tasks?limit=200"));
    const checks = items.filter((t) => t.kind === "check_chain_dormancy");
    assert.ok(checks.length > 0, "the chains of the session are looked at a day later");
    for (const check of checks) assert.equal(check.status, "pending");
    await server.stop();
  });

  test("a turn of the past that is told late goes on with its session", async () => {
    const server = await open();
    const api = server.api(await server.key("late"));
    const { chat } = await say(api, 300, "I want to repaint the hallway in sage green");
    await ended(api, chat.id);
    await say(api, 290, "two litres of paint should be enough for it");
    const list = await sessionsOf(api, chat.id);
    assert.equal(list.length, 1, "ten minutes are no silence");
    await ended(api, chat.id);
    const next = await say(api, 200, "new topic: the boiler needs its service");
    assert.notEqual(next.chat.id, chat.id, "ninety minutes are");
    await ended(api, next.chat.id);
    const verified = await server.clew("verify");
    assert.match(verified.stdout, /ok|sound|no faults/i, verified.stdout);
    await server.stop();
  });

  test("a chain that went to rest too early is gone on with", async () => {
    const server = await open();
    const api = server.api(await server.key("rest"));
    const days = 4 * 24 * 60;
    const { chat } = await say(api, days, "The insurance for the van wants 612 pounds for the renewal");
    const chains = async () => isOk(await api.get(`/api/v1/chains?chat_id=${chat.id}`)).items;
    await until("the chain rests", async () => (await chains()).some((c) => c.state === "dormant"));
    const next = await say(api, days - 2, "Noted. I'll gather some offers.", { role: "assistant", chat_id: chat.id });
    assert.deepEqual(next.updates.chains.map((u) => u.type), ["extend"], "two minutes later");
    assert.equal((await chains()).length, 1);
    await until("it rests again", async () => (await chains()).every((c) => c.state === "dormant"));
    await server.stop();
  });

  test("a session that a person ended stays ended", async () => {
    const server = await open();
    const api = server.api(await server.key("hand"));
    const { chat } = isOk(await api.post("/api/v1/turns", {
      user_id: "noor", role: "user", channel: "web", content: "Let us plan the allotment beds" }), 201);
    const [one] = await sessionsOf(api, chat.id);
    assert.equal(one.ended_at, null, "half an hour is not over");
    isOk(await api.post(`/api/v1/sessions/${one.id}/end`));
    await say(api, 0, "and the compost too", { chat_id: chat.id });
    const both = await sessionsOf(api, chat.id);
    assert.equal(both.length, 2);
    assert.equal(both[1].ended_at, null);
    await server.stop();
  });

  test("users have timeouts of their own", async () => {
    const server = await open();
    const api = server.api(await server.key("own"));
    const set = isOk(await api.patch("/api/v1/users/noor", { inactivity_minutes: 120 }));
    assert.equal(set.inactivity_minutes, 120);
    const first = await say(api, 100, "Which seedlings can go out in April?");
    assert.equal(first.chat.inactivity_timeout_minutes, 120);
    const second = await say(api, 10, "peas, I suppose");
    assert.equal(second.chat.id, first.chat.id, "ninety minutes are within two hours");
    const [session] = await sessionsOf(api, first.chat.id);
    assert.equal(session.ended_at, null);
    /* on a chat of the web as well, where silence ends sessions alone */
    const web = isOk(await api.post("/api/v1/turns", { user_id: "noor", role: "user", channel: "web",
      created_at: minutes(115), content: "Draw me a plan of the beds" }), 201);
    await say(api, 20, "with a path in the middle", { channel: "web", chat_id: web.chat.id });
    assert.equal((await sessionsOf(api, web.chat.id)).length, 1);

    isOk(await api.patch("/api/v1/users/noor", { inactivity_minutes: 5 }));
    isOk(await api.patch("/api/v1/users/n%C3%A9w%20one", { inactivity_minutes: 7 }));
    const { items } = isOk(await api.get("/api/v1/users"));
    assert.equal(items.find((u) => u.user_id === "noor").inactivity_minutes, 5);
    const third = await say(api, 1, "and beans");
    assert.notEqual(third.chat.id, first.chat.id, "nine minutes are more than five");
    await ended(api, first.chat.id);
    assert.equal(isOk(await api.patch("/api/v1/users/noor", { inactivity_minutes: null })).inactivity_minutes, null);
    isError(await api.patch("/api/v1/users/noor", { inactivity_minutes: 0 }), 400, "VALIDATION_ERROR", "inactivity_minutes");
    isError(await api.patch("/api/v1/users/noor", { inactivity_minutes: 525601 }), 400, "VALIDATION_ERROR", "inactivity_minutes");
    isError(await api.patch("/api/v1/users/noor", {}), 400, "VALIDATION_ERROR", "inactivity_minutes");
    await server.stop();
  });
});

/* A session of a kitchen's planning: greetings, a caption, hedges, a decision, an open end. */
const kitchen = [
  ["user", "good evening!"],
  ["assistant", "Good evening! What can I do for you today?"],
  ["user", "Our kitchen tap drips all day and I'd like to know what to replace"],
  ["assistant", "Here is what to look at:\nA dripping tap mostly has a worn ceramic cartridge. Close the angle valve before you open it."],
  ["user", "I might go with a whole new tap instead"],
  ["assistant", "A cartridge is 15 euros, a decent tap is 120 euros."],
  ["user", "Then we'll go with the cartridge, size 35 mm"],
  ["assistant", "Good choice. Measure the old one before you order it."],
  ["user", "The old one says 40 mm on its side"],
  ["assistant", "Then order the 40 mm cartridge instead of the 35 mm one."],
  ["user", "We haven't decided who fits it, my brother-in-law or the plumber"],
  ["user", "Will the landlord pay for it?"],
];

onEachBackend("what a session's summary tells", (open) => {
  const summed = async (api, turns) => {
    let chat;
    for (const [i, [role, content]] of turns.entries()) {
      chat = (await say(api, 200 - i, content, { role, channel: "web", ...(chat ? { chat_id: chat } : {}) })).chat.id;
    }
    const [{ summary }] = await ended(api, chat);
    return { summary, line: (name) => summary.split("\n").find((l) => l.startsWith(`${name}: `)) ?? "" };
  };

  test("who tells something wants nothing, and what was kept comes before reactions", async () => {
    const server = await open();
    const api = server.api(await server.key("told"));
    const { summary, line } = await summed(api, [
      ["user", "Our ferry to Bergen leaves on 14 July at 9:40 from pier 3."],
      ["assistant", "Noted."],
      ["user", "My sister Ragna is allergic to penicillin."],
      ["assistant", "Good to know."],
      ["user", "did that"],
      ["assistant", "Great."],
      ["user", "ah well"],
    ]);
    assert.equal(line("Wanted"), "", summary);
    assert.match(line("Found"), /14 July at 9:40.*penicillin/, summary);
    assert.doesNotMatch(summary, /did that|ah well/, summary);
    await server.stop();
  });

  test("a talk of which nothing is kept says what it began with", async () => {
    const server = await open();
    const api = server.api(await server.key("began"));
    const { summary, line } = await summed(api, [
      ["user", "Funny film, that one with the parrot and the two policemen."],
      ["assistant", "A classic."],
    ]);
    assert.equal(line("Wanted"), "", summary);
    assert.match(summary, /^(Began with|Found): .*parrot/m, summary);
    await server.stop();
  });

  test("what came of an effort after the session is no part of it", async () => {
    const server = await open();
    const api = server.api(await server.key("later"));
    const { chat } = await say(api, 20, "The boiler knocks all night, please help me to get it quiet.", { channel: "web" });
    const [effort] = isOk(await api.get(`/api/v1/efforts?chat_id=${chat.id}`)).items;
    assert.ok(effort, "an effort is open");
    isOk(await api.post(`/api/v1/memories/${effort.id}/resolve`, { resolution: "bled the radiators" }));
    const [{ id }] = await sessionsOf(api, chat.id);
    isOk(await api.post(`/api/v1/sessions/${id}/end`));
    const [{ summary }] = await ended(api, chat.id);
    assert.match(summary, /Left open: "The boiler knocks/, summary);
    assert.doesNotMatch(summary, /radiators/, summary);
    await server.stop();
  });
});

onEachBackend("row 6, summaries say what came of it", (open) => {
  test("a session's summary tells wanted, found, decided and open, and who said it", async () => {
    const server = await open();
    const key = await server.key("row6");
    const api = server.api(key);
    let chat;
    for (const [i, [role, content]] of kitchen.entries()) {
      const told = await say(api, 200 - i, content, { role, channel: "web", ...(chat ? { chat_id: chat } : {}) });
      chat = told.chat.id;
    }
    const [{ summary }] = await ended(api, chat);
    const line = (name) => summary.split("\n").find((l) => l.startsWith(`${name}: `)) ?? "";
    assert.match(line("Wanted"), /kitchen tap drips.*\(user\)/, summary);
    assert.match(line("Found"), /cartridge.*\(assistant\)/, summary);
    assert.match(line("Decided"), /we'll go with the cartridge.*\(user\)/, summary);
    assert.doesNotMatch(line("Decided"), /might|haven't/, summary);
    assert.match(line("Left open"), /who fits it.*\(user\).*landlord/, summary);
    assert.doesNotMatch(summary, /evening|Here is what/, "greetings and captions are no content");

    const [episode] = await until("it is compacted", async () => {
      const { items } = isOk(await api.get(`/api/v1/episodes?chat_id=${chat}`));
      return items.every((e) => e.micro) && items;
    });
    for (const text of [episode.micro, episode.meso, episode.macro]) {
      assert.doesNotMatch(text, /evening|Here is what to look at/i, text);
    }
    assert.match(episode.meso, /tap drips/);
    assert.match(episode.macro, /Decided: Then we'll go with the cartridge/, episode.macro);
    assert.doesNotMatch(episode.macro, /Decided:.*(might|haven't)/, episode.macro);
    assert.match(episode.macro, /Open: .*landlord/, episode.macro);

    /* on the command line */
    const shown = await server.clew("sessions", chat, "--tenant", "row6");
    assert.match(shown.stdout, /Decided: .*cartridge/);
    assert.match((await server.clew("episodes", "--chat", chat, "--tenant", "row6")).stdout, /tap drips/);

    /* and in the next session's context, cut between sentences if at all */
    await say(api, 1, "I am back, where were we?", { channel: "web", chat_id: chat });
    for (const budget of [600, 4000]) {
      const { text } = isOk(await api.post(`/api/v1/chats/${chat}/context`, { budget_tokens: budget }));
      const told = text.split("\n").find((l) => l.startsWith("- Last session")) ?? "";
      assert.match(told, budget < 1000 ? /Left open: "/ : /Decided: .*Left open: .*landlord pay for it\?" \(user\)/, text);
      assert.equal((told.match(/"/g) ?? []).length % 2, 0, `cut within what was said: ${told}`);
    }
    assert.match((await server.clew("verify", "--tenant", "row6")).stdout, /ok|sound|no faults/i);
    await server.stop();
  });

  test("what is quoted is whole in any script, or says that it goes on", async () => {
    const server = await open();
    const api = server.api(await server.key("quotes"));
    const whole = "金曜日までに企画書を田中さんに出さないといけないのに、まだ一行も書けていません";
    const { chat } = await say(api, 90, whole, { channel: "web" });
    await say(api, 89, `${"予算".repeat(70)}はいつですか？`, { channel: "web", chat_id: chat.id });
    const [{ summary }] = await ended(api, chat.id);
    assert.ok(summary.includes(`"${whole}"`), summary);
    assert.doesNotMatch(summary, /いつですか/);
    assert.match(summary, /(予算)+…"/);
    await server.stop();
  });

  test("a session of greetings says that it was one", async () => {
    const server = await open();
    const api = server.api(await server.key("hello"));
    const { chat } = await say(api, 90, "hey, how are you?", { channel: "web" });
    await say(api, 89, "Hello! I'm doing great, thanks. How can I help you today?", { role: "assistant", channel: "web", chat_id: chat.id });
    const [{ summary }] = await ended(api, chat.id);
    assert.equal(summary, "Nothing was said beyond greetings.");
    await server.stop();
  });
});

/* Two matters, the second one is talked about last; then what comes after. */
const matters = [
  ["user", "The slides for the spring review need a new cover picture."],
  ["assistant", "A photo of the harbour would suit the slides."],
  ["user", "The hedge behind the garage has to be trimmed before June."],
  ["assistant", "Hedges are best trimmed after the birds have left."],
];
async function goOn(api, user_id, ...more) {
  const out = [];
  let chat_id;
  for (const [i, [role, content]] of [...matters, ...more].entries()) {
    const told = isOk(await api.post("/api/v1/turns", { user_id, role, content,
      ...(chat_id ? { chat_id } : { channel: "app" }), created_at: minutes(60 - i) }), 201);
    chat_id = told.turn.chat_id;
    out.push(told.updates.chains);
  }
  return out;
}
const kinds = (updates) => updates.map((one) => one.type);

onEachBackend("row 7, chains", (open) => {
  test("conclusions mean it, a concluded matter is branched from, a subject announced is one", async () => {
    const server = await open();
    const api = server.api(await server.key("row7"));
    for (const [i, words] of ["I'm not done with this yet",
      "when I'm done with the hedge I'll look at the gutter",
      'my uncle keeps saying "that settles it" about everything'].entries()) {
      const said = await goOn(api, `no${i}`, ["user", words]);
      assert.ok(!said.flat().some((one) => one.type === "conclude"), words);
    }
    const done = await goOn(api, "done", ["user", "that's the slides finished"],
      ["user", "The cover picture of the slides looks blurred after all."]);
    const [slides, hedge] = [done[0][0].chain_id, done[2][0].chain_id];
    assert.notEqual(slides, hedge);
    assert.deepEqual(done[4].map((one) => [one.type, one.chain_id]),
      [["extend", slides], ["conclude", slides]]);
    assert.deepEqual(kinds(done[5]), ["branch"]);
    const after = isOk(await api.get(`/api/v1/chains/${done[5][0].chain_id}`));
    assert.equal((after.chain ?? after).branches_from, slides);
    const fresh = await goOn(api, "new",
      ["user", "New subject: our cat Mimi needs her yearly shots."]);
    assert.match(kinds(fresh[4]).join(), /^(branch|create)$/);
    assert.ok(![fresh[0], fresh[2]].some(([one]) => one.chain_id === fresh[4][0].chain_id));
    await server.stop();
  });

  test("revived is said of dormant chains only", async () => {
    const server = await open();
    const api = server.api(await server.key("row7b"));
    await goOn(api, "back");
    const [again] = isOk(await api.post("/api/v1/turns", { user_id: "back", role: "user",
      channel: "email", created_at: minutes(5),
      content: "The hedge behind the garage: is June too late to have it trimmed?" }), 201)
      .updates.chains;
    assert.equal(again.type, "extend");
    assert.match(again.reasoning, /^Back to /);
    await server.stop();
  });
});
