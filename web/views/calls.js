/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.js - captured calls: graph and table are one, newest first; the call at
 * the side with its tokens, how it was linked, and what was sent and answered.
 */
import { get, stats } from "../api.js";
import { add, clip, clock, clockS, count, h, many, money, put, s, short, tell, time, took, when, yarn } from "../dom.js";
import { pull, state } from "../draw.js";
import { windowed } from "../list.js";
import { failedIn, why, words } from "../parts.js";
import { content } from "./chat.js";

const ROW = 40;
const LANES = 5;
const GAP = 21;

/* Secrets that people paste; the server keeps no headers. */
const secrets = /(sk-[A-Za-z0-9_-]{8,}|clew_[0-9a-f]{16}_[0-9a-f]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{12,}|xox[abp]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+|(?:api[_-]?key|authorization|password|secret)["']?\s*[:=]\s*["']?(?:Bearer\s+)?[^\s"',}]{6,})/gi;
export function masked(text) {
  return text.split(secrets).map((part, i) => (i % 2 ? h("u", {}, "masked") : part));
}

/* All tokens that were sent: some providers count what they had in their cache
 * beside the rest, and those tell what was written to it. */
const sentTokens = (r) => (r.input_tokens === null ? null : r.input_tokens + (r.cache_write_tokens === null ? 0 : r.cache_write_tokens + (r.cache_read_tokens ?? 0)));

/* "1.2M in, 30k out, cost 4.31", and how much of it has no price. */
function sums(rows) {
  const told = rows.filter((r) => r.input_tokens !== null || r.output_tokens !== null);
  const priced = rows.filter((r) => r.cost !== null);
  const sum = (list, of) => list.reduce((n, r) => n + (of(r) ?? 0), 0);
  if (!told.length && !priced.length) return "";
  const without = told.filter((r) => r.cost === null).length;
  return `${short(sum(told, sentTokens))} in, ${short(sum(told, (r) => r.output_tokens))} out${priced.length ? `, cost ${money(sum(priced, (r) => r.cost))}${without ? ` (${count(without)} without a price)` : ""}` : ""}`;
}

/* Which lane each branch has, from its newest call down to the call it left. */
function layout(rows) {
  const at = new Map(rows.map((r, i) => [r.request_id, i]));
  const spans = new Map();
  rows.forEach((r, i) => {
    const span = spans.get(r.chat_id) ?? { from: i, to: i, chat: r.chat_id, parent: null, agent: r.is_subtask };
    span.to = i;
    const parent = at.get(r.parent_request_id);
    span.parent = parent !== undefined && rows[parent].chat_id !== r.chat_id ? parent : span.parent;
    spans.set(r.chat_id, span);
  });
  const ends = [];
  for (const span of [...spans.values()].sort((a, b) => a.from - b.from)) {
    span.end = span.parent ?? span.to;
    let lane = 0;
    while (ends[lane] !== undefined && ends[lane] >= span.from && lane < LANES - 1) lane++;
    ends[lane] = Math.max(ends[lane] ?? -1, span.end);
    span.lane = lane;
  }
  return [...spans.values()];
}

export default async function calls(ctx) {
  const { root, signal, who } = ctx;
  const opt = { signal };
  let { model = "", status = "" } = ctx.query;
  let chosen = ctx.args[0];
  const numbers = await stats({ since: new Date(Date.now() - 29 * 864e5).toISOString(), user_id: who }, opt);
  let rows = [];
  let cursor = null;
  let spans = [];
  let loading = false;
  let list;
  const models = new Set();
  const logw = h("div", { class: "logw", tabindex: "-1" });
  const side = h("aside", { class: "call", "aria-label": "The call" });
  const modelPick = h("select", { class: "chip", "aria-label": "Model" });
  const statusPick = h("select", { class: "chip", "aria-label": "Status" }, [["", "any status"], ["200", "answered"], ["failed", "failed"]].map(([v, l]) => h("option", { value: v }, l)));
  statusPick.value = status;
  const sum = h("span", { class: "sum" }, `${many(numbers.calls, "call")}`);
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Calls"), sum, h("div", { class: "acts" }, modelPick, statusPick)), pull(numbers.days.map((d) => d.calls), "Calls per day in 30 days")),
    h("div", { class: "calls" }, logw, side));

  function gg(i) {
    const parts = [];
    const r = rows[i];
    const x = (lane) => 14 + lane * GAP;
    for (const sp of spans) {
      if (i < sp.from || i > sp.end) continue;
      const own = r.chat_id === sp.chat;
      const cls = yarn(sp.chat);
      const g = s("g", { class: cls });
      if (i === sp.parent) {
        const to = spans.find((z) => z.chat === r.chat_id)?.lane ?? 0;
        g.append(s("path", { class: "y", d: `M${x(sp.lane)} 0C${x(sp.lane)} 14 ${x(to)} 6 ${x(to)} 20` }));
      } else {
        const top = i === sp.from ? 20 : 0;
        const bottom = i === sp.to && sp.parent === null ? 20 : 40;
        if (bottom > top) g.append(s("path", { class: "y", d: `M${x(sp.lane)} ${top}V${bottom}` }));
      }
      if (own) {
        if (r.request_id === chosen) g.append(s("circle", { class: "ho", cx: x(sp.lane), cy: 20, r: 6.500 }), s("circle", { class: "hf", cx: x(sp.lane), cy: 20, r: 2.500 }));
        else if (r.error || r.status >= 400) g.append(s("path", { class: "g", d: `m${x(sp.lane) - 4} 16 8 8m0-8-8 8` }));
        else if (r.is_subtask) g.append(s("rect", { class: "yo", x: x(sp.lane) - 4, y: 16, width: 8, height: 8 }));
        else if (r.strategy === "compact") g.append(s("path", { class: "y", d: `M${x(sp.lane) - 6} 26h12M${x(sp.lane) - 6} 31h12` }), s("circle", { class: "yf", cx: x(sp.lane), cy: 18, r: 4 }));
        else g.append(s("circle", { class: "yf", cx: x(sp.lane), cy: 20, r: 4 }));
      }
      parts.push(g);
    }
    return s("svg", { class: "gg", viewBox: `0 0 120 ${ROW}`, "aria-hidden": "true" }, parts);
  }
  const slowest = () => Math.max(1000, ...rows.map((r) => r.duration_ms ?? 0));
  function row(i) {
    const r = rows[i];
    const ms = r.duration_ms;
    const today = new Date(r.created_at).toDateString() === new Date().toDateString();
    return h("a", { class: "log-r", href: ctx.address("calls", [r.request_id], { model, status }), "aria-current": r.request_id === chosen ? "true" : undefined },
      gg(i), h("span", { class: "msg" }, r.is_subtask ? h("span", { class: "dim" }, "sub-agent ") : null, clip((r.preview ?? "").replace(/\s+/g, " "), 160) || h("span", { class: "dim" }, "tool results")),
      h("span", {}, h("span", { class: `tag ${r.error || r.status >= 400 ? "broken" : ""}` }, r.error || r.status >= 400 ? `${r.status ?? ""} ${r.error ? clip(r.error, 14) : "failed"}` : r.strategy === "none" ? "begins" : r.strategy)),
      h("span", { class: "mid" }, r.model ?? "–"), h("span", { class: "num" }, short(sentTokens(r))), h("span", { class: "num" }, short(r.output_tokens)), h("span", { class: "num cost" }, money(r.cost)),
      h("span", {}, took(ms), ms === null ? null : s("svg", { class: "lat", viewBox: "0 0 44 6", "aria-hidden": "true" }, s("rect", { class: ms > 20000 ? "slow" : "", width: Math.max(1, ms / slowest() * 44), height: 6, rx: 1 }))),
      h("span", { class: "num dim" }, time(r.created_at, today ? clock(r.created_at) : `${when(r.created_at)} ${clock(r.created_at)}`)));
  }
  function drawModels() {
    for (const r of rows) if (r.model) models.add(r.model);
    if (model) models.add(model);
    put(modelPick, h("option", { value: "" }, "all models"), [...models].sort().map((m) => h("option", { value: m }, m)));
    modelPick.value = model;
  }
  async function load(fresh) {
    if (loading && !fresh) return;
    loading = true;
    const asked = `${model}\n${status}`;
    try {
      const page = await get("requests", { limit: 200, user_id: who, model, status, cursor: fresh ? undefined : cursor }, opt);
      rows = fresh ? page.items : rows.concat(page.items);
      cursor = page.next_cursor;
      logw.answers = asked;
      spans = layout(rows);
      drawModels();
      logw.classList.toggle("priced", rows.some((r) => r.cost !== null));
      const linked = rows.filter((r) => r.strategy !== "none").length;
      const used = sums(rows);
      sum.textContent = `${many(numbers.calls, "call")}${rows.length ? `, ${score2(linked / rows.length)} of the last ${count(rows.length)} linked` : ""}${used ? `; these ${count(rows.length)}: ${used}` : ""}`;
      if (fresh) {
        list?.close();
        list = null;
        if (!rows.length) {
          put(logw, h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No call was captured. "), model || status ? "Nothing fits these filters." : "Point a client's base URL here and every call is kept and linked."), h("p", {}, h("a", { class: "link", href: "#/connect" }, "Connect a client")))));
          return;
        }
        list = windowed({ scroller: logw, count: rows.length, each: ROW, fixed: true, row, label: "Calls", onSeen: (a, b) => { if (cursor && b > rows.length - 60) load(false); } });
        put(logw, h("div", { class: "log-h", "aria-hidden": "true" }, ["", "said", "linked by", "model"].map((x) => h("span", {}, x)), ["in", "out"].map((x) => h("span", { class: "num" }, x)), h("span", { class: "num cost" }, "cost"), h("span", {}, "latency"), h("span", { class: "num" }, "at")), list.box);
        tell(many(rows.length, "call"));
      } else {
        list.setCount(rows.length);
        list.refreshAll();
      }
    } catch (error) {
      if (!signal.aborted) failedIn(logw, asked, error, () => load(true));
    } finally {
      loading = false;
    }
  }
  const score2 = (x) => `${(x * 100).toFixed(x === 1 ? 0 : 1)} %`;

  async function showOne() {
    if (!chosen) {
      side.answers = undefined;
      put(side, state("here", h("p", {}, h("b", {}, "Pick a call. "), "You see its tokens, how it found what it continues, and what was sent and answered.")));
      return;
    }
    const id = chosen;
    try {
      const r = await get(`requests/${id}`, {}, opt);
      if (id !== chosen) return;
      const inn = sentTokens(r) ?? 0;
      const out = r.output_tokens ?? 0;
      const total = Math.max(1, inn + out);
      const wi = inn / total * 296;
      const reply = r.turns.filter((t) => t.role === "assistant" && t.seq === r.reply_seq);
      const sent = r.turns.filter((t) => !reply.includes(t));
      put(side, h("div", { class: "meta" }, h("span", { class: `topic ${yarn(r.chat_id)}` }, r.branch_id), h("span", {}, `${when(r.created_at)} ${clockS(r.created_at)}`)),
        h("h2", {}, clip(sent.at(-1)?.text ?? "A call", 160)),
        h("h3", {}, "Tokens"), r.input_tokens === null && r.output_tokens === null ? h("p", { class: "dim" }, "The provider told none.")
          : s("svg", { class: "tok", viewBox: "0 0 300 34", role: "img", "aria-label": `${count(inn)} in, ${count(out)} out` }, s("rect", { x: 0, y: 2, width: Math.max(1, wi), height: 8, rx: 1, fill: "var(--line-2)" }), s("rect", { class: "hf", x: wi + 2, y: 2, width: Math.max(1, 296 - wi), height: 8, rx: 1 }), s("text", { x: 0, y: 26 }, `${short(inn)} in`), s("text", { x: 298, y: 26, "text-anchor": "end" }, `${short(out)} out`)),
        h("dl", { class: "dl" }, r.cache_read_tokens ? [h("dt", {}, "from cache"), h("dd", {}, `${count(r.cache_read_tokens)} of those sent`)] : null, r.cache_write_tokens ? [h("dt", {}, "to cache"), h("dd", {}, `${count(r.cache_write_tokens)} of those sent`)] : null,
          h("dt", {}, "cost"), h("dd", {}, r.cost === null ? h("span", { class: "dim" }, "no price is known; ", h("span", { class: "mono" }, "proxy.prices"), " sets one") : [money(r.cost), h("span", { class: "dim" }, r.cost_from === "reply" ? ", as the provider says" : ", at the prices set here")])),
        h("h3", {}, `Linked by ${r.strategy === "none" ? "nothing: it begins a conversation" : r.strategy}`),
        h("dl", { class: "dl" }, h("dt", {}, "looked for"), h("dd", { class: "mono" }, r.parent_message_hash ? `${r.parent_message_hash.slice(0, 6)}…` : "no parent"),
          r.parent_request_id ? [h("dt", {}, "found"), h("dd", {}, h("a", { class: "link", href: `#/calls/${r.parent_request_id}` }, "the call before"))] : null,
          h("dt", {}, "branch"), h("dd", { class: "mono" }, r.branch_id), h("dt", {}, "model"), h("dd", {}, r.model ?? "–"), h("dt", {}, "status"), h("dd", {}, r.error ? `${r.status ?? ""} ${r.error}` : r.status ?? "–", r.stop_reason ? `, ${r.stop_reason}` : "", r.is_complete ? "" : ", broken off"),
          h("dt", {}, "took"), h("dd", {}, took(r.duration_ms), r.first_byte_ms === null ? "" : `, first byte after ${took(r.first_byte_ms)}`), h("dt", {}, "messages"), h("dd", {}, count(r.message_count)),
          h("dt", {}, "go to"), h("dd", {}, h("a", { class: "link", href: `#/chat/${r.chat_id}?at=${Math.max(1, r.last_seq)}` }, "turns"), ", ", h("a", { class: "link", href: `#/tree/${r.conversation_id}` }, "conversation"))),
        h("p", {}, h("button", { class: "btn ghost sm", type: "button", onclick: () => why(get, id, "How it was linked").catch((e) => ctx.note(words(e))) }, "What was decided")),
        h("h3", {}, "Sent, as stored"), h("pre", { class: "raw", tabindex: "0" }, `authorization: `, h("u", {}, "masked, not kept"), "\n", masked(clip(JSON.stringify({ model: r.model, messages: [`… ${Math.max(0, r.message_count - sent.length)} before`, ...sent.map((t) => ({ role: t.role, content: t.content ?? t.text }))] }, null, 2), 30000))),
        h("h3", {}, "Reply"), reply.length ? reply.map((t) => content(t)) : h("p", { class: "dim" }, r.error ? "None: it failed." : "None was stored."));
      side.answers = id;
      list?.refreshAll();
    } catch (error) {
      if (!signal.aborted && id === chosen) failedIn(side, id, error, showOne);
    }
  }
  const change = () => {
    model = modelPick.value;
    status = statusPick.value;
    ctx.go("calls", chosen ? [chosen] : [], { model, status }, { quietly: true });
    load(true);
  };
  modelPick.addEventListener("change", change);
  statusPick.addEventListener("change", change);
  await Promise.all([load(true), showOne()]);
  let later;
  return {
    shown() { list?.draw(); },
    async update(route) {
      chosen = route.args[0];
      await showOne();
      list?.refreshAll();
      side.scrollTop = 0;
      return true;
    },
    event(e) { if (e.kind === "call") { clearTimeout(later); later = setTimeout(() => { if (logw.scrollTop < 40) load(true).catch((x) => ctx.note(words(x))); }, 500); } },
    close() { clearTimeout(later); list?.close(); },
  };
}
