"""Train the reader: one encoder, heads that read a turn, heads that compare.

    python3 train_reader.py --data DIR --out DIR [--minutes 8] [--teachers 2]
    python3 train_reader.py --data DIR --out DIR --tune reader.bin [--minutes 4]
    python3 train_reader.py --data DIR --out DIR --tune reader.bin --top note,...

DIR holds examples.json.xz (reader_examples.py), vocab.txt, minilm.pack and
gte.pack (pack-teachers.js), and worlds-dev.json, which is only measured on.
Needs PyTorch, a GPU and the `tokenizers` package. models/reader.md tells the
recipe in words.

1. Teachers: gte-small (12 layers), each trained on the labels from another seed.
2. The student: MiniLM (6 layers), trained on the labels, then on the labels
   and on what the teachers say of texts that carry none, rounded to int8 in
   every step as it will be when it is shipped.

--tune trains an earlier file on: reading by the labels (short talks three
times as often) and, with --teachers, by what they say of texts without; notes
and endings by the labels and by what that file said itself; questions and
matters by the latter alone, so that what was set by them stays, but for the
share that --answers, --notes and --matters name.

--top trains the layers after --read-layer on for a few kinds of pairs alone
and leaves all else as it is: a second top, written to top.npz, which
put_top.py puts into a reader's file. Where answers are among them, turns of
other worlds that the file itself likes as answers are refused, too: a store
holds more than one world.
"""
import argparse
import collections
import json
import lzma
import math
import os
import random
import re
import struct
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer

from reader_examples import (DATE, UNKNOWN_GOES_ON, UNRELATED, World, both, day,
                             goes_on, said, split, stretch, two_answers)
from pack import load_pack
import reader_file

dev = "cuda"
CLS, SEP = 101, 102
MAX_TOKENS, BEFORE, A_TOKENS, B_TOKENS = 256, 48, 64, 128
HEADS = {"keep": 7, "flag": 4, "about": 4, "act": 6, "goes": 1, "answer": 1,
         "note": 5, "ending": 5, "matter": 1, "newer": 1}
READ = ("keep", "flag", "about", "act")  # of a sentence
FOUND = ("note", "ending")  # of which there are pairs as the program finds them
TURN = "goes"  # of a whole turn: it goes on with what was said before


# --- the encoder ----------------------------------------------------------------
def open_pack(path):
    return {name: torch.tensor(w) for name, w in load_pack(path).items()}


def open_file(path, vocab, kind=None):
    """A reader's file as a pack, and its heads; rows in the order of vocab. The
    layers are those that this kind of pairs is read with."""
    blob = open(path, "rb").read()
    n = struct.unpack("<Q", blob[:8])[0]
    head = json.loads(blob[8:8 + n])
    has_top = kind in head["__metadata__"].get("top_kinds", "").split()
    types = {"I8": np.int8, "F32": np.float32, "U8": np.uint8}

    def get(name):
        e = head[name]
        a = np.frombuffer(blob, types[e["dtype"]], int(np.prod(e["shape"])),
                          8 + n + e["data_offsets"][0]).reshape(e["shape"])
        if e["dtype"] == "I8":
            a = a.astype(np.float32) * get(name + ".scale")[:, None]
        return a.astype(np.float32) if e["dtype"] != "U8" else a

    names = {t.rstrip("\n"): i for i, t in enumerate(open(vocab, encoding="utf8"))}
    few = get("embed.words")
    words = np.zeros((len(names), few.shape[1]), np.float32)
    for row, token in zip(few, bytes(get("vocab")).decode().split("\n")):
        words[names[token]] = row
    out = {"embeddings.word_embeddings.weight": words,
           "embeddings.position_embeddings.weight": get("embed.positions"),
           "embeddings.token_type_embeddings.weight": get("embed.types"),
           "embeddings.LayerNorm.weight": get("embed.norm.weight"),
           "embeddings.LayerNorm.bias": get("embed.norm.bias")}
    i = 0
    while f"layer.{i}.qkv" in head:
        to, at = f"encoder.layer.{i}.", f"layer.{i}."
        if has_top and f"top.{i}.qkv" in head:
            at = f"top.{i}."
        qkv, bias = get(at + "qkv"), get(at + "qkv.bias")
        dim = qkv.shape[1]
        for k, part in enumerate(("query", "key", "value")):
            out[to + f"attention.self.{part}.weight"] = \
                qkv[k * dim:(k + 1) * dim]
            out[to + f"attention.self.{part}.bias"] = \
                bias[k * dim:(k + 1) * dim]
        for ours, theirs in (("attention", "attention.output.dense"),
                             ("inner", "intermediate.dense"),
                             ("outer", "output.dense")):
            out[to + theirs + ".weight"] = get(at + ours)
            out[to + theirs + ".bias"] = get(at + ours + ".bias")
        for ours, theirs in (("attention_norm", "attention.output.LayerNorm"),
                             ("outer_norm", "output.LayerNorm")):
            for x in (".weight", ".bias"):
                out[to + theirs + x] = get(at + ours + x)
        i += 1
    heads = {k: (torch.tensor(get("head." + k)),
                 torch.tensor(get("head." + k + ".bias"))) for k in HEADS
             if "head." + k in head}
    return {k: torch.tensor(v.copy()) for k, v in out.items()}, heads


def top_kinds(path):
    """Kinds of pairs that a reader's file reads with its second top."""
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    return tuple(head["__metadata__"].get("top_kinds", "").split())


class Round(torch.autograd.Function):
    """Round to int8 by the largest of each row; gradients pass."""

    @staticmethod
    def forward(ctx, x):
        s = x.abs().amax(-1, keepdim=True).clamp_min(1e-12) / 127
        return torch.round(x / s) * s

    @staticmethod
    def backward(ctx, g):
        return g


class Dense(nn.Linear):
    rounds = False

    def forward(self, x):
        if self.rounds:
            w = Round.apply(self.weight)
            x = Round.apply(x.float()).to(x.dtype)
            return F.linear(x, w.to(x.dtype), self.bias.to(x.dtype))
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Layer(nn.Module):
    def __init__(self, dim, inner, heads):
        super().__init__()
        self.heads = heads
        self.qkv = Dense(dim, 3 * dim)
        self.attention = Dense(dim, dim)
        self.attention_norm = nn.LayerNorm(dim, eps=1e-12)
        self.inner = Dense(dim, inner)
        self.outer = Dense(inner, dim)
        self.outer_norm = nn.LayerNorm(dim, eps=1e-12)
        self.drop = nn.Dropout(.1)

    def forward(self, x, bias):
        n, length, dim = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1) \
            .permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        a = a.transpose(1, 2).reshape(n, length, dim)
        x = self.attention_norm(x + self.drop(self.attention(a)))
        h = F.gelu(self.inner(x))
        return self.outer_norm(x + self.drop(self.outer(h)))


class Encoder(nn.Module):
    def __init__(self, pack, read_layer):
        super().__init__()
        w = open_pack(pack) if isinstance(pack, str) else pack
        dim = w["embeddings.word_embeddings.weight"].shape[1]
        n = 1 + max(int(k.split(".")[2]) for k in w if k.startswith("encoder"))
        inner = w["encoder.layer.0.intermediate.dense.weight"].shape[0]
        self.words = nn.Parameter(w["embeddings.word_embeddings.weight"])
        self.positions = nn.Parameter(
            w["embeddings.position_embeddings.weight"][:MAX_TOKENS].clone())
        self.types = nn.Parameter(w["embeddings.token_type_embeddings.weight"])
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.drop = nn.Dropout(.1)
        self.layers = nn.ModuleList(Layer(dim, inner, 12) for _ in range(n))
        self.read_layer = min(read_layer, n)
        self.top_kinds = ()
        self.heads = nn.ModuleDict({k: nn.Linear(dim, c)
                                    for k, c in HEADS.items()})
        # reading after the last layer too: only to see what the depth is worth
        self.deep = nn.ModuleDict({k: nn.Linear(dim, HEADS[k])
                                   for k in (*READ, TURN)})
        with torch.no_grad():
            put = lambda m, name: (m.weight.copy_(w[name + ".weight"]),
                                   m.bias.copy_(w[name + ".bias"]))
            put(self.norm, "embeddings.LayerNorm")
            for i, layer in enumerate(self.layers):
                p = f"encoder.layer.{i}."
                for k, part in enumerate(("query", "key", "value")):
                    name = p + "attention.self." + part
                    layer.qkv.weight[k * dim:(k + 1) * dim] = w[name + ".weight"]
                    layer.qkv.bias[k * dim:(k + 1) * dim] = w[name + ".bias"]
                put(layer.attention, p + "attention.output.dense")
                put(layer.attention_norm, p + "attention.output.LayerNorm")
                put(layer.inner, p + "intermediate.dense")
                put(layer.outer, p + "output.dense")
                put(layer.outer_norm, p + "output.LayerNorm")

    def set_rounds(self, on):
        self.rounds = on
        for m in self.modules():
            if isinstance(m, Dense):
                m.rounds = on
        return self

    rounds = False

    def freeze(self, kinds):
        """Only the last layers and the heads of these kinds are trained."""
        for name, p in self.named_parameters():
            p.requires_grad_(
                name.startswith(tuple(f"heads.{k}." for k in kinds)) or
                name.startswith("layers.") and
                int(name.split(".")[1]) >= self.read_layer)

    def put_top(self, other, kinds):
        """The layers after read_layer once more, for some kinds of pairs."""
        self.top = other.layers[self.read_layer:]
        self.top_kinds = kinds

    def run(self, ids, types, mask, layers=None, kind=None):
        words = Round.apply(self.words) if self.rounds else self.words
        x = F.embedding(ids, words) + self.positions[:ids.shape[1]] + \
            self.types[types]
        x = self.drop(self.norm(x))
        bias = torch.zeros(ids.shape[0], 1, 1, ids.shape[1], device=dev,
                           dtype=torch.bfloat16)
        bias.masked_fill_(~mask[:, None, None, :], -30000.0)
        shallow = None
        all_layers = self.layers
        if kind in self.top_kinds:
            all_layers = [*self.layers[:self.read_layer], *self.top]
        for i, layer in enumerate(all_layers[:layers]):
            x = layer(x, bias)
            if i + 1 == self.read_layer:
                shallow = x
        return x, shallow


# --- texts to tokens --------------------------------------------------------------
class Tokens:
    def __init__(self, vocab):
        self.bert = BertWordPieceTokenizer(vocab, lowercase=True)
        self.bert.no_truncation()
        self.known = {}

    def __call__(self, text):
        ids = self.known.get(text)
        if ids is None:
            ids = self.bert.encode(text[:4000], add_special_tokens=False).ids
            if len(text) < 400:
                self.known[text] = ids
        return ids

    def warm(self, texts):
        texts = [t[:4000] for t in dict.fromkeys(texts)]
        for k in range(0, len(texts), 20000):
            part = texts[k:k + 20000]
            for t, e in zip(part, self.bert.encode_batch(
                    part, add_special_tokens=False)):
                self.known[t] = e.ids

    def pair(self, a, b):
        a, b = self(a)[:A_TOKENS], self(b)[:B_TOKENS]
        return ([CLS] + a + [SEP] + b + [SEP],
                [0] * (len(a) + 2) + [1] * (len(b) + 1))

    def turn(self, row):
        """Ids, types and, for each sentence that is seen, its tokens."""
        head = [CLS] + self(row["before"])[-BEFORE:] + [SEP]
        ids = head + self(row["speaker"] + ":")
        where = []
        for s in row["sentences"]:
            t = self(s)
            if len(ids) + len(t) + 1 > MAX_TOKENS:
                t = t[:MAX_TOKENS - 1 - len(ids)] if not where else []
            if not t:
                break
            where.append((len(ids), len(ids) + len(t)))
            ids = ids + t
        ids = ids + [SEP]
        return ids, [0] * len(head) + [1] * (len(ids) - len(head)), where


def stack(items):
    """Lists of (ids, types, ...) to padded tensors."""
    length = max(len(i[0]) for i in items)
    length = min(MAX_TOKENS, (length + 15) // 16 * 16)
    ids = np.zeros((len(items), length), np.int64)
    types = np.zeros_like(ids)
    mask = np.zeros(ids.shape, bool)
    for r, item in enumerate(items):
        n = min(length, len(item[0]))
        ids[r, :n] = item[0][:n]
        types[r, :n] = item[1][:n]
        mask[r, :n] = True
    t = lambda x: torch.from_numpy(x).pin_memory().to(dev, non_blocking=True)
    return t(ids), t(types), t(mask)


def mean(x, mask):
    m = mask[:, :, None].to(x.dtype)
    return (x * m).sum(1).float() / m.sum(1).float()


def pooled_sentences(x, wheres):
    """Mean vectors of all sentences of a batch, one after another."""
    sums = torch.cat([torch.zeros_like(x[:, :1]), x], 1).float().cumsum(1)
    rows, starts, ends = [], [], []
    for r, where in enumerate(wheres):
        for a, b in where:
            rows.append(r)
            starts.append(a)
            ends.append(b)
    t = lambda v: torch.tensor(v, device=dev)
    rows, starts, ends = t(rows), t(starts), t(ends)
    return (sums[rows, ends] - sums[rows, starts]) / \
        (ends - starts)[:, None].float()


# --- losses -----------------------------------------------------------------------
def soft_ce(logits, targets):
    return -(targets * F.log_softmax(logits, -1)).sum(-1).mean()


class Trainer:
    def __init__(self, model, tokens, tasks, seed):
        self.model, self.tokens, self.tasks = model, tokens, tasks
        self.rng = random.Random(seed)
        self.queues = {}

    def draw(self, key, n):
        out = []
        while len(out) < n:
            q = self.queues.get(key)
            if not q:
                q = list(range(len(self.tasks[key])))
                self.rng.shuffle(q)
                self.queues[key] = q
            out.append(self.tasks[key][q.pop()])
        return out

    def read_outputs(self, model, rows, deep):
        items = [self.tokens.turn(r) for r in rows]
        ids, types, mask = stack(items)
        x, shallow = model.run(ids, types, mask)
        wheres = [i[2] for i in items]
        whole = [[(w[0][0], len(i[0]))] if w else [(0, len(i[0]))]
                 for i, w in zip(items, wheres)]
        out = {}
        for prefix, y, heads in ([("", shallow, model.heads)] +
                                 ([("deep.", x, model.deep)] if deep else [])):
            v = pooled_sentences(y, wheres)
            out.update({prefix + k: heads[k](v) for k in READ})
            out[prefix + TURN] = heads[TURN](pooled_sentences(y, whole))[:, 0]
        return out, wheres

    def read(self, n):
        rows = self.draw("read", n)
        with torch.autocast("cuda", torch.bfloat16):
            out, wheres = self.read_outputs(self.model, rows, True)
        t = lambda v, d=torch.long: torch.tensor(v, device=dev, dtype=d)
        flat = lambda name: [v for r, w in zip(rows, wheres)
                             for v in r[name][:len(w)]]
        keep, act, about = t(flat("keep")), t(flat("act")), t(flat("about"))
        flags = t(flat("flags"), torch.float)
        loss = 0
        listed = (keep > 0) | (act > 0) | (flags.sum(1) > 0)
        goes = t([r["goes"] for r in rows], torch.float)
        known = goes >= 0
        for p, w in (("", 1.0), ("deep.", .5)):
            g = lambda k: out[p + k].float()
            if known.any():
                loss += w * .6 * F.binary_cross_entropy_with_logits(
                    g(TURN)[known], goes[known])
            loss += w * (F.cross_entropy(g("keep"), keep) +
                         F.cross_entropy(g("act"), act, weight=self.act_weight))
            # flags and whom it is about are labelled on listed sentences only
            if listed.any():
                loss += w * .5 * F.binary_cross_entropy_with_logits(
                    g("flag")[listed], flags[listed])
                if (about >= 0).any():
                    loss += w * .3 * F.cross_entropy(g("about"), about,
                                                     ignore_index=-1)
        return loss

    act_weight = None
    by_labels = ()  # tasks whose labelled texts are left to the labels

    def pairs(self, model, pairs, kind):
        items = [self.tokens.pair(a, b) for a, b in pairs]
        ids, types, mask = stack(items)
        with torch.autocast("cuda", torch.bfloat16):
            x, _ = model.run(ids, types, mask, kind=kind)
        return mean(x, mask)

    def answer(self, n, key="answer"):
        rows = self.draw(key, n)
        pairs, groups = [], []
        for r in rows:
            pos = [self.rng.choice(r["pos"])] if r["pos"] else []
            hard = r["neg"][:r["hard"]]
            rest = r["neg"][r["hard"]:]
            liked = r.get("liked", [])
            far = self.rng.sample(liked, min(len(liked), 4))
            near = hard + self.rng.sample(rest, min(len(rest), 7))
            neg = near[:7 - len(far)] + [self.redate(p, r) for p in far]
            groups.append((len(pairs), len(pos), len(neg)))
            q = self.keywords(self.undate(r["q"]))
            pairs += [(q, self.undate(p)) for p in pos + neg]
        v = self.pairs(self.model, pairs, "answer")
        logit = self.model.heads["answer"](v).float()[:, 0]
        loss, target = 0, torch.zeros(len(pairs), device=dev)
        for at, n_pos, n_neg in groups:
            if n_pos:
                target[at] = 1
                loss += F.cross_entropy(logit[at:at + n_pos + n_neg][None],
                                        torch.zeros(1, dtype=torch.long,
                                                    device=dev))
        return loss / len(rows) + F.binary_cross_entropy_with_logits(
            logit, target, pos_weight=torch.tensor(2.0, device=dev))

    def undate(self, text):
        """Leave the date out now and then: not every talk has one."""
        return DATE.sub("", text) if self.rng.random() < .15 else text

    def redate(self, text, row):
        """A turn of another world as if of a day of this one: what tells it
        apart must be what it says."""
        day = DATE.match(self.rng.choice(row["pos"] + row["neg"]))
        return (day[0] if day else "") + DATE.sub("", text)

    def keywords(self, text):
        """Leave now and then all words out that many questions have."""
        if self.rng.random() >= .12:
            return text
        day = DATE.match(text)
        few = [w for w in re.findall(r"[^\s?.,!]+", DATE.sub("", text))
               if w.lower() not in self.common]
        return (day[0] if day else "") + " ".join(few) if few else text

    common = frozenset()

    def far(self, rows):
        """What has nothing to do with each other: turns of other worlds, of two
        the one that looks more like it. Within a world even another matter is
        of the same people, and a model that saw nothing else takes a turn about
        a server for one about a cello, the only effort that is there."""
        pairs = []
        for r in rows:
            others = [x for x in rows if x["lang"] == r["lang"] and
                      (x.get("world") or x["a"]) != (r.get("world") or r["a"])]
            pairs += [{"a": r["a"], "b": x["b"], "y": UNRELATED}
                      for x in self.rng.sample(others, min(2, len(others)))]
        with torch.no_grad():
            v = self.pairs(self.model, [(r["a"], r["b"]) for r in pairs],
                           "ending")
            like = -self.model.heads["ending"](v).float()[:, UNRELATED]
        best = {}
        for r, p in zip(pairs, like.tolist()):
            if p > best.get(r["a"], (None, -1e9))[1]:
                best[r["a"]] = r, p
        return [r for r, _ in best.values()]

    def group(self, task, n):
        rows = self.draw(task, n)
        if task == "ending":
            rows += self.far(self.rng.sample(rows, n // 3))
        v = self.pairs(self.model, [(r["a"], r["b"]) for r in rows], task)
        y = torch.tensor([r["y"] for r in rows], device=dev)
        logit = self.model.heads[task](v).float()
        known = y >= 0
        loss = torch.zeros((), device=dev)
        if known.any():
            loss = F.cross_entropy(logit[known], y[known])
        if (~known).any():
            p = F.softmax(logit[~known], -1)
            bad = p[:, 0] + p[:, 1] if task == "ending" else p[:, 1] + p[:, 2]
            bad = bad + p[:, UNRELATED] * (y[~known] == UNKNOWN_GOES_ON)
            loss = loss + .5 * -torch.log((1 - bad).clamp_min(1e-4)).mean()
        return loss

    def note(self, n):
        return self.group("note", n)

    def ending(self, n):
        return self.group("ending", n)

    def newer(self, n):
        return self.matter(n, "newer")

    def matter(self, n, task="matter"):
        rows = self.draw(task, n)
        v = self.pairs(self.model, [(r["a"], r["b"]) for r in rows], task)
        y = torch.tensor([float(r["y"]) for r in rows], device=dev)
        return F.binary_cross_entropy_with_logits(
            self.model.heads[task](v).float()[:, 0], y)

    # what the teachers say, on anything
    def distil_pairs(self, teachers, task, n):
        key, head = ("soft." + task, task)
        if task == "answer":
            rows = self.draw("soft.pair_answer", n // 2)
            pairs = [(r["a"], r["b"]) for r in rows]
            for r in self.draw("answer", n // 8):
                both = r["pos"] + r["neg"]
                pairs += [(r["q"], p) for p in
                          self.rng.sample(both, min(4, len(both)))]
        else:
            rows = self.draw(key, n * 2 // 3)
            if task not in self.by_labels:
                rows += self.draw(task, n // 3)
            pairs = [(r["a"], r["b"]) for r in rows]
        with torch.no_grad():
            t = [m.heads[head](self.pairs(m, pairs, head)).float()
                 for m in teachers]
        s = self.model.heads[head](self.pairs(self.model, pairs, head)).float()
        if head in ("answer", "matter"):
            target = torch.stack([torch.sigmoid(x) for x in t]).mean(0)
            logit = torch.stack(t).mean(0)
            return F.binary_cross_entropy_with_logits(s, target) + \
                .02 * F.mse_loss(s, logit)
        target = torch.stack([F.softmax(x, -1) for x in t]).mean(0)
        return soft_ce(s, target)

    def distil_read(self, teachers, n, deep=True):
        rows = self.draw("soft.read", n // 2) + self.draw("read", n // 2)
        with torch.autocast("cuda", torch.bfloat16):
            with torch.no_grad():
                t = [self.read_outputs(m, rows, deep)[0] for m in teachers]
            s, _ = self.read_outputs(self.model, rows, False)
        loss = 0
        for k in (*READ, TURN):
            teach = [x[("deep." if deep else "") + k].float() for x in t]
            if k in ("flag", TURN):
                target = torch.stack([torch.sigmoid(x) for x in teach]).mean(0)
                loss += F.binary_cross_entropy_with_logits(s[k].float(), target)
            else:
                target = torch.stack([F.softmax(x, -1) for x in teach]).mean(0)
                loss += soft_ce(s[k].float(), target)
        return loss


# of a question: turns of other worlds that are tried beside those that share
# its words, those of them that it is trained to refuse, and how sure of one the
# file may be
AT_RANDOM, LIKED, SURE = 100, 12, .9
MIX = (("read", 48, 3), ("answer", 24, 3), ("note", 96, 2), ("ending", 96, 2),
       ("matter", 96, 1), ("newer", 96, 2))
# while a file is trained on: how often a task goes by labels, else by teachers
# (reading) or by what the file said itself
BY_LABELS = {"read": .5, "answer": 0, "note": .85, "ending": .5, "matter": 0,
             "newer": 1}


def optimiser(model, lr):
    named = [(k, p) for k, p in model.named_parameters() if p.requires_grad]
    heads = [p for k, p in named if k.startswith(("heads", "deep"))]
    body = [p for k, p in named if not k.startswith(("heads", "deep"))]
    return torch.optim.AdamW([{"params": body, "lr": lr},
                              {"params": heads, "lr": lr * 10}],
                             weight_decay=.01, fused=True)


def train(model, tokens, tasks, seed, seconds=None, steps=None, lr=5e-5,
          teachers=None, own=None, hold=False, public_steps=0, say="",
          only=()):
    model.train()
    trainer = Trainer(model, tokens, tasks, seed)
    if own:
        trainer.by_labels = [k for k, share in BY_LABELS.items() if share]
    Trainer.act_weight = torch.tensor([1., 2., .7, 3., 3., 4.], device=dev)
    opt = optimiser(model, lr)
    plan = [m for m in MIX
            for _ in range(m[2] * (3 if own and m[0] == "read" else 1))
            if not only or m[0] in only]
    start, done, shown = time.time(), 0, collections.defaultdict(list)
    base = [g["lr"] for g in opt.param_groups]
    while True:
        at = done / steps if steps else (time.time() - start) / seconds
        if at >= 1:
            break
        scale = min(1, done / 200) * (.5 + .5 * math.cos(math.pi * at))
        for g, b in zip(opt.param_groups, base):
            g["lr"] = b * max(scale, .02)
        if done < public_steps and done % 2 == 0:
            task, loss = "public", trainer.answer(24, "public")
        else:
            task, n, _ = trainer.rng.choice(plan)
            holds = own and (task != "read" or hold)
            guides = own.get(task) or own[""] if holds else teachers
            # nobody has said yet which of two answers is the newer
            share = BY_LABELS[task] if own or task == "newer" else .35
            if guides and trainer.rng.random() >= share:
                loss = (trainer.distil_read(guides, n, not hold)
                        if task == "read" else
                        trainer.distil_pairs(guides, task, n * 8
                                             if task == "answer" else n * 2))
                task = "soft." + task
            else:
                loss = getattr(trainer, task)(n)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        done += 1
        shown[task].append(loss.detach())
        if done % 1000 == 0:
            print(say, done, f"{time.time() - start:.0f}s", {
                k: round(torch.stack(v).mean().item(), 3)
                for k, v in sorted(shown.items())}, flush=True)
            shown.clear()
    print(say, "steps", done, f"{time.time() - start:.0f}s", flush=True)
    model.eval()
    return model


# --- what it is worth, on worlds it has not seen ------------------------------
def auc(pos, neg):
    if not len(pos) or not len(neg):
        return float("nan")
    s = np.concatenate([pos, neg])
    order = s.argsort(kind="mergesort")
    ranks = np.empty(len(s))
    ranks[order] = np.arange(1, len(s) + 1)
    for v in np.unique(s):
        ranks[s == v] = ranks[s == v].mean()
    return (ranks[:len(pos)].sum() - len(pos) * (len(pos) + 1) / 2) / \
        (len(pos) * len(neg))


def best_f1(pos, neg):
    best = (0, 0)
    for t in np.quantile(np.concatenate([pos, neg]), np.linspace(0, 1, 200)):
        tp, fp = (pos >= t).sum(), (neg >= t).sum()
        best = max(best, (2 * tp / max(1, tp + fp + len(pos)), t))
    return best


@torch.no_grad()
def score_pairs(model, tokens, task, pairs):
    trainer = Trainer(model, tokens, {}, 0)
    out = []
    for k in range(0, len(pairs), 512):
        z = model.heads[task](trainer.pairs(model, pairs[k:k + 512],
                                            task)).float()
        out.append(torch.sigmoid(z[:, 0]) if HEADS[task] == 1
                   else F.softmax(z, -1))
    return torch.cat(out).cpu().numpy()


@torch.no_grad()
def measure(model, tokens, worlds, held, name):
    trainer = Trainer(model, tokens, {}, 0)
    M = collections.defaultdict(list)
    for group in ("en", "other"):
        ws = [w for w in worlds if (w.lang == "en") == (group == "en")]
        R = collections.defaultdict(list)
        for w in ws:
            rows = [{"speaker": "assistant" if t["role"] == "assistant" else
                     t.get("name") or "user", "sentences": split(t["text"])[:24],
                     "before": " ".join(said(b) for b in w.before[i])}
                    for i, t in enumerate(w.turns)]
            noted = {t for m in w.gold["memories"] for t in m["turns"]}
            opens = {e["open"] for e in w.gold["efforts"]}
            with torch.autocast("cuda", torch.bfloat16):
                out, wheres = trainer.read_outputs(model, rows, True)
            for p in ("", "deep."):
                goes = torch.sigmoid(out[p + TURN].float())
                for t, before, g in zip(w.turns, w.before, goes):
                    y = goes_on(t, before)
                    if y >= 0 and t["role"] == "user":
                        R[p + ("goes-" if y else "goes+")].append(-g.item())
                keep = 1 - F.softmax(out[p + "keep"].float(), -1)[:, 0]
                act = F.softmax(out[p + "act"].float(), -1)[:, 1]
                at = 0
                for t, where in zip(w.turns, wheres):
                    k = keep[at:at + len(where)].max().item() if where else 0
                    o = act[at:at + len(where)].max().item() if where else 0
                    at += len(where)
                    if t["id"] in noted:
                        R[p + "keep+"].append(k)
                    elif t["id"] in w.gold["junk"]:
                        R[p + "keep-"].append(k)
                    if t["role"] == "user":
                        R[p + ("open+" if t["id"] in opens else "open-")] \
                            .append(o)
            asked = [i for i, t in enumerate(w.turns) if t["role"] == "user"
                     and goes_on(t, w.before[i]) >= 0]
            for i, m in zip(asked, score_pairs(
                    model, tokens, "matter",
                    [(said(w.turns[i]), stretch(w.before[i])) for i in asked])):
                R["pair.goes-" if goes_on(w.turns[i], w.before[i]) else
                  "pair.goes+"].append(-m)
            for e in w.gold["efforts"]:
                i = w.index[e["open"]]
                later = sorted(w.later(i), key=lambda k: w.turns[k]["at"])
                if not later:
                    continue
                p = score_pairs(model, tokens, "ending",
                                [(said(w.turns[i]), w.step(k)) for k in later])
                end = p[:, 0] + p[:, 1]
                k = int(end.argmax())
                R["end " + e["status"]].append(end[k])
                if e.get("end"):
                    R["end turn"].append(w.turns[later[k]]["id"] == e["end"])
                    R["end kind"].append((p[k, 0] > p[k, 1]) ==
                                         (e["status"] == "resolved"))
                R["status"].append((end[k], "open" if not e.get("end") else
                                    e["status"], p[k, 0] > p[k, 1]))
            for q in w.gold["questions"]:
                usable = [k for k in range(len(w.turns))
                          if w.turns[k]["at"] <= q["at"]]
                s = score_pairs(model, tokens, "answer",
                                [(f"{day(q['at'])}: {q['q']}", w.passage(k))
                                 for k in usable])
                if q["turns"]:
                    order = [w.turns[usable[k]]["id"] for k in (-s).argsort()]
                    rank = min(order.index(t) for t in q["turns"]
                               if t in order) + 1
                    R["rank"].append(rank)
                    R["rank " + q["kind"]].append(rank)
                    R["present"].append(s.max())
                    if q.get("old"):
                        R["latest"].append(all(
                            order.index(q["turns"][0]) < order.index(o)
                            for o in q["old"] if o in order))
                else:
                    R["absent"].append(s.max())
            linked = {frozenset(x) for x in w.gold["links"]}
            chats = sorted(w.chats, key=lambda c: c["turns"][0]["at"])
            for j, c in enumerate(chats):
                first = [t for t in c["turns"] if t["role"] == "user"][:3]
                for o in chats[:j]:
                    s = score_pairs(model, tokens, "matter",
                                    [(stretch(first), stretch(o["turns"][k:k + 4]))
                                     for k in range(0, len(o["turns"]), 3)]).max()
                    R["link+" if frozenset((c["id"], o["id"])) in linked
                      else "link-"].append(s)
        A = {k: np.array(v) for k, v in R.items() if k != "status"}
        f = lambda x: round(float(x), 3)
        out = {}
        for p in ("", "deep."):
            out[p + "keep_auc"] = f(auc(A[p + "keep+"], A[p + "keep-"]))
            out[p + "open_auc"] = f(auc(A[p + "open+"], A[p + "open-"]))
            out[p + "open_f1"] = f(best_f1(A[p + "open+"], A[p + "open-"])[0])
            out[p + "turns_auc"] = f(auc(A[p + "goes+"], A[p + "goes-"]))
            out[p + "turns_f1"] = f(best_f1(A[p + "goes+"], A[p + "goes-"])[0])
        out["pair.turns_f1"] = f(best_f1(A["pair.goes+"],
                                         A["pair.goes-"])[0])
        best = max((np.mean([(("open" if v < t else
                               "resolved" if r else "abandoned") == s)
                             for v, s, r in R["status"]]), t)
                   for t in np.linspace(.05, .98, 60))
        out["status"] = f(best[0])
        out["status_at"] = f(best[1])
        out["end_turn"] = f(A["end turn"].mean())
        out["end_kind"] = f(A["end kind"].mean())
        out["hit@1"] = f((A["rank"] == 1).mean())
        out["hit@5"] = f((A["rank"] <= 5).mean())
        out["mrr"] = f((1 / A["rank"]).mean())
        if "rank paraphrase" in A:
            out["para@5"] = f((A["rank paraphrase"] <= 5).mean())
        out["latest"] = f(A["latest"].mean()) if "latest" in A else None
        out["absent_auc"] = f(auc(A["present"], A["absent"]))
        out["link_auc"] = f(auc(A["link+"], A["link-"]))
        out["link_f1"] = f(best_f1(A["link+"], A["link-"])[0])
        print(name, group, json.dumps(out), flush=True)
    p = score_pairs(model, tokens, "note", [(r["a"], r["b"])
                                            for r in held["note"]])
    y = np.array([r["y"] for r in held["note"]])
    out = {"accuracy": round(float((p.argmax(1) == y).mean()), 3)}
    for t in (.5, .7, .8, .9, .95):
        sure = p[:, 1] >= t
        out[f"updates>={t}"] = (round(float((y[sure] == 1).mean()), 3),
                                round(float(sure[y == 1].mean()), 3))
    print(name, "notes", json.dumps(out), flush=True)
    p = score_pairs(model, tokens, "ending", [(r["a"], r["b"])
                                              for r in held["ending"]])
    y = np.array([r["y"] for r in held["ending"]])
    print(name, "endings", round(float((p.argmax(1) == y).mean()), 3),
          flush=True)
    measure_found(model, tokens, held, name)
    measure_newer(model, tokens, worlds, held, name)


def measure_newer(model, tokens, worlds, held, name):
    """Of two turns that may answer: held out, and on the worlds."""
    sets = {"held": [(r["a"], r["b"], r["y"]) for r in held["newer"]]}
    found = sets.setdefault("worlds", [])
    for w in worlds:
        for q in w.gold["questions"]:
            gold = [w.turns[w.index[t]] for t in q["turns"]]
            for t in q.get("old", []):
                old = w.turns[w.index[t]]
                found += [(q["q"], two_answers(old, g), 1) for g in gold
                          if old["at"] < g["at"]]
            if q["turns"] and q["kind"] != "latest":
                found += [(q["q"], two_answers(gold[0], w.turns[n]), 0)
                          for n in w.near.best(q["q"], 4,
                                               {w.index[t] for t in q["turns"]})
                          if gold[0]["at"] < w.turns[n]["at"] <= q["at"]]
    for of, rows in sets.items():
        p = score_pairs(model, tokens, "newer", [r[:2] for r in rows])
        y = np.array([r[2] for r in rows]) == 1
        print(name, "newer", of, len(rows), int(y.sum()), "auc",
              round(float(auc(p[y], p[~y])), 3), {
                  t: (round(float(y[p >= t].mean()), 3),
                      round(float((p[y] >= t).mean()), 3))
                  for t in (.2, .35, .5, .65, .8, .9) if (p >= t).any()},
              flush=True)


def measure_found(model, tokens, held, name):
    """Of pairs as the program finds them: how many that it is so sure of are
    right, and how many of the right ones it is so sure of."""
    for task, outcomes in (("note", [1]), ("ending", [0, 1])):
        rows = held["found." + task]
        if not rows:
            continue
        p = score_pairs(model, tokens, task, [(r["a"], r["b"]) for r in rows])
        p = p[:, outcomes].sum(1)
        y = np.isin([r["y"] for r in rows], outcomes)
        out = {"of": len(rows), "right": int(y.sum()),
               "auc": round(float(auc(p[y], p[~y])), 3)}
        for t in (.5, .7, .8, .9, .95, .97, .99):
            sure = p >= t
            out[t] = (int(sure.sum()), round(float(y[sure].mean()), 3),
                      round(float(sure[y].mean()), 3)) if sure.any() else 0
        print(name, "found", task, json.dumps(out), flush=True)


def state_of(model):
    return {k: v.detach().float().cpu().numpy()
            for k, v in model.state_dict().items()}


def put_int8(t, name, w):
    t[name], t[name + ".scale"] = reader_file.quantise_rows(w)


def put_layer(t, to, state, i):
    """Layer i of the model's state as the file has it, under `to`."""
    for part in ("qkv", "attention", "inner", "outer"):
        put_int8(t, f"{to}.{i}.{part}", state[f"layers.{i}.{part}.weight"])
        t[f"{to}.{i}.{part}.bias"] = state[f"layers.{i}.{part}.bias"]
    for part in ("attention_norm", "outer_norm"):
        for x in ("weight", "bias"):
            t[f"{to}.{i}.{part}.{x}"] = state[f"layers.{i}.{part}.{x}"]


def put_tops(t, model, state):
    """The second top, under the numbers of the layers that it stands beside."""
    own = {f"layers.{model.read_layer + int(k.split('.')[1])}." +
           k.split(".", 2)[2]: v for k, v in state.items()
           if k.startswith("top.")}
    for i in range(model.read_layer, len(model.layers)):
        put_layer(t, "top", own or state, i)


def export_top(model, kinds, path):
    state, t = state_of(model), {}
    put_tops(t, model, state)
    for k in kinds:
        t["head." + k] = state[f"heads.{k}.weight"]
        t["head." + k + ".bias"] = state[f"heads.{k}.bias"]
    np.savez(path, **t)


def export(model, vocab, path, read_layer):
    """The file that is shipped; the order of unused tokens is left out."""
    names = [line.rstrip("\n") for line in open(vocab, encoding="utf8")]
    kept = [i for i, t in enumerate(names) if not t.startswith("[unused")]
    state = state_of(model)
    t = {}
    put_int8(t, "embed.words", state["words"][kept])
    t["embed.positions"] = state["positions"]
    t["embed.types"] = state["types"]
    t["embed.norm.weight"] = state["norm.weight"]
    t["embed.norm.bias"] = state["norm.bias"]
    for i in range(len(model.layers)):
        put_layer(t, "layer", state, i)
    for k in HEADS:
        deep = k in model.deep and read_layer == len(model.layers)
        name = ("deep." if deep else "heads.") + k
        t["head." + k] = state[name + ".weight"]
        t["head." + k + ".bias"] = state[name + ".bias"]
    if model.top_kinds:
        put_tops(t, model, state)
    reader_file.write(path, t, [names[i] for i in kept], 12, read_layer,
                      top_kinds=" ".join(model.top_kinds) or None)


def say_of(model, tokens, path, out):
    """What it says of pairs of a file, for choosing what is made of it."""
    if not path:
        return
    rows = [json.loads(line) for line in open(path)]
    said_ = [None] * len(rows)
    for task in sorted({r["task"] for r in rows}):
        at = [i for i, r in enumerate(rows) if r["task"] == task]
        p = score_pairs(model, tokens, task,
                        [(rows[i]["a"], rows[i]["b"]) for i in at])
        for i, v in zip(at, p):
            said_[i] = [round(float(x), 5) for x in np.atleast_1d(v)]
    with open(out, "w") as f:
        json.dump(said_, f)


def load(data):
    tasks = collections.defaultdict(list)
    for line in lzma.open(os.path.join(data, "examples.json.xz"), "rt"):
        r = json.loads(line)
        key = r["task"]
        if r.get("soft"):
            key = "soft." + key
            if r["task"] == "read" and not r["sentences"]:
                continue
        elif r.get("public"):
            key = "public"
        tasks[key].append(r)
    return tasks


def hold_out(tasks):
    """One in twelve of what was written as single items, by its text; of pairs
    as the program found them, those of one person in five."""
    held = {}
    for task in FOUND:
        part = lambda r: "person" in r and hash_of(r["person"]) % 5 == 0
        held["found." + task] = [r for r in tasks[task] if part(r)]
        tasks[task] = [r for r in tasks[task] if not part(r)]
    newer = lambda r: hash_of(r["a"]) % 12 == 0
    held["newer"] = [r for r in tasks["newer"] if newer(r)]
    tasks["newer"] = [r for r in tasks["newer"] if not newer(r)]
    for task in ("note", "ending"):
        part = lambda r: (r["y"] >= 0 and (task == "note" or r.get("hand")) and
                          "person" not in r and hash_of(r["a"]) % 12 == 0)
        held[task] = [r for r in tasks[task] if part(r)]
        tasks[task] = [r for r in tasks[task] if not part(r)]
    return held


def common_words(questions):
    """Words of more than one question in fifty: "when", "the", "wann"."""
    df = collections.Counter(w for q in questions for w in
                             set(re.findall(r"[^\s?.,!]+", DATE.sub("", q)
                                            .lower())))
    return frozenset(w for w, n in df.items() if n * 50 > len(questions))


def hash_of(text):
    h = 0
    for c in text.encode():
        h = (h * 131 + c) & 0xffffffff
    return h


def split_file(path, size=15 << 20):
    blob = open(path, "rb").read()
    for k in range(0, len(blob), size):
        open(f"{path}.{k // size}", "wb").write(blob[k:k + size])
    os.remove(path)


def table(rows, width):
    """Lists of tokens as rows on the device, and how long each is."""
    out = np.zeros((len(rows), width), np.int64)
    for i, row in enumerate(rows):
        out[i, :len(row[:width])] = row[:width]
    return (torch.from_numpy(out).to(dev),
            torch.tensor([min(len(r), width) for r in rows], device=dev))


def pairs_of(q, p, qi, pi):
    """stack() of Tokens.pair() for pairs of rows of two tables, put together
    on the device: of a million pairs that is where the time went."""
    (q_ids, q_len), (p_ids, p_len) = q, p
    lq, lp = q_len[qi, None], p_len[pi, None]
    end = lq + lp + 3
    n = min(MAX_TOKENS, (int(end.max()) + 15) // 16 * 16)
    at = torch.arange(n, device=dev)[None].expand(len(qi), n)
    first = q_ids[qi].gather(1, (at - 1).clamp(0, q_ids.shape[1] - 1))
    second = p_ids[pi].gather(1, (at - lq - 2).clamp(0, p_ids.shape[1] - 1))
    ids = torch.where(at <= lq, first, second)
    ids = torch.where((at == lq + 1) | (at == end - 1), SEP, ids)
    ids = torch.where(at == 0, CLS, ids)
    mask = at < end
    return ids * mask, ((at > lq + 1) & mask).long(), mask


@torch.no_grad()
def score_rows(model, task, q, p, qi, pi, n=4096):
    """score_pairs() for pairs of rows, the short ones together."""
    out = torch.zeros(len(qi), device=dev)
    order = torch.argsort(q[1][qi] + p[1][pi])
    for k in range(0, len(order), n):
        some = order[k:k + n]
        ids, types, mask = pairs_of(q, p, qi[some], pi[some])
        with torch.autocast("cuda", torch.bfloat16):
            x, _ = model.run(ids, types, mask, kind=task)
        out[some] = torch.sigmoid(
            model.heads[task](mean(x, mask)).float()[:, 0])
    return out.cpu().numpy()


def liked(model, tokens, tasks, seed, path):
    """like(), or what it found before for trainings beside this one."""
    if path and os.path.exists(path):
        for r, found in zip(tasks["answer"], json.load(open(path))):
            if found:
                r["liked"] = found
    else:
        like(model, tokens, tasks, seed)
        if path:
            json.dump([r.get("liked") for r in tasks["answer"]],
                      open(path + ".new", "w"))
            os.rename(path + ".new", path)
    rng = random.Random(seed)
    for r in tasks["answer"]:
        if r["pos"] and r.get("liked"):
            turn = lambda p: DATE.sub("", p).split(" || ")[0]
            tasks["newer"].append({
                "a": DATE.sub("", r["q"]), "y": 0,
                "b": both(turn(rng.choice(r["pos"])),
                          turn(rng.choice(r["liked"])))})


def like(model, tokens, tasks, seed):
    """Of each question the turns of other worlds that the file itself likes
    most as its answer, out of those that share words and some drawn by chance.
    What it is sure of may answer indeed and is left out."""
    rng = random.Random(seed)
    bare = lambda text: tokens(DATE.sub("", text))
    for pool in tasks["pool"]:
        rows = [r for r in tasks["answer"] if r["lang"] == pool["lang"] and
                "far" in r]
        picks = []
        for r in rows:
            more = rng.sample(range(len(pool["texts"])),
                              min(AT_RANDOM, len(pool["texts"])))
            picks.append(list(dict.fromkeys(r["far"] + [
                i for i in more if pool["worlds"][i] != r["world"]])))
        asked = [k for k, mine in enumerate(picks) for _ in mine]
        if not asked:
            continue
        p = score_rows(model, "answer", table([bare(r["q"]) for r in rows],
                                              A_TOKENS),
                       table([bare(t) for t in pool["texts"]], B_TOKENS),
                       torch.tensor(asked, device=dev),
                       torch.tensor([i for mine in picks for i in mine],
                                    device=dev))
        at = 0
        for r, mine in zip(rows, picks):
            best = sorted(zip(p[at:at + len(mine)], mine), reverse=True)
            at += len(mine)
            r["liked"] = [pool["texts"][i] for v, i in best
                          if v <= SURE][:LIKED]


def tune(path, vocab, tokens, tasks, teachers, A):
    """Train a file on; see the beginning."""
    def made(kind=None, path=path):
        pack, heads = open_file(path, vocab, kind)
        model = Encoder(pack, A.read_layer).to(dev)
        with torch.no_grad():
            for k, (w, b) in heads.items():
                model.heads[k].weight.copy_(w)
                model.heads[k].bias.copy_(b)
        return model.set_rounds(True)

    def whole(path):
        """With both tops, where the file has two."""
        model, kinds = made(None, path), top_kinds(path)
        if kinds:
            model.put_top(made(kinds[0], path), kinds)
        return model

    tasks["read"] += [r for r in tasks["read"]
                      if re.match(r"[sv]\d+-", r["id"])] * 2
    for task in ("ending", "matter", "answer"):
        tasks[task] += [r for r in tasks[task]
                        if re.match(r"v\d+-", r.get("world") or "")] * 2
    for task in FOUND:
        found = [r for r in tasks[task] if "person" in r]
        friends = [r for r in found if re.match(r"f\d-", r["person"])]
        tasks[task] += found * 3 + friends * 12  # of which there are few
    only = A.top.split(",") if A.top else ()
    if only:
        model = made("newer" if "newer" in only else None)
        model.freeze(only)
        own = {kind: [made(kind, A.own or path).eval()] for kind in only}
    else:
        model = whole(path)
        own = {"": [whole(A.own or path).eval()]}
    if "answer" in (only or model.top_kinds):
        liked((own.get("answer") or own[""])[0], tokens, tasks, A.seed,
              A.liked)
    return train(model, tokens, tasks, A.seed + 2, seconds=A.minutes * 60,
                 lr=A.lr, teachers=teachers, own=own, hold=A.hold > 0,
                 say="tuned", only=only)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--minutes", type=float, default=4)
    ap.add_argument("--label-steps", type=int, default=4000)
    ap.add_argument("--teachers", type=int, default=0)
    ap.add_argument("--read-layer", type=int, default=3)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--tune")
    ap.add_argument("--own", help="whose answers are followed: this file's")
    ap.add_argument("--hold", type=float, default=0,
                    help="how much of reading follows it, too")
    ap.add_argument("--liked", help="a file that trainings side by side share: "
                    "what is found once for all of them")
    ap.add_argument("--top", help="kinds of pairs: answer,note,ending,matter")
    ap.add_argument("--answers", type=float, default=BY_LABELS["answer"])
    ap.add_argument("--notes", type=float, default=BY_LABELS["note"])
    ap.add_argument("--matters", type=float, default=BY_LABELS["matter"])
    ap.add_argument("--endings", type=float, default=BY_LABELS["ending"])
    ap.add_argument("--leave", default="", help="worlds not to train on: v1-,v3-")
    ap.add_argument("--score", help="pairs to say something of, as JSON lines")
    ap.add_argument("--lr", type=float, default=3e-5)
    A = ap.parse_args()
    torch.manual_seed(A.seed)
    start = time.time()
    vocab = os.path.join(A.data, "vocab.txt")
    tokens = Tokens(vocab)
    tasks = load(A.data)
    if A.leave:
        left = tuple(A.leave.split(","))
        for key in tasks:
            tasks[key] = [r for r in tasks[key] if not
                          (r.get("world") or "").startswith(left)]
    held = hold_out(tasks)
    if A.hold:
        BY_LABELS["read"] = 1 - A.hold
    BY_LABELS["answer"] = A.answers
    BY_LABELS["note"] = A.notes
    BY_LABELS["matter"] = A.matters
    BY_LABELS["ending"] = A.endings
    Trainer.common = common_words([r["q"] for r in tasks["answer"]])
    texts = []
    for rows in tasks.values():
        for r in rows:
            texts += [r[k] for k in ("a", "b", "q", "before") if k in r]
            for k in ("sentences", "pos", "neg", "texts"):
                texts += r.get(k, [])
    tokens.warm(texts)
    print({k: len(v) for k, v in tasks.items()}, {k: len(v) for k, v in
          held.items()}, f"{time.time() - start:.0f}s", flush=True)
    sets = {name: [World(w) for w in json.load(open(path))["worlds"]]
            for name in ("dev", "held") for path in
            [os.path.join(A.data, f"worlds-{name}.json")]
            if os.path.exists(path)}
    gauge = lambda m, name: [measure(m, tokens, worlds, held, f"{name}, {key}")
                             for key, worlds in sets.items()]
    teachers = []
    for k in range(A.teachers):
        torch.manual_seed(A.seed + 10 + k)
        t = Encoder(os.path.join(A.data, "gte.pack.xz"), 6).to(dev)
        train(t, tokens, tasks, A.seed + 10 + k, steps=A.label_steps,
              lr=4e-5, public_steps=1000, say=f"teacher {k}")
        gauge(t, f"teacher {k}")
        teachers.append(t)
    if A.tune:
        student = tune(A.tune, vocab, tokens, tasks, teachers, A)
        if A.top:
            export_top(student, A.top.split(","),
                       os.path.join(A.out, "top.npz"))
            say_of(student, tokens, A.score, os.path.join(A.out, "said.json"))
            gauge(student, "tuned")
            return
        path = os.path.join(A.out, f"reader-{A.read_layer}.bin")
        export(student, vocab, path, A.read_layer)
        split_file(path)
        gauge(student, "tuned")
        return
    student = Encoder(os.path.join(A.data, "minilm.pack.xz"),
                      A.read_layer).to(dev)
    student.set_rounds(not teachers)
    train(student, tokens, tasks, A.seed, steps=A.label_steps, lr=5e-5,
          public_steps=1000, say="student")
    gauge(student, "student, labels")
    if teachers:
        student.set_rounds(True)
        left = A.minutes * 60 - (time.time() - start)
        train(student, tokens, tasks, A.seed + 1, seconds=max(left, 30),
              lr=6e-5, teachers=teachers, say="distilled")
        gauge(student, "student, distilled")
    for layer in sorted({A.read_layer, len(student.layers)}):
        path = os.path.join(A.out, f"reader-{layer}.bin")
        export(student, vocab, path, layer)
        split_file(path)


if __name__ == "__main__":
    main()
