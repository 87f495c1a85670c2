# SPDX-License-Identifier: Apache-2.0
"""Server-sent events out of a stream of bytes.

As the HTML standard says: lines end with CR, LF or both, comments are passed
over, an event that has not ended when the stream does is dropped.
"""

import codecs
from dataclasses import dataclass
from typing import List, Optional

MAX_EVENT_CHARS = 16 * 1024 * 1024


@dataclass(frozen=True)
class ServerSentEvent:
    event: str
    data: str
    id: Optional[str]


class SseParser:
    """Takes bytes as they come, gives events as they end."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: List[str] = []
        self._size = 0
        self._event = ""
        self._is_after_cr = False
        self.last_id: Optional[str] = None

    def push(self, part: bytes) -> List[ServerSentEvent]:
        text = self._decoder.decode(part)
        if not text:
            return []
        if self._is_after_cr and text[0] == "\n":
            text = text[1:]
            self._is_after_cr = False
            if not text:
                return []
        self._is_after_cr = text[-1] == "\r"
        lines = (self._rest + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop()
        if len(self._rest) + self._size > MAX_EVENT_CHARS:
            raise ValueError("an event is too large")
        return [event for event in map(self._line, lines) if event]

    def _line(self, line: str) -> Optional[ServerSentEvent]:
        if not line:
            return self._end()
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            self._data.append(value)
            self._size += len(value)
            if self._size > MAX_EVENT_CHARS:
                raise ValueError("an event is too large")
        elif field == "event":
            self._event = value
        elif field == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _end(self) -> Optional[ServerSentEvent]:
        out = None
        if self._data:
            out = ServerSentEvent(self._event or "message", "\n".join(self._data), self.last_id)
        self._data = []
        self._size = 0
        self._event = ""
        return out
