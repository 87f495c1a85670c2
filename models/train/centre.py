#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mean of the shipped embedder's vectors over sentences of the corpus.

    zcat corpus.txt.gz | centre.py --lines | clew model embed |
        centre.py > ../static_centre.inc

--lines passes on the lines to embed: sentences, not glosses of a dictionary.
Without it vectors are read, one JSON array a line, and their mean is printed
as C numbers in 1/10000.
"""
import json
import re
import sys

GLOSS = re.compile(r"^[^:.?!]{1,40}: ")

if "--lines" in sys.argv:
    for line in sys.stdin:
        if len(line) > 20 and not GLOSS.match(line):
            sys.stdout.write(line)
else:
    total, count = [], 0
    for line in sys.stdin:
        vector = json.loads(line)
        total = [a + b for a, b in zip(total, vector)] if total else vector
        count += 1
    mean = [round(10000 * value / count) for value in total]
    for at in range(0, len(mean), 12):
        print("    " + ", ".join(map(str, mean[at:at + 12])) + ",")
