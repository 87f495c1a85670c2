/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineage.js - how a memory came about: refinements and consolidations along
 * time, drawn from what the server tells level by level.
 */
import { get } from "./api.js";
import { clip, dayOf, h, many, s, yarn } from "./dom.js";

const MOST = 300;

/* All of it: the server answers ten levels each way at a time. */
async function collect(id, opt) {
  const nodes = new Map();
  const asked = new Set();
  const ends = [id];
  while (ends.length && nodes.size < MOST && asked.size < 40) {
    const next = ends.shift();
    if (asked.has(next)) continue;
    asked.add(next);
    const part = await get(`memories/${next}/lineage`, {}, opt);
    for (const n of part.chain) if (!nodes.has(n.id)) nodes.set(n.id, n);
    const depths = part.chain.map((n) => n.depth);
    const low = Math.min(...depths);
    const high = Math.max(...depths);
    if (low <= -9 || high >= 9 || part.truncated) {
      for (const n of part.chain) if (n.depth === low || n.depth === high) ends.push(n.id);
    }
  }
  return [...nodes.values()].sort((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id));
}

export async function lineage(id, opt) {
  const nodes = await collect(id, opt);
  if (nodes.length < 2) return null;
  const wide = 156;
  const tall = 44;
  const column = 46;
  const place = new Map();
  const ends = []; /* lane -> x where it is free */
  nodes.forEach((n, i) => {
    const before = (n.source_ids ?? []).map((x) => place.get(x)).filter(Boolean);
    const x = before.length ? Math.max(...before.map((p) => p.x)) + wide + column : 0;
    let lane = before.length === 1 && ends[before[0].lane] <= x ? before[0].lane : 0;
    while (ends[lane] !== undefined && ends[lane] > x) lane++;
    ends[lane] = x + wide + 8;
    place.set(n.id, { x, lane, n, i });
  });
  const lanes = ends.length;
  const width = Math.max(...[...place.values()].map((p) => p.x)) + wide + 4;
  const height = lanes * (tall + 14) + 26;
  const y = (p) => 6 + p.lane * (tall + 14);
  const edges = [];
  const superseded = new Set();
  for (const p of place.values()) {
    for (const from of p.n.source_ids ?? []) {
      const q = place.get(from);
      if (!q) continue;
      if (!p.n.retracted) superseded.add(from);
      const x0 = q.x + wide;
      const y0 = y(q) + tall / 2;
      const y1 = y(p) + tall / 2;
      const mid = (x0 + p.x) / 2;
      edges.push(s("path", { class: `edge ${p.n.retracted ? "dash half" : ""}`, d: `M${x0} ${y0}C${mid} ${y0} ${mid} ${y1} ${p.x} ${y1}` }));
    }
  }
  const svg = s("svg", { class: `lin ${yarn(id)}`, width, height, role: "group", "aria-label": `Lineage: ${many(nodes.length, "memory", "memories")}, first ${dayOf(nodes[0].created_at)}, last ${dayOf(nodes.at(-1).created_at)}` },
    edges, [...place.values()].map((p) => s("a", { href: `#/memories/${p.n.id}`, class: `node ${p.n.id === id ? "on" : ""} ${p.n.retracted || superseded.has(p.n.id) ? "old" : ""}` },
    s("title", {}, p.n.content_preview),
    s("rect", { x: p.x, y: y(p), width: wide, height: tall, rx: 6 }),
    s("text", { class: p.n.id === id ? "i b" : "i", x: p.x + 10, y: y(p) + 19 }, clip(p.n.content_preview, 21)),
    s("text", { x: p.x + 10, y: y(p) + 35 }, clip(`${dayOf(p.n.created_at)}, ${p.n.contributor}${p.n.retracted ? ", taken back" : ""}`, 26)))));
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lineage" }, svg);
  const centre = () => { box.scrollLeft = place.get(id).x - box.clientWidth / 2 + wide / 2; };
  return { box, nodes, centre };
}
