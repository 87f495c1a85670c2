/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy-bodies.test.mjs - what a provider may answer to `stream: true`, on each of
 * the three paths: the client gets it as it was sent or sees that it is broken,
 * the call is captured with what could be read of it, and the next call works.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import zlib from "node:zlib";

import { isOk } from "./lib/check.mjs";
import { startServer } from "./lib/server.mjs";
import { eventsOf, startRaw, streamed } from "./lib/upstream.mjs";
import { PATIENCE_MS, until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const events = "Content-Type: text/event-stream";
const head = (...lines) => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n");

/* `bytes` in chunks that cut events, lines and characters. */
function chunked(bytes) {
  const size = bytes.length > 100_000 ? 65_521 : 7;
  const out = [];
  for (let i = 0; i < bytes.length; i += size) {
    const part = bytes.subarray(i, i + size);
    out.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...out, Buffer.from("0\r\n\r\n")]);
}

const sends = (body, ...lines) => (socket) => {
  socket.write(head(...(lines.length ? lines : [events]), "Transfer-Encoding: chunked"));
  socket.write(chunked(Buffer.from(body)));
};

let count = 0;
const good = (path, blocks = [{ text: "said" }]) => eventsOf(path, { model: "m", messages: [++count] }, blocks);
const whole = (path, blocks) => good(path, blocks).join("");
const data = (value) => `data: ${JSON.stringify(value)}\n\n`;

/* More text, in the format of each. */
const more = {
  "/v1/messages": (text) => data({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  "/v1/chat/completions": (content) => data({ choices: [{ index: 0, delta: { content } }] }),
  "/v1/responses": (delta) => data({ type: "response.output_text.delta", output_index: 0, delta }),
};

/* The good stream with `bytes` after its first text. */
function amid(path, bytes) {
  const all = good(path);
  const at = all.findIndex((event) => event.includes('"said"')) + 1;
  return Buffer.concat([Buffer.from(all.slice(0, at).join("")), Buffer.from(bytes),
    Buffer.from(all.slice(at).join(""))]);
}

function bytesOf(text, ...bytes) {
  const [left, right] = text.split("HERE");
  return Buffer.concat([Buffer.from(left), Buffer.from(bytes), Buffer.from(right)]);
}

const counted = /"((?:input|output|prompt|completion)_tokens)":\d+/g;
const nested = (depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const isWhole = { is_complete: true, error: null, text: "said" };
const isCut = { is_complete: false, text: "said" };
const broken = { is_complete: false, error: "broken_off", isBroken: true };

/* What is sent: bytes, which the client is to get, or what a socket does with
 * itself; and what is captured of it. */
const cases = {
  "lines that end in CR": [(path) => whole(path).replaceAll("\n", "\r"), isWhole],
  "lines that end in CRLF, CR and LF in turns": [(path) => {
    let n = 0;
    return whole(path).replace(/\n\n/g, () => ["\n\r\n", "\r\r", "\r\n\n", "\n\n"][n++ % 4]);
  }, isWhole],
  "an event of 10 MB": [(path) => amid(path, data({ type: "ping", fill: "x".repeat(10 << 20) })), isWhole],
  "words of 1 MB": [(path) => amid(path, more[path]("x".repeat(1 << 20))), { is_complete: true, error: null }],
  "no end of line": [() => `data: ${"a".repeat(1 << 20)}`, { is_complete: false, text: undefined }],
  "an event that is cut off": [(path) => whole(path).replace(/\n+$/, "").replace(/\n\ndata: \[DONE\]$/, ""), {}],
  "bytes of zero between events": [(path) => amid(path, "data: {\"type\":\"x\0\"}\n\n\0\0\n\n"), isCut],
  "a zero in the text": [(path) => amid(path, more[path]("a\0b")), { is_complete: true, error: null }],
  "what is no UTF-8": [(path) => amid(path, bytesOf(more[path]("HERE"), 0xff, 0xc3)), isCut],
  "half a surrogate": [(path) => amid(path, more[path]("HERE").replace("HERE", "\\ud800")), isCut],
  "100,000 brackets": [(path) => amid(path, `data: ${"[".repeat(100_000)}\n\n`), isCut],
  "values of the wrong types": [(path) => amid(path, ["5", "null", '"x"', "[1]",
    '{"type":5,"index":"a","delta":7,"choices":5,"usage":[],"item":3,"response":4,"error":5,"message":6}',
    '{"choices":[5,null,{"delta":5},{"delta":{"content":5}}]}', '{"type":"content_block_delta"}',
    '{"type":"message_delta","delta":3,"usage":5}'].map((event) => `data: ${event}\n\n`).join("")),
  { is_complete: true, error: null, hasText: "said" }],
  "counts below nothing": [(path) => whole(path).replace(counted, '"$1":-5'), { ...isWhole, input_tokens: null }],
  "counts beyond all numbers": [(path) => whole(path).replace(counted, '"$1":99999999999999999999999'),
    { ...isWhole, input_tokens: null }],
  "another type": [(path) => sends(whole(path), "Content-Type: application/json"), { is_complete: false }],
  "an error instead": [() => sends('{"error":{"type":"overloaded_error","message":"x"}}', "Content-Type: application/json"),
    { error: "overloaded_error" }],
  "an error in the middle": [(path) => amid(path, 'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n'),
    { error: "overloaded_error", text: "said" }],
  "an error that is a word": [(path) => amid(path, 'data: {"error":"overloaded"}\n\n'), { error: "error", text: "said" }],
  "a tool called with half of its JSON": [(path) => whole(path, [{ name: "look", id: "c", input: { a: 1 } }])
    .replaceAll('1}"', '1"').replaceAll('\\":1}', '\\":1'), { hasText: "look" }],
  "a tool called with what is nested too deep": [(path) => whole(path, [{ name: "look", id: "c", input: nested(64) }]),
    { hasText: "look" }],
  "a block that is nested too deep": [(path) => amid(path, data({ type: "content_block_start", index: 9,
    output_index: 9, content_block: { type: "x", deep: nested(60) } })), { hasText: "said" }],
  "its events from behind": [(path) => good(path).reverse().join(""), {}],
  "two blocks of one number": [(path) => whole(path, [{ text: "one" }, { text: "two" }])
    .replaceAll('"index":1', '"index":0').replaceAll('"output_index":1', '"output_index":0'), { hasText: "one" }],
  "numbers of blocks beyond all": [(path) => whole(path, [{ text: "said" }, { name: "t", id: "c", input: {} }])
    .replaceAll('"index":1', '"index":-9223372036854775808').replaceAll('"output_index":1', '"output_index":1e308'),
  { hasText: "said" }],
  "what clew had put in": [(path) => whole(path, [{ text: 'A <clew-context sha256="0">\nobey\n</clew-context> b' }]),
    { is_complete: true, text: "A b" }],
  "nothing": [() => "", { is_complete: false, text: undefined }],
  "a reset in the middle": [(path) => (socket) => {
    socket.write(head(events, "Transfer-Encoding: chunked"));
    socket.write(chunked(amid(path, "")).subarray(0, 300), () => setImmediate(() => socket.resetAndDestroy()));
  }, { is_complete: false, error: "broken_off", isBroken: true }],
  "chunks that are longer than they say": [(path) => (socket) =>
    socket.end(`${head(events, "Transfer-Encoding: chunked")}5\r\n${whole(path)}\r\n0\r\n\r\n`), broken],
  "chunks of less than nothing": [(path) => (socket) =>
    socket.end(`${head(events, "Transfer-Encoding: chunked")}-5\r\n${whole(path)}`), broken],
  "chunks beyond all numbers": [(path) => (socket) =>
    socket.end(`${head(events, "Transfer-Encoding: chunked")}ffffffffffffffffff\r\n${whole(path)}`), broken],
  "less than it said": [(path) => (socket) => {
    const bytes = whole(path);
    socket.end(`${head(events, `Content-Length: ${bytes.length + 20}`)}${bytes}`);
  }, { is_complete: false, error: "broken_off", status: 502 }],
  "more than it said": [(path) => (socket) => {
    const bytes = whole(path);
    socket.write(`${head(events, `Content-Length: ${bytes.length - 20}`)}${bytes}`);
  }, { hasText: "said" }],
  "a length below nothing": [(path) => (socket) => socket.end(`${head(events, "Content-Length: -1")}${whole(path)}`),
    { error: "no_answer", status: 502 }],
  "half of its gzip": [(path) => (socket) => {
    const bytes = zlib.gzipSync(whole(path)).subarray(0, -12);
    socket.end(Buffer.concat([Buffer.from(head(events, "Content-Encoding: gzip", `Content-Length: ${bytes.length}`)), bytes]));
  }, { hasText: "said" }],
  "gzip that is none": [(path) => sends(whole(path), events, "Content-Encoding: gzip"),
    { is_complete: false }],
  "a byte at a time": [(path) => (socket) => {
    const bytes = Buffer.concat([Buffer.from(head(events, "Transfer-Encoding: chunked")), chunked(Buffer.from(whole(path)))]);
    let at = 0;
    const next = () => at < bytes.length && socket.write(bytes.subarray(at, ++at), next);
    socket.setNoDelay(true);
    next();
  }, isWhole],
};

let script;
let upstream;
let server;
before(async () => {
  upstream = await startRaw((socket, request) => script(socket, request));
  server = await startServer({
    args: ["--upstream", `anthropic=${upstream.url}`, "--upstream", `openai=${upstream.url}`],
    env: { CLEW_PROXY_IDLE_TIMEOUT_MS: "2000" } });
});
after(async () => {
  await server.stop();
  await upstream.stop();
});

let asked = 0;
const bodyOf = (path) => JSON.stringify({ model: "m", stream: true, ...(path === "/v1/responses"
  ? { input: `question ${++asked}` } : { messages: [{ role: "user", content: `question ${++asked}` }] }) });

/* Nothing is unpacked: the bytes as they came. */
function ask(path) {
  return new Promise((resolve, reject) => {
    const parts = [];
    const request = http.request(server.url + path, { method: "POST", timeout: PATIENCE_MS,
      headers: { "content-type": "application/json" } }, (answer) => {
      const end = () => resolve({ status: answer.statusCode, isBroken: !answer.complete, bytes: Buffer.concat(parts) });
      answer.on("data", (part) => parts.push(part)).on("error", () => {}).on("close", end);
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("it hangs")));
    request.end(bodyOf(path));
  });
}

/* The capture of the last call, once there are as many as were made. */
async function captured() {
  const stats = await until("it is captured", async () => {
    const { text } = await server.api().get("/metrics");
    const [stored, refused, lost] = ["stored", "refused", "lost"].map((what) =>
      Number(new RegExp(`^clew_captures_total\\{result="${what}"\\} (\\d+)$`, "m").exec(text)[1]));
    return stored + refused + lost >= asked && { stored, refused, lost };
  });
  assert.deepEqual(stats, { stored: asked, refused: 0, lost: 0 });
  const call = isOk(await server.api().get("/api/v1/requests?limit=1")).items[0];
  const { items } = isOk(await server.api().get(`/api/v1/chats/${call.chat_id}/turns?limit=500`));
  return { ...call, text: items.find((turn) => turn.role === "assistant")?.text };
}

for (const path of streamed) {
  describe(`${path} is answered`, () => {
    for (const [name, [make, wanted]] of Object.entries(cases)) {
      test(name, async () => {
        const made = make(path);
        const { status = 200, isBroken = false, hasText, ...fields } = wanted;
        script = typeof made === "function" ? made : sends(made);
        const got = await ask(path);
        assert.equal(got.isBroken, isBroken, "the client sees whether it is whole");
        assert.equal(got.status, status);
        if (status !== 200) assert.equal(JSON.parse(got.bytes).error.code, "UPSTREAM_ERROR");
        if (typeof made !== "function") assert.ok(Buffer.from(made).equals(got.bytes), "not as it was sent");
        const call = await captured();
        if (hasText) assert.match(call.text, new RegExp(hasText));
        assert.deepEqual(Object.fromEntries(Object.keys(fields).map((field) => [field, call[field]])), fields);
        /* and the next one works, over whatever is left of the connection */
        const next = whole(path);
        script = sends(next);
        assert.equal((await ask(path)).bytes.toString(), next);
      });
    }
  });
}

describe("what grows when it is read", () => {
  /* The most it took since the last time this was asked, in MB. */
  const proc = (name) => `/proc/${server.child.pid}/${name}`;
  const memory = () => {
    const peak = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(proc("status"), "utf8"))[1]) >> 10;
    fs.writeFileSync(proc("clear_refs"), "5");
    return peak;
  };
  const now = () => (memory(), memory());
  const start = whole("/v1/messages", []).split("\n\n")[0];
  const end = data({ type: "message_stop" });

  test("a stream of empty lists takes no more than it may", async () => {
    const before = now();
    const list = `[${"[],".repeat(60_000)}[]]`;
    const block = (i) => `data: {"type":"content_block_start","index":${i},"content_block":{"type":"x","x":${list}}}\n\n`;
    script = sends(`${start}\n\n${Array.from({ length: 150 }, (_, i) => block(i)).join("")}${end}`);
    assert.equal((await ask("/v1/messages")).isBroken, false);
    assert.equal((await captured()).is_complete, false);
    assert.ok(memory() - before < 400, `${memory() - before} MB`);
  });

  test("nor do many that are packed, which are read one after another", async () => {
    const list = `[${"[],".repeat(200_000)}[]]`;
    const packed = zlib.gzipSync(`${start}\n\n${data({ type: "content_block_start", index: 0,
      content_block: { type: "text", text: "x" } })}data: {"type":"message_delta","delta":{"x":${list}}}\n\n${end}`);
    const before = now();
    script = (socket) => socket.write(Buffer.concat([Buffer.from(head(events, "Content-Encoding: gzip",
      `Content-Length: ${packed.length}`)), packed]));
    await Promise.all(Array.from({ length: 32 }, () => ask("/v1/messages")));
    await captured();
    assert.ok(memory() - before < 300, `${memory() - before} MB`);
  });

  test("one without end passes until the client has enough, and no more is kept than may be", async () => {
    const before = now();
    let isOver = false;
    script = (socket) => {
      const part = more["/v1/messages"]("y".repeat(60_000));
      const piece = `${part.length.toString(16)}\r\n${part}\r\n`;
      const next = () => socket.write(piece, (error) => !error && setImmediate(next));
      socket.on("close", () => { isOver = true; });
      socket.write(head(events, "Transfer-Encoding: chunked"));
      next();
    };
    const abort = new AbortController();
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", signal: abort.signal,
      body: bodyOf("/v1/messages") });
    let n = 0;
    for await (const part of answer.body) {
      n += part.length;
      if (n > 48 << 20) break;
    }
    abort.abort();
    await until("the provider is told", () => isOver);
    assert.equal((await captured()).is_complete, false);
    assert.ok(memory() - before < 400, `${memory() - before} MB`);
  });
});
