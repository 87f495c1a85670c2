/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks.test.mjs - "Forks part": what a fork has at its point, and what each side
 * does with it from then on. The words are ones the reader is sure of
 * (probes.test.mjs looks at how well turns are understood).
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";
import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";

/* Say "u:…" and "a:…" lines in one chat; its id. */
async function talk(server, lines, chat) {
  for (const line of lines) {
    const said = isOk(await server.post("/api/v1/turns", {
      user_id: "mira",
      role: line[0] === "u" ? "user" : "assistant",
      content: line.slice(2),
      ...(chat ? { chat_id: chat } : { channel: "web" }),
    }), 201);
    chat = said.turn.chat_id;
  }
  return chat;
}

const fork = async (server, chat, at) => isOk(await server.post(
  `/api/v1/chats/${chat}/fork`, at ? { at_seq: at } : {}), 201).id;
const efforts = async (server, chat) => isOk(await server.get(
  `/api/v1/efforts?chat_id=${chat}&all=1`)).items.filter((one) => !one.parent_id);
const about = async (server, chat, what) =>
  (await efforts(server, chat)).find((one) => what.test(one.summary));
const context = async (server, chat, message) => isOk(await server.post(
  `/api/v1/chats/${chat}/context`, message ? { message } : {})).text;
const chains = async (server, chat) => isOk(await server.get(
  `/api/v1/chains?chat_id=${chat}`)).items;

/* Everything derived is as the log gives it, before and after a rebuild. */
async function isSound(server) {
  await server.stop();
  const where = ["--data", server.data,
    ...server.store ? ["--store", server.store] : []];
  const run = async (...words) => (await promisify(execFile)(
    bin, [...words, ...where], { env: cleanEnv(server.data) })).stdout;
  assert.match(await run("verify"), /: sound/);
  assert.match(await run("rebuild"), /: 0 differences/);
  assert.match(await run("verify"), /: sound/);
}

const trouble = [
  "u:The dishwasher in the canteen shows error E24",
  "a:Check whether the drain hose has a kink.",
  "u:How do I get to the hose?",
  "a:Take the kickboard off; it is held by two screws.",
];
const byHose = "u:The drain hose had a kink, works now!";
const byPump = "u:A cherry stone was stuck in the pump, works now!";

onEachBackend("forks part", (open) => {
  test("two forks of one debugging talk end it each in its own way", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, trouble);
    const left = await fork(api, root);
    const right = await fork(api, root);
    assert.equal((await about(api, left, /E24/)).id,
      (await about(api, root, /E24/)).id);
    await talk(api, [byHose, "a:Good."], left);
    await talk(api, ["u:The hose is straight", "a:Then look into the pump.",
      byPump, "a:Well done."], right);

    const [here, there] = [await about(api, left, /E24/), await about(api, right, /E24/)];
    assert.deepEqual([here.status, there.status], ["resolved", "resolved"]);
    assert.notEqual(here.id, there.id);
    assert.match(here.resolution, /kink/);
    assert.match(there.resolution, /cherry stone/);
    const first = await about(api, root, /E24/);
    assert.equal(first.status, "open");
    assert.deepEqual([here.twin_of, there.twin_of], [first.id, first.id]);

    /* each context tells its own story, also where it is asked for the other's */
    const ask = "What was wrong with the dishwasher, E24?";
    assert.match(await context(api, left, ask), /effort:resolved\] .*E24.* => .*kink/);
    assert.doesNotMatch(await context(api, left, ask), /cherry|pump/);
    assert.match(await context(api, right, ask), /effort:resolved\] .*E24.* => .*cherry stone/);
    assert.doesNotMatch(await context(api, right, ask), /had a kink/);
    assert.match(await context(api, root, ask), /effort:open\] .*E24/);
    assert.doesNotMatch(await context(api, root, ask), /cherry|had a kink/);

    /* who asks from nowhere is told of both, each with its chat */
    const found = isOk(await api.post("/api/v1/recall",
      { user_id: "mira", query: "how was the dishwasher error E24 solved?" })).items;
    const chatOf = (what) => found.find((one) => what.test(one.text))?.chat_id;
    assert.equal(chatOf(/cherry stone/), right);
    assert.equal(chatOf(/had a kink/), left);
    const inside = isOk(await api.post("/api/v1/recall", { user_id: "mira",
      query: "how was the dishwasher error E24 solved?", chat_id: left })).items;
    assert.ok(inside.some((one) => /had a kink/.test(one.text)));
    assert.ok(!inside.some((one) => /cherry/.test(one.text)));
    const { text } = isOk(await api.post("/api/v1/start",
      { user_id: "mira", intent: "dishwasher error E24" }));
    assert.match(text, /effort:resolved\] .*E24.* => .*cherry stone/);
    assert.match(text, /effort:resolved\] .*E24.* => .*kink/);
    assert.match(text, /effort:open\] .*E24/);
    await isSound(server);
  });

  test("what the original ended later is open in the fork", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, [...trouble, byHose, "a:Good."]);
    const before = await fork(api, root, 3);
    const after = await fork(api, root);
    assert.equal((await about(api, root, /E24/)).status, "resolved");
    const open1 = await about(api, before, /E24/);
    assert.deepEqual([open1.status, open1.resolution], ["open", null]);
    assert.match(await context(api, before), /effort:open\] .*E24/);
    assert.doesNotMatch(await context(api, before), /kink, works/);
    const then = await about(api, after, /E24/);
    assert.equal(then.status, "resolved");
    assert.match(then.resolution, /kink/);
    /* reopened on one side, it stays ended on the others */
    await talk(api, ["u:back to the dishwasher error E24"], after);
    assert.equal((await about(api, after, /E24/)).status, "open");
    assert.equal((await about(api, root, /E24/)).status, "resolved");
    assert.equal((await about(api, before, /E24/)).status, "open");
    await isSound(server);
  });

  test("a fork is made for a batch, if anything of it is new", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, ["u:The tent leaks.", "a:Where?", "u:At the seam."]);
    const say = (id, content) => ({ user_id: "mira", role: "user", content, external_id: id });
    const post = (more, turns) => api.post("/api/v1/turns", { turns, fork_of: root, ...more });
    const tree = async () => isOk(await api.get(`/api/v1/chats/${root}/tree`)).items;
    const [first, second] = isOk(await post({ at_seq: 2 }, [say("x1", "In the floor."), say("x2", "It is wet.")]), 201).items;
    assert.deepEqual([first.turn.seq, second.turn.seq, first.turn.chat_id], [3, 4, second.turn.chat_id]);
    assert.deepEqual([first.chat.parent_id, first.chat.fork_seq], [root, 2]);
    /* all of it is known; some of it is, and it is no matter that that is elsewhere */
    assert.equal(isOk(await post({ at_seq: 2 }, [say("x1", "In the floor.")])).items[0].turn.chat_id, first.turn.chat_id);
    assert.equal((await tree()).length, 2);
    const [, more] = isOk(await post({}, [say("x1", "In the floor."), say("x3", "Or not.")]), 201).items;
    assert.deepEqual([more.chat.parent_id, more.chat.fork_seq, more.turn.seq], [root, 3, 4]);
    const [agent] = isOk(await post({ subtask: "sewer" }, [say("x4", "Sew the seam.")]), 201).items;
    assert.deepEqual([agent.chat.branch, agent.chat.fork_seq, agent.turn.seq], ["subtask_sewer", 0, 1]);
    /* nothing is made for what is refused */
    isError(await post({ at_seq: 9 }, [say("x5", "No")]), 400, "VALIDATION_ERROR");
    isError(await post({ at_seq: 1, subtask: "b" }, [say("x5", "No")]), 400, "VALIDATION_ERROR");
    isError(await post({}, [{ ...say("x5", "No"), chat_id: root }]), 400, "VALIDATION_ERROR");
    isError(await post({ fork_of: undefined, at_seq: 1 }, [say("x5", "No")]), 400, "VALIDATION_ERROR");
    isError(await post({ fork_of: first.turn.id }, [say("x5", "No")]), 404, "NOT_FOUND");
    isError(await post({}, [say("x1", "In the roof.")]), 409, "CONFLICT");
    assert.equal((await tree()).length, 4);
    await isSound(server);
  });

  test("a fork of a fork has what its own line had", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, trouble);
    const one = await fork(api, root);
    await talk(api, ["u:The hose is straight", "a:Then look into the pump."], one);
    const two = await fork(api, one);
    await talk(api, [byPump, "a:Well done."], one);
    const late = await fork(api, one);
    const three = await fork(api, two);
    await talk(api, ["u:What else could it be?", "a:Then renew the inlet valve.",
      "u:A new inlet valve it was, works now!"], three);
    await talk(api, [byHose], root);
    const ends = {};
    for (const [name, chat] of Object.entries({ root, one, two, late, three })) {
      const { status, resolution } = await about(api, chat, /E24/);
      ends[name] = [status, /kink|cherry|inlet/.exec(resolution ?? "")?.[0]];
    }
    assert.deepEqual(ends, {
      root: ["resolved", "kink"], one: ["resolved", "cherry"],
      two: ["open", undefined], late: ["resolved", "cherry"],
      three: ["resolved", "inlet"],
    });
    assert.doesNotMatch(await context(api, three, "dishwasher E24?"), /cherry|had a kink/);
    await isSound(server);
  });

  test("what replaces a fact on one side replaces nothing on the other", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, ["u:My dentist is Doctor Halvorsen", "a:Noted.",
      "u:I live in Trondheim", "a:Nice."]);
    const moved = await fork(api, root);
    await talk(api, ["u:I live in Bergen now", "a:Noted."], moved);
    await talk(api, ["u:The tram is late today", "a:Oh."], root);
    assert.match(await context(api, moved), /\[fact\] .*Bergen/);
    assert.doesNotMatch(await context(api, moved), /\[fact\] I live in Trondheim/);
    assert.match(await context(api, root), /\[fact\] .*Trondheim/);
    assert.doesNotMatch(await context(api, root, "Where do I live?"), /Bergen/);
    /* and a third way */
    await talk(api, ["u:I live in Stavanger now", "a:Noted."], root);
    assert.match(await context(api, root), /\[fact\] .*Stavanger/);
    assert.doesNotMatch(await context(api, root), /Bergen|\[fact\] I live in Trondheim/);
    assert.match(await context(api, moved), /\[fact\] .*Bergen/);
    assert.doesNotMatch(await context(api, moved), /Stavanger/);
    await isSound(server);
  });

  test("chains part as well, and are read through", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, trouble);
    const side = await fork(api, root, 2);
    const [original] = await chains(api, root);
    const [seen] = await chains(api, side);
    assert.equal(seen.id, original.id);
    assert.ok(seen.claim_count < original.claim_count);
    await talk(api, ["u:The drain hose of the dishwasher has no kink",
      "a:Then look into the pump of the dishwasher."], side);
    const twin = (await chains(api, side)).find((one) => one.twin_of === original.id);
    assert.ok(twin);
    assert.equal((await chains(api, root))[0].claim_count, original.claim_count);
    const detail = isOk(await api.get(`/api/v1/chains/${twin.id}`));
    assert.equal(detail.claims.length, detail.claim_count);
    assert.ok(detail.claims.some((one) => one.chat_id === root));
    assert.ok(detail.claims.every((one) => one.chat_id === side || one.seq <= 2));
    isOk(await api.post(`/api/v1/chains/${twin.id}/conclude`, {}));
    assert.equal((await chains(api, root))[0].state, "active");
    await isSound(server);
  });

  test("a fork is titled as its chat was at the fork point", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, ["u:My cousin Ben plays the cello in Vienna", "a:Nice.",
      "u:I need to repair the leaking roof of the barn", "a:ok"]);
    const title = async (chat) => isOk(await api.get(`/api/v1/chats/${chat}`)).title;
    assert.match(await title(root), /barn/);
    assert.match(await title(await fork(api, root)), /barn/);
    assert.match(await title(await fork(api, root, 2)), /cello/);
    await isSound(server);
  });

  test("by hand an effort ends in the chat that is named", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, trouble);
    const side = await fork(api, root);
    const { id } = await about(api, side, /E24/);
    const done = isOk(await api.post(`/api/v1/memories/${id}/resolve`,
      { resolution: "bought another one", chat_id: side }));
    assert.notEqual(done.id, id);
    assert.equal((await about(api, side, /E24/)).status, "resolved");
    assert.equal((await about(api, root, /E24/)).status, "open");
    isOk(await api.post(`/api/v1/memories/${id}/abandon`, {}));
    assert.equal((await about(api, root, /E24/)).status, "abandoned");
    isOk(await api.post(`/api/v1/memories/${id}/reopen`, { chat_id: side }));
    assert.equal((await about(api, side, /E24/)).status, "open");
    assert.equal((await about(api, root, /E24/)).status, "abandoned");
    isError(await api.post(`/api/v1/memories/${id}/resolve`,
      { chat_id: "0199c1d2-7a00-7000-8000-000000000001" }), 400, "VALIDATION_ERROR");
    await isSound(server);
  });

  test("what was copied from a forgotten turn is forgotten with it", async () => {
    const server = await open({ data: tempFolder() });
    const api = server.api();
    const root = await talk(api, trouble);
    const side = await fork(api, root);
    await talk(api, [byPump], side);
    const [turn] = isOk(await api.get(`/api/v1/chats/${root}/turns`)).items;
    isOk(await api.post("/api/v1/forget", { turn_ids: [turn.id] }));
    assert.equal(await about(api, side, /E24/), undefined);
    assert.doesNotMatch(await context(api, side, "dishwasher?"), /E24/);
  });
});
