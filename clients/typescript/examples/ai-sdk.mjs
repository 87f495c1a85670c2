/* SPDX-License-Identifier: Apache-2.0 */
/* Any model of the Vercel AI SDK remembers. This one is scripted: it says what
 * it was told; put openai("gpt-5") or another in its place. */
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Clew } from "clew-client";
import { clewMiddleware } from "clew-client/ai-sdk";

const scripted = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => ({
    content: [{ type: "text", text: prompt.filter((message) => message.role === "system")
      .map((message) => message.content).join("\n") || "Noted." }],
    finishReason: { unified: "stop" }, usage: { inputTokens: {}, outputTokens: {} }, warnings: [],
  }),
});
const clew = new Clew({ url: process.env.CLEW_URL, key: process.env.CLEW_KEY });
const model = wrapLanguageModel({ model: scripted, middleware: clewMiddleware({ clew, userId: "ada" }) });

console.log((await generateText({ model, prompt: "The boat is called Adelheid." })).text);
console.log((await generateText({ model, prompt: "What is the boat called?" })).text);
