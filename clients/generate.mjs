#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.mjs - the types of both clients, from the OpenAPI document.
 *
 *   build/clew serve &  curl -s 127.0.0.1:2539/openapi.json | clients/generate.mjs
 *
 * writes typescript/src/schema.ts and python/clew_client/schema.py. A test
 * holds them against the document of the program.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/* Posts that change nothing, or nothing the second time: safe to send again
 * when the answer was lost. Turns have the external_id the clients give them. */
const SAFE_POSTS = new Set(["recall", "ask", "analyse", "getContext", "createTurns", "createEffortTurn",
  "noteCaller"]);

const nameOf = (ref) => ref.split("/").pop();
/* One line, whatever the description holds. */
const line = (text) => (text ?? "").replace(/\s+/g, " ").replaceAll("*/", "* /");

/* --- what both languages need --- */

export function operationsOf(document) {
  const out = [];
  for (const [where, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation["x-clew-mount"]) continue;
      const [status] = Object.keys(operation.responses);
      const content = operation.responses[status].content ?? {};
      const [media] = Object.keys(content);
      const schema = content[media]?.schema ?? {};
      const id = operation.operationId;
      out.push({ id, method: method.toUpperCase(), path: where, media, schema, summary: operation.summary,
        body: operation.requestBody?.content["application/json"].schema,
        isBodyNeeded: operation.requestBody?.required ?? false,
        params: operation.parameters.filter((one) => one.in === "path"),
        query: operation.parameters.filter((one) => one.in === "query"),
        isSafe: ["get", "patch"].includes(method) || SAFE_POSTS.has(id) });
    }
  }
  return out.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/* --- TypeScript --- */

const tsWords = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

function tsType(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.oneOf) return schema.oneOf.map(tsType).join(" | ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => tsType({ ...schema, type })).join(" | ");
  }
  if (schema.type === "array") {
    const item = tsType(schema.items);
    return /[ |]/.test(item) ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === "object") {
    const { additionalProperties: rest } = schema;
    return `Record<string, ${rest && rest !== true ? tsType(rest) : "unknown"}>`;
  }
  return tsWords[schema.type] ?? "unknown";
}

function tsObject(name, schema) {
  if (!schema.properties) {
    return `/** ${line(schema.description)} */\nexport type ${name} = ${tsType(schema)};\n`;
  }
  const rows = Object.entries(schema.properties).map(([field, part]) =>
    `  /** ${line(part.description)} */\n`
    + `  ${field}${(schema.required ?? []).includes(field) ? "" : "?"}: ${tsType(part)};\n`);
  if (schema.additionalProperties) rows.push("  [other: string]: unknown;\n");
  return `/** ${line(schema.description)} */\nexport interface ${name} {\n${rows.join("")}}\n`;
}

const tsParams = (list, all) => (list.length === 0 ? "undefined"
  : `{ ${list.map((one) => `${one.name}${all || one.required ? "" : "?"}: ${tsType(one.schema)}`).join("; ")} }`);

export function typescript(document) {
  const operations = operationsOf(document);
  const types = Object.entries(document.components.schemas).map(([name, one]) => tsObject(name, one));
  const rows = operations.map((one) => `  /** ${line(one.summary)} */\n  ${one.id}: {\n`
    + `    params: ${tsParams(one.params, true)};\n    query: ${tsParams(one.query)};\n`
    + `    body: ${one.body ? tsType(one.body) + (one.isBodyNeeded ? "" : " | undefined") : "undefined"};\n`
    + `    answer: ${one.media === "application/json" ? tsType(one.schema) : "string"};\n  };\n`);
  const table = operations.map((one) =>
    `  ${one.id}: ["${one.method}", "${one.path}", ${one.isSafe}],\n`);
  return `/* SPDX-License-Identifier: Apache-2.0 */
/* Made by clients/generate.mjs from the OpenAPI document: do not edit. */

${types.join("\n")}
/** What each operation takes and answers, by its operationId. */
export interface Operations {
${rows.join("")}}

/** Method, path, and whether it may be sent again when its answer was lost. */
export const operations: Record<keyof Operations, readonly [string, string, boolean]> = {
${table.join("")}};
`;
}

/* --- Python --- */

const pyWords = { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" };
const keywords = new Set(["from", "in", "is", "not", "class", "def", "for", "import"]);

function pyType(schema) {
  if (schema.$ref) return `"${nameOf(schema.$ref)}"`;
  if (schema.oneOf) return `Union[${schema.oneOf.map(pyType).join(", ")}]`;
  if (schema.enum) {
    return `Literal[${schema.enum.map((word) => (word === null ? "None" : JSON.stringify(word))).join(", ")}]`;
  }
  if (Array.isArray(schema.type)) {
    return `Union[${schema.type.map((type) => pyType({ ...schema, type })).join(", ")}]`;
  }
  if (schema.type === "array") return `List[${pyType(schema.items)}]`;
  if (schema.type === "object") {
    const { additionalProperties: rest } = schema;
    return `Dict[str, ${rest && rest !== true ? pyType(rest) : "Any"}]`;
  }
  return pyWords[schema.type] ?? "Any";
}

function pyObject(name, schema) {
  if (!schema.properties) return `# ${line(schema.description)}\n${name} = ${pyType(schema)}\n`;
  const isNeeded = (field) => (schema.required ?? []).includes(field);
  const type = (field, part) => (isNeeded(field) ? pyType(part) : `NotRequired[${pyType(part)}]`);
  const fields = Object.entries(schema.properties);
  if (fields.some(([field]) => keywords.has(field))) {
    return `# ${line(schema.description)}\n${name} = TypedDict(\n    "${name}",\n    {\n${fields.map(
      ([field, part]) => `        # ${line(part.description)}\n        "${field}": ${type(field, part)},\n`)
      .join("")}    },\n)\n`;
  }
  return `class ${name}(TypedDict):\n    """${line(schema.description)}"""\n\n${fields.map(
    ([field, part]) => `    # ${line(part.description)}\n    ${field}: ${type(field, part)}\n`).join("")
    || "    pass\n"}`;
}

export function python(document) {
  const operations = operationsOf(document);
  /* another name for a type comes after all types */
  const schemas = Object.entries(document.components.schemas)
    .sort(([, a], [, b]) => Number(!a.properties) - Number(!b.properties));
  const types = schemas.map(([name, one]) => pyObject(name, one));
  const table = operations.map((one) =>
    `    "${one.id}": ("${one.method}", "${one.path}", ${one.isSafe ? "True" : "False"}),\n`);
  return `# SPDX-License-Identifier: Apache-2.0
# Made by clients/generate.mjs from the OpenAPI document: do not edit.
"""What the API takes and answers."""

from typing import Any, Dict, List, Literal, NotRequired, Tuple, TypedDict, Union

${types.join("\n\n")}

# Method, path, and whether it may be sent again when its answer was lost.
OPERATIONS: Dict[str, Tuple[str, str, bool]] = {
${table.join("")}}
`;
}

const here = path.dirname(fileURLToPath(import.meta.url));
export const files = {
  typescript: path.join(here, "typescript/src/schema.ts"),
  python: path.join(here, "python/clew_client/schema.py"),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const document = JSON.parse(fs.readFileSync(process.argv[2] ?? 0, "utf8"));
  fs.writeFileSync(files.typescript, typescript(document));
  fs.writeFileSync(files.python, python(document));
}
