# SPDX-License-Identifier: Apache-2.0
"""Clew and AsyncClew against the program, and against what can happen between.

Every case runs on both: `Both` makes the async one look like the other.
"""

import asyncio
import threading
import time
import unittest

import clew_client
from clew_client import Abort, Aborted, AsyncClew, BatchError, Clew, ClewError, ConnectionFailed, SseParser

from .support import Faults, Server, turn, until

server = None


def setUpModule():
    global server
    server = Server()


def tearDownModule():
    server.stop()


class Waiting:
    """AsyncClew with each call run to its end."""

    def __init__(self, *args, **more):
        self._clew = AsyncClew(*args, **more)

    def __getattr__(self, name):
        def run(*args, **more):
            made = getattr(self._clew, name)(*args, **more)
            if hasattr(made, "__aiter__"):
                return _walk(made)
            return asyncio.run(made)

        return run


def _walk(steps):
    loop = asyncio.new_event_loop()
    try:
        while True:
            try:
                yield loop.run_until_complete(anext(steps))
            except StopAsyncIteration:
                return
    finally:
        loop.run_until_complete(steps.aclose())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


class Cases:
    """The cases; `make` says with which client."""

    make = None

    def setUp(self):
        self.clew = self.make(server.url)

    def new_chat(self):
        return self.clew.call("createChat", body={"user_id": "u"})["id"]

    def texts(self, chat_id):
        return [one["text"] for one in Clew(server.url).turns(chat_id)]

    def faults(self, target=None):
        faults = Faults(target or server.url)
        self.addCleanup(faults.stop)
        return faults

    def test_store_find_and_read_the_context(self):
        stored = self.clew.remember(turn("The ferry leaves at nine."))
        self.assertRegex(stored["turn"]["external_id"], "^c-[0-9a-f]{32}$")
        found = self.clew.recall("when does the ferry leave", user_id="u")
        self.assertIn("nine", found["items"][0]["text"])
        context = self.clew.context(stored["chat"]["id"], budget_tokens=400, message="and the ferry?")
        self.assertIn("ferry", context["text"])
        chat = self.clew.call("getChat", params={"id": stored["chat"]["id"]})
        self.assertEqual(chat["id"], stored["chat"]["id"])
        self.assertIn("clew_", self.clew.call("getMetrics"))

    def test_ask_and_hear_the_answer_as_it_comes(self):
        self.clew.remember(turn("The ferry leaves at nine."))
        question = "When does the ferry leave?"
        answer = self.clew.ask(question, user_id="u")
        self.assertEqual((answer["by"], answer["reason"]), ("passages", "NO_MODEL"))
        self.assertIn("nine", answer["sentences"][0]["text"])
        pieces = list(self.clew.ask_stream(question, user_id="u"))
        self.assertEqual([pieces[0][0], pieces[1][0], pieces[-1][0]], ["sources", "sentence", "answer"])
        self.assertEqual(pieces[-1][1]["sentences"], [one for name, one in pieces if name == "sentence"])
        with self.assertRaises(ClewError):
            list(self.clew.ask_stream("", user_id="u"))

    def test_errors_have_status_code_field_and_id(self):
        with self.assertRaises(ClewError) as raised:
            self.clew.call("getChat", params={"id": "01900000-0000-7000-8000-000000000000"})
        self.assertEqual((raised.exception.status, raised.exception.code), (404, "NOT_FOUND"))
        self.assertTrue(raised.exception.request_id)
        with self.assertRaises(ClewError) as raised:
            self.clew.remember(turn("x", role="nobody"))
        self.assertEqual((raised.exception.status, raised.exception.field), (400, "role"))
        with self.assertRaisesRegex(TypeError, '"id" is missing'):
            self.clew.call("getChat")
        with self.assertRaisesRegex(TypeError, "no operation"):
            self.clew.call("getNothing")
        self.clew.remember(turn("one", external_id=f"same {self.make}"))
        with self.assertRaises(ClewError) as raised:
            self.clew.remember(turn("two", external_id=f"same {self.make}"))
        self.assertEqual(raised.exception.status, 409)

    long_chat = []  # stored by the first who needs it

    def test_10000_turns_are_stored_in_order_and_paged_through(self):
        said = [f"n{i}" for i in range(10_000)]
        if not self.long_chat:
            chat_id = self.new_chat()
            done = self.clew.remember_all([turn(text, chat_id=chat_id) for text in said])
            self.assertEqual(len(done), 10_000)
            self.long_chat.append(chat_id)
        chat_id = self.long_chat[0]
        self.assertEqual([one["text"] for one in self.clew.turns(chat_id)], said)
        some = []
        for one in self.clew.turns(chat_id, limit=7):
            some.append(one["text"])
            if len(some) == 20:
                break
        self.assertEqual(some, said[:20])

    def test_an_empty_list_and_an_empty_batch(self):
        self.assertEqual(list(self.clew.memories(user_id="nobody at all")), [])
        self.assertEqual(self.clew.remember_all([]), [])

    def test_429_and_503_are_tried_again_no_sooner_than_asked(self):
        faults = self.faults()
        faults.expect((429, {"retry-after": "1"}), (503, {}))
        begun = time.monotonic()
        stored = self.make(faults.url).remember(turn("after a while"))
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertEqual((len(faults.seen), stored["turn"]["text"]), (3, "after a while"))

    def test_it_gives_up_in_the_end_and_at_once_if_it_would_wait_too_long(self):
        faults = self.faults()
        clew = self.make(faults.url, retries=2)
        for plan, status, count in (
            ([(503, {})] * 9, 503, 3),
            ([(429, {"retry-after": "3600"})], 429, 1),
            ([(500, {})], 500, 1),
        ):
            faults.expect(*plan)
            with self.assertRaises(ClewError) as raised:
                clew.recall("x")
            self.assertEqual((raised.exception.status, len(faults.seen)), (status, count))

    def test_a_turn_whose_answer_was_lost_cut_or_late_is_stored_once(self):
        faults = self.faults()
        chat_id = self.new_chat()
        for fault in ("lost", "half", "mute"):
            faults.expect(fault)
            timeout = 2 if fault == "mute" else 300
            self.make(faults.url, timeout=timeout, retries=9).remember(turn(f"said {fault}", chat_id=chat_id))
            self.assertGreaterEqual(len(faults.seen), 2)
        faults.expect("lost", None, "half", (503, {}))
        many = [f"b{i}" for i in range(1200)]
        self.make(faults.url).remember_all([turn(text, chat_id=chat_id) for text in many])
        self.assertEqual(self.texts(chat_id), ["said lost", "said half", "said mute", *many])

    def test_what_may_not_be_done_twice_is_not_sent_twice(self):
        faults = self.faults()
        user_id = f"once {self.make}"
        faults.expect("lost")
        with self.assertRaises(ConnectionFailed):
            self.make(faults.url).call("createChat", body={"user_id": user_id})
        self.assertEqual(len(faults.seen), 1)
        self.assertEqual(len(list(self.clew.chats(user_id=user_id))), 1)

    def test_a_batch_that_fails_says_what_is_left(self):
        faults = self.faults()
        chat_id = self.new_chat()
        turns = [turn(f"p{i}", chat_id=chat_id) for i in range(1100)]
        faults.expect(None, "lost", "lost")
        with self.assertRaises(BatchError) as raised:
            self.make(faults.url, retries=1).remember_all(turns)
        self.assertEqual(len(raised.exception.done) + len(raised.exception.left), 1100)
        self.assertIsInstance(raised.exception.__cause__, ConnectionFailed)
        self.clew.remember_all(raised.exception.left)
        self.assertEqual(self.texts(chat_id), [one["content"] for one in turns])

    def test_a_server_that_is_gone_is_an_error_soon(self):
        gone = Server()
        gone.stop()
        lonely = self.make(gone.url, retries=1)
        begun = time.monotonic()
        with self.assertRaises(ConnectionFailed) as raised:
            lonely.remember(turn("hello?"))
        self.assertTrue(raised.exception.is_unsent)
        with self.assertRaises(ConnectionFailed):
            list(lonely.events())
        self.assertLess(time.monotonic() - begun, 25)  # waiting for an answer takes 30

    def test_events_are_taken_up_where_they_broke_none_twice(self):
        faults = self.faults()
        chat_id = self.new_chat()
        heard = []

        def listen():
            for one in self.make(faults.url).events():
                if one["event"] == "turn" and one["chat_id"] == chat_id:
                    heard.append(one["seq"])
                if len(heard) == 6:
                    return

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        # an answer begins with the mark to go on from
        until(lambda: "/api/v1/events" in faults.begun)
        faults.cut()  # before the first event: it is not missed
        writer = Clew(server.url)
        for i in range(3):
            writer.remember(turn(f"e{i}", chat_id=chat_id))
        until(lambda: len(heard) == 3)
        faults.expect((503, {}))
        faults.cut()
        writer.remember_all([turn(f"e{i}", chat_id=chat_id) for i in range(3, 6)])
        listener.join(300)
        self.assertEqual(heard, [1, 2, 3, 4, 5, 6])

    def test_a_stream_that_falls_silent_is_an_error(self):
        faults = self.faults()
        faults.expect("mute", "mute", "mute")
        with self.assertRaises(ConnectionFailed):
            list(self.make(faults.url, idle=1, timeout=1, retries=1).events())
        self.assertEqual(len(faults.seen), 2)

    def test_half_of_a_stream_is_an_error(self):
        faults = self.faults()
        faults.expect("half")
        with self.assertRaises(ConnectionFailed):
            list(self.make(faults.url).stream("/api/v1/recall", {"query": "x"}))
        with self.assertRaises(ClewError):
            list(self.make(faults.url).stream("/api/v1/recall", {}))


class TestClew(Cases, unittest.TestCase):
    make = Clew

    def test_an_abort_ends_it_at_once(self):
        faults = self.faults()
        begun = time.monotonic()
        for plan, what in (
            ("mute", lambda clew, abort: clew.recall("x", abort=abort)),
            ((503, {"retry-after": "20"}), lambda clew, abort: clew.recall("x", abort=abort)),
            (None, lambda clew, abort: list(clew.events(abort=abort))),
        ):
            faults.expect(plan)
            abort = Abort()
            timer = threading.Timer(0.1, abort.abort)
            timer.start()
            with self.assertRaises(Aborted):
                what(Clew(faults.url), abort)
        faults.expect()
        with self.assertRaises(Aborted):
            Clew(faults.url).recall("x", abort=abort)
        self.assertEqual(faults.seen, [])
        self.assertLess(time.monotonic() - begun, 15)


class TestAsyncClew(Cases, unittest.TestCase):
    make = Waiting

    def test_a_cancelled_task_ends_at_once(self):
        faults = self.faults()

        async def listen(clew):
            async for one in clew.events():
                pass  # what earlier tests stored may still be told
            self.fail("the stream ended by itself")

        async def main():
            clew = AsyncClew(faults.url)
            for plan, make in (("mute", clew.recall("x")), ((503, {"retry-after": "20"}), clew.recall("x")),
                               (None, listen(clew))):
                faults.expect(plan)
                task = asyncio.create_task(make)
                await asyncio.sleep(0.1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task

        begun = time.monotonic()
        asyncio.run(main())
        self.assertLess(time.monotonic() - begun, 15)

    def test_many_at_once(self):
        async def main():
            clew = AsyncClew(server.url)
            made = await asyncio.gather(*(clew.remember(turn(f"m{i}")) for i in range(50)))
            self.assertEqual(sorted(one["turn"]["text"] for one in made), sorted(f"m{i}" for i in range(50)))

        asyncio.run(main())


class TestParts(unittest.TestCase):
    def test_events_are_cut_out_of_any_pieces(self):
        text = ("\ufeff: hi\r\nid: 1\r\n\r\nevent: a\ndata: x\ndata:  y\n\nid\rdata\r\r\ndata: \U0001F9F6\n"
                "id: 2\n\ndata: lost").encode()
        want = [("a", "x\n y", "1"), ("message", "", ""), ("message", "\U0001F9F6", "2")]
        for size in range(1, len(text) + 1):
            parser = SseParser()
            got = []
            for i in range(0, len(text), size):
                got += [(one.event, one.data, one.id) for one in parser.push(text[i : i + size])]
            self.assertEqual(got, want, f"pieces of {size}")
        parser = SseParser()
        with self.assertRaises(ValueError):
            while True:
                parser.push(b"data: ".ljust(1 << 20, b"x"))

    def test_addresses(self):
        with self.assertRaises(ValueError):
            Clew("ftp://somewhere")
        with self.assertRaises(ValueError):
            Clew("127.0.0.1:2539")
        with self.assertRaises(ValueError):
            Clew(server.url, key="two\r\nlines").recall("x")

    def test_all_that_is_promised_is_there(self):
        for name in clew_client.__all__:
            self.assertTrue(hasattr(clew_client, name), name)


if __name__ == "__main__":
    unittest.main()
