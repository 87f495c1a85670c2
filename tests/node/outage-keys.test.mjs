/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage-keys.test.mjs - who may use the proxy while the store is down.
 *
 * Calls must go on, but only for keys that the store confirmed shortly before:
 * not for revoked ones, not for those it never saw, not without one.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";

import { startPostgres } from "./lib/postgres.mjs";
import { clew, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

describe("keys while the store is down", () => {
  const elsewhere = tempFolder(); /* the data folder of another machine */
  let postgres;
  let upstream;
  let server;

  before(async () => {
    postgres = await startPostgres();
    upstream = await startUpstream();
    server = await startServer({ store: postgres.database(),
      args: ["--upstream", `anthropic=${upstream.url}`] });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
    await postgres.stop();
    fs.rmSync(elsewhere, { recursive: true, force: true });
  });

  async function ask(key, headers = {}, mount = "") {
    const answer = await fetch(`${server.url}${mount}/v1/messages`, { method: "POST",
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
      headers: { "content-type": "application/json",
        ...(key ? { "x-clew-key": key } : {}), ...headers } });
    await answer.text();
    return answer.status;
  }
  const byPath = (key) => ask(undefined, {}, `/key/${key}`);
  const confirmations = async () => Number(/^clew_key_confirmations_total (\d+)$/m
    .exec((await server.api().get("/metrics")).text)?.[1] ?? NaN);

  test("nobody who was let in once is let in for that alone", { timeout: 600_000 }, async () => {
    assert.equal(await ask(), 200, "no key was ever made");
    const good = await server.key("t", "write");
    const reading = await server.key("t", "read");
    const here = await server.key("t", "write");
    const there = await server.key("t", "write");
    const unused = await server.key("t", "write");
    for (const key of [good, here, there]) assert.equal(await ask(key), 200);
    assert.equal(await ask(reading), 403);
    assert.equal(await byPath(good), 200);
    await server.clew("keys", "revoke", here.split("_")[1]);
    await clew(elsewhere, server.store, "keys", "revoke", there.split("_")[1]);
    const since = await confirmations();
    assert.ok(since >= 0, "the server confirms what it knows");
    await until("the store was asked again", async () => await confirmations() >= since + 2);
    await postgres.stopOrderly();
    const refusals = { here, there, unused, none: undefined, malformed: "x",
      unknown: `clew_${"0".repeat(16)}_${"0".repeat(64)}`,
      forged: good.slice(0, -1) + (good.endsWith("0") ? "1" : "0") };
    for (const [what, key] of Object.entries(refusals)) {
      const status = await ask(key);
      assert.ok(status === 401 || status === 503, `${what}: ${status}`);
    }
    assert.equal(await ask(reading), 403);
    assert.equal(await ask(good), 200, "calls go on for who is known");
    assert.equal(await byPath(good), 200);
    assert.equal(await byPath(here), 503);
    /* the provider's key is not ours */
    assert.ok(await ask(undefined, { "x-api-key": good }) >= 400);
    await postgres.start();
    await until("the store is back", async () => await ask(here) === 401);
    assert.equal(await ask(there), 401);
    assert.equal(await ask(good), 200);
  });
});
