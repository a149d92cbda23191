import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers import ProviderError, get_provider
from conversations.providers.base import Finished, TextDelta, Usage
from conversations.providers.offline import CONNECT, MARK, NOTED, answer

BAKERY = "By the way, we're building a FastAPI app for a bakery."


def payload(turns: Sequence[tuple[str, str]], *, notes: Sequence[str] = ()) -> dict[str, Any]:
    system = [{"type": "text", "text": text} for text in ("You are a companion. The framework is Django.", *notes)]
    messages = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in turns]
    return get_provider("offline").render(model="offline", max_tokens=1024, system=system, messages=messages)


def conversation(*texts: str, notes: Sequence[str] = ()) -> str:
    """The offline responder's answer to the last text, after it has answered all the others."""
    turns: list[tuple[str, str]] = []
    for text in texts[:-1]:
        turns.append(("user", text))
        turns.append(("assistant", answer(payload(turns, notes=notes))))
    return answer(payload([*turns, ("user", texts[-1])], notes=notes))


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (BAKERY, "what are we building?"),
        ("I had a long day. My daughter Ada plays the cello.", "What instrument does my daughter play?"),
        ("My dog is called Rex.", "What's my dog's name?"),
        ("My sister lives in Lisbon", "tell me where my sister lives."),
        ("Meine Tochter Ada spielt Cello.", "Welches Instrument spielt meine Tochter?"),
        ("Моя дочь Ада играет на виолончели.", "На каком инструменте играет моя дочь?"),
        ("私の娘はチェロを弾きます。", "娘は何を弾きますか？"),
        ("내 딸은 첼로를 연주한다.", "내 딸은 무엇을 연주하나요?"),
        ("ابنتي آدا تعزف على التشيلو.", "على ماذا تعزف ابنتي؟"),
    ],
)
def test_a_fact_told_in_passing_is_quoted_two_turns_later(told: str, question: str) -> None:
    fact = told.removeprefix("I had a long day. ")
    assert conversation(told, "I drink tea at five.", "Ja!", question) == f"{MARK} You said: “{fact}”"


@pytest.mark.parametrize(
    "question", ["Which web framework are we using?", "What is the framework that I'm building on?"]
)
def test_a_question_in_other_words_finds_the_closest_statement(question: str) -> None:
    said = conversation("I like tea.", BAKERY, "How do I sort a list in Python?", question)
    assert said in {f"{MARK} The closest thing that you said is: “{BAKERY}”", f"{MARK} You said: “{BAKERY}”"}


def test_a_question_that_no_word_answers_is_told_what_is_known() -> None:
    assert conversation(BAKERY, "Thanks a lot", "Which framework did I mention?") == (
        f"{MARK} You last said: “Thanks a lot” No sentence here clearly answers your new question. "
        f"You told me: “{BAKERY}” “Thanks a lot” {CONNECT}"
    )


def test_without_its_context_the_answer_is_another() -> None:
    assert (
        answer(payload([("user", "Which web framework are we using?")]))
        == f"{MARK} Nothing here answers this. {CONNECT}"
    )


def test_notes_answer_and_the_base_prompt_does_not() -> None:
    notes = ["## Today\n- The release moved to Friday.\n- Lunch with Ben."]
    said = answer(payload([("user", "When is the release?")], notes=notes))
    assert said == f"{MARK} The notes that I was given say: “The release moved to Friday.”"


def test_the_newest_statement_wins() -> None:
    said = conversation(
        "My favourite colour is red.", "Actually, my favourite colour is blue.", "What is my favourite colour?"
    )
    assert said == f"{MARK} You said: “Actually, my favourite colour is blue.”"


def test_a_statement_beats_a_question_and_the_replies_of_a_model_are_known() -> None:
    turns = [
        ("user", "Is the capital of Australia Sydney?"),
        ("assistant", "The capital of Australia is Canberra."),
        ("user", "What is the capital of Australia?"),
    ]
    assert answer(payload(turns)) == f"{MARK} An earlier reply says: “The capital of Australia is Canberra.”"


def test_its_own_answers_are_never_quoted_even_when_they_were_stopped() -> None:
    said = f"{MARK} Noted: the cello"
    turns = [
        ("user", "hm"),
        ("assistant", said),
        ("user", "ok"),
        ("assistant", MARK[:10]),
        ("user", "What is noted of the cello?"),
    ]
    assert "the cello" not in answer(payload(turns))


@pytest.mark.parametrize(
    ("earlier", "follow_up", "expected"),
    [
        (
            "Who is Donald Trump?",
            "who are his children",
            f"You last asked: “Who is Donald Trump?” Nothing in this conversation answers your new question. {CONNECT}",
        ),
        (
            "Who is Donald Trump?",
            "why?",
            f"You last asked: “Who is Donald Trump?” Nothing in this conversation answers your new question. {CONNECT}",
        ),
        (
            "Shall I bring a cake?",
            "yes",
            "You last asked: “Shall I bring a cake?” I read “yes” as belonging to that.",
        ),
        ("I fell off my bike.", "lol", "You last said: “I fell off my bike.” I read “lol” as belonging to that."),
    ],
)
def test_a_short_follow_up_is_read_with_the_turn_before_it(earlier: str, follow_up: str, expected: str) -> None:
    assert conversation(earlier, follow_up) == f"{MARK} {expected}"


def test_a_statement_is_acknowledged() -> None:
    assert conversation("I moved to Lisbon last year.") == f"{MARK} {NOTED} {CONNECT}"
    assert conversation("Hello there", "I moved to Lisbon in the spring of last year.") == f"{MARK} {NOTED}"


def test_a_long_text_without_end_is_quoted_in_part() -> None:
    said = conversation("word " * 2000 + "the treasure lies in the cellar", "Where does the treasure lie?")
    assert "the treasure lies in the cellar" in said
    assert len(said) < 400


TEXT = st.text(alphabet=st.characters(), max_size=80)


@given(turns=st.lists(TEXT, max_size=5), last=TEXT, notes=st.lists(TEXT, max_size=2))
def test_any_context_is_answered_and_always_the_same(turns: list[str], last: str, notes: list[str]) -> None:
    roles = [("user" if i % 2 == 0 else "assistant", text) for i, text in enumerate(turns)]
    given_payload = payload([*roles, ("user", last)], notes=notes)
    assert answer(given_payload) == answer(given_payload)
    assert answer(given_payload).startswith(MARK)


def test_tool_blocks_and_plain_strings_are_read() -> None:
    messages = [
        {"role": "user", "content": "My cat is called Tom."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Nice."}]},
        {"role": "user", "content": "What is my cat called?"},
    ]
    assert answer(payload([]) | {"messages": messages}) == f"{MARK} You said: “My cat is called Tom.”"


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


def test_a_context_of_150_000_words_is_searched_in_seconds() -> None:
    turns = [
        ("user", f"Matter {i} is about thing{i} and costs {i * 7} coins, as agreed in the meeting of week {i}.")
        for i in range(9000)
    ]
    started = time.perf_counter()
    said = answer(payload([*turns, ("user", "What is thing4242 about?")]))
    assert said == f"{MARK} You said: “{turns[4242][1]}”"
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
        "Whoever runs this Openbook can choose one of: anthropic, claude_cli, offline.",
    )
