/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.js - one question: the passage that answers it, what else was found,
 * where the score comes from; and, when nothing fits, what would.
 */
import { post } from "../api.js";
import { add, clip, count, full, h, marked, put, s, score, tell, time, when, yarn } from "../dom.js";
import { frayed, lay, state, sure } from "../draw.js";
import { button, chatLink, failed, forget, refOf, words } from "../parts.js";

const kinds = [["", "Everything"], ["turn", "Turns"], ["memory", "Memories"], ["episode", "Episodes"], ["chat", "Chats"]];
/* Below this a hit is not called an answer: where the server begins to say
 * "maybe" (SCORE_MAYBE in search_tuning.h). */
const floor = 0.11;
const parts = [["lexical", "words"], ["neighbour", "neighbours"], ["vector", "meaning"], ["window", "around it"], ["time", "time"], ["prior", "kind"], ["chat", "chat"],
  ["read", "read together"]];

/* The score's parts as a waterfall. */
function why(hit, trace, ms) {
  const list = parts.map(([k, name]) => [name, hit.why?.[k] ?? 0]).filter(([, v]) => Math.abs(v) >= 0.005);
  const sum = list.reduce((n, [, v]) => n + v, 0);
  const most = Math.max(1e-6, list.reduce(([at, top], [, v]) => [at + v, Math.max(top, at + v)], [0, 0])[1]);
  const x = (v) => 96 + (v / most) * 176;
  let at = 0;
  const rows = list.map(([name, v], i) => {
    const y = 14 + i * 26;
    const from = x(at);
    at += v;
    const to = x(at);
    return s("g", {}, s("text", { x: 0, y: y + 4 }, name), s("path", { class: "ht", d: `M${from} ${y}H${to}` }),
      s("path", { class: "ht half", d: `M${to} ${y}V${y + 26}` }), s("circle", { class: "hf", cx: to, cy: y, r: 2.5 }),
      s("text", { x: Math.max(from, to) + 6, y: y + 4 }, v.toFixed(2).replace(/^0/, "")));
  });
  const y = 14 + list.length * 26;
  return h("aside", { class: "why", "aria-label": "Why this one" }, h("h2", {}, "Why this one"),
    list.length ? s("svg", { viewBox: `0 0 300 ${y + 34}`, role: "img", "aria-label": `Score parts: ${list.map(([n, v]) => `${n} ${score(v)}`).join(", ")}` },
      s("path", { class: "ax", d: `M96 4V${y}M184 4V${y}M272 4V${y}` }), rows,
      s("text", { x: 0, y: y + 4, class: "b i" }, "sum"), s("path", { class: "ax2", d: `M96 ${y}H${x(at)}` }), s("circle", { class: "ho", cx: x(at), cy: y, r: 4 }),
      s("text", { x: x(at), y: y + 20, "text-anchor": "middle", class: "i b" }, sum.toFixed(2))) : null,
    h("p", {}, hit.superseded ? "It held before: something later took its place." : "It holds: nothing later says otherwise.",
      hit.is_instruction ? " It reads like an order to a model, so it is never handed to one." : ""),
    h("p", {}, "The sum becomes ", h("b", {}, score(hit.score)), " of 1. Looked for: ", (trace.terms ?? []).join(", ") || "meaning only", "."),
    h("p", {}, h("span", { class: "mono" }, `${ms} ms`), `, ${count(trace.candidates)} candidates of ${count(trace.scanned)}`));
}

const said = (hit) => hit.kind === "turn" || hit.kind === "chat";
function target(hit) {
  if (hit.kind === "memory") return `#/memories/${hit.id}`;
  if (hit.kind === "episode") return hit.chat_id ? `#/chat/${hit.chat_id}` : "#/timeline";
  const ref = refOf(hit.source_ref);
  if (ref) return chatLink(ref);
  return `#/chat/${hit.chat_id}${hit.turn_id ? `?turn=${hit.turn_id}` : ""}`;
}

export default async function search(ctx) {
  const { root } = ctx;
  let { query } = ctx;
  let abort = new AbortController();
  const filters = h("div", { class: "filters", role: "group", "aria-label": "Narrow" });
  const body = h("div", { class: "body", "aria-live": "polite", "aria-busy": "false" });
  const title = h("h1", { class: "vh" }, "Search");
  add(root, title, h("div", { class: "head" }, filters), body);

  const change = (more) => ctx.go("search", [], { ...query, ...more });
  function drawFilters(found) {
    const counts = {};
    for (const x of found ?? []) counts[x.kind] = (counts[x.kind] ?? 0) + 1;
    const date = (name, label) => h("label", {}, label, h("input", { type: "date", class: "chip", value: query[name] ?? "", "aria-label": label,
      onchange: (e) => change({ [name]: e.target.value }) }));
    put(filters, kinds.map(([k, name]) => h("button", { class: "chip", type: "button", "aria-pressed": String((query.kind ?? "") === k), onclick: () => change({ kind: k }) },
      name, counts[k] && !query.kind ? ` ${counts[k]}` : "")),
    h("span", { class: "bar" }), date("since", "from"), date("until", "to"), date("at", "as of"));
  }

  async function forgetHit(hit) {
    const done = await forget(hit.kind === "memory" ? "Forget this memory?" : "Forget this turn?",
      hit.kind === "memory" ? { memory_ids: [hit.id] } : { turn_ids: [hit.turn_id ?? hit.id] }, { quote: hit.text });
    if (done) run();
  }
  async function keep(hit) {
    try {
      const made = await post("memories", { summary: clip(hit.text, 2000), user_id: ctx.who || undefined, type: "fact", pinned: true });
      tell("Kept as a memory");
      ctx.go("memories", [made.id]);
    } catch (error) {
      ctx.note(words(error));
    }
  }
  const acts = (hit, cls) => [
    said(hit) ? button("Keep", { role: "write", cls: `ghost ${cls}`, title: "Keep it as a pinned memory", onclick: () => keep(hit) }) : null,
    hit.kind !== "episode" && hit.kind !== "chat" ? button("Forget…", { role: "write", cls: `ghost ${cls}`, onclick: () => forgetHit(hit) }) : null,
    h("a", { class: `btn ${cls}`, href: target(hit) }, said(hit) ? "Open in chat" : "Open")];

  const verdicts = { yes: "it answers the question", maybe: "it may answer the question" };
  function best(hit, items, trace, ask) {
    const where = refOf(hit.source_ref);
    const others = items.filter((x) => x !== hit && x.chat_id && x.chat_id === hit.chat_id && x.kind !== hit.kind).slice(0, 3);
    return h("article", { class: `ans ${(ask.answered ? ask.answered !== "yes" : hit.score < floor * 1.6) ? "maybe" : ""}`, "aria-label": "Best answer" },
      h("div", { class: "sheet" },
        h("blockquote", { class: said(hit) ? "" : "worked", dir: "auto" }, marked(hit.text, trace.terms)),
        h("div", { class: "facts" }, h("dl", {},
          h("div", {}, h("dt", {}, "what"), h("dd", {}, hit.kind, hit.superseded ? ", held before" : "")),
          hit.speaker ? h("div", {}, h("dt", {}, "who"), h("dd", {}, hit.speaker)) : null,
          h("div", {}, h("dt", {}, "when"), h("dd", {}, full(hit.created_at))),
          where ? h("div", {}, h("dt", {}, "where"), h("dd", {}, h("a", { class: "link", href: chatLink(where) }, where.first === where.last ? `turn ${where.first}` : `turns ${where.first} to ${where.last}`))) : null,
          h("div", {}, h("dt", {}, "how sure"), h("dd", {}, sure(hit.score, floor), score(hit.score))),
          verdicts[ask.answered] ? h("div", {}, h("dt", {}, "answered"), h("dd", {}, verdicts[ask.answered], typeof ask.confidence === "number" ? `, ${score(ask.confidence)}` : "")) : null),
          h("div", { class: "acts" }, acts(hit, "sm")))),
      others.map((x) => h("a", { class: `coat ${yarn(x.chat_id)}`, href: target(x) }, h("span", { class: "also" }, `also ${x.kind === "episode" ? "an" : "a"} ${x.kind}`),
        h("span", {}, clip(x.text, 160)), x.kind === "memory" ? h("i", { class: "dia" }) : null)));
  }

  function row(hit, trace, side, ms) {
    const article = h("article", { class: `hit ${hit.superseded ? "was" : ""}`, "aria-label": hit.kind },
      h("button", { type: "button", class: `tx ${said(hit) ? "said" : "worked"}`, dir: "auto", "aria-expanded": "false",
        onclick: (e) => {
          const open = article.getAttribute("aria-current") === "true";
          for (const other of root.querySelectorAll(".hit[aria-current]")) {
            other.removeAttribute("aria-current");
            other.querySelector(".acts")?.remove();
            other.querySelector(".tx").setAttribute("aria-expanded", "false");
          }
          if (open) return;
          article.setAttribute("aria-current", "true");
          e.currentTarget.setAttribute("aria-expanded", "true");
          add(article, h("div", { class: "acts" }, acts(hit, "sm")));
          put(side, why(hit, trace, ms));
        } }, marked(hit.text, trace.terms, 420)),
      h("div", { class: "meta" }, h("span", {}, hit.kind), h("span", {}, time(hit.created_at, when(hit.created_at))),
        hit.superseded ? h("span", {}, "held before") : null, h("span", {}, score(hit.score))));
    return article;
  }

  function nothing(items, trace, ask) {
    const wide = [];
    if (ctx.who) wide.push([`Search everyone, not only ${ctx.who}`, "Widen", () => { document.getElementById("who").value = ""; document.getElementById("who").dispatchEvent(new Event("change")); }]);
    if (query.since || query.until || query.at) wide.push(["Search all times", "Widen", () => change({ since: "", until: "", at: "" })]);
    if (query.kind) wide.push(["Search everything, not only one kind", "Widen", () => change({ kind: "" })]);
    if (items.length) wide.push(["See the nearest all the same", `Show ${items.length}`, () => show(items, trace, ask, 0)]);
    const top = items[0]?.score ?? 0;
    return h("div", { class: "none" }, frayed(), h("h2", {}, "Nothing fits"),
      h("p", {}, items.length && ask.answered === "no" ? "What comes nearest does not answer it."
        : items.length ? `The nearest passage reaches ${score(top)}; an answer needs ${score(floor)}.` : "No word of it, and nothing of that meaning, is in what is kept."),
      wide.length ? h("ul", {}, wide.map(([label, go, does]) => h("li", {}, h("span", {}, label), h("button", { class: "btn sm", type: "button", onclick: does }, go)))) : null);
  }

  function show(items, trace, ask, from = floor) {
    let good = items.filter((x) => x.score >= from);
    if (ask.answered === "no" && from > 0) good = [];
    else if (ask.answered && !good.length) good = items.slice(0, 1); /* its word is worth more than a number */
    drawFilters(items);
    if (!good.length) {
      put(body, nothing(items, trace, ask));
      tell("Nothing fits");
    } else {
      const side = h("div");
      const rest = good.slice(1);
      put(side, why(good[0], trace, ask.ms));
      const below = items.length - good.length;
      const hits = h("div", { class: "hits" }, rest.map((x) => row(x, trace, side, ask.ms)),
        below ? h("article", { class: "hit" }, h("p", { class: "meta" }, h("span", {}, `${count(below)} more lie below ${score(from)}. `,
          h("button", { class: "btn ghost sm", type: "button", onclick: () => show(items, trace, ask, 0) }, "Show them")))) : null,
        ask.next ? h("button", { class: "btn more-btn", type: "button", onclick: (e) => more(e.currentTarget, hits, side, trace, ask) }, "More") : null);
      const meant = ask.meant ? h("p", { class: "dim" }, `Looked for “${ask.meant}”.`) : null;
      put(body, h("div", { class: "found" }, h("div", {}, meant, best(good[0], good, trace, ask), hits), side));
      tell(`${good.length} found`);
    }
    lay(false);
  }

  const request = (cursor) => ({
    query: query.q, explain: true, limit: 20, user_id: ctx.who || undefined, kinds: query.kind ? [query.kind] : undefined,
    since: query.since ? new Date(`${query.since}T00:00`).toISOString() : undefined,
    until: query.until ? new Date(`${query.until}T23:59:59.999`).toISOString() : undefined,
    at: query.at ? new Date(`${query.at}T23:59:59.999`).toISOString() : undefined, cursor,
  });
  async function more(btn, hits, side, trace, ask) {
    btn.disabled = true;
    try {
      const page = await post("recall", request(ask.next), { signal: abort.signal });
      ask.next = page.next_cursor;
      for (const x of page.items) btn.before(row(x, trace, side, ask.ms));
      btn.disabled = false;
      if (!ask.next) btn.remove();
    } catch (error) {
      ctx.note(words(error));
    }
  }

  async function run() {
    abort.abort();
    abort = new AbortController();
    const mine = abort;
    if (!query.q) {
      drawFilters();
      put(body, state("here", h("p", {}, h("b", {}, "Ask anything that was said. "), "In words, as you would ask a person: “who repaired the pump?”, “what did we decide about backups?” Press ", h("kbd", {}, "/"), " to get here from anywhere.")));
      return;
    }
    body.setAttribute("aria-busy", "true");
    const began = performance.now();
    try {
      const found = await post("recall", request(), { signal: mine.signal });
      if (mine.signal.aborted) return;
      show(found.items, found.trace ?? {}, { ms: Math.round(performance.now() - began), next: found.next_cursor, answered: found.answered, confidence: found.confidence, meant: found.did_you_mean });
    } catch (error) {
      if (mine.signal.aborted) return;
      put(body, failed(error, run));
    }
    body.setAttribute("aria-busy", "false");
  }

  drawFilters();
  await run();
  return {
    async update(route) {
      query = route.query;
      await run();
      return true;
    },
    close() { abort.abort(); },
  };
}
