/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.test.mjs - everything out, everything back, byte for byte.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { isError, isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { clew, startServer, tempFolder } from "./lib/server.mjs";

/* Some of everything that an export holds. */
async function live(api) {
  const first = isOk(await api.post("/api/v1/turns", {
    turns: Array.from({ length: 450 }, (_, i) => ({
      user_id: i % 3 ? "ada" : "bob", role: i % 2 ? "assistant" : "user",
      content: `note ${i}: the "blue" pot \u{1FAB4}\n\tand line two`,
      external_id: `e${i}`, created_at: new Date(1.7e12 + i * 1e6).toISOString(),
    })),
  }), 201);
  isOk(await api.post("/api/v1/turns", {
    user_id: "ada", role: "user", name: "Ada", channel: "sms",
    timezone: "Europe/Paris",
    content: [{ type: "text", text: "a block" }, { type: "text", text: "two" }],
  }), 201);
  const chat = first.items[0].chat.id;
  isOk(await api.post(`/api/v1/chats/${chat}/fork`, { at_seq: 1, title: "other" }), 201);
  const say = async (prompt, more) => isOk(await api.post("/api/v1/memory",
    { prompt, agent_id: "test", agent_name: "Test", ...more }));
  const one = await say("The agent monitor must check both the status and the role of every agent pane.");
  assert.ok(one.result.thought_id);
  await say("The agent monitor must check only the role of every agent pane, never the status.",
    { refines: one.result.thought_id });
  isOk(await api.post("/api/v1/link", {
    messages: [{ role: "user", content: "What is the capital of Peru?" }],
    response: { role: "assistant", content: "Lima." }, model: "m",
  }));
  /* read before the call returns: it has a chain */
  isOk(await api.post("/api/v1/turns", { user_id: "carla", role: "user",
    content: "The ferry to Texel leaves from the second pier." }), 201);
  isOk(await api.post("/api/v1/forget", {
    external_ids: ["e7"],
  }));
}

/* Equal bytes; if not, the lines that differ and not three megabytes. */
function isSame(actual, expected) {
  if (actual === expected) return;
  const [a, b] = [actual.split("\n"), expected.split("\n")];
  assert.deepEqual(a.filter((line) => !b.includes(line)).slice(0, 5),
    b.filter((line) => !a.includes(line)).slice(0, 5));
  assert.fail("the same lines in another order");
}

const lines = (text) => text.trimEnd().split("\n").map((line) => JSON.parse(line));

/*
 * Exports are compared while no server runs on the store: its background work
 * goes on summing up what is long past.
 */
for (const backend of ["sqlite", "postgres"]) {
  describe(`export on ${backend}`, () => {
    let postgres;
    let source;
    let text;
    const folder = tempFolder();
    const file = path.join(folder, "x.jsonl");
    let count = 0;

    /* An empty store of its own. */
    function place() {
      const data = path.join(folder, `data${++count}`);
      const store = postgres?.database();
      return {
        data,
        store,
        clew: (...words) => clew(data, store, ...words),
        async text() {
          return (await clew(data, store, "export")).stdout;
        },
        async import(content) {
          fs.writeFileSync(file, content);
          return JSON.parse(
            (await clew(data, store, "import", file, "--json")).stdout);
        },
      };
    }

    /* Do something with a server on it. */
    async function served(at, body) {
      const server = await startServer({ data: at.data, store: at.store });
      try {
        return await body(server);
      } finally {
        await server.stop();
      }
    }

    before(async () => {
      if (backend === "postgres") postgres = await startPostgres();
      source = place();
      await served(source, (server) => live(server.api()));
      text = await source.text();
    });
    after(async () => {
      await postgres?.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    test("every line is tagged, and the ends are marked", async () => {
      const rows = lines(text);
      assert.deepEqual(rows[0], { type: "export", version: 1 });
      assert.deepEqual(rows.at(-1), { type: "end", rows: rows.length - 2 });
      const types = new Set(rows.map((row) => row.type));
      for (const type of ["user", "chat", "session", "turn", "request",
        "memory", "memory_source", "agent", "chain", "claim", "trace",
        "tombstone", "forget_receipt"]) {
        assert.ok(types.has(type), type);
      }
      assert.equal(rows.filter((row) => row.type === "turn").length, 453);
      assert.ok(!text.includes('"external_id":"e7"'));
      isSame(await source.text(), text);
    });

    test("an import into an empty store exports the same bytes", async () => {
      const other = place();
      const first = await other.import(text);
      assert.equal(first.added, first.rows);
      assert.equal(first.rows, lines(text).length - 2);
      isSame(await other.text(), text);
      await other.clew("verify");
      assert.deepEqual(await other.import(text), { rows: first.rows, added: 0, forgotten: 0, dry_run: false });
      isSame(await other.text(), text);
      /* it is found there, and its server gives it out as well */
      await served(other, async (server) => {
        const { items } = isOk(await server.api().post("/api/v1/recall",
          { query: "note 123", user_id: "bob" }));
        assert.ok(JSON.stringify(items).includes("note 123:"));
        const answer = await server.api().get("/api/v1/export");
        assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
        assert.equal(lines(answer.text)[0].type, "export");
      });
    });

    test("an export from when claims had ids of their own is read", async () => {
      const other = place();
      const [{ id }] = lines(text).filter((row) => row.type === "turn");
      const former = text.replace(/^\{"type":"claim",/gm, `$&"id":"${id}","turn_id":"${id}",`);
      assert.notEqual(former, text);
      await other.import(former);
      isSame(await other.text(), text);
    });

    test("an import that was cut off is finished by the whole file", async () => {
      const other = place();
      await assert.rejects(other.import(text.slice(0, text.length * 0.7)));
      await assert.rejects(
        other.import(text.slice(0, text.lastIndexOf('{"type":"end"'))), /cut off/);
      await other.import(text);
      isSame(await other.text(), text);
    });

    test("a later export goes on top, an earlier one changes nothing", async () => {
      /* how people talk in a session has no version of its own */
      const still = (all) => all.replace(/^\{"type":"session_talk".*\n/gm, "");
      const other = place();
      await other.import(text);
      await source.clew("turn", "--user", "ada",
        "We decided to move the launch to Friday because of the audit.");
      const later = await source.text();
      assert.notEqual(later, text);
      assert.ok((await other.import(later)).added > 0);
      isSame(still(await other.text()), still(later));
      await other.clew("verify");
      assert.equal((await other.import(text)).added, 0);
      isSame(still(await other.text()), still(later));
    });

    test("what was forgotten here does not come back", async () => {
      const other = place();
      await other.import(text);
      await served(other, async (server) => {
        isOk(await server.api().post("/api/v1/forget", { external_ids: ["e8"] }));
      });
      await other.import(text);
      assert.ok(!(await other.text()).includes('"external_id":"e8"'));
    });

    test("bad lines are refused whole, with their place", async () => {
      const other = place();
      const turn = lines(text).find((row) => row.type === "turn");
      await served(other, async () => {}); /* an empty store */
      const empty = await other.text();
      const bad = [
        [{ ...turn, type: "turnip" }, "rows[1].type"],
        [{ ...turn, seq: "one" }, "rows[1].seq"],
        [{ ...turn, seq: 2 ** 62 }, "rows[1].seq"], /* nothing could come after it */
        [{ ...turn, log_seq: 2 ** 62 }, "rows[1].log_seq"],
        [{ ...turn, id: "x" }, "rows[1].id"],
        [{ ...turn, created_at: "soon" }, "rows[1].created_at"],
        [{ ...turn, role: "king" }, "rows[1].role"],
        [{ ...turn, text: undefined }, "rows[1].text"],
        [{ ...turn, extra: 1 }, "rows[1].turn"],
      ];
      await served(other, async (server) => {
        const api = server.api();
        for (const [row, field] of bad) {
          isError(await api.post("/api/v1/import", { rows: [turn, row] }), 400,
            undefined, field);
        }
        isError(await api.post("/api/v1/import", { rows: [turn,
          { ...turn, id: "0199c1d2-7a00-7000-8000-000000000001" }] }), 409);
        isError(await api.post("/api/v1/import",
          { rows: Array(1001).fill(turn) }), 400, undefined, "rows");
      });
      isSame(await other.text(), empty);
    });

    test("the nil id is nobody's, in any line", async () => {
      const isId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
      const kinds = new Map(lines(text).slice(1, -1).map((row) => [row.type, row]));
      await served(place(), async (server) => {
        for (const row of kinds.values()) {
          for (const name of Object.keys(row).filter((key) =>
            isId.test(row[key]) && key !== "claim_ids" /* a list, here of one */)) {
            isError(await server.api().post("/api/v1/import", { rows:
              [{ ...row, [name]: "00000000-0000-0000-0000-000000000000" }] }), 400,
            undefined, `rows[0].${name}`);
          }
        }
      });
    });

    test("only an admin may, and sees the own tenant alone", async () => {
      await served(place(), async (server) => {
        const write = server.api(await server.key("t", "write"));
        const admin = server.api(await server.key("t", "admin"));
        const stranger = server.api(await server.key("u", "admin"));
        isError(await write.get("/api/v1/export"), 403, "FORBIDDEN");
        isError(await write.post("/api/v1/import", { rows: [] }), 403, "FORBIDDEN");
        isOk(await admin.post("/api/v1/turns",
          { user_id: "u", role: "user", content: "mine alone" }), 201);
        assert.ok((await admin.get("/api/v1/export")).text.includes("mine alone"));
        const theirs = (await stranger.get("/api/v1/export")).text;
        assert.equal(lines(theirs).length, 2);
      });
    });

    if (backend === "postgres") {
      test("one backend's export is the other's", async () => {
        const data = path.join(folder, "sqlite");
        fs.writeFileSync(file, text);
        await clew(data, undefined, "import", file);
        isSame((await clew(data, undefined, "export")).stdout, text);
      });
    }
  });
}

test("every table is exported, or known to be made again", () => {
  const root = path.join(import.meta.dirname ?? path.dirname(
    fileURLToPath(import.meta.url)), "../../src");
  const folder = path.join(root, "store/migrations");
  const kinds = fs.readFileSync(path.join(root, "engine/proof/export_kinds.c"), "utf8");
  const without = new Set(["tenants", "tasks", "vectors", "vector_models",
    "vector_graphs", "callers",
    "starts", "link_rebuilds", "forget_set",
    "readings" /* in the lines of actions */]);
  const tables = new Map(); /* as the last migration leaves them */
  for (const name of fs.readdirSync(folder).sort()) {
    const sql = fs.readFileSync(path.join(folder, name), "utf8");
    for (const [, dropped, table, columns, from, to] of sql.matchAll(
      /DROP TABLE (\w+);|CREATE TABLE (\w+) \(([^;]*)\)(?: \{keyed\})?;|ALTER TABLE (\w+) RENAME TO (\w+);/g)) {
      tables.delete(dropped);
      if (table) tables.set(table, columns);
      if (from) {
        tables.set(to, tables.get(from));
        tables.delete(from);
      }
    }
  }
  for (const [table, columns] of tables) {
    if (without.has(table) || !columns.includes("tenant {int} NOT NULL")) continue;
    assert.ok(kinds.includes(`"${table}", COLUMNS(`), table);
    const form = new RegExp(`COLUMNS\\((\\w+)\\)`).exec(
      kinds.slice(kinds.indexOf(`"${table}", COLUMNS(`)))[1];
    const part = kinds.slice(kinds.indexOf(`${form}[]`));
    const listed = part.slice(0, part.indexOf("};"));
    for (const [, column] of columns.matchAll(/^ {4}(\w+) \{/gm)) {
      if (column === "tenant" || column === "change_seq") continue;
      const isPlain = new RegExp(`EXPORT_(PACKED|BESIDE), \\w+, "${column}"}`).test(listed);
      assert.ok(isPlain || listed.includes(`{"${column}",`), `${table}.${column}`);
    }
  }
});
