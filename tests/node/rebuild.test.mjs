/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild.test.mjs - `clew rebuild` beside others, on a full disk, and killed.
 *
 * A setting that joins other turns to chains makes rows differ from what the log
 * gives, so that there is something to write. Whatever goes wrong, either all of
 * it is written or none; no scratch store is left behind.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";

import { onEachBackend } from "./lib/backends.mjs";
import { bin, cleanEnv, fullDisk, tempFolder } from "./lib/server.mjs";

const other = ["--set", "chains.continue=0.95", "--json"];
const talk = [
  ["user", "I live in Hamburg and work as a nurse."],
  ["assistant", "Good to know."],
  ["user", "My bike has a flat tyre, how do I mend it?"],
  ["assistant", "Take the wheel off and patch the tube."],
  ["user", "That worked, thanks!"],
  ["user", "What is a good soup for a cold evening?"],
  ["assistant", "Lentil soup with cumin keeps you warm."],
  ["user", "Back to the bike: which tyre lasts longest?"],
  ["assistant", "A touring tyre with a thick tread."],
  ["user", "I will buy the lentils tomorrow."],
];

/* A store with some chats, and nobody else at work on it: a server's tasks would
 * go on changing it. run(words, env) is a command on it. */
async function withTalk(open) {
  const data = tempFolder();
  const server = await open({ data });
  for (let i = 0; i < 10; i++) { /* in halves: few enough to be read at once */
    const from = (i % 2) * 5;
    const { status } = await server.api().post("/api/v1/turns", {
      turns: talk.slice(from, from + 5).map(([role, content], k) => ({
        user_id: `user${(i >> 1) % 3}`, channel: "sms", role, content,
        created_at: new Date(Date.UTC(2026, 0, 1 + (i >> 1), 9, from + k)).toISOString(),
      })),
    });
    assert.equal(status, 201);
  }
  await server.stop();
  const where = ["--data", server.data,
    ...server.store ? ["--store", server.store] : []];
  const options = (env) => ({ env: cleanEnv(server.data, env) });
  return {
    data: server.data,
    run: async (words, env) => JSON.parse((await promisify(execFile)(
      bin, [...words, ...where], options(env))).stdout),
    start: (words) => spawn(bin, [...words, ...where],
      { ...options(), stdio: "ignore" }),
    dump: async () => (await server.clew("export", "-")).stdout,
    scratch: () => fs.readdirSync(server.data)
      .filter((name) => name.startsWith("rebuild-")),
  };
}

onEachBackend("rebuild", (open) => {
  test("two at once both end well", { timeout: 600_000 }, async () => {
    const store = await withTalk(open);
    const both = await Promise.all([1, 2].map(() =>
      store.run(["rebuild", ...other])));
    assert.ok(Math.max(...both.map((report) => report.differences)) > 0);
    const again = await store.run(["rebuild", "--dry-run", ...other]);
    assert.equal(again.differences, 0);
    assert.deepEqual(store.scratch(), []);
  });

  test("a full disk leaves all as it was", { timeout: 600_000 }, async () => {
    const store = await withTalk(open);
    const disk = fullDisk(store.data);
    const before = await store.dump();
    disk.set(true);
    await assert.rejects(store.run(["rebuild", ...other], disk.env), (error) => {
      assert.match(error.stderr, /UNAVAILABLE/);
      return true;
    });
    assert.deepEqual(store.scratch(), []);
    assert.equal(await store.dump(), before);
    disk.set(false);
    const report = await store.run(["rebuild", ...other], disk.env);
    assert.ok(report.differences > 0);
  });

  test("one that was killed leaves all as it was", { timeout: 600_000 },
    async () => {
      const store = await withTalk(open);
      const before = await store.dump();
      const child = store.start(["rebuild", ...other]);
      const ended = once(child, "exit");
      while (!store.scratch().length && child.exitCode === null) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      child.kill("SIGKILL");
      assert.equal((await ended)[1], "SIGKILL");
      assert.equal(await store.dump(), before);
      const report = await store.run(["rebuild", ...other]);
      assert.ok(report.differences > 0);
      assert.deepEqual(store.scratch(), []);
    });
});
