"""Train the glance: does a passage promise an answer, after a few layers?

    python3 train_glance.py --reader reader.bin --data DIR --out glance.npz
    python3 train_glance.py --reader reader.bin --put glance.npz

The first form needs PyTorch, a GPU and the `tokenizers` package; DIR holds
examples.json.xz (reader_examples.py) and vocab.txt. It runs a trained reader,
whose weights stay as they are, over the questions and fits two small layers to what it has after GLANCE_LAYER layers:
the mean of the question, that of the passage, the first token, and the product
of the two means. They follow the labels and what the whole reader says, half
each. The second form writes them into the reader's file.

One question in eight is held out, by its text, and printed: how often what the
whole reader likes best is among the few that the glance likes best.
"""
import argparse
import json
import lzma
import os
import random
import sys
import time

import numpy as np

import reader_file

GLANCE_LAYER = 3
HIDDEN = 64


# --- into the file ------------------------------------------------------------
def put(reader, glance):
    """Write the glance's tensors into a reader's file."""
    about, arrays, vocab = reader_file.load(reader)
    arrays.update(np.load(glance))
    about["glance_layer"] = GLANCE_LAYER
    reader_file.write_like(reader, about, arrays, vocab)


# --- what the reader has after a few layers -----------------------------------
def questions(path):
    """The questions written for this project; public ones are left out."""
    rows = map(json.loads, lzma.open(path, "rt"))
    return [r for r in rows if r["task"] == "answer" and "soft" not in r and
            "public" not in r]


def pairs_of(rows, rng):
    """(row, label, question, passage): passages near the question first."""
    out = []
    for i, r in enumerate(rows):
        rest = r["neg"][8:]
        neg = r["neg"][:8] + rng.sample(rest, min(4, len(rest)))
        out += [(i, 1, r["q"], p) for p in r["pos"][:3]]
        out += [(i, 0, r["q"], p) for p in neg]
    return out


def features(A, pairs):
    """[pairs][4 dim] as the program has them, and the whole reader's word."""
    import torch
    import train_reader as train
    pack, heads = train.open_file(A.reader, A.vocab, "answer")
    model = train.Encoder(pack, 4).to(train.dev).eval().set_rounds(True)
    with torch.no_grad():
        w, b = heads["answer"]
        model.heads["answer"].weight.copy_(w)
        model.heads["answer"].bias.copy_(b)
    tokens = train.Tokens(A.vocab)
    items = [tokens.pair(a, b) for _, _, a, b in pairs]
    order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
    feats = np.zeros((len(items), 4 * model.words.shape[1]), np.float32)
    words = np.zeros(len(items), np.float32)

    def span(x, mask):
        m = mask[:, :, None].float()
        return (x * m).sum(1) / m.sum(1).clamp_min(1)

    with torch.no_grad():
        for k in range(0, len(order), 512):
            at = order[k:k + 512]
            ids, types, mask = train.stack([items[i] for i in at])
            bias = torch.zeros(len(at), 1, 1, ids.shape[1], device=train.dev)
            bias.masked_fill_(~mask[:, None, None, :], -30000.0)
            x = torch.nn.functional.embedding(
                ids, train.Round.apply(model.words))
            x = model.norm(x + model.positions[:ids.shape[1]] +
                           model.types[types])
            special = (ids == train.CLS) | (ids == train.SEP)
            for i, layer in enumerate(model.layers):
                x = layer(x, bias)
                if i + 1 == GLANCE_LAYER:
                    a = span(x, mask & (types == 0) & ~special)
                    b = span(x, mask & (types == 1) & ~special)
                    feats[at] = torch.cat([a, b, x[:, 0], a * b], 1) \
                        .cpu().numpy()
            words[at] = torch.sigmoid(model.heads["answer"](
                span(x, mask))[:, 0]).cpu().numpy()
    return feats, words


# --- the two layers -----------------------------------------------------------
def fit(x, y, seed, seconds):
    import torch
    from torch import nn
    torch.manual_seed(seed)
    mean, std = x.mean(0), x.std(0) + 1e-6
    z = (x - mean) / std
    net = nn.Sequential(nn.Dropout(.1), nn.Linear(x.shape[1], HIDDEN),
                        nn.ReLU(), nn.Dropout(.2), nn.Linear(HIDDEN, 1)) \
        .to(x.device)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=.05)
    epochs, size = 14, 512
    total = epochs * (len(z) // size + 1)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-3, total_steps=total)
    begun = time.time()
    for _ in range(epochs):
        order = torch.randperm(len(z), device=x.device)
        for k in range(0, len(order), size):
            at = order[k:k + size]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                net(z[at])[:, 0], y[at])
            opt.zero_grad()
            loss.backward()
            opt.step()
            plan.step()
        if time.time() - begun > seconds:
            break
    net.eval()
    w, b = net[1].weight.detach(), net[1].bias.detach()
    w = w / std
    return net, mean, std, {
        "glance.in": w.cpu().numpy(),
        "glance.in.bias": (b - w @ mean).cpu().numpy(),
        "glance.out": net[4].weight.detach().cpu().numpy(),
        "glance.out.bias": net[4].bias.detach().cpu().numpy()}


def report(name, rows, label, word, score):
    """Of questions with an answer: is it, is the reader's best, among few?"""
    order = np.argsort(rows, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(rows[order])) + 1)
    groups = [g for g in groups if label[g].any()]
    line = []
    for few in (3, 4, 5, 6):
        top = [g[np.argsort(-score[g])[:few]] for g in groups]
        line.append(f"{few}: {np.mean([label[t].any() for t in top]):.3f} "
                    f"{np.mean([word[g].argmax() in np.argsort(-score[g])[:few] for g in groups]):.3f}")
    pos, neg = score[label == 1], score[label == 0]
    ranks = np.argsort(np.argsort(np.concatenate([pos, neg])))
    auc = (ranks[:len(pos)].mean() - (len(pos) - 1) / 2) / len(neg)
    print(name, f"auc {auc:.4f}", *line, flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--reader", required=True)
    ap.add_argument("--data")
    ap.add_argument("--out")
    ap.add_argument("--put")
    ap.add_argument("--seconds", type=float, default=120)
    A = ap.parse_args()
    if A.put:
        put(A.reader, A.put)
        return
    import torch
    from train_reader import dev, hash_of
    sys.stdout.reconfigure(line_buffering=True)
    A.vocab = os.path.join(A.data, "vocab.txt")
    rows = questions(os.path.join(A.data, "examples.json.xz"))
    pairs = pairs_of(rows, random.Random(7))
    held = np.array([hash_of(r["q"].split(": ", 1)[-1]) % 8 == 0 for r in rows])
    at = np.array([p[0] for p in pairs])
    label = np.array([p[1] for p in pairs], np.float32)
    print(len(rows), "questions", len(pairs), "pairs", int(held.sum()), "held")
    feats, word = features(A, pairs)
    out = held[at]
    x = torch.from_numpy(feats).to(dev)
    y = torch.from_numpy(.5 * label + .5 * word).to(dev)
    inside = torch.from_numpy(~out).to(dev)
    report("whole", at[out], label[out], word[out], word[out])
    net, mean, std, arrays = fit(x[inside], y[inside], 1, A.seconds)
    with torch.no_grad():
        score = net((x - mean) / std)[:, 0].cpu().numpy()
    report("glance, held out", at[out], label[out], word[out], score[out])
    report("glance, trained on", at[~out][:90000], label[~out][:90000],
           word[~out][:90000], score[~out][:90000])
    np.savez(A.out, **{k: v.astype(np.float32) for k, v in arrays.items()})


if __name__ == "__main__":
    main()
