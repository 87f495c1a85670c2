/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.mjs - the page in a real Chromium.
 *
 * openPage() watches what the page does: every console error, every exception
 * and every request to another origin is a fault that the test finds in
 * `page.faults` (the few that a test provokes are allowed by their words).
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";

import { chromium } from "playwright-core";

import { PATIENCE_MS } from "./wait.mjs";

const program = process.env.CLEW_TEST_CHROMIUM ?? "/usr/bin/chromium";
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const startBrowser = () => chromium.launch({ executablePath: program, args: flags, timeout: PATIENCE_MS });

export const sizes = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 800 } };

/* A tab at an address of the page. */
export async function openPage(browser, url, { size = "desk", scheme = "light", key, context } = {}) {
  const home = context ?? await browser.newContext({
    viewport: sizes[size], colorScheme: scheme, hasTouch: size === "phone", reducedMotion: "reduce",
    locale: "en-GB", timezoneId: "UTC", serviceWorkers: "block", acceptDownloads: true,
  });
  const page = await home.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const origin = new URL(url).origin;
  page.faults = [];
  page.allowed = [];
  const fault = (text) => { if (!page.allowed.some((a) => a.test(text))) page.faults.push(text); };
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") fault(`${m.type()}: ${m.text()} ${m.location().url}`); });
  page.on("pageerror", (e) => fault(`exception: ${e.stack ?? e}`));
  page.on("dialog", (d) => { fault(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== origin) fault(`request to ${r.url()}`); });
  if (key) await page.addInitScript((k) => { if (!sessionStorage.getItem("clew-key")) sessionStorage.setItem("clew-key", k); }, key);
  /* Go to a view and wait until it stands. */
  page.view = async (hash) => {
    const goal = new URL(`${url}/#${hash}`);
    if (new URL(page.url()).origin !== origin) await page.goto(goal.href);
    else {
      const isThere = await page.evaluate((to) => {
        if (location.hash === to) return true; /* nothing happens */
        delete document.querySelector(".stage").dataset.shown;
        location.hash = to;
        return false;
      }, goal.hash);
      if (isThere) return page;
    }
    await page.waitForFunction((to) => document.querySelector(".stage")?.dataset.shown === to
      && document.querySelector(".stage > .view")?.childElementCount > 0, goal.hash);
    return page;
  };
  page.text = () => page.locator(".stage").innerText();
  page.done = async () => {
    const { faults } = page;
    await (context ? page : home).close();
    assert.deepEqual(faults, []);
  };
  return page;
}

/* What an accessibility checker finds serious. */
export async function seriousFaults(page) {
  /* the checker is a script from outside: it comes by the debugger, which the
   * page's policy does not bind */
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, {
    resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
  }));
  return found.violations.filter((v) => ["serious", "critical"].includes(v.impact))
    .map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.failureSummary?.split("\n").slice(1, 3).join(" ") ?? ""}`).join(" | ")}`);
}
