/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.mjs - the program under test, on a folder and a port of its own.
 *
 * Every helper cleans up after itself: stop() ends the server orderly and says
 * how it ended; what is still running when the tests end is killed, by its id, and
 * keeps nobody waiting. Folders go last, when nothing writes into them any more.
 */
import { spawn, execFile } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = path.dirname(fileURLToPath(import.meta.url));
export const bin =
  process.env.CLEW_BIN ?? path.join(here, "../../../build/clew");

const running = new Set();
const folders = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

/*
 * No setting of the machine reaches the program. A test that stores much and
 * does not look at what it means sets CLEW_TEST_READS to "no": rules read then.
 */
export function cleanEnv(folder, extra = {}) {
  const env = { PATH: process.env.PATH, HOME: folder, LANG: "C.UTF-8" };
  if (process.env.CLEW_TEST_READS === "no") env.CLEW_READER_ON = "false";
  for (const name of ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"]) {
    if (process.env[name]) env[name] = process.env[name];
  }
  return { ...env, ...extra };
}

/* A folder of the test's own until its program ends. */
export function tempFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "clew-test-"));
  folders.add(folder);
  return folder;
}

/* Throws where the library for that was not built. A file of tests calls it before
 * it starts a database: one that nobody stops would keep the run waiting. */
export function needsFullDisk() {
  const built = path.resolve(path.dirname(bin), "tests/full_disk.so");
  if (fs.existsSync(built)) return built;
  throw new Error(`${built} is not built: cmake --build ${path.dirname(bin)} --target full_disk`);
}

/*
 * A disk that is full when set(true) says so: `env` makes a program believe it for
 * files under `under` (lib/full_disk.c).
 */
export function fullDisk(under) {
  const built = needsFullDisk();
  const folder = tempFolder();
  const library = path.join(folder, "full_disk.so");
  /* a database looks as another user, who may not see where it was built */
  fs.chmodSync(folder, 0o755);
  fs.copyFileSync(built, library);
  fs.chmodSync(library, 0o755);
  const flag = path.join(folder, "full");
  return {
    env: {
      LD_PRELOAD: library, FULL_DISK_FLAG: flag, FULL_DISK_UNDER: under,
    },
    set(isFull) {
      if (isFull) fs.writeFileSync(flag, "");
      else fs.rmSync(flag, { force: true });
    },
    /* From the n-th step on nothing is written; 0: all is well again. Whether it
     * came so far is what the end of it returns. */
    setFrom(n) {
      if (n > 0) {
        fs.rmSync(`${flag}.fired`, { force: true });
        fs.writeFileSync(`${flag}.new`, String(n));
        fs.renameSync(`${flag}.new`, `${flag}.at`);
        return true;
      }
      fs.rmSync(`${flag}.at`, { force: true });
      return fs.existsSync(`${flag}.fired`);
    },
    /* It cannot be read either. */
    setDead(isDead) {
      if (isDead) fs.writeFileSync(`${flag}.dead`, "");
      else fs.rmSync(`${flag}.dead`, { force: true });
    },
  };
}

/*
 * Start `clew serve`. Options: data (kept if given), store (a postgres URL),
 * listen, args, env, limits (of prlimit: { nofile: 64, as: 1 << 30 }).
 */
export async function startServer(options = {}) {
  const data = options.data ?? tempFolder();
  const args = ["serve", "--data", data];
  args.push("--listen", options.listen ?? "127.0.0.1:0");
  if (options.store) args.push("--store", options.store);
  args.push(...(options.args ?? []));
  const limits = Object.entries(options.limits ?? {})
    .map(([name, value]) => `--${name}=${value}`);
  const line = limits.length > 0 ? ["prlimit", ...limits, bin, ...args] : [bin, ...args];
  const child = spawn(line[0], line.slice(1), {
    env: cleanEnv(data, options.env),
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.add(child);
  let log = "";
  child.stderr.setEncoding("utf8");
  const ended = once(child, "exit").then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (part) => {
      log += part;
      const line = /^listening on (\S+)$/m.exec(log);
      if (line) resolve(line[1]);
    });
    ended.then(() => {
      if (!options.data) fs.rmSync(data, { recursive: true, force: true });
      reject(new Error(`clew serve ended early:\n${log}`));
    });
  });
  child.unref();
  child.stderr.unref();
  const server = {
    url,
    data,
    child,
    store: options.store,
    get ended() {
      child.ref();
      return ended;
    },
    log: () => log,
    /* SIGTERM, wait, remove the folder unless it was given. */
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const how = await server.ended;
      if (!options.data) fs.rmSync(data, { recursive: true, force: true });
      return how;
    },
    /* Run a command on the same store. */
    clew: (...words) => clew(data, options.store, ...words),
    /* A key of a tenant: its text. */
    async key(tenant, role = "admin") {
      const made = await clew(
        data, options.store, "keys", "create", "--tenant", tenant,
        "--role", role, "--json");
      return JSON.parse(made.stdout).key;
    },
    api: (key) => client(url, key),
  };
  return server;
}

/* Run the program to its end; rejects unless it exits with 0. */
export function clew(data, store, ...words) {
  const where = store ? ["--store", store] : [];
  return promisify(execFile)(bin, [...words, "--data", data, ...where], {
    env: cleanEnv(data),
    maxBuffer: 1 << 28,
  });
}

/*
 * Calls as one key (or none). Each answers {status, headers, body}, the body
 * parsed where it is JSON.
 */
export function client(url, key) {
  async function call(method, target, body, headers = {}) {
    const init = { method, headers: { ...headers } };
    if (key) init.headers.authorization = `Bearer ${key}`;
    if (body !== undefined) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      init.headers["content-type"] ??= "application/json";
      init.body = isRaw ? body : JSON.stringify(body);
    }
    const answer = await fetch(url + target, init);
    const text = await answer.text();
    const type = answer.headers.get("content-type") ?? "";
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: type.startsWith("application/json") && text ? JSON.parse(text) : text,
    };
  }
  return {
    call,
    get: (target, headers) => call("GET", target, undefined, headers),
    post: (target, body, headers) => call("POST", target, body, headers),
    patch: (target, body, headers) => call("PATCH", target, body, headers),
  };
}
