/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page-api.test.mjs - what the API has for the page: counts, people, events,
 * memories by hand, marks beside turns, keys and settings; on both stores.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk, uuid } from "./lib/check.mjs";
import { tempFolder } from "./lib/server.mjs";
import { PATIENCE_MS } from "./lib/wait.mjs";

const said = (content, more = {}) => ({ user_id: "ada", role: "user", content, ...more });

/* Read events until `enough` says so, at most for a while. */
async function listen(url, key, { lastId, after, enough, does }) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE_MS);
  const events = [];
  try {
    const answer = await fetch(`${url}/api/v1/events${after ? `?after=${after}` : ""}`, {
      signal: stop.signal,
      headers: { authorization: `Bearer ${key}`, ...(lastId ? { "last-event-id": lastId } : {}) },
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type"), /^text\/event-stream/);
    let text = "";
    let hasBegun = false;
    const decoder = new TextDecoder();
    for await (const part of answer.body) {
      if (!hasBegun) {
        hasBegun = true;
        await does?.();
      }
      text += decoder.decode(part, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const fields = Object.fromEntries(text.slice(0, end).split("\n").map((line) => {
          const at = line.indexOf(": ");
          return [line.slice(0, at), line.slice(at + 2)];
        }));
        text = text.slice(end + 2);
        if (fields.event) events.push({ mark: fields.id, kind: fields.event, ...JSON.parse(fields.data) });
      }
      if (enough(events)) break;
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
  return events;
}

onEachBackend("the page's API", (open) => {
  let server;
  let api;
  let key;
  let chat;

  before(async () => {
    server = await open({ env: { CLEW_PROXY_PRICES: "priced-1 3 10 0.1" } });
    key = await server.key("t");
    api = server.api(key);
    const { items } = isOk(await api.post("/api/v1/turns", {
      turns: [
        said("I am allergic to hazelnuts.", { created_at: "2026-03-02T08:00:00Z" }),
        said("Noted.", { role: "assistant", created_at: "2026-03-02T08:01:00Z" }),
        said("Please move the quarterly planning meeting from Thursday to Friday 14:00.", { created_at: "2026-03-02T08:05:00Z" }),
        said("Good night.", { created_at: "2026-03-02T23:30:00Z" }),
        said("We decided to ship on Friday.", { user_id: "ben", created_at: "2026-03-04T08:00:00Z" }),
      ],
    }), 201);
    chat = items[0].chat.id;
  });

  test("counts everything, by day, in the caller's time", async () => {
    const query = "since=2026-03-01T00:00:00Z&until=2026-03-05T00:00:00Z";
    const stats = isOk(await api.get(`/api/v1/stats?${query}`));
    assert.equal(stats.role, "admin");
    assert.equal(stats.key_id, key.split("_")[1]);
    assert.equal(stats.turns, 5);
    assert.deepEqual(stats.days.map((d) => [d.date, d.turns]),
      [["2026-03-01", 0], ["2026-03-02", 4], ["2026-03-03", 0], ["2026-03-04", 1], ["2026-03-05", 0]]);
    const east = isOk(await api.get(`/api/v1/stats?${query}&utc_offset_minutes=60`));
    assert.deepEqual(east.days.map((d) => d.turns), [0, 3, 1, 1, 0]);
    const ben = isOk(await api.get(`/api/v1/stats?${query}&user_id=ben`));
    assert.equal(ben.turns, 1);
    const held = Object.values(stats.memories.by_type).reduce((a, b) => a + b, 0);
    assert.ok(held >= 2, JSON.stringify(stats.memories));
    assert.equal(stats.memories.holding, held);
    isError(await api.get("/api/v1/stats?since=yesterday"), 400, undefined, "since");
    isError(await api.get("/api/v1/stats?utc_offset_minutes=9999"), 400, undefined, "utc_offset_minutes");
  });

  test("a long span is cut, not refused", async () => {
    const stats = isOk(await api.get("/api/v1/stats?since=1999-01-01T00:00:00Z"));
    assert.equal(stats.days.length, 366);
  });

  test("lists people by name, page by page", async () => {
    const first = isOk(await api.get("/api/v1/users?limit=1"));
    assert.deepEqual(first.items.map((u) => u.user_id), ["ada"]);
    const next = isOk(await api.get(`/api/v1/users?limit=1&cursor=${first.next_cursor}`));
    assert.deepEqual(next.items.map((u) => [u.user_id, u.turns]), [["ben", 1]]);
    assert.equal(next.next_cursor, null);
  });

  test("tells what has an id that begins so, of this tenant only", async () => {
    const find = async (part, query = "") =>
      isOk(await api.get(`/api/v1/ids/${part}${query}`)).items;
    const one = await find(chat, "?kind=chat");
    assert.deepEqual(one, [{ kind: "chat", id: chat }]);
    assert.deepEqual(await find(chat.replaceAll("-", "").slice(0, 14), "?kind=chat"), one);
    const all = await find(chat.slice(0, 13));
    assert.ok(all.some((item) => item.kind === "chat" && item.id === chat));
    for (const item of all) assert.ok(item.id.startsWith(chat.slice(0, 13)), item.id);
    const effort = isOk(await api.post("/api/v1/efforts", { user_id: "ada", goal: "oil the gate" }), 201).id;
    assert.deepEqual(await find(effort, "?kind=effort"), [{ kind: "effort", id: effort }]);
    assert.deepEqual(await find(effort), [{ kind: "memory", id: effort }]);
    assert.deepEqual(await find(chat, "?kind=effort"), []);
    assert.deepEqual(await find("ffffffff"), []);
    for (const odd of ["xyz", chat.slice(0, 3), `${chat}0`, "%27%20OR%201=1", "0000"]) {
      assert.deepEqual(await find(odd), [], odd);
    }
    isError(await api.get(`/api/v1/ids/${chat}?kind=song`), 400, undefined, "kind");
  });

  test("pages back through a chat, and through its forks", async () => {
    const fork = isOk(await api.post(`/api/v1/chats/${chat}/fork`, { at_seq: 2 }), 201);
    isOk(await api.post("/api/v1/turns", said("And walnuts.", { chat_id: fork.id })), 201);
    const back = isOk(await api.get(`/api/v1/chats/${fork.id}/turns?before_seq=4&limit=2`));
    assert.deepEqual(back.items.map((t) => t.seq), [2, 3]);
    assert.deepEqual(isOk(await api.get(`/api/v1/chats/${fork.id}/turns?before_seq=2`)).items.map((t) => t.seq), [1]);
    assert.deepEqual(isOk(await api.get(`/api/v1/chats/${fork.id}/turns?before_seq=999&limit=1`)).items.map((t) => t.seq), [3]);
    assert.deepEqual(isOk(await api.get(`/api/v1/chats/${fork.id}/turns?before_seq=1`)).items, []);
  });

  test("pages back over turns that were forgotten", async () => {
    const own = server.api(await server.key("gaps"));
    const { items } = isOk(await own.post("/api/v1/turns", { turns: Array.from({ length: 12 }, (_, i) =>
      said(`Shelf ${i} holds paint.`, { channel: "sms" })) }), 201);
    isOk(await own.post("/api/v1/forget", { turn_ids: items.slice(4, 10).map((x) => x.turn.id) }));
    const seqs = async (query) => isOk(await own.get(`/api/v1/chats/${items[0].chat.id}/turns?${query}`)).items.map((t) => t.seq);
    assert.deepEqual(await seqs("before_seq=12&limit=3"), [3, 4, 11]);
    assert.deepEqual(await seqs("before_seq=11&limit=2"), [3, 4]);
  });

  test("sorts and dates chats", async () => {
    const long = isOk(await api.get("/api/v1/chats?sort=turns&limit=1"));
    assert.equal(long.items[0].id, chat);
    const rest = isOk(await api.get(`/api/v1/chats?sort=turns&cursor=${long.next_cursor}`));
    assert.ok(rest.items.length >= 2);
    assert.ok(!rest.items.some((c) => c.id === chat));
    const old = isOk(await api.get("/api/v1/chats?since=2026-03-04T00:00:00Z&until=2026-03-05T00:00:00Z"));
    assert.deepEqual(old.items.map((c) => c.user_id), ["ben"]);
    isError(await api.get("/api/v1/chats?sort=colour"), 400, undefined, "sort");
  });

  test("marks stand beside the turns they are about", async () => {
    const marks = isOk(await api.get(`/api/v1/chats/${chat}/marks`));
    assert.ok(marks.memories.some((m) => /hazelnut/.test(m.summary) && m.first_seq === 1), JSON.stringify(marks));
    assert.ok(marks.efforts.some((e) => e.first_seq === 3 && e.status === "open"), JSON.stringify(marks));
    assert.ok(marks.forks.some((f) => f.seq === 2));
    const none = isOk(await api.get(`/api/v1/chats/${chat}/marks?after_seq=100`));
    assert.deepEqual([none.topics, none.memories, none.efforts], [[], [], []]);
    isError(await api.get("/api/v1/chats/01900000-0000-7000-8000-000000000000/marks"), 404);
  });

  test("a memory by hand can be found, pinned, tagged and corrected", async () => {
    const made = isOk(await api.post("/api/v1/memories", {
      user_id: "ada", type: "fact", summary: "The spare key hangs by the green door", tags: ["keys"],
    }), 201);
    assert.match(made.id, uuid);
    assert.equal(made.origin, "person");
    assert.deepEqual(made.source_ids, []);
    const found = isOk(await api.post("/api/v1/recall", { query: "where is the spare key", kinds: ["memory"] }));
    assert.ok(found.items.some((x) => x.id === made.id));

    const pinned = isOk(await api.patch(`/api/v1/memories/${made.id}`, { pinned: true, type: "place" }));
    assert.equal(pinned.pinned, true);
    assert.equal(pinned.type, "place");
    assert.deepEqual(isOk(await api.get("/api/v1/memories?pinned=true")).items.map((x) => x.id), [made.id]);

    const better = isOk(await api.patch(`/api/v1/memories/${made.id}`, { summary: "The spare key is with Ben" }), 201);
    assert.deepEqual(better.source_ids, [made.id]);
    assert.equal(better.thought_type, "refinement");
    assert.equal(better.pinned, true);
    assert.deepEqual(better.tags, ["keys"]);
    const old = isOk(await api.get(`/api/v1/memories/${made.id}`));
    assert.equal(old.superseded, true);
    assert.equal(old.refined_by, better.id);
    assert.equal(old.summary, "The spare key hangs by the green door");
    isOk(await api.post(`/api/v1/memories/${better.id}/retract`));
    assert.equal(isOk(await api.get(`/api/v1/memories/${made.id}`)).superseded, false);
    isError(await api.patch(`/api/v1/memories/${better.id}`, { summary: "again" }), 409);
  });

  test("what is pinned is in every context of its owner, once", async () => {
    const made = isOk(await api.post("/api/v1/memories", { user_id: "ben", summary: "Ben never takes the tram", pinned: true }), 201);
    const known = async (user) => {
      const { items } = isOk(await api.get(`/api/v1/chats?user_id=${user}`));
      return isOk(await api.post(`/api/v1/chats/${items[0].id}/context`, { budget_tokens: 2000 })).text;
    };
    assert.equal((await known("ben")).split("never takes the tram").length, 2);
    assert.ok(!(await known("ada")).includes("tram"));
    isOk(await api.patch(`/api/v1/memories/${made.id}`, { pinned: false }));
    assert.ok(!(await known("ben")).includes("tram"));
  });

  test("what cannot be kept is refused with its field", async () => {
    isError(await api.post("/api/v1/memories", { summary: "  " }), 400, undefined, "summary");
    isError(await api.post("/api/v1/memories", {}), 400, undefined, "summary");
    isError(await api.post("/api/v1/memories", { summary: "x", type: "Not A Type" }), 400, undefined, "type");
    isError(await api.post("/api/v1/memories", { summary: "x", type: "effort" }), 400, undefined, "type");
    isError(await api.post("/api/v1/memories", { summary: "x", tags: ["a,b"] }), 400, undefined, "tags");
    const { items } = isOk(await api.get("/api/v1/memories?type=effort"));
    isError(await api.patch(`/api/v1/memories/${items[0].id}`, { summary: "other" }), 400, undefined, "summary");
    isError(await api.patch(`/api/v1/memories/${items[0].id}`, { type: "fact" }), 400, undefined, "type");
    isError(await api.get("/api/v1/memories?pinned=maybe"), 400, undefined, "pinned");
  });

  test("filters memories by words, person and origin", async () => {
    const hits = isOk(await api.get("/api/v1/memories?q=HAZEL")).items;
    assert.ok(hits.length >= 1 && hits.every((x) => /hazel/i.test(x.summary)));
    assert.deepEqual(isOk(await api.get("/api/v1/memories?q=100%25_")).items, []);
    const hand = isOk(await api.get("/api/v1/memories?origin=person&retracted=true")).items;
    assert.ok(hand.length >= 2 && hand.every((x) => x.origin === "person"));
    assert.ok(hand.some((x) => x.retracted_at));
  });

  test("a rebuild makes the same of what was done by hand", async () => {
    const data = tempFolder();
    const other = await open({ data });
    const hand = other.api();
    isOk(await hand.post("/api/v1/turns", said("I am allergic to hazelnuts.")), 201);
    const [fact] = isOk(await hand.get("/api/v1/memories")).items;
    isOk(await hand.patch(`/api/v1/memories/${fact.id}`, { type: "health" }));
    const better = isOk(await hand.patch(`/api/v1/memories/${fact.id}`, { summary: "I am allergic to all nuts.", pinned: true }), 201);
    const made = isOk(await hand.post("/api/v1/memories", { summary: "The key hangs by the door", pinned: true }), 201);
    isOk(await hand.patch(`/api/v1/memories/${made.id}`, { pinned: false, type: "place", tags: ["keys"] }));
    isOk(await hand.post("/api/v1/memories", { summary: "Wrong" }), 201);
    isOk(await hand.post(`/api/v1/memories/${better.id}/retract`));
    await other.stop();
    const report = JSON.parse((await other.clew("rebuild", "--dry-run", "--json")).stdout);
    assert.equal(report.differences, 0, JSON.stringify(report));
  });

  test("recall pages and has a floor", async () => {
    const ask = { query: "meeting hazelnuts friday", limit: 1 };
    const first = isOk(await api.post("/api/v1/recall", ask));
    assert.equal(first.items.length, 1);
    const next = isOk(await api.post("/api/v1/recall", { ...ask, cursor: first.next_cursor }));
    assert.notEqual(next.items[0].id, first.items[0].id);
    assert.ok(next.items[0].score <= first.items[0].score);
    assert.deepEqual(isOk(await api.post("/api/v1/recall", { ...ask, min_score: 1 })).items, []);
    isError(await api.post("/api/v1/recall", { ...ask, cursor: "00" }), 400, undefined, "cursor");
    isError(await api.post("/api/v1/recall", { ...ask, min_score: 2 }), 400, undefined, "min_score");
  });

  test("captured calls are filtered, and read with their turns", async () => {
    const link = async (content, model, more) => isOk(await api.post("/api/v1/link", {
      user_id: "ada", model, messages: [{ role: "user", content }], ...more,
    }));
    const one = await link("Why do we get 401?", "sonnet", {
      response: { type: "message", role: "assistant", model: "sonnet", content: [{ type: "text", text: "The token expired." }],
        stop_reason: "end_turn", usage: { input_tokens: 12, output_tokens: 5 } } });
    await link("Plan the trip", "haiku");
    const models = isOk(await api.get("/api/v1/requests?model=sonnet")).items;
    assert.deepEqual(models.map((r) => r.request_id), [one.request_id]);
    assert.deepEqual(isOk(await api.get("/api/v1/requests?status=failed")).items, []);
    assert.deepEqual(isOk(await api.get("/api/v1/requests?until=2001-01-01T00:00:00Z")).items, []);
    assert.deepEqual(isOk(await api.get("/api/v1/requests?user_id=ben")).items, []);
    isError(await api.get("/api/v1/requests?status=odd"), 400, undefined, "status");
    const call = isOk(await api.get(`/api/v1/requests/${one.request_id}`));
    assert.deepEqual(call.turns.map((t) => [t.role, t.text]), [["user", "Why do we get 401?"], ["assistant", "The token expired."]]);
    /* no price is known of it: none is made up */
    assert.deepEqual([call.cache_read_tokens, call.cache_write_tokens, call.cost, call.cost_from], [null, null, null, null]);
  });

  test("a call says what it cost: as the provider says, or by the prices set", async () => {
    const ask = async (content, usage) => {
      const made = isOk(await api.post("/api/v1/link", { user_id: "ada", model: "priced-1-20260101", messages: [{ role: "user", content }],
        response: { type: "message", role: "assistant", model: "priced-1-20260101", content: [{ type: "text", text: "Yes." }], stop_reason: "end_turn", usage } }));
      const { input_tokens: i, cache_read_tokens: read, cache_write_tokens: write, cost, cost_from: from } = isOk(await api.get(`/api/v1/requests/${made.request_id}`));
      return [i, read, write, cost, from];
    };
    assert.deepEqual(await ask("Is it dear?", { input_tokens: 1000, output_tokens: 100 }), [1000, null, null, 0.004, "prices"]);
    assert.deepEqual(await ask("And with a cache?", { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 5000, cache_creation_input_tokens: 0 }), [1000, 5000, 0, 0.0045, "prices"]);
    assert.deepEqual(await ask("And written to it?", { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 10 }), [1000, 0, 10, null, null]);
    assert.deepEqual(await ask("What do they say?", { input_tokens: 1000, output_tokens: 100, cost: 0.25 }), [1000, null, null, 0.25, "reply"]);
  });

  test("a turn of which no text is left is still read as it was sent", async () => {
    const content = "<clew-context hash=\"0\">what clew itself had said</clew-context>";
    const made = isOk(await api.post("/api/v1/link", { user_id: "ada", messages: [{ role: "user", content }] }));
    const { items } = isOk(await api.get(`/api/v1/chats/${made.chat_id}/turns`));
    assert.equal(items[0].text, "");
    assert.equal(items[0].content, content);
    assert.equal(isOk(await api.get(`/api/v1/requests/${made.request_id}`)).turns[0].content, content);
  });

  test("episodes, links and sessions are listed by person and chat", async () => {
    const ben = isOk(await api.get("/api/v1/episodes?user_id=ben")).items;
    assert.ok(ben.length && ben.every((e) => e.user_id === "ben"));
    isOk(await api.get("/api/v1/links?user_id=ben"));
    const sessions = isOk(await api.get(`/api/v1/sessions?chat_id=${chat}`)).items;
    assert.ok(sessions.length >= 1 && sessions.every((x) => x.chat_id === chat && "summary" in x));
    isError(await api.get("/api/v1/sessions"), 400, undefined, "chat_id");
  });

  test("events tell what happens, and go on where one left", async () => {
    let turn;
    const heard = await listen(server.url, key, {
      does: async () => {
        ({ turn } = isOk(await api.post("/api/v1/turns", said("My sister lives in Porto.")), 201));
        await api.post("/api/v1/link", { user_id: "ada", model: "m", messages: [{ role: "user", content: "hear me" }] });
      },
      enough: (list) => list.some((e) => e.kind === "turn" && e.id === turn?.id) && list.some((e) => e.kind === "call"),
    });
    const first = heard.find((e) => e.id === turn.id) ?? heard.find((e) => e.kind === "turn");
    assert.ok(!JSON.stringify(heard).includes("Porto"), "events name things, they do not hold their text");
    assert.equal(first.chat_id, turn.chat_id);
    /* from the mark of the first one on, the later ones come again */
    const mark = heard.find((e) => e.kind === "turn");
    const again = await listen(server.url, key, { lastId: mark.mark, enough: (list) => list.some((e) => e.kind === "call") });
    assert.ok(again.some((e) => e.kind === "call"));
    const asked = await listen(server.url, key, { after: mark.mark, enough: (list) => list.some((e) => e.kind === "call") });
    assert.equal(asked.find((e) => e.kind === "call").id, again.find((e) => e.kind === "call").id);
    isError(await api.get("/api/v1/events?after=yesterday"), 400, undefined, "after");
  });

  test("events tell of every call of a moment, however many", async () => {
    const own = server.api(await server.key("moment"));
    isOk(await own.post("/api/v1/link", { user_id: "ada", model: "m", messages: [{ role: "user", content: "hear me" }] }));
    const rows = (await own.get("/api/v1/export")).text.trim().split("\n").map((line) => JSON.parse(line));
    const call = rows.find((row) => row.type === "request");
    const stored = Date.parse("2026-03-02T08:00:00Z");
    const calls = Array.from({ length: 280 }, (_, i) => ({ ...call, response_id: undefined,
      id: call.id.slice(0, 24) + String(i).padStart(12, "0"), stored_at: new Date(stored + (i < 190 ? i : 190)).toISOString() }));
    isOk(await own.post("/api/v1/import", { rows: calls }));
    const told = (list) => list.filter((e) => e.kind === "call");
    const heard = told(await listen(server.url, await server.key("moment"),
      { after: `0-${stored - 1}-0`, enough: (list) => told(list).length >= 281 }));
    assert.equal(new Set(heard.map((e) => e.id)).size, 281);
    /* who is cut off amid the moment hears all of it */
    const again = told(await listen(server.url, await server.key("moment"),
      { lastId: heard[230].mark, enough: (list) => told(list).length >= 91 }));
    assert.equal(new Set(again.map((e) => e.id)).size, 91);
  });

  test("a name of any length does not end the events", async () => {
    const key = await server.key("names");
    const own = server.api(key);
    const link = (content, response) => own.post("/api/v1/link",
      { user_id: "ada", messages: [{ role: "user", content }], response });
    isOk(await link("one", { id: "i".repeat(5000), model: "é".repeat(1 << 20), stop_reason: "s".repeat(5000), content: "yes" }));
    isOk(await link("two", { model: "m-2", content: "yes" }));
    const heard = await listen(server.url, key, { after: "0-0-0", enough: (list) => list.some((e) => e.what === "m-2") });
    assert.equal(heard.find((e) => e.what?.startsWith("é")).what, "é".repeat(256));
  });

  test("events stay within their tenant, and end with the key", async () => {
    const other = await server.key("elsewhere");
    const spy = await server.key("t", "read");
    const heard = await listen(server.url, other, {
      does: async () => {
        isOk(await api.post("/api/v1/turns", said("not for you")), 201);
        isOk(await server.api(other).post("/api/v1/turns", said("mine")), 201);
      },
      enough: (list) => list.some((e) => e.kind === "turn"),
    });
    assert.equal(heard.filter((e) => e.kind === "turn").length, 1);
    const cut = await listen(server.url, spy, {
      does: () => server.clew("keys", "revoke", spy.split("_")[1]),
      enough: () => false,
    });
    assert.deepEqual(cut.filter((e) => e.kind === "turn"), []);
  });

  test("an admin makes and revokes the tenant's own keys", async () => {
    const made = isOk(await api.post("/api/v1/keys", { role: "read", label: "for the wall" }), 201);
    assert.match(made.key, /^clew_[0-9a-f]{16}_[0-9a-f]{64}$/);
    isOk(await server.api(made.key).get("/api/v1/chats"));
    const { items } = isOk(await api.get("/api/v1/keys"));
    assert.ok(items.some((k) => k.id === made.id && k.label === "for the wall"));
    assert.ok(!JSON.stringify(items).includes(made.key.split("_")[2]));
    const stranger = server.api(await server.key("elsewhere"));
    assert.ok(!isOk(await stranger.get("/api/v1/keys")).items.some((k) => k.id === made.id));
    isError(await stranger.call("DELETE", `/api/v1/keys/${made.id}`), 404);
    isOk(await server.api(made.key).get("/api/v1/chats"));
    assert.ok(isOk(await api.call("DELETE", `/api/v1/keys/${made.id}`)).revoked_at);
    isError(await server.api(made.key).get("/api/v1/chats"), 401);
    isError(await api.call("DELETE", `/api/v1/keys/${made.id}`), 404);
    isError(await api.post("/api/v1/keys", { role: "owner" }), 400, undefined, "role");
    const writer = server.api(await server.key("t", "write"));
    for (const target of ["/api/v1/keys", "/api/v1/settings"]) isError(await writer.get(target), 403);
  });

  test("settings say where they came from, and no secret", async () => {
    const { settings } = isOk(await api.get("/api/v1/settings"));
    assert.equal(settings["server.listen"].from, "command line");
    assert.ok(Object.values(settings).every((x) => "value" in x && "from" in x));
    assert.ok(!/:[^*/@][^/@]*@/.test(JSON.stringify(settings["store.url"] ?? "")));
  });

  test("the index tells programs where things are", async () => {
    const index = isOk(await api.get("/"));
    assert.equal(index.openapi, "/openapi.json");
    const page = await fetch(`${server.url}/`, { headers: { accept: "text/html" } });
    assert.match(page.headers.get("content-type"), /^text\/html/);
    const policy = page.headers.get("content-security-policy");
    assert.match(policy, /^default-src 'self'/);
    assert.ok(!/unsafe|http|data:|\*/.test(policy), policy);
  });
});
