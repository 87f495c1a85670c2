/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.test.mjs - a hundred verdicts tune the links, and it can be undone.
 *
 * Over HTTP from end to end: turns make decisions, feedback judges them, a task
 * tunes, /api/v1/tuning shows it with its history, reverts step back.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

/*
 * Each of many people says something, and five days later something that is
 * joined with it only just; all say the same of it.
 */
async function judge(api, wanted, outcome = "incorrect", who = "u") {
  const start = Date.parse("2026-01-05T08:00:00Z");
  for (let n = 0, i = 0; n < wanted; i++) {
    let chat;
    for (const [content, days] of [
      ["Remind me to buy milk", 0], ["Also eggs, please", 5]]) {
      const told = await api.post("/api/v1/turns", {
        user_id: `${who}${i}`, role: "user", channel: "sms", content,
        created_at: new Date(start + days * 86400000 + i).toISOString(),
      });
      assert.equal(told.status, 201);
      chat = told.body.chat.id;
    }
    const links = await api.get(`/api/v1/links?limit=10&chat_id=${chat}`);
    assert.equal(links.status, 200);
    assert.ok(links.body.items.length > 0);
    for (const link of links.body.items) {
      const answer = await api.post(
        `/api/v1/links/${link.id}/feedback`, { outcome });
      assert.equal(answer.status, 200);
      assert.equal(answer.body.outcome, outcome);
      n++;
    }
  }
}

/* A worker does it by itself. */
const tuned = (api, n) => until("it is tuned", async () => {
  const answer = await api.get("/api/v1/tuning");
  assert.equal(answer.status, 200);
  return answer.body.history.length >= n && answer.body;
});

onEachBackend("tuning", (open) => {
  let server;
  let api;
  test("before any verdict the settings are in force", async () => {
    server = await open();
    api = server.api();
    const answer = await api.get("/api/v1/tuning");
    assert.equal(answer.status, 200);
    assert.equal(answer.body.current.id, null);
    assert.equal(answer.body.current.threshold, 0.7);
    assert.deepEqual(answer.body.history, []);
    const revert = await api.post("/api/v1/tuning/revert", {});
    assert.equal(revert.status, 409);
    assert.equal(revert.body.error.code, "CONFLICT");
  });

  let first;
  test("a hundred verdicts tune, and the record says why", async () => {
    await judge(api, 100);
    first = (await tuned(api, 1)).current;
    assert.equal(first.current, true);
    assert.notDeepEqual([first.threshold, first.weights],
      [0.7, { keyword: 0.3, entity: 0.3, topic: 0.2, recency: 0.2 }]);
    assert.ok(first.threshold > 0.7 && first.threshold <= 0.9);
    assert.ok(first.reason.length > 0);
    for (const name of ["accuracy_before", "accuracy_after"]) {
      assert.equal(typeof first.metrics[name], "number");
    }
    assert.ok(first.metrics.accuracy_after > first.metrics.accuracy_before);
  });

  test("reverts step back to the defaults, and say what they did", async () => {
    await judge(api, 100, "incorrect", "v");
    const { history } = await tuned(api, 2);
    const kept = history.filter((item) => !/^nothing changed/.test(item.reason));
    const values = ({ threshold, weights }) => ({ threshold, weights });
    /* each step in its turn, the last one to the defaults */
    for (let i = 1; i <= kept.length; i++) {
      const back = await api.post("/api/v1/tuning/revert", {});
      assert.equal(back.status, 200);
      assert.deepEqual(values(back.body), i < kept.length ? values(kept[i])
        : { threshold: 0.7,
          weights: { keyword: 0.3, entity: 0.3, topic: 0.2, recency: 0.2 } });
      assert.match(back.body.reason, i < kept.length
        ? /^reverted by hand to the tuning before: threshold 0\.\d\d to 0\.\d\d/
        : /^reverted by hand to the defaults: threshold 0\.\d\d to 0\.70/);
    }
    const more = await api.post("/api/v1/tuning/revert", {});
    assert.equal(more.status, 409);
    assert.match(more.body.error.message, /defaults are in force/);
    const now = (await api.get("/api/v1/tuning")).body;
    assert.equal(now.history.length, history.length + kept.length);
    assert.equal(now.history.filter((item) => item.current).length, 1);
  });

  test("a tuning that changes nothing says so", async () => {
    const content = server.api(await server.key("content"));
    await judge(content, 100, "correct", "w");
    const { current, history } = await tuned(content, 1);
    assert.equal(current.id, null);
    assert.equal(current.threshold, 0.7);
    assert.match(history[0].reason, /^nothing changed: .*accuracy 1\.000/);
    assert.equal(history[0].current, false);
  });

  test("another tenant's tuning is its own", async () => {
    const other = server.api(await server.key("other"));
    const answer = await other.get("/api/v1/tuning");
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body.history, []);
  });

  test("all of it follows from the log", async () => {
    const report = JSON.parse((await server.clew("verify", "--json")).stdout);
    assert.equal(report.ok, true);
    assert.deepEqual(report.differences, []);
  });
});
