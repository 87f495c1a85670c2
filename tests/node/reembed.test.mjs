/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reembed.test.mjs - another model takes over in a running server, and the
 * server is killed while it does.
 *
 * CRASH_KILLS says how often it is killed (default few; 50 for the proof);
 * CRASH_SEED repeats a run. Half of the kills come while it is ending orderly,
 * which is when the indexes are written to files.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startEmbeddings, writeEncoder } from "./lib/models.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const kills = Number(process.env.CRASH_KILLS ?? 4);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100000);

/* mulberry32: the same seed, the same run */
function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const turn = (n) => ({
  user_id: "ann", role: "user", channel: "sms", external_id: `n${n}`,
  content: `Parcel number ${n} went to the harbour by truck`,
});

async function say(api, first, count) {
  const turns = [...Array(count).keys()].map((i) => turn(first + i));
  const { status } = await api.post("/api/v1/turns", { turns });
  /* what was sent when it died may be stored already: 200 */
  assert.ok(status === 201 || status === 200, `status ${status}`);
}

const modelOf = async (api, name) =>
  isOk(await api.get("/api/v1/models")).items.find((m) => m.name === name);

/* Until the model has everything; the server does it by itself. */
async function untilReady(api, name) {
  let model;
  return until(() => JSON.stringify(model), async () => {
    model = await modelOf(api, name);
    return model?.in_use && model.ready === 1 && model.percent === 100 && model;
  });
}

async function finds(api, n) {
  const body = isOk(await api.post("/api/v1/recall",
    { query: `parcel number ${n}`, kinds: ["turn"], limit: 3 }));
  assert.match(body.items[0].text, new RegExp(`number ${n} `));
}

onEachBackend("another model", (open) => {
  let endpoint;
  before(async () => {
    endpoint = await startEmbeddings();
  });
  after(() => endpoint.stop());
  const useEndpoint = () => (
    { CLEW_EMBED_URL: endpoint.url, CLEW_EMBED_MODEL: "fake" });

  test("a folder's model is added, used, shown and removed", async () => {
    const server = await open();
    const api = server.api();
    const folder = path.join(server.data, "tiny");
    writeEncoder(folder);
    await say(api, 0, 300);
    await server.clew("model", "add", folder, "--name", "tiny");
    assert.equal((await modelOf(api, "tiny")).done, 0);
    assert.equal((await modelOf(api, "static")).in_use, true);
    await server.clew("model", "use", "tiny");
    const model = await untilReady(api, "tiny");
    assert.ok(model.done >= 300);
    assert.equal(model.dim, 32);
    await finds(api, 77);
    const { items } = isOk(await api.get("/api/v1/tasks?limit=500"));
    assert.ok(items.some((task) => task.kind === "reembed"));
    const { text } = await api.get("/metrics");
    assert.match(text, /^clew_embed_model_up 1$/m);
    const list = (await server.clew("model", "list")).stdout;
    assert.match(list, /^\* tiny .* 100 %/m);
    await assert.rejects(server.clew("model", "remove", "tiny"),
      (error) => error.code === 5 && /in use/.test(error.stderr));
    await assert.rejects(server.clew("model", "use", "nobody"),
      (error) => error.code === 4);
    await server.clew("model", "use", "static");
    await server.clew("model", "remove", "tiny");
    await finds(api, 78);
    assert.match((await server.clew("verify")).stdout, /sound/);
  });

  test("an endpoint that fails leaves the old model serving", async () => {
    const server = await open({ env: useEndpoint() });
    const api = server.api();
    await say(api, 0, 50);
    await untilReady(api, "http");
    endpoint.isDown = true;
    try {
      await say(api, 50, 50);
      await finds(api, 60);
      await until("it is noticed", async () => (await modelOf(api, "http")).error);
      assert.match((await modelOf(api, "http")).error, /./);
      await finds(api, 99);
    } finally {
      endpoint.isDown = false;
    }
  });

  test(`the index is right after ${kills} kills (seed ${seed})`,
    { timeout: 600_000 + kills * 60_000 }, async (context) => {
      const random = randomFrom(seed);
      const data = tempFolder(); /* outlives each server */
      const first = await open({ data, env: useEndpoint() });
      let server = first;
      let said = 0;
      let nWorked = 0; /* lives in which rows were being embedded */
      context.after(() => server.child.kill("SIGKILL"));
      for (let round = 0; round < kills; round++) {
        const api = server.api();
        const before = endpoint.texts;
        let isAlive = true;
        const writer = (async () => {
          while (isAlive) {
            await pause(20); /* leave the machine some room */
            try {
              await say(api, said, 40);
              said += 40;
            } catch (error) {
              if (error instanceof assert.AssertionError) throw error;
              return; /* the server is dead */
            }
          }
        })();
        /* every other life ends amid embedding, however slow the machine */
        if (round % 2) await until("it embeds", () => endpoint.texts - before >= 2);
        await pause(50 + random() * 2000); /* the moment is the test */
        if (random() < 0.5) {
          isAlive = false;
          await writer;
          server.child.kill("SIGTERM");
          await pause(random() * 60);
        }
        server.child.kill("SIGKILL");
        isAlive = false;
        await Promise.all([writer, server.ended]);
        nWorked += endpoint.texts - before > 1;
        const report = await first.clew("verify");
        assert.match(report.stdout, /sound/);
        server = await startServer(
          { data: first.data, store: first.store, env: useEndpoint() });
      }
      assert.ok(nWorked * 4 >= kills, `embedded in ${nWorked} lives only`);
      assert.ok(said >= kills * 20, `only ${said} turns were written`);
      await say(server.api(), said, 40);
      await untilReady(server.api(), "http");
      await finds(server.api(), said);
      await server.stop();
      assert.match((await first.clew("verify")).stdout, /sound/);
      assert.ok(fs.readdirSync(first.data).some((name) => name.startsWith("index")));
    });
});
