/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backends.mjs - run the same cases on every store.
 *
 * onEachBackend("name", (open) => { test(…) … }) makes one suite per backend;
 * `open(options)` starts a server on a fresh store and stops it at the end.
 */
import { after, before, describe } from "node:test";

import { startPostgres } from "./postgres.mjs";
import { startServer } from "./server.mjs";

export function onEachBackend(name, body) {
  const wanted = process.env.CLEW_TEST_BACKEND; /* one alone, while one works */
  for (const backend of wanted ? [wanted] : ["sqlite", "postgres"]) {
    describe(`${name} on ${backend}`, () => {
      const servers = [];
      let postgres;
      before(async () => {
        if (backend === "postgres") postgres = await startPostgres();
      });
      after(async () => {
        for (const server of servers) await server.stop();
        await postgres?.stop();
      });
      body(async (options = {}) => {
        const store = postgres?.database();
        const server = await startServer({ store, ...options });
        servers.push(server);
        return server;
      }, backend);
    });
  }
}
