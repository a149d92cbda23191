"""Openbook's REST API. A token is a person."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.adapters.options import Options
from conformance.http import Api
from conformance.memory import Ability, ChatMemory, Evidence, MemoryFailed, Turn

SEARCHED_FOR = "What is the code of my locker?"
GONE = (404,)


class Openbook(ChatMemory):
    """Judged by what a model would be given, which ``threads/{id}/context/`` tells without asking one; or by the answer."""

    name = "Openbook"
    abilities = frozenset(Ability)

    def __init__(self, options: Options) -> None:
        tokens = {"first": options.token, "second": options.other_token}
        self._apis = {
            person: Api(f"{options.url}/api/v1/", {"Authorization": f"Token {token}"})
            for person, token in tokens.items()
            if token
        }
        if "first" not in self._apis:
            raise MemoryFailed("Openbook needs the token of a person: --token, as POST /api/v1/auth/token/ gives it.")
        self._by_answer = options.by == "answer"
        self._threads: dict[str, list[str]] = {person: [] for person in self._apis}
        self._replies: dict[str, list[str]] = {person: [] for person in self._apis}
        self._projects: dict[str, list[str]] = {person: [] for person in self._apis}
        self._notes: dict[str, list[str]] = {person: [] for person in self._apis}
        self._zones: dict[str, str] = {}

    def lacks(self, ability: Ability) -> str:
        if ability is Ability.PEOPLE and "second" not in self._apis:
            return "needs the token of another person: --other-token"
        return super().lacks(ability)

    def open_thread(self, person: str, *, project: str = "", temporary: bool = False) -> str:
        body: dict[str, Any] = {"project": project} if project else {}
        made = self._apis[person].call("POST", "threads/", body | ({"temporary": True} if temporary else {}))
        return self._kept(person, made["id"])

    def open_project(self, person: str) -> str:
        body = {"name": "Conformance", "uses_outside_memory": False, "shares_memory": False}
        project = str(self._apis[person].call("POST", "projects/", body)["id"])
        self._projects[person].append(project)
        return project

    def say(self, person: str, thread: str, text: str, *, edits: str = "") -> str:
        return str(self._sent(person, thread, text, edits)["user_message"]["id"])

    def load(self, person: str, turns: Sequence[Turn]) -> str:
        messages = [{"role": turn.role, "content": turn.content, "created_at": turn.at.isoformat()} for turn in turns]
        body = {"format": "openbook/1", "threads": [{"title": "Conformance", "messages": messages}]}
        return self._kept(person, self._apis[person].call("POST", "import/", body)["threads"][0]["id"])

    def context(self, person: str, thread: str, text: str) -> Evidence:
        if self._by_answer:
            answer = self._sent(person, thread, text)["assistant_message"]["text"]
            return Evidence(source="answer", messages=[{"role": "assistant", "content": answer}])
        request = self._apis[person].call("POST", f"threads/{thread}/context/", {"content": text})["request"]
        instructions = "\n".join(block["text"] for block in request["system"])
        return Evidence(source="context", instructions=instructions, messages=request["messages"])

    def remember(self, person: str, text: str) -> str:
        note = str(self._apis[person].call("POST", "memories/", {"content": text})["id"])
        self._notes[person].append(note)
        return note

    def update(self, person: str, note: str, text: str) -> None:
        self._apis[person].call("PATCH", f"memories/{note}/", {"content": text})

    def notes(self, person: str) -> list[str]:
        return [note["content"] for note in self._listed(person, "memories/")]

    def forget(self, person: str, turn: str, fact: str) -> None:
        """By its note, as people do at ``/memory/``. Notes of what is said are made after ten quiet minutes: this one is
        made here."""
        self._apis[person].call("POST", f"memories/{self.remember(person, fact)}/forget/")

    def live_in(self, person: str, time_zone: str) -> None:
        api = self._apis[person]
        self._zones.setdefault(person, api.call("GET", "preferences/")["time_zone"])
        api.call("PATCH", "preferences/", {"time_zone": time_zone})

    def traces(self, person: str) -> dict[str, str]:
        api = self._apis[person]
        requests = [
            api.call("GET", f"requests/{request['id']}/")
            for thread in self._threads[person]
            for request in self._listed(person, f"threads/{thread}/requests/")
        ]
        turns = [self._listed(person, f"threads/{thread}/messages/?path=all") for thread in self._threads[person]]
        places = {
            "search": api.call("GET", "memories/search/", q=SEARCHED_FOR),
            "notes": self._listed(person, "memories/"),
            "topics": self._listed(person, "topics/"),
            "summaries of days": self._listed(person, "days/"),
            "titles": [api.call("GET", f"threads/{thread}/") for thread in self._threads[person]],
            "turns": turns,
            "recorded requests": requests,
            "streams that can be resumed": [
                _said_in(api.call("GET", f"replies/{reply}/events/", may_be=(404, 410), after="0") or "")
                for reply in self._replies[person]
            ],
            "export": api.call("GET", "export/", may_be=(403,)),
        }
        return {place: json.dumps(value, ensure_ascii=False) for place, value in places.items()}

    def clear(self) -> None:
        for person, api in self._apis.items():
            for thread in _taken(self._threads[person]):
                api.call("DELETE", f"threads/{thread}/", may_be=GONE)
            for project in _taken(self._projects[person]):
                api.call("DELETE", f"projects/{project}/", may_be=GONE, threads="delete")
            for note in _taken(self._notes[person]):
                api.call("DELETE", f"memories/{note}/", may_be=GONE)
            self._replies[person].clear()
            if person in self._zones:
                api.call("PATCH", "preferences/", {"time_zone": self._zones.pop(person)})

    def close(self) -> None:
        for api in self._apis.values():
            api.close()

    def _sent(self, person: str, thread: str, text: str, edits: str = "") -> Any:
        body = {"content": text} | ({"edits": edits} if edits else {})
        sent = self._apis[person].call("POST", f"threads/{thread}/messages/", body)
        self._replies[person].append(sent["reply"]["id"])
        return sent

    def _kept(self, person: str, thread: str) -> str:
        self._threads[person].append(thread)
        return thread

    def _listed(self, person: str, path: str) -> list[Any]:
        """All pages of a list."""
        api = self._apis[person]
        page = api.call("GET", path)
        results = list(page["results"])
        while page.get("next"):
            page = api.call("GET", page["next"])
            results += page["results"]
        return results


def _taken(ids: list[str]) -> Iterator[str]:
    """Each id, once: what was removed is not removed again."""
    while ids:
        yield ids.pop()


def _said_in(stream: str) -> list[str]:
    """The events of a stream, and the text that its pieces make together. Pure."""
    events = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]
    return [stream, "".join(event["data"].get("text") or "" for event in events if event["type"] == "reply.delta")]
