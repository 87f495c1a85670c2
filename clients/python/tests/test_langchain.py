# SPDX-License-Identifier: Apache-2.0
"""The chat history, with LangChain where it is installed and without."""

import asyncio
import threading
import unittest

from clew_client import Clew
from clew_client.langchain import ClewChatMessageHistory, Message

from .support import Faults, Server

server = None


def setUpModule():
    global server
    server = Server()


def tearDownModule():
    server.stop()


def history(session_id, url=None):
    return ClewChatMessageHistory(Clew(url or server.url), "ada", session_id)


class TestHistory(unittest.TestCase):
    def said(self, session_id):
        return [(one.type, one.content) for one in history(session_id).messages]

    def test_messages_come_back_as_they_were(self):
        history("one").add_messages([Message("system", "Be kind."), Message("human", "hi"),
                                     Message("ai", [{"type": "text", "text": "hello"}])])
        history("one").add_user_message("and now?")
        history("one").add_ai_message("now this")
        self.assertEqual(self.said("one"), [("system", "Be kind."), ("human", "hi"),
            ("ai", [{"type": "text", "text": "hello"}]), ("human", "and now?"), ("ai", "now this")])

    def test_turns_of_others_are_messages_too(self):
        one = history("two")
        one.add_user_message("mine")
        Clew(server.url).remember({"user_id": "ada", "role": "assistant", "content": "theirs",
                                   "chat_id": one.chat_id()})
        self.assertEqual(self.said("two"), [("human", "mine"), ("ai", "theirs")])

    def test_clear_forgets_one_session_and_it_begins_anew(self):
        history("three").add_user_message("old")
        history("four").add_user_message("other")
        history("three").clear()
        self.assertEqual(self.said("three"), [])
        history("three").clear()
        history("three").add_user_message("new")
        self.assertEqual(self.said("three"), [("human", "new")])
        self.assertEqual(self.said("four"), [("human", "other")])

    def test_those_who_open_it_at_once_are_in_one_chat(self):
        threads = [threading.Thread(target=history("race").add_user_message, args=(text,)) for text in "xyz"]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(sorted(content for _, content in self.said("race")), ["x", "y", "z"])

    def test_lost_answers_store_nothing_twice(self):
        faults = Faults(server.url)
        self.addCleanup(faults.stop)
        faults.expect(*["lost", None] * 6)
        shaky = history("shaky", faults.url)
        shaky.add_messages([Message("human", text) for text in "123"])
        shaky.add_ai_message("4")
        self.assertEqual([content for _, content in self.said("shaky")], ["1", "2", "3", "4"])

    def test_async(self):
        async def main():
            one = history("async")
            await one.aadd_messages([Message("human", "hi")])
            self.assertEqual([message.content for message in await one.aget_messages()], ["hi"])
            await one.aclear()
            self.assertEqual(await one.aget_messages(), [])

        asyncio.run(main())

    def test_langchain_itself(self):
        try:
            from langchain_core.language_models import FakeListChatModel
            from langchain_core.messages import HumanMessage
            from langchain_core.runnables.history import RunnableWithMessageHistory
        except ImportError:
            self.skipTest("langchain_core is not installed")
        chain = RunnableWithMessageHistory(FakeListChatModel(responses=["A fine name.", "Adelheid."]), history)
        config = {"configurable": {"session_id": "boats"}}
        chain.invoke([HumanMessage("The boat is called Adelheid.")], config)
        chain.invoke([HumanMessage("What is the boat called?")], config)
        self.assertEqual(self.said("boats"), [("human", "The boat is called Adelheid."), ("ai", "A fine name."),
                                              ("human", "What is the boat called?"), ("ai", "Adelheid.")])


if __name__ == "__main__":
    unittest.main()
