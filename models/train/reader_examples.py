"""Make the reader's training examples out of models/data.

    python3 reader_examples.py DATA_FOLDER CORPORA_FOLDER OUT.json.xz

One JSON object a line, {"task": "read" | "answer" | "note" | "ending" |
"matter" | "newer" | "pool", ...}; train_reader.py says what it does with each. How texts are put
together here is how the program puts them together (src/engine/read): change
both or neither. Standard library only; what is random is seeded.
"""
import collections
import datetime
import glob
import gzip
import json
import lzma
import math
import os
import random
import re
import sys

KEEP = ["none", "fact", "preference", "event", "decision", "instruction",
        "report"]
FLAGS = "hqsn"
ABOUT = ["self", "you", "other", "thing"]
ACT = ["-", "opens", "on", "fails", "resolves", "abandons"]
NOTE = ["same", "updates", "contradicts", "adds", "unrelated"]
ENDING = ["resolved", "abandoned", "goes_on", "attempt_failed", "unrelated"]
ACT_ENDING = {"resolves": 0, "abandons": 1, "on": 2, "opens": 2, "fails": 3}
ENDED = 0, 1
UNRELATED = ENDING.index("unrelated")
UNKNOWN_NOT_ENDED = -2  # neither resolved nor abandoned, else unknown
UNKNOWN_GOES_ON = -3  # … but about it: of a talk's matter
UNKNOWN_NO_UPDATE = -2  # neither updates nor contradicts, else unknown
NO_MOVE_SHARE = .3  # of turns that move nothing, beside efforts of their talk
MOST_OTHERS = 3  # efforts of a talk that a turn is said to leave alone
UNKNOWN_ACT = -100  # what cross_entropy leaves out
SOFT_PAIRS = .2  # of the pairs without labels: the file travels
TITLE = 90  # bytes of an effort's name where what was said last stands behind it
FAR = 40  # turns of other worlds that share words with a question
DATE = re.compile(r"^\d+ [a-z]{3} \d{4}:? ")  # as day() writes it

rng = random.Random(7)


# --- how texts are put together -----------------------------------------------
def speaker(turn):
    if turn["role"] == "assistant":
        return "assistant"
    return turn.get("name") or "user"


def day(at):
    t = datetime.datetime.fromisoformat(at.replace("Z", "+00:00"))
    return f"{t.day} {t:%b} {t.year}".lower()


def said(turn):
    return f"{speaker(turn)}: {turn['text']}"


def passage(turn, previous):
    """A turn as an answer is looked for in it: when, who, what, and before."""
    text = f"{day(turn['at'])} {said(turn)}" if turn.get("at") else said(turn)
    if previous:
        text += " || " + said(previous)[:240]
    return text


def step(turn, previous):
    """A turn as the ending of an effort is looked for in it."""
    text = said(turn)
    if previous:
        text += " || " + said(previous)[:240]
    return text


def two_answers(earlier, later):
    """Two turns that may both answer, as the newer one is looked for."""
    return both(said(earlier), said(later))


def both(earlier, later):
    return f"{cut(later, 300)} || {cut(earlier, 240)}"


def effort(title, last):
    """An effort as a turn is held against it: its name, and what was said of
    it last, unless the turn is seen with that anyway."""
    return f"{cut(title, TITLE)} || {cut(last, 240)}" if last else title


def cut(text, most):
    """At most so many bytes, whole characters."""
    return text.encode()[:most].decode(errors="ignore")


# --- words, for negatives that look right -------------------------------------
def words(text):
    text = text.lower()
    out = re.findall(r"[a-z0-9äöüßéèêàáíóúñçâîôûœ]{3,}", text)
    wide = re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]", text)
    return out + [a + b for a, b in zip(wide, wide[1:])]


class Near:
    """The texts of a world that share rare words with a question."""

    def __init__(self, texts):
        self.bags = [set(words(t)) for t in texts]
        df = collections.Counter(w for b in self.bags for w in b)
        self.idf = {w: math.log(1 + len(texts) / n) for w, n in df.items()}

    def best(self, query, count, leave_out=()):
        q = set(words(query))
        scored = [(sum(self.idf.get(w, 0) for w in q & b) /
                   (3 + len(b)) ** .3, rng.random(), i)
                  for i, b in enumerate(self.bags) if i not in leave_out]
        scored.sort(reverse=True)
        return [i for _, _, i in scored[:count]]


class Pool:
    """The turns of many worlds in one language, and those that share rare
    words with a question: what a store of everything holds beside its answer."""

    MOST = 400  # turns that a word may stand in

    def __init__(self):
        self.passages, self.owner = [], []
        self.places = collections.defaultdict(list)

    def add(self, world):
        for i, turn in enumerate(world.turns):
            for w in set(words(turn["text"])):
                self.places[w].append(len(self.passages))
            self.passages.append(world.passage(i))
            self.owner.append(world.id)

    def best(self, query, count, leave_out):
        score = collections.Counter()
        for w in set(words(query)):
            places = self.places.get(w, ())
            for i in places if len(places) <= self.MOST else ():
                score[i] += math.log(1 + len(self.passages) / len(places))
        return [i for i, _ in score.most_common() if self.owner[i] != leave_out
                ][:count]


# --- a world --------------------------------------------------------------------
class World:
    def __init__(self, data):
        self.id = data["id"]
        self.lang = data["lang"]
        self.gold = data["gold"]
        self.chats = data["chats"]
        self.turns, self.before, self.index, self.chat_of = [], [], {}, []
        for chat in self.chats:
            for i, turn in enumerate(chat["turns"]):
                self.index[turn["id"]] = len(self.turns)
                self.before.append(chat["turns"][max(0, i - 2):i])
                self.turns.append(turn)
                self.chat_of.append(chat["id"])
        self.near = Near([t["text"] for t in self.turns])

    def previous(self, i):
        return self.before[i][-1] if self.before[i] else None

    def passage(self, i):
        return passage(self.turns[i], self.previous(i))

    def step(self, i):
        return step(self.turns[i], self.previous(i))

    def later(self, i):
        return [k for k in range(len(self.turns))
                if k != i and self.turns[k]["at"] > self.turns[i]["at"]]


def linked_talks(folder):
    """Chats of people without gold but for topics and links."""
    out = {}
    for file in sorted(glob.glob(os.path.join(folder, "links/*.jsonl"))):
        for line in open(file):
            row = json.loads(line)
            out[row["id"]] = World({**row, "gold": {"links": row["links"]}})
    return out


def goes_on(turn, before):
    """Does a turn go on with what was said just before it? -1: unknown."""
    pair = [t.get("topic", "-") for t in before[-1:] + [turn]]
    if len(pair) < 2 or "-" in pair or "chitchat" in pair:
        return -1
    return int(pair[0] == pair[1])


def reading_example(row, turn, before, lang, quick=()):
    text = turn["text"].encode()
    n = len(row["spans"])
    out = {"task": "read", "lang": lang, "speaker": speaker(turn),
           "id": row["world"] + " " + row["turn"],
           "before": " ".join(said(t) for t in before),
           "goes": goes_on(turn, before),
           "sentences": [text[a:b].decode("utf8", "replace")
                         for a, b in row["spans"]],
           "keep": [0] * n, "act": [0] * n, "about": [-1] * n,
           "flags": [[0] * 4 for _ in range(n)]}
    for label in row["labels"]:
        k = label["sentence"]
        out["keep"][k] = KEEP.index(label["keep"])
        out["act"][k] = ACT.index(label.get("act", "-"))
        if label.get("act") == "opens" and \
                (row["world"], label.get("effort")) in quick:
            out["act"][k] = UNKNOWN_ACT
        about = label.get("about", "-").split(":")[0]
        out["about"][k] = ABOUT.index(about) if about in ABOUT else -1
        out["flags"][k] = [int(f in label.get("flags", "")) for f in FLAGS]
    return out


def readings(worlds, folder):
    """Labelled turns; also which efforts each turn of a world moves, and how."""
    out, ends = [], []
    moves, opened = (collections.defaultdict(dict) for _ in range(2))
    for file in sorted(glob.glob(os.path.join(folder, "sentences/*.jsonl"))):
        rows = [json.loads(line) for line in open(file)]
        loose = collections.defaultdict(list)
        quick = done_at_once(r for r in rows if r["world"] not in worlds)
        for row in rows:
            world = worlds.get(row["world"])
            if world:
                i = world.index[row["turn"]]
                turn, before, lang = world.turns[i], world.before[i], world.lang
            else:
                turn = {"role": row["role"], "name": row["speaker"],
                        "text": row["text"], "topic": row.get("topic", "-")}
                before, lang = loose[row["world"]][-2:], row.get("lang", "en")
                loose[row["world"]].append(turn)
                talk_moves(row, turn, before, lang, opened, ends)
            if row["spans"]:
                out.append(reading_example(row, turn, before, lang, quick))
            for label in row["labels"]:
                if label.get("act") and world:
                    key = row["world"], label["effort"]
                    old = moves[key].get(i)
                    new = label["act"]
                    if old is None or ACT.index(new) > ACT.index(old[0]):
                        text = turn["text"].encode()
                        a, b = row["spans"][label["sentence"]]
                        moves[key][i] = (new, text[a:b].decode("utf8",
                                                               "replace"))
    return out, moves, ends


def talk_moves(row, turn, before, lang, opened, ends):
    """What a turn of a talk without a world does to what the talk opened.

    opened: of each talk its efforts, by name."""
    efforts = opened[row["world"]]
    moved = {}
    for label in row["labels"]:
        name, act = label.get("effort"), label.get("act")
        if act == "opens":
            a, b = row["spans"][label["sentence"]]
            part = turn["text"].encode()[a:b].decode("utf8", "replace")
            efforts.setdefault(name, {
                "topic": turn["topic"], "is_open": True, "last": None,
                "short": f"{speaker(turn)}: {part}",
                "forms": list(dict.fromkeys(
                    [said(turn), f"{speaker(turn)}: {part}"]))})
        if act:
            moved[name] = max(moved.get(name, "-"), act, key=ACT.index)
    text = step(turn, before[-1] if before else None)

    def add(form, y):
        ends.append({"task": "ending", "lang": lang, "a": form, "b": text,
                     "y": y, "hand": 1})

    def forms(effort_):
        """As its first turn, its first sentence, and with what was said last
        where that is not seen beside the turn."""
        last = effort_["last"]
        if last and (not before or said(before[-1]) != last):
            return [effort_["forms"][0], effort(effort_["short"], last)]
        return effort_["forms"]

    for name, act in moved.items():
        if name in efforts and act != "opens":
            for form in forms(efforts[name]):
                add(form, ACT_ENDING[act])
            efforts[name]["is_open"] = ACT_ENDING[act] not in ENDED
    others = [e for name, e in efforts.items()
              if e["is_open"] and name not in moved]
    # what ends or sets back another effort looks most like an end of this one
    if not {"resolves", "abandons", "fails"} & set(moved.values()):
        others = [e for e in others if rng.random() < NO_MOVE_SHARE]
    for other in others[-MOST_OTHERS:]:
        if turn["topic"] != "-":
            is_foreign = other["topic"] not in ("-", turn["topic"])
            is_own = other["topic"] == turn["topic"]
            add(rng.choice(forms(other)), UNRELATED if is_foreign
                else UNKNOWN_GOES_ON if is_own else UNKNOWN_NOT_ENDED)
    for name, act in moved.items():
        if name in efforts and act != "opens":
            efforts[name]["last"] = said(turn)


def done_at_once(rows):
    """Efforts of talks that were asked for and done by the assistant within
    two turns: whether that opens one is left to what opens the others."""
    opened, out, at = {}, set(), collections.Counter()
    for row in rows:
        talk = row["world"]
        at[talk] += 1
        for label in row["labels"]:
            key = talk, label.get("effort")
            if label.get("act") == "opens":
                opened.setdefault(key, at[talk])
            elif label.get("act") == "resolves" and key in opened and \
                    row["role"] == "assistant" and at[talk] <= opened[key] + 2:
                out.add(key)
    return out


def answers(worlds, folder):
    out, own, pools = [], {}, collections.defaultdict(Pool)

    def add(world, q, turns, old, at=None):
        gold = [world.index[t] for t in turns if t in world.index]
        hard = [world.index[t] for t in old if t in world.index]
        usable = [i for i in range(len(world.turns))
                  if at is None or world.turns[i]["at"] <= at]
        near = [i for i in world.near.best(q, 24, set(gold)) if i in usable]
        rest = [i for i in usable if i not in gold]
        picked = list(dict.fromkeys(
            [h for h in hard if h not in gold] + near[:16] +
            rng.sample(rest, min(6, len(rest)))))
        if not turns or gold:
            at = at or max(t["at"] for t in world.turns)
            out.append({"task": "answer", "lang": world.lang,
                        "q": f"{day(at)}: {q}", "world": world.id,
                        "hard": len([h for h in hard if h not in gold]),
                        "pos": [world.passage(i) for i in gold],
                        "neg": [world.passage(i) for i in picked]})

    for world in worlds.values():
        for q in world.gold["questions"]:
            add(world, q["q"], q["turns"], q.get("old", []), q["at"])
    for file in sorted(glob.glob(os.path.join(folder, "questions/*.jsonl"))):
        for line in open(file):
            q = json.loads(line)
            if q["id"] in worlds:
                add(worlds[q["id"]], q["question"], q["answer_turns"],
                    q.get("near", []))
            elif "turns" in q:
                own.setdefault(q["id"], (own_world(q), []))[1].append(q)
    for world, questions in own.values():
        foreign = [w for w, _ in own.values() if w is not world]
        for q in questions:
            add(world, q["question"], q["answer_turns"], q.get("near", []))
            out[-1]["neg"] += [
                w.passage(rng.randrange(len(w.turns)))
                for w in rng.sample(foreign, min(4, len(foreign)))]
    for world in [*worlds.values(), *(w for w, _ in own.values())]:
        pools[world.lang].add(world)
    for row in out:
        row["far"] = pools[row["lang"]].best(DATE.sub("", row["q"]), FAR,
                                             row["world"])
    return out + [{"task": "pool", "lang": lang, "texts": pool.passages,
                   "worlds": pool.owner} for lang, pool in pools.items()]


def newer(worlds, folder):
    """A question, and two turns that may answer it: does the later one give
    what holds now instead of the earlier?"""
    out = []

    def add(world, q, earlier, later, y):
        a, b = world.turns[earlier], world.turns[later]
        if a["at"] < b["at"]:
            out.append({"task": "newer", "lang": world.lang, "a": q,
                        "b": two_answers(a, b), "y": y})

    def ask(world, q, kind, turns, old):
        gold = [world.index[t] for t in turns if t in world.index]
        near = [world.index[t] for t in old if t in world.index]
        if not gold:
            return
        if kind == "latest":
            for o in near:
                for g in gold:
                    add(world, q, o, g, 1)
        else:
            for n in near:
                add(world, q, gold[0], n, 0)
            for g in gold[1:]:
                add(world, q, gold[0], g, 0)
        # what shares words with the question and answers nothing
        for n in world.near.best(q, 3, set(gold) | set(near)):
            add(world, q, gold[-1], n, 0)

    for world in worlds.values():
        for q in world.gold["questions"]:
            ask(world, q["q"], q["kind"], q["turns"], q.get("old", []))
    for file in sorted(glob.glob(os.path.join(folder, "questions/*.jsonl"))):
        for line in open(file):
            q = json.loads(line)
            world = worlds.get(q["id"]) or ("turns" in q and own_world(q))
            if world:
                ask(world, q["question"], q.get("kind"), q["answer_turns"],
                    q.get("near", []))
    return out


def own_world(q):
    """The few turns that a question brings along, as a world."""
    chats = collections.defaultdict(list)
    for turn in q["turns"]:
        chats[turn["id"].split(".")[0]].append(turn)
    return World({"id": q["id"], "lang": q["lang"], "gold": {},
                  "chats": [{"id": c, "turns": t} for c, t in chats.items()]})


def talk_questions(folder, corpora):
    """Questions written for stretches of the public dialogues."""
    wanted = collections.defaultdict(list)
    for file in sorted(glob.glob(os.path.join(folder, "questions/*.jsonl"))):
        for line in open(file):
            q = json.loads(line)
            if q.get("source", "").startswith("dlg_"):
                wanted[q["source"]].append(q)
    out = []
    for source, questions in sorted(wanted.items()):
        rows = {}
        ids = {q["id"] for q in questions}
        for line in gzip.open(os.path.join(corpora, source), "rt"):
            row = json.loads(line)
            if row["id"] in ids:
                rows[row["id"]] = row
        for q in questions:
            row = rows.get(q["id"])
            if not row:
                continue
            if q.get("path"):
                picked = list(q["path"])
            else:
                a, b = q["turns_shown"]
                picked = list(range(a, min(b + 1, len(row["turns"]))))
            turns = [{"role": row["turns"][i].get("role", "user"),
                      "name": row["turns"][i].get("name"),
                      "text": row["turns"][i]["text"]} for i in picked]
            texts = [passage(t, turns[i - 1] if i else None)
                     for i, t in enumerate(turns)]
            gold = [picked.index(t) for t in q["answer_turns"] if t in picked]
            if q["answer_turns"] and not gold:
                continue
            near = Near([t["text"] for t in turns]).best(q["question"], 20,
                                                         set(gold))
            out.append({"task": "answer", "lang": q.get("lang", "en"),
                        "q": q["question"], "hard": 0,
                        "pos": [texts[i] for i in gold],
                        "neg": [texts[i] for i in near]})
    return out


def public_questions(corpora):
    """FairytaleQA, doc2dial, Molweni: the right passage among others."""
    out = []
    rows = [json.loads(line) for line in
            gzip.open(os.path.join(corpora, "qa_fairytale.jsonl.gz"), "rt")]
    stories = collections.defaultdict(dict)
    for row in rows:
        stories[row["id"].rsplit("-", 1)[0]][row["passage"]] = 1
    for row in rows:
        others = [p for p in stories[row["id"].rsplit("-", 1)[0]]
                  if p != row["passage"]]
        neg = rng.sample(others, min(8, len(others)))
        if neg:
            out.append({"task": "answer", "lang": "en", "public": 1,
                        "hard": 0, "q": row["question"],
                        "pos": [row["passage"]], "neg": neg})
    rows = [json.loads(line) for line in
            gzip.open(os.path.join(corpora, "qa_doc2dial.jsonl.gz"), "rt")]
    passages = [r["passage"] for r in rows]
    for row in rows:
        neg = [p for p in rng.sample(passages, 9) if p != row["passage"]]
        out.append({"task": "answer", "lang": "en", "public": 1, "hard": 0,
                    "q": row["question"], "pos": [row["passage"]], "neg": neg})
    for line in gzip.open(os.path.join(corpora, "qa_molweni.jsonl.gz"), "rt"):
        row = json.loads(line)
        turns = [{"role": "user", "name": t.get("name"), "text": t["text"]}
                 for t in row["turns"]]
        gold = row.get("answer_turn")
        if gold is None and not row.get("unanswerable"):
            continue
        texts = [passage(t, turns[i - 1] if i else None)
                 for i, t in enumerate(turns)]
        out.append({"task": "answer", "lang": "en", "public": 1, "hard": 0,
                    "q": row["question"],
                    "pos": [] if gold is None else [texts[gold]],
                    "neg": [t for i, t in enumerate(texts) if i != gold][:12]})
    return out


def note_text(name, text):
    return f"{name}: {text}" if name else text


def notes(worlds, folder):
    out = []
    for file in sorted(glob.glob(os.path.join(folder, "pairs/*.jsonl"))):
        for line in open(file):
            p = json.loads(line)
            if p.get("label") not in NOTE:
                continue
            out.append({"task": "note", "lang": p.get("lang", "en"),
                        "a": note_text(p.get("speaker_a"), p["a"]),
                        "b": note_text(p.get("speaker_b"), p["b"]),
                        "y": NOTE.index(p["label"]),
                        **({"person": p["person"]} if "person" in p else {})})
    for world in worlds.values():
        noted = sorted({world.index[t] for m in world.gold["memories"]
                        for t in m["turns"]})
        for q in world.gold["questions"]:
            if q["kind"] == "latest" and len(q["turns"]) == 1:
                new = world.index[q["turns"][0]]
                for old in q.get("old", []):
                    i = world.index[old]
                    if world.turns[i]["at"] < world.turns[new]["at"]:
                        out.append({"task": "note", "lang": world.lang,
                                    "a": said(world.turns[i]),
                                    "b": said(world.turns[new]), "y": 1})
        # notes of different matters never update one another
        for b in noted:
            for a in world.near.best(world.turns[b]["text"], 8, {b}):
                x, y = world.turns[a], world.turns[b]
                if (a in noted and x["at"] < y["at"] and
                        x["topic"] != y["topic"] and rng.random() < .5):
                    out.append({"task": "note", "lang": world.lang,
                                "a": said(x), "b": said(y),
                                "y": UNKNOWN_NO_UPDATE})
    return out


class Known:
    """An effort as it is known when a turn is held against it."""

    def __init__(self, world, forms, turns):
        self.world, self.plain = world, forms
        self.turns = sorted(turns, key=lambda i: world.turns[i]["at"])

    def forms(self, i, with_short):
        world = self.world
        before = [k for k in self.turns
                  if world.turns[k]["at"] < world.turns[i]["at"]]
        last = world.turns[before[-1]] if before else None
        out = self.plain if with_short else self.plain[:1]
        if not last or last is world.previous(i) or len(before) < 2:
            return out
        return [self.plain[0], effort(self.plain[-1], said(last))]


def endings(worlds, folder, moves):
    out = []
    for file in sorted(glob.glob(os.path.join(folder, "endings/*.jsonl"))):
        for line in open(file):
            e = json.loads(line)
            if e.get("label") not in ENDING:
                continue
            if "person" in e:  # as the program found it
                out.append({"task": "ending", "lang": e["lang"], "a": e["a"],
                            "b": e["b"], "y": ENDING.index(e["label"]),
                            "person": e["person"]})
                continue
            between = e.get("between") or []
            out.append({"task": "ending", "lang": e.get("lang", "en"),
                        "a": "user: " + e["effort"],
                        "b": step(e["turn"], between[-1] if between else None),
                        "y": ENDING.index(e["label"]), "hand": 1})
    for world in worlds.values():
        efforts = {e["id"]: e for e in world.gold["efforts"]}
        for name in {k[1] for k in moves if k[0] == world.id} | set(efforts):
            acts = dict(moves.get((world.id, name), {}))
            gold = efforts.get(name)
            first = world.index[gold["open"]] if gold else None
            if first is None:
                opens = [i for i, m in acts.items() if m[0] == "opens"]
                if not opens:
                    continue
                first = min(opens)
            if gold and gold.get("end"):
                end = world.index[gold["end"]]
                kind = ("resolves" if gold["status"] == "resolved"
                        else "abandons")
                acts[end] = (kind, "")
            a = said(world.turns[first])
            short = acts.get(first, ("", ""))[1]
            later = set(world.later(first))
            forms = [a] + ([f"{speaker(world.turns[first])}: {short}"]
                           if short else [])
            known = Known(world, forms, {first, *acts})
            for i, (act, _) in sorted(acts.items()):
                if i in later:
                    for form in known.forms(i, act != "on"):
                        out.append({"task": "ending", "lang": world.lang,
                                    "world": world.id,
                                    "a": form, "b": world.step(i),
                                    "y": ACT_ENDING[act]})
            rest = sorted(later - set(acts))
            near = [i for i in world.near.best(a, 30) if i in rest][:6]
            # what other efforts' endings look like to this one
            foreign = [i for (w, n), m in moves.items()
                       if w == world.id and n != name for i in m
                       if m[i][0] in ("resolves", "abandons", "fails")
                       and i in rest]
            # … and what opens another, which is the one thing that matters
            # when a turn is asked whether it opens one
            begins = [i for (w, n), m in moves.items()
                      if w == world.id and n != name for i in m
                      if m[i][0] == "opens" and i in rest]
            picked = near + rng.sample(foreign, min(5, len(foreign))) + \
                rng.sample(begins, min(5, len(begins))) + \
                rng.sample(rest, min(4, len(rest)))
            for i in dict.fromkeys(picked):
                out.append({"task": "ending", "lang": world.lang,
                            "world": world.id,
                            "a": rng.choice(known.forms(i, True)),
                            "b": world.step(i),
                            "y": UNRELATED if world.turns[i]["topic"] !=
                            world.turns[first]["topic"]
                            else UNKNOWN_GOES_ON})
    return out


def stretch(turns):
    return " ".join(said(t) for t in turns)


def matters(worlds):
    out = []

    def add(world, a, b, y):
        out.append({"task": "matter", "lang": world.lang, "world": world.id,
                    "a": a, "b": b, "y": y})

    for world in worlds.values():
        real = [i for i, t in enumerate(world.turns)
                if t["topic"] != "chitchat"]
        for i in rng.sample(real, min(24, len(real))):
            same = [k for k in real if k != i and
                    world.turns[k]["topic"] == world.turns[i]["topic"]]
            other = [k for k in real if
                     world.turns[k]["topic"] != world.turns[i]["topic"]]
            near = [k for k in world.near.best(world.turns[i]["text"], 12, {i})
                    if k in other]
            for k, y in ([(rng.choice(same), 1)] if same else []) + \
                    ([(rng.choice(near), 0)] if near else []) + \
                    ([(rng.choice(other), 0)] if other else []):
                x = world.turns[k]
                about = [t for t in world.before[k]
                         if t["topic"] == x["topic"]] + [x]
                add(world, said(world.turns[i]), stretch(about), y)
        adjacent(world, add)
        chats_linked(world, add)
    return out


def adjacent(world, add):
    """Does a turn go on with what was said just before it?"""
    for chat in world.chats:
        turns = chat["turns"]
        for i in range(1, len(turns)):
            pair = turns[i - 1]["topic"], turns[i]["topic"]
            if "chitchat" not in pair:
                add(world, said(turns[i]), stretch(turns[max(0, i - 3):i]),
                    int(pair[0] == pair[1]))


def chats_linked(world, add):
    """Does the beginning of a chat take up a stretch of an earlier one?"""
    linked = {frozenset(p) for p in world.gold["links"]}
    chats = sorted(world.chats, key=lambda c: c["turns"][0]["at"])
    for j, new in enumerate(chats):
        topics = {t["topic"] for t in new["turns"]} - {"chitchat"}
        first = [t for t in new["turns"] if t["role"] == "user"]
        for old in chats[:j]:
            shared = topics & {t["topic"] for t in old["turns"]}
            y = frozenset((new["id"], old["id"])) in linked
            if shared and not y:
                continue  # taken up through a chat in between: unknown
            pieces = [old["turns"][k:k + 4]
                      for k in range(0, len(old["turns"]), 3)]
            if y and shared:
                pieces = [p for p in pieces
                          if shared & {t["topic"] for t in p}]
            elif not y:
                pieces = rng.sample(pieces, min(2, len(pieces)))
            for piece in pieces if y else pieces[:2]:
                add(world, stretch(first[:rng.choice((1, 2, 3, 3))]),
                    stretch(piece), int(y))


# --- what is not labelled: to be judged by the teacher ------------------------
def loose_talk(corpora):
    """Stretches of public dialogues, as lists of turns."""
    for name, count in (("dlg_oasst1", 900), ("dlg_star", 900),
                        ("dlg_taskmaster", 500), ("dlg_casino", 500),
                        ("dlg_memorybank", 30), ("dlg_qmsum", 100),
                        ("dlg_zh", 500), ("dlg_irc", 60),
                        ("dlg_woz2_en_de_it", 200)):
        file = os.path.join(corpora, name + ".jsonl.gz")
        rows = [json.loads(line) for line in gzip.open(file, "rt")]
        for row in rng.sample(rows, min(count, len(rows))):
            turns = [{"role": t.get("role", "user"), "name": t.get("name"),
                      "text": t["text"][:1200]} for t in row["turns"]
                     if t["text"].strip()]
            start = rng.randrange(max(1, len(turns) - 40))
            yield row.get("lang", "en"), turns[start:start + 40]


def split(text):
    parts = re.split(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])", text)
    return [p for p in parts if p and p.strip()]


def unlabelled(worlds, corpora):
    out = []
    for lang, turns in loose_talk(corpora):
        near = Near([t["text"] for t in turns])
        for i, turn in enumerate(turns):
            before = turns[max(0, i - 2):i]
            if rng.random() < .5:
                out.append({"task": "read", "lang": lang, "soft": 1,
                            "speaker": speaker(turn),
                            "before": " ".join(said(t) for t in before),
                            "sentences": split(turn["text"])[:24]})
            prev = turns[i - 1] if i else None
            for k in near.best(turn["text"], 2, {i}):
                a, b = turns[min(i, k)], turns[max(i, k)]
                out.append({"task": "note", "lang": lang, "soft": 1,
                            "a": said(a), "b": said(b)})
                out.append({"task": "ending", "lang": lang, "soft": 1,
                            "a": said(a),
                            "b": step(b, turns[max(i, k) - 1])})
                if turn["text"].rstrip().endswith(("?", "？")):
                    out.append({"task": "pair_answer", "lang": lang,
                                "soft": 1, "a": turn["text"],
                                "b": passage(turns[k], turns[k - 1]
                                             if k else None)})
            if prev and rng.random() < .3:
                k = rng.randrange(len(turns))
                out.append({"task": "matter", "lang": lang, "soft": 1,
                            "a": said(turn),
                            "b": stretch(turns[max(0, k - 2):k + 1])})
    for world in worlds.values():
        n = len(world.turns)
        for i in range(n):
            for k in world.near.best(world.turns[i]["text"], 3, {i}):
                a, b = sorted((i, k), key=lambda x: world.turns[x]["at"])
                out.append({"task": "note", "lang": world.lang, "soft": 1,
                            "a": said(world.turns[a]),
                            "b": said(world.turns[b])})
                out.append({"task": "ending", "lang": world.lang, "soft": 1,
                            "a": said(world.turns[a]), "b": world.step(b)})
                out.append({"task": "matter", "lang": world.lang, "soft": 1,
                            "a": said(world.turns[b]),
                            "b": stretch(world.before[a] +
                                         [world.turns[a]])})
    return out


def main():
    folder, corpora, target = sys.argv[1:4]
    worlds = {}
    for file in sorted(glob.glob(os.path.join(folder, "worlds/*.json"))):
        world = World(json.load(open(file)))
        worlds[world.id] = world
    talks = linked_talks(folder)
    reads, moves, ends = readings(worlds, folder)
    rows = (reads + ends + answers(worlds, folder) + talk_questions(folder, corpora) +
            public_questions(corpora) + notes(worlds, folder) +
            newer(worlds, folder) + endings(worlds, folder, moves) +
            matters({**worlds, **talks}) +
            unlabelled(worlds, corpora))
    rows = [r for r in rows if "soft" not in r or
            r["task"] not in ("note", "ending") or rng.random() < SOFT_PAIRS]
    counts = collections.Counter((r["task"], "soft" in r) for r in rows)
    with lzma.open(target, "wt") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    for key, n in sorted(counts.items()):
        print(*key, n)


if __name__ == "__main__":
    main()
