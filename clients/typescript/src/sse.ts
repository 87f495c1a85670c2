/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.ts - server-sent events out of a stream of bytes.
 *
 * As the HTML standard says: lines end with CR, LF or both, comments are
 * passed over, an event that has not ended when the stream does is dropped.
 */

export interface ServerSentEvent {
  /** Its type; `message` if it has none. */
  event: string;
  data: string;
  /** The last id seen; resumes after this event. */
  id: string | undefined;
}

/** One event may have so many characters. */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/** Takes text as it comes, gives events as they end. */
export class SseParser {
  #rest = "";
  #data: string[] = [];
  #size = 0;
  #event = "";
  #isAfterCr = false;
  #isBegun = false;
  /** The last id seen, also of an event without data. */
  lastId: string | undefined;

  push(text: string): ServerSentEvent[] {
    const out: ServerSentEvent[] = [];
    if (!this.#isBegun && text) {
      this.#isBegun = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const char = text[i];
      if (char === "\n" && this.#isAfterCr) {
        this.#isAfterCr = false;
        from = i + 1;
        continue;
      }
      this.#isAfterCr = char === "\r";
      if (char !== "\n" && char !== "\r") continue;
      const event = this.#line(this.#rest + text.slice(from, i));
      if (event) out.push(event);
      this.#rest = "";
      from = i + 1;
    }
    this.#rest += text.slice(from);
    if (this.#rest.length + this.#size > MAX_EVENT_CHARS) throw new Error("an event is too large");
    return out;
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.lastId = value;
    return undefined;
  }

  #end(): ServerSentEvent | undefined {
    const out = this.#data.length === 0 ? undefined
      : { event: this.#event || "message", data: this.#data.join("\n"), id: this.lastId };
    this.#data = [];
    this.#size = 0;
    this.#event = "";
    return out;
  }
}
