"""Learn the matrix that turns a question's vector towards its answers.

    python3 train_ask.py --clew PROGRAM --data ../data --out ../ask.bin \\
        [--corpora FOLDER] [--pull .01] [--steps 600]

Questions and the turns that answer them, of models/data (and, with
--corpora, of the public dialogues that questions of it name). The vectors are
the program's own (`clew model embed`). Worlds are split into five parts by
their names; a matrix is trained without each part and measured on it, and the
mean of the five is written. models/ask.md has recipe and figures.

Needs PyTorch and NumPy; runs on a CPU in minutes. What is random is seeded.
"""
import argparse
import glob
import gzip
import hashlib
import json
import os
import random
import re
import struct
import subprocess
import tempfile
import zlib

import numpy as np
import torch

from reader_examples import World, own_world

FOLDS = 5
DIM = 256
TEMPERATURE = .05
PULL = .01  # towards the identity
STEPS = 600
WORDS = .4  # of the turns that are also looked for by words alone
MOST_OF_GROUP = 30  # questions by which a world's share of the batches grows


# --- questions and turns --------------------------------------------------------
class Data:
    """Texts of turns by group (a world, a talk), and questions for them."""

    def __init__(self):
        self.turns, self.groups, self.questions = [], [], []

    def group(self, name, texts):
        first = len(self.turns)
        self.turns += [" ".join(t.split()) for t in texts]
        self.groups.append((name, first, first + len(texts)))
        return len(self.groups) - 1

    def ask(self, group, text, gold, lang):
        first = self.groups[group][1]
        if gold:
            self.questions.append((group, " ".join(text.split()),
                                   [first + g for g in gold], lang))


def add_worlds(data, folder):
    worlds = {}
    for file in sorted(glob.glob(os.path.join(folder, "worlds/*.json"))):
        world = World(json.load(open(file)))
        worlds[world.id] = world, data.group(
            world.id, [t["text"] for t in world.turns])
    for world, group in worlds.values():
        for q in world.gold["questions"]:
            data.ask(group, q["q"], [world.index[t] for t in q["turns"]
                                     if t in world.index], world.lang)
    for q in written(folder):
        if q["id"] not in worlds and "turns" in q:
            world = own_world(q)
            worlds[q["id"]] = world, data.group(
                q["id"], [t["text"] for t in world.turns])
        if q["id"] in worlds:
            world, group = worlds[q["id"]]
            data.ask(group, q["question"],
                     [world.index[t] for t in q["answer_turns"]
                      if t in world.index], q["lang"])


def written(folder):
    for file in sorted(glob.glob(os.path.join(folder, "questions/*.jsonl"))):
        for line in open(file):
            yield json.loads(line)


def add_talks(data, folder, corpora):
    """Questions for stretches of public dialogues."""
    wanted, groups = {}, {}
    for q in written(folder):
        if q.get("source", "").startswith("dlg_"):
            wanted.setdefault(q["source"], []).append(q)
    for source, questions in sorted(wanted.items()):
        ids = {q["id"] for q in questions}
        rows = {}
        for line in gzip.open(os.path.join(corpora, source), "rt"):
            row = json.loads(line)
            if row["id"] in ids:
                rows[row["id"]] = row
        for q in questions:
            row = rows.get(q["id"])
            if not row:
                continue
            a, b = q.get("turns_shown") or (0, 0)
            picked = q.get("path") or range(a, min(b + 1, len(row["turns"])))
            key = q["id"], tuple(picked)
            if key not in groups:
                groups[key] = data.group(q["id"], [row["turns"][i]["text"]
                                                   for i in picked])
            data.ask(groups[key], q["question"],
                     [list(picked).index(t) for t in q["answer_turns"]
                      if t in picked], q["lang"])


def add_words(data, share):
    """People also look for words: three of a turn's longer ones find it."""
    rng = random.Random(5)
    for group, (_, a, b) in enumerate(data.groups):
        for i in range(a, b):
            words = sorted(set(re.findall("[a-z]{4,}", data.turns[i].lower())),
                           key=lambda w: (len(w), w))[-8:]
            if data.turns[i].isascii() and len(words) >= 5 and \
                    rng.random() < share:
                data.ask(group, " ".join(rng.sample(words, 3)), [i - a],
                         "words")


def fold_of(name):
    return zlib.crc32(name.encode()) % FOLDS


def embed(program, texts):
    """The program's vectors, to the bit."""
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(
            [program, "--data", folder, "model", "embed"], check=True,
            input="\n".join(texts) + "\n", text=True, stdout=subprocess.PIPE)
    rows = [np.array(json.loads(line), dtype=np.float32)
            for line in out.stdout.splitlines()]
    assert len(rows) == len(texts)
    return np.stack(rows)


# --- training -------------------------------------------------------------------
class Set:
    """Vectors of turns and questions, and which part each world is in."""

    def __init__(self, data, turns, questions):
        self.data = data
        self.turns, self.asked = torch.tensor(turns), torch.tensor(questions)
        self.fold = [fold_of(name) for name, _, _ in data.groups]

    def questions_without(self, fold):
        """Of each group its questions, the left-out part's aside."""
        out = {}
        for i, (group, _, _, _) in enumerate(self.data.questions):
            if self.fold[group] != fold:
                out.setdefault(group, []).append(i)
        return out


def draw(of, rng, asked, n_groups, n_questions):
    """A batch: all turns of some groups, and some of their questions."""
    names = sorted(asked)
    share = np.array([min(len(asked[g]), MOST_OF_GROUP) for g in names], float)
    turns, owner, questions, first = [], [], [], {}
    for k in rng.choice(len(names), n_groups, False, share / share.sum()):
        name, a, b = of.data.groups[names[k]]
        first[names[k]] = len(turns) - a
        turns += range(a, b)
        owner += [names[k]] * (b - a)
        mine = asked[names[k]]
        questions += list(rng.choice(mine, min(n_questions, len(mine)), False))
    gold = torch.zeros(len(questions), len(turns), dtype=torch.bool)
    for r, q in enumerate(questions):
        group, _, right, _ = of.data.questions[q]
        gold[r, [first[group] + t for t in right]] = True
    asked_of = torch.tensor([of.data.questions[q][0] for q in questions])
    own = torch.tensor(owner)[None, :] == asked_of[:, None]
    return turns, questions, gold, own


def train(of, fold, pull, steps, seed=0, n_groups=16, n_questions=10):
    """A matrix that has not seen the worlds of one part."""
    rng = np.random.default_rng(seed)
    asked = of.questions_without(fold)
    matrix = torch.eye(DIM, requires_grad=True)
    adam = torch.optim.Adam([matrix], lr=1e-3)
    slow = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    for _ in range(steps):
        turns, questions, gold, own = draw(of, rng, asked, n_groups,
                                           n_questions)
        turned = torch.nn.functional.normalize(of.asked[questions] @ matrix.T)
        scores = turned @ of.turns[turns].T / TEMPERATURE
        right = scores.masked_fill(~gold, -1e9).logsumexp(1)
        among_all = scores.logsumexp(1)
        among_own = scores.masked_fill(~own, -1e9).logsumexp(1)
        loss = ((among_all + among_own) / 2 - right).mean()
        loss = loss + pull * ((matrix - torch.eye(DIM)) ** 2).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
        slow.step()
    return matrix.detach()


def kind_of(lang):
    return lang if lang in ("en", "words") else "other"


def measure(of, matrix, fold, kind):
    """On the part left out, among all its turns: share of questions with a
    right turn in the first 20, and MRR; the same among the world's own, 5."""
    data, rows = of.data, []
    turns = [t for g, (_, a, b) in enumerate(data.groups)
             if of.fold[g] == fold for t in range(a, b)]
    place = {t: i for i, t in enumerate(turns)}
    for i, (group, _, right, lang) in enumerate(data.questions):
        if of.fold[group] != fold or kind_of(lang) != kind:
            continue
        scores = of.turns[turns] @ (matrix @ of.asked[i])
        best = scores[[place[t] for t in right]].max()
        _, a, b = data.groups[group]
        rank = int((scores > best).sum())
        near = int((scores[place[a]:place[a] + b - a] > best).sum())
        rows.append((rank < 20, 1 / (1 + rank), near < 5, 1 / (1 + near)))
    return np.array(rows, float)


def report(name, of, matrices):
    for kind in "en", "other", "words":
        rows = np.concatenate([measure(of, m, f, kind)
                               for f, m in enumerate(matrices)])
        print(f"{name:24} {kind:5} {len(rows):5}"
              "  @20 %.4f  mrr %.4f  own @5 %.4f  own mrr %.4f"
              % tuple(rows.mean(0)), flush=True)


# --- the file -------------------------------------------------------------------
def write(path, matrix, model="clew-static-1"):
    """docs/formats/ask.md: what is added to the identity, int8 by rows."""
    added = matrix - np.eye(DIM)
    scales = (np.abs(added).max(1) / 127).astype("<f4")
    rows = np.rint(added / np.maximum(scales, 1e-12)[:, None])
    body = scales.tobytes() + np.clip(rows, -127, 127).astype("i1").tobytes()
    head = struct.pack("<8sII16x32s32s32x", b"clewask1", 1, DIM,
                       model.encode(), hashlib.sha256(body).digest())
    with open(path, "wb") as file:
        file.write(head + body)


def read_all(options):
    data = Data()
    add_worlds(data, options.data)
    if options.corpora:
        add_talks(data, options.data, options.corpora)
    add_words(data, WORDS)
    print(f"{len(data.turns)} turns, {len(data.groups)} groups,"
          f" {len(data.questions)} questions", flush=True)
    turns = embed(options.clew, data.turns)
    return Set(data, turns,
               embed(options.clew, [q[1] for q in data.questions]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clew", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--corpora")
    parser.add_argument("--out", required=True)
    parser.add_argument("--pull", type=float, default=PULL)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    of = read_all(options)
    report("as it is", of, [torch.eye(DIM)] * FOLDS)
    matrices = [train(of, fold, options.pull, options.steps, seed=fold)
                for fold in range(FOLDS)]
    report(f"pull {options.pull} steps {options.steps}", of, matrices)
    write(options.out, torch.stack(matrices).mean(0).numpy())


if __name__ == "__main__":
    main()
