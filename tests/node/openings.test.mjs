/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openings.test.mjs - how people ask for help, through the program: a greeting,
 * what is the matter, and a plea in any order open one effort that is called
 * after the matter; and what answers "Which one do you mean?".
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";

const openings = {
  "Hi! I'm getting a 401 error from the billing API, can you help?":
    "Fix 401 error from the billing API",
  "Can you help? I'm getting a 401 error from the billing API.":
    "Fix 401 error from the billing API",
  "Can you help me, I'm getting a 401 error from the billing API":
    "Fix 401 error from the billing API",
  "Hello, could you please help me? The nightly backup fails with exit code 3.":
    "Fix: the nightly backup fails with exit code 3",
  "Hey there. My laptop won't start since the update, any ideas?":
    "Fix: the laptop won't start",
  "The login page crashes on Safari - could you take a look?":
    "Fix: the login page crashes on Safari",
  "please help, i can't connect to the staging database":
    "Fix: I can't connect to the staging database",
  "Good morning! The CSV import is stuck at 40%. Any idea what I can do?":
    "Fix: the CSV import is stuck at 40%",
  "I need help. Our checkout page throws a TypeError when the cart is empty.":
    "Fix: the checkout page throws a TypeError when the cart is empty",
  "Hi, hope you are well. The printer on the third floor doesn't work. Could somebody have a look?":
    "Fix: the printer on the third floor doesn't work",
  "Our webhook receiver returns 500 on every retry, what should I do?":
    "Fix: the webhook receiver returns 500 on every retry",
  "Hi, I'm stuck on the Rust borrow checker, would you mind helping me out?":
    "Fix Rust borrow checker",
  "Thanks for earlier! Now the mobile app freezes on the settings screen, can you help with that too?":
    "Fix: the mobile app freezes on the settings screen",
  "hey can you help me out my wifi keeps dropping": "Fix: the wifi keeps dropping",
  "Quick question: the sync job fails with a timeout, how do I fix this?":
    "Fix: the sync job fails with a timeout",
  "Hi, I'd like to plan a trip to Norway, can you help me with that?":
    "Plan a trip to Norway",
  "I need to migrate our wiki to a new server. Can you help?":
    "Migrate the wiki to a new server",
  "I could use some help. Gmail marks our newsletters as spam.":
    "Help with: Gmail marks the newsletters as spam",
  "my phone battery dies after two hours can you help":
    "Help with: the phone battery dies after two hours",
  "Can you help me write a cover letter?": "Write a cover letter",
};

/* Nothing is the matter, or nobody is asked for help with it. */
const others = [
  "Hi! Can you help?",
  "It's not working, can you help?",
  "Can you help me with that?",
  "How do I fix this?",
  "Hi there, I wrote a poem yesterday. What do you think?",
  "Do you have any ideas for a birthday present?",
  "I love hiking in the mountains. Do you?",
  "Thank you so much for your help!",
  "My son was sick yesterday, but he is fine now.",
];

onEachBackend("openings", (open) => {
  let api;
  before(async () => { api = (await open()).api(); });

  async function say(text, chat_id, role = "user") {
    return isOk(await api.post("/api/v1/turns", {
      user_id: "ada", role, content: text,
      ...(chat_id ? { chat_id } : { channel: "web" }) }), 201);
  }
  const efforts = (said) =>
    said.updates.memories.filter((one) => one.type === "effort");

  for (const [text, title] of Object.entries(openings)) {
    test(`"${text}" opens "${title}"`, async () => {
      const opened = efforts(await say(text));
      assert.deepEqual(opened.map((one) => [one.change, one.summary]),
        [["created", title]]);
    });
  }

  for (const text of others) {
    test(`"${text}" opens nothing`, async () => {
      assert.deepEqual(efforts(await say(text)), []);
    });
  }

  test("what came of a step is the effort's, help wanted with it or not", async () => {
    const first = await say("I'm getting a 401 error from the billing API, can you help?");
    const chat = first.turn.chat_id;
    await say("Refresh the token.", chat, "assistant");
    for (const text of [
      "The API still returns 401, any ideas?",
      "I refreshed it and the billing API says 403 now, what should I do?",
      "Same error after a restart. Can you help?",
    ]) {
      assert.deepEqual(efforts(await say(text, chat))
        .filter((one) => one.change === "created" && !one.parent_id), [], text);
      await say("Let me see.", chat, "assistant");
    }
    const { items } = isOk(await api.get(`/api/v1/efforts?chat_id=${chat}`));
    assert.deepEqual(items.filter((one) => !one.parent_id).map((one) => one.summary),
      ["Fix 401 error from the billing API"]);
  });

  /* Three efforts, the last touched first, and one who wants back to one. */
  async function asked(reply) {
    const { turn: { chat_id: chat } } = await say("Help me fix the login page");
    await say("ok", chat, "assistant");
    await say("Build a billing report for marketing", chat);
    await say("ok", chat, "assistant");
    await say("Write a script that renames photos", chat);
    await say("ok", chat, "assistant");
    const { notices } = await say("back to that one", chat);
    assert.deepEqual(notices, ["[effort:which] Which one do you mean?",
      "  1. Write a script that renames photos",
      "  2. Build a billing report for marketing", "  3. Fix the login page"]);
    if (reply) await say(reply, chat, "assistant");
    return chat;
  }
  const answers = {
    "the second one": "Build a billing report for marketing",
    "2": "Build a billing report for marketing",
    "Number 3, please": "Fix the login page",
    "the first": "Write a script that renames photos",
    "I meant the last one": "Fix the login page",
    "billing": "Build a billing report for marketing",
    "the login one": "Fix the login page",
    "I mean the one about the photos": "Write a script that renames photos",
  };
  for (const [text, title] of Object.entries(answers)) {
    test(`"${text}" says which one`, async () => {
      const { notices } = await say(text, await asked());
      assert.ok(notices.includes(`[effort:active] ${title}`), notices.join("\n"));
    });
  }

  test("the assistant's own list counts", async () => {
    const chat = await asked("Which one do you mean?\n1. Fix the login page\n"
      + "2. Write a script that renames photos\n3. Build a billing report for marketing");
    const { notices } = await say("the first one", chat);
    assert.ok(notices.includes("[effort:active] Fix the login page"), notices.join("\n"));
  });

  for (const text of [
    "What is the capital of France?", "Write a poem about the sea",
    "My sister plays the violin", "neither", "the seventh one", "Thanks!",
    "Can you send the billing address of our landlord to my tax adviser?",
  ]) {
    test(`"${text}" says nothing about which one`, async () => {
      const { notices } = await say(text, await asked());
      assert.ok(!notices.some((line) => line.startsWith("[effort:active]")),
        notices.join("\n"));
    });
  }

  test("all of it follows from the log", async () => {
    const server = await open();
    api = server.api();
    await say("the second one", await asked());
    await say("Hi! My build fails with an error, can you help?");
    await server.clew("verify"); /* rejects if it finds something */
  });
});
