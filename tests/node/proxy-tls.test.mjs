/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstreams over TLS, with HTTP/2 and without: certificates are checked, the
 * bytes stay the same, streams stream, and what passed is captured.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";

import { startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

process.env.CLEW_TEST_READS = "no";

const folder = tempFolder();

/* A certificate that vouches for itself, for `names`. */
function certificate(name, names) {
  const key = path.join(folder, `${name}.key`);
  const cert = path.join(folder, `${name}.pem`);
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes",
    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=upstream",
    "-addext", `subjectAltName=${names}`], { stdio: "ignore" });
  return { file: cert, key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
}

const body = (text, stream = false) =>
  JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: text }] });
const post = (url, text, stream) => fetch(`${url}/v1/messages`, {
  method: "POST", body: body(text, stream), headers: { "content-type": "application/json" } });

/* The same without the proxy. */
function direct(upstream, ca, text, stream) {
  return new Promise((resolve, reject) => {
    const request = https.request(`${upstream.url}/v1/messages`, { method: "POST", ca, headers: {
      "content-type": "application/json" } }, async (answer) => {
      let all = "";
      for await (const part of answer) all += part;
      resolve(all);
    });
    request.on("error", reject);
    request.end(body(text, stream));
  });
}

after(() => fs.rmSync(folder, { recursive: true, force: true }));

for (const [name, isOld, version] of [["HTTP/2", false, "2.0"], ["HTTP/1.1", true, "1.1"]]) {
  describe(`an upstream over TLS with ${name}`, () => {
    let tls;
    let upstream;
    let server;
    before(async () => {
      tls = certificate(`right-${version}`, "DNS:localhost,IP:127.0.0.1");
      upstream = await startUpstream({ tls: { ...tls, isOld } });
      server = await startServer({
        args: ["--upstream", `anthropic=${upstream.url}`], env: { CLEW_PROXY_CA_FILE: tls.file } });
    });
    after(async () => {
      await server.stop();
      await upstream.stop();
    });

    test("answers come back byte for byte, plain and streamed", async () => {
      for (const stream of [false, true]) {
        const answer = await post(server.url, "the same", stream);
        assert.equal(answer.status, 200);
        assert.equal(await answer.text(), await direct(upstream, tls.cert, "the same", stream));
      }
      assert.equal(upstream.requests[0].httpVersion, version);
    });

    test("the providers' own client streams, and all of it is captured", async () => {
      const client = new Anthropic({
        baseURL: server.url, apiKey: "k", maxRetries: 0, defaultHeaders: { "x-clew-user": "ann" } });
      const reply = await client.messages.stream({
        model: "m", max_tokens: 9, messages: [{ role: "user", content: "over TLS" }] }).finalMessage();
      assert.equal(reply.content[0].text, "echo: over TLS");
      const last = await until("it is captured", async () => {
        const { body: list } = await server.api().get("/api/v1/requests?limit=1");
        return list.items[0]?.user_id === "ann" && list.items[0];
      });
      assert.equal(last.is_complete, true);
    });

    test("one connection serves calls that follow each other", async () => {
      const from = upstream.requests.length;
      for (let i = 0; i < 5; i++) await (await post(server.url, `call ${i}`)).text();
      assert.equal(new Set(upstream.requests.slice(from).map((r) => r.port)).size, 1);
    });

    test("64 streams at once, each its own", async () => {
      const texts = await Promise.all(Array.from({ length: 64 }, async (_, i) =>
        (await post(server.url, `number ${i}`, true)).text()));
      for (const [i, text] of texts.entries()) {
        const deltas = [...text.matchAll(/"type":"text_delta","text":"([^"]*)"/g)].map((m) => m[1]);
        assert.equal(deltas.join(""), `echo: number ${i}`);
      }
    });

    test("a client that goes away ends the stream upstream, not the connection's next call", async () => {
      const before = upstream.aborted;
      const abort = new AbortController();
      const answer = await fetch(`${server.url}/v1/messages`, {
        method: "POST", body: body(`slow ${"word ".repeat(200)}`, true), signal: abort.signal,
        headers: { "content-type": "application/json" } });
      await answer.body.getReader().read();
      abort.abort();
      await until("the upstream sees it end", () => upstream.aborted > before);
      assert.equal((await post(server.url, "afterwards")).status, 200);
    });
  });
}

describe("a certificate that does not fit", () => {
  async function refused(names, trusted) {
    const tls = certificate("odd", names);
    const upstream = await startUpstream({ tls });
    const server = await startServer({
      args: ["--upstream", `anthropic=${upstream.url}`],
      env: trusted ? { CLEW_PROXY_CA_FILE: tls.file } : {} });
    const answer = await post(server.url, "a secret");
    assert.equal(answer.status, 502);
    assert.equal((await answer.json()).error.code, "UPSTREAM_ERROR");
    assert.equal(upstream.requests.length, 0);
    await server.stop();
    await upstream.stop();
  }

  test("of nobody known: nothing is sent", () => refused("IP:127.0.0.1", false));
  test("for another name: nothing is sent", () => refused("DNS:elsewhere.example", true));
  test("a file of certificates that is not there is an error at the start", () => assert.rejects(
    startServer({ env: { CLEW_PROXY_CA_FILE: path.join(folder, "none.pem") } }), /proxy\.ca_file/));
});
