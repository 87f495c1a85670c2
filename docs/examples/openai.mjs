/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenAI SDK with a memory: OPENAI_BASE_URL points at clew, the rest is as
 * ever. With x-clew-inject what was said before comes along.
 */
import OpenAI from "openai";

const openai = new OpenAI({ defaultHeaders: { "x-clew-user": "ada", "x-clew-inject": "on" } });
const { choices } = await openai.chat.completions.create({
  model: process.env.OPENAI_MODEL ?? "gpt-5-mini",
  messages: [{ role: "user", content: process.argv[2] }],
});
console.log(choices[0].message.content);
