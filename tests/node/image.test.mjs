/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.test.mjs - what `make image` makes is an OCI layout, runs as it says of
 * itself (its user, a read-only root, nothing else in it) on both stores, and the
 * compose file and the Kubernetes manifest name what is really there.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import yaml from "js-yaml";

import { isRoot, runIn, serveIn, skip } from "./lib/bare-root.mjs";
import { isOk } from "./lib/check.mjs";
import { startPostgres } from "./lib/postgres.mjs";
import { bin, client, tempFolder } from "./lib/server.mjs";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const build = path.dirname(path.resolve(bin));
const MAX_BYTES = 60_000_000;

const sha256 = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

describe("the image", () => {
  let folder; /* a build folder of its own: tarball.test.mjs may run beside */
  let root;
  let config;
  let volume;
  let size = 0;

  /* A blob whose digest and size are what its descriptor says. */
  function blob({ digest, size: expected }) {
    const bytes = fs.readFileSync(path.join(folder, "image/blobs", digest.replace(":", "/")));
    assert.equal(bytes.length, expected);
    assert.equal(sha256(bytes), digest);
    return bytes;
  }

  before(() => {
    folder = tempFolder();
    fs.chmodSync(folder, 0o755); /* its user passes through */
    for (const name of ["clew-portable", "packaging"]) fs.symlinkSync(path.join(build, name), path.join(folder, name));
    for (const tool of ["tarball", "image"]) {
      const said = execFileSync(path.join(source, `tools/make-${tool}`), [folder],
        { encoding: "utf8", env: { ...process.env, TARBALL_LEVEL: "1", IMAGE_LEVEL: "1" } });
      console.log(said.trim().replace(folder, "build"));
    }
    root = path.join(folder, "root");
    fs.mkdirSync(root, { mode: 0o755 });
    assert.equal(JSON.parse(fs.readFileSync(path.join(folder, "image/oci-layout"))).imageLayoutVersion, "1.0.0");
    const index = JSON.parse(fs.readFileSync(path.join(folder, "image/index.json")));
    const manifest = JSON.parse(blob(index.manifests[0]));
    config = JSON.parse(blob(manifest.config));
    manifest.layers.forEach((layer, i) => {
      const packed = blob(layer);
      size += packed.length;
      const bytes = gunzipSync(packed);
      assert.equal(sha256(bytes), config.rootfs.diff_ids[i]);
      execFileSync("tar", ["-xpf", "-", "-C", root], { input: bytes });
    });
    volume = path.join(folder, "volume");
    fs.mkdirSync(volume, { mode: 0o700 });
    if (isRoot) fs.chownSync(volume, ...config.config.User.split(":").map(Number));
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  /* As a container runtime starts it, with some variables set by the caller. */
  const options = (env = {}, binds = {}) => ({
    readOnly: true, user: config.config.User, binds: { "/var/lib/clew": volume, ...binds },
    env: { PATH: process.env.PATH, ...Object.fromEntries(config.config.Env.map((one) => one.split(/=(.*)/s))),
      CLEW_SERVER_LISTEN: "127.0.0.1:0", ...env, /* for unshare and mount: */ PATH: `${process.env.PATH}:/usr/bin` },
  });
  const words = (...args) => [...config.config.Entrypoint, ...args];

  test("is small, has no shell, and belongs to root but for its data", () => {
    assert.ok(size <= MAX_BYTES, `${size} bytes`);
    const all = execFileSync("find", [root, "-printf", "%P %m %u\\n"], { encoding: "utf8" }).trim().split("\n");
    assert.deepEqual(fs.readdirSync(path.join(root, "usr/bin")), ["clew"]);
    assert.ok(!all.some((line) => /(^|\/)(sh|bash|busybox|gcc|cc|apt-get|dpkg) /.test(line)));
    for (const line of all) assert.doesNotMatch(line, / [2467]\d{3} /, "set-user-id");
    assert.ok(fs.existsSync(path.join(root, "usr/share/zoneinfo/Europe/Lisbon")));
    assert.ok(fs.statSync(path.join(root, "etc/ssl/certs/ca-certificates.crt")).size > 10_000);
    for (const name of ["libc6", "libpq5"]) assert.ok(fs.existsSync(path.join(root, "usr/share/licenses", name)), name);
    if (isRoot) assert.equal(String(fs.statSync(path.join(root, "var/lib/clew")).uid), config.config.User.split(":")[0]);
  });

  async function served(env, binds) {
    const server = await serveIn(root, words(...config.config.Cmd), options(env, binds));
    try {
      const health = config.config.Healthcheck.Test;
      assert.equal(health[0], "CMD");
      const ask = health.slice(1).map((word) => word.replace("http://127.0.0.1:2539", server.url));
      assert.match(runIn(root, ask, options()), /status +ok/);
      const api = client(server.url);
      isOk(await api.post("/api/v1/turns", { user_id: "ada", role: "user", timezone: "Europe/Lisbon",
        content: "The spare key is under the blue pot." }), 201);
      const { items } = isOk(await api.post("/api/v1/recall", { query: "where is the key?" }));
      assert.match(items[0].text, /blue pot/);
      const key = runIn(root, words("keys", "create", "--role", "read"), options(env, binds)).trim();
      assert.match(key, /clew_/);
      isOk(await client(server.url, /clew_\S+/.exec(key)[0]).get("/api/v1/chats"));
    } finally {
      assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.log());
    }
    assert.throws(() => runIn(root, config.config.Healthcheck.Test.slice(1, 4).concat("http://127.0.0.1:1"),
      { ...options(), stdio: "ignore" }), "nobody there");
  }

  test("serves with a read-only root, as its user", { skip }, async () => {
    await served();
    const kept = fs.statSync(path.join(volume, "clew.db"));
    if (isRoot) assert.equal(`${kept.uid}:${kept.gid}`, config.config.User);
  });

  test("serves on PostgreSQL, as the ordinary role the compose file makes", { skip }, async () => {
    const postgres = await startPostgres();
    try {
      const socket = `${postgres.data}.s`;
      fs.chmodSync(socket, 0o755);
      postgres.sql("DROP ROLE clew"); /* the tests' own */
      execFileSync("sh", [path.join(source, "packaging/compose/role.sh")], { stdio: "pipe",
        env: { PATH: process.env.PATH, PGHOST: socket, PGDATABASE: "postgres", POSTGRES_USER: "admin",
          CLEW_DB_PASSWORD: "it's a secret" } });
      assert.equal(postgres.sql("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'clew'"), "f|f");
      await served({ CLEW_STORE_URL: "postgres://clew@/clew?host=/run" }, { "/run": socket });
    } finally {
      await postgres.stop();
    }
  });

  test("can be written to nowhere else", { skip }, () => {
    assert.throws(() => runIn(root, words("turn", "--data", "/usr/data", "hello"), options()), /read-only|Read-only/i);
  });

  /* --- what runs it elsewhere --- */

  const compose = yaml.load(fs.readFileSync(path.join(source, "packaging/compose/compose.yaml"), "utf8"));
  const objects = yaml.loadAll(fs.readFileSync(path.join(source, "packaging/kubernetes/clew.yaml"), "utf8"));
  const object = (kind, name) => {
    const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
    assert.ok(found, `${kind} ${name}`);
    return found;
  };
  const settings = () => execFileSync(bin, ["config", "keys"], { encoding: "utf8" })
    .split("\n").filter((line) => /^[a-z]/.test(line)).map((line) => `CLEW_${line.trim().toUpperCase().replace(".", "_")}`);
  const version = /project\(clew VERSION ([\d.]+)/.exec(fs.readFileSync(path.join(source, "CMakeLists.txt"), "utf8"))[1];

  test("is what the compose file runs", () => {
    const { clew, db } = compose.services;
    assert.equal(clew.image, `localhost/clew:${version}`);
    for (const name of Object.keys(clew.environment)) assert.ok(name === "PGPASSWORD" || settings().includes(name), name);
    assert.ok(clew.read_only && clew.tmpfs.includes("/tmp") && clew.cap_drop.includes("ALL"));
    assert.deepEqual(clew.healthcheck.test.slice(2), config.config.Healthcheck.Test.slice(2));
    const [, there] = clew.volumes[0].split(":");
    assert.deepEqual(Object.keys(config.config.Volumes), [there]);
    assert.ok(clew.ports.every((port) => config.config.ExposedPorts[`${port.split(":").at(-1)}/tcp`]));
    for (const one of [...clew.volumes, ...db.volumes].map((text) => text.split(":")[0])) {
      assert.ok(one.startsWith("./") ? fs.existsSync(path.join(source, "packaging/compose", one)) : one in compose.volumes, one);
    }
    assert.equal(clew.depends_on.db.condition, "service_healthy");
  });

  test("is what the Kubernetes manifest runs", () => {
    const pod = object("Deployment", "clew").spec.template.spec;
    const [clew] = pod.containers;
    assert.equal(clew.image, `localhost/clew:${version}`);
    assert.equal(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`, config.config.User);
    assert.ok(pod.securityContext.runAsNonRoot && clew.securityContext.readOnlyRootFilesystem);
    for (const { name } of clew.env) assert.ok(name === "PGPASSWORD" || settings().includes(name), name);
    for (const probe of [clew.startupProbe, clew.readinessProbe]) {
      assert.deepEqual(probe.exec.command.slice(1), config.config.Healthcheck.Test.slice(2));
    }
    for (const one of objects.filter(({ spec }) => spec?.template)) { /* selectors select */
      assert.deepEqual(one.spec.selector.matchLabels, one.spec.template.metadata.labels);
      const volumes = [...one.spec.template.spec.volumes ?? [], ...(one.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)]
        .map(({ name }) => name).sort();
      assert.deepEqual(one.spec.template.spec.containers.flatMap((box) => box.volumeMounts.map(({ name }) => name)).sort(), volumes);
    }
    for (const one of objects.filter(({ kind }) => kind === "Service")) {
      assert.ok(objects.some(({ spec }) => JSON.stringify(spec?.template?.metadata.labels) === JSON.stringify(one.spec.selector)));
    }
    const host = new URL(clew.env.find(({ name }) => name === "CLEW_STORE_URL").value).hostname;
    object("Service", host);
    const hosts = clew.env.find(({ name }) => name === "CLEW_SERVER_ALLOWED_HOSTS").value.split(",");
    assert.ok(hosts.includes(object("Service", "clew").metadata.name));
    assert.equal(object("ConfigMap", "clew-db-role").data["role.sh"],
      fs.readFileSync(path.join(source, "packaging/compose/role.sh"), "utf8"), "one script, twice");
  });
});
