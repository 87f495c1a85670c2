/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typescript-client.mjs - clients/typescript, packed and installed as others do.
 *
 * `npm pack` builds it (tsc is strict), the tarball is unpacked into a folder of
 * its own below node_modules: there the frameworks are found.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = path.dirname(fileURLToPath(import.meta.url));
export const source = path.join(here, "../../../clients/typescript");
const run = promisify(execFile);

/* { folder, files, load(entry), remove() } */
export async function installClient() {
  const folder = fs.mkdtempSync(path.join(here, "../node_modules/.clew-client-"));
  const build = path.join(folder, "build");
  const place = path.join(folder, "node_modules/clew-client");
  for (const name of ["src", "package.json", "tsconfig.json", "README.md", "LICENSE"]) {
    fs.cpSync(path.join(source, name), path.join(build, name), { recursive: true });
  }
  const { stdout } = await run("npm", ["pack", "--json", "--silent"], { cwd: build })
    .catch((error) => { throw new Error(`npm pack: ${error.stdout}${error.stderr}`); });
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m)));
  fs.mkdirSync(place, { recursive: true });
  await run("tar", ["-xzf", path.join(build, packed.filename), "-C", place, "--strip-components=1"]);
  fs.cpSync(path.join(source, "examples"), path.join(folder, "examples"), { recursive: true });
  return {
    folder,
    files: packed.files.map((file) => file.path),
    load: (entry) => import(path.join(place, `dist/${entry}.js`)),
    example: (name, env) => run(process.execPath, [path.join(folder, "examples", name)],
      { env: { PATH: process.env.PATH, ...env }, timeout: 600_000 }),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}
