/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restored.test.mjs - a store brought back to an earlier moment, beside an index
 * that knows what came later. The store is the same by name and key, and gives
 * the numbers of what is lost to other turns.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { clew, startServer, tempFolder } from "./lib/server.mjs";

const lamps = [1, 2, 3].map((i) => `Lamp ${i} was mended by Orrin.`);
const jars = [1, 2, 3, 4, 5, 6].map((i) => `Jar ${i} holds pickled beets.`);

async function say(server, ...all) {
  for (const content of all) {
    isOk(await server.api().post("/api/v1/turns", { user_id: "ada", role: "user", content }), 201);
  }
}

async function find(server, query) {
  const answer = await server.api().post("/api/v1/recall", { user_id: "ada", query, limit: 20 });
  return isOk(answer).items.map((item) => item.text).join("\n");
}

/* What is said after the restore is found, and nothing that is lost. */
async function tell(options, keep, restore) {
  let server = await startServer(options);
  await say(server, "The gate key hangs by the door.");
  await server.stop();
  await keep();
  server = await startServer(options);
  await say(server, ...lamps);
  assert.match(await find(server, "who mended the lamps?"), /Lamp 3/);
  await server.stop();
  await restore();
  server = await startServer(options);
  await say(server, ...jars);
  await server.stop(); /* nobody asked: the index is as it was */
  server = await startServer(options);
  const found = await find(server, "which jar holds beets?");
  assert.deepEqual(jars.filter((jar) => !found.includes(jar)), []);
  assert.doesNotMatch(await find(server, "who mended the lamps?"), /Lamp/);
  await server.stop();
}

describe("an index ahead of its store is made anew", () => {
  let postgres;
  before(async () => { postgres = await startPostgres(); });
  after(() => postgres.stop());

  test("where a backup was put in the place of clew.db", async () => {
    const data = tempFolder();
    const copy = path.join(tempFolder(), "copy.db");
    await tell({ data }, () => clew(data, undefined, "backup", copy), () => {
      for (const end of ["-wal", "-shm"]) fs.rmSync(path.join(data, `clew.db${end}`), { force: true });
      fs.copyFileSync(copy, path.join(data, "clew.db"));
    });
    fs.rmSync(data, { recursive: true });
    fs.rmSync(path.dirname(copy), { recursive: true });
  });

  test("where a database was taken back, itself as before", async () => {
    const store = postgres.database();
    const data = tempFolder();
    let copy;
    await tell({ data, store }, () => { copy = postgres.dump(store); }, () => {
      postgres.sql("DROP OWNED BY clew", store);
      postgres.restore(store, copy);
    });
    fs.rmSync(data, { recursive: true });
  });
});
