/* SPDX-License-Identifier: Apache-2.0 */
/*
 * efforts.js - a board of what somebody set out to do: open, waiting, resolved,
 * abandoned. A card is a thread from its opening to its end. Cards can be
 * dragged, and moved by their buttons.
 */
import { all, get, may, post, stats } from "../api.js";
import { add, ago, clip, count, h, many, put, s, tell, time, yarn } from "../dom.js";
import { effortLine, pull, state } from "../draw.js";
import { button, chatLink, form, refOf, words } from "../parts.js";
import { scene } from "./memories.js";

const columns = [["open", "Open", "ring"], ["waiting", "Waiting", "ring hold"], ["resolved", "Resolved", "ring done"], ["abandoned", "Abandoned", "ring cut"]];
/* Without a word for this long an open effort waits. */
const QUIET_DAYS = 7;
const SHOWN = 60;

export default async function efforts(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const [items, states, numbers] = await Promise.all([all("memories", { type: "effort", user_id: who }, 1000, opt),
    get("efforts", { user_id: who, all: "1" }, opt).then((x) => new Map(x.items.map((e) => [e.id, e]))), stats({ since: new Date(Date.now() - 89 * 864e5).toISOString(), user_id: who }, opt)]);
  const latest = Math.max(0, ...items.map((e) => Date.parse(e.updated_at)));
  const now = Math.min(Date.now(), latest + 30 * 864e5);
  const children = new Map();
  for (const e of items) if (e.parent_id) children.set(e.parent_id, [...children.get(e.parent_id) ?? [], e]);
  for (const e of items) {
    const tries = children.get(e.id) ?? [];
    e.attempts = [...tries.map((t) => ({ at: Date.parse(t.created_at), failed: t.status === "abandoned" })),
      ...(Array.isArray(e.fields?.attempts) ? e.fields.attempts : []).map((a, i, list) => ({ at: Date.parse(a.at ?? e.created_at) || Date.parse(e.created_at) + (i + 1) * (Date.parse(e.updated_at) - Date.parse(e.created_at)) / (list.length + 1), failed: a.outcome === "failed" || a.failed }))];
  }
  const columnOf = (e) => (e.status !== "open" ? e.status : states.get(e.id)?.state === "waiting" || now - Date.parse(e.updated_at) > QUIET_DAYS * 864e5 ? "waiting" : "open");
  const done = items.filter((e) => e.status === "resolved").map((e) => Date.parse(e.updated_at) - Date.parse(e.created_at)).sort((a, b) => a - b);
  const open = items.filter((e) => e.status === "open").length;
  const board = h("div", { class: "board" });
  const shown = Object.fromEntries(columns.map(([k]) => [k, SHOWN]));
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Efforts"),
    h("span", { class: "sum" }, `${count(open)} open or waiting${done.length ? `; a resolution takes ${ago(0, done[done.length >> 1])} on the median` : ""}`),
    h("div", { class: "acts" }, button("Open one", { role: "write", onclick: openOne }))),
  pull(numbers.days.map((d) => d.memories), "Memories per day in 90 days")), h("div", { class: "body" }, board));

  async function openOne() {
    const made = await form("Open an effort", { go: "Open", fields: [{ name: "goal", label: "What is to be done", max: 400 }, { name: "user_id", label: "Whose", value: who || items[0]?.user_id || "" }],
      does: (v) => post("efforts", { goal: v.goal, user_id: v.user_id }) });
    if (made?.id) ctx.again();
  }
  async function move(e, to) {
    if (to === columnOf(e) || to === "waiting") {
      if (to === "waiting") tell("An effort waits by itself when nothing is said about it for a week");
      return;
    }
    let result;
    if (to === "resolved") {
      result = await form("How did it end?", { lead: clip(e.summary, 300), go: "Resolve", fields: [{ name: "resolution", label: "Result, in a few words", kind: "long" }], does: ({ resolution }) => post(`memories/${e.id}/resolve`, resolution.trim() ? { resolution: resolution.trim() } : {}) });
    } else if (to === "abandoned") result = await form("Give it up?", { lead: [clip(e.summary, 300), " It counts as abandoned; it can be opened again."], go: "Abandon", fields: [], does: () => post(`memories/${e.id}/abandon`) });
    else {
      try { result = await post(`memories/${e.id}/reopen`); } catch (error) { ctx.note(words(error)); }
    }
    if (result?.id) {
      Object.assign(e, { status: result.status, resolution: result.resolution, updated_at: result.updated_at });
      draw();
      tell(`${clip(e.summary, 60)}: ${result.status}`);
    }
  }

  function card(e) {
    const from = Date.parse(e.created_at);
    const end = e.status === "open" ? now : Date.parse(e.updated_at);
    const at = (t) => 6 + Math.max(0, Math.min(1, (t - from) / Math.max(864e5, end - from))) * 190;
    const col = columnOf(e);
    const ref = refOf(e.source_ref);
    const el = h("article", { class: `card ${yarn(e.chat_id)}`, draggable: may("write") ? "true" : undefined, tabindex: "0", "aria-label": `${clip(e.summary, 120)}, ${col}`, data: { id: e.id },
      ondragstart: (ev) => { ev.dataTransfer.setData("text/plain", e.id); ev.dataTransfer.effectAllowed = "move"; el.classList.add("lift"); },
      ondragend: () => el.classList.remove("lift") },
    h("h3", {}, clip(e.summary, 160)),
    h("div", { class: "meta" }, h("span", { class: "iso" }, e.agent_name ?? e.user_id), h("span", {}, e.status === "open" ? ago(e.created_at, now) : [time(e.created_at), " to ", time(e.updated_at)]), (e.source_refs ?? []).length ? h("span", {}, many(e.source_refs.reduce((n, r) => { const x = refOf(r); return n + (x ? x.last - x.first + 1 : 0); }, 0), "turn")) : null),
    s("svg", { viewBox: "0 0 240 20", preserveAspectRatio: "xMinYMid meet", role: "img", "aria-label": `${many(e.attempts.length, "attempt")}, ${col}` }, effortLine(e, at, 230, now)),
    e.resolution && e.status !== "open" ? h("p", { class: "end" }, clip(e.resolution, 200)) : null,
    h("div", { class: "acts" },
      e.status === "open" ? [button("Resolve", { role: "write", cls: "ghost sm", onclick: () => move(e, "resolved") }), button("Abandon", { role: "write", cls: "ghost sm", onclick: () => move(e, "abandoned") })]
        : button("Reopen", { role: "write", cls: "ghost sm", onclick: () => move(e, "open") }),
      h("button", { class: "btn ghost sm", type: "button", onclick: (ev) => turns(e, el, ev.currentTarget) }, "Turns"),
      ref ? h("a", { class: "btn ghost sm", href: chatLink(ref) }, "Chat") : null));
    return el;
  }
  async function turns(e, el, btn) {
    const old = el.querySelector(".scene");
    if (old) { old.remove(); return; }
    btn.disabled = true;
    const where = await scene(e, opt).catch(() => null);
    btn.disabled = false;
    add(el, where?.box ?? h("p", { class: "dim" }, "It cites no turn: it was opened by hand."));
  }

  function draw() {
    const by = Object.fromEntries(columns.map(([k]) => [k, []]));
    for (const e of items) if (!e.retracted_at) (by[columnOf(e)] ?? by.open).push(e);
    put(board, columns.map(([key, name, mark]) => {
      const list = by[key];
      const col = h("section", { class: `col ${key === "resolved" || key === "abandoned" ? "done" : ""}`, "aria-label": `${name}, ${list.length}`,
        ondragover: (ev) => { ev.preventDefault(); col.classList.add("over"); }, ondragleave: () => col.classList.remove("over"),
        ondrop: (ev) => { ev.preventDefault(); col.classList.remove("over"); const e = items.find((x) => x.id === ev.dataTransfer.getData("text/plain")); if (e) move(e, key); } },
      h("h2", {}, h("i", { class: mark }), name, h("span", { class: "n" }, count(list.length))),
      list.slice(0, shown[key]).map(card),
      list.length > shown[key] ? h("button", { class: "btn more-btn", type: "button", onclick: () => { shown[key] += SHOWN; draw(); } }, `${count(list.length - shown[key])} more`) : null,
      list.length ? null : state("", h("p", {}, { open: "Nothing is open. One opens when somebody wants something done: “Can you plan the repair?”", waiting: "An open effort about which nothing was said for a week waits here.", resolved: "Drop one here and say how it ended.", abandoned: "What was given up, and may be opened again." }[key])));
      return col;
    }));
  }
  draw();
  const wanted = ctx.query.at;
  let later;
  return {
    shown() {
      const el = wanted && board.querySelector(`[data-id="${CSS.escape(wanted)}"]`);
      if (el) { el.scrollIntoView({ block: "center", inline: "center" }); el.classList.add("lift"); el.focus({ preventScroll: true }); }
    },
    event(e) { if (e.kind === "effort" && !document.querySelector("dialog[open], .lift")) { clearTimeout(later); later = setTimeout(() => ctx.again(), 1200); } },
    close() { clearTimeout(later); },
  };
}
