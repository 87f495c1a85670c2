# SPDX-License-Identifier: Apache-2.0
"""Ids that the client makes, so that no turn is stored twice."""

import json
import secrets
from typing import List, Sequence, cast

from .schema import NewTurn

MAX_BATCH_TURNS = 500
MAX_BATCH_CHARS = 4 * 1024 * 1024


def new_id() -> str:
    """A new external id: 128 random bits."""
    return f"c-{secrets.token_hex(16)}"


def with_id(turn: NewTurn) -> NewTurn:
    """The turn with an external id, its own if it has one."""
    return cast(NewTurn, {**turn, "external_id": turn.get("external_id") or new_id()})


def with_ids(turns: Sequence[NewTurn]) -> List[NewTurn]:
    """The turns with ids: what to keep if they must survive a crash."""
    return [with_id(turn) for turn in turns]


def batch_length(turns: Sequence[NewTurn], start: int) -> int:
    """How many turns from `start` on go into one batch."""
    size = 0
    count = 0
    while start + count < len(turns) and count < MAX_BATCH_TURNS:
        size += len(json.dumps(turns[start + count]))
        if count > 0 and size > MAX_BATCH_CHARS:
            break
        count += 1
    return count
