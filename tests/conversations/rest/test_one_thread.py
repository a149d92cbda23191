"""One thread through all providers: the same turns, reasons and sections, and the bytes that went out are those recorded."""

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from conversations.context.record import snapshots
from conversations.context.render.rendering import canonical, digest
from conversations.models import Assistant, ContextSnapshot, Model, Thread
from conversations.providers import model_catalog
from conversations.providers.base import Payload
from conversations.providers.dialects import DIALECTS, PLAIN
from conversations.providers.markers import ARTIFACTS
from conversations.providers.request_parts import in_messages_api
from conversations.runtime.db import in_database
from tests.artifacts.factories import make_artifact
from tests.chat_server import KINDS, ChatServer
from tests.chat_server.kinds import DIALECT_OF
from tests.conversations.factories import make_user
from tests.conversations.import_export.books import store_thread
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.conversations.staff.conftest import open_content, page_url
from tests.local_model import engine_played_by
from tests.model_scripts import texts_of
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

QUESTION = "Which framework is the bakery's app written in, and where in Lisbon did we eat?"
DRAFT = {"title": "Öffnungszeiten", "kind": "document", "content": "# Größe\n\nBäckerei 面包店"}
SAVE = {"type": "tool_use", "id": "toolu_1", "name": "save_artifact", "input": DRAFT}
SAVED = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Saved."}
LISBON = [
    ("user", "In Lissabon, im Alfama-Viertel, haben wir im Lisbon Grill gegessen."),
    ("assistant", "Das klingt gut."),
]
TALK: list[tuple[str, Any]] = [
    ("user", "By the way, we're building a FastAPI app for a bakery."),
    ("assistant", "Good choice."),
    ("user", "Write a plan."),
    ("assistant", "Here is the plan."),  # its artifact was made: both turns are left out
    ("user", "Wie halte ich Sauerteig am Leben? 🥖"),
    ("assistant", "Füttere ihn täglich mit Mehl."),
    ("user", "Speichere die Öffnungszeiten."),
    ("assistant", [{"type": "text", "text": "Ich speichere."}, SAVE]),
    ("user", [SAVED]),  # and there the reply was stopped
    ("user", "Are you still there?"),  # never answered
]
TURNS = [
    (1, True, "recent"),
    (2, True, "recent"),
    (3, False, "fulfilled_artifact"),
    (4, False, "fulfilled_artifact"),
    *((position, True, "recent") for position in range(5, 11)),
    (11, True, "newest"),
]


class Way(ABC):
    """A provider, and who listens for it. ``adds``: a turn that its shape of a request has beside those of the thread."""

    provider: str
    offers_tools = True
    adds: tuple[str, str] | None = None

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.settings = request.getfixturevalue("settings")
        self.request = request
        self.listen()
        self.settings.OPENBOOK_PROVIDER = self.provider

    @abstractmethod
    def listen(self) -> None:
        """Have the service listen, and the provider know where."""

    def words(self, text: str) -> str:
        """A text without what this provider is not given."""
        if self.offers_tools:
            return text
        return "\n\n".join(part for part in text.split("\n\n") if not part.startswith(ARTIFACTS))

    @abstractmethod
    def received(self, recorded: Payload) -> Payload:
        """The newest request as it arrived. What does not travel is taken from the recorded one."""


class Anthropic(Way):
    provider = "anthropic"

    def listen(self) -> None:
        self.server: ModelServer = self.request.getfixturevalue("model")

    def received(self, recorded: Payload) -> Payload:
        body: Payload = json.loads(self.server.requests[-1].raw_body)
        return body


class Local(Anthropic):
    provider = "local"

    def listen(self) -> None:
        self.server = self.request.getfixturevalue("model_server")
        self.settings.LOCAL_DIR = self.request.getfixturevalue("tmp_path")
        engine = ExitStack()
        self.request.addfinalizer(engine.close)
        self.server.api_key = engine.enter_context(engine_played_by(self.server.url, self.settings.LOCAL_DIR))
        # As staff say of a better one than the shipped model, which is given the conversation alone.
        Model.objects.filter(provider="local").update(
            uses_memory=True, takes_tools=True, system_prompt="", context_window=32_000, max_output=4_096
        )
        model_catalog.reread()


class Bedrock(Anthropic):
    """Its client moves the model into the path; the server puts it back."""

    provider = fixture = "bedrock"

    def listen(self) -> None:
        self.server = self.request.getfixturevalue(self.fixture)
        self.settings.OPENBOOK_MODEL = "claude-haiku-5-5"

    def received(self, recorded: Payload) -> Payload:
        body: Payload = self.server.requests[-1].body
        return body


class Vertex(Bedrock):
    provider = fixture = "vertex"


class ClaudeCli(Anthropic):
    """The program adds words of its own, so what is proven is what it was told."""

    provider = "claude_cli"
    offers_tools = False

    def listen(self) -> None:
        super().listen()
        self.settings.OPENBOOK_CLAUDE_CLI = self.request.getfixturevalue("claude_cli_path")

    def received(self, recorded: Payload) -> Payload:
        body = super().received(recorded)
        (told,) = texts_of(body["messages"][0])
        return recorded | {
            "sent": recorded["sent"] | {"system_prompt": body["system"][-1]["text"], "standard_input": told}
        }


class Offline(Way):
    """There is no service: the request goes nowhere."""

    provider = "offline"

    def listen(self) -> None:
        pass

    def received(self, recorded: Payload) -> Payload:
        return recorded


class ChatCompletions(Way):
    provider = "openai"

    def __init__(self, request: pytest.FixtureRequest, *, kind: str) -> None:
        self.kind = kind
        super().__init__(request)

    def listen(self) -> None:
        self.server: ChatServer = self.request.getfixturevalue("chat_model")
        self.server.kind = KINDS[self.kind]
        dialect = self.settings.OPENBOOK_OPENAI_SERVER = DIALECT_OF.get(self.kind, self.kind)
        self.adds = ("assistant", DIALECTS[dialect].after_results)

    def received(self, recorded: Payload) -> Payload:
        body: Payload = json.loads(self.server.requests[-1].raw_body)
        return body


WAYS: Mapping[str, Callable[[pytest.FixtureRequest], Way]] = {
    "anthropic": Anthropic,
    "local": Local,
    "bedrock": Bedrock,
    "vertex": Vertex,
    "claude_cli": ClaudeCli,
    "offline": Offline,
    **{kind: partial(ChatCompletions, kind=kind) for kind in KINDS},
}


def test_every_dialect_has_a_server_that_speaks_it() -> None:
    assert {DIALECT_OF.get(kind, kind) for kind in KINDS} == set(DIALECTS)
    assert PLAIN in DIALECTS


def make_thread(user: User) -> Thread:
    """Of yesterday, after another one of the day before."""
    now = timezone.now()
    store_thread(user, document(LISBON, now - timedelta(days=2)), now)
    thread = store_thread(
        user, document(TALK, now - timedelta(days=1), memories=["Has a dog named Bello.", "Backt gern Brot."]), now
    )
    Thread.objects.filter(id=thread.id).update(assistant=Assistant.objects.get(slug="analyst"))
    answer = thread.messages.get(position=4)
    make_artifact(thread, title="The plan", created_at=answer.created_at + timedelta(seconds=1))
    return thread


def document(talk: list[tuple[str, Any]], at: datetime, memories: list[str] | None = None) -> dict[str, Any]:
    messages = [
        {"role": role, "content": content, "created_at": (at + timedelta(minutes=place)).isoformat()}
        for place, (role, content) in enumerate(talk)
    ]
    return {
        "format": "openbook/1",
        "threads": [{"messages": messages}],
        "memories": [{"content": text} for text in memories or ()],
    }


def said(payload: Payload, *, but: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """Who said what, as far as every shape of a request can tell it: without ids, and what one says in a row as one."""
    messages = in_messages_api(payload)["messages"]
    turns = [(message["role"], "\n\n".join(map(words_of, message["content"]))) for message in messages]
    told = groupby((turn for turn in turns if turn != but), key=itemgetter(0))
    return [(role, "\n\n".join(text for _, text in row)) for role, row in told]


def words_of(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "tool_use", "name": name, "input": written}:
            return f"{name}: {json.dumps(written, sort_keys=True)}"
        case {"type": "tool_result", "content": str(text)} | {"text": str(text)}:
            return text
        case {"type": "tool_result", "content": content}:
            return "\n\n".join(map(words_of, content))
    raise AssertionError(block)


def account(body: Mapping[str, Any], way: Way) -> dict[str, Any]:
    """What stands in the book of a request: which turns and why, what was known and recalled and why, the sections' texts.
    But for the program, which says how a provider is asked, and for all of artifacts where it calls no tools."""
    more = {"program"} | (set() if way.offers_tools else {"tools", "rules"})
    items = [item for item in body["items"] if way.offers_tools or item["kind"] != "artifact"]
    here = [item for item in items if item["kind"] == "message" and "thread" not in item]
    return {
        "turns": [(item["position"], item["included"], item["reason"]) for item in here],
        "others": sorted(
            (item["kind"], item["id"], item["included"], item["reason"]) for item in items if item not in here
        ),
        "sections": [(part["name"], way.words(part["text"])) for part in body["sections"] if part["name"] not in more],
    }


@pytest.mark.once("anthropic", "openai")
@pytest.mark.parametrize("make_way", WAYS.values(), ids=WAYS.keys())
async def test_the_same_thread_through_each_provider(
    request: pytest.FixtureRequest, user: User, api: Api, make_way: Callable[[pytest.FixtureRequest], Way]
) -> None:
    thread = await in_database(make_thread)(user)
    way = await in_database(make_way)(request)
    way.settings.OPENBOOK_PROVIDER = "anthropic"
    reference = (await api.post(f"threads/{thread.id}/context/", {"content": QUESTION})).body
    way.settings.OPENBOOK_PROVIDER = way.provider
    answer = await api.post(f"threads/{thread.id}/messages/", {"content": QUESTION})
    assert answer.status == 201, answer.body
    recorded = (await api.get(f"requests/{answer.body['request']}/")).body

    told = account(recorded, way)
    assert told == account(reference, way)
    assert told["turns"] == TURNS
    why = {"remembered", "recalled"} | ({"listed"} if way.offers_tools else set())
    assert {reason for *_, reason in told["others"]} == why

    sent = way.received(recorded["request"])
    assert sent == recorded["request"]
    assert digest(sent).hex() == recorded["digest"]
    assert said(sent, but=way.adds) == [(role, way.words(text)) for role, text in said(reference["request"])]

    snapshot = await ContextSnapshot.objects.aget(id=answer.body["request"])
    assert await in_database(snapshots.proof)(snapshot)
    assert await in_database(remade_exactly)(snapshot)
    assert canonical(sent).decode() in await in_database(page_of)(snapshot)


def page_of(snapshot: ContextSnapshot) -> str:
    """The staff page of the request, with its characters as a browser shows them."""
    browser = Client()
    browser.force_login(make_user(is_staff=True, is_superuser=True))
    open_content(browser)
    return html.unescape(browser.get(page_url("contextsnapshot", snapshot.pk)).text)
