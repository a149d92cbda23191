"""What a preset tells the model. It is the last message of the request, and of no thread."""

from artifacts.models import Preset
from conversations.context.tokens.estimate import turn_tokens
from conversations.context.turns.turn import Turn
from conversations.models import Message, Thread, text_blocks
from conversations.providers.markers import PRESET
from conversations.providers.quoting import quote_name
from conversations.runtime import clock

HOW_TO_SAVE = """\
Work from the conversation above and from nothing else. Save the result once with the tool save_artifact, as {kind}{language}, \
and write nothing beside it; if you don't have the tool, answer with nothing but the content.
Title: {name}: <the subject in a few words>"""


def instruction(thread: Thread, preset: Preset | None) -> Turn:
    """The instruction as the turn to answer. It has no id, and no place in the thread but after its end."""
    assert preset is not None
    content = text_blocks(instruction_text(preset))
    return Turn(
        position=thread.last_position + 1,
        depth=thread.message_count + 1,
        role=Message.Role.USER.value,
        content=content,
        token_count=turn_tokens(content),
        created_at=clock.now(),
    )


def instruction_text(preset: Preset) -> str:
    """What the model reads, the preset's prompt and what Openbook says around it."""
    language = f", language {preset.language}" if preset.language else ""
    how_to_save = HOW_TO_SAVE.format(kind=preset.kind, language=language, name=preset.name)
    return "\n\n".join([PRESET.replace("“{name}”", quote_name(preset.name)), preset.prompt.strip(), how_to_save])
