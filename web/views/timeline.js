/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.js - topics as lanes over days, episodes as bars, links between
 * chats as arcs with their scores. An unsure link is carmine, and asked about.
 */
import { all, get, post } from "../api.js";
import { add, clip, count, dayOf, h, many, put, s, score, since, tell, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { button, sheet, words } from "../parts.js";

const DAY = 864e5;
const LANE = 60;
const spans = [[7, "week"], [15, "15 days"], [91, "quarter"]];

export default async function timeline(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const days = Number(ctx.query.days) || 15;
  const [chains, episodes, links] = await Promise.all([all("chains", { user_id: who }, 1000, opt), all("episodes", { user_id: who }, 500, opt), all("links", { user_id: who }, 500, opt)]);
  const head = (n) => h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Timeline"), n ? h("span", { class: "sum" }, n) : null,
    h("div", { class: "acts" }, h("button", { class: "btn ghost sm", type: "button", onclick: () => shift(-1) }, "Earlier"), h("button", { class: "btn ghost sm", type: "button", onclick: () => shift(1) }, "Later"),
      h("div", { class: "seg", role: "group", "aria-label": "Span" }, spans.map(([d, name]) => h("button", { type: "button", "aria-pressed": String(d === days), onclick: () => ctx.go("timeline", [], { ...ctx.query, days: d }) }, name))))),
  pull(counts, "Topics touched per day"));
  let counts = null;
  const asked = chains.find((c) => c.id === ctx.query.chain);
  const last = asked ? Date.parse(asked.last_extended) : Math.max(0, ...chains.map((c) => Date.parse(c.last_extended)));
  const today = new Date().setHours(24, 0, 0, 0);
  const end = ctx.query.end ? Date.parse(ctx.query.end) : Math.min(today, last ? new Date(last).setHours(24, 0, 0, 0) + (last < Date.now() - 3 * DAY ? DAY : 0) : today);
  const from = end - days * DAY;
  function shift(by) {
    ctx.go("timeline", [], { ...ctx.query, chain: "", end: new Date(end + by * Math.ceil(days / 2) * DAY).toISOString() });
  }
  const inside = (a, b) => Date.parse(a) < end && Date.parse(b) >= from;
  let lanes = chains.filter((c) => inside(c.started_at, c.last_extended)).sort((a, b) => b.claim_count - a.claim_count);
  const total = lanes.length;
  const narrow = matchMedia("(max-width: 720px)").matches;
  /* a phone opens at the last day: what was touched then comes first */
  lanes = lanes.slice(0, 40).sort((a, b) => (narrow ? b.last_extended.localeCompare(a.last_extended) : a.started_at.localeCompare(b.started_at)));
  if (asked && !lanes.includes(asked) && inside(asked.started_at, asked.last_extended)) lanes.unshift(asked);
  const perDay = new Array(days).fill(0);
  for (const c of chains) {
    const i = Math.floor((Date.parse(c.last_extended) - from) / DAY);
    if (i >= 0 && i < days) perDay[i] += c.claim_count;
  }
  counts = perDay;
  if (!chains.length) {
    add(root, head(), h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No topic yet. "), "What is talked about in order makes a lane here, and chats that belong together are joined by arcs."))));
    return {};
  }
  const chatLane = new Map(); /* chat -> lane numbers */
  lanes.forEach((c, i) => chatLane.set(c.chat_id, [...chatLane.get(c.chat_id) ?? [], i]));
  const details = new Map();
  await Promise.all(lanes.slice(0, 40).map((c) => get(`chains/${c.id}`, {}, opt).then((d) => details.set(c.id, d)).catch(() => {})));
  const left = narrow ? 8 : 168;
  const wide = Math.max(narrow ? 900 : 980, root.clientWidth || document.getElementById("stage").clientWidth - 60);
  const width = wide - left - 24;
  const x = (t) => left + ((typeof t === "string" ? Date.parse(t) : t) - from) / (end - from) * width;
  const top = 44;
  const y = (i) => top + 26 + i * LANE;
  const height = top + lanes.length * LANE + 20;
  const svg = s("svg", { class: "tl", width: wide, height, viewBox: `0 0 ${wide} ${height}`, role: "group", "aria-label": `${many(lanes.length, "topic")} from ${dayOf(from)} to ${dayOf(end - 1)}` });
  const every = Math.ceil(days / 15);
  for (let i = 0; i < days; i++) {
    const t = from + i * DAY;
    const d = new Date(t + DAY / 2);
    if ([0, 6].includes(d.getDay())) svg.append(s("rect", { class: "wk", x: x(t), y: top - 12, width: width / days, height: height - top }));
    if (days <= 31) svg.append(s("path", { class: "ax", d: `M${x(t)} ${top - 12}V${height - 10}` }));
    if (i % every === 0) svg.append(s("text", { x: x(t) + 4, y: 20, class: d.toDateString() === new Date().toDateString() ? "i b" : "" }, d.toDateString() === new Date().toDateString() ? "today" : dayOf(d)));
  }
  if (Date.now() > from && Date.now() < end) svg.append(s("path", { class: "ht half", d: `M${x(Date.now())} ${top - 12}V${height - 10}` }));
  /* episodes, behind */
  for (const e of episodes.filter((v) => v.type === "primary")) {
    for (const i of chatLane.get(e.chat_id) ?? []) {
      const claims = details.get(lanes[i].id)?.claims ?? [];
      const own = claims.filter((c) => c.chat_id === e.chat_id && c.seq >= (e.first_seq ?? 0) && c.seq <= (e.last_seq ?? e.compacted_seq ?? Infinity));
      if (!own.length) continue;
      const a = x(own[0].created_at);
      const b = x(own.at(-1).created_at);
      svg.append(s("rect", { class: `ep ${yarn(lanes[i].id)}`, x: Math.max(left, a - 9), y: y(i) - 9, width: Math.max(18, b - a + 18), height: 18, rx: 9 }));
    }
  }
  lanes.forEach((c, i) => {
    const g = s("g", { class: `lane ${yarn(c.id)}`, tabindex: "0", role: "button", onclick: () => open(c), onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(c); } } });
    const claims = (details.get(c.id)?.claims ?? []).map((k) => Date.parse(k.created_at));
    const a = Math.max(left, x(c.started_at));
    const b = Math.min(left + width, x(c.last_extended));
    g.append(s("rect", { x: 0, y: y(i) - 26, width: wide, height: LANE - 4, fill: "transparent" }));
    const end_ = c.state === "active" && Date.now() < end ? left + width - 8 : Math.max(b, a + 40);
    g.append(s("text", { class: c === asked ? "i b" : "i", "text-anchor": narrow ? "end" : "start", x: narrow ? end_ : 0, y: narrow ? y(i) - 14 : y(i) - 2 }, clip(c.topic, narrow ? 30 : 24)));
    if (!narrow) g.append(s("text", { x: 0, y: y(i) + 13 }, `${c.state}, ${many(c.claim_count, "statement")}`));
    let prev = null;
    for (const t of claims) {
      if (t < from || t > end) { prev = t; continue; }
      if (prev !== null) g.append(s("path", { class: t - prev > DAY / 2 ? "y dash half" : "y", d: `M${Math.max(left, x(prev))} ${y(i)}H${x(t)}` }));
      g.append(s("circle", { class: "yf", cx: x(t), cy: y(i), r: 3 }));
      prev = t;
    }
    if (c.state === "concluded") g.append(s("circle", { class: "yo", cx: b, cy: y(i), r: 5 }), s("circle", { class: "yf", cx: b, cy: y(i), r: 2 }));
    else if (c.state === "active" && Date.now() < end && Date.now() > from) g.append(s("path", { class: "y dash half", d: `M${b} ${y(i)}H${x(Date.now())}` }), s("circle", { class: "yo", cx: x(Date.now()), cy: y(i), r: 4.500 }));
    svg.append(g);
  });
  /* links between chats, above */
  const unsure = [];
  let arcs = 0;
  for (const l of links) {
    if (l.decision !== "link" && l.confidence !== "uncertain") continue;
    if (!l.outcome && (l.confidence === "uncertain" || Math.abs(l.algorithmic - l.threshold) < 0.12)) unsure.push(l);
    const [a] = chatLane.get(l.other_chat_id) ?? [];
    const [b] = chatLane.get(l.chat_id) ?? [];
    if (a === undefined || b === undefined || (a === b)) continue;
    const xa = Math.min(left + width, x(lanes[a].last_extended));
    const xb = Math.max(left, Math.min(left + width, x(l.created_at)));
    if (xb < left) continue;
    const mid = [(xa + xb) / 2, (y(a) + y(b)) / 2];
    svg.append(s("path", { class: `arc ${l.confidence === "uncertain" ? "unsure" : ""}`, d: `M${xa} ${y(a)}C${xa + 30} ${mid[1]} ${xb - 30} ${mid[1]} ${xb} ${y(b)}` }), s("text", { class: "lab", x: mid[0], y: mid[1] + 4, "text-anchor": "middle" }, score(l.llm ?? l.algorithmic)));
    arcs++;
  }
  const judge = h("div", { "aria-live": "polite" });
  const wrap = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lanes" }, svg);
  add(root, head(`${many(total, "topic")}, ${many(episodes.filter((e) => inside(e.created_at, e.created_at)).length, "episode")}, ${many(arcs, "link")} in ${days} days${total > lanes.length ? `; the ${lanes.length} largest are drawn` : ""}`),
    h("div", { class: "body" }, wrap, judge, lanes.length ? null : state("frayed", h("p", {}, "Nothing was said in these days.")), h("ul", { class: "vh" }, lanes.map((c) => h("li", {}, `${c.topic}: ${c.state}, ${dayOf(c.started_at)} to ${dayOf(c.last_extended)}, ${many(c.claim_count, "statement")}`)))));

  async function ask(i) {
    const l = unsure[i];
    if (!l) {
      put(judge, links.length ? state("", h("p", {}, h("b", {}, "No link waits for a word. "), `${count(links.filter((k) => k.decision === "link").length)} links were found.`)) : null);
      return;
    }
    try {
      const sides = await Promise.all([l.other_chat_id, l.chat_id].map(async (c) => ({ chat: await get(`chats/${c}`, {}, opt), turns: (await get(`chats/${c}/turns`, { limit: 1 }, opt)).items })));
      const say = async (outcome) => {
        try {
          await post(`links/${l.id}/feedback`, { outcome });
          tell("Thank you; linking learns from it");
          ask(i + 1);
        } catch (error) { ctx.note(words(error)); }
      };
      const linked = l.decision === "link";
      put(judge, h("section", { class: "judge", "aria-label": "Is this link right?" }, h("p", { class: "big" }, score(l.llm ?? l.algorithmic), h("small", {}, linked ? "joined, not sure" : "kept apart, not sure")),
        h("div", { class: "pair" }, sides.map((sd) => h("div", {}, h("p", { class: "meta" }, h("a", { class: `topic ${yarn(sd.chat.id)}`, href: `#/chat/${sd.chat.id}` }, clip(sd.chat.title ?? "untitled", 40)), sd.chat.channels[0] && h("span", {}, sd.chat.channels[0]), h("span", {}, sd.chat.user_id), h("span", {}, since(sd.chat.created_at))),
          h("p", { class: "said", dir: "auto" }, clip(sd.turns[0]?.text ?? "", 200))))),
        h("div", { class: "acts" }, button("They belong together", { role: "write", cls: "go", onclick: () => say(linked ? "correct" : "incorrect") }), button("They do not", { role: "write", onclick: () => say(linked ? "incorrect" : "correct") }),
          h("button", { class: "btn ghost", type: "button", onclick: () => ask(i + 1) }, "Later"))));
    } catch (error) { if (!signal.aborted) ctx.note(words(error)); }
  }
  async function open(c) {
    const d = details.get(c.id) ?? await get(`chains/${c.id}`).catch(() => null);
    if (!d) return;
    await sheet(c.topic, (close) => {
      const move = (verb) => async () => {
        try {
          await post(`chains/${c.id}/${verb}`);
          close();
          ctx.again();
        } catch (error) { ctx.note(words(error)); close(); }
      };
      return [h("p", { class: "meta" }, h("span", {}, c.state), h("span", {}, c.user_id), h("span", {}, many(c.claim_count, "statement"))),
        h("ul", { class: "lin-list" }, d.claims.slice(-30).map((k) => h("li", {}, h("a", { class: "said", href: `#/chat/${k.chat_id}?at=${k.seq}`, onclick: () => close() }, clip(k.statement, 240)), h("span", { class: "dim" }, ` ${k.type}, turn ${k.seq}`)))),
        h("div", { class: "acts" }, c.state === "concluded" || c.state === "dormant" ? button("Reopen", { role: "write", onclick: move("reopen") }) : button("Conclude", { role: "write", onclick: move("conclude") }),
          h("button", { class: "btn", type: "button", autofocus: true, onclick: () => close() }, "Close"))];
    });
  }
  ask(0);
  return { shown() { if (narrow) wrap.scrollLeft = wrap.scrollWidth; } };
}
