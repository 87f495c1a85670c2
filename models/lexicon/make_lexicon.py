#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build lexicon.bin: what clew knows of English words before it reads any.

usage: make_lexicon.py CORPUS.txt.gz WORDNET_FOLDER --words > WORDS.txt
       make_lexicon.py CORPUS.txt.gz WORDNET_FOLDER COUNTS.tsv OUT.bin

Reads the corpus (one text a line), WordNet 3.0's dict files (Debian package
wordnet-base), the lists beside this script, and what count_tokens.mjs makes
of the words. The layout is described in
src/text/lexicon.h and must be changed together with it. Deterministic: the
same inputs give the same bytes. Needs libstemmer (through ctypes), no other
package.
"""
import ctypes
import gzip
import math
import os
import re
import struct
import sys
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "ru", "ar"]
FLAG_CHAT, FLAG_STEM_ONLY, FLAG_KNOWN, FLAG_TAGGED = 1, 2, 4, 8
KINDS = {"": 0, "person": 1, "place": 2, "organisation": 3, "product": 4}
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
MIN_DF = 3


def stemmer():
    lib = ctypes.CDLL("libstemmer.so.0d")
    lib.sb_stemmer_new.restype = ctypes.c_void_p
    lib.sb_stemmer_stem.restype = ctypes.c_void_p
    lib.sb_stemmer_stem.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                    ctypes.c_int]
    lib.sb_stemmer_length.argtypes = [ctypes.c_void_p]
    handle = lib.sb_stemmer_new(b"english", None)

    def stem(word):
        raw = word.encode()
        at = lib.sb_stemmer_stem(handle, raw, len(raw))
        size = lib.sb_stemmer_length(handle)
        return ctypes.string_at(at, size).decode()

    return stem


def read_corpus(path, stem):
    """Lines, df per stem, count and mid-sentence capital count per word."""
    lines, df = 0, Counter()
    count, middle, capital = Counter(), Counter(), Counter()
    stems = {}
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        for line in f:
            lines += 1
            line = line.replace("\u2019", "'").replace(" ' ", "'")
            seen = set()
            shouted = line.isupper()
            for m in WORD.finditer(line):
                surface = m.group()
                word = surface.lower()
                if word not in stems:
                    stems[word] = stem(word)
                seen.add(stems[word])
                count[word] += 1
                before = line[:m.start()].rstrip()[-1:]
                if before and before not in ".?!:;\"(*-#>|" and not shouted:
                    middle[word] += 1
                    if surface[0].isupper():
                        capital[word] += 1
            df.update(seen)
    return lines, df, count, middle, capital


def read_exceptions(folder, pos):
    result = defaultdict(list)
    with open(os.path.join(folder, pos + ".exc")) as f:
        for line in f:
            form, *lemmas = line.split()
            result[form] += lemmas
    return result


ENDINGS = {
    "noun": [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"),
             ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")],
    "verb": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"),
             ("ed", ""), ("ing", "e"), ("ing", "")],
    "adj": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adv": [],
}


class WordNet:
    def __init__(self, folder):
        self.tags = defaultdict(Counter)
        self.senses = defaultdict(Counter)
        types = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
        with open(os.path.join(folder, "cntlist.rev")) as f:
            for line in f:
                key, _, tags = line.split()
                lemma, rest = key.split("%")
                self.tags[types[rest[0]]][lemma] += int(tags)
        for pos in types.values():
            with open(os.path.join(folder, "index." + pos)) as f:
                for line in f:
                    if not line.startswith(" "):
                        parts = line.split()
                        self.senses[pos][parts[0]] = int(parts[2])
        self.exceptions = {p: read_exceptions(folder, p) for p in ENDINGS}

    def lemmas(self, word, pos):
        found = {word} & self.senses[pos].keys()
        found |= set(self.exceptions[pos].get(word, []))
        if word not in self.exceptions[pos]:
            for end, new in ENDINGS[pos]:
                if word.endswith(end) and len(word) > len(end) + 1:
                    base = word[: len(word) - len(end)] + new
                    doubled = base[:-1] if base[-2:-1] == base[-1:] else ""
                    for lemma in (base, doubled):
                        if lemma in self.senses[pos]:
                            found.add(lemma)
        return found

    def shares(self, word):
        """(noun, verb) shares in [0, 1], or None if WordNet has no entry.

        Tagged counts decide; senses count a little, so that words never
        tagged get a share too.
        """
        weight = {}
        for pos in ENDINGS:
            weight[pos] = sum(self.tags[pos][x] + 0.1 * self.senses[pos][x]
                              for x in self.lemmas(word, pos))
        total = sum(weight.values())
        if total == 0:
            return None
        return weight["noun"] / total, weight["verb"] / total


def read_instances(folder):
    """Places and organisations: instances in WordNet's noun hierarchy."""
    names = {}
    lexfiles = {"15": "place", "14": "organisation"}
    with open(os.path.join(folder, "data.noun")) as f:
        for line in f:
            if line.startswith(" ") or " @i " not in line:
                continue
            parts = line.split()
            kind = lexfiles.get(parts[1])
            if not kind:
                continue
            for i in range(int(parts[3], 16)):
                name = parts[4 + 2 * i].replace("_", " ")
                if name[0].isupper() and len(name) > 2:
                    names.setdefault(name.lower(), kind)
    return names


def read_lists():
    stops = {}
    for line in open(os.path.join(HERE, "stopwords.txt"), encoding="utf-8"):
        if not line.startswith("#"):
            language, words = line.split(":")
            stops[language] = words.split()
    names = []
    for line in open(os.path.join(HERE, "names.txt"), encoding="utf-8"):
        if not line.startswith("#"):
            names += line.split()
    brands = {}
    for line in open(os.path.join(HERE, "brands.txt"), encoding="utf-8"):
        if not line.startswith("#"):
            kind, words = line.split(":")
            brands.update((w.strip(), kind) for w in words.split(","))
    return stops, names, brands


def read_counts(path):
    """Per word: tokens of word, " word", Word, " Word" by two encodings."""
    counts = {}
    for line in open(path, encoding="utf-8"):
        word, *numbers = line.rstrip("\n").split("\t")
        numbers = list(map(int, numbers))
        counts[word] = list(zip(numbers[::2], numbers[1::2]))
    return counts


def pack_counts(counts):
    """Two bits a form: the larger count (3 = three or more), and the sum of
    both less two (3 = five or more)."""
    largest = total = 0
    for i, (a, b) in enumerate(counts):
        largest |= min(max(a, b), 4) - 1 << 2 * i
        total |= min(a + b - 2, 3) << 2 * i
    return largest, total


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def main():
    corpus, folder, *rest = sys.argv[1:]
    stem = stemmer()
    lines, df, count, middle, capital = read_corpus(corpus, stem)
    wordnet = WordNet(folder)
    stops, names, brands = read_lists()
    kinds = {k: v for k, v in read_instances(folder).items()
             if k not in stops["en"]}
    kinds.update(brands)
    # a name that is mostly a common word is left to the other rules
    for name in names:
        tagged = sum(wordnet.tags[pos][name] for pos in ENDINGS)
        if capital[name] * 2 >= middle[name] or tagged <= 2:
            kinds.setdefault(name, "person")
    for name in list(kinds):
        if middle[name] >= 20 and capital[name] * 3 < middle[name] \
                and name not in brands and name not in names:
            del kinds[name]

    words = {w for w in count if df[stem(w)] >= MIN_DF and len(w) <= 24}
    words |= {w for w in kinds if len(w) <= 40}
    for language in stops:
        words |= set(stops[language])
    words |= {w for pos in wordnet.tags for w in wordnet.tags[pos]
              if w.isalpha() and w.isascii() and wordnet.tags[pos][w] > 1}
    stems = {stem(w) for w in words if " " not in w}
    pool, index = bytearray(), []
    if rest == ["--words"]:
        print("\n".join(sorted(words)))
        return
    counts, out_path = read_counts(rest[0]), rest[1]

    def idf(s):
        return round(math.log((lines + 1) / (df[s] + 1)) * 4096)

    for word in sorted(words | {s for s in stems if df[s] >= MIN_DF}):
        flags = 0 if word in words else FLAG_STEM_ONLY
        mask = 0
        for bit, language in enumerate(LANGUAGES):
            if word in stops[language]:
                mask |= 1 << bit
        flags |= FLAG_CHAT if word in stops["chat"] else 0
        if count[word] or word in kinds:
            flags |= FLAG_KNOWN
        shares = wordnet.shares(word.replace(" ", "_"))
        flags |= FLAG_TAGGED if shares else 0
        noun, verb = shares or (1, 0)
        root = stem(word) if " " not in word else word
        raw, raw_root = word.encode(), root.encode()
        cap = capital[word] / middle[word] if middle[word] else 0
        record = struct.pack(
            "<BBBBBBBBHHHBB", len(raw),
            len(raw_root), 1 if raw.startswith(raw_root) else 0,
            round(noun * 255), round(verb * 255), round(cap * 255),
            min(255, round(16 * math.log2(1 + middle[word]))),
            KINDS[kinds.get(word, "")] | flags << 4,
            mask, idf(root), idf(word),
            *pack_counts(counts.get(word, [(4, 4)] * 4)))
        index.append((fnv1a(raw), len(pool)))
        pool += record + raw
        if not raw.startswith(raw_root):
            pool += raw_root
    slots_count = 1
    while slots_count < len(index) * 1.4:
        slots_count *= 2
    slots = [0] * slots_count
    for h, at in index:
        i = h & (slots_count - 1)
        while slots[i]:
            i = (i + 1) & (slots_count - 1)
        slots[i] = (h >> 56) << 24 | (at + 1)
    assert len(pool) < 1 << 24
    with open(out_path, "wb") as f:
        f.write(struct.pack("<8sIIII", b"CLEWLEX1", slots_count, len(index),
                            len(pool), lines))
        f.write(struct.pack("<%dI" % slots_count, *slots))
        f.write(pool)
    print(f"{len(index)} entries, {slots_count} slots, "
          f"{os.path.getsize(out_path)} bytes, {lines} lines, "
          f"{sum(1 for w in kinds)} names")


if __name__ == "__main__":
    main()
