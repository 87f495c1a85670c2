# SPDX-License-Identifier: Apache-2.0
"""The Python client of clew, a memory engine for AI conversations.

    from clew_client import Clew

    clew = Clew("http://127.0.0.1:2539")
    clew.remember({"user_id": "ada", "role": "user", "content": "I moved to Lisbon."})
    print(clew.recall("Where does Ada live?", user_id="ada")["items"][0]["text"])

`AsyncClew` has the same calls for asyncio.
"""

from .aio import AsyncClew
from .client import Clew
from .errors import Aborted, BatchError, ClewError, ConnectionFailed
from .ids import new_id, with_id, with_ids
from .sse import ServerSentEvent, SseParser
from .sync_http import Abort

__all__ = [
    "Abort",
    "Aborted",
    "AsyncClew",
    "BatchError",
    "Clew",
    "ClewError",
    "ConnectionFailed",
    "ServerSentEvent",
    "SseParser",
    "new_id",
    "with_id",
    "with_ids",
]
