/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres-keeping.test.mjs - what docs/operations.md promises of a database:
 * a backup that row-level security does not empty, a forget that says what is
 * left and where, and reads from a replica that miss nothing acknowledged.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { filesWith } from "./lib/files.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { bin, clew, startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

describe("postgres", () => {
  let postgres;
  const servers = [];
  before(async () => { postgres = await startPostgres(); });
  after(async () => {
    for (const server of servers) await server.stop();
    await postgres.stop();
  });

  async function open() {
    const server = await startServer({ store: postgres.database() });
    servers.push(server);
    return server;
  }
  const say = (server, content) => server.api().post("/api/v1/turns",
    { user_id: "ada", role: "user", content });

  /* Whose file it is, for whoever reads the failure. */
  const tableOf = (server, file) => postgres.sql(
    `SELECT pg_filenode_relation(0, ${parseInt(path.basename(file), 10)})`, server.store);

  test("works where nothing may be kept on a connection", async () => {
    const store = postgres.database();
    const server = await startServer({ store, env: { CLEW_STORE_POOLING: "transaction" } });
    servers.push(server);
    const { turn } = isOk(await say(server, "The spare oars are under the jetty."), 201);
    const found = isOk(await server.api().post("/api/v1/recall", { query: "where are the oars?" }));
    assert.match(found.items[0].text, /under the jetty/);
    assert.equal(isOk(await server.api().post("/api/v1/forget", { turn_ids: [turn.id] })).scrubbed, true);
    await server.clew("verify");
  });

  test("a session that nobody looks after is taken up at the next start", async () => {
    const store = postgres.database();
    const first = await startServer({ store });
    for (const tenant of ["a", "b"]) {
      isOk(await first.api(await first.key(tenant)).post("/api/v1/turns",
        { user_id: "ada", role: "user", content: "The gate key hangs by the door." }), 201);
    }
    await first.stop();
    const watched = () => postgres.sql("SELECT string_agg(name, ',' ORDER BY name) FROM tenants t WHERE EXISTS (SELECT 1"
      + " FROM tasks k WHERE k.tenant = t.tenant AND finished_at IS NULL AND kind LIKE 'session%')", store);
    assert.equal(watched(), "a,b");
    postgres.sql("DELETE FROM tasks WHERE tenant = (SELECT tenant FROM tenants WHERE name = 'b')", store);
    assert.equal(watched(), "a");
    servers.push(await startServer({ store }));
    assert.equal(watched(), "a,b");
  });

  test("a batch writes its chat's profile once, not once a turn", async () => {
    const server = await startServer({ store: postgres.database(),
      env: { CLEW_READER_ON: "false" } });
    servers.push(server);
    postgres.sql("CREATE SEQUENCE written; CREATE FUNCTION count_it() RETURNS trigger"
      + " LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM nextval('public.written');"
      + " RETURN NULL; END $$; CREATE TRIGGER counted AFTER INSERT OR UPDATE ON chat_profiles"
      + " FOR EACH ROW EXECUTE FUNCTION count_it()", server.store);
    const turns = [...Array(60).keys()].map((i) => ({ user_id: "ada", role: "user",
      content: `Line ${i}: the boat needs a new sail, and the jetty two planks.` }));
    isOk(await server.api().post("/api/v1/turns", { turns }), 201);
    await until("all is read", async () =>
      isOk(await server.api().get("/healthz")).reading.waiting === 0);
    const written = Number(postgres.sql("SELECT nextval('written') - 1", server.store));
    assert.ok(written > 0 && written <= 10, `${written} times`);
  });

  test("where a database is that is down stands in the log alone", async () => {
    const server = await open();
    const key = await server.key("a");
    await postgres.stopOrderly();
    try {
      const { status, body } = await server.api("clew_0123456789abcdef_" + "0".repeat(64)).get("/api/v1/chats");
      assert.equal(status, 503);
      assert.equal(body.error.message, "temporarily unavailable");
      await until("a worker looked for tasks", () => /task claim_failed/.test(server.log()));
    } finally {
      await postgres.start();
    }
    const lines = server.log().split("\n").filter((line) => /could not reach/.test(line));
    for (const event of ["api failed", "task claim_failed"]) {
      const line = lines.find((text) => text.includes(event));
      assert.match(line, / message="could not reach the database: [^"]*socket[^"]*"$/);
    }
    await until("it is back", async () => (await server.api(key).get("/api/v1/chats")).status === 200);
  });

  test("what is forgotten is in no table's file", async () => {
    const server = await open();
    const word = "zanzibarquartz";
    isOk(await say(server, "The keys are in the blue drawer."), 201);
    const { turn } = isOk(await say(server, `My word is ${word}, and so on.`),
      201);
    for (let i = 0; i < 50; i++) {
      isOk(await say(server, `Line ${i} of what stays.`), 201);
    }
    postgres.sql("CHECKPOINT");
    const base = path.join(postgres.data, "base");
    assert.ok(filesWith(base, word).length > 0);
    const receipt = isOk(await server.api().post("/api/v1/forget",
      { turn_ids: [turn.id] }));
    assert.equal(receipt.scrubbed, true);
    assert.match(receipt.remains, /write-ahead log/);
    postgres.sql("CHECKPOINT");
    const left = filesWith(base, word);
    assert.deepEqual(left, [], left.map((file) => tableOf(server, file)).join());
  });

  test("a role made for it backs up all tenants, and it is restored",
    async () => {
      const server = await open();
      const keys = [await server.key("a"), await server.key("b")];
      for (const key of keys) {
        isOk(await server.api(key).post("/api/v1/turns", { user_id: "ada",
          role: "user", content: "I live in Hamburg." }), 201);
      }
      await server.stop();
      servers.splice(servers.indexOf(server), 1);
      const [, name, host] = /@\/(\w+)\?host=(.*)/.exec(server.store);
      const dump = (role) => spawnSync("pg_dump",
        ["-h", host, "-U", role, "-Fp", "--no-owner", name],
        { encoding: "utf8", maxBuffer: 1 << 28 });
      /* the owner is fenced in like everybody: no copy rather than half of one */
      const own = dump("clew");
      assert.notEqual(own.status, 0);
      assert.match(own.stderr, /row-level security/);
      postgres.sql("CREATE ROLE clew_backup LOGIN BYPASSRLS");
      postgres.sql("GRANT pg_read_all_data TO clew_backup");
      const whole = dump("clew_backup");
      assert.equal(whole.status, 0, whole.stderr);
      const url = postgres.database();
      const [, other] = /@\/(\w+)/.exec(url);
      execFileSync("psql", ["-h", host, "-U", "clew", "-d", other, "-q",
        "-v", "ON_ERROR_STOP=1"], { input: whole.stdout, stdio: "pipe" });
      const data = tempFolder();
      const told = JSON.parse((await clew(data, url, "verify", "--json")).stdout);
      assert.equal(told.ok, true);
      assert.equal(told.tenants, 2);
      assert.equal(told.turns, 2);
      fs.rmSync(data, { recursive: true });
    });
});

describe("a database that was restored", () => {
  let postgres;
  before(async () => { postgres = await startPostgres(); });
  after(() => postgres.stop());

  test("is found whole by a process that knew the one before", async () => {
    const store = postgres.database();
    const data = tempFolder();
    const [, name] = /@\/(\w+)/.exec(store);
    const say = async (server, ...all) => {
      for (const content of all) {
        isOk(await server.api().post("/api/v1/turns", { user_id: "ada", role: "user", content }), 201);
      }
    };
    const find = async (server, query) => isOk(await server.api().post("/api/v1/recall",
      { user_id: "ada", query, limit: 20 })).items.map((item) => item.text).join("\n");
    const changes = () => Number(postgres.sql("SELECT max(change_seq) FROM tenants", store));
    const lamps = [1, 2, 3].map((i) => `Lamp ${i} was mended by Orrin.`);
    const jars = [1, 2, 3, 4, 5, 6].map((i) => `Jar ${i} holds pickled beets.`);

    let server = await startServer({ store, data });
    await say(server, "The gate key hangs by the door.");
    const copy = postgres.dump(store);
    await say(server, ...lamps);
    assert.match(await find(server, "who mended the lamps?"), /Lamp 3/);
    await server.stop();
    const before = changes();
    postgres.sql(`DROP DATABASE ${name}`);
    postgres.sql(`CREATE DATABASE ${name} OWNER clew`);
    postgres.restore(store, copy);
    const other = await startServer({ store });
    await say(other, ...jars);
    assert.ok(changes() > before, "its numbers are those of other rows now");
    server = await startServer({ store, data });
    const found = await find(server, "which jar holds beets?");
    assert.deepEqual(jars.filter((jar) => !found.includes(jar)), []);
    assert.doesNotMatch(await find(server, "who mended the lamps?"), /Lamp/);
    await server.stop();
    await other.stop();
    fs.rmSync(data, { recursive: true });
  });

  test("and opened by a superuser says that a fence is missing", async () => {
    const store = postgres.database();
    const ours = await startServer({ store });
    isOk(await ours.api().post("/api/v1/turns", { user_id: "ada", role: "user", content: "Hello." }), 201);
    await ours.stop();
    const doctor = (url) => spawnSync(bin, ["doctor", "--data", ours.data, "--store", url], { encoding: "utf8" });
    assert.doesNotMatch(doctor(store).stdout, /row-level security/);
    const told = doctor(store.replace("clew@", "admin@"));
    assert.match(told.stdout, /WRONG role +row-level security does not hold/);
    assert.notEqual(told.status, 0);
  });
});

describe("a standby that says what it still reads", () => {
  let postgres;
  let server;
  before(async () => {
    postgres = await startPostgres({ replica: true,
      settings: ["hot_standby_feedback=on", "wal_receiver_status_interval=1"] });
    server = await startServer({ store: postgres.database() });
  });
  after(async () => {
    await server.stop();
    await postgres.stop();
  });

  /* The same rows are seen on the standby until its input ends. */
  async function read() {
    const reader = spawn("psql", [postgres.replicaOf(server.store), "-AtqX"],
      { stdio: ["pipe", "ignore", "ignore"] });
    reader.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM turns;\n");
    await until("it is read", () => postgres.replicaSql("SELECT COUNT(*) FROM pg_stat_activity"
      + " WHERE state = 'idle in transaction' AND backend_xmin IS NOT NULL") === "1");
    return reader;
  }

  /* `meanwhile` is done with the reader while it is being forgotten. */
  async function forget(word, meanwhile) {
    const { turn } = isOk(await server.api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content: `My word is ${word}, and so on.` }), 201);
    postgres.sql("CHECKPOINT");
    const reader = await read();
    const told = server.api().post("/api/v1/forget", { turn_ids: [turn.id] });
    await until("it is waited for", () => postgres.sql("SELECT COUNT(*) FROM pg_stat_activity"
      + " WHERE state = 'active' AND query LIKE 'DO $$ DECLARE me xid%'") === "1");
    meanwhile(reader);
    const receipt = isOk(await told);
    postgres.sql("CHECKPOINT");
    const files = filesWith(path.join(postgres.data, "base"), word);
    reader.stdin.end();
    return { receipt, files };
  }

  test("is waited for, and what is forgotten is in no file", async () => {
    const { receipt, files } = await forget("marmaladequoin", (reader) => reader.stdin.end());
    assert.equal(receipt.scrubbed, true);
    assert.deepEqual(files, []);
  });

  test("is not waited for without end, and the receipt says what is left", async () => {
    const { receipt } = await forget("gallimaufryspindle", () => {});
    assert.equal(receipt.scrubbed, false);
    assert.match(receipt.remains, /VACUUM FULL/);
  });
});

describe("a replica to read from", () => {
  let postgres;
  let store;
  let servers;
  before(async () => {
    postgres = await startPostgres({ replica: true });
    store = postgres.database();
    const env = { CLEW_STORE_READ_URL: postgres.replicaOf(store) };
    servers = [await startServer({ store, env }), await startServer({ store, env })];
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await postgres.stop();
  });

  const health = async (server) => isOk(await server.api().get("/healthz")).replica;
  const isNow = (server, word) => until(`the replica is ${word}`,
    async () => await health(server) === word);
  async function reads(server) {
    const { text } = await server.api().get("/metrics");
    return Object.fromEntries([...text.matchAll(/^clew_replica_reads_total\{by="(\w+)"\} (\d+)/gm)]
      .map(([, by, n]) => [by, Number(n)]));
  }
  /* What is said to one process is there for both at once. */
  async function sayAndFind(content) {
    const { turn } = isOk(await servers[0].api().post("/api/v1/turns",
      { user_id: "ada", role: "user", content }), 201);
    for (const server of servers) {
      const { items } = isOk(await server.api().get(`/api/v1/chats/${turn.chat_id}/turns?limit=100`));
      assert.ok(items.some((item) => item.text === content), content);
      const found = isOk(await server.api().post("/api/v1/recall", { query: content, fast: true }));
      assert.ok(found.items.some((item) => item.text.includes(content)), content);
    }
  }
  const onReplica = (content) => Number(postgres.replicaSql(
    `SELECT COUNT(*) FROM turns WHERE text = '${content}'`, store));

  test("answers when it has caught up", async () => {
    for (const server of servers) await isNow(server, "ok");
    for (let i = 0; i < 20; i++) await sayAndFind(`The boat is at pier ${i}.`);
    await isNow(servers[1], "ok");
    const before = (await reads(servers[1])).replica;
    assert.ok(before > 0, JSON.stringify(await reads(servers[1])));
    const doctor = spawnSync(bin, ["doctor", "--data", servers[1].data, "--store", store], {
      env: { ...process.env, CLEW_STORE_READ_URL: postgres.replicaOf(store) }, encoding: "utf8" });
    assert.match(doctor.stdout, /follows the primary/);
  });

  test("does not answer for another database, nor to whom it shows nothing", async () => {
    postgres.sql("CREATE ROLE stranger LOGIN");
    const ours = postgres.replicaOf(store);
    await sayAndFind("The tide turns at six.");
    for (const url of [postgres.replicaOf(postgres.database()), ours.replace("clew@", "stranger@")]) {
      await until("the role is there too", () => postgres.replicaSql(
        "SELECT COUNT(*) FROM pg_roles r, pg_database d WHERE rolname = 'stranger'"
        + ` AND datname = '${/@\/(\w+)/.exec(url)[1]}'`) === "1");
      const server = await startServer({ store, env: { CLEW_STORE_READ_URL: url } });
      try {
        const { items } = isOk(await server.api().get("/api/v1/chats"));
        assert.ok(items.length > 0, url);
        assert.equal(await health(server), "down", url);
      } finally {
        await server.stop();
      }
    }
  });

  test("does not answer while it is behind", async () => {
    postgres.replicaSql("SELECT pg_wal_replay_pause()");
    await sayAndFind("The ferry leaves at nine.");
    assert.equal(onReplica("The ferry leaves at nine."), 0, "it is behind indeed");
    assert.equal(await health(servers[0]), "behind");
    assert.ok((await reads(servers[1])).primary_behind > 0);
    postgres.replicaSql("SELECT pg_wal_replay_resume()");
    await isNow(servers[0], "ok");
    assert.equal(onReplica("The ferry leaves at nine."), 1);
  });

  test("does not answer when it follows nobody any more", async () => {
    postgres.replicaSql("SELECT pg_promote(true)");
    await sayAndFind("The last bus is at ten.");
    assert.equal(onReplica("The last bus is at ten."), 0);
    await isNow(servers[0], "down");
  });

  test("is refused where there can be none", async () => {
    await assert.rejects(startServer({ env: { CLEW_STORE_READ_URL: "postgres://localhost/x" } }),
      /store\.read_url needs PostgreSQL/);
  });
});
