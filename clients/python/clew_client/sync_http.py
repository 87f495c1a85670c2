# SPDX-License-Identifier: Apache-2.0
"""One request over a blocking socket, with a time limit and an abort."""

import http.client
import socket
import ssl
import threading
import time
from typing import Dict, Iterator, Optional, Tuple

from .errors import Aborted, ConnectionFailed
from .policy import Policy, Request


class Abort:
    """Ends calls from another thread: pass it to them, then call abort()."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._sockets: Dict[int, socket.socket] = {}

    def abort(self) -> None:
        self._event.set()
        with self._lock:
            for one in self._sockets.values():
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def check(self) -> None:
        if self._event.is_set():
            raise Aborted()

    def sleep(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise Aborted()

    def hold(self, one: socket.socket) -> None:
        with self._lock:
            self._sockets[id(one)] = one
        self.check()

    def release(self, one: socket.socket) -> None:
        with self._lock:
            self._sockets.pop(id(one), None)


class Exchange:
    """A request that was sent and its answer, as it comes."""

    def __init__(self, policy: Policy, request: Request, abort: Abort) -> None:
        self._abort = abort
        self._deadline = time.monotonic() + policy.timeout
        kind = http.client.HTTPConnection
        more = {}
        if policy.is_tls:
            kind = http.client.HTTPSConnection
            more["context"] = ssl.create_default_context()
        self._connection = kind(policy.host, policy.port, timeout=policy.timeout, **more)
        self._socket: Optional[socket.socket] = None
        try:
            abort.check()
            self._connect()
            self._connection.request(request.method, request.target, request.body, request.headers)
            self._limit()
            self._answer = self._connection.getresponse()
        except BaseException as error:
            self.close()
            raise self._failure(error) from error
        self.status = self._answer.status
        self.headers = {name.lower(): value for name, value in self._answer.getheaders()}

    def _connect(self) -> None:
        try:
            self._connection.connect()
        except OSError as error:  # nothing was sent yet
            raise ConnectionFailed(f"no answer: {error}", is_unsent=True) from error
        self._socket = self._connection.sock
        self._abort.hold(self._socket)

    def _limit(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ConnectionFailed("no answer in time")
        self._wait_for(left)

    def _wait_for(self, seconds: float) -> None:
        if self._socket and self._socket.fileno() >= 0:  # closed once all is read
            self._socket.settimeout(seconds)

    def _failure(self, error: BaseException) -> BaseException:
        self._abort.check()
        if isinstance(error, (OSError, http.client.HTTPException)):
            what = "no answer in time" if isinstance(error, TimeoutError) else f"no answer: {error!r}"
            return ConnectionFailed(what)
        return error

    def read(self) -> bytes:
        """All of it."""
        parts = []
        try:
            while True:
                self._limit()
                part = self._answer.read(65536)
                if not part:
                    break
                parts.append(part)
            if self._answer.length:
                raise http.client.IncompleteRead(b"", self._answer.length)
        except BaseException as error:
            raise self._failure(error) from error
        finally:
            self.close()
        return b"".join(parts)

    def pieces(self, idle: float) -> Iterator[bytes]:
        """As they come; silence of `idle` seconds is a failure."""
        try:
            while True:
                self._wait_for(idle)
                part = self._answer.read1(65536)
                if not part:
                    return
                yield part
                self._abort.check()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failure(error) from error
        finally:
            self.close()

    def close(self) -> None:
        if self._socket:
            self._abort.release(self._socket)
        self._connection.close()


def read_all(policy: Policy, request: Request, abort: Abort) -> Tuple[int, Dict[str, str], bytes]:
    exchange = Exchange(policy, request, abort)
    return exchange.status, exchange.headers, exchange.read()
