/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.js - what is open, what was said and remembered lately, what disagrees;
 * and, while there is nothing, how to connect a client.
 */
import { call, get, stats } from "../api.js";
import { add, ago, clip, count, dayOf, h, many, s, since, time, upTo, weekday, yarn } from "../dom.js";
import { crossing, curve, effortLine, points, state } from "../draw.js";
import { memoryMeta, memoryYarn } from "../parts.js";
import { clients, hello } from "./connect.js";

const CONFLICTS = 3; /* shown */

/* Turns that wait to be read: chats that wait too concern nobody here. */
const unreadOf = (health) => (health.reading?.waiting ?? 0) - (health.reading?.chats ?? 0);

/* Thirty days: up to today, or where nothing came lately up to the last day
 * that has something. */
function month(days) {
  let end = days.length;
  const busy = (d) => d.turns || d.calls;
  if (!days.slice(-30).some(busy)) {
    while (end > 30 && !busy(days[end - 1])) end--;
  }
  return days.slice(Math.max(0, end - 30), end);
}

function plot(days) {
  const most = Math.max(1, ...days.map((d) => Math.max(d.turns, d.calls)));
  const turns = points(days.map((d) => d.turns), 1000, 16, 104, most);
  const calls = points(days.map((d) => d.calls), 1000, 16, 104, most);
  const best = days.reduce((b, d, i) => (d.turns > days[b].turns ? i : b), 0);
  const label = `Turns and calls per day, ${dayOf(days[0].date)} to ${dayOf(days.at(-1).date)}; most on ${dayOf(days[best].date)}, ${many(days[best].turns, "turn")}`;
  const ticks = [0, 1, 2, 3, 4].map((i) => days[Math.round(i * (days.length - 1) / 4)]);
  return [
    h("figure", { class: "plotw" },
      days[best].turns ? h("figcaption", { vars: { left: `${Math.min(94, Math.max(4, turns[best][0] / 10))}%` } }, many(days[best].turns, "turn")) : null,
      s("svg", { class: "plot", viewBox: "0 0 1000 112", preserveAspectRatio: "none", role: "img", "aria-label": label, "data-y": turns[0][1] / 112 },
        s("path", { class: "ax", d: "M0 104H1000", "vector-effect": "non-scaling-stroke" }),
        s("path", { d: curve(calls), fill: "none", stroke: "var(--ink-3)", "stroke-width": 1, "vector-effect": "non-scaling-stroke" }),
        s("path", { d: curve(turns), class: "ht", "vector-effect": "non-scaling-stroke" }))),
    h("div", { class: "axis", "aria-hidden": "true" }, ticks.map((d, i) => h("span", {}, i === 4 && new Date(d.date).toDateString() === new Date().toDateString() ? `today, ${dayOf(d.date)}` : dayOf(d.date)))),
  ];
}

/* Efforts on one shared scale of time. */
function effortRows(efforts) {
  const now = Date.now();
  const from = Math.min(...efforts.map((e) => Date.parse(e.created_at)));
  const last = Math.max(...efforts.map((e) => Date.parse(e.updated_at)));
  const end = now - last > 30 * 864e5 ? last + 864e5 : now;
  const at = (t) => 6 + Math.max(0, Math.min(1, (t - from) / Math.max(1, end - from))) * 196;
  return efforts.map((e) => h("a", { class: `li eff ${yarn(e.chat_id)}`, href: `#/efforts?at=${e.id}` },
    h("div", {}, h("div", { class: "ti" }, clip(e.summary, 200)),
      h("div", { class: "meta" }, h("span", { class: "iso" }, e.agent_name ?? e.user_id), h("span", {}, "since ", time(e.created_at)))),
    s("svg", { viewBox: "0 0 220 20", preserveAspectRatio: "xMaxYMid meet", role: "img", "aria-label": `opened ${weekday(e.created_at)}` },
      effortLine(e, at, 220, end)),
    h("span", { class: "age" }, ago(e.created_at))));
}

/* A chat's topics by how much of it they are. */
function strip(chat, chains) {
  const sum = chains.reduce((n, c) => n + c.claim_count, 0);
  let x = 0;
  return s("svg", { class: "strip", viewBox: "0 0 100 3", preserveAspectRatio: "none", "aria-hidden": "true" },
    sum ? chains.map((c) => {
      const w = (c.claim_count / sum) * 100;
      const rect = s("rect", { class: yarn(c.id), x, width: Math.max(0.6, w - 0.8), height: 3 });
      x += w;
      return rect;
    }) : s("rect", { x: 0, width: 100, height: 3, class: "t7", opacity: ".3" }));
}

export default async function home(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const from = new Date(Date.now() - 364 * 864e5).toISOString();
  const numbers = await stats({ since: from, user_id: who }, opt);
  if (!numbers.turns && !numbers.calls && !numbers.memories.holding && !who) return hello(ctx);
  const [efforts, chats, memories, conflicts, calls, health] = await Promise.all([
    get("memories", { type: "effort", status: "open", limit: 6, user_id: who }, opt),
    get("chats", { limit: 5, user_id: who }, opt),
    get("memories", { limit: 12, user_id: who }, opt),
    get("conflicts", { limit: CONFLICTS + 1, user_id: who }, opt),
    get("requests", { limit: 50, user_id: who }, opt),
    call("GET", "/healthz", undefined, opt).catch(() => ({})), /* without it one line less */
  ]);
  const chains = await Promise.all(chats.items.map((c) => get("chains", { chat_id: c.id, limit: 50 }, opt).then((x) => x.items)));
  const days = month(numbers.days);
  const kept = memories.items.filter((m) => m.type !== "effort").slice(0, 5);
  const open = numbers.memories.efforts.open ?? 0;
  const turns = days.reduce((n, d) => n + d.turns, 0);
  const asked = days.reduce((n, d) => n + d.calls, 0);
  const unread = h("span", { class: "sum unread", role: "status" });
  const sayUnread = (n) => { unread.textContent = n ? `${many(n, "turn")} ${n === 1 ? "waits" : "wait"} to be read` : ""; };
  sayUnread(unreadOf(health));
  add(root, h("div", { class: "head" },
    h("div", { class: "row" }, h("h1", {}, "Home"),
      h("span", { class: "sum" }, `${many(turns, "turn")} and ${many(asked, "call")} in ${days.length} days; ${many(numbers.memories.holding, "memory", "memories")} hold`), unread,
      h("div", { class: "legend hide-s", "aria-hidden": "true" }, h("span", {}, h("i"), "turns"), h("span", {}, h("i", { class: "c" }), "calls"))),
    plot(days)),
  h("div", { class: "body" },
    h("div", { class: "two" },
      h("div", { class: "stack" },
        h("section", { "aria-label": "Open efforts" },
          h("div", { class: "cap" }, h("h2", {}, "Open efforts"), h("span", { class: "n" }, count(open)), h("a", { href: "#/efforts" }, "board")),
          efforts.items.length ? effortRows(efforts.items)
            : state("frayed", h("p", {}, h("b", {}, "No effort is open. "), "One opens when somebody wants something done: “Can you plan the repair?”"))),
        h("section", { "aria-label": "Conflicts waiting" },
          h("div", { class: "cap" }, h("h2", {}, "Conflicts waiting"), conflicts.items.length ? h("span", { class: "n" }, upTo(conflicts.items.length, CONFLICTS)) : null,
            conflicts.items.length ? h("a", { href: "#/conflicts" }, "settle") : null),
          conflicts.items.length ? conflicts.items.slice(0, CONFLICTS).map((c, i) => h("a", { class: "cross", href: `#/conflicts/${i}` },
            h("div", {}, h("p", {}, clip(c.older.summary, 160)), h("div", { class: "meta" }, h("span", {}, c.user_id), h("span", {}, time(c.older.created_at)))),
            crossing(yarn(c.older.id)),
            h("div", { class: "r" }, h("p", {}, clip(c.newer.summary, 160)), h("div", { class: "meta" }, h("span", {}, time(c.newer.created_at))))))
            : state("", h("p", {}, h("b", {}, "No conflict waits. "), "Two memories that cannot both hold would meet here.")))),
      h("div", { class: "stack" },
        h("section", { "aria-label": "Recent chats" },
          h("div", { class: "cap" }, h("h2", {}, "Recent chats"), h("a", { href: "#/chats" }, `all ${count(numbers.chats)}`)),
          chats.items.map((c, i) => h("a", { class: "li cht", href: `#/chat/${c.id}` },
            h("span", { class: "ti" }, c.title ?? "untitled"),
            h("span", { class: "meta" }, h("span", {}, c.channels[0] ?? c.user_id), h("span", {}, ago(c.last_activity_at))),
            strip(c, chains[i])))),
        h("section", { "aria-label": "Lately remembered" },
          h("div", { class: "cap" }, h("h2", {}, "Lately remembered"), h("a", { href: "#/memories" }, `all ${count(numbers.memories.holding)}`)),
          kept.length ? kept.map((m) => h("a", { class: `li mem ${memoryYarn(m)}`, href: `#/memories/${m.id}` },
            h("i", { class: `dia ${m.superseded ? "was" : ""}` }), h("div", {}, h("div", { class: "ti" }, clip(m.summary, 300)), memoryMeta(m))))
            : state("frayed", h("p", {}, h("b", {}, "Nothing was kept yet. "), "Facts, decisions and events appear here when somebody states them."))))),
    h("div", { class: "wire" }, clients(calls.items).map((c) => h("span", {}, h("b", {}, c.name), ` ${since(c.at)}`)),
      h("a", { class: "btn sm", href: "#/connect" }, "Connect a client"))));
  let waiting;
  /* What waits is read within moments: say how many are left, then look anew. */
  let reading;
  const follow = async () => {
    const left = unreadOf(await call("GET", "/healthz", undefined, opt).catch(() => ({})));
    if (signal.aborted) return;
    sayUnread(left);
    if (left) reading = setTimeout(follow, 2000);
    else if (root.scrollTop < 40 && !document.querySelector("dialog[open]")) ctx.again();
  };
  if (unreadOf(health)) reading = setTimeout(follow, 1000);
  return {
    event(e) {
      if (!["turn", "memory", "effort", "call", "forgotten", "missed"].includes(e.kind)) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => { if (root.scrollTop < 40 && !document.querySelector("dialog[open]")) ctx.again(); }, 1500);
    },
    close() {
      clearTimeout(waiting);
      clearTimeout(reading);
    },
  };
}
