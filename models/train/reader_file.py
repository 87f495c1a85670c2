"""Write a reader's file: what src/model/reader_load.c maps and runs.

    import reader_file
    reader_file.write("reader.bin", arrays, vocab, heads=12, read_layer=3)

`arrays` maps names to numpy arrays:

    embed.words        int8 [tokens, dim]    embed.words.scale   float32 [tokens]
    embed.positions    float32 [>= 256, dim] embed.types         float32 [2, dim]
    embed.norm.weight, embed.norm.bias       float32 [dim]
    layer.N.qkv        int8 [3 dim, dim]     (rows: query, key, value)
    layer.N.attention  int8 [dim, dim]
    layer.N.inner      int8 [inner, dim]
    layer.N.outer      int8 [dim, inner]     each with .scale and .bias [rows]
    layer.N.attention_norm.{weight,bias}, layer.N.outer_norm.{weight,bias}
    head.NAME          float32 [outcomes, dim], head.NAME.bias [outcomes]
    top.N.PART         layers from one on once more, for some kinds of pairs
    gist.turn, gist.asked  float32 [64, layers dim], each with .bias [64]

`vocab` is the list of tokens in the order of the rows of embed.words. Every
name, type, shape and range the loader checks is checked here too, so that a
file that was written also opens. quantise_rows() makes a matrix int8.

Needs the standard library and numpy.
"""
import hashlib
import json
import os
import struct

import numpy

ID = "clew-reader-1"
ID_DIGITS = 12  # of the sum of its data, behind it
HEADS = {"keep": 7, "flag": 4, "about": 4, "act": 6, "goes": 1,
         "answer": 1, "note": 5, "ending": 5, "matter": 1, "newer": 1}
LANES = 16
MAX_DIM = 1024
MAX_INNER = 4096
MAX_LAYERS = 24
MAX_VALUE = 1e4
MIN_POSITIONS = 256
MAX_POSITIONS = 8192
MAX_GLANCE = 256
GIST_DIM = 64
ALIGNMENT = 64


def quantise_rows(matrix):
    """int8 rows of a float matrix and the scale of each: w = q * scale."""
    matrix = numpy.asarray(matrix, dtype=numpy.float32)
    scale = (numpy.abs(matrix).max(axis=1) / 127).astype(numpy.float32)
    safe = numpy.where(scale > 0, scale, 1).astype(numpy.float32)
    rounded = numpy.rint(matrix / safe[:, None])
    return numpy.clip(rounded, -127, 127).astype(numpy.int8), scale


def _top_layer(arrays):
    """The first layer that is there twice, or None."""
    tops = [int(name.split(".")[1]) for name in arrays
            if name.startswith("top.")]
    return min(tops, default=None)


def _shapes(arrays):
    """The name, type and shape of every tensor, from those that are there."""
    tokens, dim = arrays["embed.words"].shape
    inner = arrays["layer.0.inner"].shape[0]
    layers = 0
    while f"layer.{layers}.qkv" in arrays:
        layers += 1
    positions = arrays["embed.positions"].shape[0]
    for name, size, limit in (("dim", dim, MAX_DIM),
                              ("inner", inner, MAX_INNER)):
        if size % LANES or not 0 < size <= limit:
            raise ValueError(f"{name} is {size}: a multiple of {LANES} "
                             f"up to {limit} is wanted")
    if not 1 <= layers <= MAX_LAYERS:
        raise ValueError(f"{layers} layers")
    if not MIN_POSITIONS <= positions <= MAX_POSITIONS:
        raise ValueError(f"{positions} positions")

    shapes = {"embed.words": ("I8", (tokens, dim)),
              "embed.words.scale": ("F32", (tokens,)),
              "embed.positions": ("F32", (positions, dim)),
              "embed.types": ("F32", (2, dim)),
              "embed.norm.weight": ("F32", (dim,)),
              "embed.norm.bias": ("F32", (dim,))}
    top = _top_layer(arrays)
    for at in ([f"layer.{n}" for n in range(layers)] +
               [f"top.{n}" for n in range(top or layers, layers)]):
        for part, rows, cols in (("qkv", 3 * dim, dim),
                                 ("attention", dim, dim),
                                 ("inner", inner, dim),
                                 ("outer", dim, inner)):
            shapes[f"{at}.{part}"] = ("I8", (rows, cols))
            shapes[f"{at}.{part}.scale"] = ("F32", (rows,))
            shapes[f"{at}.{part}.bias"] = ("F32", (rows,))
        for part in ("attention_norm", "outer_norm"):
            shapes[f"{at}.{part}.weight"] = ("F32", (dim,))
            shapes[f"{at}.{part}.bias"] = ("F32", (dim,))
    for head, outcomes in HEADS.items():
        shapes[f"head.{head}"] = ("F32", (outcomes, dim))
        shapes[f"head.{head}.bias"] = ("F32", (outcomes,))
    if "glance.in" in arrays:
        rows = arrays["glance.in"].shape[0]
        if rows % LANES or not 0 < rows <= MAX_GLANCE:
            raise ValueError(f"the glance has {rows} rows")
        shapes["glance.in"] = ("F32", (rows, 4 * dim))
        shapes["glance.in.bias"] = ("F32", (rows,))
        shapes["glance.out"] = ("F32", (1, rows))
        shapes["glance.out.bias"] = ("F32", (1,))
    for name in ("gist.turn", "gist.asked"):
        if name in arrays:
            shapes[name] = ("F32", (GIST_DIM, arrays["gist.turn"].shape[1]))
            shapes[name + ".bias"] = ("F32", (GIST_DIM,))
    return shapes, layers


def _bytes_of(name, array, kind, shape):
    wanted = numpy.int8 if kind == "I8" else numpy.float32
    if array.dtype != wanted:
        raise ValueError(f"{name} is {array.dtype}, not {wanted.__name__}")
    if array.shape != shape:
        raise ValueError(f"{name} is {array.shape}, not {shape}")
    if kind == "F32" and not (numpy.abs(array) <= MAX_VALUE).all():
        raise ValueError(f"{name} has a value that is not finite or too large")
    little = array.astype(array.dtype.newbyteorder("<"))
    return numpy.ascontiguousarray(little).tobytes()


def _vocab_bytes(vocab, n_tokens):
    if len(vocab) != n_tokens:
        raise ValueError(f"{len(vocab)} tokens, {n_tokens} rows of words")
    for special in ("[UNK]", "[CLS]", "[SEP]"):
        if special not in vocab:
            raise ValueError(f"the vocabulary has no {special}")
    if any("\n" in token or token.endswith("\r") for token in vocab):
        raise ValueError("a token holds the end of a line")
    return "".join(token + "\n" for token in vocab).encode("utf-8")


def load(path):
    """What write() takes: metadata, tensors, tokens."""
    blob = open(path, "rb").read()
    n = struct.unpack("<Q", blob[:8])[0]
    head = json.loads(blob[8:8 + n])
    about = head.pop("__metadata__")
    kinds = {"I8": numpy.int8, "F32": numpy.float32, "U8": numpy.uint8}
    arrays = {name: numpy.frombuffer(blob, kinds[e["dtype"]],
                                     int(numpy.prod(e["shape"])),
                                     8 + n + e["data_offsets"][0])
              .reshape(e["shape"]) for name, e in head.items()}
    vocab = bytes(arrays.pop("vocab")).decode().split("\n")[:-1]
    return about, arrays, vocab


def id_of(about):
    """As src/model/reader_load.c names the file."""
    return f"{ID}@{about['sum'][:ID_DIGITS]}"


def write_like(path, about, arrays, vocab):
    """write() with the metadata that load() gave, changed or not."""
    write(path, arrays, vocab, int(about["heads"]), int(about["read_layer"]),
          float(about["epsilon"]), int(about.get("glance_layer", 0)),
          about.get("top_kinds"), about.get("gist_layers"),
          about.get("gist_of"))


def write(path, arrays, vocab, heads, read_layer, epsilon=1e-12,
          glance_layer=None, top_kinds=None, gist_layers=None, gist_of=None):
    """Write the file in one step: a reader sees the old one or the new."""
    shapes, layers = _shapes(arrays)
    dim = arrays["embed.words"].shape[1]
    unknown = sorted(set(arrays) - set(shapes))
    missing = sorted(set(shapes) - set(arrays))
    if unknown or missing:
        raise ValueError(f"unknown: {unknown}; missing: {missing}")
    if dim % heads or dim // heads % LANES:
        raise ValueError(f"{heads} heads do not fit dim {dim}")
    if not 1 <= read_layer <= layers:
        raise ValueError(f"read_layer is {read_layer} of {layers}")

    header = {"__metadata__": {"id": ID, "heads": str(heads),
                               "read_layer": str(read_layer),
                               "epsilon": repr(float(epsilon))}}
    if ("glance.in" in arrays) != bool(glance_layer):
        raise ValueError("a glance has a layer after which it is asked")
    if glance_layer:
        header["__metadata__"]["glance_layer"] = str(glance_layer)
    if (_top_layer(arrays) is not None) != bool(top_kinds):
        raise ValueError("a second top is of some kinds of pairs")
    if top_kinds:
        header["__metadata__"]["top_layer"] = str(_top_layer(arrays))
        header["__metadata__"]["top_kinds"] = top_kinds
    if ("gist.turn" in arrays) != bool(gist_layers):
        raise ValueError("a gist is made of what some layers have")
    if gist_layers:
        if arrays["gist.turn"].shape[1] != dim * len(gist_layers.split()):
            raise ValueError("the gist does not fit its layers")
        header["__metadata__"]["gist_layers"] = gist_layers
        if gist_of:
            header["__metadata__"]["gist_of"] = gist_of
    blobs = []
    at = 0

    def add(name, kind, shape, data):
        nonlocal at
        header[name] = {"dtype": kind, "shape": list(shape),
                        "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)

    # floats first, each a multiple of 4 bytes: all of them are aligned
    for kind in ("F32", "I8"):
        for name, (its_kind, shape) in shapes.items():
            if its_kind == kind:
                add(name, kind, shape,
                    _bytes_of(name, arrays[name], kind, shape))
    text = _vocab_bytes(vocab, arrays["embed.words"].shape[0])
    add("vocab", "U8", (len(text),), text)

    digest = hashlib.sha256()
    for blob in blobs:
        digest.update(blob)
    header["__metadata__"]["sum"] = digest.hexdigest()
    head = json.dumps(header, separators=(",", ":")).encode("utf-8")
    head += b" " * (-(8 + len(head)) % ALIGNMENT)
    partial = f"{path}.part"
    with open(partial, "wb") as file:
        file.write(struct.pack("<Q", len(head)))
        file.write(head)
        for blob in blobs:
            file.write(blob)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
