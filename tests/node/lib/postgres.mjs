/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.mjs - a private PostgreSQL for the length of a test file.
 *
 * Lives in a temporary folder and is reached through a socket in it. It
 * refuses to run as root, so root starts it as "postgres" or "nobody".
 * Missing binaries are a failure, not a reason to skip.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

function binaries() {
  const root = "/usr/lib/postgresql";
  const versions = fs.existsSync(root) ? fs.readdirSync(root) : [];
  const newest = versions.map(Number).filter(Boolean).sort((a, b) => b - a)[0];
  if (!newest) throw new Error("PostgreSQL is not installed (tools/setup test)");
  return path.join(root, String(newest), "bin");
}

/* Who runs it: this user, or for root an ordinary one. */
function ordinaryUser() {
  if (process.getuid() !== 0) return {};
  for (const line of fs.readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name === "postgres") return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}

export async function startPostgres() {
  const bin = binaries();
  const user = ordinaryUser();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "clew-pg-"));
  if (user.uid !== undefined) fs.chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder, stdio: "ignore" };
  execFileSync(
    path.join(bin, "initdb"),
    ["-D", `${folder}/data`, "-A", "trust", "-U", "admin", "-E", "UTF8",
      "--no-locale", "--no-sync"], options);
  const child = spawn(
    path.join(bin, "postgres"),
    ["-D", `${folder}/data`, "-k", folder, "-c", "listen_addresses=",
      "-c", "fsync=off", "-c", "max_connections=200",
      "-c", "shared_buffers=32MB"], options);
  const ended = once(child, "exit");
  const die = () => child.kill("SIGQUIT");
  process.on("exit", die);

  function sql(text) {
    execFileSync(path.join(bin, "psql"),
      ["-h", folder, "-U", "admin", "-d", "postgres", "-qc", text], options);
  }
  for (let i = 0; ; i++) {
    try {
      sql("SELECT 1");
      break;
    } catch (error) {
      if (i > 600 || child.exitCode !== null) throw error;
      await sleep(20); /* there is no event to wait for */
    }
  }
  sql("CREATE ROLE clew LOGIN");
  let count = 0;
  return {
    /* An empty database owned by an ordinary role: its URL. */
    database() {
      const name = `t${++count}`;
      sql(`CREATE DATABASE ${name} OWNER clew`);
      return `postgres://clew@/${name}?host=${folder}`;
    },
    async stop() {
      child.kill("SIGQUIT");
      await ended;
      process.off("exit", die);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
