/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.ts - ids that the client makes, so that no turn is stored twice.
 */
import type { NewTurn } from "./schema.js";

/* Node 18 and pages without TLS lack parts of `crypto`. */
function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  const source = (globalThis as { crypto?: Crypto }).crypto;
  if (source?.getRandomValues) return source.getRandomValues(bytes);
  return bytes.map(() => Math.floor(Math.random() * 256));
}

/** A new external id: 128 random bits. */
export function newId(): string {
  return `c-${Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The turn with an external id, its own if it has one. */
export function withId<T extends { external_id?: string }>(turn: T): T & { external_id: string } {
  return { ...turn, external_id: turn.external_id ?? newId() };
}

/** The turns with external ids: what to keep if they must survive a crash. */
export const withIds = (turns: readonly NewTurn[]) => turns.map(withId);
