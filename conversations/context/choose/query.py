"""The message said so that it stands by itself, by rules, or that a model has to be asked for that (Q1–Q4)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.query import rewriting
from conversations.context.query.rewriting import Rewriting
from conversations.context.tokens.estimate import text_of


def choose(material: Material, choice: Choice) -> Choice:
    return replace(choice, query=material.request.query or by_rules(material, choice))


def by_rules(material: Material, choice: Choice) -> Rewriting:
    request = material.request
    if request.silent:
        return rewriting.OFF
    text = text_of(request.newest.content)
    return rewriting.decide(choice.limits.assistant, request.provider, text, choice.parts.history)


STEP = Step(name="rewrite", label="Contextualised query", choose=choose)
