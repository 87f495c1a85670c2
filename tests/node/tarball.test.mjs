/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tarball.test.mjs - what `make tarball` makes runs in a root that has the C
 * library and nothing else: no shell, no package, no other library.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { runIn, serveIn, skip } from "./lib/bare-root.mjs";
import { bin, client, tempFolder } from "./lib/server.mjs";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const build = path.dirname(path.resolve(bin));

describe("the tarball", () => {
  let root;
  let names;
  before(() => {
    assert.ok(fs.existsSync(path.join(build, "clew-portable")), "clew-portable is not built (make api-tests)");
    const said = execFileSync(path.join(source, "tools/make-tarball"), [build],
      { encoding: "utf8", env: { ...process.env, TARBALL_LEVEL: "1" } });
    console.log(said.trim().replace(build, "build"));
    root = tempFolder();
    for (const name of ["opt", "tmp", "proc", "dev"]) fs.mkdirSync(path.join(root, name));
    execFileSync("tar", ["-xzf", said.split(": ")[0], "-C", path.join(root, "opt")]);
    const [unpacked] = fs.readdirSync(path.join(root, "opt"));
    /* it may lie anywhere */
    fs.renameSync(path.join(root, "opt", unpacked), path.join(root, "opt/moved away"));
    names = fs.readdirSync(path.join(root, "opt/moved away/lib/clew"));
    /* the C library, by the names the program asks for */
    for (const line of execFileSync("ldd", [path.join(build, "clew-portable")], { encoding: "utf8" }).split("\n")) {
      const file = /(\/\S+) \(/.exec(line)?.[1];
      if (!file || names.includes(path.basename(file))) continue;
      fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      fs.copyFileSync(fs.realpathSync(file), path.join(root, file));
      fs.chmodSync(path.join(root, file), 0o755);
    }
  });
  after(() => fs.rmSync(root, { recursive: true, force: true }));

  const clew = "/opt/moved away/bin/clew";
  const env = { PATH: process.env.PATH, HOME: "/tmp", LANG: "C.UTF-8" };
  const inside = (...args) => runIn(root, [clew, ...args], { env });

  test("has every library but the C library's, and their terms", () => {
    assert.ok(names.includes("libsqlite3.so.0") && names.includes("libpq.so.5"));
    assert.ok(!names.some((name) => /^(libc|libm|ld-linux.*)\.so/.test(name)));
    const terms = fs.readdirSync(path.join(root, "opt/moved away/share/licenses"));
    assert.ok(terms.length > 20 && terms.some((name) => name.startsWith("libsqlite3")));
    for (const name of ["README", "LICENSE", "share/man/man1/clew.1", "share/clew.yaml"]) {
      assert.ok(fs.existsSync(path.join(root, "opt/moved away", name)), name);
    }
  });

  test("remembers and finds in a bare root", { skip }, () => {
    assert.match(inside("--version"), /\d+\.\d+\.\d+/);
    inside("turn", "--user", "ada", "The spare key is under the blue pot.", "--data", "/tmp/data");
    assert.match(inside("recall", "--user", "ada", "where is the key?", "--data", "/tmp/data"), /blue pot/);
  });

  test("serves in a bare root", { skip }, async () => {
    const server = await serveIn(root, [clew, "serve", "--data", "/tmp/data", "--listen", "127.0.0.1:0"], { env });
    try {
      const { body } = await client(server.url).post("/api/v1/recall", { query: "where is the key?" });
      assert.match(body.items[0].text, /blue pot/);
      assert.match((await client(server.url).get("/", { accept: "text/html" })).text, /<html/);
    } finally {
      await server.stop();
    }
  });
});
