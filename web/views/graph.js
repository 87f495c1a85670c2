/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.js - people, chats, memories and things, and how they hang together.
 * Laid out by springs, a little per frame; drag to move, wheel or buttons to
 * come nearer. The same neighbours are listed at the side.
 */
import { all } from "../api.js";
import { add, clip, h, many, put, s, time, yarn } from "../dom.js";
import { pull, state } from "../draw.js";

const MEMORIES = 110;
const CHATS = 40;
const sorts = { person: "people", chat: "chats", memory: "memories", thing: "things" };

export default async function graph(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const { tag = "", since = "", show = "" } = ctx.query;
  const [memories, chats, links] = await Promise.all([all("memories", { user_id: who, tag, limit: 500 }, 500, opt),
    all("chats", { user_id: who, since: since ? new Date(`${since}T00:00`).toISOString() : "" }, 300, opt), all("links", { user_id: who, decision: "link" }, 300, opt)]);
  const kept = memories.filter((m) => !since || m.created_at >= since).slice(0, MEMORIES);
  const nodes = new Map();
  const edges = [];
  const node = (kind, id, label, more) => {
    const key = `${kind} ${id}`;
    if (!nodes.has(key)) nodes.set(key, { key, kind, id, label, n: 0, ...more });
    return nodes.get(key);
  };
  const tie = (a, b, strong) => {
    if (!a || !b || a === b) return;
    edges.push({ a, b, strong });
    a.n++;
    b.n++;
  };
  const byId = new Map(chats.map((c) => [c.id, c]));
  const wanted = new Set(kept.map((m) => m.chat_id).filter((id) => byId.has(id)));
  for (const c of chats) if (wanted.size < CHATS) wanted.add(c.id);
  for (const id of wanted) {
    const c = byId.get(id);
    tie(node("chat", id, c.title ?? "untitled", { href: `#/chat/${id}`, at: c.last_activity_at }), c.user_id ? node("person", c.user_id, c.user_id, { href: `#/memories?user=${encodeURIComponent(c.user_id)}` }) : null);
  }
  const tags = new Map();
  for (const m of kept) for (const t of m.tags) tags.set(t, (tags.get(t) ?? 0) + 1);
  for (const m of kept) {
    const v = node("memory", m.id, m.summary, { href: `#/memories/${m.id}`, at: m.created_at, was: m.superseded, type: m.type });
    const home = nodes.get(`chat ${m.chat_id}`);
    tie(v, home ?? (m.agent_name ? node("person", m.agent_name, m.agent_name, { href: "#/agents" }) : m.user_id ? node("person", m.user_id, m.user_id, {}) : null));
    for (const t of m.tags) if (tags.get(t) > 1) tie(v, node("thing", t, t, { href: `#/memories?tag=${encodeURIComponent(t)}` }));
    for (const src of m.source_ids ?? []) tie(v, nodes.get(`memory ${src}`), true);
  }
  for (const l of links) tie(nodes.get(`chat ${l.chat_id}`), nodes.get(`chat ${l.other_chat_id}`), true);
  const list = [...nodes.values()].filter((v) => v.n > 0 || v.kind !== "thing").filter((v) => !show || v.kind === show || v.kind === "person");
  const inList = new Set(list);
  const ties = edges.filter((e) => inList.has(e.a) && inList.has(e.b));
  const topTags = [...tags].filter(([, n]) => n > 1).sort((a, b) => b[1] - a[1]).slice(0, 60);
  const change = (more) => ctx.go("graph", [], { ...ctx.query, ...more });
  const tagPick = h("select", { class: "chip", "aria-label": "Topic", onchange: (e) => change({ tag: e.target.value }) }, h("option", { value: "" }, "any topic"), topTags.map(([t, n]) => h("option", { value: t }, `${clip(t, 30)} (${n})`)), tag && !topTags.some(([t]) => t === tag) ? h("option", { value: tag }, tag) : null);
  tagPick.value = tag;
  const counts = Object.keys(sorts).map((k) => [k, list.filter((v) => v.kind === k).length]);
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Graph"), h("span", { class: "sum" }, counts.map(([k, n]) => many(n, k, sorts[k])).join(", ")),
    h("div", { class: "acts" }, tagPick, h("input", { type: "date", class: "chip", "aria-label": "Since", value: since, onchange: (e) => change({ since: e.target.value }) }),
      h("button", { class: "btn ghost sm", type: "button", "aria-label": "Nearer", onclick: () => zoom(0.8) }, "+"), h("button", { class: "btn ghost sm", type: "button", "aria-label": "Farther", onclick: () => zoom(1.25) }, "−"))),
  pull(counts.map(([, n]) => n), "people, chats, memories, things"),
  h("div", { class: "filters", role: "group", "aria-label": "Show" }, [["", "Everything"], ...Object.entries(sorts).slice(1)].map(([k, name]) => h("button", { class: "chip", type: "button", "aria-pressed": String(show === k), onclick: () => change({ show: k }) }, name[0].toUpperCase() + name.slice(1))))));
  if (!list.length) {
    add(root, h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "Nothing to draw. "), tag || since ? "Nothing fits these filters." : "People, chats, memories and what they speak of will hang together here."))));
    return {};
  }
  const svg = s("svg", { class: "graph", role: "group", "aria-label": `Graph of ${many(list.length, "node")} and ${many(ties.length, "tie")}` });
  const side = h("aside", { class: "graph-side", "aria-live": "polite" });
  add(root, h("div", { class: "graph-wrap" }, svg, side));

  /* --- where everything is --- */
  list.forEach((v, i) => {
    const r = v.kind === "person" ? 60 : v.kind === "chat" ? 180 : v.kind === "thing" ? 260 : 330;
    v.x = Math.cos(i * 2.399963) * r;
    v.y = Math.sin(i * 2.399963) * r;
    v.vx = v.vy = 0;
  });
  const rest = { person: 90, chat: 70, memory: 46, thing: 50 };
  function tick(heat) {
    for (let i = 0; i < list.length; i++) {
      const a = list[i];
      for (let k = i + 1; k < list.length; k++) {
        const b = list[k];
        let dx = a.x - b.x;
        let dy = a.y - b.y;
        const d2 = dx * dx + dy * dy + 0.01;
        if (d2 > 90000) continue;
        const f = 900 / d2;
        dx *= f;
        dy *= f;
        a.vx += dx; a.vy += dy;
        b.vx -= dx; b.vy -= dy;
      }
      a.vx -= a.x * 0.012;
      a.vy -= a.y * 0.012;
    }
    for (const e of ties) {
      const dx = e.b.x - e.a.x;
      const dy = e.b.y - e.a.y;
      const d = Math.hypot(dx, dy) || 1;
      const f = (d - Math.max(rest[e.a.kind], rest[e.b.kind])) / d * 0.06;
      e.a.vx += dx * f; e.a.vy += dy * f;
      e.b.vx -= dx * f; e.b.vy -= dy * f;
    }
    for (const v of list) {
      v.x += Math.max(-20, Math.min(20, v.vx)) * heat;
      v.y += Math.max(-20, Math.min(20, v.vy)) * heat;
      v.vx *= 0.6;
      v.vy *= 0.6;
    }
  }
  const busiest = new Set([...list].sort((a, b) => b.n - a.n).slice(0, 22));
  for (const e of ties) svg.append(e.el = s("path", { class: `e ${e.strong ? "strong" : ""}` }));
  for (const v of list) {
    const mark = v.kind === "person" ? s("circle", { class: "ho", r: 7 }) : v.kind === "chat" ? s("circle", { class: "yf", r: 5 })
      : v.kind === "memory" ? s("rect", { class: v.was ? "yo" : "yf", x: -4, y: -4, width: 8, height: 8, transform: "rotate(45)" }) : s("circle", { class: "ax2", r: 3.500, fill: "var(--paper)" });
    const named = v.kind === "person" || v.kind === "thing" || busiest.has(v);
    v.el = s("g", { class: `v ${yarn(v.kind === "memory" || v.kind === "chat" ? v.id : v.key)}`, tabindex: "-1", role: "button", "aria-label": named ? undefined : `${v.kind}: ${clip(v.label, 80)}`, onclick: () => open(v) },
      s("circle", { r: 12, fill: "transparent" }), mark, named ? s("text", { x: 9, y: 4 }, clip(v.label, v.kind === "memory" ? 22 : 26)) : null);
    svg.append(v.el);
  }
  const view = { x: 0, y: 0, w: 1000 };
  function frame() {
    for (const e of ties) e.el.setAttribute("d", `M${e.a.x.toFixed(1)} ${e.a.y.toFixed(1)}L${e.b.x.toFixed(1)} ${e.b.y.toFixed(1)}`);
    const k = view.w / (svg.clientWidth || 900); /* marks and words keep their size */
    for (const v of list) v.el.setAttribute("transform", `translate(${v.x.toFixed(1)} ${v.y.toFixed(1)}) scale(${k.toFixed(3)})`);
  }
  function look() {
    const ratio = (svg.clientHeight || 600) / (svg.clientWidth || 900);
    svg.setAttribute("viewBox", `${view.x - view.w / 2} ${view.y - view.w * ratio / 2} ${view.w} ${view.w * ratio}`);
  }
  function zoom(by) {
    view.w = Math.max(120, Math.min(6000, view.w * by));
    look();
    frame();
  }
  let round = 0;
  let raf = 0;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  function run() {
    const until = performance.now() + 9;
    do { tick(Math.max(0.05, 1 - round / 260)); round++; } while (round < 260 && (still || performance.now() < until));
    fit();
    if (round < 260) raf = requestAnimationFrame(run);
  }
  function fit() {
    const xs = list.map((v) => v.x);
    const ys = list.map((v) => v.y);
    const ratio = (svg.clientHeight || 600) / (svg.clientWidth || 900);
    view.x = (Math.min(...xs) + Math.max(...xs)) / 2;
    view.y = (Math.min(...ys) + Math.max(...ys)) / 2;
    view.w = Math.max(300, Math.max(...xs) - Math.min(...xs) + 160, (Math.max(...ys) - Math.min(...ys) + 80) / ratio);
    look();
    frame();
  }
  svg.addEventListener("wheel", (e) => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.12 : 0.89); }, { passive: false });
  let grip = null;
  svg.addEventListener("pointerdown", (e) => { if (!e.target.closest(".v")) { grip = [e.clientX, e.clientY]; svg.setPointerCapture(e.pointerId); } });
  svg.addEventListener("pointermove", (e) => {
    if (!grip) return;
    const k = view.w / svg.clientWidth;
    view.x -= (e.clientX - grip[0]) * k;
    view.y -= (e.clientY - grip[1]) * k;
    grip = [e.clientX, e.clientY];
    look();
  });
  svg.addEventListener("pointerup", () => { grip = null; });

  function open(v) {
    const near = new Set([v]);
    for (const e of ties) {
      if (e.a === v) near.add(e.b);
      if (e.b === v) near.add(e.a);
    }
    for (const x of list) { x.el.classList.toggle("off", !near.has(x)); x.el.classList.toggle("on", x === v); }
    for (const e of ties) e.el.classList.toggle("off", e.a !== v && e.b !== v);
    near.delete(v);
    put(side, h("p", { class: "meta" }, h("span", {}, v.type ?? v.kind), v.at ? h("span", {}, time(v.at)) : null), h("h2", {}, clip(v.label, 300)),
      h("p", {}, v.href ? h("a", { class: "link", href: v.href }, "Open") : null, " ", h("button", { class: "btn ghost sm", type: "button", onclick: all_ }, "Show all")),
      h("ul", {}, [...near].slice(0, 60).map((x) => h("li", {}, h("button", { class: "fc", type: "button", onclick: () => open(x) }, h("span", {}, clip(x.label, 60)), h("span", {}, x.kind))))));
  }
  function all_() {
    for (const x of list) x.el.classList.remove("off", "on");
    for (const e of ties) e.el.classList.remove("off");
    put(side, h("h2", {}, "What hangs on most"), h("ul", {}, [...list].sort((a, b) => b.n - a.n).slice(0, 40).map((x) => h("li", {}, h("button", { class: "fc", type: "button", onclick: () => open(x) }, h("span", {}, clip(x.label, 60)), h("span", {}, `${x.kind}, ${x.n}`))))));
  }
  all_();
  return { shown() { look(); run(); }, close() { cancelAnimationFrame(raf); } };
}
