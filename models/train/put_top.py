"""Put a top that was trained alone into a reader's file, or the mean of some.

    python3 put_top.py READER.bin KINDS TOP.npz...
    python3 put_top.py READER.bin - TOP.npz...

TOP.npz is what train_reader.py --top wrote. KINDS are the kinds of pairs that it
was trained for ("note,ending"); they read with it from now on, beside the layers
that all others go on reading with, which give the same bits as before. With "-"
it takes the place of those layers instead: it was trained for all that read
with them.
"""
import sys

import numpy as np

import reader_file


def floats(path):
    """Its weights, those of int8 too."""
    raw = np.load(path)
    return {name: raw[name] * raw[name + ".scale"][:, None]
            if raw[name].dtype == np.int8 else raw[name]
            for name in raw.files if not name.endswith(".scale")}


def main():
    reader, kinds, *tops = sys.argv[1:]
    about, arrays, vocab = reader_file.load(reader)
    rounded = {name for name, a in np.load(tops[0]).items()
               if a.dtype == np.int8}
    sets = [floats(t) for t in tops]
    own = [] if kinds == "-" else kinds.split(",")
    for name in sets[0]:
        if own and name.startswith("head.") and name.split(".")[1] not in own:
            continue
        w = np.mean([s[name] for s in sets], axis=0, dtype=np.float32)
        to = name if own else name.replace("top.", "layer.", 1)
        if name in rounded:
            arrays[to], arrays[to + ".scale"] = reader_file.quantise_rows(w)
        else:
            arrays[to] = w
    if own:
        about["top_kinds"] = " ".join(own)
    if "gist_layers" in about:  # which are made below any top
        about.setdefault("gist_of", reader_file.id_of(about))
    reader_file.write_like(reader, about, arrays, vocab)


if __name__ == "__main__":
    main()
