/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models.mjs - embedding models for tests: an endpoint, and a tiny encoder in
 * a folder. Both are deterministic and mean nothing.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const endpointDim = 32;

/* The words decide: equal words, equal vectors. */
function vectorOf(text) {
  const sum = new Array(endpointDim).fill(0);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? ["none"]) {
    const hash = createHash("sha256").update(word).digest();
    for (let i = 0; i < endpointDim; i++) sum[i] += hash[i] - 127.5;
  }
  return sum;
}

/* An OpenAI-compatible /embeddings endpoint. Set isDown to make it fail. */
export async function startEmbeddings() {
  const state = { calls: 0, texts: 0, isDown: false };
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    state.calls++;
    if (state.isDown) {
      response.writeHead(503).end();
      return;
    }
    const { input, model } = JSON.parse(body);
    const texts = [input].flat();
    state.texts += texts.length;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({
      object: "list", model,
      data: texts.map((text, index) => (
        { object: "embedding", index, embedding: vectorOf(text) })),
    }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.url = `http://127.0.0.1:${server.address().port}/v1/embeddings`;
  state.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return state;
}

/* A BERT of one layer in a folder, as a hub has them. */
export function writeEncoder(folder, seed = 1) {
  const dim = 32;
  const inner = 64;
  const words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    ..."abcdefghijklmnopqrstuvwxyz", ..."abcdefghijklmnopqrstuvwxyz"
      .split("").map((c) => `##${c}`)];
  const tensors = [];
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296 - 0.5;
  };
  const add = (name, shape, base = 0) => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; i++) values[i] = base + next() * 0.4;
    tensors.push({ name, shape, values });
  };
  const dense = (name, to, from) => {
    add(`${name}.weight`, [to, from]);
    add(`${name}.bias`, [to]);
  };
  const norm = (name) => {
    add(`${name}.weight`, [dim], 1);
    add(`${name}.bias`, [dim]);
  };
  add("embeddings.word_embeddings.weight", [words.length, dim]);
  add("embeddings.position_embeddings.weight", [64, dim]);
  add("embeddings.token_type_embeddings.weight", [2, dim]);
  norm("embeddings.LayerNorm");
  const layer = "encoder.layer.0";
  for (const part of ["query", "key", "value"]) {
    dense(`${layer}.attention.self.${part}`, dim, dim);
  }
  dense(`${layer}.attention.output.dense`, dim, dim);
  norm(`${layer}.attention.output.LayerNorm`);
  dense(`${layer}.intermediate.dense`, inner, dim);
  dense(`${layer}.output.dense`, dim, inner);
  norm(`${layer}.output.LayerNorm`);

  const header = {};
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    header[name] = {
      dtype: "F32", shape,
      data_offsets: [offset, offset + values.byteLength],
    };
    offset += values.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "model.safetensors"), Buffer.concat([
    length, json, ...tensors.map(({ values }) => Buffer.from(values.buffer))]));
  fs.writeFileSync(path.join(folder, "vocab.txt"), `${words.join("\n")}\n`);
  fs.writeFileSync(path.join(folder, "config.json"), JSON.stringify({
    model_type: "bert", hidden_size: dim, num_hidden_layers: 1,
    num_attention_heads: 2, intermediate_size: inner,
    max_position_embeddings: 64, vocab_size: words.length,
    type_vocab_size: 2, hidden_act: "gelu", layer_norm_eps: 1e-12,
  }));
}
