"""Weights as pack-teachers.js writes them, also behind xz."""
import json
import lzma
import struct

import numpy as np


def load_pack(path):
    """{name: float32 array}; int8 rows come back by their scales."""
    blob = open(path, "rb").read()
    if blob.startswith(b"\xfd7zXZ\0"):
        blob = lzma.decompress(blob)
    n = struct.unpack("<I", blob[:4])[0]
    base = 4 + n
    out = {}
    for e in json.loads(blob[4:base]):
        count = int(np.prod(e["shape"]))
        if e["type"] == "i8":
            q = np.frombuffer(blob, np.int8, count, base + e["at"])
            s = np.frombuffer(blob[base + e["scale_at"]:], np.float32,
                              e["shape"][0])
            w = q.reshape(e["shape"]).astype(np.float32) * s[:, None]
        else:
            w = np.frombuffer(blob[base + e["at"]:], np.float32,
                              count).reshape(e["shape"])
        out[e["name"]] = w
    return out
