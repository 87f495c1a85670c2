/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index-damage.test.mjs - an index file that a disk has zeroed, in part or
 * whole, is noticed when it is read and made again: nothing is missing from
 * answers, and nobody has to run a check.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";

import { isOk } from "./lib/check.mjs";
import { startServer, tempFolder } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const turns = 15000;
const args = ["--set", "capture.observe=false"];
const words = ["harbour", "lantern", "quarry", "meadow", "anvil", "thistle"];
const wanted = (i) => `zebra${i}`;

/* The segment files, largest first. */
function segments(data) {
  const found = [];
  const walk = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (entry.name.endsWith(".seg")) found.push({ file, size: fs.statSync(file).size });
    }
  };
  walk(data);
  return found.sort((a, b) => b.size - a.size);
}

/* From `from` on nothing but zeros, in place: a running server has it mapped. */
function zero({ file, size }, from) {
  const fd = fs.openSync(file, "r+");
  fs.writeSync(fd, Buffer.alloc(size - from), 0, size - from, from);
  fs.closeSync(fd);
}

async function fill(api) {
  for (let first = 0; first < turns; first += 500) {
    isOk(await api.post("/api/v1/turns", {
      turns: Array.from({ length: 500 }, (_, k) => ({ user_id: "u", role: "user",
        content: `${wanted(first + k)} ${words[k % 6]} ${words[(k * 7 + 3) % 6]} near the old town` })),
    }), 201);
  }
}

async function findsAll(api) {
  for (let i = 5; i < turns; i += turns / 12) {
    const { items } = isOk(await api.post("/api/v1/recall", { query: wanted(i), kinds: ["turn"], limit: 3 }));
    if (!items.some((item) => item.text.startsWith(`${wanted(i)} `))) return false;
  }
  return true;
}

describe("a zeroed index file", () => {
  test("is noticed when it is opened, however large, and while it is in use",
    { timeout: 600_000 }, async (t) => {
      const data = tempFolder();
      let server = await startServer({ data, args });
      t.after(() => server.stop());
      await fill(server.api());
      assert.ok(await findsAll(server.api()));
      await server.stop(); /* writes what is in memory */
      assert.ok(segments(data)[0].size > 5 << 20, "a file that was not checked when opened");
      zero(segments(data)[0], segments(data)[0].size >> 2);
      server = await startServer({ data, args });
      assert.ok(await findsAll(server.api()), "after a restart");
      await server.stop();

      server = await startServer({ data, args });
      assert.ok(await findsAll(server.api()));
      zero(segments(data)[0], 0); /* its head, too */
      assert.ok(await findsAll(server.api()), "at once");
      assert.equal(server.child.exitCode, null, server.log());
    });
});
