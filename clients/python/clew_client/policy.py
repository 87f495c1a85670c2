# SPDX-License-Identifier: Apache-2.0
"""What both clients share: a request, and when to make it again.

429 and 503 mean that nothing was done: those are tried again, after
Retry-After or a growing pause. A connection that failed is tried again if the
server cannot have seen the request, or if seeing it twice is harmless.
"""

import json
import random
import urllib.parse
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Union

from .errors import ClewError, ConnectionFailed
from .schema import OPERATIONS

FIRST_PAUSE_S = 0.15
PAGE = 500
RAW = ("exportAll", "getMetrics")


@dataclass
class Request:
    method: str
    target: str
    headers: Dict[str, str]
    body: Optional[bytes]
    is_safe: bool


def _filled(path: str, params: Mapping[str, str]) -> str:
    parts = path.split("{")
    out = parts[0]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        if not params.get(name):
            raise TypeError(f'"{name}" is missing')
        out += urllib.parse.quote(str(params[name]), safe="") + rest
    return out


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass
class Policy:
    """Where the server is, and how patient one is with it."""

    url: str
    key: Optional[str]
    retries: int
    timeout: float
    max_pause: float

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an address of a server: {self.url}")
        self.is_tls = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if self.is_tls else 80)
        self.base = parts.path.rstrip("/")

    def plain(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Request:
        out = {"accept": "application/json", "connection": "close", **headers}
        if self.key:
            out["x-api-key"] = self.key
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            out["content-type"] = "application/json"
        elif method != "GET":
            data = b""
        for name, value in out.items():
            if "\r" in value or "\n" in value:
                raise ValueError(f"{name} has a line break")
        return Request(method, self.base + path, out, data, False)

    def request(
        self,
        operation: str,
        params: Optional[Mapping[str, str]],
        query: Optional[Mapping[str, Any]],
        body: Any,
        is_safe: Optional[bool],
    ) -> Request:
        if operation not in OPERATIONS:
            raise TypeError(f"there is no operation {operation}")
        method, path, is_known_safe = OPERATIONS[operation]
        target = _filled(path, params or {})
        pairs = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        if pairs:
            target += "?" + urllib.parse.urlencode(pairs)
        if method in ("GET", "DELETE"):
            body = None
        elif body is None:
            body = {}
        out = self.plain(method, target, body, {})
        out.is_safe = is_known_safe if is_safe is None else is_safe
        return out

    def pause(self, n: int) -> float:
        """The pause before try number `n` (from 0); half of it is chance."""
        most = min(FIRST_PAUSE_S * 2**n, self.max_pause)
        return most / 2 + random.random() * most / 2

    def again(self, error: Exception, n: int, is_safe: bool) -> Optional[float]:
        """How long to wait before trying again; None: do not."""
        if n >= self.retries:
            return None
        if isinstance(error, ConnectionFailed):
            return self.pause(n) if is_safe or error.is_unsent else None
        if not isinstance(error, ClewError):
            return None
        may_repeat = error.status in (429, 503) or (is_safe and error.status in (502, 504))
        wanted = error.retry_after or 0.0
        if not may_repeat or wanted > self.max_pause:
            return None
        return wanted + self.pause(n)  # not all who wait at the same moment

    @staticmethod
    def answer(operation: str, body: bytes) -> Any:
        if operation in RAW:
            return body.decode()
        try:
            return json.loads(body)
        except ValueError as error:
            raise ConnectionFailed("the answer is not JSON") from error


def next_cursor(page: Mapping[str, Any], cursor: Union[str, None]) -> Optional[str]:
    """The cursor of the page after `page`, or None."""
    following = page.get("next_cursor")
    if following and following == cursor:
        raise ConnectionFailed("the list does not go on")
    return following
