/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat.js - a transcript: what was said in serif, and beside it what was made
 * of it: topics as lanes, efforts as bars, memories where they were drawn.
 *
 * Rows are sequence numbers; pages of turns and of marks are fetched as they
 * come into sight and let go when they are far away.
 */
import { get, patch, post } from "../api.js";
import { add, clip, clock, count, h, many, put, speaker, tell, time, weekday, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { branches, branchList, branchName } from "../branches.js";
import { windowed } from "../list.js";
import { button, forget, form, long, quietButton, sheet, why, words } from "../parts.js";

const PAGE = 100;
const KEEP = 40; /* pages held */
const TOPICS = 4;
const EFFORTS = 3;

/* --- what a turn says ------------------------------------------------------- */

function block(part) {
  if (typeof part === "string") return long(part);
  switch (part?.type) {
    case "text": case "input_text": case "output_text": return long(part.text ?? "");
    case "tool_use": case "function_call": case "tool_call":
      return h("details", { class: "tool-box" }, h("summary", {}, `${part.name ?? "tool"} ${clip(JSON.stringify(part.input ?? part.arguments ?? {}), 120)}`),
        h("pre", {}, clip(JSON.stringify(part.input ?? part.arguments ?? {}, null, 2), 20000)));
    case "tool_result": case "function_call_output": {
      const text = typeof part.content === "string" ? part.content : part.output ?? (part.content ?? []).map((x) => x.text ?? `[${x.type}]`).join("\n");
      return h("details", { class: "tool-box" }, h("summary", {}, `result ${clip(String(text).replace(/\s+/g, " "), 120)}`), h("pre", {}, clip(String(text), 40000)));
    }
    case "thinking": case "reasoning":
      return h("details", { class: "tool-box" }, h("summary", {}, "thinking"), h("pre", {}, clip(part.thinking ?? part.text ?? "", 40000)));
    default:
      return h("details", { class: "tool-box" }, h("summary", {}, part?.type ?? "part"), h("pre", {}, clip(JSON.stringify(part, null, 2), 4000)));
  }
}
export function content(turn) {
  if (turn.role === "tool" && !turn.content) {
    return h("details", { class: "tool-box" }, h("summary", {}, `result ${clip(turn.text.replace(/\s+/g, " "), 120)}`), h("pre", {}, clip(turn.text, 40000)));
  }
  if (Array.isArray(turn.content)) return turn.content.slice(0, 200).map(block);
  return long(typeof turn.content === "string" ? turn.content : turn.text);
}

/* --- lanes ------------------------------------------------------------------ */

/* Spans that are known so far, each with a lane of its own while it lasts. */
class Lanes {
  constructor(n) {
    this.n = n;
    this.spans = new Map();
  }

  see(id, first, last, more) {
    const span = this.spans.get(id);
    if (span) {
      span.first = Math.min(span.first, first);
      span.last = Math.max(span.last, last);
      Object.assign(span, more);
      return span;
    }
    const used = [...this.spans.values()].filter((x) => x.first <= last && x.last >= first).map((x) => x.lane);
    let lane = 0;
    while (used.includes(lane) && lane < this.n - 1) lane++;
    const made = { id, first, last, lane, at: new Set(), ...more };
    this.spans.set(id, made);
    return made;
  }

  over(seq) {
    return [...this.spans.values()].filter((x) => x.first <= seq && x.last >= seq);
  }
}

export default async function chat(ctx) {
  const { root, signal } = ctx;
  const id = ctx.args[0];
  const opt = { signal };
  let [it, tree] = await Promise.all([get(`chats/${id}`, {}, opt), get(`chats/${id}/tree`, {}, opt)]);
  const pages = new Map(); /* number -> {turns: Map, at} or a promise */
  const topics = new Lanes(TOPICS);
  const efforts = new Lanes(EFFORTS);
  const notes = new Map(); /* seq -> {memories, forks, cuts} */
  let chosen = Number(ctx.query.at) || 0;
  let list;
  let curve = null;

  /* --- pages --- */

  const note = (seq) => {
    if (!notes.has(seq)) notes.set(seq, { memories: new Map(), forks: new Map(), cuts: new Map() });
    return notes.get(seq);
  };
  function takeMarks(marks) {
    for (const t of marks.topics) topics.see(t.chain_id, t.seq, t.seq, { topic: t.topic, state: t.state }).at.add(t.seq);
    for (const e of marks.efforts) efforts.see(e.id, e.first_seq, e.status === "open" ? Math.max(e.last_seq, e.first_seq) : e.last_seq, { effort: e });
    for (const m of marks.memories) note(m.first_seq).memories.set(m.id, m);
    for (const f of marks.forks) note(f.seq).forks.set(f.chat_id, f);
    for (const e of marks.episodes) if (e.compacted && e.last_seq > e.first_seq) note(e.last_seq).cuts.set(e.id, e);
  }
  function load(n, fresh) {
    const old = pages.get(n);
    if (old && !fresh) return old;
    const params = { after_seq: n * PAGE, limit: PAGE };
    const page = Promise.all([get(`chats/${id}/turns`, params, opt), get(`chats/${id}/marks`, params, opt)]).then(([t, marks]) => {
      takeMarks(marks);
      const turns = new Map(t.items.filter((x) => x.seq <= (n + 1) * PAGE).map((x) => [x.seq, x]));
      pages.set(n, { turns });
      for (const far of [...pages.keys()].filter((k) => !(pages.get(k) instanceof Promise)).sort((a, b) => Math.abs(b - n) - Math.abs(a - n)).slice(0, Math.max(0, pages.size - KEEP))) pages.delete(far);
      list?.refreshAll();
      drawKey();
    }).catch((error) => {
      if (!old?.turns) pages.delete(n); /* what was read before stays */
      if (!signal.aborted) ctx.note(words(error), ["Try again", () => { ctx.note(null); load(n); }]);
    });
    if (!old) pages.set(n, page);
    return page;
  }
  function turnAt(seq) {
    const page = pages.get(Math.floor((seq - 1) / PAGE));
    if (page?.turns) return page.turns.get(seq) ?? null;
    load(Math.floor((seq - 1) / PAGE));
    return undefined;
  }

  /* --- a row --- */

  function marksOf(seq) {
    const out = [];
    for (const x of topics.over(seq)) {
      const cls = `${yarn(x.id)} ${x.first === seq ? "st" : ""} ${x.last === seq ? "en" : ""} ${x.at.has(seq) ? "" : "ps"}`;
      if (x.first !== x.last) out.push(h("i", { class: cls, vars: { "--l": x.lane } }));
      if (x.at.has(seq)) out.push(h("i", { class: `at ${yarn(x.id)}`, vars: { "--l": x.lane } }));
    }
    for (const x of efforts.over(seq)) {
      const ends = x.last === seq && x.effort.status !== "open";
      out.push(h("i", { class: `ef ${yarn(x.id)} ${x.first === seq ? "st" : ""} ${ends ? "en" : ""}`, vars: { "--l": x.lane } }));
    }
    const kept = notes.get(seq)?.memories;
    if (kept?.size) {
      const m = [...kept.values()][0];
      out.push(h("i", { class: `kp ${yarn(topics.over(seq)[0]?.id ?? m.id)} ${m.superseded || m.retracted ? "was" : ""}` }));
    }
    return out;
  }
  function kept(seq) {
    const out = [];
    for (const x of efforts.over(seq)) {
      if (x.first === seq) out.push(h("a", { class: `kept ${yarn(x.id)}`, href: `#/efforts?at=${x.id}` }, h("i", { class: "ring" }), h("span", {}, "opens ", h("b", {}, clip(x.effort.summary, 200)))));
      if (x.last === seq && x.effort.status !== "open") {
        out.push(h("a", { class: `kept ${yarn(x.id)}`, href: `#/efforts?at=${x.id}` }, h("i", { class: x.effort.status === "resolved" ? "ring done" : "ring cut" }),
          h("span", {}, x.effort.status === "resolved" ? "resolves " : "gives up ", h("b", {}, clip(x.effort.summary, 200)), x.effort.resolution ? ` ⇒ ${clip(x.effort.resolution, 200)}` : "")));
      }
    }
    for (const m of notes.get(seq)?.memories.values() ?? []) {
      out.push(h("a", { class: `kept ${yarn(topics.over(seq)[0]?.id ?? m.id)}`, href: `#/memories/${m.id}` }, h("i", { class: `dia ${m.superseded || m.retracted ? "was" : ""}` }),
        h("span", {}, h("b", {}, clip(m.summary, 240)), h("span", { class: "dim" }, ` ${m.type}${m.retracted ? ", taken back" : m.superseded ? ", held before" : ""}`))));
    }
    return out;
  }
  const spoken = (t) => new Date(t.created_at).toDateString();
  function row(i) {
    const seq = i + 1;
    const turn = turnAt(seq);
    if (turn === undefined) return h("div", { class: "turn" }, h("span"), h("div", { class: "mk" }), h("div", { class: "w" }, h("div", { class: "sk w3" }), h("div", { class: "sk w1" })));
    if (turn === null) return h("div", { class: "turn" }, h("span"), h("div", { class: "mk" }, marksOf(seq)), h("div", { class: "w dim" }, `turn ${seq} was forgotten`));
    const before = seq > 1 ? turnAt(seq - 1) : null;
    const day = !before || spoken(before) !== spoken(turn) ? weekday(turn.created_at) : null;
    const more = notes.get(seq);
    return h("article", { class: `turn ${turn.role === "user" ? "" : turn.role === "tool" ? "tool" : "ai"} ${seq === chosen ? "sel" : ""}`, tabindex: "0", "aria-label": `${speaker(turn)}, turn ${seq}`,
      onclick: (e) => { if (!e.target.closest("a, button, summary") && !String(getSelection())) choose(seq); },
      onkeydown: (e) => { if (e.key === "Enter" && e.target === e.currentTarget) choose(seq); } },
    day ? [h("span", { class: "hide-s" }), h("div", { class: "mk days" }, efforts.over(seq).filter((x) => x.first !== seq).map((x) => h("i", { class: `ef ${yarn(x.id)}`, vars: { "--l": x.lane } }))), h("p", { class: "day" }, day)] : null,
    time(turn.created_at, clock(turn.created_at)),
    h("div", { class: "mk", "aria-hidden": "true" }, marksOf(seq)),
    h("div", { class: "w" },
      h("div", { class: "who" }, h("b", { class: "iso" }, speaker(turn)), h("span", {}, seq), turn.channel && turn.channel !== it.channels[0] ? h("span", {}, turn.channel) : null,
        [...more?.forks.values() ?? []].map((f) => h("a", { class: "link", href: `#/chat/${f.chat_id}` }, `${f.branch.startsWith("subtask") ? "sub-agent" : "fork"}: ${clip(f.title ?? f.branch, 40)}`)),
        h("span", { class: "act" },
          quietButton("fork", "write", () => fork(seq), `Fork at turn ${seq}`), quietButton("why", "read", () => why(get, turn.id, `Why turn ${seq} is where it is`).catch((e) => ctx.note(words(e))), `Why, turn ${seq}`),
          quietButton("forget", "write", () => forgetTurn(turn), `Forget turn ${seq}`))),
      content(turn), kept(seq),
      [...more?.cuts.values() ?? []].map((e) => h("div", { class: "cut" }, h("p", {}, `turns ${count(e.first_seq)} to ${count(e.last_seq)} summed up `,
        h("button", { class: "btn ghost sm", type: "button", onclick: () => showEpisode(e.id) }, "read"))))));
  }

  function choose(seq) {
    const old = chosen;
    chosen = seq;
    ctx.go("chat", [id], { at: seq }, { quietly: true });
    list.refresh(old - 1);
    list.refresh(seq - 1);
    drawSide();
  }

  /* --- doing --- */

  async function fork(seq) {
    const made = await form(`Fork at turn ${seq}`, { lead: "A new chat that shares everything up to here. Nothing is copied or changed.", go: "Fork",
      fields: [{ name: "title", label: "Title", value: `${clip(it.title ?? "Chat", 60)} (fork)` }],
      does: ({ title }) => post(`chats/${id}/fork`, { at_seq: seq, title }) });
    if (made?.id) ctx.go("chat", [made.id]);
  }
  async function forgetTurn(turn) {
    const done = await forget(`Forget turn ${turn.seq}?`, { turn_ids: [turn.id] }, { quote: turn.text });
    if (done) ctx.again();
  }
  async function rename() {
    const made = await form("Rename", { fields: [{ name: "title", label: "Title", value: it.title ?? "" }], does: ({ title }) => patch(`chats/${id}`, { title }) });
    if (made?.id) ctx.again();
  }
  async function close() {
    const made = await form("Close this chat?", { lead: "It is summed up, and the next turn begins a new one. It stays readable, and nothing is removed.", go: "Close it", fields: [], does: () => post(`chats/${id}/close`) });
    if (made) ctx.again();
  }
  async function compact() {
    const made = await form("Sum it up now?", { lead: "Summaries are added for what was said; every turn stays.", go: "Sum up", fields: [], does: () => post(`chats/${id}/compact`) });
    if (made?.items) {
      tell("Summed up");
      ctx.again();
    }
  }
  async function showEpisode(eid) {
    try {
      const e = await get(`episodes/${eid}`);
      await sheet("Summary", (done) => [["micro", "in short"], ["meso", "at more length"], ["macro", "topics"]].filter(([k]) => e[k]).map(([k, l]) => [h("h3", {}, l), h("p", {}, clip(e[k], 4000))]).concat(
        h("p", { class: "meta" }, h("span", {}, e.method ?? ""), h("span", {}, `covers ${Math.round((e.coverage ?? 0) * 100) / 100}`)),
        h("div", { class: "acts" }, h("button", { class: "btn", type: "button", autofocus: true, onclick: () => done() }, "Close"))));
    } catch (error) { ctx.note(words(error)); }
  }
  async function compare() {
    const others = tree.items.filter((c) => c.id !== id);
    const other = await form("Compare with", { go: "Compare", fields: [{ name: "b", label: "Branch", options: others.map((c) => [c.id, `${branchName(c)}: ${clip(c.title ?? c.branch, 60)}`]) }], does: ({ b }) => ({ b }) });
    if (other?.b) ctx.go("compare", [id, other.b]);
  }
  async function forgetChat() {
    const done = await forget("Forget this whole chat?", { chat_id: id }, { quote: it.title });
    if (done) ctx.go("chats");
  }

  /* --- the page --- */

  const key = h("div", { class: "topics" });
  function drawKey() {
    const seen = list ? [...topics.spans.values()].filter((x) => x.last >= range[0] && x.first <= range[1]).sort((a, b) => a.lane - b.lane).slice(0, 8) : [];
    put(key, seen.map((x) => h("a", { class: `topic ${yarn(x.id)}`, href: `#/timeline?chain=${x.id}`, title: x.topic }, x.topic)));
  }
  const side = h("aside", { class: "side", "aria-label": "Branches" });
  function drawSide() {
    const many_ = tree.items.length > 1;
    put(side, h("div", { class: "stick" }, h("h2", {}, "Branches", h("a", { class: "link", href: `#/tree/${it.conversation_id}` }, "tree and calls")),
      h("div", { class: "scroll" }, branches(tree.items.slice(0, 60), { width: 270, per: 18, min: 180, max: 420, here: id, at: chosen || it.last_seq, go: (c, seq) => ctx.go("chat", [c.id], { at: seq }) })),
      branchList(tree.items.slice(0, 60)),
      h("div", { class: "parts" }, many_ ? h("p", {}, many(tree.items.length, "branch", "branches"), " share this beginning. Click a line to go there.")
        : h("p", {}, "One line so far. Fork at any turn to try another way; nothing is copied."),
      h("p", { class: "meta" }, h("span", {}, it.user_id), h("span", {}, `session of ${it.channels.join(", ") || "no channel"}`)),
      h("p", { class: "mono dim" }, it.id))));
  }

  let range = [1, 1];
  if (it.last_seq > 0 && it.last_seq <= 500) {
    const first = await get(`chats/${id}/turns`, { limit: 500 }, opt);
    curve = first.items.map((t) => t.token_count);
  }
  const script = h("div", { class: "script" });
  const acts = h("div", { class: "acts" },
    tree.items.length > 1 ? button("Compare", { cls: "ghost", onclick: compare }) : null,
    button("Rename", { role: "write", cls: "ghost", onclick: rename }), button("Sum up", { role: "write", cls: "ghost", onclick: compact }),
    it.closed_at ? null : button("Close", { role: "write", cls: "ghost", onclick: close }),
    button("Forget…", { role: "write", cls: "ghost", onclick: forgetChat }),
    h("a", { class: "btn ghost", href: ctx.address("context", [], { chat: id }) }, "Context"),
    button("Fork here", { role: "write", onclick: () => fork(chosen || it.last_seq) }));
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, it.title ?? "untitled"),
    h("span", { class: "sum" }, `${it.user_id}, ${it.channels[0] ?? "no channel"}, ${many(it.last_seq, "turn")}${it.closed_at ? ", closed" : ""}`), acts),
  pull(curve, "How much was said, turn by turn")),
  h("div", { class: "talk" }, script, side));
  add(script, h("div", { class: "lanes-key" }, h("span"), h("span", { class: "cols", "aria-hidden": "true" }, h("b", {}, "topics"), h("b", {}, "effort"), h("b", {}, "kept")), key));
  if (!it.last_seq) add(script, state("frayed", h("p", {}, h("b", {}, "Nothing was said here yet. "), "Post a turn with this chat's id.")));
  else {
    const to = chosen || (it.last_seq > PAGE ? it.last_seq : 1);
    await load(Math.floor((to - 1) / PAGE));
    list = windowed({ scroller: root, count: it.last_seq, each: 96, row, label: "Transcript", onSeen: (a, b) => { range = [a + 1, b + 1]; drawKey(); } });
    add(script, list.box);
  }
  drawSide();
  return {
    shown() {
      if (!list) return;
      if (chosen || it.last_seq > PAGE) list.jump((chosen || it.last_seq) - 1);
      else list.draw();
    },
    async update(route) {
      if (route.args[0] !== id) return false;
      const seq = Number(route.query.at) || 0;
      if (seq && list) {
        const old = chosen;
        chosen = seq;
        await load(Math.floor((seq - 1) / PAGE));
        list.jump(seq - 1);
        list.refresh(old - 1);
        list.refresh(seq - 1);
        drawSide();
      }
      return true;
    },
    async event(e) {
      if (e.chat_id !== id && e.kind !== "forgotten") return;
      if (e.kind === "turn" && e.seq > it.last_seq) {
        if (!it.last_seq) { ctx.again(); return; }
        it.last_seq = e.seq;
        await load(Math.floor((e.seq - 1) / PAGE), true);
        list.setCount(e.seq);
        tell("A new turn");
      } else if (e.kind === "memory" || e.kind === "effort") {
        const n = Math.floor((range[1] - 1) / PAGE);
        load(n, true);
      }
    },
    close() { list?.close(); },
  };
}
