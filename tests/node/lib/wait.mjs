/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.mjs - how long a test is willing to wait.
 *
 * A wait is a bound on what hangs, never a statement about speed: it must hold
 * on a machine many times slower than the one it was written on.
 */
import { setTimeout as pause } from "node:timers/promises";

export const PATIENCE_MS = 600_000;

/* Ask `check` again and again until it says something true, which is returned;
 * `what` says in the error what never came, as words or as a function. */
export async function until(what, check, ms = PATIENCE_MS) {
  /* It happens elsewhere and tells nobody. Who asks ever more seldom leaves the
   * processor to what is waited for. */
  for (let end = Date.now() + ms, nap = 10; ; nap = Math.min(nap * 1.25, 250)) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never: ${typeof what === "function" ? what() : what}`);
    await pause(nap);
  }
}
