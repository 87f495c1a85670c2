/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.js - the frame: which view an address means, the rail and its thread,
 * keys, light and dark, the key that is asked for, the server that is gone.
 *
 * A view is a module in views/ whose default export is async open(ctx). It
 * fills ctx.root and may return {close, event, update}. Addresses are
 * "#/name/part?query"; each can be shared.
 */
import { Gone, bus, call, get, hasKey, keyId, link, setKey, startEvents, stats } from "./api.js";
import { add, bytes, clock, clockS, count, h, put, quiet, tell } from "./dom.js";
import { lay } from "./draw.js";
import { failed, form, sheet } from "./parts.js";

const views = {
  home: { title: "Home", keys: "h" },
  search: { title: "Search", keys: "s" },
  chats: { title: "Chats", keys: "c", n: (n) => n.chats },
  tree: { title: "Tree", keys: "t" },
  memories: { title: "Memories", keys: "m", n: (n) => n.memories.holding },
  efforts: { title: "Efforts", keys: "e", n: (n) => n.memories.efforts.open },
  timeline: { title: "Timeline", keys: "l" },
  graph: { title: "Graph", keys: "r" },
  context: { title: "Context lab", keys: "x", gap: true },
  calls: { title: "Calls", keys: "a", n: (n) => n.calls },
  agents: { title: "Agents", keys: "n" },
  system: { title: "System", keys: "y", gap: true },
};
/* addresses that belong to one of the above */
const within = { chat: "chats", compare: "chats", conflicts: "memories", connect: "home" };
const $ = (id) => document.getElementById(id);

export const app = { who: sessionStorage.getItem("clew-who") ?? "", numbers: null };

/* --- addresses -------------------------------------------------------------- */

export function parse(hash) {
  const [path, text] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...args] = path.split("/").map(decodeURIComponent);
  return { name: name || "home", args, query: Object.fromEntries(new URLSearchParams(text ?? "")) };
}
export function address(name, args = [], query = {}) {
  const list = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== "");
  return `#/${[name, ...args].map(encodeURIComponent).join("/")}${list.length ? `?${new URLSearchParams(list)}` : ""}`;
}
export function go(name, args, query, { quietly = false } = {}) {
  const to = address(name, args, query);
  if (!quietly) location.hash = to;
  else {
    history.replaceState(null, "", to);
    now.route = parse(to);
  }
}

/* --- the view --------------------------------------------------------------- */

const now = { route: null, live: null, abort: null };

function draw(route) {
  const here = within[route.name] ?? route.name;
  for (const a of document.querySelectorAll(".nav a, .tabs a")) {
    if (a.dataset.view === here) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const more = $("more-tab");
  if (document.querySelector(".tabs a[aria-current]")) more.removeAttribute("aria-current");
  else more.setAttribute("aria-current", "page");
  const title = views[here]?.title ?? "Not found";
  document.title = route.query.q ? `${route.query.q}: clew` : `${title}: clew`;
  if (route.name === "search") $("q").value = route.query.q ?? "";
  else if (document.activeElement !== $("q")) $("q").value = "";
}

/* A view's module, fetched when it is first looked at; it may be the server
 * that does not answer. */
async function module(name) {
  try {
    return (await import(`./views/${name}.js`)).default;
  } catch (error) {
    await call("GET", "/healthz").catch((e) => { if (e instanceof Gone) throw e; });
    throw error;
  }
}

async function show({ again = false } = {}) {
  const asked = location.hash;
  const route = parse(asked);
  const old = now.route;
  if (!again && old && old.name === route.name && now.live?.update
      && await now.live.update(route) === true) {
    now.route = route;
    draw(route);
    $("stage").dataset.shown = asked;
    return;
  }
  now.abort?.abort();
  const mine = new AbortController();
  now.abort = mine;
  now.route = route;
  draw(route);
  const root = h("section", { class: "view", tabindex: "-1" });
  const slow = setTimeout(() => $("stage").classList.add("wait-line"), 150);
  const ctx = { root, args: route.args, query: route.query, signal: mine.signal, app, go, address, who: app.who,
    again: () => show({ again: true }), note };
  const oldScroll = again ? document.querySelector(".stage > .view:last-child")?.scrollTop : 0;
  let live = {};
  try {
    const known = views[route.name] || within[route.name];
    const view = known ? await module(route.name) : missing;
    live = await view(ctx) ?? {};
  } catch (error) {
    if (mine.signal.aborted) return;
    if (again && error instanceof Gone && now.live) return; /* what stands stays until it is back */
    put(root, h("div", { class: "body" }, failed(error, () => show({ again: true }))));
  } finally {
    clearTimeout(slow);
    if (now.abort === mine) $("stage").classList.remove("wait-line");
  }
  if (mine.signal.aborted) {
    live.close?.();
    return;
  }
  now.live?.close?.();
  now.live = live;
  put($("stage"), root);
  $("stage").dataset.shown = asked; /* a script can tell that it stands */
  live.shown?.();
  if (again && oldScroll) root.scrollTop = oldScroll;
  lay(!again);
  if (!again) {
    const name = root.querySelector("h1")?.textContent ?? document.title;
    tell(name);
    if (old && !["q"].includes(document.activeElement?.id) && !document.querySelector("dialog[open]")) {
      root.focus({ preventScroll: true });
    }
  }
}

function missing({ root }) {
  add(root, h("div", { class: "body" }, h("h1", {}, "There is no such view"),
    h("p", {}, h("a", { class: "link", href: "#/home" }, "Home"))));
}

/* --- the frame -------------------------------------------------------------- */

function frame() {
  add($("nav"), Object.entries(views).map(([name, v]) => h("a", { href: `#/${name}`, class: v.gap ? "gap" : "", data: { view: name } },
    v.title, v.n ? h("span", { class: "n", data: { n: name } }) : null)));
  add($("tabs"), ["home", "search", "chats", "memories"].map((name) => h("a", { href: `#/${name}`, data: { view: name } }, views[name].title)),
    h("button", { type: "button", id: "more-tab", "aria-haspopup": "dialog", onclick: () => sheet("Views", (close) => [
      h("nav", { "aria-label": "More views" }, Object.entries(views).slice(3).filter(([n]) => n !== "memories")
        .map(([name, v]) => h("a", { href: `#/${name}`, class: "li", onclick: () => close() }, v.title)))], { cls: "more" }) }, "More"));
  foot();
}

export async function numbers() {
  try {
    app.numbers = await stats({ since: new Date(Date.now() - 30 * 864e5).toISOString() });
    for (const el of document.querySelectorAll(".nav .n")) {
      const n = views[el.dataset.n].n(app.numbers);
      el.textContent = n ? count(n) : "";
    }
    foot();
  } catch { /* the view says it */ }
}

function foot() {
  const n = app.numbers;
  put($("foot"),
    h("span", { class: `live ${link.live && !link.gone ? "" : "off"}` }),
    link.gone ? `gone since ${clock(link.since)}` : link.live ? "live" : "not live",
    h("br"), n?.store ? `${n.store.backend}${n.store.bytes ? `, ${bytes(n.store.bytes)}` : ""}` : "",
    n?.store ? h("br") : null,
    hasKey() ? [h("button", { type: "button", onclick: askKey }, `key ${keyId().slice(0, 6)}, ${link.role || "?"}`), h("br")] : null,
    h("button", { type: "button", onclick: help, "aria-label": "List the keys" }, h("kbd", {}, "?"), " keys"));
}

async function people() {
  const select = $("who");
  try {
    const { items } = await get("users", { limit: 200 });
    items.sort((a, b) => (b.last_activity_at ?? "").localeCompare(a.last_activity_at ?? ""));
    put(select, h("option", { value: "" }, "everyone"), items.map((u) => h("option", { value: u.user_id }, u.user_id)));
    select.value = app.who;
    if (select.value !== app.who) app.who = select.value = "";
  } catch {
    put(select, h("option", { value: "" }, "everyone"));
  }
}

/* --- the key ---------------------------------------------------------------- */

let asking = false;
async function askKey(refused) {
  if (asking) return;
  asking = true;
  const done = await form(refused === true ? "This key is not valid (any more)" : "A key, please", {
    lead: "This server asks for a key. It is kept for this tab only. The operator makes one with: clew keys create --role read",
    go: "Open",
    fields: [{ name: "key", label: "Key (clew_…)", kind: "password", max: 200 }],
    does: async ({ key }) => {
      setKey(key);
      link.role = "";
      await stats({ since: new Date().toISOString() });
    },
  });
  asking = false;
  if (done) {
    note(null);
    people();
    numbers();
    show({ again: true });
  } else {
    note("Without a valid key nothing can be shown.", ["Give a key", () => askKey()]);
  }
}
bus.addEventListener("key", (e) => { if (!asking) askKey(e.detail.refused); });

/* --- what the server does --------------------------------------------------- */

function note(text, act) {
  put($("notice"), text ? [h("span", {}, text), act ? h("button", { class: "btn sm", type: "button", onclick: act[1] }, act[0]) : null] : null);
}
bus.addEventListener("gone", () => {
  note(`The server does not answer${link.heard ? `, last heard ${clockS(link.heard)}` : ""}. What you see is from then; it is asked again.`);
  foot();
});
bus.addEventListener("back", () => {
  note(null);
  tell("The server is back");
  numbers();
  if (!document.querySelector("dialog[open]")) show({ again: true });
  foot();
});
bus.addEventListener("live", foot);
bus.addEventListener("role", foot);
const recount = quiet(numbers, 700);
bus.addEventListener("event", (e) => {
  recount();
  now.live?.event?.(e.detail);
});

/* --- keys ------------------------------------------------------------------- */

let first = "";
function help() {
  sheet("Keys", (close) => [
    h("dl", { class: "keys dl" },
      [["/", "search"], ["?", "this list"], ["j, k", "next, previous in a list"], ["Enter", "open"], ["Esc", "close, leave the box"],
        ...Object.values(views).map((v) => [`g ${v.keys}`, v.title])]
        .map(([k, what]) => [h("dt", {}, h("kbd", {}, k)), h("dd", {}, what)])),
    h("div", { class: "acts" }, h("button", { class: "btn", type: "button", autofocus: true, onclick: () => close() }, "Close"))]);
}

/* j and k move through whatever list the view has. */
function step(by) {
  const items = [...document.querySelectorAll(".stage .li, .stage .ml-row, .stage .turn, .stage .row-a, .stage .log-r, .stage .hit, .stage .card")]
    .filter((el) => el.offsetParent && (el.matches("a, [tabindex]") || el.querySelector("a, button")));
  if (!items.length) return;
  items.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top || a.getBoundingClientRect().left - b.getBoundingClientRect().left);
  const at = items.findIndex((el) => el.contains(document.activeElement));
  const next = items[at < 0 ? 0 : Math.max(0, Math.min(items.length - 1, at + by))];
  const target = next.matches("a, [tabindex]") ? next : next.querySelector("a, button");
  target.focus();
  next.scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (e) => {
  const typing = e.target.matches?.("input, textarea, select");
  if (e.key === "Escape" && e.target === $("q")) { $("q").blur(); return; }
  if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  if (first === "g") {
    first = "";
    const hit = Object.entries(views).find(([, v]) => v.keys === e.key);
    if (hit) { e.preventDefault(); go(hit[0]); }
    return;
  }
  if (e.key === "/") { e.preventDefault(); $("q").focus(); $("q").select(); }
  else if (e.key === "?") { e.preventDefault(); help(); }
  else if (e.key === "g") { first = "g"; setTimeout(() => { first = ""; }, 1500); }
  else if (e.key === "j") { e.preventDefault(); step(1); }
  else if (e.key === "k") { e.preventDefault(); step(-1); }
});

$("box").addEventListener("submit", (e) => {
  e.preventDefault();
  search.stop();
  go("search", [], { ...(now.route.name === "search" ? now.route.query : {}), q: $("q").value.trim() });
});
/* results come while one types */
const search = quiet(() => {
  const q = $("q").value.trim();
  if (now.route.name === "search" && q !== (now.route.query.q ?? "")) {
    go("search", [], { ...now.route.query, q }, { quietly: true });
    show();
  }
}, 250);
$("q").addEventListener("input", () => search());

$("who").addEventListener("change", (e) => {
  app.who = e.target.value;
  sessionStorage.setItem("clew-who", app.who);
  show({ again: true });
});

const themes = localStorage.getItem("clew-theme");
if (themes) document.documentElement.dataset.theme = themes;
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("clew-theme", root.dataset.theme);
});

/* --- begin ------------------------------------------------------------------ */

frame();
addEventListener("hashchange", () => show());
addEventListener("resize", () => lay(false));
$("stage").addEventListener("scroll", () => lay(false), { capture: true, passive: true });
document.querySelector(".skip").addEventListener("click", (e) => {
  e.preventDefault();
  document.querySelector(".stage > .view")?.focus();
});
await numbers();
show();
people();
startEvents();
setInterval(foot, 15000);
