/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage.test.mjs - the database goes away while clients write.
 *
 * The program never ends: it answers 503 with a stable code while there is no
 * database, and goes on by itself when there is one again. What it had
 * acknowledged is there; what it refused is there at most once.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { fullDisk, needsFullDisk, startServer, tempFolder } from "./lib/server.mjs";
import { Ledger, randomFrom } from "./lib/writers.mjs";

process.env.CLEW_TEST_READS = "no";
needsFullDisk();

const clients = 8;
const codes = new Set(["UNAVAILABLE", "BUSY"]);

/* Start the writers of one server; their names begin with `prefix`. */
function startWriters(ledger, server, prefix = "") {
  return [...Array(clients).keys()].map((i) =>
    ledger.write(server.api(), `${prefix}user${i}`));
}

/* End the writers, and compare what they were told with what is there. */
async function settle(ledger, writers, servers) {
  ledger.isOver = true;
  await Promise.all(writers);
  assert.ok(ledger.refusals.length > 0, "nobody noticed");
  for (const { status, body } of ledger.refusals) {
    assert.equal(status, 503);
    assert.ok(codes.has(body.error.code), body.error.code);
  }
  for (const server of servers) {
    assert.equal(server.child.exitCode, null, server.log());
    await ledger.settle(server.api());
  }
  await servers[0].clew("verify"); /* rejects if it finds something */
}

/* Resolves once the server says that it has no database. */
async function seenDown(server) {
  while ((await server.api().get("/healthz")).status !== 503) continue;
}

describe("outages", () => {
  test("two processes follow the database to its standby",
    { timeout: 600_000 }, async (t) => {
      const postgres = await startPostgres({ standby: true });
      t.after(() => postgres.stop());
      const store = postgres.database();
      const servers = [];
      t.after(() => Promise.all(servers.map((server) => server.stop())));
      for (let i = 0; i < 2; i++) servers.push(await startServer({ store }));
      const ledgers = servers.map((_, i) => new Ledger(randomFrom(i)));
      const writers = ledgers.map((ledger, i) =>
        startWriters(ledger, servers[i], `p${i}`));
      await Promise.all(ledgers.map((ledger) => ledger.more(50)));
      await postgres.failOver();
      await Promise.all(ledgers.map((ledger) => ledger.more(50)));
      for (const ledger of ledgers) ledger.isOver = true;
      await Promise.all(writers.flat());
      for (const ledger of ledgers) await settle(ledger, [], servers);
      /* Each finds what the other wrote after the change. */
      for (const [i, server] of servers.entries()) {
        const text = `the gardener of number ${i} grows quinces`;
        isOk(await server.api().post("/api/v1/turns",
          { user_id: "q", role: "user", content: text }), 201);
        const found = isOk(await servers[1 - i].api().post("/api/v1/recall",
          { query: `number ${i} quinces`, user_id: "q", kinds: ["turn"] }));
        assert.ok(found.items.some((item) => item.text === text));
      }
    });

  for (const [how, end] of [["crashes", "crash"], ["is stopped", "stopOrderly"]]) {
    test(`a database that ${how} in mid-write is waited for`,
      { timeout: 600_000 }, async (t) => {
        const postgres = await startPostgres();
        t.after(() => postgres.stop());
        const server = await startServer({ store: postgres.database() });
        t.after(() => server.stop());
        const ledger = new Ledger(randomFrom(1));
        const writers = startWriters(ledger, server);
        for (let round = 0; round < 3; round++) {
          await ledger.more(30);
          await postgres[end]();
          await seenDown(server);
          await postgres.start();
          await ledger.more(30);
        }
        await settle(ledger, writers, [server]);
        isOk(await server.api().get("/healthz"));
      });
  }

  /* Writes are refused for a while; what reads still answers. */
  async function sitOut(server, ledger, disk) {
    await ledger.more(30);
    disk.set(true);
    const before = ledger.refusals.length;
    while (ledger.refusals.length < before + clients) {
      isOk(await server.api().get("/api/v1/chats?limit=5"));
      isOk(await server.api().post("/api/v1/recall", { query: "meeting" }));
    }
    disk.set(false);
    await ledger.more(30);
  }

  for (const backend of ["sqlite", "postgres"]) {
    test(`a full disk under ${backend} refuses and recovers`,
      { timeout: 600_000 }, async (t) => {
        const data = tempFolder();
        const postgres = backend === "postgres" && await startPostgres();
        const disk = fullDisk(postgres ? `${postgres.data}/base/` : data);
        t.after(() => postgres && postgres.stop());
        const store = postgres ? postgres.database() : undefined;
        if (postgres) {
          await postgres.stopOrderly();
          await postgres.start(disk.env);
        }
        const server = await startServer(
          { data, store, env: postgres ? {} : disk.env });
        t.after(() => server.stop());
        const ledger = new Ledger(randomFrom(2));
        const writers = startWriters(ledger, server);
        for (let round = 0; round < 3; round++) {
          await sitOut(server, ledger, disk);
        }
        await settle(ledger, writers, [server]);
      });
  }
});
