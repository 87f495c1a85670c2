# SPDX-License-Identifier: Apache-2.0
"""A chat history in LangChain's shape, that needs no LangChain to import.

A session is a chat of clew, found by the external id of its first turn: nothing
has to be kept elsewhere, and two programs that open the same session at once
end up in the same chat. Messages go into turns as their text with all else
they have beside it, and come out as they were: as LangChain's own where
langchain_core is installed, else as Message.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

from .client import Clew
from .errors import ClewError
from .schema import NewTurn, Turn

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
TYPES = {role: kind for kind, role in ROLES.items()}


@dataclass
class Message:
    """What LangChain's messages have at least."""

    type: str
    content: Any
    additional_kwargs: Dict[str, Any] = field(default_factory=dict)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else part.get("text", "") for part in content]
    return "\n".join(part for part in parts if part)


def _data(message: Any) -> Dict[str, Any]:
    if hasattr(message, "model_dump"):
        return message.model_dump(mode="json")
    return {"type": message.type, "content": message.content, "additional_kwargs": message.additional_kwargs}


def _message(turn: Turn) -> Any:
    blocks = turn.get("content") or [{}]
    stored = blocks[0].get("langchain") if isinstance(blocks[0], dict) else None
    kind = TYPES.get(turn["role"], "human")
    data = (stored or {}).get("data") or {"content": turn["text"]}
    kind = (stored or {}).get("type") or kind
    if kind == "tool" and "tool_call_id" not in data:
        kind = "human"  # said by others than LangChain
    try:
        from langchain_core.messages import messages_from_dict
    except ImportError:
        return Message(kind, data["content"], data.get("additional_kwargs") or {})
    return messages_from_dict([{"type": kind, "data": data}])[0]


class ClewChatMessageHistory:
    """As langchain_core's BaseChatMessageHistory; for RunnableWithMessageHistory."""

    def __init__(self, clew: Clew, user_id: str, session_id: str) -> None:
        self._clew = clew
        self._user_id = user_id
        self._opener = f"session:{user_id}:{session_id}"
        self._chat_id: Optional[str] = None

    def chat_id(self) -> Optional[str]:
        """The chat's id in clew; None before the first message."""
        if not self._chat_id:
            found = self._clew.call("findTurns", query={"external_id": self._opener})
            self._chat_id = found["items"][0]["chat_id"] if found["items"] else None
        return self._chat_id

    @property
    def messages(self) -> List[Any]:
        chat_id = self.chat_id()
        return [_message(turn) for turn in self._clew.turns(chat_id)] if chat_id else []

    def _turn(self, message: Any) -> NewTurn:
        stored = {"type": message.type, "data": _data(message)}
        block = {"type": "text", "text": _text(message.content), "langchain": stored}
        role: Any = ROLES.get(message.type, "user")
        return {"user_id": self._user_id, "role": role, "content": [block]}  # type: ignore[list-item]

    def add_messages(self, messages: Sequence[Any]) -> None:
        turns = [self._turn(message) for message in messages]
        if turns and not self.chat_id() and self._open(turns[0]):
            turns = turns[1:]
        chat_id = self.chat_id() if turns else None
        for turn in turns:
            turn["chat_id"] = chat_id  # type: ignore[typeddict-item]
        self._clew.remember_all(turns)

    def _open(self, turn: NewTurn) -> bool:
        """False if another was faster."""
        # a second empty chat would harm nobody
        chat = self._clew.call("createChat", body={"user_id": self._user_id}, is_safe=True)
        turn = {**turn, "chat_id": chat["id"], "external_id": self._opener}  # type: ignore[typeddict-item]
        try:
            self._chat_id = self._clew.remember(turn)["turn"]["chat_id"]
            return True
        except ClewError as error:
            if error.status != 409:
                raise
            return False

    def add_message(self, message: Any) -> None:
        self.add_messages([message])

    def add_user_message(self, message: Any) -> None:
        self.add_message(Message("human", message) if isinstance(message, str) else message)

    def add_ai_message(self, message: Any) -> None:
        self.add_message(Message("ai", message) if isinstance(message, str) else message)

    def clear(self) -> None:
        """Forgets the chat and all that was made of it."""
        chat_id = self.chat_id()
        if chat_id:
            self._clew.call("forget", body={"chat_id": chat_id})
        self._chat_id = None

    async def aget_messages(self) -> List[Any]:
        return await asyncio.to_thread(lambda: self.messages)

    async def aadd_messages(self, messages: Sequence[Any]) -> None:
        await asyncio.to_thread(self.add_messages, messages)

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)
