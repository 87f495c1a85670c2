/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth-matrix.test.mjs - every route and mount, eight kinds of credentials, both
 * stores, store up and down.
 *
 * The rows come from /openapi.json, which is written from the tables that the
 * router, the proxy and MCP use themselves: a new way in is tried the moment it
 * is there.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { fullDisk, needsFullDisk, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";
needsFullDisk();

const ranks = { none: 0, read: 1, write: 2, admin: 3 };
const id = "01900000-0000-7000-8000-000000000000";

for (const backend of ["sqlite", "postgres"]) {
  describe(`the matrix on ${backend}`, () => {
    const data = tempFolder();
    const keys = {};
    let rows;
    let postgres;
    let disk;
    let upstream;
    let server;

    before(async () => {
      upstream = await startUpstream();
      disk = fullDisk(data);
      if (backend === "postgres") postgres = await startPostgres();
      server = await startServer({ data, store: postgres?.database(),
        env: postgres ? {} : disk.env,
        /* at home nobody would need a key for these */
        args: ["--set", "server.metrics=key", "--upstream", `anthropic=${upstream.url}`] });
      const { paths, "x-clew-mounts": mounts } = isOk(await server.api().get("/openapi.json"));
      rows = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods)
        .filter(([, operation]) => !operation["x-clew-mount"]) /* they are below */
        .map(([method, operation]) => ({ path: path.replaceAll(/\{\w+\}/g, id),
          method: method.toUpperCase(), role: operation["x-clew-role"] })));
      for (const { path, role } of mounts) {
        rows.push({ path: path.replace("{rest*}", "messages"), method: "POST", role, isMount: true });
      }
      for (const role of ["read", "write", "admin"]) keys[role] = await server.key("t", role);
      keys.revoked = await server.key("t", "admin");
      await server.clew("keys", "revoke", keys.revoked.split("_")[1]);
      keys.none = undefined;
      keys.garbage = "Bearer";
      keys.unknown = `clew_${"0".repeat(16)}_${"0".repeat(64)}`;
      keys.forged = keys.admin.slice(0, -1) + (keys.admin.endsWith("0") ? "1" : "0");
    });
    after(async () => {
      disk.setDead(false);
      await server.stop();
      await upstream.stop();
      await postgres?.stop();
      fs.rmSync(data, { recursive: true, force: true });
    });

    async function ask({ method, path }, key) {
      const headers = { "content-type": "application/json" };
      let target = path.replace("{key}", key ?? "-");
      if (key && path.startsWith("/v1/")) headers["x-clew-key"] = key;
      else if (key && !path.includes("{key}")) headers.authorization = `Bearer ${key}`;
      const answer = await fetch(server.url + target, { method, headers,
        body: method === "GET" ? undefined : "{}" });
      if (/event-stream/.test(answer.headers.get("content-type") ?? "")) await answer.body.cancel();
      else await answer.arrayBuffer();
      return answer.status;
    }

    test("has every way in, and eight kinds of credentials", () => {
      assert.ok(rows.length > 60);
      assert.equal(rows.filter((row) => row.isMount).length, 4);
      assert.deepEqual(rows.filter((row) => row.role === "none").map((row) => row.path).sort(),
        ["/", "/healthz", "/openapi.json"], "what is public is so on purpose");
      assert.equal(Object.keys(keys).length, 8);
    });

    test("lets in whom the tables let in, while the store is up", async () => {
      for (const row of rows) {
        for (const [kind, key] of Object.entries(keys)) {
          const what = `${row.method} ${row.path} with ${kind}`;
          const status = await ask(row, key);
          const rank = ranks[kind] ?? 0;
          if (row.role === "none" || (rank > 0 && rank >= ranks[row.role])) {
            assert.ok(status !== 401 && status !== 403 && status < 500, `${what}: ${status}`);
          } else {
            assert.equal(status, rank > 0 ? 403 : 401, what);
          }
        }
      }
    });

    test("lets in nobody else while the store is down", { timeout: 600_000 }, async () => {
      for (const kind of ["write", "admin"]) { /* known at the moment it goes */
        for (const row of rows.filter((one) => one.isMount)) await ask(row, keys[kind]);
      }
      if (postgres) await postgres.stopOrderly();
      else {
        disk.setDead(true);
        /* another process writes: what is cached will not do any more */
        await server.clew("turn", "--user", "u", "hello");
      }
      const seen = new Set();
      /* a database that is away is 503, a disk that cannot be read is 500 */
      const isDown = () => seen.has(503) || seen.has(500);
      /* it shows with the next read */
      await until(() => `it is down: ${[...seen]}`, async () => {
        seen.add((await server.api(keys.admin).get("/api/v1/chats")).status);
        return isDown();
      });
      for (const row of rows) {
        for (const [kind, key] of Object.entries(keys)) {
          const what = `${row.method} ${row.path} with ${kind}`;
          const status = await ask(row, key);
          const rank = ranks[kind] ?? 0;
          if (row.role === "none") {
            assert.ok(status !== 401 && status !== 403, `${what}: ${status}`);
          } else if (rank === 0) {
            assert.ok([401, 429, 500, 503].includes(status), `${what}: ${status}`);
          } else if (rank < ranks[row.role]) {
            assert.ok([403, 500, 503].includes(status), `${what}: ${status}`);
          } else if (postgres && row.isMount && row.path !== "/mcp" && !row.path.startsWith("/api/")) {
            assert.ok(status < 401, `${what}: ${status}`); /* calls go on */
          }
        }
      }
    });
  });
}
