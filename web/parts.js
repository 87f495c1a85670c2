/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.js - what many views use: buttons that know their role, sheets that
 * ask, the preview and the receipt of what is forgotten, errors in words.
 */
import { ApiError, Gone, may, post } from "./api.js";
import { add, clip, code, count, h, many, put, tell, time, yarn } from "./dom.js";
import { state } from "./draw.js";

/* A button. One that this key may not press stays, and says what it needs. */
export function button(label, { role = "read", cls = "", title, onclick, ...rest } = {}) {
  const ok = may(role);
  const words = ok ? title : `Needs a key with the role ${role}`;
  return h("button", {
    type: "button", class: `btn ${cls}`, title: words, "aria-disabled": ok ? undefined : "true",
    onclick: (e) => (ok ? onclick?.(e) : tell(words)), ...rest,
  }, label, ok ? null : h("span", { class: "vh" }, ` (${words})`));
}

/* The same, small, among the words of a turn. */
export function quietButton(label, role, onclick, name) {
  const ok = may(role);
  const words = ok ? undefined : `Needs a key with the role ${role}`;
  return h("button", { type: "button", title: words, "aria-label": name, "aria-disabled": ok ? undefined : "true",
    onclick: (e) => (ok ? onclick(e) : tell(words)) }, label);
}

/* --- errors in words -------------------------------------------------------- */

export function words(error) {
  if (error instanceof Gone) return "The server does not answer. What you see stays; it is asked again.";
  if (error instanceof ApiError) {
    if (error.status === 401) return "The key is missing or no longer valid.";
    if (error.status === 403) return "This key's role does not permit that.";
    if (error.status === 404) return "It is not there (any more).";
    if (error.status >= 500) return `The server failed at it${error.id ? ` (request ${error.id})` : ""}. Nothing was changed.`;
    return `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
  }
  return "Something in this page failed; reloading may help.";
}
export function failed(error, again) {
  if (!(error instanceof ApiError || error instanceof Gone)) console.error(error);
  return state("broken", h("p", {}, h("b", {}, "This could not be shown. "), words(error)),
    again ? h("p", {}, h("button", { class: "btn sm", type: "button", onclick: again }, "Try again")) : null);
}

/* The same in `place`, where an answer to the question `asked` may stand: that
 * answer stays while the server is gone. What fills a place says what it
 * answers by `place.answers`. */
export function failedIn(place, asked, error, again) {
  if (error instanceof Gone && place.answers === asked) return;
  place.answers = undefined;
  put(place, failed(error, again));
}

/* --- sheets ----------------------------------------------------------------- */

/* A sheet above the view; resolves when it is closed, with what it was closed
 * with. `build(close)` gives its content. */
export function sheet(title, build, { grave = false, cls = "" } = {}) {
  return new Promise((resolve) => {
    const back = document.activeElement;
    let value;
    const close = (with_) => { value = with_; dialog.close(); };
    const dialog = h("dialog", { class: `${grave ? "grave" : ""} ${cls}`, "aria-labelledby": "sheet-title" },
      h("h2", { id: "sheet-title" }, title));
    add(dialog, build(close, dialog));
    dialog.addEventListener("close", () => {
      dialog.remove();
      back?.isConnected && back.focus?.();
      resolve(value);
    });
    dialog.addEventListener("click", (e) => { if (e.target === dialog) close(); });
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("input, textarea, select"))?.focus();
  });
}

/*
 * Ask for something and do it: fields are [{name, label, value, kind, options}],
 * `does(values)` is called on the button and its failure is said in the sheet.
 */
export function form(title, { lead, fields, go = "Save", grave = false, does }) {
  return sheet(title, (close) => {
    const fault = h("p", { class: "err", role: "alert", hidden: true });
    const inputs = fields.map((f) => {
      const id = `f-${f.name}`;
      let input;
      if (f.options) {
        input = h("select", { class: "inp", id, name: f.name }, f.options.map(([value, label]) => h("option", { value }, label)));
        if (f.value !== undefined) input.value = f.value;
      } else if (f.kind === "long") input = h("textarea", { class: "inp", id, name: f.name, maxlength: f.max ?? 10000, value: f.value ?? "" });
      else input = h("input", { class: "inp", id, name: f.name, type: f.kind ?? "text", maxlength: f.max ?? 500, value: f.value ?? "", autocomplete: "off" });
      return [f, input];
    });
    const goButton = h("button", { class: `btn ${grave ? "grave" : "go"}`, type: "submit" }, go);
    return h("form", {
      onsubmit: async (e) => {
        e.preventDefault();
        goButton.disabled = true;
        fault.hidden = true;
        try {
          const values = Object.fromEntries(inputs.map(([f, input]) => [f.name, input.value]));
          close(await does(values) ?? true);
        } catch (error) {
          fault.hidden = false;
          fault.textContent = words(error);
          goButton.disabled = false;
        }
      },
    }, lead ? h("p", {}, lead) : null,
    inputs.map(([f, input]) => h("div", { class: "f" }, h("label", { for: input.id }, f.label), input)),
    fault,
    h("div", { class: "acts" }, h("button", { class: "btn ghost", type: "button", onclick: () => close() }, "Leave it"), goButton));
  }, { grave });
}

/* --- forgetting ------------------------------------------------------------- */

const kinds = {
  turns: ["turn"], memories: ["memory", "memories"], chats: ["chat"], episodes: ["episode"],
  sessions: ["session"], chains: ["topic"], claims: ["claim"], requests: ["captured call"], users: ["person", "people"],
};
function counts(forgotten) {
  return Object.entries(forgotten).filter(([, n]) => n > 0)
    .map(([kind, n]) => many(n, ...(kinds[kind] ?? [kind.replace(/s$/, "")])));
}

/* What will go, before it goes; then the receipt. Resolves with the receipt, or
 * with nothing if it was left. `body` is that of POST /forget. */
export async function forget(title, body, { quote } = {}) {
  let plan;
  try {
    plan = await post("forget", { ...body, dry_run: true });
  } catch (error) {
    await sheet("This cannot be forgotten", (close) => [h("p", {}, words(error)),
      h("div", { class: "acts" }, h("button", { class: "btn", type: "button", onclick: () => close() }, "Close"))]);
    return undefined;
  }
  const list = counts(plan.forgotten);
  const receipt = await sheet(title, (close) => {
    const fault = h("p", { class: "err", role: "alert", hidden: true });
    return [
      quote ? h("p", { class: "said" }, `“${clip(quote, 300)}”`) : null,
      h("p", {}, "This will go, and cannot be brought back:"),
      h("ul", { class: "will" }, (list.length ? list : ["nothing: it is not there any more"]).map((x) => h("li", {}, x)),
        h("li", {}, "what was derived from them: index, vectors, summaries are written anew"),
        h("li", {}, "backups you made keep what they hold")),
      fault,
      h("div", { class: "acts" },
        h("button", { class: "btn ghost", type: "button", autofocus: true, onclick: () => close() }, "Keep it"),
        h("button", {
          class: "btn grave", type: "button", disabled: !list.length,
          onclick: async (e) => {
            e.currentTarget.disabled = true;
            try {
              close(await post("forget", body));
            } catch (error) {
              fault.hidden = false;
              fault.textContent = words(error);
            }
          },
        }, "Forget for good")),
    ];
  }, { grave: true });
  if (receipt) await showReceipt("Forgotten", counts(receipt.forgotten), receipt);
  return receipt;
}

export function showReceipt(title, lines, receipt) {
  return sheet(title, (close) => [
    h("ul", { class: "will" }, lines.map((x) => h("li", {}, x))),
    receipt?.receipt_id ? [h("p", {}, "The receipt. Keep it to show later what was removed, and when:"),
      code(`${receipt.receipt_id} ${receipt.sha256}`)] : null,
    h("div", { class: "acts" }, h("button", { class: "btn", type: "button", autofocus: true, onclick: () => close() }, "Close")),
  ]);
}

/* --- why -------------------------------------------------------------------- */

function facts(value, depth = 0) {
  if (value === null || typeof value !== "object") {
    return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(3) : String(value);
  }
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    return h("ul", {}, value.slice(0, 20).map((v) => h("li", {}, facts(v, depth + 1))),
      value.length > 20 ? h("li", { class: "dim" }, `${count(value.length - 20)} more`) : null);
  }
  return h("dl", { class: "dl" }, Object.entries(value).map(([k, v]) => [h("dt", {}, k), h("dd", {}, facts(v, depth + 1))]));
}

/* What was decided about a turn or a call. */
export async function why(get, id, title = "Why") {
  let trace;
  try {
    trace = await get(`traces/${id}`);
  } catch (error) {
    trace = null;
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  return sheet(title, (close) => [
    trace ? Object.entries(trace.decisions ?? {}).map(([step, decided]) => [h("h3", {}, step), facts(decided)])
      : h("p", {}, "Nothing was decided about it, or it was imported without its trace."),
    h("div", { class: "acts" }, h("button", { class: "btn", type: "button", autofocus: true, onclick: () => close() }, "Close")),
  ]);
}

/* --- rows that several views show ------------------------------------------- */

/* "<chat>:lines-3-5" */
export function refOf(text) {
  const m = /^([0-9a-f-]{36}):lines-(\d+)-(\d+)$/.exec(text ?? "");
  return m ? { chat: m[1], first: Number(m[2]), last: Number(m[3]) } : null;
}
export const chatLink = (ref) => (ref ? `#/chat/${ref.chat}?at=${ref.first}` : undefined);

export const memoryYarn = (m) => yarn(m.chat_id ?? m.agent_id ?? m.id);
export const holds = (m) => !m.superseded && !m.retracted_at;
export function memoryMeta(m) {
  const lines = (m.source_refs ?? []).reduce((n, r) => { const x = refOf(r); return n + (x ? x.last - x.first + 1 : 0); }, 0);
  return h("span", { class: "meta" }, h("span", {}, m.type),
    h("span", { class: "iso" }, [m.agent_name ?? m.user_id, ""].find((x) => x !== null && x !== undefined) ? `${m.agent_name ?? m.user_id}, ` : "", time(m.created_at)),
    lines ? h("span", {}, many(lines, "turn")) : null,
    m.pinned ? h("span", { class: "pin" }, "pinned") : null,
    m.retracted_at ? h("span", { class: "tag broken" }, "taken back") : m.superseded ? h("span", { class: "tag" }, "held before") : null);
}

export function topics(list) {
  return list.map((t) => h("span", { class: `topic ${yarn(t.id)}` }, t.topic));
}

/* What was said, every character of it; what stands in ``` fences is code. */
function spoken(text) {
  const out = [];
  let last = 0;
  for (const fence of text.matchAll(/^ {0,3}(```+|~~~+)[^\n]*\n(?:(?:[^]*?\n)?? {0,3}\1[`~]*[ \t]*(?:\n|(?![^]))|[^]*)/gm)) {
    out.push(text.slice(last, fence.index), h("code", { class: "fence", dir: "ltr" }, fence[0]));
    last = fence.index + fence[0].length;
  }
  return [...out, text.slice(last)];
}

/* A long text: its beginning, and the rest when asked for. */
export function long(text, max = 4000, cls = "said") {
  const p = h("p", { class: cls, dir: "auto" }, spoken(clip(text, max)));
  if ((text?.length ?? 0) <= max) return p;
  const more = h("button", { class: "btn sm", type: "button", onclick: () => {
    put(p, spoken(text.slice(0, 400000)));
    more.remove();
  } }, `Show all ${count(text.length)} characters`);
  return [p, more];
}
