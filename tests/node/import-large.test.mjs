/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import-large.test.mjs - a ChatGPT export as large as people's are: progress is
 * shown, Ctrl-C stops it, the same command goes on, and nothing is lost or doubled.
 *
 * `make import-large` makes a zip of IMPORT_MB (200) megabytes: a twentieth is talk,
 * packed, the rest pictures, as in exports of people who send any. `make test` leaves it
 * out: a small one is in before anybody could type Ctrl-C (history.test.mjs stops one
 * between two writes).
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";

import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";
import { zip } from "./lib/zip.mjs";

const megabytes = Number(process.env.IMPORT_MB ?? 0);
const words = ("harbour crane ferry tide mooring rope winter engine paint hull mast sail anchor deck "
  + "the a of in with before after because we they should could was is not very old new").split(" ");

/* The same for everybody: a generator of its own (Park and Miller). */
let state = 20261115;
const random = (below) => {
  state = (state * 48271) % 2147483647;
  return state % below;
};
const sentence = () => `${Array.from({ length: 8 + random(12) }, () => words[random(words.length)]).join(" ")} ${random(1e6)}.`;
const text = () => Array.from({ length: 2 + random(8) }, sentence).join(" ");

let messages = 0;
function conversation(nth) {
  const mapping = { root: { id: "root", parent: null, children: [], message: null } };
  let parent = "root";
  for (let i = 0; i < 20; i++) {
    const id = `${nth}-${i}`;
    mapping[id] = { id, parent, children: [], message: { id, author: { role: i % 2 ? "assistant" : "user" },
      create_time: 1700000000 + nth * 600 + i, content: { content_type: "text", parts: [text()] } } };
    mapping[parent].children.push(id);
    parent = id;
    messages++;
  }
  return { id: `c${nth}`, conversation_id: `c${nth}`, title: `Talk ${nth}`, create_time: 1700000000 + nth * 600,
    current_node: parent, mapping };
}

describe(`a ChatGPT export of ${megabytes} MB`, () => {
  const folder = tempFolder();
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const data = path.join(folder, "data");
  const env = cleanEnv(folder, { TERM: "xterm" });

  function make() {
    const talk = [];
    for (let bytes = 0; bytes < megabytes * 1e6 * (process.env.IMPORT_MB ? 0.05 : 0.1);) {
      const one = JSON.stringify(conversation(talk.length));
      talk.push(one);
      bytes += one.length * 0.33; /* what packing leaves of it */
    }
    const parts = { "user.json": "{}", "conversations.json": `[${talk.join(",")}]` };
    const picture = 2e6;
    for (let i = 0; i * picture < megabytes * 1e6 * 0.94; i++) {
      parts[`file-${i}.png`] = Buffer.from(Uint32Array.from({ length: picture / 4 }, () => random(2147483646)).buffer);
    }
    const file = path.join(folder, "export.zip");
    fs.writeFileSync(file, zip(parts));
    return file;
  }

  test("is brought, broken off and taken up again", { timeout: 3_000_000,
    skip: megabytes ? false : "make import-large" }, async () => {
    const file = make();
    console.log(`${(fs.statSync(file).size / 1e6).toFixed(0)} MB, ${messages} messages`);
    const line = `'${bin}' import '${file}' --user ada --data '${data}'`;
    let began = Date.now();
    const seconds = () => ((Date.now() - began) / 1000).toFixed(1);

    /* on a terminal, until some are in */
    const first = spawn("script", ["-qec", `exec ${line}`, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
    let shown = "";
    let hasStopped = false;
    first.stdout.on("data", (part) => {
      shown += part;
      const [done] = [...shown.matchAll(/importing \[[# ]*\] (\d+)\/(\d+)/g)].slice(-1);
      if (done && !hasStopped && Number(done[1]) > messages / 4) {
        hasStopped = true;
        first.stdin.write("\u0003"); /* Ctrl-C, typed */
      }
    });
    await new Promise((resolve) => { first.on("close", resolve); });
    assert.ok(hasStopped, shown.slice(-300));
    const [, stopped] = /stopped after (\d+) of \d+ messages; run the same command again/.exec(shown);
    assert.ok(new RegExp(`\\d+/${messages}\\b.*left`).test(shown), `a total and the time left: ${shown.slice(-300)}`);
    console.log(`stopped after ${stopped} messages, ${seconds()} s`);

    began = Date.now();
    const rest = spawnSync(bin, ["import", file, "--user", "ada", "--data", data, "--json"], { env, encoding: "utf8" });
    assert.equal(rest.status, 0, rest.stderr);
    const counts = JSON.parse(rest.stdout);
    assert.equal(counts.messages, messages);
    assert.equal(counts.added + Number(stopped), messages, "none twice, none lost");
    console.log(`the other ${counts.added} in ${seconds()} s`);

    began = Date.now();
    const again = JSON.parse(spawnSync(bin, ["import", file, "--user", "ada", "--data", data, "--json"], { env, encoding: "utf8" }).stdout);
    assert.equal(again.added, 0);
    console.log(`the same once more in ${seconds()} s; the store has ${(fs.statSync(path.join(data, "clew.db")).size / 1e6).toFixed(0)} MB`);
    assert.equal(spawnSync(bin, ["verify", "--quick", "--data", data], { env }).status, 0);
  });
});
