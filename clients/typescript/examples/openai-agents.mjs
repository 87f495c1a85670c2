/* SPDX-License-Identifier: Apache-2.0 */
/* An agent of the OpenAI Agents SDK whose session clew keeps. The model is
 * scripted: it says how many items it was given. */
import { Agent, Runner, Usage, setTracingDisabled } from "@openai/agents-core";
import { Clew } from "clew-client";
import { ClewAgentSession } from "clew-client/openai-agents";

const scripted = {
  async getResponse({ input }) {
    return { usage: new Usage(), output: [{
      type: "message", role: "assistant", status: "completed",
      content: [{ type: "output_text", text: `I was given ${input.length} items.` }] }] };
  },
};
setTracingDisabled(true);
const clew = new Clew({ url: process.env.CLEW_URL, key: process.env.CLEW_KEY });
const session = new ClewAgentSession({ clew, userId: "ada", sessionId: "harbour" });
const agent = new Agent({ name: "harbour", model: scripted });
const runner = new Runner();

console.log((await runner.run(agent, "The boat is called Adelheid.", { session })).finalOutput);
console.log((await runner.run(agent, "What is the boat called?", { session })).finalOutput);
