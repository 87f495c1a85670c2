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

/* What an import that is refused says of it. */
async function refusal(run) {
  const { stderr } = await run.then(() => assert.fail("it was taken"), (error) => error);
  const { error } = JSON.parse(stderr);
  assert.equal(error.code, stderr.includes("contradicts") ? "CONFLICT" : "VALIDATION_ERROR");
  return error.message;
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

    test("nor does anything that was said of it, in any table", async () => {
      const made = place();
      const ids = await served(made, async (server) => {
        const api = server.api();
        const say = async (content, more) => isOk(await api.post("/api/v1/turns",
          { user_id: "dora", role: "user", content, ...more }), 201);
        const think = async (prompt, more) => isOk(await api.post("/api/v1/memory",
          { prompt, agent_id: "test", agent_name: "Test", ...more })).result.thought_id;
        const { chat } = await say("I need to mend the zeppelin in the attic.");
        await say("We decided to paint the zeppelin red.", { chat_id: chat.id });
        isOk(await api.patch(`/api/v1/chats/${chat.id}`, { title: "About the zeppelin" }));
        const kept = await say("My sister lives in Bremen.");
        const first = await think("Every zeppelin has to be moored with two ropes and one anchor.");
        const second = await think("Every airship has to be moored with three ropes and no anchor.", { refines: first });
        return { chat: chat.id, kept: kept.chat.id, first, second };
      });
      const whole = await made.text();
      for (const what of [{ chat_id: ids.chat, memory_ids: [ids.first] },
        { user_id: "dora", memory_ids: [ids.first] }, { memory_ids: [ids.second, ids.first], chat_id: ids.chat }]) {
        const other = place();
        await other.import(whole);
        await served(other, async (server) => {
          for (const [name, value] of Object.entries(what)) {
            isOk(await server.api().post("/api/v1/forget", { [name]: value }));
          }
        });
        const before = await other.text();
        assert.ok(!/zeppelin/i.test(before));
        await other.import(whole);
        const after = await other.text();
        assert.ok(!/zeppelin/i.test(after), lines(after).filter((row) =>
          /zeppelin/i.test(JSON.stringify(row))).map((row) => row.type).join());
        assert.ok(!lines(after).some((row) => row.type !== "tombstone" && row.kind !== "memory.forget"
          && Object.values(row).some((value) => value === ids.first || value === ids.chat)));
        await other.clew("verify");
      }
    });

    test("nor what came of it elsewhere since", async () => {
      const made = place();
      const other = place();
      const naming = (id, what) => lines(what).filter((row) => Object.values(row).includes(id));
      const first = await served(made, async (server) => {
        const say = async (content, more) => isOk(await server.api().post("/api/v1/turns",
          { user_id: "dora", role: "user", content, ...more }), 201);
        const { chat } = await say("We decided to moor the zeppelin at the north mast.");
        const kept = await say("My sister lives in Bremen.", { channel: "web" });
        const { turn } = await say("We decided to buy a sextant from Isidor.", { chat_id: kept.chat.id });
        return { chat: chat.id, kept: kept.chat.id, turn };
      });
      await other.import(await made.text());
      await served(other, async (server) => {
        isOk(await server.api().post("/api/v1/forget", { chat_id: first.chat }));
        isOk(await server.api().post("/api/v1/forget", { turn_ids: [first.turn.id] }));
      });
      await other.clew("verify");
      const fork = await served(made, async (server) => {
        const api = server.api();
        const say = async (content, chat_id) => isOk(await api.post("/api/v1/turns",
          { user_id: "dora", role: "user", content, chat_id }), 201);
        await say("We decided to paint the zeppelin red because of the fog.", first.chat);
        const { id } = isOk(await api.post(`/api/v1/chats/${first.chat}/fork`, { at_seq: 2, title: "The zeppelin's fork" }), 201);
        await say("We decided to sell the zeppelin.", id);
        isOk(await api.post(`/api/v1/chats/${id}/fork`, { at_seq: 3, title: "The zeppelin's fork's fork" }), 201);
        isOk(await api.post("/api/v1/link", { messages: [{ role: "user", content: "How long is a zeppelin?" }],
          response: { role: "assistant", content: "Long." }, model: "m", chat_id: id }));
        return id;
      });
      let later = await made.text();
      assert.ok(naming(fork, later).length > 3);
      /* a rebuild there gave what was made of the turn another id and chain */
      const memory = lines(later).find((row) => row.type === "memory" && /Isidor/.test(row.summary));
      const chain = lines(await other.text()).find((row) => row.type === "chain" && row.chat_id === first.kept);
      later = later.replaceAll(memory.id, "0199c1d2-7a00-7000-8000-000000000001").split("\n").map((line) =>
        line.startsWith('{"type":"claim"') && line.includes(first.kept) && line.includes(`"seq":${first.turn.seq},`)
          ? line.replace(/"chain_id":"[^"]*"/, `"chain_id":"${chain.id}"`) : line).join("\n");
      assert.ok(later.includes(`"seq":${first.turn.seq},"position":0,"chain_id":"${chain.id}"`));
      const whole = await other.import(later);
      assert.ok(whole.forgotten > 5);
      const text = await other.text();
      assert.ok(!/zeppelin|isidor/i.test(text), lines(text).filter((row) =>
        /zeppelin|isidor/i.test(JSON.stringify(row))).map((row) => row.type).join());
      assert.deepEqual(naming(fork, text).map((row) => row.type), ["tombstone"]);
      await other.clew("verify");
      assert.equal((await other.import(later)).added, 0);
      await other.clew("verify");
      /* all of it comes back when it is wished */
      await other.clew("import", file, "--restore-forgotten");
      const back = await other.text();
      assert.ok(/zeppelin red/.test(back) && /sell the zeppelin/.test(back) && /Isidor/.test(back));
      await other.clew("verify");
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

    test("rows that do not fit each other are refused, and nothing of their call stays", async () => {
      const rows = lines(text).slice(1, -1);
      const other = "0199c1d2-7a00-7000-8000-000000000001";
      const turn = rows.find((row) => row.type === "turn");
      const root = rows.find((row) => row.type === "chat" && !row.parent_id && row.id === turn.chat_id);
      const source = rows.find((row) => row.type === "memory_source");
      const of = { chat: root, turn, session: rows.find((row) => row.id === turn.session_id), memory_source: source,
        memory_ref: { type: "memory_ref", memory_id: source.memory_id, chat_id: root.id, first_seq: 1, last_seq: 1 } };
      const held = [root, of.session, turn, ...rows.filter((row) => row.type === "memory"
        && [source.memory_id, source.source_id].includes(row.id)), source, of.memory_ref];
      const wrong = [["chat", "conversation_id", other], ["chat", "depth", 3], ["chat", "depth", -1], ["chat", "fork_seq", 2],
        ["chat", "last_seq", -1], ["session", "chat_id", other], ["turn", "chat_id", other], ["turn", "session_id", other],
        ["turn", "seq", 0], ["turn", "seq", root.last_seq + 1], ["memory_source", "source_id", other],
        ["memory_source", "memory_id", other], ["memory_ref", "memory_id", other], ["memory_ref", "chat_id", other]];
      const at = place();
      await served(at, async () => {});
      const empty = await at.text();
      await served(at, async (server) => {
        const post = (list) => server.api().post("/api/v1/import", { rows: list });
        for (const [type, field, value] of wrong) {
          const bad = { ...of[type], [field]: value };
          const list = held.map((row) => row === of[type] ? bad : row);
          const answer = await post(list);
          /* what pointed at it may be met first */
          assert.equal(answer.status, 400, `${type}.${field}: ${answer.text}`);
          assert.match(answer.body.error.field, /^rows\[\d\]\./);
          if (type !== "chat" && type !== "session") {
            isError(answer, 400, undefined, `rows[${list.indexOf(bad)}].${field}`);
          }
        }
        /* another tenant's chat is no chat here */
        isOk(await post(held));
        const stranger = server.api(await server.key("stranger"));
        isError(await stranger.post("/api/v1/import", { rows: [of.session] }), 400, undefined, "rows[0].chat_id");
      });
      assert.notEqual(await at.text(), empty);
    });

    test("nothing is brought that is above itself, nor one user's under another's", async () => {
      const from = place();
      const made = await served(from, async (server) => {
        const api = server.api();
        const post = async (route, body) => isOk(await api.post(`/api/v1/${route}`, body), 201);
        const effort = (goal, parent_id) => post("efforts", { user_id: "ada", goal, parent_id });
        const { chat } = await post("turns", { user_id: "ada", role: "user", content: "The hall is to be red." });
        const fork = await post(`chats/${chat.id}/fork`, {});
        const top = await effort("paint the hall");
        const part = await effort("buy brushes", top.id);
        return { chat: chat.id, fork: fork.id, top: top.id, part: part.id, least: (await effort("pay", part.id)).id };
      });
      const rows = lines(await from.text()).slice(1, -1);
      const changed = (id, change) => rows.map((row) => row.id === id ? { ...row, ...change } : row);
      const wrong = [
        [changed(made.chat, { parent_id: made.chat, depth: 1 }), "parent_id"],
        [changed(made.chat, { parent_id: made.fork, depth: 1 }), "parent_id"],
        [changed(made.top, { parent_id: made.top }), "parent_id"],
        [changed(made.top, { parent_id: made.least }), "parent_id"],
        [changed(made.least, { user_id: "bob" }), "parent_id"],
      ];
      const at = place();
      await served(at, async (server) => {
        const post = (list) => server.api().post("/api/v1/import", { rows: list });
        for (const [list, field] of wrong) {
          const answer = await post(list);
          isError(answer, 400, "VALIDATION_ERROR");
          assert.match(answer.body.error.field, new RegExp(`^rows\\[\\d+\\]\\.${field}$`), answer.text);
        }
        /* nor where what is above it comes later */
        const top = rows.find((row) => row.type === "memory" && row.id === made.top);
        isOk(await post(rows.filter((row) => ![row.id, row.memory_id].includes(made.top))));
        isError(await post([{ ...top, user_id: "bob" }]), 400, undefined, "rows[0].user_id");
        isError(await post([{ ...top, parent_id: made.least }]), 400, undefined, "rows[0].parent_id");
        isOk(await post(rows));
      });
    });

    test("a file is looked at to its end before a row of it is sent", async () => {
      const all = text.trimEnd().split("\n");
      const last = all.length - 1;
      const edit = (at, change) => all.map((line, i) =>
        i === at ? JSON.stringify({ ...JSON.parse(line), ...change }) : line).join("\n");
      const claim = all.findLastIndex((line) => line.startsWith('{"type":"claim"'));
      for (const [content, words] of [
        [edit(0, { version: 2 }), /line 1 is of a newer clew/],
        [edit(0, { version: 0 }), /line 2 stands outside of an export/],
        [edit(claim, { confidence: "high" }), new RegExp(`line ${claim + 1} is wrong: .*confidence`)],
        [edit(claim, { mood: "fine" }), new RegExp(`line ${claim + 1} is wrong: unknown field`)],
        [edit(claim, { type: "claims" }), new RegExp(`line ${claim + 1} is wrong: "type" is unknown`)],
        [all.with(claim, "[1]").join("\n"), new RegExp(`line ${claim + 1} is wrong`)],
        [all.toSpliced(claim, 1).join("\n"), new RegExp(`line ${last} counts ${last - 1} rows, and ${last - 2} are before it`)],
        [`${text}${all[claim]}\n`, new RegExp(`line ${last + 2} stands outside of an export`)],
      ]) {
        const other = place();
        assert.match(await refusal(other.import(content)), words);
        assert.ok(!fs.existsSync(other.data), "not even a store");
      }
      const twice = place();
      await twice.import(text + text);
      isSame(await twice.text(), text);
    });

    test("what the store alone can tell is told with its line", async () => {
      const all = text.trimEnd().split("\n");
      const last = all.findLastIndex((line) => line.startsWith('{"type":"turn"'));
      const other = place();
      const wrong = all.with(last, JSON.stringify({ ...JSON.parse(all[last]), seq: 4711 })).join("\n");
      assert.match(await refusal(other.import(wrong)),
        new RegExp(`^line ${last + 1}: "seq" is out of its chat's range; \\d+ rows before it were taken`));
      await other.import(text);
      isSame(await other.text(), text);
      const taken = all.with(last, JSON.stringify({ ...JSON.parse(all[last]), id: "0199c1d2-7a00-7000-8000-000000000001" })).join("\n");
      assert.match(await refusal(other.import(taken)), new RegExp(`^line ${last + 1}: a "turn" contradicts what is stored`));
      isSame(await other.text(), text);
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
