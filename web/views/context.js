/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.js - a chat, a message, a budget: exactly what a model would be given,
 * section by section, where each line comes from, and what was left out.
 */
import { get, post } from "../api.js";
import { add, clip, copy, count, h, many, put, quiet, s, score, tell, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { chatLink, failed, refOf, words } from "../parts.js";

const titles = { memory: "Known", effort: "Effort at hand", recent: "Recent turns", recall: "Recalled for this message", continuity: "Where it stood", summary: "Summed up" };
/* The slider counts in halves of a doubling. */
const tokensOf = (v) => Math.round(2 ** (v / 4) / 2) * 2;

export default async function lab(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  const chats = (await get("chats", { limit: 100, user_id: who }, opt)).items;
  let abort = new AbortController();
  const form = h("div", { class: "form" });
  const out = h("div", { "aria-live": "polite" });
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Context lab"), h("span", { class: "sum" }, "what a model would be given, and why"),
    h("div", { class: "acts" }, [["text", "Copy as text"], ["openai", "OpenAI"], ["anthropic", "Anthropic"]].map(([f, name]) => h("button", { class: "btn ghost", type: "button", onclick: (e) => copyAs(f, e.currentTarget) }, name)))),
  pull(null, "")), h("div", { class: "body" }, h("div", { class: "lab" }, form, out)));
  if (!chats.length) {
    put(out, state("frayed", h("p", {}, h("b", {}, "No chat yet. "), "Once something was said you see here what the next turn would be given."), h("p", {}, h("a", { class: "link", href: "#/connect" }, "Connect a client"))));
    return {};
  }
  let wanted = ctx.query.chat;
  if (wanted && !chats.some((c) => c.id === wanted)) {
    const one = await get(`chats/${wanted}`, {}, opt).catch(() => null);
    if (one) chats.unshift(one);
    else wanted = "";
  }
  const pick = h("select", { class: "inp", id: "lab-chat" }, chats.map((c) => h("option", { value: c.id }, clip(`${c.title ?? "untitled"} (${c.user_id})`, 70))));
  pick.value = wanted || chats[0].id;
  const message = h("textarea", { class: "inp", id: "lab-message", maxlength: 10000, value: ctx.query.message ?? "" });
  const slider = h("input", { type: "range", id: "lab-budget", min: 28, max: 60, step: 1, value: ctx.query.budget ?? 44 });
  const amount = h("b", {}, count(tokensOf(slider.value)));
  add(form, h("div", { class: "f" }, h("label", { for: "lab-chat" }, "Chat"), pick), h("div", { class: "f" }, h("label", { for: "lab-message" }, "The next message"), message),
    h("div", { class: "f" }, h("label", { for: "lab-budget" }, "Budget in tokens"), h("div", { class: "bud" }, amount, h("span", { class: "dim" }, "at most")), slider));
  const body = (format) => ({ budget_tokens: tokensOf(slider.value), message: message.value.trim() || undefined, format });

  async function copyAs(format, btn) {
    try {
      const c = await post(`chats/${pick.value}/context`, body(format));
      await copy(format === "text" ? c.text : JSON.stringify(c.messages, null, 2), btn);
    } catch (error) { ctx.note(words(error)); }
  }

  /* A slice per source, in its chat's yarn; from each section a thread falls. */
  function bar(c) {
    const budget = tokensOf(slider.value);
    const width = 1000;
    let x = 0;
    const parts = [];
    c.sections.forEach((sec, i) => {
      const w = Math.max(2, sec.tokens / budget * width);
      const each = w / Math.max(1, sec.sources.length);
      (sec.sources.length ? sec.sources : [null]).forEach((src, k) => parts.push(s("rect", { class: `slice ${src ? yarn(refOf(src)?.chat ?? src) : "t7"}`, x: x + k * each, y: 0, width: Math.max(1, each - 0.5), height: 22, rx: 1 })));
      parts.push(s("path", { class: "fall", d: `M${x + w / 2} 24C${x + w / 2} 70 ${4 + i} 60 ${4 + i} 112` }));
      x += w + 3;
    });
    if (x < width) parts.push(s("rect", { class: "free", x, y: 0.5, width: width - x, height: 21, rx: 1 }));
    return s("svg", { class: "bar7", viewBox: "0 0 1000 112", preserveAspectRatio: "none", role: "img", "aria-label": `${count(c.tokens)} of ${count(budget)} tokens: ${c.sections.map((x_) => `${titles[x_.name] ?? x_.name} ${x_.tokens}`).join(", ")}` }, parts);
  }
  const reasons = { far: "too far off", held_before: "held before", reads_like_order: "reads like an order", given_already: "said by something given", no_room: "no room left", other_matter: "of another matter", not_said: "said by nobody" };
  /* What it says was left out and why; its words, where a search has them. */
  function leftOut(c, found) {
    const known = new Map(found.map((f) => [f.source_ref, f.text]));
    return c.left_out.slice(0, 12).map(({ source, reason, score: points }) => ({ source, text: known.get(source) ?? where(source),
      why: `${reasons[reason] ?? reason}${reason === "far" && points !== null ? `, ${score(points)}` : ""}` }));
  }
  const where = (source) => { const ref = refOf(source); return ref ? `turn ${ref.first} of ${ref.chat.slice(-4)}` : "a memory"; };
  async function run() {
    abort.abort();
    abort = new AbortController();
    const mine = abort.signal;
    ctx.go("context", [], { chat: pick.value, message: message.value, budget: slider.value }, { quietly: true });
    try {
      const [c, found] = await Promise.all([post(`chats/${pick.value}/context`, body("text"), { signal: mine }),
        message.value.trim() ? post("recall", { query: clip(message.value.trim(), 1000), limit: 30, user_id: chats.find((x) => x.id === pick.value)?.user_id }, { signal: mine }) : { items: [] }]);
      if (mine.aborted) return;
      const texts = c.text.split(/^## /m).slice(1);
      const out_ = leftOut(c, found.items);
      put(out, h("div", { class: "barkey" }, h("span", {}, `${count(c.tokens)} of ${count(tokensOf(slider.value))} tokens`), h("span", { class: "mono" }, `${c.hash.slice(0, 12)}${c.cached ? ", cached" : ""}`)), bar(c),
        c.sections.length ? c.sections.map((sec, i) => h("section", { class: "sec" }, h("i"), h("div", {}, h("h3", {}, titles[sec.name] ?? sec.name), h("p", { class: "meta" }, h("span", {}, many(sec.tokens, "token")))),
          h("pre", { class: "pre", dir: "auto" }, clip(texts.length === c.sections.length ? texts[i].replace(/^.*\n/, "") : i === 0 ? c.text : "", 20000)),
          h("div", { class: "src" }, [...new Set(sec.sources)].slice(0, 14).map((r) => { const ref = refOf(r); if (r.startsWith("memory:")) return h("a", { href: `#/memories/${r.slice(7)}` }, h("span", { class: `topic ${yarn(r)}` }, "a memory")); return ref ? h("a", { href: chatLink(ref) }, h("span", { class: `topic ${yarn(ref.chat)}` }, `${ref.chat.slice(-4)}, ${ref.first === ref.last ? `turn ${ref.first}` : `turns ${ref.first} to ${ref.last}`}`)) : h("span", {}, clip(r, 30)); }),
            sec.sources.length > 14 ? h("span", {}, `${count(sec.sources.length - 14)} more`) : null)))
          : state("frayed", h("p", {}, h("b", {}, "Nothing would be given. "), "There is nothing this chat needs to know, or the budget is too small.")),
        out_.length ? h("section", { class: "sec out" }, h("i"), h("div", {}, h("h3", {}, "Left out"), h("p", { class: "meta" }, h("span", {}, "and why"))),
          h("ul", {}, out_.map(({ source, text, why }) => h("li", {}, h("a", { class: "link", href: refOf(source) ? chatLink(refOf(source)) : `#/memories/${source.slice(7)}` }, clip(text, 110)), h("span", { class: "dim" }, ` ${why}`)))), h("span")) : null);
      tell(`${c.tokens} tokens`);
    } catch (error) {
      if (!mine.aborted && !signal.aborted) put(out, failed(error, run));
    }
  }
  const soon = quiet(run, 180);
  slider.addEventListener("input", () => { amount.textContent = count(tokensOf(slider.value)); soon(); });
  message.addEventListener("input", soon);
  pick.addEventListener("change", run);
  await run();
  return { close() { abort.abort(); } };
}
