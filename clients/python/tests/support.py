# SPDX-License-Identifier: Apache-2.0
"""The program under test, and what can happen between it and a client.

CLEW_BIN says where the program is.
"""

import http.client
import http.server
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

BIN = os.environ.get("CLEW_BIN", os.path.join(os.path.dirname(__file__), "../../../build/clew"))


def turn(content, **more):
    return {"user_id": "u", "role": "user", "content": content, **more}


class Server:
    """`clew serve` on a folder and a port of its own."""

    def __init__(self, *args, data=None, listen="127.0.0.1:0"):
        self.data = data or tempfile.mkdtemp(prefix="clew-test-")
        self._is_own = data is None
        env = {"PATH": os.environ["PATH"], "HOME": self.data, "CLEW_READER_ON": "false"}
        self._child = subprocess.Popen(
            [BIN, "serve", "--data", self.data, "--listen", listen, *args],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        log = ""
        for line in self._child.stderr:
            log += line
            found = re.match(r"listening on (\S+)", line)
            if found:
                self.url = found[1]
                break
        else:
            raise RuntimeError(f"clew serve ended early:\n{log}")
        self._log = threading.Thread(target=self._child.stderr.read, daemon=True)
        self._log.start()

    def stop(self):
        self._child.kill()
        self._child.wait()
        self._log.join()
        self._child.stderr.close()
        if self._is_own:
            shutil.rmtree(self.data, ignore_errors=True)


class Faults:
    """Passes requests on to `target`; `plan` lists what happens instead.

    (status, headers) answers so; "lost" lets the server do it and loses the
    answer; "half" breaks off in its middle; "mute" never answers; None passes
    it on, as do all after the last.
    """

    def __init__(self, target):
        self.plan = []
        self.seen = []
        self.begun = set()  # addresses whose answer has begun to leave
        self._target = urllib.parse.urlsplit(target)
        self._sockets = set()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        faults = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def handle_any(self):
                with faults._lock:
                    at = len(faults.seen)
                    fault = faults.plan[at] if at < len(faults.plan) else None
                    faults.seen.append(f"{self.command} {self.path}")
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self.close_connection = True
                try:
                    faults._handle(self, fault, body)
                except OSError:
                    pass

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def setup(self):
                super().setup()
                with faults._lock:
                    faults._sockets.add(self.connection)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def expect(self, *plan):
        with self._lock:
            self.plan = list(plan)
            self.seen = []

    def _handle(self, handler, fault, body):
        if isinstance(fault, tuple):
            status, headers = fault
            data = b'{"error":{"code":"FAULT","type":"t","message":"a fault","request_id":"r"}}'
            handler.send_response(status)
            for name, value in {"content-length": str(len(data)), **headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(data)
            return
        if fault == "mute":
            self._is_over.wait(300)
            return
        on = http.client.HTTPConnection(self._target.hostname, self._target.port, timeout=300)
        try:
            self._pass_on(handler, fault, body, on)
        finally:
            on.close()

    def _pass_on(self, handler, fault, body, on):
        on.request(handler.command, handler.path, body, dict(handler.headers))
        with on.getresponse() as answer:
            self._answer(handler, fault, answer)

    def _answer(self, handler, fault, answer):
        if fault == "lost":
            answer.read()
            return
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                handler.send_header(name, value)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        while part := answer.read1(65536):
            if fault == "half":
                handler.wfile.write(b"%x\r\n%s" % (len(part), part[: len(part) // 2]))
                return
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.begun.add(handler.path)
        handler.wfile.write(b"0\r\n\r\n")

    def cut(self):
        """What is open now breaks, as if a cable was pulled."""
        with self._lock:
            for one in self._sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self._sockets.clear()

    def stop(self):
        self._is_over.set()
        self.cut()
        self._server.shutdown()
        self._server.server_close()


def until(is_so, seconds=300):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError("it never came to be")
        time.sleep(0.01)
