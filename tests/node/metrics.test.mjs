/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.test.mjs - /metrics by the rules of Prometheus (what `promtool check
 * metrics` looks at), what it must tell, and the dashboard that shows it; on
 * both stores.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk } from "./lib/check.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const dashboard = fs.readFileSync(
  path.join(here, "../../packaging/grafana/clew.json"), "utf8");

/* Debian's package prometheus has it; it is large, so it is used where it is. */
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/* Families by name: {help, type, samples: [[name, labels, value]]}. */
function parse(text) {
  const families = new Map();
  let current = null;
  for (const line of text.trimEnd().split("\n")) {
    const help = /^# HELP (\S+) (.+)$/.exec(line);
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    const sample = /^([a-z_]+)(\{[^}]*\})? (-?[0-9.e+-]+|\+Inf|NaN)$/.exec(line);
    assert.ok(help || type || sample, `not understood: ${line}`);
    if (help) {
      assert.ok(!families.has(help[1]), `${help[1]} is told twice`);
      current = { name: help[1], help: help[2], samples: [] };
      families.set(help[1], current);
    } else if (type) {
      assert.equal(type[1], current?.name, `${type[1]} has no HELP`);
      current.type = type[2];
    } else {
      assert.ok(current?.type && sample[1].startsWith(current.name), line);
      current.samples.push([sample[1], sample[2] ?? "", Number(sample[3])]);
    }
  }
  return families;
}

onEachBackend("metrics", (start, name) => {
  let server;
  let families;
  before(async () => {
    server = await start();
    const api = server.api();
    for (const content of ["The boat is blue.", "Please fix the mast."]) {
      isOk(await api.post("/api/v1/turns", { user_id: "ada", role: "user", content }), 201);
    }
    isOk(await api.post("/api/v1/memories", { summary: "Ada sails." }), 201);
    isOk(await api.post("/api/v1/usage", { purpose: "chat", model: "m",
      input_tokens: 70, output_tokens: 30 }));
    families = parse((await api.get("/metrics")).text);
  });
  const value = (family, labels = "") => families.get(family)?.samples
    .find(([, own]) => own === labels)?.[2];

  test("keeps the rules: help, type, base units, names", () => {
    assert.ok(families.size > 25);
    for (const family of families.values()) {
      assert.match(family.name, /^clew_[a-z]+(_[a-z]+)*$/);
      assert.match(family.help, /^[A-Z].*\.$/, family.name);
      assert.equal(family.type === "counter", family.name.endsWith("_total"), family.name);
      assert.doesNotMatch(family.name, /_(ms|milliseconds|kb|mb|minutes)(_|$)/);
      assert.ok(family.samples.length > 0 || family.type !== "gauge", family.name);
    }
  });

  test("promtool finds no fault", { skip: hasPromtool ? false : "no promtool here (Debian's prometheus)" }, async () => {
    const { text } = await server.api().get("/metrics");
    const run = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    assert.equal((run.stdout + run.stderr).trim(), "");
    const bad = spawnSync("promtool", ["check", "metrics"], { input: "clew_x_total{} nonsense\n", encoding: "utf8" });
    assert.notEqual(bad.status, 0, "it would say so");
  });

  test("tells how much there is, and what waits", () => {
    assert.equal(value("clew_turns"), 2);
    assert.ok(value("clew_memories") >= 1);
    assert.equal(value("clew_reader_backlog_turns"), 0);
    for (const state of ["pending", "running", "done", "failed"]) {
      assert.ok(value("clew_tasks", `{state="${state}"}`) >= 0, state);
    }
    assert.equal(value("clew_llm_calls_total"), 1);
    assert.equal(value("clew_llm_tokens_total", '{direction="input"}'), 70);
    assert.equal(value("clew_llm_tokens_total", '{direction="output"}'), 30);
    assert.equal(value("clew_llm_cost_total"), 0);
    assert.ok(value("clew_index_bytes") >= 0);
    if (name === "sqlite") assert.ok(value("clew_store_bytes") > 4096);
    assert.equal(value("clew_store_up"), 1);
  });

  test("the dashboard asks for what there is", () => {
    const asked = new Set(dashboard.match(/clew_[a-z_]+/g).map((one) =>
      one.replace(/_bucket$/, "")));
    for (const one of asked) {
      if (name !== "sqlite" && one === "clew_store_bytes") continue;
      assert.ok(families.has(one), one);
    }
    assert.ok(asked.size > 15);
  });
});
