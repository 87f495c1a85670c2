/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.test.mjs - the documentation is true: commands in it print what it says, its
 * calls and options exist, and on the pages `make site` makes no link is broken.
 *
 * A block marked "console" is run. In what it prints "…" stands for anything (alone
 * on a line: for any lines), N for a number, and a word in capitals for an id, the
 * same one wherever it stands again.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin, cleanEnv, startServer, tempFolder } from "./lib/server.mjs";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const read = (name) => fs.readFileSync(path.join(source, name), "utf8");
const blocks = (text) => [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
  .map(([, kind, body]) => ({ kind, body }));

/* --- commands --- */

const ids = /\b(CHAT|FORK|MEMORY|NEWER|TURN|THOUGHT)\b/g;

/* Whether `said` is what the page promises; ids that are new go into `known`. */
function isSaid(promised, said, known, line) {
  const names = [];
  const pattern = promised.trimEnd().split("\n").map((text) => (text === "…" ? "(?:[^\\n]*\\n)*?"
    : `${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[^\\n]*").replace(/\bN\b/g, "\\d+")
      .replace(ids, (name) => {
        names.push(name);
        return "([0-9a-f]{8}-[0-9a-f]{4}[0-9a-f-]*)";
      })}\\n`)).join("");
  const found = new RegExp(`^${pattern}$`).exec(`${said.trimEnd()}\n`);
  assert.ok(found, `${line}\npromised:\n${promised}\nsaid:\n${said}`);
  names.forEach((name, i) => {
    const id = found[i + 1];
    known[name] ??= id;
    assert.ok(id.startsWith(known[name]) || known[name].startsWith(id), `${name} is ${known[name]}, not ${id}`);
    if (id.length > known[name].length) known[name] = id;
  });
}

function runs(page, env) {
  const known = {};
  const folder = tempFolder();
  try {
    fs.symlinkSync(path.resolve(bin), path.join(folder, "clew"));
    const steps = blocks(read(page)).filter((one) => one.kind === "console")
      .flatMap((one) => one.body.split(/^\$ /m).slice(1));
    assert.ok(steps.length >= 5, `${steps.length} commands`);
    for (const step of steps) {
      const end = step.indexOf("\n");
      const line = step.slice(0, end).replace(ids, (name) => {
        assert.ok(known[name], `${name} is not known yet`);
        return known[name];
      });
      const run = spawnSync("bash", ["-c", `exec 2>&1; ${line}`], { cwd: folder, encoding: "utf8",
        env: { ...cleanEnv(folder), CLEW_DATA_DIR: path.join(folder, "data"), PATH: `${folder}:${process.env.PATH}`, ...env } });
      assert.equal(run.status, 0, `${line}\n${run.stdout}`);
      if (step.slice(end + 1).trim()) isSaid(step.slice(end + 1), run.stdout, known, line);
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe("the documentation", () => {
  for (const page of ["docs/concepts.md", "docs/recipes.md"]) {
    test(`${page} prints what it says`, () => runs(page));
  }

  test("docs/api.md answers what it says, and names calls that exist", async () => {
    const server = await startServer();
    try {
      runs("docs/api.md", { CLEW_URL: server.url });
      const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
      const calls = [...read("docs/api.md").matchAll(/`(GET|POST|PATCH|DELETE) (\/[^`\s?]*)`/g)];
      assert.ok(calls.length > 20);
      for (const [, method, target] of calls) assert.ok(paths[target]?.[method.toLowerCase()], `${method} ${target}`);
    } finally {
      await server.stop();
    }
  });

  test("a page that promised something else would be noticed", () => {
    const known = { CHAT: "0199c1d2-7a00" };
    isSaid("kept in CHAT\n…\nN rows", "kept in 0199c1d2-7a00-7000\none\ntwo\n17 rows", known, "");
    assert.equal(known.CHAT, "0199c1d2-7a00-7000");
    for (const [promised, said] of [["kept", "left"], ["a\n…\nb", "a\nc"], ["CHAT", "0199c1d3-7a00"], ["N", "one"]]) {
      assert.throws(() => isSaid(promised, said, { ...known }, ""), `${promised} / ${said}`);
    }
  });

  /* Every command and option that any page names, also where it cannot be run here. */
  test("names commands and options that exist", () => {
    const help = (...words) => spawnSync(bin, ["help", ...words], { encoding: "utf8" });
    const commands = new Set([...help().stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((one) => one[1]));
    assert.ok(commands.size > 50);
    const texts = new Map();
    const pages = [...fs.readdirSync(path.join(source, "docs")).filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`), "README.md", "SECURITY.md"];
    let n = 0;
    for (const page of pages) {
      const text = read(page);
      const lines = [...blocks(text).filter(({ kind }) => ["", "sh", "console"].includes(kind)).flatMap(({ body }) => body.split("\n")),
        ...[...text.replace(/^```.*?^```$/gms, "").matchAll(/`([^`]+)`/g)].map((one) => one[1].replace(/\s+/g, " "))];
      for (const line of lines) {
        for (const [, rest] of line.matchAll(/(?:^|[\s(/])clew ((?:[a-z-]|--).*?)(?=$|[;|&#)])/g)) {
          const words = rest.trim().split(/\s+/);
          const own = [words.slice(0, 2).join(" "), words[0]].find((name) => commands.has(name));
          if (!own && !/^(?:\$|\/|^)\s*(?:sudo )?(?:build\/)?clew /.test(line)) continue; /* prose: a package called clew */
          assert.ok(own || words[0].startsWith("-") || words[0] === "help", `${page}: ${line}`);
          if (!own) continue;
          if (!texts.has(own)) texts.set(own, help(...own.split(" ")).stdout);
          for (const [, option] of rest.matchAll(/(?:^|\s)(--[a-z-]+)/g)) {
            assert.ok(new RegExp(`${option}\\b`).test(texts.get(own)), `${page}: clew ${own} has no ${option}: ${line}`);
          }
          n++;
        }
      }
    }
    assert.ok(n > 80, `${n} commands`);
  });
});

/* --- links --- */

describe("the site", () => {
  let folder;
  before(() => {
    folder = tempFolder();
    const said = execFileSync(path.join(source, "tools/make-site"), [folder], { encoding: "utf8" });
    console.log(said.trim().replace(folder, "build"));
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  const all = (from) => fs.readdirSync(from, { withFileTypes: true }).flatMap((one) =>
    (one.isDirectory() ? all(path.join(from, one.name)) : [path.join(from, one.name)]));
  const pages = () => all(path.join(folder, "site")).filter((file) => file.endsWith(".html"));

  test("has no broken link, and none to an odd place", () => {
    const texts = new Map(pages().map((file) => [file, fs.readFileSync(file, "utf8")]));
    assert.ok(texts.size > 30, `${texts.size} pages`);
    const broken = [];
    for (const [file, text] of texts) {
      for (const [, link] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^(https?|mailto):/.test(link)) {
          if (/^http:/.test(link) && !/^http:\/\/(127\.0\.0\.1|localhost)/.test(link)) broken.push(`${file}: ${link}`);
          continue;
        }
        const [, name, anchor] = /^([^#]*)(?:#(.*))?$/.exec(link);
        const to = name ? path.resolve(path.dirname(file), decodeURI(name)) : file;
        if (!fs.existsSync(to) || fs.statSync(to).isDirectory() || !to.startsWith(folder)) broken.push(`${file}: ${link}`);
        else if (anchor && !texts.get(to)?.includes(` id="${anchor}"`)) broken.push(`${file}: ${link} (no such heading)`);
      }
    }
    assert.deepEqual(broken.map((line) => line.replace(folder, "")), []);
  });

  test("has a start for everybody, one heading a page, and words for pictures", () => {
    const start = fs.readFileSync(path.join(folder, "site/docs/README.html"), "utf8");
    for (const anchor of ["claude-code", "the-openai-sdk", "mcp", "python", "typescript", "your-own-server"]) {
      assert.ok(start.includes(`quickstart.html#${anchor}"`), anchor);
    }
    for (const file of pages().filter((name) => !name.endsWith("site/index.html"))) {
      const text = fs.readFileSync(file, "utf8");
      assert.equal([...text.matchAll(/<h1 /g)].length, 1, file);
      for (const [image] of text.matchAll(/<img [^>]*>/g)) assert.match(image, /alt="[^"]{10,}/, file);
      assert.ok(!/<script/i.test(text), "no scripts");
    }
  });

  test("its pictures are well-formed", () => {
    for (const name of fs.readdirSync(path.join(source, "docs/pictures"))) {
      execFileSync("python3", ["-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", path.join(source, "docs/pictures", name)]);
    }
  });

  test("its comparison is dated and cites what it says of others", () => {
    const text = read("docs/comparison.md");
    assert.match(text, /Written in \w+ 20\d\d/);
    const sources = [...text.slice(text.indexOf("## Sources")).matchAll(/^(\d+)\. <https:/gm)].map((one) => one[1]);
    const cited = new Set([...text.slice(0, text.indexOf("## Sources")).matchAll(/\[(\d+)\](?!\()/g)].map((one) => one[1]));
    assert.deepEqual([...cited].sort((a, b) => a - b), sources);
    const rows = text.split("\n").filter((line) => /^\| (mem0|Zep|Letta|Hindsight|claude-mem) /.test(line));
    assert.equal(rows.length, 5);
    for (const row of rows) for (const cell of row.split("|").slice(2, 5)) assert.match(cell, /\[\d+\]/, cell);
  });
});
