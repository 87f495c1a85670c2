/* SPDX-License-Identifier: Apache-2.0 */
/* turns.test.mjs - POST /api/v1/turns: one, many, again, and badly. */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk, time, uuid } from "./lib/check.mjs";

const turn = (content, more = {}) => ({
  user_id: "u", role: "user", content, ...more,
});

onEachBackend("turns", (open) => {
  let api;
  before(async () => {
    api = (await open()).api();
  });
  const post = (body) => api.post("/api/v1/turns", body);

  async function countTurns() {
    let count = 0;
    const { items } = isOk(await api.get("/api/v1/chats?limit=500"));
    for (const chat of items) {
      const page = await api.get(`/api/v1/chats/${chat.id}/turns?limit=500`);
      count += isOk(page).items.length;
    }
    return count;
  }

  test("a turn comes back as it was stored", async () => {
    const body = isOk(await post(turn("Hello, world", {
      name: "Ann", channel: "sms", timezone: "Europe/Berlin",
      created_at: "2024-03-01T10:00:00.5+01:00", external_id: "first",
    })), 201);
    assert.match(body.turn.id, uuid);
    assert.match(body.turn.session_id, uuid);
    assert.equal(body.turn.chat_id, body.chat.id);
    assert.equal(body.turn.seq, 1);
    assert.equal(body.turn.role, "user");
    assert.equal(body.turn.name, "Ann");
    assert.equal(body.turn.text, "Hello, world");
    assert.equal(body.turn.created_at, "2024-03-01T09:00:00.500Z");
    assert.match(body.turn.stored_at, time);
    assert.equal(body.turn.external_id, "first");
    assert.deepEqual(body.chat.channels, ["sms"]);
    for (const list of ["memories", "chains", "links", "episodes"]) {
      assert.ok(Array.isArray(body.updates[list]));
    }
    assert.ok(Array.isArray(body.notices));
    assert.ok("trace_id" in body);
  });

  test("a block's long type is cut where a character ends", async () => {
    for (const name of ["é", "€", "🧵"]) {
      for (let n = 60; n < 65; n++) {
        const type = "x".repeat(n) + name;
        const { turn } = isOk(await api.post("/api/v1/turns",
          { user_id: "types", role: "user", content: [{ type }] }), 201);
        assert.ok(turn.text.length > 60, turn.text);
        assert.ok(type.startsWith(turn.text.slice(1, -1)), turn.text);
      }
    }
  });

  test("content blocks are kept verbatim, their text extracted", async () => {
    const content = [
      { type: "text", text: "Look at this" },
      { type: "image", source: { type: "base64", data: "AAAA" } },
      { type: "tool_use", id: "t1", name: "search", input: { q: 1.50 } },
      { type: "made_up", x: [1, { y: null }] },
    ];
    const body = isOk(await post(turn(content)), 201);
    assert.deepEqual(body.turn.content, content);
    assert.match(body.turn.text, /Look at this/);
    const page = isOk(await api.get(
      `/api/v1/chats/${body.chat.id}/turns?after_seq=${body.turn.seq - 1}`));
    assert.deepEqual(page.items[0].content, content);
  });

  test("text survives whatever script it is in", async () => {
    const text = "Füße 你好 🎉 \u200d e\u0301 \"quoted\" \\ \t \n end";
    const body = isOk(await post(turn(text)), 201);
    assert.equal(body.turn.text, text);
  });

  test("an external id makes a post idempotent", async () => {
    const first = isOk(await post(turn("once", { external_id: "e-1" })), 201);
    const before = await countTurns();
    const again = isOk(await post(turn("once", { external_id: "e-1" })), 200);
    assert.deepEqual(again.turn, first.turn);
    assert.equal(await countTurns(), before);
    isError(await post(turn("other", { external_id: "e-1" })), 409, "CONFLICT");
    isError(await post(turn("once", { external_id: "e-1", role: "system" })),
      409, "CONFLICT");
    assert.equal(await countTurns(), before);
  });

  test("an external id leads to no other user's turn where the user is named", async () => {
    const own = turn("whose is it", { external_id: "whose-1", user_id: "one" });
    const { id } = isOk(await post(own), 201).turn;
    const find = async (more) => {
      const { items, forgotten } = isOk(await api.get(`/api/v1/turns?external_id=whose-1${more}`));
      return [...items.map((item) => item.id), forgotten];
    };
    assert.deepEqual(await find(""), [id, false]);
    assert.deepEqual(await find("&user_id=one"), [id, false]);
    for (const other of ["two", "on", "one2", "ONE"]) {
      assert.deepEqual(await find(`&user_id=${other}`), [false], other);
    }
    /* what two had forgotten of that name stays so, though one has the name */
    isOk(await api.post("/api/v1/forget", { external_ids: ["whose-1"] }));
    const { id: next } = isOk(await post({ ...own, user_id: "two" }), 201).turn;
    assert.deepEqual(await find("&user_id=one"), [true]);
    assert.deepEqual(await find("&user_id=two"), [next, false]);
  });

  test("a batch is stored in order", async () => {
    const turns = Array.from({ length: 50 }, (_, i) => turn(`n ${i}`, {
      user_id: "batch", created_at: new Date(1.7e12 + i * 1000).toISOString(),
    }));
    const { items } = isOk(await post({ turns }), 201);
    assert.deepEqual(items.map((item) => item.turn.text),
      turns.map((t) => t.content));
    assert.deepEqual(items.map((item) => item.turn.seq),
      turns.map((_, i) => i + 1));
    assert.equal(new Set(items.map((item) => item.turn.chat_id)).size, 1);
  });

  test("a batch is all or nothing", async () => {
    const before = await countTurns();
    isError(await post({ turns: [turn("good"), turn("bad", { role: "king" })] }),
      400, "VALIDATION_ERROR", "turns[1].role");
    isError(await post({ turns: [turn("good"), turn("x", { bogus: 1 })] }),
      400, "VALIDATION_ERROR", "turns[1].bogus");
    isError(await post({
      turns: [turn("good"),
        turn("x", { chat_id: "01900000-0000-7000-8000-000000000000" })],
    }), 404, "NOT_FOUND");
    isError(await post({
      turns: [turn("good"), turn("clash", { external_id: "e-1" })],
    }), 409, "CONFLICT");
    assert.equal(await countTurns(), before);
  });

  test("a repeated batch stores nothing twice", async () => {
    const turns = [turn("a", { external_id: "b-1" }),
      turn("b", { external_id: "b-2" })];
    const first = isOk(await post({ turns }), 201);
    const before = await countTurns();
    const again = isOk(await post({ turns }), 200);
    assert.deepEqual(again.items.map((i) => i.turn), first.items.map((i) => i.turn));
    const mixed = isOk(await post({ turns: [...turns, turn("c")] }), 201);
    assert.equal(mixed.items.length, 3);
    assert.equal(await countTurns(), before + 1);
  });

  test("1,000 turns pass, 1,001 do not", async () => {
    const turns = Array.from({ length: 1001 }, (_, i) =>
      turn(`${i}`, { user_id: "many" }));
    isError(await post({ turns }), 400, "VALIDATION_ERROR", "turns");
    isOk(await post({ turns: turns.slice(1) }), 201);
  });

  test("bad turns are refused by the field's name", async () => {
    const before = await countTurns();
    const cases = [
      [{}, "user_id"],
      [turn("x", { user_id: undefined }), "user_id"],
      [turn("x", { user_id: null }), "user_id"],
      [turn("x", { user_id: 7 }), "user_id"],
      [turn("x", { user_id: "" }), "user_id"],
      [turn("x", { user_id: "a\u0000b" }), "user_id"],
      [turn("x", { user_id: "u".repeat(513) }), "user_id"],
      [turn("x", { role: undefined }), "role"],
      [turn("x", { role: "USER" }), "role"],
      [turn("x", { role: ["user"] }), "role"],
      [turn(undefined), "content"],
      [turn(null), "content"],
      [turn(5), "content"],
      [turn({ text: "x" }), "content"],
      [turn([1]), "content"],
      [turn([[]]), "content"],
      [turn("x", { name: 1 }), "name"],
      [turn("x", { channel: {} }), "channel"],
      [turn("x", { chat_id: "nonsense" }), "chat_id"],
      [turn("x", { chat_id: 1 }), "chat_id"],
      [turn("x", { created_at: "yesterday" }), "created_at"],
      [turn("x", { created_at: "2024-13-01T00:00:00Z" }), "created_at"],
      [turn("x", { created_at: "10000-01-01T00:00:00Z" }), "created_at"],
      [turn("x", { created_at: "0000-01-01T00:00:00Z" }), "created_at"],
      [turn("x", { created_at: 1700000000 }), "created_at"],
      [turn("x", { timezone: "Mars/Olympus" }), "timezone"],
      [turn("x", { timezone: "CET DST" }), "timezone"],
      [turn("x", { external_id: "e".repeat(513) }), "external_id"],
      [turn("x", { external_id: 1 }), "external_id"],
      [turn("x", { unknown: true }), "unknown"],
      [turn("x", { Content: "x" }), "Content"],
      [{ turns: [] }, "turns"],
      [{ turns: {} }, "turns"],
      [{ turns: [turn("x")], user_id: "u" }, "user_id"],
      [{ turns: [1] }, "turns[0]"],
      [{ turns: [{ turns: [] }] }, "turns[0].turns"],
    ];
    for (const [body, field] of cases) {
      isError(await post(body), 400, "VALIDATION_ERROR", field);
    }
    /* what there is is said */
    assert.match((await post(turn("x", { unknown: true }))).body.error.message,
      /^unknown field "unknown"; there are turns, unless_forgotten, begun_at, fork_of, at_seq, subtask, user_id, role, content, /);
    assert.match((await api.get("/api/v1/chats?user=u")).body.error.message,
      /^unknown query parameter "user"; there are user_id, q, /);
    assert.equal(await countTurns(), before);
  });

  test("what is not JSON is refused", async () => {
    for (const body of ["{", "", "[]", "null", "\"x\"", "{\"a\":1,}", "{'a':1}",
      "{\"user_id\":\"u\",\"user_id\":\"v\"}", "{} {}", "\ufeff{}",
      "[".repeat(100000)]) {
      const answer = await post(body);
      assert.ok(answer.status === 400 || answer.status === 413, body.slice(0, 20));
      isError(answer, answer.status);
    }
    isError(await api.post("/api/v1/turns",
      Buffer.from([...Buffer.from('{"user_id":"'), 0xff, ...Buffer.from('"}')])),
      400, "VALIDATION_ERROR");
    isError(await api.post("/api/v1/turns", JSON.stringify(turn("x")),
      { "content-type": "text/plain" }), 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("content up to 16 MB passes, a byte more does not", async () => {
    const before = await countTurns();
    const limit = 16 * 1024 * 1024;
    const over = await post(turn("x".repeat(limit + 1), { user_id: "big" }));
    isError(over, 413, "TOO_LARGE", "content");
    assert.equal(await countTurns(), before);
    const at = await post(turn("y".repeat(limit), { user_id: "big" }));
    assert.equal(isOk(at, 201).turn.text.length, limit);
  });

  test("chat_id puts a turn into that chat", async () => {
    const chat = isOk(await api.post("/api/v1/chats", { user_id: "u" }), 201);
    const { turn: stored } = isOk(
      await post(turn("inside", { chat_id: chat.id })), 201);
    assert.equal(stored.chat_id, chat.id);
    isError(await post(turn("x", {
      chat_id: "01900000-0000-7000-8000-000000000000",
    })), 404, "NOT_FOUND");
  });
});

onEachBackend("turns that are only kept", (open) => {
  test("capture.observe: false keeps and finds turns, and derives nothing", async () => {
    const server = await open({ env: { CLEW_CAPTURE_OBSERVE: "false" } });
    const api = server.api();
    const body = isOk(await api.post("/api/v1/turns", turn(
      "I live in Berlin and work at Siemens. Help me fix the 401 error")), 201);
    assert.deepEqual(body.updates,
                     { memories: [], chains: [], links: [], episodes: [] });
    assert.deepEqual(body.notices, []);
    assert.deepEqual(isOk(await api.get("/api/v1/memories")).items, []);
    assert.deepEqual(isOk(await api.get("/api/v1/chains")).items, []);
    const found = isOk(await api.post("/api/v1/recall",
                                      { query: "Siemens Berlin" }));
    assert.equal(found.items[0].id, body.turn.id);
    isOk(await api.get(`/api/v1/traces/${body.trace_id}`));
  });
});
