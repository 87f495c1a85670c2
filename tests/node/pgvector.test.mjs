/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pgvector.test.mjs - a running server keeps vectors in PostgreSQL, is killed
 * while it puts them there, and answers all the time.
 *
 * Needs a PostgreSQL with pgvector but for the first case (CLEW_TEST_PG_BIN
 * names another server). CRASH_KILLS says how often it is killed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const kills = Number(process.env.CRASH_KILLS ?? 4);
const many = 6000; /* more than are compared one by one */
const on = { CLEW_INDEX_PGVECTOR: "on", CLEW_CAPTURE_OBSERVE: "false" };
let pg;

before(async () => { pg = await startPostgres(); });
after(() => pg.stop());

const words = ["sink", "bicycle", "report", "apple", "ticket", "fence", "violin",
  "laptop", "orange", "wedding", "skis", "coffee", "museum", "harbour"];
const turn = (n) => ({
  user_id: n % 20 === 7 ? "ben" : "ann", role: "user", channel: "sms",
  external_id: `n${n}`,
  content: `The ${words[n % 14]} and the ${words[(n * 5 + 3) % 14]} were seen ` +
    `near the ${words[(n * 11 + 1) % 14]}, number ${n}.`,
});

async function say(api, first, count) {
  for (let at = 0; at < count; at += 500) {
    const n = Math.min(500, count - at);
    const turns = [...Array(n).keys()].map((i) => turn(first + at + i));
    isOk(await api.post("/api/v1/turns", { turns }), 201);
  }
}

const recall = async (api, query, more = {}) =>
  isOk(await api.post("/api/v1/recall", { query, limit: 10, ...more })).items;

async function metric(server, name) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? -1);
}

/* Until the server has made the graph; recall goes on meanwhile. */
const untilMade = (server, api) => until(() => server.log(), async () => {
  assert.ok((await recall(api, "a bike at the port")).length > 0);
  return await metric(server, "clew_pgvector_graphs") === 1;
});

/* The extension in a new database; null where the server has none. */
function databaseWithVectors(t) {
  const has = pg.sql("SELECT COUNT(*) FROM pg_available_extensions" +
    " WHERE name = 'vector'");
  if (has !== "1") {
    t.skip("this PostgreSQL has no pgvector");
    return null;
  }
  const store = pg.database();
  pg.sql("CREATE EXTENSION vector", store);
  return store;
}

test("without the extension \"on\" does not start, and says why", async () => {
  await assert.rejects(startServer({ store: pg.database(), env: on }),
    /index\.pgvector is on, but/);
});

test("answers stay the same while vectors move, and after", async (t) => {
  const store = databaseWithVectors(t);
  if (!store) return;
  const server = await startServer({ store, env: on });
  t.after(() => server.stop());
  const api = server.api(await server.key("one"));
  await say(api, 0, many);
  const ask = (query, more) => recall(api, query, { kinds: ["turn"], ...more })
    .then((items) => items.map((item) => item.id));
  const queries = words.map((word) => `what about the ${word} number`);
  const before = [];
  for (const query of queries) before.push(await ask(query));
  const bens = await ask("a bike at the port", { user_id: "ben" });
  await untilMade(server, api);
  let shared = 0;
  for (const [i, query] of queries.entries()) {
    const found = new Set(await ask(query));
    shared += before[i].filter((id) => found.has(id)).length;
  }
  assert.ok(shared >= 0.95 * before.flat().length,
    `${shared} of ${before.flat().length}`);
  assert.deepEqual(await ask("a bike at the port", { user_id: "ben" }), bens);
  /* what is new is found, what is forgotten is not */
  await say(api, many, 10);
  const [last] = await recall(api, `number ${many + 9}`);
  assert.match(last.text, new RegExp(`number ${many + 9}\\.`));
  isOk(await api.post("/api/v1/forget", { user_id: "ben" }));
  assert.deepEqual(await ask("a bike at the port", { user_id: "ben" }), []);
  assert.equal(pg.sql("SELECT COUNT(*) FROM graph_vectors", store),
    String(many * 19 / 20));
  await server.clew("verify", "--quick");
});

test("killed while it moves vectors, it goes on", async (t) => {
  const store = databaseWithVectors(t);
  if (!store) return;
  const data = tempFolder();
  let server = await startServer({ data, store, env: on });
  const key = await server.key("one");
  await say(server.api(key), 0, many);
  for (let i = 1; i <= kills; i++) {
    await recall(server.api(key), "a bike at the port"); /* begins it */
    while (Number(pg.sql("SELECT COUNT(*) FROM vector_graphs g JOIN tenants n" +
      ` ON n.tenant = g.tenant WHERE g.through * ${kills + 1} >=` +
      ` n.change_seq * ${i}`, store)) === 0) {
      await pause(5); /* there is no event to wait for */
    }
    await server.stop("SIGKILL");
    /* its claim would hold for a while */
    pg.sql("UPDATE tasks SET lease_until = 0 WHERE lease_until IS NOT NULL",
      store);
    server = await startServer({ data, store, env: on });
  }
  t.after(() => server.stop());
  const api = server.api(key);
  await untilMade(server, api);
  assert.equal(pg.sql("SELECT COUNT(*) FROM graph_vectors", store),
    String(many));
  assert.ok((await recall(api, "a bike at the port")).length === 10);
  await server.clew("verify", "--quick");
});
