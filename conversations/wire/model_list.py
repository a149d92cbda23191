"""The models that people may choose, as REST and the chat page list them."""

from collections.abc import Iterable
from typing import Annotated, TypedDict

from conversations.accounts.group_access import ALL, Access
from conversations.models import Assistant, Model
from conversations.threads import model_choices


class ModelAnswer(TypedDict):
    id: Annotated[str, "What `model` takes: its name, as `provider/name` where two providers have one of that name."]
    name: Annotated[str, "As people are shown it."]
    provider: Annotated[str, "Who is asked for it."]
    context_window: Annotated[int, "Tokens that a request and its answer may have together."]
    max_output: Annotated[int, "Tokens of the longest answer, thinking included."]
    images: Annotated[bool, "Whether it takes images."]
    tools: Annotated[bool, "Whether it can be given tools."]
    thinking: Annotated[bool, "Whether it can think before it answers."]
    memory: Annotated[bool, "Whether it is given what is remembered; else the conversation alone."]
    assistants: Annotated[list[str], "The slugs of the assistants that it can be chosen for."]
    cut_for: Annotated[
        list[str], "The slugs of those whose hard cap its window can't hold beside an answer: they give it less."
    ]
    default_of: Annotated[list[str], "The slugs of those whose own it is: it answers where none is chosen."]


class ModelsAnswer(TypedDict):
    results: Annotated[list[ModelAnswer], "All on one page, an assistant's own first."]


def model_list(assistants: Iterable[Assistant], access: Access = ALL) -> list[ModelAnswer]:
    offers = model_choices.choices_of_all(assistants, access)
    return [
        {
            "id": id,
            "name": choice.label,
            "provider": choice.provider,
            "context_window": choice.row.context_window,
            "max_output": choice.row.max_output,
            "images": choice.takes_images,
            "tools": choice.takes_tools,
            "thinking": choice.row.thinking != Model.Thinking.NONE,
            "memory": choice.row.uses_memory,
            "assistants": [offer.assistant for offer in offers[choice]],
            "cut_for": [offer.assistant for offer in offers[choice] if offer.is_cut],
            "default_of": [offer.assistant for offer in offers[choice] if offer.is_own],
        }
        for id, choice in zip(model_choices.ids_of(list(offers)), offers, strict=True)
    ]
