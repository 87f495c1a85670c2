/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writers.mjs - clients that write on and on, and what they were promised.
 *
 * A ledger notes what was attempted and what was acknowledged; settle() then
 * reads the whole store and compares: what was acknowledged is there, once; a
 * batch is there whole or not at all. Turns are known by their external ids.
 */
import assert from "node:assert/strict";

/* mulberry32: the same seed, the same run */
export function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/* Every external id the store holds, with repeats. */
async function stored(api) {
  const found = [];
  let cursor;
  do {
    const page = await api.get(
      `/api/v1/chats?limit=500${cursor ? `&cursor=${cursor}` : ""}`);
    assert.equal(page.status, 200, page.text);
    for (const chat of page.body.items) {
      let after = 0;
      for (;;) {
        const turns = await api.get(
          `/api/v1/chats/${chat.id}/turns?limit=500&after_seq=${after}`);
        assert.equal(turns.status, 200, turns.text);
        found.push(...turns.body.items.map((turn) => turn.external_id));
        if (turns.body.items.length < 500) break;
        after = turns.body.items.at(-1).seq;
      }
    }
    cursor = page.body.next_cursor;
  } while (cursor);
  return found;
}

export class Ledger {
  constructor(random) {
    this.random = random;
    this.attempted = []; /* lists of ids that stand or fall together */
    this.acknowledged = [];
    this.refusals = []; /* answers that were not a yes */
    this.isOver = false; /* set it, and the writers end */
    this.waiting = [];
  }

  /* Resolves once `n` more turns than now are acknowledged. */
  more(n) {
    const at = this.acknowledged.length + n;
    return new Promise((resolve) => { this.waiting.push({ at, resolve }); });
  }

  note(ids) {
    this.acknowledged.push(...ids);
    this.waiting = this.waiting.filter(({ at, resolve }) => {
      if (this.acknowledged.length < at) return true;
      resolve();
      return false;
    });
  }

  /* One post of one or several turns; undefined: the connection broke. */
  async post(api, user, ids) {
    const turns = ids.map((id) => ({
      user_id: user, role: "user", channel: "sms", external_id: id,
      content: `message ${id}: I moved my meeting to Thursday`,
    }));
    const answer = await api.post(
      "/api/v1/turns", turns.length === 1 ? turns[0] : { turns })
      .catch(() => undefined);
    if (answer?.status === 201 || answer?.status === 200) this.note(ids);
    else if (answer) this.refusals.push(answer);
    return answer;
  }

  /*
   * Write as `user` until the connection breaks or the ledger is over. What
   * was refused is posted again, as an honest client does. `run` tells one
   * life of the server from another.
   */
  async write(api, user, run = 0) {
    for (let n = 0; !this.isOver; n++) {
      const size = this.random() < 0.3 ? 2 + Math.floor(this.random() * 6) : 1;
      const ids = [...Array(size).keys()].map((i) => `${user}/${run}/${n}/${i}`);
      this.attempted.push(ids);
      for (let isKept = false; !isKept && !this.isOver;) {
        const answer = await this.post(api, user, ids);
        if (!answer) return;
        isKept = answer.status < 300;
      }
    }
  }

  async settle(api) {
    const found = await stored(api);
    const seen = new Set(found);
    assert.equal(seen.size, found.length, "no turn is there twice");
    assert.deepEqual(this.acknowledged.filter((id) => !seen.has(id)), [],
      "every acknowledged turn is there");
    for (const ids of this.attempted) {
      const there = ids.filter((id) => seen.has(id)).length;
      assert.ok(there === 0 || there === ids.length, "a batch is whole");
    }
  }
}
