#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm-tape.mjs - record what a language model answers, and play it back.
 *
 *   tools/llm-tape.mjs record --to URL --tape FILE [--port N]
 *   tools/llm-tape.mjs play --tape FILE [--missing FILE] [--port N]
 *
 * Both listen on loopback and speak /chat/completions (OpenAI, Ollama,
 * llama.cpp) and /v1/messages (Anthropic), plain and streamed: set llm.url to
 * what they print. A tape is JSON lines, one a call:
 *
 *   {"key":"<sha256 of what was asked>","stretch":"…","answer":…,"usage":{…}}
 *
 * `answer` is the text the model wrote, or the object that text was. The key is
 * made of roles and texts alone, so that a tape recorded through one API plays
 * through the other, whatever the model is called. A stretch of a chat that
 * clew has read says which it is ("stretch" in the prompt; `clew read
 * --requests`): an answer without a key plays for it, also where what was known
 * before differs. What is not on the tape is answered 404 and, with --missing,
 * written down as it was asked: a file to be answered by hand.
 */
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import process from "node:process";
import { fileURLToPath } from "node:url";

/* The longest request that is taken: clew sends 4 MB at most. */
const MAX_BODY = 8 << 20;

const textOf = (content) => typeof content === "string" ? content
  : (content ?? []).map((part) => part.text ?? JSON.stringify(part.input ?? "")).join("\n");

/* Roles and texts of a call, the system's first. */
export function talkOf(body) {
  const talk = (body.messages ?? []).map((m) => [m.role, textOf(m.content)]);
  return body.system ? [["system", textOf(body.system)], ...talk] : talk;
}

export const keyOf = (body) => crypto.createHash("sha256")
  .update(JSON.stringify(talkOf(body))).digest("hex");

/* The stretch a reading is about, or undefined. */
export const stretchOf = (body) =>
  /"stretch":"([0-9a-f]{16})"/.exec(talkOf(body).at(-1)?.[1] ?? "")?.[1];

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw new Error("too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/* --- what a provider's reply says, plain or as events --- */

function readPlain(reply) {
  const blocks = reply.content;
  const usage = {
    input_tokens: reply.usage?.input_tokens ?? reply.usage?.prompt_tokens ?? 0,
    output_tokens: reply.usage?.output_tokens ?? reply.usage?.completion_tokens ?? 0,
  };
  if (!Array.isArray(blocks)) {
    return { answer: reply.choices?.[0]?.message?.content ?? "", usage };
  }
  const tool = blocks.find((b) => b.type === "tool_use");
  return { answer: tool ? tool.input : textOf(blocks), usage };
}

function readEvents(text) {
  const usage = { input_tokens: 0, output_tokens: 0 };
  let answer = "";
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
    const event = JSON.parse(line.slice(6));
    answer += event.choices?.[0]?.delta?.content ?? event.delta?.text ?? "";
    for (const told of [event.usage, event.message?.usage]) {
      usage.input_tokens = Math.max(usage.input_tokens,
        told?.input_tokens ?? told?.prompt_tokens ?? 0);
      usage.output_tokens = Math.max(usage.output_tokens,
        told?.output_tokens ?? told?.completion_tokens ?? 0);
    }
  }
  return { answer, usage };
}

/* --- the same, written --- */

const count = (text) => Math.ceil(text.length / 4);

function plainReply(isAnthropic, body, entry) {
  const text = typeof entry.answer === "string" ? entry.answer : JSON.stringify(entry.answer);
  const usage = entry.usage ?? {
    input_tokens: count(JSON.stringify(talkOf(body))), output_tokens: count(text) };
  if (isAnthropic) {
    const content = body.tools && typeof entry.answer === "object"
      ? [{ type: "tool_use", id: "toolu_1", name: "answer", input: entry.answer }]
      : [{ type: "text", text }];
    return { type: "message", role: "assistant", model: body.model, content,
      stop_reason: "end_turn", usage };
  }
  return { object: "chat.completion", model: body.model,
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
    usage: { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens } };
}

function* eventReply(isAnthropic, body, entry) {
  const { usage, ...whole } = plainReply(isAnthropic, body, entry);
  const text = typeof entry.answer === "string" ? entry.answer : JSON.stringify(entry.answer);
  for (const piece of text.match(/[\s\S]{1,24}/gu) ?? []) {
    yield isAnthropic
      ? { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } }
      : { choices: [{ index: 0, delta: { content: piece } }] };
  }
  yield isAnthropic ? { type: "message_stop", usage }
    : { ...whole, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
}

/* --- the two machines --- */

async function listen(serve, port = 0) {
  const server = http.createServer((request, answer) => {
    serve(request, answer).catch((error) => {
      if (!answer.headersSent) answer.writeHead(502, { "content-type": "application/json" });
      answer.end(JSON.stringify({ error: { message: String(error.message) } }));
    });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
  };
}

/* Pass calls on to `to` and write down those that were answered. */
export async function startRecorder({ to, tape, port }) {
  const base = to.replace(/\/+$/, "");
  return listen(async (request, answer) => {
    const bytes = await readBody(request);
    const headers = { ...request.headers, "accept-encoding": "identity" };
    for (const name of ["host", "connection", "content-length", "expect"]) delete headers[name];
    const reply = await fetch(base + request.url, {
      method: request.method, headers, body: bytes.length > 0 ? bytes : undefined });
    const type = reply.headers.get("content-type") ?? "";
    const parts = [];
    const kept = { "content-type": type };
    if (reply.headers.get("retry-after")) kept["retry-after"] = reply.headers.get("retry-after");
    answer.writeHead(reply.status, kept);
    for await (const part of reply.body ?? []) {
      parts.push(Buffer.from(part));
      answer.write(part);
    }
    if (reply.status === 200) {
      const body = JSON.parse(bytes.toString());
      const text = Buffer.concat(parts).toString();
      const entry = { key: keyOf(body), stretch: stretchOf(body), model: body.model,
        ...(/event-stream/.test(type) ? readEvents(text) : readPlain(JSON.parse(text))) };
      fs.appendFileSync(tape, `${JSON.stringify(entry)}\n`);
    }
    answer.end();
  }, port);
}

/* Entries of a tape by what they answer; a key met twice plays in order. */
export function readTape(file) {
  const found = new Map();
  const add = (name, entry) => {
    if (!name) return;
    found.set(name, [...(found.get(name) ?? []), entry]);
  };
  for (const line of fs.readFileSync(file, "utf8").split("\n")) {
    if (line.trim() === "") continue;
    const entry = JSON.parse(line);
    add(entry.key, entry);
    add(entry.stretch, entry);
  }
  return found;
}

/* Answer from a tape. */
export async function startPlayer({ tape, missing, port }) {
  const entries = readTape(tape);
  const next = (name) => {
    const list = entries.get(name);
    return list && (list.length > 1 ? list.shift() : list[0]);
  };
  const player = { played: 0, missed: 0 };
  return Object.assign(player, await listen(async (request, answer) => {
    const body = JSON.parse((await readBody(request)).toString());
    const isAnthropic = /\/v1\/messages$/.test(new URL(request.url, "http://x").pathname);
    const entry = next(keyOf(body)) ?? next(stretchOf(body));
    if (!entry) {
      player.missed++;
      if (missing) {
        fs.appendFileSync(missing, `${JSON.stringify({
          key: keyOf(body), stretch: stretchOf(body), talk: talkOf(body) })}\n`);
      }
      answer.writeHead(404, { "content-type": "application/json" });
      return answer.end(JSON.stringify({ error: { message: "not on the tape" } }));
    }
    player.played++;
    if (!body.stream) {
      answer.writeHead(200, { "content-type": "application/json" });
      return answer.end(JSON.stringify(plainReply(isAnthropic, body, entry)));
    }
    answer.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventReply(isAnthropic, body, entry)) {
      answer.write(`data: ${JSON.stringify(event)}\n\n`);
    }
    return answer.end(isAnthropic ? "" : "data: [DONE]\n\n");
  }, port));
}

/* --- the command line --- */

const usage = "usage: llm-tape.mjs record --to URL --tape FILE [--port N]\n" +
  "       llm-tape.mjs play --tape FILE [--missing FILE] [--port N]\n";

async function main([mode, ...words]) {
  const options = {};
  for (let i = 0; i < words.length; i += 2) {
    if (!/^--(to|tape|missing|port)$/.test(words[i]) || words[i + 1] === undefined) mode = "";
    else options[words[i].slice(2)] = words[i + 1];
  }
  const start = { record: startRecorder, play: startPlayer }[mode];
  if (!start || !options.tape || (mode === "record" && !options.to)) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const machine = await start({ ...options, port: Number(options.port ?? 0) });
  process.stdout.write(`listening on ${machine.url}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
