"""The REST API of mem0's open-source server: ``/memories`` and ``/search``. A person is a ``user_id``, a conversation a
``run_id``.

https://docs.mem0.ai/open-source/features/rest-api
"""

import json
import secrets
from typing import Any

from conformance.adapters.options import Options
from conformance.http import Api
from conformance.memory import Ability, ChatMemory, Evidence

LIMIT = 10
"""How many memories a program asks for and gives to its model."""

Message = dict[str, str]


class Mem0(ChatMemory):
    """Judged by what a search gives, and by the turns of the conversation, which the program keeps: both are what programs give
    to their models. Nobody answers what is said."""

    name = "mem0"
    abilities = frozenset(
        {
            *(Ability.SAY, Ability.CONTEXT, Ability.PEOPLE, Ability.REMEMBER),
            *(Ability.NOTES, Ability.FORGET, Ability.TRACES),
        }
    )

    def __init__(self, options: Options) -> None:
        self._api = Api(options.url, {"X-API-Key": options.token} if options.token else {})
        self._run = secrets.token_hex(6)
        self._made: dict[str, list[str]] = {}
        self._turns: dict[str, list[Message]] = {}

    def open_thread(self, person: str, *, project: str = "", temporary: bool = False) -> str:
        return secrets.token_hex(6)

    def say(self, person: str, thread: str, text: str, *, edits: str = "") -> str:
        message = {"role": "user", "content": text}
        self._turns.setdefault(thread, []).append(message)
        body = {"messages": [message], "user_id": self._user(person), "run_id": thread}
        turn = secrets.token_hex(6)
        self._made[turn] = _ids(self._api.call("POST", "/memories", body))
        return turn

    def context(self, person: str, thread: str, text: str) -> Evidence:
        body = {
            "query": text,
            "user_id": self._user(person),
            "filters": {"user_id": self._user(person)},
            "limit": LIMIT,
        }
        results = self._api.call("POST", "/search", body)["results"]
        memories = [{"role": "user", "content": f"{found.get('created_at')}: {found['memory']}"} for found in results]
        return Evidence(source="context", messages=[*memories, *self._turns.get(thread, [])])

    def remember(self, person: str, text: str) -> str:
        message = {"role": "user", "content": text}
        body = {"messages": [message], "user_id": self._user(person), "infer": False}
        [note] = _ids(self._api.call("POST", "/memories", body))
        return note

    def update(self, person: str, note: str, text: str) -> None:
        self._api.call("PUT", f"/memories/{note}", {"text": text})

    def notes(self, person: str) -> list[str]:
        return [str(note["memory"]) for note in self._all(person)]

    def forget(self, person: str, turn: str, fact: str) -> None:
        """What was made of the turn: mem0 keeps no turns that could be named."""
        for note in self._made[turn]:
            self._api.call("DELETE", f"/memories/{note}", may_be=(404,))

    def traces(self, person: str) -> dict[str, str]:
        notes = [note for made in self._made.values() for note in made]
        histories = [self._api.call("GET", f"/memories/{note}/history", may_be=(404,)) for note in notes]
        places = {"notes": self._all(person), "histories of notes": histories}
        return {place: json.dumps(value, ensure_ascii=False) for place, value in places.items()}

    def clear(self) -> None:
        for person in self.people:
            self._api.call("DELETE", "/memories", may_be=(404,), user_id=self._user(person))
        self._made.clear()
        self._turns.clear()

    def close(self) -> None:
        self._api.close()

    def _user(self, person: str) -> str:
        return f"conformance-{self._run}-{person}"

    def _all(self, person: str) -> list[dict[str, Any]]:
        return list(self._api.call("GET", "/memories", user_id=self._user(person))["results"])


def _ids(added: dict[str, Any]) -> list[str]:
    return [str(found["id"]) for found in added["results"] if found.get("event") != "DELETE"]
