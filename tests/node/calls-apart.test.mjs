/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured calls of users who say the same: everybody opens with "hi" and is
 * answered alike. Each goes on with their own, however it is recognised.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const user = (content) => ({ role: "user", content });
const said = (content) => ({ role: "assistant", content });
const summary = "The user sails a dinghy from Rungsted to Ven, has packed the anchor, the charts and the spare sail, "
  + "and asked twice when the wind turns; the forecast said on Thursday, from the south-west, with five metres a second.";

/* What was said before, and what goes on with it by that strategy. */
const cases = {
  exact: [[user("Hi"), said("Hello!"), user("A riddle?")], [user("Hi")]],
  grandparent: [[user("Hi all"), said("Hello!"), user("One"), said("two"), user("Three")], [user("Hi all")]],
  prefix: [[1, 2, 3, 4].flatMap((n) => [user(`Day ${n}`), said("Hello!")]).concat(user("And now?")),
    [user("Day 1"), said("Hello!"), user("Day 2")]],
  compact: [[user("This session is being continued from a previous conversation that ran out of context. "
    + `The conversation is summarized below:\n${summary}`)], [user("Sum it up")], said(summary)],
  subtask: [[user("Count the oars in the shed")], [user("How many oars?")], said([{ type: "tool_use", id: "t1",
    name: "Task", input: { description: "oars", prompt: "Count the oars in the shed", subagent_type: "any" } }])],
};

onEachBackend("a call that goes on like another user's", (open) => {
  let api;
  before(async () => { api = (await open()).api(); });
  const link = async (user_id, messages, response = said("Hello!")) =>
    isOk(await api.post("/api/v1/link", { model: "m", user_id, messages, response }));

  for (const [strategy, [later, earlier, reply]] of Object.entries(cases)) {
    test(`by ${strategy} goes on with its own user's alone`, async () => {
      const [ann, bob] = [`ann-${strategy}`, `bob-${strategy}`];
      const first = await link(ann, earlier, reply);
      const others = await link(bob, later, said("Yes, Bob."));
      assert.equal(others.strategy, "none");
      assert.notEqual(others.conversation_id, first.conversation_id);
      assert.notEqual(others.chat_id, first.chat_id);
      const own = await link(ann, later, said("Yes, Ann."));
      assert.equal(own.strategy, strategy);
      assert.equal(own.conversation_id, first.conversation_id);
      for (const [name, other] of [[ann, "Bob"], [bob, "Ann"]]) {
        const chats = isOk(await api.get(`/api/v1/chats?user_id=${name}`)).items;
        assert.ok(chats.length > 0);
        for (const chat of chats) {
          const { items } = isOk(await api.get(`/api/v1/chats/${chat.id}/turns`));
          assert.deepEqual([...new Set(items.map((turn) => turn.user_id))], [name]);
          assert.ok(!items.some((turn) => turn.text.includes(`Yes, ${other}`)));
        }
      }
      assert.equal(isOk(await api.post("/api/v1/requests/relink", {})).changed, 0);
    });
  }

  test("with the very same messages is no retry of it", async () => {
    const messages = [user("Hi"), said("Hello!"), user("Tell me the time")];
    const first = await link("cleo", messages);
    const second = await link("dora", messages);
    assert.notEqual(second.chat_id, first.chat_id);
    const { items } = isOk(await api.get(`/api/v1/chats/${second.chat_id}/turns`));
    assert.deepEqual(items.map((turn) => [turn.user_id, turn.text]).slice(-2),
      [["dora", "Tell me the time"], ["dora", "Hello!"]]);
    assert.equal((await link("dora", messages)).chat_id, second.chat_id);
  });
});

describe("through the proxy", () => {
  let upstream;
  let server;
  before(async () => {
    upstream = await startUpstream();
    server = await startServer({ args: ["--upstream", `openai=${upstream.url}`] });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  test("the number of another user's response leads nowhere", async () => {
    const ask = async (name, body) => (await fetch(`${server.url}/v1/responses`, { method: "POST",
      headers: { "content-type": "application/json", "x-clew-user": name },
      body: JSON.stringify({ model: "m", ...body }) })).json();
    const calls = async (name, count) => until(`${count} of ${name}`, async () => {
      const { items } = isOk(await server.api().get(`/api/v1/requests?user_id=${name}`));
      return items.length === count && items;
    });
    const { id } = await ask("ann", { input: "My boat is called Albatros" });
    const [first] = await calls("ann", 1);
    await ask("bob", { input: "And mine?", previous_response_id: id });
    const [others] = await calls("bob", 1);
    assert.equal(others.strategy, "none");
    assert.notEqual(others.conversation_id, first.conversation_id);
    await ask("ann", { input: "And mine?", previous_response_id: id });
    const [own] = await calls("ann", 2);
    assert.equal(own.conversation_id, first.conversation_id);
  });
});
