/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.js - a conversation as a branch graph: a line per chat, forks where
 * one left another, squares for sub-agents, gaps for compactions.
 */
import { clip, h, many, s, yarn } from "./dom.js";

export const isAgent = (chat) => chat.branch.startsWith("subtask");
export const isCompact = (chat) => chat.branch.startsWith("compact");
export function branchName(chat) {
  if (isAgent(chat)) return "sub-agent";
  if (isCompact(chat)) return "after a compaction";
  if (chat.branch === "main") return chat.parent_id ? "asked again" : "main";
  return "fork";
}

/* Which lane each chat gets: the first child that goes on where its parent
 * ended keeps the lane, others move right to the first that is free. */
function lanes(chats, rowOf) {
  const byId = new Map(chats.map((c) => [c.id, c]));
  const lane = new Map();
  const busy = []; /* lane -> [[from, to]] in rows */
  const span = (c) => [rowOf(c, c.fork_seq), rowOf(c, Math.max(c.last_seq, c.fork_seq + 1))];
  const free = (l, [a, b]) => !(busy[l] ?? []).some(([x, y]) => a < y + 1 && x < b + 1);
  for (const c of chats) {
    const parent = byId.get(c.parent_id);
    const want = span(c);
    let l = parent ? lane.get(parent.id) : 0;
    const goesOn = parent && c.fork_seq >= parent.last_seq;
    if (parent && !(goesOn && free(l, [want[0] + 0.5, want[1]]))) l += 1;
    while (!free(l, want) && l < 40) l += 1;
    lane.set(c.id, l);
    (busy[l] ??= []).push(want);
  }
  return lane;
}

/*
 * Draw it. `height` rows of sequence numbers; options: {here: chat id, at: seq,
 * dots, label(chat), go(chat, seq)}.
 */
export function branches(chats, { width = 284, per = 22, min = 220, max = 4000, here, at, go, requests = [] } = {}) {
  /* a sub-agent shares no turn: it hangs on the call that sent it out */
  const sent = new Map(requests.map((r) => [r.request_id, r]));
  const hangs = new Map();
  for (const r of requests) {
    const by = r.is_subtask && !hangs.has(r.chat_id) ? sent.get(r.parent_request_id) : null;
    if (by) hangs.set(r.chat_id, { chat: by.chat_id, at: by.reply_seq ?? by.last_seq });
  }
  const rowOf = (c, seq) => seq + (hangs.get(c.id)?.at ?? 0);
  const last = Math.max(1, ...chats.map((c) => rowOf(c, c.last_seq)));
  const step = Math.max(min / last, Math.min(per, max / last));
  const height = last * step + 40;
  const lane = lanes(chats, rowOf);
  const gap = 26;
  const x = (c) => 16 + lane.get(c.id) * gap;
  const y = (row) => 14 + row * step;
  const right = 16 + (Math.max(0, ...lane.values()) + 1) * gap;
  const byId = new Map(chats.map((c) => [c.id, c]));
  const root = s("svg", { class: "tree-svg", width: Math.max(width, right + 180), height, role: "group",
    "aria-label": `Branch graph: ${many(chats.length, "branch", "branches")}, ${many(last, "turn")}` });
  const names = [];
  for (const c of chats) {
    const parent = byId.get(hangs.get(c.id)?.chat) ?? byId.get(c.parent_id);
    const cls = yarn(c.id);
    const g = s("g", { class: cls });
    const from = y(rowOf(c, c.fork_seq));
    const to = y(rowOf(c, Math.max(c.last_seq, c.fork_seq + (parent ? 1 : 0))));
    if (parent) {
      const px = x(parent);
      if (isCompact(c)) {
        g.append(s("path", { class: "y", d: `M${x(c) - 6} ${from + step * 0.35}h12M${x(c) - 6} ${from + step * 0.35 + 6}h12` }));
        if (px !== x(c)) g.append(s("path", { class: "y half", d: `M${px} ${from}C${px} ${from + step * 0.6} ${x(c)} ${from} ${x(c)} ${from + step * 0.35}` }));
      } else if (px !== x(c)) {
        g.append(s("path", { class: "y", d: `M${px} ${from}C${px} ${from + step} ${x(c)} ${from} ${x(c)} ${from + step}` }));
      }
    }
    const start = parent ? from + step : y(Math.min(1, c.last_seq));
    if (to > start) g.append(s("path", { class: c.closed_at ? "y half" : "y", d: `M${x(c)} ${start}V${to}` }));
    const own = c.last_seq - c.fork_seq;
    const every = Math.max(1, Math.ceil(6 / step));
    if (own <= 2000) {
      for (let q = c.fork_seq + 1; q <= c.last_seq; q += every) {
        g.append(s("circle", { class: "yf", cx: x(c), cy: y(rowOf(c, q)), r: Math.min(3.5, step * 0.35 + 1) }));
      }
    }
    if (isAgent(c)) g.append(s("rect", { class: "yo", x: x(c) - 4, y: to - 4, width: 8, height: 8 }));
    else if (c.closed_at) g.append(s("circle", { class: "yo", cx: x(c), cy: to, r: 4 }));
    root.append(g);
    names.push({ c, y: parent ? Math.min(to, from + step) : y(Math.min(1, c.last_seq)) });
  }
  /* names at the side, none upon another */
  names.sort((a, b) => a.y - b.y);
  let low = -Infinity;
  for (const n of names) {
    n.at = Math.max(n.y, low + 32);
    low = n.at;
    const { c } = n;
    const px = right + 8;
    const href = `#/chat/${c.id}`;
    root.append(s("path", { class: "ax", d: `M${x(c) + 8} ${n.y}C${right} ${n.y} ${right - 10} ${n.at} ${px} ${n.at}` }));
    const link = s("a", { class: "node", href },
      s("text", { class: c.id === here ? "i b" : "i", x: px + 4, y: n.at + 4 }, clip(c.title ?? branchName(c), 26)),
      s("text", { x: px + 4, y: n.at + 18 }, `${branchName(c)}, ${many(c.last_seq - c.fork_seq, "turn")}${c.closed_at ? ", closed" : ""}`));
    root.append(link);
  }
  root.setAttribute("height", Math.max(height, low + 40));
  const mine = byId.get(here);
  if (mine && at) {
    /* the turn may stand in an ancestor */
    let owner = mine;
    while (owner.parent_id && at <= owner.fork_seq && byId.has(owner.parent_id)) owner = byId.get(owner.parent_id);
    root.append(s("circle", { class: "ho", cx: x(owner), cy: y(rowOf(owner, at)), r: 6.5 }), s("circle", { class: "hf", cx: x(owner), cy: y(rowOf(owner, at)), r: 2.5 }));
  }
  if (go) {
    root.addEventListener("click", (e) => {
      if (e.target.closest("a")) return;
      const box = root.getBoundingClientRect();
      const row = Math.round((e.clientY - box.top - 14) / step);
      const px = e.clientX - box.left;
      const hit = chats.filter((c) => row > rowOf(c, c.fork_seq) && row <= rowOf(c, c.last_seq)).sort((a, b) => Math.abs(x(a) - px) - Math.abs(x(b) - px))[0];
      if (hit && Math.abs(x(hit) - px) < 14) go(hit, row - rowOf(hit, 0));
    });
  }
  return root;
}

/* The same as a list, for those who do not see it. */
export function branchList(chats) {
  return h("ul", { class: "vh", "aria-label": "Branches" }, chats.map((c) => h("li", {},
    h("a", { href: `#/chat/${c.id}` }, `${branchName(c)}: ${c.title ?? "untitled"}, leaves at turn ${c.fork_seq}, ${many(c.last_seq - c.fork_seq, "turn")}`))));
}

/* The last turn two branches share. */
export function partAt(chats, a, b) {
  const byId = new Map(chats.map((c) => [c.id, c]));
  const line = (id) => {
    const out = [];
    for (let c = byId.get(id), to = Infinity; c; c = byId.get(c.parent_id)) {
      out.push([c.id, Math.min(to, c.last_seq)]);
      to = Math.min(to, c.fork_seq);
    }
    return out;
  };
  const theirs = new Map(line(b));
  for (const [id, to] of line(a)) if (theirs.has(id)) return Math.min(to, theirs.get(id));
  return 0;
}
