# SPDX-License-Identifier: Apache-2.0
"""One request over asyncio's streams: HTTP/1.1, as much as clew speaks of it."""

import asyncio
import ssl
from typing import AsyncIterator, Dict, Tuple

from .errors import ConnectionFailed
from .policy import Policy, Request

MAX_HEAD_BYTES = 64 * 1024
PIECE = 65536


class AsyncExchange:
    """A request that was sent and its answer, as it comes."""

    status: int
    headers: Dict[str, str]

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, policy: Policy, request: Request) -> "AsyncExchange":
        tls = ssl.create_default_context() if policy.is_tls else None
        try:
            reader, writer = await asyncio.open_connection(
                policy.host, policy.port, ssl=tls, limit=MAX_HEAD_BYTES
            )
        except OSError as error:  # nothing was sent yet
            raise ConnectionFailed(f"no answer: {error}", is_unsent=True) from error
        self = cls(reader, writer)
        try:
            await self._send(policy, request)
            await self._read_head()
        except BaseException as error:
            self.close()
            raise _failure(error) from error
        return self

    async def _send(self, policy: Policy, request: Request) -> None:
        host = f"[{policy.host}]" if ":" in policy.host else policy.host
        headers = {"host": f"{host}:{policy.port}", **request.headers}
        if request.body is not None:
            headers["content-length"] = str(len(request.body))
        lines = [f"{request.method} {request.target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (request.body or b""))
        await self._writer.drain()

    async def _read_head(self) -> None:
        self.status = 100
        while self.status < 200:  # "100 Continue" comes before the answer
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            version, _, rest = head[0].partition(" ")
            if not version.startswith("HTTP/1."):
                raise ValueError("that is not HTTP")
            self.status = int(rest[:3])
            pairs = [line.partition(":") for line in head[1:] if line]
            self.headers = {name.strip().lower(): value.strip() for name, _, value in pairs}

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes; one that breaks off is a failure."""
        try:
            if "chunked" in self.headers.get("transfer-encoding", "").lower():
                async for part in self._chunks():
                    yield part
            elif "content-length" in self.headers:
                left = int(self.headers["content-length"])
                while left > 0:
                    part = await self._some(min(left, PIECE))
                    left -= len(part)
                    yield part
            else:
                while part := await self._reader.read(PIECE):
                    yield part
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            raise _failure(error) from error

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            line = await self._reader.readuntil(b"\r\n")
            left = int(line.split(b";")[0], 16)
            if left == 0:
                return
            while left > 0:
                part = await self._some(min(left, PIECE))
                left -= len(part)
                yield part
            await self._reader.readexactly(2)

    async def _some(self, most: int) -> bytes:
        part = await self._reader.read(most)
        if not part:
            raise EOFError("the answer broke off")
        return part

    def close(self) -> None:
        self._writer.transport.abort()  # whatever is still under way is not wanted


def _failure(error: BaseException) -> BaseException:
    if isinstance(error, (OSError, EOFError, ValueError, asyncio.LimitOverrunError)):
        return ConnectionFailed(f"no answer: {error!r}")
    return error


async def _read(policy: Policy, request: Request) -> Tuple[int, Dict[str, str], bytes]:
    exchange = await AsyncExchange.open(policy, request)
    try:
        parts = [part async for part in exchange.pieces()]
    finally:
        exchange.close()
    return exchange.status, exchange.headers, b"".join(parts)


async def read_all(policy: Policy, request: Request) -> Tuple[int, Dict[str, str], bytes]:
    try:
        return await asyncio.wait_for(_read(policy, request), policy.timeout)
    except asyncio.TimeoutError as error:
        raise ConnectionFailed("no answer in time") from error
