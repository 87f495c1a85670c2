/* SPDX-License-Identifier: Apache-2.0 */
/* A LangChain chain with a history and a retriever. The model is scripted. */
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Clew } from "clew-client";
import { ClewChatHistory, ClewRetriever } from "clew-client/langchain";

const clew = new Clew({ url: process.env.CLEW_URL, key: process.env.CLEW_KEY });
const model = new FakeListChatModel({ responses: ["A fine name.", "Adelheid."] });
const chain = new RunnableWithMessageHistory({
  runnable: model,
  getMessageHistory: (sessionId) => new ClewChatHistory({ clew, userId: "ada", sessionId }),
});
const config = { configurable: { sessionId: "boats" } };

await chain.invoke([{ role: "user", content: "The boat is called Adelheid." }], config);
await chain.invoke([{ role: "user", content: "What is the boat called?" }], config);

const history = new ClewChatHistory({ clew, userId: "ada", sessionId: "boats" });
for (const message of await history.getMessages()) console.log(`${message.getType()}: ${message.text}`);
const [found] = await new ClewRetriever({ clew, recall: { user_id: "ada" } }).invoke("name of the boat");
console.log(`found: ${found.pageContent}`);
