/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.js - who contributes thoughts, what is walked most, who refined whom;
 * and undoing what one of them wrote, with a look at it first.
 */
import { all, get, post, stats } from "../api.js";
import { add, clip, count, full, h, many, s, since, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { button, memoryMeta, memoryYarn, sheet, showReceipt, words } from "../parts.js";

/* Contributors on a line; an arc from who refined to who was refined. */
function knots(names, pairs) {
  const gap = 110;
  const width = Math.max(420, names.length * gap + 40);
  const high = 150;
  const x = new Map(names.map((n, i) => [n.id, 40 + i * gap]));
  const most = Math.max(1, ...pairs.map((p) => p.n));
  return s("svg", { class: "knots", width, height: high + 50, viewBox: `0 0 ${width} ${high + 50}`, role: "img", "aria-label": pairs.map((p) => `${p.from} refined ${p.to} ${p.n} times`).join("; ") || "nobody refined anybody" },
    s("path", { class: "ax2", d: `M10 ${high}H${width - 10}` }),
    pairs.map((p) => {
      const a = x.get(p.from);
      const b = x.get(p.to);
      if (a === undefined || b === undefined) return null;
      const up = a === b ? 40 : Math.min(130, Math.abs(a - b) * 0.55);
      const d = a === b ? `M${a - 6} ${high - 6}C${a - 30} ${high - 60} ${a + 30} ${high - 60} ${a + 6} ${high - 6}` : `M${a} ${high - 6}C${a} ${high - up} ${b} ${high - up} ${b} ${high - 6}`;
      return s("g", { class: yarn(p.from) }, s("path", { class: "y", d, "stroke-width": 1 + 3 * p.n / most, opacity: 0.8 }), s("text", { x: (a + b) / 2, y: high - up * 0.75 - (a > b ? 18 : 6), "text-anchor": "middle" }, count(p.n)));
    }),
    names.map((n) => s("g", { class: yarn(n.id) }, s("circle", { class: "yf", cx: x.get(n.id), cy: high, r: 5 }), s("text", { class: "i", x: x.get(n.id), y: high + 22, "text-anchor": "middle" }, clip(n.name, 15)), s("text", { x: x.get(n.id), y: high + 37, "text-anchor": "middle" }, many(n.n, "thought")))));
}

export default async function agents(ctx) {
  const { root, signal } = ctx;
  const opt = { signal };
  const [numbers, thoughts, packages] = await Promise.all([stats({ since: new Date(Date.now() - 89 * 864e5).toISOString() }, opt), all("memories", { origin: "contributed", retracted: "true" }, 1000, opt), get("agents", {}, opt)]);
  const by = numbers.memories.by_agent;
  const byId = new Map(thoughts.map((t) => [t.id, t]));
  const pairs = new Map();
  const last = new Map();
  for (const t of thoughts) {
    if (!last.has(t.agent_id)) last.set(t.agent_id, t.created_at);
    for (const src of t.source_ids ?? []) {
      const from = byId.get(src);
      const key = `${t.agent_id} ${from?.agent_id ?? "what was said"}`;
      pairs.set(key, { from: t.agent_id, to: from?.agent_id ?? "what was said", n: (pairs.get(key)?.n ?? 0) + 1 });
    }
  }
  const names = by.slice(0, 12).map((a) => ({ id: a.agent_id, name: a.agent_name ?? a.agent_id, n: a.memories }));
  if ([...pairs.values()].some((p) => p.to === "what was said")) names.push({ id: "what was said", name: "what was said", n: [...pairs.values()].filter((p) => p.to === "what was said").reduce((n, p) => n + p.n, 0) });
  const walked = thoughts.filter((t) => !t.retracted_at).sort((a, b) => b.weight - a.weight).slice(0, 12);

  async function undo(agent) {
    const day = new Date(Date.now() - 864e5);
    const input = h("input", { class: "inp", type: "datetime-local", id: "undo-since", value: new Date(day.getTime() - day.getTimezoneOffset() * 60000).toISOString().slice(0, 16) });
    const from = await sheet(`Undo what ${agent.agent_name ?? agent.agent_id} wrote`, (close) => h("form", { onsubmit: (e) => { e.preventDefault(); close(new Date(input.value).toISOString()); } },
      h("div", { class: "f" }, h("label", { for: "undo-since" }, "Everything since"), input), h("p", {}, "First you see what it is; nothing is removed, it is taken back."),
      h("div", { class: "acts" }, h("button", { class: "btn ghost", type: "button", onclick: () => close() }, "Leave it"), h("button", { class: "btn", type: "submit" }, "Show what would go"))));
    if (!from) return;
    try {
      const plan = await post("memories/undo", { from: agent.agent_id, since: from, dry_run: true });
      const some = await Promise.all(plan.retracted.slice(0, 8).map((id) => get(`memories/${id}`).catch(() => null)));
      const done = await sheet(plan.retracted.length ? `Take back ${many(plan.retracted.length, "thought")}${plan.more ? " and more" : ""}?` : "There is nothing to take back", (close) => [
        h("ul", { class: "will" }, some.filter(Boolean).map((m) => h("li", {}, clip(m.summary, 160), h("span", { class: "dim" }, `, ${full(m.created_at)}`))), plan.retracted.length > 8 ? h("li", {}, `${count(plan.retracted.length - 8)} more`) : null, h("li", {}, "what they superseded holds again")),
        h("div", { class: "acts" }, h("button", { class: "btn ghost", type: "button", autofocus: true, onclick: () => close() }, "Leave it"),
          plan.retracted.length ? h("button", { class: "btn grave", type: "button", onclick: async (e) => {
            e.currentTarget.disabled = true;
            try { close(await post("memories/undo", { from: agent.agent_id, since: from })); } catch (error) { ctx.note(words(error)); close(); }
          } }, "Take back") : null)], { grave: true });
      if (done) {
        await showReceipt("Taken back", [many(done.retracted.length, "thought"), ...done.retracted.slice(0, 20)], null);
        ctx.again();
      }
    } catch (error) { ctx.note(words(error)); }
  }

  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Agents"), h("span", { class: "sum" }, `${many(by.length, "contributor")}, ${many(thoughts.filter((t) => !t.retracted_at).length, "thought")}`)), pull(numbers.days.map((d) => d.memories), "Memories per day in 90 days")),
    h("div", { class: "body" }, by.length ? [
      h("section", {}, h("div", { class: "cap" }, h("h2", {}, "Who refined whom")), pairs.size ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who refined whom" }, knots(names, [...pairs.values()])) : h("p", { class: "dim" }, "Nobody has refined a thought yet: each stands as it was written.")),
      h("div", { class: "two" }, h("section", {}, h("div", { class: "cap" }, h("h2", {}, "Contributors")), h("table", { class: "tbl" }, h("thead", {}, h("tr", {}, h("th", {}, "agent"), h("th", { class: "num" }, "thoughts"), h("th", {}, "last"), h("th", {}))),
        h("tbody", {}, by.map((a) => h("tr", {}, h("td", {}, h("a", { class: "link", href: ctx.address("memories", [], { agent: a.agent_id }) }, a.agent_name ?? a.agent_id), " ", h("span", { class: "mono dim" }, clip(a.agent_id, 24))), h("td", { class: "num" }, count(a.memories)), h("td", {}, last.has(a.agent_id) ? since(last.get(a.agent_id)) : "–"), h("td", {}, button("Undo…", { role: "admin", cls: "ghost sm", onclick: () => undo(a) }))))))),
      h("section", {}, h("div", { class: "cap" }, h("h2", {}, "Walked most")), walked.map((m) => h("a", { class: `li mem ${memoryYarn(m)}`, href: `#/memories/${m.id}` }, h("i", { class: `dia ${m.superseded ? "was" : ""}` }), h("div", {}, h("div", { class: "ti" }, clip(m.summary, 200)), memoryMeta(m), h("span", { class: "dim" }, ` weight ${m.weight.toFixed(2)}`)))))) ]
      : state("frayed", h("p", {}, h("b", {}, "No agent contributed yet. "), "They do by MCP, or with a call:"), h("p", { class: "mono" }, "POST /api/v1/memory {\"prompt\",\"agent_id\",\"agent_name\"}"), h("p", {}, h("a", { class: "link", href: "#/connect" }, "Connect an agent"))),
    h("section", {}, h("br"), h("div", { class: "cap" }, h("h2", {}, "What draws memories from talk"), h("span", { class: "n" }, count(packages.items.length))),
      h("table", { class: "tbl" }, h("tbody", {}, packages.items.map((p) => h("tr", {}, h("td", {}, p.name), h("td", {}, p.description), h("td", { class: "dim" }, p.builtin ? "built in" : p.file))), packages.problems.map((p) => h("tr", {}, h("td", {}, h("span", { class: "tag broken" }, "problem")), h("td", {}, p.message), h("td", { class: "dim" }, `${p.file}, line ${p.line}`))))))));
  return { event(e) { if (e.kind === "memory" && e.what === "thought") { clearTimeout(agents.later); agents.later = setTimeout(() => { if (!document.querySelector("dialog[open]")) ctx.again(); }, 1500); } } };
}
