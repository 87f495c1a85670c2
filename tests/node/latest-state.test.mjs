/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latest-state.test.mjs - 500 made-up histories of facts: how often the value
 * that holds at their end ranks first.
 *
 * Two ways in: agents that contribute, refine, consolidate and take back
 * thoughts (at least 99 of 100), and people whose turns change a fact, arriving
 * in any order (what the reader makes of short sentences counts too: 136 of
 * 150 are right). All
 * histories of one way share a tenant, and many share a subject, so that each
 * question has others to be confused with. The dice are always the same.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { onEachBackend } from "./lib/backends.mjs";
import { client } from "./lib/server.mjs";

/* Which store it is has no say in the ranking: fewer on the second. */
const SIZES = {
  sqlite: { thoughts: 350, turns: 150 },
  postgres: { thoughts: 70, turns: 45 },
};
const LEAST_THOUGHTS = 0.99;
const LEAST_TURNS = 0.85;

/* mulberry32 */
function dice(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  const shuffle = (list) => {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const k = below(i + 1);
      [out[i], out[k]] = [out[k], out[i]];
    }
    return out;
  };
  return { below, shuffle, pick: (list) => list[below(list.length)] };
}

/* --- thoughts --- */

const people = ["Alice Moreno", "Bashir Khan", "Chloe Weber", "Daniel Osei",
  "Elif Demir", "Farid Haddad", "Greta Lind", "Hana Suzuki", "Ivan Petrov",
  "Jonas Meyer", "Keiko Mori", "Lucia Rossi", "Mateo Silva", "Nadia Rahman"];
const cities = ["Lisbon", "Hamburg", "Kyoto", "Toronto", "Nairobi", "Oslo",
  "Valencia", "Leipzig", "Porto", "Bristol", "Tallinn", "Montreal"];
const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
const months = ["January", "March", "April", "June", "August", "October"];
const attributes = {
  "owner": (d) => d.pick(people),
  "on-call engineer": (d) => d.pick(people),
  "contact person": (d) => d.pick(people),
  "release day": (d) => d.pick(days),
  "deadline": (d) => `${1 + d.below(28)} ${d.pick(months)}`,
  "yearly budget": (d) => `${(2 + d.below(80)) * 500} euros`,
  "location": (d) => d.pick(cities),
  "supplier": (d) => `${d.pick(["Nordic", "Atlas", "Delta", "Orion", "Vega"])} ${
    d.pick(["Metals", "Logistics", "Systems", "Paper", "Foods"])}`,
  "database": (d) => d.pick(["PostgreSQL", "MySQL", "SQLite", "Oracle", "MongoDB",
    "Cassandra"]),
  "door code": (d) => String(1000 + d.below(9000)),
  "port number": (d) => String(3000 + d.below(6000)),
};
const nouns = ["river", "bridge", "engine", "garden", "market", "signal",
  "harbour", "lantern", "copper", "meadow", "printer", "ladder", "valley",
  "compass", "window", "saddle", "anchor", "barrel", "candle", "mirror",
  "needle", "orchard", "pocket", "quarry", "rudder", "tunnel", "velvet",
  "walnut", "beacon", "canyon", "dragon", "ember", "falcon", "glacier",
  "hazel", "island", "jasper", "kettle", "lemon", "marble", "nickel", "otter",
  "pepper", "rocket", "summit", "thistle", "violet", "willow"];
const things = ["project", "service", "team", "workshop", "warehouse"];

const firsts = [
  (a, s, v) => `The ${a} of ${s} is ${v}, as agreed in the planning meeting.`,
  (a, s, v) => `For ${s} we settled on ${v} as the ${a} during the last review.`,
  (a, s, v) => `According to the handbook ${s} has ${v} as its ${a} at the moment.`,
  (a, s, v) => `Note for everyone: the ${a} for ${s} was set to ${v} this morning.`,
];
const changes = [
  (a, s, v) => `The ${a} of ${s} is now ${v}.`,
  (a, s, v, old) => `The ${a} of ${s} changed from ${old} to ${v}.`,
  (a, s, v, old) => `There is a new ${a} for ${s}: ${v} instead of ${old}.`,
  (a, s, v) => `After the audit ${v} became the ${a} of ${s}, which everybody should use.`,
  /* what it is about stands in what it refines only */
  (a, s, v, old) => `It is ${v} now, no longer ${old}.`,
  (a, s, v, old) => `Correction: ${v}, not ${old}.`,
];
const questions = [
  (a, s) => `What is the ${a} of ${s}?`,
  (a, s) => `Which ${a} does ${s} have now?`,
  (a, s) => `Tell me the current ${a} for ${s}.`,
  (a, s) => `${s} ${a}`,
];

/* Subject and attribute of each history: no two alike, many near. */
function topics(d, count) {
  const names = [];
  for (let i = 0; i < nouns.length; i++) {
    for (let k = i + 1; k < nouns.length; k++) {
      names.push(d.below(2) ? `${nouns[i]} ${nouns[k]}` : `${nouns[k]} ${nouns[i]}`);
    }
  }
  const out = [];
  for (const name of d.shuffle(names)) {
    const subject = `the ${name} ${d.pick(things)}`;
    for (const attribute of d.shuffle(Object.keys(attributes)).slice(0, 1 + d.below(3))) {
      out.push({ subject, attribute });
    }
    if (out.length >= count) break;
  }
  return out.slice(0, count);
}

/* Tell one history; answers what holds at its end. */
async function tell(d, t, { subject, attribute }) {
  let value;
  const newValue = () => {
    const old = value;
    while (value === old) value = attributes[attribute](d);
    return [value, old];
  };
  const original = () => t.say(d.pick(firsts)(attribute, subject, newValue()[0]));
  const refine = (id) => t.say(d.pick(changes)(attribute, subject, ...newValue()), { refines: id });
  const line = [await original()];
  for (let n = 1 + d.below(4); n > 0; n--) line.push(await refine(line.at(-1)));
  switch (d.below(7)) {
    case 0: { /* another agent said something else; merged */
      const other = await original();
      const merged = { consolidates: [line.at(-1), other] };
      return t.say(d.pick(changes)(attribute, subject, ...newValue()), merged);
    }
    case 1: { /* merged, then changed again */
      const other = await original();
      const merged = await t.say(d.pick(firsts)(attribute, subject, newValue()[0]),
        { consolidates: [other, line.at(-1)] });
      return refine(merged);
    }
    case 2: /* the last was wrong */
      await t.retract(line.at(-1));
      return line.at(-2);
    case 3: /* one in the middle was wrong, what came after it holds */
      line.push(await refine(line.at(-1)));
      await t.retract(line.at(-2));
      return line.at(-1);
    case 4: /* all were wrong but the first */
      for (const id of line.slice(1)) await t.retract(id);
      return line[0];
    case 5: /* two agents changed the same one: the later word counts */
      await refine(line.at(-1));
      return refine(line.at(-1));
    default:
      return line.at(-1);
  }
}

/* --- turns --- */

const facts = [
  { values: cities,
    first: (v) => `I live in ${v}.`,
    changes: [(v) => `I moved to ${v}.`, (v) => `I live in ${v} now.`],
    questions: ["Where does the user live?", "Where do I live now?", "In which city do I live?"] },
  { values: ["Siemens", "Bosch", "Shell", "Nestle", "Airbus", "Philips", "Ikea"],
    first: (v) => `I work at ${v}.`,
    changes: [(v) => `I now work at ${v}.`, (v) => `I started a new job at ${v}.`],
    questions: ["Where does the user work?", "Where do I work now?", "Who do I work for?"] },
  { values: ["Toyota", "Honda", "Volvo", "Skoda", "Fiat", "Renault"],
    first: (v) => `I drive a ${v}.`,
    changes: [(v) => `I now drive a ${v}.`, (v) => `I drive a ${v} now.`],
    questions: ["What does the user drive?", "Which car do I drive?"] },
  { values: ["Vim", "Emacs", "Helix", "Kate", "Nano"],
    first: (v) => `I use ${v} as my editor.`,
    changes: [(v) => `I switched to ${v} as my editor.`, (v) => `I now use ${v} as my editor.`],
    questions: ["Which editor does the user use?", "What is my editor?"] },
  { values: ["555-1234", "555-2201", "555-8720", "555-4410", "555-9032"],
    first: (v) => `My phone number is ${v}.`,
    changes: [(v) => `My phone number is now ${v}.`, (v) => `My phone number is ${v}.`],
    questions: ["What is the user's phone number?", "What is my phone number?"] },
  { values: ["Dr. Lee", "Dr. Kim", "Dr. Brandt", "Dr. Okafor", "Dr. Nilsen"],
    first: (v) => `My dentist is ${v}.`,
    changes: [(v) => `My dentist is now ${v}.`, (v) => `My dentist is ${v} now.`],
    questions: ["Who is the user's dentist?", "Who is my dentist?"] },
];
const DAY = 86400000;
const START = Date.UTC(2025, 0, 6, 9);

/* A person's facts, each with the turns that set it, in the order said. */
function life(d, n_facts) {
  return d.shuffle(facts).slice(0, n_facts).map((fact) => {
    const values = d.shuffle(fact.values).slice(0, 2 + d.below(3));
    let at = START + d.below(30) * DAY;
    const turns = values.map((v, i) => {
      at += (1 + d.below(20)) * DAY + d.below(3600) * 1000;
      return { content: (i ? d.pick(fact.changes) : fact.first)(v),
        created_at: new Date(at).toISOString() };
    });
    return { question: d.pick(fact.questions), turns, value: values.at(-1) };
  });
}

/* Each answers the questions that went wrong. */

async function askAboutThoughts(api, count) {
  const d = dice(7);
  const post = (prompt, more) => api.post("/api/v1/memory", {
    prompt, agent_id: `agent${d.below(5)}`, agent_name: "Agent", ...more,
  });
  const t = {
    say: async (prompt, more) => {
      const { result } = isOk(await post(prompt, more));
      assert.ok(result.thought_id, prompt);
      return result.thought_id;
    },
    retract: async (id) => isOk(await api.post(`/api/v1/memories/${id}/retract`, {})),
  };
  const asked = [];
  for (const topic of topics(d, count)) {
    asked.push({ ...topic, current: await tell(d, t, topic) });
  }
  assert.equal(asked.length, count);
  const wrong = [];
  for (const { subject, attribute, current } of asked) {
    const question = d.pick(questions)(attribute, subject);
    const { result } = isOk(await post(question, { read_only: true }));
    const first = result.sources[0];
    if (first?.thought_id !== current) wrong.push(`${question} ${first?.content_preview}`);
  }
  return wrong;
}

async function askAboutTurns(api, count) {
  const d = dice(11);
  const wrong = [];
  for (let person = 0; person < count / 3; person++) {
    const user_id = `user${person}`;
    const told = life(d, 3);
    for (const turn of d.shuffle(told.flatMap(({ turns }) => turns))) {
      isOk(await api.post("/api/v1/turns", { user_id, role: "user", ...turn }), 201);
    }
    for (const { question, value } of told) {
      const { items } = isOk(await api.post("/api/v1/recall",
        { query: question, user_id, kinds: ["memory"] }));
      if (!items[0]?.text.includes(value)) wrong.push(`${question} ${value}: ${items[0]?.text}`);
    }
  }
  return wrong;
}

onEachBackend("latest valid state", (open, backend) => {
  const { thoughts, turns } = SIZES[backend];
  let server;

  before(async () => {
    server = await open();
  });

  const tenant = async (name) => client(server.url, await server.key(name));
  function isEnough(wrong, count, least) {
    const right = count - wrong.length;
    assert.ok(right >= least * count,
      `${right} of ${count}; wrong:\n${wrong.slice(0, 10).join("\n")}`);
  }

  test(`what holds ranks first after ${thoughts} histories of thoughts`, async () => {
    isEnough(await askAboutThoughts(await tenant("thoughts"), thoughts), thoughts, LEAST_THOUGHTS);
  });

  test(`what holds ranks first after ${turns} histories in turns`, async () => {
    isEnough(await askAboutTurns(await tenant("turns"), turns), turns, LEAST_TURNS);
  });
});
