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

const program = process.env.CLEW_TEST_CHROMIUM ?? "/usr/bin/chromium";
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const startBrowser = () => chromium.launch({ executablePath: program, args: flags, timeout: 60_000 });

export const sizes = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 800 } };

/* A tab at an address of the page. */
export async function openPage(browser, url, { size = "desk", scheme = "light", key, context } = {}) {
  const home = context ?? await browser.newContext({
    viewport: sizes[size], colorScheme: scheme, hasTouch: size === "phone", reducedMotion: "reduce",
    locale: "en-GB", timezoneId: "UTC", serviceWorkers: "block", acceptDownloads: true,
  });
  const page = await home.newPage();
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
    const here = new URL(page.url() === "about:blank" ? "about:blank" : page.url());
    const mark = `${Math.random()}`;
    await page.evaluate((m) => { const view = document.querySelector(".stage > .view"); if (view) { view.dataset.old = m; delete view.dataset.at; } }, mark).catch(() => {});
    if (here.origin === origin) await page.evaluate((to) => { location.hash = to; }, `#${hash}`);
    else await page.goto(`${url}/#${hash}`);
    /* a new view, or the old one that took the new address itself */
    await page.waitForFunction((m) => {
      const view = document.querySelector(".stage > .view");
      return view && (view.dataset.old !== m || view.dataset.at) && view.childElementCount > 0;
    }, mark, { timeout: 60_000 });
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
