/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget-kill.test.mjs - the server is killed while it takes the bytes of what was
 * forgotten out of its files: the next one does it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { filesWith } from "./lib/files.mjs";
import { client, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

onEachBackend("killed while forgetting", (open, backend) => {
  test("no byte of it is left after the next start", { timeout: 900_000 }, async () => {
    const secret = "nachtigallenschlag";
    const data = tempFolder();
    let server = await open({ data });
    const said = await client(server.url).post("/api/v1/turns", {
      turns: Array.from({ length: 1000 }, (_, i) => ({
        user_id: "ann", role: "user", content: `My note ${i} of the ${secret} in the park.`,
      })),
    });
    assert.equal(said.status, 201, said.text);
    const chat = said.body.items[0].chat.id;
    const { store } = server;
    const find = (at) => client(at.url).post("/api/v1/recall", { query: secret });
    await find(server);
    await server.stop(); /* the index is in files */
    if (backend === "sqlite") assert.notDeepEqual(filesWith(data, secret), []);
    server = await open({ data, store });
    const api = client(server.url);
    await find(server);
    const forgetting = api.post("/api/v1/forget", { chat_id: chat }).catch(() => null);
    await until("it is gone from the log", async () =>
      (await api.get(`/api/v1/chats/${chat}`)).status === 404);
    server.child.kill("SIGKILL");
    await Promise.all([forgetting, server.ended]);
    server = await open({ data, store });
    await until(() => filesWith(data, secret).join(" "), () => filesWith(data, secret).length === 0);
    await until("its task is gone", async () => (await client(server.url).get("/api/v1/tasks"))
      .body.items.every((task) => task.kind !== "scrub" || task.status === "done"));
    await server.stop();
    await server.clew("verify");
  });
});
