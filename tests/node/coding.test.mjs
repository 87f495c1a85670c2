/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coding.test.mjs - coding agents' talk: several projects of one user, terse
 * remarks, tools' output, talks that are imported after later ones.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from
  "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";
import { tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

const folder = tempFolder();
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/* A session about a flaky test, with what the tools printed. */
const flaky = [
  "user: test_upload_resumes_after_disconnect is flaky. fails maybe 1 in 10 on CI, never here",
  "assistant: Let me see how it fails on CI.",
  "tool: upload\ttest\t2026-11-09T08:12:44Z thread 'upload::resume::test_upload_resumes_after_disconnect' panicked at src/upload/resume.rs:143:10:\nupload\ttest\t2026-11-09T08:12:44Z called `Result::unwrap()` on an `Err` value: Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }\nupload\ttest\t2026-11-09T08:12:44Z note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\nupload\ttest\t2026-11-09T08:12:44Z    0: rust_begin_unwind\nupload\ttest\t2026-11-09T08:12:44Z    1: core::panicking::panic_fmt\nupload\ttest\t2026-11-09T08:12:44Z    2: ferry::upload::resume::tests::fake_server::{{closure}}\nupload\ttest\t2026-11-09T08:12:44Z error: test failed, to rerun pass `--lib`",
  "assistant: It is AddrInUse: the fake server binds port 8099, and another test of the same run uses that port too. I'd add a retry around bind.",
  "user: nope, retrying hides it",
  "assistant: Fair. Then a mutex around the tests that use 8099, via serial_test.",
  "tool: The file has been updated.",
  "tool:      37      Summary [   2.114s] 6 tests run: 6 passed, 181 skipped\n      3      Summary [   2.207s] 6 tests run: 5 passed, 1 failed, 181 skipped",
  "user: same thing. nextest runs each test in its own process, serial does nothing there",
  "assistant: Right, you are right: nextest has a process per test, so a mutex inside one does not help. Then the server should bind port 0 and hand the port the kernel chose to the client.",
  "tool: The file has been updated.",
  "tool: 200",
  "assistant: 200 of 200 runs pass now. The fake server binds port 0 and passes the port it got to the client, so two tests can no longer collide on 8099.",
  "user: that did it, thanks. revert the serial_test thing and commit",
  "tool: c77d02e",
  "assistant: Removed serial_test again and committed c77d02e on flaky-resume.",
  "user: Dmitri will review it, he knows the resume code best",
  "assistant: Requested a review from Dmitri on PR #217.",
  "user: also the progress bar should go to stderr, scripts pipe stdout",
  "assistant: Progress now goes to stderr, so that stdout has only the receipts.",
];

onEachBackend("coding agents", (open) => {
  let server;
  let api;

  before(async () => {
    server = await open();
    api = server.api();
  });

  /* Turns "role: text" of one chat, minutes apart. */
  const talk = async (user_id, day, lines) => {
    const { id } = isOk(await api.post("/api/v1/chats", { user_id, channel: "app" }), 201);
    const turns = lines.map((line, i) => {
      const [, role, content] = /^(\w+): ([\s\S]*)$/.exec(line);
      return { user_id, chat_id: id, role, content,
        created_at: new Date(Date.UTC(2026, 9, day, 9, i)).toISOString() };
    });
    for (const turn of turns) isOk(await api.post("/api/v1/turns", turn), 201);
    await isRead(api);
    return id;
  };
  const efforts = async (user_id) => isOk(await api.get(
    `/api/v1/efforts?user_id=${user_id}&all=true`)).items;

  test("what is taken as good in one project ends nothing of another", async () => {
    const name = "two-projects";
    await talk(name, 5, ["user: can you help me move the exporter to staging? it crashes there",
      "assistant: Let me look at its logs on staging."]);
    await talk(name, 6, ["user: dates are shown a day early in New York",
      "assistant: 9 of 9 pass in all three zones now, dates are formatted without a zone.",
      "user: works, also on staging. ship it"]);
    const [exporter] = (await efforts(name)).filter((e) => /exporter/.test(e.summary));
    assert.equal(exporter.status, "open", exporter.resolution);
  });

  test("a talk that is imported later ends nothing that began after it", async () => {
    const name = "imported";
    await talk(name, 20, ["user: the nightly export fails with a timeout again, can you find out why?",
      "assistant: Let me look at the logs."]);
    await talk(name, 2, ["user: the nightly export is slow",
      "assistant: The nightly export is fixed: the timeout was too short, it is 60 s now.",
      "user: solved, thanks! the nightly export works again"]);
    const later = (await efforts(name)).filter((e) => /again, can you/.test(e.summary));
    assert.deepEqual(later.map((e) => e.status), ["open"]);
  });

  const call = (name, input) => ({ type: "tool_use", id: `t-${name}`, name, input });
  const result = (name, content) => ({ type: "tool_result", tool_use_id: `t-${name}`, content });

  test("a context tells what was said, and of tools only what answers", async () => {
    const name = "tools";
    const { id } = isOk(await api.post("/api/v1/chats", { user_id: name, channel: "app" }), 201);
    const turns = [
      ["user", "This session is being continued from a previous conversation that ran out of context. "
        + "The conversation is summarized below:\n1. The user wants the order table deduplicated.\n"
        + "Please continue the conversation from where we left it off."],
      ["user", "revenue of october is doubled, the order table has duplicates"],
      ["assistant", [{ type: "text", text: "Let me count the duplicates." },
        call("psql", { command: "select count(*) from orders where month = 'october'" })]],
      ["tool", [result("psql", "  month   | count\n october  | 412880\n november | 3\n(2 rows)")]],
      ["assistant", [call("read", { path: "models/orders.sql", month: "october" })]],
      ["tool", [result("read", "-- orders of october\nselect * from stg_orders\nERROR: key 88112047 is duplicated")]],
      ["assistant", "The october load of the order table ran twice and the model appends, so its rows are duplicated."],
    ];
    isOk(await api.post("/api/v1/turns", { turns: turns.map(([role, content], i) => ({
      user_id: name, chat_id: id, role, content,
      created_at: new Date(Date.UTC(2026, 9, 7, 9, i)).toISOString() })) }), 201);
    await isRead(api);
    const fresh = isOk(await api.post("/api/v1/chats", { user_id: name, channel: "app" }), 201);
    const ask = async (message) => isOk(await api.post(`/api/v1/chats/${fresh.id}/context`, { message }));
    const plain = await ask("why does the order table have duplicates for october?");
    assert.match(plain.text, /ran twice and the model appends/);
    assert.doesNotMatch(plain.text, /being continued|tool_use|412880|stg_orders/);
    assert.ok(plain.left_out.some((one) => one.reason === "not_said"));
    const named = await ask("what is \"key 88112047 is duplicated\"?");
    assert.match(named.text, /key 88112047 is duplicated/);
    const { items } = isOk(await api.post("/api/v1/recall", {
      user_id: name, query: "how many rows has october?", limit: 10 }));
    assert.ok(items.some((item) => /412880/.test(item.text)), "who asks finds what tools said");
  });

  test("who asks about an effort is told once, and how it ended", async () => {
    const name = "ended";
    await talk(name, 8, ["user: the upload test is flaky on CI, can you find out why?",
      "assistant: The fake server binds a fixed port, and another test has it.",
      "user: ok",
      "assistant: Done: the fake server of the upload test binds port 0 now, 200 of 200 runs pass.",
      "user: that did it, thanks"]);
    const query = "what became of the flaky upload test?";
    const ask = async (more) => isOk(await api.post("/api/v1/recall", { user_id: name, query, ...more }))
      .items.flatMap((item) => [item, ...item.also]).filter((one) => one.type === "effort");
    const [effort] = await ask({});
    assert.equal(effort.status, "resolved");
    assert.match(effort.resolution, /port 0/);
    for (const one of await ask({ at: "2026-10-08T09:01:30Z" })) assert.equal(one.resolution, null);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`),
      { requestInit: { headers: { "x-clew-user": name } } }));
    const answer = await client.callTool({ name: "recall", arguments: { query } });
    await client.close();
    const { text } = answer.content[0];
    assert.match(text, /\(resolved\) the upload test is flaky.* => .*port 0/);
    const ids = text.match(/\[memory [^\]]+\]/g);
    assert.equal(new Set(ids).size, ids.length, text);
  });

  test("an identifier that nobody used is not found by a part of it", async () => {
    const name = "identifiers";
    await talk(name, 9, ["user: the build says error E0433 in upload.rs",
      "assistant: The error is gone: the crate was missing in the manifest.",
      "user: and the linker error?", "assistant: That error was a stale object file."]);
    const ask = async (query) => isOk(await api.post("/api/v1/recall", { user_id: name, query })).answered;
    assert.equal(await ask("upload.rs"), "yes");
    assert.notEqual(await ask("PaymentDeclinedError"), "yes");
    assert.notEqual(await ask("kubelet eviction error"), "yes");
  });

  test("what a tool printed is not outdated by what is said of another matter", async () => {
    const name = "printed";
    await talk(name, 5, flaky);
    await talk(name, 18, ["user: ferry sync deletes files on the remote that were only renamed locally. data loss!",
      "assistant: detect_renames compares mtime and size only. I'd compare the blake3 hash, and order deletes last.",
      "user: do both",
      "assistant: All 38 sync tests pass. Renames are found by blake3 hash, and deletes run last, after all uploads have been confirmed.",
      "user: works on my machine with the photo folder too. put it in 0.9.1, and deletes need --delete from now on, never by default"]);
    const { items } = isOk(await api.post("/api/v1/recall", { user_id: name, query: "Address already in use" }));
    assert.match(items[0].text, /AddrInUse/);
  });

  test("a sub-agent's session is summed up by what it said", async () => {
    const line = (uuid, parentUuid, i, type, content, isSidechain) => JSON.stringify({ uuid, parentUuid, type, isSidechain,
      sessionId: "s9", timestamp: new Date(Date.UTC(2026, 9, 12, 9, i)).toISOString(), message: { role: type, content } });
    const name = path.join(folder, "session.jsonl");
    fs.writeFileSync(name, [
      line("m1", null, 0, "user", "who still reads the orders_v1 topic?", false),
      line("x1", null, 1, "user", "You are a search agent. Find every consumer of the topic orders_v1. Never edit files.", true),
      line("x2", "x1", 2, "assistant", "One consumer reads it: services/refunds/consumer.py.", true),
      line("m2", "m1", 3, "assistant", "Only the refunds service reads orders_v1.", false)].join("\n"));
    await server.clew("import", name, "--user", "sub");
    await isRead(api);
    const chats = isOk(await api.get("/api/v1/chats?user_id=sub")).items;
    const agent = chats.find((chat) => /^subtask/.test(chat.branch));
    const summary = await until("its session is summed up", async () => isOk(
      await api.get(`/api/v1/sessions?chat_id=${agent.id}`)).items[0].summary);
    assert.match(summary, /refunds/);
    assert.doesNotMatch(summary, /search agent|Never edit/);
  });
});
