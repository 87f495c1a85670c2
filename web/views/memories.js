/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memories.js - what is kept: filter, read it in its turn, see how it came
 * about, and set it right. A correction is a refinement, never an overwrite.
 */
import { get, patch, post, stats } from "../api.js";
import { add, clip, count, full, h, many, put, quiet, score, speaker, tell, time, upTo, weekday } from "../dom.js";
import { lay, pull, state } from "../draw.js";
import { lineage } from "../lineage.js";
import { windowed } from "../list.js";
import { button, chatLink, failedIn, forget, form, holds, memoryMeta, memoryYarn, refOf, words } from "../parts.js";

const plural = { fact: "Facts", decision: "Decisions", event: "Events", effort: "Efforts", thought: "Thoughts", skill: "Skills",
  instruction: "Instructions", preference: "Preferences" };

/* The words of a memory in the turn they were said in. */
function quoted(text, memory, turn) {
  if (memory.quote?.turn_id === turn.id) {
    const bytes = new TextEncoder().encode(text);
    const part = (a, b) => new TextDecoder().decode(bytes.slice(a, b));
    return [part(0, memory.quote.from), h("q", {}, part(memory.quote.from, memory.quote.to)), part(memory.quote.to)];
  }
  /* the sentence that has most of the memory's own words; those in brackets were said elsewhere */
  const said = memory.fields?.statement ?? memory.summary.replace(/\[[^\]]*\]/g, " ");
  const sentences = text.slice(0, 4000).split(/(?<=[.!?。])\s+/);
  const wordsOf = (x) => new Set(x.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
  const mine = wordsOf(said);
  let best = null;
  let most = 0;
  for (const one of sentences) {
    const shared = [...wordsOf(one)].filter((w) => mine.has(w)).length;
    if (shared > most) { most = shared; best = one; }
  }
  if (!best || most < 2 && mine.size > 2) return [text];
  const at = text.indexOf(best);
  return [text.slice(0, at), h("q", {}, best), text.slice(at + best.length)];
}

export async function scene(memory, opt) {
  const ref = refOf(memory.source_ref);
  if (!ref) return null;
  const { items } = await get(`chats/${ref.chat}/turns`, { after_seq: Math.max(0, ref.first - 2), limit: Math.min(6, ref.last - ref.first + 3) }, opt);
  const cites = (seq) => (memory.source_refs ?? []).map(refOf).some((r) => r && r.chat === ref.chat && seq >= r.first && seq <= r.last);
  const first = items.find((t) => cites(t.seq));
  return { ref, first, box: h("div", { class: "scene" }, items.map((t) => h("p", { class: cites(t.seq) ? "here" : "off", dir: "auto" },
    h("b", {}, speaker(t)), cites(t.seq) ? quoted(clip(t.text, 1500), memory, t) : clip(t.text, 220)))) };
}

export default async function memories(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  let query = { ...ctx.query };
  let chosen = ctx.args[0];
  const [numbers, conflicts] = await Promise.all([stats({ since: new Date(Date.now() - 89 * 864e5).toISOString(), user_id: who }, opt), get("conflicts", { limit: 101, user_id: who }, opt)]);
  const m = numbers.memories;
  let rows = [];
  let cursor = null;
  let loading = null;
  let list;
  const facets = h("div", { class: "facets", role: "group", "aria-label": "Filter" });
  const ml = h("div", { class: "ml", tabindex: "-1" });
  const det = h("section", { class: "det", "aria-label": "The memory" });

  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Memories"),
    h("span", { class: "sum" }, `${count(m.holding)} hold, ${count(m.superseded)} held before, ${count(m.retracted)} taken back`),
    h("div", { class: "acts" }, conflicts.items.length ? h("a", { class: "btn", href: "#/conflicts" }, `${upTo(conflicts.items.length, 100)} ${conflicts.items.length === 1 ? "conflict" : "conflicts"}`) : null,
      button("Add", { role: "write", cls: "go", onclick: addOne }))),
  pull(numbers.days.map((d) => d.memories), "Memories per day in 90 days")),
  h("div", { class: "panes" }, facets, ml, det));

  /* --- filters --- */

  const params = () => ({
    user_id: query.user ?? who, type: query.type, tag: query.tag, agent_id: query.agent, q: query.q, origin: query.origin,
    status: query.show === "open" ? "open" : undefined, pinned: query.show === "pinned" ? "true" : undefined,
    retracted: query.show === "retracted" ? "true" : undefined,
  });
  const fits = (x) => query.show === "all" || query.show === "open" || query.show === "pinned" || (query.show === "before" ? x.superseded && !x.retracted_at : query.show === "retracted" ? x.retracted_at : holds(x));
  const fc = (label, n, name, value, title) => h("button", { class: "fc", type: "button", title, "aria-pressed": String((query[name] ?? "") === value), onclick: () => narrow({ [name]: (query[name] ?? "") === value ? "" : value }) },
    h("span", {}, label), h("span", {}, n === undefined ? "" : count(n)));
  function drawFacets() {
    const types = Object.entries(m.by_type);
    const find = h("input", { class: "inp", type: "search", placeholder: "with the words", "aria-label": "With the words", value: query.q ?? "" });
    find.addEventListener("input", quiet(() => narrow({ q: find.value }, true), 250));
    put(facets, find,
      h("h2", {}, "Type"), fc("All", types.reduce((n, [, c]) => n + c, 0), "type", ""), types.map(([t, n]) => fc(plural[t] ?? t, n, "type", t)),
      h("h2", {}, "Status"), fc("Holds", m.holding, "show", ""), fc("Open", m.efforts.open ?? 0, "show", "open"), fc("Pinned", m.pinned, "show", "pinned"),
      fc("Held before", m.superseded, "show", "before"), fc("Taken back", m.retracted, "show", "retracted"), fc("All", undefined, "show", "all"),
      h("h2", {}, "Person"), m.by_user.filter((u) => u.user_id).slice(0, 12).map((u) => fc(u.user_id, u.memories, "user", u.user_id)),
      m.by_agent.length ? [h("h2", {}, "Agent"), m.by_agent.slice(0, 12).map((a) => fc(a.agent_name ?? a.agent_id, a.memories, "agent", a.agent_id))] : null,
      query.tag ? [h("h2", {}, "Tag"), fc(query.tag, undefined, "tag", query.tag)] : null);
    return find;
  }
  function narrow(more, typing) {
    query = { ...query, ...more };
    ctx.go("memories", chosen ? [chosen] : [], query, { quietly: true });
    if (!typing) drawFacets();
    load(true);
  }

  /* --- the list --- */

  function row(i) {
    const x = rows[i];
    if (!x) return h("div", { class: "ml-row" }, h("span"), h("div", { class: "sk w2" }));
    return h("a", { class: `ml-row ${memoryYarn(x)} ${holds(x) ? "" : "was"}`, href: ctx.address("memories", [x.id], query), "aria-current": x.id === chosen ? "true" : undefined },
      h("i", { class: `dia ${holds(x) ? "" : "was"}` }), h("span", { class: "st" }, clip(x.summary, 140)), memoryMeta(x));
  }
  async function load(fresh) {
    if (loading && !fresh) return loading;
    const asked = JSON.stringify(query);
    const mine = (async () => {
      let found = [];
      let next = fresh ? undefined : cursor;
      /* what is asked for may be rare: go on until there is something */
      do {
        const page = await get("memories", { ...params(), limit: 500, cursor: next }, opt);
        if (loading !== mine) return;
        found = found.concat(page.items.filter(fits));
        next = page.next_cursor;
      } while (next && found.length < 30);
      rows = fresh ? found : rows.concat(found);
      cursor = next;
      ml.answers = asked;
      if (!fresh) { list.setCount(rows.length); return; }
      list?.close();
      list = null;
      if (!rows.length) {
        put(ml, h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No memory here. "), Object.values(query).some(Boolean) ? "Nothing fits these filters." : "They come from what is said: “I am allergic to hazelnuts”, “we decided to ship on Friday”."))));
      } else {
        list = windowed({ scroller: ml, count: rows.length, each: 64, fixed: true, row, label: "Memories", onSeen: (a, b) => { if (cursor && b > rows.length - 80) load(false); } });
        put(ml, list.box);
        ml.scrollTop = 0;
      }
      tell(many(rows.length, "memory", "memories") + (cursor ? " and more" : ""));
    })().catch((error) => { if (!signal.aborted) failedIn(ml, asked, error, () => load(true)); }).finally(() => { if (loading === mine) loading = null; });
    loading = mine;
    return mine;
  }

  /* --- one memory --- */

  async function addOne() {
    const made = await form("Add a memory", { lead: "Written by hand; it is handed out like any other and can be corrected.", go: "Add",
      fields: [{ name: "summary", label: "What is so", kind: "long" }, { name: "type", label: "Type", options: [["fact", "fact"], ["decision", "decision"], ["event", "event"], ["thought", "thought"]] },
        { name: "user_id", label: "Whose (empty: everyone's)", value: who ?? "" }, { name: "tags", label: "Tags, by commas" }],
      does: (v) => post("memories", { summary: v.summary, type: v.type, user_id: v.user_id, tags: tagsOf(v.tags) }) });
    if (made?.id) ctx.go("memories", [made.id], {});
  }
  const tagsOf = (text) => text.split(",").map((x) => x.trim()).filter(Boolean);
  async function change(body, said) {
    try {
      await patch(`memories/${chosen}`, body);
      tell(said);
      refresh();
    } catch (error) { ctx.note(words(error)); }
  }
  function refresh() {
    load(true);
    showOne();
  }
  async function correct(x) {
    const made = await form("Correct it", { lead: "The new words take the place of the old, which stay in the history and are no longer handed out.", go: "Correct",
      fields: [{ name: "summary", label: "What is so", kind: "long", value: x.summary }], does: async ({ summary }) => (summary.trim() === x.summary ? true : patch(`memories/${x.id}`, { summary })) });
    if (made?.id) { await load(true); ctx.go("memories", [made.id], query); }
  }
  async function label(x) {
    const done = await form("Type and tags", { fields: [x.type === "effort" ? null : { name: "type", label: "Type", value: x.type }, { name: "tags", label: "Tags, by commas", value: x.tags.join(", ") }].filter(Boolean),
      does: (v) => patch(`memories/${x.id}`, { tags: tagsOf(v.tags), ...(v.type && v.type !== x.type ? { type: v.type.trim().toLowerCase() } : {}) }) });
    if (done) refresh();
  }
  async function takeBack(x) {
    const old = x.source_ids?.length ? await Promise.all(x.source_ids.slice(0, 3).map((id) => get(`memories/${id}`).catch(() => null))) : [];
    const done = await form("Take it back?", { go: "Take back", grave: true, fields: [],
      lead: ["It is no longer found or handed out; it stays in the history. ", old.filter(Boolean).length ? ["What it took the place of holds again: ", old.filter(Boolean).map((o) => h("q", {}, clip(o.summary, 120)))] : "Nothing else changes."],
      does: () => post(`memories/${x.id}/retract`) });
    if (done) refresh();
  }
  async function move(x, verb) {
    const done = verb === "resolve"
      ? await form("How did it end?", { go: "Resolve", fields: [{ name: "resolution", label: "Result, in a few words", kind: "long" }], does: ({ resolution }) => post(`memories/${x.id}/resolve`, resolution.trim() ? { resolution } : {}) })
      : await form(verb === "reopen" ? "Open it again?" : "Give it up?", { go: verb === "reopen" ? "Reopen" : "Abandon", fields: [], lead: verb === "reopen" ? "It counts as open from now on." : "It counts as abandoned; it can be opened again.", does: () => post(`memories/${x.id}/${verb}`) });
    if (done) refresh();
  }
  async function gone(x) {
    /* news of it may still be on its way: what is being forgotten is not asked for again */
    chosen = undefined;
    if (await forget("Forget this memory?", { memory_ids: [x.id] }, { quote: x.summary })) ctx.go("memories", [], query);
    else chosen = x.id;
  }

  async function history(x) {
    const place = h("div", {});
    try {
      const drawn = await lineage(x.id, opt);
      if (!drawn) return null;
      const asList = h("ul", { class: "lin-list", hidden: true }, drawn.nodes.map((n) => h("li", {}, time(n.created_at, full(n.created_at)), " ", h("span", { class: "dim" }, `${n.contributor}, ${n.type}${n.retracted ? ", taken back" : ""}: `), h("a", { class: "link", href: `#/memories/${n.id}` }, n.content_preview))));
      const toggle = h("button", { type: "button", "aria-pressed": "false", onclick: (e) => {
        asList.hidden = !asList.hidden;
        drawn.box.hidden = !asList.hidden;
        e.currentTarget.setAttribute("aria-pressed", String(!asList.hidden));
        e.currentTarget.textContent = asList.hidden ? "as a list" : "as a graph";
      } }, "as a list");
      place.centre = drawn.centre;
      add(place, h("h2", {}, `How it came about${drawn.nodes.length > 2 ? `, ${drawn.nodes.length} steps` : ""}`, toggle), drawn.box, asList);
    } catch (error) {
      if (!signal.aborted) add(place, h("p", { class: "dim" }, words(error)));
    }
    return place;
  }

  let shows = 0; /* an older answer never covers a newer one */
  async function showOne() {
    if (!chosen) {
      det.answers = undefined;
      put(det, h("div", { class: "det-in" }, state("here", h("p", {}, h("b", {}, "Pick a memory. "), "You see the very turn it comes from, how it came about, and can set it right."))));
      return;
    }
    const id = chosen;
    const mine = ++shows;
    try {
      const x = await get(`memories/${id}`, {}, opt);
      const [where, past] = await Promise.all([scene(x, opt).catch(() => null), history(x)]);
      let corrected = null;
      if (!where && x.source_ids?.length) {
        const old = await get(`memories/${x.source_ids[0]}`, {}, opt).catch(() => null);
        corrected = old && { old, where: await scene(old, opt).catch(() => null) };
      }
      if (id !== chosen || mine !== shows || signal.aborted) return;
      const effort = x.type === "effort";
      const from = where ?? corrected?.where;
      const stands = holds(x); /* else nothing is done to it any more */
      put(det, h("div", { class: `det-in ${memoryYarn(x)}` },
        h("div", { class: "meta" }, h("span", {}, x.type), effort ? h("span", {}, x.status) : h("span", {}, holds(x) ? `holds since ${weekday(x.created_at)}` : x.retracted_at ? `taken back ${weekday(x.retracted_at)}` : "held before"),
          x.confidence ?? x.fields?.confidence ? h("span", {}, `${score(x.confidence ?? x.fields.confidence)} sure`) : null,
          h("span", {}, { extracted: "drawn from what was said", contributed: `contributed by ${x.agent_name ?? "an agent"}`, person: "written by a person", action: "opened by hand", llm: "read by a language model" }[x.origin] ?? x.origin),
          x.user_id ? h("span", { class: "iso" }, x.user_id) : h("span", {}, "everyone's"), x.pinned ? h("span", { class: "pin" }, "pinned") : null,
          x.is_instruction ? h("span", { class: "tag doubt" }, "reads like an order: never handed to a model") : null),
        h("p", { class: "say" }, clip(x.summary, 6000)),
        x.resolution && x.status !== "open" ? h("p", { class: "mid" }, "⇒ ", x.resolution) : null,
        x.tags.length ? h("div", {}, x.tags.map((t) => [h("a", { class: "tag", href: ctx.address("memories", [], { tag: t }) }, t), " "])) : null,
        x.refined_by ? h("p", {}, h("a", { class: "link", href: `#/memories/${x.refined_by}` }, "See what took its place")) : null,
        h("div", { class: "acts" },
          !stands ? null : effort ? [x.status === "open" ? [button("Resolve", { role: "write", onclick: () => move(x, "resolve") }), button("Abandon", { role: "write", cls: "ghost", onclick: () => move(x, "abandon") })] : button("Reopen", { role: "write", onclick: () => move(x, "reopen") })]
            : button("Correct", { role: "write", onclick: () => correct(x) }),
          !stands && !x.pinned ? null : button(x.pinned ? "Unpin" : "Pin", { role: "write", onclick: () => change({ pinned: !x.pinned }, x.pinned ? "No longer pinned" : "Pinned") }),
          stands ? button("Tag", { role: "write", cls: "ghost", onclick: () => label(x) }) : null,
          x.retracted_at ? null : button("Take back", { role: "write", cls: "ghost", onclick: () => takeBack(x) }),
          button("Forget…", { role: "write", cls: "ghost", onclick: () => gone(x) })),
        from ? [h("h2", {}, corrected ? "What it corrects, in its turn" : "In its turn", h("a", { href: chatLink(from.ref) }, "open chat")), from.box,
          h("div", { class: "meta" }, from.first?.channel ? h("span", {}, from.first.channel) : null, from.first ? h("span", {}, full(from.first.created_at)) : null, h("span", {}, `turn ${from.ref.first}`), h("span", { class: "mono" }, x.id.slice(0, 13)))]
          : h("p", { class: "meta" }, h("span", {}, x.origin === "person" ? "Written by hand; no turn says it." : "It cites no turn."), h("span", { class: "mono" }, x.id.slice(0, 13))),
        past));
      det.answers = id;
      past?.centre?.();
      list?.refreshAll();
    } catch (error) {
      if (!signal.aborted && id === chosen && mine === shows) failedIn(det, id, error, showOne);
    }
  }

  drawFacets();
  await Promise.all([load(true), showOne()]);
  let later;
  return {
    shown() { list?.draw(); },
    async update(route) {
      if (JSON.stringify(route.query) !== JSON.stringify(Object.fromEntries(Object.entries(query).filter(([, v]) => v)))) {
        query = { ...route.query };
        drawFacets();
        load(true);
      }
      chosen = route.args[0];
      list?.refreshAll();
      await showOne();
      det.scrollTop = 0;
      if (matchMedia("(max-width: 1180px)").matches && chosen) det.scrollIntoView();
      lay(false);
      return true;
    },
    event(e) {
      if (!["memory", "effort", "forgotten"].includes(e.kind)) return;
      clearTimeout(later);
      later = setTimeout(() => { if (ml.scrollTop < 40) load(true); if (e.id === chosen) showOne(); }, 800);
    },
    close() { clearTimeout(later); list?.close(); },
  };
}
