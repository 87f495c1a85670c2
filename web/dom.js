/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dom.js - elements and words. Text only ever becomes a text node: there is no
 * way here to turn a string into markup.
 */

/* h("a", {class, href, onclick, vars: {"--l": 1}}, "text", child, [more]) */
export function h(tag, props, ...kids) {
  return fill(document.createElement(tag), props, kids);
}
export function s(tag, props, ...kids) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, kids);
}

function fill(el, props, kids) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else if (name === "value" && "value" in el) el.value = value;
    else if (name === "data") Object.assign(el.dataset, value);
    else el.setAttribute(name, value === true ? "" : value);
  }
  add(el, kids);
  return el;
}

export function add(el, ...kids) {
  for (const kid of kids.flat(Infinity)) {
    if (kid === undefined || kid === null || kid === false) continue;
    el.append(kid instanceof Node ? kid : visible(String(kid)));
  }
  return el;
}
export function put(el, ...kids) {
  el.replaceChildren();
  return add(el, ...kids);
}

/* Control characters do nothing here, but they should not hide either: each is
 * shown by its picture. Line ends and tabs stay. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g,
    (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421")
    .replace(/[\u0080-\u009f]/g, "\ufffd");
}

/* The first `max` characters, at a whole one. */
export function clip(text, max) {
  if (!text) return "";
  if (text.length <= max) return text;
  let cut = text.slice(0, max);
  if (/[\ud800-\udbff]$/.test(cut)) cut = cut.slice(0, -1);
  return `${cut}…`;
}

/* --- numbers and times ------------------------------------------------------ */

const whole = new Intl.NumberFormat("en-GB");
export const count = (n) => (n === null || n === undefined ? "–" : whole.format(n));
/* Of a list that was asked for one more than `most`: "100+". */
export const upTo = (n, most) => (n > most ? `${count(most)}+` : count(n));
export function many(n, one, more = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : more}`;
}
/* 41.2k */
export function short(n) {
  if (n === null || n === undefined) return "–";
  if (n < 10000) return count(n);
  return n < 1e6 ? `${(n / 1000).toFixed(n < 1e5 ? 1 : 0)}k` : `${(n / 1e6).toFixed(1)}M`;
}
/* Money without a sign: the currency is that of the prices. */
export function money(x) {
  if (x === null || x === undefined) return "–";
  return x === 0 || x >= 0.1 ? x.toFixed(2) : x < 0.0001 ? "< .0001" : x.toFixed(4).replace(/^0/, "");
}
/* Scores are written .93 */
export function score(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x >= 0.995) return "1.0";
  return x < 0 ? `−${score(-x)}` : x.toFixed(2).replace(/^0/, "");
}
export function bytes(n) {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
export function took(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60000)} min`;
}

const formats = {};
function format(name, options) {
  formats[name] ??= new Intl.DateTimeFormat("en-GB", options);
  return formats[name];
}
const at = (value) => (value instanceof Date ? value : new Date(value));
export const dayOf = (value) => format("day", { day: "numeric", month: "short" }).format(at(value));
export const weekday = (value) => format("week",
  { weekday: "short", day: "numeric", month: "long" }).format(at(value));
export const clock = (value) => format("clock", { hour: "2-digit", minute: "2-digit" }).format(at(value));
export const clockS = (value) => format("clocks",
  { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(at(value));
export const full = (value) => format("full",
  { weekday: "short", day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" }).format(at(value));
/* "14:40", "9 Mar", "9 Mar 2024": as much as is needed. */
export function when(value) {
  const time = at(value);
  const now = new Date();
  if (time.toDateString() === now.toDateString()) return clock(time);
  if (time.getFullYear() === now.getFullYear()) return dayOf(time);
  return format("year", { day: "numeric", month: "short", year: "numeric" }).format(time);
}
/* How long ago, or how long between two. */
export function ago(value, until = Date.now()) {
  const minutes = Math.max(0, (at(until).getTime() - at(value).getTime()) / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 36 * 60) return `${Math.round(minutes / 60)} h`;
  const days = Math.round(minutes / 1440);
  if (days < 60) return many(days, "day");
  return days < 730 ? `${Math.round(days / 30.4)} months` : `${Math.round(days / 365)} years`;
}
export const since = (value) => (ago(value) === "now" ? "just now" : `${ago(value)} ago`);
export const time = (value, words) => h("time", { datetime: value, title: full(value) }, words ?? when(value));

/* --- topics ----------------------------------------------------------------- */

/* Every topic has one of seven yarns, by a hash of its id. */
export function yarn(id) {
  let sum = 2166136261;
  for (const c of String(id ?? "")) sum = Math.imul(sum ^ c.charCodeAt(0), 16777619) >>> 0;
  return `t${1 + (sum >>> 8) % 7}`;
}

/* --- words ------------------------------------------------------------------ */

/* A text with the words of a question marked; cut around the first of them if
 * it is long. */
export function marked(text, terms, max = 900) {
  const words = [...new Set(terms ?? [])].filter((t) => t.length > 1).slice(0, 24)
    .map((t) => t.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  text = String(text ?? "");
  if (!words.length) return [clip(text, max)];
  const find = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]{0,4}(?![\\p{L}\\p{N}])`, "giu");
  let from = 0;
  if (text.length > max) {
    const first = text.slice(0, 200000).search(find);
    from = Math.max(0, first - 200);
    if (/[\udc00-\udfff]/.test(text[from] ?? "")) from++;
  }
  const part = text.slice(from, from + max);
  const out = from > 0 ? ["…"] : [];
  let last = 0;
  for (const hit of part.matchAll(find)) {
    out.push(part.slice(last, hit.index), h("mark", {}, hit[0]));
    last = hit.index + hit[0].length;
  }
  out.push(part.slice(last) + (from + max < text.length ? "…" : ""));
  return out;
}

/* What a person would call the one who speaks. */
export function speaker(turn) {
  if (turn.name) return turn.name;
  return turn.role === "user" ? turn.user_id || "user" : turn.role;
}

/* Say it to a screen reader. */
export function tell(text) {
  const place = document.getElementById("said");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 30);
}

export async function copy(text, button) {
  const old = button?.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    /* no clipboard without a secure context: the old way */
    const area = h("textarea", { class: "vh" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("Copied");
  if (button) {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = old; }, 1200);
  }
}

/* A line to copy. */
export function code(text, label = "Copy") {
  return h("div", { class: "code" }, h("code", {}, text),
    h("button", { class: "btn sm", type: "button", onclick: (e) => copy(text, e.currentTarget) }, label));
}

/* Call `fn` once things have been quiet for `ms`. */
export function quiet(fn, ms) {
  let timer;
  const call = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(fn, ms, ...args);
  };
  call.stop = () => clearTimeout(timer);
  return call;
}
