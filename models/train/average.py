"""The mean of two tables of one start: what a long and a short run agree on.

    python3 average.py LONG.bin SHORT.bin OUT.bin

Each is scaled to a mean row length of 1 first. Plain Python.
"""
import array
import math
import struct
import sys

HEAD = "<8s6I32s"


def load(path):
    data = open(path, "rb").read()
    head = struct.unpack(HEAD, data[:64])
    _, n, dim, table_at, scales_at, words_at, words_len, _ = head
    q = array.array("b", data[table_at:table_at + n * dim])
    scales = array.array("H", data[scales_at:scales_at + 2 * n])
    rows = [[x * s for x in q[i * dim:(i + 1) * dim]]
            for i, s in enumerate(scales)]
    mean = sum(math.sqrt(sum(x * x for x in r)) for r in rows) / n
    return rows, mean, data[words_at:words_at + words_len]


def pad(data):
    return bytes(data).ljust(-(-len(data) // 64) * 64, b"\0")


def save(path, rows, words):
    dim = len(rows[0])
    top = [max(1e-9, max(map(abs, r))) / 127 for r in rows]
    unit = max(top) / 32767
    scales = [max(1, math.ceil(t / unit)) for t in top]
    q = bytearray()
    for row, scale in zip(rows, scales):
        by = 1 / (scale * unit)
        q += struct.pack(f"{dim}b", *[round(x * by) for x in row])
    q = pad(q)
    s = pad(struct.pack(f"<{len(scales)}H", *scales))
    head = struct.pack(HEAD, b"clewvec1", len(rows), dim, 64, 64 + len(q),
                       64 + len(q) + len(s), len(words), b"clew-static-1")
    open(path, "wb").write(head + q + s + words)


first, first_mean, first_words = load(sys.argv[1])
second, second_mean, second_words = load(sys.argv[2])
assert first_words == second_words
save(sys.argv[3], [[x / first_mean + y / second_mean for x, y in zip(a, b)]
                   for a, b in zip(first, second)], first_words)
