import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers import ProviderError, get_provider
from conversations.providers.base import Finished, TextDelta, Usage
from conversations.providers.markers import ARTIFACTS, CONTEXTUALISED, EARLIER, RECALLED
from conversations.providers.messages_api import RequestParts
from conversations.providers.offline_answers import CONNECT, MARK, NOTED, NOTHING, OPENINGS, answer, is_own_answer
from conversations.providers.quoting import quotation, said_heading

BAKERY = "By the way, we're building a FastAPI app for a bakery."


def payload(
    turns: Sequence[tuple[str, str]], *, notes: Sequence[str] = (), beside: Sequence[str] = ()
) -> dict[str, Any]:
    system = text_blocks("You are a companion. The framework is Django.", *notes)
    messages = [{"role": role, "content": text_blocks(text)} for role, text in turns]
    if messages:
        messages[-1]["content"] = [*messages[-1]["content"], *text_blocks(*beside)]
    return get_provider("offline").render(
        RequestParts(model="offline", max_tokens=1024, system=system, messages=messages)
    )


def text_blocks(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts]


def conversation(*texts: str, notes: Sequence[str] = (), beside: Sequence[str] = ()) -> str:
    """The offline responder's answer to the last text, after it has answered all the others."""
    turns: list[tuple[str, str]] = []
    for text in texts[:-1]:
        turns.append(("user", text))
        turns.append(("assistant", answer(payload(turns, notes=notes))))
    return answer(payload([*turns, ("user", texts[-1])], notes=notes, beside=beside))


def first(text: str) -> str:
    """As its first answer in a conversation says it."""
    return f"{MARK} {text} {CONNECT}"


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (BAKERY, "what are we building?"),
        ("I had a long day. My daughter Ada plays the cello.", "What instrument does my daughter play?"),
        ("My dog is called Rex.", "What's my dog's name?"),
        ("My sister lives in Lisbon", "tell me where my sister lives."),
        ("Meine Tochter Ada spielt Cello.", "Welches Instrument spielt meine Tochter?"),
        (
            "Моя дочь Ада играет на виолончели.",
            "На каком инструменте играет моя дочь?",
        ),
        ("私の娘はチェロを弾きます。", "娘は何を弾きますか？"),
        ("내 딸은 첼로를 연주한다.", "내 딸은 무엇을 연주하나요?"),
        ("ابنتي آدا تعزف على التشيلو.", "على ماذا تعزف ابنتي؟"),
    ],
)
def test_a_fact_told_in_passing_is_quoted_two_turns_later(told: str, question: str) -> None:
    fact = told.removeprefix("I had a long day. ")
    assert conversation(told, "I drink tea at five.", "Ja!", question) == f"You said: “{fact}”"


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("What framework is our app written in?", "You said:"),
        ("What is the framework that I'm building on?", "You said:"),
        ("Which web framework are we using?", "You told me:"),
        ("What framework do we use?", "You told me:"),
        ("Which framework did I mention?", "You told me:"),
    ],
)
def test_a_question_in_other_words_is_answered_by_what_was_said_of_us(question: str, opening: str) -> None:
    said = conversation("I like tea.", BAKERY, "Shall we begin?", "How do I sort a list in Python?", question)
    assert said == f"{opening} “{BAKERY}”"


@pytest.mark.parametrize(
    "question",
    [
        *("What is 2 + 2?", "What is the capital of France?", "How do I sort a list in Python?", "Tell me a joke"),
        *(
            "What is the meaning of life?",
            "What is the weather like today?",
            "What is my cat called?",
            "Who is Donald Trump?",
        ),
    ],
)
def test_what_it_was_not_told_is_answered_without_any_quotation(question: str) -> None:
    assert conversation("Write a haiku about rain.", BAKERY, "Thanks a lot", question) == NOTHING


def test_without_its_context_the_answer_is_another() -> None:
    assert answer(payload([("user", "Which web framework are we using?")])) == first(NOTHING)


def test_it_says_what_it_is_once() -> None:
    turns = [("user", "Hello there, how are things?")]
    assert answer(payload(turns)).startswith(MARK)
    turns += [("assistant", answer(payload(turns))), ("user", "I moved to Lisbon in the spring of last year.")]
    assert answer(payload(turns)) == NOTED
    assert answer(payload(turns[1:])) == NOTED, "as long as it stands there"
    assert answer(payload(turns[2:])) == first(NOTED), "and again where it is left out"
    assert answer(payload([turns[0], ("assistant", MARK[:9]), turns[-1]])) == first(NOTED), "or was stopped"


def test_notes_answer_and_the_base_prompt_does_not() -> None:
    notes = ["## Today\n- The release moved to Friday.\n- Lunch with Ben."]
    assert conversation("Hi", "When is the release?", notes=notes) == (
        "The notes that I was given say: “The release moved to Friday.”"
    )


def test_what_was_recalled_is_quoted() -> None:
    quoted = [quotation("My boat is called Marigold.", role="user", times=3), quotation("A boat?", role="assistant")]
    recalled = "\n".join([RECALLED, said_heading(datetime(2026, 11, 20, tzinfo=UTC), here=False), *quoted])
    assert conversation("Hi", "What is my boat called?", beside=[recalled]) == (
        "The notes that I was given say: “My boat is called Marigold.”"
    )


def test_the_newest_statement_wins() -> None:
    said = conversation(
        "My favourite colour is red.", "Actually, my favourite colour is blue.", "What is my favourite colour?"
    )
    assert said == "You said: “Actually, my favourite colour is blue.”"


def test_a_statement_beats_a_question_and_the_replies_of_a_model_are_known() -> None:
    turns = [
        ("user", "Is the capital of Australia Sydney?"),
        ("assistant", "The capital of Australia is Canberra."),
        ("user", "What is the capital of Australia?"),
    ]
    assert answer(payload(turns)) == first("An earlier reply says: “The capital of Australia is Canberra.”")


def test_what_it_was_given_is_told_by_kind_and_number() -> None:
    notes = ["## Artifacts\n\nSave once.", "## Today\n\nA walk.", "Be brief."]
    beside = [f"{RECALLED}\n2026-11-20:\n- user: A.\n- user: B.", f"{ARTIFACTS}\n- “T” (table, version 1, id x)"]
    question = "What were you given to write this answer?"
    assert answer(payload([("user", question)])) == first(
        "For this answer I was given no earlier turns, your message, my instructions. The book of this reply shows all of it."
    )
    assert conversation(BAKERY, "Ja!", question, notes=notes, beside=beside) == (
        f"For this answer I was given 4 earlier turns (the oldest says “{BAKERY}”), your message, 2 notes recalled for it, "
        "a list of 1 artifact, my instructions, “Artifacts”, “Today”. The book of this reply shows all of it."
    )


def test_the_turns_that_it_was_given_are_counted_as_the_book_counts_them() -> None:
    call = {"type": "tool_use", "id": "t", "name": "search_messages", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    messages = [
        {"role": "user", "content": text_blocks(EARLIER)},
        {"role": "assistant", "content": text_blocks("Good.")},
        {"role": "user", "content": text_blocks("And you?", "Find it.")},  # the first had no answer
        {"role": "assistant", "content": [*text_blocks("I look."), call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": text_blocks("Found.")},
        {"role": "user", "content": text_blocks("Hm.", "What are you given?", f"{CONTEXTUALISED} x")},
    ]
    said = answer(payload([]) | {"messages": messages})
    assert "given 5 earlier turns (the oldest says “Good.”), your message, a contextualised query, my" in said


def test_its_own_answers_are_never_quoted_even_when_they_were_stopped() -> None:
    turns = [("user", "hm")]
    for own in (*(f"{opening}the cello" for opening in OPENINGS), MARK[:10], "You s"):
        turns += [("assistant", own), ("user", "ok")]
    assert answer(payload([*turns, ("user", "What about the cello?")])) == NOTHING


@pytest.mark.parametrize(
    ("earlier", "follow_up", "expected"),
    [
        ("Who is Donald Trump?", "why?", f"You last asked: “Who is Donald Trump?” {NOTHING}"),
        ("Shall I bring a cake?", "yes", "You last asked: “Shall I bring a cake?” I read “yes” as belonging to that."),
        ("I fell off my bike.", "lol", "You last said: “I fell off my bike.” I read “lol” as belonging to that."),
    ],
)
def test_a_short_follow_up_is_read_with_the_turn_before_it(earlier: str, follow_up: str, expected: str) -> None:
    assert conversation(earlier, follow_up) == expected


def test_a_follow_up_is_read_with_what_it_refers_to() -> None:
    query = f"{CONTEXTUALISED} who are his children (about: Donald Trump)"
    assert conversation("Who is Donald Trump?", "I see.", "who are his children", beside=[query]) == (
        "You asked earlier: “Who is Donald Trump?” I find nothing more about it in what I was given."
    )


def test_a_message_without_an_answer_is_not_the_one_to_answer() -> None:
    messages = [{"role": "user", "content": text_blocks("Who is Ada?", "My cat is called Tom.")}]
    assert answer(payload([]) | {"messages": messages}) == first(NOTED)


def test_a_statement_is_acknowledged() -> None:
    assert conversation("I moved to Lisbon last year.") == first(NOTED)
    assert conversation("Hello there", "I moved to Lisbon in the spring of last year.") == NOTED


def test_a_long_text_without_end_is_quoted_in_part() -> None:
    said = conversation("word " * 2000 + "the treasure lies in the cellar", "Where does the treasure lie?")
    assert "the treasure lies in the cellar" in said
    assert len(said) < 400


TEXT = st.text(alphabet=st.characters(), max_size=80)


@given(turns=st.lists(TEXT, max_size=5), last=TEXT, notes=st.lists(TEXT, max_size=2))
def test_any_context_is_answered_and_always_the_same(turns: list[str], last: str, notes: list[str]) -> None:
    roles = [("user" if i % 2 == 0 else "assistant", text) for i, text in enumerate(turns)]
    given_payload = payload([*roles, ("user", last)], notes=notes)
    said = answer(given_payload)
    assert said == answer(given_payload)
    assert said.startswith(OPENINGS)
    assert is_own_answer(said)


def test_tool_blocks_and_plain_strings_are_read() -> None:
    messages = [
        {"role": "user", "content": "My cat is called Tom."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Nice."}]},
        {"role": "user", "content": "What is my cat called?"},
    ]
    assert answer(payload([]) | {"messages": messages}) == first("You said: “My cat is called Tom.”")


async def test_it_streams_word_by_word_and_the_words_joined_are_the_answer() -> None:
    given_payload = payload([("user", BAKERY), ("assistant", "Nice."), ("user", "what are we building?")])
    with override_settings(OPENBOOK_OFFLINE_WORD_SECONDS=0):
        *deltas, end = [event async for event in get_provider("offline").stream(given_payload)]
    texts = [event.text for event in deltas if isinstance(event, TextDelta)]
    assert "".join(texts) == answer(given_payload)
    assert len(texts) == len(answer(given_payload).split())
    usage = Usage(input_tokens=8 + 11 + 1 + 4, output_tokens=len(texts))
    assert end == Finished(stop_reason="end_turn", usage=usage)


async def test_it_takes_its_time_and_can_be_stopped() -> None:
    with override_settings(OPENBOOK_OFFLINE_WORD_SECONDS=3600):
        stream = get_provider("offline").stream(payload([("user", "hello")]))
        assert await anext(stream) == TextDelta(text="*Offline ")
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading


@pytest.mark.wide
@pytest.mark.long
def test_a_context_of_150_000_words_is_searched_in_seconds() -> None:
    turns = [
        ("user", f"Matter {i} is about thing{i} and costs {i * 7} coins, as agreed in the meeting of week {i}.")
        for i in range(9000)
    ]
    started = time.perf_counter()
    said = answer(payload([*turns, ("user", "What is thing4242 about?")]))
    assert said == first(f"You said: “{turns[4242][1]}”")
    assert time.perf_counter() - started < 60


def test_the_default_model_says_what_it_is() -> None:
    assert get_provider("offline").default_model() == "offline"


@pytest.mark.parametrize("name", ["gpt", ""])
def test_a_provider_that_is_not_there_is_a_clear_error(name: str) -> None:
    with pytest.raises(ProviderError) as raised:
        get_provider(name)
    assert (raised.value.code, raised.value.retryable, raised.value.message) == (
        "misconfigured",
        False,
        f"The provider “{name}” is not known. "
        "Whoever runs this Openbook can add a connection of this name in the admin, or choose another one, or one of: "
        "anthropic, local, claude_cli, openai, bedrock, vertex, offline.",
    )
