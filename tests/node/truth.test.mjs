/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.test.mjs - verify and rebuild say how it is.
 *
 * What people set right is part of the log; what is imported is checked; one
 * tenant's trouble is its own; where there is no store nothing is sound; and
 * two stores on one data folder have an index each.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { clew, startServer, tempFolder } from "./lib/server.mjs";

const say = (content, extra = {}) =>
  ({ user_id: "ada", role: "user", content, ...extra });

async function fails(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("it ended well");
}

onEachBackend("truth", (open, backend) => {
  test("corrections are replayed with the turns they changed", async () => {
    const server = await open();
    const api = server.api();
    const words = "the boiler in the cellar, the old one";
    const { act } = isOk(await api.post("/api/v1/analyse", { text: words }));
    const other = act === "commit" ? "question" : "commit";
    isOk(await api.post("/api/v1/turns", say(words)), 201);
    isOk(await api.post("/api/v1/analyse/feedback",
      { text: words, act: other }));
    isOk(await api.post("/api/v1/turns", say(words)), 201);
    /* set right once more: what was taken in between stays as it was */
    isOk(await api.post("/api/v1/analyse/feedback",
      { text: words, act: "accept" }));
    isOk(await api.post("/api/v1/turns", say(words)), 201);
    const told = JSON.parse((await server.clew("verify", "--json")).stdout);
    assert.equal(told.ok, true);
    assert.equal(told.turns, 3);
    assert.deepEqual(told.differences, []);
  });

  test("an imported action is checked like any other input", async () => {
    const server = await open();
    const api = server.api();
    const row = { type: "action", seq: 5, kind: "chat.close", detail: "{}",
      id: "01900000-0000-7000-8000-000000000001",
      created_at: "2026-01-01T00:00:00.000Z" };
    for (const bad of [{ kind: "" }, { kind: "no.such" }, { detail: "[]" },
      { detail: "{" }, { detail: "" }, { seq: 0 }, { seq: -5 }]) {
      isError(await api.post("/api/v1/import",
        { rows: [{ ...row, ...bad }] }), 400, undefined,
      `rows[0].${Object.keys(bad)[0]}`);
    }
    isOk(await api.post("/api/v1/import", { rows: [row] }));
    const told = JSON.parse((await server.clew("verify", "--json")).stdout);
    assert.equal(told.ok, true);
  });

  if (backend === "sqlite") {
    test("one tenant's trouble is its own", async () => {
      const data = tempFolder();
      const server = await open({ data });
      const keys = [await server.key("a"), await server.key("b"),
        await server.key("c")];
      for (const key of keys) {
        isOk(await server.api(key).post("/api/v1/turns",
          say("I live in Hamburg.")), 201);
      }
      await server.stop();
      /* as a clew stored it that did not look */
      execFileSync("sqlite3", [path.join(data, "clew.db"),
        "INSERT INTO actions SELECT tenant, 1, "
        + "x'01900000000070008000000000000001', '', NULL, NULL, '{}', 0, NULL "
        + "FROM tenants WHERE name = 'b';"
        + "UPDATE chain_steps SET said = 'changed' WHERE tenant = "
        + "(SELECT tenant FROM tenants WHERE name = 'c')"]);
      const error = await fails(server.clew("verify", "--json"));
      const told = JSON.parse(error.stdout);
      assert.equal(told.ok, false);
      assert.equal(told.tenants, 3);
      assert.deepEqual(told.faults.map((fault) => fault.tenant), ["b", "c"]);
      assert.match(told.faults[0].detail, /kind ""/);
      fs.rmSync(data, { recursive: true });
    });
  }

  if (backend === "sqlite") {
    test("what is of no turn is found, and a rebuild sets it right", async (t) => {
      const data = tempFolder();
      t.after(() => fs.rmSync(data, { recursive: true, force: true }));
      const server = await open({ data });
      isOk(await server.api().post("/api/v1/turns", say("I live in Hamburg. We decided to move the launch to Friday.")), 201);
      await server.stop();
      execFileSync("sqlite3", [path.join(data, "clew.db"), "UPDATE memory_refs SET first_seq = 8, last_seq = 9"]);
      const quick = await fails(server.clew("verify", "--quick", "--json"));
      assert.deepEqual(JSON.parse(quick.stdout).faults.map(({ tenant, rule, remedy }) => [tenant, rule, remedy]),
        [["default", "an extracted memory cites turns that exist", "clew rebuild"]]);
      assert.match((await fails(server.clew("verify", "--quick"))).stdout, /`clew rebuild`/);
      await server.clew("rebuild");
      await server.clew("verify");
    });
  }

  test("what is left when turns are forgotten one by one is of turns that are there", async () => {
    const server = await open();
    const api = server.api();
    const turns = [];
    let chat;
    for (const words of ["I need to fix the login page of the shop.", "I live in Hamburg. We decided to move the launch to Friday.",
      "Actually I live in Bremen now, not in Hamburg.", "That worked, the login page is fixed now.", "My sister is called Greta."]) {
      const { turn } = isOk(await api.post("/api/v1/turns", say(words, { chat_id: chat })), 201);
      chat = turn.chat_id;
      turns.push(turn.id);
    }
    const { id } = isOk(await api.post(`/api/v1/chats/${chat}/fork`, { at_seq: 3 }), 201);
    turns.push(isOk(await api.post("/api/v1/turns", say("On the branch the shop is green.", { chat_id: id })), 201).turn.id);
    isOk(await api.post(`/api/v1/chats/${chat}/compact`, {}));
    for (const turn of [turns[2], turns[0], turns[5], turns[3], turns[1], turns[4]]) {
      isOk(await api.post("/api/v1/forget", { turn_ids: [turn] }));
      await server.clew("verify", "--quick");
    }
  });

  test("where there is no store nothing is sound", async () => {
    const data = tempFolder();
    const none = path.join(data, "none");
    for (const words of [["verify"], ["rebuild"], ["backup", `${data}/b.db`],
      ["export", "-"]]) {
      for (const where of [none, data]) {
        const error = await fails(clew(where, undefined, ...words));
        assert.match(error.stderr, /there is no store/, words[0]);
        assert.equal(error.stdout, "");
      }
    }
    assert.ok(!fs.existsSync(none));
    assert.deepEqual(fs.readdirSync(data), []);
    fs.rmSync(data, { recursive: true });
  });
});

describe("two stores on one data folder", () => {
  let postgres;
  before(async () => { postgres = await startPostgres(); });
  after(() => postgres.stop());

  const find = async (server, query) => isOk(await server.api().post(
    "/api/v1/recall", { query, user_id: "ada", kinds: ["turn"] })).items
    .map((hit) => hit.text).join("\n");

  test("each is found whole", async (t) => {
    const data = tempFolder();
    const stores = [undefined, postgres.database(), postgres.database()];
    const nouns = ["violin", "tractor", "lantern"];
    const on = async (folder, store, work) => {
      const server = await startServer({ data: folder, store });
      t.after(() => server.stop("SIGKILL"));
      await work(server);
      await server.stop();
    };
    for (const [i, store] of stores.entries()) {
      const own = i === 0 ? data : tempFolder();
      await on(own, store, async (server) => {
        /* every store has as much as the first: what its index says that it
         * covers could as well be said of theirs */
        for (let k = 0; k < 6; k++) {
          isOk(await server.api().post("/api/v1/turns",
            say(`The ${nouns[i]} number ${k} stands in the hall.`)), 201);
        }
        assert.match(await find(server, nouns[i]), new RegExp(nouns[i]));
      });
      if (own !== data) fs.rmSync(own, { recursive: true });
    }
    for (let round = 0; round < 2; round++) {
      for (const [i, store] of stores.entries()) {
        await on(data, store, async (server) => {
          const text = await find(server, `where is the ${nouns[i]}`);
          assert.equal(text.match(new RegExp(nouns[i], "g"))?.length, 6,
            `${round} ${i} ${text}`);
        });
      }
    }
    fs.rmSync(data, { recursive: true });
  });

  test("a database without a store is not sound", async () => {
    const data = tempFolder();
    const error = await fails(clew(data, postgres.database(), "verify"));
    assert.match(error.stderr, /there is no store/);
    fs.rmSync(data, { recursive: true });
  });
});
