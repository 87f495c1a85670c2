/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execution.test.mjs - efforts as contexts to work in, nested, by REST and MCP.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";

onEachBackend("row 2, efforts as execution contexts", (open) => {
  test("goals go down, outcomes come up, three deep", async () => {
    const server = await open();
    const api = server.api(await server.key("row2"));
    const spawn = async (goal, more = {}) =>
      isOk(await api.post("/api/v1/efforts", { user_id: "liv", goal, ...more }), 201);
    const context = async (effort) =>
      isOk(await api.get(`/api/v1/efforts/${effort.id}/context?budget_tokens=1500`)).text;
    const end = (effort, body) => api.post(`/api/v1/efforts/${effort.id}/collapse`, body);
    const { chat } = isOk(await api.post("/api/v1/turns", {
      user_id: "liv", role: "user", channel: "web", content: "We keep bees and the honey of hive 4 ferments" }), 201);
    const top = await spawn("Save the honey of hive 4", { chat_id: chat.id });
    const mid = await spawn("Bring the water content below 18 percent", { parent_id: top.id });
    const low = await spawn("Find out what the refractometer really shows", { parent_id: mid.id });

    for (const effort of [top, mid, low]) assert.match(await context(effort), new RegExp(`\\[goal\\] ${effort.goal}`));
    const deep = await context(low);
    assert.match(deep, /\[part of\] Bring the water content below 18 percent\n.*\[part of\] Save the honey of hive 4/);
    isOk(await api.post(`/api/v1/efforts/${low.id}/turns`, { role: "user", content: "It says 21 with water on the prism" }), 201);
    isOk(await api.post(`/api/v1/efforts/${low.id}/turns`, { role: "assistant", content: "It is off by two: water must read zero." }), 201);
    assert.match(await context(low), /off by two/);

    const found = isOk(await end(low, { resolution: "The refractometer reads two points too high" }));
    assert.equal(found.outcome, "found");
    assert.equal(found.status, "resolved");
    assert.match(await context(mid), /\[attempt:found\] Find out what the refractometer really shows => The refractometer reads two points too high/);
    const failed = isOk(await end(mid, { outcome: "failed", resolution: "The dehumidifier is broken" }));
    assert.equal(failed.status, "abandoned");
    const other = await spawn("Bake it into gingerbread", { parent_id: top.id });
    isOk(await end(other, { outcome: "given_up" }));
    const above = await context(top);
    assert.match(above, /\[attempt:failed\] Bring the water content.* => The dehumidifier is broken/);
    assert.match(above, /\[attempt:given_up\] Bake it into gingerbread/);
    isOk(await end(top, { resolution: "Sold as baker's honey" }));
    const { text } = isOk(await api.post(`/api/v1/chats/${chat.id}/context`, { budget_tokens: 2000 }));
    assert.match(text, /\[effort:resolved\] Save the honey of hive 4 => Sold as baker's honey/);
    assert.doesNotMatch(text, /off by two/, "the turns of the thread stay there");

    isError(await end(low, { outcome: "solved" }), 400, "VALIDATION_ERROR", "outcome");
    const verified = await server.clew("verify", "--tenant", "row2");
    assert.match(verified.stdout, /ok|sound|no faults/i, verified.stdout);
    await server.stop();
  });

  test("a sub-agent works in one through MCP", async () => {
    const server = await open();
    const key = await server.key("sub");
    const mcp = new Client({ name: "test", version: "1" });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } } }));
    const run = async (args) => {
      const result = await mcp.callTool({ name: "effort", arguments: args });
      return { isError: result.isError, text: result.content.map((c) => c.text).join("\n") };
    };
    const idOf = ({ text }) => /[0-9a-f-]{36}/.exec(text)[0];
    const parent = idOf(await run({ action: "open", goal: "Repair the weather vane" }));
    const child = idOf(await run({ action: "open", goal: "Find a thread cutter M14", parent_id: parent }));
    for (const args of [{ role: "user", content: "Ask the smith in the harbour" }, { content: "The smith lends his M14 cutter until Friday" }]) {
      const told = await run({ action: "turn", id: child, ...args });
      assert.ok(!told.isError, told.text);
    }
    const inside = await run({ action: "context", id: child });
    assert.match(inside.text, /\[part of\] Repair the weather vane/);
    assert.match(inside.text, /assistant #2: The smith lends/);
    await run({ action: "collapse", id: child, outcome: "found", resolution: "The smith lends one" });
    assert.match((await run({ action: "context", id: parent })).text, /\[attempt:found\] Find a thread cutter M14 => The smith lends one/);
    assert.ok((await run({ action: "turn", id: child })).isError, "a turn says something");
    assert.ok((await run({ action: "turn", content: "x" })).isError, "in some effort");
    await mcp.close();
    await server.stop();
  });
});

onEachBackend("row 3, attempts by what people say", (open) => {
  test("what was tried and did not help is a failed attempt, and ends nothing", async () => {
    const server = await open();
    const api = server.api(await server.key("row3"));
    let chat;
    for (const [role, content] of [
      ["user", "The ferry app logs me out every minute, please help me fix it"],
      ["assistant", "Try deleting the stored cookies."],
      ["user", "did that, same problem"],
      ["assistant", "Then try reinstalling the app."],
      ["user", "tried it, no luck"],
    ]) {
      const told = isOk(await api.post("/api/v1/turns", { user_id: "ola", role, channel: "web", content, ...(chat ? { chat_id: chat } : {}) }), 201);
      chat = told.chat.id;
    }
    const { items } = isOk(await api.get("/api/v1/memories?user_id=ola&type=effort"));
    const whole = items.filter((m) => !m.parent_id);
    assert.deepEqual(whole.map((m) => m.status), ["open"], JSON.stringify(whole));
    assert.equal(items.filter((m) => m.parent_id && m.status === "abandoned").length, 2, JSON.stringify(items));
    await server.stop();
  });

  test("attempts are found in any wording, and the one that worked", async () => {
    const server = await open();
    const api = server.api(await server.key("row3b"));
    let chat;
    for (const [role, content] of [
      ["user", "the dashcam keeps rebooting itself in the middle of a drive"],
      ["assistant", "Often that's the card. Format it in the camera menu, not on the computer."],
      ["user", "did that, it went off again before I reached the motorway"],
      ["assistant", "Maybe the cable can't deliver enough. Use the thick one that came in the box."],
      ["user", "didn't do a thing"],
      ["assistant", "You could also switch off the parking mode, it draws from the same supply."],
      ["user", "that had no effect either sadly"],
      ["assistant", "Then a firmware update: version 2.8 mentions watchdog resets."],
      ["user", "flashed 2.8 on sunday and three drives later not a single reboot. finally"],
    ]) {
      chat = isOk(await api.post("/api/v1/turns", { user_id: "ivo", role, channel: "web", content, ...(chat ? { chat_id: chat } : {}) }), 201).chat.id;
    }
    const { items } = isOk(await api.get(`/api/v1/efforts?chat_id=${chat}&all=1`));
    const whole = items.filter((m) => !m.parent_id);
    assert.deepEqual(whole.map((m) => m.status), ["resolved"]);
    assert.match(whole[0].resolution, /flashed 2\.8/);
    const tried = items.filter((m) => m.parent_id === whole[0].id).map((m) => `${m.outcome}: ${m.summary}`).sort();
    assert.deepEqual(tried, [
      "failed: Format it in the camera menu, not on the computer",
      "failed: Switch off the parking mode, it draws from the same supply",
      "failed: Use the thick one that came in the box",
      "found: A firmware update: version 2.8 mentions watchdog resets",
    ]);
    await server.stop();
  });

  test("a resolution is the answer; without one the turns stay", async () => {
    const server = await open();
    const api = server.api(await server.key("row3c"));
    const talk = async (turns, chat) => {
      for (const [role, content] of turns) {
        chat = isOk(await api.post("/api/v1/turns", { user_id: "noa", role, channel: "web", content, ...(chat ? { chat_id: chat } : {}) }), 201).chat.id;
      }
      return chat;
    };
    const other = [["user", "What does a good sourdough need, by the way?"], ["assistant", "Time, mostly, and a warm corner."],
      ["user", "And which flour?"], ["assistant", "Rye for the starter, wheat for the loaf."]];
    const context = async (chat) => isOk(await api.post(`/api/v1/chats/${chat}/context`, { budget_tokens: 3000 })).text;
    const first = await talk([["user", "Please help me get the wobble out of the record player"],
      ["assistant", "Level the plinth with a coin under the left foot."], ["user", "brilliant, thanks!"], ...other]);
    const [told] = isOk(await api.get(`/api/v1/efforts?chat_id=${first}&all=1`)).items;
    assert.equal(told.status, "resolved");
    assert.equal(told.resolution, "Level the plinth with a coin under the left foot.");

    const second = await talk([["user", "Please help me seal the draughty skylight"],
      ["assistant", "Which make is it?"], ["user", "A Velux from the nineties"]]);
    const [open2] = isOk(await api.get(`/api/v1/efforts?chat_id=${second}`)).items;
    isOk(await api.post(`/api/v1/memories/${open2.id}/resolve`, {}));
    await talk(other, second);
    assert.match(await context(second), /assistant #2: Which make/);
    isOk(await api.post(`/api/v1/memories/${open2.id}/reopen`, {}));
    isOk(await api.post(`/api/v1/memories/${open2.id}/resolve`, { resolution: "New gasket, profile 40" }));
    const after = await context(second);
    assert.doesNotMatch(after, /assistant #2: Which make/);
    assert.match(after, /New gasket, profile 40/);
    await server.stop();
  });
});
