/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.js - two branches side by side, from where they part.
 */
import { get } from "../api.js";
import { add, clip, count, h, many, speaker } from "../dom.js";
import { pull } from "../draw.js";
import { branchName, partAt } from "../branches.js";
import { content } from "./chat.js";

export default async function compare(ctx) {
  const { root, signal } = ctx;
  const [a, b] = ctx.args;
  const opt = { signal };
  const tree = await get(`chats/${a}/tree`, {}, opt);
  const chats = [a, b].map((id) => tree.items.find((c) => c.id === id));
  if (!chats[0] || !chats[1]) {
    add(root, h("div", { class: "body" }, h("h1", {}, "They share nothing"), h("p", {}, "These two are not branches of one conversation.")));
    return {};
  }
  const at = partAt(tree.items, a, b);
  const [shared, ...sides] = await Promise.all([
    at ? get(`chats/${a}/turns`, { after_seq: at - 1, limit: 1 }, opt) : { items: [] },
    ...chats.map((c) => get(`chats/${c.id}/turns`, { after_seq: at, limit: 200 }, opt))]);
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Where the two part"), h("span", { class: "sum" }, at ? `after turn ${count(at)}` : "at the beginning"),
    h("div", { class: "acts" }, chats.map((c) => h("a", { class: "btn ghost", href: `#/chat/${c.id}` }, clip(c.title ?? c.branch, 30))))), pull(null, "two branches")),
  h("div", { class: "body" },
    shared.items.map((t) => h("div", { class: "tn" }, h("p", { class: "meta" }, h("span", {}, `the last they share: ${speaker(t)}, turn ${t.seq}`)), content(t))),
    h("div", { class: "cmp" }, chats.map((c, i) => h("section", { "aria-label": c.title ?? c.branch }, h("h2", {}, `${branchName(c)}: ${c.title ?? "untitled"}`),
      h("p", { class: "meta" }, h("span", {}, many(c.last_seq - at, "turn")), h("span", {}, c.branch)),
      sides[i].items.map((t) => h("article", { class: "tn" }, h("p", { class: "meta" }, h("b", {}, speaker(t)), h("a", { class: "link", href: `#/chat/${c.id}?at=${t.seq}` }, `turn ${t.seq}`)), content(t))),
      sides[i].next_cursor ? h("p", {}, h("a", { class: "link", href: `#/chat/${c.id}?at=${at + 201}` }, "the rest, in the chat")) : null)))));
  return {};
}
