/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.js - lines that mean something: curves of amounts, marks, the thread
 * from the rail into the view.
 */
import { h, s } from "./dom.js";

/* A soft line through points, flat at each of them. */
export function curve(points) {
  if (!points.length) return "";
  let d = `M${points[0][0].toFixed(1)} ${points[0][1].toFixed(1)}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1];
    const [x1, y1] = points[i];
    const mid = ((x0 + x1) / 2).toFixed(1);
    d += `C${mid} ${y0.toFixed(1)} ${mid} ${y1.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  }
  return d;
}

export function points(values, width, top, bottom, most = Math.max(1, ...values)) {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values.map((v, i) => [i * step, bottom - (v / most) * (bottom - top)]);
}

/* The line under a title: amounts over time, flat when there are none. */
export function pull(values, label) {
  const list = values?.length > 1 ? values : [0, 0];
  const at = points(list, 1000, 6, 22);
  const line = curve(at);
  return s("svg", { class: "pull", viewBox: "0 0 1000 30", preserveAspectRatio: "none", "data-y": at[0][1] / 30,
    role: "img", "aria-label": label || "no activity" }, s("path", { d: line }));
}

/* A value between 0 and 1 on a line. */
export function sure(value, floor) {
  const x = 4 + Math.max(0, Math.min(1, value)) * 82;
  return s("svg", { class: "sure", viewBox: "0 0 92 14", "aria-hidden": "true" },
    s("path", { class: "ax2", d: "M0 7H92" }), s("path", { class: "ht", d: `M0 7H${x}` }),
    floor ? s("path", { class: "ax2", d: `M${4 + floor * 82} 2V12` }) : null,
    s("circle", { class: "ho", cx: x, cy: 7, r: 4 }));
}

export function crossing(cls) {
  return s("svg", { viewBox: "0 0 56 40", class: cls, "aria-hidden": "true" },
    s("path", { class: "y", d: "M0 12C24 12 32 28 56 28" }),
    s("path", { class: "pf", d: "M22 14h12v12H22z" }),
    s("path", { class: "y", d: "M0 28C24 28 32 12 56 12" }));
}

export const frayed = (cls = "fray") => s("svg", { class: cls, viewBox: "0 0 240 70", "aria-hidden": "true" },
  s("path", { class: "ht", d: "M5.5 16V24C5.5 40 14 46 34 46H150" }),
  s("path", { class: "ht", opacity: ".7", d: "M150 46C166 46 172 40 188 34M150 46C168 46 178 46 200 47M150 46C164 46 170 52 184 60" }));

const lines = {
  frayed: [["ht", "M0 9H60M60 9C72 9 76 5 86 2M60 9C74 9 80 9 92 10M60 9C70 9 74 13 82 17"]],
  broken: [["ht", "M0 9H110M134 9H300"], ["g", "m116 4 4 5-4 5M128 4l-4 5 4 5"]],
  here: [["ht", "M0 9H104"]],
};
/* What a view says instead of its content. */
export function state(kind, ...words) {
  const parts = (lines[kind] ?? []).map(([cls, d]) => s("path", { class: cls, d }));
  if (kind === "here") parts.push(s("circle", { class: "ho", cx: 110, cy: 9, r: 6 }), s("circle", { class: "hf", cx: 110, cy: 9, r: 2.5 }));
  return h("div", { class: "state", role: kind === "broken" ? "alert" : undefined },
    parts.length ? s("svg", { viewBox: "0 0 300 18", preserveAspectRatio: "xMinYMid meet", "aria-hidden": "true" }, parts) : null,
    words);
}

/* An effort as a thread: opening, attempts, end. `at(t)` gives an x. */
export function effortLine(effort, at, width, now) {
  const from = at(Date.parse(effort.created_at));
  const end = effort.status === "open" ? at(now) : at(Date.parse(effort.updated_at));
  const marks = [];
  const y = 10;
  const done = effort.status === "resolved";
  const cut = effort.status === "abandoned";
  const stop = Math.max(end, from + 10);
  marks.push(s("path", { class: cut ? "y half" : "y", d: `M${from} ${y}H${stop}` }));
  (effort.attempts ?? []).forEach((attempt) => {
    const x = Math.min(stop, Math.max(from + 8, at(attempt.at)));
    if (attempt.failed) {
      marks.push(s("path", { class: "pf", d: `M${x - 7} ${y - 6}h14v12h-14z` }),
        s("path", { class: "g", d: `m${x - 3} ${y - 3} 6 6m0-6-6 6` }));
    } else marks.push(s("circle", { class: "yf", cx: x, cy: y, r: 3 }));
  });
  marks.push(s("circle", { class: "yo", cx: from, cy: y, r: 4 }));
  if (done) marks.push(s("circle", { class: "yo", cx: stop, cy: y, r: 5 }), s("circle", { class: "yf", cx: stop, cy: y, r: 2 }));
  else if (cut) marks.push(s("path", { class: "y half", d: `M${stop} ${y - 5}V${y + 5}` }));
  else marks.push(s("path", { class: "y dash half", d: `M${Math.min(stop + 3, width - 12)} ${y}H${width}` }));
  return marks;
}

/* --- the thread ------------------------------------------------------------- */

const goals = ".pull, .plot, .ans, .fray, .ball";

/* From the knot in the rail along the panel's edge to where the view begins. */
export function lay(again) {
  const path = document.getElementById("through");
  const item = document.querySelector(".nav a[aria-current]");
  const goal = document.querySelector(".stage > .view:last-child")?.querySelector(goals);
  path.removeAttribute("d");
  if (!item || !item.offsetParent || !goal) return;
  const a = item.getBoundingClientRect();
  const g = goal.getBoundingClientRect();
  const r = 8;
  const edge = document.getElementById("main").getBoundingClientRect().left + 0.5;
  const roof = document.getElementById("stage").getBoundingClientRect().top;
  const kx = a.left + 26.75;
  const ky = a.top + a.height / 2 + 6;
  const uy = a.bottom + 0.25;
  let ty;
  let tail;
  if (goal.matches(".ans")) {
    ty = g.top - 14;
    tail = `H${g.left - 2}q${r} 0 ${r} ${r}V${g.top + 16}m0 12V${Math.max(g.bottom - 12, g.top + 30)}`;
  } else if (goal.matches(".fray")) {
    ty = g.top + 6;
    tail = `H${g.left - 2.5}q${r} 0 ${r} ${r}V${g.top + 17}`;
  } else {
    const start = Number(goal.dataset.y ?? (goal.matches(".ball") ? 0.5 : 22 / 30));
    ty = g.top + g.height * start;
    tail = `H${g.left + (goal.matches(".ball") ? 9 : 0)}`;
  }
  const gone = ty < roof;
  const dy = (gone ? roof : ty) - uy;
  const way = Math.sign(dy) || 1;
  let turn;
  if (gone) turn = `H${edge - r}q${r} 0 ${r} ${way * r}V${roof}`;
  else if (Math.abs(dy) < 2 * r) turn = `H${edge - r}c${r} 0 ${r} ${dy} ${2 * r} ${dy}${tail}`;
  else turn = `H${edge - r}q${r} 0 ${r} ${way * r}V${ty - way * r}q0 ${way * r} ${r} ${way * r}${tail}`;
  path.setAttribute("d", `M${kx} ${ky}C${kx} ${uy} ${kx + 4} ${uy} ${kx + 14} ${uy}${turn}`);
  if (again) {
    path.classList.remove("laid");
    path.getBoundingClientRect();
    path.classList.add("laid");
  }
}
