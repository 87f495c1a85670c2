/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbatim.test.mjs - numbers in content keep their digits, by every way in and
 * out. JSON.parse() would not show it, so answers are read as text.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const numbers = ["1.10", "-0.0", "0.0", "-0", "1e5", "1E+05", "2.50e-3", "100.0",
  "666666666666600.00000891234567890123456789", "88888888888888888.888",
  "9007199254740993", "9223372036854775807", "12345678901234567890", "0.1", "5"];
const input = `{"list":[${numbers.join(",")}],"deep":{"a":[{"n":1.10}],"t":"1.10 1.1"}}`;
/* An export has content as a string that holds JSON. */
const inside = JSON.stringify(input).slice(1, -1);
const blocks = `[{"type":"text","text":"the price is 1.10"},`
  + `{"type":"tool_use","id":"t1","name":"pay","input":${input}}]`;

onEachBackend("digits", (open) => {
  let server;
  let upstream;
  before(async () => {
    upstream = await startUpstream();
    server = await open({ args: ["--upstream", `anthropic=${upstream.url}`] });
  });
  after(() => upstream.stop());

  const turnsOf = async (chat) =>
    (await server.api().get(`/api/v1/chats/${chat}/turns`)).text;

  test("of a turn come back as they were sent", async () => {
    const api = server.api();
    const made = await api.post("/api/v1/turns",
      `{"user_id":"u","role":"assistant", "content": ${blocks.replaceAll(",", " ,\n ")}}`);
    isOk(made, 201);
    assert.ok(made.text.includes(input), made.text);
    assert.ok((await turnsOf(made.body.chat.id)).includes(input));
    const batch = await api.post("/api/v1/turns",
      `{"turns":[{"user_id":"b","role":"assistant","content":${blocks}}]}`);
    assert.ok(isOk(batch, 201) && batch.text.includes(input));
    assert.ok((await api.get("/api/v1/export")).text.includes(inside));
  });

  test("survive an export, an import and a rebuild", async (t) => {
    const folder = tempFolder();
    const file = path.join(folder, "all.jsonl");
    await server.clew("export", file);
    const other = await startServer();
    t.after(() => other.stop());
    await other.clew("import", file);
    const text = (await other.api().get("/api/v1/export")).text;
    assert.ok(text.includes(inside));
    await other.clew("rebuild");
    assert.ok((await other.api().get("/api/v1/export")).text.includes(inside));
    await other.clew("verify");
  });

  test("of a linked call are kept, and 1.0 and 1 are one message", async () => {
    const call = (messages) => server.api().post("/api/v1/link",
      `{"user_id":"l","messages":${messages},"response":{"role":"assistant","content":"ok"}}`);
    const first = `{"role":"user","content":"pay"},{"role":"assistant","content":${blocks}},`;
    const a = isOk(await call(`[${first}{"role":"user","content":"done?"}]`));
    assert.ok((await turnsOf(a.chat_id)).includes(input));
    /* a client that read the numbers and wrote them again */
    const again = JSON.stringify(JSON.parse(`[${first}{"role":"user","content":"done?"}]`));
    const b = isOk(await call(`${again.slice(0, -1)},{"role":"assistant","content":"ok"},`
      + `{"role":"user","content":"thanks"}]`));
    assert.equal(b.parent_request_id, a.request_id);
  });

  test("of a call through the proxy are kept", async () => {
    const body = `{"model":"m","messages":[{"role":"user","content":"go"},`
      + `{"role":"assistant","content":${blocks}},{"role":"user","content":[`
      + `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"json","value":1.10}]},`
      + `{"type":"text","text":"proxied"}]}]}`;
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", body,
      headers: { "content-type": "application/json" } });
    assert.equal(answer.status, 200);
    assert.equal(upstream.requests.at(-1).bytes.toString(), body);
    const text = await until("it is stored", async () => {
      const { text: all } = await server.api().get("/api/v1/export");
      return all.includes("proxied") && all;
    });
    const own = text.split("\n").filter((line) => line.includes('\\"value\\":1.10'));
    assert.ok(own.length > 0);
    assert.ok(text.split(inside).length > 3);
  });
});
