/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openai-agents.ts - a session of the OpenAI Agents SDK that clew keeps.
 *
 *   await run(agent, "…", { session: new ClewAgentSession({ clew, userId, sessionId }) });
 *
 * An item goes into a turn as its text, with the item itself beside it, and
 * comes out as it was. Needs nothing of the SDK to be loaded.
 */
import type { ContentBlock, Turn } from "./schema.js";
import { ClewSession, type SessionOptions, type SessionTurn } from "./session.js";

/* What is looked at of the SDK's AgentInputItem. */
interface AnyItem {
  type?: string;
  role?: string;
  name?: string;
  content?: unknown;
  output?: unknown;
  arguments?: string;
}

const ROLES: Record<string, SessionTurn["role"]> = { user: "user", assistant: "assistant", system: "system" };

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("\n");
  return typeof (value as { text?: unknown })?.text === "string" ? (value as { text: string }).text : "";
}

function turnOf(item: AnyItem): SessionTurn {
  if (item.type === "function_call_result") {
    return { role: "tool", content: [{ type: "text", text: textOf(item.output), openai_agents: item }] };
  }
  const isMessage = item.role !== undefined && ROLES[item.role] !== undefined;
  const text = isMessage ? textOf(item.content)
    : item.type === "function_call" ? `[${item.name ?? "tool"} ${item.arguments ?? ""}]` : "";
  const block: ContentBlock = { type: "text", text, openai_agents: item };
  return { role: isMessage ? ROLES[item.role!]! : "assistant", content: [block] };
}

function itemOf(turn: Turn): AnyItem {
  const [block] = (turn.content ?? []) as { openai_agents?: AnyItem }[];
  if (block?.openai_agents) return block.openai_agents;
  /* said by others than the SDK */
  if (turn.role !== "assistant") {
    return { type: "message", role: turn.role === "system" ? "system" : "user", content: turn.text };
  }
  return { type: "message", role: "assistant", content: [{ type: "output_text", text: turn.text }],
    status: "completed" } as AnyItem;
}

/** The SDK's Session; `Item` is its AgentInputItem. */
export class ClewAgentSession<Item = any> {
  readonly #session: ClewSession;

  constructor(options: SessionOptions) {
    this.#session = new ClewSession(options);
  }

  async getSessionId(): Promise<string> {
    return this.#session.sessionId;
  }

  /** The chat's id in clew; undefined before the first item. */
  chatId(): Promise<string | undefined> {
    return this.#session.chatId();
  }

  /** The last `limit` items, or all, oldest first. */
  async getItems(limit?: number): Promise<Item[]> {
    return (await this.#session.read(limit)).map(itemOf) as Item[];
  }

  addItems(items: Item[]): Promise<void> {
    return this.#session.append((items as AnyItem[]).map(turnOf));
  }

  /** Forgets the last item, and returns it. */
  async popItem(): Promise<Item | undefined> {
    const turn = await this.#session.pop();
    return turn && itemOf(turn) as Item;
  }

  /** Forgets all items and what was made of them. */
  clearSession(): Promise<void> {
    return this.#session.clear();
  }
}
