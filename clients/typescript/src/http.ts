/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.ts - one request with its time limit, and when to make it again.
 *
 * 429 and 503 mean that nothing was done: those are tried again, after
 * Retry-After or a growing pause. A connection that failed is tried again if
 * the server cannot have seen the request, or if seeing it twice is harmless.
 */
import { ClewConnectionError, ClewError, errorOf } from "./errors.js";

export interface HttpOptions {
  /** Where the server is. */
  url: string;
  /** A clew key, if the server asks for one. */
  key?: string | undefined;
  /** How often to try again; 4 if not given. */
  retries?: number;
  /** How long one try may take; 30 s if not given. */
  timeoutMs?: number;
  /** The longest pause before a try; longer Retry-Afters are errors. 30 s. */
  maxPauseMs?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

export interface HttpRequest {
  method: string;
  /** Path and query. */
  target: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** It may be sent again though it may have been seen. */
  isSafe: boolean;
  signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 150;
/* Connections that were never made. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT"]);

/** Resolves after the pause, rejects with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function connectionError(error: unknown): ClewConnectionError {
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } })?.cause;
  const codes = [cause?.code, ...(cause?.errors ?? []).map((one) => one.code)];
  const code = codes.find((one) => one !== undefined);
  return new ClewConnectionError(`no answer: ${code ?? (error as Error)?.message ?? String(error)}`,
    codes.some((one) => one !== undefined && UNSENT.has(one)), error);
}

/** A controller that the caller's signal aborts, too. `release` lets go of it. */
export function linked(signal?: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal?.removeEventListener("abort", stop) };
}

export class Http {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof fetch;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly #maxPauseMs: number;

  constructor(options: HttpOptions) {
    this.#base = options.url.replace(/\/+$/, "");
    this.#key = options.key;
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
    this.retries = options.retries ?? 4;
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxPauseMs = options.maxPauseMs ?? 30_000;
  }

  /** The pause before try number `n` (from 0); half of it is chance. */
  pauseMs(n: number): number {
    const most = Math.min(FIRST_PAUSE_MS * 2 ** n, this.#maxPauseMs);
    return most / 2 + Math.random() * (most / 2);
  }

  /** One try: the answer with its headers, whatever its status. */
  async open(request: HttpRequest, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json", ...request.headers };
    if (this.#key) headers["x-api-key"] = this.#key;
    const init: RequestInit = { method: request.method, headers, signal };
    if (request.body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(request.body);
    }
    try {
      return await this.#fetch(this.#base + request.target, init);
    } catch (error) {
      throw signal.aborted ? signal.reason : connectionError(error);
    }
  }

  /** One try, to its end. */
  async #once(request: HttpRequest): Promise<{ answer: Response; text: string }> {
    const { controller, release } = linked(request.signal);
    const timer = setTimeout(() => controller.abort(
      new ClewConnectionError(`no answer within ${this.timeoutMs} ms`, false)), this.timeoutMs);
    try {
      const answer = await this.open(request, controller.signal);
      try {
        return { answer, text: await answer.text() };
      } catch (error) {
        throw controller.signal.aborted ? controller.signal.reason : connectionError(error);
      }
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  /** How long to wait before trying again after `error`; undefined: do not. */
  again(error: unknown, n: number, isSafe: boolean): number | undefined {
    if (n >= this.retries) return undefined;
    if (error instanceof ClewConnectionError) {
      return isSafe || error.isUnsent ? this.pauseMs(n) : undefined;
    }
    if (!(error instanceof ClewError)) return undefined;
    const mayRepeat = error.status === 429 || error.status === 503
      || (isSafe && (error.status === 502 || error.status === 504));
    if (!mayRepeat || (error.retryAfterMs ?? 0) > this.#maxPauseMs) return undefined;
    /* not all who wait at the same moment */
    return (error.retryAfterMs ?? 0) + this.pauseMs(n);
  }

  /** The text of a good answer; throws ClewError or ClewConnectionError. */
  async text(request: HttpRequest): Promise<string> {
    for (let n = 0; ; n++) {
      let failure: unknown;
      try {
        const { answer, text } = await this.#once(request);
        if (answer.ok) return text;
        failure = errorOf(answer, text);
      } catch (error) {
        failure = error;
      }
      const pause = this.again(failure, n, request.isSafe);
      if (pause === undefined) throw failure;
      await sleep(pause, request.signal);
    }
  }
}
