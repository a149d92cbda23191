"""Which parts of the thread's files stand in which turns: what stood there before, and what bears on the newest message."""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.files.excerpts import FileForm
from conversations.context.files.in_turns import in_turns
from conversations.context.files.results import numbers_named
from conversations.context.files.thread_files import PictureCounter
from conversations.context.gather.files import FilesQuery
from conversations.context.gather.material import Facts, Material
from conversations.context.gather.reader import Reader
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from conversations.providers.image_tokens import image_rule


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    if not material.has_files:
        return material
    request, form = material.request, choice.file_form
    query = FilesQuery(
        user_id=request.scope.user_id,
        thread_id=request.scope.thread_id,
        position=request.newest.position,
        new=material.new_files,
        text=choice.query.query or text_of(request.newest.content),
        pictures=picture_counter(material.facts, form),
        end=request.scope.end,
        project=request.scope.memory.project,
        sent=[turn.position for turn in choice.parts.history],
        named=named_numbers(choice.parts.history),
        searches=not choice.parts.silent,
        in_turns=material.history.in_turns,
    )
    return replace(material, files=replace(reader.files(query), form=form))


def named_numbers(turns: Iterable[Turn]) -> Mapping[str, Collection[int]]:
    """The parts of files that replies read with a tool in these turns, as numbers by the id of their file."""
    blocks = (block for turn in turns if turn.role == "assistant" for block in turn.content)
    return numbers_named(blocks)


def picture_counter(facts: Facts, form: FileForm) -> PictureCounter:
    """What pictures take for the model that is asked, where files are written so."""
    return PictureCounter(are_seen=form.pictures, factor=facts.factor, rule=image_rule(facts.model))


def choose(material: Material, choice: Choice) -> Choice:
    if not material.has_files:
        return choice
    history, newest = in_turns(
        choice.parts.history,
        choice.parts.newest,
        material.files,
        room=sys.maxsize if material.files.is_settled else choice.limits.file_room // 2,
        may_choose=not choice.parts.silent,
    )
    return replace(choice, parts=replace(choice.parts, history=history, newest=newest))


STEP = Step(name="files", label="Files chosen", read=read, choose=choose)
