/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile.test.mjs - requests that are odd, ambiguous or meant to hurt.
 *
 * What is ambiguous is refused rather than guessed, nothing is decoded twice,
 * and nobody who only holds connections keeps others out.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const host = "Host: localhost\r\n";
const last = "Connection: close\r\n";
const turn = (content) => JSON.stringify({ user_id: "h", role: "user", content });

describe("hostile requests", () => {
  let server;
  before(async () => {
    server = await startServer({
      args: ["--set", "server.request_timeout_seconds=5"],
    });
  });
  after(async () => {
    const how = await server.stop();
    assert.deepEqual(how, { code: 0, signal: null }, server.log().slice(-4000));
  });

  /* Send bytes; all that comes back until the connection ends. */
  function raw(...parts) {
    const { port } = new URL(server.url);
    return new Promise((resolve) => {
      let text = "";
      const socket = net.connect(Number(port), "127.0.0.1", () => {
        for (const part of parts) socket.write(part);
      });
      socket.on("data", (part) => { text += part; });
      socket.on("close", () => resolve(text));
      socket.on("error", () => resolve(text));
    });
  }
  const statusOf = (text) => Number(/^HTTP\/1\.[01] (\d+)/.exec(text)?.[1] ?? 0);
  const get = async (target, headers = "") =>
    statusOf(await raw(`GET ${target} HTTP/1.1\r\n${host}${headers}${last}\r\n`));
  const post = async (headers, body) => statusOf(await raw(
    `POST /api/v1/turns HTTP/1.1\r\n${host}${last}`
    + `Content-Type: application/json\r\n${headers}\r\n`, body));

  test("requests in one packet are answered in order", async () => {
    let text = "";
    for (let i = 0; i < 50; i++) {
      const body = turn(`number ${i}`);
      text += i % 2
        ? `GET /healthz HTTP/1.1\r\n${host}X-Request-Id: r${i}\r\n`
          + `${i === 49 ? last : ""}\r\n`
        : `POST /api/v1/turns HTTP/1.1\r\n${host}X-Request-Id: r${i}\r\n`
          + "Content-Type: application/json\r\n"
          + `Content-Length: ${body.length}\r\n\r\n${body}`;
    }
    const answer = await raw(text);
    assert.equal(answer.match(/HTTP\/1\.1 20[01] /g).length, 50);
    assert.deepEqual([...answer.matchAll(/x-request-id: (\S+)/gi)].map((m) => m[1]),
      [...Array(50).keys()].map((i) => `r${i}`));
  });

  test("old and unknown versions", async () => {
    const old = await raw(`GET /healthz HTTP/1.0\r\n${host}\r\n`);
    assert.equal(statusOf(old), 200); /* and the connection ended */
    assert.equal(statusOf(await raw(`GET /healthz HTTP/2.0\r\n${host}\r\n`)), 505);
    assert.equal(statusOf(await raw(`GET /healthz HTTP/1.1\r\n${last}\r\n`)), 400);
  });

  test("what is said twice is refused", async () => {
    assert.equal(await get("/healthz", "Host: evil.example\r\n"), 400);
    assert.equal(await get("/healthz", "Host: localhost\r\n"), 400);
    assert.equal(await get("/api/v1/chats",
      "X-Api-Key: clew_a_b\r\nX-Api-Key: clew_c_d\r\n"), 400);
    /* whose it is, where it goes: a client's word, or that of who passed it on */
    for (const name of ["X-Clew-User", "X-Clew-Chat", "X-Clew-Inject", "X-Clew-Upstream", "Mcp-Session-Id",
      "Sec-Fetch-Site"]) {
      for (const path of ["/api/v1/chats", "/v1/models", "/mcp"]) {
        assert.equal(await get(path, `${name}: none\r\n${name.toLowerCase()}: same-origin\r\n`), 400, name + path);
      }
    }
    assert.equal(await get("/api/v1/chats?limit=1&limit=2"), 400);
    const body = turn("twice");
    const length = `Content-Length: ${body.length}\r\n`;
    assert.equal(await post(length + length, body), 400);
    assert.equal(await post(`${length}Content-Length: 5\r\n`, body), 400);
    assert.equal(await post(`${length}Content-Type: application/json\r\n`, body), 400);
    assert.equal(await post(`${length}Transfer-Encoding: chunked\r\n`, body), 400);
  });

  test("names of headers hold no spaces", async () => {
    const body = turn("space");
    assert.equal(await get("/healthz", "X : y\r\n"), 400);
    assert.equal(await post(
      `Content-Length: ${body.length}\r\nTransfer-Encoding : chunked\r\n`, body), 400);
    assert.equal(await get("/healthz", "nonsense\r\n"), 400);
  });

  test("lengths and chunks are exact or refused", async () => {
    const body = turn("chunk");
    const size = body.length.toString(16);
    for (const length of ["-1", "+5", "0x10", "5,5", "9".repeat(30)]) {
      const status = await post(`Content-Length: ${length}\r\n`, body);
      assert.ok(status === 400 || status === 413, `${length}: ${status}`);
    }
    const chunked = (text) => post("Transfer-Encoding: chunked\r\n", text);
    assert.equal(await chunked(`${size}\r\n${body}\r\n0\r\n\r\n`), 201);
    assert.equal(await chunked(`${size};a=b\r\n${body}\r\n0\r\nX: y\r\n\r\n`), 201);
    for (const bad of [`-1\r\n${body}\r\n0\r\n\r\n`, "zz\r\n\r\n",
      `${"f".repeat(17)}\r\n${body}\r\n`, "5\r\nabcdeX0\r\n\r\n"]) {
      const status = await chunked(bad);
      assert.ok(status === 400 || status === 413, `${bad}: ${status}`);
    }
    for (const coding of ["xchunked", "identity", "gzip, chunked"]) {
      assert.notEqual(await post(`Transfer-Encoding: ${coding}\r\n`,
        "0\r\n\r\n"), 201);
    }
  });

  test("escapes are decoded once, and never into another path", async () => {
    const cases = { "/api%2fv1/chats": 404, "/api/v1/%63hats": 404,
      "/api/v1/chats/..%2f..%2fhealthz": 404, "/healthz/../healthz": 404,
      "/./healthz": 404, "/healthz;x=1": 404, "/healthz%00": 404,
      "/api/v1/chats/%00": 400, "/api/v1/chats/%ff": 404,
      "/api/v1/chats?q=%00": 400, "/api/v1/chats?q=%c0%af": 400,
      "/api/v1/chats?q=%ff": 400, "/api/v1/chats?q=%": 400,
      "/api/v1/chats?q=%zz": 400, "/api/v1/chats?q=a%252fb": 200,
      "/api/v1/chats?limit=1%00": 400, "/api/v1/chats?limit=1e3": 400,
      "/api/v1/chats?limit=-1": 400, "/api/v1/chats?odd=1": 400,
      "/api/v1/chats?=x": 400, "/api/v1/chats?&&": 200,
      "http://evil.example/healthz": 404 };
    for (const [target, status] of Object.entries(cases)) {
      const got = await get(target);
      assert.ok(got === status || (got === 400 && status === 404),
        `${target}: ${got}`);
    }
    for (const long of [`q=${"a".repeat(20000)}`, "q=a&".repeat(5000)]) {
      const got = await get(`/api/v1/chats?${long}`);
      assert.ok(got === 0 || (got >= 400 && got < 500), String(got));
    }
  });

  test("browsers of other pages get nothing to read", async () => {
    const preflight = await raw(`OPTIONS /api/v1/turns HTTP/1.1\r\n${host}${last}`
      + "Origin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n\r\n");
    assert.doesNotMatch(preflight, /access-control-allow/i);
    assert.equal(statusOf(preflight), 403);
    for (const method of ["TRACE", "CONNECT"]) {
      const answer = await raw(`${method} /healthz HTTP/1.1\r\n${host}${last}\r\n`);
      assert.ok([404, 405].includes(statusOf(answer)));
    }
  });
});

describe("hostile clients", () => {
  test("idle connections keep nobody out", async (t) => {
    const server = await startServer({
      args: ["--set", "server.max_connections=40"],
    });
    const { port } = new URL(server.url);
    const sockets = [];
    t.after(() => { /* one that fails must not keep the run waiting */
      for (const socket of sockets) socket.destroy();
      server.child.kill("SIGKILL");
    });
    for (let i = 0; i < 400; i++) {
      sockets.push(await new Promise((resolve) => {
        const socket = net.connect(Number(port), "127.0.0.1", () => resolve(socket));
        socket.on("error", () => resolve(socket));
        socket.resume();
      }));
      if (i % 2) sockets.at(-1).write("GET /healthz HTTP/1.1\r\nX: "); /* slowly */
    }
    /* where a processor is scarce one may lose its place before it could speak,
       to those that still come in: who tries again is served */
    const patient = async (call) => {
      for (let left = 400; ; left--) {
        try {
          return await call();
        } catch (error) {
          if (left === 0 || error.message !== "fetch failed") throw error;
        }
      }
    };
    const api = server.api();
    for (let i = 0; i < 5; i++) {
      isOk(await patient(() => api.get("/healthz")));
      const kept = await patient(() => api.post("/api/v1/turns", { user_id: "h",
        role: "user", external_id: `h${i}`, content: `still served ${i}` }));
      assert.ok([200, 201].includes(kept.status), kept.text);
    }
    for (const socket of sockets) socket.destroy();
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
  });

  test("a batch under way when it is told to end is whole or not there", async () => {
    const data = tempFolder();
    for (let round = 0; round < 3; round++) {
      const server = await startServer({ data });
      const ids = [...Array(400).keys()].map((i) => `b${round}-${i}`);
      const answer = server.api().post("/api/v1/turns", { turns: ids.map((id) =>
        ({ user_id: "h", role: "user", channel: "sms", external_id: id,
          content: `I moved the meeting ${id}` })) })
        .then(({ status }) => status, () => 0);
      let isDone = false;
      answer.then(() => { isDone = true; });
      /* asking is a request too, so the batch is there from two on */
      while (!isDone && !/^clew_http_in_flight ([2-9]|\d\d)/m.test(
        (await server.api().get("/metrics")).text)) continue;
      server.child.kill("SIGTERM");
      const status = await answer;
      assert.deepEqual(await server.ended, { code: 0, signal: null });
      const again = await startServer({ data });
      let found = 0;
      for (const id of [ids[0], ids[200], ids[399]]) {
        found += isOk(await again.api().get(`/api/v1/turns?external_id=${id}`))
          .items.length;
      }
      await again.stop();
      assert.ok(found === 3 || (found === 0 && status !== 201),
        `answered ${status}, ${found} of 3 there`);
    }
    fs.rmSync(data, { recursive: true });
  });
});
