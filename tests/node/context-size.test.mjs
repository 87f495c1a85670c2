/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context-size.test.mjs - a context never costs more than its budget, counted
 * by the tokenizers themselves, and the estimate is near on prose and code.
 *
 * CONTEXT_SIZES texts are tried (200; `make soak` tries 10,000).
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";

import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";

import { isOk } from "./lib/check.mjs";
import { hostile, random } from "./lib/hostile.mjs";
import { startServer } from "./lib/server.mjs";

process.env.CLEW_TEST_READS = "no";

const N = Number(process.env.CONTEXT_SIZES ?? 200);
const SEED = Number(process.env.CONTEXT_SEED ?? 6);
const TURNS_PER_CHAT = 40;
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");

const plain = { disallowedSpecial: new Set() }; /* a text is only a text */
const count = (text) => Math.max(cl100k(text, plain).length,
  o200k(text, plain).length);
/* What a chat format adds to each message, and once. */
const PER_MESSAGE = 4;
const PER_CHAT = 3;

function cost(context) {
  if (context.text !== undefined) return count(context.text);
  const system = (context.system ?? []).map((part) => part.text);
  const messages = context.messages.map((one) =>
    (typeof one.content === "string" ? one.content
      : one.content.map((part) => part.text).join("")));
  return [...system, ...messages].reduce((sum, text) =>
    sum + count(text) + PER_MESSAGE, PER_CHAT);
}

describe("the size of a context", () => {
  let server;
  let api;
  before(async () => {
    server = await startServer();
    api = server.api();
  });
  after(() => server.stop());

  test(`stays within its budget after ${N} hostile texts`, { timeout: 1e7 },
    async () => {
      const text = hostile(SEED);
      const next = random(SEED + 1);
      const budgets = [100, 128, 200, 500, 1000, 2000, 4000, 8000];
      const formats = ["text", "openai", "anthropic"];
      let chat;
      let fullest = 0;
      for (let i = 0; i < N; i++) {
        const isNew = i % TURNS_PER_CHAT === 0;
        const said = isOk(await api.post("/api/v1/turns", {
          user_id: `u${Math.floor(i / (4 * TURNS_PER_CHAT))}`,
          role: i % 2 ? "assistant" : "user", content: text(),
          ...(isNew ? { channel: `c${i}` } : { chat_id: chat }),
        }), 201);
        chat = said.turn.chat_id;
        const budget_tokens = budgets[Math.floor(next() * budgets.length)];
        const format = formats[i % 3];
        const context = isOk(await api.post(`/api/v1/chats/${chat}/context`, {
          budget_tokens, format, ...(next() < 0.5 && { message: text() }),
        }));
        const real = cost(context);
        assert.ok(real <= budget_tokens,
          `text ${i}: ${real} tokens, budget ${budget_tokens}, ${format}`);
        fullest = Math.max(fullest, real / budget_tokens);
      }
      /* the bound is no excuse for an empty context */
      assert.ok(fullest > 0.5, String(fullest));
    });

  test("holds with one message of ten megabytes", async () => {
    const said = isOk(await api.post("/api/v1/turns", {
      user_id: "big", role: "user", channel: "big",
      content: "what a long story, ".repeat(550_000),
    }), 201);
    const context = isOk(await api.post(
      `/api/v1/chats/${said.turn.chat_id}/context`, { budget_tokens: 500 }));
    assert.ok(count(context.text) <= 500);
    assert.match(context.text, /what a long story/);
  });

  /* Files of the repository stand for prose and code. */
  const files = (folder, ending) => fs.readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(ending)).sort()
    .map((name) => path.join(root, folder, name));

  for (const [kind, list] of Object.entries({
    prose: [...files(".", ".md"), ...files("docs", ".md"),
      ...files("docs/decisions", ".md")],
    code: [...files("src/engine", ".c"), ...files("tests/node", ".mjs")],
  })) {
    test(`is estimated within 5 % on ${kind}`, async () => {
      let estimate = 0;
      let real = 0;
      for (const file of list) {
        const content = fs.readFileSync(file, "utf8");
        const said = isOk(await api.post("/api/v1/turns",
          { user_id: "sizes", role: "user", channel: kind, content }), 201);
        estimate += said.turn.token_count;
        real += (cl100k(content, plain).length + o200k(content, plain).length) / 2;
      }
      assert.ok(Math.abs(estimate / real - 1) < 0.05,
        `${estimate} estimated, ${real} real`);
    });
  }
});
