/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.js - a window over a long list: only the rows in sight are in the
 * document. Rows may be of any height; what was measured is remembered, and
 * what lies above the reader never moves what is being read.
 */
import { h } from "./dom.js";

/* Sums of heights, each changed and asked for in log n steps. */
class Heights {
  constructor(count, each) {
    this.resize(count, each);
  }

  resize(count, each) {
    const old = this.own;
    this.count = count;
    this.own = new Float64Array(count).fill(each);
    if (old) this.own.set(old.subarray(0, Math.min(old.length, count)));
    this.tree = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) this.tree[i + 1] = this.own[i];
    for (let i = 1; i <= count; i++) {
      const up = i + (i & -i);
      if (up <= count) this.tree[up] += this.tree[i];
    }
  }

  set(i, height) {
    const by = height - this.own[i];
    if (!by) return 0;
    this.own[i] = height;
    for (let k = i + 1; k <= this.count; k += k & -k) this.tree[k] += by;
    return by;
  }

  /* The top of row i. */
  top(i) {
    let sum = 0;
    for (let k = i; k > 0; k -= k & -k) sum += this.tree[k];
    return sum;
  }

  /* The row at a height. */
  at(y) {
    let i = 0;
    let step = 1 << Math.floor(Math.log2(Math.max(1, this.count)));
    for (; step; step >>= 1) {
      if (i + step <= this.count && this.tree[i + step] <= y) {
        i += step;
        y -= this.tree[i];
      }
    }
    return Math.min(i, Math.max(0, this.count - 1));
  }
}

/*
 * windowed({scroller, count, each, row(i) -> Element, fixed, label})
 * `row` is called for rows that come into sight; refresh(i) calls it again.
 */
export function windowed({ scroller, count, each, row, fixed = false, label, onSeen }) {
  const box = h("div", { class: "win", role: "list", "aria-label": label });
  const heights = new Heights(count, each);
  const shown = new Map(); /* row number -> element */
  let frame = 0;
  let pinned = null;
  const measure = fixed ? null : new ResizeObserver((entries) => {
    const first = firstSeen();
    let above = 0;
    for (const { target } of entries) {
      const i = Number(target.dataset.i);
      if (!shown.has(i) || shown.get(i) !== target) continue;
      const by = heights.set(i, target.getBoundingClientRect().height);
      if (i < first) above += by;
    }
    if (above && pinned === null) scroller.scrollTop += above;
    place();
    if (pinned !== null) jump(pinned, true);
  });

  const offset = () => box.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
  const firstSeen = () => (heights.count ? heights.at(Math.max(0, scroller.scrollTop - offset())) : 0);

  function place() {
    box.style.height = `${heights.top(heights.count)}px`;
    for (const [i, el] of shown) el.style.top = `${heights.top(i)}px`;
  }

  function make(i) {
    const el = row(i);
    el.dataset.i = i;
    el.setAttribute("role", "listitem");
    el.setAttribute("aria-posinset", i + 1);
    el.setAttribute("aria-setsize", heights.count);
    if (fixed) el.style.height = `${each}px`;
    return el;
  }

  function draw() {
    frame = 0;
    if (!box.isConnected || !heights.count) return;
    const top = scroller.scrollTop - offset();
    const room = scroller.clientHeight;
    const from = Math.max(0, heights.at(Math.max(0, top - room * 0.5)));
    const to = Math.min(heights.count - 1, heights.at(Math.max(0, top + room * 1.5)));
    const held = document.activeElement?.closest?.("[data-i]");
    for (const [i, el] of shown) {
      /* what has the focus stays, so that the keyboard is not lost */
      if ((i < from || i > to) && el !== held) {
        measure?.unobserve(el);
        el.remove();
        shown.delete(i);
      }
    }
    for (let i = from; i <= to; i++) {
      if (shown.has(i)) continue;
      const el = make(i);
      shown.set(i, el);
      const next = shown.get(i + 1);
      if (next) next.before(el); else box.append(el);
      measure?.observe(el);
    }
    place();
    onSeen?.(heights.at(Math.max(0, top)), Math.min(heights.count - 1, heights.at(Math.max(0, top + room))));
  }
  const soon = () => { frame ||= requestAnimationFrame(draw); };

  /* Bring a row to the top third. Rows on the way are guessed at, so it is
   * said again while they are measured. */
  function jump(i, again) {
    i = Math.max(0, Math.min(heights.count - 1, i));
    scroller.scrollTop = offset() + heights.top(i) - scroller.clientHeight / 4;
    draw();
    if (!again) {
      pinned = i;
      setTimeout(() => { pinned = null; }, 400);
    }
  }

  scroller.addEventListener("scroll", soon, { passive: true });
  scroller.addEventListener("wheel", () => { pinned = null; }, { passive: true });
  const resized = new ResizeObserver(soon);
  resized.observe(scroller);
  queueMicrotask(soon);

  return {
    box, jump, draw: soon,
    get count() { return heights.count; },
    element: (i) => shown.get(i),
    setCount(n) {
      heights.resize(n, each);
      for (const [i, el] of shown) if (i >= n) { el.remove(); shown.delete(i); }
      place();
      soon();
    },
    refresh(i) {
      const old = shown.get(i);
      if (!old) return;
      const focus = old.contains(document.activeElement);
      const el = make(i);
      el.style.top = old.style.top;
      measure?.unobserve(old);
      old.replaceWith(el);
      shown.set(i, el);
      measure?.observe(el);
      if (focus) (el.matches("[tabindex], a") ? el : el.querySelector("a, button"))?.focus();
    },
    refreshAll() { for (const i of [...shown.keys()]) this.refresh(i); },
    close() {
      cancelAnimationFrame(frame);
      measure?.disconnect();
      resized.disconnect();
      scroller.removeEventListener("scroll", soon);
    },
  };
}
