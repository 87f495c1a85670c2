/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client-python.test.mjs - clients/python by its own tests (python3 -m unittest),
 * each counted as one of ours.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin } from "./lib/server.mjs";

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../clients/python");

test("the Python client", async (t) => {
  const { code, text } = await new Promise((resolve) => {
    execFile("python3", ["-B", "-W", "error::ResourceWarning", "-m", "unittest", "-v"],
      { cwd: folder, timeout: 800_000, env: { PATH: process.env.PATH, HOME: process.env.HOME, CLEW_BIN: path.resolve(bin) } },
      (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, text: stdout + stderr }));
  });
  /* "test_x (tests.test_client.TestClew.test_x) ... ok" */
  const results = [...text.matchAll(/^test_\w+ \(tests\.([\w.]+)\) \.\.\. (.*)$/gm)];
  assert.ok(results.length > 30, text);
  for (const [, name, how] of results) {
    const skip = /^skipped '(.*)'$/.exec(how)?.[1] ?? false;
    await t.test(name.replaceAll("_", " "), { skip }, () => {
      const failed = new RegExp(`^(FAIL|ERROR): \\w+ \\(tests\\.${name}\\)`, "m");
      assert.ok(!failed.test(text), text.slice(text.search(failed)));
    });
  }
  assert.equal(code, 0, text);
});
