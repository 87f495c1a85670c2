/* SPDX-License-Identifier: Apache-2.0 */
/* server.test.mjs - the server itself: what it serves, refuses and survives. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import zlib from "node:zlib";

import { isError, isOk } from "./lib/check.mjs";
import { bin, cleanEnv, client, startServer, tempFolder } from "./lib/server.mjs";
import { until } from "./lib/wait.mjs";

/* Send raw bytes, collect all that comes back until the end. */
function raw(url, ...parts) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, async () => {
      for (const part of parts) socket.write(part);
    });
    let text = "";
    socket.on("data", (part) => { text += part; });
    socket.on("close", () => resolve(text));
    socket.on("error", (error) => (text ? resolve(text) : reject(error)));
  });
}

const get = (transport, options) => new Promise((resolve, reject) => {
  transport.get(options, (answer) => {
    let text = "";
    answer.on("data", (part) => { text += part; });
    answer.on("end", () => resolve({ status: answer.statusCode, text }));
  }).on("error", reject);
});

/* On a connection of its own: a server that is hasty closes one that is kept
 * while it may be used again. */
const getAlone = (url, target) => {
  const { hostname, port } = new URL(url);
  return get(http, { hostname, port, path: target, agent: false });
};

describe("server", () => {
  let server;
  let hasty; /* gives clients two seconds */
  let api;
  before(async () => {
    server = await startServer();
    hasty = await startServer({
      args: ["--set", "server.request_timeout_seconds=2"],
    });
    api = server.api();
  });
  after(async () => {
    await server.stop();
    await hasty.stop();
  });

  test("says one line when it is ready", () => {
    assert.equal(server.log(), `listening on ${server.url}\n`);
  });

  test("healthz, metrics and openapi.json answer without a key", async () => {
    assert.equal(isOk(await api.get("/healthz")).status, "ok");
    const metrics = await api.get("/metrics");
    assert.match(metrics.headers.get("content-type"), /^text\/plain/);
    assert.match(metrics.text, /^clew_http_requests_total\{.*\} \d+$/m);
    assert.equal(isOk(await api.get("/openapi.json")).openapi, "3.1.0");
  });

  test("unknown addresses are 404, wrong methods 405 with Allow", async () => {
    for (const target of ["/api", "/api/v1/nothing", "/healthz/", "//healthz",
      "/api/v1/chats/x/y/z", "/../etc/passwd"]) {
      isError(await api.get(target), 404, "NOT_FOUND");
    }
    const answer = await api.call("DELETE", "/api/v1/chats");
    isError(answer, 405, "METHOD_NOT_ALLOWED");
    assert.equal(answer.headers.get("allow"), "GET, POST, HEAD, OPTIONS");
    const options = await api.call("OPTIONS", "/api/v1/chats");
    assert.equal(options.status, 204);
    assert.equal(options.headers.get("allow"), "GET, POST, HEAD, OPTIONS");
    isError(await api.call("BREW", "/healthz"), 405, "METHOD_NOT_ALLOWED");
  });

  test("HEAD answers as GET without the body", async () => {
    const head = await api.call("HEAD", "/api/v1/chats");
    assert.equal(head.status, 200);
    assert.equal(head.text, "");
    assert.ok(Number(head.headers.get("content-length")) > 10);
  });

  test("every answer has an id and the headers browsers heed", async () => {
    const answer = await api.get("/healthz", { "x-request-id": "my.id-1" });
    assert.equal(answer.headers.get("x-request-id"), "my.id-1");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.match(answer.headers.get("content-security-policy"),
      /frame-ancestors 'none'/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const other = await api.get("/nope", { "x-request-id": "bad id" });
    assert.notEqual(other.headers.get("x-request-id"), "bad id");
  });

  test("packed bodies are unpacked, bombs refused", async () => {
    const post = (body) => api.post("/api/v1/turns", zlib.gzipSync(body),
      { "content-encoding": "gzip" });
    const stored = isOk(await post(JSON.stringify(
      { user_id: "z", role: "user", content: "packed" })), 201);
    assert.equal(stored.turn.text, "packed");
    isError(await post(Buffer.alloc(80 << 20, 32)), 413, "TOO_LARGE");
    isError(await api.post("/api/v1/turns", "{}", { "content-encoding": "gzip" }),
      400);
    isError(await api.post("/api/v1/turns", "{}", { "content-encoding": "br" }),
      415);
  });

  test("a body over the limit is refused and the reason arrives", async () => {
    const answer = await api.post("/api/v1/turns", Buffer.alloc((64 << 20) + 1, 32));
    isError(answer, 413, "TOO_LARGE");
    const atLimit = await api.post("/api/v1/turns", Buffer.alloc(64 << 20, 32));
    isError(atLimit, 400);
  });

  test("foreign hosts and origins are refused", async () => {
    const { port } = new URL(server.url);
    const ask = (headers) => raw(server.url,
      `GET /healthz HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    assert.match(await ask("Host: evil.example\r\n"), /^HTTP\/1.1 403 /);
    assert.match(await ask(`Host: localhost:${port}\r\n`), /^HTTP\/1.1 200 /);
    assert.match(await ask(`Host: 127.0.0.1:${port}\r\n`
      + "Origin: https://evil.example\r\n"), /ORIGIN_NOT_ALLOWED/);
  });

  test("hostile bytes break nothing", async () => {
    const host = "Host: localhost\r\nConnection: close\r\n";
    const inputs = [
      "\x00\x01\x02\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      `GET /healthz HTTP/1.1\r\n${host}X: ${"y".repeat(200000)}\r\n\r\n`,
      `GET /${"a".repeat(100000)} HTTP/1.1\r\n${host}\r\n`,
      `GET /healthz HTTP/1.1\r\n${host}${"a: b\r\n".repeat(5000)}\r\n`,
      `POST /api/v1/turns HTTP/1.1\r\n${host}Content-Length: 5\r\n`
        + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      `POST /api/v1/turns HTTP/1.1\r\n${host}Content-Length: 99999999999999999999`
        + "\r\n\r\n",
      `POST /api/v1/turns HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`
        + "ffffffffffffffff\r\n",
      `GET /%zz HTTP/1.1\r\n${host}\r\n`,
      "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    ];
    for (const input of inputs) {
      const text = await raw(hasty.url, input).catch(() => "");
      assert.ok(text === "" || /^HTTP\/1\.[01] [45]\d\d /.test(text),
        `${input.slice(0, 40)} -> ${text.slice(0, 60)}`);
    }
    assert.equal((await getAlone(hasty.url, "/healthz")).status, 200);
  });

  test("huge headers get 431", async () => {
    const text = await raw(server.url, "GET /healthz HTTP/1.1\r\n"
      + `Host: localhost\r\nConnection: close\r\nX: ${"y".repeat(40000)}\r\n\r\n`);
    assert.match(text, /^HTTP\/1.1 431 /);
    assert.match(text, /"code":"TOO_LARGE"/);
  });

  test("a half-closed client gets its answer", async () => {
    const { port } = new URL(server.url);
    const text = await new Promise((resolve) => {
      let all = "";
      const socket = net.connect({ port: Number(port), host: "127.0.0.1",
        allowHalfOpen: true }, () => {
        socket.end("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      });
      socket.on("data", (part) => { all += part; });
      socket.on("end", () => resolve(all));
    });
    assert.match(text, /^HTTP\/1.1 200 /);
  });

  test("slow clients are cut off, others served meanwhile", async () => {
    const { port } = new URL(hasty.url);
    const slow = Array.from({ length: 50 }, () => new Promise((resolve) => {
      const socket = net.connect(Number(port), "127.0.0.1");
      socket.write("POST /api/v1/turns HTTP/1.1\r\nHost: localhost\r\n"
        + "Content-Length: 100\r\n");
      const timer = setInterval(() => socket.write("x"), 200);
      const end = () => { clearInterval(timer); resolve(); };
      socket.on("error", end);
      socket.on("close", end);
      socket.resume();
    }));
    /* on a busy machine the test may be too slow for it as well */
    const served = (target) => until(`${target} is served`, () =>
      getAlone(hasty.url, target).catch(() => undefined));
    assert.equal((await served("/healthz")).status, 200);
    await Promise.all(slow);
    assert.match((await served("/metrics")).text,
      /^clew_http_timed_out_total [1-9]\d*$/m);
  });

  test("many requests at once are all answered", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) =>
      api.post("/api/v1/turns",
        { user_id: `p${i % 8}`, role: "user", content: `turn ${i}` })));
    for (const answer of answers) isOk(answer, 201);
  });
});

describe("listening", () => {
  test("on a unix socket that only its owner may use", async () => {
    const folder = tempFolder();
    const socketPath = path.join(folder, "clew.sock");
    const server = await startServer({ listen: `unix:${socketPath}` });
    assert.equal(server.url, `unix:${socketPath}`);
    assert.equal(fs.statSync(socketPath).mode & 0o777, 0o600);
    const answer = await get(http, { socketPath, path: "/healthz" });
    assert.equal(answer.status, 200);
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    assert.ok(!fs.existsSync(socketPath));
    fs.rmSync(folder, { recursive: true });
  });

  test("on a socket handed over by a service manager", async () => {
    const listener = net.createServer();
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address();
    const data = tempFolder();
    /* The shell knows its own process id, which becomes the program's. */
    const child = spawn("/bin/sh", ["-c",
      `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve --data "$1"`, bin, data],
    { env: cleanEnv(data), stdio: ["ignore", "ignore", "pipe", listener._handle] });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    listener.close(); /* else this process might accept what is the child's */
    try {
      let log = "";
      await new Promise((resolve) => {
        child.stderr.on("data", (part) => {
          log += part;
          if (log.includes("listening on")) resolve();
        });
        child.stderr.on("close", resolve);
      });
      assert.equal(log, `listening on http://127.0.0.1:${port}\n`);
      isOk(await client(`http://127.0.0.1:${port}`).get("/healthz"));
    } finally {
      child.kill("SIGTERM");
    }
    assert.equal(await ended, 0);
    fs.rmSync(data, { recursive: true });
  });

  test("with TLS", async () => {
    const folder = tempFolder();
    const key = path.join(folder, "key.pem");
    const cert = path.join(folder, "cert.pem");
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes",
      "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    { stdio: "ignore" });
    const server = await startServer({
      args: ["--tls-cert", cert, "--tls-key", key],
    });
    assert.match(server.url, /^https:/);
    const { port } = new URL(server.url);
    const answer = await get(https, { host: "127.0.0.1", port, path: "/healthz",
      ca: fs.readFileSync(cert) });
    assert.equal(answer.status, 200);
    await server.stop();
    await assert.rejects(startServer({ args: ["--tls-cert", cert] }));
    fs.rmSync(folder, { recursive: true });
  });

  test("a taken address or a bad one is an error, not a hang", async () => {
    const server = await startServer();
    const { host } = new URL(server.url);
    await assert.rejects(startServer({ listen: host }), /ended early/);
    const taken = await new Promise((resolve) => {
      let text = "";
      const child = spawn(bin, ["serve", "--data", tempFolder(), "--listen", host], { env: cleanEnv(tempFolder()) });
      child.stderr.on("data", (part) => { text += part; });
      child.on("close", (code) => resolve({ code, text }));
    });
    assert.deepEqual([taken.code, taken.text], [11, `clew: another process listens on ${host}; as 127.0.0.1:0 a free port is picked\n`]);
    await assert.rejects(startServer({ listen: "nonsense" }), /listen|nonsense/);
    await server.stop();
  });
});

describe("ending", () => {
  test("SIGTERM and SIGINT end it with 0, SIGHUP does not", async () => {
    for (const signal of ["SIGTERM", "SIGINT"]) {
      const server = await startServer();
      server.child.kill("SIGHUP");
      isOk(await server.api().get("/healthz"));
      assert.deepEqual(await server.stop(signal), { code: 0, signal: null });
    }
  });

  test("nothing acknowledged is lost when it ends under load", async () => {
    const data = tempFolder();
    const server = await startServer({ data });
    const acknowledged = [];
    let isStopping = false;
    const writers = Array.from({ length: 16 }, async (_, w) => {
      for (let i = 0; !isStopping || i < 1; i++) {
        const externalId = `w${w}-${i}`;
        try {
          const answer = await server.api().post("/api/v1/turns", {
            user_id: `w${w}`, role: "user", content: externalId,
            external_id: externalId,
          });
          if (answer.status !== 201) break;
          acknowledged.push(externalId);
        } catch {
          break; /* refused while ending: not acknowledged */
        }
        if (acknowledged.length === 300) {
          isStopping = true;
          server.child.kill("SIGTERM");
        }
      }
    });
    await Promise.all(writers);
    if (!isStopping) server.child.kill("SIGTERM"); /* they gave up before */
    assert.ok(acknowledged.length >= 300, server.log());
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    const again = await startServer({ data });
    const stored = new Set();
    const api = again.api();
    for (const chat of isOk(await api.get("/api/v1/chats?limit=500")).items) {
      let cursor = "";
      do {
        const page = isOk(await api.get(`/api/v1/chats/${chat.id}/turns?limit=500`
          + (cursor && `&cursor=${cursor}`)));
        for (const turn of page.items) {
          assert.ok(!stored.has(turn.external_id), "stored twice");
          stored.add(turn.external_id);
        }
        cursor = page.next_cursor;
      } while (cursor);
    }
    for (const id of acknowledged) assert.ok(stored.has(id), `${id} is lost`);
    await again.stop();
    fs.rmSync(data, { recursive: true });
  });
});
