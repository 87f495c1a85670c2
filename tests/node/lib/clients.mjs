/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.mjs - other people's programs, as their makers publish them.
 *
 * They are hundreds of megabytes, so they are no dependencies of the tests:
 * each is installed by name, once, beside the other packages. Where that is
 * not possible (no registry, no build for this machine) the reason comes back
 * instead, for the test to be skipped with.
 */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const store = path.join(here, "../node_modules/.clients");

/* { program } or { reason }. */
export function install(name, version, command) {
  const folder = path.join(store, `${name.replace("/", "+")}@${version}`);
  const program = path.join(folder, "node_modules/.bin", command);
  try {
    if (!fs.existsSync(program)) {
      fs.mkdirSync(store, { recursive: true });
      const fresh = fs.mkdtempSync(path.join(store, "new-"));
      try {
        execFileSync("npm", ["install", "--prefix", fresh, "--no-audit", "--no-fund",
          `${name}@${version}`], { stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
        fs.rmSync(folder, { recursive: true, force: true });
        fs.renameSync(fresh, folder);
      } finally {
        fs.rmSync(fresh, { recursive: true, force: true });
      }
    }
    execFileSync(program, ["--version"], { stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
    return { program };
  } catch (error) {
    const why = /^npm error .*$/m.exec(String(error.stderr ?? ""))?.[0] ?? error.message;
    return { reason: `${name}@${version} is not available here: ${why}` };
  }
}

/* Run it to its end; nothing of this machine's settings reaches it. */
export function runClient(program, args, { cwd, home, env = {}, input = "" }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd, env: { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", ...env },
      timeout: 600_000,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part) => { stdout += part; });
    child.stderr.on("data", (part) => { stderr += part; });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve({ stdout, stderr })
      : reject(new Error(`${path.basename(program)} ended with ${code}: ${stdout}${stderr}`))));
    child.stdin.end(input);
  });
}
