/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readme.test.mjs - what the README says one types, typed, gives what the README
 * says it gives. Ids, scores and times differ; everything else is compared.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const text = fs.readFileSync(path.join(here, "../../README.md"), "utf8");
const minute = text.slice(text.indexOf("## One minute"), text.indexOf("## The page"));
const blocks = [...minute.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
  .map((match) => ({ kind: match[1], text: match[2] }));

/* What may differ from run to run. */
const alike = (words) => words
  .replace(/[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?/g, "ID")
  .replace(/\d+ % sure/g, "N % sure").trimEnd();

describe("the README's first minute", () => {
  let server;
  let data;
  before(async () => {
    server = await startServer({ args: ["--demo"] });
    data = tempFolder();
  });
  after(() => server.stop());

  const shell = (line) => {
    const run = spawnSync("bash", ["-c", line
      .replaceAll("localhost:2539", new URL(server.url).host)
      .replaceAll("build/clew", bin)],
    { encoding: "utf8", env: { ...cleanEnv(data), CLEW_DATA_DIR: data } });
    assert.equal(run.status, 0, `${line}\n${run.stderr}`);
    return run.stdout;
  };

  test("keeps with curl, and finds again", () => {
    const block = blocks.find((one) => one.text.includes("curl"));
    const calls = block.text.replace(/\\\n/g, " ").split("\n")
      .filter((line) => line.startsWith("curl"));
    assert.equal(calls.length, 2);
    assert.equal(JSON.parse(shell(calls[0])).turn.seq, 1);
    assert.match(JSON.parse(shell(calls[1])).items[0].text, /under the blue pot/);
  });

  test("prints what it says it prints", () => {
    const block = blocks.find((one) => one.text.startsWith("$ "));
    const steps = block.text.split(/^\$ /m).filter(Boolean);
    assert.ok(steps.length >= 3);
    for (const step of steps) {
      const end = step.indexOf("\n");
      assert.equal(alike(shell(step.slice(0, end))), alike(step.slice(end + 1)),
        step.slice(0, end));
    }
  });

  test("has every other command it names", () => {
    const chats = JSON.parse(shell("build/clew chats --json")).items;
    const block = blocks.find((one) => one.text.includes("clew fork CHAT"));
    const lines = block.text.split("\n").filter((line) => line.startsWith("build/clew"));
    assert.ok(lines.length >= 6);
    for (const line of lines) {
      shell(`${line.replace(/#.*/, "").replace("--at 3", "--at 1")
        .replace("CHAT", chats[0].id).replace("TURN", `${chats[0].id}:1`)} </dev/null`);
    }
  });
});
