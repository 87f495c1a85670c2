/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.test.mjs - the page in a real browser, on both stores: every view in
 * light, dark and on a phone, and what one does there. After each test there is
 * no console error, no exception and no request to another origin.
 */
import assert from "node:assert/strict";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { openPage, seriousFaults, startBrowser } from "./lib/browser.mjs";
import { isError, isOk, isRead } from "./lib/check.mjs";
import { clew, tempFolder } from "./lib/server.mjs";
import { zip } from "./lib/zip.mjs";
import { session } from "./lib/session.mjs";

const said = (content, more = {}) => ({ user_id: "ada", role: "user", content, ...more });

onEachBackend("the page", (open, backend) => {
  let browser;
  let server;
  let api;
  let calls;
  const ids = {};

  before(async () => {
    server = await open({ args: ["--demo"], env: { CLEW_PROXY_PRICES: "claude-haiku 1 5" } });
    api = server.api();
    calls = await session(async (body) => isOk(await api.post("/api/v1/link", body)));
    let thought = isOk(await api.post("/api/v1/memory", { prompt: "The agent monitor must check the status of every agent pane.", agent_id: "cc", agent_name: "Claude Code" })).result.thought_id;
    for (let i = 1; i <= 50; i++) {
      thought = isOk(await api.post("/api/v1/memory", { prompt: `The agent monitor must check status and heartbeat ${i} of every agent pane.`, agent_id: i % 2 ? "codex" : "cc", agent_name: i % 2 ? "Codex" : "Claude Code", refines: thought })).result.thought_id;
    }
    ids.thought = thought;
    for (const words of ["Our deadline is Friday.", "Our release deadline is Monday."]) {
      isOk(await api.post("/api/v1/turns", said(words, { user_id: "eve" })), 201);
    }
    await isRead(api);
    const chats = isOk(await api.get("/api/v1/chats?sort=turns&user_id=ada")).items;
    ids.chat = chats.find((c) => c.channels.includes("sms") && c.last_seq === 4).id;
    ids.fork = isOk(await api.post(`/api/v1/chats/${ids.chat}/fork`, { at_seq: 2, title: "Another way" }), 201).id;
    isOk(await api.post("/api/v1/turns", said("I will sell the boiler.", { chat_id: ids.fork })), 201);
    ids.call = calls.at(-1).request_id;
    ids.conversation = calls.at(-1).conversation_id;
    ids.hazelnuts = isOk(await api.get("/api/v1/memories?q=hazelnuts")).items.find((m) => /allergic/.test(m.summary)).id;
    browser = await startBrowser();
  });
  after(() => browser?.close());

  const views = () => ({
    home: ["/home", "Open efforts"], search: ["/search?q=who%20repaired%20the%20pump", "Why this one"], chats: ["/chats", "telegram"],
    chat: [`/chat/${ids.chat}`, "The boiler in the cellar"], tree: [`/tree/${ids.conversation}`, "sub-agent"], compare: [`/compare/${ids.chat}/${ids.fork}`, "Where the two part"],
    memories: [`/memories/${ids.hazelnuts}`, "In its turn"], conflicts: ["/conflicts", "Conflict"], efforts: ["/efforts", "quarterly planning meeting"], timeline: ["/timeline", "topic"],
    graph: ["/graph", "What hangs on most"], context: [`/context?chat=${ids.chat}&message=boiler`, "tokens"], calls: [`/calls/${ids.call}`, "Linked by"], agents: ["/agents", "Codex"],
    system: ["/system", "Settings in force"], connect: ["/connect", "ANTHROPIC_BASE_URL"],
  });

  /* what it looks like does not hang on the store */
  for (const [scheme, size] of [["light", "desk"], ["dark", "phone"]].slice(0, backend === "sqlite" ? 2 : 1)) {
    test(`every view stands, ${scheme} on a ${size}, and a checker finds nothing serious`, async () => {
      const page = await openPage(browser, server.url, { scheme, size });
      for (const [name, [hash, words]] of Object.entries(views())) {
        await page.view(hash);
        await page.waitForFunction((w) => document.querySelector(".stage").innerText.includes(w), words)
          .catch(async () => assert.fail(`${name}: no "${words}" in ${(await page.text()).slice(0, 600)}`));
        assert.deepEqual(await seriousFaults(page), [], name);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name} is ${wide} px too wide`);
      }
      await page.done();
    });
  }

  test("from the start page to a corrected memory", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/home");
    await page.getByRole("link", { name: /^all / }).last().click();
    await page.getByLabel("With the words").fill("hazelnuts");
    await page.locator(".ml-row", { hasText: "allergic to hazelnuts" }).first().click();
    await page.getByText("In its turn").waitFor();
    assert.match(await page.locator(".scene q").innerText(), /allergic to hazelnuts/);
    await page.getByRole("button", { name: "Correct" }).click();
    const box = page.getByLabel("What is so");
    assert.match(await box.inputValue(), /hazelnuts/);
    await box.fill("Ben is allergic to hazelnuts and walnuts.");
    await page.locator("dialog").getByRole("button", { name: "Correct" }).click();
    await page.locator(".det .say", { hasText: "walnuts" }).waitFor();
    await page.getByText("What it corrects, in its turn").waitFor();
    const old = isOk(await api.get(`/api/v1/memories/${ids.hazelnuts}`));
    assert.equal(old.superseded, true);
    assert.equal(isOk(await api.get(`/api/v1/memories/${old.refined_by}`)).summary, "Ben is allergic to hazelnuts and walnuts.");
    await page.done();
  });

  test("searches while one types, says why, and when nothing fits", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/home");
    await page.keyboard.press("/");
    await page.keyboard.type("who repaired the pump");
    await page.keyboard.press("Enter");
    await page.locator(".sheet").waitFor();
    await page.locator(".sheet mark").first().waitFor();
    assert.match(await page.locator(".why").innerText(), /words[\s\S]*sum/);
    await page.locator(".hit .tx").first().click();
    await page.locator(".hit[aria-current] .acts").waitFor();
    await page.getByRole("button", { name: "Memories" }).click();
    await page.waitForFunction(() => location.hash.includes("kind=memory"));
    await page.view("/search?q=who%20repaired%20the%20pmup");
    await page.getByText("Looked for “who repaired the pump”.").waitFor();
    await page.view("/search?q=boiler&at=2020-01-01");
    await page.locator(".none h2", { hasText: "Nothing fits" }).waitFor().catch(async () => assert.fail((await page.text()).slice(0, 900)));
    await page.done();
  });

  test("says what the server says of its answer, and who reads", async () => {
    const page = await openPage(browser, server.url);
    let answered = "maybe";
    await page.route("**/api/v1/recall", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...await answer.json(), answered, confidence: 0.25 } });
    });
    await page.view("/search?q=boiler");
    await page.locator(".ans.maybe", { hasText: "it may answer the question, .25" }).waitFor();
    answered = "no";
    await page.view("/search?q=pump");
    await page.getByText("does not answer it").waitFor();
    await page.getByRole("button", { name: /^Show \d+/ }).click();
    await page.locator(".ans.maybe").waitFor();
    /* turns that wait are counted down, then the page looks anew */
    let left = 2;
    await page.route("**/healthz", async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      await route.fulfill({ response: answer, json: { ...body, reading: { ...body.reading, waiting: left ? left-- : 0 } } });
    });
    await page.view("/home");
    await page.locator(".unread", { hasText: "2 turns wait to be read" }).waitFor();
    await page.locator(".unread", { hasText: "1 turn waits to be read" }).waitFor();
    await page.waitForFunction(() => document.querySelector(".unread")?.textContent === "");
    await page.view("/system");
    await page.getByText(/by clew-reader\S+, nothing waits|by rules alone, nothing waits/).waitFor();
    await page.done();
  });

  test("a transcript shows what was made of it, forks, renames and compares", async () => {
    const page = await openPage(browser, server.url);
    await page.view(`/chat/${ids.chat}?at=3`);
    await page.locator(".turn.sel").waitFor();
    assert.match(await page.locator(".turn.sel").innerText(), /Okafor/);
    assert.ok(await page.locator(".mk .at").count() >= 3, "topics are drawn");
    assert.ok(await page.locator(".mk .ef").count() >= 3, "efforts are drawn");
    assert.ok(await page.locator(".turn .kept").count() >= 2, "what was kept is said");
    await page.locator(".turn").getByRole("link", { name: "fork: Another way" }).waitFor();
    await page.locator(".turn.sel").hover();
    await page.getByRole("button", { name: "Why, turn 3" }).click();
    await page.locator("dialog", { hasText: "boundary" }).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("The boiler");
    await page.locator("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "The boiler" }).waitFor();
    await page.getByRole("button", { name: "Fork here" }).click();
    await page.getByLabel("Title").fill("A third way");
    await page.locator("dialog").getByRole("button", { name: "Fork", exact: true }).click();
    await page.getByRole("heading", { name: "A third way" }).waitFor();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator("dialog").getByRole("button", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Where the two part" }).waitFor();
    await page.done();
  });

  test("forgetting shows first what will go, then gives the receipt", async () => {
    const { turn } = isOk(await api.post("/api/v1/turns", said("The caravan stands on plot 4711.", { user_id: "eve", channel: "desk" })), 201);
    const page = await openPage(browser, server.url);
    const bodies = [];
    page.on("request", (r) => { if (r.url().endsWith("/api/v1/forget")) bodies.push(r.postDataJSON()); });
    await page.view(`/chat/${turn.chat_id}?at=${turn.seq}`);
    await page.locator(".turn.sel").hover();
    await page.getByRole("button", { name: `Forget turn ${turn.seq}` }).click();
    const sheet = page.locator("dialog");
    await sheet.getByText("1 turn", { exact: false }).first().waitFor();
    assert.match(await sheet.innerText(), /4711/);
    assert.deepEqual(bodies.map((b) => b.dry_run), [true]);
    assert.match(isOk(await api.get(`/api/v1/chats/${turn.chat_id}/turns?after_seq=${turn.seq - 1}`)).items[0].text, /4711/);
    /* the keyboard stands on the harmless button */
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Keep it");
    await sheet.getByRole("button", { name: "Forget for good" }).click();
    await sheet.getByText("The receipt").waitFor();
    assert.match(await sheet.locator(".code").innerText(), /^[0-9a-f-]{36} [0-9a-f]{64}/);
    await sheet.getByRole("button", { name: "Close" }).click();
    assert.deepEqual(isOk(await api.get(`/api/v1/chats/${turn.chat_id}/turns?after_seq=${turn.seq - 1}`)).items, []);
    await page.done();
  });

  test("memories are added, pinned, tagged, filtered, taken back and forgotten", async () => {
    isOk(await api.post("/api/v1/memories", { user_id: "ada", type: "instruction", summary: "Never call before nine" }), 201);
    const page = await openPage(browser, server.url);
    await page.view("/memories");
    await page.getByText("Instructions", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByLabel("What is so").fill("The spare key hangs by the green door");
    await page.getByLabel("Tags, by commas").fill("keys, door");
    await page.locator("dialog").getByRole("button", { name: "Add" }).click();
    await page.locator(".det .say", { hasText: "green door" }).waitFor();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: "Unpin" }).waitFor();
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.getByLabel("Type", { exact: true }).fill("place");
    await page.locator("dialog").getByRole("button", { name: "Save" }).click();
    await page.locator(".det .meta", { hasText: "place" }).first().waitFor();
    await page.getByLabel("With the words").fill("GREEN door");
    await page.waitForFunction(() => document.querySelectorAll(".ml-row").length === 1);
    await page.getByRole("button", { name: "Take back" }).click();
    assert.match(await page.locator("dialog").innerText(), /no longer found/);
    await page.locator("dialog").getByRole("button", { name: "Take back" }).click();
    await page.locator(".det .meta", { hasText: "taken back" }).first().waitFor();
    await page.getByRole("button", { name: "Forget…" }).click();
    await page.locator("dialog").getByText("1 memory").waitFor();
    await page.locator("dialog").getByRole("button", { name: "Forget for good" }).click();
    await page.locator("dialog").getByText("The receipt").waitFor();
    await page.locator("dialog").getByRole("button", { name: "Close" }).click();
    assert.deepEqual(isOk(await api.get("/api/v1/memories?q=green&retracted=true")).items, []);
    await page.done();
  });

  test("fifty refinements are drawn as one lineage", async () => {
    const page = await openPage(browser, server.url);
    await page.view(`/memories/${ids.thought}`);
    await page.getByText("51 steps").waitFor();
    assert.equal(await page.locator(".lin .node").count(), 51);
    await page.getByRole("button", { name: "as a list" }).click();
    assert.equal(await page.locator(".lin-list li").count(), 51);
    await page.done();
  });

  test("a conflict is settled side by side", async () => {
    const { items } = isOk(await api.get("/api/v1/conflicts"));
    assert.ok(items.length, "there is a conflict to settle");
    const page = await openPage(browser, server.url);
    await page.view("/conflicts");
    await page.locator(".claim").nth(1).waitFor();
    assert.match(await page.locator(".claim em").allInnerTexts().then((x) => x.join()), /monday/i);
    await page.locator(".claim").nth(1).getByRole("button").click();
    await page.waitForFunction((n) => !document.querySelector(".stage h1").textContent.includes(`of ${n}`), items.length);
    assert.equal(isOk(await api.get("/api/v1/conflicts")).items.length, items.length - 1);
    assert.equal(isOk(await api.get(`/api/v1/memories/${items[0].older.id}`)).superseded, true);
    await page.done();
  });

  test("of more conflicts than are asked for it says that there are more", async () => {
    const page = await openPage(browser, server.url);
    const side = { id: ids.hazelnuts, value: null, created_at: "2026-03-01T10:00:00.000Z" };
    await page.route("**/api/v1/conflicts?*", async (route) => {
      const n = Number(new URL(route.request().url()).searchParams.get("limit"));
      const one = { user_id: "ada", subject: "", attribute: "", qualifier: "", older: { ...side, summary: "Tea." }, newer: { ...side, summary: "Coffee." } };
      await route.fulfill({ json: { items: Array.from({ length: Math.min(n, 300) }, () => one), next_cursor: null } });
    });
    await page.view("/home");
    assert.match(await page.locator("section[aria-label='Conflicts waiting']").innerText(), /^Conflicts waiting\s+3\+/);
    await page.view("/memories");
    await page.getByRole("link", { name: "100+ conflicts" }).click();
    await page.getByRole("heading", { name: "Conflict 1 of 100+" }).waitFor();
    await page.done();
  });

  test("code between fences is code, word for word", async () => {
    const text = "Look at this:\n```python\ndef f(x):\n    return x  # `twice`\n```\nIt returns nothing.\n~~~\nnot closed";
    const { chat } = isOk(await api.post("/api/v1/turns", said(text, { user_id: "kim" })), 201);
    const page = await openPage(browser, server.url);
    await page.view(`/chat/${chat.id}`);
    const words = page.locator(".turn .said").first();
    assert.equal(await words.evaluate((el) => el.textContent), text);
    assert.deepEqual(await words.locator("code").evaluateAll((all) => all.map((el) => el.textContent)),
      ["```python\ndef f(x):\n    return x  # `twice`\n```\n", "~~~\nnot closed"]);
    assert.match(await words.locator("code").first().evaluate((el) => getComputedStyle(el).fontFamily), /mono/i);
    await page.done();
  });

  test("on a phone the timeline begins with what was touched last", async () => {
    const page = await openPage(browser, server.url, { size: "phone" });
    await page.view("/timeline?days=91");
    const drawn = await page.locator(".stage ul.vh li").allInnerTexts();
    const chains = isOk(await api.get("/api/v1/chains?limit=500")).items;
    const times = drawn.map((line) => chains.find((c) => line.startsWith(`${c.topic}: `)).last_extended);
    assert.ok(times.length > 1 && times[0] === times.toSorted().at(-1), times.join());
    const box = await page.locator(".tl .lane circle").first().boundingBox();
    assert.ok(box.x >= 0 && box.x < 390, `the first is drawn at ${box.x}`);
    await page.done();
  });

  test("efforts are resolved by a button, dragged, and opened by hand", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/efforts");
    const card = page.locator(".card", { hasText: "quarterly planning meeting" }).first();
    await card.waitFor().catch(async () => assert.fail((await page.text()).slice(0, 1500)));
    await card.getByRole("button", { name: "Turns" }).click();
    await card.locator(".scene").waitFor();
    const openOne = async (name) => {
      await page.getByRole("button", { name: "Open one" }).click();
      await page.getByLabel("What is to be done").fill(name);
      await page.locator("dialog").getByRole("button", { name: "Open", exact: true }).click();
      const opened = page.locator(".card", { hasText: name });
      await opened.waitFor();
      return opened;
    };
    const yard = await openOne("Sweep the yard");
    await yard.getByRole("button", { name: "Resolve" }).click();
    await page.getByLabel("Result, in a few words").fill("swept, all know");
    await page.locator("dialog").getByRole("button", { name: "Resolve" }).click();
    await page.locator(".col", { hasText: "Resolved" }).locator(".end", { hasText: "all know" }).waitFor();
    const fence = await openOne("Paint the fence");
    await fence.dragTo(page.locator(".col", { hasText: "Abandoned" }));
    await page.locator("dialog").getByRole("button", { name: "Abandon" }).click();
    await page.locator(".col", { hasText: "Abandoned" }).locator(".card", { hasText: "Paint the fence" }).waitFor();
    const fences = isOk(await api.get("/api/v1/memories?q=fence")).items;
    assert.equal(fences[0].status, "abandoned");
    await page.done();
  });

  test("a topic is concluded, and reopened, from its lane", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/timeline?days=91");
    const lane = page.locator(".tl .lane").first();
    await lane.focus();
    await page.keyboard.press("Enter");
    const button = page.locator("dialog").getByRole("button", { name: /Conclude|Reopen/ });
    const verb = await button.innerText();
    await button.click();
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await page.locator(".tl .lane").first().waitFor();
    const states = isOk(await api.get("/api/v1/chains")).items.map((c) => c.state);
    assert.ok(states.includes(verb === "Conclude" ? "concluded" : "active"), states.join());
    await page.done();
  });

  test("a link between chats that is not sure is judged", async () => {
    const { items } = isOk(await api.get("/api/v1/links?decision=link"));
    const link = items.find((l) => !l.outcome);
    assert.ok(link, "the demo's chats are linked");
    const page = await openPage(browser, server.url);
    /* as if it were unsure: what is found here is */
    await page.route("**/api/v1/links?*", async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      for (const l of body.items) l.confidence = l.id === link.id ? "uncertain" : "high";
      await route.fulfill({ response: answer, json: { ...body, items: body.items.filter((l) => l.id === link.id) } });
    });
    await page.route(/chats\/[0-9a-f-]+$/, async (route) => { /* … of chats that name no channel */
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...await answer.json(), channels: [] } });
    });
    await page.view("/timeline?days=91");
    await page.locator(".judge .said").first().waitFor();
    assert.ok((await page.locator(".judge .meta span").allInnerTexts()).every(Boolean), "no dots around nothing");
    await page.getByRole("button", { name: "They belong together" }).click();
    await page.getByText("No link waits for a word.").waitFor();
    const judged = isOk(await api.get("/api/v1/links")).items.find((l) => l.id === link.id);
    assert.equal(judged.outcome, "correct");
    await page.done();
  });

  test("the context lab follows message and budget, and copies", async () => {
    const page = await openPage(browser, server.url);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
    await page.view(`/context?chat=${ids.chat}`);
    await page.getByText("Recent turns").waitFor();
    const count = async () => Number((await page.locator(".barkey").innerText()).replaceAll(",", "").match(/(\d+) of/)[1]);
    const first = await count();
    await page.getByLabel("The next message").fill("who replaced the pump bearing?");
    await page.getByRole("heading", { name: "Recalled for this message" }).waitFor();
    const more = await count();
    assert.ok(more > first, `${more} > ${first}`);
    await page.getByLabel("Budget in tokens").fill("28");
    await page.waitForFunction((n) => Number(document.querySelector(".barkey").innerText.replaceAll(",", "").match(/(\d+) of/)[1]) < n, more);
    assert.ok(await page.locator(".bar7 .slice").count() > 0);
    await page.locator(".sec.out li", { hasText: /no room left|too far off|said by something given/ }).first().waitFor();
    await page.getByRole("button", { name: "Anthropic" }).click();
    await page.waitForFunction(() => [...document.querySelectorAll(".head button")].some((b) => b.textContent === "Copied"));
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.ok(Array.isArray(copied) && copied.length >= 1);
    await page.done();
  });

  test("calls are drawn with their branches, and their secrets masked", async () => {
    const made = isOk(await api.post("/api/v1/link", { user_id: "ada", model: "m", messages: [{ role: "user", content: "my key is sk-abcdefghijklmnop1234 please use it" }] }));
    const page = await openPage(browser, server.url);
    await page.view("/calls");
    await page.locator(".log-r").first().waitFor();
    assert.ok(await page.locator(".gg rect").count() >= 2, "sub-agents are squares");
    assert.match(await page.text(), /compact/);
    /* two calls of sub-agents have a price, the others only tokens */
    assert.match(await page.locator(".head .sum").innerText(), /these \d+: [\d.]+k in, [\d,]+ out, cost \.0054 \(\d+ without a price\)/);
    assert.equal(await page.locator(".log-r .cost", { hasText: ".0027" }).count(), 2);
    await page.locator(".log-r", { hasText: "my key is" }).click();
    await page.getByText("Sent, as stored").waitFor();
    assert.ok(!(await page.locator(".raw").innerText()).includes("sk-abc"));
    assert.match(await page.locator(".raw").innerText(), /masked/);
    assert.ok(page.url().includes(made.request_id));
    await page.getByLabel("Model").selectOption("claude-haiku");
    await page.waitForFunction(() => [...document.querySelectorAll(".log-r")].length === 2);
    assert.match(await page.locator(".head .sum").innerText(), /these 2: 2,400 in, 600 out, cost \.0054$/);
    await page.locator(".log-r").first().click();
    await page.locator(".call dd", { hasText: ".0027, at the prices set here" }).waitFor();
    await page.getByRole("link", { name: "conversation" }).click();
    await page.done();
  });

  test("the tree of a session shows its compaction and its two sub-agents", async () => {
    const page = await openPage(browser, server.url);
    await page.view(`/tree/${ids.conversation}`);
    const names = await page.locator(".tree-svg .node").allInnerTexts();
    const list = (await page.locator(".tree-svg .node").evaluateAll((all) => all.map((a) => a.textContent))).join("\n");
    assert.equal((list.match(/sub-agent/g) ?? []).length, 2, list);
    assert.equal((list.match(/after a compaction/g) ?? []).length, 1, list);
    assert.match(list, /fork/);
    assert.ok(names.length >= 5);
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.locator(".side h2", { hasText: /turn \d+ of/ }).waitFor();
    await page.done();
  });

  test("what an agent wrote is undone after a look at it", async () => {
    isOk(await api.post("/api/v1/memory", { prompt: "All servers of the cluster are painted red since the last inspection.", agent_id: "rogue", agent_name: "Rogue" }));
    const page = await openPage(browser, server.url);
    await page.view("/agents");
    await page.locator("tr", { hasText: "Rogue" }).getByRole("button", { name: "Undo…" }).click();
    await page.getByRole("button", { name: "Show what would go" }).click();
    await page.locator("dialog", { hasText: "painted red" }).getByRole("button", { name: "Take back" }).click();
    await page.locator("dialog", { hasText: "Taken back" }).getByRole("button", { name: "Close" }).click();
    const left = isOk(await api.get("/api/v1/memories?agent_id=rogue&retracted=true")).items;
    assert.ok(left.length === 1 && left[0].retracted_at);
    await page.done();
  });

  test("a file is dropped, with progress; everything is exported; a foreign file is told so", async () => {
    const folder = tempFolder();
    const page = await openPage(browser, server.url);
    await page.view("/system");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export everything" }).click()]);
    const file = path.join(folder, "all.jsonl");
    await download.saveAs(file);
    assert.ok(fs.readFileSync(file, "utf8").split("\n").length > 50);
    await page.setInputFiles("#import-file", file);
    await page.getByText("brought in").waitFor();
    fs.writeFileSync(path.join(folder, "other.json"), "[1, 2\n");
    await page.setInputFiles("#import-file", path.join(folder, "other.json"));
    page.allowed.push(/400/);
    await page.getByText(/other\.json cannot be read: conversation 1 .*Nothing of it was kept/s).waitFor().catch(async () => assert.fail(await page.text()));
    /* of another program, as it is handed out: a zip */
    const chatgpt = fs.readFileSync(new URL("../fuzz/corpus/import/chatgpt.json", import.meta.url), "utf8");
    fs.writeFileSync(path.join(folder, "chatgpt.zip"), zip({ "conversations.json": chatgpt, "user.json": "{}" }));
    await page.setInputFiles("#import-file", path.join(folder, "chatgpt.zip"));
    await page.getByText("chatgpt: 1 conversation, 3 messages, 3 of them new").waitFor().catch(async () => assert.fail(await page.text()));
    await page.setInputFiles("#import-file", []);
    await page.setInputFiles("#import-file", path.join(folder, "chatgpt.zip"));
    await page.getByText("All of it was there already").waitFor();
    assert.deepEqual(fs.readdirSync(server.data).filter((name) => name.startsWith("upload-")), []);
    isOk(await api.post("/api/v1/turns", said("hello events", { channel: "sms" })), 201);
    await page.locator(".feed", { hasText: "turn" }).waitFor();
    await page.done();
  });

  test("a backup says first what it will do, and gives the receipt", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/system");
    if (backend !== "sqlite") {
      await page.locator(".code", { hasText: "pg_dump" }).waitFor();
      isError(await api.post("/api/v1/backup", {}), 409, "CONFLICT");
      return page.done();
    }
    const folder = path.join(server.data, "backups");
    await page.getByRole("button", { name: "Back up the store…" }).click();
    await page.locator("dialog", { hasText: "Nothing is changed" }).waitFor();
    assert.ok(!fs.existsSync(folder), "nothing is made before one agrees");
    await page.locator("dialog").getByRole("button", { name: "Back up" }).click();
    await page.locator("dialog", { hasText: "The receipt" }).waitFor();
    const [sum, file] = (await page.locator("dialog .code").first().innerText()).replace(/\s*copy$/i, "").split(/ +/);
    assert.equal(path.dirname(file), folder);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.equal(crypto.createHash("sha256").update(fs.readFileSync(file)).digest("hex"), sum);
    await page.locator("dialog").getByRole("button", { name: "Close" }).click();
    /* it is a whole store */
    const again = tempFolder();
    fs.copyFileSync(file, path.join(again, "clew.db"));
    const { stdout } = await clew(again, undefined, "verify", "--quick", "--json");
    assert.ok(JSON.parse(stdout), stdout);
    fs.rmSync(again, { recursive: true });
    /* and the folder does not fill the disk */
    for (let i = 0; i < 19; i++) fs.writeFileSync(path.join(folder, `clew-${i}.db`), "");
    isError(await api.post("/api/v1/backup", {}), 409, "CONFLICT");
    assert.equal(fs.readdirSync(folder).length, 20);
    await page.done();
  });

  test("the keyboard alone is enough", async () => {
    const page = await openPage(browser, server.url);
    await page.view("/home");
    await page.keyboard.press("?");
    await page.locator("dialog", { hasText: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("heading", { name: "Memories", exact: true }).waitFor();
    await page.locator(".ml-row").first().waitFor();
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement.matches(".ml-row"));
    const first = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("j");
    assert.notEqual(await page.evaluate(() => document.activeElement.textContent), first);
    await page.keyboard.press("Enter");
    await page.locator(".det .say").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { name: "Chats" }).waitFor();
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "q");
    await page.keyboard.press("Escape");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "q");
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
    await page.done();
  });

  if (backend === "sqlite") {
    test("the picture of the README is made", async (t) => {
      if (!process.env.CLEW_PICTURE) return t.skip("CLEW_PICTURE names no file");
      const page = await openPage(browser, server.url);
      await page.setViewportSize({ width: 1200, height: 740 });
      await page.view(`/chat/${ids.chat}?at=3`);
      await page.locator(".turn.sel").waitFor();
      await page.screenshot({ path: process.env.CLEW_PICTURE });
      await page.done();
      return undefined;
    });
  }
});
