/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.js - the one place that talks to the server: same origin, the key as
 * every client sends it, kept for this tab. Says when the server is gone and
 * when it is back, and hands on what happens there (server-sent events).
 */

const place = "clew-key";
let key = sessionStorage.getItem(place) ?? "";

/* What the rest of the page listens to: "gone", "back", "key", "role", "live",
 * "event". */
export const bus = new EventTarget();
const send = (name, detail) => bus.dispatchEvent(new CustomEvent(name, { detail }));

export const link = { gone: false, since: null, heard: null, role: "", live: false };

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = body?.error?.code ?? "";
    this.field = body?.error?.field;
    this.id = body?.error?.request_id;
  }
}
/* The server did not answer at all. */
export class Gone extends Error {}

export const hasKey = () => key !== "";
/* The part of a key that may be shown. */
export const keyId = () => key.split("_")[1] ?? "";
export function setKey(value) {
  key = value.trim();
  if (key) sessionStorage.setItem(place, key);
  else sessionStorage.removeItem(place);
  stopEvents();
  startEvents();
}

export function query(params) {
  const list = Object.entries(params ?? {}).filter(([, v]) => v !== undefined && v !== null && v !== "");
  return list.length ? `?${new URLSearchParams(list)}` : "";
}

function headers(more) {
  return { accept: "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}), ...more };
}

/* --- gone and back ---------------------------------------------------------- */

let timer;
function lost() {
  if (!link.gone) {
    link.gone = true;
    link.since = new Date();
    send("gone");
    knock(1000);
  }
}
/* Ask again and again, ever more rarely, until it answers. */
function knock(ms) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      const answer = await fetch("/healthz", { cache: "no-store" });
      if (answer.status < 500) {
        link.gone = false;
        link.heard = new Date();
        send("back");
        startEvents();
        return;
      }
    } catch { /* still gone */ }
    send("gone");
    knock(Math.min(ms * 1.5, 10000));
  }, ms);
}

/* --- calls ------------------------------------------------------------------ */

export async function call(method, path, body, { signal, raw, headers: more = {} } = {}) {
  const isFile = body instanceof Blob; /* sent as it is */
  let answer;
  try {
    answer = await fetch(path, {
      method, signal, cache: "no-store", credentials: "omit", redirect: "error",
      headers: headers(body === undefined ? more : { ...more, "content-type": isFile ? "application/octet-stream" : "application/json" }),
      body: body === undefined || isFile ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    lost();
    throw new Gone("the server does not answer");
  }
  link.heard = new Date();
  if (raw && answer.ok) return answer;
  let json = null;
  try {
    json = await answer.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (answer.ok) { lost(); throw new Gone("the answer broke off"); }
  }
  if (answer.ok) return json;
  if (answer.status === 401) send("key", { refused: hasKey() });
  throw new ApiError(answer.status, json);
}

const v1 = "/api/v1/";
export const get = (path, params, options) => call("GET", v1 + path + query(params), undefined, options);
export const post = (path, body = {}, options) => call("POST", v1 + path, body, options);
export const patch = (path, body, options) => call("PATCH", v1 + path, body, options);
export const del = (path, options) => call("DELETE", v1 + path, undefined, options);

/* Who we are to the server; also fills the counts of the rail. */
export async function stats(params, options) {
  const answer = await get("stats", { utc_offset_minutes: -new Date().getTimezoneOffset(), ...params }, options);
  if (answer.role !== link.role) {
    link.role = answer.role;
    send("role");
  }
  return answer;
}
const ranks = { read: 1, write: 2, admin: 3 };
export const may = (role) => (ranks[link.role] ?? 0) >= ranks[role];

/* All items of a list, page by page, at most `max`. */
export async function all(path, params, max, options) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { limit: Math.min(500, max - items.length), ...params, cursor }, options);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < max);
  return items;
}

/* --- events ----------------------------------------------------------------- */

let stream = null;
let lastId = "";
let retry = 0;

export function stopEvents() {
  stream?.abort();
  stream = null;
}

/* One stream while the tab is looked at: browsers allow few connections to a
 * server, and many tabs would use them up. What happened meanwhile comes when
 * it is looked at again. */
export async function startEvents() {
  if (stream || link.gone || document.visibilityState === "hidden") return;
  const mine = new AbortController();
  stream = mine;
  let answer;
  try {
    answer = await fetch(`${v1}events`, {
      signal: mine.signal, cache: "no-store", credentials: "omit",
      headers: headers({ accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) }),
    });
    if (!answer.ok) throw new ApiError(answer.status, null);
    link.live = true;
    retry = 0;
    send("live");
    await readEvents(answer.body.getReader());
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) retry = Infinity;
    if (!answer && !mine.signal.aborted) lost(); /* it was not even refused */
  }
  if (stream !== mine) return;
  stream = null;
  link.live = false;
  send("live");
  if (retry !== Infinity) setTimeout(startEvents, Math.min(1000 * 2 ** retry++, 15000));
  else retry = 0;
}

async function readEvents(reader) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    link.heard = new Date();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
      }
      text = text.slice(end + 2);
      if (fields.id) lastId = fields.id;
      if (fields.event && fields.data) send("event", { kind: fields.event, ...JSON.parse(fields.data) });
    }
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") stopEvents();
  else startEvents();
});
