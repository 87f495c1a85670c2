/* SPDX-License-Identifier: Apache-2.0 */
export { Clew, type AnswerPiece, type CallOptions, type ClewOptions, type Happening, type Input, type Listing } from "./client.js";
export { ClewBatchError, ClewConnectionError, ClewError } from "./errors.js";
export { newId, withId, withIds } from "./ids.js";
export { SseParser, type ServerSentEvent } from "./sse.js";
export type * from "./schema.js";
