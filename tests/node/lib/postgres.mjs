/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.mjs - a private PostgreSQL for the length of a test file.
 *
 * Lives in a temporary folder and is reached through a socket in it. It
 * refuses to run as root, so root starts it as "postgres" or "nobody".
 * Missing binaries are a failure, not a reason to skip. CLEW_TEST_PG_TEMPLATE
 * names an empty database folder to copy (tools/run-tests makes one): that takes
 * a quarter of what making one takes.
 *
 * With {standby: true} there is a second server that each commit waits for,
 * and URLs name both; failOver() kills the first and promotes the second.
 * With {replica: true} there is a second one that no commit waits for. `settings`
 * are lines of postgresql.conf for all.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { PATIENCE_MS, until } from "./wait.mjs";

/* CLEW_TEST_PG_BIN names the programs of another server. */
function binaries() {
  if (process.env.CLEW_TEST_PG_BIN) return process.env.CLEW_TEST_PG_BIN;
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

/* The processes a postmaster has started; each leads a group of its own. */
function childrenOf(pid) {
  return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(parent) === pid && state !== "Z";
      } catch {
        return false; /* it has just ended */
      }
    }).map(Number);
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    /* it has just ended */
  }
}

/* One server on the data folder FOLDER/NAME, with its socket in FOLDER/NAME.s */
class Server {
  constructor(bin, folder, name, options) {
    this.bin = bin;
    this.data = path.join(folder, name);
    this.socket = `${this.data}.s`;
    this.options = options;
    fs.mkdirSync(this.socket, { mode: 0o700 });
    if (options.uid !== undefined) {
      fs.chownSync(this.socket, options.uid, options.gid);
    }
    this.die = () => this.child?.kill("SIGQUIT");
    process.on("exit", this.die);
  }

  run(program, ...args) {
    return execFileSync(path.join(this.bin, program), args,
      { ...this.options, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  }

  sql(text, database = "postgres") {
    return this.run("psql", "-h", this.socket, "-U", "admin", "-d", database,
      "-Atqc", text).trim();
  }

  async start(...settings) {
    const all = ["listen_addresses=", "fsync=off", "max_connections=200",
      "shared_buffers=32MB", ...settings];
    this.child = spawn(
      path.join(this.bin, "postgres"),
      ["-D", this.data, "-k", this.socket, ...all.flatMap((s) => ["-c", s])],
      { ...this.options, stdio: "ignore",
        env: { ...process.env, ...this.env } });
    this.ended = once(this.child, "exit");
    for (const end = Date.now() + PATIENCE_MS; ;) {
      try {
        this.sql("SELECT 1");
        return;
      } catch (error) {
        if (Date.now() > end || this.child.exitCode !== null) throw error;
        await sleep(20); /* there is no event to wait for */
      }
    }
  }

  async stop(signal = "SIGQUIT") {
    if (!this.child) return;
    this.child.kill(signal);
    await this.ended;
    this.child = null;
  }

  /* As when the machine loses power: no process has a last word. */
  async crash() {
    const { pid } = this.child;
    const lock = fs.readFileSync(`${this.data}/postmaster.pid`, "utf8");
    kill(pid, "SIGSTOP"); /* it starts no more */
    for (let left = childrenOf(pid); left.length > 0; left = childrenOf(pid)) {
      for (const child of left) kill(child, "SIGKILL");
      await sleep(1); /* one that is busy ends a little later */
    }
    await this.stop("SIGKILL");
    /* What only a machine's end would free; without it a start may have to
     * wait for it. */
    const segment = lock.split("\n")[6]?.trim().split(/\s+/)[1];
    execFileSync("ipcrm", ["-m", segment], { stdio: "ignore" });
  }
}

function copy(first, second) {
  first.run("pg_basebackup", "-h", first.socket, "-U", "admin",
    "-D", second.data, "-R", "-X", "stream", "-c", "fast", "--no-sync");
}

async function startPair(first, second) {
  copy(first, second);
  await first.stop("SIGINT");
  await first.start("synchronous_standby_names=*");
  await second.start();
  await until("the standby follows", () =>
    first.sql("SELECT sync_state FROM pg_stat_replication") === "sync");
}

export async function startPostgres({ standby = false, replica = false, settings = [] } = {}) {
  const bin = binaries();
  const user = ordinaryUser();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "clew-pg-"));
  if (user.uid !== undefined) fs.chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder };
  const first = new Server(bin, folder, "data", options);
  const second = (standby || replica) && new Server(bin, folder, "standby", options);
  const made = process.env.CLEW_TEST_PG_TEMPLATE;
  if (made) {
    execFileSync("cp", ["-a", "--reflink=auto", made, first.data], options);
  } else {
    first.run("initdb", "-D", first.data, "-A", "trust", "-U", "admin",
      "-E", "UTF8", "--no-locale", "--no-sync");
  }
  fs.appendFileSync(path.join(first.data, "postgresql.conf"), `${settings.join("\n")}\n`);
  await first.start();
  first.sql("CREATE ROLE clew LOGIN");
  if (standby) await startPair(first, second);
  if (replica) {
    copy(first, second);
    await second.start();
  }
  let count = 0;
  return {
    data: first.data,
    /* An empty database owned by an ordinary role: its URL. */
    database() {
      const name = `t${++count}`;
      first.sql(`CREATE DATABASE ${name} OWNER clew`);
      const hosts = standby ? `${first.socket},${second.socket}` : first.socket;
      return `postgres://clew@/${name}?host=${hosts}`;
    },
    /* What the superuser gets for a statement, in the database of a URL. */
    sql: (text, url) =>
      first.sql(text, url && /@\/(\w+)/.exec(url)[1]),
    /* The same database on the replica. */
    replicaOf: (url) => url.replace(first.socket, second.socket),
    replicaSql: (text, url) => second.sql(text, url && /@\/(\w+)/.exec(url)[1]),
    /* A script of the superuser's: what it printed, and what was refused. */
    script(url, text) {
      const run = spawnSync(path.join(bin, "psql"), ["-h", first.socket, "-U", "admin",
        "-d", /@\/(\w+)/.exec(url)[1], "-AtqX"],
      { ...options, input: text, encoding: "utf8", maxBuffer: 1 << 26 });
      return { out: run.stdout, errors: run.stderr };
    },
    /* All of a database as SQL, and the way back into an empty one. */
    dump: (url) => first.run("pg_dump", "-h", first.socket, "-U", "admin",
      "--no-owner", "--no-comments", /@\/(\w+)/.exec(url)[1]),
    restore(url, text) {
      execFileSync(path.join(bin, "psql"), ["-h", first.socket, "-U", "clew",
        "-d", /@\/(\w+)/.exec(url)[1], "-qX", "-v", "ON_ERROR_STOP=1"],
      { ...options, input: text, stdio: ["pipe", "ignore", "inherit"] });
    },
    crash: () => first.crash(),
    /* An operator's restart: sessions are told and ended. */
    stopOrderly: () => first.stop("SIGINT"),
    /* `env`: variables it has from now on. */
    start(env) {
      first.env = env;
      return first.start();
    },
    async failOver() {
      await first.crash();
      second.sql("SELECT pg_promote(true)");
    },
    async stop() {
      for (const server of [first, second]) {
        if (!server) continue;
        await server.stop();
        process.off("exit", server.die);
      }
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
