# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as classes to tell apart."""

import email.utils
import json
import time
from typing import List, Mapping, Optional

from .schema import Captured, NewTurn


class ClewError(Exception):
    """The server answered with an error. Nothing was done."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field
        self.request_id = request_id
        self.retry_after = retry_after


class ConnectionFailed(Exception):
    """No answer came: the server is gone, it broke off, or took too long.

    `is_unsent` is true if the server cannot have seen the request.
    """

    def __init__(self, message: str, *, is_unsent: bool = False) -> None:
        super().__init__(message)
        self.is_unsent = is_unsent


class Aborted(Exception):
    """Somebody called Abort.abort()."""


class BatchError(Exception):
    """Some batches of remember_all() were stored, one was not.

    `left` has the turns from there on, with the ids they were given: passing
    them on again stores each once, also those whose answer was lost.
    """

    def __init__(self, done: List[Captured], left: List[NewTurn], cause: Exception) -> None:
        super().__init__(f"{len(left)} turns are not known to be stored: {cause}")
        self.done = done
        self.left = left


def _retry_after(text: Optional[str]) -> Optional[float]:
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ClewError:
    """The error of an answer with a bad status; its body may be anything."""
    wait = _retry_after(headers.get("retry-after"))
    try:
        error = json.loads(body)["error"]
        return ClewError(
            status,
            error["code"],
            error.get("message", error["code"]),
            field=error.get("field"),
            request_id=error.get("request_id"),
            retry_after=wait,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        text = body[:200].decode("utf-8", "replace")
        return ClewError(status, "HTTP_ERROR", f"HTTP {status}: {text}", retry_after=wait)
