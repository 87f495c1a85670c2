/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.js - a conversation as a branch graph, like a git history: turns as
 * dots, forks, compactions, sub-agents; the captured calls beneath. Arrows step
 * along a branch.
 */
import { all, get } from "../api.js";
import { add, clip, clockS, count, h, many, put, short, speaker, took, when, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { branches, branchList, branchName, partAt } from "../branches.js";
import { content } from "./chat.js";
import { failed } from "../parts.js";

export default async function tree(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const recent = (await get("chats", { limit: 100, user_id: who }, opt)).items;
  const roots = [...new Map(recent.map((c) => [c.conversation_id, c])).values()];
  let id = ctx.args[0] ?? roots.sort((a, b) => b.depth - a.depth || b.last_activity_at.localeCompare(a.last_activity_at))[0]?.conversation_id;
  if (!id) {
    add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Tree")), pull(null)),
      h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No conversation yet. "), "Forks, compactions and sub-agents of a session would be drawn here."), h("p", {}, h("a", { class: "link", href: "#/connect" }, "Connect a client")))));
    return {};
  }
  const chats = (await get(`chats/${id}/tree`, {}, opt)).items;
  id = chats[0]?.conversation_id ?? id;
  const calls = { requests: (await all("requests", { conversation_id: id }, 500, opt)).reverse() };
  const main = chats[0];
  let here = chats.find((c) => c.id === ctx.query.branch) ?? main;
  let at = Number(ctx.query.at) || here.last_seq;
  const graph = h("div", { class: "scroll" });
  const side = h("aside", { class: "side", "aria-label": "The turn", "aria-live": "polite" });
  const pick = h("select", { class: "chip", "aria-label": "Conversation", onchange: (e) => ctx.go("tree", [e.target.value]) },
    roots.slice(0, 60).map((c) => h("option", { value: c.conversation_id }, clip(c.title ?? "untitled", 60))));
  if (!roots.some((c) => c.conversation_id === id)) pick.prepend(h("option", { value: id }, clip(main.title ?? "untitled", 60)));
  pick.value = id;
  const forks = chats.filter((c) => c.parent_id);
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, clip(main.title ?? "untitled", 90)),
    h("span", { class: "sum" }, `${many(chats.length, "branch", "branches")}, ${many(calls.requests.length, "call")}`), h("div", { class: "acts" }, pick)),
  pull(chats.map((c) => c.last_seq - c.fork_seq), "Turns per branch")),
  h("div", { class: "body" }, h("div", { class: "tree-wrap" }, h("div", {}, graph, branchList(chats), forks.length ? partTable() : null, callTable()), side)));

  function partTable() {
    return h("section", {}, h("h2", {}, "Where they part"), h("table", { class: "tbl" }, h("tbody", {}, forks.slice(0, 30).map((c) => {
      const other = chats.find((x) => x.id === c.parent_id) ?? main;
      return h("tr", {}, h("td", {}, branchName(c)), h("td", {}, h("a", { class: "link", href: `#/chat/${c.id}` }, clip(c.title ?? c.branch, 60))), h("td", {}, partAt(chats, c.id, other.id) ? `after turn ${count(partAt(chats, c.id, other.id))}` : "beside it"),
        h("td", {}, h("a", { class: "link", href: `#/compare/${other.id}/${c.id}` }, "compare")));
    }))));
  }
  function callTable() {
    if (!calls.requests.length) return h("p", { class: "dim" }, "No captured calls: these turns were posted or imported.");
    return h("section", {}, h("h2", {}, "Captured calls"), h("div", { class: "scroll" }, h("table", { class: "tbl" },
      h("thead", {}, h("tr", {}, ["at", "branch", "linked by", "model"].map((x) => h("th", {}, x)), ["in", "out", "took"].map((x) => h("th", { class: "num" }, x)))),
      h("tbody", {}, calls.requests.slice(0, 300).map((r) => h("tr", {}, h("td", {}, h("a", { class: "link", href: `#/calls/${r.request_id}` }, `${when(r.created_at)} ${clockS(r.created_at)}`)),
        h("td", {}, h("span", { class: `topic ${yarn(r.chat_id)}` }, r.branch_id)), h("td", {}, h("span", { class: `tag ${r.error ? "broken" : ""}` }, r.error ? `failed ${r.status ?? ""}` : r.strategy)), h("td", {}, r.model ?? "–"),
        h("td", { class: "num" }, short(r.input_tokens)), h("td", { class: "num" }, short(r.output_tokens)), h("td", { class: "num" }, took(r.duration_ms))))))));
  }
  function draw() {
    put(graph, branches(chats, { width: 560, per: 26, min: 260, max: 2400, here: here.id, at, requests: calls.requests, go: (c, seq) => step(c, seq) }));
  }
  async function step(chat, seq) {
    here = chat;
    at = Math.max(1, Math.min(chat.last_seq, seq));
    ctx.go("tree", [id], { branch: here.id, at }, { quietly: true });
    draw();
    const mine = `${here.id} ${at}`;
    const nav = h("div", { class: "acts" }, h("button", { class: "btn sm", type: "button", disabled: at <= 1, onclick: () => step(here, at - 1) }, "Earlier"),
      h("button", { class: "btn sm", type: "button", disabled: at >= here.last_seq, onclick: () => step(here, at + 1) }, "Later"),
      h("a", { class: "btn ghost sm", href: `#/chat/${here.id}?at=${at}` }, "Open in chat"));
    try {
      const { items } = await get(`chats/${here.id}/turns`, { after_seq: at - 1, limit: 1 }, opt);
      if (mine !== `${here.id} ${at}`) return;
      const t = items[0];
      put(side, h("h2", {}, `${branchName(here)}, turn ${at} of ${here.last_seq}`), nav,
        t ? [h("p", { class: "meta" }, h("b", {}, speaker(t)), h("span", {}, when(t.created_at))), content(t)] : h("p", { class: "dim" }, "This turn was forgotten."));
    } catch (error) {
      if (!signal.aborted) put(side, failed(error, () => step(chat, seq)));
    }
  }
  root.addEventListener("keydown", (e) => {
    if (e.target.matches("input, select, textarea")) return;
    if (e.key === "ArrowDown" && e.target.closest(".side, .tree-svg")) { e.preventDefault(); step(here, at + 1); }
    if (e.key === "ArrowUp" && e.target.closest(".side, .tree-svg")) { e.preventDefault(); step(here, at - 1); }
  });
  draw();
  await step(here, at);
  return { event(e) { if (e.kind === "turn" && chats.some((c) => c.id === e.chat_id)) ctx.again(); } };
}
