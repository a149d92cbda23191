"""The list of steps as a whole: what is gathered is all that is chosen of, and a step more is a line more."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from conversations.context import builder
from conversations.context.built_context import Context
from conversations.context.caller_options import CallerOptions
from conversations.context.choose import fixed
from conversations.context.record.context_account import texts_of
from conversations.context.record.snapshot_shapes import TimingsAnswer
from conversations.models import Message, text_blocks
from tests.conversations.context.choose import shout
from tests.conversations.factories import chain, make_context, make_file, make_reply, make_thread
from tests.memory.factories import make_memory
from tests.processes import ROOT

ROW = re.compile(r"^\| `(\w+)` \| ([^|]*)\| `(\w+)\.py` \|", re.MULTILINE)


@contextmanager
def no_statement() -> Iterator[None]:
    def refuse(execute: Callable[..., Any], statement: str, *rest: Any) -> Any:
        raise AssertionError(f"asked the database: {statement}")

    with connection.execute_wrapper(refuse):
        yield


def rich_context(user: User, **options: Any) -> Context:
    """Of a thread with a file, turns that are left out and things that are known."""
    make_memory(user, "Ada keeps bees in Turku.")
    talk = ["My bees are ill. " * 40, "Which of them?", "What does the report say of my bees?"]
    file = make_file(user, parts=["The bees of Turku have mites."])
    thread = make_thread(user, message_count=3, last_position=3)
    *earlier, newest = chain(thread, talk)
    newest.content = [{"type": "file", "file": str(file.id), "name": file.name}, *text_blocks(talk[-1])]
    Message.objects.bulk_create([*earlier, newest])
    return make_context(make_reply(thread), **options)


@pytest.mark.django_db
def test_what_was_gathered_is_chosen_again_without_reading_anything(user: User) -> None:
    context = rich_context(user)
    assert context.material and context.choice
    with no_statement():
        again = builder.choose(context.material)
    assert "mites" in json.dumps(context.payload) and "Turku" in json.dumps(context.payload)
    assert texts_of(again.parts, quoting=context.quoting) == texts_of(context.parts, quoting=context.quoting)
    assert (again.cache, again.candidates, again.limits) == (
        context.choice.cache,
        context.choice.candidates,
        context.choice.limits,
    )


@pytest.mark.django_db
def test_a_step_more_is_a_file_and_a_line(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    place = builder.STEPS.index(fixed.STEP) + 1
    monkeypatch.setattr(builder, "STEPS", (*builder.STEPS[:place], shout.STEP, *builder.STEPS[place:]))
    context = rich_context(user, options=CallerOptions(instructions="Answer in Finnish."))
    assert {"type": "text", "text": "ANSWER IN FINNISH."} in context.payload["system"]
    assert "shout" in context.timings_ms


def test_the_picture_of_the_heart_is_the_list_of_steps() -> None:
    drawn = ROW.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    steps = [(step.name, bool(step.read), step.choose.__module__.rpartition(".")[2]) for step in builder.STEPS]
    assert [(name, bool(reads.strip()), file) for name, reads, file in drawn] == steps


def test_the_api_has_a_line_for_each_step() -> None:
    names = [step.name for step in builder.STEPS]
    assert list(TimingsAnswer.__annotations__) == [*names, "render", "record", "total"]
