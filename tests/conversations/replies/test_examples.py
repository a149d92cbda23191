"""What the chat's empty page offers to try, and each preset, does what its hint says without any model."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from artifacts.models import Artifact, Preset
from conversations import replies
from conversations.models import ContextSnapshot, Message
from conversations.providers.offline_answers import NOTHING
from conversations.replies.model_requests import OpenedReply
from conversations.web.examples import EXAMPLES, OTHERS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SISTER, LIST, GIVEN = (example["text"] for example in EXAMPLES[OTHERS])
BRIEF, DIAGRAM, COMPARISON = (example["text"] for example in EXAMPLES["analyst"])
FRAMEWORK = "By the way, we're building a FastAPI app for a bakery."
PERSON = "Who was Ada Lovelace?"


@pytest.fixture(autouse=True)
def _offline(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER, settings.OPENBOOK_OFFLINE_WORD_SECONDS = "offline", 0


async def ended(opened: OpenedReply) -> uuid.UUID:
    async for _ in replies.follow(opened.reply.id):
        pass
    return opened.thread.id


async def conversation(user: User, *texts: str, assistant: str = "companion") -> tuple[uuid.UUID, list[str]]:
    """The thread, and the answer to each text."""
    thread: uuid.UUID | None = None
    for text in texts:
        opened = await replies.start(user=user, thread_id=thread, content=text, assistant=None if thread else assistant)
        thread = await ended(opened)
    assert thread
    answers = Message.objects.filter(thread_id=thread, role="assistant").order_by("position")
    return thread, [turn.text async for turn in answers]


async def artifacts_of(thread: uuid.UUID) -> list[tuple[str, str, int]]:
    artifacts = Artifact.objects.filter(thread_id=thread).order_by("created_at")
    return [(artifact.title, artifact.kind, artifact.version) async for artifact in artifacts]


@pytest.mark.once("Which framework was it*")
@pytest.mark.parametrize("question", ["Which framework are we using?", "Which framework was it?", "What do we build?"])
async def test_a_framework_that_was_mentioned_is_told(user: User, other_user: User, question: str) -> None:
    _, answers = await conversation(user, FRAMEWORK, "I slept well, thank you.", question)
    assert "FastAPI" in answers[-1]
    _, answers = await conversation(other_user, question)
    assert "I find nothing about that in what I was given." in answers[-1]


@pytest.mark.parametrize("assistant", ["companion", "analyst"])
async def test_no_example_leads_to_nothing(user: User, assistant: str) -> None:
    for example in EXAMPLES.get(assistant, EXAMPLES[OTHERS]):
        _, (answer,) = await conversation(user, example["text"], assistant=example.get("assistant", assistant))
        assert NOTHING not in answer


async def test_what_was_told_in_one_conversation_is_known_in_the_next(user: User) -> None:
    (hinted,) = re.findall("“(.+)”", EXAMPLES[OTHERS][0]["hint"])
    await conversation(user, SISTER)
    _, answers = await conversation(user, hinted)
    assert SISTER in answers[-1]


async def test_a_list_becomes_an_artifact(user: User) -> None:
    thread, _ = await conversation(user, LIST, assistant=EXAMPLES[OTHERS][1]["assistant"])
    assert [kind for _, kind, _ in await artifacts_of(thread)] == ["document"]


async def test_each_of_several_questions_is_answered(user: User) -> None:
    asked = "Where is my boat? And what colour is it? Who is the king of Spain?"
    _, answers = await conversation(user, "My boat is in Hamburg.", "Its colour is red.", asked)
    assert answers[-1] == (
        "You said: “My boat is in Hamburg.” You said: “Its colour is red.” "
        "I find nothing in what I was given about “Who is the king of Spain?”."
    )


async def test_a_short_question_is_read_with_what_came_before_it(user: User) -> None:
    _, answers = await conversation(user, PERSON, "who was her father?")
    assert answers[-1].startswith(f"You asked earlier: “{PERSON}”")


async def test_what_it_was_given_is_what_the_book_says(user: User) -> None:
    thread, answers = await conversation(user, "I have a boat in Hamburg.", "It is red, and it leaks.", GIVEN)
    snapshot = await ContextSnapshot.objects.filter(thread_id=thread).order_by("-created_at").afirst()
    assert snapshot
    given = (
        f"For this answer I was given {snapshot.message_history_count} earlier turns (the oldest says “I have a boat"
    )
    assert answers[-1].startswith(given)


async def test_a_document_is_made_and_a_diagram_gets_a_second_version(user: User) -> None:
    thread, answers = await conversation(user, BRIEF, DIAGRAM, "Add a step for the payment.", assistant="analyst")
    made = await artifacts_of(thread)
    assert [(kind, version) for _, kind, version in made] == [("document", 1), ("mermaid", 2)]
    assert [answer.count(f"It is saved: “{made[n][0]}”") for n, answer in zip((0, 1, 1), answers, strict=True)] == [
        1
    ] * 3


async def test_each_preset_makes_a_document_of_what_was_talked_over(user: User) -> None:
    thread, _ = await conversation(user, COMPARISON, "Cards cost 2 percent.", assistant="analyst")
    async for preset in Preset.objects.all():
        await ended(await replies.start_preset(user=user, thread_id=thread, preset=preset.slug))
        artifact = await Artifact.objects.aget(preset=preset.slug)
        content = (await artifact.versions.aget()).content
        assert (artifact.kind, "“Cards cost 2 percent.”" in content, COMPARISON in content) == ("document", True, True)
        assert "## Open questions" in content


async def test_what_nobody_told_it_is_answered_without_a_quotation(user: User) -> None:
    _, answers = await conversation(user, "Write a haiku about the rain in Hamburg.", "What is 2 + 2?")
    assert answers[-1] == "I find nothing about that in what I was given."


async def test_it_says_what_it_is_once(user: User) -> None:
    _, answers = await conversation(user, "I have a boat in Hamburg.", "It is red, and it leaks.", "Where is my boat?")
    assert [answer.count("Offline responder") for answer in answers] == [1, 0, 0]
