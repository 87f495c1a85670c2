/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page-large.test.mjs - the page on much: a long chat scrolled, many memories
 * filtered, a full board. PAGE_LARGE=1 takes 100,000 turns and 50,000 memories
 * instead of a tenth of that.
 *
 * What was measured is told. Only the long run holds times against what a person
 * notices: the short one, which runs beside other tests, against what it would
 * take if all of it were in the document.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { openPage, startBrowser } from "./lib/browser.mjs";
import { isOk } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const scale = process.env.PAGE_LARGE ? 1 : 0.1;
const TURNS = 100_000 * scale;
const MEMORIES = 50_000 * scale;
const HEAP = 200e6;
const MOST_MS = process.env.PAGE_LARGE ? 100 : 2000;

/* Milliseconds from an input to the second frame after it, for each of `n`. */
async function answerTimes(page, n, does) {
  const times = [];
  for (let i = 0; i < n; i++) {
    times.push(await page.evaluate(async ([source, k]) => {
      const began = performance.now();
      await new Function("k", `return (${source})(k)`)(k); // eslint-disable-line no-new-func
      await new Promise((r) => { requestAnimationFrame(() => requestAnimationFrame(r)); });
      return performance.now() - began;
    }, [does.toString(), i]));
  }
  return times.sort((a, b) => a - b);
}
const middle = (list) => list[list.length >> 1];
async function heapOf(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  await cdp.send("Performance.enable");
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find((m) => m.name === "JSHeapUsedSize").value;
}

describe("the page on much", () => {
  let server;
  let api;
  let browser;
  let chat;

  before(async () => {
    /* turns are only stored: what they mean is not what is tested */
    server = await startServer({ args: ["--set", "capture.observe=false"] });
    api = server.api();
    chat = isOk(await api.post("/api/v1/chats", { user_id: "ada", title: "A long talk" }), 201).id;
    const at = Date.UTC(2026, 0, 1);
    for (let from = 0; from < TURNS; from += 1000) {
      isOk(await api.post("/api/v1/turns", { turns: Array.from({ length: 1000 }, (_, i) => {
        const n = from + i + 1;
        return { user_id: "ada", chat_id: chat, role: n % 2 ? "user" : "assistant", content: `Turn ${n}. ${"Words about the harbour and its boats. ".repeat(1 + n % 7)}`, created_at: new Date(at + n * 60_000).toISOString() };
      }) }), 201);
    }
    const words = ["hazelnuts", "boilers", "invoices", "planning", "harbour"];
    for (let from = 0; from < MEMORIES; from += 500) {
      isOk(await api.post("/api/v1/import", { rows: Array.from({ length: 500 }, (_, i) => {
        const n = from + i;
        const id = `0190${(n + 0x1000000).toString(16).slice(-7, -3).padStart(4, "0")}-${(n & 0xffff).toString(16).padStart(4, "0")}-7000-8000-${n.toString(16).padStart(12, "0")}`;
        const when = new Date(at + n * 1000).toISOString();
        return { type: "memory", id, user_id: n % 3 ? "ada" : "ben", memory_type: ["fact", "event", "decision"][n % 3], status: "active", summary: `Memory ${n} speaks of ${words[n % 5]}`, tags: words[n % 5], origin: "person", lineage: "original",
          is_instruction: 0, token_count: 8, weight: 1, weight_at: when, retrieval_count: 0, created_at: when, updated_at: when };
      }) }));
    }
    for (let i = 0; i < 200; i++) isOk(await api.post("/api/v1/efforts", { user_id: "ada", goal: `Finish piece number ${i} of the quay` }), 201);
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await server.stop();
  });

  test("a long chat is scrolled from end to end", async (t) => {
    const page = await openPage(browser, server.url);
    await page.view(`/chat/${chat}`);
    await page.locator(".turn", { hasText: `Turn ${TURNS}.` }).first().waitFor();
    const jumps = await answerTimes(page, 30, (k) => { const v = document.querySelector(".view"); v.scrollTop = v.scrollHeight * ((k * 37) % 100) / 100; });
    const steps = await answerTimes(page, 60, () => { document.querySelector(".view").scrollTop -= 600; });
    assert.ok(await page.locator(".turn").count() < 120, "only what is in sight is in the document");
    await page.evaluate(() => { document.querySelector(".view").scrollTop = 0; });
    await page.locator(".turn", { hasText: "Turn 1." }).first().waitFor();
    await page.view(`/chat/${chat}?at=${TURNS / 2}`);
    await page.locator(".turn.sel", { hasText: `Turn ${TURNS / 2}.` }).waitFor();
    assert.ok(await page.locator(".turn.sel").isVisible());
    const heap = await heapOf(page);
    t.diagnostic(`${TURNS} turns: jump ${middle(jumps).toFixed(0)} ms (most ${jumps.at(-1).toFixed(0)}), step ${middle(steps).toFixed(0)} ms (most ${steps.at(-1).toFixed(0)}), heap ${(heap / 1e6).toFixed(1)} MB`);
    assert.ok(middle(jumps) < MOST_MS && middle(steps) < MOST_MS, `${middle(jumps)} and ${middle(steps)} ms`);
    assert.ok(heap < HEAP, `${heap} bytes`);
    await page.done();
  });

  test("many memories are filtered and scrolled", async (t) => {
    const page = await openPage(browser, server.url);
    await page.view("/memories");
    await page.locator(".ml-row").first().waitFor();
    const typing = await answerTimes(page, 10, (k) => {
      const box = document.querySelector(".facets input");
      box.value = "harbour".slice(0, 1 + k % 7);
      box.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.getByLabel("With the words").fill("speaks of harbour");
    await page.waitForFunction(() => [...document.querySelectorAll(".ml-row .st")].length > 5 && [...document.querySelectorAll(".ml-row .st")].every((x) => x.textContent.includes("harbour")));
    await page.getByLabel("With the words").fill("");
    await page.waitForFunction(() => [...document.querySelectorAll(".ml-row .st")].some((x) => x.textContent.includes("quay")));
    /* to the very end: page after page of the cursor */
    const began = Date.now();
    await page.evaluate(async () => {
      const pane = document.querySelector(".ml");
      for (let last = -1; last !== pane.scrollHeight || !document.querySelector(".ml").innerText.includes("Memory 0 ");) {
        last = pane.scrollHeight;
        pane.scrollTop = pane.scrollHeight;
        await new Promise((r) => { setTimeout(r, 60); });
      }
    });
    const whole = Date.now() - began;
    const steps = await answerTimes(page, 40, (k) => { const pane = document.querySelector(".ml"); pane.scrollTop = pane.scrollHeight * ((k * 29) % 100) / 100; });
    assert.ok(await page.locator(".ml-row").count() < 120);
    const heap = await heapOf(page);
    t.diagnostic(`${MEMORIES} memories: typing ${middle(typing).toFixed(0)} ms, to the end ${(whole / 1000).toFixed(1)} s, scroll ${middle(steps).toFixed(0)} ms (most ${steps.at(-1).toFixed(0)}), heap ${(heap / 1e6).toFixed(1)} MB`);
    assert.ok(middle(typing) < MOST_MS && middle(steps) < MOST_MS);
    assert.ok(heap < HEAP, `${heap} bytes`);
    await page.done();
  });

  test("a board of 200 efforts answers", async (t) => {
    const page = await openPage(browser, server.url);
    await page.view("/efforts");
    await page.locator(".card").first().waitFor();
    const steps = await answerTimes(page, 30, (k) => { const v = document.querySelector(".view"); v.scrollTop = v.scrollHeight * ((k * 37) % 100) / 100; });
    t.diagnostic(`board: scroll ${middle(steps).toFixed(0)} ms (most ${steps.at(-1).toFixed(0)})`);
    assert.ok(middle(steps) < MOST_MS);
    await page.getByRole("button", { name: /more$/ }).first().click();
    assert.ok(await page.locator(".card").count() > 100);
    await page.done();
  });
});
