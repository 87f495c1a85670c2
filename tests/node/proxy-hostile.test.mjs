/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy between a client and an upstream that both mean no good: nothing
 * that could be read in two ways passes, nothing grows without bound, nothing
 * hangs, and the server goes on serving.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import net from "node:net";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import zlib from "node:zlib";

import { startServer, tempFolder } from "./lib/server.mjs";
import { startRaw, startUpstream } from "./lib/upstream.mjs";
import { PATIENCE_MS, until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }] });

/* Send bytes as they are; what comes back until the other side has said all. */
function raw(url, bytes) {
  return new Promise((resolve) => {
    const { port } = new URL(url);
    const socket = net.connect(Number(port), "127.0.0.1");
    let text = "";
    socket.on("data", (part) => { text += part.toString("latin1"); });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error("it hangs")));
    socket.on("error", (error) => { text += error.message; });
    socket.on("close", () => resolve(text));
    socket.write(Buffer.from(bytes, "latin1"));
  });
}

describe("a hostile client", () => {
  let upstream;
  let server;
  before(async () => {
    upstream = await startUpstream();
    server = await startServer({
      args: ["--upstream", `anthropic=${upstream.url}`, "--upstream", `openai=${upstream.url}`],
      env: { CLEW_LIMITS_BODY_BYTES: "80M" } });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  const head = (line, ...headers) => [line, `Host: ${new URL(server.url).host}`,
    "Content-Type: application/json", "Connection: close", ...headers, "", ""].join("\r\n");
  const post = (...headers) => head("POST /v1/messages HTTP/1.1", ...headers);
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  test("a body with two lengths goes nowhere", async () => {
    const before = upstream.requests.length;
    for (const bytes of [
      post(`Content-Length: ${body.length}`, "Transfer-Encoding: chunked") + chunked,
      post("Content-Length: 5", `Content-Length: ${body.length}`) + body,
      post(`Content-Length: ${body.length}, 3`) + body,
      post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + chunked,
      post("Transfer-Encoding : chunked", `Content-Length: ${body.length}`) + body,
    ]) {
      assert.match(await raw(server.url, bytes), /^HTTP\/1\.1 400 /, bytes);
    }
    assert.equal(upstream.requests.length, before);
  });

  test("a path that leads elsewhere goes nowhere", async () => {
    const before = upstream.requests.length;
    for (const path of ["/v1/../admin", "/v1/./messages", "/v1/a/..", "/v1/%2e%2e/admin", "/v1/%2E./x",
      "/v1/..%2fadmin", "/v1/..\\admin", "/v1/..%5cadmin", "/key/k/v1/../../x", "/v1/x?a=\x01", "/v1/\x7f"]) {
      assert.match(await raw(server.url, head(`GET ${path} HTTP/1.1`)), /^HTTP\/1\.1 400 /, path);
    }
    assert.match(await raw(server.url, head("GET http://elsewhere.example/v1/models HTTP/1.1")),
      /^HTTP\/1\.1 4/);
    assert.equal(upstream.requests.length, before);
    /* names with dots are names */
    assert.match(await raw(server.url, head("GET /v1/models/gpt-4.1...x HTTP/1.1")), /^HTTP\/1\.1 200 /);
    assert.equal(upstream.requests.at(-1).url, "/v1/models/gpt-4.1...x");
  });

  test("only a configured name chooses the upstream", async () => {
    for (const name of ["http://elsewhere.example", "127.0.0.1:1", "../openai", "openai@elsewhere.example"]) {
      assert.match(await raw(server.url, head("GET /v1/models HTTP/1.1", `X-Clew-Upstream: ${name}`)),
        /^HTTP\/1\.1 404 /);
    }
  });

  test("trailers, hop-by-hop and clew's own headers stay here", async () => {
    const answer = await raw(server.url, post("Transfer-Encoding: chunked", "Trailer: X-Late",
      "TE: trailers", "Proxy-Authorization: Basic eA==", "Connection: x-private", "X-Private: 1",
      "X-Clew-User: eve", "Upgrade: h2c") +
      chunked.replace(/0\r\n\r\n$/, "0\r\nX-Late: 1\r\nX-Clew-User: bob\r\n\r\n"));
    assert.match(answer, /^HTTP\/1\.1 200 /);
    const seen = upstream.requests.at(-1);
    assert.equal(seen.bytes.toString(), body);
    for (const name of ["trailer", "te", "proxy-authorization", "x-private", "x-late", "x-clew-user",
      "upgrade", "transfer-encoding"]) {
      assert.equal(seen.headers[name], undefined, name);
    }
  });

  /* One number of /metrics. */
  async function metric(name) {
    const { text } = await server.api().get("/metrics");
    return Number(text.split("\n").find((line) => line.startsWith(`${name} `)).split(" ").at(-1));
  }
  const lost = 'clew_captures_total{result="lost"}';

  test("a user that cannot be read is an error before anything goes up", async () => {
    const before = upstream.requests.length;
    for (const user of ["x".repeat(513), "\xff\xfe", "\xc3"]) {
      for (const bytes of [post(`Content-Length: ${body.length}`, `X-Clew-User: ${user}`) + body,
        head("GET /v1/models HTTP/1.1", `X-Clew-User: ${user}`)]) {
        assert.match(await raw(server.url, bytes),
          /^HTTP\/1\.1 400 [\s\S]*"VALIDATION_ERROR"[\s\S]*"field":"x-clew-user"/);
      }
    }
    assert.equal(upstream.requests.length, before);
    for (const [user, name] of [["y".repeat(512), "y".repeat(512)], ["\xc3\xa9", "é"], ["", "default"]]) {
      assert.match(await raw(server.url, post(`Content-Length: ${body.length}`, `X-Clew-User: ${user}`) + body),
        /^HTTP\/1\.1 200 /);
      await until("it is captured", async () => (await server.api().get(
        `/api/v1/requests?user_id=${encodeURIComponent(name)}`)).body.items.length > 0);
    }
    assert.equal(await metric(lost), 0);
  });

  test("a session that cannot be read costs no capture", async () => {
    const counts = () => Promise.all(["stored", "refused", "lost"].map((result) =>
      metric(`clew_captures_total{result="${result}"}`)));
    for (const session of ["s".repeat(5000), "\xff\xfe"]) {
      const [stored, ...others] = await counts();
      assert.match(await raw(server.url, post(`Content-Length: ${body.length}`,
        `X-Claude-Code-Session-Id: ${session}`) + body), /^HTTP\/1\.1 200 /);
      const now = await until("something became of it", async () => {
        const found = await counts();
        return String(found) !== String([stored, ...others]) && found;
      });
      assert.deepEqual(now, [stored + 1, ...others], session.slice(0, 5));
    }
  });

  test("nor does a model whose name no column takes", async () => {
    const before = await metric('clew_captures_total{result="stored"}');
    const odd = '{"model":"m\\u0000","messages":[{"role":"user","content":"x"}]}';
    assert.match(await raw(server.url, post(`Content-Length: ${odd.length}`) + odd), /^HTTP\/1\.1 200 /);
    await until("it is stored", async () => await metric('clew_captures_total{result="stored"}') > before);
  });

  test("a call too large for a capture passes and is counted as lost", async () => {
    const before = await metric(lost);
    const large = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(64 << 20) }] });
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", body: large });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
    assert.equal(await metric(lost), before + 1);
  });

  test("what is no request of the API passes and is not captured", async () => {
    for (const bytes of ["", "{", "[]", "null", '{"messages":{}}', '{"messages":[1]}', "\x00\xff\xfe",
      `{"messages":[{"role":"user","content":"${"\\u0000".repeat(10)}"}]}`, "[".repeat(100_000)]) {
      const answer = await raw(server.url, post(`Content-Length: ${bytes.length}`) + bytes);
      assert.match(answer, /^HTTP\/1\.1 (200|400) /, bytes.slice(0, 40));
    }
    assert.equal((await server.api().get("/healthz")).status, 200);
  });
});

describe("a hostile upstream", () => {
  let script;
  let upstream;
  let server;
  let count = 0;
  before(async () => {
    upstream = await startRaw((socket, request) => script(socket, request));
    server = await startServer({
      args: ["--upstream", `anthropic=${upstream.url}`],
      env: { CLEW_PROXY_IDLE_TIMEOUT_MS: "1000" } });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  const ask = () => raw(server.url, ["POST /v1/messages HTTP/1.1", `Host: ${new URL(server.url).host}`,
    "Content-Type: application/json", "Connection: close", "Accept-Encoding: gzip",
    `Content-Length: ${body.length}`, "", body].join("\r\n"));

  /* The capture of the call just made. */
  function captured() {
    count++;
    return until("it is captured", async () => {
      const { body: list } = await server.api().get("/api/v1/requests?limit=500");
      return list.items.length >= count && list.items[0];
    });
  }

  test("that closes at once, or in the middle of its headers, is a clear error", async () => {
    for (const bytes of ["", "HTTP/1.1 200 OK\r\nContent-Le", "nonsense\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
      "HTTP/1.1 999999 X\r\n\r\n"]) {
      script = (socket) => socket.end(bytes);
      assert.match(await ask(), /^HTTP\/1\.1 502 [\s\S]*"UPSTREAM_ERROR"/, bytes);
      assert.equal((await captured()).is_complete, false);
    }
  });

  test("that closes in the middle of its body is not taken for whole", async () => {
    script = (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\n" +
      "Content-Length: 1000\r\n\r\n\x1f\x8bhalf");
    const half = await ask();
    assert.match(half, /^HTTP\/1\.1 502 [\s\S]*\r\ncontent-type: application\/json[\s\S]*"UPSTREAM_ERROR"/i);
    assert.doesNotMatch(half, /gzip|text\/html/, "the error is not packed as the answer would have been");
    assert.equal((await captured()).is_complete, false);
    script = (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
      "Transfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n");
    const answer = await ask();
    assert.ok(!/\r\n0\r\n\r\n$/.test(answer), "the client sees it was broken off");
    assert.equal((await captured()).is_complete, false);
  });

  test("that says nothing, or stops talking, is given up", async () => {
    script = () => {};
    assert.match(await ask(), /^HTTP\/1\.1 504 /);
    assert.equal((await captured()).status, null);
    script = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
      "Transfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n");
    assert.match(await ask(), /^HTTP\/1\.1 200 /);
    assert.equal((await captured()).is_complete, false);
  });

  test("whose names no column takes costs no capture, nor does an error without a kind", async () => {
    const sends = (status, text) => (socket) => socket.end(
      `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    for (const fields of ['"id":"a\\u0000b"', '"model":"m\\u0000"', '"stop_reason":"end\\u0000turn"']) {
      script = sends(200, `{"role":"assistant","content":[{"type":"text","text":"said"}],${fields}}`);
      assert.match(await ask(), /^HTTP\/1\.1 200 /);
      const { status, is_complete, chat_id } = await captured();
      assert.deepEqual([status, is_complete], [200, true], fields);
      const { items } = (await server.api().get(`/api/v1/chats/${chat_id}/turns`)).body;
      assert.equal(items.at(-1).text, "said");
    }
    script = sends(400, '{"error":{"type":"a\\u0000b"}}');
    assert.match(await ask(), /^HTTP\/1\.1 400 /);
    assert.equal((await captured()).error, "http_error");
    script = sends(200, '{"error":"out of memory"}');
    assert.match(await ask(), /^HTTP\/1\.1 200 /);
    assert.equal((await captured()).error, "error");
  });

  test("cannot put headers of its own into the answer's frame", async () => {
    script = (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close, x-hop\r\n" +
      "X-Hop: 1\r\nTransfer-Encoding: identity\r\nX-Kept: a\x01b\r\nKeep-Alive: 1\r\nX-Request-Id: forged\r\n\r\n{}");
    const answer = await ask();
    count++;
    assert.match(answer, /^HTTP\/1\.1 (200|502) /);
    assert.ok(!/x-hop|forged|identity/i.test(answer), answer);
  });

  test("headers that cannot be sent on are left out, and the answer comes", async () => {
    for (const line of ["Server-Timing: ", "X-Empty:", "X Blank: 1", ": no name", "X-Quoted\"Name: 1", "X-Bytes\xe9: 1",
      "X-Colon : 1"]) {
      script = (socket) => socket.end(`HTTP/1.1 200 OK\r\n${line}\r\nX-Kept: yes\r\nContent-Length: 2\r\n\r\n{}`, "latin1");
      const answer = await ask();
      assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\r\nx-kept: yes\r\n[\s\S]*\{\}$/i, line);
      assert.ok(!answer.toLowerCase().includes(line.slice(0, 5).toLowerCase()), answer);
      await captured();
    }
  });

  test("cannot speak for clew's origin to a browser", async () => {
    const lines = { "Content-Security-Policy": "default-src *", "Content-Security-Policy-Report-Only": "default-src *",
      "X-Frame-Options": "ALLOWALL", "X-Content-Type-Options": "sniff", "Referrer-Policy": "unsafe-url",
      "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*", "Clear-Site-Data": '"*"',
      "Strict-Transport-Security": "max-age=31536000", "Alt-Svc": 'h3=":1"', "Service-Worker-Allowed": "/",
      "Cross-Origin-Opener-Policy": "unsafe-none", "Permissions-Policy": "camera=*" };
    script = (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${
      Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join("")
    }Set-Cookie: kept=1\r\nContent-Length: 2\r\n\r\n{}`);
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", body });
    assert.equal(answer.status, 200);
    for (const [name, value] of Object.entries(lines)) assert.notEqual(answer.headers.get(name), value, name);
    assert.equal(answer.headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(answer.headers.get("x-frame-options"), "DENY");
    assert.equal(answer.headers.get("content-type"), "text/html");
    assert.equal(answer.headers.get("set-cookie"), "kept=1");
    await captured();
    /* a page that may ask is let read what the upstream lets it */
    const { origin } = new URL(server.url);
    const own = await fetch(`${server.url}/v1/messages`, { method: "POST", body, headers: { origin } });
    assert.equal(own.headers.get("access-control-allow-origin"), "*");
    assert.equal(own.headers.get("x-frame-options"), "DENY");
    await captured();
  });

  test("a bare CR, which some take for a line's end, is an error", async () => {
    for (const head of [
      "HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: sid=1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A: a\r\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\rX-A: a\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A\r: a\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\rX-A: a\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\n",
    ]) {
      script = (socket) => socket.end(`${head}{}`);
      const answer = await ask();
      assert.match(answer, /^HTTP\/1\.1 502 [\s\S]*"UPSTREAM_ERROR"/, JSON.stringify(head));
      assert.ok(!/sid=1|x-a/i.test(answer), answer);
      await captured();
    }
  });

  test("headers without end are given up", async () => {
    const line = `X-Fill: ${"a".repeat(1000)}\r\n`;
    script = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      for (let i = 0; i < 2000; i++) socket.write(line);
    };
    assert.match(await ask(), /^HTTP\/1\.1 502 /);
    count++;
  });

  test("headers larger than the server can send on are a clear error", async () => {
    for (const [n, bytes, status] of [[3, 20_000, 200], [5, 20_000, 502], [5, 40_000, 502], [1, 90_000, 502]]) {
      const lines = Array.from({ length: n }, (_, i) => `X-Fill-${i}: ${"a".repeat(bytes)}\r\n`).join("");
      script = (socket) => socket.end(`HTTP/1.1 200 OK\r\n${lines}Content-Length: 2\r\n\r\n{}`);
      assert.ok((await ask()).startsWith(`HTTP/1.1 ${status} `), `${n} of ${bytes}`);
      await captured();
    }
  });

  test("interim answers and trailers do not confuse it", async () => {
    script = (socket) => socket.end("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
      "2\r\n{}\r\n0\r\nX-Trailer: 1\r\nContent-Length: 5\r\n\r\n");
    const answer = await ask();
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.ok(!/early hints|link:|x-trailer/i.test(answer), answer);
    assert.match(answer, /\{\}/);
    await captured();
  });

  test("a bomb passes as it is and is unpacked within bounds", async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(512 << 20, 0x61), { level: 9 });
    script = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    };
    const answer = await ask();
    assert.equal(answer.length - answer.indexOf("\r\n\r\n") - 4 >= bomb.length, true);
    assert.equal((await captured()).is_complete, false);
  });

  test("a redirect is the client's own affair", async () => {
    script = (socket) => socket.end("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    assert.match(await ask(), /^HTTP\/1\.1 302 [\s\S]*location: http:\/\/127\.0\.0\.1:1\//i);
    await captured();
  });

  test("64 streams, half of them left by their clients, end all of them", async () => {
    let open = 0; /* answers under way */
    script = (socket) => {
      open++;
      socket.on("close", () => { if (n <= 20) open--; });
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      let n = 0;
      const timer = setInterval(() => {
        if (socket.destroyed) return clearInterval(timer);
        if (++n > 20) {
          clearInterval(timer);
          open--;
          return socket.end("0\r\n\r\n");
        }
        socket.write("10\r\ndata: {\"a\": 1}\n\n\r\n");
      }, 10);
    };
    await Promise.all(Array.from({ length: 64 }, async (_, i) => {
      const abort = new AbortController();
      const answer = await fetch(`${server.url}/v1/messages`, {
        method: "POST", body, signal: abort.signal, headers: { "content-type": "application/json" } });
      if (i % 2) {
        await answer.body.getReader().read();
        return abort.abort();
      }
      assert.match(await answer.text(), /data/);
    }));
    count += 63;
    await captured();
    await until(() => `all ${open} answers are over`, () => open === 0);
    assert.equal((await server.api().get("/healthz")).status, 200);
  });
});

/* The beginning of an answer as a stream of events; its end is 0\r\n\r\n. */
const event = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "10\r\ndata: {\"a\": 1}\n\n\r\n";

/* One call, its text saying what the upstream is to do; the answer grows in `text`.
 * `socket` is what it goes over, `line` the connection itself. */
function call(url, what, { isHalf = false } = {}) {
  const { protocol, host, port } = new URL(url);
  const line = net.connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: isHalf });
  const socket = protocol === "https:" ? tls.connect({ socket: line, rejectUnauthorized: false }) : line;
  const sent = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: what }] });
  const made = { line, socket, text: "" };
  socket.on("data", (part) => { made.text += part.toString("latin1"); });
  for (const one of [line, socket]) one.on("error", () => {});
  made.ended = new Promise((resolve) => socket.on("end", resolve).on("close", resolve));
  socket[isHalf ? "end" : "write"](["POST /v1/messages HTTP/1.1", `Host: ${host}`, "Content-Type: application/json",
    "Connection: close", `Content-Length: ${sent.length}`, "", sent].join("\r\n"));
  return made;
}

describe("a client that has gone", () => {
  const folder = tempFolder();
  let upstream;
  let ticks;
  before(async () => {
    upstream = await startRaw((socket, request) => {
      ticks?.(socket);
      if (/stalled/.test(request)) socket.write(event);
    });
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path.join(folder, "key"),
      "-out", path.join(folder, "cert"), "-days", "2", "-subj", "/CN=localhost"], { stdio: "ignore" });
  });
  after(() => upstream.stop());

  async function start(t, env = {}, ...args) {
    const server = await startServer({ args: ["--upstream", `anthropic=${upstream.url}`, ...args],
      env: { CLEW_PROXY_IDLE_TIMEOUT_MS: "3600000", ...env } });
    t.after(async () => {
      for (const socket of upstream.sockets) socket.destroy();
      await server.stop();
    });
    return server;
  }
  /* So many of each kind, begun as far as they will come. */
  async function begin(server, count) {
    const calls = Array.from({ length: 2 * count }, (_, i) => call(server.url, i % 2 ? "stalled" : "silent"));
    await until("all wait", () => upstream.sockets.size === 2 * count &&
      calls.every(({ text }, i) => i % 2 === 0 || text.includes('"a"')));
    return calls;
  }
  const noneIsLeft = () => until(() => `${upstream.sockets.size} calls are over`, () => upstream.sockets.size === 0);

  for (const args of [[], ["--tls-cert", path.join(folder, "cert"), "--tls-key", path.join(folder, "key")]]) {
    test(`by a reset ends its call at once, and what had come is captured (${args.length ? "TLS" : "plain"})`,
      async (t) => {
        const server = await start(t, {}, ...args);
        for (const { line } of await begin(server, 3)) line.resetAndDestroy();
        await noneIsLeft();
        if (args.length) return; /* nobody to ask it */
        const items = await until("they are captured", async () => {
          const { body: list } = await server.api().get("/api/v1/requests");
          return list.items.length === 6 && list.items;
        });
        assert.deepEqual(items.map(({ status, is_complete }) => `${status} ${is_complete}`).sort(),
          [...Array(3).fill("200 false"), ...Array(3).fill("null false")]);
        assert.doesNotMatch(server.log(), /warn/i, "it is nobody's fault");
      });
  }

  test("by closing ends its call at once where nothing was answered yet", async (t) => {
    /* no patience ends it */
    const server = await start(t, { CLEW_SERVER_REQUEST_TIMEOUT_SECONDS: "3600" });
    const calls = Array.from({ length: 3 }, () => call(server.url, "silent"));
    await until("all wait", () => upstream.sockets.size === 3);
    for (const { socket } of calls) socket.destroy();
    await noneIsLeft();
  });

  test("by closing leaves its place to whoever wants it", async (t) => {
    const server = await start(t, { CLEW_SERVER_MAX_CONNECTIONS: "20" });
    for (const { socket } of await begin(server, 10)) socket.destroy();
    await until("others are answered", async () =>
      (await server.api().get("/api/v1/requests").catch(() => ({}))).status === 200);
    for (let i = 0; i < 20; i++) {
      await until("and again", async () => (await fetch(`${server.url}/api/v1/requests`,
        { headers: { connection: "close" } }).catch(() => ({}))).status === 200);
    }
  });

  test("by closing is waited for no longer than silence may last", async (t) => {
    const server = await start(t, { CLEW_SERVER_REQUEST_TIMEOUT_SECONDS: "1" });
    for (const { socket } of await begin(server, 3)) socket.destroy();
    await noneIsLeft();
  });

  test("only from sending gets its answer, however long it takes", async (t) => {
    const server = await start(t);
    let begun;
    const begins = new Promise((resolve) => { begun = resolve; });
    ticks = (socket) => begun(socket);
    t.after(() => { ticks = undefined; });
    const made = call(server.url, "half", { isHalf: true });
    const socket = await begins;
    /* each of these makes the server look at its client */
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n", resolve));
    }
    socket.write(event);
    for (let i = 1; i < 20; i++) {
      await until("it has come", () => made.text.split('"a"').length > i || socket.destroyed);
      socket.write(event.slice(event.indexOf("10\r\n")));
    }
    socket.end("0\r\n\r\n");
    await made.ended;
    assert.equal(made.text.split('"a"').length, 21);
    assert.match(made.text, /^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 [\s\S]*\r\n0\r\n\r\n$/);
    made.socket.destroy();
  });
});

test("an upstream that stalls keeps no server from ending", async (t) => {
  const held = [];
  const upstream = await startRaw((socket, request) => {
    if (!request.includes("silent")) socket.write(event);
    if (request.includes("held")) held.push(socket);
  });
  const data = tempFolder();
  const options = { data, args: ["--upstream", `anthropic=${upstream.url}`] };
  const server = await startServer(options);
  t.after(() => upstream.stop());
  const silent = call(server.url, "silent");
  const stalled = call(server.url, "stalled");
  const late = call(server.url, "held");
  await until("two have begun", () => /"a"/.test(stalled.text) && /"a"/.test(late.text));
  server.child.kill("SIGTERM");
  await until("it says so", () => / stopping /.test(server.log()));
  held[0].end("0\r\n\r\n");
  await late.ended;
  assert.match(late.text, /^HTTP\/1\.1 200 [\s\S]*0\r\n\r\n$/, "who ends in that time loses nothing");
  assert.deepEqual(await server.ended, { code: 0, signal: null });
  await Promise.all([silent.ended, stalled.ended]);
  assert.match(silent.text, /^HTTP\/1\.1 503 [\s\S]*"UNAVAILABLE"/);
  assert.doesNotMatch(stalled.text, /0\r\n\r\n$/);
  const again = await startServer(options);
  t.after(() => again.stop());
  const { body: list } = await again.api().get("/api/v1/requests");
  assert.deepEqual(list.items.map(({ status, is_complete }) => `${status} ${is_complete}`).sort(),
    ["200 false", "200 false", "null false"]);
});
