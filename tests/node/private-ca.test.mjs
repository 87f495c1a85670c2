/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private-ca.test.mjs - a server whose certificate was issued by an authority of
 * one's own is reached with --ca-file or SSL_CERT_FILE, by name and by address, and
 * by nobody who does not know that authority.
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

describe("a private authority", () => {
  const folder = tempFolder();
  const file = (name) => path.join(folder, name);
  const openssl = (...args) => execFileSync("openssl", args, { stdio: "ignore", cwd: folder });
  let server;

  function authority(name) {
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
      "-keyout", `${name}.key`, "-out", `${name}.pem`, "-subj", `/CN=${name}`);
  }
  before(async () => {
    authority("house");
    authority("stranger");
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
      "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=clew");
    fs.writeFileSync(file("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    openssl("x509", "-req", "-in", "server.csr", "-CA", "house.pem", "-CAkey", "house.key", "-CAcreateserial",
      "-days", "2", "-extfile", "names", "-out", "server.pem");
    server = await startServer({ args: ["--tls-cert", file("server.pem"), "--tls-key", file("server.key")] });
  });
  after(async () => {
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const clew = (args, env) => new Promise((resolve) => {
    execFile(bin, args, { env: cleanEnv(folder, env) }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }));
  });

  test("is trusted where it is named", async () => {
    assert.match(server.url, /^https:/);
    const url = server.url.replace("127.0.0.1", "localhost");
    for (const [where, more, env] of [
      [server.url, ["--ca-file", file("house.pem")]],
      [url, ["--ca-file", file("house.pem")]],
      [server.url, [], { SSL_CERT_FILE: file("house.pem") }],
      [url, ["--ca-file", file("house.pem")], { SSL_CERT_FILE: file("stranger.pem") }],
      [server.url, ["--ca-file", file("house.pem")], { CLEW_URL: "https://127.0.0.1:1" }],
    ]) {
      const kept = await clew(["turn", "--url", where, ...more, "--user", "ada", "The boat is blue."], env);
      assert.equal(kept.code, 0, kept.stderr);
      assert.match((await clew(["recall", "--url", where, ...more, "boat"], env)).stdout, /The boat is blue/);
      assert.match((await clew(["health", "--url", where, ...more], env)).stdout, /status +ok/);
    }
  });

  test("is not trusted elsewhere, and the error says what to do", async () => {
    for (const [more, env] of [[[]], [["--ca-file", file("stranger.pem")]],
      [[], { SSL_CERT_FILE: file("stranger.pem") }],
      [["--ca-file", file("stranger.pem")], { SSL_CERT_FILE: file("house.pem") }]]) {
      const run = await clew(["chats", "--url", server.url, ...more], env);
      assert.notEqual(run.code, 0);
      assert.match(run.stderr, /certificate/i);
      assert.match(run.stderr, /--ca-file/);
    }
  });

  test("vouches for the names in the certificate only", async () => {
    const run = await clew(["chats", "--url", server.url.replace("127.0.0.1", "127.0.0.2"), "--ca-file", file("house.pem")]);
    assert.notEqual(run.code, 0);
  });

  test("serves MCP through the command line too", async () => {
    const greeting = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n';
    const answer = execFileSync(bin, ["mcp", "--url", server.url, "--ca-file", file("house.pem")],
      { input: greeting, encoding: "utf8", env: cleanEnv(folder) });
    assert.equal(JSON.parse(answer.split("\n")[0]).result.serverInfo.name, "clew");
  });
});
