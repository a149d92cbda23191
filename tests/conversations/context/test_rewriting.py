"""The contextualised query: where it helps, what becomes of a model's answer, that the person's words stay (Q1–Q4, C9)."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.query.followup_topics import resolve
from conversations.context.query.followups import worth_rewriting
from conversations.context.query.rewriting import (
    INSTRUCTIONS,
    LONGEST_TURN,
    MAX_TOKENS,
    NOT_ASKED,
    OFF,
    RewritingOutcome,
    ask_model,
    decide,
    judge,
    longest_query,
    material,
)
from conversations.context.render.rendering import render_material
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, text_blocks
from conversations.providers.anthropic import AnthropicProvider
from conversations.providers.base import Payload, Provider, ProviderEvent, TextDelta
from conversations.providers.messages_api import RequestParts
from conversations.providers.offline import OfflineProvider
from conversations.providers.offline_answers import answer
from conversations.providers.quoting import contextualised
from conversations.providers.thinking import ThinkingPlan
from tests import model_scripts as scripts
from tests.calls import reserved_call
from tests.model_scripts import BrokenStream, Gate, Raw, Stall
from tests.model_server import ModelServer

TRUMP = ("Who is Donald Trump?", "The 45th President of the United States.")
QUESTION = "who are his children"
BY_RULES = ("who are his children (about: Donald Trump)", "by_rules")
MUTE = ("yes", "Noted.")
"""Turns of which the rules make nothing."""


def turns_of(*texts: str) -> list[Turn]:
    """The user's and the assistant's in turn."""
    return [
        Turn(position=n, depth=n, role=["assistant", "user"][n % 2], content=text_blocks(text), token_count=5)
        for n, text in enumerate(texts, 1)
    ]


@pytest.fixture(autouse=True)
def configured(model_server: ModelServer) -> Iterator[None]:
    with override_settings(ANTHROPIC_API_KEY="key-of-the-tests", ANTHROPIC_BASE_URL=model_server.url):
        yield


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AnthropicProvider]:
    """Its retries don't wait."""
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    provider = AnthropicProvider()
    yield provider
    await provider.aclose()


def request_of(
    provider: Provider, turns: list[Turn], text: str = QUESTION, *, model: str = "claude-haiku-5-5", memory: str = ""
) -> Payload:
    said = material(turns, memory, text)
    allowance = OutputAllowance(max_tokens=MAX_TOKENS, thinking=ThinkingPlan(mode="disabled"))
    return render_material(provider, model, allowance, instructions=INSTRUCTIONS, material=said)


async def rewrite_query(
    provider: Provider, text: str = QUESTION, *, said: Sequence[str] = TRUMP, deadline: float = 20.0
) -> tuple[str, str]:
    """By the assistant's rule first, and by the model where the rule asks for it."""
    turns = turns_of(*said)
    rewriting = decide(Assistant(rewriting=Assistant.Rewriting.MODEL), provider, text, turns)
    if rewriting == NOT_ASKED:
        request = request_of(provider, turns, text)
        asked = await ask_model(
            provider=provider, payload=request, text=text, turns=turns, call=reserved_call(), deadline_seconds=deadline
        )
        rewriting = asked.rewriting
    assert rewriting.milliseconds >= 0
    return rewriting.query, rewriting.outcome.value


LEANING = [
    *("who are his children", "why?", "and the second one?", "what about Berlin?", "it doesn't work", "is that true?"),
    *("which one?", "how many?", "tell me more", "how do I get there?", "WHO ARE HIS CHILDREN", "ok, who is she?"),
    *("und seine Kinder?", "Wie viele Kinder hat er?", "warum?", "Was ist das?", "Das funktioniert nicht"),
    *("pourquoi ?", "et ses enfants ?", "qui est sa femme ?", "¿y sus hijos?", "¿por qué?", "perché?"),
    *("e i suoi figli?", "por quê?", "e os filhos dele?", "waarom?", "en zijn vrouw?", "Hoe oud is hij?"),
    *("почему?", "а его дети?", "кто его жена?"),
    *("他的孩子是谁？", "为什么？", "那上海呢？", "它有多大？"),
    *("彼の子供は誰ですか", "なぜ？", "それは何ですか？", "東京は？", "왜?", "dlaczego?"),
]
STANDING = [
    *("Who is Donald Trump?", "What time is it?", "is it raining in Berlin?", "How does photosynthesis work?"),
    *("thanks", "hello", "yes", "lol", "👍", "", "  ", "How is it going?", "how long does it take to fly to Mars?"),
    *("I have a dog, what should it eat?", "My sister says she is ill", "Does Anna like her job?"),
    *("What's the weather this week?", "I think that Berlin is nice", "fix this:\n```\nprint(it)\n```"),
    *("Können Sie mir helfen?", "Wie geht es dir?", "Was ist das Wetter in Berlin?", "Danke!"),
    *("Quelle heure est-il ?", "Il y a combien de planètes ?", "¿Qué es la fotosíntesis?", "il tempo oggi a Milano"),
    *("Qual é o seu nome?", "Wat zijn zwarte gaten?", "Hoe laat is het?", "Кто такой Лев Толстой?"),
    *("什么是光合作用？", "其他国家的首都是什么？", "光合成とは何ですか", "it " * 200),
]


@pytest.mark.parametrize("text", LEANING)
def test_a_message_that_leans_on_what_was_said_is_worth_it(text: str) -> None:
    assert worth_rewriting(text, turns_of(*TRUMP))


@pytest.mark.parametrize("text", STANDING)
def test_a_message_that_stands_by_itself_is_not(text: str) -> None:
    assert not worth_rewriting(text, turns_of(*TRUMP))


@pytest.mark.parametrize("text", LEANING)
def test_nothing_is_worth_it_without_earlier_turns(text: str) -> None:
    assert not worth_rewriting(text, [])
    assert not worth_rewriting(text, turns_of(" "))


@pytest.mark.parametrize(
    ("text", "turns", "topic"),
    [
        (QUESTION, TRUMP, "Donald Trump"),
        ("how old is he", ("Who is Will Smith?", "An actor."), "Will Smith"),
        (
            "why does it need light",
            (*TRUMP, "How does photosynthesis work?", "Plants convert light."),
            "photosynthesis",
        ),
        ("why?", ("How does photosynthesis work?", "Plants convert light."), "How does photosynthesis work"),
        ("What about Berlin?", ("What's the weather in Paris?", "Sunny."), "What's the weather in Paris"),
        ("it doesn't work", ('How do I install "left-pad"?', "Run npm install."), "left-pad"),
        ("who wrote it", ("Tell me about the Lord of the Rings", "A novel."), "Lord of the Rings"),
        ("who is she?", ("list my colleagues", "Maria Curie is one."), "Maria Curie"),
        ("Wie hoch ist er?", ("Erzähl mir vom Berliner Fernsehturm.", "Gern."), "Berliner Fernsehturm"),
        ("et ses enfants ?", ("Qui est Emmanuel Macron ?", "Le président."), "Emmanuel Macron"),
        ("¿y sus hijos?", ("¿Quién es Pedro Sánchez?", "Presidente."), "Pedro Sánchez"),
        ("а его дети?", ("Кто такой Лев Толстой?", "Писатель."), "Лев Толстой"),
        ("他的孩子是谁？", ("唐纳德·特朗普是谁？", "美国总统。"), "唐纳德·特朗普是谁"),
    ],
)
def test_offline_the_topic_is_found_by_words(text: str, turns: tuple[str, ...], topic: str) -> None:
    assert resolve(text, turns_of(*turns)) == f"{text} (about: {topic})"


def test_words_of_the_offline_responder_tell_of_no_topic() -> None:
    turns = turns_of(*TRUMP, QUESTION, "You said: “x y”")
    assert resolve("how old are they", turns) == "how old are they (about: x y)"
    turns[-1].offline = True
    assert resolve("how old are they", turns) == "how old are they (about: Donald Trump)"


@pytest.mark.parametrize("turns", [(), ("hello", "Hi!"), ("thanks", "Welcome."), ("...", "?")])
def test_without_a_topic_there_is_no_query(turns: tuple[str, ...]) -> None:
    assert resolve(QUESTION, turns_of(*turns)) == ""


async def test_offline_no_model_is_asked() -> None:
    assert await rewrite_query(OfflineProvider()) == ("who are his children (about: Donald Trump)", "rewritten")


def test_offline_the_query_helps_and_is_never_quoted() -> None:
    messages = [
        {"role": "user", "content": text_blocks("The cello was built by Stradivari in Cremona.")},
        {"role": "assistant", "content": text_blocks("Noted.")},
        {
            "role": "user",
            "content": [*text_blocks("why?"), *text_blocks(contextualised("why was the cello built in Cremona?"))],
        },
    ]
    payload = OfflineProvider().render(
        RequestParts(model="offline", max_tokens=9, system=text_blocks("Be brief."), messages=messages)
    )
    assert "You said: “The cello was built by Stradivari in Cremona.”" in answer(payload)


async def test_the_small_model_rewrites(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(scripts.text("Who are Donald ", "Trump's children?"))
    assert await rewrite_query(provider) == ("Who are Donald Trump's children?", "rewritten")
    [sent] = model_server.bodies
    assert sent == request_of(provider, turns_of(*TRUMP))
    assert (sent["model"], sent["max_tokens"]) == ("claude-haiku-5-5", 300)


async def test_the_rewriter_gets_the_turns_the_memory_and_the_message(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    turns = turns_of(*TRUMP)
    request = request_of(provider, turns, model="some-model", memory="Likes history.")
    await ask_model(provider=provider, payload=request, text=QUESTION, turns=turns, call=reserved_call())
    [sent] = model_server.bodies
    assert sent["model"] == "some-model"
    assert json.loads(sent["messages"][0]["content"][0]["text"]) == {
        "memory": "Likes history.",
        "turns": [{"role": "user", "text": TRUMP[0]}, {"role": "assistant", "text": TRUMP[1]}],
        "message": QUESTION,
    }


async def test_a_long_conversation_costs_no_more(provider: AnthropicProvider) -> None:
    long = turns_of(*["天" * 50_000] * 300)
    size = len(json.dumps(request_of(provider, long, memory="記" * 50_000), ensure_ascii=False))
    assert size < 10 * LONGEST_TURN + 4_000


@pytest.mark.parametrize("text", STANDING)
async def test_no_call_is_made_where_it_cannot_help(
    provider: AnthropicProvider, model_server: ModelServer, text: str
) -> None:
    assert await rewrite_query(provider, text) == ("", "not_needed")
    assert model_server.requests == []


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (scripts.text(""), "empty"),
        (scripts.text(" \n"), "empty"),
        (scripts.text("“”"), "empty"),
        (scripts.text("Donald Trump has five.\n\nThey are Donald Jr. and others."), "failed"),
        (scripts.text("I'm sorry, I can't help with that."), "failed"),
        (scripts.text("Who are", stop_reason="refusal"), "failed"),
        (scripts.text("Who are", stop_reason="max_tokens"), "failed"),
        (scripts.text("", stop_reason="max_tokens"), "failed"),  # as thinking took all the room
        (scripts.text("Who are", stop_reason="a_reason_of_the_future"), "failed"),
        (scripts.tool_use("search", {"q": "x"}), "failed"),
        (scripts.stream(*scripts.opening_steps(), scripts.text_delta("Who are"), BrokenStream()), "failed"),
        (scripts.stream(*scripts.opening_steps(), scripts.text_delta("Who are")), "failed"),
        (scripts.stream(Raw(b"garbage\n\ndata: {\n\n")), "failed"),
        (scripts.stream(Raw(b"\xff\xfe")), "failed"),
        (scripts.error(400), "failed"),
        (scripts.error(401), "failed"),
    ],
)
async def test_whatever_goes_wrong_the_rules_try_it_and_else_the_message_goes_alone(
    provider: AnthropicProvider, model_server: ModelServer, script: scripts.Script, outcome: str
) -> None:
    model_server.script(lambda _body: script)  # also to a second attempt
    assert await rewrite_query(provider, said=MUTE) == ("", outcome)
    assert await rewrite_query(provider) == BY_RULES


async def test_a_message_that_the_model_leaves_as_it_is_goes_alone(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    model_server.script(scripts.text("Who are his children?"))
    assert await rewrite_query(provider) == ("", "unchanged")


async def test_a_model_that_cannot_be_reached_costs_only_its_query(provider: AnthropicProvider) -> None:
    with override_settings(ANTHROPIC_API_KEY=""):
        assert await rewrite_query(provider) == BY_RULES


@pytest.mark.parametrize(
    "script",
    [
        scripts.stream(Stall()),
        scripts.stream(*scripts.opening_steps(), scripts.text_delta("Who"), Stall()),
        scripts.stream(*scripts.opening_steps(), Stall(ping_seconds=0.02)),
        scripts.error(529, headers={"retry-after": "5"}),
    ],
)
async def test_a_slow_model_is_given_up_at_the_deadline(
    provider: AnthropicProvider, model_server: ModelServer, script: scripts.Script
) -> None:
    model_server.script(script)
    assert await rewrite_query(provider, said=MUTE, deadline=0.3) == ("", "timed_out")
    for request in model_server.requests:  # none, where this machine took the time before the model could
        await asyncio.to_thread(request.wait_until_ended)


async def test_a_query_without_end_is_not_waited_for(provider: AnthropicProvider, model_server: ModelServer) -> None:
    endless = scripts.stream(*scripts.opening_steps(), scripts.text_delta("word " * 100), Stall())
    model_server.script(endless)
    assert await rewrite_query(provider) == BY_RULES
    await asyncio.to_thread(model_server.requests[0].wait_until_ended)
    assert model_server.requests[0].hung_up


async def test_being_cancelled_ends_the_call(provider: AnthropicProvider, model_server: ModelServer) -> None:
    gate = Gate()
    model_server.script(scripts.text("Who", gate))
    task = asyncio.create_task(rewrite_query(provider))
    await asyncio.to_thread(gate.wait_until_reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(model_server.requests[0].wait_until_ended)
    assert model_server.requests[0].hung_up


class Misbehaving(AnthropicProvider):
    """Breaks its promise to raise nothing but provider errors."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        try:
            yield TextDelta(text="Who")
            raise ValueError("out of order")
        finally:
            self.closed = True


async def test_even_a_faulty_provider_costs_only_the_query() -> None:
    provider = Misbehaving()
    assert (await rewrite_query(provider), provider.closed) == (BY_RULES, True)


@given(st.text(max_size=60), st.text(max_size=400))
def test_a_query_is_one_line_of_bounded_length_or_none(text: str, said: str) -> None:
    query, outcome = judge(said, text)
    assert bool(query) == (outcome is RewritingOutcome.REWRITTEN)
    assert len(query.splitlines()) <= 1
    assert len(query) <= longest_query(text)
    assert "\0" not in query


@given(st.sampled_from(LEANING), st.lists(st.text(max_size=80), max_size=6))
def test_the_original_words_stay_whole_in_what_is_resolved(text: str, said: list[str]) -> None:
    turns = turns_of(*said)
    before = [turn.content for turn in turns]
    query = resolve(text, turns)
    assert query == "" or query.startswith(f"{' '.join(text.split())} (about: ")
    assert query == resolve(text, turns)
    assert [turn.content for turn in turns] == before


@given(st.text(max_size=300), st.lists(st.text(max_size=120), max_size=4))
def test_the_local_rule_takes_any_text(text: str, said: list[str]) -> None:
    turns = turns_of(*said)
    assert worth_rewriting(text, turns) in {True, False}


def test_the_query_is_a_marked_block_of_its_own() -> None:
    said = text_blocks(QUESTION)
    assert [*said, *text_blocks(contextualised("Who are Donald Trump's children?"))] == [
        {"type": "text", "text": QUESTION},
        {
            "type": "text",
            "text": "[Contextualised query, written by Openbook and not by the person; it says what the text above refers "
            "to] Who are Donald Trump's children?",
        },
    ]


def test_staff_decide_how_a_message_is_rewritten() -> None:
    turns = turns_of(*TRUMP)
    decided = {
        (how, provider.name): decide(Assistant(rewriting=how), provider, QUESTION, turns).outcome.value
        for how in Assistant.Rewriting.values
        for provider in (AnthropicProvider(), OfflineProvider())
    }
    assert decided == {
        ("off", "anthropic"): "off",
        ("off", "offline"): "off",
        ("local", "anthropic"): "rewritten",
        ("local", "offline"): "rewritten",
        ("model", "anthropic"): "not_asked",
        ("model", "offline"): "rewritten",  # there is no model to ask
    }
    assert OFF.query == NOT_ASKED.query == ""
