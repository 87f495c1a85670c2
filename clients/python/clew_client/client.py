# SPDX-License-Identifier: Apache-2.0
"""clew from Python: every operation by its name, and the few that need more
than one request."""

import json
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, cast

from .errors import BatchError, ConnectionFailed, error_of
from .ids import batch_length, with_id, with_ids
from .policy import PAGE, Policy, next_cursor
from .schema import Answer, Captured, Chat, Context, Memory, NewTurn, Recalled, Turn
from .sse import ServerSentEvent, SseParser
from .sync_http import Abort, Exchange, read_all


class Clew:
    """Safe to use from several threads. Every call takes `abort`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:2539",
        key: Optional[str] = None,
        *,
        retries: int = 4,
        timeout: float = 30.0,
        max_pause: float = 30.0,
        idle: float = 45.0,
    ) -> None:
        self._policy = Policy(url, key, retries, timeout, max_pause)
        self._idle = idle

    def call(
        self,
        operation: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        is_safe: Optional[bool] = None,
        abort: Optional[Abort] = None,
    ) -> Any:
        """Any operation of the API by its operationId.

        `is_safe`: send it again also if the server may have seen it.
        """
        request = self._policy.request(operation, params, query, body, is_safe)
        abort = abort or Abort()
        n = 0
        while True:
            try:
                status, headers, data = read_all(self._policy, request, abort)
                if status < 300:
                    return self._policy.answer(operation, data)
                raise error_of(status, headers, data)
            except Exception as error:
                pause = self._policy.again(error, n, request.is_safe)
                if pause is None:
                    raise
            abort.sleep(pause)
            n += 1

    def remember(self, turn: NewTurn, *, abort: Optional[Abort] = None) -> Captured:
        """Store a turn. It gets an `external_id` if it has none, and is stored once."""
        return cast(Captured, self.call("createTurns", body=with_id(turn), abort=abort))

    def remember_all(self, turns: Sequence[NewTurn], *, abort: Optional[Abort] = None) -> List[Captured]:
        """Store many turns, in order, in batches that are all or nothing each.

        Raises BatchError with what is left if one fails.
        """
        ready = with_ids(turns)
        done: List[Captured] = []
        while len(done) < len(ready):
            batch = ready[len(done) : len(done) + batch_length(ready, len(done))]
            try:
                done += self.call("createTurns", body={"turns": batch}, abort=abort)["items"]
            except Exception as error:
                raise BatchError(done, ready[len(done) :], error) from error
        return done

    def recall(self, query: str, *, abort: Optional[Abort] = None, **more: Any) -> Recalled:
        """Find what was said; `more` are the fields of RecallBody."""
        return cast(Recalled, self.call("recall", body={**more, "query": query}, abort=abort))

    def ask(self, query: str, *, abort: Optional[Abort] = None, **more: Any) -> Answer:
        """Answer a question in sentences that cite; `more` as AskBody."""
        return cast(Answer, self.call("ask", body={**more, "query": query}, abort=abort))

    def ask_stream(self, query: str, *, abort: Optional[Abort] = None, **more: Any) -> Iterator[Tuple[str, Any]]:
        """The same as it comes: ("sources", …), ("sentence", …), ("answer", Answer).

        The last piece is the whole answer, which counts: what a model said before
        it failed came too. One that breaks off raises ConnectionFailed.
        """
        for one in self.stream("/api/v1/ask", {**more, "query": query, "stream": True}, abort=abort):
            yield one.event, json.loads(one.data)
            if one.event == "answer":
                return
        raise ConnectionFailed("the answer broke off", is_unsent=False)

    def context(self, chat_id: str, *, abort: Optional[Abort] = None, **more: Any) -> Context:
        """What the next turn of a chat needs to know; `more` as GetContextBody."""
        return cast(Context, self.call("getContext", params={"id": chat_id}, body=more, abort=abort))

    def each(
        self,
        operation: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        abort: Optional[Abort] = None,
    ) -> Iterator[Any]:
        """All items of a list, page after page, as they are asked for."""
        asked: Dict[str, Any] = {"limit": PAGE, **(query or {})}
        while True:
            page = self.call(operation, params=params, query=asked, abort=abort)
            yield from page["items"]
            cursor = next_cursor(page, asked.get("cursor"))
            if not cursor:
                return
            asked["cursor"] = cursor

    def chats(self, *, abort: Optional[Abort] = None, **query: Any) -> Iterator[Chat]:
        return self.each("listChats", query=query, abort=abort)

    def turns(self, chat_id: str, *, abort: Optional[Abort] = None, **query: Any) -> Iterator[Turn]:
        """A chat's turns, oldest first, through its forks."""
        return self.each("listTurns", params={"id": chat_id}, query=query, abort=abort)

    def memories(self, *, abort: Optional[Abort] = None, **query: Any) -> Iterator[Memory]:
        return self.each("listMemories", query=query, abort=abort)

    def events(self, *, after: Optional[str] = None, abort: Optional[Abort] = None) -> Iterator[Dict[str, Any]]:
        """What happens: the fields of Event, its type as `event`, and `mark`.

        A stream that breaks is taken up after the last event; none is lost or
        comes twice. Raises once `retries` tries in a row failed.
        """
        abort = abort or Abort()
        mark = after
        n = 0
        while True:
            parser = SseParser()
            headers = {"last-event-id": mark} if mark else {}
            try:
                for one in self._stream("GET", "/api/v1/events", None, headers, abort, parser):
                    mark = one.id
                    n = 0
                    yield {**json.loads(one.data), "event": one.event, "mark": mark}
                raise ConnectionFailed("the stream ended", is_unsent=True)
            except Exception as error:
                if parser.last_id is not None and parser.last_id != mark:
                    mark = parser.last_id
                    n = 0
                pause = self._policy.again(error, n, True)
                if pause is None:
                    raise
            abort.sleep(pause)
            n += 1

    def stream(
        self,
        path: str,
        body: Any,
        *,
        headers: Optional[Mapping[str, str]] = None,
        abort: Optional[Abort] = None,
    ) -> Iterator[ServerSentEvent]:
        """An answer that streams: a call through the proxy with "stream": true.

        It is not made again; one that breaks off raises ConnectionFailed.
        """
        return self._stream("POST", path, body, headers or {}, abort or Abort(), SseParser())

    def _stream(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        abort: Abort,
        parser: SseParser,
    ) -> Iterator[ServerSentEvent]:
        request = self._policy.plain(method, path, body, {**headers, "accept": "text/event-stream"})
        exchange = Exchange(self._policy, request, abort)
        if exchange.status >= 300:
            raise error_of(exchange.status, exchange.headers, exchange.read())
        for part in exchange.pieces(self._idle):
            yield from parser.push(part)
