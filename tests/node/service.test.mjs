/* SPDX-License-Identifier: Apache-2.0 */
/* service.test.mjs - the units a service manager runs the program by. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { isOk } from "./lib/check.mjs";
import { bin, cleanEnv, client, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const packaging = path.join(
  path.dirname(fileURLToPath(import.meta.url)), "../../packaging");

/* The units as installed beside this program. */
function install(folder) {
  for (const name of ["clew.service", "clew.socket"]) {
    const text = fs.readFileSync(path.join(packaging, name), "utf8");
    fs.writeFileSync(path.join(folder, name),
      text.replaceAll("__BINDIR__", path.dirname(path.resolve(bin)))
        .replaceAll("__SYSCONFDIR__", folder));
  }
}

function analyze(...args) {
  const run = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  assert.equal(run.error, undefined, "systemd is missing (tools/setup test)");
  return run;
}

/* A port nobody has; the manager wants it by number. */
async function freePort() {
  const probe = net.createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe("as a service", () => {
  test("the units are well formed and lock the program in", () => {
    const folder = tempFolder();
    install(folder);
    const units = ["clew.service", "clew.socket"]
      .map((name) => path.join(folder, name));
    const run = analyze("verify", "--man=no", ...units);
    assert.equal(run.status, 0, run.stderr);
    /* it also names faults of the machine's own units */
    assert.doesNotMatch(run.stderr, /clew/);
    const security = analyze("security", "--no-pager", "--offline=yes",
      "--threshold=20", units[0]); /* of 100; 96 is no protection at all */
    assert.equal(security.status, 0, security.stdout);
  });

  test("a database that is down longer than a few tries take does not end it", () => {
    const [head] = fs.readFileSync(path.join(packaging, "clew.service"), "utf8").split("[Service]");
    assert.match(head, /^StartLimitIntervalSec=0$/m); /* five in ten seconds without it */
  });

  test("the user of the service can be made", () => {
    const user = /^User=(.*)$/m.exec(
      fs.readFileSync(path.join(packaging, "clew.service"), "utf8"))[1];
    const made = execFileSync("systemd-sysusers",
      ["--dry-run", path.join(packaging, "clew.sysusers")],
      { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    assert.equal(typeof made, "string"); /* it did not fail */
    assert.match(fs.readFileSync(path.join(packaging, "clew.sysusers"), "utf8"),
      new RegExp(`^u ${user} `, "m"));
  });

  test("it starts with the first connection", async () => {
    const data = tempFolder();
    const port = await freePort();
    const manager = spawn("systemd-socket-activate",
      ["-l", `127.0.0.1:${port}`, bin, "serve", "--data", data],
      { env: cleanEnv(data), stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((resolve) => manager.on("exit", resolve));
    let log = "";
    await new Promise((resolve, reject) => {
      manager.on("error", reject);
      manager.stderr.on("data", (part) => {
        log += part;
        if (log.includes("Listening on")) resolve();
      });
    });
    assert.ok(!fs.existsSync(path.join(data, "clew.db")), "not started yet");
    isOk(await client(`http://127.0.0.1:${port}`).get("/healthz"));
    assert.ok(fs.existsSync(path.join(data, "clew.db")));
    manager.kill("SIGTERM"); /* it has become the program */
    assert.equal(await ended, 0, log);
  });
});
