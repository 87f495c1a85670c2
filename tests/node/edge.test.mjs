/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge.test.mjs - where the server meets the world: TLS, proxies before it, who
 * may read its metrics, and files it leaves behind.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";
import { PATIENCE_MS } from "./lib/wait.mjs";

describe("TLS", () => {
  const folder = tempFolder();
  let server;
  before(async () => {
    const key = path.join(folder, "key.pem");
    const cert = path.join(folder, "cert.pem");
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
      "-out", cert, "-days", "2", "-subj", "/CN=localhost"], { stdio: "ignore" });
    server = await startServer({ args: ["--tls-cert", cert, "--tls-key", key] });
  });
  after(async () => {
    await server.stop();
    fs.rmSync(folder, { recursive: true });
  });

  /* The protocol and cipher agreed on; "" if none was. */
  function shake(...options) {
    const { port } = new URL(server.url);
    const { stdout } = spawnSync("openssl", ["s_client", "-connect", `127.0.0.1:${port}`,
      ...options], { input: "", encoding: "utf8", timeout: PATIENCE_MS });
    const found = /New, (TLSv[\d.]+), Cipher is (\S+)/.exec(stdout);
    return found && found[2] !== "(NONE)" ? `${found[1]} ${found[2]}` : "";
  }

  test("is spoken in 1.2 and 1.3, with keys that are not kept", () => {
    assert.match(shake("-tls1_3"), /^TLSv1\.3 /);
    assert.match(shake("-tls1_2"), /^TLSv1\.2 (ECDHE|DHE)-/);
  });

  test("is not spoken in anything older, nor with the server's own key", () => {
    const weak = ["-cipher", "ALL:@SECLEVEL=0"];
    assert.equal(shake("-tls1", ...weak), "");
    assert.equal(shake("-tls1_1", ...weak), "");
    for (const cipher of ["AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384",
      "CAMELLIA128-SHA", "AES128-SHA256", "AES256-CCM"]) {
      assert.equal(shake("-tls1_2", "-cipher", `${cipher}:@SECLEVEL=0`), "", cipher);
    }
  });
});

describe("behind a proxy", () => {
  const forwarded = [{ "x-forwarded-for": "127.0.0.1" }, { "x-forwarded-for": "203.0.113.9" },
    { forwarded: "for=127.0.0.1" }, { "x-real-ip": "127.0.0.1" }, { "x-forwarded-host": "x" },
    { "x-forwarded-for": "" }, { "x-forwarded-proto": "https" },
    ...["Via", "CDN-Loop", "CF-Connecting-IP", "CF-Connecting-IPv6", "True-Client-IP", "Client-IP",
      "X-Client-IP", "X-Cluster-Client-Ip", "Fastly-Client-IP", "X-ProxyUser-Ip", "X-Azure-ClientIP",
      "X-Remote-Addr", "X-Envoy-External-Address", "X-Forwarded-Port", "X-Forwarded-Client-Cert",
      "X-Original-Forwarded-For", "X-Vercel-Forwarded-For"].map((name) => ({ [name]: "127.0.0.1" }))];

  test("nobody is local by what a header says, and no key is no key", async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    isOk(await server.api().get("/api/v1/chats"));
    for (const headers of forwarded) {
      const answer = await server.api().get("/api/v1/chats", headers);
      assert.equal(answer.status, 401, JSON.stringify(headers));
      isOk(await server.api().get("/healthz", headers));
      assert.equal((await server.api().get("/metrics", headers)).status, 401);
    }
    const key = await server.key("t", "read");
    isOk(await server.api(key).get("/api/v1/chats", forwarded[1]));
  });

  test("that is trusted, X-Forwarded-For says who is local", async (t) => {
    const server = await startServer({ args: ["--set",
      "server.trusted_proxies=127.0.0.0/8, ::1, 10.0.0.0/8"] });
    t.after(() => server.stop());
    const ask = async (list) =>
      (await server.api().get("/api/v1/chats", { "x-forwarded-for": list })).status;
    for (const list of ["127.0.0.1", "127.0.0.1, 10.1.2.3", " 127.0.0.1 ,10.9.9.9"]) {
      assert.equal(await ask(list), 200, list);
    }
    for (const list of ["203.0.113.9", "127.0.0.1, 203.0.113.9", "203.0.113.9, 10.1.2.3",
      "unknown", "", "127.0.0.1, nonsense", "10.1.2.3", "127.0.0.1:80, x", "::ffff:203.0.113.9"]) {
      assert.equal(await ask(list), 401, list);
    }
    for (const headers of [{ forwarded: "for=127.0.0.1" }, { "x-real-ip": "127.0.0.1" },
      { via: "1.1 proxy" }, { "true-client-ip": "127.0.0.1" }]) {
      assert.equal((await server.api().get("/api/v1/chats", headers)).status, 401);
    }
    isOk(await server.api().get("/api/v1/chats"), 200);
  });

  test("a list that is no list is an error at the start", async () => {
    for (const list of ["10.0.0.0/33", "somewhere", "1.2.3"]) {
      await assert.rejects(startServer({ args: ["--set", `server.trusted_proxies=${list}`] }),
        /trusted_proxies/);
    }
  });
});

describe("/metrics", () => {
  const cases = {
    open: { none: 200, away: 200, read: 200, admin: 200 },
    local: { none: 200, away: 401, read: 200, admin: 200 },
    key: { none: 401, away: 401, read: 403, admin: 200 },
    off: { none: 404, away: 404, read: 404, admin: 404 },
  };
  for (const [mode, expected] of Object.entries(cases)) {
    test(`is as public as server.metrics=${mode} says`, async (t) => {
      const server = await startServer({ args: ["--set", `server.metrics=${mode}`] });
      t.after(() => server.stop());
      const read = server.api(await server.key("t", "read"));
      const admin = server.api(await server.key("t", "admin"));
      const seen = {
        none: (await server.api().get("/metrics")).status,
        away: (await server.api().get("/metrics", { "x-forwarded-for": "203.0.113.9" })).status,
        read: (await read.get("/metrics")).status,
        admin: (await admin.get("/metrics")).status,
      };
      assert.deepEqual(seen, expected);
    });
  }
});

describe("files", () => {
  test("made by export and backup are for their owner", async (t) => {
    const folder = tempFolder();
    const server = await startServer();
    t.after(async () => {
      await server.stop();
      fs.rmSync(folder, { recursive: true });
    });
    const old = process.umask(0o022);
    try {
      for (const command of ["export", "backup"]) {
        const file = path.join(folder, command);
        await server.clew(command, file);
        assert.equal(fs.statSync(file).mode & 0o777 & ~0o700, 0, command);
      }
    } finally {
      process.umask(old);
    }
  });
});
