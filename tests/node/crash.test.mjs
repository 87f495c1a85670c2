/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.test.mjs - the server is killed while sixteen clients write.
 *
 * What was acknowledged is there, once; a batch is there whole or not at all;
 * `clew verify` finds nothing. CRASH_KILLS says how often (make crash: 100);
 * CRASH_SEED repeats a run.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { client, tempFolder } from "./lib/server.mjs";
import { Ledger, randomFrom } from "./lib/writers.mjs";

process.env.CLEW_TEST_READS = "no";

const kills = Number(process.env.CRASH_KILLS ?? 4);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100000);
const clients = 16;

onEachBackend("killed while writing", (open) => {
  test(`nothing acknowledged is lost in ${kills} kills (seed ${seed})`,
    { timeout: 600_000 + kills * 60_000 }, async () => {
      const random = randomFrom(seed);
      const ledger = new Ledger(random);
      const data = tempFolder();
      const first = await open({ data });
      let server = first;
      for (let round = 0; round < kills; round++) {
        const api = client(server.url);
        const written = ledger.more(1);
        const writers = [...Array(clients).keys()].map((i) =>
          ledger.write(api, `user${i}`, round));
        await written; /* a busy machine takes its time */
        await pause(random() * 400); /* the moment is the test */
        server.child.kill("SIGKILL");
        await Promise.all([...writers, server.ended]);
        /* opened by the suite, which ends it however this test ends */
        server = await open({ data: first.data, store: first.store });
      }
      await ledger.settle(client(server.url));
      assert.ok(ledger.acknowledged.length > kills, "something was written");
      await server.stop();
      const report = await first.clew("verify");
      assert.match(report.stdout, /./);
      fs.rmSync(data, { recursive: true, force: true });
    });
});
