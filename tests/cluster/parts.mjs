/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.mjs - the programs of a cluster on loopback, started and ended one by
 * one. Everything lives in one folder; nothing listens beyond 127.0.0.1.
 */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

import { until } from "../node/lib/wait.mjs";

const HOST = "127.0.0.1";
export const NODES = ["one", "two", "three"];

export async function freePorts(n) {
  const servers = await Promise.all([...Array(n)].map(() => new Promise((resolve) => {
    const server = net.createServer().listen(0, HOST, () => resolve(server));
  })));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => { server.close(done); })));
  return ports;
}

/* PostgreSQL will not run as root. */
function ordinaryUser() {
  if (process.getuid() !== 0) return {};
  const line = fs.readFileSync("/etc/passwd", "utf8").split("\n").find((one) => one.startsWith("postgres:"));
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

function postgresBin() {
  const root = "/usr/lib/postgresql";
  const newest = fs.readdirSync(root).map(Number).filter(Boolean).sort((a, b) => b - a)[0];
  return path.join(root, String(newest), "bin");
}

function patroniSettings(cluster, name, ports) {
  return {
    scope: "clew", name,
    restapi: { listen: `${HOST}:${ports.rest}`, connect_address: `${HOST}:${ports.rest}` },
    etcd3: { host: `${HOST}:${cluster.etcdPort}` },
    bootstrap: {
      /* the least that Patroni takes: a leader that is gone is noticed in 20 s */
      dcs: { ttl: 20, loop_wait: 2, retry_timeout: 5, synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: {
          max_connections: 60, wal_log_hints: "on", hot_standby_feedback: "on", checkpoint_timeout: "30s" } } },
      initdb: [{ encoding: "UTF8" }, "no-locale", "no-sync"],
    },
    postgresql: {
      listen: `${HOST}:${ports.sql}`, connect_address: `${HOST}:${ports.sql}`,
      bin_dir: cluster.bin, data_dir: path.join(cluster.folder, name),
      pgpass: path.join(cluster.folder, `${name}.pgpass`),
      authentication: { superuser: { username: "admin" }, replication: { username: "copy" },
        rewind: { username: "admin" } },
      pg_hba: ["local all all trust", `host all all ${HOST}/32 trust`, `host replication all ${HOST}/32 trust`],
      /* what is killed is a process, never the machine */
      parameters: { unix_socket_directories: cluster.folder, shared_buffers: "32MB", fsync: "off" },
    },
  };
}

const haproxySettings = (cluster) => `
defaults
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  retries 3
  option redispatch
listen leader
  mode tcp
  bind ${HOST}:${cluster.leaderPort}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${NODES.map((name) => `  server ${name} ${HOST}:${cluster.ports[name].sql} check port ${cluster.ports[name].rest}`).join("\n")}
listen clew
  mode http
  bind ${HOST}:${cluster.port}
  balance roundrobin
  retry-on conn-failure
  option httpchk GET /healthz
  default-server inter 500ms fall 1 rise 1
${cluster.clewPorts.map((port, i) => `  server clew${i} ${HOST}:${port} check`).join("\n")}
`;

const pgbouncerSettings = (cluster) => `
[databases]
clew = host=${HOST} port=${cluster.leaderPort} dbname=clew user=clew
[pgbouncer]
listen_addr = ${HOST}
listen_port = ${cluster.poolPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 12
server_login_retry = 1
server_connect_timeout = 5
`;

export class Cluster {
  constructor(folder) {
    this.folder = folder;
    this.bin = postgresBin();
    this.user = ordinaryUser();
    this.children = new Map();
    if (this.user.uid !== undefined) fs.chownSync(folder, this.user.uid, this.user.gid);
  }

  async layOut() {
    const all = await freePorts(16);
    const take = () => all.pop();
    this.etcdPort = take();
    this.etcdPeerPort = take();
    this.ports = Object.fromEntries(NODES.map((name) => [name, { sql: take(), rest: take() }]));
    this.leaderPort = take();
    this.poolPort = take();
    this.port = take();
    this.clewPorts = [take(), take(), take(), take()];
    this.url = `http://${HOST}:${this.port}`;
    this.store = `postgres://clew@${HOST}:${this.poolPort}/clew`;
    const each = (what) => NODES.map(what).join(",");
    this.readUrl = `postgres://clew@${each((name) => `${HOST}:${this.ports[name].sql}`)}/clew`;
  }

  start(name, program, args, { env = {}, user = this.user } = {}) {
    const log = fs.openSync(path.join(this.folder, `${name}.log`), "a");
    const child = spawn(program, args, { ...user, cwd: this.folder, stdio: ["ignore", log, log],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: this.folder, LC_ALL: "C.UTF-8", ...env } });
    fs.closeSync(log);
    child.ended = new Promise((resolve) => { child.once("exit", resolve); child.once("error", resolve); });
    this.children.set(name, child);
    return child;
  }

  file(name, text) {
    const at = path.join(this.folder, name);
    fs.writeFileSync(at, text, { mode: 0o644 });
    return at;
  }

  startEtcd() {
    const at = `http://${HOST}:${this.etcdPort}`;
    const peer = `http://${HOST}:${this.etcdPeerPort}`;
    this.start("etcd", "etcd", ["--name", "e", "--data-dir", path.join(this.folder, "etcd"),
      "--listen-client-urls", at, "--advertise-client-urls", at, "--listen-peer-urls", peer,
      "--initial-advertise-peer-urls", peer, "--initial-cluster", `e=${peer}`, "--unsafe-no-fsync"],
    { env: { ETCD_UNSUPPORTED_ARCH: process.arch } });
    return this.answers(`${at}/health`);
  }

  startPatroni(name) {
    const settings = this.file(`${name}.yml`, JSON.stringify(patroniSettings(this, name, this.ports[name])));
    return this.start(name, "patroni", [settings]);
  }

  startPooler() {
    this.start("pgbouncer", "pgbouncer", [this.file("pgbouncer.ini", pgbouncerSettings(this))]);
  }

  startHaproxy() {
    this.start("haproxy", "haproxy", ["-db", "-f", this.file("haproxy.cfg", haproxySettings(this))]);
  }

  startClew(i, program) {
    fs.mkdirSync(path.join(this.folder, `clew${i}`), { recursive: true, mode: 0o700 });
    this.start(`clew${i}`, program, ["serve", "--data", path.join(this.folder, `clew${i}`),
      "--listen", `${HOST}:${this.clewPorts[i]}`, "--store", this.store],
    { user: {}, env: { CLEW_STORE_POOLING: "transaction", CLEW_STORE_READ_URL: this.readUrl,
      CLEW_READER_ON: "false" } });
    return this.answers(`http://${HOST}:${this.clewPorts[i]}/healthz`);
  }

  answers(url) {
    return until(`${url} answers`, async () => (await fetch(url).catch(() => undefined))?.ok, 120_000);
  }

  /* What Patroni says of each: {name, role, state}. */
  async members() {
    for (const name of NODES) {
      const answer = await fetch(`http://${HOST}:${this.ports[name].rest}/cluster`).catch(() => undefined);
      if (answer?.ok) return (await answer.json()).members;
    }
    return [];
  }

  leader() {
    return this.members().then((all) => all.find((one) => one.role === "leader" && one.state === "running")?.name);
  }

  sql(name, text, database = "postgres") {
    return execFileSync(path.join(this.bin, "psql"), ["-h", HOST, "-p", String(this.ports[name].sql),
      "-U", "admin", "-d", database, "-Atqc", text],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }

  postmaster(name) {
    const at = path.join(this.folder, name, "postmaster.pid");
    return fs.existsSync(at) ? Number(fs.readFileSync(at, "utf8").split("\n")[0]) : undefined;
  }

  /* As if its machine were gone: Patroni first, or it would start it again. */
  async killNode(name, signal = "SIGKILL") {
    const child = this.children.get(name);
    const pid = this.postmaster(name);
    child?.kill("SIGKILL");
    if (pid) {
      try {
        process.kill(pid, signal);
      } catch {
        /* it has ended already */
      }
    }
    await child?.ended;
    this.children.delete(name);
  }

  async kill(name, signal = "SIGKILL") {
    const child = this.children.get(name);
    child?.kill(signal);
    await child?.ended;
    this.children.delete(name);
  }

  async stop() {
    for (const name of [...this.children.keys()].reverse()) {
      if (NODES.includes(name)) await this.killNode(name, "SIGQUIT");
      else await this.kill(name, name.startsWith("clew") ? "SIGTERM" : "SIGKILL");
    }
    const isGone = (name) => {
      const pid = this.postmaster(name);
      return !pid || !fs.existsSync(`/proc/${pid}`);
    };
    await until("PostgreSQL ends", () => NODES.every(isGone), 60_000);
  }
}
