/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.js - how a client is connected: the line to copy, and a wait that
 * ends when the first call comes.
 */
import { get, link } from "../api.js";
import { add, clockS, code, count, h, put, s } from "../dom.js";
import { state } from "../draw.js";

const here = () => location.origin;

function ways() {
  const at = here();
  const mcp = `${at}/mcp`;
  return {
    "Claude Code": {
      lead: "Set the base URL; every session is captured, linked across compactions and branches, and can be searched.",
      lines: [`ANTHROPIC_BASE_URL=${at} claude`, `clew setup claude-code --url ${at} --proxy ${at}`],
    },
    Codex: {
      lead: "Set the base URL of the OpenAI provider.",
      lines: [`codex -c 'openai_base_url="${at}/v1"'`, `clew setup codex --url ${at} --proxy ${at}`],
    },
    OpenCode: {
      lead: "Set the base URL of its providers, and add the memory as tools; Qwen Code likewise (qwen-code).",
      lines: [`clew setup opencode --url ${at} --proxy ${at}`],
    },
    Cursor: {
      lead: "Add clew as an MCP server: by itself, or in ~/.cursor/mcp.json.",
      lines: ["clew setup cursor", `{"mcpServers":{"clew":{"url":"${mcp}"}}}`],
    },
    MCP: {
      lead: "Any MCP client, over HTTP or as a program.",
      lines: [`claude mcp add --transport http clew ${mcp}`, "clew mcp"],
    },
    Python: {
      lead: "The official SDKs only need the base URL.",
      lines: [`OpenAI(base_url="${at}/v1")`, `Anthropic(base_url="${at}")`],
    },
    JavaScript: {
      lead: "The official SDKs only need the base URL.",
      lines: [`new OpenAI({ baseURL: "${at}/v1" })`, `new Anthropic({ baseURL: "${at}" })`],
    },
    REST: {
      lead: "Post a turn, ask for the context.",
      lines: [`curl ${at}/api/v1/turns -H 'content-type: application/json' -d '{"user_id":"ada","role":"user","content":"We decided to ship on Friday."}'`],
    },
    Import: {
      lead: "Bring your history along: exports of ChatGPT, Claude and Gemini, sessions of Claude Code, Codex, OpenCode and others, Slack, mail and more.",
      lines: ["clew import conversations.json", "clew import ~/.claude/projects"],
    },
  };
}

const names = { messages: "Anthropic client", chat: "OpenAI client", responses: "Responses client", link: "linked calls" };
/* The kinds of client that called, the latest first. */
export function clients(calls) {
  const seen = new Map();
  for (const c of calls) if (!seen.has(c.api)) seen.set(c.api, { name: names[c.api] ?? c.api, at: c.created_at });
  return [...seen.values()];
}

/* The ways, the first of them open. */
function picker() {
  const place = h("div");
  const list = ways();
  const buttons = Object.entries(list).map(([name, way]) => h("button", {
    class: "chip", type: "button", "aria-pressed": "false",
    onclick: (e) => {
      for (const b of buttons) b.setAttribute("aria-pressed", String(b === e.currentTarget));
      put(place, h("p", { class: "mid" }, way.lead), way.lines.map((l) => code(l)));
    },
  }, name));
  buttons[0].click();
  return [h("div", { class: "ways", role: "group", "aria-label": "Clients" }, buttons), place,
    link.role && link.role !== "none" ? h("p", { class: "dim" }, "Where keys exist, add ",
      h("span", { class: "mono" }, "x-clew-key: clew_…"), " on the proxy paths, ", h("span", { class: "mono" }, "Authorization: Bearer clew_…"), " elsewhere.") : null];
}

/* A wait that ends by itself when something arrives. */
function wait(ctx) {
  const box = h("div", { class: "waiting", role: "status" },
    s("svg", { viewBox: "0 0 120 16", "aria-hidden": "true" }, s("path", { class: "ht run", d: "M0 8H106" }), s("circle", { class: "ax2", cx: 112, cy: 8, r: 5 })),
    "Waiting for the first call …");
  return {
    box,
    async event(e) {
      if (e.kind !== "turn" && e.kind !== "call") return;
      let words = [h("b", {}, "There it is. "), `A turn of ${e.user_id}, ${clockS(new Date())}. `];
      let to = `#/chat/${e.chat_id}`;
      if (e.kind === "call") {
        const call = await get(`requests/${e.id}`).catch(() => null);
        if (call) {
          words = [h("b", {}, "There it is. "), `${call.model ?? "A call"}, ${clockS(call.created_at)}, ${count(call.input_tokens)} tokens in, linked by ${call.strategy}. `];
          to = `#/calls/${e.id}`;
        }
      }
      put(box, state("here", h("p", {}, words, h("a", { class: "link", href: to }, "Look at it"))));
      ctx.done?.();
    },
  };
}

/* Nothing is here yet. */
export function hello(ctx) {
  const w = wait(ctx);
  add(ctx.root, h("div", { class: "hello" },
    s("svg", { class: "ball", viewBox: "0 0 760 84", preserveAspectRatio: "xMinYMid meet", "aria-hidden": "true" },
      s("g", { fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-linecap": "round" },
        s("circle", { cx: 42, cy: 42, r: 33 }), s("path", { d: "M14 26c16-5 42 4 52 40M26 13c20 1.500 43 16 48 36M9 41c15-2 35 8 41 34M67 20C48 24 24 44 19 66" }),
        s("path", { d: "M75 42C140 42 150 64 210 64S300 30 380 30" }), s("path", { "stroke-dasharray": "2 5", d: "M380 30C460 30 470 52 560 52" }))),
    h("h1", {}, "Nothing is kept yet"),
    h("p", { class: "lead" }, "clew remembers what is said to your assistants, and shows here what it made of it. Connect one: it takes a line."),
    picker(), w.box,
    h("p", { class: "dim" }, "Only to look around? ", h("span", { class: "mono" }, "clew serve --demo"), " loads a few turns.")));
  return { event: w.event };
}

export default async function connect(ctx) {
  const w = wait(ctx);
  add(ctx.root, h("div", { class: "hello" }, h("h1", {}, "Connect a client"),
    h("p", { class: "lead" }, "Copy a line; what the client says then shows up here by itself."), picker(), w.box,
    h("p", {}, h("a", { class: "link", href: "#/home" }, "Back to Home"))));
  return { event: w.event };
}
