/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare-root.mjs - run a program in a root folder of its own: as root, or as one
 * in a name space of our own. It has /proc and /dev, which every system has, and
 * what is asked for; everything mounted is gone with the program.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";

const ways = [["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]];
const basic = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && ';
const go = `${basic}exec chroot "$0" "$@"`;
const way = ways.find(([program, ...more]) =>
  spawnSync(program, [...more, "sh", "-c", go, "/", "/bin/true"]).status === 0);

export const skip = way ? false : "no name spaces of one's own here";
export const isRoot = process.getuid() === 0;

/*
 * How to run `line` in `root`: [program, arguments]. Options: readOnly (the root
 * can be written to nowhere but in `binds`, { "/var/lib/x": folder here }, and in
 * a /tmp of its own), user ("uid:gid", for root only).
 */
export function inRoot(root, line, { readOnly = false, binds = {}, user } = {}) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const steps = readOnly
    ? ['mount --bind "$0" "$0"', 'mount -o remount,bind,ro "$0"', 'mount -t tmpfs tmpfs "$0/tmp"'] : [];
  for (const [there, here] of Object.entries(binds)) steps.push(`mount --bind ${quote(here)} "$0"${quote(there)}`);
  const as = user && isRoot ? `--userspec=${user}` : "";
  const script = `${steps.map((step) => `${step} && `).join("")}${basic}exec chroot ${as} "$0" "$@"`;
  return [way[0], [...way.slice(1), "sh", "-c", script, root, ...line]];
}

export function runIn(root, line, options = {}) {
  return execFileSync(...inRoot(root, line, options), { encoding: "utf8", env: options.env });
}

/* Serve in it; { url, log(), stop() } once it listens. */
export async function serveIn(root, line, options = {}) {
  const child = spawn(...inRoot(root, line, options), { env: options.env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => { child.on("exit", (code, signal) => resolve({ code, signal })); });
  let log = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (part) => {
      log += part;
      const found = /^listening on (\S+)$/m.exec(log);
      if (found) resolve(found[1]);
    });
    ended.then(() => reject(new Error(log)));
  });
  return {
    url,
    log: () => log,
    stop() {
      child.kill();
      return ended;
    },
  };
}
