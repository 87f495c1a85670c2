/* SPDX-License-Identifier: Apache-2.0 */
/* chats.test.mjs - make, list, read, rename, fork, draw and close chats. */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk, uuid } from "./lib/check.mjs";
import { until } from "./lib/wait.mjs";

const nowhere = "01900000-0000-7000-8000-000000000000";

onEachBackend("chats", (open) => {
  let api;
  before(async () => {
    api = (await open()).api();
  });
  const make = async (more = {}) => isOk(
    await api.post("/api/v1/chats", { user_id: "u", ...more }), 201);
  async function say(chat, ...texts) {
    for (const text of texts) {
      isOk(await api.post("/api/v1/turns",
        { user_id: "u", role: "user", content: text, chat_id: chat.id }), 201);
    }
  }
  const texts = async (chat, query = "") => isOk(
    await api.get(`/api/v1/chats/${chat.id}/turns${query}`))
    .items.map((turn) => turn.text);

  test("a chat is made, read and renamed", async () => {
    const chat = await make({ title: "First", channel: "web" });
    assert.match(chat.id, uuid);
    assert.equal(chat.conversation_id, chat.id);
    assert.equal(chat.title, "First");
    assert.deepEqual(isOk(await api.get(`/api/v1/chats/${chat.id}`)), chat);
    const renamed = isOk(await api.patch(`/api/v1/chats/${chat.id}`,
      { title: "Second" }));
    assert.equal(renamed.title, "Second");
    assert.equal(isOk(await api.get(`/api/v1/chats/${chat.id}`)).title, "Second");
  });

  test("lists come in pages that miss and repeat nothing", async () => {
    const made = [];
    for (let i = 0; i < 25; i++) {
      made.push((await make({ user_id: "pages", title: `page ${i}` })).id);
    }
    const seen = [];
    let cursor = "";
    do {
      const page = isOk(await api.get(
        `/api/v1/chats?user_id=pages&limit=7${cursor && `&cursor=${cursor}`}`));
      assert.ok(page.items.length <= 7);
      seen.push(...page.items.map((chat) => chat.id));
      cursor = page.next_cursor;
    } while (cursor);
    assert.equal(seen.length, 25);
    assert.deepEqual([...seen].sort(), [...made].sort());
  });

  test("q searches titles", async () => {
    const chat = await make({ user_id: "q", title: "Zebra crossing" });
    await make({ user_id: "q", title: "Something else" });
    const { items } = isOk(await api.get("/api/v1/chats?user_id=q&q=zebra"));
    assert.deepEqual(items.map((c) => c.id), [chat.id]);
  });

  test("turns are read in order, in pages and after a seq", async () => {
    const chat = await make();
    await say(chat, "a", "b", "c", "d", "e");
    assert.deepEqual(await texts(chat), ["a", "b", "c", "d", "e"]);
    assert.deepEqual(await texts(chat, "?after_seq=3"), ["d", "e"]);
    assert.deepEqual(await texts(chat, "?after_seq=99"), []);
    const first = isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=2`));
    assert.equal(first.items.length, 2);
    const second = isOk(await api.get(
      `/api/v1/chats/${chat.id}/turns?limit=2&cursor=${first.next_cursor}`));
    assert.deepEqual(second.items.map((t) => t.text), ["c", "d"]);
  });

  test("a fork shares what was said before it and nothing after", async () => {
    const root = await make({ title: "root" });
    await say(root, "one", "two", "three");
    const fork = isOk(await api.post(`/api/v1/chats/${root.id}/fork`,
      { at_seq: 2, title: "other way" }), 201);
    assert.equal(fork.parent_id, root.id);
    assert.equal(fork.conversation_id, root.id);
    assert.equal(fork.fork_seq, 2);
    await say(fork, "drei");
    await say(root, "four");
    assert.deepEqual(await texts(fork), ["one", "two", "drei"]);
    assert.deepEqual(await texts(root), ["one", "two", "three", "four"]);
    const deeper = isOk(await api.post(`/api/v1/chats/${fork.id}/fork`, {}), 201);
    await say(deeper, "vier");
    assert.deepEqual(await texts(deeper), ["one", "two", "drei", "vier"]);
    assert.deepEqual(await texts(deeper, "?after_seq=1&limit=2"),
      ["two", "drei"]);
    for (const id of [root.id, fork.id, deeper.id]) {
      const tree = isOk(await api.get(`/api/v1/chats/${id}/tree`));
      assert.equal(tree.conversation_id, root.id);
      assert.deepEqual(tree.items.map((c) => c.id).sort(),
        [root.id, fork.id, deeper.id].sort());
      const at = new Map(tree.items.map((c, i) => [c.id, i]));
      for (const chat of tree.items) {
        if (chat.parent_id) assert.ok(at.get(chat.parent_id) < at.get(chat.id));
      }
    }
  });

  test("a fork can leave at any turn, also an ancestor's", async () => {
    const root = await make();
    await say(root, "1", "2");
    const fork = isOk(await api.post(`/api/v1/chats/${root.id}/fork`), 201);
    await say(fork, "3");
    const early = isOk(await api.post(`/api/v1/chats/${fork.id}/fork`,
      { at_seq: 1 }), 201);
    assert.deepEqual(await texts(early), ["1"]);
    const empty = isOk(await api.post(`/api/v1/chats/${root.id}/fork`,
      { at_seq: 0 }), 201);
    assert.deepEqual(await texts(empty), []);
    isError(await api.post(`/api/v1/chats/${root.id}/fork`, { at_seq: 3 }),
      400, "VALIDATION_ERROR", "at_seq");
    isError(await api.post(`/api/v1/chats/${root.id}/fork`, { at_seq: -1 }),
      400, "VALIDATION_ERROR", "at_seq");
  });

  test("a chat is closed once", async () => {
    const chat = await make();
    const closed = isOk(await api.post(`/api/v1/chats/${chat.id}/close`));
    assert.notEqual(closed.closed_at, null);
    const again = isOk(await api.post(`/api/v1/chats/${chat.id}/close`));
    assert.equal(again.closed_at, closed.closed_at);
  });

  test("a session is ended once", async () => {
    const { turn } = isOk(await api.post("/api/v1/turns",
      { user_id: "s", role: "user", content: "x" }), 201);
    const ended = isOk(await api.post(`/api/v1/sessions/${turn.session_id}/end`));
    assert.equal(ended.id, turn.session_id);
    assert.notEqual(ended.ended_at, null);
    const again = isOk(await api.post(`/api/v1/sessions/${turn.session_id}/end`));
    assert.equal(again.ended_at, ended.ended_at);
  });

  test("unknown and malformed ids answer 404 alike", async () => {
    for (const id of [nowhere, "nonsense", "%20", "a%2Fb"]) {
      for (const [method, tail] of [["GET", ""], ["PATCH", ""],
        ["GET", "/turns"], ["POST", "/fork"], ["GET", "/tree"],
        ["POST", "/close"]]) {
        isError(await api.call(method, `/api/v1/chats/${id}${tail}`,
          method === "GET" ? undefined : {}), 404, "NOT_FOUND");
      }
      isError(await api.post(`/api/v1/sessions/${id}/end`), 404, "NOT_FOUND");
    }
  });

  test("bad queries are refused by the parameter's name", async () => {
    const chat = await make();
    for (const [target, field] of [
      ["/api/v1/chats?limit=0", "limit"],
      ["/api/v1/chats?limit=-1", "limit"],
      ["/api/v1/chats?limit=501", "limit"],
      ["/api/v1/chats?limit=ten", "limit"],
      ["/api/v1/chats?limit=1e2", "limit"],
      ["/api/v1/chats?limit=99999999999999999999", "limit"],
      ["/api/v1/chats?limit=1&limit=2", "limit"],
      ["/api/v1/chats?bogus=1", "bogus"],
      ["/api/v1/chats?cursor=x", "cursor"],
      ["/api/v1/chats?cursor=" + "0".repeat(64), "cursor"],
      ["/api/v1/chats?q=%ff", "q"],
      ["/api/v1/chats?q=%zz", "q"],
      ["/api/v1/chats?user_id=%00", "user_id"],
      [`/api/v1/chats/${chat.id}?limit=1`, "limit"],
      [`/api/v1/chats/${chat.id}/turns?after_seq=-1`, "after_seq"],
      [`/api/v1/chats/${chat.id}/turns?after_seq=x`, "after_seq"],
    ]) {
      isError(await api.get(target), 400, "VALIDATION_ERROR", field);
    }
  });

  test("bad bodies are refused by the field's name", async () => {
    const chat = await make();
    for (const [method, target, body, field] of [
      ["POST", "/api/v1/chats", {}, "user_id"],
      ["POST", "/api/v1/chats", { user_id: "" }, "user_id"],
      ["POST", "/api/v1/chats", { user_id: "u", title: 1 }, "title"],
      ["POST", "/api/v1/chats", { user_id: "u", title: "t".repeat(1025) }, "title"],
      ["POST", "/api/v1/chats", { user_id: "u", tenant: "x" }, "tenant"],
      ["POST", "/api/v1/chats", { user_id: "u", inactivity_minutes: 0 },
        "inactivity_minutes"],
      ["PATCH", `/api/v1/chats/${chat.id}`, { user_id: "v" }, "user_id"],
      ["PATCH", `/api/v1/chats/${chat.id}`, { title: [] }, "title"],
      ["POST", `/api/v1/chats/${chat.id}/fork`, { at: 1 }, "at"],
      ["POST", `/api/v1/chats/${chat.id}/fork`, { at_seq: 1.5 }, "at_seq"],
      ["POST", `/api/v1/chats/${chat.id}/close`, { now: true }, "now"],
    ]) {
      isError(await api.call(method, target, body), 400, "VALIDATION_ERROR", field);
    }
  });

  test("of many rows of one moment a page misses and repeats none", async () => {
    const turns = [...Array(17).keys()].map((i) => ({ user_id: `twin${i}`, role: "user", created_at: "2026-03-01T09:00:00Z",
      content: `My boiler number ${i} is broken and has to be repaired.` }));
    isOk(await api.post("/api/v1/turns", { turns }), 201);
    const ofThen = ({ created_at: at, started_at: from }) => (at ?? from).startsWith("2026-03-01T09:00:00");
    for (const list of ["chats", "chains", "tasks"]) {
      const pageBy = async (limit) => {
        const seen = [];
        for (let cursor = ""; cursor !== undefined;) {
          const page = isOk(await api.get(`/api/v1/${list}?limit=${limit}${cursor && `&cursor=${cursor}`}`));
          seen.push(...page.items);
          cursor = page.next_cursor ?? undefined;
        }
        return list === "tasks" ? seen : seen.filter(ofThen);
      };
      await until(`${list} are listed alike`, async () => {
        const [one, other] = [await pageBy(100), await pageBy(3)].map((items) => items.map(({ id }) => id));
        return one.length >= 17 && new Set(other).size === other.length && one.join() === other.join();
      });
    }
  });

  test("a cursor fits only the list that gave it, unchanged", async () => {
    const chat = await make({ user_id: "c" });
    await make({ user_id: "c" });
    await say(chat, "1", "2");
    const { next_cursor: cursor } = isOk(
      await api.get("/api/v1/chats?user_id=c&limit=1"));
    assert.ok(cursor);
    const last = cursor.at(-1) === "0" ? "1" : "0";
    for (const bad of [cursor.slice(0, -1) + last, cursor.slice(2),
      cursor + "00", cursor.slice(0, -2)]) {
      isError(await api.get(`/api/v1/chats?user_id=c&limit=1&cursor=${bad}`),
        400, "VALIDATION_ERROR", "cursor");
    }
    isError(await api.get(`/api/v1/chats/${chat.id}/turns?cursor=${cursor}`),
      400, "VALIDATION_ERROR", "cursor");
  });
});
