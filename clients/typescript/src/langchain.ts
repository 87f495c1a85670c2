/* SPDX-License-Identifier: Apache-2.0 */
/*
 * langchain.ts - LangChain's chat history and retriever over clew.
 *
 * A message goes into a turn as its text, with all else it has beside it, and
 * comes out as it was. Needs @langchain/core.
 */
import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage, SystemMessage, mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages,
  type BaseMessage, type StoredMessage } from "@langchain/core/messages";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";

import type { Clew } from "./client.js";
import type { ContentBlock, RecallBody, RecallItem, Turn } from "./schema.js";
import { ClewSession, type SessionOptions, type SessionTurn } from "./session.js";

const ROLES: Record<string, SessionTurn["role"]> = { human: "user", ai: "assistant", system: "system", tool: "tool" };

function turnOf(message: BaseMessage): SessionTurn {
  const [stored] = mapChatMessagesToStoredMessages([message]);
  const block: ContentBlock = { type: "text", text: message.text, langchain: stored };
  return { role: ROLES[message.getType()] ?? "user", content: [block] };
}

function messageOf(turn: Turn): BaseMessage {
  const [block] = (turn.content ?? []) as { langchain?: StoredMessage }[];
  if (block?.langchain) return mapStoredMessagesToChatMessages([block.langchain])[0]!;
  /* said by others than LangChain */
  if (turn.role === "assistant") return new AIMessage(turn.text);
  if (turn.role === "system") return new SystemMessage(turn.text);
  return new HumanMessage(turn.text);
}

/** A chat history that clew keeps; for RunnableWithMessageHistory. */
export class ClewChatHistory extends BaseListChatMessageHistory {
  lc_namespace = ["clew", "chat_history"];
  readonly #session: ClewSession;

  constructor(options: SessionOptions) {
    super();
    this.#session = new ClewSession(options);
  }

  /** The chat's id in clew; undefined before the first message. */
  chatId(): Promise<string | undefined> {
    return this.#session.chatId();
  }

  override async getMessages(): Promise<BaseMessage[]> {
    return (await this.#session.read()).map(messageOf);
  }

  override addMessage(message: BaseMessage): Promise<void> {
    return this.#session.append([turnOf(message)]);
  }

  override addMessages(messages: BaseMessage[]): Promise<void> {
    return this.#session.append(messages.map(turnOf));
  }

  /** Forgets the chat and all that was made of it. */
  override clear(): Promise<void> {
    return this.#session.clear();
  }
}

export interface ClewRetrieverInput extends BaseRetrieverInput {
  clew: Clew;
  /** What to recall: whose, how much, of which kinds. */
  recall?: Omit<RecallBody, "query">;
}

/** What was said, as documents; the score and where it comes from beside them. */
export class ClewRetriever extends BaseRetriever<Omit<RecallItem, "text">> {
  lc_namespace = ["clew", "retrievers"];
  readonly #clew: Clew;
  readonly #recall: Omit<RecallBody, "query">;

  static override lc_name(): string {
    return "ClewRetriever";
  }

  constructor(input: ClewRetrieverInput) {
    super(input);
    this.#clew = input.clew;
    this.#recall = { limit: 8, ...input.recall };
  }

  override async _getRelevantDocuments(query: string, _manager?: CallbackManagerForRetrieverRun): Promise<Document<Omit<RecallItem, "text">>[]> {
    const { items } = await this.#clew.recall(query, this.#recall);
    return items.map(({ text, ...metadata }) => new Document({ pageContent: text, metadata, id: metadata.id }));
  }
}
