"""The mean of two readers of one start: what two trainings agree on.

    python3 mean_readers.py A.bin B.bin SHARE_OF_A OUT.bin
"""
import sys

import numpy as np

import reader_file


def load(path):
    """Its metadata, tokens and weights as floats."""
    about, raw, vocab = reader_file.load(path)
    weights = {name: a.astype(np.float32) *
               (raw[name + ".scale"][:, None] if a.dtype == np.int8 else 1)
               for name, a in raw.items() if not name.endswith(".scale")}
    rounded = {name for name, a in raw.items() if a.dtype == np.int8}
    return about, vocab, weights, rounded


def main():
    a, b, share, out = sys.argv[1:5]
    share = float(share)
    about, vocab, first, rounded = load(a)
    other, tokens, second, _ = load(b)
    if tokens != vocab or other["read_layer"] != about["read_layer"]:
        sys.exit("they are not of one start")
    arrays = {}
    for name, w in first.items():
        w = share * w + (1 - share) * second[name]
        if name in rounded:
            arrays[name], arrays[name + ".scale"] = reader_file.quantise_rows(w)
        else:
            arrays[name] = w.astype(np.float32)
    reader_file.write_like(out, about, arrays, vocab)


if __name__ == "__main__":
    main()
