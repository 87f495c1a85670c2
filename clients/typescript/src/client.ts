/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.ts - clew from TypeScript: every operation by its name, and the few
 * that need more than one request.
 */
import { ClewBatchError, ClewConnectionError, ClewError, errorOf } from "./errors.js";
import { Http, linked, sleep, type HttpOptions } from "./http.js";
import { withId } from "./ids.js";
import { operations, type Answer, type AnswerSentence, type AnswerSource, type AskBody, type Captured, type CapturedBatch, type Chat, type Context, type Event,
  type GetContextBody, type Memory, type NewTurn, type Operations, type RecallBody, type Recalled,
  type Turn } from "./schema.js";
import { SseParser, type ServerSentEvent } from "./sse.js";

export interface ClewOptions extends Partial<HttpOptions> {
  /** A stream that is silent for so long has broken; 45 s if not given. */
  idleMs?: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Send it again also if the server may have seen it: twice does no harm. */
  isSafe?: boolean;
}

type Id = keyof Operations;
type Defined<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };
type Needed<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { [K in keyof T as undefined extends T[K] ? K : never]?: T[K] };
/** What an operation takes: `params`, `query` and `body`, where it has them. */
export type Input<K extends Id> = Needed<Defined<Omit<Operations[K], "answer">>>;
type Loose = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown };
/** The operations that answer pages. */
export type Listing = { [K in Id]: Operations[K]["answer"] extends { items: unknown[]; next_cursor: string | null }
  ? Operations[K]["query"] extends { cursor?: string } ? K : never : never }[Id];
type Item<K extends Listing> = Operations[K]["answer"] extends { items: (infer T)[] } ? T : never;

/** A piece of an answer as it comes: what was found, each sentence, the whole. */
export type AnswerPiece = { event: "sources"; data: { sources: AnswerSource[] } }
  | { event: "sentence"; data: AnswerSentence } | { event: "answer"; data: Answer };

/** A happening: the event's type, and what it is about. */
export interface Happening extends Event {
  event: string;
  /** To resume after it: `events({ after })`. */
  mark: string | undefined;
}

const PAGE = 500;
const MAX_BATCH_TURNS = 500;
const MAX_BATCH_CHARS = 4 * 1024 * 1024;

function target(path: string, { params = {}, query = {} }: Loose): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (!value) throw new TypeError(`"${name}" is missing`);
    return encodeURIComponent(value);
  });
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`;
}

export class Clew {
  readonly #http: Http;
  readonly #idleMs: number;

  /** Where the server is (its address alone will do), and how to speak with it. */
  constructor(where: string | URL | ClewOptions = {}) {
    const options: ClewOptions = typeof where === "string" || where instanceof URL ? { url: String(where) } : where;
    this.#http = new Http({ ...options, url: options.url ?? "http://127.0.0.1:2539" });
    this.#idleMs = options.idleMs ?? 45_000;
  }

  /** Any operation of the API by its operationId. */
  async call<K extends Id>(id: K, input: Input<K>, options: CallOptions = {}): Promise<Operations[K]["answer"]> {
    const [method, path, isSafe] = operations[id];
    const { body } = input as Loose;
    const text = await this.#http.text({ method, target: target(path, input as Loose), isSafe: options.isSafe ?? isSafe,
      body: method === "GET" || method === "DELETE" ? undefined : body ?? {}, signal: options.signal });
    try {
      return JSON.parse(text) as Operations[K]["answer"];
    } catch (error) {
      if (id === "getMetrics" || id === "exportAll") return text as Operations[K]["answer"];
      throw new ClewConnectionError("the answer is not JSON", false, error);
    }
  }

  /** Store a turn. It gets an `external_id` if it has none, and is stored once. */
  async remember(turn: NewTurn, options: CallOptions = {}): Promise<Captured> {
    return await this.call("createTurns", { body: withId(turn) }, options) as Captured;
  }

  /**
   * Store many turns, in order, in batches that are all or nothing each. Throws
   * ClewBatchError with what is left if one fails.
   */
  async rememberAll(turns: readonly NewTurn[], options: CallOptions = {}): Promise<Captured[]> {
    const ready = turns.map(withId);
    const done: Captured[] = [];
    while (done.length < ready.length) {
      const batch = ready.slice(done.length, done.length + batchLength(ready, done.length));
      try {
        const { items } = await this.call("createTurns", { body: { turns: batch } }, options) as CapturedBatch;
        done.push(...items);
      } catch (error) {
        throw new ClewBatchError(done, ready.slice(done.length), error);
      }
    }
    return done;
  }

  /** Find what was said. */
  recall(query: string, more: Omit<RecallBody, "query"> = {}, options: CallOptions = {}): Promise<Recalled> {
    return this.call("recall", { body: { ...more, query } }, options);
  }

  /** Answer a question in sentences that cite what was said. */
  ask(query: string, more: Omit<AskBody, "query" | "stream"> = {}, options: CallOptions = {}): Promise<Answer> {
    return this.call("ask", { body: { ...more, query } }, options) as Promise<Answer>;
  }

  /**
   * The same as it comes. The last piece is the whole answer, which counts: what
   * a model said before it failed came too. One that breaks off throws
   * ClewConnectionError.
   */
  async *askStream(query: string, more: Omit<AskBody, "query" | "stream"> = {}, options: CallOptions = {}): AsyncGenerator<AnswerPiece, void, void> {
    for await (const { event, data } of this.#stream("POST", "/api/v1/ask", { ...options, body: { ...more, query, stream: true } })) {
      yield { event, data: JSON.parse(data) as unknown } as AnswerPiece;
      if (event === "answer") return;
    }
    throw new ClewConnectionError("the answer broke off", false);
  }

  /** What the next turn of a chat needs to know. */
  context(chatId: string, body: GetContextBody = {}, options: CallOptions = {}): Promise<Context> {
    return this.call("getContext", { params: { id: chatId }, body }, options);
  }

  /** All items of a list, page after page, as they are asked for. */
  async *each<K extends Listing>(id: K, input: Input<K>, options: CallOptions = {}): AsyncGenerator<Item<K>, void, void> {
    const loose = input as Loose;
    let cursor = loose.query?.cursor as string | undefined;
    for (;;) {
      const page = await this.call(id, { ...loose, query: { limit: PAGE, ...loose.query, cursor } } as unknown as Input<K>, options) as
        { items: Item<K>[]; next_cursor: string | null };
      yield* page.items;
      if (!page.next_cursor) return;
      if (page.next_cursor === cursor) throw new ClewConnectionError("the list does not go on", false);
      cursor = page.next_cursor;
    }
  }

  chats(query: NonNullable<Operations["listChats"]["query"]> = {}, options?: CallOptions): AsyncGenerator<Chat, void, void> {
    return this.each("listChats", { query }, options);
  }

  /** A chat's turns, oldest first, through its forks. */
  turns(chatId: string, query: NonNullable<Operations["listTurns"]["query"]> = {}, options?: CallOptions): AsyncGenerator<Turn, void, void> {
    return this.each("listTurns", { params: { id: chatId }, query }, options);
  }

  memories(query: NonNullable<Operations["listMemories"]["query"]> = {}, options?: CallOptions): AsyncGenerator<Memory, void, void> {
    return this.each("listMemories", { query }, options);
  }

  /**
   * What happens, until the signal aborts or the loop is left. A stream that
   * breaks is taken up after the last event; none is lost or comes twice.
   * Throws once `retries` tries in a row failed.
   */
  async *events(options: CallOptions & { after?: string | undefined } = {}): AsyncGenerator<Happening, void, void> {
    let mark = options.after;
    for (let n = 0; ;) {
      const parser = new SseParser();
      let failure: unknown = new ClewConnectionError("the stream ended", true);
      try {
        const headers: Record<string, string> = mark ? { "last-event-id": mark } : {};
        for await (const { event, data, id } of this.#stream("GET", "/api/v1/events", { headers, parser, signal: options.signal })) {
          mark = id;
          n = 0;
          yield { ...JSON.parse(data) as Event, event, mark };
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        failure = error;
      }
      if (parser.lastId !== undefined) {
        n = mark === parser.lastId ? n : 0;
        mark = parser.lastId;
      }
      const pause = this.#http.again(failure, n++, true);
      if (pause === undefined) throw failure;
      await sleep(pause, options.signal);
    }
  }

  /**
   * An answer that streams, event by event: a call through the proxy
   * (`/v1/chat/completions`, `/v1/messages`) with `stream: true`. It is not made
   * again; one that breaks off throws ClewConnectionError.
   */
  stream(path: string, body: unknown, options: CallOptions & { headers?: Record<string, string> } = {}): AsyncGenerator<ServerSentEvent, void, void> {
    return this.#stream("POST", path, { ...options, body });
  }

  async *#stream(method: string, path: string, more: CallOptions & {
    body?: unknown; headers?: Record<string, string>; parser?: SseParser;
  }): AsyncGenerator<ServerSentEvent, void, void> {
    const { controller, release } = linked(more.signal);
    const { signal } = controller;
    const parser = more.parser ?? new SseParser();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(
        new ClewConnectionError(`silent for ${this.#idleMs} ms`, false)), this.#idleMs);
    };
    try {
      watch();
      const answer = await this.#http.open({ method, target: path, body: more.body, isSafe: false,
        headers: { ...more.headers, accept: "text/event-stream" } }, signal);
      if (!answer.ok) throw errorOf(answer, await answer.text());
      const reader = answer.body!.getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        watch();
        yield* parser.push(decoder.decode(value, { stream: true }));
        signal.throwIfAborted();
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ClewError || error instanceof ClewConnectionError) throw error;
      throw new ClewConnectionError(`the stream broke off: ${(error as Error).message}`, false, error);
    } finally {
      clearTimeout(timer);
      release();
      controller.abort(); /* whoever left the loop wants no more */
    }
  }
}

/* How many turns from `from` on go into one batch. */
function batchLength(turns: readonly NewTurn[], from: number): number {
  let size = 0;
  let count = 0;
  while (from + count < turns.length && count < MAX_BATCH_TURNS) {
    size += JSON.stringify(turns[from + count]).length;
    if (count > 0 && size > MAX_BATCH_CHARS) break;
    count++;
  }
  return count;
}
