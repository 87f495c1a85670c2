/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.test.mjs - clew setup in a home folder of its own: the entry is added
 * and taken out again, and nothing else in the file changes by a byte.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { onEachBackend } from "./lib/backends.mjs";
import { bin, cleanEnv, tempFolder } from "./lib/server.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { until } from "./lib/wait.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const skill = fs.readFileSync(path.join(here, "../../skills/brain/SKILL.md"), "utf8");
let home;
let env;

before(() => {
  home = tempFolder();
  env = cleanEnv(home);
});
after(() => fs.rmSync(home, { recursive: true, force: true }));

const setup = async (...words) =>
  (await promisify(execFile)(bin, ["setup", ...words], { env })).stdout;
const inHome = (name) => path.join(home, name);
const read = (name) => fs.readFileSync(inHome(name), "utf8");
function write(name, text) {
  fs.mkdirSync(path.dirname(inHome(name)), { recursive: true });
  fs.writeFileSync(inHome(name), text);
}

const clients = {
  "claude-code": {
    file: ".claude.json", skill: ".claude/skills/brain/SKILL.md",
    others: ['{}', '{"a":1}', '{\n  "numStartups": 12.50,\n  "mcpServers": {}\n}\n',
      '{"mcpServers":{"x":{"command":"x","args":["{","\\"}"]}},"z":[1, 2]}',
      '{\n\t"mcpServers": {\n\t\t"a": {"command": "a"},\n\t\t"b": {"command": "b"}\n\t}\n}'],
    entry: (text) => JSON.parse(text).mcpServers.clew,
  },
  cursor: {
    file: ".cursor/mcp.json", skill: ".cursor/skills/brain/SKILL.md",
    others: ['{"mcpServers":{"x":{"url":"https://x.example"}}}'],
    entry: (text) => JSON.parse(text).mcpServers.clew,
  },
  opencode: {
    file: ".config/opencode/opencode.json", skill: ".config/opencode/skills/brain/SKILL.md",
    others: ['{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n    "x": {"type":"remote"}\n  }\n}\n'],
    entry: (text) => {
      const { command, enabled, type } = JSON.parse(text).mcp.clew;
      assert.equal(enabled, true);
      assert.equal(type, "local");
      return { command: command[0], args: command.slice(1) };
    },
  },
  codex: {
    file: ".codex/config.toml", skill: ".codex/skills/brain/SKILL.md",
    others: ["", 'model = "m"', 'model = "m"\n\n[mcp_servers.x]\ncommand = "x"\n\n[profiles.p]\na = 1\n'],
    entry: (text) => {
      const block = /\[mcp_servers\.clew\]\ncommand = (.*)\nargs = (.*)\n/.exec(text);
      return { command: JSON.parse(block[1]), args: JSON.parse(block[2]) };
    },
  },
};

/* Every other entry, as the client would read it. */
function without(client, text) {
  if (client === "codex") return text.replace(/\n*\[mcp_servers\.clew\]\n(.+\n)*/, "\n").trim();
  const json = JSON.parse(text);
  const group = client === "opencode" ? "mcp" : "mcpServers";
  if (json[group]) delete json[group].clew;
  if (json[group] && Object.keys(json[group]).length === 0) delete json[group];
  return json;
}

for (const [client, its] of Object.entries(clients)) {
  test(`${client}: nothing is written without a yes`, async () => {
    await assert.rejects(setup(client), (error) => {
      assert.equal(error.code, 2);
      assert.match(error.stdout, /\+ .*clew/);
      return true;
    });
    assert.ok(!fs.existsSync(inHome(its.file)));
    assert.ok(!fs.existsSync(inHome(its.skill)));
  });

  test(`${client}: a new file gets the entry and the skill`, async () => {
    await setup(client, "--yes", "--url", "http://127.0.0.1:1", "--user", "ada");
    const entry = its.entry(read(its.file));
    assert.equal(entry.command, fs.realpathSync(bin));
    assert.deepEqual(entry.args, ["mcp", "--url", "http://127.0.0.1:1", "--user", "ada"]);
    assert.equal(read(its.skill), skill);
    assert.equal(await setup(client, "--yes", "--url", "http://127.0.0.1:1", "--user", "ada"),
      "nothing to change\n");
    await setup(client, "--undo", "--yes");
    assert.ok(!fs.existsSync(inHome(its.skill)));
    assert.ok(!read(its.file).includes("clew"));
    fs.rmSync(inHome(its.file));
  });

  test(`${client}: other entries stay, and --undo restores them`, async () => {
    for (const before of its.others) {
      write(its.file, before);
      await setup(client, "--yes");
      const after = read(its.file);
      assert.deepEqual(its.entry(after).args, ["mcp"]);
      assert.deepEqual(without(client, after), without(client, before || (client === "codex" ? "" : "{}")));
      await setup(client, "--yes", "--url", "http://127.0.0.1:2");
      assert.deepEqual(its.entry(read(its.file)).args, ["mcp", "--url", "http://127.0.0.1:2"]);
      await setup(client, "--undo", "--yes");
      assert.deepEqual(without(client, read(its.file)), without(client, before || (client === "codex" ? "" : "{}")));
      fs.rmSync(inHome(its.file));
    }
  });
}

test("an entry between others is changed without touching a byte of them", async () => {
  const text = '{ "mcpServers" : {\n "a":{"n":1.50}, "clew":{"old":true} ,"b" : [ 1 ]} , "k":"\\u00e9"}';
  write(".claude.json", text);
  await setup("claude-code", "--yes");
  const [head, tail] = text.split('{"old":true}');
  assert.ok(read(".claude.json").startsWith(head));
  assert.ok(read(".claude.json").endsWith(tail));
  await setup("claude-code", "--undo", "--yes");
  assert.equal(read(".claude.json"), text.replace(', "clew":{"old":true}', ""));
});

test("a file that cannot be read is left alone", async () => {
  for (const text of ["// comment\n{}", "[]", '{"mcpServers":[]}', "{"]) {
    write(".claude.json", text);
    await assert.rejects(setup("claude-code", "--yes"));
    assert.equal(read(".claude.json"), text);
  }
  fs.rmSync(inHome(".claude.json"));
});

test("mode and symbolic links are kept", async () => {
  write("dotfiles/claude.json", "{}");
  fs.chmodSync(inHome("dotfiles/claude.json"), 0o640);
  fs.symlinkSync(inHome("dotfiles/claude.json"), inHome(".claude.json"));
  await setup("claude-code", "--yes");
  assert.ok(fs.lstatSync(inHome(".claude.json")).isSymbolicLink());
  assert.equal(fs.statSync(inHome("dotfiles/claude.json")).mode & 0o777, 0o640);
  assert.match(read("dotfiles/claude.json"), /clew/);
  fs.rmSync(inHome(".claude.json"));
});

test("a file that nobody may write is left alone", async () => {
  write(".claude.json", '{"mcpServers":{"x":{"command":"x"}}}');
  fs.chmodSync(inHome(".claude.json"), 0o444);
  const before = read(".claude.json");
  await assert.rejects(setup("claude-code", "--yes"), (error) => /read-only/.test(error.stderr));
  assert.equal(read(".claude.json"), before);
  assert.equal(fs.statSync(inHome(".claude.json")).mode & 0o777, 0o444);
  fs.rmSync(inHome(".claude.json"));
});

test("a link to nothing is not replaced by a file", async () => {
  fs.symlinkSync(inHome("gone/claude.json"), inHome(".claude.json"));
  await assert.rejects(setup("claude-code", "--yes"), (error) => /link to nothing/.test(error.stderr));
  assert.ok(fs.lstatSync(inHome(".claude.json")).isSymbolicLink());
  fs.rmSync(inHome(".claude.json"));
});

test("a folder in place of the file is left alone", async () => {
  fs.mkdirSync(inHome(".claude.json"));
  await assert.rejects(setup("claude-code", "--yes"));
  assert.ok(fs.statSync(inHome(".claude.json")).isDirectory());
  fs.rmdirSync(inHome(".claude.json"));
});

test("a brain skill that is not clew's stays, before and after --undo", async () => {
  const theirs = "---\nname: brain\n---\nAsk my notes with `notes find`.\n";
  write(".claude/skills/brain/SKILL.md", theirs);
  await setup("claude-code", "--yes");
  assert.match(read(".claude.json"), /clew/, "the server is connected all the same");
  assert.equal(read(".claude/skills/brain/SKILL.md"), theirs);
  await setup("claude-code", "--undo", "--yes");
  assert.equal(read(".claude/skills/brain/SKILL.md"), theirs);
  fs.rmSync(inHome(".claude"), { recursive: true });
  fs.rmSync(inHome(".claude.json"));
});

test("setup twice and undo twice change nothing the second time", async () => {
  for (const [client, its] of Object.entries(clients)) {
    write(its.file, its.others[0]);
    await setup(client, "--yes");
    const once = read(its.file);
    assert.equal(await setup(client, "--yes"), "nothing to change\n", client);
    assert.equal(read(its.file), once);
    await setup(client, "--undo", "--yes");
    const undone = read(its.file);
    assert.equal(await setup(client, "--undo", "--yes"), "nothing to change\n", client);
    assert.equal(read(its.file), undone);
    fs.rmSync(inHome(its.file));
  }
});

test("a skill changed by hand is not removed", async () => {
  await setup("claude-code", "--yes");
  write(".claude/skills/brain/SKILL.md", `${skill}\nmine\n`);
  await setup("claude-code", "--undo", "--yes");
  assert.match(read(".claude/skills/brain/SKILL.md"), /mine/);
});

test("what setup wrote starts a server that works", async () => {
  const data = inHome("data");
  fs.mkdirSync(data);
  await setup("cursor", "--yes", "--data", data);
  const { command, args } = clients.cursor.entry(read(".cursor/mcp.json"));
  const mcp = new Client({ name: "cursor", version: "1" });
  await mcp.connect(new StdioClientTransport({ command, args, env }));
  assert.equal((await mcp.listTools()).tools.length, 8);
  await mcp.close();
});

test("an unknown client is named", async () => {
  await assert.rejects(setup("emacs"), (error) => /emacs/.test(error.stderr) && error.code === 2);
});

const more = {
  vscode: [".config/Code/User/mcp.json", "servers", { type: "stdio" }],
  windsurf: [".codeium/windsurf/mcp_config.json", "mcpServers", {}],
  zed: [".config/zed/settings.json", "context_servers", { source: "custom" }],
  "gemini-cli": [".gemini/settings.json", "mcpServers", {}],
  "qwen-code": [".qwen/settings.json", "mcpServers", {}],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", "mcpServers", {}],
  continue: [".continue/mcpServers/clew.json", "mcpServers", {}],
};
for (const [client, [file, group, extra]] of Object.entries(more)) {
  test(`${client}: connected beside what is there, found, tried and taken out`, async () => {
    const before = `{"theme": "dark", "${group}": {"x": {"command": "x"}}}`;
    write(file, before);
    await setup(client, "--yes");
    const { [group]: entries, theme } = JSON.parse(read(file));
    assert.equal(theme, "dark");
    assert.deepEqual(entries.clew, { command: fs.realpathSync(bin), args: ["mcp"], ...extra });
    assert.match(await setup("--list"), new RegExp(`^${client} +yes +~/${file}$`, "m"));
    assert.match(await setup(client, "--check"), /is connected: .* answers\nlast call for memory: none seen from /);
    await setup(client, "--undo", "--yes");
    assert.equal(read(file), before);
    await assert.rejects(setup(client, "--check"), /is not connected/);
  });
}

onEachBackend("--check", (open) => {
  test("names the last call of the client that is asked about, and of no other", async () => {
    const upstream = await startUpstream();
    const server = await open({ args: ["--upstream", `anthropic=${upstream.url}`] });
    const check = (client, ...words) => setup(client, "--check", ...words);
    const use = async (name) => {
      const client = new Client({ name, version: "1" });
      const { command, args } = JSON.parse(read(".cursor/mcp.json")).mcpServers.clew;
      await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
      const { isError } = await client.callTool({ name: "recall", arguments: { query: "tea" } });
      assert.ok(!isError);
      await client.close();
    };
    for (const client of ["cursor", "claude-code"]) await setup(client, "--yes", "--url", server.url);
    assert.match(await check("cursor"), /answers\nlast call for memory: none seen from cursor\n$/);
    await use("codex-mcp-client");
    assert.match(await check("cursor"),
      /none seen from cursor\nprograms that did call: codex-mcp-client \(just now\)\n$/);
    await use("cursor-vscode");
    assert.match(await check("cursor"), /last call for memory: just now, as "cursor-vscode"\n$/);
    assert.match(await check("claude-code"), /for memory: none seen from claude-code\nlast call through the proxy: none seen from claude-code\n/);
    await fetch(`${server.url}/v1/messages`, { method: "POST",
      headers: { "user-agent": "claude-cli/2.1.0 (external, cli)", "content-type": "application/json" },
      body: JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }) });
    await until("the call is noted", async () =>
      /last call through the proxy: just now, as "claude-cli"\n$/.test(await check("claude-code")));
    const told = JSON.parse(await check("claude-code", "--json"));
    assert.equal(told.last_call, null);
    assert.equal(told.last_proxy_call.name, "claude-cli");
    /* over HTTP the session carries the name */
    const remote = new Client({ name: "claude-code", version: "1" });
    await remote.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    await remote.callTool({ name: "recall", arguments: { query: "tea" } });
    await remote.close();
    assert.match(await check("claude-code"), /last call for memory: just now, as "claude-code"\n/);
    await upstream.stop();
    for (const name of [".cursor", ".claude", ".claude.json"]) {
      fs.rmSync(inHome(name), { recursive: true });
    }
  });
});

test("--check finds a program that does not answer", async () => {
  write(".cursor/mcp.json", '{"mcpServers":{"clew":{"command":"/bin/true","args":[]}}}');
  await assert.rejects(setup("cursor", "--check"), (error) =>
    error.code === 5 && /does not answer/.test(error.stderr));
  write(".cursor/mcp.json", '{"mcpServers":{"clew":{"command":"/gone/clew","args":["mcp"]}}}');
  await assert.rejects(setup("cursor", "--check"), /does not answer/);
  assert.match(await setup("--list"), /^cursor +its program is gone/m);
  fs.rmSync(inHome(".cursor"), { recursive: true });
});

test("--proxy sets Claude Code's base URL, and --undo takes only ours", async () => {
  write(".claude/settings.json", '{"env": {"X": "1"}, "model": "opus"}');
  await setup("claude-code", "--yes", "--proxy", "http://127.0.0.1:2539");
  assert.deepEqual(JSON.parse(read(".claude/settings.json")),
    { env: { X: "1", ANTHROPIC_BASE_URL: "http://127.0.0.1:2539" }, model: "opus" });
  await setup("claude-code", "--undo", "--yes");
  assert.equal(read(".claude/settings.json"), '{"env": {"X": "1"}, "model": "opus"}');
  const other = '{"env": {"ANTHROPIC_BASE_URL": "https://other.example"}}';
  write(".claude/settings.json", other);
  await setup("claude-code", "--yes");
  await setup("claude-code", "--undo", "--yes");
  assert.equal(read(".claude/settings.json"), other);
  await assert.rejects(setup("cursor", "--yes", "--proxy", "http://x"), /--proxy: cursor has no file/);
  await assert.rejects(setup("emacs"), /none of claude-code, .*continue/);
  await assert.rejects(setup(), /name a client/);
});

test("--undo takes out the base URL of the server that the entry names", async () => {
  write(".claude/settings.json", '{"model": "opus"}');
  await setup("claude-code", "--yes", "--url", "http://127.0.0.1:7777", "--proxy", "http://127.0.0.1:7777");
  assert.match(read(".claude/settings.json"), /7777/);
  await setup("claude-code", "--undo", "--yes");
  assert.ok(!/7777/.test(read(".claude/settings.json")));
});

const url = "http://127.0.0.1:2539";
test("--proxy sets Codex's base URL above its tables, and --undo takes it out", async () => {
  for (const before of ["", 'model = "m"\n\n[profiles.p]\nopenai_base_url = "https://p.example/v1"\n']) {
    write(".codex/config.toml", before);
    await setup("codex", "--yes", "--proxy", url);
    const set = read(".codex/config.toml");
    assert.equal(set.split("[")[0].match(/^openai_base_url = "(.*)"$/m)[1], `${url}/v1`);
    assert.match(set, /^\[mcp_servers\.clew\]$/m);
    assert.equal(await setup("codex", "--yes", "--proxy", url), "nothing to change\n");
    await setup("codex", "--yes", "--proxy", "http://127.0.0.1:3");
    assert.equal(read(".codex/config.toml"), set.replace("2539", "3"));
    await setup("codex", "--undo", "--yes", "--proxy", "http://127.0.0.1:3");
    assert.equal(read(".codex/config.toml").trim(), before.trim());
  }
  const theirs = 'openai_base_url = "https://other.example/v1"\n';
  write(".codex/config.toml", theirs);
  await setup("codex", "--yes");
  await setup("codex", "--undo", "--yes");
  assert.equal(read(".codex/config.toml").trim(), theirs.trim());
});

test("--proxy sets the providers of OpenCode and Qwen Code's variable, beside what is there", async () => {
  const file = ".config/opencode/opencode.json";
  write(file, '{"theme": "x", "provider": {"local": {"npm": "y"}}}');
  await setup("opencode", "--yes", "--proxy", url);
  const entry = { options: { baseURL: `${url}/v1` } };
  assert.deepEqual(JSON.parse(read(file)).provider, { local: { npm: "y" }, anthropic: entry, openai: entry });
  await setup("opencode", "--undo", "--yes");
  assert.deepEqual(JSON.parse(read(file)), { theme: "x", provider: { local: { npm: "y" } }, mcp: {} });
  const theirs = '{"provider": {"openai": {"options": {"apiKey": "k"}}}}';
  write(file, theirs);
  await assert.rejects(setup("opencode", "--yes", "--proxy", url), (error) => /"openai" has settings of its own/.test(error.stderr));
  assert.equal(read(file), theirs);
  write(".qwen/settings.json", '{"env": {"X": "1"}}');
  await setup("qwen-code", "--yes", "--proxy", url);
  assert.deepEqual(JSON.parse(read(".qwen/settings.json")).env, { X: "1", OPENAI_BASE_URL: `${url}/v1` });
  await setup("qwen-code", "--undo", "--yes");
  assert.deepEqual(JSON.parse(read(".qwen/settings.json")).env, { X: "1" });
});
