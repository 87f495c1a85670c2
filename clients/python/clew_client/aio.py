# SPDX-License-Identifier: Apache-2.0
"""The calls of Clew for asyncio. Cancel the task to abort one."""

import asyncio
import json
from contextlib import aclosing
from typing import Any, AsyncGenerator, Dict, List, Mapping, Optional, Sequence, Tuple, cast

from .async_http import AsyncExchange, read_all
from .errors import BatchError, ConnectionFailed, error_of
from .ids import batch_length, with_id, with_ids
from .policy import PAGE, Policy, next_cursor
from .schema import Answer, Captured, Chat, Context, Memory, NewTurn, Recalled, Turn
from .sse import ServerSentEvent, SseParser


class AsyncClew:
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

    async def call(
        self,
        operation: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        is_safe: Optional[bool] = None,
    ) -> Any:
        """Any operation of the API by its operationId; see Clew.call()."""
        request = self._policy.request(operation, params, query, body, is_safe)
        n = 0
        while True:
            try:
                status, headers, data = await read_all(self._policy, request)
                if status < 300:
                    return self._policy.answer(operation, data)
                raise error_of(status, headers, data)
            except Exception as error:
                pause = self._policy.again(error, n, request.is_safe)
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            n += 1

    async def remember(self, turn: NewTurn) -> Captured:
        """Store a turn. It gets an `external_id` if it has none, and is stored once."""
        return cast(Captured, await self.call("createTurns", body=with_id(turn)))

    async def remember_all(self, turns: Sequence[NewTurn]) -> List[Captured]:
        """Store many turns, in order; see Clew.remember_all()."""
        ready = with_ids(turns)
        done: List[Captured] = []
        while len(done) < len(ready):
            batch = ready[len(done) : len(done) + batch_length(ready, len(done))]
            try:
                done += (await self.call("createTurns", body={"turns": batch}))["items"]
            except Exception as error:
                raise BatchError(done, ready[len(done) :], error) from error
        return done

    async def recall(self, query: str, **more: Any) -> Recalled:
        """Find what was said; `more` are the fields of RecallBody."""
        return cast(Recalled, await self.call("recall", body={**more, "query": query}))

    async def ask(self, query: str, **more: Any) -> Answer:
        """Answer a question in sentences that cite; `more` as AskBody."""
        return cast(Answer, await self.call("ask", body={**more, "query": query}))

    async def ask_stream(self, query: str, **more: Any) -> AsyncGenerator[Tuple[str, Any], None]:
        """The same as it comes; see Clew.ask_stream()."""
        async with aclosing(self.stream("/api/v1/ask", {**more, "query": query, "stream": True})) as stream:
            async for one in stream:
                yield one.event, json.loads(one.data)
                if one.event == "answer":
                    return
        raise ConnectionFailed("the answer broke off", is_unsent=False)

    async def context(self, chat_id: str, **more: Any) -> Context:
        """What the next turn of a chat needs to know; `more` as GetContextBody."""
        return cast(Context, await self.call("getContext", params={"id": chat_id}, body=more))

    async def each(
        self,
        operation: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
    ) -> AsyncGenerator[Any, None]:
        """All items of a list, page after page, as they are asked for."""
        asked: Dict[str, Any] = {"limit": PAGE, **(query or {})}
        while True:
            page = await self.call(operation, params=params, query=asked)
            for item in page["items"]:
                yield item
            cursor = next_cursor(page, asked.get("cursor"))
            if not cursor:
                return
            asked["cursor"] = cursor

    def chats(self, **query: Any) -> AsyncGenerator[Chat, None]:
        return self.each("listChats", query=query)

    def turns(self, chat_id: str, **query: Any) -> AsyncGenerator[Turn, None]:
        """A chat's turns, oldest first, through its forks."""
        return self.each("listTurns", params={"id": chat_id}, query=query)

    def memories(self, **query: Any) -> AsyncGenerator[Memory, None]:
        return self.each("listMemories", query=query)

    async def events(self, *, after: Optional[str] = None) -> AsyncGenerator[Dict[str, Any], None]:
        """What happens; see Clew.events()."""
        mark = after
        n = 0
        while True:
            parser = SseParser()
            headers = {"last-event-id": mark} if mark else {}
            try:
                async with aclosing(self._stream("GET", "/api/v1/events", None, headers, parser)) as stream:
                    async for one in stream:
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
            await asyncio.sleep(pause)
            n += 1

    def stream(
        self, path: str, body: Any, *, headers: Optional[Mapping[str, str]] = None
    ) -> AsyncGenerator[ServerSentEvent, None]:
        """An answer that streams; see Clew.stream()."""
        return self._stream("POST", path, body, headers or {}, SseParser())

    async def _stream(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], parser: SseParser
    ) -> AsyncGenerator[ServerSentEvent, None]:
        request = self._policy.plain(method, path, body, {**headers, "accept": "text/event-stream"})
        exchange = await self._in_time(AsyncExchange.open(self._policy, request), self._policy.timeout)
        try:
            pieces = exchange.pieces()
            if exchange.status >= 300:
                data = b"".join([part async for part in pieces])
                raise error_of(exchange.status, exchange.headers, data)
            while True:
                try:
                    part = await self._in_time(anext(pieces), self._idle)
                except StopAsyncIteration:
                    return
                for event in parser.push(part):
                    yield event
        finally:
            exchange.close()

    @staticmethod
    async def _in_time(what: Any, seconds: float) -> Any:
        try:
            return await asyncio.wait_for(what, seconds)
        except asyncio.TimeoutError as error:
            raise ConnectionFailed(f"silent for {seconds} s") from error
