/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unreadable.test.mjs - a turn that cannot be read is given up and told of, and
 * those after it are read; also one whose reading ends the process each time.
 *
 * The database itself refuses what reading the turn writes, or never comes to
 * an end with it.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

/* A dead worker's claim ends after a second; calls leave reading to the task. */
const env = { CLEW_TASKS_LEASE_SECONDS: "1", CLEW_READER_LIVE_TURNS: "0" };

/* No second decision can be kept; or none at all, nor is that ever said. */
const sqlite = {
  refuse: "CREATE UNIQUE INDEX poison ON memories (tenant) WHERE type = 'decision'",
  allow: "DROP INDEX poison",
  /* looking for what fits takes for ever */
  hang: `CREATE INDEX poison ON memories (tenant) WHERE type = 'decision'
    AND instr(hex(zeroblob(length(summary) * 400000)), hex(zeroblob(500000)) || '1')`,
  goOn: "DROP INDEX poison",
};
const postgres = {
  refuse: sqlite.refuse,
  allow: sqlite.allow,
  hang: `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN PERFORM pg_sleep(600); RETURN NEW; END$$;
    CREATE TRIGGER poison BEFORE INSERT ON memories FOR EACH ROW
      WHEN (NEW.type = 'decision') EXECUTE FUNCTION poison()`,
  goOn: "DROP TRIGGER poison ON memories",
  /* a connection whose client died goes on sleeping */
  bury: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clew'",
};

for (const backend of ["sqlite", "postgres"]) {
  describe(`what cannot be read, on ${backend}`, () => {
    /* A server, with a decision kept and another way into its store. */
    async function open(t) {
      const data = tempFolder();
      const db = backend === "postgres" && await startPostgres();
      const store = db ? db.database() : undefined;
      const opened = [];
      t.after(async () => {
        for (const server of opened) await server.stop();
        if (db) await db.stop();
      });
      const file = path.join(data, "clew.db");
      const sql = (text) => (db ? db.sql(text, store)
        : execFileSync("sqlite3", ["-cmd", ".timeout 60000", file, text],
          { encoding: "utf8" }).trim());
      const start = async () => {
        opened.push(await startServer({ data, store, env }));
        return opened.at(-1);
      };
      return { start, sql, words: db ? postgres : sqlite };
    }

    const say = async (server, content) => isOk(await server.api().post(
      "/api/v1/turns", { user_id: "ada", role: "user", content }), 201);
    const reading = async (server) =>
      isOk(await server.api().get("/healthz")).reading;
    const memories = async (server, type) =>
      isOk(await server.api().get(`/api/v1/memories?type=${type}`)).items;

    /* It was given up, the rest was read, and that is told everywhere. */
    async function isGivenUp(server, id, decisions) {
      const { trouble } = await reading(server);
      assert.match(trouble, /1 turn could not be read and was given up/);
      assert.equal((await memories(server, "decision")).length, decisions);
      assert.equal((await memories(server, "fact")).length, 1);
      const failed = isOk(await server.api().get("/api/v1/tasks?status=failed"));
      assert.equal(failed.items.length, 1);
      assert.match(JSON.stringify(failed.items[0]), new RegExp(id));
      /* the words are still there */
      const found = isOk(await server.api().post("/api/v1/recall",
        { query: "office in Lisbon", user_id: "ada", kinds: ["turn"] }));
      assert.match(found.items[0].text, /office in Lisbon/);
    }

    /* Once nothing is in its way a rebuild reads it. */
    async function isReadAnew(server, decisions) {
      await server.clew("verify");
      const dry = await server.clew("rebuild", "--dry-run", "--json");
      assert.equal(JSON.parse(dry.stdout).read_anew, 0);
      const report = JSON.parse((await server.clew("rebuild", "--json")).stdout);
      assert.equal(report.read_anew, 1);
      assert.equal(report.unreadable, 0);
      assert.equal((await memories(server, "decision")).length, decisions);
      const { trouble, given_up } = await reading(server);
      assert.equal(given_up, 0);
      assert.equal(trouble, undefined);
      await server.clew("verify");
    }

    async function talk(server) {
      const { turn } = await say(server, "We decided to rent the office in Lisbon.");
      await say(server, "My sister Greta lives in Bremen.");
      return turn.id;
    }

    test("what fails again and again is given up", { timeout: 600_000 },
      async (t) => {
        const { start, sql, words } = await open(t);
        const server = await start();
        await say(server, "We decided to use PostgreSQL for the archive.");
        await until("it is read", async () => (await reading(server)).waiting === 0);
        sql(words.refuse);
        const id = await talk(server);
        await until("nothing waits", async () => {
          sql("UPDATE tasks SET execute_at = 0 WHERE status = 'pending'");
          return (await reading(server)).waiting === 0;
        });
        await isGivenUp(server, id, 1);
        await until("it is said", () =>
          /error task given_up kind=turns\.read turns=1 /.test(server.log()));
        const vain = await server.clew("rebuild");
        assert.match(vain.stdout, /given up 0 could be read, 1 could not/);
        sql(words.allow);
        await isReadAnew(server, 2);
      });

    test("what ends the process is given up", { timeout: 600_000 },
      async (t) => {
        const { start, sql, words } = await open(t);
        let server = await start();
        sql(words.hang);
        const id = await talk(server);
        /* every try that is begun, counted or not, is ended by a kill */
        const begun = () => Number(sql("SELECT sum(tries) * 100 + (SELECT"
          + " max(attempts) FROM tasks WHERE kind = 'turns.read') FROM unread"));
        for (let tries = 0, isOver = false; !isOver;) {
          await until("it is tried", async () => {
            isOver = (await reading(server)).given_up === 1;
            return isOver || begun() > tries;
          });
          if (isOver) break;
          tries = begun();
          assert.ok(tries < 1000, "it is never given up");
          server.child.kill("SIGKILL");
          await server.ended;
          if (words.bury) sql(words.bury);
          server = await start();
        }
        await until("the rest is read", async () => (await memories(server, "fact")).length === 1);
        await isGivenUp(server, id, 0);
        sql(words.goOn);
        await isReadAnew(server, 1);
      });
  });
}
