"""What the chosen parts of files say, in the turns that they stand in."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.files.in_turns import with_blocks
from conversations.context.gather.material import Material
from conversations.context.gather.reader import Reader


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    if not material.has_files:
        return material
    turns = [*choice.parts.history, choice.parts.newest]
    excerpts = [excerpt for turn in turns for excerpt in turn.files]
    return replace(material, contents=reader.contents(excerpts, choice.file_form, material.files.texts))


def choose(material: Material, choice: Choice) -> Choice:
    if not material.has_files:
        return choice
    parts = choice.parts
    *history, newest = with_blocks([*parts.history, parts.newest], material.contents, choice.file_form)
    return replace(choice, parts=replace(parts, history=history, newest=newest))


STEP = Step(name="file_texts", label="Files read", read=read, choose=choose)
