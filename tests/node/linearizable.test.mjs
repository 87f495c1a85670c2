/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linearizable.test.mjs - the judge of histories (lib/history.mjs) tells those that
 * can be from those that cannot.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Histories, explain } from "./lib/history.mjs";

const put = (begin, end, id, isNew = true) => ({ kind: "put", begin, end, answer: { id, isNew } });
const get = (begin, end, id) => ({ kind: "get", begin, end, answer: { id } });
const forget = (begin, end, isGone = true) => ({ kind: "forget", begin, end, answer: { isGone } });
const lost = (kind, begin) => ({ kind, begin, end: Infinity });

describe("histories", () => {
  test("that can be", () => {
    for (const history of [
      [],
      [get(1, 2, null), put(3, 4, "a"), get(5, 6, "a")],
      [put(1, 2, "a"), put(3, 4, "a", false), forget(5, 6), get(7, 8, null)],
      [put(1, 2, "a"), forget(3, 4), put(5, 6, "b"), get(7, 8, "b")],
      /* at the same time: either may come first */
      [put(1, 9, "a"), get(2, 3, null), get(4, 5, "a")],
      [put(1, 9, "a"), put(2, 3, "a", false)],
      [put(1, 2, "a"), forget(3, 9), get(4, 5, "a"), get(6, 7, null)],
      [put(1, 2, "a"), forget(3, 9), forget(3, 9, false)],
      /* lost: it happened, late, or never */
      [lost("put", 1), get(2, 3, "a"), get(4, 5, "a")],
      [lost("put", 1), get(2, 3, null), get(4, 5, "a")],
      [lost("put", 1), get(2, 3, null), put(4, 5, "a")],
      [put(1, 2, "a"), lost("forget", 3), get(4, 5, "a"), get(6, 7, null)],
    ]) {
      assert.equal(explain(history), true, JSON.stringify(history));
    }
  });

  test("that cannot be", () => {
    for (const history of [
      /* what was acknowledged is gone, or another */
      [put(1, 2, "a"), get(3, 4, null)],
      [put(1, 2, "a"), get(3, 4, "b")],
      [put(1, 2, "a"), put(3, 4, "b")],
      /* what nobody stored is there, twice, or again */
      [get(1, 2, "a")],
      [put(1, 2, "a", false)],
      [put(1, 5, "a"), put(2, 4, "b")],
      [put(1, 2, "a"), forget(3, 4), get(5, 6, "a")],
      [forget(1, 2)],
      [put(1, 2, "a"), forget(3, 4), forget(5, 6)],
      /* seen, and then not any more */
      [put(1, 9, "a"), get(2, 3, "a"), get(4, 5, null)],
      [lost("put", 1), get(2, 3, "a"), get(4, 5, null)],
      [lost("put", 1), get(2, 3, "a"), get(4, 5, "b")],
      [put(1, 2, "a"), lost("forget", 3), get(4, 5, null), get(6, 7, "a")],
      [put(3, 4, "a"), lost("forget", 5), get(1, 2, "a")],
    ]) {
      assert.equal(explain(history), false, JSON.stringify(history));
    }
  });

  test("are noted as they come", async () => {
    const all = new Histories();
    await all.note("k", "put", async () => ({ id: "a", isNew: true }));
    await all.note("k", "put", async () => undefined); /* lost */
    await all.note("k", "forget", async () => null); /* never sent */
    assert.equal(all.count, 2);
    assert.deepEqual(all.wrong(), []);
    await all.note("k", "get", async () => ({ id: null }));
    assert.deepEqual(all.wrong().map(([key]) => key), ["k"]);
  });
});
