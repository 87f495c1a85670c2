/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quickstart.test.mjs - docs/quickstart.md as a stranger types it: every command,
 * at most five a section, and what it promises below them.
 *
 * What differs: the server has a port of its own, which is put in the place of
 * 2539; a scripted provider answers; packages from the registry are those of
 * these tests ("npm install" is not run), and Claude Code is only tried where
 * clients.test.mjs has installed it.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { bin, startServer, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const source = path.join(here, "../..");
const modules = path.join(here, "node_modules");

/* [{ title, commands, promised }] */
const sections = fs.readFileSync(path.join(source, "docs/quickstart.md"), "utf8").split(/^## /m).slice(1)
  .map((text) => ({
    title: text.split("\n")[0],
    commands: [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap((one) => one[1].trim().split("\n")),
    promised: [...text.matchAll(/^```text\n([\s\S]*?)^```$/gm)].flatMap((one) => one[1].trim().split("\n")),
  }));

function claudeFolder() {
  const store = path.join(modules, ".clients");
  const [found] = fs.existsSync(store) ? fs.readdirSync(store).filter((name) => name.startsWith("@anthropic-ai+claude-code@")) : [];
  return found && path.join(store, found, "node_modules/.bin");
}

/* A call is captured after its answer; nobody types the next as fast as a test. */
const captured = (line) => (/openai\.mjs|^claude /.test(line) ? [
  `until curl -s "$CLEW_URL/api/v1/requests" | grep -qF '${/"(.{12})/.exec(line)[1]}'; do :; done`] : []);

describe("the quickstart", () => {
  let folder;
  let home;
  let server;
  let upstream;
  before(async () => {
    upstream = await startUpstream();
    server = await startServer({ args: ["--upstream", `openai=${upstream.url}`, "--upstream", `anthropic=${upstream.url}`] });
    home = tempFolder();
    /* below node_modules, where the packages are found; nothing is written into the source */
    folder = fs.mkdtempSync(path.join(modules, ".quickstart-"));
    fs.symlinkSync(path.dirname(path.resolve(bin)), path.join(folder, "build"));
    fs.cpSync(path.join(source, "clients"), path.join(folder, "clients"), { recursive: true,
      filter: (name) => !/\/(node_modules|dist|__pycache__)$/.test(name) });
    fs.cpSync(path.join(source, "docs/examples"), path.join(folder, "docs/examples"), { recursive: true });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test("has a path for everyone", () => {
    assert.deepEqual(sections.map((one) => one.title),
      ["Start", "HTTP", "Claude Code", "The OpenAI SDK", "MCP", "Python", "TypeScript", "Your own server"]);
  });

  for (const { title, commands, promised } of sections.slice(1)) {
    const skip = title === "Claude Code" && !claudeFolder() ? "Claude Code is not installed (clients.test.mjs)" : false;
    test(title, { skip }, async () => {
      assert.ok(commands.length > 0 && commands.length <= 5, "at most five commands");
      assert.ok(promised.length > 0);
      const lines = commands.filter((line) => !line.startsWith("npm install "))
        .map((line) => line.replaceAll("http://127.0.0.1:2539", server.url))
        .flatMap((line) => [line, ...captured(line)]);
      const { error, text } = await new Promise((resolve) => {
        const env = { PATH: `${claudeFolder() ?? ""}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8",
          CLEW_URL: server.url, OPENAI_API_KEY: "sk-test-0123456789", ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", npm_config_update_notifier: "false" };
        const child = execFile("bash", ["-ec", lines.join("\n")], { cwd: folder, env, timeout: 600_000 },
          (failure, stdout, stderr) => resolve({ error: failure, text: stdout + stderr }));
        child.stdin.end();
      });
      assert.equal(error, null, text);
      for (const line of promised) assert.ok(text.includes(line), `${line} is not in:\n${text}`);
    });
  }

  test("what was said to a provider came along with the next question", () => {
    const asked = upstream.requests.filter((one) => /chat\/completions/.test(one.url)).at(-1);
    assert.match(JSON.stringify(asked.body), /clew-context.*platform 6/);
  });
});
