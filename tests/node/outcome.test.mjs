/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.test.mjs - what came of it: a trouble that ended weeks later in other
 * words is over, and who asks about it is told how it ended.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";

const trouble = [
  "The heating in the chapel cuts out every night. Can you help me find out why?",
  "Look at the flame sensor, and note when it stops.",
  "It stops at two in the morning.",
  "Then something switches it off; ask the sexton about a timer.",
];
/* Nothing of it is in a question about the heating; and it tells the trouble
 * once more, as people do. */
const end = "Solved! The sexton had set a timer years ago and forgotten it. Two in the morning, off.";
/* What shares more words with such a question. */
const others = [
  "The choir rehearses on Tuesdays in the small hall.",
  "Our heating bill of the flat went up again, 212 euros.",
  "The chapel roof gets new slates in autumn.",
  "The night bus to the chapel runs until eleven.",
  "The heating engineer of the school is called Mr Boll.",
  "My cousin sleeps badly, every night at three she wakes up.",
  "The chapel has a new carpet.",
  "They switched the lights in the chapel to LED.",
  "The chapel was built in 1784.",
  "The heating in the car smells of dust.",
  "I cannot find the key to the organ loft.",
  "The kitchen is warm in the morning.",
];

onEachBackend("what came of it", (open) => {
  let api;

  const say = async (chat_id, day, texts, isTalk) => {
    for (const [i, content] of texts.entries()) {
      isOk(await api.post("/api/v1/turns", {
        user_id: "eva", chat_id, content, role: isTalk && i % 2 ? "assistant" : "user",
        created_at: new Date(Date.UTC(2026, 1, day, 9, i)).toISOString(),
      }), 201);
    }
  };
  const chat = async () =>
    isOk(await api.post("/api/v1/chats", { user_id: "eva", channel: "app" }), 201).id;

  before(async () => {
    api = (await open()).api();
    const first = await chat();
    await say(first, 2, trouble, true);
    await say(await chat(), 5, others, false);
    await say(first, 9, [end, "Glad that is over."], true);
    await isRead(api);
  });

  test("an effort ends when somebody says that it is solved", async () => {
    const { items } = isOk(await api.get("/api/v1/memories?user_id=eva&type=effort&limit=100"));
    const effort = items.find((one) => one.summary.includes("chapel cuts out"));
    assert.equal(effort.status, "resolved");
    assert.match(effort.resolution, /timer/);
  });

  test("the turn that tells how it ended is the first answer", async () => {
    for (const query of ["did that trouble with the chapel heating at night get sorted?",
      "what was it with the heating in the chapel in the end?"]) {
      const { items } = isOk(await api.post("/api/v1/recall",
        { query, user_id: "eva", at: "2026-04-10T09:00:00Z", limit: 5 }));
      assert.equal(items[0].text, end, query);
      assert.ok(items[0].score > 2 * items[1].score, `${query}: ${items[0].score}, ${items[1].score}`);
    }
  });

  test("before it ended nothing of the end is told", async () => {
    const { items } = isOk(await api.post("/api/v1/recall", {
      query: "did that trouble with the chapel heating at night get sorted?",
      user_id: "eva", at: "2026-02-06T09:00:00Z" }));
    assert.ok(items.every((item) => item.text !== end));
    assert.ok(items.length > 0);
  });
});
