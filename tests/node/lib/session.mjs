/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.mjs - the calls of a coding assistant's session: two sub-agents, a
 * branch, and a compaction after which it goes on. For POST /api/v1/link.
 */
const system = "You are Claude Code, Anthropic's official CLI for Claude.\nYou are an interactive CLI tool.";
const text = (words) => [{ type: "text", text: words }];
const task = (id, prompt) => ({ type: "tool_use", id, name: "Task", input: { description: "look", prompt } });

/* All calls in order; `say(body)` sends one and resolves with its answer. */
export async function session(say, user = "ada", start = Date.UTC(2026, 2, 12, 13, 36)) {
  let minute = 0;
  const calls = [];
  const line = [];
  async function call(messages, reply, more = {}) {
    minute += 3;
    const answer = await say({
      user_id: user, system, model: "claude-sonnet", messages,
      created_at: new Date(start + minute * 60_000).toISOString(),
      response: { id: `msg_${minute}`, type: "message", role: "assistant", model: more.model ?? "claude-sonnet", content: reply,
        stop_reason: "end_turn", usage: { input_tokens: 1200 * messages.length, output_tokens: 300 } },
      ...more,
    });
    calls.push(answer);
    return answer;
  }
  /* one exchange of the main line */
  async function turn(words, reply) {
    line.push({ role: "user", content: words });
    const answer = await call([...line], reply);
    line.push({ role: "assistant", content: reply });
    return answer;
  }
  const first = "Read the gateway log around 12:31 and report every 401 with its request id";
  const second = "Find every caller of verify_token() in the repository and list the files";
  await turn("Why do we get 401 after an hour?", [...text("I will have the log read."), task("toolu_1", first)]);
  await call([{ role: "user", content: first }], text("Around 12:31 the gateway log shows 14 refusals."), { system: "You are a sub-agent.", model: "claude-haiku" });
  await turn([{ type: "tool_result", tool_use_id: "toolu_1", content: "14 refusals" }], text("The token is cached past its expiry."));
  /* a try that is set aside: the same beginning, another question */
  const kept = [...line];
  await turn("Rename the header to x-auth", text("Renamed."));
  line.length = 0;
  line.push(...kept);
  await turn("No, keep the old header name", text("The header stays."));
  await turn("Refresh the token before it expires", [...text("I look for its callers."), task("toolu_2", second)]);
  await call([{ role: "user", content: second }], text("verify_token() is called from four places."), { system: "You are a sub-agent.", model: "claude-haiku" });
  await turn([{ type: "tool_result", tool_use_id: "toolu_2", content: "four places" }], text("Renewed a minute early in all four."));
  const summary = "The user asked why the service answers 401 after an hour. The token was cached past its expiry; it is renewed a minute early in four places now, and the header keeps its old name. What is left is a regression test for the expired token.";
  await call([...line, { role: "user", content: "Your task is to create a detailed summary of the conversation so far." }], text(summary),
    { system: "You are Claude Code, Anthropic's official CLI for Claude.\nYou are a helpful AI assistant tasked with summarizing conversations." });
  line.length = 0;
  await turn(`This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n${summary}\nPlease continue the conversation from where we left it off.`, text("I go on with the tests."));
  await turn("Add a regression test for the expired token", text("Added test_expired_token."));
  return calls;
}
