/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflicts.js - two memories that cannot both hold, side by side. Settling
 * joins them in one that says what holds; both stay in the history.
 */
import { get, patch, post } from "../api.js";
import { add, clip, full, h, s, tell, upTo, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { button, chatLink, form, refOf, words } from "../parts.js";

const MOST = 100; /* that one goes through before the next are asked for */

/* The words of one that the other has not. */
function differing(text, other) {
  const theirs = new Set(other.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => (/[\p{L}\p{N}]/u.test(part) && !theirs.has(part.toLowerCase()) ? h("em", {}, part) : part));
}

export default async function conflicts(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const all = (await get("conflicts", { limit: MOST + 1, user_id: who }, opt)).items;
  const items = all.slice(0, MOST);
  if (!items.length) {
    add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Conflicts"), h("div", { class: "acts" }, h("a", { class: "btn ghost", href: "#/memories" }, "All memories"))), pull(null)),
      h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No conflict waits. "), "Two memories that cannot both hold would meet here."))));
    return {};
  }
  const at = Math.min(items.length - 1, Number(ctx.args[0]) || 0);
  const c = items[at];
  const sides = await Promise.all([c.older, c.newer].map(async (side) => {
    const full_ = await get(`memories/${side.id}`, {}, opt);
    const turns = await get(`memories/${side.id}/source`, {}, opt).catch(() => ({ items: [] }));
    return { ...side, memory: full_, turn: turns.items[0] };
  }));
  const next = () => (items.length > 1 ? ctx.go("conflicts", [(at + 1) % items.length]) : ctx.go("memories"));
  const done = (text) => { tell(text); ctx.go("conflicts", [String(Math.min(at, Math.max(0, items.length - 2)))]); ctx.again(); };
  async function settle(prompt) {
    try {
      await post("memory", { prompt, consolidates: [c.older.id, c.newer.id], agent_id: "person", agent_name: "a person" });
      done("Settled");
    } catch (error) { ctx.note(words(error)); }
  }
  async function anew() {
    const made = await form("Write it anew", { lead: "It takes the place of both; they stay in the history.", go: "Settle", fields: [{ name: "prompt", label: "What is so", kind: "long", value: c.newer.summary }],
      does: ({ prompt }) => post("memory", { prompt, consolidates: [c.older.id, c.newer.id], agent_id: "person", agent_name: "a person" }) });
    if (made) done("Settled");
  }
  async function neither() {
    const made = await form("Neither holds?", { lead: "Both are taken back: no longer found or handed out, still in the history.", go: "Take both back", grave: true, fields: [],
      does: async () => { await post(`memories/${c.older.id}/retract`); await post(`memories/${c.newer.id}/retract`); } });
    if (made) done("Both taken back");
  }
  async function apart() {
    const made = await form("Tell them apart", { lead: "Say of one of them when or where it holds; the other stays as it is.", go: "Correct", fields: [{ name: "summary", label: "The older one, more exactly", kind: "long", value: c.older.summary }],
      does: ({ summary }) => (summary.trim() === c.older.summary ? Promise.reject(new Error("same")) : patch(`memories/${c.older.id}`, { summary })) });
    if (made) done("Told apart");
  }
  const claim = (side, other, go) => h("article", { class: "claim" }, h("p", { class: "say" }, differing(clip(side.summary, 400), other.summary)),
    side.turn ? h("blockquote", { dir: "auto" }, clip(side.turn.text, 400)) : null,
    h("dl", {}, h("dt", {}, side.memory.agent_name ? "written by" : "said by"), h("dd", {}, side.memory.agent_name ?? side.memory.user_id, side.turn?.channel ? `, ${side.turn.channel}` : ""),
      h("dt", {}, "when"), h("dd", {}, full(side.created_at)),
      refOf(side.memory.source_ref) ? [h("dt", {}, "where"), h("dd", {}, h("a", { class: "link", href: chatLink(refOf(side.memory.source_ref)) }, "in its chat"))] : null),
    button(c.subject ? `${clip(side.value ?? "This", 24)} holds` : "This one holds", { role: "write", cls: go ? "go" : "", onclick: () => settle(side.summary) }));
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, `Conflict ${at + 1} of ${upTo(all.length, MOST)}`), h("span", { class: "sum" }, c.subject ? `about ${c.subject}` : `of ${c.user_id}`),
    h("div", { class: "acts" }, h("a", { class: "btn ghost", href: "#/memories" }, "All memories"), h("button", { class: "btn ghost", type: "button", onclick: next }, "Later"))), pull(null, "")),
  h("div", { class: "body" }, h("div", { class: `settle ${yarn(c.older.id)}` },
    h("p", { class: "ask" }, [c.subject, c.attribute, c.qualifier].filter(Boolean).join(" ") || "Which of the two is so?"), h("p", { class: "meta" }, h("span", {}, "Both are still handed out")),
    h("div", { class: "vs" }, claim(sides[0], sides[1], false),
      s("svg", { viewBox: "0 0 120 270", "aria-hidden": "true" }, s("path", { class: "y", d: "M0 32C48 32 60 64 60 118" }), s("path", { class: "y", d: "M120 32C72 32 60 64 60 118" }),
        s("path", { class: "ht", d: "M60 126V252", "stroke-dasharray": "3 4" }), s("circle", { class: "ho", cx: 60, cy: 122, r: 6 }), s("circle", { class: "ho", cx: 60, cy: 258, r: 5 })),
      claim(sides[1], sides[0], true)),
    h("div", { class: "rest" }, button("Both hold, tell them apart", { role: "write", onclick: apart }), button("Neither", { role: "write", onclick: neither }), button("Write it anew", { role: "write", cls: "ghost", onclick: anew })),
    h("p", { class: "then" }, "The later one is suggested. Settling makes one memory that takes the place of both: they stay in the history and are no longer handed out. Taking that one back undoes it."))));
  return {};
}
