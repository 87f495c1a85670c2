/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.test.mjs - a later note takes an earlier one's place where it gives
 * another value for the same thing, and nowhere else: not as what came of a
 * plan, nor as an exception from a habit.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";

/* [earlier, later], some weeks apart. */
const fare = ["The ferry to the island costs 14 euros a head.",
  "They've put the ferry up, it's 17 euros a head now."];
const moved = ["The choir rehearsal in the chapel is on Tuesday 12 May at 19:00",
  "The choir asked to shift the rehearsal, it's Wednesday 19:00 now"];
const came = ["I applied to the lifeboat crew, the swimming test is on the 4th of May.",
  "I passed the swimming test for the lifeboat crew! Interview on the 20th of May."];
const apart = ["The cleaner, Danuta, comes on Tuesdays.",
  "Danuta can't come this Tuesday, her boy is ill. She'll be back the week after."];
const from = ["The boathouse rent is 120 a month.",
  "They've put the boathouse rent up, it's 140 a month from June."];

onEachBackend("changes", (open) => {
  let api;
  let memories;
  let conflicts;

  const say = async (day, texts) => {
    const { id } = isOk(await api.post("/api/v1/chats", { user_id: "mae", channel: "app" }), 201);
    for (const [i, content] of texts.entries()) {
      isOk(await api.post("/api/v1/turns", {
        user_id: "mae", chat_id: id, content, role: "user",
        created_at: new Date(Date.UTC(2026, 3, day, 9, i)).toISOString(),
      }), 201);
    }
  };
  const noteOf = (text) => memories.find((one) =>
    one.type !== "effort" && one.fields.statement && text.startsWith(one.fields.statement.slice(0, 20)));
  const isReplaced = ([earlier, later]) => noteOf(earlier).refined_by === noteOf(later).id;
  const isListed = ([earlier, later]) => conflicts.some((one) =>
    one.older.id === noteOf(earlier).id && one.newer.id === noteOf(later).id);

  before(async () => {
    api = (await open()).api();
    await say(6, [fare[0], moved[0], came[0]]);
    await say(8, [apart[0], from[0]]);
    await say(20, [apart[1]]); /* a Monday */
    await say(27, [fare[1], moved[1], from[1]]);
    await say(38, [came[1]]); /* 8 May */
    await isRead(api);
    memories = isOk(await api.get("/api/v1/memories?user_id=mae&limit=100")).items;
    conflicts = isOk(await api.get("/api/v1/conflicts?user_id=mae")).items;
  });

  test("another value takes the place of the one before", () => {
    assert.ok(isReplaced(fare));
    assert.ok(isReplaced(moved));
  });

  test("so does one that holds from a day on", () => {
    assert.equal(noteOf(from[1]).fields.begins, true);
    assert.ok(isReplaced(from));
  });

  test("what came of a plan leaves the plan, and is no conflict", () => {
    assert.equal(noteOf(came[0]).superseded, false);
    assert.ok(!isListed(came));
  });

  test("an exception leaves the habit, and people are shown the two", () => {
    assert.equal(noteOf(apart[0]).superseded, false);
    assert.ok(isListed(apart));
  });

  test("how a trouble ended is no rival of how it began", async () => {
    const server = await open();
    const post = async (content, minute) => isOk(await server.api().post("/api/v1/turns", { user_id: "ines", channel: "app",
      role: "user", content, created_at: new Date(Date.UTC(2026, 8, 3, 8, minute)).toISOString() }), 201);

    await post("The gate motor stopped answering the remote since the storm.", 0);
    const { updates } = await post("Swapped the receiver board, the gate opens again.", 30);
    assert.ok(updates.memories.some((one) => one.type === "effort" && one.change === "resolved"), JSON.stringify(updates));
    const { items } = isOk(await server.api().get("/api/v1/conflicts?user_id=ines"));
    assert.deepEqual(items.map((one) => one.newer.summary), []);
  });
});
