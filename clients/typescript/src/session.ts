/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.ts - a framework's session is a chat of clew.
 *
 * The chat is found by the external id of its first turn, which is made from
 * the session's id: nothing has to be kept elsewhere, and two programs that
 * open the same session at once end up in the same chat.
 */
import type { Clew } from "./client.js";
import { ClewError } from "./errors.js";
import type { NewTurn, Turn } from "./schema.js";

export interface SessionOptions {
  clew: Clew;
  /** Whose chat it is. */
  userId: string;
  /** The framework's name for the session. */
  sessionId: string;
}

export type SessionTurn = Pick<NewTurn, "role" | "content" | "name">;

const STRETCH = 100;

export class ClewSession {
  readonly clew: Clew;
  readonly userId: string;
  readonly sessionId: string;
  #chatId: string | undefined;

  constructor(options: SessionOptions) {
    this.clew = options.clew;
    this.userId = options.userId;
    this.sessionId = options.sessionId;
  }

  get #opener(): string {
    return `session:${this.userId}:${this.sessionId}`;
  }

  /** The chat's id; undefined before the first turn. */
  async chatId(): Promise<string | undefined> {
    if (!this.#chatId) {
      const found = await this.clew.call("findTurns", { query: { external_id: this.#opener } });
      this.#chatId = found.items[0]?.chat_id;
    }
    return this.#chatId;
  }

  async append(turns: readonly SessionTurn[]): Promise<void> {
    const [first, ...rest] = turns;
    if (!first) return;
    const known = await this.chatId();
    if (!known && !await this.#open(first)) return this.append(turns);
    const chat_id = (known ?? this.#chatId)!;
    const left = known ? turns : rest;
    await this.clew.rememberAll(left.map((turn) => ({ ...turn, user_id: this.userId, chat_id })));
  }

  /* False if another was faster: the chat is known then. */
  async #open(first: SessionTurn): Promise<boolean> {
    /* a second empty chat would harm nobody */
    const chat = await this.clew.call("createChat", { body: { user_id: this.userId } }, { isSafe: true });
    try {
      const { turn } = await this.clew.remember({ ...first, user_id: this.userId, chat_id: chat.id,
        external_id: this.#opener });
      this.#chatId = turn.chat_id;
      return true;
    } catch (error) {
      if (error instanceof ClewError && error.status === 409) return false;
      throw error;
    }
  }

  /** The last `limit` turns, or all, oldest first. */
  async read(limit?: number): Promise<Turn[]> {
    const id = await this.chatId();
    const all: Turn[] = [];
    if (!id) return all;
    if (limit === undefined) {
      for await (const turn of this.clew.turns(id)) all.push(turn);
      return all;
    }
    /* back from the end, stretch by stretch: some may be forgotten */
    let before_seq = (await this.clew.call("getChat", { params: { id } })).last_seq + 1;
    while (all.length < limit && before_seq > 1) {
      const page = await this.clew.call("listTurns", { params: { id }, query: { before_seq, limit: STRETCH } });
      all.unshift(...page.items);
      before_seq -= STRETCH;
    }
    return all.slice(Math.max(0, all.length - limit));
  }

  /** Forget the last turn, and say what it was. */
  async pop(): Promise<Turn | undefined> {
    const [last] = await this.read(1);
    if (!last) return undefined;
    await this.clew.call("forget", { body: { turn_ids: [last.id] } });
    if (last.external_id === this.#opener) this.#chatId = undefined;
    return last;
  }

  /** Forget the chat and all that was made of it. */
  async clear(): Promise<void> {
    const chat_id = await this.chatId();
    if (chat_id) await this.clew.call("forget", { body: { chat_id } });
    this.#chatId = undefined;
  }
}
