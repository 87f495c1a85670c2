"""Train the gist: where a turn lies among turns, near what may be asked of it.

    python3 train_gist.py --write gist.json.xz --from ../data --corpora FOLDER
    python3 train_gist.py --reader reader.bin --data DIR --out gist.npz
    python3 train_gist.py --reader reader.bin --put gist.npz

The first form writes questions and turns, each turn with what was said before
it, to one file. The second needs PyTorch, a GPU and the `tokenizers` package;
DIR holds that file and vocab.txt. It runs a trained reader, whose weights stay
as they are, over all of them as it reads turns, takes the mean of a turn's
tokens after each of GIST_LAYERS layers, and fits two matrices to those means:
one for turns, one for questions, so that a question lies nearer to the turns
that answer it than to others of its world and of other worlds. The third
writes them into the reader's file.

Every fifth world is left out, by its name, and printed: how often a right turn
is among the first 1, 5, 20 and 60 of all turns left out. Then both matrices are
fitted once more to all worlds, and those are written.
"""
import argparse
import glob
import json
import lzma
import os
import sys
import time
import zlib

import numpy as np

import reader_file
from reader_examples import World, own_world, public_questions, said, speaker

GIST_LAYERS = (2, 3, 4)
DIM = 64
MOST_TOKENS = 192
HELD = 0  # of FOLDS
FOLDS = 5
STEPS = 2500
TEMPERATURE = .07
DROP, DECAY = .4, .3
OWN, PUBLIC, QUESTIONS = 48, 32, 8  # groups of a batch, questions of each
MOST_TURNS = 50  # of a group in a batch, beside those that answer


# --- questions and turns ------------------------------------------------------
class Data:
    """Turns by group (a world, a talk, a public passage), and questions."""

    def __init__(self):
        self.turns, self.groups, self.questions = [], [], []

    def group(self, name, turns):
        first = len(self.turns)
        self.turns += turns
        self.groups.append((name, first, len(self.turns)))
        return len(self.groups) - 1

    def world(self, world):
        return self.group(world.id, [
            (" ".join(said(x) for x in before), speaker(turn), turn["text"])
            for before, turn in zip(world.before, world.turns)])

    def ask(self, group, text, right, lang):
        first = self.groups[group][1]
        if right:
            self.questions.append((group, text, [first + r for r in right],
                                   lang))


def gather(folder, corpora):
    import gzip
    data, worlds, talks = Data(), {}, {}
    for file in sorted(glob.glob(os.path.join(folder, "worlds/*.json"))):
        world = World(json.load(open(file)))
        worlds[world.id] = world, data.world(world)
    for world, group in worlds.values():
        for q in world.gold["questions"]:
            data.ask(group, q["q"], [world.index[t] for t in q["turns"]
                                     if t in world.index], world.lang)
    for file in sorted(glob.glob(os.path.join(folder, "questions/*.jsonl"))):
        for q in map(json.loads, open(file)):
            if q["id"] not in worlds and "turns" in q:
                world = own_world(q)
                worlds[q["id"]] = world, data.world(world)
            if q["id"] in worlds:
                world, group = worlds[q["id"]]
                data.ask(group, q["question"],
                         [world.index[t] for t in q["answer_turns"]
                          if t in world.index], q["lang"])
            elif q.get("source", "").startswith("dlg_"):
                talks.setdefault(q["source"], []).append(q)
    for source, questions in sorted(talks.items()):
        ids = {q["id"] for q in questions}
        rows = {row["id"]: row for row in map(json.loads, gzip.open(
            os.path.join(corpora, source), "rt")) if row["id"] in ids}
        add_talk(data, rows, questions)
    for row in public_questions(corpora):
        texts = list(dict.fromkeys(row["pos"] + row["neg"][:6]))
        if row["pos"]:
            group = data.group("public", [("", "user", t) for t in texts])
            data.ask(group, row["q"], list(range(len(row["pos"]))), "public")
    return data


def add_talk(data, rows, questions):
    """Questions for stretches of a public dialogue."""
    groups = {}
    for q in questions:
        row = rows.get(q["id"])
        if not row:
            continue
        a, b = q.get("turns_shown") or (0, 0)
        picked = list(q.get("path") or range(a, min(b + 1, len(row["turns"]))))
        key = q["id"], tuple(picked)
        if key not in groups:
            texts = [row["turns"][i]["text"] for i in picked]
            groups[key] = data.group(q["id"], [
                (f"user: {before}" if before else "", "user", text)
                for before, text in zip([""] + texts, texts)])
        data.ask(groups[key], q["question"], [picked.index(t) for t in
                                              q["answer_turns"] if t in picked],
                 q["lang"])


# --- what the reader has of each ----------------------------------------------
def means(A, items):
    """[items][layers * dim]: the mean of each text's own tokens."""
    import torch
    import train_reader as train
    pack, _ = train.open_file(A.reader, A.vocab)
    model = train.Encoder(pack, 4).to(train.dev).eval().set_rounds(True)
    tokens = train.Tokens(A.vocab)
    tokens.warm([text for _, _, text in items])
    rows = []
    for before, who, text in items:
        ids, types, where = tokens.turn({"before": before, "speaker": who,
                                         "sentences": [text or "-"]})
        ids, types = ids[:MOST_TOKENS], types[:MOST_TOKENS]
        rows.append((ids, types, [(where[0][0] if where else 0, len(ids))]))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i][0]))
    dim = model.words.shape[1]
    out = torch.zeros(len(rows), len(GIST_LAYERS) * dim, device=train.dev)
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for k in range(0, len(order), 1024):
            at = order[k:k + 1024]
            ids, types, mask = train.stack([rows[i] for i in at])
            bias = torch.zeros(len(at), 1, 1, ids.shape[1], device=train.dev,
                               dtype=torch.bfloat16)
            bias.masked_fill_(~mask[:, None, None, :], -30000.0)
            x = torch.nn.functional.embedding(
                ids, train.Round.apply(model.words))
            x = model.norm(x + model.positions[:ids.shape[1]] +
                           model.types[types])
            place = torch.tensor(at, device=train.dev)
            for i, layer in enumerate(model.layers[:max(GIST_LAYERS)]):
                x = layer(x, bias)
                if i + 1 in GIST_LAYERS:
                    n = GIST_LAYERS.index(i + 1) * dim
                    out[place, n:n + dim] = train.pooled_sentences(
                        x, [rows[j][2] for j in at])
    return out


# --- the two matrices ----------------------------------------------------------
class Batches:
    """All turns of some groups and some of their questions, at a time."""

    def __init__(self, data, held, seed):
        self.data, self.rng = data, np.random.default_rng(seed)
        self.asked = {}
        for i, (g, _, _, _) in enumerate(data["questions"]):
            name = data["groups"][g][0]
            if name == "public" or fold_of(name) != held:
                self.asked.setdefault(g, []).append(i)
        name = lambda g: data["groups"][g][0]
        self.own = [g for g in self.asked if name(g) != "public"]
        self.public = [g for g in self.asked if name(g) == "public"]
        share = np.array([min(len(self.asked[g]), 30) for g in self.own], float)
        self.share = share / share.sum()

    def draw(self):
        rng, data = self.rng, self.data
        groups = [self.own[k] for k in rng.choice(len(self.own), OWN, False,
                                                  self.share)]
        groups += [self.public[k] for k in rng.choice(len(self.public), PUBLIC,
                                                      False)]
        turns, owner, questions, place = [], [], [], {}
        for g in groups:
            _, a, b = data["groups"][g]
            mine = list(rng.choice(self.asked[g],
                                   min(QUESTIONS, len(self.asked[g])), False))
            need = {t for q in mine for t in data["questions"][q][2]}
            rest = [t for t in range(a, b) if t not in need]
            few = rng.choice(rest, min(MOST_TURNS, len(rest)), False) \
                if rest else []
            for t in sorted(need | set(few)):
                place[t] = len(turns)
                turns.append(t)
                owner.append(g)
            questions += mine
        right = np.zeros((len(questions), len(turns)), bool)
        for r, q in enumerate(questions):
            right[r, [place[t] for t in data["questions"][q][2]]] = True
        of = np.array([data["questions"][q][0] for q in questions])
        return turns, questions, right, np.array(owner)[None] == of[:, None]


def fold_of(name):
    return zlib.crc32(name.encode()) % FOLDS


def fit(data, turns, asked, held, seed=1, steps=STEPS, temperature=TEMPERATURE,
        drop=DROP, decay=DECAY):
    """Weights and biases of both, over the means as the program has them."""
    import torch
    from torch import nn
    F = torch.nn.functional
    torch.manual_seed(seed)
    batches = Batches(data, held, seed)
    mean, spread, mean_asked = turns.mean(0), turns.std(0) + 1e-4, asked.mean(0)
    y, x = (turns - mean) / spread, (asked - mean_asked) / spread
    of_turn = nn.Linear(y.shape[1], DIM).to(y.device)
    of_asked = nn.Linear(y.shape[1], DIM).to(y.device)
    of_asked.load_state_dict(of_turn.state_dict())
    opt = torch.optim.AdamW([*of_turn.parameters(), *of_asked.parameters()],
                            lr=1e-3, weight_decay=decay)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for _ in range(steps):
        t, q, right, own = batches.draw()
        right = torch.from_numpy(right).to(y.device)
        own = torch.from_numpy(own).to(y.device)
        a = F.normalize(of_asked(F.dropout(x[q], drop)), dim=-1)
        b = F.normalize(of_turn(F.dropout(y[t], drop)), dim=-1)
        s = a @ b.T / temperature
        good = s.masked_fill(~right, -1e9).logsumexp(1)
        near = s.masked_fill(~own, -1e9).logsumexp(1)
        loss = ((s.logsumexp(1) + near) / 2 - good).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        plan.step()
    with torch.no_grad():
        out = {}
        for name, part, middle in (("turn", of_turn, mean),
                                   ("asked", of_asked, mean_asked)):
            weight = part.weight / spread
            out["gist." + name] = weight
            out["gist." + name + ".bias"] = part.bias - weight @ middle
    return out


def place(weights, name, rows):
    import torch
    return torch.nn.functional.normalize(
        rows @ weights["gist." + name].T + weights[f"gist.{name}.bias"], dim=-1)


def report(name, data, weights, turns, asked, held):
    """Of the questions left out, among all turns left out."""
    groups = [g for g, (n, _, _) in enumerate(data["groups"])
              if n != "public" and fold_of(n) == held]
    pool = [t for g in groups for t in range(*data["groups"][g][1:])]
    at = {t: i for i, t in enumerate(pool)}
    b = place(weights, "turn", turns[pool])
    for lang in ("en", "others"):
        rows = [i for i, q in enumerate(data["questions"])
                if q[0] in set(groups) and (q[3] == "en") == (lang == "en")]
        s = place(weights, "asked", asked[rows]) @ b.T
        rank = [int((s[r] > max(s[r, at[t]] for t in data["questions"][q][2]))
                    .sum()) for r, q in enumerate(rows)]
        print(name, lang, len(rows), "questions", len(pool), "turns",
              *[f"@{n} {np.mean(np.array(rank) < n):.3f}"
                for n in (1, 5, 20, 60)])


# --- into the file --------------------------------------------------------------
def put(reader, gist):
    about, arrays, vocab = reader_file.load(reader)
    arrays.update(np.load(gist))
    about["gist_layers"] = " ".join(map(str, GIST_LAYERS))
    about.pop("gist_of", None)
    reader_file.write_like(reader, about, arrays, vocab)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--write")
    ap.add_argument("--from", dest="folder")
    ap.add_argument("--corpora")
    ap.add_argument("--reader")
    ap.add_argument("--data")
    ap.add_argument("--out")
    ap.add_argument("--put")
    A = ap.parse_args()
    if A.write:
        data = gather(A.folder, A.corpora)
        json.dump(data.__dict__, lzma.open(A.write, "wt"))
        print(len(data.turns), "turns", len(data.questions), "questions")
        return
    if A.put:
        put(A.reader, A.put)
        return
    sys.stdout.reconfigure(line_buffering=True)
    A.vocab = os.path.join(A.data, "vocab.txt")
    begun = time.time()
    data = json.load(lzma.open(os.path.join(A.data, "gist.json.xz"), "rt"))
    turns = means(A, data["turns"])
    asked = means(A, [("", "user", q[1]) for q in data["questions"]])
    report("left out", data, fit(data, turns, asked, HELD), turns, asked, HELD)
    weights = fit(data, turns, asked, None)
    np.savez(A.out, **{k: v.cpu().numpy().astype(np.float32)
                       for k, v in weights.items()})
    print(f"{time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
