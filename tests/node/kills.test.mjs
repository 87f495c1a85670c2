/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kills.test.mjs - two processes serve one store, clients do every kind of
 * write (lib/everything.mjs), and now the one, now the other, now both are
 * killed, and a third that imports as well.
 *
 * Whatever was acknowledged holds, in an order that can be (lib/history.mjs);
 * what was not is there whole or not at all; everything is read in the end, no
 * task fails, and `clew verify` finds the same by replaying. KILLS says how many
 * (make kills: 1000, KILLS_MINUTES at most); CRASH_SEED repeats the dice.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, taskUnderWay } from "./lib/check.mjs";
import { Everything } from "./lib/everything.mjs";
import { tempFolder } from "./lib/server.mjs";
import { randomFrom } from "./lib/writers.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const kills = Number(process.env.KILLS ?? 8);
const minutes = Number(process.env.KILLS_MINUTES ?? 10);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100000);
const restAfter = 50; /* kills */
const clients = 6;
/* A rebuild that a forget asks for would be killed as often as there are tries
 * for it; it is done at the end, by hand. */
const env = { CLEW_TASKS_LEASE_SECONDS: "3", CLEW_READER_LIVE_TURNS: "4",
  CLEW_REBUILD_AUTO: "false" };

/* Nothing waits and no task is due; else `told` says what. */
async function isQuiet(api, told) {
  const health = await api.get("/healthz");
  told.what = `${health.status} ${health.text}`;
  if (health.status !== 200 || health.body.reading.waiting !== 0) return false;
  told.what = await taskUnderWay(api);
  return !told.what;
}

onEachBackend("two processes, killed", (open) => {
  test(`every promise holds, however often (${kills} at most, seed ${seed})`,
    { timeout: 1_800_000 + minutes * 180_000 }, async (t) => {
      const random = randomFrom(seed);
      const data = tempFolder();
      const folder = tempFolder();
      const first = await open({ data, env });
      const start = () => open({ data, store: first.store, env });
      const servers = [first, await start()];
      const all = new Everything(random, servers, { data, store: first.store });
      const work = [...Array(clients).keys()].map((i) => all.live(`user${i}`));
      work.push(all.bring(folder));
      const last = Date.now() + minutes * 60000;
      const told = {};
      const rest = () => until(() => `it is quiet: ${told.what}`,
        () => isQuiet(servers[0].api(), told), 900_000);
      const began = Date.now();
      const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
      let done = 0;
      let rests = 0;
      while (done < kills && Date.now() < last) {
        /* what waits to be read would grow without end: it gets its turn */
        if (done >= (rests + 1) * restAfter) {
          all.isResting = true;
          await rest();
          all.isResting = false;
          rests++;
        }
        const before = all.acknowledged;
        await until("something is written", () => all.acknowledged > before + 2);
        await pause(random() * 120); /* the moment is the test */
        const dice = random();
        const victims = dice < 0.45 ? [0] : dice < 0.9 ? [1] : [0, 1];
        if (random() < 0.1) all.importer?.kill("SIGKILL");
        const dying = victims.map((i) => servers[i]);
        for (const i of victims) {
          servers[i].child.kill("SIGKILL");
          servers[i] = null;
        }
        done += victims.length;
        await Promise.all(dying.map((server) => server.ended));
        for (const i of victims) servers[i] = await start();
      }
      all.isOver = true;
      await Promise.all(work);
      t.diagnostic(`${done} kills, ${rests} rests in ${seconds()}; acknowledged: ${JSON.stringify(all.counts)};`
        + ` ${all.histories.count} operations on ${all.histories.keys.size} keys`);
      const api = servers[0].api();
      await rest();
      /* Reading may be given up where each of its readers was killed, or took so
       * long on a busy machine that another took it up; what it left was read by
       * others, since nothing waits. No other task. */
      const { given_up } = isOk(await api.get("/healthz")).reading;
      const failed = isOk(await api.get("/api/v1/tasks?status=failed")).items;
      t.diagnostic(`all was read after ${seconds()}; reading tasks that failed: ${
        JSON.stringify(failed.map((task) => [task.attempts, task.last_error]))}`);
      assert.deepEqual(failed.filter((task) => task.kind !== "turns.read"), []);
      await all.settleCorrections(api);
      for (const server of servers) await server.stop();
      const file = path.join(folder, "export.jsonl");
      await first.clew("export", file);
      all.settle(fs.readFileSync(file, "utf8").split("\n").filter(Boolean)
        .map((line) => JSON.parse(line)));
      /* at rest what was derived from what is forgotten is made anew */
      const again = JSON.parse((await first.clew("rebuild", "--json")).stdout);
      assert.equal(again.read_anew, given_up);
      assert.equal(again.unreadable, 0);
      t.diagnostic(`${given_up} turns were given up and read anew`);
      const report = JSON.parse((await first.clew("verify", "--json")).stdout);
      assert.equal(report.ok, true, JSON.stringify(report));
      assert.ok(report.replayed > 0);
      t.diagnostic(`checked, made anew and replayed after ${seconds()}`);
    });
});
