"""Letta's REST API. A person is an agent with blocks of its own; an agent has one conversation, which is its memory.

https://docs.letta.com/api-reference – ``/v1/agents``, ``…/messages``, ``…/archival-memory``, ``…/core-memory/blocks``.
"""

import json
from typing import Any

from conformance.adapters.options import Options
from conformance.http import Api
from conformance.memory import Ability, ChatMemory, Evidence

MODEL, EMBEDDING = "letta/letta-free", "letta/letta-free"


class Letta(ChatMemory):
    """Judged by what stands in an agent's context window, and by what its archive gives for the message."""

    name = "Letta"
    abilities = frozenset(
        {
            *(Ability.SAY, Ability.CONTEXT, Ability.PEOPLE, Ability.REMEMBER),
            Ability.NOTES,
        }
    )

    def __init__(self, options: Options) -> None:
        self._api = Api(options.url, {"Authorization": f"Bearer {options.token}"} if options.token else {})
        self._agents: dict[str, str] = {}

    def open_thread(self, person: str, *, project: str = "", temporary: bool = False) -> str:
        if person not in self._agents:
            blocks = [{"label": "human", "value": ""}, {"label": "persona", "value": "You are a companion."}]
            body = {"name": f"conformance-{person}", "model": MODEL, "embedding": EMBEDDING, "memory_blocks": blocks}
            self._agents[person] = str(self._api.call("POST", "/v1/agents/", body)["id"])
        return self._agents[person]

    def say(self, person: str, thread: str, text: str, *, edits: str = "") -> str:
        body = {"messages": [{"role": "user", "content": text}]}
        return str(self._api.call("POST", f"/v1/agents/{thread}/messages", body)["messages"][0]["id"])

    def context(self, person: str, thread: str, text: str) -> Evidence:
        window = self._api.call("GET", f"/v1/agents/{thread}/context")
        found = self._api.call("GET", f"/v1/agents/{thread}/archival-memory/search", query=text)
        archive = [{"role": "user", "content": passage["content"]} for passage in found["results"]]
        instructions = "\n".join([window.get("system_prompt") or "", window.get("core_memory") or ""])
        return Evidence(source="context", instructions=instructions, messages=[*window["messages"], *archive])

    def remember(self, person: str, text: str) -> str:
        agent = self.open_thread(person)
        return str(self._api.call("POST", f"/v1/agents/{agent}/archival-memory", {"text": text})[0]["id"])

    def update(self, person: str, note: str, text: str) -> None:
        """A passage is not changed, but replaced."""
        self._api.call("DELETE", f"/v1/agents/{self._agents[person]}/archival-memory/{note}")
        self.remember(person, text)

    def notes(self, person: str) -> list[str]:
        agent = self._agents[person]
        passages: list[dict[str, Any]] = self._api.call("GET", f"/v1/agents/{agent}/archival-memory")
        blocks: list[dict[str, Any]] = self._api.call("GET", f"/v1/agents/{agent}/core-memory/blocks")
        return [json.dumps(passage["text"], ensure_ascii=False) for passage in passages] + [
            str(block["value"]) for block in blocks
        ]

    def clear(self) -> None:
        for agent in self._agents.values():
            self._api.call("DELETE", f"/v1/agents/{agent}", may_be=(404,))
        self._agents.clear()

    def close(self) -> None:
        self._api.close()
