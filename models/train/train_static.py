"""Train the static embedder: a table of one vector a WordPiece token.

    python3 train_static.py --data DIR --out DIR --minutes 8

DIR holds corpus.txt.gz, vocab.txt, gte.pack, minilm.pack (pack-teachers.js)
and stsb-dev.csv and recall.json, which are only ever measured on. Needs PyTorch, a GPU and the
`tokenizers` package. See models/static.md for the recipe in words.

Each step makes a batch of sentences (corpus lines, spans, joins, made-up
ones) and an altered copy of each (words swapped for near ones, dropped,
crossed over), lets both teachers embed them, and moves the students so that
their vectors and their cosines agree with the teachers'.
"""
import argparse
import csv
import gzip
import json
import math
import os
import struct
import time
import unicodedata

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer

from pack import load_pack
from sentences import sentences

DIM = 256
HIDDEN = 256
CLS, SEP = 101, 102
dev = "cuda"


# --- teachers -----------------------------------------------------------------
class Teacher:
    def __init__(self, path, heads=12):
        self.w = {name: torch.tensor(w, device=dev, dtype=torch.float16)
                  for name, w in load_pack(path).items()}
        self.heads = heads
        self.layers = 1 + max(int(k.split(".")[2]) for k in self.w
                              if k.startswith("encoder"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"],
                            self.w[name + ".bias"], 1e-12)

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    @torch.no_grad()
    def __call__(self, ids, mask):
        """Mean-pooled unit vectors of [n, len] ids with specials."""
        n, length = ids.shape
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = x + self.w["embeddings.position_embeddings.weight"][:length]
        x = x + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        bias = torch.zeros(n, 1, 1, length, device=dev, dtype=x.dtype)
        bias.masked_fill_(~mask[:, None, None, :], -30000.0)
        for i in range(self.layers):
            p = f"encoder.layer.{i}."
            q, k, v = (self.linear(x, p + "attention.self." + part)
                       .view(n, length, self.heads, -1).transpose(1, 2)
                       for part in ("query", "key", "value"))
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
            a = a.transpose(1, 2).reshape(n, length, -1)
            x = self.norm(x + self.linear(a, p + "attention.output.dense"),
                          p + "attention.output.LayerNorm")
            h = F.gelu(self.linear(x, p + "intermediate.dense"))
            x = self.norm(x + self.linear(h, p + "output.dense"),
                          p + "output.LayerNorm")
        m = mask[:, :, None].float()
        return F.normalize((x.float() * m).sum(1) / m.sum(1), dim=1)


def with_specials(ids, lens):
    """[n, L] padded ids -> [n, L + 2] with [CLS] and [SEP], and the mask."""
    n, length = ids.shape
    out = torch.zeros(n, length + 2, dtype=torch.long, device=dev)
    out[:, 1:-1] = ids
    out[:, 0] = CLS
    out.scatter_(1, (lens + 1)[:, None], SEP)
    mask = torch.arange(length + 2, device=dev)[None] < (lens + 2)[:, None]
    return out * mask, mask


class Teachers:
    """Both teachers' centred vectors side by side, gte weighted `share`."""

    def __init__(self, data, share):
        self.gte = Teacher(os.path.join(data, "gte.pack"))
        self.minilm = Teacher(os.path.join(data, "minilm.pack"))
        self.share = share
        self.means = None

    def parts(self, ids, lens):
        full, mask = with_specials(ids, lens)
        return self.gte(full, mask), self.minilm(full, mask)

    def __call__(self, ids, lens):
        return self.mix(self.parts(ids, lens), self.share)

    def mix(self, parts, share):
        a, b = (F.normalize(p - m, dim=1) for p, m in zip(parts, self.means))
        return torch.cat([a * math.sqrt(share), b * math.sqrt(1 - share)], 1)

    def plain(self, parts, share):
        a, b = (p * math.sqrt(w / (1 - base)) for p, base, w in
                zip(parts, self.strangers, (share, 1 - share)))
        return torch.cat([a, b], 1)

    def cosines(self, parts, share, centred):
        """All cosines: of centred vectors, or each teacher's own, stretched
        so that strangers are at 0."""
        if centred:
            t = self.mix(parts, share)
            return t @ t.T
        return sum(w * (p @ p.T - base) / (1 - base) for p, base, w in
                   zip(parts, self.strangers, (share, 1 - share)))


# --- text ---------------------------------------------------------------------
class Pool:
    """All token sequences end to end, and draws from them."""

    def __init__(self, seqs, whole_word):
        seqs = [s for s in seqs if len(s) > 0]
        lens = np.array([len(s) for s in seqs])
        flat = np.concatenate([np.array(s) for s in seqs])
        self.flat = torch.tensor(flat, device=dev)
        self.starts = torch.tensor(np.cumsum(lens) - lens, device=dev)
        self.lens = torch.tensor(lens, device=dev)
        self.whole_word = whole_word
        self.by_len = {}

    def lines_up_to(self, length):
        if length not in self.by_len:
            self.by_len[length] = (self.lens <= length).nonzero()[:, 0]
        return self.by_len[length]

    def gather(self, at, n, length):
        pos = torch.arange(length, device=dev)[None]
        mask = pos < n[:, None]
        return self.flat[(at[:, None] + pos).clamp(
            max=len(self.flat) - 1)] * mask

    def lines(self, count, length):
        fit = self.lines_up_to(length)
        pick = fit[torch.randint(len(fit), (count,), device=dev)]
        n = self.lens[pick]
        return self.gather(self.starts[pick], n, length), n

    def spans(self, count, length):
        pick = torch.randint(len(self.lens), (count,), device=dev)
        have = self.lens[pick]
        want = torch.randint(1, length + 1, (count,), device=dev)
        n = torch.minimum(want, have)
        at = (torch.rand(count, device=dev) * (have - n + 1)).long()
        return self.gather(self.starts[pick] + at, n, length), n

    def words(self, count, length):
        n = torch.randint(1, 4, (count,), device=dev)
        ids = self.whole_word[torch.randint(len(self.whole_word),
                                            (count, length), device=dev)]
        return ids * (torch.arange(length, device=dev)[None] < n[:, None]), n

    def joins(self, count, length):
        parts = [self.lines(count, length // 3) for _ in range(3)]
        ids = torch.cat([p[0] for p in parts], 1)
        keep = torch.cat([torch.arange(p[0].shape[1], device=dev)[None]
                          < p[1][:, None] for p in parts], 1)
        return compact(ids, keep, length)

    def draw(self, count, length):
        a = count // 2
        b = count // 4
        c = count // 16
        got = [self.lines(a, length), self.spans(b, length),
               self.words(c, length),
               self.joins(count - a - b - c, length)]
        return torch.cat([g[0] for g in got]), torch.cat([g[1] for g in got])


def compact(ids, keep, length):
    """Move what is kept to the left and cut to `length` columns."""
    order = torch.argsort((~keep).int(), dim=1, stable=True)[:, :length]
    n = keep.sum(1).clamp(max=length)
    ids = ids.gather(1, order)
    if ids.shape[1] < length:
        ids = F.pad(ids, (0, length - ids.shape[1]))
    mask = torch.arange(length, device=dev)[None] < n[:, None]
    return ids * mask, n


def alter(ids, lens, near, pool):
    """A changed copy of each row: near words, other words, drops, crossings."""
    n, length = ids.shape
    pos = torch.arange(length, device=dev)[None]
    mask = pos < lens[:, None]
    kind = torch.randint(6, (n, 1), device=dev)
    r = torch.rand(n, length, device=dev)
    swap = near[ids, torch.randint(near.shape[1], (n, length), device=dev)]
    other = pool.flat[torch.randint(len(pool.flat), (n, length), device=dev)]
    rate = torch.rand(n, 1, device=dev) * .4 + .05
    out = torch.where(((kind == 0) | (kind == 4)) & (r < rate), swap, ids)
    out = torch.where((kind == 1) & (r < rate), other, out)
    cut = (torch.rand(n, 1, device=dev) * lens[:, None]).long()
    crossed = torch.where(pos < cut, ids, ids.roll(1, 0))
    cross_mask = torch.where(pos < cut, mask, mask.roll(1, 0))
    out = torch.where(kind == 3, crossed, out)
    keep = torch.where(kind == 3, cross_mask, mask)
    drop = torch.rand(n, length, device=dev) < rate
    keep = keep & ~(((kind == 2) | (kind == 4)) & drop)
    keep[:, 0] |= ~keep.any(1)
    return compact(out, keep, length)


# --- students -----------------------------------------------------------------
class Student(torch.nn.Module):
    """A table of token vectors, and a head that only training sees.

    The head takes on what the teachers say about form, so that the table
    need not; embed() is what is shipped.
    """

    def __init__(self, table, loss, hidden=HIDDEN, centred=True, bare=0.0):
        super().__init__()
        self.table = torch.nn.Parameter(table.clone())
        self.loss = loss
        self.centred = centred
        self.bare = bare
        self.head = torch.nn.Sequential(
            torch.nn.Linear(DIM, hidden), torch.nn.ReLU(),
            torch.nn.Linear(hidden, DIM, bias=False)).to(dev)
        torch.nn.init.zeros_(self.head[2].weight)

    def embed(self, ids, lens):
        mask = torch.arange(ids.shape[1], device=dev)[None] < lens[:, None]
        v = F.embedding(ids, self.table) * mask[:, :, None]
        return F.normalize(v.sum(1), dim=1)

    def forward(self, z):
        return F.normalize(z + self.head(z * 4), dim=1)


def losses(z, t, target, pairs, w):
    """Agreement of vectors, of all cosines, of the pairs' cosines, of ranks.

    `t` is the matrix of the teachers' cosines, `target` their vectors.
    """
    out = w[0] * (1 - (z * target).sum(1)).mean()
    sz = z @ z.T
    out = out + w[1] * F.mse_loss(sz, t)
    out = out + w[2] * F.mse_loss(sz[pairs[0], pairs[1]],
                                  t[pairs[0], pairs[1]])
    if w[3]:
        rows = torch.randperm(len(z), device=dev)[:2048]
        hole = torch.zeros(len(rows), len(z), device=dev)
        hole[torch.arange(len(rows), device=dev), rows] = -100.0
        p = F.softmax(t[rows] / .05 + hole, 1)
        q = F.log_softmax(sz[rows] / .05 + hole, 1)
        out = out + w[3] * F.kl_div(q, p, reduction="batchmean")
    return out


# --- measuring ----------------------------------------------------------------
def ranks(x):
    order = np.argsort(x, kind="stable")
    out = np.empty(len(x))
    out[order] = np.arange(len(x))
    for value in np.unique(x):
        same = x == value
        out[same] = out[same].mean()
    return out


def spearman(a, b):
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


class Sts:
    def __init__(self, path, encode):
        rows = list(csv.reader(open(path, encoding="utf-8")))
        self.gold = np.array([float(r[2]) for r in rows])
        self.gold_ranks = ranks(self.gold)
        self.sides = [pad(encode([r[i] for r in rows])) for i in (0, 1)]

    def score(self, model):
        with torch.no_grad():
            a, b = (model(*side) for side in self.sides)
            cos = (a * b).sum(1).double().cpu().numpy()
        return float(np.corrcoef(ranks(cos), self.gold_ranks)[0, 1])


class Recall:
    """Optional: how often the turns that answer a question are among the ten
    nearest. recall.json: [{"turns": [text], "queries": [[text, [turn]]]}]."""

    def __init__(self, path, encode):
        self.stores = []
        for store in json.load(open(path)) if os.path.exists(path) else []:
            self.stores.append((
                pad(encode(store["turns"])),
                pad(encode([q for q, _ in store["queries"]])),
                [e for _, e in store["queries"]]))

    def text(self, embed):
        return f"/{self.score(embed):.4f}" if self.stores else ""

    def score(self, embed):
        hits = []
        with torch.no_grad():
            for turns, queries, evidence in self.stores:
                top = (embed(*queries) @ embed(*turns).T).topk(10, 1)[1]
                for row, e in zip(top.tolist(), evidence):
                    hits.append(len(set(row) & set(e)) / max(1, len(e)))
        return sum(hits) / max(1, len(hits))


def pad(seqs):
    lens = torch.tensor([len(s) for s in seqs], device=dev)
    ids = torch.zeros(len(seqs), int(lens.max()), dtype=torch.long)
    for i, s in enumerate(seqs):
        ids[i, :len(s)] = torch.tensor(s)
    return ids.to(dev), lens


# --- the file -----------------------------------------------------------------
def quantise(table):
    """int8 rows and a 15-bit scale each; rows are q * scale."""
    t = table.detach().cpu().numpy().astype(np.float64)
    top = np.abs(t).max(1) / 127
    unit = top.max() / 32767
    scale = np.maximum(1, np.ceil(top / unit)).astype(np.int64)
    q = np.clip(np.rint(t / (scale * unit)[:, None]), -127, 127)
    return q.astype(np.int8), scale.astype(np.uint16), unit


def can_occur(word):
    """False for tokens no text gives: unused ones, and pieces that go on with
    a character that always stands alone."""
    if word.startswith("[unused"):
        return False
    return not (word.startswith("##") and len(word) == 3
                and (unicodedata.category(word[2])[0] == "P"
                     or word[2] in "$+<=>^`|~" or is_cjk(ord(word[2]))))


def is_cjk(c):
    return (0x4E00 <= c <= 0x9FFF or 0x3400 <= c <= 0x4DBF
            or 0xF900 <= c <= 0xFAFF or 0x20000 <= c <= 0x2FA1F)


def export(table, vocab, path):
    """models/static.md describes the file."""
    keep = [i for i, word in enumerate(vocab) if can_occur(word)]
    q, scale, _ = quantise(table[keep])
    words = ("\n".join(vocab[i] for i in keep) + "\n").encode()
    parts = [q.tobytes(), scale.astype("<u2").tobytes()]
    parts = [p.ljust(-(-len(p) // 64) * 64, b"\0") for p in parts]
    second = 64 + len(parts[0])
    third = second + len(parts[1])
    head = struct.pack("<8s6I32s", b"clewvec1", len(keep), DIM, 64, second,
                       third, len(words), b"clew-static-1")
    with open(path, "wb") as f:
        f.write(head + b"".join(parts) + words)


def rounded(table):
    """The table as export() writes it."""
    q, scale, unit = quantise(table)
    return torch.tensor(q.astype(np.float32) * (scale * unit)[:, None],
                        device=dev, dtype=torch.float32)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--minutes", type=float, default=8)
    ap.add_argument("--share", type=float, default=.75)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--made", type=int, default=60000)
    ap.add_argument("--only", default="")
    args = ap.parse_args()
    begin = time.time()
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = True

    vocab = open(os.path.join(args.data, "vocab.txt"),
                 encoding="utf-8").read().split("\n")[:30522]
    tok = BertWordPieceTokenizer(os.path.join(args.data, "vocab.txt"),
                                 lowercase=True)

    def encode(texts):
        return [e.ids for e in tok.encode_batch(texts,
                                                add_special_tokens=False)]

    whole = torch.tensor([i for i, w in enumerate(vocab) if i >= 999
                          and not w.startswith("##")], device=dev)
    text = gzip.open(os.path.join(args.data, "corpus.txt.gz"), "rt",
                     encoding="utf-8").read().split("\n")
    # "word: definition" is also taught without its head
    text += [t.split(": ", 1)[1] for t in text if 0 < t.find(": ") < 30]
    corpus = encode(text)
    pool = Pool(corpus + encode(sentences(args.made, 7)), whole)
    print("lines", len(pool.lens), "tokens", len(pool.flat),
          f"{time.time() - begin:.0f}s", flush=True)

    teachers = Teachers(args.data, args.share)
    sample = [teachers.parts(*pool.draw(4096, 24)) for _ in range(8)]
    teachers.means = [torch.cat([s[i] for s in sample]).mean(0)
                      for i in (0, 1)]
    teachers.strangers = [float((p @ p.T).mean()) for p in
                          (torch.cat([s[i] for s in sample[:2]])
                           for i in (0, 1))]
    print("strangers", teachers.strangers)
    sts = Sts(os.path.join(args.data, "stsb-dev.csv"), encode)
    recall = Recall(os.path.join(args.data, "recall.json"), encode)
    print("teachers on dev: gte", sts.score(lambda i, n:
                                            teachers.parts(i, n)[0]),
          "minilm", sts.score(lambda i, n: teachers.parts(i, n)[1]))
    for share in (0., .25, .5, .75, 1.):
        print("  mixed", share, sts.score(
            lambda i, n: teachers.mix(teachers.parts(i, n), share)),
            recall.text(lambda i, n: teachers(i, n)) if share == .75 else "",
            "as they are", sts.score(
            lambda i, n: teachers.plain(teachers.parts(i, n), share)))

    # start: each token alone through the teachers, in the 256 widest axes of
    # the teachers' sentences, weighted down by how common it is
    ids = torch.arange(len(vocab), device=dev)[:, None]
    one = torch.ones(4096, dtype=torch.long, device=dev)
    alone = torch.cat([teachers(c, one[:len(c)]) for c in ids.split(4096)])
    cloud = torch.cat([teachers.mix(s, args.share) for s in sample])
    axes = torch.linalg.svd(cloud, full_matrices=False)[2][:DIM].T
    freq = torch.bincount(pool.flat, minlength=len(vocab)).float()
    freq = freq / freq.sum()
    table = alone @ axes * (1e-3 / (1e-3 + freq))[:, None]
    words = F.normalize(alone[whole], dim=1)
    near = torch.arange(len(vocab), device=dev)[:, None].repeat(1, 16)
    for part in whole.split(4096):
        top = (F.normalize(alone[part], dim=1) @ words.T).topk(17, 1)[1]
        near[part] = whole[top[:, 1:]]
    print("start", sts.score(Student(table, None).embed),
          f"{time.time() - begin:.0f}s", flush=True)

    full = (1, 10, 10, .3)
    kinds = {
        "head": Student(table, full),
        "wide": Student(table, full, hidden=1024),
        "plain": Student(table, full, centred=False),
        "both": Student(table, full, bare=.3),
    }
    students = {k: v for k, v in kinds.items()
                if not args.only or k in args.only.split(",")}
    optims = {k: torch.optim.Adam(s.parameters(), lr=args.lr,
                                  betas=(.9, .99))
              for k, s in students.items()}
    shapes = [(1536, 12), (1536, 28), (192, 96)]
    limit = args.minutes * 60
    start = time.time()
    step = 0
    report = 0
    while True:
        done = (time.time() - start) / limit
        if done >= 1:
            break
        for o in optims.values():
            o.param_groups[0]["lr"] = args.lr * min(1, (step + 1) / 200) \
                * (.5 + .5 * math.cos(math.pi * done))
        parts = []
        pairs = [[], []]
        n = 0
        for count, length in shapes:
            ids, lens = pool.draw(count, length)
            parts += [(ids, lens), alter(ids, lens, near, pool)]
            pairs[0].append(torch.arange(n, n + count, device=dev))
            pairs[1].append(torch.arange(n + count, n + 2 * count, device=dev))
            n += 2 * count
        pairs = [torch.cat(p) for p in pairs]
        both = [teachers.parts(*p) for p in parts]
        both = [torch.cat([p[i] for p in both]) for i in (0, 1)]
        target = F.normalize(teachers.mix(both, args.share) @ axes, dim=1)
        t = {c: teachers.cosines(both, args.share, c) for c in
             {student.centred for student in students.values()}}
        for name, student in students.items():
            z = torch.cat([student.embed(*p) for p in parts])
            goal = (t[student.centred], target, pairs, student.loss)
            loss = losses(student(z), *goal)
            if student.bare:
                loss = loss + student.bare * losses(z, *goal)
            optims[name].zero_grad(set_to_none=True)
            loss.backward()
            optims[name].step()
        step += 1
        if time.time() - start > report:
            report += max(15, limit / 12)
            print(f"{time.time() - begin:4.0f}s step {step}", " ".join(
                f"{k} {sts.score(v.embed):.4f}" + recall.text(v.embed)
                for k, v in students.items()), flush=True)
    for name, student in students.items():
        student.table.data = rounded(student.table)
        print("final", name, f"{sts.score(student.embed):.4f}"
              + recall.text(student.embed))
        export(student.table, vocab, os.path.join(args.out, name + ".bin"))
    print("steps", step, f"{time.time() - begin:.0f}s")


if __name__ == "__main__":
    main()
