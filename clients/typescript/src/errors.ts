/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.ts - what can go wrong, as classes to tell apart.
 */
import type { Captured, NewTurn } from "./schema.js";

/** The server answered with an error. Nothing was done. */
export class ClewError extends Error {
  override name = "ClewError";
  /** The HTTP status. */
  readonly status: number;
  /** The stable code, e.g. `NOT_FOUND`. */
  readonly code: string;
  /** The field that is wrong, if one is. */
  readonly field: string | undefined;
  /** To find it in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, code: string, message: string,
    more: { field?: string | undefined; requestId?: string | undefined; retryAfterMs?: number | undefined } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = more.field;
    this.requestId = more.requestId;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** No answer came: the server is gone, the answer broke off, or took too long. */
export class ClewConnectionError extends Error {
  override name = "ClewConnectionError";
  /** True if the server cannot have seen the request. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent: boolean, cause?: unknown) {
    super(message, { cause });
    this.isUnsent = isUnsent;
  }
}

/**
 * Some batches of `rememberAll` were stored, one was not. `left` has the turns
 * from there on, with the ids they were given: passing them on again stores
 * each once, also those whose answer was lost.
 */
export class ClewBatchError extends Error {
  override name = "ClewBatchError";
  readonly done: Captured[];
  readonly left: NewTurn[];

  constructor(done: Captured[], left: NewTurn[], cause: unknown) {
    super(`${left.length} turns are not known to be stored: ${String((cause as Error)?.message ?? cause)}`, { cause });
    this.done = done;
    this.left = left;
  }
}

/** Seconds or a date, in milliseconds from now. */
function retryAfter(text: string | null): number | undefined {
  if (!text) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The error of an answer with a bad status; its body may be anything. */
export function errorOf(answer: Response, body: string): ClewError {
  const retryAfterMs = retryAfter(answer.headers.get("retry-after"));
  try {
    const { error } = JSON.parse(body) as { error: Record<string, string | undefined> };
    if (typeof error.code === "string") {
      return new ClewError(answer.status, error.code, error.message ?? error.code,
        { field: error.field, requestId: error.request_id, retryAfterMs });
    }
  } catch {
    /* not clew's: something between answered */
  }
  return new ClewError(answer.status, "HTTP_ERROR", `HTTP ${answer.status}: ${body.slice(0, 200)}`, { retryAfterMs });
}
