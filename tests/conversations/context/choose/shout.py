"""A step that no release has: what the caller asks for goes last in the system text, in capitals."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules.fitting import Section


def choose(material: Material, choice: Choice) -> Choice:
    instructions = choice.parts.instructions
    if not instructions:
        return choice
    loud = Section.of(instructions.name, instructions.text.upper())
    return replace(choice, parts=replace(choice.parts, instructions=loud))


STEP = Step(name="shout", label="Said aloud", choose=choose)
