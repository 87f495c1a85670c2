/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.test.mjs - the disk is full from any one step on: each write, sync, change
 * of length and rename that a call, a start or an end makes in the data folder
 * fails in turn, with all after it. What was acknowledged is there when there is
 * room again, the same call works, and verify finds nothing.
 *
 * On SQLite that is the store and the index, on PostgreSQL the index (the store's
 * own disk is filled by outage.test.mjs). DISK_STEPS=all takes every step, else
 * fewer and fewer.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { fullDisk, needsFullDisk, startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";
needsFullDisk();

const isEvery = process.env.DISK_STEPS === "all";
const next = (n) => (isEvery ? n + 1 : n + 1 + Math.floor(n * 0.7));
const words = ["harbour", "lantern", "quarry", "meadow", "anvil", "thistle"];

onEachBackend("a disk that is full from a step on", (open, backend) => {
  test("loses nothing that was acknowledged", { timeout: 1_800_000 }, async (t) => {
    const data = tempFolder();
    const disk = fullDisk(data);
    let server = await open({ data, env: disk.env });
    const { store } = server;
    t.after(() => server.stop());
    const api = () => server.api();
    const promised = [];
    let count = 0;
    const turn = (more = {}) => {
      const external_id = `k${count++}`;
      return { user_id: "ada", role: "user", external_id,
        content: `${external_id} of the ${words[count % 6]} was sold in Porto`, ...more };
    };
    const post = (path, body) => () => api().post(path, body);
    const made = async (path, body) => isOk(await api().post(path, body), path.endsWith("memory") ? 200 : 201);
    const first = await made("/api/v1/turns", turn());
    const thought = { prompt: "The agent monitor must check both the status and the role of panes.",
      agent_id: "a", agent_name: "A" };
    const base = (await made("/api/v1/memory", thought)).result.thought_id;
    /* Each gives a call to be made, and what it promises. */
    const calls = {
      turn: () => { const one = turn(); return [post("/api/v1/turns", one), [one.external_id]]; },
      batch: () => {
        const turns = Array.from({ length: 30 }, () => turn());
        return [post("/api/v1/turns", { turns }), turns.map((one) => one.external_id)];
      },
      fork: () => [post(`/api/v1/chats/${first.chat.id}/fork`, { at_seq: 1 }), []],
      refine: () => [post("/api/v1/memory", { ...thought, prompt: `Refined ${count++}.`, refines: base }), []],
      recall: () => [post("/api/v1/recall", { query: "what was sold in Porto", user_id: "ada" }), []],
      context: () => [post(`/api/v1/chats/${first.chat.id}/context`, { budget_tokens: 500 }), []],
    };
    const steps = {};
    /* Do it with the disk full from each step on; `does` says what was promised. */
    async function fill(name, does) {
      for (let n = 1; n < 3000; n = next(n)) {
        if (!await does(n)) break;
        steps[name] = (steps[name] ?? 0) + 1;
      }
    }
    for (const [name, make] of Object.entries(calls)) {
      await fill(name, async (n) => {
        const [call, keys] = make();
        disk.setFrom(n);
        const answer = await call();
        const hasFired = disk.setFrom(0);
        assert.ok(answer.status < 300 || (answer.status >= 500 && answer.body.error.code),
          `${name} ${n}: ${answer.status} ${answer.text}`);
        if (answer.status >= 300) {
          await until(`${name} ${n} works again`, async () => (await call()).status < 300);
        }
        promised.push(...keys);
        return hasFired;
      });
    }
    /* Where forgetting leaves off is begun again; it is gone or it is not. */
    await fill("forget", async (n) => {
      const { turn: own } = await made("/api/v1/turns", turn({ user_id: "cy" }));
      disk.setFrom(n);
      const answer = await api().post("/api/v1/forget", { turn_ids: [own.id] });
      const hasFired = disk.setFrom(0);
      assert.ok(answer.status < 300 || answer.status >= 500, `${n}: ${answer.text}`);
      await until("it is gone", async () => [200, 404].includes(
        (await api().post("/api/v1/forget", { turn_ids: [own.id] })).status));
      assert.deepEqual(isOk(await api().get(`/api/v1/turns?external_id=${own.external_id}`)).items, []);
      return hasFired;
    });
    /* The index is written when a server ends that has it in memory, and read and
     * mended by the first question after a start. */
    const ask = () => api().post("/api/v1/recall", { query: "sold in Porto", user_id: "ada" });
    await fill("end", async (n) => {
      const one = turn();
      await made("/api/v1/turns", one);
      promised.push(one.external_id);
      isOk(await ask());
      disk.setFrom(n);
      const how = await server.stop();
      const hasFired = disk.setFrom(0);
      assert.equal(how.signal, null, server.log());
      server = await startServer({ data, store, env: disk.env });
      return hasFired;
    });
    await fill("start", async (n) => {
      await server.stop();
      disk.setFrom(n);
      const early = await startServer({ data, store, env: disk.env })
        .catch((error) => assert.match(error.message, /ended early/));
      server = early ?? server;
      if (early) assert.ok([200, 500, 503].includes((await ask()).status));
      const hasFired = disk.setFrom(0);
      if (!early) server = await startServer({ data, store, env: disk.env });
      isOk(await ask());
      return hasFired;
    });
    const found = async (key) =>
      isOk(await api().get(`/api/v1/turns?external_id=${key}`)).items.length;
    for (const key of promised) assert.equal(await found(key), 1, key);
    for (let i = 0; i < promised.length; i += Math.ceil(promised.length / 50)) {
      const { items } = isOk(await api().post("/api/v1/recall",
        { query: promised[i], user_id: "ada", kinds: ["turn"], limit: 5 }));
      assert.ok(items.some((item) => item.text.startsWith(`${promised[i]} `)), promised[i]);
    }
    await server.clew("verify");
    t.diagnostic(`${backend}: ${JSON.stringify(steps)}; ${promised.length} turns promised`);
    for (const name of backend === "sqlite" ? Object.keys(calls).slice(0, 4) : ["end"]) {
      assert.ok(steps[name] > 0, `${name} writes something`);
    }
  });
});
