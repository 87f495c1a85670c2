/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.mjs - what clients did to one key, when, and what they were told; and
 * whether that can be.
 *
 * A key holds nothing or one id. An operation is begun and ended at a time; one
 * whose end nobody saw may have happened at any time since, or not at all.
 * explain() looks for an order in which each operation happens at one moment
 * between its begin and its end and gives the answer that was given (it is
 * linearizable), by trying: it remembers where it has been.
 *
 *   put     stores under the key: {id, isNew}; the same id again if it is there
 *   get     {id}, or {id: null}
 *   forget  {isGone: true}, or false if there was nothing
 */

/* An id that nobody has seen yet. */
const UNSEEN = "?";

/* Is the id the one that is there? */
const isIt = (state, id) => state === id || (state === UNSEEN && id !== null);

/*
 * The state after an operation whose answer is known; undefined if it cannot
 * have been answered so.
 */
function after(state, { kind, answer }) {
  if (kind === "put") {
    if (answer.isNew) return state === null ? answer.id : undefined;
    return state !== null && isIt(state, answer.id) ? answer.id : undefined;
  }
  if (kind === "get") {
    if (answer.id === null) return state === null ? null : undefined;
    return state !== null && isIt(state, answer.id) ? answer.id : undefined;
  }
  if (answer.isGone) return state !== null ? null : undefined;
  return state === null ? null : undefined;
}

/* The same for one whose answer was lost. */
function afterLost(state, { kind }) {
  if (kind === "put") return state ?? UNSEEN;
  return kind === "forget" ? null : state;
}

/*
 * True if there is such an order. `operations`: {kind, begin, end, answer}, with
 * end === Infinity and no answer where it was lost; at most 30 of them.
 */
export function explain(operations) {
  const all = [...operations].sort((a, b) => a.begin - b.begin);
  if (all.length > 30) throw new Error("too many operations on one key");
  const known = all.reduce((bits, { answer }, i) => bits | (answer ? 1 << i : 0), 0);
  const seen = new Set();
  const walk = (done, state) => {
    if ((done & known) === known) return true;
    const key = `${done} ${state}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const waiting = all.filter((_, i) => !(done & (1 << i)));
    const firstEnd = Math.min(...waiting.map(({ end }) => end));
    return all.some((operation, i) => {
      /* nothing begins after another has ended and happens before it */
      if (done & (1 << i) || operation.begin > firstEnd) return false;
      const next = operation.answer ? after(state, operation)
        : afterLost(state, operation);
      return next !== undefined && walk(done | (1 << i), next);
    });
  };
  return walk(0, null);
}

/* Operations by key. */
export class Histories {
  keys = new Map();

  /*
   * Do something to a key: `act` answers as above, undefined if nobody knows
   * whether it happened, null if it surely did not.
   */
  async note(key, kind, act) {
    const operation = { kind, begin: performance.now(), end: Infinity };
    const list = this.keys.get(key) ?? [];
    this.keys.set(key, list);
    list.push(operation);
    const answer = await act();
    if (answer === null) {
      list.splice(list.indexOf(operation), 1);
    } else if (answer) {
      operation.end = performance.now();
      operation.answer = answer;
    }
    return answer;
  }

  /* Was any of this kind under way since then, or may it have been? */
  has(key, kind, since) {
    return (this.keys.get(key) ?? []).some((operation) => operation.kind === kind
      && operation.end >= since);
  }

  get count() {
    return [...this.keys.values()].reduce((sum, list) => sum + list.length, 0);
  }

  /* The keys whose history cannot be, with it. */
  wrong() {
    return [...this.keys].filter(([, list]) => !explain(list));
  }
}
