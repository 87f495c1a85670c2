/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.js - is it well? Store, tasks, models, what the LLM cost, settings and
 * where they come from, what happens now; import, export, backup, keys.
 */
import { ApiError, bus, call, del, get, hasKey, keyId, link, may, post, setKey, stats } from "../api.js";
import { add, bytes, clip, clockS, code, count, h, many, put, short, since, tell, time, when } from "../dom.js";
import { pull, state } from "../draw.js";
import { button, form, sheet, words } from "../parts.js";

const LINES = 200;
const BATCH = 250; /* rows of one import call */
const BATCH_BYTES = 3e6;

/* Events that came while the page was open, whichever view showed. */
const heard = [];
bus.addEventListener("event", (e) => {
  heard.unshift({ at: new Date(), ...e.detail });
  heard.length = Math.min(heard.length, LINES);
});

/* Read a file line by line and send it in batches. */
async function bring(file, progress) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let rows = [];
  let size = 0;
  let sent = 0;
  let read = 0;
  let began = false;
  let ended = false;
  async function flush() {
    if (!rows.length) return;
    await post("import", { rows });
    sent += rows.length;
    rows = [];
    size = 0;
    progress(read / Math.max(1, file.size), sent);
  }
  for (;;) {
    const { done, value } = await reader.read();
    rest += value ?? "";
    read += (value ?? "").length;
    const lines = rest.split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) {
      if (!line.trim()) continue;
      let row;
      try { row = JSON.parse(line); } catch { throw new Error("format"); }
      if (!row || typeof row !== "object" || Array.isArray(row)) throw new Error("format");
      if (row.type === "export" || row.type === "end") {
        began ||= row.type === "export";
        ended ||= row.type === "end";
        continue;
      }
      if (!began) throw new Error("format");
      rows.push(row);
      size += line.length;
      if (rows.length >= BATCH || size > BATCH_BYTES) await flush();
    }
    if (done) break;
  }
  await flush();
  if (!began) throw new Error("format");
  return { sent, ended };
}

export default async function system(ctx) {
  const { root, signal } = ctx;
  const opt = { signal };
  const admin = may("admin");
  const [health, numbers, failedTasks, waiting, models, usage, settings, keys] = await Promise.all([
    call("GET", "/healthz", undefined, opt), stats({ since: new Date(Date.now() - 29 * 864e5).toISOString() }, opt), get("tasks", { status: "failed", limit: 20 }, opt), get("tasks", { status: "pending", limit: 20 }, opt),
    get("models", {}, opt), get("usage", { days: 30 }, opt), admin ? get("settings", {}, opt) : null, admin ? get("keys", {}, opt) : null]);
  const feed = h("ul");
  function drawFeed() {
    put(feed, heard.length ? heard.slice(0, LINES).map((e) => h("li", {}, `${clockS(e.at)} ${e.kind} ${e.what ?? ""} ${e.status ?? ""} ${e.user_id ?? ""} `, e.kind === "turn" ? h("a", { class: "link", href: `#/chat/${e.chat_id}?at=${e.seq}` }, "turn") : e.kind === "memory" || e.kind === "effort" ? h("a", { class: "link", href: `#/memories/${e.id}` }, "look") : e.kind === "call" ? h("a", { class: "link", href: `#/calls/${e.id}` }, "look") : "")) : h("li", { class: "dim" }, "Nothing happened since this page was opened."));
  }
  const dl = (pairs) => h("dl", { class: "dl" }, pairs.filter(Boolean).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]));
  const section = (title, n, ...kids) => h("section", { "aria-label": title }, h("div", { class: "cap" }, h("h2", {}, title), n ? h("span", { class: "n" }, n) : null), kids);

  /* --- keys --- */
  async function makeKey() {
    const first = !keys.items.length && !hasKey();
    const made = await form("Make a key", { lead: first ? "This is the first key: from now on every client needs one, this page too. It takes the new key for this tab; make it an admin." : "Its secret is shown once.", go: "Make",
      fields: [{ name: "role", label: "It may", options: [["read", "read"], ["write", "read and correct"], ["admin", "do everything"]], value: first ? "admin" : "read" }, { name: "label", label: "What for", max: 200 }],
      does: ({ role, label }) => post("keys", { role, ...(label ? { label } : {}) }) });
    if (!made?.key) return;
    if (first) setKey(made.key);
    await sheet("The key", (close) => [h("p", {}, "Copy it now; it is not shown again."), code(made.key), h("div", { class: "acts" }, h("button", { class: "btn", type: "button", onclick: () => close() }, "I have it"))]);
    ctx.again();
  }
  async function revoke(k) {
    const own = k.id === keyId();
    const left = keys.items.filter((x) => !x.revoked_at && x.role === "admin" && x.id !== k.id).length;
    const done = await form("Revoke this key?", { grave: true, go: "Revoke", fields: [], lead: [`${k.label ?? k.id}, ${k.role}: calls with it are refused at once, and it cannot be brought back. `, own ? "It is the key of this tab: you will be asked for another. " : "", k.role === "admin" && !left ? "It is the last admin key; another can only be made at the command line." : ""], does: () => del(`keys/${k.id}`) });
    if (done?.revoked_at) {
      tell("Revoked");
      ctx.again();
    }
  }

  /* --- import, export --- */
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Import" });
  const told = h("p", { class: "dim", role: "status" });
  async function take(file) {
    if (!file) return;
    bar.hidden = false;
    bar.value = 0;
    told.textContent = `Reading ${file.name} …`;
    try {
      const { sent, ended } = await bring(file, (part, n) => { bar.value = part; told.textContent = `${count(n)} rows`; });
      told.textContent = `${many(sent, "row")} brought in. What was there already was left as it is.${ended ? "" : " The file has no end: it was cut off, and what follows is missing."}`;
      tell("Imported");
    } catch (error) {
      if (error.message === "format") await takeOther(file);
      else told.textContent = words(error);
    }
    bar.hidden = true;
  }
  /* An export of another program: the server reads it. */
  async function takeOther(file) {
    bar.removeAttribute("value");
    told.textContent = `${file.name} is sent and read; what was said in it is added as it comes …`;
    try {
      const got = await (await call("POST", `/api/v1/import/file?name=${encodeURIComponent(file.name)}`, file, { raw: true, headers: ctx.who ? { "x-clew-user": ctx.who } : {} })).json();
      told.textContent = `${got.format}: ${many(got.conversations, "conversation")}, ${many(got.messages, "message")}, ${count(got.added)} of them new${got.forks ? `, ${many(got.forks, "fork")}` : ""}. ${got.skipped ? `${count(got.skipped)} left out: notes of the program itself, reasoning, nothing said. ` : ""}${got.forgotten ? `${count(got.forgotten)} forgotten before, left out. ` : ""}${got.added ? "It is being read now; memories follow." : got.forgotten ? "The rest was there already." : "All of it was there already."}`;
      tell("Imported");
    } catch (error) {
      told.textContent = error instanceof ApiError && error.status === 413 ? `${file.name} is too large to be sent; at the command line it is read piece by piece: clew import ${file.name}`
        : error instanceof ApiError && error.status === 400 ? `${file.name} cannot be read: ${clip(error.message, 300)}. Nothing of it was kept.` : words(error);
    }
  }
  const input = h("input", { type: "file", class: "vh", id: "import-file", onchange: (e) => take(e.target.files[0]) });
  const drop = h("label", { class: "drop", for: "import-file", tabindex: "0",
    onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); input.click(); } },
    ondragover: (e) => { e.preventDefault(); drop.classList.add("over"); }, ondragleave: () => drop.classList.remove("over"), ondrop: (e) => { e.preventDefault(); drop.classList.remove("over"); take(e.dataTransfer.files[0]); } }, "Drop an export here, or choose a file: ChatGPT, Claude, Gemini, Slack, mail and others as they are handed out, sessions of agents, or clew's own", input);
  async function save() {
    try {
      const answer = await call("GET", "/api/v1/export", undefined, { raw: true });
      const blob = await answer.blob();
      const a = h("a", { href: URL.createObjectURL(blob), download: `clew-${new Date().toISOString().slice(0, 10)}.jsonl` });
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 10000);
      told.textContent = `Exported ${bytes(blob.size)}.`;
    } catch (error) { ctx.note(words(error)); }
  }

  /* --- backup --- */
  const isFile = numbers.store.backend === "sqlite";
  async function backUp() {
    try {
      const plan = await post("backup", { dry_run: true });
      const done = await form("Back up the store?", { go: "Back up", fields: [], does: () => post("backup", {}),
        lead: [`All of the store, ${bytes(plan.bytes)}, is copied to a file on the server, while it is in use. `, h("span", { class: "mono" }, plan.path), `, where ${bytes(plan.free_bytes)} are free${plan.kept ? ` and ${many(plan.kept, "copy", "copies")} already ${plan.kept === 1 ? "stands" : "stand"}` : ""}. Nothing is changed or removed. The copy holds what is in the store now, also what is forgotten later.`] });
      if (!done?.sha256) return;
      tell("Backed up");
      await sheet("Backed up", (close) => [h("p", {}, `${bytes(done.bytes)}, ${when(done.created_at)} ${clockS(done.created_at)}. The receipt: its place on the server, and its SHA-256.`), code(`${done.sha256}  ${done.path}`), h("p", {}, "To restore it, put it as clew.db in an empty folder and start clew on that:"), code("clew serve --data FOLDER"),
        h("div", { class: "acts" }, h("button", { class: "btn", type: "button", autofocus: true, onclick: () => close() }, "Close"))]);
    } catch (error) { ctx.note(words(error)); }
  }

  const cost = usage.items.reduce((n, u) => n + u.cost, 0);
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "System"), h("span", { class: "sum" }, `clew ${health.version}, ${health.status === "ok" ? "well" : health.status}`)), pull(numbers.days.map((d) => d.turns + d.calls), "Turns and calls per day in 30 days")),
    h("div", { class: "body" }, h("div", { class: "cards" },
      section("Health", "", dl([["server", health.status === "ok" ? "well" : health.status], ["store", `${numbers.store.backend}${numbers.store.bytes ? `, ${bytes(numbers.store.bytes)}` : ""}`], ["live", link.live ? "events arrive" : "no stream of events"], 
        health.reading ? ["reading", `${health.reading.by === "rules" ? "by rules alone" : `by ${health.reading.by}`}, ${health.reading.waiting ? `${many(health.reading.waiting, "turn")} wait` : "nothing waits"}`] : null,
        health.reading?.trouble ? ["reader", `not used: ${health.reading.trouble}`] : null,
        ["turns", count(numbers.turns)], ["chats", count(numbers.chats)], ["memories", count(numbers.memories.holding)], ["topics", count(numbers.chains)], ["episodes", count(numbers.episodes)], ["calls", count(numbers.calls)], ["your role", link.role], hasKey() ? ["your key", keyId()] : null])),
      section("Tasks", failedTasks.items.length ? `${count(numbers.failed_tasks)} failed` : "",
        failedTasks.items.length ? h("table", { class: "tbl" }, h("tbody", {}, failedTasks.items.map((t) => h("tr", {}, h("td", {}, h("span", { class: "tag broken" }, t.kind)), h("td", {}, clip(t.last_error ?? "", 120)), h("td", { class: "dim" }, since(t.finished_at ?? t.created_at)))))) : h("p", {}, "None failed."),
        h("p", { class: "dim" }, waiting.items.length ? `${waiting.next_cursor ? "more than " : ""}${many(waiting.items.length, "task")} in wait; the next is ${waiting.items[0].kind}, ${when(waiting.items[0].execute_at)}.` : "None waits.")),
      section("Index and models", "", models.items.map((m) => [h("p", {}, h("b", {}, m.name), m.in_use ? ", in use" : "", `, ${m.dim} dimensions`, m.error ? h("span", { class: "tag broken" }, m.error) : null), h("progress", { max: Math.max(1, m.total), value: m.done, "aria-label": `${m.name}: ${m.done} of ${m.total}` }), h("p", { class: "dim" }, `${short(m.done)} of ${short(m.total)} read, ${m.percent.toFixed(0)} %`)])),
      section("LLM ledger", usage.items.length ? `30 days, ${cost.toFixed(2)}` : "", usage.items.length ? h("table", { class: "tbl" }, h("thead", {}, h("tr", {}, ["day", "for", "model"].map((x) => h("th", {}, x)), ["calls", "in", "out", "cost"].map((x) => h("th", { class: "num" }, x)))), h("tbody", {}, usage.items.slice(0, 60).map((u) => h("tr", {}, h("td", {}, u.day), h("td", {}, u.purpose), h("td", {}, u.model), h("td", { class: "num" }, count(u.calls)), h("td", { class: "num" }, short(u.input_tokens)), h("td", { class: "num" }, short(u.output_tokens)), h("td", { class: "num" }, u.cost.toFixed(3)))))) : h("p", {}, "No language model was asked. clew works without one; ", h("span", { class: "mono" }, "llm.url"), " names one.")),
      section("What happens", "", h("div", { class: "feed", tabindex: "0", role: "log", "aria-label": "What happens" }, feed)),
      section("Bring in, take out", "", admin ? [drop, bar, told] : h("p", { class: "dim" }, "Import and export need a key with the role admin."), h("p", { class: "row2" }, admin ? button("Export everything", { role: "admin", onclick: save }) : null, isFile ? button("Back up the store…", { role: "admin", onclick: backUp }) : null), isFile ? null : [h("p", {}, "The store is in PostgreSQL: it is backed up with its own tools, by a role that may read all rows."), code("pg_dump -U clew_backup --no-owner DATABASE > clew.sql")],
        h("p", {}, "Large exports and folders, at the command line:"), code("clew import PATH")),
      section("Keys", keys ? count(keys.items.filter((k) => !k.revoked_at).length) : "", keys ? [keys.items.length ? h("table", { class: "tbl" }, h("thead", {}, h("tr", {}, ["key", "role", "for", "since", ""].map((x) => h("th", {}, x)))), h("tbody", {}, keys.items.map((k) => h("tr", {}, h("td", { class: "mono" }, k.id.slice(0, 8)), h("td", {}, k.role), h("td", {}, k.label ?? ""), h("td", {}, time(k.created_at)), h("td", {}, k.revoked_at ? h("span", { class: "dim" }, "revoked") : button("Revoke…", { role: "admin", cls: "ghost sm", onclick: () => revoke(k) })))))) : h("p", {}, "No key was ever made: whoever reaches this machine's loopback address may do everything."), h("p", {}, h("br"), button("Make a key", { role: "admin", onclick: makeKey }))] : h("p", { class: "dim" }, "Keys need a key with the role admin.")),
      section("Settings in force", "", settings ? h("details", {}, h("summary", {}, `${count(Object.keys(settings.settings).length)} settings, ${count(Object.values(settings.settings).filter((x) => x.from !== "default").length)} set here`), h("table", { class: "tbl" }, h("tbody", {}, Object.entries(settings.settings).sort((a, b) => (a[1].from === "default") - (b[1].from === "default")).map(([k, v]) => h("tr", {}, h("td", { class: "mono" }, k), h("td", { class: "mono" }, clip(String(v.value), 80)), h("td", { class: v.from === "default" ? "dim" : "" }, v.from)))))) : h("p", { class: "dim" }, "Settings need a key with the role admin."))), state("", h("p", {}, "Programs find everything here at ", h("a", { class: "link", href: "/openapi.json" }, "/openapi.json"), " and ", h("a", { class: "link", href: "/metrics" }, "/metrics"), "."))));
  drawFeed();
  return { event: () => setTimeout(drawFeed) }; /* once it is in the list */
}
