/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.test.mjs - what those without a key, and those who never finish, can do
 * to others: nothing. Bounded in count and time, on this machine only.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import zlib from "node:zlib";

import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { startServer } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

/* A connection that says `bytes` and stays; `answer` is the head of what comes
 * back, or the error, as soon as there is one. */
function park(url, bytes) {
  const { port } = new URL(url);
  const socket = net.connect(Number(port), "127.0.0.1");
  socket.setEncoding("latin1"); /* a character a byte */
  socket.write(bytes);
  let text = "";
  const answer = new Promise((resolve) => {
    const tell = (what) => resolve(what);
    socket.on("data", (part) => {
      text += part;
      const head = text.indexOf("\r\n\r\n");
      const length = /content-length: (\d+)/i.exec(text);
      if (head > 0 && text.length >= head + 4 + Number(length?.[1] ?? 0)) tell(text);
    });
    socket.on("error", (error) => tell(text || error.code));
    socket.on("close", () => tell(text || "closed"));
  });
  return { socket, answer, ended: new Promise((resolve) => socket.on("close", resolve)) };
}

const head = (path, ...headers) => [`POST ${path} HTTP/1.1`, "Host: localhost",
  "Content-Type: application/json", ...headers, "", ""].join("\r\n");
const metric = async (server, name) => Number(
  new RegExp(`^${name} (\\d+)$`, "m").exec((await server.api().get("/metrics")).text)?.[1]);

const mounts = ["/api/v1/turns", "/api/v1/import", "/mcp", "/v1/messages", "/v1/files",
  "/key/clew_0000000000000000_0000/v1/messages"];

describe("without a key", () => {
  test("the answer comes before the body is read", async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const reading = await server.key("t", "read");
    for (const path of mounts) {
      for (const framing of ["Content-Length: 60000000", "Content-Length: 10",
        "Transfer-Encoding: chunked"]) {
        const { socket, answer } = park(server.url, head(path, framing));
        assert.match(await answer, /^HTTP\/1\.1 401 [\s\S]*"UNAUTHORIZED"/, `${path} ${framing}`);
        socket.destroy();
      }
    }
    const { socket, answer } = park(server.url, head("/api/v1/turns", "Content-Length: 60000000",
      `Authorization: Bearer ${reading}`));
    assert.match(await answer, /^HTTP\/1\.1 403 /);
    socket.destroy();
    assert.equal(await metric(server, "clew_http_body_bytes"), 0);
  });

  test("who sends all the same still reads why not", async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    await server.key("t", "write");
    for (const size of [10, 100_000, 8 << 20]) {
      for (const path of mounts) {
        const answer = await fetch(server.url + path, { method: "POST",
          headers: { "content-type": "application/json" }, body: Buffer.alloc(size, 32) });
        assert.equal(answer.status, 401, `${path} ${size}`);
        await answer.text();
      }
    }
  });

  test("wrong keys are slowed down on every path, right ones are not", { timeout: 600_000 },
    async (t) => {
      const upstream = await startUpstream();
      t.after(() => upstream.stop());
      const bad = `clew_${"0".repeat(16)}_${"0".repeat(64)}`;
      const asks = {
        api: (url, key) => fetch(`${url}/api/v1/chats`, { headers: { "x-api-key": key } }),
        mcp: (url, key) => fetch(`${url}/mcp`, { method: "POST", body: "{}",
          headers: { "content-type": "application/json", authorization: `Bearer ${key}` } }),
        header: (url, key) => fetch(`${url}/v1/messages`, { method: "POST", body: "{}",
          headers: { "x-clew-key": key } }),
        path: (url, key) => fetch(`${url}/key/${key}/v1/messages`, { method: "POST", body: "{}" }),
      };
      for (const [name, ask] of Object.entries(asks)) {
        const server = await startServer({ args: ["--upstream", `anthropic=${upstream.url}`] });
        const good = await server.key("t", "write");
        const seen = {};
        const status = async (key) => {
          const answer = await ask(server.url, key);
          await answer.text();
          if (answer.status === 429) assert.ok(Number(answer.headers.get("retry-after")) > 0);
          return answer.status;
        };
        assert.notEqual(await status(good), 401);
        /* what is allowed grows by ten a second: on a slow machine it takes more */
        for (let i = 0; i < 700 || (!seen[429] && i < 20_000); i += 10) {
          for (const one of await Promise.all(Array.from({ length: 10 }, () => status(bad)))) {
            seen[one] = (seen[one] ?? 0) + 1;
          }
        }
        assert.ok(seen[401] >= 500 && seen[429] > 0, `${name}: ${JSON.stringify(seen)}`);
        assert.ok(![401, 429].includes(await status(good)), name);
        await server.stop();
      }
    });
});

describe("whose wrong keys they are", () => {
  const bad = `clew_${"0".repeat(16)}_${"0".repeat(64)}`;
  /* Ask as whom `from` names until it is slowed down; false: it never is. */
  async function isSlowed(server, from) {
    for (let i = 0; i < 3000; i += 10) {
      const seen = await Promise.all(Array.from({ length: 10 }, (_, k) => as(server, bad, from(i + k))));
      assert.ok(seen.every((status) => status === 401 || status === 429), `${seen}`);
      if (seen.includes(429)) return true;
    }
    return false;
  }
  const as = async (server, key, headers) => {
    const answer = await fetch(`${server.url}/api/v1/chats`, { headers: { "x-api-key": key, ...headers } });
    await answer.text();
    return answer.status;
  };
  const by = (address) => ({ "x-forwarded-for": address });

  test("no header of the client's changes it", { timeout: 600_000 }, async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const good = await server.key("t", "read");
    assert.equal(await as(server, good, by("192.0.2.1")), 200); /* one that works is known */
    assert.ok(await isSlowed(server, (i) => ({ "X-Forwarded-For": `203.0.113.${i % 250}, 198.51.100.${i % 250}`,
      forwarded: `for=192.0.2.${i % 250}`, "x-real-ip": `203.0.113.${i % 250}` })));
    assert.equal(await as(server, good, by("203.0.113.1")), 200);
  });

  test("a proxy that is trusted says it, of IPv6 the line, however it is spelled", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ args: ["--set", "server.trusted_proxies=127.0.0.1, 10.0.0.0/8"] });
    t.after(() => server.stop());
    const good = await server.key("t", "read");
    assert.equal(await as(server, good, by("192.0.2.1")), 200);
    const hex = (i) => i.toString(16);
    assert.ok(await isSlowed(server, (i) => by(i % 2 ? `2001:db8::${hex(i)}:1` : `2001:0DB8:0:0:${hex(i)}::2`)));
    /* not who is elsewhere, nor whom the client in front of the proxy names */
    assert.equal(await as(server, bad, by("2001:db8:0:1::1")), 401);
    assert.ok(await isSlowed(server, (i) => by(`203.0.113.${i % 200}, ${i % 2 ? "::ffff:198.51.100.7" : "198.51.100.7"}, 10.1.1.1`)));
    assert.equal(await as(server, bad, by("203.0.113.8")), 401);
    assert.equal(await as(server, bad, by("198.51.100.8")), 401);
    assert.equal(await as(server, good, by("198.51.100.7")), 200);
  });

  for (const where of ["sqlite", "postgres"]) {
    test(`a right key that was never seen gets in meanwhile, on ${where}`, { timeout: 600_000 }, async (t) => {
      const db = where === "postgres" ? await startPostgres() : undefined;
      if (db) t.after(() => db.stop());
      const server = await startServer({ store: db?.url });
      t.after(() => server.stop());
      const good = await server.key("t", "read"); /* by another process */
      const gone = await server.key("t", "read");
      assert.ok(await isSlowed(server, () => ({})));
      const wrong = async (key) => {
        /* what is allowed grows by twenty a second */
        for (let i = 0; i < 100; i++) if (await as(server, bad, {}) === 429) break;
        return [401, 429].includes(await as(server, key, {}));
      };
      assert.equal(await as(server, good, {}), 200);
      assert.ok(await wrong(good.replace(/.$/, (c) => (c === "0" ? "1" : "0"))));
      assert.ok(await wrong(good.replace(/_./, "_g")));
      /* one that is made now, and one that is no more */
      assert.equal(await as(server, await server.key("t", "read"), {}), 200);
      await server.clew("keys", "revoke", /_(.{16})_/.exec(gone)[1]);
      assert.ok(await wrong(gone));
      assert.equal(await as(server, good, {}), 200);
    });
  }
});

describe("those who never finish", () => {
  test("a refused upload holds no memory while it goes on", async (t) => {
    const server = await startServer({ args: ["--set", "limits.body_bytes=1M"] });
    t.after(() => server.stop());
    const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
    const { socket } = park(server.url, head("/api/v1/turns", "Transfer-Encoding: chunked")
      + chunk.repeat(2));
    await until("it is held no more", async () => await metric(server, "clew_http_body_bytes") === 0
      && await metric(server, "clew_http_refused_uploads_total") >= 1);
    assert.ok(!socket.destroyed);
    socket.destroy();
  });

  test("parked uploads give way to others", { timeout: 600_000 }, async (t) => {
    /* no other limit ends them so soon */
    const server = await startServer({ args: ["--set", "server.max_connections=16",
      "--set", "server.request_timeout_seconds=3600"] });
    t.after(() => server.stop());
    const parked = Array.from({ length: 16 }, () =>
      park(server.url, `${head("/api/v1/turns", "Content-Length: 5000")}{"user_id":`));
    await until("another is served", async () => {
      const { socket, answer } = park(server.url,
        "GET /api/v1/chats HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const text = await answer;
      socket.destroy();
      assert.match(text, /^HTTP\/1\.1 (200|503) /, "an answer, not a reset");
      return text.startsWith("HTTP/1.1 200");
    }, 200_000); /* a body has 300 seconds */
    for (const { socket } of parked) socket.destroy();
  });

  test("nor do they keep the memory for bodies", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ args: ["--set", "limits.bodies_bytes=4M"] });
    t.after(() => server.stop());
    const parked = Array.from({ length: 4 }, () => park(server.url,
      `${head("/api/v1/turns", "Content-Length: 2000000")}{"a":"${"x".repeat(1_000_000)}`));
    await until("they hold it", async () => await metric(server, "clew_http_body_bytes") > 3_500_000);
    const content = "y".repeat(1_500_000);
    await until("another is served", async () => {
      const { status } = await server.api().post("/api/v1/turns",
        { user_id: "u", role: "user", content });
      assert.ok(status === 201 || status === 503, String(status));
      return status === 201;
    });
    for (const { socket } of parked) socket.destroy();
    await until("all is given back", async () => await metric(server, "clew_http_body_bytes") === 0);
  });

  test("nor do bodies that grow when they are unpacked or parsed", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ args: ["--set", "limits.bodies_bytes=32M"] });
    t.after(() => server.stop());
    const memory = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(
      fs.readFileSync(`/proc/${server.child.pid}/status`, "utf8"))[1]) / 1024;
    const idle = memory("VmRSS");
    const texts = { text: "a".repeat(8 << 20), lists: `${"[],".repeat(60_000)}0`,
      objects: `${"{},".repeat(50_000)}0`, numbers: `${"1,".repeat(150_000)}0` };
    for (const [name, text] of Object.entries(texts)) {
      const whole = name === "text" ? `{"x":"${text}"}` : `{"x":[${text}]}`;
      for (const path of ["/api/v1/turns", "/mcp"]) {
        if (path === "/mcp" && name === "text") continue; /* too long for a message */
        const body = zlib.gzipSync(whole);
        const seen = {};
        await Promise.all(Array.from({ length: 48 }, async () => {
          const answer = await fetch(server.url + path, { method: "POST", body,
            headers: { "content-type": "application/json", "content-encoding": "gzip" } });
          await answer.text();
          seen[answer.status] = (seen[answer.status] ?? 0) + 1;
        }));
        /* what it says is wrong, but it was read; or there was no room */
        assert.deepEqual(Object.keys(seen).filter((s) => s !== "400" && s !== "503"), [], `${name} ${path}`);
        assert.ok(seen[400] > 0, `${name} ${path}: one at a time has room`);
        await until("all is given back", async () => await metric(server, "clew_http_body_bytes") === 0);
      }
    }
    /* unpacked, parsed, and what a heap keeps of it */
    const most = memory("VmHWM") - idle;
    assert.ok(most < 8 * 32, `${most} MB`);
    const alone = await fetch(`${server.url}/api/v1/turns`, { method: "POST",
      headers: { "content-type": "application/json" }, body: `{"x":[${"[],".repeat(300_000)}0]}` });
    assert.equal(alone.status, 413, "what can never have room is no matter of waiting");
    assert.equal((await alone.json()).error.code, "TOO_LARGE");
  });

  /* A server with few places and much to say, and clients that ask and read
   * nothing, as many as it takes until others are sent away. */
  const ask = (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  async function isServed(server, path) {
    const { socket, answer } = park(server.url, ask(path));
    const text = await answer;
    socket.destroy();
    assert.match(text, /^HTTP\/1\.1 (200|503) /, "an answer, not a reset");
    return text.startsWith("HTTP/1.1 200");
  }
  async function withDeafClients(t, bytesOf) {
    /* no other limit ends them so soon */
    const server = await startServer({ args: ["--set", "server.max_connections=16",
      "--set", "server.request_timeout_seconds=3600"] });
    const deaf = [];
    t.after(async () => {
      for (const socket of deaf) socket.destroy();
      await server.stop("SIGKILL");
    });
    const { items } = isOk(await server.api().post("/api/v1/turns", { turns: [
      { user_id: "u", role: "user", content: "=".repeat(12 << 20) }] }), 201);
    const bytes = bytesOf(items[0].turn.chat_id);
    const crowd = () => {
      for (let i = 0; i < 8; i++) {
        const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
        socket.on("error", () => {});
        socket.pause();
        socket.write(bytes);
        deaf.push(socket);
      }
    };
    await until("others are sent away", async () => {
      crowd();
      return !await isServed(server, "/api/v1/usage");
    });
    return { server, crowd };
  }
  for (const [name, bytesOf] of [["an answer", (chat) => ask(`/api/v1/chats/${chat}/turns`)],
    ["a stream", () => ask("/api/v1/export")], ["answer after answer", () => ask("/openapi.json").repeat(80)]]) {
    test(`who takes ${name} no further gives way to others`, { timeout: 600_000 }, async (t) => {
      const { server, crowd } = await withDeafClients(t, bytesOf);
      let n_served = 0;
      await until("others are served, and it is said why", async () => {
        crowd();
        assert.ok(await isServed(server, "/healthz"), "it is well");
        n_served += await isServed(server, "/api/v1/usage");
        return n_served >= 5 && /http cut slow_answers=[1-9]/.test(server.log());
      });
    });
  }

  test("a slow but steady reader among them gets all", { timeout: 600_000 }, async (t) => {
    const { server, crowd } = await withDeafClients(t, () => ask("/api/v1/export"));
    const read = () => new Promise((resolve) => {
      let bytes = 0;
      let head = "";
      const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.write(ask("/api/v1/export").replace("Host", "Connection: close\r\nHost"));
      socket.on("data", (part) => {
        head ||= part.toString("latin1", 0, 12);
        bytes += part.length;
        socket.pause();
        if (bytes % 8 === 0) crowd();
        setTimeout(() => socket.resume(), 20);
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve({ head, bytes }));
    });
    await until("it is let in", async () => {
      const { head, bytes } = await read();
      if (head.endsWith("503")) return false;
      assert.ok(bytes > 12 << 20, `${bytes} bytes of the answer`);
      return true;
    });
  });

  test("nor do copies in the proxy and arguments in strings", { timeout: 600_000 }, async (t) => {
    const upstream = await startUpstream();
    const server = await startServer({ args: ["--set", "limits.bodies_bytes=32M", "--set",
      "proxy.inject=true", "--set", "proxy.queue_bytes=16M", "--upstream", `anthropic=${upstream.url}`] });
    t.after(async () => {
      await server.stop();
      await upstream.stop();
    });
    const memory = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(
      fs.readFileSync(`/proc/${server.child.pid}/status`, "utf8"))[1]) / 1024;
    const idle = memory("VmRSS");
    const ask = { type: "text", text: "where do I live?" };
    const call = (content) => ({ model: "m", max_tokens: 1, messages: [{ role: "user", content }] });
    const turn = (input) => ({ user_id: "u", role: "assistant",
      content: [{ type: "tool_use", id: "1", name: "f", input }] });
    const bodies = [["/v1/messages", call(`where do I live? ${"a b ".repeat(1 << 18)}`)],
      ["/v1/messages", call([ask, ...Array.from({ length: 50_000 }, () => ({}))])],
      ["/api/v1/turns", turn(`{"x":[${"[],".repeat(40_000)}0]}`)]];
    for (const [path, body] of bodies) {
      const packed = zlib.gzipSync(JSON.stringify(body));
      const answers = await Promise.all(Array.from({ length: 48 }, async () => {
        const answer = await fetch(server.url + path, { method: "POST", body: packed,
          headers: { "content-type": "application/json", "content-encoding": "gzip" } });
        const text = await answer.text();
        if (answer.status === 503) assert.equal(JSON.parse(text).error.code, "BUSY");
        else assert.ok(answer.ok, text.slice(0, 200));
        return answer.status;
      }));
      assert.ok(answers.some((status) => status < 300), `${path}: one at a time has room`);
      await until("all is given back", async () => await metric(server, "clew_http_body_bytes") === 0);
    }
    const most = memory("VmHWM") - idle;
    assert.ok(most < 8 * 32, `${most} MB`);
  });

  test("a slow but steady upload among a crowd arrives", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ args: ["--set", "server.max_connections=16"] });
    t.after(() => server.stop());
    const body = JSON.stringify({ user_id: "u", role: "user", content: "z".repeat(1_000_000) });
    const { socket, answer } = park(server.url, head("/api/v1/turns", `Content-Length: ${body.length}`));
    const crowd = [];
    /* 32 kB in two seconds are steady: a machine that stalls for a while is, too */
    for (let at = 0; at < body.length; at += 100_000) {
      socket.write(body.slice(at, at + 100_000));
      for (let i = 0; i < 4; i++) crowd.push(park(server.url, "GET /healthz HTTP/1.1\r\n"));
      await sleep(300);
    }
    assert.match(await answer, /^HTTP\/1\.1 201 /);
    for (const { socket: one } of crowd) one.destroy();
  });
});

describe("too many", () => {
  test("streams of one tenant leave some to another", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ args: ["--set", "server.max_connections=24"] });
    t.after(() => server.stop());
    const keys = [await server.key("one", "read"), await server.key("two", "read")];
    const open = [];
    const listen = async (key) => {
      const ending = new AbortController();
      const answer = await fetch(`${server.url}/api/v1/events`,
        { headers: { "x-api-key": key }, signal: ending.signal });
      if (answer.status === 200) open.push(ending);
      else {
        assert.equal(answer.status, 503);
        assert.equal((await answer.json()).error.code, "TOO_MANY_STREAMS");
      }
      return answer.status === 200;
    };
    const countOf = async (key) => {
      let n = 0;
      while (await listen(key)) n++;
      return n;
    };
    assert.equal(await countOf(keys[0]), 6, "half of twelve, which are half of the connections");
    assert.equal(await countOf(keys[1]), 3, "half of what is left");
    assert.equal(await countOf(keys[0]), 0);
    isOk(await server.api(keys[0]).get("/api/v1/chats"));
    while (open.length) open.pop().abort();
    await until("what is left is there again", () => listen(keys[0]));
    while (open.length) open.pop().abort();
  });

  test("above max_connections there is an answer, and /healthz says it is well",
    { timeout: 600_000 }, async (t) => {
      const stuck = net.createServer(() => {}); /* an upstream that never answers */
      await new Promise((resolve) => stuck.listen(0, "127.0.0.1", resolve));
      const server = await startServer({ args: ["--set", "server.max_connections=8",
        "--upstream", `anthropic=http://127.0.0.1:${stuck.address().port}`] });
      const busy = Array.from({ length: 8 }, () =>
        park(server.url, `${head("/v1/messages", "Content-Length: 2")}{}`));
      t.after(async () => {
        for (const { socket } of busy) socket.destroy();
        await server.stop("SIGKILL");
        stuck.close();
      });
      await until("all are busy", async () => {
        const { answer, socket } = park(server.url, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const text = await answer;
        socket.destroy();
        assert.match(text, /^HTTP\/1\.1 200 /);
        const other = park(server.url, "GET /api/v1/chats HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const status = (await other.answer).slice(0, 12);
        other.socket.destroy();
        assert.match(status, /^HTTP\/1\.1 (200|503)$/);
        return status.endsWith("503");
      });
      const many = Array.from({ length: 60 }, () =>
        park(server.url, "GET /api/v1/chats HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      for (const { answer, socket } of many) {
        /* some may take the place of one that was answered and only waits */
        assert.match(await answer, /^HTTP\/1\.1 (200 |503 [\s\S]*retry-after: \d[\s\S]*"BUSY")/i);
        socket.destroy();
      }
      await until("it is said", () => /http connections/.test(server.log()));
    });

  /* CPU seconds of a process so far. */
  const cpu = (pid) => {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const [utime, stime] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
    return (Number(utime) + Number(stime)) / 100;
  };

  test("without descriptors it does not spin, says so, and answers /healthz",
    { timeout: 600_000 }, async (t) => {
      const server = await startServer({ limits: { nofile: "72:72" } });
      t.after(() => server.stop());
      const crowd = Array.from({ length: 300 }, () => park(server.url, "GET /healthz HTTP/1.1\r\n"));
      /* once all of them are there */
      await until("it does not spin", async () => {
        const before = cpu(server.child.pid);
        await sleep(1000);
        return cpu(server.child.pid) - before < 0.3;
      });
      const { answer, socket } = park(server.url, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assert.match(await answer, /^HTTP\/1\.1 200 /);
      socket.destroy();
      await until("it is said", () => /warn http (connections|descriptors)/.test(server.log()));
      for (const one of crowd) one.socket.destroy();
      await until("it is itself again", async () => {
        try {
          return (await server.api().post("/api/v1/turns",
            { user_id: "u", role: "user", content: "still here" })).status === 201;
        } catch {
          return false;
        }
      });
    });

  test("without memory valid JSON is never called invalid", { timeout: 600_000 }, async (t) => {
    const server = await startServer({ limits: { as: 700 << 20 } });
    t.after(() => server.stop());
    const seen = {};
    const body = JSON.stringify({ turns: Array.from({ length: 1000 }, (_, i) => ({ user_id: `u${i % 9}`,
      role: "user", content: `${i} ${"the gateway moved ".repeat(700)}` })) });
    await Promise.all(Array.from({ length: 12 }, async () => {
      for (let i = 0; i < 3; i++) {
        let status;
        try {
          const answer = await fetch(`${server.url}/api/v1/turns`, { method: "POST", body,
            headers: { "content-type": "application/json" } });
          status = answer.status;
          await answer.text();
        } catch (error) {
          status = error.cause?.code ?? "error";
        }
        seen[status] = (seen[status] ?? 0) + 1;
      }
    }));
    assert.equal(seen[400], undefined, JSON.stringify(seen));
    assert.equal(server.child.exitCode, null, server.log());
    await until("/healthz answers", async () => {
      try {
        return (await server.api().get("/healthz")).status === 200;
      } catch {
        return false;
      }
    });
    t.diagnostic(JSON.stringify(seen));
  });
});
