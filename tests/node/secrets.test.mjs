/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.test.mjs - what nobody should read is in the log and nowhere else.
 *
 * Secrets are put together here so that no scanner takes them for real.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isError, isOk } from "./lib/check.mjs";

const key = ["sk", "ant", "api03", "Zx9fakefakefakefake0123456789AA"].join("-");
const password = "Blue-Lagoon-77";
const secrets = [key, password];
const talk = [
  ["user", `I live in Hamburg and my wifi password is ${password}, remember it.`],
  ["assistant", "I will remember that your wifi password is " + password + "."],
  ["user", `Always use the key ${key} for the deploy of the shop.`],
  ["user", `The deploy fails with 401 although the key is ${key}, please help.`],
  ["assistant", `Try again with ${key}`],
  ["user", "That worked, thanks!"],
];

const holds = (text) => secrets.filter((secret) => text.includes(secret));

onEachBackend("secrets", (open, backend) => {
  async function tell(server, headers) {
    const api = server.api();
    const answers = [];
    for (const [role, content] of talk) {
      answers.push(await api.post("/api/v1/turns",
        { user_id: "ada", role, content }, headers));
    }
    return answers;
  }

  /* Everything the API says, in one text. */
  async function everything(api, chat) {
    const all = [];
    for (const target of ["/api/v1/chats?user_id=ada",
      `/api/v1/chats/${chat}`, `/api/v1/chats/${chat}/turns`,
      "/api/v1/memories?user_id=ada", "/api/v1/efforts?user_id=ada",
      "/api/v1/chains?user_id=ada", "/api/v1/episodes?user_id=ada",
      `/api/v1/turns?external_id=none`]) {
      all.push((await api.get(target)).text);
    }
    for (const query of [key, password, "wifi password", "deploy key"]) {
      all.push((await api.post("/api/v1/recall",
        { query, user_id: "ada", limit: 50 })).text.replace(/"trace":.*/s, ""));
      all.push((await api.post("/api/v1/context",
        { chat_id: chat, message: query, user_id: "ada" })).text);
    }
    return all.join("\n");
  }

  test("they never become anything", async () => {
    const server = await open();
    const api = server.api();
    const answers = await tell(server);
    for (const answer of answers) {
      isOk(answer, 201);
      assert.deepEqual(holds(answer.text), [], answer.text);
      const trace = await api.get(`/api/v1/traces/${answer.body.trace_id}`);
      assert.deepEqual(holds(trace.text), []);
    }
    const chat = answers[0].body.chat.id;
    isOk(await api.post(`/api/v1/chats/${chat}/close`, {}));
    assert.deepEqual(holds(await everything(api, chat)), []);
    assert.match((await api.get(`/api/v1/chats/${chat}/turns`)).text,
      /password is \*{14}, remember/);
    assert.deepEqual(holds(server.log()), []);
    assert.doesNotMatch(server.log(), /Hamburg|wifi|deploy|remember/); /* nor what was said */
    /* no recall by the secret itself */
    const { items } = isOk(await api.post("/api/v1/recall",
      { query: "Lagoon", user_id: "ada" }));
    assert.deepEqual(items.filter((item) => item.why?.text > 0), []);
    /* verify: what is derived follows from the log */
    assert.equal(JSON.parse((await server.clew("verify", "--json")).stdout).ok,
      true);
  });

  test("the log keeps them for whoever may ask", async () => {
    const server = await open();
    const admin = server.api(await server.key("default", "admin"));
    const writer = server.api(await server.key("default", "write"));
    const blocks = [{ type: "text", text: `use ${key}` },
      { type: "tool_use", id: "1", name: "login", input: { password } }];
    const { turn } = isOk(await writer.post("/api/v1/turns",
      { user_id: "ada", role: "user", content: talk[0][1], external_id: "a" }),
    201);
    isOk(await writer.post("/api/v1/turns", { user_id: "ada", role: "user",
      content: blocks, chat_id: turn.chat_id }), 201);
    const target = `/api/v1/chats/${turn.chat_id}/turns`;
    for (const api of [admin, writer]) {
      assert.deepEqual(holds((await api.get(target)).text), []);
    }
    isError(await writer.get(`${target}?secrets=show`), 403);
    isError(await admin.get(`${target}?secrets=no`), 400, undefined, "secrets");
    const shown = isOk(await admin.get(`${target}?secrets=show`));
    assert.equal(shown.items[0].text, talk[0][1]);
    assert.deepEqual(shown.items[1].content, blocks);
    assert.match((await server.clew("history", turn.chat_id, "--show-secrets"))
      .stdout, new RegExp(password));
    /* a text that JSON alone can hold is still well-formed */
    isOk(await writer.post("/api/v1/turns", { user_id: "ada", role: "user",
      content: `a\u0000b ${key}`, chat_id: turn.chat_id }), 201);
    assert.equal(isOk(await writer.get(target)).items.length, 3);
    assert.deepEqual(holds((await writer.get(target)).text), []);
    /* once only, whoever repeats it */
    const again = await writer.post("/api/v1/turns",
      { user_id: "ada", role: "user", content: talk[0][1], external_id: "a" });
    assert.equal(again.body.repeated, true);
    assert.deepEqual(holds(again.text), []);
  });

  /* Each holds "Zx9Lagoon" (or its halves) where no text rule alone finds it. */
  const odd = [
    [{ type: "text", text: "use sk-ant-api03-Zx9Lagoon" },
      { type: "text", text: "fakefakefake0123456789AA for it" }],
    [{ type: "text", text: "my password is" }, { type: "text", text: "Zx9Lagoon" }],
    [{ type: "text", text: "use sk-ant-api03-Zx9Lagoon\n" },
      { type: "text", text: "fakefakefake0123456789AA for it" }],
    [{ type: "text", text: "my password is" }, { type: "text", text: "LagoonLagoon" }],
    [{ type: "text", text: "Zx9Lagoon77 is my" }, { type: "text", text: "wifi password" }],
    [{ type: "tool_use", id: "1", name: "login",
      input: { user: "ada", password: "blue moon Zx9Lagoon" } }],
    [{ type: "tool_use", id: "1", name: "login",
      input: { passwords: ["first one", "the Zx9Lagoon"] } }],
    [{ type: "tool_use", id: "1", name: "set_env",
      input: { env: [{ value: "hush Zx9Lagoon", name: "DB_PASSWORD" }] } }],
    [{ type: "tool_use", id: "1", name: "run",
      input: { args: JSON.stringify({ login: { password: "a \"Zx9Lagoon\"" } }) } }],
    [{ type: "tool_use", id: "1", name: "map",
      input: { ["sk-ant-api03-Zx9Lagoon0123456789AA"]: "admin" } }],
    [{ type: "tool_result", tool_use_id: "1",
      content: [{ type: "text", text: "{\"password\": \"Zx9Lagoon\"}" }] }],
    [{ type: "tool_use", id: "1", name: "key", input: { lines: [
      "-----BEGIN PRIVATE KEY-----", "MIIEvgZx9LagoonQIBADANBgkqhkiG9w0BAQ",
      "-----END PRIVATE KEY-----"] } }],
    "PGPASSWORD=Zx9Lagoon psql -h db",
    "Password:\nZx9Lagoon",
    "I have changed my password to Zx9Lagoon, fine?",
    "passphrase: gentle river Zx9Lagoon morning",
    "log: {\\\"user\\\":\\\"a\\\",\\\"password\\\":\\\"Zx9Lagoon\\\"}",
  ];
  const leaks = (text) => [...text.matchAll(/.{0,60}Lagoon.{0,20}/gi)].map(String);

  /* What the log keeps beside what was sent. */
  async function derived(server) {
    return (await server.clew("export", "-")).stdout.split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.stringify({ ...JSON.parse(line), content: null }))
      .join("\n");
  }

  test("they are found in blocks, fields and odd spellings", async () => {
    const server = await open();
    const api = server.api(await server.key("default", "write"));
    const turns = odd.map((content, i) => ({ role: i % 2 ? "assistant" : "user",
      content }));
    turns.push({ role: "user", name: "ada password: Zx9Lagoon",
      channel: "web token=Zx9Lagoon1", content: "I live in Hamburg" });
    for (const turn of turns) {
      const answer = await api.post("/api/v1/turns", { user_id: "ada", ...turn });
      isOk(answer, 201);
      const chat = answer.body.chat.id;
      isOk(await api.post(`/api/v1/chats/${chat}/close`, {}));
      assert.deepEqual(leaks(await everything(api, chat)), []);
    }
    assert.deepEqual(leaks(await derived(server)), []);
    const { items } = isOk(await api.post("/api/v1/recall",
      { query: "Zx9Lagoon", user_id: "ada" }));
    assert.deepEqual(items.filter((item) => item.why?.text > 0), []);
    assert.equal(JSON.parse((await server.clew("verify", "--json")).stdout).ok,
      true);
  });

  test("numbers that a field calls a PIN are starred, others stay", async () => {
    const server = await open();
    const api = server.api(await server.key("default", "write"));
    const input = { pin: 48151623, code: 48151624, max_tokens: 48151625,
      commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
      password_policy: "min12chars", key: "user_2024" };
    const { turn } = isOk(await api.post("/api/v1/turns", { user_id: "ada",
      role: "assistant", content: [{ type: "tool_use", id: "1", name: "unlock",
        input }] }), 201);
    const shown = isOk(await api.get(`/api/v1/chats/${turn.chat_id}/turns`));
    assert.deepEqual(shown.items[0].content[0].input,
      { ...input, pin: "********" });
    const { items } = isOk(await api.post("/api/v1/recall",
      { query: "unlock 48151623", user_id: "ada" }));
    assert.doesNotMatch(JSON.stringify(items), /48151623/);
  });

  test("titles, goals and thoughts are read like talk", async () => {
    const server = await open();
    const api = server.api();
    const title = `key ${key}`;
    const chat = await api.post("/api/v1/chats", { user_id: "ada", title });
    isOk(chat, 201);
    const named = await api.post("/api/v1/chats",
      { user_id: "ada", channel: `web ${key}` });
    const memory = await api.post("/api/v1/memories", { user_id: "ada",
      type: "fact", summary: "the shop", tags: [key, `pw=${password}`] });
    const texts = [chat, named, memory,
      await api.patch(`/api/v1/chats/${chat.body.id}`, { title }),
      await api.post("/api/v1/efforts", { user_id: "ada", goal: title }),
      await api.post("/api/v1/memory", { prompt: `The shop's ${title}`,
        agent_id: "a", agent_name: title, context: title, type: "contribute" }),
    ].map((answer) => answer.text).join("\n");
    assert.deepEqual(holds(texts), []);
    assert.deepEqual(holds((await server.clew("export", "-")).stdout), []);
  });

  test("titles of an import are read like talk", async () => {
    const server = await open();
    const file = path.join(server.data, "..", "conversations.json");
    fs.writeFileSync(file, JSON.stringify([{ uuid: "c1", name: `key ${key}`,
      created_at: "2026-01-02T03:04:05Z", updated_at: "2026-01-02T03:04:05Z",
      chat_messages: [{ uuid: "m1", sender: "human", text: "I live in Hamburg",
        created_at: "2026-01-02T03:04:05Z" }] }]));
    await server.clew("import", file, "--user", "ada");
    const { stdout } = await server.clew("export", "-");
    assert.match(stdout, /Hamburg/);
    assert.deepEqual(holds(stdout), []);
  });

  test("drop keeps nothing, off keeps all", async () => {
    for (const mode of ["drop", "off"]) {
      const server = await open({ args: ["--set", `redact.mode=${mode}`] });
      const answers = await tell(server);
      isOk(answers[0], 201);
      const { stdout } = await server.clew("export", "-");
      assert.equal(holds(stdout).length, mode === "off" ? 2 : 0, mode);
    }
  });

  test("those stored before are listed and starred", async () => {
    const server = await open({ args: ["--set", "redact.mode=off"] });
    const answers = await tell(server);
    const chat = answers[0].body.chat.id;
    for (const content of odd) {
      isOk(await server.api().post("/api/v1/turns",
        { user_id: "eve", role: "user", content }), 201);
    }
    assert.equal(holds(await everything(server.api(), chat)).length, 2);
    const listed = await server.clew("secrets", "--json");
    assert.deepEqual(holds(listed.stdout), []);
    const report = JSON.parse(listed.stdout);
    assert.ok(report.found >= talk.length - 1, listed.stdout);
    assert.equal(report.masked, 0);
    assert.ok(report.items.some((item) => item.type === "turn"
      && item.kind === "api_key"));
    assert.deepEqual(holds((await server.clew("secrets")).stdout), []);
    const masked = JSON.parse(
      (await server.clew("secrets", "--mask", "--json")).stdout);
    assert.equal(masked.masked, report.found);
    const left = JSON.parse((await server.clew("secrets", "--json")).stdout);
    assert.equal(left.found, 0, JSON.stringify(left));
    assert.deepEqual(leaks(await derived(server)), []);
    assert.deepEqual(holds(await everything(server.api(), chat)), []);
    assert.equal(JSON.parse((await server.clew("verify", "--json")).stdout).ok,
      true);
    const shown = isOk(await server.api().get(
      `/api/v1/chats/${chat}/turns?secrets=show`));
    assert.equal(shown.items[0].text, talk[0][1]);
  });

  if (backend === "sqlite") {
    test("no file but the log holds them", async () => {
      const server = await open();
      await tell(server);
      const tables = execFileSync("sqlite3", ["-readonly",
        path.join(server.data, "clew.db"), ".dump"], { maxBuffer: 1 << 28 })
        .toString().split("\n").filter((line) => holds(line).length > 0);
      assert.ok(tables.length > 0);
      for (const line of tables) {
        assert.match(line, /^INSERT INTO turns/);
      }
      for (const name of fs.readdirSync(server.data,
        { recursive: true, withFileTypes: true })) {
        if (name.isFile() && !name.name.startsWith("clew.db")) {
          const bytes = fs.readFileSync(path.join(name.path, name.name));
          assert.deepEqual(secrets.filter((one) => bytes.includes(one)), [],
            name.name);
        }
      }
    });
  }
});
