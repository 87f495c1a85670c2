/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy while its store is down: calls go through as ever, captures wait in
 * files within their bound, and are stored when the store is back.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { startPostgres } from "./lib/postgres.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const user = (content) => ({ role: "user", content });
const said = (content) => ({ role: "assistant", content });

/* One number of /metrics. */
async function metric(server, name) {
  const { text } = await server.api().get("/metrics");
  const line = text.split("\n").find((l) => l.startsWith(`${name} `));
  assert.ok(line, `${name} in\n${text}`);
  return Number(line.split(" ").at(-1));
}

describe("while the store is down", () => {
  const limit = 64 * 1024;
  const data = tempFolder();
  const spool = path.join(data, "spool");
  const files = () => fs.readdirSync(spool).filter((name) => name.endsWith(".call"));
  const stored = 'clew_captures_total{result="stored"}';
  const lost = 'clew_captures_total{result="lost"}';
  let postgres;
  let upstream;
  let server;
  let options;

  before(async () => {
    postgres = await startPostgres();
    upstream = await startUpstream();
    options = { data, store: postgres.database(),
      args: ["--upstream", `anthropic=${upstream.url}`],
      env: { CLEW_PROXY_SPOOL_BYTES: String(limit) } };
    server = await startServer(options);
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
    await postgres.stop();
    fs.rmSync(data, { recursive: true, force: true });
  });

  /* The bytes of an answer, through the proxy or not. */
  async function ask(url, messages, stream = false) {
    const answer = await fetch(`${url}/v1/messages`, {
      method: "POST", body: JSON.stringify({ model: "m", stream, messages }),
      headers: { "content-type": "application/json", "accept-encoding": "identity" } });
    return { status: answer.status, text: await answer.text() };
  }
  const one = [user("one")];
  const two = [...one, said("echo: one"), user("two")];
  const three = [...two, said("echo: two"), user("three")];

  test("calls go through byte for byte and wait in the spool", async () => {
    assert.equal((await ask(server.url, one)).status, 200);
    await until("the first is stored", async () => await metric(server, stored) === 1);
    await postgres.stopOrderly();
    for (const [messages, stream] of [[two, false], [three, true]]) {
      assert.deepEqual(await ask(server.url, messages, stream), await ask(upstream.url, messages, stream));
    }
    await until("both wait in files", () => files().length === 2);
    await until("both are counted", async () =>
      await metric(server, "clew_captures_spooled_total") === 2
      && await metric(server, "clew_captures_waiting") === 2
      && await metric(server, "clew_store_up") === 0);
    assert.ok(await metric(server, "clew_spool_bytes") > 0);
    assert.equal(fs.statSync(spool).mode & 0o077, 0, "nobody else may read it");
  });

  test("what is over the ceiling is counted as lost, and the call still goes through", async () => {
    const long = "x".repeat(20_000);
    for (let i = 0; i < 6; i++) {
      assert.equal((await ask(server.url, [user(`${i} ${long}`)])).status, 200);
    }
    /* an answer is out before its capture is taken: all eight, in one look */
    await until("each waits or is lost", async () => {
      const { text } = await server.api().get("/metrics");
      const [waits, gone] = ["clew_captures_waiting", lost].map((name) =>
        Number(text.split("\n").find((l) => l.startsWith(`${name} `)).split(" ").at(-1)));
      assert.ok(waits + gone <= 8, `${waits} wait, ${gone} are lost`);
      return gone > 0 && waits + gone === 8;
    });
    const bytes = files().map((name) => fs.statSync(path.join(spool, name)).size);
    assert.ok(bytes.reduce((a, b) => a + b) <= limit, String(bytes));
  });

  test("a killed server finds its spool again and stores it in order", async () => {
    const waiting = files().length;
    await server.stop("SIGKILL");
    await postgres.start();
    server = await startServer(options);
    await until("the spool is empty", async () => files().length === 0 &&
      await metric(server, "clew_captures_waiting") === 0);
    assert.equal(await metric(server, "clew_captures_replayed_total"), waiting);
    assert.equal(await metric(server, lost), 0);
    const { body } = await server.api().get("/api/v1/requests?limit=100");
    const [a, b, c] = body.items.reverse();
    assert.equal(body.items.length, 1 + waiting);
    assert.deepEqual([b.parent_request_id, c.parent_request_id], [a.request_id, b.request_id]);
    assert.equal(c.strategy, "exact");
    assert.equal(c.is_complete, true);
  });

  test("an outage while it runs is made up for without a restart", async () => {
    const before = await metric(server, "clew_captures_replayed_total");
    await postgres.stopOrderly();
    assert.equal((await ask(server.url, [...three, said("echo: three"), user("four")])).status, 200);
    await until("it waits", () => files().length === 1);
    await postgres.start();
    await until("it is stored", async () =>
      await metric(server, "clew_captures_replayed_total") === before + 1);
    await until("its file is gone", () => files().length === 0);
    const { body } = await server.api().get("/api/v1/requests?limit=1");
    assert.equal(body.items[0].message_count, 7);
    assert.equal(body.items[0].strategy, "exact");
  });
});
