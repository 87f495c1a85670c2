/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chats.js - every chat: whose, where, how long, what is open in it.
 */
import { all, get, stats } from "../api.js";
import { add, ago, count, h, many, put, quiet, tell, time } from "../dom.js";
import { pull, state } from "../draw.js";
import { windowed } from "../list.js";
import { failed } from "../parts.js";

const sorts = [["activity", "latest"], ["created", "begun last"], ["turns", "longest"]];

export default async function chats(ctx) {
  const { root, signal, who } = ctx;
  const query = { ...ctx.query };
  const numbers = await stats({ since: new Date(Date.now() - 89 * 864e5).toISOString(), user_id: who }, { signal });
  const efforts = await all("memories", { type: "effort", status: "open", user_id: who }, 1000, { signal });
  const open = new Map();
  for (const e of efforts) open.set(e.chat_id, (open.get(e.chat_id) ?? 0) + 1);
  let rows = [];
  let cursor = null;
  let loading = false;
  let list;
  const place = h("div", { class: "chatlist" });
  const box = h("input", { class: "chip", type: "search", placeholder: "in titles", "aria-label": "Filter by title", value: query.q ?? "" });
  const sort = h("select", { class: "chip", "aria-label": "Order" }, sorts.map(([v, l]) => h("option", { value: v }, l)));
  sort.value = query.sort ?? "activity";
  const since = h("input", { class: "chip", type: "date", "aria-label": "Active since", value: query.since ?? "" });
  add(root, h("div", { class: "head" }, h("div", { class: "row" }, h("h1", {}, "Chats"),
    h("span", { class: "sum" }, `${many(numbers.chats, "chat")}, ${many(numbers.turns, "turn")}`),
    h("div", { class: "acts" }, box, sort, since)),
  pull(numbers.days.map((d) => d.turns), "Turns per day in 90 days")), place);

  function row(i) {
    const c = rows[i];
    if (!c) return h("div", { class: "row-a" }, h("div", { class: "sk w2" }));
    return h("a", { class: "row-a", href: `#/chat/${c.id}` },
      h("span", { class: "ti" }, c.title ?? "untitled"),
      h("span", { class: "c" }, [c.user_id, c.channels.join(", ")].filter(Boolean).join(", ")),
      h("span", { class: "c opt" }, open.get(c.id) ? `${open.get(c.id)} open` : c.closed_at ? "closed" : ""),
      h("span", { class: "c opt num" }, count(c.turn_count)),
      h("span", { class: "c num" }, time(c.last_activity_at, ago(c.last_activity_at))));
  }
  async function load(fresh) {
    if (loading && !fresh) return;
    loading = true;
    try {
      const page = await get("chats", { limit: 200, user_id: who, q: box.value, sort: sort.value,
        since: since.value ? new Date(`${since.value}T00:00`).toISOString() : "", cursor: fresh ? undefined : cursor }, { signal });
      rows = fresh ? page.items : rows.concat(page.items);
      cursor = page.next_cursor;
      if (fresh) {
        list?.close();
        if (!rows.length) {
          put(place, h("div", { class: "body" }, state("frayed", h("p", {}, h("b", {}, "No chat here. "), box.value || since.value ? "Nothing fits these filters." : "One begins with the first turn: connect a client, or post one."),
            h("p", {}, h("a", { class: "link", href: "#/connect" }, "Connect a client")))));
          return;
        }
        list = windowed({ scroller: root, count: rows.length, each: 47, fixed: true, row, label: "Chats",
          onSeen: (a, b) => { if (cursor && b > rows.length - 60) load(false); } });
        put(place, h("div", { class: "row-a heads", "aria-hidden": "true" }, h("span", {}, "title"), h("span", {}, "who, where"), h("span", { class: "opt" }, "efforts"), h("span", { class: "num opt" }, "turns"), h("span", { class: "num" }, "last")), list.box);
        tell(many(rows.length, "chat"));
      } else list.setCount(rows.length);
    } catch (error) {
      if (!signal.aborted) put(place, failed(error, () => load(true)));
    } finally {
      loading = false;
    }
  }
  const change = quiet(() => {
    ctx.go("chats", [], { q: box.value, sort: sort.value === "activity" ? "" : sort.value, since: since.value }, { quietly: true });
    load(true);
  }, 250);
  box.addEventListener("input", change);
  sort.addEventListener("change", change);
  since.addEventListener("change", change);
  await load(true);
  return { close() { list?.close(); }, shown() { list?.draw(); } };
}
