"""Models that people choose: listed, taken for a message or another attempt, and refused where staff do not allow them."""

import uuid
from collections.abc import Callable

import pytest

from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.models import Assistant, Connection, ContextSnapshot, Model
from conversations.providers import connections, model_catalog
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.connections import make_connection
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer
from tests.statements import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "opened")]

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"


def allow(*names: str, slug: str = "companion", provider: str = "anthropic") -> None:
    Assistant.objects.get(slug=slug).offered_models.add(*Model.objects.filter(provider=provider, name__in=names))


def connected(url: str) -> None:
    make_connection(url)
    for name in (SONNET, "small-one"):
        Model.objects.create(provider="team", name=name, label=name, context_window=90_000, max_output=9_000)
    model_catalog.reread()
    allow(SONNET, "small-one", provider="team")


def offers(answer: object) -> Callable[[str], list[str]]:
    return lambda field: [each[field] for each in answer.body["results"]]  # type: ignore[attr-defined]


async def test_without_a_choice_of_staff_there_is_the_assistants_own_model(api: Api, model: ModelServer) -> None:
    answer = await api.get("models/")
    assert (answer.status, answer.body) == (
        200,
        {
            "results": [
                {
                    "id": SONNET,
                    "name": "Claude Sonnet 5.5",
                    "provider": "anthropic",
                    "context_window": 1_000_000,
                    "max_output": 128_000,
                    "images": True,
                    "tools": True,
                    "thinking": True,
                    "memory": True,
                    "assistants": ["companion", "analyst"],
                    "cut_for": [],
                    "default_of": ["companion", "analyst"],
                }
            ]
        },
    )


async def test_a_message_is_answered_by_the_model_that_was_chosen(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    assert offers(await api.get("models/"))("id") == [SONNET, OPUS]
    sent = await api.post("threads/new/messages/", {"content": "Hello", "model": OPUS})
    thread = sent.body["thread"]
    assert sent.status == 201 and model.bodies[-1]["model"] == OPUS
    previewed = await api.post(f"threads/{thread}/context/", {"content": "And now?", "model": OPUS})
    assert (previewed.body["model"], previewed.body["request"]["model"]) == (OPUS, OPUS)
    await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert model.bodies[-1]["model"] == SONNET, "a choice is for one message"


def offer_small_one() -> None:
    small = {"name": "small", "label": "Small", "context_window": 8_000, "max_output": 2_048, "order": 99}
    Model.objects.create(provider="anthropic", **small)
    model_catalog.reread()
    allow("small")


async def test_a_window_that_is_too_small_is_told_before_anything_is_sent(api: Api, model: ModelServer) -> None:
    await in_database(offer_small_one)()
    listed = {each["id"]: each["cut_for"] for each in (await api.get("models/")).body["results"]}
    assert listed == {SONNET: [], "small": ["companion"]}
    previewed = (await api.post("threads/new/context/", {"content": "Hello", "model": "small"})).body
    assert (previewed["hard_cap"], previewed["budget_origin"]["is_cut"]) == (5_952, True)
    words = "6,150 tokens, cut to 5,952: a window of 8,000 with an answer of 2,048 leaves no more"
    assert previewed["budget_origin"]["text"] == words
    assert model.requests == []


async def test_what_staff_do_not_allow_is_refused_and_nothing_is_stored(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    for path in ("threads/new/messages/", "threads/new/messages/stream/", "threads/new/context/"):
        refused = await api.post(path, {"content": "Hello", "model": HAIKU})
        assert (refused.status, refused.body["error"]["code"]) == (400, "model_not_offered")
        assert refused.body["error"]["details"]["models"] == [SONNET, OPUS]
    assert (await api.get("threads/")).body["results"] == [] and model.requests == []
    other = {"content": "Hello", "model": OPUS, "assistant": "analyst"}
    assert (await api.post("threads/new/messages/", other)).status == 400


async def test_a_model_of_a_connection_answers_in_mid_thread_and_once_more(
    api: Api, model: ModelServer, model_server: ModelServer
) -> None:
    with ModelServer() as team:
        await in_database(connected)(team.url)
        assert offers(await api.get("models/"))("id") == [f"anthropic/{SONNET}", f"team/{SONNET}", "small-one"]
        first = await api.post("threads/new/messages/", {"content": "My dog is called Bruno."})
        thread = first.body["thread"]
        team.script(scripts.text("Bruno."))
        second = await api.post(
            f"threads/{thread}/messages/", {"content": "How is he called?", "model": f"team/{SONNET}"}
        )
        assert second.body["assistant_message"]["text"] == "Bruno."
        assert "My dog is called Bruno." in str(team.bodies[-1]) and len(model_server.requests) == 1
        snapshot = await ContextSnapshot.objects.alatest("created_at")
        assert (snapshot.provider, snapshot.model) == ("team", SONNET)
        assert await in_database(snapshots.proof)(snapshot) and await in_database(remade_exactly)(snapshot)
        again = await api.post(f"replies/{second.body['reply']['id']}/retry/", {})
        *_, ended = [event async for event in api.events("GET", f"replies/{again.body['id']}/events/")]
        assert (ended["type"], len(team.requests)) == ("reply.completed", 2)
        assert len(model_server.requests) == 1, "asked of the one that answered last"


async def test_what_can_not_answer_is_not_offered(api: Api, model: ModelServer) -> None:
    await in_database(connected)(model.url)
    assert offers(await api.get("models/"))("provider") == ["anthropic", "team", "team"]
    await in_database(switch_off)()
    assert offers(await api.get("models/"))("provider") == ["anthropic"]


def switch_off() -> None:
    Connection.objects.update(is_active=False)
    connections.reread()


async def test_a_thread_has_a_model_of_its_own_that_answers_and_is_previewed(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS, HAIKU)
    opened = await api.post("threads/", {"title": "Boats", "model": OPUS})
    thread = opened.body["id"]
    assert (opened.status, opened.body["model"], opened.body["model_note"]) == (201, OPUS, None)
    previewed = await api.post(f"threads/{thread}/context/", {"content": "Hello"})
    await api.post(f"threads/{thread}/messages/", {"content": "Hello"})
    assert (previewed.body["model"], model.bodies[-1]["model"]) == (OPUS, OPUS)
    await api.post(f"threads/{thread}/messages/", {"content": "For once", "model": SONNET})
    assert model.bodies[-1]["model"] == SONNET, "the assistant's own can be chosen for a message too"
    changed = await api.call("PATCH", f"threads/{thread}/", {"model": HAIKU})
    assert (changed.body["model"], changed.body["title"]) == (HAIKU, "Boats")
    await api.post(f"threads/{thread}/messages/stream/", {"content": "And now?"})
    assert model.bodies[-1]["model"] == HAIKU
    for own in ("", SONNET):
        changed = await api.call("PATCH", f"threads/{thread}/", {"model": own})
        assert (changed.body["model"], changed.body["model_note"]) == ("", None)
    await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert model.bodies[-1]["model"] == SONNET


async def test_a_first_message_says_the_model_of_the_thread_that_it_opens(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    first = {"content": "Hello", "thread_model": OPUS}
    assert (await api.post("threads/new/context/", first)).body["model"] == OPUS
    sent = await api.post("threads/new/messages/", first)
    thread = sent.body["thread"]
    assert (await api.get(f"threads/{thread}/")).body["model"] == OPUS
    await api.post(f"threads/{thread}/messages/", {"content": "And now?", "thread_model": "no such model"})
    assert [body["model"] for body in model.bodies] == [OPUS, OPUS], "it counts for a new thread only"
    refused = await api.post("threads/new/messages/", {"content": "Hello", "thread_model": HAIKU})
    assert (refused.status, refused.body["error"]["code"]) == (400, "model_not_offered")
    assert len((await api.get("threads/")).body["results"]) == 1


async def test_a_model_that_is_not_offered_can_not_become_a_threads(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    thread = (await api.post("threads/", {})).body["id"]
    for call in (("POST", "threads/", {"model": HAIKU}), ("PATCH", f"threads/{thread}/", {"model": HAIKU})):
        refused = await api.call(*call)
        assert (refused.status, refused.body["error"]["code"]) == (400, "model_not_offered")
        assert refused.body["error"]["details"]["models"] == [SONNET, OPUS]
    elsewhere = {"model": OPUS, "assistant": "analyst"}
    assert (await api.call("PATCH", f"threads/{thread}/", elsewhere)).status == 400
    kept = (await api.get(f"threads/{thread}/")).body
    assert (kept["model"], kept["assistant"]) == ("", "companion"), "nothing is changed by halves"


@pytest.mark.wide
async def test_where_the_threads_model_is_gone_the_assistants_own_answers_and_the_thread_says_so(
    api: Api, model: ModelServer
) -> None:
    await in_database(allow)(OPUS)
    thread = (await api.post("threads/", {"model": OPUS})).body["id"]
    before = await api.get(f"threads/{thread}/")
    await in_database(take_away)(OPUS)
    gone = await api.get(f"threads/{thread}/", **{"If-None-Match": before.headers["etag"]})
    note = "Claude Opus 5.5 is not offered here any more: Claude Sonnet 5.5 answers instead."
    assert (gone.status, gone.body["model"], gone.body["model_note"]) == (200, f"anthropic/{OPUS}", note)
    assert (await api.get("threads/")).body["results"] == [gone.body]
    previewed = await api.post(f"threads/{thread}/context/", {"content": "Hello"})
    sent = await api.post(f"threads/{thread}/messages/", {"content": "Hello"})
    assert (previewed.body["model"], sent.status, model.bodies[-1]["model"]) == (SONNET, 201, SONNET)
    await in_database(allow)(OPUS)
    assert (await api.get(f"threads/{thread}/")).body["model"] == OPUS, "the choice is not lost"
    other = await api.call("PATCH", f"threads/{thread}/", {"assistant": "analyst"})
    assert other.body["model_note"] == note
    await api.post(f"threads/{thread}/messages/", {"content": "And you?"})
    assert model.bodies[-1]["model"] == SONNET


async def test_a_threads_model_costs_a_message_no_further_statement(
    api: Api, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_database(allow)(OPUS)
    for choice in ("", OPUS):
        thread = (await api.post("threads/", {"model": choice})).body["id"]
        with statements(monkeypatch) as asked:
            await api.post(f"threads/{thread}/messages/", {"content": "Hello"})
        about = [sql for sql in asked if "offered_models" in sql]
        assert len(about) == 1 and "FROM conversations_thread AS thread" in about[0], "it comes with the thread's row"
    assert model.bodies[-1]["model"] == OPUS


@pytest.mark.wide
async def test_another_attempt_is_asked_of_the_one_that_answered_and_of_any_other_that_is_named(
    api: Api, model: ModelServer
) -> None:
    await in_database(allow)(OPUS, HAIKU)
    sent = await api.post("threads/new/messages/", {"content": "Hello", "thread_model": OPUS})
    reply, thread = sent.body["reply"], sent.body["thread"]
    assert (reply["provider"], reply["model"]) == ("anthropic", OPUS)
    for asked, answers in ({"model": HAIKU}, HAIKU), ({}, HAIKU), ({"model": SONNET}, SONNET), ({}, SONNET):
        again = await api.post(f"replies/{reply['id']}/retry/", asked)
        reply = again.body
        [*_] = [event async for event in api.events("GET", f"replies/{reply['id']}/events/")]
        assert model.bodies[-1]["model"] == answers
    await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert model.bodies[-1]["model"] == OPUS, "the thread keeps its own"


@pytest.mark.wide
async def test_the_record_says_what_another_model_than_before_changed(api: Api, model: ModelServer) -> None:
    await in_database(allow)(HAIKU, slug="analyst")
    await in_database(make_small)(HAIKU)
    model.script(*[scripts.text("It is painted red. " * 40)] * 5, scripts.text("Red."))
    first = {"content": "The boat is called Marigold. " * 20, "assistant": "analyst"}
    sent = await api.post("threads/new/messages/", first)
    thread = sent.body["thread"]
    for _ in range(4):
        await api.post(f"threads/{thread}/messages/", {"content": "Tell me more of it. " * 20})
    before = await newest(thread)
    assert (await api.get(f"requests/{before.id}/")).body["switch"] is None
    previewed = await api.post(f"threads/{thread}/context/", {"content": "And now?", "model": HAIKU})
    await api.post(f"threads/{thread}/messages/", {"content": "And now?", "model": HAIKU})
    after = await newest(thread)
    switch = (await api.get(f"requests/{after.id}/")).body["switch"]
    left_out = sum(run.count for run in snapshots.runs_of(after) if run.reason is Reason.OVER_BUDGET)
    assert left_out > 1
    assert (switch["request"], switch["provider"], switch["model"]) == (str(before.id), "anthropic", SONNET)
    assert switch["effects"] == [
        "Its window holds 2,000 tokens instead of 1,000,000.",
        f"Its budget is {after.budget:,} tokens instead of {before.budget:,}.",
        f"It is never given more than {after.hard_cap:,} tokens, instead of {before.hard_cap:,}.",
        f"It counts 1.10 tokens for each that we estimate, instead of {before.token_factor:.2f}.",
        f"{left_out} turns given before are left out.",
        "It is given no tools.",
        "The prompt cache starts anew.",
    ]
    assert switch["text"] == " ".join(
        ["Answered by Claude Haiku 5.5, the turn before by Claude Sonnet 5.5.", *switch["effects"]]
    )
    assert previewed.body["switch"]["text"].startswith(
        "To be answered by Claude Haiku 5.5, the turn before by Claude Sonnet"
    )
    assert previewed.body["switch"]["effects"] == switch["effects"]


async def test_switching_in_mid_thread_gives_the_same_turns_for_the_same_reasons(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    sent = await api.post("threads/new/messages/", {"content": "My boat is called Marigold."})
    thread = sent.body["thread"]
    await api.post(f"threads/{thread}/messages/", {"content": "And my dog Bruno."})
    one, other = [
        (await api.post(f"threads/{thread}/context/", {"content": "And now?", "model": name})).body
        for name in (SONNET, OPUS)
    ]
    fates = [[(item.get("id"), item["included"], item["reason"]) for item in each["items"]] for each in (one, other)]
    assert fates[0] == fates[1] and len(fates[0]) == 5
    assert [section["text"] for section in one["sections"]] == [section["text"] for section in other["sections"]]


async def test_a_threads_model_goes_with_it_when_it_is_exported_and_imported(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    await api.post("threads/new/messages/", {"content": "Hello", "thread_model": OPUS})
    document = (await api.get("export/")).body
    assert [thread["model"] for thread in document["threads"]] == [f"anthropic/{OPUS}"]
    copied = [{**thread, "id": None, "messages": [], "title": "Copy"} for thread in document["threads"]]
    copied = [{key: value for key, value in thread.items() if key != "id"} for thread in copied]
    imported = await api.post("import/", {"format": "openbook/1", "threads": [*copied, {"title": "Plain"}]})
    models = [(await api.get(f"threads/{each['id']}/")).body["model"] for each in imported.body["threads"]]
    assert models == [OPUS, ""]


def take_away(name: str) -> None:
    Assistant.objects.get(slug="companion").offered_models.remove(Model.objects.get(provider="anthropic", name=name))


def make_small(name: str) -> None:
    row = Model.objects.filter(provider="anthropic", name=name)
    row.update(context_window=2_000, max_output=400, thinking=Model.Thinking.NONE, takes_tools=False, token_factor=1.1)
    model_catalog.reread()


async def newest(thread: str) -> ContextSnapshot:
    return await ContextSnapshot.objects.filter(thread=uuid.UUID(thread)).alatest("created_at")


async def test_a_preset_is_carried_out_by_the_threads_model(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS, slug="analyst")
    first = {"content": "A bakery takes orders.", "assistant": "analyst", "thread_model": OPUS}
    thread = (await api.post("threads/new/messages/", first)).body["thread"]
    made = await api.post(f"threads/{thread}/presets/brd/")
    assert (made.status, made.body["reply"]["model"]) == (201, OPUS)
    snapshot = await newest(thread)
    assert (snapshot.purpose, snapshot.model, model.bodies[-1]["model"]) == ("artifact", OPUS, OPUS)
