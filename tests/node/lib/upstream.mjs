/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upstream.mjs - an LLM provider whose every answer is scripted.
 *
 * Speaks the wire formats of POST /v1/messages, /v1/chat/completions and
 * /v1/responses, plain and streamed. The last user message says what to do:
 * "tool" calls a tool, "error 429" answers so, "slow" streams for long, "held"
 * streams a beginning, and the rest once the promise `upstream.held` says so,
 * "break" ends in mid-stream; anything else is answered "echo: <it>". A test
 * may say what to answer itself: startUpstream({ script: (text, body) => blocks
 * or undefined }). With { tls: { key, cert } } it speaks TLS and HTTP/2 (and 1.1
 * to who does not; { tls: { …, isOld: true } } speaks nothing newer). It remembers each request as it came: method, url, headers,
 * body.
 */
import crypto from "node:crypto";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import zlib from "node:zlib";

const usage = { input_tokens: 11, output_tokens: 7 };

function lastText(body) {
  const list = Array.isArray(body.input) ? body.input : body.messages;
  if (!list) return String(body.input ?? "");
  const last = list.filter((m) => m.role !== "system" && (m.content || m.output)).at(-1);
  if (!last) return "";
  if (last.type === "function_call_output") return `result ${last.output}`;
  if (typeof last.content === "string") return last.content;
  const texts = last.content.filter((b) => b.text !== undefined);
  if (texts.length === 0) return "result";
  return texts.map((b) => b.text).join("\n");
}

/* What to say: blocks in the one shape that each format writes its own way. */
function script(text) {
  if (text === "tool") {
    return [
      { text: "Let me look." },
      { name: "lookup", id: "call_1", input: { city: "Zürich", n: [1, 2.5] } },
    ];
  }
  return [{ text: `echo: ${text}` }];
}

/* The same question is answered with the same bytes, another has another id:
 * clients take blocks with one id for one message. */
const idOf = (kind, body) =>
  kind + crypto.createHash("sha256").update(JSON.stringify(body.messages)).digest("hex").slice(0, 24);

const pieces = (text) => text.match(/[\s\S]{1,5}/gu) ?? [];

function anthropic(body, blocks) {
  return {
    id: idOf("msg_", body), type: "message", role: "assistant", model: body.model,
    content: blocks.map((b) => b.name
      ? { type: "tool_use", id: b.id, name: b.name, input: b.input }
      : { type: "text", text: b.text }),
    stop_reason: blocks.some((b) => b.name) ? "tool_use" : "end_turn",
    stop_sequence: null, usage,
  };
}

function* anthropicEvents(body, blocks) {
  const whole = anthropic(body, blocks);
  const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  yield event("message_start", {
    message: { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } });
  for (const [index, block] of whole.content.entries()) {
    const start = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
    yield event("content_block_start", { index, content_block: start });
    const deltas = block.type === "text"
      ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
      : pieces(JSON.stringify(block.input)).map(
        (partial_json) => ({ type: "input_json_delta", partial_json }));
    for (const delta of deltas) yield event("content_block_delta", { index, delta });
    yield event("content_block_stop", { index });
  }
  yield event("message_delta", { delta: { stop_reason: whole.stop_reason }, usage: { output_tokens: 7 } });
  yield event("message_stop", {});
}

function chat(body, blocks) {
  const calls = blocks.filter((b) => b.name).map((b) => ({
    id: b.id, type: "function",
    function: { name: b.name, arguments: JSON.stringify(b.input) } }));
  return {
    id: idOf("chatcmpl-", body), object: "chat.completion", created: 1, model: body.model,
    choices: [{
      index: 0, finish_reason: calls.length ? "tool_calls" : "stop",
      message: {
        role: "assistant", content: blocks.find((b) => b.text)?.text ?? null,
        ...(calls.length ? { tool_calls: calls } : {}) },
    }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
}

function* chatEvents(body, blocks) {
  const whole = chat(body, blocks);
  const { message, finish_reason } = whole.choices[0];
  const chunk = (delta, end = null) => `data: ${JSON.stringify({
    id: whole.id, object: "chat.completion.chunk", created: 1, model: body.model,
    choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
  yield chunk({ role: "assistant", content: "" });
  for (const content of pieces(message.content ?? "")) yield chunk({ content });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    yield chunk({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: "" } }] });
    for (const part of pieces(call.function.arguments)) {
      yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
    }
  }
  yield chunk({}, finish_reason);
  yield `data: ${JSON.stringify({ id: whole.id, object: "chat.completion.chunk", created: 1,
    model: body.model, choices: [], usage: whole.usage })}\n\n`;
  yield "data: [DONE]\n\n";
}

let responseCount = 0;

function responses(body, blocks) {
  return {
    id: `resp_${++responseCount}`, object: "response", created_at: 1, status: "completed",
    model: body.model, error: null, parallel_tool_calls: true, tools: [],
    output: blocks.map((b, i) => b.name
      ? { type: "function_call", id: `fc_${i}`, call_id: b.id, name: b.name,
        arguments: JSON.stringify(b.input), status: "completed" }
      : { type: "message", id: `m_${i}`, role: "assistant", status: "completed",
        content: [{ type: "output_text", text: b.text, annotations: [] }] }),
    usage: { ...usage, total_tokens: 18 },
  };
}

function* responsesEvents(body, blocks) {
  const whole = responses(body, blocks);
  let sequence_number = 0;
  const event = (type, rest) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...rest })}\n\n`;
  yield event("response.created", { response: { ...whole, status: "in_progress", output: [] } });
  for (const [output_index, item] of whole.output.entries()) {
    const item_id = item.id;
    yield event("response.output_item.added", {
      output_index, item: item.type === "message" ? { ...item, content: [] } : { ...item, arguments: "" } });
    if (item.type === "message") {
      const part = item.content[0];
      yield event("response.content_part.added", {
        item_id, output_index, content_index: 0, part: { ...part, text: "" } });
      for (const delta of pieces(part.text)) {
        yield event("response.output_text.delta", { item_id, output_index, content_index: 0, delta });
      }
    } else {
      for (const delta of pieces(item.arguments)) {
        yield event("response.function_call_arguments.delta", { item_id, output_index, delta });
      }
    }
    yield event("response.output_item.done", { output_index, item });
  }
  yield event("response.completed", { response: whole });
}

const formats = {
  "/v1/messages": [anthropic, anthropicEvents],
  "/v1/chat/completions": [chat, chatEvents],
  "/v1/responses": [responses, responsesEvents],
};

/* The paths that are captured, and the events by which each says `blocks`. */
export const streamed = Object.keys(formats);
export const eventsOf = (path, body, blocks) => [...formats[path][1](body, blocks)];

/* An upstream of bytes: `script(socket, request)` once a request's head is in. */
export async function startRaw(script) {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let seen = "";
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (part) => {
      seen += part.toString("latin1");
      if (seen.includes("\r\n\r\n")) {
        const request = seen;
        seen = "";
        script(socket, request);
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sockets,
    stop: () => new Promise((resolve) => {
      server.close(resolve);
      for (const socket of sockets) socket.destroy();
    }),
  };
}

function sendError(answer, status) {
  answer.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
  answer.end(JSON.stringify({ type: "error", error: {
    type: status === 429 ? "rate_limit_error" : "api_error", message: "scripted" } }));
}

async function sendStream(answer, events, upstream, text) {
  answer.writeHead(200, { "content-type": "text/event-stream" });
  let count = 0;
  for (const event of events) {
    answer.write(event);
    if (text === "held" && ++count === 4) await upstream.held;
    if (text.startsWith("slow") && ++count > 2) {
      if (answer.destroyed || answer.stream?.destroyed) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (text === "break" && ++count > 3) {
      /* what was written arrives, then the line is cut */
      await new Promise((resolve) => answer.write("", resolve));
      return answer.destroy();
    }
  }
  answer.end();
}

export async function startUpstream(options = {}) {
  const upstream = { requests: [], aborted: 0 };
  async function serve(request, answer) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const bytes = Buffer.concat(parts);
    const { pathname } = new URL(request.url, "http://x");
    const seen = {
      method: request.method, url: request.url, headers: request.headers, bytes,
      httpVersion: request.httpVersion, port: request.socket?.remotePort };
    upstream.requests.push(seen);
    answer.on("close", () => {
      /* of HTTP/2 the one, of HTTP/1.1 the other tells the truth */
      if (!(answer.stream ? answer.writableEnded : answer.writableFinished)) upstream.aborted++;
    });
    const format = formats[pathname];
    if (!format || request.method !== "POST") {
      answer.writeHead(200, { "content-type": "application/json", "x-special": "kept" });
      return answer.end(JSON.stringify({ path: request.url, data: [], input_tokens: 42 }));
    }
    let body;
    let text;
    try {
      body = JSON.parse(bytes.toString());
      if (!body.messages && !body.input) throw new Error("nothing is asked");
      text = lastText(body);
    } catch {
      return sendError(answer, 400);
    }
    seen.body = body;
    text = text.replace(/\s*<clew-context[\s\S]*<\/clew-context>/, "");
    const error = /^error (\d+)$/.exec(text);
    if (error) return sendError(answer, Number(error[1]));
    const blocks = options.script?.(text, body) ?? script(text);
    if (body.stream) return sendStream(answer, format[1](body, blocks), upstream, text);
    const reply = Buffer.from(JSON.stringify(format[0](body, blocks)));
    if (/gzip/.test(request.headers["accept-encoding"] ?? "")) {
      const packed = zlib.gzipSync(reply);
      answer.writeHead(200, {
        "content-type": "application/json", "content-encoding": "gzip", "content-length": packed.length });
      return answer.end(packed);
    }
    answer.writeHead(200, { "content-type": "application/json", "content-length": reply.length });
    answer.end(reply);
  }
  const { tls } = options;
  const server = !tls ? http.createServer(serve)
    : tls.isOld ? https.createServer(tls, serve)
      : http2.createSecureServer({ ...tls, allowHTTP1: true }, serve);
  const sockets = new Set();
  server.on(tls ? "secureConnection" : "connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  upstream.url = `${tls ? "https" : "http"}://127.0.0.1:${server.address().port}`;
  upstream.stop = () => new Promise((resolve) => {
    server.close(resolve);
    for (const socket of sockets) socket.destroy();
  });
  return upstream;
}
